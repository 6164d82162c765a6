// The button that changes between light and dark. Without it, and until it is pressed, the
// page follows the settings of the system.
(function () {
  var root = document.documentElement;
  var stored = null;
  try { stored = localStorage.getItem("theme"); } catch { /* storage may be forbidden */ }
  if (stored === "light" || stored === "dark") root.dataset.theme = stored;

  document.addEventListener("DOMContentLoaded", function () {
    var button = document.getElementById("theme");
    var system = matchMedia("(prefers-color-scheme: dark)");
    function isDark() { return root.dataset.theme ? root.dataset.theme === "dark" : system.matches; }
    function label() {
      button.textContent = isDark() ? "Light" : "Dark";
      button.setAttribute("aria-label", button.textContent + " colors");
    }
    button.addEventListener("click", function () {
      root.dataset.theme = isDark() ? "light" : "dark";
      try { localStorage.setItem("theme", root.dataset.theme); } catch { /* then it lasts for this page */ }
      label();
    });
    system.addEventListener("change", label);
    label();
    button.hidden = false;
  });
})();
