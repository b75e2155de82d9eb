// sw_tile_workgroup: sw_tile without subgroup operations, through workgroup memory: for any adapter.
// Recurrence: that of common/tile.wgsl (Smith and Waterman 1981, Gotoh 1982), in 32 bits.
// Owns:       the s-th LANES invocations of a workgroup have the s-th target of each turn; the queries are the workgroup's.
// Layout:     that of common/tile.wgsl; exchanges in workgroup memory (common/exchange_workgroup.wgsl).
// Invariant:  that of common/tile.wgsl.
// Uniform:    the number of steps is the task's.
// Limits:     LANES, a power of two, is at most WG; scores below 2^29.
// Oracle:     src/pairs/oracle/smith_waterman.rs
//
// Its twin with subgroup operations is sw_tile.wgsl.

#import exchange_workgroup
#import tile_words
#import tile

// Steps that every lane makes that exchanges with others, of those that each needs.
fn common_steps(own: u32, of_task: u32) -> u32 {
    return of_task;
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    this_lane = t;
    run_tasks(workgroup.x, t, t);
}
