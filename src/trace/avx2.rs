//! Rows of the traceback's sweep for 32-bit values, in vectors of eight cells (AVX2).
//!
//! The operations and their order are the same as in [`Portable`]. The vectors are written by hand
//! because compilers generate slow code for packing eight comparisons into eight direction bytes.

use std::marker::PhantomData;

use super::rows::{
    BY_EQUAL_CODES, BY_SHARED_BITS, BandSweep, DELETION_LEAVES, FROM_INSERTION, GapRow, INSERTION_LEAVES, LaneRow,
    Portable, RowCode, StepRange,
};
use super::wavefront::{Arrays, BandDirections, LANES, PackedCosts, PackedValue, Wave};
use crate::seq::Code;
use crate::simd::{EightLanes, InstructionSet, Simd, SimdKernel, array_of};

/// Code for rows on the instruction set `S`: vectors of eight cells if `S` has them, otherwise
/// [`Portable`].
pub(super) struct EightLaneRows<S>(PhantomData<S>);

impl<S: Simd> RowCode<i32> for EightLaneRows<S> {
    const NARROW_LANES: usize = if S::EIGHT_FIT_REGISTER { 4 * LANES } else { 0 };

    #[inline(always)]
    fn linear<const SCORES: u8>(row: LaneRow<i32>, costs: &PackedCosts<i32>) {
        if !S::EIGHT_FIT_REGISTER {
            return Portable::linear::<SCORES>(row, costs);
        }
        let LaneRow { query, target, h_above, h_left, h, directions } = row;
        // SAFETY: the kernel that calls this function runs with the instructions of S.
        unsafe {
            let cells = EightCells::<S::EightLanes>::new(costs);
            let inputs = query.iter().zip(target).zip(h_above).zip(h_left);
            for ((((a, b), above), left), (h, direction)) in inputs.zip(h.iter_mut().zip(directions)) {
                let (best, from) = cells.linear(load(h), cells.scores::<SCORES>(a, b), load(above), load(left));
                store(h, best);
                *direction = from.to_bytes();
            }
        }
    }

    #[inline(always)]
    fn affine<const SCORES: u8>(row: LaneRow<i32>, gaps: GapRow<i32>, costs: &PackedCosts<i32>) {
        if !S::EIGHT_FIT_REGISTER {
            return Portable::affine::<SCORES>(row, gaps, costs);
        }
        let LaneRow { query, target, h_above, h_left, h, directions } = row;
        let GapRow { insertion_above, deletion_left, insertion, deletion } = gaps;
        // SAFETY: the kernel that calls this function runs with the instructions of S.
        unsafe {
            let cells = EightCells::<S::EightLanes>::new(costs);
            let inputs = query.iter().zip(target).zip(h_above.iter().zip(h_left));
            let inputs = inputs.zip(insertion_above.iter().zip(deletion_left));
            let outputs = h.iter_mut().zip(directions).zip(insertion.iter_mut().zip(deletion));
            for ((((a, b), (above, left)), (insert, delete)), ((h, direction), (insertion, deletion))) in
                inputs.zip(outputs)
            {
                let above = Neighbours { h: load(above), gap: load(insert) };
                let left = Neighbours { h: load(left), gap: load(delete) };
                let (best, insert, delete, from) = cells.affine(load(h), cells.scores::<SCORES>(a, b), above, left);
                store(h, best);
                store(insertion, insert);
                store(deletion, delete);
                *direction = from.to_bytes();
            }
        }
    }

    #[inline(always)]
    fn narrow<const AFFINE: bool, const SCORES: u8>(
        sweep: &BandSweep<'_, i32>,
        wave: &mut Wave<i32>,
        steps: StepRange,
        out: &mut BandDirections,
    ) {
        // SAFETY: the kernel that calls this function runs with the instructions of S.
        let instructions = unsafe { InstructionSet::from_simd::<S>() };
        // Each width is a separate function, so that it can use all registers.
        match sweep.geometry.lanes / LANES {
            1 => instructions.run(Narrow::<AFFINE, SCORES, 1> { sweep, wave, steps, out }),
            2 => instructions.run(Narrow::<AFFINE, SCORES, 2> { sweep, wave, steps, out }),
            3 => instructions.run(Narrow::<AFFINE, SCORES, 3> { sweep, wave, steps, out }),
            _ => instructions.run(Narrow::<AFFINE, SCORES, 4> { sweep, wave, steps, out }),
        }
    }
}

