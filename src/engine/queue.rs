//! The pull queue: engines take work when they are free, and work that an engine does not finish goes back for another.
//!
//! The hybrid design of PaPaRa (Alachiotis, Berger and Stamatakis 2013): one queue of blocks, from which every CPU thread
//! takes one piece at a time for itself, and every GPU as much as fills it. How much that is, [`super::sizing`] says;
//! what fits the device's memory, [`Capacity`]: a launch has at most `pairs` pairs, and of a store above `store_bytes`
//! one block whose targets fit, so that the sequences per launch follow the memory as in that paper.
//!
//! Work is lent: the queue keeps every [`Lease`] until its engine finishes it. What an engine holds when it fails, or
//! does not answer, goes back, and what it says about it later counts for nothing. [`super::owner::run`] runs a job.

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
use self::state::{BoxedSource, ChunkSupply, State, Taken};
use super::ordered::Ahead;
use super::pulse::Pulse;
use super::settle::Settle;
use super::sizing::{LeastWork, Shown, Sizing};
pub use super::work::ChunkInfo;
use super::{Batch, Capacity, Work};
use crate::seq::SequenceId;

/// How often a thread that waits for work looks whether the job was interrupted, which nobody signals.
const INTERRUPT_SECONDS: f64 = 0.2;
/// The same of chunks, where some may come while others are computed.
const SOURCE_SECONDS: f64 = 0.005;
/// Cells a second below which no device is thought to be before it has shown its speed.
const MIN_SPEED: f64 = 1e8;

/// Work that an engine holds.
#[derive(Debug, Clone)]
pub struct Lease<W: Work> {
    /// Names it; every lease of a queue has its own number.
    pub id: u64,
    /// Who holds it.
    pub engine: usize,
    /// The chunk.
    pub info: Arc<ChunkInfo>,
    /// The class of all blocks.
    pub class: W::Class,
    /// The work.
    pub batch: Arc<Batch<W>>,
    /// Its pairs: it may have many blocks to count through.
    pub pairs: u64,
    /// Its cells.
    pub cells: u64,
    /// When it was taken, in seconds by the queue's clock.
    pub since: f64,
}

/// Seconds since the job began.
pub type Clock = Box<dyn Fn() -> f64 + Send + Sync>;

/// A clock that begins now.
pub fn wall_clock() -> Clock {
    let begin = Instant::now();
    Box::new(move || begin.elapsed().as_secs_f64())
}

/// How the queue answers a pull.
#[derive(Debug)]
pub enum Pull<W: Work> {
    /// Work.
    Work(Lease<W>),
    /// None for this engine now; some may come back.
    Nothing,
    /// None, and none will come.
    Finished,
}

/// When a finished lease ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Finished {
    /// Seconds that the engine needed for it.
    pub busy_seconds: f64,
    /// When, in seconds by the queue's clock.
    pub at: f64,
}

/// A chunk with its work: its queries in input order, what its blocks share, and the blocks, which together hold every
/// pair once.
pub type Planned<W> = (Range<SequenceId>, Arc<<W as Work>::Chunk>, Vec<(<W as Work>::Class, <W as Work>::Block)>);

/// The queue that engines pull from.
pub struct WorkQueue<W: Work> {
    state: Mutex<State<W>>,
    changed: Condvar,
    interrupt: Arc<AtomicBool>,
    clock: Clock,
    settle: Option<Arc<dyn Settle<W>>>,
}

impl<W: Work> WorkQueue<W> {
    /// The work of `chunks`, of `cells` cells in all.
    pub fn new(chunks: BoxedSource<W>, cells: u64, interrupt: Arc<AtomicBool>, clock: Clock) -> Self {
        let state = State {
            chunks: ChunkSupply::More(chunks),
            next_chunk: 0,
            piles: VecDeque::new(),
            leases: BTreeMap::new(),
            next_lease: 0,
            remaining_cells: cells,
            is_open_ended: false,
            coming: Arc::default(),
            is_supplied: false,
            is_fed: false,
            sizing: Sizing::new(cells),
            universal: Vec::new(),
            pulses: Vec::new(),
            watch_clock: Arc::default(),
            stopped: false,
            ahead: Arc::default(),
        };
        WorkQueue { state: Mutex::new(state), changed: Condvar::new(), interrupt, clock, settle: None }
    }

    /// A queue that blocks are added to while it runs ([`WorkQueue::add`]), of about so many cells in all. Engines wait for more
    /// until it is closed ([`WorkQueue::close`]). Its chunks have no queries, and what is known of their pairs
    /// ([`ChunkInfo::pairs`]) are those that were added first.
    pub fn fed(cells: u64, interrupt: Arc<AtomicBool>, clock: Clock) -> Self {
        let queue = Self::new(Box::new(std::iter::empty()), cells, interrupt, clock).with_unknown_cells();
        queue.lock().is_fed = true;
        queue
    }

