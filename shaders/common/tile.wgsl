// Local scores of a query (of halves: two queries) against targets, each pair over LANES lanes: a lane keeps COLUMNS columns in
// registers, the target's symbols stream through them, and a lane is one row behind its left neighbour, so that the border
// between them has arrived by one exchange a row. More than LANES * COLUMNS columns come in passes.
// Recurrence: with g = H - first, the only form of H that is kept (first, next: costs of a gap's symbols; the table holds
//             s + first, so that g + table is H + s)
//               t = max(0, g[i-1,j-1] + table[b[i],a[j]])        H = max(t, F[i,j], E[i,j])        g = H - first
//               E[i,j+1] = max(E[i,j] - next, g)                 F[i+1,j] = max(F[i,j] - next, g)
//             and under linear gaps E[i,j+1] = F[i+1,j] = g. The score is the greatest t, as a best alignment ends with a match.
// Layout:     scratch of a slot, if there are passes: for each of `slot_targets` targets the border that leaves a pass, an entry
//             (g and E) a row, `slot_rows` of them; then, if rows come in parts (SPLIT), for each invocation its columns (h and F),
//             its corner and its best.
//             out.data: a status word a task; from values_begin on a score a pair; from list_begin on (pair, score) of those that
//             reach their query's floor, if there are floors.
// Invariant:  before step s a lane l has made its rows up to s - l - 1; a row outside the target is one of padding, which lifts no
//             H: nothing has to be asked in a step. (In parts it is asked, as columns have to be what they were.)
// Constants:  LANES, COLUMNS (a multiple of 4), LANE_LOADS and ROW_LOADS (distances of lanes and of codes in the profile, such that
//             lanes of the same code, or of any codes, are in different banks), CODES, AFFINE, PASSES, SPLIT.

struct Params {
    // Tasks task_begin .. task_end are to do; without tickets slot k does task task_begin + k.
    task_begin: u32,
    task_end: u32,
    // Passes to do in this dispatch, and words of rows of them; ticketed dispatches do all of every task.
    pass_begin: u32,
    pass_end: u32,
    word_begin: u32,
    word_end: u32,
    ticketed: u32,
    // Costs of a gap's first symbol and of each further one.
    first: i32,
    next: i32,
    // Of scratch: rows of a target, targets of a slot, entries of a slot.
    slot_rows: u32,
    slot_targets: u32,
    slot_entries: u32,
    // Of out.data.
    values_begin: u32,
    list_begin: u32,
    // Whether floors are asked for.
    floors: u32,
    spare: u32,
}

