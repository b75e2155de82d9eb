//! Multiple sequence alignment: distances of all pairs, a guide tree, and an alignment along the
//! tree. The method is ClustalW's (Thompson, Higgins and Gibson 1994) or the consistency of
//! posterior probabilities.

mod added;
mod clustal;
mod distances;
mod distinct;
mod pair_distances;
mod probabilities;
mod profiles;
mod rows;
mod stages;
mod tree;

use std::sync::Arc;

use serde::Serialize;

use self::distinct::DistinctSequences;
use self::probabilities::PairEngines;
use self::stages::StageClock;

pub use self::added::{AddRows, AddedRows, AlignedSequences, NewRows};
pub use self::pair_distances::{PairDistance, PairDistances};
pub use self::rows::{DistanceRows, GatheredDistances, PairCounts};
pub use self::tree::{MadeTree, SequenceTree, TreeSummary};
use super::session::SessionStart;
use super::{Feed, Job, Run, Summary};
use crate::alignment::{ColumnSelection, Confidence, MultipleAlignment};
use crate::clustal::{Clustal, ClustalCosts};
use crate::engine::{Engine, thread_pool};
use crate::error::{Error, Result};
use crate::gpu::kernels::Family;
use crate::host::default_limit;
use crate::posterior::PosteriorPlan;
use crate::posterior::large::{self, FamilyLimits, LargeRun, PairComputer};
use crate::seq::{Alphabet, SequenceId, SequenceStore};
pub use crate::tree::TreeMethod;
use crate::tree::{Distances, GuideTree};
use crate::{posterior, profile};

/// The method of a multiple alignment.
#[derive(Debug, Clone)]
pub enum MsaMode {
    /// Consistency of posterior probabilities.
    Accurate(posterior::PosteriorOptions),
    /// The method of ClustalW.
    Clustal(profile::ProfileOptions),
}

impl Default for MsaMode {
    fn default() -> Self {
        MsaMode::Accurate(posterior::PosteriorOptions::default())
    }
}

/// A multiple sequence alignment.
#[derive(Debug, Clone)]
pub struct MultiAlign {
    /// The sequences: nucleotides or proteins.
    pub sequences: Arc<SequenceStore>,
    /// The method and its options.
    pub mode: MsaMode,
    /// The distances that the guide tree is built from. `None` selects ClustalW's distances, or in
    /// accurate mode distances that follow from the probabilities.
    pub distance: Option<PairDistance>,
    /// Costs of ClustalW's distances, as in [`PairDistances::costs`].
    pub costs: Option<Arc<ClustalCosts>>,
    /// The method that builds the guide tree; `None` selects neighbour joining. In accurate mode, a
    /// tree is built from distances first only if this, `distance`, `given` or `guide_tree` is set.
    pub tree: Option<TreeMethod>,
    /// A given guide tree. No tree is built then.
    pub guide_tree: Option<GuideTree>,
    /// Given distances of all pairs, which the guide tree is built from.
    pub given: Option<Arc<Distances>>,
    /// Whether to report the distances.
    pub needs_distances: bool,
    /// Whether to compute the confidence of residues and columns.
    pub needs_confidence: bool,
    /// Minimum confidence of the columns to select ([`MsaResult::selection`]), from 0 to 1.
    pub mask: Option<f32>,
    /// Maximum bytes of the largest tables: the probabilities of all pairs, or of the pairs of all
    /// families that are aligned at the same time, and the distances with the tree. It never changes
    /// the result. `None` selects 4 GiB for all pairs, a quarter of the machine's memory up to 4 GiB
    /// for families, and the machine's memory for distances.
    pub host_memory: Option<u64>,
    /// Whether to compute ClustalW's distances again, on the CPU and pair by pair, and to fail if
    /// one differs.
    pub check: bool,
}

