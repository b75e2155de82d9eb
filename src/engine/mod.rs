//! Engines: who computes a batch. One trait; the queue, double buffering and the engines live here.

pub mod check;
pub mod cpu;
pub mod edit;
pub mod gpu;
pub mod long;
pub mod mock;
pub mod owner;
pub mod pump;
pub mod queue;
pub mod sizing;
pub mod stats;
pub mod waiting;
pub mod work;

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use self::sizing::Grain;
pub use self::work::{Alignment, Reported, Work};
use crate::error::Result;
use crate::score::{IdentityFilter, Scoring};
use crate::seq::{SequenceId, SequenceStore};
use crate::trace::{Cigar, packed};

/// The least piece of work: one query against a run of targets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The query, in the batch's query store.
    pub query: SequenceId,
    /// The targets: a range of [`Band::order`].
    pub targets: Range<u32>,
    /// Cells of all its pairs together.
    pub cells: u64,
}

impl Block {
    /// Pairs in the block.
    pub fn pairs(&self) -> u64 {
        self.targets.len() as u64
    }
}

/// What the blocks of a batch have in common.
#[derive(Debug)]
pub struct Band {
    /// Where queries are.
    pub queries: Arc<SequenceStore>,
    /// Where targets are; the same store in an all-against-all of one file.
    pub targets: Arc<SequenceStore>,
    /// Targets in one or two runs by falling length: neighbours differ little in length, so that little is padded.
    pub order: Vec<SequenceId>,
    /// The scoring scheme.
    pub scoring: Arc<Scoring>,
    /// What is to come back.
    pub want: Want,
    /// Whether of two sequences the one of the smaller number is the query of the alignment, as in an all-against-all of
    /// one store; else a block's query is.
    pub earlier_is_query: bool,
}

impl Band {
    /// Length of the longest target in a range of the order; 0 for none.
    pub fn longest(&self, range: Range<u32>) -> u32 {
        self.order[range.start as usize..range.end as usize]
            .iter()
            .map(|&id| self.targets.length(id))
            .max()
            .unwrap_or(0)
    }
}

/// What engines report of the pairs that they computed.
#[derive(Debug, Clone)]
pub enum Want {
    /// Every pair's score.
    Scores,
    /// Every pair's score and, where the engine has them, matches: a traceback follows.
    Alignments,
    /// Only the pairs that may reach an identity.
    Reaching(Arc<IdentityFilter>),
}

/// Blocks of one band that are computed together.
#[derive(Debug)]
pub struct Batch<W: Work = Alignment> {
    /// What they share.
    pub band: Arc<W::Band>,
    /// The blocks. All of one length class (see [`crate::plan`]).
    pub blocks: Vec<W::Block>,
}

/// Greatest lengths in a batch, which decide the number format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extent {
    /// Longest query in symbols.
    pub query_symbols: u32,
    /// Longest target in symbols.
    pub target_symbols: u32,
    /// Greatest `min(query, target)` of any pair.
    pub shorter: u32,
    /// Greatest `query + target` of any pair.
    pub sum: u64,
}

impl<W: Work> Clone for Batch<W> {
    fn clone(&self) -> Self {
        Batch { band: Arc::clone(&self.band), blocks: self.blocks.clone() }
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

impl Batch {
    /// The greatest lengths.
    pub fn extent(&self) -> Extent {
        let mut extent = Extent::default();
        for block in self.blocks.iter().filter(|block| !block.targets.is_empty()) {
            let query = self.band.queries.length(block.query);
            let target = self.band.longest(block.targets.clone());
            extent.query_symbols = extent.query_symbols.max(query);
            extent.target_symbols = extent.target_symbols.max(target);
            extent.shorter = extent.shorter.max(query.min(target));
            extent.sum = extent.sum.max(query as u64 + target as u64);
        }
        extent
    }
}

/// One pair's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hit {
    /// The query.
    pub query: SequenceId,
    /// The target.
    pub target: SequenceId,
    /// The exact score.
    pub score: i64,
    /// Matches of the best alignment, if the engine carried them.
    pub matches: Option<u64>,
}

/// What came of a batch.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Results of finished blocks, in no particular order.
    pub hits: Vec<Hit>,
    /// Alignments of some of the hits, where the engine traced them.
    pub traced: Traced,
    /// Indices of the blocks that the engine did not finish; another engine has to.
    pub unfinished: Vec<usize>,
    /// Time that the device was busy with the kernel, where it can be told.
    pub kernel_time: Option<Duration>,
}

/// Alignments as an engine leaves them: runs, packed.
#[derive(Debug, Clone, Default)]
pub struct Traced {
    /// Runs of all alignments ([`crate::trace::packed`]).
    pub words: Vec<u32>,
    /// First word and number of runs of each hit, in the order of [`Report::hits`]; `None` for a hit that was not traced.
    /// Empty if none was.
    pub spans: Vec<Option<(usize, u32)>>,
}

impl Traced {
    /// The alignment of the hit at this place, if it was traced.
    pub fn cigar(&self, index: usize) -> Option<Cigar> {
        let (first, runs) = (*self.spans.get(index)?)?;
        Some(packed::unpack(&self.words[first..], runs))
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
pub trait Engine<W: Work = Alignment>: Send {
    /// A short name for messages and summaries.
    fn name(&self) -> &str;

    /// Whether it takes any batch at all; others may refuse one with [`crate::Error::Unsuited`].
    fn universal(&self) -> bool {
        false
    }

    /// How much it likes at once; may change as it learns its speed.
    fn capacity(&self) -> Capacity;

    /// The least that is worth handing to it. What is given here suits a GPU, whose launches and copies take a few
    /// milliseconds.
    fn grain(&self) -> Grain {
        Grain { seconds: 0.025, pairs: 1 }
    }

    /// Cells that it likes at once when it has run for a while, if that is more than now.
    fn usual_cells(&self) -> u64 {
        self.capacity().cells
    }

    /// Takes a batch. An error means that none of it was or will be computed.
    fn submit(&mut self, batch: Arc<Batch<W>>) -> Result<Ticket>;

    /// Waits for a batch. Tickets may be collected in any order, each once.
    fn collect(&mut self, ticket: Ticket) -> Result<W::Report>;
}
