//! One pair over all lanes: neighbouring words of rows in neighbouring lanes, each a column behind the one below it, so
//! that what a word hands on has arrived when the next one needs it (intra-sequence vectors along anti-diagonals).
//!
//! Lanes count down: the last lane of a vector has its first rows.
//!
//! A text where the pattern may end anywhere is taken a block of columns at a time: buffers have the columns of one
//! block, and between blocks two bits are kept of every row.

use std::marker::PhantomData;

use super::least::{Least, Steps};
use super::planes::{MAX_PLANES, Matcher, Planes};
use super::step::{Horizontal, Vertical, step};
use super::{Diagonals, Pair};
use crate::score::{EditMode, Found};
use crate::simd::{BITS, Kernel, Level, Lines, MAX_WORDS, Simd, Words};

/// The most vectors of rows at a time: two hide each other's delays.
const VECTORS: usize = 2;
/// Columns before the first and behind the last one that lanes touch.
const MARGIN: usize = VECTORS * MAX_WORDS;
/// Columns of a block as a rule: with two planes, their words fit the second cache of today's processors (1 MiB).
pub(super) const BLOCK: usize = 1 << 15;

/// Buffers that live from pair to pair.
#[derive(Debug, Clone, Default)]
pub(super) struct AloneBuffers {
    /// Planes of the block's text: all bits or none, one word a column.
    text: Lines<u64>,
    /// Steps along the row before the strip: top bits, one word a column. Then those along its last row.
    up: Lines<u64>,
    down: Lines<u64>,
    /// Rows after the last block, as lanes have them, if there are several blocks.
    pv: Lines<u64>,
    mv: Lines<u64>,
}

/// One pair.
pub(super) struct AloneTask<'a> {
    /// It, neither sequence empty.
    pub pair: Pair<'a>,
    /// Of pattern and text.
    pub planes: &'a Planes<'a>,
    /// What the pattern is compared with.
    pub mode: EditMode,
    /// The most columns of a block, at least one; the band of whole sequences is taken at once.
    pub block: usize,
    /// Room.
    pub buffers: &'a mut AloneBuffers,
    /// What comes out.
    pub outcome: &'a mut Outcome,
}

/// What comes of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// A distance, right if it is within the limit; else one above it.
    Found(Found),
    /// Given up after so many rows: the distance is above the limit, and at least so great by any way through
    /// the last of them.
    Beyond { rows: usize, least: u32 },
}

/// Computes a pair.
pub(super) fn align_pair<M: Matcher>(level: Level, task: AloneTask<'_>) {
    level.run(Matched(task, PhantomData::<M>));
}

/// A task with its matcher.
struct Matched<'a, M>(AloneTask<'a>, PhantomData<M>);

impl<M: Matcher> Kernel for Matched<'_, M> {
    type Output = ();
    const JOINS: bool = true;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        // SAFETY: the caller's.
        unsafe { align::<S::Words, M>(self.0) }
    }
}

/// Where columns are in the buffers.
struct Columns {
    /// Words of a plane with its margins.
    stride: usize,
    text: *const u64,
    up: *mut u64,
    down: *mut u64,
}

/// All rows, in the columns of a block.
struct Rows<'a> {
    pattern: &'a [u8],
    planes: &'a Planes<'a>,
    /// Columns of the text before the block, from which those of strips count.
    before: usize,
    /// Whether the block before left its rows, and whether this one has to.
    resumes: bool,
    leaves: bool,
    /// Where: as many words as all strips have.
    pv: *mut u64,
    mv: *mut u64,
}

/// Some rows, and the columns where they are computed.
struct Strip<'a> {
    rows: &'a Rows<'a>,
    first_row: usize,
    first: usize,
    last: usize,
}

