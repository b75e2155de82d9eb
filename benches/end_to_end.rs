//! Whole jobs.
//!
//! `allpairs_gold200_97`: all pairs of assets/16s/gold200.fasta are read, filtered at 97% identity
//! and aligned, on the CPU and on the first hardware adapter if there is one.
//!
//! `allpairs_handover`: the host's work on results of an infinitely fast device: scores or
//! alignments of 240 runs of every pair are checked, put into input order, and written to a sink.
//! `ONLY_THREADS=N` in the environment measures a single number of threads.

use std::collections::HashMap;
use std::hint::black_box;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use pairwave::alignment::{Cigar, packed};
use pairwave::engine::buffer_pool::BufferPool;
use pairwave::engine::{Capacity, Engine, Ticket};
use pairwave::gpu::adapter::{Device, enumerate};
use pairwave::jobs::blocks::{BlockSink, Encode};
use pairwave::jobs::{AllPairs, Job, PairResult, Run};
use pairwave::output::{self, Contents, Context, Field, Output, OutputPair, PairFormat, PairWriter};
use pairwave::pairs::{PairHit, Pairs, PairsBatch, PairsReport};
use pairwave::score::{IdentityDefinition, Scoring};
use pairwave::seq::{Alphabet, ReadOptions, SequenceStore, read_files};

const GENES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/16s/gold200.fasta");

/// Runs the job and returns the number of pairs above the identity.
fn run(run: &Run) -> u64 {
    let stores = read_files(&[GENES], &ReadOptions::default()).expect("the genes can be read");
    let store = Arc::new(stores.into_iter().next().expect("one store a file"));
    let job = AllPairs { min_identity: Some(0.97), ..AllPairs::new(store, Arc::new(Scoring::truong())) };
    let mut identity_sum = 0.0;
    let summary = job.run(run, |pairs| {
        identity_sum += pairs.iter().map(|pair| pair.identity).sum::<f64>();
        Ok(())
    });
    let summary = summary.expect("the job runs");
    assert!(identity_sum >= 0.97 * summary.written as f64);
    summary.written
}

fn end_to_end(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("allpairs_gold200_97");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(10));
    group.throughput(Throughput::Elements(200 * 199 / 2));
    let adapters = enumerate().into_iter().filter(|found| !found.is_software()).take(1);
    let devices = adapters.map(|found| ("adapter", Device::Adapter(Box::new(found))));
    let mut written = Vec::new();
    for (name, device) in [("cpu", Device::Cpu)].into_iter().chain(devices) {
        let how = Run { devices: vec![device], ..Run::default() };
        group.bench_function(name, |bencher| bencher.iter(|| written.push(run(&how))));
    }
    group.finish();
    assert!(written.iter().all(|&pairs| pairs == written[0] && pairs > 0), "runs differ: {written:?}");
}

/// Length of every sequence in symbols.
const LENGTH: u32 = 1500;
/// Runs in every alignment.
const RUNS: usize = 240;
/// Number of pairs that the engine takes at once, about as many as a large GPU.
const PAIRS_A_BATCH: u64 = 1 << 17;

/// A device whose results are already computed.
struct Replay {
    /// A packed alignment of any two sequences; `None` if only scores are requested.
    alignment: Option<(Vec<u32>, u32)>,
    matches: u64,
    /// Memory for delivered alignments, as in a GPU's engine.
    words: BufferPool<u32>,
    waiting: HashMap<Ticket, Arc<PairsBatch>>,
    next: u64,
}

impl Replay {
    fn new(is_aligned: bool) -> Self {
        let gaps = ["1I", "1D"];
        let inner: String = (0..RUNS / 2 - 1).map(|at| format!("{}=1X", 10 + at % 3)).collect::<String>();
        let whole: Cigar = format!("{}{}", gaps.concat(), inner).parse().expect("an alignment");
        let rest = u64::from(LENGTH) - whole.query_span();
        let whole: Cigar = format!("{whole}{rest}=").parse().expect("an alignment");
        assert_eq!((whole.query_span(), whole.target_span()), (u64::from(LENGTH), u64::from(LENGTH)));
        let mut words = Vec::new();
        let (_, runs) = packed::pack(&whole, &mut words);
        let alignment = is_aligned.then_some((words, runs));
        let (words, waiting) = (BufferPool::default(), HashMap::new());
        Replay { alignment, matches: whole.counts().matches, words, waiting, next: 0 }
    }
}

impl Engine<Pairs> for Replay {
    fn name(&self) -> &str {
        "replay"
    }

    fn capacity(&self) -> Capacity {
        let cells = PAIRS_A_BATCH * u64::from(LENGTH) * u64::from(LENGTH);
        Capacity { cells, pairs: PAIRS_A_BATCH, store_bytes: u64::MAX, batches: 2 }
    }

    fn submit(&mut self, batch: Arc<PairsBatch>) -> pairwave::Result<Ticket> {
        self.next += 1;
        self.waiting.insert(Ticket(self.next), batch);
        Ok(Ticket(self.next))
    }

