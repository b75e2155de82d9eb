//! Reads buffers that a submission fills. The host requests the mapping at once and waits for it
//! later.

use std::ops::Deref;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::device::Gpu;
use crate::error::Result;

/// A requested mapping.
pub(crate) struct Readback {
    staging: wgpu::Buffer,
    bytes: u64,
    submission: wgpu::SubmissionIndex,
    mapped: mpsc::Receiver<Result<(), wgpu::BufferAsyncError>>,
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
        match self.mapped.try_recv() {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(gpu.error(format!("results could not be read: {error}"))),
            Err(_) => return Err(gpu.error("results never came")),
        }
        gpu.check()?;
        self.staging
            .slice(..self.bytes)
            .get_mapped_range()
            .map_err(|error| gpu.error(format!("results could not be read: {error}")))
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
