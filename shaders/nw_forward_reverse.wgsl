// nw_forward_reverse: counts the identities of ClustalW's alignment in the rectangle of a pair,
// with one pair per workgroup. Half of the invocations sweep forwards over the upper half of the
// rows. The other half sweep backwards over the lower half (CUDA ClustalW, Hung et al. 2015).
// Recurrence: H[i,j] = max(H[i-1,j-1] + score, D[i,j], E[i,j]). D[i,j] = max(D[i-1,j], H[i-1,j] -
//             opening) - extension. E is the same from column to column. A gap at a corner of a
//             part has the opening cost of that corner. At the middle row, the column with the
//             highest sum of H and H, or of D and D, splits the part into two (Myers and Miller
//             1988). The sum of D and D counts one opening only, and wins only if it is higher.
//             Among equal sums of H and H, ClustalW takes the last column where H is no gap above
//             and a gap below. If there is none, it takes the first column.
// Owns:       in each strip of ROWS * WG / 2 rows, invocation l of a half computes ROWS rows. In
//             step k it computes column k - l, so the half sweeps the strip by anti-diagonals.
// Layout:     scratch[(group * 4 + half * 2 + part) * params.entries + j]: H and D of column j.
//             Part 0 is the last row of the previous strip, and part 1 the last row of the half.
// Invariant:  at the start of a strip, part 0 contains every column of the row before the strip.
// Uniform:    the bounds of loops with barriers come from params and from workgroupUniformLoad.
// Limits:     scores within 32 bits (ScoreTable::holds rejects others); params.entries - 1 columns.
// Oracle:     src/clustal/oracle.rs
//
// Constants:  WG (invocations per workgroup, even), ROWS (rows per invocation), CODES (size of the
//             alphabet).

#import clustal

@group(0) @binding(6) var<storage, read_write> scratch: array<vec2<i32>>;

// Number of invocations of a half.
const HALF: u32 = WG / 2u;
// Capacity of `waiting`. Halving leaves at most one waiting part per depth of the recursion.
const WAITING: u32 = 40u;
const NO_INDEX: u32 = 0xffffffffu;
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

// The best crossing of a part's middle row that an invocation has seen. In a part with one row, it
// is the best column for that row.
struct Crossing {
    score: i32,
    first: u32,
    // The last column that ClustalW prefers, or NO_INDEX if there is none.
    preferred: u32,
    gap_score: i32,
    gap: u32,
}

var<workgroup> waiting: array<Part, WAITING>;
var<workgroup> wg_part: Part;
// Number of waiting parts, and number of identities so far.
var<workgroup> wg_count: u32;
var<workgroup> wg_same: u32;
// Sums over the main diagonal of a part: score, identities, and the highest possible score of each
// row. The fourth value is the minimum of these row scores.
var<workgroup> diagonal_sums: array<atomic<i32>, 4>;
var<workgroup> wg_is_diagonal: u32;
// H and D below the last row of each invocation. Even and odd steps use separate halves.
var<workgroup> handed: array<vec2<i32>, 2u * WG>;
var<workgroup> crossings: array<Crossing, WG>;

fn wait(part: Part) {
    if (part.rows > 0u && part.columns > 0u) {
        waiting[wg_count] = part;
        wg_count += 1u;
    }
}

// Returns the score of a gap of `symbols` symbols at a corner.
fn border_value(symbols: u32, opening: i32) -> i32 {
    return select(-opening - params.extension * i32(symbols), 0, symbols == 0u);
}

fn score_of(a: u32, b: u32) -> i32 {
    return table[symbol(a) * CODES + symbol(b)];
}

