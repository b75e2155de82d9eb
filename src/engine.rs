//! Engines: who computes a batch. One trait; the queue, double buffering and the engines live here.

pub mod check;
pub mod guard;
pub mod mock;
pub mod ordered;
pub mod owner;
pub mod patience;
pub(crate) mod pulse;
pub mod pump;
pub mod queue;
pub mod settle;
pub mod shelf;
pub mod sizing;
pub mod stats;
pub mod thread_engine;
pub mod threads;
pub mod waiting;
pub mod work;

use std::sync::Arc;

use self::sizing::LeastWork;
pub use self::threads::thread_pool;
pub use self::work::{Portion, Reported, Work};
use crate::error::Result;

/// Blocks of one chunk that are computed together.
#[derive(Debug)]
pub struct Batch<W: Work> {
    /// What they share.
    pub chunk: Arc<W::Chunk>,
    /// The blocks, all of one class ([`Work::Class`]).
    pub blocks: Vec<W::Block>,
}

impl<W: Work> Clone for Batch<W> {
    fn clone(&self) -> Self {
        Batch { chunk: Arc::clone(&self.chunk), blocks: self.blocks.clone() }
    }
}

impl<W: Work> Batch<W> {
    /// Cells of all pairs.
    pub fn cells(&self) -> u64 {
        self.blocks.iter().map(W::cells).sum()
    }

    /// Number of pairs.
    pub fn pairs(&self) -> u64 {
        self.blocks.iter().map(W::pairs).sum()
    }
}

/// How much an engine likes at once. The queue gives no more, so that sequences and results of a launch fit the memory of
/// the device: the longer the sequences are, the fewer go into a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    /// Cells a batch.
    pub cells: u64,
    /// Pairs a batch at most.
    pub pairs: u64,
    /// Bytes of packed sequences that it can hold at once. A batch over a larger store has one block, whose targets fit.
    pub store_bytes: u64,
    /// Batches in flight.
    pub batches: usize,
}

/// Names a submitted batch until it is collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// Something that computes batches of one kind of work. Submitting never blocks on the computation; collecting does.
pub trait Engine<W: Work>: Send {
    /// A short name for messages and summaries.
    fn name(&self) -> &str;

    /// Whether it takes any batch at all; others may refuse one with [`crate::Error::Unsuited`].
    fn universal(&self) -> bool {
        false
    }

    /// What it has in common with engines that are as fast as it is: the name of the device. `None` if nobody can tell.
    fn kind(&self) -> Option<&str> {
        None
    }

    /// How much it likes at once; may change as it learns its speed.
    fn capacity(&self) -> Capacity;

    /// The least that is worth handing to it. What is given here suits a GPU, whose launches and copies take a few
    /// milliseconds.
    fn least_work(&self) -> LeastWork {
        LeastWork { seconds: 0.025, pairs: 1, fill: 0 }
    }

    /// Cells that it likes at once when it has run for a while, if that is more than now.
    fn usual_cells(&self) -> u64 {
        self.capacity().cells
    }

    /// Hears how many cells it may expect to compute after the batch that it is about to be given. What it looks for to
    /// be faster later has to pay for these.
    fn expect(&mut self, _remaining_cells: u64) {}

    /// Takes a batch. An error means that none of it was or will be computed.
    fn submit(&mut self, batch: Arc<Batch<W>>) -> Result<Ticket>;

    /// Waits for a batch. Tickets may be collected in any order, each once.
    fn collect(&mut self, ticket: Ticket) -> Result<W::Report>;
}
