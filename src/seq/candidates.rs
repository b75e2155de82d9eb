//! Reader of candidates: lines with a pattern and a part of a text where it may occur.
//!
//! ```text
//! pattern <tab> text [<tab> start <tab> end]
//! ```
//!
//! Positions count from 0, and the end is excluded. If they are missing or empty, the part starts
//! or ends where the text does. A first line `pattern text ...` (or `query target ...`) is a
//! header, unless there are sequences with both names or its positions are numbers. Blank lines are
//! skipped. Lines that start with `#` are skipped too, unless their first column is the name of a
//! sequence. Names of sequences are their headers up to the first blank.
//!
//! Lists of pairs have the same format, without positions.
//!
//! Read mappers produce tens of millions of lines. So the whole file is held in memory and split
//! between lines, and the pieces are parsed by all threads of the current pool.

use std::collections::HashMap;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use rayon::prelude::*;

use super::input::SequenceInput;
use super::messages::input_error;
use super::store::{SequenceId, SequenceStore};
use crate::error::{InputLocation, Result};

/// Minimum size of a piece in bytes. Smaller pieces are not worth a task.
const PIECE_BYTES: usize = 1 << 16;
/// Number of pieces for each thread, so that all threads finish at about the same time.
const PIECES_PER_THREAD: usize = 8;

/// First two columns of a header.
const HEADERS: [(&[u8], &[u8]); 2] = [(b"pattern", b"text"), (b"query", b"target")];

/// Reads candidates from a file, plain or compressed; `-` is standard input. `make` converts a
/// pattern, a text and a range of its symbols to the result.
///
/// # Errors
/// Returns [`crate::Error::Input`] with the first wrong line. A line is wrong if no sequence or
/// several sequences have the name, if the start is after the end or the end beyond the text, if a
/// position is not a number, or if the number of columns is wrong. Returns [`crate::Error::Io`] if
/// the system fails.
pub fn read_candidates<T: Send>(
    path: impl AsRef<Path>,
    patterns: &SequenceStore,
    texts: &SequenceStore,
    make: impl Fn(SequenceId, SequenceId, Range<u32>) -> T + Sync,
) -> Result<Vec<T>> {
    read(SequenceInput::open(path.as_ref())?, patterns, texts, make)
}

/// Reads candidates from memory like [`read_candidates`], plain or compressed. Errors name the file
/// `name`.
pub fn read_candidate_bytes<T: Send>(
    name: &str,
    data: &[u8],
    patterns: &SequenceStore,
    texts: &SequenceStore,
    make: impl Fn(SequenceId, SequenceId, Range<u32>) -> T + Sync,
) -> Result<Vec<T>> {
    read(SequenceInput::new(name, Box::new(data))?, patterns, texts, make)
}

/// Reads a list of pairs from a file like [`read_candidates`], plain or compressed; `-` is standard
/// input. Each line has the names of a query and a target, separated by a tab.
///
/// # Errors
/// Returns the errors of [`read_candidates`].
pub fn read_pairs(
    path: impl AsRef<Path>,
    queries: &SequenceStore,
    targets: &SequenceStore,
) -> Result<Vec<(SequenceId, SequenceId)>> {
    read_pairs_of(SequenceInput::open(path.as_ref())?, queries, targets)
}

/// Reads a list of pairs from memory like [`read_pairs`]. Errors name the file `name`.
///
/// ```
/// use pairwave::seq::read_pair_bytes;
///
/// let genes = pairwave::read("assets/16s/gold12.fasta")?;
/// let list = b"query\ttarget\nS000002387\t7000004128191544\nS000002387\tS000002387\n";
/// let pairs = read_pair_bytes("pairs.tsv", list, &genes, &genes)?;
/// assert_eq!(pairs.iter().map(|pair| genes.name(pair.1)).collect::<Vec<_>>(), ["7000004128191544", "S000002387"]);
///
/// let error = read_pair_bytes("pairs.tsv", b"# mine\nS000002387\tS9\n", &genes, &genes).unwrap_err();
/// assert_eq!(error.to_string(), "pairs.tsv, line 2: there is no target 'S9'");
/// # Ok::<(), pairwave::Error>(())
/// ```
///
/// # Errors
/// Returns the errors of [`read_pairs`].
pub fn read_pair_bytes(
    name: &str,
    data: &[u8],
    queries: &SequenceStore,
    targets: &SequenceStore,
) -> Result<Vec<(SequenceId, SequenceId)>> {
    read_pairs_of(SequenceInput::new(name, Box::new(data))?, queries, targets)
}

