//! Reading a buffer that a submission fills: ask at once, wait later.

use std::ops::Deref;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::device::Gpu;
use crate::error::Result;

/// A mapping that was asked for.
pub(crate) struct Readback {
    staging: wgpu::Buffer,
    bytes: u64,
    submission: wgpu::SubmissionIndex,
    mapped: mpsc::Receiver<Result<(), wgpu::BufferAsyncError>>,
}

impl Readback {
    /// Asks for the first `bytes` of a staging buffer as `submission` leaves them. Does not wait.
    pub(crate) fn begin(staging: &wgpu::Buffer, bytes: u64, submission: wgpu::SubmissionIndex) -> Self {
        let (sender, mapped) = mpsc::channel();
        staging.slice(..bytes).map_async(wgpu::MapMode::Read, move |result| {
            // The receiver is gone only if nobody wants the result any more.
            let _ = sender.send(result);
        });
        Readback { staging: staging.clone(), bytes, submission, mapped }
    }

    /// Waits without spinning, at most as long as `limit`, and copies the words out. The buffer can be used again.
    pub(crate) fn words(self, gpu: &Gpu, limit: Duration) -> Result<Vec<u32>> {
        Ok(std::mem::take(&mut self.read(gpu, limit, false)?.copy))
    }

    /// As [`Self::words`], in memory that is there already: the kernel gives it once, not for every batch. Only as many words as
    /// `needed` says when it sees all of them.
    pub(crate) fn words_into(
        self,
        gpu: &Gpu,
        limit: Duration,
        words: &mut Vec<u32>,
        needed: impl FnOnce(&[u32]) -> usize,
    ) -> Result<()> {
        let mapped = self.read(gpu, limit, true)?;
        words.clear();
        words.extend_from_slice(&mapped[..needed(&mapped).min(mapped.len())]);
        Ok(())
    }

    /// As [`Self::words`], but `in_place` leaves the words in the mapped buffer.
    pub(crate) fn read(self, gpu: &Gpu, limit: Duration, in_place: bool) -> Result<Words> {
        // From here on the buffer is unmapped whatever happens.
        let mut words = Words { view: None, copy: Vec::new(), staging: self.staging.clone() };
        let view = self.view(gpu, limit)?;
        // The host may read device-visible memory slowly word by word; one copy reads it in order.
        if in_place && bytemuck::try_cast_slice::<u8, u32>(&view).is_ok() {
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

/// Words that a device wrote. The buffer that they came in can be used again once this is dropped.
pub(crate) struct Words {
    /// The mapped buffer, if it is read in place.
    view: Option<wgpu::BufferView>,
    copy: Vec<u32>,
    staging: wgpu::Buffer,
}

impl Deref for Words {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        match &self.view {
            // Checked when the view was taken.
            Some(view) => bytemuck::cast_slice(view),
            None => &self.copy,
        }
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        // A view must not outlive the mapping.
        drop(self.view.take());
        self.staging.unmap();
    }
}
