// posterior_forward: computes sums over all alignments of the prefixes up to each cell, with LANES
// invocations per pair (partition function of Probalign: Roshan and Livesay 2006).
// Recurrence: M[i,j] = weight(i,j) * O[i-1,j-1], D[i,j] = M[i-1,j] + extend * D[i-1,j],
//             G[i,j] = M[i,j-1] + extend * G[i,j-1], O[i,j] = M[i,j] + open * (D[i,j] + G[i,j]).
//             O is 1 in cell (0,0), and end_gap in the rest of row 0 and column 0.
// Owns:       invocation l of a pair holds block LANES * strip + l of 16 columns in registers, and
//             computes
//             group k - l of 8 rows in step k.
// Layout:     kept[kept_place(..)]: M of four columns. scratch: the exponents of every block and
//             group, then the values that the last block of a strip passes on, row by row (the
//             border). out.data: see Pair.
// Invariant:  when a strip starts, the border contains O, M, G and the exponent of its left
//             neighbour in every row.
// Uniform:    the bounds of loops with barriers come from params and tasks.
// Limits:     65,535 residues; the host reserves memory for the tasks.
// Oracle:     src/posterior/oracle.rs
//
// Constants:  WG (invocations per workgroup), LANES (invocations per pair), CODES (size of the
//             alphabet).

#import posterior

var<workgroup> part_values: array<f32, WG>;
var<workgroup> part_exponents: array<i32, WG>;

// A sum of floats with an exponent: value * 2^exponent.
struct Sum {
    value: f32,
    exponent: i32,
}

fn added(sum: Sum, value: f32, exponent: i32) -> Sum {
    var all = sum;
    if (value > 0.0) {
        if (all.value == 0.0 || exponent > all.exponent) {
            all.value *= power(all.exponent - exponent);
            all.exponent = exponent;
        }
        all.value += value * power(exponent - all.exponent);
    }
    return all;
}

