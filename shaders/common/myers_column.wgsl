// Shared by myers_thread, myers_subgroup and myers_workgroup: a column of WORDS words, and the
// match bits that produce the next one.

#import myers

// Number of profile rows that each invocation keeps of its pattern: one per base.
const ROWS: u32 = select(4u, 0u, BITS == 8u);

// Safe without barriers: an invocation reads only values that it wrote.
var<workgroup> rows: array<u32, max(ROWS * WORDS, 1u) * WG>;

// Loads the profile rows of WORDS words from word `first` on. The words before word `pads` are
// padding, and the pattern follows.
fn load_rows(pair: Pair, first: u32, pads: u32, t: u32) {
    for (var row = 0u; row < ROWS; row++) {
        for (var w = 0u; w < WORDS; w++) {
            var bits = PADS;
            if (first + w >= pads) {
                bits = profile[pair.profile + row * pair.stride + first + w - pads];
            }
            rows[(row * WORDS + w) * WG + t] = bits;
        }
    }
}

// Returns the differences down the column before the first one: +1 in rows of the pattern, or 0 if
// an overlap may start anywhere in the pattern.
fn first_differences(pair: Pair, word: u32, pads: u32) -> u32 {
    return select(pattern_rows(pair.m, pair.words, word, pads), 0u, IS_OVERLAP);
}

// Returns the match bits of word w for a code. `is_mixed` states that the code stands for several
// bases. `first` and `pads` are as in load_rows.
fn matches(pair: Pair, code: u32, is_mixed: bool, w: u32, first: u32, pads: u32, t: u32) -> u32 {
    let word = first + w;
    if (BITS == 8u) {
        let bits = profile[pair.profile + (max(word, pads) - pads) * STRIDE + code];
        return select(PADS, bits, word >= pads);
    }
    if (is_mixed) {
        let bases = params.sets[code >> 3u] >> (4u * (code & 7u));
        var bits = PADS & ~pattern_rows(pair.m, pair.words, word, pads);
        for (var row = 0u; row < 4u; row++) {
            bits |= select(0u, rows[(row * WORDS + w) * WG + t], ((bases >> row) & 1u) == 1u);
        }
        return bits;
    }
    return rows[code * (WORDS * WG) + w * WG + t];
}

// Differences down a column, in WORDS words: bits of the cells that are one more (or one less) than
// the cell above.
struct Column {
    more: array<u32, WORDS>,
    less: array<u32, WORDS>,
}

// Computes the next column in place. The top bits of `above` state whether row -1 is one more (or
// one less) in the new column than in the old one. The top bits of the result state the same for
// the last row.
fn advance_by(
    column: ptr<function, Column>,
    above: vec2<u32>,
    pair: Pair,
    code: u32,
    is_mixed: bool,
    first: u32,
    pads: u32,
    t: u32,
) -> vec2<u32> {
    var last = above;
    for (var w = 0u; w < WORDS; w++) {
        let more = (*column).more[w];
        let less = (*column).less[w];
        let equal = matches(pair, code, is_mixed, w, first, pads, t);
        // The carry of the long addition is the difference along the row: both are 1 if the row
        // above the word is one less than in the old column.
        let carry = last.y >> 31u;
        let same = (((equal & more) + more + carry) ^ more) | equal | less;
        let along_more = less | ~(same | more);
        let along_less = more & same;
        let shifted = (along_more << 1u) | (last.x >> 31u);
        (*column).more[w] = ((along_less << 1u) | carry) | ~(same | shifted);
        (*column).less[w] = shifted & same;
        last = vec2<u32>(along_more, along_less);
    }
    return last;
}

// Computes the next column for the lowest of several symbols. Codes of several bases are rare, so
// they have separate code that does not slow down the others.
fn advance(
    column: ptr<function, Column>,
    above: vec2<u32>,
    pair: Pair,
    symbols: u32,
    first: u32,
    pads: u32,
    t: u32,
) -> vec2<u32> {
    let code = symbols & ((1u << BITS) - 1u);
    if (BITS == 4u && code >= 4u) {
        return advance_by(column, above, pair, code, true, first, pads, t);
    }
    return advance_by(column, above, pair, code, false, first, pads, t);
}

// Returns the least value of the last column in rows where an overlap may end, or one more than the
// largest number of edits. `value` belongs to the last of these rows, which `below` further rows of
// the pattern follow.
fn least_of_column(column: ptr<function, Column>, value: u32, below: u32, pair: Pair) -> u32 {
    // The search starts with the limit plus one, so that few values have to be tested exactly.
    var least = most_edits(pair.m, pair.n) + 1u;
    var current = value;
    var after = below;
    let most = min(unaligned(pair.m, pair.n), pair.m - 1u);
    for (var up = 0u; up < WORDS; up++) {
        let w = WORDS - 1u - up;
        var more = (*column).more[w];
        var less = (*column).less[w];
        for (var bit = 0u; bit < 32u && after <= most; bit++) {
            if (current < least) {
                if (current <= most_edits(pair.m - after, pair.n)) {
                    least = current;
                }
            }
            current += (less >> 31u) - (more >> 31u);
            more <<= 1u;
            less <<= 1u;
            after++;
        }
    }
    return least;
}
