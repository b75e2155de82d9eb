// What a lane's left neighbour sent, through workgroup memory: one pair per workgroup, the lane is the invocation.
// Two diagonals take turns: what step s writes is read before the barrier of step s + 1, and overwritten after it.

var<workgroup> ring: array<vec2<i32>, 2u * WG>;
var<private> own_lane: u32;

// The value that the lane to the left passed to the last call. To be called by all invocations of the workgroup.
fn from_left(value: vec2<i32>, step: u32) -> vec2<i32> {
    let begin = (step & 1u) * WG;
    ring[begin + own_lane] = value;
    workgroupBarrier();
    return ring[begin + max(own_lane, 1u) - 1u];
}
