//! Probabilities that two residues belong together, made consistent over all sequences, and alignments by them.
//!
//! 1. Of every pair of sequences the probability of every two residues to be aligned, by a partition function over all
//!    alignments, as in Probalign (Roshan and Livesay 2006); sixteen pairs at once.
//! 2. A tree of what share of its residues each pair is expected to align rightly, and weights of the sequences.
//! 3. Consistency: each pair seen through the others.
//! 4. Groups are joined in the order of the tree so that the sum of probabilities is greatest.
//! 5. Refinement: the alignment is cut in two at branches of the tree, and both parts are joined anew.

mod all_pairs;
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
mod tables;
#[cfg(test)]
mod tests;
pub mod work;

use std::sync::atomic::AtomicBool;

use model::Model;
use rayon::prelude::*;
pub use sparse::LONGEST;
pub use work::{Gathered, Plan, Posterior, PosteriorBatch, PosteriorReport};

use crate::alignment::MultipleAlignment;
use crate::seq::{Code, SequenceId, SequenceStore};
use crate::simd::InstructionSet;
use crate::tree::{Distances, GuideTree, average_linkage};
use crate::{Error, Result};

/// How much is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Rounds of consistency, at most [`Options::MAX_ROUNDS`].
    pub rounds: u32,
    /// Cuts of the refinement at most; it ends when none changes anything.
    pub refinements: usize,
    /// Sequences that a pair is made consistent with: of each of the two the so many nearest.
    pub neighbours: usize,
}

impl Options {
    /// Greatest number of rounds of consistency. Each round makes the probabilities of a family smaller, and those below a cutoff are
    /// dropped: after more rounds too few are left to align remote relatives by.
    pub const MAX_ROUNDS: u32 = 3;
}

impl Default for Options {
    fn default() -> Self {
        Options { rounds: 2, refinements: 100, neighbours: 4 }
    }
}

/// Entries that a residue has in a pair, in the mean of all pairs: 1 to 2.5 of close relatives, 4 to 6.5 of protein families
/// that go far, 8 of sequences that have nothing in common, 9 if those are of two letters only.
const CELLS_A_RESIDUE: u64 = 9;
/// Bytes that a pair takes beside its entries, either way round: two lists and what allocators add to them, and its
/// distance.
const BYTES_A_PAIR: u64 = 160;

/// Bytes that [`align`] needs at most for sequences of such lengths, beside what each thread computes in (3 MiB, of 1,500
/// residues 30): of every two sequences, both ways round, their probable pairs of residues, and one way
/// round once more while they are made consistent. Related sequences take a half or a third of it.
pub fn memory(lengths: &[u32]) -> u64 {
    let residues: u64 = lengths.iter().map(|&length| u64::from(length)).sum();
    let a_residue = size_of::<u32>() as u64 + CELLS_A_RESIDUE * size_of::<sparse::Cell>() as u64;
    let sequences = lengths.len() as u64;
    residues
        .saturating_mul(sequences)
        .saturating_mul(a_residue + a_residue / 2)
        .saturating_add(sequences * sequences * BYTES_A_PAIR)
}

/// Cells of all tables that [`align`] computes: its time, but for sequences of which there are very many.
pub fn cells(lengths: &[u32]) -> u64 {
    let (mut sum, mut cells) = (0u64, 0u64);
    for &length in lengths {
        cells = cells.saturating_add(sum.saturating_mul(u64::from(length)));
        sum += u64::from(length);
    }
    cells
}

/// What comes of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The alignment, rows as the store's sequences.
    pub alignment: MultipleAlignment,
    /// The tree along which it was made.
    pub tree: GuideTree,
    /// Of every two sequences: what share of the shorter one is not expected to be aligned rightly. Before consistency.
    pub distances: Distances,
}

/// Aligns all sequences of a store. `advance` hears of pairs and cells that were computed. The result depends on nothing
/// but sequences and options.
///
/// # Errors
/// [`Error::Interrupted`]; [`Error::Usage`] of bytes, and of sequences that are too long.
pub fn align(
    store: &SequenceStore,
    options: &Options,
    pool: &rayon::ThreadPool,
    advance: &(dyn Fn(u64, u64) + Sync),
    interrupt: &AtomicBool,
) -> Result<(MultipleAlignment, GuideTree)> {
    align_along(store, options, None, pool, advance, interrupt).map(|outcome| (outcome.alignment, outcome.tree))
}

/// As [`align`], along a given tree if there is one. Weights of sequences follow from its branches, if it has any lengths.
///
/// # Errors
/// As [`align`]; [`Error::Usage`] of a tree that is not of so many sequences.
pub fn align_along(
    store: &SequenceStore,
    options: &Options,
    tree: Option<&GuideTree>,
    pool: &rayon::ThreadPool,
    advance: &(dyn Fn(u64, u64) + Sync),
    interrupt: &AtomicBool,
) -> Result<Outcome> {
    align_with(store, options, tree, InstructionSet::best(), pool, advance, interrupt)
}

