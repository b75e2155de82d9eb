//! Blocks of a search. A block has several queries, or a single query and a range of the subjects.
//! Subjects are ordered by falling length. E-values do not depend on blocks, because they use the
//! size of the whole database.

use std::ops::Range;

use super::hsps::{SubjectHits, hits_of_best};
use super::row;
use super::{Search, SearchHit};
use crate::error::{Error, Result};
use crate::jobs::Job;
use crate::jobs::blocks::cut::{cut, saturating_u64};
use crate::jobs::blocks::{Block, Divisible};

impl Search {
    /// Returns the numbers of pairs and cells of a query with `sequences` subjects of `symbols`
    /// symbols in total, counting all strands.
    fn size_of(&self, query: u64, sequences: u64, symbols: u64) -> (u64, u128) {
        let copies = self.strands().copies();
        let length = self.queries.length(query as u32);
        (sequences * u64::from(copies), u128::from(length) * u128::from(symbols) * u128::from(copies))
    }

    pub(super) fn size_of_subjects(&self) -> (u64, u64) {
        let size = self.subjects.size();
        (size.sequences, size.symbols)
    }
}

/// Returns the number of symbols before each subject, followed by the total.
fn symbols_before(lengths: &[u32]) -> Vec<u64> {
    let sums = lengths.iter().scan(0, |sum, &length| {
        *sum += u64::from(length);
        Some(*sum)
    });
    std::iter::once(0).chain(sums).collect()
}

/// Cuts subjects into at most `pieces` ranges with about equal numbers of symbols. `before` is the
/// result of [`symbols_before`].
fn ranges(before: &[u64], pieces: u64) -> Vec<Range<u32>> {
    let (subjects, all) = (before.len() - 1, before[before.len() - 1]);
    let mut ranges = Vec::new();
    let mut start = 0;
    for piece in 1..=pieces.min(subjects as u64) {
        let goal = (u128::from(all) * u128::from(piece) / u128::from(pieces.min(subjects as u64))) as u64;
        // Selects the border that is nearest to the goal.
        let next = before.partition_point(|&sum| sum < goal).min(subjects);
        let is_nearer = next > 0 && goal - before[next - 1] < before[next].saturating_sub(goal);
        let end = if piece == pieces.min(subjects as u64) { subjects } else { next - usize::from(is_nearer) };
        if end > start {
            ranges.push(start as u32..end as u32);
            start = end;
        }
    }
    ranges
}

impl Divisible for Search {
    fn cut(&self, cells: u64) -> Result<Vec<Block>> {
        self.validate()?;
        let all = self.size_of_subjects();
        if all.0 > u64::from(u32::MAX) {
            let message = format!("{} sequences are too many for a search in blocks: split the database", all.0);
            return Err(Error::usage_of("subjects", message));
        }
        let before = symbols_before(self.subjects.each_length());
        let split = |query: u64, pieces: u64| {
            let parts = ranges(&before, pieces);
            let is_whole = parts.len() < 2;
            let block = |part: Range<u32>| {
                let symbols = before[part.end as usize] - before[part.start as usize];
                let (pairs, cells) = self.size_of(query, part.len() as u64, symbols);
                let targets = (!is_whole).then_some(part);
                Block { units: query..query + 1, targets, pairs, cells: saturating_u64(cells) }
            };
            parts.into_iter().map(block).collect()
        };
        Ok(cut(self.queries.len() as u64, cells, |query| self.size_of(query, all.0, all.1), split))
    }

    fn targets(&self) -> u32 {
        u32::try_from(self.size_of_subjects().0).unwrap_or(u32::MAX)
    }

    fn part_bytes(&self, block: &Block) -> u64 {
        let copies = u64::from(self.strands().copies());
        let most = (block.units.end - block.units.start).saturating_mul(self.max_hits as u64);
        // The numbers of a hit take about 35 bytes. Alignments of related sequences have a run of
        // two bytes for about every ten symbols.
        let columns = if self.score_only { 0 } else { 20 + block.mean_length() / 5 };
        let most = (block.pairs / copies).min(most).saturating_mul(self.max_hsps as u64);
        most.saturating_mul(35 + columns)
    }

    fn encode(row: &SearchHit, bytes: &mut Vec<u8>) {
        row::encode(row, bytes);
    }

    fn decode(bytes: &mut &[u8]) -> Option<SearchHit> {
        row::decode(bytes)
    }

    fn resolve(&self, rows: &mut [SearchHit]) -> Result<()> {
        row::resolve(self, rows)
    }

    /// Selects the best hits. All hits of a subject are in one block, so the best hits are among the
    /// best of each block. This also holds for the hits with the best score. The hits of a subject
    /// stay together, in order of its best score.
    fn join(&self, rows: &mut Vec<SearchHit>) {
        let mut subjects: Vec<SubjectHits> = Vec::new();
        for hit in rows.drain(..) {
            match subjects.last_mut() {
                Some(subject) if subject[0].record == hit.record => subject.push(hit),
                _ => subjects.push(vec![hit]),
            }
        }
        *rows = hits_of_best(subjects, self.max_hits, self.top_hits_only);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn subjects_are_cut_at_the_nearest_border() {
        let before = symbols_before(&[50, 30, 10, 10, 0]);
        assert_eq!(before, [0, 50, 80, 90, 100, 100]);
        assert_eq!(ranges(&before, 1), vec![0..before.len() as u32 - 1]);
        assert_eq!(ranges(&before, 2), [0..1, 1..5]);
        assert_eq!(ranges(&before, 3), [0..1, 1..2, 2..5]);
        assert_eq!(ranges(&symbols_before(&[]), 3), []);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn every_subject_is_in_one_range(lengths in prop::collection::vec(0..90u32, 0..40), pieces in 1..60u64) {
            let before = symbols_before(&lengths);
            let ranges = ranges(&before, pieces);
            prop_assert!(ranges.len() as u64 <= pieces);
            let all: Vec<u32> = ranges.iter().flat_map(Clone::clone).collect();
            prop_assert_eq!(all, (0..lengths.len() as u32).collect::<Vec<_>>());
            prop_assert!(ranges.iter().all(|range| !range.is_empty()));
            let longest = u64::from(lengths.iter().copied().max().unwrap_or(0));
            let most = before[lengths.len()] / pieces.min(lengths.len().max(1) as u64) + longest + 1;
            let symbols = |range: &Range<u32>| before[range.end as usize] - before[range.start as usize];
            prop_assert!(ranges.iter().all(|range| symbols(range) <= most), "{ranges:?} of {before:?}");
        }
    }
}
