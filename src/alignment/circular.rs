//! Alignments of circular sequences.
//!
//! A part of a circular sequence has at most n symbols, where n is the length of the sequence. It
//! starts at a position from 0 to n - 1. If its end exceeds n, the part crosses the origin, which is
//! the border between the last symbol and the first.

use std::ops::Range;

use super::{Cigar, Op};
use crate::score::Scoring;
use crate::seq::Code;

/// The circular sequences of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CircularSides {
    /// Whether the query is circular.
    pub query: bool,
    /// Whether the target is circular.
    pub target: bool,
}

impl CircularSides {
    /// Returns whether any sequence is circular.
    pub fn any(self) -> bool {
        self.query || self.target
    }
}

/// Two values of a pair, such as its lengths: a value for each sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Sides<T> {
    pub query: T,
    pub target: T,
}

/// Converts a part of a sequence of `length` symbols to the other strand. The conversion is its own
/// inverse. The end of a part that crosses the origin exceeds the length.
pub(crate) fn on_other_strand(part: &Range<u32>, length: u32) -> Range<u32> {
    let start = if part.end > length { length - (part.end - length) } else { length - part.end };
    start..start + (part.end - part.start)
}

/// A part of an alignment that crosses no origin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LinearPart {
    /// Part of the query, on the aligned strand.
    pub query: Range<u32>,
    /// Part of the target.
    pub target: Range<u32>,
    /// Columns. A part may start or end with a gap, and may consist of gaps only.
    pub cigar: Cigar,
}

/// Cuts an alignment at the origins of query and target. `starts` are its first symbols, and
/// `lengths` the numbers of symbols; a sequence without a length is not cut. An insertion at the
/// target's origin belongs to the part before it, and a deletion at the query's origin as well.
pub(crate) fn cut_at_origins(cigar: &Cigar, starts: Sides<u32>, lengths: Sides<Option<u32>>) -> Vec<LinearPart> {
    let Sides { query: mut i, target: mut j } = starts;
    let new_part = |i, j| LinearPart { query: i..i, target: j..j, cigar: Cigar::new() };
    let mut parts = Vec::new();
    let mut part = new_part(i, j);
    for (mut length, op) in cigar.iter() {
        while length > 0 {
            let query_wraps = op.consumes_query() && lengths.query == Some(i);
            let target_wraps = op.consumes_target() && lengths.target == Some(j);
            if query_wraps || target_wraps {
                (i, j) = (if query_wraps { 0 } else { i }, if target_wraps { 0 } else { j });
                parts.push(std::mem::replace(&mut part, new_part(i, j)));
            }
            let room = |end: Option<u32>, at: u32, is_consumed: bool| match end {
                Some(end) if is_consumed => end - at,
                _ => u32::MAX,
            };
            let query_room = room(lengths.query, i, op.consumes_query());
            let step = length.min(query_room).min(room(lengths.target, j, op.consumes_target()));
            part.cigar.push(step, op);
            (i, j) = (i + if op.consumes_query() { step } else { 0 }, j + if op.consumes_target() { step } else { 0 });
            (part.query.end, part.target.end) = (i, j);
            length -= step;
        }
    }
    parts.push(part);
    parts.retain(|part| !part.cigar.is_empty());
    parts
}

impl LinearPart {
    /// Removes the gaps before the first and after the last column of two symbols. Returns `None` if
    /// there is no such column.
    pub(crate) fn without_end_gaps(mut self) -> Option<LinearPart> {
        let is_pair = |run: &(u32, Op)| !run.1.is_gap();
        let runs: Vec<(u32, Op)> = self.cigar.iter().collect();
        let (first, last) = (runs.iter().position(is_pair)?, runs.iter().rposition(is_pair)?);
        for &(length, op) in &runs[..first] {
            if op == Op::Insertion { self.query.start += length } else { self.target.start += length }
        }
        for &(length, op) in &runs[last + 1..] {
            if op == Op::Insertion { self.query.end -= length } else { self.target.end -= length }
        }
        self.cigar.clear();
        runs[first..=last].iter().for_each(|&(length, op)| self.cigar.push(length, op));
        Some(self)
    }