fn align_with(
    store: &SequenceStore,
    options: &Options,
    tree: Option<&GuideTree>,
    level: InstructionSet,
    pool: &rayon::ThreadPool,
    advance: &(dyn Fn(u64, u64) + Sync),
    interrupt: &AtomicBool,
) -> Result<Outcome> {
    let model = model_of(store)?;
    check_tree(store, tree)?;
    let sequences: Vec<&[Code]> = (0..store.len() as SequenceId).map(|id| store.codes(id)).collect();
    pool.install(|| align_few(&model, &sequences, options, tree, level, advance, interrupt)?.finished())
}

/// The model of a store's sequences.
fn model_of(store: &SequenceStore) -> Result<Model> {
    let model = Model::new(store.alphabet());
    let model = model.ok_or_else(|| Error::usage("multiple alignments are of proteins and of nucleotides"))?;
    if store.lengths().iter().any(|&length| length as usize >= sparse::LONGEST) {
        return Err(Error::usage(format!("a sequence is longer than {} symbols", sparse::LONGEST - 1)));
    }
    Ok(model)
}

fn check_tree(store: &SequenceStore, tree: Option<&GuideTree>) -> Result<()> {
    match tree.filter(|tree| tree.leaves != store.len()) {
        Some(tree) => Err(Error::usage(format!("the tree is of {} sequences, not of {}", tree.leaves, store.len()))),
        None => Ok(()),
    }
}

/// As [`align_along`], by probabilities of all pairs that engines computed ([`Plan`]).
///
/// # Errors
/// [`Error::Interrupted`]; [`Error::Usage`] of a tree that is not of so many sequences.
pub fn align_gathered(
    store: &SequenceStore,
    options: &Options,
    tree: Option<&GuideTree>,
    gathered: Gathered,
    pool: &rayon::ThreadPool,
    interrupt: &AtomicBool,
) -> Result<Outcome> {
    check_tree(store, tree)?;
    let lengths: Vec<usize> = store.lengths().iter().map(|&length| length as usize).collect();
    pool.install(|| {
        let all = all_pairs::AllPairs::new(&lengths, gathered.pairs);
        align_by(all, &lengths, options, tree, interrupt)?.finished()
    })
}

/// Sequences that were aligned by the probabilities of all pairs.
struct Few {
    aligned: progressive::Aligned,
    tree: GuideTree,
    distances: Distances,
}

impl Few {
    fn finished(self) -> Result<Outcome> {
        let Few { aligned, tree, distances } = self;
        let alignment = aligned.finished().ok_or_else(|| Error::Internal("columns do not rise".into()))?;
        Ok(Outcome { alignment, tree, distances })
    }
}

/// Aligns sequences by the probabilities of all pairs; on the threads of the pool that it is called in.
fn align_few(
    model: &Model,
    sequences: &[&[Code]],
    options: &Options,
    tree: Option<&GuideTree>,
    level: InstructionSet,
    advance: &(dyn Fn(u64, u64) + Sync),
    interrupt: &AtomicBool,
) -> Result<Few> {
    let lengths: Vec<usize> = sequences.iter().map(|sequence| sequence.len()).collect();
    let all = all_pairs::compute(model, sequences, level, advance, interrupt)?;
    align_by(all, &lengths, options, tree, interrupt)
}

/// The same by probabilities that are there.
fn align_by(
    mut all: all_pairs::AllPairs,
    lengths: &[usize],
    options: &Options,
    tree: Option<&GuideTree>,
    interrupt: &AtomicBool,
) -> Result<Few> {
    let distances = distances(&all, lengths);
    let tree = tree.cloned().unwrap_or_else(|| average_linkage(distances.clone()));
    let weights = guide::weights(&tree);
    let between = nearest(&distances, options.neighbours);
    for _ in 0..options.rounds {
        all = consistency::relax(all, lengths, &weights, &between, interrupt)?;
    }
    let aligned = progressive::align(&all, lengths, &weights, &tree);
    let aligned = refine::refine(&all, &weights, &tree, aligned, options.refinements, interrupt)?;
    Ok(Few { aligned, tree, distances })
}

/// What share of the shorter sequence is not expected to be aligned rightly.
fn distances(all: &all_pairs::AllPairs, lengths: &[usize]) -> Distances {
    let pairs: Vec<(usize, usize)> = (0..lengths.len()).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
    let of = |&(a, b): &(usize, usize)| {
        let shorter = lengths[a].min(lengths[b]).max(1) as f64;
        (1.0 - f64::from(all.get(a, b).accuracy()) / shorter).max(0.0)
    };
    let values: Vec<f64> = pairs.par_iter().map(of).collect();
    let mut distances = Distances::new(lengths.len());
    for (&(a, b), value) in pairs.iter().zip(values) {
        distances.set(a, b, value);
    }
    distances
}

/// Of each sequence the nearest others, at most so many.
fn nearest(distances: &Distances, at_most: usize) -> Vec<Vec<usize>> {
    let sequences = distances.sequences();
    let of = |own: usize| {
        let mut others: Vec<usize> = (0..sequences).filter(|&other| other != own).collect();
        others.sort_by(|&a, &b| distances.get(own, a).total_cmp(&distances.get(own, b)).then(a.cmp(&b)));
        others.truncate(at_most);
        others
    };
    (0..sequences).map(of).collect()
}
