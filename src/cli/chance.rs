//! Warnings about local alignments that may be meaningless.

use pairwave::score::chance::{Chance, Composition, Growth};
use pairwave::score::{Mode, Scoring};
use pairwave::seq::{SequenceId, SequenceStore};

/// Least ratio of a score to the score expected by chance. It exceeds 1 because real sequences are
/// less random than the statistical model.
pub(super) const FACTOR: f64 = 2.0;
/// Number of symbols of a file that determine its composition.
pub(super) const COMPOSITION_SYMBOLS: u64 = 1 << 20;

/// Returns whether warnings are shown. If not, the statistics need not be computed.
pub(super) fn are_warnings_shown() -> bool {
    tracing::enabled!(tracing::Level::WARN)
}

/// Warns if local alignments under these scores span whole sequences even if these are unrelated.
/// Returns whether it warned.
pub(super) fn warn_of_growth(chance: &Chance) -> bool {
    match chance.growth() {
        Growth::Everything(mean) => tracing::warn!(
            "two random symbols of these sequences score {mean:.2} on average: without a negative average, \
            local alignments span everything and are meaningless; lower the scores of mismatches"
        ),
        Growth::Linear(rate) => tracing::warn!(
            "gaps cost so little compared with these scores that unrelated sequences align along their whole \
            length, at about {rate:.2} per symbol: local alignments may be meaningless; raise the costs of \
            gaps or mismatches"
        ),
        Growth::Logarithmic => return false,
    }
    true
}

/// Warns as [`warn_of_growth`] does, for two files of sequences.
pub(super) fn warn_of_stores(scoring: &Scoring, queries: &SequenceStore, targets: &SequenceStore) {
    let composition = |store: &SequenceStore| {
        let mut all = Composition::new(store.alphabet());
        for id in 0..store.len() as SequenceId {
            if all.symbols() >= COMPOSITION_SYMBOLS {
                break;
            }
            all.add(store.codes(id));
        }
        all
    };
    if scoring.mode == Mode::Local
        && are_warnings_shown()
        && let Some(chance) = Chance::estimate(scoring, &composition(queries), &composition(targets))
    {
        warn_of_growth(&chance);
    }
}
