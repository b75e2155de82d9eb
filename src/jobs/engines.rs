//! Opens the engines that a job runs on.

mod start;

use std::sync::Arc;
use std::time::Instant;

use self::start::JobWork;
use super::Run;
use crate::clustal::Clustal;
use crate::clustal::gpu::ClustalGpu;
use crate::edit::Edit;
use crate::edit::cpu::edit_workers;
use crate::edit::gpu::EditGpu;
use crate::engine::Engine;
use crate::engine::thread_engine::{CpuKind, thread_engines};
use crate::error::{Error, Result};
use crate::gpu::adapter::{Device, FoundAdapter, choose};
use crate::gpu::engine::{self, GpuKind};
use crate::gpu::kernels::Kernel;
use crate::gpu::memory::is_short;
use crate::gpu::memory::memory_budget;
use crate::pairs::Pairs;
use crate::pairs::ResultFilter;
use crate::pairs::cpu::workers;
use crate::pairs::gpu::{PairsGpu, tune};
use crate::pairs::plan::PairsSpec;
use crate::pairs::plan::selected::{SelectedPairs, selected_cells};
use crate::papara::Phylo;
use crate::papara::gpu::PhyloGpu;
use crate::posterior::Posterior;
use crate::posterior::gpu::PosteriorGpu;
use crate::profile::gpu::ProfileGpu;
use crate::profile::work::ProfileWork;
use crate::score::Scoring;

/// Seconds until the first results of a GPU that is not open yet: the driver is loaded and shaders
/// are compiled. (On an H200 the shaders alone take 0.2 to 0.3 s.)
pub(super) const GPU_START_SECONDS: f64 = 0.3;
/// Cells of scores that a card is expected to compute per second.
pub(super) const CARD_SCORES: f64 = 2e12;
/// Cells of edit distances that a card is expected to compute per second. (An H200: 2.3e13 for
/// patterns of 23 symbols, 4e13 and more for longer ones.)
pub(super) const CARD_DISTANCES: f64 = 2e13;
/// Number of CPU threads that serve a card: they prepare its batches and process its results.
const THREADS_OF_A_CARD: usize = 8;
/// Cells of reads and ancestral states that a card is expected to settle per second, most of them
/// without computing them. (An H200, 13,820 reads on 27,642 edges: 6e13.)
pub(super) const CARD_PLACEMENTS: f64 = 5e13;
/// Minimum number of batches of [`CpuKind::CELLS`] that a thread computes per second.
const BATCHES_PER_SECOND: f64 = 10.0;

/// Opens engines for the devices of a job, all at the same time. The CPU counts as one engine per
/// thread of `pool`. It has fewer engines next to GPUs ([`worker_threads`]). The pool's threads also
/// do the host work of the GPUs.
///
/// A device that cannot be opened is skipped with a warning. If no device is left, the CPU
/// computes. Small jobs always run on the CPU ([`devices_for_cells`]). If there is a `selection`,
/// only its pairs are computed, and measurements of a device must pay off for these. `sharing` is
/// the number of kinds of engines that share the memory of a device.
///
/// # Errors
/// [`Error::Interrupted`] if the user interrupts a measurement; the errors of an invalid choice of
/// devices.
pub(super) fn open(
    options: &Run,
    pool: &Arc<rayon::ThreadPool>,
    job: &PairsSpec,
    selection: Option<&SelectedPairs>,
    sharing: u64,
) -> Result<Vec<Box<dyn Engine<Pairs>>>> {
    open_with(tuned(options), options, pool, job, selection, sharing)
}

/// Opens engines for `cells` cells of pairs under a scoring scheme, like [`open`]. `sharing` kinds of
/// engines share the memory of each device.
///
/// # Errors
/// The errors of [`open`].
pub(super) fn open_for(
    options: &Run,
    pool: &Arc<rayon::ThreadPool>,
    scoring: &Arc<Scoring>,
    filter: &ResultFilter,
    cells: u64,
    sharing: u64,
) -> Result<Vec<Box<dyn Engine<Pairs>>>> {
    open_cells(tuned(options), options, pool, &PlannedPairs { scoring, filter, cells }, sharing)
}

