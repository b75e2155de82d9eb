//! Random ancestral states, and reads that are alike to them.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::random;
use crate::papara::vectors::{Cells, encode, set_bits, set_of};
use crate::papara::{OCTET, PhyloBatch, PhyloBlock, PhyloChunk, Site, Vectors};
use crate::score::PhyloScheme;
use crate::seq::{Alphabet, Code, SequenceId, SequenceStore};

/// Of so many symbols of a read one is any character.
pub(crate) const CHANGED: u32 = 20;

/// Random vectors of at least one site. Of 16 sites one may hold two characters, the others hold one; gaps are runs of about
/// 32 sites, a quarter of all.
pub(crate) fn vectors(alphabet: Alphabet, sites: u32, len: u32, seed: u64) -> Vectors {
    let mut vectors = Vectors::new(alphabet, sites, len);
    match vectors.cells_mut() {
        Cells::Bytes(cells) => fill(cells, sites, len, seed, |random, is_gap| cell(alphabet, random, is_gap) as u8),
        Cells::Words(cells) => fill(cells, sites, len, seed, |random, is_gap| cell(alphabet, random, is_gap)),
    }
    vectors
}

/// Fills all vectors; `cell` makes a site of a random number.
fn fill<C: Send>(cells: &mut [C], sites: u32, len: u32, seed: u64, cell: impl Fn(u32, bool) -> C + Sync) {
    cells.par_chunks_mut(sites as usize * OCTET).enumerate().for_each(|(octet, cells)| {
        let mut next = random(seed ^ (octet as u64) << 32);
        // What fills the last octet stays empty.
        let vectors = (len as usize - octet * OCTET).min(OCTET);
        let mut is_gap = [false; OCTET];
        for site in cells.as_chunks_mut::<OCTET>().0 {
            for (own, is_gap) in site[..vectors].iter_mut().zip(&mut is_gap) {
                let random = next();
                if random >> 16 & 31 == 0 {
                    *is_gap = random >> 21 & 3 == 0;
                }
                *own = cell(random, *is_gap);
            }
        }
    });
}

fn cell(alphabet: Alphabet, random: u32, is_gap: bool) -> u32 {
    let bits = set_bits(alphabet);
    let (one, other) = (1 << ((random >> 24) % bits), 1 << ((random >> 4 & 0xff) % bits));
    let set = if random & 15 == 0 { one | other } else { one };
    encode(alphabet, Site { set, is_penalised: is_gap, is_free: is_gap })
}

/// `count` reads of `length` symbols, a tenth more or less: each is of the sites of some vector that are no gaps, with one
/// symbol in [`CHANGED`] any other, and any symbols behind the last site.
pub(crate) fn reads(vectors: &Vectors, count: u32, length: u32, seed: u64) -> Arc<SequenceStore> {
    let alphabet = vectors.alphabet();
    let code_of = |bit: u32| (1..alphabet.size() as Code).find(|&code| set_of(alphabet, code) == 1 << bit);
    let codes: Vec<Code> = (0..set_bits(alphabet)).filter_map(code_of).collect();
    let tenth = length / 10;
    let parts = (0..count).into_par_iter().map(|read| {
        let mut next = random(seed ^ u64::from(read) << 32);
        let length = (length - tenth + next() % (2 * tenth + 1)) as usize;
        let (vector, mut site) = (next() % vectors.len(), next() % vectors.sites());
        let mut own = Vec::with_capacity(length);
        while own.len() < length {
            let at = (site < vectors.sites()).then(|| vectors.site(vector, site));
            site += 1;
            let place = match at {
                Some(at) if at.is_free => continue,
                Some(at) if !next().is_multiple_of(CHANGED) => at.set.trailing_zeros(),
                _ => next() % codes.len() as u32,
            };
            own.push(codes[place as usize]);
        }
        own
    });
    let parts: Vec<Vec<Code>> = parts.collect();
    let mut store = SequenceStore::builder(alphabet);
    (0..).zip(parts).for_each(|(index, codes): (u32, _)| store.push_valid(format!("read{index}"), &codes));
    Arc::new(store.build())
}

/// All of these reads against all of these vectors.
#[derive(Debug, Clone)]
pub(crate) struct Scores {
    chunk: Arc<PhyloChunk>,
}

impl Scores {
    /// What is computed of each.
    pub(crate) fn new(vectors: &Arc<Vectors>, reads: &Arc<SequenceStore>, scheme: PhyloScheme) -> Self {
        let (reads, vectors, scheme) = (Arc::clone(reads), Arc::clone(vectors), Arc::new(scheme));
        Scores { chunk: Arc::new(PhyloChunk { reads, vectors, scheme, octets: None }) }
    }

    /// Some of the reads as one batch.
    pub(crate) fn batch(&self, reads: Range<SequenceId>) -> Arc<PhyloBatch> {
        let places = 0..self.chunk.vectors.octets();
        let block = |read| PhyloBlock { read, places: places.clone(), place_cells: self.chunk.cells(read) };
        Arc::new(PhyloBatch { chunk: Arc::clone(&self.chunk), blocks: reads.map(block).collect() })
    }

    /// The first reads in batches of so many.
    pub(crate) fn batches(&self, reads: u32, batch_reads: u32) -> Vec<Arc<PhyloBatch>> {
        let step = batch_reads.max(1);
        (0..reads).step_by(step as usize).map(|first| self.batch(first..(first + step).min(reads))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papara::oracle;

    #[test]
    fn reads_score_more_at_their_own_vector() {
        for alphabet in [Alphabet::Dna, Alphabet::Protein] {
            let vectors = Arc::new(vectors(alphabet, 300, 11, 7));
            assert_eq!(*vectors, super::vectors(alphabet, 300, 11, 7));
            assert_ne!(*vectors, super::vectors(alphabet, 300, 11, 8));
            let reads = reads(&vectors, 12, 50, 3);
            let scheme = PhyloScheme::papara();
            let batches = Scores::new(&vectors, &reads, scheme).batches(12, 5);
            assert_eq!(batches.iter().map(|batch| batch.blocks.len()).collect::<Vec<_>>(), [5, 5, 2]);
            assert_eq!(batches.iter().map(|batch| batch.pairs()).sum::<u64>(), 12 * 2);
            let mut clear = 0;
            for read in 0..12 {
                assert!((45..=55).contains(&reads.length(read)));
                let codes: Vec<u32> = reads.codes(read).iter().map(|&code| set_of(alphabet, code)).collect();
                let score = |vector| {
                    let sites: Vec<Site> = (0..300).map(|site| vectors.site(vector, site)).collect();
                    oracle::score(&codes, &sites, &scheme)
                };
                let mut scores: Vec<i64> = (0..11).map(score).collect();
                scores.sort_unstable();
                clear += u32::from(scores[10] > scores[9] + 10);
            }
            // Some begin so near the last site that they fit nowhere.
            assert!(clear >= 6, "{clear} of 12 reads have a vector of their own");
        }
    }
}
