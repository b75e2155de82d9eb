// sw_tile_half_targets: sw_tile with one query against two targets, in packed f16, for queries that
//             cannot be joined with another query.
// Recurrence: the recurrence of common/tile.wgsl (Smith and Waterman 1981, Gotoh 1982), in units of
//             1/2048 between 0 and 1. `saturate` is the lower limit of zero for scores.
// Owns:       the s-th group of LANES invocations of a workgroup, in the order of its subgroups,
//             computes the s-th two targets of each turn. The workgroup owns the query. Each target
//             has its own rows of the profile, and every cell packs the scores of both targets.
// Layout:     the layout of common/tile.wgsl.
// Invariant:  the invariant of common/tile.wgsl. The lanes of a pair are adjacent in one subgroup.
//             After the end of the shorter target, its rows are padding.
// Uniform:    a subgroup makes as many steps as its longest target needs. This number comes from
//             subgroupMax. Compilers that cannot prove that it is uniform need
//             `diagnostic(off, subgroup_uniformity)`.
// Limits:     the limits of sw_tile_half.wgsl.
// Oracle:     src/pairs/oracle/smith_waterman.rs
//
// Instructions for a cell of both pairs: the ones of sw_tile_half.wgsl and one that packs two
// scores, so 5.5 per cell with affine gaps. In addition, half a load of half as many bytes from
// workgroup memory.

#import exchange_subgroup
#import tile_half_targets
#import tile

// Returns a common number of steps for all lanes that exchange values. `own` is the number of steps
// that this lane needs, and `of_task` the greatest number in the task.
fn common_steps(own: u32, of_task: u32) -> u32 {
    return subgroupMax(own);
}

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
    @builtin(subgroup_id) sg_index: u32,
    @builtin(subgroup_size) sg_lanes: u32,
    @builtin(subgroup_invocation_id) sg_lane: u32,
) {
    run_tasks(workgroup.x, sg_index * sg_lanes + sg_lane, t);
}
