//! Delivery of rows in order, block by block, with the end of each block.

use std::ops::Range;
use std::sync::Arc;

use super::Summary;
use super::block::{Block, BlockSink, Encode};
use super::source::OpenBlocks;
use crate::error::{Error, Result};

/// Passes rows to a sink, one block after the other, and reports the end of each block. `B` is the
/// state of an open block.
pub(super) struct Delivery<'a, R, B> {
    /// Open blocks. The first one is due.
    blocks: OpenBlocks<B>,
    sink: &'a mut dyn BlockSink<R>,
    /// Number of delivered rows.
    written: u64,
}

impl<'a, R, B> Delivery<'a, R, B> {
    /// Creates a delivery to `sink`. A block must be added to `blocks` before its first rows
    /// arrive.
    pub(super) fn new(blocks: OpenBlocks<B>, sink: &'a mut dyn BlockSink<R>) -> Self {
        Delivery { blocks, sink, written: 0 }
    }

    /// Returns the encoder of a sink that accepts bytes.
    pub(super) fn encoder(&self) -> Option<Arc<dyn Encode<R>>> {
        self.sink.encoder()
    }

    /// Returns the open blocks.
    pub(super) fn blocks(&self) -> &OpenBlocks<B> {
        &self.blocks
    }

    /// Returns the number of delivered rows.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// Delivers rows of the block that is due.
    pub(super) fn rows(&mut self, rows: &[R]) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        self.sink.rows(rows)?;
        self.written += rows.len() as u64;
        Ok(())
    }

    /// Delivers `rows` rows of the block that is due. `write` writes their bytes to the sink.
    pub(super) fn bytes(&mut self, rows: usize, write: impl FnOnce(&mut dyn BlockSink<R>) -> Result<()>) -> Result<()> {
        write(self.sink)?;
        self.written += rows as u64;
        Ok(())
    }

    /// Removes the block that is due if it is done. The caller must then report its end
    /// ([`Delivery::end_taken`]).
    pub(super) fn take_if(&mut self, is_done: impl FnOnce(&B) -> bool) -> Option<B> {
        self.blocks.end_if(is_done)
    }

    /// Reports the end of a removed block to the sink.
    pub(super) fn end_taken(&mut self) -> Result<()> {
        self.sink.end()
    }

    /// Ends blocks up to the first that is not done.
    pub(super) fn end_while(&mut self, is_done: impl Fn(&B) -> bool) -> Result<()> {
        while self.take_if(&is_done).is_some() {
            self.end_taken()?;
        }
        Ok(())
    }
}

/// Delivery with the number of undelivered pairs as the state of an open block.
impl<R> Delivery<'_, R, u64> {
    /// Ends the blocks that have no pairs left.
    pub(super) fn end_done(&mut self) -> Result<()> {
        self.end_while(|left| *left == 0)
    }

    /// Subtracts pairs from the block that is due. Returns false if the block has fewer pairs left.
    pub(super) fn count_off(&mut self, pairs: u64) -> bool {
        let took = self.blocks.first(|left| left.checked_sub(pairs).map(|rest| *left = rest));
        took.flatten().is_some()
    }

    /// Ends the last blocks. Returns the numbers of pairs and cells of all blocks, and the number
    /// of rows.
    ///
    /// # Errors
    /// [`Error::Internal`] if a block has pairs left.
    pub(super) fn finish(mut self) -> Result<Summary> {
        self.end_done()?;
        match self.blocks.first(|left| *left) {
            None => {
                let (pairs, cells) = self.blocks.totals();
                Ok(Summary { pairs, cells, written: self.written, ..Summary::default() })
            }
            Some(left) => Err(Error::Internal(format!("a block lacks {left} pairs"))),
        }
    }
}

/// Delivery with the range of units as the state of an open block. Units may have no rows.
impl<R> Delivery<'_, R, Range<u64>> {
    /// Delivers rows of units from `first` on. `first` is in the block that is due or in a later
    /// one.
    pub(super) fn rows_from(&mut self, first: u64, rows: &[R]) -> Result<()> {
        self.end_while(|units| !units.contains(&first))?;
        if self.blocks.first(|_| ()).is_none() {
            return Err(Error::Internal(format!("rows of unit {first}, which is not in an open block")));
        }
        self.rows(rows)
    }

    /// Ends the block that is due if `end` is the end of its range. All rows of units before `end`
    /// must have been delivered.
    pub(super) fn end_block_at(&mut self, end: u64) -> Result<()> {
        match self.take_if(|units| units.end == end) {
            Some(_) => self.end_taken(),
            None => Ok(()),
        }
    }

    /// Ends all blocks.
    pub(super) fn finish(mut self) -> Result<()> {
        self.end_while(|_| true)
    }
}

impl OpenBlocks<Range<u64>> {
    /// Adds a block.
    pub(super) fn add_block(&self, block: &Block) {
        self.add(block.units.clone(), block.pairs, block.cells);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct RecordingSink(String);

    impl BlockSink<char> for RecordingSink {
        fn rows(&mut self, rows: &[char]) -> Result<()> {
            self.0.extend(rows);
            Ok(())
        }

        fn end(&mut self) -> Result<()> {
            self.0.push('|');
            Ok(())
        }
    }

    #[test]
    fn every_block_ends_exactly_once_with_or_without_rows() {
        let block = |units| Block { units, targets: None, pairs: 0, cells: 0 };
        let blocks = [7..9, 20..21, 1..4, 4..4, 5..6, 9..10].map(block);
        let mut sink = RecordingSink::default();
        let open_blocks = || {
            let open_blocks = OpenBlocks::default();
            blocks.iter().for_each(|block| open_blocks.add_block(block));
            open_blocks
        };
        let mut due = Delivery::new(open_blocks(), &mut sink);
        due.rows_from(7, &['a', 'b']).unwrap();
        due.end_block_at(8).unwrap();
        due.rows_from(8, &[]).unwrap();
        due.end_block_at(9).unwrap();
        due.rows_from(2, &['c']).unwrap();
        due.rows_from(3, &['d']).unwrap();
        due.rows_from(5, &['e']).unwrap();
        due.finish().unwrap();
        assert_eq!(sink.0, "ab||cd||e||");
        let mut sink = RecordingSink::default();
        let error = Delivery::new(open_blocks(), &mut sink).rows_from(6, &['f']).unwrap_err();
        assert!(error.to_string().contains("unit 6"), "{error}");
    }
}