/// Computes a pair, block after block of columns.
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
unsafe fn align<V: Words, M: Matcher>(task: AloneTask<'_>) {
    let AloneTask { pair, planes, mode, block, buffers, outcome } = task;
    let Pair { pattern, text, limit } = pair;
    let (m, n) = (pattern.len(), text.len());
    let is_global = mode == EditMode::Global;
    let band = if is_global { Diagonals::around(&[pair]) } else { Diagonals::ALL };
    let block = if is_global { n } else { n.min(block) };
    let stride = block + 1 + 2 * MARGIN;
    let masks = buffers.text.at_least(M::PLANES * stride);
    let (up, down) = (buffers.up.at_least(stride), buffers.down.at_least(stride));
    let kept = if block < n { m.div_ceil(BITS).next_multiple_of(VECTORS * V::COUNT) } else { 0 };
    let (pv, mv) = (buffers.pv.at_least(kept).as_mut_ptr(), buffers.mv.at_least(kept).as_mut_ptr());
    let mut row = Least::new([m as i64]);
    for before in (0..n).step_by(block) {
        let text = &text[before..n.min(before + block)];
        for plane in 0..M::PLANES {
            let mask = planes.mask(plane);
            let line = &mut masks[plane * stride..][..stride];
            line.fill(0);
            for (word, &code) in line[MARGIN + 1..].iter_mut().zip(text) {
                *word = u64::from(planes.code(code) & mask != 0).wrapping_neg();
            }
        }
        up[..stride].fill(if mode == EditMode::Infix { 0 } else { u64::MAX });
        down[..stride].fill(0);
        let columns = Columns {
            stride,
            text: masks.as_ptr(),
            up: up.as_mut_ptr().wrapping_add(MARGIN),
            down: down.as_mut_ptr().wrapping_add(MARGIN),
        };
        let (resumes, leaves) = (before > 0, before + text.len() < n);
        let rows = Rows { pattern, planes, before, resumes, leaves, pv, mv };
        // SAFETY: the caller's: V's instructions are there. All columns have their margins, and all strips their words.
        row = match unsafe { rows.sweep::<V, M>(&columns, text.len(), &band, is_global.then_some(limit), row) } {
            Ok(row) => row,
            Err(beyond) => {
                *outcome = beyond;
                return;
            }
        };
    }
    *outcome = Outcome::Found(match is_global {
        true => Found { distance: row.distance()[0] as u32, end: n as u32 },
        false => row.found()[0],
    });
}

impl Columns {
    /// Returns the step to column `j` along the row that is kept.
    ///
    /// # Safety
    /// `self.up` and `self.down` point to a word for column `j`.
    #[inline(always)]
    unsafe fn step(&self, j: usize) -> i64 {
        // SAFETY: the caller's.
        unsafe { (*self.up.add(j) >> 63) as i64 - (*self.down.add(j) >> 63) as i64 }
    }
}

impl Rows<'_> {
    /// Computes a block of `n` columns in the band, strip after strip. `last` is the last row
    /// before the block; the result is that row after it. A limit, which pairs compared end to end
    /// have, may show that the pair is beyond it.
    ///
    /// # Safety
    /// The processor has the instructions of `V`. `columns.text` points to `M::PLANES` planes of
    /// `columns.stride` words, at least `n + 1 + 2 * MARGIN`, with column 0 at [`MARGIN`].
    /// `columns.up` and `columns.down` point to column 0 of as many words, which may be written. If
    /// `self.resumes` or `self.leaves`, `self.pv` and `self.mv` point to a word for each 64 rows of
    /// the pattern, up to a multiple of `VECTORS * V::COUNT`, which may be written.
    #[inline(always)]
    unsafe fn sweep<V: Words, M: Matcher>(
        &self,
        columns: &Columns,
        n: usize,
        band: &Diagonals,
        limit: Option<u32>,
        mut last: Least<1>,
    ) -> Result<Least<1>, Outcome> {
        let m = self.pattern.len();
        let mut row = 0;
        // Distance in this row, in the column before the strip's first.
        let mut corner = 0;
        let mut first = 1;
        loop {
            let is_narrow = m - row <= V::COUNT * BITS;
            let rows = if is_narrow { V::COUNT * BITS } else { VECTORS * V::COUNT * BITS };
            let last_row = (row + rows).min(m);
            let begin = band.first_column(row + 1).max(first);
            let strip = Strip { rows: self, first_row: row, first: begin, last: band.last_column(last_row).min(n) };
            // SAFETY: the caller's.
            unsafe {
                corner += (first..begin).map(|j| columns.step(j)).sum::<i64>();
                first = begin;
                if last_row == m {
                    if !self.resumes {
                        last = Least::new([corner + (m - row) as i64]);
                    }
                    return Ok(if is_narrow {
                        strip.compute::<V, M, 1>(columns, Some(last))
                    } else {
                        strip.compute::<V, M, VECTORS>(columns, Some(last))
                    });
                }
                strip.compute::<V, M, VECTORS>(columns, None);
                if let Some(limit) = limit.filter(|&limit| (limit as usize) < m.max(n)) {
                    // What a cell has, and what the way from there to the end takes at least.
                    let (mut distance, mut least) = (corner + rows as i64, i64::MAX);
                    let straight = n as i64 - (m - last_row) as i64;
                    for j in begin..=strip.last {
                        distance += columns.step(j);
                        least = least.min(distance + (straight - j as i64).abs());
                    }
                    if least > i64::from(limit) {
                        return Err(Outcome::Beyond { rows: last_row, least: least as u32 });
                    }
                }
                // No path through rows above enters here: steps of one are no less than what comes of them.
                for j in strip.last + 1..=n.min(strip.last + rows + MARGIN) {
                    *columns.up.add(j) = u64::MAX;
                    *columns.down.add(j) = 0;
                }
            }
            corner += rows as i64;
            row = last_row;
        }
    }
}

