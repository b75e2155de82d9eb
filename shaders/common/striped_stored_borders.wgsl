// Stored borders of chunks.
// Layout:     vertical[(k * rows_stride + i) * 2 ..] contains H and the D that enters the next
//             column, at row i of the left border of strip k. The highest bit of these words is
//             inverted. horizontal[(c * columns_stride + j) * 2 ..] contains H and the I that
//             enters the next row, at column j of the upper border of chunk row c.

#import striped_trace

@group(0) @binding(1) var<storage, read> vertical: array<u32>;
@group(0) @binding(2) var<storage, read> horizontal: array<i32>;

fn stored_left_border(strip: u32, row: u32) -> vec2<i32> {
    let at = (strip * params.rows_stride + row) * 2u;
    return vec2<i32>(bitcast<i32>(vertical[at] ^ 0x80000000u), bitcast<i32>(vertical[at + 1u] ^ 0x80000000u));
}

fn stored_upper_border(chunk_row: u32, column: u32) -> vec2<i32> {
    let at = (chunk_row * params.columns_stride + column) * 2u;
    return vec2<i32>(horizontal[at], horizontal[at + 1u]);
}
