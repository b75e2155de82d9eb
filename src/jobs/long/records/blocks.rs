//! Many long pairs in blocks of consecutive pairs. A pair that is larger than a block has a block
//! for each strand, as a [single pair](super::super::blocks) has.

use std::slice;

use super::{LongRecordHit, LongRecordPairs};
use crate::error::{Error, Result};
use crate::jobs::Job;
use crate::jobs::blocks::cut::cut;
use crate::jobs::blocks::{Block, Divisible, bytes, check};
use crate::jobs::long::{LongAlignment, Strand};

impl LongRecordPairs {
    /// Returns the strands of a block.
    ///
    /// # Errors
    /// [`Error::Usage`] if the block is not of this job.
    pub(super) fn strands_of(&self, block: &Block) -> Result<&'static [Strand]> {
        check(slice::from_ref(block), self.pairs(), self.targets())?;
        let all = self.settings.strands();
        Ok(block.targets.as_ref().map_or(all, |range| &all[range.start as usize..range.end as usize]))
    }
}

impl Divisible for LongRecordPairs {
    /// Cuts the job between pairs, and pairs of more than `cells` cells between their strands.
    ///
    /// # Errors
    /// The errors of [`Job::validate`]; [`Error::Usage`] for a job with a checkpoint.
    fn cut(&self, cells: u64) -> Result<Vec<Block>> {
        self.validate()?;
        self.settings.check_no_checkpoint()?;
        let strands = self.settings.strands().len();
        let split = |unit: u64, _| {
            let block = |strand: u32| {
                let targets = (strands > 1).then_some(strand..strand + 1);
                Block { units: unit..unit + 1, targets, pairs: 1, cells: self.cells_of(unit) }
            };
            (0..strands as u32).map(block).collect()
        };
        let size = |unit| (strands as u64, u128::from(self.cells_of(unit)) * strands as u128);
        Ok(cut(self.pairs(), cells, size, split))
    }

    fn targets(&self) -> u32 {
        self.settings.strands().len() as u32
    }

    fn part_bytes(&self, block: &Block) -> u64 {
        // Estimates the size: each alignment has some numbers, and all alignments of a pair together
        // have a run of two bytes for every ten symbols.
        block.pairs * (u64::from(self.settings.top) * 40 + 2 * block.mean_length() / 5)
    }

    fn encode(row: &LongRecordHit, into: &mut Vec<u8>) {
        bytes::push(into, row.query.into());
        bytes::push(into, row.target.into());
        LongAlignment::encode(&row.hit, into);
    }

    fn decode(from: &mut &[u8]) -> Option<LongRecordHit> {
        let (query, target) = (bytes::take_u32(from)?, bytes::take_u32(from)?);
        Some(LongRecordHit { query, target, hit: LongAlignment::decode(from)? })
    }

    fn resolve(&self, rows: &mut [LongRecordHit]) -> Result<()> {
        let is_foreign = |row: &&mut LongRecordHit| {
            self.queries.binary_search(&row.query).is_err() || self.targets.binary_search(&row.target).is_err()
        };
        match rows.iter_mut().find(is_foreign) {
            Some(row) => Err(Error::Internal(format!(
                "an alignment of records {} and {}, which are not in this job",
                row.query, row.target
            ))),
            None => Ok(()),
        }
    }

    /// Selects the best rows of both strands of a pair. Among equal scores the plus strand comes
    /// first, as in the whole job.
    fn join(&self, rows: &mut Vec<LongRecordHit>) {
        let Some(first) = rows.first() else { return };
        let pair = self.pair(first.query, first.target);
        rows.sort_by_key(|row| std::cmp::Reverse(row.hit.score));
        rows.truncate(pair.top as usize);
    }
}
