//! Many sequences aligned with each other: distances of all pairs, a guide tree of these, and the alignment that grows along
//! the tree, as ClustalW computes them (Thompson, Higgins and Gibson 1994) or by the consistency of posterior probabilities.

mod clustal;
mod distances;
mod distinct;
mod probabilities;
mod profiles;
mod rows;
mod tree;

use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;

use self::distinct::Distinct;

pub use self::distances::PairDistance;
pub use self::rows::{DistanceRows, GatheredDistances, PairCounts};
pub use self::tree::{MadeTree, PairDistances, SequenceTree, TreeMethod, TreeSummary};
use super::session::SessionStart;
use super::{Feed, Job, Run, Summary};
use crate::alignment::MultipleAlignment;
use crate::clustal::{Clustal, ClustalCosts};
use crate::engine::{Engine, thread_pool};
use crate::error::{Error, Result};
use crate::gpu::kernels::Family;
use crate::seq::{Alphabet, SequenceId, SequenceStore};
use crate::tree::{Distances, GuideTree};
use crate::{posterior, profile};

/// Bytes that probabilities of pairs may take, and cells that may be computed for them: some minutes of a few threads.
const MAX_BYTES: u64 = 4 << 30;
const MAX_CELLS: u64 = 200_000_000_000;

/// How sequences are aligned.
#[derive(Debug, Clone)]
pub enum MsaMode {
    /// By posterior probabilities and their consistency.
    Accurate(posterior::Options),
    /// As ClustalW.
    Clustal(profile::Options),
}

impl Default for MsaMode {
    fn default() -> Self {
        MsaMode::Accurate(posterior::Options::default())
    }
}

/// Sequences to align with each other.
#[derive(Debug, Clone)]
pub struct MultiAlign {
    /// The sequences: nucleotides or proteins.
    pub sequences: Arc<SequenceStore>,
    /// How they are aligned.
    pub mode: MsaMode,
    /// What the distances are that the guide tree is made of; `None` for ClustalW's, or in accurate mode for those that its
    /// probabilities give.
    pub distance: Option<PairDistance>,
    /// As [`PairDistances::costs`].
    pub costs: Option<Arc<ClustalCosts>>,
    /// How the guide tree is made of them; `None` as for `distance`.
    pub tree: Option<TreeMethod>,
    /// The guide tree. Then none is made.
    pub guide_tree: Option<GuideTree>,
    /// The distances of all pairs, which somebody else has computed; the guide tree is made of them.
    pub given: Option<Arc<Distances>>,
    /// Hand the distances over.
    pub needs_distances: bool,
    /// Compute the distances a second time, on the CPU and pair by pair, and fail if one is another; only ClustalW's.
    pub check: bool,
}

/// What comes of it.
#[derive(Debug, Clone, Default)]
pub struct Aligned {
    /// The alignment.
    pub alignment: MultipleAlignment,
    /// The guide tree, and the distances if they were asked for.
    pub guide: MadeTree,
    /// The sequences in the order in which they stand in the tree, or came to the alignment.
    pub order: Vec<SequenceId>,
}

/// What such a job did.
#[derive(Debug, Clone, Default, Serialize)]
pub struct MsaSummary {
    /// Sequences.
    pub sequences: usize,
    /// Columns of their alignment.
    pub columns: usize,
    /// What the distances took, where they are a stage by themselves; in accurate mode the probabilities of all pairs.
    pub distances: Summary,
    /// Seconds of the guide tree.
    pub tree_seconds: f64,
    /// Seconds of the alignment.
    pub alignment_seconds: f64,
    /// Seconds of all.
    pub seconds: f64,
}

impl MultiAlign {
    /// The default mode, distances and tree.
    pub fn new(sequences: Arc<SequenceStore>) -> Self {
        MultiAlign {
            sequences,
            mode: MsaMode::default(),
            distance: None,
            costs: None,
            tree: None,
            guide_tree: None,
            given: None,
            needs_distances: false,
            check: false,
        }
    }
}

/// Engines for ClustalW's distances.
type Engines = Vec<Box<dyn Engine<Clustal>>>;

impl MultiAlign {
    /// Cells of the distances, or of what is computed of all pairs instead.
    pub fn cells(&self) -> u64 {
        match self.mode {
            MsaMode::Clustal(_) if self.guide_tree.is_some() || self.given.is_some() => 0,
            MsaMode::Clustal(_) => cells_of(&self.sequences),
            // Identical sequences are aligned once.
            MsaMode::Accurate(_) => cells_of(&Distinct::new(&self.sequences).sequences),
        }
    }

