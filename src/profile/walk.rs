//! The best alignment of two profiles in memory for a few rows: Myers and Miller's recursion.
//!
//! The first profile is cut in half; where the best alignment crosses the cut is where the rows from above and from below add up to
//! most. Both rectangles that remain are aligned in the same way. Which of several best alignments is found follows from the
//! recursion: ties are ClustalW's.

use rayon::prelude::*;

use super::divided::{Crossing, Divided};
use super::pass::{Problem, Rectangle, Room, Row, backward, forward};
use super::path::{Pieces, Step};
use crate::simd::InstructionSet;

/// Cells of a rectangle whose halves are given to threads of their own.
const SHARED: usize = 1 << 18;

/// What the recursion needs.
pub(super) struct Walk<'a> {
    pub(super) problem: &'a Problem<'a>,
    pub(super) level: InstructionSet,
    /// Whether to give up.
    pub(super) stopped: &'a (dyn Fn() -> bool + Sync),
}

/// Room for one thread.
#[derive(Default)]
struct Rooms {
    above: Row,
    below: Row,
    first: Room,
    second: Room,
}

impl Walk<'_> {
    /// The path of the best alignment; something else once this is stopped. Runs on the threads of the pool that it is called in.
    pub(super) fn path(&self) -> Vec<Step> {
        self.rest(&Divided::default())
    }

    /// The same where rectangles are divided already.
    ///
    /// # Panics
    /// If they cannot be so ([`Divided::check`]).
    pub(super) fn rest(&self, divided: &Divided) -> Vec<Step> {
        let [m, n] = self.problem.columns;
        let whole = Rectangle { a: 0, b: 0, m, n, opens: false, closes: false };
        // The last is the next; a gap between two rectangles has no number.
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
        let part = |rooms: &mut Rooms, part: &Option<Rectangle>| {
            let mut pieces = Pieces::default();
            match *part {
                Some(rectangle) => self.align(rectangle, &mut pieces, rooms),
                None => pieces.first(2),
            }
            pieces
        };
        let parts: Vec<Pieces> = left.par_iter().with_min_len(4).map_init(Rooms::default, part).collect();
        let mut pieces = Pieces::default();
        parts.into_iter().for_each(|part| pieces.append(part));
        pieces.path()
    }

    fn align(&self, rectangle: Rectangle, pieces: &mut Pieces, rooms: &mut Rooms) {
        let Rectangle { m, n, .. } = rectangle;
        match (m, n) {
            (_, 0) => return pieces.first(m),
            (0, _) => return pieces.second(n),
            (1, _) => return self.align_column(rectangle, pieces),
            _ => {}
        }
        if (self.stopped)() {
            return;
        }
        let is_shared = m * n >= SHARED;
        let Rooms { above, below, first, second } = rooms;
        let mut down = || forward(self.level, self.problem, rectangle, above, first);
        let mut up = || backward(self.level, self.problem, rectangle, below, second);
        if is_shared {
            rayon::join(down, up);
        } else {
            down();
            up();
        }
        let crossing = self.crossing(rectangle, above, below);
        let ([upper, lower], in_gap) = (rectangle.divided(crossing), crossing.in_gap);
        if is_shared {
            let mut behind = Pieces::default();
            let ahead = || self.align(upper, pieces, rooms);
            rayon::join(ahead, || self.align(lower, &mut behind, &mut Rooms::default()));
            if in_gap {
                pieces.first(2);
            }
            pieces.append(behind);
        } else {
            self.align(upper, pieces, rooms);
            if in_gap {
                pieces.first(2);
            }
            self.align(lower, pieces, rooms);
        }
    }

    fn crossing(&self, rectangle: Rectangle, above: &Row, below: &Row) -> Crossing {
        let Rectangle { a, b, m, n, .. } = rectangle;
        let middle = m / 2;
        let mut best = above.best[0] + below.best[0];
        let mut crossing = Crossing { column: 0, in_gap: false };
        for j in 0..=n {
            let score = above.best[j] + below.best[j];
            // The score from below with an open gap, with what opens it.
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
                crossing = Crossing { column: j, in_gap: true };
            }
        }
        crossing
    }

    /// One column of the first profile: it stands at one of the second's, or before all of them in a gap.
    fn align_column(&self, Rectangle { a, b, n, opens, .. }: Rectangle, pieces: &mut Pieces) {
        let problem = self.problem;
        let alone = if opens { problem.open_second(a + 1, b) + problem.extend_second(a + 1, b) } else { 0 };
        let mut best = -alone - problem.gap_first(a + 1, b + 1, n);
        let mut place = 0;
        for j in 1..=n {
            let gaps = problem.gap_first(a, b + 1, j - 1) + problem.gap_first(a + 1, b + j + 1, n - j);
            let score = problem.scores.score(a, b + j - 1) - gaps;
            if score > best {
                best = score;
                place = j;
            }
        }
        if place == 0 {
            pieces.second(n);
            pieces.first(1);
        } else {
            pieces.second(place - 1);
            pieces.both();
            pieces.second(n - place);
        }
    }
}
