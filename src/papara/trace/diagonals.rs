//! Cells along diagonals, as many at once as the processor's vectors hold.
//!
//! Loops over arrays of a fixed length are what compilers make vectors of, whatever the instructions; so there is one form for
//! all kinds of numbers. Lanes beyond a diagonal's last cell compute what nobody reads.

use std::ops::Range;

use crate::score::PhyloScheme;
use crate::simd::{Kernel, Simd};

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
    fn of(number: i64) -> Self;
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
            fn of(number: i64) -> Self {
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
        let both = |gaps: crate::score::Gaps| [gaps.first, gaps.next].map(|cost| T::of(cost.into()));
        Numbers {
            matching: T::of(scheme.matching.into()),
            mismatch: T::of(scheme.mismatch.into()),
            deletion: both(scheme.deletion),
            insertion: both(scheme.insertion),
            free_read_ends: scheme.free_read_ends,
        }
    }

    /// Of so many symbols, at least one, before the first site.
    #[inline(always)]
    fn before_sites(&self, symbols: usize) -> T {
        let [first, next] = self.insertion.map(T::wide);
        if self.free_read_ends { T::default() } else { T::of(-(first + (symbols as i64 - 1) * next)) }
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

    /// What another one knows; what it does not know needs room only.
    pub(super) fn copy(&mut self, other: &Self) {
        let copy = |to: &mut Vec<T>, from: &[T]| {
            to.clear();
            to.extend_from_slice(from);
        };
        copy(&mut self.before_last, &other.before_last);
        copy(&mut self.last, &other.last);
        copy(&mut self.deleted, &other.deleted);
        copy(&mut self.inserted, &other.inserted);
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

#[inline(always)]
fn load<T: Copy, const LANES: usize>(from: &[T], at: usize) -> [T; LANES] {
    *from[at..].first_chunk().expect("room for all lanes")
}

#[inline(always)]
fn store<T: Copy, const LANES: usize>(to: &mut [T], at: usize, lanes: [T; LANES]) {
    to[at..at + LANES].copy_from_slice(&lanes);
}

#[inline(always)]
fn max<T: Number>(a: T, b: T) -> T {
    if a > b { a } else { b }
}

impl<T: Number, const LANES: usize, const PARTS: usize> Diagonals<'_, T, LANES, PARTS> {
    /// Cells of a diagonal from that of symbol j on.
    #[inline(always)]
    fn cells<const DIRECTIONS: bool>(&mut self, diagonal: usize, j: usize) -> [u8; LANES] {
        let Numbers { matching, mismatch, deletion, insertion, .. } = self.numbers;
        let (sets, site) = (self.sets, self.limits.all_sites + j - diagonal);
        let above: [T; LANES] = load(&self.state.last, j);
        let left: [T; LANES] = load(&self.state.last, j - 1);
        let across: [T; LANES] = load(&self.state.before_last, j - 1);
        let deleted: [T; LANES] = load(&self.state.deleted, j);
        let inserted: [T; LANES] = load(&self.state.inserted, j - 1);
        let charged: [T; LANES] = load(&sets.charged, site);
        let penalty: [T; LANES] = load(&sets.penalty, site);
        let mut common = [T::default(); LANES];
        for part in 0..PARTS {
            let read: [T; LANES] = load(&sets.read[part], j - 1);
            let sites: [T; LANES] = load(&sets.sites[part], site);
            for k in 0..LANES {
                common[k] = common[k].or(read[k].and(sites[k]));
            }
        }
        let (mut best, mut del, mut ins) = ([T::default(); LANES], [T::default(); LANES], [T::default(); LANES]);
        let mut from = [0; LANES];
        for k in 0..LANES {
            let opened = above[k].less(charged[k].and(deletion[0]));
            let extended = deleted[k].less(charged[k].and(deletion[1]));
            del[k] = max(opened, extended);
            let opened_too = left[k].less(insertion[0]);
            let extended_too = inserted[k].less(insertion[1]);
            ins[k] = max(opened_too, extended_too);
            let change = if common[k] != T::default() { matching } else { mismatch };
            let aligned = across[k].plus(change).less(penalty[k]);
            let gap = max(del[k], ins[k]);
            best[k] = max(aligned, gap);
            if DIRECTIONS {
                let code = |is: bool, code: u8| if is { T::of(code.into()) } else { T::default() };
                let of_gap = if del[k] >= ins[k] { direction::DELETED } else { direction::INSERTED };
                let source = if aligned >= gap { T::default() } else { T::of(of_gap.into()) };
                let extends = code(extended > opened, direction::EXTENDS_DELETION)
                    .or(code(extended_too > opened_too, direction::EXTENDS_INSERTION));
                from[k] = source.or(extends).byte();
            }
        }
        store(&mut self.state.next, j, best);
        store(&mut self.state.deleted, j, del);
        store(&mut self.state.inserted_next, j, ins);
        from
    }

    #[inline(always)]
    fn sweep<const DIRECTIONS: bool>(mut self) {
        let Limits { sites, symbols, .. } = self.limits;
        for diagonal in self.range.clone() {
            let (first, end) = (1.max(diagonal.saturating_sub(sites)), diagonal.min(symbols + 1));
            let mut j = first;
            while j < end {
                let from = self.cells::<DIRECTIONS>(diagonal, j);
                if let (true, Some((directions, stride))) = (DIRECTIONS, &mut self.directions) {
                    store(directions, (diagonal - self.range.start) * *stride + j, from);
                }
                j += LANES;
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

impl<T: Number, const LANES: usize, const PARTS: usize> Kernel for Diagonals<'_, T, LANES, PARTS> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        if self.directions.is_some() { self.sweep::<true>() } else { self.sweep::<false>() }
    }
}
