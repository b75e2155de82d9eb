//! Multiple alignment by posterior probabilities that two residues are homologous, made consistent
//! over all sequences.
//!
//! 1. For every pair of sequences, a partition function over all alignments gives the probability
//!    that two residues are aligned, as in Probalign (Roshan and Livesay 2006). For proteins, it is
//!    the mean over several models. Sixteen pairs are computed at once.
//! 2. The expected fraction of correctly aligned residues of each pair is the basis of a guide tree
//!    and of sequence weights.
//! 3. Base pairs: in short nucleotide sequences, the probabilities of two bases are raised if their
//!    partners in secondary structures are aligned too (PicXAA-R: Sahraeian and Yoon 2011).
//! 4. Consistency: the probabilities of each pair are combined with probabilities through third
//!    sequences.
//! 5. Groups are joined in the order of the tree, so that the sum of probabilities is as high as
//!    possible.
//! 6. Refinement: a branch of the tree divides the sequences into two groups, which are aligned
//!    again. This is repeated for other branches.

mod all_pairs;
mod base_pairs;
mod confidence;
mod consistency;
pub mod cpu;
mod floats;
pub mod gpu;
mod guide;
mod kernel;
pub mod kernels;
pub mod large;
mod model;
#[cfg(test)]
mod oracle;
mod progressive;
mod refine;
mod scale;
mod sparse;
mod structure;
mod tables;
#[cfg(test)]
mod tests;
pub mod work;

use std::sync::atomic::AtomicBool;

use confidence::DirectProbabilities;
pub use confidence::{PARTNERS, confidence};
use model::Model;
use rayon::prelude::*;
pub use sparse::LENGTH_LIMIT;
pub use work::{GatheredProbabilities, Posterior, PosteriorBatch, PosteriorPlan, PosteriorReport};

use crate::alignment::{Confidence, MultipleAlignment};
use crate::seq::{Alphabet, Code, SequenceId, SequenceStore};
use crate::simd::InstructionSet;
use crate::tree::{Distances, GuideTree, average_linkage};
use crate::{Error, Result};

/// Options of the alignment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PosteriorOptions {
    /// Number of rounds of consistency, at most [`PosteriorOptions::MAX_ROUNDS`].
    pub rounds: u32,
    /// Maximum number of refinement steps, each of which divides the sequences at one branch. The
    /// refinement ends earlier if no step changes the alignment.
    pub refinements: usize,
    /// Number of nearest neighbours per sequence that serve as third sequences for consistency.
    /// For families of proteins, [`large::align`] takes twice as many.
    pub neighbours: usize,
    /// Weights of the sequences. For its families, [`large::align`] always takes
    /// [`Weighting::Family`].
    pub weighting: Weighting,
}

/// How sequence weights are used. The two ways are the most accurate ones in sets of known
/// structures: whole sets of BAliBASE, and families of HomFam and QuanTest2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Weighting {
    /// For a whole set: square roots of the weights, so that groups of similar sequences count a
    /// little more. During consistency, the probabilities of a pair itself count twice.
    #[default]
    WholeSet,
    /// For a family of a large set ([`large::align`]): the weights as in MSAProbs.
    Family,
}

impl Weighting {
    fn weights(self, tree: &GuideTree) -> Vec<f32> {
        let weights = guide::weights(tree);
        match self {
            Weighting::WholeSet => weights.into_iter().map(f32::sqrt).collect(),
            Weighting::Family => weights,
        }
    }

    /// Returns the weight of a pair's own probabilities in a round of consistency, relative to the
    /// sum of its two sequence weights.
    fn direct_weight(self) -> f32 {
        match self {
            Weighting::WholeSet => 2.0,
            Weighting::Family => 1.0,
        }
    }
}

impl PosteriorOptions {
    /// Maximum number of rounds of consistency. Each round lowers the probabilities, and those
    /// below a cutoff are dropped. After more rounds, too few would be left to align remote
    /// relatives.
    pub const MAX_ROUNDS: u32 = 3;
}

impl Default for PosteriorOptions {
    fn default() -> Self {
        PosteriorOptions { rounds: 2, refinements: 100, neighbours: 4, weighting: Weighting::default() }
    }
}

