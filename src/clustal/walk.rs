//! ClustalW's recursion in the rectangle of a pair, fast: only where alignments can be that it may choose.
//!
//! The recursion is exact, ties and all ([`super::oracle`] is its textbook), but looks at few cells. A score S, the best
//! local score of cells before a place and that of cells after it bound what an alignment through the place can score;
//! whoever has both passes tells, for some rows, the columns where the sum is not less than S - slack: a [`Corridor`].
//! The slack is there because the recursion does not always keep to the best alignment: next to a gap of two rows or more,
//! which it takes out first, it opens a further gap for nothing. Every part checks that its best score is not less than
//! what an alignment may have that leaves the corridor; where it is, the pair is walked again without one.
//!
//! A part ends early where the diagonal is better than any alignment with gaps can be.

use super::ClustalCosts;
use super::oracle::Gaps;
use crate::seq::Code;

/// What no alignment scores. A pair's sums of gap costs may be taken off it without an overflow.
const NEVER: i32 = i32::MIN / 4;

/// Columns where alignments cross some rows: those that score no less than the best one by more than the slack.
#[derive(Debug, Clone, Default)]
pub struct Corridor {
    /// How much less.
    pub slack: i32,
    /// Rows before the crossing, and the first and the last of numbers of columns before it; by rising rows.
    pub rows: Vec<(u32, [u32; 2])>,
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
    /// Sums of the greatest scores of residues before each row.
    most: Vec<i64>,
    /// Parts to come.
    parts: Vec<Part>,
}

#[derive(Debug, Clone, Default)]
struct Rows {
    best: Vec<i32>,
    gap: Vec<i32>,
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
    /// At least so much scores the alignment up to its first corner, and that from its last.
    outside: [i32; 2],
}

impl Walker {
    /// The identities of the alignment that ClustalW's recursion chooses.
    pub fn identities(&mut self, found: &Found, costs: &ClustalCosts, corridor: &Corridor) -> u32 {
        let gaps = Gaps::of(found.first.len(), found.second.len(), costs);
        let within =
            |codes: &'_ [Code], side: usize| found.start[side] as usize..(found.end[side] as usize).min(codes.len());
        let pair = Pair {
            first: &found.first[within(found.first, 0)],
            second: &found.second[within(found.second, 1)],
            costs,
            gaps,
            score: found.score,
        };
        self.sum_most(&pair);
        // Where gaps cost nothing to extend there are alignments outside that score the same.
        if gaps.extend > 0 {
            self.open_windows(found, corridor);
            if let Some(identities) = self.walk(&pair, Some(corridor.slack)) {
                return identities;
            }
        }
        self.windows.clear();
        self.windows.resize(pair.first.len() + 1, [0, pair.second.len() as u32]);
        self.walk(&pair, None).unwrap_or_default()
    }

    fn sum_most(&mut self, pair: &Pair) {
        let mut sum = 0;
        self.most.clear();
        self.most.push(0);
        self.most.extend(pair.first.iter().map(|&code| {
            sum += i64::from(pair.costs.row_most(code));
            sum
        }));
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
            inner.map(|&(row, columns)| ((row - found.start[0]) as usize, columns.map(inside)))
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

    /// Walks all parts; `None` if an alignment outside the windows may be better.
    fn walk(&mut self, pair: &Pair, slack: Option<i32>) -> Option<u32> {
        let sizes = [pair.first.len(), pair.second.len()];
        self.parts.clear();
        self.parts.push(Part { at: [0; 2], sizes, openings: [0; 2], outside: [0; 2] });
        let mut identities = 0;
        while let Some(part) = self.parts.pop() {
            let Part { at, sizes, openings, outside } = part;
            if sizes[0] == 0 || sizes[1] == 0 {
                continue;
            }
            if let Some(same) = pair.diagonal(&part, &self.most) {
                identities += same;
                continue;
            }
            if sizes[0] == 1 {
                if let Some(column) = pair.one_row(&part) {
                    identities += u32::from(pair.first[at[0]] == pair.second[at[1] + column]);
                }
                continue;
            }
            let middle = sizes[0] / 2;
            let Crossing { score, column, in_gap, head, tail } = self.middle(pair, &part, middle);
            // Free openings at corners, but for the rectangle's own: alignments that end there are local ones.
            let free = [at != [0; 2], at[0] + sizes[0] < pair.first.len() || at[1] + sizes[1] < pair.second.len()];
            let free = [0, 1].map(|side| if free[side] && openings[side] == 0 { pair.gaps.open } else { 0 });
            if let Some(slack) = slack {
                let outside = i64::from(outside[0]) + i64::from(outside[1]) - i64::from(free[0]) - i64::from(free[1]);
                if i64::from(score) + outside < i64::from(pair.score) - i64::from(slack) {
                    return None;
                }
            }
            // A gap that crosses the middle takes the rows on both sides of it along, and goes on for nothing in both parts.
            let (taken, opening) = if in_gap { (1, 0) } else { (0, pair.gaps.open) };
            let longer = if in_gap { pair.gaps.extend } else { 0 };
            self.parts.push(Part {
                at: [at[0] + middle + taken, at[1] + column],
                sizes: [sizes[0] - middle - taken, sizes[1] - column],
                openings: [opening, openings[1]],
                outside: [outside[0] + head - longer - free[0], outside[1]],
            });
            self.parts.push(Part {
                at,
                sizes: [middle - taken, column],
                openings: [openings[0], opening],
                outside: [outside[0], outside[1] + tail - longer - free[1]],
            });
        }
        Some(identities)
    }

    /// Where the alignment crosses a row.
    fn middle(&mut self, pair: &Pair, part: &Part, middle: usize) -> Crossing {
        let Part { at, sizes: [rows, columns], openings, .. } = *part;
        let windows = &self.windows[at[0]..=at[0] + rows];
        let inside = |column: u32| (column as usize).clamp(at[1], at[1] + columns) - at[1];
        let window = |row: usize| windows[row].map(inside);
        let (first, second) = (&pair.first[at[0]..at[0] + rows], &pair.second[at[1]..at[1] + columns]);
        self.head.sweep(
            pair.gaps,
            [middle, columns],
            openings[0],
            window,
            |row| pair.row(first[row]),
            |column| second[column],
        );
        let mirrored = |row: usize| {
            let [least, most] = window(rows - row);
            [columns - most, columns - least]
        };
        self.tail.sweep(
            pair.gaps,
            [rows - middle, columns],
            openings[1],
            mirrored,
            |row| pair.row(first[rows - 1 - row]),
            |column| second[columns - 1 - column],
        );
        let (head, tail, open) = (&self.head, &self.tail, pair.gaps.open);
        let [least, most] = window(middle);
        let whole = |column: usize| head.best[column] + tail.best[columns - column];
        let (mut score, mut at, mut in_gap) = (whole(least), least, false);
        for column in least..=most {
            let (other, sum) = (columns - column, whole(column));
            // Of equal ones the last that comes out of a pair of residues and goes on with a gap.
            let turns = || head.best[column] != head.gap[column] && tail.best[other] == tail.gap[other];
            if sum > score || sum == score && turns() {
                (score, at) = (sum, column);
            }
        }
        for column in (least..=most).rev() {
            let sum = head.gap[column] + tail.gap[columns - column] + open;
            if sum > score {
                (score, at, in_gap) = (sum, column, true);
            }
        }
        let (ends, begins) = if in_gap { (&head.gap, &tail.gap) } else { (&head.best, &tail.best) };
        Crossing { score, column: at, in_gap, head: ends[at], tail: begins[columns - at] }
    }
}

/// Where an alignment crosses a row.
struct Crossing {
    /// Its score.
    score: i32,
    /// Columns before that.
    column: usize,
    /// Whether in a gap of the second sequence.
    in_gap: bool,
    /// The score up to there.
    head: i32,
    /// And from there; either part pays for the gap.
    tail: i32,
}

/// The rectangle.
struct Pair<'a> {
    first: &'a [Code],
    second: &'a [Code],
    costs: &'a ClustalCosts,
    gaps: Gaps,
    score: i32,
}

