//! The buffers of one slot. They are named like the kernels' bindings, and reused while they are
//! large enough.

use std::ops::Range;
use std::time::Duration;

use super::commands::Commands;
use crate::error::Result;
use crate::gpu::device::{Gpu, GrowingBuffer};
use crate::gpu::readback::{Readback, ReadbackWords};
use crate::gpu::timer::{PassTimer, TIME_BYTES};

/// Usage of buffers that the host reads.
const STAGING: wgpu::BufferUsages = wgpu::BufferUsages::MAP_READ.union(wgpu::BufferUsages::COPY_DST);

/// The memory of one batch in flight.
pub trait Slot: Send + Sized {
    /// Creates a slot without memory.
    fn new(gpu: &Gpu) -> Self;

    /// Frees the memory. The slot must not hold a batch.
    fn release(&mut self);

    /// Waits for the batch, for at most `limit`, and returns its results.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if the slot holds no batch, if the device fails, or
    /// if it takes longer than `limit`.
    fn collect(&mut self, gpu: &Gpu, limit: Duration) -> Result<BatchResults>;
}

/// The results of a batch.
pub struct BatchResults {
    /// The ranges that were copied back, one after another. They are in a mapped buffer of the
    /// slot, which can be reused after these values are dropped.
    pub(crate) words: ReadbackWords,
    /// Time that the device was busy; `None` if it has no clock or nothing was dispatched.
    pub(crate) kernel_time: Option<Duration>,
    /// Longest time that the host waits for further copies.
    pub(crate) limit: Duration,
}

/// Buffers of one batch at a time, by the names of the kernels' bindings.
pub struct Buffers {
    named: Vec<(&'static str, GrowingBuffer)>,
    pub(super) params: GrowingBuffer,
    staging: GrowingBuffer,
    clock: PassTimer,
    in_flight: Option<InFlightReadback>,
}

/// A submitted batch.
struct InFlightReadback {
    readback: Readback,
    /// Number of u32 results, without the timestamps.
    words: usize,
    is_timed: bool,
}

impl Buffers {
    /// Returns the buffer with this name, if there is one.
    pub(crate) fn get(&self, name: &str) -> Option<&wgpu::Buffer> {
        self.named.iter().find(|(key, _)| *key == name).and_then(|(_, buffer)| buffer.get())
    }

    /// Returns the buffer with this name, with at least `bytes` bytes.
    pub(super) fn reserve(&mut self, gpu: &Gpu, name: &'static str, bytes: u64) -> Result<wgpu::Buffer> {
        use wgpu::BufferUsages as Usage;
        let index = self.named.iter().position(|(key, _)| *key == name).unwrap_or_else(|| {
            self.named.push((name, GrowingBuffer::default()));
            self.named.len() - 1
        });
        let usage = Usage::STORAGE | Usage::COPY_DST | Usage::COPY_SRC;
        self.named[index].1.reserve(gpu, label(name), bytes, usage).cloned()
    }

    /// Submits commands, with staging memory for at least `min_result_bytes` bytes of results.
    pub(super) fn submit(
        &mut self,
        gpu: &Gpu,
        label: &str,
        commands: Commands,
        programs: &[super::BoundProgram],
        min_result_bytes: u64,
    ) -> Result<()> {
        let bytes = commands.staging_bytes(true).max(min_result_bytes + TIME_BYTES);
        let staging = self.staging.reserve(gpu, "staging", bytes, STAGING)?;
        let (words, is_timed) = (commands.bytes_back() as usize / 4, commands.has_dispatches());
        let readback = commands.submit(gpu, label, programs, staging, Some(&self.clock));
        self.in_flight = Some(InFlightReadback { readback, words, is_timed });
        gpu.check()
    }

    /// Returns whether a batch is in flight.
    pub(crate) fn is_in_flight(&self) -> bool {
        self.in_flight.is_some()
    }

    /// Returns whether results were ever copied to the host since the memory was last freed.
    pub(crate) fn has_staging(&self) -> bool {
        self.staging.get().is_some()
    }

    /// Copies a range of a buffer that the batch did not copy back, and waits for it. The range is
    /// in bytes. The batch must have been collected, and its results dropped.
    pub(crate) fn fetch(&mut self, gpu: &Gpu, name: &str, bytes: Range<u64>, limit: Duration) -> Result<ReadbackWords> {
        let Some(buffer) = self.get(name).cloned() else { return Err(gpu.error(format!("no buffer '{name}'"))) };
        let staging = self.staging.reserve(gpu, "staging", bytes.end - bytes.start, STAGING)?;
        let mut commands = Commands::default();
        commands.copy_back(&buffer, bytes);
        commands.submit(gpu, "rest of the results", &[], staging, None).read(gpu, limit)
    }
}

impl Slot for Buffers {
    fn new(gpu: &Gpu) -> Self {
        Buffers {
            named: Vec::new(),
            params: GrowingBuffer::default(),
            staging: GrowingBuffer::default(),
            clock: PassTimer::new(gpu),
            in_flight: None,
        }
    }

    fn release(&mut self) {
        self.named.clear();
        self.params = GrowingBuffer::default();
        self.staging = GrowingBuffer::default();
        self.in_flight = None;
    }

    fn collect(&mut self, gpu: &Gpu, limit: Duration) -> Result<BatchResults> {
        let InFlightReadback { readback, words, is_timed } =
            self.in_flight.take().ok_or_else(|| gpu.error("no batch in flight"))?;
        let mut all = readback.read(gpu, limit)?;
        let kernel_time = if is_timed { self.clock.elapsed(gpu, &all) } else { None };
        all.truncate(words);
        Ok(BatchResults { words: all, kernel_time, limit })
    }
}

/// Returns the name of a buffer in messages.
fn label(name: &'static str) -> &'static str {
    if name == "out" { "output" } else { name }
}
