//! Groups of reads in the rounds of their search: chunks that are ready for engines, and scores
//! that return.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use crate::engine::Work;
use crate::engine::ordered::ReorderWindow;
use crate::engine::owner::BatchOutcome;
use crate::engine::queue::QueuedChunk;
use crate::error::{Error, Result};
use crate::papara::search::{EdgeSearch, SearchRound, UnionTree};
use crate::papara::{Phylo, PhyloBlock, PhyloChunk};
use crate::score::PhyloScheme;
use crate::seq::{QueryStrands, ReadChunk, SequenceId, SequenceStore, Strand};

/// Reads that go through the rounds together.
pub(super) struct ReadGroup {
    /// Index of the group among all groups.
    pub index: usize,
    /// The reads.
    pub reads: ReadChunk,
    /// The strands of the reads.
    pub store: Arc<SequenceStore>,
    /// State of the search for each read.
    pub searches: Vec<EdgeSearch>,
}

/// A planned chunk whose scores are arriving.
struct PlannedRound {
    group: usize,
    round: SearchRound,
    pairs_left: u64,
}

/// Planned chunks that the queue has not taken yet.
struct ReadyChunks {
    chunks: Mutex<VecDeque<QueuedChunk<Phylo>>>,
    window: Arc<ReorderWindow>,
}

impl ReadyChunks {
    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<QueuedChunk<Phylo>>> {
        // No code under the lock panics.
        self.chunks.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Groups in their rounds.
pub(super) struct Rounds<'a> {
    union_tree: &'a UnionTree,
    scheme: Arc<PhyloScheme>,
    strands: QueryStrands,
    ready: Arc<ReadyChunks>,
    /// Number of chunks planned so far.
    planned: usize,
    groups: HashMap<usize, ReadGroup>,
    open: HashMap<usize, PlannedRound>,
}

impl<'a> Rounds<'a> {
    /// Creates the rounds without a group.
    pub(super) fn new(union_tree: &'a UnionTree, scheme: &Arc<PhyloScheme>, strands: QueryStrands) -> Self {
        let ready = ReadyChunks { chunks: Mutex::default(), window: Arc::new(ReorderWindow::closed()) };
        Rounds {
            union_tree,
            scheme: Arc::clone(scheme),
            strands,
            ready: Arc::new(ready),
            planned: 0,
            groups: HashMap::new(),
            open: HashMap::new(),
        }
    }

    /// Returns the states that reads are scored against.
    pub(super) fn union_tree(&self) -> &'a UnionTree {
        self.union_tree
    }

    /// Returns the strands of reads that are scored.
    pub(super) fn strands(&self) -> QueryStrands {
        self.strands
    }

    /// Returns the limit on planning chunks.
    pub(super) fn window(&self) -> Arc<ReorderWindow> {
        Arc::clone(&self.ready.window)
    }

