//! Host side of `nw_slice_half`: the conditions under which f16 holds a slice's values, the scores
//! of diagonal steps, and the tasks of two queries.
//!
//! # Bounds of the f16 values
//!
//! The kernel stores values of the gap-offset form ([`crate::score::offset`]) relative to the value
//! of one cell, the *base* (a, b). A group has K rows, and a slice has R columns. The base is in
//! the last row before the group and in the last column before the slice. Let o be the cost of
//! opening a gap. Let s be the greatest diagonal step, or a border's growth per symbol if that is
//! greater. Let l be the amount by which the corner is raised (lifted) if end gaps have their own
//! opening.
//!
//! - No value of the group is below V\[a,b\] - 2o. From the base, one gap leads down and one to the
//!   right, and further symbols of a gap are free. E and F are lower by at most o, and by l more
//!   because a corner is lifted after its gaps were opened. A diagonal candidate is lower by at
//!   most 2o, because no step of the kernel's table is below -2o. A smaller step loses against two
//!   gaps everywhere.
//! - No value of the group is above V\[a,b\] + o + l + s max(K, R). A best path to (i, j) enters
//!   the group in its top row or left column. From there it gains at most s per diagonal step, and
//!   l at most once. A path through the left column in row r gains at most s min(i - r, j - b).
//!   Also V\[r,b\] <= V\[a,b\] + o + l + s (r - a), because this path left column b at or above row
//!   a, from where one gap leads to the base. The number of steps together is at most i - a. The
//!   proof for the top row exchanges rows and columns.
//! - The kernel clamps the difference between F (with linear gaps, the cell above) and the diagonal
//!   candidate. It is at most 3o + l + s, by the two bounds for K = R = 1.
//!
//! The values that a slice passes to the next slice are relative to the next slice's base, a cell
//! of the same row. The bounds therefore hold for them as well.

use std::cmp::Reverse;
use std::ops::Range;

use super::layout::{self, EndGapKind, NwTask};
use super::nw_slice::TaskList;
use super::tile_tasks::block_begins;
use crate::gpu::kernels::{Kernel, KernelKind, KernelProgram, ScoreType, of_kind};
use crate::gpu::source::Constants;
use crate::pairs::PairsBatch;
use crate::score::{OffsetScoring, offset};
use crate::seq::SequenceId;

/// Greatest integer that f16 values may reach, in units of the score.
const MAX: i64 = 2048;
/// Greatest number of words of rows per group. With larger groups, bases are subtracted less often,
/// which saves no measurable time.
const MAX_GROUP_WORDS: u32 = 16;

/// Parameters of a pipeline: the shader's constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct HalfSliceVariant {
    /// Columns of two pairs that an invocation keeps in registers, a multiple of 4.
    pub slice: u32,
    /// Invocations per workgroup.
    pub workgroup: u32,
    /// Words of four rows whose values share one base.
    pub group_words: u32,
    /// Number of codes of the alphabet.
    pub codes: u32,
    /// Whether gaps are affine.
    pub affine: bool,
    /// Costs of end gaps.
    pub ends: EndGapKind,
}

impl KernelProgram for HalfSliceVariant {
    fn kernel(&self) -> &'static Kernel {
        of_kind(KernelKind::Slice(ScoreType::F16))
    }

    fn workgroup_memory(&self) -> u32 {
        self.workgroup_bytes()
    }

    fn constants(&self) -> Constants {
        layout::constants(self.codes, self.affine, self.ends)
            .number("SLICE", self.slice)
            .number("STRIDE2", self.stride2())
            .number("GROUP_WORDS", self.group_words)
    }

    fn overrides(&self) -> Vec<(&'static str, f64)> {
        vec![("WG", self.workgroup.into())]
    }
}

impl HalfSliceVariant {
    /// Returns the row length of the profile in loads of two columns' scores. It is odd, so that
    /// rows of neighbouring codes start in different memory banks.
    const fn stride2(&self) -> u32 {
        (self.slice / 2) | 1
    }

