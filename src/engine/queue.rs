//! The pull queue: engines take work when they are free (PaPaRa's hybrid design: a CPU takes one block where a GPU takes
//! many), and work that an engine does not finish goes back for another one.
//!
//! Every engine has a thread of its own ([`super::pump`]), which sleeps while the engine computes. Results go through a
//! short channel to the caller's thread; if the caller is slower than the engines, they wait for it.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use serde::Serialize;

use super::pump::{self, Message};
use super::{Band, Batch, Block, Capacity, Engine, Report};
use crate::error::{Error, Result};
use crate::plan::{LengthClass, PlannedBand, Room, split_block};
use crate::seq::SequenceId;

/// Reports that may wait for the caller before engines have to.
const WAITING_REPORTS: usize = 4;

/// Cells of an engine's first batches, where several share a job: what an engine is thought to do in a second may be a
/// hundred times what it does, and the others would wait for it at the end.
const PROBE_CELLS: u64 = 1 << 25;
/// First batches that a small job has at least.
const PROBES_A_JOB: u64 = 256;
/// By how much a batch may be larger than any that the engine has finished, where several share a job.
const GROWTH: u64 = 8;

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

/// Finished work.
#[derive(Debug)]
pub struct Outcome {
    /// The band it belongs to.
    pub band: Arc<BandInfo>,
    /// The batch.
    pub batch: Arc<Batch>,
    /// Pairs of the batch that are finished.
    pub pairs: u64,
    /// Cells of the batch that are finished.
    pub cells: u64,
    /// Their results.
    pub report: Report,
}

/// What an engine did.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct EngineStats {
    /// Its name.
    pub name: String,
    /// Batches that it finished.
    pub batches: u64,
    /// Pairs in them.
    pub pairs: u64,
    /// Cells in them.
    pub cells: u64,
    /// Time in the kernel, in seconds.
    pub kernel_seconds: f64,
    /// Why it was given up, if it was.
    pub lost: Option<String>,
}

/// Blocks that wait, all of one band.
struct Pile {
    info: Arc<BandInfo>,
    band: Arc<Band>,
    blocks: VecDeque<(LengthClass, Block)>,
    /// Some engine could not do these: only one that does anything may take them.
    universal_only: bool,
}

/// Work that an engine holds.
#[derive(Debug, Clone)]
pub struct Lease {
    /// The band.
    pub info: Arc<BandInfo>,
    /// The class of all blocks.
    pub class: LengthClass,
    /// The work.
    pub batch: Arc<Batch>,
}

struct State<'a> {
    bands: Box<dyn Iterator<Item = PlannedBand> + Send + 'a>,
    next_band: usize,
    piles: VecDeque<Pile>,
    exhausted: bool,
    outstanding: usize,
    remaining_cells: u64,
    /// Capacity in cells of every engine that works.
    capacities: Vec<u64>,
    /// Cells that each engine may be given at once, by what it has finished.
    trusted: Vec<u64>,
    stopped: bool,
}

/// The queue that engines pull from.
pub struct WorkQueue<'a> {
    state: Mutex<State<'a>>,
    changed: Condvar,
    interrupt: &'a AtomicBool,
}

/// How the queue answers a pull.
pub enum Pull {
    /// Work.
    Work(Lease),
    /// None now; some may come back.
    Nothing,
    /// None, and none will come.
    Finished,
}

impl<'a> WorkQueue<'a> {
    /// The work of `bands`, of `cells` cells in all, for so many engines and one in reserve.
    pub fn new(
        bands: Box<dyn Iterator<Item = PlannedBand> + Send + 'a>,
        cells: u64,
        engines: usize,
        interrupt: &'a AtomicBool,
    ) -> Self {
        // Alone, an engine has nobody to keep waiting.
        let probe = if engines > 1 { PROBE_CELLS.min(cells / PROBES_A_JOB).max(1) } else { u64::MAX };
        let state = State {
            bands,
            next_band: 0,
            piles: VecDeque::new(),
            exhausted: false,
            outstanding: 0,
            remaining_cells: cells,
            capacities: vec![0; engines + 1],
            trusted: vec![probe; engines + 1],
            stopped: false,
        };
        WorkQueue { state: Mutex::new(state), changed: Condvar::new(), interrupt }
    }

