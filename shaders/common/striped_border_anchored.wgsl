// Borders of a rectangle whose upper left corner is the start of a part of the path. They contain
// only the cost of a gap from the start. No path continues along the region's first row and first
// column, because it would have left the region there, and the cells beyond may be forbidden.

#import striped_trace

// Returns H at a distance of `k` cells from the start, along a border where a gap is in state
// `gap_state`.
fn from_start(k: u32, gap_state: u32, start_state: u32) -> i32 {
    if (start_state == STATE_H) {
        return select(-(params.first + i32(k - 1u) * params.next), 0, k == 0u);
    }
    if (start_state == gap_state && k > 0u) {
        return -i32(k) * params.next;
    }
    return NEG_INF;
}

// Returns H and the gap that enters the rectangle, by row or column of the rectangle, counted from
// 0.
fn left_border(area: Rectangle, row: u32, start_state: u32) -> vec2<i32> {
    var h = from_start(row, STATE_I, start_state);
    if (area.left == 0u && row > 0u) {
        h = NEG_INF;
    }
    return vec2<i32>(h, h - params.first);
}

fn upper_border(area: Rectangle, column: u32, start_state: u32) -> vec2<i32> {
    var h = from_start(column, STATE_D, start_state);
    if (area.above == 0u && column > 0u) {
        h = NEG_INF;
    }
    return vec2<i32>(h, h - params.first);
}
