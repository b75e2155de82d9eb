//! ClustalW's pairwise stage on a GPU: what [`crate::gpu::engine::GpuEngine`] has to know of it. Sequences stay on the device.

mod slot;

use std::sync::Arc;
use std::time::Duration;

use self::slot::{ClustalSlot, SlotWork};
use super::kernels::program::{Pass, Variant};
use super::kernels::tasks::Tasks;
use super::{Clustal, ClustalBatch, ClustalReport, PairIdentities};
use crate::error::Result;
use crate::gpu::LLVMPIPE_LOOP_ITERATIONS;
use crate::gpu::adapter::{self, FoundAdapter};
use crate::gpu::choosing::{Candidate, Chooser, Speed, Work};
use crate::gpu::device::Gpu;
use crate::gpu::engine::{self, GpuKind, Site};
use crate::gpu::kernels::{Kernel, Kind, Step};
use crate::gpu::memory::Shares;
use crate::gpu::pipeline::{Pipelines, Rewrite};
use crate::gpu::resident::Residents;
use crate::seq::{Alphabet, SequenceStore};

/// Seconds of work that the first batch should be.
const FIRST_SECONDS: f64 = 0.05;
/// Pairs of a batch at most: their lists, what is found of them and what is read back take 90 bytes each.
const MAX_PAIRS: u64 = 1 << 21;
/// Seconds that a batch has to take for its speed to tell anything.
const TELLING_SECONDS: f64 = 0.005;
/// Workgroups of one dispatch that have scratch memory of their own, at most.
const MOST_GROUPS: u64 = 1 << 12;

/// A GPU that finds the identities of pairs.
pub type ClustalGpu = engine::GpuEngine<Clustal>;

/// Sizes of the kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClustalShape {
    /// Invocations a workgroup where one has a pair.
    pub workgroup: u32,
    /// Columns of a slice of scores, in fours.
    pub score_columns: u32,
    /// Columns of a slice of scores with identities, in twos.
    pub key_columns: u32,
    /// Invocations a workgroup that has a pair.
    pub cooperative: u32,
    /// Rows of each of them.
    pub rows: u32,
}

/// How a batch is computed: in slices, where they fit, or by a workgroup a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Way {
    /// `sw_ends`, `sw_identities`.
    Slices,
    /// `sw_ends` both ways, `nw_forward_reverse`.
    Rectangles,
    /// `sw_ends` alone, which finishes no pair: to be measured.
    Ends,
}

/// What the room has on a device, whatever batches are in flight.
pub struct ClustalHost {
    gpu: Gpu,
    pipelines: Pipelines<Variant>,
    shape: ClustalShape,
    chooser: Chooser<Way>,
    assumed: f64,
    /// Pairs that keep the device busy.
    fill: u64,
    binding: u64,
    loop_budget: Option<u64>,
}

/// Sequences on the device.
struct ResidentSequences {
    buffer: wgpu::Buffer,
}

/// How a batch is computed, and what it uses.
pub struct Chosen {
    sequences: Arc<ResidentSequences>,
    table: wgpu::Buffer,
    tasks: Tasks,
    way: Candidate<Way>,
}

impl ClustalGpu {
    /// Opens an adapter.
    pub fn open(found: &FoundAdapter) -> Result<Self> {
        let gpu = Gpu::open(found)?;
        let limits = gpu.device.limits();
        // Pairs: those that the multiprocessors of a large card, of a small one, or threads hold at once.
        let (assumed, fill) = match found.description.kind {
            "discrete" | "virtual" => (1e12, 1 << 16),
            "integrated" => (5e10, 1 << 10),
            _ => (1e8, 1),
        };
        let usual = |pass, workgroup| Variant::new(pass, Alphabet::Protein, workgroup).size;
        // A workgroup is a subgroup where these are that wide: what it waits for then is its own.
        let workgroup = if found.is_software() { 16 } else { found.adapter.get_info().subgroup_min_size.clamp(32, 64) };
        let shape = ClustalShape {
            workgroup,
            score_columns: usual(Pass::Ends, workgroup),
            key_columns: usual(Pass::Identities, workgroup),
            cooperative: 64,
            rows: usual(Pass::ForwardReverse, workgroup),
        };
        let host = ClustalHost {
            pipelines: Pipelines::default(),
            shape,
            chooser: Chooser::new(TELLING_SECONDS, None),
            assumed,
            fill,
            binding: limits.max_storage_buffer_binding_size.min(limits.max_buffer_size) & !15,
            loop_budget: found.description.driver.contains("llvmpipe").then_some(LLVMPIPE_LOOP_ITERATIONS),
            gpu: gpu.clone(),
        };
        Ok(engine::GpuEngine::new(gpu, host, adapter::memory_budget(found, None), assumed))
    }

