//! Pairs that cannot reach an identity, found by their edit distances before anything is scored.

mod by_grams;
mod source;
mod worker;

use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;

use self::by_grams::ByGrams;
use self::worker::filtering_workers;
use super::Run;
use super::engines::{edit_filter_devices, has_gpu, open_edit_on, without_gpus};
use crate::edit::cpu::edit_workers;
use crate::edit::plan::{Against, EditJob};
use crate::edit::{Edit, EditReport, GROUP_PAIRS, Group, groups};
use crate::engine::owner::{self, BatchOutcome, Control, EngineSet};
use crate::engine::stats::{EngineStats, RunStats};
use crate::engine::{Engine, thread_pool};
use crate::error::{Error, Result};
use crate::gpu::adapter::Device;
use crate::pairs::Pairs;
use crate::pairs::cpu::workers;
use crate::pairs::plan::{self, selected::Selection};
use crate::score::{self, EditMode, EditScheme, IdentityDefinition, Scoring};

/// Pairs of a chunk: their results wait for nobody, so that only a batch has to fit in one.
const CHUNK_PAIRS: u64 = 1 << 26;
/// Selected pairs that are held at most; where there are more, a filter by scores does as well.
const MAX_SELECTED: usize = 1 << 26;
/// Cells from which a pass of its own over all pairs pays on the CPU.
const MIN_CELLS: u64 = 2_000_000_000;
/// The same on a GPU, which is opened once more for it: where scores tell which pairs to trace, and where end gaps have costs
/// of their own and scores tell little.
const MIN_GPU_CELLS: [u64; 2] = [3_000_000_000_000, 500_000_000_000];
/// Identity from which few enough pairs of a family pass.
const MIN_IDENTITY: f64 = 0.75;

/// Symbols of a sequence from which its overlaps take more rows than the lanes of a GPU's pair hold at once.
const MAX_OVERLAP_SYMBOLS: u32 = 12_000;

/// Whether pairs that cannot reach an identity are found by their edit distances first. It never changes what is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EditFilter {
    /// Where it pays: large jobs with a high identity.
    #[default]
    Auto,
    /// Wherever an edit distance tells something.
    On,
    /// Never.
    Off,
}

/// What a pass over all pairs left.
pub struct Prefiltered {
    /// The pairs that may reach the identity; `None` if these are too many to be held.
    pub selection: Option<Selection>,
    /// What the engines did.
    pub ran: RunStats,
    /// How long it took.
    pub seconds: f64,
    /// What progress was told of.
    pub told: Told,
}

/// Pairs and cells that progress was told of.
#[derive(Debug, Clone, Copy, Default)]
pub struct Told {
    /// Pairs.
    pub pairs: u64,
    /// Cells of their matrices.
    pub cells: u64,
}

impl std::ops::AddAssign for Told {
    fn add_assign(&mut self, more: Told) {
        self.pairs += more.pairs;
        self.cells += more.cells;
    }
}

/// The identity that pairs have to reach, and whether edit distances are to find those that cannot.
#[derive(Debug, Clone, Copy)]
pub(super) struct IdentityGoal {
    pub definition: IdentityDefinition,
    /// A fraction; `None` if every pair is wanted.
    pub min_identity: Option<f64>,
    pub edit_filter: EditFilter,
}

/// Finds the pairs of `planned` that may reach an identity by their edit distances, if that is asked for or pays.
///
/// # Errors
/// [`Error::Interrupted`]; a broken promise of an engine as [`Error::Internal`]; a wrong choice of devices.
pub(super) fn run_if_it_pays(goal: &IdentityGoal, planned: &plan::Job, run: &Run) -> Result<Option<Prefiltered>> {
    let Some(mut filter) = Filter::if_it_pays(goal, planned, run)? else { return Ok(None) };
    let mut engine_set = EngineSet::for_once(filter.open(run, 1));
    filter.select_on(planned, &mut engine_set, run).map(Some)
}

