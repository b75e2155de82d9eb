// sw_striped_score: one very long pair, one strip of columns per workgroup (StripedScore; Li, Ranka
//             and Sahni, section IV).
// Recurrence: H[i,j] = max(H[i-1,j-1] + sub(a[i],b[j]), I[i,j], D[i,j]), in local mode at least 0.
//             Each column keeps the gap that enters the next row:
//               I[i+1,j] = max(I[i,j] - next, H[i,j] - first)
//             Each row keeps D in the same way.
// Owns:       Lane t of strip k keeps CELLS columns in registers, starting with column
//             (k * LANES + t) * CELLS - padding. It is one block of 4 rows behind lane t - 1: at
//             step s it computes block s - t. The results of lanes before the first column are not
//             used. Column LAST_CELL of the last lane is the last column of the panel.
// Layout:     Vertical borders: u32 (begin(k) + (i & mask(k))) * 2 contains H along the left border
//             of strip k, and the next u32 the gap that enters. The panel's first and last border
//             and every keep_strips-th one are kept as a whole. The others are rings. Values are
//             stored with their highest bit flipped, so that 0 means "not written yet". No value is
//             the least integer.
//             Horizontal borders: (c * columns_stride + j) * 2, along row min(c * mark, rows).
//             State: (k * STATE_WORDS + w) * LANES + t contains value w of lane t between
//             dispatches.
//             Records consist of three sections. The first one has 4 u32 for each strip: its best
//             score, the first step of the first batch that has this score, and the number of
//             recorded batches. The second one has 2 u32 for each strip, which alternate between
//             dispatches: twice the number of consecutive batches that were pruned before a
//             dispatch, plus 1 if the strip was skipped in the previous dispatch. The third one has
//             SLOTS slots for each strip: value w of lane t before a batch at w * LANES + t, then
//             the values that entered in the batch, then its first step.
// Schedule:   In a dispatch, strip k makes steps base - k * lag to base + steps - k * lag.
//             With lag >= steps + LANES - 1, earlier dispatches wrote everything that it reads
//             (wavefront). With a smaller lag it waits for its left neighbour (PERSISTENT). Strips
//             are taken in order by ticket, so a strip that waits always waits for one that runs. A
//             value that is not 0 shows that it is written, so no order between two memory
//             locations is required.
//             A lane that polls too often sets `stuck` and continues with wrong values. The host
//             then discards the results of the panel.
// Invariant:  After step s, block s - t of lane t is final. After a batch, all its borders are in
//             global memory.
//             After a batch, the slots of a strip contain the first batch in which a lane reached
//             the strip's best score. They also contain those of the following SLOTS - 1 batches in
//             which another lane reached it, because lanes to the right reach a block later. The
//             uppermost block with the score is in one of these batches, because later batches
//             start below all blocks of the first one. The host finds the best cell there.
// Clear:      A strip is clear if its lanes contain no values, and its neighbour still has to read
//             only pruned values from its right border. Suppose that all strips from the first one
//             to strip k are clear, and that the values that enter the first strip cannot reach the
//             best score. Then no cell that these strips would compute in a dispatch can reach it,
//             and they are skipped (PRUNE and PERSISTENT, with steps >= lag). Skipped strips do not
//             write their right borders, except those that are kept as a whole. A strip that reads
//             such a border determines by itself that it is clear. All strips come to the same
//             conclusion, because they use only values that were known before the dispatch:
//             `best_floor`, `left_reached`, and the u32 values of this turn.
// Uniform:    Strip and steps follow from the workgroup's number or ticket. All lanes make all
//             steps of a batch, or all skip it. Barriers depend only on uniform_of_first() and
//             uniform_any(). With lanes_subgroup, shuffles depend on any_of_all(). Compilers that
//             cannot prove that its result is uniform need `diagnostic(off, subgroup_uniformity)`.
// Limits:     The number of rows is a multiple of 4. Values fit in 32 bits (LongPair::fits).
// Oracle:     src/long/oracle.rs
// Constants:  LANES, CELLS, CLASSES (different query symbols), CODES, BATCH (steps between
//             exchanges through memory), LAST_CELL, LOCAL, LINEAR, BEST, PRUNE, PERSISTENT.
//             The import `lanes` is lanes_subgroup or lanes_workgroup, as the host chooses.

