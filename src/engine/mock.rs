//! An engine that does as it is told: scripted delays, losses and wrong statuses, and a speed, for tests of the queue.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use super::{Batch, Capacity, Engine, Hit, Report, Ticket, Want};
use crate::error::{Error, Result};
use crate::reference::needleman_wunsch;

/// What a [`MockEngine`] does with one batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// Computes it, after this delay.
    Compute(Duration),
    /// Computes all blocks but every `n`th, which it reports as unfinished.
    LeaveEvery(usize),
    /// Refuses it at submission; the engine goes on.
    Refuse,
    /// Fails when it is submitted: the engine is lost.
    FailSubmit,
    /// Fails when it is collected: the engine is lost.
    FailCollect,
    /// Panics when it is collected.
    Panic,
}

/// Seconds of work that an engine with a speed likes at once, when it knows its speed.
const BATCH_SECONDS: f64 = 0.7;

/// An engine that follows a script, a line per batch, and after its end computes without delay.
#[derive(Debug)]
pub struct MockEngine {
    name: String,
    capacity: Capacity,
    cells_per_second: Option<f64>,
    script: VecDeque<Act>,
    waiting: HashMap<Ticket, (Arc<Batch>, Act)>,
    next_ticket: u64,
}

impl MockEngine {
    /// An engine with this name, capacity and script.
    pub fn new(name: impl Into<String>, capacity: Capacity, script: impl IntoIterator<Item = Act>) -> Self {
        MockEngine {
            name: name.into(),
            capacity,
            cells_per_second: None,
            script: script.into_iter().collect(),
            waiting: HashMap::new(),
            next_ticket: 0,
        }
    }

    /// Reports times in the kernel as if it had this speed (it waits for nothing), and from the first report on likes
    /// batches that suit it, as a GPU does.
    pub fn with_speed(mut self, cells_per_second: f64) -> Self {
        self.cells_per_second = Some(cells_per_second);
        self
    }

    fn error(&self, message: &str) -> Error {
        Error::Device { device: self.name.clone(), message: message.into() }
    }
}

impl Engine for MockEngine {
    fn name(&self) -> &str {
        &self.name
    }

    fn capacity(&self) -> Capacity {
        self.capacity
    }

    fn submit(&mut self, batch: Arc<Batch>) -> Result<Ticket> {
        let act = self.script.pop_front().unwrap_or(Act::Compute(Duration::ZERO));
        match act {
            Act::Refuse => {
                return Err(Error::Unsuited { device: self.name.clone(), message: "refused by script".into() });
            }
            Act::FailSubmit => return Err(self.error("lost at submission by script")),
            _ => {}
        }
        let ticket = Ticket(self.next_ticket);
        self.next_ticket += 1;
        self.waiting.insert(ticket, (batch, act));
        Ok(ticket)
    }

    fn collect(&mut self, ticket: Ticket) -> Result<Report> {
        let (batch, act) = self.waiting.remove(&ticket).ok_or_else(|| self.error("unknown ticket"))?;
        let mut report = Report::default();
        if let Some(speed) = self.cells_per_second {
            report.kernel_time = Some(Duration::from_secs_f64(batch.cells() as f64 / speed));
            self.capacity.cells = (speed * BATCH_SECONDS) as u64;
        }
        let leave = match act {
            Act::Compute(delay) => {
                std::thread::sleep(delay);
                usize::MAX
            }
            Act::LeaveEvery(n) => n.max(1),
            Act::FailCollect => return Err(self.error("lost at collection by script")),
            Act::Panic => panic!("panicked by script"),
            Act::Refuse | Act::FailSubmit => unreachable!("handled at submission"),
        };
        for (index, block) in batch.blocks.iter().enumerate() {
            if (index + 1) % leave == 0 {
                report.unfinished.push(index);
                continue;
            }
            for target in &batch.band.order[block.targets.start as usize..block.targets.end as usize] {
                report.hits.extend(compute(&batch, block.query, *target));
            }
        }
        Ok(report)
    }
}

fn compute(batch: &Batch, query: u32, target: u32) -> Option<Hit> {
    let band = &batch.band;
    let (a, b) = (band.queries.codes(query), band.targets.codes(target));
    let best = needleman_wunsch::align(a, b, &band.scoring);
    let hit = Hit { query, target, score: best.score, matches: Some(best.matches) };
    match &band.want {
        Want::Reaching(filter) => {
            filter.may_reach(hit.score, hit.matches, a.len() as u32, b.len() as u32).then_some(hit)
        }
        Want::Scores | Want::Alignments => Some(hit),
    }
}