// Returns the stored M of a row and a column.
fn kept_at(task: Task, slot: u32, row: u32, column: u32) -> f32 {
    let block = column / BLOCK;
    let l = block % LANES;
    let four = kept[kept_place(task, block / LANES, row / STEP + l, row % STEP, column % BLOCK / 4u, slot * LANES + l)];
    return four[column % 4u];
}

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
    load_weights(t);
    workgroupBarrier();

    for (var strip = params.strip_begin; strip < min(params.strip_end, task.strips); strip++) {
        let block = strip * LANES + l;
        let is_own = has_pair && block < blocks;
        // State of each column: O (the sum that a match may follow), M and D of the last row.
        var onward: array<f32, 16>;
        var matched: array<f32, 16>;
        var gaps: array<f32, 16>;
        var codes: array<u32, 4>;
        for (var c = 0u; c < BLOCK; c++) {
            onward[c] = select(params.end_gap, 1.0, block * BLOCK + c == 0u);
            matched[c] = 0.0;
            gaps[c] = 0.0;
        }
        if (is_own) {
            for (var k = 0u; k < 4u; k++) {
                let first = block * BLOCK + 4u * k;
                codes[k] = column_code(pair, first) | (column_code(pair, first + 1u) << 8u)
                    | (column_code(pair, first + 2u) << 16u) | (column_code(pair, first + 3u) << 24u);
            }
        }
        var exponent = 0;
        for (var step = 0u; step < steps_of(task); step++) {
            // Wraps below 0 to a value after the last group.
            let row_group = step - l;
            let row_begin = row_group * STEP;
            if (is_own && row_group < groups_of(pair)) {
                var most = 0.0;
                for (var c = 0u; c < BLOCK; c++) {
                    most = max(most, onward[c]);
                }
                if (most > 0.0) {
                    let shift = exponent_of(most);
                    exponent += shift;
                    let factor = power(-shift);
                    for (var c = 0u; c < BLOCK; c++) {
                        onward[c] *= factor;
                        matched[c] *= factor;
                        gaps[c] *= factor;
                    }
                }
                scratch[exponent_place(task, strip, row_group, t)] = bitcast<u32>(exponent);
                handed_exponents[(step % 2u) * WG + t] = exponent;
                var ratio = 1.0;
                if (l > 0u) {
                    ratio = power(handed_exponents[((step + 1u) % 2u) * WG + t - 1u] - exponent);
                } else if (strip > 0u) {
                    ratio = power(bitcast<i32>(scratch[border_place(task, row_begin, slot) + 3u]) - exponent);
                }
                let begun = end_value(exponent);
                for (var r = 0u; r < STEP; r++) {
                    let row = row_begin + r;
                    if (row < pair.rows) {
                        // O, M and G of the column to the left. O is that of the row above.
                        var left = vec3<f32>();
                        if (l > 0u) {
                            left = handed[(((step + 1u) % 2u) * STEP + r) * WG + t - 1u].xyz * ratio;
                        } else if (strip > 0u) {
                            let border = border_place(task, row, slot);
                            left = vec3<f32>(bitcast<f32>(scratch[border]), bitcast<f32>(scratch[border + 1u]),
                                             bitcast<f32>(scratch[border + 2u])) * ratio;
                        }
                        let own_weights = symbol(pair.row_begin + row) * STRIDE;
                        var before = left.x;
                        var last = left.y;
                        var gap = left.z;
                        var four = vec4<f32>();
                        for (var c = 0u; c < BLOCK; c++) {
                            let code = (codes[c / 4u] >> (8u * (c % 4u))) & 255u;
                            let own = product(weights[own_weights + code], before);
                            before = onward[c];
                            let down = matched[c] + product(extend, gaps[c]);
                            gap = last + product(extend, gap);
                            last = own;
                            matched[c] = own;
                            gaps[c] = down;
                            onward[c] = own + product(open, down + gap);
                            four[c % 4u] = own;
                            if (c % 4u == 3u) {
                                kept[kept_place(task, strip, step, r, c / 4u, t)] = four;
                            }
                        }
                        handed[((step % 2u) * STEP + r) * WG + t] = vec4<f32>(before, last, gap, 0.0);
                        if (l == LANES - 1u && block + 1u < blocks) {
                            let border = border_place(task, row, slot);
                            scratch[border] = bitcast<u32>(before);
                            scratch[border + 1u] = bitcast<u32>(last);
                            scratch[border + 2u] = bitcast<u32>(gap);
                            scratch[border + 3u] = bitcast<u32>(exponent);
                        }
                        if (block == 0u) {
                            // An alignment may start in column 0 of any row, after a gap.
                            onward[0] = begun;
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
    if (params.strip_end < task.strips) {
        return;
    }

    // Store the values of the last row and column, for the sum over all alignments on the host,
    // and an approximation of this sum.
    var sum = Sum(0.0, 0);
    if (has_pair) {
        let block = pair.columns / BLOCK;
        let groups = groups_of(pair);
        let of_rows = pair.out_begin + HEADER;
        let of_groups = of_rows + pair.rows;
        let of_columns = of_groups + groups;
        let of_blocks = of_columns + pair.columns + 1u;
        let place = slot * LANES + block % LANES;
        for (var row = l; row < pair.rows; row += LANES) {
            let exponent = bitcast<i32>(scratch[exponent_place(task, block / LANES, row / STEP, place)]);
            let value = kept_at(task, slot, row, pair.columns);
            out.data[of_rows + row] = bitcast<u32>(value);
            if (row % STEP == 0u) {
                out.data[of_groups + row / STEP] = bitcast<u32>(exponent);
            }
            if (row + 1u < pair.rows) {
                sum = added(sum, value * params.end_gap, exponent);
            }
        }
        for (var column = l; column <= pair.columns; column += LANES) {
            let column_block = column / BLOCK;
            let exponent = bitcast<i32>(scratch[exponent_place(task, column_block / LANES, groups - 1u, slot * LANES + column_block % LANES)]);
            let value = kept_at(task, slot, pair.rows - 1u, column);
            out.data[of_columns + column] = bitcast<u32>(value);
            if (column % BLOCK == 0u) {
                out.data[of_blocks + column_block] = bitcast<u32>(exponent);
            }
            sum = added(sum, value * select(params.end_gap, 1.0, column == pair.columns), exponent);
        }
    }
    part_values[t] = sum.value;
    part_exponents[t] = sum.exponent;
    workgroupBarrier();
    if (has_pair && l == 0u) {
        for (var other = 1u; other < LANES; other++) {
            sum = added(sum, part_values[t + other], part_exponents[t + other]);
        }
        let shift = exponent_of(sum.value);
        out.data[pair.out_begin] = bitcast<u32>(sum.exponent + shift);
        out.data[pair.out_begin + 1u] = bitcast<u32>(sum.value * power(-shift));
        out.data[pair.out_begin + 2u] = 0u;
        out.data[pair.out_begin + 3u] = 0u;
    }
}
