// sw_tile_half: sw_tile with two queries against one target, in packed halves.
// Recurrence: that of common/tile.wgsl (Smith and Waterman 1981, Gotoh 1982), in units of 1/2048 between 0 and 1, where `saturate`
//             is the zero below which no score falls.
// Owns:       the s-th LANES invocations of a workgroup, counted through its subgroups, have the s-th target of each turn; both
//             queries of a pass are the workgroup's. Their scores lie side by side in the profile, so that nothing is packed in a cell.
// Layout:     that of common/tile.wgsl.
// Invariant:  that of common/tile.wgsl; lanes of one pair lie side by side in one subgroup.
// Uniform:    a subgroup makes as many steps as its longest target asks for.
// Limits:     LANES, a power of two, is at most the subgroup's size, which is one too. Scores of 2048 and more come out as 2048: the
//             host has them computed again in words. No symbol score and no gap symbol above 1000 (src/pairs/kernels/sw_tile.rs).
// Oracle:     src/pairs/oracle/smith_waterman.rs
//
// Instructions for a cell of both pairs: affine 6 additions (t, two for m, g, e, f; the clamps are free) and 4 maxima (best, x, e,
// f), so 5 a cell; linear 4 additions and 2 maxima, so 3 a cell; beside them a half of a load from workgroup memory.

#import exchange_subgroup
#import tile_halves
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
