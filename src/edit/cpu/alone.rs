//! A single pair on all lanes. Adjacent lanes contain adjacent words of rows. Each lane is one
//! column behind the lane with the word before. The output of a word is therefore ready when the
//! next word needs it (intra-sequence vectors along anti-diagonals).
//!
//! Lanes are in descending order: the last lane of a vector contains its first rows.
//!
//! If the pattern may end anywhere in the text, the text is processed in blocks of columns. The
//! buffers hold the columns of one block. Between blocks, two bits are stored per row.

mod strip;

use std::marker::PhantomData;

use self::strip::RowStrip;
use super::least::LastRowMinimum;
use super::planes::{Matcher, Planes};
use super::{DiagonalBand, EditPair};
use crate::score::{EditDistance, EditMode};
use crate::simd::{AlignedBuffer, BITS, InstructionSet, LanesU64, MAX_U64_LANES, Simd, SimdKernel};

/// Maximum number of row vectors per strip. With two, one is computed while the other waits for its
/// last operation.
const VECTORS: usize = 2;
/// Number of padding columns before the first and after the last column that lanes access.
const MARGIN: usize = VECTORS * MAX_U64_LANES;
/// Default number of columns in a block. With two planes, the buffers fit the L2 cache of current
/// processors (1 MiB).
pub(super) const BLOCK: usize = 1 << 15;

/// Scratch memory, reused for all pairs.
#[derive(Debug, Clone, Default)]
pub(super) struct AloneBuffers {
    /// Planes of the block's text: per column a word with all bits set or none.
    text: AlignedBuffer<u64>,
    /// Steps along the row above the strip: the top bit of one word per column. The sweep replaces
    /// them by the steps along the strip's last row.
    up: AlignedBuffer<u64>,
    down: AlignedBuffer<u64>,
    /// Rows after the last block in lane order, if there are several blocks.
    pv: AlignedBuffer<u64>,
    mv: AlignedBuffer<u64>,
}

/// The inputs of one pair.
pub(super) struct AloneTask<'a> {
    /// The pair. Neither sequence is empty.
    pub pair: EditPair<'a>,
    /// Planes of pattern and text.
    pub planes: &'a Planes<'a>,
    /// Mode of the distance.
    pub mode: EditMode,
    /// Maximum number of columns in a block, at least one. In global mode, all columns are one
    /// block.
    pub block: usize,
    /// Scratch memory.
    pub buffers: &'a mut AloneBuffers,
    /// The result.
    pub outcome: &'a mut PairOutcome,
}

/// The result of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PairOutcome {
    /// A distance. If it is within the limit, it is exact. Otherwise the exact distance exceeds the
    /// limit as well.
    Distance(EditDistance),
    /// Stopped after `rows` rows, because the distance exceeds the limit: `least` is a lower bound
    /// on the distance of all paths through the last of these rows.
    Beyond { rows: usize, least: u32 },
}

/// Computes a pair.
pub(super) fn align_pair<M: Matcher>(instructions: InstructionSet, task: AloneTask<'_>) {
    instructions.run(AloneKernel(task, PhantomData::<M>));
}

/// A task with its matcher.
struct AloneKernel<'a, M>(AloneTask<'a>, PhantomData<M>);

impl<M: Matcher> SimdKernel for AloneKernel<'_, M> {
    type Output = ();
    const USES_VBMI2: bool = true;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        // SAFETY: guaranteed by the caller.
        unsafe { align::<S::U64Lanes, M>(self.0) }
    }
}

/// Pointers to the columns in the buffers.
struct BlockColumns {
    /// Number of words of a plane, including its margins.
    stride: usize,
    text: *const u64,
    up: *mut u64,
    down: *mut u64,
}

/// All rows of the pattern, in the columns of a block.
struct BlockRows<'a> {
    pattern: &'a [u8],
    planes: &'a Planes<'a>,
    /// Number of columns of the text before the block. The columns of strips are relative to it.
    before: usize,
    /// Whether the previous block stored its rows, and whether this block must store them.
    resumes: bool,
    leaves: bool,
    /// Stored rows: one word for each 64 rows of all strips.
    pv: *mut u64,
    mv: *mut u64,
}

