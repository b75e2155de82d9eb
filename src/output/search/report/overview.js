// The overview of a query's hits: bars along the query, coloured by bit score, or by the share of the
// best score if bit scores are unknown. Adjacent hits of one subject share a line unless their bars overlap.

const MAX_BARS = 100;
const AXIS = 12, QUERY = 24, FIRST = 40;  // heights in pixels: labels of the axis, the query, and the first bar
const MARGIN = 10;                        // distance of the query's ends from the sides

const drawing = (name, attributes, ...children) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
};

// Returns the index of a hit's colour.
function colourOf(hit, best) {
  if (scheme.hasBits) return scheme.limits.filter(limit => hit.order.bits >= limit).length;
  return Math.min(4, Math.floor(5 * Math.max(0, hit.score) / Math.max(1, best)));
}

function legend() {
  const limits = scheme.limits;
  const labels = scheme.hasBits
    ? [`below ${limits[0]} bits`, ...limits.slice(1).map((limit, i) => `${limits[i]}–${limit}`), `${limits.at(-1)} and more`]
    : ["below 20% of best", "20–40%", "40–60%", "60–80%", "80–100%"];
  const list = document.createElement("ul");
  list.className = "legend";
  labels.forEach((label, i) => {
    const item = document.createElement("li");
    item.append(drawing("svg", { viewBox: "0 0 14 12", "aria-hidden": "true" }, drawing("rect", { class: `c${i}`, width: 14, height: 12 })), label);
    list.append(item);
  });
  return list;
}

// Returns the positions of ticks on an axis of a given length, at most one for every 80 pixels.
function ticks(length, width) {
  const least = 80 * length / width;
  let step = 1;
  for (const factor of function* () { for (let i = 0; ; i++) yield [2, 2.5, 2][i % 3]; }()) {
    if (step >= least) break;
    step *= factor;
  }
  const list = [1];
  for (let at = step; at <= length; at += step) if (at > 1) list.push(at);
  return list;
}

// Returns the number of the line of each hit, from 0.
function linesOf(hits) {
  const lines = [];
  let line = -1, first = 0;
  hits.forEach((hit, i) => {
    const previous = hits[i - 1], isFurther = previous && hit.part === previous.part + 1 && hit.rank === previous.rank + 1;
    const onLine = isFurther ? hits.slice(first, i) : [];
    const isFree = isFurther && onLine.every(other => hit.queryEnd < other.queryStart || other.queryEnd < hit.queryStart);
    if (!isFree) {
      line++;
      first = i;
    }
    lines.push(line);
  });
  return lines;
}

// Returns the picture of the first hits. `onClick` is called with a hit.
function overviewOf(query, hits, width, onClick) {
  const length = Math.max(1, query.data.length), drawn = hits.slice(0, MAX_BARS);
  const best = Math.max(...query.data.hits.map(hit => hit.score));
  const lines = linesOf(drawn), count = (lines.at(-1) ?? -1) + 1;
  const [bar, step] = count > 40 ? [4, 5] : [6, 9];
  const xOf = symbols => MARGIN + (width - 2 * MARGIN) * symbols / length;
  const height = FIRST + step * count;
  const picture = drawing("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Positions of the hits" });
  for (const tick of ticks(length, width)) {
    const x = xOf(tick - .5), anchor = tick === 1 ? "start" : x > width - 40 ? "end" : "middle";
    picture.append(drawing("text", { x: (tick === 1 ? MARGIN : x).toFixed(1), y: AXIS, "text-anchor": anchor }, String(tick)));
    picture.append(drawing("path", { class: "axis", d: `M${x.toFixed(1)} ${AXIS + 4}v6` }));
  }
  picture.append(drawing("rect", { class: "query", x: MARGIN, y: QUERY, width: width - 2 * MARGIN, height: 8 }));
  drawn.forEach((hit, i) => {
    const from = xOf(hit.queryStart - 1), to = xOf(hit.queryEnd);
    const score = scheme.hasBits ? `${hit.bits} bits, E ${hit.evalue}` : `score ${hit.score}`;
    const label = `${hit.name}: ${score}, ${hit.queryStart}–${hit.queryEnd}`;
    const rect = drawing("rect", {
      class: `c${colourOf(hit, best)}`, x: from.toFixed(1), y: FIRST + step * lines[i], width: Math.max(2, to - from).toFixed(1), height: bar,
    }, drawing("title", {}, label));
    const link = drawing("a", { href: `#q${query.index + 1}h${hit.rank + 1}` }, rect);
    link.addEventListener("click", event => { event.preventDefault(); onClick(hit); });
    picture.append(link);
  });
  const parts = [legend(), picture];
  if (drawn.length < hits.length) {
    const note = document.createElement("p");
    note.textContent = `The first ${drawn.length} of ${hits.length} hits are drawn.`;
    parts.push(note);
  }
  return parts;
}
