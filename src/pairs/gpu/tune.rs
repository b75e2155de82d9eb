//! Chooses slice widths and workgroup sizes per adapter by a short measurement. The result is
//! cached in the user's cache directory.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::{Config, PairsGpu};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::gpu::adapter::{AdapterDescription, FoundAdapter};
use crate::gpu::choosing::{self, MeasuredLoad, Speed, Store, Trials, at_once, grow, once_a_model};
use crate::gpu::kernels::{Family, KERNELS, Kernel, KernelKind, ScoreType, fingerprint, of_kind, selectable};
use crate::pairs::Pairs;
use crate::pairs::kernels::samples;
use crate::pairs::plan::cost::PairsSpeeds;
use crate::pairs::{PairsBatch, PairsBlock, PairsChunk, ResultFilter};
use crate::score::random::XorShift64;
use crate::score::{Mode, Scoring};
use crate::seq::{Alphabet, Code, SequenceStore};

/// Slice widths to measure for `nw_slice`. Each width is 4 modulo 8, so that profile rows start in
/// different memory banks.
pub const SLICES: &[u32] = &[12, 20, 28, 36, 44, 52];
/// Slice widths to measure for `nw_slice_half`. Padding to an odd number of loads serves the same
/// purpose there.
pub const HALF_SLICES: &[u32] = &[20, 24, 28, 36];
/// Workgroup sizes to measure.
pub const WORKGROUPS: &[u32] = &[32, 64, 128];
/// Seconds per trial. At the end of a batch, the device is partly idle for tens of milliseconds, so
/// shorter trials would be inaccurate.
const TRIAL_SECONDS: f64 = 0.2;
/// Seconds of the first measurement of a device's speed, which the first larger job makes.
const FIRST_MEASUREMENT_SECONDS: f64 = 0.03;
/// Seconds per trial of another kernel. It can be short, because kernels are only compared.
const KERNEL_SECONDS: f64 = 0.1;
/// Symbols of a trial's sequences, about the length of a gene.
const TRIAL_LENGTH: u32 = 1200;
/// Targets of a trial with many pairs.
const TRIAL_TARGETS: u32 = 512;
/// Jobs with fewer cells than this finish sooner than a measurement would.
const SMALL_JOB_CELLS: u64 = 100_000_000_000;

/// The best configurations by adapter, driver, kernel sources and kind of scoring.
static TUNING: Store<Config> = Store::new("tuning.json");
/// Cells per second of `nw_slice` with the default sizes.
static FIRST_SPEEDS: Store<f64> = Store::new("first-looks.json");

/// Returns the key of an adapter's best configuration for a kind of scoring.
fn cache_key(description: &AdapterDescription, scoring: &Scoring) -> String {
    // Kernels for local scores are not measured, so they are not part of the key.
    let measured = KERNELS.iter().filter(|kernel| kernel.family() == Family::Pairs);
    let programs = measured.flat_map(|kernel| samples(kernel.kind));
    let gaps = if scoring.gaps.is_linear() { "linear" } else { "affine" };
    description
        .fingerprint()
        .with("alphabet", format!("{:?}", scoring.alphabet))
        .with("gaps", gaps)
        .with("programs", format!("{:016x}", fingerprint(programs)))
        .key()
}

/// One measured configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SizeTrial {
    /// Columns per slice.
    pub slice: u32,
    /// Invocations per workgroup.
    pub workgroup: u32,
    /// Cells per second of the kernel, by timestamps or, without these, by the clock.
    pub cells_per_second: f64,
}

/// Returns `count` random sequences of `length` symbols for measurements, from a fixed seed.
pub fn random_store(alphabet: Alphabet, count: usize, length: usize, seed: u64) -> SequenceStore {
    let mut random = XorShift64(seed | 1);
    let mut next = || (random.bits() >> 33) as u32;
    let mut builder = SequenceStore::builder(alphabet);
    for index in 0..count {
        let codes: Vec<Code> = (0..length)
            .map(|_| match alphabet {
                Alphabet::Dna => 1 << (next() % 4),
                Alphabet::Protein => b"ACDEFGHIKLMNPQRSTVWY"[next() as usize % 20] - b'A' + 1,
                Alphabet::Bytes => b' ' + (next() % 95) as Code,
            })
            .collect();
        builder.push_valid(format!("random{index}"), &codes);
    }
    builder.build()
}

