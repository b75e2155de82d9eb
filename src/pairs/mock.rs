//! A scripted engine for tests of the queue. It can delay, fail, hang, return wrong reports, and
//! simulate a speed.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use super::oracle::{needleman_wunsch, smith_waterman};
use super::{PairHit, PairsBatch, PairsReport};
use crate::engine::{Capacity, Engine, Ticket};
use crate::error::{Error, Result};
use crate::pairs::Pairs;
use crate::score::Mode;

/// Behaviour of a [`MockEngine`] for one batch.
#[derive(Debug, Clone)]
pub enum Act {
    /// Computes the batch after this delay.
    Compute(Duration),
    /// Computes all blocks except every `n`th, and reports the others as unfinished.
    LeaveEvery(usize),
    /// Refuses the batch at submission. The engine stays usable.
    Refuse,
    /// Fails at submission: the engine is lost.
    FailSubmit,
    /// Fails at submission like a device without free memory.
    OutOfMemory,
    /// Fails at collection: the engine is lost.
    FailCollect,
    /// Panics at collection.
    Panic,
    /// Does not answer until the gate is opened, and then computes the batch.
    Hang(Gate),
    /// Computes the batch, but returns an implausible report.
    Wrong(ReportFault),
}

/// Faults of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportFault {
    /// A result of a pair that is not in the batch.
    Stranger,
    /// Two results of one pair.
    Twice,
    /// A missing result.
    Missing,
    /// An alignment beyond the end of the reported runs.
    Alignment,
    /// An unfinished block that is not in the batch.
    Block,
}

/// Blocks an engine that executes [`Act::Hang`] until the gate is opened.
#[derive(Debug, Clone, Default)]
pub struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    /// Releases all waiting engines.
    pub fn open(&self) {
        *self.0.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = true;
        self.0.1.notify_all();
    }

    /// Waits until the gate is open.
    pub fn wait(&self) {
        let open = self.0.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        drop(self.0.1.wait_while(open, |open| !*open));
    }
}

/// Seconds of work per batch that an engine requests once it has measured its speed.
const BATCH_SECONDS: f64 = 0.7;

/// An engine that follows a script with one action per batch. After the script's end, it computes
/// every batch without delay by default.
#[derive(Debug)]
pub struct MockEngine {
    name: String,
    capacity: Capacity,
    /// Speed in cells per second, and whether the engine sleeps for the corresponding time.
    speed: Option<(f64, bool)>,
    free_at: Option<Instant>,
    script: VecDeque<Act>,
    /// Action for batches after the script's end.
    last: Act,
    waiting: HashMap<Ticket, (Arc<PairsBatch>, Act, Instant)>,
    next_ticket: u64,
}

impl MockEngine {
    /// Returns an engine with this name, capacity and script.
    pub fn new(name: impl Into<String>, capacity: Capacity, script: impl IntoIterator<Item = Act>) -> Self {
        MockEngine {
            name: name.into(),
            capacity,
            speed: None,
            free_at: None,
            script: script.into_iter().collect(),
            last: Act::Compute(Duration::ZERO),
            waiting: HashMap::new(),
            next_ticket: 0,
        }
    }

    /// Reports kernel times according to this speed without waiting. After the first report, the
    /// engine requests batches that suit the speed, as a GPU does.
    pub fn with_speed(mut self, cells_per_second: f64) -> Self {
        self.speed = Some((cells_per_second, false));
        self
    }

    /// Sleeps for the time that each batch takes at this speed, one batch after another, like a
    /// device with a waiting thread.
    pub fn with_real_speed(mut self, cells_per_second: f64) -> Self {
        self.speed = Some((cells_per_second, true));
        self
    }

    /// Sets the action for all batches after the script's end.
    pub fn with_last(mut self, act: Act) -> Self {
        self.last = act;
        self
    }

    fn error(&self, message: &str) -> Error {
        Error::Device { device: self.name.clone(), message: message.into() }
    }
}

impl Engine<Pairs> for MockEngine {
    fn name(&self) -> &str {
        &self.name
    }

