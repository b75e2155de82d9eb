//! Device memory of a traceback.

use std::time::Duration;

use super::TraceInput;
use super::window::BlockWindow;
use crate::error::Result;
use crate::gpu::device::Gpu;
use crate::gpu::launch::{Buffers, Slot};
use crate::gpu::pipeline::Compiled;
use crate::long::kernels::striped_trace::{TracebackParams, table};
use crate::score::Substitution;

/// Input of one round of a traceback.
pub(super) struct TraceRound<'a> {
    /// Parameters of all stages.
    pub params: &'a TracebackParams,
    /// The blocks that the round may enter.
    pub window: &'a BlockWindow,
    /// Whether the window must be uploaded, because the device does not have it yet.
    pub is_new: bool,
    /// Sizes of the buffers.
    pub sizes: TraceBufferSizes,
    /// The stages and their numbers of workgroups.
    pub stages: Vec<(Compiled, u32)>,
    /// Maximum time to wait for the results.
    pub limit: Duration,
}

/// Sizes of the buffers of a round, in u32 values.
pub(super) struct TraceBufferSizes {
    /// Start states.
    pub starts: u64,
    /// The list of parts.
    pub paths: u64,
    /// Directions.
    pub directions: u64,
    /// Runs.
    pub runs: u64,
}

/// Memory that is reused while it is large enough.
pub(super) struct TraceBuffers {
    buffers: Buffers,
    table: Option<(Substitution, wgpu::Buffer)>,
}

impl TraceBuffers {
    /// Creates an empty set.
    pub(super) fn new(gpu: &Gpu) -> Self {
        TraceBuffers { buffers: Buffers::new(gpu), table: None }
    }

    /// Frees the memory.
    pub(super) fn release(&mut self) {
        self.buffers.release();
        self.table = None;
    }

    /// Uploads a table of scores unless it is on the device.
    pub(super) fn load_table(&mut self, gpu: &Gpu, substitution: &Substitution) -> Result<()> {
        if self.table.as_ref().is_none_or(|(cached, _)| cached != substitution) {
            let buffer = gpu.upload("scores", bytemuck::cast_slice(&table(substitution)))?;
            self.table = Some((substitution.clone(), buffer));
        }
        Ok(())
    }

    /// Computes a round: uploads its window if it is new, runs the stages, and returns the list of
    /// parts and their runs.
    pub(super) fn run(&mut self, gpu: &Gpu, input: &TraceInput, round: &TraceRound<'_>) -> Result<Vec<u32>> {
        let TraceRound { params, window, is_new, sizes, stages, limit } = round;
        let Some((_, table)) = &self.table else { return Err(gpu.error("no scores")) };
        // Sizes are powers of two, so that a slightly larger round does not need new buffers.
        let roomy = |words: u64| 4 * words.next_power_of_two();
        let mut recording = self.buffers.record(gpu);
        recording.resident("vertical", &input.grid.vertical);
        recording.resident("horizontal", &input.grid.horizontal);
        recording.resident("query_codes", input.query);
        recording.resident("target_codes", input.target);
        recording.resident("table", table);
        let spans_bytes = size_of_val(&window.spans[..]) as u64;
        let window_words = 4 * (window.spans.len() + window.blocks.len()) as u64;
        let window_buffer = recording.reserve("window", roomy(window_words))?;
        if *is_new {
            gpu.queue.write_buffer(&window_buffer, 0, bytemuck::cast_slice(&window.spans));
            gpu.queue.write_buffer(&window_buffer, spans_bytes, bytemuck::cast_slice(&window.blocks));
        }
        recording.reserve("starts", 4 * sizes.starts)?;
        recording.reserve("paths", roomy(sizes.paths))?;
        recording.reserve("directions", 4 * sizes.directions)?;
        recording.reserve("runs", roomy(sizes.runs))?;
        for (program, workgroups) in stages.iter().filter(|(_, workgroups)| *workgroups > 0) {
            recording.dispatch(program, *params, (*workgroups).into());
        }
        recording.copy_back("paths", 0..4 * sizes.paths)?;
        recording.copy_back("runs", 0..4 * sizes.runs)?;
        recording.make_room_for_results(roomy(sizes.paths + sizes.runs));
        recording.submit("traceback")?;
        Ok(self.buffers.collect(gpu, *limit)?.words.into_vec())
    }
}
