//! ClustalW's recursion in the rectangle of a pair, fast: only where alignments can be that it may choose.
//!
//! The recursion is exact, ties and all ([`super::oracle`] is its textbook), but looks at few cells. The best local score of
//! cells before a place and that of cells after it bound what an alignment through the place can score; whoever has both
//! passes tells, for some rows, the columns where the sum is not less than the best score S by more than a slack: a
//! [`Corridor`]. In it, two sweeps find the rows that all alignments of S - slack or more cross at the same column
//! (`pins`). Between two pins the recursion's parts need not be known as wholes: where a part's middle row has a pin, it is
//! crossed there; where not, a sweep from the pin above and from the one below tells where.
//!
//! The slack is there because the recursion does not keep to the best alignments. A gap of two rows or more in the second
//! sequence is taken out first, and gaps beside it then open for nothing, in either sequence. So a part's best alignment
//! may be one that the whole would not have. Every part's corners say by how much what it chooses may fall short of S:
//! by nothing where they are pins; by an opening more than their part's where they are beside a gap that was taken out. If
//! that is more than the slack, the pair is walked without a corridor.

mod pins;
mod rows;

use super::ClustalCosts;
use super::costs::SIZE;
use super::oracle::Gaps;
use crate::seq::Code;
use pins::Pins;
use rows::{Rows, Sweep};

/// Cells of a corridor that a forward sweep is kept of, at most: half a gigabyte.
const MAX_CELLS: u64 = 1 << 26;

/// Columns where alignments cross some rows: those that score no less than the best one by more than the slack.
#[derive(Debug, Clone, Default)]
pub struct Corridor {
    /// How much less.
    pub slack: i32,
    /// Rows before the crossing; by rising rows.
    pub rows: Vec<(u32, Crossing)>,
    /// Whether all rows between the alignment's first and last one are there, with margins.
    pub every_row: bool,
}

/// Where alignments cross a row.
#[derive(Debug, Clone, Copy, Default)]
pub struct Crossing {
    /// The first and the last of numbers of columns before it.
    pub columns: [u32; 2],
    /// Columns before the best one.
    pub column: u32,
    /// By how much those score less that cross elsewhere or in a gap, if that is no more than the slack; else more than it.
    pub margin: i32,
}

/// A pair and its best local alignment.
#[derive(Debug, Clone, Copy)]
pub struct Found<'a> {
    /// The first sequence.
    pub first: &'a [Code],
    /// The second one.
    pub second: &'a [Code],
    /// The score; above 0.
    pub score: i32,
    /// Residues before it.
    pub start: [u32; 2],
    /// Residues up to its end.
    pub end: [u32; 2],
}

/// Memory that is kept from pair to pair.
#[derive(Debug, Clone, Default)]
pub struct Walker {
    head: Rows,
    tail: Rows,
    /// For each row of the rectangle and the end, the first and the last column.
    windows: Vec<[u32; 2]>,
    pins: Pins,
    /// Parts to come.
    parts: Vec<Part>,
}

/// A part of the rectangle that the recursion comes to.
#[derive(Debug, Clone, Copy)]
struct Part {
    /// Residues before it, within the rectangle.
    at: [usize; 2],
    /// Residues in it.
    sizes: [usize; 2],
    /// What a gap at its first corner costs to open, and one at its last.
    openings: [i32; 2],
    /// How much what is chosen here may fall short of the best, for either corner.
    short: [i32; 2],
}

impl Walker {
    /// The identities of the alignment that ClustalW's recursion chooses. Corridors are tried in turn.
    pub fn identities(&mut self, found: &Found, costs: &ClustalCosts, corridors: &[Corridor]) -> u32 {
        let gaps = Gaps::of(found.first.len(), found.second.len(), costs);
        let within =
            |codes: &'_ [Code], side: usize| found.start[side] as usize..(found.end[side] as usize).min(codes.len());
        let pair = Pair {
            first: &found.first[within(found.first, 0)],
            second: &found.second[within(found.second, 1)],
            costs,
            gaps,
        };
        // Where gaps cost nothing to extend there are alignments outside that score the same.
        for corridor in corridors.iter().filter(|_| gaps.extend > 0) {
            self.open_windows(found, corridor);
            let cells: u64 = self.windows.iter().map(|[from, to]| u64::from(to - from) + 1).sum();
            if !corridor.every_row && cells > MAX_CELLS {
                continue;
            }
            if corridor.every_row {
                self.pins.set(&pair, found.start, corridor);
            } else {
                self.pins.find(&pair, &self.windows, &mut self.head, found.score, corridor.slack);
            }
            if let Some(identities) = self.walk(&pair, true) {
                return identities;
            }
        }
        self.windows.clear();
        self.windows.resize(pair.first.len() + 1, [0, pair.second.len() as u32]);
        self.walk(&pair, false).unwrap_or_default()
    }

