// Score type: half floats, two vectors side by side. Multiples of 1/2048 between -1 and 1 are
// exact.

alias S = vec2<f16>;
alias V = vec4<f16>;

const S_ZERO: S = vec2<f16>(0.0h);
// Value of score 1. Multiplication by it is exact, while WGSL allows a division to be inexact.
const SCORE_UNIT: f32 = 1.0 / 2048.0;

fn number(value: i32) -> S {
    return vec2<f16>(f16(f32(value) * SCORE_UNIT));
}

fn rounded(value: S) -> vec2<i32> {
    return vec2<i32>(vec2<f32>(value) * 2048.0);
}

// Returns a value below all possible scores. Subtractions from it are lost in rounding.
fn lowest() -> S {
    return vec2<f16>(-30000.0h);
}

// Returns the greater value, provided that b is at most 1 above a. The saturating addition runs in
// parallel with the comparisons of the other maxima.
fn later_max(a: S, b: S) -> S {
    return a + saturate(b - a);
}

fn low(pair: V) -> S {
    return pair.xy;
}

fn high(pair: V) -> S {
    return pair.zw;
}

fn V_of(low: S, high: S) -> V {
    return vec4<f16>(low, high);
}