    fn collect(&mut self, ticket: Ticket) -> pairwave::Result<PairsReport> {
        let begin = Instant::now();
        let batch = self.waiting.remove(&ticket).expect("it was submitted");
        let pairs = batch.pairs() as usize;
        let mut report = PairsReport { hits: Vec::with_capacity(pairs), ..PairsReport::default() };
        for block in &batch.blocks {
            let targets = &batch.chunk.order[block.targets.start as usize..block.targets.end as usize];
            report.hits.extend(targets.iter().map(|&target| {
                let score = -i64::from((block.query ^ target) % 5000);
                let matches = self.alignment.as_ref().map(|_| self.matches);
                PairHit { query: block.query, target, score, matches }
            }));
        }
        if let Some((words, runs)) = &self.alignment {
            report.traced.spans = (0..pairs).map(|at| Some((at * words.len(), *runs))).collect();
            let mut all = self.words.take();
            all.reserve(pairs * words.len());
            (0..pairs).for_each(|_| all.extend_from_slice(words));
            report.traced.words = all;
        }
        report.kernel_time = Some(begin.elapsed());
        Ok(report)
    }
}

/// Counts written bytes.
#[derive(Clone, Default)]
struct Counted(Arc<AtomicU64>);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.fetch_add(black_box(bytes).len() as u64, Ordering::Relaxed);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes lines like the program does.
struct Lines<'a>(&'a mut dyn PairWriter);

impl BlockSink<PairResult> for Lines<'_> {
    fn rows(&mut self, rows: &[PairResult]) -> pairwave::Result<()> {
        rows.iter().try_for_each(|row| self.0.write(&OutputPair::from(row)))
    }

    fn end(&mut self) -> pairwave::Result<()> {
        Ok(())
    }

    fn encoder(&self) -> Option<Arc<dyn Encode<PairResult>>> {
        self.0.line_maker().map(|lines| Arc::new(lines) as Arc<dyn Encode<PairResult>>)
    }

    fn bytes(&mut self, bytes: &[u8]) -> pairwave::Result<()> {
        self.0.write_lines(bytes)
    }
}

/// Returns sequences of equal length.
fn sequences(count: usize) -> Arc<SequenceStore> {
    let mut store = SequenceStore::builder(Alphabet::Dna);
    let letters: Vec<u8> = b"ACGT".iter().copied().cycle().take(LENGTH as usize).collect();
    (0..count).for_each(|at| store.push_letters(format!("gene{at:06}"), &letters).expect("letters"));
    Arc::new(store.build())
}

/// Writes all pairs and returns the number of written bytes.
fn hand_over(store: &Arc<SequenceStore>, fields: &[&'static Field], score_only: bool, threads: usize) -> u64 {
    let counted = Counted::default();
    let scoring = Scoring::truong();
    let job = AllPairs { score_only, ..AllPairs::new(Arc::clone(store), Arc::new(scoring.clone())) };
    let (queries, targets) = (Arc::clone(store), Arc::clone(store));
    let contents = Contents { has_alignments: !score_only, ..Contents::default() };
    let context = Context { queries, targets, scoring, identity: IdentityDefinition::default(), contents };
    let format = PairFormat::Tsv(fields.to_vec());
    let mut writer = output::open(&format, context, Output::to_writer(counted.clone())).expect("a writer");
    writer.begin().expect("a header");
    let how = Run { threads, ..Run::default() };
    job.run_on_to(vec![Box::new(Replay::new(!score_only))], &how, &mut Lines(writer.as_mut())).expect("the job runs");
    writer.finish().expect("an end");
    counted.0.load(Ordering::Relaxed)
}

fn handover(criterion: &mut Criterion) {
    let all = std::thread::available_parallelism().map_or(1, |threads| threads.get());
    let only = std::env::var("ONLY_THREADS").ok().and_then(|threads| threads.parse().ok());
    let threads: Vec<usize> = only.map_or_else(|| vec![1, all], |threads| vec![threads]);
    let with_cigar = Field::parse_list("query,target,identity,score,cigar", false).expect("fields");
    let cases = [
        ("scores", 3000, Field::tsv_defaults(true), true),
        ("aligned", 800, Field::tsv_defaults(false), false),
        ("cigars", 800, with_cigar, false),
    ];
    let mut group = criterion.benchmark_group("allpairs_handover");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(5));
    for (name, count, fields, score_only) in cases {
        let store = sequences(count);
        group.throughput(Throughput::Elements((count * (count - 1) / 2) as u64));
        let mut bytes = Vec::new();
        for &threads in &threads {
            let id = BenchmarkId::new(name, format!("{threads} threads"));
            group.bench_function(id, |bencher| {
                bencher.iter(|| bytes.push(hand_over(&store, &fields, score_only, threads)));
            });
        }
        assert!(bytes.iter().all(|&some| some == bytes[0] && some > 0), "runs differ");
    }
    group.finish();
}

criterion_group!(benches, end_to_end, handover);
criterion_main!(benches);
