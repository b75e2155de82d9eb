// Parts of a path, starting with its end. The chase stage finds the parts, and the trace stage
// writes their columns.

#import striped_trace

// Reasons for the end of the chase. LEFT_WINDOW: it reached a block without start states. BORDER:
// it reached the region's first row or column. BEGUN: a local alignment starts there. FULL: there
// is no space for the directions of another part. LOST: start states are invalid.
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

// Returns the number of words for the directions of a rectangle: one for each lane and step.
fn directions_words(rows: u32, columns: u32) -> u32 {
    let lanes = (columns + CELLS - 1u) / CELLS;
    return (rows + lanes) * lanes;
}
