// What a lane's left neighbour sent, by shuffle: one pair per subgroup, whatever the subgroup's size.

// The value that the lane to the left passed to this call. To be called by all invocations of the subgroup.
fn from_left(value: vec2<i32>, step: u32) -> vec2<i32> {
    return vec2<i32>(subgroupShuffleUp(value.x, 1u), subgroupShuffleUp(value.y, 1u));
}
