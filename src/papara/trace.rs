//! The alignment of a read with one vector of states: the best, and of those as good the one that PaPaRa gives.
//!
//! Cells are computed along diagonals of one site more and one symbol less (`diagonals.rs`), so that a single pair of a
//! read and a vector fills the processor's vectors. A first pass keeps only every so many diagonals and finds the end; then
//! the blocks of diagonals that the path goes through are computed again, from the last to the first, with the direction of
//! each cell. A read's path lies on few of them, as overhangs of the reference are no part of it.

mod diagonals;
mod pass;

use crate::alignment::{Cigar, Op};
use crate::score::PhyloScheme;
use crate::seq::Code;
use crate::simd::InstructionSet;

use super::vectors::{Site, Vectors, set_of};
use pass::Pass;

/// Where a read lies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Placed {
    /// Score of the alignment.
    pub score: i32,
    /// Sites before its first column.
    pub first_site: u32,
    /// Its columns, the read as the query: `=` where the site's set holds the character, `X` where not. All of the read is in
    /// them: what hangs over at either end is inserted. They neither begin nor end with a deletion.
    pub cigar: Cigar,
}

/// Aligns reads, one at a time, and keeps its memory from one to the next.
#[derive(Debug)]
pub struct Aligner {
    level: InstructionSet,
    shorts: Pass<i16, 32>,
    words: Pass<i32, 16>,
    longs: Pass<i64, 8>,
}

impl Default for Aligner {
    fn default() -> Self {
        Aligner::new(InstructionSet::best())
    }
}

impl Aligner {
    /// With these instructions.
    pub fn new(level: InstructionSet) -> Self {
        let (shorts, words, longs) = (Pass::default(), Pass::default(), Pass::default());
        Aligner { level, shorts, words, longs }
    }

    /// The alignment of a read with a vector.
    ///
    /// # Panics
    /// If its score does not fit into 32 bits, which takes a read of 32,767 symbols and the greatest numbers that a scheme may
    /// have.
    pub fn align(&mut self, read: &[Code], vectors: &Vectors, vector: u32, scheme: &PhyloScheme) -> Placed {
        let level = self.level;
        let (score, first_site, cigar) = if pass::fits::<i16>(read.len(), scheme) {
            self.shorts.align(level, read, vectors, vector, scheme)
        } else if pass::fits::<i32>(read.len(), scheme) {
            self.words.align(level, read, vectors, vector, scheme)
        } else {
            self.longs.align(level, read, vectors, vector, scheme)
        };
        Placed { score: i32::try_from(score).expect("a score of 32 bits"), first_site, cigar }
    }
}

/// The alignment of one read with one vector; [`Aligner`] serves better for many.
pub fn align(read: &[Code], vectors: &Vectors, vector: u32, scheme: &PhyloScheme) -> Placed {
    Aligner::default().align(read, vectors, vector, scheme)
}

/// The score of an alignment by its own columns, however it was found.
///
/// # Errors
/// In words, why it is no alignment of this read with this vector.
pub fn rescore(
    placed: &Placed,
    read: &[Code],
    vectors: &Vectors,
    vector: u32,
    scheme: &PhyloScheme,
) -> Result<i64, String> {
    let sites = i64::from(vectors.sites());
    let (mut site, mut symbol, mut score) = (placed.first_site, 0usize, 0i64);
    let end = i64::from(site) + placed.cigar.target_span() as i64;
    if end > sites {
        return Err(format!("it ends after {end} of {sites} sites"));
    }
    if placed.cigar.query_span() != read.len() as u64 {
        return Err(format!("it has {} of {} symbols", placed.cigar.query_span(), read.len()));
    }
    let runs = placed.cigar.len();
    for (index, (length, op)) in placed.cigar.iter().enumerate() {
        match op {
            Op::Match | Op::Mismatch => {
                for _ in 0..length {
                    let Site { set, is_penalised, .. } = vectors.site(vector, site);
                    let is_match = set & set_of(vectors.alphabet(), read[symbol]) != 0;
                    if is_match != (op == Op::Match) {
                        return Err(format!("'{}' at site {site}, symbol {symbol}", op.letter()));
                    }
                    score += i64::from(if is_match { scheme.matching } else { scheme.mismatch });
                    score -= i64::from(if is_penalised { scheme.gap_site } else { 0 });
                    (site, symbol) = (site + 1, symbol + 1);
                }
            }
            Op::Deletion => {
                if index == 0 || index + 1 == runs {
                    return Err("a deletion at an end".into());
                }
                for place in 0..length {
                    let cost = if place == 0 { scheme.deletion.first } else { scheme.deletion.next };
                    score -= if vectors.site(vector, site).is_free { 0 } else { i64::from(cost) };
                    site += 1;
                }
            }
            Op::Insertion => {
                let hangs_over = (index == 0 && site == 0) || (index + 1 == runs && i64::from(site) == sites);
                if !(hangs_over && scheme.free_read_ends) {
                    score -= scheme.insertion.cost(length.into());
                }
                symbol += length as usize;
            }
        }
    }
    Ok(score)
}
