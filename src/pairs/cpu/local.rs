//! Local scores of one query against many targets, one a lane (Smith and Waterman 1981, Gotoh 1982, equations 1 to 3;
//! lanes as in SWIPE, Rognes 2011).
//!
//! Operations on a vector of cells: 10 under affine gaps (6 of them maxima, which Intel's servers do one of a cycle in 512
//! bits: 6 cycles at least), 6 under linear ones.

use super::ROWS;
use super::group::{Group, GroupBuffers, GroupTask, Strip};
use crate::score::LocalScoring;
use crate::score::difference::Element;
use crate::seq::Code;
use crate::simd::{LaneElement, Lanes, MAX_LANES, Simd, SimdKernel};

/// Columns of the query among which the best cells are told apart.
const CHUNK: usize = 16;

/// The greatest value of a pair, and about where the cells that have it are.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Best<E> {
    /// The value, for the scheme to decode.
    pub value: E,
    /// The rows: symbols of the sequence that is in them, a target's for a group.
    pub rows: Span,
    /// The columns.
    pub columns: Span,
}

/// Symbols among which some of a sequence's are.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Span {
    /// All are from here on,
    pub start: u32,
    /// the first one is before this symbol,
    pub first_end: u32,
    /// and all are before this one.
    pub end: u32,
}

impl<E: LaneElement> SimdKernel for GroupTask<'_, LocalScoring<E>, E, E> {
    type Output = ();
    const PORTABLE_ONLY: bool = E::PORTABLE_ONLY;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        let GroupTask { form, query, codes, group, buffers, values } = self;
        // SAFETY: the caller's; there is room for the most lanes.
        unsafe {
            let mut nothing = NoPlaces;
            align::<E::In<S>, _>(form, query, codes, &group, buffers, &mut nothing).store(values.as_mut_ptr());
        }
    }
}

impl<E: LaneElement> SimdKernel for GroupTask<'_, LocalScoring<E>, E, Best<E>> {
    type Output = ();
    const PORTABLE_ONLY: bool = E::PORTABLE_ONLY;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        let GroupTask { form, query, codes, group, buffers, values } = self;
        let mut places = Places::new(form.zero());
        // SAFETY: the caller's.
        unsafe { align::<E::In<S>, _>(form, query, codes, &group, buffers, &mut places) };
        for (lane, best) in values.iter_mut().enumerate() {
            let pad = (group.rows() - group.symbols(lane)) as u32;
            let [rows, columns] = places.spans(lane, [ROWS as u32, CHUNK as u32]);
            let within = |row: u32| row.saturating_sub(pad);
            let rows = Span { start: within(rows.start), first_end: within(rows.first_end), end: within(rows.end) };
            *best = Best { value: places.values[lane], rows, columns };
        }
    }
}

/// What is noted of the greatest values while they are found.
trait Notes<W: Lanes> {
    /// Columns that are computed between two notes.
    const COLUMNS: usize;
    /// Takes `here`, the greatest values of some columns, the first of them `column`, in the rows
    /// from `row` on. `best` holds the greatest values before, and then those with them.
    ///
    /// # Safety
    /// The processor has the instructions of `W`.
    unsafe fn note(&mut self, here: W, row: usize, column: usize, best: &mut W);
}

/// Nothing.
struct NoPlaces;

impl<W: Lanes> Notes<W> for NoPlaces {
    const COLUMNS: usize = usize::MAX;

    #[inline(always)]
    unsafe fn note(&mut self, here: W, _: usize, _: usize, best: &mut W) {
        // SAFETY: the caller's.
        *best = unsafe { best.max(here) };
    }
}

/// First and last rows and columns of the greatest values, of every lane.
pub(super) struct Places<E> {
    values: [E; MAX_LANES],
    zero: E,
    rows: [[u32; MAX_LANES]; 2],
    columns: [[u32; MAX_LANES]; 2],
}

