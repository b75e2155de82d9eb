// Scores with identities: scale * score + identities, of which the greatest has the most identities of all that have the
// score, and scale * score - identities, of which the greatest has the least. Identities are below the scale.

alias S = vec2<i32>;
// What a slice hands to the next of a row.
alias Border = vec4<i32>;

// Words of a score.
const WIDTH: u32 = 2u;

fn number(value: i32) -> S {
    return vec2<i32>(value);
}

// Word k of what a column adds.
fn component(score: i32, equal: i32, scale: i32, k: u32) -> i32 {
    return scale * score + select(-equal, equal, k % 2u == 0u);
}

// Column q of those of four words.
fn column_of(words: vec4<i32>, q: u32) -> S {
    return select(words.zw, words.xy, q == 0u);
}

fn order(value: S) -> i32 {
    return value.x;
}

fn keys(value: S) -> vec2<i32> {
    return value;
}

fn border_of(h: S, e: S) -> Border {
    return vec4<i32>(h, e);
}

fn border_h(border: Border) -> S {
    return border.xy;
}

fn border_e(border: Border) -> S {
    return border.zw;
}
