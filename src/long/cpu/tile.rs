//! Tiles of the matrices of one pair. From the upper and left borders of a tile, this module
//! computes the lower and right borders, and either the greatest value with its position or the
//! directions of all cells.
//!
//! Module [`crate::long`] defines the recurrences and the contents of borders. Values have 32 bits,
//! which the caller has checked ([`LongPair::fits`](crate::long::LongPair::fits)). Rows are
//! computed in strips as high as vectors allow (module `strip`). The last few rows, and all rows if
//! scores exceed 8 bits, are computed one by one (`scalar`).

mod directions;
mod scalar;
mod strip;

use self::strip::{DIRECTIONS, LOCATE, MARGIN, PADDING, SWEEP, TileStrip};
use crate::long::{Border, NEG_INF};
use crate::score::{Gaps, Scoring, Substitution};
use crate::seq::Code;
use crate::simd::{InstructionSet, MAX_I32_LANES};

pub use directions::{DirectionStep, TileDirections};

/// Scoring in the form that the computation of tiles needs.
#[derive(Debug, Clone)]
pub struct TileScoring {
    substitution: Substitution,
    gaps: Gaps,
    /// Whether H is clamped at 0.
    clamp: bool,
    instruction_set: InstructionSet,
    /// Whether all scores fit in 8 bits and exceed the score of padding.
    narrow: bool,
}

impl TileScoring {
    /// Prepares a scoring for an instruction set. `clamp` states whether H is clamped at 0.
    pub fn new(scoring: &Scoring, clamp: bool, instruction_set: InstructionSet) -> Self {
        let substitution = scoring.substitution.clone();
        let narrow = substitution.max_score() <= i8::MAX.into() && substitution.min_score() > PADDING.into();
        TileScoring { substitution, gaps: scoring.gaps, clamp, instruction_set, narrow }
    }

    fn is_linear(&self) -> bool {
        self.gaps.is_linear()
    }
}

/// Rows of a tile that contain its greatest value, stored for [`TileScoring::first_cell`].
#[derive(Debug, Clone)]
pub struct TileRows {
    /// The value.
    pub value: i32,
    /// The rows, counted from the tile's first.
    pub rows: std::ops::Range<usize>,
    top: Border,
    left: Border,
}

/// Buffers that are reused from tile to tile.
#[derive(Debug, Default)]
pub struct TileBuffers {
    /// H and gap of the row above and of the last computed row, with [`MARGIN`] entries at either
    /// end.
    rows: [Border; 2],
    right: Border,
    profile: Vec<i8>,
    stride: usize,
    stream: Vec<i8>,
}

/// Purpose of the computation of a tile.
enum TileGoal<'a> {
    /// Finds the first rows that contain the greatest value, if it exceeds this value.
    Above(i32, Option<TileRows>),
    /// Finds the first cell with this value.
    Cell(i32, Option<(usize, usize)>),
    Directions(&'a mut TileDirections),
}

/// Rows of a tile that are computed together.
#[derive(Clone, Copy)]
struct StripPlan<'a> {
    /// First row, counted from the tile's first.
    first_row: usize,
    /// Symbols of the rows.
    rows: &'a [Code],
    /// Number of lanes of a vector, and number of vectors of a column; `None` if the rows are
    /// computed one by one.
    shape: Option<(usize, usize)>,
}

impl TileScoring {
    /// Computes the tile of these symbols. `row` contains the upper border and receives the lower
    /// one. `column` contains the left border and receives the right one. If H is clamped at 0 and
    /// some value exceeds `beat`, returns the first rows that contain the greatest value.
    pub fn sweep(
        &self,
        query: &[Code],
        target: &[Code],
        row: &mut Border,
        column: &mut Border,
        beat: i32,
        buffers: &mut TileBuffers,
    ) -> Option<TileRows> {
        let mut want = TileGoal::Above(beat, None);
        self.run(query, target, row, column, &mut want, buffers);
        match want {
            TileGoal::Above(_, tile_rows) => tile_rows,
            _ => None,
        }
    }

    /// Computes a tile like [`TileScoring::sweep`], with the directions of all cells.
    pub fn directions(
        &self,
        query: &[Code],
        target: &[Code],
        row: &mut Border,
        column: &mut Border,
        directions: &mut TileDirections,
        buffers: &mut TileBuffers,
    ) {
        directions.clear(target.len());
        self.run(query, target, row, column, &mut TileGoal::Directions(directions), buffers);
    }

    /// Returns row and column of the first cell, in row order, with the value of `tile_rows`,
    /// counted from the tile's first. `tile_rows` must come from [`TileScoring::sweep`] for a tile
    /// of these symbols.
    ///
    /// # Panics
    /// If no cell has the value, which is an internal fault.
    pub fn first_cell(
        &self,
        query: &[Code],
        target: &[Code],
        tile_rows: &TileRows,
        buffers: &mut TileBuffers,
    ) -> (usize, usize) {
        let mut want = TileGoal::Cell(tile_rows.value, None);
        let (mut row, mut column) = (tile_rows.top.clone(), tile_rows.left.clone());
        self.run(&query[tile_rows.rows.clone()], target, &mut row, &mut column, &mut want, buffers);
        let TileGoal::Cell(_, Some((row, column))) = want else { panic!("a value that was there is there") };
        (tile_rows.rows.start + row, column)
    }

