// Common to the kernels in which LANES neighbouring invocations, a team, compute one pair along its diagonals: lane l keeps
// CELLS columns in registers and is one row behind lane l - 1, so that a step computes a diagonal of blocks of 1 x CELLS
// cells. Of the three diagonals of scores that such a scan needs (Truong et al. 2014, section 4.2), the boundaries of the
// last two pass from lane to lane by from_left() (exchange_workgroup.wgsl or exchange_subgroup.wgsl), the rest never leaves
// the registers.

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
    var corner = edge(column_begin);
    if (row_begin == 0u) {
        for (var c = 0u; c < CELLS; c++) {
            v[c] = edge(column_begin + i32(c) + 1);
            f[c] = NEVER;
        }
    } else {
        for (var c = 0u; c < CELLS; c++) {
            v[c] = load(below, (first_column + c) * PLANES);
            if (AFFINE) {
                f[c] = load(below, (first_column + c) * PLANES + 1u);
            }
        }
        if (lane > 0u) {
            corner = load(below, (first_column - 1u) * PLANES);
        } else if (strip > 0u) {
            corner = load(tile_corners, ((diagonal_of_tiles + 1u) % 3u) * (task.columns / (lanes * CELLS)) + strip - 1u);
        } else {
            corner = edge(i32(row_begin) - row_pad);
        }
    }

    // Phase 2: the steps. Lane 0 reads the column border four rows ahead of need, every lane its target's symbols one row.
    var ahead = vec4<i32>(0);
    var ahead_e = vec4<i32>(0);
    var current = ahead;
    var current_e = ahead_e;
    if (lane == 0u && strip > 0u) {
        for (var k = 0u; k < 4u; k++) {
            ahead[k] = load(border, (row_begin + k) * PLANES);
            if (AFFINE) {
                ahead_e[k] = load(border, (row_begin + k) * PLANES + 1u);
            }
        }
    }
    var next_word = 0u;
    if (row_begin / 4u >= first_b_word) {
        next_word = target_words[b_begin + row_begin / 4u];
    }
    var symbols = 0u;
    var sent = vec2<i32>(0);
    let ways_begin = strip * (rows + lanes - 1u) + row_begin;
    let steps = row_end - row_begin + lanes - 1u;
    for (var step = 0u; step < steps; step++) {
        let received = from_left(sent, step);
        if (lane == 0u && (step & 3u) == 0u && strip > 0u) {
            current = ahead;
            current_e = ahead_e;
            let next_row = row_begin + step + 4u;
            if (next_row < row_end) {
                for (var k = 0u; k < 4u; k++) {
                    ahead[k] = load(border, (next_row + k) * PLANES);
                    if (AFFINE) {
                        ahead_e[k] = load(border, (next_row + k) * PLANES + 1u);
                    }
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
                    near = edge(i32(row) - row_pad + 1);
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
                        word = (word >> 4u) | (direction(near, across, e, f[c], near - params.opening, opened == f[c], left_tag) << 28u);
                    }
                    e = max(near - params.opening, e);
                } else {
                    let before = near;
                    let across = diagonal + substitution[a[c] + code];
                    near = max(max(across, up), before);
                    if (DIRECTIONS) {
                        word = (word >> 2u) | (direction(near, across, before, up, NEVER, false, left_tag) << 30u);
                    }
                }
                v[c] = near;
                diagonal = up;
            }
            sent = vec2<i32>(near, e);
            if (DIRECTIONS) {
                arena[ways.begin + ((ways_begin + step) * lanes + lane) * ways.stride] = word;
            }
            // Safe: lane 0 read this row's border before the last lane, LANES - 1 steps later, replaces it.
            if (lane == lanes - 1u) {
                store(border, row * PLANES, near);
                if (AFFINE) {
                    store(border, row * PLANES + 1u, e);
                }
            }
        }
    }

    // Phase 3: the last row. Safe: lane l + 1 read its corner in phase 1, before lane l came here.
    if (keep_row) {
        for (var c = 0u; c < CELLS; c++) {
            store(below, (first_column + c) * PLANES, v[c]);
            if (AFFINE) {
                store(below, (first_column + c) * PLANES + 1u, f[c]);
            }
        }
    }
    if (KEEP_CORNERS && lane == lanes - 1u) {
        store(tile_corners, (diagonal_of_tiles % 3u) * (task.columns / (lanes * CELLS)) + strip, v[CELLS - 1u]);
    }
}
