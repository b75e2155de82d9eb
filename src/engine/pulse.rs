//! Whether an engine still answers.
//!
//! An engine is silent while it is in a call and does not call back: neither hands on an edge or tells of cells, nor waits
//! for its left neighbour. Who is silent for too long is given up. From then on all that it says counts for nothing, so
//! that others can take over its work whenever it wakes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use super::patience::limit;
use crate::error::{Error, Result};

/// Time in which somebody was awake to watch: that in which the process stood still is no engine's fault.
#[derive(Debug, Default)]
pub(crate) struct WatchClock(AtomicU64);

impl WatchClock {
    fn now(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }

    /// Somebody was awake for so long.
    pub(crate) fn advance(&self, awake: Duration) {
        self.0.fetch_add(awake.as_nanos() as u64, Ordering::Relaxed);
    }
}

/// What is known of an engine while it is in a call.
#[derive(Debug)]
pub(crate) struct Pulse {
    clock: Arc<WatchClock>,
    state: Mutex<CallState>,
}

#[derive(Debug, Default)]
struct CallState {
    /// In a call, seconds that are expected until the engine calls back.
    expected: Option<f64>,
    /// When it was last heard.
    heard: Duration,
    /// Calls back that are going on: the engine waits for the job, not the job for it.
    inside: u32,
    /// Whether it has ever handed anything on.
    shown: bool,
    lost: bool,
    cells: u64,
    busy: Duration,
}

impl Pulse {
    /// Of an engine that is in no call.
    pub(crate) fn new(clock: &Arc<WatchClock>) -> Pulse {
        Pulse { clock: Arc::clone(clock), state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, CallState> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The engine is called and expected to call back within so many seconds; `None` if it is never given up.
    pub(crate) fn begin(&self, expected: Option<f64>) {
        let now = self.clock.now();
        let mut state = self.state();
        (state.expected, state.heard, state.inside) = (expected, now, 0);
    }

    /// The engine has proved that it is ready.
    pub(crate) fn show(&self) {
        self.state().shown = true;
    }

    /// The call is over. Says whether its result counts.
    pub(crate) fn end(&self) -> bool {
        let mut state = self.state();
        self.rest(&mut state);
        (state.expected, state.inside) = (None, 0);
        !state.lost
    }

    /// The engine calls back; `shows` if that proves that it is ready.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if it was given up; what `f` returns.
    pub(crate) fn hear<T>(&self, shows: bool, f: impl FnOnce() -> Result<T>) -> Result<T> {
        {
            let mut state = self.state();
            if state.lost {
                return Err(Error::Interrupted);
            }
            self.rest(&mut state);
            state.inside += 1;
            state.shown |= shows;
        }
        let result = f();
        let mut state = self.state();
        state.inside = state.inside.saturating_sub(1);
        state.heard = self.clock.now();
        result
    }

    /// Ends a time in which the engine worked.
    fn rest(&self, state: &mut CallState) {
        let now = self.clock.now();
        if state.inside == 0 {
            state.busy += now.saturating_sub(state.heard);
        }
        state.heard = now;
    }

    /// The engine computed more cells.
    pub(crate) fn add_cells(&self, cells: u64) {
        self.state().cells += cells;
    }

    /// Gives the engine up if it is silent for longer than it may; says for how long.
    pub(crate) fn give_up_if_silent(&self, patience: Duration) -> Option<Duration> {
        let now = self.clock.now();
        let mut state = self.state();
        let expected = state.expected.filter(|_| state.inside == 0 && !state.lost)?;
        let silent = now.saturating_sub(state.heard);
        if silent.as_secs_f64() <= limit(patience, expected, state.shown) {
            return None;
        }
        self.rest(&mut state);
        state.lost = true;
        Some(silent)
    }

    /// Nothing that the engine says counts any more.
    pub(crate) fn give_up(&self) {
        self.state().lost = true;
    }

    /// Whether it was given up.
    pub(crate) fn is_lost(&self) -> bool {
        self.state().lost
    }

    /// Cells that the engine computed, and the time in which it did, to the clock's precision.
    pub(crate) fn done(&self) -> (u64, Duration) {
        let state = self.state();
        (state.cells, state.busy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(30);

    fn pulse() -> (Arc<WatchClock>, Pulse) {
        let clock = Arc::new(WatchClock::default());
        let pulse = Pulse::new(&clock);
        (clock, pulse)
    }

    #[test]
    fn silence_is_measured_from_the_last_sign_of_life() {
        let (clock, pulse) = pulse();
        let seconds = |seconds| clock.advance(Duration::from_secs(seconds));
        seconds(1000);
        assert_eq!(pulse.give_up_if_silent(PATIENCE), None, "it is in no call");
        pulse.begin(Some(0.1));
        seconds(119);
        assert_eq!(pulse.give_up_if_silent(PATIENCE), None, "it may get ready for four times as long");
        pulse.hear(true, || Ok(())).unwrap();
        seconds(30);
        assert_eq!(pulse.give_up_if_silent(PATIENCE), None);
        pulse
            .hear(false, || {
                seconds(500);
                assert_eq!(pulse.give_up_if_silent(PATIENCE), None, "it waits for the job");
                Ok(())
            })
            .unwrap();
        seconds(31);
        assert_eq!(pulse.give_up_if_silent(PATIENCE), Some(Duration::from_secs(31)));
        assert_eq!(pulse.give_up_if_silent(PATIENCE), None, "it is told once");
        assert!(matches!(pulse.hear(true, || Ok(())), Err(Error::Interrupted)));
        assert!(!pulse.end() && pulse.is_lost());
        assert_eq!(pulse.done().1, Duration::from_secs(119 + 30 + 31));
    }

    #[test]
    fn who_has_much_to_do_may_take_longer() {
        let (clock, pulse) = pulse();
        pulse.begin(Some(10.0));
        clock.advance(Duration::from_secs(800));
        assert_eq!(pulse.give_up_if_silent(PATIENCE), None);
        pulse.hear(true, || Ok(())).unwrap();
        clock.advance(Duration::from_secs(201));
        assert!(pulse.give_up_if_silent(PATIENCE).is_some());
        let (clock, trusted) = self::pulse();
        trusted.begin(None);
        clock.advance(Duration::from_secs(1 << 20));
        assert!(trusted.give_up_if_silent(PATIENCE).is_none() && trusted.end());
    }
}