/// The work that engines are opened for.
struct PlannedPairs<'a> {
    scoring: &'a Arc<Scoring>,
    filter: &'a ResultFilter,
    /// Cells of all pairs that are computed.
    cells: u64,
}

/// Adapters, each with its memory in bytes.
type AdapterShares = [(FoundAdapter, u64)];

/// Returns a function that opens adapters with their best settings. It measures settings that are
/// unknown.
fn tuned(options: &Run) -> impl FnOnce(&AdapterShares, &Arc<Scoring>, u64) -> Vec<Result<PairsGpu>> {
    |adapters, scoring, cells| tune::open_all(adapters, scoring, cells, options.tune, &options.interrupt)
}

/// Opens engines like [`open`]. `tuned` opens adapters, given the memory of each, the scoring
/// scheme and the number of cells.
fn open_with(
    tuned: impl FnOnce(&[(FoundAdapter, u64)], &Arc<Scoring>, u64) -> Vec<Result<PairsGpu>>,
    options: &Run,
    pool: &Arc<rayon::ThreadPool>,
    job: &PairsSpec,
    selection: Option<&SelectedPairs>,
    sharing: u64,
) -> Result<Vec<Box<dyn Engine<Pairs>>>> {
    let cells = selection.map_or_else(|| job.cells(), |selection| selected_cells(job, selection));
    open_cells(tuned, options, pool, &PlannedPairs { scoring: &job.scoring, filter: &job.filter, cells }, sharing)
}

/// Opens engines for a number of cells under a scoring scheme. `tuned` opens the adapters.
fn open_cells(
    tuned: impl FnOnce(&[(FoundAdapter, u64)], &Arc<Scoring>, u64) -> Vec<Result<PairsGpu>>,
    options: &Run,
    pool: &Arc<rayon::ThreadPool>,
    &PlannedPairs { scoring, filter, cells }: &PlannedPairs<'_>,
    sharing: u64,
) -> Result<Vec<Box<dyn Engine<Pairs>>>> {
    let threads = pool.current_num_threads();
    let chosen = devices_for_cells::<Pairs>(options, threads, cells)?;
    let aligns_all = matches!(filter, ResultFilter::Alignments);
    let work = JobWork { cells, card_speed: CARD_SCORES, threads: worker_threads(threads, &chosen, aligns_all) };
    let chosen = start::worth_starting::<Pairs>(options, chosen, work);
    let adapters = adapters_and_shares(&chosen, options.memory, sharing);
    let mut engines: Vec<Box<dyn Engine<Pairs>>> = Vec::new();
    let started = Instant::now();
    let opened = tuned(&adapters, scoring, cells);
    tracing::debug!(adapters = opened.len(), cells, seconds = started.elapsed().as_secs_f64(), "opened");
    // A card with little memory gets small batches, and the threads may be faster. The queue
    // distributes the work by speed.
    let is_short = adapters.iter().any(|(adapter, memory)| is_short(adapter, *memory));
    let is_helped = options.devices.is_empty() && is_short;
    for ((adapter, _), engine) in adapters.iter().zip(opened) {
        match engine {
            Ok(engine) => {
                start::remember_opening(adapter, engine.opening_time());
                let engine = engine.with_kernel(options.kernel).with_pool(Arc::clone(pool)).with_busy_host(is_helped);
                engines.push(Box::new(engine));
            }
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => tracing::warn!("{error}; continuing without it"),
        }
    }
    if is_helped && !engines.is_empty() {
        tracing::info!("the device has little free memory: the CPU threads compute as well");
    }
    if engines.is_empty() || is_helped || chosen.iter().any(|device| matches!(device, Device::Cpu)) {
        let next_to_gpus = if is_helped { &[] } else { opened_of(&chosen, &engines) };
        engines.extend(workers(worker_threads(threads, next_to_gpus, aligns_all), &options.interrupt));
    }
    Ok(engines)
}

