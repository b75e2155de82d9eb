//! What one thread does with a batch: a read and as many octets as there are lanes at a time, or several reads where each
//! has few octets.

use std::cmp::Reverse;

use super::costs::Costs;
use super::group::{Group, Read, Reads};
use super::kernel::{self, Memory};
use super::sites::Side;
use crate::papara::vectors::OCTET;
use crate::papara::work::PhyloBatch;
use crate::seq::{Alphabet, Code};
use crate::simd::{InstructionSet, LaneElement};

/// Buffers that live from batch to batch; one for each thread.
#[derive(Debug, Clone)]
pub struct Workspace {
    level: InstructionSet,
    memory: Memory,
    read: Read,
    octets: Vec<u32>,
}

impl Workspace {
    /// A workspace for the best instructions that the processor has.
    pub fn new() -> Self {
        Self::with(InstructionSet::best())
    }

    /// A workspace for these instructions, which change no result.
    pub fn with(level: InstructionSet) -> Self {
        Workspace { level, memory: Memory::default(), read: Read::default(), octets: Vec::new() }
    }
}

impl Default for Workspace {
    fn default() -> Self {
        Self::new()
    }
}

/// Computes a batch on this thread; results as [`crate::papara::PhyloReport::scores`] has them.
pub fn run(batch: &PhyloBatch, workspace: &mut Workspace) -> Vec<[i32; OCTET]> {
    run_until(batch, workspace, || false).unwrap_or_default()
}

/// As [`run`]; `None` if `is_over` says so before all is done.
pub(super) fn run_until(
    batch: &PhyloBatch,
    workspace: &mut Workspace,
    is_over: impl Fn() -> bool,
) -> Option<Vec<[i32; OCTET]>> {
    let costs = Costs::new(&batch.chunk.scheme);
    let stripe = kernel::stripe(workspace.level);
    if let Some(sites) = costs.sites::<i8>(stripe) {
        workspace.compute::<i8>(batch, &costs, sites, &is_over)
    } else if let Some(sites) = costs.sites::<i16>(stripe) {
        workspace.compute::<i16>(batch, &costs, sites, &is_over)
    } else {
        // Every scheme that is valid fits.
        let sites = costs.sites::<i32>(stripe).unwrap_or(1);
        workspace.compute::<i32>(batch, &costs, sites, &is_over)
    }
}

/// An octet of a read that shares lanes with octets of other reads.
struct Rest<'a> {
    codes: &'a [Code],
    octet: u32,
    /// Where its scores go.
    index: usize,
}

/// Lanes of different reads take about this many times as long as those of one read (a numerator and a denominator). So
/// a read's octets that fill a smaller part of the lanes than its inverse share them with others.
const SHARED_COST: (usize, usize) = (5, 3);

impl Workspace {
    /// Computes a batch in elements of a kind; `None` if it is over before.
    fn compute<E: LaneElement>(
        &mut self,
        batch: &PhyloBatch,
        costs: &Costs,
        block: usize,
        is_over: &impl Fn() -> bool,
    ) -> Option<Vec<[i32; OCTET]>> {
        let chunk = &*batch.chunk;
        let vectors = &*chunk.vectors;
        let lanes = E::lanes(self.level);
        let together = lanes.div_ceil(OCTET);
        let can_share = vectors.alphabet() == Alphabet::Dna && together > 1;
        let mut scores = vec![[0; OCTET]; batch.pairs() as usize];
        let mut rests: Vec<Rest<'_>> = Vec::new();
        let mut index = 0;
        // Blocks of one read that follow each other are one.
        for blocks in batch.blocks.chunk_by(|a, b| a.read == b.read) {
            let codes = chunk.reads.codes(blocks[0].read);
            let places = blocks.iter().flat_map(|block| block.places.clone());
            self.octets.clear();
            self.octets.extend(places.map(|place| chunk.octet(place)));
            if codes.is_empty() || vectors.sites() == 0 {
                scores[index..index + self.octets.len()].fill([costs.before(codes.len()) as i32; OCTET]);
                index += self.octets.len();
                continue;
            }
            self.read.set(vectors.alphabet(), codes);
            for octets in self.octets.chunks(together) {
                if can_share && SHARED_COST.0 * octets.len() < SHARED_COST.1 * together {
                    rests.extend((index..).zip(octets).map(|(index, &octet)| Rest { codes, octet, index }));
                } else {
                    if is_over() {
                        return None;
                    }
                    let own = scores[index..index + octets.len()].as_flattened_mut();
                    for first in (0..OCTET).step_by(lanes) {
                        let side = Side { vectors, octets, first };
                        let group = Group { costs, reads: Reads::One(&self.read), side, block };
                        let found = kernel::scores::<E>(self.level, &group, &mut self.memory);
                        own[first..].iter_mut().zip(&found[..lanes]).for_each(|(score, found)| *score = *found as i32);
                    }
                }
                index += octets.len();
            }
        }
        // Reads of about one length together.
        rests.sort_by_key(|rest| Reverse(rest.codes.len()));
        for rests in rests.chunks(together) {
            if is_over() {
                return None;
            }
            let octets: Vec<u32> = rests.iter().map(|rest| rest.octet).collect();
            let reads: Vec<&[Code]> = rests.iter().map(|rest| rest.codes).collect();
            let side = Side { vectors, octets: &octets, first: 0 };
            let group = Group { costs, reads: Reads::Each(&reads), side, block };
            let found = kernel::scores::<E>(self.level, &group, &mut self.memory);
            for (rest, found) in rests.iter().zip(found.as_chunks::<OCTET>().0) {
                scores[rest.index] = found.map(|score| score as i32);
            }
        }
        Some(scores)
    }
}
