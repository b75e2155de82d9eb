//! Excludes pairs by their edit distances before scores are computed, if these pairs cannot reach a
//! minimum identity.

mod choice;
mod counts;
mod plans;
mod qgram_filter;
mod score_floors;
mod source;
mod warning;
mod worker;

use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;

use self::choice::devices_if_profitable;
pub(super) use self::choice::{IdentityGoal, JobExtent};
pub(super) use self::plans::{FilteredPlan, PlanFilter};
use self::qgram_filter::QgramFilter;
use self::score_floors::ScoreFloors;
pub(super) use self::warning::warn_if_impossible;
use self::worker::filtering_workers;
use super::Run;
use super::engines::{open_edit_on, without_gpus};
use crate::edit::cpu::edit_workers;
use crate::edit::plan::{Against, EditJob};
use crate::edit::{BlockGroup, Edit, EditReport, GROUP_PAIRS, group_blocks};
use crate::engine::Engine;
use crate::engine::owner::{self, BatchOutcome, Control, EngineSet};
use crate::engine::stats::{EngineStats, RunStats};
use crate::error::{Error, Result};
use crate::gpu::adapter::Device;
use crate::pairs::Pairs;
use crate::pairs::cpu::workers;
use crate::pairs::plan::{self, selected::SelectedPairs};
use crate::score::edit_filter::edit_limit;
use crate::score::{EditLimit, EditMode, EditScheme, OverlapProof};

/// Maximum number of pairs of a chunk. Results do not wait for each other, so a chunk only needs to
/// fill a batch.
const CHUNK_PAIRS: u64 = 1 << 26;
/// Maximum number of selected pairs that are kept. If more pairs pass, all pairs are scored
/// instead, because a filter by scores is then as effective.
const MAX_SELECTED: usize = 1 << 26;
/// Number of kinds of engines that share the memory of devices if edit distances of parts of a job
/// are computed while other parts are scored.
pub(super) const WITH_FILTER: u64 = 2;

/// Length in symbols above which the overlaps of a sequence need more rows than a GPU keeps for a
/// pair at once.
const MAX_OVERLAP_SYMBOLS: u32 = 12_000;

/// Whether pairs that cannot reach the minimum identity are first excluded by their edit distances.
/// The choice never changes the output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EditFilter {
    /// Exclude pairs if this saves time: in large jobs with a high minimum identity.
    #[default]
    Auto,
    /// Exclude pairs whenever edit distances can exclude any.
    On,
    /// Compute no edit distances.
    Off,
}

/// Result of a pass over the edit distances of all pairs.
pub struct Prefiltered {
    /// The pairs that may reach the identity; `None` if they are too many to keep.
    pub selection: Option<SelectedPairs>,
    /// Statistics of the engines.
    pub ran: RunStats,
    /// Duration in seconds.
    pub seconds: f64,
    /// Pairs and cells that were reported as progress.
    pub reported: ReportedProgress,
}

/// Numbers of pairs and cells that were reported as progress.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReportedProgress {
    /// Number of pairs.
    pub pairs: u64,
    /// Number of matrix cells of these pairs.
    pub cells: u64,
}

impl std::ops::AddAssign for ReportedProgress {
    fn add_assign(&mut self, more: ReportedProgress) {
        self.pairs += more.pairs;
        self.cells += more.cells;
    }
}

/// Selects the pairs of `planned` that may reach the identity, by edit distances. Does so if the
/// user requests it or if it pays off.
///
/// # Errors
/// [`Error::Interrupted`]; [`Error::Internal`] if an engine breaks its contract; the errors of an
/// invalid choice of devices.
pub(super) fn run_if_profitable(
    goal: &IdentityGoal,
    planned: &plan::PairsSpec,
    run: &Run,
) -> Result<Option<Prefiltered>> {
    let Some(mut filter) = EditDistanceFilter::for_pairs(goal, planned, run)? else { return Ok(None) };
    let mut engine_set = EngineSet::for_once(filter.open(run, 1));
    filter.select_on(planned, &mut engine_set, run).map(Some)
}

/// Returns engines on CPU threads that compute the pairs of lost GPUs. They filter pairs by edit
/// distances if a job on the CPU alone would do so. They do not if `is_filtered` is set, because
/// the pairs are then filtered already, or if the filter needs proofs for the pairs.
///
/// # Errors
/// The errors of an invalid choice of devices.
pub(super) fn reserve<'a>(
    goal: &IdentityGoal,
    job: impl Into<JobExtent<'a>>,
    is_filtered: bool,
    run: &Run,
    pool: &rayon::ThreadPool,
) -> Result<Vec<Box<dyn Engine<Pairs>>>> {
    let filter = if is_filtered { None } else { EditDistanceFilter::if_profitable(goal, job, &without_gpus(run))? };
    let threads = pool.current_num_threads();
    Ok(match filter {
        Some(EditDistanceFilter { scheme, proofs: Proofs::NotNeeded, .. }) => {
            filtering_workers(&Arc::new(scheme), threads, &run.interrupt)
        }
        _ => workers(threads, &run.interrupt),
    })
}

