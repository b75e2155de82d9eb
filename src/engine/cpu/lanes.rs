//! One query against up to [`LANES`] targets, one target a lane, four rows at a time.
//!
//! Per four rows and column: one load and one store of the row, four loads of steps, and under linear gaps three
//! operations a cell, of which most processors do two a cycle: the floor is 1.5 cycles for a vector of cells.

use super::vector::{Portable, Vector};
use crate::score::OffsetScoring;
use crate::score::offset::Value;
use crate::seq::{Code, PAD};

/// Targets side by side: one vector of 512 bits of 32-bit values.
pub const LANES: usize = 16;
/// Rows at a time.
const ROWS: usize = 4;

/// Buffers that live from pair to pair.
#[derive(Debug, Default)]
pub struct Workspace<V> {
    /// The last row: V of every column.
    row: Vec<[V; LANES]>,
    /// F of every column (affine gaps only).
    vertical: Vec<[V; LANES]>,
    /// Steps of the current rows: one vector per code and row, row by row.
    profile: Vec<[[V; LANES]; ROWS]>,
    /// Codes that the query has.
    codes: Vec<Code>,
}

/// The vector instructions that are used on this processor.
pub fn lane_kind() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            return "AVX-512";
        }
        if is_x86_feature_detected!("avx2") {
            return "AVX2";
        }
        "SSE2"
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        "the target's own vectors"
    }
}

/// Integers that a processor may have vectors of its own for.
pub trait LaneValue: Value {
    /// [`align_body`] with the best vectors that the processor has.
    fn align(s: &OffsetScoring<Self>, q: &[Code], t: &[&[Code]], w: &mut Workspace<Self>) -> [Self; LANES];
}

impl LaneValue for i32 {
    fn align(s: &OffsetScoring<i32>, q: &[Code], t: &[&[Code]], w: &mut Workspace<i32>) -> [i32; LANES] {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") {
                // SAFETY: the processor has what the function is compiled for.
                return unsafe { align_avx512(s, q, t, w) };
            }
            if is_x86_feature_detected!("avx2") {
                // SAFETY: as above.
                return unsafe { align_avx2(s, q, t, w) };
            }
        }
        // SAFETY: portable vectors need nothing of the processor.
        unsafe { align_body::<Portable<i32>>(s, q, t, w) }
    }
}