    /// Adds blocks that became ready; with those that wait, if they share a chunk, so that an engine may take them together.
    /// Nothing, if the queue was closed or stopped.
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

    /// Nothing will be added any more.
    pub fn close(&self) {
        self.lock().is_fed = false;
        self.changed.notify_all();
    }

    /// Plans chunks no further than this allows; before, nothing bounds it.
    pub fn with_ahead(self, ahead: Arc<Ahead>) -> Self {
        self.lock().ahead = ahead;
        self
    }

    /// Reports are settled by this, beside their engines.
    pub fn with_settling(self, settle: Option<Arc<dyn Settle<W>>>) -> Self {
        WorkQueue { settle, ..self }
    }

    /// Whether reports are settled.
    pub fn is_settling(&self) -> bool {
        self.settle.is_some()
    }

    /// Settles a report, if the job wants that.
    pub fn settle(&self, lease: &Lease<W>, report: W::Report, helpers: Option<&rayon::ThreadPool>) -> W::Report {
        match &self.settle {
            Some(settle) => settle.settle(&lease.batch, report, helpers),
            None => report,
        }
    }

    /// Nobody knows what the chunks to come hold: only the cells of those that are planned are shared out.
    pub fn with_unknown_cells(self) -> Self {
        {
            let mut state = self.lock();
            (state.is_open_ended, state.remaining_cells) = (true, 0);
        }
        self
    }

    /// So many cells, which others count, are sure to be in chunks to come.
    pub fn with_coming(self, cells: Arc<AtomicU64>) -> Self {
        self.lock().coming = cells;
        self
    }

    fn lock(&self) -> MutexGuard<'_, State<W>> {
        // Nothing that is done under the lock is expected to panic: chunks are planned without it.
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// An engine joins; its number. `universal`: it takes any batch.
    pub fn join(&self, universal: bool, least_work: LeastWork) -> usize {
        self.join_known(universal, least_work, Shown::default(), None)
    }

    /// As [`WorkQueue::join`], of an engine that has shown something in another queue, or is of a kind ([`super::Engine::kind`]).
    pub fn join_known(&self, universal: bool, least_work: LeastWork, shown: Shown, kind: Option<&str>) -> usize {
        let mut state = self.lock();
        state.universal.push(universal);
        let pulse = Arc::new(Pulse::new(&state.watch_clock));
        state.pulses.push(pulse);
        state.sizing.join_known(universal, least_work, shown, kind)
    }

    /// What an engine has shown so far.
    pub fn shown(&self, engine: usize) -> Shown {
        self.lock().sizing.shown(engine)
    }

    /// Work for an engine, as much as it likes and is fair near the end. `wait`: sleep until there is some or the queue
    /// is finished.
    pub fn pull(&self, engine: usize, capacity: Capacity, wait: bool) -> Pull<W> {
        let mut state = self.lock();
        loop {
            if state.stopped || !state.sizing.is_present(engine) || self.interrupt.load(Ordering::Relaxed) {
                return Pull::Finished;
            }
            let is_planning = match state.take(engine, capacity, (self.clock)()) {
                Taken::Work(lease) => return Pull::Work(lease),
                Taken::Unplanned(chunks) => {
                    drop(state);
                    let is_settled = self.plan(chunks);
                    state = self.lock();
                    if is_settled {
                        continue;
                    }
                    state.is_supplied = true;
                    false
                }
                Taken::Planning => true,
                Taken::Nothing => false,
            };
            if state.is_done() || state.is_broken() {
                self.changed.notify_all();
                return Pull::Finished;
            }
            // A chunk that is about to come is worth a moment even to an engine that has work.
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

    /// Takes the next chunk with pairs into the piles. Planning sorts and copies, so that it is done without the lock. Gives
    /// false if there is none now.
    fn plan(&self, mut chunks: BoxedSource<W>) -> bool {
        /// Says how planning ended, in whatever way, and wakes those who wait for it.
        struct AtTheEnd<'a, W: Work>(&'a WorkQueue<W>, ChunkSupply<W>, bool);
        impl<W: Work> Drop for AtTheEnd<'_, W> {
            fn drop(&mut self) {
                self.0.lock().chunks = std::mem::replace(&mut self.1, ChunkSupply::Ended);
                // Where nothing came of it, those who wait would only ask one after the other without a pause.
                if self.2 {
                    self.0.changed.notify_all();
                }
            }
        }
        let mut end = AtTheEnd(self, ChunkSupply::Broken, true);
        let (queries, chunk, blocks, pairs) = loop {
            match chunks.next_chunk() {
                Upcoming::Chunk((queries, chunk, blocks)) => {
                    let pairs: u64 = blocks.iter().map(|(_, block)| W::pairs(block)).sum();
                    if pairs > 0 {
                        break (queries, chunk, blocks, pairs);
                    }
                }
                // Who computes now may still be at it when more comes.
                Upcoming::Nothing if self.is_computing() => {
                    (end.1, end.2) = (ChunkSupply::More(chunks), false);
                    return false;
                }
                Upcoming::Nothing | Upcoming::End => {
                    end.1 = ChunkSupply::Ended;
                    return true;
                }
            }
        };
        self.lock().add(queries, chunk, blocks, pairs);
        end.1 = ChunkSupply::More(chunks);
        true
    }

