//! The data layout of the traceback's sweep ([`super::sweep`]), which computes a band of the
//! matrices, one antidiagonal after another.
//!
//! **Values.** Score and matches are packed into one number, `score * weight + matches`. The weight
//! exceeds every possible number of matches, so comparing packed values compares scores first. The
//! gap-offset transform adds `next * weight` for each consumed symbol, `i + j` in all. A gap's
//! further symbols are then free, its first symbol costs the opening, and values stay small.
//!
//! **Layout.** Step `s` computes the cells with `i + j = s`. The cells on a diagonal `d = i - j`
//! are computed every other step, always in the same lane of the same array. The even array holds
//! the diagonals `low, low + 2, ...`, and the odd array holds `low + 1, low + 3, ...`. For a lane p
//! of the array that a step writes (`phase` 0 for the even array, 1 for the odd array):
//!
//! ```text
//! this[p]              before the step: (i-1, j-1), the diagonal neighbour; after it: (i, j)
//! other[p - 1 + phase] (i-1, j), the neighbour above: diagonal d - 1
//! other[p + phase]     (i, j-1), the neighbour to the left: diagonal d + 1
//! i = i0 + p, j = j0 - p
//! ```
//!
//! Query codes are therefore read forwards and target codes backwards, and a step is one pass over
//! contiguous lanes. Each array has one guard lane at either end that no path reaches. Lanes are
//! computed in blocks of [`LANES`]. The surplus lanes of the last block widen the band or lie
//! outside the matrix. Cells of the matrix never read cells outside it. Steps never decrease i or
//! j, so cells beyond the ends lead nowhere. Cells before i = 0 or j = 0 lead into the matrix only
//! across border cells, which are overwritten after each step. Values outside the matrix may
//! overflow and wrap.

use std::ops::RangeInclusive;

use super::band::{Band, ScoresBy};
use crate::seq::{Code, PAD};

/// Number of cells computed at once. Arrays are whole blocks of this length.
pub(super) const LANES: usize = 8;

/// Number of padding codes at either end of a sequence. Blocks of lanes read them beyond the
/// sequence's ends, and so does a narrow band beyond its cells.
pub(super) const PADDING_CODES: usize = 48;

/// Number of rows and of columns of the substitution table.
pub(super) const TABLE_SIDE: usize = 32;

/// A packed score and number of matches: a signed integer that is wide enough for a pair's values.
pub(super) trait PackedValue: Copy + Ord + Send + 'static {
    /// A value that is less than the value of every path, even after an opening is subtracted.
    const UNREACHABLE: Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    /// Converts a number. Panics if it does not fit, so callers check [`Self::holds`] first.
    fn from_wide(wide: i128) -> Self;
    fn to_wide(self) -> i128;
    /// Returns whether numbers up to `magnitude` in absolute value, and sums of two of them, stay
    /// above [`Self::UNREACHABLE`].
    fn holds(magnitude: i128) -> bool;
}

