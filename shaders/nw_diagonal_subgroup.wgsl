// nw_diagonal_subgroup: nw_diagonal with one pair per subgroup, whose lanes exchange boundaries by
//             shuffles (DScan-mNW, Truong et al. 2014, section 4.2).
// Recurrence: the recurrence of nw_slice.wgsl, along diagonals. A block is one row of a lane's
//             columns. Step s computes the blocks (row, lane) with row + lane == s.
// Owns:       a subgroup owns one pair at a time, every num_subgroups-th pair of its task. Lane l
//             owns COLUMNS columns of each pass.
// Layout:     the arena as in common/arena.wgsl, with one lane per lane of the subgroup.
//             corners()[0] passes the number of lanes to nw_traceback.
// Invariant:  after step s every block with row + lane <= s is final. When a pass ends, the column
//             border holds its last column. The next pass, in this dispatch or a later one, needs
//             nothing else.
// Uniform:    the numbers of turns, passes and steps depend only on the task and the subgroup size.
// Limits:     subgroups of 4 to 128 lanes, all of them active; the task's part of the arena; i32
//             values.
// Oracle:     src/pairs/oracle/needleman_wunsch.rs
//
// The variant without subgroup operations is nw_diagonal.wgsl.

#import exchange_subgroup
#import strip

const KEEP_CORNERS: bool = false;

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
    @builtin(subgroup_id) sg_index: u32,
    @builtin(num_subgroups) sg_count: u32,
    @builtin(subgroup_size) sg_lanes: u32,
    @builtin(subgroup_invocation_id) sg_lane: u32,
) {
    let task_index = params.task_begin + workgroup.x + workgroup.y * workgroups.x;
    if (task_index >= params.task_count) {
        return;
    }
    let task = tasks[task_index];
    load_substitution(t, WG);
    let passes = min(params.slice_end, task.columns / (sg_lanes * COLUMNS));
    // Every subgroup takes the same number of turns: SLOTS, a power of two, is a multiple of the
    // number of subgroups. Spare slots repeat the last target.
    for (var round = 0u; round < SLOTS / sg_count; round++) {
        let slot = round * sg_count + sg_index;
        if (sg_lane == 0u) {
            store(corners(task, slot), 0u, vec4<i32>(i32(sg_lanes)));
        }
        for (var pass_index = params.slice_begin; pass_index < passes; pass_index++) {
            // Safe: lane 0 reads the column border that the last lane wrote only after this
            // barrier.
            storageBarrier();
            scan(task, slot, sg_lane, sg_lanes, pass_index, 0u, task.rows_words * 4u, OWN_ENDS, 0u);
        }
    }
}