fn read_pairs_of(
    input: SequenceInput<'_>,
    queries: &SequenceStore,
    targets: &SequenceStore,
) -> Result<Vec<(SequenceId, SequenceId)>> {
    let parser = CandidateParser::new(["query", "target"], queries, targets, false);
    read_lines(input, &parser, |(query, target, _)| (query, target))
}

fn read<T: Send>(
    input: SequenceInput<'_>,
    patterns: &SequenceStore,
    texts: &SequenceStore,
    make: impl Fn(SequenceId, SequenceId, Range<u32>) -> T + Sync,
) -> Result<Vec<T>> {
    let parser = CandidateParser::new(["pattern", "text"], patterns, texts, true);
    read_lines(input, &parser, |(pattern, text, part)| make(pattern, text, part))
}

/// A parser of lines that name sequences.
pub(super) trait LineParser: Sync {
    /// Content of a line.
    type Item;

    /// Returns the offset of the first line after a byte order mark and a header.
    fn body(&self, data: &[u8]) -> usize;

    /// Returns whether a line that is not empty is skipped.
    fn is_comment(&self, line: &[u8]) -> bool;

    /// Parses a line without its end. `last` is the first sequence of the previous line, which is
    /// often the same.
    ///
    /// # Errors
    /// Returns the problem of a wrong line.
    fn line<'d>(&self, line: &'d [u8], last: &mut Option<(&'d [u8], SequenceId)>) -> Result<Self::Item, String>;
}

/// Reads all lines on the threads of the current pool, in order. `make` converts the content of a
/// line to the result.
pub(super) fn read_lines<P: LineParser, T: Send>(
    mut input: SequenceInput<'_>,
    parser: &P,
    make: impl Fn(P::Item) -> T + Sync,
) -> Result<Vec<T>> {
    let mut data = Vec::new();
    input.bytes.read_to_end(&mut data).map_err(|error| input.read_error(error.to_string()))?;
    let start = parser.body(&data);
    let parsed: Vec<Result<Vec<T>, LineError>> = pieces(&data, start)
        .into_par_iter()
        .map(|piece| {
            let mut made = Vec::new();
            let mut last = None;
            let mut at = piece.start;
            while at < piece.end {
                let length = data[at..piece.end].iter().position(|&byte| byte == b'\n');
                let end = length.map_or(piece.end, |length| at + length);
                let line = data[at..end].strip_suffix(b"\r").unwrap_or(&data[at..end]);
                if !line.is_empty() && !parser.is_comment(line) {
                    let item = parser.line(line, &mut last).map_err(|message| LineError { at, message })?;
                    made.push(make(item));
                }
                at = end + 1;
            }
            Ok(made)
        })
        .collect();
    let count = parsed.iter().flatten().map(Vec::len).sum();
    let mut all = Vec::with_capacity(count);
    for piece in parsed {
        let mut made = piece.map_err(|wrong| {
            let before = data[..wrong.at].iter().filter(|&&byte| byte == b'\n').count();
            input_error(InputLocation { line: Some(before as u64 + 1), ..input.location() }, wrong.message)
        })?;
        all.append(&mut made);
    }
    Ok(all)
}

/// A problem in the line that starts at byte `at`.
struct LineError {
    at: usize,
    message: String,
}

/// Divides data into pieces of whole lines.
fn pieces(data: &[u8], start: usize) -> Vec<Range<usize>> {
    let many = rayon::current_num_threads() * PIECES_PER_THREAD;
    let bytes = ((data.len() - start) / many).max(PIECE_BYTES);
    let mut pieces = Vec::new();
    let mut at = start;
    while at < data.len() {
        let least = (at + bytes).min(data.len());
        let end = data[least..].iter().position(|&byte| byte == b'\n').map_or(data.len(), |more| least + more + 1);
        pieces.push(at..end);
        at = end;
    }
    pieces
}

struct CandidateParser<'a> {
    patterns: NameIndex<'a>,
    texts: NameIndex<'a>,
    store: &'a SequenceStore,
    /// Whether lines may contain a part of the text.
    takes_parts: bool,
}

