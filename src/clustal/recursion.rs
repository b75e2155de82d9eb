//! ClustalW's recursion within the rectangle of a pair, restricted to cells that the recursion can
//! reach.
//!
//! The recursion computes exactly the result of [`super::oracle`], including the choices among
//! equal scores, but visits few cells. The best local score before a cell plus the best local score
//! after it bounds the score of any alignment through the cell. Both local passes give, for some
//! rows, the columns where this sum is at least the best score S minus a slack. These columns form
//! a [`Corridor`].
//!
//! Within the corridor, two sweeps find pins. A pin is a row that all alignments with a score of at
//! least S - slack cross at the same column (`pins`). With pins, parts of the recursion need not be
//! swept as a whole. If the middle row of a part has a pin, the alignment crosses the row there.
//! Otherwise, the crossing is found by one sweep from the nearest pin above and one from the
//! nearest pin below.
//!
//! A slack is needed because the recursion does not always follow the best alignment. When a gap in
//! the second sequence crosses the middle of a part, the recursion first removes its two middle
//! rows. Gaps next to the removed rows then open for free, in either sequence. The best alignment
//! of a part may therefore differ from the best alignment of the whole. Each part records, for both
//! corners, a shortfall: an upper bound on the difference between S and the score of the chosen
//! alignment. It is 0 at a pin. Next to a removed gap it is one opening more than that of the
//! parent. If the shortfall exceeds the slack, the recursion runs without a corridor.

mod pins;
mod rows;

use super::ClustalCosts;
use super::costs::SIZE;
use super::oracle::ClustalGaps;
use crate::seq::Code;
use pins::Pins;
use rows::{PartSweep, SweepRows};

/// Maximum number of corridor cells for which the forward sweep is stored: half a gigabyte.
const MAX_CELLS: u64 = 1 << 26;

/// Columns in which alignments cross some rows. It covers all alignments whose score is at least
/// the best score minus the slack.
#[derive(Debug, Clone, Default)]
pub struct Corridor {
    /// Allowed difference to the best score.
    pub slack: i32,
    /// Crossings, each with the number of rows before it, in increasing order.
    pub rows: Vec<(u32, CorridorCrossing)>,
    /// Whether `rows` contains every row of the alignment, with margins.
    pub every_row: bool,
}

/// Columns in which alignments cross one row.
#[derive(Debug, Clone, Copy, Default)]
pub struct CorridorCrossing {
    /// Smallest and largest number of columns before a crossing.
    pub columns: [u32; 2],
    /// Number of columns before the crossing of the best alignment.
    pub column: u32,
    /// Best score minus the score of the best alignment that crosses the row elsewhere or inside a
    /// gap. If this difference exceeds the slack, any value above the slack may be stored.
    pub margin: i32,
}

/// A pair of sequences and the rectangle of its best local alignment.
#[derive(Debug, Clone, Copy)]
pub struct LocalRectangle<'a> {
    /// The first sequence.
    pub first: &'a [Code],
    /// The second sequence.
    pub second: &'a [Code],
    /// Score of the local alignment, above 0.
    pub score: i32,
    /// Start in both sequences: the number of residues before the alignment.
    pub start: [u32; 2],
    /// End (exclusive) in both sequences.
    pub end: [u32; 2],
}

/// Computes identities by the recursion and reuses its memory for each pair.
#[derive(Debug, Clone, Default)]
pub struct ClustalRecursion {
    head: SweepRows,
    tail: SweepRows,
    /// First and last column of the window of each row of the rectangle, and of one more row.
    windows: Vec<[u32; 2]>,
    pins: Pins,
    /// Parts still to be computed.
    parts: Vec<RecursionPart>,
}

/// A part of the rectangle that the recursion visits.
#[derive(Debug, Clone, Copy)]
struct RecursionPart {
    /// Residues of the rectangle before the part, in both sequences.
    at: [usize; 2],
    /// Number of residues in the part, in both sequences.
    sizes: [usize; 2],
    /// Cost of opening a gap at its first corner and at its last corner.
    openings: [i32; 2],
    /// Shortfall of the part at its first and at its last corner (see the module).
    short: [i32; 2],
}

