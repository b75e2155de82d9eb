// Local scores of queries against targets, where LANES lanes share each pair. A lane keeps COLUMNS
// columns in registers while the target's symbols pass through them. It is one row behind its left
// neighbour, so that one exchange per row passes the border between them. Queries are placed one
// after another, and each starts in a new lane. Their columns are divided into passes of LANES
// lanes: a pass can contain the last lanes of one query and the first of the next. In half floats
// two pairs are computed together: two chains of queries with one target, or one chain with two
// targets.
// Recurrence: H is kept only as g = H - first (first, next: costs of a gap's first and further
//             symbols). The table contains s + first, so that g + table is H + s:
//               t = max(0, g[i-1,j-1] + table[b[i],a[j]])
//               H = max(t, F[i,j], E[i,j])
//               g = H - first
//               E[i,j+1] = max(E[i,j] - next, g)
//               F[i+1,j] = max(F[i,j] - next, g)
//             With linear gaps E[i,j+1] = F[i+1,j] = g. The score is the greatest t, because a best
//             alignment ends with a match.
// Layout:     profile[code * ROW_LOADS + load * LANES + lane] contains the scores of a code in the
//             load-th LOAD columns of a lane. Lanes that load at once use neighbouring banks,
//             regardless of their codes.
//             scratch of a slot, if there are passes: for each of `slot_borders` targets (or two
//             targets that are computed together) the border that leaves a pass, with `slot_rows`
//             entries (g and E), two per vector. If rows are computed in blocks (SPLIT), each
//             invocation also stores its columns (h and F), its corner and its best value, one
//             vector each.
//             out.data: a status word per task; from values_begin on a score per pair; from
//             list_begin on (pair, score) of the pairs that reach the floor of their query, if
//             there are floors. A floor is the lowest score of interest.
// Invariant:  before step s, lane l has computed its rows up to s - l - 1. Rows outside the target
//             are padding, which raises no H, so that a step needs no test. With SPLIT a test is
//             needed, because the columns must stay unchanged.
// Bounds:     if only pairs that reach a floor are requested (BOUNDED), the best value is updated
//             once per GROUP columns instead of once per column. E after the last column of a group
//             is at least g of each of them minus (GROUP - 1) * next, and at most the greatest g.
//             Therefore E + first is a lower bound of the score, too low by at most (GROUP - 1) *
//             next (linear gaps: first). The host lowers the floors by that much, and recomputes
//             the listed pairs.
// Constants:  LANES (a multiple of 4), COLUMNS (a multiple of 4), GROUP (divides COLUMNS, a
//             multiple of LOAD), ROW_LOADS (distance of codes in the profile; an odd multiple of
//             LANES if two or more pairs load at once), CODES, OPENING and EXTENSION (costs of a
//             gap's first symbol and of each further one), AFFINE, BOUNDED, PASSES, SPLIT.

struct Params {
    // The dispatch computes tasks task_begin .. task_end. Without tickets, slot k computes task
    // task_begin + k.
    task_begin: u32,
    task_end: u32,
    // Ticketed dispatches compute whole tasks. Other dispatches compute blocks of rows of passes:
    // workgroup k of a task (of `passes`) computes block `diagonal` - k of pass k. The columns of
    // `kept_passes` passes are kept at once.
    ticketed: u32,
    passes: u32,
    diagonal: u32,
    block_words: u32,
    kept_passes: u32,
    // Scratch memory: rows per border, borders per slot, vectors per slot.
    slot_rows: u32,
    slot_borders: u32,
    slot_vectors: u32,
    // Start of the values and of the list in out.data.
    values_begin: u32,
    list_begin: u32,
    // Whether there are floors.
    floors: u32,
}

struct Task {
    // Passes of the task: parts[parts_begin ..]. In each pass every lane has QUERIES parts, lane by
    // lane.
    parts_begin: u32,
    passes: u32,
    // The targets are targets[first .. first + count].
    first: u32,
    count: u32,
    // Number of earlier targets of the same queries.
    before: u32,
    // Words of four rows of the longest target.
    words: u32,
}

