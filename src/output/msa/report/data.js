// Data of the page and counts derived from it. Rows are numbered in the order of the letters.

const facts = JSON.parse(document.getElementById("facts").textContent);
const rowCount = facts.names.length;
const columnCount = facts.columns;
const isProtein = facts.alphabet === "protein";

// Kinds of cells: A to Z are 0 to 25, any other letter is 26, no letter is 27.
const KINDS = 28, OTHER = 26, GAP = 27;
const kindOf = new Uint8Array(256).fill(OTHER);
for (let i = 0; i < 26; i++) kindOf[65 + i] = kindOf[97 + i] = i;
kindOf[45] = kindOf[46] = GAP;
const kind = letter => kindOf[letter.charCodeAt(0)];

let letters = new Uint8Array(0);      // row by row, including gaps
let signs = null;                     // confidence of each letter: 0 to 9, or * from 95 % on
let counts = new Uint32Array(0);      // of each kind, column by column
const consensus = new Uint8Array(columnCount);  // the most frequent kind, a gap if most rows have one
const share = new Float32Array(columnCount);    // of the most frequent letter among all rows

function count() {
  counts = new Uint32Array(columnCount * KINDS);
  for (let row = 0, at = 0; row < rowCount; row++) {
    for (let column = 0, place = 0; column < columnCount; column++, place += KINDS) counts[place + kindOf[letters[at++]]]++;
  }
  for (let column = 0; column < columnCount; column++) {
    const own = counts.subarray(column * KINDS, column * KINDS + KINDS);
    let best = 0;
    for (let k = 1; k < GAP; k++) if (own[k] > own[best]) best = k;
    share[column] = rowCount ? own[best] / rowCount : 0;
    consensus[column] = own[GAP] * 2 > rowCount ? GAP : best;
  }
}

const letterOf = k => k === GAP ? "-" : k === OTHER ? "*" : String.fromCharCode(65 + k);

// Returns the letters of a column as text, the most frequent first.
function describe(column) {
  const own = counts.subarray(column * KINDS, column * KINDS + KINDS);
  const kinds = [...own.keys()].filter(k => own[k]).sort((a, b) => own[b] - own[a] || a - b);
  const percent = k => `${k === GAP ? "gap" : letterOf(k)} ${(own[k] * 100 / rowCount).toFixed(own[k] === rowCount ? 0 : 1)} %`;
  return kinds.slice(0, 6).map(percent).join(", ") + (kinds.length > 6 ? ", …" : "");
}
