//! The canonical global alignment of two parts that uses no forbidden cell.
//!
//! The matrices of [`super::super::global`] are computed row by row with scores and matches as
//! pairs of numbers. Few alignments need this: their parts contain cells of an earlier alignment of
//! the same pair. The rows between two kept rows are computed again during the traceback, so memory
//! grows with the square root of the number of rows.

use crate::alignment::forbidden::{ForbiddenRectangle, belts, segments};
use crate::alignment::{Cigar, Op};
use crate::score::Scoring;
use crate::seq::Code;

/// Score and matches, compared in this order.
type ScoreAndMatches = (i64, i64);

/// Value of cells that no path reaches. It is far below every score, and far from overflow.
const UNREACHABLE: ScoreAndMatches = (i64::MIN / 4, 0);

/// Bits of a cell's direction: H is the value of I or of D, and a gap starts in the cell.
const FROM_INSERTION: u8 = 1;
const FROM_DELETION: u8 = 2;
const INSERTION_STARTS: u8 = 4;
const DELETION_STARTS: u8 = 8;

/// A row of H and of I.
#[derive(Clone)]
struct ValueRow {
    h: Vec<ScoreAndMatches>,
    insertion: Vec<ScoreAndMatches>,
}

/// Two parts, and the forbidden cells in them.
pub(super) struct Detour<'a> {
    pub query: &'a [Code],
    pub target: &'a [Code],
    pub scoring: &'a Scoring,
    /// Forbidden cells, counted from the starts of the parts.
    pub forbidden: &'a [ForbiddenRectangle],
}

impl Detour<'_> {
    /// Returns the score and the columns of the alignment.
    pub(super) fn align(&self) -> (i64, Cigar) {
        let (m, n) = (self.query.len(), self.target.len());
        let step = m.isqrt().max(1);
        let walls = self.walls();
        let mut row = self.first_row();
        let mut kept = Vec::with_capacity(m / step + 1);
        for i in 1..=m {
            if (i - 1) % step == 0 {
                kept.push(row.clone());
            }
            self.advance(i, &mut row, &walls[i - 1], &mut []);
        }
        let score = row.h[n].0;
        let mut cigar = Cigar::new();
        let (mut i, mut j, mut state) = (m, n, Op::Match);
        let mut directions = Vec::new();
        for (block, row) in kept.iter().enumerate().rev() {
            let start = block * step;
            if i <= start || j == 0 {
                continue;
            }
            let mut row = row.clone();
            directions.resize((i - start) * (n + 1), 0);
            for (k, line) in directions.chunks_exact_mut(n + 1).take(i - start).enumerate() {
                self.advance(start + k + 1, &mut row, &walls[start + k], line);
            }
            while i > start && j > 0 {
                let direction = directions[(i - start - 1) * (n + 1) + j];
                match state {
                    Op::Insertion => {
                        cigar.push(1, Op::Insertion);
                        state = if direction & INSERTION_STARTS > 0 { Op::Match } else { state };
                        i -= 1;
                    }
                    Op::Deletion => {
                        cigar.push(1, Op::Deletion);
                        state = if direction & DELETION_STARTS > 0 { Op::Match } else { state };
                        j -= 1;
                    }
                    _ if direction & FROM_INSERTION > 0 => state = Op::Insertion,
                    _ if direction & FROM_DELETION > 0 => state = Op::Deletion,
                    _ => {
                        let is_match = self.scoring.substitution.is_match(self.query[i - 1], self.target[j - 1]);
                        cigar.push(1, if is_match { Op::Match } else { Op::Mismatch });
                        (i, j) = (i - 1, j - 1);
                    }
                }
            }
        }
        cigar.push(i as u32, Op::Insertion);
        cigar.push(j as u32, Op::Deletion);
        cigar.reverse();
        (score, cigar)
    }

    /// Returns for each row whether each column is forbidden. Rows of a belt share a list.
    fn walls(&self) -> Vec<std::rc::Rc<[bool]>> {
        let (m, n) = (self.query.len() as u32, self.target.len());
        let mut walls = Vec::with_capacity(self.query.len());
        for belt in belts(self.forbidden, m, []) {
            let mut columns = vec![false; n];
            for segment in segments(self.forbidden, belt.clone(), n as u32).iter().filter(|part| !part.is_free) {
                columns[segment.start as usize..segment.end as usize].fill(true);
            }
            let columns: std::rc::Rc<[bool]> = columns.into();
            walls.extend(std::iter::repeat_n(columns, belt.len()));
        }
        walls
    }

    fn first_row(&self) -> ValueRow {
        let n = self.target.len();
        let h = (0..=n as u64).map(|j| (-self.scoring.gaps.cost(j), 0)).collect();
        ValueRow { h, insertion: vec![UNREACHABLE; n + 1] }
    }

    /// Replaces row `i - 1` by row `i`. Writes the directions of its cells, unless the slice is
    /// empty.
    fn advance(&self, i: usize, row: &mut ValueRow, wall: &[bool], directions: &mut [u8]) {
        let (first, next) = (i64::from(self.scoring.gaps.first), i64::from(self.scoring.gaps.next));
        let minus = |value: ScoreAndMatches, cost: i64| (value.0 - cost, value.1);
        let substitution = &self.scoring.substitution;
        let a = self.query[i - 1];
        let ValueRow { h, insertion } = row;
        let mut diagonal = std::mem::replace(&mut h[0], (-self.scoring.gaps.cost(i as u64), 0));
        let mut deletion = UNREACHABLE;
        for (j, &b) in (1..).zip(self.target) {
            let (above, left) = (h[j], h[j - 1]);
            let opened = [minus(above, first), minus(left, first)];
            let step = (i64::from(substitution.score(a, b)), i64::from(substitution.is_match(a, b)));
            let pair = (diagonal.0 + step.0, diagonal.1 + step.1);
            diagonal = above;
            insertion[j] = opened[0].max(minus(insertion[j], next));
            deletion = opened[1].max(minus(deletion, next));
            h[j] = pair.max(insertion[j]).max(deletion);
            if let Some(direction) = directions.get_mut(j) {
                *direction = match h[j] {
                    value if value == pair => 0,
                    value if value == insertion[j] => FROM_INSERTION,
                    _ => FROM_DELETION,
                };
                *direction |= if insertion[j] == opened[0] { INSERTION_STARTS } else { 0 };
                *direction |= if deletion == opened[1] { DELETION_STARTS } else { 0 };
            }
            if wall[j - 1] {
                (h[j], insertion[j], deletion) = (UNREACHABLE, UNREACHABLE, UNREACHABLE);
            }
        }
    }
}
