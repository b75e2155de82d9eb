//! From devices to the engines that a job runs on.

use std::sync::Arc;
use std::time::Instant;

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
use crate::pairs::Want;
use crate::pairs::cpu::workers;
use crate::pairs::gpu::{GpuEngine, tune};
use crate::pairs::plan::Job;
use crate::pairs::plan::selected::{Selection, selected_cells};
use crate::papara::Phylo;
use crate::papara::gpu::PhyloGpu;
use crate::posterior::Posterior;
use crate::posterior::gpu::PosteriorGpu;
use crate::profile::gpu::ProfileGpu;
use crate::profile::work::Profile;
use crate::score::Scoring;

/// Seconds before the first results of a GPU that nobody has opened yet: a driver is loaded, and shaders are compiled (on an
/// H200 0.2 to 0.3 for the shaders alone).
const GPU_START_SECONDS: f64 = 0.3;
/// Threads compute at least so many batches of [`CpuKind::CELLS`] a second.
const BATCHES_A_SECOND: f64 = 10.0;

/// Opens engines for the devices that a job was given, all at once; the CPU is as many of them as `pool` has threads, each
/// a thread, but fewer beside a GPU where every pair is aligned ([`worker_threads`]). The pool's threads share the GPUs' work on the
/// host. A device that cannot be opened is left
/// out with a warning; if none is left, the CPU. Of the job's pairs those of `selection` are to be computed, if there is one:
/// what is measured of a device has to pay for these. Small jobs are the CPU's ([`devices_for_cells`]). `sharing`: so many kinds
/// of engines divide a device's memory.
///
/// # Errors
/// [`Error::Interrupted`] if the user stops while a device is measured; a wrong choice of devices.
pub(super) fn open(
    options: &Run,
    pool: &Arc<rayon::ThreadPool>,
    job: &Job,
    selection: Option<&Selection>,
    sharing: u64,
) -> Result<Vec<Box<dyn Engine<Pairs>>>> {
    open_with(tuned(options), options, pool, job, selection, sharing)
}

/// The same for pairs of so many cells under a scoring, of which this is wanted.
///
/// # Errors
/// As [`open`].
pub(super) fn open_for(
    options: &Run,
    pool: &Arc<rayon::ThreadPool>,
    scoring: &Arc<Scoring>,
    want: &Want,
    cells: u64,
) -> Result<Vec<Box<dyn Engine<Pairs>>>> {
    open_cells(tuned(options), options, pool, &Planned { scoring, want, cells }, 1)
}

/// What is to be computed.
struct Planned<'a> {
    scoring: &'a Arc<Scoring>,
    want: &'a Want,
    /// Cells of all pairs that are computed.
    cells: u64,
}

/// Adapters, each with its memory.
type Adapters = [(FoundAdapter, u64)];

/// Opens adapters at their best settings, which are measured where nobody knows them.
fn tuned(options: &Run) -> impl FnOnce(&Adapters, &Arc<Scoring>, u64) -> Vec<Result<GpuEngine>> {
    |adapters, scoring, cells| tune::open_all(adapters, scoring, cells, options.tune, &options.interrupt)
}

/// [`open`], where `tuned` opens adapters, with the memory of each, for jobs of such a scoring and so many cells.
fn open_with(
    tuned: impl FnOnce(&[(FoundAdapter, u64)], &Arc<Scoring>, u64) -> Vec<Result<GpuEngine>>,
    options: &Run,
    pool: &Arc<rayon::ThreadPool>,
    job: &Job,
    selection: Option<&Selection>,
    sharing: u64,
) -> Result<Vec<Box<dyn Engine<Pairs>>>> {
    let cells = selection.map_or_else(|| job.cells(), |selection| selected_cells(job, selection));
    open_cells(tuned, options, pool, &Planned { scoring: &job.scoring, want: &job.want, cells }, sharing)
}

