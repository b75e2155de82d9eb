//! A worked example for newcomers: Hamming distances as a new kind of work, on CPU threads and on
//! GPUs.
//!
//! The example contains all parts of a kind of work, from top to bottom: the work, the oracle, the
//! CPU engine, the kernel, the GPU engine, and a function that runs them. An oracle is the simplest
//! correct implementation, against which tests compare all engines. A real kind keeps each part in
//! a separate file, puts its shader into `shaders/`, and adds the kernel's row to
//! [`KERNELS`](super::kernels::KERNELS) (CONTRIBUTING.md, "Adding a kind of work"). The example
//! [`jobs::example`](crate::jobs::example) is a job that computes this kind of work.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::adapter::{self, FoundAdapter};
use super::device::Gpu;
use super::engine::{BatchContext, GpuEngine, GpuKind};
use super::kernel_set::{KernelSet, KernelSizes, has_kernel_set};
use super::kernels::{Access, Binding, Kernel, KernelKind, KernelProgram, LaneGrouping};
use super::launch::{BatchResults, Buffers};
use super::memory;
use super::source::Constants;
use crate::engine::owner::{self, Control};
use crate::engine::thread_engine::{CpuKind, thread_engines};
use crate::engine::{Batch, BatchReport, Engine, Portion, Work, check};
use crate::error::Result;

// ---- The work: the data that batches share, a block of pairs, and the report of a batch.

/// Hamming distances of pairs of texts of equal length.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hamming;

/// Texts of equal length, stored one after the other. Pair `k` consists of the texts `2 k` and
/// `2 k + 1`.
#[derive(Debug)]
pub(crate) struct HammingTexts {
    pub(crate) texts: Arc<[u32]>,
    /// Length of a text in symbols.
    pub(crate) symbols: u32,
}

/// Consecutive pairs.
#[derive(Debug, Clone)]
pub(crate) struct HammingBlock {
    /// Index of the first pair.
    pub(crate) first_pair: u32,
    /// Number of pairs.
    pub(crate) pairs: u32,
    /// Length of a text in symbols.
    pub(crate) symbols: u32,
}

/// Results of a batch.
#[derive(Debug, Default)]
pub(crate) struct HammingReport {
    /// One distance for each pair, in the order of the batch's blocks.
    pub(crate) distances: Vec<u32>,
    /// Indices of the blocks that the engine did not finish: none or all.
    unfinished: Vec<usize>,
    /// Time in the kernel, if it was measured.
    kernel_time: Option<Duration>,
}

impl BatchReport for HammingReport {
    fn unfinished(&self) -> &[usize] {
        &self.unfinished
    }

    fn kernel_time(&self) -> Option<Duration> {
        self.kernel_time
    }
}

impl Work for Hamming {
    type Chunk = HammingTexts;
    type Block = HammingBlock;
    type Class = ();
    type Report = HammingReport;

    fn pairs(block: &HammingBlock) -> u64 {
        block.pairs.into()
    }

    fn cells(block: &HammingBlock) -> u64 {
        u64::from(block.pairs) * u64::from(block.symbols)
    }

    fn first_cells(_texts: &HammingTexts, block: &HammingBlock) -> Option<u64> {
        (block.pairs > 0).then_some(block.symbols.into())
    }

    fn one_block(_texts: &HammingTexts, _store_bytes: u64) -> bool {
        false
    }

    fn split(_texts: &HammingTexts, block: HammingBlock, portion: Portion) -> (HammingBlock, Option<HammingBlock>) {
        let pairs = (portion.cells / u64::from(block.symbols.max(1))).min(portion.pairs).max(1);
        let pairs = pairs.min(block.pairs.into()) as u32;
        let rest = HammingBlock { first_pair: block.first_pair + pairs, pairs: block.pairs - pairs, ..block };
        (HammingBlock { pairs, ..block }, (rest.pairs > 0).then_some(rest))
    }

    fn check(batch: &Batch<Self>, report: &HammingReport) -> Result<(), String> {
        check::finished(batch.blocks.len(), &report.unfinished)?;
        let is_complete = report.distances.len() as u64 == batch.pairs();
        let is_possible = report.distances.iter().all(|&distance| distance <= batch.chunk.symbols);
        (is_complete && is_possible)
            .then_some(())
            .ok_or_else(|| "the distances are incomplete or exceed the length of the texts".into())
    }
}

// ---- The oracle: the definition in its simplest form. Both engines must match it.

