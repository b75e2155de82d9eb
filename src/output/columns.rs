//! Statistics of an alignment's columns, computed once for each pair and used by all formats.

use super::numbers::push_unsigned;
use super::{Context, OutputPair};
use crate::alignment::{Cigar, Op};
use crate::score::AlignmentCounts;
use crate::seq::{Alphabet, Code};
use std::ops::Range;

/// Counts and spans of one alignment.
///
/// A format computes them from an [`OutputPair`] only if it writes them. They are not part of the
/// pair, because many formats do not need them.
///
/// *End gaps* are the first and the last run of columns, if these are gaps, as in vsearch. In
/// `2I3D10=`, only `2I` is an end gap. The columns between the end gaps are called *inner*.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AlignmentColumns {
    /// Number of columns of every kind.
    pub counts: AlignmentCounts,
    /// Number of gaps that are not end gaps.
    pub inner_gap_openings: u64,
    /// Query symbols between the end gaps, counted from 0.
    pub query: Range32,
    /// Target symbols between the end gaps, counted from 0.
    pub target: Range32,
    /// Query symbols of the alignment, including end gaps.
    pub whole_query: Range32,
    /// Target symbols of the alignment, including end gaps.
    pub whole_target: Range32,
    /// Whether the first run is a gap.
    leading: bool,
    /// Whether the last run is a gap and is not also the first.
    trailing: bool,
}

/// A half-open range of positions in a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range32 {
    /// The first position.
    pub start: u32,
    /// The position after the last.
    pub end: u32,
}

impl Range32 {
    /// Returns the first and last position, counted from 1. Both are 0 if the range is empty.
    pub fn one_based(self) -> (u32, u32) {
        if self.start < self.end { (self.start + 1, self.end) } else { (0, 0) }
    }
}

impl AlignmentColumns {
    /// Computes the statistics of `cigar`, whose column counts are `counts`. `query` and `target`
    /// are the parts that it aligns. In a global alignment, they are the whole sequences.
    pub fn from_cigar(cigar: &Cigar, counts: AlignmentCounts, query: Range32, target: Range32) -> Self {
        let runs = cigar.iter().count();
        let first = cigar.iter().next().filter(|run| is_gap(run.1));
        let last = cigar.iter().last().filter(|run| runs > 1 && is_gap(run.1));
        let gap = |run: Option<(u32, Op)>, op: Op| run.filter(|run| run.1 == op).map_or(0, |run| run.0);
        let inner =
            |op: Op, part: Range32| Range32 { start: part.start + gap(first, op), end: part.end - gap(last, op) };
        AlignmentColumns {
            counts,
            inner_gap_openings: counts.gap_openings - u64::from(first.is_some()) - u64::from(last.is_some()),
            query: inner(Op::Insertion, query),
            target: inner(Op::Deletion, target),
            whole_query: query,
            whole_target: target,
            leading: first.is_some(),
            trailing: last.is_some(),
        }
    }

    /// Returns the number of columns.
    pub fn total(&self) -> u64 {
        self.counts.matches + self.counts.mismatches + self.counts.gap_columns
    }

    /// Returns the number of columns between the end gaps.
    pub fn inner_total(&self) -> u64 {
        self.total() - self.counts.end_gap_columns
    }

    /// Returns the number of gap columns between the end gaps.
    pub fn inner_gaps(&self) -> u64 {
        self.counts.gap_columns - self.counts.end_gap_columns
    }

    /// Returns the runs between the end gaps.
    pub fn inner_runs<'a>(&self, cigar: &'a Cigar) -> impl Iterator<Item = (u32, Op)> + 'a {
        let skip = usize::from(self.leading);
        let kept = cigar.iter().count() - skip - usize::from(self.trailing);
        cigar.iter().skip(skip).take(kept)
    }
}

/// Returns whether a column of this kind contains a gap.
pub fn is_gap(op: Op) -> bool {
    matches!(op, Op::Insertion | Op::Deletion)
}

/// Appends runs as a CIGAR string.
pub(super) fn push_runs(out: &mut Vec<u8>, runs: impl Iterator<Item = (u32, Op)>) {
    for (length, op) in runs {
        push_unsigned(out, u64::from(length));
        out.push(match op {
            Op::Match => b'=',
            Op::Mismatch => b'X',
            Op::Insertion => b'I',
            Op::Deletion => b'D',
        });
    }
}

/// Appends one row of an alignment with these runs: the letters of `codes` from position `start`
/// on, with `-` in columns of kind `gap`.
pub(super) fn push_row(
    out: &mut Vec<u8>,
    runs: impl Iterator<Item = (u32, Op)>,
    codes: &[Code],
    start: u32,
    alphabet: Alphabet,
    gap: Op,
) {
    let mut at = start as usize;
    for (length, op) in runs {
        let length = length as usize;
        if op == gap {
            out.extend(std::iter::repeat_n(b'-', length));
        } else {
            out.extend(codes[at..at + length].iter().map(|&code| alphabet.decode(code)));
            at += length;
        }
    }
}

