//! Start and end of the best local alignments of one sequence with several others, and the
//! corridors of ClustalW's recursion. Each other sequence occupies an `i32` lane.
//!
//! Rows are the residues of the first sequence. A score is looked up by the codes of the lanes in
//! the score table of the row's residue.
//!
//! The forward pass records the first cell with the highest score of each lane, and stores rows of
//! cells at intervals. In the backward pass, a lane starts where its alignment ends. Before that,
//! its codes have the score minus infinity, so its cells are 0. The first cell that reaches the
//! score is the start of the alignment. At the stored rows, the sums of the values of both passes
//! give the corridor.

use super::corridors::{ClustalLane, OpenStrip, SLACKS, scores_and_limits};
use super::detail::DetailBuffers;
use crate::clustal::costs::SIZE;
use crate::clustal::oracle::ClustalGaps;
use crate::clustal::recursion::Corridor;
use crate::clustal::{ClustalCosts, PairIdentities};
use crate::seq::Code;
use crate::simd::{AlignedBuffer, InstructionSet, Lanes, LanesI32, MAX_I32_LANES, Simd, SimdKernel};

/// A code that stands for no letter. Its score is [`NEG_INF`].
const OUTSIDE: Code = SIZE as Code - 1;
/// Minus infinity.
const NEG_INF: i32 = i32::MIN / 4;
/// Minimum number of rows between two stored rows.
const INTERVAL: usize = 16;
/// Approximate number of stored row elements, which should fit one core's share of the cache.
const KEPT: usize = 1 << 21;

/// Scratch memory, reused for all groups.
#[derive(Debug, Clone, Default)]
pub(super) struct EndsScratch {
    /// One vector of codes per column.
    codes: Vec<Code>,
    /// Cells of a row, one vector per column plus one before the first column.
    cells: AlignedBuffer<i32>,
    /// Scores of gaps in the second sequences that end at the cells of the row.
    gaps: AlignedBuffer<i32>,
    /// Stored rows of the forward pass: cells and gaps.
    kept: AlignedBuffer<i32>,
    /// The last stored row of the backward pass: cells and gaps.
    below: AlignedBuffer<i32>,
    detail: DetailBuffers,
}

/// One first sequence, and the second sequences of all lanes.
pub(super) struct ClustalLaneGroup<'a> {
    /// First sequence of all pairs.
    pub first: &'a [Code],
    /// Second sequences, at most one per lane.
    pub seconds: &'a [&'a [Code]],
    /// Scores of letters and costs of gaps.
    pub costs: &'a ClustalCosts,
    /// Maximum number of row elements that may be stored. If it is too small, the corridors stay
    /// empty.
    pub max_elements: usize,
}

/// Finds the best local alignment and the corridors of each lane.
pub(super) fn find(set: InstructionSet, group: &ClustalLaneGroup, memory: &mut EndsScratch) -> Vec<ClustalLane> {
    set.run(EndsKernel { group, memory })
}

struct EndsKernel<'a> {
    group: &'a ClustalLaneGroup<'a>,
    memory: &'a mut EndsScratch,
}

impl SimdKernel for EndsKernel<'_> {
    type Output = Vec<ClustalLane>;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) -> Vec<ClustalLane> {
        let EndsKernel { group, memory } = self;
        let columns = group.seconds.iter().map(|second| second.len()).max().unwrap_or(0);
        let row_elements = 2 * (columns + 1) * S::I32Lanes::COUNT;
        // The interval balances the number of stored rows and the number of rows between two of
        // them.
        let rows = group.first.len();
        let root = rows.isqrt().next_power_of_two();
        let interval = (rows * row_elements / KEPT).next_power_of_two().min(root).max(INTERVAL);
        let keeps = (rows / interval + interval).saturating_mul(row_elements) <= group.max_elements;
        let interval = if keeps { interval } else { usize::MAX };
        let mut table = *group.costs.table();
        table.iter_mut().for_each(|row| row[OUTSIDE as usize] = NEG_INF);
        let mut opens = [0; MAX_I32_LANES];
        for (open, second) in opens.iter_mut().zip(group.seconds) {
            *open = ClustalGaps::for_lengths(group.first.len(), second.len(), group.costs).open;
        }
        let extend = group.costs.extension();
        let mut passes = Passes { group, memory, table: &table, opens, extend, columns, interval };
        // SAFETY: guaranteed by the caller.
        unsafe {
            let mut lanes = passes.forward::<S::I32Lanes>();
            passes.backward::<S::I32Lanes>(&mut lanes);
            lanes
        }
    }
}

struct Passes<'a> {
    group: &'a ClustalLaneGroup<'a>,
    memory: &'a mut EndsScratch,
    table: &'a [[i32; SIZE]; SIZE],
    opens: [i32; MAX_I32_LANES],
    extend: i32,
    columns: usize,
    interval: usize,
}

