//! Global scores of one query against many targets, one per lane, from differences between
//! neighbouring cells ([`crate::score::difference`]).
//!
//! A vector of cells takes 4 operations with linear gaps and 9 with affine gaps. [`ROWS`] rows
//! share all loads and stores, except the load of the step (the score of a diagonal move). Intel
//! servers execute two AVX-512 operations per cycle. A vector then takes at least 2 or 4.5 cycles,
//! so that 8-bit lanes compute at most 32 or 14 cells per cycle.

mod ends;

use self::ends::LastCells;
use super::ROWS;
use super::group::{CodeStrip, GroupBuffers, GroupTask, TargetGroup};
use crate::score::DifferenceScoring;
use crate::score::difference::Element;
use crate::seq::Code;
use crate::simd::{LaneElement, Lanes, MAX_LANES, Simd, SimdKernel, array_of};

/// The greatest value of a pair, with the end gaps of its alignments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Greatest {
    /// The value, to be decoded by the scoring.
    pub value: i64,
    /// Greatest number of rows in the gap at the end of an alignment with this value. Only set if
    /// end gaps have their own costs.
    pub rows_left: u32,
    /// Greatest number of columns in the gap at the end, set in the same case.
    pub columns_left: u32,
    /// Least number of rows in the gap at the end, or [`NO_GAP`] if no such alignment ends with
    /// rows.
    pub least_rows: u32,
    /// Least number of columns in the gap at the end, or [`NO_GAP`] if no such alignment ends with
    /// columns.
    pub least_columns: u32,
}

/// Length of a gap that does not exist: no alignment with the greatest value ends with such a gap.
pub(super) const NO_GAP: u32 = u32::MAX;

impl Greatest {
    /// Returns the value of an alignment without columns of two symbols: one gap of each sequence.
    pub(super) fn from_gaps(value: i64, rows: usize, columns: usize) -> Self {
        let (rows, columns) = (rows as u32, columns as u32);
        Greatest { value, rows_left: rows, columns_left: columns, least_rows: rows, least_columns: columns }
    }

    /// Returns the value with rows and columns exchanged.
    pub(super) fn exchanged(self) -> Self {
        let Greatest { value, rows_left, columns_left, least_rows, least_columns } = self;
        Greatest {
            value,
            rows_left: columns_left,
            columns_left: rows_left,
            least_rows: least_columns,
            least_columns: least_rows,
        }
    }

    /// Adds an alignment that ends with a gap of `left` rows. Calls must come in order of
    /// decreasing `left`.
    #[inline(always)]
    pub(super) fn take_rows(&mut self, value: i64, left: usize) {
        let left = left as u32;
        if value > self.value {
            *self = Greatest { value, rows_left: left, columns_left: 0, least_rows: left, least_columns: NO_GAP };
        } else if value == self.value {
            self.least_rows = left;
        }
    }

    /// Adds an alignment that ends with a gap of `left` columns. Calls must come in order of
    /// decreasing `left`.
    #[inline(always)]
    pub(super) fn take_columns(&mut self, value: i64, left: usize) {
        let left = left as u32;
        if value > self.value {
            *self = Greatest { value, rows_left: 0, columns_left: left, least_rows: NO_GAP, least_columns: left };
        } else if value == self.value {
            self.columns_left = self.columns_left.max(left);
            self.least_columns = left;
        }
    }
}

impl<E: LaneElement> SimdKernel for GroupTask<'_, DifferenceScoring<E>, E, Greatest> {
    type Output = ();
    const PORTABLE_ONLY: bool = E::PORTABLE_ONLY;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        // SAFETY: the caller guarantees the instructions of S.
        unsafe { align::<E::In<S>>(self) }
    }
}

