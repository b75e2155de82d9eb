//! Which cells the alignments of known score visit, from where one begins to where it ends: along the values of
//! [`super::anchored`], wherever a value is that of a neighbour and what lies between.

use super::anchored::{Anchor, Gains, Strip, Values};
use crate::score::difference::Element;

/// States of a cell.
const H: u8 = 1;
const INSERTION: u8 = 2;
const DELETION: u8 = 4;

/// What [`Values`] keep of a cell.
const OF_CELL: usize = 0;
const OF_INSERTION: usize = 1;
const OF_DELETION: usize = 2;

/// Cells of one row, by falling column, with their states.
type Frontier = Vec<(usize, u8)>;

/// Room for two rows.
#[derive(Debug, Default)]
pub(super) struct Frontiers {
    row: Frontier,
    next: Frontier,
}

/// Where the alignments that begin with some two symbols end first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reached {
    /// Row and column of the last two symbols.
    pub end: [usize; 2],
    /// The least and the greatest diagonal (query symbols less target symbols, from the beginning) on the way.
    pub diagonals: [i64; 2],
}

/// The values that a sweep kept.
struct Kept<'a, E> {
    cells: &'a [E],
    strips: &'a [Strip],
    lanes: usize,
    arrays: usize,
    /// Binary logarithm of the lanes.
    shift: u32,
}

impl<E: Element> Kept<'_, E> {
    /// Returns one of a cell's values, if an alignment with the score may visit the cell.
    #[inline(always)]
    fn value(&self, row: usize, column: usize, what: usize) -> Option<i64> {
        let strip = self.strips.get(row >> self.shift)?;
        let below = row & (self.lanes - 1);
        let step = (column + below).checked_sub(strip.from).filter(|&step| step < strip.steps)?;
        let place = strip.base + ((step * self.arrays + what) << self.shift) + self.lanes - 1 - below;
        Some(self.cells[place].number()).filter(|&value| value > strip.dead)
    }
}

/// States in which alignments come to a cell's neighbours, or none.
#[derive(Default)]
struct Neighbours {
    /// Of the cell above.
    above: u8,
    /// Of the cell to the left, in the same row.
    left: u8,
    /// Whether they come to the one on the diagonal, in H.
    has_diagonal: bool,
}

/// Where alignments go from a cell.
enum Onward {
    /// One of them ends here.
    End,
    To(Neighbours),
}

/// Finds the way on from a cell that is visited in these states. `None` if its value was not kept.
#[inline(always)]
fn onward<E: Element>(
    at: &Anchor,
    gains: &Gains,
    kept: &Kept<'_, E>,
    [row, column]: [usize; 2],
    mut states: u8,
) -> Option<Onward> {
    let (first, next_cost) = (i64::from(at.scoring.gaps.first), i64::from(at.scoring.gaps.next));
    let gain = gains.of[usize::from(at.query[row])];
    let mut to = Neighbours::default();
    if states & H != 0 {
        let value = kept.value(row, column, OF_CELL)?;
        let score = at.scoring.substitution.score(at.query[row], at.target[column]);
        let rest = value - (i64::from(score) - gain);
        if row < at.ends[0] && column < at.ends[1] && rest == -gains.query[row] {
            return Some(Onward::End);
        }
        to.has_diagonal = row > 0 && column > 0 && kept.value(row - 1, column - 1, OF_CELL) == Some(rest);
        if at.scoring.gaps.is_linear() {
            if row > 0 && kept.value(row - 1, column, OF_CELL) == Some(value + first + gain) {
                to.above |= H;
            }
            if column > 0 && kept.value(row, column - 1, OF_CELL) == Some(value + first) {
                to.left |= H;
            }
        } else {
            if kept.value(row, column, OF_INSERTION) == Some(value) {
                states |= INSERTION;
            }
            if kept.value(row, column, OF_DELETION) == Some(value) {
                states |= DELETION;
            }
        }
    }
    if states & INSERTION != 0
        && row > 0
        && let Some(value) = kept.value(row, column, OF_INSERTION)
    {
        let leaves = kept.value(row - 1, column, OF_CELL) == Some(value + gain + first);
        let extends = kept.value(row - 1, column, OF_INSERTION) == Some(value + gain + next_cost);
        to.above |= (u8::from(leaves) * H) | (u8::from(extends) * INSERTION);
    }
    if states & DELETION != 0
        && column > 0
        && let Some(value) = kept.value(row, column, OF_DELETION)
    {
        let leaves = kept.value(row, column - 1, OF_CELL) == Some(value + first);
        let extends = kept.value(row, column - 1, OF_DELETION) == Some(value + next_cost);
        to.left |= (u8::from(leaves) * H) | (u8::from(extends) * DELETION);
    }
    Some(Onward::To(to))
}

/// Takes the next cell of a row: the one that is reached from its right, or the first of `row` from
/// `place` on, or both if they are the same.
#[inline(always)]
fn take_next(from_right: Option<(usize, u8)>, row: &Frontier, place: &mut usize) -> Option<(usize, u8)> {
    match (from_right, row.get(*place)) {
        (Some(right), Some(&(column, _))) if right.0 > column => Some(right),
        (Some(right), Some(&(column, states))) if right.0 == column => {
            *place += 1;
            Some((column, states | right.1))
        }
        (_, Some(&cell)) => {
            *place += 1;
            Some(cell)
        }
        (right, None) => right,
    }
}

/// Follows all alignments with the score from their first two symbols, at this row and column: to the first end in the rule's
/// order, which is the last row's, and there the last column's. None if there is no way to one.
pub(super) fn follow<E: Element>(
    at: &Anchor,
    gains: &Gains,
    values: &mut Values<E>,
    begin: [usize; 2],
    frontiers: &mut Frontiers,
) -> Option<Reached> {
    let lines = values.strips.last().map_or(0, |last| last.base + last.steps * values.arrays * values.lanes);
    let Values { cells, strips, lanes, arrays, .. } = values;
    let (lanes, arrays) = (*lanes, *arrays);
    let kept = Kept { cells: cells.at_least(lines), strips, lanes, arrays, shift: lanes.trailing_zeros() };
    let Frontiers { row: now, next } = frontiers;
    now.clear();
    now.push((begin[1], H));
    let mut diagonals = [0, 0];
    let mut row = begin[0];
    loop {
        next.clear();
        let mut add = |column: usize, states: u8| match next.last_mut() {
            Some((last, all)) if *last == column => *all |= states,
            // A cell's diagonal neighbour came before what lies above the next cell.
            _ => next.push((column, states)),
        };
        let mut from_right: Option<(usize, u8)> = None;
        let mut place = 0;
        while let Some((column, states)) = take_next(from_right, now, &mut place) {
            let diagonal = (begin[0] - row) as i64 - (begin[1] - column) as i64;
            diagonals = [diagonals[0].min(diagonal), diagonals[1].max(diagonal)];
            let to = match onward(at, gains, &kept, [row, column], states)? {
                Onward::End => return Some(Reached { end: [row, column], diagonals }),
                Onward::To(to) => to,
            };
            if to.above != 0 {
                add(column, to.above);
            }
            if to.has_diagonal {
                add(column - 1, H);
            }
            from_right = (to.left != 0).then(|| (column - 1, to.left));
        }
        if next.is_empty() {
            return None;
        }
        std::mem::swap(now, next);
        row -= 1;
    }
}