/// Returns engines that take over the pairs of a job from lost GPUs. They are threads of the CPU. They filter pairs by edit distances if a
/// job on the CPU alone does so, unless `is_filtered`.
///
/// # Errors
/// A wrong choice of devices.
pub(super) fn reserve(
    goal: &IdentityGoal,
    planned: &plan::Job,
    is_filtered: bool,
    run: &Run,
    pool: &rayon::ThreadPool,
) -> Result<Vec<Box<dyn Engine<Pairs>>>> {
    let filter = if is_filtered { None } else { Filter::if_it_pays(goal, planned, &without_gpus(run))? };
    let threads = pool.current_num_threads();
    Ok(match filter {
        Some(Filter { scheme, .. }) => filtering_workers(&Arc::new(scheme), threads, &run.interrupt),
        None => workers(threads, &run.interrupt),
    })
}

/// A pass over edit distances that pays, or was asked for; with the engines that go on from part to part of a job.
pub(super) struct Filter {
    scheme: EditScheme,
    devices: Vec<Device>,
    pool: Arc<rayon::ThreadPool>,
    engine_set: Option<EngineSet<Edit>>,
}

impl Filter {
    /// Decides by the whole job, `planned`. Opens no device.
    ///
    /// # Errors
    /// A wrong choice of devices.
    pub(super) fn if_it_pays(goal: &IdentityGoal, planned: &plan::Job, run: &Run) -> Result<Option<Self>> {
        let Some(identity) = goal.min_identity.filter(|_| goal.edit_filter != EditFilter::Off) else {
            return Ok(None);
        };
        let is_forced = goal.edit_filter == EditFilter::On;
        let longest =
            [&planned.queries, planned.targets()].iter().flat_map(|store| store.lengths()).max().copied().unwrap_or(0);
        let scheme = score::edit_filter(goal.definition, identity, &planned.scoring)
            .filter(|scheme| scheme.mode == EditMode::Global || longest <= MAX_OVERLAP_SYMBOLS);
        let Some(scheme) = scheme else {
            if is_forced {
                tracing::warn!("edit distances tell nothing about this identity here: no pair is left out by them");
            }
            return Ok(None);
        };
        let cells = planned.cells();
        // Whoever names a kernel wants to see that kernel.
        let is_pointless = identity < MIN_IDENTITY || cells < MIN_CELLS || run.kernel.is_some();
        if !is_forced && is_pointless {
            return Ok(None);
        }
        let pool = thread_pool(run.threads)?;
        // What is not going to run opens no device.
        let devices = edit_filter_devices(run, pool.current_num_threads(), cells, is_forced)?;
        if devices.is_empty() || !is_forced && cells < least_cells(&devices, &planned.scoring) {
            return Ok(None);
        }
        Ok(Some(Filter { scheme, devices, pool, engine_set: None }))
    }

    /// Opens engines; `sharing` kinds of engines divide the memory of the devices. If no GPU can be opened, the engines are threads
    /// of the CPU.
    fn open(&mut self, run: &Run, sharing: u64) -> Vec<Box<dyn Engine<Edit>>> {
        let engines = open_edit_on(&self.devices, run, None, &self.pool, sharing);
        if !engines.is_empty() {
            return engines;
        }
        self.devices = vec![Device::Cpu];
        open_edit_on(&self.devices, run, None, &self.pool, sharing)
    }

    fn select_on(&self, planned: &plan::Job, engine_set: &mut EngineSet<Edit>, run: &Run) -> Result<Prefiltered> {
        let prefiltered = select_within(planned, self.scheme.clone(), MAX_SELECTED, engine_set, &self.pool, run)?;
        if let Some(selection) = &prefiltered.selection {
            tracing::debug!(pairs = selection.len(), seconds = prefiltered.seconds, "selected by edit distance");
        }
        Ok(prefiltered)
    }
}

