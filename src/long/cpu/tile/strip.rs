//! Some rows of a tile in vectors: every lane has a few rows, and is a column behind the lane that has the rows above
//! (vectors along antidiagonals, Wozniak 1997, with several rows a lane).
//!
//! A strip has COUNT * R rows. Its block b of R rows is in lane COUNT - 1 - b and computes column t - b at step t, one
//! row after the other; what leaves a block at the bottom enters the next one a step later, by a shift of lanes. Within
//! a step a lane's values stay in registers.
//!
//! Lanes need the scores of their own rows against different columns. These are made for 16 steps at a time: 16 rows'
//! scores, each from its own place in the profile, are transposed so that a step's scores lie side by side, as bytes.
//!
//! Lanes that have not come to their first column, or are past the last, compute padding. It scores less than anything
//! and so adds nothing to a strip's greatest value; what it leaves behind is written over.

use super::Scheme;
use crate::long::NEVER;
use crate::seq::Code;
use crate::simd::{BLOCK, InstructionSet, Lanes, LanesI32, MAX_I32_LANES, Simd, SimdKernel};

/// Room before and behind values and scores of columns, for lanes ahead and behind.
pub(super) const MARGIN: usize = 2 * MAX_I32_LANES;
/// The score of padding.
pub(super) const PADDING: i8 = i8::MIN;

/// Values alone.
pub(super) const SWEEP: u8 = 0;
/// The first cell that has a value.
pub(super) const LOCATE: u8 = 1;
/// Values and directions.
pub(super) const DIRECTIONS: u8 = 2;

/// Rows of a tile.
pub(super) struct Strip<'a> {
    pub scheme: &'a Scheme,
    /// Their codes.
    pub rows: &'a [Code],
    /// How many columns there are.
    pub columns: usize,
    /// A row of scores for each code, `stride` apart; the first column's is at [`MARGIN`].
    pub profile: &'a [i8],
    pub stride: usize,
    /// H and gap of the row above, the corner first; behind them [`MARGIN`] values of [`NEVER`].
    pub top: (&'a [i32], &'a [i32]),
    /// H and gap of the last row, the corner at [`MARGIN`].
    pub bottom: (&'a mut [i32], &'a mut [i32]),
    /// H and gap of the column to the left, the corner first.
    pub left: (&'a [i32], &'a [i32]),
    /// H and gap of the last column, likewise; the corner is left as it is.
    pub right: (&'a mut [i32], &'a mut [i32]),
    /// Room for scores.
    pub stream: &'a mut Vec<i8>,
    /// For [`DIRECTIONS`]: a word for each step and row of a lane, zeros.
    pub directions: &'a mut [u64],
    /// For [`LOCATE`]: the value.
    pub value: i32,
    /// The first cell that has it, by rows.
    pub found: Option<(usize, usize)>,
}

/// Rows a lane of high strips, with so many lanes.
const fn high(lanes: usize) -> usize {
    if lanes == 16 { 8 } else { 4 }
}

/// Lanes, and rows a lane, of the strips of a level: high ones and low ones.
pub(super) fn shapes(level: InstructionSet) -> [(usize, usize); 2] {
    let lanes = level.i32_lanes();
    [(lanes, high(lanes)), (lanes, 1)]
}

/// Computes a strip of so many rows a lane, one of [`shapes`]; its greatest value, if H is cut off at 0.
pub(super) fn compute<const WHAT: u8>(slots: usize, strip: &mut Strip<'_>) -> i32 {
    strip.scheme.level.run(Compute::<WHAT> { slots, strip })
}

/// A strip with what is wanted of it.
struct Compute<'s, 'a, const WHAT: u8> {
    slots: usize,
    strip: &'s mut Strip<'a>,
}

impl<const WHAT: u8> SimdKernel for Compute<'_, '_, WHAT> {
    type Output = i32;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) -> i32 {
        // SAFETY: the caller's.
        unsafe {
            match const { high(S::I32Lanes::COUNT) } {
                8 => choose::<S::I32Lanes, 8, WHAT>(self.slots, self.strip),
                _ => choose::<S::I32Lanes, 4, WHAT>(self.slots, self.strip),
            }
        }
    }
}

