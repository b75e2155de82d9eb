// sw_striped_trace: computes the columns of all parts of a path at once (phase 3; Li, Ranka and
//             Sahni, section V).
// Recurrence: As in sw_striped_starts.
//             With STORED_BORDERS (ChunkedAlignment1), a part is traced chunk by chunk, starting with its
//             end, from the borders of the chunks. All chunks use the same memory.
//             Without STORED_BORDERS, a part is traced in the rectangle between its two ends, as a global
//             alignment that starts with 0 in the start's state. Let A be its values, F those of
//             the whole matrix, and f the value F of the start. A path from the start is one of
//             many paths to a cell, so A <= F - f. The canonical path passes through the start, so
//             A = F - f on it. Therefore, at each of its cells, the term that gives F also gives A,
//             and a term that is less than F does not give A. So the traceback is the same.
//             This requires that F follow from the start by the recurrence wherever A does. The
//             values in the region's first row and column are given, so F does not follow there,
//             and no path of A continues there.
// Owns:       Workgroup g computes part g and its share of `directions` and `runs`. Invocation t
//             keeps columns from t * CELLS + 1 on of a rectangle, and computes row s - t + 1 at
//             step s.
// Layout:     directions[directions_begin + s * lanes + t]: the row's CELLS cells, the first one
//             lowest, 4 bits each. Bits 0 and 1 are 0 if H comes along the diagonal by =, 1 if by
//             X, 2 if from I, and 3 if from D. Bit 2 is set if the traceback of the I that enters
//             the next row leaves to H here, and bit 3 if that of the D that enters the next column
//             does. (The paper has 3 bits for H, which repeat bits 2 and 3. Phase 2 determines the
//             start of a local alignment.)
//             runs[runs_begin ..]: kind | length << 2, with kinds 0 to 3 for = X I D, from the
//             part's end to its start.
// Invariant:  As in sw_striped_starts. After the barrier behind a rectangle its directions are
//             written. Then one invocation follows them.
// Uniform:    The position of the traceback comes from workgroupUniformLoad. Barriers are only in
//             loops over this position.
// Limits:     strip <= WG * CELLS. WG is a power of two. (rows + strip) times the greatest cost or
//             score is less than 2^29, so that values of paths that do not come from the start stay
//             below those that do.
// Oracle:     src/long/oracle.rs
// Imports:    `striped_border` is striped_border_stored with STORED_BORDERS, or else striped_border_anchored.

#import striped_symbols
#import striped_paths
#import striped_border

const RING: u32 = 2u * WG;
const NEG_INF: i32 = -0x40000000;

const MATCH: u32 = 0u;
const MISMATCH: u32 = 1u;
const INSERTION: u32 = 2u;
const DELETION: u32 = 3u;
const LEAVES_INSERTION: u32 = 4u;
const LEAVES_DELETION: u32 = 8u;
const NONE: u32 = 4u;

@group(0) @binding(9) var<storage, read_write> directions: array<u32>;
@group(0) @binding(10) var<storage, read_write> runs: array<u32>;

// A rectangle of the region: the row above it, the column to the left of it, and the numbers of its
// rows and columns.
struct Rectangle {
    above: u32,
    left: u32,
    rows: u32,
    columns: u32,
}

var<workgroup> wg_table: array<i32, CODES * CODES>;
var<workgroup> wg_left: array<vec2<i32>, RING>;
var<workgroup> wg_symbols: array<u32, RING>;
// H, and the D that enters the next column.
var<workgroup> wg_exchange: array<vec2<i32>, RING>;
var<workgroup> wg_path: Path;
// Row, column and state of the traceback, and 1 while it has not reached the start of the part.
var<workgroup> wg_point: vec4<u32>;

// The current run, which may still grow, and the index of the next run.
var<private> run_kind: u32;
var<private> run_length: u32;
var<private> run_place: u32;

fn push(kind: u32, length: u32) {
    if (kind != run_kind && run_length > 0u) {
        runs[run_place] = run_kind | (run_length << 2u);
        run_place++;
        run_length = 0u;
    }
    run_kind = kind;
    run_length += length;
}