/// Opens engines for Levenshtein distances on the devices of a job. The CPU counts as one engine
/// per thread of `pool`. These threads also do the host work of the GPUs. A device that cannot be
/// opened is skipped with a warning. If no device is left, the CPU computes. A job of few `cells`
/// runs on the CPU ([`devices_for_cells`]).
///
/// # Errors
/// The errors of an invalid choice of devices.
pub(super) fn open_edit(
    options: &Run,
    pool: &Arc<rayon::ThreadPool>,
    cells: u64,
) -> Result<Vec<Box<dyn Engine<Edit>>>> {
    let threads = pool.current_num_threads();
    let chosen = devices_for_cells::<Edit>(options, threads, cells)?;
    let work = JobWork { cells, card_speed: CARD_DISTANCES, threads: worker_threads(threads, &chosen, false) };
    let chosen = start::worth_starting::<Edit>(options, chosen, work);
    let mut engines = open_edit_on(&chosen, options, options.kernel, pool, 1);
    if engines.is_empty() {
        engines = edit_workers(threads, &options.interrupt);
    }
    Ok(engines)
}

/// Returns the devices that filter pairs by edit distances before a job of `cells` cells is scored.
/// They are the devices that score. Software adapters are included only if `software` is set. If
/// there are GPUs, only these filter, because CPU threads compute the q-grams that GPUs wait for. (An
/// H100 and 16 threads, 25,000 genes: 5.2 to 5.9 s if the threads also compute distances, 4.1 s if
/// not.) The list may be empty. Opens no device.
///
/// # Errors
/// The errors of an invalid choice of devices.
pub(super) fn edit_filter_devices(options: &Run, threads: usize, cells: u64, software: bool) -> Result<Vec<Device>> {
    let mut chosen = devices_for_cells::<Pairs>(options, threads, cells)?;
    chosen.retain(|device| match device {
        Device::Cpu => true,
        Device::Adapter(adapter) => software || !adapter.is_software(),
    });
    if chosen.iter().any(Device::is_hardware_gpu) {
        chosen.retain(Device::is_hardware_gpu);
    }
    Ok(chosen)
}

/// Opens engines for Levenshtein distances on these devices. `sharing` kinds of engines share the
/// memory of each device. The result may be empty.
pub(super) fn open_edit_on(
    chosen: &[Device],
    options: &Run,
    kernel: Option<&'static Kernel>,
    pool: &Arc<rayon::ThreadPool>,
    sharing: u64,
) -> Vec<Box<dyn Engine<Edit>>> {
    let mut engines: Vec<Box<dyn Engine<Edit>>> = Vec::new();
    for (adapter, memory) in adapters_and_shares(chosen, options.memory, sharing) {
        match EditGpu::open(&adapter) {
            Ok(engine) => {
                let engine = engine.with_memory(memory).with_kernel(kernel).with_pool(Arc::clone(pool));
                engines.push(Box::new(engine));
            }
            Err(error) => tracing::warn!("{error}; continuing without it"),
        }
    }
    if chosen.iter().any(|device| matches!(device, Device::Cpu)) {
        let threads = worker_threads(pool.current_num_threads(), opened_of(chosen, &engines), false);
        engines.extend(edit_workers(threads, &options.interrupt));
    }
    engines
}

/// Opens engines for reads against ancestral states ([`open_kind`]). The number of reads is
/// unknown.
///
/// # Errors
/// The errors of an invalid choice of devices.
pub(super) fn open_phylo(options: &Run, threads: usize) -> Result<Vec<Box<dyn Engine<Phylo>>>> {
    open_kind(options, threads, u64::MAX, PhyloGpu::open)
}

/// Opens engines for `cells` cells of ClustalW's pairs ([`open_kind`]).
///
/// # Errors
/// The errors of an invalid choice of devices.
pub(super) fn open_clustal(options: &Run, threads: usize, cells: u64) -> Result<Vec<Box<dyn Engine<Clustal>>>> {
    open_kind(options, threads, cells, ClustalGpu::open)
}

