//! Dispatches of a batch, and decoding of its identities.

use std::ops::Range;

use crate::clustal::PairIdentities;
use crate::clustal::kernels::layout::{ClustalPairResult, ClustalParams};
use crate::clustal::kernels::program::{ClustalPass, ClustalVariant};
use crate::clustal::kernels::tasks::{ClustalLaunch, ClustalTasks};
use crate::error::Result;
use crate::gpu::device::Gpu;
use crate::gpu::launch::Buffers;
use crate::gpu::pipeline::Compiled;

/// Parameters of one dispatch, and the launch that it belongs to.
struct ClustalDispatch {
    launch: usize,
    params: ClustalParams,
}

/// Inputs for recording a batch.
pub(super) struct ClustalWork<'a> {
    /// Packed sequences.
    pub symbols: &'a wgpu::Buffer,
    /// Scores of all pairs of codes.
    pub table: &'a wgpu::Buffer,
    /// Tasks of the batch.
    pub tasks: &'a ClustalTasks,
    /// Program of each launch.
    pub programs: &'a [Compiled],
    /// Maximum bytes of scratch memory.
    pub scratch_budget: u64,
    /// Maximum number of workgroups per dispatch.
    pub max_groups: u64,
    /// Maximum number of loop iterations of an invocation in a dispatch; `None` if unlimited.
    pub loop_budget: Option<u64>,
}

/// Records a batch: the uploads of its pairs and tasks, its dispatches and the copy of its results.
pub(super) fn record(gpu: &Gpu, buffers: &mut Buffers, work: &ClustalWork<'_>) -> Result<()> {
    let tasks = work.tasks;
    let (dispatches, scratch_bytes) = plan(gpu, work)?;
    let mut recording = buffers.record(gpu);
    recording.resident("symbols", work.symbols);
    recording.resident("table", work.table);
    recording.upload("pairs", &tasks.pairs)?;
    recording.upload("tasks", &tasks.list)?;
    let bytes = (size_of::<ClustalPairResult>() * tasks.pairs.len()) as u64;
    recording.reserve("found", bytes)?;
    recording.reserve("scratch", scratch_bytes)?;
    for ClustalDispatch { launch, params } in &dispatches {
        recording.dispatch(&work.programs[*launch], params, params.groups.into());
    }
    recording.copy_back("found", 0..bytes)?;
    recording.submit("clustal")
}

/// Returns the identities of a batch's pairs, in the order of the batch.
pub(super) fn identities(words: &[u32], tasks: &ClustalTasks) -> Vec<PairIdentities> {
    let all: &[ClustalPairResult] =
        bytemuck::cast_slice(&words[..tasks.pairs.len() * size_of::<ClustalPairResult>() / 4]);
    let mut identities = vec![PairIdentities::default(); tasks.pairs.len()];
    for ((result, pair), &index) in all.iter().zip(&tasks.pairs).zip(&tasks.pair_indices) {
        identities[index as usize] = result.identities(pair);
    }
    identities
}

/// Returns the number of loop iterations of an invocation in a slice of `rows` rows.
fn slice_iterations(variant: ClustalVariant, rows: u32) -> u64 {
    u64::from(rows) + u64::from(8 * variant.codes * variant.size / variant.workgroup + 4 * variant.size)
}

/// Halves workgroups of one pair per invocation until their loops are short enough. The loops get
/// shorter because fewer invocations wait for each other.
pub(super) fn narrow(tasks: &mut ClustalTasks, iterations: u64) {
    for launch in tasks.launches.iter_mut().filter(|launch| launch.variant.pass == ClustalPass::ForwardReverseThread) {
        while launch.variant.workgroup > 1 && pair_iterations(launch.variant, tasks.longest) > iterations {
            launch.variant.workgroup /= 2;
        }
    }
}

/// Returns the number of workgroups of a launch that get scratch memory. `longest` contains the
/// lengths of the longest target and query in symbols.
pub(super) fn groups(launch: &ClustalLaunch, longest: [u32; 2], scratch_budget: u64, max_groups: u64) -> u64 {
    let group_bytes = launch.variant.entry_bytes() * u64::from(entries(launch.variant.pass, longest).max(1));
    let tasks = u64::from(launch.tasks.end - launch.tasks.start).div_ceil(u64::from(launch.variant.pairs()));
    (scratch_budget / group_bytes).min(max_groups).min(tasks)
}

