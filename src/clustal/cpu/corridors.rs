//! Corridors of all lanes. The backward pass computes them strip by strip.

use super::detail::{DetailBuffers, DetailStrip};
use crate::clustal::PairIdentities;
use crate::clustal::costs::SIZE;
use crate::clustal::recursion::{Corridor, CorridorCrossing};
use crate::seq::Code;
use crate::simd::{LanesI32, MAX_I32_LANES};

/// Slacks of the corridors, in gap openings. A corridor contains all alignments whose score is at
/// most its slack below the best score. Most pairs need only the first, narrower corridor.
pub(super) const SLACKS: [i32; 2] = [2, 5];

/// The best local alignment of a lane and its corridors.
#[derive(Debug, Clone, Default)]
pub(super) struct ClustalLane {
    /// Best score; 0 if there is no alignment.
    pub score: i32,
    /// Start and end of the alignment. The number of identities is not set yet.
    pub ends: PairIdentities,
    /// Columns that the recursion may visit, one corridor per slack.
    pub corridors: [Corridor; SLACKS.len()],
}

/// The strip of rows that the backward pass currently visits, and the data for computing its
/// corridors.
pub(super) struct OpenStrip<'a> {
    /// Scores of the residues of all rows.
    pub tables: Vec<&'a [i32; SIZE]>,
    pub columns: usize,
    /// Number of rows from one stored row to the next.
    pub interval: usize,
    /// Stored rows of the forward pass: cells and gaps.
    pub kept: &'a [i32],
    /// Cells and gaps of the backward pass below the strip.
    pub below: &'a mut [i32],
    pub detail: &'a mut DetailBuffers,
    pub opens: &'a [i32; MAX_I32_LANES],
    pub extend: i32,
    pub limits: &'a [[i32; MAX_I32_LANES]; SLACKS.len()],
    pub scores: &'a [i32; MAX_I32_LANES],
    /// First row below the strip.
    pub lower: usize,
    /// Column where each lane's corridor leaves the strip.
    pub leave: Vec<u32>,
}

impl OpenStrip<'_> {
    /// Computes the corridors from `row` to the end of the strip. `cells` and `gaps` contain the
    /// values of the backward pass at `row`. Bits of `open` mark the lanes whose start the backward
    /// pass has not reached yet. The next strip ends at `row`.
    ///
    /// # Safety
    /// The processor must have the instructions of `W`. `cells`, `gaps`, both parts of `self.below`
    /// and every kept row have at least `self.columns + 1` vectors, and `codes` has at least
    /// `self.columns`. Each code is less than [`SIZE`].
    #[inline(always)]
    pub(super) unsafe fn close<W: LanesI32>(
        &mut self,
        row: usize,
        open: u64,
        lanes: &mut [ClustalLane],
        codes: &[Code],
        cells: &[i32],
        gaps: &[i32],
    ) {
        let elements = cells.len();
        let upper = row / self.interval * self.interval;
        let above = (upper > 0).then(|| {
            let at = (upper / self.interval - 1) * 2 * elements;
            [&self.kept[at..at + elements], &self.kept[at + elements..at + 2 * elements]]
        });
        let mut enter: Vec<u32> = lanes.iter().map(|lane| lane.ends.start[1]).collect();
        let mut next_leave: Vec<u32> = lanes.iter().map(|lane| lane.ends.end[1]).collect();
        if let Some(forth) = above.filter(|_| open != 0) {
            for (slack, limits) in self.limits.iter().enumerate() {
                // SAFETY: guaranteed by the caller.
                let between = unsafe { crossings::<W>(self.columns, forth, [cells, gaps], self.opens, limits) };
                if slack == 0 {
                    set_ways(lanes, open, row, between, &mut enter, &mut next_leave);
                } else {
                    widen_corridors(lanes, open, row, between, slack);
                }
            }
        }
        let is_live = |lane: usize, alignment: &ClustalLane| {
            let ended = open >> lane & 1 == 0 && alignment.ends.start[0] as usize >= self.lower;
            alignment.score > 0 && alignment.ends.end[0] as usize > upper && !ended
        };
        let live: Vec<bool> = lanes.iter().enumerate().map(|(lane, alignment)| is_live(lane, alignment)).collect();
        let mut range = [usize::MAX, 0];
        for lane in (0..lanes.len()).filter(|&lane| live[lane]) {
            range = [range[0].min(enter[lane] as usize), range[1].max(self.leave[lane] as usize)];
        }
        if range[0] <= range[1] {
            let strip = DetailStrip {
                tables: &self.tables[upper..self.lower],
                codes,
                columns: range,
                above,
                below: [&self.below[..elements], &self.below[elements..]],
                opens: self.opens,
                extend: self.extend,
                limits: &self.limits[0],
                scores: self.scores,
            };
            // SAFETY: guaranteed by the caller.
            unsafe {
                strip.crossings::<W>(self.detail, |row, crossings| {
                    add_row(lanes, &live, open, (upper + row) as u32, crossings);
                });
            }
        }
        if open != 0 {
            (self.lower, self.leave) = (row, next_leave);
            self.below[..elements].copy_from_slice(cells);
            self.below[elements..].copy_from_slice(gaps);
        }
    }
}

