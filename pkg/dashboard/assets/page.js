// The page: it takes what the server says has changed, and shows it. Texts of the cluster are only ever set as text.
import { Cells, words } from "./cells.js";
import { TimeLine } from "./time.js";

const $ = (id) => document.getElementById(id);
const cells = new Cells($("grid"), $("about")), time = new TimeLine($("time"), make);
const silence = 15000; // milliseconds without a word from the server after which it counts as lost
let list = [], shown = null, source = null, heard = 0;

// make returns an element with attributes, properties that begin with ".", and children.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith(".")) element[name.slice(1)] = value;
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== ""));
  return element;
}

const count = (n, one, many = one + "s") => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

function duration(seconds) {
  const s = Math.max(0, seconds);
  if (s < 120) return `${Math.floor(s)}s`;
  if (s < 7200) return `${Math.floor(s / 60)}m`;
  return s < 172800 ? `${Math.floor(s / 3600)}h` : `${Math.floor(s / 86400)}d`;
}

// since is a text that counts on: "3m", until it is removed from the page.
const since = (at) => make("time", { datetime: at, title: at, "data-since": "" }, duration((Date.now() - Date.parse(at)) / 1000));
const clock = (at) => make("time", { datetime: at, title: at }, new Date(at).toLocaleTimeString("en-GB"));

setInterval(() => {
  for (const time of document.querySelectorAll("time[data-since]")) {
    const text = duration((Date.now() - Date.parse(time.dateTime)) / 1000);
    if (time.textContent !== text) time.textContent = text;
  }
  time.grow();
  if (heard && Date.now() - heard > silence) connection(false);
}, 1000);

// differs says whether a place shows something else so far. What has not changed is left alone, since laying it out takes
// long, and a change comes five times a second.
function differs(place, content) {
  const text = JSON.stringify(content) ?? "";
  if (place.shows === text) return false;
  place.shows = text;
  return true;
}

// table fills a place with a table. A column is [title, kind, cell]; kinds are "", "number" and "long".
function table(place, label, columns, rows) {
  if (!differs(place, rows)) return;
  const head = make("tr", {}, ...columns.map(([title, kind]) => make("th", { scope: "col", class: kind || undefined }, title)));
  const body = rows.map((row) => make("tr", {}, ...columns.map(([, kind, cell]) => make("td", { class: kind || undefined }, cell(row) ?? "-"))));
  const frame = make("div", { class: "scroll", role: "region", "aria-label": label, tabindex: 0 },
    make("table", { "aria-label": label }, make("thead", {}, head), make("tbody", {}, ...body)));
  renew(place, frame);
}

function notes(place, texts) {
  place.hidden = !texts?.length;
  place.replaceChildren(...(texts ?? []).map((text) => make("p", {}, text)));
}

const stateWords = {
  Running: "running", Assembling: "assembling", Recreating: "recreating Jobs", Blocked: "blocked", Suspended: "suspended", Bypassed: "bypassed",
  GateDisabled: "disabled by the feature gate", Completed: "completed", Failed: "failed", Deleting: "being deleted",
};
const stateWord = (state) => stateWords[state] ?? state;
const stateClass = (state) => ({ Running: "good", Completed: "good", Failed: "bad" })[state];

let spoken = "", speech = 0;
// say tells a screen reader what changed, at most once in two seconds.
function say(text) {
  spoken = text;
  speech ||= setTimeout(() => {
    speech = 0;
    if ($("said").textContent !== spoken) $("said").textContent = spoken;
  }, 2000);
}

// renew replaces what a place has, and keeps the focus and how far it is scrolled: changes come while people read.
function renew(place, ...children) {
  const key = (e) => e.getAttribute("href") ?? e.getAttribute("aria-label") ?? e.textContent;
  const active = place.contains(document.activeElement) ? document.activeElement : null;
  const left = place.querySelector(":scope > .scroll")?.scrollLeft; // lays the page out, so only where it may not be 0
  place.replaceChildren(...children);
  if (left) place.firstElementChild.scrollLeft = left;
  if (active) [...place.querySelectorAll(active.tagName)].find((e) => key(e) === key(active))?.focus({ preventScroll: true });
}

function showList() {
  $("nav").hidden = list.length < 2;
  $("empty").hidden = list.length > 0;
  renew($("list"), ...list.map((js) => make("li", {}, make("a", { href: `#${js.id}`, "aria-current": js.id === shown?.id && "page" },
    js.id, make("small", {}, `${stateWord(js.state)}, ${js.running.toLocaleString("en")} of ${count(js.total, "worker")} running`)))));
}