/// Opens engines for `cells` cells of posterior probabilities of pairs ([`open_kind`]). The threads
/// of `pool` decode the results of GPUs.
///
/// # Errors
/// The errors of an invalid choice of devices.
pub(super) fn open_posterior(
    options: &Run,
    pool: &Arc<rayon::ThreadPool>,
    cells: u64,
) -> Result<Vec<Box<dyn Engine<Posterior>>>> {
    let open = |adapter: &FoundAdapter| Ok(PosteriorGpu::open(adapter)?.with_pool(Arc::clone(pool)));
    open_kind(options, pool.current_num_threads(), cells, open)
}

/// Opens engines for profiles ([`open_kind`]). The caller only submits profiles that are large
/// enough to be worth it.
///
/// # Errors
/// The errors of an invalid choice of devices.
pub(super) fn open_profile(options: &Run, threads: usize) -> Result<Vec<Box<dyn Engine<ProfileWork>>>> {
    open_kind(options, threads, u64::MAX, ProfileGpu::open)
}

/// Opens engines for one kind of work on the devices of a job. The CPU counts as `threads` engines.
/// A device that cannot be opened is skipped with a warning. If no device is left, the CPU
/// computes. A job of few `cells` runs on the CPU ([`devices_for_cells`]).
pub(super) fn open_kind<K: GpuKind + CpuKind>(
    options: &Run,
    threads: usize,
    cells: u64,
    open: impl Fn(&FoundAdapter) -> Result<engine::GpuEngine<K>>,
) -> Result<Vec<Box<dyn Engine<K>>>> {
    let chosen = devices_for_cells::<K>(options, threads, cells)?;
    let mut engines: Vec<Box<dyn Engine<K>>> = Vec::new();
    for (adapter, memory) in adapters_and_memory(&chosen, options.memory) {
        match open(&adapter) {
            Ok(engine) => engines.push(Box::new(engine.with_memory(memory).with_kernel(options.kernel))),
            Err(error) => tracing::warn!("{error}; continuing without it"),
        }
    }
    if engines.is_empty() || chosen.iter().any(|device| matches!(device, Device::Cpu)) {
        let threads = worker_threads(threads, opened_of(&chosen, &engines), false);
        engines.extend(thread_engines(threads, &options.interrupt));
    }
    Ok(engines)
}

/// Returns the devices of a job, or none if no engine of a GPU could be opened.
fn opened_of<'a, E>(chosen: &'a [Device], gpu_engines: &[E]) -> &'a [Device] {
    if gpu_engines.is_empty() { &[] } else { chosen }
}

/// Returns the number of threads that compute next to these devices. If GPUs align every pair, only
/// half of the threads compute. The others process the alignments of the GPUs, which limits the
/// speed of such a job. (An H200 and 16 threads, 2,500 genes: 28% slower than the GPU alone with 16
/// computing threads, 4% with 12, not slower with 8.) In other jobs, [`THREADS_OF_A_CARD`] threads,
/// but not more than half of all threads, are left to each card. (An H200, local scores of 343
/// million pairs: 23.4 s alone, 24.9 s with 16 of 16 threads, 22.8 s with 12, 22.5 s with 8.)
fn worker_threads(threads: usize, devices: &[Device], aligns_all: bool) -> usize {
    if aligns_all && has_gpu(devices) {
        return threads.div_ceil(2);
    }
    let cards = devices.iter().filter_map(Device::adapter);
    let serving: usize = cards.map(|card| card.description.select_by_kind(THREADS_OF_A_CARD, 0, 0)).sum();
    threads - serving.min(threads / 2)
}

/// Returns the devices for a job of this number of cells. Selects the CPU if `threads` threads
/// finish before a GPU has started, unless the options ask for GPUs. Otherwise selects the devices
/// of [`devices_for`].
fn devices_for_cells<K: CpuKind>(options: &Run, threads: usize, cells: u64) -> Result<Vec<Device>> {
    let is_free = options.devices.is_empty() && !is_measured(options);
    if is_free && is_small::<K>(threads, cells) {
        tracing::debug!(cells, threads, "the job is too small for a GPU: the CPU computes it");
        return Ok(vec![Device::Cpu]);
    }
    devices_for(options)
}