/// Computes the global scores of a group.
///
/// # Safety
/// The processor has the instructions of `W`. Codes of the targets are less than
/// [`STEPS`](crate::score::difference::STEPS).
#[inline(always)]
unsafe fn align<W: Lanes>(task: GroupTask<'_, DifferenceScoring<W::Elem>, W::Elem, Greatest>) {
    let GroupTask { form, query, group, buffers, values } = task;
    let (query, codes) = (query.symbols(), query.codes_below(form.size()));
    let (m, count) = (query.len(), W::COUNT);
    let affine = form.opening() != 0;
    let GroupBuffers { above: dh, gaps: f, profile, checkpoints } = buffers;
    let dh = dh.at_least(m * count);
    let f = f.at_least(if affine { m * count } else { 0 });
    let profile = profile.at_least(form.size() * ROWS * count);
    start_above::<W>(form, &group, m, dh, f);

    // Values of the last column, and the best end so far. They are used only if end gaps have their
    // own costs.
    let mut last: [i64; MAX_LANES] = [form.border_value(m); MAX_LANES];
    let mut best: [Greatest; MAX_LANES] = array_of(|lane| {
        let n = group.symbols(lane);
        Greatest::from_gaps(form.border_value(m) + form.border_value(n), n, m)
    });
    let is_narrow = size_of::<W::Elem>() <= 2 && group.rows() + m < NARROW;
    let mut row_ends = None;
    let mut strip: CodeStrip = [[0; MAX_LANES]; ROWS];
    let mut borders = [[W::Elem::default(); MAX_LANES]; ROWS];
    let mut inside = false;
    for r in (0..group.rows()).step_by(ROWS) {
        // The row above the first row is a border, whose values are known.
        if r > 0 && checkpoints.keeps_row(group.rows() - r) {
            let mut border = [W::Elem::default(); MAX_LANES];
            for (lane, border) in border[..count].iter_mut().enumerate() {
                *border = W::Elem::from_number(form.border_value(group.done(r - 1, lane)));
            }
            // SAFETY: the caller guarantees the instructions of W.
            unsafe { checkpoints.keep::<W>(group.rows() - r, &border, dh, f) };
        }
        group.strip(r, &mut strip);
        if !inside {
            set_borders::<W>(form, &group, r, &mut borders);
            // After this row, the border differences of all lanes stay the same.
            inside = group.is_inside(r);
        }
        // SAFETY: the caller guarantees the instructions of W. Each buffer holds `m` vectors, and
        // the profile has rows for all codes.
        let columns = unsafe {
            for &code in codes {
                let row = &form.table()[code as usize];
                for (k, symbols) in strip.iter().enumerate() {
                    let steps = W::lookup(row, symbols.as_ptr());
                    steps.store(profile[(code as usize * ROWS + k) * count..][..count].as_mut_ptr());
                }
            }
            if affine {
                affine_rows::<W>(query, form, dh.as_mut_ptr(), f.as_mut_ptr(), profile.as_ptr(), &borders)
            } else {
                linear_rows::<W>(query, dh.as_mut_ptr(), profile.as_ptr(), &borders)
            }
        };
        if form.own_ends() && inside && is_narrow {
            let left = group.rows() - r;
            let ends = row_ends.get_or_insert_with(|| {
                LastCells::<W>::from(|lane| {
                    (last[lane] + form.border_value(left), best[lane].value, best[lane].least_rows)
                })
            });
            for (column, left) in columns.iter().zip((0..left).rev()) {
                ends.take(form, column, left);
            }
        } else if form.own_ends() {
            // The end gap contains the remaining target symbols.
            for (k, column) in columns.iter().enumerate() {
                for lane in 0..count {
                    last[lane] += form.difference(column[lane]);
                    let left = group.symbols(lane) - group.done(r + k, lane);
                    best[lane].take_rows(last[lane] + form.border_value(left), left);
                }
            }
        }
    }
    if let Some(ends) = row_ends {
        ends.take_rows(&mut best);
    }
    *values = along_last_row::<W>(form, &group, m, dh, best, is_narrow);
    // If a sequence is empty, the alignment is a single gap, and the rows above computed nothing
    // for it.
    for (lane, value) in values.iter_mut().enumerate().filter(|(lane, _)| m == 0 || group.symbols(*lane) == 0) {
        *value = Greatest::from_gaps(form.border_value(m + group.symbols(lane)), group.symbols(lane), m);
    }
}

