//! Pairs of very long sequences: their scores, and their alignments in memory that is proportional
//! to the sum of the lengths (Li, Ranka and Sahni, which the [engines](crate::long) call paper 2).
//!
//! A [chain](crate::long::chain) of engines sweeps the matrix once and keeps the borders along some
//! of its rows and columns, which form a grid. The traceback goes from region to region of the
//! grid. A region that is too large for an engine is swept again with a finer grid inside
//! (`traceback`). A job that must survive being killed saves its state in a directory
//! (`checkpoint`). Every alignment is rescored before it is reported.
//!
//! Local alignments may cross the origins of circular sequences (`circular`).
//!
//! # Several local alignments
//!
//! The first alignment is the best local alignment of both strands. Each further one is the best
//! local alignment in a matrix with forbidden cells. These are the cells of the *rectangles* of
//! earlier alignments on the same strand: cell (i, j) is forbidden if the range of an earlier
//! alignment contains query symbol i - 1 and its other range contains target symbol j - 1. In a
//! forbidden cell H is 0, and I and D are minus infinity, regardless of the cells above and to the
//! left. All other cells follow from these by the recurrences of the [engines](crate::long). So no
//! alignment passes through a forbidden cell, and no gap crosses one. An alignment may start next
//! to one. The values of this matrix alone determine the last cell of an alignment (the first of
//! the best cells) and its traceback (by the rule of the engines). The result is therefore the same
//! for every method, and does not depend on how the work is divided.
//!
//! Consequently, no two alignments of a strand share a cell, and the list of the best k alignments
//! starts with the list of the best k - 1. Ranges of two alignments may overlap in both sequences,
//! because an alignment may go around a rectangle. The list ends early if no alignment scores at
//! least [`LongAlignment::min_score`]. Among equal scores the plus strand comes first.
//!
//! The list of a strand does not depend on the other strand, so each strand can be a block
//! (`blocks`).
//!
//! [`LongRecordPairs`] aligns many records with many others in one session.

mod blocks;
mod bound;
mod check;
mod checkpoint;
mod circular;
mod copies;
mod empty;
mod fingerprint;
mod hopeless;
pub mod open;
mod parts;
mod prefetch;
mod records;
mod run;
mod strand;
mod traceback;

pub(super) use checkpoint::{checksum, lock_file};
pub use records::{LongRecordHit, LongRecordPairs, TopPer};

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use self::circular::unrolled_length;
use self::copies::CodeCopies;
use super::block::Block;
use super::session::SessionStart;
use super::source::{NextBlock, subtract_cells};
use super::stats::SummaryDetails;
use super::{Feed, Job, Run, Summary};
use crate::alignment::Cigar;
use crate::engine::patience::PATIENCE;
use crate::engine::stats;
use crate::error::{Error, Result};
use crate::files::fingerprint::Fingerprint;
use crate::gpu::adapter::Device;
use crate::gpu::kernels::Family;
use crate::long::chain::engine_pool::EnginePool;
use crate::long::{LongEngine, Method};
use crate::score::Scoring;
use crate::seq::{SequenceId, SequenceStore};

pub use crate::alignment::CircularSides;
pub use crate::long::chain::{LongTuning, Reserve};
pub use crate::seq::{Strand, Strands};

/// Requested results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LongWant {
    /// Scores and end positions only.
    Score,
    /// Scores, end positions and alignments.
    #[default]
    Alignment,
}

