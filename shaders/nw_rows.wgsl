// nw_rows: global score and directions of all cells, one pair per invocation (RScan-mNW, Truong et
//             al. 2014, section 4.3).
// Recurrence: the recurrence of nw_slice.wgsl, in the same order of columns and rows.
// Owns:       the workgroup owns the query `a`, whose symbols are columns. Invocation t computes
//             the rows of its own target `b`, keeps SLICE columns of the current row in registers,
//             and owns slot t of the task's arena.
// Layout:     the arena as in common/arena.wgsl, interleaved: the same quads of neighbouring pairs
//             are adjacent. Each store of a workgroup is therefore contiguous. In the paper,
//             invocations collect their rows in workgroup memory for the same purpose.
// Invariant:  when slice s ends, the column border holds column (s + 1) * SLICE - 1 of every row.
//             Slice s + 1, in this dispatch or a later one, needs nothing else. The directions of
//             all cells of slice s are stored.
// Uniform:    the task comes from the workgroup's index, and all loop bounds come from the task.
// Limits:     the task's part of the arena; i32 values (OffsetScoring::new rejects others).
// Oracle:     src/pairs/oracle/needleman_wunsch.rs
//
// Constants:  the constants of common/arena.wgsl and common/profile.wgsl. SLICE is a multiple of
//             CELLS.

#import arena
#import profile

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    let task_index = params.task_begin + workgroup.x + workgroup.y * workgroups.x;
    if (task_index >= params.task_count) {
        return;
    }
    let task = tasks[task_index];
    // Spare lanes repeat the last target in their own slots.
    let b = targets[task.first + min(t, task.count - 1u)];
    let m = task.query_symbols;
    let n = b.symbols;
    let rows = task.rows_words * 4u;
    let column_pad = i32(task.columns - m);
    let row_pad = i32(rows) - i32(n);
    let first_b_word = task.rows_words - (n + 3u) / 4u;
    let first_a_word = (task.columns - m) / 4u;
    let a_begin = task.query_end_word - task.columns / 4u;
    let b_begin = b.end_word - task.rows_words;
    let slice_end = min(params.slice_end, task.columns / SLICE);
    let border = column_border(task, t);
    let below = row_border(task, t);
    let ways = directions(task, t);
    let left_tag = tag_left(b.number < task.query_number);
    let above = 1 - left_tag;
    let e_opening = 4 - params.opening;
    let f_opening = 8 - params.opening;

    for (var s = params.slice_begin; s < slice_end; s++) {
        // Phase 1: the workgroup makes the profile of the slice's symbols against every code.
        make_profile(s, a_begin, first_a_word, t);

        // Phase 2: row 0 of the slice, the border.
        let column_begin = i32(s * SLICE) - column_pad;
        var v: array<i32, SLICE>;
        var f: array<i32, SLICE>;
        for (var c = 0u; c < SLICE; c++) {
            v[c] = border_at(column_begin + i32(c) + 1, row_pad);
            if (AFFINE) {
                f[c] = NEG_INF;
            }
        }
        var corner = border_at(column_begin, row_pad);

        // Phase 3: the rows, four at a time. Their border is loaded four rows in advance.
        var ahead: array<vec4<i32>, 2>;
        if (s > 0u) {
            ahead = load_border(border, 0u);
        }
        for (var w = 0u; w < task.rows_words; w++) {
            var left = ahead[0];
            var left_e = ahead[1];
            if (s == 0u) {
                let i = i32(w * 4u) - row_pad + 1;
                left = vec4<i32>(border_at(i, column_pad), border_at(i + 1, column_pad), border_at(i + 2, column_pad), border_at(i + 3, column_pad));
                left_e = left - params.opening;
            } else if (w + 1u < task.rows_words) {
                ahead = load_border(border, w + 1u);
            }
            var symbols = 0u;
            if (w >= first_b_word) {
                symbols = target_words[b_begin + w];
            }
            var words: array<vec4<u32>, WORDS>;
            for (var k = 0u; k < 4u; k++) {
                var diagonal = corner;
                var near = left[k];
                corner = near;
                var e = left_e[k];
                let profile_row = ((symbols >> (8u * k)) & 255u) * STRIDE4;
                for (var q_word = 0u; q_word < WORDS; q_word++) {
                    var word = 0u;
                    for (var c4 = 0u; c4 < CELLS / 4u; c4++) {
                        let steps = profile[profile_row + q_word * (CELLS / 4u) + c4];
                        for (var q = 0u; q < 4u; q++) {
                            let c = q_word * CELLS + c4 * 4u + q;
                            let up = v[c];
                            if (AFFINE && TAG_BITS > 0u) {
                                let f_best = max(up + f_opening, f[c]);
                                f[c] = f_best & CLEAN;
                                let best = max(max(diagonal + steps[q], f[c] + above), e + left_tag);
                                near = best & CLEAN;
                                let e_best = max(near + e_opening, e);
                                e = e_best & CLEAN;
                                word = (word >> 4u) | (bitcast<u32>(best | f_best | e_best) << 28u);
                            } else if (TAG_BITS > 0u) {
                                let best = max(max(diagonal + steps[q], up + above), near + left_tag);
                                near = best & CLEAN;
                                word = (word >> 2u) | (bitcast<u32>(best) << 30u);
                            } else if (AFFINE) {
                                let opened = up - params.opening;
                                let across = diagonal + steps[q];
                                f[c] = max(opened, f[c]);
                                near = max(max(across, f[c]), e);
                                if (DIRECTIONS) {
                                    word = (word >> 4u) | (direction(near, steps[q], across, e, f[c], near - params.opening, opened == f[c], left_tag) << 28u);
                                }
                                e = max(near - params.opening, e);
                            } else {
                                let before = near;
                                let across = diagonal + steps[q];
                                near = max(max(across, up), before);
                                if (DIRECTIONS) {
                                    word = (word >> 2u) | (direction(near, steps[q], across, before, up, NEG_INF, false, left_tag) << 30u);
                                }
                            }
                            v[c] = near;
                            diagonal = up;
                        }
                    }
                    // Four rows form a quad. Shifting avoids an index that is not constant, which
                    // would put the array in memory.
                    words[q_word] = vec4<u32>(words[q_word].yzw, word);
                }
                if (END_OPENING && s == 0u && i32(w * 4u + k) == row_pad - 1) {
                    // The corner, if it is in one of the columns.
                    for (var c4 = 0u; c4 < SLICE4; c4++) {
                        for (var q = 0u; q < 4u; q++) {
                            let c = c4 * 4u + q;
                            v[c] -= select(0, params.border_opening, i32(c) == column_pad - 1);
                        }
                    }
                    near = v[SLICE - 1u];
                }
                left[k] = near;
                left_e[k] = e;
            }
            if (DIRECTIONS) {
                store_directions(ways, s * WORDS * task.rows_words + w, task.rows_words, words);
            }
            store_border(border, w, left, left_e);
        }
        if (OWN_ENDS) {
            for (var c4 = 0u; c4 < SLICE4; c4++) {
                let c = c4 * 4u;
                store(below, (s * SLICE4 + c4) * PLANES, vec4<i32>(v[c], v[c + 1u], v[c + 2u], v[c + 3u]));
            }
        }
    }
}
