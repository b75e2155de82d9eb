// sw_ends: finds the end or the start of a pair's best local alignment, with one pair per
// invocation (ClustalW's forward and reverse passes). Columns are processed in slices as in
// LazyRScan-mNW (Truong et al. 2014, section 4.4).
// Recurrence: H[i,j] = max(H[i-1,j-1] + score, E[i,j], F[i,j], floor). E[i,j] = max(E[i,j-1],
//             H[i,j-1] - opening) - extension. F is the same from row to row. In the forward pass,
//             the floor is 0, and the first cell with the highest value is the end. In the backward
//             pass, the end starts with 0 and all other cells with -1. Paths that do not begin at
//             the end therefore stay below its score. The first cell that reaches the score is the
//             start. "First" refers to the order row by row, where rows are symbols of the pair's
//             first sequence.
// Owns:       a workgroup owns a query, whose symbols are columns. Invocation t computes the rows
//             of its own target and keeps SLICE columns in registers.
// Layout:     scratch[(group * params.entries + row) * WG + t] holds H of a slice's last column and
//             E of the column after it. found: one entry per pair.
// Invariant:  at the end of a slice, scratch contains the slice's last column and `found` contains
//             the best cell so far. The next slice, in this dispatch or a later one, needs no other
//             values.
// Uniform:    the bounds of loops with barriers come from params and from read-only lists.
// Limits:     scores within 32 bits (ScoreTable::holds rejects others); params.entries rows.
// Oracle:     src/clustal/oracle.rs
//
// Constants:  WG (invocations per workgroup), SLICE (columns of a slice, a multiple of 4), STRIDE4
//             (row of the profile in vec4s, odd so that rows of neighbouring codes start in
//             different banks), CODES (size of the alphabet), REVERSE (true for the backward pass,
//             from the end to the start).

#import clustal

@group(0) @binding(5) var<storage, read> tasks: array<Task>;
@group(0) @binding(6) var<storage, read_write> scratch: array<vec2<i32>>;

const SLICE4: u32 = SLICE / 4u;
// Index of a row or column that does not exist.
const NO_INDEX: u32 = 0xffffffffu;
// Score of a column beyond the query. Sums with it stay within 32 bits.
const PADDING: i32 = -0x40000000;

var<workgroup> profile: array<vec4<i32>, CODES * STRIDE4>;

// Builds the score profile of slice s. The function starts and ends with a barrier, so all
// invocations of the workgroup must call it.
fn make_profile(s: u32, query: u32, query_symbols: u32, t: u32) {
    workgroupBarrier();
    for (var p = t; p < CODES * SLICE4; p += WG) {
        let code = p / SLICE4;
        let c4 = p % SLICE4;
        var words = vec4<i32>(PADDING);
        for (var k = 0u; k < 4u; k++) {
            let column = s * SLICE + c4 * 4u + k;
            if (column < query_symbols) {
                let code_of_query = symbol(query + select(column, query_symbols - 1u - column, REVERSE));
                words[k] = table[code * CODES + code_of_query];
            }
        }
        profile[code * STRIDE4 + c4] = words;
    }
    // Safe: every entry was written by one invocation before this barrier, and is only read until
    // the next slice.
    workgroupBarrier();
}

// A candidate for the end or the start.
struct Cell {
    row: u32,
    column: u32,
}

// Checks whether a cell comes before another, by rows or by columns.
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
        // Spare lanes repeat the last pair. They write their own scratch memory and no result.
        let place = task.first + min(t, task.count - 1u);
        let pair = pairs[place];
        // All pairs of a task have this query.
        let query_begin = pairs[task.first].query;
        let m = pairs[task.first].query_symbols;
        let by_rows = pair.by_rows != 0u;
        let slices = (m + SLICE - 1u) / SLICE;
        let slice_end = min(params.slice_end, slices);
        let least = select(0, -1, REVERSE);
        // Cost of the first symbol of a gap.
        let first = pair.opening + params.extension;

        // Best cell of earlier dispatches, and limits of the rows.
        var best = Cell(NO_INDEX, NO_INDEX);
        var rows = pair.target_symbols;
        var seed = 0u;
        let before = found[place];
        // Minimum value of a candidate.
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
        // No alignment enters the slices before the one with the end.
        let first_slice = select(0u, seed / SLICE, REVERSE);
        for (var s = params.slice_begin; s < slice_end; s++) {
            make_profile(s, query_begin, m, t);
            var slice_rows = select(rows, 0u, s < first_slice);
            if (REVERSE && best.row != NO_INDEX) {
                // In later columns, only earlier rows come before the best cell.
                slice_rows = select(0u, min(slice_rows, best.row), by_rows);
            }

            // Cells of the row before the first.
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

            // The inputs of the next row are loaded one row in advance, which hides the latency.
            var next_code = 0u;
            var next_border = vec2<i32>(least, least - first);
            if (slice_rows > 0u) {
                next_code = symbol(pair.target_begin + select(0u, before.end_row, REVERSE));
                if (s > first_slice) {
                    next_border = scratch[scratch_begin];
                }
            }
            for (var row = 0u; row < slice_rows; row++) {
                let profile_row = next_code * STRIDE4;
                var diagonal = corner;
                corner = next_border.x;
                var e = next_border.y;
                let next = min(row + 1u, slice_rows - 1u);
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
                        let value = max(max(aligned, f[c]), e);
                        let opened = value - first;
                        f[c] = max(f[c] - params.extension, opened);
                        e = max(e - params.extension, opened);
                        h[c] = value;
                        greatest = max(greatest, value);
                    }
                }
                scratch[scratch_begin + row * WG] = vec2<i32>(h[SLICE - 1u], e);
                if (greatest >= enough) {
                    // The first column with this value.
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

        // The result of a pair does not change in dispatches after its last slice.
        if (t < task.count && (params.slice_begin == 0u || params.slice_begin < slices)) {
            if (REVERSE) {
                found[place].rows_back = best.row;
                found[place].columns_back = best.column;
            } else {
                found[place].score = select(0, enough, best.row != NO_INDEX);
                found[place].end_row = best.row;
                found[place].end_column = best.column;
            }
        }
    }
}
