//! Sweeps over anti-diagonals. Each step computes as many cells as the processor's vectors have
//! lanes.
//!
//! Compilers vectorise loops over arrays of a fixed length for any instruction set. Therefore the
//! same generic code is used for all number types. Lanes beyond the last cell of a diagonal compute
//! values that are never read.

use std::ops::Range;

use crate::score::PhyloScheme;
use crate::simd::{Simd, SimdKernel};

/// A signed integer type for cells. Sums in unused lanes may wrap.
pub(super) trait CellNumber: Copy + Default + PartialOrd + std::fmt::Debug {
    /// Largest absolute value of a cell.
    const MAX_ABS: i64;
    /// Minus infinity: below all cells, even after subtracting a cost.
    const NEG_INF: Self;
    /// The value with all bits set.
    const ONES: Self;
    /// Number of bits of a set that fit the type.
    const SET_BITS: u32;
    fn from_i64(number: i64) -> Self;
    fn to_i64(self) -> i64;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn to_u8(self) -> u8;
}

macro_rules! cell_numbers {
    ($($number:ty, $farthest:expr, $set_bits:expr);*) => { $(
        impl CellNumber for $number {
            const MAX_ABS: i64 = $farthest;
            const NEG_INF: Self = (-Self::MAX_ABS - (Self::MAX_ABS >> 4)) as $number;
            const ONES: Self = -1;
            const SET_BITS: u32 = $set_bits;
            #[inline(always)]
            fn from_i64(number: i64) -> Self {
                number as $number
            }
            #[inline(always)]
            fn to_i64(self) -> i64 {
                i64::from(self)
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn and(self, other: Self) -> Self {
                self & other
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }
            #[inline(always)]
            fn to_u8(self) -> u8 {
                self as u8
            }
        }
    )* };
}
cell_numbers!(i16, 14_000, 10; i32, 1 << 29, 20; i64, 1 << 60, 20);

/// Bits of a cell's direction. The lowest two bits are the source of its best score. The higher
/// bits tell whether its deletion and its insertion extend an open gap.
pub(super) mod direction {
    pub(in super::super) const SOURCE: u8 = 3;
    pub(in super::super) const DELETED: u8 = 1;
    pub(in super::super) const INSERTED: u8 = 2;
    pub(in super::super) const EXTENDS_DELETION: u8 = 4;
    pub(in super::super) const EXTENDS_INSERTION: u8 = 8;
}

/// Scores and costs of a scheme as cell numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct SchemeNumbers<T> {
    matching: T,
    mismatch: T,
    deletion: [T; 2],
    insertion: [T; 2],
    free_read_ends: bool,
}

impl<T: CellNumber> SchemeNumbers<T> {
    pub(super) fn from_scheme(scheme: &PhyloScheme) -> Self {
        let both = |gaps: crate::score::Gaps| [gaps.first, gaps.next].map(|cost| T::from_i64(cost.into()));
        SchemeNumbers {
            matching: T::from_i64(scheme.matching.into()),
            mismatch: T::from_i64(scheme.mismatch.into()),
            deletion: both(scheme.deletion),
            insertion: both(scheme.insertion),
            free_read_ends: scheme.free_read_ends,
        }
    }

    /// Returns the score of `symbols` symbols (at least one) before the first site.
    #[inline(always)]
    fn before_sites(&self, symbols: usize) -> T {
        let [first, next] = self.insertion;
        let (first, next) = (first.to_i64(), next.to_i64());
        if self.free_read_ends { T::default() } else { T::from_i64(-(first + (symbols as i64 - 1) * next)) }
    }
}

/// Inputs of a read and a vector. All lists have padding for a vector of lanes at their end.
#[derive(Debug, Default)]
pub(super) struct DiagonalSets<T> {
    /// Sets of the read's symbols: the lower bits, then the remaining bits if a set does not fit
    /// one number.
    pub read: [Vec<T>; 2],
    /// Sets of the sites, in reverse order.
    pub sites: [Vec<T>; 2],
    /// Mask of the sites where a deletion has a cost: all bits set, or 0. The sites are in reverse
    /// order.
    pub charged: Vec<T>,
    /// Additional cost of an aligned character at each site, in reverse order.
    pub penalty: Vec<T>,
}

