//! Plausibility check of reports. Each report is checked once, before its results enter the queue.
//! An engine whose report fails the check is treated like an engine that returned an error. The
//! check does not verify scores.

use std::collections::HashMap;

use rayon::prelude::*;

use super::{PairHit, PairsBatch, PairsReport};
use crate::alignment::packed;
use crate::engine::check::finished;
use crate::score::Mode;
use crate::seq::SequenceId;

/// Number of alignments above which several threads share the check.
const MANY_ALIGNMENTS: usize = 1 << 13;
const ALIGNMENTS_A_PIECE: usize = 1 << 9;

/// Checks that a report is plausible for its batch:
///
/// - Every hit is a pair of a finished block, and no pair has two hits.
/// - Every pair of a finished block has a hit, unless the filter may drop pairs.
/// - Traced global alignments cover both of their sequences completely.
///
/// The check takes about a nanosecond per pair if hits are in the order of the blocks, and about
/// another nanosecond per run of an alignment. The threads of `pool` share the alignments.
///
/// # Errors
/// A description of the first fault.
pub fn report(batch: &PairsBatch, report: &PairsReport, pool: Option<&rayon::ThreadPool>) -> Result<(), String> {
    let finished = finished(batch.blocks.len(), &report.unfinished)?;
    let blocks = || batch.blocks.iter().zip(&finished).filter(|(_, finished)| **finished).map(|(block, _)| block);
    let hits = &report.hits;
    if !batch.chunk.filter.can_omit_pairs() {
        let pairs: u64 = blocks().map(|block| block.pairs()).sum();
        if hits.len() as u64 != pairs {
            return Err(format!("{} results for {pairs} pairs", hits.len()));
        }
    }
    // If hits are in the order of the blocks, one pass checks all of them. Otherwise each hit is
    // looked up by its query and target.
    let mut next = hits.iter().peekable();
    for block in blocks() {
        for &target in &batch.chunk.order[block.targets.start as usize..block.targets.end as usize] {
            next.next_if(|hit| (hit.query, hit.target) == (block.query, target));
        }
    }
    if next.peek().is_some() {
        check_each_once(batch, &finished, hits)?;
    }
    check_alignments(batch, report, pool)
}

/// Checks that each hit is a pair of a finished block, and that no pair has two hits.
fn check_each_once(batch: &PairsBatch, finished: &[bool], hits: &[PairHit]) -> Result<(), String> {
    let order = &batch.chunk.order;
    // Index of each target in the order. If pairs were selected one by one, the order may contain a
    // target several times. In that case the index is looked up by query and target.
    let mut indices: HashMap<SequenceId, u32> = HashMap::new();
    let mut query_ranges: HashMap<SequenceId, Vec<(u32, u32, u64)>> = HashMap::new();
    let mut pairs = 0u64;
    for (block, _) in batch.blocks.iter().zip(finished).filter(|(_, finished)| **finished) {
        query_ranges.entry(block.query).or_default().push((block.targets.start, block.targets.end, pairs));
        pairs += block.pairs();
    }
    let begin = batch.blocks.iter().map(|block| block.targets.start).min().unwrap_or(0);
    let end = batch.blocks.iter().map(|block| block.targets.end).max().unwrap_or(0);
    indices.extend((begin..end).map(|index| (order[index as usize], index)));
    let are_repeated = indices.len() < (end - begin) as usize;
    let mut pair_indices: HashMap<(SequenceId, SequenceId), u64> = HashMap::new();
    if are_repeated {
        for (&query, ranges) in &query_ranges {
            for &(start, end, first) in ranges {
                pair_indices.extend((first..).zip(start..end).map(|(at, index)| ((query, order[index as usize]), at)));
            }
        }
    }
    let pair_index = |hit: &PairHit| {
        if are_repeated {
            return pair_indices.get(&(hit.query, hit.target)).copied();
        }
        let (&index, ranges) = indices.get(&hit.target).zip(query_ranges.get(&hit.query))?;
        let range = ranges.iter().find(|(start, end, _)| (*start..*end).contains(&index))?;
        Some(range.2 + u64::from(index - range.0))
    };
    let mut seen = vec![0u64; pairs.div_ceil(64) as usize];
    for hit in hits {
        let Some(index) = pair_index(hit) else {
            return Err(format!("a result for the pair {}-{}, which is not in the batch", hit.query, hit.target));
        };
        let (word, bit) = ((index / 64) as usize, 1 << (index % 64));
        if seen[word] & bit != 0 {
            return Err(format!("two results for the pair {}-{}", hit.query, hit.target));
        }
        seen[word] |= bit;
    }
    Ok(())
}

