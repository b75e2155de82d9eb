//! The dispatches of a batch. Each round contains the tasks that fit in memory at the same time. If
//! the device limits loops, a round is divided into several dispatches.

use super::results::OUTPUT_HEADER;
use crate::error::Result;
use crate::gpu::device::Gpu;
use crate::gpu::launch::Buffers;
use crate::gpu::pipeline::Compiled;
use crate::posterior::kernel::CUTOFF;
use crate::posterior::kernels::layout::PosteriorParams;
use crate::posterior::kernels::program::PosteriorVariant;
use crate::posterior::kernels::tasks::PosteriorTasks;
use crate::posterior::model::Model;

/// Factor that lowers the kernel's cutoff. It covers the relative error in a sum of 131,072 floats,
/// with a reserve.
const SLACK: f32 = 0.97;
/// Number of strips of one dispatch if loops are not limited.
const ALL_STRIPS: u32 = 1 << 20;

/// Inputs for recording a batch.
pub(super) struct PosteriorWork<'a> {
    /// The packed sequences.
    pub symbols: &'a wgpu::Buffer,
    /// Weights of all pairs of codes.
    pub table: &'a wgpu::Buffer,
    /// Weights of gaps.
    pub model: &'a Model,
    /// The tasks.
    pub tasks: &'a PosteriorTasks,
    /// Programs in the order of their dispatches in a round.
    pub programs: &'a [(PosteriorVariant, Compiled)],
    /// Capacity of the reserved memory, in survivors.
    pub capacity: u32,
    /// Maximum number of loop iterations of an invocation in a dispatch.
    pub loop_budget: Option<u64>,
    /// Maximum bytes of a binding.
    pub binding: u64,
    /// Maximum bytes of forward values. Scratch memory has half as many.
    pub kept_bytes: u64,
}

/// Records a batch: its pairs, its tasks, its dispatches and the copy of its results.
pub(super) fn record(gpu: &Gpu, buffers: &mut Buffers, work: &PosteriorWork<'_>) -> Result<()> {
    let tasks = work.tasks;
    let dispatches = plan(gpu, work)?;
    let bytes = 4 * (OUTPUT_HEADER as u64 + tasks.result_words + 2 * u64::from(work.capacity));
    if bytes > work.binding {
        return Err(gpu.refusal(format!("{bytes} bytes of results exceed its limit of {}", work.binding)));
    }
    let mut recording = buffers.record(gpu);
    recording.resident("symbols", work.symbols);
    recording.resident("table", work.table);
    recording.upload("pairs", &tasks.pairs)?;
    recording.upload("tasks", &tasks.list)?;
    recording.reserve("kept", with_reserve(16 * tasks.kept_fours, work.kept_bytes))?;
    recording.reserve("scratch", with_reserve(4 * tasks.scratch_words, work.kept_bytes / 2))?;
    let reserved = with_reserve(bytes, work.binding);
    recording.reserve("out", reserved)?;
    recording.make_room_for_results(reserved);
    recording.zero("out", 0..4 * OUTPUT_HEADER as u64)?;
    for (program, params) in &dispatches {
        recording.dispatch(&work.programs[*program].1, params, params.task_count.into());
    }
    recording.copy_back("out", 0..bytes)?;
    recording.submit("posterior")
}

/// Returns the size of a buffer that needs at least `bytes` and may have at most `most` bytes.
/// Batches differ slightly in size, and memory that the host reads is slow to allocate. The reserve
/// avoids new allocations.
fn with_reserve(bytes: u64, most: u64) -> u64 {
    (bytes + bytes / 4).next_power_of_two().min(most).max(bytes)
}

/// Plans the dispatches of a batch, each with the index of its program. A round becomes several
/// dispatches if the device limits loops.
fn plan(gpu: &Gpu, work: &PosteriorWork<'_>) -> Result<Vec<(usize, PosteriorParams)>> {
    let tasks = work.tasks;
    let mut dispatches = Vec::new();
    for round in &tasks.rounds {
        let round_tasks = &tasks.list[round.start as usize..round.end as usize];
        let strips = round_tasks.iter().map(|task| task.strips).max().unwrap_or(0);
        for (index, (variant, _)) in work.programs.iter().enumerate() {
            let at_once = match work.loop_budget {
                None => ALL_STRIPS,
                Some(budget) => {
                    let groups = round_tasks.iter().map(|task| task.groups).max().unwrap_or(0);
                    let residues = [8 * groups, strips * variant.lanes * 16];
                    let list = round_tasks.iter().map(|task| task.list).max().unwrap_or(0);
                    let rest = budget.saturating_sub(variant.other_iterations(residues, list));
                    (rest / variant.strip_iterations(groups)) as u32
                }
            };
            if at_once == 0 {
                return Err(gpu.refusal("its loops are too short for sequences of this length"));
            }
            for start in (0..strips).step_by(at_once as usize) {
                let params = PosteriorParams {
                    task_begin: round.start,
                    task_count: round.end - round.start,
                    strip_begin: start,
                    strip_end: (start + at_once).min(strips),
                    capacity: work.capacity,
                    arena_begin: tasks.result_words as u32,
                    zero: 0,
                    open: work.model.open,
                    extend: work.model.extend,
                    cutoff: CUTOFF * SLACK,
                    end_gap: work.model.end_gap,
                    reserved: 0,
                };
                dispatches.push((index, params));
            }
        }
    }
    Ok(dispatches)
}
