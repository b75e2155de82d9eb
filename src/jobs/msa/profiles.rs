//! Runs ClustalW's progressive stage on devices if they are worth opening.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::super::{Run, engines};
use crate::engine::thread_engine::thread_engines;
use crate::error::Result;
use crate::profile::{self, Guide, ProfileOptions, Progressive};
use crate::seq::SequenceStore;
use crate::simd::InstructionSet;

/// Minimum sizes of profiles for using devices.
#[derive(Debug, Clone, Copy)]
pub(super) struct DeviceThresholds {
    /// Minimum number of cells per thread, over all profiles. A thread needs some tenths of a
    /// second for them, as long as a device needs to get ready.
    pub(super) job_cells: u64,
    /// Minimum number of cells of two profiles. A thread needs more time for them than the launch
    /// of a kernel takes.
    pub(super) least_cells: u64,
}

impl Default for DeviceThresholds {
    fn default() -> Self {
        DeviceThresholds { job_cells: 1 << 28, least_cells: 1 << 20 }
    }
}

/// Aligns along a tree. Uses the GPUs among the devices if the profiles are large, otherwise only
/// the threads of the pool.
///
/// # Errors
/// The errors of an invalid choice of devices; the errors of [`profile::align`].
pub(super) fn align(
    sequences: &SequenceStore,
    guide: &Guide,
    options: &ProfileOptions,
    run: &Run,
    pool: &Arc<rayon::ThreadPool>,
    thresholds: DeviceThresholds,
) -> Result<Progressive> {
    let control = profile::ProgressiveRun {
        threads: pool,
        instructions: InstructionSet::best(),
        stopped: &|| run.interrupt.load(Ordering::Relaxed),
        progress: &|done, all| run.progress.step("alignment", done as u64, all as u64),
    };
    let threads = pool.current_num_threads();
    if cells(sequences) / threads as u64 >= thresholds.job_cells {
        let mut engines = engines::open_profile(run, threads)?;
        let universal = engines.iter().filter(|engine| engine.universal()).count();
        if universal < engines.len() {
            if universal == 0 {
                // Threads are useful for small profiles and for the remaining work of devices. (An
                // H200 and 16 threads, 1,000 sequences of length 1,523: 0.93 s without threads,
                // 0.65 s with them, 0.84 s for the threads alone.)
                engines.extend(thread_engines(threads, &run.interrupt));
            }
            let engines = profile::ProfileEngines {
                engines,
                control: run.control(pool),
                pool: Arc::clone(pool),
                least_cells: thresholds.least_cells,
            };
            let (aligned, ran) = profile::align_on(sequences, guide, options, &control, engines)?;
            for engine in &ran.engines {
                tracing::debug!(engine.name, engine.pairs, engine.kernel_seconds, "profiles aligned");
            }
            return Ok(aligned);
        }
    }
    profile::align(sequences, guide, options, &control)
}

/// Estimates the number of cells of the profiles of all joins.
fn cells(sequences: &SequenceStore) -> u64 {
    let lengths = sequences.lengths();
    let mean = lengths.iter().map(|&length| u64::from(length)).sum::<u64>() / (lengths.len() as u64).max(1);
    mean.saturating_mul(mean).saturating_mul(lengths.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::adapter::{Device, enumerate};
    use crate::seq::{ReadOptions, read_bytes};
    use crate::tree::GuideTree;

    #[test]
    fn devices_align_profiles_like_the_cpu() {
        let text = include_bytes!("../../../assets/msa/adenylate_kinases.fasta");
        let sequences = read_bytes("adenylate kinases", text, &ReadOptions::default()).expect("it can be read");
        let names: Vec<&str> = (0..sequences.len() as u32).map(|id| sequences.name(id)).collect();
        let pool = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("a pool"));
        let newick = include_bytes!("../../../assets/msa/adenylate_kinases.clustalw.dnd");
        let tree = GuideTree::read("a file", newick, &names, &pool).expect("it is a tree of these");
        let (weights, identities) = (tree.weights(), tree.identities());
        let guide = Guide { tree: &tree, weights: &weights, likeness: &|a, b| identities.percent(a, b) };
        let adapter = enumerate().into_iter().next().expect("an adapter");
        let on = |devices: Vec<Device>, thresholds: DeviceThresholds| {
            let run = Run { devices, ..Run::default() };
            let options = ProfileOptions::new(sequences.alphabet());
            align(&sequences, &guide, &options, &run, &pool, thresholds).expect("it aligns")
        };
        let expected = on(vec![Device::Cpu], DeviceThresholds::default());
        let gpu = || Device::Adapter(Box::new(adapter.clone()));
        let all = DeviceThresholds { job_cells: 0, least_cells: 10_000 };
        for devices in [vec![Device::Cpu], vec![gpu()], vec![gpu(), Device::Cpu]] {
            assert_eq!(on(devices, all), expected);
        }
    }
}
