// Communication between the lanes of a strip by subgroup operations. The workgroup is one subgroup.
// The results of these operations are uniform, but a compiler may be unable to prove it. Barriers
// therefore depend only on uniform_of_first(), which loads from workgroup memory.

var<workgroup> wg_first: u32;

// Returns the value that the left lane passed to this call. All lanes must call it.
fn from_left(value: vec4<i32>, t: u32, turn: u32) -> vec4<i32> {
    return vec4<i32>(
        subgroupShuffleUp(value.x, 1u), subgroupShuffleUp(value.y, 1u), subgroupShuffleUp(value.z, 1u), subgroupShuffleUp(value.w, 1u));
}

// Returns the greatest value of all lanes. All lanes must call it. It does not use subgroupMax,
// which takes a microsecond on an H100. The broadcast shows the compiler that all lanes have the
// same value. If a branch that ends the strip depends on shuffled values instead, all following
// code takes a quarter longer.
fn highest_of_all(value: i32, t: u32) -> i32 {
    var highest = value;
    for (var distance = LANES / 2u; distance > 0u; distance /= 2u) {
        highest = max(highest, subgroupShuffleXor(highest, distance));
    }
    return subgroupBroadcast(highest, 0u);
}

// Returns whether the value is true in any lane. All lanes must call it.
fn any_of_all(value: bool, t: u32) -> bool {
    return subgroupAny(value);
}

// Returns whether the value is true in any lane. All lanes must call it. Barriers may depend on the
// result. All values in workgroup memory that were written before are visible after it.
fn uniform_any(value: bool, t: u32) -> bool {
    return uniform_of_first(select(0u, 1u, subgroupAny(value)), t) != 0u;
}

// Returns the first lane's value. All lanes must call it.
fn of_first(value: u32, t: u32) -> u32 {
    return subgroupBroadcast(value, 0u);
}

// Returns the first lane's value. All lanes must call it. Barriers may depend on the result.
fn uniform_of_first(value: u32, t: u32) -> u32 {
    if (t == 0u) {
        wg_first = value;
    }
    return workgroupUniformLoad(&wg_first);
}

// Lanes are numbered as shuffles number them. The order of invocations in a workgroup may differ.
@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(subgroup_invocation_id) t: u32) {
    compute_strip(workgroup.x, t);
}
