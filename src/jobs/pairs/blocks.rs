//! Blocks of listed pairs, by their numbers in the list. Files are read again, up to the block that
//! is computed.

use super::{PairList, PairRow, PairSource, row};
use crate::error::Result;
use crate::jobs::Job;
use crate::jobs::blocks::cut::GrowingBlocks;
use crate::jobs::blocks::{Block, Divisible};
use crate::seq::{SequenceId, SequenceStore};

impl Divisible for PairList {
    /// Cuts the list. Reads files from start to end.
    fn cut(&self, cells: u64) -> Result<Vec<Block>> {
        self.validate()?;
        let copies = u64::from(self.strands().copies());
        let mut growing = GrowingBlocks::of_rows(cells);
        let mut add = |number: u64, queries: &SequenceStore, targets: &SequenceStore, (query, target)| {
            let cells = u64::from(queries.length(query)) * u64::from(targets.length(target));
            growing.add(number, copies, cells.saturating_mul(copies));
        };
        match &self.source {
            PairSource::Listed { queries, targets, pairs } => {
                (0..).zip(pairs.iter()).for_each(|(number, &pair)| add(number, queries, targets, pair));
            }
            PairSource::InStep(chunks) => {
                let mut chunks = chunks.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).reopen()?;
                while let Some(chunk) = chunks.next()? {
                    let ids = 0..chunk.queries.len() as SequenceId;
                    ids.zip(chunk.first..)
                        .for_each(|(id, number)| add(number, &chunk.queries, &chunk.targets, (id, id)));
                }
            }
        }
        Ok(growing.blocks())
    }

    fn part_bytes(&self, block: &Block) -> u64 {
        let columns = if self.score_only { 0 } else { 20 + block.mean_length() / 5 };
        (block.units.end - block.units.start).saturating_mul(24 + columns)
    }

    fn encode(row: &PairRow, bytes: &mut Vec<u8>) {
        row::encode(row, bytes);
    }

    fn decode(bytes: &mut &[u8]) -> Option<PairRow> {
        row::decode(bytes)
    }

    fn resolve(&self, rows: &mut [PairRow]) -> Result<()> {
        row::resolve(self, rows)
    }
}