impl<'a> CandidateParser<'a> {
    /// Creates a parser for lines that name sequences of these kinds.
    fn new(
        [pattern, text]: [&'static str; 2],
        patterns: &'a SequenceStore,
        texts: &'a SequenceStore,
        takes_parts: bool,
    ) -> Self {
        CandidateParser {
            patterns: NameIndex::new(pattern, patterns),
            texts: NameIndex::new(text, texts),
            store: texts,
            takes_parts,
        }
    }

    /// Returns whether a line is a header: its first two columns are in [`HEADERS`], at least one
    /// of them is not the name of a sequence, and no other column is a number.
    fn is_header(&self, line: &[u8]) -> bool {
        let mut columns = line.split(|&byte| byte == b'\t');
        let names @ (pattern, text) = (columns.next().unwrap_or_default(), columns.next().unwrap_or_default());
        let are_sequences = self.patterns.ids.contains_key(pattern) && self.texts.ids.contains_key(text);
        let is_number = |column: &[u8]| !column.is_empty() && column.iter().all(u8::is_ascii_digit);
        HEADERS.contains(&names) && !are_sequences && !columns.any(is_number)
    }
}

impl LineParser for CandidateParser<'_> {
    type Item = (SequenceId, SequenceId, Range<u32>);

    /// Returns whether a line is a comment: it starts with `#`, and its first column is not the
    /// name of a sequence.
    fn is_comment(&self, line: &[u8]) -> bool {
        line.first() == Some(&b'#')
            && line
                .iter()
                .position(|&byte| byte == b'\t')
                .is_none_or(|end| !self.patterns.ids.contains_key(&line[..end]))
    }

    fn body(&self, data: &[u8]) -> usize {
        let mut at = if data.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        while let Some(line) = data[at..].split_inclusive(|&byte| byte == b'\n').next() {
            let text = line.trim_ascii_end();
            let is_header = self.is_header(text);
            if !is_header && !text.is_empty() && !self.is_comment(text) {
                break;
            }
            at += line.len();
            if is_header {
                break;
            }
        }
        at
    }

    /// Parses a pattern, a text and a part of it.
    fn line<'d>(
        &self,
        line: &'d [u8],
        last: &mut Option<(&'d [u8], SequenceId)>,
    ) -> Result<(SequenceId, SequenceId, Range<u32>), String> {
        let mut columns = [&b""[..]; 4];
        let mut count = 0;
        for column in line.split(|&byte| byte == b'\t') {
            if let Some(field) = columns.get_mut(count) {
                *field = column;
            }
            count += 1;
        }
        if count != 2 && !(count == 4 && self.takes_parts) {
            let (pattern, text) = (self.patterns.kind, self.texts.kind);
            let more = if self.takes_parts { " or 4 (and start, end)" } else { "" };
            return Err(format!("expected 2 columns ({pattern}, {text}){more} with tabs between them, found {count}"));
        }
        let [pattern, text, start, end] = columns;
        let pattern = match *last {
            Some((name, id)) if name == pattern => id,
            _ => last.insert((pattern, self.patterns.id(pattern)?)).1,
        };
        let text = self.texts.id(text)?;
        let symbols = self.store.length(text);
        let (start, end) = (number("start", start, 0)?, number("end", end, symbols.into())?);
        let name = || self.store.name(text);
        if end > u64::from(symbols) {
            return Err(format!("end {end} is beyond text '{}', which has {symbols} symbols", name()));
        }
        if start > end {
            return Err(format!("start {start} is after end {end} (of text '{}')", name()));
        }
        Ok((pattern, text, start as u32..end as u32))
    }
}

/// Parses a number. Returns `default` for an empty column.
pub(super) fn number(column: &str, digits: &[u8], default: u64) -> Result<u64, String> {
    if digits.is_empty() {
        return Ok(default);
    }
    let add = |number: u64, &digit: &u8| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    };
    digits
        .iter()
        .try_fold(0, add)
        .ok_or_else(|| format!("{column} '{}' is not a position: positions are integers from 0", printable(digits)))
}

