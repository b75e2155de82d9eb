//! Reading a buffer that a submission fills: ask at once, wait later.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::device::Gpu;
use crate::error::Result;

/// A mapping that was asked for.
pub struct Readback {
    staging: wgpu::Buffer,
    bytes: u64,
    submission: wgpu::SubmissionIndex,
    mapped: mpsc::Receiver<Result<(), wgpu::BufferAsyncError>>,
}

impl Readback {
    /// Asks for the first `bytes` of a staging buffer as `submission` leaves them. Does not wait.
    pub fn begin(staging: &wgpu::Buffer, bytes: u64, submission: wgpu::SubmissionIndex) -> Self {
        let (sender, mapped) = mpsc::channel();
        staging.slice(..bytes).map_async(wgpu::MapMode::Read, move |result| {
            // The receiver is gone only if nobody wants the result any more.
            let _ = sender.send(result);
        });
        Readback { staging: staging.clone(), bytes, submission, mapped }
    }

    /// Waits without spinning, at most as long as `limit`, and copies the words out. The buffer can be used again.
    pub fn words(self, gpu: &Gpu, limit: Duration) -> Result<Vec<u32>> {
        let words = self.copy(gpu, limit);
        self.staging.unmap();
        words
    }

    fn copy(&self, gpu: &Gpu, limit: Duration) -> Result<Vec<u32>> {
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
        let view = self
            .staging
            .slice(..self.bytes)
            .get_mapped_range()
            .map_err(|error| gpu.error(format!("results could not be read: {error}")))?;
        // One copy out of device-visible memory, which the host may read slowly word by word.
        Ok(bytemuck::pod_collect_to_vec(&view[..]))
    }
}