/// Checks that traced alignments lie within the reported runs, cover both sequences, and have the
/// reported numbers of matches.
fn check_alignments(batch: &PairsBatch, report: &PairsReport, pool: Option<&rayon::ThreadPool>) -> Result<(), String> {
    let (words, spans) = (&report.traced.words, &report.traced.spans);
    if !spans.is_empty() && spans.len() != report.hits.len() {
        return Err(format!("{} alignments for {} results", spans.len(), report.hits.len()));
    }
    if !report.ends.is_empty() && report.ends.len() != report.hits.len() {
        return Err(format!("{} ends of alignments for {} results", report.ends.len(), report.hits.len()));
    }
    let chunk = &batch.chunk;
    let is_right = |(hit, span): (&PairHit, &Option<(usize, u32)>)| {
        let Some((first, runs)) = *span else { return Ok(()) };
        let wrong =
            || Err(format!("the alignment of the pair {}-{} does not match its sequences", hit.query, hit.target));
        let held = words.get(first..).filter(|held| held.len() >= runs.div_ceil(2) as usize);
        let Some(held) = held else { return wrong() };
        if chunk.scoring.mode == Mode::Local {
            // A local alignment covers only parts of both sequences.
            return Ok(());
        }
        let (m, n) = (chunk.queries.length(hit.query), chunk.targets.length(hit.target));
        let is_turned = chunk.earlier_is_query && hit.target < hit.query;
        let lengths = if is_turned { (n, m) } else { (m, n) };
        let (query, target, matches) = packed::spans(held, runs);
        let lengths_differ = (query, target) != (u64::from(lengths.0), u64::from(lengths.1));
        if lengths_differ || hit.matches.is_some_and(|expected| expected != matches) {
            return wrong();
        }
        Ok(())
    };
    match pool.filter(|_| spans.len() > MANY_ALIGNMENTS) {
        Some(pool) => pool.install(|| {
            let hits = report.hits.par_iter().with_min_len(ALIGNMENTS_A_PIECE);
            hits.zip(spans.par_iter()).try_for_each(is_right)
        }),
        None => report.hits.iter().zip(spans).try_for_each(is_right),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairs::plan::PairsSpec;
    use crate::pairs::plan::selected::{by_parts, selected_chunks};
    use crate::pairs::{PackedAlignments, ResultFilter, ScoreThresholds, mock};
    use crate::score::{IdentityDefinition, IdentityFilter, Scoring};
    use crate::seq::{Alphabet, QueryStrands, SequenceStore};
    use std::sync::Arc;

    /// Returns a batch with all pairs of six sequences, and a correct report of this batch.
    fn correct_report(filter: ResultFilter) -> (PairsBatch, PairsReport) {
        let mut store = SequenceStore::builder(Alphabet::Dna);
        for (index, letters) in ["ACGTACGT", "ACGTTT", "GGGTAC", "AC", "TTACGTA", "ACG"].iter().enumerate() {
            store.push_letters(format!("s{index}"), letters.as_bytes()).unwrap();
        }
        let (queries, scoring) = (Arc::new(store.build()), Arc::new(Scoring::truong()));
        let job = PairsSpec { queries, against: None, scoring, filter, strands: QueryStrands::default(), parts: None };
        let (_, chunk, blocks) = job.chunks(u64::MAX, u64::MAX).next().unwrap();
        let batch = PairsBatch { chunk, blocks: blocks.into_iter().map(|(_, block)| block).collect() };
        let report = mock::compute_batch(&batch);
        (batch, report)
    }

    fn filter() -> ResultFilter {
        ResultFilter::Reaching(Arc::new(IdentityFilter::new(IdentityDefinition::default(), 0.3, &Scoring::truong())))
    }

    /// Returns thresholds that about half of the pairs reach.
    fn floor() -> ResultFilter {
        ResultFilter::AtLeast(Arc::new(ScoreThresholds::uniform(-4, 6)))
    }

    #[test]
    fn correct_reports_pass_in_any_order() {
        for filter in [ResultFilter::Scores, ResultFilter::Alignments, filter(), floor()] {
            let (batch, mut report) = correct_report(filter);
            super::report(&batch, &report, None).unwrap();
            report.hits.reverse();
            super::report(&batch, &report, None).unwrap();
        }
        let (batch, mut report) = correct_report(ResultFilter::Scores);
        let blocks = batch.blocks.clone();
        let lost = |hit: &PairHit| {
            hit.query == blocks[1].query
                && blocks[1].targets.clone().any(|index| batch.chunk.order[index as usize] == hit.target)
        };
        report.hits.retain(|hit| !lost(hit));
        report.unfinished = vec![1];
        super::report(&batch, &report, None).unwrap();
        report.unfinished = vec![1, 1];
        super::report(&batch, &report, None).unwrap_err();
        report.unfinished = vec![blocks.len()];
        super::report(&batch, &report, None).unwrap_err();
    }

    #[test]
    fn missing_repeated_and_foreign_pairs_are_detected() {
        for filter in [ResultFilter::Scores, ResultFilter::Alignments, filter(), floor()] {
            let (batch, good) = correct_report(filter);
            let wrong = |change: &dyn Fn(&mut Vec<PairHit>)| {
                let mut report = good.clone();
                change(&mut report.hits);
                super::report(&batch, &report, None)
            };
            wrong(&|hits| hits[1] = hits[0]).unwrap_err();
            wrong(&|hits| hits.push(hits[0])).unwrap_err();
            wrong(&|hits| hits[1].target = 77).unwrap_err();
            wrong(&|hits| hits[1].query = hits[1].target).unwrap_err();
            let missing = wrong(&|hits| _ = hits.pop());
            assert_eq!(missing.is_err(), !batch.chunk.filter.can_omit_pairs());
        }
    }

    #[test]
    fn selected_pairs_may_share_their_targets() {
        let (batch, _) = correct_report(ResultFilter::Scores);
        let job = PairsSpec {
            queries: Arc::clone(&batch.chunk.queries),
            against: None,
            scoring: Arc::clone(&batch.chunk.scoring),
            filter: ResultFilter::Scores,
            strands: QueryStrands::default(),
            parts: None,
        };
        let pairs = Arc::new(vec![(0, 3), (1, 2), (1, 3), (1, 5), (2, 5)]);
        let (_, chunk, blocks) = selected_chunks(job.clone(), by_parts(&job, pairs), 100).next().unwrap();
        let batch: PairsBatch = PairsBatch { chunk, blocks: blocks.into_iter().map(|(_, block)| block).collect() };
        let mut report = mock::compute_batch(&batch);
        super::report(&batch, &report, None).unwrap();
        report.hits.reverse();
        super::report(&batch, &report, None).unwrap();
        report.hits[1] = report.hits[0];
        super::report(&batch, &report, None).unwrap_err();
        report.hits[1].target = 4;
        super::report(&batch, &report, None).unwrap_err();
    }

    #[test]
    fn alignments_must_cover_their_sequences() {
        let (batch, mut report) = correct_report(ResultFilter::Alignments);
        let mut words = Vec::new();
        let spans = report.hits.iter().map(|hit| {
            let (query, target) = (hit.query.min(hit.target), hit.query.max(hit.target));
            let codes = |id| batch.chunk.queries.codes(id);
            let best = crate::pairs::oracle::needleman_wunsch::align(codes(query), codes(target), &batch.chunk.scoring);
            Some(packed::pack(&best.cigar, &mut words))
        });
        let spans: Vec<Option<(usize, u32)>> = spans.collect();
        report.traced = PackedAlignments { words: words.into(), spans };
        super::report(&batch, &report, None).unwrap();
        for change in [
            |report: &mut PairsReport| _ = report.traced.words.pop(),
            |report: &mut PairsReport| _ = report.traced.spans.pop(),
            |report: &mut PairsReport| report.traced.spans[2] = Some((usize::MAX, 3)),
            |report: &mut PairsReport| report.traced.spans[2] = Some((0, u32::MAX)),
            |report: &mut PairsReport| report.traced.words[3] ^= 4,
            |report: &mut PairsReport| report.traced.words[0] ^= 1,
        ] {
            let mut wrong = report.clone();
            change(&mut wrong);
            super::report(&batch, &wrong, None).unwrap_err();
        }
    }
}
