//! ClustalW's distances: engines find the identities of pairs; where all that an engine knows are bounds, threads of the CPU
//! find the number while engines go on.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

use super::super::{Run, Summary, engines};
use super::{Engines, PairDistances, cells_of};
use crate::clustal::cpu::{Workspace, compute};
use crate::clustal::{Clustal, ClustalBand, ClustalBlock, ClustalCosts, PairIdentities};
use crate::engine::owner::{self, Control};
use crate::engine::queue::Planned;
use crate::engine::thread_engine::thread_engines;
use crate::engine::thread_pool;
use crate::error::{Error, Result};
use crate::seq::{Alphabet, Code, SequenceId, SequenceStore};
use crate::tree::Distances;

/// Sequences of a run, inside which they stand by falling length.
const RUN: usize = 1 << 10;
/// Pairs that a thread takes at once where bounds differ: some vectors full.
const TAKEN: usize = 64;

/// Which pairs are computed: of sequences that are the same one stands for all, but for the order of the two. ClustalW's choice
/// among alignments that score the same depends on which sequence comes first.
struct Plan {
    band: Arc<ClustalBand>,
    blocks: Vec<ClustalBlock>,
    /// The group of equal sequences that each belongs to.
    group_of: Vec<u32>,
    /// The members of each, rising.
    groups: Vec<Vec<SequenceId>>,
}

impl Plan {
    fn new(sequences: &Arc<SequenceStore>, costs: ClustalCosts) -> Self {
        let mut groups: Vec<Vec<SequenceId>> = Vec::new();
        let mut places: HashMap<&[Code], u32> = HashMap::new();
        let group_of: Vec<u32> = (0..sequences.len() as SequenceId)
            .map(|id| {
                let group = *places.entry(sequences.codes(id)).or_insert(groups.len() as u32);
                match groups.get_mut(group as usize) {
                    Some(members) => members.push(id),
                    None => groups.push(vec![id]),
                }
                group
            })
            .collect();
        // As second sequences the last members: by number in runs, and in a run by length, so that lanes are even.
        let mut order: Vec<SequenceId> = groups.iter().filter_map(|members| members.last().copied()).collect();
        order.sort_unstable();
        for run in order.chunks_mut(RUN) {
            run.sort_by_key(|&id| (std::cmp::Reverse(sequences.length(id)), id));
        }
        let band = ClustalBand { sequences: Arc::clone(sequences), costs: Arc::new(costs), order: order.into() };
        let mut blocks = Vec::new();
        for members in &groups {
            // Equal ones too: what stands for several residues may score nothing with itself.
            let later = ranges(&band.order, |&other| other > members[0]);
            blocks.extend(later.map(|targets| band.block(members[0], targets)));
        }
        Plan { band: Arc::new(band), blocks, group_of, groups }
    }

    fn cells(&self) -> u64 {
        self.blocks.iter().map(|block| block.cells).sum()
    }

    fn planned(&mut self) -> Planned<Clustal> {
        let blocks = std::mem::take(&mut self.blocks).into_iter().map(|block| ((), block)).collect();
        (0..self.band.sequences.len() as SequenceId, Arc::clone(&self.band), blocks)
    }

    /// All pairs of these two sequences' groups in which the first one's member comes first have so many identities.
    fn set(&self, distances: &mut Distances, (first, second): (SequenceId, SequenceId), identities: u32) {
        let shorter = self.band.sequences.length(first).min(self.band.sequences.length(second));
        let distance = distance(identities, shorter);
        let members = |id: SequenceId| &self.groups[self.group_of[id as usize] as usize];
        for &one in members(first) {
            let others = members(second);
            for &other in &others[others.partition_point(|&other| other <= one)..] {
                distances.set(one as usize, other as usize, distance);
            }
        }
    }
}

