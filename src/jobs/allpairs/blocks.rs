//! Blocks of all pairs. They are cut along the queries. A query that is too large for a block is
//! cut along its targets.

use super::select::ResultSelection;
use super::{AllPairs, PairResult, row};
use crate::error::Result;
use crate::jobs::Job;
use crate::jobs::blocks::cut::ComparisonGrid;
use crate::jobs::blocks::{Block, Divisible};
use crate::seq::QueryStrands;
use crate::seq::part::Extents;

impl AllPairs {
    /// Returns the grid of one strand. The other strand has equal numbers of pairs and cells.
    fn grid(&self) -> ComparisonGrid<'_> {
        let (targets, later) = (AllPairs::targets(self), self.against.is_none());
        let extents = Extents::new(&self.queries, targets, QueryStrands::default(), later);
        ComparisonGrid { extents, copies: self.strands().copies(), targets: targets.lengths(), later }
    }
}

impl Divisible for AllPairs {
    fn cut(&self, cells: u64) -> Result<Vec<Block>> {
        self.validate()?;
        Ok(self.grid().cut(self.queries.len(), cells))
    }

    fn targets(&self) -> u32 {
        AllPairs::targets(self).len() as u32
    }

    fn part_bytes(&self, block: &Block) -> u64 {
        let copies = u64::from(self.strands().copies());
        let most = self.max_hits.filter(|_| block.targets.is_none()).unwrap_or(usize::MAX) as u64;
        let rows = (block.pairs / copies).min((block.units.end - block.units.start).saturating_mul(most));
        // The numbers of a row take about 20 bytes. Alignments of related sequences have a run of
        // two bytes for about every ten symbols.
        let columns = if self.score_only { 0 } else { 20 + block.mean_length() / 5 };
        rows.saturating_mul(20 + columns)
    }

    fn encode(row: &PairResult, bytes: &mut Vec<u8>) {
        row::encode(row, bytes);
    }

    fn decode(bytes: &mut &[u8]) -> Option<PairResult> {
        row::decode(bytes)
    }

    fn join(&self, rows: &mut Vec<PairResult>) {
        // Each row already has the better strand of its pair.
        ResultSelection::from_job(self, false).select_hits(rows);
    }
}