impl ClustalRecursion {
    /// Returns the number of identities in the alignment that ClustalW's recursion chooses. Tries
    /// the corridors in order until one has enough slack.
    pub fn identities(&mut self, rectangle: &LocalRectangle, costs: &ClustalCosts, corridors: &[Corridor]) -> u32 {
        let gaps = ClustalGaps::for_lengths(rectangle.first.len(), rectangle.second.len(), costs);
        let within = |codes: &'_ [Code], side: usize| {
            rectangle.start[side] as usize..(rectangle.end[side] as usize).min(codes.len())
        };
        let pair = RectangleResidues {
            first: &rectangle.first[within(rectangle.first, 0)],
            second: &rectangle.second[within(rectangle.second, 1)],
            costs,
            gaps,
        };
        // If extending a gap is free, alignments outside the corridor may have the best score too.
        for corridor in corridors.iter().filter(|_| gaps.extend > 0) {
            self.open_windows(rectangle, corridor);
            let cells: u64 = self.windows.iter().map(|[from, to]| u64::from(to - from) + 1).sum();
            if !corridor.every_row && cells > MAX_CELLS {
                continue;
            }
            if corridor.every_row {
                self.pins.set(&pair, rectangle.start, corridor);
            } else {
                self.pins.find(&pair, &self.windows, &mut self.head, rectangle.score, corridor.slack);
            }
            if let Some(identities) = self.compute_parts(&pair, true) {
                return identities;
            }
        }
        self.windows.clear();
        self.windows.resize(pair.first.len() + 1, [0, pair.second.len() as u32]);
        self.compute_parts(&pair, false).unwrap_or_default()
    }

    /// Sets the window of columns of each row. Between two rows of a corridor, an alignment is not
    /// left of the columns of the upper row and not right of the columns of the lower row.
    fn open_windows(&mut self, rectangle: &LocalRectangle, corridor: &Corridor) {
        let [rows, columns] = [0, 1].map(|side| rectangle.end[side] - rectangle.start[side]);
        self.windows.clear();
        self.windows.resize(rows as usize + 1, [0, columns]);
        let inside = |column: u32| column.clamp(rectangle.start[1], rectangle.end[1]) - rectangle.start[1];
        let crossings = || {
            let inner =
                corridor.rows.iter().filter(|(row, _)| (rectangle.start[0] + 1..rectangle.end[0]).contains(row));
            inner.map(|(row, crossing)| ((row - rectangle.start[0]) as usize, crossing.columns.map(inside)))
        };
        let (mut left, mut from) = (0, 0);
        for (row, columns) in crossings() {
            self.windows[from..row].iter_mut().for_each(|window| window[0] = left);
            (from, left) = (row, left.max(columns[0]));
        }
        self.windows[from..].iter_mut().for_each(|window| window[0] = left);
        let (mut right, mut to) = (columns, rows as usize + 1);
        for (row, columns) in crossings().collect::<Vec<_>>().into_iter().rev() {
            self.windows[row + 1..to].iter_mut().for_each(|window| window[1] = right);
            (to, right) = (row + 1, right.min(columns[1]));
        }
        self.windows[..to].iter_mut().for_each(|window| window[1] = right);
        // The corners of the rectangle are fixed.
        self.windows[0][0] = 0;
        self.windows[rows as usize][1] = columns;
    }

    /// Computes all parts, with or without pins. Returns `None` if no set of pins has enough slack.
    fn compute_parts(&mut self, pair: &RectangleResidues, by_pins: bool) -> Option<u32> {
        let sizes = [pair.first.len(), pair.second.len()];
        self.parts.clear();
        self.parts.push(RecursionPart { at: [0; 2], sizes, openings: [0; 2], short: [0; 2] });
        let mut identities = 0;
        while let Some(part) = self.parts.pop() {
            let RecursionPart { at, sizes, openings, short } = part;
            if sizes[0] == 0 || sizes[1] == 0 {
                continue;
            }
            if by_pins {
                let pins = self.pins.for_shortfall(pair.shortfall(&part))?;
                if let Some(same) = self.pins.straight_identities(pins, at, part.end()) {
                    identities += same;
                    continue;
                }
            }
            if sizes[0] == 1 {
                if let Some(column) = pair.one_row(&part) {
                    identities += u32::from(pair.first[at[0]] == pair.second[at[1] + column]);
                }
                continue;
            }
            let middle = at[0] + sizes[0] / 2;
            let inner = if by_pins { self.between_pins(pair, &part, middle)? } else { part };
            // A piece without rows is a pin.
            let (column, in_gap) =
                if inner.sizes[0] == 0 { (inner.at[1], false) } else { self.row_crossing(pair, &inner, middle) };
            // A gap across the middle includes the rows on both sides. It continues in both parts
            // without another opening cost.
            let (taken, opening, more) = if in_gap { (1, 0, pair.gaps.open) } else { (0, pair.gaps.open, 0) };
            let [head, tail] = [[middle - taken, column], [middle + taken, column]];
            self.parts.push(RecursionPart {
                at: tail,
                sizes: [0, 1].map(|side| part.end()[side] - tail[side]),
                openings: [opening, openings[1]],
                short: [inner.short[0] + more, short[1]],
            });
            self.parts.push(RecursionPart {
                at,
                sizes: [0, 1].map(|side| head[side] - at[side]),
                openings: [openings[0], opening],
                short: [short[0], inner.short[1] + more],
            });
        }
        Some(identities)
    }

    /// Returns the piece of a part between the last pin above a row and the first pin below it. The
    /// search repeats, because a piece with a smaller shortfall can use more pins. Returns `None`
    /// if no pins have enough slack.
    fn between_pins(&self, pair: &RectangleResidues, part: &RecursionPart, row: usize) -> Option<RecursionPart> {
        let mut piece = *part;
        loop {
            let pins = self.pins.for_shortfall(pair.shortfall(&piece))?;
            let [upper, lower] = pins.rows_around(row).map(|row| self.pins.pin(row));
            let (before, mut end) = (piece.sizes[0], piece.end());
            if let Some(pin) = upper.filter(|pin| pin[0] > piece.at[0]) {
                (piece.at, piece.openings[0], piece.short[0]) = (pin, pair.gaps.open, 0);
            }
            if let Some(pin) = lower.filter(|pin| pin[0] < end[0]) {
                (end, piece.openings[1], piece.short[1]) = (pin, pair.gaps.open, 0);
            }
            piece.sizes = [0, 1].map(|side| end[side] - piece.at[side]);
            if piece.sizes[0] == before || piece.sizes[0] == 0 {
                return Some(piece);
            }
        }
    }

    /// Returns the column where the alignment of a part crosses a row, and whether it crosses in a
    /// gap.
    fn row_crossing(&mut self, pair: &RectangleResidues, part: &RecursionPart, row: usize) -> (usize, bool) {
        let RecursionPart { at, sizes: [rows, columns], openings, .. } = *part;
        let windows = &self.windows[at[0]..=at[0] + rows];
        let window = |row: usize| windows[row].map(|column| (column as usize).clamp(at[1], at[1] + columns) - at[1]);
        let (first, second) = (&pair.first[at[0]..at[0] + rows], &pair.second[at[1]..at[1] + columns]);
        let (gaps, middle) = (pair.gaps, row - at[0]);
        let head = PartSweep {
            gaps,
            sizes: [middle, columns],
            opening: openings[0],
            window,
            table: |row| pair.row(first[row]),
            letter: |column| second[column],
        };
        self.head.sweep(head, |_, _, _, _| {});
        let mirrored = |row: usize| {
            let [left, right] = window(rows - row);
            [columns - right, columns - left]
        };
        let tail = PartSweep {
            gaps,
            sizes: [rows - middle, columns],
            opening: openings[1],
            window: mirrored,
            table: |row| pair.row(first[rows - 1 - row]),
            letter: |column| second[columns - 1 - column],
        };
        self.tail.sweep(tail, |_, _, _, _| {});
        let (head, tail) = (&self.head, &self.tail);
        let [left, right] = window(middle);
        let (mut score, mut crossing, mut in_gap) = (head.best[left] + tail.best[columns - left], left, false);
        for column in left..=right {
            let other = columns - column;
            let sum = head.best[column] + tail.best[other];
            // Among equal sums, take the last column whose alignment ends in a residue pair and
            // continues with a gap.
            let turns = || head.best[column] != head.gap[column] && tail.best[other] == tail.gap[other];
            if sum > score || sum == score && turns() {
                (score, crossing) = (sum, column);
            }
        }
        for column in (left..=right).rev() {
            let sum = head.gap[column] + tail.gap[columns - column] + gaps.open;
            if sum > score {
                (score, crossing, in_gap) = (sum, column, true);
            }
        }
        (at[1] + crossing, in_gap)
    }
}

