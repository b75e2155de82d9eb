// sw_tile_half_targets: sw_tile with one query against two targets, in packed halves: for queries that have no other to go with.
// Recurrence: that of common/tile.wgsl (Smith and Waterman 1981, Gotoh 1982), in units of 1/2048 between 0 and 1, where `saturate`
//             is the zero below which no score falls.
// Owns:       the s-th LANES invocations of a workgroup, counted through its subgroups, have the s-th two targets of each turn; the
//             query is the workgroup's. Targets have rows of the profile of their own, which are put together for every cell.
// Layout:     that of common/tile.wgsl.
// Invariant:  that of common/tile.wgsl; lanes of one pair lie side by side in one subgroup. Where the shorter target has ended, its rows
//             are padding.
// Uniform:    a subgroup makes as many steps as its longest target asks for.
// Limits:     those of sw_tile_half.wgsl.
// Oracle:     src/pairs/oracle/smith_waterman.rs
//
// Instructions for a cell of both pairs: those of sw_tile_half.wgsl and one that puts two scores together, so 5.5 a cell under affine
// gaps; beside them half a load from workgroup memory of half as many bytes.

#import exchange_subgroup
#import tile_half_targets
#import tile

// Steps that every lane makes that exchanges with others, of those that each needs.
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