    /// Returns the score of the part. Query and target are whole sequences.
    pub(crate) fn score(&self, query: &[Code], target: &[Code], scoring: &Scoring) -> i64 {
        let (mut i, mut j, mut score) = (self.query.start as usize, self.target.start as usize, 0);
        for (length, op) in self.cigar.iter() {
            let symbols = length as usize;
            let next_i = i + if op.consumes_query() { symbols } else { 0 };
            let next_j = j + if op.consumes_target() { symbols } else { 0 };
            score += if op.is_gap() {
                -scoring.gaps.cost(length.into())
            } else {
                let pairs = query[i..next_i].iter().zip(&target[j..next_j]);
                pairs.map(|(&a, &b)| i64::from(scoring.substitution.score(a, b))).sum::<i64>()
            };
            (i, j) = (next_i, next_j);
        }
        score
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::{Gaps, Mode};

    /// Returns the parts of an alignment that starts at these symbols.
    fn cut(cigar: &str, query: u32, target: u32, lengths: Sides<Option<u32>>) -> Vec<String> {
        let starts = Sides { query, target };
        let parts = cut_at_origins(&cigar.parse().unwrap(), starts, lengths);
        let text = |part: &LinearPart| format!("{:?} {:?} {}", part.query, part.target, part.cigar);
        parts.iter().map(text).collect()
    }

    #[test]
    fn alignments_are_cut_at_both_origins() {
        let lengths = Sides { query: Some(10), target: Some(8) };
        assert_eq!(cut("5=", 1, 2, lengths), ["1..6 2..7 5="]);
        assert_eq!(cut("6=", 4, 2, lengths), ["4..10 2..8 6="]);
        assert_eq!(cut("7=", 4, 2, lengths), ["4..10 2..8 6=", "0..1 0..1 1="]);
        assert_eq!(cut("7=", 4, 4, lengths), ["4..8 4..8 4=", "8..10 0..2 2=", "0..1 2..3 1="]);
        assert_eq!(cut("7=", 4, 4, Sides { query: None, ..lengths }), ["4..8 4..8 4=", "8..11 0..3 3="]);
        assert_eq!(cut("7=", 4, 4, Sides::default()), ["4..11 4..11 7="]);
        assert!(cut("", 4, 4, lengths).is_empty());
    }

    #[test]
    fn gaps_at_origins_are_divided_where_their_symbols_are() {
        let lengths = Sides { query: Some(20), target: Some(8) };
        // An insertion belongs to the part before the target's origin.
        assert_eq!(cut("3=2I3=", 4, 5, lengths), ["4..9 5..8 3=2I", "9..12 0..3 3="]);
        assert_eq!(cut("3=4D3=", 4, 3, lengths), ["4..7 3..8 3=2D", "7..10 0..5 2D3="]);
        // A part may consist of gaps only.
        assert_eq!(
            cut("3=3I2=", 15, 5, Sides { query: Some(19), ..lengths }),
            ["15..19 5..8 3=1I", "0..2 8..8 2I", "2..4 0..2 2="]
        );
    }

    #[test]
    fn end_gaps_of_parts_are_removed() {
        let scoring = Scoring { mode: Mode::Local, gaps: Gaps { first: 7, next: 2 }, ..Scoring::truong() };
        let (query, target) = ([1, 2, 4, 8, 1, 2, 4, 8], [1, 2, 4, 8, 1, 2, 4, 1]);
        let core = |query_part: Range<u32>, target_part: Range<u32>, cigar: &str| {
            let part = LinearPart { query: query_part, target: target_part, cigar: cigar.parse().unwrap() };
            let core = part.without_end_gaps()?;
            let score = core.score(&query, &target, &scoring);
            Some(format!("{:?} {:?} {} {score}", core.query, core.target, core.cigar))
        };
        assert_eq!(core(0..8, 0..8, "7=1X").unwrap(), "0..8 0..8 7=1X 31");
        assert_eq!(core(0..8, 2..4, "2I1=2I1=2I").unwrap(), "2..6 2..4 1=2I1= -8");
        assert_eq!(core(0..5, 0..8, "2D1I4=2D").unwrap(), "1..5 2..6 4= -16");
        assert_eq!(core(0..2, 0..1, "2I1D"), None);
    }

    #[test]
    fn conversion_to_the_other_strand_is_its_own_inverse() {
        for length in 1..7 {
            for start in 0..length {
                for symbols in 1..=length {
                    let part = start..start + symbols;
                    let other = on_other_strand(&part, length);
                    assert_eq!(on_other_strand(&other, length), part);
                    let position = |symbol: u32| length - 1 - symbol % length;
                    assert!(part.rev().map(position).eq(other.map(|symbol| symbol % length)));
                }
            }
        }
    }
}
