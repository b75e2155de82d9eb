//! The layout of the traceback's sweep ([`super::sweep`]): a band of the matrices, antidiagonal by antidiagonal.
//!
//! **Values.** Score and matches are one number, `score * weight + matches` with a weight above every number of
//! matches, so that comparing numbers compares scores first. Added to it is `next * weight` for each symbol consumed,
//! `i + j` in all (the gap-offset transform): a gap's further symbols are then free, its first costs the opening, and
//! values stay small.
//!
//! **Layout.** Step `s` computes the cells with `i + j = s`. Cells on diagonal `d = i - j` are computed every other
//! step, and stay where they are: the even array holds diagonals `low, low + 2, ...`, the odd one `low + 1, low + 3,
//! ...`. In terms of a lane p of the array that a step writes (`phase` 0 even, 1 odd):
//!
//! ```text
//! this[p]              before the step: (i-1, j-1), the diagonal neighbour; after it: (i, j)
//! other[p - 1 + phase] (i-1, j), the one above: diagonal d - 1
//! other[p + phase]     (i, j-1), the one to the left: diagonal d + 1
//! i = i0 + p, j = j0 - p
//! ```
//!
//! So query codes are read forwards and target codes backwards, and a step is one pass over contiguous lanes. Arrays
//! have a lane more at either end that nothing reaches. Lanes are computed in blocks of [`LANES`]; what the last block
//! computes too much is a wider band, or cells outside the matrix. Those are never read by cells of the matrix: steps
//! never decrease i or j, so cells beyond the ends lead nowhere, and cells before i = 0 or j = 0 lead into the matrix
//! only across border cells, which are written over after each step. They may overflow, and wrap.

use std::ops::RangeInclusive;

use super::band::{Band, ScoresBy};
use crate::seq::{Code, PAD};

/// Cells computed at once; arrays are whole blocks of these.
pub(super) const LANES: usize = 8;

/// Idle codes at either end of a sequence: what blocks of lanes read beyond a sequence, or a narrow band beyond its
/// cells.
pub(super) const IDLE_CODES: usize = 48;

/// Codes a side of the substitution table.
pub(super) const TABLE_SIDE: usize = 32;

/// A packed score and matches: a signed integer wide enough for a pair's values.
pub(super) trait Value: Copy + Ord + Send + 'static {
    /// Below every value that a path has, even after an opening is subtracted.
    const UNREACHABLE: Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    /// Panics if it does not fit; [`Self::holds`] is asked before.
    fn from_wide(wide: i128) -> Self;
    fn to_wide(self) -> i128;
    /// Whether values up to `magnitude` either way, and sums of two, stay clear of [`Self::UNREACHABLE`].
    fn holds(magnitude: i128) -> bool;
}

macro_rules! value {
    ($($integer:ty)*) => {$(
        impl Value for $integer {
            const UNREACHABLE: Self = <$integer>::MIN / 2;
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            fn from_wide(wide: i128) -> Self {
                wide.try_into().expect("a value that was found to fit")
            }
            fn to_wide(self) -> i128 {
                self.into()
            }
            fn holds(magnitude: i128) -> bool {
                magnitude < (<$integer>::MAX / 4).into()
            }
        }
    )*};
}
value!(i32 i64 i128);

/// Packed scores of one pair of sequences.
pub(super) struct Costs<T> {
    /// How scores are found.
    pub scores: ScoresBy,
    /// Scores of match and mismatch, if there are only these two.
    pub two_scores: (T, T),
    /// Scores of all pairs of codes, `a * 32 + b`, if they are found there.
    pub table: Box<[T; TABLE_SIDE * TABLE_SIDE]>,
    /// What a gap's first symbol costs more than each further one.
    pub opening: T,
    /// What the offset adds for each symbol.
    pub step: T,
    pub affine: bool,
    /// What the first symbol of an end gap costs more than each further one, and what the offset adds beyond these.
    pub end_opening: T,
    pub end_step: T,
    /// Whether end gaps have costs of their own.
    pub own_ends: bool,
}

impl<T: Value> Costs<T> {
    pub(super) fn table_index(a: Code, b: Code) -> usize {
        a as usize % TABLE_SIDE * TABLE_SIDE + b as usize % TABLE_SIDE
    }

    /// Value of the border cell that `step` symbols of one sequence lead to, and what an end gap of so many adds.
    pub(super) fn border(&self, step: i64) -> T {
        match step {
            0 => T::from_wide(0),
            _ => T::from_wide(self.end_step.to_wide() * i128::from(step)).minus(self.end_opening),
        }
    }
}

