//! How significant a local alignment is: bits and E-values, as BLASTP (with `-comp_based_stats 0`) and BLASTN print them.
//!
//! Bits are a score without its unit: `(lambda S - ln K) / ln 2`. The E-value of a pair is how many pairs of such a score or
//! a better one a search of unrelated sequences finds: `K exp(-lambda S)` times the pairs of places where an alignment of that
//! score can begin. Proteins have Spouge's finite-size correction, by the lengths of both sequences, and then the factor of
//! all symbols to those of the target; nucleotides have the search space of the query and all targets, each cut by one length.
//! Parameters are those of NCBI's tables, so there are none for other scores and gap costs: they would have to be simulated.

mod length;
mod matrices;
mod nucleotides;
mod printed;
mod spouge;
#[cfg(test)]
mod tests;

use std::fmt::{self, Display, Formatter};
use std::ops::RangeInclusive;

pub use printed::{Bits, Evalue, ShortEvalue};

use super::matrix::SubstitutionMatrix;
use super::scoring::Scoring;
use crate::seq::Alphabet;
use matrices::{Costs, MATRICES, Matrix};
use nucleotides::Nucleotides;

/// How much is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DatabaseSize {
    /// Its sequences.
    pub sequences: u64,
    /// The symbols of all.
    pub symbols: u64,
}

/// How significant a pair is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Significance {
    /// Its score without unit.
    pub bits: f64,
    /// As many pairs that score as much are to be expected by chance.
    pub evalue: f64,
}

/// Karlin and Altschul's parameters of the scores of chance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameters {
    /// Natural logarithms a unit of score.
    pub lambda: f64,
    /// The factor of the search space.
    pub k: f64,
    /// Relative entropy, in natural logarithms a pair of symbols.
    pub h: f64,
}

/// What is known of the local alignments of a scoring scheme.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Statistics {
    of: Of,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Of {
    Proteins { matrix: &'static Matrix, costs: &'static Costs },
    Nucleotides(Nucleotides),
}

impl Statistics {
    /// Those of a scheme; `None` if BLAST has no parameters for its scores and gap costs. A matrix is known by its scores of
    /// the twenty amino acids, whatever its name; of nucleotides only the scores of the four bases count. The mode and what
    /// end gaps cost are of no account.
    pub fn of(scoring: &Scoring) -> Option<Self> {
        let (open, extend) = (scoring.gaps.opening(), scoring.gaps.next);
        let of = match scoring.alphabet {
            Alphabet::Protein => {
                let matrix = MATRICES.iter().find(|matrix| has_scores_of(scoring, matrix.name))?;
                let costs = matrix.costs(open, extend)?;
                Of::Proteins { matrix, costs }
            }
            Alphabet::Dna => {
                let (match_score, mismatch_score) = scores_of_bases(scoring)?;
                Of::Nucleotides(Nucleotides::of(match_score, mismatch_score, open, extend)?)
            }
            Alphabet::Bytes => return None,
        };
        Some(Statistics { of })
    }

