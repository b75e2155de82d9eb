//! The pull queue: engines take work when they are free, and unfinished work returns to the queue.
//!
//! This is the hybrid design of PaPaRa (Alachiotis, Berger and Stamatakis 2013). From one queue of
//! blocks, a CPU thread takes one small piece at a time, and a GPU takes enough to fill it.
//! [`super::sizing`] determines the size of a piece, and [`Capacity`] limits it to the memory of
//! the device. A launch has at most `pairs` pairs. If the sequences exceed `store_bytes`, a launch
//! has one block, whose targets fit. The number of sequences per launch therefore follows the
//! memory, as in that paper.
//!
//! The queue keeps every [`WorkLease`] until its engine finishes it. If the engine fails or does
//! not answer, its work returns to the queue, and its later reports are ignored.
//! [`super::owner::run`] runs a job.

mod pile;
mod source;
mod state;

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use self::pile::Pile;
pub use self::source::{ChunkSource, Upcoming};
use self::state::{BoxedSource, ChunkSupply, QueueState, TakeResult};
use super::heartbeat::Heartbeat;
use super::ordered::ReorderWindow;
use super::postprocess::Postprocess;
use super::sizing::{MinWork, Sizing, SpeedRecord};
pub use super::work::ChunkInfo;
use super::{Batch, Capacity, Work};
use crate::seq::SequenceId;

/// Seconds between two checks of the interrupt flag by a thread that waits for work. Setting the
/// flag does not wake threads.
const INTERRUPT_SECONDS: f64 = 0.2;
/// Seconds between two requests to a source of chunks that is empty but not at its end.
const SOURCE_SECONDS: f64 = 0.005;
/// Lowest speed of a device, in cells per second. It is assumed until the speed has been measured.
const MIN_SPEED: f64 = 1e8;

/// Work that an engine holds.
#[derive(Debug, Clone)]
pub struct WorkLease<W: Work> {
    /// Identifier, unique within the queue.
    pub id: u64,
    /// Index of the engine that holds the work.
    pub engine: usize,
    /// The chunk.
    pub info: Arc<ChunkInfo>,
    /// Class of all blocks.
    pub class: W::Class,
    /// The work.
    pub batch: Arc<Batch<W>>,
    /// Number of pairs in the batch. Stored, because counting them visits every block.
    pub pairs: u64,
    /// Number of cells in the batch.
    pub cells: u64,
    /// Start of the lease, in seconds by the queue's clock.
    pub since: f64,
}

/// Returns the seconds since the start of the job.
pub type QueueClock = Box<dyn Fn() -> f64 + Send + Sync>;

/// Returns a clock that starts now.
pub fn wall_clock() -> QueueClock {
    let start = Instant::now();
    Box::new(move || start.elapsed().as_secs_f64())
}

/// Answer of the queue to a pull.
#[derive(Debug)]
pub enum Pull<W: Work> {
    /// Work for the engine.
    Work(WorkLease<W>),
    /// No work for this engine now. Work may return to the queue later.
    Nothing,
    /// No work now or later.
    Finished,
}

/// Duration and end of a finished lease.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeaseEnd {
    /// Seconds that the engine needed for the work.
    pub busy_seconds: f64,
    /// End of the work, in seconds by the queue's clock.
    pub at: f64,
}

/// A chunk with its work: the range of its queries in input order, the data that its blocks share,
/// and the blocks with their classes. The blocks together contain every pair once.
pub type QueuedChunk<W> = (Range<SequenceId>, Arc<<W as Work>::Chunk>, Vec<(<W as Work>::Class, <W as Work>::Block)>);

/// The pairs that were excluded from a chunk before engines see it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExcludedPairs {
    /// Number of pairs.
    pub pairs: u64,
    /// Number of their cells.
    pub cells: u64,
}

impl ExcludedPairs {
    /// Returns the pairs of a chunk's blocks that are not in its remaining blocks.
    pub fn between<W: Work>(all: &[(W::Class, W::Block)], remaining: &[(W::Class, W::Block)]) -> Self {
        let sum = |blocks: &[(W::Class, W::Block)], count: fn(&W::Block) -> u64| {
            blocks.iter().map(|(_, block)| count(block)).sum::<u64>()
        };
        let difference = |count| sum(all, count) - sum(remaining, count);
        ExcludedPairs { pairs: difference(W::pairs), cells: difference(W::cells) }
    }
}

