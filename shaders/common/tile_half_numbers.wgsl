// Half floats of two pairs, side by side. Multiples of 1/2048 between -1 and 1 are exact.

alias S = vec2<f16>;
// Border value that passes from column to column: H minus the cost of a gap's first symbol, and E.
alias B = vec4<f16>;

const S_ZERO: S = vec2<f16>(0.0h);
// Value of score 1. Multiplication by it is exact, while WGSL allows a division to be inexact.
const SCORE_UNIT: f32 = 1.0 / 2048.0;

fn number(value: i32) -> S {
    return vec2<f16>(f16(f32(value) * SCORE_UNIT));
}

// Returns the scores of the two pairs. 2048 stands for 2048 or more.
fn rounded(value: S) -> vec2<i32> {
    return vec2<i32>(vec2<f32>(value) * 2048.0);
}

// Returns the sum, clamped to the range from 0 to 1.
fn floored(a: S, b: S) -> S {
    return saturate(a + b);
}

// Returns the greater value, provided that b is at most 1 above a. The saturating addition runs in
// parallel with the comparisons of the other maxima.
fn later_max(a: S, b: S) -> S {
    return a + saturate(b - a);
}

fn B_of(g: S, e: S) -> B {
    return vec4<f16>(g, e);
}

fn g_of(border: B) -> S {
    return border.xy;
}

fn e_of(border: B) -> S {
    return border.zw;
}

// Packs a border into 32-bit integers, because shuffles and bitcasts of half floats are not
// available everywhere. Exact, because all values are half floats.
fn packed(border: B) -> vec2<i32> {
    let g = pack2x16float(vec2<f32>(border.xy));
    let e = pack2x16float(vec2<f32>(border.zw));
    return vec2<i32>(bitcast<i32>(g), bitcast<i32>(e));
}

fn unpacked(words: vec2<i32>) -> B {
    let g = unpack2x16float(bitcast<u32>(words.x));
    let e = unpack2x16float(bitcast<u32>(words.y));
    return vec4<f16>(vec2<f16>(g), vec2<f16>(e));
}

// Returns a score as a half float. The score of padding is far below all others, and -2048 is low
// enough for it.
fn score_of(row: u32, symbol: u32) -> f16 {
    return f16(f32(max(table[row + symbol], -2048)) * SCORE_UNIT);
}
