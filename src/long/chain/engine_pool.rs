//! The engines of a job, their watchdog and their statistics.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use super::TICK;
use crate::engine::guard::catch_panic;
use crate::engine::heartbeat::{Heartbeat, WatchClock};
use crate::engine::stats::EngineStats;
use crate::engine::watch::{EngineWatch, no_answer};
use crate::error::{Error, Result, plain};
use crate::long::LongEngine;

/// An engine with its statistics.
pub(crate) struct PoolMember {
    /// The engine.
    pub engine: Box<dyn LongEngine>,
    /// Its cells in sweeps and its busy time, without the time that it waited for its left
    /// neighbour.
    pub stats: EngineStats,
    /// Its number in the pool.
    pub id: usize,
    /// Heartbeat of the engine.
    pub heartbeat: Arc<Heartbeat>,
    /// Speed of the CPU in its last panel, in cells per second. Devices measure their own speed.
    pub host_speed: Option<f64>,
}

/// Opens the engine that takes over when no other engine is left.
pub type Reserve = Box<dyn FnOnce() -> Box<dyn LongEngine>>;

/// The engines of a job.
pub(crate) struct EnginePool {
    /// Engines that work.
    pub members: Vec<PoolMember>,
    gone: Vec<EngineStats>,
    /// Number of entries of `gone` that [`EnginePool::take_stats`] has returned.
    reported: usize,
    reserve: Option<Reserve>,
    patience: Duration,
    clock: Arc<WatchClock>,
    /// Number of engines that ever joined.
    count: usize,
}

/// Maximum number of cells of a task of the CPU that needs no separate thread. It takes about a
/// second.
const SHORT_TASK_CELLS: u64 = 1 << 32;

/// Minimum duration of a panel that shows the speed of the CPU.
const MIN_MEASURED_DURATION: Duration = Duration::from_millis(10);

/// An engine that works on a separate thread.
struct RunningMember {
    id: usize,
    heartbeat: Arc<Heartbeat>,
    stats: EngineStats,
}

impl EnginePool {
    /// Creates a pool of these engines. `patience` limits the silence of an engine.
    pub(crate) fn new(engines: Vec<Box<dyn LongEngine>>, reserve: Option<Reserve>, patience: Duration) -> EnginePool {
        let clock = Arc::default();
        let (members, gone) = (Vec::new(), Vec::new());
        let mut engine_pool = EnginePool { members, gone, reported: 0, reserve, patience, clock, count: 0 };
        for engine in engines {
            engine_pool.join(engine);
        }
        engine_pool
    }

    fn join(&mut self, engine: Box<dyn LongEngine>) {
        let stats = EngineStats::of_one_thread(engine.label());
        self.members.push(PoolMember {
            engine,
            stats,
            id: self.count,
            heartbeat: Arc::new(Heartbeat::new(&self.clock)),
            host_speed: None,
        });
        self.count += 1;
    }

    /// Opens the reserve engine. Returns whether there was one.
    pub(crate) fn call_reserve(&mut self) -> bool {
        let Some(open) = self.reserve.take() else { return false };
        let engine = open();
        tracing::warn!("{} takes over, because no other engine is left", engine.label());
        self.join(engine);
        true
    }