/// The most recent diagonals. The index is the number of read symbols up to a cell.
#[derive(Debug, Default)]
pub(super) struct DiagonalState<T> {
    before_last: Vec<T>,
    last: Vec<T>,
    next: Vec<T>,
    deleted: Vec<T>,
    inserted: Vec<T>,
    inserted_next: Vec<T>,
}

impl<T: CellNumber> DiagonalState<T> {
    /// Initialises diagonal 0, with space for `symbols` symbols and `lanes` lanes.
    pub(super) fn start(&mut self, symbols: usize, lanes: usize) {
        let all = [&mut self.before_last, &mut self.last, &mut self.next, &mut self.deleted];
        for list in all.into_iter().chain([&mut self.inserted, &mut self.inserted_next]) {
            list.clear();
            list.resize(symbols + 1 + lanes, T::default());
        }
    }

    /// Appends the cells that a diagonal and all later diagonals depend on to `kept`.
    pub(super) fn save(&self, diagonal: usize, limits: MatrixLimits, kept: &mut Vec<T>) {
        let window = limits.symbols_before(diagonal);
        let all = [&self.before_last, &self.last, &self.deleted, &self.inserted];
        all.into_iter().for_each(|list| kept.extend_from_slice(&list[window.clone()]));
    }

    /// Restores the cells that `save` appended. The sweep reads no other cells.
    pub(super) fn restore(&mut self, diagonal: usize, limits: MatrixLimits, kept: &[T]) {
        let window = limits.symbols_before(diagonal);
        let all = [&mut self.before_last, &mut self.last, &mut self.deleted, &mut self.inserted];
        for (list, kept) in all.into_iter().zip(kept.chunks(window.len().max(1))) {
            list[window.clone()].copy_from_slice(kept);
        }
    }
}

/// The best cell after the last symbol and the best cell after the last site, each with its
/// diagonal. Among equal cells, the first one wins.
#[derive(Debug)]
pub(super) struct DiagonalEnds<T> {
    pub last_symbol: (T, usize),
    /// Best cell after the last site, excluding the cell after the last symbol.
    pub last_site: (T, usize),
}

impl<T: CellNumber> DiagonalEnds<T> {
    pub(super) fn none() -> Self {
        DiagonalEnds { last_symbol: (T::NEG_INF, 0), last_site: (T::NEG_INF, 0) }
    }

    /// Updates both cells from a diagonal.
    #[inline(always)]
    pub(super) fn update(&mut self, state: &DiagonalState<T>, diagonal: usize, limits: MatrixLimits) {
        let (MatrixLimits { sites, symbols, .. }, last) = (limits, &state.last);
        if (symbols..=sites + symbols).contains(&diagonal) && last[symbols] > self.last_symbol.0 {
            self.last_symbol = (last[symbols], diagonal);
        }
        if (sites..sites + symbols).contains(&diagonal) && last[diagonal - sites] > self.last_site.0 {
            self.last_site = (last[diagonal - sites], diagonal);
        }
    }
}

/// The part of the matrix to compute: the cells up to a site and a symbol.
#[derive(Debug, Clone, Copy)]
pub(super) struct MatrixLimits {
    pub sites: usize,
    pub symbols: usize,
    /// Number of sites of the vector.
    pub all_sites: usize,
}

impl MatrixLimits {
    /// Returns the range of symbols on the two diagonals before a diagonal.
    fn symbols_before(self, diagonal: usize) -> Range<usize> {
        diagonal.saturating_sub(self.all_sites + 2)..diagonal.min(self.symbols + 1)
    }

    /// Returns the index of a cell's direction within its diagonal. Index 0 is the smallest symbol
    /// that the diagonal can have.
    #[inline(always)]
    pub(super) fn direction_index(self, diagonal: usize, symbol: usize) -> usize {
        symbol - diagonal.saturating_sub(self.all_sites)
    }