    /// Sizes of the kernels.
    pub fn with_shape(mut self, shape: ClustalShape) -> Self {
        self.host.shape = shape;
        self
    }

    /// Sizes of the kernels.
    pub fn shape(&self) -> ClustalShape {
        self.host.shape
    }

    /// Compiles shaders with wgpu's bounds and loop checks (slower; for tests).
    pub fn with_runtime_checks(mut self) -> Self {
        self.host.pipelines = self.host.pipelines.with_runtime_checks();
        self
    }

    /// Changes the texts of shaders before they are compiled (for tests of hardware that is not there).
    pub fn with_rewritten_shaders(mut self, rewrite: Rewrite) -> Self {
        self.host.pipelines = self.host.pipelines.with_rewrite(rewrite);
        self
    }
}

impl ClustalHost {
    /// Sequences on the device.
    fn resident(
        &self,
        residents: &mut Residents,
        memory: u64,
        sequences: &Arc<SequenceStore>,
    ) -> Result<Arc<ResidentSequences>> {
        if let Some(found) = residents.find(sequences, |_: &ResidentSequences| true) {
            return Ok(found);
        }
        let bytes = sequences.packed_bytes();
        let (size, limit) = (bytes.len() as u64, self.binding.min(memory / 4));
        if size > limit {
            return Err(self.gpu.unsuited(format!("{size} bytes of sequences exceed its limit of {limit}")));
        }
        residents.make_room(size);
        let buffer = self.gpu.upload("sequences", bytes)?;
        Ok(residents.keep(sequences, buffer.size(), ResidentSequences { buffer }))
    }

    /// The program of a pass.
    fn variant(&self, pass: Pass, alphabet: Alphabet) -> Variant {
        let ClustalShape { workgroup, score_columns, key_columns, cooperative, rows } = self.shape;
        let (workgroup, size) = match pass {
            Pass::Ends | Pass::Starts => (workgroup, score_columns),
            Pass::Identities => (workgroup, key_columns),
            Pass::ForwardReverse => (cooperative, rows),
        };
        Variant { size, ..Variant::new(pass, alphabet, workgroup) }
    }

    /// The ways to compute a batch, of which the first is to be preferred.
    fn candidates(&self, kernel: Option<&'static Kernel>, batch: &ClustalBatch) -> Vec<Candidate<Way>> {
        let named = kernel.map(|kernel| match kernel.kind {
            Kind::Clustal(Step::ForwardReverse) => Way::Rectangles,
            Kind::Clustal(Step::Ends) => Way::Ends,
            _ => Way::Slices,
        });
        let longest = batch.blocks.iter().flat_map(|block| batch.band.pairs(block));
        let cells = |(query, target)| {
            let of = |id| f64::from(batch.band.sequences.length(id));
            of(query) * of(target)
        };
        let chain = longest.map(cells).fold(0.0, f64::max);
        let all = batch.cells() as f64;
        let candidate = |way: Way| {
            let (full, work) = match way {
                // Few pairs wait for one invocation each, twice; or for one, twice, and a workgroup.
                Way::Slices => (self.assumed, Work { cells: all, chain: 2.0 * chain, ..Work::default() }),
                Way::Ends => (2.0 * self.assumed, Work { cells: all, chain, ..Work::default() }),
                Way::Rectangles => (self.assumed / 4.0, Work { cells: all, chain: 2.1 * chain, ..Work::default() }),
            };
            let work = Work { dispatches: 3.0, ..work };
            Candidate { way, work, assumed: Speed { full, lone: self.assumed / 1e4 } }
        };
        let ways = named.map_or(vec![Way::Slices, Way::Rectangles], |named| vec![named]);
        ways.into_iter().map(candidate).collect()
    }
}

