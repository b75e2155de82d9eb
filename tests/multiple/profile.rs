//! Tests of profile alignment on a GPU. The device and the recursion must find the same rectangles,
//! and the GPU and the CPU the same alignments. Other engines must compute the pairs that do not
//! fit on the device.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pairwave::Error;
use pairwave::engine::owner::Control;
use pairwave::engine::thread_engine::{ThreadEngine, thread_engines};
use pairwave::engine::{Batch, Engine, Work};
use pairwave::profile::gpu::{ProfileGpu, ProfileShape};
use pairwave::profile::work::{
    ProfileBatch, ProfileBlock, ProfileChunk, ProfileMerge, ProfilePair, ProfileReport, ProfileWork,
};
use pairwave::profile::{
    Guide, Penalties, ProfileEngines, ProfileOptions, Progressive, ProgressiveRun, align, align_on,
};
use pairwave::seq::{Alphabet, SequenceStore};
use pairwave::simd::InstructionSet;
use pairwave::tree::{GuideTree, Join};
use support::{Rng, rng};

/// Kernel sizes that are small enough for short profiles to reach every boundary.
const SMALL: ProfileShape = ProfileShape { workgroup: 2, columns: 4, cross: 4, least_rows: 1 };

fn pool() -> Arc<rayon::ThreadPool> {
    Arc::new(rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("a pool"))
}

fn engine() -> ProfileGpu {
    ProfileGpu::open(&support::adapter()).expect("the adapter opens").with_runtime_checks()
}

/// Creates two random profiles with numbers up to `most`. Columns are repeated, so that few are
/// distinct.
fn pair(rng: &mut Rng, lengths: [usize; 2], letters: usize, most: i32) -> ProfilePair {
    let below = |rng: &mut Rng, limit: i32| rng.below(limit.max(1) as usize) as i32;
    let mut costs = |length: usize, most: i32| -> Vec<i32> {
        (0..length + 2).map(|k| if 0 < k && k < length { 1 + below(rng, most) } else { 0 }).collect()
    };
    let penalties = lengths.map(|length| Penalties { open: costs(length, most), extend: costs(length, 1 + most / 20) });
    let mut columns = |length: usize, least: i32, most: i32| -> Vec<i32> {
        let kinds = 1 + rng.below(40_usize);
        let kinds: Vec<i32> = (0..kinds * letters).map(|_| least + below(rng, most + 1 - least)).collect();
        let kind = |_| rng.below(kinds.len() / letters);
        (0..length)
            .map(kind)
            .collect::<Vec<_>>()
            .iter()
            .flat_map(|kind| &kinds[kind * letters..][..letters])
            .copied()
            .collect()
    };
    let scored = columns(lengths[0], -most / 3, most);
    let tenths = columns(lengths[1], -3, 10);
    ProfilePair { penalties, scored, tenths, letters }
}

fn batch(pairs: Vec<ProfilePair>) -> Arc<ProfileBatch> {
    let chunk = ProfileChunk { pool: pool(), instructions: InstructionSet::best() };
    let blocks = pairs.into_iter().enumerate().map(|(number, pair)| ProfileBlock { number, pair: Arc::new(pair) });
    Arc::new(Batch { chunk: Arc::new(chunk), blocks: blocks.collect() })
}

fn compute(engine: &mut dyn Engine<ProfileWork>, batch: &Arc<ProfileBatch>) -> ProfileReport {
    let ticket = engine.submit(Arc::clone(batch)).expect("the batch suits");
    let report = engine.collect(ticket).expect("the device answers");
    ProfileWork::check(batch, &report).expect("the report can be right");
    assert!(report.unfinished.is_empty());
    report
}

/// Compares the paths of a report with those of the recursion. Returns the number of rectangles
/// that the device divided.
fn assert_paths(batch: &ProfileBatch, report: &ProfileReport, what: &str) -> usize {
    let mut crossings = 0;
    for (block, merged) in batch.blocks.iter().zip(&report.merged) {
        let expected = block.pair.path(InstructionSet::PORTABLE, &|| false).expect("nobody stops it");
        let ProfileMerge::Divided(divided) = merged else { panic!("{what}: a whole path") };
        crossings += divided.0.iter().flatten().count();
        let path = block.pair.complete_alignment(divided, InstructionSet::best(), &|| false).expect("nobody stops it");
        assert_eq!(path, expected, "{what}: {:?} columns", block.pair.columns());
    }
    crossings
}

