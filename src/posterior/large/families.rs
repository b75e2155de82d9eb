//! Families, which are aligned by the probabilities of all of their pairs.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::AtomicBool;

use rayon::prelude::*;

use super::Devices;
use super::join::JoinInputs;
use super::tree::SubtreeSize;
use crate::posterior::all_pairs::{IndexedPairs, PairProbabilities};
use crate::posterior::progressive::AlignedMembers;
use crate::posterior::{LENGTH_LIMIT, PosteriorOptions, PosteriorPlan, align_by, align_by_pairs, memory, structure};
use crate::seq::Code;
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

impl FamilyLimits {
    /// Returns whether a subtree is small enough.
    pub(super) fn fit(&self, size: &SubtreeSize) -> bool {
        size.leaves <= self.sequences && size.cells <= self.cells && size.longest < LENGTH_LIMIT
    }
}

/// Number of batches into which the families are divided on devices if memory permits. While a
/// device computes the pairs of one batch, threads align the families of the batch before.
const BATCHES: u64 = 8;

/// Minimum number of cells of a batch on devices, unless memory limits it.
const BATCH_CELLS: u64 = 4_000_000_000;

/// Input for the alignment of families.
pub(super) struct FamilyAligner<'a> {
    pub inputs: &'a JoinInputs<'a>,
    pub options: &'a PosteriorOptions,
    pub advance: &'a (dyn Fn(u64, u64) + Sync),
    pub interrupt: &'a AtomicBool,
    /// Maximum bytes of all families that are aligned at the same time.
    pub memory: u64,
}

impl FamilyAligner<'_> {
    /// Aligns all families on the current thread pool, as many at the same time as memory permits.
    pub(super) fn all(&self, families: &[Vec<usize>]) -> Result<Vec<AlignedMembers>> {
        let mut aligned = Vec::with_capacity(families.len());
        for batch in self.batches(families, self.memory, u64::MAX) {
            let batch = families[batch].par_iter().map(|family| self.align_family(family));
            aligned.extend(batch.collect::<Result<Vec<_>>>()?);
        }
        Ok(aligned)
    }

    /// Aligns all families. The devices compute the probabilities of pairs.
    pub(super) fn all_on(&self, families: &[Vec<usize>], devices: &mut Devices<'_, '_>) -> Result<Vec<AlignedMembers>> {
        let cells: u64 = families.iter().map(|family| self.cells(family)).sum();
        let mut aligned = Vec::with_capacity(families.len());
        let mut ready: Vec<(&[usize], IndexedPairs)> = Vec::new();
        for batch in self.batches(families, self.memory / 2, (cells / BATCHES).max(BATCH_CELLS)) {
            let families = &families[batch];
            let plan = PosteriorPlan::within(devices.store, self.inputs.model.clone(), families);
            let earlier = std::mem::take(&mut ready);
            let (gathered, finished) = devices.compute_during(plan, || self.align_ready(earlier))?;
            aligned.extend(finished?);
            ready = assign_pairs(families, gathered.into_pairs())?;
        }
        aligned.extend(devices.pool.install(|| self.align_ready(ready))?);
        Ok(aligned)
    }

    /// Divides the families into batches of at most `memory` bytes and `cells` cells, but at least
    /// one family.
    fn batches(&self, families: &[Vec<usize>], memory: u64, cells: u64) -> Vec<Range<usize>> {
        let mut batches = Vec::new();
        let (mut first, mut bytes_sum, mut cells_sum) = (0, 0, 0);
        for (index, family) in families.iter().enumerate() {
            let (bytes, family_cells) = (self.bytes(family), self.cells(family));
            if index > first && (bytes_sum + bytes > memory || cells_sum + family_cells > cells) {
                batches.push(first..index);
                (first, bytes_sum, cells_sum) = (index, 0, 0);
            }
            bytes_sum += bytes;
            cells_sum += family_cells;
        }
        if first < families.len() {
            batches.push(first..families.len());
        }
        batches
    }

    fn lengths(&self, family: &[usize]) -> Vec<u32> {
        family.iter().map(|&member| self.inputs.sequences[member].len() as u32).collect()
    }

    fn bytes(&self, family: &[usize]) -> u64 {
        memory(self.inputs.model.alphabet(), &self.lengths(family))
    }

    fn cells(&self, family: &[usize]) -> u64 {
        crate::posterior::cells(&self.lengths(family))
    }

    fn codes(&self, family: &[usize]) -> Vec<&[Code]> {
        family.iter().map(|&member| self.inputs.sequences[member]).collect()
    }

    fn align_family(&self, family: &[usize]) -> Result<AlignedMembers> {
        if let &[alone] = family {
            return Ok(AlignedMembers::single(alone, self.inputs.sequences[alone].len()));
        }
        let JoinInputs { model, instructions, .. } = *self.inputs;
        let sequences = self.codes(family);
        let models = std::slice::from_ref(model);
        let few = align_by_pairs(models, &sequences, self.options, None, instructions, self.advance, self.interrupt)?;
        Ok(renumber(few.aligned, family))
    }

    /// Aligns families whose probabilities are known, on the current thread pool.
    fn align_ready(&self, ready: Vec<(&[usize], IndexedPairs)>) -> Result<Vec<AlignedMembers>> {
        ready.into_par_iter().map(|(family, pairs)| self.align_known(family, pairs)).collect()
    }

    fn align_known(&self, family: &[usize], pairs: IndexedPairs) -> Result<AlignedMembers> {
        if let &[alone] = family {
            return Ok(AlignedMembers::single(alone, self.inputs.sequences[alone].len()));
        }
        let sequences = self.codes(family);
        let lengths: Vec<usize> = sequences.iter().map(|sequence| sequence.len()).collect();
        let all = PairProbabilities::new(&lengths, pairs);
        let folds = structure::fold(self.inputs.model.alphabet(), &sequences, self.interrupt)?;
        let few = align_by(all, &lengths, folds, self.options, None, self.interrupt)?;
        Ok(renumber(few.aligned, family))
    }
}

/// Replaces the indices of members by the numbers of sequences.
fn renumber(mut aligned: AlignedMembers, family: &[usize]) -> AlignedMembers {
    aligned.members.iter_mut().for_each(|member| *member = family[*member]);
    aligned
}

/// Assigns the pairs of sequences to their families.
fn assign_pairs(families: &[Vec<usize>], pairs: IndexedPairs) -> Result<Vec<(&[usize], IndexedPairs)>> {
    let mut homes: HashMap<usize, (usize, usize)> = HashMap::new();
    for (index, family) in families.iter().enumerate() {
        homes.extend(family.iter().enumerate().map(|(member, &sequence)| (sequence, (index, member))));
    }
    let mut assigned: Vec<(&[usize], IndexedPairs)> = families.iter().map(|family| (&family[..], Vec::new())).collect();
    for ((a, b), sparse) in pairs {
        match (homes.get(&a), homes.get(&b)) {
            (Some(&(index, a)), Some(&(other, b))) if index == other => assigned[index].1.push(((a, b), sparse)),
            _ => return Err(Error::Internal("a pair of two families was computed".into())),
        }
    }
    let is_complete = |(family, pairs): &(&[usize], IndexedPairs)| pairs.len() == family.len() * (family.len() - 1) / 2;
    match assigned.iter().all(is_complete) {
        true => Ok(assigned),
        false => Err(Error::Internal("a pair of a family is missing".into())),
    }
}
