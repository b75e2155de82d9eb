//! A batch as dispatches: launches whose scratch memory fits, and parts of their sites where loops end early.

use std::ops::Range;

use crate::error::Result;
use crate::gpu::device::Gpu;
use crate::gpu::launch::Buffers;
use crate::gpu::pipeline::Compiled;
use crate::papara::kernels::block::{BlockTasks, Launch, Params};
use crate::papara::{OCTET, PhyloBatch};

/// Places and sites of one dispatch.
struct Dispatch {
    launch: usize,
    params: Params,
}

/// What a batch needs beside its own lists.
pub(super) struct BlockWork<'a> {
    /// The vectors.
    pub vectors: &'a wgpu::Buffer,
    /// What is to be computed.
    pub tasks: &'a BlockTasks,
    /// The program of each launch.
    pub programs: &'a [Compiled],
    /// Bytes that its scratch memory may take.
    pub scratch_budget: u64,
    /// Workgroups of a dispatch at most.
    pub most_groups: u64,
    /// Iterations that an invocation may make in a dispatch.
    pub loop_budget: Option<u64>,
}

/// Records a batch: its reads, its places, its dispatches and the copy of its scores.
pub(super) fn record(gpu: &Gpu, buffers: &mut Buffers, batch: &PhyloBatch, work: &BlockWork<'_>) -> Result<()> {
    let tasks = work.tasks;
    let (dispatches, scratch_bytes) = plan(gpu, batch, work)?;
    let mut recording = buffers.record(gpu);
    recording.resident("vectors", work.vectors);
    recording.upload("reads", &tasks.reads)?;
    recording.upload("rows", &tasks.rows)?;
    let places: Vec<_> = tasks.launches.iter().flat_map(|launch| launch.places.iter().copied()).collect();
    recording.upload("places", &places)?;
    recording.reserve("scratch", scratch_bytes)?;
    let bytes = 4 * OCTET as u64 * u64::from(tasks.places);
    recording.reserve("out", bytes)?;
    for Dispatch { launch, params } in &dispatches {
        recording.dispatch(&work.programs[*launch], params, params.groups.into());
    }
    recording.copy_back("out", 0..bytes)?;
    recording.submit("papara")
}

/// The dispatches of a batch, and the bytes of scratch memory that the greatest of them takes.
fn plan(gpu: &Gpu, batch: &PhyloBatch, work: &BlockWork<'_>) -> Result<(Vec<Dispatch>, u64)> {
    let (mut dispatches, mut most_bytes, mut first) = (Vec::new(), 0, 0u32);
    for (index, launch) in work.tasks.launches.iter().enumerate() {
        let (variant, columns) = (launch.variant, launch.columns());
        let group_bytes = variant.scratch_vectors(columns) * variant.vector_bytes();
        let needed = launch.places.len().div_ceil(variant.places() as usize) as u64;
        let groups = (work.scratch_budget / group_bytes).min(work.most_groups).min(needed) as u32;
        if groups == 0 {
            return Err(gpu.unsuited(format!("a read of {columns} symbols takes {group_bytes} bytes of it")));
        }
        most_bytes = most_bytes.max(u64::from(groups) * group_bytes);
        let count = launch.places.len() as u32;
        let params = params_of(batch, launch);
        let mut add = |places: Range<u32>, sites: Range<u32>| {
            let params = Params {
                place_begin: first + places.start,
                place_end: first + places.end,
                groups: groups.min((places.len() as u32).div_ceil(variant.places())),
                site_begin: sites.start,
                site_end: sites.end,
                ..params
            };
            dispatches.push(Dispatch { launch: index, params });
        };
        match work.loop_budget {
            None => add(0..count, 0..params.sites),
            // Where loops end early, so many sites at a time, of as many places as have scratch memory.
            Some(iterations) => {
                let a_site = u64::from(columns + 8 * (columns / variant.columns));
                let sites = iterations / (u64::from(variant.chunk) * a_site).max(1) * u64::from(variant.chunk);
                if sites == 0 {
                    return Err(gpu.unsuited(format!("its loops are too short for {columns} columns")));
                }
                let (all, at_once) = (params.sites.max(1), groups * variant.places());
                let sites = sites.min(u64::from(all)) as u32;
                for place in (0..count).step_by(at_once as usize) {
                    for site in (0..all).step_by(sites as usize) {
                        let end = site.saturating_add(sites).min(params.sites);
                        add(place..(place + at_once).min(count), site..end);
                    }
                }
            }
        }
        first += count;
    }
    Ok((dispatches, most_bytes))
}

/// What all dispatches of a launch have in common.
fn params_of(batch: &PhyloBatch, launch: &Launch) -> Params {
    let scheme = &batch.chunk.scheme;
    Params {
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
