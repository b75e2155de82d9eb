// Shared by the kernels for ClustalW's pairwise stage: parameters, pairs and their results.

struct Params {
    // The dispatch computes tasks (nw_forward_reverse: pairs) task_begin .. task_end. Workgroup k
    // computes task_begin + k and every `groups`-th task after it.
    task_begin: u32,
    task_end: u32,
    groups: u32,
    // Range of slices that this dispatch computes: first and end.
    slice_begin: u32,
    slice_end: u32,
    // Entries of the scratch memory per invocation (nw_forward_reverse: per border of a workgroup).
    entries: u32,
    // Cost of every symbol of a gap, including the first.
    extension: i32,
    reserved: u32,
}

// Pairs that a workgroup computes at once: one query against the targets of the pairs first ..
// first + count.
struct Task {
    first: u32,
    count: u32,
}

struct Pair {
    // First symbol and length of the query, then of the target.
    query: u32,
    query_symbols: u32,
    target_begin: u32,
    target_symbols: u32,
    // Cost of a gap in addition to the extension of all its symbols.
    opening: i32,
    // Whether the target precedes the query. It determines which of several equal cells counts: the
    // first by rows if true, or the first by columns.
    by_rows: u32,
}

// Results of a pair, in the order of `pairs`. Rows are symbols of the target, and columns are
// symbols of the query, both counted from 0.
struct PairResult {
    // The best score. If it is 0, the other members have no meaning.
    score: i32,
    end_row: u32,
    end_column: u32,
    // Number of rows from the start to the end, and number of columns from the start to the query's
    // last column.
    rows_back: u32,
    columns_back: u32,
    // Number of identities in the alignment that ClustalW chooses between start and end.
    identities: u32,
    reserved0: u32,
    reserved1: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> symbols: array<u32>;
// Score of two codes.
@group(0) @binding(2) var<storage, read> table: array<i32>;
@group(0) @binding(3) var<storage, read> pairs: array<Pair>;
@group(0) @binding(4) var<storage, read_write> found: array<PairResult>;

fn symbol(at: u32) -> u32 {
    return (symbols[at / 4u] >> (8u * (at % 4u))) & 255u;
}