/// Returns the number of positions where two texts differ.
pub(crate) fn hamming(first: &[u32], second: &[u32]) -> u32 {
    first.iter().zip(second).filter(|(a, b)| a != b).count() as u32
}

impl HammingTexts {
    /// Returns the two texts of a pair.
    pub(crate) fn pair(&self, pair: u32) -> (&[u32], &[u32]) {
        let symbols = self.symbols as usize;
        self.texts[2 * pair as usize * symbols..][..2 * symbols].split_at(symbols)
    }
}

/// Returns the pairs of a batch in their order.
pub(crate) fn pairs(batch: &Batch<Hamming>) -> impl Iterator<Item = u32> {
    batch.blocks.iter().flat_map(|block| block.first_pair..block.first_pair + block.pairs)
}

// ---- The CPU engine: one thread computes a batch. A real kind uses the vectors of `simd`.

impl CpuKind for Hamming {
    type Scratch = ();

    const CELLS: u64 = 1 << 20;
    const PAIRS: u64 = 1 << 12;
    const GROUP_PAIRS: u64 = 1;

    fn compute(batch: &Batch<Self>, _scratch: &mut (), _interrupt: &AtomicBool) -> Result<HammingReport> {
        let distance = |pair| {
            let (first, second) = batch.chunk.pair(pair);
            first.iter().zip(second).map(|(a, b)| u32::from(a != b)).sum()
        };
        Ok(HammingReport { distances: pairs(batch).map(distance).collect(), ..HammingReport::default() })
    }
}

// ---- The kernel: its parameters, its row, and the program that is compiled from it.

/// Parameters of a dispatch. They match the struct `Params` of the shader.
#[repr(C)]
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct HammingParams {
    pairs: u32,
    symbols: u32,
    reserved: [u32; 2],
}

pub(crate) static KERNEL: Kernel = Kernel {
    stem: "hamming",
    shader: include_str!("example/hamming.wgsl"),
    // A real kernel adds its own kind to `KernelKind`.
    kind: KernelKind::Edit(LaneGrouping::Thread),
    bindings: &[
        Binding { number: 0, name: "params", access: Access::Uniform(size_of::<HammingParams>() as u64) },
        Binding { number: 1, name: "texts", access: Access::Read },
        Binding { number: 2, name: "pairs", access: Access::Read },
        Binding { number: 3, name: "out", access: Access::Write },
    ],
    features: wgpu::Features::empty(),
    recurrence: "hamming",
    summary: "Hamming distances, one pair per invocation",
};

/// The kernel with its constants: one pipeline is compiled for each distinct value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct HammingProgram {
    /// Number of invocations in a workgroup.
    workgroup: u32,
}

impl KernelProgram for HammingProgram {
    fn kernel(&self) -> &'static Kernel {
        &KERNEL
    }

    fn workgroup_memory(&self) -> u32 {
        0
    }

    fn constants(&self) -> Constants {
        Constants::default().number("WORKGROUP", self.workgroup)
    }
}

// ---- The GPU engine: the sizes of the kernel, the state on a device, and how a batch is recorded
// and decoded. `GpuEngine` provides everything else: slots, tickets, batch sizes, recovery from
// memory shortage, and the fall-back to other engines.

/// Sizes of the kernel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HammingSizes {
    /// Number of invocations in a workgroup.
    workgroup: u32,
}

impl KernelSizes for HammingSizes {
    fn for_adapter(adapter: &FoundAdapter, _gpu: &Gpu) -> Self {
        HammingSizes { workgroup: if adapter.is_software() { 16 } else { 64 } }
    }
}

/// State of the kind on a device.
pub(crate) struct HammingState {
    kernels: KernelSet<HammingProgram, HammingSizes>,
}

has_kernel_set!(HammingState, HammingProgram, HammingSizes);

/// Opens an adapter as an engine.
pub(crate) fn open_gpu(adapter: &FoundAdapter) -> Result<GpuEngine<Hamming>> {
    let gpu = Gpu::open(adapter)?;
    let state = HammingState { kernels: KernelSet::new(&gpu, adapter) };
    // Expected speed in cells per second, until the first batch is measured.
    let speed = adapter.description.select_by_kind(1e11, 1e10, 1e8);
    Ok(GpuEngine::new(gpu, state, memory::memory_budget(adapter, None), speed))
}

impl GpuKind for Hamming {
    type Choice = ();
    type DeviceState = HammingState;
    type Slot = Buffers;

    const FIRST_SECONDS: f64 = 0.01;
    const MAX_PAIRS: u64 = 1 << 20;