/// The result of a multiple alignment.
#[derive(Debug, Clone, Default)]
pub struct MsaResult {
    /// The alignment.
    pub alignment: MultipleAlignment,
    /// The guide tree, and the distances if requested.
    pub guide: MadeTree,
    /// Numbers of the sequences in the order of the tree or of their alignment.
    pub order: Vec<SequenceId>,
    /// Confidence of residues and columns, if requested. It follows from the probabilities of all
    /// pairs if accurate mode computes them. Otherwise each sequence is compared with at most
    /// [`posterior::PARTNERS`] sequences.
    pub confidence: Option<Confidence>,
    /// Columns with the minimum confidence, if one is given. The alignment and the confidence
    /// contain all columns.
    pub selection: Option<ColumnSelection>,
}

/// Counts and times of a multiple alignment. No time counts in two stages.
#[derive(Debug, Clone, Default, Serialize)]
pub struct MsaSummary {
    /// Number of sequences.
    pub sequences: usize,
    /// Number of columns of the alignment.
    pub columns: usize,
    /// Number of columns whose confidence is too low, if a minimum is given.
    pub dropped_columns: Option<usize>,
    /// Summary of the distances, if they are a separate stage. In accurate mode, the summary of the
    /// probabilities of all pairs.
    pub distances: Summary,
    /// Time of the guide tree in seconds. In accurate mode, this includes the distances of a tree
    /// that is built first.
    pub tree_seconds: f64,
    /// Time of the alignment in seconds.
    pub alignment_seconds: f64,
    /// Time of the confidence in seconds, if it is a separate stage.
    pub confidence_seconds: f64,
    /// Total time in seconds.
    pub seconds: f64,
}

impl MultiAlign {
    /// Creates an alignment in the default mode, with default distances and tree.
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
            needs_confidence: false,
            mask: None,
            host_memory: None,
            check: false,
        }
    }
}

/// Engines for ClustalW's distances.
type ClustalEngines = Vec<Box<dyn Engine<Clustal>>>;

impl MultiAlign {
    /// Returns the number of cells of the distances, or of the probabilities of all pairs in
    /// accurate mode.
    pub fn cells(&self) -> u64 {
        match self.mode {
            MsaMode::Clustal(_) if self.guide_tree.is_some() || self.given.is_some() => 0,
            MsaMode::Clustal(_) => cells_of(&self.sequences),
            MsaMode::Accurate(_) => {
                let sequences = &self.distinct_sequences().sequences;
                let models = if self.takes_all_pairs(sequences) { posterior::models(sequences.alphabet()) } else { 1 };
                cells_of(sequences).saturating_mul(models)
            }
        }
    }

    /// Returns whether the confidence is computed.
    fn has_confidence(&self) -> bool {
        self.needs_confidence || self.mask.is_some()
    }

    /// Returns whether a guide tree is given or built first. Otherwise it is built from the
    /// probabilities of accurate mode.
    fn is_guided(&self) -> bool {
        let is_given =
            self.guide_tree.is_some() || self.given.is_some() || self.distance.is_some() || self.tree.is_some();
        is_given || matches!(self.mode, MsaMode::Clustal(_))
    }

    /// Returns the sequences that accurate mode aligns: one of several identical ones, and in large
    /// sets one of several similar ones.
    fn distinct_sequences(&self) -> DistinctSequences {
        let distinct = DistinctSequences::new(&self.sequences);
        if self.needs_all_pairs() || self.takes_all_pairs(&distinct.sequences) {
            distinct
        } else {
            distinct.with_similar()
        }
    }

    /// Returns whether the probabilities of all pairs are needed: for a given tree, or to report
    /// distances.
    fn needs_all_pairs(&self) -> bool {
        self.is_guided() || self.needs_distances
    }

    /// Returns whether accurate mode computes the probabilities of all pairs of these sequences.
    fn takes_all_pairs(&self, sequences: &SequenceStore) -> bool {
        let mut limits = posterior::AllPairsLimits::default();
        if self.needs_all_pairs() {
            // The method never depends on the host memory otherwise, because results must not.
            limits.sequences = usize::MAX;
            limits.bytes = self.host_memory.unwrap_or(limits.bytes);
        }
        limits.fit(sequences.alphabet(), sequences.lengths())
    }

