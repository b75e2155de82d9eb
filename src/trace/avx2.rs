//! The traceback's rows for 32-bit values on x86-64 with AVX2: eight cells, one vector.
//!
//! The same operations as in [`super::sweep::Portable`], in its order. By hand, as compilers make poor code of the
//! step from eight comparisons to eight direction bytes.

use std::arch::x86_64::*;

use super::sweep::{
    BY_EQUAL_CODES, BY_SHARED_BITS, DELETION_LEAVES, FROM_INSERTION, GapRow, INSERTION_LEAVES, Kernel, Row, Steps,
    Sweep,
};
use super::wavefront::{Arrays, Costs, Directions, LANES, Value, Wave};
use crate::seq::Code;

/// Code for machines with AVX2: whoever calls it must have made sure that the machine has it, and be compiled for it,
/// so that it is inlined.
pub(super) struct Avx2;

impl Kernel<i32> for Avx2 {
    #[inline(always)]
    fn linear<const SCORES: u8>(row: Row<i32>, costs: &Costs<i32>) {
        // SAFETY: the kernel's caller runs on a machine with AVX2.
        unsafe {
            let Row { query, target, h_above, h_left, h, directions } = row;
            let cells = Cells::new(costs);
            let inputs = query.iter().zip(target).zip(h_above).zip(h_left);
            for ((((a, b), above), left), (h, direction)) in inputs.zip(h.iter_mut().zip(directions)) {
                let (best, from) = cells.linear(load(h), cells.scores::<SCORES>(a, b), load(above), load(left));
                store(h, best);
                store_bytes(direction, from);
            }
        }
    }

    #[inline(always)]
    fn affine<const SCORES: u8>(row: Row<i32>, gaps: GapRow<i32>, costs: &Costs<i32>) {
        // SAFETY: the kernel's caller runs on a machine with AVX2.
        unsafe {
            let Row { query, target, h_above, h_left, h, directions } = row;
            let GapRow { insertion_above, deletion_left, insertion, deletion } = gaps;
            let cells = Cells::new(costs);
            let inputs = query.iter().zip(target).zip(h_above.iter().zip(h_left));
            let inputs = inputs.zip(insertion_above.iter().zip(deletion_left));
            let outputs = h.iter_mut().zip(directions).zip(insertion.iter_mut().zip(deletion));
            for ((((a, b), (above, left)), (insert, delete)), ((h, direction), (insertion, deletion))) in
                inputs.zip(outputs)
            {
                let above = (load(above), load(insert));
                let left = (load(left), load(delete));
                let (best, insert, delete, from) = cells.affine(load(h), cells.scores::<SCORES>(a, b), above, left);
                store(h, best);
                store(insertion, insert);
                store(deletion, delete);
                store_bytes(direction, from);
            }
        }
    }

    const NARROW_LANES: usize = 4 * LANES;

    #[inline(always)]
    fn narrow<const AFFINE: bool, const SCORES: u8>(
        sweep: &Sweep<'_, i32>,
        wave: &mut Wave<i32>,
        steps: Steps,
        out: &mut Directions,
    ) {
        // SAFETY: the kernel's caller runs on a machine with AVX2.
        unsafe {
            match sweep.geometry.lanes / LANES {
                1 => narrow::<AFFINE, SCORES, 1>(sweep, wave, steps, out),
                2 => narrow::<AFFINE, SCORES, 2>(sweep, wave, steps, out),
                3 => narrow::<AFFINE, SCORES, 3>(sweep, wave, steps, out),
                _ => narrow::<AFFINE, SCORES, 4>(sweep, wave, steps, out),
            }
        }
    }
}

