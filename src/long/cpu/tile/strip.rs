//! Computes rows of a tile with vectors. Every lane computes a few rows, one column behind the lane
//! with the rows above (vectors along antidiagonals, Wozniak 1997, with several rows per lane).
//!
//! A strip has COUNT * R rows, where COUNT is the number of lanes and R the number of rows per
//! lane. Lane COUNT - 1 - b computes block b of R rows. At step t it computes column t - b, one row
//! after another. The values at the bottom of a block enter the next block one step later, by a
//! shift of lanes. Within a step, the values of a lane stay in registers.
//!
//! Each lane needs the scores of its own rows against a different column. They are prepared for 16
//! steps at a time: the scores of 16 rows are read from their own positions in the profile and
//! transposed, so that the scores of one step are adjacent bytes.
//!
//! Lanes compute padding before their first and after their last column. Padding scores less than
//! any symbol, so it cannot change the greatest value of a strip. Its results are overwritten.

use super::TileScoring;
use crate::long::NEG_INF;
use crate::seq::Code;
use crate::simd::{BLOCK, InstructionSet, Lanes, LanesI32, MAX_I32_LANES, Simd, SimdKernel, array_of};

/// Number of spare entries before and after the values and scores of columns, for lanes that are
/// ahead or behind.
pub(super) const MARGIN: usize = 2 * MAX_I32_LANES;
/// Score of padding.
pub(super) const PADDING: i8 = i8::MIN;

/// Computes values only.
pub(super) const SWEEP: u8 = 0;
/// Finds the first cell that has a value.
pub(super) const LOCATE: u8 = 1;
/// Computes values and directions.
pub(super) const DIRECTIONS: u8 = 2;

/// Consecutive rows of a tile, with their borders.
pub(super) struct TileStrip<'a> {
    pub scheme: &'a TileScoring,
    /// Codes of the rows.
    pub rows: &'a [Code],
    /// Number of columns.
    pub columns: usize,
    /// One row of scores for each code, at multiples of `stride`. The score of the first column is
    /// at [`MARGIN`].
    pub profile: &'a [i8],
    pub stride: usize,
    /// H and gap of the row above, starting with the corner, followed by [`MARGIN`] values of
    /// [`NEG_INF`].
    pub top: (&'a [i32], &'a [i32]),
    /// H and gap of the last row, with the corner at [`MARGIN`].
    pub bottom: (&'a mut [i32], &'a mut [i32]),
    /// H and gap of the column to the left, starting with the corner.
    pub left: (&'a [i32], &'a [i32]),
    /// H and gap of the last column, starting with the corner, which is not changed.
    pub right: (&'a mut [i32], &'a mut [i32]),
    /// Buffer for scores.
    pub stream: &'a mut Vec<i8>,
    /// For [`DIRECTIONS`]: a u64 for each step and row of a lane, initially 0.
    pub directions: &'a mut [u64],
    /// For [`LOCATE`]: the value to find.
    pub value: i32,
    /// For [`LOCATE`]: row and column of the first cell with the value, in row order.
    pub first_cell: Option<(usize, usize)>,
}

/// Returns the number of rows per lane in high strips, for this number of lanes.
const fn high_rows_per_lane(lanes: usize) -> usize {
    if lanes == 16 { 8 } else { 4 }
}

/// Returns the number of lanes and of rows per lane, for the high and the low strips of an
/// instruction set.
pub(super) fn shapes(instruction_set: InstructionSet) -> [(usize, usize); 2] {
    let lanes = instruction_set.i32_lanes();
    [(lanes, high_rows_per_lane(lanes)), (lanes, 1)]
}

/// Computes a strip with `slots` rows per lane (see [`shapes`]). Returns its greatest value if H is
/// clamped at 0.
pub(super) fn compute<const WHAT: u8>(slots: usize, strip: &mut TileStrip<'_>) -> i32 {
    strip.scheme.instruction_set.run(StripKernel::<WHAT> { slots, strip })
}

/// A strip with its number of rows per lane, which an instruction set runs.
struct StripKernel<'s, 'a, const WHAT: u8> {
    slots: usize,
    strip: &'s mut TileStrip<'a>,
}

impl<const WHAT: u8> SimdKernel for StripKernel<'_, '_, WHAT> {
    type Output = i32;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) -> i32 {
        // SAFETY: `SimdKernel::run` requires the instructions of `S`. The strip was built with a
        // profile of a row of `stride` scores for each code.
        unsafe {
            match const { high_rows_per_lane(S::I32Lanes::COUNT) } {
                8 => choose::<S::I32Lanes, 8, WHAT>(self.slots, self.strip),
                _ => choose::<S::I32Lanes, 4, WHAT>(self.slots, self.strip),
            }
        }
    }
}

