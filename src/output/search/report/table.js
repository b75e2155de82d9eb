// The table of a query's hits, with the alignments that are open.

// Columns of the table: key, and whether larger values come first.
const COLUMNS = { name: false, bits: true, evalue: false, score: true, identity: true, cover: true, query: false, subject: false, length: true, strand: false };
const MORE_ROWS = 50;

const view = { sort: "", isReversed: false, filters: {}, version: 0 };
const TESTS = {
  name: (hit, wanted) => `${hit.name} ${hit.title}`.toLowerCase().includes(wanted),
  evalue: (hit, limit) => hit.order.evalue <= limit,
  bits: (hit, limit) => hit.order.bits >= limit,
  identity: (hit, limit) => hit.order.identity >= limit,
  cover: (hit, limit) => hit.cover >= limit,
  length: (hit, limit) => hit.length >= limit,
};

// Returns the hits of a query that pass the filters, sorted. Equal hits keep the order of the search.
function chosen(query) {
  const tests = Object.entries(view.filters);
  const hits = readData(query).hits.filter(hit => tests.every(([key, limit]) => TESTS[key](hit, limit)));
  const key = view.sort;
  if (!key) return view.isReversed ? hits.reverse() : hits;
  const sign = COLUMNS[key] !== view.isReversed ? -1 : 1;
  const compare = (a, b) => a.order[key] < b.order[key] ? -1 : a.order[key] > b.order[key] ? 1 : 0;
  return hits.sort((a, b) => sign * compare(a, b) || a.rank - b.rank);
}

const node = (name, className, ...children) => {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...children);
  return made;
};

const button = (text, onClick) => {
  const made = node("button", "", text);
  made.type = "button";
  made.addEventListener("click", onClick);
  return made;
};

// Returns a row of the table. The cells are those of the file's first rows.
function rowOf(hit, isOdd) {
  const name = button(hit.name, () => toggle(hit));
  name.setAttribute("aria-expanded", hit.query.open.has(hit));
  name.title = "Alignment";
  const title = hit.part > 1 ? `alignment ${hit.part}; ${hit.title}` : hit.title;
  const row = node("tr", isOdd ? "odd" : "", node("td", "left", name, " ", node("span", "", title)));
  row.id = `q${hit.query.index + 1}h${hit.rank + 1}`;
  const cells = [hit.bits, hit.evalue, hit.score, hit.identity, hit.cover, `${hit.queryStart}–${hit.queryEnd}`, `${hit.start}–${hit.end}`, hit.length];
  if (!scheme.isProtein) cells.push(hit.isMinus ? "−" : "+");
  cells.forEach((cell, i) => row.append(node("td", MINOR.has(i + 1) ? "minor" : "", String(cell))));
  return row;
}

// Indices of the columns that narrow screens omit: score, positions, length and strand.
const MINOR = new Set([3, 6, 7, 8, 9]);

let charWidth = 0;
function measureLetters() {
  const line = node("pre", "", "0".repeat(100)), probe = node("div", "", line);
  probe.style.cssText = "position:absolute;visibility:hidden;width:0;overflow:hidden";
  line.style.cssText = "display:inline-block;width:auto;min-width:0;padding:0";
  document.querySelector("main").append(probe);
  charWidth = line.getBoundingClientRect().width / 100;
  probe.remove();
}

function openedRow(hit) {
  const text = node("pre", "", "…"), cell = node("td", "", text);
  cell.colSpan = 10;
  text.tabIndex = 0;
  const width = Math.floor((hit.query.section.clientWidth - 18) / charWidth);
  hit.shownText = alignmentOf(hit, width).then(
    lines => { text.textContent = lines; },
    problem => { text.textContent = `This alignment cannot be shown: ${problem.message}`; },
  );
  return node("tr", "alignment", cell);
}

// Shows a section as the view demands, if it does not yet.
function render(query) {
  if (query.drawn === view.version) return;
  query.drawn = view.version;
  const section = query.section, all = readData(query).hits;
  if (!all.length) return;
  const hits = chosen(query), shown = hits.slice(0, query.shown);
  const width = Math.round(section.clientWidth);
  section.querySelector(".overview").replaceChildren(...overviewOf(query, hits, width, hit => {
    query.open.add(hit);
    reveal(hit);
  }));
  const rows = shown.flatMap((hit, i) => [rowOf(hit, i % 2 === 0), ...(query.open.has(hit) ? [openedRow(hit)] : [])]);
  section.querySelector("tbody").replaceChildren(...rows);
  for (const head of section.querySelectorAll("th")) {
    const isSorted = head.dataset.key === view.sort;
    if (isSorted) head.setAttribute("aria-sort", COLUMNS[view.sort] !== view.isReversed ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  }
  const more = section.querySelector(".more"), rest = hits.length - shown.length;
  const showMore = count => () => { query.shown = shown.length + count; update(query); };
  const parts = [];
  if (hits.length < all.length) parts.push(`${hits.length} of ${all.length} hits pass the filters.`);
  if (rest > MORE_ROWS) parts.push(button(`Show ${MORE_ROWS} more`, showMore(MORE_ROWS)));
  if (rest > 0) parts.push(button(`Show all ${hits.length}`, showMore(rest)));
  more.replaceChildren(...parts);
}

// Renders one section again.
function update(query) {
  query.drawn = null;
  render(query);
}

function toggle(hit) {
  const { open, index } = hit.query;
  if (!open.delete(hit)) open.add(hit);
  const row = element(`q${index + 1}h${hit.rank + 1}`);
  row.querySelector("button").setAttribute("aria-expanded", open.has(hit));
  if (open.has(hit)) row.after(openedRow(hit));
  else row.nextElementSibling.remove();
}

// Shows a hit, whatever the number of its row, and scrolls to it.
function reveal(hit) {
  const at = chosen(hit.query).indexOf(hit);
  if (at < 0) return;
  hit.query.shown = Math.max(hit.query.shown, at + 1);
  update(hit.query);
  const scroll = () => element(`q${hit.query.index + 1}h${hit.rank + 1}`)?.scrollIntoView({ block: "start" });
  scroll();
  // Sections above are rendered when they come near, and move the row.
  hit.shownText?.then(() => requestAnimationFrame(() => requestAnimationFrame(scroll)));
}
