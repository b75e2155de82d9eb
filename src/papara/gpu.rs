//! Scores reads against ancestral states on a GPU, as a job kind of
//! [`crate::gpu::engine::GpuEngine`]. The vectors of states stay on the device.

mod dispatch;

use std::sync::Arc;

use self::dispatch::BlockWork;
use super::kernels::block::{self, BlockTasks, BlockVariant, CHUNK, LANES, ScoreType};
use super::vectors::StateCells;
use super::{OCTET, Phylo, PhyloBatch, PhyloBlock, PhyloReport};
use crate::error::Result;
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::choosing::{CandidateKernel, Chooser, Speed, Trials, WorkEstimate};
use crate::gpu::device::Gpu;
use crate::gpu::engine::{self, BatchContext, GpuKind};
use crate::gpu::kernel_set::{KernelSet, KernelSizes, ResidentBuffer, has_kernel_set};
use crate::gpu::kernels::{Kernel, KernelKind};
use crate::gpu::launch::{BatchResults, Buffers};
use crate::gpu::memory::{MemoryShares, memory_budget};
use crate::seq::Alphabet;

/// Seconds of work in the first batch.
const FIRST_SECONDS: f64 = 0.05;
/// Maximum number of read-octet pairs in a batch. Task lists and scores take 40 bytes per pair.
const MAX_PAIRS: u64 = 1 << 21;
/// Minimum duration, in seconds, of a batch whose speed is recorded.
const MIN_MEASURED_SECONDS: f64 = 0.005;
/// Settings for trials of the other score type during a job.
const TRIALS: Trials = Trials { seconds: 0.05, overhead_seconds: 0.2, max_speed_ratio: 2.0 };
/// Speed per padded column with many columns in registers, divided by the speed with few columns.
const WIDE_GAIN: f64 = 1.09;
/// Maximum number of workgroups of a dispatch. Each has its own scratch memory.
const MAX_GROUPS: u64 = 1 << 13;

/// A GPU engine that scores reads against vectors.
pub type PhyloGpu = engine::GpuEngine<Phylo>;

/// Kernel parameters chosen for a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockShape {
    /// Invocations per workgroup.
    pub workgroup: u32,
    /// Columns of a read that an invocation keeps, for f16 and for i32 lanes. Each has a small and
    /// a large number. The large number is faster for reads that need little padding.
    pub columns: [[u32; 2]; 2],
    /// Number of sites in a chunk.
    pub chunk: u32,
}

impl KernelSizes for BlockShape {
    fn for_adapter(adapter: &FoundAdapter, _gpu: &Gpu) -> Self {
        // A workgroup is one subgroup if subgroups are wide enough, so it waits for no other
        // subgroup.
        let subgroup = adapter.description.subgroup_sizes[0].clamp(32, 64);
        BlockShape {
            workgroup: if adapter.is_software() { 16 } else { subgroup },
            columns: [block::columns(ScoreType::F16), block::columns(ScoreType::I32)],
            // Software adapters limit the length of loops.
            chunk: if adapter.is_software() { 32 } else { CHUNK },
        }
    }
}

/// State of this module on a device, shared by all batches in flight.
pub struct PhyloDeviceState {
    kernels: KernelSet<BlockVariant, BlockShape>,
    chooser: Chooser<ScoreType>,
    assumed: f64,
    /// Number of read-octet pairs that keep the device busy.
    fill: u64,
}

/// How a batch is computed, and the data that it uses.
pub struct PhyloChoice {
    vectors: Arc<ResidentBuffer>,
    tasks: BlockTasks,
    way: CandidateKernel<ScoreType>,
}

impl PhyloGpu {
    /// Opens an adapter.
    pub fn open(adapter: &FoundAdapter) -> Result<Self> {
        let gpu = Gpu::open(adapter)?;
        // Assumed cells per second and number of read-octet pairs computed at once, for a large
        // card, a small card and CPU threads.
        let (assumed, fill) = adapter.description.select_by_kind((2e12, 1 << 17), (1e11, 1 << 10), (2e8, 1));
        let host = PhyloDeviceState {
            kernels: KernelSet::new(&gpu, adapter),
            chooser: Chooser::new(MIN_MEASURED_SECONDS, Some(TRIALS)),
            assumed,
            fill,
        };
        Ok(engine::GpuEngine::new(gpu, host, memory_budget(adapter, None), assumed))
    }
}

