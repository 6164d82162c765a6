// Finds the sections that contain all words. The index is fetched when it is first needed.
(function () {
  var form = document.getElementById("search");
  var input = document.getElementById("words");
  var count = document.getElementById("count");
  var found = document.getElementById("found");
  var most = 30;
  var index;

  function load() {
    index = index || fetch(form.dataset.index).then(function (answer) {
      if (!answer.ok) throw new Error(answer.status);
      return answer.json();
    });
    return index;
  }

  // A word counts most in the name of a section, then in that of the page, then in the text.
  function score(entry, words) {
    var section = (entry.section || "").toLowerCase(), page = entry.page.toLowerCase(), text = entry.text.toLowerCase();
    var sum = 0;
    for (var word of words) {
      if (section.includes(word)) sum += 8;
      else if (page.includes(word)) sum += entry.section ? 3 : 8;
      else if (text.includes(word)) sum += 1;
      else return 0;
    }
    return sum;
  }

  function excerpt(text, word) {
    var at = Math.max(0, text.toLowerCase().indexOf(word) - 60);
    return (at > 0 ? "… " : "") + text.slice(at, at + 180).trim() + (text.length > at + 180 ? " …" : "");
  }

  function show(entries, words) {
    var hits = entries.map(function (entry) { return { entry: entry, score: score(entry, words) }; })
      .filter(function (hit) { return hit.score > 0; })
      .sort(function (a, b) { return b.score - a.score; });
    count.textContent = hits.length === 0 ? "No section contains all of these words."
      : hits.length === 1 ? "1 section" : hits.length + " sections" + (hits.length > most ? ", the first " + most : "");
    found.replaceChildren.apply(found, hits.slice(0, most).map(function (hit) {
      var item = document.createElement("li"), link = document.createElement("a"), text = document.createElement("span");
      link.href = hit.entry.url;
      link.textContent = hit.entry.section ? hit.entry.page + ": " + hit.entry.section : hit.entry.page;
      text.textContent = excerpt(hit.entry.text, words[0]);
      item.append(link, text);
      return item;
    }));
  }

  function search() {
    var words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    history.replaceState(null, "", words.length ? "?q=" + encodeURIComponent(input.value) : location.pathname);
    if (words.length === 0) { found.replaceChildren(); count.textContent = ""; return; }
    load().then(function (entries) { show(entries, words); },
      function () { index = undefined; count.textContent = "The index of the site could not be loaded."; });
  }

  form.hidden = false;
  form.addEventListener("submit", function (event) { event.preventDefault(); search(); });
  input.addEventListener("focus", load, { once: true });
  input.value = new URLSearchParams(location.search).get("q") || "";
  if (input.value) search(); else input.focus();
})();
