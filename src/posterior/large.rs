//! Alignment of sets of sequences that are too large for the probabilities of all pairs.
//!
//! 1. A guide tree is built from the lengths of longest common subsequences of each sequence with
//!    some of the sequences ([`crate::tree::embedded`]).
//! 2. Small subtrees, called families, are aligned by the probabilities of all their pairs.
//! 3. Families are joined along the tree by their profiles. Forward and backward sums over all
//!    alignments of two profiles give the probability that two columns are homologous.

mod added;
mod columns;
mod join;
mod lcs;
mod letters;
mod math;
mod model;
mod profile;
#[cfg(test)]
mod tests;
mod tree;
mod tuning;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use rayon::prelude::*;

pub(crate) use self::added::align_alignments;
pub use self::added::{AlignedStore, add};
use self::join::{FamilyGroup, JoinInputs, JoinParameters, Representative, select_representatives};
use self::profile::CountProfile;
use self::tree::Families;
use super::progressive::AlignedMembers;
use super::{LENGTH_LIMIT, PosteriorOptions, align_by_pairs};
use crate::alignment::MultipleAlignment;
use crate::alignment::join::{JoinedColumns, map_columns, move_places};
use crate::seq::{Code, SequenceId, SequenceStore};
use crate::simd::InstructionSet;
use crate::tree::GuideTree;
use crate::{Error, Result};

/// Maximum size of a family that is aligned by all of its pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FamilyLimits {
    /// Number of sequences.
    pub sequences: usize,
    /// Number of cells of all pairs.
    pub cells: u64,
}

impl Default for FamilyLimits {
    fn default() -> Self {
        FamilyLimits { sequences: 50, cells: 2_000_000_000 }
    }
}

/// Maximum total bytes of the families that are aligned at the same time.
const MAX_CONCURRENT_BYTES: u64 = 2 << 30;

/// Aligns all sequences of a store of any size. Calls `advance` with the numbers of computed pairs
/// and cells. The result depends only on sequences, options and limits.
///
/// # Errors
/// Returns [`Error::Interrupted`] if `interrupt` is set, and [`Error::Usage`] for bytes.
pub fn align(
    store: &SequenceStore,
    options: &PosteriorOptions,
    limits: &FamilyLimits,
    pool: &rayon::ThreadPool,
    advance: &(dyn Fn(u64, u64) + Sync),
    interrupt: &AtomicBool,
) -> Result<(MultipleAlignment, GuideTree)> {
    align_with(store, options, limits, InstructionSet::best(), pool, advance, interrupt)
}

fn align_with(
    store: &SequenceStore,
    options: &PosteriorOptions,
    limits: &FamilyLimits,
    instructions: InstructionSet,
    pool: &rayon::ThreadPool,
    advance: &(dyn Fn(u64, u64) + Sync),
    interrupt: &AtomicBool,
) -> Result<(MultipleAlignment, GuideTree)> {
    let parameters = JoinParameters::new(store.alphabet(), instructions)?;
    let sequences: Vec<&[Code]> = (0..store.len() as SequenceId).map(|id| store.codes(id)).collect();
    let started = Instant::now();
    let seconds = || started.elapsed().as_secs_f64();
    let guide = tree::guide(&sequences, store.alphabet().size(), pool);
    let weights = tree::weights(&guide);
    let inputs = parameters.inputs(&sequences);
    pool.install(|| {
        let lengths: Vec<usize> = sequences.iter().map(|sequence| sequence.len()).collect();
        let fits = |size: &tree::SubtreeSize| {
            size.leaves <= limits.sequences && size.cells <= limits.cells && size.longest < LENGTH_LIMIT
        };
        let families = tree::families(&guide, &lengths, fits);
        tracing::debug!(families = families.members.len(), seconds = seconds(), "guide tree");
        let small = FamilyAligner { inputs: &inputs, options, advance, interrupt };
        let aligned = small.all(&families.members)?;
        tracing::debug!(seconds = seconds(), "families");
        let places = join_families(&inputs, &families, aligned, &weights, interrupt)?;
        tracing::debug!(seconds = seconds(), "joins");
        let finished = places.into_alignment().ok_or_else(|| Error::Internal("columns do not increase".into()))?;
        Ok((finished, guide))
    })
}

/// Input for the alignment of families.
struct FamilyAligner<'a> {
    inputs: &'a JoinInputs<'a>,
    options: &'a PosteriorOptions,
    advance: &'a (dyn Fn(u64, u64) + Sync),
    interrupt: &'a AtomicBool,
}