/// Returns a batch of `queries` times `targets` pairs over one random store.
pub fn random_batch(
    scoring: &Arc<Scoring>,
    queries: u32,
    targets: u32,
    length: u32,
    filter: ResultFilter,
) -> Arc<PairsBatch> {
    let store = Arc::new(random_store(scoring.alphabet, queries.max(targets) as usize, length as usize, 0x5eed));
    let chunk = PairsChunk {
        queries: Arc::clone(&store),
        targets: store,
        order: (0..targets).collect(),
        scoring: Arc::clone(scoring),
        filter,
        earlier_is_query: false,
    };
    let cells = targets as u64 * length as u64 * length as u64;
    let blocks = (0..queries).map(|query| PairsBlock { query, targets: 0..targets, cells }).collect();
    Arc::new(PairsBatch { chunk: Arc::new(chunk), blocks })
}

/// Runs one batch. Returns its cells per second by the kernel time or, if that is unknown, by the
/// clock.
pub fn speed(engine: &mut dyn Engine<Pairs>, batch: &Arc<PairsBatch>) -> Result<f64> {
    let begin = Instant::now();
    let ticket = engine.submit(Arc::clone(batch))?;
    let report = engine.collect(ticket)?;
    let seconds = report.kernel_time.unwrap_or_else(|| begin.elapsed()).as_secs_f64();
    Ok(batch.cells() as f64 / seconds.max(1e-6))
}

/// Returns the speed of the current configuration. The batches grow until a batch takes `seconds`.
pub fn measure(
    engine: &mut dyn Engine<Pairs>,
    scoring: &Arc<Scoring>,
    filter: ResultFilter,
    length: u32,
    seconds: f64,
) -> Result<f64> {
    measure_until(engine, scoring, filter, length, seconds, &AtomicBool::new(false))
}

/// Measures like [`measure`]. If the flag is set, it returns [`Error::Interrupted`] after the
/// current batch.
fn measure_until(
    engine: &mut dyn Engine<Pairs>,
    scoring: &Arc<Scoring>,
    filter: ResultFilter,
    length: u32,
    seconds: f64,
    interrupt: &AtomicBool,
) -> Result<f64> {
    let mut best = 0f64;
    grow(seconds, |queries| {
        if interrupt.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let batch = random_batch(scoring, queries, TRIAL_TARGETS, length, filter.clone());
        let now = speed(engine, &batch)?;
        best = best.max(now);
        Ok(batch.cells() as f64 / now)
    })?;
    Ok(best)
}

/// Measures sizes of the kernel in use, which must have this score type. It first measures every
/// slice width with the middle workgroup size, and then the other workgroup sizes with the best
/// width. Width and workgroup size hardly affect each other. Returns the trials, fastest first.
///
/// # Errors
/// [`Error::Interrupted`] soon after `interrupt` is set, and all errors of the device.
pub fn sweep(
    engine: &mut PairsGpu,
    numbers: ScoreType,
    scoring: &Arc<Scoring>,
    length: u32,
    interrupt: &AtomicBool,
) -> Result<Vec<SizeTrial>> {
    let most = engine.gpu().description.max_workgroup_invocations;
    let (slices, filter) = match numbers {
        ScoreType::I32 => (SLICES, ResultFilter::Alignments),
        ScoreType::F16 => (HALF_SLICES, ResultFilter::Scores),
    };
    let mut trials: Vec<SizeTrial> = Vec::new();
    let mut attempt = |trials: &mut Vec<SizeTrial>, slice: u32, workgroup: u32| -> Result<()> {
        if workgroup > most {
            return Ok(());
        }
        engine.configure(engine.config().with_sizes(numbers, slice, workgroup));
        let cells_per_second = measure_until(engine, scoring, filter.clone(), length, TRIAL_SECONDS, interrupt)?;
        tracing::debug!(?numbers, slice, workgroup, gcups = cells_per_second / 1e9, "trial");
        trials.push(SizeTrial { slice, workgroup, cells_per_second });
        trials.sort_by(|a, b| b.cells_per_second.total_cmp(&a.cells_per_second));
        Ok(())
    };
    for &slice in slices {
        attempt(&mut trials, slice, WORKGROUPS[1])?;
    }
    let best = trials.first().map_or(slices[0], |trial| trial.slice);
    for &workgroup in [&WORKGROUPS[..1], &WORKGROUPS[2..]].concat().iter() {
        attempt(&mut trials, best, workgroup)?;
    }
    Ok(trials)
}

/// The measurement of all sizes and kernels. It saves time in jobs of a minute or more.
const MEASUREMENT: Trials = Trials { seconds: 12.0, overhead_seconds: 0.0, max_speed_ratio: 1.25 };