/// Upper estimate of the mean number of probable residue pairs per residue and sequence pair: 1 to
/// 2.5 for close relatives, 4 to 6.5 for diverse protein families, 8 for unrelated proteins, 11 for
/// unrelated proteins of two letters, and 13 for unrelated nucleotide sequences.
fn cells_per_residue(alphabet: Alphabet) -> u64 {
    if alphabet == Alphabet::Dna { 14 } else { 11 }
}
/// Bytes of a sequence pair in addition to its residue pairs, in both directions: two lists with
/// allocator overhead, and the distance.
const BYTES_PER_PAIR: u64 = 160;

/// Returns the maximum bytes that [`align`] needs for sequences of the given lengths, without the
/// buffers of the threads (3 MiB each, or 30 MiB for 1,500 residues). The result covers the
/// probable residue pairs of every two sequences in both directions, and a second copy in one
/// direction during consistency. Related sequences need half or a third of it.
pub fn memory(alphabet: Alphabet, lengths: &[u32]) -> u64 {
    let residues: u64 = lengths.iter().map(|&length| u64::from(length)).sum();
    let sequences = lengths.len() as u64;
    let bytes = pair_bytes(alphabet, residues, sequences);
    bytes.saturating_add(bytes / 2).saturating_add(sequences.saturating_mul(sequences).saturating_mul(BYTES_PER_PAIR))
}

/// Returns the maximum bytes of the probable residue pairs of some sequences, with `residues`
/// residues in total, with each of `others` other sequences.
fn pair_bytes(alphabet: Alphabet, residues: u64, others: u64) -> u64 {
    let cells = cells_per_residue(alphabet);
    let bytes_per_residue = size_of::<u32>() as u64 + cells * size_of::<sparse::SparseCell>() as u64;
    residues.saturating_mul(others).saturating_mul(bytes_per_residue)
}

/// Maximum size of a set that is aligned by the probabilities of all pairs. Larger sets are divided
/// into families ([`large::align`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AllPairsLimits {
    /// Number of sequences. For more short sequences, combining the probabilities takes far longer
    /// than computing them, and the alignments are not better.
    pub sequences: usize,
    /// Bytes of the probabilities.
    pub bytes: u64,
    /// Number of cells of one model. The default takes a few threads some minutes.
    pub cells: u64,
}

impl Default for AllPairsLimits {
    fn default() -> Self {
        AllPairsLimits { sequences: 200, bytes: 4 << 30, cells: 200_000_000_000 }
    }
}

impl AllPairsLimits {
    /// Returns whether sequences of these lengths are few and short enough.
    pub fn fit(&self, alphabet: Alphabet, lengths: &[u32]) -> bool {
        lengths.len() <= self.sequences
            && memory(alphabet, lengths) <= self.bytes
            && cells(lengths) <= self.cells
            && lengths.iter().all(|&length| (length as usize) < LENGTH_LIMIT)
    }
}

/// Returns the number of cells of the tables that [`align`] computes under one model. It determines
/// the running time, except for very many sequences.
pub fn cells(lengths: &[u32]) -> u64 {
    let (mut sum, mut cells) = (0u64, 0u64);
    for &length in lengths {
        cells = cells.saturating_add(sum.saturating_mul(u64::from(length)));
        sum += u64::from(length);
    }
    cells
}

/// Result of an alignment.
#[derive(Debug, Clone, PartialEq)]
pub struct PosteriorAlignment {
    /// The alignment. Its rows are in the order of the store.
    pub alignment: MultipleAlignment,
    /// Guide tree of the alignment.
    pub tree: GuideTree,
    /// Expected fraction of residues of the shorter sequence that are not aligned correctly, for
    /// every two sequences, before consistency.
    pub distances: Distances,
    /// Confidence of the alignment, if requested.
    pub confidence: Option<Confidence>,
}

/// Aligns all sequences of a store. Calls `advance` with the numbers of computed pairs and cells.
/// The result depends only on the sequences and the options.
///
/// # Errors
/// Returns [`Error::Interrupted`] if `interrupt` is set, and [`Error::Usage`] for bytes and
/// for sequences that are too long.
pub fn align(
    store: &SequenceStore,
    options: &PosteriorOptions,
    pool: &rayon::ThreadPool,
    advance: &(dyn Fn(u64, u64) + Sync),
    interrupt: &AtomicBool,
) -> Result<(MultipleAlignment, GuideTree)> {
    align_along(store, options, None, pool, advance, interrupt).map(|outcome| (outcome.alignment, outcome.tree))
}

