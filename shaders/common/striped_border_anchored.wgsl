// Borders of a rectangle whose upper left corner is a part's start: what a gap from there costs, and nothing else. Along the
// region's first row and first column nothing goes on: a path that comes there has left the region, and what lies beyond may
// be forbidden.

#import striped_trace

// H, `k` cells from the start along a border where a gap is in state `own`.
fn from_start(k: u32, own: u32, start_state: u32) -> i32 {
    if (start_state == STATE_H) {
        return select(-(params.first + i32(k - 1u) * params.next), 0, k == 0u);
    }
    if (start_state == own && k > 0u) {
        return -i32(k) * params.next;
    }
    return NEVER;
}

// H and the gap that enters the rectangle, in a row from 0 and a column from 0 of it.
fn left_border(area: Rectangle, row: u32, start_state: u32) -> vec2<i32> {
    var h = from_start(row, STATE_I, start_state);
    if (area.left == 0u && row > 0u) {
        h = NEVER;
    }
    return vec2<i32>(h, h - params.first);
}

fn upper_border(area: Rectangle, column: u32, start_state: u32) -> vec2<i32> {
    var h = from_start(column, STATE_D, start_state);
    if (area.above == 0u && column > 0u) {
        h = NEVER;
    }
    return vec2<i32>(h, h - params.first);
}
