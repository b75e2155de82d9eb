// sw_tile: local score, one pair over LANES lanes of a subgroup, several pairs per subgroup.
// Recurrence: the recurrence of common/tile.wgsl (Smith and Waterman 1981, Gotoh 1982), in i32.
// Owns:       the s-th group of LANES invocations of a workgroup, in the order of its subgroups,
//             computes the s-th target of each turn. The workgroup owns the queries.
// Layout:     the layout of common/tile.wgsl.
// Invariant:  the invariant of common/tile.wgsl. The lanes of a pair are adjacent in one subgroup.
// Uniform:    a subgroup makes as many steps as its longest target needs. This number comes from
//             subgroupMax. Compilers that cannot prove that it is uniform need
//             `diagnostic(off, subgroup_uniformity)`.
// Limits:     LANES, a power of two, is at most the subgroup size, which is also a power of two;
//             scores below 2^29.
// Oracle:     src/pairs/oracle/smith_waterman.rs
//
// The variant without subgroup operations is sw_tile_workgroup.wgsl, the one in packed f16 is
// sw_tile_half.wgsl. Instructions per cell, if an addition with a maximum (or clamp) or a maximum
// of three values is one instruction: affine 6 (t, best, x, g, e, f), linear 5 (t, best, x twice,
// g). The names are those of common/tile.wgsl. In addition, a quarter of a load from workgroup
// memory.

#import exchange_subgroup
#import tile_words
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