/// Steps of a band of N blocks, without border cells. A step's values are the next step's neighbours, so they stay in
/// registers: a wave in memory would be read across the bounds of what was just written, for which processors wait.
///
/// All lanes are computed; those outside the matrix, or from which the sweep's apex is out of reach, are not read by
/// others ([`super::wavefront`]).
#[target_feature(enable = "avx2")]
fn narrow<const AFFINE: bool, const SCORES: u8, const N: usize>(
    sweep: &Sweep<'_, i32>,
    wave: &mut Wave<i32>,
    steps: Steps,
    out: &mut Directions,
) {
    let Sweep { symbols, costs, geometry, .. } = *sweep;
    let cells = Cells::new(costs);
    let mut even = Registers::<N>::of::<AFFINE>(&wave.even);
    let mut odd = Registers::<N>::of::<AFFINE>(&wave.odd);
    let (mut at, stride) = out.rows((steps.to - steps.from) as usize, N * LANES, steps.keep);
    let (query_at, target_at) = symbols.place(geometry, steps.from + 1);
    let (mut query_at, mut target_at) = (query_at as usize, target_at as usize);
    let mut is_even = geometry.phase(steps.from + 1) == 0;
    for _ in steps.from..steps.to {
        let query = symbols.query[query_at..][..N * LANES].as_chunks::<LANES>().0;
        let target = symbols.target_reversed[target_at..][..N * LANES].as_chunks::<LANES>().0;
        let directions = out.bytes[at..][..N * LANES].as_chunks_mut::<LANES>().0;
        let scores = |block: usize| cells.scores::<SCORES>(&query[block], &target[block]);
        // One neighbour is in the same lane of the other array, one in the lane before (even) or after (odd).
        if is_even {
            let above = (up(&odd.h), if AFFINE { up(&odd.insertion) } else { odd.insertion });
            step::<AFFINE, N>(&cells, &mut even, scores, above, (odd.h, odd.deletion), directions);
            query_at += 1;
        } else {
            let left = (down(&even.h), if AFFINE { down(&even.deletion) } else { even.deletion });
            step::<AFFINE, N>(&cells, &mut odd, scores, (even.h, even.insertion), left, directions);
            target_at -= 1;
        }
        at += stride;
        is_even = !is_even;
    }
    even.put::<AFFINE>(&mut wave.even);
    odd.put::<AFFINE>(&mut wave.odd);
}

/// One step: `above` holds H and I, `left` H and D.
#[inline]
#[target_feature(enable = "avx2")]
fn step<const AFFINE: bool, const N: usize>(
    cells: &Cells,
    this: &mut Registers<N>,
    scores: impl Fn(usize) -> __m256i,
    above: ([__m256i; N], [__m256i; N]),
    left: ([__m256i; N], [__m256i; N]),
    directions: &mut [[u8; LANES]],
) {
    for (block, direction) in directions.iter_mut().enumerate() {
        let from;
        if AFFINE {
            let (above, left) = ((above.0[block], above.1[block]), (left.0[block], left.1[block]));
            (this.h[block], this.insertion[block], this.deletion[block], from) =
                cells.affine(this.h[block], scores(block), above, left);
        } else {
            (this.h[block], from) = cells.linear(this.h[block], scores(block), above.0[block], left.0[block]);
        }
        store_bytes(direction, from);
    }
}

/// The arrays of a band of N blocks.
#[derive(Clone, Copy)]
struct Registers<const N: usize> {
    h: [__m256i; N],
    insertion: [__m256i; N],
    deletion: [__m256i; N],
}

impl<const N: usize> Registers<N> {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn of<const AFFINE: bool>(arrays: &Arrays<i32>) -> Self {
        let read = |array: &[i32]| {
            let mut registers = [_mm256_setzero_si256(); N];
            for (register, lanes) in registers.iter_mut().zip(array[1..].as_chunks::<LANES>().0) {
                *register = load(lanes);
            }
            registers
        };
        let none = [_mm256_setzero_si256(); N];
        let gap = |array: &[i32]| if AFFINE { read(array) } else { none };
        Registers { h: read(&arrays.h), insertion: gap(&arrays.insertion), deletion: gap(&arrays.deletion) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn put<const AFFINE: bool>(&self, arrays: &mut Arrays<i32>) {
        let write = |registers: &[__m256i; N], array: &mut [i32]| {
            for (register, lanes) in registers.iter().zip(array[1..].as_chunks_mut::<LANES>().0) {
                store(lanes, *register);
            }
        };
        write(&self.h, &mut arrays.h);
        if AFFINE {
            write(&self.insertion, &mut arrays.insertion);
            write(&self.deletion, &mut arrays.deletion);
        }
    }
}

/// Lane p takes lane p - 1; lane 0 is out of reach.
#[inline]
#[target_feature(enable = "avx2")]
fn up<const N: usize>(array: &[__m256i; N]) -> [__m256i; N] {
    let rotate = _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6);
    let mut before = _mm256_set1_epi32(i32::UNREACHABLE);
    let mut shifted = *array;
    for lanes in &mut shifted {
        let rotated = _mm256_permutevar8x32_epi32(*lanes, rotate);
        *lanes = _mm256_blend_epi32::<1>(rotated, before);
        before = rotated;
    }
    shifted
}

/// Lane p takes lane p + 1; the last lane is out of reach.
#[inline]
#[target_feature(enable = "avx2")]
fn down<const N: usize>(array: &[__m256i; N]) -> [__m256i; N] {
    let rotate = _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 0);
    let mut after = _mm256_set1_epi32(i32::UNREACHABLE);
    let mut shifted = *array;
    for lanes in shifted.iter_mut().rev() {
        let rotated = _mm256_permutevar8x32_epi32(*lanes, rotate);
        *lanes = _mm256_blend_epi32::<0x80>(rotated, after);
        after = rotated;
    }
    shifted
}

