//! Score thresholds below which results are not reported.

use std::sync::atomic::{AtomicI64, Ordering};

use crate::seq::SequenceId;

/// Threshold of each query, indexed by the query's id in its store. Thresholds only rise during a
/// search, as better hits are found. Engines read them while they compute.
#[derive(Debug)]
pub struct Floors {
    least: Box<[AtomicI64]>,
}

impl FromIterator<i64> for Floors {
    /// Creates one threshold for each query.
    fn from_iter<I: IntoIterator<Item = i64>>(scores: I) -> Self {
        Floors { least: scores.into_iter().map(AtomicI64::new).collect() }
    }
}

impl Floors {
    /// Returns thresholds of `score` for `queries` queries.
    pub fn same(score: i64, queries: usize) -> Self {
        std::iter::repeat_n(score, queries).collect()
    }

    /// Returns the current threshold of a query. A query without a threshold reports all pairs.
    pub fn least(&self, query: SequenceId) -> i64 {
        self.least.get(query as usize).map_or(i64::MIN, |least| least.load(Ordering::Relaxed))
    }

    /// Raises the threshold of a query to `score`. It does not change if it is already higher.
    pub fn raise(&self, query: SequenceId, score: i64) {
        if let Some(least) = self.least.get(query as usize) {
            least.fetch_max(score, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floors_only_rise() {
        let floors: Floors = [3, -5].into_iter().collect();
        for (score, expected) in [(2, 3), (9, 9), (4, 9)] {
            floors.raise(0, score);
            assert_eq!(floors.least(0), expected);
        }
        floors.raise(7, 1);
        assert_eq!((floors.least(1), floors.least(7)), (-5, i64::MIN));
        assert_eq!(Floors::same(4, 2).least(1), 4);
    }
}
