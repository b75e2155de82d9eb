//! Blocks of reads, by their numbers in the file.

use super::source::ReadFile;
use super::{PhyloAlignment, PhyloResult, ReadSource};
use crate::error::{Error, Result};
use crate::jobs::Job;
use crate::jobs::blocks::cut::GrowingBlocks;
use crate::jobs::blocks::{Block, Divisible};
use crate::jobs::engines::CARD_PLACEMENTS;
use crate::seq::is_standard;

impl Divisible for PhyloAlignment {
    const CARD_SPEED: f64 = CARD_PLACEMENTS;

    /// Cuts the reads. Reads the whole file.
    fn cut(&self, cells: u64) -> Result<Vec<Block>> {
        self.validate()?;
        if matches!(&self.reads, ReadSource::File(path) if is_standard(path)) {
            return Err(Error::usage_of(
                "reads",
                "standard input can be read only once, but every block reads the reads again: use a file",
            ));
        }
        let mut source = ReadFile::open(self)?;
        let edges = self.reference.tree.edges.len() as u64 * u64::from(self.strands().copies());
        let symbol = edges.saturating_mul(self.reference.sites().into());
        let mut growing = GrowingBlocks::new(cells);
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
        // The name and numbers take about 50 bytes. The letters follow, and one run of columns per
        // five letters.
        (block.units.end - block.units.start).saturating_mul(50).saturating_add(symbols + symbols * 2 / 5)
    }

    fn encode(row: &PhyloResult, bytes: &mut Vec<u8>) {
        row.add_to(bytes);
    }

    fn decode(bytes: &mut &[u8]) -> Option<PhyloResult> {
        PhyloResult::take_from(bytes)
    }
}
