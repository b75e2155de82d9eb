// Score type: i32, two vectors side by side.

alias S = vec2<i32>;
alias V = vec4<i32>;

const S_ZERO: S = vec2<i32>(0);

fn number(value: i32) -> S {
    return vec2<i32>(value);
}

fn rounded(value: S) -> vec2<i32> {
    return value;
}

// Returns a value below all possible scores, far enough from overflow for subtractions.
fn lowest() -> S {
    return vec2<i32>(-0x40000000);
}

fn later_max(a: S, b: S) -> S {
    return max(a, b);
}

fn low(pair: V) -> S {
    return pair.xy;
}

fn high(pair: V) -> S {
    return pair.zw;
}

fn V_of(low: S, high: S) -> V {
    return vec4<i32>(low, high);
}
