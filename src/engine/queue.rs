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

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use self::pile::{Pile, next_pair_cells, take_blocks};
pub use self::source::{BandSource, Upcoming};
use super::ordered::Ahead;
use super::sizing::{LeastWork, Shown, Sizing, Waiting};
use super::{Batch, Capacity, Portion, Work};
use crate::seq::SequenceId;

/// How often a thread that waits for work looks whether the job was interrupted, which nobody signals.
const INTERRUPT_SECONDS: f64 = 0.2;
/// The same of bands, where some may come while others are computed.
const SOURCE_SECONDS: f64 = 0.005;
/// Cells a second below which no device is thought to be before it has shown its speed.
const LEAST_SPEED: f64 = 1e8;

/// A band as the caller sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BandInfo {
    /// Position among the bands that have pairs.
    pub index: usize,
    /// Its queries in input order.
    pub queries: Range<SequenceId>,
    /// Its pairs.
    pub pairs: u64,
}

/// Work that an engine holds.
#[derive(Debug, Clone)]
pub struct Lease<W: Work> {
    /// Names it; every lease of a queue has its own number.
    pub id: u64,
    /// Who holds it.
    pub engine: usize,
    /// The band.
    pub info: Arc<BandInfo>,
    /// The class of all blocks.
    pub class: W::Class,
    /// The work.
    pub batch: Arc<Batch<W>>,
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

/// A band with its work: its queries in input order, what its blocks share, and the blocks, which together hold every
/// pair once.
pub type Planned<W> = (Range<SequenceId>, Arc<<W as Work>::Band>, Vec<(<W as Work>::Class, <W as Work>::Block)>);

/// Bands yet to come. One puller at a time plans the next, without the lock.
enum Bands<W: Work> {
    /// There may be more.
    More(BoxedSource<W>),
    /// A puller plans the next.
    Planning,
    /// There are no more.
    Ended,
    /// Planning panicked: nobody goes on with bands that may be missing some.
    Broken,
}

type BoxedSource<W> = Box<dyn BandSource<W>>;

/// No pile holds work for an engine.
struct NoPile;

/// What there is for an engine.
enum Taken<W: Work> {
    Work(Lease<W>),
    /// The next band has to be planned.
    Unplanned(BoxedSource<W>),
    /// Another puller is about to add a band.
    Planning,
    Nothing,
}

struct State<W: Work> {
    bands: Bands<W>,
    next_band: usize,
    piles: VecDeque<Pile<W>>,
    leases: BTreeMap<u64, Lease<W>>,
    next_lease: u64,
    remaining_cells: u64,
    /// Bands add their cells to `remaining_cells` when they are planned.
    is_open_ended: bool,
    /// Cells of bands that are known of and not planned.
    coming: Arc<AtomicU64>,
    /// The source of bands had none for a while.
    is_supplied: bool,
    /// Work may be added from outside.
    is_fed: bool,
    sizing: Sizing,
    universal: Vec<bool>,
    /// Since when each engine is in a call of its device, by `watched`.
    calls: Vec<Option<Duration>>,
    /// Time in which the owner was awake to watch.
    watched: Duration,
    stopped: bool,
    ahead: Arc<Ahead>,
}

/// The queue that engines pull from.
pub struct WorkQueue<W: Work> {
    state: Mutex<State<W>>,
    changed: Condvar,
    interrupt: Arc<AtomicBool>,
    clock: Clock,
}

impl<W: Work> WorkQueue<W> {
    /// The work of `bands`, of `cells` cells in all.
    pub fn new(bands: BoxedSource<W>, cells: u64, interrupt: Arc<AtomicBool>, clock: Clock) -> Self {
        let state = State {
            bands: Bands::More(bands),
            next_band: 0,
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
            calls: Vec::new(),
            watched: Duration::ZERO,
            stopped: false,
            ahead: Arc::default(),
        };
        WorkQueue { state: Mutex::new(state), changed: Condvar::new(), interrupt, clock }
    }

    /// A queue that blocks are added to while it runs ([`WorkQueue::add`]), of about so many cells in all. Engines wait for more
    /// until it is closed ([`WorkQueue::close`]). Its bands have no queries, and what is known of their pairs
    /// ([`BandInfo::pairs`]) are those that were added first.
    pub fn fed(cells: u64, interrupt: Arc<AtomicBool>, clock: Clock) -> Self {
        let queue = Self::new(Box::new(std::iter::empty()), cells, interrupt, clock).with_unknown_cells();
        queue.lock().is_fed = true;
        queue
    }

