//! Computation of a batch by one thread. The lanes usually process one read with as many octets as
//! fit. Reads with few octets share the lanes.

use std::cmp::Reverse;

use super::costs::CellCosts;
use super::group::{LaneReads, ReadLaneGroup, ReadRows};
use super::kernel::{self, GroupMemory};
use super::sites::LaneVectors;
use crate::papara::vectors::OCTET;
use crate::papara::work::PhyloBatch;
use crate::seq::{Alphabet, Code};
use crate::simd::{InstructionSet, LaneElement};

/// Scratch memory of a thread, reused for all batches.
#[derive(Debug, Clone)]
pub struct PhyloWorkspace {
    instructions: InstructionSet,
    memory: GroupMemory,
    read: ReadRows,
    octets: Vec<u32>,
}

impl PhyloWorkspace {
    /// Creates a workspace for the best instruction set of the processor.
    pub fn new() -> Self {
        Self::with(InstructionSet::best())
    }

    /// Creates a workspace for an instruction set. Results do not depend on it.
    pub fn with(instructions: InstructionSet) -> Self {
        PhyloWorkspace { instructions, memory: GroupMemory::default(), read: ReadRows::default(), octets: Vec::new() }
    }
}

impl Default for PhyloWorkspace {
    fn default() -> Self {
        Self::new()
    }
}

/// Computes a batch on this thread. Returns the scores in the order of
/// [`crate::papara::PhyloReport::scores`].
pub fn run(batch: &PhyloBatch, workspace: &mut PhyloWorkspace) -> Vec<[i32; OCTET]> {
    run_until(batch, workspace, || false).unwrap_or_default()
}

/// Computes a batch like [`run`], but returns `None` if `is_over` returns true before the end.
pub(super) fn run_until(
    batch: &PhyloBatch,
    workspace: &mut PhyloWorkspace,
    is_over: impl Fn() -> bool,
) -> Option<Vec<[i32; OCTET]>> {
    let costs = CellCosts::new(&batch.chunk.scheme);
    let stripe = kernel::stripe(workspace.instructions.instructions());
    if let Some(sites) = costs.sites::<i8>(stripe) {
        workspace.compute::<i8>(batch, &costs, sites, &is_over)
    } else if let Some(sites) = costs.sites::<i16>(stripe) {
        workspace.compute::<i16>(batch, &costs, sites, &is_over)
    } else {
        // Every valid scheme fits `i32` elements.
        let sites = costs.sites::<i32>(stripe).unwrap_or(1);
        workspace.compute::<i32>(batch, &costs, sites, &is_over)
    }
}

/// A read and one of its octets, which shares the lanes with octets of other reads.
struct SharedOctet<'a> {
    codes: &'a [Code],
    octet: u32,
    /// Index of its scores in the report.
    index: usize,
}

/// Ratio of the computing time with several reads per group of lanes to the time with one read
/// (numerator and denominator). The octets of a read share lanes with other reads if they fill less
/// than the inverse of this fraction.
const SHARED_COST: (usize, usize) = (5, 3);

impl PhyloWorkspace {
    /// Computes a batch with elements of type `E`. Returns `None` if `is_over` returns true before
    /// the end.
    fn compute<E: LaneElement>(
        &mut self,
        batch: &PhyloBatch,
        costs: &CellCosts,
        block: usize,
        is_over: &impl Fn() -> bool,
    ) -> Option<Vec<[i32; OCTET]>> {
        let chunk = &*batch.chunk;
        let vectors = &*chunk.vectors;
        let lanes = E::lanes(self.instructions);
        let together = lanes.div_ceil(OCTET);
        let can_share = vectors.alphabet() == Alphabet::Dna && together > 1;
        let mut scores = vec![[0; OCTET]; batch.pairs() as usize];
        let mut shared_octets: Vec<SharedOctet<'_>> = Vec::new();
        let mut index = 0;
        // Consecutive blocks of one read are computed as one.
        for blocks in batch.blocks.chunk_by(|a, b| a.read == b.read) {
            let codes = chunk.reads.codes(blocks[0].read);
            let positions = blocks.iter().flat_map(|block| block.positions.clone());
            self.octets.clear();
            self.octets.extend(positions.map(|position| chunk.octet(position)));
            if codes.is_empty() || vectors.sites() == 0 {
                scores[index..index + self.octets.len()].fill([costs.leading_score(codes.len()) as i32; OCTET]);
                index += self.octets.len();
                continue;
            }
            self.read.set(vectors.alphabet(), codes);
            for octets in self.octets.chunks(together) {
                if can_share && SHARED_COST.0 * octets.len() < SHARED_COST.1 * together {
                    shared_octets.extend((index..).zip(octets).map(|(index, &octet)| SharedOctet {
                        codes,
                        octet,
                        index,
                    }));
                } else {
                    if is_over() {
                        return None;
                    }
                    let octet_scores = scores[index..index + octets.len()].as_flattened_mut();
                    for first in (0..OCTET).step_by(lanes) {
                        let side = LaneVectors { vectors, octets, first };
                        let group = ReadLaneGroup { costs, reads: LaneReads::One(&self.read), side, block };
                        let group_scores = kernel::scores::<E>(self.instructions, &group, &mut self.memory);
                        octet_scores[first..]
                            .iter_mut()
                            .zip(&group_scores[..lanes])
                            .for_each(|(score, group_scores)| *score = *group_scores as i32);
                    }
                }
                index += octets.len();
            }
        }
        // Reads of similar length share the lanes.
        shared_octets.sort_by_key(|shared| Reverse(shared.codes.len()));
        for shared_octets in shared_octets.chunks(together) {
            if is_over() {
                return None;
            }
            let octets: Vec<u32> = shared_octets.iter().map(|shared| shared.octet).collect();
            let reads: Vec<&[Code]> = shared_octets.iter().map(|shared| shared.codes).collect();
            let side = LaneVectors { vectors, octets: &octets, first: 0 };
            let group = ReadLaneGroup { costs, reads: LaneReads::Each(&reads), side, block };
            let group_scores = kernel::scores::<E>(self.instructions, &group, &mut self.memory);
            for (shared, group_scores) in shared_octets.iter().zip(group_scores.as_chunks::<OCTET>().0) {
                scores[shared.index] = group_scores.map(|score| score as i32);
            }
        }
        Some(scores)
    }
}
