//! Speed of every engine and kernel in cells: pairs of random sequences by length class, for each kind of scoring.
//!
//! Kernels that store directions are measured with their alignments, walked back on the device; the others and the CPU
//! with their scores and matches.
//!
//! A throughput of 1 Gelem/s is 1 GCUPS. Times are those of a batch from handing it in to having its scores, with
//! sequences and pipelines in place; the pairs of a batch are all pairs of one set, lengths within 5% of each other.

#[path = "../tests/support/mod.rs"]
mod support;

use std::sync::Arc;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use pairwave::engine::Engine;
use pairwave::gpu::adapter::enumerate;
use pairwave::gpu::kernels::{Family, offered};
use pairwave::pairs::Pairs;
use pairwave::pairs::cpu::CpuEngine;
use pairwave::pairs::gpu::{Config, GpuEngine};
use pairwave::pairs::{Batch, Want};
use pairwave::score::{Gaps, Scoring};
use pairwave::seq::Alphabet;

/// Lengths in symbols: a read, a protein, a gene.
const LENGTHS: [usize; 3] = [100, 400, 1500];

/// All pairs of as many sequences as make about this many cells; at least a workgroup of them.
fn batch(scoring: &Scoring, length: usize, cells: f64) -> Arc<Batch> {
    let count = ((2.0 * cells).sqrt() / length as f64).ceil().max(17.0) as usize;
    let mut rng = support::rng(length as u64);
    let spread = length as u32 / 10;
    let sequences: Vec<Vec<u8>> = (0..count)
        .map(|_| {
            let length = length - (spread / 2) as usize + (rng.next_u32() % (spread + 1)) as usize;
            support::random_codes(&mut rng, scoring.alphabet, length)
        })
        .collect();
    let store = support::store(scoring.alphabet, &sequences);
    let job = support::job(&store, scoring.clone(), Want::Alignments);
    support::batches(&job, u64::MAX).swap_remove(0)
}

fn bench_engine(criterion: &mut Criterion, name: &str, engine: &mut dyn Engine<Pairs>, cells: f64) {
    let work = [
        ("dna_linear", Scoring::dna()),
        ("dna_affine", Scoring { gaps: Gaps::from_blast(10, 1), ..Scoring::dna() }),
        ("protein_affine", Scoring::protein()),
    ];
    for (kind, scoring) in work {
        assert!(scoring.alphabet == Alphabet::Dna || kind.starts_with("protein"));
        let mut group = criterion.benchmark_group(format!("{name}/{kind}"));
        group.sample_size(10).sampling_mode(SamplingMode::Flat);
        group.warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2));
        for length in LENGTHS {
            let batch = batch(&scoring, length, cells);
            match engine.submit(Arc::clone(&batch)) {
                Ok(ticket) => drop(engine.collect(ticket).expect("the batch is computed")),
                Err(pairwave::Error::Unsuited { message, .. }) => {
                    eprintln!("{name}/{kind}/{length} is left out: {message}");
                    continue;
                }
                Err(error) => panic!("{error}"),
            }
            group.throughput(Throughput::Elements(batch.cells()));
            group.bench_function(BenchmarkId::from_parameter(length), |bencher| {
                bencher.iter(|| {
                    let ticket = engine.submit(Arc::clone(&batch)).expect("the engine takes the batch");
                    engine.collect(ticket).expect("the batch is computed").hits.len()
                });
            });
        }
        group.finish();
    }
}

fn kernels(criterion: &mut Criterion) {
    let mut cpu = CpuEngine::new(pairwave::engine::thread_pool(0).expect("threads start"));
    bench_engine(criterion, "cpu", &mut cpu, 1e9);
    let Some(found) = enumerate().into_iter().next() else {
        eprintln!("no adapter: the CPU engine only");
        return;
    };
    eprintln!("kernels on {}", found.description.name);
    for kernel in offered(Family::Pairs) {
        let gpu = GpuEngine::open(&found, Config::for_adapter(&found)).expect("the adapter opens");
        // Alignments fill the device with less.
        let full = if kernel.scan().is_some() { 1e10 } else { 1e11 };
        let cells = if found.is_software() { 4e7 } else { full };
        bench_engine(criterion, kernel.stem, &mut gpu.with_kernel(Some(kernel)), cells);
    }
}

criterion_group!(benches, kernels);
criterion_main!(benches);