    fn lock(&self) -> MutexGuard<'_, State<'a>> {
        // A panic while the lock is held can only be one in planning; its state is still consistent.
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Work for an engine, as much as it likes and is fair near the end. `wait`: sleep until there is some or the queue
    /// is finished.
    pub fn pull(&self, engine: usize, capacity: Capacity, universal: bool, wait: bool) -> Pull {
        let mut state = self.lock();
        loop {
            if state.stopped || self.interrupt.load(Ordering::Relaxed) {
                return Pull::Finished;
            }
            state.capacities[engine] = capacity.cells.max(1);
            if let Some(lease) = state.take(engine, capacity, universal) {
                return Pull::Work(lease);
            }
            if state.outstanding == 0 && state.piles.is_empty() {
                self.changed.notify_all();
                return Pull::Finished;
            }
            if !wait {
                return Pull::Nothing;
            }
            // The timeout only serves the interrupt flag, which nobody signals.
            state = self
                .changed
                .wait_timeout(state, Duration::from_millis(200))
                .unwrap_or_else(|poisoned| poisoned.into_inner())
                .0;
        }
    }

    /// Blocks of a lease go back; all of them, or those with the given indices.
    pub fn give_back(&self, lease: &Lease, which: Option<&[usize]>, universal_only: bool) {
        let mut state = self.lock();
        let blocks = &lease.batch.blocks;
        let returned: VecDeque<(LengthClass, Block)> = match which {
            None => blocks.iter().map(|block| (lease.class, block.clone())).collect(),
            Some(indices) => indices.iter().map(|&index| (lease.class, blocks[index].clone())).collect(),
        };
        state.remaining_cells += returned.iter().map(|(_, block)| block.cells).sum::<u64>();
        let pile = Pile {
            info: Arc::clone(&lease.info),
            band: Arc::clone(&lease.batch.band),
            blocks: returned,
            universal_only,
        };
        if !pile.blocks.is_empty() {
            state.piles.push_front(pile);
        }
        self.changed.notify_all();
    }

    /// An engine has finished a lease of so many cells.
    pub fn finish(&self, engine: usize, cells: u64) {
        let mut state = self.lock();
        state.trusted[engine] = cells.saturating_mul(GROWTH).max(state.trusted[engine]);
        drop(state);
        self.release();
    }

    /// A lease has ended: its work is done or was given back.
    pub fn release(&self) {
        self.lock().outstanding -= 1;
        self.changed.notify_all();
    }

    /// An engine is gone.
    pub fn retire(&self, engine: usize) {
        self.lock().capacities[engine] = 0;
    }

    /// No more work for anybody.
    pub fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_all();
    }

    /// Whether work is left, waiting or held.
    fn has_work(&self) -> bool {
        let state = self.lock();
        !state.exhausted || !state.piles.is_empty() || state.outstanding > 0
    }
}

impl State<'_> {
    fn take(&mut self, engine: usize, capacity: Capacity, universal: bool) -> Option<Lease> {
        let cells = self.fair_cells(engine, capacity.cells);
        loop {
            let place = self.piles.iter().position(|pile| universal || !pile.universal_only);
            let Some(place) = place else {
                if !self.plan_next() {
                    return None;
                }
                continue;
            };
            let pile = &mut self.piles[place];
            let taken = take_blocks(pile, Room { cells, pairs: capacity.pairs, target_bytes: capacity.store_bytes });
            let lease = taken.map(|(class, blocks)| Lease {
                info: Arc::clone(&pile.info),
                class,
                batch: Arc::new(Batch { band: Arc::clone(&pile.band), blocks }),
            });
            if pile.blocks.is_empty() {
                self.piles.remove(place);
            }
            let Some(lease) = lease else { continue };
            self.remaining_cells = self.remaining_cells.saturating_sub(lease.batch.cells());
            self.outstanding += 1;
            return Some(lease);
        }
    }

    /// Takes the next band with pairs into the piles.
    fn plan_next(&mut self) -> bool {
        for (queries, band, blocks) in self.bands.by_ref() {
            let pairs: u64 = blocks.iter().map(|(_, block)| block.pairs()).sum();
            if pairs == 0 {
                continue;
            }
            let info = Arc::new(BandInfo { index: self.next_band, queries, pairs });
            self.next_band += 1;
            self.piles.push_back(Pile { info, band, blocks: blocks.into(), universal_only: false });
            return true;
        }
        self.exhausted = true;
        false
    }

    /// With several engines: no more than half of the engine's share of what is left, so that all end together, and not
    /// much more than it has shown to be able to.
    fn fair_cells(&self, engine: usize, capacity: u64) -> u64 {
        let capacity = capacity.min(self.trusted[engine]);
        let all: u64 = self.capacities.iter().sum();
        if all == self.capacities[engine] {
            // The only one that has come, or is left.
            return capacity;
        }
        let share = self.remaining_cells as f64 * self.capacities[engine] as f64 / all as f64 / 2.0;
        capacity.min((share as u64).max(capacity / 32))
    }
}