/// Computes a pair, one block of columns after another.
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
unsafe fn align<V: LanesU64, M: Matcher>(task: AloneTask<'_>) {
    let AloneTask { pair, planes, mode, block, buffers, outcome } = task;
    let EditPair { pattern, text, limit } = pair;
    let (m, n) = (pattern.len(), text.len());
    let is_global = mode == EditMode::Global;
    let band = if is_global { DiagonalBand::band_around(&[pair]) } else { DiagonalBand::ALL };
    let block = if is_global { n } else { n.min(block) };
    let stride = block + 1 + 2 * MARGIN;
    let masks = buffers.text.at_least(M::PLANES * stride);
    let (up, down) = (buffers.up.at_least(stride), buffers.down.at_least(stride));
    let kept = if block < n { m.div_ceil(BITS).next_multiple_of(VECTORS * V::COUNT) } else { 0 };
    let (pv, mv) = (buffers.pv.at_least(kept).as_mut_ptr(), buffers.mv.at_least(kept).as_mut_ptr());
    let mut row = LastRowMinimum::new([m as i64]);
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
        let columns = BlockColumns {
            stride,
            text: masks.as_ptr(),
            up: up.as_mut_ptr().wrapping_add(MARGIN),
            down: down.as_mut_ptr().wrapping_add(MARGIN),
        };
        let (resumes, leaves) = (before > 0, before + text.len() < n);
        let rows = BlockRows { pattern, planes, before, resumes, leaves, pv, mv };
        // SAFETY: the caller guarantees the instructions of V. All columns have their margins, and
        // all strips their words.
        row = match unsafe { rows.sweep::<V, M>(&columns, text.len(), &band, is_global.then_some(limit), row) } {
            Ok(row) => row,
            Err(beyond) => {
                *outcome = beyond;
                return;
            }
        };
    }
    *outcome = PairOutcome::Distance(match is_global {
        true => EditDistance { distance: row.distance()[0] as u32, end: n as u32 },
        false => row.results()[0],
    });
}

impl BlockColumns {
    /// Returns the step to column `j` along the stored row.
    ///
    /// # Safety
    /// `self.up` and `self.down` point to a word for column `j`.
    #[inline(always)]
    unsafe fn step(&self, j: usize) -> i64 {
        // SAFETY: guaranteed by the caller.
        unsafe { (*self.up.add(j) >> 63) as i64 - (*self.down.add(j) >> 63) as i64 }
    }
}

impl BlockRows<'_> {
    /// Computes a block of `n` columns within the band, strip by strip. `last` describes the last
    /// row before the block, and the returned value describes it after the block. `limit` is only
    /// given for whole sequences. If the pair exceeds it, the computation may stop early with an
    /// error.
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
        columns: &BlockColumns,
        n: usize,
        band: &DiagonalBand,
        limit: Option<u32>,
        mut last: LastRowMinimum<1>,
    ) -> Result<LastRowMinimum<1>, PairOutcome> {
        let m = self.pattern.len();
        let mut row = 0;
        // Distance in this row, in the column before the strip's first column.
        let mut corner = 0;
        let mut first = 1;
        loop {
            let is_narrow = m - row <= V::COUNT * BITS;
            let rows = if is_narrow { V::COUNT * BITS } else { VECTORS * V::COUNT * BITS };
            let last_row = (row + rows).min(m);
            let begin = band.first_column(row + 1).max(first);
            let strip = RowStrip { rows: self, first_row: row, first: begin, last: band.last_column(last_row).min(n) };
            // SAFETY: guaranteed by the caller.
            unsafe {
                corner += (first..begin).map(|j| columns.step(j)).sum::<i64>();
                first = begin;
                if last_row == m {
                    if !self.resumes {
                        last = LastRowMinimum::new([corner + (m - row) as i64]);
                    }
                    return Ok(if is_narrow {
                        strip.compute::<V, M, 1>(columns, Some(last))
                    } else {
                        strip.compute::<V, M, VECTORS>(columns, Some(last))
                    });
                }
                strip.compute::<V, M, VECTORS>(columns, None);
                if let Some(limit) = limit.filter(|&limit| (limit as usize) < m.max(n)) {
                    // Adds the distance of each cell and the minimum cost of the path from there to
                    // the end.
                    let (mut distance, mut least) = (corner + rows as i64, i64::MAX);
                    let straight = n as i64 - (m - last_row) as i64;
                    for j in begin..=strip.last {
                        distance += columns.step(j);
                        least = least.min(distance + (straight - j as i64).abs());
                    }
                    if least > i64::from(limit) {
                        return Err(PairOutcome::Beyond { rows: last_row, least: least as u32 });
                    }
                }
                // No path enters these columns from the rows above. Steps of +1 never underestimate
                // a distance.
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
