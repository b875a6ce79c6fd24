// Searches the rows of search/rows-N.js as one types. Words of the wiki are put into pages as text alone.
"use strict";

const FACETS = ["kind", "tag", "scope", "repository", "trust", "cause"];
const MOST_OPTIONS = 300;
const PAGE = 40;
const AT_ONCE = 2000; // rows that are taken in before the page may react again

const form = document.getElementById("search");
const words = document.getElementById("words");
const found = document.getElementById("found");
const results = document.getElementById("results");
const more = document.getElementById("more");
const pages = new WikiSearch();
let waiting = [];
let loaded = 0;
let shown = PAGE;

window.wikiRows = (lines) => { waiting.push(...lines); };

function takenIn() {
  pages.add(waiting.splice(0, AT_ONCE));
  if (waiting.length) setTimeout(takenIn);
  else load(loaded + 1);
}

function load(number) {
  loaded = number;
  if (number > Number(form.dataset.shards)) {
    ready();
    return;
  }
  const script = document.createElement("script");
  script.src = `search/rows-${number}.js`;
  script.onload = takenIn;
  script.onerror = () => { found.textContent = `search/rows-${number}.js cannot be loaded.`; };
  document.head.append(script);
}

function valuesOf(row, facet) {
  if (facet === "tag") return row.tags;
  return facet === "repository" ? row.repository : row[facet] ? [row[facet]] : [];
}

function ready() {
  for (const facet of FACETS) {
    const counts = new Map();
    for (const row of pages.rows) for (const value of valuesOf(row, facet)) counts.set(value, (counts.get(value) || 0) + 1);
    const select = form.elements[facet];
    const ordered = [...counts].sort((one, other) => other[1] - one[1] || (one[0] < other[0] ? -1 : 1)).slice(0, MOST_OPTIONS);
    for (const [value, count] of ordered) select.append(new Option(`${value} (${count})`, value));
    select.disabled = !ordered.length;
  }
  const asked = new URLSearchParams(location.search);
  words.value = words.value || asked.get("q") || "";
  for (const facet of FACETS) {
    const value = asked.get(facet);
    const select = form.elements[facet];
    if (value && ![...select.options].some((each) => each.value === value)) select.append(new Option(value, value));
    if (value) select.value = value;
  }
  form.dataset.ready = "yes";
  search();
}

function search() {
  if (!form.dataset.ready) return;
  const wanted = FACETS.map((facet) => [facet, form.elements[facet].value]).filter((each) => each[1]);
  const fits = (row) => wanted.every(([facet, value]) => valuesOf(row, facet).includes(value));
  const hits = pages.find(words.value, fits);
  found.textContent = `${hits.length.toLocaleString("en")} of ${pages.rows.length.toLocaleString("en")} pages`;
  results.replaceChildren(...hits.slice(0, shown).map(item));
  more.hidden = hits.length <= shown;
}

function element(name, className, text) {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}

function item(row) {
  const made = element("li", "item", "");
  const link = element("a", "item-title", row.title.replaceAll("`", ""));
  link.href = row.href;
  const marks = element("p", "marks", "");
  const [kind, name] = row.scope.split(/:(.*)/s);
  const holds = name ? `only ${kind === "repository" ? "in" : "with"} ${name}` : row.scope !== "general" && row.scope;
  const seen = row.repository.filter((each) => each !== name);
  const said = [row.kind, row.outcome || row.cause, row.trust && `trust ${row.trust}`, holds, ...seen, row.date];
  marks.append(...said.filter(Boolean).map((text) => element("span", "", text)));
  made.append(link, element("p", "gist", (row.trigger || row.summary).replaceAll("`", "")), marks);
  return made;
}

form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("input", () => { shown = PAGE; search(); });
more.addEventListener("click", () => { shown += PAGE; search(); });
load(1);
