//! The alignment of a read with one vector of states. Among alignments with the best score, it is
//! the alignment that PaPaRa reports.
//!
//! Cells are computed along anti-diagonals (`diagonals`), so that a single read against a single
//! vector of states fills the lanes of the processor. A first pass stores only some diagonals and
//! finds the end of the alignment. Then the blocks of diagonals on the path are recomputed, from
//! the last to the first, with the direction of each cell. The path crosses few blocks, because it
//! does not include the sites before and after the read.

mod diagonals;
mod pass;

use crate::alignment::{Cigar, Op};
use crate::score::PhyloScheme;
use crate::seq::Code;
use crate::simd::InstructionSet;

use super::vectors::{Site, Vectors, set_of};
use pass::LaneAligner;

/// The alignment of a read with a vector.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadAlignment {
    /// Score of the alignment.
    pub score: i32,
    /// Number of sites before the first column of the alignment.
    pub first_site: u32,
    /// Columns of the alignment, with the read as the query: `=` where the site's set contains the
    /// character, `X` otherwise. It covers the whole read, with overhanging ends as insertions. It
    /// neither starts nor ends with a deletion.
    pub cigar: Cigar,
}

/// Aligns reads one at a time and reuses its memory.
#[derive(Debug)]
pub struct ReadAligner {
    instructions: InstructionSet,
    i16_aligner: LaneAligner<i16, 32>,
    i32_aligner: LaneAligner<i32, 16>,
    i64_aligner: LaneAligner<i64, 8>,
}

impl Default for ReadAligner {
    fn default() -> Self {
        ReadAligner::new(InstructionSet::best())
    }
}

impl ReadAligner {
    /// Creates an aligner for an instruction set.
    pub fn new(instructions: InstructionSet) -> Self {
        let (i16_aligner, i32_aligner, i64_aligner) =
            (LaneAligner::default(), LaneAligner::default(), LaneAligner::default());
        ReadAligner { instructions, i16_aligner, i32_aligner, i64_aligner }
    }

    /// Aligns a read with a vector.
    ///
    /// # Panics
    /// Panics if the score exceeds 32 bits. This is only possible for reads of at least 32,767
    /// symbols with the largest values that a scheme may have.
    pub fn align(&mut self, read: &[Code], vectors: &Vectors, vector: u32, scheme: &PhyloScheme) -> ReadAlignment {
        let instructions = self.instructions;
        let (score, first_site, cigar) = if pass::fits::<i16>(read.len(), scheme) {
            self.i16_aligner.align(instructions, read, vectors, vector, scheme)
        } else if pass::fits::<i32>(read.len(), scheme) {
            self.i32_aligner.align(instructions, read, vectors, vector, scheme)
        } else {
            self.i64_aligner.align(instructions, read, vectors, vector, scheme)
        };
        ReadAlignment { score: i32::try_from(score).expect("a score of 32 bits"), first_site, cigar }
    }
}

/// Aligns one read with one vector. [`ReadAligner`] is faster for many reads.
pub fn align(read: &[Code], vectors: &Vectors, vector: u32, scheme: &PhyloScheme) -> ReadAlignment {
    ReadAligner::default().align(read, vectors, vector, scheme)
}

/// Returns the score of an alignment, computed from its columns.
///
/// # Errors
/// Returns a message if it is not an alignment of this read with this vector.
pub fn rescore(
    placed: &ReadAlignment,
    read: &[Code],
    vectors: &Vectors,
    vector: u32,
    scheme: &PhyloScheme,
) -> Result<i64, String> {
    let sites = i64::from(vectors.sites());
    let (mut site, mut symbol, mut score) = (placed.first_site, 0usize, 0i64);
    let end = i64::from(site) + placed.cigar.target_span() as i64;
    if end > sites {
        return Err(format!("the alignment ends after {end} of {sites} sites"));
    }
    if placed.cigar.query_span() != read.len() as u64 {
        return Err(format!("the alignment covers {} of {} symbols", placed.cigar.query_span(), read.len()));
    }
    let runs = placed.cigar.len();
    for (index, (length, op)) in placed.cigar.iter().enumerate() {
        match op {
            Op::Match | Op::Mismatch => {
                for _ in 0..length {
                    let Site { set, is_penalised, .. } = vectors.site(vector, site);
                    let is_match = set & set_of(vectors.alphabet(), read[symbol]) != 0;
                    if is_match != (op == Op::Match) {
                        return Err(format!("wrong operation '{}' at site {site}, symbol {symbol}", op.letter()));
                    }
                    score += i64::from(if is_match { scheme.matching } else { scheme.mismatch });
                    score -= i64::from(if is_penalised { scheme.gap_site } else { 0 });
                    (site, symbol) = (site + 1, symbol + 1);
                }
            }
            Op::Deletion => {
                if index == 0 || index + 1 == runs {
                    return Err("the alignment starts or ends with a deletion".into());
                }
                for index in 0..length {
                    let cost = if index == 0 { scheme.deletion.first } else { scheme.deletion.next };
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
