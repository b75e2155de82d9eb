// Borders of a rectangle at a chunk's upper left corner: the stored borders of the chunk.

#import striped_stored_borders

fn left_border(area: Rectangle, row: u32, start_state: u32) -> vec2<i32> {
    return stored_left_border((area.left + params.lead) / params.strip, area.above + row);
}

fn upper_border(area: Rectangle, column: u32, start_state: u32) -> vec2<i32> {
    return stored_upper_border(area.above / params.chunk, area.left + column);
}
