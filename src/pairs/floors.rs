//! Least scores that are worth reporting.

use std::sync::atomic::{AtomicI64, Ordering};

use crate::seq::SequenceId;

/// The least score of each query that is worth reporting, by the query's number in its store. It only rises while a search goes on,
/// as better hits are found; engines read it while they compute.
#[derive(Debug)]
pub struct Floors {
    least: Box<[AtomicI64]>,
}

impl FromIterator<i64> for Floors {
    /// One for each query.
    fn from_iter<I: IntoIterator<Item = i64>>(scores: I) -> Self {
        Floors { least: scores.into_iter().map(AtomicI64::new).collect() }
    }
}

impl Floors {
    /// The same for so many queries.
    pub fn same(score: i64, queries: usize) -> Self {
        std::iter::repeat_n(score, queries).collect()
    }

    /// The least score of a query that is worth reporting now. A query that it does not know reports everything.
    pub fn least(&self, query: SequenceId) -> i64 {
        self.least.get(query as usize).map_or(i64::MIN, |least| least.load(Ordering::Relaxed))
    }

    /// Nothing of the query below `score` is worth reporting any more. It does not fall if it was higher.
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
