//! A batch as dispatches, and the identities that come back.

use std::ops::Range;

use crate::clustal::PairIdentities;
use crate::clustal::kernels::layout::{Found, Params};
use crate::clustal::kernels::program::{Pass, Variant};
use crate::clustal::kernels::tasks::{Launch, Tasks};
use crate::error::Result;
use crate::gpu::device::Gpu;
use crate::gpu::launch::Buffers;
use crate::gpu::pipeline::Compiled;

/// Tasks and slices of one dispatch.
struct Dispatch {
    launch: usize,
    params: Params,
}

/// What a batch needs beside its own lists.
pub(super) struct ClustalWork<'a> {
    /// The packed sequences.
    pub symbols: &'a wgpu::Buffer,
    /// Scores of all pairs of codes.
    pub table: &'a wgpu::Buffer,
    /// What is to be computed.
    pub tasks: &'a Tasks,
    /// The program of each launch.
    pub programs: &'a [Compiled],
    /// Bytes that its scratch memory may take.
    pub scratch_budget: u64,
    /// Workgroups of a dispatch at most.
    pub most_groups: u64,
    /// Iterations that an invocation may make in a dispatch.
    pub loop_budget: Option<u64>,
}

/// Records a batch: its pairs, its tasks, its dispatches and the copy of what they find.
pub(super) fn record(gpu: &Gpu, buffers: &mut Buffers, work: &ClustalWork<'_>) -> Result<()> {
    let tasks = work.tasks;
    let (dispatches, scratch_bytes) = plan(gpu, work)?;
    let mut recording = buffers.record(gpu);
    recording.resident("symbols", work.symbols);
    recording.resident("table", work.table);
    recording.upload("pairs", &tasks.pairs)?;
    recording.upload("tasks", &tasks.list)?;
    let bytes = (size_of::<Found>() * tasks.pairs.len()) as u64;
    recording.reserve("found", bytes)?;
    recording.reserve("scratch", scratch_bytes)?;
    for Dispatch { launch, params } in &dispatches {
        recording.dispatch(&work.programs[*launch], params, params.groups.into());
    }
    recording.copy_back("found", 0..bytes)?;
    recording.submit("clustal")
}

/// Returns the identities of a batch's pairs, in the order of the batch.
pub(super) fn identities(words: &[u32], tasks: &Tasks) -> Vec<PairIdentities> {
    let all: &[Found] = bytemuck::cast_slice(&words[..tasks.pairs.len() * size_of::<Found>() / 4]);
    let mut identities = vec![PairIdentities::default(); tasks.pairs.len()];
    for ((found, pair), &place) in all.iter().zip(&tasks.pairs).zip(&tasks.places) {
        identities[place as usize] = found.identities(pair);
    }
    identities
}

/// Iterations of loops that an invocation makes of a slice of so many rows.
fn slice_iterations(variant: Variant, rows: u32) -> u64 {
    u64::from(rows) + u64::from(8 * variant.codes * variant.size / variant.workgroup + 4 * variant.size)
}

/// Makes workgroups smaller where their loops would be too long: invocations that have a pair each wait for each other.
pub(super) fn narrow(tasks: &mut Tasks, iterations: u64) {
    for launch in tasks.launches.iter_mut().filter(|launch| launch.variant.pass == Pass::ForwardReverseThread) {
        while launch.variant.workgroup > 1 && pair_iterations(launch.variant, tasks.longest) > iterations {
            launch.variant.workgroup /= 2;
        }
    }
}

/// Workgroups of a launch that find scratch memory, for pairs of so many symbols at most.
pub(super) fn groups(launch: &Launch, longest: [u32; 2], scratch_budget: u64, most_groups: u64) -> u64 {
    let group_bytes = launch.variant.entry_bytes() * u64::from(entries(launch.variant.pass, longest).max(1));
    let tasks = u64::from(launch.tasks.end - launch.tasks.start).div_ceil(u64::from(launch.variant.pairs()));
    (scratch_budget / group_bytes).min(most_groups).min(tasks)
}

