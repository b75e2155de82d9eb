//! Half of a rectangle of the matrix of two profiles, swept from its beginning or from its end.
//!
//! A row is three loops without a branch, which compilers turn into vectors: what comes from above and from the diagonal; the
//! greatest of what gaps along the row can begin with, so far; the row itself. Costs of gap symbols along the row differ, but as
//! differences of sums over columns they can be taken out: a gap from column k to column j costs what opens it before k, and
//! `sums[j] - sums[k]`. No gap follows a gap directly at a profit, so that only what does not end with one can begin it.

use super::columns::Penalties;
use super::scores::Scores;
use crate::simd::{InstructionSet, Simd, SimdKernel};

/// Two profiles.
#[derive(Debug)]
pub struct Problem<'a> {
    /// Gap costs at the columns of the first profile.
    pub first: &'a Penalties,
    /// At those of the second.
    pub second: &'a Penalties,
    /// Scores of columns.
    pub scores: &'a Scores,
    /// Sums of the second profile's costs of gap symbols, up to each column.
    pub sums: Vec<i32>,
    /// Columns of both.
    pub columns: [usize; 2],
}

impl<'a> Problem<'a> {
    /// Two profiles with what is computed of them once.
    pub fn new(first: &'a Penalties, second: &'a Penalties, scores: &'a Scores) -> Self {
        let sums = second.extend.iter().scan(0, |sum, extend| {
            *sum += extend;
            Some(*sum)
        });
        let columns = [first.columns(), second.columns()];
        Problem { first, second, scores, sums: sums.collect(), columns }
    }

    /// Opening a gap in the first profile behind column a, before column b of the second: nothing at its ends.
    pub(super) fn open_first(&self, a: usize, b: usize) -> i32 {
        if a == 0 || a == self.columns[0] { 0 } else { self.second.open[b] + self.first.open[a] }
    }

    /// A symbol of it.
    pub(super) fn extend_first(&self, a: usize, b: usize) -> i32 {
        if a == 0 || a == self.columns[0] { 0 } else { self.second.extend[b] }
    }

    /// Opening a gap in the second profile before column a of the first, behind column b.
    pub(super) fn open_second(&self, a: usize, b: usize) -> i32 {
        if b == 0 || b == self.columns[1] { 0 } else { self.first.open[a] + self.second.open[b] }
    }

    /// A symbol of it.
    pub(super) fn extend_second(&self, a: usize, b: usize) -> i32 {
        if b == 0 || b == self.columns[1] { 0 } else { self.first.extend[a] }
    }

    /// A gap in the first profile behind column a against `length` columns of the second from b on.
    pub(super) fn gap_first(&self, a: usize, b: usize, length: usize) -> i32 {
        if length == 0 || a == 0 || a == self.columns[0] {
            return 0;
        }
        self.open_first(a, b) + self.sums[b + length - 1] - self.sums[b - 1]
    }
}

/// A rectangle: the columns behind `a` and `b`, and whether a gap in the second profile that crosses its upper or its lower edge is
/// opened there.
#[derive(Debug, Clone, Copy)]
pub struct Rectangle {
    /// Columns of the first profile before it.
    pub a: usize,
    /// Of the second.
    pub b: usize,
    /// Columns of the first profile in it.
    pub m: usize,
    /// Of the second.
    pub n: usize,
    /// Whether a gap along the left edge is opened in it.
    pub opens: bool,
    /// Whether one along the right edge is.
    pub closes: bool,
}

/// Room for rows.
#[derive(Debug, Default)]
pub struct Room {
    row: Vec<i32>,
    spare: Vec<i32>,
    through: Vec<i32>,
    begin: Vec<i32>,
    other: Vec<i32>,
}

/// Columns whose maxima are found together.
const BLOCK: usize = 8;
/// Less than all scores.
const NONE: i32 = i32::MIN / 2;

/// The best scores that end in a row's columns, 0 to n: of all alignments, and of those with a gap in the second profile that is
/// still open (with what it cost to open from above, without it from below).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// Of all.
    pub best: Vec<i32>,
    /// Of those with an open gap.
    pub open: Vec<i32>,
}

/// The row in the middle, from above.
pub struct Forward<'a> {
    /// Profiles.
    pub problem: &'a Problem<'a>,
    /// Where.
    pub rectangle: Rectangle,
    /// Where the row goes.
    pub to: &'a mut Row,
    /// Room.
    pub room: &'a mut Room,
}

/// The row in the middle, from below.
pub struct Backward<'a> {
    /// Profiles.
    pub problem: &'a Problem<'a>,
    /// Where.
    pub rectangle: Rectangle,
    /// Where the row goes.
    pub to: &'a mut Row,
    /// Room.
    pub room: &'a mut Room,
}

