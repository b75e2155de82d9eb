// sw_tile: local score, one pair over LANES lanes of a subgroup, several pairs a subgroup.
// Recurrence: that of common/tile.wgsl (Smith and Waterman 1981, Gotoh 1982), in 32 bits.
// Owns:       the s-th LANES invocations of a workgroup, counted through its subgroups, have the s-th target of each turn; the
//             queries are the workgroup's.
// Layout:     that of common/tile.wgsl.
// Invariant:  that of common/tile.wgsl; lanes of one pair lie side by side in one subgroup.
// Uniform:    a subgroup makes as many steps as its longest target asks for.
// Limits:     LANES, a power of two, is at most the subgroup's size, which is one too; scores below 2^29.
// Oracle:     src/pairs/oracle/smith_waterman.rs
//
// Its twin without subgroup operations is sw_tile_workgroup.wgsl, that of packed halves sw_tile_half.wgsl.
// Instructions a cell, where one instruction is an addition with a maximum (or clamp) or a maximum of three: affine 6 (t, best,
// x, g, e, f), linear 5 (t, best, x twice, g); beside them a quarter of a load from workgroup memory.

#import exchange_subgroup
#import tile_words
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
