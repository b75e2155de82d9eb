//! Parts of an all-against-all: some of its queries, or some targets of one, and how much they cost.

use std::collections::VecDeque;
use std::ops::Range;

use super::store::{SequenceId, SequenceStore};
use super::strand::QueryStrands;

/// Some of the queries, all strands of each. Where pairs are given one by one, some of those.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The queries by their numbers, strands counted; or the pairs.
    pub queries: Range<SequenceId>,
    /// Which targets they meet, of those that they would meet else; `None` for all. Not where pairs are given.
    pub targets: Option<Range<SequenceId>>,
}

impl Part {
    /// Everything, where there are so many queries.
    pub fn all(queries: usize) -> Self {
        Part { queries: 0..queries as SequenceId, targets: None }
    }

    /// The targets that a sequence's queries meet, of so many; `later`: only those after it.
    pub fn met(&self, sequence: SequenceId, targets: usize, later: bool) -> Range<SequenceId> {
        let (start, end) = self.targets.as_ref().map_or((0, targets as SequenceId), |some| (some.start, some.end));
        let start = if later { start.max(sequence + 1) } else { start };
        start..end.max(start)
    }
}

/// Parts one after the other, each from its front.
#[derive(Debug)]
pub struct PartsLeft {
    front: Part,
    rest: VecDeque<Part>,
}

impl PartsLeft {
    /// All of these parts are left.
    pub fn new(parts: Vec<Part>) -> Self {
        PartsLeft { front: Part::all(0), rest: parts.into() }
    }

    /// One more behind all others.
    pub fn add(&mut self, part: Part) {
        self.rest.push_back(part);
    }

    /// What is left of the part that is next; `None` at the end.
    pub fn front(&mut self) -> Option<Part> {
        while self.front.queries.is_empty() {
            self.front = self.rest.pop_front()?;
        }
        Some(self.front.clone())
    }

    /// Its queries before this one are done.
    pub fn advance(&mut self, end: SequenceId) {
        self.front.queries.start = end;
    }
}

/// Counts pairs and cells of parts.
#[derive(Debug)]
pub struct Extents<'a> {
    queries: &'a SequenceStore,
    /// Symbols of the targets before each.
    symbols: Vec<u64>,
    strands: QueryStrands,
    later: bool,
}

impl<'a> Extents<'a> {
    /// Of queries that meet all targets; `later`: only those after their own sequence.
    pub fn new(queries: &'a SequenceStore, targets: &SequenceStore, strands: QueryStrands, later: bool) -> Self {
        let mut symbols = Vec::with_capacity(targets.len() + 1);
        let mut sum = 0;
        symbols.push(sum);
        symbols.extend(targets.lengths().iter().map(|&length| {
            sum += u64::from(length);
            sum
        }));
        Extents { queries, symbols, strands, later }
    }

    /// Pairs of a part, and their cells.
    pub fn of(&self, part: &Part) -> (u64, u128) {
        let (mut pairs, mut cells) = (0, 0);
        for query in part.queries.clone() {
            let met = part.met(self.strands.of(query).0, self.symbols.len() - 1, self.later);
            pairs += met.len() as u64;
            let symbols = self.symbols[met.end as usize] - self.symbols[met.start as usize];
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
    fn parts_are_done_from_the_front() {
        let part = |queries, targets| Part { queries, targets };
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
        let part = |queries, targets| Part { queries, targets };
        let all = Extents::new(&store, &store, QueryStrands::default(), false);
        assert_eq!(all.of(&part(0..4, None)), (16, 225));
        assert_eq!(all.of(&part(2..4, Some(1..3))), (4, 60));
        let later = Extents::new(&store, &store, QueryStrands::default(), true);
        assert_eq!(later.of(&part(0..4, None)), (6, 36 + 35));
        assert_eq!(later.of(&part(2..3, Some(0..4))), (1, 35));
        assert_eq!(later.of(&part(3..4, None)), (0, 0));
        assert_eq!(later.of(&part(2..3, Some(0..2))), (0, 0));
        let strands = QueryStrands { strand: Strands::Both, later: true };
        let both = strands.store(&store);
        assert_eq!(Extents::new(&both, &store, strands, true).of(&part(0..2, Some(2..4))), (4, 72));
    }
}
