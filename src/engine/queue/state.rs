//! What a queue holds: chunks to come, piles of blocks that wait, and leases of those that are computed.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::pile::{Pile, Taking, next_pair_cells, take_blocks};
use super::{ChunkInfo, ChunkSource, Lease};
use crate::engine::ordered::Ahead;
use crate::engine::pulse::{Pulse, WatchClock};
use crate::engine::sizing::{Sizing, Waiting};
use crate::engine::{Batch, Capacity, Portion, Work};
use crate::seq::SequenceId;

/// Chunks yet to come. One puller at a time plans the next, without the lock.
pub(super) enum ChunkSupply<W: Work> {
    /// There may be more.
    More(BoxedSource<W>),
    /// A puller plans the next.
    Planning,
    /// There are no more.
    Ended,
    /// Planning panicked: nobody goes on with chunks that may be missing some.
    Broken,
}

pub(super) type BoxedSource<W> = Box<dyn ChunkSource<W>>;

/// No pile holds work for an engine.
pub(super) struct NoPile;

/// What there is for an engine.
pub(super) enum Taken<W: Work> {
    Work(Lease<W>),
    /// The next chunk has to be planned.
    Unplanned(BoxedSource<W>),
    /// Another puller is about to add a chunk.
    Planning,
    Nothing,
}

pub(super) struct State<W: Work> {
    pub(super) chunks: ChunkSupply<W>,
    pub(super) next_chunk: usize,
    pub(super) piles: VecDeque<Pile<W>>,
    pub(super) leases: BTreeMap<u64, Lease<W>>,
    pub(super) next_lease: u64,
    pub(super) remaining_cells: u64,
    /// Chunks add their cells to `remaining_cells` when they are planned.
    pub(super) is_open_ended: bool,
    /// Cells of chunks that are known of and not planned.
    pub(super) coming: Arc<AtomicU64>,
    /// The source of chunks had none for a while.
    pub(super) is_supplied: bool,
    /// Work may be added from outside.
    pub(super) is_fed: bool,
    pub(super) sizing: Sizing,
    pub(super) universal: Vec<bool>,
    /// Whether each engine answers while it is in a call of its device.
    pub(super) pulses: Vec<Arc<Pulse>>,
    /// Time in which the owner was awake to watch.
    pub(super) watch_clock: Arc<WatchClock>,
    pub(super) stopped: bool,
    pub(super) ahead: Arc<Ahead>,
}

impl<W: Work> State<W> {
    /// Cells that nobody holds.
    pub(super) fn left(&self) -> u64 {
        self.remaining_cells.saturating_add(self.coming.load(Ordering::Relaxed))
    }

    pub(super) fn is_done(&self) -> bool {
        matches!(self.chunks, ChunkSupply::Ended) && !self.is_fed && self.piles.is_empty() && self.leases.is_empty()
    }

    /// A chunk with its pairs waits behind all others.
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

    /// Whether planning panicked and nothing else is left: the job can only end with an error.
    pub(super) fn is_broken(&self) -> bool {
        matches!(self.chunks, ChunkSupply::Broken) && self.piles.is_empty() && self.leases.is_empty()
    }

    pub(super) fn take(&mut self, engine: usize, capacity: Capacity, now: f64) -> Taken<W> {
        match self.take_planned(engine, capacity, now) {
            Ok(lease) => lease.map_or(Taken::Nothing, Taken::Work),
            Err(NoPile) if !self.ahead.admits(self.next_chunk) => Taken::Nothing,
            Err(NoPile) => match std::mem::replace(&mut self.chunks, ChunkSupply::Planning) {
                ChunkSupply::More(chunks) => Taken::Unplanned(chunks),
                ChunkSupply::Planning => Taken::Planning,
                gone => {
                    self.chunks = gone;
                    Taken::Nothing
                }
            },
        }
    }

    /// Work of the piles; `None` where it is fairer that another engine takes what there is.
    fn take_planned(&mut self, engine: usize, capacity: Capacity, now: f64) -> Result<Option<Lease<W>>, NoPile> {
        let (universal, left) = (self.universal[engine], self.left());
        loop {
            let place = self.piles.iter().position(|pile| universal || !pile.universal_only);
            let place = place.ok_or(NoPile)?;
            let pile = &mut self.piles[place];
            let Some(next_pair) = next_pair_cells(pile) else {
                self.piles.remove(place);
                continue;
            };
            let (universal_only, is_open_ended) = (pile.universal_only, self.is_open_ended);
            let waiting = Waiting { cells: left, next_pair, universal_only, is_open_ended };
            let Some(cells) = self.sizing.cells(engine, &capacity, waiting, now) else { return Ok(None) };
            let portion = Portion { cells, pairs: capacity.pairs, target_bytes: capacity.store_bytes };
            let group = self.sizing.least_work(engine).pairs;
            let Some(Taking { class, blocks, pairs, cells }) = take_blocks(pile, portion, group) else {
                return Ok(None);
            };
            let (info, batch) = (Arc::clone(&pile.info), Arc::new(Batch { chunk: Arc::clone(&pile.chunk), blocks }));
            let lease = Lease { id: self.next_lease, engine, info, class, batch, pairs, cells, since: now };
            if pile.blocks.is_empty() {
                self.piles.remove(place);
            }
            self.remaining_cells = self.remaining_cells.saturating_sub(cells);
            self.sizing.took(engine, cells, now);
            self.next_lease += 1;
            self.leases.insert(lease.id, lease.clone());
            return Ok(Some(lease));
        }
    }

    /// Some blocks of a lease wait again, before all others but those of older chunks; gives their cells.
    pub(super) fn put_back(
        &mut self,
        lease: &Lease<W>,
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