    /// Refuses a set whose probabilities of all pairs exceed the host memory.
    fn check_host_memory(&self, sequences: &SequenceStore) -> Result<()> {
        let needed = posterior::memory(sequences.alphabet(), sequences.lengths());
        match self.host_memory {
            Some(bytes) if needed > bytes => Err(Error::usage_of(
                "host_memory",
                format!(
                    "the probabilities of all pairs of {} sequences may need {} MiB",
                    sequences.len(),
                    needed.div_ceil(1 << 20)
                ),
            )),
            _ => Ok(()),
        }
    }

    /// Returns the job that builds the guide tree.
    fn sequence_tree(&self) -> SequenceTree {
        SequenceTree {
            distance: self.distance.unwrap_or_default(),
            costs: self.costs.clone(),
            method: self.tree.unwrap_or_default(),
            needs_distances: self.needs_distances,
            host_memory: self.host_memory,
            check: self.check,
            given: self.given.clone(),
            ..SequenceTree::new(Arc::clone(&self.sequences))
        }
    }

    /// Returns the job that computes the distances for the guide tree; `None` if no distances are
    /// computed.
    pub fn pair_distances(&self) -> Option<PairDistances> {
        let is_made = self.is_guided() && self.guide_tree.is_none();
        is_made.then(|| self.sequence_tree().pair_distances()).flatten()
    }

    fn align(&self, engines: Option<ClustalEngines>, run: &Run) -> Result<(MsaResult, MsaSummary)> {
        let mut clock = StageClock::start();
        let pool = thread_pool(run.threads)?;
        let mut summary = MsaSummary { sequences: self.sequences.len(), ..MsaSummary::default() };
        let mut aligned = match &self.mode {
            MsaMode::Accurate(options) => self.accurate(options, &pool, run, &mut summary, &mut clock)?,
            MsaMode::Clustal(options) => self.clustal(options, engines, &pool, run, &mut summary, &mut clock)?,
        };
        if self.has_confidence() && aligned.confidence.is_none() {
            aligned.confidence = Some(self.confidence(&aligned, &pool, run)?);
            summary.confidence_seconds = clock.lap();
        }
        aligned.selection = select(aligned.confidence.as_ref(), self.mask, &mut summary)?;
        summary.columns = aligned.alignment.columns();
        summary.seconds = clock.total();
        Ok((aligned, summary))
    }

    /// Returns the guide tree, and the distances if requested.
    fn guide(
        &self,
        engines: Option<ClustalEngines>,
        pool: &Arc<rayon::ThreadPool>,
        run: &Run,
        summary: &mut MsaSummary,
        clock: &mut StageClock,
    ) -> Result<MadeTree> {
        if let Some(tree) = &self.guide_tree {
            return Ok(MadeTree { tree: tree.clone(), ..MadeTree::default() });
        }
        let (made, took) = self.sequence_tree().make(engines, pool, run)?;
        // The distances are measured within this stage.
        summary.tree_seconds = clock.lap() - took.distances.seconds;
        summary.distances = took.distances;
        Ok(made)
    }

    /// Computes the confidence of an alignment that does not follow from probabilities of all pairs.
    fn confidence(&self, aligned: &MsaResult, pool: &rayon::ThreadPool, run: &Run) -> Result<Confidence> {
        let MsaResult { alignment, order, .. } = aligned;
        // The bar counts the cells of the alignment.
        let advance = |_, _| ();
        posterior::confidence(&self.sequences, alignment, order, pool, &advance, &run.interrupt)
    }

    fn clustal(
        &self,
        options: &profile::ProfileOptions,
        engines: Option<ClustalEngines>,
        pool: &Arc<rayon::ThreadPool>,
        run: &Run,
        summary: &mut MsaSummary,
        clock: &mut StageClock,
    ) -> Result<MsaResult> {
        let guide = self.guide(engines, pool, run, summary, clock)?;
        let tree = &guide.tree;
        let (weights, identities) = (tree.weights(), tree.identities());
        let along = profile::Guide { tree, weights: &weights, likeness: &|a, b| identities.percent(a, b) };
        let thresholds = profiles::DeviceThresholds::default();
        let profile::Progressive { alignment, order } =
            profiles::align(&self.sequences, &along, options, run, pool, thresholds)?;
        summary.alignment_seconds = clock.lap();
        Ok(MsaResult { alignment, guide, order, ..MsaResult::default() })
    }

