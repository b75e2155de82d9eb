// myers_workgroup: edit distance. LANES invocations of a workgroup compute a pair, and a workgroup
//             computes several pairs (Chacon et al. 2014, section 3.2, with shared memory).
// Recurrence: see common/myers.wgsl; common/myers_lanes.wgsl divides it among lanes.
// Owns:       the s-th group of LANES invocations of workgroup g has the position g * (WG / LANES)
//             + s and its task.
// Layout:     see common/myers.wgsl and common/myers_lanes.wgsl. Lanes exchange values in workgroup
//             memory (common/exchange_workgroup.wgsl).
// Invariant:  see common/myers_lanes.wgsl.
// Uniform:    the number of steps comes from workgroupUniformLoad.
// Limits:     LANES is a power of two and at most WG.
// Oracle:     src/edit/oracle.rs
//
// myers_subgroup.wgsl does the same with subgroup operations.

#import exchange_workgroup
#import myers_lanes

var<workgroup> counts: array<u32, WG / LANES>;
var<workgroup> most: u32;

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    let group = params.first_workgroup + workgroup.x + workgroup.y * workgroups.x;
    let place = group * (WG / LANES) + t / LANES;
    let task = task_of(place);
    this_lane = t;
    var pair = Pair(0u, 0u, 0u, 0u, 0u, 0u);
    if (task < params.task_count) {
        pair = pair_of(group, task);
    }
    if (t % LANES == 0u) {
        counts[t / LANES] = columns_of(pair);
    }
    workgroupBarrier();
    if (t == 0u) {
        var greatest = 0u;
        for (var slot = 0u; slot < WG / LANES; slot++) {
            greatest = max(greatest, counts[slot]);
        }
        most = greatest;
    }
    scan(pair, task, place, t % LANES, workgroupUniformLoad(&most), t);
}
