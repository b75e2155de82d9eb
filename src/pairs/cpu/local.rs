//! Local scores of one query against many targets, one per lane (Smith and Waterman 1981; Gotoh
//! 1982, equations 1 to 3; lanes as in SWIPE, Rognes 2011).
//!
//! A vector of cells takes 10 operations with affine gaps and 6 with linear gaps. With affine gaps,
//! 6 of them are maxima. Intel servers execute one 512-bit maximum per cycle, so a vector takes at
//! least 6 cycles.

use super::ROWS;
use super::group::{CodeStrip, GroupBuffers, GroupTask, ProfiledSequence, TargetGroup};
use crate::score::LocalScoring;
use crate::score::difference::Element;
use crate::seq::Code;
use crate::simd::{LaneElement, Lanes, MAX_LANES, Simd, SimdKernel};

/// Number of columns between two tests for a new best cell. The position of a best cell is known to
/// within this many columns.
const CHUNK: usize = 16;

/// The greatest value of a pair, with the approximate position of the cells that have it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct BestLocalCell<E> {
    /// The value, to be decoded by the scoring.
    pub value: E,
    /// Rows of these cells, counted in symbols of the sequence in the rows. In a group this is the
    /// target.
    pub rows: Span,
    /// Columns of these cells.
    pub columns: Span,
}

/// Bounds on the positions of several symbols in a sequence.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Span {
    /// All positions are at least this.
    pub start: u32,
    /// The first position is less than this.
    pub first_end: u32,
    /// All positions are less than this.
    pub end: u32,
}

impl<E: LaneElement> SimdKernel for GroupTask<'_, LocalScoring<E>, E, E> {
    type Output = ();
    const PORTABLE_ONLY: bool = E::PORTABLE_ONLY;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        let GroupTask { form, query, group, buffers, values } = self;
        // SAFETY: the caller guarantees the instructions of S, and `values` has MAX_LANES elements.
        unsafe {
            let mut nothing = NoPlaces;
            align::<E::In<S>, _>(form, query, &group, buffers, &mut nothing).store(values.as_mut_ptr());
        }
    }
}

impl<E: LaneElement> SimdKernel for GroupTask<'_, LocalScoring<E>, E, BestLocalCell<E>> {
    type Output = ();
    const PORTABLE_ONLY: bool = E::PORTABLE_ONLY;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        let GroupTask { form, query, group, buffers, values } = self;
        let mut places = BestPlaces::new(form.zero());
        // SAFETY: the caller guarantees the instructions of S.
        unsafe { align::<E::In<S>, _>(form, query, &group, buffers, &mut places) };
        for (lane, best) in values.iter_mut().enumerate() {
            let pad = (group.rows() - group.symbols(lane)) as u32;
            let [rows, columns] = places.spans(lane, [ROWS as u32, CHUNK as u32]);
            let within = |row: u32| row.saturating_sub(pad);
            let rows = Span { start: within(rows.start), first_end: within(rows.first_end), end: within(rows.end) };
            *best = BestLocalCell { value: places.values[lane], rows, columns };
        }
    }
}

/// Observer that receives the greatest values during a computation.
trait PlaceNotes<W: Lanes> {
    /// Number of columns between two calls of [`PlaceNotes::update_best`].
    const COLUMNS: usize;
    /// Receives `here`: the greatest value of each lane in the columns from `column` on and the
    /// rows from `row` on. Updates `best`, which contains the greatest values so far.
    ///
    /// # Safety
    /// The processor has the instructions of `W`.
    unsafe fn update_best(&mut self, here: W, row: usize, column: usize, best: &mut W);
}

/// Observes no positions.
struct NoPlaces;

impl<W: Lanes> PlaceNotes<W> for NoPlaces {
    const COLUMNS: usize = usize::MAX;

    #[inline(always)]
    unsafe fn update_best(&mut self, here: W, _: usize, _: usize, best: &mut W) {
        // SAFETY: the caller guarantees the instructions of W.
        *best = unsafe { best.max(here) };
    }
}

/// First and last rows and columns of the greatest values of every lane.
pub(super) struct BestPlaces<E> {
    values: [E; MAX_LANES],
    zero: E,
    rows: [[u32; MAX_LANES]; 2],
    columns: [[u32; MAX_LANES]; 2],
}

impl<E: LaneElement> BestPlaces<E> {
    pub(super) fn new(zero: E) -> Self {
        let none = [[0; MAX_LANES]; 2];
        BestPlaces { values: [zero; MAX_LANES], zero, rows: none, columns: none }
    }

    /// Adds the greatest values of a range of cells. `row` and `column` are the first of the range.
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