    /// Returns the workgroup memory in bytes.
    pub const fn workgroup_bytes(&self) -> u32 {
        self.codes * self.stride2() * 8 + 16
    }

    /// Returns the scratch memory in bytes of one slot for targets of at most `rows_words * 4`
    /// symbols.
    pub const fn slot_bytes(&self, rows_words: u32) -> u64 {
        rows_words as u64 * layout::planes(self.affine) as u64 * self.workgroup as u64 * 16
    }
}

/// Returns the number of words of rows, a power of two, that may share a base in slices of `slice`
/// columns. It applies the bounds in the module's documentation. Returns `None` if f16 cannot hold
/// the values of even one word of rows, or if values include numbers of matches.
pub fn group_words(scoring: &OffsetScoring, slice: u32) -> Option<u32> {
    let opening = i64::from(scoring.opening());
    let (border_opening, border_step) = (i64::from(scoring.border_opening()), i64::from(scoring.border_step()));
    let steps = scoring.table().iter().map(|&step| i64::from(step)).max().unwrap_or(0);
    let lift = if scoring.own_ends() { border_opening.abs() } else { 0 };
    let step = steps.max(border_step).max(0);
    // A border must not fall after its first symbol. Its first symbol must not cost more than an
    // inner gap.
    let are_borders_gaps = opening >= 0 && border_step >= 0 && border_opening + border_step >= -opening;
    let is_low_enough = 4 * opening + lift <= MAX;
    let holds = |rows: u32| opening + lift + step * i64::from(rows.max(slice)) <= MAX;
    if scoring.carries_matches() || !are_borders_gaps || !is_low_enough {
        return None;
    }
    let mut groups = (0..=MAX_GROUP_WORDS.ilog2()).rev().map(|power| 1 << power);
    groups.find(|words| holds(4 * words))
}

/// Returns the table of diagonal steps for the kernel, in which no step is below -2 openings.
pub fn table(scoring: &OffsetScoring) -> Vec<i32> {
    let least = (-2 * i64::from(scoring.opening())).max(i64::from(offset::NEG_INF)) as i32;
    scoring.table().iter().map(|&step| step.max(least)).collect()
}

/// One block of a batch, or two blocks whose queries are computed together.
struct Couple {
    /// Indices of the blocks in the batch. The block with the longer query comes first.
    blocks: [Option<usize>; 2],
    /// Range that contains the targets of both blocks, and any targets between them.
    targets: Range<u32>,
}

/// Returns the number of columns including padding.
fn padded(symbols: u32, slice: u32) -> u64 {
    u64::from(symbols.div_ceil(slice).max(1)) * u64::from(slice)
}

/// Joins blocks with queries of similar length if that saves cells.
fn pair_blocks(batch: &PairsBatch, slice: u32) -> Vec<Couple> {
    let blocks = &batch.blocks;
    let symbols = |index: usize| batch.chunk.queries.length(blocks[index].query);
    let mut order: Vec<usize> = (0..blocks.len()).filter(|&index| !blocks[index].targets.is_empty()).collect();
    order.sort_by_key(|&index| (Reverse(symbols(index)), blocks[index].targets.start, index));
    let alone = |index: usize| Couple { blocks: [Some(index), None], targets: blocks[index].targets.clone() };
    let columns = |index: usize| padded(symbols(index), slice);
    let mut all = Vec::with_capacity(order.len().div_ceil(2));
    let mut waiting: Option<usize> = None;
    for index in order {
        let Some(first) = waiting.take() else {
            waiting = Some(index);
            continue;
        };
        let (one, other) = (&blocks[first].targets, &blocks[index].targets);
        let targets = one.start.min(other.start)..one.end.max(other.end);
        let apart = columns(first) * one.len() as u64 + columns(index) * other.len() as u64;
        if columns(first) * (targets.len() as u64) < apart {
            all.push(Couple { blocks: [Some(first), Some(index)], targets });
        } else {
            all.push(alone(first));
            waiting = Some(index);
        }
    }
    all.extend(waiting.map(alone));
    all
}

