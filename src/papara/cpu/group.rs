//! A read and some vectors of states, and the scratch memory for computing them.

use super::costs::CellCosts;
use super::sites::LaneVectors;
use crate::papara::vectors::{OCTET, set_of};
use crate::score::difference::Element;
use crate::seq::{Alphabet, Code, PAD};

/// A read as indices into the list of its distinct sets.
#[derive(Debug, Clone, Default)]
pub(super) struct ReadRows {
    /// Row of each symbol, an index into `sets`.
    pub rows: Vec<usize>,
    /// Set of each row.
    pub sets: Vec<u32>,
}

impl ReadRows {
    /// Replaces the content by a read.
    pub(super) fn set(&mut self, alphabet: Alphabet, codes: &[Code]) {
        let mut row_of = [usize::MAX; 1 << Code::BITS];
        self.rows.clear();
        self.sets.clear();
        for &code in codes {
            let row = &mut row_of[usize::from(code)];
            if *row == usize::MAX {
                *row = self.sets.len();
                self.sets.push(set_of(alphabet, code));
            }
            self.rows.push(*row);
        }
    }
}

/// The reads of the lanes.
#[derive(Clone, Copy)]
pub(super) enum LaneReads<'a> {
    /// All lanes have one read.
    One(&'a ReadRows),
    /// Each group of eight lanes has its own nucleotide read. If there are fewer reads than groups,
    /// the remaining groups repeat the last read.
    Each(&'a [&'a [Code]]),
}

/// Reads and the vectors of states of all lanes.
pub(super) struct ReadLaneGroup<'a> {
    pub costs: &'a CellCosts,
    /// Reads with at least one symbol.
    pub reads: LaneReads<'a>,
    /// Vectors with at least one site.
    pub side: LaneVectors<'a>,
    /// Maximum number of sites in a block.
    pub block: usize,
}

/// Scratch memory of a group, as vectors with one element per lane.
pub(super) struct GroupScratch<'a, E> {
    /// Cells after the last site of a block: for each stripe its cells, then its deletions.
    pub column: &'a mut [E],
    /// Cells of the last symbol of a stripe, one per site of a block. `insertions` contains the
    /// scores of insertions that continue into the next stripe.
    pub cells: &'a mut [E],
    pub insertions: &'a mut [E],
    /// Scores of symbols in a block ([`super::sites::BlockProfile`]).
    pub rows: &'a mut [E],
    pub opening: &'a mut [E],
    pub gained: &'a mut [E],
}

/// Maximum bytes of a block's profile. The rest of the L1 cache is left for other data.
const PROFILE_BYTES: usize = 20 << 10;

impl LaneReads<'_> {
    /// Returns the number of symbols of the read in the group of eight lanes with index `eight`.
    pub(super) fn symbols(&self, eight: usize) -> usize {
        match self {
            LaneReads::One(read) => read.rows.len(),
            LaneReads::Each(reads) => reads[eight.min(reads.len() - 1)].len(),
        }
    }

    /// Returns the number of symbols of the longest read.
    pub(super) fn longest(&self) -> usize {
        match self {
            LaneReads::One(read) => read.rows.len(),
            LaneReads::Each(reads) => reads.iter().map(|read| read.len()).max().unwrap_or(0),
        }
    }

    /// Returns the sets of the read if all lanes share it.
    pub(super) fn sets(&self) -> Option<&[u32]> {
        match self {
            LaneReads::One(read) => Some(&read.sets),
            LaneReads::Each(_) => None,
        }
    }

    /// Returns the number of lane vectors per site in the profile.
    pub(super) fn rows(&self) -> usize {
        self.sets().map_or(2, <[u32]>::len) + 1
    }
}

impl ReadLaneGroup<'_> {
    /// Returns the number of sites in a block, limited by the group and by the L1 cache.
    pub(super) fn sites<E: Element>(&self, lanes: usize) -> usize {
        let bytes = self.reads.rows() * lanes * size_of::<E>();
        self.block.min(PROFILE_BYTES / bytes).max(1)
    }

    /// Returns the number of elements of the scratch memory, for `symbols` symbols (padded to whole
    /// stripes) and blocks of `sites` sites.
    pub(super) fn elements(&self, symbols: usize, sites: usize, lanes: usize) -> usize {
        (2 * symbols + sites * (self.reads.rows() + 4)) * lanes
    }

    /// Splits `memory` into the buffers of the scratch memory. `memory` must be large enough.
    pub(super) fn scratch<'m, E>(
        &self,
        memory: &'m mut [E],
        symbols: usize,
        sites: usize,
        lanes: usize,
    ) -> GroupScratch<'m, E> {
        let (column, rest) = memory.split_at_mut(2 * symbols * lanes);
        let (rows, rest) = rest.split_at_mut(sites * self.reads.rows() * lanes);
        let (cells, rest) = rest.split_at_mut(sites * lanes);
        let (insertions, rest) = rest.split_at_mut(sites * lanes);
        let (opening, rest) = rest.split_at_mut(sites * lanes);
        GroupScratch { column, cells, insertions, rows, opening, gained: rest }
    }

    /// Interleaves the codes of the lanes' reads, symbol by symbol. Shorter reads have padding
    /// before their first symbol. Leaves `codes` empty if all lanes share a read.
    pub(super) fn codes(&self, codes: &mut Vec<Code>, symbols: usize, lanes: usize) {
        codes.clear();
        if let LaneReads::Each(reads) = self.reads {
            codes.resize(symbols * lanes, PAD);
            for (eight, first) in (0..lanes).step_by(OCTET).enumerate() {
                let read = reads[eight.min(reads.len() - 1)];
                for (lanes, code) in codes.chunks_exact_mut(lanes).skip(symbols - read.len()).zip(read) {
                    lanes[first..first + OCTET].fill(*code);
                }
            }
        }
    }
}
