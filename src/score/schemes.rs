//! Scoring schemes by name: those that other programs use, each with its source.

use std::fmt::Write;

use super::gaps::{EndGaps, Gaps};
use super::matrix::SubstitutionMatrix;
use super::scoring::{Ambiguity, Scoring};
use crate::error::{Error, Result};
use crate::seq::Alphabet;

/// A scoring scheme that has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedScheme {
    /// The name, in lower case.
    pub name: &'static str,
    /// Where the numbers are from, and what is to be known of them.
    pub source: &'static str,
    table: Table,
    gaps: Gaps,
    end_gaps: EndGaps,
}

/// Scores of two symbols.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Table {
    /// Of nucleotides, by match and mismatch; all scores so many times as great.
    Nucleotide { match_score: i32, mismatch_score: i32, ambiguity: Ambiguity, times: i32 },
    /// By built-in matrices for nucleotides and for proteins, all scores so many times as great.
    Matrix { nucleotides: Option<&'static str>, proteins: Option<&'static str>, times: i32 },
}

const fn nucleotide(match_score: i32, mismatch_score: i32, ambiguity: Ambiguity) -> Table {
    Table::Nucleotide { match_score, mismatch_score, ambiguity, times: 1 }
}

/// All schemes.
pub const SCHEMES: &[NamedScheme] = &[
    NamedScheme {
        name: "pairwave",
        source: "pairwave's default for nucleotides: EDNAFULL's scores, and gap costs by which few pairs of 16S genes are lost",
        table: nucleotide(5, -4, Ambiguity::Overlap),
        gaps: Gaps::from_blast(20, 5),
        end_gaps: EndGaps::Priced(Gaps::linear(3)),
    },
    NamedScheme {
        name: "truong",
        source: "linear gaps as in Truong et al. 2014, equation 1 (the amount is ours), and EDNAFULL's scores; the fastest",
        table: nucleotide(5, -4, Ambiguity::Overlap),
        gaps: Gaps::linear(10),
        end_gaps: EndGaps::Charged,
    },
    NamedScheme {
        name: "vsearch",
        source: "vsearch: gapopen 20I/2E, gapext 2I/1E, an opening with its first symbol; ambiguous symbols score 0",
        table: nucleotide(2, -4, Ambiguity::Zero),
        gaps: Gaps::from_emboss(20, 2),
        end_gaps: EndGaps::Priced(Gaps::from_emboss(2, 1)),
    },
    NamedScheme {
        name: "needle",
        source: "EMBOSS needle and water: -gapopen 10 -gapextend 0.5 -endweight N; here all numbers are twice as great, to be whole",
        table: Table::Matrix { nucleotides: Some("EDNAFULL"), proteins: Some("EBLOSUM62"), times: 2 },
        gaps: Gaps::from_emboss(20, 1),
        end_gaps: EndGaps::Free,
    },
    NamedScheme {
        name: "blastn",
        source: "NCBI BLAST+: -task blastn (-reward 2 -penalty -3 -gapopen 5 -gapextend 2)",
        table: nucleotide(2, -3, Ambiguity::Mean),
        gaps: Gaps::from_blast(5, 2),
        end_gaps: EndGaps::Charged,
    },
    NamedScheme {
        name: "blastn-short",
        source: "NCBI BLAST+: -task blastn-short (-reward 1 -penalty -3 -gapopen 5 -gapextend 2)",
        table: nucleotide(1, -3, Ambiguity::Mean),
        gaps: Gaps::from_blast(5, 2),
        end_gaps: EndGaps::Charged,
    },
    NamedScheme {
        name: "megablast",
        source: "NCBI BLAST+: -task megablast (-reward 1 -penalty -2, gaps 0 + 2.5 k); here twice as great, to be whole",
        // Means are rounded before they are doubled.
        table: Table::Nucleotide { match_score: 1, mismatch_score: -2, ambiguity: Ambiguity::Mean, times: 2 },
        gaps: Gaps::linear(5),
        end_gaps: EndGaps::Charged,
    },
    NamedScheme {
        name: "blastp",
        source: "NCBI BLAST+: blastp (-matrix BLOSUM62 -gapopen 11 -gapextend 1); pairwave's default for proteins",
        table: Table::Matrix { nucleotides: None, proteins: Some("BLOSUM62"), times: 1 },
        gaps: Gaps::from_blast(11, 1),
        end_gaps: EndGaps::Charged,
    },
];

