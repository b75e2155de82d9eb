// nw_slice_half: nw_slice for scores alone, two queries against one target in packed f16.
// Recurrence: the recurrence of nw_slice.wgsl, in units of 1/2048 relative to the cell at the upper
//             left of a group of rows.
// Owns:       the workgroup owns both queries, whose symbols are columns. Invocation t computes the
//             rows of its own target `b`, and keeps SLICE columns of the current row of both pairs
//             in registers.
// Layout:     scratch[slot * rows_words * PLANES * 2 * WG + (w * PLANES + plane) * 2 * WG + half *
//             WG + t] holds rows 4w + 2 half and 4w + 2 half + 1 of a slice's last column (plane 0:
//             V, plane 1: E of the column after it), each for both queries, relative to that
//             column's V in the row before the group's first row. Entries 2k and 2k + 1 of `tasks`
//             are the queries of a task. out.data has one status word per entry, then one value per
//             pair. If end gaps have their own costs, a value that is not final yet is the best end
//             cell so far.
// Invariant:  at the start of every group of GROUP_WORDS words of rows, the cell of the left border
//             is stored as 0, and `base` is its true value. No base is stored with the values in
//             scratch, because the next slice's left border starts with 0 in the same row.
// Uniform:    the task index comes from workgroupUniformLoad, and all loop bounds come from the
//             task.
// Limits:     rows_words * 4 rows per slot. f16 is exact between -1 and 1, and a difference that is
//             clamped is at most 1: GROUP_WORDS and SLICE keep all values of a group this close to
//             its base (proof in src/pairs/kernels/nw_slice_half.rs). No diagonal step of the table
//             is below -2 opening, because such a step never wins.
// Oracle:     src/pairs/oracle/needleman_wunsch.rs
//
// Instructions for a cell of both pairs: with linear gaps 3 additions (t, two for m; the clamp is
// free) and a maximum (x), so 2 per cell; with affine gaps 4 additions (t, two for m, g) and 3
// maxima (x, e, f), so 3.5 per cell. In addition, half a load from workgroup memory.
//
// Constants:  the constants of common/nw.wgsl; SLICE (columns, a multiple of 4); STRIDE2 (profile
//             row in vec4s, odd so that rows of neighbouring codes start in different banks);
//             GROUP_WORDS.

#import nw

override WG: u32 = 64u;

const TASK_DONE: u32 = 1u;
const TASK_TOO_LONG: u32 = 2u;

const SLICE2: u32 = SLICE / 2u;
const SLICE4: u32 = SLICE / 4u;
// Value of score 1. Multiplication by it is exact, while WGSL allows a division to be inexact.
const SCORE_UNIT: f32 = 1.0 / 2048.0;

// Values of both pairs.
alias S = vec2<f16>;

struct Output {
    ticket: atomic<u32>,
    kept: atomic<u32>,
    reserved0: u32,
    reserved1: u32,
    data: array<u32>,
}

@group(0) @binding(6) var<storage, read_write> scratch: array<vec4<f16>>;
@group(0) @binding(7) var<storage, read_write> out: Output;

var<workgroup> wg_task: u32;
// Each entry has two columns, with the scores of both queries.
var<workgroup> profile: array<vec4<f16>, CODES * STRIDE2>;

fn numbers(values: vec2<i32>) -> S {
    return vec2<f16>(vec2<f32>(values) * SCORE_UNIT);
}

fn rounded(values: S) -> vec2<i32> {
    return vec2<i32>(vec2<f32>(values) * 2048.0);
}

fn column_of(steps: vec4<f16>, c: u32) -> S {
    if (c == 0u) {
        return steps.xy;
    }
    return steps.zw;
}

// row_of returns row k of the four rows in two vectors. with_row returns a vector with a new value
// in that row. (Both use selections, because a loop that indexes an array keeps it in memory unless
// the loop is unrolled.)
fn row_of(upper: vec4<f16>, lower: vec4<f16>, k: u32) -> S {
    let two = select(upper, lower, k >= 2u);
    return select(two.xy, two.zw, (k & 1u) == 1u);
}

