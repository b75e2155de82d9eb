//! Planning of pairs that were selected one by one.

use std::ops::Range;
use std::sync::Arc;

use super::{PairsSpec, PlannedChunk, cut_by_class};
use crate::pairs::PairsChunk;
use crate::seq::SequenceId;

/// Selected pairs of a job: query and target, sorted.
pub type SelectedPairs = Arc<Vec<(SequenceId, SequenceId)>>;

/// Returns the number of cells of the selected pairs.
pub fn selected_cells(job: &PairsSpec, selection: &[(SequenceId, SequenceId)]) -> u64 {
    let targets = job.targets();
    selection
        .iter()
        .map(|&(query, target)| u64::from(job.queries.length(query)) * u64::from(targets.length(target)))
        .fold(0, u64::saturating_add)
}

/// Selected pairs in the order of a job's parts, sorted within each part.
#[derive(Debug, Clone)]
pub struct SelectedParts {
    /// Pairs of all parts.
    pub pairs: SelectedPairs,
    /// Index in `pairs` after the last pair of each part.
    pub ends: Vec<usize>,
}

/// Sorts selected pairs by the job's parts.
pub fn by_parts(job: &PairsSpec, selection: SelectedPairs) -> SelectedParts {
    let Some(parts) = &job.parts else {
        return SelectedParts { ends: vec![selection.len()], pairs: selection };
    };
    let (mut pairs, mut ends) = (Vec::with_capacity(selection.len()), Vec::with_capacity(parts.len()));
    let between = |from: (SequenceId, SequenceId), to: (SequenceId, SequenceId)| {
        let index = |bound| selection.partition_point(|&pair| pair < bound);
        &selection[index(from)..index(to)]
    };
    for part in parts.iter() {
        match &part.targets {
            None => pairs.extend_from_slice(between((part.queries.start, 0), (part.queries.end, 0))),
            Some(some) => part.queries.clone().for_each(|query| {
                pairs.extend_from_slice(between((query, some.start), (query, some.end)));
            }),
        }
        ends.push(pairs.len());
    }
    SelectedParts { pairs: Arc::new(pairs), ends }
}

/// Plans chunks of selected pairs. Each chunk has all strands of consecutive queries of a part,
/// with `pairs` pairs together or a few more. Every query's targets form a range in
/// [`PairsChunk::order`], by decreasing length.
pub fn selected_chunks(
    job: PairsSpec,
    selected: SelectedParts,
    pairs: usize,
) -> impl Iterator<Item = PlannedChunk> + Send {
    let SelectedParts { pairs: selection, ends } = selected;
    let (mut next, mut ends) = (0, ends.into_iter().peekable());
    std::iter::from_fn(move || {
        while ends.next_if(|&end| end <= next).is_some() {}
        let rest = &selection[next..*ends.peek()?];
        let first = rest.first()?.0;
        // The chunk ends after the query of the last pair.
        let last = rest[(pairs.max(1) - 1).min(rest.len() - 1)].0;
        // All strands of a sequence are in one chunk.
        let copies = job.strands.copies();
        let (first, last) = (first / copies * copies, last / copies * copies + copies - 1);
        let chunk_pairs = &rest[..rest.partition_point(|&(query, _)| query <= last)];
        next += chunk_pairs.len();
        Some(chunk(&job, first..last + 1, chunk_pairs))
    })
}

/// Returns the chunk of these pairs, which must be sorted and distinct.
pub(crate) fn chunk(job: &PairsSpec, queries: Range<SequenceId>, pairs: &[(SequenceId, SequenceId)]) -> PlannedChunk {
    let targets = job.targets();
    let (mut order, mut blocks) = (Vec::with_capacity(pairs.len()), Vec::new());
    for chunk_pairs in pairs.chunk_by(|one, other| one.0 == other.0) {
        let (query, begin) = (chunk_pairs[0].0, order.len());
        order.extend(chunk_pairs.iter().map(|&(_, target)| target));
        order[begin..].sort_by_key(|&target| std::cmp::Reverse(targets.length(target)));
        let symbols = job.queries.length(query);
        cut_by_class(&job.scoring, symbols, targets, &order, begin..order.len(), query, &mut blocks);
    }
    blocks.sort_by_key(|(class, _)| (std::cmp::Reverse(class.long), class.format));
    let chunk = PairsChunk {
        queries: Arc::clone(&job.queries),
        targets: Arc::clone(targets),
        order: order.into(),
        scoring: Arc::clone(&job.scoring),
        filter: job.filter.clone(),
        earlier_is_query: job.against.is_none(),
    };
    (queries, Arc::new(chunk), blocks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairs::ResultFilter;
    use crate::score::Scoring;
    use crate::seq::{Alphabet, QueryPart, QueryStrands, SequenceStore, Strands};

    #[test]
    fn every_selected_pair_occurs_once() {
        let mut store = SequenceStore::builder(Alphabet::Dna);
        for length in [5, 3_000, 70_000, 1, 40] {
            store.push("s", &vec![1; length]).unwrap();
        }
        let scoring = Arc::new(Scoring::truong());
        let strands = QueryStrands::default();
        let (queries, filter) = (Arc::new(store.build()), ResultFilter::Scores);
        let job = PairsSpec { queries, against: None, scoring, filter, strands, parts: None };
        let pairs = vec![(0, 2), (0, 3), (1, 2), (1, 3), (1, 4), (3, 4)];
        for least in [1, 2, 4, 100] {
            let mut seen = Vec::new();
            let mut cells = 0;
            for (queries, chunk, blocks) in selected_chunks(job.clone(), by_parts(&job, Arc::new(pairs.clone())), least)
            {
                for (_, block) in &blocks {
                    assert!(queries.contains(&block.query));
                    let chunk_pairs = &chunk.order[block.targets.start as usize..block.targets.end as usize];
                    assert!(chunk_pairs.is_sorted_by_key(|&target| std::cmp::Reverse(chunk.targets.length(target))));
                    seen.extend(chunk_pairs.iter().map(|&target| (block.query, target)));
                    cells += block.cells;
                }
            }
            seen.sort_unstable();
            assert_eq!((seen, cells), (pairs.clone(), selected_cells(&job, &pairs)));
        }
        assert_eq!(selected_chunks(job.clone(), by_parts(&job, Arc::default()), 1).count(), 0);
        let strands = QueryStrands { strand: Strands::Both, later_only: false };
        let both =
            PairsSpec { queries: strands.store(&job.queries), against: Some(Arc::clone(&job.queries)), strands, ..job };
        let pairs = Arc::new(vec![(0, 1), (1, 4), (5, 0), (6, 0), (6, 2)]);
        let queries = |job: &PairsSpec, pairs| {
            let chunks = selected_chunks(job.clone(), by_parts(job, Arc::clone(&pairs)), 2);
            chunks.map(|(queries, chunk, _)| (queries, chunk.order.to_vec())).collect::<Vec<_>>()
        };
        let first = (0..2, vec![1, 4]);
        assert_eq!(queries(&both, Arc::clone(&pairs)), [first.clone(), (4..8, vec![0, 2, 0])]);
        let part = |queries, targets| QueryPart { queries, targets };
        let parts = vec![part(6..10, None), part(4..6, Some(2..5)), part(4..6, Some(0..1)), part(0..2, None)];
        let some = PairsSpec { parts: Some(parts.into()), ..both };
        assert_eq!(by_parts(&some, Arc::clone(&pairs)).ends, [2, 2, 3, 5]);
        assert_eq!(queries(&some, pairs), [(6..8, vec![2, 0]), (4..6, vec![0]), first]);
    }
}