/// The same of so many cells under a scoring, of which this is wanted.
fn open_cells(
    tuned: impl FnOnce(&[(FoundAdapter, u64)], &Arc<Scoring>, u64) -> Vec<Result<GpuEngine>>,
    options: &Run,
    pool: &Arc<rayon::ThreadPool>,
    &Planned { scoring, want, cells }: &Planned<'_>,
    sharing: u64,
) -> Result<Vec<Box<dyn Engine<Pairs>>>> {
    let threads = pool.current_num_threads();
    let chosen = devices_for_cells::<Pairs>(options, threads, cells)?;
    let adapters = adapters_and_shares(&chosen, options.memory, sharing);
    let mut engines: Vec<Box<dyn Engine<Pairs>>> = Vec::new();
    let begin = Instant::now();
    let opened = tuned(&adapters, scoring, cells);
    tracing::debug!(adapters = opened.len(), cells, seconds = begin.elapsed().as_secs_f64(), "opened");
    // A card with little memory gets small batches, and the threads may be quicker. The queue shares the work out by speed.
    let is_short = adapters.iter().any(|(found, memory)| is_short(found, *memory));
    let is_helped = options.devices.is_empty() && is_short;
    for engine in opened {
        match engine {
            Ok(engine) => {
                let engine = engine.with_kernel(options.kernel).with_pool(Arc::clone(pool)).with_busy_host(is_helped);
                engines.push(Box::new(engine));
            }
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => tracing::warn!("{error}; going on without it"),
        }
    }
    if is_helped && !engines.is_empty() {
        tracing::info!("little memory is free on the device: the threads of the CPU compute as well");
    }
    if engines.is_empty() || is_helped || chosen.iter().any(|device| matches!(device, Device::Cpu)) {
        let threads = worker_threads(threads, !engines.is_empty() && !is_helped, want);
        engines.extend(workers(threads, &options.interrupt));
    }
    Ok(engines)
}

/// Opens engines for Levenshtein distances on the devices that a job was given; the CPU is as many of them as `pool` has
/// threads, which share the GPUs' work on the host. A device that cannot be opened is left out with a warning; if none is
/// left, the CPU. A job of few `cells` is the CPU's ([`devices_for_cells`]).
///
/// # Errors
/// A wrong choice of devices.
pub(super) fn open_edit(
    options: &Run,
    pool: &Arc<rayon::ThreadPool>,
    cells: u64,
) -> Result<Vec<Box<dyn Engine<Edit>>>> {
    let chosen = devices_for_cells::<Edit>(options, pool.current_num_threads(), cells)?;
    let mut engines = open_edit_on(&chosen, options, options.kernel, pool, 1);
    if engines.is_empty() {
        engines = edit_workers(pool.current_num_threads(), &options.interrupt);
    }
    Ok(engines)
}

/// Returns the devices that filter pairs by edit distances before pairs of `cells` are scored. They are the devices that score, except
/// software adapters unless `software`. The list may be empty. Opens no device.
///
/// # Errors
/// A wrong choice of devices.
pub(super) fn edit_filter_devices(options: &Run, threads: usize, cells: u64, software: bool) -> Result<Vec<Device>> {
    let mut chosen = devices_for_cells::<Pairs>(options, threads, cells)?;
    chosen.retain(|device| match device {
        Device::Cpu => true,
        Device::Adapter(found) => software || !found.is_software(),
    });
    Ok(chosen)
}

/// Opens engines for Levenshtein distances on these devices, whose memory so many kinds of engines divide. There may be none.
pub(super) fn open_edit_on(
    chosen: &[Device],
    options: &Run,
    kernel: Option<&'static Kernel>,
    pool: &Arc<rayon::ThreadPool>,
    sharing: u64,
) -> Vec<Box<dyn Engine<Edit>>> {
    let mut engines: Vec<Box<dyn Engine<Edit>>> = Vec::new();
    for (found, memory) in adapters_and_shares(chosen, options.memory, sharing) {
        match EditGpu::open(&found) {
            Ok(engine) => {
                let engine = engine.with_memory(memory).with_kernel(kernel).with_pool(Arc::clone(pool));
                engines.push(Box::new(engine));
            }
            Err(error) => tracing::warn!("{error}; going on without it"),
        }
    }
    if chosen.iter().any(|device| matches!(device, Device::Cpu)) {
        engines.extend(edit_workers(pool.current_num_threads(), &options.interrupt));
    }
    engines
}

/// Opens engines for reads against ancestral states ([`open_kind`]), of which nobody knows how many there are.
///
/// # Errors
/// A wrong choice of devices.
pub(super) fn open_phylo(options: &Run, threads: usize) -> Result<Vec<Box<dyn Engine<Phylo>>>> {
    open_kind(options, threads, u64::MAX, PhyloGpu::open)
}

/// Opens engines for ClustalW's pairs, of so many cells ([`open_kind`]).
///
/// # Errors
/// A wrong choice of devices.
pub(super) fn open_clustal(options: &Run, threads: usize, cells: u64) -> Result<Vec<Box<dyn Engine<Clustal>>>> {
    open_kind(options, threads, cells, ClustalGpu::open)
}

