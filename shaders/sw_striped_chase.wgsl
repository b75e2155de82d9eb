// sw_striped_chase: follows the path backwards from start state to start state (phase 2; Li, Ranka
//             and Sahni, section V).
// Recurrence: None. The start state of a point on a block's lower or right border is the point
//             where a traceback from there leaves the block, or where its alignment starts.
// Owns:       One invocation, all of `paths`.
// Layout:     window[k]: for strip strip_begin + k the first chunk row with start states, the chunk
//             row after the last one, the block of the first chunk row, and 1 if each chunk is a
//             block, or 0 if all chunks are one block.
//             starts: as sw_striped_starts writes them.
//             paths: as common/striped_paths.wgsl describes. `row`, `column` and `state` are the
//             position at which the chase stopped.
// Invariant:  The parts in the list lead from the first position of the traceback to the current
//             point.
// Uniform:    No barrier.
// Limits:     The list has space for a part for every strip and chunk row of the window. The memory
//             of directions has space for one part.
// Oracle:     src/long/oracle.rs

#import striped_stored_borders
#import striped_paths

@group(0) @binding(6) var<storage, read> window: array<vec4<u32>>;
@group(0) @binding(7) var<storage, read> starts: array<u32>;

@compute @workgroup_size(1)
fn main() {
    var row = params.at_row;
    var column = params.at_column;
    var state = params.at_state;
    var count = 0u;
    var directions = 0u;
    var runs = 0u;
    var reason = LOST;
    // Every turn moves to another block, which is above or to the left.
    for (var turn = 0u; turn <= params.path_capacity; turn++) {
        if (row == 0u || column == 0u) {
            reason = BORDER;
            if (LOCAL && state == STATE_H) {
                var h = 0;
                if (row == 0u) {
                    h = stored_upper_border(0u, column).x;
                } else {
                    h = stored_left_border(0u, row).x;
                }
                reason = select(BORDER, BEGUN, h == 0);
            }
            break;
        }
        let strip = (column - 1u + params.lead) / params.strip;
        let chunk_row = (row - 1u) / params.chunk;
        // The difference wraps around if the strip is to the left of the window.
        let place = strip - params.strip_begin;
        if (place >= params.strip_count) {
            reason = LEFT_WINDOW;
            break;
        }
        let span = window[place];
        if (chunk_row < span.x || chunk_row >= span.y) {
            reason = LEFT_WINDOW;
            break;
        }
        let block = span.z + (chunk_row - span.x) * span.w;
        let above = params.chunk * select(span.x, chunk_row, span.w == 1u);
        let below = min(params.chunk * select(span.y, chunk_row + 1u, span.w == 1u), params.rows);
        let left = max(strip * params.strip, params.lead) - params.lead;
        let right = min((strip + 1u) * params.strip - params.lead, params.columns);
        let own_starts = 2u * block * (params.block_rows + params.strip);
        var at = 0u;
        if (column == right && state != STATE_I) {
            at = own_starts + 2u * (row - above - 1u) + select(0u, 1u, state == STATE_D);
        } else if (row == below && state != STATE_D) {
            at = own_starts + 2u * (params.block_rows + column - left - 1u) + select(0u, 1u, state == STATE_I);
        } else {
            reason = LOST;
            break;
        }
        let start = starts[at];
        let start_row = above + (start >> (COLUMN_BITS + 2u));
        let start_column = left + ((start >> 2u) & ((1u << COLUMN_BITS) - 1u));
        let is_begin = (start & 3u) == STATE_NEW;
        let start_state = select(start & 3u, STATE_H, is_begin);
        if (start_row > row || start_column > column) {
            reason = LOST;
            break;
        }
        let symbols = row - start_row + column - start_column;
        if (symbols > 0u) {
            var words = directions_words(row - start_row, column - start_column);
            if (STORED_BORDERS) {
                // The trace stage computes whole rectangles, one chunk at a time.
                words = directions_words(params.chunk, column - left);
            }
            if (count >= params.path_capacity || words > params.directions_capacity_words - directions) {
                reason = FULL;
                break;
            }
            paths.list[count] = Path(start_row, start_column, start_state, row, column, state, directions, runs, 0u);
            count++;
            directions += words;
            runs += symbols;
        } else if (!is_begin) {
            reason = LOST;
            break;
        }
        row = start_row;
        column = start_column;
        state = start_state;
        if (is_begin) {
            reason = BEGUN;
            break;
        }
    }
    paths.count = count;
    paths.reason = reason;
    paths.row = row;
    paths.column = column;
    paths.state = state;
    paths.directions_words = directions;
    paths.runs_words = runs;
}
