//! One pair over all lanes: neighbouring words of rows in neighbouring lanes, each a column behind the one below it, so
//! that what a word hands on has arrived when the next one needs it (intra-sequence vectors along anti-diagonals).
//!
//! Lanes count down: the last lane of a vector has its first rows.

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

/// Buffers that live from pair to pair.
#[derive(Debug, Clone, Default)]
pub(super) struct AloneBuffers {
    /// Planes of the text: all bits or none, one word a column.
    text: Lines<u64>,
    /// Steps along the row before the strip: top bits, one word a column. Then those along its last row.
    up: Lines<u64>,
    down: Lines<u64>,
}

/// One pair.
pub(super) struct AloneTask<'a> {
    /// It, neither sequence empty.
    pub pair: Pair<'a>,
    /// Of pattern and text.
    pub planes: &'a Planes<'a>,
    /// What the pattern is compared with.
    pub mode: EditMode,
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
///
/// The processor must have the instructions.
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

/// Some rows, and the columns where they are computed.
struct Strip<'a> {
    pattern: &'a [u8],
    planes: &'a Planes<'a>,
    first_row: usize,
    first: usize,
    last: usize,
}

#[inline(always)]
unsafe fn align<V: Words, M: Matcher>(task: AloneTask<'_>) {
    let AloneTask { pair, planes, mode, buffers, outcome } = task;
    let Pair { pattern, text, limit } = pair;
    let (m, n) = (pattern.len(), text.len());
    let is_global = mode == EditMode::Global;
    let band = if is_global { Diagonals::around(&[pair]) } else { Diagonals::ALL };
    let stride = n + 1 + 2 * MARGIN;
    let masks = buffers.text.at_least(M::PLANES * stride);
    for plane in 0..M::PLANES {
        let mask = planes.mask(plane);
        let line = &mut masks[plane * stride..][..stride];
        line.fill(0);
        for (word, &code) in line[MARGIN + 1..].iter_mut().zip(text) {
            *word = u64::from(planes.code(code) & mask != 0).wrapping_neg();
        }
    }
    let (up, down) = (buffers.up.at_least(stride), buffers.down.at_least(stride));
    up[..stride].fill(if mode == EditMode::Infix { 0 } else { u64::MAX });
    down[..stride].fill(0);
    let columns = Columns {
        stride,
        text: masks.as_ptr(),
        up: up.as_mut_ptr().wrapping_add(MARGIN),
        down: down.as_mut_ptr().wrapping_add(MARGIN),
    };
    let mut row = 0;
    // Distance in this row, in the column before the strip's first.
    let mut corner = 0;
    let mut first = 1;
    loop {
        let is_narrow = m - row <= V::COUNT * BITS;
        let rows = if is_narrow { V::COUNT * BITS } else { VECTORS * V::COUNT * BITS };
        let last_row = (row + rows).min(m);
        let begin = band.first_column(row + 1).max(first);
        let strip = Strip { pattern, planes, first_row: row, first: begin, last: band.last_column(last_row).min(n) };
        // SAFETY: the caller's: V's instructions are there. Columns 1 to n have their margins.
        unsafe {
            corner += (first..begin).map(|j| columns.step(j)).sum::<i64>();
            first = begin;
            if last_row == m {
                let row = Least::new([corner + (m - row) as i64]);
                let row = if is_narrow {
                    strip.compute::<V, M, 1>(&columns, Some(row))
                } else {
                    strip.compute::<V, M, VECTORS>(&columns, Some(row))
                };
                *outcome = Outcome::Found(match is_global {
                    true => Found { distance: row.distance()[0] as u32, end: n as u32 },
                    false => row.found()[0],
                });
                return;
            }
            strip.compute::<V, M, VECTORS>(&columns, None);
            if is_global && (limit as usize) < m.max(n) {
                // What a cell has, and what the way from there to the end takes at least.
                let (mut distance, mut least) = (corner + rows as i64, i64::MAX);
                let straight = n as i64 - (m - last_row) as i64;
                for j in begin..=strip.last {
                    distance += columns.step(j);
                    least = least.min(distance + (straight - j as i64).abs());
                }
                if least > i64::from(limit) {
                    *outcome = Outcome::Beyond { rows: last_row, least: least as u32 };
                    return;
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

impl Columns {
    /// The step to column `j` along the row that is kept.
    #[inline(always)]
    unsafe fn step(&self, j: usize) -> i64 {
        // SAFETY: the caller's.
        unsafe { (*self.up.add(j) >> 63) as i64 - (*self.down.add(j) >> 63) as i64 }
    }
}

impl Strip<'_> {
    /// Computes a strip of K vectors. The last row is followed, if it is in there.
    #[inline(always)]
    unsafe fn compute<V: Words, M: Matcher, const K: usize>(
        &self,
        columns: &Columns,
        last_row: Option<Least<1>>,
    ) -> Least<1> {
        let m = self.pattern.len();
        let lanes = K * V::COUNT;
        let mut pattern = [[0u64; VECTORS * MAX_WORDS]; MAX_PLANES];
        for word in 0..lanes {
            let mut bits = [0; MAX_PLANES];
            let first = (self.first_row + word * BITS) as isize;
            // SAFETY: the caller's.
            unsafe { self.planes.read::<V>(self.pattern, first, &mut bits[..M::PLANES]) };
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
            for t in self.first..=self.last + delay {
                let before = tops;
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
                        row.advance(Steps { up: [ups], down: [downs] }, t - own - c - 1, [c + 1]);
                        (ups, downs) = (0, 0);
                    }
                }
            }
        }
        row
    }
}
