//! Whose rows come next, where those of some blocks come one after the other.

use std::ops::Range;

use super::source::Begun;
use super::{Block, BlockSink};
use crate::error::{Error, Result};

/// Tells a sink when each of some blocks ends. What is done is heard of in the order of the blocks; units without pairs may not be
/// heard of at all.
pub(in crate::jobs) struct Due<'a, R> {
    /// Units of blocks, the one that is due first.
    blocks: Begun<Range<u64>>,
    sink: &'a mut dyn BlockSink<R>,
}

impl<'a, R> Due<'a, R> {
    /// Of blocks that are begun before there are any rows of them.
    pub(in crate::jobs) fn new(blocks: Begun<Range<u64>>, sink: &'a mut dyn BlockSink<R>) -> Self {
        Due { blocks, sink }
    }

    /// Some rows of units from `first` on, which is in the block that is due or in one after it.
    pub(in crate::jobs) fn rows(&mut self, first: u64, rows: &[R]) -> Result<()> {
        while self.blocks.end_if(|units| !units.contains(&first)).is_some() {
            self.sink.end()?;
        }
        if self.blocks.first(|_| ()).is_none() {
            return Err(Error::Internal(format!("rows of unit {first}, which is in no block that is due")));
        }
        if rows.is_empty() { Ok(()) } else { self.sink.rows(rows) }
    }

    /// Units before this one have no more rows, of those of the block that is due.
    pub(in crate::jobs) fn reached(&mut self, end: u64) -> Result<()> {
        match self.blocks.end_if(|units| units.end == end) {
            Some(_) => self.sink.end(),
            None => Ok(()),
        }
    }

    /// All blocks are done.
    pub(in crate::jobs) fn finish(self) -> Result<()> {
        while self.blocks.end_if(|_| true).is_some() {
            self.sink.end()?;
        }
        Ok(())
    }
}

impl Begun<Range<u64>> {
    /// A block is begun.
    pub(in crate::jobs) fn add_block(&self, block: &Block) {
        self.add(block.units.clone(), block.pairs, block.cells);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Heard(String);

    impl BlockSink<char> for Heard {
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
    fn every_block_ends_once_whether_or_not_it_has_rows() {
        let block = |units| Block { units, targets: None, pairs: 0, cells: 0 };
        let blocks = [7..9, 20..21, 1..4, 4..4, 5..6, 9..10].map(block);
        let mut heard = Heard::default();
        let begun = || {
            let begun = Begun::default();
            blocks.iter().for_each(|block| begun.add_block(block));
            begun
        };
        let mut due = Due::new(begun(), &mut heard);
        due.rows(7, &['a', 'b']).unwrap();
        due.reached(8).unwrap();
        due.rows(8, &[]).unwrap();
        due.reached(9).unwrap();
        due.rows(2, &['c']).unwrap();
        due.rows(3, &['d']).unwrap();
        due.rows(5, &['e']).unwrap();
        due.finish().unwrap();
        assert_eq!(heard.0, "ab||cd||e||");
        let mut heard = Heard::default();
        let error = Due::new(begun(), &mut heard).rows(6, &['f']).unwrap_err();
        assert!(error.to_string().contains("unit 6"), "{error}");
    }
}
