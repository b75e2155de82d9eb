// Spreads the words of a pattern over LANES lanes.
// Lane l keeps WORDS words and is l columns behind lane 0, so that one exchange per step passes the
// difference along a column of its left neighbour's last row. The carries of the long addition and
// of the shift (Chacon et al. 2014, algorithm 2) are the same two bits, so that no lane waits for
// them. More than LANES * WORDS * 32 rows are computed in strips, one pass each. Many columns are
// computed in parts, one dispatch each.
// Layout:     scratch of a task, if there are strips or parts: one word per 16 columns, with two
//             bits per column: whether the last row of the last strip is one more (2) or one less
//             (1) than in the previous column. From params.kept on, every lane stores its
//             differences, its score, and its best value and end.
//             The result is two words: the distance, and the number of columns up to its end.
// Invariant:  before step s, lane l has computed its columns up to s - l - 1, and `sent` contains
//             the differences in the last of these columns.

#import myers_column

// Returns the number of columns of a pair between params.column_begin and params.column_end.
fn columns_of(pair: Pair) -> u32 {
    let end = min(pair.n, params.column_end);
    return max(end, params.column_begin) - params.column_begin;
}

// Computes the passes of the pair of a task, which is at `place` in the dispatch. All invocations
// that exchange values must call it with the same `columns`, which is at least the pair's number of
// columns.
fn scan(pair: Pair, task: u32, place: u32, lane: u32, columns: u32, t: u32) {
    let strips = (pair.words + LANES * WORDS - 1u) / (LANES * WORDS);
    let pads = strips * (LANES * WORDS) - pair.words;
    let count = columns_of(pair);
    let is_last = lane == LANES - 1u;
    // First column that may end an overlap.
    let first_end = max(unaligned(pair.n, pair.m), pair.n) - unaligned(pair.n, pair.m);
    let border = (place - params.first_workgroup * (WG / LANES)) * params.scratch_words;
    let kept = border + params.kept + lane * (2u * WORDS + 3u);
    for (var pass_index = params.pass_begin; pass_index < params.pass_end; pass_index++) {
        // If a pair has no such pass, its lanes do nothing but stay together with the others.
        let active_count = select(0u, count, pass_index < strips);
        let first = (pass_index * LANES + lane) * WORDS;
        var column: Column;
        // State of the last row: its value, its least value, and the column of the least value.
        var score = select(pair.m, 0u, IS_OVERLAP);
        // For an overlap, the search starts with the limit plus one, so that few values have to be
        // tested exactly.
        var best = select(0xffffffffu, most_edits(pair.m, pair.n) + 1u, IS_OVERLAP);
        var best_end = 0u;
        if (active_count > 0u) {
            load_rows(pair, first, pads, t);
            for (var w = 0u; w < WORDS; w++) {
                column.more[w] = first_differences(pair, first + w, pads);
                column.less[w] = 0u;
            }
        }
        if (STRIPS) {
            // Safe: values that the last lane wrote in the previous pass are read by lane 0 from
            // here on.
            storageBarrier();
            if (params.column_begin > 0u && active_count > 0u) {
                for (var w = 0u; w < WORDS; w++) {
                    column.more[w] = scratch[kept + 2u * w];
                    column.less[w] = scratch[kept + 2u * w + 1u];
                }
                score = scratch[kept + 2u * WORDS];
                best = scratch[kept + 2u * WORDS + 1u];
                best_end = scratch[kept + 2u * WORDS + 2u];
            }
        }
        var sent = vec2<u32>(0u, 0u);
        var along = 0u;
        for (var step = 0u; step < columns + LANES - 1u; step += SYMBOLS) {
            // The difference wraps around before column 0, and is then beyond every end.
            let begin = step - lane;
            var symbols = symbols_from(pair.at + params.column_begin + begin);
            var above_bits = 0u;
            if (STRIPS && pass_index > 0u && lane == 0u && active_count > 0u) {
                let at = params.column_begin + begin;
                above_bits = scratch[border + at / 16u] >> (2u * (at % 16u));
            }
            for (var c = 0u; c < SYMBOLS; c++) {
                let left = bitcast<vec2<u32>>(from_left(bitcast<vec2<i32>>(sent), step + c));
                let j = begin + c;
                if (j < active_count) {
                    var above = left;
                    if (lane == 0u) {
                        above = vec2<u32>(INPUT, 0u);
                        if (STRIPS && pass_index > 0u) {
                            above = vec2<u32>(above_bits << 30u, above_bits << 31u);
                        }
                    }
                    sent = advance(&column, above, pair, symbols, first, pads, t);
                    let more = sent.x >> 31u;
                    let less = sent.y >> 31u;
                    score += more - less;
                    if (TRACK && score < best) {
                        if (!IS_OVERLAP || (j + 1u >= first_end && score <= most_edits(pair.m, j + 1u))) {
                            best = score;
                            best_end = params.column_begin + j + 1u;
                        }
                    }
                    if (STRIPS && is_last) {
                        along |= ((more << 1u) | less) << (2u * (j % 16u));
                        if (j % 16u == 15u || j + 1u == active_count) {
                            scratch[border + (params.column_begin + j) / 16u] = along;
                            along = 0u;
                        }
                    }
                }
                symbols >>= BITS;
                above_bits >>= 2u;
            }
        }
        if (STRIPS && active_count > 0u) {
            for (var w = 0u; w < WORDS; w++) {
                scratch[kept + 2u * w] = column.more[w];
                scratch[kept + 2u * w + 1u] = column.less[w];
            }
            scratch[kept + 2u * WORDS] = score;
            scratch[kept + 2u * WORDS + 1u] = best;
            scratch[kept + 2u * WORDS + 2u] = best_end;
        }
        if (IS_OVERLAP) {
            // Every lane knows the values of its rows. The exchange carries the least of all values
            // to the last lane.
            let below = (LANES - 1u - lane) * WORDS * 32u;
            var least = 0xffffffffu;
            if (active_count > 0u) {
                least = least_of_column(&column, score, below, pair);
            }
            for (var step = 0u; step < LANES - 1u; step++) {
                let left = bitcast<vec2<u32>>(from_left(vec2<i32>(bitcast<i32>(least), 0), step));
                least = min(least, select(left.x, least, lane == 0u));
            }
            best = min(best, least);
            best = select(best, 0xffffffffu, best > most_edits(pair.m, pair.n));
        }
        if (is_last && active_count > 0u && pass_index + 1u == strips) {
            let distance = select(score, best, TRACK);
            let result = vec2<u32>(distance, select(pair.n, best_end, TRACK));
            if (params.column_end >= pair.n) {
                hand_over(task, distance, result, 2u);
            }
        }
    }
}
