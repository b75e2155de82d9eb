// Filters, the order of hits, links to hits, and printing.

// Sections are rendered when they come near the screen.
const near = new Set();
const observer = new IntersectionObserver(entries => {
  for (const entry of entries) {
    const query = queries[Number(entry.target.id.slice(1)) - 1];
    if (entry.isIntersecting) near.add(query); else near.delete(query);
    if (entry.isIntersecting) render(query);
  }
}, { rootMargin: "800px 0px" });

// Renders the sections near the screen after a change of the view, and the others when they come near.
function renderNear() {
  view.version++;
  near.forEach(render);
}

const hitCount = count => count === 0 ? "no hits" : count === 1 ? "1 hit" : `${count} hits`;

// Shows how many hits pass the filters.
function showCounts() {
  const isFiltered = Object.keys(view.filters).length > 0;
  const counts = document.querySelectorAll("nav li small");
  let passed = 0, all = 0;
  if (isFiltered || element("count").textContent) {
    queries.forEach((query, i) => {
      const own = readData(query).hits.length, left = isFiltered ? chosen(query).length : own;
      passed += left;
      all += own;
      counts[i].textContent = left < own ? `${left} of ${own} hits` : hitCount(own);
    });
  }
  element("count").textContent = isFiltered ? `${passed} of ${hitCount(all)} pass the filters.` : "";
}

function readFilters() {
  view.filters = {};
  for (const input of document.querySelectorAll("[data-filter]")) {
    const value = input.value.trim();
    if (value) view.filters[input.dataset.filter] = input.type === "number" ? Number(value) : value.toLowerCase();
  }
  showCounts();
  renderNear();
}

function sortBy(key, isReversed) {
  view.sort = key;
  view.isReversed = isReversed;
  element("sort").value = key;
  element("direction").textContent = (key ? COLUMNS[key] : true) !== isReversed ? "↓" : "↑";
  renderNear();
}

// Opens the hit that the address names, such as #q2h7.
function openAddressed() {
  const [, query, rank] = /^#q(\d+)h(\d+)$/.exec(location.hash) ?? [];
  const hit = query && queries[query - 1] && readData(queries[query - 1]).hits[rank - 1];
  if (!hit) return;
  hit.query.open.add(hit);
  reveal(hit);
}

function start() {
  const heads = document.querySelectorAll("th[data-key]"), names = new Map([["", "Rank"]]);
  for (const head of heads) {
    names.set(head.dataset.key, head.textContent);
    const key = head.dataset.key;
    head.replaceChildren(button(head.textContent, () => sortBy(key, view.sort === key && !view.isReversed)));
  }
  for (const [key, name] of names) {
    if (scheme.hasBits || (key !== "bits" && key !== "evalue")) element("sort").add(new Option(name === "Hit" ? "Name" : name, key));
  }
  if (!scheme.hasBits) ["bits", "evalue"].forEach(key => document.querySelector(`[data-filter=${key}]`).parentElement.remove());
  element("controls").hidden = false;
  measureLetters();
  element("controls").addEventListener("submit", event => event.preventDefault());
  element("controls").addEventListener("input", event => { if (event.target.dataset.filter) readFilters(); });
  element("controls").addEventListener("reset", () => setTimeout(() => { sortBy("", false); readFilters(); }));
  element("sort").addEventListener("change", event => sortBy(event.target.value, false));
  element("direction").addEventListener("click", () => sortBy(view.sort, !view.isReversed));
  element("open").addEventListener("click", () => {
    for (const query of queries) chosen(query).slice(0, query.shown).forEach(hit => query.open.add(hit));
    renderNear();
  });
  element("close").addEventListener("click", () => { queries.forEach(query => query.open.clear()); renderNear(); });
  addEventListener("hashchange", openAddressed);
  addEventListener("beforeprint", () => queries.forEach(render));
  let width = document.querySelector("main").clientWidth;
  new ResizeObserver(() => {
    const wide = document.querySelector("main").clientWidth;
    if (wide === width) return;
    width = wide;
    measureLetters();
    renderNear();
  }).observe(document.querySelector("main"));
  queries.forEach(query => observer.observe(query.section));
  openAddressed();
}

start();
