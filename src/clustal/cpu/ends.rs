//! Where the best local alignments of a sequence with several others start and end, each other one in a lane of 32 bits,
//! and the corridors that ClustalW's recursion may go through.
//!
//! The rows are the first sequence's residues, one after the other; a row's scores of all residues are looked up by the
//! lanes' codes. Forward, every lane keeps its first greatest cell, and rows of cells at intervals. Backward, a lane begins
//! where its alignment ends: until then it has codes that never score, and so zeros. The first cell that reaches the score
//! is where the alignment starts. At the rows that were kept, cells of both passes tell the corridor.

use super::corridors::{Lane, OpenStrip, SLACKS, scores_and_limits};
use super::detail::Buffers;
use crate::clustal::costs::SIZE;
use crate::clustal::oracle::Gaps;
use crate::clustal::walk::Corridor;
use crate::clustal::{ClustalCosts, PairIdentities};
use crate::seq::Code;
use crate::simd::{AlignedBuffer, InstructionSet, Lanes, LanesI32, MAX_I32_LANES, Simd, SimdKernel};

/// A code of no letter: it never scores.
const OUTSIDE: Code = SIZE as Code - 1;
/// What it scores.
const NEVER: i32 = i32::MIN / 4;
/// Rows from one that is kept to the next, at least.
const INTERVAL: usize = 16;
/// Elements of rows that are kept, about: as many as a core's share of the cache holds.
const KEPT: usize = 1 << 21;

/// Memory that is kept from group to group.
#[derive(Debug, Clone, Default)]
pub(super) struct Memory {
    /// A vector of codes for each column.
    codes: Vec<Code>,
    /// Cells of a row: a vector for each number of columns before them.
    cells: AlignedBuffer<i32>,
    /// Gaps that come down to them.
    gaps: AlignedBuffer<i32>,
    /// Rows of cells and gaps of the forward pass.
    kept: AlignedBuffer<i32>,
    /// Those of the backward pass at the last row that was kept.
    below: AlignedBuffer<i32>,
    detail: Buffers,
}

/// One sequence, and others of lanes.
pub(super) struct Group<'a> {
    /// The first sequence of all pairs.
    pub first: &'a [Code],
    /// The second ones: at most as many as there are lanes.
    pub seconds: &'a [&'a [Code]],
    /// What is computed.
    pub costs: &'a ClustalCosts,
    /// Elements that may be kept. Where they do not suffice corridors are told nothing.
    pub room: usize,
}

/// Finds the alignments of a group, lane by lane.
pub(super) fn find(level: InstructionSet, group: &Group, memory: &mut Memory) -> Vec<Lane> {
    level.run(Task { group, memory })
}

struct Task<'a> {
    group: &'a Group<'a>,
    memory: &'a mut Memory,
}

impl SimdKernel for Task<'_> {
    type Output = Vec<Lane>;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) -> Vec<Lane> {
        let Task { group, memory } = self;
        let columns = group.seconds.iter().map(|second| second.len()).max().unwrap_or(0);
        let row_elements = 2 * (columns + 1) * S::I32Lanes::COUNT;
        // Rows that are kept, and those of a strip between two of them.
        let rows = group.first.len();
        let root = rows.isqrt().next_power_of_two();
        let interval = (rows * row_elements / KEPT).next_power_of_two().min(root).max(INTERVAL);
        let keeps = (rows / interval + interval).saturating_mul(row_elements) <= group.room;
        let interval = if keeps { interval } else { usize::MAX };
        let mut table = *group.costs.table();
        table.iter_mut().for_each(|row| row[OUTSIDE as usize] = NEVER);
        let mut opens = [0; MAX_I32_LANES];
        for (open, second) in opens.iter_mut().zip(group.seconds) {
            *open = Gaps::of(group.first.len(), second.len(), group.costs).open;
        }
        let extend = group.costs.extension();
        let mut passes = Passes { group, memory, table: &table, opens, extend, columns, interval };
        // SAFETY: the caller's.
        unsafe {
            let mut lanes = passes.forward::<S::I32Lanes>();
            passes.backward::<S::I32Lanes>(&mut lanes);
            lanes
        }
    }
}

struct Passes<'a> {
    group: &'a Group<'a>,
    memory: &'a mut Memory,
    table: &'a [[i32; SIZE]; SIZE],
    opens: [i32; MAX_I32_LANES],
    extend: i32,
    columns: usize,
    interval: usize,
}