/// Steps of a band of N blocks, without border cells. The values of a step are the neighbours in
/// the next step, so they stay in registers. If they were in memory, each step would read across
/// the boundaries of the stores before it, which stalls processors.
///
/// All lanes are computed, even lanes outside the matrix and lanes that cannot lead to the sweep's
/// apex. No other lane reads these ([`super::wavefront`]).
struct Narrow<'s, 'a, const AFFINE: bool, const SCORES: u8, const N: usize> {
    sweep: &'s BandSweep<'a, i32>,
    wave: &'s mut Wave<i32>,
    steps: StepRange,
    out: &'s mut BandDirections,
}

impl<const AFFINE: bool, const SCORES: u8, const N: usize> SimdKernel for Narrow<'_, '_, AFFINE, SCORES, N> {
    type Output = ();
    const USES_AVX512: bool = false;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        if S::EIGHT_FIT_REGISTER {
            // SAFETY: the caller guarantees the instructions of S.
            unsafe { self.compute::<S::EightLanes>() }
        }
    }
}

impl<const AFFINE: bool, const SCORES: u8, const N: usize> Narrow<'_, '_, AFFINE, SCORES, N> {
    /// Computes the steps and stores their directions.
    ///
    /// # Safety
    /// The processor has the instructions of `V`.
    #[inline(always)]
    unsafe fn compute<V: EightLanes>(self) {
        let Narrow { sweep, wave, steps, out } = self;
        let BandSweep { symbols, costs, geometry, .. } = *sweep;
        // SAFETY: the caller guarantees the instructions of V.
        unsafe {
            let cells = EightCells::<V>::new(costs);
            let mut even = Registers::<V, N>::from_arrays::<AFFINE>(&wave.even);
            let mut odd = Registers::<V, N>::from_arrays::<AFFINE>(&wave.odd);
            let (mut at, stride) = out.rows((steps.to - steps.from) as usize, N * LANES, steps.keep);
            let (query_at, target_at) = symbols.lane_zero_indices(geometry, steps.from + 1);
            let (mut query_at, mut target_at) = (query_at as usize, target_at as usize);
            let mut is_even = geometry.phase(steps.from + 1) == 0;
            for _ in steps.from..steps.to {
                let query = symbols.query[query_at..][..N * LANES].as_chunks::<LANES>().0;
                let target = symbols.target_reversed[target_at..][..N * LANES].as_chunks::<LANES>().0;
                let directions = out.bytes[at..][..N * LANES].as_chunks_mut::<LANES>().0;
                let scores = |block: usize| cells.scores::<SCORES>(&query[block], &target[block]);
                // One neighbour is in the same lane of the other array. The other neighbour is one
                // lane before it (even steps) or after it (odd steps).
                if is_even {
                    let gap = if AFFINE { shift_up(&odd.insertion) } else { odd.insertion };
                    let above = Neighbours { h: shift_up(&odd.h), gap };
                    let left = Neighbours { h: odd.h, gap: odd.deletion };
                    step::<V, AFFINE, N>(&cells, &mut even, scores, above, left, directions);
                    query_at += 1;
                } else {
                    let gap = if AFFINE { shift_down(&even.deletion) } else { even.deletion };
                    let above = Neighbours { h: even.h, gap: even.insertion };
                    let left = Neighbours { h: shift_down(&even.h), gap };
                    step::<V, AFFINE, N>(&cells, &mut odd, scores, above, left, directions);
                    target_at -= 1;
                }
                at += stride;
                is_even = !is_even;
            }
            even.put::<AFFINE>(&mut wave.even);
            odd.put::<AFFINE>(&mut wave.odd);
        }
    }
}

/// Neighbours of cells on one side.
#[derive(Clone, Copy)]
struct Neighbours<T> {
    h: T,
    /// I of neighbours above, or D of neighbours to the left.
    gap: T,
}

