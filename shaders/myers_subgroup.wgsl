// myers_subgroup: edit distance. LANES lanes of a subgroup compute a pair, and a subgroup computes
//             several pairs (Chacon et al. 2014, section 3.2).
// Recurrence: see common/myers.wgsl; common/myers_lanes.wgsl divides it among lanes.
// Owns:       the s-th group of LANES invocations of workgroup g, in the order of its subgroups,
//             has the position g * (WG / LANES) + s and its task.
// Layout:     see common/myers.wgsl and common/myers_lanes.wgsl.
// Invariant:  see common/myers_lanes.wgsl. The lanes of a pair are adjacent in one subgroup.
// Uniform:    a subgroup makes as many steps as its longest text requires. This number comes from
//             subgroupMax. Compilers that cannot prove that it is uniform need
//             `diagnostic(off, subgroup_uniformity)`.
// Limits:     LANES is a power of two and at most the subgroup size, which is a power of two as
//             well.
// Oracle:     src/edit/oracle.rs
//
// myers_workgroup.wgsl does the same without subgroup operations.

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
