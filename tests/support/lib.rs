//! Helpers that several test programs share: engines, sequences and batches.
#![allow(dead_code)] // each test file uses a part

mod adapter;
pub mod blocks;
pub mod browser;
pub mod check;
pub mod clustal;
pub mod codec;
mod jobs;
pub mod long;
pub mod long_cases;
pub mod phylo;
pub mod poison;
pub mod random;
mod tape;
pub mod warnings;

use std::sync::Arc;

use pairwave::alignment::Cigar;
use pairwave::engine::Engine;
use pairwave::gpu::kernels;
use pairwave::pairs::Pairs;
use pairwave::pairs::cpu::{CpuWorker, PairsScratch};
use pairwave::pairs::gpu::{Config, MatrixKernelShape, PairsGpu, PairsShape};
use pairwave::pairs::plan::PairsSpec;
use pairwave::pairs::{PairHit, PairsBatch, PairsReport, ResultFilter};
use pairwave::score::{Ambiguity, EndGaps, Gaps, Scoring};
use pairwave::seq::{Alphabet, Code, QueryStrands, SequenceStore};

#[allow(unused_imports)] // as above
pub use adapter::{adapter, adapter_called};
#[allow(unused_imports)]
pub use jobs::{LongResult, run_long, run_on, two_threads};
#[allow(unused_imports)]
pub use random::{Rng, rng};
#[allow(unused_imports)]
pub use tape::Tape;

/// Directory of the repository.
pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Returns an engine on the adapter that compiles shaders with wgpu's checks. It has narrow slices
/// and small workgroups, so that short sequences reach every border.
pub fn gpu_checked() -> PairsGpu {
    let (slice, workgroup, half_slice, half_workgroup) = (12, 16, 12, 16);
    let config = Config { slice, workgroup, half_slice, half_workgroup, ..Config::default() };
    PairsGpu::open(&adapter(), config).expect("the adapter opens").with_runtime_checks()
}

/// Returns an engine like those of jobs on hardware, but without half floats. Software adapters
/// emulate half floats, which makes compilation slow.
pub fn gpu_default() -> PairsGpu {
    let config = Config { half_slice: 12, half_workgroup: 16, ..Config::default() };
    PairsGpu::open(&adapter(), config).expect("the adapter opens")
}

/// Sizes so small that short sequences reach every border.
pub const SMALL_SHAPE: MatrixKernelShape = MatrixKernelShape {
    rows_workgroup: 16,
    rows_words: 1,
    diagonal_workgroup: 4,
    subgroup_workgroup: 128,
    checkpoint_workgroup: 16,
    checkpoint_steps: 8,
    tile_workgroup: 4,
    tile_rows: 12,
    lane_columns: Some(4),
};

/// Sets the sizes of the kernels that can store directions.
pub fn with_matrix(engine: PairsGpu, matrix: MatrixKernelShape) -> PairsGpu {
    let shape = engine.shape();
    engine.with_shape(PairsShape { matrix, ..shape })
}

/// Returns an engine that uses one kernel, with wgpu's checks and small sizes.
pub fn kernel_checked(stem: &str) -> PairsGpu {
    let kernel = kernels::find(stem).expect("a kernel of the table");
    with_matrix(gpu_checked().with_kernel(Some(kernel)), SMALL_SHAPE)
}

/// Returns an engine that uses one kernel, with the sizes that jobs use on hardware.
pub fn kernel_default(stem: &str) -> PairsGpu {
    let kernel = kernels::find(stem).expect("a kernel of the table");
    with_matrix(gpu_default().with_kernel(Some(kernel)), MatrixKernelShape::default())
}

/// Returns a CPU thread as an engine. It computes scores but no tracebacks.
pub fn cpu() -> CpuWorker {
    CpuWorker::default().with_scratch(PairsScratch::for_scores())
}

