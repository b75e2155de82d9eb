//! ClustalW's pairwise alignments on a GPU, as a job kind of [`crate::gpu::engine::GpuEngine`].
//! Sequences stay on the device.

mod dispatch;

use std::sync::Arc;

use self::dispatch::ClustalWork;
use super::kernels::program::{ClustalPass, ClustalVariant};
use super::kernels::tasks::ClustalTasks;
use super::{Clustal, ClustalBatch, ClustalReport, PairIdentities};
use crate::error::Result;
use crate::gpu::BATCH_SECONDS;
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::choosing::{Speed, WorkEstimate};
use crate::gpu::device::Gpu;
use crate::gpu::engine::{self, BatchContext, GpuKind};
use crate::gpu::kernel_set::{KernelSet, KernelSizes, ResidentBuffer, has_kernel_set};
use crate::gpu::kernels::{ClustalStage, Kernel, KernelKind, LaneGrouping};
use crate::gpu::launch::{BatchResults, Buffers};
use crate::gpu::memory::{MemoryShares, memory_budget};
use crate::seq::Alphabet;

/// Seconds of work in the first batch.
const FIRST_SECONDS: f64 = 0.05;
/// Maximum number of pairs in a batch. Task lists, results and the copied results take 88 bytes per
/// pair.
const MAX_PAIRS: u64 = 1 << 21;
/// Maximum number of workgroups of a dispatch. Each has its own scratch memory.
const MAX_GROUPS: u64 = 1 << 12;

/// Number of columns of a slice on discrete cards, in `sw_ends` and in `nw_forward_reverse_thread`.
/// On an H200, these slices are 10 to 25% faster than slices of 20 columns. Workgroups of 64 are 5
/// to 15% faster than workgroups of 32.
const CARD_COLUMNS: (u32, u32) = (40, 24);

/// Speeds on an H200 in cells per second, for both passes of `sw_ends` together and for the two
/// kernels that count identities. All other speeds are assumed to be lower by the same factor.
const ENDS_SPEED: Speed = Speed { full: 1.3e12, lone: 3.7e7 };
const THREAD_SPEED: Speed = Speed { full: 8.5e11, lone: 2.3e7 };
const WORKGROUP_SPEED: Speed = Speed { full: 2e11, lone: 2.5e8 };

/// Maximum time, in seconds, that an invocation may take for a pair. Watchdogs of desktop systems
/// stop longer dispatches.
const CHAIN_SECONDS: f64 = 1.0;

/// A GPU engine that computes the identities of pairs.
pub type ClustalGpu = engine::GpuEngine<Clustal>;

/// Kernel parameters chosen for a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClustalShape {
    /// Invocations per workgroup, for kernels with one invocation per pair.
    pub workgroup: u32,
    /// Columns of a slice in `sw_ends`, a multiple of 4.
    pub columns: u32,
    /// Columns of a slice in `nw_forward_reverse_thread`, a multiple of 4.
    pub identity_columns: u32,
    /// Invocations per workgroup, for kernels with one workgroup per pair.
    pub cooperative: u32,
    /// Rows per invocation in these kernels.
    pub rows: u32,
}

impl KernelSizes for ClustalShape {
    fn for_adapter(adapter: &FoundAdapter, _gpu: &Gpu) -> Self {
        let usual = |pass, workgroup| ClustalVariant::new(pass, Alphabet::Protein, workgroup).size;
        let workgroup = if adapter.is_software() { 16 } else { 64 };
        // Discrete cards have enough registers for more columns.
        let few = (usual(ClustalPass::Ends, workgroup), usual(ClustalPass::ForwardReverseThread, workgroup));
        let (columns, identity_columns) = adapter.description.select_by_kind(CARD_COLUMNS, few, few);
        let rows = usual(ClustalPass::ForwardReverse, workgroup);
        ClustalShape { workgroup, columns, identity_columns, cooperative: 64, rows }
    }
}

/// State of this module on a device, shared by all batches in flight.
pub struct ClustalDeviceState {
    kernels: KernelSet<ClustalVariant, ClustalShape>,
    /// Number of pairs that keep the device busy.
    fill: u64,
}

/// How a batch is computed, and the data that it uses.
pub struct ClustalChoice {
    sequences: Arc<ResidentBuffer>,
    table: wgpu::Buffer,
    tasks: ClustalTasks,
    /// Whether the batch only measures the speed of `sw_ends`. Its pairs are then reported as
    /// unfinished.
    is_partial: bool,
}

impl ClustalGpu {
    /// Opens an adapter.
    pub fn open(adapter: &FoundAdapter) -> Result<Self> {
        let gpu = Gpu::open(adapter)?;
        // Assumed cells per second and number of pairs computed at once, for a large card, a small
        // card and CPU threads.
        let (assumed, fill) = adapter.description.select_by_kind((1e12, 1 << 16), (5e10, 1 << 10), (1e8, 1));
        let host = ClustalDeviceState { kernels: KernelSet::new(&gpu, adapter), fill };
        Ok(engine::GpuEngine::new(gpu, host, memory_budget(adapter, None), assumed))
    }
}

