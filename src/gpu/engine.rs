//! The general engine for GPUs. A [`GpuKind`] defines how its batches are recorded and decoded.
//!
//! Batches go through two slots, each with its own buffers. While the device computes one batch,
//! the host prepares the next batch and reads the results of the last one (the dual buffering of
//! Truong et al. 2014, section 5.4 and figure 6a). Data that several batches use stays on the
//! device ([`Residents`]).

mod stages;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use self::stages::{BatchStage, PendingBatch};
pub use self::stages::{FinishedBatch, FollowUp};
use super::BATCH_SECONDS;
use super::device::Gpu;
use super::kernels::Kernel;
use super::launch::{BatchResults, Slot};
use super::memory::MemoryShares;
use super::resident::Residents;
use super::shortage;
use crate::engine::sizing::MinWork;
use crate::engine::{Batch, Capacity, Engine, Ticket, Work};
use crate::error::{Error, Result};

/// Number of batches in flight.
const SLOTS: usize = 2;
/// Seconds of work below which a batch is not worth its launch.
const MIN_SECONDS: f64 = 0.025;
/// Part of the remaining work in the first batch of a GPU with its own memory, and of an integrated
/// GPU, that shares a job with other engines. Tiny batches need kernels that later batches do not
/// use, and each kernel takes up to half a second to compile.
const FIRST_PART_CARD: f64 = 1.0 / 16.0;
const FIRST_PART_INTEGRATED: f64 = 1.0 / 64.0;
/// Smallest duration of a batch that measures the speed of the device, as a fraction of the usual
/// duration.
const MIN_MEASURED_SHARE: f64 = 0.2;

/// A kind of work that GPUs compute.
pub trait GpuKind: Work {
    /// Kernel of a batch with its sizes, and the resident data that the batch uses until it is
    /// finished.
    type Choice: Send;
    /// State on a device that does not belong to a batch in flight: pipelines, sizes of kernels,
    /// scratch memory and measured speeds.
    type DeviceState: Send;
    /// Buffers of a batch in flight.
    type Slot: Slot;

    /// Target duration of the first batch in seconds.
    const FIRST_SECONDS: f64;
    /// Largest number of pairs in a batch.
    const MAX_PAIRS: u64;

    /// Returns the largest number of cells in a batch, as limited by result buffers and scratch
    /// memory.
    fn max_cells(_host: &Self::DeviceState) -> u64 {
        u64::MAX
    }

    /// Returns the number of pairs that fill the device. Fewer pairs take the same time.
    fn fill(_host: &Self::DeviceState) -> u64 {
        0
    }

    /// Returns the number of cells in a batch. Kinds whose batches have many blocks may store the
    /// count.
    fn count_cells(_host: &mut Self::DeviceState, batch: &Batch<Self>) -> Result<u64> {
        Ok(batch.cells())
    }

    /// Returns the bytes for data that stays on the device from batch to batch, given the memory of
    /// the engine in bytes.
    fn resident_bytes(memory: u64) -> u64;

    /// Returns the largest number of bytes of packed sequences in a batch
    /// ([`Capacity::store_bytes`]).
    fn store_bytes(_host: &Self::DeviceState) -> u64 {
        u64::MAX
    }

    /// Reduces the memory limit of the engine to `_bytes` bytes.
    fn limit_memory(_host: &mut Self::DeviceState, _bytes: u64) {}

    /// Frees the scratch memory that all batches share.
    fn release_scratch(_host: &mut Self::DeviceState) {}

    /// Returns the kernel for a batch: the kernel that the user named, or the kernel with the
    /// lowest expected time.
    ///
    /// # Errors
    /// [`Error::Unsuited`] if no kernel can compute the batch.
    fn choose(
        state: &mut Self::DeviceState,
        context: &mut BatchContext<'_>,
        batch: &Arc<Batch<Self>>,
    ) -> Result<Self::Choice>;

    /// Returns another choice for a batch that the chosen kernel cannot compute.
    fn alternative(_choice: Self::Choice) -> Option<Self::Choice> {
        None
    }

