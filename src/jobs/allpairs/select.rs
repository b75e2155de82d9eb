//! Which of a chunk's results are handed over, and in which order, whether they are rows or keys of bytes.

use rayon::prelude::*;

use super::{AllPairs, PairResult};
use crate::pairs::Key;
use crate::seq::{SequenceId, Strand};

/// Results that are worth waking other threads for to sort them.
const MANY: usize = 1 << 14;

/// What results are ordered and selected by.
pub(in crate::jobs) trait Ranked: Clone + Send {
    /// Query, target and the query's strand: the place in the order.
    fn place(&self) -> (SequenceId, SequenceId, Strand);
    fn score(&self) -> i64;
    fn identity(&self) -> f64;
}

impl Ranked for PairResult {
    fn place(&self) -> (SequenceId, SequenceId, Strand) {
        (self.query, self.target, self.strand)
    }

    fn score(&self) -> i64 {
        self.score
    }

    fn identity(&self) -> f64 {
        self.identity
    }
}

impl Ranked for Key {
    fn place(&self) -> (SequenceId, SequenceId, Strand) {
        (self.query, self.target, self.strand)
    }

    fn score(&self) -> i64 {
        self.score
    }

    fn identity(&self) -> f64 {
        self.identity
    }
}

/// What a job selects.
pub(super) struct Selection {
    /// Pairs have a result for each strand.
    has_strands: bool,
    max_hits: Option<usize>,
    is_local: bool,
}

impl Selection {
    pub(super) fn of(job: &AllPairs, has_strands: bool) -> Self {
        Selection { has_strands, max_hits: job.max_hits, is_local: job.is_local() }
    }

    /// Puts the results of a chunk in order, and leaves those that are handed over. Threads of `pool` sort many.
    pub(super) fn order<R: Ranked>(&self, results: &mut Vec<R>, pool: Option<&rayon::ThreadPool>) {
        match pool.filter(|_| results.len() > MANY) {
            Some(pool) => pool.install(|| results.par_sort_unstable_by_key(R::place)),
            None => results.sort_unstable_by_key(R::place),
        }
        if self.has_strands {
            keep_better_strands(results);
        }
        if let Some(most) = self.max_hits {
            keep_best(results, most, self.is_local);
        }
    }
}

/// Keeps of the two strands of each pair the one that scores more; of equal ones the forward one. `results` are sorted by
/// query, target and strand.
pub(in crate::jobs) fn keep_better_strands<R: Ranked>(results: &mut Vec<R>) {
    results.dedup_by(|minus, plus| {
        let pair = |result: &R| (result.place().0, result.place().1);
        let is_same = pair(&*minus) == pair(&*plus);
        if is_same && minus.score() > plus.score() {
            std::mem::swap(minus, plus);
        }
        is_same
    });
}

/// Keeps at most `most` results of each query, in place and in order: the best by identity and then score, or by score
/// and then identity (a local alignment of few symbols often has an identity of 1). `results` are sorted by query and
/// target.
pub(super) fn keep_best<R: Ranked>(results: &mut Vec<R>, most: usize, score_first: bool) {
    let mut kept = Vec::with_capacity(results.len());
    for hits in results.chunk_by_mut(|a, b| a.place().0 == b.place().0) {
        // Stable: equal hits stay in the order of their targets.
        hits.sort_by(|a, b| {
            let (by_identity, by_score) = (b.identity().total_cmp(&a.identity()), b.score().cmp(&a.score()));
            if score_first { by_score.then(by_identity) } else { by_identity.then(by_score) }
        });
        let most = most.min(hits.len());
        let best = &mut hits[..most];
        best.sort_by_key(|result| result.place().1);
        kept.extend(best.iter().cloned());
    }
    *results = kept;
}
