// Parts of a path, from its end on: what the chase finds and the trace spells out.

#import striped_trace

// Why the chase stopped. LEFT_WINDOW: it came to a block without start states; BORDER: to the region's first row or column;
// BEGUN: a local alignment begins there; FULL: no room for directions of one part more; LOST: start states are no start states.
const LEFT_WINDOW: u32 = 0u;
const BORDER: u32 = 1u;
const BEGUN: u32 = 2u;
const FULL: u32 = 3u;
const LOST: u32 = 4u;

struct Path {
    start_row: u32,
    start_column: u32,
    start_state: u32,
    end_row: u32,
    end_column: u32,
    end_state: u32,
    directions_begin: u32,
    runs_begin: u32,
    run_count: u32,
}

struct Paths {
    count: u32,
    reason: u32,
    row: u32,
    column: u32,
    state: u32,
    directions_words: u32,
    runs_words: u32,
    spare: u32,
    list: array<Path>,
}

@group(0) @binding(8) var<storage, read_write> paths: Paths;

// Words of directions of so many rows and columns: one a lane and step.
fn directions_words(rows: u32, columns: u32) -> u32 {
    let lanes = (columns + CELLS - 1u) / CELLS;
    return (rows + lanes) * lanes;
}
