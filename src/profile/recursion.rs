//! Best alignment of two profiles in memory for a few rows, by the recursion of Myers and Miller
//! (1988).
//!
//! The first profile is cut in half. The best alignment crosses the cut where the sum of the rows
//! from the top and from the bottom is greatest. Both remaining rectangles are aligned in the same
//! way. Ties between best alignments are resolved as in ClustalW.

use rayon::prelude::*;

use super::divided::{DividedRectangles, ProfileCrossing};
use super::pass::{MiddleRow, PairProblem, PassScratch, ProfileRectangle, backward, forward};
use super::path::{ColumnStep, PathPieces};
use crate::simd::InstructionSet;

/// Minimum number of cells of a rectangle whose halves run on separate threads.
const SHARED: usize = 1 << 18;

/// Input of the recursion.
pub(super) struct PathRecursion<'a> {
    pub(super) problem: &'a PairProblem<'a>,
    pub(super) instructions: InstructionSet,
    /// Returns true to stop the recursion.
    pub(super) stopped: &'a (dyn Fn() -> bool + Sync),
}

/// Buffers of one thread.
#[derive(Default)]
struct RecursionScratch {
    above: MiddleRow,
    below: MiddleRow,
    first: PassScratch,
    second: PassScratch,
}

impl PathRecursion<'_> {
    /// Returns the path of the best alignment. The path is meaningless if the recursion was
    /// stopped. Runs on the current thread pool.
    pub(super) fn path(&self) -> Vec<ColumnStep> {
        self.complete_path(&DividedRectangles::default())
    }

    /// Returns the path of a matrix that has been divided into rectangles.
    ///
    /// # Panics
    /// Panics if the crossings are impossible ([`DividedRectangles::check`]).
    pub(super) fn complete_path(&self, divided: &DividedRectangles) -> Vec<ColumnStep> {
        let [m, n] = self.problem.columns;
        let whole = ProfileRectangle { a: 0, b: 0, m, n, opens: false, closes: false };
        // The last element is processed next. `None` is a gap between two rectangles.
        let (mut waiting, mut left) = (vec![Some((0, whole))], Vec::new());
        while let Some(next) = waiting.pop() {
            let crossing = next.and_then(|(node, _)| divided.crossing(node));
            match (next, crossing) {
                (Some((node, rectangle)), Some(crossing)) => {
                    let [upper, lower] = rectangle.divided(crossing);
                    waiting.push(Some((2 * node + 2, lower)));
                    if crossing.in_gap {
                        waiting.push(None);
                    }
                    waiting.push(Some((2 * node + 1, upper)));
                }
                _ => left.push(next.map(|(_, rectangle)| rectangle)),
            }
        }
        let part = |scratch: &mut RecursionScratch, part: &Option<ProfileRectangle>| {
            let mut pieces = PathPieces::default();
            match *part {
                Some(rectangle) => self.align(rectangle, &mut pieces, scratch),
                None => pieces.push_first(2),
            }
            pieces
        };
        let parts: Vec<PathPieces> =
            left.par_iter().with_min_len(4).map_init(RecursionScratch::default, part).collect();
        let mut pieces = PathPieces::default();
        parts.into_iter().for_each(|part| pieces.append(part));
        pieces.path()
    }

    fn align(&self, rectangle: ProfileRectangle, pieces: &mut PathPieces, scratch: &mut RecursionScratch) {
        let ProfileRectangle { m, n, .. } = rectangle;
        match (m, n) {
            (_, 0) => return pieces.push_first(m),
            (0, _) => return pieces.push_second(n),
            (1, _) => return self.align_column(rectangle, pieces),
            _ => {}
        }
        if (self.stopped)() {
            return;
        }
        let is_shared = m * n >= SHARED;
        let RecursionScratch { above, below, first, second } = scratch;
        let mut down = || forward(self.instructions, self.problem, rectangle, above, first);
        let mut up = || backward(self.instructions, self.problem, rectangle, below, second);
        if is_shared {
            rayon::join(down, up);
        } else {
            down();
            up();
        }
        let crossing = self.crossing(rectangle, above, below);
        let ([upper, lower], in_gap) = (rectangle.divided(crossing), crossing.in_gap);
        if is_shared {
            let mut behind = PathPieces::default();
            let ahead = || self.align(upper, pieces, scratch);
            rayon::join(ahead, || self.align(lower, &mut behind, &mut RecursionScratch::default()));
            if in_gap {
                pieces.push_first(2);
            }
            pieces.append(behind);
        } else {
            self.align(upper, pieces, scratch);
            if in_gap {
                pieces.push_first(2);
            }
            self.align(lower, pieces, scratch);
        }
    }

    fn crossing(&self, rectangle: ProfileRectangle, above: &MiddleRow, below: &MiddleRow) -> ProfileCrossing {
        let ProfileRectangle { a, b, m, n, .. } = rectangle;
        let middle = m / 2;
        let mut best = above.best[0] + below.best[0];
        let mut crossing = ProfileCrossing { column: 0, in_gap: false };
        for j in 0..=n {
            let score = above.best[j] + below.best[j];
            // Score from the bottom with an open gap, now with its opening cost.
            let closed = || below.open[j] - self.problem.open_second(a + middle + 1, b + j);
            if score > best || (score == best && above.best[j] != above.open[j] && below.best[j] == closed()) {
                best = score;
                crossing.column = j;
            }
        }
        for j in (0..=n).rev() {
            let score = above.open[j] + below.open[j];
            if score > best {
                best = score;
                crossing = ProfileCrossing { column: j, in_gap: true };
            }
        }
        crossing
    }

    /// Aligns one column of the first profile: it faces one column of the second profile, or a gap.
    fn align_column(&self, ProfileRectangle { a, b, n, opens, .. }: ProfileRectangle, pieces: &mut PathPieces) {
        let problem = self.problem;
        let alone = if opens { problem.open_second(a + 1, b) + problem.extend_second(a + 1, b) } else { 0 };
        let mut best = -alone - problem.gap_first(a + 1, b + 1, n);
        let mut column = 0;
        for j in 1..=n {
            let gaps = problem.gap_first(a, b + 1, j - 1) + problem.gap_first(a + 1, b + j + 1, n - j);
            let score = problem.scores.score(a, b + j - 1) - gaps;
            if score > best {
                best = score;
                column = j;
            }
        }
        if column == 0 {
            pieces.push_second(n);
            pieces.push_first(1);
        } else {
            pieces.push_second(column - 1);
            pieces.push_match();
            pieces.push_second(n - column);
        }
    }
}