    /// Removes engines that were abandoned.
    pub(crate) fn remove_abandoned(&mut self) {
        let (left, lost): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.members).into_iter().partition(|member| member.stats.lost.is_none());
        self.members = left;
        for member in lost {
            self.gone.push(member.stats);
            close(member.engine);
        }
    }

    /// Returns whether a member with one of these numbers is left.
    pub(crate) fn has_any(&self, ids: &[usize]) -> bool {
        self.members.iter().any(|member| ids.contains(&member.id))
    }

    /// Returns the engines, fastest first.
    pub(crate) fn by_speed(&mut self) -> Vec<&mut PoolMember> {
        self.remove_abandoned();
        let mut speeds = Vec::new();
        for member in &mut self.members {
            speeds.extend(member.query(|engine| engine.speed()));
        }
        self.remove_abandoned();
        let mut members: Vec<(f64, &mut PoolMember)> = speeds.into_iter().zip(&mut self.members).collect();
        members.sort_by(|a, b| b.0.total_cmp(&a.0));
        members.into_iter().map(|(_, member)| member).collect()
    }

    /// Returns engines that compute separate pairs at the same time. Together they have the threads
    /// and the memory of all engines. An engine that cannot be divided has none.
    pub(crate) fn engines_for_pairs(&mut self) -> Vec<Box<dyn LongEngine>> {
        self.remove_abandoned();
        let divided = self.members.iter_mut().filter_map(PoolMember::divide).flatten().collect();
        self.remove_abandoned();
        divided
    }

    /// Returns whether the CPU is the only engine.
    pub(crate) fn is_host_alone(&mut self) -> bool {
        match &mut self.members[..] {
            [only] => only.query(|engine| engine.is_host()).unwrap_or(false),
            _ => false,
        }
    }

    /// Returns whether the CPU computes together with devices.
    pub(crate) fn has_host(&mut self) -> bool {
        self.remove_abandoned();
        let is_host = |member: &mut PoolMember| member.query(|engine| engine.is_host()).unwrap_or(false);
        let hosts = self.members.iter_mut().map(is_host).filter(|&is_host| is_host).count();
        (1..self.members.len()).contains(&hosts)
    }

    /// Removes the CPU from the engines for some time, if another engine is left.
    pub(crate) fn set_aside_hosts(&mut self) -> Vec<PoolMember> {
        self.remove_abandoned();
        let is_host = |member: &mut PoolMember| member.query(|engine| engine.is_host()).unwrap_or(false);
        let (hosts, devices): (Vec<_>, Vec<_>) = std::mem::take(&mut self.members)
            .into_iter()
            .map(|mut member| (is_host(&mut member), member))
            .partition(|(is_host, _)| *is_host);
        let members = |side: Vec<(bool, PoolMember)>| side.into_iter().map(|(_, member)| member).collect();
        if devices.is_empty() {
            self.members = members(hosts);
            return Vec::new();
        }
        self.members = members(devices);
        members(hosts)
    }

    /// Puts back engines that were set aside.
    pub(crate) fn put_back(&mut self, hosts: Vec<PoolMember>) {
        self.members.extend(hosts);
        self.members.sort_by_key(|member| member.id);
    }

    /// Runs a task on the members with these numbers, each on a separate thread, until all of them
    /// have returned or were abandoned. Returns the results of the members that returned. Calls
    /// `lost` with the number of each member that panicked or was abandoned, before other threads
    /// can notice. Calls `is_over` regularly to check whether the results are no longer needed. In
    /// that case, members that do not return soon are abandoned.
    ///
    /// The threads are not scoped, because a thread whose device never answers must be left behind.
    /// If the CPU alone computes few cells, it computes them on this thread, because it always
    /// returns. `cells` is the number of cells of the task.
    pub(crate) fn work<T: Send + 'static>(
        &mut self,
        ids: &[usize],
        cells: u64,
        task: impl Fn(&mut PoolMember) -> T + Send + Sync + 'static,
        mut lost: impl FnMut(usize),
        mut is_over: impl FnMut() -> bool,
    ) -> Vec<T> {
        if let Some(host) = self.host_for_short_task(ids, cells) {
            let done = catch_panic(|| task(host));
            if let Err(said) = &done {
                host.remove_member(format!("it panicked: {said}"));
                lost(host.id);
            }
            is_over();
            return done.into_iter().collect();
        }
        let (sender, receiver) = channel();
        let mut away = self.start(ids, task, sender);
        let mut watch = EngineWatch::new(receiver, Some(self.patience), TICK);
        let mut results = Vec::new();
        while !away.is_empty() {
            // Does not end here, because every thread sends its member back.
            let Some(event) = watch.wait() else { break };
            if let Some((mut member, done)) = event.message {
                match away.iter().position(|there| there.id == member.id) {
                    Some(index) => {
                        away.remove(index);
                        match done {
                            Ok(result) => results.push(result),
                            Err(said) => {
                                member.remove_member(format!("it panicked: {said}"));
                                lost(member.id);
                            }
                        }
                        self.members.push(member);
                    }
                    // The engine was abandoned. Its result is ignored.
                    None => close(member.engine),
                }
            }
            self.clock.advance(event.awake);
            let silent = |there: &RunningMember| there.heartbeat.abandon_if_silent(watch.patience);
            let silent_member = away.iter().enumerate().find_map(|(index, there)| Some((index, silent(there)?)));
            if let Some((index, silent)) = silent_member {
                let there = away.remove(index);
                lost(there.id);
                self.record_abandoned(there, no_answer(silent));
            }
            if is_over() && watch.is_grace_over() {
                break;
            }
        }
        for there in away {
            there.heartbeat.abandon();
            self.gone.push(there.stats);
        }
        is_over();
        self.members.sort_by_key(|member| member.id);
        results
    }

    /// Returns the only member with these numbers if it is the CPU and the task has few cells.
    fn host_for_short_task(&mut self, ids: &[usize], cells: u64) -> Option<&mut PoolMember> {
        let &[id] = ids else { return None };
        let member = self.members.iter_mut().find(|member| member.id == id && cells <= SHORT_TASK_CELLS)?;
        let is_host = member.query(|engine| engine.is_host()).unwrap_or(false);
        Some(member).filter(|_| is_host)
    }

    /// Starts a task on the members with these numbers, each on a separate thread that sends the
    /// member and its result back. Returns the members whose threads were started.
    fn start<T: Send + 'static>(
        &mut self,
        ids: &[usize],
        task: impl Fn(&mut PoolMember) -> T + Send + Sync + 'static,
        sender: Sender<(PoolMember, Result<T, String>)>,
    ) -> Vec<RunningMember> {
        let task = Arc::new(task);
        let (workers, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.members).into_iter().partition(|member| ids.contains(&member.id));
        self.members = others;
        let mut away = Vec::new();
        for mut member in workers {
            let (id, heartbeat, stats) = (member.id, Arc::clone(&member.heartbeat), member.stats.clone());
            let (task, sender) = (Arc::clone(&task), sender.clone());
            let name = format!("pairwave-{id}-{}", stats.name);
            let work = move || {
                let done = catch_panic(|| task(&mut member));
                // Drops the captures of the task before the pool receives the result.
                drop(task);
                if let Err(unheard) = sender.send((member, done)) {
                    let _ = catch_panic(|| drop(unheard));
                }
            };
            away.push(RunningMember { id, heartbeat, stats });
            if let Err(error) = std::thread::Builder::new().name(name).spawn(work) {
                let there = away.pop();
                there.into_iter().for_each(|there| {
                    self.record_abandoned(there, format!("no thread could be started: {}", plain(&error)))
                });
            }
        }
        away
    }

    /// Records that a member was abandoned.
    fn record_abandoned(&mut self, away: RunningMember, why: String) {
        let RunningMember { heartbeat, mut stats, .. } = away;
        let (cells, busy) = heartbeat.work_done();
        (stats.cells, stats.busy_seconds) = (cells, busy.as_secs_f64());
        stats.record_loss(why);
        self.gone.push(stats);
    }

    /// Returns the error for a pool in which no engine is left.
    pub(crate) fn no_engine_left(&self) -> Error {
        let (device, message) = match self.gone.last() {
            Some(stats) => (stats.name.clone(), stats.lost.clone().unwrap_or_default()),
            None => ("none".into(), "there is no engine for long pairs".into()),
        };
        Error::Device { device, message: format!("no engine is left: {message}") }
    }

    /// Returns the statistics of all engines since the last call, one row for each engine, and
    /// resets them. Engines may have the same name.
    pub(crate) fn take_stats(&mut self) -> Vec<EngineStats> {
        let mut stats: Vec<EngineStats> = Vec::new();
        for member in &mut self.members {
            member.heartbeat.reset_work();
            let fresh = EngineStats::of_one_thread(&member.stats.name);
            stats.push(std::mem::replace(&mut member.stats, fresh));
        }
        stats.extend_from_slice(&self.gone[self.reported..]);
        self.reported = self.gone.len();
        stats
    }
}

