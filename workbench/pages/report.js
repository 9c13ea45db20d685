// Search in a report: hides the trials and tasks without a match, counts matches, goes from one to the next.
// Nothing is fetched and nothing of the page is executed; it only reads text and sets `hidden` and `open`.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const WAIT = 120; // ms without a key until it is searched
  const box = document.getElementById("search");
  const field = box.querySelector("input");
  const said = box.querySelector("output");
  const [before, after] = box.querySelectorAll("button");
  const items = [...document.querySelectorAll("section.item")];
  const marks = window.CSS && CSS.highlights && window.Highlight ? new Highlight() : null;
  if (marks) CSS.highlights.set("found", marks);
  let texts = null; // of each item, read once, when it is first searched
  let lines = null; // what leads to each item: rows of tables and entries of the contents
  let found = []; // [item, where in its text it begins, how long it is]
  let at = -1;
  let timer = 0;

  // Lower case letter by letter: an offset in what comes out is one in what went in.
  function folded(text) {
    const lower = text.toLowerCase();
    if (lower.length === text.length) return lower;
    return [...text].map((one) => (one.toLowerCase().length === one.length ? one.toLowerCase() : one)).join("");
  }

  // Words as they stand, however lines break between them.
  function pattern(wanted) {
    const words = folded(wanted).split(/\s+/).map((word) => word.replace(/[.*+?^${}()|[\]\\\/-]/g, "\\$&"));
    return new RegExp(words.join("\\s+"), "g");
  }

  function read() {
    texts = items.map((item) => folded(item.textContent));
    lines = new Map();
    for (const link of document.querySelectorAll("main section:not(.item) a[href^='#'], nav ol a")) {
      const name = link.getAttribute("href").slice(1);
      if (!lines.has(name)) lines.set(name, []);
      lines.get(name).push(link.closest("tr, li"));
    }
  }

  function search() {
    clearTimeout(timer);
    timer = 0;
    const wanted = field.value.trim();
    const sought = pattern(wanted);
    found = [];
    at = -1;
    if (marks) marks.clear();
    if (wanted && !texts) read();
    let kept = 0;
    items.forEach((item, place) => {
      const first = found.length;
      if (wanted) {
        for (const one of texts[place].matchAll(sought)) found.push([item, one.index, one[0].length]);
      }
      const hide = wanted !== "" && found.length === first;
      kept += hide ? 0 : 1;
      if (item.hidden !== hide) item.hidden = hide;
      if (lines) for (const line of lines.get(item.id) || []) if (line.hidden !== hide) line.hidden = hide;
    });
    const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : noun.endsWith("h") ? "es" : "s"}`;
    said.textContent = wanted ? `${count(found.length, "match")} in ${kept.toLocaleString("en")} of ${count(items.length, box.dataset.noun)}` : "";
    before.disabled = after.disabled = !found.length;
    document.body.classList.toggle("searched", wanted !== "");
  }

  // The range of a match, whatever elements it runs through.
  function range(item, from, length) {
    const walker = document.createTreeWalker(item, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    let passed = 0;
    let started = false;
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const end = passed + node.data.length;
      if (!started && from < end) {
        range.setStart(node, from - passed);
        started = true;
      }
      if (started && from + length <= end) {
        range.setEnd(node, from + length - passed);
        return range;
      }
      passed = end;
    }
    return null;
  }

  function go(step) {
    if (timer) search();
    if (!found.length) return;
    at = at < 0 ? (step > 0 ? 0 : found.length - 1) : (at + step + found.length) % found.length;
    const where = range(...found[at]);
    if (!where) return;
    const holder = where.startContainer.parentElement;
    for (let fold = holder.closest("details"); fold; fold = fold.parentElement.closest("details")) {
      // A summary is seen while its fold is closed.
      if (!holder.closest("summary") || holder.closest("summary").parentElement !== fold) fold.open = true;
    }
    if (marks) {
      marks.clear();
      marks.add(where);
    }
    holder.scrollIntoView({ block: "center" });
    said.textContent = said.textContent.replace(/^(?:[\d,]+ of )?/, `${(at + 1).toLocaleString("en")} of `);
  }

  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(search, WAIT);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") go(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") {
      field.value = "";
      search();
    }
  });
  before.addEventListener("click", () => go(-1));
  after.addEventListener("click", () => go(1));
  document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof HTMLInputElement;
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      field.focus();
    }
  });

  // On paper nothing can be opened: older browsers, in which the style cannot unfold, do it here.
  if (!CSS.supports("selector(::details-content)")) {
    let opened = [];
    window.addEventListener("beforeprint", () => {
      opened = [...document.querySelectorAll("details.paper:not([open]), .few details:not([open], .source)")];
      for (const one of opened) one.open = true;
    });
    window.addEventListener("afterprint", () => {
      for (const one of opened) one.open = false;
    });
  }

  before.disabled = after.disabled = true;
  box.hidden = items.length === 0;
  if (field.value) search(); // a browser that goes back keeps what was typed
});
