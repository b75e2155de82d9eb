// Drawing. One canvas stays in place while its scroller moves under it. Only the visible part is drawn.

const element = id => document.getElementById(id);
const scroller = element("scroller"), sizer = element("sizer"), canvas = element("cells"), overview = element("overview");
const context = canvas.getContext("2d", { alpha: false });

const SIZES = [1, 2, 3, 4, 6, 8, 10, 12, 14, 18, 24];  // widths of cells in pixels
const WIDEST = 15e6;          // maximum pixels of an element in all browsers, with a margin
const RULER = 20, BARS = 36;  // heights in pixels
const LETTERS_FROM = 7, NAMES_FROM = 8;  // minimum cell sizes for letters and for names of rows
const TREE_WIDTH = 130, LONGEST_NAME = 240;
const FONT = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";

const view = {
  size: 12,
  order: [],            // rows in the displayed order
  columns: new Uint32Array(0),  // displayed columns
  kind: "file",
  scheme: SCHEMES[0][0],
  onlyDifferences: false,
  cursor: null,         // { place, column }: displayed positions of the row and the column
  hover: null,
  found: new Set(),     // rows whose names match the search
};
let style = {}, paint = null, atlas = null, nameWidth = 0, isWanted = false, drawnScale = 0;

// Cells are drawn on tiles. Tiles are kept until their content changes, so that scrolling only moves
// pictures.
const TILE = { width: 256, height: 256 };  // approximate size in pixels
const TILE_BYTES = 96e6;                   // limit of all kept tiles
const tiles = new Map();
let drawnAt = { x: 0, y: 0 };

// Rounds to whole pixels of the screen, so that cells are sharp at every scale.
const whole = length => Math.round(length * devicePixelRatio) / devicePixelRatio;
const cellWidth = () => whole(view.size);
const cellHeight = () => whole(view.size < 3 ? view.size + 1 : view.size * 1.35);
const hasTree = () => tree !== null && view.kind === "tree";
// Narrow screens get less space for names.
const treeWidth = () => hasTree() ? Math.min(TREE_WIDTH, Math.round(scroller.clientWidth * .2)) : 0;
const leftWidth = () => treeWidth() + (cellHeight() >= NAMES_FROM ? nameWidth : hasTree() ? 6 : 0);
const lineHeight = () => Math.max(14, cellHeight());
const hasLetters = () => view.size >= LETTERS_FROM;
const topHeight = () => RULER + BARS + (hasLetters() ? 2 * lineHeight() + 4 : 2);
const sizes = () => SIZES.filter(size => size === 1 || size * Math.max(columnCount, rowCount * 1.5) <= WIDEST);
const nameFont = () => `${Math.min(13, cellHeight() - 2)}px ${FONT}`;

