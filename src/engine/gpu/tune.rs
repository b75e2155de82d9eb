//! Choosing slice width and workgroup size per adapter: a short measurement, kept in the user's cache directory.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use super::adapter::FoundAdapter;
use super::{Config, GpuEngine};
use crate::engine::{Band, Batch, Block, Engine, Want};
use crate::error::Result;
use crate::score::Scoring;
use crate::seq::{Alphabet, Code, SequenceStore};

/// Slice widths that are tried. All leave 4 over 8, so that profile rows start in different banks.
pub const SLICES: &[u32] = &[12, 20, 28, 36, 44, 52];
/// Workgroup sizes that are tried.
pub const WORKGROUPS: &[u32] = &[32, 64, 128];
/// Seconds that one trial should last: the last workgroups of a batch idle the device for some tens of milliseconds.
const TRIAL_SECONDS: f64 = 0.2;
/// Seconds of the first look at a device's speed, which every larger job takes.
const FIRST_LOOK_SECONDS: f64 = 0.03;
/// Symbols of a trial's sequences: about a gene.
const TRIAL_LENGTH: u32 = 1200;
/// Jobs below this many cells end before a measurement would.
const SMALL_JOB_CELLS: u64 = 100_000_000_000;

/// One measured configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trial {
    /// Columns a slice.
    pub slice: u32,
    /// Invocations a workgroup.
    pub workgroup: u32,
    /// Cells per second in the kernel (by the clock where the device has no timestamps).
    pub cells_per_second: f64,
}

/// Random sequences for measurements: `count` of `length` symbols, from a fixed seed.
pub fn random_store(alphabet: Alphabet, count: usize, length: usize, seed: u64) -> SequenceStore {
    let mut state = seed | 1;
    let mut next = move || {
        // xorshift64*: enough for measurements, and no dependency.
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as u32
    };
    let mut builder = SequenceStore::builder(alphabet);
    for index in 0..count {
        let codes: Vec<Code> = (0..length)
            .map(|_| match alphabet {
                Alphabet::Dna => 1 << (next() % 4),
                Alphabet::Protein => b"ACDEFGHIKLMNPQRSTVWY"[next() as usize % 20] - b'A' + 1,
            })
            .collect();
        builder.push(format!("random{index}"), &codes);
    }
    builder.build()
}

/// A batch of `queries` times `targets` pairs over one random store.
pub fn random_batch(scoring: &Arc<Scoring>, queries: u32, targets: u32, length: u32, want: Want) -> Arc<Batch> {
    let store = Arc::new(random_store(scoring.alphabet, queries.max(targets) as usize, length as usize, 0x5eed));
    let band = Band {
        queries: Arc::clone(&store),
        targets: store,
        order: (0..targets).collect(),
        scoring: Arc::clone(scoring),
        want,
        earlier_is_query: false,
    };
    let cells = targets as u64 * length as u64 * length as u64;
    let blocks = (0..queries).map(|query| Block { query, targets: 0..targets, cells }).collect();
    Arc::new(Batch { band: Arc::new(band), blocks })
}

/// Runs one batch and gives its cells per second: of the kernel where that can be told, else by the clock.
pub fn speed(engine: &mut dyn Engine, batch: &Arc<Batch>) -> Result<f64> {
    let begin = Instant::now();
    let ticket = engine.submit(Arc::clone(batch))?;
    let report = engine.collect(ticket)?;
    let seconds = report.kernel_time.unwrap_or_else(|| begin.elapsed()).as_secs_f64();
    Ok(batch.cells() as f64 / seconds.max(1e-6))
}

/// Speed of a configuration, over batches that grow until one lasts long enough to be believed.
pub fn measure(engine: &mut dyn Engine, scoring: &Arc<Scoring>, length: u32, seconds: f64) -> Result<f64> {
    let (mut queries, mut best) = (1u32, 0f64);
    loop {
        let targets = 512;
        let batch = random_batch(scoring, queries, targets, length, Want::Alignments);
        let now = speed(engine, &batch)?;
        best = best.max(now);
        let lasted = batch.cells() as f64 / now;
        if lasted >= seconds * 0.5 || queries >= 4096 {
            return Ok(best);
        }
        queries = (queries as f64 * (seconds / lasted).clamp(2.0, 32.0)) as u32;
    }
}