#[test]
fn rectangles_equal_the_recursion() {
    let rng = &mut rng(61);
    let mut engine = engine().with_shape(SMALL);
    let lengths = [
        [0, 0],
        [0, 5],
        [5, 0],
        [1, 1],
        [1, 9],
        [9, 1],
        [2, 1],
        [2, 2],
        [2, 9],
        [3, 4],
        [7, 8],
        [8, 7],
        [8, 8],
        [9, 9],
        [15, 16],
        [16, 17],
        [17, 15],
        [33, 30],
        [40, 61],
        [100, 3],
        [3, 100],
    ];
    for (round, (letters, most)) in [(1, 2), (5, 2000), (4, 3), (23, 900), (24, 100_000)].into_iter().enumerate() {
        let batch = batch(lengths.iter().map(|&lengths| pair(rng, lengths, letters, most)).collect());
        let crossings = assert_paths(&batch, &compute(&mut engine, &batch), &format!("round {round}"));
        // The device divides every rectangle with columns and more than one row.
        assert!(crossings > 100, "{crossings}");
    }
}

#[test]
fn kernel_sizes_do_not_change_results() {
    let rng = &mut rng(62);
    let usual = engine().shape();
    for (shape, letters) in
        [(usual, 5), (usual, 22), (ProfileShape { workgroup: 8, columns: 20, cross: 16, least_rows: 30 }, 9)]
    {
        let lengths = [[300, 200], [129, 128], [65, 400], [64, 70], [257, 129], [500, 640]];
        let batch = batch(lengths.iter().map(|&lengths| pair(rng, lengths, letters, 700)).collect());
        let crossings = assert_paths(&batch, &compute(&mut engine().with_shape(shape), &batch), &format!("{shape:?}"));
        assert!(crossings > 5, "{crossings}");
    }
}

#[test]
fn small_rectangles_need_no_launch() {
    let rng = &mut rng(66);
    for lengths in [[1, 1], [1, 200], [30, 40], [2, 2]] {
        let batch = batch(vec![pair(rng, lengths, 5, 100)]);
        assert_paths(&batch, &compute(&mut engine(), &batch), &format!("{lengths:?}"));
    }
}

#[test]
fn oversized_profiles_are_retried_or_refused() {
    let rng = &mut rng(63);
    let batch = batch((0..3).map(|_| pair(rng, [30, 40], 5, 100)).collect());
    for label in ["problems", "data", "nodes", "rows", "columns", "corners", "staging"] {
        let mut engine = engine().with_shape(SMALL);
        engine.gpu().feign_shortage(label, 0, 1);
        assert_paths(&batch, &compute(&mut engine, &batch), label);
        let mut engine = self::engine().with_shape(SMALL);
        engine.gpu().feign_shortage(label, 0, u64::MAX);
        let error = engine.submit(Arc::clone(&batch)).expect_err("there is no memory");
        assert!(matches!(error, Error::Unsuited { .. }), "{label}: {error}");
    }
}

#[test]
fn large_numbers_are_refused() {
    let rng = &mut rng(64);
    let usual = pair(rng, [30, 40], 5, 100);
    let mut tenths = usual.clone();
    tenths.tenths[7] = 128;
    let mut opening = usual.clone();
    opening.penalties[0].open[3] = 1 << 29;
    let mut scored = usual.clone();
    scored.scored[11] = 1 << 26;
    let letters = pair(rng, [30, 40], 29, 100);
    for (what, pair) in [("tenths", tenths), ("opening", opening), ("scored", scored), ("letters", letters)] {
        let error = engine().submit(batch(vec![usual.clone(), pair])).expect_err("it does not fit");
        assert!(matches!(error, Error::Unsuited { .. }), "{what}: {error}");
    }
}

/// The sequences of a family and their guide tree.
struct Case {
    store: SequenceStore,
    tree: GuideTree,
    weights: Vec<i32>,
}

