//! What only vsearch or BLAST says of a pair, in its own form.
//!
//! In `pairwave edit` all columns count; elsewhere both programs leave end gaps out of most numbers.

use super::Value;
use super::facts::{Facts, Quotes};
use crate::alignment::{Cigar, Op};
use crate::error::{Error, Result};
use crate::output::columns::{Columns, push_row, similar};
use crate::output::numbers::{push_units, push_unsigned, to_units};
use crate::score::{AlignmentCounts, IdentityDefinition};
use crate::seq::{Alphabet, Code, Strand};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Theirs {
    /// The same of every pair.
    Number(&'static str),
    Text(&'static str),
    QueryStrand,
    SubjectStrand,
    /// Needs the alignment, as do all that follow. vsearch's percentages:
    Percent,
    PercentBy(IdentityDefinition),
    PercentMatches,
    PercentGaps,
    QueryCovered,
    TargetCovered,
    /// BLAST's percentages.
    PercentIdentical,
    PercentPositives,
    WholeCoverage,
    Pairs,
    Extensions,
    Positives,
    Position(Part),
    Columns,
    Runs,
    QueryRow,
    TargetRow,
    Btop,
}

/// An end of what was aligned, end gaps included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    QueryFirst,
    QueryLast,
    TargetFirst,
    TargetLast,
}

impl Value {
    /// Whether it shows letters in one of the other programs' forms.
    pub(super) fn is_letters_of_theirs(self) -> bool {
        matches!(self, Value::Theirs(Theirs::QueryRow | Theirs::TargetRow | Theirs::Btop))
    }
}

impl Theirs {
    pub(super) fn needs_alignment(self) -> bool {
        !matches!(self, Theirs::Number(_) | Theirs::Text(_) | Theirs::QueryStrand | Theirs::SubjectStrand)
    }

    fn is_text(self) -> bool {
        use Theirs::*;
        matches!(self, Text(_) | QueryStrand | SubjectStrand | Columns | Runs | QueryRow | TargetRow | Btop)
    }

    pub(super) fn push(self, facts: &Facts<'_>, quotes: Quotes, out: &mut Vec<u8>) -> Result<()> {
        let quote: &[u8] = if self.is_text() && quotes == Quotes::Json { b"\"" } else { b"" };
        out.extend_from_slice(quote);
        match facts.aligned {
            _ if !self.needs_alignment() => self.push_constant(facts, out),
            Some((columns, cigar)) => self.push_aligned(facts, &columns, cigar, out),
            None => return Err(Error::Internal(format!("{self:?} of a pair without its alignment"))),
        }
        out.extend_from_slice(quote);
        Ok(())
    }

    fn push_constant(self, facts: &Facts<'_>, out: &mut Vec<u8>) {
        let text = match (self, facts.pair.is_reverse()) {
            (Theirs::Number(text) | Theirs::Text(text), _) => text,
            (Theirs::SubjectStrand, _) if facts.context.queries.alphabet() != Alphabet::Dna => "N/A",
            (Theirs::SubjectStrand, is_reverse) => {
                if is_reverse {
                    "minus"
                } else {
                    "plus"
                }
            }
            (_, is_reverse) => {
                if is_reverse {
                    "-"
                } else {
                    "+"
                }
            }
        };
        out.extend_from_slice(text.as_bytes());
    }

    fn push_aligned(self, facts: &Facts<'_>, columns: &Columns, cigar: &Cigar, out: &mut Vec<u8>) {
        let (context, pair) = (facts.context, facts.pair);
        let counts = &columns.counts;
        let lengths = (context.queries.length(pair.query), context.targets.length(pair.target));
        let pairs = counts.matches + counts.mismatches;
        let is_edit = pair.edits().is_some();
        let (total, gaps, openings) = match is_edit {
            true => (columns.total(), counts.gap_columns, counts.gap_openings),
            false => (columns.inner_total(), columns.inner_gaps(), columns.inner_gap_openings),
        };
        let shown = || -> Box<dyn Iterator<Item = (u32, Op)> + '_> {
            if is_edit { Box::new(cigar.iter()) } else { Box::new(columns.inner_runs(cigar)) }
        };
        // Where the columns that are shown begin, in the query and in the target.
        let start = match is_edit {
            true => (pair.query_start, pair.target_start),
            false if pair.strand == Strand::Minus => (lengths.0 - columns.query.end, columns.target.start),
            false => (columns.query.start, columns.target.start),
        };
        let codes = (&*context.query_codes(pair), context.targets.codes(pair.target));
        let alphabet = context.queries.alphabet();
        let one_digit = |out: &mut Vec<u8>, percent: f64| push_units(out, to_units(percent, 1), 1);
        match self {
            Theirs::Percent => one_digit(out, percentage(context.identity, counts, lengths.0, lengths.1)),
            Theirs::PercentBy(definition) => one_digit(out, percentage(definition, counts, lengths.0, lengths.1)),
            Theirs::PercentMatches => one_digit(out, percent(counts.matches, total)),
            Theirs::PercentGaps => one_digit(out, percent(gaps, total)),
            Theirs::QueryCovered => one_digit(out, percent(pairs, u64::from(lengths.0))),
            Theirs::TargetCovered => one_digit(out, percent(pairs, u64::from(lengths.1))),
            Theirs::PercentIdentical => {
                // As in blast6: five digits of the fraction are three digits of the percentage, and rounded once.
                push_units(out, to_units(context.identity.identity(counts, lengths.0, lengths.1), 5), 3);
            }
            Theirs::PercentPositives => {
                push_units(out, to_units(percent(similar(context, pair, cigar), total), 2), 2);
            }
            Theirs::WholeCoverage => {
                let part = if is_edit { columns.whole_query } else { columns.query };
                push_unsigned(out, whole_percentage(u64::from(part.end - part.start), u64::from(lengths.0)));
            }
            Theirs::Pairs => push_unsigned(out, pairs),
            Theirs::Extensions => push_unsigned(out, gaps - openings),
            Theirs::Positives => push_unsigned(out, similar(context, pair, cigar)),
            Theirs::Position(part) => push_unsigned(out, u64::from(facts.position(part, columns))),
            Theirs::Columns => {
                for (length, op) in cigar.iter() {
                    out.extend(std::iter::repeat_n(letter(op), length as usize));
                }
            }
            Theirs::Runs => push_compact(out, cigar),
            Theirs::QueryRow => push_row(out, shown(), codes.0, start.0, alphabet, Op::Deletion),
            Theirs::TargetRow => push_row(out, shown(), codes.1, start.1, alphabet, Op::Insertion),
            Theirs::Btop => {
                push_btop(out, shown(), &codes.0[start.0 as usize..], &codes.1[start.1 as usize..], alphabet);
            }
            Theirs::Number(_) | Theirs::Text(_) | Theirs::QueryStrand | Theirs::SubjectStrand => {
                self.push_constant(facts, out);
            }
        }
    }
}