/// Returns the number of scratch entries that a pass needs per workgroup.
fn entries(pass: ClustalPass, [rows, columns]: [u32; 2]) -> u32 {
    if pass.is_last() { rows.max(columns) + 1 } else { rows }
}

/// Returns the maximum number of loop iterations of an invocation that counts the identities of a
/// pair, summed over all depths of the recursion.
fn pair_iterations(variant: ClustalVariant, longest: [u32; 2]) -> u64 {
    let longest = longest[0].max(longest[1]);
    let (rows, columns, half) = (u64::from(longest), u64::from(longest), u64::from(variant.workgroup / 2));
    let size = u64::from(variant.size);
    // Invocations wait for each other. At the same position of the recursion, a part may be long in
    // one pair and short in another.
    let thread_iterations_at = |level: u32| {
        let parts = (1 << level).min(rows);
        let group_rows = rows.div_ceil(1 << level);
        let all = columns * parts.min(u64::from(variant.workgroup));
        let slices = if group_rows > 1 { all.div_ceil(size) + parts } else { 0 };
        slices * (group_rows + size) + all + parts * (group_rows + 4)
    };
    if variant.pass == ClustalPass::ForwardReverseThread {
        return (0..=rows.max(1).ilog2() + 1).map(thread_iterations_at).sum::<u64>()
            + u64::from(variant.codes * variant.codes);
    }
    let iterations_at = |level: u32| {
        let parts = (1 << level).min(rows);
        let group_rows = rows.div_ceil(1 << level).div_ceil(2) + 1;
        let (strips, lanes) = (group_rows.div_ceil(half * size), group_rows.div_ceil(size).min(half));
        strips * (columns + parts * (lanes + 2 * size)) + 2 * (columns / half + parts) + columns + 4 * parts
    };
    (0..=rows.max(1).ilog2() + 1).map(iterations_at).sum()
}

/// Returns the dispatches of a batch, and the bytes of scratch memory of the largest.
fn plan(gpu: &Gpu, work: &ClustalWork<'_>) -> Result<(Vec<ClustalDispatch>, u64)> {
    let (mut dispatches, mut max_bytes) = (Vec::new(), 0);
    for (index, launch) in work.tasks.launches.iter().enumerate() {
        let ClustalLaunch { variant, ref tasks } = *launch;
        let [rows, columns] = work.tasks.longest;
        let entries = entries(variant.pass, work.tasks.longest);
        let group_bytes = variant.entry_bytes() * u64::from(entries.max(1));
        let groups = groups(launch, work.tasks.longest, work.scratch_budget, work.max_groups) as u32;
        let pairs = variant.pairs();
        if groups == 0 {
            return Err(
                gpu.refusal(format!("a pair of {rows} and {columns} symbols needs {group_bytes} bytes of its memory"))
            );
        }
        max_bytes = max_bytes.max(u64::from(groups) * group_bytes);
        let all_slices = if variant.pass.is_last() { 1 } else { variant.slices(columns) };
        let mut add = |tasks: Range<u32>, slices: Range<u32>| {
            let params = ClustalParams {
                task_begin: tasks.start,
                task_end: tasks.end,
                groups: groups.min((tasks.end - tasks.start).div_ceil(pairs)),
                slice_begin: slices.start,
                slice_end: slices.end,
                entries,
                extension: work.tasks.extension,
                reserved: 0,
            };
            dispatches.push(ClustalDispatch { launch: index, params });
        };
        let Some(iterations) = work.loop_budget else {
            add(tasks.clone(), 0..all_slices);
            continue;
        };
        // Each dispatch takes as many slices as the loop budget allows, and as many tasks as have
        // scratch memory.
        let slices = match variant.pass.is_last() {
            true => u64::from(pair_iterations(variant, work.tasks.longest) <= iterations),
            false => iterations / slice_iterations(variant, rows),
        };
        if slices == 0 {
            return Err(
                gpu.refusal(format!("its limit on loop iterations is too low for {rows} and {columns} symbols"))
            );
        }
        let at_once = groups.saturating_mul(pairs);
        for task in tasks.clone().step_by(at_once as usize) {
            for slice in (0..all_slices.max(1)).step_by(slices.min(1 << 20) as usize) {
                let end = slice.saturating_add(slices.min(1 << 20) as u32).min(all_slices);
                add(task..task.saturating_add(at_once).min(tasks.end), slice..end);
            }
        }
    }
    Ok((dispatches, max_bytes))
}