    /// Adds blocks that became ready; with those that wait, if they share a band, so that an engine may take them together.
    /// Nothing, if the queue was closed or stopped.
    pub fn add(&self, band: &Arc<W::Band>, blocks: Vec<(W::Class, W::Block)>) {
        let pairs: u64 = blocks.iter().map(|(_, block)| W::pairs(block)).sum();
        let mut state = self.lock();
        if !state.is_fed || state.stopped || pairs == 0 {
            return;
        }
        let is_last = |pile: &Pile<W>| Arc::ptr_eq(&pile.band, band) && !pile.universal_only;
        match state.piles.back().is_some_and(is_last) {
            true => {
                let cells: u64 = blocks.iter().map(|(_, block)| W::cells(block)).sum();
                state.remaining_cells = state.remaining_cells.saturating_add(cells);
                state.piles.back_mut().into_iter().for_each(|pile| pile.blocks.extend(blocks.iter().cloned()));
            }
            false => state.add(0..0, Arc::clone(band), blocks, pairs),
        }
        self.changed.notify_all();
    }

    /// Nothing will be added any more.
    pub fn close(&self) {
        self.lock().is_fed = false;
        self.changed.notify_all();
    }

    /// Plans bands no further than this allows; before, nothing bounds it.
    pub fn with_ahead(self, ahead: Arc<Ahead>) -> Self {
        self.lock().ahead = ahead;
        self
    }

    /// Nobody knows what the bands to come hold: only the cells of those that are planned are shared out.
    pub fn with_unknown_cells(self) -> Self {
        {
            let mut state = self.lock();
            (state.is_open_ended, state.remaining_cells) = (true, 0);
        }
        self
    }

    /// So many cells, which others count, are sure to be in bands to come.
    pub fn with_coming(self, cells: Arc<AtomicU64>) -> Self {
        self.lock().coming = cells;
        self
    }

    fn lock(&self) -> MutexGuard<'_, State<W>> {
        // Nothing that is done under the lock is expected to panic: bands are planned without it.
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// An engine joins; its number. `universal`: it takes any batch.
    pub fn join(&self, universal: bool, least_work: LeastWork) -> usize {
        self.join_known(universal, least_work, Shown::default())
    }

