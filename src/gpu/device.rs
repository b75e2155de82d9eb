//! An adapter and the device that is opened on it: creation, buffers that return errors instead of
//! panics, and detection of its loss.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::description::{AdapterDescription, describe_limits};
use crate::error::{Error, Result};

/// An adapter and its description.
#[derive(Debug, Clone)]
pub struct FoundAdapter {
    /// Handle of the adapter.
    pub handle: wgpu::Adapter,
    /// Description of the adapter.
    pub description: AdapterDescription,
    /// Limits of devices that are opened on the adapter.
    pub limits: wgpu::Limits,
    /// Features that devices opened on the adapter may use.
    pub features: wgpu::Features,
    /// Device that was opened before an engine needs it.
    pub ahead: OpenedAhead,
    /// Failure that every device opened on this adapter simulates; `None` outside tests.
    #[doc(hidden)]
    pub failure: Option<FeignedFailure>,
    /// Change of the text of every shader before compilation; `None` outside tests.
    #[doc(hidden)]
    pub rewrite: Option<fn(String) -> String>,
}

/// A simulated failure of a device. For tests.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeignedFailure {
    /// The device cannot be opened.
    AtOpen,
    /// The device is lost after this many calls of [`Gpu::check`]. Every batch makes several calls.
    AfterChecks(u64),
}

impl FoundAdapter {
    /// Returns an adapter that no device was opened on.
    pub(super) fn new(handle: wgpu::Adapter, description: AdapterDescription) -> Self {
        let (limits, features) = (handle.limits(), handle.features());
        let ahead = OpenedAhead::default();
        FoundAdapter { handle, description, limits, features, ahead, failure: None, rewrite: None }
    }

    /// Restricts devices that are opened on the adapter to WebGPU's default limits, which every
    /// implementation has, and to no optional features: 16 KiB of workgroup memory, 256 invocations
    /// per workgroup, bindings of 128 MiB, buffers of 256 MiB, 8 storage buffers per kernel, no
    /// subgroup operations, no half floats and no timestamps.
    pub fn with_minimal_limits(self) -> Self {
        let limits = wgpu::Limits::default().or_worse_values_from(&self.limits);
        let features = wgpu::Features::empty();
        // WebGPU's range of subgroup sizes where they are unknown.
        let unknown = AdapterDescription { subgroup_sizes: [4, 128], ..self.description };
        let description = describe_limits(unknown, &limits, features);
        FoundAdapter { description, limits, features, ahead: OpenedAhead::default(), ..self }
    }

    /// Returns whether the adapter is a software renderer.
    pub fn is_software(&self) -> bool {
        self.description.kind == "cpu"
    }
}

/// An opened adapter.
#[derive(Debug, Clone)]
pub struct Gpu {
    /// The device.
    pub device: wgpu::Device,
    /// Queue of the device.
    pub queue: wgpu::Queue,
    /// Description of the adapter.
    pub description: AdapterDescription,
    /// Whether passes can be timed.
    pub timestamps: bool,
    /// Time that opening the device took.
    pub opening_time: Duration,
    /// Change of the text of every shader; `None` outside tests.
    pub(super) rewrite: Option<fn(String) -> String>,
    /// First error of the device, which is permanent.
    first_error: Arc<Mutex<Option<String>>>,
    /// Number of buffers that could not be allocated since the device was opened.
    refused: Arc<AtomicU64>,
    /// Simulated memory shortage. For tests.
    simulated_shortage: Arc<Mutex<Shortage>>,
    /// Number of checks before the device is simulated as lost; `None` outside tests.
    checks_left: Option<Arc<AtomicU64>>,
}

/// Whether devices stay open until the process ends.
static STAY_OPEN: AtomicBool = AtomicBool::new(false);

/// Leaves the closing of all devices that are opened from now on to the end of the process, which
/// is faster than closing them before. For programs that end after a job. Buffers are still
/// released as soon as they are not used.
pub fn close_at_exit() {
    STAY_OPEN.store(true, Ordering::Relaxed);
}

/// A device that was opened before an engine needs it.
#[derive(Debug, Clone, Default)]
pub struct OpenedAhead(Arc<Mutex<Option<Gpu>>>);