    /// Uploads a batch, records its dispatches and the copy of its results, and submits them. Does
    /// not wait.
    fn record(
        state: &mut Self::DeviceState,
        context: &mut BatchContext<'_>,
        slot: &mut Self::Slot,
        batch: &Arc<Batch<Self>>,
        choice: &mut Self::Choice,
    ) -> Result<()>;

    /// Decodes the results of a batch.
    fn decode(
        state: &mut Self::DeviceState,
        slot: &mut Self::Slot,
        batch: &Arc<Batch<Self>>,
        choice: &Self::Choice,
        results: BatchResults,
    ) -> Result<Self::Report>;

    /// Returns a second batch for the slot of a finished one, and its choice. The second batch
    /// contains the work that the first one did not finish. Returns `None` if it does not pay off.
    /// `other_seconds` is the time that the device needs for its other slots. In that time the host
    /// could do the same work.
    ///
    /// # Errors
    /// Any error that prevents the second batch. If the device still works, the first report
    /// remains valid.
    fn follow_up(
        _host: &mut Self::DeviceState,
        _site: &mut BatchContext<'_>,
        _first: FinishedBatch<'_, Self>,
        _other_seconds: f64,
    ) -> Result<Option<FollowUp<Self>>> {
        Ok(None)
    }

    /// Joins the reports of a batch and of its second batch.
    fn join(_first: Self::Report, second: Self::Report) -> Self::Report {
        second
    }

    /// Updates measured speeds with a finished batch. Returns the expected speed of the next batch
    /// in cells per second, if it differs from the speed of this one.
    fn learn(
        _host: &mut Self::DeviceState,
        _kernel: Option<&'static Kernel>,
        _batch: &Batch<Self>,
        _choice: &Self::Choice,
        _report: &Self::Report,
    ) -> Option<f64> {
        None
    }

    /// Returns the target duration of the next batch in seconds, if that batch should be small
    /// because it tries a kernel.
    fn trial_seconds(_host: &Self::DeviceState) -> Option<f64> {
        None
    }

    /// Returns the report of a batch in which no block is finished.
    fn unfinished_report(batch: &Batch<Self>) -> Self::Report;
}

/// The parts of an engine that a kind needs while it chooses a kernel for a batch or records it.
pub struct BatchContext<'a> {
    /// Data that stays on the device.
    pub residents: &'a mut Residents,
    /// Kernel that the user named.
    pub kernel: Option<&'static Kernel>,
    /// Bytes of memory that the engine may use in all.
    pub memory: u64,
    /// Whether memory was short and all unused memory has been freed. A kind that can work with
    /// less memory must then do so.
    pub saves_memory: bool,
    /// Number of cells in the batch.
    pub cells: u64,
    /// Number of cells that the engine may expect to compute after this batch; 0 if unknown.
    pub remaining_cells: u64,
    /// Expected speed in cells per second.
    pub speed: f64,
}

impl BatchContext<'_> {
    /// Returns the expected seconds of this batch.
    pub fn batch_seconds(&self) -> f64 {
        self.cells as f64 / self.speed.max(1.0)
    }

    /// Returns the expected seconds of this batch and of all work after it.
    pub fn remaining_seconds(&self) -> f64 {
        (self.cells as f64 + self.remaining_cells as f64) / self.speed.max(1.0)
    }
}

/// An engine that computes batches on a GPU.
pub struct GpuEngine<K: GpuKind> {
    gpu: Gpu,
    /// State of the kind on the device.
    pub(crate) state: K::DeviceState,
    slots: Vec<K::Slot>,
    free_slots: Vec<usize>,
    in_flight: HashMap<Ticket, PendingBatch<K>>,
    next_ticket: u64,
    residents: Residents,
    kernel: Option<&'static Kernel>,
    /// Bytes of memory that the engine may use in all.
    memory: u64,
    /// Largest number of pairs in a batch. It is reduced when memory is short.
    max_pairs: u64,
    /// Number of batches in flight, at most the number of slots.
    batches: usize,
    /// Expected speed of the next batch in cells per second.
    speed: f64,
    has_measured: bool,
    /// Whether the user was warned that memory is short.
    has_warned: bool,
    /// Whether memory has sufficed for second batches so far.
    follows_up: bool,
    /// Number of cells that are expected after the next batch.
    remaining_cells: u64,
}

