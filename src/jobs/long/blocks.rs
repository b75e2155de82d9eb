//! A long pair as one or two blocks: both strands together, or each strand separately.
//!
//! The pair is one unit. Its strands take the place of targets in [`Block::targets`]: 0 is the plus
//! strand, 1 is the minus strand. A block of one strand computes the best `top` alignments of that
//! strand, which do not depend on the other strand. The best `top` alignments of both lists are the
//! result of the whole job.

use std::cmp::Reverse;
use std::ops::Range;
use std::slice;

use super::{LongAlignment, LongHit};
use crate::error::Result;
use crate::jobs::Job;
use crate::jobs::blocks::cut::cut;
use crate::jobs::blocks::{Block, Divisible, bytes, check};
use crate::seq::Strand;

/// Bits of the first byte of an encoded [`LongHit`].
const IS_MINUS: u8 = 1;
const HAS_QUERY: u8 = 2;
const HAS_TARGET: u8 = 4;
const HAS_CIGAR: u8 = 8;

impl LongAlignment {
    /// Returns the strands of a block.
    ///
    /// # Errors
    /// [`Error::Usage`] if the block is not of this job.
    pub(super) fn strands_of(&self, block: &Block) -> Result<&'static [Strand]> {
        check(slice::from_ref(block), 1, self.targets())?;
        let all = self.strands();
        Ok(block.targets.as_ref().map_or(all, |range| &all[range.start as usize..range.end as usize]))
    }
}

impl Divisible for LongAlignment {
    /// Makes one block, or one for each strand if both strands together have more than `cells`
    /// cells.
    ///
    /// # Errors
    /// The errors of [`Job::validate`]; [`Error::Usage`] for a job with a checkpoint.
    fn cut(&self, cells: u64) -> Result<Vec<Block>> {
        self.validate()?;
        self.check_no_checkpoint()?;
        let strands = self.strands().len();
        let split = |unit: u64, _| {
            let block = |strand: u32| {
                let targets = (strands > 1).then_some(strand..strand + 1);
                Block { units: unit..unit + 1, targets, pairs: 1, cells: self.cells_of(1) }
            };
            (0..strands as u32).map(block).collect()
        };
        Ok(cut(1, cells, |_| (strands as u64, self.cells().into()), split))
    }

    fn targets(&self) -> u32 {
        self.strands().len() as u32
    }

    fn part_bytes(&self, block: &Block) -> u64 {
        let symbols = u64::from(self.query.length(self.query_id)) + u64::from(self.target.length(self.target_id));
        // Estimates the size: each alignment has some numbers, and all alignments together have a
        // run of two bytes for every ten symbols.
        block.pairs * (u64::from(self.top) * 40 + symbols / 5)
    }

    fn encode(row: &LongHit, into: &mut Vec<u8>) {
        let flags = [
            (row.strand == Strand::Minus, IS_MINUS),
            (row.query.is_some(), HAS_QUERY),
            (row.target.is_some(), HAS_TARGET),
            (row.cigar.is_some(), HAS_CIGAR),
        ];
        into.push(flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, bit)| bit).sum());
        bytes::push_signed(into, row.score);
        for range in [&row.query, &row.target].into_iter().flatten() {
            bytes::push(into, range.start.into());
            bytes::push(into, range.end.into());
        }
        bytes::push(into, row.query_end.into());
        bytes::push(into, row.target_end.into());
        row.cigar.iter().for_each(|cigar| bytes::push_cigar(into, cigar));
    }

    fn decode(from: &mut &[u8]) -> Option<LongHit> {
        let flags = bytes::take_byte(from)?;
        if flags > IS_MINUS | HAS_QUERY | HAS_TARGET | HAS_CIGAR {
            return None;
        }
        let has = |bit: u8| flags & bit != 0;
        Some(LongHit {
            strand: if has(IS_MINUS) { Strand::Minus } else { Strand::Plus },
            score: bytes::take_signed(from)?,
            query: if has(HAS_QUERY) { Some(take_range(from)?) } else { None },
            target: if has(HAS_TARGET) { Some(take_range(from)?) } else { None },
            query_end: bytes::take_u32(from)?,
            target_end: bytes::take_u32(from)?,
            cigar: if has(HAS_CIGAR) { Some(bytes::take_cigar(from)?) } else { None },
        })
    }

    /// Selects the best rows of both strands. Among equal scores the plus strand comes first, as in
    /// the whole job.
    fn join(&self, rows: &mut Vec<LongHit>) {
        rows.sort_by_key(|hit| Reverse(hit.score));
        rows.truncate(self.top as usize);
    }
}

/// Removes the two ends of a range from the front of a slice.
fn take_range(from: &mut &[u8]) -> Option<Range<u32>> {
    let range = bytes::take_u32(from)?..bytes::take_u32(from)?;
    (range.start <= range.end).then_some(range)
}
