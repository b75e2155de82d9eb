//! The significance of local alignments: bit scores and E-values, as BLASTP (with
//! `-comp_based_stats 0`) and BLASTN print them.
//!
//! A bit score is a score without its unit: `(lambda S - ln K) / ln 2`. The E-value of a pair is
//! the number of pairs with at least this score that a search of unrelated sequences is expected to
//! find. It is `K exp(-lambda S)` times the number of pairs of positions where an alignment of this
//! score can start. For proteins, this number has Spouge's finite-size correction for the lengths
//! of both sequences, and is multiplied by the ratio of all symbols to the target's symbols. For
//! nucleotides, it is the search space of the query and all targets, each shortened by the length
//! adjustment. The parameters come from NCBI's tables. There are none for other scores and gap
//! costs, which would require simulations.

mod length;
mod matrices;
mod nucleotides;
mod printed;
mod spouge;
#[cfg(test)]
mod tests;
mod threshold;

use std::fmt::{self, Display, Formatter};
use std::ops::RangeInclusive;

pub use printed::{BitScore, Evalue, ShortEvalue};
pub use threshold::{DatabaseStatistics, MaxEvalue};

use super::matrix::SubstitutionMatrix;
use super::scoring::Scoring;
use crate::seq::Alphabet;
use matrices::{MATRICES, ProteinMatrix, ProteinParameters};
use nucleotides::NucleotideStatistics;

/// Size of the searched database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DatabaseSize {
    /// Number of sequences.
    pub sequences: u64,
    /// Number of symbols in all sequences.
    pub symbols: u64,
}

/// Significance of a pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Significance {
    /// Bit score.
    pub bits: f64,
    /// Number of pairs with at least this score that are expected by chance.
    pub evalue: f64,
}

/// Karlin and Altschul's parameters of the distribution of chance scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameters {
    /// Scale of the scores, in nats per unit of score.
    pub lambda: f64,
    /// Factor of the search space.
    pub k: f64,
    /// Relative entropy, in nats per pair of symbols.
    pub h: f64,
}

/// The statistics of local alignments under a scoring scheme.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Statistics {
    molecule: MoleculeStatistics,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum MoleculeStatistics {
    Proteins { matrix: &'static ProteinMatrix, costs: &'static ProteinParameters },
    Nucleotides(NucleotideStatistics),
}

impl Statistics {
    /// Returns the statistics of a scheme, or `None` if BLAST has no parameters for its scores and
    /// gap costs. A protein matrix is recognised by its scores of the twenty amino acids,
    /// regardless of its name. For nucleotides only the scores of the four bases count. The mode
    /// and the costs of end gaps have no effect.
    pub fn for_scheme(scoring: &Scoring) -> Option<Self> {
        let (open, extend) = (scoring.gaps.opening(), scoring.gaps.next);
        let molecule = match scoring.alphabet {
            Alphabet::Protein => {
                let matrix = MATRICES.iter().find(|matrix| has_scores_of(scoring, matrix.name))?;
                let costs = matrix.costs(open, extend)?;
                MoleculeStatistics::Proteins { matrix, costs }
            }
            Alphabet::Dna => {
                let (match_score, mismatch_score) = scores_of_bases(scoring)?;
                MoleculeStatistics::Nucleotides(NucleotideStatistics::find(match_score, mismatch_score, open, extend)?)
            }
            Alphabet::Bytes => return None,
        };
        Some(Statistics { molecule })
    }

