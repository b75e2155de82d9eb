//! Speed of every engine and kernel in cells: pairs of random sequences by length class, for each
//! kind of scoring; and reads against ancestral states by sites.
//!
//! Kernels that store directions are measured with their alignments, traced back on the device. The
//! others and the CPU are measured with scores and matches.
//!
//! A throughput of 1 Gelem/s is 1 GCUPS. A time lasts from the submission of a batch to its scores,
//! with sequences and pipelines in place. The pairs of a batch are all pairs of one set, with
//! lengths within 5% of each other.

use std::sync::Arc;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use pairwave::engine::Engine;
use pairwave::engine::thread_engine::compute_together;
use pairwave::gpu::adapter::enumerate;
use pairwave::gpu::kernels::{Family, selectable};
use pairwave::pairs::cpu::{CpuWorker, PairsScratch};
use pairwave::pairs::gpu::{Config, PairsGpu};
use pairwave::pairs::{PairsBatch, ResultFilter};
use pairwave::papara::cpu::PhyloWorker;
use pairwave::papara::gpu::PhyloGpu;
use pairwave::papara::{PhyloBatch, Vectors};
use pairwave::score::{Gaps, PhyloScheme, Scoring};
use pairwave::seq::Alphabet;
use support::phylo::{self, VectorProperties};

/// Lengths in symbols: a read, a protein, a gene.
const LENGTHS: [usize; 3] = [100, 400, 1500];

/// Returns all pairs of a set with about `cells` cells, but at least one workgroup of sequences.
fn batch(scoring: &Scoring, length: usize, cells: f64) -> Arc<PairsBatch> {
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
    let job = support::job(&store, scoring.clone(), ResultFilter::Alignments);
    support::batches(&job, u64::MAX).swap_remove(0)
}

/// Computes a batch and returns the number of reported pairs.
type Compute<'a> = &'a mut dyn FnMut(&Arc<PairsBatch>) -> pairwave::Result<usize>;

fn bench(criterion: &mut Criterion, name: &str, compute: Compute<'_>, cells: f64) {
    let work = [
        ("dna_linear", Scoring::truong()),
        ("dna_affine", Scoring { gaps: Gaps::from_blast(10, 1), ..Scoring::truong() }),
        ("protein_affine", Scoring::protein()),
    ];
    for (kind, scoring) in work {
        assert!(scoring.alphabet == Alphabet::Dna || kind.starts_with("protein"));
        let mut group = criterion.benchmark_group(format!("{name}/{kind}"));
        group.sample_size(10).sampling_mode(SamplingMode::Flat);
        group.warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2));
        for length in LENGTHS {
            let batch = batch(&scoring, length, cells);
            match compute(&batch) {
                Ok(_) => {}
                Err(pairwave::Error::Unsuited { message, .. }) => {
                    eprintln!("{name}/{kind}/{length} is left out: {message}");
                    continue;
                }
                Err(error) => panic!("{error}"),
            }
            group.throughput(Throughput::Elements(batch.cells()));
            group.bench_function(BenchmarkId::from_parameter(length), |bencher| {
                bencher.iter(|| compute(&batch).expect("the batch is computed"));
            });
        }
        group.finish();
    }
}

fn kernels(criterion: &mut Criterion) {
    let pool = pairwave::engine::thread_pool(0).expect("threads start");
    let worker = |_| CpuWorker::default().with_scratch(PairsScratch::for_scores());
    let mut workers: Vec<CpuWorker> = (0..pool.current_num_threads()).map(worker).collect();
    let mut on_threads = |batch: &Arc<PairsBatch>| {
        compute_together(&pool, &mut workers, batch).map(|reports| reports.iter().map(|report| report.hits.len()).sum())
    };
    bench(criterion, "cpu", &mut on_threads, 1e9);
    let Some(found) = enumerate().into_iter().next() else {
        eprintln!("no adapter: the CPU engine only");
        return;
    };
    eprintln!("kernels on {}", found.description.name);
    for kernel in selectable(Family::Pairs) {
        let gpu = PairsGpu::open(&found, Config::for_adapter(&found)).expect("the adapter opens");
        // Alignments fill the device with fewer pairs.
        let full = if kernel.scan().is_some() { 1e10 } else { 1e11 };
        let cells = if found.is_software() { 4e7 } else { full };
        let mut gpu = gpu.with_kernel(Some(kernel));
        let mut on_gpu = |batch: &Arc<PairsBatch>| {
            let ticket = gpu.submit(Arc::clone(batch))?;
            gpu.collect(ticket).map(|report| report.hits.len())
        };
        bench(criterion, kernel.stem, &mut on_gpu, cells);
    }
}

