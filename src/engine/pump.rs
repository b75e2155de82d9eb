//! One engine's thread: submit the next, settle and hand over the last, collect one more. It sleeps while the engine
//! computes.

use std::collections::VecDeque;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use super::guard::catch;
use super::queue::{Finished, Lease, Pull, WorkQueue};
use super::{Engine, Reported, Ticket, Work};
use crate::error::{Error, Result};

/// What a pump tells the queue's owner.
pub enum Message<W: Work> {
    /// A batch is done, up to the blocks that its report calls unfinished.
    Done {
        /// The work.
        lease: Lease<W>,
        /// What came of it.
        report: W::Report,
        /// When.
        finished: Finished,
    },
    /// Work went back that this engine cannot do.
    Unsuited,
    /// The engine has stopped: there is no work left, or it failed. What it held went back.
    Ended {
        /// The engine.
        engine: usize,
        /// Why it failed.
        error: Option<String>,
    },
    /// The thread ends.
    Gone {
        /// The engine.
        engine: usize,
        /// The engine itself, if it was to be kept and did not fail; else its device is closed.
        kept: Option<Box<dyn Engine<W>>>,
    },
}

/// Runs an engine until the queue is finished or the engine fails. Whatever happens, no lease is lost: the queue knows
/// them all. An engine that was given up in the meantime has nothing more to say. Reports are checked on the threads of
/// `pool`, if there is one. `keep`: the engine goes back to the owner, if all is well with it.
pub fn drive<W: Work>(
    index: usize,
    mut engine: Box<dyn Engine<W>>,
    queue: &WorkQueue<W>,
    pool: Option<&rayon::ThreadPool>,
    keep: bool,
    sender: &SyncSender<Message<W>>,
) {
    let helpers = pool.filter(|_| !engine.universal());
    let ended = thread::scope(|scope| {
        // This thread has a device's next results to collect while the last ones are settled.
        let beside = helpers.filter(|_| queue.is_settling()).map(|_| {
            let (give, take) = sync_channel(1);
            scope.spawn(move || take.into_iter().for_each(|done| hand_over(queue, done, helpers, sender)));
            give
        });
        let mut desk = Desk { queue, sender, beside, done: None };
        let ended = catch(|| work(index, engine.as_mut(), pool, &mut desk));
        // Also of an engine that failed after it: the queue counts the work as done.
        desk.clear();
        ended
    });
    let is_well = matches!(ended, Ok(Ok(())));
    let error = match ended {
        Ok(Ok(())) | Ok(Err(Error::Interrupted)) => None,
        Ok(Err(error)) => Some(error.to_string()),
        Err(said) => Some(format!("panicked: {said}")),
    };
    let was_there = queue.retire(index);
    if was_there {
        // Before the device is dropped, which may take a while or never end: the others need not wait for that. The owner
        // has gone only if the job has ended.
        let _ = sender.send(Message::Ended { engine: index, error });
    }
    let kept = if keep && is_well && was_there {
        Some(engine)
    } else {
        // Dropping a lost device may fail as well; that must not end the job.
        let _ = catch(|| drop(engine));
        None
    };
    let _ = sender.send(Message::Gone { engine: index, kept });
}

/// A report that is on its way to the owner.
type Done<W> = (Lease<W>, <W as Work>::Report, Finished);

/// Settles a report and hands it over.
fn hand_over<W: Work>(
    queue: &WorkQueue<W>,
    (lease, report, finished): Done<W>,
    helpers: Option<&rayon::ThreadPool>,
    sender: &SyncSender<Message<W>>,
) {
    let report = queue.settle(&lease, report, helpers);
    // Nobody listens only if the job has ended.
    let _ = sender.send(Message::Done { lease, report, finished });
}

/// The last report. The engine gets its next batch first, so that it computes while the report is settled: beside this thread, or
/// by it.
struct Desk<'a, W: Work> {
    queue: &'a WorkQueue<W>,
    sender: &'a SyncSender<Message<W>>,
    /// Who settles reports beside this thread.
    beside: Option<SyncSender<Done<W>>>,
    done: Option<Done<W>>,
}

impl<W: Work> Desk<'_, W> {
    /// Has what lies here settled and handed over.
    fn clear(&mut self) {
        let Some(done) = self.done.take() else { return };
        match &self.beside {
            // It ends after this.
            Some(beside) => drop(beside.send(done)),
            None => hand_over(self.queue, done, None, self.sender),
        }
    }
}

fn work<W: Work>(
    index: usize,
    engine: &mut dyn Engine<W>,
    pool: Option<&rayon::ThreadPool>,
    desk: &mut Desk<'_, W>,
) -> Result<()> {
    let (queue, sender) = (desk.queue, desk.sender);
    let mut in_flight: VecDeque<(Ticket, Lease<W>)> = VecDeque::new();
    let mut warned = false;
    loop {
        // Submit the next ...
        let batches = engine.capacity().batches.max(1);
        while in_flight.len() < batches {
            // Who waits for work has nothing that others wait for.
            let is_idle = in_flight.is_empty() && desk.done.is_none();
            let lease = match queue.pull(index, engine.capacity(), is_idle) {
                Pull::Work(lease) => lease,
                Pull::Nothing => break,
                Pull::Finished if is_idle => return Ok(()),
                Pull::Finished => break,
            };
            engine.expect(queue.remaining_for(index));
            match queue.watched(index, || engine.submit(lease.batch.clone())) {
                Ok(ticket) => in_flight.push_back((ticket, lease)),
                Err(error @ Error::Unsuited { .. }) if !engine.universal() => {
                    if !std::mem::replace(&mut warned, true) {
                        tracing::warn!("{error}; the CPU takes over such pairs");
                    }
                    queue.refuse(&lease);
                    let _ = sender.send(Message::Unsuited);
                }
                Err(error) => return Err(error),
            }
        }
        // ... hand over the last ...
        desk.clear();
        // ... and collect one more.
        let Some((ticket, lease)) = in_flight.pop_front() else { continue };
        let report = queue.watched(index, || engine.collect(ticket))?;
        let checked = match pool {
            Some(pool) => W::check_on(pool, &lease.batch, &report),
            None => W::check(&lease.batch, &report),
        };
        if let Err(wrong) = checked {
            return Err(Error::Device { device: engine.name().into(), message: wrong });
        }
        // The lease was taken away: somebody else computes it, and this engine was given up.
        let Some(finished) = queue.finish(&lease, report.unfinished()) else { return Ok(()) };
        if !report.unfinished().is_empty() {
            let count = report.unfinished().len();
            tracing::warn!("{} left {count} blocks unfinished; the CPU takes them over", engine.name());
        }
        desk.done = Some((lease, report, finished));
        if !queue.is_settling() || desk.beside.is_some() {
            // Nothing is won by keeping it, and where chunks are read from a pipe the next one may be long in coming.
            desk.clear();
        }
    }
}
