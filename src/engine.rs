//! Engines compute batches of work. This module contains the [`Engine`] trait, the work queue, the
//! threads that drive engines, and the engines that all kinds of work share.
//!
//! A module for one recurrence (a set of alignment equations) defines a kind of [`Work`]: its
//! chunks, blocks and reports. [`owner::run`] starts one thread for each engine. Each thread pulls
//! batches from the [`queue`] and returns reports. [`ordered`] puts the results back in input
//! order.

pub mod buffer_pool;
pub mod check;
pub mod guard;
pub(crate) mod heartbeat;
pub mod mock;
pub mod ordered;
pub mod owner;
pub mod patience;
pub mod pending;
pub mod postprocess;
pub mod pump;
pub mod queue;
pub mod sizing;
pub mod stats;
pub mod thread_engine;
pub mod threads;
pub(crate) mod watch;
pub mod work;

use std::sync::Arc;

use self::sizing::MinWork;
pub use self::threads::thread_pool;
pub use self::work::{BatchReport, Portion, Work};
use crate::error::Result;

/// A batch: blocks of one chunk that an engine computes together.
#[derive(Debug)]
pub struct Batch<W: Work> {
    /// Data that all blocks share.
    pub chunk: Arc<W::Chunk>,
    /// The blocks, all of the same class ([`Work::Class`]).
    pub blocks: Vec<W::Block>,
}

impl<W: Work> Clone for Batch<W> {
    fn clone(&self) -> Self {
        Batch { chunk: Arc::clone(&self.chunk), blocks: self.blocks.clone() }
    }
}

impl<W: Work> Batch<W> {
    /// Returns the number of matrix cells of all pairs.
    pub fn cells(&self) -> u64 {
        self.blocks.iter().map(W::cells).sum()
    }

    /// Returns the number of pairs.
    pub fn pairs(&self) -> u64 {
        self.blocks.iter().map(W::pairs).sum()
    }
}

/// Largest amount of work that an engine takes at once.
///
/// The queue never exceeds it, so that the sequences and results of a launch fit the memory of the
/// device. The longer the sequences are, the fewer of them go into a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    /// Preferred number of cells in a batch.
    pub cells: u64,
    /// Largest number of pairs in a batch.
    pub pairs: u64,
    /// Bytes of packed sequences that the engine can hold at once. If the sequences of a chunk
    /// exceed this size, a batch has a single block, whose targets fit.
    pub store_bytes: u64,
    /// Number of batches that the engine accepts before the first of them is collected.
    pub batches: usize,
}

/// Identifies a submitted batch until it is collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// Computes batches of one kind of work. Submitting never waits for the computation; collecting
/// does.
pub trait Engine<W: Work>: Send {
    /// Returns a short name for messages and summaries.
    fn name(&self) -> &str;

    /// Returns whether the engine accepts every batch. Other engines may refuse a batch with
    /// [`crate::Error::Unsuited`].
    fn universal(&self) -> bool {
        false
    }

    /// Returns the name of the device, which engines of the same speed share. `None` if it is
    /// unknown.
    fn kind(&self) -> Option<&str> {
        None
    }

    /// Returns how much work the engine takes at once. The value may change as the engine measures
    /// its speed.
    fn capacity(&self) -> Capacity;

    /// Returns the smallest batch that is worth its overhead. The default suits a GPU, whose
    /// launches and copies take a few milliseconds.
    fn min_work(&self) -> MinWork {
        MinWork { seconds: 0.025, pairs: 1, fill: 0, first_part: 0.0 }
    }

    /// Returns the preferred number of cells in a batch after a warm-up, if that exceeds the
    /// current capacity.
    fn usual_cells(&self) -> u64 {
        self.capacity().cells
    }

    /// Receives the number of cells that the engine may expect to compute after the next batch. Any
    /// search for a faster kernel has to pay off over these cells.
    fn expect(&mut self, _remaining_cells: u64) {}

    /// Accepts a batch. After an error, no part of the batch was or will be computed.
    fn submit(&mut self, batch: Arc<Batch<W>>) -> Result<Ticket>;

    /// Waits for a batch and returns its report. Tickets may be collected in any order, each of
    /// them once.
    fn collect(&mut self, ticket: Ticket) -> Result<W::Report>;
}
