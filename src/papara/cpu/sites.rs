//! A block of sites, as the cells of all symbols need it.

use std::ops::Range;

use super::costs::{KINDS, Kinds, MAX_SITES};
use crate::papara::vectors::{Cells, OCTET, Vectors};
use crate::simd::{Lanes, MAX_LANES};

/// Bytes of a site at most: of amino acids.
const PLANES: usize = 3;
/// Bits of a byte.
const BITS: usize = 8;
/// Bits of the flags, which are in a site's last byte above the rest of the set.
const PENALISED: u8 = 1 << 4;
const FREE: u8 = 1 << 5;

/// Vectors of states that are lanes of one vector.
#[derive(Debug, Clone, Copy)]
pub(super) struct Side<'a> {
    pub vectors: &'a Vectors,
    /// Octets, for each eight lanes one; those that lack are the last.
    pub octets: &'a [u32],
    /// Which of an octet's vectors is the first lane: where there are fewer than eight lanes, they take it in parts.
    pub first: usize,
}

/// Where the numbers of a block's sites go: vectors of lanes, site after site.
pub(super) struct Profile<'a, E> {
    /// What a symbol scores: a vector for each set, or two for one that matches and for one that does not; then that for
    /// padding.
    pub rows: &'a mut [E],
    /// What a deletion pays that opens.
    pub opening: &'a mut [E],
    /// What cells have gained since the block began.
    pub gained: &'a mut [E],
}

/// A block of sites, byte after byte of each: a byte of all lanes side by side.
pub(super) struct Block {
    bytes: [u8; MAX_SITES * PLANES * MAX_LANES],
    planes: usize,
    lanes: usize,
}

/// Which lanes have no flag: all bits, or none.
struct Flags<V> {
    unpenalised: V,
    bound: V,
}

impl Side<'_> {
    /// Copies a block's sites, at most [`MAX_SITES`]. Always inlined, so that it is compiled for the vectors that are there.
    #[inline(always)]
    pub(super) fn block(&self, lanes: usize, sites: &Range<u32>) -> Block {
        let mut block = Block { bytes: [0; MAX_SITES * PLANES * MAX_LANES], planes: 1, lanes };
        let part = lanes.min(OCTET);
        for (index, first) in (0..lanes).step_by(part).enumerate() {
            let vector = self.octets[index.min(self.octets.len() - 1)] * OCTET as u32;
            let places = self.vectors.place(vector, sites.start)..self.vectors.place(vector, sites.end);
            match self.vectors.cells() {
                Cells::Bytes(bytes) => {
                    for (octet, site) in bytes[places].chunks_exact(OCTET).zip(block.bytes.chunks_exact_mut(lanes)) {
                        site[first..first + part].copy_from_slice(&octet[self.first..self.first + part]);
                    }
                }
                Cells::Words(words) => {
                    block.planes = PLANES;
                    let to = block.bytes.chunks_exact_mut(PLANES * lanes);
                    for (octet, site) in words[places].chunks_exact(OCTET).zip(to) {
                        for (plane, bytes) in site.chunks_exact_mut(lanes).enumerate() {
                            let own = bytes[first..first + part].iter_mut().zip(&octet[self.first..self.first + part]);
                            own.for_each(|(byte, word)| *byte = (word >> (BITS * plane)) as u8);
                        }
                    }
                }
            }
        }
        block
    }
}

impl Block {
    /// Finds out what symbols score at the first sites: of these sets, if all lanes have the same read.
    ///
    /// # Safety
    /// The processor has the instructions of `V`. The block has as many lanes as `V`. For each
    /// site, `to.rows` has a vector for each set (two without sets) and one more, and `to.opening`
    /// and `to.gained` have a vector.
    #[inline(always)]
    pub(super) unsafe fn profile<V: Lanes>(
        &self,
        sites: usize,
        sets: Option<&[u32]>,
        kinds: &Kinds<V::Elem>,
        to: &mut Profile<'_, V::Elem>,
    ) {
        // SAFETY: the caller's.
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

    /// A byte of a site.
    #[inline(always)]
    pub(super) fn byte(&self, site: usize, plane: usize) -> *const u8 {
        self.bytes[(site * self.planes + plane) * self.lanes..][..self.lanes].as_ptr()
    }

    /// Reads the flags of a site in all lanes.
    ///
    /// # Safety
    /// The processor has the instructions of `V`. The block has as many lanes as `V`.
    #[inline(always)]
    unsafe fn flags<V: Lanes>(&self, site: usize) -> Flags<V> {
        let last = self.byte(site, self.planes - 1);
        // SAFETY: the caller's; a byte is there for every lane.
        unsafe {
            let without = |flag: u8| V::disjoint_bytes(last, [flag; MAX_LANES].as_ptr());
            Flags { unpenalised: without(PENALISED), bound: without(FREE) }
        }
    }

    /// Returns `matching` in lanes where the site's set shares a character with `set`, `mismatch`
    /// in the others.
    ///
    /// # Safety
    /// The processor has the instructions of `V`. The block has as many lanes as `V`.
    #[inline(always)]
    unsafe fn choose<V: Lanes>(&self, site: usize, set: u32, matching: V, mismatch: V) -> V {
        let mut chosen = mismatch;
        for plane in 0..self.planes {
            let own = (set >> (BITS * plane)) as u8;
            if own != 0 {
                // SAFETY: as above.
                chosen = unsafe {
                    matching.blend(chosen, V::disjoint_bytes(self.byte(site, plane), [own; MAX_LANES].as_ptr()))
                };
            }
        }
        chosen
    }
}

impl<V: Lanes> Flags<V> {
    /// Returns the value of the site's kind in each lane.
    ///
    /// # Safety
    /// The processor has the instructions of `V`.
    #[inline(always)]
    unsafe fn choose(&self, of: &[V::Elem; KINDS]) -> V {
        // SAFETY: the caller's.
        unsafe {
            let by_free = |free: usize, bound: usize| V::splat(of[free]).blend(V::splat(of[bound]), self.bound);
            by_free(3, 1).blend(by_free(2, 0), self.unpenalised)
        }
    }
}
