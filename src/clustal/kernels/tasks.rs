//! A batch as the kernels see it: which workgroup has which pairs, and what passes go over them.

use std::cmp::Reverse;
use std::ops::Range;

use super::layout::{Pair, Task};
use super::program::{Pass, Variant};
use crate::clustal::{ClustalBatch, ClustalCosts};
use crate::seq::{Code, SequenceId, SequenceStore};

/// What numbers of 32 bits stay below that hold scores, with and without identities.
const MOST: i64 = 1 << 31;
/// What is taken from scores stays above the negative of this, so that padding (`PADDING` of the shaders) can be added.
const MOST_COST: i64 = 1 << 30;

/// What one program computes of a batch.
#[derive(Debug, Clone)]
pub struct Launch {
    /// The program.
    pub variant: Variant,
    /// The tasks, or the pairs.
    pub tasks: Range<u32>,
    /// Symbols of the longest target.
    pub rows: u32,
    /// Symbols of the longest query.
    pub columns: u32,
}

/// Costs as kernels take them: divided by what divides all of them, which leaves room for identities.
#[derive(Debug, Clone)]
pub struct Units {
    /// Of two codes the score, and whether they are the same residue.
    pub table: Vec<[i32; 2]>,
    /// What every symbol of a gap costs.
    pub extension: i32,
    /// What divided them.
    unit: i32,
    /// The greatest score that a code can have in a column.
    greatest: Vec<i64>,
    /// The greatest loss of a column.
    loss: i64,
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl Units {
    /// Those of pairs whose gaps have these opening costs.
    pub fn new(costs: &ClustalCosts, codes: usize, openings: impl IntoIterator<Item = i32>) -> Self {
        let of = |a: usize, b: usize| (costs.score(a as Code, b as Code), a == b);
        let all: Vec<(i32, bool)> = (0..codes * codes).map(|place| of(place / codes, place % codes)).collect();
        let scores = all.iter().map(|&(score, _)| score);
        let unit = scores.chain(openings).chain([costs.extension()]).fold(0, |unit, own| gcd(unit, own.unsigned_abs()));
        let unit = unit.clamp(1, i32::MAX as u32) as i32;
        let table: Vec<[i32; 2]> = all.iter().map(|&(score, same)| [score / unit, i32::from(same)]).collect();
        let greatest = |row: &[[i32; 2]]| row.iter().map(|entry| i64::from(entry[0])).max().unwrap_or(0).max(0);
        Units {
            greatest: table.chunks(codes.max(1)).map(greatest).collect(),
            loss: table.iter().map(|entry| -i64::from(entry[0])).max().unwrap_or(0).max(0),
            extension: costs.extension() / unit,
            table,
            unit,
        }
    }

    /// An opening cost.
    fn opening(&self, cost: i32) -> i32 {
        cost / self.unit
    }

    /// What no alignment of the sequence scores more than.
    fn bound(&self, sequences: &SequenceStore, id: SequenceId) -> i64 {
        sequences.codes(id).iter().map(|&code| self.greatest[usize::from(code)]).sum()
    }

    /// Whether numbers hold scores up to such a one, less what gaps cost of so many symbols, each multiplied.
    fn holds(&self, bound: i64, (opening, symbols): (i32, u32), scale: i64) -> bool {
        let cost = 3 * i64::from(opening) + i64::from(self.extension) * i64::from(symbols) + self.loss + 2;
        let gain = self.greatest.iter().max().copied().unwrap_or(0);
        cost.saturating_mul(scale) < MOST_COST && (bound + gain + 2).saturating_mul(scale) < MOST
    }
}

/// A batch as the kernels see it.
#[derive(Debug, Clone)]
pub struct Tasks {
    /// Costs.
    pub units: Units,
    /// Pairs in the order of tasks.
    pub pairs: Vec<Pair>,
    /// Where each of them is in the batch.
    pub places: Vec<u32>,
    /// All tasks.
    pub list: Vec<Task>,
    /// In the order in which they go over the pairs.
    pub launches: Vec<Launch>,
}

/// Pairs of one query that go together.
struct Group {
    task: Task,
    pairs: Vec<(Pair, u32)>,
    /// Whether scores with identities fit.
    is_narrow: bool,
    rows: u32,
    columns: u32,
}

impl Tasks {
    /// The tasks of a batch, with as many pairs each as a workgroup of slices has invocations. With `cooperative` no pair
    /// has its identities carried in slices. `None` if a score may exceed 32 bits.
    pub fn new(batch: &ClustalBatch, program: impl Fn(Pass) -> Variant, cooperative: bool) -> Option<Self> {
        let (sequences, costs) = (&batch.band.sequences, &batch.band.costs);
        let lanes = program(Pass::Ends).workgroup as usize;
        let opening = |a: SequenceId, b: SequenceId| costs.opening(sequences.length(a).min(sequences.length(b)));
        let all = batch.blocks.iter().flat_map(|block| batch.band.pairs(block));
        let units = Units::new(costs, sequences.alphabet().size(), all.map(|(a, b)| opening(a, b)));
        let mut bounds: Vec<Option<i64>> = vec![None; sequences.len()];
        let mut bound = |id: SequenceId| *bounds[id as usize].get_or_insert_with(|| units.bound(sequences, id));
        let begin = |id: SequenceId| (4 * sequences.end_word(id)) as u32 - sequences.length(id);
        let mut groups: Vec<Group> = Vec::new();
        let mut place = 0;
        for block in &batch.blocks {
            let query = block.query;
            let mut own: Vec<(SequenceId, u32)> = Vec::with_capacity(block.targets.len());
            for &target in batch.band.targets(block) {
                own.push((target, place));
                place += 1;
            }
            // Lanes wait for the longest of their targets.
            own.sort_by_key(|&(target, _)| Reverse(sequences.length(target)));
            for lanes in own.chunks(lanes) {
                let (columns, rows) = (sequences.length(query), sequences.length(lanes[0].0));
                let scale = i64::from(columns.min(rows)) + 1;
                let mut is_narrow = !cooperative && scale <= i64::from(i32::MAX);
                let mut pairs = Vec::with_capacity(lanes.len());
                for &(target, place) in lanes {
                    let opening = units.opening(opening(query, target));
                    let bound = bound(query).min(bound(target));
                    // Of a rectangle all may be gaps. Elsewhere what is below 0 begins anew.
                    if !units.holds(bound, (opening, columns.saturating_add(sequences.length(target))), 1) {
                        return None;
                    }
                    is_narrow &= units.holds(bound, (opening, 2), scale);
                    let pair = Pair {
                        query: begin(query),
                        query_symbols: columns,
                        target_begin: begin(target),
                        target_symbols: sequences.length(target),
                        opening,
                        by_rows: u32::from(target < query),
                    };
                    pairs.push((pair, place));
                }
                let task = Task { first: 0, count: lanes.len() as u32, scale: scale as i32 };
                groups.push(Group { task, pairs, is_narrow, rows, columns });
            }
        }
        groups.sort_by_key(|group| (!group.is_narrow, Reverse(u64::from(group.rows) * u64::from(group.columns))));
        Some(Self::of(groups, units, program))
    }

