//! Heartbeats: detection of engines that do not answer.
//!
//! An engine is silent while it computes a call without calling back. An engine for long pairs
//! calls back when it passes on a border of its panel, reports computed cells, or waits for the
//! panel to its left. An engine that is silent for too long is abandoned. From then on all its
//! results are ignored, even if it answers later, so that other engines can continue its work.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use super::patience::limit;
use crate::error::{Error, Result};

/// Sum of the times that the watching thread was awake. Time while the whole process was stopped
/// does not count.
#[derive(Debug, Default)]
pub(crate) struct WatchClock(AtomicU64);

impl WatchClock {
    fn now(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }

    /// Adds time that a thread spent awake.
    pub(crate) fn advance(&self, awake: Duration) {
        self.0.fetch_add(awake.as_nanos() as u64, Ordering::Relaxed);
    }
}

/// State of an engine during its calls.
#[derive(Debug)]
pub(crate) struct Heartbeat {
    clock: Arc<WatchClock>,
    state: Mutex<CallState>,
}

#[derive(Debug, Default)]
struct CallState {
    /// Expected seconds until the engine calls back; `None` outside a call or if the engine is
    /// never abandoned.
    expected: Option<f64>,
    /// Time of the last sign of life.
    last_sign: Duration,
    /// Number of callbacks in progress. During a callback the engine waits for the job, so it is
    /// not silent.
    callbacks: u32,
    /// Whether the engine has proved that it is ready.
    is_ready: bool,
    /// Whether the engine was abandoned.
    abandoned: bool,
    /// Number of computed cells.
    cells: u64,
    /// Working time of the engine.
    busy: Duration,
}

impl Heartbeat {
    /// Returns the heartbeat of an engine that is in no call.
    pub(crate) fn new(clock: &Arc<WatchClock>) -> Heartbeat {
        Heartbeat { clock: Arc::clone(clock), state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, CallState> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Starts a call. The engine should call back within `expected` seconds; `None` if it is never
    /// abandoned.
    pub(crate) fn begin_call(&self, expected: Option<f64>) {
        let now = self.clock.now();
        let mut state = self.state();
        (state.expected, state.last_sign, state.callbacks) = (expected, now, 0);
    }

    /// Records that the engine is ready.
    pub(crate) fn mark_ready(&self) {
        self.state().is_ready = true;
    }

    /// Ends the call. Returns whether its result counts.
    pub(crate) fn end_call(&self) -> bool {
        let mut state = self.state();
        self.end_work(&mut state);
        (state.expected, state.callbacks) = (None, 0);
        !state.abandoned
    }

    /// Runs a callback of the engine. `shows` states whether the callback proves that the engine is
    /// ready.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if the engine was abandoned; errors of `f`.
    pub(crate) fn call_back<T>(&self, shows: bool, f: impl FnOnce() -> Result<T>) -> Result<T> {
        {
            let mut state = self.state();
            if state.abandoned {
                return Err(Error::Interrupted);
            }
            self.end_work(&mut state);
            state.callbacks += 1;
            state.is_ready |= shows;
        }
        let result = f();
        let mut state = self.state();
        state.callbacks = state.callbacks.saturating_sub(1);
        state.last_sign = self.clock.now();
        result
    }

    /// Ends a working period of the engine.
    fn end_work(&self, state: &mut CallState) {
        let now = self.clock.now();
        if state.callbacks == 0 {
            state.busy += now.saturating_sub(state.last_sign);
        }
        state.last_sign = now;
    }

    /// Adds computed cells.
    pub(crate) fn add_cells(&self, cells: u64) {
        self.state().cells += cells;
    }

    /// Sets the computed cells and the working time to 0.
    pub(crate) fn reset_work(&self) {
        let mut state = self.state();
        (state.cells, state.busy) = (0, Duration::ZERO);
    }

    /// Abandons the engine if its silence is too long, and returns the duration of the silence.
    pub(crate) fn abandon_if_silent(&self, patience: Duration) -> Option<Duration> {
        let now = self.clock.now();
        let mut state = self.state();
        let expected = state.expected.filter(|_| state.callbacks == 0 && !state.abandoned)?;
        let silent = now.saturating_sub(state.last_sign);
        if silent.as_secs_f64() <= limit(patience, expected, state.is_ready) {
            return None;
        }
        self.end_work(&mut state);
        state.abandoned = true;
        Some(silent)
    }

    /// Abandons the engine: its results no longer count.
    pub(crate) fn abandon(&self) {
        self.state().abandoned = true;
    }

    /// Returns whether the engine was abandoned.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.state().abandoned
    }

    /// Returns the computed cells and the working time, to the precision of the clock.
    pub(crate) fn work_done(&self) -> (u64, Duration) {
        let state = self.state();
        (state.cells, state.busy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(30);

    fn heartbeat() -> (Arc<WatchClock>, Heartbeat) {
        let clock = Arc::new(WatchClock::default());
        let heartbeat = Heartbeat::new(&clock);
        (clock, heartbeat)
    }

    #[test]
    fn silence_starts_at_the_last_sign_of_life() {
        let (clock, heartbeat) = heartbeat();
        let seconds = |seconds| clock.advance(Duration::from_secs(seconds));
        seconds(1000);
        assert_eq!(heartbeat.abandon_if_silent(PATIENCE), None, "the engine is in no call");
        heartbeat.begin_call(Some(0.1));
        seconds(119);
        assert_eq!(heartbeat.abandon_if_silent(PATIENCE), None, "start-up may take four times as long");
        heartbeat.call_back(true, || Ok(())).unwrap();
        seconds(30);
        assert_eq!(heartbeat.abandon_if_silent(PATIENCE), None);
        heartbeat
            .call_back(false, || {
                seconds(500);
                assert_eq!(heartbeat.abandon_if_silent(PATIENCE), None, "the engine waits for the job");
                Ok(())
            })
            .unwrap();
        seconds(31);
        assert_eq!(heartbeat.abandon_if_silent(PATIENCE), Some(Duration::from_secs(31)));
        assert_eq!(heartbeat.abandon_if_silent(PATIENCE), None, "an engine is abandoned once");
        assert!(matches!(heartbeat.call_back(true, || Ok(())), Err(Error::Interrupted)));
        assert!(!heartbeat.end_call() && heartbeat.is_abandoned());
        assert_eq!(heartbeat.work_done().1, Duration::from_secs(119 + 30 + 31));
    }

    #[test]
    fn long_calls_are_allowed_more_silence() {
        let (clock, heartbeat) = heartbeat();
        heartbeat.begin_call(Some(10.0));
        clock.advance(Duration::from_secs(800));
        assert_eq!(heartbeat.abandon_if_silent(PATIENCE), None);
        heartbeat.call_back(true, || Ok(())).unwrap();
        clock.advance(Duration::from_secs(201));
        assert!(heartbeat.abandon_if_silent(PATIENCE).is_some());
        let (clock, trusted) = self::heartbeat();
        trusted.begin_call(None);
        clock.advance(Duration::from_secs(1 << 20));
        assert!(trusted.abandon_if_silent(PATIENCE).is_none() && trusted.end_call());
    }
}
