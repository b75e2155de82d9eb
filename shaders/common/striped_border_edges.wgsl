// Borders of a rectangle at a chunk's upper left corner: the stored borders of the chunk.

#import striped_edges

fn left_border(area: Rectangle, row: u32, start_state: u32) -> vec2<i32> {
    return left_edge((area.left + params.lead) / params.strip, area.above + row);
}

fn upper_border(area: Rectangle, column: u32, start_state: u32) -> vec2<i32> {
    return upper_edge(area.above / params.chunk, area.left + column);
}
