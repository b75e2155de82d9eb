//! The owner of a job's queue. It starts a thread for every engine, passes results on, and abandons
//! engines that do not answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::ordered::ReorderWindow;
use super::postprocess::Postprocess;
use super::pump::{self, PumpMessage};
use super::queue::{self, ChunkInfo, ChunkSource, LeaseEnd, WorkLease, WorkQueue};
use super::sizing::SpeedRecord;
use super::stats::{EngineStats, RunStats};
use super::threads::no_thread;
use super::watch::{EngineWatch, no_answer};
use super::{Batch, BatchReport, Engine, Work};
use crate::error::{Error, Result};

/// Smallest capacity of the channel that carries reports to the owner. Engines wait while it is
/// full. The capacity is at least the number of engines.
const WAITING_REPORTS: usize = 4;
/// How often the owner checks its engines if no report arrives.
const TICK: Duration = Duration::from_millis(200);

/// Settings of a job for its engines.
#[derive(Debug, Clone, Default)]
pub struct Control {
    /// Set to end the job early.
    pub interrupt: Arc<AtomicBool>,
    /// Longest silence of a device during a call; `None` for 30 s. A call may always take 20 times
    /// its expected duration.
    pub patience: Option<Duration>,
    /// Threads that check large reports; `None` to use only the threads of the engines. The job
    /// itself must not run on a thread of this pool, because its engines wait for the pool.
    pub pool: Option<Arc<rayon::ThreadPool>>,
    /// Limit on how far ahead chunks are planned. It is shared with the collection in which `sink`
    /// gathers results.
    pub window: Arc<ReorderWindow>,
    /// Whether the future chunks are unknown. The job's number of cells is then an estimate, and
    /// only cells of planned chunks are divided among the engines.
    pub is_open_ended: bool,
    /// Cells that future chunks are certain to have. Used with [`Control::is_open_ended`].
    pub pending_cells: Arc<AtomicU64>,
}

/// Finished work.
#[derive(Debug)]
pub struct BatchOutcome<W: Work> {
    /// Chunk that the batch belongs to.
    pub chunk: Arc<ChunkInfo>,
    /// The batch.
    pub batch: Arc<Batch<W>>,
    /// Number of finished pairs in the batch.
    pub pairs: u64,
    /// Number of finished cells in the batch.
    pub cells: u64,
    /// Results of the finished blocks.
    pub report: W::Report,
}

/// Engines that may outlive a run, with their measured speeds.
pub struct EngineSet<W: Work> {
    members: Vec<RatedEngine<W>>,
    /// Whether the engines are kept after a run.
    keep: bool,
}

/// An engine and its measured speed.
type RatedEngine<W> = (Box<dyn Engine<W>>, SpeedRecord);

fn unrated<W: Work>(engines: Vec<Box<dyn Engine<W>>>) -> Vec<RatedEngine<W>> {
    engines.into_iter().map(|engine| (engine, SpeedRecord::default())).collect()
}

impl<W: Work> EngineSet<W> {
    /// Returns a set of engines whose speed is unknown. They are kept after a run.
    pub fn new(engines: Vec<Box<dyn Engine<W>>>) -> Self {
        EngineSet { members: unrated(engines), keep: true }
    }

    /// Returns a set of engines for a single run. Each engine is closed as soon as it has no more
    /// work.
    pub fn for_once(engines: Vec<Box<dyn Engine<W>>>) -> Self {
        EngineSet { members: unrated(engines), keep: false }
    }

    /// Returns whether the set has no engine.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Closes all engines except those that `is_kept` accepts.
    pub fn retain(&mut self, is_kept: impl Fn(&dyn Engine<W>) -> bool) {
        self.members.retain(|(engine, _)| is_kept(engine.as_ref()));
    }

    /// Returns the engines.
    pub fn engines(&self) -> impl Iterator<Item = &dyn Engine<W>> {
        self.members.iter().map(|(engine, _)| engine.as_ref())
    }
}

