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
    // Safe: what the last call found has been read by all.
    workgroupBarrier();
    if (t == 0u) {
        atomicStore(&wg_highest, 0);
    }
    workgroupBarrier();
    atomicMax(&wg_highest, value);
    workgroupBarrier();
    return atomicLoad(&wg_highest);
}

// Whether it is true of any lane. To be called by all lanes.
fn any_of_all(value: bool, t: u32) -> bool {
    return highest_of_all(select(0, 1, value), t) > 0;
}

// The first lane's value. To be called by all lanes.
fn of_first(value: u32, t: u32) -> u32 {
    if (t == 0u) {
        wg_first = value;
    }
    return workgroupUniformLoad(&wg_first);
}
