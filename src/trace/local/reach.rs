//! Which cells the alignments of known score visit, from where one begins to where it ends: along the values of
//! [`super::anchored`], wherever a value is that of a neighbour and what lies between.

use super::anchored::{Anchor, Gains, Values};
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
    let (cells, lanes, arrays) = (&*cells.at_least(lines), *lanes, *arrays);
    let shift = lanes.trailing_zeros();
    let kept = |row: usize, column: usize, what: usize| {
        let strip = strips.get(row >> shift)?;
        let below = row & (lanes - 1);
        let step = (column + below).checked_sub(strip.from).filter(|&step| step < strip.steps)?;
        let value = cells[strip.base + ((step * arrays + what) << shift) + lanes - 1 - below].number();
        Some(value).filter(|&value| value > strip.dead)
    };
    let (first, next_cost) = (i64::from(at.scoring.gaps.first), i64::from(at.scoring.gaps.next));
    let linear = at.scoring.gaps.is_linear();
    let Frontiers { row: now, next } = frontiers;
    now.clear();
    now.push((begin[1], H));
    let mut diagonals = [0, 0];
    let mut row = begin[0];
    loop {
        let gain = gains.of[usize::from(at.query[row])];
        next.clear();
        let mut add = |column: usize, states: u8| match next.last_mut() {
            Some((last, all)) if *last == column => *all |= states,
            // A cell's diagonal neighbour came before what lies above the next cell.
            _ => next.push((column, states)),
        };
        let mut from_right: Option<(usize, u8)> = None;
        let mut place = 0;
        loop {
            let (column, mut states) = match (from_right, now.get(place)) {
                (Some(right), Some(&(column, _))) if right.0 > column => right,
                (Some(right), Some(&(column, states))) if right.0 == column => {
                    place += 1;
                    (column, states | right.1)
                }
                (_, Some(&cell)) => {
                    place += 1;
                    cell
                }
                (Some(right), None) => right,
                (None, None) => break,
            };
            from_right = None;
            let diagonal = (begin[0] - row) as i64 - (begin[1] - column) as i64;
            diagonals = [diagonals[0].min(diagonal), diagonals[1].max(diagonal)];
            let mut to_right = 0;
            let mut diagonal_too = false;
            if states & H != 0 {
                let value = kept(row, column, OF_CELL)?;
                let score = at.scoring.substitution.score(at.query[row], at.target[column]);
                let rest = value - (i64::from(score) - gain);
                if row < at.ends[0] && column < at.ends[1] && rest == -gains.query[row] {
                    return Some(Reached { end: [row, column], diagonals });
                }
                diagonal_too = row > 0 && column > 0 && kept(row - 1, column - 1, OF_CELL) == Some(rest);
                if linear {
                    if row > 0 && kept(row - 1, column, OF_CELL) == Some(value + first + gain) {
                        add(column, H);
                    }
                    if column > 0 && kept(row, column - 1, OF_CELL) == Some(value + first) {
                        to_right |= H;
                    }
                } else {
                    if kept(row, column, OF_INSERTION) == Some(value) {
                        states |= INSERTION;
                    }
                    if kept(row, column, OF_DELETION) == Some(value) {
                        states |= DELETION;
                    }
                }
            }
            if states & INSERTION != 0
                && row > 0
                && let Some(value) = kept(row, column, OF_INSERTION)
            {
                let leaves = kept(row - 1, column, OF_CELL) == Some(value + gain + first);
                let extends = kept(row - 1, column, OF_INSERTION) == Some(value + gain + next_cost);
                let states = (u8::from(leaves) * H) | (u8::from(extends) * INSERTION);
                if states != 0 {
                    add(column, states);
                }
            }
            if states & DELETION != 0
                && column > 0
                && let Some(value) = kept(row, column, OF_DELETION)
            {
                let leaves = kept(row, column - 1, OF_CELL) == Some(value + first);
                let extends = kept(row, column - 1, OF_DELETION) == Some(value + next_cost);
                to_right |= (u8::from(leaves) * H) | (u8::from(extends) * DELETION);
            }
            if diagonal_too {
                add(column - 1, H);
            }
            if to_right != 0 {
                from_right = Some((column - 1, to_right));
            }
        }
        if next.is_empty() {
            return None;
        }
        std::mem::swap(now, next);
        row -= 1;
    }
}
