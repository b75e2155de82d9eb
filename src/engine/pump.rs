//! One engine's thread: submit the next, collect the last.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::SyncSender;

use super::queue::{Lease, Pull, WorkQueue};
use super::{Engine, Report, Ticket};
use crate::error::{Error, Result};

/// What a pump tells the queue's owner.
pub enum Message {
    /// A batch is done, up to the blocks that its report calls unfinished.
    Done {
        /// The engine.
        engine: usize,
        /// The work.
        lease: Lease,
        /// What came of it.
        report: Report,
    },
    /// Work went back that this engine cannot do.
    Unsuited,
    /// The engine has stopped: there is no work left, or it failed.
    Ended {
        /// The engine.
        engine: usize,
        /// Why it failed.
        error: Option<String>,
        /// Whether it took any work.
        was_universal: bool,
    },
}

/// Runs an engine until the queue is finished or the engine fails. Whatever happens, no lease is lost.
pub fn drive(index: usize, mut engine: Box<dyn Engine>, queue: &WorkQueue<'_>, sender: SyncSender<Message>) {
    let mut in_flight: VecDeque<(Ticket, Lease)> = VecDeque::new();
    let was_universal = engine.universal();
    let name = engine.name().to_string();
    let ended = catch_unwind(AssertUnwindSafe(|| work(index, engine.as_mut(), queue, &sender, &mut in_flight)));
    let error = match ended {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(error.to_string()),
        Err(panic) => Some(format!("panicked: {}", panic_text(&*panic))),
    };
    if let Some(error) = &error {
        tracing::warn!("{name} is given up, the others take over its work: {error}");
        queue.retire(index);
    }
    for (_, lease) in in_flight.drain(..) {
        queue.give_back(&lease, None, false);
        queue.release();
    }
    // Dropping a lost device may fail as well; that must not end the job.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(engine)));
    // The owner listens until every pump has ended.
    let _ = sender.send(Message::Ended { engine: index, error, was_universal });
}

fn work(
    index: usize,
    engine: &mut dyn Engine,
    queue: &WorkQueue<'_>,
    sender: &SyncSender<Message>,
    in_flight: &mut VecDeque<(Ticket, Lease)>,
) -> Result<()> {
    let mut warned = false;
    loop {
        // Submit the next ...
        let capacity = engine.capacity();
        while in_flight.len() < capacity.batches.max(1) {
            let lease = match queue.pull(index, engine.capacity(), engine.universal(), in_flight.is_empty()) {
                Pull::Work(lease) => lease,
                Pull::Nothing => break,
                Pull::Finished if in_flight.is_empty() => return Ok(()),
                Pull::Finished => break,
            };
            match engine.submit(lease.batch.clone()) {
                Ok(ticket) => in_flight.push_back((ticket, lease)),
                Err(error @ Error::Unsuited { .. }) if !engine.universal() => {
                    if !std::mem::replace(&mut warned, true) {
                        tracing::warn!("{error}; the CPU takes over such pairs");
                    }
                    queue.give_back(&lease, None, true);
                    queue.release();
                    let _ = sender.send(Message::Unsuited);
                }
                Err(error) => {
                    queue.give_back(&lease, None, false);
                    queue.release();
                    return Err(error);
                }
            }
        }
        // ... collect the last. The lease stays in the list until its results are safe.
        let Some((ticket, _)) = in_flight.front() else { continue };
        let report = engine.collect(*ticket)?;
        let Some((_, lease)) = in_flight.pop_front() else { continue };
        let unfinished = report.unfinished.clone();
        if !unfinished.is_empty() {
            tracing::warn!("{} left {} blocks unfinished; the CPU takes them over", engine.name(), unfinished.len());
            queue.give_back(&lease, Some(&unfinished), true);
            let _ = sender.send(Message::Unsuited);
        }
        let cells = lease.batch.cells();
        let _ = sender.send(Message::Done { engine: index, lease, report });
        queue.finish(index, cells);
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| text.to_string());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "for no reason it could tell".into())
}
