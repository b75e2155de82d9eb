//! Several local alignments of one pair, the best first.
//!
//! The first alignment is the canonical one ([`crate::trace`]). Each further alignment is the
//! canonical one among the alignments that use no cell of an earlier alignment's rectangle
//! ([`ForbiddenRectangle`]).
//!
//! # Windows
//!
//! An alignment with at least the minimum score spans a limited number of target symbols, because
//! each symbol opposite a gap costs something. The target is therefore divided into overlapping
//! windows such that each alignment is inside one of them. The best score of a window never rises
//! when cells are forbidden. A window is swept again only if a rectangle was added inside it and its
//! earlier score may still be the greatest. Windows without forbidden cells are swept in narrow
//! lanes ([`super::striped`]), the others row by row ([`super::forward`]).

use std::cmp::Reverse;
use std::ops::Range;

use super::detour::Detour;
use super::forward::{self, EndGoal, LocalEnd};
use super::workspace::TracebackWorkspace;
use super::{LocalParts, align_parts, backward, find_end, fits_32, traceback};
use crate::alignment::{Alignment, ForbiddenRectangle};
use crate::error::{Error, Result};
use crate::score::Scoring;
use crate::seq::Code;
use crate::trace::hint::{EndRegion, Hint};

/// Minimum number of target symbols from the start of a window to the start of the next one.
const MIN_STRIDE: usize = 4096;

/// Finds the local alignments of a pair, the best first.
///
/// ```
/// use pairwave::seq::Alphabet;
/// use pairwave::trace::{LocalAlignments, TracebackWorkspace};
/// use pairwave::{Mode, Scoring};
///
/// let codes = |letters: &[u8]| -> Vec<u8> { letters.iter().map(|&letter| Alphabet::Dna.encode(letter).unwrap()).collect() };
/// let scoring = Scoring { mode: Mode::Local, ..Scoring::dna() };
/// let (query, target) = (codes(b"GATTACA"), codes(b"CCGATTACACCGATTATACC"));
/// let mut alignments = LocalAlignments::new(&query, &target, &scoring, 15)?;
/// let mut workspace = TracebackWorkspace::default();
/// let mut starts = Vec::new();
/// while let Some(alignment) = alignments.find(&mut workspace)? {
///     starts.push((alignment.score, alignment.target_start));
///     alignments.exclude(&alignment);
/// }
/// assert_eq!(starts, [(35, 2), (26, 11)]);
/// # Ok::<(), pairwave::Error>(())
/// ```
#[derive(Debug)]
pub struct LocalAlignments<'a> {
    query: &'a [Code],
    target: &'a [Code],
    scoring: &'a Scoring,
    /// Minimum score of alignments, at least 1.
    least: i64,
    /// Maximum number of target symbols of an alignment.
    max_span: usize,
    forbidden: Vec<ForbiddenRectangle>,
    windows: Vec<Window>,
}

/// Adjacent target symbols.
#[derive(Debug)]
struct Window {
    target: Range<usize>,
    best: WindowBest,
}

/// The best alignment in a window.
#[derive(Debug, Clone, Copy)]
enum WindowBest {
    Unknown,
    /// The score before cells were forbidden. No alignment has a greater score now.
    AtMost(i64),
    /// The end, or `None` if no alignment has the minimum score.
    Known(Option<LocalEnd>),
}

impl<'a> LocalAlignments<'a> {
    /// Prepares the alignments of a pair that score at least `least`, or at least 1 if that is
    /// more. Ignores the mode and the end gaps of `scoring`.
    ///
    /// # Errors
    /// [`Error::Usage`] for a code that has no score in `scoring`, and for an alphabet without a
    /// table of scores.
    pub fn new(query: &'a [Code], target: &'a [Code], scoring: &'a Scoring, least: i64) -> Result<Self> {
        Self::in_windows(query, target, scoring, least, MIN_STRIDE)
    }