    /// Between two rows of a corridor an alignment is not left of its columns in the upper one, nor right of those in the
    /// lower one.
    fn open_windows(&mut self, found: &Found, corridor: &Corridor) {
        let [rows, columns] = [0, 1].map(|side| found.end[side] - found.start[side]);
        self.windows.clear();
        self.windows.resize(rows as usize + 1, [0, columns]);
        let inside = |column: u32| column.clamp(found.start[1], found.end[1]) - found.start[1];
        let crossings = || {
            let inner = corridor.rows.iter().filter(|(row, _)| (found.start[0] + 1..found.end[0]).contains(row));
            inner.map(|(row, crossing)| ((row - found.start[0]) as usize, crossing.columns.map(inside)))
        };
        let (mut least, mut from) = (0, 0);
        for (row, columns) in crossings() {
            self.windows[from..row].iter_mut().for_each(|window| window[0] = least);
            (from, least) = (row, least.max(columns[0]));
        }
        self.windows[from..].iter_mut().for_each(|window| window[0] = least);
        let (mut most, mut to) = (columns, rows as usize + 1);
        for (row, columns) in crossings().collect::<Vec<_>>().into_iter().rev() {
            self.windows[row + 1..to].iter_mut().for_each(|window| window[1] = most);
            (to, most) = (row + 1, most.min(columns[1]));
        }
        self.windows[..to].iter_mut().for_each(|window| window[1] = most);
        // The corners are where they are.
        self.windows[0][0] = 0;
        self.windows[rows as usize][1] = columns;
    }

