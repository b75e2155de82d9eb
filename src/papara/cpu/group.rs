//! A read and some vectors of states: what there is to compute, and where.

use super::costs::Costs;
use super::sites::Side;
use crate::papara::vectors::{OCTET, set_of};
use crate::score::difference::Element;
use crate::seq::{Alphabet, Code, PAD};

/// A read, by the different sets that its symbols are.
#[derive(Debug, Clone, Default)]
pub(super) struct Read {
    /// Of each symbol.
    pub rows: Vec<usize>,
    /// Of each row.
    pub sets: Vec<u32>,
}

impl Read {
    /// Takes a read.
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

/// What lanes are compared with.
#[derive(Clone, Copy)]
pub(super) enum Reads<'a> {
    /// All with one read.
    One(&'a Read),
    /// Each eight with nucleotides of their own; those that lack with the last.
    Each(&'a [&'a [Code]]),
}

/// Reads against as many vectors of states as there are lanes.
pub(super) struct Group<'a> {
    pub costs: &'a Costs,
    /// Of at least one symbol.
    pub reads: Reads<'a>,
    /// At least one site.
    pub side: Side<'a>,
    /// The most sites of a block.
    pub block: usize,
}

/// The numbers of a group's elements, so many lanes each.
pub(super) struct Room<'a, E> {
    /// Cells of a column: of each stripe those, then the deletions that end there.
    pub column: &'a mut [E],
    /// Cells of the symbol before the next stripe, at the sites of a block, and the insertions that go on from there.
    pub cells: &'a mut [E],
    pub insertions: &'a mut [E],
    /// What symbols score in a block ([`super::sites::Profile`]).
    pub rows: &'a mut [E],
    pub opening: &'a mut [E],
    pub gained: &'a mut [E],
}

/// Bytes of a block's profile that leave the fastest cache room for the rest.
const PROFILE_BYTES: usize = 20 << 10;

impl Reads<'_> {
    /// Symbols of the read that some eight lanes have.
    pub(super) fn symbols(&self, eight: usize) -> usize {
        match self {
            Reads::One(read) => read.rows.len(),
            Reads::Each(reads) => reads[eight.min(reads.len() - 1)].len(),
        }
    }

    /// Symbols of the longest.
    pub(super) fn longest(&self) -> usize {
        match self {
            Reads::One(read) => read.rows.len(),
            Reads::Each(reads) => reads.iter().map(|read| read.len()).max().unwrap_or(0),
        }
    }

    /// Sets of the only read.
    pub(super) fn sets(&self) -> Option<&[u32]> {
        match self {
            Reads::One(read) => Some(&read.sets),
            Reads::Each(_) => None,
        }
    }

    /// Vectors of a site's profile.
    pub(super) fn rows(&self) -> usize {
        self.sets().map_or(2, <[u32]>::len) + 1
    }
}

impl Group<'_> {
    /// The sites of a block of these elements: as many as may be, and fit the fastest cache.
    pub(super) fn sites<E: Element>(&self, lanes: usize) -> usize {
        let bytes = self.reads.rows() * lanes * size_of::<E>();
        self.block.min(PROFILE_BYTES / bytes).max(1)
    }

    /// Elements of all rooms, for stripes of so many symbols in all, and blocks of so many sites.
    pub(super) fn elements(&self, symbols: usize, sites: usize, lanes: usize) -> usize {
        (2 * symbols + sites * (self.reads.rows() + 4)) * lanes
    }

    /// Rooms in memory that is large enough.
    pub(super) fn rooms<'m, E>(&self, memory: &'m mut [E], symbols: usize, sites: usize, lanes: usize) -> Room<'m, E> {
        let (column, rest) = memory.split_at_mut(2 * symbols * lanes);
        let (rows, rest) = rest.split_at_mut(sites * self.reads.rows() * lanes);
        let (cells, rest) = rest.split_at_mut(sites * lanes);
        let (insertions, rest) = rest.split_at_mut(sites * lanes);
        let (opening, rest) = rest.split_at_mut(sites * lanes);
        Room { column, cells, insertions, rows, opening, gained: rest }
    }

    /// Codes of reads of their own, padded before their first symbol: symbol after symbol of all lanes.
    pub(super) fn codes(&self, codes: &mut Vec<Code>, symbols: usize, lanes: usize) {
        codes.clear();
        if let Reads::Each(reads) = self.reads {
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