/// Cells from which a pass over all pairs pays on these devices.
fn least_cells(devices: &[Device], scoring: &Scoring) -> u64 {
    if has_gpu(devices) { MIN_GPU_CELLS[usize::from(scoring.has_own_ends())] } else { MIN_CELLS }
}

/// The distances of all pairs of a job.
fn edit_job(job: &plan::Job, scheme: EditScheme) -> EditJob {
    let against = job.against.clone().map_or(Against::Later, Against::Texts);
    let (patterns, strands, parts) = (Arc::clone(&job.queries), job.strands, job.parts.clone());
    EditJob { patterns, against, scheme: Arc::new(scheme), strands, parts }
}

/// What engines did in a pass over edit distances, by names that say so.
pub(super) fn named(ran: RunStats) -> impl Iterator<Item = EngineStats> {
    ran.engines.into_iter().map(|engine| EngineStats { name: format!("{} (edit distances)", engine.name), ..engine })
}

/// Computes the distances of all pairs on these engines and selects the pairs within the limit, at most `most`. If all engines fail,
/// threads of the CPU take over. What of it is parallel beside the engines runs on the threads of `pool`.
///
/// # Errors
/// [`Error::Interrupted`]; a broken promise of an engine as [`Error::Internal`].
fn select_within(
    job: &plan::Job,
    scheme: EditScheme,
    most: usize,
    engine_set: &mut EngineSet<Edit>,
    pool: &Arc<rayon::ThreadPool>,
    run: &Run,
) -> Result<Prefiltered> {
    let is_triangle = job.against.is_none();
    let edit = edit_job(job, scheme);
    let begin = Instant::now();
    let cells = edit.cells();
    // How much of its cells a chunk keeps, nobody knows before it is planned.
    let control = Control { is_open_ended: true, ..run.control(pool) };
    let reserve = || edit_workers(pool.current_num_threads(), &run.interrupt);
    let mut selected = Vec::new();
    let mut overflowed = false;
    let mut told = Told::default();
    let by_grams = ByGrams::new(pool);
    let (planning, leaving_out, mut chunks) = (Arc::clone(pool), by_grams.clone(), edit.chunks(CHUNK_PAIRS));
    let chunks = std::iter::from_fn(move || {
        let planned = planning.install(|| chunks.next());
        planned.map(|planned| leaving_out.leave_out(planned).0)
    });
    let ran = owner::run_set(engine_set, reserve, chunks, cells, &control, |outcome| {
        let (pairs, cells) = by_grams.untold();
        let (pairs, cells) = (pairs + outcome.pairs, cells + outcome.cells);
        run.progress.advance(pairs, cells);
        told += Told { pairs, cells };
        for part in pool.install(|| select(&outcome, is_triangle)) {
            selected.extend(part);
        }
        overflowed = selected.len() > most;
        // Ends the pass; nothing else looks at this error.
        if overflowed { Err(Error::Internal("too many pairs were selected".into())) } else { Ok(()) }
    });
    let seconds = || begin.elapsed().as_secs_f64();
    match ran {
        Ok(ran) => {
            pool.install(|| selected.par_sort_unstable());
            let ran = by_grams.add_to(ran);
            Ok(Prefiltered { selection: Some(Arc::new(selected)), ran, seconds: seconds(), told })
        }
        Err(_) if overflowed => Ok(Prefiltered { selection: None, ran: RunStats::default(), seconds: seconds(), told }),
        Err(error) => Err(error),
    }
}

