//! GPUs with little memory. Stores that pass through an engine stay within its budget. If a buffer
//! cannot be allocated, the batch is still computed or returned, but never lost, and the engine
//! continues to work.

use std::collections::VecDeque;
use std::sync::Arc;

use pairwave::Error;
use pairwave::edit::gpu::EditGpu;
use pairwave::edit::{EditBatch, EditBlock, EditChunk, TextRegions};
use pairwave::engine::{self, Engine, Ticket, Work};
use pairwave::gpu::engine::{GpuEngine, GpuKind};
use pairwave::gpu::kernels;
use pairwave::gpu::memory::MIN_BYTES;
use pairwave::jobs::{AllPairs, PairResult, Summary};
use pairwave::measure::self_test::edit::EditTest;
use pairwave::pairs::gpu::{Config, Survivors};
use pairwave::pairs::mock::compute_batch;
use pairwave::pairs::{self, Pairs, PairsBatch, PairsBlock, PairsChunk, PairsReport, ResultFilter};
use pairwave::score::{EditMode, EditScheme, Equality, IdentityDefinition, IdentityFilter, Limit, Scoring};
use pairwave::seq::{Alphabet, SequenceStore};
use support::check::assert_right;
use support::*;

/// Number of stores that pass through an engine. They do not all fit on the device, but the host
/// can hold them.
const STREAM: usize = 16;

/// Returns a store of five short sequences, and one sequence of `symbols` symbols that no batch
/// uses.
fn heavy_store(rng: &mut Rng, alphabet: Alphabet, symbols: usize) -> Arc<SequenceStore> {
    let mut sequences: Vec<_> = (0..5).map(|index| random_codes(rng, alphabet, 20 + 9 * index)).collect();
    sequences.push(vec![sequences[0][0]; symbols]);
    store(alphabet, &sequences)
}

/// Returns a batch of every query of a store against the five short sequences of another.
fn pairs_batch(queries: &Arc<SequenceStore>, targets: &Arc<SequenceStore>, filter: ResultFilter) -> Arc<PairsBatch> {
    let order: Vec<u32> = (0..5).rev().collect();
    let symbols: u64 = order.iter().map(|&id| u64::from(targets.length(id))).sum();
    let block = |query| PairsBlock { query, targets: 0..5, cells: u64::from(queries.length(query)) * symbols };
    let blocks = (0..5).map(block).collect();
    let (queries, targets) = (Arc::clone(queries), Arc::clone(targets));
    let scoring = Arc::new(Scoring::truong());
    let chunk = PairsChunk { queries, targets, order: order.into(), scoring, filter, earlier_is_query: false };
    Arc::new(PairsBatch { chunk: Arc::new(chunk), blocks })
}

/// Returns a batch of all pairs of a store.
fn pairs_of(store: &Arc<SequenceStore>, filter: ResultFilter) -> Arc<PairsBatch> {
    let job = job(store, Scoring::truong(), filter);
    let [batch]: [Arc<PairsBatch>; 1] = batches(&job, u64::MAX).try_into().expect("one batch");
    batch
}

fn edit_batch(patterns: &Arc<SequenceStore>, texts: &Arc<SequenceStore>) -> Arc<EditBatch> {
    let alphabet = texts.alphabet();
    let scheme = EditScheme { mode: EditMode::Global, equality: Equality::literal(alphabet), limit: Limit::None };
    let block = |pattern| EditBlock { pattern, regions: 0..5, cells: 5 * 40 * u64::from(patterns.length(pattern)) };
    let blocks = (0..2).map(block).collect();
    let [patterns, texts] = [patterns, texts].map(Arc::clone);
    let chunk = EditChunk::new(patterns, texts, Arc::new(scheme), TextRegions::Texts((0..5).collect()));
    Arc::new(EditBatch { chunk: Arc::new(chunk), blocks })
}

fn check_pairs(batch: &PairsBatch, report: &PairsReport) {
    let results = |report: &PairsReport| {
        let mut results: Vec<_> = report.hits.iter().map(|hit| (hit.query, hit.target, hit.score)).collect();
        results.sort();
        results
    };
    assert_eq!(report.unfinished, Vec::<usize>::new());
    assert_eq!(results(report), results(&compute_batch(batch)));
}

fn check_edit(batch: &EditBatch, report: &pairwave::edit::EditReport) {
    assert_eq!(report.unfinished, Vec::<usize>::new());
    let test = EditTest::new([Arc::new(batch.clone())]);
    assert_right(&test, &report.distances.clone().into_each(), "a stream of batches");
}

