// Colour schemes: the background colour of every cell.

const BLUE = "#80a0f0", RED = "#f05040", MAGENTA = "#d070d0", GREEN = "#40c840", PINK = "#f08080", ORANGE = "#f09048",
  YELLOW = "#d0d020", CYAN = "#30b8b8";

// Returns the colour of each kind, given a list of [letters, colour].
const byLetters = groups => {
  const colours = new Array(KINDS).fill(null);
  for (const [group, colour] of groups) for (const letter of group) colours[kind(letter)] = colour;
  return colours;
};

// Rules of ClustalX. A residue is coloured if enough residues of its column are similar. Each rule has
// the residues, their colour, and the sums or single residues that must reach a share of all rows.
const HYDROPHOBIC = ["WLVIMAFCHP", .6];
const anyOf = (residues, least) => [...residues].map(residue => [residue, least]);
const CLUSTAL = [
  ["AILMFWVC", BLUE, [HYDROPHOBIC]],
  ["KR", RED, [["KR", .6], ...anyOf("KRQ", .8)]],
  ["E", MAGENTA, [["KR", .6], ["QE", .5], ...anyOf("EQD", .85)]],
  ["D", MAGENTA, [["KR", .6], ["ED", .5], ...anyOf("KRQ", .85)]],
  ["N", GREEN, [["N", .5], ...anyOf("NY", .85)]],
  ["Q", GREEN, [["KR", .6], ["QE", .5], ...anyOf("QEKR", .85)]],
  ["ST", GREEN, [HYDROPHOBIC, ["TS", .5], ...anyOf("ST", .85)]],
  ["G", ORANGE, [["", 0]]],
  ["P", YELLOW, [["", 0]]],
  ["HY", CYAN, [HYDROPHOBIC, ...anyOf("WYACPQFHILMV", .85)]],
];

// Bit mask of every column: one bit for each coloured kind, and bit 31 if cysteines have their own
// colour.
let clustalBits = null;
function findClustalBits() {
  clustalBits = new Int32Array(columnCount);
  for (let column = 0; column < columnCount; column++) {
    const sum = group => [...group].reduce((all, letter) => all + counts[column * KINDS + kind(letter)], 0);
    const sums = new Map();
    const reaches = ([group, least]) => {
      if (!sums.has(group)) sums.set(group, sum(group));
      return least === 0 || sums.get(group) > least * rowCount;
    };
    let bits = 0;
    for (const [residues, , conditions] of CLUSTAL) {
      if (conditions.some(reaches)) for (const residue of residues) bits |= 1 << kind(residue);
    }
    if (reaches(["C", .85])) bits |= 1 << 31 | 1 << kind("C");
    clustalBits[column] = bits;
  }
}

// Kyte and Doolittle 1982.
const HYDROPATHY = { I: 4.5, V: 4.2, L: 3.8, F: 2.8, C: 2.5, M: 1.9, A: 1.8, G: -.4, T: -.7, S: -.8, W: -.9, Y: -1.3, P: -1.6,
  H: -3.2, E: -3.5, Q: -3.5, D: -3.5, N: -3.5, K: -3.9, R: -4.5 };
const hydropathy = Object.entries(HYDROPATHY).map(([letter, value]) => {
  const part = (value + 4.5) / 9, channel = (from, to) => Math.round(from + (to - from) * part).toString(16).padStart(2, "0");
  return [letter, `#${channel(0x6a, 0xf5)}${channel(0xa8, 0x8c)}${channel(0xf0, 0x5a)}`];
});

// Colours of the signs of confidence, from 0 to 9 and *.
const CONFIDENCE = ["#e8603c", "#ee7f50", "#f29a66", "#f5b480", "#f7cd9e", "#f5e3bf", "#d8e3ee", "#b9d0ee", "#97b8ec", "#749fe8",
  "#4f84e0"];
const levelOf = sign => sign === 42 ? 10 : sign - 48;

const SCHEMES = isProtein ? [
  ["clustal", "Clustal", byLetters(CLUSTAL)],
  ["chemistry", "side chains", byLetters([["AVLIMC", "#b8bfc9"], ["FWYH", CYAN], ["KR", RED], ["DE", MAGENTA], ["STNQ", GREEN], ["G", ORANGE], ["P", YELLOW]])],
  ["hydropathy", "hydropathy", byLetters(hydropathy)],
  ["identity", "identity", byLetters([])],
  ["none", "none", byLetters([])],
] : [
  ["bases", "bases", byLetters([["A", "#64c864"], ["C", "#6ea0f5"], ["G", "#f0b440"], ["TU", "#f07070"]])],
  ["rings", "purines, pyrimidines", byLetters([["AGR", "#f0a060"], ["CTUY", "#70a8e8"]])],
  ["identity", "identity", byLetters([])],
  ["none", "none", byLetters([])],
];
if (facts.confidence) SCHEMES.push(["confidence", "confidence", byLetters([])]);
// Colours of a letter, each with the share of rows that must exceed it.
const IDENTITY_STEPS = [[.8, "#6f8ff0"], [.6, "#9db4f5"], [.4, "#cfdafa"]];

// Returns a colour as a pixel of an image. In dark mode, colours are mixed with black, because letters
// are light.
function pixel(colour, isDark) {
  if (!colour) return 0;
  const value = parseInt(colour.slice(1), 16);
  const part = shift => Math.round((value >> shift & 255) * (isDark ? .45 : 1));
  return (255 << 24 | part(0) << 16 | part(8) << 8 | part(16)) >>> 0;
}

// Returns the function of a scheme that computes the pixel of a cell from its column, its kind and its
// index among all letters.
function painter(scheme, isDark, onlyDifferences) {
  const [name, , colours] = SCHEMES.find(own => own[0] === scheme) ?? SCHEMES[0];
  const pixels = Uint32Array.from(colours, colour => pixel(colour, isDark));
  const steps = IDENTITY_STEPS.map(([least, colour]) => [least * rowCount, pixel(colour, isDark)]);
  const pink = pixel(PINK, isDark), cysteine = kind("C");
  let own = (column, k) => pixels[k];
  if (name === "clustal") {
    if (!clustalBits) findClustalBits();
    own = (column, k) => {
      const bits = clustalBits[column];
      return bits >>> k & 1 ? (k === cysteine && bits < 0 ? pink : pixels[k]) : 0;
    };
  } else if (name === "identity") {
    own = (column, k) => {
      if (k >= OTHER) return 0;
      const rows = counts[column * KINDS + k];
      for (const [least, colour] of steps) if (rows > least) return colour;
      return 0;
    };
  }
  if (name === "confidence") {
    const levels = CONFIDENCE.map(colour => pixel(colour, isDark));
    own = (column, k, at) => k === GAP ? 0 : levels[levelOf(signs[at])];
  }
  return onlyDifferences ? (column, k, at) => k === consensus[column] ? 0 : own(column, k, at) : own;
}
