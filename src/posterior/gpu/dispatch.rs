//! A batch as dispatches: rounds of tasks whose memory fits, and parts of them where loops end early.

use super::results::OUTPUT_HEADER;
use crate::error::Result;
use crate::gpu::device::Gpu;
use crate::gpu::launch::Buffers;
use crate::gpu::pipeline::Compiled;
use crate::posterior::kernel::CUTOFF;
use crate::posterior::kernels::layout::Params;
use crate::posterior::kernels::program::Variant;
use crate::posterior::kernels::tasks::Tasks;
use crate::posterior::model::Model;

/// What a kernel may be wrong about a sum of 131,072 floats, and more.
const SLACK: f32 = 0.97;
/// Strips of one dispatch at most, where all that loops can do is one dispatch.
const ALL_STRIPS: u32 = 1 << 20;

/// What a batch needs beside its own lists.
pub(super) struct PosteriorWork<'a> {
    /// The packed sequences.
    pub symbols: &'a wgpu::Buffer,
    /// Weights of all pairs of codes.
    pub table: &'a wgpu::Buffer,
    /// What gaps weigh.
    pub model: &'a Model,
    /// What is to be computed.
    pub tasks: &'a Tasks,
    /// The programs in the order in which they go over a round of tasks.
    pub programs: &'a [(Variant, Compiled)],
    /// Survivors that there is room for.
    pub capacity: u32,
    /// Iterations that an invocation may make in a dispatch.
    pub loop_budget: Option<u64>,
    /// Bytes of a binding at most.
    pub binding: u64,
    /// Bytes of forward values at most; of scratch memory half as many.
    pub kept_bytes: u64,
}

/// Records a batch: its pairs, its tasks, its dispatches and the copy of its results.
pub(super) fn record(gpu: &Gpu, buffers: &mut Buffers, work: &PosteriorWork<'_>) -> Result<()> {
    let tasks = work.tasks;
    let dispatches = plan(gpu, work)?;
    let bytes = 4 * (OUTPUT_HEADER as u64 + tasks.result_words + 2 * u64::from(work.capacity));
    if bytes > work.binding {
        return Err(gpu.unsuited(format!("{bytes} bytes of results exceed its limit of {}", work.binding)));
    }
    let mut recording = buffers.record(gpu);
    recording.resident("symbols", work.symbols);
    recording.resident("table", work.table);
    recording.upload("pairs", &tasks.pairs)?;
    recording.upload("tasks", &tasks.list)?;
    recording.reserve("kept", roomy(16 * tasks.kept_fours, work.kept_bytes))?;
    recording.reserve("scratch", roomy(4 * tasks.scratch_words, work.kept_bytes / 2))?;
    let room = roomy(bytes, work.binding);
    recording.reserve("out", room)?;
    recording.make_room_for_results(room);
    recording.zero("out", 0..4 * OUTPUT_HEADER as u64)?;
    for (program, params) in &dispatches {
        recording.dispatch(&work.programs[*program].1, params, params.task_count.into());
    }
    recording.copy_back("out", 0..bytes)?;
    recording.submit("posterior")
}

/// Bytes for a buffer that needs so many, if it may have so many at most: batches differ a little, and memory that the host
/// reads is slow to be had.
fn roomy(bytes: u64, most: u64) -> u64 {
    (bytes + bytes / 4).next_power_of_two().min(most).max(bytes)
}

/// The dispatches of a batch, each of a program: round by round, and a round in parts where loops end early.
fn plan(gpu: &Gpu, work: &PosteriorWork<'_>) -> Result<Vec<(usize, Params)>> {
    let tasks = work.tasks;
    let mut dispatches = Vec::new();
    for round in &tasks.rounds {
        let own = &tasks.list[round.start as usize..round.end as usize];
        let strips = own.iter().map(|task| task.strips).max().unwrap_or(0);
        for (index, (variant, _)) in work.programs.iter().enumerate() {
            let at_once = match work.loop_budget {
                None => ALL_STRIPS,
                Some(budget) => {
                    let groups = own.iter().map(|task| task.groups).max().unwrap_or(0);
                    let residues = [8 * groups, strips * variant.lanes * 16];
                    let list = own.iter().map(|task| task.list).max().unwrap_or(0);
                    let rest = budget.saturating_sub(variant.other_iterations(residues, list));
                    (rest / variant.strip_iterations(groups)) as u32
                }
            };
            if at_once == 0 {
                return Err(gpu.unsuited("its loops are too short for sequences of this length"));
            }
            for begin in (0..strips).step_by(at_once as usize) {
                let params = Params {
                    task_begin: round.start,
                    task_count: round.end - round.start,
                    strip_begin: begin,
                    strip_end: (begin + at_once).min(strips),
                    capacity: work.capacity,
                    arena_begin: tasks.result_words as u32,
                    zero: 0,
                    open: work.model.open,
                    extend: work.model.extend,
                    cutoff: CUTOFF * SLACK,
                    reserved0: 0,
                    reserved1: 0,
                };
                dispatches.push((index, params));
            }
        }
    }
    Ok(dispatches)
}
