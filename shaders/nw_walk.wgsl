// nw_walk: from the borders and directions that a kernel left in the arena to each pair's value and its alignment's runs.
// Recurrence: the canonical walk (src/trace/mod.rs): along the diagonal if this is as good, else a query symbol against a gap,
//             else a target symbol; a gap is left as soon as that is as good.
// Owns:       invocation k owns pair slot k % SLOTS of task k / SLOTS, and of the arena only that pair's part `runs`.
// Layout:     arena as in common/arena.wgsl. out.data[3 p ..] of pair p: value, first word of its runs from runs_begin on, and
//             number of runs; NO_ROOM if they did not fit; DROPPED if the pair has not the identity asked for. Runs go from the
//             alignment's end to its beginning, two a word, the low half first: kind | length << 2, kinds 0 to 3 for = X I D;
//             longer runs are several.
// Invariant:  the walk stands at row i, column j, both counted in real symbols; all columns after it are counted and emitted.
// Uniform:    no barrier.
// Limits:     matches carried in the values, where there is a walk (they tell = from X).
// Oracle:     src/pairs/oracle/needleman_wunsch.rs

#import arena

const LONGEST_RUN: u32 = 16383u;
const NO_ROOM: u32 = 0xffffffffu;
const DROPPED: u32 = 0xfffffffeu;
const MATCH: u32 = 0u;
const MISMATCH: u32 = 1u;
const INSERTION: u32 = 2u;
const DELETION: u32 = 3u;
const NONE: u32 = 4u;
const NONE_AT_HAND: u32 = 0xffffffffu;

struct Output {
    runs_words: atomic<u32>,
    reserved0: u32,
    reserved1: u32,
    reserved2: u32,
    data: array<u32>,
}

@group(0) @binding(7) var<storage, read_write> out: Output;

// Where runs are collected, how many there are, and the last of them, up to a quad.
var<private> own_runs: Part;
var<private> run_count: u32;
var<private> held: vec4<u32>;
// The run that still grows.
var<private> run_kind: u32;
var<private> run_length: u32;
// The counts of IdentityDefinition.
var<private> matches: u32;
var<private> mismatches: u32;
var<private> gap_columns: u32;
var<private> gap_openings: u32;
var<private> end_gap_columns: u32;

fn emit(code: u32) {
    // The next half word.
    held = vec4<u32>((held.x >> 16u) | (held.y << 16u), (held.y >> 16u) | (held.z << 16u),
                     (held.z >> 16u) | (held.w << 16u), (held.w >> 16u) | (code << 16u));
    if ((run_count & 7u) == 7u) {
        write_quad(own_runs.arena, own_runs.begin + (run_count >> 3u) * own_runs.stride, held);
    }
    run_count++;
}

// The run at hand has ended. The first run is an end gap if it is a gap; so is the last, which the caller sees to.
fn close_run() {
    if (run_length == 0u) {
        return;
    }
    if (run_kind == MATCH) {
        matches += run_length;
    } else if (run_kind == MISMATCH) {
        mismatches += run_length;
    } else {
        if (matches + mismatches + gap_columns == 0u) {
            end_gap_columns = run_length;
        }
        gap_columns += run_length;
        gap_openings++;
    }
    var left = run_length;
    while (left > 0u) {
        let length = min(left, LONGEST_RUN);
        emit(run_kind | (length << 2u));
        left -= length;
    }
}

fn push(kind: u32, length: u32) {
    if (length == 0u) {
        return;
    }
    if (kind != run_kind) {
        close_run();
        run_kind = kind;
        run_length = 0u;
    }
    run_length += length;
}

