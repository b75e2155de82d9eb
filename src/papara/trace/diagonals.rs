//! Cells along diagonals, as many at once as the processor's vectors hold.
//!
//! Loops over arrays of a fixed length are what compilers make vectors of, whatever the instructions; so there is one form for
//! all kinds of numbers. Lanes beyond a diagonal's last cell compute what nobody reads.

use std::ops::Range;

use crate::score::PhyloScheme;
use crate::simd::{Simd, SimdKernel};

/// A kind of whole numbers; what lanes compute in vain may wrap.
pub(super) trait Number: Copy + Default + PartialOrd + std::fmt::Debug {
    /// No cell is farther from 0.
    const FARTHEST: i64;
    /// What no path has: below all cells, also after a cost.
    const NONE: Self;
    /// All bits.
    const ONES: Self;
    /// Bits of a set that it holds.
    const SET_BITS: u32;
    fn from_number(number: i64) -> Self;
    fn wide(self) -> i64;
    fn plus(self, other: Self) -> Self;
    fn less(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn byte(self) -> u8;
}

macro_rules! numbers {
    ($($number:ty, $farthest:expr, $set_bits:expr);*) => { $(
        impl Number for $number {
            const FARTHEST: i64 = $farthest;
            const NONE: Self = (-Self::FARTHEST - (Self::FARTHEST >> 4)) as $number;
            const ONES: Self = -1;
            const SET_BITS: u32 = $set_bits;
            #[inline(always)]
            fn from_number(number: i64) -> Self {
                number as $number
            }
            #[inline(always)]
            fn wide(self) -> i64 {
                i64::from(self)
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn less(self, other: Self) -> Self {
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
            fn byte(self) -> u8 {
                self as u8
            }
        }
    )* };
}
numbers!(i16, 14_000, 10; i32, 1 << 29, 20; i64, 1 << 60, 20);

/// What a cell comes from: in the lowest two bits its best, above whether its gaps extend one.
pub(super) mod direction {
    pub(in super::super) const SOURCE: u8 = 3;
    pub(in super::super) const DELETED: u8 = 1;
    pub(in super::super) const INSERTED: u8 = 2;
    pub(in super::super) const EXTENDS_DELETION: u8 = 4;
    pub(in super::super) const EXTENDS_INSERTION: u8 = 8;
}

/// A scheme.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numbers<T> {
    matching: T,
    mismatch: T,
    deletion: [T; 2],
    insertion: [T; 2],
    free_read_ends: bool,
}

impl<T: Number> Numbers<T> {
    pub(super) fn of(scheme: &PhyloScheme) -> Self {
        let both = |gaps: crate::score::Gaps| [gaps.first, gaps.next].map(|cost| T::from_number(cost.into()));
        Numbers {
            matching: T::from_number(scheme.matching.into()),
            mismatch: T::from_number(scheme.mismatch.into()),
            deletion: both(scheme.deletion),
            insertion: both(scheme.insertion),
            free_read_ends: scheme.free_read_ends,
        }
    }

    /// Of so many symbols, at least one, before the first site.
    #[inline(always)]
    fn before_sites(&self, symbols: usize) -> T {
        let [first, next] = self.insertion;
        let (first, next) = (first.wide(), next.wide());
        if self.free_read_ends { T::default() } else { T::from_number(-(first + (symbols as i64 - 1) * next)) }
    }
}

/// A read and a vector. All have room for a vector of lanes behind their last.
#[derive(Debug, Default)]
pub(super) struct Sets<T> {
    /// Sets of the read's symbols: the lower bits, and the others if one number does not hold all.
    pub read: [Vec<T>; 2],
    /// Sets of the sites, the last first.
    pub sites: [Vec<T>; 2],
    /// All bits where a deletion costs something, the last site first.
    pub charged: Vec<T>,
    /// What an aligned character costs besides.
    pub penalty: Vec<T>,
}

/// The last diagonals, by symbols of the read.
#[derive(Debug, Default)]
pub(super) struct State<T> {
    before_last: Vec<T>,
    last: Vec<T>,
    next: Vec<T>,
    deleted: Vec<T>,
    inserted: Vec<T>,
    inserted_next: Vec<T>,
}

impl<T: Number> State<T> {
    /// Diagonal 0, with room for `symbols` and so many lanes.
    pub(super) fn begin(&mut self, symbols: usize, lanes: usize) {
        let all = [&mut self.before_last, &mut self.last, &mut self.next, &mut self.deleted];
        for own in all.into_iter().chain([&mut self.inserted, &mut self.inserted_next]) {
            own.clear();
            own.resize(symbols + 1 + lanes, T::default());
        }
    }

    /// Appends to `kept` the cells that a diagonal and all later diagonals depend on.
    pub(super) fn save(&self, diagonal: usize, limits: Limits, kept: &mut Vec<T>) {
        let window = limits.before(diagonal);
        let all = [&self.before_last, &self.last, &self.deleted, &self.inserted];
        all.into_iter().for_each(|own| kept.extend_from_slice(&own[window.clone()]));
    }

    /// Restores the cells that `save` kept. Other cells are not read.
    pub(super) fn restore(&mut self, diagonal: usize, limits: Limits, kept: &[T]) {
        let window = limits.before(diagonal);
        let all = [&mut self.before_last, &mut self.last, &mut self.deleted, &mut self.inserted];
        for (own, kept) in all.into_iter().zip(kept.chunks(window.len().max(1))) {
            own[window.clone()].copy_from_slice(kept);
        }
    }
}

/// The best cells of the last symbol and of the last site, each with its diagonal: the first of several.
#[derive(Debug)]
pub(super) struct Ends<T> {
    pub last_symbol: (T, usize),
    /// Not of the last symbol.
    pub last_site: (T, usize),
}

impl<T: Number> Ends<T> {
    pub(super) fn none() -> Self {
        Ends { last_symbol: (T::NONE, 0), last_site: (T::NONE, 0) }
    }

    /// Looks at a diagonal.
    #[inline(always)]
    pub(super) fn look(&mut self, state: &State<T>, diagonal: usize, limits: Limits) {
        let (Limits { sites, symbols, .. }, last) = (limits, &state.last);
        if (symbols..=sites + symbols).contains(&diagonal) && last[symbols] > self.last_symbol.0 {
            self.last_symbol = (last[symbols], diagonal);
        }
        if (sites..sites + symbols).contains(&diagonal) && last[diagonal - sites] > self.last_site.0 {
            self.last_site = (last[diagonal - sites], diagonal);
        }
    }
}

/// Which cells are computed: up to a site, and a symbol.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub sites: usize,
    pub symbols: usize,
    /// Sites of the vector.
    pub all_sites: usize,
}

impl Limits {
    /// The symbols of the two diagonals before one.
    fn before(self, diagonal: usize) -> Range<usize> {
        diagonal.saturating_sub(self.all_sites + 2)..diagonal.min(self.symbols + 1)
    }