    fn accurate(
        &self,
        options: &posterior::PosteriorOptions,
        pool: &Arc<rayon::ThreadPool>,
        run: &Run,
        summary: &mut MsaSummary,
        clock: &mut StageClock,
    ) -> Result<MsaResult> {
        let distinct = self.distinct_sequences();
        let sequences = &distinct.sequences;
        let is_large = !self.takes_all_pairs(sequences);
        if !is_large || self.needs_all_pairs() {
            self.check_host_memory(sequences)?;
        }
        if is_large && self.needs_all_pairs() {
            return Err(Error::usage(format!(
                "{} sequences are too many or too long for probabilities of all pairs: families are \
                 aligned separately, which uses no guide tree or distances and cannot write distances of all pairs",
                sequences.len()
            )));
        }
        let guide = match self.is_guided() {
            true => {
                // The selected kernel and the counted cells of the run are those for probabilities.
                let run = Run { kernel: None, progress: Arc::new(()), ..run.clone() };
                let guide = self.guide(None, pool, &run, summary, clock)?;
                // The summary's distances are those of the probabilities.
                summary.tree_seconds += std::mem::take(&mut summary.distances).seconds;
                Some(guide)
            }
            false => None,
        };
        let (alignment, tree, computed, confidence) = if is_large {
            tracing::info!(
                "{} different sequences are aligned in families, which are joined by profiles and representative \
                 sequences: probabilities of all pairs would take {:.1} GiB and {:.1e} cells",
                sequences.len(),
                posterior::memory(sequences.alphabet(), sequences.lengths()) as f64 / (1u64 << 30) as f64,
                cells_of(sequences) as f64
            );
            let (alignment, tree) = self.align_families(sequences, options, pool, run)?;
            (alignment, tree, None, None)
        } else {
            let (gathered, took) = probabilities::compute(sequences, pool, run)?;
            summary.distances = took;
            let along = guide.as_ref().map(|guide| distinct.prune(&guide.tree));
            let needs_confidence = self.has_confidence();
            let outcome = posterior::align_gathered(
                sequences,
                options,
                along.as_ref(),
                gathered,
                needs_confidence,
                pool,
                &run.interrupt,
            )?;
            (outcome.alignment, outcome.tree, Some(outcome.distances), outcome.confidence)
        };
        let computed = computed.filter(|_| self.needs_distances).map(|distances| distinct.distances(distances));
        let alignment = distinct.alignment(alignment)?;
        let confidence = confidence.and_then(|few| distinct.confidence(&few, &alignment));
        // The probabilities are measured within this stage.
        summary.alignment_seconds = clock.lap() - summary.distances.seconds;
        let guide = match guide {
            Some(MadeTree { tree, unrooted, distances }) => {
                MadeTree { tree, unrooted, distances: distances.or(computed).filter(|_| self.needs_distances) }
            }
            None => MadeTree { tree: distinct.tree(tree), unrooted: None, distances: computed },
        };
        let order = guide.tree.order();
        Ok(MsaResult { alignment, guide, order, confidence, selection: None })
    }