function readStyle() {
  const choice = element("theme").value;
  const isDark = choice === "dark" || (choice === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
  const values = getComputedStyle(document.documentElement);
  style = { isDark, plain: pixel(isDark ? "#59616e" : "#d9dde3", false) };
  for (const name of ["back", "panel", "line", "text", "soft", "gap", "bar", "mark", "focus", "hover", "tree", "found"]) {
    style[name] = values.getPropertyValue(`--${name}`).trim();
  }
  redraw();
  paint = painter(view.scheme, isDark, view.onlyDifferences);
}

// Drops all tiles.
function redraw() {
  atlas = null;
  tiles.clear();
  want();
}

// Adapts the layout to the size of cells and of the window.
function layOut() {
  context.font = nameFont();
  let longest = 0;
  // All letters of names have one width, so the longest name is the widest.
  for (const name of facts.names) longest = Math.max(longest, name.length);
  nameWidth = Math.min(LONGEST_NAME, Math.round(scroller.clientWidth * .3), Math.ceil(longest * context.measureText("0").width) + 14);
  sizer.style.width = `${leftWidth() + view.columns.length * cellWidth()}px`;
  sizer.style.height = `${topHeight() + rowCount * cellHeight()}px`;
  const scale = devicePixelRatio, width = scroller.clientWidth, height = scroller.clientHeight;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  if (drawnScale !== scale) redraw();
  drawnScale = scale;
  want();
}

function want() {
  if (isWanted) return;
  isWanted = true;
  requestAnimationFrame(() => { isWanted = false; draw(); });
}

// Draws all letters side by side in one picture, because drawing text letter by letter is slow.
function makeAtlas() {
  const scale = devicePixelRatio, width = Math.round(cellWidth() * scale), height = Math.round(cellHeight() * scale);
  const picture = document.createElement("canvas");
  picture.width = width * 128;
  picture.height = height;
  const pen = picture.getContext("2d");
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.font = `${Math.min(height * .86, width * 1.3)}px ${FONT}`;
  for (let byte = 33; byte < 127; byte++) {
    pen.fillStyle = byte === 45 || byte === 46 ? style.gap : style.text;
    pen.fillText(String.fromCharCode(byte), (byte + .5) * width, height * .54);
  }
  atlas = { picture, width, height };
}

const strip = document.createElement("canvas");
const stripContext = strip.getContext("2d");

// Returns the visible range in cells.
function part() {
  const left = leftWidth(), top = topHeight(), size = cellWidth(), height = cellHeight();
  const x = whole(scroller.scrollLeft), y = whole(scroller.scrollTop);
  const firstColumn = Math.floor(x / size), firstPlace = Math.floor(y / height);
  return {
    left, top, size, height, x, y, firstColumn, firstPlace,
    lastColumn: Math.min(view.columns.length, Math.ceil((x + scroller.clientWidth - left) / size)),
    lastPlace: Math.min(rowCount, Math.ceil((y + scroller.clientHeight - top) / height)),
  };
}

function draw() {
  const on = part(), scale = devicePixelRatio, width = scroller.clientWidth, height = scroller.clientHeight;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.fillStyle = style.back;
  context.fillRect(0, 0, width, height);
  context.lineWidth = 1;
  context.textBaseline = "middle";
  if (on.lastColumn > on.firstColumn && on.lastPlace > on.firstPlace) drawCells(on, width, height);
  drawHead(on, width);
  drawSide(on, height);
  drawOverview(on);
}

function clip(x, y, width, height, run) {
  context.save();
  context.beginPath();
  context.rect(x, y, Math.max(0, width), Math.max(0, height));
  context.clip();
  run();
  context.restore();
}

function drawCells(on, width, height) {
  clip(on.left, on.top, width - on.left, height - on.top, () => {
    const columns = Math.ceil(TILE.width / on.size), places = Math.ceil(TILE.height / on.height);
    const scale = devicePixelRatio, bytes = 4 * columns * on.size * places * on.height * scale * scale;
    // Moves the tile to the end of the map, which is ordered by last use.
    const keep = (place, column, tile) => {
      tiles.delete(`${place} ${column}`);
      tiles.set(`${place} ${column}`, tile);
    };
    const rows = [], own = [];
    for (let place = on.firstPlace - on.firstPlace % places; place < on.lastPlace; place += places) rows.push(place);
    for (let column = on.firstColumn - on.firstColumn % columns; column < on.lastColumn; column += columns) own.push(column);
    for (const place of rows) {
      for (const column of own) {
        const tile = tiles.get(`${place} ${column}`) ?? makeTile(place, column, places, columns);
        keep(place, column, tile);
        const x = on.left + column * on.size - on.x, y = on.top + place * on.height - on.y;
        context.drawImage(tile, x, y, tile.width / scale, tile.height / scale);
      }
    }
    // Draws one more tile around the visible part with every picture, first in the direction of scrolling,
    // so that less is drawn at once.
    const sides = (list, step, isBack) => isBack ? [list[0] - step, list.at(-1) + step] : [list.at(-1) + step, list[0] - step];
    const across = sides(own, columns, on.x < drawnAt.x), along = sides(rows, places, on.y < drawnAt.y);
    drawnAt = { x: on.x, y: on.y };
    const around = [0, 1].flatMap(i => [...rows.map(place => [place, across[i]]), ...own.map(column => [along[i], column])]);
    let isMade = false;
    for (const [place, column] of around) {
      if (place < 0 || column < 0 || place >= rowCount || column >= view.columns.length) continue;
      const tile = tiles.get(`${place} ${column}`);
      if (!tile && isMade) continue;
      isMade ||= !tile;
      keep(place, column, tile ?? makeTile(place, column, places, columns));
    }
    if (isMade) want();
    const most = Math.max(rows.length * own.length + around.length, TILE_BYTES / bytes);
    for (const key of tiles.keys()) {
      if (tiles.size <= most) break;
      tiles.delete(key);
    }
    drawOutlines(on, width, height);
  });
}

// Returns the letter that a cell shows: a dot where only differences are shown and there is none.
const shownLetter = (letter, column) =>
  view.onlyDifferences && letter !== 45 && kindOf[letter] === consensus[column] ? "." : String.fromCharCode(letter);

function makeTile(firstPlace, firstColumn, places, columns) {
  places = Math.min(places, rowCount - firstPlace);
  columns = Math.min(columns, view.columns.length - firstColumn);
  const width = Math.round(cellWidth() * devicePixelRatio), height = Math.round(cellHeight() * devicePixelRatio);
  const tile = document.createElement("canvas");
  tile.width = columns * width;
  tile.height = places * height;
  const pen = tile.getContext("2d", { alpha: false });
  pen.fillStyle = style.back;
  pen.fillRect(0, 0, tile.width, tile.height);
  // Draws one pixel per cell and enlarges the picture.
  const image = stripContext.createImageData(columns, places);
  const pixels = new Uint32Array(image.data.buffer);
  for (let place = 0, at = 0; place < places; place++) {
    const start = view.order[firstPlace + place] * columnCount;
    for (let i = 0; i < columns; i++) {
      const column = view.columns[firstColumn + i], k = kindOf[letters[start + column]];
      // Without letters, only gaps are empty, so every letter must have a colour.
      pixels[at++] = paint(column, k, start + column) || (!hasLetters() && k !== GAP ? style.plain : 0);
    }
  }
  strip.width = columns;
  strip.height = places;
  stripContext.putImageData(image, 0, 0);
  pen.imageSmoothingEnabled = false;
  pen.drawImage(strip, 0, 0, tile.width, tile.height);
  if (!hasLetters()) return tile;
  if (!atlas) makeAtlas();
  for (let place = 0; place < places; place++) {
    const start = view.order[firstPlace + place] * columnCount;
    for (let i = 0; i < columns; i++) {
      const column = view.columns[firstColumn + i], letter = shownLetter(letters[start + column], column).charCodeAt(0);
      pen.drawImage(atlas.picture, letter * width, 0, width, height, i * width, place * height, width, height);
    }
  }
  return tile;
}

function drawOutlines(on, width, height) {
  const xOf = column => on.left + column * on.size - on.x, yOf = place => on.top + place * on.height - on.y;
  for (const [own, colour] of [[view.hover, style.hover], [view.cursor, null]]) {
    if (!own) continue;
    const x = xOf(own.column), y = yOf(own.place);
    if (colour) {
      context.fillStyle = colour;
      if (own.column >= 0) context.fillRect(x, on.top, on.size, height);
      if (own.place >= 0) context.fillRect(on.left, y, width, on.height);
    } else {
      context.strokeStyle = style.focus;
      context.lineWidth = 2;
      context.strokeRect(x - 1, y - 1, on.size + 2, on.height + 2);
      context.lineWidth = 1;
    }
  }
}

const rulerStep = size => [5, 10, 20, 50, 100, 200, 500, 1000].find(step => step * size >= 70) ?? 2000;

// Draws the ruler, the conservation of columns, the consensus and the marks of Clustal.
function drawHead(on, width) {
  const line = lineHeight();
  context.fillStyle = style.panel;
  context.fillRect(0, 0, width, on.top);
  clip(on.left, 0, width - on.left, on.top, () => {
    const xOf = column => on.left + column * on.size - on.x;
    const step = rulerStep(on.size);
    context.font = `11px ${FONT}`;
    context.textAlign = "center";
    context.fillStyle = style.soft;
    for (let number = Math.max(step, Math.floor(on.firstColumn / step) * step); number <= on.lastColumn + step; number += step) {
      if (number > view.columns.length) break;
      const x = xOf(number - .5);
      context.fillText(view.columns[number - 1] + 1, x, RULER / 2);
      context.fillRect(Math.round(x), RULER - 4, 1, 4);
    }
    // A short line marks the place of hidden columns.
    context.fillStyle = style.mark;
    for (let column = on.firstColumn; column <= on.lastColumn; column++) {
      const before = column ? view.columns[column - 1] : -1, own = column < view.columns.length ? view.columns[column] : columnCount;
      if (own > before + 1) context.fillRect(Math.round(xOf(column)) - 1, RULER, 2, 5);
    }
    context.fillStyle = style.bar;
    for (let column = on.firstColumn; column < on.lastColumn; column++) {
      const tall = share[view.columns[column]] * (BARS - 4);
      context.fillRect(xOf(column), RULER + BARS - tall, Math.max(1, on.size - (on.size > 3 ? 1 : 0)), tall);
    }
    if (!hasLetters()) return;
    context.font = `${Math.min(line * .86, on.size * 1.3)}px ${FONT}`;
    for (let column = on.firstColumn; column < on.lastColumn; column++) {
      const x = xOf(column + .5), own = view.columns[column], k = consensus[own];
      const letter = letterOf(k);
      context.fillStyle = k === GAP ? style.gap : style.text;
      context.fillText(share[own] > .5 ? letter : letter.toLowerCase(), x, RULER + BARS + 2 + line * .54);
      if (facts.marks[own] !== " ") {
        context.fillStyle = style.mark;
        context.fillText(facts.marks[own], x, RULER + BARS + 2 + line * 1.54);
      }
    }
  });
  context.fillStyle = style.line;
  context.fillRect(0, on.top - 1, width, 1);
}

// Returns the name of a row as far as there is space.
function labelOf(row) {
  context.font = nameFont();
  return namesWithin(Math.floor((nameWidth - 12) / context.measureText("0").width))[row];
}

// Draws the tree and names.
function drawSide(on, height) {
  const line = lineHeight(), besides = treeWidth();
  context.fillStyle = style.back;
  context.fillRect(0, on.top, on.left, height - on.top);
  context.fillStyle = style.panel;
  context.fillRect(0, 0, on.left, on.top - 1);
  if (on.left > 60) {
    clip(0, 0, on.left - 6, on.top, () => {
      context.font = "12px system-ui, sans-serif";
      context.textAlign = "right";
      context.fillStyle = style.soft;
      context.fillText("Conservation", on.left - 8, RULER + BARS - 10);
      if (!hasLetters()) return;
      context.fillText("Consensus", on.left - 8, RULER + BARS + 2 + line * .5);
      context.fillText("Marks", on.left - 8, RULER + BARS + 2 + line * 1.5);
    });
  }
  clip(0, on.top, on.left, height - on.top, () => {
    const yOf = place => on.top + place * on.height - on.y;
    if (besides) drawTree(context, 0, besides, on.top, height, yOf, style);
    if (on.height < NAMES_FROM) {
      context.fillStyle = style.mark;
      for (const row of view.found) context.fillRect(on.left - 5, yOf(view.places[row]), 4, Math.max(2, on.height));
      return;
    }
    context.font = nameFont();
    context.textAlign = "left";
    for (let place = on.firstPlace; place < on.lastPlace; place++) {
      const row = view.order[place], y = yOf(place);
      const isChosen = view.cursor?.place === place;
      if (view.found.has(row) || isChosen || view.hover?.place === place) {
        context.fillStyle = view.found.has(row) ? style.found : style.hover;
        context.fillRect(besides, y, nameWidth, on.height);
      }
      context.fillStyle = isChosen ? style.focus : style.text;
      context.fillText(labelOf(row), besides + 6, y + on.height * .54);
    }
  });
  context.fillStyle = style.line;
  context.fillRect(on.left - 1, 0, 1, height);
}

// Draws an overview of all columns, and marks the visible ones.
let overviewPicture = null;
function drawOverview(on) {
  const scale = devicePixelRatio, width = overview.clientWidth, height = overview.clientHeight;
  const shown = Math.max(1, view.columns.length);
  if (!width) return;
  const isNew = overview.width !== Math.round(width * scale);
  if (isNew) {
    overview.width = Math.round(width * scale);
    overview.height = Math.round(height * scale);
  }
  if (isNew || overviewPicture?.style !== style) {
    const picture = document.createElement("canvas");
    picture.width = overview.width;
    picture.height = overview.height;
    const pen = picture.getContext("2d");
    pen.fillStyle = style.back;
    pen.fillRect(0, 0, picture.width, picture.height);
    for (let x = 0; x < picture.width; x++) {
      const first = Math.floor(x * shown / picture.width);
      const end = Math.max(first + 1, Math.floor((x + 1) * shown / picture.width));
      let conserved = 0, gaps = 0;
      for (const column of view.columns.subarray(first, end)) {
        conserved += share[column];
        gaps += gapShare(column);
      }
      const tall = conserved / (end - first) * picture.height, empty = gaps / (end - first) * picture.height;
      pen.fillStyle = style.bar;
      pen.fillRect(x, picture.height - tall, 1, tall);
      pen.fillStyle = style.line;
      pen.fillRect(x, 0, 1, Math.min(empty, picture.height - tall));
    }
    overviewPicture = { picture, style };
  }
  const pen = overview.getContext("2d");
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.drawImage(overviewPicture.picture, 0, 0);
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  const from = on.x / on.size / shown * width;
  const wide = Math.max(3, (scroller.clientWidth - on.left) / on.size / shown * width);
  pen.fillStyle = style.hover;
  pen.fillRect(from, 0, wide, height);
  pen.strokeStyle = style.focus;
  pen.lineWidth = 2;
  pen.strokeRect(Math.min(from, width - 3) + 1, 1, Math.min(wide, width - from) - 2, height - 2);
  overview.setAttribute("aria-valuenow", (view.columns[on.firstColumn] ?? 0) + 1);
}
