//! Score thresholds below which results are not reported.

use std::sync::atomic::{AtomicI64, Ordering};

use crate::seq::SequenceId;

/// Threshold of each query, indexed by the query's id in its store. Thresholds only rise during a
/// search, as better hits are found. Engines read them while they compute.
#[derive(Debug)]
pub struct ScoreThresholds {
    scores: Box<[AtomicI64]>,
}

impl FromIterator<i64> for ScoreThresholds {
    /// Creates one threshold for each query.
    fn from_iter<I: IntoIterator<Item = i64>>(scores: I) -> Self {
        ScoreThresholds { scores: scores.into_iter().map(AtomicI64::new).collect() }
    }
}

impl ScoreThresholds {
    /// Returns thresholds of `score` for `queries` queries.
    pub fn uniform(score: i64, queries: usize) -> Self {
        std::iter::repeat_n(score, queries).collect()
    }

    /// Returns the current threshold of a query. A query without a threshold reports all pairs.
    pub fn threshold(&self, query: SequenceId) -> i64 {
        self.scores.get(query as usize).map_or(i64::MIN, |score| score.load(Ordering::Relaxed))
    }

    /// Raises the threshold of a query to `score`. It does not change if it is already higher.
    pub fn raise(&self, query: SequenceId, score: i64) {
        if let Some(threshold) = self.scores.get(query as usize) {
            threshold.fetch_max(score, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_only_rise() {
        let thresholds: ScoreThresholds = [3, -5].into_iter().collect();
        for (score, expected) in [(2, 3), (9, 9), (4, 9)] {
            thresholds.raise(0, score);
            assert_eq!(thresholds.threshold(0), expected);
        }
        thresholds.raise(7, 1);
        assert_eq!((thresholds.threshold(1), thresholds.threshold(7)), (-5, i64::MIN));
        assert_eq!(ScoreThresholds::uniform(4, 2).threshold(1), 4);
    }
}
