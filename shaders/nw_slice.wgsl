// nw_slice: global score, one pair per invocation (LazyRScan-mNW, Truong et al. 2014, section 4.4
//             and figure 2).
// Recurrence: with the gap-offset transform (src/score/offset.rs; Gotoh 1982 for affine gaps)
//               E[i,j] = max(E[i,j-1], V[i,j-1] - opening)
//               F[i,j] = max(F[i-1,j], V[i-1,j] - opening)
//               V[i,j] = max(V[i-1,j-1] + table[a[i],b[j]], E[i,j], F[i,j])
//             With linear gaps, opening is 0, E = V[i,j-1] and F = V[i-1,j].
// Owns:       the workgroup owns the query `a`, whose symbols are columns. Invocation t computes
//             the rows of its own target `b`, and keeps SLICE columns of the current row in
//             registers.
// Layout:     scratch[(slot * (rows_words + 1) + w) * PLANES * WG + plane * WG + t] holds rows 4w
//             .. 4w+3 of a slice's last column (plane 0: V, plane 1: E of the column after it). The
//             last word of a slot holds the best end cell so far. out.data has one status word per
//             task, then either one value per pair or (pair, value) of each kept pair.
// Invariant:  when slice s ends, scratch holds column (s + 1) * SLICE - 1 of every row. Slice s +
//             1, in this dispatch or a later one, needs nothing else.
// Uniform:    the task index comes from workgroupUniformLoad, and all loop bounds come from the
//             task.
// Limits:     rows_words * 4 rows per slot; i32 values (OffsetScoring::new rejects others).
// Oracle:     src/pairs/oracle/needleman_wunsch.rs
//
// Constants:  the constants of common/nw.wgsl and common/profile.wgsl. SLICE is a multiple of 4.

#import nw
#import profile

override WG: u32 = 64u;

const TASK_DONE: u32 = 1u;
const TASK_TOO_LONG: u32 = 2u;

struct Output {
    ticket: atomic<u32>,
    kept: atomic<u32>,
    reserved0: u32,
    reserved1: u32,
    data: array<u32>,
}

@group(0) @binding(6) var<storage, read_write> scratch: array<vec4<i32>>;
@group(0) @binding(7) var<storage, read_write> out: Output;

var<workgroup> wg_task: u32;

// Returns a lower bound of the score, minus the greatest rounding error. The two products may
// nearly cancel, so the error is a fraction of the products, not of their sum.
fn loose_bound(form: vec2<f32>, lengths: vec2<f32>) -> f32 {
    return dot(form, lengths) - 1e-6 * dot(abs(form), lengths);
}