impl OpenedAhead {
    /// Opens an adapter, so that the next call of [`Gpu::open`] for it or for its clones returns at
    /// once. That call waits until the device is open. Errors are left to that call.
    pub fn open(adapter: &FoundAdapter) {
        let mut slot = adapter.ahead.0.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.is_none() {
            *slot = Gpu::open_now(adapter).ok();
        }
    }

    fn take(&self) -> Option<Gpu> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Gpu {
    /// Opens an adapter with its limits and, where available, timestamps, subgroup operations
    /// and half floats. Takes the device that was opened ahead ([`OpenedAhead::open`]), if there is
    /// one.
    pub fn open(adapter: &FoundAdapter) -> Result<Self> {
        adapter.ahead.take().map_or_else(|| Self::open_now(adapter), Ok)
    }

    fn open_now(adapter: &FoundAdapter) -> Result<Self> {
        let (started, name) = (Instant::now(), adapter.description.label.clone());
        if adapter.failure == Some(FeignedFailure::AtOpen) {
            let message = "could not be opened (simulated by a test)".into();
            return Err(Error::Device { device: name, message });
        }
        let wanted = wgpu::Features::TIMESTAMP_QUERY | wgpu::Features::SUBGROUP | wgpu::Features::SHADER_F16;
        let features = adapter.features & wanted;
        let timestamps = features.contains(wgpu::Features::TIMESTAMP_QUERY);
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("pairwave"),
            required_features: features,
            required_limits: adapter.limits.clone(),
            memory_hints: wgpu::MemoryHints::Performance,
            ..Default::default()
        };
        let (device, queue) = pollster::block_on(adapter.handle.request_device(&descriptor))
            .map_err(|error| Error::Device { device: name, message: format!("could not be opened: {error}") })?;
        if STAY_OPEN.load(Ordering::Relaxed) {
            std::mem::forget(device.clone());
        }
        // wgpu panics on uncaptured errors. This handler records them, and the next submit or
        // collect reports them.
        let first_error: Arc<Mutex<Option<String>>> = Arc::default();
        let remember = |first_error: &Arc<Mutex<Option<String>>>| {
            let first_error = Arc::clone(first_error);
            move |text: String| {
                let mut slot = first_error.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                slot.get_or_insert(text);
            }
        };
        let (on_error, on_loss) = (remember(&first_error), remember(&first_error));
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| on_error(error.to_string())));
        device.set_device_lost_callback(move |reason, message| on_loss(format!("lost ({reason:?}): {message}")));
        Ok(Gpu {
            device,
            queue,
            description: adapter.description.clone(),
            timestamps,
            opening_time: started.elapsed(),
            rewrite: adapter.rewrite,
            first_error,
            refused: Arc::default(),
            simulated_shortage: Arc::default(),
            checks_left: match adapter.failure {
                Some(FeignedFailure::AfterChecks(count)) => Some(Arc::new(AtomicU64::new(count))),
                _ => None,
            },
        })
    }

    /// Returns the name in messages and summaries.
    pub fn label(&self) -> &str {
        &self.description.label
    }

    /// Returns the largest size of a binding in bytes, a multiple of 16.
    pub fn binding_bytes(&self) -> u64 {
        let limits = self.device.limits();
        limits.max_storage_buffer_binding_size.min(limits.max_buffer_size) & !15
    }

    /// Creates an error of this device.
    pub fn error(&self, message: impl Into<String>) -> Error {
        Error::Device { device: self.label().into(), message: message.into() }
    }

    /// Creates the error with which this device refuses one batch.
    pub fn refusal(&self, message: impl Into<String>) -> Error {
        Error::Unsuited { device: self.label().into(), message: message.into() }
    }

    /// Returns an error if the device was lost or raised an error since it was opened. The error is
    /// permanent.
    pub fn check(&self) -> Result<()> {
        let mut first_error = self.first_error.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(left) = &self.checks_left
            && left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err()
        {
            first_error.get_or_insert_with(|| "lost (simulated by a test)".into());
        }
        match &*first_error {
            Some(text) => Err(self.error(text.clone())),
            None => Ok(()),
        }
    }

    /// Creates a buffer of at least 16 bytes. Returns an error if memory is short.
    pub fn buffer(&self, label: &str, bytes: u64, usage: wgpu::BufferUsages) -> Result<wgpu::Buffer> {
        let size = bytes.max(16).next_multiple_of(16);
        if size > self.device.limits().max_buffer_size {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return Err(self.error(format!("{label} of {size} bytes is larger than its largest buffer")));
        }
        self.check()?;
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(label),
            size,
            usage,
            mapped_at_creation: false,
        });
        for scope in [validation, memory] {
            if let Some(error) = pollster::block_on(scope.pop()) {
                if matches!(error, wgpu::Error::OutOfMemory { .. }) {
                    self.refused.fetch_add(1, Ordering::Relaxed);
                }
                return Err(self.error(format!("{label} of {size} bytes: {error}")));
            }
        }
        if self.is_feigned(label) {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return Err(self.error(format!("{label} of {size} bytes: out of memory (simulated by a test)")));
        }
        Ok(buffer)
    }

    /// Returns the number of buffers that could not be allocated since the device was opened,
    /// because memory was short or they exceeded a limit.
    pub fn refused_buffers(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Simulates memory shortage: for buffers with this label (all buffers if it is empty), `count`
    /// allocations fail after `after` successful ones. For tests.
    #[doc(hidden)]
    pub fn feign_shortage(&self, label: &'static str, after: u64, count: u64) {
        *self.simulated_shortage.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) =
            Shortage { label, after, count };
    }

    fn is_feigned(&self, label: &str) -> bool {
        let mut shortage = self.simulated_shortage.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if shortage.count == 0 || !(shortage.label.is_empty() || shortage.label == label) {
            return false;
        }
        let is_due = shortage.after == 0;
        *(if is_due { &mut shortage.count } else { &mut shortage.after }) -= 1;
        is_due
    }

    /// Creates a storage buffer with this content.
    pub fn upload(&self, label: &str, content: &[u8]) -> Result<wgpu::Buffer> {
        let buffer =
            self.buffer(label, content.len() as u64, wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST)?;
        // One staging buffer of the whole size would double the memory that a large store takes, so
        // the content is written in pieces.
        const PIECE: usize = 64 << 20;
        for (index, piece) in content.chunks(PIECE).enumerate() {
            self.queue.write_buffer(&buffer, (index * PIECE) as u64, piece);
            if content.len() > PIECE {
                self.queue.submit([]);
            }
        }
        Ok(buffer)
    }
}

