"use strict";
(() => {
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const search = byId("search"), found = byId("found"), theme = byId("theme"), nothing = byId("nothing");
  byId("tools").hidden = false;

  const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const showTheme = () => {
    theme.textContent = isDark() ? "Light" : "Dark";
    theme.setAttribute("aria-pressed", String(isDark()));
  };
  theme.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; showTheme(); });
  showTheme();

  const open = () => {
    const id = decodeURIComponent(location.hash.slice(1));
    if (id.startsWith("?q=")) {
      if (search.value !== id.slice(3)) { search.value = id.slice(3); find(); }
      return;
    }
    const target = id && byId(id);
    if (!target) return;
    for (let at = target; at; at = at.parentElement) {
      if (at.tagName === "DETAILS") at.open = true;
      if (at.hidden) at.hidden = false;
    }
    target.scrollIntoView();
    if (target.tagName === "DETAILS") target.querySelector("summary").focus({ preventScroll: true });
  };

  let index = null;
  const build = () => Array.from(document.querySelectorAll(".hit"), (element) => ({
    element,
    words: `${(element.closest(".cluster, .card:not(.workload)") || element).id} ${element.textContent}`.toLowerCase(),
  }));
  const find = () => {
    index ||= build();
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const item of index) {
      const isIn = words.every((word) => item.words.includes(word));
      item.element.hidden = !isIn;
      count += isIn;
    }
    for (const box of document.querySelectorAll(".cluster, .card:not(.workload)")) {
      const has = box.querySelector(".hit:not([hidden])");
      box.hidden = words.length > 0 && !has && box.querySelector(".hit") !== null;
      if (words.length && has && box.tagName === "DETAILS") box.open = true;
    }
    found.textContent = words.length ? `${count.toLocaleString("en")} found` : "";
    nothing.hidden = !words.length || count > 0;
    history.replaceState(null, "", words.length ? `#?q=${encodeURIComponent(search.value)}` : location.pathname + location.search);
  };
  let waiting = 0;
  search.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(find, 120); });
  search.addEventListener("keydown", (event) => { if (event.key === "Escape") { search.value = ""; find(); } });
  addEventListener("keydown", (event) => {
    if (event.key === "/" && !event.ctrlKey && !event.metaKey && document.activeElement !== search) {
      event.preventDefault();
      search.focus();
    }
  });
  addEventListener("hashchange", open);
  open();
})();