/// Computes one step.
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
unsafe fn step<V: EightLanes, const AFFINE: bool, const N: usize>(
    cells: &EightCells<V>,
    this: &mut Registers<V, N>,
    scores: impl Fn(usize) -> V,
    above: Neighbours<[V; N]>,
    left: Neighbours<[V; N]>,
    directions: &mut [[u8; LANES]],
) {
    for (block, direction) in directions.iter_mut().enumerate() {
        // SAFETY: the caller guarantees the instructions of V.
        unsafe {
            let from;
            if AFFINE {
                let above = Neighbours { h: above.h[block], gap: above.gap[block] };
                let left = Neighbours { h: left.h[block], gap: left.gap[block] };
                (this.h[block], this.insertion[block], this.deletion[block], from) =
                    cells.affine(this.h[block], scores(block), above, left);
            } else {
                (this.h[block], from) = cells.linear(this.h[block], scores(block), above.h[block], left.h[block]);
            }
            *direction = from.to_bytes();
        }
    }
}

/// Values of a band of N blocks in registers.
#[derive(Clone, Copy)]
struct Registers<V, const N: usize> {
    h: [V; N],
    insertion: [V; N],
    deletion: [V; N],
}

impl<V: EightLanes, const N: usize> Registers<V, N> {
    /// Loads the arrays of a band.
    ///
    /// # Safety
    /// The processor has the instructions of `V`.
    #[inline(always)]
    unsafe fn from_arrays<const AFFINE: bool>(arrays: &Arrays<i32>) -> Self {
        // SAFETY: the caller guarantees the instructions of V.
        unsafe {
            let none = [V::splat(0); N];
            let read = |array: &[i32]| {
                let mut registers = none;
                for (register, lanes) in registers.iter_mut().zip(array[1..].as_chunks::<LANES>().0) {
                    *register = load(lanes);
                }
                registers
            };
            let gap = |array: &[i32]| if AFFINE { read(array) } else { none };
            Registers { h: read(&arrays.h), insertion: gap(&arrays.insertion), deletion: gap(&arrays.deletion) }
        }
    }

    /// Stores the arrays of a band.
    ///
    /// # Safety
    /// The processor has the instructions of `V`.
    #[inline(always)]
    unsafe fn put<const AFFINE: bool>(&self, arrays: &mut Arrays<i32>) {
        let write = |registers: &[V; N], array: &mut [i32]| {
            for (register, lanes) in registers.iter().zip(array[1..].as_chunks_mut::<LANES>().0) {
                // SAFETY: the caller guarantees the instructions of V.
                unsafe { store(lanes, *register) };
            }
        };
        write(&self.h, &mut arrays.h);
        if AFFINE {
            write(&self.insertion, &mut arrays.insertion);
            write(&self.deletion, &mut arrays.deletion);
        }
    }
}

/// Moves lane p - 1 to lane p. Lane 0 becomes unreachable.
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
unsafe fn shift_up<V: EightLanes, const N: usize>(array: &[V; N]) -> [V; N] {
    // SAFETY: the caller guarantees the instructions of V.
    unsafe {
        let mut before = V::splat(i32::UNREACHABLE);
        let mut shifted = *array;
        for lanes in &mut shifted {
            (*lanes, before) = (lanes.shift_up_from(before), *lanes);
        }
        shifted
    }
}

/// Moves lane p + 1 to lane p. The last lane becomes unreachable.
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
unsafe fn shift_down<V: EightLanes, const N: usize>(array: &[V; N]) -> [V; N] {
    // SAFETY: the caller guarantees the instructions of V.
    unsafe {
        let mut after = V::splat(i32::UNREACHABLE);
        let mut shifted = *array;
        for lanes in shifted.iter_mut().rev() {
            (*lanes, after) = (lanes.shift_down_from(after), *lanes);
        }
        shifted
    }
}

/// The recurrence on eight cells.
struct EightCells<'a, V> {
    costs: &'a PackedCosts<i32>,
    matching: V,
    mismatching: V,
    opening: V,
    from_deletion: V,
    insertion_leaves: V,
    deletion_leaves: V,
}

