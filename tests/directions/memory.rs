//! Limited memory and limited loops. Scores are returned without alignments, or the batch is
//! refused. Jobs are correct in both cases.

use std::sync::atomic::{AtomicUsize, Ordering};

use pairwave::Error;
use pairwave::engine::{Capacity, Ticket};
use pairwave::jobs::{AllPairs, PairResult, Summary};
use pairwave::pairs::Pairs;
use pairwave::pairs::PairsReport;
use pairwave::trace::{Hint, TracebackWorkspace, traceback};

use super::*;

/// An engine that counts its results: alignments, pairs without an alignment, and refused batches.
struct Counted {
    gpu: PairsGpu,
    counts: Arc<[AtomicUsize; 3]>,
}

impl Engine<Pairs> for Counted {
    fn name(&self) -> &str {
        self.gpu.name()
    }

    fn capacity(&self) -> Capacity {
        self.gpu.capacity()
    }

    fn submit(&mut self, batch: Arc<PairsBatch>) -> pairwave::Result<Ticket> {
        let result = self.gpu.submit(batch);
        self.counts[2].fetch_add(result.is_err() as usize, Ordering::Relaxed);
        result
    }

    fn collect(&mut self, ticket: Ticket) -> pairwave::Result<PairsReport> {
        let report = self.gpu.collect(ticket)?;
        for index in 0..report.hits.len() {
            let is_bare = report.traced.cigar(index).is_none();
            self.counts[is_bare as usize].fetch_add(1, Ordering::Relaxed);
        }
        Ok(report)
    }
}

/// Returns the results of a job on one engine.
fn run(store: &Arc<SequenceStore>, scoring: &Scoring, engine: Box<dyn Engine<Pairs>>) -> (Vec<PairResult>, Summary) {
    let job = AllPairs { check: true, ..AllPairs::new(Arc::clone(store), Arc::new(scoring.clone())) };
    run_on(&job, vec![engine], &two_threads()).expect("the job ends well")
}

/// Runs a job on the GPU and compares the results with the CPU. Returns four numbers: alignments
/// that the device traced, pairs that it did not trace, batches that it refused, and engines.
fn run_counted(store: &Arc<SequenceStore>, scoring: &Scoring, gpu: PairsGpu) -> ([usize; 3], usize) {
    let counts = Arc::new([const { AtomicUsize::new(0) }; 3]);
    let (results, summary) = run(store, scoring, Box::new(Counted { gpu, counts: Arc::clone(&counts) }));
    let (expected, _) = run(store, scoring, Box::new(cpu()));
    assert!(results == expected, "the job's results are not the CPU's");
    (counts.each_ref().map(|count| count.load(Ordering::Relaxed)), summary.engines.len())
}

/// Directions do not fit in memory: scores are returned alone, and the job traces back.
fn pairs_without_space_for_directions_are_traced_on_the_host(stem: &str) {
    let mut rng = rng(0xd1f);
    for scoring in six_scorings(&Scoring::truong()) {
        let store = mixed_store(&mut rng, Alphabet::Dna, &[120, 130, 118, 140, 119]);
        let batch = one_batch(&store, &scoring);
        let bytes = largest_task_bytes(stem, &SMALL_SHAPE, &batch, false);
        assert!(largest_task_bytes(stem, &SMALL_SHAPE, &batch, true) > bytes);
        let narrow = || kernel_checked(stem).with_arenas(bytes, bytes);
        let actual = compute_traced(&mut narrow(), &[batch]);
        assert_eq!(check_some_traced(&store, &scoring, &actual), 10);
        assert!(actual.iter().all(|(_, cigar)| cigar.is_none()), "there was no room for this");
        let (counts, engines) = run_counted(&store, &scoring, narrow());
        assert_eq!((counts, engines), ([0, 10, 0], 1), "the device gives values, and nobody else is needed");
    }
}

/// Borders do not fit in memory: the batch is refused, and the job falls back to the CPU.
fn batches_without_space_for_borders_are_refused(stem: &str) {
    let mut rng = rng(0xb02d);
    for scoring in six_scorings(&Scoring::truong()) {
        let store = mixed_store(&mut rng, Alphabet::Dna, &[120, 130, 118, 140, 119]);
        let batch = one_batch(&store, &scoring);
        let bytes = largest_task_bytes(stem, &SMALL_SHAPE, &batch, false) - 16;
        let narrow = || kernel_checked(stem).with_arenas(bytes, bytes);
        let error = narrow().submit(batch).expect_err("a quad is missing");
        assert!(matches!(error, Error::Unsuited { .. }), "{error}");
        let ([_, _, refused], engines) = run_counted(&store, &scoring, narrow());
        assert!(refused > 0 && engines == 2, "{refused} batches were refused, {engines} engines took part");
    }
}

/// The output has no space for all runs: some pairs are returned without an alignment, the others
/// with the correct one.
fn pairs_without_space_for_runs_are_traced_on_the_host(stem: &str) {
    let mut rng = rng(0x20035);
    let lengths: Vec<usize> = (0..40).map(|index| 90 + index % 20).collect();
    for scoring in six_scorings(&Scoring::truong()) {
        // Unrelated sequences have many runs.
        let sequences: Vec<_> = lengths.iter().map(|&length| random_codes(&mut rng, Alphabet::Dna, length)).collect();
        let store = store(Alphabet::Dna, &sequences);
        let narrow = || kernel_checked(stem).with_memory(2 << 20);
        let actual = compute_traced(&mut narrow(), &[one_batch(&store, &scoring)]);
        assert_eq!(check_some_traced(&store, &scoring, &actual), 780);
        let traced = actual.iter().filter(|(_, cigar)| cigar.is_some()).count();
        assert!(traced > 100 && traced < 780, "{traced} of 780 had room");
        let ([traced, bare, refused], engines) = run_counted(&store, &scoring, narrow());
        assert!(traced + bare == 780 && bare > 0 && refused == 0 && engines == 1, "{traced}, {bare}, {refused}");
    }
}