impl Facts<'_> {
    /// A position in a file's strand, from 1; on the query's other strand its last symbol is the first.
    fn position(&self, part: Part, columns: &Columns) -> u32 {
        let mut query = columns.whole_query;
        if let Some(hit) = self.pair.long_hit() {
            query = hit.in_file(query, self.context.queries.length(self.pair.query));
        }
        let ((first, last), target) = (query.one_based(), columns.whole_target.one_based());
        let query = if self.pair.is_reverse() { (last, first) } else { (first, last) };
        match part {
            Part::QueryFirst => query.0,
            Part::QueryLast => query.1,
            Part::TargetFirst => target.0,
            Part::TargetLast => target.1,
        }
    }
}

/// Computed in vsearch's order, so that a tie is the same tie.
fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

/// An identity as vsearch computes it.
fn percentage(definition: IdentityDefinition, counts: &AlignmentCounts, query: u32, target: u32) -> f64 {
    let columns = counts.matches + counts.mismatches + counts.gap_columns;
    match definition {
        IdentityDefinition::Shorter => percent(counts.matches, u64::from(query.min(target))),
        IdentityDefinition::Columns | IdentityDefinition::Blast => percent(counts.matches, columns),
        IdentityDefinition::InnerColumns => percent(counts.matches, columns - counts.end_gap_columns),
        IdentityDefinition::Mbl => match query.max(target) {
            0 => 0.0,
            longer => {
                let differences = (counts.mismatches + counts.gap_openings) as f64;
                (100.0 * (1.0 - differences / f64::from(longer))).max(0.0)
            }
        },
    }
}

/// BLAST's whole percentage: rounded, but 100 only of a whole.
pub(in crate::output) fn whole_percentage(part: u64, whole: u64) -> u64 {
    match whole {
        0 => 0,
        _ if part == whole => 100,
        _ => ((200 * part + whole) / (2 * whole)).min(99),
    }
}