impl<E: LaneElement> Places<E> {
    pub(super) fn new(zero: E) -> Self {
        let none = [[0; MAX_LANES]; 2];
        Places { values: [zero; MAX_LANES], zero, rows: none, columns: none }
    }

    /// Takes values that some rows and columns have, given by the first of either.
    #[inline(always)]
    pub(super) fn take(&mut self, values: &[E], row: u32, column: u32) {
        for (lane, &value) in values.iter().enumerate() {
            if value > self.values[lane] {
                self.values[lane] = value;
                (self.rows[0][lane], self.rows[1][lane]) = (row, row);
                (self.columns[0][lane], self.columns[1][lane]) = (column, column);
            } else if value == self.values[lane] && value > self.zero {
                self.rows[1][lane] = row;
                self.columns[0][lane] = self.columns[0][lane].min(column);
                self.columns[1][lane] = self.columns[1][lane].max(column);
            }
        }
    }

    /// Rows and columns of a lane, which were given by the first of so many.
    pub(super) fn spans(&self, lane: usize, sizes: [u32; 2]) -> [Span; 2] {
        let span =
            |[first, last]: [u32; 2], size: u32| Span { start: first, first_end: first + size, end: last + size };
        let of = |places: &[[u32; MAX_LANES]; 2]| places.map(|places| places[lane]);
        [span(of(&self.rows), sizes[0]), span(of(&self.columns), sizes[1])]
    }

    /// The greatest value of a lane.
    pub(super) fn value(&self, lane: usize) -> E {
        self.values[lane]
    }
}

impl<W: Lanes> Notes<W> for Places<W::Elem>
where
    W::Elem: LaneElement,
{
    const COLUMNS: usize = CHUNK;

    #[inline(always)]
    unsafe fn note(&mut self, here: W, row: usize, column: usize, best: &mut W) {
        // SAFETY: the caller's; there is room for the most lanes.
        unsafe {
            // The value just under the best one, but not below zero, which may be the least number there is.
            let one = W::splat(W::Elem::from_number(1));
            let under = best.max(W::splat(self.zero).add(one)).sub(one);
            if here.exceeds(under) {
                let mut lanes = [self.zero; MAX_LANES];
                here.store(lanes.as_mut_ptr());
                self.take(&lanes[..W::COUNT], row as u32, column as u32);
                *best = W::load(self.values.as_ptr());
            }
        }
    }
}

/// Computes the greatest value of each lane.
///
/// # Safety
/// The processor has the instructions of `W`. Codes of `query` are less than `form.size()`, codes
/// of the targets less than [`STEPS`](crate::score::difference::STEPS).
#[inline(always)]
unsafe fn align<W: Lanes, N: Notes<W>>(
    form: &LocalScoring<W::Elem>,
    query: &[Code],
    codes: &[Code],
    group: &Group,
    buffers: &mut GroupBuffers<W::Elem>,
    notes: &mut N,
) -> W {
    let (m, count) = (query.len(), W::COUNT);
    let affine = !form.is_linear();
    let GroupBuffers { above: h, gaps: f, profile, .. } = buffers;
    let h = h.at_least(m * count);
    let f = f.at_least(if affine { m * count } else { 0 });
    let profile = profile.at_least(form.size() * ROWS * count);
    h[..m * count].fill(form.zero());
    if affine {
        f[..m * count].fill(form.zero());
    }
    let mut strip: Strip = [[0; MAX_LANES]; ROWS];
    // SAFETY: the caller's: W's instructions are there; buffers hold `m` vectors each, the profile those of all codes.
    unsafe {
        let zero = W::splat(form.zero());
        let mut best = zero;
        for r in (0..group.rows()).step_by(ROWS) {
            group.strip(r, &mut strip);
            for &code in codes {
                let row = &form.table()[code as usize];
                for (k, symbols) in strip.iter().enumerate() {
                    let steps = W::lookup(row, symbols.as_ptr());
                    steps.store(profile[(code as usize * ROWS + k) * count..][..count].as_mut_ptr());
                }
            }
            let mut state = State { left: [zero; ROWS], gaps: [zero; ROWS], corner: zero };
            for (k, part) in query.chunks(N::COLUMNS).enumerate() {
                let column = if k == 0 { 0 } else { k * N::COLUMNS };
                let h = h.as_mut_ptr().add(column * count);
                let here = if affine {
                    let f = f.as_mut_ptr().add(column * count);
                    affine_rows(part, form, h, f, profile.as_ptr(), &mut state)
                } else {
                    linear_rows(part, form, h, profile.as_ptr(), &mut state)
                };
                notes.note(here, r, column, &mut best);
            }
        }
        best
    }
}