/// Sends batches through an engine, as many at once as it accepts. Fails if the budget is exceeded
/// at any time.
fn stream<K: GpuKind>(
    gpu: &mut GpuEngine<K>,
    batches: impl Iterator<Item = Arc<engine::Batch<K>>>,
    check: impl Fn(&engine::Batch<K>, &K::Report),
) {
    let mut in_flight: VecDeque<(Ticket, Arc<engine::Batch<K>>)> = VecDeque::new();
    let collect = |gpu: &mut GpuEngine<K>, (ticket, batch): (Ticket, Arc<engine::Batch<K>>)| {
        let report = gpu.collect(ticket).expect("the device answers");
        check(&batch, &report);
    };
    for batch in batches {
        if in_flight.len() == gpu.capacity().batches {
            let oldest = in_flight.pop_front().expect("one is in flight");
            collect(gpu, oldest);
        }
        let ticket = gpu.submit(Arc::clone(&batch)).expect("the batch suits");
        in_flight.push_back((ticket, batch));
        let (bytes, budget) = (gpu.residents().bytes(), gpu.residents().budget());
        assert!(bytes > 0 && bytes <= budget, "{bytes} bytes of {budget}");
    }
    in_flight.into_iter().for_each(|flight| collect(gpu, flight));
}

#[test]
fn stores_of_pairs_stay_within_the_budget() {
    let mut rng = rng(0x5701);
    let mut gpu = gpu_checked().with_memory(MIN_BYTES);
    let symbols = (gpu.capacity().store_bytes / 2) as usize;
    let stores: Vec<_> = (0..STREAM).map(|_| heavy_store(&mut rng, Alphabet::Dna, symbols)).collect();
    let all: u64 = stores.iter().map(|store| store.packed_bytes().len() as u64).sum();
    assert!(all > 2 * gpu.residents().budget() - 16, "{all} bytes would fit");
    // The first store has the queries of every batch. The others follow, some of them twice.
    let others = (1..STREAM).chain(2..5).chain([STREAM - 1, 1]);
    stream(&mut gpu, others.map(|other| pairs_batch(&stores[0], &stores[other], ResultFilter::Scores)), check_pairs);
    // For stores larger than a buffer every batch uploads the sequences that it needs.
    let mut gpu = gpu_checked().with_memory(MIN_BYTES).with_store_limit(1 << 10);
    let twice = [1, 2, 1].map(|other| pairs_batch(&stores[0], &stores[other], ResultFilter::Scores));
    stream(&mut gpu, twice.into_iter(), check_pairs);
    assert!(gpu.residents().bytes() < 4 << 10);
}

#[test]
fn stores_that_the_host_drops_leave_the_device() {
    let mut rng = rng(0x5702);
    let mut gpu = gpu_checked();
    let short = heavy_store(&mut rng, Alphabet::Dna, 1);
    let passing =
        (0..6).map(|_| pairs_batch(&short, &heavy_store(&mut rng, Alphabet::Dna, 100_000), ResultFilter::Scores));
    stream(&mut gpu, passing, check_pairs);
    assert!(gpu.residents().bytes() < 400_000, "{} bytes", gpu.residents().bytes());
}

#[test]
fn texts_stay_within_the_budget() {
    let mut rng = rng(0x5703);
    let mut gpu = EditGpu::open(&adapter()).expect("the adapter opens").with_memory(MIN_BYTES);
    let symbols = (gpu.residents().budget() / 5) as usize;
    let stores: Vec<_> = (0..STREAM).map(|_| heavy_store(&mut rng, Alphabet::Bytes, symbols)).collect();
    let patterns = heavy_store(&mut rng, Alphabet::Bytes, 1);
    let order = (0..STREAM).chain(3..6).chain([STREAM - 1, 0]);
    stream(&mut gpu, order.map(|text| edit_batch(&patterns, &stores[text])), check_edit);
}

