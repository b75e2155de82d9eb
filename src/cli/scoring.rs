//! The scoring that was asked for. It is complete only when the alphabet is known, which may take reading the input.

use super::args::ScoringArgs;
use pairwave::score::{Ambiguity, EndGaps, Gaps, MAX_SCORE, Mode, Scoring, SubstitutionMatrix};
use pairwave::seq::Alphabet;
use pairwave::{Error, Result};

/// What was asked for; `None` is the alphabet's default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ScoringChoice {
    table: Option<Table>,
    gap_open: Option<i32>,
    gap_extend: Option<i32>,
    mode: Mode,
    end_gaps: EndGaps,
}

/// How two symbols are scored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Table {
    /// Nucleotides by match and mismatch.
    Nucleotide { match_score: i32, mismatch: i32, ambiguity: Ambiguity },
    /// By a substitution matrix: a built-in name or a file.
    Matrix(String),
}

/// A scoring scheme with every default filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Scheme {
    pub alphabet: Alphabet,
    pub table: Table,
    pub gaps: Gaps,
    pub mode: Mode,
    pub end_gaps: EndGaps,
}

const MATCH: i32 = 5;
const MISMATCH: i32 = -4;

impl ScoringChoice {
    /// Checks what does not depend on the alphabet.
    pub(super) fn new(args: &ScoringArgs, mode: Mode, end_gaps: EndGaps) -> Result<Self> {
        let ambiguity = args.ambiguity.map(Ambiguity::from);
        if let Some(score) = args.mismatch.filter(|&score| score > 0) {
            return Err(Error::usage(format!(
                "--mismatch {score} would reward mismatches: a score is added, so did you mean --mismatch -{score}?"
            )));
        }
        for (option, cost) in [("--gap-open", args.gap_open), ("--gap-extend", args.gap_extend)] {
            if let Some(cost) = cost.filter(|&cost| cost < 0) {
                return Err(Error::usage(format!(
                    "{option} {cost} would reward gaps: a cost is subtracted, so did you mean {option} {}?",
                    cost.unsigned_abs()
                )));
            }
        }
        let numbers = [
            ("--match", args.match_score),
            ("--mismatch", args.mismatch),
            ("--gap-open", args.gap_open),
            ("--gap-extend", args.gap_extend),
        ];
        for (option, number) in numbers {
            if let Some(number) = number.filter(|number| number.unsigned_abs() > MAX_SCORE.unsigned_abs()) {
                return Err(Error::usage(format!("{option} {number}: scores and costs go up to {MAX_SCORE}")));
            }
        }
        let nucleotide = [
            ("--match", args.match_score.is_some()),
            ("--mismatch", args.mismatch.is_some()),
            ("--ambiguity", ambiguity.is_some()),
        ];
        let table = match (&args.matrix, nucleotide.iter().find(|(_, given)| *given)) {
            (Some(_), Some((option, _))) => {
                return Err(Error::usage(format!("{option} and --matrix exclude each other: a matrix has all scores")));
            }
            (Some(matrix), None) => Some(Table::Matrix(matrix.clone())),
            (None, Some(_)) => Some(Table::Nucleotide {
                match_score: args.match_score.unwrap_or(MATCH),
                mismatch: args.mismatch.unwrap_or(MISMATCH),
                ambiguity: ambiguity.unwrap_or_default(),
            }),
            (None, None) => None,
        };
        if let Some(Table::Nucleotide { match_score, mismatch, .. }) = table
            && match_score <= mismatch
        {
            return Err(Error::usage(format!("a match ({match_score}) must score more than a mismatch ({mismatch})")));
        }
        Ok(ScoringChoice { table, gap_open: args.gap_open, gap_extend: args.gap_extend, mode, end_gaps })
    }

    /// The scheme for sequences of this alphabet.
    ///
    /// Nucleotides: match 5 and mismatch -4, as EDNAFULL has them, and 10 for every symbol of a gap: linear, as in
    /// Truong et al. 2014. Proteins: BLOSUM62 with 11 + k, as BLASTP.
    pub(super) fn resolve(&self, alphabet: Alphabet) -> Result<Scheme> {
        let table = match (&self.table, alphabet) {
            (_, Alphabet::Bytes) => {
                return Err(Error::usage("there are no scores for bytes, only distances: use 'pairwave edit'"));
            }
            (Some(Table::Nucleotide { .. }), Alphabet::Protein) => {
                return Err(Error::usage(
                    "--match, --mismatch and --ambiguity are for nucleotides, but these are proteins; \
                     use --matrix, or --alphabet dna if they are not",
                ));
            }
            (Some(table), _) => table.clone(),
            (None, Alphabet::Dna) => {
                Table::Nucleotide { match_score: MATCH, mismatch: MISMATCH, ambiguity: Ambiguity::default() }
            }
            (None, Alphabet::Protein) => Table::Matrix("BLOSUM62".into()),
        };
        let (open, extend) = match alphabet {
            Alphabet::Dna => (0, 10),
            Alphabet::Protein | Alphabet::Bytes => (11, 1),
        };
        let gaps = Gaps::from_blast(self.gap_open.unwrap_or(open), self.gap_extend.unwrap_or(extend));
        Ok(Scheme { alphabet, table, gaps, mode: self.mode, end_gaps: self.end_gaps })
    }
}

impl Scheme {
    /// The scheme as engines take it.
    pub(super) fn scoring(&self) -> Result<Scoring> {
        let scoring = match &self.table {
            &Table::Nucleotide { match_score, mismatch, ambiguity } => {
                Scoring::nucleotide(match_score, mismatch, ambiguity, self.gaps, self.end_gaps)?
            }
            Table::Matrix(name) => {
                Scoring::matrix(self.alphabet, &SubstitutionMatrix::open(name)?, self.gaps, self.end_gaps)?
            }
        };
        Ok(Scoring { mode: self.mode, ..scoring })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(args: ScoringArgs) -> Result<ScoringChoice> {
        ScoringChoice::new(&args, Mode::Global, EndGaps::Charged)
    }

    #[test]
    fn defaults_depend_on_the_alphabet() {
        let choice = choice(ScoringArgs::default()).unwrap();
        let dna = choice.resolve(Alphabet::Dna).unwrap();
        let table = Table::Nucleotide { match_score: 5, mismatch: -4, ambiguity: Ambiguity::Overlap };
        assert_eq!((dna.table, dna.gaps), (table, Gaps::linear(10)));
        let protein = choice.resolve(Alphabet::Protein).unwrap();
        assert_eq!((protein.table, protein.gaps), (Table::Matrix("BLOSUM62".into()), Gaps { first: 12, next: 1 }));
    }

    #[test]
    fn one_number_leaves_the_others_at_their_defaults() {
        let args = ScoringArgs { mismatch: Some(-2), gap_open: Some(3), ..Default::default() };
        let scheme = choice(args).unwrap().resolve(Alphabet::Dna).unwrap();
        let table = Table::Nucleotide { match_score: 5, mismatch: -2, ambiguity: Ambiguity::Overlap };
        assert_eq!((scheme.table, scheme.gaps), (table, Gaps { first: 13, next: 10 }));
    }

    #[test]
    fn nucleotide_scores_do_not_fit_proteins() {
        let choice = choice(ScoringArgs { match_score: Some(1), ..Default::default() }).unwrap();
        assert!(choice.resolve(Alphabet::Dna).is_ok());
        assert!(matches!(choice.resolve(Alphabet::Protein), Err(Error::Usage(_))));
    }
}