/// Returns the number of columns with two symbols that match or score more than 0.
pub(super) fn similar(context: &Context, pair: &OutputPair<'_>, cigar: &Cigar) -> u64 {
    let query = context.query_codes(pair);
    let query = &query[pair.query_start as usize..];
    let target = &context.targets.codes(pair.target)[pair.target_start as usize..];
    let substitution = &context.scoring.substitution;
    let pairs = aligned_ranges(cigar).flat_map(|(i, j)| query[i].iter().zip(&target[j]));
    pairs.filter(|&(&a, &b)| substitution.is_match(a, b) || substitution.score(a, b) > 0).count() as u64
}

/// Returns the ranges of query and target positions of every run of columns with two symbols.
pub fn aligned_ranges(cigar: &Cigar) -> impl Iterator<Item = (Range<usize>, Range<usize>)> + '_ {
    let (mut i, mut j) = (0, 0);
    cigar.iter().filter_map(move |(length, op)| {
        let length = length as usize;
        let start = (i, j);
        i += if op == Op::Deletion { 0 } else { length };
        j += if op == Op::Insertion { 0 } else { length };
        (!is_gap(op)).then_some((start.0..i, start.1..j))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(length: u32) -> Range32 {
        Range32 { start: 0, end: length }
    }

    fn columns(cigar: &str, query: u32, target: u32) -> AlignmentColumns {
        let cigar: Cigar = cigar.parse().unwrap();
        AlignmentColumns::from_cigar(&cigar, cigar.counts(), whole(query), whole(target))
    }

    #[test]
    fn spans_exclude_end_gaps() {
        let columns = columns("2I9=1X3D4=1D", 16, 18);
        assert_eq!((columns.total(), columns.inner_total(), columns.inner_gaps()), (20, 17, 3));
        assert_eq!(columns.inner_gap_openings, 1);
        assert_eq!(columns.query.one_based(), (3, 16));
        assert_eq!(columns.target.one_based(), (1, 17));
    }

    #[test]
    fn local_alignments_have_the_spans_of_their_parts() {
        let cigar: Cigar = "3=1I2=2D1=".parse().unwrap();
        let columns = AlignmentColumns::from_cigar(
            &cigar,
            cigar.counts(),
            Range32 { start: 10, end: 17 },
            Range32 { start: 0, end: 8 },
        );
        assert_eq!((columns.query.one_based(), columns.target.one_based()), ((11, 17), (1, 8)));
        assert_eq!((columns.total(), columns.inner_total(), columns.inner_gap_openings), (9, 9, 2));
    }

    #[test]
    fn only_the_outermost_run_is_an_end_gap() {
        let cigar: Cigar = "2I3D10=".parse().unwrap();
        let columns = AlignmentColumns::from_cigar(&cigar, cigar.counts(), whole(12), whole(13));
        assert_eq!(columns.inner_gap_openings, 1);
        assert_eq!((columns.query.start, columns.target.start), (2, 0));
        assert_eq!(columns.inner_runs(&cigar).collect::<Vec<_>>(), [(3, Op::Deletion), (10, Op::Match)]);
    }

    #[test]
    fn alignments_of_gaps_have_empty_spans() {
        let both = columns("3D2I", 2, 3);
        assert_eq!((both.inner_total(), both.query.one_based(), both.target.one_based()), (0, (0, 0), (0, 0)));
        let one = columns("3D", 0, 3);
        assert_eq!((one.inner_total(), one.inner_gap_openings, one.target.one_based()), (0, 0, (0, 0)));
        assert_eq!(columns("", 0, 0).total(), 0);
    }

    #[test]
    fn rows_have_a_letter_or_a_gap_in_every_column() {
        let cigar: Cigar = "1I2=1D1X".parse().unwrap();
        let codes: Vec<Code> = b"ACGT".iter().map(|&letter| Alphabet::Dna.encode(letter).unwrap()).collect();
        let mut rows = (Vec::new(), Vec::new());
        push_row(&mut rows.0, cigar.iter(), &codes, 0, Alphabet::Dna, Op::Deletion);
        push_row(&mut rows.1, cigar.iter(), &codes, 0, Alphabet::Dna, Op::Insertion);
        assert_eq!((rows.0.as_slice(), rows.1.as_slice()), (b"ACG-T".as_slice(), b"-ACGT".as_slice()));
        let mut part = Vec::new();
        let cigar: Cigar = "1=1D1=".parse().unwrap();
        push_row(&mut part, cigar.iter(), &codes, 2, Alphabet::Dna, Op::Deletion);
        assert_eq!(part, b"G-T");
    }
}