/// Returns the score of each lane. For each slack, also returns the highest score of each lane that
/// is outside the corridor.
pub(super) fn scores_and_limits(lanes: &[ClustalLane]) -> ([i32; MAX_I32_LANES], [[i32; MAX_I32_LANES]; SLACKS.len()]) {
    let (mut scores, mut limits) = ([0; MAX_I32_LANES], [[0; MAX_I32_LANES]; SLACKS.len()]);
    for (lane, alignment) in lanes.iter().enumerate() {
        scores[lane] = alignment.score;
        for (limits, corridor) in limits.iter_mut().zip(&alignment.corridors) {
            limits[lane] = alignment.score - corridor.slack - 1;
        }
    }
    (scores, limits)
}

/// Returns the lanes in `open` whose alignments cross a row.
fn lanes_crossing(lanes: &mut [ClustalLane], open: u64, row: usize) -> impl Iterator<Item = (usize, &mut ClustalLane)> {
    let passes =
        move |lane: usize, alignment: &ClustalLane| open >> lane & 1 == 1 && row < alignment.ends.end[0] as usize;
    lanes.iter_mut().enumerate().filter(move |(lane, alignment)| passes(*lane, alignment))
}

/// Stores the range of columns in which the alignments of open lanes cross a row. Their corridors
/// enter the strip below the row at `enter` and leave the strip above it at `leave`.
fn set_ways(
    lanes: &mut [ClustalLane],
    open: u64,
    row: usize,
    [least, most]: [[u32; MAX_I32_LANES]; 2],
    enter: &mut [u32],
    leave: &mut [u32],
) {
    for (lane, _) in lanes_crossing(lanes, open, row) {
        (enter[lane], leave[lane]) = (least[lane], most[lane]);
    }
}

/// Adds the range of columns in which the alignments of open lanes cross a row to their corridors
/// of one slack.
fn widen_corridors(
    lanes: &mut [ClustalLane],
    open: u64,
    row: usize,
    [least, most]: [[u32; MAX_I32_LANES]; 2],
    slack: usize,
) {
    for (lane, alignment) in lanes_crossing(lanes, open, row) {
        let crossing = CorridorCrossing { columns: [least[lane], most[lane]], ..CorridorCrossing::default() };
        alignment.corridors[slack].rows.push((row as u32, crossing));
    }
}

/// Adds the crossings of a row to the first corridors of the live lanes that cross the row.
fn add_row(
    lanes: &mut [ClustalLane],
    live: &[bool],
    open: u64,
    row: u32,
    crossings: &[CorridorCrossing; MAX_I32_LANES],
) {
    for (lane, alignment) in lanes.iter_mut().enumerate().filter(|(lane, _)| live[*lane]) {
        let has_started = open >> lane & 1 == 1 || row > alignment.ends.start[0];
        if has_started && row < alignment.ends.end[0] {
            alignment.corridors[0].rows.push((row, crossings[lane]));
        }
    }
}

/// Returns the first and the last column where alignments with scores above the limits cross a row.
///
/// # Safety
/// The processor must have the instructions of `W`. Every slice of `forth` and `back` has `columns
/// + 1` vectors.
#[inline(always)]
unsafe fn crossings<W: LanesI32>(
    columns: usize,
    forth: [&[i32]; 2],
    back: [&[i32]; 2],
    opens: &[i32; MAX_I32_LANES],
    limits: &[i32; MAX_I32_LANES],
) -> [[u32; MAX_I32_LANES]; 2] {
    let (mut least, mut most) = ([0; MAX_I32_LANES], [0; MAX_I32_LANES]);
    // SAFETY: the caller guarantees the instructions of `W`, and that each row has `columns + 1`
    // vectors.
    unsafe {
        let (one, opens, limits) = (W::splat(1), W::load(opens.as_ptr()), W::load(limits.as_ptr()));
        let (mut column, mut left, mut right) = (W::splat(0), W::splat(-(columns as i32)), W::splat(0));
        for at in (0..=columns).map(|column| column * W::COUNT) {
            let load = |row: &[i32]| W::load(row.as_ptr().add(at));
            let closed = load(forth[0]).add(load(back[0]));
            let in_gap = load(forth[1]).add(load(back[1])).add(opens);
            let score = closed.max(in_gap);
            left = score.where_greater(limits, left.max(W::splat(0).sub(column)), left);
            right = score.where_greater(limits, column, right);
            column = column.add(one);
        }
        left.store(least.as_mut_ptr());
        right.store(most.as_mut_ptr());
    }
    [least.map(|column: i32| column.unsigned_abs()), most.map(|column: i32| column as u32)]
}
