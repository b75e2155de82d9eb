//! Computes one half of a rectangle in the matrix of two profiles, from its top or from its bottom
//! to the middle row.
//!
//! Each row is computed in three loops without branches, which compilers vectorise. The first loop
//! computes the values from above and from the diagonal. The second loop computes the running
//! maximum of the values where a gap along the row can start. The third loop computes the row
//! itself. The costs of gap symbols along the row differ between columns. Prefix sums remove this
//! difference: a gap from column k to column j costs its opening before k, plus `sums[j]`, minus
//! `sums[k]`. A gap that directly follows another gap never improves the score. Therefore a gap
//! starts only from values that do not end with a gap along the row.

use super::columns::Penalties;
use super::scores::ColumnScores;
use crate::simd::{InstructionSet, Simd, SimdKernel, array_of};

/// The inputs of the recurrence for two profiles.
#[derive(Debug)]
pub struct PairProblem<'a> {
    /// Gap costs at the columns of the first profile.
    pub first: &'a Penalties,
    /// Gap costs at the columns of the second profile.
    pub second: &'a Penalties,
    /// Scores of pairs of columns.
    pub scores: &'a ColumnScores,
    /// Prefix sums of the second profile's costs of gap symbols.
    pub sums: Vec<i32>,
    /// Numbers of columns of both profiles.
    pub columns: [usize; 2],
}

impl<'a> PairProblem<'a> {
    /// Prepares two profiles.
    pub fn new(first: &'a Penalties, second: &'a Penalties, scores: &'a ColumnScores) -> Self {
        let sums = second.extend.iter().scan(0, |sum, extend| {
            *sum += extend;
            Some(*sum)
        });
        let columns = [first.columns(), second.columns()];
        PairProblem { first, second, scores, sums: sums.collect(), columns }
    }

    /// Returns the cost to open a gap in the first profile after column `a` and before column `b`
    /// of the second profile. It is 0 at the ends of the first profile.
    pub(super) fn open_first(&self, a: usize, b: usize) -> i32 {
        if a == 0 || a == self.columns[0] { 0 } else { self.second.open[b] + self.first.open[a] }
    }

    /// Returns the cost of a symbol of such a gap.
    pub(super) fn extend_first(&self, a: usize, b: usize) -> i32 {
        if a == 0 || a == self.columns[0] { 0 } else { self.second.extend[b] }
    }

    /// Returns the cost to open a gap in the second profile before column `a` of the first profile
    /// and after column `b`. It is 0 at the ends of the second profile.
    pub(super) fn open_second(&self, a: usize, b: usize) -> i32 {
        if b == 0 || b == self.columns[1] { 0 } else { self.first.open[a] + self.second.open[b] }
    }

    /// Returns the cost of a symbol of such a gap.
    pub(super) fn extend_second(&self, a: usize, b: usize) -> i32 {
        if b == 0 || b == self.columns[1] { 0 } else { self.first.extend[a] }
    }

    /// Returns the cost of a gap in the first profile after column `a` that faces `length` columns
    /// of the second profile from `b` on.
    pub(super) fn gap_first(&self, a: usize, b: usize, length: usize) -> i32 {
        if length == 0 || a == 0 || a == self.columns[0] {
            return 0;
        }
        self.open_first(a, b) + self.sums[b + length - 1] - self.sums[b - 1]
    }
}

/// A rectangle of the matrix. Rows are columns of the first profile, and columns are columns of the
/// second profile.
#[derive(Debug, Clone, Copy)]
pub struct ProfileRectangle {
    /// Number of columns of the first profile before it.
    pub a: usize,
    /// Number of columns of the second profile before it.
    pub b: usize,
    /// Number of columns of the first profile in it.
    pub m: usize,
    /// Number of columns of the second profile in it.
    pub n: usize,
    /// Whether a gap along the left border opens in the rectangle.
    pub opens: bool,
    /// Whether a gap along the right border opens in the rectangle.
    pub closes: bool,
}

/// Buffers for rows.
#[derive(Debug, Default)]
pub struct PassScratch {
    row: Vec<i32>,
    spare: Vec<i32>,
    through: Vec<i32>,
    begin: Vec<i32>,
    other: Vec<i32>,
}

/// Number of columns whose running maxima are computed together.
const BLOCK: usize = 8;
/// Minus infinity: less than every score.
const NEG_INF: i32 = i32::MIN / 2;

/// Best scores in the columns 0 to n of a row. Scores with an open gap include the opening cost
/// when computed from the top, and exclude it when computed from the bottom.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MiddleRow {
    /// Best scores of all alignments.
    pub best: Vec<i32>,
    /// Best scores of alignments with an open gap in the second profile.
    pub open: Vec<i32>,
}