    /// Whether a guide tree is given or made before anything else; else it is made of what accurate mode's probabilities say.
    fn is_guided(&self) -> bool {
        let has_own =
            self.guide_tree.is_some() || self.given.is_some() || self.distance.is_some() || self.tree.is_some();
        has_own || matches!(self.mode, MsaMode::Clustal(_))
    }

    /// The job that makes the guide tree.
    fn sequence_tree(&self) -> SequenceTree {
        SequenceTree {
            distance: self.distance.unwrap_or_default(),
            costs: self.costs.clone(),
            method: self.tree.unwrap_or_default(),
            needs_distances: self.needs_distances,
            check: self.check,
            given: self.given.clone(),
            ..SequenceTree::new(Arc::clone(&self.sequences))
        }
    }

    /// The job that finds the distances that the guide tree is made of; `None` if none are computed for that alone.
    pub fn pair_distances(&self) -> Option<PairDistances> {
        let is_made = self.is_guided() && self.guide_tree.is_none();
        is_made.then(|| self.sequence_tree().pair_distances()).flatten()
    }

    fn align(&self, engines: Option<Engines>, run: &Run) -> Result<(Aligned, MsaSummary)> {
        let begin = Instant::now();
        let pool = thread_pool(run.threads)?;
        let mut summary = MsaSummary { sequences: self.sequences.len(), ..MsaSummary::default() };
        let aligned = match &self.mode {
            MsaMode::Accurate(options) => self.accurate(options, &pool, run, &mut summary)?,
            MsaMode::Clustal(options) => self.clustal(options, engines, &pool, run, &mut summary)?,
        };
        summary.columns = aligned.alignment.columns();
        summary.seconds = begin.elapsed().as_secs_f64();
        Ok((aligned, summary))
    }

    /// Returns the guide tree, and the distances if they are asked for.
    fn guide(
        &self,
        engines: Option<Engines>,
        pool: &Arc<rayon::ThreadPool>,
        run: &Run,
        summary: &mut MsaSummary,
    ) -> Result<MadeTree> {
        if let Some(tree) = &self.guide_tree {
            return Ok(MadeTree { tree: tree.clone(), ..MadeTree::default() });
        }
        let (made, took) = self.sequence_tree().make(engines, pool, run)?;
        (summary.distances, summary.tree_seconds) = (took.distances, took.tree_seconds);
        Ok(made)
    }

    fn clustal(
        &self,
        options: &profile::Options,
        engines: Option<Engines>,
        pool: &Arc<rayon::ThreadPool>,
        run: &Run,
        summary: &mut MsaSummary,
    ) -> Result<Aligned> {
        let guide = self.guide(engines, pool, run, summary)?;
        let tree = &guide.tree;
        let begin = Instant::now();
        let (weights, identities) = (tree.weights(), tree.identities());
        let along = profile::Guide { tree, weights: &weights, likeness: &|a, b| identities.percent(a, b) };
        let worth = profiles::Worth::default();
        let profile::Progressive { alignment, order } =
            profiles::align(&self.sequences, &along, options, (run, pool), worth)?;
        summary.alignment_seconds = begin.elapsed().as_secs_f64();
        Ok(Aligned { alignment, guide, order })
    }

