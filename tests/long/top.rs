//! Several local alignments of a long pair, and both strands on two devices, compared with an
//! oracle that fills whole matrices. The tests cover all engines and methods, and all divisions and
//! restarts.

mod circular;
mod definition;
mod devices;
mod oracle;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use pairwave::jobs::LongAlignment;
use pairwave::long::{
    BestCell, KeptBorder, LeftSource, LongEngine, Method, PanelSweep, SweepResult, SweepSink, TraceRegion,
    TracebackResult,
};
use pairwave::score::{Ambiguity, EndGaps, Gaps, Mode, Scoring};
use pairwave::seq::{Alphabet, Code};
use pairwave::{Error, Result, Run};

use support::{LongResult, Rng};

type Engines = Vec<Box<dyn LongEngine>>;

/// An engine that outlives a job and can be stopped. The next job finds the state that it has left.
struct Lent<E> {
    label: String,
    engine: Arc<Mutex<E>>,
    /// Number of marks that all such engines of a job deliver before the job is stopped.
    marks_left: Arc<AtomicU64>,
}

impl<E: LongEngine> Lent<E> {
    /// Returns an engine that is never stopped.
    fn boxed(engine: &Arc<Mutex<E>>) -> Box<dyn LongEngine>
    where
        E: 'static,
    {
        Self::stopped(engine, &Arc::new(AtomicU64::new(u64::MAX)))
    }

    /// Returns an engine that is stopped after this number of marks.
    fn stopped(engine: &Arc<Mutex<E>>, marks_left: &Arc<AtomicU64>) -> Box<dyn LongEngine>
    where
        E: 'static,
    {
        let label = engine.lock().unwrap().label().to_owned();
        Box::new(Lent { label, engine: Arc::clone(engine), marks_left: Arc::clone(marks_left) })
    }
}

impl<E: LongEngine> LongEngine for Lent<E> {
    fn label(&self) -> &str {
        &self.label
    }

    fn speed(&self) -> f64 {
        // Equal speeds make the engines share all pairs.
        1e8
    }

    fn panel_columns(&self, rows: u32, columns: u32, alone: bool) -> u32 {
        self.engine.lock().unwrap().panel_columns(rows, columns, alone)
    }

    fn keeps_columns(&self) -> bool {
        self.engine.lock().unwrap().keeps_columns()
    }

    fn sweep(&mut self, sweep: &PanelSweep, left: &dyn LeftSource, sink: &dyn SweepSink) -> Result<SweepResult> {
        let counting = Counting { sink, marks_left: &self.marks_left };
        self.engine.lock().unwrap().sweep(sweep, left, &counting)
    }

    fn can_trace(&self, rows: u32, columns: u32, method: Method) -> bool {
        self.engine.lock().unwrap().can_trace(rows, columns, method)
    }

    fn max_prepared_regions(&self) -> usize {
        self.engine.lock().unwrap().max_prepared_regions()
    }

    fn prepare(&mut self, regions: &[TraceRegion]) -> Result<usize> {
        self.engine.lock().unwrap().prepare(regions)
    }

    fn trace(&mut self, region: &TraceRegion) -> Result<TracebackResult> {
        self.engine.lock().unwrap().trace(region)
    }
}

struct Counting<'a> {
    sink: &'a dyn SweepSink,
    marks_left: &'a AtomicU64,
}

impl SweepSink for Counting<'_> {
    fn push_right_border(&self, first: u32, h: &[i32], gap: &[i32]) -> Result<()> {
        self.sink.push_right_border(first, h, gap)
    }

    fn push_row(&self, row: u32, edge: KeptBorder) -> Result<()> {
        self.sink.push_row(row, edge)?;
        let less = |left: u64| Some(left.saturating_sub(1));
        match self.marks_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less) {
            Ok(0) => Err(Error::Interrupted),
            _ => Ok(()),
        }
    }

    fn push_column(&self, column: u32, edge: KeptBorder) -> Result<()> {
        self.sink.push_column(column, edge)
    }

    fn progress(&self, cells: u64, best: Option<BestCell>) {
        self.sink.progress(cells, best);
    }
}

fn local(match_score: i32, other: i32, ambiguity: Ambiguity, gaps: Gaps) -> Scoring {
    Scoring { mode: Mode::Local, ..Scoring::nucleotide(match_score, other, ambiguity, gaps, EndGaps::Charged).unwrap() }
}

fn job(query: &[Code], target: &[Code], scoring: &Scoring) -> LongAlignment {
    let store = |codes: &[Code]| support::store(Alphabet::Dna, &[codes.to_vec()]);
    LongAlignment::new(store(query), 0, store(target), 0, Arc::new(scoring.clone()))
}

fn run(job: &LongAlignment, engines: Engines) -> Result<LongResult> {
    support::run_long(job, engines, &Run::default())
}

fn below(rng: &mut Rng, bound: usize) -> usize {
    rng.below(bound as u32) as usize
}

fn choose_one<T: Copy>(rng: &mut Rng, all: &[T]) -> T {
    all[below(rng, all.len())]
}