impl ClustalDeviceState {
    /// Returns the variant of a pass on this device.
    fn variant(&self, pass: ClustalPass, alphabet: Alphabet) -> ClustalVariant {
        let ClustalShape { workgroup, columns, identity_columns, cooperative, rows } = self.kernels.shape;
        let (workgroup, size) = match pass {
            ClustalPass::Ends | ClustalPass::Starts => (workgroup, columns),
            ClustalPass::ForwardReverse => (cooperative, rows),
            ClustalPass::ForwardReverseThread => (workgroup, identity_columns),
        };
        ClustalVariant { size, ..ClustalVariant::new(pass, alphabet, workgroup) }
    }

    /// Selects the pass that counts identities: the requested kernel, or the faster pass.
    fn last_pass(&self, kernel: Option<&'static Kernel>, tasks: &ClustalTasks, cells: u64, memory: u64) -> ClustalPass {
        match kernel.map(|kernel| kernel.kind) {
            Some(KernelKind::Clustal(ClustalStage::ForwardReverse(LaneGrouping::Thread))) => {
                return ClustalPass::ForwardReverseThread;
            }
            Some(KernelKind::Clustal(ClustalStage::ForwardReverse(_))) => return ClustalPass::ForwardReverse,
            _ => (),
        }
        let mut launches = tasks.launches.iter();
        let Some(launch) = launches.find(|launch| launch.variant.pass == ClustalPass::ForwardReverseThread) else {
            return ClustalPass::ForwardReverse;
        };
        let groups = dispatch::groups(launch, tasks.longest, self.scratch_budget(memory), MAX_GROUPS);
        let lanes = groups * u64::from(launch.variant.workgroup);
        let share = if lanes < tasks.pairs.len() as u64 { lanes as f64 / self.fill as f64 } else { 1.0 };
        let [rows, columns] = tasks.longest.map(f64::from);
        // With a limit on loop iterations, one workgroup per pair is used, because it needs fewer
        // iterations per invocation.
        let is_faster =
            self.kernels.loop_budget.is_none() && is_thread_faster(cells as f64, rows * columns, share.min(1.0));
        if is_faster { ClustalPass::ForwardReverseThread } else { ClustalPass::ForwardReverse }
    }

    /// Returns the bytes of scratch memory that a batch may take.
    fn scratch_budget(&self, memory: u64) -> u64 {
        MemoryShares::new(memory).scratch_bytes.min(self.kernels.binding)
    }
}

/// Checks whether one invocation per pair counts identities faster than one workgroup per pair.
/// `cells` is the number of cells of all pairs, and `chain` that of the longest pair. `share` is
/// the number of invocations with scratch memory, divided by the number that keeps the device busy.
fn is_thread_faster(cells: f64, chain: f64, share: f64) -> bool {
    let work = WorkEstimate { cells, chain, ..WorkEstimate::default() };
    let thread = Speed { full: THREAD_SPEED.full * share, ..THREAD_SPEED };
    chain < CHAIN_SECONDS * THREAD_SPEED.lone && thread.seconds(&work) < WORKGROUP_SPEED.seconds(&work)
}

/// Returns the expected speed, in cells per second, of a batch of the usual duration with pairs of
/// the same length. Returns `None` unless that exceeds the speed of the measured batch.
fn usual_speed(last: ClustalPass, work: WorkEstimate, seconds: f64) -> Option<f64> {
    let identities = if last == ClustalPass::ForwardReverseThread { THREAD_SPEED } else { WORKGROUP_SPEED };
    let both = |rate_of: fn(&Speed) -> f64| 1.0 / (1.0 / rate_of(&ENDS_SPEED) + 1.0 / rate_of(&identities));
    let both = Speed { full: both(|speed| speed.full), lone: both(|speed| speed.lone) };
    // Ratio of measured to assumed time.
    let slower = seconds / both.seconds(&work);
    let usual = (BATCH_SECONDS / slower - work.chain / both.lone) * both.full / BATCH_SECONDS;
    (usual > work.cells / seconds).then_some(usual)
}

has_kernel_set!(ClustalDeviceState, ClustalVariant, ClustalShape);

impl GpuKind for Clustal {
    type Choice = ClustalChoice;
    type DeviceState = ClustalDeviceState;
    type Slot = Buffers;

    const FIRST_SECONDS: f64 = FIRST_SECONDS;
    const MAX_PAIRS: u64 = MAX_PAIRS;

    /// Returns the number of pairs that keep the device busy. An invocation takes some hundredths
    /// of a second for a pair of a few hundred symbols, even if it runs alone.
    fn fill(host: &ClustalDeviceState) -> u64 {
        host.fill
    }

    fn resident_bytes(memory: u64) -> u64 {
        memory / 4
    }