    fn accurate(
        &self,
        options: &posterior::Options,
        pool: &Arc<rayon::ThreadPool>,
        run: &Run,
        summary: &mut MsaSummary,
    ) -> Result<Aligned> {
        let distinct = Distinct::new(&self.sequences);
        let sequences = &distinct.sequences;
        let lengths = sequences.lengths();
        let (bytes, cells) = (posterior::memory(lengths), cells_of(sequences));
        let is_long = lengths.iter().any(|&length| length as usize >= posterior::LONGEST);
        let is_large = bytes > MAX_BYTES || cells > MAX_CELLS || is_long;
        let guided = self.is_guided();
        if is_large && (guided || self.needs_distances) {
            return Err(Error::usage(format!(
                "{} sequences are too many or too long for probabilities of all pairs: they are aligned by families, which takes \
                 no guide tree or distances, and has no distances of all pairs to write",
                lengths.len()
            )));
        }
        let guide = match guided {
            true => {
                // A kernel that was asked for is one for probabilities, and so are the cells that are counted.
                let run = Run { kernel: None, progress: Arc::new(()), ..run.clone() };
                Some(self.guide(None, pool, &run, summary)?)
            }
            false => None,
        };
        let begin = Instant::now();
        let advance = |pairs, cells| run.progress.advance(pairs, cells);
        let (alignment, tree, own) = if is_large {
            tracing::info!(
                "{} sequences are too many or too long for probabilities of all pairs ({:.1} GiB, {:.1e} cells): families are \
                 aligned so, and joined by profiles and by some of their sequences",
                lengths.len(),
                bytes as f64 / (1u64 << 30) as f64,
                cells as f64
            );
            let limits = posterior::large::Limits::default();
            let (alignment, tree) =
                posterior::large::align(sequences, options, &limits, pool, &advance, &run.interrupt)?;
            (alignment, tree, None)
        } else {
            let (gathered, took) = probabilities::of(sequences, pool, run)?;
            summary.distances = took;
            let along = guide.as_ref().map(|guide| distinct.prune(&guide.tree));
            let outcome =
                posterior::align_gathered(sequences, options, along.as_ref(), gathered, pool, &run.interrupt)?;
            (outcome.alignment, outcome.tree, Some(outcome.distances))
        };
        let own = own.filter(|_| self.needs_distances).map(|own| distinct.distances(own));
        let alignment = distinct.alignment(alignment)?;
        summary.alignment_seconds = begin.elapsed().as_secs_f64();
        let guide = match guide {
            Some(MadeTree { tree, unrooted, distances }) => {
                MadeTree { tree, unrooted, distances: distances.or(own).filter(|_| self.needs_distances) }
            }
            None => MadeTree { tree: distinct.tree(tree), unrooted: None, distances: own },
        };
        let order = guide.tree.order();
        Ok(Aligned { alignment, guide, order })
    }
}

/// Cells of all pairs.
fn cells_of(sequences: &SequenceStore) -> u64 {
    posterior::cells(sequences.lengths())
}

/// What is said of letters without a meaning.
fn check_letters(sequences: &SequenceStore) -> Result<()> {
    match sequences.alphabet() {
        Alphabet::Dna | Alphabet::Protein => Ok(()),
        Alphabet::Bytes => {
            Err(Error::usage_of("alphabet", "only nucleotides and proteins are aligned with each other"))
        }
    }
}

/// What is said of distances that are not of these sequences.
fn check_given(given: Option<&Distances>, sequences: &SequenceStore) -> Result<()> {
    match given.map(Distances::sequences) {
        Some(others) if others != sequences.len() => Err(Error::usage_of(
            "given",
            format!("these are distances of {others} sequences, but there are {}", sequences.len()),
        )),
        _ => Ok(()),
    }
}

impl Job for MultiAlign {
    type Row = Aligned;
    type Summary = MsaSummary;
    type Engines = Engines;
    type Session = Option<Engines>;

    fn validate(&self) -> Result<()> {
        check_letters(&self.sequences)?;
        if self.guide_tree.is_some() && self.given.is_some() {
            return Err(Error::usage_of("given", "distances are what a guide tree is made of: leave out either"));
        }
        if let MsaMode::Accurate(posterior::Options { rounds, .. }) = self.mode
            && rounds > posterior::Options::MAX_ROUNDS
        {
            let message = "more than 3 rounds leave too few probabilities to align by; give 0 to 3";
            return Err(Error::usage_value("rounds", rounds, message));
        }
        if self.guide_tree.is_none() {
            self.sequence_tree().validate()?;
        }
        match &self.guide_tree {
            Some(tree) if tree.leaves != self.sequences.len() => Err(Error::usage_of(
                "guide_tree",
                format!("it has {} leaves, but there are {} sequences", tree.leaves, self.sequences.len()),
            )),
            _ => Ok(()),
        }
    }

    fn open(&self, start: SessionStart<Engines>, run: &Run) -> Result<Option<Engines>> {
        self.validate()?;
        let family = match self.mode {
            MsaMode::Accurate(_) => Family::Posterior,
            MsaMode::Clustal(_) => Family::Clustal,
        };
        start.check_kernel(run, family)?;
        Ok(start.engines)
    }

    /// Hands over one alignment.
    fn feed(&self, Feed { run, sink, .. }: Feed<'_, Aligned>, session: &mut Option<Engines>) -> Result<MsaSummary> {
        let (aligned, summary) = self.align(session.take(), run)?;
        sink.rows(&[aligned])?;
        sink.end()?;
        Ok(summary)
    }
}