/// What columns take from those before them: cells, gaps along the rows, and the cell of the row above.
struct State<W> {
    left: [W; ROWS],
    gaps: [W; ROWS],
    corner: W,
}

/// Computes columns under linear gaps. Returns their greatest values.
///
/// # Safety
/// The processor has the instructions of `W`. `h` points to a vector for each symbol of `query`
/// that may be read and written. `profile` points to [`ROWS`] vectors for each code up to the
/// greatest in `query`.
#[inline(always)]
unsafe fn linear_rows<W: Lanes>(
    query: &[Code],
    form: &LocalScoring<W::Elem>,
    h: *mut W::Elem,
    profile: *const W::Elem,
    state: &mut State<W>,
) -> W {
    // SAFETY: the caller's.
    unsafe {
        let (cost, zero) = (W::splat(form.next()), W::splat(form.zero()));
        let State { mut left, mut corner, .. } = *state;
        let mut best = zero;
        for (j, &code) in query.iter().enumerate() {
            let steps = profile.add(code as usize * ROWS * W::COUNT);
            let column = h.add(j * W::COUNT);
            let top = W::load(column);
            let (mut diagonal, mut above) = (corner, top);
            for (k, left) in left.iter_mut().enumerate() {
                let gap = above.max(*left).sub(cost).max(zero);
                let cell = diagonal.add(W::load(steps.add(k * W::COUNT))).max(gap);
                best = best.max(cell);
                (diagonal, above) = (*left, cell);
                *left = cell;
            }
            above.store(column);
            corner = top;
        }
        (state.left, state.corner) = (left, corner);
        best
    }
}

/// Computes columns under affine gaps. Returns their greatest values.
///
/// # Safety
/// The processor has the instructions of `W`. `h` and `f` point to a vector each for every symbol
/// of `query` that may be read and written. `profile` points to [`ROWS`] vectors for each code up
/// to the greatest in `query`.
#[inline(always)]
unsafe fn affine_rows<W: Lanes>(
    query: &[Code],
    form: &LocalScoring<W::Elem>,
    h: *mut W::Elem,
    f: *mut W::Elem,
    profile: *const W::Elem,
    state: &mut State<W>,
) -> W {
    // SAFETY: the caller's.
    unsafe {
        let (first, next, zero) = (W::splat(form.first()), W::splat(form.next()), W::splat(form.zero()));
        let State { mut left, gaps: mut e, mut corner } = *state;
        let mut best = zero;
        for (j, &code) in query.iter().enumerate() {
            let steps = profile.add(code as usize * ROWS * W::COUNT);
            let (column, gaps) = (h.add(j * W::COUNT), f.add(j * W::COUNT));
            let (top, mut gap) = (W::load(column), W::load(gaps));
            let mut diagonal = corner;
            for (k, (left, e)) in left.iter_mut().zip(&mut e).enumerate() {
                let cell = diagonal.add(W::load(steps.add(k * W::COUNT))).max(*e).max(gap);
                best = best.max(cell);
                // Not below zero, so that neither are E and F, nor H.
                let opened = cell.sub(first).max(zero);
                *e = e.sub(next).max(opened);
                gap = gap.sub(next).max(opened);
                diagonal = std::mem::replace(left, cell);
            }
            left[ROWS - 1].store(column);
            gap.store(gaps);
            corner = top;
        }
        *state = State { left, gaps: e, corner };
        best
    }
}