// Computes and stores the directions of a rectangle.
fn fill(area: Rectangle, path: Path, t: u32) {
    let lanes = (area.columns + CELLS - 1u) / CELLS;
    let steps = area.rows + lanes - 1u;

    // Loads the upper border into registers. Columns beyond the right border repeat the last column
    // and are never read.
    let own_column = t * CELLS;
    var symbols: array<u32, CELLS>;
    var h: array<i32, CELLS>;
    var insertion: array<i32, CELLS>;
    for (var c = 0u; c < CELLS; c++) {
        let column = min(own_column + c + 1u, area.columns);
        let border = upper_border(area, column, path.start_state);
        symbols[c] = target_code(area.left + column - 1u);
        h[c] = border.x;
        insertion[c] = border.y;
    }
    var h_before = upper_border(area, min(own_column, area.columns), path.start_state).x;

    // Rows of the next batch are read while a batch is computed.
    var next_left = left_border(area, min(t + 1u, area.rows), path.start_state);
    var next_symbol = query_code(area.above + min(t, area.rows - 1u));
    for (var base = 0u; base < steps; base += WG) {
        // The slots are free: they were last read in the batch before the last one, and a barrier
        // ended each of its steps.
        let slot = (base + t) % RING;
        wg_left[slot] = next_left;
        wg_symbols[slot] = next_symbol * CODES;
        next_left = left_border(area, min(base + WG + t + 1u, area.rows), path.start_state);
        next_symbol = query_code(area.above + min(base + WG + t, area.rows - 1u));
        workgroupBarrier();
        let until = min(base + WG, steps);
        for (var step = base; step < until; step++) {
            // The difference wraps around before the lane's first row.
            let place = step - t;
            if (place < area.rows && t < lanes) {
                let row_symbol = wg_symbols[place % RING];
                var from_left: vec2<i32>;
                if (t == 0u) {
                    from_left = wg_left[place % RING];
                } else {
                    from_left = wg_exchange[((step + 1u) & 1u) * WG + t - 1u];
                }
                var deletion = from_left.y;
                var diagonal = h_before;
                h_before = from_left.x;
                var word = 0u;
                for (var c = 0u; c < CELLS; c++) {
                    let score = wg_table[row_symbol + symbols[c]];
                    var best = diagonal + (score >> 1u);
                    var way = select(MISMATCH, MATCH, (score & 1) != 0);
                    diagonal = h[c];
                    if (insertion[c] > best) {
                        best = insertion[c];
                        way = INSERTION;
                    }
                    if (deletion > best) {
                        best = deletion;
                        way = DELETION;
                    }
                    if (LOCAL && STORED_BORDERS) {
                        best = max(best, 0);
                    }
                    h[c] = best;
                    let opened = best - params.first;
                    let longer_insertion = insertion[c] - params.next;
                    way |= select(0u, LEAVES_INSERTION, opened >= longer_insertion);
                    insertion[c] = max(opened, longer_insertion);
                    let longer_deletion = deletion - params.next;
                    way |= select(0u, LEAVES_DELETION, opened >= longer_deletion);
                    deletion = max(opened, longer_deletion);
                    word |= way << (4u * c);
                }
                wg_exchange[(step & 1u) * WG + t] = vec2<i32>(h[CELLS - 1u], deletion);
                directions[path.directions_begin + step * lanes + t] = word;
            }
            // Steps alternate between two halves, so that one barrier per step separates readers
            // from writers.
            workgroupBarrier();
        }
    }
}

// Traces from the rectangle's lower right corner to the start of the part or out of the rectangle.
// Returns the next wg_point.
fn trace_back(area: Rectangle, path: Path, end_state: u32) -> vec4<u32> {
    let lanes = (area.columns + CELLS - 1u) / CELLS;
    // Position of the start. It is outside this rectangle if it is in a chunk above.
    let start_row = path.start_row - area.above;
    let start_column = path.start_column - area.left;
    var i = area.rows;
    var j = area.columns;
    var state = end_state;
    var word_at_hand = 0xffffffffu;
    var word = 0u;
    // Whether the traceback has left its first cell. It can then leave a gap at a cell, because it
    // came from the cell that the gap enters.
    var has_moved = false;
    while (i > 0u && j > 0u && (i != start_row || j != start_column)) {
        let lane = (j - 1u) / CELLS;
        let at = (i - 1u + lane) * lanes + lane;
        if (at != word_at_hand) {
            word_at_hand = at;
            word = directions[path.directions_begin + at];
        }
        let bits = word >> (4u * ((j - 1u) % CELLS));
        let leaves = (state == STATE_I && (bits & LEAVES_INSERTION) != 0u)
            || (state == STATE_D && (bits & LEAVES_DELETION) != 0u);
        if (has_moved && leaves) {
            state = STATE_H;
        }
        has_moved = true;
        var kind = bits & 3u;
        if (state == STATE_H) {
            if (kind == INSERTION) {
                state = STATE_I;
            } else if (kind == DELETION) {
                state = STATE_D;
            }
        } else {
            kind = select(DELETION, INSERTION, state == STATE_I);
        }
        push(kind, 1u);
        i -= select(1u, 0u, state == STATE_D);
        j -= select(1u, 0u, state == STATE_I);
    }
    if (i == start_row && j == start_column) {
        return vec4<u32>(0u);
    }
    if (!STORED_BORDERS) {
        // On a border there is only one path to the start.
        if (i == 0u) {
            push(DELETION, j);
        } else {
            push(INSERTION, i);
        }
        return vec4<u32>(0u);
    }
    // Continues upwards in the next chunk. A part that leaves to the left ends there.
    let border = upper_border(area, j, STATE_H);
    if (state == STATE_I && border.y == border.x - params.first) {
        state = STATE_H;
    }
    return vec4<u32>(area.above, area.left + j, state, 1u);
}

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    let index = workgroup.x + workgroup.y * workgroups.x;
    if (t == 0u) {
        wg_point = vec4<u32>(0u);
        if (index < paths.count) {
            wg_path = paths.list[index];
            wg_point = vec4<u32>(wg_path.end_row, wg_path.end_column, wg_path.end_state, 1u);
        }
    }
    for (var k = t; k < CODES * CODES; k += WG) {
        wg_table[k] = table[k];
    }
    run_kind = NONE;
    run_length = 0u;
    var point = workgroupUniformLoad(&wg_point);
    if (point.w == 0u) {
        return;
    }
    let path = workgroupUniformLoad(&wg_path);
    run_place = path.runs_begin;
    loop {
        var area = Rectangle(path.start_row, path.start_column, 0u, 0u);
        if (STORED_BORDERS) {
            area.above = (point.x - 1u) / params.chunk * params.chunk;
            area.left = max((point.y - 1u + params.lead) / params.strip * params.strip, params.lead) - params.lead;
        }
        area.rows = point.x - area.above;
        area.columns = point.y - area.left;
        // A part along a border is a single gap.
        if (area.rows > 0u && area.columns > 0u) {
            fill(area, path, t);
        }
        storageBarrier();
        if (t == 0u) {
            wg_point = trace_back(area, path, point.z);
        }
        point = workgroupUniformLoad(&wg_point);
        if (point.w == 0u) {
            break;
        }
    }
    if (t == 0u) {
        push(NONE, 0u);
        paths.list[index].run_count = run_place - path.runs_begin;
    }
}
