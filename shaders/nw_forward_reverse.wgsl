// nw_forward_reverse: least and most identities of the best global alignments of a pair's rectangle, one pair per workgroup, half of
// whose invocations go forwards over the upper half of the rows while the others go backwards over the lower half (CUDA ClustalW,
// Hung et al. 2015).
// Recurrence: H[i,j] = max(H[i-1,j-1] + score, D[i,j], E[i,j]), D[i,j] = max(D[i-1,j], H[i-1,j] - opening) - extension, and so E from column
//             to column; gaps at the rectangle's ends have no opening cost. With every score go the least and most identities of
//             the alignments that have it. At the middle row either H and H meet, or D and D, of which one opening is given back
//             (Myers and Miller 1988).
// Owns:       invocation l of a half has ROWS rows of each strip of ROWS * WG / 2, and is at column k - l in step k: the half goes
//             over a strip by anti-diagonals.
// Layout:     scratch[(group * 8 + half * 4 + part) * params.entries + j]: H and D of column j, part 0 and 1 of the last row of the strip
//             before, 2 and 3 of the half's last row: score, least, most.
// Invariant:  when a strip begins, parts 0 and 1 hold the row before it, of every column.
// Uniform:    what bounds loops around barriers comes from params and through workgroupUniformLoad.
// Limits:     scores within 32 bits (Units::holds refuses others); params.entries - 1 columns.
// Oracle:     src/clustal/oracle.rs
//
// Constants:  WG (invocations a workgroup, even), ROWS, CODES (alphabet size).

#import clustal

@group(0) @binding(6) var<storage, read_write> scratch: array<vec4<i32>>;

// Invocations of a half.
const HALF: u32 = WG / 2u;

// A score with the least and the most identities of those that have it.
alias Tally = vec3<i32>;

// The rectangle: its last row and column, counted as symbols of the store, and how many there are.
var<workgroup> wg_rectangle: vec4<u32>;
// What the invocation above handed down, in odd and even steps: H and D.
var<workgroup> handed_h: array<vec4<i32>, 2u * WG>;
var<workgroup> handed_d: array<vec4<i32>, 2u * WG>;

fn better(a: Tally, b: Tally) -> Tally {
    if (a.x != b.x) {
        return select(b, a, a.x > b.x);
    }
    return Tally(a.x, min(a.y, b.y), max(a.z, b.z));
}

fn less(tally: Tally, cost: i32) -> Tally {
    return tally - Tally(cost, 0, 0);
}