/// Computes the middle row from the top.
pub struct Forward<'a> {
    /// The profiles.
    pub problem: &'a PairProblem<'a>,
    /// The rectangle.
    pub rectangle: ProfileRectangle,
    /// Receives the row.
    pub to: &'a mut MiddleRow,
    /// Buffers.
    pub scratch: &'a mut PassScratch,
}

/// Computes the middle row from the bottom.
pub struct Backward<'a> {
    /// The profiles.
    pub problem: &'a PairProblem<'a>,
    /// The rectangle.
    pub rectangle: ProfileRectangle,
    /// Receives the row.
    pub to: &'a mut MiddleRow,
    /// Buffers.
    pub scratch: &'a mut PassScratch,
}

impl PassScratch {
    fn resize(&mut self, n: usize) {
        let blocks = (n + 1).next_multiple_of(BLOCK);
        self.row.resize(n, 0);
        self.through.resize(n + 1, 0);
        self.begin.clear();
        self.begin.resize(blocks + 2 * BLOCK, NEG_INF);
        self.other.clear();
        self.other.resize(blocks + 2 * BLOCK, NEG_INF);
    }
}

/// Replaces every entry after the first block by the maximum of itself and the entry `back`
/// positions before it.
#[inline(always)]
fn max_of_previous(from: &[i32], to: &mut [i32], back: usize) {
    let count = from.len() - BLOCK;
    let (here, there, to) = (&from[BLOCK..], &from[BLOCK - back..][..count], &mut to[BLOCK..][..count]);
    for ((to, here), there) in to.iter_mut().zip(here).zip(there) {
        *to = *here.max(there);
    }
}

/// Replaces every entry before the last block by the maximum of itself and the entry `ahead`
/// positions after it.
#[inline(always)]
fn max_of_following(from: &[i32], to: &mut [i32], ahead: usize) {
    let count = from.len() - BLOCK;
    let (here, there, to) = (&from[..count], &from[ahead..][..count], &mut to[..count]);
    for ((to, here), there) in to.iter_mut().zip(here).zip(there) {
        *to = *here.max(there);
    }
}

/// Computes the row from the values in `through` and the maximum start value of a gap. `begins`
/// contains running maxima within each block. The function carries the maximum from block to block.
#[inline(always)]
fn close_forward(best: &mut [i32], begins: &[i32], through: &[i32], sums: &[i32]) {
    let mut greatest = NEG_INF;
    let (blocks, rest) = best.as_chunks_mut::<BLOCK>();
    let (through, through_rest) = through.as_chunks::<BLOCK>();
    let (sums, sums_rest) = sums.as_chunks::<BLOCK>();
    let (begins, _) = begins.as_chunks::<BLOCK>();
    for (((best, begins), through), sums) in blocks.iter_mut().zip(begins).zip(through).zip(sums) {
        *best = array_of(|k| through[k].max(begins[k].max(greatest) - sums[k]));
        greatest = greatest.max(begins[BLOCK - 1]);
    }
    let last = begins[blocks.len()];
    for (((best, begin), through), sum) in rest.iter_mut().zip(last).zip(through_rest).zip(sums_rest) {
        *best = (*through).max(begin.max(greatest) - sum);
    }
}

/// Replaces every entry by the maximum of itself and all entries after it. On input, `begins`
/// contains such maxima within each block.
#[inline(always)]
fn carry_backward(begins: &mut [i32]) {
    let mut greatest = NEG_INF;
    for block in begins.as_chunks_mut::<BLOCK>().0.iter_mut().rev() {
        // A separate variable lets the next block start before this block is written.
        let block_max = block[0];
        *block = block.map(|begin| begin.max(greatest));
        greatest = greatest.max(block_max);
    }
}