/// A filter by edit distances, with engines that it reuses for every part of a job.
pub(super) struct EditDistanceFilter {
    scheme: EditScheme,
    devices: Vec<Device>,
    pool: Arc<rayon::ThreadPool>,
    engine_set: Option<EngineSet<Edit>>,
    proofs: Proofs,
    /// Whether the user requests the filter.
    is_forced: bool,
}

/// Proofs that pairs above the limit cannot reach the identity.
enum Proofs {
    /// Every pair above the limit is excluded.
    NotNeeded,
    /// Bounds on scores are computed when the first pairs are known.
    Needed(OverlapProof),
    /// Pairs with a proof are excluded.
    Available(Box<ScoreFloors>),
    /// Few pairs have a proof.
    Rare,
}

impl EditDistanceFilter {
    /// Returns a filter if edit distances pay off for the whole job. Opens no device.
    ///
    /// # Errors
    /// The errors of an invalid choice of devices.
    pub(super) fn if_profitable<'a>(
        goal: &IdentityGoal,
        job: impl Into<JobExtent<'a>>,
        run: &Run,
    ) -> Result<Option<Self>> {
        let Some(identity) = goal.filtered_identity() else { return Ok(None) };
        let extent = job.into();
        let limit = edit_limit(goal.definition, identity, extent.scoring)
            .ok()
            .filter(|limit| limit.scheme.mode == EditMode::Global || extent.longest <= MAX_OVERLAP_SYMBOLS);
        let Some(EditLimit { scheme, proof }) = limit else { return Ok(None) };
        let chosen = devices_if_profitable(goal, identity, &extent, run)?;
        let (proofs, is_forced) = (proof.map_or(Proofs::NotNeeded, Proofs::Needed), goal.edit_filter == EditFilter::On);
        Ok(chosen.map(|(devices, pool)| EditDistanceFilter {
            scheme,
            devices,
            pool,
            engine_set: None,
            proofs,
            is_forced,
        }))
    }

    /// Returns a filter like [`EditDistanceFilter::if_profitable`], or `None` if it would exclude few
    /// pairs of this plan.
    ///
    /// # Errors
    /// The errors of an invalid choice of devices; [`Error::Interrupted`].
    pub(super) fn for_pairs(goal: &IdentityGoal, planned: &plan::PairsSpec, run: &Run) -> Result<Option<Self>> {
        let Some(mut filter) = Self::if_profitable(goal, planned, run)? else { return Ok(None) };
        Ok(filter.prepare(planned, run)?.then_some(filter))
    }

    /// Prepares proofs for the pairs of a plan, if they are needed. Returns false if few pairs have
    /// one.
    fn prepare(&mut self, planned: &plan::PairsSpec, run: &Run) -> Result<bool> {
        let pool = Arc::clone(&self.pool);
        if let Proofs::Needed(proof) = self.proofs {
            let floors = pool.install(|| ScoreFloors::choose(proof, planned, self.is_forced, run))?;
            self.proofs = floors.map_or(Proofs::Rare, |floors| Proofs::Available(Box::new(floors)));
        }
        if let Proofs::Available(floors) = &mut self.proofs {
            pool.install(|| floors.align(planned, run))?;
        }
        Ok(!matches!(self.proofs, Proofs::Rare))
    }

    /// Adds the pairs of a plan without a proof to the sorted pairs within the limit, if pairs need a
    /// proof. If there are then more than `most`, `selected` becomes `None`.
    fn add_unproven(&self, planned: &plan::PairsSpec, selected: &mut Option<Vec<(u32, u32)>>, most: usize) {
        let (Proofs::Available(floors), Some(pairs)) = (&self.proofs, &mut *selected) else { return };
        self.pool.install(|| floors.add_unproven(planned, pairs));
        if pairs.len() > most {
            *selected = None;
        }
    }

    /// Appends the statistics of proofs.
    fn add_proofs_to(&self, ran: RunStats) -> RunStats {
        match &self.proofs {
            Proofs::Available(floors) => self.pool.install(|| floors.add_to(ran)),
            _ => ran,
        }
    }

    /// Selects the pairs of a plan. The engines stay open for the next plan.
    fn select_plan(&mut self, planned: &plan::PairsSpec, run: &Run) -> Result<Prefiltered> {
        if !self.prepare(planned, run)? {
            let (ran, reported) = (RunStats::default(), ReportedProgress::default());
            return Ok(Prefiltered { selection: None, ran, seconds: 0.0, reported });
        }
        let mut engine_set = self.engine_set.take().unwrap_or_else(|| EngineSet::new(self.open(run, WITH_FILTER)));
        let selected = self.select_on(planned, &mut engine_set, run);
        self.engine_set = Some(engine_set);
        selected
    }

    /// Opens engines. `sharing` kinds of engines share the memory of the devices. If no GPU can be
    /// opened, the engines are CPU threads.
    fn open(&mut self, run: &Run, sharing: u64) -> Vec<Box<dyn Engine<Edit>>> {
        let engines = open_edit_on(&self.devices, run, None, &self.pool, sharing);
        if !engines.is_empty() {
            return engines;
        }
        self.devices = vec![Device::Cpu];
        open_edit_on(&self.devices, run, None, &self.pool, sharing)
    }

    fn select_on(&self, planned: &plan::PairsSpec, engine_set: &mut EngineSet<Edit>, run: &Run) -> Result<Prefiltered> {
        let started = Instant::now();
        let mut prefiltered = select_within(planned, self.scheme.clone(), MAX_SELECTED, engine_set, &self.pool, run)?;
        if matches!(self.proofs, Proofs::Available(_))
            && let Some(selection) = prefiltered.selection.take()
        {
            let mut selected = Some(Arc::unwrap_or_clone(selection));
            self.add_unproven(planned, &mut selected, MAX_SELECTED);
            prefiltered.selection = selected.map(Arc::new);
            prefiltered.ran = self.add_proofs_to(prefiltered.ran);
            prefiltered.seconds = started.elapsed().as_secs_f64();
        }
        if let Some(selection) = &prefiltered.selection {
            tracing::debug!(pairs = selection.len(), seconds = prefiltered.seconds, "selected by edit distance");
        }
        Ok(prefiltered)
    }
}

