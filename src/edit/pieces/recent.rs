//! Filters that the threads of a chunk share.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock};

use super::PieceFilter;
use crate::seq::SequenceId;

/// Maximum number of filters in memory. The blocks of a pattern are computed one after another, so
/// threads need few filters at the same time.
const MAX_FILTERS: usize = 32;

/// A filter, once it is created, or `None` if the pattern has no useful filter.
type SharedFilter = Arc<OnceLock<Option<PieceFilter>>>;

/// The filters of the patterns that were searched last.
#[derive(Debug, Default)]
pub struct RecentFilters {
    filters: Mutex<VecDeque<(SequenceId, SharedFilter)>>,
}

impl RecentFilters {
    /// Returns the filter of a pattern. If several threads need it at the same time, one of them
    /// creates it.
    pub fn get(&self, pattern: SequenceId, create: impl FnOnce() -> Option<PieceFilter>) -> SharedFilter {
        let filter = {
            let mut filters = self.filters.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            match filters.iter().find(|(other, _)| *other == pattern) {
                Some((_, filter)) => Arc::clone(filter),
                None => {
                    filters.truncate(MAX_FILTERS - 1);
                    filters.push_front((pattern, SharedFilter::default()));
                    Arc::clone(&filters[0].1)
                }
            }
        };
        filter.get_or_init(create);
        filter
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_created_once_while_it_is_recent() {
        let filters = RecentFilters::default();
        let mut created = Vec::new();
        let mut get = |pattern| {
            assert!(
                filters
                    .get(pattern, || {
                        created.push(pattern);
                        PieceFilter::new(&[1, 2, 4, 8, 1, 1, 2, 2, 4, 4, 8, 8, 1, 4, 2, 8, 1, 2, 4, 8], 1, 1 << 20)
                    })
                    .get()
                    .unwrap()
                    .is_some()
            );
        };
        (0..MAX_FILTERS as u32).chain(0..MAX_FILTERS as u32).for_each(&mut get);
        [MAX_FILTERS as u32, MAX_FILTERS as u32 - 1, 0].into_iter().for_each(&mut get);
        let expected: Vec<u32> = (0..=MAX_FILTERS as u32).chain([0]).collect();
        assert_eq!(created, expected);
    }
}