/// Opens engines for probabilities of pairs, of so many cells ([`open_kind`]); GPUs' results are read on the threads of `pool`.
///
/// # Errors
/// A wrong choice of devices.
pub(super) fn open_posterior(
    options: &Run,
    pool: &Arc<rayon::ThreadPool>,
    cells: u64,
) -> Result<Vec<Box<dyn Engine<Posterior>>>> {
    let open = |found: &FoundAdapter| Ok(PosteriorGpu::open(found)?.with_pool(Arc::clone(pool)));
    open_kind(options, pool.current_num_threads(), cells, open)
}

/// Opens engines for profiles ([`open_kind`]); only such as are worth it come to them.
///
/// # Errors
/// A wrong choice of devices.
pub(super) fn open_profile(options: &Run, threads: usize) -> Result<Vec<Box<dyn Engine<Profile>>>> {
    open_kind(options, threads, u64::MAX, ProfileGpu::open)
}

/// Opens engines for one kind of work on the devices that a job was given; the CPU is as many of them as there are `threads`.
/// A device that cannot be opened is left out with a warning; if none is left, the CPU. A job of few `cells` is the CPU's
/// ([`devices_for_cells`]).
fn open_kind<K: GpuKind + CpuKind>(
    options: &Run,
    threads: usize,
    cells: u64,
    open: impl Fn(&FoundAdapter) -> Result<engine::GpuEngine<K>>,
) -> Result<Vec<Box<dyn Engine<K>>>> {
    let chosen = devices_for_cells::<K>(options, threads, cells)?;
    let mut engines: Vec<Box<dyn Engine<K>>> = Vec::new();
    for (found, memory) in adapters_and_memory(&chosen, options.memory) {
        match open(&found) {
            Ok(engine) => engines.push(Box::new(engine.with_memory(memory).with_kernel(options.kernel))),
            Err(error) => tracing::warn!("{error}; going on without it"),
        }
    }
    if engines.is_empty() || chosen.iter().any(|device| matches!(device, Device::Cpu)) {
        engines.extend(thread_engines(threads, &options.interrupt));
    }
    Ok(engines)
}

/// Threads that compute. Beside GPUs that align every pair half of them: taking over the GPUs' alignments is work for
/// the others, and on which such a job waits. (An H200 and 16 threads, 2,500 genes: 28% slower than the GPU alone with 16
/// that compute, 4% with 12, not slower with 8.)
fn worker_threads(threads: usize, beside_gpus: bool, want: &Want) -> usize {
    if beside_gpus && matches!(want, Want::Alignments) { threads.div_ceil(2) } else { threads }
}

/// The devices that a job of so many cells is to use: those of [`devices_for`], but unless something was asked of GPUs the CPU,
/// if so many threads are done before a GPU has begun.
fn devices_for_cells<K: CpuKind>(options: &Run, threads: usize, cells: u64) -> Result<Vec<Device>> {
    let is_free = options.devices.is_empty() && options.kernel.is_none() && !options.tune;
    if is_free && is_small::<K>(threads, cells) {
        tracing::debug!(cells, threads, "left to the CPU: too small for a GPU's start");
        return Ok(vec![Device::Cpu]);
    }
    devices_for(options)
}

/// Whether GPUs are among the devices.
pub(super) fn has_gpu(devices: &[Device]) -> bool {
    devices.iter().any(|device| matches!(device, Device::Adapter(_)))
}

/// The options for a job whose GPUs could not be opened. What follows is then chosen as if the job had been started without them.
pub(super) fn without_gpus(options: &Run) -> Run {
    Run { devices: vec![Device::Cpu], kernel: None, tune: false, ..options.clone() }
}

/// Whether a job of so many cells was to use GPUs, but these engines have none.
pub(super) fn has_lost_gpus(
    options: &Run,
    engines: &[Box<dyn Engine<Pairs>>],
    threads: usize,
    cells: u64,
) -> Result<bool> {
    let has_none = engines.iter().all(|engine| engine.kind().is_none());
    Ok(has_none && has_gpu(&devices_for_cells::<Pairs>(options, threads, cells)?))
}

/// Whether so many threads compute so many cells in the time that a GPU needs to begin.
fn is_small<K: CpuKind>(threads: usize, cells: u64) -> bool {
    let cells_a_second = threads.max(1) as f64 * K::CELLS as f64 * BATCHES_A_SECOND;
    (cells as f64) < cells_a_second * GPU_START_SECONDS
}

