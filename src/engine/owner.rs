//! Who runs a job's queue: starts a thread for every engine, hands results on, and watches that none is waited for in vain.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::ordered::Ahead;
use super::patience::{GRACE, PATIENCE};
use super::pump::{self, Message};
use super::queue::{self, ChunkInfo, ChunkSource, Finished, Lease, WorkQueue};
use super::settle::Settle;
use super::sizing::Shown;
use super::stats::{EngineStats, Ran};
use super::threads::no_thread;
use super::{Batch, Engine, Reported, Work};
use crate::error::{Error, Result};

/// Reports that may wait for the caller before engines have to; more where there are more engines.
const WAITING_REPORTS: usize = 4;
/// How often the owner looks at its engines, if nothing is reported.
const TICK: Duration = Duration::from_millis(200);

/// What a job allows its engines.
#[derive(Debug, Clone, Default)]
pub struct Control {
    /// Set to end the job early.
    pub interrupt: Arc<AtomicBool>,
    /// How long a call of a device may last; `None` for 30 s. Never less than 20 times what is expected of it.
    pub patience: Option<Duration>,
    /// Threads that check large reports; `None` for those of the engines alone. Nobody may run a job on a thread of the pool
    /// that its engines wait for.
    pub pool: Option<Arc<rayon::ThreadPool>>,
    /// How far chunks may be planned ahead of the oldest one; shared with what `sink` gathers results in.
    pub ahead: Arc<Ahead>,
    /// The chunks to come are not known: the job's cells are a guess, and those of planned chunks are shared out.
    pub is_open_ended: bool,
    /// Cells that chunks to come are sure to have, where [`Control::is_open_ended`].
    pub coming: Arc<AtomicU64>,
}

/// Finished work.
#[derive(Debug)]
pub struct Outcome<W: Work> {
    /// The chunk it belongs to.
    pub chunk: Arc<ChunkInfo>,
    /// The batch.
    pub batch: Arc<Batch<W>>,
    /// Pairs of the batch that are finished.
    pub pairs: u64,
    /// Cells of the batch that are finished.
    pub cells: u64,
    /// Their results.
    pub report: W::Report,
}

/// Engines that may outlive a run, with what they have shown of their speed.
pub struct EngineSet<W: Work> {
    members: Vec<Known<W>>,
    /// Engines are to come back.
    keep: bool,
}

/// An engine, and what it has shown.
type Known<W> = (Box<dyn Engine<W>>, Shown);

fn known<W: Work>(engines: Vec<Box<dyn Engine<W>>>) -> Vec<Known<W>> {
    engines.into_iter().map(|engine| (engine, Shown::default())).collect()
}

impl<W: Work> EngineSet<W> {
    /// Engines of which nothing is known yet.
    pub fn new(engines: Vec<Box<dyn Engine<W>>>) -> Self {
        EngineSet { members: known(engines), keep: true }
    }

    /// Engines that are closed at the end of their only run, each as soon as it has no more to do.
    pub fn for_once(engines: Vec<Box<dyn Engine<W>>>) -> Self {
        EngineSet { members: known(engines), keep: false }
    }

    /// Whether there is no engine.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Closes all others.
    pub fn retain(&mut self, is_kept: impl Fn(&dyn Engine<W>) -> bool) {
        self.members.retain(|(engine, _)| is_kept(engine.as_ref()));
    }

    /// The engines.
    pub fn engines(&self) -> impl Iterator<Item = &dyn Engine<W>> {
        self.members.iter().map(|(engine, _)| engine.as_ref())
    }
}

/// An engine as its owner knows it.
struct Member<W: Work> {
    stats: EngineStats,
    universal: bool,
    /// It takes work.
    alive: bool,
    /// Its thread will end, or nobody waits for that.
    gone: bool,
    thread: Option<JoinHandle<()>>,
    /// Why the system granted no thread.
    refused: Option<String>,
    /// The engine, come back.
    kept: Option<Box<dyn Engine<W>>>,
}

