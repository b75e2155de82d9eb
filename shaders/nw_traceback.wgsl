// nw_traceback: computes each pair's value and the runs of its alignment from the borders and
//             directions that a kernel stored in the arena.
// Recurrence: the canonical traceback (src/trace.rs). It prefers the diagonal, then a query symbol
//             against a gap, then a target symbol against a gap. Inside a gap, it leaves the gap as
//             soon as leaving is as good as extending.
// Owns:       invocation k owns pair slot k % SLOTS of task k / SLOTS. In the arena, it writes only
//             this pair's part `runs`.
// Layout:     the arena as in common/arena.wgsl. out.data[3 p ..] of pair p has the value, the
//             first word of its runs relative to runs_begin, and the number of runs. This number is
//             NO_INDEX if the runs did not fit, and DROPPED if the pair does not reach the
//             requested identity. Runs go from the alignment's end to its start, two per word, the
//             low half first: kind | length << 2, with kinds 0 to 3 for = X I D. Longer runs are
//             split.
// Invariant:  the invariant of common/traceback.wgsl.
// Uniform:    there is no barrier.
// Limits:     if there is a traceback, values carry matches, which distinguish = from X.
// Oracle:     src/pairs/oracle/needleman_wunsch.rs

#import traceback

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    let index = (workgroup.x + workgroup.y * workgroups.x) * WG + t;
    let task_index = params.task_begin + index / SLOTS;
    let slot = index % SLOTS;
    if (task_index >= params.task_count) {
        return;
    }
    let task = tasks[task_index];
    if (slot >= task.count) {
        return;
    }
    let b = targets[task.first + slot];
    let m = task.query_symbols;
    let n = b.symbols;
    let column_pad = task.columns - m;
    let row_pad = task.rows_words * 4u - n;
    let border = column_border(task, slot);
    let below = row_border(task, slot);
    // In the kernel, the columns are the query's symbols. In the alignment, the sequence that comes
    // first in the input is the query.
    let turned = b.number < task.query_number;

    // Phase 1: the alignment's last cell, and the value there.
    var i = n;
    var j = m;
    var value = load(border, (task.rows_words - 1u) * PLANES).w;
    if (OWN_ENDS) {
        // Tests the corner first, and then the last row and the last column from their ends. The
        // alignment's target determines which of these two comes first.
        for (var turn = 0u; turn < 2u; turn++) {
            if ((turn == 0u) != turned) {
                for (var k = 1u; k <= m; k++) {
                    let column = m - k;
                    var here = border_value(i32(n));
                    if (column > 0u) {
                        let place = column - 1u + column_pad;
                        here = load(below, (place >> 2u) * PLANES)[place & 3u];
                    }
                    here += border_value(i32(k));
                    if (here > value) {
                        value = here;
                        i = n;
                        j = column;
                    }
                }
            } else {
                for (var k = 1u; k <= n; k++) {
                    let row = n - k;
                    var here = border_value(i32(m));
                    if (row > 0u) {
                        let place = row - 1u + row_pad;
                        here = load(border, (place >> 2u) * PLANES)[place & 3u];
                    }
                    here += border_value(i32(k));
                    if (here > value) {
                        value = here;
                        i = row;
                        j = m;
                    }
                }
            }
        }
    }
    let pair = task.pairs_begin + slot;
    out.data[3u * pair] = bitcast<u32>(value);
    if (params.traces_back == 0u) {
        return;
    }

    // Phase 2: the traceback.
    var lanes = LANES;
    if (LANES == 0u) {
        lanes = u32(load(corners(task, slot), 0u).x);
    }
    let ways = directions(task, slot);
    pair_runs = runs(task, slot);
    start_traceback(i, j, m, n, turned);
    var quad_at_hand = NO_QUAD;
    var at_hand = vec4<u32>(0u);
    while (trace_i > 0u && trace_j > 0u) {
        let column = trace_j - 1u + column_pad;
        let row = trace_i - 1u + row_pad;
        // A quad contains the directions of several steps.
        let place = direction_place(task, lanes, column / CELLS, row);
        if (place.x != quad_at_hand) {
            quad_at_hand = place.x;
            at_hand = read_quad(ways.arena, ways.begin + place.x * ways.stride);
        }
        advance(at_hand[place.y] >> (32u - CELLS * BITS + (column % CELLS) * BITS));
    }
    let kept_count = end_traceback(m, n);

    // Phase 3: copies the runs to a part of the output that has exactly their size.
    let place = place_runs(pair, m, n, kept_count);
    if (place == NO_INDEX) {
        return;
    }
    let words = (kept_count + 1u) / 2u;
    for (var k = 0u; 4u * k < words; k++) {
        copy_runs(k, words, place);
    }
}
