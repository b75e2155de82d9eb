// Shared by the kernels in which a team of LANES neighbouring invocations computes one pair along
// its diagonals.
// Lane l keeps COLUMNS columns in registers and is one row behind lane l - 1, so that a step
// computes a diagonal of blocks of 1 x COLUMNS cells. Such a scan needs three diagonals of scores
// (Truong et al. 2014, section 4.2). The boundaries of the last two pass from lane to lane by
// from_left() (exchange_workgroup.wgsl or exchange_subgroup.wgsl); the rest stays in registers.
// Steps come in groups of four. After each group all lanes store their directions together,
// although they belong to different rows.

#import arena
#import substitution

const COLUMNS: u32 = CELLS * WORDS;

// Computes rows row_begin .. row_end (multiples of 4) of the columns of pass `strip`, for the pair
// in `slot`, on `lanes` invocations. `lane` is the index of this one.
// Values above are read from the row border and values to the left from the column border, unless
// this is the pair's first row or column. Afterwards the borders contain the strip's last row
// (if keep_row) and last column.
// The corners of nw_tiled_diagonal are described in its contract.
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
    let first_column = (strip * lanes + lane) * COLUMNS;
    var a: array<u32, COLUMNS>;
    var v: array<i32, COLUMNS>;
    var f: array<i32, COLUMNS>;
    for (var c4 = 0u; c4 < COLUMNS / 4u; c4++) {
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
    var corner = border_at(column_begin, row_pad);
    if (row_begin == 0u) {
        for (var c = 0u; c < COLUMNS; c++) {
            v[c] = border_at(column_begin + i32(c) + 1, row_pad);
            f[c] = NEG_INF;
        }
    } else {
        for (var c4 = 0u; c4 < COLUMNS / 4u; c4++) {
            let above_cells = load_border(below, first_column / 4u + c4);
            for (var q = 0u; q < 4u; q++) {
                v[c4 * 4u + q] = above_cells[0][q];
                f[c4 * 4u + q] = above_cells[1][q];
            }
        }
        if (lane > 0u) {
            corner = load(below, (first_column / 4u - 1u) * PLANES).w;
        } else if (strip > 0u) {
            corner = load(tile_corners, ((diagonal_of_tiles + 1u) % 3u) * (task.columns / (lanes * COLUMNS)) + strip - 1u).x;
        } else {
            corner = border_at(i32(row_begin) - row_pad, column_pad);
        }
    }

    // Phase 2: the steps. Lane 0's column border and every lane's symbols are loaded four rows in
    // advance.
    let first_word = row_begin / 4u;
    var ahead: array<vec4<i32>, 2>;
    if (strip > 0u) {
        ahead = load_border(border, first_word);
    }
    // Word w of the target's symbols has rows 4 w to 4 w + 3. A lane starts a group with one of the
    // last three rows of the previous word, or with the first row of word w.
    let behind = lane / 4u;
    let turn = 8u * (lane & 3u);
    var word_before = 0u;
    var word_ahead = target_word(task, first_word - behind, first_b_word, b_begin);
    var sent = vec2<i32>(0);
    var last_v = vec4<i32>(0);
    var last_e = vec4<i32>(0);
    let place = first_quad(task, lanes, strip, row_begin) * WORDS * lanes + lane;
    let groups = (row_end - row_begin + lanes) / 4u;
    for (var group = 0u; group < groups; group++) {
        // Phase 2a: values that enter in these four steps.
        var symbols = (word_ahead << turn) | ((word_before >> 1u) >> (31u - turn));
        word_before = word_ahead;
        word_ahead = target_word(task, first_word + group + 1u - behind, first_b_word, b_begin);
        var near_0 = ahead[0];
        var e_0 = ahead[1];
        if (strip == 0u) {
            let i = i32(row_begin + group * 4u) - row_pad + 1;
            near_0 = vec4<i32>(border_at(i, column_pad), border_at(i + 1, column_pad), border_at(i + 2, column_pad), border_at(i + 3, column_pad));
            e_0 = near_0 - params.opening;
        } else if ((first_word + group + 1u) * 4u < row_end) {
            ahead = load_border(border, first_word + group + 1u);
        }

        // Phase 2b: the steps.
        var words: array<vec4<u32>, WORDS>;
        var border_v = last_v;
        var border_e = last_e;
        for (var k = 0u; k < 4u; k++) {
            let step = group * 4u + k;
            let received = from_left(sent, step);
            let code = symbols & 255u;
            symbols >>= 8u;
            // Four steps form a quad. It is built by shifting, because a variable index would move
            // it to memory.
            for (var w = 0u; w < WORDS; w++) {
                words[w] = vec4<u32>(words[w].yzw, 0u);
            }
            let row = row_begin + step - lane;
            if (step - lane < row_end - row_begin) {
                var near = received.x;
                var e = received.y;
                if (lane == 0u) {
                    near = near_0.x;
                    e = e_0.x;
                }
                var diagonal = corner;
                corner = near;
                for (var w = 0u; w < WORDS; w++) {
                    var word = 0u;
                    for (var q = 0u; q < CELLS; q++) {
                        let c = w * CELLS + q;
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
                                word = (word >> 2u) | (direction(near, across - diagonal, across, before, up, NEG_INF, false, left_tag) << 30u);
                            }
                        }
                        v[c] = near;
                        diagonal = up;
                    }
                    words[w].w = word;
                }
                if (END_OPENING && i32(row) == row_pad - 1) {
                    // Handles the corner, if it is in one of the lane's columns.
                    for (var c = 0u; c < COLUMNS; c++) {
                        v[c] -= select(0, params.border_opening, i32(first_column + c) == column_pad - 1);
                    }
                    near = v[COLUMNS - 1u];
                }
                sent = vec2<i32>(near, e);
                last_v = vec4<i32>(last_v.yzw, near);
                last_e = vec4<i32>(last_e.yzw, e);
            }
            if (k == 2u) {
                // The last lane, LANES - 1 rows behind, finishes four rows here.
                border_v = last_v;
                border_e = last_e;
            }
            near_0 = near_0.yzwx;
            e_0 = e_0.yzwx;
        }

        // Phase 2c: the directions of all lanes, and the last lane's column border. Safe: lane 0
        // read the border of these rows before it computed the first of them, `lanes` steps ago.
        if (DIRECTIONS) {
            store_directions(ways, place + group * (WORDS * lanes), lanes, words);
        }
        if (lane == lanes - 1u && group >= lanes / 4u) {
            store_border(border, first_word + group - lanes / 4u, border_v, border_e);
        }
    }

    // Phase 3: the last row. Safe: lane l + 1 read its corner in phase 1, before lane l reaches
    // this point.
    if (keep_row) {
        for (var c4 = 0u; c4 < COLUMNS / 4u; c4++) {
            let c = c4 * 4u;
            let last_row = vec4<i32>(v[c], v[c + 1u], v[c + 2u], v[c + 3u]);
            store_border(below, first_column / 4u + c4, last_row, vec4<i32>(f[c], f[c + 1u], f[c + 2u], f[c + 3u]));
        }
    }
    if (KEEP_CORNERS && lane == lanes - 1u) {
        store(tile_corners, (diagonal_of_tiles % 3u) * (task.columns / (lanes * COLUMNS)) + strip, vec4<i32>(v[COLUMNS - 1u]));
    }
}