    fn of(groups: Vec<Group>, units: Units, program: impl Fn(Pass) -> Variant) -> Self {
        let narrow = groups.iter().filter(|group| group.is_narrow).count();
        let (mut pairs, mut places, mut list) = (Vec::new(), Vec::new(), Vec::with_capacity(groups.len()));
        let mut wide_begin = 0;
        for group in &groups {
            let first = pairs.len() as u32;
            pairs.extend(group.pairs.iter().map(|&(pair, _)| pair));
            places.extend(group.pairs.iter().map(|&(_, place)| place));
            list.push(Task { first, ..group.task });
            wide_begin = if group.is_narrow { pairs.len() } else { wide_begin };
        }
        let mut launches = Vec::new();
        let mut launch = |pass, of: Range<usize>, tasks: Range<usize>| {
            let of = &groups[of];
            if !tasks.is_empty() {
                launches.push(Launch {
                    variant: program(pass),
                    tasks: tasks.start as u32..tasks.end as u32,
                    rows: of.iter().map(|group| group.rows).max().unwrap_or(0),
                    columns: of.iter().map(|group| group.columns).max().unwrap_or(0),
                });
            }
        };
        let (all, wide) = (0..groups.len(), narrow..groups.len());
        launch(Pass::Ends, all.clone(), all);
        launch(Pass::Identities, 0..narrow, 0..narrow);
        launch(Pass::Starts, wide.clone(), wide.clone());
        launch(Pass::ForwardReverse, wide, wide_begin..pairs.len());
        Tasks { units, pairs, places, list, launches }
    }
}
