//! Blocks of sites, and the score profile of their symbols.

use std::ops::Range;

use super::costs::{KINDS, MAX_SITES, SiteKindScores};
use crate::papara::vectors::{OCTET, StateCells, Vectors};
use crate::simd::{Lanes, MAX_LANES};

/// Maximum number of bytes of a site: three for amino acids.
const PLANES: usize = 3;
/// Number of bits in a byte.
const BITS: usize = 8;
/// Bits of the flags in the last byte of a site, above the rest of the set.
const PENALISED: u8 = 1 << 4;
const FREE: u8 = 1 << 5;

/// The vectors of states in all lanes.
#[derive(Debug, Clone, Copy)]
pub(super) struct LaneVectors<'a> {
    pub vectors: &'a Vectors,
    /// Index of the octet of each group of eight lanes. Remaining groups repeat the last octet.
    pub octets: &'a [u32],
    /// Index within the octet of the vector in the first lane. With fewer than eight lanes, an
    /// octet is computed in several parts.
    pub first: usize,
}

/// Output for the values of a block's sites: vectors of lanes, site by site.
pub(super) struct BlockProfile<'a, E> {
    /// Scores of symbols at each site: one vector per set if all lanes share a read, otherwise one
    /// for a match and one for a mismatch. A vector for padding follows.
    pub rows: &'a mut [E],
    /// Cost of opening a deletion.
    pub opening: &'a mut [E],
    /// Increase of the stored values from the start of the block to each site.
    pub gained: &'a mut [E],
}

/// The bytes of a block of sites. Each byte of a site is stored for all lanes next to each other.
pub(super) struct SiteBlock {
    bytes: [u8; MAX_SITES * PLANES * MAX_LANES],
    planes: usize,
    lanes: usize,
}

/// Lane masks. All bits of a lane are set if its site does not have the flag.
struct SiteFlags<V> {
    unpenalised: V,
    bound: V,
}

impl LaneVectors<'_> {
    /// Copies a block of at most [`MAX_SITES`] sites. Always inlined, so that it is compiled for
    /// the instruction set of the caller.
    #[inline(always)]
    pub(super) fn block(&self, lanes: usize, sites: &Range<u32>) -> SiteBlock {
        let mut block = SiteBlock { bytes: [0; MAX_SITES * PLANES * MAX_LANES], planes: 1, lanes };
        let part = lanes.min(OCTET);
        for (index, first) in (0..lanes).step_by(part).enumerate() {
            let vector = self.octets[index.min(self.octets.len() - 1)] * OCTET as u32;
            let range = self.vectors.cell_index(vector, sites.start)..self.vectors.cell_index(vector, sites.end);
            match self.vectors.cells() {
                StateCells::Bytes(bytes) => {
                    for (octet, site) in bytes[range].chunks_exact(OCTET).zip(block.bytes.chunks_exact_mut(lanes)) {
                        site[first..first + part].copy_from_slice(&octet[self.first..self.first + part]);
                    }
                }
                StateCells::Words(words) => {
                    block.planes = PLANES;
                    let to = block.bytes.chunks_exact_mut(PLANES * lanes);
                    for (octet, site) in words[range].chunks_exact(OCTET).zip(to) {
                        for (plane, bytes) in site.chunks_exact_mut(lanes).enumerate() {
                            let bytes_and_cells =
                                bytes[first..first + part].iter_mut().zip(&octet[self.first..self.first + part]);
                            bytes_and_cells.for_each(|(byte, word)| *byte = (word >> (BITS * plane)) as u8);
                        }
                    }
                }
            }
        }
        block
    }
}

impl SiteBlock {
    /// Computes the scores of symbols at the first `sites` sites. `sets` has the sets of the read
    /// if all lanes share it.
    ///
    /// # Safety
    /// The processor must have the instructions of `V`. The block must have as many lanes as `V`.
    /// For each site, `to.rows` has a vector for each set (two without sets) and one more, and
    /// `to.opening` and `to.gained` have a vector.
    #[inline(always)]
    pub(super) unsafe fn profile<V: Lanes>(
        &self,
        sites: usize,
        sets: Option<&[u32]>,
        kinds: &SiteKindScores<V::Elem>,
        to: &mut BlockProfile<'_, V::Elem>,
    ) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let mut gained = V::splat(V::Elem::default());
            let others = sets.map_or(2, <[u32]>::len);
            for index in 0..sites {
                let row = to.rows.as_mut_ptr().add(index * (others + 1) * V::COUNT);
                let flags = self.flags::<V>(index);
                let (matching, mismatch) = (flags.choose(&kinds.matching), flags.choose(&kinds.mismatch));
                if let Some(sets) = sets {
                    for (number, set) in sets.iter().enumerate() {
                        self.choose(index, *set, matching, mismatch).store(row.add(number * V::COUNT));
                    }
                } else {
                    matching.store(row);
                    mismatch.store(row.add(V::COUNT));
                }
                flags.choose(&kinds.padding).store(row.add(others * V::COUNT));
                flags.choose(&kinds.opening).store(to.opening.as_mut_ptr().add(index * V::COUNT));
                gained = gained.add(flags.choose(&kinds.site));
                gained.store(to.gained.as_mut_ptr().add(index * V::COUNT));
            }
        }
    }

    /// Returns a pointer to byte `plane` of a site in all lanes.
    #[inline(always)]
    pub(super) fn byte(&self, site: usize, plane: usize) -> *const u8 {
        self.bytes[(site * self.planes + plane) * self.lanes..][..self.lanes].as_ptr()
    }

    /// Reads the flags of a site in all lanes.
    ///
    /// # Safety
    /// The processor must have the instructions of `V`. The block must have as many lanes as `V`.
    #[inline(always)]
    unsafe fn flags<V: Lanes>(&self, site: usize) -> SiteFlags<V> {
        let last = self.byte(site, self.planes - 1);
        // SAFETY: guaranteed by the caller. There is a byte for every lane.
        unsafe {
            let without = |flag: u8| V::disjoint_bytes(last, [flag; MAX_LANES].as_ptr());
            SiteFlags { unpenalised: without(PENALISED), bound: without(FREE) }
        }
    }

    /// Returns `matching` in lanes where the site's set shares a character with `set`, and
    /// `mismatch` in all other lanes.
    ///
    /// # Safety
    /// The processor must have the instructions of `V`. The block must have as many lanes as `V`.
    #[inline(always)]
    unsafe fn choose<V: Lanes>(&self, site: usize, set: u32, matching: V, mismatch: V) -> V {
        let mut chosen = mismatch;
        for plane in 0..self.planes {
            let set_byte = (set >> (BITS * plane)) as u8;
            if set_byte != 0 {
                // SAFETY: guaranteed by the caller. There is a byte for every lane.
                chosen = unsafe {
                    matching.blend(chosen, V::disjoint_bytes(self.byte(site, plane), [set_byte; MAX_LANES].as_ptr()))
                };
            }
        }
        chosen
    }
}

impl<V: Lanes> SiteFlags<V> {
    /// Returns the value of the site's kind in each lane.
    ///
    /// # Safety
    /// The processor must have the instructions of `V`.
    #[inline(always)]
    unsafe fn choose(&self, values: &[V::Elem; KINDS]) -> V {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let by_free = |free: usize, bound: usize| V::splat(values[free]).blend(V::splat(values[bound]), self.bound);
            by_free(3, 1).blend(by_free(2, 0), self.unpenalised)
        }
    }
}
