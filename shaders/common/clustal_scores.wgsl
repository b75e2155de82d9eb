// Scores alone, in 32 bits.

alias S = i32;
// What a slice hands to the next of a row.
alias Border = vec2<i32>;

// Words of a score.
const WIDTH: u32 = 1u;

fn number(value: i32) -> S {
    return value;
}

// Word k of what a column adds.
fn component(score: i32, equal: i32, scale: i32, k: u32) -> i32 {
    return score;
}

// Column q of those of four words.
fn column_of(words: vec4<i32>, q: u32) -> S {
    return words[q];
}

fn order(value: S) -> i32 {
    return value;
}

fn keys(value: S) -> vec2<i32> {
    return vec2<i32>(value);
}

fn border_of(h: S, e: S) -> Border {
    return vec2<i32>(h, e);
}

fn border_h(border: Border) -> S {
    return border.x;
}

fn border_e(border: Border) -> S {
    return border.y;
}
