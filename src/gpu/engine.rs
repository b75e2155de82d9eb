//! The engine for a GPU, whatever it computes: a [`GpuKind`] says how its batches are recorded and read back.
//!
//! Work goes through two slots, each with buffers of its own: while the device computes one batch, the host prepares the
//! next and reads the last (the dual buffering of Truong et al. 2014, section 5.4, and figure 6a). What several batches
//! use stays on the device ([`Residents`]).

mod stages;

use std::collections::HashMap;
use std::sync::Arc;

use self::stages::{BatchStage, PendingBatch};
pub use self::stages::{FinishedBatch, FollowUp};
use super::BATCH_SECONDS;
use super::device::Gpu;
use super::kernels::Kernel;
use super::launch::{Results, Slot};
use super::memory::MemoryShares;
use super::resident::Residents;
use super::shortage;
use crate::engine::sizing::MinWork;
use crate::engine::{Batch, Capacity, Engine, Ticket, Work};
use crate::error::{Error, Result};

/// Batches at once.
const SLOTS: usize = 2;
/// Seconds of work below which a batch is not worth its launch.
const MIN_SECONDS: f64 = 0.025;
/// Share of a usual batch's seconds from which on a batch tells how fast the device is.
const TELLING_SHARE: f64 = 0.2;

/// A kind of work that GPUs do.
pub trait GpuKind: Work {
    /// A kernel for a batch, with its sizes; and what of the device the batch uses until it is finished.
    type Choice: Send;
    /// What it has on a device beside batches in pending: pipelines, sizes of kernels, scratch memory, measured speeds.
    type DeviceState: Send;
    /// Buffers of a batch in pending.
    type Slot: Slot;

    /// Seconds of work that the first batch should be.
    const FIRST_SECONDS: f64;
    /// Pairs a batch at most.
    const MAX_PAIRS: u64;

    /// Cells of a batch at most, as far as the kind knows: what its results or its scratch memory suffice for.
    fn max_cells(_host: &Self::DeviceState) -> u64 {
        u64::MAX
    }

    /// Pairs that keep a device busy, where fewer take as long.
    fn fill(_host: &Self::DeviceState) -> u64 {
        0
    }

    /// Cells of a batch, which may have many blocks to count through.
    fn count_cells(_host: &mut Self::DeviceState, batch: &Batch<Self>) -> Result<u64> {
        Ok(batch.cells())
    }

    /// Bytes of what lies on the device from batch to batch, of all that the engine may take.
    fn resident_bytes(memory: u64) -> u64;

    /// Bytes of packed sequences that a batch may bring ([`Capacity::store_bytes`]).
    fn store_bytes(_host: &Self::DeviceState) -> u64 {
        u64::MAX
    }

    /// The engine may take so many bytes in all; less than before.
    fn limit_memory(_host: &mut Self::DeviceState, _bytes: u64) {}

    /// Frees the scratch memory of all batches together.
    fn release_scratch(_host: &mut Self::DeviceState) {}

    /// The kernel for a batch: that which the user named, or the one that is expected to be fastest.
    ///
    /// # Errors
    /// [`Error::Unsuited`] if none can compute it.
    fn choose(
        state: &mut Self::DeviceState,
        context: &mut BatchContext<'_>,
        batch: &Arc<Batch<Self>>,
    ) -> Result<Self::Choice>;

    /// What to try if a batch does not suit the kernel that was chosen.
    fn alternative(_choice: Self::Choice) -> Option<Self::Choice> {
        None
    }