impl PhyloDeviceState {
    /// Checks whether the device has f16 arithmetic.
    fn has_halves(&self) -> bool {
        let features = self.kernels.gpu.device.features();
        features.contains(wgpu::Features::SHADER_F16)
    }

    /// Returns the variant with this score type and few or many columns, for reads of amino acids
    /// or bases.
    fn variant(&self, numbers: ScoreType, is_wide: bool, is_protein: bool, is_plain: bool) -> BlockVariant {
        let BlockShape { workgroup, columns: [halves, words], chunk } = self.kernels.shape;
        let columns = if numbers == ScoreType::F16 { halves } else { words }[usize::from(is_wide)];
        BlockVariant { numbers, workgroup, columns, chunk, is_plain, is_protein }
    }

    /// Checks whether the variant with many columns is faster for the reads of a batch.
    fn is_wide(&self, numbers: ScoreType, batch: &PhyloBatch) -> bool {
        let padded = |is_wide: bool| {
            let variant = self.variant(numbers, is_wide, false, false);
            let padded_columns = |block: &PhyloBlock| {
                u64::from(variant.padded(batch.chunk.reads.length(block.read))) * block.positions.len() as u64
            };
            batch.blocks.iter().map(padded_columns).sum::<u64>() as f64
        };
        padded(true) < WIDE_GAIN * padded(false)
    }

    /// Returns the possible score types for a batch. The first one is preferred.
    fn candidates(
        &self,
        kernel: Option<&'static Kernel>,
        batch: &PhyloBatch,
    ) -> Result<Vec<CandidateKernel<ScoreType>>> {
        let named = kernel.map(|kernel| match kernel.kind {
            KernelKind::Block(numbers) => numbers,
            _ => ScoreType::I32,
        });
        let is_usual = self.kernels.loop_budget.is_none();
        let suits = |numbers: ScoreType| match numbers {
            ScoreType::I32 => named.is_none_or(|named| named == numbers),
            ScoreType::F16 => self.has_halves() && (named == Some(numbers) || named.is_none() && is_usual),
        };
        let cells = batch.cells() as f64;
        let work = WorkEstimate { cells, dispatches: 1.0, ..WorkEstimate::default() };
        let candidate = |numbers: ScoreType| {
            let full = if numbers == ScoreType::F16 { 2.0 * self.assumed } else { self.assumed };
            CandidateKernel { way: numbers, work, assumed: Speed { full, lone: full / 1e4 } }
        };
        let all: Vec<_> =
            [ScoreType::F16, ScoreType::I32].into_iter().filter(|&way| suits(way)).map(candidate).collect();
        match all.is_empty() {
            true => Err(self.kernels.gpu.refusal("it has no f16 arithmetic")),
            false => Ok(all),
        }
    }
}

has_kernel_set!(PhyloDeviceState, BlockVariant, BlockShape);

impl GpuKind for Phylo {
    type Choice = PhyloChoice;
    type DeviceState = PhyloDeviceState;
    type Slot = Buffers;

    const FIRST_SECONDS: f64 = FIRST_SECONDS;
    const MAX_PAIRS: u64 = MAX_PAIRS;

    /// Returns the number of pairs that keep the device busy. An invocation takes some hundredths
    /// of a second for a read of a few hundred symbols, even if it runs alone.
    fn fill(host: &PhyloDeviceState) -> u64 {
        host.fill
    }

    fn resident_bytes(memory: u64) -> u64 {
        memory / 2
    }