fn with_row(two: vec4<f16>, first: u32, k: u32, value: S) -> vec4<f16> {
    return vec4<f16>(select(two.xy, value, k == first), select(two.zw, value, k == first + 1u));
}

// Values of both pairs: top_borders in the first row after k symbols each, left_borders in the
// first column, and border_values for an end gap of k symbols.
fn top_borders(k: vec2<i32>, row_pad: i32) -> vec2<i32> {
    return vec2<i32>(border_at(k.x, row_pad), border_at(k.y, row_pad));
}

fn left_borders(k: i32, column_pads: vec2<i32>) -> vec2<i32> {
    if (END_OPENING) {
        return vec2<i32>(border_at(k, column_pads.x), border_at(k, column_pads.y));
    }
    return vec2<i32>(border_value(k));
}

fn border_values(k: vec2<i32>) -> vec2<i32> {
    return vec2<i32>(border_value(k.x), border_value(k.y));
}

// Returns four symbols of a query: one word of its padded columns.
fn symbols_of(task: Task, columns: u32, word: u32) -> u32 {
    if (word < (columns - task.query_symbols) / 4u) {
        return 0u;
    }
    return query_words[task.query_end_word - columns / 4u + word];
}

fn step_of(row: u32, symbol: u32) -> f16 {
    return f16(f32(table[row + symbol]) * SCORE_UNIT);
}

fn steps_of(row: u32, a: u32, b: u32) -> vec4<f16> {
    return vec4<f16>(
        step_of(row, a & 255u), step_of(row, b & 255u), step_of(row, (a >> 8u) & 255u), step_of(row, (b >> 8u) & 255u));
}

// Makes the profile of slice s. It starts and ends with a barrier, so all invocations of the
// workgroup must call it.
fn make_profile(s: u32, one: Task, other: Task, columns: u32, t: u32) {
    workgroupBarrier();
    for (var p = t; p < CODES * SLICE4; p += WG) {
        let code = p / SLICE4;
        let c4 = p % SLICE4;
        let a = symbols_of(one, columns, s * SLICE4 + c4);
        let b = symbols_of(other, columns, s * SLICE4 + c4);
        let place = code * STRIDE2 + 2u * c4;
        profile[place] = steps_of(code * CODES, a, b);
        profile[place + 1u] = steps_of(code * CODES, a >> 16u, b >> 16u);
    }
    // Safe: every entry was written by one invocation before this barrier, and is only read until
    // the next slice.
    workgroupBarrier();
}

// Returns whether a task's query has a pair with the target at this index.
fn has_pair(task: Task, place: u32) -> bool {
    return place >= task.first && place - task.first < task.count;
}