/// Sets the differences of the row above the first row. `f` is empty with linear gaps.
#[inline(always)]
fn start_above<W: Lanes>(
    form: &DifferenceScoring<W::Elem>,
    group: &TargetGroup<'_>,
    m: usize,
    dh: &mut [W::Elem],
    f: &mut [W::Elem],
) {
    let (count, affine) = (W::COUNT, form.opening() != 0);
    for j in 0..m {
        let above = form.border_difference(j + 1);
        dh[j * count..][..count].fill(above);
        if affine {
            f[j * count..][..count].fill(W::Elem::from_number(above.number() - form.opening()));
        }
    }
    if m > 0 && form.own_ends() {
        // The first column below padding is not the first column of the matrix.
        for lane in (0..count).filter(|&lane| group.symbols(lane) < group.rows()) {
            dh[lane] = W::Elem::from_number(form.border_step());
            if affine {
                f[lane] = W::Elem::from_number(form.border_step() - form.opening());
            }
        }
    }
}

/// Sets the differences along column 0 of the rows from `r` on.
#[inline(always)]
fn set_borders<W: Lanes>(
    form: &DifferenceScoring<W::Elem>,
    group: &TargetGroup<'_>,
    r: usize,
    borders: &mut [[W::Elem; MAX_LANES]; ROWS],
) {
    for (k, borders) in borders.iter_mut().enumerate() {
        for (lane, border) in borders[..W::COUNT].iter_mut().enumerate() {
            *border = match group.done(r + k, lane) {
                0 if group.is_corner(r + k, lane) => form.corner_difference(),
                done => form.border_difference(done),
            };
        }
    }
}

/// Adds up the differences of the last row. Returns the values of its last cells. If end gaps have
/// their own costs, it returns the best of `best` and of all ends in the row.
#[inline(always)]
fn along_last_row<W: Lanes>(
    form: &DifferenceScoring<W::Elem>,
    group: &TargetGroup<'_>,
    m: usize,
    dh: &[W::Elem],
    mut best: [Greatest; MAX_LANES],
    is_narrow: bool,
) -> [Greatest; MAX_LANES] {
    let count = W::COUNT;
    let mut value: [i64; MAX_LANES] = array_of(|lane| form.border_value(group.symbols(lane)));
    if form.own_ends() && is_narrow {
        best.iter_mut().zip(&value).for_each(|(best, value)| best.take_columns(value + form.border_value(m), m));
        let mut ends = LastCells::<W>::from(|lane| {
            (value[lane] + form.border_value(m), best[lane].value, best[lane].least_columns)
        });
        ends.first = array_of(|lane| best[lane].columns_left);
        for (dh, left) in dh.chunks_exact(count).zip((0..m).rev()) {
            ends.take(form, dh, left);
        }
        for (lane, best) in best[..count].iter_mut().enumerate() {
            let (value, first, least) = ends.lane_maximum(lane);
            if value > best.value {
                *best = Greatest { value, least_rows: NO_GAP, ..Greatest::default() };
            }
            (best.columns_left, best.least_columns) = (first, least);
        }
    } else {
        for j in 0..=m {
            if form.own_ends() {
                // The end gap contains the remaining query symbols.
                for (best, value) in best.iter_mut().zip(&value) {
                    best.take_columns(value + form.border_value(m - j), m - j);
                }
            }
            if j < m {
                for (value, &dh) in value.iter_mut().zip(&dh[j * count..][..count]) {
                    *value += form.difference(dh);
                }
            }
        }
    }
    if form.own_ends() { best } else { value.map(|value| Greatest { value, ..Greatest::default() }) }
}

