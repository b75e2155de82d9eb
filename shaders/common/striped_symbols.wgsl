// Symbols, four per word, and scores: table[a * CODES + b] is twice the score, plus 1 if the two
// symbols match.

#import striped_trace

@group(0) @binding(3) var<storage, read> query_codes: array<u32>;
@group(0) @binding(4) var<storage, read> target_codes: array<u32>;
@group(0) @binding(5) var<storage, read> table: array<i32>;

// Returns the code of row or column `index` + 1.
fn query_code(index: u32) -> u32 {
    let at = params.query_begin_symbols + index;
    return (query_codes[at >> 2u] >> ((at & 3u) * 8u)) & 255u;
}

fn target_code(index: u32) -> u32 {
    let at = params.target_begin_symbols + index;
    return (target_codes[at >> 2u] >> ((at & 3u) * 8u)) & 255u;
}