impl FamilyAligner<'_> {
    /// Aligns all families, as many at the same time as memory permits.
    fn all(&self, families: &[Vec<usize>]) -> Result<Vec<AlignedMembers>> {
        let mut aligned = Vec::with_capacity(families.len());
        let mut rest = families;
        while !rest.is_empty() {
            let mut bytes = 0;
            let fits = |family: &&Vec<usize>| {
                bytes += super::memory(self.inputs.model.alphabet(), &self.lengths(family));
                bytes <= MAX_CONCURRENT_BYTES
            };
            let count = rest.iter().take_while(fits).count().max(1);
            let (now, later) = rest.split_at(count);
            aligned.extend(now.par_iter().map(|family| self.align_family(family)).collect::<Result<Vec<_>>>()?);
            rest = later;
        }
        Ok(aligned)
    }

    fn lengths(&self, family: &[usize]) -> Vec<u32> {
        family.iter().map(|&member| self.inputs.sequences[member].len() as u32).collect()
    }

    fn align_family(&self, family: &[usize]) -> Result<AlignedMembers> {
        if let &[alone] = family {
            return Ok(AlignedMembers::single(alone, self.inputs.sequences[alone].len()));
        }
        let sequences: Vec<&[Code]> = family.iter().map(|&member| self.inputs.sequences[member]).collect();
        let JoinInputs { model, instructions, .. } = *self.inputs;
        let few = align_by_pairs(model, &sequences, self.options, None, instructions, self.advance, self.interrupt)?;
        let mut aligned = few.aligned;
        aligned.members = aligned.members.iter().map(|&member| family[member]).collect();
        Ok(aligned)
    }
}

/// Joins the families along the tree.
fn join_families(
    inputs: &JoinInputs,
    families: &Families,
    aligned: Vec<AlignedMembers>,
    weights: &[f32],
    interrupt: &AtomicBool,
) -> Result<AlignedMembers> {
    let group = |aligned: &AlignedMembers| {
        let all = aligned.members.iter().zip(&aligned.places).map(|(&sequence, places)| Representative {
            sequence,
            weight: weights[sequence],
            places: places.clone(),
        });
        FamilyGroup {
            profile: CountProfile::new(inputs.letters, inputs.sequences, weights, aligned),
            representatives: select_representatives(all.collect(), inputs.tuning.representatives),
        }
    };
    let mut groups: Vec<Option<FamilyGroup>> = aligned.par_iter().map(|aligned| Some(group(aligned))).collect();
    let count = aligned.len();
    groups.resize(count + families.joins.len(), None);
    let mut joins = vec![JoinedColumns::default(); families.joins.len()];
    for level in tree::joins_by_depth(families) {
        let done: Vec<(usize, JoinedColumns, FamilyGroup)> = level
            .par_iter()
            .map(|&at| {
                if interrupt.load(Ordering::Relaxed) {
                    return Err(Error::Interrupted);
                }
                let [a, b] = families.joins[at].map(|child| groups[child].as_ref());
                let (Some(a), Some(b)) = (a, b) else { return Err(Error::Internal("a group is missing".into())) };
                let joined = inputs.align(a, b);
                let group = inputs.merged(a, b, &joined);
                Ok((at, joined, group))
            })
            .collect::<Result<_>>()?;
        for (at, joined, group) in done {
            for child in families.joins[at] {
                groups[child] = None;
            }
            groups[count + at] = Some(group);
            joins[at] = joined;
        }
    }
    Ok(place_residues(families, &joins, aligned, inputs.sequences.len()))
}

/// Places the residues of all families in the columns of the root.
fn place_residues(
    families: &Families,
    joins: &[JoinedColumns],
    aligned: Vec<AlignedMembers>,
    sequences: usize,
) -> AlignedMembers {
    let count = aligned.len();
    let columns = match joins.last() {
        Some(root) => root.columns,
        None => aligned.first().map_or(0, |only| only.columns),
    };
    // `maps` contains, for each node that has not been visited, the root column of each of its
    // columns.
    let mut maps: Vec<Vec<u32>> = vec![Vec::new(); count + joins.len()];
    if let Some(root) = maps.last_mut() {
        *root = (0..columns as u32).collect();
    }
    for (at, join) in joins.iter().enumerate().rev() {
        let node_map = std::mem::take(&mut maps[count + at]);
        for (&child, map) in families.joins[at].iter().zip(&join.maps) {
            maps[child] = map_columns(map, &node_map);
        }
    }
    let mut places = vec![Vec::new(); sequences];
    for (family, map) in aligned.into_iter().zip(&maps) {
        for (member, mut row) in family.members.into_iter().zip(family.places) {
            move_places(&mut row, map);
            places[member] = row;
        }
    }
    AlignedMembers { members: (0..sequences).collect(), columns, places }
}
