//! Computes ClustalW's distances. Engines compute the identities of pairs.

use std::sync::Arc;
use std::time::Instant;

use super::super::{Run, Summary, engines};
use super::{ClustalEngines, PairDistances, cells_of};
use crate::clustal::{ClustalChunk, ClustalCosts, ClustalPlan, cpu};
use crate::engine::check::finished;
use crate::engine::owner;
use crate::engine::thread_engine::thread_engines;
use crate::error::{Error, Result};
use crate::seq::SequenceId;
use crate::tree::Distances;

/// Returns the plan of all pairs of a job.
pub(super) fn plan(job: &PairDistances) -> Result<ClustalPlan> {
    let sequences = &job.sequences;
    let costs = job.costs.clone().unwrap_or_else(|| Arc::new(ClustalCosts::for_alphabet(sequences.alphabet())));
    let plan = ClustalPlan::new(Arc::clone(sequences), costs);
    let Some((a, b)) = plan.too_long() else { return Ok(plan) };
    let [a, b] = [a, b].map(|id| format!("'{}' of {} residues", sequences.name(id), sequences.length(id)));
    Err(Error::usage_of(
        "sequences",
        format!("{a} and {b}: the scores of such long pairs exceed 32 bits; use another kind of distance"),
    ))
}

/// Computes the distances of a job on these engines, or on the engines that the run selects.
pub(super) fn distances(
    job: &PairDistances,
    engines: Option<ClustalEngines>,
    pool: &Arc<rayon::ThreadPool>,
    run: &Run,
) -> Result<(Distances, Summary)> {
    let started = Instant::now();
    let sequences = &job.sequences;
    let plan = plan(job)?;
    let cells = plan.blocks.iter().map(|block| block.cells).sum();
    let threads = pool.current_num_threads();
    let engines = match engines {
        Some(engines) => engines,
        None => engines::open_clustal(run, threads, cells)?,
    };
    let mut table = plan.table();
    let reserve = || thread_engines(threads, &run.interrupt);
    let control = run.control(pool);
    let blocks = plan.blocks.iter().map(|block| ((), block.clone())).collect();
    let chunks = std::iter::once((0..sequences.len() as SequenceId, Arc::clone(&plan.chunk), blocks));
    let mut computed = 0;
    let ran = owner::run(engines, reserve, chunks, cells, &control, |outcome| {
        run.progress.advance(outcome.pairs, outcome.cells);
        computed += outcome.pairs;
        let (batch, mut counted) = (&outcome.batch, outcome.report.identities.iter());
        let finished = finished(batch.blocks.len(), &outcome.report.unfinished).map_err(Error::Internal)?;
        for (block, is_finished) in batch.blocks.iter().zip(finished) {
            for ((a, b), counted) in batch.chunk.pairs(block).zip(counted.by_ref()).filter(|_| is_finished) {
                table.set(a, b, counted.identities);
            }
        }
        Ok(())
    })?;
    if job.check {
        let pairs = plan.blocks.iter().flat_map(|block| plan.chunk.pairs(block));
        let counted: Vec<_> = pairs.map(|(a, b)| ((a, b), table.get(a, b))).collect();
        check(&plan.chunk, &counted, threads)?;
    }
    let seconds = started.elapsed().as_secs_f64();
    tracing::debug!(computed, seconds, "identities of pairs");
    let count = sequences.len() as u64;
    let pairs = count * count.saturating_sub(1) / 2;
    let summary = Summary {
        pairs,
        cells: cells_of(sequences),
        aligned: computed,
        written: pairs,
        seconds,
        kernel_seconds: ran.engines.iter().map(|engine| engine.kernel_seconds).sum(),
        engines: ran.engines,
        imbalance: ran.imbalance,
        details: (),
    };
    Ok((table.distances(), summary))
}

/// Computes the identities of pairs again on the CPU, and compares them.
pub(super) fn check(chunk: &ClustalChunk, counted: &[((SequenceId, SequenceId), u32)], threads: usize) -> Result<()> {
    let pairs: Vec<_> = counted.iter().map(|(pair, _)| *pair).collect();
    let again = cpu::identities(&chunk.sequences, &chunk.costs, &pairs, threads);
    for (&((a, b), counted), again) in counted.iter().zip(again) {
        if counted != again.identities {
            let [a, b] = [a, b].map(|id| chunk.sequences.name(id));
            return Err(Error::Internal(format!("'{a}' and '{b}': {counted} identities, but {}", again.identities)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::msa::PairDistance;
    use crate::seq::{Alphabet, SequenceStore};

    #[test]
    fn pairs_with_scores_above_32_bits_are_refused() {
        let mut store = SequenceStore::builder(Alphabet::Dna);
        for (name, letter) in [("one", b"A"), ("other", b"C")] {
            store.push_letters(name, letter.repeat(410_000)).unwrap();
        }
        let job = PairDistances { kind: PairDistance::Clustal, ..PairDistances::new(Arc::new(store.build())) };
        let pool = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap());
        let error = distances(&job, Some(Vec::new()), &pool, &Run::default()).unwrap_err();
        let message = error.to_string();
        assert!(message.contains("'one' of 410000 residues and 'other' of 410000 residues"), "{message}");
        assert!(message.contains("exceed 32 bits"), "{message}");
    }
}
