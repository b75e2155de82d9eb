//! Significance in a database of a known size, and the scores that it requires.

use super::{DatabaseSize, Significance, Statistics};
use crate::error::{Error, Result};
use crate::score::{Mode, Scoring};

/// The statistics of local alignments with the sequences of a database.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DatabaseStatistics {
    /// Statistics of the scoring scheme.
    pub statistics: Statistics,
    /// Size of the database.
    pub size: DatabaseSize,
}

impl DatabaseStatistics {
    /// Returns the bit score and the E-value of an alignment of two sequences of these lengths in
    /// symbols.
    pub fn significance(&self, score: i64, query: u32, target: u32) -> Significance {
        self.statistics.significance(score, query, target, &self.size)
    }
}

/// The maximum E-value of reported local alignments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MaxEvalue {
    evalue: f64,
    database: DatabaseStatistics,
}

impl MaxEvalue {
    /// Creates the threshold of alignments with the sequences of a database.
    ///
    /// # Errors
    /// [`Error::Usage`] if `evalue` is negative or not a number, if the mode is not local, and if
    /// BLAST has no parameters for the scores and gap costs.
    pub fn new(evalue: f64, scoring: &Scoring, size: DatabaseSize) -> Result<Self> {
        if evalue.is_nan() || evalue < 0.0 {
            return Err(Error::usage_value("max_evalue", evalue, "E-values are not negative"));
        }
        if scoring.mode != Mode::Local {
            let message = "only local alignments have E-values: omit it, or use the local `mode`";
            return Err(Error::usage_of("max_evalue", message));
        }
        let Some(statistics) = Statistics::for_scheme(scoring) else {
            let message = "no parameters are known for these scores and gap costs: use those of BLAST, or `min_score`";
            return Err(Error::usage_of("max_evalue", message));
        };
        Ok(MaxEvalue { evalue, database: DatabaseStatistics { statistics, size } })
    }

    /// Returns the least score of an alignment of two sequences of these lengths in symbols that
    /// is significant.
    pub fn least_score(&self, query: u32, target: u32) -> i64 {
        let DatabaseStatistics { statistics, size } = &self.database;
        statistics.least_score(self.evalue, query, target..=target, size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::NamedScheme;
    use crate::seq::Alphabet;

    const SIZE: DatabaseSize = DatabaseSize { sequences: 20, symbols: 90_000 };

    fn local(scheme: &NamedScheme, alphabet: Alphabet) -> Scoring {
        let scoring = scheme.scoring(alphabet).expect("the scheme has scores");
        Scoring { mode: Mode::Local, ..scoring }
    }

    #[test]
    fn least_scores_are_the_first_within_the_threshold() {
        for (name, alphabet) in [("blastn", Alphabet::Dna), ("blastp", Alphabet::Protein)] {
            let scoring = local(NamedScheme::find(name).expect("the scheme exists"), alphabet);
            let statistics = Statistics::for_scheme(&scoring).expect("BLAST has parameters");
            let evalue = |score, query, target| statistics.evalue(score, query, target, &SIZE);
            for (limit, query, target) in [(10.0, 300, 250), (1e-5, 4_000, 90), (0.0, 20, 20), (1e-30, 1, 60_000)] {
                let least = MaxEvalue::new(limit, &scoring, SIZE).unwrap().least_score(query, target);
                assert!(evalue(least, query, target) <= limit, "{name}, {limit}");
                assert!(least == 1 || evalue(least - 1, query, target) > limit, "{name}, {limit}");
            }
        }
    }

    #[test]
    fn thresholds_without_meaning_are_refused() {
        let scoring = local(NamedScheme::dna(), Alphabet::Dna);
        let message = |evalue, scoring: &Scoring| MaxEvalue::new(evalue, scoring, SIZE).unwrap_err().to_string();
        assert!(message(-1.0, &scoring).contains("not negative"));
        assert!(message(f64::NAN, &scoring).contains("not negative"));
        assert!(message(1.0, &Scoring { mode: Mode::Global, ..scoring.clone() }).contains("only local"));
        let unknown = scoring.times(1000).expect("the scores are in range");
        assert!(message(1.0, &unknown).contains("no parameters"));
    }
}
