// nw_checkpoint: global score and alignment, one pair per team of LANES lanes of a subgroup
//             (DScan-mNW, Truong et al. 2014, section 4.2, with checkpoints instead of directions:
//             Grice, Hughey and Speck 1997).
// Recurrence: the recurrence of nw_slice.wgsl, along diagonals as in common/strip.wgsl. The
//             traceback is the one of nw_traceback.
// Owns:       a workgroup takes one task at a time, and each of its teams computes one of the
//             task's pairs. Lane l of a team owns COLUMNS columns of each pass. Workgroup w uses
//             part w % slots_an_arena of arena w / slots_an_arena, regardless of the task.
// Layout:     struct Pair below describes the data of a team. out.data has the layout of
//             nw_traceback. out.ticket counts the tasks that were taken.
// Method:     a sweep stores the last column of each pass and, every BLOCK_STEPS steps, a
//             checkpoint: the registers of the lanes. From these, any block of BLOCK_STEPS steps of
//             a pass can be recomputed alone. The directions of a block are computed when the
//             traceback enters the block, which it does once. Most blocks are never entered.
// Invariant:  after a pass, its last column and all its checkpoints are stored. While the traceback
//             is in a block, `ways` holds the directions of that block's steps.
// Uniform:    the task comes from workgroupUniformLoad. The numbers of passes, of groups of steps
//             and of blocks depend on the task only. The traceback takes turns, with one block per
//             team in each turn, until no team has a block left.
// Limits:     subgroups of at least LANES lanes, all of them active; a workgroup's part of the
//             arena; i32 values.
// Oracle:     src/pairs/oracle/needleman_wunsch.rs
//
// Constants:  the constants of common/arena.wgsl, and BLOCK_GROUPS, the number of groups of four
//             steps in a block.

#import exchange_subgroup
#import substitution
#import traceback

const COLUMNS: u32 = CELLS * WORDS;
const COLUMNS4: u32 = COLUMNS / 4u;
const UNIT: u32 = LANES * COLUMNS;
const BLOCK_STEPS: u32 = 4u * BLOCK_GROUPS;
// Quads of a lane's registers: V and F of its columns, and the values that enter from the left.
const STATE_QUADS: u32 = COLUMNS4 * PLANES + 1u;

// Value of slice_end in the dispatch that traces back. This dispatch first computes all passes,
// unless earlier dispatches computed them.
const LAST: u32 = 0xffffffffu;

// Scores of diagonal steps between the pass's columns and every code. The same columns of all lanes
// are adjacent, so that lanes with different symbols read from different banks.
var<workgroup> profile: array<vec4<i32>, CODES * LANES * COLUMNS4>;
var<workgroup> wg_task: u32;
var<workgroup> wg_left: atomic<u32>;
var<workgroup> wg_continues: u32;

// A pair, and the positions of its team's data in quads. The data starts at task.arena_begin: the
// last column of each pass, the last row, checkpoints, the directions of a block, and runs.
struct Pair {
    task: Task,
    lane: u32,
    m: u32,
    n: u32,
    column_pad: i32,
    row_pad: i32,
    first_b_word: u32,
    b_begin: u32,
    checkpoints: u32,
    below: u32,
    states: u32,
    ways: u32,
}

fn border_of(pair: Pair, pass_index: u32) -> ArenaPart {
    return ArenaPart(pair.task.arena, pair.task.arena_begin + pass_index * pair.task.rows_words * PLANES, 1u);
}

// Returns the position of a lane's registers before a block that is not the first of its pass.
fn state_of(pair: Pair, pass_index: u32, block: u32) -> ArenaPart {
    let begin = pair.states + (pass_index * pair.checkpoints + block - 1u) * STATE_QUADS * LANES;
    return ArenaPart(pair.task.arena, begin + pair.lane, LANES);
}