impl LaneValue for i64 {
    fn align(s: &OffsetScoring<i64>, q: &[Code], t: &[&[Code]], w: &mut Workspace<i64>) -> [i64; LANES] {
        // SAFETY: portable vectors need nothing of the processor.
        unsafe { align_body::<Portable<i64>>(s, q, t, w) }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn align_avx512(s: &OffsetScoring<i32>, q: &[Code], t: &[&[Code]], w: &mut Workspace<i32>) -> [i32; LANES] {
    // SAFETY: this function is compiled for AVX-512F.
    unsafe { align_body::<super::vector::x86::Avx512>(s, q, t, w) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn align_avx2(s: &OffsetScoring<i32>, q: &[Code], t: &[&[Code]], w: &mut Workspace<i32>) -> [i32; LANES] {
    // SAFETY: this function is compiled for AVX2.
    unsafe { align_body::<super::vector::x86::Avx2>(s, q, t, w) }
}

/// Values of the last cells (or the best end cells), in the order of `targets`.
pub fn align<V: LaneValue>(
    scoring: &OffsetScoring<V>,
    query: &[Code],
    targets: &[&[Code]],
    workspace: &mut Workspace<V>,
) -> [V; LANES] {
    V::align(scoring, query, targets, workspace)
}

/// The rows of all lanes: targets with padding in front, so that all end together; a multiple of [`ROWS`] of them.
struct Rows<'a> {
    targets: &'a [&'a [Code]],
    count: usize,
}

impl<'a> Rows<'a> {
    fn new(targets: &'a [&'a [Code]]) -> Self {
        let longest = targets.iter().map(|target| target.len()).max().unwrap_or(0);
        Rows { targets, count: longest.next_multiple_of(ROWS) }
    }

    /// Length of a lane's target; spare lanes have none.
    fn symbols(&self, lane: usize) -> usize {
        self.targets.get(lane).map_or(0, |target| target.len())
    }

    /// Real symbols of a lane up to and with row `r`; 0 within the padding.
    fn done(&self, r: usize, lane: usize) -> usize {
        (r + 1 + self.symbols(lane)).saturating_sub(self.count)
    }

    /// Code of a lane in row `r`.
    fn code(&self, r: usize, lane: usize) -> Code {
        match self.done(r, lane) {
            0 => PAD,
            done => self.targets[lane][done - 1],
        }
    }
}

#[inline(always)]
unsafe fn align_body<W: Vector>(
    scoring: &OffsetScoring<W::Lane>,
    query: &[Code],
    targets: &[&[Code]],
    workspace: &mut Workspace<W::Lane>,
) -> [W::Lane; LANES] {
    let value = <W::Lane as Value>::of;
    let never = <W::Lane as Value>::NEVER;
    let (size, table) = (scoring.size(), scoring.table());
    let affine = scoring.opening() != value(0);
    let free = scoring.free_ends();
    let step = scoring.edge_step().number();
    let rows = Rows::new(targets);
    let m = query.len();

    let Workspace { row, vertical, profile, codes } = workspace;
    row.clear();
    row.extend((0..m).map(|column| [scoring.edge(column as u32 + 1); LANES]));
    vertical.clear();
    if affine {
        vertical.resize(m, [never; LANES]);
    }
    profile.clear();
    profile.resize(size, [[never; LANES]; ROWS]);
    codes.clear();
    codes.extend((1..size as Code).filter(|code| query.contains(code)));

    let mut corner = [value(0); LANES];
    // With free end gaps: the last column's row 0, from which the whole target is a gap.
    let mut best: [W::Lane; LANES] =
        std::array::from_fn(|lane| value(scoring.edge(m as u32).number() + step * rows.symbols(lane) as i64));
    for r in (0..rows.count).step_by(ROWS) {
        let symbols: [[Code; LANES]; ROWS] =
            std::array::from_fn(|k| std::array::from_fn(|lane| rows.code(r + k, lane)));
        for &code in codes.iter() {
            let steps = &table[code as usize * size..][..size];
            for (row, symbols) in profile[code as usize].iter_mut().zip(&symbols) {
                *row = symbols.map(|symbol| steps[symbol as usize]);
            }
        }
        let edges: [[W::Lane; LANES]; ROWS] =
            std::array::from_fn(|k| std::array::from_fn(|lane| scoring.edge(rows.done(r + k, lane) as u32)));
        // SAFETY: the caller's: W's instructions are there.
        let last = unsafe {
            if affine {
                affine_rows::<W>(query, scoring.opening(), row, vertical, profile, &corner, &edges)
            } else {
                linear_rows::<W>(query, row, profile, &corner, &edges)
            }
        };
        corner = edges[ROWS - 1];
        if free {
            // The last column: a free gap takes in the target symbols that are left.
            for (k, column) in last.iter().enumerate() {
                for (lane, cell) in column.iter().enumerate() {
                    let left = (rows.symbols(lane) - rows.done(r + k, lane)) as i64;
                    best[lane] = best[lane].max(value(cell.number() + step * left));
                }
            }
        }
    }
    if !free {
        return row.last().copied().unwrap_or(corner);
    }
    // The last row: a free gap takes in the query symbols that are left.
    for (column, cells) in std::iter::once(&corner).chain(row.iter()).enumerate() {
        for (best, cell) in best.iter_mut().zip(cells) {
            *best = (*best).max(value(cell.number() + step * (m - column) as i64));
        }
    }
    best
}

/// Values of the last column in each of the rows.
type LastColumn<W> = [[<W as Vector>::Lane; LANES]; ROWS];

/// Four rows under linear gaps. `corner` is column 0 of the row above, `edges` column 0 of the rows.
#[inline(always)]
unsafe fn linear_rows<W: Vector>(
    query: &[Code],
    row: &mut [[W::Lane; LANES]],
    profile: &[[[W::Lane; LANES]; ROWS]],
    corner: &[W::Lane; LANES],
    edges: &LastColumn<W>,
) -> LastColumn<W> {
    // SAFETY: the caller's.
    unsafe {
        let mut diagonal = W::load(corner);
        let mut near: [W; ROWS] = std::array::from_fn(|k| W::load(&edges[k]));
        for (cell, &symbol) in row.iter_mut().zip(query) {
            let steps = &profile[symbol as usize];
            let top = W::load(cell);
            let (mut up, mut corner) = (top, diagonal);
            for k in 0..ROWS {
                let left = near[k];
                near[k] = corner.add(W::load(&steps[k])).max(up).max(left);
                (corner, up) = (left, near[k]);
            }
            up.store(cell);
            diagonal = top;
        }
        store_all(near)
    }
}

/// Four rows under affine gaps.
#[inline(always)]
unsafe fn affine_rows<W: Vector>(
    query: &[Code],
    opening: W::Lane,
    row: &mut [[W::Lane; LANES]],
    vertical: &mut [[W::Lane; LANES]],
    profile: &[[[W::Lane; LANES]; ROWS]],
    corner: &[W::Lane; LANES],
    edges: &LastColumn<W>,
) -> LastColumn<W> {
    // SAFETY: the caller's.
    unsafe {
        let opening = W::splat(opening);
        let mut diagonal = W::load(corner);
        let mut near: [W; ROWS] = std::array::from_fn(|k| W::load(&edges[k]));
        // E of the column that comes next.
        let mut e = near.map(|near| near.sub(opening));
        for ((cell, gap), &symbol) in row.iter_mut().zip(vertical.iter_mut()).zip(query) {
            let steps = &profile[symbol as usize];
            let top = W::load(cell);
            let mut f = W::load(gap);
            let (mut up, mut corner) = (top, diagonal);
            for k in 0..ROWS {
                let left = near[k];
                f = up.sub(opening).max(f);
                // E of the next column from the best without E of this one: E - opening <= E, and the chain from
                // column to column is one operation long.
                let without_e = corner.add(W::load(&steps[k])).max(f);
                near[k] = without_e.max(e[k]);
                e[k] = without_e.sub(opening).max(e[k]);
                (corner, up) = (left, near[k]);
            }
            up.store(cell);
            f.store(gap);
            diagonal = top;
        }
        store_all(near)
    }
}

/// Vectors as arrays.
#[inline(always)]
unsafe fn store_all<W: Vector>(near: [W; ROWS]) -> LastColumn<W> {
    let mut last = [[<W::Lane as Default>::default(); LANES]; ROWS];
    for (column, vector) in last.iter_mut().zip(near) {
        // SAFETY: the caller's.
        unsafe { vector.store(column) };
    }
    last
}
