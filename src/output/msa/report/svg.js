// The visible part with its names and tree as an SVG picture, for a figure. It has light colours.

const escapeXml = text => text.replace(/[<>&"]/g, sign => `&#${sign.charCodeAt(0)};`);
const round = value => String(Math.round(value * 100) / 100);
const cssOf = colour => `#${[0, 8, 16].map(shift => (colour >> shift & 255).toString(16).padStart(2, "0")).join("")}`;

// Returns the picture.
function svgOf() {
  const on = part(), colours = painter(view.scheme, false, view.onlyDifferences), plain = pixel("#d9dde3", false);
  const columns = view.columns.slice(on.firstColumn, on.lastColumn), rows = view.order.slice(on.firstPlace, on.lastPlace);
  const [size, height, line] = [on.size, on.height, lineHeight()], isLettered = hasLetters();
  const left = Math.max(on.left, 6), top = on.top, width = left + columns.length * size + 6, bottom = top + rows.length * height;
  const xOf = position => left + position * size, yOf = place => top + (place - on.firstPlace) * height;
  const out = [];
  const rect = (x, y, wide, tall, colour) =>
    out.push(`<rect x="${round(x)}" y="${round(y)}" width="${round(wide)}" height="${round(tall)}" fill="${colour}"/>`);
  const text = (x, y, letters, attributes = "") => out.push(`<text x="${x}" y="${round(y)}"${attributes}>${escapeXml(letters)}</text>`);
  // A text has a position for every letter, so that letters stay in their cells in any font.
  const lettersAt = (y, letters, pixels, fill) => {
    const at = [...letters].map((letter, i) => [letter, round(xOf(i + .5))]).filter(([letter]) => letter !== " ");
    if (at.length) text(at.map(([, x]) => x).join(" "), y, at.map(([letter]) => letter).join(""), ` text-anchor="middle" font-size="${round(pixels)}" fill="${fill}"`);
  };
  out.push(`<svg xmlns="http://www.w3.org/2000/svg" width="${round(width)}" height="${round(bottom + 4)}" viewBox="0 0 ${round(width)} ${round(bottom + 4)}" font-family="${FONT.replaceAll('"', "'")}">`);
  out.push(`<title>${escapeXml(facts.title)}</title>`);
  rect(0, 0, width, bottom + 4, "#ffffff");
  const step = rulerStep(size);
  for (let number = Math.ceil((on.firstColumn + 1) / step) * step; number <= on.lastColumn; number += step) {
    const x = round(xOf(number - on.firstColumn - .5));
    text(x, RULER / 2 + 4, String(view.columns[number - 1] + 1), ' text-anchor="middle" font-size="11" fill="#4a5260"');
    out.push(`<path d="M${x} ${RULER - 4}v4" stroke="#4a5260"/>`);
  }
  columns.forEach((column, i) => {
    const tall = share[column] * (BARS - 4);
    if (tall) rect(xOf(i), RULER + BARS - tall, Math.max(.5, size - (size > 3 ? 1 : 0)), tall, "#7b8794");
  });
  if (isLettered) {
    const pixels = Math.min(line * .86, size * 1.3);
    const consensusText = [...columns].map(column => {
      const letter = letterOf(consensus[column]);
      return share[column] > .5 ? letter : letter.toLowerCase();
    }).join("");
    lettersAt(RULER + BARS + 2 + line * .8, consensusText, pixels, "#1b1e24");
    lettersAt(RULER + BARS + 2 + line * 1.8, [...columns].map(column => facts.marks[column]).join(""), pixels, "#b3261e");
  }
  const labels = left > 60 ? [["Conservation", RULER + BARS - 6], ...(isLettered ? [["Consensus", RULER + BARS + 2 + line * .8], ["Marks", RULER + BARS + 2 + line * 1.8]] : [])] : [];
  for (const [label, y] of labels) text(round(left - 8), y, label, ' text-anchor="end" font-size="11" fill="#4a5260"');
  const pixels = Math.min(height * .86, size * 1.3), nameSize = Math.min(13, height - 2), hasNames = height >= NAMES_FROM;
  rows.forEach((row, i) => {
    const y = top + i * height, start = row * columnCount;
    for (let position = 0; position < columns.length;) {
      // Adjacent cells of one colour are one rectangle.
      const colourOf = at => {
        const k = kindOf[letters[start + columns[at]]];
        return colours(columns[at], k, start + columns[at]) || (!isLettered && k !== GAP ? plain : 0);
      };
      const colour = colourOf(position), first = position;
      while (position < columns.length && colourOf(position) === colour) position++;
      if (colour) rect(xOf(first), y, (position - first) * size, height, cssOf(colour));
    }
    if (isLettered) lettersAt(y + height * .8, [...columns].map(column => shownLetter(letters[start + column], column)).join(""), pixels, "#1b1e24");
    if (hasNames) text(round(treeWidth() + 6), y + height * .78, labelOf(row), ` font-size="${round(nameSize)}" fill="#1b1e24"`);
  });
  if (hasTree()) {
    const { branches, guides } = treeLines(0, treeWidth(), top, bottom, place => yOf(place));
    const path = lines => lines.map(([x, y, toX, toY]) => `M${round(x)} ${round(y)}L${round(toX)} ${round(toY)}`).join("");
    out.push(`<path d="${path(guides)}" fill="none" stroke="#d5d8de" stroke-dasharray="1 3"/>`);
    out.push(`<path d="${path(branches)}" fill="none" stroke="#4a5260"/>`);
  }
  out.push("</svg>", "");
  return out.join("\n");
}

function saveSvg() {
  download(new Blob([svgOf()], { type: "image/svg+xml" }), "alignment.svg");
}