    /// Returns the maximum number of cells of a diagonal.
    pub(super) fn width(self) -> usize {
        self.all_sites.min(self.symbols) + 1
    }
}

/// Computes a range of diagonals, excluding diagonal 0, in vectors of `LANES` lanes. A set is
/// stored in `PARTS` numbers.
pub(super) struct DiagonalSweep<'a, T, const LANES: usize, const PARTS: usize> {
    pub costs: SchemeNumbers<T>,
    pub sets: &'a DiagonalSets<T>,
    pub state: &'a mut DiagonalState<T>,
    pub limits: MatrixLimits,
    pub range: Range<usize>,
    /// Output for directions, and the number of entries per diagonal.
    pub directions: Option<(&'a mut [u8], usize)>,
    pub ends: Option<&'a mut DiagonalEnds<T>>,
}

/// Returns `count` vectors of lanes from index `at` on.
#[inline(always)]
fn parts<T, const LANES: usize>(inputs: &[T], at: usize, count: usize) -> &[[T; LANES]] {
    inputs[at..at + count * LANES].as_chunks().0
}

#[inline(always)]
fn parts_mut<T, const LANES: usize>(inputs: &mut [T], at: usize, count: usize) -> &mut [[T; LANES]] {
    inputs[at..at + count * LANES].as_chunks_mut().0
}

#[inline(always)]
fn max<T: CellNumber>(a: T, b: T) -> T {
    if a > b { a } else { b }
}