    fn resident_bytes(memory: u64) -> u64 {
        memory / 2
    }

    fn choose(_host: &mut HammingState, _site: &mut BatchContext<'_>, _batch: &Arc<Batch<Self>>) -> Result<()> {
        Ok(())
    }

    fn record(
        state: &mut HammingState,
        context: &mut BatchContext<'_>,
        buffers: &mut Buffers,
        batch: &Arc<Batch<Self>>,
        _choice: &mut (),
    ) -> Result<()> {
        let workgroup = state.kernels.shape.workgroup;
        let program = state.kernels.get(HammingProgram { workgroup })?;
        let HammingTexts { texts, symbols } = &*batch.chunk;
        // The texts stay on the device: later batches of the same chunk use them again.
        let bytes = bytemuck::cast_slice(texts);
        let resident = state.kernels.resident(context.residents, texts, "texts", bytes, context.memory / 2)?;
        let mut recording = buffers.record(&state.kernels.gpu);
        recording.resident("texts", &resident.buffer);
        let pairs: Vec<u32> = pairs(batch).collect();
        recording.upload("pairs", &pairs)?;
        let bytes = 4 * pairs.len() as u64;
        recording.reserve("out", bytes)?;
        let params = HammingParams { pairs: pairs.len() as u32, symbols: *symbols, reserved: [0; 2] };
        recording.dispatch(&program, &params, params.pairs.div_ceil(workgroup).into());
        recording.copy_back("out", 0..bytes)?;
        recording.submit("hamming")
    }

    fn decode(
        _host: &mut HammingState,
        _buffers: &mut Buffers,
        _batch: &Arc<Batch<Self>>,
        _choice: &(),
        results: BatchResults,
    ) -> Result<HammingReport> {
        let distances = results.words.to_vec();
        Ok(HammingReport { distances, unfinished: Vec::new(), kernel_time: results.kernel_time })
    }

    fn unfinished_report(batch: &Batch<Self>) -> HammingReport {
        let distances = vec![0; batch.pairs() as usize];
        HammingReport { distances, unfinished: (0..batch.blocks.len()).collect(), kernel_time: None }
    }
}

// ---- A run: the queue hands a chunk with its blocks to all engines, and results arrive as they
// are finished.

/// Returns the distances of all pairs, computed by these engines.
fn distances(engines: Vec<Box<dyn Engine<Hamming>>>, texts: HammingTexts) -> Result<Vec<u32>> {
    let (symbols, count) = (texts.symbols, texts.texts.len() as u32 / texts.symbols / 2);
    let blocks = vec![((), HammingBlock { first_pair: 0, pairs: count, symbols })];
    let chunks = std::iter::once((0..1, Arc::new(texts), blocks));
    let mut distances = vec![0; count as usize];
    let control = Control::default();
    owner::run(engines, Vec::new, chunks, u64::from(symbols) * u64::from(count), &control, |outcome| {
        for (pair, distance) in pairs(&outcome.batch).zip(outcome.report.distances) {
            distances[pair as usize] = distance;
        }
        Ok(())
    })?;
    Ok(distances)
}

/// Returns texts with random symbols of a four-letter alphabet.
pub(crate) fn random_texts(pairs: u32, symbols: u32) -> HammingTexts {
    let mut state = 0x5eed_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 30
    };
    HammingTexts { texts: (0..2 * pairs * symbols).map(|_| next()).collect(), symbols }
}

#[test]
fn threads_and_gpu_match_the_oracle_alone_and_together() {
    let adapter = adapter::enumerate().into_iter().next();
    let adapter = adapter.expect("no adapter runs compute shaders here (Debian: mesa-vulkan-drivers)");
    let gpu = || vec![Box::new(open_gpu(&adapter).expect("the adapter opens")) as Box<dyn Engine<Hamming>>];
    let cpu = || thread_engines::<Hamming>(2, &Arc::default());
    for (pairs, symbols) in [(1, 1), (15, 7), (16, 31), (17, 100), (20_000, 33)] {
        let texts = random_texts(pairs, symbols);
        let expected: Vec<u32> = (0..pairs)
            .map(|pair| {
                let (first, second) = texts.pair(pair);
                hamming(first, second)
            })
            .collect();
        for engines in [cpu(), gpu(), cpu().into_iter().chain(gpu()).collect()] {
            let computed = distances(engines, random_texts(pairs, symbols)).expect("the engines compute");
            assert!(computed == expected, "{pairs} pairs of {symbols} symbols");
        }
    }
}
