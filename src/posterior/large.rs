//! Alignment of sets of sequences that are too large for the probabilities of all pairs.
//!
//! 1. A guide tree is built from the lengths of longest common subsequences of each sequence with
//!    some of the sequences ([`crate::tree::embedded`]).
//! 2. Small subtrees, called families, are aligned by the probabilities of all their pairs.
//! 3. Families are joined along the tree by their profiles. Forward and backward sums over all
//!    alignments of two profiles give the probability that two columns are homologous.

mod added;
mod columns;
mod cost;
mod families;
mod join;
mod joiner;
mod lcs;
mod letters;
mod math;
mod model;
mod profile;
mod representatives;
#[cfg(test)]
mod tests;
mod tree;
mod tuning;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

pub(crate) use self::added::align_alignments;
pub use self::added::{AlignedStore, add};
pub use self::cost::predicted_cells;
use self::families::FamilyAligner;
pub use self::families::FamilyLimits;
use self::join::JoinParameters;
use self::joiner::FamilyJoiner;
use super::{GatheredProbabilities, PosteriorOptions, PosteriorPlan, Weighting};
use crate::alignment::MultipleAlignment;
use crate::seq::{Alphabet, Code, SequenceId, SequenceStore};
use crate::simd::InstructionSet;
use crate::tree::GuideTree;
use crate::{Error, Result};

/// Computes the probabilities of planned pairs on devices. It is called on the thread that called
/// [`align`].
pub type PairComputer<'a> = dyn FnMut(PosteriorPlan) -> Result<GatheredProbabilities> + 'a;

/// Settings of an alignment of a large set that do not change the result.
pub struct LargeRun<'a> {
    /// Threads. The calling thread must not be one of them.
    pub pool: &'a rayon::ThreadPool,
    /// Computes the probabilities of pairs if there is a device for them. Otherwise the threads
    /// compute them.
    pub computer: Option<&'a mut PairComputer<'a>>,
    /// Maximum bytes of the families that are aligned at the same time, and of the probabilities for
    /// joins. At least one family is aligned, which needs less than 320 MiB.
    pub memory: u64,
    /// Called with the numbers of pairs and cells that the threads have computed.
    pub advance: &'a (dyn Fn(u64, u64) + Sync),
    /// Ends the alignment early.
    pub interrupt: &'a AtomicBool,
}

/// Returns the number of neighbours for consistency in families, where `neighbours` is the number
/// for a whole set. More neighbours make families of proteins (HomFam, QuanTest2) more accurate, but
/// not families of genes or the sets of BAliBASE.
fn family_neighbours(alphabet: Alphabet, neighbours: usize) -> usize {
    if alphabet == Alphabet::Protein { 2 * neighbours } else { neighbours }
}

/// Aligns all sequences of a store of any size. The result depends only on sequences, options and
/// limits.
///
/// # Errors
/// Returns [`Error::Interrupted`] if `interrupt` is set, [`Error::Usage`] for bytes, and the errors
/// of the computer.
pub fn align(
    store: &Arc<SequenceStore>,
    options: &PosteriorOptions,
    limits: &FamilyLimits,
    run: LargeRun<'_>,
) -> Result<(MultipleAlignment, GuideTree)> {
    align_with(store, options, limits, InstructionSet::best(), run)
}

fn align_with(
    store: &Arc<SequenceStore>,
    options: &PosteriorOptions,
    limits: &FamilyLimits,
    instructions: InstructionSet,
    run: LargeRun<'_>,
) -> Result<(MultipleAlignment, GuideTree)> {
    let LargeRun { pool, computer, memory, advance, interrupt } = run;
    let parameters = JoinParameters::new(store.alphabet(), instructions)?;
    let sequences: Vec<&[Code]> = (0..store.len() as SequenceId).map(|id| store.codes(id)).collect();
    let started = Instant::now();
    let seconds = || started.elapsed().as_secs_f64();
    let guide = tree::guide(&sequences, store.alphabet().size(), pool, interrupt)?;
    let weights = tree::weights(&guide);
    let inputs = parameters.inputs(&sequences, interrupt);
    let lengths: Vec<usize> = sequences.iter().map(|sequence| sequence.len()).collect();
    let families = tree::families(&guide, &lengths, |size| limits.fit(size));
    tracing::debug!(families = families.members.len(), seconds = seconds(), "guide tree");
    let neighbours = family_neighbours(store.alphabet(), options.neighbours);
    let options = &PosteriorOptions { weighting: Weighting::Family, neighbours, ..options.clone() };
    let small = FamilyAligner { inputs: &inputs, options, advance, interrupt, memory: memory / 2 };
    let joiner = FamilyJoiner { inputs: &inputs, families: &families, weights: &weights, memory: memory / 2 };
    let places = match computer {
        Some(computer) => {
            let mut devices = Devices { store, pool, computer };
            let aligned = small.all_on(&families.members, &mut devices)?;
            tracing::debug!(seconds = seconds(), "families");
            joiner.join_on(aligned, &mut devices)?
        }
        None => pool.install(|| {
            let aligned = small.all(&families.members)?;
            tracing::debug!(seconds = seconds(), "families");
            joiner.join(aligned)
        })?,
    };
    tracing::debug!(seconds = seconds(), "joins");
    let finished = places.into_alignment().ok_or_else(|| Error::Internal("columns do not increase".into()))?;
    Ok((finished, guide))
}

/// A computer of pairs, and the threads that use its results.
struct Devices<'a, 'b> {
    store: &'a Arc<SequenceStore>,
    pool: &'a rayon::ThreadPool,
    computer: &'a mut PairComputer<'b>,
}

impl Devices<'_, '_> {
    /// Computes a plan while the pool runs another task.
    fn compute_during<T: Send>(
        &mut self,
        plan: PosteriorPlan,
        task: impl FnOnce() -> T + Send,
    ) -> Result<(GatheredProbabilities, T)> {
        let pool = self.pool;
        std::thread::scope(|scope| {
            let other = scope.spawn(|| pool.install(task));
            let gathered = if plan.blocks.is_empty() {
                Ok(GatheredProbabilities::of_plans(std::slice::from_ref(&plan)))
            } else {
                (self.computer)(plan)
            };
            match other.join() {
                Ok(result) => Ok((gathered?, result)),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    }
}