/// Returns whether the user compares kernels or measures them again, so that every device is used.
pub(super) fn is_measured(options: &Run) -> bool {
    options.kernel.is_some() || options.tune
}

/// Returns whether the devices include a GPU.
pub(super) fn has_gpu(devices: &[Device]) -> bool {
    devices.iter().any(|device| device.adapter().is_some())
}

/// Returns the options for a job whose GPUs could not be opened, as if the job had been started
/// without them.
pub(super) fn without_gpus(options: &Run) -> Run {
    Run { devices: vec![Device::Cpu], kernel: None, tune: false, ..options.clone() }
}

/// Returns whether a job of this number of cells was to use GPUs but has none among its engines.
pub(super) fn has_lost_gpus(
    options: &Run,
    engines: &[Box<dyn Engine<Pairs>>],
    threads: usize,
    cells: u64,
) -> Result<bool> {
    let has_none = engines.iter().all(|engine| engine.kind().is_none());
    Ok(has_none && has_gpu(&devices_for_cells::<Pairs>(options, threads, cells)?))
}

/// Returns whether the threads compute these cells in the time that a GPU needs to start.
fn is_small<K: CpuKind>(threads: usize, cells: u64) -> bool {
    let cells_per_second = threads.max(1) as f64 * K::CELLS as f64 * BATCHES_PER_SECOND;
    (cells as f64) < cells_per_second * GPU_START_SECONDS
}

/// Returns the chosen devices, or the best device if none is chosen.
fn devices_for(options: &Run) -> Result<Vec<Device>> {
    if options.devices.is_empty() { choose(&[]) } else { Ok(options.devices.clone()) }
}

/// Returns the adapters, each with the memory in bytes that an engine may take. Adapters that are
/// listed several times are numbered and share their memory.
pub(super) fn adapters_and_memory(devices: &[Device], cap: Option<u64>) -> Vec<(FoundAdapter, u64)> {
    let adapters: Vec<&FoundAdapter> = devices.iter().filter_map(Device::adapter).collect();
    let count = |among: &[&FoundAdapter], adapter: &FoundAdapter| {
        let id = |adapter: &FoundAdapter| (adapter.description.index, adapter.description.label.clone());
        among.iter().filter(|other| id(other) == id(adapter)).count()
    };
    let mut engines: Vec<(FoundAdapter, u64)> = Vec::new();
    for (index, &adapter) in adapters.iter().enumerate() {
        let times = count(&adapters, adapter);
        let mut named = adapter.clone();
        if times > 1 {
            named.description.label =
                format!("{} #{}", adapter.description.label, 1 + count(&adapters[..index], adapter));
        }
        engines.push((named, memory_budget(adapter, cap) / times as u64));
    }
    engines
}

