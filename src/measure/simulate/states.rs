//! Random ancestral states, and reads that resemble them.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::random;
use crate::papara::vectors::{StateCells, encode, set_bits, set_of};
use crate::papara::{OCTET, PhyloBatch, PhyloBlock, PhyloChunk, Site, Vectors};
use crate::score::PhyloScheme;
use crate::seq::{Alphabet, Code, SequenceId, SequenceStore};

/// Inverse of the mean fraction of random symbols in a read.
pub(crate) const CHANGED: u32 = 20;

/// Returns random vectors of at least one site. One of 16 sites may have two characters. The other
/// sites have one. A quarter of the sites are gaps, in runs of about 32 sites.
pub(crate) fn vectors(alphabet: Alphabet, sites: u32, len: u32, seed: u64) -> Vectors {
    let mut vectors = Vectors::new(alphabet, sites, len);
    match vectors.cells_mut() {
        StateCells::Bytes(cells) => {
            fill(cells, sites, len, seed, |random, is_gap| cell(alphabet, random, is_gap) as u8)
        }
        StateCells::Words(cells) => fill(cells, sites, len, seed, |random, is_gap| cell(alphabet, random, is_gap)),
    }
    vectors
}

/// Fills all vectors. `cell` turns a random number into a site.
fn fill<C: Send>(cells: &mut [C], sites: u32, len: u32, seed: u64, cell: impl Fn(u32, bool) -> C + Sync) {
    cells.par_chunks_mut(sites as usize * OCTET).enumerate().for_each(|(octet, cells)| {
        let mut next = random(seed ^ (octet as u64) << 32);
        // The padding of the last octet stays empty.
        let vectors = (len as usize - octet * OCTET).min(OCTET);
        let mut is_gap = [false; OCTET];
        for site in cells.as_chunks_mut::<OCTET>().0 {
            for (state, is_gap) in site[..vectors].iter_mut().zip(&mut is_gap) {
                let random = next();
                if random >> 16 & 31 == 0 {
                    *is_gap = random >> 21 & 3 == 0;
                }
                *state = cell(random, *is_gap);
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

/// Returns `count` reads of `length` symbols, up to a tenth more or less. A read has the sites of
/// some vector, without gaps. One of [`CHANGED`] symbols is random, and so are symbols after the
/// last site.
pub(crate) fn reads(vectors: &Vectors, count: u32, length: u32, seed: u64) -> Arc<SequenceStore> {
    let alphabet = vectors.alphabet();
    let code_of = |bit: u32| (1..alphabet.size() as Code).find(|&code| set_of(alphabet, code) == 1 << bit);
    let codes: Vec<Code> = (0..set_bits(alphabet)).filter_map(code_of).collect();
    let tenth = length / 10;
    let parts = (0..count).into_par_iter().map(|number| {
        let mut next = random(seed ^ u64::from(number) << 32);
        let length = (length - tenth + next() % (2 * tenth + 1)) as usize;
        let (vector, mut site) = (next() % vectors.len(), next() % vectors.sites());
        let mut read = Vec::with_capacity(length);
        while read.len() < length {
            let at = (site < vectors.sites()).then(|| vectors.site(vector, site));
            site += 1;
            let character = match at {
                Some(at) if at.is_free => continue,
                Some(at) if !next().is_multiple_of(CHANGED) => at.set.trailing_zeros(),
                _ => next() % codes.len() as u32,
            };
            read.push(codes[character as usize]);
        }
        read
    });
    let parts: Vec<Vec<Code>> = parts.collect();
    let mut store = SequenceStore::builder(alphabet);
    (0..).zip(parts).for_each(|(index, codes): (u32, _)| store.push_valid(format!("read{index}"), &codes));
    Arc::new(store.build())
}

/// A comparison of all reads with all vectors.
#[derive(Debug, Clone)]
pub(crate) struct PhyloComparison {
    chunk: Arc<PhyloChunk>,
}

impl PhyloComparison {
    /// Creates the comparison.
    pub(crate) fn new(vectors: &Arc<Vectors>, reads: &Arc<SequenceStore>, scheme: PhyloScheme) -> Self {
        let (reads, vectors, scheme) = (Arc::clone(reads), Arc::clone(vectors), Arc::new(scheme));
        PhyloComparison { chunk: Arc::new(PhyloChunk { reads, vectors, scheme, octets: None }) }
    }

    /// Returns some of the reads as one batch.
    pub(crate) fn batch(&self, reads: Range<SequenceId>) -> Arc<PhyloBatch> {
        let positions = 0..self.chunk.vectors.octets();
        let block = |read| PhyloBlock { read, positions: positions.clone(), octet_cells: self.chunk.cells(read) };
        Arc::new(PhyloBatch { chunk: Arc::clone(&self.chunk), blocks: reads.map(block).collect() })
    }

    /// Returns the first `reads` reads in batches of `batch_reads`.
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
    fn reads_score_best_against_their_own_vector() {
        for alphabet in [Alphabet::Dna, Alphabet::Protein] {
            let vectors = Arc::new(vectors(alphabet, 300, 11, 7));
            assert_eq!(*vectors, super::vectors(alphabet, 300, 11, 7));
            assert_ne!(*vectors, super::vectors(alphabet, 300, 11, 8));
            let reads = reads(&vectors, 12, 50, 3);
            let scheme = PhyloScheme::papara();
            let batches = PhyloComparison::new(&vectors, &reads, scheme).batches(12, 5);
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
            // Some reads start so close to the last site that they match no vector well.
            assert!(clear >= 6, "{clear} of 12 reads have a vector of their own");
        }
    }
}
