//! One of the batches that are in flight at once: its buffers, its dispatches, its crossings.

use std::time::Duration;

use crate::error::Result;
use crate::gpu::clock::{Clock, TIME_BYTES};
use crate::gpu::device::{Gpu, GrowingBuffer};
use crate::gpu::pipeline::Compiled;
use crate::gpu::readback::Readback;
use crate::profile::kernels::layout::{Node, Params};
use crate::profile::kernels::tasks::{Launch, Tasks};
use crate::profile::work::{Merged, ProfileReport};

/// The programs of a batch.
pub struct Programs {
    /// `profile_tile`.
    pub tile: Compiled,
    /// `profile_cross`.
    pub cross: Compiled,
}

/// Buffers of one batch.
pub struct ProfileSlot {
    params: GrowingBuffer,
    problems: GrowingBuffer,
    data: GrowingBuffer,
    nodes: GrowingBuffer,
    rows: GrowingBuffer,
    columns: GrowingBuffer,
    corners: GrowingBuffer,
    staging: GrowingBuffer,
    clock: Clock,
    in_flight: Option<Readback>,
}

impl ProfileSlot {
    /// No buffers yet.
    pub fn new(gpu: &Gpu) -> Self {
        ProfileSlot {
            params: GrowingBuffer::default(),
            problems: GrowingBuffer::default(),
            data: GrowingBuffer::default(),
            nodes: GrowingBuffer::default(),
            rows: GrowingBuffer::default(),
            columns: GrowingBuffer::default(),
            corners: GrowingBuffer::default(),
            staging: GrowingBuffer::default(),
            clock: Clock::new(gpu),
            in_flight: None,
        }
    }

    /// Gives the memory of its buffers back; it holds no batch.
    pub fn release(&mut self) {
        let all = [&mut self.params, &mut self.problems, &mut self.data, &mut self.nodes];
        all.into_iter().for_each(|buffer| *buffer = GrowingBuffer::default());
        let all = [&mut self.rows, &mut self.columns, &mut self.corners, &mut self.staging];
        all.into_iter().for_each(|buffer| *buffer = GrowingBuffer::default());
        self.in_flight = None;
    }

    /// Hands a batch to the device.
    pub fn start(&mut self, gpu: &Gpu, tasks: &Tasks, programs: &Programs) -> Result<()> {
        let limits = gpu.device.limits();
        let stride = (size_of::<Params>() as u32).next_multiple_of(limits.min_uniform_buffer_offset_alignment);
        // A batch of rectangles that are all small has nothing to launch, but its bindings are there.
        let mut params = vec![0u8; stride as usize * tasks.launches.len().max(1)];
        for (bytes, (_, own, _)) in params.chunks_mut(stride as usize).zip(&tasks.launches) {
            bytes[..size_of::<Params>()].copy_from_slice(bytemuck::bytes_of(own));
        }
        let storage = wgpu::BufferUsages::STORAGE;
        let params = self.params.fill(gpu, "parameters", wgpu::BufferUsages::UNIFORM, &params)?;
        let problems = self.problems.fill(gpu, "problems", storage, bytemuck::cast_slice(&tasks.problems))?;
        let data = self.data.fill(gpu, "profiles", storage, bytemuck::cast_slice(&tasks.data))?;
        let usage = storage | wgpu::BufferUsages::COPY_SRC;
        let nodes = self.nodes.fill(gpu, "rectangles", usage, bytemuck::cast_slice(&tasks.nodes))?;
        let [rows, columns, corners] = tasks.borders;
        let rows = self.rows.reserve(gpu, "rows", 8 * rows, storage)?.clone();
        let columns = self.columns.reserve(gpu, "columns", 8 * columns, storage)?.clone();
        let corners = self.corners.reserve(gpu, "corners", 4 * corners, storage)?.clone();
        let bytes = size_of_val(&tasks.nodes[..]) as u64;
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let staging = self.staging.reserve(gpu, "staging", bytes + TIME_BYTES, usage)?.clone();
        let buffers = [
            ("params", &params),
            ("problems", &problems),
            ("data", &data),
            ("nodes", &nodes),
            ("rows", &rows),
            ("columns", &columns),
            ("corners", &corners),
        ];
        let bound = [programs.tile.bind(gpu, &buffers)?, programs.cross.bind(gpu, &buffers)?];
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        if !tasks.launches.is_empty() {
            let mut pass = self.clock.begin_pass(&mut encoder, "profiles", true, true);
            for (index, &(launch, _, groups)) in tasks.launches.iter().enumerate() {
                let (program, bound) = match launch {
                    Launch::Tiles => (&programs.tile, &bound[0]),
                    Launch::Crossings => (&programs.cross, &bound[1]),
                };
                pass.set_pipeline(&program.pipeline);
                pass.set_bind_group(0, bound, &[index as u32 * stride]);
                let side = groups.clamp(1, limits.max_compute_workgroups_per_dimension.into());
                pass.dispatch_workgroups(side as u32, groups.div_ceil(side) as u32, 1);
            }
        }
        encoder.copy_buffer_to_buffer(&nodes, 0, &staging, 0, bytes);
        if !tasks.launches.is_empty() {
            self.clock.resolve(&mut encoder, &staging, bytes);
        }
        let submission = gpu.queue.submit([encoder.finish()]);
        self.in_flight = Some(Readback::begin(&staging, bytes + TIME_BYTES, submission));
        gpu.check()
    }

    /// Waits for the batch and takes its crossings.
    pub fn finish(&mut self, gpu: &Gpu, tasks: &Tasks, limit: Duration) -> Result<ProfileReport> {
        let readback = self.in_flight.take().ok_or_else(|| gpu.error("no batch in flight"))?;
        let words = readback.read(gpu, limit, true)?;
        let nodes: &[Node] = bytemuck::cast_slice(&words[..tasks.nodes.len() * size_of::<Node>() / 4]);
        let merged = (0..tasks.problems.len()).map(|problem| Merged::Divided(tasks.divided(problem, nodes))).collect();
        let kernel_time = if tasks.launches.is_empty() { None } else { self.clock.elapsed(gpu, &words) };
        Ok(ProfileReport { merged, unfinished: Vec::new(), kernel_time })
    }
}