    /// BLAST's name of the substitution matrix, if there is one.
    pub fn matrix(&self) -> Option<&'static str> {
        match self.of {
            Of::Proteins { matrix, .. } => Some(matrix.name),
            Of::Nucleotides(_) => None,
        }
    }

    /// The parameters of alignments with gaps.
    pub fn gapped(&self) -> Parameters {
        match self.of {
            Of::Proteins { costs, .. } => Parameters::of(costs),
            Of::Nucleotides(of) => of.gapped,
        }
    }

    /// The parameters of alignments without gaps, for sequences of the usual composition.
    pub fn ungapped(&self) -> Parameters {
        match self.of {
            Of::Proteins { matrix, .. } => Parameters::of(&matrix.ungapped),
            Of::Nucleotides(of) => of.ungapped,
        }
    }

    /// Of the finite-size correction of proteins: a, alpha and sigma with gaps, and a and alpha without.
    pub fn finite_size(&self) -> Option<([f64; 3], [f64; 2])> {
        match self.of {
            Of::Proteins { matrix: Matrix { ungapped, .. }, costs } => {
                Some(([costs.a, costs.alpha, costs.sigma], [ungapped.a, ungapped.alpha]))
            }
            Of::Nucleotides(_) => None,
        }
    }

    /// A score in bits.
    pub fn bits(&self, score: i64) -> f64 {
        let Parameters { lambda, k, .. } = self.gapped();
        (lambda * score as f64 - k.ln()) / std::f64::consts::LN_2
    }

    /// How many pairs of this score or better the search of a query of such a length in such a database finds by chance,
    /// where the pair's target has such a length. The targets of nucleotides all count alike.
    pub fn evalue(&self, score: i64, query: u32, target: u32, database: &DatabaseSize) -> f64 {
        let target = f64::from(target.max(1));
        self.evalue_within(score, query, [target, target], database)
    }

    /// The least E-value, or one that is somewhat less, of pairs whose targets have such lengths.
    fn evalue_within(&self, score: i64, query: u32, [least, most]: [f64; 2], database: &DatabaseSize) -> f64 {
        let Parameters { lambda, k, .. } = self.gapped();
        match self.of {
            Of::Proteins { matrix, costs } => {
                // The area grows with the target.
                let area = spouge::area(matrix, costs, score as f64, query, least);
                area * k * (-lambda * score as f64).exp() * (database.symbols as f64 / most)
            }
            Of::Nucleotides(Nucleotides { even, .. }) => {
                let score = if even { score & !1 } else { score };
                self.search_space(query, database) * (-lambda * score as f64 + k.ln()).exp()
            }
        }
    }

    /// Pairs of places where an alignment of a query of such a length can begin, as BLAST reports them: each sequence cut by
    /// one length. E-values of nucleotides go by it.
    pub fn search_space(&self, query: u32, database: &DatabaseSize) -> f64 {
        let (alpha, beta) = match self.of {
            // BLAST looks for these numbers among alignments with gaps alone.
            Of::Proteins { matrix, costs } if *costs == matrix.ungapped => (0.0, 0.0),
            Of::Proteins { costs, .. } => (costs.a, costs.beta),
            Of::Nucleotides(of) => (of.alpha, of.beta),
        };
        length::search_space(&self.gapped(), alpha, beta, query, database)
    }

    /// Bits and E-value of a pair.
    pub fn significance(&self, score: i64, query: u32, target: u32, database: &DatabaseSize) -> Significance {
        Significance { bits: self.bits(score), evalue: self.evalue(score, query, target, database) }
    }

    /// A score below which no pair with a target of such a length has an E-value so small: the least one, or somewhat less.
    pub fn least_score(&self, evalue: f64, query: u32, targets: RangeInclusive<u32>, database: &DatabaseSize) -> i64 {
        // Targets whose lengths are this near to each other are asked for at once.
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
                if to >= most || matches!(self.of, Of::Nucleotides(_)) {
                    return false;
                }
                from = to;
            }
        };
        // E-values fall with the score, to 0 in the end.
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
    fn of(costs: &Costs) -> Self {
        Parameters { lambda: costs.lambda, k: costs.k, h: costs.h }
    }
}

/// Whether a scheme scores the twenty amino acids as a built-in matrix does.
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

/// Match and mismatch, if these are the scores of the four bases.
fn scores_of_bases(scoring: &Scoring) -> Option<(i32, i32)> {
    const BASES: [u8; 4] = [1, 2, 4, 8];
    let score = |a, b| scoring.substitution.score(a, b);
    let scores = (score(BASES[0], BASES[0]), score(BASES[0], BASES[1]));
    let mut pairs = BASES.iter().flat_map(|&a| BASES.iter().map(move |&b| (a, b)));
    pairs.all(|(a, b)| score(a, b) == if a == b { scores.0 } else { scores.1 }).then_some(scores)
}
