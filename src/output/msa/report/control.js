// Input of the reader: scrolling, searching, selecting, keys, mouse and printing.

function setOrder(kind) {
  const held = view.cursor && view.order[view.cursor.place];
  view.kind = kind;
  const all = [...facts.names.keys()];
  view.order = {
    tree: () => treeOrder(),
    file: () => all,
    input: () => all.sort((a, b) => facts.order[a] - facts.order[b]),
    name: () => all.sort((a, b) => facts.names[a] < facts.names[b] ? -1 : facts.names[a] > facts.names[b] ? 1 : a - b),
  }[kind]();
  view.places = new Uint32Array(rowCount);
  view.order.forEach((row, place) => { view.places[row] = place; });
  if (kind === "tree") placeTree(view.order);
  if (view.cursor) view.cursor.place = view.places[held];
  view.hover = null;
  redraw();
}

// Scrolls until a cell is visible.
function show(place, column) {
  const on = part();
  const width = scroller.clientWidth - on.left, height = scroller.clientHeight - on.top;
  const x = column * on.size, y = place * on.height;
  if (column !== null && (x < on.x || x + on.size > on.x + width)) scroller.scrollLeft = x - width / 2;
  if (place !== null && (y < on.y || y + on.height > on.y + height)) scroller.scrollTop = y - height / 2;
  want();
}

// Returns the range of a sign of confidence as text.
function percentOf(sign) {
  const level = levelOf(sign);
  return level === 10 ? "at least 95 %" : `${Math.max(0, level * 10 - 5)} to ${level * 10 + 5} %`;
}

// Describes a cell, a row or a column.
function tell(at) {
  const parts = [], column = view.columns[at.column] ?? -1;
  if (at.place !== null && at.place >= 0) {
    const row = view.order[at.place];
    parts.push(facts.names[row]);
    if (column >= 0) {
      const start = row * columnCount, own = letters[start + column];
      let before = 0, all = 0;
      for (let i = 0; i < columnCount; i++) {
        if (kindOf[letters[start + i]] !== GAP) { all++; if (i <= column) before++; }
      }
      parts.push(kindOf[own] === GAP ? `gap after ${before} of ${all}` : `${String.fromCharCode(own)} ${before} of ${all}`);
      if (signs && kindOf[own] !== GAP) parts.push(`confidence ${percentOf(signs[start + column])}`);
    } else {
      parts.push(`row ${at.place + 1} of ${rowCount}`);
    }
  }
  if (column >= 0) {
    parts.push(`column ${column + 1}`, describe(column));
    if (facts.confidence) parts.push(`mean confidence ${percentOf(facts.confidence.charCodeAt(column))}`);
  }
  return parts.join("  ·  ");
}

function showInfo() {
  const at = view.hover ?? view.cursor;
  element("info").textContent = at ? tell(at) : "Point at a cell, a name or a column, or use the arrow keys.";
}

function moveTo(place, column) {
  if (!rowCount || !view.columns.length) return;
  view.cursor = { place: Math.max(0, Math.min(rowCount - 1, place)), column: Math.max(0, Math.min(view.columns.length - 1, column)) };
  view.hover = null;
  show(view.cursor.place, view.cursor.column);
  showInfo();
  element("spoken").textContent = tell(view.cursor);
}

// Changes the size of cells. The cell at a given point of the canvas stays there.
function zoom(by, x = scroller.clientWidth / 2, y = scroller.clientHeight / 2) {
  const all = sizes(), place = all.indexOf(view.size);
  const size = all[Math.max(0, Math.min(all.length - 1, (place < 0 ? 0 : place) + by))];
  if (size === view.size) return;
  const on = part();
  const column = (on.x + Math.max(0, x - on.left)) / on.size, row = (on.y + Math.max(0, y - on.top)) / on.height;
  view.size = size;
  redraw();
  layOut();
  scroller.scrollLeft = column * cellWidth() - Math.max(0, x - leftWidth());
  scroller.scrollTop = row * cellHeight() - Math.max(0, y - topHeight());
  element("smaller").disabled = size === all[0];
  element("greater").disabled = size === all[all.length - 1];
}