/// Returns a random code. `ambiguous` percent of the codes do not stand for a single residue.
pub fn random_code(rng: &mut Rng, alphabet: Alphabet, ambiguous: u32) -> Code {
    let any = (1 + rng.next_u32() % (alphabet.size() as u32 - 1)) as Code;
    match alphabet {
        Alphabet::Bytes => alphabet.encode(any).unwrap_or(b' '),
        _ if rng.next_u32() % 100 < ambiguous => any,
        Alphabet::Dna => 1 << (rng.next_u32() % 4),
        Alphabet::Protein => b"ACDEFGHIKLMNPQRSTVWY"[rng.next_u32() as usize % 20] - b'A' + 1,
    }
}

/// Returns a random sequence.
pub fn random_codes(rng: &mut Rng, alphabet: Alphabet, length: usize) -> Vec<Code> {
    (0..length).map(|_| random_code(rng, alphabet, 4)).collect()
}

/// Returns a relative of a sequence: it has `percent` percent of substitutions, of insertions, of
/// deletions and of lost ends.
pub fn mutated(rng: &mut Rng, alphabet: Alphabet, codes: &[Code], percent: u32) -> Vec<Code> {
    let mut out = Vec::new();
    for &code in codes {
        match rng.next_u32() % 100 {
            x if x < percent => out.push(random_code(rng, alphabet, 4)),
            x if x < percent + percent / 2 => {}
            x if x < 2 * percent => out.extend([code, random_code(rng, alphabet, 4)]),
            _ => out.push(code),
        }
    }
    let cut = (out.len() as u32 * percent / 100).max(1);
    let (head, tail) = ((rng.next_u32() % cut) as usize, (rng.next_u32() % cut) as usize);
    out[head.min(out.len())..out.len().saturating_sub(tail).max(head.min(out.len()))].to_vec()
}

/// Returns a store of these sequences.
pub fn store(alphabet: Alphabet, sequences: &[Vec<Code>]) -> Arc<SequenceStore> {
    let mut builder = SequenceStore::builder(alphabet);
    for (index, codes) in sequences.iter().enumerate() {
        builder.push(format!("s{index}"), codes).unwrap();
    }
    Arc::new(builder.build())
}

/// Returns random sequences of the given lengths. Every third one is a relative of the previous
/// one.
pub fn mixed_store(rng: &mut Rng, alphabet: Alphabet, lengths: &[usize]) -> Arc<SequenceStore> {
    let mut sequences: Vec<Vec<Code>> = Vec::new();
    for (index, &length) in lengths.iter().enumerate() {
        let mut codes = match sequences.last() {
            Some(last) if index % 3 == 2 => mutated(rng, alphabet, &last.clone(), 8),
            _ => Vec::new(),
        };
        codes.truncate(length);
        let missing = length - codes.len();
        codes.extend(random_codes(rng, alphabet, missing));
        sequences.push(codes);
    }
    store(alphabet, &sequences)
}

/// Returns scorings with linear and affine gaps, charged, free and separately priced end gaps, DNA
/// and protein, and unusual costs.
pub fn scorings() -> Vec<Scoring> {
    let mut all = Vec::new();
    for end_gaps in [EndGaps::Charged, EndGaps::Free] {
        for gaps in [Gaps::linear(10), Gaps::from_blast(10, 1)] {
            all.push(Scoring { gaps, end_gaps, ..Scoring::truong() });
            all.push(Scoring { gaps, end_gaps, ..Scoring::protein() });
        }
        // Free gaps; gaps that cost half a mismatch, which makes most alignments equally good;
        // opening costs without extension costs.
        all.push(Scoring { gaps: Gaps::linear(0), end_gaps, ..Scoring::truong() });
        all.push(Scoring { gaps: Gaps::linear(2), end_gaps, ..Scoring::truong() });
        all.push(Scoring { gaps: Gaps::from_blast(7, 0), end_gaps, ..Scoring::truong() });
        // Some codes that do not match have positive scores, and some that match have negative
        // scores.
        let blastn = Scoring::nucleotide(5, -4, Ambiguity::Mean, Gaps::from_blast(8, 6), end_gaps);
        all.push(blastn.expect("a valid scheme"));
    }
    all.extend(priced_end_gaps());
    all
}