    fn run(
        &self,
        query: &[Code],
        target: &[Code],
        row: &mut Border,
        column: &mut Border,
        want: &mut TileGoal<'_>,
        buffers: &mut TileBuffers,
    ) {
        let (m, n) = (query.len(), target.len());
        assert!(row.h.len() == n + 1 && row.gap.len() == n + 1, "a border has the tile's length");
        assert!(column.h.len() == m + 1 && column.gap.len() == m + 1, "a border has the tile's length");
        buffers.start(row);
        buffers.right.h.clear();
        buffers.right.h.resize(m + 1, row.h[n]);
        buffers.right.gap.clear();
        buffers.right.gap.resize(m + 1, row.h[n].wrapping_sub(self.gaps.first));
        let in_vectors = self.narrow && n > 0;
        if in_vectors {
            self.fill_profile(query, target, buffers);
        }
        let mut at = 0;
        while at < m {
            let left = m - at;
            let shape = strip::shapes(self.instruction_set).into_iter().find(|(lanes, slots)| {
                in_vectors && lanes * slots <= left && !(*slots > 1 && matches!(want, TileGoal::Cell(..)))
            });
            // Rows that are computed one by one form strips that are no higher than a vector has
            // lanes. Without vectors, such a strip may have the maximum height.
            let height = shape.map_or(left.min(MAX_I32_LANES), |(lanes, slots)| lanes * slots);
            let plan = StripPlan { first_row: at, rows: &query[at..][..height], shape };
            self.strip(plan, target, column, want, buffers);
            buffers.rows.swap(0, 1);
            at += height;
        }
        row.h.copy_from_slice(&buffers.rows[0].h[MARGIN..][..=n]);
        row.gap.copy_from_slice(&buffers.rows[0].gap[MARGIN..][..=n]);
        std::mem::swap(column, &mut buffers.right);
    }

    /// Computes the rows of a strip.
    fn strip(
        &self,
        plan: StripPlan<'_>,
        target: &[Code],
        column: &Border,
        want: &mut TileGoal<'_>,
        buffers: &mut TileBuffers,
    ) {
        let StripPlan { first_row: at, rows, shape } = plan;
        let (m, n) = (rows.len(), target.len());
        let [top, bottom] = &mut buffers.rows;
        let places = at..=at + m;
        let (what, value) = match want {
            TileGoal::Above(..) => (SWEEP, i32::MAX),
            TileGoal::Cell(value, _) => (LOCATE, *value),
            TileGoal::Directions(_) => (DIRECTIONS, i32::MAX),
        };
        let mut none = [];
        let directions = match want {
            TileGoal::Directions(directions) => directions.strip(at, m, shape),
            _ => &mut none[..],
        };
        let mut strip = TileStrip {
            scheme: self,
            rows,
            columns: n,
            profile: &buffers.profile,
            stride: buffers.stride,
            top: (&top.h[MARGIN..], &top.gap[MARGIN..]),
            bottom: (&mut bottom.h, &mut bottom.gap),
            left: (&column.h[places.clone()], &column.gap[places.clone()]),
            right: (&mut buffers.right.h[places.clone()], &mut buffers.right.gap[places.clone()]),
            stream: &mut buffers.stream,
            directions,
            value,
            first_cell: None,
        };
        let greatest = match (shape, what) {
            (None, _) => scalar::compute(&mut strip, target),
            (Some((_, slots)), SWEEP) => strip::compute::<SWEEP>(slots, &mut strip),
            (Some((_, slots)), LOCATE) => strip::compute::<LOCATE>(slots, &mut strip),
            (Some((_, slots)), _) => strip::compute::<DIRECTIONS>(slots, &mut strip),
        };
        let cell = strip.first_cell.map(|(row, column)| (at + row, column));
        match want {
            TileGoal::Above(beat, tile_rows) if self.clamp && greatest > *beat => {
                *beat = greatest;
                let part = |values: &[i32]| values.to_vec();
                let top = Border { h: part(&top.h[MARGIN..][..=n]), gap: part(&top.gap[MARGIN..][..=n]) };
                let left = Border { h: part(&column.h[places.clone()]), gap: part(&column.gap[places]) };
                *tile_rows = Some(TileRows { value: greatest, rows: at..at + m, top, left });
            }
            TileGoal::Cell(_, goal_cell @ None) => *goal_cell = cell,
            _ => {}
        }
    }

    /// Computes the scores of each code of the query against all columns.
    fn fill_profile(&self, query: &[Code], target: &[Code], buffers: &mut TileBuffers) {
        let size = self.substitution.size();
        buffers.stride = target.len() + 2 * MARGIN;
        buffers.profile.clear();
        buffers.profile.resize(size * buffers.stride, PADDING);
        let mut has = [false; 256];
        for &code in query {
            if std::mem::replace(&mut has[code as usize], true) {
                continue;
            }
            let scores: [i8; 256] = std::array::from_fn(|other| match other < size {
                true => self.substitution.score(code, other as Code) as i8,
                false => PADDING,
            });
            let row = &mut buffers.profile[code as usize * buffers.stride + MARGIN..][..target.len()];
            row.iter_mut().zip(target).for_each(|(score, &other)| *score = scores[other as usize]);
        }
    }
}

impl TileBuffers {
    /// Sets the row above the first one.
    fn start(&mut self, row: &Border) {
        let length = row.h.len() + 2 * MARGIN;
        for border in &mut self.rows {
            border.h.clear();
            border.h.resize(length, NEG_INF);
            border.gap.clear();
            border.gap.resize(length, NEG_INF);
        }
        self.rows[0].h[MARGIN..][..row.h.len()].copy_from_slice(&row.h);
        self.rows[0].gap[MARGIN..][..row.gap.len()].copy_from_slice(&row.gap);
    }
}

#[cfg(test)]
mod tests;