// Returns the index of the pair's value.
fn value_index(task: Task, place: u32) -> u32 {
    return params.values_begin + task.pairs_begin + place - task.first;
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let slot = workgroup.x;
    let word_stride = 2u * PLANES * WG;
    let slot_base = slot * params.rows_words * word_stride + t;
    let opening = numbers(vec2<i32>(params.opening));

    loop {
        // Next task: by ticket (any workgroup may take any task, and none waits), or the task that
        // this slot owns.
        if (t == 0u) {
            wg_task = params.task_begin + 2u * slot;
            if (params.ticketed != 0u) {
                wg_task = 2u * atomicAdd(&out.ticket, 1u);
            }
        }
        let task_index = workgroupUniformLoad(&wg_task);
        if (task_index >= params.task_count) {
            break;
        }
        let one = tasks[task_index];
        let other = tasks[task_index + 1u];
        let rows_words = one.rows_words;
        if (rows_words > params.rows_words) {
            if (t == 0u) {
                out.data[task_index] = TASK_TOO_LONG;
                out.data[task_index + 1u] = TASK_TOO_LONG;
            }
            if (params.ticketed == 0u) {
                break;
            }
            continue;
        }

        // The queries may differ in some of their targets. Spare lanes repeat the last target. They
        // write their own scratch memory and no result.
        let place = min(one.first, other.first) + t;
        let places_end = max(one.first + one.count, other.first + other.count);
        let b = targets[min(place, places_end - 1u)];
        let n = i32(b.symbols);
        let m = vec2<i32>(i32(one.query_symbols), i32(other.query_symbols));
        let columns = max((max(one.query_symbols, other.query_symbols) + SLICE - 1u) / SLICE, 1u) * SLICE;
        let column_pads = vec2<i32>(i32(columns)) - m;
        let row_pad = i32(rows_words * 4u) - n;
        let first_b_word = rows_words - (b.symbols + 3u) / 4u;
        let b_begin = b.end_word - rows_words;
        let slices = columns / SLICE;
        let slice_end = min(select(params.slice_end, slices, params.ticketed != 0u), slices);

        var best = vec2<i32>(NEG_INF);
        if (OWN_ENDS && params.slice_begin > 0u && params.ticketed == 0u) {
            if (has_pair(one, place)) {
                best.x = bitcast<i32>(out.data[value_index(one, place)]);
            }
            if (has_pair(other, place)) {
                best.y = bitcast<i32>(out.data[value_index(other, place)]);
            }
        }
        var last = vec2<i32>(NEG_INF);

        for (var s = select(params.slice_begin, 0u, params.ticketed != 0u); s < slice_end; s++) {
            // Phase 1: the workgroup makes the profile of the slice's symbols against every code.
            make_profile(s, one, other, columns, t);

            // Phase 2: row 0 of the slice, the border.
            let column_begin = vec2<i32>(i32(s * SLICE)) - column_pads;
            var base = top_borders(column_begin, row_pad);
            var v: array<S, SLICE>;
            // F of the row below.
            var f: array<S, SLICE>;
            for (var c = 0u; c < SLICE; c++) {
                v[c] = numbers(top_borders(column_begin + i32(c) + 1, row_pad) - base);
                if (AFFINE) {
                    f[c] = v[c] - opening;
                }
            }

            // Phase 3: the rows, four at a time, in groups.
            for (var group = 0u; group < rows_words; group += GROUP_WORDS) {
                let group_end = min(group + GROUP_WORDS, rows_words);
                let before = vec4<f16>(v[SLICE - 1u], v[SLICE - 1u]);
                let border_before = left_borders(i32(group * 4u) - row_pad, column_pads);
                var corner = vec2<f16>(0.0h);
                for (var w = group; w < group_end; w++) {
                    let index = slot_base + w * word_stride;
                    var upper: vec4<f16>;
                    var lower: vec4<f16>;
                    var upper_e: vec4<f16>;
                    var lower_e: vec4<f16>;
                    if (s == 0u) {
                        let i = i32(w * 4u) - row_pad + 1;
                        upper = vec4<f16>(
                            numbers(left_borders(i, column_pads) - border_before),
                            numbers(left_borders(i + 1, column_pads) - border_before));
                        lower = vec4<f16>(
                            numbers(left_borders(i + 2, column_pads) - border_before),
                            numbers(left_borders(i + 3, column_pads) - border_before));
                        upper_e = upper - vec4<f16>(opening, opening);
                        lower_e = lower - vec4<f16>(opening, opening);
                    } else {
                        upper = scratch[index];
                        lower = scratch[index + WG];
                        if (AFFINE) {
                            upper_e = scratch[index + 2u * WG];
                            lower_e = scratch[index + 3u * WG];
                        }
                    }
                    var symbols = 0u;
                    if (w >= first_b_word) {
                        symbols = target_words[b_begin + w];
                    }
                    for (var k = 0u; k < 4u; k++) {
                        var diagonal = corner;
                        var near = row_of(upper, lower, k);
                        corner = near;
                        var e = row_of(upper_e, lower_e, k);
                        let profile_row = ((symbols >> (8u * k)) & 255u) * STRIDE2;
                        for (var c2 = 0u; c2 < SLICE2; c2++) {
                            let steps = profile[profile_row + c2];
                            for (var q = 0u; q < 2u; q++) {
                                let c = c2 * 2u + q;
                                let up = v[c];
                                let stepped = diagonal + column_of(steps, q);
                                // Maxima of candidates without dependencies are clamped additions,
                                // which run in parallel with the comparisons.
                                if (AFFINE) {
                                    near = max(stepped + saturate(f[c] - stepped), e);
                                    let opened = near - opening;
                                    e = max(e, opened);
                                    f[c] = max(f[c], opened);
                                } else {
                                    near = max(stepped + saturate(up - stepped), near);
                                }
                                v[c] = near;
                                diagonal = up;
                            }
                        }
                        if (END_OPENING && i32(w * 4u + k) == row_pad - 1) {
                            // The corners, if they are in the columns. (The loops are as short as
                            // the ones above, which are unrolled. llvmpipe counts a loop that is
                            // not unrolled even if it is not entered.)
                            let lift = numbers(vec2<i32>(params.border_opening));
                            for (var c2 = 0u; c2 < SLICE2; c2++) {
                                for (var q = 0u; q < 2u; q++) {
                                    let c = c2 * 2u + q;
                                    let is_corner = column_begin + i32(c) == vec2<i32>(-1);
                                    v[c] -= select(vec2<f16>(0.0h), lift, is_corner);
                                }
                            }
                            near = v[SLICE - 1u];
                        }
                        upper = with_row(upper, 0u, k, near);
                        lower = with_row(lower, 2u, k, near);
                        if (AFFINE) {
                            upper_e = with_row(upper_e, 0u, k, e);
                            lower_e = with_row(lower_e, 2u, k, e);
                        }
                    }
                    scratch[index] = upper - before;
                    scratch[index + WG] = lower - before;
                    if (AFFINE) {
                        scratch[index + 2u * WG] = upper_e - before;
                        scratch[index + 3u * WG] = lower_e - before;
                    }
                }
                // The next group's base is the left border's last cell.
                base += rounded(corner);
                for (var c = 0u; c < SLICE; c++) {
                    v[c] -= corner;
                    if (AFFINE) {
                        f[c] -= corner;
                    }
                }
            }
            last = base + rounded(v[SLICE - 1u]);
            if (OWN_ENDS) {
                // The last row: the end gap contains the remaining query symbols.
                for (var c = 0u; c < SLICE; c++) {
                    let j = column_begin + i32(c) + 1;
                    let ended = base + rounded(v[c]) + border_values(m - j);
                    best = max(best, select(vec2<i32>(NEG_INF), ended, j >= vec2<i32>(0)));
                }
            }
        }

        // Phase 4: the pairs' values, if their last slice is complete. (Later dispatches have
        // nothing left to do.)
        let begun = params.ticketed != 0u || params.slice_begin < slices;
        if (slice_end == slices && begun) {
            var values = last;
            if (OWN_ENDS) {
                // The last column: the end gap contains the remaining target symbols.
                best = max(best, border_values(vec2<i32>(n)) + border_values(m));
                var base = top_borders(m, row_pad);
                for (var group = 0u; group < rows_words; group += GROUP_WORDS) {
                    let group_end = min(group + GROUP_WORDS, rows_words);
                    var below = vec2<i32>(0);
                    for (var w = group; w < group_end; w++) {
                        let index = slot_base + w * word_stride;
                        let upper = scratch[index];
                        let lower = scratch[index + WG];
                        for (var k = 0u; k < 4u; k++) {
                            let i = i32(w * 4u + k) - row_pad + 1;
                            below = rounded(row_of(upper, lower, k));
                            best = max(best, select(vec2<i32>(NEG_INF), base + below + border_value(n - i), vec2<bool>(i >= 0)));
                        }
                    }
                    base += below;
                }
                values = best;
            }
            if (has_pair(one, place)) {
                out.data[value_index(one, place)] = bitcast<u32>(values.x);
            }
            if (has_pair(other, place)) {
                out.data[value_index(other, place)] = bitcast<u32>(values.y);
            }
            if (t == 0u) {
                out.data[task_index] = TASK_DONE;
                out.data[task_index + 1u] = TASK_DONE;
            }
        } else if (OWN_ENDS && begun) {
            if (has_pair(one, place)) {
                out.data[value_index(one, place)] = bitcast<u32>(best.x);
            }
            if (has_pair(other, place)) {
                out.data[value_index(other, place)] = bitcast<u32>(best.y);
            }
        }
        if (params.ticketed == 0u) {
            break;
        }
    }
}
