// Numbers of a tile: words, of one query.

alias S = i32;
// Scores of LOAD columns.
alias V = vec4<i32>;
alias L = V;
// What goes from column to column: H less a gap's first symbol, and E.
alias B = vec2<i32>;

// Queries and targets that are computed together.
const QUERIES: u32 = 1u;
const TARGETS: u32 = 1u;
const S_ZERO: S = 0;

fn number(value: i32) -> S {
    return value;
}

// The scores of the two queries.
fn rounded(value: S) -> vec2<i32> {
    return vec2<i32>(value, 0);
}

// The sum, but at least 0.
fn floored(a: S, b: S) -> S {
    return max(a + b, 0);
}

// The greater.
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

// The bits of a packed border that are the first query's; there is no second one.
fn border_mask(first: bool, second: bool) -> i32 {
    return select(0, -1, first);
}

// What the profile has in a load.
fn loaded(places: vec2<u32>) -> L {
    return profile[places.x];
}

fn column_of(scores: L, c: u32) -> S {
    return scores[c];
}

// Scores of a code, whose row of the table begins at `row`, against LOAD symbols of the first query.
fn scores_of(row: u32, symbols: vec2<u32>) -> V {
    let a = symbols.x;
    return vec4<i32>(
        table[row + (a & 255u)], table[row + ((a >> 8u) & 255u)], table[row + ((a >> 16u) & 255u)], table[row + (a >> 24u)]);
}
