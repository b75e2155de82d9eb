// Passes values to the right neighbour of a lane through workgroup memory. Each workgroup computes
// one pair, and the lane is the index of the invocation. The two halves of the ring alternate:
// values written in step s are read before the barrier of step s + 1, and overwritten after it.

var<workgroup> ring: array<vec2<i32>, 2u * WG>;
var<private> this_lane: u32;

// Returns the value that the left lane passed to this call. All invocations of the workgroup must
// call it.
fn from_left(value: vec2<i32>, step: u32) -> vec2<i32> {
    let begin = (step & 1u) * WG;
    ring[begin + this_lane] = value;
    workgroupBarrier();
    return ring[begin + max(this_lane, 1u) - 1u];
}