    /// Uploads a batch, records its dispatches and the copy back, and submits. Does not wait.
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
        results: Results,
    ) -> Result<Self::Report>;

    /// A second batch for the slot of a finished one, of what that left to do, and its kernel; `None` where that does not pay.
    /// `beside` are seconds of work that the device has in its other slots, in which the host could do the same.
    ///
    /// # Errors
    /// Whatever keeps it from being computed. If the device is well the first report stands.
    fn follow_up(
        _host: &mut Self::DeviceState,
        _site: &mut BatchContext<'_>,
        _first: FinishedBatch<'_, Self>,
        _beside: f64,
    ) -> Result<Option<FollowUp<Self>>> {
        Ok(None)
    }

    /// What came of a batch, of its report and that of the batch that followed it up.
    fn join(_first: Self::Report, second: Self::Report) -> Self::Report {
        second
    }

    /// Learns from a finished batch. Gives the cells a second that are to be expected of the next batch, if not those
    /// of this one.
    fn learn(
        _host: &mut Self::DeviceState,
        _kernel: Option<&'static Kernel>,
        _batch: &Batch<Self>,
        _choice: &Self::Choice,
        _report: &Self::Report,
    ) -> Option<f64> {
        None
    }

    /// Seconds that the next batch should be, if it is to be small because something is tried.
    fn trial_seconds(_host: &Self::DeviceState) -> Option<f64> {
        None
    }

    /// What an engine reports that could do nothing of a batch.
    fn unfinished_report(batch: &Batch<Self>) -> Self::Report;
}

/// What a kind is told where a batch is chosen for and recorded.
pub struct BatchContext<'a> {
    /// What lies on the device.
    pub residents: &'a mut Residents,
    /// The kernel that the user named.
    pub kernel: Option<&'static Kernel>,
    /// Bytes that the engine may take in all.
    pub memory: u64,
    /// Memory was short, and all that could be given back was: what can do with less now has to.
    pub sparing: bool,
    /// Cells of the batch.
    pub cells: u64,
    /// Cells that the engine may expect to compute after this batch; 0 if nobody said.
    pub remaining_cells: u64,
}

/// A GPU that computes batches.
pub struct GpuEngine<K: GpuKind> {
    gpu: Gpu,
    /// The kind's own part.
    pub(crate) state: K::DeviceState,
    slots: Vec<K::Slot>,
    free_slots: Vec<usize>,
    in_flight: HashMap<Ticket, PendingBatch<K>>,
    next_ticket: u64,
    residents: Residents,
    kernel: Option<&'static Kernel>,
    /// Bytes that the engine may take in all.
    memory: u64,
    /// Pairs a batch at most; fewer once memory was short.
    most_pairs: u64,
    /// Batches in pending, up to the number of slots.
    batches: usize,
    /// Cells a second to be expected of the next batch.
    speed: f64,
    has_learnt: bool,
    /// The user was told that memory is short.
    has_warned: bool,
    /// There was memory so far to follow batches up.
    follows_up: bool,
    /// Cells that are expected after the next batch.
    remaining_cells: u64,
}

impl<K: GpuKind> GpuEngine<K> {
    /// An engine on an opened device that may take so many bytes of its memory, and of which so many cells a second are
    /// expected.
    pub(crate) fn new(gpu: Gpu, state: K::DeviceState, memory: u64, speed: f64) -> Self {
        let engine = GpuEngine {
            slots: (0..SLOTS).map(|_| K::Slot::new(&gpu)).collect(),
            free_slots: (0..SLOTS).rev().collect(),
            in_flight: HashMap::new(),
            next_ticket: 0,
            residents: Residents::default(),
            kernel: None,
            memory: u64::MAX,
            most_pairs: K::MAX_PAIRS,
            batches: SLOTS,
            speed,
            has_learnt: false,
            has_warned: false,
            follows_up: true,
            remaining_cells: 0,
            state,
            gpu,
        };
        engine.with_memory(memory)
    }

    /// Takes at most this many bytes of the device's memory, in all its buffers together.
    pub fn with_memory(mut self, bytes: u64) -> Self {
        self.memory = self.memory.min(bytes);
        self.residents.set_budget(K::resident_bytes(self.memory));
        K::limit_memory(&mut self.state, self.memory);
        self
    }

    /// Bytes that the engine may take in all.
    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// What lies on the device from batch to batch.
    pub fn residents(&self) -> &Residents {
        &self.residents
    }

    /// Uses this kernel for every batch; `None` for the one that is expected to be fastest.
    pub fn with_kernel(mut self, kernel: Option<&'static Kernel>) -> Self {
        self.kernel = kernel;
        self
    }

    /// [`GpuEngine::with_kernel`] for an engine in use.
    pub fn use_kernel(&mut self, kernel: Option<&'static Kernel>) {
        self.kernel = kernel;
    }