    /// Walks all parts, by pins or without; `None` if the slack of all pins is too small.
    fn walk(&mut self, pair: &Pair, by_pins: bool) -> Option<u32> {
        let sizes = [pair.first.len(), pair.second.len()];
        self.parts.clear();
        self.parts.push(Part { at: [0; 2], sizes, openings: [0; 2], short: [0; 2] });
        let mut identities = 0;
        while let Some(part) = self.parts.pop() {
            let Part { at, sizes, openings, short } = part;
            if sizes[0] == 0 || sizes[1] == 0 {
                continue;
            }
            if by_pins {
                let level = self.pins.of(pair.shortfall(&part))?;
                if let Some(same) = self.pins.straight(level, at, part.end()) {
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
                if inner.sizes[0] == 0 { (inner.at[1], false) } else { self.middle(pair, &inner, middle) };
            // A gap that crosses the middle takes the rows on both sides of it along, and goes on for nothing in both parts.
            let (taken, opening, more) = if in_gap { (1, 0, pair.gaps.open) } else { (0, pair.gaps.open, 0) };
            let [head, tail] = [[middle - taken, column], [middle + taken, column]];
            self.parts.push(Part {
                at: tail,
                sizes: [0, 1].map(|side| part.end()[side] - tail[side]),
                openings: [opening, openings[1]],
                short: [inner.short[0] + more, short[1]],
            });
            self.parts.push(Part {
                at,
                sizes: [0, 1].map(|side| head[side] - at[side]),
                openings: [openings[0], opening],
                short: [short[0], inner.short[1] + more],
            });
        }
        Some(identities)
    }

    /// The piece of a part from the last pin above a row to the first one below it: the less the piece falls short, the more
    /// pins there are. `None` if there are none for a part that falls so short.
    fn between_pins(&self, pair: &Pair, part: &Part, row: usize) -> Option<Part> {
        let mut piece = *part;
        loop {
            let level = self.pins.of(pair.shortfall(&piece))?;
            let [upper, lower] = level.around(row).map(|row| self.pins.pin(row));
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

    /// The column where the alignment of a part crosses a row, and whether in a gap.
    fn middle(&mut self, pair: &Pair, part: &Part, row: usize) -> (usize, bool) {
        let Part { at, sizes: [rows, columns], openings, .. } = *part;
        let windows = &self.windows[at[0]..=at[0] + rows];
        let window = |row: usize| windows[row].map(|column| (column as usize).clamp(at[1], at[1] + columns) - at[1]);
        let (first, second) = (&pair.first[at[0]..at[0] + rows], &pair.second[at[1]..at[1] + columns]);
        let (gaps, middle) = (pair.gaps, row - at[0]);
        let head = Sweep {
            gaps,
            sizes: [middle, columns],
            opening: openings[0],
            window,
            table: |row| pair.row(first[row]),
            letter: |column| second[column],
        };
        self.head.sweep(head, |_, _, _, _| {});
        let mirrored = |row: usize| {
            let [least, most] = window(rows - row);
            [columns - most, columns - least]
        };
        let tail = Sweep {
            gaps,
            sizes: [rows - middle, columns],
            opening: openings[1],
            window: mirrored,
            table: |row| pair.row(first[rows - 1 - row]),
            letter: |column| second[columns - 1 - column],
        };
        self.tail.sweep(tail, |_, _, _, _| {});
        let (head, tail) = (&self.head, &self.tail);
        let [least, most] = window(middle);
        let (mut score, mut found, mut in_gap) = (head.best[least] + tail.best[columns - least], least, false);
        for column in least..=most {
            let other = columns - column;
            let sum = head.best[column] + tail.best[other];
            // Of equal ones the last that comes out of a pair of residues and goes on with a gap.
            let turns = || head.best[column] != head.gap[column] && tail.best[other] == tail.gap[other];
            if sum > score || sum == score && turns() {
                (score, found) = (sum, column);
            }
        }
        for column in (least..=most).rev() {
            let sum = head.gap[column] + tail.gap[columns - column] + gaps.open;
            if sum > score {
                (score, found, in_gap) = (sum, column, true);
            }
        }
        (at[1] + found, in_gap)
    }
}

impl Part {
    /// Residues up to its end.
    fn end(&self) -> [usize; 2] {
        [0, 1].map(|side| self.at[side] + self.sizes[side])
    }
}

/// The rectangle.
struct Pair<'a> {
    first: &'a [Code],
    second: &'a [Code],
    costs: &'a ClustalCosts,
    gaps: Gaps,
}

impl Pair<'_> {
    fn row(&self, code: Code) -> &[i32; SIZE] {
        &self.costs.table()[code as usize % SIZE]
    }

    /// Returns by how much the score of the alignment that is chosen in a part may fall short of the best one, where a
    /// corridor counts the opening of every gap. The recursion opens gaps at the rectangle's corners for nothing. The best
    /// alignment has none there, but one that falls short may.
    fn shortfall(&self, part: &Part) -> i32 {
        let short = part.short[0] + part.short[1];
        let corners = [part.at == [0; 2], part.end() == [self.first.len(), self.second.len()]];
        let free_openings = corners.into_iter().filter(|is_corner| *is_corner && short > 0).count() as i32;
        short + free_openings * self.gaps.open
    }

    /// The column that a part's only row is aligned with; `None` if it is better left in a gap.
    fn one_row(&self, part: &Part) -> Option<usize> {
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

/// A sweep over the whole rectangle in its windows, from its first corner or from its last.
#[allow(clippy::type_complexity, reason = "closures have no names")]
fn windows_sweep<'p>(
    pair: &'p Pair,
    windows: &'p [[u32; 2]],
    from_end: bool,
) -> Sweep<impl Fn(usize) -> [usize; 2] + 'p, impl Fn(usize) -> &'p [i32; SIZE] + 'p, impl Fn(usize) -> Code + 'p> {
    let [rows, columns] = [pair.first.len(), pair.second.len()];
    let turned = move |place: usize, count: usize| if from_end { count - 1 - place } else { place };
    Sweep {
        gaps: pair.gaps,
        sizes: [rows, columns],
        opening: 0,
        window: move |row| {
            let [least, most] = windows[turned(row, rows + 1)].map(|column| column as usize);
            if from_end { [columns - most, columns - least] } else { [least, most] }
        },
        table: move |row| pair.row(pair.first[turned(row, rows)]),
        letter: move |column| pair.second[turned(column, columns)],
    }
}
