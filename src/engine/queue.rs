//! The pull queue: engines take work when they are free, and work that an engine does not finish goes back for another.
//!
//! The hybrid design of PaPaRa (Alachiotis, Berger and Stamatakis 2013): one queue of blocks, from which every CPU thread
//! takes one piece at a time for itself, and every GPU as much as fills it. How much that is, [`super::sizing`] says;
//! what fits the device's memory, [`Capacity`]: a launch has at most `pairs` pairs, and of a store above `store_bytes`
//! one block whose targets fit, so that the sequences per launch follow the memory as in that paper.
//!
//! Work is lent: the queue keeps every [`Lease`] until its engine finishes it. What an engine holds when it fails, or
//! does not answer, goes back, and what it says about it later counts for nothing. [`super::owner::run`] runs a job.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::sizing::{Grain, Sizing, Waiting};
use super::{Batch, Capacity, Room, Work};
use crate::seq::SequenceId;

/// How often a thread that waits for work looks whether the job was interrupted, which nobody signals.
const INTERRUPT_SECONDS: f64 = 0.2;
/// Cells a second below which no device is thought to be before it has shown its speed.
const LEAST_SPEED: f64 = 1e8;

/// Parts of what waits that are not made equal.
const MANY_PARTS: u64 = 64;

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

/// Blocks that wait, all of one band.
struct Pile<W: Work> {
    info: Arc<BandInfo>,
    band: Arc<W::Band>,
    blocks: VecDeque<(W::Class, W::Block)>,
    /// Some engine could not do these: only one that does anything may take them.
    universal_only: bool,
}

struct State<W: Work> {
    /// `None` while the next band is planned; for good if that panicked.
    bands: Option<Box<dyn Iterator<Item = Planned<W>> + Send>>,
    next_band: usize,
    piles: VecDeque<Pile<W>>,
    exhausted: bool,
    leases: BTreeMap<u64, Lease<W>>,
    next_lease: u64,
    remaining_cells: u64,
    sizing: Sizing,
    universal: Vec<bool>,
    /// Since when each engine is in a call of its device, by `watched`.
    calls: Vec<Option<Duration>>,
    /// Time in which the owner was awake to watch.
    watched: Duration,
    stopped: bool,
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
    pub fn new(
        bands: Box<dyn Iterator<Item = Planned<W>> + Send>,
        cells: u64,
        interrupt: Arc<AtomicBool>,
        clock: Clock,
    ) -> Self {
        let state = State {
            bands: Some(bands),
            next_band: 0,
            piles: VecDeque::new(),
            exhausted: false,
            leases: BTreeMap::new(),
            next_lease: 0,
            remaining_cells: cells,
            sizing: Sizing::new(cells),
            universal: Vec::new(),
            calls: Vec::new(),
            watched: Duration::ZERO,
            stopped: false,
        };
        WorkQueue { state: Mutex::new(state), changed: Condvar::new(), interrupt, clock }
    }

    fn lock(&self) -> MutexGuard<'_, State<W>> {
        // A panic while the lock is held can only be one in planning, which leaves no bands; the rest is consistent.
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// An engine joins; its number. `universal`: it takes any batch.
    pub fn join(&self, universal: bool, grain: Grain) -> usize {
        let mut state = self.lock();
        state.universal.push(universal);
        state.calls.push(None);
        state.sizing.join(universal, grain)
    }

