"use strict";
(() => {
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const search = byId("search"), only = byId("only"), found = byId("found"), theme = byId("theme"), nothing = byId("nothing");
  byId("tools").hidden = false;

  const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const showTheme = () => {
    theme.textContent = isDark() ? "Light" : "Dark";
    theme.setAttribute("aria-pressed", String(isDark()));
  };
  theme.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; showTheme(); });
  showTheme();

  const asked = () => {
    try { return decodeURIComponent(location.hash.slice(1)); } catch { return ""; }
  };
  const address = (hash) => history.replaceState(null, "", hash || location.pathname + location.search);
  const open = () => {
    const id = asked();
    if (id.startsWith("?")) {
      const state = new URLSearchParams(location.hash.slice(2).replaceAll("+", "%2B"));
      search.value = state.get("q") || "";
      only.value = state.get("only") || "";
      if (only.selectedIndex < 0) only.value = "";
      find();
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
  const opened = new Set();
  const build = () => Array.from(document.querySelectorAll(".hit"), (element) => ({
    element,
    words: `${(element.closest(".cluster, .card:not(.workload)") || element).id} ${element.textContent}`.toLowerCase(),
  }));
  const find = () => {
    index ||= build();
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean), kind = only.value;
    const isAsked = words.length > 0 || kind !== "";
    let count = 0;
    for (const item of index) {
      const isIn = (!kind || item.element.dataset.kind === kind) && words.every((word) => item.words.includes(word));
      item.element.hidden = !isIn;
      count += isIn;
    }
    if (!isAsked) { for (const box of opened) box.open = false; opened.clear(); }
    for (const box of document.querySelectorAll(".cluster, .card:not(.workload), .workloads")) {
      const has = box.querySelector(".hit:not([hidden])");
      box.hidden = isAsked && !has && box.querySelector(".hit") !== null;
      if (isAsked && has && box.tagName === "DETAILS" && !box.open) { box.open = true; opened.add(box); }
    }
    for (const view of document.querySelectorAll(".view")) view.hidden = isAsked && !view.querySelector(".hit:not([hidden])");
    found.textContent = isAsked ? `${count.toLocaleString("en")} found` : "";
    nothing.hidden = !isAsked || count > 0;
    const state = [["q", words.length ? search.value : ""], ["only", kind]].filter((pair) => pair[1]);
    address(isAsked ? `#?${state.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&")}` : "");
  };
  let waiting = 0;
  search.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(find, 120); });
  search.addEventListener("keydown", (event) => { if (event.key === "Escape") { search.value = ""; find(); } });
  only.addEventListener("change", find);
  addEventListener("keydown", (event) => {
    const isWriting = ["INPUT", "SELECT", "TEXTAREA"].includes(document.activeElement.tagName);
    if (event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !isWriting) {
      event.preventDefault();
      search.focus();
    }
  });
  document.addEventListener("click", (event) => {
    const box = event.target.closest("summary")?.parentElement;
    if (box?.id && !box.open && !found.textContent) address(`#${box.id}`);
  });
  addEventListener("hashchange", open);
  open();
})();