/// Computes the strip with the body for its scheme.
///
/// # Safety
/// The processor has the instructions of `W`. The profile has a row of `strip.stride` scores for
/// each code of `strip.rows`.
#[inline(always)]
unsafe fn choose<W: LanesI32, const R: usize, const WHAT: u8>(slots: usize, strip: &mut Strip<'_>) -> i32 {
    // SAFETY: the caller's.
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

/// Registers as memory: where single lanes are written and read at the ends of a strip.
struct Spilled<const R: usize> {
    h: [[i32; MAX_I32_LANES]; R],
    gap: [[i32; MAX_I32_LANES]; R],
    diagonal: [i32; MAX_I32_LANES],
}

/// Computes the strip. Returns its greatest value, if H is cut off at 0.
///
/// # Safety
/// The processor has the instructions of `W`. The profile has a row of `strip.stride` scores for
/// each code of `strip.rows`.
#[inline(always)]
unsafe fn body<W: LanesI32, const R: usize, const WHAT: u8, const CLAMP: bool, const LINEAR: bool>(
    strip: &mut Strip<'_>,
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
    // The profile's row of each byte of the stream, begun as many columns early as its lane is late.
    let mut sources = [[strip.profile.as_ptr(); BLOCK]; MAX_GROUPS];
    for slot in 0..R {
        for lane in 0..count {
            let block = count - 1 - lane;
            let code = strip.rows[block * R + slot] as usize;
            let place = slot * count + lane;
            sources[place / BLOCK][place % BLOCK] = strip.profile[code * strip.stride + MARGIN - block..].as_ptr();
        }
    }
    let mut spilled =
        Spilled { h: [[0; MAX_I32_LANES]; R], gap: [[0; MAX_I32_LANES]; R], diagonal: [0; MAX_I32_LANES] };
    // SAFETY: the caller's: W's instructions are there. Columns are read and written up to MARGIN before the first and
    // behind the last, as the asserts allow; the profile is read from `block` columns before its row's first to
    // 2 BLOCK behind its last, which is within its row's margins.
    unsafe {
        let (first, next, zero) = (W::splat(gaps.first), W::splat(gaps.next), W::splat(0));
        let mut h = [zero; R];
        let mut d = [zero; R];
        let (mut diagonal, mut cell, mut gap, mut best) = (zero, zero, zero, zero);
        let value = W::splat(strip.value);
        let (top_h, top_gap) = (strip.top.0.as_ptr().add(1), strip.top.1.as_ptr().add(1));
        // Lane 0 is the one that ends a row; the lanes above are written over by later steps.
        let bottom_h = strip.bottom.0.as_mut_ptr().add(MARGIN + 2 - count);
        let bottom_gap = strip.bottom.1.as_mut_ptr().add(MARGIN + 2 - count);
        for t in 0..n + count - 1 {
            if t % BLOCK == 0 {
                for (group, sources) in sources[..groups].iter().enumerate() {
                    let rows: [*const i8; BLOCK] = std::array::from_fn(|k| sources[k].add(t));
                    // The bytes beyond a low strip's lanes are of no account; they come from the profile's beginning.
                    let rows =
                        if count * R < BLOCK { unused_from_start::<BLOCK>(rows, *sources, count * R) } else { rows };
                    W::transpose(&rows, stream.add(group * BLOCK * BLOCK));
                }
            }
            if t < count {
                // A block comes to its first column.
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
                let place = slot * count;
                let scores = W::widen(step.add(place / BLOCK * BLOCK * BLOCK + place % BLOCK));
                let substituted = diagonal.add(scores);
                diagonal = h[slot];
                let (insertion, deletion);
                if LINEAR {
                    (insertion, deletion) = (cell.sub(first), h[slot].sub(first));
                } else {
                    (insertion, deletion) = (gap, d[slot]);
                }
                // What comes from above last: it is what is waited for.
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
                        note(strip, lanes, count, R, slot, t);
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
                // A block has done its last column.
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
        h[n + 1..][..MARGIN].fill(NEVER);
        gap[n + 1..][..MARGIN].fill(NEVER);
        best.store(spilled.diagonal.as_mut_ptr());
        spilled.diagonal[..count].iter().copied().max().unwrap_or(0)
    }
}

/// Groups of 16 rows of the highest strips.
const MAX_GROUPS: usize = 8;

/// Rows that no lane has must not be read beyond the profile's end.
#[inline(always)]
fn unused_from_start<const N: usize>(mut rows: [*const i8; N], sources: [*const i8; N], used: usize) -> [*const i8; N] {
    rows[used..].copy_from_slice(&sources[used..]);
    rows
}

/// Cells of a step's row of lanes have the value that is looked for.
#[cold]
fn note(strip: &mut Strip<'_>, lanes: u64, count: usize, slots: usize, slot: usize, t: usize) {
    for lane in (0..count).filter(|lane| lanes >> lane & 1 == 1) {
        let block = count - 1 - lane;
        if t < block || t - block >= strip.columns {
            continue;
        }
        let cell = (block * slots + slot, t - block);
        if strip.found.is_none_or(|found| cell < found) {
            strip.found = Some(cell);
        }
    }
}
