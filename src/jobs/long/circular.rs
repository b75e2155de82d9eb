//! Local alignments of circular sequences.
//!
//! A circular sequence of n symbols is *unrolled*: its n symbols are followed by its first n - 1
//! symbols. An alignment *goes around at most once* if it has at most n symbols of each circular
//! sequence of length n. Such an alignment may start at one of the first n symbols, so it lies in
//! the unrolled sequences. The best alignment of the unrolled sequences therefore scores at least
//! as much as every alignment that goes around at most once. If it goes around at most once itself,
//! no other one is better.
//!
//! If it goes around more than once, the circular sequences of the strand are *opened*. They become
//! linear sequences of n symbols, and remain linear for the rest of the job. They start where the
//! best part of the alignment starts. A part starts and ends with two symbols, and goes around at
//! most once. The part with the best score is selected, then the part with the first end, then the
//! shortest part. If the alignment aligns two symbols again one turn later, the columns between
//! form a *circle*. Parts of the circle may start at any of its columns. They are selected if they
//! score more.
//!
//! The job then continues with the best alignment of the opened sequences. No alignment is better
//! that does not cross the opening. The selected part does not cross the opening, so the alignment
//! scores at least as much.
//!
//! A further alignment avoids the rectangles of earlier ones in all copies of their symbols.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::alignment::circular::{Sides, on_other_strand};
use crate::alignment::{Alignment, Cigar, CircularSides, ForbiddenRectangle, Op};
use crate::long::LongPair;
use crate::score::Scoring;
use crate::seq::{Code, Strand};

/// Returns the number of symbols of an unrolled sequence.
pub(super) fn unrolled_length(length: u32) -> u64 {
    (2 * u64::from(length)).saturating_sub(1)
}

/// Appends the symbols that an unrolled sequence contains twice.
pub(super) fn unroll(codes: &mut Vec<Code>) {
    let again = codes.len().saturating_sub(1);
    codes.extend_from_within(..again);
}

/// The positions where the circular sequences of a strand become linear.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CircleOpening {
    /// First symbol of the query, on the aligned strand; 0 if the query is linear.
    pub query: u32,
    /// First symbol of the target; 0 if the target is linear.
    pub target: u32,
    /// Score of an alignment that does not cross the opening.
    pub score: i64,
}

/// The relation between the matrix of a strand and the two sequences.
#[derive(Debug, Clone, Copy)]
pub(super) struct MatrixFrame {
    /// Number of symbols of each sequence.
    lengths: Sides<u32>,
    circular: CircularSides,
    opening: Option<CircleOpening>,
}

impl MatrixFrame {
    /// Creates the frame of unrolled sequences of these lengths, or of linear ones.
    pub(super) fn new(lengths: Sides<u32>, circular: CircularSides) -> Self {
        MatrixFrame { lengths, circular, opening: None }
    }

    /// Returns the pair of the opened sequences. `pair` contains the unrolled sequences.
    pub(super) fn open(&mut self, pair: &LongPair, opening: CircleOpening) -> LongPair {
        let opened = |codes: &[Code], length: u32, first: u32| -> Arc<[Code]> {
            let codes = &codes[..length as usize];
            [&codes[first as usize..], &codes[..first as usize]].concat().into()
        };
        self.opening = Some(opening);
        LongPair {
            query: opened(&pair.query, self.lengths.query, opening.query),
            target: opened(&pair.target, self.lengths.target, opening.target),
            scoring: Arc::clone(&pair.scoring),
        }
    }

    fn first_symbols(&self) -> Sides<u32> {
        let sides = |CircleOpening { query, target, .. }| Sides { query, target };
        self.opening.map(sides).unwrap_or_default()
    }

    /// Returns a part of the query on the strand of the file, for rows of the matrix.
    pub(super) fn query_in_file(&self, rows: Range<u32>, strand: Strand) -> Range<u32> {
        let part = self.query(rows);
        match strand {
            Strand::Plus => part,
            Strand::Minus => on_other_strand(&part, self.lengths.query),
        }
    }

    /// Returns a part of the query on the aligned strand, for rows of the matrix.
    pub(super) fn query(&self, rows: Range<u32>) -> Range<u32> {
        in_sequence(rows, self.first_symbols().query, self.lengths.query, self.circular.query)
    }