/// Opens an adapter with the best known configuration for a job with `cells` cells. Pairs that an
/// earlier filter drops do not count. The configuration comes from the cache. It is measured and
/// then cached if `measure_again` is set, or if there is none and the job is long enough. In all other cases
/// it is the default.
pub fn open_tuned(adapter: &FoundAdapter, scoring: &Arc<Scoring>, cells: u64, measure_again: bool) -> Result<PairsGpu> {
    let mut opened = open_all(&[(adapter.clone(), u64::MAX)], scoring, cells, measure_again, &AtomicBool::new(false));
    opened.pop().unwrap_or_else(|| Err(Error::Internal("no answer for the adapter that was to be opened".into())))
}

/// Opens several adapters at the same time, each like [`open_tuned`] and with a limit on its memory
/// in bytes. The job has `cells` cells on all adapters together. For each model, one adapter is
/// measured, and the others use its configuration. Different models are measured at the same time.
/// An adapter that occurs several times is opened several times.
///
/// Returns an engine or an error for each adapter, in order. The error is [`Error::Interrupted`] if
/// `interrupt` was set during a measurement.
pub fn open_all(
    adapters: &[(FoundAdapter, u64)],
    scoring: &Arc<Scoring>,
    cells: u64,
    measure_again: bool,
    interrupt: &AtomicBool,
) -> Vec<Result<PairsGpu>> {
    let cells = cells / adapters.len().max(1) as u64;
    let open = |adapter: &FoundAdapter, memory: u64| {
        let engine = PairsGpu::open(adapter, Config::for_adapter(adapter))?;
        Ok(engine.with_memory(memory).with_devices(adapters.len() as u32))
    };
    let opened = at_once(adapters.iter().map(|(adapter, memory)| move || open(adapter, *memory)));
    let mut results: Vec<Option<Result<PairsGpu>>> = Vec::new();
    let mut devices = Vec::new();
    for (index, engine) in opened.into_iter().enumerate() {
        results.push(None);
        match engine {
            Some(Ok(engine)) => {
                devices.push((cache_key(&engine.gpu().description, scoring), (index, engine)));
            }
            failed => results[index] = failed,
        }
    }
    let choose =
        |key: &str, (_, engine): &mut (usize, PairsGpu)| choose(engine, key, scoring, cells, measure_again, interrupt);
    for ((index, mut engine), config) in once_a_model(devices, choose) {
        results[index] = Some(config.map(|config| {
            engine.configure(config);
            engine
        }));
    }
    let lost = |adapter: &FoundAdapter| Error::Device {
        device: adapter.description.label.clone(),
        message: "the driver panicked when it was opened or measured".into(),
    };
    results
        .into_iter()
        .zip(adapters)
        .map(|(result, (adapter, _))| result.unwrap_or_else(|| Err(lost(adapter))))
        .collect()
}

/// Measures the full and lone speeds of all kernels. Kernels that do not run on the device keep
/// typical speeds.
fn measure_kernels(engine: &mut PairsGpu, scoring: &Arc<Scoring>, interrupt: &AtomicBool) -> Result<PairsSpeeds> {
    let mut speeds = PairsSpeeds::typical(!scoring.gaps.is_linear(), engine.config().cells_per_second);
    for (kernel, row) in selectable(Family::Pairs).zip(&mut speeds.0) {
        if !is_measured(engine, kernel) {
            continue;
        }
        engine.use_kernel(Some(kernel));
        for (filter, speed) in [(ResultFilter::Scores, &mut row.scores), (ResultFilter::Alignments, &mut row.aligned)] {
            if kernel.scan().is_none() && matches!(filter, ResultFilter::Alignments) {
                continue;
            }
            match measure_kernel(engine, scoring, filter, interrupt) {
                Ok(measured) => *speed = measured,
                Err(Error::Unsuited { .. }) => {}
                Err(error) => return Err(error),
            }
            tracing::debug!(kernel = kernel.stem, full = speed.full / 1e9, lone = speed.lone / 1e9, "GCUPS");
        }
    }
    Ok(speeds)
}

/// Returns whether a kernel's speed is measured. Kernels that are never chosen automatically are
/// not measured.
fn is_measured(engine: &PairsGpu, kernel: &Kernel) -> bool {
    kernel.is_chosen() && (kernel.kind != KernelKind::Slice(ScoreType::F16) || engine.config().halves)
}

/// Measures the speed of the kernel in use. The first trial has a single pair, whose cells form one
/// chain of dependencies. The second has enough pairs for a long batch.
fn measure_kernel(
    engine: &mut PairsGpu,
    scoring: &Arc<Scoring>,
    filter: ResultFilter,
    interrupt: &AtomicBool,
) -> Result<Speed> {
    choosing::measure(KERNEL_SECONDS, |load| {
        if interrupt.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let (queries, targets) = match load {
            MeasuredLoad::Lone => (1, 1),
            MeasuredLoad::Units(queries) => (queries, TRIAL_TARGETS),
        };
        let batch = random_batch(scoring, queries, targets, TRIAL_LENGTH, filter.clone());
        let work = engine.work(&batch)?;
        Ok((work, batch.cells() as f64 / speed(engine, &batch)?))
    })
}

