//! What every batch brings to the device beside the sequences: parameters, targets, tasks, the table; and its clock.

use super::device::{Gpu, GrowingBuffer};
use super::resident::Resident;
use crate::engine::Band;
use crate::error::Result;
use crate::kernels::layout::{Params, Target, Task};

/// Bytes of two timestamps.
pub const TIME_BYTES: u64 = 16;

/// Buffers that batches fill one after the other.
#[derive(Default)]
pub struct Uploads {
    params: GrowingBuffer,
    targets: GrowingBuffer,
    tasks: GrowingBuffer,
    table: GrowingBuffer,
}

/// The buffers of one batch.
pub struct Uploaded {
    params: wgpu::Buffer,
    targets: wgpu::Buffer,
    tasks: wgpu::Buffer,
    table: wgpu::Buffer,
    /// Bytes from the parameters of one dispatch to those of the next.
    pub params_stride: u32,
}

impl Uploads {
    /// Fills the buffers.
    pub fn fill(
        &mut self,
        gpu: &Gpu,
        band: &Band,
        resident_targets: &Resident,
        tasks: &[Task],
        table: &[i32],
        dispatches: impl ExactSizeIterator<Item = Params>,
    ) -> Result<Uploaded> {
        let targets: Vec<Target> = band
            .order
            .iter()
            .map(|&id| Target {
                end_word: resident_targets.end_word(&band.targets, id),
                symbols: band.targets.length(id),
                number: id,
            })
            .collect();
        let stride =
            size_of::<Params>().next_multiple_of(gpu.device.limits().min_uniform_buffer_offset_alignment as usize);
        let mut params = vec![0u8; stride * dispatches.len()];
        for (place, dispatch) in params.chunks_mut(stride).zip(dispatches) {
            place[..size_of::<Params>()].copy_from_slice(bytemuck::bytes_of(&dispatch));
        }
        let fill = |buffer: &mut GrowingBuffer, label: &str, usage: wgpu::BufferUsages, content: &[u8]| {
            let usage = usage | wgpu::BufferUsages::COPY_DST;
            let buffer = buffer.reserve(gpu, label, content.len() as u64, usage)?;
            gpu.queue.write_buffer(buffer, 0, content);
            Result::Ok(buffer.clone())
        };
        let storage = wgpu::BufferUsages::STORAGE;
        Ok(Uploaded {
            params: fill(&mut self.params, "parameters", wgpu::BufferUsages::UNIFORM, &params)?,
            targets: fill(&mut self.targets, "targets", storage, bytemuck::cast_slice(&targets))?,
            tasks: fill(&mut self.tasks, "tasks", storage, bytemuck::cast_slice(tasks))?,
            table: fill(&mut self.table, "table", storage, bytemuck::cast_slice(table))?,
            params_stride: stride as u32,
        })
    }
}

impl Uploaded {
    /// The bindings of a kernel: these buffers, the sequences, the output, and scratch buffers from binding `first` on.
    pub fn bind(
        &self,
        gpu: &Gpu,
        layout: &wgpu::BindGroupLayout,
        queries: &Resident,
        targets: &Resident,
        output: &wgpu::Buffer,
        (first, scratch): (u32, &[wgpu::Buffer]),
    ) -> wgpu::BindGroup {
        let mut entries = vec![wgpu::BindGroupEntry {
            binding: 0,
            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: &self.params,
                offset: 0,
                size: std::num::NonZeroU64::new(size_of::<Params>() as u64),
            }),
        }];
        let buffers = [&queries.buffer, &targets.buffer, &self.targets, &self.tasks, &self.table];
        let written = (first..).zip(scratch).chain([(7, output)]);
        entries.extend(
            (1..)
                .zip(buffers)
                .chain(written)
                .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() }),
        );
        gpu.device.create_bind_group(&wgpu::BindGroupDescriptor { label: Some("nw"), layout, entries: &entries })
    }
}

/// Timestamps at the begin and the end of a batch, if the device has them.
pub struct Clock {
    times: Option<(wgpu::QuerySet, wgpu::Buffer)>,
}

impl Clock {
    /// A clock for one batch at a time.
    pub fn new(gpu: &Gpu) -> Self {
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
        Clock { times }
    }

    /// Begins a pass; the first and the last of a batch are timed.
    pub fn begin_pass<'encoder>(
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

    /// Copies the times to `offset` of a staging buffer.
    pub fn resolve(&self, encoder: &mut wgpu::CommandEncoder, staging: &wgpu::Buffer, offset: u64) {
        if let Some((queries, buffer)) = &self.times {
            encoder.resolve_query_set(queries, 0..2, buffer, 0);
            encoder.copy_buffer_to_buffer(buffer, 0, staging, offset, TIME_BYTES);
        }
    }

    /// The time between the two, from the last words of what was read back.
    pub fn elapsed(&self, gpu: &Gpu, words: &[u32]) -> Option<std::time::Duration> {
        self.times.as_ref()?;
        let at = words.len() - TIME_BYTES as usize / 4;
        let ticks = |at: usize| words[at] as u64 | (words[at + 1] as u64) << 32;
        let nanoseconds = ticks(at + 2).saturating_sub(ticks(at)) as f64 * gpu.queue.get_timestamp_period() as f64;
        Some(std::time::Duration::from_nanos(nanoseconds as u64))
    }
}