/// Returns the adapters like [`adapters_and_memory`], with the memory divided by the number of
/// kinds of engines that share it.
fn adapters_and_shares(devices: &[Device], cap: Option<u64>, sharing: u64) -> Vec<(FoundAdapter, u64)> {
    let adapters = adapters_and_memory(devices, cap).into_iter();
    adapters.map(|(adapter, memory)| (adapter, memory / sharing.max(1))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::thread_pool;
    use crate::gpu::adapter::enumerate;
    use crate::seq::{Alphabet, QueryStrands};

    #[test]
    fn threads_are_left_to_gpus() {
        let mut adapter = enumerate().into_iter().next().expect("no adapter runs compute shaders here");
        let mut device = |kind| {
            adapter.description.kind = kind;
            Device::Adapter(Box::new(adapter.clone()))
        };
        let [card, integrated] = [device("discrete"), device("integrated")];
        let threads = |devices: &[Device], aligns_all| {
            [1, 2, 5, 16, 64].map(|threads| worker_threads(threads, devices, aligns_all))
        };
        for gpu in [&card, &integrated] {
            assert_eq!(threads(std::slice::from_ref(gpu), true), [1, 1, 3, 8, 32]);
        }
        assert_eq!(threads(&[card.clone(), Device::Cpu], false), [1, 1, 3, 8, 56]);
        assert_eq!(threads(&[card.clone(), card.clone(), card], false), [1, 1, 3, 8, 40]);
        for aligns_all in [false, true] {
            assert_eq!(threads(&[Device::Cpu], aligns_all), [1, 2, 5, 16, 64]);
        }
        assert_eq!(threads(&[integrated], false), [1, 2, 5, 16, 64]);
    }

    #[test]
    fn small_jobs_run_on_the_cpu() {
        // 1,000 proteins of 97 residues, and of 500.
        let [short, long] = [97, 500].map(|residues| 499_500 * residues * residues);
        assert_eq!([1, 16].map(|threads| is_small::<Clustal>(threads, short)), [false, true]);
        assert_eq!([1, 16].map(|threads| is_small::<Clustal>(threads, long)), [false, false]);
        assert!(is_small::<Pairs>(0, 0) && is_small::<Pairs>(2, 1 << 30) && !is_small::<Phylo>(256, u64::MAX));
        let cpu = |options: &Run, cells| {
            let chosen = devices_for_cells::<Edit>(options, 1, cells);
            matches!(chosen.unwrap()[..], [Device::Cpu])
        };
        assert!(cpu(&Run::default(), 1000));
        // A device that the user chose is used even for a small job.
        let Some(adapter) = enumerate().into_iter().next() else {
            panic!("no adapter runs compute shaders here: install software Vulkan (Debian: mesa-vulkan-drivers)");
        };
        assert!(!cpu(&Run { devices: vec![Device::Adapter(Box::new(adapter))], ..Run::default() }, 1000));
    }

    #[test]
    fn measurements_of_devices_count_only_selected_pairs() {
        let Some(adapter) = enumerate().into_iter().next() else {
            panic!("no adapter runs compute shaders here: install software Vulkan (Debian: mesa-vulkan-drivers)");
        };
        let options = Run { devices: vec![Device::Adapter(Box::new(adapter))], ..Run::default() };
        let queries = Arc::new(tune::random_store(Alphabet::Dna, 20, 30, 1));
        let (scoring, filter) = (Arc::new(Scoring::truong()), ResultFilter::Alignments);
        let job = PairsSpec { queries, against: None, scoring, filter, strands: QueryStrands::default(), parts: None };
        let cells = |selection: Option<&SelectedPairs>| {
            let mut heard = None;
            let tuned = |adapters: &[(FoundAdapter, u64)], _: &Arc<Scoring>, cells: u64| {
                heard = Some((adapters.len(), cells));
                Vec::new()
            };
            open_with(tuned, &options, &thread_pool(1).unwrap(), &job, selection, 1).unwrap();
            heard
        };
        assert_eq!(cells(None), Some((1, 190 * 900)));
        assert_eq!(cells(Some(&Arc::new(vec![(0, 3), (4, 9), (7, 8)]))), Some((1, 3 * 900)));
        assert_eq!(cells(Some(&Arc::default())), Some((1, 0)));
    }

    #[test]
    fn engines_of_one_adapter_share_its_memory() {
        let Some(adapter) = enumerate().into_iter().next() else {
            panic!("no adapter runs compute shaders here: install software Vulkan (Debian: mesa-vulkan-drivers)");
        };
        let name = adapter.description.label.clone();
        let device = Device::Adapter(Box::new(adapter));
        let engines = |devices: &[Device]| -> Vec<(String, u64)> {
            let adapters = adapters_and_memory(devices, Some(64 << 20));
            adapters.into_iter().map(|(adapter, bytes)| (adapter.description.label, bytes >> 20)).collect()
        };
        assert_eq!(engines(&[Device::Cpu, device.clone()]), [(name.clone(), 64)]);
        let two = engines(&[device.clone(), Device::Cpu, device]);
        assert_eq!(two, [(format!("{name} #1"), 32), (format!("{name} #2"), 32)]);
        assert_eq!(engines(&[Device::Cpu]), []);
    }
}
