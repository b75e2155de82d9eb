//! Pins: rows that all alignments cross at one column, not in a gap, if they score no less than the best one by more than
//! some slack. The less slack, the more pins.

use super::rows::Rows;
use super::{Corridor, Pair, windows_sweep};

/// No column.
const NONE: u32 = u32::MAX;

/// The pins of a rectangle.
#[derive(Debug, Clone, Default)]
pub(super) struct Pins {
    /// Scores of the forward sweep in all windows: of any alignments, and in gaps.
    kept: Rows,
    /// Where each row's window is in them.
    offsets: Vec<usize>,
    /// Where the best alignments cross each row.
    columns: Vec<u32>,
    /// By how much the best alignments of those that cross it elsewhere, or in a gap, score less.
    margins: Vec<i32>,
    /// For slacks that rise.
    levels: [Level; LEVELS],
    /// How many slacks there are.
    used: usize,
}

/// Slacks that pins are found for: none, an opening, two and so on.
pub(super) const LEVELS: usize = 6;

/// The pins of one slack.
#[derive(Debug, Clone, Default)]
pub(super) struct Level {
    slack: i32,
    /// The row of the last pin up to each row.
    upper: Vec<u32>,
    /// The row of the first pin from each row on.
    lower: Vec<u32>,
    /// Rows before each one that are not a pair of residues between two pins.
    breaks: Vec<u32>,
    /// Identities of the others.
    identities: Vec<u32>,
}

impl Pins {
    /// Finds them: of alignments in the windows, the best of which has this score. In the windows are all that score no less
    /// than it by more than the slack.
    pub(super) fn find(&mut self, pair: &Pair, windows: &[[u32; 2]], rows: &mut Rows, score: i32, slack: i32) {
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
            let (mut most, mut second, mut place) = (i32::MIN, i32::MIN, 0);
            for (column, ((cell, gap), (other, other_gap))) in forth.zip(back).enumerate() {
                let (closed, in_gap) = (cell + other, gap + other_gap + open);
                place = if closed > most { column } else { place };
                second = second.max(in_gap).max(most.min(closed));
                most = most.max(closed);
            }
            (columns[row], margins[row]) = ((sizes[1] - to + place) as u32, score.saturating_sub(second));
        });
        self.find_levels(pair, slack);
    }

    /// Those that a corridor tells.
    pub(super) fn set(&mut self, pair: &Pair, start: [u32; 2], corridor: &Corridor) {
        let Pins { columns, margins, .. } = self;
        columns.clear();
        columns.resize(pair.first.len() + 1, 0);
        margins.clear();
        margins.resize(pair.first.len() + 1, 0);
        for (row, crossing) in &corridor.rows {
            let place = (row - start[0]) as usize;
            (columns[place], margins[place]) = (crossing.column.saturating_sub(start[1]), crossing.margin);
        }
        self.find_levels(pair, corridor.slack);
    }

    fn find_levels(&mut self, pair: &Pair, slack: i32) {
        let Pins { columns, margins, levels, .. } = self;
        let open = pair.gaps.open;
        self.used = 0;
        for (openings, level) in
            (0..).zip(levels).take_while(|&(openings, _)| openings == 0 || (openings - 1) * open < slack)
        {
            level.slack = slack.min(openings * open);
            level.find(pair, columns, margins);
            self.used += 1;
        }
    }

    /// The pins of parts that fall short by so much.
    pub(super) fn of(&self, short: i32) -> Option<&Level> {
        self.levels[..self.used].iter().find(|level| level.slack >= short)
    }

    /// Identities of a part that falls so short, if its corners are pins and all rows between them pairs of residues from pin
    /// to pin.
    pub(super) fn straight(&self, level: &Level, from: [usize; 2], to: [usize; 2]) -> Option<u32> {
        let is_pin = |[row, column]: [usize; 2]| level.upper[row] == row as u32 && self.columns[row] == column as u32;
        let straight = is_pin(from) && is_pin(to) && level.breaks[from[0]] == level.breaks[to[0]];
        straight.then(|| level.identities[to[0]] - level.identities[from[0]])
    }

    /// The pin of a row that has one.
    pub(super) fn pin(&self, row: u32) -> Option<[usize; 2]> {
        (row != NONE).then(|| [row as usize, self.columns[row as usize] as usize])
    }
}

impl Level {
    fn find(&mut self, pair: &Pair, columns: &[u32], margins: &[i32]) {
        let Level { slack, upper, lower, breaks, identities } = self;
        let is_pin = |row: usize| margins[row] > *slack;
        let rows = columns.len();
        [&mut *upper, lower, breaks, identities].into_iter().for_each(|list| list.clear());
        let (mut last, mut broken, mut same) = (NONE, 0, 0);
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
        lower.resize(rows, NONE);
        let mut next = NONE;
        for row in (0..rows).rev() {
            next = if is_pin(row) { row as u32 } else { next };
            lower[row] = next;
        }
    }

    /// The rows of the last pin up to a row, and of the first from it on.
    pub(super) fn around(&self, row: usize) -> [u32; 2] {
        [self.upper[row], self.lower[row]]
    }
}
