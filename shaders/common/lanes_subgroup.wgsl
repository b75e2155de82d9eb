// What a strip's lanes tell each other, by subgroup operations: the workgroup is one subgroup.

// The value that the lane to the left passed to this call. To be called by all lanes.
fn from_left(value: vec4<i32>, t: u32, turn: u32) -> vec4<i32> {
    return vec4<i32>(
        subgroupShuffleUp(value.x, 1u), subgroupShuffleUp(value.y, 1u), subgroupShuffleUp(value.z, 1u), subgroupShuffleUp(value.w, 1u));
}

// The greatest value of all lanes. To be called by all lanes. Not by subgroupMax, which takes a microsecond on an H100. Of a
// broadcast the compiler knows that all lanes have the same: where a branch that ends the strip depended on what was shuffled, all that
// came after took a quarter longer.
fn highest_of_all(value: i32, t: u32) -> i32 {
    var highest = value;
    for (var distance = LANES / 2u; distance > 0u; distance /= 2u) {
        highest = max(highest, subgroupShuffleXor(highest, distance));
    }
    return subgroupBroadcast(highest, 0u);
}

// Whether it is true of any lane. To be called by all lanes.
fn any_of_all(value: bool, t: u32) -> bool {
    return subgroupAny(value);
}

// The first lane's value. To be called by all lanes.
fn of_first(value: u32, t: u32) -> u32 {
    return subgroupBroadcast(value, 0u);
}