function showDetail(d) {
  shown = d.id ? d : null;
  $("jobset").hidden = !shown;
  if (!shown) return;
  showTrouble(d); // first, while the page is laid out: see renew
  document.title = `${d.id}: ${stateWord(d.state.name)}`;
  $("name").textContent = d.id;
  $("state").replaceChildren(make("b", { class: stateClass(d.state.name) }, stateWord(d.state.name)), ...(d.state.since ? [" for ", since(d.state.since)] : []), d.state.message ? `: ${d.state.message}` : "");
  const facts = [["Strategy", d.strategy], ["Workers", `${d.back.toLocaleString("en")} of ${d.total.toLocaleString("en")} ${d.epochs ? "back" : "running"}`]];
  if (d.epochs) facts.push(["Epoch", d.epochs.deprecated < d.epochs.synced ? `${d.epochs.synced}` : `${d.epochs.synced}, waits for ${d.epochs.synced + 1}`]);
  facts.push(["Restarts", `${d.budget.used} of ${d.budget.maxRestarts} used` + (d.budget.notCounted ? `, ${d.budget.notCounted} not counted` : "")]);
  $("facts").replaceChildren(...facts.map(([term, text]) => make("div", {}, make("dt", {}, term), make("dd", {}, text))));
  notes($("jobset-notes"), d.notes);
  $("grid").setAttribute("aria-label", `${count(d.total, "worker")} of ${d.id}`);
  const back = d.notBack ? `, ${d.notBack} of ${d.total} not back` : d.state.name === "Running" ? `, all ${d.total} back` : "";
  say(`${d.id} ${stateWord(d.state.name)}${back}`);
  if (differs($("time"), d.time)) time.show(d.time);
  showSteps(d);
  showHistory(d);
}

function showTrouble(d) {
  $("trouble").hidden = !d.notBack;
  if (!d.notBack) return;
  const of = d.trouble ?? [], name = (w) => `${w.replicatedJob}-${w.jobIndex}-${w.index}`;
  $("trouble-title").textContent = `Not back, or not running: ${d.notBack.toLocaleString("en")}` + (of.length < d.notBack ? `; the first ${of.length}` : "");
  table($("trouble").querySelector("div"), "Workers that are not back", [
    ["Worker", "", (w) => make("button", { type: "button", ".onclick": () => cells.find(name(w)) }, name(w))],
    ["State", "", (w) => words(w.state)], ["For", "number", (w) => w.since && since(w.since)], ["Epoch", "number", (w) => w.epoch || undefined],
    ["Node", "", (w) => w.node], ["Detail", "long", (w) => w.message],
  ], of);
}

function showSteps(d) {
  $("last").hidden = !d.steps;
  if (!d.steps) return;
  const start = d.steps.find((step) => step.name === "Break" || step.name === "Recreation")?.at;
  $("last-title").textContent = ["Failure", "Planned"].includes(d.steps[0].name) ? "The last restart" : "The start";
  const when = (step) => {
    if (!step.at) return make("span", {}, step.done ? "" : "not yet");
    const offset = (Date.parse(step.at) - Date.parse(start ?? step.at)) / 1000;
    return make("span", {}, clock(step.at), offset ? ` (${offset > 0 ? "+" : ""}${offset.toFixed(1)} s)` : "");
  };
  $("steps").replaceChildren(...d.steps.map((step) => make("li", { class: step.done ? "done" : undefined },
    make("b", {}, step.name + (step.done ? " ✓" : "")), when(step), step.text)));
  showCurve(d);
}

// showCurve draws how the workers came back, if the page has been open long enough to have seen it.
function showCurve(d) {
  const points = d.reports.points ?? [];
  $("curve").replaceChildren();
  if (points.length < 3 || (d.restarts[0]?.epoch ?? d.reports.epoch) !== d.reports.epoch) return; // of another restart
  const from = points[0].t, to = points.at(-1).t, svg = (tag, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };
  const text = `Workers back over ${((to - from) / 1000).toFixed(1)} seconds: from ${points[0].n} to ${points.at(-1).n} of ${d.total}`;
  const picture = svg("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none", role: "img", "aria-label": text });
  picture.append(svg("polyline", { points: points.map((p) => `${(100 * (p.t - from)) / (to - from)},${99 - (97 * p.n) / d.total}`).join(" ") }));
  $("curve").append(picture, make("p", {}, text));
}

