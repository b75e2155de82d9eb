//! ClustalW's pairwise stage on a GPU: what [`crate::gpu::engine::GpuEngine`] has to know of it. Sequences stay on the device.

mod dispatch;

use std::sync::Arc;

use self::dispatch::ClustalWork;
use super::kernels::program::{Pass, Variant};
use super::kernels::tasks::Tasks;
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

/// Seconds of work that the first batch should be.
const FIRST_SECONDS: f64 = 0.05;
/// Pairs of a batch at most: their lists, what is found of them and what is read back take 88 bytes each.
const MAX_PAIRS: u64 = 1 << 21;
/// Workgroups of one dispatch that have scratch memory of their own, at most.
const MAX_GROUPS: u64 = 1 << 12;

/// Columns of slices on cards, of `sw_ends` and of `nw_forward_reverse_thread`. On an H200 10 to 25% faster than slices of 20; with
/// workgroups of 64, 5 to 15% faster than with 32.
const CARD_COLUMNS: (u32, u32) = (40, 24);

/// Rates on an H200, in cells of pairs a second: of `sw_ends` there and back, and of the kernels for identities. Other devices are
/// thought to be as much slower by all.
const ENDS_SPEED: Speed = Speed { full: 1.3e12, lone: 3.7e7 };
const THREAD_SPEED: Speed = Speed { full: 8.5e11, lone: 2.3e7 };
const WORKGROUP_SPEED: Speed = Speed { full: 2e11, lone: 2.5e8 };

/// Seconds that an invocation may take of a pair: desktops' watchdogs end dispatches after some.
const CHAIN_SECONDS: f64 = 1.0;

/// A GPU that finds the identities of pairs.
pub type ClustalGpu = engine::GpuEngine<Clustal>;

/// Sizes of the kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClustalShape {
    /// Invocations a workgroup where one has a pair.
    pub workgroup: u32,
    /// Columns of a slice, in fours.
    pub columns: u32,
    /// The same where identities are found.
    pub identity_columns: u32,
    /// Invocations a workgroup that has a pair.
    pub cooperative: u32,
    /// Rows of each of them.
    pub rows: u32,
}

impl KernelSizes for ClustalShape {
    fn for_adapter(found: &FoundAdapter, _gpu: &Gpu) -> Self {
        let usual = |pass, workgroup| Variant::new(pass, Alphabet::Protein, workgroup).size;
        let workgroup = if found.is_software() { 16 } else { 64 };
        // Cards have registers for more columns.
        let few = (usual(Pass::Ends, workgroup), usual(Pass::ForwardReverseThread, workgroup));
        let (columns, identity_columns) = found.description.suited(CARD_COLUMNS, few, few);
        let rows = usual(Pass::ForwardReverse, workgroup);
        ClustalShape { workgroup, columns, identity_columns, cooperative: 64, rows }
    }
}

/// What the room has on a device, whatever batches are in flight.
pub struct ClustalHost {
    kernels: KernelSet<Variant, ClustalShape>,
    /// Pairs that keep the device busy.
    fill: u64,
}

/// How a batch is computed, and what it uses.
pub struct Chosen {
    sequences: Arc<ResidentBuffer>,
    table: wgpu::Buffer,
    tasks: Tasks,
    /// Whether no pair is finished, since ends alone are to be measured.
    is_partial: bool,
}

impl ClustalGpu {
    /// Opens an adapter.
    pub fn open(found: &FoundAdapter) -> Result<Self> {
        let gpu = Gpu::open(found)?;
        // Pairs: those that the multiprocessors of a large card, of a small one, or threads hold at once.
        let (assumed, fill) = found.description.suited((1e12, 1 << 16), (5e10, 1 << 10), (1e8, 1));
        let host = ClustalHost { kernels: KernelSet::new(&gpu, found), fill };
        Ok(engine::GpuEngine::new(gpu, host, memory_budget(found, None), assumed))
    }
}

impl ClustalHost {
    /// The program of a pass.
    fn variant(&self, pass: Pass, alphabet: Alphabet) -> Variant {
        let ClustalShape { workgroup, columns, identity_columns, cooperative, rows } = self.kernels.shape;
        let (workgroup, size) = match pass {
            Pass::Ends | Pass::Starts => (workgroup, columns),
            Pass::ForwardReverse => (cooperative, rows),
            Pass::ForwardReverseThread => (workgroup, identity_columns),
        };
        Variant { size, ..Variant::new(pass, alphabet, workgroup) }
    }