    /// Work for an engine, as much as it likes and is fair near the end. `wait`: sleep until there is some or the queue
    /// is finished.
    pub fn pull(&self, engine: usize, capacity: Capacity, wait: bool) -> Pull<W> {
        let mut state = self.lock();
        loop {
            if state.stopped || !state.sizing.is_present(engine) || self.interrupt.load(Ordering::Relaxed) {
                return Pull::Finished;
            }
            if let Some(lease) = state.take(engine, capacity, (self.clock)()) {
                return Pull::Work(lease);
            }
            if state.is_done() || state.is_broken() {
                self.changed.notify_all();
                return Pull::Finished;
            }
            if !wait {
                return Pull::Nothing;
            }
            state = self
                .changed
                .wait_timeout(state, Duration::from_secs_f64(INTERRUPT_SECONDS))
                .unwrap_or_else(|poisoned| poisoned.into_inner())
                .0;
        }
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
    fn is_done(&self) -> bool {
        self.exhausted && self.piles.is_empty() && self.leases.is_empty()
    }

    /// Whether planning panicked and nothing else is left: the job can only end with an error.
    fn is_broken(&self) -> bool {
        self.bands.is_none() && self.piles.is_empty() && self.leases.is_empty()
    }

    fn take(&mut self, engine: usize, capacity: Capacity, now: f64) -> Option<Lease<W>> {
        let universal = self.universal[engine];
        loop {
            let place = self.piles.iter().position(|pile| universal || !pile.universal_only);
            let Some(place) = place else {
                if !self.plan_next() {
                    return None;
                }
                continue;
            };
            let pile = &mut self.piles[place];
            let Some(next_pair) = next_pair_cells(pile) else {
                self.piles.remove(place);
                continue;
            };
            let waiting = Waiting { cells: self.remaining_cells, next_pair, universal_only: pile.universal_only };
            let cells = self.sizing.cells(engine, &capacity, waiting, now)?;
            let room = Room { cells, pairs: capacity.pairs, target_bytes: capacity.store_bytes };
            let (class, blocks) = take_blocks(pile, room, self.sizing.grain(engine).pairs)?;
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
            return Some(lease);
        }
    }

    /// Takes the next band with pairs into the piles.
    fn plan_next(&mut self) -> bool {
        // Gone while it plans: if that panics, nobody goes on with bands that may be missing some.
        let Some(mut bands) = self.bands.take() else { return false };
        for (queries, band, blocks) in bands.by_ref() {
            let pairs: u64 = blocks.iter().map(|(_, block)| W::pairs(block)).sum();
            if pairs == 0 {
                continue;
            }
            let info = Arc::new(BandInfo { index: self.next_band, queries, pairs });
            self.next_band += 1;
            self.piles.push_back(Pile { info, band, blocks: blocks.into(), universal_only: false });
            self.bands = Some(bands);
            return true;
        }
        self.bands = Some(bands);
        self.exhausted = true;
        false
    }

    /// Some blocks of a lease wait again, before all others; gives their cells.
    fn put_back(&mut self, lease: &Lease<W>, which: impl Iterator<Item = usize>, universal_only: bool) -> u64 {
        let blocks = which.map(|index| (lease.class, lease.batch.blocks[index].clone()));
        let (info, band) = (Arc::clone(&lease.info), Arc::clone(&lease.batch.band));
        let pile = Pile { info, band, blocks: blocks.collect(), universal_only };
        let cells: u64 = pile.blocks.iter().map(|(_, block)| W::cells(block)).sum();
        self.remaining_cells = self.remaining_cells.saturating_add(cells);
        if !pile.blocks.is_empty() {
            self.piles.push_front(pile);
        }
        cells
    }
}

/// Cells of the pair that the next batch of a pile begins with.
fn next_pair_cells<W: Work>(pile: &Pile<W>) -> Option<u64> {
    W::first_cells(&pile.band, &pile.blocks.front()?.1)
}

/// Takes blocks of one class from a pile, splitting the last to fit the room, at a multiple of `group` pairs if there are
/// as many; at least one pair.
fn take_blocks<W: Work>(pile: &mut Pile<W>, room: Room, group: u64) -> Option<(W::Class, Vec<W::Block>)> {
    let class = pile.blocks.front()?.0;
    // Equal parts rather than whole ones and a remainder: every batch ends with a time in which the device runs dry.
    let mut waiting = 0u64;
    for (_, block) in pile.blocks.iter().take_while(|(next, _)| *next == class) {
        waiting = waiting.saturating_add(W::cells(block));
        if waiting / MANY_PARTS > room.cells {
            // Of so many parts, the last may be a remainder; a pull should not look at every block of a large band.
            waiting = room.cells;
            break;
        }
    }
    let parts = waiting.div_ceil(room.cells.max(1)).max(1);
    let room = Room { cells: waiting.div_ceil(parts).max(1), ..room };
    let one_block = W::one_block(&pile.band, room.target_bytes);
    let (mut blocks, mut left): (Vec<W::Block>, Room) = (Vec::new(), room);
    while let Some((_, block)) = pile.blocks.pop_front_if(|(next, _)| *next == class) {
        // A sliver at the end of a batch is not worth a split.
        let sliver = W::cells(&block) > left.cells && left.cells < room.cells / 16;
        if !blocks.is_empty() && (one_block || sliver || left.cells == 0 || left.pairs == 0) {
            pile.blocks.push_front((class, block));
            break;
        }
        let (mut head, mut tail) = W::split(&pile.band, block.clone(), left);
        let over = W::pairs(&head) % group.max(1);
        if tail.is_some() && over > 0 && W::pairs(&head) > over {
            (head, tail) = W::split(&pile.band, block, Room { pairs: W::pairs(&head) - over, ..left });
        }
        left.cells = left.cells.saturating_sub(W::cells(&head));
        left.pairs = left.pairs.saturating_sub(W::pairs(&head));
        blocks.push(head);
        if let Some(tail) = tail {
            pile.blocks.push_front((class, tail));
            break;
        }
    }
    Some((class, blocks))
}