function search(by) {
  const wanted = element("search").value.trim().toLowerCase();
  view.found = new Set(wanted ? view.order.filter(row => facts.names[row].toLowerCase().includes(wanted)) : []);
  const found = [...view.found];
  const at = view.cursor ? view.cursor.place : -1;
  let text = "";
  if (wanted && !found.length) text = "none";
  if (found.length) {
    // The view stays at the current row if its name still matches.
    let next = by < 0 ? found.findLastIndex(row => view.places[row] < at) : found.findIndex(row => view.places[row] >= at + by);
    if (next < 0) next = by < 0 ? found.length - 1 : 0;
    text = `${next + 1} of ${found.length}`;
    moveTo(view.places[found[next]], view.cursor?.column ?? part().firstColumn);
  }
  element("found").textContent = text;
  want();
}

function cellAt(event) {
  const box = canvas.getBoundingClientRect(), on = part();
  const x = event.clientX - box.left, y = event.clientY - box.top;
  const column = x < on.left ? -1 : Math.floor((x - on.left + on.x) / on.size);
  const place = y < on.top ? -1 : Math.floor((y - on.top + on.y) / on.height);
  if (column >= view.columns.length || place >= rowCount || (column < 0 && place < 0)) return null;
  return { place, column };
}

const KEYS = {
  ArrowLeft: (at, far, page) => [at.place, at.column - (far ? page.columns : 1)],
  ArrowRight: (at, far, page) => [at.place, at.column + (far ? page.columns : 1)],
  ArrowUp: (at, far, page) => [at.place - (far ? page.rows : 1), at.column],
  ArrowDown: (at, far, page) => [at.place + (far ? page.rows : 1), at.column],
  PageUp: (at, far, page) => [at.place - page.rows, at.column],
  PageDown: (at, far, page) => [at.place + page.rows, at.column],
  Home: (at, far, page, isCtrl) => isCtrl ? [0, at.column] : [at.place, 0],
  End: (at, far, page, isCtrl) => isCtrl ? [rowCount, at.column] : [at.place, view.columns.length],
};

function onKey(event) {
  if (event.altKey || event.metaKey) return;
  const on = part();
  if (event.key in KEYS) {
    const page = { columns: Math.max(1, on.lastColumn - on.firstColumn - 1), rows: Math.max(1, on.lastPlace - on.firstPlace - 1) };
    // The first key puts the cursor at the visible part.
    if (view.cursor) moveTo(...KEYS[event.key](view.cursor, event.shiftKey, page, event.ctrlKey));
    else moveTo(on.firstPlace, on.firstColumn);
  } else if (event.ctrlKey) {
    return;
  } else if (event.key === "+" || event.key === "=") {
    zoom(1);
  } else if (event.key === "-") {
    zoom(-1);
  } else if (event.key === "Escape") {
    view.cursor = view.hover = null;
    showInfo();
    want();
  } else {
    return;
  }
  event.preventDefault();
}

