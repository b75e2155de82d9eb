//! A batch as the kernels see it: which workgroup has which pairs, and what passes go over them.

use std::cmp::Reverse;
use std::ops::Range;

use super::layout::{Pair, Task};
use super::program::{Pass, Variant};
use crate::clustal::{ClustalBatch, ClustalCosts};
use crate::seq::{Code, SequenceId, SequenceStore};

/// What sums of scores stay below.
const MAX: i64 = 1 << 31;
/// What is taken from scores stays below this, so that padding (`PADDING` of the shader) can be added and two halves be summed.
const MAX_COST: i64 = 1 << 29;

/// What one program computes of a batch.
#[derive(Debug, Clone)]
pub struct Launch {
    /// The program.
    pub variant: Variant,
    /// The tasks, or the pairs.
    pub tasks: Range<u32>,
}

/// Costs as kernels take them.
#[derive(Debug, Clone)]
pub struct Table {
    /// Scores of two codes, row by row; then the greatest of each row, at least 0.
    pub scores: Vec<i32>,
    codes: usize,
    /// The greatest loss of a column.
    loss: i64,
}

impl Table {
    /// Those of so many codes.
    pub fn new(costs: &ClustalCosts, codes: usize) -> Self {
        let of = |place: usize| costs.score((place / codes) as Code, (place % codes) as Code);
        let mut scores: Vec<i32> = (0..codes * codes).map(of).collect();
        let greatest = |row: &[i32]| row.iter().copied().max().unwrap_or(0).max(0);
        let rows: Vec<i32> = scores.chunks(codes.max(1)).map(greatest).collect();
        let loss = scores.iter().map(|&score| -i64::from(score)).max().unwrap_or(0).max(0);
        scores.extend(rows);
        Table { scores, codes, loss }
    }

    /// What no alignment of the sequence scores more than.
    fn bound(&self, sequences: &SequenceStore, id: SequenceId) -> i64 {
        let greatest = &self.scores[self.codes * self.codes..];
        sequences.codes(id).iter().map(|&code| i64::from(greatest[usize::from(code)])).sum()
    }

    /// Whether numbers of 32 bits hold all sums of a pair.
    fn holds(&self, bounds: [i64; 2], symbols: u32, [opening, extension]: [i32; 2]) -> bool {
        let cost = 4 * i64::from(opening) + i64::from(extension) * i64::from(symbols) + self.loss + 2;
        cost < MAX_COST && bounds.iter().all(|bound| bound + cost < MAX)
    }
}

/// A batch as the kernels see it.
#[derive(Debug, Clone)]
pub struct Tasks {
    /// Scores.
    pub table: Table,
    /// What every symbol of a gap costs.
    pub extension: i32,
    /// Pairs in the order of tasks.
    pub pairs: Vec<Pair>,
    /// Where each of them is in the batch.
    pub places: Vec<u32>,
    /// All tasks, those of the most cells first.
    pub list: Vec<Task>,
    /// In the order in which they go over the pairs; of those that find identities each.
    pub launches: Vec<Launch>,
    /// Symbols of the longest target and of the longest query.
    pub longest: [u32; 2],
}

/// Pairs of one query that go together.
struct Group {
    pairs: Vec<(Pair, u32)>,
    /// Symbols of the longest target and of the query.
    sizes: [u32; 2],
}

impl Tasks {
    /// The tasks of a batch, with as many pairs each as a workgroup of slices has invocations. `None` if a score may exceed 32
    /// bits.
    pub fn new(batch: &ClustalBatch, program: impl Fn(Pass) -> Variant) -> Option<Self> {
        let (sequences, costs) = (&batch.chunk.sequences, &batch.chunk.costs);
        let lanes = program(Pass::Ends).workgroup as usize;
        let (table, extension) = (Table::new(costs, sequences.alphabet().size()), costs.extension());
        let mut bounds: Vec<Option<i64>> = vec![None; sequences.len()];
        let mut bound = |id: SequenceId| *bounds[id as usize].get_or_insert_with(|| table.bound(sequences, id));
        let begin = |id: SequenceId| (4 * sequences.end_word(id)) as u32 - sequences.length(id);
        let mut groups: Vec<Group> = Vec::new();
        let mut place = 0;
        for block in &batch.blocks {
            let (query, columns) = (block.query, sequences.length(block.query));
            let mut own: Vec<(Pair, u32)> = Vec::with_capacity(block.targets.len());
            for &target in batch.chunk.targets(block) {
                let rows = sequences.length(target);
                let opening = costs.opening(rows.min(columns));
                if !table.holds([bound(query), bound(target)], rows.saturating_add(columns), [opening, extension]) {
                    return None;
                }
                let pair = Pair {
                    query: begin(query),
                    query_symbols: columns,
                    target_begin: begin(target),
                    target_symbols: rows,
                    opening,
                    by_rows: u32::from(target < query),
                };
                own.push((pair, place));
                place += 1;
            }
            // Lanes wait for the longest of their targets.
            own.sort_by_key(|(pair, _)| Reverse(pair.target_symbols));
            for pairs in own.chunks(lanes) {
                groups.push(Group { pairs: pairs.to_vec(), sizes: [pairs[0].0.target_symbols, columns] });
            }
        }
        groups.sort_by_key(|group| Reverse(u64::from(group.sizes[0]) * u64::from(group.sizes[1])));
        let (mut pairs, mut places, mut list) = (Vec::new(), Vec::new(), Vec::with_capacity(groups.len()));
        for group in &groups {
            list.push(Task { first: pairs.len() as u32, count: group.pairs.len() as u32 });
            pairs.extend(group.pairs.iter().map(|&(pair, _)| pair));
            places.extend(group.pairs.iter().map(|&(_, place)| place));
        }
        let longest = [0, 1].map(|side| groups.iter().map(|group| group.sizes[side]).max().unwrap_or(0));
        let counts = Pass::ALL.map(|pass| if pass.is_last() { pairs.len() } else { list.len() });
        let launches = Pass::ALL.iter().zip(counts).filter(|(_, count)| *count > 0);
        let launches = launches.map(|(&pass, count)| Launch { variant: program(pass), tasks: 0..count as u32 });
        Some(Tasks { table, extension, launches: launches.collect(), pairs, places, list, longest })
    }
}
