//! Observation of engine threads: waits for their messages and measures how long it was able to
//! observe them. The queue's owner and the pool of engines for one long matrix use it.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::patience::{GRACE, PATIENCE};

/// Receives the messages of engine threads for the thread that observes them.
pub(crate) struct EngineWatch<T> {
    receiver: Receiver<T>,
    /// Longest silence of an engine.
    pub patience: Duration,
    /// How often the observer checks its engines if no message arrives.
    tick: Duration,
    /// End of the last wait.
    checked: Instant,
    /// Time since when results are no longer needed.
    ending: Option<Instant>,
}

/// End of a wait for a message.
pub(crate) struct WatchEvent<T> {
    /// The message; `None` if none arrived within a tick.
    pub message: Option<T>,
    /// Time that the observer was awake since the last event. Time while it did not run does not
    /// count as silence of its engines: it was busy with results, or the process was stopped.
    pub awake: Duration,
}

impl<T> EngineWatch<T> {
    /// Starts to observe the senders of a channel. `patience` is the longest silence of an engine;
    /// `None` for the default. The watch checks at least every `tick`.
    pub(crate) fn new(receiver: Receiver<T>, patience: Option<Duration>, tick: Duration) -> Self {
        let patience = patience.unwrap_or(PATIENCE);
        EngineWatch { receiver, patience, tick: tick.min(patience / 4), checked: Instant::now(), ending: None }
    }

    /// Waits for a message, at most for a tick. Returns `None` if all senders are gone.
    pub(crate) fn wait(&mut self) -> Option<WatchEvent<T>> {
        let message = match self.receiver.recv_timeout(self.tick) {
            Ok(message) => Some(message),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return None,
        };
        let awake = self.checked.elapsed().min(2 * self.tick);
        self.checked = Instant::now();
        Some(WatchEvent { message, awake })
    }

    /// Returns a message that has already arrived.
    pub(crate) fn arrived(&self) -> Option<T> {
        self.receiver.try_recv().ok()
    }

    /// Records that results are no longer needed. Returns whether the engines had [`GRACE`] to
    /// return since the first call.
    pub(crate) fn is_grace_over(&mut self) -> bool {
        self.ending.get_or_insert_with(Instant::now).elapsed() > GRACE
    }

    /// Waits for a message of an engine that closes. Returns `None` if engines had [`GRACE`] to
    /// close since the results were complete or no longer needed.
    pub(crate) fn last_message(&mut self) -> Option<T> {
        let end = *self.ending.get_or_insert_with(Instant::now) + GRACE;
        self.receiver.recv_timeout(end.saturating_duration_since(Instant::now())).ok()
    }
}

/// Returns the reason to abandon an engine that was silent for this time.
pub(crate) fn no_answer(silent: Duration) -> String {
    format!("no answer for {:.1} s", silent.as_secs_f64())
}
