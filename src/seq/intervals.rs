//! Reader of PAF records as pairs of intervals: the part of a query, its strand, and the part of a
//! target. Only the first nine columns are used; columns 10 to 12 must exist, and tags are ignored.
//!
//! Blank lines are skipped. Names and lengths must be those of sequences in memory.

use std::ops::Range;
use std::path::Path;

use super::alphabet::Alphabet;
use super::candidates::{LineParser, NameIndex, number, printable, read_lines};
use super::input::SequenceInput;
use super::store::{SequenceId, SequenceStore};
use super::strand::Strand;
use crate::error::Result;

/// A part of a query and a part of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntervalPair {
    /// The query.
    pub query: SequenceId,
    /// Part of the query, from 0, on the strand of its file. It is not empty.
    pub query_part: Range<u32>,
    /// The strand of the query.
    pub strand: Strand,
    /// The target.
    pub target: SequenceId,
    /// Part of the target, from 0. It is not empty.
    pub target_part: Range<u32>,
}

impl IntervalPair {
    /// Returns the pair with both parts `symbols` longer on each side, at most to the ends of the
    /// sequences.
    pub fn extended(&self, symbols: u32, queries: &SequenceStore, targets: &SequenceStore) -> Self {
        let extended = |part: &Range<u32>, length: u32| {
            part.start.saturating_sub(symbols)..part.end.saturating_add(symbols).min(length)
        };
        IntervalPair {
            query_part: extended(&self.query_part, queries.length(self.query)),
            target_part: extended(&self.target_part, targets.length(self.target)),
            ..*self
        }
    }
}

/// Reads the records of a PAF file, plain or compressed; `-` is standard input.
///
/// # Errors
/// Returns [`crate::Error::Input`] with the first wrong line. A line is wrong if it has less than 12
/// columns, if no sequence or several sequences have the name, if the sequence has another length,
/// if the interval is empty or ends after the sequence, or if the strand is neither + nor -. Only
/// nucleotides may have the strand -. Returns [`crate::Error::Io`] if the system fails.
pub fn read_paf(path: impl AsRef<Path>, queries: &SequenceStore, targets: &SequenceStore) -> Result<Vec<IntervalPair>> {
    read(SequenceInput::open(path.as_ref())?, queries, targets)
}

/// Reads records from memory like [`read_paf`], plain or compressed. Errors name the file `name`.
///
/// # Errors
/// Returns the errors of [`read_paf`].
pub fn read_paf_bytes(
    name: &str,
    data: &[u8],
    queries: &SequenceStore,
    targets: &SequenceStore,
) -> Result<Vec<IntervalPair>> {
    read(SequenceInput::new(name, Box::new(data))?, queries, targets)
}

fn read(input: SequenceInput<'_>, queries: &SequenceStore, targets: &SequenceStore) -> Result<Vec<IntervalPair>> {
    let parser = PafParser {
        query_names: NameIndex::new("query", queries),
        target_names: NameIndex::new("target", targets),
        queries,
        targets,
    };
    read_lines(input, &parser, |pair| pair)
}

struct PafParser<'a> {
    query_names: NameIndex<'a>,
    target_names: NameIndex<'a>,
    queries: &'a SequenceStore,
    targets: &'a SequenceStore,
}

/// Number of columns of a PAF record without tags.
const COLUMNS: usize = 12;

impl LineParser for PafParser<'_> {
    type Item = IntervalPair;

    fn body(&self, data: &[u8]) -> usize {
        if data.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 }
    }

    fn is_comment(&self, _line: &[u8]) -> bool {
        false
    }

    fn line<'d>(&self, line: &'d [u8], last: &mut Option<(&'d [u8], SequenceId)>) -> Result<IntervalPair, String> {
        let columns: Vec<&[u8]> = line.split(|&byte| byte == b'\t').take(COLUMNS).collect();
        let [name, length, start, end, strand, target_name, target_length, target_start, target_end, ..] = columns[..]
        else {
            return Err(too_few(columns.len()));
        };
        if columns.len() < COLUMNS {
            return Err(too_few(columns.len()));
        }
        let query = match *last {
            Some((known, id)) if known == name => id,
            _ => last.insert((name, self.query_names.id(name)?)).1,
        };
        let query_part = part("query", self.queries, query, [length, start, end])?;
        let strand = match strand {
            b"+" => Strand::Plus,
            b"-" if self.queries.alphabet() == Alphabet::Dna => Strand::Minus,
            b"-" => return Err(format!("strand -: {} have only one strand", self.queries.alphabet().letters())),
            _ => return Err(format!("strand '{}' is neither + nor -", printable(strand))),
        };
        let target = self.target_names.id(target_name)?;
        let target_part = part("target", self.targets, target, [target_length, target_start, target_end])?;
        Ok(IntervalPair { query, query_part, strand, target, target_part })
    }
}

fn too_few(columns: usize) -> String {
    format!("PAF has at least {COLUMNS} columns with tabs between them, found {columns}")
}