    /// Whether any work was given out that is not done.
    fn is_computing(&self) -> bool {
        let state = self.lock();
        !(state.piles.is_empty() && state.leases.is_empty())
    }

    /// A lease is done but for these of its blocks, which go to an engine that takes everything. `None` if it was taken
    /// from the engine before: the results are not wanted.
    pub fn finish(&self, lease: &Lease<W>, unfinished: &[usize]) -> Option<Finished> {
        let mut state = self.lock();
        state.leases.remove(&lease.id)?;
        let at = (self.clock)();
        let cells = lease.cells;
        let left = state.put_back(lease, unfinished.iter().copied(), true);
        let busy_seconds = state.sizing.finished(lease.engine, cells, cells - left, lease.since, at);
        self.changed.notify_all();
        Some(Finished { busy_seconds, at })
    }

    /// A lease does not suit its engine: it goes to one that takes everything.
    pub fn refuse(&self, lease: &Lease<W>) {
        let mut state = self.lock();
        if state.leases.remove(&lease.id).is_some() {
            state.put_back(lease, 0..lease.batch.blocks.len(), true);
            state.sizing.gave_back(lease.engine, lease.cells, (self.clock)());
            self.changed.notify_all();
        }
    }

    /// An engine is gone; what it holds goes back. Gives false if it was gone before.
    pub fn retire(&self, engine: usize) -> bool {
        let mut state = self.lock();
        if !state.sizing.is_present(engine) {
            return false;
        }
        state.sizing.leave(engine);
        state.pulses[engine].give_up();
        let held: Vec<Lease<W>> = state.leases.values().filter(|lease| lease.engine == engine).cloned().collect();
        for lease in held.iter().rev() {
            state.leases.remove(&lease.id);
            state.put_back(lease, 0..lease.batch.blocks.len(), false);
        }
        self.changed.notify_all();
        true
    }

    /// No more work for anybody.
    pub fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_all();
    }

    /// Runs a call of an engine's device, which the owner watches. Engines that take everything wait for no device and are
    /// never given up.
    pub fn watched<T>(&self, engine: usize, call: impl FnOnce() -> T) -> T {
        let state = self.lock();
        let pulse = Arc::clone(&state.pulses[engine]);
        let expected = (!state.universal[engine]).then(|| state.sizing.expected_seconds(engine, MIN_SPEED));
        if state.sizing.has_shown(engine) {
            pulse.show();
        }
        drop(state);
        pulse.begin(expected);
        let result = call();
        pulse.end();
        result
    }

    /// Counts `awake` as time in which the owner watched. Returns the engines that are silent for longer than they may, and
    /// for how long: more than `patience` and than 20 times what is expected by their speed (their first batch, in which
    /// they get ready, four times as long). Each is returned once.
    pub fn overdue(&self, awake: Duration, patience: Duration) -> Vec<(usize, Duration)> {
        let state = self.lock();
        state.watch_clock.advance(awake);
        let silent = |(engine, pulse): (usize, &Arc<Pulse>)| Some((engine, pulse.give_up_if_silent(patience)?));
        state.pulses.iter().enumerate().filter_map(silent).collect()
    }

    /// A chunk was given out: engines that found nothing to do may plan again.
    pub fn look_again(&self) {
        // With the lock, so that nobody is between looking and waiting.
        let _state = self.lock();
        self.changed.notify_all();
    }

    /// Cells that nobody holds yet and that an engine may expect to be its own, by what it and the others do in a second.
    pub fn remaining_for(&self, engine: usize) -> u64 {
        let state = self.lock();
        state.sizing.share(engine, state.left())
    }

    /// Whether work is left, waiting or held.
    pub fn has_work(&self) -> bool {
        !self.lock().is_done()
    }

    /// Whether work waits that only an engine that takes everything may take.
    pub fn has_universal_only(&self) -> bool {
        self.lock().piles.iter().any(|pile| pile.universal_only)
    }
}
