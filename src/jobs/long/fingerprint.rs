//! Fingerprints of jobs for long pairs. A checkpoint refuses another job by its fingerprint.

use super::LongAlignment;
use super::checkpoint::checksum;
use crate::files::fingerprint::Fingerprint;
use crate::score::Scoring;
use crate::seq::{Code, SequenceId};

impl LongAlignment {
    /// Returns the fingerprint that the checkpoint of this pair stores.
    pub(super) fn fingerprint(&self) -> Fingerprint {
        self.fingerprint_of(&[self.query_id], &[self.target_id])
    }

    /// Returns the fingerprint of a job with these settings for some queries and targets. The
    /// pattern names every field, so that a new one cannot be forgotten.
    pub(super) fn fingerprint_of(&self, queries: &[SequenceId], targets: &[SequenceId]) -> Fingerprint {
        let LongAlignment {
            query,
            query_id: _,
            target,
            target_id: _,
            scoring,
            want,
            strand,
            circular,
            top,
            min_score,
            prune,
            origin,
            // These fields only determine how the result is computed. A later run uses the sizes of
            // the first run.
            method: _,
            strip: _,
            chunk: _,
            host_memory: _,
            checkpoint: _,
            tuning: _,
        } = self;
        let Scoring { alphabet, substitution: _, gaps, end_gaps, mode } = &**scoring;
        let job = Fingerprint::default()
            .with_bytes("query", queries.iter().map(|&id| query.codes(id)))
            .with_bytes("target", targets.iter().map(|&id| target.codes(id)))
            .with("alphabet", alphabet.letters())
            .with("scores", scores(scoring))
            .with("gap_first", gaps.first)
            .with("gap_next", gaps.next)
            .with("mode", format!("{mode:?}, end gaps {end_gaps:?}"))
            .with("want", format!("{want:?}"))
            .with("strand", format!("{strand:?}"))
            .with("circular", format!("{circular:?}"))
            .with("top", top)
            .with("min_score", min_score)
            .with("prune", prune);
        origin.iter().fold(job, Fingerprint::merge)
    }
}

/// Returns a checksum of the scores of all pairs of symbols.
fn scores(scoring: &Scoring) -> String {
    let size = scoring.alphabet.size() as Code;
    let pairs = (1..size).flat_map(|a| (1..size).map(move |b| (a, b)));
    let table = &scoring.substitution;
    let bytes: Vec<u8> = pairs
        .flat_map(|(a, b)| table.score(a, b).to_le_bytes().into_iter().chain([table.is_match(a, b).into()]))
        .collect();
    format!("{:016x}", checksum(&bytes))
}
