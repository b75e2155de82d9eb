//! Tiles of the matrices of one pair, from their upper and left edges: the values that leave them, their greatest value
//! and where it is, or the directions of all their cells.
//!
//! The recurrences, and what edges hold, are those of [`crate::long`]. Values have 32 bits; whoever asks knows
//! that they suffice ([`LongPair::fits`](crate::long::LongPair::fits)). Rows are computed in strips of as many
//! as vectors hold (module `strip`), the last few, and all if scores are beyond 8 bits, one by one (`scalar`).

mod directions;
mod scalar;
mod strip;

use self::strip::{DIRECTIONS, LOCATE, MARGIN, PADDING, SWEEP, Strip};
use crate::long::{Edge, NEVER};
use crate::score::{Gaps, Scoring, Substitution};
use crate::seq::Code;
use crate::simd::{InstructionSet, MAX_I32_LANES};

pub use directions::{Directions, Step};

/// How cells are computed.
#[derive(Debug, Clone)]
pub struct Scheme {
    substitution: Substitution,
    gaps: Gaps,
    /// Whether H is cut off at 0.
    clamp: bool,
    level: InstructionSet,
    /// Whether scores fit 8 bits, above that of padding.
    narrow: bool,
}

impl Scheme {
    /// Computes with these instructions; `clamp` cuts H off at 0.
    pub fn new(scoring: &Scoring, clamp: bool, level: InstructionSet) -> Self {
        let substitution = scoring.substitution.clone();
        let narrow = substitution.max_score() <= i8::MAX.into() && substitution.min_score() > PADDING.into();
        Scheme { substitution, gaps: scoring.gaps, clamp, level, narrow }
    }

    fn is_linear(&self) -> bool {
        self.gaps.is_linear()
    }
}

/// Rows of a tile that hold its greatest value, kept for [`Scheme::first_cell`].
#[derive(Debug, Clone)]
pub struct TileRows {
    /// The value.
    pub value: i32,
    /// The rows, counted from the tile's first.
    pub rows: std::ops::Range<usize>,
    top: Edge,
    left: Edge,
}

/// Buffers that live from tile to tile.
#[derive(Debug, Default)]
pub struct TileBuffers {
    /// H and gap of the row above and of the last row of what is computed, with [`MARGIN`] at either end.
    rows: [Edge; 2],
    right: Edge,
    profile: Vec<i8>,
    stride: usize,
    stream: Vec<i8>,
}

/// What is wanted of a tile.
enum Want<'a> {
    /// The first rows whose greatest value is above this.
    Above(i32, Option<TileRows>),
    /// The first cell with this value.
    Cell(i32, Option<(usize, usize)>),
    Directions(&'a mut Directions),
}

/// Rows of a tile that are computed together.
#[derive(Clone, Copy)]
struct StripPlan<'a> {
    /// Its first row, counted from the tile's first.
    first_row: usize,
    /// The symbols of its rows.
    rows: &'a [Code],
    /// Lanes of a vector and vectors of a column; `None` if the rows are computed one by one.
    shape: Option<(usize, usize)>,
}

impl Scheme {
    /// Computes the tile of these symbols. `row` is its upper edge and becomes its lower one, `column` its left one and
    /// becomes its right one. If H is cut off at 0 and some value is above `beat`: the first rows that hold the greatest.
    pub fn sweep(
        &self,
        query: &[Code],
        target: &[Code],
        row: &mut Edge,
        column: &mut Edge,
        beat: i32,
        room: &mut TileBuffers,
    ) -> Option<TileRows> {
        let mut want = Want::Above(beat, None);
        self.run(query, target, row, column, &mut want, room);
        match want {
            Want::Above(_, found) => found,
            _ => None,
        }
    }

    /// The same with the directions of all cells.
    pub fn directions(
        &self,
        query: &[Code],
        target: &[Code],
        row: &mut Edge,
        column: &mut Edge,
        directions: &mut Directions,
        room: &mut TileBuffers,
    ) {
        directions.clear(target.len());
        self.run(query, target, row, column, &mut Want::Directions(directions), room);
    }

    /// Of the rows that were found in a tile of these symbols the first cell, by rows, that has the value: its row and
    /// column, counted from the tile's first.
    ///
    /// # Panics
    /// If it is not there, which is a fault of ours.
    pub fn first_cell(
        &self,
        query: &[Code],
        target: &[Code],
        found: &TileRows,
        room: &mut TileBuffers,
    ) -> (usize, usize) {
        let mut want = Want::Cell(found.value, None);
        let (mut row, mut column) = (found.top.clone(), found.left.clone());
        self.run(&query[found.rows.clone()], target, &mut row, &mut column, &mut want, room);
        let Want::Cell(_, Some((row, column))) = want else { panic!("a value that was there is there") };
        (found.rows.start + row, column)
    }

