// posterior_backward: computes sums over all alignments of the suffixes after each cell. From these
// and the forward sums, it lists the survivors: the cells whose product of both sums reaches the
// cutoff. LANES invocations compute a pair (partition function of Probalign: Roshan and Livesay
// 2006).
// Recurrence: M[i,j] = X + D[i,j] + G[i,j], X = weight(i+1,j+1) * M[i+1,j+1].
//             D[i-1,j] = open * X + extend * D[i,j]; G is the same from column to column.
//             M is end_gap in the last row, 1 in its last column, and increased by end_gap in the last
//             column of other rows.
// Owns:       as in posterior_forward, but from the last block and group to the first.
// Layout:     scratch: as in posterior_forward, with M and G of the strip to the right as the
//             border. A list of survivors for each pair follows. A survivor has two values: row <<
//             16 | column, and the product of the forward and backward values, in units of two to
//             the power of the sum's exponent. Complete lists are copied to out.data.
// Invariant:  when a strip starts, the border contains M of the row below, and G and the exponent
//             of its right neighbour in every row.
// Uniform:    the bounds of loops with barriers come from params and tasks.
// Limits:     65,535 residues. For a pair with more than task.list survivors, out.data contains
//             their number but not the list.
// Oracle:     src/posterior/oracle.rs
//
// Constants:  WG (invocations per workgroup), LANES (invocations per pair), CODES (size of the
//             alphabet).

#import posterior