// Prints rows in blocks of columns. Of a large alignment, it prints only the visible part.
const MAX_ON_PAPER = 300e3;
function fillPaper() {
  const on = part(), isWhole = rowCount * view.columns.length <= MAX_ON_PAPER;
  const [places, from, to] = isWhole ? [view.order, 0, view.columns.length]
    : [view.order.slice(on.firstPlace, on.lastPlace), on.firstColumn, on.lastColumn];
  const numberOf = position => view.columns[position] + 1;
  const paper = element("paper"), colours = painter(view.scheme, false, view.onlyDifferences);
  paper.textContent = isWhole ? "" : `Columns ${numberOf(from)} to ${numberOf(to - 1)} of ${columnCount}, ${places.length} of ${rowCount} rows: what was on the screen.`;
  const width = Math.min(32, facts.names.reduce((longest, name) => Math.max(longest, name.length), 4));
  const short = shorten(facts.names, width);
  for (let start = from; start < to; start += 100) {
    const end = Math.min(to, start + 100), block = document.createElement("pre");
    block.append(`${" ".repeat(width + 2)}${String(numberOf(start)).padEnd(Math.max(1, end - start - String(numberOf(end - 1)).length))}${numberOf(end - 1)}\n`);
    for (const row of places) {
      block.append(`${short[row].padEnd(width)}  `);
      for (let column = start; column < end;) {
        // Draws adjacent cells of one colour together.
        const at = position => row * columnCount + view.columns[position];
        const colourOf = position => colours(view.columns[position], kindOf[letters[at(position)]], at(position));
        const colour = colourOf(column), first = column;
        while (column < end && colourOf(column) === colour) column++;
        const text = String.fromCharCode(...Array.from({ length: column - first }, (_, i) => letters[at(first + i)]));
        if (!colour) { block.append(text); continue; }
        const span = document.createElement("span");
        span.style.background = `rgb(${colour & 255},${colour >> 8 & 255},${colour >> 16 & 255})`;
        span.textContent = text;
        block.append(span);
      }
      block.append("\n");
    }
    block.append(`${" ".repeat(width + 2)}${[...view.columns.subarray(start, end)].map(own => facts.marks[own]).join("")}\n`);
    paper.append(block);
  }
}

function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// Saves the rows and columns that are displayed.
function save() {
  const decoder = new TextDecoder(), parts = [];
  for (const row of view.order) {
    parts.push(`>${facts.names[row]}\n`);
    const own = view.columns.length === columnCount ? letters.subarray(row * columnCount, (row + 1) * columnCount)
      : Uint8Array.from(view.columns, column => letters[row * columnCount + column]);
    for (let at = 0; at < own.length; at += 60) parts.push(`${decoder.decode(own.subarray(at, at + 60))}\n`);
  }
  download(new Blob(parts, { type: "text/plain" }), "alignment.fa");
}

