//! Reads in blocks, by their numbers in the file.

use super::source::Source;
use super::{PhyloAlignment, PhyloResult, ReadSource};
use crate::error::{Error, Result};
use crate::jobs::Job;
use crate::jobs::blocks::cut::Growing;
use crate::jobs::blocks::{Block, Divisible};
use crate::seq::is_standard;

impl Divisible for PhyloAlignment {
    /// Reads the whole file.
    fn cut(&self, cells: u64) -> Result<Vec<Block>> {
        self.validate()?;
        if matches!(&self.reads, ReadSource::File(path) if is_standard(path)) {
            return Err(Error::usage_of("reads", "standard input can be read once only, but each block is read again"));
        }
        let mut source = Source::open(self)?;
        let edges = self.reference.tree.edges.len() as u64 * u64::from(self.strands().copies());
        let symbol = edges.saturating_mul(self.reference.sites().into());
        let mut growing = Growing::new(cells);
        while let Some(chunk) = source.next()? {
            for (number, &length) in chunk.numbers().zip(chunk.store.lengths()) {
                growing.add(number, edges, symbol.saturating_mul(length.into()));
            }
        }
        Ok(growing.blocks())
    }

    fn part_bytes(&self, block: &Block) -> u64 {
        let edges = self.reference.tree.edges.len() as u64 * u64::from(self.strands().copies());
        let symbols = block.cells / edges.saturating_mul(self.reference.sites().into()).max(1);
        // Name and numbers; letters, and a run for every five.
        (block.units.end - block.units.start).saturating_mul(50).saturating_add(symbols + symbols * 2 / 5)
    }

    fn encode(row: &PhyloResult, bytes: &mut Vec<u8>) {
        row.add_to(bytes);
    }

    fn decode(bytes: &mut &[u8]) -> Option<PhyloResult> {
        PhyloResult::take_from(bytes)
    }
}
