// Score type of a tile: i32, one query.

alias S = i32;
// Scores of LOAD columns.
alias V = vec4<i32>;
alias L = V;
// Border value that passes from column to column: H minus the cost of a gap's first symbol, and E.
alias B = vec2<i32>;

// Number of queries and of targets that are computed together.
const QUERIES: u32 = 1u;
const TARGETS: u32 = 1u;
const S_ZERO: S = 0;

fn number(value: i32) -> S {
    return value;
}

// Returns the scores of the two pairs; the second one is unused.
fn rounded(value: S) -> vec2<i32> {
    return vec2<i32>(value, 0);
}

// Returns the sum, but at least 0.
fn floored(a: S, b: S) -> S {
    return max(a + b, 0);
}

// Returns the greater value.
fn later_max(a: S, b: S) -> S {
    return max(a, b);
}

fn B_of(g: S, e: S) -> B {
    return vec2<i32>(g, e);
}

fn g_of(border: B) -> S {
    return border.x;
}

fn e_of(border: B) -> S {
    return border.y;
}

fn packed(border: B) -> vec2<i32> {
    return border;
}

fn unpacked(words: vec2<i32>) -> B {
    return words;
}

// Returns the bits of a packed border that belong to the first query. There is no second one.
fn border_mask(first: bool, second: bool) -> i32 {
    return select(0, -1, first);
}

// Returns the profile entry of one load.
fn loaded(places: vec2<u32>) -> L {
    return profile[places.x];
}

fn column_of(scores: L, c: u32) -> S {
    return scores[c];
}

// Returns the scores of a code against LOAD symbols of the query. The code's row of the table
// starts at `row`.
fn scores_of(row: u32, symbols: vec2<u32>) -> V {
    let a = symbols.x;
    return vec4<i32>(
        table[row + (a & 255u)], table[row + ((a >> 8u) & 255u)], table[row + ((a >> 16u) & 255u)], table[row + (a >> 24u)]);
}