// Makes the profile of a pass. It starts and ends with a barrier, so all invocations of the
// workgroup must call it.
fn make_profile(task: Task, pass_index: u32, t: u32) {
    workgroupBarrier();
    let first_a_word = (task.columns - task.query_symbols) / 4u;
    let a_begin = task.query_end_word - task.columns / 4u;
    for (var p = t; p < CODES * LANES * COLUMNS4; p += WG) {
        let row = p / (LANES * COLUMNS4) * CODES;
        let c4 = p / LANES % COLUMNS4;
        let index = pass_index * (UNIT / 4u) + p % LANES * COLUMNS4 + c4;
        var word = 0u;
        if (index >= first_a_word) {
            word = query_words[a_begin + index];
        }
        let steps = vec4<i32>(
            table[row + (word & 255u)], table[row + ((word >> 8u) & 255u)],
            table[row + ((word >> 16u) & 255u)], table[row + (word >> 24u)]);
        profile[p] = steps & vec4<i32>(CLEAN);
    }
    workgroupBarrier();
}

// Returns four rows of the values that enter lane 0 from the left in pass 0: the border.
fn border_words(pair: Pair, group: u32) -> array<vec4<i32>, 2> {
    let i = i32(group * 4u) - pair.row_pad + 1;
    let column_pad = pair.column_pad;
    let v = vec4<i32>(border_at(i, column_pad), border_at(i + 1, column_pad), border_at(i + 2, column_pad), border_at(i + 3, column_pad));
    return array<vec4<i32>, 2>(v, v - params.opening);
}