#import lanes

const C4: u32 = CELLS / 4u;
const STATE_WORDS: u32 = 2u * CELLS + 10u;
const FLIP: u32 = 0x80000000u;
// Score of padding. No path gains by it, and sums with it do not wrap.
const PADDING_SCORE: i32 = -536870912;
const NO_INDEX: u32 = 0xffffffffu;
const BATCH_WORDS: u32 = BATCH * 8u;
const VALUES_A_LANE: u32 = (BATCH_WORDS + LANES - 1u) / LANES;
// Maximum number of recorded batches. Batches that are completely below the first one are not
// recorded.
const SLOTS: u32 = (LANES + BATCH - 2u) / BATCH + 1u;
const SLOT_WORDS: u32 = (2u * CELLS + 9u) * LANES + BATCH_WORDS + 1u;
const HEAD_WORDS: u32 = 4u;
const TURN_WORDS: u32 = 2u;
// Number of strips whose state a lane reads at once.
const AT_ONCE: u32 = 4u;

struct Params {
    rows: u32,
    columns: u32,
    strips: u32,
    first_strip: u32,
    base: i32,
    steps: i32,
    lag: i32,
    total_steps: i32,
    query_begin: u32,
    target_begin: u32,
    whole_entries: u32,
    inner_entries: u32,
    inner_mask: u32,
    columns_stride: u32,
    mark_blocks: u32,
    marks: u32,
    // Scores of the first and each further symbol of a gap, at most 0.
    first: i32,
    next: i32,
    greatest: i32,
    rows_to_end: i32,
    columns_to_end: i32,
    best_floor: i32,
    spin_limit: u32,
    // Distance in strips of the vertical borders that are kept as a whole.
    keep_strips: u32,
    // Total number of entries of borders that are kept as a whole. The rings begin there.
    rings_begin: u32,
    // Number of columns by which the first strip is narrower, a multiple of CELLS.
    padding: u32,
    // Greatest H of the first strip's left border in this dispatch, and index of the strip's u32
    // values for this dispatch, which alternate.
    left_reached: i32,
    turn: u32,
}

