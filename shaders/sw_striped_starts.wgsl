// sw_striped_starts: finds where the tracebacks from a block's lower and right borders leave the
//             block, or where their alignments start (phase 2 of StripedAlignment and of both
//             ChunkedAlignments; Li, Ranka and Sahni, section V).
// Recurrence: I[i,j] = max(H[i-1,j] - first, I[i-1,j] - next)
//             D[i,j] = max(H[i,j-1] - first, D[i,j-1] - next)
//             H[i,j] = max(H[i-1,j-1] + sub, I[i,j], D[i,j]), if LOCAL at least 0
//             The start state of a value is that of the term that gives the value. If several terms
//             do, it is that of the first one, as in the traceback of src/long.rs. With LOCAL, an
//             alignment starts where H is 0.
// Owns:       Workgroup g computes block g. Invocation t keeps its columns t * CELLS + 1 to
//             (t + 1) * CELLS. At step s it computes row s - t + 1.
// Layout:     window[strip_count + g]: strip, row before the first, last row.
//             starts[2 * g * (block_rows + strip) ..]: two u32 (for H and D) for every cell of the
//             right border, and from 2 * block_rows on two (for H and I) for every cell of the
//             lower border. A start state consists of the state, and of row and column, which count
//             from the block's upper left corner:
//               row << (COLUMN_BITS + 2) | column << 2 | state
// Invariant:  After the barrier that ends step s, wg_exchange[(s & 1) * WG + t] contains the values
//             that row s - t + 1 delivers to the right.
// Uniform:    The block comes from workgroupUniformLoad. Barriers are only in loops over its rows.
// Limits:     strip <= WG * CELLS, strip < 2^COLUMN_BITS, rows of a block < 2^(30 - COLUMN_BITS).
//             WG is a power of two.
// Oracle:     src/long/oracle.rs

#import striped_stored_borders
#import striped_symbols

const RING: u32 = 2u * WG;

@group(0) @binding(6) var<storage, read> window: array<vec4<u32>>;
@group(0) @binding(7) var<storage, read_write> starts: array<u32>;

var<workgroup> wg_table: array<i32, CODES * CODES>;
// The left border and the rows' symbols (as offsets into the table) of this batch of WG rows and of
// the previous batch.
var<workgroup> wg_left: array<vec2<i32>, RING>;
var<workgroup> wg_symbols: array<u32, RING>;
// H, the D that enters the next column, and their start states.
var<workgroup> wg_exchange: array<vec4<i32>, RING>;
var<workgroup> wg_block: vec4<u32>;

