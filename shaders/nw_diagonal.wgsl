// nw_diagonal: global score and directions, one pair per workgroup, one dispatch (DScan-mNW, Truong et al. 2014, section 4.2).
// Recurrence: that of nw_slice.wgsl, along diagonals: step s computes blocks (row, lane) with row + lane == s.
// Owns:       a workgroup owns a pair; lane l owns columns (pass * LANES + l) * COLUMNS and the COLUMNS - 1 after it. A pair
//             with more columns than LANES * COLUMNS takes several passes over its rows, so that no length is too long.
// Layout:     boundaries of diagonals in workgroup memory (common/exchange_workgroup.wgsl); arena as in common/arena.wgsl,
//             where the directions of four steps of one pass are a run of LANES quads for each of a lane's words.
// Invariant:  after step s every block with row + lane <= s is final; when a pass ends, the column border holds its last
//             column, so that the next pass, in this dispatch or a later one, needs nothing else.
// Uniform:    the task comes from the workgroup's number, the number of steps from the task.
// Limits:     the task's part of the arena; values in 32 bits (OffsetScoring::new refuses others).
// Oracle:     src/pairs/oracle/needleman_wunsch.rs
//
// Its twin with subgroup operations is nw_diagonal_subgroup.wgsl.

#import exchange_workgroup
#import strip

const KEEP_CORNERS: bool = false;

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    let task_index = params.task_begin + workgroup.x + workgroup.y * workgroups.x;
    if (task_index >= params.task_count) {
        return;
    }
    let task = tasks[task_index];
    this_lane = t;
    load_substitution(t, WG);
    let passes = min(params.slice_end, task.columns / (WG * COLUMNS));
    for (var pass_index = params.slice_begin; pass_index < passes; pass_index++) {
        // Safe: the column border that the last lane wrote is lane 0's from here on.
        storageBarrier();
        scan(task, 0u, t, WG, pass_index, 0u, task.rows_words * 4u, OWN_ENDS, 0u);
    }
}