impl Room {
    fn fit(&mut self, n: usize) {
        let blocks = (n + 1).next_multiple_of(BLOCK);
        self.row.resize(n, 0);
        self.through.resize(n + 1, 0);
        self.begin.clear();
        self.begin.resize(blocks + 2 * BLOCK, NONE);
        self.other.clear();
        self.other.resize(blocks + 2 * BLOCK, NONE);
    }
}

/// Every entry behind the first block becomes the greatest of itself and those `back` places before it.
#[inline(always)]
fn greatest_behind(from: &[i32], to: &mut [i32], back: usize) {
    let count = from.len() - BLOCK;
    let (here, there, to) = (&from[BLOCK..], &from[BLOCK - back..][..count], &mut to[BLOCK..][..count]);
    for ((to, here), there) in to.iter_mut().zip(here).zip(there) {
        *to = *here.max(there);
    }
}

/// Every entry before the last block becomes the greatest of itself and those `ahead` places behind it.
#[inline(always)]
fn greatest_ahead(from: &[i32], to: &mut [i32], ahead: usize) {
    let count = from.len() - BLOCK;
    let (here, there, to) = (&from[..count], &from[ahead..][..count], &mut to[..count]);
    for ((to, here), there) in to.iter_mut().zip(here).zip(there) {
        *to = *here.max(there);
    }
}

/// The row from what comes through and from the greatest beginnings of gaps, which are those of a block and of all blocks before.
#[inline(always)]
fn close_forward(best: &mut [i32], begins: &[i32], through: &[i32], sums: &[i32]) {
    let mut greatest = NONE;
    let (blocks, rest) = best.as_chunks_mut::<BLOCK>();
    let (through, through_rest) = through.as_chunks::<BLOCK>();
    let (sums, sums_rest) = sums.as_chunks::<BLOCK>();
    let (begins, _) = begins.as_chunks::<BLOCK>();
    for (((best, begins), through), sums) in blocks.iter_mut().zip(begins).zip(through).zip(sums) {
        *best = std::array::from_fn(|k| through[k].max(begins[k].max(greatest) - sums[k]));
        greatest = greatest.max(begins[BLOCK - 1]);
    }
    let last = begins[blocks.len()];
    for (((best, begin), through), sum) in rest.iter_mut().zip(last).zip(through_rest).zip(sums_rest) {
        *best = (*through).max(begin.max(greatest) - sum);
    }
}

/// Every entry becomes the greatest of itself and those behind it, if it is that of its block already.
#[inline(always)]
fn carry_backward(begins: &mut [i32]) {
    let mut greatest = NONE;
    for block in begins.as_chunks_mut::<BLOCK>().0.iter_mut().rev() {
        // Apart from the entries, so that the next block does not wait for them.
        let own = block[0];
        *block = block.map(|begin| begin.max(greatest));
        greatest = greatest.max(own);
    }
}

impl SimdKernel for Forward<'_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        let (problem, Rectangle { a, b, m, n, opens, .. }) = (self.problem, self.rectangle);
        let (row, room) = (self.to, self.room);
        room.fit(n);
        row.best.clear();
        row.open.clear();
        let (open, extend) = (-problem.open_first(a, b + 1), -problem.extend_first(a, b + 1));
        row.best.push(0);
        row.best.extend((1..=n as i32).map(|j| open + j * extend));
        row.open.push(0);
        row.open.extend((1..=n).map(|j| row.best[j] - problem.open_second(a + 1, b + j)));
        let mut edge = if opens { -problem.open_second(a + 1, b) } else { 0 };
        let edge_step = problem.extend_second(a + 1, b);
        let (opens, sums) = (&problem.second.open[b..][..n + 2], &problem.sums[b..][..n + 1]);
        for i in 1..=m / 2 {
            let (own, step) = (problem.first.open[a + i], problem.first.extend[a + i]);
            edge -= edge_step;
            let scores = match problem.scores.kept(a + i - 1) {
                Some(row) => &row[b..][..n],
                None => {
                    problem.scores.compute(a + i - 1, b, &mut room.row, &mut room.spare);
                    &room.row[..n]
                }
            };
            let last = (row.best[n], row.open[n]);
            // From above and along the diagonal; what gaps can begin with.
            let through = &mut room.through[..n + 1];
            through[0] = edge;
            let (above, open) = (&row.best[1..=n], &mut row.open[1..=n]);
            let columns = through[1..].iter_mut().zip(open).zip(above).zip(&row.best[..n]).zip(&opens[1..=n]);
            for (((((to, open), above), before), opening), score) in columns.zip(scores) {
                *open = (above - opening - own).max(*open) - step;
                *to = (before + score).max(*open);
            }
            if b + n == problem.columns[1] {
                row.open[n] = last.0.max(last.1);
                room.through[n] = (row.best[n - 1] + scores[n - 1]).max(row.open[n]);
            }
            // Entry BLOCK + j is for column j; a gap before column j begins with what ends in column j - 1.
            let through = &room.through[..n + 1];
            let begin = &mut room.begin[BLOCK + 1..][..n];
            for (((begin, through), opening), sum) in begin.iter_mut().zip(through).zip(&opens[1..=n]).zip(&sums[..n]) {
                *begin = through - opening - own + sum;
            }
            greatest_behind(&room.begin, &mut room.other, 1);
            greatest_behind(&room.other, &mut room.begin, 2);
            greatest_behind(&room.begin, &mut room.other, 4);
            row.best[0] = edge;
            close_forward(&mut row.best, &room.other[BLOCK..], through, sums);
            // No gap begins before column 0.
            room.begin[BLOCK] = NONE;
        }
        row.open[0] = row.best[0];
    }
}

