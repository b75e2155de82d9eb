// Score type of a tile: half floats, two queries and one target.

#import tile_half_numbers

// Scores of LOAD columns of both queries, side by side. `near` contains the first two columns, and
// the other field the last two.
struct V {
    near: vec4<f16>,
    far: vec4<f16>,
}
alias L = V;

// Number of queries and of targets that are computed together.
const QUERIES: u32 = 2u;
const TARGETS: u32 = 1u;

// Returns the bits of a packed border that belong to the first and to the second query.
fn border_mask(first: bool, second: bool) -> i32 {
    return select(0, 65535, first) | select(0, -65536, second);
}

// Returns the profile entry of one load.
fn loaded(places: vec2<u32>) -> L {
    return profile[places.x];
}

fn column_of(scores: L, c: u32) -> S {
    if (c == 0u) {
        return scores.near.xy;
    }
    if (c == 1u) {
        return scores.near.zw;
    }
    if (c == 2u) {
        return scores.far.xy;
    }
    return scores.far.zw;
}

// Returns the scores of a code against LOAD symbols of both queries. The code's row of the table
// starts at `row`.
fn scores_of(row: u32, symbols: vec2<u32>) -> V {
    return V(two_columns(row, symbols), two_columns(row, symbols >> vec2<u32>(16u)));
}

// Returns the scores of a code against the first two of these symbols.
fn two_columns(row: u32, symbols: vec2<u32>) -> vec4<f16> {
    let one = symbols & vec2<u32>(255u);
    let two = (symbols >> vec2<u32>(8u)) & vec2<u32>(255u);
    return vec4<f16>(score_of(row, one.x), score_of(row, one.y), score_of(row, two.x), score_of(row, two.y));
}
