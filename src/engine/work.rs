//! Kinds of work: what the queue has to know of a block and a report to hand them out and back, whatever they hold.

use std::fmt::Debug;
use std::ops::Range;
use std::time::Duration;

use super::Batch;
use crate::seq::SequenceId;

/// A kind of work. Its type parameters name what engines of this kind take and give.
pub trait Work: Debug + Clone + Copy + Send + Sync + 'static {
    /// What the blocks of a batch share.
    type Chunk: Debug + Send + Sync;
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
    fn first_cells(chunk: &Self::Chunk, block: &Self::Block) -> Option<u64>;

    /// Whether a batch for an engine that holds so many bytes of sequences may have one block only.
    fn one_block(chunk: &Self::Chunk, store_bytes: u64) -> bool;

    /// Whether a block is surely no more than a portion, so that [`Work::split`] would leave it as it is. Where chunks have very many
    /// blocks, that should be seen at once.
    fn fits(_block: &Self::Block, _portion: Portion) -> bool {
        false
    }

    /// Splits off the first part of a block that has portion, but at least one pair.
    fn split(chunk: &Self::Chunk, block: Self::Block, portion: Portion) -> (Self::Block, Option<Self::Block>);

    /// Says what is wrong with a report that cannot be what came of the batch.
    fn check(batch: &Batch<Self>, report: &Self::Report) -> Result<(), String>;

    /// The same, on the threads of a pool where that is worth it.
    fn check_on(_pool: &rayon::ThreadPool, batch: &Batch<Self>, report: &Self::Report) -> Result<(), String> {
        Self::check(batch, report)
    }
}

/// What every report tells.
pub trait Reported {
    /// Indices of the blocks that the engine did not finish.
    fn unfinished(&self) -> &[usize];

    /// Time that the device was busy with the kernel, where it can be told.
    fn kernel_time(&self) -> Option<Duration>;
}

/// How much of a block an engine takes at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Portion {
    /// Cells.
    pub cells: u64,
    /// Pairs.
    pub pairs: u64,
    /// Bytes of packed targets.
    pub target_bytes: u64,
}

/// A chunk as the caller sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkInfo {
    /// Position among the chunks that have pairs.
    pub index: usize,
    /// Its queries in input order.
    pub queries: Range<SequenceId>,
    /// Its pairs.
    pub pairs: u64,
}