// The columns of a query that a lane computes in a pass.
struct LanePart {
    // Word just past the query's last symbol, and number of words of the query.
    end_word: u32,
    words: u32,
    // Number of words from the first of these columns to the query's end. If it exceeds the number
    // of words of the query, the columns start with padding.
    words_left: u32,
    // Index of the first pair among all pairs.
    pairs_begin: u32,
    // Lowest score that is listed.
    floor: i32,
    // Flags. EXISTS: the part exists. BEGIN, END: it contains the query's first or last columns.
    // FIRST: the query starts in this pass.
    state: u32,
}

struct Target {
    end_word: u32,
    symbols: u32,
    number: u32,
}

struct Output {
    ticket: atomic<u32>,
    listed: atomic<u32>,
    reserved0: u32,
    reserved1: u32,
    data: array<u32>,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> query_words: array<u32>;
@group(0) @binding(2) var<storage, read> target_words: array<u32>;
@group(0) @binding(3) var<storage, read> targets: array<Target>;
@group(0) @binding(4) var<storage, read> tasks: array<Task>;
@group(0) @binding(5) var<storage, read> table: array<i32>;
@group(0) @binding(6) var<storage, read_write> scratch: array<vec4<i32>>;
@group(0) @binding(7) var<storage, read_write> out: Output;
@group(0) @binding(8) var<storage, read> parts: array<LanePart>;

override WG: u32 = 64u;

const TASK_DONE: u32 = 1u;
const EXISTS: u32 = 1u;
const BEGIN: u32 = 2u;
const FIRST: u32 = 4u;
const END: u32 = 8u;
// Number of columns whose scores are loaded together.
const LOAD: u32 = 4u;
const LOADS: u32 = COLUMNS / LOAD;

var<workgroup> profile: array<V, CODES * ROW_LOADS>;
// Four symbols of each of the two queries, in the order of lanes and of the loads of a lane.
var<workgroup> pass_words: array<vec2<u32>, LANES * LOADS>;
var<workgroup> wg_task: u32;

// Returns four symbols of each target, or 0 after its end. Indices before the first word wrap
// around, so they are beyond every end.
fn target_words_at(begin_words: vec2<u32>, counts: vec2<u32>, word: u32) -> vec2<u32> {
    var words = vec2<u32>(0u);
    if (word < counts.x) {
        words.x = target_words[begin_words.x + word];
    }
    if (TARGETS == 2u && word < counts.y) {
        words.y = target_words[begin_words.y + word];
    }
    return words;
}

// Returns the part of a lane in the pass whose parts start at `pass_parts`.
fn lane_part(pass_parts: u32, lane: u32, which: u32) -> LanePart {
    var part = LanePart();
    if (which < QUERIES) {
        part = parts[pass_parts + lane * QUERIES + which];
    }
    return part;
}

// Returns four symbols of a lane's columns.
fn query_word(part: LanePart, word: u32) -> u32 {
    var symbols = 0u;
    let left = part.words_left - word;
    if ((part.state & EXISTS) != 0u && left <= part.words) {
        symbols = query_words[part.end_word - left];
    }
    return symbols;
}

// Fills the profile of a pass with the scores of every code in its columns. Starts and ends with a
// barrier: all invocations of the workgroup must call it.
fn make_profile(pass_parts: u32, t: u32) {
    // Safe: values that the last lanes wrote in the previous pass are read by the first lanes from
    // here on.
    storageBarrier();
    workgroupBarrier();
    for (var p = t; p < LANES * LOADS; p += WG) {
        let one = lane_part(pass_parts, p / LOADS, 0u);
        let two = lane_part(pass_parts, p / LOADS, 1u);
        pass_words[p] = vec2<u32>(query_word(one, p % LOADS), query_word(two, p % LOADS));
    }
    // Safe: each word was written by one invocation before this barrier, and is only read until the
    // next pass.
    workgroupBarrier();
    for (var p = t; p < CODES * LANES * LOADS; p += WG) {
        let code = p / (LANES * LOADS);
        let load = p % (LANES * LOADS);
        profile[code * ROW_LOADS + load % LOADS * LANES + load / LOADS] = scores_of(code * CODES, pass_words[load]);
    }
    // Safe: each entry was written by one invocation before this barrier, and is only read until
    // the next pass.
    workgroupBarrier();
}

// Computes a pass of one pair (in half floats: two) over `lane` and its neighbours. Returns the
// greatest t of the lane's columns.
// `begin_words` and `counts`: first word and number of words of the rows of each target.
// `left_mask`: bits of the left border that enter. In the first lane they come from the border in
// scratch at `first_border`. The last lane stores its border there if `has_right`.
// `kept`: index of the values that this invocation keeps between blocks of rows. It loads them if
// `goes_on`.
// All invocations that exchange values must call it, with the same number of `steps` of four rows.
fn scan(
    begin_words: vec2<u32>,
    counts: vec2<u32>,
    first_border: u32,
    left_mask: i32,
    has_right: bool,
    kept: u32,
    goes_on: bool,
    lane: u32,
    steps: u32,
) -> S {
    let opening = number(-i32(OPENING));
    let extension = number(-i32(EXTENSION));
    let count = max(counts.x, counts.y);
    var h: array<S, COLUMNS>;
    var f: array<S, COLUMNS>;
    for (var c = 0u; c < COLUMNS; c++) {
        h[c] = opening;
        if (AFFINE) {
            f[c] = opening;
        }
    }
    var corner = opening;
    var best = S_ZERO;
    if (BOUNDED) {
        best = opening;
    }
    if (SPLIT && goes_on) {
        for (var c = 0u; c < COLUMNS; c++) {
            let entry = unpacked(scratch[kept + c].xy);
            h[c] = g_of(entry);
            if (AFFINE) {
                f[c] = e_of(entry);
            }
        }
        let entry = unpacked(scratch[kept + COLUMNS].xy);
        corner = g_of(entry);
        best = e_of(entry);
    }
    // Lane l is l rows behind. The delay consists of whole words, and a rest in symbols.
    let behind = (lane + 3u) / 4u;
    let shift = 8u * ((0u - lane) & 3u);
    var near = target_words_at(begin_words, counts, 0u - behind);
    var ahead = target_words_at(begin_words, counts, 1u - behind);
    let enters = PASSES && lane == 0u && left_mask != 0;
    let leaves = PASSES && lane == LANES - 1u && has_right;
    // Borders of four rows. In the first lane they are the entering borders, starting with the next
    // row. In the last lane they are the borders that have left, ending with the last row.
    let outside = packed(B_of(opening, opening));
    let outside_left = outside & vec2<i32>(~left_mask);
    var borders = array<vec2<i32>, 4>(outside, outside, outside, outside);
    if (enters && count > 0u) {
        let one = scratch[first_border];
        let two = scratch[first_border + 1u];
        borders = array<vec2<i32>, 4>(one.xy, one.zw, two.xy, two.zw);
    }
    var sent = outside;
    for (var step = 0u; step < steps; step++) {
        let far = target_words_at(begin_words, counts, step + 2u - behind);
        var symbols = near;
        if (shift > 0u) {
            symbols = (near >> vec2<u32>(shift)) | (ahead << vec2<u32>(32u - shift));
        }
        near = ahead;
        ahead = far;
        // Borders that enter in the next four rows, loaded one step in advance.
        var one = vec4<i32>(outside, outside);
        var two = one;
        if (enters && step + 1u < count) {
            one = scratch[first_border + 2u * step + 2u];
            two = scratch[first_border + 2u * step + 3u];
        }
        for (var k = 0u; k < 4u; k++) {
            var left = from_left(sent, step * 4u + k);
            if (lane == 0u) {
                left = borders[0];
            }
            left = (left & vec2<i32>(left_mask)) | outside_left;
            let row = step * 4u + k - lane;
            if (!SPLIT || row < 4u * count) {
                let profile_rows = ((symbols >> vec2<u32>(8u * k)) & vec2<u32>(255u)) * ROW_LOADS + lane;
                let entering = unpacked(left);
                var diagonal = corner;
                var g = g_of(entering);
                var e = e_of(entering);
                corner = g;
                for (var group = 0u; group < COLUMNS / GROUP; group++) {
                    for (var load = 0u; load < GROUP / LOAD; load++) {
                        let scores = loaded(profile_rows + (group * (GROUP / LOAD) + load) * LANES);
                        for (var q = 0u; q < LOAD; q++) {
                            let c = group * GROUP + load * LOAD + q;
                            let t = floored(diagonal, column_of(scores, q));
                            if (!BOUNDED) {
                                best = max(best, t);
                            }
                            diagonal = h[c];
                            if (AFFINE) {
                                let x = max(later_max(t, f[c]), e);
                                g = x + opening;
                                e = max(e + extension, g);
                                f[c] = max(f[c] + extension, g);
                            } else {
                                g = max(later_max(t, diagonal), g) + opening;
                            }
                            h[c] = g;
                        }
                    }
                    if (!AFFINE) {
                        e = g;
                    }
                    if (BOUNDED) {
                        best = max(best, e);
                    }
                }
                sent = packed(B_of(g, e));
            }
            if (PASSES) {
                borders = array<vec2<i32>, 4>(borders[1], borders[2], borders[3], sent);
                // The last lane is LANES - 1 rows behind, so it finishes four rows here.
                let word = step - LANES / 4u;
                if (k == 2u && leaves && word < count) {
                    // Safe: the first lane has read the border of these rows before they are
                    // replaced.
                    scratch[first_border + 2u * word] = vec4<i32>(borders[0], borders[1]);
                    scratch[first_border + 2u * word + 1u] = vec4<i32>(borders[2], borders[3]);
                }
            }
        }
        if (PASSES && lane == 0u) {
            borders = array<vec2<i32>, 4>(one.xy, one.zw, two.xy, two.zw);
        }
    }
    if (SPLIT) {
        for (var c = 0u; c < COLUMNS; c++) {
            var kept_f = opening;
            if (AFFINE) {
                kept_f = f[c];
            }
            scratch[kept + c] = vec4<i32>(packed(B_of(h[c], kept_f)), 0, 0);
        }
        scratch[kept + COLUMNS] = vec4<i32>(packed(B_of(corner, best)), 0, 0);
    }
    return best;
}

// Returns the greatest value of a pair's lanes up to this one. The bits of each lane's `left_mask`
// select the lanes that receive values from the left.
fn highest(value: S, left_mask: i32, lane: u32) -> vec2<i32> {
    var best = rounded(value);
    let joins = vec2<bool>((left_mask & 65535) != 0, (left_mask & -65536) != 0) & vec2<bool>(lane > 0u);
    // One exchange more than needed makes their number even, because the two halves of workgroup
    // memory alternate.
    for (var step = 0u; step < LANES; step++) {
        let left = from_left(best, step);
        best = max(best, select(best, left, joins));
    }
    return best;
}

// Stores a pair's score (or its lower bound) in the lane where the query ends in this pass. The
// score is the greater of this pass's `best` and the value of earlier passes. Lists the pair if
// these were the query's last columns and the score reaches the floor. Does nothing if `is_none`.
// All lanes must run this function to its end. With an early return of lanes without a pair, some
// scores of sw_tile_half_targets on NVIDIA lacked the values of the lanes to the left, as if the
// compiler had moved the last exchange behind the return.
fn keep(part: LanePart, is_none: bool, lane: u32, target_index: u32, best: i32) {
    let is_last = (part.state & END) != 0u;
    let keeps = !is_none && (part.state & EXISTS) != 0u && (is_last || lane == LANES - 1u);
    let pair = part.pairs_begin + target_index;
    let at = params.values_begin + pair;
    var value = best;
    if (BOUNDED) {
        value += i32(OPENING);
    }
    if (keeps && (part.state & FIRST) == 0u) {
        value = max(value, bitcast<i32>(out.data[at]));
    }
    if (keeps) {
        out.data[at] = bitcast<u32>(value);
    }
    if (keeps && is_last && params.floors != 0u && value >= part.floor) {
        let entry = params.list_begin + 2u * atomicAdd(&out.listed, 1u);
        out.data[entry] = pair;
        out.data[entry + 1u] = bitcast<u32>(value);
    }
}

// Returns whether the query has columns to the left of this part.
fn has_left(part: LanePart) -> bool {
    return (part.state & (EXISTS | BEGIN)) == EXISTS;
}

// Returns whether the query has columns to the right of this part.
fn goes_right(part: LanePart) -> bool {
    return (part.state & (EXISTS | END)) == EXISTS;
}

// Returns the first word and the number of words of a target's rows within a range of words. Groups
// of lanes without a target get no words.
fn rows_in_range(task: Task, index: u32, word_begin: u32, word_end: u32) -> vec2<u32> {
    if (index >= task.count) {
        return vec2<u32>(0u);
    }
    let row_target = targets[task.first + index];
    let words = (row_target.symbols + 3u) / 4u;
    let begin = min(word_begin, words);
    return vec2<u32>(row_target.end_word - words + begin, min(word_end, words) - begin);
}

// Computes the tasks of a workgroup. `place` is the index of the invocation in the workgroup, such
// that invocations that exchange values have neighbouring indices.
fn run_tasks(workgroup: u32, place: u32, t: u32) {
    let lane = place % LANES;
    let team = place / LANES;
    let teams = WG / LANES;
    let is_ticketed = params.ticketed != 0u;
    let slot = select(workgroup / params.passes, workgroup, is_ticketed);
    let slot_begin = slot * params.slot_vectors;
    let kept_begin = slot_begin + params.slot_borders * (params.slot_rows / 2u);
    loop {
        // Takes the next task by ticket, or the task of this slot. With tickets, any workgroup may
        // take any task, and no workgroup waits.
        if (t == 0u) {
            wg_task = params.task_begin + slot;
            if (is_ticketed) {
                wg_task = params.task_begin + atomicAdd(&out.ticket, 1u);
            }
        }
        let task_index = workgroupUniformLoad(&wg_task);
        if (task_index >= params.task_end) {
            break;
        }
        let task = tasks[task_index];
        let turns = (task.count + teams * TARGETS - 1u) / (teams * TARGETS);
        var pass_begin = 0u;
        var pass_end = task.passes;
        var word_begin = 0u;
        var word_end = task.words;
        if (!is_ticketed) {
            pass_begin = workgroup % params.passes;
            pass_end = min(pass_begin + 1u, task.passes);
            // Safe: the previous pass computed these rows in an earlier dispatch.
            let block = params.diagonal - pass_begin;
            word_begin = block * params.block_words;
            if (params.diagonal < pass_begin || (word_begin >= task.words && block > 0u)) {
                pass_end = pass_begin;
            }
            word_end = min(word_begin + params.block_words, task.words);
        }
        for (var pass_index = pass_begin; pass_index < pass_end; pass_index++) {
            let pass_parts = task.parts_begin + pass_index * LANES * QUERIES;
            make_profile(pass_parts, t);
            let one = lane_part(pass_parts, lane, 0u);
            let two = lane_part(pass_parts, lane, 1u);
            let left_mask = border_mask(has_left(one), has_left(two));
            let has_right = goes_right(one) || goes_right(two);
            let kept = kept_begin + (pass_index % params.kept_passes * WG + place) * (COLUMNS + 1u);
            for (var turn = 0u; turn < turns; turn++) {
                let place_of_slot = turn * teams + team;
                let index = place_of_slot * TARGETS;
                let a = rows_in_range(task, index, word_begin, word_end);
                var b = vec2<u32>(0u);
                if (TARGETS == 2u) {
                    b = rows_in_range(task, index + 1u, word_begin, word_end);
                }
                let counts = vec2<u32>(a.y, b.y);
                let count = max(a.y, b.y);
                let steps = common_steps(count, word_end - word_begin) + (LANES + 2u) / 4u;
                let border = slot_begin + place_of_slot * (params.slot_rows / 2u) + 2u * word_begin;
                let lane_best = scan(
                    vec2<u32>(a.x, b.x), counts, border, left_mask, has_right, kept, word_begin > 0u, lane, steps);
                let best = highest(lane_best, left_mask, lane);
                // The parts are loaded again, because keeping them during a scan would cost
                // registers.
                let first = lane_part(pass_parts, lane, 0u);
                let is_none = word_end < task.words || index >= task.count;
                keep(first, is_none, lane, task.before + index, best.x);
                if (TARGETS == 2u) {
                    keep(first, is_none || index + 1u >= task.count, lane, task.before + index + 1u, best.y);
                }
                if (QUERIES == 2u) {
                    keep(lane_part(pass_parts, lane, 1u), is_none, lane, task.before + index, best.y);
                }
            }
        }
        if (t == 0u && pass_begin < pass_end && pass_end == task.passes && word_end >= task.words) {
            out.data[task_index] = TASK_DONE;
        }
        if (!is_ticketed) {
            break;
        }
    }
}