/// The queue that engines pull from.
pub struct WorkQueue<W: Work> {
    state: Mutex<QueueState<W>>,
    changed: Condvar,
    interrupt: Arc<AtomicBool>,
    clock: QueueClock,
    postprocess: Option<Arc<dyn Postprocess<W>>>,
}

impl<W: Work> WorkQueue<W> {
    /// Returns a queue with the work of `chunks`, which have `cells` cells in all.
    pub fn new(chunks: BoxedSource<W>, cells: u64, interrupt: Arc<AtomicBool>, clock: QueueClock) -> Self {
        let state = QueueState {
            chunks: ChunkSupply::More(chunks),
            next_chunk: 0,
            piles: VecDeque::new(),
            leases: BTreeMap::new(),
            next_lease: 0,
            remaining_cells: cells,
            is_open_ended: false,
            pending_cells: Arc::default(),
            is_supplied: false,
            is_fed: false,
            sizing: Sizing::new(cells),
            universal: Vec::new(),
            heartbeats: Vec::new(),
            watch_clock: Arc::default(),
            stopped: false,
            window: Arc::default(),
        };
        WorkQueue { state: Mutex::new(state), changed: Condvar::new(), interrupt, clock, postprocess: None }
    }

    /// Returns a queue that receives blocks while it runs ([`WorkQueue::add`]), with about `cells`
    /// cells in all.
    ///
    /// Engines wait for more blocks until the queue is closed ([`WorkQueue::close`]). Its chunks
    /// have no queries, and their number of pairs ([`ChunkInfo::pairs`]) counts only the blocks
    /// that were added first.
    pub fn streaming(cells: u64, interrupt: Arc<AtomicBool>, clock: QueueClock) -> Self {
        let queue = Self::new(Box::new(std::iter::empty()), cells, interrupt, clock).with_unknown_cells();
        queue.lock().is_fed = true;
        queue
    }

    /// Adds blocks to a queue made by [`WorkQueue::streaming`].
    ///
    /// Blocks of the chunk that was added last join its waiting blocks, so that an engine may take
    /// them together. Does nothing if the queue is closed or stopped.
    pub fn add(&self, chunk: &Arc<W::Chunk>, blocks: Vec<(W::Class, W::Block)>) {
        let pairs: u64 = blocks.iter().map(|(_, block)| W::pairs(block)).sum();
        let mut state = self.lock();
        if !state.is_fed || state.stopped || pairs == 0 {
            return;
        }
        let is_last = |pile: &Pile<W>| Arc::ptr_eq(&pile.chunk, chunk) && !pile.universal_only;
        match state.piles.back().is_some_and(is_last) {
            true => {
                let cells: u64 = blocks.iter().map(|(_, block)| W::cells(block)).sum();
                state.remaining_cells = state.remaining_cells.saturating_add(cells);
                state.piles.back_mut().into_iter().for_each(|pile| pile.extend(blocks.iter().cloned()));
            }
            false => state.add(0..0, Arc::clone(chunk), blocks, pairs),
        }
        self.changed.notify_all();
    }

    /// Closes a queue made by [`WorkQueue::streaming`]: no more blocks will be added.
    pub fn close(&self) {
        self.lock().is_fed = false;
        self.changed.notify_all();
    }

    /// Limits how far ahead chunks are planned. Without this call there is no limit.
    pub fn with_window(self, window: Arc<ReorderWindow>) -> Self {
        self.lock().window = window;
        self
    }

    /// Postprocesses reports on the threads of their engines.
    pub fn with_postprocessing(self, postprocess: Option<Arc<dyn Postprocess<W>>>) -> Self {
        WorkQueue { postprocess, ..self }
    }

    /// Returns whether reports are postprocessed.
    pub fn is_postprocessing(&self) -> bool {
        self.postprocess.is_some()
    }

    /// Postprocesses a report, if the job requests it.
    pub fn postprocess(
        &self,
        lease: &WorkLease<W>,
        report: W::Report,
        helpers: Option<&rayon::ThreadPool>,
    ) -> W::Report {
        match &self.postprocess {
            Some(postprocess) => postprocess.postprocess(&lease.batch, report, helpers),
            None => report,
        }
    }

    /// Declares that the size of future chunks is unknown. Only the cells of planned chunks are
    /// then divided among the engines.
    pub fn with_unknown_cells(self) -> Self {
        {
            let mut state = self.lock();
            (state.is_open_ended, state.remaining_cells) = (true, 0);
        }
        self
    }