    /// The opened device.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// The kernel that the user named.
    pub(crate) fn kernel(&self) -> Option<&'static Kernel> {
        self.kernel
    }

    /// Has at most so many batches in pending.
    pub(crate) fn limit_batches(&mut self, batches: usize) {
        self.batches = batches.min(SLOTS);
    }

    /// Begins to learn the device's speed anew, from what is expected of it, if anything is.
    pub(crate) fn forget_speed(&mut self, expected: Option<f64>) {
        self.has_learnt = false;
        self.speed = expected.unwrap_or(self.speed);
    }

    /// Takes it that the device is as fast as this, in cells a second.
    #[cfg(test)]
    pub(crate) fn set_speed(&mut self, speed: f64) {
        self.speed = speed;
    }

    /// Hands a batch to the device. If memory is too short for it, again once all is given back that can be.
    fn start(&mut self, slot: usize, batch: &Arc<Batch<K>>, cells: u64) -> Result<K::Choice> {
        let started = shortage::attempt(self, |engine, sparing| engine.attempt(slot, batch, cells, sparing))?;
        started.map_err(|error| {
            // What takes memory beside sequences grows with the pairs.
            self.most_pairs = self.most_pairs.min(batch.pairs() / 2).max(1);
            self.slots[slot].release();
            self.gpu.unsuited(format!("its memory does not hold the batch: {error}"))
        })
    }

    /// The parts of the engine that a kind works on, for a batch of so many cells.
    fn parts(
        &mut self,
        slot: usize,
        cells: u64,
        sparing: bool,
    ) -> (&mut K::DeviceState, BatchContext<'_>, &mut K::Slot) {
        let context = BatchContext {
            residents: &mut self.residents,
            kernel: self.kernel,
            memory: self.memory,
            sparing,
            cells,
            remaining_cells: self.remaining_cells,
        };
        (&mut self.state, context, &mut self.slots[slot])
    }

    fn attempt(&mut self, slot: usize, batch: &Arc<Batch<K>>, cells: u64, sparing: bool) -> Result<K::Choice> {
        let (state, mut context, slot) = self.parts(slot, cells, sparing);
        let context = &mut context;
        let mut choice = K::choose(state, context, batch)?;
        loop {
            let error = match K::record(state, context, slot, batch, &mut choice) {
                Ok(()) => return Ok(choice),
                Err(error) => error,
            };
            let may_change = context.kernel.is_none() && (sparing || matches!(error, Error::Unsuited { .. }));
            choice = match K::alternative(choice) {
                Some(other) if may_change => other,
                _ => return Err(error),
            };
        }
    }

    /// Learns the speed from a batch.
    fn observe(&mut self, cells: u64, seconds: f64) {
        if cells == 0 {
            return;
        }
        let shown = cells as f64 / seconds.max(1e-4);
        // A short batch says no more than what the device can do at least.
        self.speed = if seconds > TELLING_SHARE * BATCH_SECONDS { shown } else { self.speed.max(shown) };
    }
}

impl<K: GpuKind> shortage::Holder for GpuEngine<K> {
    fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    fn has_warned(&mut self) -> &mut bool {
        &mut self.has_warned
    }

    /// Frees what no batch in pending uses.
    fn free(&mut self) {
        let bytes = self.residents.clear();
        K::release_scratch(&mut self.state);
        let is_computed = |pending: &&PendingBatch<K>| {
            matches!(pending.stage, Some(BatchStage::First(_) | BatchStage::Second { .. }))
        };
        let computed: Vec<usize> = self.in_flight.values().filter(is_computed).map(|pending| pending.slot).collect();
        for (place, slot) in self.slots.iter_mut().enumerate() {
            if !computed.contains(&place) {
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
        // The first batch teaches how fast the kernels are here.
        let seconds = if self.has_learnt { K::trial_seconds(&self.state) } else { Some(K::FIRST_SECONDS) };
        Capacity {
            cells: ((self.speed * seconds.unwrap_or(BATCH_SECONDS)) as u64).min(K::max_cells(&self.state)),
            pairs: self.most_pairs.min(MemoryShares::new(self.memory).pairs),
            store_bytes: K::store_bytes(&self.state),
            batches: if self.has_learnt { self.batches } else { 1 },
        }
    }

    fn min_work(&self) -> MinWork {
        MinWork { seconds: MIN_SECONDS, pairs: 1, fill: K::fill(&self.state) }
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
