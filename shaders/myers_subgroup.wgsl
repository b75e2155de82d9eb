// myers_subgroup: edit distance, one pair over LANES lanes of a subgroup, several pairs a subgroup (Chacon et al. 2014,
//             section 3.2).
// Recurrence: that of common/myers.wgsl, as common/myers_lanes.wgsl divides it.
// Owns:       the s-th LANES invocations of workgroup g, counted through its subgroups, have the place g * (WG / LANES) + s, and its task.
// Layout:     that of common/myers.wgsl and common/myers_lanes.wgsl.
// Invariant:  that of common/myers_lanes.wgsl; lanes of one pair lie side by side in one subgroup.
// Uniform:    a subgroup makes as many steps as its longest text asks for.
// Limits:     LANES, a power of two, is at most the subgroup's size, which is one too.
// Oracle:     src/edit/oracle.rs
//
// Its twin without subgroup operations is myers_workgroup.wgsl.

#import exchange_subgroup
#import myers_lanes

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
    @builtin(subgroup_id) sg_index: u32,
    @builtin(subgroup_size) sg_lanes: u32,
    @builtin(subgroup_invocation_id) sg_lane: u32,
) {
    let group = params.first_workgroup + workgroup.x + workgroup.y * workgroups.x;
    let invocation = sg_index * sg_lanes + sg_lane;
    let place = group * (WG / LANES) + invocation / LANES;
    let task = task_of(place);
    var pair = Pair(0u, 0u, 0u, 0u, 0u, 0u);
    if (task < params.task_count) {
        pair = pair_of(group, task);
    }
    scan(pair, task, place, invocation % LANES, subgroupMax(columns_of(pair)), t);
}
