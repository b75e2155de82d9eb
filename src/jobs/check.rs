//! What all jobs of scores check alike.

use crate::error::{Error, Result};
use crate::score::{IdentityDefinition, Mode, Scoring};
use crate::seq::{Alphabet, Strands};

/// Refuses scores that no engine computes, identities that are not defined of their alignments, and strands that sequences do not
/// have.
///
/// # Errors
/// [`Error::Usage`] that names the field.
pub(super) fn check_scores(scoring: &Scoring, definition: IdentityDefinition, strand: Strands) -> Result<()> {
    let gaps = scoring.gaps;
    if gaps.next < 0 || gaps.first < gaps.next {
        let message = format!("{gaps:?}: the first symbol must cost no less than the next, and that not less than 0");
        return Err(Error::usage_of("gaps", message));
    }
    if scoring.mode == Mode::Local && definition == IdentityDefinition::Mbl {
        return Err(Error::usage_value(
            "definition",
            definition.number(),
            "it compares whole sequences, and a local alignment leaves parts of them out",
        ));
    }
    if scoring.alphabet == Alphabet::Bytes {
        return Err(Error::usage_of("scoring", "there are no scores for bytes, only distances"));
    }
    if strand != Strands::Plus && scoring.alphabet != Alphabet::Dna {
        return Err(Error::usage_of("strand", "only DNA and RNA have a reverse one"));
    }
    Ok(())
}

/// Why sequences of an alphabet have no such scores; `None` if they have.
pub(super) fn not_scored(scoring: &Scoring, alphabet: Alphabet) -> Option<String> {
    let scored = scoring.alphabet;
    (alphabet != scored).then(|| format!("these are {alphabet:?} sequences, but the scores are for {scored:?}"))
}
