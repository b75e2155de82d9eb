// Common to the kernels for ClustalW's pairwise stage: parameters, pairs and what is known of each.

struct Params {
    // Tasks (nw_forward_reverse: pairs) task_begin .. task_end are to do; workgroup k does task_begin + k and every so many
    // groups after it.
    task_begin: u32,
    task_end: u32,
    groups: u32,
    // Slices to do in this dispatch.
    slice_begin: u32,
    slice_end: u32,
    // Entries that an invocation (nw_forward_reverse: each border of a workgroup) has of the scratch memory.
    entries: u32,
    // What every symbol of a gap costs, the first one too.
    extension: i32,
    reserved: u32,
}

// Pairs that a workgroup does at once: one query against targets, pairs[first .. first + count].
struct Task {
    first: u32,
    count: u32,
}

struct Pair {
    // First symbol of either, and how many there are.
    query: u32,
    query_symbols: u32,
    target_begin: u32,
    target_symbols: u32,
    // What a gap costs beside the extension of all its symbols.
    opening: i32,
    // Whether the target comes before the query, so that of equal cells the first by rows counts, else that by columns.
    by_rows: u32,
}

// What is found of a pair, in the order of pairs. Rows are symbols of the target, columns those of the query, from 0 on.
struct Found {
    // The greatest score; 0 if there is none, and then the rest has no meaning.
    score: i32,
    end_row: u32,
    end_column: u32,
    // Rows before the end that the alignment begins at, and columns before the query's last one.
    rows_back: u32,
    columns_back: u32,
    // Identities of the alignment that ClustalW chooses between the two.
    identities: u32,
    reserved0: u32,
    reserved1: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> symbols: array<u32>;
// Of two codes the score.
@group(0) @binding(2) var<storage, read> table: array<i32>;
@group(0) @binding(3) var<storage, read> pairs: array<Pair>;
@group(0) @binding(4) var<storage, read_write> found: array<Found>;

fn symbol(at: u32) -> u32 {
    return (symbols[at / 4u] >> (8u * (at % 4u))) & 255u;
}