impl Passes<'_> {
    /// Finds the first greatest cell of each lane, row by row.
    ///
    /// # Safety
    /// The processor has the instructions of `W`. Codes of `self.group.seconds` are less than
    /// [`SIZE`].
    #[inline(always)]
    unsafe fn forward<W: LanesI32>(&mut self) -> Vec<Lane> {
        let (columns, elements) = (self.columns, (self.columns + 1) * W::COUNT);
        let Memory { codes, cells, gaps, kept, .. } = &mut *self.memory;
        codes.clear();
        codes.resize(columns * W::COUNT, OUTSIDE);
        for (lane, second) in self.group.seconds.iter().enumerate() {
            codes.iter_mut().skip(lane).step_by(W::COUNT).zip(*second).for_each(|(to, &code)| *to = code);
        }
        let (cells, gaps) = (&mut cells.at_least(elements)[..elements], &mut gaps.at_least(elements)[..elements]);
        let rows = self.group.first.len();
        let kept = kept.at_least(rows / self.interval * 2 * elements);
        cells.fill(0);
        gaps.fill(NEVER);
        let (mut best, mut best_row, mut best_column) = ([0; MAX_I32_LANES], [0; MAX_I32_LANES], [0; MAX_I32_LANES]);
        // SAFETY: the caller's: W's instructions are there. There is a vector of codes for each column, one of cells and
        // gaps for each and one before them.
        unsafe {
            let (zero, one, extend) = (W::splat(0), W::splat(1), W::splat(self.extend));
            let first = W::load(self.opens.as_ptr()).add(extend);
            let (mut score, mut row_of, mut column_of) = (zero, zero, zero);
            for (row, &code) in self.group.first.iter().enumerate() {
                let table = &self.table[code as usize % SIZE];
                let before = score;
                let (mut cell, mut diagonal, mut across, mut column) = (zero, zero, W::splat(NEVER), zero);
                let (mut at_codes, mut at_cells, mut at_gaps) = (codes.as_ptr(), cells.as_mut_ptr(), gaps.as_mut_ptr());
                for _ in 0..columns {
                    at_cells = at_cells.add(W::COUNT);
                    at_gaps = at_gaps.add(W::COUNT);
                    let above = W::load(at_cells);
                    let down = W::load(at_gaps).sub(extend).max(above.sub(first));
                    across = across.sub(extend).max(cell.sub(first));
                    cell = diagonal.add(W::lookup(table, at_codes)).max(down).max(zero).max(across);
                    diagonal = above;
                    cell.store(at_cells);
                    down.store(at_gaps);
                    column = column.add(one);
                    column_of = cell.where_greater(score, column, column_of);
                    score = score.max(cell);
                    at_codes = at_codes.add(W::COUNT);
                }
                row_of = score.where_greater(before, W::splat(row as i32 + 1), row_of);
                if (row + 1) % self.interval == 0 {
                    let at = ((row + 1) / self.interval - 1) * 2 * elements;
                    kept[at..at + elements].copy_from_slice(cells);
                    kept[at + elements..at + 2 * elements].copy_from_slice(gaps);
                }
            }
            score.store(best.as_mut_ptr());
            row_of.store(best_row.as_mut_ptr());
            column_of.store(best_column.as_mut_ptr());
        }
        let lane = |lane: usize| Lane {
            score: best[lane],
            place: PairIdentities {
                end: [best_row[lane] as u32, best_column[lane] as u32],
                ..PairIdentities::default()
            },
            corridors: SLACKS.map(|openings| Corridor { slack: openings * self.opens[lane], ..Corridor::default() }),
        };
        (0..self.group.seconds.len()).map(lane).collect()
    }

    /// Finds where the alignments start, and where the recursion may go.
    ///
    /// # Safety
    /// The processor has the instructions of `W`. `lanes` is what [`Passes::forward`] has returned
    /// for the same `W`, with nothing else computed in `self.memory` since. Codes of
    /// `self.group.seconds` are less than [`SIZE`].
    #[inline(always)]
    unsafe fn backward<W: LanesI32>(&mut self, lanes: &mut [Lane]) {
        let elements = (self.columns + 1) * W::COUNT;
        let Some(rows) = lanes.iter().map(|lane| lane.place.end[0] as usize).max() else { return };
        let columns = lanes.iter().map(|lane| lane.place.end[1] as usize).max().unwrap_or(0);
        let Memory { codes, cells, gaps, kept, below, detail } = &mut *self.memory;
        codes.fill(OUTSIDE);
        let (cells, gaps) = (&mut cells.at_least(elements)[..elements], &mut gaps.at_least(elements)[..elements]);
        let kept = &*kept.at_least(self.group.first.len() / self.interval * 2 * elements);
        let below = &mut below.at_least(2 * elements)[..2 * elements];
        cells.fill(0);
        gaps.fill(NEVER);
        below[..elements].fill(0);
        below[elements..].fill(NEVER);
        let (scores, limits) = scores_and_limits(lanes);
        let mut strip = OpenStrip {
            tables: self.group.first.iter().map(|&code| &self.table[code as usize % SIZE]).collect(),
            columns,
            interval: self.interval,
            kept,
            below,
            detail,
            opens: &self.opens,
            extend: self.extend,
            limits: &limits,
            scores: &scores,
            lower: rows,
            leave: lanes.iter().map(|lane| lane.place.end[1]).collect(),
        };
        let mut open =
            lanes.iter().enumerate().fold(0, |bits, (lane, found)| bits | u64::from(found.score > 0) << lane);
        // SAFETY: as above.
        unsafe {
            let extend = W::splat(self.extend);
            let costs = GapCosts { first: W::load(self.opens.as_ptr()).add(extend), extend };
            let all_scores = W::load(scores.as_ptr());
            for row in (0..rows).rev() {
                if open == 0 {
                    break;
                }
                for (lane, found) in
                    lanes.iter().enumerate().filter(|(_, found)| found.place.end[0] as usize == row + 1)
                {
                    let second = &self.group.seconds[lane][..found.place.end[1] as usize];
                    codes.iter_mut().skip(lane).step_by(W::COUNT).zip(second).for_each(|(to, &code)| *to = code);
                }
                let table = &self.table[self.group.first[row] as usize % SIZE];
                let most = row_back::<W>(table, columns, codes.as_ptr(), cells.as_mut_ptr(), gaps.as_mut_ptr(), costs);
                let reached = most.equal(all_scores) & open;
                for (lane, found) in lanes.iter_mut().enumerate().filter(|(lane, _)| reached >> lane & 1 == 1) {
                    let column = (0..columns).rev().find(|column| cells[column * W::COUNT + lane] == found.score);
                    found.place.start = [row as u32, column.unwrap_or(0) as u32];
                }
                open &= !reached;
                if self.interval == usize::MAX {
                    if open == 0 {
                        return;
                    }
                    continue;
                }
                if row % self.interval != 0 && open != 0 {
                    continue;
                }
                strip.close::<W>(row, open, lanes, codes, cells, gaps);
            }
        }
        lanes.iter_mut().for_each(|found| found.corridors[0].every_row = true);
        lanes.iter_mut().flat_map(|found| &mut found.corridors).for_each(|corridor| corridor.rows.reverse());
    }
}