/// Aligns like [`align`], along a given tree if there is one. If its branches have lengths, they
/// determine the weights of the sequences.
///
/// # Errors
/// Returns the errors of [`align`], and [`Error::Usage`] for a tree with another number of
/// sequences.
pub fn align_along(
    store: &SequenceStore,
    options: &PosteriorOptions,
    tree: Option<&GuideTree>,
    pool: &rayon::ThreadPool,
    advance: &(dyn Fn(u64, u64) + Sync),
    interrupt: &AtomicBool,
) -> Result<PosteriorAlignment> {
    align_with(store, options, tree, InstructionSet::best(), pool, advance, interrupt)
}

fn align_with(
    store: &SequenceStore,
    options: &PosteriorOptions,
    tree: Option<&GuideTree>,
    instructions: InstructionSet,
    pool: &rayon::ThreadPool,
    advance: &(dyn Fn(u64, u64) + Sync),
    interrupt: &AtomicBool,
) -> Result<PosteriorAlignment> {
    let models = models_of(store)?;
    check_tree(store, tree)?;
    let sequences: Vec<&[Code]> = (0..store.len() as SequenceId).map(|id| store.codes(id)).collect();
    pool.install(|| {
        align_by_pairs(&models, &sequences, options, tree, instructions, advance, interrupt)?.into_alignment()
    })
}

/// Returns the number of models over which [`align`] takes the mean of the probabilities.
pub fn models(alphabet: Alphabet) -> u64 {
    Model::all(alphabet).map_or(0, |models| models.len() as u64)
}

/// Returns the first model for the sequences of a store.
fn model_of(store: &SequenceStore) -> Result<Model> {
    models_of(store).map(|mut models| models.swap_remove(0))
}

/// Returns all models for the sequences of a store.
fn models_of(store: &SequenceStore) -> Result<Vec<Model>> {
    let models = Model::all(store.alphabet());
    let models = models.ok_or_else(|| Error::usage("multiple alignments need proteins or nucleotides"))?;
    if store.lengths().iter().any(|&length| length as usize >= sparse::LENGTH_LIMIT) {
        return Err(Error::usage(format!("a sequence is longer than {} symbols", sparse::LENGTH_LIMIT - 1)));
    }
    Ok(models)
}

fn check_tree(store: &SequenceStore, tree: Option<&GuideTree>) -> Result<()> {
    match tree.filter(|tree| tree.leaves != store.len()) {
        Some(tree) => Err(Error::usage(format!("the tree has {} sequences instead of {}", tree.leaves, store.len()))),
        None => Ok(()),
    }
}

/// Aligns like [`align_along`], with probabilities of all pairs that engines have computed
/// ([`PosteriorPlan`]). If `needs_confidence`, the result contains the confidence, which uses the
/// probabilities before consistency. A copy of them takes up to a third more memory.
///
/// # Errors
/// [`Error::Interrupted`]; [`Error::Usage`] for a tree with another number of sequences.
pub fn align_gathered(
    store: &SequenceStore,
    options: &PosteriorOptions,
    tree: Option<&GuideTree>,
    gathered: GatheredProbabilities,
    needs_confidence: bool,
    pool: &rayon::ThreadPool,
    interrupt: &AtomicBool,
) -> Result<PosteriorAlignment> {
    check_tree(store, tree)?;
    let lengths: Vec<usize> = store.lengths().iter().map(|&length| length as usize).collect();
    pool.install(|| {
        let sequences: Vec<&[Code]> = (0..store.len() as SequenceId).map(|id| store.codes(id)).collect();
        let folds = structure::fold(store.alphabet(), &sequences, interrupt)?;
        let all = all_pairs::PairProbabilities::new(&lengths, gathered.into_pairs());
        let direct = needs_confidence.then(|| DirectProbabilities::new(&all));
        let aligned = align_by(all, &lengths, folds, options, tree, interrupt)?;
        let rows = direct.map(|direct| direct.confidence(&aligned.aligned));
        let mut finished = aligned.into_alignment()?;
        finished.confidence = rows.and_then(|rows| Confidence::new(&finished.alignment, rows));
        Ok(finished)
    })
}

