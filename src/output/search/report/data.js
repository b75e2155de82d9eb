// Data of the page. The hits of a query are parsed when they are first needed, and the letters of its
// alignments are unpacked when the first of them is opened.

const element = id => document.getElementById(id);
const scheme = JSON.parse(element("scheme").textContent);
const matches = new Set(scheme.matches), positives = new Set(scheme.positives);
const queries = [...document.querySelectorAll("section")].map((section, index) => ({
  section, index,
  raw: null,        // see parse
  data: null,       // see readData
  letters: null,    // promise of the unpacked alignments, see lettersOf
  shown: section.querySelectorAll("tbody tr").length,  // number of rows of the table
  open: new Set(),  // hits with an open alignment
  drawn: null,      // version of the view that the section shows
}));

// Parses a query's part of the file, with the subjects that it lists.
function parse(query) {
  if (query.raw) return query.raw;
  const script = query.section.querySelector("script");
  const raw = script ? JSON.parse(script.textContent) : { length: 0, from: 0, letters: 0, subjects: [], hits: [], size: 0, packed: "" };
  let start = raw.letters;
  raw.subjects = raw.subjects.map(([name, title, length, from, letters]) => {
    const subject = { name, title, length, from, start };
    start += letters;
    return subject;
  });
  query.raw = raw;
  return raw;
}

// Returns a query's part of the file and its hits. A hit refers to a subject of this part or of an
// earlier one, its home. `part` numbers the alignments with one subject, from 1.
function readData(query) {
  if (query.data) return query.data;
  const raw = parse(query);
  const further = new Set(raw.further);
  let part = 0;
  const hits = raw.hits.map(([home, subject, bits, evalue, score, identity, cover, ...places], rank) => {
    part = further.has(rank) ? part + 1 : 1;
    const own = parse(queries[home]).subjects[subject], [queryStart, queryEnd, start, end, isMinus] = places;
    return {
      query, rank, part, home: queries[home], subject: own, name: own.name, title: own.title, length: own.length,
      bits, evalue, score, identity, cover, queryStart, queryEnd, start, end, isMinus: isMinus === 1,
      order: {
        name: own.name, bits: Number(bits), evalue: Number(evalue), score, identity: Number(identity), cover,
        query: queryStart, subject: Math.min(start, end), length: own.length, strand: isMinus,
      },
    };
  });
  query.data = { ...raw, hits };
  return query.data;
}

// Returns the unpacked letters of a query's part of the file: the CIGARs of its hits, and the letters of
// the query and of its subjects.
function lettersOf(query) {
  query.letters ??= (async () => {
    const data = readData(query);
    const text = new TextDecoder().decode(await unpack(bytesOf(data.packed), data.size));
    const end = text.indexOf("\n");
    return { cigars: text.slice(0, end).split(" "), letters: text.slice(end + 1) };
  })();
  return query.letters;
}

// Returns BLAST's integer percentage: rounded, but 100 only if all are counted.
const percentage = (part, whole) => part === whole ? 100 : Math.min(99, Math.floor((200 * part + whole) / (2 * whole)));

// Returns the rows of an alignment, and its counts.
async function rowsOf(hit) {
  const { cigars, letters: own } = await lettersOf(hit.query);
  const { letters } = await lettersOf(hit.home);
  const [first, last] = [Math.min(hit.start, hit.end), Math.max(hit.start, hit.end)];
  const offset = hit.subject.start - hit.subject.from;
  let subject = letters.slice(offset + first - 1, offset + last);
  if (hit.isMinus) subject = [...subject].reverse().map(letter => scheme.complement[letter]).join("");
  const query = own.slice(hit.queryStart - 1 - hit.query.data.from, hit.queryEnd - hit.query.data.from);
  const rows = { query: "", between: "", subject: "", identities: 0, positives: 0, gaps: 0 };
  let at = 0, to = 0;
  for (const [, count, op] of cigars[hit.rank].matchAll(/(\d+)([MID])/g)) {
    const length = Number(count);
    if (op === "M") {
      for (let i = 0; i < length; i++) {
        const a = query[at + i], b = subject[to + i], isMatch = matches.has(a + b), isPositive = positives.has(a + b);
        rows.between += isMatch ? (scheme.isProtein ? a : "|") : scheme.isProtein && isPositive ? "+" : " ";
        rows.identities += isMatch;
        rows.positives += isMatch || isPositive;
      }
    } else {
      rows.between += " ".repeat(length);
      rows.gaps += length;
    }
    rows.query += op === "D" ? "-".repeat(length) : query.slice(at, at + length);
    rows.subject += op === "I" ? "-".repeat(length) : subject.slice(to, to + length);
    if (op !== "D") at += length;
    if (op !== "I") to += length;
  }
  return rows;
}

// Returns an alignment as text like BLAST's, in blocks of at most `width` characters.
async function alignmentOf(hit, width) {
  const rows = await rowsOf(hit), count = rows.query.length;
  const share = part => `${part}/${count} (${percentage(part, count)}%)`;
  const facts = scheme.hasBits ? [`Score = ${hit.bits} bits (${hit.score})`, `E-value = ${hit.evalue}`] : [`Score = ${hit.score}`];
  facts.push(`Identities = ${share(rows.identities)}`);
  if (scheme.isProtein) facts.push(`Positives = ${share(rows.positives)}`);
  facts.push(`Gaps = ${share(rows.gaps)}`);
  facts.push(`Query ${hit.queryStart}–${hit.queryEnd} of ${hit.query.data.length}`, `Subject ${hit.start}–${hit.end} of ${hit.length}`);
  if (!scheme.isProtein) facts.push(`Strand = Plus/${hit.isMinus ? "Minus" : "Plus"}`);
  const lines = [];
  for (const fact of facts) {
    const joined = `${lines.at(-1)}, ${fact}`;
    if (lines.length && joined.length <= Math.min(80, width)) lines[lines.length - 1] = joined;
    else lines.push(fact);
  }
  lines.push("");
  const digits = String(Math.max(hit.queryEnd, hit.start, hit.end)).length;
  const room = width - 11 - 2 * digits, block = Math.max(20, Math.min(100, room - room % 10));
  let query = hit.queryStart - 1, subject = hit.isMinus ? hit.start + 1 : hit.start - 1;
  const step = hit.isMinus ? -1 : 1;
  const line = (label, from, letters, to) => `${label}  ${String(from).padEnd(digits)}  ${letters}  ${to}`;
  for (let at = 0; at < count; at += block) {
    const part = name => rows[name].slice(at, at + block), symbols = letters => letters.length - letters.split("-").length + 1;
    const inQuery = symbols(part("query")), inSubject = symbols(part("subject"));
    lines.push(line("Query", inQuery ? query + 1 : "", part("query"), inQuery ? query += inQuery : ""));
    lines.push(`${" ".repeat(digits + 9)}${part("between")}`.trimEnd());
    lines.push(line("Sbjct", inSubject ? subject + step : "", part("subject"), inSubject ? subject += step * inSubject : ""), "");
  }
  return lines.join("\n").trimEnd();
}
