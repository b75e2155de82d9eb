// sw_striped_score: one very long pair, a strip of columns per workgroup (StripedScore; Li, Ranka and Sahni, section IV).
// Recurrence: H[i,j] = max(H[i-1,j-1] + sub(a[i],b[j]), I[i,j], D[i,j]), in local mode at least 0; kept per column is the gap
//             that enters the next row, I[i+1,j] = max(I[i,j] - next, H[i,j] - first), and along a row D alike.
// Owns:       lane t of strip k keeps CELLS columns in registers, from (k * LANES + t) * CELLS - padding on, and is one block of 4
//             rows behind lane t - 1: at step s it computes block s - t. Lanes before the first column have nothing to do; of
//             the last lane's columns LAST_CELL is the panel's last.
// Layout:     vertical edges: entry (begin(k) + (i & mask(k))) * 2 holds H, the next word the entering gap, along the left edge
//             of strip k. The panel's first and last edge are kept whole, and every keep_strips-th; of the others a ring. Words
//             are stored with their highest bit flipped, so that 0 says "not there yet": no value is the least integer.
//             Horizontal edges: (c * columns_stride + j) * 2, along row min(c * mark, rows).
//             State: (k * STATE_WORDS + w) * LANES + t: what lane t takes up again in the next dispatch.
//             Records: 4 words a strip (its best score, the first step of the first batch that has it, batches kept), then SLOTS
//             slots a strip: word w of lane t before a batch, w * LANES + t, the words that entered in it, and its first step. Between
//             them two words a strip that take turns: how many batches were pruned in a row before a dispatch, twice, and 1 more if
//             the strip was passed over in the one before.
// Schedule:   in a dispatch strip k does steps base - k * lag to base + steps - k * lag. With lag >= steps + LANES - 1 all that it
//             reads was written by earlier dispatches (wavefront). With a smaller lag it waits for its left neighbour
//             (PERSISTENT): strips are taken in order by ticket, so whoever waits waits for one that runs. Since the payload is
//             the flag, no order between two memory locations is relied upon. A wait that is too long ends the dispatch.
// Invariant:  after step s, block s - t of lane t is final, and after a batch all its edges are in global memory. After a
//             batch the strip's slots hold the first batch in which a lane came to the strip's best score, and of the SLOTS - 1
//             that follow those in which another did: lanes to the right come to a block later. The least block that has the
//             score is in one of them, and the host finds the cell there: later batches begin below all blocks of the first.
// Clear:      a strip whose lanes have forgotten all, and whose right edge has nothing that its neighbour has still to read but
//             what was pruned. If all strips from the first one on are clear, and what enters the first one is hopeless, so is all that
//             they would compute in a dispatch: they are passed over (PRUNE and PERSISTENT, with steps >= lag). Their right edges
//             are not written, but for whole ones: who reads them finds by itself that they are clear. All strips find the same, by
//             what was known before the dispatch: `best_floor`, `left_reached` and the words of this turn.
// Uniform:    strip and steps come from the workgroup's number or ticket; all lanes make all steps.
// Limits:     rows are a multiple of 4; values within 32 bits (LongPair::fits).
// Oracle:     src/long/oracle.rs
//
// Constants:  LANES, CELLS, CLASSES (kinds of query symbols), CODES, BATCH (steps between exchanges through memory), LAST_CELL,
//             LOCAL, LINEAR, BEST, PRUNE, PERSISTENT. `lanes` is lanes_subgroup or lanes_workgroup, as the host chooses.

#import lanes

const C4: u32 = CELLS / 4u;
const STATE_WORDS: u32 = 2u * CELLS + 10u;
const FLIP: u32 = 0x80000000u;
// Scores of padding: no path gains by it, and no sum with it wraps.
const PADDING: i32 = -536870912;
const NOWHERE: u32 = 0xffffffffu;
const BATCH_WORDS: u32 = BATCH * 8u;
const WORDS_A_LANE: u32 = (BATCH_WORDS + LANES - 1u) / LANES;
// Batches whose blocks are not all below those of the first of them.
const SLOTS: u32 = (LANES + BATCH - 2u) / BATCH + 1u;
const SLOT_WORDS: u32 = (2u * CELLS + 9u) * LANES + BATCH_WORDS + 1u;
const HEAD_WORDS: u32 = 4u;
const TURN_WORDS: u32 = 2u;
// Strips that a lane asks for at once.
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
    // What a gap's first and each further symbol add: not above 0.
    first: i32,
    next: i32,
    greatest: i32,
    rows_to_end: i32,
    columns_to_end: i32,
    best_floor: i32,
    spin_limit: u32,
    // Every so many-th edge between strips is kept whole.
    keep_strips: u32,
    // Entries of all edges that are kept whole: where the rings begin.
    rings_begin: u32,
    // Columns that the first strip lacks, a multiple of CELLS.
    padding: u32,
    // The greatest H that the first strip's left edge has in this dispatch, and which of a strip's words that take turns is of it.
    left_reached: i32,
    turn: u32,
}