impl SimdKernel for Forward<'_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        let (problem, ProfileRectangle { a, b, m, n, opens, .. }) = (self.problem, self.rectangle);
        let (row, scratch) = (self.to, self.scratch);
        scratch.resize(n);
        row.best.clear();
        row.open.clear();
        let (open, extend) = (-problem.open_first(a, b + 1), -problem.extend_first(a, b + 1));
        row.best.push(0);
        row.best.extend((1..=n as i32).map(|j| open + j * extend));
        row.open.push(0);
        row.open.extend((1..=n).map(|j| row.best[j] - problem.open_second(a + 1, b + j)));
        let mut border = if opens { -problem.open_second(a + 1, b) } else { 0 };
        let border_step = problem.extend_second(a + 1, b);
        let (opens, sums) = (&problem.second.open[b..][..n + 2], &problem.sums[b..][..n + 1]);
        for i in 1..=m / 2 {
            let (row_open, step) = (problem.first.open[a + i], problem.first.extend[a + i]);
            border -= border_step;
            let scores = match problem.scores.stored(a + i - 1) {
                Some(row) => &row[b..][..n],
                None => {
                    problem.scores.compute(a + i - 1, b, &mut scratch.row, &mut scratch.spare);
                    &scratch.row[..n]
                }
            };
            let last = (row.best[n], row.open[n]);
            // Values from above and from the diagonal, and start values of gaps.
            let through = &mut scratch.through[..n + 1];
            through[0] = border;
            let (above, open) = (&row.best[1..=n], &mut row.open[1..=n]);
            let columns = through[1..].iter_mut().zip(open).zip(above).zip(&row.best[..n]).zip(&opens[1..=n]);
            for (((((to, open), above), before), opening), score) in columns.zip(scores) {
                *open = (above - opening - row_open).max(*open) - step;
                *to = (before + score).max(*open);
            }
            if b + n == problem.columns[1] {
                row.open[n] = last.0.max(last.1);
                scratch.through[n] = (row.best[n - 1] + scores[n - 1]).max(row.open[n]);
            }
            // Entry `BLOCK + j` belongs to column j. A gap before column j starts from a value in
            // column j - 1.
            let through = &scratch.through[..n + 1];
            let begin = &mut scratch.begin[BLOCK + 1..][..n];
            for (((begin, through), opening), sum) in begin.iter_mut().zip(through).zip(&opens[1..=n]).zip(&sums[..n]) {
                *begin = through - opening - row_open + sum;
            }
            max_of_previous(&scratch.begin, &mut scratch.other, 1);
            max_of_previous(&scratch.other, &mut scratch.begin, 2);
            max_of_previous(&scratch.begin, &mut scratch.other, 4);
            row.best[0] = border;
            close_forward(&mut row.best, &scratch.other[BLOCK..], through, sums);
            // No gap starts before column 0.
            scratch.begin[BLOCK] = NEG_INF;
        }
        row.open[0] = row.best[0];
    }
}

impl SimdKernel for Backward<'_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        let (problem, ProfileRectangle { a, b, m, n, closes, .. }) = (self.problem, self.rectangle);
        let (row, scratch) = (self.to, self.scratch);
        scratch.resize(n);
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
            let (row_open, step) = (problem.first.open[a + i + 1], problem.first.extend[a + i + 1]);
            let along_open = problem.first.open[a + i];
            down -= problem.extend_second(a + i + 1, b + n);
            let border = down - if closes { problem.open_second(a + i + 1, b + n) } else { 0 };
            let scores = match problem.scores.stored(a + i) {
                Some(row) => &row[b..][..n],
                None => {
                    problem.scores.compute(a + i, b, &mut scratch.row, &mut scratch.spare);
                    &scratch.row[..n]
                }
            };
            let left = row.best[0].max(row.open[0]);
            let through = &mut scratch.through[..n + 1];
            through[n] = border;
            let (below, open) = (&row.best[..n], &mut row.open[..n]);
            let columns = through[..n].iter_mut().zip(open).zip(below).zip(&row.best[1..=n]).zip(&opens[..n]);
            for (((((to, open), below), before), opening), score) in columns.zip(scores) {
                *open = *below.max(open) - step;
                *to = (before + score).max(*open - opening - row_open);
            }
            if b == 0 {
                row.open[0] = left;
                scratch.through[0] = (row.best[1] + scores[0]).max(left);
            }
            // Entry `j` belongs to column j, where a gap on its left ends.
            let through = &scratch.through[..n + 1];
            for ((begin, through), sum) in scratch.begin[..n + 1].iter_mut().zip(through).zip(sums) {
                *begin = through - sum;
            }
            max_of_following(&scratch.begin, &mut scratch.other, 1);
            max_of_following(&scratch.other, &mut scratch.begin, 2);
            max_of_following(&scratch.begin, &mut scratch.other, 4);
            carry_backward(&mut scratch.other);
            row.best[n] = border;
            let behind = &scratch.other[1..=n];
            let columns = row.best[..n].iter_mut().zip(&through[..n]).zip(behind).zip(&sums[..n]).zip(&opens[1..=n]);
            for ((((best, through), behind), sum), opening) in columns {
                *best = (*through).max(behind + sum - along_open - opening);
            }
            scratch.begin[n + 1..].fill(NEG_INF);
        }
        row.open[n] = row.best[n] + problem.open_second(a + m / 2 + 1, b + n);
    }
}

/// Computes the middle row from the top.
pub(super) fn forward(
    instructions: InstructionSet,
    problem: &PairProblem,
    rectangle: ProfileRectangle,
    to: &mut MiddleRow,
    scratch: &mut PassScratch,
) {
    instructions.run(Forward { problem, rectangle, to, scratch });
}

/// Computes the middle row from the bottom.
pub(super) fn backward(
    instructions: InstructionSet,
    problem: &PairProblem,
    rectangle: ProfileRectangle,
    to: &mut MiddleRow,
    scratch: &mut PassScratch,
) {
    instructions.run(Backward { problem, rectangle, to, scratch });
}