/// Inputs of one vector of cells.
struct CellSources<'a, T, const LANES: usize> {
    above: &'a [T; LANES],
    left: &'a [T; LANES],
    across: &'a [T; LANES],
    inserted: &'a [T; LANES],
    charged: &'a [T; LANES],
    penalty: &'a [T; LANES],
    read: [&'a [T; LANES]; 2],
    sites: [&'a [T; LANES]; 2],
}

/// Computes one vector of cells: the best scores, deletions, insertions and directions. `deleted`
/// also has the deletions of the cells above as input.
///
/// The function is a single loop whose outputs do not alias, so that compilers vectorise it.
#[inline(always)]
fn cells<T: CellNumber, const LANES: usize, const PARTS: usize, const DIRECTIONS: bool>(
    costs: &SchemeNumbers<T>,
    inputs: CellSources<'_, T, LANES>,
    best: &mut [T; LANES],
    deleted: &mut [T; LANES],
    inserted: &mut [T; LANES],
    from: &mut [u8; LANES],
) {
    let SchemeNumbers { matching, mismatch, deletion, insertion, .. } = *costs;
    for k in 0..LANES {
        let mut common = inputs.read[0][k].and(inputs.sites[0][k]);
        if PARTS > 1 {
            common = common.or(inputs.read[1][k].and(inputs.sites[1][k]));
        }
        let opened = inputs.above[k].minus(inputs.charged[k].and(deletion[0]));
        let extended = deleted[k].minus(inputs.charged[k].and(deletion[1]));
        let opened_too = inputs.left[k].minus(insertion[0]);
        let extended_too = inputs.inserted[k].minus(insertion[1]);
        let (del, ins) = (max(opened, extended), max(opened_too, extended_too));
        let change = if common != T::default() { matching } else { mismatch };
        let aligned = inputs.across[k].plus(change).minus(inputs.penalty[k]);
        let gap = max(del, ins);
        best[k] = max(aligned, gap);
        deleted[k] = del;
        inserted[k] = ins;
        if DIRECTIONS {
            let code = |is: bool, code: u8| if is { T::from_i64(code.into()) } else { T::default() };
            let of_gap = if del >= ins { direction::DELETED } else { direction::INSERTED };
            let source = if aligned >= gap { T::default() } else { T::from_i64(of_gap.into()) };
            let extends = code(extended > opened, direction::EXTENDS_DELETION)
                .or(code(extended_too > opened_too, direction::EXTENDS_INSERTION));
            from[k] = source.or(extends).to_u8();
        }
    }
}

impl<T: CellNumber, const LANES: usize, const PARTS: usize> DiagonalSweep<'_, T, LANES, PARTS> {
    /// Computes `count` vectors of cells of a diagonal, from symbol `j` on.
    #[inline(always)]
    fn row<const DIRECTIONS: bool>(&mut self, diagonal: usize, j: usize, count: usize) {
        let (sets, state, site) = (self.sets, &mut *self.state, self.limits.all_sites + j - diagonal);
        let second = PARTS - 1;
        // Written without `map`, because its closure may not be inlined.
        let (above, left) = (parts(&state.last, j, count), parts(&state.last, j - 1, count));
        let (across, inserted) = (parts(&state.before_last, j - 1, count), parts(&state.inserted, j - 1, count));
        let (charged, penalty) = (parts(&sets.charged, site, count), parts(&sets.penalty, site, count));
        let (read, read_too) = (parts(&sets.read[0], j - 1, count), parts(&sets.read[second], j - 1, count));
        let (sites, sites_too) = (parts(&sets.sites[0], site, count), parts(&sets.sites[second], site, count));
        let best = parts_mut(&mut state.next, j, count);
        let deleted = parts_mut(&mut state.deleted, j, count);
        let inserted_too = parts_mut(&mut state.inserted_next, j, count);
        let directions: &mut [[u8; LANES]] = match &mut self.directions {
            Some((directions, stride)) if DIRECTIONS => {
                let direction_index = self.limits.direction_index(diagonal, j);
                parts_mut(directions, (diagonal - self.range.start) * *stride + direction_index, count)
            }
            _ => &mut [],
        };
        let mut none = [0; LANES];
        for k in 0..count {
            let inputs = CellSources {
                above: &above[k],
                left: &left[k],
                across: &across[k],
                inserted: &inserted[k],
                charged: &charged[k],
                penalty: &penalty[k],
                read: [&read[k], &read_too[k]],
                sites: [&sites[k], &sites_too[k]],
            };
            let from = if DIRECTIONS { &mut directions[k] } else { &mut none };
            cells::<T, LANES, PARTS, DIRECTIONS>(
                &self.costs,
                inputs,
                &mut best[k],
                &mut deleted[k],
                &mut inserted_too[k],
                from,
            );
        }
    }

    #[inline(always)]
    fn sweep<const DIRECTIONS: bool>(mut self) {
        let MatrixLimits { sites, symbols, .. } = self.limits;
        for diagonal in self.range.clone() {
            let (first, end) = (1.max(diagonal.saturating_sub(sites)), diagonal.min(symbols + 1));
            if first < end {
                self.row::<DIRECTIONS>(diagonal, first, (end - first).div_ceil(LANES));
            }
            // Cells without a site or without a symbol.
            let state = &mut *self.state;
            if diagonal <= symbols {
                state.next[diagonal] = self.costs.before_sites(diagonal);
                (state.deleted[diagonal], state.inserted_next[diagonal]) = (T::NEG_INF, T::NEG_INF);
            }
            if diagonal <= sites {
                (state.next[0], state.inserted_next[0]) = (T::default(), T::NEG_INF);
            }
            std::mem::swap(&mut state.before_last, &mut state.last);
            std::mem::swap(&mut state.last, &mut state.next);
            std::mem::swap(&mut state.inserted, &mut state.inserted_next);
            if let Some(ends) = &mut self.ends {
                ends.update(state, diagonal, self.limits);
            }
        }
    }
}

impl<T: CellNumber, const LANES: usize, const PARTS: usize> SimdKernel for DiagonalSweep<'_, T, LANES, PARTS> {
    type Output = ();
    /// AVX-512 does not pay off here: most reads are short, and most accesses cross a 512-bit
    /// boundary.
    const USES_AVX512: bool = false;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        if self.directions.is_some() { self.sweep::<true>() } else { self.sweep::<false>() }
    }
}