/// A pair to align.
#[derive(Debug, Clone)]
pub struct LongAlignment {
    /// Store of the query.
    pub query: Arc<SequenceStore>,
    /// The query, whose symbols are the rows.
    pub query_id: SequenceId,
    /// Store of the target.
    pub target: Arc<SequenceStore>,
    /// The target, whose symbols are the columns.
    pub target_id: SequenceId,
    /// Scoring. Its mode determines whether the pair is aligned globally or locally.
    pub scoring: Arc<Scoring>,
    /// Requested results.
    pub want: LongWant,
    /// Aligned strands of the query. Only DNA and RNA have a minus strand.
    pub strand: Strands,
    /// The circular sequences, whose alignments may cross the origin. In local mode only. An
    /// alignment has no symbol twice.
    pub circular: CircularSides,
    /// Maximum number of local alignments; 1 in global mode.
    pub top: u32,
    /// Minimum score of a local alignment; at least 1.
    pub min_score: i64,
    /// Method of the traceback; `None` for the default.
    pub method: Option<Method>,
    /// Number of columns of a strip; `None` lets the engine choose.
    pub strip: Option<u32>,
    /// Number of rows of a chunk; `None` lets the engine choose.
    pub chunk: Option<u32>,
    /// Whether to prune parts of the matrix that no reported alignment can pass through. End to end,
    /// only CPUs prune.
    pub prune: bool,
    /// Maximum number of bytes of borders in the host's memory. Further borders go to files. `None`
    /// stands for 4 GiB or a quarter of the memory, whichever is less. The memory is that of the
    /// machine, or less if a control group limits the process.
    pub host_memory: Option<u64>,
    /// Directory for the state of the job. A later run with the same input continues from there. It
    /// may be deleted when the job is done.
    pub checkpoint: Option<PathBuf>,
    /// Fingerprint of the files and options of this job. A checkpoint with another fingerprint is
    /// refused.
    pub origin: Option<Fingerprint>,
    /// Sizes of the pieces into which the work is divided.
    pub tuning: LongTuning,
}

/// An alignment, or its score.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongHit {
    /// The strand of the query.
    pub strand: Strand,
    /// Score.
    pub score: i64,
    /// The aligned part of the query, counted from 0 on the query as it was read, on both strands.
    /// If it crosses the origin of a circular query, its end exceeds the query's length. `None` if
    /// only the score of a local alignment was requested, because its start is then unknown.
    pub query: Option<Range<u32>>,
    /// The aligned part of the target; `None` if `query` is `None`. If it crosses the origin of a
    /// circular target, its end exceeds the target's length.
    pub target: Option<Range<u32>>,
    /// Number of query symbols before the alignment's end, *on the aligned strand*. In a circular
    /// query, it counts from the origin before the alignment's start.
    pub query_end: u32,
    /// Number of target symbols before the alignment's end.
    pub target_end: u32,
    /// Columns of the alignment, in the direction of the target. On the minus strand they refer to
    /// the query's reverse complement. With free end gaps they cover the whole query and target.
    #[serde(serialize_with = "cigar_text", deserialize_with = "text_cigar")]
    pub cigar: Option<Cigar>,
}

fn cigar_text<S: serde::Serializer>(cigar: &Option<Cigar>, serializer: S) -> Result<S::Ok, S::Error> {
    cigar.as_ref().map(Cigar::to_string).serialize(serializer)
}

fn text_cigar<'d, D: serde::Deserializer<'d>>(deserializer: D) -> Result<Option<Cigar>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    text.map(|text| text.parse()).transpose().map_err(serde::de::Error::custom)
}

/// Totals that only jobs for long pairs have. [`Summary::cells`] counts the cells of the matrices
/// that were swept. It includes pruned cells and excludes tracebacks.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct LongDetails {
    /// Number of swept cells that were skipped, because no alignment of the best score passes
    /// through them.
    pub pruned_cells: u64,
    /// Number of cells that were computed again for tracebacks.
    pub traced_cells: u64,
    /// Seconds in sweeps.
    pub sweep_seconds: f64,
    /// Seconds in tracebacks.
    pub trace_seconds: f64,
    /// Peak number of bytes of borders in the host's memory.
    pub edge_bytes_peak: u64,
    /// Bytes of borders that were written to files for lack of memory.
    pub spilled_bytes: u64,
    /// Whether the job continued the work of an earlier run.
    pub resumed: bool,
}

