// The displayed columns: all, or those with few gaps.

// Largest shares of gaps that can be chosen; with 1, all columns are displayed.
const GAP_LIMITS = [1, .95, .9, .75, .5, .25, 0];
const BLOCK = 10;  // columns of a conserved block

const gapShare = column => counts[column * KINDS + GAP] / Math.max(1, rowCount);

// Returns the columns with at most this share of gaps.
function columnsWithin(limit) {
  const all = Array.from({ length: columnCount }, (_, column) => column);
  // A column of the limit itself is displayed, whatever the rounding.
  return Uint32Array.from(limit === 1 ? all : all.filter(column => gapShare(column) <= limit + 1e-9));
}

// Returns the displayed position of the first conserved block: columns in which most rows have letters,
// and whose mean conservation is close to that of the best block.
function firstBlock(columns) {
  const length = Math.min(BLOCK, columns.length);
  const means = [], isFull = [];
  let conserved = 0, gaps = 0;
  columns.forEach((column, position) => {
    conserved += share[column];
    gaps += gapShare(column);
    if (position >= length) {
      conserved -= share[columns[position - length]];
      gaps -= gapShare(columns[position - length]);
    }
    if (position + 1 < length) return;
    means.push(conserved / length);
    isFull.push(gaps / length < .3);
  });
  const best = means.reduce((most, mean, i) => isFull[i] && mean > most ? mean : most, 0);
  const first = means.findIndex((mean, i) => isFull[i] && mean >= .75 * best);
  return Math.max(0, first);
}

// Displays the columns within a limit. The first displayed column and the cursor stay where they are, as
// far as these columns are still displayed.
function setColumns(limit) {
  const on = part(), first = view.columns[on.firstColumn] ?? 0, held = view.cursor && view.columns[view.cursor.column];
  view.columns = columnsWithin(limit);
  if (view.cursor) {
    if (view.columns.length) view.cursor.column = positionOf(held);
    else view.cursor = null;
  }
  view.hover = null;
  overviewPicture = null;
  redraw();
  layOut();
  scroller.scrollLeft = positionOf(first) * cellWidth();
  const number = value => value.toLocaleString("en"), hidden = columnCount - view.columns.length;
  element("hidden").textContent = hidden ? `${number(hidden)} column${hidden === 1 ? "" : "s"} hidden` : "";
}

// Returns the displayed position of a column, or that of the next displayed one.
function positionOf(column) {
  let low = 0, high = view.columns.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (view.columns[middle] < column) low = middle + 1; else high = middle;
  }
  return Math.min(low, Math.max(0, view.columns.length - 1));
}
