//! ClustalW's distances: engines find the identities of pairs; where all that an engine knows are bounds, threads of the CPU
//! find the number while engines go on.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

use super::super::{Run, Summary, engines};
use super::{Engines, PairDistances, cells_of};
use crate::clustal::cpu::{Workspace, compute};
use crate::clustal::{ClustalBand, ClustalCosts, PairIdentities, Plan};
use crate::engine::owner::{self, Control};
use crate::engine::thread_engine::thread_engines;
use crate::engine::thread_pool;
use crate::error::{Error, Result};
use crate::seq::{Alphabet, SequenceId};
use crate::tree::Distances;

/// Pairs that a thread takes at once where bounds differ: some vectors full.
const TAKEN: usize = 64;

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
    let costs = Arc::new(match sequences.alphabet() {
        Alphabet::Dna => ClustalCosts::dna(),
        Alphabet::Protein | Alphabet::Bytes => ClustalCosts::protein(),
    });
    let plan = Plan::new(Arc::clone(sequences), costs);
    let Plan { band, blocks, .. } = &plan;
    let cells = blocks.iter().map(|block| block.cells).sum();
    let feeding = thread_pool(run.threads)?;
    let engines = match engines {
        Some(engines) => engines,
        None => engines::open_clustal(run, pool.current_num_threads())?,
    };
    let mut table = plan.table();
    let mut counting = Counting::new(pool, run);
    let mut bounds: HashMap<(SequenceId, SequenceId), PairIdentities> = HashMap::new();
    let reserve = || thread_engines(pool.current_num_threads(), &run.interrupt);
    let control = Control { pool: Some(feeding), ..run.control() };
    let blocks = blocks.iter().map(|block| ((), block.clone())).collect();
    let bands = std::iter::once((0..sequences.len() as SequenceId, Arc::clone(band), blocks));
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
                    Some(identities) if !job.check => table.set(pair.0, pair.1, identities),
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
        table.set(a, b, found.least);
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
    Ok((table.distances(), summary))
}