    /// How identities of a batch are found: as the user says, or the faster way.
    fn last_pass(&self, kernel: Option<&'static Kernel>, tasks: &Tasks, cells: u64, memory: u64) -> Pass {
        match kernel.map(|kernel| kernel.kind) {
            Some(KernelKind::Clustal(ClustalStage::ForwardReverse(LaneGrouping::Thread))) => {
                return Pass::ForwardReverseThread;
            }
            Some(KernelKind::Clustal(ClustalStage::ForwardReverse(_))) => return Pass::ForwardReverse,
            _ => (),
        }
        let mut launches = tasks.launches.iter();
        let Some(launch) = launches.find(|launch| launch.variant.pass == Pass::ForwardReverseThread) else {
            return Pass::ForwardReverse;
        };
        let groups = dispatch::groups(launch, tasks.longest, self.scratch_budget(memory), MAX_GROUPS);
        let lanes = groups * u64::from(launch.variant.workgroup);
        let share = if lanes < tasks.pairs.len() as u64 { lanes as f64 / self.fill as f64 } else { 1.0 };
        let [rows, columns] = tasks.longest.map(f64::from);
        // Where loops end early few pairs suit an invocation.
        let is_faster =
            self.kernels.loop_budget.is_none() && is_thread_faster(cells as f64, rows * columns, share.min(1.0));
        if is_faster { Pass::ForwardReverseThread } else { Pass::ForwardReverse }
    }

    /// Bytes of scratch memory that a batch may take.
    fn scratch_budget(&self, memory: u64) -> u64 {
        MemoryShares::new(memory).scratch_bytes.min(self.kernels.binding)
    }
}

/// Whether identities of so many cells, so many of them of the longest pair, are found faster by an invocation a pair than by a
/// workgroup, if memory suffices for such a share of the invocations that keep the device busy.
fn is_thread_faster(cells: f64, chain: f64, share: f64) -> bool {
    let work = WorkEstimate { cells, chain, ..WorkEstimate::default() };
    let thread = Speed { full: THREAD_SPEED.full * share, ..THREAD_SPEED };
    chain < CHAIN_SECONDS * THREAD_SPEED.lone && thread.seconds(&work) < WORKGROUP_SPEED.seconds(&work)
}

/// Cells a second to be expected of a batch of the usual seconds, of pairs as long as those of one that took so many seconds, if
/// that is more than this one's.
fn usual_speed(last: Pass, work: WorkEstimate, seconds: f64) -> Option<f64> {
    let identities = if last == Pass::ForwardReverseThread { THREAD_SPEED } else { WORKGROUP_SPEED };
    let both = |of: fn(&Speed) -> f64| 1.0 / (1.0 / of(&ENDS_SPEED) + 1.0 / of(&identities));
    let both = Speed { full: both(|speed| speed.full), lone: both(|speed| speed.lone) };
    // By how much the device is slower than assumed, all in all.
    let slower = seconds / both.seconds(&work);
    let usual = (BATCH_SECONDS / slower - work.chain / both.lone) * both.full / BATCH_SECONDS;
    (usual > work.cells / seconds).then_some(usual)
}

has_kernel_set!(ClustalHost, Variant, ClustalShape);

impl GpuKind for Clustal {
    type Choice = Chosen;
    type DeviceState = ClustalHost;
    type Slot = Buffers;

    const FIRST_SECONDS: f64 = FIRST_SECONDS;
    const MAX_PAIRS: u64 = MAX_PAIRS;

    /// A pair of some hundred symbols takes an invocation some hundredths of a second, alone or not.
    fn fill(host: &ClustalHost) -> u64 {
        host.fill
    }

    fn resident_bytes(memory: u64) -> u64 {
        memory / 4
    }

