// Local scores of queries against targets, each pair over LANES lanes: a lane keeps COLUMNS columns in registers, the target's
// symbols stream through them, and a lane is one row behind its left neighbour, so that the border between them has arrived by
// one exchange a row. Queries lie one after the other, each from a lane of its own on, and so many columns in passes of LANES lanes:
// a pass has the last lanes of one, the first of another. In halves two pairs are computed together: of two such chains of queries
// with one target, or of one with two targets.
// Recurrence: with g = H - first, the only form of H that is kept (first, next: costs of a gap's symbols; the table holds
//             s + first, so that g + table is H + s)
//               t = max(0, g[i-1,j-1] + table[b[i],a[j]])        H = max(t, F[i,j], E[i,j])        g = H - first
//               E[i,j+1] = max(E[i,j] - next, g)                 F[i+1,j] = max(F[i,j] - next, g)
//             and under linear gaps E[i,j+1] = F[i+1,j] = g. The score is the greatest t, as a best alignment ends with a match.
// Layout:     profile[code * ROW_LOADS + load * LANES + lane] holds what a code scores in the load-th LOAD columns of a lane: lanes
//             that load at once do so from banks side by side, whatever codes they have.
//             scratch of a slot, if there are passes: for each of `slot_borders` targets (or two that are computed together) the border that leaves a pass, an entry
//             (g and E) a row, `slot_rows` of them, two a vector; then, if rows come in parts (SPLIT), for each invocation its
//             columns (h and F), its corner and its best, a vector each.
//             out.data: a status word a task; from values_begin on a score a pair; from list_begin on (pair, score) of those that
//             reach their query's floor, if there are floors.
// Invariant:  before step s a lane l has made its rows up to s - l - 1; a row outside the target is one of padding, which lifts no
//             H: nothing has to be asked in a step. (In parts it is asked, as columns have to be what they were.)
// Bounds:     where only pairs that reach a floor are asked for (BOUNDED), the best is looked at once in GROUP columns and not in
//             each: E after the last of them is at least g of any of them less (GROUP - 1) * next, and at most the greatest g. So
//             E + first is a score's lower bound, too low by (GROUP - 1) * next at most (linear gaps: first). The host asks for that
//             much less, and has those that are listed computed again.
// Constants:  LANES (a multiple of 4), COLUMNS (likewise), GROUP (divides COLUMNS, a multiple of LOAD), ROW_LOADS (distance of codes
//             in the profile; an odd multiple of LANES where two pairs or more load at once), CODES, OPENING and EXTENSION (costs of a gap's
//             first symbol and of each further one), AFFINE, BOUNDED, PASSES, SPLIT.

struct Params {
    // Tasks task_begin .. task_end are to do; without tickets slot k does task task_begin + k.
    task_begin: u32,
    task_end: u32,
    // Ticketed dispatches do all of every task. Others do blocks of rows of passes: the k-th workgroup of a task (of `passes`) block
    // `diagonal` - k of pass k. Of as many passes at once columns are kept as `kept_passes` says.
    ticketed: u32,
    passes: u32,
    diagonal: u32,
    block_words: u32,
    kept_passes: u32,
    // Of scratch: rows of a border, borders of a slot, vectors of a slot.
    slot_rows: u32,
    slot_borders: u32,
    slot_vectors: u32,
    // Of out.data.
    values_begin: u32,
    list_begin: u32,
    // Whether floors are asked for.
    floors: u32,
}

struct Task {
    // Its passes: parts[parts_begin ..], in each pass QUERIES for a lane, lane by lane.
    parts_begin: u32,
    passes: u32,
    // Targets: targets[first .. first + count].
    first: u32,
    count: u32,
    // Targets before these of which the queries have pairs.
    before: u32,
    // Words of rows of the longest target.
    words: u32,
}