/// Pairs of finished blocks that are within the limit, query before target.
fn select(outcome: &BatchOutcome<Edit>, is_triangle: bool) -> Vec<Vec<(u32, u32)>> {
    let EditReport { found, unfinished, .. } = &outcome.report;
    let batch = &outcome.batch;
    let of_group = |group: Group| {
        let mut found = found.within(group.pairs.clone()).peekable();
        let mut selected = Vec::new();
        let mut first = 0;
        for index in group.blocks {
            let block = &batch.blocks[index];
            let end = first + block.places.len();
            let is_finished = !unfinished.contains(&index);
            while let Some((pair, _)) = found.next_if(|&(pair, _)| pair < end) {
                if is_finished {
                    let place = block.places.start + (pair - first) as u32;
                    let (one, other) = (block.pattern, batch.chunk.region(place).text);
                    let is_turned = is_triangle && other < one;
                    selected.push(if is_turned { (other, one) } else { (one, other) });
                }
            }
            first = end;
        }
        selected
    };
    groups(batch, GROUP_PAIRS).into_par_iter().map(of_group).filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::blocks::Whole;
    use crate::jobs::session::{Execution, Threads};
    use crate::jobs::{AllPairs, PairResult, Progress};
    use crate::pairs::gpu::tune::random_store;
    use crate::seq::Alphabet;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Pairs and cells that were told.
    #[derive(Default)]
    struct Told(AtomicU64, AtomicU64);

    impl Progress for Told {
        fn advance(&self, pairs: u64, cells: u64) {
            self.0.fetch_add(pairs, Ordering::Relaxed);
            self.1.fetch_add(cells, Ordering::Relaxed);
        }
    }

    #[test]
    fn progress_ends_at_all_pairs_also_if_too_many_are_selected() {
        let store = Arc::new(random_store(Alphabet::Dna, 60, 50, 7));
        let job = AllPairs { min_identity: Some(0.5), ..AllPairs::new(Arc::clone(&store), Arc::new(Scoring::dna())) };
        let planned = job.job();
        let all = (planned.pairs(), planned.cells());
        let pool = thread_pool(2).unwrap();
        let mut results: Vec<Vec<PairResult>> = Vec::new();
        for (most, is_selected) in [(usize::MAX, true), (100, false), (0, false)] {
            let told = Arc::new(Told::default());
            let run = Run { progress: told.clone(), ..Run::default() };
            let scheme = score::edit_filter(job.definition, 0.5, &job.scoring).unwrap();
            let mut engine_set = EngineSet::new(edit_workers(2, &run.interrupt));
            let prefiltered = select_within(&planned, scheme, most, &mut engine_set, &pool, &run).unwrap();
            assert_eq!(prefiltered.selection.is_some(), is_selected);
            assert!(prefiltered.told.pairs > 0);
            let mut engine_set = EngineSet::new(workers(2, &run.interrupt));
            let mut pairs = Vec::new();
            let rows = |some: &[PairResult]| {
                pairs.extend_from_slice(some);
                Ok(())
            };
            let threads = Threads::shared(&run).unwrap();
            let execution = Execution { run: &run, threads: &threads };
            job.finish_prefiltered(&planned, &mut engine_set, prefiltered, execution, &mut Whole(rows)).unwrap();
            assert_eq!((told.0.load(Ordering::Relaxed), told.1.load(Ordering::Relaxed)), all, "{most}");
            results.push(pairs);
        }
        assert!(results.iter().all(|pairs| *pairs == results[0]));
    }

    #[test]
    fn a_gpu_is_worth_opening_for_a_larger_job_than_the_cpu() {
        let Some(found) = crate::gpu::adapter::enumerate().into_iter().next() else {
            panic!("no adapter runs compute shaders here: install software Vulkan (Debian: mesa-vulkan-drivers)");
        };
        let gpu = Device::Adapter(Box::new(found));
        let devices = [Device::Cpu, gpu];
        assert_eq!(least_cells(&devices[..1], &Scoring::dna()), MIN_CELLS);
        assert_eq!(least_cells(&devices, &Scoring::truong()), MIN_GPU_CELLS[0]);
        assert_eq!(least_cells(&devices, &Scoring::dna()), MIN_GPU_CELLS[1]);
    }
}
