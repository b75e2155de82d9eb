//! Selects and orders the results of a chunk. Results are rows or keys of encoded rows.

use rayon::prelude::*;

use super::{AllPairs, PairResult};
use crate::pairs::RowKey;
use crate::seq::{SequenceId, Strand};

/// Number of results above which other threads help to sort them.
const MIN_PARALLEL_RESULTS: usize = 1 << 14;

/// A result that can be ordered and selected.
pub(in crate::jobs) trait Ranked: Clone + Send {
    /// Returns query, target and strand, which determine the order.
    fn position(&self) -> (SequenceId, SequenceId, Strand);
    fn score(&self) -> i64;
    fn identity(&self) -> f64;
}

impl Ranked for PairResult {
    fn position(&self) -> (SequenceId, SequenceId, Strand) {
        (self.query, self.target, self.strand)
    }

    fn score(&self) -> i64 {
        self.score
    }

    fn identity(&self) -> f64 {
        self.identity
    }
}

impl Ranked for RowKey {
    fn position(&self) -> (SequenceId, SequenceId, Strand) {
        (self.query, self.target, self.strand)
    }

    fn score(&self) -> i64 {
        self.score
    }

    fn identity(&self) -> f64 {
        self.identity
    }
}

/// The selection of results by a job.
pub(super) struct ResultSelection {
    /// Whether pairs have a result for each strand.
    has_strands: bool,
    max_hits: Option<usize>,
    top_hits_only: bool,
    /// Whether results are ranked by score and then identity. Otherwise by identity and then score.
    score_first: bool,
}

impl ResultSelection {
    pub(super) fn from_job(job: &AllPairs, has_strands: bool) -> Self {
        let &AllPairs { max_hits, top_hits_only, score_only, .. } = job;
        ResultSelection { has_strands, max_hits, top_hits_only, score_first: score_only || job.is_local() }
    }

    /// Orders the results of a chunk and removes unselected ones. Threads of `pool` help to sort
    /// large chunks.
    pub(super) fn order<R: Ranked>(&self, results: &mut Vec<R>, pool: Option<&rayon::ThreadPool>) {
        match pool.filter(|_| results.len() > MIN_PARALLEL_RESULTS) {
            Some(pool) => pool.install(|| results.par_sort_unstable_by_key(R::position)),
            None => results.sort_unstable_by_key(R::position),
        }
        if self.has_strands {
            keep_better_strands(results);
        }
        self.select_hits(results);
    }

    /// Keeps the best results of each query. `results` must be ordered by query and target.
    pub(super) fn select_hits<R: Ranked>(&self, results: &mut Vec<R>) {
        if self.top_hits_only {
            keep_top(results, self.score_first);
        }
        if let Some(most) = self.max_hits {
            keep_best(results, most, self.score_first);
        }
    }
}

/// Keeps the strand with the greater score of each pair, or the plus strand if the scores are
/// equal. `results` must be ordered by query, target and strand.
pub(in crate::jobs) fn keep_better_strands<R: Ranked>(results: &mut Vec<R>) {
    results.dedup_by(|minus, plus| {
        let pair = |result: &R| (result.position().0, result.position().1);
        let is_same = pair(&*minus) == pair(&*plus);
        if is_same && minus.score() > plus.score() {
            std::mem::swap(minus, plus);
        }
        is_same
    });
}

/// Keeps the results of each query with its best score or its best identity, without changing their
/// order. `results` must be ordered by query.
fn keep_top<R: Ranked>(results: &mut Vec<R>, by_score: bool) {
    let mut kept = Vec::with_capacity(results.len());
    for hits in results.chunk_by(|a, b| a.position().0 == b.position().0) {
        let best_score = hits.iter().map(R::score).max();
        let best_identity = hits.iter().map(R::identity).max_by(f64::total_cmp);
        let is_top = |hit: &&R| match by_score {
            true => Some(hit.score()) == best_score,
            false => Some(hit.identity()) == best_identity,
        };
        kept.extend(hits.iter().filter(is_top).cloned());
    }
    *results = kept;
}

/// Keeps at most `most` results of each query, without changing their order. Results are ranked by
/// identity and then score, or by score and then identity. (A local alignment of few symbols often
/// has an identity of 1.) `results` must be ordered by query and target.
fn keep_best<R: Ranked>(results: &mut Vec<R>, most: usize, score_first: bool) {
    let mut kept = Vec::with_capacity(results.len());
    for hits in results.chunk_by_mut(|a, b| a.position().0 == b.position().0) {
        // The sort is stable: equal hits keep the order of their targets.
        hits.sort_by(|a, b| {
            let (by_identity, by_score) = (b.identity().total_cmp(&a.identity()), b.score().cmp(&a.score()));
            if score_first { by_score.then(by_identity) } else { by_identity.then(by_score) }
        });
        let most = most.min(hits.len());
        let best = &mut hits[..most];
        best.sort_by_key(|result| result.position().1);
        kept.extend(best.iter().cloned());
    }
    *results = kept;
}