impl NamedScheme {
    /// The default for DNA and RNA.
    pub fn dna() -> &'static NamedScheme {
        &SCHEMES[0]
    }

    /// The default for proteins.
    pub fn protein() -> &'static NamedScheme {
        &SCHEMES[SCHEMES.len() - 1]
    }

    /// The scheme of this name, in capitals or not.
    pub fn find(name: &str) -> Option<&'static NamedScheme> {
        SCHEMES.iter().find(|scheme| scheme.name.eq_ignore_ascii_case(name))
    }

    /// The scheme for sequences of this alphabet.
    ///
    /// # Errors
    /// [`Error::Usage`] if it has no scores for them.
    pub fn scoring(&self, alphabet: Alphabet) -> Result<Scoring> {
        let lacking = || {
            let (name, letters) = (self.name, alphabet.letters());
            Error::usage(format!("the scoring scheme {name} has no scores for {letters}"))
        };
        let (scoring, times) = match (self.table, alphabet) {
            (Table::Nucleotide { match_score, mismatch_score, ambiguity, times }, Alphabet::Dna) => {
                (Scoring::nucleotide(match_score, mismatch_score, ambiguity, self.gaps, self.end_gaps)?, times)
            }
            (Table::Matrix { nucleotides: Some(name), times, .. }, Alphabet::Dna)
            | (Table::Matrix { proteins: Some(name), times, .. }, Alphabet::Protein) => {
                let matrix = SubstitutionMatrix::built_in(name).ok_or_else(lacking)?;
                (Scoring::matrix(alphabet, &matrix, self.gaps, self.end_gaps)?, times)
            }
            _ => return Err(lacking()),
        };
        scoring.times(times)
    }

    /// Returns the factor by which scores and costs are greater than those of the program, to be whole numbers.
    pub fn times(&self) -> i32 {
        let (Table::Nucleotide { times, .. } | Table::Matrix { times, .. }) = self.table;
        times
    }

    /// Scores of match and mismatch and the rule for ambiguous symbols, if these are all there is.
    pub fn nucleotide(&self) -> Option<(i32, i32, Ambiguity)> {
        match self.table {
            Table::Nucleotide { match_score, mismatch_score, ambiguity, times } => {
                Some((times * match_score, times * mismatch_score, ambiguity))
            }
            Table::Matrix { .. } => None,
        }
    }

    /// The costs in a line.
    pub fn costs(&self) -> String {
        let mut text = match self.table {
            Table::Nucleotide { match_score, mismatch_score, times, .. } => {
                format!("match {}, mismatch {}", times * match_score, times * mismatch_score)
            }
            Table::Matrix { nucleotides, proteins, times } => {
                let names: Vec<&str> = nucleotides.into_iter().chain(proteins).collect();
                let names = names.join(" or ");
                if times == 1 { names } else { format!("{names} times {times}") }
            }
        };
        let gap = |gaps: Gaps| format!("{} + {} k", gaps.opening(), gaps.next);
        // A string takes all that is written.
        let _ = write!(text, ", gaps {}, ", gap(self.gaps));
        text += &match self.end_gaps {
            EndGaps::Charged => "end gaps the same".to_owned(),
            EndGaps::Free => "end gaps free".to_owned(),
            EndGaps::Priced(ends) => format!("end gaps {}", gap(ends)),
        };
        text
    }

    /// All schemes with their costs and sources.
    pub fn list() -> String {
        let mut text = String::from("Scoring schemes, with what a gap of k symbols costs:\n\n");
        for scheme in SCHEMES {
            // As above.
            let _ = writeln!(text, "{:<13} {}\n{:<13} {}", scheme.name, scheme.costs(), "", scheme.source);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_among_them() {
        let named = |name: &str, alphabet| NamedScheme::find(name).unwrap().scoring(alphabet);
        assert_eq!(named("pairwave", Alphabet::Dna).unwrap(), Scoring::dna());
        assert_eq!(named("BLASTP", Alphabet::Protein).unwrap(), Scoring::protein());
        assert_eq!(named("truong", Alphabet::Dna).unwrap(), Scoring::truong());
        assert_eq!((NamedScheme::dna().name, NamedScheme::protein().name), ("pairwave", "blastp"));
        assert!(NamedScheme::find("blast").is_none());
        for (name, alphabet) in [("truong", Alphabet::Protein), ("blastp", Alphabet::Dna), ("needle", Alphabet::Bytes)]
        {
            let error = named(name, alphabet).unwrap_err();
            assert!(error.exit_code() == 2 && error.to_string().contains(name), "{error}");
        }
    }

    #[test]
    fn every_scheme_is_valid_somewhere() {
        for scheme in SCHEMES {
            let valid = [Alphabet::Dna, Alphabet::Protein].iter().filter(|&&a| scheme.scoring(a).is_ok()).count();
            assert!(valid > 0, "{}", scheme.name);
            assert!(NamedScheme::list().contains(&format!("{:<13} {}", scheme.name, scheme.costs())));
        }
    }

    #[test]
    fn means_of_megablast_are_rounded_before_they_are_doubled() {
        let megablast = NamedScheme::find("megablast").unwrap();
        let of = |scoring: Scoring, a: u8, b: u8| {
            let code = |letter| Alphabet::Dna.encode(letter).unwrap();
            scoring.substitution.score(code(a), code(b))
        };
        let scores = [(b'A', b'A'), (b'A', b'C'), (b'A', b'R'), (b'A', b'B'), (b'A', b'V'), (b'A', b'N')]
            .map(|(a, b)| of(megablast.scoring(Alphabet::Dna).unwrap(), a, b));
        assert_eq!(scores, [2, -4, -2, -4, -2, -2]);
        assert_eq!(megablast.nucleotide(), Some((2, -4, Ambiguity::Mean)));
        assert_eq!(megablast.costs(), "match 2, mismatch -4, gaps 0 + 5 k, end gaps the same");
    }

    #[test]
    fn numbers_that_are_not_whole_are_doubled() {
        let needle = NamedScheme::find("needle").unwrap();
        let scoring = needle.scoring(Alphabet::Dna).unwrap();
        assert_eq!((scoring.substitution.score(1, 1), scoring.substitution.score(1, 2)), (10, -8));
        assert_eq!((scoring.gaps.cost(1), scoring.gaps.cost(5)), (20, 24));
        assert_eq!(needle.costs(), "EDNAFULL or EBLOSUM62 times 2, gaps 19 + 1 k, end gaps free");
        let vsearch = NamedScheme::find("vsearch").unwrap();
        assert_eq!(vsearch.costs(), "match 2, mismatch -4, gaps 18 + 2 k, end gaps 1 + 1 k");
        assert_eq!(vsearch.scoring(Alphabet::Dna).unwrap().end_costs().cost(3), 4);
    }
}