// Computes all rows of a pass in `groups` groups of steps. Stores checkpoints if a traceback
// follows.
fn sweep(pair: Pair, pass_index: u32, groups: u32) {
    let lane = pair.lane;
    let rows = pair.task.rows_words * 4u;
    let column_begin = i32(pass_index * UNIT + lane * COLUMNS) - pair.column_pad;
    var v: array<i32, COLUMNS>;
    var f: array<i32, COLUMNS>;
    for (var c = 0u; c < COLUMNS; c++) {
        v[c] = border_at(column_begin + i32(c) + 1, pair.row_pad);
        f[c] = NEG_INF;
    }
    var corner = border_at(column_begin, pair.row_pad);
    let border = border_of(pair, pass_index);
    var before = border;
    // Lane 0's column border is loaded four rows in advance, and so are every lane's symbols.
    var ahead: array<vec4<i32>, 2>;
    if (pass_index > 0u) {
        before = border_of(pair, pass_index - 1u);
        ahead = load_border(before, 0u);
    }
    // Word w of the target's symbols has rows 4 w to 4 w + 3. A lane may start a group within the
    // preceding word.
    let behind = lane / 4u;
    let turn = 8u * (lane & 3u);
    var word_before = 0u;
    var word_ahead = target_word(pair.task, 0u - behind, pair.first_b_word, pair.b_begin);
    var sent = vec2<i32>(0);
    var last_v = vec4<i32>(0);
    var last_e = vec4<i32>(0);
    for (var group = 0u; group < groups; group++) {
        if (DIRECTIONS && group % BLOCK_GROUPS == 0u && group > 0u) {
            let state = state_of(pair, pass_index, group / BLOCK_GROUPS);
            for (var c4 = 0u; c4 < COLUMNS4; c4++) {
                let c = c4 * 4u;
                let own_v = vec4<i32>(v[c], v[c + 1u], v[c + 2u], v[c + 3u]);
                store_border(state, c4, own_v, vec4<i32>(f[c], f[c + 1u], f[c + 2u], f[c + 3u]));
            }
            store(state, STATE_QUADS - 1u, vec4<i32>(corner, sent, 0));
        }
        var symbols = (word_ahead << turn) | ((word_before >> 1u) >> (31u - turn));
        word_before = word_ahead;
        word_ahead = target_word(pair.task, group + 1u - behind, pair.first_b_word, pair.b_begin);
        var near_0 = ahead[0];
        var e_0 = ahead[1];
        if (pass_index == 0u) {
            let entering = border_words(pair, group);
            near_0 = entering[0];
            e_0 = entering[1];
        } else if (group + 1u < pair.task.rows_words) {
            ahead = load_border(before, group + 1u);
        }
        var border_v = last_v;
        var border_e = last_e;
        for (var k = 0u; k < 4u; k++) {
            let received = from_left(sent, k);
            let profile_row = (symbols & 255u) * (LANES * COLUMNS4) + lane;
            symbols >>= 8u;
            let row = group * 4u + k - lane;
            if (row < rows) {
                var near = received.x;
                var e = received.y;
                if (lane == 0u) {
                    near = near_0.x;
                    e = e_0.x;
                }
                var diagonal = corner;
                corner = near;
                for (var c4 = 0u; c4 < COLUMNS4; c4++) {
                    let steps = profile[profile_row + c4 * LANES];
                    for (var q = 0u; q < 4u; q++) {
                        let c = c4 * 4u + q;
                        let up = v[c];
                        if (AFFINE) {
                            // E of the next column follows from the best value without E of this
                            // column, as in nw_slice.
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
                if (END_OPENING && pass_index == 0u && i32(row) == pair.row_pad - 1) {
                    // The corner, if it is in one of the lane's columns. (Short loops, as in
                    // nw_slice.)
                    for (var c4 = 0u; c4 < COLUMNS4; c4++) {
                        for (var q = 0u; q < 4u; q++) {
                            let c = c4 * 4u + q;
                            v[c] -= select(0, params.border_opening, i32(lane * COLUMNS + c) == pair.column_pad - 1);
                        }
                    }
                    near = v[COLUMNS - 1u];
                }
                sent = vec2<i32>(near, e);
                last_v = vec4<i32>(last_v.yzw, near);
                last_e = vec4<i32>(last_e.yzw, e);
            }
            if (k == 2u) {
                // The last lane, LANES - 1 rows behind, completes four rows here.
                border_v = last_v;
                border_e = last_e;
            }
            near_0 = near_0.yzwx;
            e_0 = e_0.yzwx;
        }
        if (lane == LANES - 1u && group >= LANES / 4u) {
            store_border(border, group - LANES / 4u, border_v, border_e);
        }
    }
    if (OWN_ENDS) {
        let below = ArenaPart(pair.task.arena, pair.below + (pass_index * UNIT + lane * COLUMNS) / 4u, 1u);
        for (var c4 = 0u; c4 < COLUMNS4; c4++) {
            let c = c4 * 4u;
            store(below, c4, vec4<i32>(v[c], v[c + 1u], v[c + 2u], v[c + 3u]));
        }
    }
}

// A cell with its directions. `e` is E of the next column.
struct Cell {
    v: i32,
    e: i32,
    f: i32,
    bits: u32,
}

// Computes a cell from V of the diagonal neighbour, the one above and the one to the left, from E,
// from F above, and from the score of the diagonal step. Bits beyond the cell's direction bits are
// not 0.
fn directed(diagonal: i32, up: i32, near: i32, e: i32, f_above: i32, step: i32, tag: i32) -> Cell {
    if (AFFINE && TAG_BITS > 0u) {
        let f_best = max(up + (8 - params.opening), f_above);
        let f = f_best & CLEAN;
        let best = max(max(diagonal + step, f + (1 - tag)), e + tag);
        let v = best & CLEAN;
        let e_best = max(v + (4 - params.opening), e);
        return Cell(v, e_best & CLEAN, f, bitcast<u32>(best | f_best | e_best));
    }
    if (TAG_BITS > 0u) {
        let best = max(max(diagonal + step, up + (1 - tag)), near + tag);
        return Cell(best & CLEAN, 0, 0, bitcast<u32>(best));
    }
    let across = diagonal + step;
    if (AFFINE) {
        let opened = up - params.opening;
        let f = max(opened, f_above);
        let v = max(max(across, f), e);
        return Cell(v, max(v - params.opening, e), f, direction(v, step, across, e, f, v - params.opening, opened == f, tag));
    }
    let v = max(max(across, up), near);
    return Cell(v, 0, 0, direction(v, step, across, near, up, NEG_INF, false, tag));
}

// Recomputes a block with its directions. Each quad holds four steps. The quads of all lanes for a
// word are adjacent, and the words follow one another.
fn recompute_block(pair: Pair, pass_index: u32, block: u32) {
    let lane = pair.lane;
    let rows = pair.task.rows_words * 4u;
    let first_column = pass_index * UNIT + lane * COLUMNS;
    let column_begin = i32(first_column) - pair.column_pad;
    let first_a_word = (pair.task.columns - pair.m) / 4u;
    let a_begin = pair.task.query_end_word - pair.task.columns / 4u;
    let tag = i32(left_tag);
    var a: array<u32, COLUMNS>;
    var v: array<i32, COLUMNS>;
    var f: array<i32, COLUMNS>;
    for (var c4 = 0u; c4 < COLUMNS4; c4++) {
        var word = 0u;
        if (first_column / 4u + c4 >= first_a_word) {
            word = query_words[a_begin + first_column / 4u + c4];
        }
        for (var q = 0u; q < 4u; q++) {
            a[c4 * 4u + q] = ((word >> (8u * q)) & 255u) * TABLE_STRIDE;
        }
    }
    var corner = border_at(column_begin, pair.row_pad);
    var sent = vec2<i32>(0);
    if (block == 0u) {
        for (var c = 0u; c < COLUMNS; c++) {
            v[c] = border_at(column_begin + i32(c) + 1, pair.row_pad);
            f[c] = NEG_INF;
        }
    } else {
        let state = state_of(pair, pass_index, block);
        for (var c4 = 0u; c4 < COLUMNS4; c4++) {
            let cells = load_border(state, c4);
            for (var q = 0u; q < 4u; q++) {
                v[c4 * 4u + q] = cells[0][q];
                f[c4 * 4u + q] = cells[1][q];
            }
        }
        let entered = load(state, STATE_QUADS - 1u);
        corner = entered.x;
        sent = entered.yz;
    }
    let before = border_of(pair, max(pass_index, 1u) - 1u);
    let behind = lane / 4u;
    let turn = 8u * (lane & 3u);
    let first_group = block * BLOCK_GROUPS;
    var word_before = target_word(pair.task, first_group - 1u - behind, pair.first_b_word, pair.b_begin);
    var word_ahead = target_word(pair.task, first_group - behind, pair.first_b_word, pair.b_begin);
    let ways = ArenaPart(pair.task.arena, pair.ways + lane, 1u);
    for (var turn_group = 0u; turn_group < BLOCK_GROUPS; turn_group++) {
        let group = first_group + turn_group;
        var symbols = (word_ahead << turn) | ((word_before >> 1u) >> (31u - turn));
        word_before = word_ahead;
        word_ahead = target_word(pair.task, group + 1u - behind, pair.first_b_word, pair.b_begin);
        var entering = border_words(pair, group);
        if (pass_index > 0u) {
            entering = load_border(before, min(group, pair.task.rows_words - 1u));
        }
        var near_0 = entering[0];
        var e_0 = entering[1];
        var words: array<vec4<u32>, WORDS>;
        for (var k = 0u; k < 4u; k++) {
            let received = from_left(sent, k);
            let code = symbols & 255u;
            symbols >>= 8u;
            // Four steps form a quad. Shifting avoids an index that is not constant, which would
            // put the array in memory.
            for (var w = 0u; w < WORDS; w++) {
                words[w] = vec4<u32>(words[w].yzw, 0u);
            }
            let row = group * 4u + k - lane;
            if (row < rows) {
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
                        let cell = directed(diagonal, v[c], near, e, f[c], substitution[a[c] + code], tag);
                        near = cell.v;
                        e = cell.e;
                        diagonal = v[c];
                        v[c] = near;
                        f[c] = cell.f;
                        word = (word >> BITS) | (cell.bits << (32u - BITS));
                    }
                    words[w].w = word;
                }
                if (END_OPENING && pass_index == 0u && i32(row) == pair.row_pad - 1) {
                    for (var c4 = 0u; c4 < COLUMNS4; c4++) {
                        for (var q = 0u; q < 4u; q++) {
                            let c = c4 * 4u + q;
                            v[c] -= select(0, params.border_opening, i32(first_column + c) == pair.column_pad - 1);
                        }
                    }
                    near = v[COLUMNS - 1u];
                }
                sent = vec2<i32>(near, e);
            }
            near_0 = near_0.yzwx;
            e_0 = e_0.yzwx;
        }
        store_directions(ways, turn_group * WORDS * LANES, LANES, words);
    }
}

// A cell in which the alignment may end, with its rank in the order of preference. Among the best
// cells, the alignment ends in the one with the least rank.
struct End {
    value: i32,
    order: u32,
    i: u32,
    j: u32,
}

fn better(one: End, other: End) -> End {
    if (other.value > one.value || (other.value == one.value && other.order < one.order)) {
        return other;
    }
    return one;
}

// Returns the pair's end cell and the value there, which are equal for all lanes of the team. If
// several ends are equally good, the corner takes precedence, and then the order of nw_traceback.
fn end_of(pair: Pair, turned: bool) -> End {
    let rows_words = pair.task.rows_words;
    let border = border_of(pair, pair.task.columns / UNIT - 1u);
    var found = End(load(border, (rows_words - 1u) * PLANES).w, 0u, pair.n, pair.m);
    if (!OWN_ENDS) {
        return found;
    }
    let below = ArenaPart(pair.task.arena, pair.below, 1u);
    for (var k = pair.lane + 1u; k <= pair.m; k += LANES) {
        let column = pair.m - k;
        var here = border_value(i32(pair.n));
        if (column > 0u) {
            let place = column - 1u + u32(pair.column_pad);
            here = load(below, place >> 2u)[place & 3u];
        }
        found = better(found, End(here + border_value(i32(k)), k + select(0u, pair.n, turned), pair.n, column));
    }
    for (var k = pair.lane + 1u; k <= pair.n; k += LANES) {
        let row = pair.n - k;
        var here = border_value(i32(pair.m));
        if (row > 0u) {
            let place = row - 1u + u32(pair.row_pad);
            here = load(border, (place >> 2u) * PLANES)[place & 3u];
        }
        found = better(found, End(here + border_value(i32(k)), k + select(pair.m, 0u, turned), row, pair.m));
    }
    for (var mask = 1u; mask < LANES; mask *= 2u) {
        let other = End(
            subgroupShuffleXor(found.value, mask), subgroupShuffleXor(found.order, mask),
            subgroupShuffleXor(found.i, mask), subgroupShuffleXor(found.j, mask));
        found = better(found, other);
    }
    return found;
}

// Returns the pass and the block of the traceback's current cell.
fn block_of(pair: Pair, i: u32, j: u32) -> vec2<u32> {
    let column = j - 1u + u32(pair.column_pad);
    let step = i - 1u + u32(pair.row_pad) + column % UNIT / COLUMNS;
    return vec2<u32>(column / UNIT, step / BLOCK_STEPS);
}

// Traces back through a block whose directions are stored, until it leaves the block.
fn trace_block(pair: Pair, place: vec2<u32>) {
    let ways = ArenaPart(pair.task.arena, pair.ways, 1u);
    var quad_at_hand = NO_QUAD;
    var at_hand = vec4<u32>(0u);
    while (trace_i > 0u && trace_j > 0u) {
        let column = trace_j - 1u + u32(pair.column_pad);
        let own_lane = column % UNIT / COLUMNS;
        let step = trace_i - 1u + u32(pair.row_pad) + own_lane;
        if (column / UNIT != place.x || step / BLOCK_STEPS != place.y) {
            break;
        }
        let quad = (step % BLOCK_STEPS / 4u * WORDS + column % COLUMNS / CELLS) * LANES + own_lane;
        if (quad != quad_at_hand) {
            quad_at_hand = quad;
            at_hand = read_quad(ways.arena, ways.begin + quad);
        }
        advance(at_hand[step & 3u] >> (32u - CELLS * BITS + (column % CELLS) * BITS));
    }
}

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
    @builtin(subgroup_id) sg_index: u32,
    @builtin(subgroup_size) sg_lanes: u32,
    @builtin(subgroup_invocation_id) sg_lane: u32,
) {
    let team = (sg_index * sg_lanes + sg_lane) / LANES;
    let lane = sg_lane % LANES;
    load_substitution(t, WG);

    loop {
        // Next task: by ticket (any workgroup may take any task, and none waits), or the task of
        // this workgroup.
        if (t == 0u) {
            wg_task = params.task_begin + workgroup.x;
            if (params.ticketed != 0u) {
                wg_task = params.task_begin + atomicAdd(&out.ticket, 1u);
            }
        }
        let task_index = workgroupUniformLoad(&wg_task);
        if (task_index >= params.task_count) {
            break;
        }

        // Phase 1: the pair. Spare teams repeat the last target.
        let task = tasks[task_index];
        let b = targets[task.first + min(team, task.count - 1u)];
        let passes = task.columns / UNIT;
        let groups = task.rows_words + LANES / 4u;
        let checkpoints = (groups - 1u) / BLOCK_GROUPS;
        let below = passes * task.rows_words * PLANES;
        let states = below + select(0u, task.columns / 4u, OWN_ENDS);
        let ways = states + select(0u, passes * checkpoints * STATE_QUADS * LANES, DIRECTIONS);
        let own_runs_begin = ways + select(0u, BLOCK_GROUPS * WORDS * LANES, DIRECTIONS);
        let quads = own_runs_begin + run_quads(task);
        let begin = workgroup.x % params.slots_an_arena * params.slot_quads + team * quads;
        // Only this copy depends on the team. Loop bounds come from `task`, which is uniform.
        var own_task = task;
        own_task.arena = workgroup.x / params.slots_an_arena;
        own_task.arena_begin = begin;
        pair_runs = ArenaPart(own_task.arena, begin + own_runs_begin, 1u);
        let pair = Pair(
            own_task, lane, task.query_symbols, b.symbols, i32(task.columns - task.query_symbols),
            i32(task.rows_words * 4u) - i32(b.symbols), task.rows_words - (b.symbols + 3u) / 4u, b.end_word - task.rows_words,
            checkpoints, begin + below, begin + states, begin + ways);

        // Phase 2: the sweep, or the passes of this dispatch.
        for (var pass_index = params.slice_begin; pass_index < min(passes, params.slice_end); pass_index++) {
            make_profile(task, pass_index, t);
            // Safe: lane 0 reads the last column that the last lane wrote only after this barrier.
            storageBarrier();
            sweep(pair, pass_index, groups);
        }
        storageBarrier();
        if (params.slice_end != LAST) {
            break;
        }

        // Phase 3: the value, and the end of the alignment.
        let turned = b.number < task.query_number;
        let end = end_of(pair, turned);
        let is_own = team < task.count;
        let pair_number = task.pairs_begin + team;
        if (is_own && lane == 0u) {
            out.data[3u * pair_number] = bitcast<u32>(end.value);
        }

        // Phase 4: the traceback, block by block.
        if (DIRECTIONS && params.traces_back != 0u) {
            start_traceback(end.i, end.j, pair.m, pair.n, turned);
            if (t == 0u) {
                atomicStore(&wg_left, 0u);
            }
            workgroupBarrier();
            loop {
                let stands = is_own && trace_i > 0u && trace_j > 0u;
                if (stands) {
                    atomicStore(&wg_left, 1u);
                }
                workgroupBarrier();
                if (t == 0u) {
                    wg_continues = atomicLoad(&wg_left);
                }
                if (workgroupUniformLoad(&wg_continues) == 0u) {
                    break;
                }
                var place = vec2<u32>(0u);
                if (stands) {
                    place = block_of(pair, trace_i, trace_j);
                }
                recompute_block(pair, place.x, place.y);
                storageBarrier();
                if (stands && lane == 0u) {
                    trace_block(pair, place);
                }
                if (t == 0u) {
                    atomicStore(&wg_left, 0u);
                }
                // Safe: the other lanes wait here for the traceback, so that all lanes take part in
                // the shuffles.
                workgroupBarrier();
                let first_lane = sg_lane - lane;
                trace_i = subgroupShuffle(trace_i, first_lane);
                trace_j = subgroupShuffle(trace_j, first_lane);
            }

            // Phase 5: copies the runs to a part of the output that has exactly their size.
            var at = NO_INDEX;
            var words = 0u;
            if (is_own && lane == 0u) {
                let kept_count = end_traceback(pair.m, pair.n);
                at = place_runs(pair_number, pair.m, pair.n, kept_count);
                words = (kept_count + 1u) / 2u;
            }
            storageBarrier();
            at = subgroupShuffle(at, sg_lane - lane);
            words = subgroupShuffle(words, sg_lane - lane);
            if (at != NO_INDEX) {
                for (var k = lane; 4u * k < words; k += LANES) {
                    copy_runs(k, words, at);
                }
            }
        }
        if (params.ticketed == 0u) {
            break;
        }
    }
}