impl SummaryDetails for LongDetails {
    fn add(&mut self, later: LongDetails) {
        self.pruned_cells = self.pruned_cells.saturating_add(later.pruned_cells);
        self.traced_cells = self.traced_cells.saturating_add(later.traced_cells);
        self.sweep_seconds += later.sweep_seconds;
        self.trace_seconds += later.trace_seconds;
        self.edge_bytes_peak = self.edge_bytes_peak.max(later.edge_bytes_peak);
        self.spilled_bytes += later.spilled_bytes;
        self.resumed |= later.resumed;
    }
}

impl From<Summary<LongDetails>> for Summary {
    /// Drops the details.
    fn from(summary: Summary<LongDetails>) -> Summary {
        let Summary { pairs, cells, aligned, written, seconds, kernel_seconds, engines, imbalance, details: _ } =
            summary;
        Summary { pairs, cells, aligned, written, seconds, kernel_seconds, engines, imbalance, details: () }
    }
}

impl LongAlignment {
    /// Creates a job that finds the best alignment of two sequences on the plus strand, with
    /// pruning if the mode is local.
    pub fn new(
        query: Arc<SequenceStore>,
        query_id: SequenceId,
        target: Arc<SequenceStore>,
        target_id: SequenceId,
        scoring: Arc<Scoring>,
    ) -> Self {
        LongAlignment {
            query,
            query_id,
            target,
            target_id,
            scoring,
            want: LongWant::Alignment,
            strand: Strands::Plus,
            circular: CircularSides::default(),
            top: 1,
            min_score: 1,
            method: None,
            strip: None,
            chunk: None,
            prune: true,
            host_memory: None,
            checkpoint: None,
            origin: None,
            tuning: LongTuning::default(),
        }
    }

    /// Returns the strands of the query that are aligned.
    fn strands(&self) -> &'static [Strand] {
        match self.strand {
            Strands::Plus => &[Strand::Plus],
            Strands::Minus => &[Strand::Minus],
            Strands::Both => &[Strand::Plus, Strand::Minus],
        }
    }

    /// Returns the number of cells in the matrices of all strands.
    pub fn cells(&self) -> u64 {
        self.cells_of(self.strands().len())
    }

    /// Returns the number of cells in the matrices of this number of strands.
    fn cells_of(&self, strands: usize) -> u64 {
        let cells = self.rows_of(self.query_id).saturating_mul(self.columns_of(self.target_id));
        cells.saturating_mul(strands as u64)
    }

    /// Returns the number of rows in the matrix of a query.
    fn rows_of(&self, query: SequenceId) -> u64 {
        let length = self.query.length(query);
        if self.circular.query { unrolled_length(length) } else { length.into() }
    }

    /// Returns the number of columns in the matrix of a target.
    fn columns_of(&self, target: SequenceId) -> u64 {
        let length = self.target.length(target);
        if self.circular.target { unrolled_length(length) } else { length.into() }
    }

    /// Refuses a checkpoint for a job in blocks.
    fn check_no_checkpoint(&self) -> Result<()> {
        if self.checkpoint.is_none() {
            return Ok(());
        }
        let message =
            "a job in blocks has no checkpoint, because an interrupted block is computed again: remove this option";
        Err(Error::usage_of("checkpoint", message))
    }
}

/// Engines for a long pair in tests and measurements.
#[doc(hidden)]
#[derive(Default)]
pub struct LongEngines {
    /// The engines.
    pub engines: Vec<Box<dyn LongEngine>>,
    /// Opens an engine that continues the job if all others fail. With `None` the job then fails.
    pub reserve: Option<Reserve>,
    /// The CPU, if its threads may compute small pairs while devices compute other pairs.
    pub host: Option<Box<dyn LongEngine>>,
}

impl From<Vec<Box<dyn LongEngine>>> for LongEngines {
    fn from(engines: Vec<Box<dyn LongEngine>>) -> Self {
        LongEngines { engines, ..LongEngines::default() }
    }
}

/// The engines of a job, which are kept from block to block.
#[doc(hidden)]
pub struct LongSession {
    engine_pool: EnginePool,
    /// The CPU, if its threads may compute small pairs while devices compute other pairs.
    host: Option<Box<dyn LongEngine>>,
}