impl RecursionPart {
    /// Returns the end (exclusive) of the part within the rectangle, in both sequences.
    fn end(&self) -> [usize; 2] {
        [0, 1].map(|side| self.at[side] + self.sizes[side])
    }
}

/// The residues of the best local alignment and their costs.
struct RectangleResidues<'a> {
    first: &'a [Code],
    second: &'a [Code],
    costs: &'a ClustalCosts,
    gaps: ClustalGaps,
}

impl RectangleResidues<'_> {
    fn row(&self, code: Code) -> &[i32; SIZE] {
        &self.costs.table()[code as usize % SIZE]
    }

    /// Returns the slack that pins need to be valid for a part: the sum of the shortfalls of both
    /// corners, plus one opening for each corner of the rectangle. The recursion opens gaps there
    /// for free, but a corridor counts the opening of every gap. The best alignment has no gap at
    /// these corners, but an alignment with a shortfall may have one.
    fn shortfall(&self, part: &RecursionPart) -> i32 {
        let short = part.short[0] + part.short[1];
        let corners = [part.at == [0; 2], part.end() == [self.first.len(), self.second.len()]];
        let free_openings = corners.into_iter().filter(|is_corner| *is_corner && short > 0).count() as i32;
        short + free_openings * self.gaps.open
    }

    /// Returns the column that is aligned with a part's only row, or `None` if the row scores
    /// better in a gap.
    fn one_row(&self, part: &RecursionPart) -> Option<usize> {
        let (columns, [head, tail]) = (part.sizes[1], part.openings);
        let run = |residues: usize, opening| self.gaps.run(residues, opening);
        let mut best = (-run(1, head) - run(columns, tail)).max(-run(1, tail) - run(columns, head));
        let mut at = None;
        for column in 0..columns {
            let ends = run(columns - column - 1, tail) + run(column, head);
            let score = self.costs.score(self.first[part.at[0]], self.second[part.at[1] + column]) - ends;
            if score > best {
                (best, at) = (score, Some(column));
            }
        }
        at
    }
}

/// Builds a sweep over the whole rectangle within its windows, from its first or from its last
/// corner.
#[allow(clippy::type_complexity, reason = "closures have no names")]
fn windows_sweep<'p>(
    pair: &'p RectangleResidues,
    windows: &'p [[u32; 2]],
    from_end: bool,
) -> PartSweep<impl Fn(usize) -> [usize; 2] + 'p, impl Fn(usize) -> &'p [i32; SIZE] + 'p, impl Fn(usize) -> Code + 'p> {
    let [rows, columns] = [pair.first.len(), pair.second.len()];
    let turned = move |index: usize, count: usize| if from_end { count - 1 - index } else { index };
    PartSweep {
        gaps: pair.gaps,
        sizes: [rows, columns],
        opening: 0,
        window: move |row| {
            let [left, right] = windows[turned(row, rows + 1)].map(|column| column as usize);
            if from_end { [columns - right, columns - left] } else { [left, right] }
        },
        table: move |row| pair.row(pair.first[turned(row, rows)]),
        letter: move |column| pair.second[turned(column, columns)],
    }
}