/// A simulated memory shortage.
#[derive(Debug, Default)]
struct Shortage {
    label: &'static str,
    /// Number of successful allocations with the label before the shortage.
    after: u64,
    /// Number of allocations that fail.
    count: u64,
}

/// A growing buffer, which is reused while it is large enough.
#[derive(Debug, Default)]
pub struct GrowingBuffer {
    buffer: Option<wgpu::Buffer>,
}

impl GrowingBuffer {
    /// Returns the buffer with at least `bytes` bytes and the given usage. The usage must be the
    /// same in every call.
    pub fn reserve(&mut self, gpu: &Gpu, label: &str, bytes: u64, usage: wgpu::BufferUsages) -> Result<&wgpu::Buffer> {
        if self.buffer.as_ref().is_none_or(|buffer| buffer.size() < bytes) {
            // The old buffer is dropped first, so that both need not fit at the same time.
            self.buffer = None;
            self.buffer = Some(gpu.buffer(label, bytes, usage)?);
        }
        self.buffer.as_ref().ok_or_else(|| gpu.error("no buffer"))
    }

    /// Returns the buffer with this content at its start.
    pub fn fill(&mut self, gpu: &Gpu, label: &str, usage: wgpu::BufferUsages, content: &[u8]) -> Result<wgpu::Buffer> {
        let buffer = self.reserve(gpu, label, content.len() as u64, usage | wgpu::BufferUsages::COPY_DST)?;
        gpu.queue.write_buffer(buffer, 0, content);
        Ok(buffer.clone())
    }

    /// Returns the buffer, if it was created, without changing it.
    pub fn get(&self) -> Option<&wgpu::Buffer> {
        self.buffer.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::adapter::enumerate;

    #[test]
    fn one_engine_takes_the_device_that_was_opened_ahead() {
        let adapter =
            enumerate().into_iter().next().expect("no adapter runs compute shaders here: install software Vulkan");
        let clone = adapter.clone();
        OpenedAhead::open(&adapter);
        let ahead = adapter.ahead.0.lock().unwrap().as_ref().expect("the adapter opens").device.clone();
        assert_eq!(Gpu::open(&clone).unwrap().device, ahead);
        assert_ne!(Gpu::open(&adapter).unwrap().device, ahead);
    }
}