// A gap of so many symbols at the rectangle's end.
fn end_gap(symbols: u32) -> Tally {
    return Tally(-params.extension * i32(symbols), 0, 0);
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
    let own_scratch = (group * 8u + select(0u, 4u, is_back)) * params.entries;
    for (var place = params.task_begin + group; place < params.task_end; place += params.groups) {
        let pair = pairs[place];
        if (t == 0u) {
            let own = found[place];
            wg_rectangle = vec4<u32>(0u);
            if (own.score > 0) {
                // The start is columns_back before the query's last column.
                wg_rectangle = vec4<u32>(pair.target_begin + own.end_row, pair.query + own.end_column,
                                         own.rows_back + 1u, own.end_column + own.columns_back + 2u - pair.query_symbols);
            }
        }
        // Safe: the load is a barrier before and after it.
        let rectangle = workgroupUniformLoad(&wg_rectangle);
        let last_row = rectangle.x;
        let last_column = rectangle.y;
        let rows = rectangle.z;
        let columns = rectangle.w;
        let middle = rows / 2u;
        let first = pair.opening + params.extension;
        let own_rows = select(middle, rows - middle, is_back);
        let first_row = last_row + 1u - rows;
        let first_column = last_column + 1u - columns;

        // Phase 1: the row before the half's first, which is its last if it has none.
        for (var j = lane; j <= columns; j += HALF) {
            let h = end_gap(j);
            let border = vec4<i32>(h, 0);
            let down = vec4<i32>(less(h, pair.opening), 0);
            for (var part = 0u; part < 2u; part++) {
                scratch[own_scratch + (2u * part) * params.entries + j] = border;
                scratch[own_scratch + (2u * part + 1u) * params.entries + j] = down;
            }
        }
        storageBarrier();
        workgroupBarrier();

        // Phase 2: strips, the lower half's as many as any has.
        let strip_rows = HALF * ROWS;
        let strips = (rows - middle + strip_rows - 1u) / strip_rows;
        for (var strip = 0u; strip < strips; strip++) {
            let row_begin = strip * strip_rows + lane * ROWS;
            var h: array<Tally, ROWS>;
            var e: array<Tally, ROWS>;
            var codes: array<u32, ROWS>;
            for (var r = 0u; r < ROWS; r++) {
                h[r] = end_gap(row_begin + r + 1u);
                e[r] = less(h[r], pair.opening);
                let row = min(row_begin + r, max(own_rows, 1u) - 1u);
                codes[r] = symbol(select(first_row + row, last_row - row, is_back));
            }
            var corner = end_gap(row_begin);
            for (var k = 0u; k < columns + HALF - 1u; k++) {
                // Wraps below 0, which is behind the last column too.
                let j = k - lane;
                if (j < columns && row_begin < own_rows) {
                    let code = symbol(select(first_column + j, last_column - j, is_back));
                    var up_h: Tally;
                    var up_d: Tally;
                    let at = own_scratch + j + 1u;
                    if (lane == 0u) {
                        up_h = scratch[at].xyz;
                        up_d = scratch[at + params.entries].xyz;
                    } else {
                        let handed = ((k + 1u) % 2u) * WG + t - 1u;
                        up_h = handed_h[handed].xyz;
                        up_d = handed_d[handed].xyz;
                    }
                    var diagonal = corner;
                    corner = up_h;
                    for (var r = 0u; r < ROWS; r++) {
                        let entry = table[codes[r] * CODES + code];
                        let aligned = diagonal + Tally(entry.x, entry.y, entry.y);
                        diagonal = h[r];
                        up_d = better(less(up_h, first), less(up_d, params.extension));
                        e[r] = better(less(h[r], first), less(e[r], params.extension));
                        up_h = better(better(aligned, up_d), e[r]);
                        h[r] = up_h;
                        if (row_begin + r + 1u == own_rows) {
                            scratch[at + 2u * params.entries] = vec4<i32>(up_h, 0);
                            scratch[at + 3u * params.entries] = vec4<i32>(up_d, 0);
                        }
                    }
                    handed_h[(k % 2u) * WG + t] = vec4<i32>(up_h, 0);
                    handed_d[(k % 2u) * WG + t] = vec4<i32>(up_d, 0);
                    if (lane == HALF - 1u) {
                        scratch[at] = vec4<i32>(up_h, 0);
                        scratch[at + params.entries] = vec4<i32>(up_d, 0);
                    }
                }
                // Safe: what is written in a step is read in the next, from where that does not write.
                workgroupBarrier();
            }
            storageBarrier();
            workgroupBarrier();
        }

        // Phase 3: the halves meet. Along the first and the last column the gap that crosses the middle has no opening.
        let forward = (group * 8u + 2u) * params.entries;
        let back = (group * 8u + 6u) * params.entries;
        let none = Tally(-0x40000000, 0, 0);
        var best = none;
        for (var j = t; j <= columns; j += WG) {
            let upper = forward + j;
            let lower = back + columns - j;
            let upper_h = select(scratch[upper].xyz, end_gap(middle), j == 0u);
            let lower_h = select(scratch[lower].xyz, end_gap(rows - middle), j == columns);
            let upper_d = select(scratch[upper + params.entries].xyz, upper_h, j == 0u);
            let lower_d = select(scratch[lower + params.entries].xyz, lower_h, j == columns);
            best = better(best, better(upper_h + lower_h, less(upper_d + lower_d, -pair.opening)));
        }
        handed_h[t] = vec4<i32>(best, 0);
        workgroupBarrier();
        if (t == 0u) {
            for (var other = 1u; other < WG; other++) {
                best = better(best, handed_h[other].xyz);
            }
            found[place].least = best.y;
            found[place].most = best.z;
        }
        workgroupBarrier();
    }
}