    /// Shares a counter of the cells in chunks that are certain to follow but not yet planned. The
    /// caller updates the counter.
    pub fn with_coming(self, cells: Arc<AtomicU64>) -> Self {
        self.lock().pending_cells = cells;
        self
    }

    fn lock(&self) -> MutexGuard<'_, QueueState<W>> {
        // Code under the lock does not panic, because chunks are planned without it.
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Adds an engine and returns its index. `universal` states whether the engine accepts every
    /// batch.
    pub fn join(&self, universal: bool, min_work: MinWork) -> usize {
        self.join_with_speed(universal, min_work, SpeedRecord::default(), None)
    }

    /// Adds an engine like [`WorkQueue::join`], with its speed in an earlier queue and its kind
    /// ([`super::Engine::kind`]).
    pub fn join_with_speed(
        &self,
        universal: bool,
        min_work: MinWork,
        record: SpeedRecord,
        kind: Option<&str>,
    ) -> usize {
        let mut state = self.lock();
        state.universal.push(universal);
        let heartbeat = Arc::new(Heartbeat::new(&state.watch_clock));
        state.heartbeats.push(heartbeat);
        state.sizing.join_with_speed(universal, min_work, record, kind)
    }

    /// Returns the measured speed of an engine.
    pub fn speed_record(&self, engine: usize) -> SpeedRecord {
        self.lock().sizing.speed_record(engine)
    }

    /// Returns work for an engine: up to its capacity, and up to a fair share near the end. With
    /// `wait`, sleeps until there is work or the queue is finished.
    pub fn pull(&self, engine: usize, capacity: Capacity, wait: bool) -> Pull<W> {
        let mut state = self.lock();
        loop {
            if state.stopped || !state.sizing.is_present(engine) || self.interrupt.load(Ordering::Relaxed) {
                return Pull::Finished;
            }
            let is_planning = match state.take(engine, capacity, (self.clock)()) {
                TakeResult::Work(lease) => return Pull::Work(lease),
                TakeResult::Unplanned(chunks) => {
                    drop(state);
                    let is_planned = self.plan(chunks);
                    state = self.lock();
                    if is_planned {
                        continue;
                    }
                    state.is_supplied = true;
                    false
                }
                TakeResult::Planning => true,
                TakeResult::Nothing => false,
            };
            if state.is_done() || state.is_broken() {
                self.changed.notify_all();
                return Pull::Finished;
            }
            // Another thread plans a chunk. Waiting for it is worthwhile even for an engine that
            // has work.
            if !wait && !is_planning {
                return Pull::Nothing;
            }
            let patience = if state.is_supplied { SOURCE_SECONDS } else { INTERRUPT_SECONDS };
            state = self
                .changed
                .wait_timeout(state, Duration::from_secs_f64(patience))
                .unwrap_or_else(|poisoned| poisoned.into_inner())
                .0;
        }
    }