    /// Returns a part of the target, for columns of the matrix.
    pub(super) fn target(&self, columns: Range<u32>) -> Range<u32> {
        in_sequence(columns, self.first_symbols().target, self.lengths.target, self.circular.target)
    }

    /// Returns the rectangles of the matrix that belong to parts of query and target. The query's
    /// part is on the strand of the file.
    pub(super) fn rectangles(
        &self,
        query: &Range<u32>,
        target: &Range<u32>,
        strand: Strand,
    ) -> Vec<ForbiddenRectangle> {
        let query = match strand {
            Strand::Plus => query.clone(),
            Strand::Minus => on_other_strand(query, self.lengths.query),
        };
        let first = self.first_symbols();
        let of_matrix = |part: &Range<u32>, first: u32, length: u32, is_circular: bool| {
            let size = if self.opening.is_none() { unrolled_length(length) as i64 } else { length.into() };
            if is_circular { copies(part, first, length, size) } else { vec![part.clone()] }
        };
        let rows = of_matrix(&query, first.query, self.lengths.query, self.circular.query);
        let columns = of_matrix(target, first.target, self.lengths.target, self.circular.target);
        let row = |query: &Range<u32>| -> Vec<ForbiddenRectangle> {
            let rectangle = |target: &Range<u32>| ForbiddenRectangle { query: query.clone(), target: target.clone() };
            columns.iter().map(rectangle).collect()
        };
        rows.iter().flat_map(row).collect()
    }

    /// Returns the opening if an alignment of the unrolled sequences goes around more than once.
    pub(super) fn opening(&self, alignment: &Alignment, pair: &LongPair) -> Option<CircleOpening> {
        let limit = |length: u32, is_circular: bool| match is_circular && self.opening.is_none() {
            true => length.into(),
            false => u64::MAX,
        };
        let limits = Sides {
            query: limit(self.lengths.query, self.circular.query),
            target: limit(self.lengths.target, self.circular.target),
        };
        let cigar = &alignment.cigar;
        if cigar.query_span() <= limits.query && cigar.target_span() <= limits.target {
            return None;
        }
        let part = BestPartFinder { frame: self, pair, limits };
        let start = Sides { query: alignment.query_start.into(), target: alignment.target_start.into() };
        let turn = Sides { query: self.lengths.query.into(), target: self.lengths.target.into() };
        let mut best = part.best(cigar.iter(), start)?;
        if self.circular.query
            && self.circular.target
            && let Some(circle) = closed_circle(cigar, start, turn)
        {
            let twice = circle.runs.iter().chain(&circle.runs).copied();
            best = part.best(twice, circle.start).filter(|other| other.score > best.score).unwrap_or(best);
        }
        let in_sequence = |symbol: u64, length: u32, is_circular: bool| match is_circular {
            true => (symbol % u64::from(length)) as u32,
            false => 0,
        };
        Some(CircleOpening {
            query: in_sequence(best.i, self.lengths.query, self.circular.query),
            target: in_sequence(best.j, self.lengths.target, self.circular.target),
            score: best.score,
        })
    }
}

/// Returns a part of a sequence of `length` symbols, for rows or columns of a matrix that starts at
/// symbol `first`.
fn in_sequence(range: Range<u32>, first: u32, length: u32, is_circular: bool) -> Range<u32> {
    if !is_circular || length == 0 {
        return range;
    }
    let start = ((u64::from(range.start) + u64::from(first)) % u64::from(length)) as u32;
    start..start + (range.end - range.start)
}

/// Returns all rows or columns that contain symbols of a part, in a matrix of `size` rows or columns
/// that starts at symbol `first` of a circular sequence of `length` symbols.
fn copies(part: &Range<u32>, first: u32, length: u32, size: i64) -> Vec<Range<u32>> {
    let copy = |turn: i64| {
        let shift = turn * i64::from(length) - i64::from(first);
        let (start, end) = ((i64::from(part.start) + shift).max(0), (i64::from(part.end) + shift).min(size));
        (start < end).then_some(start as u32..end as u32)
    };
    (-1..=2).filter_map(copy).collect()
}

/// The start of a part of an alignment.
#[derive(Debug, Clone, Copy)]
struct ScoredStart {
    /// Symbols before the part.
    i: u64,
    j: u64,
    /// Score of the part, or of the columns before the part while parts are compared.
    score: i64,
}