impl<'a, V: EightLanes> EightCells<'a, V> {
    /// Broadcasts the costs to all lanes.
    ///
    /// # Safety
    /// The processor has the instructions of `V`.
    #[inline(always)]
    unsafe fn new(costs: &'a PackedCosts<i32>) -> Self {
        let (matching, mismatching) = costs.two_scores;
        // SAFETY: the caller guarantees the instructions of V.
        unsafe {
            EightCells {
                costs,
                matching: V::splat(matching),
                mismatching: V::splat(mismatching),
                opening: V::splat(costs.opening),
                from_deletion: V::splat(FROM_INSERTION as i32 + 1),
                insertion_leaves: V::splat(INSERTION_LEAVES.into()),
                deletion_leaves: V::splat(DELETION_LEAVES.into()),
            }
        }
    }

    /// Returns the scores of eight pairs of codes.
    ///
    /// # Safety
    /// The processor has the instructions of `V`.
    #[inline(always)]
    unsafe fn scores<const SCORES: u8>(&self, a: &[Code; LANES], b: &[Code; LANES]) -> V {
        // SAFETY: the caller guarantees the instructions of V.
        unsafe {
            match SCORES {
                BY_SHARED_BITS => self.matching.blend(self.mismatching, V::disjoint(a, b)),
                BY_EQUAL_CODES => self.mismatching.blend(self.matching, V::same_codes(a, b)),
                _ => load(&array_of(|lane| self.costs.table[PackedCosts::<i32>::table_index(a[lane], b[lane])])),
            }
        }
    }

    /// Returns H and the directions of cells whose diagonal neighbour is `h`.
    ///
    /// # Safety
    /// The processor has the instructions of `V`.
    #[inline(always)]
    unsafe fn linear(&self, h: V, scores: V, above: V, left: V) -> (V, V) {
        // SAFETY: the caller guarantees the instructions of V.
        unsafe {
            let diagonal = h.add(scores);
            let best = diagonal.max(above.max(left));
            (best, self.from(diagonal, above, best))
        }
    }

    /// Returns H, I, D and the directions of cells whose neighbours are `h` (diagonal), `above` and
    /// `left`.
    ///
    /// # Safety
    /// The processor has the instructions of `V`.
    #[inline(always)]
    unsafe fn affine(&self, h: V, scores: V, above: Neighbours<V>, left: Neighbours<V>) -> (V, V, V, V) {
        // SAFETY: the caller guarantees the instructions of V.
        unsafe {
            let open_insertion = above.h.sub(self.opening);
            let open_deletion = left.h.sub(self.opening);
            let insertion = open_insertion.max(above.gap);
            let deletion = open_deletion.max(left.gap);
            let diagonal = h.add(scores);
            let best = diagonal.max(insertion.max(deletion));
            let leave_insertion = open_insertion.equal_mask(insertion).and(self.insertion_leaves);
            let leave_deletion = open_deletion.equal_mask(deletion).and(self.deletion_leaves);
            let leave = leave_insertion.or(leave_deletion);
            (best, insertion, deletion, self.from(diagonal, insertion, best).or(leave))
        }
    }

    /// Returns the source of H. A true comparison gives -1. Added to the code for D, it gives the
    /// code for I. If the diagonal gives the value, the code is cleared.
    ///
    /// # Safety
    /// The processor has the instructions of `V`.
    #[inline(always)]
    unsafe fn from(&self, diagonal: V, insertion: V, best: V) -> V {
        // SAFETY: the caller guarantees the instructions of V.
        unsafe { self.from_deletion.add(insertion.equal_mask(best)).and_not(diagonal.equal_mask(best)) }
    }
}

/// Loads eight lanes.
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
unsafe fn load<V: EightLanes>(lanes: &[i32; LANES]) -> V {
    // SAFETY: the caller guarantees the instructions, and `lanes` has eight elements.
    unsafe { V::load(lanes.as_ptr()) }
}

/// Stores eight lanes.
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
unsafe fn store<V: EightLanes>(lanes: &mut [i32; LANES], vector: V) {
    // SAFETY: the caller guarantees the instructions, and `lanes` has eight elements.
    unsafe { vector.store(lanes.as_mut_ptr()) }
}