/// Parses the length, start and end of a part of a sequence.
fn part(kind: &str, store: &SequenceStore, id: SequenceId, columns: [&[u8]; 3]) -> Result<Range<u32>, String> {
    let parse = |what: &str, digits: &[u8]| match digits {
        b"" => Err(format!("the {kind} {what} is missing")),
        _ => number(&format!("{kind} {what}"), digits, 0),
    };
    let (length, start, end) = (parse("length", columns[0])?, parse("start", columns[1])?, parse("end", columns[2])?);
    let (symbols, name) = (store.length(id), store.name(id));
    if length != u64::from(symbols) {
        return Err(format!("the length of {kind} '{name}' is {length}, but the sequence has {symbols} symbols"));
    }
    if end > length {
        return Err(format!("{kind} end {end} is beyond '{name}', which has {symbols} symbols"));
    }
    if start >= end {
        return Err(format!("{kind} start {start} is not before end {end} (of '{name}')"));
    }
    Ok(start as u32..end as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stores() -> [SequenceStore; 2] {
        [&[("q1", 10), ("twice", 3), ("twice", 4)][..], &[("t1", 20), ("t2", 5)]].map(|sequences| {
            let mut builder = SequenceStore::builder(Alphabet::Dna);
            sequences.iter().for_each(|&(name, length)| builder.push(name, &vec![1; length]).unwrap());
            builder.build()
        })
    }

    fn parse(text: &str) -> Result<Vec<IntervalPair>> {
        let [queries, targets] = stores();
        read_paf_bytes("in.paf", text.as_bytes(), &queries, &targets)
    }

    #[test]
    fn records_are_read_in_order() {
        let text = "q1\t10\t2\t9\t-\tt1\t20\t0\t20\t5\t7\t255\tcg:Z:7=\n\nq1\t10\t0\t10\t+\tt2\t5\t4\t5\t0\t0\t0\r\n";
        let [queries, targets] = stores();
        let pairs = parse(text).unwrap();
        let first = IntervalPair { query: 0, query_part: 2..9, strand: Strand::Minus, target: 0, target_part: 0..20 };
        let second = IntervalPair { query: 0, query_part: 0..10, strand: Strand::Plus, target: 1, target_part: 4..5 };
        assert_eq!(pairs, [first.clone(), second.clone()]);
        let wide = |pair: IntervalPair| pair.extended(3, &queries, &targets);
        assert_eq!(wide(first.clone()), IntervalPair { query_part: 0..10, ..first });
        assert_eq!(wide(second.clone()), IntervalPair { target_part: 1..5, ..second });
        assert_eq!(parse("").unwrap(), []);
    }

    #[test]
    fn records_that_do_not_fit_are_located() {
        let good = "q1\t10\t2\t9\t-\tt1\t20\t0\t20\t5\t7\t255";
        let message = |column: usize, value: &str| {
            let mut columns: Vec<&str> = good.split('\t').collect();
            columns[column] = value;
            let error = parse(&format!("{good}\n{}\n", columns.join("\t"))).unwrap_err();
            assert_eq!(error.exit_code(), 2);
            error.to_string()
        };
        let wrong = [(0, "q2"), (0, "twice"), (1, "11"), (1, ""), (2, "9"), (2, "-1"), (3, "11"), (4, "*"), (5, "q1")];
        let more = [(6, "5"), (7, "x"), (8, "21")];
        let all: Vec<String> = wrong.iter().chain(&more).map(|&(column, value)| message(column, value)).collect();
        insta::assert_snapshot!(all.join("\n"), @"
        in.paf, line 2: there is no query 'q2'
        in.paf, line 2: 'twice' is the name of several queries
        in.paf, line 2: the length of query 'q1' is 11, but the sequence has 10 symbols
        in.paf, line 2: the query length is missing
        in.paf, line 2: query start 9 is not before end 9 (of 'q1')
        in.paf, line 2: query start '-1' is not a position: positions are integers from 0
        in.paf, line 2: query end 11 is beyond 'q1', which has 10 symbols
        in.paf, line 2: strand '*' is neither + nor -
        in.paf, line 2: there is no target 'q1'
        in.paf, line 2: the length of target 't1' is 5, but the sequence has 20 symbols
        in.paf, line 2: target start 'x' is not a position: positions are integers from 0
        in.paf, line 2: target end 21 is beyond 't1', which has 20 symbols
        ");
        let short = parse("q1\t10\t2\t9\t-\tt1\t20\t0\t20\t5\t7\n").unwrap_err().to_string();
        assert_eq!(short, "in.paf, line 1: PAF has at least 12 columns with tabs between them, found 11");
        let [proteins, others] = [0, 1].map(|_| {
            let mut builder = SequenceStore::builder(Alphabet::Protein);
            builder.push("q1", &[1; 10]).unwrap();
            builder.push("t1", &[1; 20]).unwrap();
            builder.build()
        });
        let error = read_paf_bytes("p", good.as_bytes(), &proteins, &others).unwrap_err().to_string();
        assert_eq!(error, "p, line 1: strand -: proteins have only one strand");
    }
}