/// Batches are refused if an adapter that counts loop iterations would stop them. All other results
/// must be correct.
fn batches_beyond_the_loop_limit_are_refused(stem: &str) {
    let mut rng = rng(0x10a6);
    let mut workspace = TracebackWorkspace::default();
    let mut engines = [(kernel_default(stem), MatrixKernelShape::default()), (kernel_checked(stem), SMALL_SHAPE)];
    for scoring in three_scorings(&Scoring::truong(), turn_of(stem)) {
        for length in [2000, 3000, 4000] {
            let ancestor = random_codes(&mut rng, Alphabet::Dna, length);
            let relative = mutated(&mut rng, Alphabet::Dna, &ancestor, 5);
            let store = store(Alphabet::Dna, &[ancestor, relative]);
            let batch = one_batch(&store, &scoring);
            let expected = traceback(store.codes(0), store.codes(1), &scoring, Hint::NONE, &mut workspace);
            let expected = expected.expect("it can be traced");
            for (engine, shape) in &mut engines {
                let ticket = match engine.submit(Arc::clone(&batch)) {
                    Ok(ticket) => ticket,
                    Err(Error::Unsuited { .. }) if adapter().is_software() => {
                        eprintln!("{length} symbols are refused, {:?} {:?}", scoring.gaps, scoring.end_gaps);
                        continue;
                    }
                    Err(error) => panic!("{error}"),
                };
                let report = engine.collect(ticket).expect("the batch is computed");
                let what = format!("{length} symbols, {:?} {:?}", scoring.gaps, scoring.end_gaps);
                assert_eq!(report.hits[0].score, expected.score, "{what}");
                assert_eq!(report.hits[0].matches, Some(expected.cigar.counts().matches), "{what}");
                match report.traced.cigar(0) {
                    Some(cigar) => assert!(cigar == expected.cigar, "{what}: another alignment"),
                    None => {
                        let needed = largest_task_bytes(stem, shape, &batch, true);
                        let limit = engine.gpu().device.limits().max_storage_buffer_binding_size;
                        assert!(needed > limit, "{what}: not traced, though {needed} bytes of {limit} were enough");
                    }
                }
            }
        }
    }
}

/// Tracebacks with very many steps, along gaps and through many runs, at the same time in all lanes
/// and in different lanes.
fn long_tracebacks_are_complete(stem: &str) {
    let mut rng = rng(0x10a7);
    let mut workspace = TracebackWorkspace::default();
    let subgroup = adapter().description.subgroup_sizes[1].clamp(4, 128);
    // With narrower tiles, there would be so many tiles that the tracebacks are a small part of the
    // work.
    let shape = MatrixKernelShape { subgroup_workgroup: subgroup, tile_workgroup: 16, ..SMALL_SHAPE };
    let mut engine = with_matrix(kernel_default(stem), shape);
    let mut computed = 0;
    for scoring in &three_scorings(&Scoring::truong(), turn_of(stem)) {
        for length in [4_000, 9_600, 14_600, 17_000] {
            // Short sequences with only the end symbols of a long one, so that all its other
            // symbols are in a gap, and unrelated sequences.
            let long = random_codes(&mut rng, Alphabet::Dna, length);
            let ends = [&long[..9], &long[length - 10..]].concat();
            let others = [40, 300].map(|length| random_codes(&mut rng, Alphabet::Dna, length));
            let [other, another] = others;
            let store = store(Alphabet::Dna, &[ends.clone(), other, long, another, ends]);
            let mut batch = PairsBatch::clone(&one_batch(&store, scoring));
            batch.blocks.retain(|block| block.query == 2);
            let ticket = match engine.submit(Arc::new(batch)) {
                Ok(ticket) => ticket,
                Err(Error::Unsuited { .. }) if adapter().is_software() => continue,
                Err(error) => panic!("{error}"),
            };
            let report = engine.collect(ticket).expect("the batch is computed");
            assert_eq!(report.hits.len(), 4);
            for (index, hit) in report.hits.iter().enumerate() {
                let (a, b) = (hit.query.min(hit.target), hit.query.max(hit.target));
                let expected = traceback(store.codes(a), store.codes(b), scoring, Hint::NONE, &mut workspace);
                let expected = expected.expect("it can be traced");
                let what = format!("{hit:?} of {length} symbols, {:?} {:?}", scoring.gaps, scoring.end_gaps);
                assert_eq!(hit.score, expected.score, "{what}");
                let cigar = report.traced.cigar(index).unwrap_or_else(|| panic!("{what}: not traced"));
                assert!(cigar == expected.cigar, "{what}: {cigar} instead of {}", expected.cigar);
            }
            computed += 1;
        }
    }
    assert!(computed > 0, "all were refused");
}

on_every_kernel! {
    long_tracebacks_are_complete, pairs_without_space_for_directions_are_traced_on_the_host, batches_without_space_for_borders_are_refused, pairs_without_space_for_runs_are_traced_on_the_host, batches_beyond_the_loop_limit_are_refused,
}