/// Computes a batch on an engine while allocations of buffers with a label fail: `count` of them,
/// after `after` successful ones. Returns the number of failures, and whether the batch was
/// computed.
fn computed_in_shortage<K: GpuKind>(
    mut gpu: GpuEngine<K>,
    batch: &Arc<engine::Batch<K>>,
    (label, after, count): (&'static str, u64, u64),
    check: impl Fn(&engine::Batch<K>, &K::Report),
) -> (u64, bool) {
    gpu.gpu().feign_shortage(label, after, count);
    let submitted = gpu.submit(Arc::clone(batch));
    let refused = gpu.gpu().refused_buffers();
    let is_done = match submitted {
        Ok(ticket) => {
            check(batch, &gpu.collect(ticket).expect("the device answers"));
            true
        }
        Err(Error::Unsuited { .. }) => {
            assert!(count > 1, "once is no reason to refuse a batch");
            assert!(gpu.capacity().pairs <= batch.pairs() / 2, "the next batch should be smaller");
            false
        }
        Err(error) => panic!("buffer {after}: {error}"),
    };
    // The engine continues to work afterwards.
    gpu.gpu().feign_shortage("", 0, 0);
    let ticket = gpu.submit(Arc::clone(batch)).expect("there is memory again");
    check(batch, &gpu.collect(ticket).expect("the device answers"));
    (refused, is_done)
}

fn check_refusal_of_each_buffer<K: GpuKind>(
    open: impl Fn() -> GpuEngine<K>,
    batch: &Arc<engine::Batch<K>>,
    check: impl Fn(&engine::Batch<K>, &K::Report) + Copy,
) {
    // Refuses each buffer of the batch once.
    let mut buffers = 0;
    while let (refused @ 1.., is_done) = computed_in_shortage(open(), batch, ("", buffers, 1), check) {
        assert!(refused == 1 && is_done);
        buffers += 1;
    }
    assert!(buffers >= 7, "{buffers} buffers only");
    // Refuses all buffers from a certain one on, so that some are refused twice.
    for after in [0, buffers / 2, buffers - 1] {
        let (refused, is_done) = computed_in_shortage(open(), batch, ("", after, u64::MAX), check);
        assert!(refused >= 2 && !is_done);
    }
}

#[test]
fn pairs_are_computed_if_a_buffer_is_refused() {
    let mut rng = rng(0x5704);
    let [queries, targets] = [1, 1].map(|symbols| heavy_store(&mut rng, Alphabet::Dna, symbols));
    let batch = pairs_batch(&queries, &targets, ResultFilter::Scores);
    check_refusal_of_each_buffer(|| kernel_checked("nw_slice"), &batch, check_pairs);
    // With less scratch memory, the batch takes more rounds.
    let short = ("scratch", 0, 3);
    assert_eq!(computed_in_shortage(kernel_checked("nw_slice"), &batch, short, check_pairs), (3, true));
}

#[test]
fn alignments_are_computed_if_a_buffer_is_refused() {
    let mut rng = rng(0x5705);
    let [queries, targets] = [1, 1].map(|symbols| heavy_store(&mut rng, Alphabet::Dna, symbols));
    let batch = pairs_batch(&queries, &targets, ResultFilter::Alignments);
    check_refusal_of_each_buffer(|| kernel_checked("nw_rows"), &batch, check_pairs);
    // The batch is computed with smaller arenas, or with a kernel that has none.
    let short = ("arena", 0, 4);
    assert_eq!(computed_in_shortage(kernel_checked("nw_rows"), &batch, short, check_pairs), (4, true));
    let short = ("arena", 0, u64::MAX);
    assert!(!computed_in_shortage(kernel_checked("nw_rows"), &batch, short, check_pairs).1);
    let any = || with_matrix(gpu_default(), SMALL_SHAPE);
    let (refused, is_done) = computed_in_shortage(any(), &batch, short, check_pairs);
    assert!(is_done && refused > 2, "{refused} arenas refused: another kernel should compute it");
}

#[test]
fn distances_are_computed_if_a_buffer_is_refused() {
    let mut rng = rng(0x5706);
    let [patterns, texts] = [1, 1].map(|symbols| heavy_store(&mut rng, Alphabet::Dna, symbols));
    let open = || {
        let gpu = EditGpu::open(&adapter()).expect("the adapter opens");
        gpu.with_kernel(Some(kernels::find("myers_thread").unwrap())).with_runtime_checks()
    };
    check_refusal_of_each_buffer(open, &edit_batch(&patterns, &texts), check_edit);
}

#[test]
fn results_that_cannot_be_read_back_are_unfinished() {
    // Many pairs pass the filter, so that the second copy needs more memory than the first.
    let store = store(Alphabet::Dna, &vec![vec![1, 2, 4, 8]; 560]);
    let filter = IdentityFilter::new(IdentityDefinition::default(), 0.5, &Scoring::truong());
    let batch = pairs_of(&store, ResultFilter::Reaching(Arc::new(filter)));
    let mut gpu = kernel_checked("nw_slice");
    for refused in [1, 0] {
        let ticket = gpu.submit(Arc::clone(&batch)).expect("the batch suits");
        gpu.gpu().feign_shortage("", 0, refused);
        let report = gpu.collect(ticket).expect("the device answers");
        Pairs::check(&batch, &report).expect("the report is valid");
        let (blocks, pairs) = if refused > 0 { (batch.blocks.len(), 0) } else { (0, 560 * 559 / 2) };
        assert_eq!((report.unfinished.len(), report.hits.len()), (blocks, pairs));
    }
    assert_eq!(gpu.gpu().refused_buffers(), 1);
}

#[test]
fn host_aligns_survivors_if_a_buffer_is_refused() {
    let sequences = [&[1, 2, 4, 8, 1, 1][..], &[1, 2, 4, 8, 8, 1], &[1, 2, 4, 1], &[8, 8, 8]];
    let store = store(Alphabet::Dna, &sequences.map(<[u8]>::to_vec));
    let filter = IdentityFilter::new(IdentityDefinition::default(), 0.5, &Scoring::truong());
    let batch = pairs_of(&store, ResultFilter::Reaching(Arc::new(filter)));
    let mut refusals = 0;
    loop {
        let mut gpu = kernel_checked("nw_slice").with_survivors(Survivors::OnDevice);
        let mut compute = |refuse: Option<u64>| {
            let tickets = [0, 1].map(|_| gpu.submit(Arc::clone(&batch)).expect("the batch suits"));
            if let Some(after) = refuse {
                gpu.gpu().feign_shortage("", after, 1);
            }
            let reports = tickets.map(|ticket| gpu.collect(ticket).expect("the device answers"));
            gpu.gpu().feign_shortage("", 0, 0);
            (reports, gpu.gpu().refused_buffers())
        };
        let (reports, refused) = compute(Some(refusals));
        let (later, _) = compute(None);
        let mut traced = Vec::new();
        for report in reports.iter().chain(&later) {
            Pairs::check(&batch, report).expect("the report is valid");
            assert_eq!(report.unfinished, Vec::<usize>::new(), "nothing was lost");
            assert!(report.hits.iter().any(|hit| (hit.query, hit.target) == (0, 1)));
            traced.push(report.traced.spans.len() == report.hits.len());
        }
        if refused == 0 {
            assert_eq!(traced, [true; 4]);
            break;
        }
        // After a refusal the engine starts no second batches.
        assert_eq!(traced[2..], [false; 2], "after refusal {refusals}");
        assert_ne!(traced[..2], [true; 2], "after refusal {refusals}");
        refusals += 1;
    }
    assert!(refusals > 4, "{refusals} buffers were refused");
}

#[test]
fn buffer_above_the_device_limit_is_refused() {
    let gpu = gpu_checked();
    let most = gpu.gpu().device.limits().max_buffer_size;
    let error = gpu.gpu().buffer("too much", most + 1, wgpu::BufferUsages::STORAGE).expect_err("it is too large");
    assert!(matches!(error, Error::Device { .. }), "{error}");
    assert_eq!(gpu.gpu().refused_buffers(), 1);
}

fn run(job: &AllPairs, engine: Box<dyn Engine<Pairs>>) -> (Vec<PairResult>, Summary) {
    run_on(job, vec![engine], &two_threads()).expect("the job ends well")
}

#[test]
fn job_is_correct_if_memory_is_short() {
    warnings::record("warn");
    let mut rng = rng(0x5707);
    let lengths: Vec<usize> = (0..40).map(|index| 5 + (index * 7) % 60).collect();
    let store = mixed_store(&mut rng, Alphabet::Dna, &lengths);
    let job = AllPairs { check: true, ..AllPairs::new(store, Arc::new(Scoring::truong())) };
    let (expected, _) = run(&job, Box::new(cpu()));
    for (count, engines) in [(1, 1), (u64::MAX, 2)] {
        let adapter = adapter_called(&format!("short of {count}"));
        let gpu = pairs::gpu::PairsGpu::open(&adapter, Config::default()).expect("the adapter opens");
        gpu.gpu().feign_shortage("", 4, count);
        let (results, summary) = run(&job, Box::new(gpu));
        assert!(results == expected, "the results are not the CPU's");
        let lost = summary.engines.iter().filter(|engine| engine.lost.is_some()).count();
        assert_eq!((summary.engines.len(), lost), (engines, 0));
        let lines = warnings::lines_with(&format!("'short of {count}'"));
        let of_memory = lines.iter().filter(|line| line.contains("freeing unused memory")).count();
        assert_eq!((of_memory, lines.len()), (1, engines), "{lines:?}");
    }
}