/// The sequences of a pair as the sweep reads them, with [`IDLE_CODES`] at either end.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    pub query: Vec<Code>,
    pub target_reversed: Vec<Code>,
    pub m: i64,
    pub n: i64,
}

impl Symbols {
    /// Where in `query` and in `target_reversed` the codes of a step's lane 0 are (those of the next lanes follow):
    /// the cell (i, j) has query symbol i - 1, and target symbol j - 1, which is n - j backwards. May be negative by
    /// less than the lane that is asked for.
    pub(super) fn place(&self, geometry: Geometry, step: i64) -> (i64, i64) {
        let phase = geometry.phase(step);
        let i0 = (step + geometry.low + phase) >> 1;
        let j0 = (step - geometry.low - phase) >> 1;
        (IDLE_CODES as i64 + i0 - 1, IDLE_CODES as i64 + self.n - j0)
    }

    pub(super) fn set(&mut self, query: &[Code], target: &[Code]) {
        let idle = || std::iter::repeat_n(PAD, IDLE_CODES);
        self.query.clear();
        self.query.extend(idle().chain(query.iter().copied()).chain(idle()));
        self.target_reversed.clear();
        self.target_reversed.extend(idle().chain(target.iter().rev().copied()).chain(idle()));
        (self.m, self.n) = (query.len() as i64, target.len() as i64);
    }
}

/// The lanes' places: lane p of the even array is diagonal `low + 2 p`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Geometry {
    pub low: i64,
    /// Lanes of each array; whole blocks.
    pub lanes: usize,
}

impl Geometry {
    pub(super) fn new(band: Band) -> Self {
        let diagonals = (band.high - band.low + 1) as usize;
        Geometry { low: band.low, lanes: diagonals.div_ceil(2).next_multiple_of(LANES) }
    }

    /// 0 if `step` writes the even array, 1 if the odd one.
    pub(super) fn phase(&self, step: i64) -> i64 {
        (step - self.low) & 1
    }

    /// Whether there is a lane for a diagonal.
    pub(super) fn contains(&self, diagonal: i64) -> bool {
        (0..2 * self.lanes as i64).contains(&(diagonal - self.low))
    }

    /// The last step that has a border cell within the band.
    pub(super) fn last_border_step(&self) -> i64 {
        (-self.low).max(self.low + 2 * self.lanes as i64 - 1)
    }

    /// Lane of a diagonal of this step's parity.
    pub(super) fn lane(&self, step: i64, diagonal: i64) -> usize {
        ((diagonal - self.low - self.phase(step)) >> 1) as usize
    }

    /// First and last lane, of either array, of the diagonals up to `reach` from one.
    pub(super) fn lanes_within(&self, diagonal: i64, reach: i64) -> (usize, usize) {
        let lane = |diagonal: i64| ((diagonal - self.low) >> 1).clamp(0, self.lanes as i64 - 1) as usize;
        (lane(diagonal - reach), lane(diagonal + reach))
    }

    /// Lanes of the cells of `step` that are in the band, have i >= 0 and j >= 0, and from which `apex` can be
    /// reached. The set is closed: whichever cells lead to one of its cells are in that step's set, or outside band
    /// and matrix.
    pub(super) fn lanes_of(&self, step: i64, apex: Cell) -> RangeInclusive<i64> {
        let high = self.low + 2 * self.lanes as i64 - 1;
        let left = apex.step() - step;
        let least = self.low.max(-step).max(apex.diagonal() - left);
        let greatest = high.min(step).min(apex.diagonal() + left);
        let phase = self.phase(step);
        (least - self.low - phase + 1) >> 1..=(greatest - self.low - phase) >> 1
    }
}

/// A cell of the matrices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    pub i: i64,
    pub j: i64,
}

impl Cell {
    pub(super) fn step(self) -> i64 {
        self.i + self.j
    }

    pub(super) fn diagonal(self) -> i64 {
        self.i - self.j
    }
}

/// Three states of the cells of every other step, each an array of lanes with a guard at either end. With linear gaps
/// only H is used: a gap state is then a neighbour's H.
#[derive(Debug)]
pub(super) struct Arrays<T> {
    pub h: Vec<T>,
    pub insertion: Vec<T>,
    pub deletion: Vec<T>,
}

impl<T> Default for Arrays<T> {
    fn default() -> Self {
        Arrays { h: Vec::new(), insertion: Vec::new(), deletion: Vec::new() }
    }
}

/// The two latest steps.
#[derive(Debug)]
pub(super) struct Wave<T> {
    pub even: Arrays<T>,
    pub odd: Arrays<T>,
}

impl<T> Default for Wave<T> {
    fn default() -> Self {
        Wave { even: Arrays::default(), odd: Arrays::default() }
    }
}