impl Pair<'_> {
    fn row(&self, code: Code) -> &[i32; super::costs::SIZE] {
        &self.costs.table()[code as usize % super::costs::SIZE]
    }

    /// The identities of a part's diagonal, where it is better than any alignment with gaps: these have a gap in both
    /// sequences, at least, and a pair less.
    fn diagonal(&self, part: &Part, most: &[i64]) -> Option<u32> {
        let [rows, columns] = part.sizes;
        if rows != columns {
            return None;
        }
        let first = &self.first[part.at[0]..part.at[0] + rows];
        let second = &self.second[part.at[1]..part.at[1] + rows];
        let (mut score, mut same, mut least) = (0, 0, i32::MAX);
        for (&a, &b) in first.iter().zip(second) {
            score += i64::from(self.costs.score(a, b));
            same += u32::from(a == b);
            least = least.min(self.costs.row_most(a));
        }
        let paid = part.openings.iter().filter(|&&opening| opening > 0).count() as i64 * i64::from(self.gaps.open);
        let pairs = most[part.at[0] + rows] - most[part.at[0]] - i64::from(least);
        (score > pairs - paid - 2 * i64::from(self.gaps.extend)).then_some(same)
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

impl Rows {
    /// Scores of alignments from a corner to the cells of the last of some rows, global, where gaps at the corner cost
    /// `opening` to open; only of cells in windows, whose sides rise. The corner is in the first window.
    #[inline(always)]
    fn sweep<'t>(
        &mut self,
        Gaps { open, extend }: Gaps,
        sizes: [usize; 2],
        opening: i32,
        window: impl Fn(usize) -> [usize; 2],
        table: impl Fn(usize) -> &'t [i32; super::costs::SIZE],
        code: impl Fn(usize) -> Code,
    ) {
        let edge = |residues: usize| if residues == 0 { 0 } else { -opening - extend * residues as i32 };
        let Rows { best, gap } = self;
        if best.len() <= sizes[1] {
            best.resize(sizes[1] + 1, NEVER);
            gap.resize(sizes[1] + 1, NEVER);
        }
        let [mut least, mut most] = window(0);
        for column in least..=most {
            best[column] = edge(column);
            gap[column] = best[column] - open;
        }
        for row in 0..sizes[0] {
            let [from, to] = window(row + 1);
            // Columns that come into the window have nothing above them.
            best[most + 1..=to].fill(NEVER);
            gap[most + 1..=to].fill(NEVER);
            let mut before = if from > least { best[from - 1] } else { NEVER };
            let (mut cell, mut across) = (NEVER, NEVER);
            let mut begin = from;
            if from == 0 {
                before = std::mem::replace(&mut best[0], edge(row + 1));
                cell = best[0];
                across = cell - open;
                begin = 1;
            }
            let scores = table(row);
            let cells = best[begin..=to].iter_mut().zip(&mut gap[begin..=to]);
            for (column, (best, gap)) in (begin..).zip(cells) {
                across = (across - extend).max(cell - open - extend);
                let down = (*gap - extend).max(*best - open - extend);
                let score = scores[code(column - 1) as usize % super::costs::SIZE];
                cell = (before + score).max(across).max(down);
                before = std::mem::replace(best, cell);
                *gap = down;
            }
            (least, most) = (from, to);
        }
        if least == 0 {
            gap[0] = best[0];
        }
    }
}
