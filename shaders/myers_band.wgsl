// myers_band: edit distance of whole sequences within a limit. One invocation computes a pair and
//             keeps a band of diagonals in its registers (Hyyro 2003; the band of Ukkonen 1985).
// Recurrence: see common/myers.wgsl. Cells are computed if their diagonal j - i is from `low` to
//             `high`; these are 32 * WORDS diagonals. Bit b of column j is row j - high + b. Rows
//             above row 0 equal row 0. Rows below the last one match nothing.
// Owns:       invocation t of workgroup g has task first_runs[2 g + 1] + t of run first_runs[2 g].
// Layout:     workgroup memory holds the profile of the workgroup's pattern, with FRONT words of
//             zeros before and after it. The result is one word: the distance, or a number above
//             params.limit (such as 0xffffffff) if it exceeds the limit.
// Invariant:  `matched` counts the columns in which the lowest diagonal of the band continued
//             without an edit.
// Uniform:    all invocations of a workgroup reach the barrier. Workgroups beyond the last one
//             return as a whole.
// Limits:     params.limit < 32 * WORDS; patterns of at most 32 * (ROW_WORDS - 2 * FRONT) symbols.
// Oracle:     src/edit/oracle.rs

#import myers

const FRONT: u32 = WORDS + 1u;
const CAPACITY: i32 = i32(32u * WORDS) - 1;
const NO_DISTANCE: u32 = 0xffffffffu;

// Rows of bases. For symbols of 8 bits, the profile is read from its buffer.
var<workgroup> bases: array<u32, select(4u * ROW_WORDS, 1u, BITS == 8u)>;

// Returns word `word` of the rows that match a code.
fn bits_of(code: u32, word: u32, begin: u32, words: u32) -> u32 {
    if (BITS == 8u) {
        let own = word - FRONT;
        let bits = profile[begin + min(own, words - 1u) * STRIDE + code];
        return select(0u, bits, own < words);
    }
    if (BITS == 4u && code >= 4u) {
        let made_of = params.sets[code >> 3u] >> (4u * (code & 7u));
        var bits = 0u;
        for (var row = 0u; row < 4u; row++) {
            bits |= select(0u, bases[row * ROW_WORDS + word], ((made_of >> row) & 1u) == 1u);
        }
        return bits;
    }
    return bases[code * ROW_WORDS + word];
}

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    let group = params.first_workgroup + workgroup.x + workgroup.y * workgroups.x;
    if (group >= params.groups) {
        return;
    }
    let index = first_runs[2u * group];
    let run = runs[index];
    let words = (run.w + 31u) / 32u;
    if (BITS != 8u) {
        for (var at = t; at < 4u * ROW_WORDS; at += WG) {
            let own = at % ROW_WORDS - FRONT;
            var bits = 0u;
            if (own < words) {
                bits = profile[run.z + at / ROW_WORDS * words + own];
            }
            bases[at] = bits;
        }
    }
    workgroupBarrier();
    let task = first_runs[2u * group + 1u] + t;
    if (task >= runs[index + 1u].x) {
        return;
    }
    let text = text_at(run.y + task - run.x);
    let n = text.y;
    let ahead = i32(n) - i32(run.w);
    let spare = CAPACITY - abs(ahead);
    if (spare < 0 || run.w == 0u) {
        hand_over(task, NO_DISTANCE, vec2<u32>(NO_DISTANCE, 0u), 1u);
        return;
    }
    let low = min(ahead, 0) - spare / 2;
    let high = low + CAPACITY;

    // Column 0, restricted to the rows of column 1. From the first row on, each row is one more
    // than the row before.
    var more: array<u32, WORDS>;
    var less: array<u32, WORDS>;
    for (var w = 0u; w < WORDS; w++) {
        let zeros = clamp(high - i32(32u * w), 0, 32);
        more[w] = select(0xffffffffu << u32(zeros), 0u, zeros == 32);
        less[w] = 0u;
    }
    // Bit of the profile where the rows of a column start.
    var at = 32u * FRONT + (32u * words - run.w) - u32(high);
    var matched = 0u;
    for (var j = 0u; j < n; j += SYMBOLS) {
        var symbols = symbols_from(text.x + j);
        let count = min(SYMBOLS, n - j);
        for (var left = count; left > 0u; left--) {
            let code = symbols & ((1u << BITS) - 1u);
            let word = at >> 5u;
            let shift = at & 31u;
            var lower = bits_of(code, word, run.z, words);
            var same: array<u32, WORDS>;
            var along_more: array<u32, WORDS>;
            var along_less: array<u32, WORDS>;
            var carry = 0u;
            for (var w = 0u; w < WORDS; w++) {
                let upper = bits_of(code, word + w + 1u, run.z, words);
                let equal = (lower >> shift) | ((upper << 1u) << (31u - shift));
                lower = upper;
                same[w] = (((equal & more[w]) + more[w] + carry) ^ more[w]) | equal | less[w];
                along_more[w] = less[w] | ~(same[w] | more[w]);
                along_less[w] = more[w] & same[w];
                carry = along_less[w] >> 31u;
            }
            for (var w = 0u; w < WORDS; w++) {
                // In the next column, the band is one row lower, so its bit b is bit b + 1 of this
                // column.
                var below = same[w] >> 1u;
                if (w + 1u < WORDS) {
                    below |= same[min(w + 1u, WORDS - 1u)] << 31u;
                }
                more[w] = along_less[w] | ~(below | along_more[w]);
                less[w] = below & along_more[w];
            }
            matched += same[WORDS - 1u] >> 31u;
            symbols >>= BITS;
            at++;
        }
        // Lower bound on the cells of the column: the value of the band's lowest cell minus one for
        // each increase on the way up.
        var least = i32(j + count - matched) - low;
        for (var w = 0u; w < WORDS; w++) {
            least -= i32(countOneBits(more[w]));
        }
        if (least > i32(params.limit)) {
            hand_over(task, NO_DISTANCE, vec2<u32>(NO_DISTANCE, 0u), 1u);
            return;
        }
    }
    // Goes up from the band's lowest cell in the last column to the pattern's last row.
    var distance = i32(n - matched) - low;
    let first = high - ahead;
    for (var w = 0u; w < WORDS; w++) {
        let zeros = clamp(first - i32(32u * w), 0, 32);
        var mask = select(0xffffffffu << u32(zeros), 0u, zeros == 32);
        if (w + 1u == WORDS) {
            mask &= 0x7fffffffu;
        }
        distance -= i32(countOneBits(more[w] & mask)) - i32(countOneBits(less[w] & mask));
    }
    hand_over(task, u32(distance), vec2<u32>(u32(distance), 0u), 1u);
}
