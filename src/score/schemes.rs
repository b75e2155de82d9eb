//! Named scoring schemes: the defaults of other programs, each with its source.

use std::fmt::Write;

use super::gaps::{EndGaps, Gaps};
use super::matrix::SubstitutionMatrix;
use super::scoring::{Ambiguity, Scoring};
use crate::error::{Error, Result};
use crate::seq::Alphabet;

/// A scoring scheme with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedScheme {
    /// Name in lower case.
    pub name: &'static str,
    /// Source of the numbers, with remarks.
    pub source: &'static str,
    table: SchemeScores,
    gaps: Gaps,
    end_gaps: EndGaps,
}

/// Scores of pairs of symbols.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SchemeScores {
    /// Match and mismatch scores for nucleotides, each multiplied by `times`. If there is an
    /// `ambiguous` score, every pair with an ambiguous code has it.
    Nucleotide { match_score: i32, mismatch_score: i32, ambiguity: Ambiguity, ambiguous: Option<i32>, times: i32 },
    /// Built-in matrices for nucleotides and for proteins, with all scores multiplied by `times`.
    Matrix { nucleotides: Option<&'static str>, proteins: Option<&'static str>, times: i32 },
}

const fn nucleotide(match_score: i32, mismatch_score: i32, ambiguity: Ambiguity) -> SchemeScores {
    SchemeScores::Nucleotide { match_score, mismatch_score, ambiguity, ambiguous: None, times: 1 }
}

/// Returns minimap2's scores: a pair with an ambiguous code scores -1 (`--score-N 1`). It counts as
/// a match if the sets of bases intersect.
const fn minimap2(match_score: i32, mismatch_score: i32) -> SchemeScores {
    let ambiguous = Some(-1);
    SchemeScores::Nucleotide { match_score, mismatch_score, ambiguity: Ambiguity::Zero, ambiguous, times: 1 }
}

/// All named schemes.
pub const SCHEMES: &[NamedScheme] = &[
    NamedScheme {
        name: "pairwave",
        source: "pairwave's default for nucleotides: EDNAFULL's scores, with gap costs that lose few pairs of 16S genes",
        table: nucleotide(5, -4, Ambiguity::Overlap),
        gaps: Gaps::from_blast(20, 5),
        end_gaps: EndGaps::Priced(Gaps::linear(3)),
    },
    NamedScheme {
        name: "truong",
        source: "EDNAFULL's scores with linear gaps as in Truong et al. 2014, equation 1 (the cost was chosen here); the fastest",
        table: nucleotide(5, -4, Ambiguity::Overlap),
        gaps: Gaps::linear(10),
        end_gaps: EndGaps::Charged,
    },
    NamedScheme {
        name: "vsearch",
        source: "vsearch: gapopen 20I/2E, gapext 2I/1E, where opening includes the first symbol; ambiguous symbols score 0",
        table: nucleotide(2, -4, Ambiguity::Zero),
        gaps: Gaps::from_emboss(20, 2),
        end_gaps: EndGaps::Priced(Gaps::from_emboss(2, 1)),
    },
    NamedScheme {
        name: "needle",
        source: "EMBOSS needle and water: -gapopen 10 -gapextend 0.5 -endweight N; all numbers are doubled here to be integers",
        table: SchemeScores::Matrix { nucleotides: Some("EDNAFULL"), proteins: Some("EBLOSUM62"), times: 2 },
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
        source: "NCBI BLAST+: -task megablast (-reward 1 -penalty -2, gaps 0 + 2.5 k); doubled here to be integers",
        // Mean scores are rounded before they are doubled.
        table: SchemeScores::Nucleotide {
            match_score: 1,
            mismatch_score: -2,
            ambiguity: Ambiguity::Mean,
            ambiguous: None,
            times: 2,
        },
        gaps: Gaps::linear(5),
        end_gaps: EndGaps::Charged,
    },
    NamedScheme {
        name: "asm5",
        source: "minimap2: -x asm5 (-A1 -B19 -O39,81 -E3,1), gaps of up to 21 symbols; pairs with N score -1",
        table: minimap2(1, -19),
        gaps: Gaps::from_blast(39, 3),
        end_gaps: EndGaps::Charged,
    },
    NamedScheme {
        name: "asm10",
        source: "minimap2: -x asm10 (-A1 -B9 -O16,41 -E2,1), gaps of up to 25 symbols; pairs with N score -1",
        table: minimap2(1, -9),
        gaps: Gaps::from_blast(16, 2),
        end_gaps: EndGaps::Charged,
    },
    NamedScheme {
        name: "asm20",
        source: "minimap2: -x asm20 (-A1 -B4 -O6,26 -E2,1), gaps of up to 20 symbols; pairs with N score -1",
        table: minimap2(1, -4),
        gaps: Gaps::from_blast(6, 2),
        end_gaps: EndGaps::Charged,
    },
    NamedScheme {
        name: "blastp",
        source: "NCBI BLAST+: blastp (-matrix BLOSUM62 -gapopen 11 -gapextend 1); pairwave's default for proteins",
        table: SchemeScores::Matrix { nucleotides: None, proteins: Some("BLOSUM62"), times: 1 },
        gaps: Gaps::from_blast(11, 1),
        end_gaps: EndGaps::Charged,
    },
];

