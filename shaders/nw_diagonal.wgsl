// nw_diagonal: global score and directions, one pair per workgroup, one dispatch (DScan-mNW, Truong
//             et al. 2014, section 4.2).
// Recurrence: the recurrence of nw_slice.wgsl, along diagonals. A block is one row of a lane's
//             columns. Step s computes the blocks (row, lane) with row + lane == s.
// Owns:       a workgroup owns a pair. Lane l owns the COLUMNS columns from (pass * LANES + l) *
//             COLUMNS on. A pair with more than LANES * COLUMNS columns takes several passes over
//             its rows, so that its length is not limited.
// Layout:     boundaries of diagonals in workgroup memory (common/exchange_workgroup.wgsl). The
//             arena as in common/arena.wgsl: the directions of four steps of a pass are LANES
//             adjacent quads for each of a lane's words.
// Invariant:  after step s every block with row + lane <= s is final. When a pass ends, the column
//             border holds its last column. The next pass, in this dispatch or a later one, needs
//             nothing else.
// Uniform:    the task comes from the workgroup's index, and the number of steps from the task.
// Limits:     the task's part of the arena; i32 values (OffsetScoring::new rejects others).
// Oracle:     src/pairs/oracle/needleman_wunsch.rs
//
// The variant with subgroup operations is nw_diagonal_subgroup.wgsl.

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
        // Safe: lane 0 reads the column border that the last lane wrote only after this barrier.
        storageBarrier();
        scan(task, 0u, t, WG, pass_index, 0u, task.rows_words * 4u, OWN_ENDS, 0u);
    }
}