/// Returns the plan of the edit distances of all pairs of a job.
fn edit_job(job: &plan::PairsSpec, scheme: EditScheme) -> EditJob {
    let against = job.against.clone().map_or(Against::Later, Against::Texts);
    let (patterns, strands, parts) = (Arc::clone(&job.queries), job.strands, job.parts.clone());
    EditJob { patterns, against, scheme: Arc::new(scheme), strands, parts }
}

/// Returns the statistics of a pass over edit distances, with names that mention it.
pub(super) fn named_stats(ran: RunStats) -> impl Iterator<Item = EngineStats> {
    ran.engines.into_iter().map(|engine| EngineStats { name: format!("{} (edit distances)", engine.name), ..engine })
}

/// Computes the distances of all pairs on these engines, and selects at most `most` pairs within
/// the limit. If all engines fail, CPU threads compute the rest. The threads of `pool` run the
/// parallel work between engines.
///
/// # Errors
/// [`Error::Interrupted`]; [`Error::Internal`] if an engine breaks its contract.
fn select_within(
    job: &plan::PairsSpec,
    scheme: EditScheme,
    most: usize,
    engine_set: &mut EngineSet<Edit>,
    pool: &Arc<rayon::ThreadPool>,
    run: &Run,
) -> Result<Prefiltered> {
    let is_triangle = job.against.is_none();
    let edit = edit_job(job, scheme);
    let started = Instant::now();
    let cells = edit.cells();
    // The number of remaining cells of a chunk is unknown until it is planned.
    let control = Control { is_open_ended: true, ..run.control(pool) };
    let reserve = || edit_workers(pool.current_num_threads(), &run.interrupt);
    let mut selected = Vec::new();
    let mut overflowed = false;
    let mut reported = ReportedProgress::default();
    let qgram_filter = QgramFilter::new(pool);
    let (planning, planning_filter, mut chunks) = (Arc::clone(pool), qgram_filter.clone(), edit.chunks(CHUNK_PAIRS));
    let chunks = std::iter::from_fn(move || {
        let planned = planning.install(|| chunks.next());
        planned.map(|planned| planning_filter.exclude(planned).0)
    });
    let ran = owner::run_set(engine_set, reserve, chunks, cells, &control, |outcome| {
        let (pairs, cells) = qgram_filter.take_unreported();
        let (pairs, cells) = (pairs + outcome.pairs, cells + outcome.cells);
        run.progress.advance(pairs, cells);
        reported += ReportedProgress { pairs, cells };
        for part in pool.install(|| select(&outcome, is_triangle)) {
            selected.extend(part);
        }
        overflowed = selected.len() > most;
        // This error only ends the pass. It is not reported.
        if overflowed { Err(Error::Internal("too many pairs were selected".into())) } else { Ok(()) }
    });
    let seconds = || started.elapsed().as_secs_f64();
    match ran {
        Ok(ran) => {
            pool.install(|| selected.par_sort_unstable());
            let ran = qgram_filter.add_to(ran);
            Ok(Prefiltered { selection: Some(Arc::new(selected)), ran, seconds: seconds(), reported })
        }
        Err(_) if overflowed => {
            Ok(Prefiltered { selection: None, ran: RunStats::default(), seconds: seconds(), reported })
        }
        Err(error) => Err(error),
    }
}