/// The owner's record of an engine.
struct EngineMember<W: Work> {
    stats: EngineStats,
    universal: bool,
    /// Whether the engine takes work.
    alive: bool,
    /// Whether the thread of the engine has ended, or the owner no longer waits for it.
    gone: bool,
    thread: Option<JoinHandle<()>>,
    /// Error of the system if it refused to start the thread.
    refused: Option<String>,
    /// The engine, returned by its thread.
    kept: Option<Box<dyn Engine<W>>>,
}

struct Owner<W: Work> {
    queue: Arc<WorkQueue<W>>,
    sender: SyncSender<PumpMessage<W>>,
    pool: Option<Arc<rayon::ThreadPool>>,
    /// Whether engines are returned after the run.
    keep: bool,
    members: Vec<EngineMember<W>>,
}

/// Stops the queue when the owner returns or panics.
struct StopAtTheEnd<W: Work>(Arc<WorkQueue<W>>);

impl<W: Work> Drop for StopAtTheEnd<W> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Computes all chunks on the engines and passes every outcome to `sink`, in no particular order.
///
/// An engine is abandoned with a warning if it fails, if its report cannot be correct, or if it
/// does not answer in time. Its work goes to the other engines. The `reserve` is started if no
/// engine is left, or if some work needs an engine that accepts every batch and none is left.
///
/// # Errors
/// Errors of `sink`; [`Error::Interrupted`]; [`Error::Internal`] if the reserve fails as well.
pub fn run<W: Work>(
    engines: Vec<Box<dyn Engine<W>>>,
    reserve: impl FnOnce() -> Vec<Box<dyn Engine<W>>>,
    chunks: impl ChunkSource<W> + 'static,
    cells: u64,
    control: &Control,
    sink: impl FnMut(BatchOutcome<W>) -> Result<()>,
) -> Result<RunStats> {
    run_set(&mut EngineSet::for_once(engines), reserve, chunks, cells, control, sink)
}

/// Runs chunks like [`run`], on engines that may outlive the run. When it returns, even with an
/// error, `engine_set` contains the engines that were not abandoned, and the reserve if it was
/// started.
///
/// # Errors
/// The errors of [`run`].
pub fn run_set<W: Work>(
    engine_set: &mut EngineSet<W>,
    reserve: impl FnOnce() -> Vec<Box<dyn Engine<W>>>,
    chunks: impl ChunkSource<W> + 'static,
    cells: u64,
    control: &Control,
    sink: impl FnMut(BatchOutcome<W>) -> Result<()>,
) -> Result<RunStats> {
    run_postprocessed(engine_set, reserve, chunks, cells, control, None, sink)
}

/// Runs chunks like [`run_set`]. Reports are postprocessed on the threads of their engines before
/// `sink` receives them.
///
/// # Errors
/// The errors of [`run`].
pub fn run_postprocessed<W: Work>(
    engine_set: &mut EngineSet<W>,
    reserve: impl FnOnce() -> Vec<Box<dyn Engine<W>>>,
    chunks: impl ChunkSource<W> + 'static,
    cells: u64,
    control: &Control,
    postprocess: Option<Arc<dyn Postprocess<W>>>,
    sink: impl FnMut(BatchOutcome<W>) -> Result<()>,
) -> Result<RunStats> {
    let queue = WorkQueue::<W>::new(Box::new(chunks), cells, Arc::clone(&control.interrupt), queue::wall_clock());
    let queue = queue.with_window(Arc::clone(&control.window)).with_coming(Arc::clone(&control.pending_cells));
    let queue = queue.with_postprocessing(postprocess);
    let queue = Arc::new(if control.is_open_ended { queue.with_unknown_cells() } else { queue });
    drive(queue, engine_set, reserve, control, sink)
}

/// Runs a queue that receives blocks while it runs ([`WorkQueue::streaming`]). It returns when the
/// queue is closed and all its work is done.
///
/// # Errors
/// The errors of [`run`].
pub fn run_queue<W: Work>(
    queue: Arc<WorkQueue<W>>,
    engines: Vec<Box<dyn Engine<W>>>,
    reserve: impl FnOnce() -> Vec<Box<dyn Engine<W>>>,
    control: &Control,
    sink: impl FnMut(BatchOutcome<W>) -> Result<()>,
) -> Result<RunStats> {
    drive(queue, &mut EngineSet::for_once(engines), reserve, control, sink)
}