    /// Returns the chunks in the order of their planning. A caller that asks for more chunks than
    /// [`Rounds::window`] allows gets `None`.
    pub(super) fn chunks(&self) -> impl Iterator<Item = QueuedChunk<Phylo>> + Send + 'static {
        let ready = Arc::clone(&self.ready);
        std::iter::from_fn(move || ready.lock().pop_front())
    }

    /// Returns the number of groups in progress.
    pub(super) fn len(&self) -> usize {
        self.groups.len()
    }

    /// Ends the chunks if all groups are complete. The caller repeats the call once no further
    /// group follows.
    pub(super) fn end(&self) {
        if self.groups.is_empty() {
            self.ready.window.open(usize::MAX);
        }
    }

    /// Starts a group. Returns it if it has nothing to score.
    pub(super) fn begin(&mut self, index: usize, reads: ReadChunk) -> Option<ReadGroup> {
        let searches = (0..reads.store.len()).map(|_| EdgeSearch::new(self.union_tree.heights())).collect();
        let group = ReadGroup { index, store: self.strands.store(&reads.store), reads, searches };
        self.plan(group, Some(SearchRound::All))
    }

    /// Takes the scores of a chunk. Returns its group if that was the last round.
    pub(super) fn take(&mut self, outcome: &BatchOutcome<Phylo>) -> Result<Option<ReadGroup>> {
        let index = outcome.chunk.index;
        let gone = || Error::Internal(format!("chunk {index} is not open"));
        let chunk = self.open.get_mut(&index).ok_or_else(gone)?;
        let group = self.groups.get_mut(&chunk.group).ok_or_else(gone)?;
        chunk.pairs_left = chunk.pairs_left.checked_sub(outcome.pairs).ok_or_else(gone)?;
        let level = chunk.round.height(self.union_tree.heights());
        let (batch, mut rest) = (&outcome.batch, &outcome.report.scores[..]);
        for (index, block) in batch.blocks.iter().enumerate() {
            let (block_scores, others) = rest.split_at(block.positions.len());
            rest = others;
            if outcome.report.unfinished.contains(&index) {
                continue;
            }
            let (read, strand) = self.strands.sequence_of(block.read);
            let search = &mut group.searches[read as usize];
            for (octet_index, scores) in block.positions.clone().zip(block_scores) {
                search.take(self.union_tree, level, batch.chunk.octet(octet_index), strand, scores);
            }
        }
        if chunk.pairs_left > 0 {
            return Ok(None);
        }
        let PlannedRound { group, round, .. } = self.open.remove(&index).ok_or_else(gone)?;
        let group = self.groups.remove(&group).ok_or_else(gone)?;
        Ok(self.plan(group, round.next(self.union_tree.heights())))
    }

    /// Plans the next round of a group that has something to score. Returns the group after its
    /// last round.
    fn plan(&mut self, mut group: ReadGroup, mut round: Option<SearchRound>) -> Option<ReadGroup> {
        while let Some(current) = round {
            let (chunk, blocks) = self.chunk(&mut group, current);
            let pairs: u64 = blocks.iter().map(|(_, block)| Phylo::pairs(block)).sum();
            if pairs > 0 {
                let first = group.reads.first as SequenceId;
                let range = first..first + group.reads.store.len() as SequenceId;
                self.open.insert(self.planned, PlannedRound { group: group.index, round: current, pairs_left: pairs });
                self.groups.insert(group.index, group);
                self.planned += 1;
                self.ready.lock().push_back((range, Arc::new(chunk), blocks));
                self.ready.window.open(self.planned);
                return None;
            }
            round = current.next(self.union_tree.heights());
        }
        Some(group)
    }

    /// Returns the chunk of a round: its reads and vectors, and a block for each read.
    fn chunk(&self, group: &mut ReadGroup, round: SearchRound) -> (PhyloChunk, Vec<((), PhyloBlock)>) {
        let vectors = Arc::clone(self.union_tree.vectors(round.height(self.union_tree.heights())));
        let (mut octets, mut blocks) = (Vec::new(), Vec::new());
        let mut chunk =
            PhyloChunk { reads: Arc::clone(&group.store), vectors, scheme: Arc::clone(&self.scheme), octets: None };
        if round == SearchRound::All {
            for read in (0..group.store.len() as SequenceId).filter(|&read| group.store.length(read) > 0) {
                let positions = 0..chunk.vectors.octets();
                blocks.push(((), PhyloBlock { read, positions, octet_cells: chunk.cells(read) }));
            }
            return (chunk, blocks);
        }
        for (read, search) in (0..).zip(&mut group.searches) {
            let mut open = search.next_octets(self.union_tree, round);
            open.sort_unstable();
            for strand_octets in open.chunk_by(|one, other| one.0 == other.0) {
                let start = octets.len() as u32;
                octets.extend(strand_octets.iter().map(|(_, octet)| *octet));
                let strand: Strand = strand_octets[0].0;
                let read = self.strands.query(read, strand);
                let block = PhyloBlock { read, positions: start..octets.len() as u32, octet_cells: chunk.cells(read) };
                blocks.push(((), block));
            }
        }
        chunk.octets = Some(octets.into());
        (chunk, blocks)
    }
}