// Returns false only if a pair with this final value cannot reach the requested identity.
// Derivation: src/score/bound.rs. Mirrors IdentityFilter::may_reach with a looser threshold. The
// host tests the pairs again.
fn reaches(value: i32, m: u32, n: u32) -> bool {
    let shorter = min(m, n);
    let longer = max(m, n);
    let offset_score = value >> params.match_bits;
    if (params.filter_mode == 5u) {
        let lengths = vec2<f32>(f32(shorter), f32(longer));
        let bound = min(loose_bound(params.filter_forms[0].xy, lengths),
                        min(loose_bound(params.filter_forms[1].xy, lengths), loose_bound(params.filter_forms[2].xy, lengths)));
        return f32(offset_score) >= bound - 1.0;
    }
    let matches = value & ((1 << params.match_bits) - 1);
    // Score that the matches do not explain. Each mismatch explains at most filter_mismatch of it.
    let rest = offset_score - params.filter_match * matches + select(0, params.filter_unequal, m != n);
    var mismatches_low = 0;
    if (params.filter_mismatch > 0 && rest > 0) {
        mismatches_low = (rest + params.filter_mismatch - 1) / params.filter_mismatch;
    }
    // Score of the matches beyond the actual score. Each other column (definition 2), or each
    // mismatch and gap (definition 3), explains at most filter_dearest of it.
    var lacking = params.filter_match_low * matches - offset_score;
    if (params.filter_mode == 2u) {
        lacking += params.filter_free_step * (i32(m) + i32(n) - 2 * matches) - 2 * params.filter_unequal;
    }
    var others_low = 0;
    if (params.filter_dearest > 0 && lacking > 0) {
        others_low = (lacking + params.filter_dearest - 1) / params.filter_dearest;
    }
    var denominator = i32(shorter);
    if (params.filter_mode == 1u) {
        var mismatches_high = i32(shorter) - matches;
        if (params.filter_mismatch_low > 0) {
            mismatches_high = min(mismatches_high, max(rest, 0) / params.filter_mismatch_low);
        }
        denominator = i32(m) + i32(n) - matches - mismatches_high;
    } else if (params.filter_mode == 2u) {
        denominator = matches + max(mismatches_low, others_low);
    } else if (params.filter_mode == 3u) {
        // More differences than symbols also mean an identity of 0.
        let differences = min(max(mismatches_low + select(0, 1, m != n), others_low), i32(longer));
        return f32(differences) <= params.filter_threshold * f32(longer);
    }
    return f32(matches) >= params.filter_threshold * f32(denominator);
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let slot = workgroup.x;
    let slot_base = slot * (params.rows_words + 1u) * PLANES * WG + t;
    let state_index = slot_base + params.rows_words * PLANES * WG;

    loop {
        // Next task: by ticket (any workgroup may take any task, and none waits), or the task that
        // this slot owns.
        if (t == 0u) {
            wg_task = params.task_begin + slot;
            if (params.ticketed != 0u) {
                wg_task = atomicAdd(&out.ticket, 1u);
            }
        }
        let task_index = workgroupUniformLoad(&wg_task);
        if (task_index >= params.task_count) {
            break;
        }
        let task = tasks[task_index];
        if (task.rows_words > params.rows_words) {
            if (t == 0u) {
                out.data[task_index] = TASK_TOO_LONG;
            }
            if (params.ticketed == 0u) {
                break;
            }
            continue;
        }

        // Spare lanes repeat the last target. They write their own scratch memory and no result.
        let target_index = task.first + min(t, task.count - 1u);
        let b = targets[target_index];
        let m = task.query_symbols;
        let n = b.symbols;
        let columns = max((m + SLICE - 1u) / SLICE, 1u) * SLICE;
        let column_pad = i32(columns - m);
        let row_pad = i32(task.rows_words * 4u) - i32(n);
        let first_b_word = task.rows_words - (n + 3u) / 4u;
        let first_a_word = (columns - m) / 4u;
        let a_begin = task.query_end_word - columns / 4u;
        let b_begin = b.end_word - task.rows_words;
        let slices = columns / SLICE;
        let slice_end = min(select(params.slice_end, slices, params.ticketed != 0u), slices);

        var best = NEG_INF;
        if (OWN_ENDS && params.slice_begin > 0u && params.ticketed == 0u) {
            best = scratch[state_index].x;
        }
        var last = NEG_INF;

        for (var s = select(params.slice_begin, 0u, params.ticketed != 0u); s < slice_end; s++) {
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

            // Phase 3: the rows, four at a time.
            for (var w = 0u; w < task.rows_words; w++) {
                let index = slot_base + w * PLANES * WG;
                var left: vec4<i32>;
                var left_e = vec4<i32>(0);
                if (s == 0u) {
                    let i = i32(w * 4u) - row_pad + 1;
                    left = vec4<i32>(border_at(i, column_pad), border_at(i + 1, column_pad), border_at(i + 2, column_pad), border_at(i + 3, column_pad));
                    left_e = left - params.opening;
                } else {
                    left = scratch[index];
                    if (AFFINE) {
                        left_e = scratch[index + WG];
                    }
                }
                var symbols = 0u;
                if (w >= first_b_word) {
                    symbols = target_words[b_begin + w];
                }
                for (var k = 0u; k < 4u; k++) {
                    var diagonal = corner;
                    var near = left[k];
                    corner = near;
                    var e = left_e[k];
                    let profile_row = ((symbols >> (8u * k)) & 255u) * STRIDE4;
                    for (var c4 = 0u; c4 < SLICE4; c4++) {
                        let steps = profile[profile_row + c4];
                        for (var q = 0u; q < 4u; q++) {
                            let c = c4 * 4u + q;
                            let up = v[c];
                            if (AFFINE) {
                                // E of the next column follows from the best value without E of
                                // this column, because E - opening <= E. The dependency from column
                                // to column is then only one operation long.
                                f[c] = max(up - params.opening, f[c]);
                                let without_e = max(diagonal + steps[q], f[c]);
                                near = max(without_e, e);
                                e = max(without_e - params.opening, e);
                            } else {
                                near = max(max(diagonal + steps[q], up), near);
                            }
                            v[c] = near;
                            diagonal = up;
                        }
                    }
                    if (END_OPENING && s == 0u && i32(w * 4u + k) == row_pad - 1) {
                        // The corner, if it is in one of the columns. (The loops are as short as
                        // the ones above, which are unrolled. llvmpipe counts a loop that is not
                        // unrolled even if it is not entered.)
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
                scratch[index] = left;
                if (AFFINE) {
                    scratch[index + WG] = left_e;
                }
            }
            last = v[SLICE - 1u];
            if (OWN_ENDS) {
                // The last row: the end gap contains the remaining query symbols.
                for (var c = 0u; c < SLICE; c++) {
                    let j = column_begin + i32(c) + 1;
                    best = max(best, select(NEG_INF, v[c] + border_value(i32(m) - j), j >= 0));
                }
                best = max(best, select(NEG_INF, border_value(i32(n)) + border_value(i32(m)), s == 0u));
            }
        }

        // Phase 4: the pair's value, if its last slice is complete. (Later dispatches have nothing
        // left to do.)
        let begun = params.ticketed != 0u || params.slice_begin < slices;
        if (slice_end == slices && begun) {
            var value = last;
            if (OWN_ENDS) {
                // The last column: the end gap contains the remaining target symbols.
                best = max(best, border_value(i32(n)) + border_value(i32(m)));
                for (var w = 0u; w < task.rows_words; w++) {
                    let column = scratch[slot_base + w * PLANES * WG];
                    for (var k = 0u; k < 4u; k++) {
                        let i = i32(w * 4u + k) - row_pad + 1;
                        best = max(best, select(NEG_INF, column[k] + border_value(i32(n) - i), i >= 0));
                    }
                }
                value = best;
            }
            let pair = task.pairs_begin + t;
            if (t < task.count) {
                if (params.filter_mode == 6u) {
                    out.data[params.values_begin + pair] = bitcast<u32>(value);
                } else if (reaches(value, m, n)) {
                    let place = atomicAdd(&out.kept, 1u);
                    out.data[params.values_begin + 2u * place] = pair;
                    out.data[params.values_begin + 2u * place + 1u] = bitcast<u32>(value);
                }
            }
            if (t == 0u) {
                out.data[task_index] = TASK_DONE;
            }
        } else if (OWN_ENDS && begun) {
            scratch[state_index] = vec4<i32>(best);
        }
        if (params.ticketed == 0u) {
            break;
        }
    }
}