/// Runs a queue on a set of engines. The engines return to the set if the set keeps them.
fn drive<W: Work>(
    queue: Arc<WorkQueue<W>>,
    engine_set: &mut EngineSet<W>,
    reserve: impl FnOnce() -> Vec<Box<dyn Engine<W>>>,
    control: &Control,
    mut sink: impl FnMut(BatchOutcome<W>) -> Result<()>,
) -> Result<RunStats> {
    let start = Instant::now();
    let _stop = StopAtTheEnd(Arc::clone(&queue));
    let engines = std::mem::take(&mut engine_set.members);
    let (sender, receiver) = sync_channel(WAITING_REPORTS.max(engines.len()));
    let mut watch = EngineWatch::new(receiver, control.patience, TICK);
    let mut owner = Owner { queue, sender, pool: control.pool.clone(), keep: engine_set.keep, members: Vec::new() };
    let mut reserve = Some(reserve);
    let mut failure: Option<Error> = None;

    let mut done = |owner: &mut Owner<W>, lease: &WorkLease<W>, report: W::Report, finished: LeaseEnd| {
        let outcome = outcome_of(lease, report);
        let stats = &mut owner.members[lease.engine].stats;
        stats.add(outcome.pairs, outcome.cells, outcome.report.kernel_time(), finished);
        let chunk = control.window.next();
        if failure.is_none() {
            failure = sink(outcome).err();
        }
        if control.window.next() != chunk {
            owner.queue.wake_planners();
        }
        failure.is_some()
    };
    let mut failed = false;

    owner.start(engines);
    while owner.members.iter().any(|member| member.alive) {
        // Does not end here, because the owner itself holds a sender.
        let Some(event) = watch.wait() else { break };
        match event.message {
            Some(PumpMessage::Done { lease, report, finished }) => failed = done(&mut owner, &lease, report, finished),
            Some(message) => owner.handle(message),
            None => {}
        }
        for (engine, silent) in owner.queue.newly_overdue(event.awake, watch.patience) {
            owner.abandon(engine, silent);
        }
        if failed || control.interrupt.load(Ordering::Relaxed) {
            owner.queue.stop();
            if watch.is_grace_over() {
                break;
            }
        } else if owner.needs_reserve() {
            match reserve.take() {
                Some(make) => owner.start(unrated(make())),
                None => break,
            }
        }
    }
    // An engine may have sent finished work before it was abandoned.
    while let Some(message) = watch.arrived() {
        match message {
            PumpMessage::Done { lease, report, finished } => _ = done(&mut owner, &lease, report, finished),
            message => owner.handle(message),
        }
    }
    owner.wait_for_threads(&mut watch);
    engine_set.members = owner.returned_engines();
    match failure {
        Some(error) => Err(error),
        None => owner.end(control, start),
    }
}

impl<W: Work> Owner<W> {
    /// Returns the statistics of a run without errors of the sink.
    ///
    /// # Errors
    /// [`Error::Interrupted`]; the error for work that no engine is left to do.
    fn end(self, control: &Control, start: Instant) -> Result<RunStats> {
        if control.interrupt.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        if self.queue.has_work() {
            return Err(self.no_engine_error());
        }
        let stats = self.members.into_iter().map(|member| member.stats);
        Ok(RunStats::from_engines(stats, start.elapsed().as_secs_f64()))
    }

    /// Starts a thread for each engine. All engines join the queue before any of them takes work,
    /// so that the first one does not take everything.
    fn start(&mut self, engines: Vec<RatedEngine<W>>) {
        let join = |(engine, record): &RatedEngine<W>| {
            self.queue.join_with_speed(engine.universal(), engine.min_work(), *record, engine.kind())
        };
        let joined: Vec<usize> = engines.iter().map(join).collect();
        for (index, (engine, _)) in joined.into_iter().zip(engines) {
            let (queue, sender, pool) = (Arc::clone(&self.queue), self.sender.clone(), self.pool.clone());
            let keep = self.keep;
            let universal = engine.universal();
            let stats = EngineStats::of_one_thread(engine.name());
            // A scoped thread would always be joined, but the thread of a device that never answers
            // must be left behind.
            let name = format!("pairwave-{index}-{}", engine.name());
            let drive = move || pump::drive(index, engine, &queue, pool.as_deref(), keep, &sender);
            let thread = std::thread::Builder::new().name(name).spawn(drive);
            let refused = thread.as_ref().err().map(ToString::to_string);
            let failed = refused.as_ref().map(|error| format!("no thread could be started: {error}"));
            let thread = thread.ok();
            self.members.push(EngineMember { stats, universal, alive: true, gone: false, thread, refused, kept: None });
            if failed.is_some() && self.queue.retire(index) {
                self.members[index].gone = true;
                self.record_end(index, failed);
            }
        }
    }