impl Passes<'_> {
    /// Finds the first cell with the highest score of each lane, in row order.
    ///
    /// # Safety
    /// The processor must have the instructions of `W`. Codes of `self.group.seconds` are less than
    /// [`SIZE`].
    #[inline(always)]
    unsafe fn forward<W: LanesI32>(&mut self) -> Vec<ClustalLane> {
        let (columns, elements) = (self.columns, (self.columns + 1) * W::COUNT);
        let EndsScratch { codes, cells, gaps, kept, .. } = &mut *self.memory;
        codes.clear();
        codes.resize(columns * W::COUNT, OUTSIDE);
        for (lane, second) in self.group.seconds.iter().enumerate() {
            codes.iter_mut().skip(lane).step_by(W::COUNT).zip(*second).for_each(|(to, &code)| *to = code);
        }
        let (cells, gaps) = (&mut cells.at_least(elements)[..elements], &mut gaps.at_least(elements)[..elements]);
        let rows = self.group.first.len();
        let kept = kept.at_least(rows / self.interval * 2 * elements);
        cells.fill(0);
        gaps.fill(NEG_INF);
        let (mut best, mut best_row, mut best_column) = ([0; MAX_I32_LANES], [0; MAX_I32_LANES], [0; MAX_I32_LANES]);
        // SAFETY: the caller guarantees the instructions of `W`. There is one vector of codes per
        // column. Cells and gaps have one vector per column and one before the first.
        unsafe {
            let (zero, one, extend) = (W::splat(0), W::splat(1), W::splat(self.extend));
            let first = W::load(self.opens.as_ptr()).add(extend);
            let (mut score, mut row_of, mut column_of) = (zero, zero, zero);
            for (row, &code) in self.group.first.iter().enumerate() {
                let table = &self.table[code as usize % SIZE];
                let before = score;
                let (mut cell, mut diagonal, mut across, mut column) = (zero, zero, W::splat(NEG_INF), zero);
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
        let lane = |lane: usize| ClustalLane {
            score: best[lane],
            ends: PairIdentities {
                end: [best_row[lane] as u32, best_column[lane] as u32],
                ..PairIdentities::default()
            },
            corridors: SLACKS.map(|openings| Corridor { slack: openings * self.opens[lane], ..Corridor::default() }),
        };
        (0..self.group.seconds.len()).map(lane).collect()
    }

    /// Finds the start of each alignment and the columns that the recursion may visit.
    ///
    /// # Safety
    /// The processor must have the instructions of `W`. `lanes` is the result of
    /// [`Passes::forward`] for the same `W`, and `self.memory` has not changed since. Codes of
    /// `self.group.seconds` are less than [`SIZE`].
    #[inline(always)]
    unsafe fn backward<W: LanesI32>(&mut self, lanes: &mut [ClustalLane]) {
        let elements = (self.columns + 1) * W::COUNT;
        let Some(rows) = lanes.iter().map(|lane| lane.ends.end[0] as usize).max() else { return };
        let columns = lanes.iter().map(|lane| lane.ends.end[1] as usize).max().unwrap_or(0);
        let EndsScratch { codes, cells, gaps, kept, below, detail } = &mut *self.memory;
        codes.fill(OUTSIDE);
        let (cells, gaps) = (&mut cells.at_least(elements)[..elements], &mut gaps.at_least(elements)[..elements]);
        let kept = &*kept.at_least(self.group.first.len() / self.interval * 2 * elements);
        let below = &mut below.at_least(2 * elements)[..2 * elements];
        cells.fill(0);
        gaps.fill(NEG_INF);
        below[..elements].fill(0);
        below[elements..].fill(NEG_INF);
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
            leave: lanes.iter().map(|lane| lane.ends.end[1]).collect(),
        };
        let mut open =
            lanes.iter().enumerate().fold(0, |bits, (lane, alignment)| bits | u64::from(alignment.score > 0) << lane);
        // SAFETY: the conditions of `forward` hold here too, as the caller guarantees.
        unsafe {
            let extend = W::splat(self.extend);
            let costs = LaneGapCosts { first: W::load(self.opens.as_ptr()).add(extend), extend };
            let all_scores = W::load(scores.as_ptr());
            for row in (0..rows).rev() {
                if open == 0 {
                    break;
                }
                for (lane, alignment) in
                    lanes.iter().enumerate().filter(|(_, alignment)| alignment.ends.end[0] as usize == row + 1)
                {
                    let second = &self.group.seconds[lane][..alignment.ends.end[1] as usize];
                    codes.iter_mut().skip(lane).step_by(W::COUNT).zip(second).for_each(|(to, &code)| *to = code);
                }
                let table = &self.table[self.group.first[row] as usize % SIZE];
                let most = row_back::<W>(table, columns, codes.as_ptr(), cells.as_mut_ptr(), gaps.as_mut_ptr(), costs);
                let reached = most.equal(all_scores) & open;
                for (lane, alignment) in lanes.iter_mut().enumerate().filter(|(lane, _)| reached >> lane & 1 == 1) {
                    let column = (0..columns).rev().find(|column| cells[column * W::COUNT + lane] == alignment.score);
                    alignment.ends.start = [row as u32, column.unwrap_or(0) as u32];
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
        lanes.iter_mut().for_each(|alignment| alignment.corridors[0].every_row = true);
        lanes.iter_mut().flat_map(|alignment| &mut alignment.corridors).for_each(|corridor| corridor.rows.reverse());
    }
}

/// Costs of gaps, with one lane per pair.
#[derive(Clone, Copy)]
struct LaneGapCosts<W> {
    /// Cost of the first residue of a gap.
    first: W,
    /// Cost of each further residue.
    extend: W,
}

/// Computes the cells and gaps of a row from the row below it. Returns the highest cell of each
/// lane.
///
/// # Safety
/// The processor must have the instructions of `W`. `codes` points to a vector for each column,
/// `cells` and `gaps` to one more, which may be written.
#[inline(always)]
unsafe fn row_back<W: LanesI32>(
    table: &[i32; SIZE],
    columns: usize,
    codes: *const Code,
    cells: *mut i32,
    gaps: *mut i32,
    LaneGapCosts { first, extend }: LaneGapCosts<W>,
) -> W {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let zero = W::splat(0);
        let (mut cell, mut diagonal, mut across, mut most) = (zero, zero, W::splat(NEG_INF), zero);
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
