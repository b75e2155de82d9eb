//! Kinds of work. The queue uses the methods of [`Work`] to hand out blocks and to accept reports,
//! whatever they contain.

use std::fmt::Debug;
use std::ops::Range;
use std::time::Duration;

use super::Batch;
use crate::seq::SequenceId;

/// A kind of work. Its associated types are the input and output of the engines of this kind.
pub trait Work: Debug + Clone + Copy + Send + Sync + 'static {
    /// Data that the blocks of a batch share.
    type Chunk: Debug + Send + Sync;
    /// A piece of work: consecutive pairs. It can be split between two pairs.
    type Block: Debug + Clone + Send + Sync;
    /// Property that all blocks of a batch have in common.
    type Class: Debug + Clone + Copy + PartialEq + Send + Sync;
    /// Results of a batch.
    type Report: BatchReport + Debug + Send;

    /// Returns the number of pairs in a block.
    fn pairs(block: &Self::Block) -> u64;

    /// Returns the number of cells of all pairs of a block.
    fn cells(block: &Self::Block) -> u64;

    /// Returns the number of cells of the first pair of a block; `None` for a block without pairs.
    fn first_cells(chunk: &Self::Chunk, block: &Self::Block) -> Option<u64>;

    /// Returns whether a batch may have only one block, because the sequences of the chunk exceed
    /// the `store_bytes` bytes that the engine can hold.
    fn one_block(chunk: &Self::Chunk, store_bytes: u64) -> bool;

    /// Returns whether a block fits a portion, so that [`Work::split`] would return it whole. The
    /// test must be fast, because chunks can have very many blocks. Returning false is always
    /// correct.
    fn fits(_block: &Self::Block, _portion: Portion) -> bool {
        false
    }

    /// Splits off the first part of a block: as many pairs as fit the portion, but at least one.
    /// Returns this part and the rest, if there is one.
    fn split(chunk: &Self::Chunk, block: Self::Block, portion: Portion) -> (Self::Block, Option<Self::Block>);

    /// Checks a report. The error describes why the report cannot belong to the batch.
    fn check(batch: &Batch<Self>, report: &Self::Report) -> Result<(), String>;

    /// Checks a report like [`Work::check`], on the threads of a pool if that is worthwhile.
    fn check_on(_pool: &rayon::ThreadPool, batch: &Batch<Self>, report: &Self::Report) -> Result<(), String> {
        Self::check(batch, report)
    }
}

/// Properties that every report has.
pub trait BatchReport {
    /// Returns the indices of the blocks that the engine did not finish.
    fn unfinished(&self) -> &[usize];

    /// Returns the time that the device spent in the kernel, if it is known.
    fn kernel_time(&self) -> Option<Duration>;
}

/// Largest part of a block that an engine takes at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Portion {
    /// Number of cells.
    pub cells: u64,
    /// Number of pairs.
    pub pairs: u64,
    /// Bytes of packed targets.
    pub target_bytes: u64,
}

/// Properties of a chunk that the caller sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkInfo {
    /// Index of the chunk among the chunks that have pairs.
    pub index: usize,
    /// Queries of the chunk in input order.
    pub queries: Range<SequenceId>,
    /// Number of pairs in the chunk.
    pub pairs: u64,
}