/// The devices that a job is to use: those that were chosen, or the best.
fn devices_for(options: &Run) -> Result<Vec<Device>> {
    if options.devices.is_empty() { choose(&[]) } else { Ok(options.devices.clone()) }
}

/// The adapters, each with the bytes that an engine may take there. Those that are there several times are numbered, and
/// divide their memory.
pub(super) fn adapters_and_memory(devices: &[Device], cap: Option<u64>) -> Vec<(FoundAdapter, u64)> {
    let adapters = devices.iter().filter_map(|device| match device {
        Device::Adapter(found) => Some(found.as_ref()),
        Device::Cpu => None,
    });
    let adapters: Vec<&FoundAdapter> = adapters.collect();
    let count = |among: &[&FoundAdapter], found: &FoundAdapter| {
        let id = |found: &FoundAdapter| (found.description.index, found.description.label.clone());
        among.iter().filter(|other| id(other) == id(found)).count()
    };
    let mut engines: Vec<(FoundAdapter, u64)> = Vec::new();
    for (place, &found) in adapters.iter().enumerate() {
        let times = count(&adapters, found);
        let mut named = found.clone();
        if times > 1 {
            named.description.label = format!("{} #{}", found.description.label, 1 + count(&adapters[..place], found));
        }
        engines.push((named, memory_budget(found, cap) / times as u64));
    }
    engines
}

/// [`adapters_and_memory`], of which so many kinds of engines have their share each.
fn adapters_and_shares(devices: &[Device], cap: Option<u64>, sharing: u64) -> Vec<(FoundAdapter, u64)> {
    let adapters = adapters_and_memory(devices, cap).into_iter();
    adapters.map(|(found, memory)| (found, memory / sharing.max(1))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::thread_pool;
    use crate::gpu::adapter::enumerate;
    use crate::seq::{Alphabet, QueryStrands};

    #[test]
    fn half_of_the_threads_take_over_what_gpus_align() {
        let threads = |beside_gpus, want| [1, 2, 5, 16].map(|threads| worker_threads(threads, beside_gpus, &want));
        assert_eq!(threads(true, Want::Alignments), [1, 1, 3, 8]);
        assert_eq!(threads(true, Want::Scores), [1, 2, 5, 16]);
        assert_eq!(threads(false, Want::Alignments), [1, 2, 5, 16]);
    }

    #[test]
    fn small_jobs_are_left_to_the_cpu() {
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
        // What is asked of a GPU it does, however little that is.
        let Some(found) = enumerate().into_iter().next() else {
            panic!("no adapter runs compute shaders here: install software Vulkan (Debian: mesa-vulkan-drivers)");
        };
        assert!(!cpu(&Run { devices: vec![Device::Adapter(Box::new(found))], ..Run::default() }, 1000));
    }

    #[test]
    fn devices_are_measured_for_the_pairs_that_a_filter_left() {
        let Some(found) = enumerate().into_iter().next() else {
            panic!("no adapter runs compute shaders here: install software Vulkan (Debian: mesa-vulkan-drivers)");
        };
        let options = Run { devices: vec![Device::Adapter(Box::new(found))], ..Run::default() };
        let queries = Arc::new(tune::random_store(Alphabet::Dna, 20, 30, 1));
        let (scoring, want) = (Arc::new(Scoring::truong()), Want::Alignments);
        let job = Job { queries, against: None, scoring, want, strands: QueryStrands::default(), parts: None };
        let cells = |selection: Option<&Selection>| {
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
    fn engines_of_one_adapter_divide_its_memory() {
        let Some(found) = enumerate().into_iter().next() else {
            panic!("no adapter runs compute shaders here: install software Vulkan (Debian: mesa-vulkan-drivers)");
        };
        let name = found.description.label.clone();
        let device = Device::Adapter(Box::new(found));
        let engines = |devices: &[Device]| -> Vec<(String, u64)> {
            let adapters = adapters_and_memory(devices, Some(64 << 20));
            adapters.into_iter().map(|(found, bytes)| (found.description.label, bytes >> 20)).collect()
        };
        assert_eq!(engines(&[Device::Cpu, device.clone()]), [(name.clone(), 64)]);
        let two = engines(&[device.clone(), Device::Cpu, device]);
        assert_eq!(two, [(format!("{name} #1"), 32), (format!("{name} #2"), 32)]);
        assert_eq!(engines(&[Device::Cpu]), []);
    }
}