function listen() {
  const restyle = () => { readStyle(); want(); };
  scroller.addEventListener("scroll", () => { view.hover = null; want(); }, { passive: true });
  scroller.addEventListener("keydown", onKey);
  scroller.addEventListener("wheel", event => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const box = canvas.getBoundingClientRect();
    zoom(event.deltaY < 0 ? 1 : -1, event.clientX - box.left, event.clientY - box.top);
  }, { passive: false });
  canvas.addEventListener("pointermove", event => {
    const at = cellAt(event);
    if (at?.place === view.hover?.place && at?.column === view.hover?.column) return;
    view.hover = at;
    const name = at && at.column < 0 ? facts.names[view.order[at.place]] : "";
    if (canvas.title !== name) canvas.title = name;
    showInfo();
    want();
  });
  canvas.addEventListener("pointerleave", () => { view.hover = null; showInfo(); want(); });
  canvas.addEventListener("click", event => {
    const at = cellAt(event), on = part();
    if (!at) return;
    moveTo(at.place < 0 ? view.cursor?.place ?? on.firstPlace : at.place, at.column < 0 ? view.cursor?.column ?? on.firstColumn : at.column);
  });
  element("controls").addEventListener("submit", event => event.preventDefault());
  element("search").addEventListener("input", () => search(0));
  element("search").addEventListener("keydown", event => {
    if (event.key === "Enter") search(event.shiftKey ? -1 : 1);
  });
  element("column").max = columnCount;
  element("column").addEventListener("change", event => {
    const number = Math.round(Number(event.target.value));
    if (number >= 1) moveTo(view.cursor?.place ?? part().firstPlace, positionOf(number - 1));
  });
  element("scheme").addEventListener("change", event => { view.scheme = event.target.value; restyle(); });
  element("differences").addEventListener("change", event => { view.onlyDifferences = event.target.checked; restyle(); });
  element("rows").addEventListener("change", event => { setOrder(event.target.value); layOut(); showInfo(); });
  element("gaps").addEventListener("change", event => { setColumns(Number(event.target.value)); showInfo(); });
  element("theme").addEventListener("change", restyle);
  element("smaller").addEventListener("click", () => zoom(-1));
  element("greater").addEventListener("click", () => zoom(1));
  element("save").addEventListener("click", save);
  element("svg").addEventListener("click", saveSvg);
  element("print").addEventListener("click", () => print());
  element("help").addEventListener("click", event => {
    const isOpen = element("keys").toggleAttribute("hidden") === false;
    event.target.setAttribute("aria-expanded", isOpen);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", restyle);
  addEventListener("beforeprint", fillPaper);
  addEventListener("afterprint", () => { element("paper").textContent = ""; });
  addEventListener("keydown", event => {
    if (event.key !== "/" || event.ctrlKey || /^(INPUT|SELECT)$/.test(event.target.tagName)) return;
    event.preventDefault();
    element("search").focus();
  });
  new ResizeObserver(layOut).observe(scroller);
  const goTo = event => {
    const box = overview.getBoundingClientRect(), on = part();
    const middle = (event.clientX - box.left) / box.width * view.columns.length * on.size;
    scroller.scrollLeft = middle - (scroller.clientWidth - on.left) / 2;
  };
  overview.setAttribute("aria-valuemax", columnCount);
  overview.addEventListener("pointerdown", event => { overview.setPointerCapture(event.pointerId); goTo(event); });
  overview.addEventListener("pointermove", event => { if (event.buttons) goTo(event); });
  overview.addEventListener("keydown", event => {
    const on = part(), page = scroller.clientWidth - on.left;
    const to = { ArrowLeft: on.x - page / 4, ArrowRight: on.x + page / 4, PageUp: on.x - page, PageDown: on.x + page, Home: 0, End: view.columns.length * on.size };
    if (!(event.key in to)) return;
    scroller.scrollLeft = to[event.key];
    event.preventDefault();
  });
}

function options(id, list) {
  for (const [value, text] of list) element(id).add(new Option(text, value));
}

async function start() {
  element("title").textContent = facts.title;
  const number = value => value.toLocaleString("en");
  element("size").textContent = `${number(rowCount)} sequence${rowCount === 1 ? "" : "s"}, ${number(columnCount)} columns`;
  const cells = rowCount * columnCount, size = facts.confidence === undefined ? cells : 2 * cells;
  letters = await unpack(bytesOf(element("letters").textContent), size);
  if (letters.length !== size) throw new Error("the letters of this page are damaged");
  if (size > cells) signs = letters.subarray(cells);
  letters = letters.subarray(0, cells);
  element("letters").remove();
  count();
  options("scheme", SCHEMES);
  const isInput = facts.order.every((sequence, row) => row === 0 || facts.order[row - 1] < sequence);
  options("rows", [...(tree ? [["tree", "tree"]] : isInput ? [] : [["file", "as aligned"]]), ["input", "input"], ["name", "name"]]);
  const percent = limit => limit === 1 ? "any" : limit ? `at most ${Math.round(100 * limit)} %` : "none";
  options("gaps", GAP_LIMITS.map(limit => [limit, percent(limit)]));
  view.columns = columnsWithin(1);
  if (tree) measureTree();
  view.size = sizes().findLast(size => size <= 12);
  setOrder(element("rows").value);
  readStyle();
  listen();
  layOut();
  const block = firstBlock(view.columns), on = part();
  // Two columns before the block show that it begins there.
  if (block >= on.lastColumn - BLOCK) scroller.scrollLeft = Math.max(0, block - 2) * cellWidth();
  showInfo();
  element("wait").remove();
}

start().catch(problem => { element("wait").textContent = `This alignment cannot be shown: ${problem.message}`; });