/// Computes a strip with the variant of `body` for its scoring.
///
/// # Safety
/// The processor has the instructions of `W`. The profile has a row of `strip.stride` scores for
/// each code of `strip.rows`.
#[inline(always)]
unsafe fn choose<W: LanesI32, const R: usize, const WHAT: u8>(slots: usize, strip: &mut TileStrip<'_>) -> i32 {
    // SAFETY: `body` has the same preconditions, which the caller guarantees.
    unsafe {
        match (slots == R && WHAT != LOCATE, strip.scheme.clamp, strip.scheme.is_linear()) {
            (true, true, true) => body::<W, R, WHAT, true, true>(strip),
            (true, true, false) => body::<W, R, WHAT, true, false>(strip),
            (true, false, true) => body::<W, R, WHAT, false, true>(strip),
            (true, false, false) => body::<W, R, WHAT, false, false>(strip),
            (false, true, true) => body::<W, 1, WHAT, true, true>(strip),
            (false, true, false) => body::<W, 1, WHAT, true, false>(strip),
            (false, false, true) => body::<W, 1, WHAT, false, true>(strip),
            (false, false, false) => body::<W, 1, WHAT, false, false>(strip),
        }
    }
}

/// Copies of registers in memory. Single lanes are written there at the start of a strip, and read
/// at its end.
struct Spilled<const R: usize> {
    h: [[i32; MAX_I32_LANES]; R],
    gap: [[i32; MAX_I32_LANES]; R],
    diagonal: [i32; MAX_I32_LANES],
}