impl Case {
    /// Creates a random tree. The similarity is derived from sequence numbers, so that some
    /// sequences are delayed.
    fn random(rng: &mut Rng, alphabet: Alphabet, sequences: usize, length: usize) -> Case {
        let lengths: Vec<usize> = (0..sequences).map(|_| length / 2 + rng.below(length)).collect();
        let mut store = SequenceStore::builder(alphabet);
        for codes in support::clustal::family(rng, alphabet, &lengths) {
            store.push("s", &codes).expect("codes of the alphabet");
        }
        let mut open: Vec<u32> = (0..sequences as u32).collect();
        let mut joins = Vec::new();
        while open.len() > 1 {
            let children = [0, 1].map(|_| open.swap_remove(rng.below(open.len())));
            open.push((sequences + joins.len()) as u32);
            joins.push(Join { children, lengths: [0.1; 2] });
        }
        let weights = (0..sequences).map(|_| 1 + rng.below(400_usize) as i32).collect();
        Case { store: store.build(), tree: GuideTree { leaves: sequences, joins }, weights }
    }

    fn with_guide<T>(
        &self,
        stopped: &(dyn Fn() -> bool + Sync),
        run: impl FnOnce(&Guide, &ProfileOptions, &ProgressiveRun, Arc<rayon::ThreadPool>) -> T,
    ) -> T {
        let likeness = |a: usize, b: usize| if a % 7 == 6 || b % 7 == 6 { 20.0 } else { 40.0 + ((a + b) % 50) as f64 };
        let guide = Guide { tree: &self.tree, weights: &self.weights, likeness: &likeness };
        let pool = pool();
        let control =
            ProgressiveRun { threads: &pool, instructions: InstructionSet::best(), stopped, progress: &|_, _| {} };
        run(&guide, &ProfileOptions::new(self.store.alphabet()), &control, Arc::clone(&pool))
    }

    fn on_cpu(&self) -> Progressive {
        self.with_guide(&|| false, |guide, options, run, _| align(&self.store, guide, options, run)).expect("it aligns")
    }

    fn align_on(&self, engines: Vec<Box<dyn Engine<ProfileWork>>>, least_cells: u64) -> (Progressive, Vec<u64>) {
        let (aligned, ran) = self
            .with_guide(&|| false, |guide, options, run, pool| {
                let engines = ProfileEngines { engines, control: Control::default(), pool, least_cells };
                align_on(&self.store, guide, options, run, engines)
            })
            .expect("it aligns");
        ran.engines
            .iter()
            .for_each(|engine| println!("{}: {} pairs, lost: {:?}", engine.name, engine.pairs, engine.lost));
        (aligned, ran.engines.iter().map(|engine| engine.pairs).collect())
    }
}

fn boxed(gpu: ProfileGpu) -> Box<dyn Engine<ProfileWork>> {
    Box::new(gpu)
}

#[test]
fn alignments_do_not_depend_on_engines() {
    let rng = &mut rng(65);
    for alphabet in [Alphabet::Dna, Alphabet::Protein] {
        let case = Case::random(rng, alphabet, 24, 60);
        let expected = case.on_cpu();
        let small = || engine().with_shape(SMALL);
        let (aligned, pairs) = case.align_on(vec![boxed(small())], 0);
        assert_eq!(aligned, expected);
        // 20 joins are left, because three sequences are delayed.
        assert_eq!(pairs, [20]);
        let (aligned, pairs) = case.align_on(vec![boxed(small()), boxed(small())], 0);
        assert_eq!((aligned, pairs.iter().sum::<u64>()), (expected.clone(), 20));
        let mut both = thread_engines(2, &Arc::default());
        both.push(boxed(engine()));
        let (aligned, pairs) = case.align_on(both, 0);
        assert_eq!((aligned, pairs.iter().sum::<u64>()), (expected.clone(), 20));
        let (aligned, pairs) = case.align_on(vec![boxed(engine())], 3000);
        assert_eq!(aligned, expected);
        assert!(pairs[0] > 0 && pairs[0] < 20, "{pairs:?}");
    }
}