    /// Handles a message other than a result.
    fn handle(&mut self, message: PumpMessage<W>) {
        match message {
            PumpMessage::Ended { engine, error } => self.record_end(engine, error),
            PumpMessage::Gone { engine, kept } => self.record_return(engine, kept),
            PumpMessage::Unsuited | PumpMessage::Done { .. } => {}
        }
    }

    fn record_return(&mut self, engine: usize, kept: Option<Box<dyn Engine<W>>>) {
        let member = &mut self.members[engine];
        (member.gone, member.kept) = (true, kept);
    }

    /// Returns the engines that their threads handed back, in their order.
    fn returned_engines(&mut self) -> Vec<RatedEngine<W>> {
        let kept = self.members.iter_mut().enumerate();
        kept.filter_map(|(index, member)| Some((member.kept.take()?, self.queue.speed_record(index)))).collect()
    }

    fn record_end(&mut self, engine: usize, error: Option<String>) {
        let member = &mut self.members[engine];
        member.alive = false;
        if let Some(error) = error {
            member.stats.record_loss(error);
        }
    }

    /// Abandons an engine that does not answer: returns its work to the queue and leaves its thread
    /// behind.
    fn abandon(&mut self, engine: usize, silent: Duration) {
        if self.queue.retire(engine) {
            let member = &mut self.members[engine];
            (member.gone, member.thread) = (true, None);
            self.record_end(engine, Some(no_answer(silent)));
        }
    }

    fn needs_reserve(&self) -> bool {
        let mut alive = self.members.iter().filter(|member| member.alive).peekable();
        let none_alive = alive.peek().is_none();
        let no_universal = !alive.any(|member| member.universal);
        none_alive && self.queue.has_work() || no_universal && self.queue.has_universal_only()
    }

    /// Returns the error of a job whose engines are all lost.
    fn no_engine_error(&self) -> Error {
        if !self.members.is_empty() && self.members.iter().all(|member| member.refused.is_some()) {
            return no_thread(self.members[0].refused.as_deref().unwrap_or_default());
        }
        let last = self.members.iter().rev().find_map(|member| member.stats.lost.as_deref());
        Error::Internal(format!("no engine is left: {}", last.unwrap_or("the job started with none")))
    }

    /// Waits until the devices are closed, or until their time to close is over.
    fn wait_for_threads(&mut self, watch: &mut EngineWatch<PumpMessage<W>>) {
        self.queue.stop();
        while self.members.iter().any(|member| !member.gone) {
            match watch.last_message() {
                Some(PumpMessage::Gone { engine, kept }) => self.record_return(engine, kept),
                Some(_) => {}
                None => break,
            }
        }
        for member in self.members.iter_mut().filter(|member| member.gone) {
            // Joining does not wait, because the thread has ended its work, and the thread cannot
            // panic.
            let _ = member.thread.take().map(JoinHandle::join);
        }
    }
}

fn outcome_of<W: Work>(lease: &WorkLease<W>, report: W::Report) -> BatchOutcome<W> {
    let unfinished = report.unfinished().iter().map(|&index| &lease.batch.blocks[index]);
    let (left_pairs, left_cells) =
        unfinished.fold((0, 0), |(pairs, cells), block| (pairs + W::pairs(block), cells + W::cells(block)));
    BatchOutcome {
        pairs: lease.pairs - left_pairs,
        cells: lease.cells - left_cells,
        chunk: Arc::clone(&lease.info),
        batch: Arc::clone(&lease.batch),
        report,
    }
}