impl LongSession {
    fn new(LongEngines { engines, reserve, host }: LongEngines, run: &Run) -> Self {
        LongSession { engine_pool: EnginePool::new(engines, reserve, run.patience.unwrap_or(PATIENCE)), host }
    }

    /// Opens the engines of a run for a job of this number of cells, unless the caller has opened
    /// them.
    fn open(start: SessionStart<LongEngines>, run: &Run, cells: u64) -> Result<Self> {
        start.check_kernel(run, Family::Long)?;
        if let Some(engines) = start.engines {
            return Ok(LongSession::new(engines, run));
        }
        if run.tune {
            return Err(Error::usage_of("tune", "long pairs have no settings to measure: remove this option"));
        }
        let (engines, threads) = (open::open_long(run, cells)?, run.threads);
        let has_devices = engines.iter().any(|engine| !engine.is_host());
        let reserve: Reserve = Box::new(move || open::cpu(threads));
        let may_use_host = run.devices.is_empty() || run.devices.iter().any(|device| matches!(device, Device::Cpu));
        let host = (has_devices && may_use_host).then(|| open::cpu(threads));
        Ok(LongSession::new(LongEngines { engines, reserve: Some(reserve), host }, run))
    }
}

impl Job for LongAlignment {
    type Row = LongHit;
    type Summary = Summary<LongDetails>;
    type Engines = LongEngines;
    type Session = LongSession;

    fn validate(&self) -> Result<()> {
        self.check()
    }

    fn whole_block(&self, _session: &LongSession) -> Block {
        Block { units: 0..1, targets: None, pairs: self.strands().len() as u64, cells: self.cells() }
    }

    fn open(&self, start: SessionStart<LongEngines>, run: &Run) -> Result<LongSession> {
        self.validate()?;
        LongSession::open(start, run, self.cells())
    }

    /// Returns the alignments of a block when it is complete, best first. The list is empty if no
    /// score reaches [`LongAlignment::min_score`]. A block of a global job has one alignment.
    ///
    /// If all engines fail, the reserve continues; without a reserve, the job fails with
    /// [`Error::Device`]. An engine also fails if it is silent for longer than the patience of
    /// `run`. It is then abandoned together with its thread, and its later results are ignored. The
    /// silence of [hosts](LongEngine::is_host) is not limited.
    ///
    /// # Errors
    /// The errors of [`Job::run`]; [`Error::Usage`] also for scores that do not fit in 32 bits;
    /// [`Error::Io`] for files of borders and checkpoints.
    fn feed(
        &self,
        Feed { source, run, sink }: Feed<'_, LongHit>,
        session: &mut LongSession,
    ) -> Result<Summary<LongDetails>> {
        let pending_cells = source.pending_cells();
        let (mut totals, mut copies) = (BlockTotals::default(), CodeCopies::default());
        while let NextBlock::Block(block) = source.next() {
            subtract_cells(&pending_cells, block.cells);
            let strands = self.strands_of(&block)?;
            let (hits, summary) = self.execute(strands, self.min_score, &mut copies, &mut session.engine_pool, run)?;
            if !hits.is_empty() {
                sink.rows(&hits)?;
            }
            sink.end()?;
            totals.add(summary);
        }
        Ok(totals.finish())
    }
}

/// Totals of all blocks of a job.
#[derive(Default)]
struct BlockTotals(Option<Summary<LongDetails>>);

impl BlockTotals {
    fn add(&mut self, summary: Summary<LongDetails>) {
        match &mut self.0 {
            Some(total) => total.add(summary),
            // Two engines of one block may have the same name, so their rows are not merged.
            None => self.0 = Some(summary),
        }
    }

    fn finish(self) -> Summary<LongDetails> {
        let mut total = self.0.unwrap_or_default();
        stats::complete(&mut total.engines, total.seconds);
        total.aligned = if total.details.traced_cells > 0 { total.written } else { 0 };
        total
    }
}