// What a lane has in a pass: columns of a query.
struct Part {
    // Word just past the query's last symbol, and how many words it has.
    end_word: u32,
    words: u32,
    // Words from these columns' first to the query's end. If there are more than the query has, they begin with padding.
    words_left: u32,
    // Index of its first pair among all pairs.
    pairs_begin: u32,
    // Least score that is listed.
    floor: i32,
    // THERE: there are any. BEGIN, END: they are the query's first, its last. FIRST: it begins in this pass.
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
@group(0) @binding(8) var<storage, read> parts: array<Part>;

override WG: u32 = 64u;

const TASK_DONE: u32 = 1u;
const THERE: u32 = 1u;
const BEGIN: u32 = 2u;
const FIRST: u32 = 4u;
const END: u32 = 8u;
// Columns whose scores come in one load.
const LOAD: u32 = 4u;
const LOADS: u32 = COLUMNS / LOAD;

var<workgroup> profile: array<V, CODES * ROW_LOADS>;
// Four symbols of the queries each, load by load of a lane, lane by lane.
var<workgroup> pass_words: array<vec2<u32>, LANES * LOADS>;
var<workgroup> wg_task: u32;

// Four symbols of the target, or of both: 0 where they have no more. (Words before the first wrap around, which is beyond every
// end.)
fn target_words_at(begin_words: vec2<u32>, counts: vec2<u32>, word: u32) -> vec2<u32> {
    var found = vec2<u32>(0u);
    if (word < counts.x) {
        found.x = target_words[begin_words.x + word];
    }
    if (TARGETS == 2u && word < counts.y) {
        found.y = target_words[begin_words.y + word];
    }
    return found;
}

// A lane's part of the pass whose parts begin there.
fn part_of(pass_parts: u32, lane: u32, which: u32) -> Part {
    var part = Part();
    if (which < QUERIES) {
        part = parts[pass_parts + lane * QUERIES + which];
    }
    return part;
}

// Four symbols of a lane's columns.
fn query_word(part: Part, word: u32) -> u32 {
    var found = 0u;
    let left = part.words_left - word;
    if ((part.state & THERE) != 0u && left <= part.words) {
        found = query_words[part.end_word - left];
    }
    return found;
}

// Makes the profile of a pass: what every code scores in its columns. Begins and ends with a barrier: to be called by all
// invocations of the workgroup.
fn make_profile(pass_parts: u32, t: u32) {
    // Safe: what last lanes wrote in the pass before is the first lanes' from here on.
    storageBarrier();
    workgroupBarrier();
    for (var p = t; p < LANES * LOADS; p += WG) {
        let one = part_of(pass_parts, p / LOADS, 0u);
        let two = part_of(pass_parts, p / LOADS, 1u);
        pass_words[p] = vec2<u32>(query_word(one, p % LOADS), query_word(two, p % LOADS));
    }
    // Safe: each was written by one invocation before this barrier and is only read until the next pass's.
    workgroupBarrier();
    for (var p = t; p < CODES * LANES * LOADS; p += WG) {
        let code = p / (LANES * LOADS);
        let load = p % (LANES * LOADS);
        profile[code * ROW_LOADS + load % LOADS * LANES + load / LOADS] = scores_of(code * CODES, pass_words[load]);
    }
    // Safe: likewise.
    workgroupBarrier();
}

// A pass of one pair (of halves: two) over `lane` and its neighbours: the greatest t of the lane's columns. Of the target (of two:
// of each) `counts` words of rows from `begin_words` on. Of what comes from the left the bits of `left_mask` enter, of the first lane
// from the border in scratch, which is at `first_border`; the last lane's goes there if it `has_right`. `kept`: where what this
// invocation keeps is, which it finds there if it `goes_on`. To be called by all invocations that exchange, with as many `steps` of four rows.
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
    // Lane l is l rows behind: that many words, and the rest in symbols.
    let behind = (lane + 3u) / 4u;
    let shift = 8u * ((0u - lane) & 3u);
    var near = target_words_at(begin_words, counts, 0u - behind);
    var ahead = target_words_at(begin_words, counts, 1u - behind);
    let enters = PASSES && lane == 0u && left_mask != 0;
    let leaves = PASSES && lane == LANES - 1u && has_right;
    // The borders of four rows: of the first lane those that enter, the next row's first; of the last lane those that have left,
    // the last row's last.
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
        // What enters in the next four rows, a step before it is asked for.
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
                // The last lane is LANES - 1 rows behind, so that it ends four rows here.
                let word = step - LANES / 4u;
                if (k == 2u && leaves && word < count) {
                    // Safe: the first lane read the border of these rows before they are replaced.
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

// The greatest value of a pair's lanes up to this one: of those from which something comes to it from the left, by the bits of each
// lane's `left_mask`.
fn highest(value: S, left_mask: i32, lane: u32) -> vec2<i32> {
    var best = rounded(value);
    let joins = vec2<bool>((left_mask & 65535) != 0, (left_mask & -65536) != 0) & vec2<bool>(lane > 0u);
    // One exchange more than is needed: an even number, as exchanges through workgroup memory take turns.
    for (var step = 0u; step < LANES; step++) {
        let left = from_left(best, step);
        best = max(best, select(best, left, joins));
    }
    return best;
}

// Keeps a pair's score (or its lower bound) where the query ends for now, the greater of this pass's `best` and those of passes
// before; lists it, if these were its last columns and it reaches the floor. Of no pair if it `is_none`. (All lanes come this way to
// its end. Where those without a pair returned at once, a few scores of sw_tile_half_targets on NVIDIA lacked what the lanes to the left
// had, as if the last exchange had moved to where these no longer were.)
fn keep(part: Part, is_none: bool, lane: u32, place: u32, best: i32) {
    let is_last = (part.state & END) != 0u;
    let keeps = !is_none && (part.state & THERE) != 0u && (is_last || lane == LANES - 1u);
    let pair = part.pairs_begin + place;
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

// Whether a query has columns left of those of this part.
fn has_left(part: Part) -> bool {
    return (part.state & (THERE | BEGIN)) == THERE;
}

// Whether it has columns right of them.
fn goes_right(part: Part) -> bool {
    return (part.state & (THERE | END)) == THERE;
}

// First word and number of words of a target's rows, as far as they lie in a range; none of spare teams.
fn own_rows(task: Task, index: u32, word_begin: u32, word_end: u32) -> vec2<u32> {
    if (index >= task.count) {
        return vec2<u32>(0u);
    }
    let own = targets[task.first + index];
    let words = (own.symbols + 3u) / 4u;
    let begin = min(word_begin, words);
    return vec2<u32>(own.end_word - words + begin, min(word_end, words) - begin);
}

// Does the tasks of a workgroup; `place`: of the invocation among those of the workgroup, such that those that exchange lie side by
// side.
fn run_tasks(workgroup: u32, place: u32, t: u32) {
    let lane = place % LANES;
    let team = place / LANES;
    let teams = WG / LANES;
    let is_ticketed = params.ticketed != 0u;
    let slot = select(workgroup / params.passes, workgroup, is_ticketed);
    let slot_begin = slot * params.slot_vectors;
    let kept_begin = slot_begin + params.slot_borders * (params.slot_rows / 2u);
    loop {
        // Next task: by ticket (any workgroup may take any task; nobody waits), or the one that this slot owns.
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
            // Safe: the pass before did these rows in a dispatch before.
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
            let one = part_of(pass_parts, lane, 0u);
            let two = part_of(pass_parts, lane, 1u);
            let left_mask = border_mask(has_left(one), has_left(two));
            let has_right = goes_right(one) || goes_right(two);
            let kept = kept_begin + (pass_index % params.kept_passes * WG + place) * (COLUMNS + 1u);
            for (var turn = 0u; turn < turns; turn++) {
                let place_of_slot = turn * teams + team;
                let index = place_of_slot * TARGETS;
                let a = own_rows(task, index, word_begin, word_end);
                var b = vec2<u32>(0u);
                if (TARGETS == 2u) {
                    b = own_rows(task, index + 1u, word_begin, word_end);
                }
                let counts = vec2<u32>(a.y, b.y);
                let count = max(a.y, b.y);
                let steps = common_steps(count, word_end - word_begin) + (LANES + 2u) / 4u;
                let border = slot_begin + place_of_slot * (params.slot_rows / 2u) + 2u * word_begin;
                let lane_best = scan(
                    vec2<u32>(a.x, b.x), counts, border, left_mask, has_right, kept, word_begin > 0u, lane, steps);
                let best = highest(lane_best, left_mask, lane);
                // Parts are read again, as they would take registers in a scan.
                let first = part_of(pass_parts, lane, 0u);
                let is_none = word_end < task.words || index >= task.count;
                keep(first, is_none, lane, task.before + index, best.x);
                if (TARGETS == 2u) {
                    keep(first, is_none || index + 1u >= task.count, lane, task.before + index + 1u, best.y);
                }
                if (QUERIES == 2u) {
                    keep(part_of(pass_parts, lane, 1u), is_none, lane, task.before + index, best.y);
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
