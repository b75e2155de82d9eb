//! The GPU engine for Levenshtein distances: texts and query profiles stay on the device, batches of pairs go through two
//! slots in turn.

mod choice;
mod dispatch;
mod pieces;
mod resident;
mod slot;
mod staging;
mod trials;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

pub use self::choice::EditShape;
use self::choice::{Extent, choose, longest_text, others};
use self::pieces::Pieces;
use self::resident::{ResidentProfiles, ResidentTexts};
use self::slot::{EditSlot, EditWork};
use self::trials::{TRIAL_SECONDS, Trials};
use super::kernels::myers::Variant;
use super::{Edit, EditBand, EditBatch, EditReport};
use crate::engine::{Capacity, Engine, Ticket, thread_pool};
use crate::error::Result;
use crate::gpu::adapter::{self, FoundAdapter};
use crate::gpu::device::Gpu;
use crate::gpu::kernels::Kernel;
use crate::gpu::memory::Shares;
use crate::gpu::pipeline::Pipelines;
use crate::gpu::{BATCH_SECONDS, LLVMPIPE_LOOP_ITERATIONS};

/// Seconds of work that the first batch should be.
const FIRST_SECONDS: f64 = 0.01;
/// Pairs a batch at most: their lists and results take 64 MiB, and are made while the device computes the batch before.
const MAX_PAIRS: u64 = 4 << 20;

/// A batch that the device computes.
struct Flight {
    slot: usize,
    cells: u64,
    /// If it was cut.
    pieces: Option<Pieces>,
    /// The way that was expected to be fastest, and the one that was taken.
    ways: [Variant; 2],
}

/// A GPU that computes Levenshtein distances.
pub struct EditGpu {
    gpu: Gpu,
    pipelines: Pipelines<Variant>,
    texts: Option<ResidentTexts>,
    profiles: Option<ResidentProfiles>,
    /// Length of the longest text of the band that the last batch was of.
    longest: Option<(Arc<EditBand>, u32)>,
    slots: Vec<EditSlot>,
    free_slots: Vec<usize>,
    in_flight: HashMap<Ticket, Flight>,
    next_ticket: u64,
    shape: EditShape,
    trials: Trials,
    kernel: Option<&'static Kernel>,
    memory: u64,
    binding: u64,
    loop_budget: Option<u64>,
    speed: f64,
    has_learnt: bool,
    /// Threads that share the work on the host; `None` until it is needed or was given.
    pool: Option<Arc<rayon::ThreadPool>>,
}

impl EditGpu {
    /// Opens an adapter.
    pub fn open(found: &FoundAdapter) -> Result<Self> {
        let gpu = Gpu::open(found)?;
        let limits = gpu.device.limits();
        let assumed_speed = match found.description.kind {
            "discrete" | "virtual" => 2e12,
            "integrated" => 2e11,
            _ => 2e9,
        };
        let slots: Vec<EditSlot> = (0..2).map(|_| EditSlot::new(&gpu)).collect();
        Ok(EditGpu {
            pipelines: Pipelines::default(),
            texts: None,
            profiles: None,
            longest: None,
            free_slots: (0..slots.len()).rev().collect(),
            slots,
            in_flight: HashMap::new(),
            next_ticket: 0,
            shape: EditShape::for_adapter(found, &gpu.device),
            trials: Trials::default(),
            kernel: None,
            memory: adapter::memory_budget(found, None),
            binding: limits.max_storage_buffer_binding_size.min(limits.max_buffer_size) & !15,
            loop_budget: found.description.driver.contains("llvmpipe").then_some(LLVMPIPE_LOOP_ITERATIONS),
            speed: assumed_speed,
            has_learnt: false,
            pool: None,
            gpu,
        })
    }

    /// Takes at most this many bytes of the device's memory, in all its buffers together.
    pub fn with_memory(mut self, bytes: u64) -> Self {
        self.memory = self.memory.min(bytes);
        self
    }

    /// Shares its work on the host, lists and results of batches, among the threads of this pool; else it has as many of its
    /// own as there are processors. Nobody may wait for it on a thread of the pool.
    pub fn with_pool(mut self, pool: Arc<rayon::ThreadPool>) -> Self {
        self.pool = Some(pool);
        self
    }

    /// The threads that share the work on the host.
    fn pool(&mut self) -> Result<Arc<rayon::ThreadPool>> {
        let pool = match self.pool.take() {
            Some(pool) => pool,
            None => thread_pool(0)?,
        };
        Ok(Arc::clone(self.pool.insert(pool)))
    }

    /// Uses this kernel for every batch; `None` for the one that is expected to be fastest.
    pub fn with_kernel(mut self, kernel: Option<&'static Kernel>) -> Self {
        self.kernel = kernel;
        self
    }

    /// Sizes of the kernels.
    pub fn with_shape(mut self, shape: EditShape) -> Self {
        self.shape = shape;
        self
    }

    /// Compiles shaders with wgpu's bounds and loop checks (slower; for tests).
    pub fn with_runtime_checks(mut self) -> Self {
        self.pipelines = self.pipelines.with_runtime_checks();
        self
    }

    /// Changes the texts of shaders before they are compiled (for tests of hardware that is not there).
    pub fn with_rewritten_shaders(mut self, rewrite: Box<dyn Fn(String) -> String + Send>) -> Self {
        self.pipelines = self.pipelines.with_rewrite(rewrite);
        self
    }

