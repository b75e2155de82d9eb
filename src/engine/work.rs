//! Kinds of work: what the queue has to know of a block and a report to hand them out and back, whatever they hold.

use std::fmt::Debug;
use std::time::Duration;

use super::{Band, Batch, Block, Report, check};
use crate::plan::{LengthClass, Room, split_block};

/// A kind of work. Its type parameters name what engines of this kind take and give.
pub trait Work: Debug + Clone + Copy + Send + Sync + 'static {
    /// What the blocks of a batch share.
    type Band: Debug + Send + Sync;
    /// A piece of work that may be split between pairs.
    type Block: Debug + Clone + Send + Sync;
    /// What blocks have in common that may share a batch.
    type Class: Debug + Clone + Copy + PartialEq + Send + Sync;
    /// What comes of a batch.
    type Report: Reported + Debug + Send;

    /// Pairs in a block.
    fn pairs(block: &Self::Block) -> u64;

    /// Cells of all its pairs together.
    fn cells(block: &Self::Block) -> u64;

    /// Cells of its first pair; `None` if it has none.
    fn first_cells(band: &Self::Band, block: &Self::Block) -> Option<u64>;

    /// Whether a batch for an engine that holds so many bytes of sequences may have one block only.
    fn one_block(band: &Self::Band, store_bytes: u64) -> bool;

    /// Splits off the first part of a block that has room, but at least one pair.
    fn split(band: &Self::Band, block: Self::Block, room: Room) -> (Self::Block, Option<Self::Block>);

    /// Says what is wrong with a report that cannot be what came of the batch.
    fn check(batch: &Batch<Self>, report: &Self::Report) -> Result<(), String>;
}

/// What every report tells.
pub trait Reported {
    /// Indices of the blocks that the engine did not finish.
    fn unfinished(&self) -> &[usize];

    /// Time that the device was busy with the kernel, where it can be told.
    fn kernel_time(&self) -> Option<Duration>;
}

/// Scores and alignments of pairs of whole sequences.
#[derive(Debug, Clone, Copy)]
pub struct Alignment;

impl Work for Alignment {
    type Band = Band;
    type Block = Block;
    type Class = LengthClass;
    type Report = Report;

    fn pairs(block: &Block) -> u64 {
        block.pairs()
    }

    fn cells(block: &Block) -> u64 {
        block.cells
    }

    fn first_cells(band: &Band, block: &Block) -> Option<u64> {
        let target = *band.order.get(block.targets.start as usize)?;
        Some(u64::from(band.queries.length(block.query)) * u64::from(band.targets.length(target)))
    }

    fn one_block(band: &Band, store_bytes: u64) -> bool {
        band.targets.packed_bytes().len() as u64 > store_bytes
    }

    fn split(band: &Band, block: Block, room: Room) -> (Block, Option<Block>) {
        split_block(band, block, room)
    }

    fn check(batch: &Batch, report: &Report) -> Result<(), String> {
        check::report(batch, report)
    }
}

impl Reported for Report {
    fn unfinished(&self) -> &[usize] {
        &self.unfinished
    }

    fn kernel_time(&self) -> Option<Duration> {
        self.kernel_time
    }
}