    fn choose(
        host: &mut ClustalDeviceState,
        site: &mut BatchContext<'_>,
        batch: &Arc<ClustalBatch>,
    ) -> Result<ClustalChoice> {
        let sequences = &batch.chunk.sequences;
        let bytes = sequences.packed_bytes();
        let resident = host.kernels.resident(site.residents, sequences, "sequences", bytes, site.memory / 4)?;
        let tasks = ClustalTasks::new(batch, |pass| host.variant(pass, sequences.alphabet()));
        let mut tasks = tasks.ok_or_else(|| host.kernels.gpu.refusal("scores exceed 32 bits"))?;
        let is_partial = site.kernel.is_some_and(|kernel| kernel.kind == KernelKind::Clustal(ClustalStage::Ends));
        if is_partial {
            tasks.launches.retain(|launch| launch.variant.pass == ClustalPass::Ends);
        }
        let last = host.last_pass(site.kernel, &tasks, batch.cells(), site.memory);
        tasks.launches.retain(|launch| !launch.variant.pass.is_last() || launch.variant.pass == last);
        if let Some(iterations) = host.kernels.loop_budget {
            dispatch::narrow(&mut tasks, iterations);
        }
        let table = host.kernels.gpu.upload("scores", bytemuck::cast_slice(&tasks.table.scores))?;
        Ok(ClustalChoice { sequences: resident, table, tasks, is_partial })
    }

    fn record(
        host: &mut ClustalDeviceState,
        site: &mut BatchContext<'_>,
        buffers: &mut Buffers,
        _batch: &Arc<ClustalBatch>,
        chosen: &mut ClustalChoice,
    ) -> Result<()> {
        let variants: Vec<ClustalVariant> = chosen.tasks.launches.iter().map(|launch| launch.variant).collect();
        let programs = host.kernels.get_all(&variants)?;
        let work = ClustalWork {
            symbols: &chosen.sequences.buffer,
            table: &chosen.table,
            tasks: &chosen.tasks,
            programs: &programs,
            scratch_budget: host.scratch_budget(site.memory),
            max_groups: MAX_GROUPS,
            loop_budget: host.kernels.loop_budget,
        };
        dispatch::record(&host.kernels.gpu, buffers, &work)
    }

    fn decode(
        _host: &mut ClustalDeviceState,
        _buffers: &mut Buffers,
        batch: &Arc<ClustalBatch>,
        chosen: &ClustalChoice,
        results: BatchResults,
    ) -> Result<ClustalReport> {
        let kernel_time = results.kernel_time;
        if chosen.is_partial {
            return Ok(ClustalReport { kernel_time, ..Self::unfinished_report(batch) });
        }
        let identities = dispatch::identities(&results.words, &chosen.tasks);
        Ok(ClustalReport { identities, unfinished: Vec::new(), kernel_time })
    }

    /// Estimates the speed of a batch of the usual duration. A batch of few pairs takes almost as
    /// long as a batch of many pairs, so its own speed is too low.
    fn learn(
        _host: &mut ClustalDeviceState,
        _kernel: Option<&'static Kernel>,
        batch: &ClustalBatch,
        chosen: &ClustalChoice,
        report: &ClustalReport,
    ) -> Option<f64> {
        let last = chosen.tasks.launches.iter().map(|launch| launch.variant.pass).find(|pass| pass.is_last())?;
        let [rows, columns] = chosen.tasks.longest.map(f64::from);
        let seconds = report.kernel_time?.as_secs_f64();
        usual_speed(
            last,
            WorkEstimate { cells: batch.cells() as f64, chain: rows * columns, ..WorkEstimate::default() },
            seconds,
        )
    }

    fn unfinished_report(batch: &ClustalBatch) -> ClustalReport {
        ClustalReport {
            identities: vec![PairIdentities::default(); batch.pairs() as usize],
            unfinished: (0..batch.blocks.len()).collect(),
            kernel_time: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_pairs_use_workgroups_and_many_use_invocations() {
        let genes = |pairs: f64, share| is_thread_faster(pairs * 1449.0 * 1449.0, 1449.0 * 1449.0, share);
        assert_eq!(
            [1.0, 45.0, 4950.0, 19900.0, 496_817.0].map(|pairs| genes(pairs, 1.0)),
            [false, false, false, true, true]
        );
        assert!(is_thread_faster(32154.0 * 97.0 * 97.0, 97.0 * 97.0, 1.0));
        // The longest pair would exceed the limit of a watchdog.
        assert!(!is_thread_faster(1e15, 6000.0 * 6000.0, 1.0));
        // The memory is too small for enough invocations.
        assert!(!genes(496_817.0, 0.1) && !genes(496_817.0, 0.0));
    }

    #[test]
    fn small_batch_predicts_speed_of_usual_batch() {
        let chain = 1449.0 * 1449.0;
        let usual = |pairs: f64, seconds| {
            let work = WorkEstimate { cells: pairs * chain, chain, ..WorkEstimate::default() };
            usual_speed(ClustalPass::ForwardReverseThread, work, seconds)
        };
        // 24,000 pairs are two waves of an H200. A usual batch of 0.7 s has more than four times
        // the speed.
        let speed = usual(24_000.0, 0.24).expect("more than it did");
        assert!((3.5e11..5.5e11).contains(&speed), "{speed}");
        // A device that takes seconds per pair gains nothing from larger batches. The speed of a
        // large batch is already the usual speed.
        assert_eq!((usual(24_000.0, 24.0), usual(400_000.0, 1.4)), (None, None));
    }
}
