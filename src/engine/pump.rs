//! The thread of one engine. It submits the next batch, postprocesses and sends the last report,
//! and collects the next one. It sleeps while the engine computes.

use std::collections::VecDeque;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use super::guard::catch_panic;
use super::queue::{LeaseEnd, Pull, WorkLease, WorkQueue};
use super::{BatchReport, Engine, Ticket, Work};
use crate::error::{Error, Result};

/// A message from an engine's thread to the queue's owner.
pub enum PumpMessage<W: Work> {
    /// A batch is finished, except for the blocks that its report lists as unfinished.
    Done {
        /// The work.
        lease: WorkLease<W>,
        /// Results of the work.
        report: W::Report,
        /// Time that the work took, and when it ended.
        finished: LeaseEnd,
    },
    /// The engine refused a batch, which returned to the queue.
    Unsuited,
    /// The engine has stopped, because no work is left or because it failed. Its work returned to
    /// the queue.
    Ended {
        /// Index of the engine.
        engine: usize,
        /// The error, if the engine failed.
        error: Option<String>,
    },
    /// The thread ends.
    Gone {
        /// Index of the engine.
        engine: usize,
        /// The engine itself, if it is to be kept and did not fail. Otherwise its device is closed.
        kept: Option<Box<dyn Engine<W>>>,
    },
}

/// Runs an engine until the queue is finished or the engine fails.
///
/// No work can be lost, because the queue stores every lease. An engine that was abandoned sends no
/// `Ended` message. Reports are checked on the threads of `pool`, if there is one. With `keep`, the
/// engine returns to the owner, unless it failed or was abandoned.
pub fn drive<W: Work>(
    index: usize,
    mut engine: Box<dyn Engine<W>>,
    queue: &WorkQueue<W>,
    pool: Option<&rayon::ThreadPool>,
    keep: bool,
    sender: &SyncSender<PumpMessage<W>>,
) {
    let helpers = pool.filter(|_| !engine.universal());
    let ended = thread::scope(|scope| {
        // A helper thread postprocesses reports, while this thread collects the next results of the
        // device.
        let helper = helpers.filter(|_| queue.is_postprocessing()).map(|_| {
            let (give, take) = sync_channel(1);
            scope.spawn(move || take.into_iter().for_each(|done| send_report(queue, done, helpers, sender)));
            give
        });
        let mut held = HeldReport { queue, sender, helper, done: None };
        let ended = catch_panic(|| work(index, engine.as_mut(), pool, &mut held));
        // The last report is sent even if the engine failed after it, because the queue counts its
        // work as done.
        held.release();
        ended
    });
    let is_well = matches!(ended, Ok(Ok(())));
    let error = match ended {
        Ok(Ok(())) | Ok(Err(Error::Interrupted)) => None,
        Ok(Err(error)) => Some(error.to_string()),
        Err(message) => Some(format!("panicked: {message}")),
    };
    let was_there = queue.retire(index);
    if was_there {
        // The message is sent before the device is dropped, because dropping may take long or never
        // end, and the other engines need not wait for it. Sending fails only if the job has ended.
        let _ = sender.send(PumpMessage::Ended { engine: index, error });
    }
    let kept = if keep && is_well && was_there {
        Some(engine)
    } else {
        // Dropping a lost device may panic, too. That must not end the job.
        let _ = catch_panic(|| drop(engine));
        None
    };
    let _ = sender.send(PumpMessage::Gone { engine: index, kept });
}

/// A report on its way to the owner.
type FinishedReport<W> = (WorkLease<W>, <W as Work>::Report, LeaseEnd);

/// Postprocesses a report and sends it to the owner.
fn send_report<W: Work>(
    queue: &WorkQueue<W>,
    (lease, report, finished): FinishedReport<W>,
    helpers: Option<&rayon::ThreadPool>,
    sender: &SyncSender<PumpMessage<W>>,
) {
    let report = queue.postprocess(&lease, report, helpers);
    // Sending fails only if the job has ended.
    let _ = sender.send(PumpMessage::Done { lease, report, finished });
}

/// Keeps the last report until the engine has its next batch. The engine then computes while this
/// thread or a helper thread postprocesses the report.
struct HeldReport<'a, W: Work> {
    queue: &'a WorkQueue<W>,
    sender: &'a SyncSender<PumpMessage<W>>,
    /// Channel to the helper thread that postprocesses reports.
    helper: Option<SyncSender<FinishedReport<W>>>,
    done: Option<FinishedReport<W>>,
}

impl<W: Work> HeldReport<'_, W> {
    /// Postprocesses and sends the held report, or passes it to the helper thread.
    fn release(&mut self) {
        let Some(done) = self.done.take() else { return };
        match &self.helper {
            // The helper thread ends only after this sender is dropped.
            Some(helper) => drop(helper.send(done)),
            None => send_report(self.queue, done, None, self.sender),
        }
    }
}

fn work<W: Work>(
    index: usize,
    engine: &mut dyn Engine<W>,
    pool: Option<&rayon::ThreadPool>,
    held: &mut HeldReport<'_, W>,
) -> Result<()> {
    let (queue, sender) = (held.queue, held.sender);
    let mut in_flight: VecDeque<(Ticket, WorkLease<W>)> = VecDeque::new();
    let mut warned = false;
    loop {
        // Submit the next batch ...
        let batches = engine.capacity().batches.max(1);
        while in_flight.len() < batches {
            // An idle engine may wait for work, because it holds no result that others need.
            let is_idle = in_flight.is_empty() && held.done.is_none();
            let lease = match queue.pull(index, engine.capacity(), is_idle) {
                Pull::Work(lease) => lease,
                Pull::Nothing => break,
                Pull::Finished if is_idle => return Ok(()),
                Pull::Finished => break,
            };
            engine.expect(queue.remaining_for(index));
            match queue.call_watched(index, || engine.submit(lease.batch.clone())) {
                Ok(ticket) => in_flight.push_back((ticket, lease)),
                Err(error @ Error::Unsuited { .. }) if !engine.universal() => {
                    if !std::mem::replace(&mut warned, true) {
                        tracing::warn!("{error}; the CPU takes over such pairs");
                    }
                    queue.refuse(&lease);
                    let _ = sender.send(PumpMessage::Unsuited);
                }
                Err(error) => return Err(error),
            }
        }
        // ... send the last report ...
        held.release();
        // ... and collect the next one.
        let Some((ticket, lease)) = in_flight.pop_front() else { continue };
        let report = queue.call_watched(index, || engine.collect(ticket))?;
        let checked = match pool {
            Some(pool) => W::check_on(pool, &lease.batch, &report),
            None => W::check(&lease.batch, &report),
        };
        if let Err(wrong) = checked {
            return Err(Error::Device { device: engine.name().into(), message: wrong });
        }
        // The lease was revoked: another engine computes the work, and this engine was abandoned.
        let Some(finished) = queue.finish(&lease, report.unfinished()) else { return Ok(()) };
        if !report.unfinished().is_empty() {
            let count = report.unfinished().len();
            tracing::warn!("{} left {count} blocks unfinished; the CPU takes them over", engine.name());
        }
        held.done = Some((lease, report, finished));
        if !queue.is_postprocessing() || held.helper.is_some() {
            // This thread does not postprocess the report, so keeping it back gains nothing. If
            // chunks are read from a pipe, the next one may take long.
            held.release();
        }
    }
}
