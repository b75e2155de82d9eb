//! Scoring schemes from keyword arguments.

use std::path::PathBuf;

use pairwave::score::{Ambiguity, EndGaps, Gaps, Mode, NamedScheme, SCHEMES, Scoring, SubstitutionMatrix};
use pairwave::{Alphabet, Result};
use pyo3::prelude::*;

use crate::error::{exception, invalid};
use crate::options::Options;

/// Arguments that define a scoring scheme for any alphabet. Missing values are those of the named
/// scheme, or of the default of the alphabet.
pub(crate) struct SchemeOptions {
    mode: AlignedParts,
    named: Option<&'static NamedScheme>,
    match_score: Option<i32>,
    mismatch: Option<i32>,
    ambiguity: Option<Ambiguity>,
    matrix: Option<PathBuf>,
    gap_open: Option<i32>,
    gap_extend: Option<i32>,
    end_gap_open: Option<i32>,
    end_gap_extend: Option<i32>,
}

/// Parts of the sequences that are aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AlignedParts {
    Global,
    SemiGlobal,
    Local,
}

impl SchemeOptions {
    /// Takes the arguments. `default` is the mode if none is given.
    pub(crate) fn take(options: &mut Options<'_>, default: AlignedParts) -> PyResult<Self> {
        let modes = [
            ("global", AlignedParts::Global),
            ("semi-global", AlignedParts::SemiGlobal),
            ("local", AlignedParts::Local),
        ];
        let rules = [
            ("overlap", Ambiguity::Overlap),
            ("mismatch", Ambiguity::Mismatch),
            ("zero", Ambiguity::Zero),
            ("mean", Ambiguity::Mean),
        ];
        let taken = SchemeOptions {
            mode: options.word("mode", &modes)?.unwrap_or(default),
            named: options.take::<String>("scheme")?.map(|name| scheme_called(&name)).transpose()?,
            match_score: options.take("match")?,
            mismatch: options.take("mismatch")?,
            ambiguity: options.word("ambiguity", &rules)?,
            matrix: options.take("matrix")?,
            gap_open: options.take("gap_open")?,
            gap_extend: options.take("gap_extend")?,
            end_gap_open: options.take("end_gap_open")?,
            end_gap_extend: options.take("end_gap_extend")?,
        };
        taken.check()?;
        Ok(taken)
    }

    /// Checks combinations that are wrong for every alphabet.
    fn check(&self) -> PyResult<()> {
        if self.matrix.is_some() && self.has_nucleotide_scores() {
            return Err(invalid("match, mismatch and ambiguity have no effect with matrix: remove one of them"));
        }
        if self.has_end_costs() && self.mode != AlignedParts::Global {
            return Err(invalid("end_gap_open and end_gap_extend need the mode 'global': remove them"));
        }
        Ok(())
    }

    fn has_nucleotide_scores(&self) -> bool {
        self.match_score.is_some() || self.mismatch.is_some() || self.ambiguity.is_some()
    }

    fn has_end_costs(&self) -> bool {
        self.end_gap_open.is_some() || self.end_gap_extend.is_some()
    }

    /// Returns the scheme for sequences of an alphabet.
    pub(crate) fn scoring(&self, py: Python<'_>, alphabet: Alphabet) -> PyResult<Scoring> {
        if self.has_nucleotide_scores() && alphabet != Alphabet::Dna {
            return Err(invalid(
                "match, mismatch and ambiguity apply only to nucleotides, but the sequences are proteins: use matrix, \
                 or alphabet='dna' if they are nucleotides",
            ));
        }
        self.resolve(alphabet).map_err(|error| exception(py, error))
    }

    fn resolve(&self, alphabet: Alphabet) -> Result<Scoring> {
        let default = if alphabet == Alphabet::Dna { NamedScheme::dna() } else { NamedScheme::protein() };
        let named = self.named.unwrap_or(default);
        let base = named.scoring(alphabet)?;
        let costs = |open: Option<i32>, extend: Option<i32>, default: Gaps| {
            Gaps::from_blast(open.unwrap_or(default.opening()), extend.unwrap_or(default.next))
        };
        let gaps = costs(self.gap_open, self.gap_extend, base.gaps);
        let gaps_were_given = self.gap_open.is_some() || self.gap_extend.is_some();
        let end_gaps = match (self.mode, base.end_gaps) {
            (AlignedParts::Local, _) => EndGaps::Charged,
            (AlignedParts::SemiGlobal, _) => EndGaps::Free,
            (AlignedParts::Global, EndGaps::Priced(_)) if gaps_were_given => EndGaps::Charged,
            (AlignedParts::Global, end_gaps) => end_gaps,
        };
        let end_gaps = if self.has_end_costs() {
            EndGaps::Priced(costs(self.end_gap_open, self.end_gap_extend, end_gaps.costs(gaps)))
        } else {
            end_gaps
        };
        let scoring = match &self.matrix {
            Some(matrix) => {
                let matrix = SubstitutionMatrix::open(matrix)?;
                Scoring::matrix(alphabet, &matrix, gaps, end_gaps)?.times(named.times())?
            }
            None if self.has_nucleotide_scores() => {
                let usual = named.nucleotide().or_else(|| NamedScheme::dna().nucleotide()).unwrap_or_default();
                let (match_score, mismatch) = (self.match_score.unwrap_or(usual.0), self.mismatch.unwrap_or(usual.1));
                Scoring::nucleotide(match_score, mismatch, self.ambiguity.unwrap_or(usual.2), gaps, end_gaps)?
            }
            None => base.with_gaps(gaps, end_gaps)?,
        };
        let mode = if self.mode == AlignedParts::Local { Mode::Local } else { Mode::Global };
        Ok(Scoring { mode, ..scoring })
    }
}

/// Returns the scheme with this name.
fn scheme_called(name: &str) -> PyResult<&'static NamedScheme> {
    NamedScheme::find(name).ok_or_else(|| {
        let names: Vec<&str> = SCHEMES.iter().map(|scheme| scheme.name).collect();
        invalid(format!("scheme '{name}': it must be one of {}", names.join(", ")))
    })
}