    /// Aligns a large set in families. GPUs compute the probabilities of pairs if there are enough
    /// of them.
    fn align_families(
        &self,
        sequences: &Arc<SequenceStore>,
        options: &posterior::PosteriorOptions,
        pool: &Arc<rayon::ThreadPool>,
        run: &Run,
    ) -> Result<(MultipleAlignment, GuideTree)> {
        let memory = self.host_memory.unwrap_or_else(default_limit);
        let run = Run { kernel: None, ..run.clone() };
        let mut engines = PairEngines::for_large_set(sequences, &run)?;
        let mut compute =
            engines.as_mut().map(|engines| |plan: PosteriorPlan| Ok(engines.compute(std::slice::from_ref(&plan))?.0));
        let computer = compute.as_mut().map(|compute| compute as &mut PairComputer<'_>);
        let advance = |pairs, cells| run.progress.advance(pairs, cells);
        let large_run = LargeRun { pool, computer, memory, advance: &advance, interrupt: &run.interrupt };
        large::align(sequences, options, &FamilyLimits::default(), large_run)
    }
}

/// Selects the columns with a minimum confidence if one is given, and counts the others in a
/// summary.
///
/// # Errors
/// Returns [`Error::Usage`] if no column has it.
fn select(
    confidence: Option<&Confidence>,
    mask: Option<f32>,
    summary: &mut MsaSummary,
) -> Result<Option<ColumnSelection>> {
    let (Some(confidence), Some(least)) = (confidence, mask) else { return Ok(None) };
    let selection = confidence.select(least);
    if selection.selected() == 0 && selection.dropped() > 0 {
        let greatest = confidence.columns().iter().fold(0.0f32, |a, &b| a.max(b));
        // Rounded down, so that the advice can be followed.
        let greatest = (greatest * 100.0).floor() / 100.0;
        let message = format!("no column has this confidence; the greatest is {greatest:.2}");
        return Err(Error::usage_value("mask", least, message));
    }
    summary.dropped_columns = Some(selection.dropped());
    Ok(Some(selection))
}

/// Refuses a minimum confidence outside 0 to 1.
fn check_mask(mask: Option<f32>) -> Result<()> {
    match mask {
        Some(least) if !(0.0..=1.0).contains(&least) => Err(Error::usage_value("mask", least, "must be from 0 to 1")),
        _ => Ok(()),
    }
}

/// Returns the number of cells of all pairs.
fn cells_of(sequences: &SequenceStore) -> u64 {
    posterior::cells(sequences.lengths())
}

/// Refuses sequences that are not nucleotides or proteins.
fn check_letters(sequences: &SequenceStore) -> Result<()> {
    match sequences.alphabet() {
        Alphabet::Dna | Alphabet::Protein => Ok(()),
        Alphabet::Bytes => {
            Err(Error::usage_of("alphabet", "multiple alignment supports only nucleotides and proteins"))
        }
    }
}

/// Refuses given distances of a different number of sequences.
fn check_given(given: Option<&Distances>, sequences: &SequenceStore) -> Result<()> {
    match given.map(Distances::sequences) {
        Some(others) if others != sequences.len() => Err(Error::usage_of(
            "given",
            format!("there are distances for {others} sequences, but {} sequences", sequences.len()),
        )),
        _ => Ok(()),
    }
}

impl Job for MultiAlign {
    type Row = MsaResult;
    type Summary = MsaSummary;
    type Engines = ClustalEngines;
    type Session = Option<ClustalEngines>;

    fn validate(&self) -> Result<()> {
        check_letters(&self.sequences)?;
        check_mask(self.mask)?;
        if self.guide_tree.is_some() && self.given.is_some() {
            return Err(Error::usage_of("given", "a guide tree is built from distances: omit one of them"));
        }
        if let MsaMode::Accurate(posterior::PosteriorOptions { rounds, .. }) = self.mode
            && rounds > posterior::PosteriorOptions::MAX_ROUNDS
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

    fn open(&self, start: SessionStart<ClustalEngines>, run: &Run) -> Result<Option<ClustalEngines>> {
        self.validate()?;
        let family = match self.mode {
            MsaMode::Accurate(_) => Family::Posterior,
            MsaMode::Clustal(_) => Family::Clustal,
        };
        start.check_kernel(run, family)?;
        Ok(start.engines)
    }

    /// Passes on a single result.
    fn feed(
        &self,
        Feed { run, sink, .. }: Feed<'_, MsaResult>,
        session: &mut Option<ClustalEngines>,
    ) -> Result<MsaSummary> {
        let (aligned, summary) = self.align(session.take(), run)?;
        sink.rows(&[aligned])?;
        sink.end()?;
        Ok(summary)
    }
}
