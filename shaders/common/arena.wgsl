// Shared by the kernels that can store directions: the layout of a task's part of an arena. An
// arena is a buffer for borders and directions. The part consists of the sections below, one after
// another. Each section contains data of all SLOTS pairs of the task, in quads of four u32.
//   column border  rows / 4 * PLANES quads per pair: V (and E of the next column) of four rows of
//                  the last finished column.
//   row border     columns / 4 * PLANES quads per pair: V (and F) of four columns of the last
//                  finished row.
//   corners        columns / 4 + 4 quads per pair: corners of nw_tiled_diagonal's tiles. In
//                  nw_diagonal_subgroup, quad 0 contains the number of lanes.
//   directions     direction_quads quads per pair: CELLS columns of each of four rows. A row takes
//                  the upper bits of one u32, with BITS bits per cell; direction_place() locates
//                  it. Bits 0 and 1 of a cell give the origin of V: 3 is a match on the diagonal, 2
//                  a mismatch on the diagonal, tag_left(turned) is the left cell, and the other
//                  value of 0 and 1 is the cell above.
//                  With affine gaps, bit 2 means that E of the next column opens here, and bit 3
//                  means that F of this cell opened above.
//   runs           run_quads() quads per pair: nw_traceback's runs, until their number is known.
// Quads:      with INTERLEAVED, the same quad of all pairs is adjacent (one invocation per pair:
//             neighbouring invocations store neighbouring quads). Otherwise the quads of a pair are
//             adjacent (neighbouring invocations work on one pair).
// Arenas:     each arena has a separate binding, because a binding is smaller than the memory that
//             fills a device. One dispatch can then serve tasks in all arenas. The host supplies
//             the import `arenas` with read_quad(arena, index), write_quad(arena, index, quad), and
//             read_pair and write_pair for two quads at once. Selecting the arena costs as much as
//             a dozen operations.
// Constants:  SLOTS, INTERLEAVED, LANES (invocations per pair; 0 if only the kernel knows), CELLS,
//             BITS, WORDS (u32 of directions per row for the columns of an invocation), SKEWED
//             (whether lane l is l rows behind lane 0), TILE_ROWS (number of rows after which the
//             lanes start again), DIRECTIONS (whether directions are stored), TAG_BITS (BITS or 0).
// Tags:       with TAG_BITS, values have that many zero bits at the low end. A candidate carries
//             its tag there through the maxima, so that the low bits of a maximum identify its
//             origin. This costs two instructions per cell. If values are too large, TAG_BITS is 0.

#import nw
#import arenas

// Removes the tag from a value.
const CLEAN: i32 = ~((1 << TAG_BITS) - 1);

struct ArenaPart {
    arena: u32,
    begin: u32,
    stride: u32,
}

fn arena_part(task: Task, begin: u32, quads: u32, slot: u32) -> ArenaPart {
    if (INTERLEAVED) {
        return ArenaPart(task.arena, begin + slot, SLOTS);
    }
    return ArenaPart(task.arena, begin + slot * quads, 1u);
}

fn column_border(task: Task, slot: u32) -> ArenaPart {
    return arena_part(task, task.arena_begin, task.rows_words * PLANES, slot);
}

fn row_border(task: Task, slot: u32) -> ArenaPart {
    return arena_part(task, task.arena_begin + task.rows_words * PLANES * SLOTS, task.columns / 4u * PLANES, slot);
}

fn corners(task: Task, slot: u32) -> ArenaPart {
    let begin = task.arena_begin + (task.rows_words + task.columns / 4u) * PLANES * SLOTS;
    return arena_part(task, begin, task.columns / 4u + 4u, slot);
}

fn directions_begin(task: Task) -> u32 {
    return task.arena_begin + ((task.rows_words + task.columns / 4u) * PLANES + task.columns / 4u + 4u) * SLOTS;
}

fn directions(task: Task, slot: u32) -> ArenaPart {
    return arena_part(task, directions_begin(task), task.direction_quads, slot);
}