/// Formats text for a message, truncated to fit on a line.
pub(super) fn printable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).escape_debug().to_string();
    if bytes.len() > 60 { text + "..." } else { text }
}

/// Returns the plural of a kind of sequences.
fn plural(kind: &str) -> String {
    kind.strip_suffix('y').map_or_else(|| format!("{kind}s"), |stem| format!("{stem}ies"))
}

/// Sequences by name.
pub(super) struct NameIndex<'a> {
    kind: &'static str,
    /// Id for each name; `None` if several sequences have the name.
    ids: HashMap<&'a [u8], Option<SequenceId>>,
}

impl<'a> NameIndex<'a> {
    pub(super) fn new(kind: &'static str, store: &'a SequenceStore) -> Self {
        let mut ids = HashMap::with_capacity(store.len());
        for id in 0..store.len() as SequenceId {
            ids.entry(store.name_bytes(id)).and_modify(|known| *known = None).or_insert(Some(id));
        }
        NameIndex { kind, ids }
    }

    pub(super) fn id(&self, name: &[u8]) -> Result<SequenceId, String> {
        match self.ids.get(name) {
            Some(Some(id)) => Ok(*id),
            Some(None) => Err(format!("'{}' is the name of several {}", printable(name), plural(self.kind))),
            None => Err(format!("there is no {} '{}'", self.kind, printable(name))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::Alphabet;

    fn store(sequences: &[(&str, usize)]) -> SequenceStore {
        let mut builder = SequenceStore::builder(Alphabet::Dna);
        sequences.iter().for_each(|&(name, length)| builder.push(name, &vec![1; length]).unwrap());
        builder.build()
    }

    fn parse(data: &[u8]) -> Result<Vec<(u32, u32, Range<u32>)>> {
        let patterns = store(&[("r1", 4), ("r2", 5), ("twice", 1), ("twice", 2)]);
        let texts = store(&[("chr1", 100), ("chr2", 7)]);
        read_candidate_bytes("pairs.tsv", data, &patterns, &texts, |pattern, text, part| (pattern, text, part))
    }

    #[test]
    fn every_form_of_line_is_parsed() {
        let expected = vec![(0, 1, 0..7), (1, 0, 3..9), (1, 0, 100..100), (1, 1, 2..7), (0, 0, 0..5)];
        let lines = "r1\tchr2\nr2\tchr1\t3\t9\n# note\n\nr2\tchr1\t100\t100\r\nr2\tchr2\t2\t\nr1\tchr1\t\t5";
        assert_eq!(parse(lines.as_bytes()).unwrap(), expected);
        for header in ["pattern\ttext\tstart\tend\n", "query\ttarget\r\n", "# a\n\nquery\ttarget\n", "\u{feff}"] {
            assert_eq!(parse(format!("{header}{lines}\n").as_bytes()).unwrap(), expected, "{header}");
        }
        assert_eq!(parse(b"").unwrap(), []);
        assert_eq!(parse(b"pattern\ttext\n").unwrap(), []);
    }

    #[test]
    fn header_like_lines_with_known_names_are_data() {
        let patterns = store(&[("query", 4), ("#1", 5), ("pattern", 3)]);
        let texts = store(&[("target", 10), ("query", 9)]);
        let read = |list: &str| {
            let list = read_candidate_bytes("list", list.as_bytes(), &patterns, &texts, |a, b, part| (a, b, part));
            list.map_err(|error| error.to_string())
        };
        assert_eq!(read("query\ttarget\t0\t8\r\n"), Ok(vec![(0, 0, 0..8)]));
        assert_eq!(read("query\ttarget\nquery\tquery\n"), Ok(vec![(0, 0, 0..10), (0, 1, 0..9)]));
        assert_eq!(
            read("# note\n\nquery\ttarget\t\t\n#1\tquery\n#1 note\n#2\tquery"),
            Ok(vec![(0, 0, 0..10), (1, 1, 0..9)])
        );
        // Only the first is the name of a sequence.
        assert_eq!(read("pattern\ttext\tstart\tend\npattern\tquery"), Ok(vec![(2, 1, 0..9)]));
        assert_eq!(read("pattern\ttext\t0\t8\n"), Err("list, line 1: there is no text 'text'".into()));
        let pairs = read_pair_bytes("list", b"query\ttarget\n#1\ttarget\n", &patterns, &texts).unwrap();
        assert_eq!(pairs, [(0, 0), (1, 0)]);
    }

    #[test]
    fn wrong_lines_are_located() {
        let message = |line: &str| {
            let error = parse(format!("pattern\ttext\nr1\tchr1\n{line}\nr1\n").as_bytes()).unwrap_err();
            assert_eq!(error.exit_code(), 2);
            error.to_string()
        };
        let all = [
            "r3\tchr1",
            "r1\tchr3\t1\t2",
            "twice\tchr1",
            "r1\tchr1\t9\t8",
            "r1\tchr2\t1\t8",
            "r1\tchr2\t-1\t8",
            "r1\tchr2\t1\t1e3",
            "r1\tchr2\t0\t99999999999999999999",
            "r1\tchr2\t1",
            "r1\tchr2\t1\t2\t3",
            "r1 chr2",
            "pattern\ttext",
        ];
        insta::assert_snapshot!(all.map(message).join("\n"), @"
        pairs.tsv, line 3: there is no pattern 'r3'
        pairs.tsv, line 3: there is no text 'chr3'
        pairs.tsv, line 3: 'twice' is the name of several patterns
        pairs.tsv, line 3: start 9 is after end 8 (of text 'chr1')
        pairs.tsv, line 3: end 8 is beyond text 'chr2', which has 7 symbols
        pairs.tsv, line 3: start '-1' is not a position: positions are integers from 0
        pairs.tsv, line 3: end '1e3' is not a position: positions are integers from 0
        pairs.tsv, line 3: end '99999999999999999999' is not a position: positions are integers from 0
        pairs.tsv, line 3: expected 2 columns (pattern, text) or 4 (and start, end) with tabs between them, found 3
        pairs.tsv, line 3: expected 2 columns (pattern, text) or 4 (and start, end) with tabs between them, found 5
        pairs.tsv, line 3: expected 2 columns (pattern, text) or 4 (and start, end) with tabs between them, found 1
        pairs.tsv, line 3: there is no pattern 'pattern'
        ");
    }

    #[test]
    fn pair_lists_have_two_names_per_line() {
        let queries = store(&[("q1", 4), ("q2", 5), ("twice", 1), ("twice", 2)]);
        let targets = store(&[("t1", 100)]);
        let read = |list: &str| read_pair_bytes("list", list.as_bytes(), &queries, &targets);
        assert_eq!(read("query\ttarget\nq2\tt1\n\n#\nq1\tt1\r\nq2\tt1").unwrap(), [(1, 0), (0, 0), (1, 0)]);
        let message = |line: &str| read(&format!("q1\tt1\n{line}\n")).unwrap_err().to_string();
        let all = ["q3\tt1", "q1\tq1", "twice\tt1", "q1", "q1\tt1\t0\t9"];
        insta::assert_snapshot!(all.map(message).join("\n"), @"
        list, line 2: there is no query 'q3'
        list, line 2: there is no target 'q1'
        list, line 2: 'twice' is the name of several queries
        list, line 2: expected 2 columns (query, target) with tabs between them, found 1
        list, line 2: expected 2 columns (query, target) with tabs between them, found 4
        ");
    }

    #[test]
    fn parallel_pieces_keep_the_order_of_lines() {
        let lines: String = (0..40_000).map(|line| format!("r{}\tchr1\t{}\t100\n", 1 + line % 2, line % 100)).collect();
        let expected: Vec<(u32, u32, Range<u32>)> = (0..40_000).map(|line| (line % 2, 0, line % 100..100)).collect();
        assert_eq!(parse(lines.as_bytes()).unwrap(), expected);
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut encoder, lines.as_bytes()).unwrap();
        assert_eq!(parse(&encoder.finish().unwrap()).unwrap(), expected);
        let wrong = format!("{lines}r1\tchr1\t7\t101\n{lines}r9\tchr1\n");
        let error = parse(wrong.as_bytes()).unwrap_err().to_string();
        assert_eq!(error, "pairs.tsv, line 40001: end 101 is beyond text 'chr1', which has 100 symbols");
    }
}
