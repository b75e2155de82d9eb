//! Pairs of intervals as pairs of sequences: each interval becomes a sequence of its own.

use std::sync::Arc;

use super::PairSource;
use crate::seq::{IntervalPair, SequenceId, SequenceStore, Strand, reverse_complement};

impl PairSource {
    /// Creates a source that pairs the two intervals of each pair, in the order of the list. Sequence
    /// i of the new sets is a copy of the interval of pair i, under the name of its sequence. On the
    /// minus strand, it is the reverse complement of the query's interval, so the job must align the
    /// plus strand.
    ///
    /// # Panics
    /// Panics if an interval is not in its sequence.
    pub fn from_intervals(queries: &SequenceStore, targets: &SequenceStore, pairs: &[IntervalPair]) -> Self {
        let mut query_parts = SequenceStore::builder(queries.alphabet());
        let mut target_parts = SequenceStore::builder(targets.alphabet());
        for IntervalPair { query, query_part, strand, target, target_part } in pairs {
            let codes = &queries.codes(*query)[query_part.start as usize..query_part.end as usize];
            match strand {
                Strand::Plus => query_parts.push_renamed(queries, *query, codes),
                Strand::Minus => query_parts.push_renamed(queries, *query, &reverse_complement(codes)),
            }
            let codes = &targets.codes(*target)[target_part.start as usize..target_part.end as usize];
            target_parts.push_renamed(targets, *target, codes);
        }
        let pairs = (0..pairs.len() as SequenceId).map(|id| (id, id)).collect();
        PairSource::Listed { queries: Arc::new(query_parts.build()), targets: Arc::new(target_parts.build()), pairs }
    }
}