    /// Where the direction of a diagonal's cell is among the directions of the diagonal: these begin at the first symbol that it
    /// can have.
    #[inline(always)]
    pub(super) fn place(self, diagonal: usize, symbol: usize) -> usize {
        symbol - diagonal.saturating_sub(self.all_sites)
    }

    /// Most cells of a diagonal.
    pub(super) fn width(self) -> usize {
        self.all_sites.min(self.symbols) + 1
    }
}

/// Computes a range of diagonals, none of which is 0, in vectors of `LANES`, sets in so many numbers.
pub(super) struct Diagonals<'a, T, const LANES: usize, const PARTS: usize> {
    pub numbers: Numbers<T>,
    pub sets: &'a Sets<T>,
    pub state: &'a mut State<T>,
    pub limits: Limits,
    pub range: Range<usize>,
    /// Where directions go, a diagonal after the other, each with so many.
    pub directions: Option<(&'a mut [u8], usize)>,
    pub ends: Option<&'a mut Ends<T>>,
}

/// So many vectors of lanes from a place on.
#[inline(always)]
fn parts<T, const LANES: usize>(of: &[T], at: usize, count: usize) -> &[[T; LANES]] {
    of[at..at + count * LANES].as_chunks().0
}

#[inline(always)]
fn parts_mut<T, const LANES: usize>(of: &mut [T], at: usize, count: usize) -> &mut [[T; LANES]] {
    of[at..at + count * LANES].as_chunks_mut().0
}

#[inline(always)]
fn max<T: Number>(a: T, b: T) -> T {
    if a > b { a } else { b }
}

/// What cells are computed from.
struct Sources<'a, T, const LANES: usize> {
    above: &'a [T; LANES],
    left: &'a [T; LANES],
    across: &'a [T; LANES],
    inserted: &'a [T; LANES],
    charged: &'a [T; LANES],
    penalty: &'a [T; LANES],
    read: [&'a [T; LANES]; 2],
    sites: [&'a [T; LANES]; 2],
}

/// Cells: their best, their deletions from those above, their insertions; and where they come from.
///
/// One loop that writes to what no other name has: what compilers make vectors of.
#[inline(always)]
fn cells<T: Number, const LANES: usize, const PARTS: usize, const DIRECTIONS: bool>(
    numbers: &Numbers<T>,
    of: Sources<'_, T, LANES>,
    best: &mut [T; LANES],
    deleted: &mut [T; LANES],
    inserted: &mut [T; LANES],
    from: &mut [u8; LANES],
) {
    let Numbers { matching, mismatch, deletion, insertion, .. } = *numbers;
    for k in 0..LANES {
        let mut common = of.read[0][k].and(of.sites[0][k]);
        if PARTS > 1 {
            common = common.or(of.read[1][k].and(of.sites[1][k]));
        }
        let opened = of.above[k].less(of.charged[k].and(deletion[0]));
        let extended = deleted[k].less(of.charged[k].and(deletion[1]));
        let opened_too = of.left[k].less(insertion[0]);
        let extended_too = of.inserted[k].less(insertion[1]);
        let (del, ins) = (max(opened, extended), max(opened_too, extended_too));
        let change = if common != T::default() { matching } else { mismatch };
        let aligned = of.across[k].plus(change).less(of.penalty[k]);
        let gap = max(del, ins);
        best[k] = max(aligned, gap);
        deleted[k] = del;
        inserted[k] = ins;
        if DIRECTIONS {
            let code = |is: bool, code: u8| if is { T::from_number(code.into()) } else { T::default() };
            let of_gap = if del >= ins { direction::DELETED } else { direction::INSERTED };
            let source = if aligned >= gap { T::default() } else { T::from_number(of_gap.into()) };
            let extends = code(extended > opened, direction::EXTENDS_DELETION)
                .or(code(extended_too > opened_too, direction::EXTENDS_INSERTION));
            from[k] = source.or(extends).byte();
        }
    }
}

impl<T: Number, const LANES: usize, const PARTS: usize> Diagonals<'_, T, LANES, PARTS> {
    /// Cells of a diagonal, of so many vectors from symbol j on.
    #[inline(always)]
    fn row<const DIRECTIONS: bool>(&mut self, diagonal: usize, j: usize, count: usize) {
        let (sets, state, site) = (self.sets, &mut *self.state, self.limits.all_sites + j - diagonal);
        let second = PARTS - 1;
        // Not by `map`, which may not be inlined.
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
                let place = self.limits.place(diagonal, j);
                parts_mut(directions, (diagonal - self.range.start) * *stride + place, count)
            }
            _ => &mut [],
        };
        let mut none = [0; LANES];
        for k in 0..count {
            let of = Sources {
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
                &self.numbers,
                of,
                &mut best[k],
                &mut deleted[k],
                &mut inserted_too[k],
                from,
            );
        }
    }

    #[inline(always)]
    fn sweep<const DIRECTIONS: bool>(mut self) {
        let Limits { sites, symbols, .. } = self.limits;
        for diagonal in self.range.clone() {
            let (first, end) = (1.max(diagonal.saturating_sub(sites)), diagonal.min(symbols + 1));
            if first < end {
                self.row::<DIRECTIONS>(diagonal, first, (end - first).div_ceil(LANES));
            }
            // The cells without a site or without a symbol.
            let state = &mut *self.state;
            if diagonal <= symbols {
                state.next[diagonal] = self.numbers.before_sites(diagonal);
                (state.deleted[diagonal], state.inserted_next[diagonal]) = (T::NONE, T::NONE);
            }
            if diagonal <= sites {
                (state.next[0], state.inserted_next[0]) = (T::default(), T::NONE);
            }
            std::mem::swap(&mut state.before_last, &mut state.last);
            std::mem::swap(&mut state.last, &mut state.next);
            std::mem::swap(&mut state.inserted, &mut state.inserted_next);
            if let Some(ends) = &mut self.ends {
                ends.look(state, diagonal, self.limits);
            }
        }
    }
}

impl<T: Number, const LANES: usize, const PARTS: usize> SimdKernel for Diagonals<'_, T, LANES, PARTS> {
    type Output = ();
    /// Most reads are short, and most accesses lie across the bounds of 512 bits.
    const USES_AVX512: bool = false;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        if self.directions.is_some() { self.sweep::<true>() } else { self.sweep::<false>() }
    }
}