impl<K: GpuKind> GpuEngine<K> {
    /// Returns the time that opening the device took.
    pub(crate) fn opening_time(&self) -> Duration {
        self.gpu.opening_time
    }

    /// Returns an engine on an opened device. It may use `memory` bytes of the device's memory, and
    /// expects `speed` cells per second.
    pub(crate) fn new(gpu: Gpu, state: K::DeviceState, memory: u64, speed: f64) -> Self {
        let engine = GpuEngine {
            slots: (0..SLOTS).map(|_| K::Slot::new(&gpu)).collect(),
            free_slots: (0..SLOTS).rev().collect(),
            in_flight: HashMap::new(),
            next_ticket: 0,
            residents: Residents::default(),
            kernel: None,
            memory: u64::MAX,
            max_pairs: K::MAX_PAIRS,
            batches: SLOTS,
            speed,
            has_measured: false,
            has_warned: false,
            follows_up: true,
            remaining_cells: 0,
            state,
            gpu,
        };
        engine.with_memory(memory)
    }

    /// Limits the device memory of all buffers together to this many bytes.
    pub fn with_memory(mut self, bytes: u64) -> Self {
        self.memory = self.memory.min(bytes);
        self.residents.set_budget(K::resident_bytes(self.memory));
        K::limit_memory(&mut self.state, self.memory);
        self
    }

    /// Returns the bytes of memory that the engine may use in all.
    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// Returns the data that stays on the device from batch to batch.
    pub fn residents(&self) -> &Residents {
        &self.residents
    }

    /// Uses this kernel for every batch; `None` for the kernel that is expected to be fastest.
    pub fn with_kernel(mut self, kernel: Option<&'static Kernel>) -> Self {
        self.kernel = kernel;
        self
    }

    /// Changes the kernel of an engine in use, like [`GpuEngine::with_kernel`].
    pub fn use_kernel(&mut self, kernel: Option<&'static Kernel>) {
        self.kernel = kernel;
    }

    /// Returns the opened device.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Returns the kernel that the user named.
    pub(crate) fn kernel(&self) -> Option<&'static Kernel> {
        self.kernel
    }

    /// Limits the number of batches in flight.
    pub(crate) fn limit_batches(&mut self, batches: usize) {
        self.batches = batches.min(SLOTS);
    }

    /// Restarts the measurement of the device's speed, from an expected speed if there is one.
    pub(crate) fn forget_speed(&mut self, expected: Option<f64>) {
        self.has_measured = false;
        self.speed = expected.unwrap_or(self.speed);
    }

    /// Sets the speed of the device in cells per second.
    #[cfg(test)]
    pub(crate) fn set_speed(&mut self, speed: f64) {
        self.speed = speed;
    }

    /// Starts a batch on the device. If memory is short, frees unused memory and tries once more.
    fn start(&mut self, slot: usize, batch: &Arc<Batch<K>>, cells: u64) -> Result<K::Choice> {
        let started = shortage::attempt(self, |engine, saves_memory| engine.attempt(slot, batch, cells, saves_memory))?;
        started.map_err(|error| {
            // The memory of a batch, except its sequences, grows with the number of pairs.
            self.max_pairs = self.max_pairs.min(batch.pairs() / 2).max(1);
            self.slots[slot].release();
            self.gpu.refusal(format!("its memory does not hold the batch: {error}"))
        })
    }

    /// Returns the parts of the engine that a kind needs for a batch of `cells` cells.
    fn parts(
        &mut self,
        slot: usize,
        cells: u64,
        saves_memory: bool,
    ) -> (&mut K::DeviceState, BatchContext<'_>, &mut K::Slot) {
        let context = BatchContext {
            residents: &mut self.residents,
            kernel: self.kernel,
            memory: self.memory,
            saves_memory,
            cells,
            remaining_cells: self.remaining_cells,
            speed: self.speed,
        };
        (&mut self.state, context, &mut self.slots[slot])
    }

    fn attempt(&mut self, slot: usize, batch: &Arc<Batch<K>>, cells: u64, saves_memory: bool) -> Result<K::Choice> {
        let (state, mut context, slot) = self.parts(slot, cells, saves_memory);
        let context = &mut context;
        let mut choice = K::choose(state, context, batch)?;
        loop {
            let error = match K::record(state, context, slot, batch, &mut choice) {
                Ok(()) => return Ok(choice),
                Err(error) => error,
            };
            let may_change = context.kernel.is_none() && (saves_memory || matches!(error, Error::Unsuited { .. }));
            choice = match K::alternative(choice) {
                Some(other) if may_change => other,
                _ => return Err(error),
            };
        }
    }

    /// Updates the speed with a batch.
    fn observe(&mut self, cells: u64, seconds: f64) {
        if cells == 0 {
            return;
        }
        let measured = cells as f64 / seconds.max(1e-4);
        // A short batch only gives a lower bound for the speed.
        self.speed = if seconds > MIN_MEASURED_SHARE * BATCH_SECONDS { measured } else { self.speed.max(measured) };
    }
}

