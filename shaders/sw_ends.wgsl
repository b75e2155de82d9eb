// sw_ends: where the best local alignment of a pair ends, and where it begins, one pair per invocation (ClustalW's forward and reverse
// passes; in slices of columns like LazyRScan-mNW, Truong et al. 2014, section 4.4).
// Recurrence: H[i,j] = max(H[i-1,j-1] + score, E[i,j], F[i,j], floor), E[i,j] = max(E[i,j-1], H[i,j-1] - opening) - extension, and so F
//             from row to row. Forwards the floor is 0, and the first greatest cell is the end. Backwards the end begins at 0 and
//             all else at -1: what does not begin at the end stays below its score, and the first cell that reaches it is the
//             start. First is what comes first row by row, where rows are symbols of the pair's first sequence.
// Owns:       a workgroup has a query, whose symbols are columns; invocation t goes down the rows of its own target and keeps
//             SLICE columns in registers.
// Layout:     scratch[(group * params.entries + row) * WG + t] holds H at a slice's last column and E of the column after it.
//             found: one entry a pair.
// Invariant:  when a slice ends, scratch holds its last column of every row, and found the best cell up to there, so that the
//             next slice, in this dispatch or a later one, needs nothing else.
// Uniform:    the bounds of the loop around barriers come from params and from lists that are only read.
// Limits:     scores within 32 bits (Table::holds refuses others); params.entries rows.
// Oracle:     src/clustal/oracle.rs
//
// Constants:  WG (invocations a workgroup), SLICE (columns of a slice, a multiple of 4), STRIDE4 (row of the profile in vec4s, odd so
//             that rows of neighbouring codes start in different banks), CODES (alphabet size), REVERSE (from the end to the start).

#import clustal

@group(0) @binding(5) var<storage, read> tasks: array<Task>;
@group(0) @binding(6) var<storage, read_write> scratch: array<vec2<i32>>;

const SLICE4: u32 = SLICE / 4u;
// Stands for no row and no column.
const NOWHERE: u32 = 0xffffffffu;
// What a column adds that no query has; what keeps a score with it within 32 bits.
const PADDING: i32 = -0x40000000;

var<workgroup> profile: array<vec4<i32>, CODES * STRIDE4>;

// Makes the profile of slice s. Begins and ends with a barrier: to be called by all invocations of the workgroup.
fn make_profile(s: u32, query: u32, query_symbols: u32, t: u32) {
    workgroupBarrier();
    for (var p = t; p < CODES * SLICE4; p += WG) {
        let code = p / SLICE4;
        let c4 = p % SLICE4;
        var words = vec4<i32>(PADDING);
        for (var k = 0u; k < 4u; k++) {
            let column = s * SLICE + c4 * 4u + k;
            if (column < query_symbols) {
                let own = symbol(query + select(column, query_symbols - 1u - column, REVERSE));
                words[k] = table[code * CODES + own];
            }
        }
        profile[code * STRIDE4 + c4] = words;
    }
    // Safe: every entry was written by one invocation before this barrier and is only read until the next slice's.
    workgroupBarrier();
}

// A cell that may be the one looked for.
struct Cell {
    row: u32,
    column: u32,
}