    fn choose(host: &mut ClustalHost, site: &mut BatchContext<'_>, batch: &Arc<ClustalBatch>) -> Result<Chosen> {
        let sequences = &batch.chunk.sequences;
        let bytes = sequences.packed_bytes();
        let resident = host.kernels.resident(site.residents, sequences, "sequences", bytes, site.memory / 4)?;
        let tasks = Tasks::new(batch, |pass| host.variant(pass, sequences.alphabet()));
        let mut tasks = tasks.ok_or_else(|| host.kernels.gpu.unsuited("scores exceed 32 bits"))?;
        let is_partial = site.kernel.is_some_and(|kernel| kernel.kind == KernelKind::Clustal(ClustalStage::Ends));
        if is_partial {
            tasks.launches.retain(|launch| launch.variant.pass == Pass::Ends);
        }
        let last = host.last_pass(site.kernel, &tasks, batch.cells(), site.memory);
        tasks.launches.retain(|launch| !launch.variant.pass.is_last() || launch.variant.pass == last);
        if let Some(iterations) = host.kernels.loop_budget {
            dispatch::narrow(&mut tasks, iterations);
        }
        let table = host.kernels.gpu.upload("scores", bytemuck::cast_slice(&tasks.table.scores))?;
        Ok(Chosen { sequences: resident, table, tasks, is_partial })
    }

    fn record(
        host: &mut ClustalHost,
        site: &mut BatchContext<'_>,
        buffers: &mut Buffers,
        _batch: &Arc<ClustalBatch>,
        chosen: &mut Chosen,
    ) -> Result<()> {
        let variants: Vec<Variant> = chosen.tasks.launches.iter().map(|launch| launch.variant).collect();
        let programs = host.kernels.get_all(&variants)?;
        let work = ClustalWork {
            symbols: &chosen.sequences.buffer,
            table: &chosen.table,
            tasks: &chosen.tasks,
            programs: &programs,
            scratch_budget: host.scratch_budget(site.memory),
            most_groups: MAX_GROUPS,
            loop_budget: host.kernels.loop_budget,
        };
        dispatch::record(&host.kernels.gpu, buffers, &work)
    }

    fn decode(
        _host: &mut ClustalHost,
        _buffers: &mut Buffers,
        batch: &Arc<ClustalBatch>,
        chosen: &Chosen,
        results: BatchResults,
    ) -> Result<ClustalReport> {
        let kernel_time = results.kernel_time;
        if chosen.is_partial {
            return Ok(ClustalReport { kernel_time, ..Self::unfinished_report(batch) });
        }
        let identities = dispatch::identities(&results.words, &chosen.tasks);
        Ok(ClustalReport { identities, unfinished: Vec::new(), kernel_time })
    }

    /// A batch of few pairs takes little less than one of many: it tells what a usual one should do.
    fn learn(
        _host: &mut ClustalHost,
        _kernel: Option<&'static Kernel>,
        batch: &ClustalBatch,
        chosen: &Chosen,
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
    fn few_pairs_are_a_workgroups_and_many_an_invocations() {
        let genes = |pairs: f64, share| is_thread_faster(pairs * 1449.0 * 1449.0, 1449.0 * 1449.0, share);
        assert_eq!(
            [1.0, 45.0, 4950.0, 19900.0, 496_817.0].map(|pairs| genes(pairs, 1.0)),
            [false, false, false, true, true]
        );
        assert!(is_thread_faster(32154.0 * 97.0 * 97.0, 97.0 * 97.0, 1.0));
        // Longer than a watchdog waits.
        assert!(!is_thread_faster(1e15, 6000.0 * 6000.0, 1.0));
        // Without memory for the invocations.
        assert!(!genes(496_817.0, 0.1) && !genes(496_817.0, 0.0));
    }

    #[test]
    fn a_small_batch_tells_what_a_usual_one_should_do() {
        let chain = 1449.0 * 1449.0;
        let usual = |pairs: f64, seconds| {
            let work = WorkEstimate { cells: pairs * chain, chain, ..WorkEstimate::default() };
            usual_speed(Pass::ForwardReverseThread, work, seconds)
        };
        // Two waves of an H200: in 0.7 s it does more than four times as many.
        let speed = usual(24_000.0, 0.24).expect("more than it did");
        assert!((3.5e11..5.5e11).contains(&speed), "{speed}");
        // One so slow that pairs take seconds is as fast as it was, and a large batch says what it says.
        assert_eq!((usual(24_000.0, 24.0), usual(400_000.0, 1.4)), (None, None));
    }
}
