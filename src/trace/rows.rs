//! The rows of a sweep: what the cells of a step are computed from, and code for it that every
//! machine can run.

use super::wavefront::{Cell, Costs, Directions, Geometry, LANES, Symbols, Value, Wave};
use crate::seq::Code;
use crate::simd::InstructionSet;

/// How a sweep finds the score of two codes: a [`ScoresBy`](super::band::ScoresBy) as a number,
/// which code is made for.
pub(super) const BY_TABLE: u8 = 0;
pub(super) const BY_SHARED_BITS: u8 = 1;
pub(super) const BY_EQUAL_CODES: u8 = 2;

/// Where a cell's H comes from: two bits of its direction.
pub(super) const FROM: u8 = 3;
pub(super) const FROM_DIAGONAL: u8 = 0;
pub(super) const FROM_INSERTION: u8 = 1;
/// The cell's I leaves its gap. (With linear gaps neither this nor the next bit is set.)
pub(super) const INSERTION_LEAVES: u8 = 4;
/// The cell's D leaves its gap.
pub(super) const DELETION_LEAVES: u8 = 8;

/// What a sweep is over.
#[derive(Clone, Copy)]
pub(super) struct Sweep<'a, T> {
    pub symbols: &'a Symbols,
    pub costs: &'a Costs<T>,
    pub geometry: Geometry,
    /// Only cells from which this one can be reached are needed.
    pub apex: Cell,
    /// What it is computed with.
    pub level: InstructionSet,
}

/// Steps after `from` up to `to`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Steps {
    pub from: i64,
    pub to: i64,
    /// Whether to keep all directions.
    pub keep: bool,
}

/// The blocks of one step, equally many of each. `h` holds the diagonal neighbours and takes the result.
pub(super) struct Row<'a, T> {
    pub query: &'a [[Code; LANES]],
    pub target: &'a [[Code; LANES]],
    pub h_above: &'a [[T; LANES]],
    pub h_left: &'a [[T; LANES]],
    pub h: &'a mut [[T; LANES]],
    pub directions: &'a mut [[u8; LANES]],
}

/// The same for the gap states.
pub(super) struct GapRow<'a, T> {
    pub insertion_above: &'a [[T; LANES]],
    pub deletion_left: &'a [[T; LANES]],
    pub insertion: &'a mut [[T; LANES]],
    pub deletion: &'a mut [[T; LANES]],
}

/// Code for the rows of one kind of machine: called only from kernels that are run at its level.
pub(super) trait Rows<T> {
    /// The most lanes of [`Self::narrow`].
    const NARROW_LANES: usize;
    /// Steps without border cells of a band with few lanes; appends to the directions.
    fn narrow<const AFFINE: bool, const SCORES: u8>(
        sweep: &Sweep<'_, T>,
        wave: &mut Wave<T>,
        steps: Steps,
        out: &mut Directions,
    );
    /// A row with linear gaps.
    fn linear<const SCORES: u8>(row: Row<T>, costs: &Costs<T>);
    /// A row with affine gaps.
    fn affine<const SCORES: u8>(row: Row<T>, gaps: GapRow<T>, costs: &Costs<T>);
}

/// Code for any machine.
pub(super) struct Portable;

impl<T: Value> Rows<T> for Portable {
    const NARROW_LANES: usize = 0;

    fn narrow<const AFFINE: bool, const SCORES: u8>(_: &Sweep<'_, T>, _: &mut Wave<T>, _: Steps, _: &mut Directions) {
        unreachable!("a band has lanes");
    }

    #[inline(always)]
    fn linear<const SCORES: u8>(row: Row<T>, costs: &Costs<T>) {
        let Row { query, target, h_above, h_left, h, directions } = row;
        let inputs = query.iter().zip(target).zip(h_above).zip(h_left);
        for ((((a, b), above), left), (h, direction)) in inputs.zip(h.iter_mut().zip(directions)) {
            let scores = costs.scores::<SCORES>(a, b);
            let diagonal: [T; LANES] = each(|lane| h[lane].plus(scores[lane]));
            let best: [T; LANES] = each(|lane| diagonal[lane].max(above[lane]).max(left[lane]));
            *direction = each(|lane| from(diagonal[lane] == best[lane], above[lane] == best[lane]));
            *h = best;
        }
    }

    #[inline(always)]
    fn affine<const SCORES: u8>(row: Row<T>, gaps: GapRow<T>, costs: &Costs<T>) {
        let Row { query, target, h_above, h_left, h, directions } = row;
        let GapRow { insertion_above, deletion_left, insertion, deletion } = gaps;
        let inputs = query.iter().zip(target).zip(h_above).zip(h_left).zip(insertion_above.iter().zip(deletion_left));
        let outputs = h.iter_mut().zip(directions).zip(insertion.iter_mut().zip(deletion));
        for (((((a, b), above), left), (insertion_above, deletion_left)), ((h, direction), (insertion, deletion))) in
            inputs.zip(outputs)
        {
            let scores = costs.scores::<SCORES>(a, b);
            let diagonal: [T; LANES] = each(|lane| h[lane].plus(scores[lane]));
            let above: [T; LANES] = each(|lane| above[lane].minus(costs.opening));
            let left: [T; LANES] = each(|lane| left[lane].minus(costs.opening));
            let insert: [T; LANES] = each(|lane| above[lane].max(insertion_above[lane]));
            let delete: [T; LANES] = each(|lane| left[lane].max(deletion_left[lane]));
            let best: [T; LANES] = each(|lane| diagonal[lane].max(insert[lane]).max(delete[lane]));
            *direction = each(|lane| {
                let leave_insertion = u8::from(above[lane] == insert[lane]) * INSERTION_LEAVES;
                let leave_deletion = u8::from(left[lane] == delete[lane]) * DELETION_LEAVES;
                from(diagonal[lane] == best[lane], insert[lane] == best[lane]) | leave_insertion | leave_deletion
            });
            (*h, *insertion, *deletion) = (best, insert, delete);
        }
    }
}

/// Where H comes from, the diagonal before I, and I before D.
#[inline(always)]
fn from(diagonal: bool, insertion: bool) -> u8 {
    if diagonal { FROM_DIAGONAL } else { FROM_INSERTION + u8::from(!insertion) }
}

/// One value for each lane. Whole arrays are read before any is written, so that the compiler makes vectors of them.
#[inline(always)]
fn each<E>(f: impl FnMut(usize) -> E) -> [E; LANES] {
    std::array::from_fn(f)
}

impl<T: Value> Costs<T> {
    #[inline(always)]
    fn scores<const SCORES: u8>(&self, a: &[Code; LANES], b: &[Code; LANES]) -> [T; LANES] {
        let (matching, mismatching) = self.two_scores;
        match SCORES {
            BY_SHARED_BITS => each(|lane| if a[lane] & b[lane] != 0 { matching } else { mismatching }),
            BY_EQUAL_CODES => each(|lane| if a[lane] == b[lane] { matching } else { mismatching }),
            _ => each(|lane| self.table[Self::table_index(a[lane], b[lane])]),
        }
    }
}
