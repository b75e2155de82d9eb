//! The memory of a traceback on the device.

use super::TraceInput;
use super::window::Window;
use crate::error::Result;
use crate::gpu::device::{Gpu, GrowingBuffer};
use crate::gpu::pipeline::Compiled;
use crate::long::kernels::striped_trace::{Params, table};
use crate::score::Substitution;

/// Words of the buffers of a round.
pub(super) struct Sizes {
    /// Start states.
    pub starts: u64,
    /// The list of parts.
    pub paths: u64,
    /// Directions.
    pub directions: u64,
    /// Runs.
    pub runs: u64,
}

/// Buffers that are reused while they are large enough.
#[derive(Default)]
pub(super) struct TraceBuffers {
    params: GrowingBuffer,
    window: GrowingBuffer,
    starts: GrowingBuffer,
    paths: GrowingBuffer,
    directions: GrowingBuffer,
    runs: GrowingBuffer,
    staging: GrowingBuffer,
    table: Option<(Substitution, wgpu::Buffer)>,
}

/// What a round binds, program by program, and what it reads back.
pub(super) struct Bound {
    /// Bind groups.
    pub groups: Vec<wgpu::BindGroup>,
    /// The list of parts.
    pub paths: wgpu::Buffer,
    /// Their runs.
    pub runs: wgpu::Buffer,
    /// Where both are copied.
    pub staging: wgpu::Buffer,
}

impl TraceBuffers {
    /// Sees to it that a table of scores is on the device.
    pub(super) fn load_table(&mut self, gpu: &Gpu, substitution: &Substitution) -> Result<()> {
        if self.table.as_ref().is_none_or(|(own, _)| own != substitution) {
            let buffer = gpu.upload("scores", bytemuck::cast_slice(&table(substitution)))?;
            self.table = Some((substitution.clone(), buffer));
        }
        Ok(())
    }

    /// Makes room for a round, hands it its parameters and, if it is new, its window, and binds all for the programs.
    pub(super) fn fill(
        &mut self,
        gpu: &Gpu,
        input: &TraceInput,
        (params, window, is_new): (&Params, &Window, bool),
        sizes: &Sizes,
        programs: &[Compiled],
    ) -> Result<Bound> {
        use wgpu::BufferUsages as Usage;
        let storage = Usage::STORAGE;
        let room = |buffer: &mut GrowingBuffer, label: &str, words: u64, usage: Usage| {
            // Powers of two, so that a slightly larger round does not mean a new buffer.
            buffer.reserve(gpu, label, 4 * words.next_power_of_two(), usage).cloned()
        };
        let uniform = self
            .params
            .reserve(gpu, "parameters", size_of::<Params>() as u64, Usage::UNIFORM | Usage::COPY_DST)?
            .clone();
        let window_words = 4 * (window.spans.len() + window.blocks.len()) as u64;
        let window_buffer = room(&mut self.window, "window", window_words, storage | Usage::COPY_DST)?;
        let starts = self.starts.reserve(gpu, "start states", 4 * sizes.starts, storage)?.clone();
        let paths = room(&mut self.paths, "parts", sizes.paths, storage | Usage::COPY_SRC)?;
        let directions = self.directions.reserve(gpu, "directions", 4 * sizes.directions, storage)?.clone();
        let runs = room(&mut self.runs, "runs", sizes.runs, storage | Usage::COPY_SRC)?;
        let staging = room(&mut self.staging, "staging", sizes.paths + sizes.runs, Usage::MAP_READ | Usage::COPY_DST)?;
        gpu.queue.write_buffer(&uniform, 0, bytemuck::bytes_of(params));
        if is_new {
            gpu.queue.write_buffer(&window_buffer, 0, bytemuck::cast_slice(&window.spans));
            let offset = size_of_val(&window.spans[..]) as u64;
            gpu.queue.write_buffer(&window_buffer, offset, bytemuck::cast_slice(&window.blocks));
        }
        let Some((_, table)) = &self.table else { return Err(gpu.error("no scores")) };
        let all = [
            ("params", &uniform),
            ("vertical", &input.grid.vertical),
            ("horizontal", &input.grid.horizontal),
            ("query_codes", input.query),
            ("target_codes", input.target),
            ("table", table),
            ("window", &window_buffer),
            ("starts", &starts),
            ("paths", &paths),
            ("directions", &directions),
            ("runs", &runs),
        ];
        let groups = programs.iter().map(|program| program.bind(gpu, &all)).collect::<Result<_>>()?;
        Ok(Bound { groups, paths, runs, staging })
    }
}