struct Task {
    // Words just past the queries' last symbols, and their lengths. Of one query the second has none.
    end_words: vec2<u32>,
    symbols: vec2<u32>,
    // Index of the first pair of each among all pairs.
    pairs_begin: vec2<u32>,
    // Least scores that are listed.
    floors: vec2<i32>,
    // Targets: targets[first .. first + count].
    first: u32,
    count: u32,
    // Words of rows of the longest target.
    words: u32,
    // Columns, padding included.
    columns: u32,
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
@group(0) @binding(6) var<storage, read_write> scratch: array<B>;
@group(0) @binding(7) var<storage, read_write> out: Output;

override WG: u32 = 64u;

const TASK_DONE: u32 = 1u;
const LOADS: u32 = COLUMNS / LOAD;

var<workgroup> profile: array<V, CODES * ROW_LOADS>;
var<workgroup> wg_task: u32;

// Four symbols of a query of whose columns those before its first word are padding.
fn query_word(end_word: u32, symbols: u32, columns: u32, word: u32) -> u32 {
    let words = columns / 4u;
    var found = 0u;
    if (word + (symbols + 3u) / 4u >= words) {
        found = query_words[end_word - (words - word)];
    }
    return found;
}

// Makes the profile of a pass: what every code scores in its columns. Begins and ends with a barrier: to be called by all
// invocations of the workgroup.
fn make_profile(task_index: u32, pass_index: u32, t: u32) {
    // Safe: what last lanes wrote in the pass before is the first lanes' from here on.
    storageBarrier();
    workgroupBarrier();
    let task = tasks[task_index];
    let first_word = pass_index * (LANES * COLUMNS / 4u);
    for (var p = t; p < CODES * LANES * LOADS; p += WG) {
        let code = p / (LANES * LOADS);
        let load = p % (LANES * LOADS);
        let word = first_word + load * LOAD / 4u;
        let symbols = vec2<u32>(
            query_word(task.end_words.x, task.symbols.x, task.columns, word),
            query_word(task.end_words.y, task.symbols.y, task.columns, word));
        profile[code * ROW_LOADS + (load / LOADS) * LANE_LOADS + load % LOADS] = scores_of(code * CODES, symbols, load);
    }
    // Safe: every entry was written by one invocation before this barrier and is only read until the next pass's.
    workgroupBarrier();
}

// A pass of one pair (of halves: two) over `lane` and its neighbours: the greatest t of the lane's columns. Of the target the rows of
// `words` words before its word `end_word` that are given by params.word_begin and word_end. `border`: where its part of scratch
// begins, `kept`: where what this invocation keeps does. To be called by all invocations that exchange, with as many `steps` of
// four rows.
fn scan(end_word: u32, words: u32, pass_index: u32, passes: u32, border: u32, kept: u32, lane: u32, steps: u32) -> S {
    let opening = number(-params.first);
    let extension = number(-params.next);
    var word_begin = 0u;
    var count = words;
    if (SPLIT) {
        word_begin = min(params.word_begin, words);
        count = min(params.word_end, words) - word_begin;
    }
    let begin_word = end_word - words + word_begin;
    let first_row = 4u * word_begin;
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
    if (SPLIT && params.word_begin > 0u) {
        for (var c = 0u; c < COLUMNS; c++) {
            let entry = scratch[kept + c];
            h[c] = g_of(entry);
            if (AFFINE) {
                f[c] = e_of(entry);
            }
        }
        corner = g_of(scratch[kept + COLUMNS]);
        best = e_of(scratch[kept + COLUMNS]);
    }
    // Lane l is l rows behind: that many words, and the rest in symbols.
    let behind = (lane + 3u) / 4u;
    let shift = 8u * ((0u - lane) & 3u);
    let profile_lane = lane * LANE_LOADS;
    // Rows before the first wrap around, which is beyond every end.
    var near = 0u;
    if (0u - behind < count) {
        near = target_words[begin_word - behind];
    }
    var ahead = 0u;
    if (1u - behind < count) {
        ahead = target_words[begin_word + 1u - behind];
    }
    let has_left = PASSES && lane == 0u && pass_index > 0u;
    let has_right = PASSES && lane == LANES - 1u && pass_index + 1u < passes;
    var entering = B_of(opening, opening);
    if (has_left && count > 0u) {
        entering = scratch[border + first_row];
    }
    var sent = B_of(opening, opening);
    for (var step = 0u; step < steps; step++) {
        var far = 0u;
        let far_word = step + 2u - behind;
        if (far_word < count) {
            far = target_words[begin_word + far_word];
        }
        var symbols = near;
        if (shift > 0u) {
            symbols = (near >> shift) | (ahead << (32u - shift));
        }
        near = ahead;
        ahead = far;
        for (var k = 0u; k < 4u; k++) {
            var left = unpacked(from_left(packed(sent), step * 4u + k));
            let row = step * 4u + k - lane;
            if (lane == 0u) {
                left = entering;
                if (has_left) {
                    entering = B_of(opening, opening);
                    if (row + 1u < 4u * count) {
                        entering = scratch[border + first_row + row + 1u];
                    }
                }
            }
            if (!SPLIT || row < 4u * count) {
                let profile_row = ((symbols >> (8u * k)) & 255u) * ROW_LOADS + profile_lane;
                var diagonal = corner;
                var g = g_of(left);
                var e = e_of(left);
                corner = g;
                for (var load = 0u; load < LOADS; load++) {
                    let scores = profile[profile_row + load];
                    for (var q = 0u; q < LOAD; q++) {
                        let c = load * LOAD + q;
                        let t = floored(diagonal, column_of(scores, q));
                        best = max(best, t);
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
                sent = B_of(g, e);
                if (has_right && row < 4u * count) {
                    // Safe: lane 0 read this row's border before its last neighbour, LANES - 1 rows later, replaces it.
                    scratch[border + first_row + row] = sent;
                }
            }
        }
    }
    if (SPLIT) {
        for (var c = 0u; c < COLUMNS; c++) {
            var kept_f = opening;
            if (AFFINE) {
                kept_f = f[c];
            }
            scratch[kept + c] = B_of(h[c], kept_f);
        }
        scratch[kept + COLUMNS] = B_of(corner, best);
    }
    return best;
}

// The greatest value of a pair's lanes, for the last of them.
fn highest(value: S, lane: u32) -> vec2<i32> {
    var best = rounded(value);
    // One exchange more than is needed: an even number, as exchanges through workgroup memory take turns.
    for (var step = 0u; step < LANES; step++) {
        let left = from_left(best, step);
        best = max(best, select(left, best, lane == 0u));
    }
    return best;
}

// Keeps a pair's score, the greater of this pass's and those of passes before; lists it, if it is the last and reaches the floor.
fn keep(pair: u32, score: i32, floor: i32, is_first: bool, is_last: bool) {
    let place = params.values_begin + pair;
    var value = score;
    if (!is_first) {
        value = max(value, bitcast<i32>(out.data[place]));
    }
    out.data[place] = bitcast<u32>(value);
    if (is_last && params.floors != 0u && value >= floor) {
        let at = params.list_begin + 2u * atomicAdd(&out.listed, 1u);
        out.data[at] = pair;
        out.data[at + 1u] = bitcast<u32>(value);
    }
}

// Does the tasks of a workgroup; `place`: of the invocation among those of the workgroup, such that those that exchange lie side by
// side.
fn run_tasks(slot: u32, place: u32, t: u32) {
    let lane = place % LANES;
    let team = place / LANES;
    let teams = WG / LANES;
    let slot_begin = slot * params.slot_entries;
    let kept = slot_begin + params.slot_targets * params.slot_rows + place * (COLUMNS + 1u);
    let is_ticketed = params.ticketed != 0u;
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
        let passes = task.columns / (LANES * COLUMNS);
        let turns = (task.count + teams - 1u) / teams;
        let pass_end = min(select(params.pass_end, passes, is_ticketed), passes);
        // The part with the task's last rows. (Those after it find nothing left to do.)
        let to_end = !SPLIT || (params.word_end >= task.words && params.word_begin < max(task.words, 1u));
        var own_words = task.words;
        if (SPLIT) {
            own_words = min(params.word_end, task.words) - min(params.word_begin, task.words);
        }
        for (var pass_index = select(params.pass_begin, 0u, is_ticketed); pass_index < pass_end; pass_index++) {
            make_profile(task_index, pass_index, t);
            for (var turn = 0u; turn < turns; turn++) {
                let index = turn * teams + team;
                let b = targets[task.first + min(index, task.count - 1u)];
                // Spare teams have an empty target.
                let words = select(0u, (b.symbols + 3u) / 4u, index < task.count);
                var count = words;
                if (SPLIT) {
                    count = min(params.word_end, words) - min(params.word_begin, words);
                }
                let steps = common_steps(count, own_words) + (LANES + 2u) / 4u;
                let border = slot_begin + index * params.slot_rows;
                let lane_best = scan(b.end_word, words, pass_index, passes, border, kept, lane, steps);
                let best = highest(lane_best, lane);
                if (lane == LANES - 1u && index < task.count && to_end) {
                    let is_first = pass_index == 0u;
                    let is_last = pass_index + 1u == passes;
                    keep(task.pairs_begin.x + index, best.x, task.floors.x, is_first, is_last);
                    if (LOAD == 2u && task.symbols.y > 0u) {
                        keep(task.pairs_begin.y + index, best.y, task.floors.y, is_first, is_last);
                    }
                }
            }
        }
        if (t == 0u && pass_end == passes && to_end) {
            out.data[task_index] = TASK_DONE;
        }
        if (!is_ticketed) {
            break;
        }
    }
}
