// nw_forward_reverse_thread: nw_forward_reverse with one pair per invocation. Columns are processed
// in slices that stay in registers, as in sw_ends. The parts of the recursion are computed one
// after the other.
// Recurrence: see nw_forward_reverse, including its choice among equal columns. Cells have
//             params.extension added for every symbol before them, so that extending a gap costs
//             nothing. The table includes the extensions of both symbols of a pair. All alignments
//             between the same corners have the same total added.
// Owns:       each invocation computes its own pair. Parts at one depth of the recursion have about
//             the same number of rows. Therefore all invocations of a workgroup compute the parts
//             at the same place of their recursion trees at the same time. An invocation without a
//             part there waits.
// Layout:     scratch[((group * 3 + part) * params.entries + k) * WG + t]. Part 0: H of row k at
//             the last column of a slice, and E of the column after it. Part 1: H and D of column k
//             in the last row of the upper half. Part 2: the same for the lower half.
// Invariant:  bit d of `live` is set if pending[d] is a part that has not been computed.
// Uniform:    the bounds of the loop around barriers come from params.
// Limits:     scores within 32 bits (ScoreTable::holds rejects others); params.entries - 1 rows and
//             columns.
// Oracle:     src/clustal/oracle.rs
//
// Constants:  WG (invocations per workgroup), SLICE (columns of a slice), STRIDE (length of a table
//             row, greater than CODES and odd, so that rows start in different banks), CODES (size
//             of the alphabet).

#import clustal

@group(0) @binding(6) var<storage, read_write> scratch: array<vec2<i32>>;

// Upper bound on the depth of the recursion for any number of rows.
const DEPTHS: u32 = 34u;
const NEG_INF: i32 = -0x7fffffff;

// A part of the rectangle. Rows are residues of the first sequence.
struct Part {
    // Number of residues before the part, then in the part, in both sequences.
    row: u32,
    column: u32,
    rows: u32,
    columns: u32,
    // Cost of opening a gap at the first and at the last corner.
    head: i32,
    tail: i32,
}

// Scores of two codes, with two extensions added. Each row ends with the highest score of its code,
// with nothing added.
var<workgroup> scores: array<i32, CODES * STRIDE>;
// Maximum depth of the recursion in any pair of the workgroup.
var<workgroup> wg_depth: atomic<u32>;

