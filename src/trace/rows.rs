//! Inputs and outputs of a sweep's rows of cells, and the code for rows that runs on every
//! processor.

use super::wavefront::{BandDirections, Geometry, LANES, MatrixCell, PackedCosts, PackedValue, Symbols, Wave};
use crate::seq::Code;
use crate::simd::{InstructionSet, array_of};

/// Methods to find the score of two codes: the variants of [`ScoresBy`](super::band::ScoresBy) as
/// values for const generics.
pub(super) const BY_TABLE: u8 = 0;
pub(super) const BY_SHARED_BITS: u8 = 1;
pub(super) const BY_EQUAL_CODES: u8 = 2;

/// Mask of the two direction bits for the source of a cell's H.
pub(super) const FROM: u8 = 3;
pub(super) const FROM_DIAGONAL: u8 = 0;
pub(super) const FROM_INSERTION: u8 = 1;
/// Bit that is set if leaving the gap gives the value of the cell's I. With linear gaps, neither
/// this bit nor [`DELETION_LEAVES`] is set.
pub(super) const INSERTION_LEAVES: u8 = 4;
/// Bit that is set if leaving the gap gives the value of the cell's D.
pub(super) const DELETION_LEAVES: u8 = 8;

/// Inputs of a sweep over a band.
#[derive(Clone, Copy)]
pub(super) struct BandSweep<'a, T> {
    pub symbols: &'a Symbols,
    pub costs: &'a PackedCosts<T>,
    pub geometry: Geometry,
    /// Last cell of the sweep. Only cells that can lead to it are computed.
    pub apex: MatrixCell,
    /// Instruction set to compute with.
    pub instructions: InstructionSet,
}

/// Range of steps: after `from`, up to and including `to`.
#[derive(Debug, Clone, Copy)]
pub(super) struct StepRange {
    pub from: i64,
    pub to: i64,
    /// Whether to keep all directions.
    pub keep: bool,
}

/// Blocks of lanes of one step. All slices have the same length. `h` holds the diagonal neighbours
/// before the computation and the new values after it.
pub(super) struct LaneRow<'a, T> {
    pub query: &'a [[Code; LANES]],
    pub target: &'a [[Code; LANES]],
    pub h_above: &'a [[T; LANES]],
    pub h_left: &'a [[T; LANES]],
    pub h: &'a mut [[T; LANES]],
    pub directions: &'a mut [[u8; LANES]],
}

/// Gap states of the blocks in a [`LaneRow`].
pub(super) struct GapRow<'a, T> {
    pub insertion_above: &'a [[T; LANES]],
    pub deletion_left: &'a [[T; LANES]],
    pub insertion: &'a mut [[T; LANES]],
    pub deletion: &'a mut [[T; LANES]],
}

/// Code for the rows on one kind of processor. Only kernels that run with the matching instruction
/// set call it.
pub(super) trait RowCode<T> {
    /// Greatest number of lanes that [`Self::narrow`] supports.
    const NARROW_LANES: usize;
    /// Computes steps that contain no border cells, in a band of at most [`Self::NARROW_LANES`]
    /// lanes. Appends their directions to `out`.
    fn narrow<const AFFINE: bool, const SCORES: u8>(
        sweep: &BandSweep<'_, T>,
        wave: &mut Wave<T>,
        steps: StepRange,
        out: &mut BandDirections,
    );
    /// Computes a row with linear gaps.
    fn linear<const SCORES: u8>(row: LaneRow<T>, costs: &PackedCosts<T>);
    /// Computes a row with affine gaps.
    fn affine<const SCORES: u8>(row: LaneRow<T>, gaps: GapRow<T>, costs: &PackedCosts<T>);
}

/// Code that runs on every processor. Each step reads whole arrays before it writes any, so that the
/// compiler can vectorize it.
pub(super) struct Portable;

impl<T: PackedValue> RowCode<T> for Portable {
    const NARROW_LANES: usize = 0;

    fn narrow<const AFFINE: bool, const SCORES: u8>(
        _: &BandSweep<'_, T>,
        _: &mut Wave<T>,
        _: StepRange,
        _: &mut BandDirections,
    ) {
        unreachable!("a band has lanes");
    }

    #[inline(always)]
    fn linear<const SCORES: u8>(row: LaneRow<T>, costs: &PackedCosts<T>) {
        let LaneRow { query, target, h_above, h_left, h, directions } = row;
        let inputs = query.iter().zip(target).zip(h_above).zip(h_left);
        for ((((a, b), above), left), (h, direction)) in inputs.zip(h.iter_mut().zip(directions)) {
            let scores = costs.scores::<SCORES>(a, b);
            let diagonal: [T; LANES] = array_of(|lane| h[lane].plus(scores[lane]));
            let best: [T; LANES] = array_of(|lane| diagonal[lane].max(above[lane]).max(left[lane]));
            *direction = array_of(|lane| from(diagonal[lane] == best[lane], above[lane] == best[lane]));
            *h = best;
        }
    }

    #[inline(always)]
    fn affine<const SCORES: u8>(row: LaneRow<T>, gaps: GapRow<T>, costs: &PackedCosts<T>) {
        let LaneRow { query, target, h_above, h_left, h, directions } = row;
        let GapRow { insertion_above, deletion_left, insertion, deletion } = gaps;
        let inputs = query.iter().zip(target).zip(h_above).zip(h_left).zip(insertion_above.iter().zip(deletion_left));
        let outputs = h.iter_mut().zip(directions).zip(insertion.iter_mut().zip(deletion));
        for (((((a, b), above), left), (insertion_above, deletion_left)), ((h, direction), (insertion, deletion))) in
            inputs.zip(outputs)
        {
            let scores = costs.scores::<SCORES>(a, b);
            let diagonal: [T; LANES] = array_of(|lane| h[lane].plus(scores[lane]));
            let above: [T; LANES] = array_of(|lane| above[lane].minus(costs.opening));
            let left: [T; LANES] = array_of(|lane| left[lane].minus(costs.opening));
            let insert: [T; LANES] = array_of(|lane| above[lane].max(insertion_above[lane]));
            let delete: [T; LANES] = array_of(|lane| left[lane].max(deletion_left[lane]));
            let best: [T; LANES] = array_of(|lane| diagonal[lane].max(insert[lane]).max(delete[lane]));
            *direction = array_of(|lane| {
                let leave_insertion = u8::from(above[lane] == insert[lane]) * INSERTION_LEAVES;
                let leave_deletion = u8::from(left[lane] == delete[lane]) * DELETION_LEAVES;
                from(diagonal[lane] == best[lane], insert[lane] == best[lane]) | leave_insertion | leave_deletion
            });
            (*h, *insertion, *deletion) = (best, insert, delete);
        }
    }
}

/// Returns the source of H. The diagonal takes precedence over I, and I over D.
#[inline(always)]
fn from(diagonal: bool, insertion: bool) -> u8 {
    if diagonal { FROM_DIAGONAL } else { FROM_INSERTION + u8::from(!insertion) }
}

impl<T: PackedValue> PackedCosts<T> {
    #[inline(always)]
    fn scores<const SCORES: u8>(&self, a: &[Code; LANES], b: &[Code; LANES]) -> [T; LANES] {
        let (matching, mismatching) = self.two_scores;
        match SCORES {
            BY_SHARED_BITS => array_of(|lane| if a[lane] & b[lane] != 0 { matching } else { mismatching }),
            BY_EQUAL_CODES => array_of(|lane| if a[lane] == b[lane] { matching } else { mismatching }),
            _ => array_of(|lane| self.table[Self::table_index(a[lane], b[lane])]),
        }
    }
}
