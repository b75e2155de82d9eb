// Numbers of a tile: halves, of two queries and one target.

#import tile_half_numbers

// Scores of LOAD columns, of one query beside the other's.
alias V = vec4<f16>;
alias L = V;

const LOAD: u32 = 2u;
// Queries and targets that are computed together.
const QUERIES: u32 = 2u;
const TARGETS: u32 = 1u;

// The bits of a packed border that are the first query's, the second's.
fn border_mask(first: bool, second: bool) -> i32 {
    return select(0, 65535, first) | select(0, -65536, second);
}

// What the profile has in a load.
fn loaded(places: vec2<u32>) -> L {
    return profile[places.x];
}

fn column_of(scores: L, c: u32) -> S {
    if (c == 0u) {
        return scores.xy;
    }
    return scores.zw;
}

// Scores of a code, whose row of the table begins at `row`, against LOAD symbols of both queries: the load-th of their words.
fn scores_of(row: u32, symbols: vec2<u32>, load: u32) -> V {
    let shift = 16u * (load % 2u);
    let a = symbols.x >> shift;
    let b = symbols.y >> shift;
    return vec4<f16>(
        score_of(row, a & 255u), score_of(row, b & 255u), score_of(row, (a >> 8u) & 255u), score_of(row, (b >> 8u) & 255u));
}
