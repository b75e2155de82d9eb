//! A batch in the layout of the kernels: the pairs of each workgroup, and the memory of each pair.

use std::cmp::Reverse;
use std::ops::Range;

use super::layout::{PosteriorPair, PosteriorTask};
use crate::posterior::model::Model;
use crate::posterior::scale::{BLOCK, STEP};
use crate::posterior::work::PosteriorBatch;
use crate::seq::Code;

/// Maximum number of survivors of a pair per row.
const MAX_SURVIVORS_PER_ROW: u32 = 32;

/// A batch in the layout of the kernels.
#[derive(Debug, Clone, Default)]
pub struct PosteriorTasks {
    /// Pairs in the order of tasks.
    pub pairs: Vec<PosteriorPair>,
    /// Index of each pair in the batch.
    pub places: Vec<u32>,
    /// All tasks, the largest ones first.
    pub list: Vec<PosteriorTask>,
    /// Ranges of tasks that have memory at the same time.
    pub rounds: Vec<Range<u32>>,
    /// Maximum size of the forward values of a round, in groups of four.
    pub kept_fours: u64,
    /// Maximum size of the scratch memory of a round, in u32.
    pub scratch_words: u64,
    /// Size of the results before the survivors, in u32.
    pub result_words: u64,
    /// Number of rows of all pairs.
    pub rows: u64,
}

/// Invocations and memory available to tasks.
#[derive(Debug, Clone, Copy)]
pub struct TaskResources {
    /// Invocations in a workgroup.
    pub workgroup: u32,
    /// Invocations for each pair.
    pub lanes: u32,
    /// Size of the memory for forward values, in groups of four.
    pub kept_fours: u64,
    /// Size of the scratch memory, in u32.
    pub scratch_words: u64,
}

impl TaskResources {
    /// Returns the size of the forward values of a workgroup, in groups of four, if its largest
    /// pair has the given numbers of rows and columns.
    pub fn forward_fours(workgroup: u32, lanes: u32, [rows, columns]: [u32; 2]) -> u64 {
        let strips = (columns / BLOCK as u32 + 1).div_ceil(lanes);
        let steps = u64::from(strips) * u64::from(rows.div_ceil(STEP as u32) + lanes - 1);
        steps * (STEP * BLOCK / 4) as u64 * u64::from(workgroup)
    }
}

impl PosteriorTasks {
    /// Creates the tasks of a batch.
    ///
    /// # Errors
    /// Returns a message if a pair does not fit in memory.
    pub fn new(batch: &PosteriorBatch, resources: TaskResources) -> Result<Self, String> {
        let chunk = &batch.chunk;
        let begin =
            |index: u32| (4 * chunk.sequences.end_word(chunk.order[index as usize])) as u32 - chunk.length(index);
        let mut all_pairs: Vec<(PosteriorPair, u32)> = Vec::with_capacity(batch.pairs() as usize);
        let all = batch.blocks.iter().flat_map(|block| block.columns.clone().map(|column| (block.row, column)));
        for (index, (row, column)) in (0..).zip(all) {
            let (rows, columns) = (chunk.length(row), chunk.length(column));
            if rows > 0 && columns > 0 {
                let reserved = [0; 3];
                let [reserved0, reserved1, reserved2] = reserved;
                let (row_begin, column_begin) = (begin(row), begin(column));
                let pair = PosteriorPair {
                    row_begin,
                    rows,
                    column_begin,
                    columns,
                    out_begin: 0,
                    reserved0,
                    reserved1,
                    reserved2,
                };
                all_pairs.push((pair, index));
            }
        }
        let blocks_of = |pair: &PosteriorPair| pair.columns / BLOCK as u32 + 1;
        let groups_of = |pair: &PosteriorPair| pair.rows.div_ceil(STEP as u32);
        // Sorting by size puts similar pairs into the same workgroup, because a workgroup waits for
        // its largest pair.
        all_pairs.sort_by_key(|(pair, index)| {
            Reverse((blocks_of(pair).div_ceil(resources.lanes), groups_of(pair), Reverse(*index)))
        });
        let mut tasks = PosteriorTasks::default();
        let (mut first_task, mut kept, mut scratch) = (0, 0u64, 0u64);
        for pairs in all_pairs.chunks((resources.workgroup / resources.lanes) as usize) {
            let most = |of: &dyn Fn(&PosteriorPair) -> u32| pairs.iter().map(|(pair, _)| of(pair)).max().unwrap_or(0);
            let (strips, groups) = (most(&|pair| blocks_of(pair).div_ceil(resources.lanes)), most(&groups_of));
            let rows = u64::from(groups) * STEP as u64;
            let list = MAX_SURVIVORS_PER_ROW * groups * STEP as u32;
            let columns = most(&|pair| pair.columns);
            let task_kept =
                TaskResources::forward_fours(resources.workgroup, resources.lanes, [groups * STEP as u32, columns]);
            let slots = u64::from(resources.workgroup / resources.lanes);
            let task_scratch = u64::from(strips) * u64::from(groups) * u64::from(resources.workgroup)
                + slots * (4 * rows + 2 * u64::from(list));
            if task_kept > resources.kept_fours || task_scratch > resources.scratch_words {
                let bytes = 16 * task_kept + 4 * task_scratch;
                return Err(format!("pairs of {rows} residues need {bytes} bytes of its memory"));
            }
            if kept + task_kept > resources.kept_fours || scratch + task_scratch > resources.scratch_words {
                let next = tasks.list.len() as u32;
                tasks.rounds.push(first_task..next);
                (first_task, kept, scratch) = (next, 0, 0);
            }
            tasks.list.push(PosteriorTask {
                first: tasks.pairs.len() as u32,
                count: pairs.len() as u32,
                groups,
                strips,
                kept_begin: kept as u32,
                scratch_begin: scratch as u32,
                list,
                reserved: 0,
            });
            (kept, scratch) = (kept + task_kept, scratch + task_scratch);
            tasks.kept_fours = tasks.kept_fours.max(kept);
            tasks.scratch_words = tasks.scratch_words.max(scratch);
            for &(pair, index) in pairs {
                tasks.pairs.push(PosteriorPair { out_begin: tasks.result_words as u32, ..pair });
                tasks.places.push(index);
                tasks.result_words += pair.parts().iter().map(|&words| u64::from(words)).sum::<u64>();
                tasks.rows += u64::from(pair.rows);
            }
        }
        if first_task < tasks.list.len() as u32 {
            tasks.rounds.push(first_task..tasks.list.len() as u32);
        }
        Ok(tasks)
    }
}

/// Returns the weights of all pairs of codes. Each row has an additional entry for a code without a
/// residue.
pub(in crate::posterior) fn weight_table(model: &Model) -> Vec<f32> {
    let codes = model.codes();
    let row = |a: usize| {
        let weights = (0..codes).map(move |b| model.weight(a as Code, b as Code));
        weights.chain(std::iter::once(0.0))
    };
    (0..codes).flat_map(row).collect()
}