    fn choose(
        host: &mut PhyloDeviceState,
        site: &mut BatchContext<'_>,
        batch: &Arc<PhyloBatch>,
    ) -> Result<PhyloChoice> {
        let bytes: &[u8] = match batch.chunk.vectors.cells() {
            StateCells::Bytes(bytes) => bytes,
            StateCells::Words(words) => bytemuck::cast_slice(words),
        };
        let vectors =
            host.kernels.resident(site.residents, &batch.chunk.vectors, "ancestral states", bytes, site.memory / 2)?;
        let candidates = host.candidates(site.kernel, batch)?;
        let remaining = if candidates.len() == 1 { 0 } else { site.remaining_cells };
        let index = host.chooser.pick(&candidates, batch.cells(), remaining);
        let way = index
            .map(|index| candidates[index])
            .ok_or_else(|| host.kernels.gpu.refusal("no kernel suits the batch"))?;
        let (scheme, is_protein) = (&batch.chunk.scheme, batch.chunk.vectors.alphabet() != Alphabet::Dna);
        let mut too_long = None;
        for block in &batch.blocks {
            let symbols = batch.chunk.reads.length(block.read);
            if !host.variant(ScoreType::I32, true, is_protein, false).holds(symbols, scheme) {
                too_long = Some(symbols);
            }
        }
        if let Some(symbols) = too_long {
            return Err(host.kernels.gpu.refusal(format!("scores of a read of {symbols} symbols exceed 32 bits")));
        }
        let is_wide = [way.way, ScoreType::I32].map(|numbers| (numbers, host.is_wide(numbers, batch)));
        let tasks = BlockTasks::new(batch, |codes, is_plain| {
            let [preferred, words] =
                is_wide.map(|(numbers, is_wide)| host.variant(numbers, is_wide, is_protein, is_plain));
            // Scores of a long read may not fit f16 lanes.
            if preferred.holds(codes.len() as u32, scheme) { preferred } else { words }
        });
        Ok(PhyloChoice { vectors, tasks, way })
    }

    fn record(
        host: &mut PhyloDeviceState,
        site: &mut BatchContext<'_>,
        buffers: &mut Buffers,
        batch: &Arc<PhyloBatch>,
        chosen: &mut PhyloChoice,
    ) -> Result<()> {
        let mut programs = Vec::with_capacity(chosen.tasks.launches.len());
        for launch in &chosen.tasks.launches {
            programs.push(host.kernels.get(launch.variant)?);
        }
        let work = BlockWork {
            vectors: &chosen.vectors.buffer,
            tasks: &chosen.tasks,
            programs: &programs,
            scratch_budget: MemoryShares::new(site.memory).scratch_bytes.min(host.kernels.binding),
            max_groups: MAX_GROUPS,
            loop_budget: host.kernels.loop_budget,
        };
        dispatch::record(&host.kernels.gpu, buffers, batch, &work)
    }

    fn decode(
        _host: &mut PhyloDeviceState,
        _buffers: &mut Buffers,
        batch: &Arc<PhyloBatch>,
        _chosen: &PhyloChoice,
        results: BatchResults,
    ) -> Result<PhyloReport> {
        let (eights, _) = results.words[..OCTET * batch.pairs() as usize].as_chunks::<OCTET>();
        let scores = eights.iter().map(|eight| eight.map(|word| word as i32)).collect();
        Ok(PhyloReport { scores, unfinished: Vec::new(), kernel_time: results.kernel_time })
    }

    fn learn(
        host: &mut PhyloDeviceState,
        _kernel: Option<&'static Kernel>,
        _batch: &PhyloBatch,
        chosen: &PhyloChoice,
        report: &PhyloReport,
    ) -> Option<f64> {
        if let Some(time) = report.kernel_time {
            host.chooser.learn(&chosen.way, time.as_secs_f64());
        }
        None
    }

    fn trial_seconds(host: &PhyloDeviceState) -> Option<f64> {
        host.chooser.trial_seconds()
    }

    fn unfinished_report(batch: &PhyloBatch) -> PhyloReport {
        PhyloReport {
            scores: vec![[0; OCTET]; batch.pairs() as usize],
            unfinished: (0..batch.blocks.len()).collect(),
            kernel_time: None,
        }
    }
}

const _: () = assert!(LANES * 2 == OCTET as u32);