    /// Returns the bounds of a lane's rows and columns. Each added range had `sizes` rows and
    /// columns.
    pub(super) fn spans(&self, lane: usize, sizes: [u32; 2]) -> [Span; 2] {
        let span =
            |[first, last]: [u32; 2], size: u32| Span { start: first, first_end: first + size, end: last + size };
        let of = |places: &[[u32; MAX_LANES]; 2]| places.map(|places| places[lane]);
        [span(of(&self.rows), sizes[0]), span(of(&self.columns), sizes[1])]
    }

    /// Returns the greatest value of a lane.
    pub(super) fn value(&self, lane: usize) -> E {
        self.values[lane]
    }
}

impl<W: Lanes> PlaceNotes<W> for BestPlaces<W::Elem>
where
    W::Elem: LaneElement,
{
    const COLUMNS: usize = CHUNK;

    #[inline(always)]
    unsafe fn update_best(&mut self, here: W, row: usize, column: usize, best: &mut W) {
        // SAFETY: the caller guarantees the instructions, and `lanes` and `values` have MAX_LANES
        // elements.
        unsafe {
            // One less than the best value, but at least zero. Zero can be the least number of the
            // type, so nothing may be subtracted from it.
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
/// The processor has the instructions of `W`. Codes of the targets are less than
/// [`STEPS`](crate::score::difference::STEPS).
#[inline(always)]
unsafe fn align<W: Lanes, N: PlaceNotes<W>>(
    form: &LocalScoring<W::Elem>,
    query: &ProfiledSequence,
    group: &TargetGroup,
    buffers: &mut GroupBuffers<W::Elem>,
    notes: &mut N,
) -> W {
    let (query, codes) = (query.symbols(), query.codes_below(form.size()));
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
    let mut strip: CodeStrip = [[0; MAX_LANES]; ROWS];
    // SAFETY: the caller guarantees the instructions of W. Each buffer holds `m` vectors, and the
    // profile has rows for all codes.
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
            let mut state = ColumnState { left: [zero; ROWS], gaps: [zero; ROWS], corner: zero };
            for (k, part) in query.chunks(N::COLUMNS).enumerate() {
                let column = if k == 0 { 0 } else { k * N::COLUMNS };
                let h = h.as_mut_ptr().add(column * count);
                let here = if affine {
                    let f = f.as_mut_ptr().add(column * count);
                    affine_rows(part, form, h, f, profile.as_ptr(), &mut state)
                } else {
                    linear_rows(part, form, h, profile.as_ptr(), &mut state)
                };
                notes.update_best(here, r, column, &mut best);
            }
        }
        best
    }
}

/// Values that columns take from the columns before them: cells, gaps along the rows, and the cell
/// of the row above.
struct ColumnState<W> {
    left: [W; ROWS],
    gaps: [W; ROWS],
    corner: W,
}

/// Computes columns with linear gaps. Returns their greatest values.
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
    state: &mut ColumnState<W>,
) -> W {
    // SAFETY: the caller guarantees the preconditions.
    unsafe {
        let (cost, zero) = (W::splat(form.next()), W::splat(form.zero()));
        let ColumnState { mut left, mut corner, .. } = *state;
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

/// Computes columns with affine gaps. Returns their greatest values.
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
    state: &mut ColumnState<W>,
) -> W {
    // SAFETY: the caller guarantees the preconditions.
    unsafe {
        let (first, next, zero) = (W::splat(form.first()), W::splat(form.next()), W::splat(form.zero()));
        let ColumnState { mut left, gaps: mut e, mut corner } = *state;
        let mut best = zero;
        for (j, &code) in query.iter().enumerate() {
            let steps = profile.add(code as usize * ROWS * W::COUNT);
            let (column, gaps) = (h.add(j * W::COUNT), f.add(j * W::COUNT));
            let (top, mut gap) = (W::load(column), W::load(gaps));
            let mut diagonal = corner;
            for (k, (left, e)) in left.iter_mut().zip(&mut e).enumerate() {
                let cell = diagonal.add(W::load(steps.add(k * W::COUNT))).max(*e).max(gap);
                best = best.max(cell);
                // Clamping to zero keeps E, F and H from falling below zero.
                let opened = cell.sub(first).max(zero);
                *e = e.sub(next).max(opened);
                gap = gap.sub(next).max(opened);
                diagonal = std::mem::replace(left, cell);
            }
            left[ROWS - 1].store(column);
            gap.store(gaps);
            corner = top;
        }
        *state = ColumnState { left, gaps: e, corner };
        best
    }
}
