// myers_thread: edit distance. One invocation computes a pair and keeps all words of a column in
//             its registers (Chacon et al. 2014, r = 32).
// Recurrence: see common/myers.wgsl.
// Owns:       invocation t of workgroup g has the position g * WG + t and its task, and every WG-th
//             word of workgroup memory from t on.
// Layout:     the result is one word: the distance in global and overlap mode, else distance <<
//             POSITION_BITS | columns up to its end.
// Invariant:  after j columns, the registers hold the differences down column j. `key` holds the
//             last row's distance and j.
// Uniform:    no barrier.
// Limits:     patterns of at most 32 * WORDS symbols; texts of fewer than 2^POSITION_BITS symbols.
// Oracle:     src/edit/oracle.rs

#import myers_column

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    let group = params.first_workgroup + workgroup.x + workgroup.y * workgroups.x;
    let task = task_of(group * WG + t);
    if (task >= params.task_count) {
        return;
    }
    let pair = pair_of(group, task);
    let pads = WORDS - pair.words;
    load_rows(pair, 0u, pads, t);
    var column: Column;
    for (var w = 0u; w < WORDS; w++) {
        column.more[w] = first_differences(pair, w, pads);
        column.less[w] = 0u;
    }
    // Distance and position in one number: its minimum is the first end with the least distance.
    var key = select(pair.m << POSITION_BITS, 0u, IS_OVERLAP);
    let most = most_edits(pair.m, pair.n);
    var best = select(0xffffffffu, (most + 1u) << POSITION_BITS, IS_OVERLAP);
    // First column where an overlap may end.
    let first_end = max(unaligned(pair.n, pair.m), pair.n) - unaligned(pair.n, pair.m);
    for (var j = 0u; j < pair.n; j += SYMBOLS) {
        var symbols = symbols_from(pair.at + j);
        for (var left = min(SYMBOLS, pair.n - j); left > 0u; left--) {
            let last = advance(&column, vec2<u32>(INPUT, 0u), pair, symbols, 0u, pads, t);
            symbols >>= BITS;
            if (TRACK) {
                key += 1u + ((last.x >> 31u) << POSITION_BITS) - ((last.y >> 31u) << POSITION_BITS);
                if (!IS_OVERLAP) {
                    best = min(best, key);
                } else if (key < best) {
                    let end = key & ((1u << POSITION_BITS) - 1u);
                    if (end >= first_end && key >> POSITION_BITS <= most_edits(pair.m, end)) {
                        best = key;
                    }
                }
            }
        }
    }
    if (!TRACK) {
        // Row 0 of the last column plus all differences down the column.
        best = pair.n;
        for (var w = 0u; w < WORDS; w++) {
            best += countOneBits(column.more[w]) - countOneBits(column.less[w]);
        }
    }
    if (IS_OVERLAP) {
        best = min(best >> POSITION_BITS, least_of_column(&column, key >> POSITION_BITS, 0u, pair));
        best = select(best, 0xffffffffu, best > most);
    }
    let distance = select(best, best >> POSITION_BITS, TRACK && !IS_OVERLAP);
    hand_over(task, distance, vec2<u32>(best, 0u), 1u);
}
