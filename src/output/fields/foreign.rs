//! Values that only vsearch or BLAST print, in their own forms.
//!
//! In `pairwave edit`, all columns count. Elsewhere both programs exclude end gaps from most
//! numbers.

use super::FieldValue;
use super::facts::{PairFacts, Quotes};
use crate::alignment::{Cigar, Op};
use crate::error::{Error, Result};
use crate::output::columns::{AlignmentColumns, push_row, similar};
use crate::output::numbers::{push_units, push_unsigned, to_units};
use crate::score::{AlignmentCounts, IdentityDefinition};
use crate::seq::{Alphabet, Code, Strand};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ForeignValue {
    /// A constant value for every pair.
    Number(&'static str),
    Text(&'static str),
    QueryStrand,
    SubjectStrand,
    /// vsearch's percentages. They and all values that follow require the alignment.
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
    /// Coverage of the query by all reported alignments with the target.
    SubjectCoverage,
    Pairs,
    Extensions,
    Positives,
    Position(AlignedEnd),
    Columns,
    Runs,
    QueryRow,
    TargetRow,
    Btop,
}

/// An end of the aligned part, including end gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AlignedEnd {
    QueryFirst,
    QueryLast,
    TargetFirst,
    TargetLast,
}

impl FieldValue {
    /// Returns whether the field contains letters in a form of another program.
    pub(super) fn is_letters_in_foreign_form(self) -> bool {
        matches!(self, FieldValue::Theirs(ForeignValue::QueryRow | ForeignValue::TargetRow | ForeignValue::Btop))
    }
}

impl ForeignValue {
    pub(super) fn needs_alignment(self) -> bool {
        !matches!(
            self,
            ForeignValue::Number(_) | ForeignValue::Text(_) | ForeignValue::QueryStrand | ForeignValue::SubjectStrand
        )
    }

    fn is_text(self) -> bool {
        use ForeignValue::*;
        matches!(self, Text(_) | QueryStrand | SubjectStrand | Columns | Runs | QueryRow | TargetRow | Btop)
    }

    pub(super) fn push(self, facts: &PairFacts<'_>, quotes: Quotes, out: &mut Vec<u8>) -> Result<()> {
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

    fn push_constant(self, facts: &PairFacts<'_>, out: &mut Vec<u8>) {
        let text = match (self, facts.pair.is_reverse()) {
            (ForeignValue::Number(text) | ForeignValue::Text(text), _) => text,
            (ForeignValue::SubjectStrand, _) if facts.context.queries.alphabet() != Alphabet::Dna => "N/A",
            (ForeignValue::SubjectStrand, is_reverse) => {
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

    fn push_aligned(self, facts: &PairFacts<'_>, columns: &AlignmentColumns, cigar: &Cigar, out: &mut Vec<u8>) {
        let (context, pair) = (facts.context, facts.pair);
        let counts = &columns.counts;
        let lengths = (context.queries.length(pair.query), context.targets.length(pair.target));
        let pairs = counts.matches + counts.mismatches;
        let is_edit = pair.edits().is_some();
        let (total, gaps, openings) = match is_edit {
            true => (columns.total(), counts.gap_columns, counts.gap_openings),
            false => (columns.inner_total(), columns.inner_gaps(), columns.inner_gap_openings),
        };
        let visible_runs = || -> Box<dyn Iterator<Item = (u32, Op)> + '_> {
            if is_edit { Box::new(cigar.iter()) } else { Box::new(columns.inner_runs(cigar)) }
        };
        // Positions in the query and in the target where the written columns start.
        let start = match is_edit {
            true => (pair.query_start, pair.target_start),
            false if pair.strand == Strand::Minus => (lengths.0 - columns.query.end, columns.target.start),
            false => (columns.query.start, columns.target.start),
        };
        let codes = (&*context.query_codes(pair), context.targets.codes(pair.target));
        let alphabet = context.queries.alphabet();
        let one_digit = |out: &mut Vec<u8>, percent: f64| push_units(out, to_units(percent, 1), 1);
        match self {
            ForeignValue::Percent => one_digit(out, percentage(context.identity, counts, lengths.0, lengths.1)),
            ForeignValue::PercentBy(definition) => one_digit(out, percentage(definition, counts, lengths.0, lengths.1)),
            ForeignValue::PercentMatches => one_digit(out, percent(counts.matches, total)),
            ForeignValue::PercentGaps => one_digit(out, percent(gaps, total)),
            ForeignValue::QueryCovered => one_digit(out, percent(pairs, u64::from(lengths.0))),
            ForeignValue::TargetCovered => one_digit(out, percent(pairs, u64::from(lengths.1))),
            ForeignValue::PercentIdentical => {
                // As in blast6, five decimals of the fraction are three decimals of the percentage,
                // and are rounded once.
                push_units(out, to_units(context.identity.identity(counts, lengths.0, lengths.1), 5), 3);
            }
            ForeignValue::PercentPositives => {
                push_units(out, to_units(percent(similar(context, pair, cigar), total), 2), 2);
            }
            ForeignValue::WholeCoverage | ForeignValue::SubjectCoverage => {
                let part = if is_edit { columns.whole_query } else { columns.query };
                let all = pair.hit_details().and_then(|details| details.spanned_by_all);
                let spanned = all.filter(|_| self == ForeignValue::SubjectCoverage).unwrap_or(part.end - part.start);
                push_unsigned(out, whole_percentage(u64::from(spanned), u64::from(lengths.0)));
            }
            ForeignValue::Pairs => push_unsigned(out, pairs),
            ForeignValue::Extensions => push_unsigned(out, gaps - openings),
            ForeignValue::Positives => push_unsigned(out, similar(context, pair, cigar)),
            ForeignValue::Position(part) => push_unsigned(out, u64::from(facts.position(part, columns))),
            ForeignValue::Columns => {
                for (length, op) in cigar.iter() {
                    out.extend(std::iter::repeat_n(letter(op), length as usize));
                }
            }
            ForeignValue::Runs => push_compact(out, cigar),
            ForeignValue::QueryRow => push_row(out, visible_runs(), codes.0, start.0, alphabet, Op::Deletion),
            ForeignValue::TargetRow => push_row(out, visible_runs(), codes.1, start.1, alphabet, Op::Insertion),
            ForeignValue::Btop => {
                push_btop(out, visible_runs(), &codes.0[start.0 as usize..], &codes.1[start.1 as usize..], alphabet);
            }
            ForeignValue::Number(_)
            | ForeignValue::Text(_)
            | ForeignValue::QueryStrand
            | ForeignValue::SubjectStrand => {
                self.push_constant(facts, out);
            }
        }
    }
}

impl PairFacts<'_> {
    /// Returns a position on the file's strand, from 1. If the query's reverse complement is
    /// aligned, the alignment starts at the last symbol of the query's part.
    fn position(&self, part: AlignedEnd, columns: &AlignmentColumns) -> u32 {
        let mut query = columns.whole_query;
        if let Some(hit) = self.pair.long_hit() {
            query = hit.in_file(query, self.context.queries.length(self.pair.query));
        }
        let ((first, last), target) = (query.one_based(), columns.whole_target.one_based());
        let query = if self.pair.is_reverse() { (last, first) } else { (first, last) };
        match part {
            AlignedEnd::QueryFirst => query.0,
            AlignedEnd::QueryLast => query.1,
            AlignedEnd::TargetFirst => target.0,
            AlignedEnd::TargetLast => target.1,
        }
    }
}

/// Returns a percentage, computed in vsearch's order so that ties are the same.
fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

/// Returns an identity as vsearch computes it.
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

/// Returns BLAST's integer percentage. It is rounded, but it is 100 only if `part` equals `whole`.
pub(in crate::output) fn whole_percentage(part: u64, whole: u64) -> u64 {
    match whole {
        0 => 0,
        _ if part == whole => 100,
        _ => ((200 * part + whole) / (2 * whole)).min(99),
    }
}

/// Returns vsearch's letter of a column. A gap in the query is vsearch's insertion.
fn letter(op: Op) -> u8 {
    match op {
        Op::Match | Op::Mismatch => b'M',
        Op::Insertion => b'D',
        Op::Deletion => b'I',
    }
}

/// Appends vsearch's CIGAR, which merges matches and mismatches and omits lengths of 1.
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

/// Appends BLAST's traceback operations. Two letters that match but differ, such as N and A, are
/// written out, so that the target can be restored from the query.
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

    /// vsearch 2.22.1 printed the CIGAR strings of these alignments.
    #[test]
    fn compact_cigars_equal_vsearch() {
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

    /// The first case is a shortened form of 398C-199-A100GA298, which blastn 2.12.0 prints.
    #[test]
    fn traceback_operations_equal_blast() {
        for (cigar, query, target, expected) in [
            ("3=1I2=1D2=1X4=", "ACGCTTGGGACGT", "ACGTTAGGAACGT", "3C-2-A2GA4"),
            ("2I", "AC", "", "A-C-"),
            ("2X1=", "ACG", "CAG", "ACCA1"),
            ("4=", "ACGT", "ACGT", "4"),
            // A match of different letters.
            ("3=", "ANG", "ACG", "1NC1"),
            ("", "", "", ""),
        ] {
            let cigar: Cigar = cigar.parse().unwrap();
            let actual = text(|out| push_btop(out, cigar.iter(), &codes(query), &codes(target), Alphabet::Dna));
            assert_eq!(actual, expected);
        }
    }

    #[test]
    fn integer_percentages_equal_blast() {
        let actual = [(999, 1000), (994, 1000), (500, 1000), (1000, 1000), (4, 1000), (5, 1000), (0, 9), (0, 0)];
        assert_eq!(actual.map(|(part, whole)| whole_percentage(part, whole)), [99, 99, 50, 100, 0, 1, 0, 0]);
    }

    /// 39 of 80 are 48.75%. In floating point, 39 / 80 times 100 is below that, but 3900 / 80,
    /// which vsearch computes, is exact.
    #[test]
    fn percentage_ties_equal_vsearch() {
        assert_eq!(text(|out| push_units(out, to_units(percent(39, 80), 1), 1)), "48.8");
        assert_eq!(text(|out| push_units(out, to_units(39.0 / 80.0, 3), 1)), "48.7");
        assert_eq!((percent(0, 0), percent(5, 5)), (0.0, 100.0));
    }
}