/// Returns the pairs of finished blocks that are within the limit, as query and target.
fn select(outcome: &BatchOutcome<Edit>, is_triangle: bool) -> Vec<Vec<(u32, u32)>> {
    let EditReport { distances, unfinished, .. } = &outcome.report;
    let batch = &outcome.batch;
    let of_group = |group: BlockGroup| {
        let mut passing = distances.within(group.pairs.clone()).peekable();
        let mut selected = Vec::new();
        let mut first = 0;
        for index in group.blocks {
            let block = &batch.blocks[index];
            let end = first + block.regions.len();
            let is_finished = !unfinished.contains(&index);
            while let Some((pair, _)) = passing.next_if(|&(pair, _)| pair < end) {
                if is_finished {
                    let position = block.regions.start + (pair - first) as u32;
                    let (one, other) = (block.pattern, batch.chunk.region(position).text);
                    let is_swapped = is_triangle && other < one;
                    selected.push(if is_swapped { (other, one) } else { (one, other) });
                }
            }
            first = end;
        }
        selected
    };
    group_blocks(batch, GROUP_PAIRS).into_par_iter().map(of_group).filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::thread_pool;
    use crate::jobs::blocks::Whole;
    use crate::jobs::session::{Execution, Threads};
    use crate::jobs::{AllPairs, PairResult, Progress};
    use crate::pairs::gpu::tune::random_store;
    use crate::score::{Scoring, edit_filter};
    use crate::seq::Alphabet;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Counts reported pairs and cells.
    #[derive(Default)]
    struct CountingProgress(AtomicU64, AtomicU64);

    impl Progress for CountingProgress {
        fn advance(&self, pairs: u64, cells: u64) {
            self.0.fetch_add(pairs, Ordering::Relaxed);
            self.1.fetch_add(cells, Ordering::Relaxed);
        }
    }

    #[test]
    fn progress_counts_every_pair_once_even_if_too_many_are_selected() {
        let store = Arc::new(random_store(Alphabet::Dna, 60, 50, 7));
        let job = AllPairs { min_identity: Some(0.5), ..AllPairs::new(Arc::clone(&store), Arc::new(Scoring::dna())) };
        let planned = job.job();
        let all = (planned.pairs(), planned.cells());
        let pool = thread_pool(2).unwrap();
        let mut results: Vec<Vec<PairResult>> = Vec::new();
        for (most, is_selected) in [(usize::MAX, true), (100, false), (0, false)] {
            let progress = Arc::new(CountingProgress::default());
            let run = Run { progress: progress.clone(), ..Run::default() };
            let scheme = edit_filter(job.definition, 0.5, &job.scoring).unwrap();
            let mut engine_set = EngineSet::new(edit_workers(2, &run.interrupt));
            let prefiltered = select_within(&planned, scheme, most, &mut engine_set, &pool, &run).unwrap();
            assert_eq!(prefiltered.selection.is_some(), is_selected);
            assert!(prefiltered.reported.pairs > 0);
            let mut engine_set = EngineSet::new(workers(2, &run.interrupt));
            let mut pairs = Vec::new();
            let rows = |some: &[PairResult]| {
                pairs.extend_from_slice(some);
                Ok(())
            };
            let threads = Threads::shared(&run).unwrap();
            let execution = Execution { run: &run, threads: &threads };
            job.finish_prefiltered(&planned, &mut engine_set, prefiltered, execution, &mut Whole(rows)).unwrap();
            assert_eq!((progress.0.load(Ordering::Relaxed), progress.1.load(Ordering::Relaxed)), all, "{most}");
            results.push(pairs);
        }
        assert!(results.iter().all(|pairs| *pairs == results[0]));
    }
}