    /// The opened device.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Sees to it that texts and profiles of a batch are on the device.
    fn make_resident(&mut self, batch: &EditBatch, pool: &rayon::ThreadPool) -> Result<()> {
        let band = &batch.band;
        let equality = &band.scheme.equality;
        let limit = self.binding.min(self.memory / 4);
        if !self.texts.as_ref().is_some_and(|texts| texts.is_of(&band.texts, equality)) {
            // The old ones go first, so that both need not fit at once.
            (self.texts, self.profiles) = (None, None);
            self.texts = Some(ResidentTexts::new(&self.gpu, pool, &band.texts, equality, limit)?);
        }
        let Some(texts) = &self.texts else { return Err(self.gpu.error("no texts")) };
        let mode = band.scheme.mode;
        if !self.profiles.as_ref().is_some_and(|profiles| profiles.is_of(&band.patterns, &texts.coding, mode)) {
            self.profiles = None;
            let profiles = ResidentProfiles::new(&self.gpu, pool, &band.patterns, &texts.coding, &band.scheme, limit)?;
            self.profiles = Some(profiles);
        }
        Ok(())
    }

    fn start(&mut self, slot: usize, batch: &Arc<EditBatch>) -> Result<(Option<Pieces>, [Variant; 2])> {
        let pool = self.pool()?;
        self.make_resident(batch, &pool)?;
        let longest = match &self.longest {
            Some((band, longest)) if Arc::ptr_eq(band, &batch.band) => *longest,
            _ => pool.install(|| longest_text(&batch.band)),
        };
        self.longest = Some((Arc::clone(&batch.band), longest));
        let mut extent = pool.install(|| Extent::of(batch, longest));
        let pieces = Pieces::cut(batch, extent.text_symbols);
        let batch = pieces.as_ref().map_or(batch, |pieces| &pieces.batch);
        if pieces.is_some() {
            extent = pool.install(|| Extent::of(batch, longest_text(&batch.band)));
        }
        let Some(texts) = &self.texts else { return Err(self.gpu.error("no texts")) };
        let (mode, shape) = (batch.band.scheme.mode, &self.shape);
        let usual = choose(&self.gpu, shape, self.kernel, (mode, extent), &texts.coding, self.loop_budget)?;
        let is_fixed = self.kernel.is_some() || shape.lanes.is_some() || self.loop_budget.is_some();
        let variant =
            if is_fixed { usual } else { self.trials.pick(usual, || others(&self.gpu, &self.shape, &usual, extent)) };
        let program = self.pipelines.get(&self.gpu, variant)?;
        let (Some(texts), Some(profiles)) = (&self.texts, &self.profiles) else {
            return Err(self.gpu.error("no texts"));
        };
        let work = EditWork {
            texts,
            profiles,
            program: &program,
            variant,
            scratch_budget: Shares::of(self.memory).scratch_bytes.min(self.binding),
            extent,
            pool: &pool,
            columns: self.loop_budget.map_or(u32::MAX, choice::columns_within).min(self.shape.dispatch_columns),
        };
        self.slots[slot].start(&self.gpu, batch, &work)?;
        Ok((pieces, [usual, variant]))
    }
}

impl Engine<Edit> for EditGpu {
    fn name(&self) -> &str {
        self.gpu.label()
    }

    fn capacity(&self) -> Capacity {
        let seconds = match () {
            () if !self.has_learnt => FIRST_SECONDS,
            () if self.trials.is_trying() => TRIAL_SECONDS,
            () => BATCH_SECONDS,
        };
        Capacity {
            cells: (self.speed * seconds) as u64,
            pairs: MAX_PAIRS.min(Shares::of(self.memory).pairs),
            store_bytes: u64::MAX,
            batches: if self.has_learnt { 2 } else { 1 },
        }
    }

    fn usual_cells(&self) -> u64 {
        (self.speed * BATCH_SECONDS) as u64
    }

    fn submit(&mut self, batch: Arc<EditBatch>) -> Result<Ticket> {
        self.gpu.check()?;
        let Some(index) = self.free_slots.pop() else {
            return Err(self.gpu.error("more batches than slots"));
        };
        let (pieces, ways) = match self.start(index, &batch) {
            Ok(started) => started,
            Err(error) => {
                self.free_slots.push(index);
                return Err(error);
            }
        };
        let ticket = Ticket(self.next_ticket);
        self.next_ticket += 1;
        self.in_flight.insert(ticket, Flight { slot: index, cells: batch.cells(), pieces, ways });
        Ok(ticket)
    }

    fn collect(&mut self, ticket: Ticket) -> Result<EditReport> {
        let pool = self.pool()?;
        let Some(Flight { slot, cells, pieces, ways: [usual, way] }) = self.in_flight.remove(&ticket) else {
            return Err(self.gpu.error("a ticket that was never given"));
        };
        self.free_slots.push(slot);
        self.has_learnt = true;
        let limit = Duration::from_secs(60) + Duration::from_secs_f64(cells as f64 / self.speed) * 50;
        let mut report = self.slots[slot].finish(&self.gpu, &pool, limit)?;
        if let Some(pieces) = pieces {
            report.found = pieces.join(&report.found);
        }
        if let Some(seconds) = report.kernel_time.map(|time| time.as_secs_f64()) {
            self.trials.learn(usual, way, cells, seconds);
            let shown = cells as f64 / seconds.max(1e-4);
            // A short batch says no more than what the device can do at least.
            self.speed = if seconds > 0.2 * BATCH_SECONDS { shown } else { self.speed.max(shown) };
        }
        Ok(report)
    }
}
