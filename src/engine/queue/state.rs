//! State of a queue: future chunks, piles of waiting blocks, and leases of blocks that engines
//! compute.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::pile::{Pile, TakenBlocks, next_pair_cells, take_blocks};
use super::{ChunkInfo, ChunkSource, WorkLease};
use crate::engine::heartbeat::{Heartbeat, WatchClock};
use crate::engine::ordered::ReorderWindow;
use crate::engine::sizing::{PendingWork, Sizing};
use crate::engine::{Batch, Capacity, Portion, Work};
use crate::seq::SequenceId;

/// Source of future chunks. One puller at a time plans the next chunk, without the lock.
pub(super) enum ChunkSupply<W: Work> {
    /// More chunks may follow.
    More(BoxedSource<W>),
    /// A puller plans the next chunk.
    Planning,
    /// No more chunks follow.
    Ended,
    /// Planning panicked. The source is not used again, because it may have lost chunks.
    Broken,
}

pub(super) type BoxedSource<W> = Box<dyn ChunkSource<W>>;

/// Error of an engine for which no pile has work.
pub(super) struct NoPile;

/// Result of looking for work for an engine.
pub(super) enum TakeResult<W: Work> {
    Work(WorkLease<W>),
    /// The caller must plan the next chunk.
    Unplanned(BoxedSource<W>),
    /// Another puller is about to add a chunk.
    Planning,
    Nothing,
}

pub(super) struct QueueState<W: Work> {
    pub(super) chunks: ChunkSupply<W>,
    pub(super) next_chunk: usize,
    pub(super) piles: VecDeque<Pile<W>>,
    pub(super) leases: BTreeMap<u64, WorkLease<W>>,
    pub(super) next_lease: u64,
    pub(super) remaining_cells: u64,
    /// Whether the size of future chunks is unknown. Chunks then add their cells to
    /// `remaining_cells` when they are planned.
    pub(super) is_open_ended: bool,
    /// Cells of chunks that are certain to follow but not planned yet.
    pub(super) pending_cells: Arc<AtomicU64>,
    /// Whether the source has ever had no chunk when asked. Waiting engines then ask it more often.
    pub(super) is_supplied: bool,
    /// Whether the queue may still receive blocks from outside.
    pub(super) is_fed: bool,
    pub(super) sizing: Sizing,
    pub(super) universal: Vec<bool>,
    /// Heartbeat of each engine during calls of its device.
    pub(super) heartbeats: Vec<Arc<Heartbeat>>,
    /// Time that the owner spent awake, watching the engines.
    pub(super) watch_clock: Arc<WatchClock>,
    pub(super) stopped: bool,
    pub(super) window: Arc<ReorderWindow>,
}

impl<W: Work> QueueState<W> {
    /// Returns the number of cells that no engine has taken yet.
    pub(super) fn unclaimed_cells(&self) -> u64 {
        self.remaining_cells.saturating_add(self.pending_cells.load(Ordering::Relaxed))
    }

    pub(super) fn is_done(&self) -> bool {
        matches!(self.chunks, ChunkSupply::Ended) && !self.is_fed && self.piles.is_empty() && self.leases.is_empty()
    }

    /// Appends a chunk to the piles.
    pub(super) fn add(
        &mut self,
        queries: Range<SequenceId>,
        chunk: Arc<W::Chunk>,
        blocks: Vec<(W::Class, W::Block)>,
        pairs: u64,
    ) {
        if self.is_open_ended {
            let cells: u64 = blocks.iter().map(|(_, block)| W::cells(block)).sum();
            self.remaining_cells = self.remaining_cells.saturating_add(cells);
        }
        let info = Arc::new(ChunkInfo { index: self.next_chunk, queries, pairs });
        self.next_chunk += 1;
        self.piles.push_back(Pile::new(info, chunk, blocks.into(), false));
    }

    /// Returns whether planning panicked and nothing else is left. The job can then only end with
    /// an error.
    pub(super) fn is_broken(&self) -> bool {
        matches!(self.chunks, ChunkSupply::Broken) && self.piles.is_empty() && self.leases.is_empty()
    }

    pub(super) fn take(&mut self, engine: usize, capacity: Capacity, now: f64) -> TakeResult<W> {
        match self.take_planned(engine, capacity, now) {
            Ok(lease) => lease.map_or(TakeResult::Nothing, TakeResult::Work),
            Err(NoPile) if !self.window.admits(self.next_chunk) => TakeResult::Nothing,
            Err(NoPile) => match std::mem::replace(&mut self.chunks, ChunkSupply::Planning) {
                ChunkSupply::More(chunks) => TakeResult::Unplanned(chunks),
                ChunkSupply::Planning => TakeResult::Planning,
                gone => {
                    self.chunks = gone;
                    TakeResult::Nothing
                }
            },
        }
    }

    /// Takes work from the piles. Returns `None` if the work is better left to another engine.
    fn take_planned(&mut self, engine: usize, capacity: Capacity, now: f64) -> Result<Option<WorkLease<W>>, NoPile> {
        let (universal, left) = (self.universal[engine], self.unclaimed_cells());
        loop {
            let index = self.piles.iter().position(|pile| universal || !pile.universal_only);
            let index = index.ok_or(NoPile)?;
            let pile = &mut self.piles[index];
            let Some(next_pair) = next_pair_cells(pile) else {
                self.piles.remove(index);
                continue;
            };
            let (universal_only, is_open_ended) = (pile.universal_only, self.is_open_ended);
            let waiting = PendingWork { cells: left, next_pair, universal_only, is_open_ended };
            let Some(cells) = self.sizing.cells(engine, &capacity, waiting, now) else { return Ok(None) };
            let portion = Portion { cells, pairs: capacity.pairs, target_bytes: capacity.store_bytes };
            let group = self.sizing.min_work(engine).pairs;
            let Some(TakenBlocks { class, blocks, pairs, cells }) = take_blocks(pile, portion, group) else {
                return Ok(None);
            };
            let (info, batch) = (Arc::clone(&pile.info), Arc::new(Batch { chunk: Arc::clone(&pile.chunk), blocks }));
            let lease = WorkLease { id: self.next_lease, engine, info, class, batch, pairs, cells, since: now };
            if pile.blocks.is_empty() {
                self.piles.remove(index);
            }
            self.remaining_cells = self.remaining_cells.saturating_sub(cells);
            self.sizing.record_taken(engine, cells, now);
            self.next_lease += 1;
            self.leases.insert(lease.id, lease.clone());
            return Ok(Some(lease));
        }
    }

    /// Returns the blocks of a lease with the indices `which` to the piles, behind those of older
    /// chunks. Returns the number of their cells.
    pub(super) fn put_back(
        &mut self,
        lease: &WorkLease<W>,
        which: impl Iterator<Item = usize>,
        universal_only: bool,
    ) -> u64 {
        let blocks = which.map(|index| (lease.class, lease.batch.blocks[index].clone()));
        let (info, chunk) = (Arc::clone(&lease.info), Arc::clone(&lease.batch.chunk));
        let pile = Pile::new(info, chunk, blocks.collect(), universal_only);
        let cells: u64 = pile.blocks.iter().map(|(_, block)| W::cells(block)).sum();
        self.remaining_cells = self.remaining_cells.saturating_add(cells);
        if !pile.blocks.is_empty() {
            let older = self.piles.iter().take_while(|other| other.info.index < pile.info.index).count();
            self.piles.insert(older, pile);
        }
        cells
    }
}
