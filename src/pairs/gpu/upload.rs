//! What every batch brings to the device beside the sequences: parameters, targets, tasks, the table.

use super::resident::Resident;
use crate::error::Result;
use crate::gpu::device::{Gpu, GrowingBuffer};
use crate::pairs::Band;
use crate::pairs::kernels::layout::{Params, Target, Task};

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