impl NamedScheme {
    /// Returns the default for DNA and RNA.
    pub fn dna() -> &'static NamedScheme {
        &SCHEMES[0]
    }

    /// Returns the default for proteins.
    pub fn protein() -> &'static NamedScheme {
        &SCHEMES[SCHEMES.len() - 1]
    }

    /// Returns the scheme with this name, in either case.
    pub fn find(name: &str) -> Option<&'static NamedScheme> {
        SCHEMES.iter().find(|scheme| scheme.name.eq_ignore_ascii_case(name))
    }

    /// Returns the scheme for sequences of an alphabet.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the scheme has no scores for them.
    pub fn scoring(&self, alphabet: Alphabet) -> Result<Scoring> {
        let lacking = || {
            let (name, letters) = (self.name, alphabet.letters());
            Error::usage(format!("the scoring scheme {name} has no scores for {letters}"))
        };
        let (scoring, times) = match (self.table, alphabet) {
            (SchemeScores::Nucleotide { match_score, mismatch_score, ambiguity, ambiguous, times }, Alphabet::Dna) => {
                let scoring = Scoring::nucleotide(match_score, mismatch_score, ambiguity, self.gaps, self.end_gaps)?;
                (ambiguous.map_or(Ok(scoring.clone()), |score| scoring.with_ambiguous_score(score))?, times)
            }
            (SchemeScores::Matrix { nucleotides: Some(name), times, .. }, Alphabet::Dna)
            | (SchemeScores::Matrix { proteins: Some(name), times, .. }, Alphabet::Protein) => {
                let matrix = SubstitutionMatrix::built_in(name).ok_or_else(lacking)?;
                (Scoring::matrix(alphabet, &matrix, self.gaps, self.end_gaps)?, times)
            }
            _ => return Err(lacking()),
        };
        scoring.times(times)
    }

    /// Returns the factor by which all scores and costs of the original program are multiplied to
    /// make them integers.
    pub fn times(&self) -> i32 {
        let (SchemeScores::Nucleotide { times, .. } | SchemeScores::Matrix { times, .. }) = self.table;
        times
    }

    /// Returns the match score, the mismatch score and the rule for ambiguous codes, if the scheme
    /// has no matrix. If there is an [ambiguous score](NamedScheme::ambiguous_score), the rule only
    /// decides which columns count as matches.
    pub fn nucleotide(&self) -> Option<(i32, i32, Ambiguity)> {
        match self.table {
            SchemeScores::Nucleotide { match_score, mismatch_score, ambiguity, times, .. } => {
                Some((times * match_score, times * mismatch_score, ambiguity))
            }
            SchemeScores::Matrix { .. } => None,
        }
    }

    /// Returns the score of every pair with an ambiguous code, if the scheme has a fixed one.
    pub fn ambiguous_score(&self) -> Option<i32> {
        match self.table {
            SchemeScores::Nucleotide { ambiguous, .. } => ambiguous,
            SchemeScores::Matrix { .. } => None,
        }
    }

    /// Describes scores and costs in one line.
    pub fn costs(&self) -> String {
        let mut text = match self.table {
            SchemeScores::Nucleotide { match_score, mismatch_score, times, .. } => {
                format!("match {}, mismatch {}", times * match_score, times * mismatch_score)
            }
            SchemeScores::Matrix { nucleotides, proteins, times } => {
                let names: Vec<&str> = nucleotides.into_iter().chain(proteins).collect();
                let names = names.join(" or ");
                if times == 1 { names } else { format!("{names} times {times}") }
            }
        };
        let gap = |gaps: Gaps| format!("{} + {} k", gaps.opening(), gaps.next);
        // Writing to a string cannot fail.
        let _ = write!(text, ", gaps {}, ", gap(self.gaps));
        text += &match self.end_gaps {
            EndGaps::Charged => "end gaps the same".to_owned(),
            EndGaps::Free => "end gaps free".to_owned(),
            EndGaps::Priced(ends) => format!("end gaps {}", gap(ends)),
        };
        text
    }

    /// Lists all schemes with their costs and sources.
    pub fn list() -> String {
        let mut text = String::from("Scoring schemes, with the cost of a gap of k symbols:\n\n");
        for scheme in SCHEMES {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{:<13} {}\n{:<13} {}", scheme.name, scheme.costs(), "", scheme.source);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_schemes_are_named() {
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
    fn every_named_scheme_is_valid_for_an_alphabet() {
        for scheme in SCHEMES {
            let valid = [Alphabet::Dna, Alphabet::Protein].iter().filter(|&&a| scheme.scoring(a).is_ok()).count();
            assert!(valid > 0, "{}", scheme.name);
            assert!(NamedScheme::list().contains(&format!("{:<13} {}", scheme.name, scheme.costs())));
        }
    }

    #[test]
    fn megablast_means_are_rounded_before_doubling() {
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
    fn presets_of_minimap2_have_its_scores() {
        // -A, -B, both pieces of -O and -E, and the greatest length of a gap that costs no more
        // under the first piece.
        for (name, a, b, (open, further), (extend, next), longest) in [
            ("asm5", 1, 19, (39, 81), (3, 1), 21),
            ("asm10", 1, 9, (16, 41), (2, 1), 25),
            ("asm20", 1, 4, (6, 26), (2, 1), 20),
        ] {
            let scheme = NamedScheme::find(name).unwrap();
            let scoring = scheme.scoring(Alphabet::Dna).unwrap();
            let code = |letter| Alphabet::Dna.encode(letter).unwrap();
            let score = |a, b| scoring.substitution.score(code(a), code(b));
            assert_eq!((score(b'A', b'A'), score(b'A', b'C'), score(b'U', b'T')), (a, -b, a), "{name}");
            // minimap2 reads every other letter as N.
            for pair in [(b'A', b'N'), (b'N', b'N'), (b'R', b'R'), (b'R', b'Y'), (b'C', b'R')] {
                assert_eq!(score(pair.0, pair.1), -1, "{name}");
            }
            let is_match = |a, b| scoring.substitution.is_match(code(a), code(b));
            assert!(is_match(b'A', b'N') && is_match(b'R', b'R') && !is_match(b'R', b'Y'));
            assert_eq!(scoring.gaps, Gaps::from_blast(open, extend), "{name}");
            assert!(scheme.source.contains(&format!("gaps of up to {longest} symbols")));
            for length in 1..100u64 {
                let second = i64::from(further) + i64::from(next) * length as i64;
                assert_eq!(scoring.gaps.cost(length) <= second, length <= longest, "{name} {length}");
            }
            assert_eq!((scheme.nucleotide(), scheme.ambiguous_score()), (Some((a, -b, Ambiguity::Zero)), Some(-1)));
            assert_eq!(
                scheme.costs(),
                format!("match {a}, mismatch -{b}, gaps {open} + {extend} k, end gaps the same")
            );
            assert!(scheme.scoring(Alphabet::Protein).is_err());
        }
    }

    #[test]
    fn fractional_costs_are_doubled() {
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