impl SimdKernel for Backward<'_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        let (problem, Rectangle { a, b, m, n, closes, .. }) = (self.problem, self.rectangle);
        let (row, room) = (self.to, self.room);
        room.fit(n);
        row.best.clear();
        row.best.resize(n + 1, 0);
        let mut along = 0;
        for j in (0..n).rev() {
            along -= problem.extend_first(a + m, b + j + 1);
            row.best[j] = along - problem.open_first(a + m, b + j + 1);
        }
        row.open.clear();
        row.open.extend_from_slice(&row.best);
        let mut down = 0;
        let (opens, sums) = (&problem.second.open[b..][..n + 1], &problem.sums[b..][..n + 1]);
        for i in (m / 2..m).rev() {
            let (own, step) = (problem.first.open[a + i + 1], problem.first.extend[a + i + 1]);
            let own_along = problem.first.open[a + i];
            down -= problem.extend_second(a + i + 1, b + n);
            let edge = down - if closes { problem.open_second(a + i + 1, b + n) } else { 0 };
            let scores = match problem.scores.kept(a + i) {
                Some(row) => &row[b..][..n],
                None => {
                    problem.scores.compute(a + i, b, &mut room.row, &mut room.spare);
                    &room.row[..n]
                }
            };
            let left = row.best[0].max(row.open[0]);
            let through = &mut room.through[..n + 1];
            through[n] = edge;
            let (below, open) = (&row.best[..n], &mut row.open[..n]);
            let columns = through[..n].iter_mut().zip(open).zip(below).zip(&row.best[1..=n]).zip(&opens[..n]);
            for (((((to, open), below), before), opening), score) in columns.zip(scores) {
                *open = *below.max(open) - step;
                *to = (before + score).max(*open - opening - own);
            }
            if b == 0 {
                row.open[0] = left;
                room.through[0] = (row.best[1] + scores[0]).max(left);
            }
            // Entry j is for column j, which a gap ahead of it ends with.
            let through = &room.through[..n + 1];
            for ((begin, through), sum) in room.begin[..n + 1].iter_mut().zip(through).zip(sums) {
                *begin = through - sum;
            }
            greatest_ahead(&room.begin, &mut room.other, 1);
            greatest_ahead(&room.other, &mut room.begin, 2);
            greatest_ahead(&room.begin, &mut room.other, 4);
            carry_backward(&mut room.other);
            row.best[n] = edge;
            let behind = &room.other[1..=n];
            let columns = row.best[..n].iter_mut().zip(&through[..n]).zip(behind).zip(&sums[..n]).zip(&opens[1..=n]);
            for ((((best, through), behind), sum), opening) in columns {
                *best = (*through).max(behind + sum - own_along - opening);
            }
            room.begin[n + 1..].fill(NONE);
        }
        row.open[n] = row.best[n] + problem.open_second(a + m / 2 + 1, b + n);
    }
}

/// Both halves, with vectors of this level.
pub(super) fn forward(level: InstructionSet, problem: &Problem, rectangle: Rectangle, to: &mut Row, room: &mut Room) {
    level.run(Forward { problem, rectangle, to, room });
}

/// As above, from below.
pub(super) fn backward(level: InstructionSet, problem: &Problem, rectangle: Rectangle, to: &mut Row, room: &mut Room) {
    level.run(Backward { problem, rectangle, to, room });
}