/// Takes blocks of one class from a pile, splitting the last to fit the room; at least one pair.
fn take_blocks(pile: &mut Pile, room: Room) -> Option<(LengthClass, Vec<Block>)> {
    let class = pile.blocks.front()?.0;
    // Equal parts rather than whole ones and a remainder: every batch ends with a time in which the device runs dry.
    let waiting: u64 = pile.blocks.iter().take_while(|(next, _)| *next == class).map(|(_, block)| block.cells).sum();
    let parts = waiting.div_ceil(room.cells.max(1)).max(1);
    let room = Room { cells: waiting.div_ceil(parts).max(1), ..room };
    let one_block = pile.band.targets.packed_bytes().len() as u64 > room.target_bytes;
    let (mut blocks, mut left): (Vec<Block>, Room) = (Vec::new(), room);
    while let Some((_, block)) = pile.blocks.pop_front_if(|(next, _)| *next == class) {
        // A sliver at the end of a batch is not worth a split.
        let sliver = block.cells > left.cells && left.cells < room.cells / 16;
        if !blocks.is_empty() && (one_block || sliver || left.cells == 0 || left.pairs == 0) {
            pile.blocks.push_front((class, block));
            break;
        }
        let (head, tail) = split_block(&pile.band, block, left);
        left.cells = left.cells.saturating_sub(head.cells);
        left.pairs = left.pairs.saturating_sub(head.pairs());
        blocks.push(head);
        if let Some(tail) = tail {
            pile.blocks.push_front((class, tail));
            break;
        }
    }
    Some((class, blocks))
}

/// Computes all bands on the engines and hands every outcome to `sink`, in no particular order.
///
/// An engine that fails is given up with a warning; its work goes to the others or, if none is left (or one says that a
/// batch does not suit it and no engine takes everything), to the `reserve`.
pub fn run<'a>(
    engines: Vec<Box<dyn Engine>>,
    reserve: impl FnOnce() -> Box<dyn Engine>,
    bands: impl Iterator<Item = PlannedBand> + Send + 'a,
    cells: u64,
    interrupt: &'a AtomicBool,
    mut sink: impl FnMut(Outcome) -> Result<()>,
) -> Result<Vec<EngineStats>> {
    let mut stats: Vec<EngineStats> =
        engines.iter().map(|engine| EngineStats { name: engine.name().into(), ..Default::default() }).collect();
    let queue = WorkQueue::new(Box::new(bands), cells, engines.len(), interrupt);
    let (sender, receiver): (SyncSender<Message>, Receiver<Message>) = sync_channel(WAITING_REPORTS);
    let mut reserve = Some(reserve);
    let mut universal = engines.iter().filter(|engine| engine.universal()).count();
    let mut failure = None;

    std::thread::scope(|scope| {
        let mut alive = 0;
        for (index, engine) in engines.into_iter().enumerate() {
            let (queue, sender) = (&queue, sender.clone());
            alive += 1;
            scope.spawn(move || pump::drive(index, engine, queue, sender));
        }
        loop {
            let needs_reserve = match receiver.recv() {
                Ok(Message::Done { engine, lease, report }) => {
                    let outcome = outcome_of(lease, report);
                    let stats = &mut stats[engine];
                    stats.batches += 1;
                    stats.pairs += outcome.pairs;
                    stats.cells += outcome.cells;
                    stats.kernel_seconds += outcome.report.kernel_time.unwrap_or_default().as_secs_f64();
                    if failure.is_none()
                        && let Err(error) = sink(outcome)
                    {
                        failure = Some(error);
                        queue.stop();
                    }
                    false
                }
                Ok(Message::Unsuited) => universal == 0 && queue.has_work(),
                Ok(Message::Ended { engine, error, was_universal }) => {
                    alive -= 1;
                    if let Some(error) = error {
                        universal -= was_universal as usize;
                        stats[engine].lost = Some(error);
                    }
                    alive == 0 && queue.has_work()
                }
                // Cannot be: this thread holds a sender itself.
                Err(_) => break,
            };
            let interrupted = interrupt.load(Ordering::Relaxed) || failure.is_some();
            if needs_reserve && !interrupted {
                let Some(make) = reserve.take() else {
                    failure = Some(Error::Internal("no engine is left".into()));
                    queue.stop();
                    break;
                };
                let engine = make();
                let index = stats.len();
                stats.push(EngineStats { name: engine.name().into(), ..Default::default() });
                universal += engine.universal() as usize;
                alive += 1;
                let (queue, sender) = (&queue, sender.clone());
                scope.spawn(move || pump::drive(index, engine, queue, sender));
            } else if alive == 0 {
                break;
            }
        }
    });
    if let Some(error) = failure {
        return Err(error);
    }
    if interrupt.load(Ordering::Relaxed) {
        return Err(Error::Interrupted);
    }
    Ok(stats)
}

fn outcome_of(lease: Lease, report: Report) -> Outcome {
    let left_out = report.unfinished.iter().map(|&index| &lease.batch.blocks[index]);
    let (left_pairs, left_cells) =
        left_out.fold((0, 0), |(pairs, cells), block| (pairs + block.pairs(), cells + block.cells));
    Outcome {
        pairs: lease.batch.pairs() - left_pairs,
        cells: lease.batch.cells() - left_cells,
        band: lease.info,
        batch: lease.batch,
        report,
    }
}
