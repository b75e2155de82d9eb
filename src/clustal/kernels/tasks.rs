//! Task lists of a batch: the pairs of each workgroup and the passes over them.

use std::cmp::Reverse;
use std::ops::Range;

use super::layout::{ClustalPair, ClustalTask};
use super::program::{ClustalPass, ClustalVariant};
use crate::clustal::{ClustalBatch, ClustalCosts};
use crate::seq::{Code, SequenceId, SequenceStore};

/// Upper bound (exclusive) on sums of scores.
const SCORE_BOUND: i64 = 1 << 31;
/// Upper bound (exclusive) on costs. It leaves room for the shader's minus infinity and for the sum
/// of two halves.
const MAX_COST: i64 = 1 << 29;

/// The tasks of one program in a batch.
#[derive(Debug, Clone)]
pub struct ClustalLaunch {
    /// Program that computes the tasks.
    pub variant: ClustalVariant,
    /// Range of tasks, or of pairs in passes that assign pairs.
    pub tasks: Range<u32>,
}

/// Score table in the layout of the kernels.
#[derive(Debug, Clone)]
pub struct ScoreTable {
    /// Scores of all pairs of codes, row by row, followed by the highest score of each row (at
    /// least 0).
    pub scores: Vec<i32>,
    codes: usize,
    /// Largest amount by which one aligned column can lower a score.
    loss: i64,
}

impl ScoreTable {
    /// Builds the table of the first `codes` codes.
    pub fn new(costs: &ClustalCosts, codes: usize) -> Self {
        let score_at = |index: usize| costs.score((index / codes) as Code, (index % codes) as Code);
        let mut scores: Vec<i32> = (0..codes * codes).map(score_at).collect();
        let greatest = |row: &[i32]| row.iter().copied().max().unwrap_or(0).max(0);
        let rows: Vec<i32> = scores.chunks(codes.max(1)).map(greatest).collect();
        let loss = scores.iter().map(|&score| -i64::from(score)).max().unwrap_or(0).max(0);
        scores.extend(rows);
        ScoreTable { scores, codes, loss }
    }

    /// Returns an upper bound on the score of any alignment of the sequence.
    fn bound(&self, sequences: &SequenceStore, id: SequenceId) -> i64 {
        let greatest = &self.scores[self.codes * self.codes..];
        sequences.codes(id).iter().map(|&code| i64::from(greatest[usize::from(code)])).sum()
    }

    /// Checks whether all sums of a pair fit `i32`.
    fn holds(&self, bounds: [i64; 2], symbols: u32, [opening, extension]: [i32; 2]) -> bool {
        let cost = 4 * i64::from(opening) + i64::from(extension) * i64::from(symbols) + self.loss + 2;
        cost < MAX_COST && bounds.iter().all(|bound| bound + cost < SCORE_BOUND)
    }
}

/// A batch in the layout of the kernels.
#[derive(Debug, Clone)]
pub struct ClustalTasks {
    /// Scores of letters.
    pub table: ScoreTable,
    /// Cost of each symbol in a gap.
    pub extension: i32,
    /// Pairs in the order of the tasks.
    pub pairs: Vec<ClustalPair>,
    /// Position of each pair in the batch.
    pub pair_indices: Vec<u32>,
    /// All tasks, those with the most cells first.
    pub list: Vec<ClustalTask>,
    /// Launches in the order of their passes. The list contains both passes that count identities,
    /// of which a batch runs one.
    pub launches: Vec<ClustalLaunch>,
    /// Number of symbols of the longest target and of the longest query.
    pub longest: [u32; 2],
}

/// Pairs of one query that a workgroup computes together.
struct TaskGroup {
    pairs: Vec<(ClustalPair, u32)>,
    /// Number of symbols of the longest target and of the query.
    sizes: [u32; 2],
}

impl ClustalTasks {
    /// Builds the tasks of a batch. A task has as many pairs as a workgroup of
    /// [`ClustalPass::Ends`] has invocations. Returns `None` if a score may exceed 32 bits.
    pub fn new(batch: &ClustalBatch, program: impl Fn(ClustalPass) -> ClustalVariant) -> Option<Self> {
        let (sequences, costs) = (&batch.chunk.sequences, &batch.chunk.costs);
        let lanes = program(ClustalPass::Ends).workgroup as usize;
        let (table, extension) = (ScoreTable::new(costs, sequences.alphabet().size()), costs.extension());
        let mut bounds: Vec<Option<i64>> = vec![None; sequences.len()];
        let mut bound = |id: SequenceId| *bounds[id as usize].get_or_insert_with(|| table.bound(sequences, id));
        let begin = |id: SequenceId| (4 * sequences.end_word(id)) as u32 - sequences.length(id);
        let mut groups: Vec<TaskGroup> = Vec::new();
        let mut index = 0;
        for block in &batch.blocks {
            let (query, columns) = (block.query, sequences.length(block.query));
            let mut block_pairs: Vec<(ClustalPair, u32)> = Vec::with_capacity(block.targets.len());
            for &target in batch.chunk.targets(block) {
                let rows = sequences.length(target);
                let opening = costs.opening(rows.min(columns));
                if !table.holds([bound(query), bound(target)], rows.saturating_add(columns), [opening, extension]) {
                    return None;
                }
                let pair = ClustalPair {
                    query: begin(query),
                    query_symbols: columns,
                    target_begin: begin(target),
                    target_symbols: rows,
                    opening,
                    by_rows: u32::from(target < query),
                };
                block_pairs.push((pair, index));
                index += 1;
            }
            // Lanes wait for the longest of their targets.
            block_pairs.sort_by_key(|(pair, _)| Reverse(pair.target_symbols));
            for pairs in block_pairs.chunks(lanes) {
                groups.push(TaskGroup { pairs: pairs.to_vec(), sizes: [pairs[0].0.target_symbols, columns] });
            }
        }
        groups.sort_by_key(|group| Reverse(u64::from(group.sizes[0]) * u64::from(group.sizes[1])));
        let (mut pairs, mut pair_indices, mut list) = (Vec::new(), Vec::new(), Vec::with_capacity(groups.len()));
        for group in &groups {
            list.push(ClustalTask { first: pairs.len() as u32, count: group.pairs.len() as u32 });
            pairs.extend(group.pairs.iter().map(|&(pair, _)| pair));
            pair_indices.extend(group.pairs.iter().map(|&(_, index)| index));
        }
        let longest = [0, 1].map(|side| groups.iter().map(|group| group.sizes[side]).max().unwrap_or(0));
        let counts = ClustalPass::ALL.map(|pass| if pass.is_last() { pairs.len() } else { list.len() });
        let launches = ClustalPass::ALL.iter().zip(counts).filter(|(_, count)| *count > 0);
        let launches = launches.map(|(&pass, count)| ClustalLaunch { variant: program(pass), tasks: 0..count as u32 });
        Some(ClustalTasks { table, extension, launches: launches.collect(), pairs, pair_indices, list, longest })
    }
}
