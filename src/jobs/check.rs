//! Checks that all jobs with scores share.

use crate::error::{Error, Result};
use crate::score::{CoverageFilter, IdentityDefinition, Mode, Scoring};
use crate::seq::{Alphabet, Strands};

/// Refuses scores that no engine computes, identities that are undefined for the alignments, and
/// strands that the sequences do not have.
///
/// # Errors
/// [`Error::Usage`] with the name of the field.
pub(super) fn check_scores(scoring: &Scoring, definition: IdentityDefinition, strand: Strands) -> Result<()> {
    scoring.check_gaps()?;
    if scoring.mode == Mode::Local && definition == IdentityDefinition::Mbl {
        return Err(Error::usage_value(
            "definition",
            definition.number(),
            "it compares whole sequences, but local alignments cover parts of them",
        ));
    }
    if scoring.alphabet == Alphabet::Bytes {
        return Err(Error::usage_of("scoring", "there are no scores for bytes, only edit distances"));
    }
    if strand != Strands::Plus && scoring.alphabet != Alphabet::Dna {
        return Err(Error::usage_of("strand", "only DNA and RNA have a minus strand"));
    }
    Ok(())
}

/// Refuses coverages that are no fractions, and coverages of scores without alignments.
///
/// # Errors
/// [`Error::Usage`] with the name of the field.
pub(super) fn check_coverage(coverage: &CoverageFilter, score_only: bool) -> Result<()> {
    let why = "coverages are fractions from 0 to 1";
    let not_fraction = |minimum: Option<f64>| minimum.filter(|minimum| !(0.0..=1.0).contains(minimum));
    if let Some(wrong) = not_fraction(coverage.query) {
        return Err(Error::usage_value("coverage.query", wrong, why));
    }
    if let Some(wrong) = not_fraction(coverage.target) {
        return Err(Error::usage_value("coverage.target", wrong, why));
    }
    if let Some(wrong) = not_fraction(coverage.both) {
        return Err(Error::usage_value("coverage.both", wrong, why));
    }
    if let Some(wrong) = not_fraction(coverage.shorter) {
        return Err(Error::usage_value("coverage.shorter", wrong, why));
    }
    if score_only && coverage.is_set() {
        return Err(Error::usage_of(
            "score_only",
            "scores alone have no coverage: omit either this or `coverage.query`, `coverage.target` and \
             `coverage.both`",
        ));
    }
    Ok(())
}

/// Returns why a scoring scheme does not apply to sequences of an alphabet; `None` if it applies.
pub(super) fn not_scored(scoring: &Scoring, alphabet: Alphabet) -> Option<String> {
    let scored = scoring.alphabet;
    (alphabet != scored).then(|| format!("these are {alphabet:?} sequences, but the scores are for {scored:?}"))
}