/// Result of [`align_by_pairs`].
struct AlignedByPairs {
    aligned: progressive::AlignedMembers,
    tree: GuideTree,
    distances: Distances,
}

impl AlignedByPairs {
    fn into_alignment(self) -> Result<PosteriorAlignment> {
        let AlignedByPairs { aligned, tree, distances } = self;
        let alignment = aligned.into_alignment().ok_or_else(|| Error::Internal("columns do not increase".into()))?;
        Ok(PosteriorAlignment { alignment, tree, distances, confidence: None })
    }
}

/// Aligns sequences by the mean probabilities of all pairs under some models, on the current thread
/// pool.
fn align_by_pairs(
    models: &[Model],
    sequences: &[&[Code]],
    options: &PosteriorOptions,
    tree: Option<&GuideTree>,
    instructions: InstructionSet,
    advance: &(dyn Fn(u64, u64) + Sync),
    interrupt: &AtomicBool,
) -> Result<AlignedByPairs> {
    let lengths: Vec<usize> = sequences.iter().map(|sequence| sequence.len()).collect();
    let all = all_pairs::compute(models, sequences, instructions, advance, interrupt)?;
    let folds = match models {
        [model, ..] => structure::fold(model.alphabet(), sequences, interrupt)?,
        [] => None,
    };
    align_by(all, &lengths, folds, options, tree, interrupt)
}

/// Aligns sequences by given probabilities, and by the base pairs in `folds` if there are any.
fn align_by(
    mut all: all_pairs::PairProbabilities,
    lengths: &[usize],
    folds: Option<Vec<sparse::Sparse>>,
    options: &PosteriorOptions,
    tree: Option<&GuideTree>,
    interrupt: &AtomicBool,
) -> Result<AlignedByPairs> {
    let distances = distances(&all, lengths);
    let tree = tree.cloned().unwrap_or_else(|| average_linkage(distances.clone()));
    let weights = options.weighting.weights(&tree);
    let direct = options.weighting.direct_weight();
    let in_consistency = consistency::ConsistencyWeights { sequences: &weights, direct };
    let between = nearest_neighbours(&distances, options.neighbours);
    if let Some(folds) = folds {
        all = structure::support(all, lengths, &folds, interrupt)?;
    }
    for _ in 0..options.rounds {
        all = consistency::apply_consistency(all, lengths, in_consistency, &between, interrupt)?;
    }
    let aligned = progressive::align(&all, lengths, &weights, &tree, interrupt)?;
    let aligned = refine::refine(&all, &weights, &tree, aligned, options.refinements, interrupt)?;
    Ok(AlignedByPairs { aligned, tree, distances })
}

/// Returns the expected fraction of residues of the shorter sequence that are not aligned
/// correctly.
fn distances(all: &all_pairs::PairProbabilities, lengths: &[usize]) -> Distances {
    let pairs: Vec<(usize, usize)> = (0..lengths.len()).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
    let distance = |&(a, b): &(usize, usize)| {
        let shorter = lengths[a].min(lengths[b]).max(1) as f64;
        (1.0 - f64::from(all.get(a, b).accuracy()) / shorter).max(0.0)
    };
    let values: Vec<f64> = pairs.par_iter().map(distance).collect();
    let mut distances = Distances::new(lengths.len());
    for (&(a, b), value) in pairs.iter().zip(values) {
        distances.set(a, b, value);
    }
    distances
}

/// Returns the `limit` nearest neighbours of each sequence.
fn nearest_neighbours(distances: &Distances, limit: usize) -> Vec<Vec<usize>> {
    let sequences = distances.sequences();
    let neighbours = |sequence: usize| {
        let mut others: Vec<usize> = (0..sequences).filter(|&other| other != sequence).collect();
        others.sort_by(|&a, &b| distances.get(sequence, a).total_cmp(&distances.get(sequence, b)).then(a.cmp(&b)));
        others.truncate(limit);
        others
    };
    (0..sequences).map(neighbours).collect()
}
