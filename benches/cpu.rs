//! Speed of one thread of the CPU engine, for every instruction set of this machine, both forms and
//! every kind of score; and of reads against ancestral states.
//!
//! A throughput of 1 Gelem/s is 1 GCUPS. Batches are one store against itself, so that all lanes
//! are full. Sequences are random, from a seed that is printed. Run it on an idle machine.

use std::sync::Arc;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use pairwave::pairs::cpu::{LaneForm, ScoreWorkspace, compute};
use pairwave::pairs::plan::PairsSpec;
use pairwave::pairs::{PairsBatch, ResultFilter};
use pairwave::papara;
use pairwave::score::{Gaps, Mode, PhyloScheme, Scoring};
use pairwave::seq::{Alphabet, QueryStrands};
use pairwave::simd::InstructionSet;
use support::phylo::{self, VectorProperties};

/// Lengths in symbols: a protein and a gene.
const LENGTHS: [usize; 2] = [300, 1500];

/// Returns the computations, named after their lane width.
fn workloads() -> Vec<(&'static str, Scoring, ResultFilter)> {
    let affine = Scoring { gaps: Gaps::from_blast(10, 1), ..Scoring::truong() };
    let local = |scoring| Scoring { mode: Mode::Local, ..scoring };
    vec![
        ("dna_linear_8", Scoring::truong(), ResultFilter::Scores),
        ("dna_linear_matches_16", Scoring::truong(), ResultFilter::Alignments),
        ("dna_affine_8", affine.clone(), ResultFilter::Scores),
        ("dna_affine_matches_16", affine, ResultFilter::Alignments),
        ("protein_affine_8", Scoring::protein(), ResultFilter::Scores),
        ("protein_local_8", local(Scoring::protein()), ResultFilter::Scores),
        ("dna_local_8", local(Scoring::truong()), ResultFilter::Scores),
    ]
}

/// Returns a batch of `count` sequences against themselves.
fn batch(scoring: &Scoring, filter: ResultFilter, length: usize, count: usize) -> PairsBatch {
    let mut rng = support::rng(length as u64);
    let sequences: Vec<Vec<u8>> =
        (0..count).map(|_| support::random_codes(&mut rng, scoring.alphabet, length)).collect();
    let store = support::store(scoring.alphabet, &sequences);
    let (scoring, strands) = (Arc::new(scoring.clone()), QueryStrands::default());
    let job = PairsSpec { queries: Arc::clone(&store), against: Some(store), scoring, filter, strands, parts: None };
    let (_, chunk, blocks) = job.chunks(u64::MAX, u64::MAX).next().expect("there are pairs");
    PairsBatch { chunk, blocks: blocks.into_iter().map(|(_, block)| block).collect() }
}

fn cpu(criterion: &mut Criterion) {
    for instructions in InstructionSet::available() {
        for form in [LaneForm::Targets, LaneForm::Rows] {
            for (name, scoring, filter) in workloads() {
                let mut group = criterion.benchmark_group(format!("{instructions:?}/{form:?}/{name}"));
                group.sample_size(10).sampling_mode(SamplingMode::Flat);
                group.warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_secs(1));
                for length in LENGTHS {
                    let count = if form == LaneForm::Targets { 64 } else { 8 };
                    let batch = batch(&scoring, filter.clone(), length, count);
                    let mut workspace = ScoreWorkspace::with(instructions, form);
                    group.throughput(Throughput::Elements(batch.cells()));
                    group.bench_function(BenchmarkId::from_parameter(length), |bencher| {
                        bencher.iter(|| compute::run(&batch, &mut workspace).expect("the batch is computed").len())
                    });
                }
                group.finish();
            }
        }
    }
}

/// Reads of about 100 symbols against 64 vectors.
fn papara_cpu(criterion: &mut Criterion) {
    for instructions in InstructionSet::available() {
        for (name, alphabet) in [("dna", Alphabet::Dna), ("protein", Alphabet::Protein)] {
            let mut group = criterion.benchmark_group(format!("{instructions:?}/papara/{name}"));
            group.sample_size(10).sampling_mode(SamplingMode::Flat);
            group.warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_secs(1));
            for sites in LENGTHS {
                let batch = phylo_batch(alphabet, sites as u32, 64, 8);
                let mut workspace = papara::cpu::PhyloWorkspace::with(instructions);
                group.throughput(Throughput::Elements(batch.cells()));
                group.bench_function(BenchmarkId::from_parameter(sites), |bencher| {
                    bencher.iter(|| papara::cpu::run(&batch, &mut workspace).len())
                });
            }
            group.finish();
        }
    }
}

/// Returns a batch of `reads` reads of about 100 symbols against random vectors.
fn phylo_batch(alphabet: Alphabet, sites: u32, vectors: u32, reads: usize) -> Arc<papara::PhyloBatch> {
    let mut rng = support::rng(sites.into());
    let looks = VectorProperties { alphabet, sites, vectors, are_unions: false };
    let vectors = Arc::new(phylo::vectors(&mut rng, looks));
    let reads: Vec<_> = (0..reads).map(|read| phylo::read(&mut rng, &vectors, 90 + read % 21, false)).collect();
    phylo::batch(&reads, &vectors, PhyloScheme::papara(), None)
}

criterion_group!(benches, cpu, papara_cpu);
criterion_main!(benches);