    /// Plans the next chunk that has pairs and adds it to the piles of waiting blocks. Planning
    /// sorts and copies, so it runs without the lock. Returns false if the source has no chunk now.
    fn plan(&self, mut chunks: BoxedSource<W>) -> bool {
        /// Returns the source to the queue and wakes waiting threads when planning ends, even by a
        /// panic.
        struct PlanningGuard<'a, W: Work> {
            queue: &'a WorkQueue<W>,
            chunks: ChunkSupply<W>,
            wakes_others: bool,
        }
        impl<W: Work> Drop for PlanningGuard<'_, W> {
            fn drop(&mut self) {
                self.queue.lock().chunks = std::mem::replace(&mut self.chunks, ChunkSupply::Ended);
                // After an empty answer, woken threads would query the source again without a
                // pause.
                if self.wakes_others {
                    self.queue.changed.notify_all();
                }
            }
        }
        let mut guard = PlanningGuard { queue: self, chunks: ChunkSupply::Broken, wakes_others: true };
        let (queries, chunk, blocks, pairs) = loop {
            match chunks.next_chunk() {
                Upcoming::Chunk((queries, chunk, blocks)) => {
                    let pairs: u64 = blocks.iter().map(|(_, block)| W::pairs(block)).sum();
                    if pairs > 0 {
                        break (queries, chunk, blocks, pairs);
                    }
                }
                // More chunks may come while engines still compute the last ones.
                Upcoming::Nothing if self.is_computing() => {
                    (guard.chunks, guard.wakes_others) = (ChunkSupply::More(chunks), false);
                    return false;
                }
                Upcoming::Nothing | Upcoming::End => {
                    guard.chunks = ChunkSupply::Ended;
                    return true;
                }
            }
        };
        self.lock().add(queries, chunk, blocks, pairs);
        guard.chunks = ChunkSupply::More(chunks);
        true
    }

    /// Returns whether work is waiting or held by an engine.
    fn is_computing(&self) -> bool {
        let state = self.lock();
        !(state.piles.is_empty() && state.leases.is_empty())
    }

    /// Ends a lease. Its unfinished blocks go to an engine that accepts every batch. Returns `None`
    /// if the lease was revoked before; its results must then be dropped.
    pub fn finish(&self, lease: &WorkLease<W>, unfinished: &[usize]) -> Option<LeaseEnd> {
        let mut state = self.lock();
        state.leases.remove(&lease.id)?;
        let at = (self.clock)();
        let cells = lease.cells;
        let left = state.put_back(lease, unfinished.iter().copied(), true);
        let busy_seconds = state.sizing.finished(lease.engine, cells, cells - left, lease.since, at);
        self.changed.notify_all();
        Some(LeaseEnd { busy_seconds, at })
    }

    /// Ends a lease that its engine refused. The work goes to an engine that accepts every batch.
    pub fn refuse(&self, lease: &WorkLease<W>) {
        let mut state = self.lock();
        if state.leases.remove(&lease.id).is_some() {
            state.put_back(lease, 0..lease.batch.blocks.len(), true);
            state.sizing.record_return(lease.engine, lease.cells, (self.clock)());
            self.changed.notify_all();
        }
    }

    /// Removes an engine and returns its work to the queue. Returns false if it was already
    /// removed.
    pub fn retire(&self, engine: usize) -> bool {
        let mut state = self.lock();
        if !state.sizing.is_present(engine) {
            return false;
        }
        state.sizing.remove_engine(engine);
        state.heartbeats[engine].abandon();
        let held: Vec<WorkLease<W>> = state.leases.values().filter(|lease| lease.engine == engine).cloned().collect();
        for lease in held.iter().rev() {
            state.leases.remove(&lease.id);
            state.put_back(lease, 0..lease.batch.blocks.len(), false);
        }
        self.changed.notify_all();
        true
    }

    /// Stops the queue: engines get no more work.
    pub fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_all();
    }

    /// Runs a call of an engine's device, which the owner watches. Engines that accept every batch
    /// use no device and are never abandoned.
    pub fn call_watched<T>(&self, engine: usize, call: impl FnOnce() -> T) -> T {
        let state = self.lock();
        let heartbeat = Arc::clone(&state.heartbeats[engine]);
        let expected = (!state.universal[engine]).then(|| state.sizing.expected_seconds(engine, MIN_SPEED));
        if state.sizing.has_speed(engine) {
            heartbeat.mark_ready();
        }
        drop(state);
        heartbeat.begin_call(expected);
        let result = call();
        heartbeat.end_call();
        result
    }

    /// Advances the watch clock by `awake`, the time since the last call while the owner was
    /// running. Returns the engines that are newly overdue, with the duration of their silence.
    ///
    /// An engine is overdue when its silence exceeds both `patience` and 20 times the duration
    /// expected from its speed. Four times as long is allowed until it finishes its first batch,
    /// which includes its start-up. Each engine is returned once.
    pub fn newly_overdue(&self, awake: Duration, patience: Duration) -> Vec<(usize, Duration)> {
        let state = self.lock();
        state.watch_clock.advance(awake);
        let silent =
            |(engine, heartbeat): (usize, &Arc<Heartbeat>)| Some((engine, heartbeat.abandon_if_silent(patience)?));
        state.heartbeats.iter().enumerate().filter_map(silent).collect()
    }

    /// Wakes engines that found no work, because a chunk was delivered and more chunks may be
    /// planned.
    pub fn wake_planners(&self) {
        // The lock ensures that no thread is between its check and its wait.
        let _state = self.lock();
        self.changed.notify_all();
    }

    /// Returns an engine's share of the cells that no engine has taken yet. The shares follow the
    /// speeds of all engines.
    pub fn remaining_for(&self, engine: usize) -> u64 {
        let state = self.lock();
        state.sizing.share(engine, state.unclaimed_cells())
    }

    /// Returns whether any work is waiting, held or still to come.
    pub fn has_work(&self) -> bool {
        !self.lock().is_done()
    }

    /// Returns whether some waiting work is reserved for engines that accept every batch.
    pub fn has_universal_only(&self) -> bool {
        self.lock().piles.iter().any(|pile| pile.universal_only)
    }
}
