//! Parts of an all-against-all comparison, and their cost. A part is a range of queries, or a range
//! of the targets of one query.

use std::collections::VecDeque;
use std::ops::Range;

use super::store::{SequenceId, SequenceStore};
use super::strand::QueryStrands;

/// A range of the queries, with all strands of each sequence. If the user lists pairs, it is a
/// range of these pairs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryPart {
    /// Numbers of the queries, where each strand of a sequence is a query; or numbers of the listed
    /// pairs.
    pub queries: Range<SequenceId>,
    /// Range that the targets of the queries are restricted to; `None` for no restriction. It is
    /// `None` for listed pairs.
    pub targets: Option<Range<SequenceId>>,
}

impl QueryPart {
    /// Returns the part with all queries.
    pub fn all(queries: usize) -> Self {
        QueryPart { queries: 0..queries as SequenceId, targets: None }
    }

    /// Returns the targets that a sequence's queries are compared with. `targets` is the number of
    /// all targets. If `later_only`, only targets after the sequence are compared.
    pub fn compared_targets(&self, sequence: SequenceId, targets: usize, later_only: bool) -> Range<SequenceId> {
        let (start, end) = self.targets.as_ref().map_or((0, targets as SequenceId), |some| (some.start, some.end));
        let start = if later_only { start.max(sequence + 1) } else { start };
        start..end.max(start)
    }
}

/// Parts that remain to be done, in order.
#[derive(Debug)]
pub struct PartsLeft {
    front: QueryPart,
    rest: VecDeque<QueryPart>,
}

impl PartsLeft {
    /// Creates the list of these parts.
    pub fn new(parts: Vec<QueryPart>) -> Self {
        PartsLeft { front: QueryPart::all(0), rest: parts.into() }
    }

    /// Adds a part after all others.
    pub fn add(&mut self, part: QueryPart) {
        self.rest.push_back(part);
    }

    /// Returns the rest of the next part, or `None` at the end.
    pub fn front(&mut self) -> Option<QueryPart> {
        while self.front.queries.is_empty() {
            self.front = self.rest.pop_front()?;
        }
        Some(self.front.clone())
    }

    /// Marks the queries of the front part before `end` as done.
    pub fn advance(&mut self, end: SequenceId) {
        self.front.queries.start = end;
    }
}

/// Counter of the pairs and cells in parts.
#[derive(Debug)]
pub struct Extents<'a> {
    queries: &'a SequenceStore,
    /// Total number of symbols in the targets before each target.
    symbols: Vec<u64>,
    strands: QueryStrands,
    later_only: bool,
}

impl<'a> Extents<'a> {
    /// Creates a counter for queries that are compared with all targets, or only with those after
    /// their own sequence if `later_only`.
    pub fn new(queries: &'a SequenceStore, targets: &SequenceStore, strands: QueryStrands, later_only: bool) -> Self {
        let mut symbols = Vec::with_capacity(targets.len() + 1);
        let mut sum = 0;
        symbols.push(sum);
        symbols.extend(targets.lengths().iter().map(|&length| {
            sum += u64::from(length);
            sum
        }));
        Extents { queries, symbols, strands, later_only }
    }

    /// Returns the numbers of pairs and cells in a part.
    pub fn count(&self, part: &QueryPart) -> (u64, u128) {
        let (mut pairs, mut cells) = (0, 0);
        for query in part.queries.clone() {
            let compared_targets =
                part.compared_targets(self.strands.sequence_of(query).0, self.symbols.len() - 1, self.later_only);
            pairs += compared_targets.len() as u64;
            let symbols = self.symbols[compared_targets.end as usize] - self.symbols[compared_targets.start as usize];
            cells += u128::from(self.queries.length(query)) * u128::from(symbols);
        }
        (pairs, cells)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::{Alphabet, Strands};
    use std::sync::Arc;

    #[test]
    fn parts_are_consumed_from_the_front() {
        let part = |queries, targets| QueryPart { queries, targets };
        let mut left =
            PartsLeft::new(vec![part(2..2, None), part(3..6, None), part(0..0, None), part(1..2, Some(0..4))]);
        assert_eq!(left.front(), Some(part(3..6, None)));
        left.advance(5);
        assert_eq!(left.front(), Some(part(5..6, None)));
        left.advance(6);
        assert_eq!(left.front(), Some(part(1..2, Some(0..4))));
        left.advance(2);
        assert_eq!((left.front(), left.front()), (None, None));
        left.add(part(7..9, None));
        assert_eq!(left.front(), Some(part(7..9, None)));
    }

    #[test]
    fn pairs_and_cells_are_counted() {
        let mut store = SequenceStore::builder(Alphabet::Dna);
        [3, 0, 5, 7].into_iter().for_each(|length| store.push("s", &vec![1; length]).unwrap());
        let store = Arc::new(store.build());
        let part = |queries, targets| QueryPart { queries, targets };
        let all = Extents::new(&store, &store, QueryStrands::default(), false);
        assert_eq!(all.count(&part(0..4, None)), (16, 225));
        assert_eq!(all.count(&part(2..4, Some(1..3))), (4, 60));
        let later_only = Extents::new(&store, &store, QueryStrands::default(), true);
        assert_eq!(later_only.count(&part(0..4, None)), (6, 36 + 35));
        assert_eq!(later_only.count(&part(2..3, Some(0..4))), (1, 35));
        assert_eq!(later_only.count(&part(3..4, None)), (0, 0));
        assert_eq!(later_only.count(&part(2..3, Some(0..2))), (0, 0));
        let strands = QueryStrands { strand: Strands::Both, later_only: true };
        let both = strands.store(&store);
        assert_eq!(Extents::new(&both, &store, strands, true).count(&part(0..2, Some(2..4))), (4, 72));
    }
}
