//! One pair of very long sequences: its score, and its alignment in memory that grows with the sum of the lengths (Li,
//! Ranka and Sahni, paper 2 of the [engines](crate::long)).
//!
//! A [chain](crate::long::chain) of engines sweeps the matrix once and keeps a grid of it: some of its columns, and some of
//! its rows. The traceback goes from region to region of the grid; a region that is too large for an engine is swept again
//! with a finer grid inside (`walk`). A job that must survive being killed keeps its state in a directory (`checkpoint`).
//! Every alignment is rescored before it is reported.
//!
//! # Several local alignments
//!
//! The first is the best local alignment of both strands. Each further one is the best local alignment in a matrix where
//! the cells of the *rectangles* of those found before on the same strand are forbidden (cell (i, j) if query symbol i - 1
//! and target symbol j - 1 are both in the ranges of one of them): there H is 0, and I and D are minus infinity whatever is
//! above, to the left and between the two symbols. All other cells follow from these by the recurrences of
//! [engines](crate::long). So no alignment passes a forbidden cell, nor does a gap run across one; an alignment may
//! begin beside it. Which cell an alignment ends at and which way it is walked back is decided by the values of this matrix
//! alone: of the best cells the first, then the walk of the engines; it is the same by every method, however the work is cut.
//!
//! So no two alignments of a strand overlap in query and target at once, and the list for k begins with that for k - 1. It
//! ends early where nothing scores [`LongAlignment::min_score`]. Among equal scores the plus strand comes first.

mod ahead;
mod bound;
mod checkpoint;
pub mod open;
mod parts;
mod run;
mod walk;

pub(super) use checkpoint::{checksum, hold};

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::session::SessionStart;
use super::{Feed, Job, Run};
use crate::alignment::Cigar;
use crate::error::{Error, Result};
use crate::files::fingerprint::Fingerprint;
use crate::gpu::kernels::Family;
use crate::long::{LongEngine, Method};
use crate::score::Scoring;
use crate::seq::{SequenceId, SequenceStore};

pub use crate::long::chain::{LongEngineStats, Reserve, Tuning};
pub use crate::seq::{Strand, Strands};

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LongWant {
    /// Scores and where they are reached.
    Score,
    /// Alignments too.
    #[default]
    Alignment,
}

/// A pair to align.
#[derive(Debug, Clone)]
pub struct LongAlignment {
    /// Where the query is.
    pub query: Arc<SequenceStore>,
    /// The query: the rows.
    pub query_id: SequenceId,
    /// Where the target is.
    pub target: Arc<SequenceStore>,
    /// The target: the columns.
    pub target_id: SequenceId,
    /// How the pair is scored, and whether it is aligned globally or locally.
    pub scoring: Arc<Scoring>,
    /// What is asked for.
    pub want: LongWant,
    /// QueryStrands of the query; of DNA only if not forward.
    pub strand: Strands,
    /// So many of the best local alignments; 1 in global mode.
    pub top: u32,
    /// Local alignments that score less are not reported; at least 1.
    pub min_score: i64,
    /// How engines trace; `None` for the default.
    pub method: Option<Method>,
    /// Columns of a strip; `None` for what suits the engine.
    pub strip: Option<u32>,
    /// Rows of a chunk; `None` for what suits the engine.
    pub chunk: Option<u32>,
    /// Leave out parts of the matrix from which the best local score cannot be reached (if one alignment is asked for).
    pub prune: bool,
    /// Bytes of edges that are kept in the host's memory at most, the rest being in files; `None` for 4 GiB, or a quarter
    /// of the memory if that is less: the machine's, or what a control group grants the process.
    pub host_memory: Option<u64>,
    /// A directory where the job writes down how far it is. A later run with the same input goes on from there. It may
    /// be deleted when the job is done.
    pub checkpoint: Option<PathBuf>,
    /// The files and options of this job. A checkpoint of another origin is refused.
    pub origin: Option<Fingerprint>,
    /// How finely the work is cut.
    pub tuning: Tuning,
}