// What a sweep tells: the best score of all strips, the next ticket, whether a wait was too long, batches that were pruned.
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
// Edges of a batch: of each step four rows' H, then their gaps.
var<workgroup> incoming: array<vec4<i32>, 2u * BATCH>;
var<workgroup> outgoing: array<vec4<i32>, 2u * BATCH>;

fn target_code(j: u32) -> u32 {
    let at = params.target_begin + j;
    return (target_codes[at / 4u] >> (8u * (at & 3u))) & 255u;
}

fn is_whole(k: u32) -> bool {
    return k % params.keep_strips == 0u || k == params.strips;
}

// First entry of strip k's left edge, and which bits of a row choose one.
fn edge_begin(k: u32) -> u32 {
    let whole = (k + params.keep_strips - 1u) / params.keep_strips;
    return select(params.rings_begin + (k - whole) * params.inner_entries, whole * params.whole_entries, is_whole(k));
}

fn edge_mask(k: u32) -> u32 {
    return select(params.inner_mask, 0xffffffffu, is_whole(k));
}

// Where word w of a batch is in the left edge of a strip, or the greatest number if it is none of the panel's: edges begin
// at entry `begin`.
fn word_place(w: u32, first_block: i32, begin: u32, mask: u32) -> u32 {
    let row = first_block * 4 + i32(w / 2u) + 1;
    if (w >= BATCH_WORDS || row <= 0 || row > i32(params.rows)) {
        return NOWHERE;
    }
    return 2u * (begin + (u32(row) & mask)) + (w & 1u);
}

// Word w of an edge that is clear.
fn clear_word(w: u32) -> u32 {
    return flipped(select(0, params.first, (w & 1u) == 1u));
}

// Where the word of a strip is that tells of this turn, or of the next one.
fn turn_place(strip: u32, turn: u32) -> u32 {
    return params.strips * (HEAD_WORDS + turn) + strip;
}

// What a path can gain from where a strip begins a batch: no path has more steps that score than there are rows or columns left.
fn reach_of(strip: u32, batch: i32) -> i32 {
    let rows_left = params.rows_to_end - 4 * max(batch - i32(LANES) + 1, 0);
    let columns_left = params.columns_to_end - max(i32(strip * LANES * CELLS) - i32(params.padding), 0);
    return max(min(rows_left, columns_left), 0) * params.greatest;
}

// Whether a strip is clear before this dispatch, and nothing that could begin in it comes to the best.
fn is_clear(strip: u32) -> bool {
    let shift = params.base - i32(strip) * params.lag;
    let pruned = i32(u32(records[turn_place(strip, params.turn)]) >> 1u);
    // Who begins in this dispatch has no word yet.
    return shift > 0 && pruned * i32(BATCH) >= params.lag && reach_of(strip, shift) < params.best_floor;
}

// The first strip that is not passed over in this dispatch, as far as it is not right of this one. To be called by all lanes.
fn first_at_work(strip: u32, t: u32) -> u32 {
    if (params.first_strip == 0u) {
        if (params.left_reached + reach_of(0u, max(params.base, 0)) >= params.best_floor) {
            return 0u;
        }
    } else if (i32(u32(records[turn_place(params.first_strip - 1u, params.turn)]) >> 1u) * i32(BATCH) < params.lag) {
        return params.first_strip;
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

// Writes along marked rows, and along the last one, that a lane's columns are clear, for blocks from first to after.
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
            // Of the panel's left edge too, lest what an earlier panel left stay here.
            horizontal[at] = vec2<i32>(0, params.first);
        }
        if (end == blocks) {
            return;
        }
    }
}

fn flipped(value: i32) -> u32 {
    return bitcast<u32>(value) ^ FLIP;
}

// What a lane computes from: its columns above the block, and the cell left of these; what it hands on of the block.
struct Lane {
    h: array<i32, CELLS>,
    gap: array<i32, CELLS>,
    corner: i32,
    sent_h: vec4<i32>,
    sent_gap: vec4<i32>,
}

// The gap that enters the row below in a column.
fn entering_gap(lane: ptr<function, Lane>, c: u32) -> i32 {
    if (LINEAR) {
        return (*lane).h[c] + params.first;
    }
    return (*lane).gap[c];
}

