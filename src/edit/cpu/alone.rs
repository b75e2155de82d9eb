//! One pair over all lanes: neighbouring words of rows in neighbouring lanes, each a column behind the one below it, so
//! that what a word hands on has arrived when the next one needs it (intra-sequence vectors along anti-diagonals).
//!
//! Lanes count down: the last lane of a vector has its first rows.
//!
//! A text where the pattern may end anywhere is taken a block of columns at a time: buffers have the columns of one
//! block, and between blocks two bits are kept of every row.

mod strip;

use std::marker::PhantomData;

use self::strip::Strip;
use super::least::Least;
use super::planes::{Matcher, Planes};
use super::{Diagonals, Pair};
use crate::score::{EditDistance, EditMode};
use crate::simd::{AlignedBuffer, BITS, InstructionSet, LanesU64, MAX_U64_LANES, Simd, SimdKernel};

/// The most vectors of rows at a time: two hide each other's delays.
const VECTORS: usize = 2;
/// Columns before the first and behind the last one that lanes touch.
const MARGIN: usize = VECTORS * MAX_U64_LANES;
/// Columns of a block as a rule: with two planes, their words fit the second cache of today's processors (1 MiB).
pub(super) const BLOCK: usize = 1 << 15;

/// Buffers that live from pair to pair.
#[derive(Debug, Clone, Default)]
pub(super) struct AloneBuffers {
    /// Planes of the block's text: all bits or none, one word a column.
    text: AlignedBuffer<u64>,
    /// Steps along the row before the strip: top bits, one word a column. Then those along its last row.
    up: AlignedBuffer<u64>,
    down: AlignedBuffer<u64>,
    /// Rows after the last block, as lanes have them, if there are several blocks.
    pv: AlignedBuffer<u64>,
    mv: AlignedBuffer<u64>,
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
    Distance(EditDistance),
    /// Given up after so many rows: the distance is above the limit, and at least so great by any way through
    /// the last of them.
    Beyond { rows: usize, least: u32 },
}

/// Computes a pair.
pub(super) fn align_pair<M: Matcher>(level: InstructionSet, task: AloneTask<'_>) {
    level.run(Matched(task, PhantomData::<M>));
}

/// A task with its matcher.
struct Matched<'a, M>(AloneTask<'a>, PhantomData<M>);

impl<M: Matcher> SimdKernel for Matched<'_, M> {
    type Output = ();
    const USES_VBMI2: bool = true;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        // SAFETY: the caller's.
        unsafe { align::<S::U64Lanes, M>(self.0) }
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

/// Computes a pair, block after block of columns.
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
unsafe fn align<V: LanesU64, M: Matcher>(task: AloneTask<'_>) {
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
    *outcome = Outcome::Distance(match is_global {
        true => EditDistance { distance: row.distance()[0] as u32, end: n as u32 },
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
    unsafe fn sweep<V: LanesU64, M: Matcher>(
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

#[cfg(test)]
mod tests;
