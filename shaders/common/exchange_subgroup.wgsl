// Passes values to the right neighbour of a lane by shuffles. Each subgroup computes one pair.
// Works for any subgroup size.

// Returns the value that the left lane passed to this call. All invocations of the subgroup must
// call it.
fn from_left(value: vec2<i32>, step: u32) -> vec2<i32> {
    return vec2<i32>(subgroupShuffleUp(value.x, 1u), subgroupShuffleUp(value.y, 1u));
}
