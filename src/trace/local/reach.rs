//! The cells that alignments of known score visit, from their common start to their end. The values
//! of [`super::anchored`] identify them: a step is part of such an alignment if the neighbour's
//! value and the step's score give the cell's value.

use super::anchored::{AnchoredPair, AnchoredStrip, AnchoredValues, Gains};
use crate::score::difference::Element;

/// States of a cell, as bits of a set.
const H: u8 = 1;
const INSERTION: u8 = 2;
const DELETION: u8 = 4;

/// Indices of a cell's values in [`AnchoredValues`].
const CELL_VALUE: usize = 0;
const INSERTION_VALUE: usize = 1;
const DELETION_VALUE: usize = 2;

/// Cells of one row in decreasing order of columns, with their states.
type Frontier = Vec<(usize, u8)>;

/// Buffers for two rows.
#[derive(Debug, Default)]
pub(super) struct Frontiers {
    row: Frontier,
    next: Frontier,
}

/// The first end, in the order of the rule in [`crate::trace`], of the alignments that start with a
/// given pair of symbols.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reached {
    /// Row and column of the last two symbols.
    pub end: [usize; 2],
    /// Least and greatest diagonal that the alignments visit. A diagonal is a number of query
    /// symbols minus a number of target symbols, counted from the start.
    pub diagonals: [i64; 2],
}

/// Values that a sweep stored.
struct StoredValues<'a, E> {
    cells: &'a [E],
    strips: &'a [AnchoredStrip],
    lanes: usize,
    arrays: usize,
    /// Binary logarithm of the number of lanes.
    shift: u32,
}

impl<E: Element> StoredValues<'_, E> {
    /// Returns a value of a cell, if an alignment with the score may visit the cell.
    #[inline(always)]
    fn value(&self, row: usize, column: usize, part: usize) -> Option<i64> {
        let strip = self.strips.get(row >> self.shift)?;
        let below = row & (self.lanes - 1);
        let step = (column + below).checked_sub(strip.from).filter(|&step| step < strip.steps)?;
        let index = strip.base + ((step * self.arrays + part) << self.shift) + self.lanes - 1 - below;
        Some(self.cells[index].number()).filter(|&value| value > strip.dead)
    }
}

/// States in which alignments reach the neighbours of a cell, as sets of bits.
#[derive(Default)]
struct PredecessorStates {
    /// States of the cell above.
    above: u8,
    /// States of the cell to the left, in the same row.
    left: u8,
    /// Whether an alignment reaches the diagonal neighbour, in state H.
    has_diagonal: bool,
}

/// Next cells of the alignments that visit a cell.
enum Onward {
    /// An alignment ends at this cell.
    End,
    To(PredecessorStates),
}

/// Returns the next cells after a cell that is visited in these states. Returns `None` if the
/// cell's value was not stored.
#[inline(always)]
fn next_cells<E: Element>(
    at: &AnchoredPair,
    gains: &Gains,
    kept: &StoredValues<'_, E>,
    [row, column]: [usize; 2],
    mut states: u8,
) -> Option<Onward> {
    let (first, next_cost) = (i64::from(at.scoring.gaps.first), i64::from(at.scoring.gaps.next));
    let gain = gains.codes[usize::from(at.query[row])];
    let mut to = PredecessorStates::default();
    if states & H != 0 {
        let value = kept.value(row, column, CELL_VALUE)?;
        let score = at.scoring.substitution.score(at.query[row], at.target[column]);
        let rest = value - (i64::from(score) - gain);
        if row < at.ends[0] && column < at.ends[1] && rest == -gains.query[row] {
            return Some(Onward::End);
        }
        to.has_diagonal = row > 0 && column > 0 && kept.value(row - 1, column - 1, CELL_VALUE) == Some(rest);
        if at.scoring.gaps.is_linear() {
            if row > 0 && kept.value(row - 1, column, CELL_VALUE) == Some(value + first + gain) {
                to.above |= H;
            }
            if column > 0 && kept.value(row, column - 1, CELL_VALUE) == Some(value + first) {
                to.left |= H;
            }
        } else {
            if kept.value(row, column, INSERTION_VALUE) == Some(value) {
                states |= INSERTION;
            }
            if kept.value(row, column, DELETION_VALUE) == Some(value) {
                states |= DELETION;
            }
        }
    }
    if states & INSERTION != 0
        && row > 0
        && let Some(value) = kept.value(row, column, INSERTION_VALUE)
    {
        let leaves = kept.value(row - 1, column, CELL_VALUE) == Some(value + gain + first);
        let extends = kept.value(row - 1, column, INSERTION_VALUE) == Some(value + gain + next_cost);
        to.above |= (u8::from(leaves) * H) | (u8::from(extends) * INSERTION);
    }
    if states & DELETION != 0
        && column > 0
        && let Some(value) = kept.value(row, column, DELETION_VALUE)
    {
        let leaves = kept.value(row, column - 1, CELL_VALUE) == Some(value + first);
        let extends = kept.value(row, column - 1, DELETION_VALUE) == Some(value + next_cost);
        to.left |= (u8::from(leaves) * H) | (u8::from(extends) * DELETION);
    }
    Some(Onward::To(to))
}

/// Returns the next cell of a row. This is either the cell reached from its right neighbour or the
/// first cell of `row` at `index`. If both are the same cell, it merges their states.
#[inline(always)]
fn take_next(from_right: Option<(usize, u8)>, row: &Frontier, index: &mut usize) -> Option<(usize, u8)> {
    match (from_right, row.get(*index)) {
        (Some(right), Some(&(column, _))) if right.0 > column => Some(right),
        (Some(right), Some(&(column, states))) if right.0 == column => {
            *index += 1;
            Some((column, states | right.1))
        }
        (_, Some(&cell)) => {
            *index += 1;
            Some(cell)
        }
        (right, None) => right,
    }
}

/// Follows all alignments with the score from their first two symbols at `start` (row and column).
/// Returns the first end in the order of the rule: the end in the last row, and within that row in
/// the last column. Returns `None` if no path leads to an end.
pub(super) fn find_end<E: Element>(
    at: &AnchoredPair,
    gains: &Gains,
    values: &mut AnchoredValues<E>,
    start: [usize; 2],
    frontiers: &mut Frontiers,
) -> Option<Reached> {
    let lines = values.strips.last().map_or(0, |last| last.base + last.steps * values.arrays * values.lanes);
    let AnchoredValues { cells, strips, lanes, arrays, .. } = values;
    let (lanes, arrays) = (*lanes, *arrays);
    let kept = StoredValues { cells: cells.at_least(lines), strips, lanes, arrays, shift: lanes.trailing_zeros() };
    let Frontiers { row: now, next } = frontiers;
    now.clear();
    now.push((start[1], H));
    let mut diagonals = [0, 0];
    let mut row = start[0];
    loop {
        next.clear();
        let mut add = |column: usize, states: u8| match next.last_mut() {
            Some((last, all)) if *last == column => *all |= states,
            // The cell's diagonal neighbour was added earlier than the cell above its left
            // neighbour, so the order holds.
            _ => next.push((column, states)),
        };
        let mut from_right: Option<(usize, u8)> = None;
        let mut index = 0;
        while let Some((column, states)) = take_next(from_right, now, &mut index) {
            let diagonal = (start[0] - row) as i64 - (start[1] - column) as i64;
            diagonals = [diagonals[0].min(diagonal), diagonals[1].max(diagonal)];
            let to = match next_cells(at, gains, &kept, [row, column], states)? {
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
