//! An alignment in the form of BLAST's text: its statistics, and its rows in blocks of 60 columns.

use std::io::Write;

use crate::alignment::{Cigar, Op};
use crate::output::columns::similar;
use crate::output::fields::whole_percentage;
use crate::output::{Context, OutputPair};
use crate::score::Significance;
use crate::score::statistics::{BitScore, ShortEvalue};
use crate::seq::{Alphabet, Code, Strand, reverse_complement};

/// Number of columns in a block.
const BLOCK: usize = 60;

/// Returns a name and a description. Control characters of the description become blanks.
pub(super) fn header(name: &[u8], description: &[u8]) -> Vec<u8> {
    let mut all = name.to_vec();
    if !description.is_empty() {
        all.push(b' ');
        all.extend(description.iter().map(|&byte| if byte.is_ascii_control() { b' ' } else { byte }));
    }
    all
}

fn line(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    writeln!(out, "{text}").expect("a vector takes all");
}

/// Appends lines with score and E-value, counts with percentages, and the strands of nucleotides.
pub(super) fn push_facts(context: &Context, pair: &OutputPair<'_>, cigar: &Cigar, out: &mut Vec<u8>) {
    match pair.significance() {
        Some(Significance { bits, evalue }) => {
            let (bits, evalue) = (BitScore(bits), ShortEvalue(evalue));
            line(out, format_args!(" Score = {bits} bits ({}),  Expect = {evalue}", pair.score));
        }
        None => line(out, format_args!(" Score = {}", pair.score)),
    }
    let (columns, counts) = (cigar.columns(), pair.counts.unwrap_or_else(|| cigar.counts()));
    let share = |part: u64| format!("{part}/{columns} ({}%)", whole_percentage(part, columns));
    let is_protein = context.targets.alphabet() == Alphabet::Protein;
    let positives = match is_protein {
        true => format!(" Positives = {},", share(similar(context, pair, cigar))),
        false => String::new(),
    };
    let (identities, gaps) = (share(counts.matches), share(counts.gap_columns));
    line(out, format_args!(" Identities = {identities},{positives} Gaps = {gaps}"));
    if !is_protein {
        let strand = if pair.strand == Strand::Minus { "Minus" } else { "Plus" };
        line(out, format_args!(" Strand=Plus/{strand}"));
    }
}

/// The three rows of an alignment, and the positions of its ends.
pub(super) struct BlastRows {
    query: Vec<u8>,
    between: Vec<u8>,
    subject: Vec<u8>,
    /// Number of symbols before the alignment, of the query and of the shown strand of the subject.
    before: [u32; 2],
    /// Length of the subject, if its reverse complement is shown.
    turned: Option<u32>,
}

impl BlastRows {
    pub(super) fn new(context: &Context, pair: &OutputPair<'_>, cigar: &Cigar) -> Self {
        let (query, subject) = (context.queries.codes(pair.query), context.targets.codes(pair.target));
        let alphabet = context.queries.alphabet();
        let spans = [cigar.query_span(), cigar.target_span()].map(|span| span as usize);
        let starts = [pair.query_start as usize, pair.target_start as usize];
        let part = |codes: &[Code], start: usize, span: usize| codes[start..start + span].to_vec();
        let target = part(subject, starts[1], spans[1]);
        let length = subject.len() as u32;
        let between = |a: Code, b: Code, op: Op| match op {
            Op::Match if alphabet == Alphabet::Protein => alphabet.decode(a),
            Op::Match => b'|',
            Op::Mismatch if alphabet == Alphabet::Protein && context.scoring.substitution.score(a, b) > 0 => b'+',
            _ => b' ',
        };
        match pair.strand {
            Strand::Plus => {
                let before = [pair.query_start, pair.target_start];
                let codes = [part(query, starts[0], spans[0]), target];
                BlastRows::from_runs(cigar.iter(), codes, alphabet, between, before, None)
            }
            Strand::Minus => {
                let first = query.len() - starts[0] - spans[0];
                let before = [first as u32, length - pair.target_start - spans[1] as u32];
                let codes = [part(query, first, spans[0]), reverse_complement(&target)];
                BlastRows::from_runs(cigar.iter().rev(), codes, alphabet, between, before, Some(length))
            }
        }
    }

    fn from_runs(
        runs: impl Iterator<Item = (u32, Op)>,
        [query, subject]: [Vec<Code>; 2],
        alphabet: Alphabet,
        between: impl Fn(Code, Code, Op) -> u8,
        before: [u32; 2],
        turned: Option<u32>,
    ) -> Self {
        let mut rows = BlastRows { query: Vec::new(), between: Vec::new(), subject: Vec::new(), before, turned };
        let (mut query, mut subject) = (query.into_iter(), subject.into_iter());
        for (length, op) in runs {
            for _ in 0..length {
                let a = if op.consumes_query() { query.next() } else { None };
                let b = if op.consumes_target() { subject.next() } else { None };
                let letter = |code: Option<Code>| code.map_or(b'-', |code| alphabet.decode(code));
                rows.query.push(letter(a));
                rows.subject.push(letter(b));
                rows.between.push(a.zip(b).map_or(b' ', |(a, b)| between(a, b, op)));
            }
        }
        rows
    }

    /// Converts a position on the shown strand of the subject to the file's strand.
    fn in_file(&self, position: u32) -> u32 {
        self.turned.map_or(position, |length| length + 1 - position)
    }

    /// Appends the blocks, with an empty line after each.
    pub(super) fn push(&self, out: &mut Vec<u8>) {
        let symbols = |row: &[u8]| row.iter().filter(|&&letter| letter != b'-').count() as u32;
        let [query_end, subject_end] = [0, 1].map(|side| {
            let row = if side == 0 { &self.query } else { &self.subject };
            self.before[side] + symbols(row)
        });
        let positions = [query_end, self.in_file(self.before[1] + 1), self.in_file(subject_end)];
        let width = positions.into_iter().max().unwrap_or(0).to_string().len();
        let mut before = self.before;
        let blocks = self.query.chunks(BLOCK).zip(self.between.chunks(BLOCK)).zip(self.subject.chunks(BLOCK));
        for ((query, between), subject) in blocks {
            let mut row = |name: &str, side: usize, letters: &[u8]| {
                let (first, last) = (before[side] + 1, before[side] + symbols(letters));
                before[side] = last;
                let file_position = |position: u32| match side {
                    _ if last < first => String::new(),
                    0 => position.to_string(),
                    _ => self.in_file(position).to_string(),
                };
                let letters = String::from_utf8_lossy(letters);
                format!("{name}  {:width$}  {letters}  {}\n", file_position(first), file_position(last))
            };
            let (upper, lower) = (row("Query", 0, query), row("Sbjct", 1, subject));
            let between = String::from_utf8_lossy(between);
            line(out, format_args!("{upper}{:1$}{between}\n{lower}", "", width + 9));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_have_no_control_characters() {
        assert_eq!(header(b"a", b""), b"a");
        assert_eq!(header(b"a", b"b\tc"), b"a b c");
    }
}
