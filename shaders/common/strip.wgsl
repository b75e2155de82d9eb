// Common to the kernels in which LANES neighbouring invocations, a team, compute one pair along its diagonals: lane l keeps
// CELLS columns in registers and is one row behind lane l - 1, so that a step computes a diagonal of blocks of 1 x CELLS
// cells. Of the three diagonals of scores that such a scan needs (Truong et al. 2014, section 4.2), the boundaries of the
// last two pass from lane to lane by from_left() (exchange_workgroup.wgsl or exchange_subgroup.wgsl), the rest never leaves
// the registers.

#import arena

// Substitution table in rows of odd stride, so that rows spread over the banks.
const TABLE_STRIDE: u32 = CODES | 1u;
var<workgroup> substitution: array<i32, CODES * TABLE_STRIDE>;

// Fills the table. Ends with a barrier.
fn load_substitution(t: u32, invocations: u32) {
    for (var k = t; k < CODES * CODES; k += invocations) {
        substitution[(k / CODES) * TABLE_STRIDE + k % CODES] = table[k];
    }
    workgroupBarrier();
}

// Rows row_begin .. row_end (multiples of 4) of the columns of pass `strip`, for the pair in `slot`, by `lanes` invocations of
// which this is `lane`. What lies above is read from the row border, what lies left from the column border, where this is
// not the pair's first row or column; both then hold the strip's last row (if keep_row) and last column. `corner_slot`:
// nw_tiled_diagonal's corners (its contract says which).
fn scan(task: Task, slot: u32, lane: u32, lanes: u32, strip: u32, row_begin: u32, row_end: u32, keep_row: bool, diagonal_of_tiles: u32) {
    let b = targets[task.first + min(slot, task.count - 1u)];
    let m = task.query_symbols;
    let n = b.symbols;
    let rows = task.rows_words * 4u;
    let column_pad = i32(task.columns - m);
    let row_pad = i32(rows) - i32(n);
    let first_b_word = task.rows_words - (n + 3u) / 4u;
    let first_a_word = (task.columns - m) / 4u;
    let a_begin = task.query_end_word - task.columns / 4u;
    let b_begin = b.end_word - task.rows_words;
    let border = column_border(task, slot);
    let below = row_border(task, slot);
    let tile_corners = corners(task, slot);
    let ways = directions(task, slot);
    let left_tag = tag_left(b.number < task.query_number);
    let above = 1 - left_tag;
    let e_opening = 4 - params.opening;
    let f_opening = 8 - params.opening;

    // Phase 1: the lane's symbols and the row above.
    let first_column = (strip * lanes + lane) * CELLS;
    var a: array<u32, CELLS>;
    var v: array<i32, CELLS>;
    var f: array<i32, CELLS>;
    for (var c4 = 0u; c4 < CELLS / 4u; c4++) {
        let word_index = first_column / 4u + c4;
        var word = 0u;
        if (word_index >= first_a_word) {
            word = query_words[a_begin + word_index];
        }
        for (var q = 0u; q < 4u; q++) {
            a[c4 * 4u + q] = ((word >> (8u * q)) & 255u) * TABLE_STRIDE;
        }
    }
    let column_begin = i32(first_column) - column_pad;
    var corner = rim(column_begin, row_pad);
    if (row_begin == 0u) {
        for (var c = 0u; c < CELLS; c++) {
            v[c] = rim(column_begin + i32(c) + 1, row_pad);
            f[c] = NEVER;
        }
    } else {
        for (var c4 = 0u; c4 < CELLS / 4u; c4++) {
            let above_v = load(below, (first_column / 4u + c4) * PLANES);
            var above_f = vec4<i32>(NEVER);
            if (AFFINE) {
                above_f = load(below, (first_column / 4u + c4) * PLANES + 1u);
            }
            for (var q = 0u; q < 4u; q++) {
                v[c4 * 4u + q] = above_v[q];
                f[c4 * 4u + q] = above_f[q];
            }
        }
        if (lane > 0u) {
            corner = load(below, (first_column / 4u - 1u) * PLANES).w;
        } else if (strip > 0u) {
            corner = load(tile_corners, ((diagonal_of_tiles + 1u) % 3u) * (task.columns / (lanes * CELLS)) + strip - 1u).x;
        } else {
            corner = rim(i32(row_begin) - row_pad, column_pad);
        }
    }

    // Phase 2: the steps. Lane 0 reads the column border four rows ahead of need, every lane its target's symbols one row.
    var ahead = vec4<i32>(0);
    var ahead_e = vec4<i32>(0);
    var current = ahead;
    var current_e = ahead_e;
    if (lane == 0u && strip > 0u) {
        ahead = load(border, row_begin / 4u * PLANES);
        if (AFFINE) {
            ahead_e = load(border, row_begin / 4u * PLANES + 1u);
        }
    }
    var next_word = 0u;
    if (row_begin / 4u >= first_b_word) {
        next_word = target_words[b_begin + row_begin / 4u];
    }
    var symbols = 0u;
    var sent = vec2<i32>(0);
    var words = vec4<u32>(0u);
    var last_v = vec4<i32>(0);
    var last_e = vec4<i32>(0);
    let steps = row_end - row_begin + lanes - 1u;
    for (var step = 0u; step < steps; step++) {
        let received = from_left(sent, step);
        if (lane == 0u && (step & 3u) == 0u && strip > 0u) {
            current = ahead;
            current_e = ahead_e;
            let next_row = row_begin + step + 4u;
            if (next_row < row_end) {
                ahead = load(border, next_row / 4u * PLANES);
                if (AFFINE) {
                    ahead_e = load(border, next_row / 4u * PLANES + 1u);
                }
            }
        }
        if (step >= lane && step - lane < row_end - row_begin) {
            let row = row_begin + step - lane;
            if ((row & 3u) == 0u) {
                symbols = next_word;
                next_word = 0u;
                let next_index = row / 4u + 1u;
                if (next_index >= first_b_word && next_index < task.rows_words) {
                    next_word = target_words[b_begin + next_index];
                }
            }
            let code = symbols & 255u;
            symbols >>= 8u;
            var near = received.x;
            var e = received.y;
            if (lane == 0u) {
                if (strip == 0u) {
                    near = rim(i32(row) - row_pad + 1, column_pad);
                    e = near - params.opening;
                } else {
                    near = current[row & 3u];
                    e = current_e[row & 3u];
                }
            }
            var diagonal = corner;
            corner = near;
            var word = 0u;
            for (var c = 0u; c < CELLS; c++) {
                let up = v[c];
                if (AFFINE && TAG_BITS > 0u) {
                    let f_best = max(up + f_opening, f[c]);
                    f[c] = f_best & CLEAN;
                    let best = max(max(diagonal + substitution[a[c] + code], f[c] + above), e + left_tag);
                    near = best & CLEAN;
                    let e_best = max(near + e_opening, e);
                    e = e_best & CLEAN;
                    word = (word >> 4u) | (bitcast<u32>(best | f_best | e_best) << 28u);
                } else if (TAG_BITS > 0u) {
                    let best = max(max(diagonal + substitution[a[c] + code], up + above), near + left_tag);
                    near = best & CLEAN;
                    word = (word >> 2u) | (bitcast<u32>(best) << 30u);
                } else if (AFFINE) {
                    let opened = up - params.opening;
                    let across = diagonal + substitution[a[c] + code];
                    f[c] = max(opened, f[c]);
                    near = max(max(across, f[c]), e);
                    if (DIRECTIONS) {
                        word = (word >> 4u) | (direction(near, across - diagonal, across, e, f[c], near - params.opening, opened == f[c], left_tag) << 28u);
                    }
                    e = max(near - params.opening, e);
                } else {
                    let before = near;
                    let across = diagonal + substitution[a[c] + code];
                    near = max(max(across, up), before);
                    if (DIRECTIONS) {
                        word = (word >> 2u) | (direction(near, across - diagonal, across, before, up, NEVER, false, left_tag) << 30u);
                    }
                }
                v[c] = near;
                diagonal = up;
            }
            if (END_OPENING && i32(row) == row_pad - 1) {
                // The corner, if it is in one of the lane's columns.
                for (var c = 0u; c < CELLS; c++) {
                    v[c] -= select(0, params.edge_opening, i32(first_column + c) == column_pad - 1);
                }
                near = v[CELLS - 1u];
            }
            sent = vec2<i32>(near, e);
            // Four rows become a quad.
            words = vec4<u32>(words.yzw, word);
            last_v = vec4<i32>(last_v.yzw, near);
            if (AFFINE) {
                last_e = vec4<i32>(last_e.yzw, e);
            }
            if ((row & 3u) == 3u) {
                if (DIRECTIONS) {
                    let quad = direction_quad(task, lanes, strip * lanes + lane, row / 4u);
                    write_quad(ways.arena, ways.begin + quad * ways.stride, words);
                }
                // Safe: lane 0 read these rows' border before the last lane, LANES - 1 steps later, replaces it.
                if (lane == lanes - 1u) {
                    store(border, row / 4u * PLANES, last_v);
                    if (AFFINE) {
                        store(border, row / 4u * PLANES + 1u, last_e);
                    }
                }
            }
        }
    }

    // Phase 3: the last row. Safe: lane l + 1 read its corner in phase 1, before lane l came here.
    if (keep_row) {
        for (var c4 = 0u; c4 < CELLS / 4u; c4++) {
            let c = c4 * 4u;
            store(below, (first_column / 4u + c4) * PLANES, vec4<i32>(v[c], v[c + 1u], v[c + 2u], v[c + 3u]));
            if (AFFINE) {
                store(below, (first_column / 4u + c4) * PLANES + 1u, vec4<i32>(f[c], f[c + 1u], f[c + 2u], f[c + 3u]));
            }
        }
    }
    if (KEEP_CORNERS && lane == lanes - 1u) {
        store(tile_corners, (diagonal_of_tiles % 3u) * (task.columns / (lanes * CELLS)) + strip, vec4<i32>(v[CELLS - 1u]));
    }
}
