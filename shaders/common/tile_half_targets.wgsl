// Score type of a tile: half floats, one query and two targets.

#import tile_half_numbers

// Scores of LOAD columns.
alias V = vec4<f16>;
// Scores of LOAD columns against the symbols of both targets.
struct L {
    one: V,
    two: V,
}

// Number of queries and of targets that are computed together.
const QUERIES: u32 = 1u;
const TARGETS: u32 = 2u;

// Returns the bits of a packed border that belong to the query: all bits, which contain both
// targets.
fn border_mask(first: bool, second: bool) -> i32 {
    return select(0, -1, first);
}

// Returns the profile entries of one load.
fn loaded(places: vec2<u32>) -> L {
    return L(profile[places.x], profile[places.y]);
}

fn column_of(scores: L, c: u32) -> S {
    return vec2<f16>(scores.one[c], scores.two[c]);
}

// Returns the scores of a code against LOAD symbols of the query. The code's row of the table
// starts at `row`.
fn scores_of(row: u32, symbols: vec2<u32>) -> V {
    let a = symbols.x;
    return vec4<f16>(
        score_of(row, a & 255u), score_of(row, (a >> 8u) & 255u), score_of(row, (a >> 16u) & 255u), score_of(row, a >> 24u));
}
