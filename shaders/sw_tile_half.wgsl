// sw_tile_half: sw_tile with two queries against one target, in packed f16.
// Recurrence: the recurrence of common/tile.wgsl (Smith and Waterman 1981, Gotoh 1982), in units of
//             1/2048 between 0 and 1. `saturate` is the lower limit of zero for scores.
// Owns:       the s-th group of LANES invocations of a workgroup, in the order of its subgroups,
//             computes the s-th target of each turn. The workgroup owns both queries of a pass.
//             Their scores are adjacent in the profile, so that a cell need not pack values.
// Layout:     the layout of common/tile.wgsl.
// Invariant:  the invariant of common/tile.wgsl. The lanes of a pair are adjacent in one subgroup.
// Uniform:    a subgroup makes as many steps as its longest target needs. This number comes from
//             subgroupMax. Compilers that cannot prove that it is uniform need
//             `diagnostic(off, subgroup_uniformity)`.
// Limits:     LANES, a power of two, is at most the subgroup size, which is also a power of two.
//             Scores of 2048 and more are reported as 2048, and the host has them computed again in
//             i32. No score of a symbol and no cost of a gap symbol exceeds 1000
//             (src/pairs/kernels/sw_tile.rs).
// Oracle:     src/pairs/oracle/smith_waterman.rs
//
// Instructions for a cell of both pairs: affine 6 additions (t, two for m, g, e, f; the clamps are
// free) and 4 maxima (best, x, e, f), so 5 per cell; linear 4 additions and 2 maxima, so 3 per
// cell. In addition, half a load from workgroup memory.

#import exchange_subgroup
#import tile_halves
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