// Combines the crossings of two invocations.
fn combine(a: Crossing, b: Crossing) -> Crossing {
    var all = a;
    if (b.score > a.score) {
        all.score = b.score;
        all.first = b.first;
        all.preferred = b.preferred;
    } else if (b.score == a.score) {
        all.first = min(a.first, b.first);
        if (b.preferred != NO_INDEX && (a.preferred == NO_INDEX || b.preferred > a.preferred)) {
            all.preferred = b.preferred;
        }
    }
    if (b.gap_score > a.gap_score || (b.gap_score == a.gap_score && b.gap > a.gap)) {
        all.gap_score = b.gap_score;
        all.gap = b.gap;
    }
    return all;
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
    let is_back = t >= HALF;
    let lane = t % HALF;
    let upper = group * 4u * params.entries;
    let lower = upper + 2u * params.entries;
    let own_border = select(upper, lower, is_back);
    let own_last = own_border + params.entries;
    for (var place = params.task_begin + group; place < params.task_end; place += params.groups) {
        let pair = pairs[place];
        let own = found[place];
        let opening = pair.opening;
        let extension = params.extension;
        // First symbol and number of symbols of the rectangle, in both sequences.
        let start_column = pair.query_symbols - 1u - own.columns_back;
        let of_target = vec2<u32>(pair.target_begin + own.end_row - own.rows_back, own.rows_back + 1u);
        let of_query = vec2<u32>(pair.query + start_column, own.end_column + 1u - start_column);
        let first = select(of_query, of_target, pair.by_rows != 0u).x;
        let second = select(of_target, of_query, pair.by_rows != 0u).x;
        if (t == 0u) {
            wg_count = 0u;
            wg_same = 0u;
            if (own.score > 0) {
                let rows = select(of_query, of_target, pair.by_rows != 0u).y;
                let columns = select(of_target, of_query, pair.by_rows != 0u).y;
                wait(Part(0u, 0u, rows, columns, 0, 0));
            }
        }
        loop {
            if (t == 0u) {
                wg_part = Part(0u, 0u, 0u, 0u, 0, 0);
                if (wg_count > 0u) {
                    wg_count -= 1u;
                    wg_part = waiting[wg_count];
                }
                atomicStore(&diagonal_sums[0], 0);
                atomicStore(&diagonal_sums[1], 0);
                atomicStore(&diagonal_sums[2], 0);
                atomicStore(&diagonal_sums[3], 0x7fffffff);
            }
            // Safe: workgroupUniformLoad includes a barrier before and after the load.
            let part = workgroupUniformLoad(&wg_part);
            let rows = part.rows;
            let columns = part.columns;
            if (rows == 0u) {
                break;
            }
            let a = first + part.row;
            let b = second + part.column;

            // Phase 1: take the main diagonal if it scores higher than any alignment with gaps.
            // Such an alignment has a gap in both sequences and at least one residue pair less.
            if (rows == columns) {
                var sums = vec4<i32>(0, 0, 0, 0x7fffffff);
                for (var k = t; k < rows; k += WG) {
                    let code = symbol(a + k);
                    let other = symbol(b + k);
                    let most = table[CODES * CODES + code];
                    sums += vec4<i32>(table[code * CODES + other], select(0, 1, code == other), most, 0);
                    sums.w = min(sums.w, most);
                }
                atomicAdd(&diagonal_sums[0], sums.x);
                atomicAdd(&diagonal_sums[1], sums.y);
                atomicAdd(&diagonal_sums[2], sums.z);
                atomicMin(&diagonal_sums[3], sums.w);
                workgroupBarrier();
                if (t == 0u) {
                    let paid = select(0, opening, part.head > 0) + select(0, opening, part.tail > 0);
                    let others = atomicLoad(&diagonal_sums[2]) - atomicLoad(&diagonal_sums[3]) - paid - 2 * extension;
                    wg_is_diagonal = select(0u, 1u, atomicLoad(&diagonal_sums[0]) > others);
                    if (wg_is_diagonal != 0u) {
                        wg_same += u32(atomicLoad(&diagonal_sums[1]));
                    }
                }
                if (workgroupUniformLoad(&wg_is_diagonal) != 0u) {
                    continue;
                }
            }

            var best = Crossing(NEG_INF, NO_INDEX, NO_INDEX, NEG_INF, 0u);
            let middle = rows / 2u;
            if (rows == 1u) {
                // Phase 2: find the best column for the only row. Phase 6 compares it with a gap.
                for (var j = t; j < columns; j += WG) {
                    let score = score_of(a, b + j) + border_value(j, part.head) + border_value(columns - 1u - j, part.tail);
                    if (score > best.score) {
                        best.score = score;
                        best.first = j;
                    }
                }
            } else {
                // Phase 3: set the row before the first row of each half.
                let corner_opening = select(part.head, part.tail, is_back);
                let own_rows = select(middle, rows - middle, is_back);
                for (var j = lane; j <= columns; j += HALF) {
                    let h = border_value(j, corner_opening);
                    scratch[own_border + j] = vec2<i32>(h, h - opening);
                }
                if (lane == 0u) {
                    scratch[own_last] = vec2<i32>(border_value(own_rows, corner_opening));
                }
                storageBarrier();
                workgroupBarrier();

                // Phase 4: sweep the strips. The lower half has at least as many rows as the upper
                // half, so it determines the number of strips.
                let strip_rows = HALF * ROWS;
                let strips = (rows - middle + strip_rows - 1u) / strip_rows;
                let lanes = min(HALF, (rows - middle + ROWS - 1u) / ROWS);
                for (var strip = 0u; strip < strips; strip++) {
                    let row_begin = strip * strip_rows + lane * ROWS;
                    var h: array<i32, ROWS>;
                    var e: array<i32, ROWS>;
                    var codes: array<u32, ROWS>;
                    for (var r = 0u; r < ROWS; r++) {
                        h[r] = border_value(row_begin + r + 1u, corner_opening);
                        e[r] = h[r] - opening;
                        let row = min(row_begin + r, own_rows - 1u);
                        codes[r] = symbol(a + select(row, rows - 1u - row, is_back)) * CODES;
                    }
                    var corner = border_value(row_begin, corner_opening);
                    for (var k = 0u; k < columns + lanes - 1u; k++) {
                        // If lane > k, j wraps around to a value beyond the last column.
                        let j = k - lane;
                        if (j < columns && row_begin < own_rows) {
                            let code = symbol(b + select(j, columns - 1u - j, is_back));
                            var up: vec2<i32>;
                            if (lane == 0u) {
                                up = scratch[own_border + j + 1u];
                            } else {
                                up = handed[((k + 1u) % 2u) * WG + t - 1u];
                            }
                            var diagonal = corner;
                            corner = up.x;
                            for (var r = 0u; r < ROWS; r++) {
                                let aligned = diagonal + table[codes[r] + code];
                                diagonal = h[r];
                                up.y = max(up.x - opening, up.y) - extension;
                                e[r] = max(h[r] - opening, e[r]) - extension;
                                up.x = max(max(aligned, up.y), e[r]);
                                h[r] = up.x;
                                if (row_begin + r + 1u == own_rows) {
                                    scratch[own_last + j + 1u] = up;
                                }
                            }
                            handed[(k % 2u) * WG + t] = up;
                            if (lane == HALF - 1u) {
                                scratch[own_border + j + 1u] = up;
                            }
                        }
                        // Safe: values written in this step are read in the next one, which writes
                        //       to other entries.
                        workgroupBarrier();
                    }
                    storageBarrier();
                    workgroupBarrier();
                }

                // Phase 5: add the scores of both halves at the middle row.
                for (var j = t; j <= columns; j += WG) {
                    let from_head = scratch[upper + params.entries + j];
                    let from_tail = scratch[lower + params.entries + columns - j];
                    let turns = from_head.x != from_head.y && from_tail.x == from_tail.y;
                    let own = Crossing(from_head.x + from_tail.x, j, select(NO_INDEX, j, turns),
                                       from_head.y + from_tail.y + opening, j);
                    best = combine(best, own);
                }
            }
            crossings[t] = best;
            storageBarrier();
            workgroupBarrier();

            // Phase 6: combine the crossings of all invocations and split the part.
            if (t == 0u) {
                let count = min(WG, columns + 1u);
                for (var other = 1u; other < count; other++) {
                    best = combine(best, crossings[other]);
                }
                if (rows == 1u) {
                    let left = max(border_value(1u, part.head) + border_value(columns, part.tail), border_value(1u, part.tail) + border_value(columns, part.head));
                    if (best.score > left && symbol(a) == symbol(b + best.first)) {
                        wg_same += 1u;
                    }
                } else {
                    let in_gap = best.gap_score > best.score;
                    var column = select(best.preferred, best.first, best.preferred == NO_INDEX);
                    column = select(column, best.gap, in_gap);
                    // A gap across the middle includes the rows on both sides. It continues in both
                    // parts without another opening cost.
                    let taken = select(0u, 1u, in_gap);
                    let between = select(opening, 0, in_gap);
                    wait(Part(part.row + middle + taken, part.column + column, rows - middle - taken, columns - column,
                              between, part.tail));
                    wait(Part(part.row, part.column, middle - taken, column, part.head, between));
                }
            }
        }
        if (t == 0u) {
            found[place].identities = wg_same;
        }
        // Safe: no invocation changes shared values for the next pair before all have finished this
        //       one.
        workgroupBarrier();
    }
}