struct Owner<W: Work> {
    queue: Arc<WorkQueue<W>>,
    sender: SyncSender<Message<W>>,
    pool: Option<Arc<rayon::ThreadPool>>,
    /// Engines are to come back.
    keep: bool,
    members: Vec<Member<W>>,
}

/// Ends the work of all engines when the owner leaves, in whatever way.
struct StopAtTheEnd<W: Work>(Arc<WorkQueue<W>>);

impl<W: Work> Drop for StopAtTheEnd<W> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Computes all chunks on the engines and hands every outcome to `sink`, in no particular order.
///
/// An engine that fails, whose report cannot be right, or that does not answer in time is given up with a warning; its
/// work goes to the others or, if none is left (or some is only for an engine that takes everything, and there is none),
/// to the `reserve`.
///
/// # Errors
/// What `sink` returns; [`Error::Interrupted`]; [`Error::Internal`] if the reserve fails as well.
pub fn run<W: Work>(
    engines: Vec<Box<dyn Engine<W>>>,
    reserve: impl FnOnce() -> Vec<Box<dyn Engine<W>>>,
    chunks: impl ChunkSource<W> + 'static,
    cells: u64,
    control: &Control,
    sink: impl FnMut(Outcome<W>) -> Result<()>,
) -> Result<Ran> {
    run_set(&mut EngineSet::for_once(engines), reserve, chunks, cells, control, sink)
}

/// As [`run`], on engines that may outlive it: those that were not given up are in `engine_set` again when it returns, also with an
/// error, and the reserve, if it had to step in.
///
/// # Errors
/// As [`run`].
pub fn run_set<W: Work>(
    engine_set: &mut EngineSet<W>,
    reserve: impl FnOnce() -> Vec<Box<dyn Engine<W>>>,
    chunks: impl ChunkSource<W> + 'static,
    cells: u64,
    control: &Control,
    sink: impl FnMut(Outcome<W>) -> Result<()>,
) -> Result<Ran> {
    run_settled(engine_set, reserve, chunks, cells, control, None, sink)
}

/// As [`run_set`], of reports that are settled beside their engines before `sink` has them.
///
/// # Errors
/// As [`run`].
pub fn run_settled<W: Work>(
    engine_set: &mut EngineSet<W>,
    reserve: impl FnOnce() -> Vec<Box<dyn Engine<W>>>,
    chunks: impl ChunkSource<W> + 'static,
    cells: u64,
    control: &Control,
    settle: Option<Arc<dyn Settle<W>>>,
    sink: impl FnMut(Outcome<W>) -> Result<()>,
) -> Result<Ran> {
    let queue = WorkQueue::<W>::new(Box::new(chunks), cells, Arc::clone(&control.interrupt), queue::wall_clock());
    let queue = queue.with_ahead(Arc::clone(&control.ahead)).with_coming(Arc::clone(&control.coming));
    let queue = queue.with_settling(settle);
    let queue = Arc::new(if control.is_open_ended { queue.with_unknown_cells() } else { queue });
    drive(queue, engine_set, reserve, control, sink)
}

/// As [`run`], of a queue that others may add to while it runs ([`WorkQueue::fed`]). It returns when the queue was closed and all
/// its work is done.
///
/// # Errors
/// As [`run`].
pub fn run_queue<W: Work>(
    queue: Arc<WorkQueue<W>>,
    engines: Vec<Box<dyn Engine<W>>>,
    reserve: impl FnOnce() -> Vec<Box<dyn Engine<W>>>,
    control: &Control,
    sink: impl FnMut(Outcome<W>) -> Result<()>,
) -> Result<Ran> {
    drive(queue, &mut EngineSet::for_once(engines), reserve, control, sink)
}

