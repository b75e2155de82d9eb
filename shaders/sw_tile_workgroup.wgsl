// sw_tile_workgroup: sw_tile without subgroup operations, through workgroup memory, for any
//             adapter.
// Recurrence: the recurrence of common/tile.wgsl (Smith and Waterman 1981, Gotoh 1982), in i32.
// Owns:       the s-th group of LANES invocations of a workgroup computes the s-th target of each
//             turn. The workgroup owns the queries.
// Layout:     the layout of common/tile.wgsl; exchanges in workgroup memory
//             (common/exchange_workgroup.wgsl).
// Invariant:  the invariant of common/tile.wgsl.
// Uniform:    the task determines the number of steps.
// Limits:     LANES, a power of two, is at most WG; scores below 2^29.
// Oracle:     src/pairs/oracle/smith_waterman.rs
//
// The variant with subgroup operations is sw_tile.wgsl.

#import exchange_workgroup
#import tile_words
#import tile

// Returns a common number of steps for all lanes that exchange values. `own` is the number of steps
// that this lane needs, and `of_task` the greatest number in the task.
fn common_steps(own: u32, of_task: u32) -> u32 {
    return of_task;
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    this_lane = t;
    run_tasks(workgroup.x, t, t);
}
