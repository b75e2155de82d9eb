//! Handing over of a chunk or part of which only the pairs within the limit are known: what [`Finisher::chunk`] and
//! [`Finisher::all`] do with the results of all pairs.

use std::ops::Range;

use super::Finisher;
use crate::edit::Region;
use crate::edit::plan::Against;
use crate::error::Result;
use crate::score::Found;
use crate::seq::{Part, SequenceId, Strand};

/// A pair, by its number in the chunk or part once its strands are one, with what was found and on which strand.
type Listed = (u32, Found, Strand);

impl Finisher<'_> {
    /// `list` has the results of both strands of a pair one after the other, by rising number.
    pub(super) fn listed(&mut self, range: Range<SequenceId>, part: &Part, list: &[(u32, Found)]) -> Result<()> {
        let job = self.aligner.job;
        let mut list = self.better_listed(list);
        if let Against::Candidates(_, candidates) = &job.against {
            let candidates = &candidates[range.start as usize..range.end as usize];
            if let Some(most) = job.max_hits {
                let pattern = |one: &Listed| candidates[one.0 as usize].pattern;
                list.sort_by_key(pattern);
                let groups = list.chunk_by_mut(|a, b| pattern(a) == pattern(b));
                list = groups.flat_map(|group| least(group, most)).map(|one| *one).collect();
                list.sort_unstable_by_key(|&(pair, ..)| pair);
            }
            for (pair, found, strand) in list {
                let candidate = &candidates[pair as usize];
                self.push(candidate.pattern, strand, candidate.region, found)?;
            }
            return Ok(());
        }
        let mut rest = &mut list[..];
        let mut first = 0;
        for pattern in range {
            let texts = part.met(pattern, job.texts().len(), matches!(job.against, Against::Later));
            let end = first + texts.len();
            let (row, others) = rest.split_at_mut(rest.partition_point(|&(pair, ..)| (pair as usize) < end));
            rest = others;
            let row = match job.max_hits {
                Some(most) => least(row, most),
                None => row,
            };
            for &mut (pair, found, strand) in row {
                let text = texts.start + (pair as usize - first) as SequenceId;
                let region = Region { text, start: 0, end: job.texts().length(text) };
                self.push(pattern, strand, region, found)?;
            }
            first = end;
        }
        Ok(())
    }

    /// Of both strands of each pair the nearer one, if both were compared: the forward one if they are at the same distance.
    fn better_listed(&self, list: &[(u32, Found)]) -> Vec<Listed> {
        let strands = self.aligner.job.strands();
        if strands.copies() == 1 {
            let strand = strands.of(0).1;
            return list.iter().map(|&(pair, found)| (pair, found, strand)).collect();
        }
        let mut better: Vec<Listed> = Vec::with_capacity(list.len());
        for &(place, found) in list {
            let strand = if place % 2 == 0 { Strand::Plus } else { Strand::Minus };
            match better.last_mut() {
                Some(plus) if plus.0 == place / 2 => {
                    if found.distance < plus.1.distance {
                        *plus = (place / 2, found, strand);
                    }
                }
                _ => better.push((place / 2, found, strand)),
            }
        }
        better
    }
}

/// At most so many of some pairs, by rising number: those of least distance, and among these the earliest.
fn least(pairs: &mut [Listed], most: usize) -> &mut [Listed] {
    if pairs.len() > most {
        pairs.sort_unstable_by_key(|&(pair, found, _)| (found.distance, pair));
    }
    let count = pairs.len().min(most);
    let kept = &mut pairs[..count];
    kept.sort_unstable_by_key(|&(pair, ..)| pair);
    kept
}