/// Runs a queue on a set of engines, which come back if they are to be kept.
fn drive<W: Work>(
    queue: Arc<WorkQueue<W>>,
    engine_set: &mut EngineSet<W>,
    reserve: impl FnOnce() -> Vec<Box<dyn Engine<W>>>,
    control: &Control,
    mut sink: impl FnMut(Outcome<W>) -> Result<()>,
) -> Result<Ran> {
    let begin = Instant::now();
    let patience = control.patience.unwrap_or(PATIENCE);
    let tick = TICK.min(patience / 4);
    let _stop = StopAtTheEnd(Arc::clone(&queue));
    let engines = std::mem::take(&mut engine_set.members);
    let (sender, receiver) = sync_channel(WAITING_REPORTS.max(engines.len()));
    let mut owner = Owner { queue, sender, pool: control.pool.clone(), keep: engine_set.keep, members: Vec::new() };
    let mut reserve = Some(reserve);
    let (mut failure, mut ending): (Option<Error>, Option<Instant>) = (None, None);
    let mut looked = Instant::now();

    let mut done = |owner: &mut Owner<W>, lease: &Lease<W>, report: W::Report, finished: Finished| {
        let outcome = outcome_of(lease, report);
        let stats = &mut owner.members[lease.engine].stats;
        stats.add(outcome.pairs, outcome.cells, outcome.report.kernel_time(), finished);
        let chunk = control.ahead.next();
        if failure.is_none() {
            failure = sink(outcome).err();
        }
        if control.ahead.next() != chunk {
            owner.queue.look_again();
        }
        failure.is_some()
    };
    let mut failed = false;

    owner.start(engines);
    while owner.members.iter().any(|member| member.alive) {
        match receiver.recv_timeout(tick) {
            Ok(Message::Done { lease, report, finished }) => failed = done(&mut owner, &lease, report, finished),
            Ok(message) => owner.hear(message),
            Err(RecvTimeoutError::Timeout) => {}
            // Cannot be: the owner holds a sender itself.
            Err(RecvTimeoutError::Disconnected) => break,
        }
        // Time in which this thread did not run, in `sink` or because the process was stopped, is nobody's fault.
        let awake = looked.elapsed().min(2 * tick);
        looked = Instant::now();
        for (engine, silent) in owner.queue.overdue(awake, patience) {
            owner.give_up(engine, silent);
        }
        if failed || control.interrupt.load(Ordering::Relaxed) {
            owner.queue.stop();
            if ending.get_or_insert_with(Instant::now).elapsed() > GRACE {
                break;
            }
        } else if owner.needs_reserve() {
            match reserve.take() {
                Some(make) => owner.start(known(make())),
                None => break,
            }
        }
    }
    // An engine that was given up may have done something before.
    while let Ok(message) = receiver.try_recv() {
        match message {
            Message::Done { lease, report, finished } => _ = done(&mut owner, &lease, report, finished),
            message => owner.hear(message),
        }
    }
    owner.wait_for_threads(&receiver, ending.unwrap_or_else(Instant::now) + GRACE);
    engine_set.members = owner.kept();
    if let Some(error) = failure {
        return Err(error);
    }
    if control.interrupt.load(Ordering::Relaxed) {
        return Err(Error::Interrupted);
    }
    if owner.queue.has_work() {
        return Err(owner.why_none_is_left());
    }
    Ok(Ran::of(owner.members.into_iter().map(|member| member.stats), begin.elapsed().as_secs_f64()))
}

impl<W: Work> Owner<W> {
    /// Starts a thread for each engine. All join before any takes work, so that the first does not take all.
    fn start(&mut self, engines: Vec<Known<W>>) {
        let join = |(engine, shown): &Known<W>| {
            self.queue.join_known(engine.universal(), engine.least_work(), *shown, engine.kind())
        };
        let joined: Vec<usize> = engines.iter().map(join).collect();
        for (index, (engine, _)) in joined.into_iter().zip(engines) {
            let (queue, sender, pool) = (Arc::clone(&self.queue), self.sender.clone(), self.pool.clone());
            let keep = self.keep;
            let universal = engine.universal();
            let stats = EngineStats { name: engine.name().into(), threads: 1, ..Default::default() };
            // Not a scoped thread: one whose device never answers is left behind.
            let name = format!("pairwave-{index}-{}", engine.name());
            let drive = move || pump::drive(index, engine, &queue, pool.as_deref(), keep, &sender);
            let thread = std::thread::Builder::new().name(name).spawn(drive);
            let refused = thread.as_ref().err().map(ToString::to_string);
            let failed = refused.as_ref().map(|error| format!("no thread could be started: {error}"));
            let thread = thread.ok();
            self.members.push(Member { stats, universal, alive: true, gone: false, thread, refused, kept: None });
            if failed.is_some() && self.queue.retire(index) {
                self.members[index].gone = true;
                self.ended(index, failed);
            }
        }
    }