/// vsearch's letter of a column: a gap in the query is its insertion.
fn letter(op: Op) -> u8 {
    match op {
        Op::Match | Op::Mismatch => b'M',
        Op::Insertion => b'D',
        Op::Deletion => b'I',
    }
}

/// vsearch's CIGAR: runs of matches and mismatches together, and 1 left out.
fn push_compact(out: &mut Vec<u8>, cigar: &Cigar) {
    let mut push = |length: u64, letter: u8| {
        if length > 1 {
            push_unsigned(out, length);
        }
        out.push(letter);
    };
    let mut run: Option<(u64, u8)> = None;
    for (length, op) in cigar.iter() {
        let (length, letter) = (u64::from(length), letter(op));
        match &mut run {
            Some((so_far, same)) if *same == letter => *so_far += length,
            _ => {
                if let Some((length, letter)) = run.replace((length, letter)) {
                    push(length, letter);
                }
            }
        }
    }
    if let Some((length, letter)) = run {
        push(length, letter);
    }
}

/// BLAST's traceback operations. Two letters that match but differ, as N and A may, are written out: who has the query can
/// write the target.
fn push_btop(
    out: &mut Vec<u8>,
    runs: impl Iterator<Item = (u32, Op)>,
    query: &[Code],
    target: &[Code],
    alphabet: Alphabet,
) {
    let (mut i, mut j, mut same) = (0, 0, 0u64);
    for (length, op) in runs {
        for _ in 0..length {
            let a = op.consumes_query().then(|| query[i]);
            let b = op.consumes_target().then(|| target[j]);
            i += usize::from(a.is_some());
            j += usize::from(b.is_some());
            if a == b {
                same += 1;
                continue;
            }
            if same > 0 {
                push_unsigned(out, std::mem::take(&mut same));
            }
            out.extend([a, b].map(|code| code.map_or(b'-', |code| alphabet.decode(code))));
        }
    }
    if same > 0 {
        push_unsigned(out, same);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(letters: &str) -> Vec<Code> {
        letters.bytes().map(|letter| Alphabet::Dna.encode(letter).unwrap()).collect()
    }

    fn text(push: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        push(&mut out);
        String::from_utf8(out).unwrap()
    }

    /// Alignments whose CIGAR strings vsearch 2.22.1 printed.
    #[test]
    fn compact_runs() {
        for (cigar, expected) in [
            ("6D60=1X5=24I", "6I66M24D"),
            ("2I1X20=2X64=1I", "2D87MD"),
            ("1=1X3D1=", "2M3IM"),
            ("1D1I", "ID"),
            ("7=", "7M"),
            ("1X", "M"),
            ("", ""),
        ] {
            assert_eq!(text(|out| push_compact(out, &cigar.parse().unwrap())), expected, "{cigar}");
        }
    }

    /// The first is as blastn 2.12.0 prints it: 398C-199-A100GA298, in little.
    #[test]
    fn traceback_operations() {
        for (cigar, query, target, expected) in [
            ("3=1I2=1D2=1X4=", "ACGCTTGGGACGT", "ACGTTAGGAACGT", "3C-2-A2GA4"),
            ("2I", "AC", "", "A-C-"),
            ("2X1=", "ACG", "CAG", "ACCA1"),
            ("4=", "ACGT", "ACGT", "4"),
            // A match of letters that differ.
            ("3=", "ANG", "ACG", "1NC1"),
            ("", "", "", ""),
        ] {
            let cigar: Cigar = cigar.parse().unwrap();
            let found = text(|out| push_btop(out, cigar.iter(), &codes(query), &codes(target), Alphabet::Dna));
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn whole_percentages_are_those_of_blast() {
        let found = [(999, 1000), (994, 1000), (500, 1000), (1000, 1000), (4, 1000), (5, 1000), (0, 9), (0, 0)];
        assert_eq!(found.map(|(part, whole)| whole_percentage(part, whole)), [99, 99, 50, 100, 0, 1, 0, 0]);
    }

    /// 39 of 80 are 48.75%: the fraction times 100 lies below that, the quotient of vsearch on it.
    #[test]
    fn ties_are_those_of_vsearch() {
        assert_eq!(text(|out| push_units(out, to_units(percent(39, 80), 1), 1)), "48.8");
        assert_eq!(text(|out| push_units(out, to_units(39.0 / 80.0, 3), 1)), "48.7");
        assert_eq!((percent(0, 0), percent(5, 5)), (0.0, 100.0));
    }
}