// Number of survivors of each pair, and their offset in the output.
var<workgroup> wg_found: array<atomic<u32>, PAIRS>;
var<workgroup> wg_begin: array<u32, PAIRS>;

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    let group = workgroup.x + workgroup.y * workgroups.x;
    if (group >= params.task_count) {
        return;
    }
    let task = tasks[params.task_begin + group];
    if (params.strip_begin >= task.strips) {
        return;
    }
    let slot = t / LANES;
    let l = t % LANES;
    let pair = pairs[task.first + min(slot, task.count - 1u)];
    let has_pair = slot < task.count;
    let blocks = blocks_of(pair);
    let extend = params.extend;
    let open = params.open;
    let sum_exponent = bitcast<i32>(out.data[pair.out_begin]);
    let least = params.cutoff * bitcast<f32>(out.data[pair.out_begin + 1u]);
    load_weights(t);
    if (l == 0u) {
        atomicStore(&wg_found[slot], out.data[pair.out_begin + 2u]);
    }
    workgroupBarrier();

    for (var index = params.strip_begin; index < min(params.strip_end, task.strips); index++) {
        let strip = task.strips - 1u - index;
        let block = strip * LANES + l;
        let is_own = has_pair && block < blocks;
        let column_begin = block * BLOCK;
        // State of each column: M, and gaps down the column (D).
        var matched: array<f32, 16>;
        var gaps: array<f32, 16>;
        // Codes of the columns, shifted by one to the right.
        var codes: array<u32, 4>;
        for (var c = 0u; c < BLOCK; c++) {
            matched[c] = select(0.0, select(params.end_gap, 1.0, column_begin + c == pair.columns), column_begin + c <= pair.columns);
            gaps[c] = 0.0;
        }
        if (is_own) {
            for (var k = 0u; k < 4u; k++) {
                let first = column_begin + 4u * k + 1u;
                codes[k] = column_code(pair, first) | (column_code(pair, first + 1u) << 8u)
                    | (column_code(pair, first + 2u) << 16u) | (column_code(pair, first + 3u) << 24u);
            }
        }
        var exponent = 0;
        for (var step = 0u; step < steps_of(task); step++) {
            // Step of the forward pass for the same group. The group wraps below 0 to a value after
            // the last one.
            let forward_step = steps_of(task) - 1u - step;
            let row_group = forward_step - l;
            let row_begin = row_group * STEP;
            if (is_own && row_group < groups_of(pair)) {
                var most = 0.0;
                for (var c = 0u; c < BLOCK; c++) {
                    most = max(most, matched[c]);
                }
                if (most > 0.0) {
                    let shift = exponent_of(most);
                    exponent += shift;
                    let factor = power(-shift);
                    for (var c = 0u; c < BLOCK; c++) {
                        matched[c] *= factor;
                        gaps[c] *= factor;
                    }
                }
                handed_exponents[(step % 2u) * WG + t] = exponent;
                var ratio = 1.0;
                if (block + 1u < blocks) {
                    if (l < LANES - 1u) {
                        ratio = power(handed_exponents[((step + 1u) % 2u) * WG + t + 1u] - exponent);
                    } else {
                        ratio = power(bitcast<i32>(scratch[border_place(task, row_begin, slot) + 3u]) - exponent);
                    }
                }
                let ended = end_value(exponent);
                let ahead = bitcast<i32>(scratch[exponent_place(task, strip, row_group, t)]);
                let scale = power(ahead + exponent - sum_exponent);
                for (var up = 0u; up < STEP; up++) {
                    let r = STEP - 1u - up;
                    let row = row_begin + r;
                    // The values of the last row are initialised before the sweep.
                    if (row + 1u < pair.rows) {
                        // Values of the column to the right: M of the row below, and G.
                        var next = vec2<f32>();
                        if (block + 1u < blocks) {
                            if (l < LANES - 1u) {
                                next = handed[(((step + 1u) % 2u) * STEP + r) * WG + t + 1u].xy * ratio;
                            } else {
                                let border = border_place(task, row, slot);
                                next = vec2<f32>(bitcast<f32>(scratch[border]), bitcast<f32>(scratch[border + 1u])) * ratio;
                            }
                        }
                        let own_weights = symbol(pair.row_begin + row + 1u) * STRIDE;
                        var right = next.x;
                        var gap = next.y;
                        for (var back = 0u; back < BLOCK; back++) {
                            let c = BLOCK - 1u - back;
                            let code = (codes[c / 4u] >> (8u * (c % 4u))) & 255u;
                            let diagonal = product(weights[own_weights + code], right);
                            right = matched[c];
                            let down = gaps[c];
                            matched[c] = diagonal + (down + gap);
                            let opened = product(open, diagonal);
                            gaps[c] = product(extend, down) + opened;
                            gap = product(extend, gap) + opened;
                        }
                        handed[((step % 2u) * STEP + r) * WG + t] = vec4<f32>(right, gap, 0.0, 0.0);
                        if (l == 0u && block > 0u) {
                            let border = border_place(task, row, slot);
                            scratch[border] = bitcast<u32>(right);
                            scratch[border + 1u] = bitcast<u32>(gap);
                        }
                        if (block + 1u == blocks) {
                            // An alignment may end in the last column of any row, before a gap.
                            for (var c = 0u; c < BLOCK; c++) {
                                matched[c] += select(0.0, ended, column_begin + c == pair.columns);
                            }
                        }
                    }
                    if (row < pair.rows) {
                        if (l == 0u && block > 0u) {
                            scratch[border_place(task, row, slot) + 3u] = bitcast<u32>(exponent);
                        }
                        var best = 0.0;
                        for (var c = 0u; c < BLOCK; c += 4u) {
                            let four = kept[kept_place(task, strip, forward_step, r, c / 4u, t)];
                            best = max(best, max(max(four.x * matched[c], four.y * matched[c + 1u]),
                                                 max(four.z * matched[c + 2u], four.w * matched[c + 3u])));
                        }
                        if (best * scale >= least) {
                            for (var c = 0u; c < BLOCK; c++) {
                                let four = kept[kept_place(task, strip, forward_step, r, c / 4u, t)];
                                let value = four[c % 4u] * matched[c] * scale;
                                if (value >= least && column_begin + c > 0u) {
                                    let place = atomicAdd(&wg_found[slot], 1u);
                                    if (place < task.list) {
                                        let own = list_place(task, slot) + 2u * place;
                                        scratch[own] = (row << 16u) | (column_begin + c - 1u);
                                        scratch[own + 1u] = bitcast<u32>(value);
                                    }
                                }
                            }
                        }
                    }
                }
            }
            // Safe: values written in one step are read in the next, which writes to other
            //       elements.
            workgroupBarrier();
        }
        storageBarrier();
        workgroupBarrier();
    }
    // Store the number of survivors for the next dispatch and the host.
    let survivors = atomicLoad(&wg_found[slot]);
    if (has_pair && l == 0u) {
        out.data[pair.out_begin + 2u] = survivors;
    }
    if (params.strip_end < task.strips) {
        return;
    }
    if (has_pair && l == 0u) {
        var begin = 0u;
        if (survivors <= task.list) {
            begin = atomicAdd(&out.used, survivors);
        }
        out.data[pair.out_begin + 3u] = begin;
        wg_begin[slot] = begin;
    }
    workgroupBarrier();
    if (has_pair && survivors <= task.list && wg_begin[slot] <= params.capacity && survivors <= params.capacity - wg_begin[slot]) {
        let list = list_place(task, slot);
        let place = params.arena_begin + 2u * wg_begin[slot];
        for (var word = l; word < 2u * survivors; word += LANES) {
            out.data[place + word] = scratch[list + word];
        }
    }
}