/// The runs of neighbours that are meant.
fn ranges<'a>(
    order: &'a [SequenceId],
    is_meant: impl Fn(&SequenceId) -> bool + 'a,
) -> impl Iterator<Item = Range<u32>> + 'a {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + order[at..].iter().position(&is_meant)?;
        at = start + order[start..].iter().position(|id| !is_meant(id)).unwrap_or(order.len() - start);
        Some(start as u32..at as u32)
    })
}

/// ClustalW's distance: its percentage is a number of 32 bits, and so is what it makes of it.
fn distance(identities: u32, shorter: u32) -> f64 {
    if shorter == 0 {
        return 1.0;
    }
    let percent = 100.0 * identities as f32 / shorter as f32;
    f64::from((100.0 - percent) / 100.0)
}

/// Two sequences, the earlier first, and their identities.
type Counted = (SequenceId, SequenceId, PairIdentities);

/// Pairs that threads of the CPU count.
struct Counting {
    pool: Arc<rayon::ThreadPool>,
    run: Run,
    sender: Sender<Vec<Counted>>,
    receiver: Receiver<Vec<Counted>>,
    pairs: u64,
}

impl Counting {
    fn new(pool: &Arc<rayon::ThreadPool>, run: &Run) -> Self {
        let (sender, receiver) = channel();
        Counting { pool: Arc::clone(pool), run: run.clone(), sender, receiver, pairs: 0 }
    }

    /// These pairs are counted when a thread is free.
    fn add(&mut self, band: &Arc<ClustalBand>, pairs: Vec<(SequenceId, SequenceId)>) {
        self.pairs += pairs.len() as u64;
        let (band, sender, interrupt) = (Arc::clone(band), self.sender.clone(), Arc::clone(&self.run.interrupt));
        self.pool.spawn(move || {
            let is_over = || interrupt.load(Ordering::Relaxed);
            let found = compute(&band.sequences, &band.costs, &pairs, &mut Workspace::new(), is_over);
            let counted = |((a, b), found): (_, PairIdentities)| (a, b, found);
            // Nobody waits for it if the job has ended early.
            let _ = sender.send(pairs.into_iter().zip(found.unwrap_or_default()).map(counted).collect());
        });
    }

    /// Waits for all.
    fn finish(self) -> impl Iterator<Item = Counted> {
        drop(self.sender);
        self.receiver.into_iter().flatten()
    }
}