fn start_state(row: u32, column: u32, state: u32) -> u32 {
    return (row << (COLUMN_BITS + 2u)) | (column << 2u) | state;
}

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    let index = workgroup.x + workgroup.y * workgroups.x;
    if (t == 0u) {
        wg_block = vec4<u32>(0u);
        if (index < params.block_count) {
            wg_block = window[params.strip_count + index];
        }
    }
    for (var k = t; k < CODES * CODES; k += WG) {
        wg_table[k] = table[k] >> 1u;
    }
    let block = workgroupUniformLoad(&wg_block);
    let left = max(block.x * params.strip, params.lead) - params.lead;
    let above = block.y;
    let rows = block.z - above;
    if (rows == 0u) {
        return;
    }
    let width = min((block.x + 1u) * params.strip - params.lead, params.columns) - left;
    let lanes = (width + CELLS - 1u) / CELLS;
    let steps = rows + lanes - 1u;
    let last_lane = lanes - 1u;
    let last_cell = (width - 1u) % CELLS;
    let own_starts = 2u * index * (params.block_rows + params.strip);
    let own_lower_starts = own_starts + 2u * params.block_rows;

    // Phase 1: load the upper border into registers. Columns beyond the right border repeat the
    // last column and are never read.
    let own_column = t * CELLS;
    let chunk_row = above / params.chunk;
    var symbols: array<u32, CELLS>;
    var h: array<i32, CELLS>;
    var insertion: array<i32, CELLS>;
    var h_start: array<u32, CELLS>;
    var insertion_start: array<u32, CELLS>;
    for (var c = 0u; c < CELLS; c++) {
        let column = min(own_column + c + 1u, width);
        let border = stored_upper_border(chunk_row, left + column);
        symbols[c] = target_code(left + column - 1u);
        h[c] = border.x;
        insertion[c] = border.y;
        h_start[c] = start_state(0u, column, STATE_H);
        // On a border, a traceback leaves a gap if opening the gap gives its value.
        insertion_start[c] = start_state(0u, column, select(STATE_I, STATE_H, border.y == border.x - params.first));
    }
    let corner = min(own_column, width);
    var h_before = stored_upper_border(chunk_row, left + corner).x;
    var h_before_start = start_state(0u, corner, STATE_H);

    // Phase 2: the rows. Rows of the next batch are read while a batch is computed.
    var next_left = stored_left_border(block.x, above + min(t + 1u, rows));
    var next_symbol = query_code(above + min(t, rows - 1u));
    for (var base = 0u; base < steps; base += WG) {
        // The slots are free: they were last read in the batch before the last one, and a barrier
        // ended each of its steps.
        let slot = (base + t) % RING;
        wg_left[slot] = next_left;
        wg_symbols[slot] = next_symbol * CODES;
        next_left = stored_left_border(block.x, above + min(base + WG + t + 1u, rows));
        next_symbol = query_code(above + min(base + WG + t, rows - 1u));
        workgroupBarrier();
        let until = min(base + WG, steps);
        for (var step = base; step < until; step++) {
            // The difference wraps around before the lane's first row.
            let place = step - t;
            if (place < rows && t < lanes) {
                let row = place + 1u;
                let row_symbol = wg_symbols[place % RING];
                var from_left: vec4<i32>;
                if (t == 0u) {
                    let border = wg_left[place % RING];
                    let way = select(STATE_D, STATE_H, border.y == border.x - params.first);
                    from_left = vec4<i32>(border, bitcast<i32>(start_state(row, 0u, STATE_H)),
                                          bitcast<i32>(start_state(row, 0u, way)));
                } else {
                    from_left = wg_exchange[((step + 1u) & 1u) * WG + t - 1u];
                }
                var deletion = from_left.y;
                var deletion_start = bitcast<u32>(from_left.w);
                var diagonal = h_before;
                var diagonal_start = h_before_start;
                h_before = from_left.x;
                h_before_start = bitcast<u32>(from_left.z);
                // Start states of I and D at the cells of this row, for the borders.
                var insertion_here: array<u32, CELLS>;
                var deletion_here: array<u32, CELLS>;
                for (var c = 0u; c < CELLS; c++) {
                    var best = diagonal + wg_table[row_symbol + symbols[c]];
                    var best_start = diagonal_start;
                    diagonal = h[c];
                    diagonal_start = h_start[c];
                    if (insertion[c] > best) {
                        best = insertion[c];
                        best_start = insertion_start[c];
                    }
                    if (deletion > best) {
                        best = deletion;
                        best_start = deletion_start;
                    }
                    if (LOCAL && best <= 0) {
                        best = 0;
                        best_start = start_state(row, own_column + c + 1u, STATE_NEW);
                    }
                    insertion_here[c] = insertion_start[c];
                    deletion_here[c] = deletion_start;
                    h[c] = best;
                    h_start[c] = best_start;
                    let opened = best - params.first;
                    let longer_insertion = insertion[c] - params.next;
                    insertion_start[c] = select(insertion_start[c], best_start, opened >= longer_insertion);
                    insertion[c] = max(opened, longer_insertion);
                    let longer_deletion = deletion - params.next;
                    deletion_start = select(deletion_start, best_start, opened >= longer_deletion);
                    deletion = max(opened, longer_deletion);
                }
                wg_exchange[(step & 1u) * WG + t] = vec4<i32>(
                    h[CELLS - 1u], deletion, bitcast<i32>(h_start[CELLS - 1u]), bitcast<i32>(deletion_start));
                if (t == last_lane) {
                    var h_border = h_start[CELLS - 1u];
                    var deletion_border = deletion_here[CELLS - 1u];
                    if (last_cell != CELLS - 1u) {
                        for (var c = 0u; c < CELLS - 1u; c++) {
                            h_border = select(h_border, h_start[c], c == last_cell);
                            deletion_border = select(deletion_border, deletion_here[c], c == last_cell);
                        }
                    }
                    starts[own_starts + 2u * place] = h_border;
                    starts[own_starts + 2u * place + 1u] = deletion_border;
                }
                if (row == rows) {
                    for (var c = 0u; c < CELLS; c++) {
                        if (own_column + c < width) {
                            starts[own_lower_starts + 2u * (own_column + c)] = h_start[c];
                            starts[own_lower_starts + 2u * (own_column + c) + 1u] = insertion_here[c];
                        }
                    }
                }
            }
            // Steps alternate between two halves, so that one barrier per step separates readers
            // from writers.
            workgroupBarrier();
        }
    }
}