/// Returns the configuration of a model, from the cache or from a measurement on this engine.
fn choose(
    engine: &mut PairsGpu,
    key: &str,
    scoring: &Arc<Scoring>,
    cells: u64,
    measure_again: bool,
    interrupt: &AtomicBool,
) -> Result<Config> {
    let begin = Instant::now();
    engine.use_kernel(Some(of_kind(KernelKind::Slice(ScoreType::I32))));
    let config = choose_with_slice(engine, key, scoring, cells, measure_again, interrupt);
    engine.use_kernel(None);
    tracing::debug!(seconds = begin.elapsed().as_secs_f64(), "configured");
    config
}

/// Chooses the configuration on an engine that must run every batch with `nw_slice` until all
/// kernels are measured.
fn choose_with_slice(
    engine: &mut PairsGpu,
    key: &str,
    scoring: &Arc<Scoring>,
    cells: u64,
    measure_again: bool,
    interrupt: &AtomicBool,
) -> Result<Config> {
    let begin = Instant::now();
    if scoring.mode == Mode::Local {
        // The sizes of the kernels for local scores follow from the lengths of sequences.
        return Ok(engine.config());
    }
    if !measure_again {
        if let Some(known) = TUNING.get(key) {
            return Ok(known);
        }
        if cells < SMALL_JOB_CELLS {
            return Ok(engine.config());
        }
        // The speed with default sizes determines the size of batches, and whether to measure
        // further.
        let speed = measure_default_speed(engine, key, scoring, interrupt)?;
        let looked = Config { cells_per_second: speed, ..engine.config() };
        if !MEASUREMENT.pays_off(1.0, MEASUREMENT.seconds, cells as f64 / speed) {
            return Ok(looked);
        }
    }
    let name = engine.gpu().description.name.clone();
    tracing::info!(target: "pairwave::tune", "{name}: measuring slice widths, workgroup sizes and kernels for a few seconds");
    let untuned = engine.config();
    let trials = sweep(engine, ScoreType::I32, scoring, TRIAL_LENGTH, interrupt)?;
    let Some(best) = trials.first() else {
        return Ok(untuned);
    };
    let sizes = untuned.with_sizes(ScoreType::I32, best.slice, best.workgroup);
    let mut best = Config { cells_per_second: best.cells_per_second, ..sizes };
    let half = of_kind(KernelKind::Slice(ScoreType::F16));
    if is_measured(engine, half) {
        engine.use_kernel(Some(half));
        match sweep(engine, ScoreType::F16, scoring, TRIAL_LENGTH, interrupt) {
            Ok(trials) => {
                if let Some(trial) = trials.first() {
                    best = best.with_sizes(ScoreType::F16, trial.slice, trial.workgroup);
                }
            }
            // The device has no f16.
            Err(Error::Unsuited { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    engine.configure(best);
    let config = Config { speeds: Some(measure_kernels(engine, scoring, interrupt)?), ..best };
    tracing::info!(
        target: "pairwave::tune",
        "{name}: {} columns per slice, {} invocations per workgroup, {:.1} GCUPS (measured in {:.1} s)",
        config.slice,
        config.workgroup,
        config.cells_per_second / 1e9,
        begin.elapsed().as_secs_f64()
    );
    TUNING.keep(key, config);
    Ok(config)
}

/// Returns the cells per second with the default sizes, as the first job measured them. Without a
/// cached value, it measures them, which takes a tenth of a second including the compilation of the
/// kernel.
fn measure_default_speed(
    engine: &mut PairsGpu,
    key: &str,
    scoring: &Arc<Scoring>,
    interrupt: &AtomicBool,
) -> Result<f64> {
    if let Some(known) = FIRST_SPEEDS.get(key).filter(|&speed| speed > 0.0) {
        return Ok(known);
    }
    let speed =
        measure_until(engine, scoring, ResultFilter::Alignments, TRIAL_LENGTH, FIRST_MEASUREMENT_SECONDS, interrupt)?;
    FIRST_SPEEDS.keep(key, speed);
    Ok(speed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measurement_saves_time_in_a_job_of_a_minute() {
        let pays = |seconds| MEASUREMENT.pays_off(1.0, MEASUREMENT.seconds, seconds);
        assert!(pays(61.0) && !pays(59.0) && !pays(1.2));
    }
}
