//! What one thread does with a batch: a read and as many octets as there are lanes at a time.

use super::costs::Costs;
use super::group::{Group, Read};
use super::kernel;
use super::sites::Side;
use crate::papara::vectors::OCTET;
use crate::papara::work::PhyloBatch;
use crate::simd::{LaneElement, Level, Lines, MAX_LANES};

/// Buffers that live from batch to batch; one for each thread.
#[derive(Debug, Clone)]
pub struct Workspace {
    level: Level,
    memory: Lines<u64>,
    read: Read,
    octets: Vec<u32>,
}

impl Workspace {
    /// A workspace for the best instructions that the processor has.
    pub fn new() -> Self {
        Self::with(Level::best())
    }

    /// A workspace for these instructions, which change no result.
    ///
    /// # Panics
    /// If the processor does not have the instructions.
    pub fn with(level: Level) -> Self {
        Workspace { level: level.checked(), memory: Lines::default(), read: Read::default(), octets: Vec::new() }
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
    let band = &*batch.band;
    let costs = Costs::new(&band.scheme);
    let stripe = kernel::stripe(workspace.level);
    let mut scores = Vec::with_capacity(batch.pairs() as usize);
    // Blocks of one read that follow each other share lanes.
    for blocks in batch.blocks.chunk_by(|a, b| a.read == b.read) {
        workspace.octets.clear();
        workspace.octets.extend(blocks.iter().flat_map(|block| block.places.clone()).map(|place| band.octet(place)));
        workspace.read.set(band.vectors.alphabet(), band.reads.codes(blocks[0].read));
        let symbols = workspace.read.rows.len();
        if symbols == 0 || band.vectors.sites() == 0 {
            let score = if symbols == 0 { 0 } else { costs.before(symbols) };
            scores.extend(workspace.octets.iter().map(|_| [score as i32; OCTET]));
            continue;
        }
        let is_done = if let Some(sites) = costs.sites::<i8>(stripe) {
            workspace.compute::<i8>(&costs, band, sites, &is_over, &mut scores)
        } else if let Some(sites) = costs.sites::<i16>(stripe) {
            workspace.compute::<i16>(&costs, band, sites, &is_over, &mut scores)
        } else {
            // Every scheme that is valid fits.
            let sites = costs.sites::<i32>(stripe).unwrap_or(1);
            workspace.compute::<i32>(&costs, band, sites, &is_over, &mut scores)
        };
        if !is_done {
            return None;
        }
    }
    Some(scores)
}

impl Workspace {
    /// Computes the read against its octets in elements of a kind; whether all is done.
    fn compute<E: LaneElement>(
        &mut self,
        costs: &Costs,
        band: &crate::papara::PhyloBand,
        block: usize,
        is_over: &impl Fn() -> bool,
        scores: &mut Vec<[i32; OCTET]>,
    ) -> bool {
        let lanes = E::lanes(self.level);
        for octets in self.octets.chunks(lanes.div_ceil(OCTET)) {
            if is_over() {
                return false;
            }
            let from = scores.len();
            scores.resize(from + octets.len(), [0; OCTET]);
            for first in (0..OCTET).step_by(lanes) {
                let side = Side { vectors: &band.vectors, octets, first };
                let group = Group { costs, read: &self.read, side, block };
                let found: [i64; MAX_LANES] = kernel::scores::<E>(self.level, &group, &mut self.memory);
                let own = scores[from..].as_flattened_mut();
                own[first..].iter_mut().zip(&found[..lanes]).for_each(|(score, found)| *score = *found as i32);
            }
        }
        true
    }
}