impl<T: Value> Wave<T> {
    /// Step 0: nothing but the cell (0, 0) is reached.
    pub(super) fn start(&mut self, geometry: Geometry, affine: bool) {
        let length = geometry.lanes + 2;
        for array in self.arrays_mut() {
            array.clear();
        }
        for Arrays { h, insertion, deletion } in [&mut self.even, &mut self.odd] {
            h.resize(length, T::UNREACHABLE);
            if affine {
                insertion.resize(length, T::UNREACHABLE);
                deletion.resize(length, T::UNREACHABLE);
            }
        }
        let origin = if geometry.phase(0) == 0 { &mut self.even } else { &mut self.odd };
        origin.h[1 + geometry.lane(0, 0)] = T::from_wide(0);
    }

    /// H of a cell of one of the two latest steps, if the band has it.
    pub(super) fn value(&self, geometry: Geometry, cell: Cell) -> Option<T> {
        let arrays = if geometry.phase(cell.step()) == 0 { &self.even } else { &self.odd };
        let lane = geometry.contains(cell.diagonal()).then(|| geometry.lane(cell.step(), cell.diagonal()))?;
        Some(arrays.h[1 + lane])
    }

    fn arrays_mut(&mut self) -> [&mut Vec<T>; 6] {
        let Wave { even, odd } = self;
        let (h, insertion, deletion) = (&mut odd.h, &mut odd.insertion, &mut odd.deletion);
        [&mut even.h, &mut even.insertion, &mut even.deletion, h, insertion, deletion]
    }

    /// What cells on the way to `apex` need after `step`, copied.
    pub(super) fn save(&mut self, geometry: Geometry, step: i64, apex: Cell) -> Saved<T> {
        let (first, last) = geometry.lanes_within(apex.diagonal(), apex.step() - step + 2);
        let copy = |array: &mut Vec<T>| array.get(1 + first..=1 + last).unwrap_or_default().to_vec();
        Saved { step, first, lanes: self.arrays_mut().map(copy) }
    }

    /// Puts saved lanes back where they were.
    pub(super) fn restore(&mut self, saved: &Saved<T>) {
        for (array, lanes) in self.arrays_mut().into_iter().zip(&saved.lanes) {
            if !lanes.is_empty() {
                array[1 + saved.first..][..lanes.len()].copy_from_slice(lanes);
            }
        }
    }
}

/// Lanes as they stood after a step.
#[derive(Debug)]
pub(super) struct Saved<T> {
    pub step: i64,
    first: usize,
    lanes: [Vec<T>; 6],
}

/// Directions of a range of steps.
#[derive(Debug, Default)]
pub(super) struct Directions {
    pub bytes: Vec<u8>,
    /// For each step from `first_step` on, where lane 0's byte is, or would be if it were kept (so it may have wrapped).
    origins: Vec<usize>,
    first_step: i64,
    /// Bytes that are kept.
    end: usize,
}

impl Directions {
    /// Room for a step's directions: `length` bytes for the lanes from `base` on, at the returned index. They are
    /// written over by the next step's if they are not to be kept.
    #[inline(always)]
    pub(super) fn row(&mut self, base: usize, length: usize, keep: bool) -> usize {
        let start = self.end;
        self.reserve(start + length);
        self.origins.push(start.wrapping_sub(base));
        self.end += if keep { length } else { 0 };
        start
    }

    /// The same for many steps with lanes from 0 on: the index of the first, and how much further the next ones are.
    pub(super) fn rows(&mut self, steps: usize, length: usize, keep: bool) -> (usize, usize) {
        let (start, stride) = (self.end, if keep { length } else { 0 });
        self.reserve(start + steps * stride + length);
        self.origins.extend((0..steps).map(|step| start + step * stride));
        self.end += steps * stride;
        (start, stride)
    }

    fn reserve(&mut self, bytes: usize) {
        if self.bytes.len() < bytes {
            // Ahead of what comes, but not twice as far as a vector would go by itself: the budget is meant.
            let bytes = bytes + bytes / 4;
            self.bytes.reserve_exact(bytes - self.bytes.len());
            self.bytes.resize(bytes, 0);
        }
    }

    /// Forgets all; the next directions are those of `first_step`.
    pub(super) fn restart(&mut self, first_step: i64) {
        self.first_step = first_step;
        self.origins.clear();
        self.end = 0;
    }

    #[inline]
    pub(super) fn of(&self, geometry: Geometry, cell: Cell) -> u8 {
        let origin = self.origins[(cell.step() - self.first_step) as usize];
        self.bytes[origin.wrapping_add(geometry.lane(cell.step(), cell.diagonal()))]
    }
}
