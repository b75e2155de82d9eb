// Shared by the kernels of phases 2 and 3 of a long pair's traceback (Li, Ranka and Sahni,
// "Pairwise Sequence Alignment for Very Long Sequences on GPUs", section V): the region, the
// borders of its chunks, symbols and scores.
// Layout:     rows and columns count from the region's first. A region has strips of `strip`
//             columns, which are divided into chunks of `chunk` rows. Without a lead, column j > 0
//             is in strip (j - 1) / strip, and row i > 0 is in chunk row (i - 1) / chunk. Nothing
//             below `rows` or to the right of `columns` is used: the last strip and the last chunks
//             end there. A block is a chunk, or several chunks of a strip.
// Constants:  WG, CODES, COLUMN_BITS, LOCAL, STORED_BORDERS.

// States of a point. NEW: a local alignment starts at the point, in state H.
const STATE_H: u32 = 0u;
const STATE_I: u32 = 1u;
const STATE_D: u32 = 2u;
const STATE_NEW: u32 = 3u;

// Number of columns that an invocation keeps in registers.
const CELLS: u32 = 8u;

struct Params {
    query_begin_symbols: u32,
    target_begin_symbols: u32,
    rows: u32,
    columns: u32,
    // Number of entries of `vertical` per strip, and of `horizontal` per chunk row.
    rows_stride: u32,
    columns_stride: u32,
    strip: u32,
    chunk: u32,
    first: i32,
    next: i32,
    // Number of rows of the tallest block.
    block_rows: u32,
    strip_begin: u32,
    strip_count: u32,
    block_count: u32,
    // Position of the traceback.
    at_row: u32,
    at_column: u32,
    at_state: u32,
    path_capacity: u32,
    directions_capacity_words: u32,
    // Number of columns by which the first strip is narrower.
    lead: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