    /// Returns BLAST's name of the substitution matrix, if there is one.
    pub fn matrix(&self) -> Option<&'static str> {
        match self.molecule {
            MoleculeStatistics::Proteins { matrix, .. } => Some(matrix.name),
            MoleculeStatistics::Nucleotides(_) => None,
        }
    }

    /// Returns the parameters of alignments with gaps.
    pub fn gapped(&self) -> Parameters {
        match self.molecule {
            MoleculeStatistics::Proteins { costs, .. } => Parameters::from_costs(costs),
            MoleculeStatistics::Nucleotides(nucleotides) => nucleotides.gapped,
        }
    }

    /// Returns the parameters of alignments without gaps, for sequences of the usual composition.
    pub fn ungapped(&self) -> Parameters {
        match self.molecule {
            MoleculeStatistics::Proteins { matrix, .. } => Parameters::from_costs(&matrix.ungapped),
            MoleculeStatistics::Nucleotides(nucleotides) => nucleotides.ungapped,
        }
    }

    /// Returns the parameters of the finite-size correction for proteins: a, alpha and sigma with
    /// gaps, and a and alpha without gaps.
    pub fn finite_size(&self) -> Option<([f64; 3], [f64; 2])> {
        match self.molecule {
            MoleculeStatistics::Proteins { matrix: ProteinMatrix { ungapped, .. }, costs } => {
                Some(([costs.a, costs.alpha, costs.sigma], [ungapped.a, ungapped.alpha]))
            }
            MoleculeStatistics::Nucleotides(_) => None,
        }
    }

    /// Converts a score to bits.
    pub fn bits(&self, score: i64) -> f64 {
        let Parameters { lambda, k, .. } = self.gapped();
        (lambda * score as f64 - k.ln()) / std::f64::consts::LN_2
    }

    /// Returns the number of pairs with at least this score that are expected by chance. `query` is
    /// the length of the query, and `target` the length of the pair's target. The target's length
    /// has no effect for nucleotides.
    pub fn evalue(&self, score: i64, query: u32, target: u32, database: &DatabaseSize) -> f64 {
        let target = f64::from(target.max(1));
        self.evalue_within(score, query, [target, target], database)
    }

    /// Returns a lower bound on the E-values of pairs whose target lengths are in this range.
    fn evalue_within(&self, score: i64, query: u32, [least, most]: [f64; 2], database: &DatabaseSize) -> f64 {
        let Parameters { lambda, k, .. } = self.gapped();
        match self.molecule {
            MoleculeStatistics::Proteins { matrix, costs } => {
                // The area grows with the length of the target, so the least length gives a lower
                // bound.
                let area = spouge::area(matrix, costs, score as f64, query, least);
                area * k * (-lambda * score as f64).exp() * (database.symbols as f64 / most)
            }
            MoleculeStatistics::Nucleotides(NucleotideStatistics { even, .. }) => {
                let score = if even { score & !1 } else { score };
                self.search_space(query, database) * (-lambda * score as f64 + k.ln()).exp()
            }
        }
    }

    /// Returns the number of pairs of positions where an alignment of the query can start, as BLAST
    /// reports it. Each sequence is shortened by the length adjustment. E-values of nucleotides use
    /// this number.
    pub fn search_space(&self, query: u32, database: &DatabaseSize) -> f64 {
        let (alpha, beta) = match self.molecule {
            // BLAST looks up these parameters only among alignments with gaps.
            MoleculeStatistics::Proteins { matrix, costs } if *costs == matrix.ungapped => (0.0, 0.0),
            MoleculeStatistics::Proteins { costs, .. } => (costs.a, costs.beta),
            MoleculeStatistics::Nucleotides(nucleotides) => (nucleotides.alpha, nucleotides.beta),
        };
        length::search_space(&self.gapped(), alpha, beta, query, database)
    }

    /// Returns the bit score and the E-value of a pair.
    pub fn significance(&self, score: i64, query: u32, target: u32, database: &DatabaseSize) -> Significance {
        Significance { bits: self.bits(score), evalue: self.evalue(score, query, target, database) }
    }

    /// Returns a lower bound on the scores of all pairs with an E-value of at most `evalue` whose
    /// target lengths are in this range.
    pub fn least_score(&self, evalue: f64, query: u32, targets: RangeInclusive<u32>, database: &DatabaseSize) -> i64 {
        // Ratio of the target lengths that are checked together.
        const STEP: f64 = 1.1;
        let (least, most) = (f64::from((*targets.start()).max(1)), f64::from((*targets.end()).max(1)));
        if evalue.is_nan() || evalue < 0.0 || least > most {
            return i64::MAX;
        }
        let suffices = |score: i64| {
            let mut from = least;
            loop {
                let to = (from * STEP).min(most);
                if self.evalue_within(score, query, [from, to], database) <= evalue {
                    return true;
                }
                if to >= most || matches!(self.molecule, MoleculeStatistics::Nucleotides(_)) {
                    return false;
                }
                from = to;
            }
        };
        // E-values decrease with the score, towards 0.
        let (mut below, mut above) = (0, 1);
        while !suffices(above) {
            (below, above) = (above, 2 * above);
        }
        while above - below > 1 {
            let middle = below.midpoint(above);
            if suffices(middle) { above = middle } else { below = middle }
        }
        above
    }
}

impl Display for Statistics {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Parameters { lambda, k, h } = self.gapped();
        write!(f, "lambda {lambda:.3}, K {k:.3}, H {h:.3}")
    }
}

impl Parameters {
    fn from_costs(costs: &ProteinParameters) -> Self {
        Parameters { lambda: costs.lambda, k: costs.k, h: costs.h }
    }
}

/// Returns whether a scheme scores the twenty amino acids like a built-in matrix.
fn has_scores_of(scoring: &Scoring, matrix: &str) -> bool {
    const AMINO_ACIDS: &[u8; 20] = b"ARNDCQEGHILKMFPSTWYV";
    let Some(matrix) = SubstitutionMatrix::built_in(matrix) else { return false };
    let code = |letter: u8| scoring.alphabet.encode(letter);
    let pairs = AMINO_ACIDS.iter().flat_map(|&a| AMINO_ACIDS.iter().map(move |&b| (a, b)));
    pairs.into_iter().all(|(a, b)| {
        let score = code(a).zip(code(b)).map(|(a, b)| scoring.substitution.score(a, b));
        score == matrix.score(a, b)
    })
}

/// Returns the match and the mismatch score, if the four bases have no other scores.
fn scores_of_bases(scoring: &Scoring) -> Option<(i32, i32)> {
    const BASES: [u8; 4] = [1, 2, 4, 8];
    let score = |a, b| scoring.substitution.score(a, b);
    let scores = (score(BASES[0], BASES[0]), score(BASES[0], BASES[1]));
    let mut pairs = BASES.iter().flat_map(|&a| BASES.iter().map(move |&b| (a, b)));
    pairs.all(|(a, b)| score(a, b) == if a == b { scores.0 } else { scores.1 }).then_some(scores)
}