    /// Prepares the alignments like [`LocalAlignments::new`], in windows whose starts are at least
    /// `min_stride` symbols apart.
    fn in_windows(
        query: &'a [Code],
        target: &'a [Code],
        scoring: &'a Scoring,
        least: i64,
        min_stride: usize,
    ) -> Result<Self> {
        scoring.check_codes(query)?;
        scoring.check_codes(target)?;
        super::super::global::check_table_size(scoring)?;
        let least = least.max(1);
        let max_span = max_span(query, target, scoring, least);
        let stride = max_span.max(min_stride);
        let count = target.len().saturating_sub(max_span).div_ceil(stride).max(1);
        let window = |index: usize| {
            let start = index * stride;
            let end = if index + 1 == count { target.len() } else { start + stride + max_span };
            Window { target: start..end.min(target.len()), best: WindowBest::Unknown }
        };
        let windows = (0..count).map(window).collect();
        Ok(LocalAlignments { query, target, scoring, least, max_span, forbidden: Vec::new(), windows })
    }

    /// Forbids the cells of the rectangle that an alignment covers.
    pub fn exclude(&mut self, alignment: &Alignment) {
        let rectangle = ForbiddenRectangle::covered_by(alignment);
        for window in &mut self.windows {
            if rectangle.target.start as usize >= window.target.end
                || rectangle.target.end as usize <= window.target.start
            {
                continue;
            }
            if let WindowBest::Known(end) = window.best {
                window.best = end.map_or(WindowBest::Known(None), |end| WindowBest::AtMost(end.score));
            }
        }
        self.forbidden.push(rectangle);
    }

    /// Returns the best alignment that uses no forbidden cell. Returns `None` if none has the
    /// minimum score. The caller excludes the alignment before it asks for the next one.
    ///
    /// # Errors
    /// [`Error::Internal`] if two algorithms find different scores.
    pub fn find(&mut self, workspace: &mut TracebackWorkspace) -> Result<Option<Alignment>> {
        for index in 0..self.windows.len() {
            if matches!(self.windows[index].best, WindowBest::Unknown) {
                self.sweep(index, workspace);
            }
        }
        loop {
            let ends = self.windows.iter().filter_map(|window| match window.best {
                WindowBest::Known(Some(end)) => Some(LocalEnd { target: window.target.start + end.target, ..end }),
                _ => None,
            });
            let best = ends.min_by_key(|end| (Reverse(end.score), end.query, end.target));
            // A window with the same score may contain an earlier end.
            let score = best.map_or(self.least, |best| best.score);
            let unsettled = self.windows.iter().enumerate().filter_map(|(index, window)| match window.best {
                WindowBest::AtMost(most) if most >= score => Some((most, index)),
                _ => None,
            });
            match unsettled.max() {
                Some((_, index)) => self.sweep(index, workspace),
                None => return best.map(|end| self.trace_back(end, workspace)).transpose(),
            }
        }
    }

    /// Returns the forbidden cells in some rows and columns, counted from their starts.
    fn forbidden_within(&self, query: &Range<usize>, target: &Range<usize>) -> Vec<ForbiddenRectangle> {
        let narrow = |range: &Range<usize>| range.start as u32..range.end as u32;
        self.forbidden.iter().filter_map(|part| part.within(narrow(query), narrow(target))).collect()
    }

    /// Finds the end of the best alignment in a window.
    fn sweep(&mut self, index: usize, workspace: &mut TracebackWorkspace) {
        let columns = self.windows[index].target.clone();
        let (query, target) = (self.query, &self.target[columns.clone()]);
        let forbidden = self.forbidden_within(&(0..query.len()), &columns);
        let instructions = workspace.global.resources.instructions;
        let end = if forbidden.is_empty() {
            find_end(query, target, self.scoring, None, instructions, &mut workspace.local)
                .filter(|end| end.score >= self.least)
        } else if self.greatest_score(target.len(), &forbidden) < self.least {
            None
        } else {
            let goal = EndGoal::AtLeast(self.least);
            let super::LocalBuffers { profile, rows_32, rows_64, .. } = &mut workspace.local;
            if fits_32(query, target, self.scoring) {
                forward::sweep(query, target, self.scoring, goal, &forbidden, profile, rows_32, instructions)
            } else {
                forward::sweep(query, target, self.scoring, goal, &forbidden, profile, rows_64, instructions)
            }
        };
        self.windows[index].best = WindowBest::Known(end);
    }