impl Strip<'_> {
    /// Computes a strip of K vectors. With `last_row`, follows the last row, which is in the strip.
    ///
    /// # Safety
    /// The conditions of [`Strip::compute_block`] hold.
    #[inline(always)]
    unsafe fn compute<V: Words, M: Matcher, const K: usize>(
        &self,
        columns: &Columns,
        last_row: Option<Least<1>>,
    ) -> Least<1> {
        // SAFETY: the caller's.
        unsafe {
            if self.rows.resumes || self.rows.leaves {
                self.compute_block::<V, M, K, true>(columns, last_row)
            } else {
                self.compute_block::<V, M, K, false>(columns, last_row)
            }
        }
    }

    /// Does [`Strip::compute`]; without `EDGES` the block is the only one.
    ///
    /// # Safety
    /// The processor has the instructions of `V`. `columns` and `self.rows` meet the conditions of
    /// [`Rows::sweep`]. `K` is at most [`VECTORS`]. `self.first_row` is less than the rows of the
    /// pattern, and a multiple of those of [`VECTORS`] vectors. `self.first` is at least 1, and
    /// `self.last` at most `n`.
    #[inline(always)]
    unsafe fn compute_block<V: Words, M: Matcher, const K: usize, const EDGES: bool>(
        &self,
        columns: &Columns,
        last_row: Option<Least<1>>,
    ) -> Least<1> {
        let Rows { pattern: symbols, planes, before: columns_before, resumes, leaves, .. } = *self.rows;
        let m = symbols.len();
        let lanes = K * V::COUNT;
        let mut pattern = [[0u64; VECTORS * MAX_WORDS]; MAX_PLANES];
        for word in 0..lanes {
            let mut bits = [0; MAX_PLANES];
            let first = (self.first_row + word * BITS) as isize;
            // SAFETY: the caller's.
            unsafe { planes.read::<V>(symbols, first, &mut bits[..M::PLANES]) };
            for (plane, bits) in bits.iter().enumerate() {
                pattern[plane][word / V::COUNT * V::COUNT + (V::COUNT - 1 - word % V::COUNT)] = *bits;
            }
        }
        // The word with the last row, and the row's bit.
        let (own, bit) = ((m - 1 - self.first_row) / BITS, (m - 1) % BITS);
        let mut row = last_row.unwrap_or(Least::new([0]));
        let (mut ups, mut downs) = (0u64, 0u64);
        let delay = if last_row.is_some() { own } else { lanes - 1 };
        // SAFETY: the caller's: V's instructions are there, and margins on both sides of all columns.
        unsafe {
            let pattern: [[V; MAX_PLANES]; K] = std::array::from_fn(|v| {
                std::array::from_fn(|plane| V::load(pattern[plane].as_ptr().add(v * V::COUNT)))
            });
            // Before its first column a word steps down by one a column: so it stays as it is, rows one above the
            // other, and tells the next word to do so.
            let mut states = [Vertical { pv: V::splat(u64::MAX), mv: V::splat(0) }; K];
            let mut tops = [Horizontal { hp: V::splat(0), hn: V::splat(u64::MAX), as_matches: V::splat(0) }; K];
            let kept = self.first_row / BITS;
            if EDGES && resumes {
                for (v, state) in states.iter_mut().enumerate() {
                    let words = kept + v * V::COUNT;
                    *state = Vertical { pv: V::load(self.rows.pv.add(words)), mv: V::load(self.rows.mv.add(words)) };
                }
            }
            let mut saved = [[[0u64; MAX_WORDS]; 2]; K];
            // What a word has that begins with rows of another block, or leaves some, changes in the block's columns only.
            let all_begun = if resumes { self.first + lanes - 1 } else { 0 };
            let one_ended = if leaves { self.last + 1 } else { usize::MAX };
            for t in self.first..=self.last + delay {
                let before = tops;
                let is_at_edge = EDGES && (t < all_begun || t >= one_ended);
                if is_at_edge {
                    for (v, state) in states.iter().enumerate() {
                        state.pv.store(saved[v][0].as_mut_ptr());
                        state.mv.store(saved[v][1].as_mut_ptr());
                    }
                }
                let back = |v: usize| MARGIN + t - v * V::COUNT - (V::COUNT - 1);
                for v in 0..K {
                    let (hp, hn) = match v.checked_sub(1) {
                        Some(above) => (before[above].hp, before[above].hn),
                        None => (V::splat(*columns.up.add(t)), V::splat(*columns.down.add(t))),
                    };
                    let below = Horizontal::new(before[v].hp.shift_down(hp), before[v].hn.shift_down(hn));
                    let symbol = |plane: usize| V::load(columns.text.add(plane * columns.stride + back(v)));
                    (states[v], tops[v]) = step::<V, M>(states[v], below, |plane| pattern[v][plane], symbol);
                }
                if is_at_edge {
                    for (v, state) in states.iter_mut().enumerate() {
                        let (inside, outside) = self.words_in_block::<V>(t, v);
                        let (inside, outside) = (V::load(inside.as_ptr()), V::load(outside.as_ptr()));
                        let choose =
                            |new: V, old: &[u64; MAX_WORDS]| new.and_or(inside, V::load(old.as_ptr()).and(outside));
                        state.pv = choose(state.pv, &saved[v][0]);
                        state.mv = choose(state.mv, &saved[v][1]);
                    }
                }
                if last_row.is_none() {
                    // Only what the first lane leaves stays: the others' is overwritten.
                    let offset = t as isize - (lanes as isize - 1);
                    tops[K - 1].hp.store(columns.up.offset(offset));
                    tops[K - 1].hn.store(columns.down.offset(offset));
                } else if t >= self.first + own {
                    let (mut hp, mut hn) = ([0u64; MAX_WORDS], [0u64; MAX_WORDS]);
                    let top = tops[own / V::COUNT];
                    top.hp.store(hp.as_mut_ptr());
                    top.hn.store(hn.as_mut_ptr());
                    let lane = V::COUNT - 1 - own % V::COUNT;
                    let c = (t - own - self.first) % BITS;
                    ups |= (hp[lane] >> bit & 1) << (BITS - 1 - c);
                    downs |= (hn[lane] >> bit & 1) << (BITS - 1 - c);
                    if c == BITS - 1 || t == self.last + own {
                        row.advance(Steps { up: [ups], down: [downs] }, columns_before + t - own - c - 1, [c + 1]);
                        (ups, downs) = (0, 0);
                    }
                }
            }
            if EDGES && leaves {
                for (v, state) in states.iter().enumerate() {
                    let words = kept + v * V::COUNT;
                    state.pv.store(self.rows.pv.add(words));
                    state.mv.store(self.rows.mv.add(words));
                }
            }
        }
        row
    }

    /// The lanes of a vector whose words are at one of the strip's columns in turn `t`: all bits or none. Then the others.
    fn words_in_block<V: Words>(&self, t: usize, v: usize) -> ([u64; MAX_WORDS], [u64; MAX_WORDS]) {
        let mut inside = [0; MAX_WORDS];
        for (lane, mask) in inside[..V::COUNT].iter_mut().enumerate() {
            let column = t.wrapping_sub(v * V::COUNT + V::COUNT - 1 - lane);
            *mask = u64::from((self.first..=self.last).contains(&column)).wrapping_neg();
        }
        (inside, inside.map(|mask| !mask))
    }
}

#[cfg(test)]
mod tests;