/// Returns scorings with separate costs of end gaps: vsearch's (with 2 and -4), equal costs for
/// every symbol, lower costs for the first symbol only or for the further ones only, the highest
/// costs with linear gaps, and the costs of inner gaps minus one.
pub fn priced_end_gaps() -> Vec<Scoring> {
    let scheme = |gaps, first, next| {
        let end_gaps = EndGaps::Priced(Gaps { first, next });
        Scoring::nucleotide(2, -4, Ambiguity::Zero, gaps, end_gaps).expect("a valid scheme")
    };
    let protein = |gaps, first, next| {
        let end_gaps = EndGaps::Priced(Gaps { first, next });
        Scoring { gaps, end_gaps, ..Scoring::protein() }
    };
    vec![
        scheme(Gaps::from_emboss(20, 2), 2, 1),
        scheme(Gaps::from_blast(20, 2), 2, 2),
        scheme(Gaps::from_blast(20, 2), 22, 0),
        scheme(Gaps::from_blast(20, 2), 3, 1),
        scheme(Gaps::from_blast(2, 1), 2, 1),
        scheme(Gaps::linear(3), 3, 0),
        scheme(Gaps::linear(3), 2, 1),
        scheme(Gaps::linear(3), 1, 1),
        protein(Gaps::from_blast(11, 1), 5, 1),
        protein(Gaps::linear(9), 8, 2),
    ]
}

/// Returns the position of a kernel among all kernels.
pub fn turn_of(stem: &str) -> usize {
    kernels::KERNELS.iter().position(|kernel| kernel.stem == stem).expect("a kernel")
}

/// Returns every fifth scheme, from another one for each kernel. The sizes of hardware make shaders
/// large and slow to compile in software, so that each kernel has them with a part of the schemes.
/// Five kernels together have all schemes. With small sizes, each kernel has all schemes.
pub fn fifth_of_scorings(stem: &str) -> Vec<Scoring> {
    scorings().into_iter().skip(turn_of(stem) % 5).step_by(5).collect()
}

/// Returns all pairs of a store as batches, one per length class and chunk.
pub fn batches(job: &PairsSpec, cells: u64) -> Vec<Arc<PairsBatch>> {
    let mut all = Vec::new();
    for (_, chunk, blocks) in job.chunks(cells, u64::MAX) {
        for class in blocks.chunk_by(|a, b| a.0 == b.0) {
            let blocks = class.iter().map(|(_, block)| block.clone()).collect();
            all.push(Arc::new(PairsBatch { chunk: Arc::clone(&chunk), blocks }));
        }
    }
    all
}

/// Computes batches, two in flight if the engine allows it, and returns all hits in order.
pub fn compute(engine: &mut dyn Engine<Pairs>, batches: &[Arc<PairsBatch>]) -> Vec<PairHit> {
    let mut hits: Vec<PairHit> = compute_traced(engine, batches).into_iter().map(|(hit, _)| hit).collect();
    hits.sort();
    hits
}

/// Computes batches like [`compute`], with the alignments that the engine traced back.
pub fn compute_traced(engine: &mut dyn Engine<Pairs>, batches: &[Arc<PairsBatch>]) -> Vec<(PairHit, Option<Cigar>)> {
    let mut hits = Vec::new();
    let mut add = |report: PairsReport| {
        assert_eq!(report.unfinished, Vec::<usize>::new());
        hits.extend(report.hits.iter().enumerate().map(|(index, &hit)| (hit, report.traced.cigar(index))));
    };
    let mut in_flight = std::collections::VecDeque::new();
    for batch in batches {
        if in_flight.len() == engine.capacity().batches {
            let ticket = in_flight.pop_front().expect("one is in flight");
            add(engine.collect(ticket).expect("the batch is computed"));
        }
        in_flight.push_back(engine.submit(Arc::clone(batch)).expect("the batch is taken"));
    }
    for ticket in in_flight {
        add(engine.collect(ticket).expect("the batch is computed"));
    }
    hits
}

/// Returns a job for all pairs of a store.
pub fn job(store: &Arc<SequenceStore>, scoring: Scoring, filter: ResultFilter) -> PairsSpec {
    let (scoring, strands) = (Arc::new(scoring), QueryStrands::default());
    PairsSpec { queries: Arc::clone(store), against: None, scoring, filter, strands, parts: None }
}