    /// Hears what is not a result.
    fn hear(&mut self, message: Message<W>) {
        match message {
            Message::Ended { engine, error } => self.ended(engine, error),
            Message::Gone { engine, kept } => self.gone(engine, kept),
            Message::Unsuited | Message::Done { .. } => {}
        }
    }

    fn gone(&mut self, engine: usize, kept: Option<Box<dyn Engine<W>>>) {
        let member = &mut self.members[engine];
        (member.gone, member.kept) = (true, kept);
    }

    /// Engines that came back, in their order.
    fn kept(&mut self) -> Vec<Known<W>> {
        let kept = self.members.iter_mut().enumerate();
        kept.filter_map(|(index, member)| Some((member.kept.take()?, self.queue.shown(index)))).collect()
    }

    fn ended(&mut self, engine: usize, error: Option<String>) {
        let member = &mut self.members[engine];
        member.alive = false;
        if let Some(error) = error {
            tracing::warn!("{} is given up, the others take over its work: {error}", member.stats.name);
            member.stats.lost = Some(error);
        }
    }

    /// Takes its work from an engine that does not answer, and leaves its thread behind.
    fn give_up(&mut self, engine: usize, silent: Duration) {
        if self.queue.retire(engine) {
            let member = &mut self.members[engine];
            (member.gone, member.thread) = (true, None);
            self.ended(engine, Some(format!("no answer for {:.1} s", silent.as_secs_f64())));
        }
    }

    fn needs_reserve(&self) -> bool {
        let mut alive = self.members.iter().filter(|member| member.alive).peekable();
        let nobody = alive.peek().is_none();
        let nobody_universal = !alive.any(|member| member.universal);
        nobody && self.queue.has_work() || nobody_universal && self.queue.has_universal_only()
    }

    /// Returns the error of a job whose engines are all lost.
    fn why_none_is_left(&self) -> Error {
        if !self.members.is_empty() && self.members.iter().all(|member| member.refused.is_some()) {
            return no_thread(self.members[0].refused.as_deref().unwrap_or_default());
        }
        let last = self.members.iter().rev().find_map(|member| member.stats.lost.as_deref());
        Error::Internal(format!("no engine is left: {}", last.unwrap_or("there was none")))
    }

    /// Waits until the devices are closed, or `end` comes.
    fn wait_for_threads(&mut self, receiver: &Receiver<Message<W>>, end: Instant) {
        self.queue.stop();
        while self.members.iter().any(|member| !member.gone) {
            match receiver.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(Message::Gone { engine, kept }) => self.gone(engine, kept),
                Ok(_) => {}
                Err(_) => break,
            }
        }
        for member in self.members.iter_mut().filter(|member| member.gone) {
            // Nothing is left for it to do, and it cannot panic.
            let _ = member.thread.take().map(JoinHandle::join);
        }
    }
}

fn outcome_of<W: Work>(lease: &Lease<W>, report: W::Report) -> Outcome<W> {
    let left_out = report.unfinished().iter().map(|&index| &lease.batch.blocks[index]);
    let (left_pairs, left_cells) =
        left_out.fold((0, 0), |(pairs, cells), block| (pairs + W::pairs(block), cells + W::cells(block)));
    Outcome {
        pairs: lease.pairs - left_pairs,
        cells: lease.cells - left_cells,
        chunk: Arc::clone(&lease.info),
        batch: Arc::clone(&lease.batch),
        report,
    }
}