    /// Returns an upper bound of the scores in `columns` target symbols with forbidden cells. An
    /// alignment passes each rectangle on one side: its rows are above the rectangle or its columns
    /// are after it, or its columns are before the rectangle or its rows are below it.
    fn greatest_score(&self, columns: usize, forbidden: &[ForbiddenRectangle]) -> i64 {
        let (m, n) = (self.query.len() as u64, columns as u64);
        let pairs = forbidden.iter().map(|part| {
            let above = u64::from(part.query.start) + (n - u64::from(part.target.end));
            let below = u64::from(part.target.start) + (m - u64::from(part.query.end));
            above.max(below)
        });
        let pairs = pairs.min().unwrap_or(u64::MAX).min(m).min(n);
        i64::from(self.scoring.substitution.max_score()).saturating_mul(pairs as i64)
    }

    /// Returns the alignment that ends at a cell.
    fn trace_back(&self, end: LocalEnd, workspace: &mut TracebackWorkspace) -> Result<Alignment> {
        let LocalEnd { score, query: i, target: j } = end;
        // The windows that contain the end need not contain the canonical alignment.
        let from = j.saturating_sub(self.max_span);
        let (query, target) = (&self.query[..i], &self.target[from..j]);
        let TracebackWorkspace { global, local } = workspace;
        let shifted =
            |alignment: Alignment| Alignment { target_start: alignment.target_start + from as u32, ..alignment };
        let forbidden = self.forbidden_within(&(0..i), &(from..j));
        let hint = Hint { score: Some(score), matches: None };
        if forbidden.is_empty() {
            let last = |symbols: usize| symbols as u32 - 1..symbols as u32;
            let region = EndRegion { query: last(i), target: last(j - from) };
            return traceback(query, target, self.scoring, hint, Some(&region), global, local).map(shifted);
        }
        let start = if fits_32(query, target, self.scoring) {
            backward::sweep(query, target, self.scoring, score, &forbidden, &mut local.anchored_32)
        } else {
            backward::sweep(query, target, self.scoring, score, &forbidden, &mut local.anchored_64)
        };
        let lost = || Error::Internal(format!("no start of a further local alignment with score {score}"));
        let (query_start, target_start) = start.ok_or_else(lost)?;
        let parts = LocalParts { query: query_start..i, target: target_start..j - from, band: None };
        let inside = self.forbidden_within(&parts.query, &(from + target_start..j));
        if inside.is_empty() {
            return align_parts(query, target, self.scoring, hint, parts, global).map(shifted);
        }
        let (query, target) = (&query[parts.query], &target[parts.target]);
        let (traced, cigar) = Detour { query, target, scoring: self.scoring, forbidden: &inside }.align();
        if traced != score {
            return Err(Error::Internal(format!("the traceback found score {traced}, but the sweep {score}")));
        }
        let (query_start, target_start) = (query_start as u32, (from + target_start) as u32);
        Ok(Alignment { score, query_start, target_start, cigar })
    }
}

/// Returns the maximum number of target symbols that an alignment with at least this score spans.
/// Its pairs of symbols score at most the sum of the best scores of all query symbols. The
/// difference pays for target symbols opposite gaps.
fn max_span(query: &[Code], target: &[Code], scoring: &Scoring, least: i64) -> usize {
    let substitution = &scoring.substitution;
    let size = substitution.size() as Code;
    let best_of: Vec<i64> =
        (0..size).map(|a| (0..size).map(|b| i64::from(substitution.score(a, b))).max().unwrap_or(0).max(0)).collect();
    let most: i64 = query.iter().map(|&code| best_of[usize::from(code)]).sum();
    let cost = i64::from(scoring.gaps.first.min(scoring.gaps.next));
    if cost <= 0 {
        return target.len();
    }
    let opposite_gaps = (most - least).max(0) / cost;
    query.len().saturating_add(opposite_gaps as usize).min(target.len())
}

#[cfg(test)]
mod tests;