impl Drop for EnginePool {
    fn drop(&mut self) {
        self.remove_abandoned();
        for member in self.members.drain(..) {
            // A panic here loses no work.
            let _ = catch_panic(|| drop(member));
        }
    }
}

/// Drops an engine that was abandoned. Dropping it may panic or never return.
fn close(engine: Box<dyn LongEngine>) {
    // If no thread can be started, the engine is dropped on this thread.
    let _ = catch_panic(|| {
        std::thread::Builder::new().name("pairwave-close".into()).spawn(|| catch_panic(|| drop(engine)))
    });
}

impl PoolMember {
    /// Calls the engine while the watchdog observes it. `cells` is the expected number of cells
    /// until the engine calls back. A panic becomes an [`Error::Device`].
    pub(crate) fn call<T>(&mut self, cells: u64, f: impl FnOnce(&mut dyn LongEngine) -> Result<T>) -> Result<T> {
        let engine = &self.engine;
        let expected = catch_panic(|| (!engine.is_host()).then(|| cells as f64 / engine.speed().max(1.0)));
        let result = expected.and_then(|expected| {
            self.heartbeat.begin_call(expected);
            catch_panic(|| f(self.engine.as_mut()))
        });
        if !self.heartbeat.end_call() {
            return Err(Error::Interrupted);
        }
        result.unwrap_or_else(|said| {
            Err(Error::Device { device: self.stats.name.clone(), message: format!("it panicked: {said}") })
        })
    }