// Returns the score of a gap of `symbols` symbols at a corner, with the extensions of all its
// symbols added.
fn border_value(symbols: u32, opening: i32) -> i32 {
    return select(-opening, 0, symbols == 0u);
}

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    let group = workgroup.x + workgroup.y * workgroups.x;
    if (group >= params.groups) {
        return;
    }
    for (var k = t; k < CODES * CODES; k += WG) {
        scores[k / CODES * STRIDE + k % CODES] = table[k] + 2 * params.extension;
    }
    for (var k = t; k < CODES; k += WG) {
        scores[k * STRIDE + CODES] = table[CODES * CODES + k];
    }
    let border = group * 3u * params.entries * WG + t;
    for (var begin = params.task_begin + group * WG; begin < params.task_end; begin += params.groups * WG) {
        // Safe: all invocations have read the depth before this barrier. None changes it before the
        //       next barrier, except to reset it.
        workgroupBarrier();
        if (t == 0u) {
            atomicStore(&wg_depth, 0u);
        }
        workgroupBarrier();
        // Invocations without a pair repeat the last one and get no parts.
        let place = min(begin + t, params.task_end - 1u);
        let pair = pairs[place];
        let own = found[place];
        let opening = pair.opening;
        let extension = params.extension;
        // First symbol and number of symbols of the rectangle, in both sequences.
        let start_column = pair.query_symbols - 1u - own.columns_back;
        let of_target = vec2<u32>(pair.target_begin + own.end_row - own.rows_back, own.rows_back + 1u);
        let of_query = vec2<u32>(pair.query + start_column, own.end_column + 1u - start_column);
        let all_rows = select(of_query, of_target, pair.by_rows != 0u);
        let all_columns = select(of_target, of_query, pair.by_rows != 0u);
        var pending: array<Part, DEPTHS>;
        var live = 0u;
        if (own.score > 0 && begin + t < params.task_end) {
            pending[0] = Part(0u, 0u, all_rows.y, all_columns.y, 0, 0);
            live = 1u;
            atomicMax(&wg_depth, 32u - countLeadingZeros(all_rows.y - 1u));
        }
        workgroupBarrier();
        let depth = atomicLoad(&wg_depth);
        var identities = 0u;
        for (var leaf = 0u; leaf < (1u << depth); leaf++) {
            var level = select(depth - countTrailingZeros(leaf), 0u, leaf == 0u);
            let is_live = (live & (1u << level)) != 0u;
            // All deeper parts are finished.
            live &= (1u << level) - 1u;
            var part = pending[level];
            part.rows = select(0u, part.rows, is_live);
            while (part.rows > 0u && part.columns > 0u) {
                let rows = part.rows;
                let columns = part.columns;
                let a = all_rows.x + part.row;
                let b = all_columns.x + part.column;
                level += 1u;
                part.rows = 0u;

                // Phase 1: take the main diagonal if it scores higher than any alignment with gaps.
                // Such an alignment has a gap in both sequences and at least one residue pair less.
                if (rows == columns) {
                    var score = 0;
                    var same = 0u;
                    var most = 0;
                    var least = 0x7fffffff;
                    for (var k = 0u; k < rows; k++) {
                        let code = symbol(a + k);
                        let other = symbol(b + k);
                        let greatest = scores[code * STRIDE + CODES];
                        score += scores[code * STRIDE + other];
                        same += select(0u, 1u, code == other);
                        most += greatest;
                        least = min(least, greatest);
                    }
                    let paid = select(0, opening, part.head > 0) + select(0, opening, part.tail > 0);
                    if (score - 2 * extension * i32(rows) > most - least - paid - 2 * extension) {
                        identities += same;
                        continue;
                    }
                }

                // Phase 2: align the only row with the best column, if that scores higher than a
                // gap.
                if (rows == 1u) {
                    let code = symbol(a);
                    var best = max(border_value(1u, part.head) + border_value(columns, part.tail), border_value(1u, part.tail) + border_value(columns, part.head));
                    var same = 0u;
                    for (var j = 0u; j < columns; j++) {
                        let other = symbol(b + j);
                        let score = scores[code * STRIDE + other] + border_value(j, part.head) + border_value(columns - 1u - j, part.tail);
                        if (score > best) {
                            best = score;
                            same = select(0u, 1u, code == other);
                        }
                    }
                    identities += same;
                    continue;
                }

                // Phase 3: sweep forwards over the upper half of the rows, then backwards over the
                // lower half.
                let middle = rows / 2u;
                for (var half = 0u; half < 2u; half++) {
                    let is_back = half == 1u;
                    let own_rows = select(middle, rows - middle, is_back);
                    let corner_opening = select(part.head, part.tail, is_back);
                    let last = border + (half + 1u) * params.entries * WG;
                    scratch[last] = vec2<i32>(border_value(own_rows, corner_opening));
                    for (var column = 0u; column < columns; column += SLICE) {
                        let width = min(SLICE, columns - column);
                        let is_last = column + SLICE >= columns;
                        // Cells of the row before the first.
                        var codes: array<u32, SLICE>;
                        var h: array<i32, SLICE>;
                        var f: array<i32, SLICE>;
                        for (var c = 0u; c < SLICE; c++) {
                            let j = min(column + c, columns - 1u);
                            codes[c] = symbol(b + select(j, columns - 1u - j, is_back));
                            h[c] = border_value(column + c + 1u, corner_opening);
                            f[c] = h[c] - opening;
                        }
                        var corner = border_value(column, corner_opening);

                        // Inputs are loaded one row in advance, which hides the latency.
                        var next_code = symbol(a + select(0u, rows - 1u, is_back));
                        var next_border = vec2<i32>(0);
                        if (column > 0u) {
                            next_border = scratch[border];
                        }
                        for (var row = 0u; row < own_rows; row++) {
                            let of_row = next_code * STRIDE;
                            var diagonal = corner;
                            corner = border_value(row + 1u, corner_opening);
                            var e = corner - opening;
                            if (column > 0u) {
                                corner = next_border.x;
                                e = next_border.y;
                            }
                            let next = min(row + 1u, own_rows - 1u);
                            next_code = symbol(a + select(next, rows - 1u - next, is_back));
                            if (column > 0u) {
                                next_border = scratch[border + next * WG];
                            }
                            if (row + 1u == own_rows) {
                                for (var c = 0u; c < SLICE; c++) {
                                    if (c < width) {
                                        scratch[last + (column + c + 1u) * WG].y = f[c];
                                    }
                                }
                            }
                            // Columns beyond the last one of the part are computed too. No other
                            // cell depends on them.
                            for (var c = 0u; c < SLICE; c++) {
                                let aligned = diagonal + scores[of_row + codes[c]];
                                diagonal = h[c];
                                let cell = max(max(aligned, f[c]), e);
                                let opened = cell - opening;
                                f[c] = max(f[c], opened);
                                e = max(e, opened);
                                h[c] = cell;
                            }
                            if (!is_last) {
                                scratch[border + row * WG] = vec2<i32>(h[SLICE - 1u], e);
                            }
                        }
                        for (var c = 0u; c < SLICE; c++) {
                            if (c < width) {
                                scratch[last + (column + c + 1u) * WG].x = h[c];
                            }
                        }
                    }
                }

                // Phase 4: add the scores of both halves at the middle row. A gap across the middle
                // has paid its opening twice, so one opening is added back.
                var score = NEG_INF;
                var column = 0u;
                var gap_score = NEG_INF;
                var gap = 0u;
                let upper = border + params.entries * WG;
                let lower = upper + (params.entries + columns) * WG;
                for (var j = 0u; j <= columns; j++) {
                    let from_head = scratch[upper + j * WG];
                    let from_tail = scratch[lower - j * WG];
                    let sum = from_head.x + from_tail.x;
                    let turns = from_head.x != from_head.y && from_tail.x == from_tail.y;
                    if (sum > score || (sum == score && turns)) {
                        score = sum;
                        column = j;
                    }
                    let gap_sum = from_head.y + from_tail.y + opening;
                    if (gap_sum >= gap_score) {
                        gap_score = gap_sum;
                        gap = j;
                    }
                }
                let in_gap = gap_score > score;
                column = select(column, gap, in_gap);
                // A gap across the middle includes the rows on both sides. It continues in both
                // parts without another opening cost.
                let taken = select(0u, 1u, in_gap);
                let between = select(opening, 0, in_gap);
                pending[level] = Part(part.row + middle + taken, part.column + column, rows - middle - taken, columns - column,
                                      between, part.tail);
                live |= 1u << level;
                part = Part(part.row, part.column, middle - taken, column, part.head, between);
            }
        }
        if (begin + t < params.task_end) {
            found[place].identities = identities;
        }
    }
}