// SKEWED: returns the index of the first quad of a tile, given its first row. The quads of the
// lanes and words of a pass are adjacent.
fn first_quad(task: Task, lanes: u32, pass_index: u32, row_begin: u32) -> u32 {
    let tiles = 1u + (task.rows_words * 4u - 1u) / TILE_ROWS;
    let quads_a_pass = task.rows_words + tiles * (lanes / 4u);
    return pass_index * quads_a_pass + (row_begin + row_begin / TILE_ROWS * lanes) / 4u;
}

// Returns the quad and the component of a row in the directions of a pair, for a block of CELLS
// columns. In SKEWED kernels a quad contains four steps of a lane, so that all lanes store
// together.
fn direction_place(task: Task, lanes: u32, block: u32, row: u32) -> vec2<u32> {
    if (!SKEWED) {
        return vec2<u32>(block * task.rows_words + row / 4u, row & 3u);
    }
    let lane = block / WORDS % lanes;
    let row_begin = row / TILE_ROWS * TILE_ROWS;
    let step = row - row_begin + lane;
    let quad = first_quad(task, lanes, block / (WORDS * lanes), row_begin) + step / 4u;
    return vec2<u32>((quad * WORDS + block % WORDS) * lanes + lane, step & 3u);
}

fn run_quads(task: Task) -> u32 {
    return (task.query_symbols + task.rows_words * 4u) / 8u + 2u;
}

fn runs(task: Task, slot: u32) -> ArenaPart {
    return arena_part(task, directions_begin(task) + task.direction_quads * SLOTS, run_quads(task), slot);
}

fn load(part: ArenaPart, k: u32) -> vec4<i32> {
    return bitcast<vec4<i32>>(read_quad(part.arena, part.begin + k * part.stride));
}

fn store(part: ArenaPart, k: u32, value: vec4<i32>) {
    write_quad(part.arena, part.begin + k * part.stride, bitcast<vec4<u32>>(value));
}

// Loads V, and E or F if AFFINE, of the border cells 4 k .. 4 k + 3.
fn load_border(part: ArenaPart, k: u32) -> array<vec4<i32>, 2> {
    if (!AFFINE) {
        return array<vec4<i32>, 2>(load(part, k), vec4<i32>(0));
    }
    let at = part.begin + 2u * k * part.stride;
    let pair = read_pair(part.arena, at, at + part.stride);
    return array<vec4<i32>, 2>(bitcast<vec4<i32>>(pair[0]), bitcast<vec4<i32>>(pair[1]));
}

fn store_border(part: ArenaPart, k: u32, v: vec4<i32>, gap: vec4<i32>) {
    if (!AFFINE) {
        store(part, k, v);
        return;
    }
    let at = part.begin + 2u * k * part.stride;
    write_pair(part.arena, at, bitcast<vec4<u32>>(v), at + part.stride, bitcast<vec4<u32>>(gap));
}

// Stores the directions of four rows. Consecutive quads are `apart` quads from each other.
fn store_directions(part: ArenaPart, quad: u32, apart: u32, words: array<vec4<u32>, WORDS>) {
    var at = part.begin + quad * part.stride;
    let step = apart * part.stride;
    for (var k = 0u; k + 1u < WORDS; k += 2u) {
        write_pair(part.arena, at, words[k], at + step, words[k + 1u]);
        at += 2u * step;
    }
    if (WORDS % 2u == 1u) {
        write_quad(part.arena, at, words[WORDS - 1u]);
    }
}

// Returns the tag of a step from the left. The tag of a step from above is 1 minus it. Among
// equally good steps, the one with the greatest tag wins: the diagonal step, then the step that
// consumes a symbol of the reported query.
fn tag_left(turned: bool) -> i32 {
    return select(1, 0, turned);
}

// Returns the direction bits of a cell that was computed without tags. `step` is the score of the
// diagonal step, `across` the value of that candidate, and `opened` is V minus the opening of a
// gap.
fn direction(v: i32, step: i32, across: i32, e: i32, f: i32, opened: i32, f_opened: bool, left: i32) -> u32 {
    // The lowest bit of the score of a diagonal step is 1 for a match.
    var bits = 2u | (bitcast<u32>(step) & 1u);
    if (v != across) {
        let is_left = v == e && (left == 1 || v != f);
        bits = u32(select(1 - left, left, is_left));
    }
    if (AFFINE) {
        bits |= select(0u, 4u, opened >= e) | select(0u, 8u, f_opened);
    }
    return bits;
}