/// Bound on rows plus columns below which i32 holds the values of pairs whose differences fit in 16
/// bits. It is small in tests, so that these also cover longer pairs.
const NARROW: usize = if cfg!(test) { 256 } else { 1 << 13 };

/// dv of all lanes in each of the rows.
type RowDifferences<W> = [[<W as Lanes>::Elem; MAX_LANES]; ROWS];

/// Computes [`ROWS`] rows with linear gaps. `borders` is dv of column 0. Returns dv of the last
/// column.
///
/// # Safety
/// The processor has the instructions of `W`. `dh` points to a vector for each symbol of `query`
/// that may be read and written. `profile` points to [`ROWS`] vectors for each code up to the
/// greatest in `query`.
#[inline(always)]
unsafe fn linear_rows<W: Lanes>(
    query: &[Code],
    dh: *mut W::Elem,
    profile: *const W::Elem,
    borders: &RowDifferences<W>,
) -> RowDifferences<W> {
    // SAFETY: the caller guarantees the preconditions.
    unsafe {
        let mut dv: [W; ROWS] = array_of(|k| W::load(borders[k].as_ptr()));
        for (j, &code) in query.iter().enumerate() {
            let steps = profile.add(code as usize * ROWS * W::COUNT);
            let column = dh.add(j * W::COUNT);
            let mut above = W::load(column);
            for (k, left) in dv.iter_mut().enumerate() {
                let z = W::load(steps.add(k * W::COUNT)).max_unsigned(*left).max_unsigned(above);
                (*left, above) = (z.sub(above), z.sub(*left));
            }
            above.store(column);
        }
        store_all(dv)
    }
}

/// Computes [`ROWS`] rows with affine gaps. `borders` is dv of column 0. Returns dv of the last
/// column.
///
/// # Safety
/// The processor has the instructions of `W`. `dh` and `f` point to a vector each for every symbol
/// of `query` that may be read and written. `profile` points to [`ROWS`] vectors for each code up
/// to the greatest in `query`.
#[inline(always)]
unsafe fn affine_rows<W: Lanes>(
    query: &[Code],
    form: &DifferenceScoring<W::Elem>,
    dh: *mut W::Elem,
    f: *mut W::Elem,
    profile: *const W::Elem,
    borders: &RowDifferences<W>,
) -> RowDifferences<W> {
    // SAFETY: the caller guarantees the preconditions.
    unsafe {
        let opening = W::splat(W::Elem::from_number(form.opening()));
        let mut dv: [W; ROWS] = array_of(|k| W::load(borders[k].as_ptr()));
        let mut e: [W; ROWS] = array_of(|k| dv[k].sub(opening));
        for (j, &code) in query.iter().enumerate() {
            let steps = profile.add(code as usize * ROWS * W::COUNT);
            let (column, gaps) = (dh.add(j * W::COUNT), f.add(j * W::COUNT));
            let (mut above, mut gap) = (W::load(column), W::load(gaps));
            for (k, (left, e)) in dv.iter_mut().zip(&mut e).enumerate() {
                let z = W::load(steps.add(k * W::COUNT)).max(*e).max(gap);
                let opened = z.sub(opening);
                *e = opened.max(*e).sub(above);
                gap = opened.max(gap).sub(*left);
                (*left, above) = (z.sub(above), z.sub(*left));
            }
            above.store(column);
            gap.store(gaps);
        }
        store_all(dv)
    }
}

/// Stores vectors in arrays.
///
/// # Safety
/// The processor has the instructions of `W`.
#[inline(always)]
unsafe fn store_all<W: Lanes>(vectors: [W; ROWS]) -> RowDifferences<W> {
    let mut columns = [[W::Elem::default(); MAX_LANES]; ROWS];
    for (column, vector) in columns.iter_mut().zip(vectors) {
        // SAFETY: the caller guarantees the instructions, and a column has MAX_LANES elements.
        unsafe { vector.store(column.as_mut_ptr()) };
    }
    columns
}