/// What gaps cost, a lane for each pair.
#[derive(Clone, Copy)]
struct GapCosts<W> {
    /// The first residue.
    first: W,
    /// Each further one.
    extend: W,
}

/// Computes the cells and gaps of a row from those of the row below it. Returns the greatest cell
/// of each lane.
///
/// # Safety
/// The processor has the instructions of `W`. `codes` points to a vector for each column, `cells`
/// and `gaps` to one more, which may be written.
#[inline(always)]
unsafe fn row_back<W: LanesI32>(
    table: &[i32; SIZE],
    columns: usize,
    codes: *const Code,
    cells: *mut i32,
    gaps: *mut i32,
    GapCosts { first, extend }: GapCosts<W>,
) -> W {
    // SAFETY: the caller's.
    unsafe {
        let zero = W::splat(0);
        let (mut cell, mut diagonal, mut across, mut most) = (zero, zero, W::splat(NEVER), zero);
        let mut at_codes = codes.add(columns * W::COUNT);
        let mut at_cells = cells.add(columns * W::COUNT);
        let mut at_gaps = gaps.add(columns * W::COUNT);
        for _ in 0..columns {
            at_codes = at_codes.sub(W::COUNT);
            at_cells = at_cells.sub(W::COUNT);
            at_gaps = at_gaps.sub(W::COUNT);
            let below = W::load(at_cells);
            let down = W::load(at_gaps).sub(extend).max(below.sub(first));
            across = across.sub(extend).max(cell.sub(first));
            cell = diagonal.add(W::lookup(table, at_codes)).max(down).max(zero).max(across);
            diagonal = below;
            cell.store(at_cells);
            down.store(at_gaps);
            most = most.max(cell);
        }
        most
    }
}
