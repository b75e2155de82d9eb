//! Measures the time that the device is busy with a batch, with the device's timestamps.

use super::device::Gpu;

/// Bytes of two timestamps.
pub(crate) const TIME_BYTES: u64 = 16;

/// Timestamps at the start and the end of a batch, if the device supports them.
pub(crate) struct PassTimer {
    times: Option<(wgpu::QuerySet, wgpu::Buffer)>,
}

impl PassTimer {
    /// Returns a timer for one batch at a time.
    pub(crate) fn new(gpu: &Gpu) -> Self {
        let times = gpu.timestamps.then(|| {
            let queries = gpu.device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("pass times"),
                ty: wgpu::QueryType::Timestamp,
                count: 2,
            });
            let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("pass times"),
                size: TIME_BYTES,
                usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            });
            (queries, buffer)
        });
        PassTimer { times }
    }

    /// Starts a pass. The timer records the start of the first pass and the end of the last pass of
    /// a batch.
    pub(crate) fn begin_pass<'encoder>(
        &self,
        encoder: &'encoder mut wgpu::CommandEncoder,
        label: &str,
        first: bool,
        last: bool,
    ) -> wgpu::ComputePass<'encoder> {
        let timestamp_writes = self.times.as_ref().map(|(queries, _)| wgpu::ComputePassTimestampWrites {
            query_set: queries,
            beginning_of_pass_write_index: first.then_some(0),
            end_of_pass_write_index: last.then_some(1),
        });
        encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some(label),
            timestamp_writes: timestamp_writes.filter(|_| first || last),
        })
    }

    /// Copies the timestamps to `offset` of a staging buffer.
    pub(crate) fn resolve(&self, encoder: &mut wgpu::CommandEncoder, staging: &wgpu::Buffer, offset: u64) {
        if let Some((queries, buffer)) = &self.times {
            encoder.resolve_query_set(queries, 0..2, buffer, 0);
            encoder.copy_buffer_to_buffer(buffer, 0, staging, offset, TIME_BYTES);
        }
    }

    /// Returns the time between the two timestamps, which are the last values that were read back.
    pub(crate) fn elapsed(&self, gpu: &Gpu, words: &[u32]) -> Option<std::time::Duration> {
        self.times.as_ref()?;
        let at = words.len() - TIME_BYTES as usize / 4;
        let ticks = |at: usize| words[at] as u64 | (words[at + 1] as u64) << 32;
        let nanoseconds = ticks(at + 2).saturating_sub(ticks(at)) as f64 * gpu.queue.get_timestamp_period() as f64;
        Some(std::time::Duration::from_nanos(nanoseconds as u64))
    }
}