    /// As [`WorkQueue::join`], of an engine that has shown something in another queue.
    pub fn join_known(&self, universal: bool, least_work: LeastWork, shown: Shown) -> usize {
        let mut state = self.lock();
        state.universal.push(universal);
        state.calls.push(None);
        state.sizing.join_known(universal, least_work, shown)
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
                Taken::Unplanned(bands) => {
                    drop(state);
                    let is_settled = self.plan(bands);
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
            // A band that is about to come is worth a moment even to an engine that has work.
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

    /// Takes the next band with pairs into the piles. Planning sorts and copies, so that it is done without the lock. Gives
    /// false if there is none now.
    fn plan(&self, mut bands: BoxedSource<W>) -> bool {
        /// Says how planning ended, in whatever way, and wakes those who wait for it.
        struct AtTheEnd<'a, W: Work>(&'a WorkQueue<W>, Bands<W>, bool);
        impl<W: Work> Drop for AtTheEnd<'_, W> {
            fn drop(&mut self) {
                self.0.lock().bands = std::mem::replace(&mut self.1, Bands::Ended);
                // Where nothing came of it, those who wait would only ask one after the other without a pause.
                if self.2 {
                    self.0.changed.notify_all();
                }
            }
        }
        let mut end = AtTheEnd(self, Bands::Broken, true);
        let (queries, band, blocks, pairs) = loop {
            match bands.next_band() {
                Upcoming::Band((queries, band, blocks)) => {
                    let pairs: u64 = blocks.iter().map(|(_, block)| W::pairs(block)).sum();
                    if pairs > 0 {
                        break (queries, band, blocks, pairs);
                    }
                }
                // Who computes now may still be at it when more comes.
                Upcoming::Nothing if self.is_computing() => {
                    (end.1, end.2) = (Bands::More(bands), false);
                    return false;
                }
                Upcoming::Nothing | Upcoming::End => {
                    end.1 = Bands::Ended;
                    return true;
                }
            }
        };
        self.lock().add(queries, band, blocks, pairs);
        end.1 = Bands::More(bands);
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
        let cells = lease.batch.cells();
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
            state.sizing.gave_back(lease.engine, lease.batch.cells(), (self.clock)());
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
        state.calls[engine] = None;
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

    /// Runs a call of an engine's device, which the owner watches.
    pub fn watched<T>(&self, engine: usize, call: impl FnOnce() -> T) -> T {
        let mut state = self.lock();
        state.calls[engine] = Some(state.watched);
        drop(state);
        let result = call();
        self.lock().calls[engine] = None;
        result
    }

    /// The owner was awake for so long. Gives the engines whose call lasts longer than it may, and for how long: more than
    /// `patience` and than 20 times what is expected by their speed (their first batch, in which they get ready, four
    /// times as long). Engines that take everything are never among them: they wait for nobody.
    pub fn overdue(&self, awake: Duration, patience: Duration) -> Vec<(usize, Duration)> {
        let mut state = self.lock();
        state.watched += awake;
        let state = &*state;
        let limit = |engine: usize| {
            let expected = state.sizing.expected_seconds(engine, LEAST_SPEED);
            super::patience::limit(patience, expected, state.sizing.has_shown(engine))
        };
        let lasting = state.calls.iter().enumerate().filter_map(|(engine, begin)| Some((engine, (*begin)?)));
        let lasting = lasting.map(|(engine, begin)| (engine, state.watched - begin));
        lasting
            .filter(|&(engine, for_long)| !state.universal[engine] && for_long.as_secs_f64() > limit(engine))
            .collect()
    }

    /// A band was given out: engines that found nothing to do may plan again.
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

impl<W: Work> State<W> {
    /// Cells that nobody holds.
    fn left(&self) -> u64 {
        self.remaining_cells.saturating_add(self.coming.load(Ordering::Relaxed))
    }

    fn is_done(&self) -> bool {
        matches!(self.bands, Bands::Ended) && !self.is_fed && self.piles.is_empty() && self.leases.is_empty()
    }

    /// A band with its pairs waits behind all others.
    fn add(&mut self, queries: Range<SequenceId>, band: Arc<W::Band>, blocks: Vec<(W::Class, W::Block)>, pairs: u64) {
        if self.is_open_ended {
            let cells: u64 = blocks.iter().map(|(_, block)| W::cells(block)).sum();
            self.remaining_cells = self.remaining_cells.saturating_add(cells);
        }
        let info = Arc::new(BandInfo { index: self.next_band, queries, pairs });
        self.next_band += 1;
        self.piles.push_back(Pile { info, band, blocks: blocks.into(), universal_only: false });
    }

    /// Whether planning panicked and nothing else is left: the job can only end with an error.
    fn is_broken(&self) -> bool {
        matches!(self.bands, Bands::Broken) && self.piles.is_empty() && self.leases.is_empty()
    }

    fn take(&mut self, engine: usize, capacity: Capacity, now: f64) -> Taken<W> {
        match self.take_planned(engine, capacity, now) {
            Ok(lease) => lease.map_or(Taken::Nothing, Taken::Work),
            Err(NoPile) if !self.ahead.admits(self.next_band) => Taken::Nothing,
            Err(NoPile) => match std::mem::replace(&mut self.bands, Bands::Planning) {
                Bands::More(bands) => Taken::Unplanned(bands),
                Bands::Planning => Taken::Planning,
                gone => {
                    self.bands = gone;
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
            let waiting = Waiting { cells: left, next_pair, universal_only: pile.universal_only };
            let Some(cells) = self.sizing.cells(engine, &capacity, waiting, now) else { return Ok(None) };
            let portion = Portion { cells, pairs: capacity.pairs, target_bytes: capacity.store_bytes };
            let Some((class, blocks)) = take_blocks(pile, portion, self.sizing.least_work(engine).pairs) else {
                return Ok(None);
            };
            let batch = Arc::new(Batch { band: Arc::clone(&pile.band), blocks });
            let lease = Lease { id: self.next_lease, engine, info: Arc::clone(&pile.info), class, batch, since: now };
            if pile.blocks.is_empty() {
                self.piles.remove(place);
            }
            let cells = lease.batch.cells();
            self.remaining_cells = self.remaining_cells.saturating_sub(cells);
            self.sizing.took(engine, cells, now);
            self.next_lease += 1;
            self.leases.insert(lease.id, lease.clone());
            return Ok(Some(lease));
        }
    }

    /// Some blocks of a lease wait again, before all others but those of older bands; gives their cells.
    fn put_back(&mut self, lease: &Lease<W>, which: impl Iterator<Item = usize>, universal_only: bool) -> u64 {
        let blocks = which.map(|index| (lease.class, lease.batch.blocks[index].clone()));
        let (info, band) = (Arc::clone(&lease.info), Arc::clone(&lease.batch.band));
        let pile = Pile { info, band, blocks: blocks.collect(), universal_only };
        let cells: u64 = pile.blocks.iter().map(|(_, block)| W::cells(block)).sum();
        self.remaining_cells = self.remaining_cells.saturating_add(cells);
        if !pile.blocks.is_empty() {
            let older = self.piles.iter().take_while(|other| other.info.index < pile.info.index).count();
            self.piles.insert(older, pile);
        }
        cells
    }
}