/// Measures configurations on one device: every slice width at the middle workgroup size, then the other sizes at the
/// best width (speed hardly depends on both together). Fastest first.
pub fn sweep(engine: &mut GpuEngine, scoring: &Arc<Scoring>, length: u32) -> Result<Vec<Trial>> {
    let most = engine.gpu().description.max_workgroup_invocations;
    let mut trials: Vec<Trial> = Vec::new();
    let mut attempt = |trials: &mut Vec<Trial>, slice: u32, workgroup: u32| -> Result<()> {
        if workgroup > most {
            return Ok(());
        }
        engine.configure(Config { slice, workgroup, cells_per_second: 0.0 });
        let cells_per_second = measure(engine, scoring, length, TRIAL_SECONDS)?;
        tracing::debug!(slice, workgroup, gcups = cells_per_second / 1e9, "trial");
        trials.push(Trial { slice, workgroup, cells_per_second });
        trials.sort_by(|a, b| b.cells_per_second.total_cmp(&a.cells_per_second));
        Ok(())
    };
    for &slice in SLICES {
        attempt(&mut trials, slice, WORKGROUPS[1])?;
    }
    let best = trials.first().map_or(SLICES[0], |trial| trial.slice);
    for &workgroup in [&WORKGROUPS[..1], &WORKGROUPS[2..]].concat().iter() {
        attempt(&mut trials, best, workgroup)?;
    }
    Ok(trials)
}

/// What the cache file holds: configurations by adapter, driver, kernel text and kind of scoring.
type Cache = BTreeMap<String, Config>;

/// The cache file, if the user has a cache directory.
fn cache_file() -> Option<PathBuf> {
    use etcetera::BaseStrategy;
    if let Some(directory) = std::env::var_os("PAIRWAVE_CACHE_DIR") {
        return Some(PathBuf::from(directory).join("tuning.json"));
    }
    Some(etcetera::choose_base_strategy().ok()?.cache_dir().join("pairwave").join("tuning.json"))
}

fn read_cache() -> Cache {
    let text = cache_file().and_then(|path| std::fs::read_to_string(path).ok());
    // A file that cannot be read is measured anew and replaced.
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// Writes the cache whole or not at all; a cache that cannot be written costs a measurement, no more.
fn write_cache(cache: &Cache) {
    let write = || -> Option<()> {
        let path = cache_file()?;
        let directory = path.parent()?;
        std::fs::create_dir_all(directory).ok()?;
        let file = tempfile::NamedTempFile::new_in(directory).ok()?;
        serde_json::to_writer_pretty(&file, cache).ok()?;
        file.persist(path).ok()?;
        Some(())
    };
    if write().is_none() {
        tracing::debug!("the tuning cache could not be written");
    }
}

/// The key of an adapter's best configuration for a kind of scoring.
fn cache_key(found: &FoundAdapter, scoring: &Scoring) -> String {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    crate::kernels::nw_slice::SHADER.hash(&mut hasher);
    let description = &found.description;
    format!(
        "{} | {} | {} | {:?} {} | {:016x}",
        description.name,
        description.driver,
        description.backend,
        scoring.alphabet,
        if scoring.gaps.is_linear() { "linear" } else { "affine" },
        hasher.finish()
    )
}

/// Seconds that a job should last before it is worth measuring for.
const WORTH_TUNING_SECONDS: f64 = 60.0;

/// Opens an adapter with the best known configuration for a job of `cells`: from the cache; or, if the job will last
/// long enough to be worth it or `anew` asks for it, from a measurement, which the cache then keeps; or the default.
pub fn open_tuned(found: &FoundAdapter, scoring: &Arc<Scoring>, cells: u64, anew: bool) -> Result<GpuEngine> {
    let key = cache_key(found, scoring);
    let mut cache = read_cache();
    let known = if anew { None } else { cache.get(&key).copied() };
    if let Some(config) = known {
        return GpuEngine::open(found, config);
    }
    let mut engine = GpuEngine::open(found, Config::for_adapter(found))?;
    let begin = Instant::now();
    if !anew {
        if cells < SMALL_JOB_CELLS {
            return Ok(engine);
        }
        // How fast it is with the defaults decides how much it is asked at once, and whether to look further.
        let speed = measure(&mut engine, scoring, TRIAL_LENGTH, FIRST_LOOK_SECONDS)?;
        engine.configure(Config { cells_per_second: speed, ..engine.config() });
        if (cells as f64) < speed * WORTH_TUNING_SECONDS {
            return Ok(engine);
        }
    }
    let trials = sweep(&mut engine, scoring, TRIAL_LENGTH)?;
    let Some(best) = trials.first() else {
        return Ok(engine);
    };
    let config = Config { slice: best.slice, workgroup: best.workgroup, cells_per_second: best.cells_per_second };
    tracing::info!(
        "{}: {} columns a slice, {} invocations a workgroup, {:.1} GCUPS (measured in {:.1} s)",
        found.description.name,
        config.slice,
        config.workgroup,
        config.cells_per_second / 1e9,
        begin.elapsed().as_secs_f64()
    );
    engine.configure(config);
    cache.insert(key, config);
    write_cache(&cache);
    Ok(engine)
}