/// Numbers of sites of a reference: a gene, aligned 16S rRNA, many genes.
const SITES: [u32; 3] = [500, 1500, 10_000];
/// Number of vectors of a reference.
const VECTORS: u32 = 320;

/// Returns random vectors of `sites` sites.
fn vectors(sites: u32) -> Arc<Vectors> {
    let looks = VectorProperties { alphabet: Alphabet::Dna, sites, vectors: VECTORS, are_unions: false };
    Arc::new(phylo::vectors(&mut support::rng(sites.into()), looks))
}

/// Returns a batch of reads of about 100 symbols with about `cells` cells.
fn phylo_batch(vectors: &Arc<Vectors>, cells: f64) -> Arc<PhyloBatch> {
    let count = (cells / (100.0 * f64::from(vectors.len()) * f64::from(vectors.sites()))).ceil() as usize;
    let mut rng = support::rng(count as u64);
    let reads: Vec<_> = (0..count).map(|read| phylo::read(&mut rng, vectors, 90 + read % 21, false)).collect();
    phylo::batch(&reads, vectors, PhyloScheme::papara(), None)
}

/// Computes a batch of reads and returns the number of reported octets.
type ComputePhylo<'a> = &'a mut dyn FnMut(&Arc<PhyloBatch>) -> pairwave::Result<usize>;

fn bench_phylo(criterion: &mut Criterion, name: &str, compute: ComputePhylo<'_>, cells: f64) {
    let mut group = criterion.benchmark_group(format!("{name}/papara"));
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    group.warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2));
    for sites in SITES {
        let batch = phylo_batch(&vectors(sites), cells);
        match compute(&batch) {
            Ok(_) => {}
            Err(pairwave::Error::Unsuited { message, .. }) => {
                eprintln!("{name}/papara/{sites} is left out: {message}");
                continue;
            }
            Err(error) => panic!("{error}"),
        }
        group.throughput(Throughput::Elements(batch.cells()));
        group.bench_function(BenchmarkId::from_parameter(sites), |bencher| {
            bencher.iter(|| compute(&batch).expect("the batch is computed"));
        });
    }
    group.finish();
}

fn papara_kernels(criterion: &mut Criterion) {
    let pool = pairwave::engine::thread_pool(0).expect("threads start");
    let mut workers: Vec<PhyloWorker> = (0..pool.current_num_threads()).map(|_| PhyloWorker::default()).collect();
    let mut on_threads = |batch: &Arc<PhyloBatch>| {
        compute_together(&pool, &mut workers, batch)
            .map(|reports| reports.iter().map(|report| report.scores.len()).sum())
    };
    bench_phylo(criterion, "cpu", &mut on_threads, 1e10);
    let Some(found) = enumerate().into_iter().next() else {
        eprintln!("no adapter: the CPU engine only");
        return;
    };
    for kernel in selectable(Family::Phylo) {
        let mut gpu = PhyloGpu::open(&found).expect("the adapter opens").with_kernel(Some(kernel));
        let cells = if found.is_software() { 4e7 } else { 2e11 };
        let mut on_gpu = |batch: &Arc<PhyloBatch>| {
            let ticket = gpu.submit(Arc::clone(batch))?;
            gpu.collect(ticket).map(|report| report.scores.len())
        };
        bench_phylo(criterion, kernel.stem, &mut on_gpu, cells);
    }
}

criterion_group!(benches, kernels, papara_kernels);
criterion_main!(benches);
