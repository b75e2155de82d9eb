// What a strip's lanes tell each other, through workgroup memory: for any subgroup size.
// Two halves take turns: what turn k writes is read before the barrier of turn k + 1, and overwritten after it.

var<workgroup> passed: array<vec4<i32>, 2u * LANES>;
var<workgroup> wg_highest: atomic<i32>;
var<workgroup> wg_first: u32;

// The value that the lane to the left passed to this call. To be called by all lanes, with turns that rise by one.
fn from_left(value: vec4<i32>, t: u32, turn: u32) -> vec4<i32> {
    let begin = (turn & 1u) * LANES;
    passed[begin + t] = value;
    workgroupBarrier();
    return passed[begin + max(t, 1u) - 1u];
}

// The greatest value of all lanes, which is at least 0. To be called by all lanes.
fn highest_of_all(value: i32, t: u32) -> i32 {
    if (t == 0u) {
        atomicStore(&wg_highest, 0);
    }
    workgroupBarrier();
    atomicMax(&wg_highest, value);
    workgroupBarrier();
    return atomicLoad(&wg_highest);
}

// The first lane's value. To be called by all lanes.
fn of_first(value: u32, t: u32) -> u32 {
    if (t == 0u) {
        wg_first = value;
    }
    return workgroupUniformLoad(&wg_first);
}