// Shared state: the best score of all strips, the next ticket, whether a lane polled too often, and
// the number of pruned batches.
struct Shared {
    best: atomic<i32>,
    ticket: atomic<u32>,
    stuck: atomic<u32>,
    pruned: atomic<u32>,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> query_classes: array<u32>;
@group(0) @binding(2) var<storage, read> target_codes: array<u32>;
@group(0) @binding(3) var<storage, read> table: array<i32>;
@group(0) @binding(4) var<storage, read_write> vertical: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read_write> horizontal: array<vec2<i32>>;
@group(0) @binding(6) var<storage, read_write> state: array<i32>;
@group(0) @binding(7) var<storage, read_write> shared_best: Shared;
@group(0) @binding(8) var<storage, read_write> records: array<i32>;

var<workgroup> profile: array<vec4<i32>, CLASSES * C4 * LANES>;
// Borders of a batch: for each step, H of four rows, and then their gaps.
var<workgroup> incoming: array<vec4<i32>, 2u * BATCH>;
var<workgroup> outgoing: array<vec4<i32>, 2u * BATCH>;

fn target_code(j: u32) -> u32 {
    let at = params.target_begin + j;
    return (target_codes[at / 4u] >> (8u * (at & 3u))) & 255u;
}

fn is_whole(k: u32) -> bool {
    return k % params.keep_strips == 0u || k == params.strips;
}

// Returns the first entry of strip k's left border, and the mask of the bits of a row that select
// an entry.
fn border_begin(k: u32) -> u32 {
    let whole = (k + params.keep_strips - 1u) / params.keep_strips;
    return select(params.rings_begin + (k - whole) * params.inner_entries, whole * params.whole_entries, is_whole(k));
}

fn border_mask(k: u32) -> u32 {
    return select(params.inner_mask, 0xffffffffu, is_whole(k));
}

// Returns the index of value w of a batch in the left border of a strip, or NO_INDEX if its row is
// outside the panel. The border starts at entry `begin`.
fn value_index(w: u32, first_block: i32, begin: u32, mask: u32) -> u32 {
    let row = first_block * 4 + i32(w / 2u) + 1;
    if (w >= BATCH_WORDS || row <= 0 || row > i32(params.rows)) {
        return NO_INDEX;
    }
    return 2u * (begin + (u32(row) & mask)) + (w & 1u);
}

// Returns value w of a clear border.
fn clear_value(w: u32) -> u32 {
    return to_ordered_bits(select(0, params.first, (w & 1u) == 1u));
}

// Returns the index of the u32 of a strip that belongs to a turn.
fn turn_index(strip: u32, turn: u32) -> u32 {
    return params.strips * (HEAD_WORDS + turn) + strip;
}

// Returns the maximum gain of a path after the start of a batch: its scoring steps are at most the
// rows and at most the columns that are left.
fn reach_of(strip: u32, batch: i32) -> i32 {
    let rows_left = params.rows_to_end - 4 * max(batch - i32(LANES) + 1, 0);
    let columns_left = params.columns_to_end - max(i32(strip * LANES * CELLS) - i32(params.padding), 0);
    return max(min(rows_left, columns_left), 0) * params.greatest;
}

// Returns whether a strip is clear before this dispatch, and no path that starts in it can reach
// the best score.
fn is_clear(strip: u32) -> bool {
    let shift = params.base - i32(strip) * params.lag;
    let pruned = i32(u32(records[turn_index(strip, params.turn)]) >> 1u);
    // A strip that starts in this dispatch has no value yet.
    return shift > 0 && pruned * i32(BATCH) >= params.lag && reach_of(strip, shift) < params.best_floor;
}

// Returns the number of the first strip up to `strip` that is not skipped in this dispatch, or
// strip + 1. All lanes must call it.
fn first_working_strip(strip: u32, t: u32) -> u32 {
    if (params.first_strip == 0u) {
        if (params.left_reached + reach_of(0u, max(params.base, 0)) >= params.best_floor) {
            return 0u;
        }
    } else {
        let pruned = of_first(u32(records[turn_index(params.first_strip - 1u, params.turn)]) >> 1u, t);
        if (i32(pruned) * i32(BATCH) < params.lag) {
            return params.first_strip;
        }
    }
    for (var begin = params.first_strip; begin <= strip; begin += AT_ONCE * LANES) {
        var before = 0;
        for (var k = AT_ONCE; k > 0u; k--) {
            let other = begin + (k - 1u) * LANES + t;
            if (other <= strip) {
                if (!is_clear(other)) {
                    before = i32(strip + 1u - other);
                }
            }
        }
        if (any_of_all(before > 0, t)) {
            return strip + 1u - u32(highest_of_all(before, t));
        }
    }
    return strip + 1u;
}

// Marks a lane's columns as clear along the marked rows and the last row, for the blocks from
// `first` up to but excluding `after`.
fn clear_marks(lane_column: i32, first: i32, after: i32) {
    let blocks = params.rows / 4u;
    for (var mark = u32(max(first, 0)) / params.mark_blocks + 1u; ; mark++) {
        let end = min(mark * params.mark_blocks, blocks);
        if (i32(end) - 1 < first || i32(end) - 1 >= after) {
            return;
        }
        let at = select(mark, params.marks, end == blocks) * params.columns_stride;
        for (var c = 0u; c < CELLS; c++) {
            if (lane_column >= 0 && u32(lane_column) + c < params.columns) {
                horizontal[at + u32(lane_column) + c + 1u] = vec2<i32>(0, params.first);
            }
        }
        if (lane_column == 0) {
            // The panel's left border is cleared, too, so that no value of an earlier panel
            // remains.
            horizontal[at] = vec2<i32>(0, params.first);
        }
        if (end == blocks) {
            return;
        }
    }
}

fn to_ordered_bits(value: i32) -> u32 {
    return bitcast<u32>(value) ^ FLIP;
}

// State of a lane: its columns above the block, the cell to the left of these, and the values of
// the block that it delivers.
struct Lane {
    h: array<i32, CELLS>,
    gap: array<i32, CELLS>,
    corner: i32,
    sent_h: vec4<i32>,
    sent_gap: vec4<i32>,
}

// Returns the gap that enters the next row in a column.
fn entering_gap(lane: ptr<function, Lane>, c: u32) -> i32 {
    if (LINEAR) {
        return (*lane).h[c] + params.first;
    }
    return (*lane).gap[c];
}

// Computes four rows with the classes `symbols`. Returns the maximum of `floor` and their H. There
// is no branch, so that the computations of rows can overlap. Vectors are rotated, so that every
// index is a constant and all values stay in registers.
fn compute_block(lane: ptr<function, Lane>, symbols: u32, left_h: vec4<i32>, left_gap: vec4<i32>, floor: i32, t: u32, is_end: bool) -> i32 {
    var classes = symbols;
    var nears = left_h;
    var acrosses = left_gap;
    var greatest = floor;
    for (var r = 0u; r < 4u; r++) {
        let row = (classes & 255u) * (C4 * LANES) + t;
        classes >>= 8u;
        var near = nears.x;
        var across = acrosses.x;
        nears = nears.yzwx;
        acrosses = acrosses.yzwx;
        var diagonal = (*lane).corner;
        (*lane).corner = near;
        var last_h = 0;
        var last_gap = 0;
        for (var c4 = 0u; c4 < C4; c4++) {
            let scores = profile[row + c4 * LANES];
            for (var q = 0u; q < 4u; q++) {
                let c = c4 * 4u + q;
                let up = (*lane).h[c];
                var value = diagonal + scores[q];
                if (LOCAL) {
                    value = max(value, 0);
                }
                if (LINEAR) {
                    near = max(max(up, near) + params.first, value);
                } else {
                    near = max(max(value, (*lane).gap[c]), across);
                    let opened = near + params.first;
                    (*lane).gap[c] = max((*lane).gap[c] + params.next, opened);
                    across = max(across + params.next, opened);
                }
                diagonal = up;
                (*lane).h[c] = near;
                if (c == LAST_CELL) {
                    last_h = near;
                    last_gap = across;
                }
            }
            if (BEST) {
                // The maximum of three values is one instruction on some chips.
                greatest = max(max(greatest, (*lane).h[c4 * 4u]), (*lane).h[c4 * 4u + 1u]);
                greatest = max(max(greatest, (*lane).h[c4 * 4u + 2u]), (*lane).h[c4 * 4u + 3u]);
            }
        }
        if (LAST_CELL != CELLS - 1u) {
            near = select(near, last_h, is_end);
            across = select(across, last_gap, is_end);
        }
        if (LINEAR) {
            across = near + params.first;
        }
        (*lane).sent_h = vec4<i32>((*lane).sent_h.yzw, near);
        (*lane).sent_gap = vec4<i32>((*lane).sent_gap.yzw, across);
    }
    return greatest;
}

// Computes the steps of a strip in this dispatch. The import `lanes` calls it for every lane.
fn compute_strip(workgroup: u32, t: u32) {
    var strip = params.first_strip + workgroup;
    if (PERSISTENT) {
        var ticket = 0u;
        if (t == 0u) {
            ticket = atomicAdd(&shared_best.ticket, 1u);
        }
        strip = params.first_strip + uniform_of_first(ticket, t);
    }
    if (strip >= params.strips) {
        return;
    }
    let shift = params.base - i32(strip) * params.lag;
    let step_begin = clamp(shift, 0, params.total_steps);
    let step_end = clamp(shift + params.steps, 0, params.total_steps);
    if (step_begin >= step_end) {
        return;
    }

    // Phase 1: decide whether the strip can be skipped. If not, prepare the profile and the lane's
    // state.
    let lane_column = i32((strip * LANES + t) * CELLS) - i32(params.padding);
    let left_begin = border_begin(strip);
    let left_mask = border_mask(strip);
    let right_begin = border_begin(strip + 1u);
    let right_mask = border_mask(strip + 1u);
    // Number of consecutive pruned batches, and the block up to which the left border is clear
    // although no strip wrote it.
    var pruned_in_row = 0u;
    var clear_until = -1;
    if (PRUNE && PERSISTENT) {
        if (step_begin > 0) {
            pruned_in_row = u32(records[turn_index(strip, params.turn)]) >> 1u;
        }
        if (params.steps >= params.lag && strip > 0u) {
            let left_shift = clamp(shift + params.lag, 0, params.total_steps);
            if (left_shift > 0 && (u32(records[turn_index(strip - 1u, params.turn)]) & 1u) == 1u) {
                clear_until = left_shift - i32(LANES) + 1;
            }
        }
        var at_work = 0u;
        if (params.steps >= params.lag) {
            at_work = uniform_of_first(first_working_strip(strip, t), t);
        }
        if (at_work >= strip && strip > params.first_strip) {
            clear_until = 0x7fffffff;
            if (!is_whole(strip)) {
                // Values that the left strip wrote before it was skipped must not be read after
                // their entries are reused.
                for (var w = t; w < u32(params.lag) * 8u; w += LANES) {
                    let row = u32(step_begin) * 4u + w / 2u + 1u;
                    if (row <= params.rows) {
                        atomicStore(&vertical[2u * (left_begin + (row & left_mask)) + (w & 1u)], 0u);
                    }
                }
            }
        }
        if (at_work > strip) {
            clear_marks(lane_column, step_begin - i32(t), step_end - i32(t));
            if (is_whole(strip + 1u)) {
                for (var w = t; w < u32(step_end - step_begin) * 8u; w += LANES) {
                    let row = (step_begin - i32(LANES) + 1) * 4 + i32(w / 2u) + 1;
                    if (row > 0 && row <= i32(params.rows)) {
                        atomicStore(&vertical[2u * (right_begin + u32(row)) + (w & 1u)], clear_value(w));
                    }
                }
            }
            if (t == 0u) {
                let batches = u32(step_end - step_begin) / BATCH;
                records[turn_index(strip, 1u - params.turn)] = i32(((pruned_in_row + batches) << 1u) | 1u);
                atomicAdd(&shared_best.pruned, batches);
            }
            return;
        }
    }
    for (var p = t; p < CLASSES * C4 * LANES; p += LANES) {
        let row_class = p / (C4 * LANES);
        let column = i32((strip * LANES + p % LANES) * CELLS + (p / LANES) % C4 * 4u) - i32(params.padding);
        var scores = vec4<i32>(PADDING_SCORE);
        for (var q = 0u; q < 4u; q++) {
            if (column >= 0 && u32(column) + q < params.columns) {
                scores[q] = table[row_class * CODES + target_code(u32(column) + q)];
            }
        }
        profile[p] = scores;
    }
    // Safe: each invocation wrote its own entries.
    var lane: Lane;
    // Score that a lane must exceed to record a batch. Lanes before the first column never do.
    var record = select(0, 0x7fffffff, lane_column < 0);
    // The strip's best score, the first step of the first batch that has it, and the number of
    // recorded batches.
    var strip_best = 0;
    var strip_step = 0;
    var kept = 0u;
    let head = strip * HEAD_WORDS;
    // Number of times that the lane may still poll for missing values.
    var patience = params.spin_limit;
    let state_begin = strip * STATE_WORDS * LANES + t;
    if (step_begin == 0) {
        for (var c = 0u; c < CELLS; c++) {
            let above = horizontal[clamp(lane_column + i32(c) + 1, 0, i32(params.columns))];
            lane.h[c] = select(above.x, 0, lane_column < 0);
            lane.gap[c] = select(above.y, params.first, lane_column < 0);
        }
        lane.corner = horizontal[clamp(lane_column, 0, i32(params.columns))].x;
        if (t == LANES - 1u && is_whole(strip + 1u)) {
            let end = horizontal[min(u32(lane_column) + CELLS, params.columns)].x;
            let at = 2u * border_begin(strip + 1u);
            atomicStore(&vertical[at], to_ordered_bits(end));
            atomicStore(&vertical[at + 1u], to_ordered_bits(end + params.first));
        }
    } else {
        for (var c = 0u; c < CELLS; c++) {
            lane.h[c] = state[state_begin + c * LANES];
            lane.gap[c] = state[state_begin + (CELLS + c) * LANES];
        }
        let rest = state_begin + 2u * CELLS * LANES;
        for (var r = 0u; r < 4u; r++) {
            lane.sent_h[r] = state[rest + r * LANES];
            lane.sent_gap[r] = state[rest + (4u + r) * LANES];
        }
        lane.corner = state[rest + 8u * LANES];
        if (BEST) {
            record = state[rest + 9u * LANES];
            strip_best = records[head];
            strip_step = records[head + 1u];
            kept = u32(records[head + 2u]);
        }
    }
    // The best score of all strips is read one batch in advance, too. It only rises, so an older
    // score prunes less but never too much. Pruned batches do not read it, because all strips would
    // read the same address. The number of pruned batches is added at the end.
    var known_ahead = 0;
    var pruned = 0u;
    if (PRUNE) {
        known_ahead = atomicLoad(&shared_best.best);
    }
    let blocks = params.rows / 4u;
    var next_mark = 1u;
    // The first mark at or below the block that the lane computes.
    let first_block = u32(max(step_begin - i32(t), 0));
    next_mark = first_block / params.mark_blocks + 1u;
    var word = 0u;
    if (first_block < blocks) {
        word = query_classes[params.query_begin + first_block];
    }

    let is_end = t == LANES - 1u && strip + 1u == params.strips;
    // The lane that the left border enters. The results of lanes before it are not used. They
    // receive the same values, because the result of a shuffle could otherwise be undefined.
    let first_lane = select(0u, params.padding / CELLS, strip == 0u);

    // Phase 2: batches of steps. The left border is read one batch in advance, because memory is
    // slow.
    var ahead: array<u32, VALUES_A_LANE>;
    for (var k = 0u; k < VALUES_A_LANE; k++) {
        let place = value_index(k * LANES + t, step_begin - i32(first_lane), left_begin, left_mask);
        if (place != NO_INDEX) {
            ahead[k] = atomicLoad(&vertical[place]);
        }
    }
    // Entries of rows outside the panel. Lanes read them but do not use them.
    for (var w = t; w < BATCH_WORDS; w += LANES) {
        incoming[2u * (w / 8u) + (w & 1u)][(w / 2u) & 3u] = 0;
    }
    for (var batch = step_begin; batch < step_end; batch += i32(BATCH)) {
        // Safe: the barrier keeps the values of the last batch until all lanes have read them.
        workgroupBarrier();
        var highest = 0;
        for (var k = 0u; k < VALUES_A_LANE; k++) {
            let w = k * LANES + t;
            let place = value_index(w, batch - i32(first_lane), left_begin, left_mask);
            if (place != NO_INDEX) {
                var value = ahead[k];
                if (PRUNE && PERSISTENT) {
                    value = select(value, clear_value(w), batch - i32(first_lane) + i32(w / 8u) < clear_until);
                }
                if (PERSISTENT) {
                    while (value == 0u && patience > 0u) {
                        value = atomicLoad(&vertical[place]);
                        patience--;
                    }
                    if (value == 0u) {
                        atomicStore(&shared_best.stuck, 1u);
                    }
                    // Safe: the ring is so long that the entry's next value is written only in a
                    // later dispatch.
                    if (!is_whole(strip)) {
                        atomicStore(&vertical[place], 0u);
                    }
                }
                let number = bitcast<i32>(value ^ FLIP);
                incoming[2u * (w / 8u) + (w & 1u)][(w / 2u) & 3u] = number;
                highest = max(highest, number);
            }
        }
        if (batch + i32(BATCH) < step_end) {
            for (var k = 0u; k < VALUES_A_LANE; k++) {
                let place = value_index(k * LANES + t, batch + i32(BATCH) - i32(first_lane), left_begin, left_mask);
                if (place != NO_INDEX) {
                    ahead[k] = atomicLoad(&vertical[place]);
                }
            }
        }
        var known = 0;
        var go = true;
        if (PRUNE) {
            known = max(params.best_floor, bitcast<i32>(of_first(bitcast<u32>(known_ahead), t)));
            // Lower scores need not be recorded.
            record = max(record, known - 1);
            let reach = reach_of(strip, batch);
            // No batch is pruned if a path that starts here could still reach the best score.
            var reaches = true;
            if (reach < known) {
                // Gaps that enter are less than the H from which they come, so the greatest H is an
                // upper bound of all values.
                var tops = max(vec4<i32>(highest, lane.corner, 0, 0), lane.sent_h);
                for (var c4 = 0u; c4 < C4; c4++) {
                    tops = max(tops, vec4<i32>(lane.h[c4 * 4u], lane.h[c4 * 4u + 1u], lane.h[c4 * 4u + 2u], lane.h[c4 * 4u + 3u]));
                }
                highest = max(max(tops.x, tops.y), max(tops.z, tops.w));
                reaches = highest + reach >= known;
            }
            // Safe: its barriers make the new values visible to the lane that reads them.
            go = uniform_any(reaches, t);
        } else {
            // Safe: makes the new values visible to the lane that reads them.
            workgroupBarrier();
        }
        // Whether all blocks of the batch are in the panel, and none of them is the last one before
        // a mark or the last one of the panel.
        let lowest_end = batch - i32(LANES) + 2;
        let highest_end = batch + i32(BATCH);
        let is_plain = lowest_end > 0 && highest_end < i32(blocks)
            && u32(highest_end) / params.mark_blocks == u32(lowest_end - 1) / params.mark_blocks;
        if (PRUNE) {
            if (!go) {
                // No path through this batch can reach the best score, so all lanes drop their
                // values.
                for (var c = 0u; c < CELLS; c++) {
                    lane.h[c] = 0;
                    lane.gap[c] = params.first;
                }
                lane.sent_h = vec4<i32>(0);
                lane.sent_gap = vec4<i32>(params.first);
                lane.corner = 0;
                let upcoming = batch + i32(BATCH) - i32(t);
                if (!is_plain) {
                    clear_marks(lane_column, batch - i32(t), upcoming);
                    next_mark = u32(max(upcoming, 0)) / params.mark_blocks + 1u;
                }
                for (var w = t; w < BATCH_WORDS; w += LANES) {
                    let place = value_index(w, batch - i32(LANES) + 1, right_begin, right_mask);
                    if (place != NO_INDEX) {
                        atomicStore(&vertical[place], clear_value(w));
                    }
                }
                if (upcoming >= 0 && u32(upcoming) < blocks) {
                    word = query_classes[params.query_begin + u32(upcoming)];
                }
                pruned++;
                pruned_in_row++;
                continue;
            }
            known_ahead = atomicLoad(&shared_best.best);
            pruned_in_row = 0u;
        }
        let before = lane;
        let record_before = record;
        // The compiler does not know this number of steps, so it does not unroll the long loop,
        // which would be slower.
        let batch_steps = u32(min(step_end - batch, i32(BATCH)));
        if (is_plain) {
            for (var s = 0u; s < batch_steps; s++) {
                let block = u32(batch + i32(s)) - t;
                let left_h = select(from_left(lane.sent_h, t, 2u * s), incoming[2u * s], t <= first_lane);
                let left_gap = select(from_left(lane.sent_gap, t, 2u * s + 1u), incoming[2u * s + 1u], t <= first_lane);
                let symbols = word;
                word = query_classes[params.query_begin + block + 1u];
                let greatest = compute_block(&lane, symbols, left_h, left_gap, record, t, is_end);
                if (BEST) {
                    record = greatest;
                }
                if (t == LANES - 1u) {
                    outgoing[2u * s] = lane.sent_h;
                    outgoing[2u * s + 1u] = lane.sent_gap;
                }
            }
        } else {
            var mark_end = next_mark * params.mark_blocks;
            for (var s = 0u; s < BATCH; s++) {
                let block = batch + i32(s) - i32(t);
                let left_h = select(from_left(lane.sent_h, t, 2u * s), incoming[2u * s], t <= first_lane);
                let left_gap = select(from_left(lane.sent_gap, t, 2u * s + 1u), incoming[2u * s + 1u], t <= first_lane);
                if (block >= 0 && u32(block) < blocks) {
                    let symbols = word;
                    if (u32(block) + 1u < blocks) {
                        word = query_classes[params.query_begin + u32(block) + 1u];
                    }
                    let greatest = compute_block(&lane, symbols, left_h, left_gap, record, t, is_end);
                    if (BEST) {
                        record = greatest;
                    }
                    if (u32(block) + 1u == mark_end || u32(block) + 1u == blocks) {
                        let at = select(next_mark, params.marks, u32(block) + 1u == blocks) * params.columns_stride;
                        // Only one lane is here at a time. The other lanes wait, and so do all
                        // strips to the right. Therefore there is one test for all columns, except
                        // in the lane with the panel's last column.
                        let place = at + u32(lane_column) + 1u;
                        if (lane_column >= 0 && u32(lane_column) + CELLS <= params.columns) {
                            for (var c = 0u; c < CELLS; c++) {
                                horizontal[place + c] = vec2<i32>(lane.h[c], entering_gap(&lane, c));
                            }
                        } else if (lane_column >= 0) {
                            for (var c = 0u; c < CELLS; c++) {
                                if (u32(lane_column) + c < params.columns) {
                                    horizontal[place + c] = vec2<i32>(lane.h[c], entering_gap(&lane, c));
                                }
                            }
                        }
                        if (lane_column == 0) {
                            horizontal[at] = vec2<i32>(lane.corner, lane.corner + params.first);
                        }
                        next_mark++;
                        mark_end += params.mark_blocks;
                    }
                }
                if (t == LANES - 1u) {
                    outgoing[2u * s] = lane.sent_h;
                    outgoing[2u * s + 1u] = lane.sent_gap;
                }
            }
        }
        if (BEST) {
            let is_new = record > record_before;
            if (any_of_all(is_new, t)) {
                let top = highest_of_all(select(0, record, is_new), t);
                if (top > strip_best) {
                    strip_best = top;
                    strip_step = batch;
                    kept = 0u;
                }
                if (top == strip_best && batch - strip_step < i32(SLOTS * BATCH)) {
                    let slot = params.strips * (HEAD_WORDS + TURN_WORDS) + (strip * SLOTS + kept) * SLOT_WORDS;
                    for (var c = 0u; c < CELLS; c++) {
                        records[slot + c * LANES + t] = before.h[c];
                        records[slot + (CELLS + c) * LANES + t] = before.gap[c];
                    }
                    let rest = slot + 2u * CELLS * LANES + t;
                    for (var r = 0u; r < 4u; r++) {
                        records[rest + r * LANES] = before.sent_h[r];
                        records[rest + (4u + r) * LANES] = before.sent_gap[r];
                    }
                    records[rest + 8u * LANES] = before.corner;
                    let entered = slot + (2u * CELLS + 9u) * LANES;
                    for (var w = t; w < BATCH_WORDS; w += LANES) {
                        records[entered + w] = incoming[2u * (w / 8u) + (w & 1u)][(w / 2u) & 3u];
                    }
                    if (t == 0u) {
                        records[entered + BATCH_WORDS] = batch;
                    }
                    kept++;
                }
                if (PRUNE) {
                    if (t == 0u && top > known) {
                        atomicMax(&shared_best.best, top);
                    }
                }
            }
        }

        // All lanes write the right border. Safe: the barrier makes the last lane's values visible.
        workgroupBarrier();
        for (var w = t; w < BATCH_WORDS; w += LANES) {
            let place = value_index(w, batch - i32(LANES) + 1, right_begin, right_mask);
            if (place != NO_INDEX) {
                atomicStore(&vertical[place], to_ordered_bits(outgoing[2u * (w / 8u) + (w & 1u)][(w / 2u) & 3u]));
            }
        }
    }

    // Phase 3: store the state for the next dispatch.
    for (var c = 0u; c < CELLS; c++) {
        state[state_begin + c * LANES] = lane.h[c];
        state[state_begin + (CELLS + c) * LANES] = lane.gap[c];
    }
    let rest = state_begin + 2u * CELLS * LANES;
    for (var r = 0u; r < 4u; r++) {
        state[rest + r * LANES] = lane.sent_h[r];
        state[rest + (4u + r) * LANES] = lane.sent_gap[r];
    }
    state[rest + 8u * LANES] = lane.corner;
    if (BEST) {
        state[rest + 9u * LANES] = record;
        if (t == 0u) {
            records[head] = strip_best;
            records[head + 1u] = strip_step;
            records[head + 2u] = i32(kept);
        }
    }
    if (PRUNE) {
        if (t == 0u) {
            atomicAdd(&shared_best.pruned, pruned);
            records[turn_index(strip, 1u - params.turn)] = i32(pruned_in_row << 1u);
        }
    }
}
