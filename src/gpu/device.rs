//! An opened device: creation, buffers with errors instead of panics, and the news of its loss.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::adapter::{FeignedFailure, FoundAdapter};
use crate::error::{Error, Result};

/// An opened adapter.
#[derive(Debug, Clone)]
pub struct Gpu {
    /// The device.
    pub device: wgpu::Device,
    /// Its queue.
    pub queue: wgpu::Queue,
    /// Its adapter's description.
    pub description: super::adapter::AdapterDescription,
    /// Whether passes can be timed.
    pub timestamps: bool,
    trouble: Arc<Mutex<Option<String>>>,
    /// Buffers that could not be had.
    refused: Arc<AtomicU64>,
    /// For tests: which buffers cannot be had.
    feigned: Arc<Mutex<Shortage>>,
    /// For tests: looks at the state that are left before the device is lost.
    checks_left: Option<Arc<AtomicU64>>,
}

impl Gpu {
    /// Opens an adapter with all of its limits and, where it has them, timestamps, subgroup operations and half
    /// floats.
    pub fn open(found: &FoundAdapter) -> Result<Self> {
        let name = found.description.label.clone();
        if found.failure == Some(FeignedFailure::AtOpen) {
            let message = "could not be opened, as a test wants it".into();
            return Err(Error::Device { device: name, message });
        }
        let wanted = wgpu::Features::TIMESTAMP_QUERY | wgpu::Features::SUBGROUP | wgpu::Features::SHADER_F16;
        let features = found.adapter.features() & wanted;
        let timestamps = features.contains(wgpu::Features::TIMESTAMP_QUERY);
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("pairwave"),
            required_features: features,
            required_limits: found.adapter.limits(),
            memory_hints: wgpu::MemoryHints::Performance,
            ..Default::default()
        };
        let (device, queue) = pollster::block_on(found.adapter.request_device(&descriptor))
            .map_err(|error| Error::Device { device: name, message: format!("could not be opened: {error}") })?;
        // wgpu panics on errors nobody catches; here they are remembered and surface at the next submit or collect.
        let trouble: Arc<Mutex<Option<String>>> = Arc::default();
        let remember = |trouble: &Arc<Mutex<Option<String>>>| {
            let trouble = Arc::clone(trouble);
            move |text: String| {
                let mut slot = trouble.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                slot.get_or_insert(text);
            }
        };
        let (on_error, on_loss) = (remember(&trouble), remember(&trouble));
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| on_error(error.to_string())));
        device.set_device_lost_callback(move |reason, message| on_loss(format!("lost ({reason:?}): {message}")));
        Ok(Gpu {
            device,
            queue,
            description: found.description.clone(),
            timestamps,
            trouble,
            refused: Arc::default(),
            feigned: Arc::default(),
            checks_left: match found.failure {
                Some(FeignedFailure::AfterChecks(count)) => Some(Arc::new(AtomicU64::new(count))),
                _ => None,
            },
        })
    }

    /// What messages and summaries call it.
    pub fn label(&self) -> &str {
        &self.description.label
    }

    /// Bytes of a binding at most, a multiple of 16.
    pub fn binding_bytes(&self) -> u64 {
        let limits = self.device.limits();
        limits.max_storage_buffer_binding_size.min(limits.max_buffer_size) & !15
    }

    /// An error of this device.
    pub fn error(&self, message: impl Into<String>) -> Error {
        Error::Device { device: self.label().into(), message: message.into() }
    }

    /// A refusal of one batch.
    pub fn unsuited(&self, message: impl Into<String>) -> Error {
        Error::Unsuited { device: self.label().into(), message: message.into() }
    }

    /// An error if the device was lost or raised an error since it was opened. A device in trouble stays in trouble.
    pub fn check(&self) -> Result<()> {
        let mut trouble = self.trouble.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(left) = &self.checks_left
            && left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err()
        {
            trouble.get_or_insert_with(|| "lost, as a test wants it".into());
        }
        match &*trouble {
            Some(text) => Err(self.error(text.clone())),
            None => Ok(()),
        }
    }

    /// Creates a buffer of at least 16 bytes; out of memory is an error.
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
            return Err(self.error(format!("{label} of {size} bytes: out of memory, as a test wants it")));
        }
        Ok(buffer)
    }

    /// How many buffers could not be had since the device was opened: memory was short, or they were too large for it.
    pub fn refused_buffers(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// For tests: of the buffers with this label (an empty one stands for all), after `after` more `count` cannot be had, as
    /// if memory were short.
    #[doc(hidden)]
    pub fn feign_shortage(&self, label: &'static str, after: u64, count: u64) {
        *self.feigned.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Shortage { label, after, count };
    }

    fn is_feigned(&self, label: &str) -> bool {
        let mut shortage = self.feigned.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
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
        // In pieces: one staging buffer of the whole size would double the memory that a large store takes.
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

/// Memory that a test wants to be short.
#[derive(Debug, Default)]
struct Shortage {
    label: &'static str,
    /// Buffers of the label that can be had before.
    after: u64,
    /// Buffers that cannot.
    count: u64,
}

/// A buffer that grows: reused while it is large enough.
#[derive(Debug, Default)]
pub struct GrowingBuffer {
    buffer: Option<wgpu::Buffer>,
}

impl GrowingBuffer {
    /// The buffer, with room for `bytes` and the given usage (the same at every call).
    pub fn reserve(&mut self, gpu: &Gpu, label: &str, bytes: u64, usage: wgpu::BufferUsages) -> Result<&wgpu::Buffer> {
        if self.buffer.as_ref().is_none_or(|buffer| buffer.size() < bytes) {
            // The old one goes first, so that both need not fit at once.
            self.buffer = None;
            self.buffer = Some(gpu.buffer(label, bytes, usage)?);
        }
        self.buffer.as_ref().ok_or_else(|| gpu.error("no buffer"))
    }

    /// The buffer, with this at its begin.
    pub fn fill(&mut self, gpu: &Gpu, label: &str, usage: wgpu::BufferUsages, content: &[u8]) -> Result<wgpu::Buffer> {
        let buffer = self.reserve(gpu, label, content.len() as u64, usage | wgpu::BufferUsages::COPY_DST)?;
        gpu.queue.write_buffer(buffer, 0, content);
        Ok(buffer.clone())
    }

    /// The buffer as it is.
    pub fn get(&self) -> Option<&wgpu::Buffer> {
        self.buffer.as_ref()
    }
}