// Computes four rows, `symbols` being theirs; the greatest of `floor` and their H. No branch is inside, so that rows can overlap, and
// vectors turn, so that every index is a constant and all stays in registers.
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
                // Maxima of three are one instruction on some chips.
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

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    var strip = params.first_strip + workgroup.x;
    if (PERSISTENT) {
        var ticket = 0u;
        if (t == 0u) {
            ticket = atomicAdd(&shared_best.ticket, 1u);
        }
        strip = params.first_strip + of_first(ticket, t);
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

    // Phase 1: whether there is anything to do; the profile, and where the lane stands.
    let lane_column = i32((strip * LANES + t) * CELLS) - i32(params.padding);
    let left_begin = edge_begin(strip);
    let left_mask = edge_mask(strip);
    let right_begin = edge_begin(strip + 1u);
    let right_mask = edge_mask(strip + 1u);
    // Batches that were pruned in a row, and blocks below which the left edge is clear though nobody wrote so.
    var pruned_in_row = 0u;
    var clear_until = -1;
    if (PRUNE && PERSISTENT) {
        if (step_begin > 0) {
            pruned_in_row = u32(records[turn_place(strip, params.turn)]) >> 1u;
        }
        if (params.steps >= params.lag && strip > 0u) {
            let left_shift = clamp(shift + params.lag, 0, params.total_steps);
            if (left_shift > 0 && (u32(records[turn_place(strip - 1u, params.turn)]) & 1u) == 1u) {
                clear_until = left_shift - i32(LANES) + 1;
            }
        }
        var at_work = 0u;
        if (params.steps >= params.lag) {
            at_work = first_at_work(strip, t);
        }
        if (at_work >= strip && strip > params.first_strip) {
            clear_until = 0x7fffffff;
            if (!is_whole(strip)) {
                // What the strip to the left wrote before it was passed over is not to be found when its places are used again.
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
                        atomicStore(&vertical[2u * (right_begin + u32(row)) + (w & 1u)], clear_word(w));
                    }
                }
            }
            if (t == 0u) {
                let batches = u32(step_end - step_begin) / BATCH;
                records[turn_place(strip, 1u - params.turn)] = i32(((pruned_in_row + batches) << 1u) | 1u);
                atomicAdd(&shared_best.pruned, batches);
            }
            return;
        }
    }
    for (var p = t; p < CLASSES * C4 * LANES; p += LANES) {
        let row_class = p / (C4 * LANES);
        let column = i32((strip * LANES + p % LANES) * CELLS + (p / LANES) % C4 * 4u) - i32(params.padding);
        var scores = vec4<i32>(PADDING);
        for (var q = 0u; q < 4u; q++) {
            if (column >= 0 && u32(column) + q < params.columns) {
                scores[q] = table[row_class * CODES + target_code(u32(column) + q)];
            }
        }
        profile[p] = scores;
    }
    // Safe: each entry is its writer's alone.
    var lane: Lane;
    // What a lane has to surpass for a new record: columns before the first never do.
    var record = select(0, 0x7fffffff, lane_column < 0);
    // Of the strip: its best score, the first step of the first batch that has it, and how many batches are kept.
    var strip_best = 0;
    var strip_step = 0;
    var kept = 0u;
    let head = strip * HEAD_WORDS;
    // How often the lane may still ask for what is not there yet.
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
            let at = 2u * edge_begin(strip + 1u);
            atomicStore(&vertical[at], flipped(end));
            atomicStore(&vertical[at + 1u], flipped(end + params.first));
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
    // The best score of all strips is asked for a batch ahead, too. It only rises: an older one prunes less. Where batches are pruned
    // nobody asks, as all strips ask at the same place, and what was pruned is told at the end.
    var known_ahead = 0;
    var pruned = 0u;
    if (PRUNE) {
        known_ahead = atomicLoad(&shared_best.best);
    }
    let blocks = params.rows / 4u;
    var next_mark = 1u;
    // The first mark at or below the block that the lane is to compute.
    let first_block = u32(max(step_begin - i32(t), 0));
    next_mark = first_block / params.mark_blocks + 1u;
    var word = 0u;
    if (first_block < blocks) {
        word = query_classes[params.query_begin + first_block];
    }

    let is_end = t == LANES - 1u && strip + 1u == params.strips;
    // The lane that the left edge enters. Nobody listens to lanes before it; they get the same, as a shuffle might give them anything.
    let first_lane = select(0u, params.padding / CELLS, strip == 0u);

    // Phase 2: batches of steps. The left edge of a batch is asked for a batch ahead: memory is far.
    var ahead: array<u32, WORDS_A_LANE>;
    for (var k = 0u; k < WORDS_A_LANE; k++) {
        let place = word_place(k * LANES + t, step_begin - i32(first_lane), left_begin, left_mask);
        if (place != NOWHERE) {
            ahead[k] = atomicLoad(&vertical[place]);
        }
    }
    for (var batch = step_begin; batch < step_end; batch += i32(BATCH)) {
        // Safe: the barrier keeps the words of the last batch until all lanes have done with them.
        workgroupBarrier();
        var highest = 0;
        for (var k = 0u; k < WORDS_A_LANE; k++) {
            let w = k * LANES + t;
            let place = word_place(w, batch - i32(first_lane), left_begin, left_mask);
            if (place != NOWHERE) {
                var value = ahead[k];
                if (PRUNE && PERSISTENT) {
                    value = select(value, clear_word(w), batch - i32(first_lane) + i32(w / 8u) < clear_until);
                }
                if (PERSISTENT) {
                    while (value == 0u && patience > 0u) {
                        value = atomicLoad(&vertical[place]);
                        patience--;
                    }
                    if (value == 0u) {
                        atomicStore(&shared_best.stuck, 1u);
                    }
                    // Safe: the ring is long enough that the slot's next value comes in a later dispatch.
                    if (!is_whole(strip)) {
                        atomicStore(&vertical[place], 0u);
                    }
                }
                let number = bitcast<i32>(value ^ FLIP);
                incoming[2u * (w / 8u) + (w & 1u)][(w / 2u) & 3u] = number;
                highest = max(highest, number);
            }
        }
        // Safe: shows the new words to the lane that they are for.
        workgroupBarrier();
        if (batch + i32(BATCH) < step_end) {
            for (var k = 0u; k < WORDS_A_LANE; k++) {
                let place = word_place(k * LANES + t, batch + i32(BATCH) - i32(first_lane), left_begin, left_mask);
                if (place != NOWHERE) {
                    ahead[k] = atomicLoad(&vertical[place]);
                }
            }
        }
        // Whether all blocks of the batch are the panel's, and none is the last before a mark, or the last of all.
        let lowest_end = batch - i32(LANES) + 2;
        let highest_end = batch + i32(BATCH);
        let is_plain = lowest_end > 0 && highest_end < i32(blocks)
            && u32(highest_end) / params.mark_blocks == u32(lowest_end - 1) / params.mark_blocks;
        var known = 0;
        if (PRUNE) {
            var go = true;
            known = max(params.best_floor, bitcast<i32>(of_first(bitcast<u32>(known_ahead), t)));
            // Nobody asks for less.
            record = max(record, known - 1);
            let reach = reach_of(strip, batch);
            // Where a path could begin and still come to the best, none is hopeless.
            if (reach < known) {
                // Entering gaps are below the H that they leave, so H bounds all.
                var tops = max(vec4<i32>(highest, lane.corner, 0, 0), lane.sent_h);
                for (var c4 = 0u; c4 < C4; c4++) {
                    tops = max(tops, vec4<i32>(lane.h[c4 * 4u], lane.h[c4 * 4u + 1u], lane.h[c4 * 4u + 2u], lane.h[c4 * 4u + 3u]));
                }
                highest = max(max(tops.x, tops.y), max(tops.z, tops.w));
                go = any_of_all(highest + reach >= known, t);
            }
            if (!go) {
                // Nothing that passes here reaches the best: all lanes forget what they have.
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
                    let place = word_place(w, batch - i32(LANES) + 1, right_begin, right_mask);
                    if (place != NOWHERE) {
                        atomicStore(&vertical[place], clear_word(w));
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
        // A number that the compiler does not know keeps it from unrolling so long a loop, which takes longer.
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
                        // One lane is here at a time and the others wait, and with them all strips to the right: so there is
                        // one question for all columns but those of the lane with the panel's last.
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

        // The right edge, by all lanes. Safe: the barrier shows what the last lane left.
        workgroupBarrier();
        for (var w = t; w < BATCH_WORDS; w += LANES) {
            let place = word_place(w, batch - i32(LANES) + 1, right_begin, right_mask);
            if (place != NOWHERE) {
                atomicStore(&vertical[place], flipped(outgoing[2u * (w / 8u) + (w & 1u)][(w / 2u) & 3u]));
            }
        }
    }

    // Phase 3: what the next dispatch takes up.
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
            records[turn_place(strip, 1u - params.turn)] = i32(pruned_in_row << 1u);
        }
    }
}