/// The recurrence on eight cells.
struct Cells<'a> {
    costs: &'a Costs<i32>,
    matching: __m256i,
    mismatching: __m256i,
    opening: __m256i,
    from_deletion: __m256i,
    insertion_leaves: __m256i,
    deletion_leaves: __m256i,
}

impl<'a> Cells<'a> {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(costs: &'a Costs<i32>) -> Self {
        let (matching, mismatching) = costs.two_scores;
        Cells {
            costs,
            matching: _mm256_set1_epi32(matching),
            mismatching: _mm256_set1_epi32(mismatching),
            opening: _mm256_set1_epi32(costs.opening),
            from_deletion: _mm256_set1_epi32(FROM_INSERTION as i32 + 1),
            insertion_leaves: _mm256_set1_epi32(INSERTION_LEAVES.into()),
            deletion_leaves: _mm256_set1_epi32(DELETION_LEAVES.into()),
        }
    }

    /// Scores of eight pairs of codes.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn scores<const SCORES: u8>(&self, a: &[Code; LANES], b: &[Code; LANES]) -> __m256i {
        match SCORES {
            BY_SHARED_BITS => {
                let shared = _mm_cvtsi64_si128(i64::from_le_bytes(*a) & i64::from_le_bytes(*b));
                let none = _mm256_cvtepi8_epi32(_mm_cmpeq_epi8(shared, _mm_setzero_si128()));
                _mm256_blendv_epi8(self.matching, self.mismatching, none)
            }
            BY_EQUAL_CODES => {
                let (a, b) = (_mm_cvtsi64_si128(i64::from_le_bytes(*a)), _mm_cvtsi64_si128(i64::from_le_bytes(*b)));
                let equal = _mm256_cvtepi8_epi32(_mm_cmpeq_epi8(a, b));
                _mm256_blendv_epi8(self.mismatching, self.matching, equal)
            }
            _ => load(&std::array::from_fn(|lane| self.costs.table[Costs::<i32>::table_index(a[lane], b[lane])])),
        }
    }

    /// H and the directions of cells whose diagonal neighbour is `h`.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn linear(&self, h: __m256i, scores: __m256i, above: __m256i, left: __m256i) -> (__m256i, __m256i) {
        let diagonal = _mm256_add_epi32(h, scores);
        let best = _mm256_max_epi32(diagonal, _mm256_max_epi32(above, left));
        (best, self.from(diagonal, above, best))
    }

    /// H, I, D and the directions of cells whose neighbours are `h` (diagonal), `above` (H and I) and `left` (H and D).
    #[inline]
    #[target_feature(enable = "avx2")]
    fn affine(
        &self,
        h: __m256i,
        scores: __m256i,
        above: (__m256i, __m256i),
        left: (__m256i, __m256i),
    ) -> (__m256i, __m256i, __m256i, __m256i) {
        let open_insertion = _mm256_sub_epi32(above.0, self.opening);
        let open_deletion = _mm256_sub_epi32(left.0, self.opening);
        let insertion = _mm256_max_epi32(open_insertion, above.1);
        let deletion = _mm256_max_epi32(open_deletion, left.1);
        let diagonal = _mm256_add_epi32(h, scores);
        let best = _mm256_max_epi32(diagonal, _mm256_max_epi32(insertion, deletion));
        let leave_insertion = _mm256_and_si256(_mm256_cmpeq_epi32(open_insertion, insertion), self.insertion_leaves);
        let leave_deletion = _mm256_and_si256(_mm256_cmpeq_epi32(open_deletion, deletion), self.deletion_leaves);
        let leave = _mm256_or_si256(leave_insertion, leave_deletion);
        (best, insertion, deletion, _mm256_or_si256(self.from(diagonal, insertion, best), leave))
    }

    /// Where H comes from. An equal comparison is -1: from D less one is from I, and the diagonal clears it.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn from(&self, diagonal: __m256i, insertion: __m256i, best: __m256i) -> __m256i {
        let from_gap = _mm256_add_epi32(self.from_deletion, _mm256_cmpeq_epi32(insertion, best));
        _mm256_andnot_si256(_mm256_cmpeq_epi32(diagonal, best), from_gap)
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(lanes: &[i32; LANES]) -> __m256i {
    // SAFETY: eight 32-bit numbers can be read there, at any alignment.
    unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(lanes: &mut [i32; LANES], vector: __m256i) {
    // SAFETY: eight 32-bit numbers can be written there, at any alignment.
    unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), vector) }
}

/// Stores eight numbers from 0 to 127 as bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn store_bytes(bytes: &mut [u8; LANES], vector: __m256i) {
    let halves = _mm_packs_epi32(_mm256_castsi256_si128(vector), _mm256_extracti128_si256::<1>(vector));
    *bytes = _mm_cvtsi128_si64(_mm_packus_epi16(halves, halves)).to_le_bytes();
}
