// Communication between the lanes of a strip through workgroup memory, for any subgroup size. The
// two halves alternate: values written in turn k are read before the barrier of turn k + 1, and
// overwritten after it.

var<workgroup> passed: array<vec4<i32>, 2u * LANES>;
var<workgroup> wg_highest: atomic<i32>;
var<workgroup> wg_result: i32;
var<workgroup> wg_first: u32;

// Returns the value that the left lane passed to this call. All lanes must call it, with turns that
// increase by one.
fn from_left(value: vec4<i32>, t: u32, turn: u32) -> vec4<i32> {
    let begin = (turn & 1u) * LANES;
    passed[begin + t] = value;
    workgroupBarrier();
    return passed[begin + max(t, 1u) - 1u];
}

// Returns the greatest value of all lanes, but at least 0. All lanes must call it.
fn highest_of_all(value: i32, t: u32) -> i32 {
    // Safe: only lane 0 has read the result of the previous call.
    if (t == 0u) {
        atomicStore(&wg_highest, 0);
    }
    workgroupBarrier();
    atomicMax(&wg_highest, value);
    workgroupBarrier();
    if (t == 0u) {
        wg_result = atomicLoad(&wg_highest);
    }
    return workgroupUniformLoad(&wg_result);
}

// Returns whether the value is true in any lane. All lanes must call it.
fn any_of_all(value: bool, t: u32) -> bool {
    return highest_of_all(select(0, 1, value), t) > 0;
}

// Returns whether the value is true in any lane. All lanes must call it. Barriers may depend on the
// result. All values in workgroup memory that were written before are visible after it.
fn uniform_any(value: bool, t: u32) -> bool {
    return any_of_all(value, t);
}

// Returns the first lane's value. All lanes must call it.
fn of_first(value: u32, t: u32) -> u32 {
    if (t == 0u) {
        wg_first = value;
    }
    return workgroupUniformLoad(&wg_first);
}

// Returns the first lane's value. All lanes must call it. Barriers may depend on the result.
fn uniform_of_first(value: u32, t: u32) -> u32 {
    return of_first(value, t);
}

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    compute_strip(workgroup.x, t);
}
