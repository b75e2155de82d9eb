//! Dispatches of a batch: launches whose scratch memory fits, split into parts of their sites where
//! the length of loops is limited.

use std::ops::Range;

use crate::error::Result;
use crate::gpu::device::Gpu;
use crate::gpu::launch::Buffers;
use crate::gpu::pipeline::Compiled;
use crate::papara::kernels::block::{BlockLaunch, BlockParams, BlockTasks};
use crate::papara::{OCTET, PhyloBatch};

/// Parameters of one dispatch, and the launch that it belongs to.
struct BlockDispatch {
    launch: usize,
    params: BlockParams,
}

/// Inputs for recording a batch.
pub(super) struct BlockWork<'a> {
    /// Vectors of states.
    pub vectors: &'a wgpu::Buffer,
    /// Tasks of the batch.
    pub tasks: &'a BlockTasks,
    /// Program of each launch.
    pub programs: &'a [Compiled],
    /// Maximum bytes of scratch memory.
    pub scratch_budget: u64,
    /// Maximum number of workgroups per dispatch.
    pub max_groups: u64,
    /// Maximum number of loop iterations of an invocation in a dispatch; `None` if unlimited.
    pub loop_budget: Option<u64>,
}

/// Records a batch: the uploads of its reads and tasks, its dispatches and the copy of its scores.
pub(super) fn record(gpu: &Gpu, buffers: &mut Buffers, batch: &PhyloBatch, work: &BlockWork<'_>) -> Result<()> {
    let tasks = work.tasks;
    let (dispatches, scratch_bytes) = plan(gpu, batch, work)?;
    let mut recording = buffers.record(gpu);
    recording.resident("vectors", work.vectors);
    recording.upload("reads", &tasks.reads)?;
    recording.upload("rows", &tasks.rows)?;
    let all_tasks: Vec<_> = tasks.launches.iter().flat_map(|launch| launch.tasks.iter().copied()).collect();
    recording.upload("places", &all_tasks)?;
    recording.reserve("scratch", scratch_bytes)?;
    let bytes = 4 * OCTET as u64 * u64::from(tasks.task_count);
    recording.reserve("out", bytes)?;
    for BlockDispatch { launch, params } in &dispatches {
        recording.dispatch(&work.programs[*launch], params, params.groups.into());
    }
    recording.copy_back("out", 0..bytes)?;
    recording.submit("papara")
}

/// Returns the dispatches of a batch, and the bytes of scratch memory of the largest.
fn plan(gpu: &Gpu, batch: &PhyloBatch, work: &BlockWork<'_>) -> Result<(Vec<BlockDispatch>, u64)> {
    let (mut dispatches, mut max_bytes, mut first) = (Vec::new(), 0, 0u32);
    for (index, launch) in work.tasks.launches.iter().enumerate() {
        let (variant, columns) = (launch.variant, launch.columns());
        let group_bytes = variant.scratch_vectors(columns) * variant.vector_bytes();
        let needed = launch.tasks.len().div_ceil(variant.tasks_per_group() as usize) as u64;
        let groups = (work.scratch_budget / group_bytes).min(work.max_groups).min(needed) as u32;
        if groups == 0 {
            return Err(gpu.refusal(format!("a read of {columns} symbols needs {group_bytes} bytes of its memory")));
        }
        max_bytes = max_bytes.max(u64::from(groups) * group_bytes);
        let count = launch.tasks.len() as u32;
        let params = params_of(batch, launch);
        let mut add = |range: Range<u32>, sites: Range<u32>| {
            let params = BlockParams {
                place_begin: first + range.start,
                place_end: first + range.end,
                groups: groups.min((range.len() as u32).div_ceil(variant.tasks_per_group())),
                site_begin: sites.start,
                site_end: sites.end,
                ..params
            };
            dispatches.push(BlockDispatch { launch: index, params });
        };
        match work.loop_budget {
            None => add(0..count, 0..params.sites),
            // Each dispatch takes as many sites as the loop budget allows, and as many tasks as
            // have scratch memory.
            Some(iterations) => {
                let a_site = u64::from(columns + 8 * (columns / variant.columns));
                let sites = iterations / (u64::from(variant.chunk) * a_site).max(1) * u64::from(variant.chunk);
                if sites == 0 {
                    return Err(gpu.refusal(format!("its limit on loop iterations is too low for {columns} columns")));
                }
                let (all, at_once) = (params.sites.max(1), groups * variant.tasks_per_group());
                let sites = sites.min(u64::from(all)) as u32;
                for task in (0..count).step_by(at_once as usize) {
                    for site in (0..all).step_by(sites as usize) {
                        let end = site.saturating_add(sites).min(params.sites);
                        add(task..(task + at_once).min(count), site..end);
                    }
                }
            }
        }
        first += count;
    }
    Ok((dispatches, max_bytes))
}

/// Returns the parameters that all dispatches of a launch share.
fn params_of(batch: &PhyloBatch, launch: &BlockLaunch) -> BlockParams {
    let scheme = &batch.chunk.scheme;
    BlockParams {
        place_begin: 0,
        place_end: 0,
        groups: 0,
        site_begin: 0,
        site_end: 0,
        sites: batch.chunk.vectors.sites(),
        columns: launch.columns(),
        scratch_vectors: launch.variant.scratch_vectors(launch.columns()) as u32,
        free_read_ends: u32::from(scheme.free_read_ends),
        matching: scheme.matching,
        mismatch: scheme.mismatch,
        gap_site: scheme.gap_site,
        deletion_first: scheme.deletion.first,
        deletion_next: scheme.deletion.next,
        insertion_first: scheme.insertion.first,
        insertion_next: scheme.insertion.next,
    }
}
