//! Pins of a rectangle. At a pin, all alignments whose score is at least the best score minus a
//! slack cross the row at the same column, outside gaps. A smaller slack gives more pins.

use super::rows::SweepRows;
use super::{Corridor, RectangleResidues, windows_sweep};

/// Value for a row without a pin above or below.
const NO_INDEX: u32 = u32::MAX;

/// The pins of a rectangle, for several slacks.
#[derive(Debug, Clone, Default)]
pub(super) struct Pins {
    /// Scores of the forward sweep in all windows, for any alignment and for alignments that end in
    /// a gap.
    kept: SweepRows,
    /// Offset of each row's window in `kept`.
    offsets: Vec<usize>,
    /// Column where the best alignment crosses each row.
    columns: Vec<u32>,
    /// Best score minus the score of the best alignment that crosses the row elsewhere or in a gap.
    margins: Vec<i32>,
    /// Pins for increasing slacks.
    pins_by_slack: [SlackPins; MAX_SLACKS],
    /// Number of elements of `pins_by_slack` in use.
    used: usize,
}

/// Maximum number of slacks with stored pins. The slacks are 0, one gap opening, two openings and
/// so on.
pub(super) const MAX_SLACKS: usize = 6;

/// The pins of one slack.
#[derive(Debug, Clone, Default)]
pub(super) struct SlackPins {
    slack: i32,
    /// Row of the last pin at or above each row.
    upper: Vec<u32>,
    /// Row of the first pin at or below each row.
    lower: Vec<u32>,
    /// Number of rows before each row in which no residue pair connects two adjacent pins.
    breaks: Vec<u32>,
    /// Number of identities before each row, counted in the rows with such a residue pair.
    identities: Vec<u32>,
}

impl Pins {
    /// Finds the pins by a forward and a backward sweep over the windows. `score` is the best
    /// score. The windows must contain all alignments whose score is at least `score - slack`.
    pub(super) fn find(
        &mut self,
        pair: &RectangleResidues,
        windows: &[[u32; 2]],
        rows: &mut SweepRows,
        score: i32,
        slack: i32,
    ) {
        let sizes = [pair.first.len(), pair.second.len()];
        let Pins { kept, offsets, columns, margins, .. } = self;
        kept.best.clear();
        kept.gap.clear();
        offsets.clear();
        rows.sweep(windows_sweep(pair, windows, false), |_, [from, to], best, gap| {
            offsets.push(kept.best.len());
            kept.best.extend_from_slice(&best[from..=to]);
            kept.gap.extend_from_slice(&gap[from..=to]);
        });
        columns.clear();
        columns.resize(sizes[0] + 1, 0);
        margins.clear();
        margins.resize(sizes[0] + 1, 0);
        let open = pair.gaps.open;
        rows.sweep(windows_sweep(pair, windows, true), |row, [from, to], best, gap| {
            let row = sizes[0] - row;
            let at = offsets[row]..offsets[row] + (to + 1 - from);
            let forth = kept.best[at.clone()].iter().zip(&kept.gap[at]);
            let back = best[from..=to].iter().zip(&gap[from..=to]).rev();
            let (mut highest, mut second, mut index) = (i32::MIN, i32::MIN, 0);
            for (column, ((cell, gap), (other, other_gap))) in forth.zip(back).enumerate() {
                let (closed, in_gap) = (cell + other, gap + other_gap + open);
                index = if closed > highest { column } else { index };
                second = second.max(in_gap).max(highest.min(closed));
                highest = highest.max(closed);
            }
            (columns[row], margins[row]) = ((sizes[1] - to + index) as u32, score.saturating_sub(second));
        });
        self.find_by_slack(pair, slack);
    }

    /// Copies the pins of a corridor that contains every row.
    pub(super) fn set(&mut self, pair: &RectangleResidues, start: [u32; 2], corridor: &Corridor) {
        let Pins { columns, margins, .. } = self;
        columns.clear();
        columns.resize(pair.first.len() + 1, 0);
        margins.clear();
        margins.resize(pair.first.len() + 1, 0);
        for (row, crossing) in &corridor.rows {
            let index = (row - start[0]) as usize;
            (columns[index], margins[index]) = (crossing.column.saturating_sub(start[1]), crossing.margin);
        }
        self.find_by_slack(pair, corridor.slack);
    }

    fn find_by_slack(&mut self, pair: &RectangleResidues, slack: i32) {
        let Pins { columns, margins, pins_by_slack, .. } = self;
        let open = pair.gaps.open;
        self.used = 0;
        for (openings, pins) in
            (0..).zip(pins_by_slack).take_while(|&(openings, _)| openings == 0 || (openings - 1) * open < slack)
        {
            pins.slack = slack.min(openings * open);
            pins.find(pair, columns, margins);
            self.used += 1;
        }
    }

    /// Returns the pins with the smallest slack that covers a shortfall, or `None` if no slack is
    /// that large.
    pub(super) fn for_shortfall(&self, short: i32) -> Option<&SlackPins> {
        self.pins_by_slack[..self.used].iter().find(|pins| pins.slack >= short)
    }

    /// Returns the number of identities of a part, if its corners are pins and every row between
    /// them is a residue pair that connects two pins.
    pub(super) fn straight_identities(&self, pins: &SlackPins, from: [usize; 2], to: [usize; 2]) -> Option<u32> {
        let is_pin = |[row, column]: [usize; 2]| pins.upper[row] == row as u32 && self.columns[row] == column as u32;
        let straight = is_pin(from) && is_pin(to) && pins.breaks[from[0]] == pins.breaks[to[0]];
        straight.then(|| pins.identities[to[0]] - pins.identities[from[0]])
    }

    /// Returns the pin in a row. `row` is [`NO_INDEX`] if there is none.
    pub(super) fn pin(&self, row: u32) -> Option<[usize; 2]> {
        (row != NO_INDEX).then(|| [row as usize, self.columns[row as usize] as usize])
    }
}

impl SlackPins {
    fn find(&mut self, pair: &RectangleResidues, columns: &[u32], margins: &[i32]) {
        let SlackPins { slack, upper, lower, breaks, identities } = self;
        let is_pin = |row: usize| margins[row] > *slack;
        let rows = columns.len();
        [&mut *upper, lower, breaks, identities].into_iter().for_each(|list| list.clear());
        let (mut last, mut broken, mut same) = (NO_INDEX, 0, 0);
        for row in 0..rows {
            last = if is_pin(row) { row as u32 } else { last };
            upper.push(last);
            breaks.push(broken);
            identities.push(same);
            if row + 1 < rows && is_pin(row) && is_pin(row + 1) && columns[row + 1] == columns[row] + 1 {
                same += u32::from(pair.first[row] == pair.second[columns[row] as usize]);
            } else {
                broken += 1;
            }
        }
        lower.resize(rows, NO_INDEX);
        let mut next = NO_INDEX;
        for row in (0..rows).rev() {
            next = if is_pin(row) { row as u32 } else { next };
            lower[row] = next;
        }
    }

    /// Returns the row of the last pin at or above a row, and the row of the first pin at or below
    /// it.
    pub(super) fn rows_around(&self, row: usize) -> [u32; 2] {
        [self.upper[row], self.lower[row]]
    }
}