/// Entries of scratch memory that a pass needs.
fn entries(pass: Pass, [rows, columns]: [u32; 2]) -> u32 {
    if pass.is_last() { rows.max(columns) + 1 } else { rows }
}

/// Iterations of loops that an invocation makes at most of a pair whose identities it finds: of all sizes of parts that there
/// are.
fn pair_iterations(variant: Variant, longest: [u32; 2]) -> u64 {
    let longest = longest[0].max(longest[1]);
    let (rows, columns, half) = (u64::from(longest), u64::from(longest), u64::from(variant.workgroup / 2));
    let size = u64::from(variant.size);
    // Invocations wait for each other: parts of a place in their trees may be long in one and short in the next.
    let alone = |level: u32| {
        let parts = (1 << level).min(rows);
        let own = rows.div_ceil(1 << level);
        let all = columns * parts.min(u64::from(variant.workgroup));
        let slices = if own > 1 { all.div_ceil(size) + parts } else { 0 };
        slices * (own + size) + all + parts * (own + 4)
    };
    if variant.pass == Pass::ForwardReverseThread {
        return (0..=rows.max(1).ilog2() + 1).map(alone).sum::<u64>() + u64::from(variant.codes * variant.codes);
    }
    let of = |level: u32| {
        let parts = (1 << level).min(rows);
        let own = rows.div_ceil(1 << level).div_ceil(2) + 1;
        let (strips, lanes) = (own.div_ceil(half * size), own.div_ceil(size).min(half));
        strips * (columns + parts * (lanes + 2 * size)) + 2 * (columns / half + parts) + columns + 4 * parts
    };
    (0..=rows.max(1).ilog2() + 1).map(of).sum()
}

/// The dispatches of a batch, and the bytes of scratch memory that the greatest of them takes.
fn plan(gpu: &Gpu, work: &ClustalWork<'_>) -> Result<(Vec<Dispatch>, u64)> {
    let (mut dispatches, mut most_bytes) = (Vec::new(), 0);
    for (index, launch) in work.tasks.launches.iter().enumerate() {
        let Launch { variant, ref tasks } = *launch;
        let [rows, columns] = work.tasks.longest;
        let entries = entries(variant.pass, work.tasks.longest);
        let group_bytes = variant.entry_bytes() * u64::from(entries.max(1));
        let groups = groups(launch, work.tasks.longest, work.scratch_budget, work.most_groups) as u32;
        let pairs = variant.pairs();
        if groups == 0 {
            return Err(gpu.unsuited(format!("a pair of {rows} and {columns} symbols takes {group_bytes} bytes of it")));
        }
        most_bytes = most_bytes.max(u64::from(groups) * group_bytes);
        let all_slices = if variant.pass.is_last() { 1 } else { variant.slices(columns) };
        let mut add = |tasks: Range<u32>, slices: Range<u32>| {
            let params = Params {
                task_begin: tasks.start,
                task_end: tasks.end,
                groups: groups.min((tasks.end - tasks.start).div_ceil(pairs)),
                slice_begin: slices.start,
                slice_end: slices.end,
                entries,
                extension: work.tasks.extension,
                reserved: 0,
            };
            dispatches.push(Dispatch { launch: index, params });
        };
        let Some(iterations) = work.loop_budget else {
            add(tasks.clone(), 0..all_slices);
            continue;
        };
        // Where loops end early, so many slices at a time, of as many tasks as have scratch memory.
        let slices = match variant.pass.is_last() {
            true => u64::from(pair_iterations(variant, work.tasks.longest) <= iterations),
            false => iterations / slice_iterations(variant, rows),
        };
        if slices == 0 {
            return Err(gpu.unsuited(format!("its loops are too short for {rows} and {columns} symbols")));
        }
        let at_once = groups.saturating_mul(pairs);
        for task in tasks.clone().step_by(at_once as usize) {
            for slice in (0..all_slices.max(1)).step_by(slices.min(1 << 20) as usize) {
                let end = slice.saturating_add(slices.min(1 << 20) as u32).min(all_slices);
                add(task..task.saturating_add(at_once).min(tasks.end), slice..end);
            }
        }
    }
    Ok((dispatches, most_bytes))
}