function showHistory(d) {
  const place = $("history").querySelector("div"), longest = Math.max(1, ...d.restarts.map((r) => r.seconds ?? 0));
  if (!d.restarts.length) return differs(place, []) && place.replaceChildren(make("p", {}, "No restarts recorded."));
  const took = (r) => {
    if (r.seconds === undefined) return r.inProgress ? "in progress" : undefined;
    const bar = make("span", { class: "bar", "aria-hidden": "true" });
    bar.style.width = `${(100 * r.seconds) / longest}%`;
    return make("span", {}, `${r.seconds.toFixed(1)} s`, bar);
  };
  table(place, "Restarts, the newest first", [
    ["Began", "number", (r) => make("span", {}, since(r.began), " ago")],
    ["Kind", "", (r) => ({ InPlace: "in place", AllJobs: "all Jobs", Job: "a Job", Reset: "reset" })[r.kind]],
    ["Epoch", "number", (r) => r.epoch && `${r.epoch} to ${r.epoch + 1}`], ["Took", "number", took],
    ["First cause", "long", (r) => r.because],
  ], d.restarts);
}

function showNodes(nodes) {
  $("nodes").hidden = !nodes.length;
  table($("nodes").querySelector("div"), "Nodes, the one with most failures first", [
    ["Node", "", (n) => n.name], ["State", "", (n) => [n.state, ...(n.marks ?? [])].filter(Boolean).join(", ") || undefined],
    ["First causes", "number", (n) => `${n.failures}`], ["Last", "number", (n) => n.last && make("span", {}, since(n.last), " ago")],
    ["Avoided by", "number", (n) => n.avoided && `${n.avoided}`], ["Not back", "number", (n) => `${n.trouble}`], ["JobSets", "long", (n) => n.jobSets.join(", ")],
  ], nodes);
}

function showElastic(jobs) {
  $("elastic").hidden = !jobs.length;
  table($("elastic").querySelector("div"), "Elastic sizes, the lowest score first", [
    ["Job", "", (j) => `${j.namespace}/${j.jobSet} ${j.replicatedJob}`], ["Score", "number", (j) => j.score.toFixed(2)],
    ["Size", "number", (j) => (j.current === j.desired ? `${j.current}` : `${j.current} to ${j.desired}`)], ["Bounds", "number", (j) => `${j.min}-${j.max}`],
    ["State", "", (j) => j.state], ["Since", "number", (j) => j.since && since(j.since)], ["Because", "long", (j) => j.because],
  ], jobs);
}

function showLegends() {
  const { state, epoch } = cells.counts(), sample = [...epoch.keys()].reduce((a, b) => Math.max(a, b), 1);
  const items = (map, text, picture) => [...map].sort(([, a], [, b]) => b - a).slice(0, 12)
    .map(([key, n]) => make("li", {}, picture(key), make("span", {}, text(key, n))));
  $("states").replaceChildren(...items(state, (key, n) => `${n.toLocaleString("en")} ${words(key)}`, (key) => cells.sample(key, key, sample)));
  $("epochs").replaceChildren(...items(epoch, (key, n) => `epoch ${key}: ${n.toLocaleString("en")}`, (key) => cells.sample(`epoch ${key}`, "Running", key)));
}

function apply(d) {
  if (d.full) cells.forget();
  if (d.scope) $("scope").textContent = d.scope.name ? "" : d.scope.namespace ? `in ${d.scope.namespace}` : "in all namespaces";
  if (d.notes) notes($("notes"), d.notes);
  if (d.detail) {
    if (d.detail.id !== shown?.id) cells.forget();
    showDetail(d.detail);
  }
  if (d.list) list = d.list;
  if (d.list || d.detail) showList();
  if (d.size !== undefined || d.cells) {
    cells.change(d.size, d.cells);
    showLegends();
  }
  if (d.nodes) showNodes(d.nodes);
  if (d.elastic) showElastic(d.elastic);
}

function connection(lives) {
  $("link").textContent = lives ? "live" : "connection lost, this may be out of date";
  $("link").classList.toggle("lost", !lives);
}

// chosen is the JobSet that the address names, "" if it names none.
function chosen() {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return ""; // no valid escape sequence, so no link of this page
  }
}

function connect() {
  source?.close();
  source = new EventSource(`events?jobset=${encodeURIComponent(chosen())}`);
  const hear = () => { heard = Date.now(); connection(true); };
  source.addEventListener("pulse", hear);
  source.onmessage = (event) => { hear(); apply(JSON.parse(event.data)); };
  source.onerror = () => connection(false); // the browser connects again by itself
}

addEventListener("hashchange", () => location.hash !== "#main" && connect()); // #main is where the skip link goes
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showLegends);
connect();
