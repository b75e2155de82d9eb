//! The corridors of lanes, strip by strip as the backward pass comes through.

use super::detail::{Buffers, Strip};
use crate::clustal::PairIdentities;
use crate::clustal::costs::SIZE;
use crate::clustal::walk::{Corridor, Crossing};
use crate::seq::Code;
use crate::simd::{LanesI32, MAX_I32_LANES};

/// Openings of gaps that slacks of corridors have room for: most pairs need the first, which is narrower.
pub(super) const SLACKS: [i32; 2] = [2, 5];

/// What is found of a lane.
#[derive(Debug, Clone, Default)]
pub(super) struct Lane {
    /// The score; 0 if there is no alignment.
    pub score: i32,
    /// Where it is. Identities are not known yet.
    pub place: PairIdentities,
    /// Where the recursion may go.
    pub corridors: [Corridor; SLACKS.len()],
}

/// The strip of rows that the backward pass is in, and what corridors through it are found with.
pub(super) struct OpenStrip<'a> {
    /// Scores of all rows' residues.
    pub tables: Vec<&'a [i32; SIZE]>,
    pub columns: usize,
    /// Rows from one that is kept to the next.
    pub interval: usize,
    /// Rows of cells and gaps of the forward pass.
    pub kept: &'a [i32],
    /// Cells and gaps of the backward pass below the strip.
    pub below: &'a mut [i32],
    pub detail: &'a mut Buffers,
    pub opens: &'a [i32; MAX_I32_LANES],
    pub extend: i32,
    pub limits: &'a [[i32; MAX_I32_LANES]; SLACKS.len()],
    pub scores: &'a [i32; MAX_I32_LANES],
    /// The row after its last.
    pub lower: usize,
    /// Columns where corridors leave it, by lane.
    pub leave: Vec<u32>,
}

impl OpenStrip<'_> {
    /// Finds the corridors from `row`, which has these cells and gaps, to the end of the strip. The
    /// next strip ends there.
    ///
    /// # Safety
    /// The processor has the instructions of `W`. `cells`, `gaps`, both parts of `self.below` and
    /// every kept row have at least `self.columns + 1` vectors, and `codes` has at least
    /// `self.columns`. Each code is less than [`SIZE`].
    #[inline(always)]
    pub(super) unsafe fn close<W: LanesI32>(
        &mut self,
        row: usize,
        open: u64,
        lanes: &mut [Lane],
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
        let mut enter: Vec<u32> = lanes.iter().map(|lane| lane.place.start[1]).collect();
        let mut next_leave: Vec<u32> = lanes.iter().map(|lane| lane.place.end[1]).collect();
        if let Some(forth) = above.filter(|_| open != 0) {
            for (slack, limits) in self.limits.iter().enumerate() {
                // SAFETY: the caller's.
                let between = unsafe { crossings::<W>(self.columns, forth, [cells, gaps], self.opens, limits) };
                if slack == 0 {
                    take_ways(lanes, open, row, between, &mut enter, &mut next_leave);
                } else {
                    widen_corridors(lanes, open, row, between, slack);
                }
            }
        }
        let is_live = |lane: usize, found: &Lane| {
            let ended = open >> lane & 1 == 0 && found.place.start[0] as usize >= self.lower;
            found.score > 0 && found.place.end[0] as usize > upper && !ended
        };
        let live: Vec<bool> = lanes.iter().enumerate().map(|(lane, found)| is_live(lane, found)).collect();
        let mut range = [usize::MAX, 0];
        for lane in (0..lanes.len()).filter(|&lane| live[lane]) {
            range = [range[0].min(enter[lane] as usize), range[1].max(self.leave[lane] as usize)];
        }
        if range[0] <= range[1] {
            let strip = Strip {
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
            // SAFETY: the caller's.
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

/// Returns the lanes' scores, and for each slack the scores that are just not in the corridor.
pub(super) fn scores_and_limits(lanes: &[Lane]) -> ([i32; MAX_I32_LANES], [[i32; MAX_I32_LANES]; SLACKS.len()]) {
    let (mut scores, mut limits) = ([0; MAX_I32_LANES], [[0; MAX_I32_LANES]; SLACKS.len()]);
    for (lane, found) in lanes.iter().enumerate() {
        scores[lane] = found.score;
        for (limits, corridor) in limits.iter_mut().zip(&found.corridors) {
            limits[lane] = found.score - corridor.slack - 1;
        }
    }
    (scores, limits)
}

/// Lanes whose alignments are open and pass a row.
fn passing(lanes: &mut [Lane], open: u64, row: usize) -> impl Iterator<Item = (usize, &mut Lane)> {
    let passes = move |lane: usize, found: &Lane| open >> lane & 1 == 1 && row < found.place.end[0] as usize;
    lanes.iter_mut().enumerate().filter(move |(lane, found)| passes(*lane, found))
}

/// Takes the columns between which open lanes cross a row as those where they enter the strip below
/// it and leave the one above.
fn take_ways(
    lanes: &mut [Lane],
    open: u64,
    row: usize,
    [least, most]: [[u32; MAX_I32_LANES]; 2],
    enter: &mut [u32],
    leave: &mut [u32],
) {
    for (lane, _) in passing(lanes, open, row) {
        (enter[lane], leave[lane]) = (least[lane], most[lane]);
    }
}

/// Adds the columns between which open lanes cross a row to their corridors of a slack.
fn widen_corridors(lanes: &mut [Lane], open: u64, row: usize, [least, most]: [[u32; MAX_I32_LANES]; 2], slack: usize) {
    for (lane, found) in passing(lanes, open, row) {
        let crossing = Crossing { columns: [least[lane], most[lane]], ..Crossing::default() };
        found.corridors[slack].rows.push((row as u32, crossing));
    }
}

/// Adds a row's crossings to the first corridors of the lanes that are live and pass the row.
fn add_row(lanes: &mut [Lane], live: &[bool], open: u64, row: u32, crossings: &[Crossing; MAX_I32_LANES]) {
    for (lane, found) in lanes.iter_mut().enumerate().filter(|(lane, _)| live[*lane]) {
        let begun = open >> lane & 1 == 1 || row > found.place.start[0];
        if begun && row < found.place.end[0] {
            found.corridors[0].rows.push((row, crossings[lane]));
        }
    }
}

/// Finds the first and the last column where alignments of more than the limits cross a row.
///
/// # Safety
/// The processor has the instructions of `W`. Every slice of `forth` and `back` has `columns + 1`
/// vectors.
#[inline(always)]
unsafe fn crossings<W: LanesI32>(
    columns: usize,
    forth: [&[i32]; 2],
    back: [&[i32]; 2],
    opens: &[i32; MAX_I32_LANES],
    limits: &[i32; MAX_I32_LANES],
) -> [[u32; MAX_I32_LANES]; 2] {
    let (mut least, mut most) = ([0; MAX_I32_LANES], [0; MAX_I32_LANES]);
    // SAFETY: the caller's: each row has a vector for each column, and one before them.
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