    fn capacity(&self) -> Capacity {
        self.capacity
    }

    fn submit(&mut self, batch: Arc<PairsBatch>) -> Result<Ticket> {
        let act = self.script.pop_front().unwrap_or_else(|| self.last.clone());
        match act {
            Act::Refuse => {
                return Err(Error::Unsuited { device: self.name.clone(), message: "refused by script".into() });
            }
            Act::FailSubmit => return Err(self.error("lost at submission by script")),
            Act::OutOfMemory => return Err(self.error("out of memory by script")),
            _ => {}
        }
        let ticket = Ticket(self.next_ticket);
        self.next_ticket += 1;
        let mut done = Instant::now();
        if let Some((speed, true)) = self.speed {
            done = self.free_at.map_or(done, |free| free.max(done));
            done += Duration::from_secs_f64(batch.cells() as f64 / speed);
            self.free_at = Some(done);
        }
        self.waiting.insert(ticket, (batch, act, done));
        Ok(ticket)
    }

    fn collect(&mut self, ticket: Ticket) -> Result<PairsReport> {
        let (batch, act, done) = self.waiting.remove(&ticket).ok_or_else(|| self.error("unknown ticket"))?;
        match &act {
            Act::Compute(delay) => std::thread::sleep(*delay),
            Act::Hang(gate) => gate.wait(),
            Act::FailCollect => return Err(self.error("lost at collection by script")),
            Act::Panic => panic!("panicked by script"),
            _ => {}
        }
        let mut report = match act {
            Act::LeaveEvery(n) => leave_every(n.max(1), &batch),
            _ => compute_batch(&batch),
        };
        if let Some((speed, is_real)) = self.speed {
            report.kernel_time = Some(Duration::from_secs_f64(batch.cells() as f64 / speed));
            if is_real {
                std::thread::sleep(done.saturating_duration_since(Instant::now()));
            } else {
                self.capacity.cells = (speed * BATCH_SECONDS) as u64;
            }
        }
        if let Act::Wrong(wrong) = act {
            inject_fault(&mut report, wrong);
        }
        Ok(report)
    }
}

/// Returns a correct report of a batch, computed by the oracle.
pub fn compute_batch(batch: &PairsBatch) -> PairsReport {
    leave_every(usize::MAX, batch)
}

fn leave_every(n: usize, batch: &PairsBatch) -> PairsReport {
    let mut report = PairsReport::default();
    for (index, block) in batch.blocks.iter().enumerate() {
        if (index + 1) % n == 0 {
            report.unfinished.push(index);
            continue;
        }
        for target in &batch.chunk.order[block.targets.start as usize..block.targets.end as usize] {
            report.hits.extend(compute(batch, block.query, *target));
        }
    }
    report
}

fn inject_fault(report: &mut PairsReport, wrong: ReportFault) {
    match wrong {
        ReportFault::Stranger => report.hits.iter_mut().take(1).for_each(|hit| hit.target = hit.query),
        ReportFault::Twice => report.hits.extend(report.hits.first().copied()),
        ReportFault::Missing => _ = report.hits.pop(),
        ReportFault::Alignment => report.traced.spans = vec![Some((7, 9)); report.hits.len()],
        ReportFault::Block => report.unfinished.push(usize::MAX),
    }
}

fn compute(batch: &PairsBatch, query: u32, target: u32) -> Option<PairHit> {
    let chunk = &batch.chunk;
    let (a, b) = (chunk.queries.codes(query), chunk.targets.codes(target));
    let (score, matches) = match chunk.scoring.mode {
        Mode::Global => {
            let best = needleman_wunsch::align(a, b, &chunk.scoring);
            (best.score, Some(best.matches))
        }
        Mode::Local => (smith_waterman::score_only(a, b, &chunk.scoring), None),
    };
    let hit = PairHit { query, target, score, matches };
    chunk.filter.keeps(query, score, matches, a.len() as u32, b.len() as u32).then_some(hit)
}
