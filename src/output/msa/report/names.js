// Short names that stay distinguishable.

// Returns a name of at most `most` characters that keeps `head` characters of its start, and the rest of
// its end.
function cut(name, head, most) {
  if (name.length <= most) return name;
  const tail = most - 1 - head;
  return `${name.slice(0, head)}…${tail ? name.slice(-tail) : ""}`;
}

// Removes the start and the end that all names have in common, as far as they consist of whole words.
function withoutCommonParts(names) {
  const SEPARATOR = /[|:;,._/ -]/, first = names[0], least = Math.min(...names.map(name => name.length));
  if (names.length < 2) return names;
  const common = isSame => {
    let count = 0, whole = 0;
    while (count < least - 1 && names.every(name => isSame(name, count))) {
      count++;
      if (SEPARATOR.test(isSame === fromStart ? first[count - 1] : first.at(-count))) whole = count;
    }
    return whole;
  };
  const fromStart = (name, count) => name[count] === first[count];
  const fromEnd = (name, count) => name.at(-1 - count) === first.at(-1 - count);
  const start = common(fromStart), end = common(fromEnd);
  return start + end < least ? names.map(name => name.slice(start, name.length - end)) : names;
}

// Returns all names with at most `most` characters. All are cut at the same place, where most of them
// stay different; names that become equal in spite of that get the part where they differ, or numbers.
function shorten(names, most) {
  if (names.every(name => name.length <= most)) return names;
  names = withoutCommonParts(names);
  if (names.every(name => name.length <= most)) return names;
  if (most < 4) return names.map(name => name.slice(0, most));
  let best = null, bestCount = -1;
  for (let head = most - 1; head >= 0; head--) {
    const short = names.map(name => cut(name, head, most)), count = new Set(short).size;
    if (count > bestCount) [best, bestCount] = [short, count];
    if (count === names.length) break;
  }
  if (bestCount === names.length) return best;
  const groups = new Map();
  best.forEach((short, row) => groups.set(short, [...groups.get(short) ?? [], row]));
  const isTaken = new Set([...groups.keys()].filter(short => groups.get(short).length === 1));
  for (const rows of groups.values()) {
    if (rows.length === 1) continue;
    const own = rows.map(row => names[row]), least = Math.min(...own.map(name => name.length));
    let same = 0;
    while (same < least && own.every(name => name[same] === own[0][same])) same++;
    for (const row of rows) {
      const from = Math.max(0, Math.min(same - 1, names[row].length - most + 1));
      const piece = `…${names[row].slice(from)}`;
      let short = piece.length > most ? `${piece.slice(0, most - 1)}…` : piece;
      for (let number = 2; isTaken.has(short); number++) {
        const end = `~${number}`;
        short = best[row].slice(0, Math.max(0, most - end.length)) + end;
      }
      isTaken.add(short);
      best[row] = short;
    }
  }
  return best;
}

let shortNames = { most: -1, names: [] };
// Returns the short names of all rows.
function namesWithin(most) {
  if (shortNames.most !== most) shortNames = { most, names: shorten(facts.names, most) };
  return shortNames.names;
}