/// Computes a strip. Returns its greatest value if H is clamped at 0.
///
/// # Safety
/// The processor has the instructions of `W`. The profile has a row of `strip.stride` scores for
/// each code of `strip.rows`.
#[inline(always)]
unsafe fn body<W: LanesI32, const R: usize, const WHAT: u8, const CLAMP: bool, const LINEAR: bool>(
    strip: &mut TileStrip<'_>,
) -> i32 {
    let (count, n) = (W::COUNT, strip.columns);
    let gaps = strip.scheme.gaps;
    assert!(strip.rows.len() == count * R && n > 0);
    assert!(strip.top.0.len() > n + MARGIN && strip.top.1.len() > n + MARGIN);
    assert!(strip.bottom.0.len() > n + 2 * MARGIN && strip.bottom.1.len() > n + 2 * MARGIN);
    assert!(strip.stride >= n + 2 * MARGIN);
    assert!(WHAT != DIRECTIONS || strip.directions.len() >= (n + count - 1) * R);
    let groups = (count * R).div_ceil(BLOCK);
    strip.stream.resize(groups * BLOCK * BLOCK, 0);
    let stream = strip.stream.as_mut_ptr();
    // Source of each byte of the stream: a row of the profile, shifted by the number of columns
    // that its lane is behind.
    let mut sources = [[strip.profile.as_ptr(); BLOCK]; MAX_GROUPS];
    for slot in 0..R {
        for lane in 0..count {
            let block = count - 1 - lane;
            let code = strip.rows[block * R + slot] as usize;
            let slice_index = slot * count + lane;
            sources[slice_index / BLOCK][slice_index % BLOCK] =
                strip.profile[code * strip.stride + MARGIN - block..].as_ptr();
        }
    }
    let mut spilled =
        Spilled { h: [[0; MAX_I32_LANES]; R], gap: [[0; MAX_I32_LANES]; R], diagonal: [0; MAX_I32_LANES] };
    // SAFETY: the caller guarantees that W's instructions exist. Columns are accessed up to MARGIN
    // before the first and after the last, as the asserts allow. The profile is read from `block`
    // columns before the first column of its row to 2 BLOCK after the last one, which is within the
    // margins of the row.
    unsafe {
        let (first, next, zero) = (W::splat(gaps.first), W::splat(gaps.next), W::splat(0));
        let mut h = [zero; R];
        let mut d = [zero; R];
        let (mut diagonal, mut cell, mut gap, mut best) = (zero, zero, zero, zero);
        let value = W::splat(strip.value);
        let (top_h, top_gap) = (strip.top.0.as_ptr().add(1), strip.top.1.as_ptr().add(1));
        // Lane 0 computes the last row of the strip. Later steps overwrite the lanes above it.
        let bottom_h = strip.bottom.0.as_mut_ptr().add(MARGIN + 2 - count);
        let bottom_gap = strip.bottom.1.as_mut_ptr().add(MARGIN + 2 - count);
        for t in 0..n + count - 1 {
            if t % BLOCK == 0 {
                for (group, sources) in sources[..groups].iter().enumerate() {
                    let rows: [*const i8; BLOCK] = array_of(|k| sources[k].add(t));
                    // Bytes beyond the lanes of a low strip are unused. They are read from the
                    // start of the profile.
                    let rows =
                        if count * R < BLOCK { unused_from_start::<BLOCK>(rows, *sources, count * R) } else { rows };
                    W::transpose(&rows, stream.add(group * BLOCK * BLOCK));
                }
            }
            if t < count {
                // One block reaches its first column in this step.
                for slot in 0..R {
                    h[slot].store(spilled.h[slot].as_mut_ptr());
                    d[slot].store(spilled.gap[slot].as_mut_ptr());
                    spilled.h[slot][count - 1 - t] = strip.left.0[1 + t * R + slot];
                    spilled.gap[slot][count - 1 - t] = strip.left.1[1 + t * R + slot];
                    h[slot] = W::load(spilled.h[slot].as_ptr());
                    d[slot] = W::load(spilled.gap[slot].as_ptr());
                }
                diagonal.store(spilled.diagonal.as_mut_ptr());
                spilled.diagonal[count - 1 - t] = strip.left.0[t * R];
                diagonal = W::load(spilled.diagonal.as_ptr());
            }
            let above = cell.shift_down(*top_h.add(t));
            if !LINEAR {
                gap = gap.shift_down(*top_gap.add(t));
            }
            cell = above;
            let step = stream.add(t % BLOCK * BLOCK);
            for slot in 0..R {
                let slice_index = slot * count;
                let scores = W::widen(step.add(slice_index / BLOCK * BLOCK * BLOCK + slice_index % BLOCK));
                let substituted = diagonal.add(scores);
                diagonal = h[slot];
                let (insertion, deletion);
                if LINEAR {
                    (insertion, deletion) = (cell.sub(first), h[slot].sub(first));
                } else {
                    (insertion, deletion) = (gap, d[slot]);
                }
                // The value from above is used last, because it is known last.
                let mut early = substituted.max(deletion);
                if CLAMP {
                    early = early.max(zero);
                }
                cell = early.max(insertion);
                h[slot] = cell;
                let opened = cell.sub(first);
                if !LINEAR {
                    d[slot] = deletion.sub(next).max(opened);
                    gap = insertion.sub(next).max(opened);
                }
                if CLAMP && WHAT == SWEEP {
                    best = best.max(cell);
                }
                if WHAT == LOCATE {
                    let lanes = cell.equal(value);
                    if lanes != 0 {
                        record_cells(strip, lanes, count, R, slot, t);
                    }
                }
                if WHAT == DIRECTIONS {
                    let (mut two, mut insert) = (cell.equal(substituted), cell.equal(insertion));
                    if CLAMP {
                        let ends = cell.equal(zero);
                        insert = insert & !two | ends;
                        two |= ends;
                    } else {
                        insert &= !two;
                    }
                    let leaves = if LINEAR { (u64::MAX, u64::MAX) } else { (gap.equal(opened), d[slot].equal(opened)) };
                    let word = two | insert << 16 | (leaves.0 & 0xffff) << 32 | leaves.1 << 48;
                    *strip.directions.get_unchecked_mut(t * R + slot) = word;
                }
            }
            diagonal = above;
            cell.store(bottom_h.add(t));
            if !LINEAR {
                gap.store(bottom_gap.add(t));
            }
            if t + 1 >= n {
                // One block finished its last column in this step.
                let block = t + 1 - n;
                for slot in 0..R {
                    h[slot].store(spilled.h[slot].as_mut_ptr());
                    d[slot].store(spilled.gap[slot].as_mut_ptr());
                    let last = spilled.h[slot][count - 1 - block];
                    strip.right.0[1 + block * R + slot] = last;
                    strip.right.1[1 + block * R + slot] =
                        if LINEAR { last - gaps.first } else { spilled.gap[slot][count - 1 - block] };
                }
            }
        }
        let rows = strip.rows.len();
        let (h, gap) = (&mut strip.bottom.0[MARGIN..], &mut strip.bottom.1[MARGIN..]);
        (h[0], gap[0]) = (strip.left.0[rows], strip.left.0[rows].wrapping_sub(gaps.first));
        if LINEAR {
            gap[1..=n].iter_mut().zip(&h[1..=n]).for_each(|(gap, h)| *gap = h - gaps.first);
        }
        h[n + 1..][..MARGIN].fill(NEG_INF);
        gap[n + 1..][..MARGIN].fill(NEG_INF);
        best.store(spilled.diagonal.as_mut_ptr());
        spilled.diagonal[..count].iter().copied().max().unwrap_or(0)
    }
}

/// Groups of 16 rows of the highest strips.
const MAX_GROUPS: usize = 8;

/// Redirects the sources of rows without a lane to the start of the profile, because these rows
/// must not be read beyond the end of the profile.
#[inline(always)]
fn unused_from_start<const N: usize>(mut rows: [*const i8; N], sources: [*const i8; N], used: usize) -> [*const i8; N] {
    rows[used..].copy_from_slice(&sources[used..]);
    rows
}

/// Records the cells of a step that have the value.
#[cold]
fn record_cells(strip: &mut TileStrip<'_>, lanes: u64, count: usize, slots: usize, slot: usize, t: usize) {
    for lane in (0..count).filter(|lane| lanes >> lane & 1 == 1) {
        let block = count - 1 - lane;
        if t < block || t - block >= strip.columns {
            continue;
        }
        let cell = (block * slots + slot, t - block);
        if strip.first_cell.is_none_or(|first_cell| cell < first_cell) {
            strip.first_cell = Some(cell);
        }
    }
}
