//! Reads buffers that a submission fills. The host requests the mapping at once and waits for it
//! later.

use std::ops::Deref;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::device::Gpu;
use crate::error::Result;

/// Time to wait for the callback of a mapping before the device is polled again.
const CALLBACK_WAIT: Duration = Duration::from_millis(1);

/// Receives the result of a mapping from its callback.
pub(crate) type MappingResult = mpsc::Receiver<Result<(), wgpu::BufferAsyncError>>;

/// A requested mapping.
pub(crate) struct Readback {
    staging: wgpu::Buffer,
    bytes: u64,
    submission: wgpu::SubmissionIndex,
    mapped: MappingResult,
}

impl Readback {
    /// Requests the first `bytes` bytes of a staging buffer after `submission`. Does not wait.
    pub(crate) fn begin(staging: &wgpu::Buffer, bytes: u64, submission: wgpu::SubmissionIndex) -> Self {
        let (sender, mapped) = mpsc::channel();
        staging.slice(..bytes).map_async(wgpu::MapMode::Read, move |result| {
            // The receiver is dropped only if the result is no longer needed.
            let _ = sender.send(result);
        });
        Readback { staging: staging.clone(), bytes, submission, mapped }
    }

    /// Waits, without spinning and for at most `limit`, and returns the values. The data stays in
    /// the mapped buffer.
    pub(crate) fn read(self, gpu: &Gpu, limit: Duration) -> Result<ReadbackWords> {
        // From here on, dropping this value unmaps the buffer in every case.
        let mut words = ReadbackWords { view: None, copy: Vec::new(), count: 0, staging: self.staging.clone() };
        let view = self.view(gpu, limit)?;
        words.count = view.len() / 4;
        if bytemuck::try_cast_slice::<u8, u32>(&view).is_ok() {
            words.view = Some(view);
        } else {
            words.copy = bytemuck::pod_collect_to_vec(&view[..]);
        }
        Ok(words)
    }

    fn view(&self, gpu: &Gpu, limit: Duration) -> Result<wgpu::BufferView> {
        let begin = Instant::now();
        let wait = wgpu::PollType::Wait { submission_index: Some(self.submission.clone()), timeout: Some(limit) };
        match gpu.device.poll(wait) {
            Ok(_) => {}
            Err(wgpu::PollError::Timeout) => {
                return Err(gpu.error(format!("no answer for {:.0} s", begin.elapsed().as_secs_f64())));
            }
            Err(error) => return Err(gpu.error(format!("waiting failed: {error}"))),
        }
        wait_for_callback(gpu, &self.mapped, begin + limit)?;
        gpu.check()?;
        self.staging
            .slice(..self.bytes)
            .get_mapped_range()
            .map_err(|error| gpu.error(format!("results could not be read: {error}")))
    }
}

/// Waits until `end` for the callback of a mapping whose submission is done.
///
/// If several threads wait for a device, any of them may have to call the callback, and does so
/// only after this thread's wait has ended.
pub(crate) fn wait_for_callback(gpu: &Gpu, mapped: &MappingResult, end: Instant) -> Result<()> {
    loop {
        match mapped.recv_timeout(CALLBACK_WAIT) {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => return Err(gpu.error(format!("a buffer could not be mapped: {error}"))),
            Err(RecvTimeoutError::Timeout) if Instant::now() < end => {
                let _ = gpu.device.poll(wgpu::PollType::Poll);
            }
            Err(_) => return Err(gpu.error("results never came")),
        }
    }
}

/// Values that a device wrote, as u32. The buffer can be used again after this is dropped.
///
/// Reading single values from mapped memory can be slow. A caller that reads them more than once or
/// out of order should copy them first.
pub(crate) struct ReadbackWords {
    /// The mapped buffer, if it is read in place.
    view: Option<wgpu::BufferView>,
    copy: Vec<u32>,
    /// Number of values.
    count: usize,
    staging: wgpu::Buffer,
}

impl ReadbackWords {
    /// Drops all values after the first `count`.
    pub(crate) fn truncate(&mut self, count: usize) {
        self.count = self.count.min(count);
    }

    /// Copies the values and unmaps the buffer.
    pub(crate) fn into_vec(self) -> Vec<u32> {
        self.to_vec()
    }
}

impl Deref for ReadbackWords {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        match &self.view {
            // The cast was checked when the view was created.
            Some(view) => &bytemuck::cast_slice(view)[..self.count],
            None => &self.copy[..self.count],
        }
    }
}

impl Drop for ReadbackWords {
    fn drop(&mut self) {
        // A view must not outlive the mapping.
        drop(self.view.take());
        self.staging.unmap();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::adapter::enumerate;

    /// Engines that share a device wait for it at the same time. One thread calls the callbacks for all
    /// finished mappings.
    #[test]
    fn threads_that_share_a_device_read_their_own_results() {
        const WORDS: u64 = 16;
        let adapter = enumerate().into_iter().next().expect("no adapter: install software Vulkan");
        let gpu = Gpu::open(&adapter).unwrap();
        let read = |round: u64| {
            let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
            let label = Some("results");
            let descriptor = wgpu::BufferDescriptor { label, size: 4 * WORDS, usage, mapped_at_creation: false };
            let staging = gpu.device.create_buffer(&descriptor);
            let values = vec![round as u32; WORDS as usize];
            gpu.queue.write_buffer(&staging, 0, bytemuck::cast_slice(&values));
            let submission = gpu.queue.submit([]);
            let words = Readback::begin(&staging, 4 * WORDS, submission).read(&gpu, Duration::from_secs(60)).unwrap();
            assert_eq!(words[..], values);
        };
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..500).for_each(&read));
            }
        });
    }
}