impl<K: GpuKind> shortage::MemoryHolder for GpuEngine<K> {
    fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    fn has_warned(&mut self) -> &mut bool {
        &mut self.has_warned
    }

    /// Frees everything that no batch in flight uses.
    fn free(&mut self) {
        let bytes = self.residents.clear();
        K::release_scratch(&mut self.state);
        let is_computed = |pending: &&PendingBatch<K>| {
            matches!(pending.stage, Some(BatchStage::First(_) | BatchStage::Second { .. }))
        };
        let computed: Vec<usize> = self.in_flight.values().filter(is_computed).map(|pending| pending.slot).collect();
        for (index, slot) in self.slots.iter_mut().enumerate() {
            if !computed.contains(&index) {
                slot.release();
            }
        }
        tracing::debug!(bytes, "sequences freed");
    }
}

impl<K: GpuKind> Engine<K> for GpuEngine<K> {
    fn name(&self) -> &str {
        self.gpu.label()
    }

    fn kind(&self) -> Option<&str> {
        Some(&self.gpu.description.name)
    }

    fn capacity(&self) -> Capacity {
        // The first batch measures how fast the kernels are on this device.
        let seconds = if self.has_measured { K::trial_seconds(&self.state) } else { Some(K::FIRST_SECONDS) };
        Capacity {
            cells: ((self.speed * seconds.unwrap_or(BATCH_SECONDS)) as u64).min(K::max_cells(&self.state)),
            pairs: self.max_pairs.min(MemoryShares::new(self.memory).pairs),
            store_bytes: K::store_bytes(&self.state),
            batches: if self.has_measured { self.batches } else { 1 },
        }
    }

    fn min_work(&self) -> MinWork {
        let first_part = self.gpu.description.select_by_kind(FIRST_PART_CARD, FIRST_PART_INTEGRATED, 0.0);
        MinWork { seconds: MIN_SECONDS, pairs: 1, fill: K::fill(&self.state), first_part }
    }

    fn usual_cells(&self) -> u64 {
        (self.speed * BATCH_SECONDS) as u64
    }

    fn expect(&mut self, remaining_cells: u64) {
        self.remaining_cells = remaining_cells;
    }

    fn submit(&mut self, batch: Arc<Batch<K>>) -> Result<Ticket> {
        self.gpu.check()?;
        let cells = K::count_cells(&mut self.state, &batch)?;
        let Some(slot) = self.free_slots.pop() else {
            return Err(self.gpu.error("more batches than slots"));
        };
        let choice = match self.start(slot, &batch, cells) {
            Ok(choice) => choice,
            Err(error) => {
                self.free_slots.push(slot);
                return Err(error);
            }
        };
        let ticket = Ticket(self.next_ticket);
        self.next_ticket += 1;
        self.in_flight.insert(ticket, PendingBatch { slot, batch, cells, stage: Some(BatchStage::First(choice)) });
        Ok(ticket)
    }

    fn collect(&mut self, ticket: Ticket) -> Result<K::Report> {
        let report = self.complete(ticket);
        if let Some(pending) = self.in_flight.remove(&ticket) {
            self.free_slots.push(pending.slot);
        }
        report
    }
}