    /// Queries a property of the engine. An engine that panics is abandoned.
    pub(crate) fn query<T>(&mut self, f: impl FnOnce(&dyn LongEngine) -> T) -> Option<T> {
        let answer = catch_panic(|| f(self.engine.as_ref()));
        answer.map_err(|said| self.remove_member(format!("it panicked: {said}"))).ok()
    }

    /// Returns the speed of a panel of `cells` cells: the measured speed of the CPU, or the speed that
    /// a device states. An engine that panics is abandoned.
    pub(crate) fn panel_speed(&mut self, cells: u64, busy: Duration) -> Option<f64> {
        let (is_host, speed) = self.query(|engine| (engine.is_host(), engine.speed()))?;
        if !is_host {
            return Some(speed);
        }
        if busy >= MIN_MEASURED_DURATION {
            self.host_speed = Some(cells as f64 / busy.as_secs_f64());
        }
        Some(self.host_speed.unwrap_or(speed))
    }

    /// Returns the engines for separate pairs. An engine that panics is abandoned.
    fn divide(&mut self) -> Option<Vec<Box<dyn LongEngine>>> {
        let divided = catch_panic(|| self.engine.engines_for_pairs());
        divided.map_err(|said| self.remove_member(format!("it panicked: {said}"))).ok()
    }

    /// Returns whether an error is the fault of the engine, so that other engines can continue.
    /// Such an engine is abandoned.
    pub(crate) fn is_engine_fault(&mut self, error: &Error) -> bool {
        let is_device_error = matches!(error, Error::Device { .. } | Error::Unsuited { .. });
        if is_device_error {
            self.remove_member(error.to_string());
        }
        is_device_error
    }

    fn remove_member(&mut self, why: String) {
        self.stats.record_loss(why);
    }
}