/// The distances of a job, on these engines or those that the run asks for.
pub(super) fn distances(
    job: &PairDistances,
    engines: Option<Engines>,
    pool: &Arc<rayon::ThreadPool>,
    run: &Run,
) -> Result<(Distances, Summary)> {
    let begin = Instant::now();
    let sequences = &job.sequences;
    let costs = match sequences.alphabet() {
        Alphabet::Dna => ClustalCosts::dna(),
        Alphabet::Protein | Alphabet::Bytes => ClustalCosts::protein(),
    };
    let mut plan = Plan::new(sequences, costs);
    let cells = plan.cells();
    let feeding = thread_pool(run.threads)?;
    let engines = match engines {
        Some(engines) => engines,
        None => engines::open_clustal(run, pool.current_num_threads())?,
    };
    let mut distances = Distances::new(sequences.len());
    let mut counting = Counting::new(pool, run);
    let mut bounds: HashMap<(SequenceId, SequenceId), PairIdentities> = HashMap::new();
    let reserve = || thread_engines(pool.current_num_threads(), &run.interrupt);
    let control = Control { pool: Some(feeding), ..run.control() };
    let bands = std::iter::once(plan.planned());
    let mut computed = 0;
    let ran = owner::run(engines, reserve, bands, cells, &control, |outcome| {
        run.progress.advance(outcome.pairs, outcome.cells);
        computed += outcome.pairs;
        let (batch, mut found) = (&outcome.batch, outcome.report.identities.iter());
        let mut open = Vec::new();
        for (index, block) in batch.blocks.iter().enumerate() {
            let is_finished = !outcome.report.unfinished.contains(&index);
            for (pair, found) in batch.band.pairs(block).zip(found.by_ref()).filter(|_| is_finished) {
                match found.known() {
                    Some(identities) if !job.check => plan.set(&mut distances, pair, identities),
                    _ => open.push(pair),
                }
                if job.check {
                    bounds.insert(pair, *found);
                }
            }
        }
        for some in open.chunks(TAKEN) {
            counting.add(&batch.band, some.to_vec());
        }
        Ok(())
    })?;
    let aligned = counting.pairs;
    let mut counted = 0;
    for (a, b, found) in counting.finish() {
        counted += 1;
        if bounds.get(&(a, b)).is_some_and(|bounds| !(bounds.least..=bounds.most).contains(&found.least)) {
            let [a, b] = [a, b].map(|id| sequences.name(id));
            return Err(Error::Internal(format!("'{a}' and '{b}' have other identities than an engine found")));
        }
        plan.set(&mut distances, (a, b), found.least);
    }
    if counted < aligned {
        return Err(Error::Interrupted);
    }
    let seconds = begin.elapsed().as_secs_f64();
    tracing::debug!(computed, counted, seconds, "identities of pairs");
    let count = sequences.len() as u64;
    let pairs = count * count.saturating_sub(1) / 2;
    let summary = Summary {
        pairs,
        cells: cells_of(sequences),
        aligned,
        written: pairs,
        seconds,
        kernel_seconds: ran.engines.iter().map(|engine| engine.kernel_seconds).sum(),
        engines: ran.engines,
        imbalance: ran.imbalance,
    };
    Ok((distances, summary))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(sequences: &[&str]) -> Arc<SequenceStore> {
        let mut store = SequenceStore::builder(Alphabet::Dna);
        for (number, letters) in sequences.iter().enumerate() {
            store.push_letters(number.to_string(), letters.as_bytes()).unwrap();
        }
        Arc::new(store.build())
    }

    #[test]
    fn equal_sequences_are_computed_once_in_either_order() {
        // A B A C B: A before B and after it, C between.
        let plan = Plan::new(&store(&["AAAA", "CCC", "AAAA", "GG", "CCC"]), ClustalCosts::dna());
        let pairs = |block: &ClustalBlock| plan.band.pairs(block).collect::<Vec<_>>();
        let mut found: Vec<_> = plan.blocks.iter().flat_map(pairs).collect();
        found.sort_unstable();
        assert_eq!(found, [(0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (3, 4)]);
        let mut distances = Distances::new(5);
        for (number, &pair) in (0..).zip(&found) {
            // GG has two bases.
            plan.set(&mut distances, pair, number % 2);
        }
        let of = |a, b| distances.get(a, b);
        assert_eq!([of(0, 1), of(0, 4), of(2, 4), of(1, 2)], [1.0, 1.0, 1.0, distance(1, 3)]);
        assert_eq!([of(0, 2), of(1, 4), of(0, 3), of(2, 3)], [1.0, distance(1, 3), 0.5, 0.5]);
        assert_eq!([of(1, 3), of(3, 4)], [1.0, 1.0]);
    }

    #[test]
    fn neighbours_that_are_meant_are_put_together() {
        let order = [5, 1, 7, 8, 2, 9];
        assert_eq!(ranges(&order, |&id| id > 4).collect::<Vec<_>>(), [0..1, 2..4, 5..6]);
        assert_eq!(ranges(&order, |&id| id > 0).collect::<Vec<_>>(), [0..6]);
        assert_eq!(ranges(&order, |&id| id > 9).count(), 0);
        assert_eq!(ranges(&[], |_| true).count(), 0);
    }

    #[test]
    fn distances_are_of_32_bits() {
        assert_eq!(distance(1, 3), f64::from((100.0_f32 - 100.0 / 3.0) / 100.0));
        assert_eq!([distance(7, 7), distance(0, 7), distance(0, 0)], [0.0, 1.0, 1.0]);
    }
}