/// Returns the number of cells that the kernel computes for a batch in slices of `slice` columns.
/// The number includes padding, and the unused half of registers without a second query.
pub fn computed_cells(batch: &PairsBatch, slice: u32) -> f64 {
    let chunk = &batch.chunk;
    let symbols = |index: usize| chunk.queries.length(batch.blocks[index].query);
    let couple_cells = |couple: &Couple| {
        let Some(first) = couple.blocks[0] else { return 0.0 };
        let block = &batch.blocks[first];
        // Average number of rows of the first block's targets.
        let rows = block.cells as f64 / f64::from(symbols(first).max(1)) / block.pairs() as f64;
        2.0 * padded(symbols(first), slice) as f64 * rows * couple.targets.len() as f64
    };
    pair_blocks(batch, slice).iter().map(couple_cells).sum()
}

/// Divides a batch into tasks of two queries against at most `workgroup` targets. A task has one
/// entry per query. If a task has only one query, its second entry repeats the query without
/// targets. Tasks with many cells come first. `query_end_word` returns the index of the word after
/// a query's last symbol in its buffer.
pub fn tasks(batch: &PairsBatch, variant: &HalfSliceVariant, query_end_word: impl Fn(SequenceId) -> u32) -> TaskList {
    let chunk = &batch.chunk;
    let begins = block_begins(batch);
    let mut all: Vec<[(NwTask, u32); 2]> = Vec::new();
    for Couple { blocks, targets } in pair_blocks(batch, variant.slice) {
        for first in targets.clone().step_by(variant.workgroup as usize) {
            let end = targets.end.min(first + variant.workgroup);
            let rows_words = chunk.longest(first..end).div_ceil(4).max(1);
            let entry = |index: Option<usize>| {
                let index = index.or(blocks[0])?;
                let block = &batch.blocks[index];
                let overlap = first.max(block.targets.start)..end.min(block.targets.end);
                let overlap = if overlap.is_empty() { first..first } else { overlap };
                let task = NwTask {
                    query_end_word: query_end_word(block.query),
                    query_symbols: chunk.queries.length(block.query),
                    first: overlap.start,
                    count: overlap.len() as u32,
                    rows_words,
                    pairs_begin: (begins[index] + u64::from(overlap.start.saturating_sub(block.targets.start))) as u32,
                    ..bytemuck::Zeroable::zeroed()
                };
                Some((task, index as u32))
            };
            let (Some(one), Some(mut other)) = (entry(blocks[0]), entry(blocks[1])) else { continue };
            if blocks[1].is_none() {
                other.0.count = 0;
            }
            // A task whose targets belong to neither block has no pairs.
            if one.0.count + other.0.count > 0 {
                all.push([one, other]);
            }
        }
    }
    all.sort_by_key(|[(task, _), _]| Reverse(u64::from(task.query_symbols) * u64::from(task.rows_words)));
    TaskList {
        tasks: all.iter().flatten().map(|entry| entry.0).collect(),
        blocks: all.iter().flatten().map(|entry| entry.1).collect(),
        pairs: batch.pairs(),
        of_slot: 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairs::plan::PairsSpec;
    use crate::pairs::{PairsBlock, ResultFilter};
    use crate::score::Scoring;
    use crate::seq::{Alphabet, QueryStrands, SequenceStore};
    use std::collections::HashMap;
    use std::sync::Arc;

    const VARIANT: HalfSliceVariant = HalfSliceVariant {
        slice: 12,
        workgroup: 16,
        group_words: 4,
        codes: 16,
        affine: true,
        ends: EndGapKind::Charged,
    };

    fn store(lengths: impl Iterator<Item = usize>) -> Arc<SequenceStore> {
        let mut store = SequenceStore::builder(Alphabet::Dna);
        lengths.for_each(|length| store.push("s", &vec![1; length]).unwrap());
        Arc::new(store.build())
    }

    fn batch(queries: Arc<SequenceStore>, against: Option<Arc<SequenceStore>>) -> PairsBatch {
        let (scoring, filter) = (Arc::new(Scoring::truong()), ResultFilter::Scores);
        let job = PairsSpec { queries, against, scoring, filter, strands: QueryStrands::default(), parts: None };
        let (_, chunk, blocks) = job.chunks(u64::MAX, u64::MAX).next().unwrap();
        PairsBatch { chunk, blocks: blocks.into_iter().map(|(_, block)| block).collect() }
    }

    /// Checks that every pair is in one task, at its index. Returns the number of targets that the
    /// workgroups of all tasks sweep.
    fn check(batch: &PairsBatch) -> u64 {
        let mut expected = HashMap::new();
        for (position, (PairsBlock { targets, .. }, begin)) in batch.blocks.iter().zip(block_begins(batch)).enumerate()
        {
            expected.extend(targets.clone().zip(begin..).map(|(target, index)| ((position as u32, target), index)));
        }
        let list = tasks(batch, &VARIANT, |query| 1000 + query);
        assert_eq!((list.pairs, list.of_slot, list.slots()), (batch.pairs(), 2, list.tasks.len() as u64 / 2));
        let (mut seen, mut gone_over) = (0, 0);
        for (tasks, blocks) in list.tasks.chunks(2).zip(list.blocks.chunks(2)) {
            for (task, block) in tasks.iter().zip(blocks) {
                let query = batch.blocks[*block as usize].query;
                assert_eq!((task.query_end_word, task.rows_words), (1000 + query, tasks[0].rows_words));
                assert_eq!(task.query_symbols, batch.chunk.queries.length(query));
                for (target, index) in (task.first..task.first + task.count).zip(task.pairs_begin..) {
                    assert_eq!(expected.get(&(*block, target)), Some(&u64::from(index)), "{task:?}");
                    assert!(batch.chunk.targets.length(batch.chunk.order[target as usize]) <= 4 * task.rows_words);
                    seen += 1;
                }
            }
            assert!(tasks[0].query_symbols >= tasks[1].query_symbols);
            let first = tasks.iter().map(|task| task.first).min().unwrap();
            let end = tasks.iter().map(|task| task.first + task.count).max().unwrap();
            assert!(first < end && end - first <= VARIANT.workgroup);
            gone_over += u64::from(end - first);
        }
        assert_eq!(seen, expected.len());
        gone_over
    }

    #[test]
    fn every_pair_is_in_one_task() {
        let lengths = |count: usize| (0..count).map(|index| 40 + index * 7 % 31);
        for count in [1, 2, 3, 22, 23] {
            let triangle = batch(store(lengths(count)), None);
            let gone_over = check(&triangle);
            assert!(count < 20 || 100 * gone_over < 56 * triangle.pairs(), "{gone_over} of {}", triangle.pairs());
            let rectangle = batch(store(lengths(count)), Some(store((0..40).rev())));
            assert_eq!(check(&rectangle), 40 * count.div_ceil(2) as u64);
        }
        // Target ranges that are adjacent, far apart, one within the other, and empty.
        let mut odd = batch(store([50, 50, 50, 50, 30, 9, 9, 0].into_iter()), Some(store((0..90).rev())));
        let ranges = [0..20, 20..41, 60..90, 3..89, 7..9, 0..1, 80..90, 5..5];
        odd.blocks.iter_mut().zip(ranges).for_each(|(block, targets)| block.targets = targets);
        check(&odd);
    }

    #[test]
    fn joined_queries_cost_half() {
        let cells = |queries: &[usize], targets: usize| {
            let batch = batch(store(queries.iter().copied()), Some(store(std::iter::repeat_n(100, targets))));
            computed_cells(&batch, 20)
        };
        assert_eq!(cells(&[100, 100], 30), 2.0 * 100.0 * 100.0 * 30.0);
        assert_eq!(cells(&[100], 30), cells(&[100, 100], 30));
        assert_eq!(cells(&[100, 81], 30), cells(&[100, 100], 30));
        assert_eq!(cells(&[100, 100, 50], 30), cells(&[100, 100], 30) + 2.0 * 60.0 * 100.0 * 30.0);
    }
}