/// Finds the best part of an alignment.
struct BestPartFinder<'a> {
    frame: &'a MatrixFrame,
    pair: &'a LongPair,
    /// Maximum numbers of query and target symbols of a part.
    limits: Sides<u64>,
}

impl BestPartFinder<'_> {
    /// Returns the best part of the columns that start at the symbols of `start`: the part with the
    /// best score, then with the first end, then the shortest part.
    fn best(&self, runs: impl Iterator<Item = (u32, Op)>, start: Sides<u64>) -> Option<ScoredStart> {
        let Sides { query: mut i, target: mut j } = start;
        let Scoring { substitution, gaps, .. } = &*self.pair.scoring;
        let (query, target) = self.sequences();
        let mut before = 0;
        // Possible starts of later parts, best first. All are within the limits. A part starts and
        // ends with a column of two symbols.
        let mut starts: VecDeque<ScoredStart> = VecDeque::new();
        let mut best: Option<ScoredStart> = None;
        for (length, op) in runs {
            match op {
                Op::Insertion => (i, before) = (i + u64::from(length), before - gaps.cost(length.into())),
                Op::Deletion => (j, before) = (j + u64::from(length), before - gaps.cost(length.into())),
                Op::Match | Op::Mismatch => {
                    for _ in 0..length {
                        while starts.pop_back_if(|start| start.score >= before).is_some() {}
                        starts.push_back(ScoredStart { i, j, score: before });
                        let (a, b) = (query[i as usize % query.len()], target[j as usize % target.len()]);
                        (i, j, before) = (i + 1, j + 1, before + i64::from(substitution.score(a, b)));
                        let is_too_long = |start: &mut ScoredStart| {
                            i - start.i > self.limits.query || j - start.j > self.limits.target
                        };
                        while starts.pop_front_if(is_too_long).is_some() {}
                        let Some(start) = starts.front() else { continue };
                        let score = before - start.score;
                        if best.is_none_or(|best| score > best.score) {
                            best = Some(ScoredStart { score, ..*start });
                        }
                    }
                }
            }
        }
        best
    }

    /// Returns query and target, each symbol of a circular sequence once.
    fn sequences(&self) -> (&[Code], &[Code]) {
        let Sides { query, target } = self.frame.lengths;
        (&self.pair.query[..query as usize], &self.pair.target[..target as usize])
    }
}

/// A column of two symbols.
#[derive(Debug, Clone, Copy)]
struct PairColumn {
    /// Symbols before the column.
    i: u64,
    j: u64,
    /// Number of columns before this one.
    column: u64,
}

/// Returns the columns of two symbols of an alignment that starts at these symbols.
fn pair_columns(cigar: &Cigar, start: Sides<u64>) -> impl Iterator<Item = PairColumn> + '_ {
    let mut next = PairColumn { i: start.query, j: start.target, column: 0 };
    cigar.iter().flat_map(move |(length, op)| {
        let (first, length) = (next, u64::from(length));
        next.i += if op.consumes_query() { length } else { 0 };
        next.j += if op.consumes_target() { length } else { 0 };
        next.column += length;
        let pairs = if op.is_gap() { 0 } else { length };
        (0..pairs).map(move |k| PairColumn { i: first.i + k, j: first.j + k, column: first.column + k })
    })
}

/// Columns of an alignment that lead around both sequences once, back to the same two symbols.
struct ClosedCircle {
    /// Symbols before the first column, which has two symbols.
    start: Sides<u64>,
    runs: Vec<(u32, Op)>,
}

/// Returns the first closed circle of an alignment. `turn` contains the lengths of the sequences.
fn closed_circle(cigar: &Cigar, start: Sides<u64>, turn: Sides<u64>) -> Option<ClosedCircle> {
    let mut later = pair_columns(cigar, start);
    let mut again = later.next()?;
    let first = pair_columns(cigar, start).find(|first| {
        while again.i < first.i + turn.query
            && let Some(next) = later.next()
        {
            again = next;
        }
        (again.i, again.j) == (first.i + turn.query, first.j + turn.target)
    })?;
    let (mut runs, mut column) = (Vec::new(), 0);
    for (length, op) in cigar.iter() {
        let (from, to) = (first.column.max(column), again.column.min(column + u64::from(length)));
        if from < to {
            runs.push(((to - from) as u32, op));
        }
        column += u64::from(length);
    }
    Some(ClosedCircle { start: Sides { query: first.i, target: first.j }, runs })
}

#[cfg(test)]
mod tests;