// Whether a cell comes before another.
fn is_before(row: u32, column: u32, other: Cell, by_rows: bool) -> bool {
    if (by_rows) {
        return row < other.row || (row == other.row && column < other.column);
    }
    return column < other.column || (column == other.column && row < other.row);
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
    let scratch_begin = group * params.entries * WG + t;
    for (var index = params.task_begin + group; index < params.task_end; index += params.groups) {
        let task = tasks[index];
        // Spare lanes repeat the last pair; they write scratch of their own and no result.
        let place = task.first + min(t, task.count - 1u);
        let pair = pairs[place];
        let m = pair.query_symbols;
        let by_rows = pair.by_rows != 0u;
        let slices = (m + SLICE - 1u) / SLICE;
        let slice_end = min(params.slice_end, slices);
        let least = select(0, -1, REVERSE);
        // The first symbol of a gap.
        let first = pair.opening + params.extension;

        // What earlier dispatches found, and where rows and columns begin.
        var best = Cell(NOWHERE, NOWHERE);
        var rows = pair.target_symbols;
        var seed = 0u;
        let before = found[place];
        // What a cell needs at least to be looked at.
        var enough = 1;
        if (REVERSE) {
            rows = select(0u, before.end_row + 1u, before.score > 0);
            seed = m - 1u - before.end_column;
            enough = before.score;
            if (params.slice_begin > 0u) {
                best = Cell(before.rows_back, before.columns_back);
            }
        } else if (params.slice_begin > 0u && before.score > 0) {
            best = Cell(before.end_row, before.end_column);
            enough = before.score;
        }
        // Slices before the one that has the end hold nothing that counts.
        let first_slice = select(0u, seed / SLICE, REVERSE);
        for (var s = params.slice_begin; s < slice_end; s++) {
            make_profile(s, pair.query, m, t);
            var own_rows = select(rows, 0u, s < first_slice);
            if (REVERSE && best.row != NOWHERE) {
                // In later columns only earlier rows come before what was found.
                own_rows = select(0u, min(own_rows, best.row), by_rows);
            }

            // The row before the first.
            let column_begin = s * SLICE;
            var h: array<i32, SLICE>;
            var f: array<i32, SLICE>;
            for (var c = 0u; c < SLICE; c++) {
                h[c] = least;
                if (REVERSE && column_begin + c + 1u == seed) {
                    h[c] = 0;
                }
                f[c] = least - first;
            }
            var corner = least;
            if (REVERSE && column_begin == seed) {
                corner = 0;
            }

            // What the next row needs is asked for a row ahead, so that nobody waits for it.
            var next_code = 0u;
            var next_border = vec2<i32>(least, least - first);
            if (own_rows > 0u) {
                next_code = symbol(pair.target_begin + select(0u, before.end_row, REVERSE));
                if (s > first_slice) {
                    next_border = scratch[scratch_begin];
                }
            }
            for (var row = 0u; row < own_rows; row++) {
                let profile_row = next_code * STRIDE4;
                var diagonal = corner;
                corner = next_border.x;
                var e = next_border.y;
                let next = min(row + 1u, own_rows - 1u);
                next_code = symbol(pair.target_begin + select(next, before.end_row - next, REVERSE));
                if (s > first_slice) {
                    next_border = scratch[scratch_begin + next * WG];
                }
                var greatest = least;
                for (var c4 = 0u; c4 < SLICE4; c4++) {
                    let words = profile[profile_row + c4];
                    for (var q = 0u; q < 4u; q++) {
                        let c = c4 * 4u + q;
                        let aligned = max(diagonal + words[q], least);
                        diagonal = h[c];
                        let own = max(max(aligned, f[c]), e);
                        let opened = own - first;
                        f[c] = max(f[c] - params.extension, opened);
                        e = max(e - params.extension, opened);
                        h[c] = own;
                        greatest = max(greatest, own);
                    }
                }
                scratch[scratch_begin + row * WG] = vec2<i32>(h[SLICE - 1u], e);
                if (greatest >= enough) {
                    // The first column that has it.
                    let wanted = select(greatest, enough, REVERSE);
                    var column = 0u;
                    for (var c4 = 0u; c4 < SLICE4; c4++) {
                        for (var q = 0u; q < 4u; q++) {
                            let c = SLICE - 1u - c4 * 4u - q;
                            if (h[c] >= wanted) {
                                column = c;
                            }
                        }
                    }
                    column += column_begin;
                    if ((!REVERSE && greatest > enough) || is_before(row, column, best, by_rows)) {
                        best = Cell(row, column);
                        enough = wanted;
                    }
                }
            }
        }

        // Dispatches after a pair's last slice find nothing left to do.
        if (t < task.count && (params.slice_begin == 0u || params.slice_begin < slices)) {
            if (REVERSE) {
                found[place].rows_back = best.row;
                found[place].columns_back = best.column;
            } else {
                found[place].score = select(0, enough, best.row != NOWHERE);
                found[place].end_row = best.row;
                found[place].end_column = best.column;
            }
        }
    }
}
