//! Reports a chunk or part that lists only the pairs within the limit. Equivalent to
//! [`EditFinisher::chunk`] and [`EditFinisher::all`] for the results of all pairs.

use std::ops::Range;

use super::EditFinisher;
use crate::edit::Region;
use crate::edit::plan::Against;
use crate::error::Result;
use crate::score::EditDistance;
use crate::seq::{QueryPart, SequenceId, Strand};

/// The number of a pair in its chunk or part (counting both strands once), its result and its
/// strand.
type ListedResult = (u32, EditDistance, Strand);

impl EditFinisher<'_> {
    /// Reports the pairs of a list, which is sorted by number and has the two strands of a pair one
    /// after the other.
    pub(super) fn listed(
        &mut self,
        range: Range<SequenceId>,
        part: &QueryPart,
        list: &[(u32, EditDistance)],
    ) -> Result<()> {
        let job = self.aligner.job;
        let mut list = self.better_listed(list);
        if let Against::Candidates(_, candidates) = &job.against {
            let candidates = &candidates[range.start as usize..range.end as usize];
            if let Some(most) = job.max_hits {
                let pattern = |one: &ListedResult| candidates[one.0 as usize].pattern;
                list.sort_by_key(pattern);
                let groups = list.chunk_by_mut(|a, b| pattern(a) == pattern(b));
                list = groups.flat_map(|group| select_least(group, most)).map(|one| *one).collect();
                list.sort_unstable_by_key(|&(pair, ..)| pair);
            }
            for (pair, result, strand) in list {
                let candidate = &candidates[pair as usize];
                self.push(candidate.pattern, strand, candidate.region, result)?;
            }
            return Ok(());
        }
        let mut rest = &mut list[..];
        let mut first = 0;
        for pattern in range {
            let texts = part.compared_targets(pattern, job.texts().len(), matches!(job.against, Against::Later));
            let end = first + texts.len();
            let (row, others) = rest.split_at_mut(rest.partition_point(|&(pair, ..)| (pair as usize) < end));
            rest = others;
            let row = match job.max_hits {
                Some(most) => select_least(row, most),
                None => row,
            };
            for &mut (pair, result, strand) in row {
                let text = texts.start + (pair as usize - first) as SequenceId;
                let region = Region { text, start: 0, end: job.texts().length(text) };
                self.push(pattern, strand, region, result)?;
            }
            first = end;
        }
        Ok(())
    }

    /// Selects the strand with the lower distance of each pair if both were compared, or the plus
    /// strand if the distances are equal.
    fn better_listed(&self, list: &[(u32, EditDistance)]) -> Vec<ListedResult> {
        let strands = self.aligner.job.strands();
        if strands.copies() == 1 {
            let strand = strands.sequence_of(0).1;
            return list.iter().map(|&(pair, result)| (pair, result, strand)).collect();
        }
        let mut better: Vec<ListedResult> = Vec::with_capacity(list.len());
        for &(index, result) in list {
            let strand = if index % 2 == 0 { Strand::Plus } else { Strand::Minus };
            match better.last_mut() {
                Some(plus) if plus.0 == index / 2 => {
                    if result.distance < plus.1.distance {
                        *plus = (index / 2, result, strand);
                    }
                }
                _ => better.push((index / 2, result, strand)),
            }
        }
        better
    }
}

/// Selects at most `most` pairs, sorted by number: the ones with the lowest distances, and the
/// earliest of equal ones.
fn select_least(pairs: &mut [ListedResult], most: usize) -> &mut [ListedResult] {
    if pairs.len() > most {
        pairs.sort_unstable_by_key(|&(pair, result, _)| (result.distance, pair));
    }
    let count = pairs.len().min(most);
    let kept = &mut pairs[..count];
    kept.sort_unstable_by_key(|&(pair, ..)| pair);
    kept
}