impl GpuKind for Clustal {
    type Choice = Chosen;
    type Host = ClustalHost;
    type Slot = ClustalSlot;

    const FIRST_SECONDS: f64 = FIRST_SECONDS;
    const MOST_PAIRS: u64 = MAX_PAIRS;

    /// A pair of some hundred symbols takes an invocation some hundredths of a second, alone or not.
    fn fill(host: &ClustalHost) -> u64 {
        host.fill
    }

    fn slot(gpu: &Gpu) -> ClustalSlot {
        ClustalSlot::new(gpu)
    }

    fn resident_bytes(memory: u64) -> u64 {
        memory / 4
    }

    fn store_bytes(_host: &ClustalHost) -> u64 {
        u64::MAX
    }

    fn release_slot(slot: &mut ClustalSlot) {
        slot.release();
    }

    fn choose(host: &mut ClustalHost, site: &mut Site<'_>, batch: &Arc<ClustalBatch>) -> Result<Chosen> {
        let sequences = &batch.band.sequences;
        let resident = host.resident(site.residents, site.memory, sequences)?;
        let candidates = host.candidates(site.kernel, batch);
        let place = host.chooser.pick(&candidates, batch.cells(), site.remaining_cells);
        let way = place.map(|place| candidates[place]).ok_or_else(|| host.gpu.unsuited("no kernel suits the batch"))?;
        let tasks = Tasks::new(batch, |pass| host.variant(pass, sequences.alphabet()), way.way == Way::Rectangles);
        let mut tasks = tasks.ok_or_else(|| host.gpu.unsuited("scores exceed 32 bits"))?;
        if way.way == Way::Ends {
            tasks.launches.retain(|launch| launch.variant.pass == Pass::Ends);
        }
        let table = host.gpu.upload("scores", bytemuck::cast_slice(&tasks.units.table))?;
        Ok(Chosen { sequences: resident, table, tasks, way })
    }

    fn record(
        host: &mut ClustalHost,
        site: &mut Site<'_>,
        slot: &mut ClustalSlot,
        _batch: &Arc<ClustalBatch>,
        chosen: &mut Chosen,
    ) -> Result<()> {
        let mut programs = Vec::with_capacity(chosen.tasks.launches.len());
        for launch in &chosen.tasks.launches {
            programs.push(host.pipelines.get(&host.gpu, launch.variant)?);
        }
        let work = SlotWork {
            symbols: &chosen.sequences.buffer,
            table: &chosen.table,
            tasks: &chosen.tasks,
            programs: &programs,
            scratch_budget: Shares::of(site.memory).scratch_bytes.min(host.binding),
            most_groups: MOST_GROUPS,
            loop_budget: host.loop_budget,
        };
        slot.start(&host.gpu, &work)
    }

    fn finish(
        host: &mut ClustalHost,
        slot: &mut ClustalSlot,
        batch: &Arc<ClustalBatch>,
        chosen: &Chosen,
        limit: Duration,
    ) -> Result<ClustalReport> {
        let report = slot.finish(&host.gpu, &chosen.tasks, limit)?;
        match chosen.way.way {
            Way::Ends => Ok(ClustalReport { kernel_time: report.kernel_time, ..Self::nothing_of(batch) }),
            _ => Ok(report),
        }
    }

    fn learn(
        host: &mut ClustalHost,
        _kernel: Option<&'static Kernel>,
        _batch: &ClustalBatch,
        chosen: &Chosen,
        report: &ClustalReport,
    ) -> Option<f64> {
        if let Some(time) = report.kernel_time {
            host.chooser.learn(&chosen.way, time.as_secs_f64());
        }
        None
    }

    fn nothing_of(batch: &ClustalBatch) -> ClustalReport {
        ClustalReport {
            identities: vec![PairIdentities::default(); batch.pairs() as usize],
            unfinished: (0..batch.blocks.len()).collect(),
            kernel_time: None,
        }
    }
}