macro_rules! value {
    ($($integer:ty)*) => {$(
        impl PackedValue for $integer {
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

/// Packed scores and costs of one pair of sequences.
pub(super) struct PackedCosts<T> {
    /// How to find scores.
    pub scores: ScoresBy,
    /// Scores of a match and of a mismatch, if only these two scores occur.
    pub two_scores: (T, T),
    /// Scores of all pairs of codes at [`Self::table_index`], if scores are found in a table.
    pub table: Box<[T; TABLE_SIDE * TABLE_SIDE]>,
    /// Cost of a gap's first symbol minus the cost of each further symbol.
    pub opening: T,
    /// Offset that the transform adds for each symbol.
    pub step: T,
    pub affine: bool,
    /// Cost of an end gap's first symbol minus the cost of each of its further symbols.
    pub end_opening: T,
    /// Offset for each symbol minus the cost of each further symbol of an end gap.
    pub end_step: T,
    /// Whether end gaps have their own costs.
    pub own_ends: bool,
}

impl<T: PackedValue> PackedCosts<T> {
    pub(super) fn table_index(a: Code, b: Code) -> usize {
        a as usize % TABLE_SIDE * TABLE_SIDE + b as usize % TABLE_SIDE
    }

    /// Returns the value of the border cell after `step` symbols of one sequence. This is also the
    /// value that an end gap of `step` symbols adds.
    pub(super) fn border(&self, step: i64) -> T {
        match step {
            0 => T::from_wide(0),
            _ => T::from_wide(self.end_step.to_wide() * i128::from(step)).minus(self.end_opening),
        }
    }
}

/// The sequences of a pair in the order in which the sweep reads them, with [`PADDING_CODES`] at
/// either end.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    pub query: Vec<Code>,
    pub target_reversed: Vec<Code>,
    pub m: i64,
    pub n: i64,
}

impl Symbols {
    /// Returns the indices in `query` and in `target_reversed` of the codes for a step's lane 0.
    /// The codes for the other lanes follow. Cell (i, j) has query symbol `i - 1` and target symbol
    /// `j - 1`, which is at `n - j` in reverse order. An index may be negative, but the index of
    /// the first lane that is read is not.
    pub(super) fn lane_zero_indices(&self, geometry: Geometry, step: i64) -> (i64, i64) {
        let phase = geometry.phase(step);
        let i0 = (step + geometry.low + phase) >> 1;
        let j0 = (step - geometry.low - phase) >> 1;
        (PADDING_CODES as i64 + i0 - 1, PADDING_CODES as i64 + self.n - j0)
    }

    pub(super) fn set(&mut self, query: &[Code], target: &[Code]) {
        let padding = || std::iter::repeat_n(PAD, PADDING_CODES);
        self.query.clear();
        self.query.extend(padding().chain(query.iter().copied()).chain(padding()));
        self.target_reversed.clear();
        self.target_reversed.extend(padding().chain(target.iter().rev().copied()).chain(padding()));
        (self.m, self.n) = (query.len() as i64, target.len() as i64);
    }
}

/// Positions of the lanes: lane p of the even array is diagonal `low + 2 p`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Geometry {
    pub low: i64,
    /// Number of lanes of each array, a multiple of [`LANES`].
    pub lanes: usize,
}

impl Geometry {
    pub(super) fn new(band: Band) -> Self {
        let diagonals = (band.high - band.low + 1) as usize;
        Geometry { low: band.low, lanes: diagonals.div_ceil(2).next_multiple_of(LANES) }
    }

    /// Returns 0 if `step` writes the even array, 1 if it writes the odd array.
    pub(super) fn phase(&self, step: i64) -> i64 {
        (step - self.low) & 1
    }

    /// Returns whether a diagonal has a lane.
    pub(super) fn contains(&self, diagonal: i64) -> bool {
        (0..2 * self.lanes as i64).contains(&(diagonal - self.low))
    }

    /// Returns the last step that has a border cell within the band.
    pub(super) fn last_border_step(&self) -> i64 {
        (-self.low).max(self.low + 2 * self.lanes as i64 - 1)
    }

    /// Returns the lane of a diagonal with the parity of this step.
    pub(super) fn lane(&self, step: i64, diagonal: i64) -> usize {
        ((diagonal - self.low - self.phase(step)) >> 1) as usize
    }

    /// Returns the first and the last lane, in either array, of the diagonals at a distance of at
    /// most `reach` from `diagonal`.
    pub(super) fn lanes_within(&self, diagonal: i64, reach: i64) -> (usize, usize) {
        let lane = |diagonal: i64| ((diagonal - self.low) >> 1).clamp(0, self.lanes as i64 - 1) as usize;
        (lane(diagonal - reach), lane(diagonal + reach))
    }

    /// Returns the lanes of all cells of `step` that are in the band, have i >= 0 and j >= 0, and
    /// can lead to `apex`. If a cell is in the set, the cells that lead to it are in the sets of
    /// their own steps, unless they are outside the band or the matrix.
    pub(super) fn lanes_of(&self, step: i64, apex: MatrixCell) -> RangeInclusive<i64> {
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
pub(super) struct MatrixCell {
    pub i: i64,
    pub j: i64,
}

impl MatrixCell {
    pub(super) fn step(self) -> i64 {
        self.i + self.j
    }

    pub(super) fn diagonal(self) -> i64 {
        self.i - self.j
    }
}

/// The three states of the cells of every other step. Each state is an array of lanes with a guard
/// lane at either end. With linear gaps, only `h` is used, because a gap state equals the
/// neighbour's H.
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

/// Values of the two latest steps.
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

impl<T: PackedValue> Wave<T> {
    /// Sets the values of step 0. Only the cell (0, 0) is reachable.
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

    /// Returns H of a cell if the band contains it. The cell must belong to the two latest steps.
    pub(super) fn value(&self, geometry: Geometry, cell: MatrixCell) -> Option<T> {
        let arrays = if geometry.phase(cell.step()) == 0 { &self.even } else { &self.odd };
        let lane = geometry.contains(cell.diagonal()).then(|| geometry.lane(cell.step(), cell.diagonal()))?;
        Some(arrays.h[1 + lane])
    }

    fn arrays_mut(&mut self) -> [&mut Vec<T>; 6] {
        let Wave { even, odd } = self;
        let (h, insertion, deletion) = (&mut odd.h, &mut odd.insertion, &mut odd.deletion);
        [&mut even.h, &mut even.insertion, &mut even.deletion, h, insertion, deletion]
    }

    /// Copies the values after `step` that cells on the way to `apex` need.
    pub(super) fn save(&mut self, geometry: Geometry, step: i64, apex: MatrixCell) -> WaveCheckpoint<T> {
        let (first, last) = geometry.lanes_within(apex.diagonal(), apex.step() - step + 2);
        let copy = |array: &mut Vec<T>| array.get(1 + first..=1 + last).unwrap_or_default().to_vec();
        WaveCheckpoint { step, first, lanes: self.arrays_mut().map(copy) }
    }

    /// Restores the values of a checkpoint to their lanes.
    pub(super) fn restore(&mut self, saved: &WaveCheckpoint<T>) {
        for (array, lanes) in self.arrays_mut().into_iter().zip(&saved.lanes) {
            if !lanes.is_empty() {
                array[1 + saved.first..][..lanes.len()].copy_from_slice(lanes);
            }
        }
    }
}

/// Lanes with their values after a step.
#[derive(Debug)]
pub(super) struct WaveCheckpoint<T> {
    pub step: i64,
    first: usize,
    lanes: [Vec<T>; 6],
}

/// Directions of a range of steps.
#[derive(Debug, Default)]
pub(super) struct BandDirections {
    pub bytes: Vec<u8>,
    /// For each step from `first_step` on, the index of the byte of lane 0. If that byte is not
    /// kept, the index may have wrapped around.
    origins: Vec<usize>,
    first_step: i64,
    /// Number of bytes that are kept.
    end: usize,
}

impl BandDirections {
    /// Makes space for a step's directions: `length` bytes for the lanes from `base` on. Returns
    /// the index of the first byte. The next step overwrites the bytes unless `keep` is set.
    #[inline(always)]
    pub(super) fn row(&mut self, base: usize, length: usize, keep: bool) -> usize {
        let start = self.end;
        self.reserve(start + length);
        self.origins.push(start.wrapping_sub(base));
        self.end += if keep { length } else { 0 };
        start
    }

    /// Makes space for many steps with lanes from 0 on. Returns the index of the first step's
    /// bytes, and the distance between the bytes of successive steps.
    pub(super) fn rows(&mut self, steps: usize, length: usize, keep: bool) -> (usize, usize) {
        let (start, stride) = (self.end, if keep { length } else { 0 });
        self.reserve(start + steps * stride + length);
        self.origins.extend((0..steps).map(|step| start + step * stride));
        self.end += steps * stride;
        (start, stride)
    }

    fn reserve(&mut self, bytes: usize) {
        if self.bytes.len() < bytes {
            // Grows by a quarter in advance. A vector would double its length, which could exceed
            // the budget.
            let bytes = bytes + bytes / 4;
            self.bytes.reserve_exact(bytes - self.bytes.len());
            self.bytes.resize(bytes, 0);
        }
    }

    /// Removes all directions. The next directions belong to `first_step`.
    pub(super) fn restart(&mut self, first_step: i64) {
        self.first_step = first_step;
        self.origins.clear();
        self.end = 0;
    }

    #[inline]
    pub(super) fn direction(&self, geometry: Geometry, cell: MatrixCell) -> u8 {
        let origin = self.origins[(cell.step() - self.first_step) as usize];
        self.bytes[origin.wrapping_add(geometry.lane(cell.step(), cell.diagonal()))]
    }
}