#[test]
fn refused_profiles_go_to_the_cpu() {
    let case = Case::random(&mut rng(66), Alphabet::Protein, 12, 40);
    let gpu = engine().with_shape(SMALL);
    gpu.gpu().feign_shortage("data", 0, u64::MAX);
    let (aligned, pairs) = case.align_on(vec![boxed(gpu)], 0);
    assert_eq!(aligned, case.on_cpu());
    // The reserve engine is listed after the other engine.
    assert_eq!(pairs, [0, 10]);
}

/// An engine that fails after a given number of batches.
struct Failing(ThreadEngine<ProfileWork>, usize);

impl Engine<ProfileWork> for Failing {
    fn name(&self) -> &str {
        "failing"
    }

    fn capacity(&self) -> pairwave::engine::Capacity {
        self.0.capacity()
    }

    fn submit(&mut self, batch: Arc<ProfileBatch>) -> pairwave::error::Result<pairwave::engine::Ticket> {
        self.0.submit(batch)
    }

    fn collect(&mut self, ticket: pairwave::engine::Ticket) -> pairwave::error::Result<ProfileReport> {
        self.1 = self.1.checked_sub(1).ok_or_else(|| Error::Internal("it is over".into()))?;
        self.0.collect(ticket)
    }
}

#[test]
fn failing_or_wrong_engine_is_dropped() {
    let case = Case::random(&mut rng(67), Alphabet::Dna, 12, 40);
    let expected = case.on_cpu();
    for batches in [0, 3] {
        let failing: Box<dyn Engine<ProfileWork>> = Box::new(Failing(ThreadEngine::default(), batches));
        let (aligned, pairs) = case.align_on(vec![failing], 0);
        assert_eq!((aligned, pairs[0]), (expected.clone(), batches as u64));
    }
    // The changed shader reports crossings after the last column.
    let lying = engine()
        .with_rewritten_shaders(Box::new(|text| text.replace("].column = column;", "].column = column + 9999u;")));
    let (aligned, pairs) = case.align_on(vec![boxed(lying.with_shape(SMALL))], 0);
    assert_eq!((aligned, pairs[0]), (expected, 0));
}

#[test]
fn alignment_stops_when_requested() {
    let case = Case::random(&mut rng(68), Alphabet::Protein, 12, 40);
    for patience in [0, 1, 5, 40] {
        let asked = std::sync::atomic::AtomicUsize::new(0);
        let stopped = || asked.fetch_add(1, Ordering::Relaxed) >= patience;
        let ended = case.with_guide(&stopped, |guide, options, run, pool| {
            let engines = vec![boxed(engine().with_shape(SMALL))];
            let engines = ProfileEngines { engines, control: Control::default(), pool, least_cells: 0 };
            align_on(&case.store, guide, options, run, engines)
        });
        assert!(matches!(ended, Err(Error::Interrupted)), "{patience}");
    }
    let interrupt = Arc::new(AtomicBool::new(true));
    let ended = case.with_guide(&|| interrupt.load(Ordering::Relaxed), |guide, options, run, pool| {
        let control = Control { interrupt: Arc::clone(&interrupt), ..Control::default() };
        let engines = thread_engines(1, &interrupt);
        align_on(&case.store, guide, options, run, ProfileEngines { engines, control, pool, least_cells: 0 })
    });
    assert!(matches!(ended, Err(Error::Interrupted)));
}

#[test]
fn scores_beyond_32_bits_are_an_error() {
    let mut store = SequenceStore::builder(Alphabet::Dna);
    (0..2).for_each(|_| store.push_letters("", [b'A'; 300_000]).expect("letters"));
    let tree = GuideTree { leaves: 2, joins: vec![Join { children: [0, 1], lengths: [0.1; 2] }] };
    let case = Case { store: store.build(), tree, weights: vec![500; 2] };
    let ended = case.with_guide(&|| false, |guide, options, run, pool| {
        let engines = thread_engines(1, &Arc::default());
        align_on(
            &case.store,
            guide,
            options,
            run,
            ProfileEngines { engines, control: Control::default(), pool, least_cells: 0 },
        )
    });
    assert_eq!(ended.expect_err("they do not fit").exit_code(), 2);
}