    fn run(
        &self,
        query: &[Code],
        target: &[Code],
        row: &mut Edge,
        column: &mut Edge,
        want: &mut Want<'_>,
        room: &mut TileBuffers,
    ) {
        let (m, n) = (query.len(), target.len());
        assert!(row.h.len() == n + 1 && row.gap.len() == n + 1, "an edge's length is the tile's");
        assert!(column.h.len() == m + 1 && column.gap.len() == m + 1, "an edge's length is the tile's");
        room.start(row);
        room.right.h.clear();
        room.right.h.resize(m + 1, row.h[n]);
        room.right.gap.clear();
        room.right.gap.resize(m + 1, row.h[n].wrapping_sub(self.gaps.first));
        let in_vectors = self.narrow && n > 0;
        if in_vectors {
            self.fill_profile(query, target, room);
        }
        let mut at = 0;
        while at < m {
            let left = m - at;
            let shape = strip::shapes(self.level).into_iter().find(|(lanes, slots)| {
                in_vectors && lanes * slots <= left && !(*slots > 1 && matches!(want, Want::Cell(..)))
            });
            // A strip of rows one by one is no higher than the vectors' lanes, but where there is nothing better.
            let height = shape.map_or(left.min(MAX_I32_LANES), |(lanes, slots)| lanes * slots);
            let plan = StripPlan { first_row: at, rows: &query[at..][..height], shape };
            self.strip(plan, target, column, want, room);
            room.rows.swap(0, 1);
            at += height;
        }
        row.h.copy_from_slice(&room.rows[0].h[MARGIN..][..=n]);
        row.gap.copy_from_slice(&room.rows[0].gap[MARGIN..][..=n]);
        std::mem::swap(column, &mut room.right);
    }

    /// Computes the rows of a strip.
    fn strip(&self, plan: StripPlan<'_>, target: &[Code], column: &Edge, want: &mut Want<'_>, room: &mut TileBuffers) {
        let StripPlan { first_row: at, rows, shape } = plan;
        let (m, n) = (rows.len(), target.len());
        let [top, bottom] = &mut room.rows;
        let places = at..=at + m;
        let (what, value) = match want {
            Want::Above(..) => (SWEEP, i32::MAX),
            Want::Cell(value, _) => (LOCATE, *value),
            Want::Directions(_) => (DIRECTIONS, i32::MAX),
        };
        let mut none = [];
        let directions = match want {
            Want::Directions(directions) => directions.strip(at, m, shape),
            _ => &mut none[..],
        };
        let mut strip = Strip {
            scheme: self,
            rows,
            columns: n,
            profile: &room.profile,
            stride: room.stride,
            top: (&top.h[MARGIN..], &top.gap[MARGIN..]),
            bottom: (&mut bottom.h, &mut bottom.gap),
            left: (&column.h[places.clone()], &column.gap[places.clone()]),
            right: (&mut room.right.h[places.clone()], &mut room.right.gap[places.clone()]),
            stream: &mut room.stream,
            directions,
            value,
            found: None,
        };
        let greatest = match (shape, what) {
            (None, _) => scalar::compute(&mut strip, target),
            (Some((_, slots)), SWEEP) => strip::compute::<SWEEP>(slots, &mut strip),
            (Some((_, slots)), LOCATE) => strip::compute::<LOCATE>(slots, &mut strip),
            (Some((_, slots)), _) => strip::compute::<DIRECTIONS>(slots, &mut strip),
        };
        let cell = strip.found.map(|(row, column)| (at + row, column));
        match want {
            Want::Above(beat, found) if self.clamp && greatest > *beat => {
                *beat = greatest;
                let part = |values: &[i32]| values.to_vec();
                let top = Edge { h: part(&top.h[MARGIN..][..=n]), gap: part(&top.gap[MARGIN..][..=n]) };
                let left = Edge { h: part(&column.h[places.clone()]), gap: part(&column.gap[places]) };
                *found = Some(TileRows { value: greatest, rows: at..at + m, top, left });
            }
            Want::Cell(_, found @ None) => *found = cell,
            _ => {}
        }
    }

    /// Scores of each code of the query against all columns.
    fn fill_profile(&self, query: &[Code], target: &[Code], room: &mut TileBuffers) {
        let size = self.substitution.size();
        room.stride = target.len() + 2 * MARGIN;
        room.profile.clear();
        room.profile.resize(size * room.stride, PADDING);
        let mut has = [false; 256];
        for &code in query {
            if std::mem::replace(&mut has[code as usize], true) {
                continue;
            }
            let scores: [i8; 256] = std::array::from_fn(|other| match other < size {
                true => self.substitution.score(code, other as Code) as i8,
                false => PADDING,
            });
            let row = &mut room.profile[code as usize * room.stride + MARGIN..][..target.len()];
            row.iter_mut().zip(target).for_each(|(score, &other)| *score = scores[other as usize]);
        }
    }
}

impl TileBuffers {
    /// The first row above.
    fn start(&mut self, row: &Edge) {
        let length = row.h.len() + 2 * MARGIN;
        for edge in &mut self.rows {
            edge.h.clear();
            edge.h.resize(length, NEVER);
            edge.gap.clear();
            edge.gap.resize(length, NEVER);
        }
        self.rows[0].h[MARGIN..][..row.h.len()].copy_from_slice(&row.h);
        self.rows[0].gap[MARGIN..][..row.gap.len()].copy_from_slice(&row.gap);
    }
}

#[cfg(test)]
mod tests;