// As IdentityFilter has it, with counts known and a looser threshold; the host tests again.
fn reaches(m: u32, n: u32) -> bool {
    let longer = f32(max(m, n));
    if (params.filter_mode == 3u) {
        return min(f32(mismatches + gap_openings), longer) <= params.filter_threshold * longer;
    }
    var denominator = min(m, n);
    if (params.filter_mode == 1u) {
        denominator = matches + mismatches + gap_columns;
    } else if (params.filter_mode == 2u) {
        denominator = matches + mismatches + gap_columns - end_gap_columns;
    }
    // Where nothing is counted the identity is 0.
    if (denominator == 0u) {
        return params.filter_threshold <= 0.0;
    }
    return f32(matches) >= params.filter_threshold * f32(denominator);
}

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
    // Columns are the query's symbols in the kernel; in the alignment the earlier sequence is the query.
    let turned = b.number < task.query_number;

    // Phase 1: where the alignment's last cell is, and the value there.
    var i = n;
    var j = m;
    var value = load(border, (task.rows_words - 1u) * PLANES).w;
    if (OWN_ENDS) {
        // The corner, then the last row and column, from their ends; the one in which the reported target ends goes first.
        for (var turn = 0u; turn < 2u; turn++) {
            if ((turn == 0u) != turned) {
                for (var k = 1u; k <= m; k++) {
                    let column = m - k;
                    var here = edge(i32(n));
                    if (column > 0u) {
                        let place = column - 1u + column_pad;
                        here = load(below, (place >> 2u) * PLANES)[place & 3u];
                    }
                    here += edge(i32(k));
                    if (here > value) {
                        value = here;
                        i = n;
                        j = column;
                    }
                }
            } else {
                for (var k = 1u; k <= n; k++) {
                    let row = n - k;
                    var here = edge(i32(m));
                    if (row > 0u) {
                        let place = row - 1u + row_pad;
                        here = load(border, (place >> 2u) * PLANES)[place & 3u];
                    }
                    here += edge(i32(k));
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
    if (params.walk == 0u) {
        return;
    }

    // Phase 2: the walk.
    let from_left_kind = select(INSERTION, DELETION, turned);
    let from_above_kind = select(DELETION, INSERTION, turned);
    var lanes = LANES;
    if (LANES == 0u) {
        lanes = u32(load(corners(task, slot), 0u).x);
    }
    let ways = directions(task, slot);
    let left_tag = u32(tag_left(turned));
    own_runs = runs(task, slot);
    run_kind = NONE;
    // At most one of the two is not 0.
    push(from_left_kind, m - j);
    push(from_above_kind, n - i);
    // 0: at V; 1: in a gap from the left; 2: in one from above.
    var state = 0u;
    var quad_at_hand = NONE_AT_HAND;
    var at_hand = vec4<u32>(0u);
    while (i > 0u && j > 0u) {
        let column = j - 1u + column_pad;
        let row = i - 1u + row_pad;
        // A quad serves several steps.
        let place = direction_place(task, lanes, column / CELLS, row);
        if (place.x != quad_at_hand) {
            quad_at_hand = place.x;
            at_hand = read_quad(ways.arena, ways.begin + place.x * ways.stride);
        }
        let bits = at_hand[place.y] >> (32u - CELLS * BITS + (column % CELLS) * BITS);
        if (!AFFINE || (state == 1u && (bits & 4u) != 0u)) {
            state = 0u;
        }
        if (state == 0u && (bits & 2u) == 0u) {
            state = select(2u, 1u, (bits & 3u) == left_tag);
        }
        // One push a step: its loops would stand here several times otherwise.
        var kind = select(MISMATCH, MATCH, (bits & 1u) != 0u);
        if (state == 1u) {
            kind = from_left_kind;
        } else if (state == 2u) {
            kind = from_above_kind;
        }
        push(kind, 1u);
        j -= select(0u, 1u, state != 2u);
        i -= select(0u, 1u, state != 1u);
        if (state == 2u && (bits & 8u) != 0u) {
            state = 0u;
        }
    }
    push(from_left_kind, j);
    push(from_above_kind, i);
    // The alignment's first run is an end gap too, unless it is also the last.
    let is_only_run = run_length == m + n;
    let last_kind = run_kind;
    let last_length = run_length;
    close_run();
    if ((last_kind == INSERTION || last_kind == DELETION) && !is_only_run) {
        end_gap_columns += last_length;
    }
    // The last quad, its spare half words at its end.
    let kept_count = run_count;
    while ((run_count & 7u) != 0u) {
        emit(0u);
    }

    // Phase 3: the runs to a place that holds no more than them.
    if (params.filter_mode != 6u && !reaches(m, n)) {
        out.data[3u * pair + 2u] = DROPPED;
        return;
    }
    let words = (kept_count + 1u) / 2u;
    // Cannot wrap round: the host gives a batch's pairs fewer than 2^32 words of runs together.
    let place = atomicAdd(&out.runs_words, words);
    if (place > params.runs_capacity_words || words > params.runs_capacity_words - place) {
        out.data[3u * pair + 2u] = NO_ROOM;
        return;
    }
    out.data[3u * pair + 1u] = place;
    out.data[3u * pair + 2u] = kept_count;
    for (var k = 0u; k < words; k += 4u) {
        let quad = read_quad(own_runs.arena, own_runs.begin + (k >> 2u) * own_runs.stride);
        for (var q = 0u; q < min(words - k, 4u); q++) {
            out.data[params.runs_begin + place + k + q] = quad[q];
        }
    }
}