/// An alignment, or its score.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongHit {
    /// The query's strand.
    pub strand: Strand,
    /// The score.
    pub score: i64,
    /// The part of the query, counted from 0 on the query as it was read, whatever the strand. `None` if only the score
    /// of a local alignment was asked for, and so its begin is not known.
    pub query: Option<Range<u32>>,
    /// The part of the target; `None` as for the query.
    pub target: Option<Range<u32>>,
    /// Query symbols before the alignment's end, *on the strand that is aligned*.
    pub query_end: u32,
    /// Target symbols before the alignment's end.
    pub target_end: u32,
    /// The columns, along the target; of the minus strand with the query's reverse complement. With free end gaps all of
    /// query and target are in it.
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

/// What a job took.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct LongSummary {
    /// Cells of the matrices that were swept, pruned ones included, those of walks not.
    pub cells: u64,
    /// Cells among them that were not computed because nothing good could come of them.
    pub pruned_cells: u64,
    /// Cells that were computed again to walk back.
    pub traced_cells: u64,
    /// Wall time in seconds.
    pub seconds: f64,
    /// Seconds in sweeps.
    pub sweep_seconds: f64,
    /// Seconds in walks.
    pub trace_seconds: f64,
    /// Bytes of edges that were kept on the host at the most, in memory.
    pub edge_bytes_peak: u64,
    /// Bytes of edges that were written to files for want of memory.
    pub spilled_bytes: u64,
    /// Whether an earlier run's work was gone on with.
    pub resumed: bool,
    /// What each engine did.
    pub engines: Vec<LongEngineStats>,
}

impl LongAlignment {
    /// The alignment of two sequences: the best one, of the forward strand, pruned if local.
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
            top: 1,
            min_score: 1,
            method: None,
            strip: None,
            chunk: None,
            prune: true,
            host_memory: None,
            checkpoint: None,
            origin: None,
            tuning: Tuning::default(),
        }
    }
}

/// The engines that a long pair is run on in tests and measurements.
#[doc(hidden)]
#[derive(Default)]
pub struct LongEngines {
    /// Who computes.
    pub engines: Vec<Box<dyn LongEngine>>,
    /// Who goes on from what is known if all of them fail; `None` for nobody: then the job fails.
    pub reserve: Option<Reserve>,
}

impl From<Vec<Box<dyn LongEngine>>> for LongEngines {
    fn from(engines: Vec<Box<dyn LongEngine>>) -> Self {
        LongEngines { engines, reserve: None }
    }
}

impl Job for LongAlignment {
    type Row = LongHit;
    type Summary = LongSummary;
    type Engines = LongEngines;
    type Session = LongEngines;

    fn validate(&self) -> Result<()> {
        self.check()
    }

    fn open(&self, start: SessionStart<LongEngines>, run: &Run) -> Result<LongEngines> {
        if let Some(engines) = start.engines {
            return Ok(engines);
        }
        self.validate()?;
        run.check_kernel(Family::Long)?;
        if run.tune {
            return Err(Error::usage_of("tune", "nothing is measured for long pairs; leave it out"));
        }
        let (engines, threads) = (open::open_long(run)?, run.threads);
        let reserve: Reserve = Box::new(move || open::cpu(threads));
        Ok(LongEngines { engines, reserve: Some(reserve) })
    }

    /// Hands the alignments over at the end, best first; none if nothing reaches [`LongAlignment::min_score`]. A global job has
    /// one.
    ///
    /// If all engines fail, the reserve goes on; without one that is an [`Error::Device`]. An engine fails as well if it is
    /// silent for longer than the patience of `run`. It is left behind with its thread, and what it says later counts for
    /// nothing. [Hosts](LongEngine::is_host) may take their time.
    ///
    /// # Errors
    /// As [`Job::run`]; [`Error::Usage`] also for scores that do not fit in 32 bits; [`Error::Io`] where edges or
    /// checkpoints are to be kept.
    fn feed(&self, Feed { run, sink, .. }: Feed<'_, LongHit>, session: &mut LongEngines) -> Result<LongSummary> {
        let (hits, summary) = self.execute(std::mem::take(session), run)?;
        if !hits.is_empty() {
            sink.rows(&hits)?;
        }
        sink.end()?;
        Ok(summary)
    }
}
