// Common to the kernels that can store directions: what a task's part of its arena holds, one part after the other, each
// for all SLOTS pairs of the task, in quads of four words.
//   column border  rows / 4 * PLANES quads a pair: V (and E of the next column) of four rows of the last finished column
//   row border     columns / 4 * PLANES quads a pair: V (and F) of four columns of the last finished row
//   corners        columns / 4 + 4 quads a pair: of nw_tiled_diagonal's tiles; quad 0 of nw_diagonal_subgroup: its lanes
//   directions     direction_quads a pair: CELLS columns of each of four rows, one row a word, in the word's upper bits, BITS
//                  bits a cell; direction_place() says where. Bits 0 and 1 of a cell say where V comes from: 3 or 2 along the
//                  diagonal, from a match or a mismatch; tag_left(pair) from the left; the other of 0 and 1 from above. Affine
//                  gaps, bit 2: E of the next column opens here; bit 3: F of this cell opened above.
//   runs           run_quads() a pair: nw_walk's runs before it knows how many there are
// Quad k of a pair: INTERLEAVED puts the same quad of all pairs side by side (one pair an invocation: neighbours store
// neighbouring quads); else a pair's quads lie side by side (neighbouring invocations work on one pair).
//
// There are several arenas, each a binding of its own, because a binding is smaller than what fills a device: one dispatch
// then serves tasks in all of them. The host makes `arenas`, with read_quad(arena, index) and write_quad(arena, index, quad), and
// read_pair and write_pair for two quads at once: finding the arena costs as much as a dozen operations.
// Constants: SLOTS, INTERLEAVED, LANES (invocations a pair; 0 if only the kernel knows), CELLS, BITS, WORDS (words of directions
// that an invocation's columns have a row), SKEWED (whether lane l is l rows behind lane 0), TILE_ROWS (rows after which the lanes
// begin anew), DIRECTIONS (whether directions are stored), TAG_BITS (as BITS, or 0).
//
// With TAG_BITS, values have as many zeros below them: a candidate carries its tag there through the maxima, so that what
// comes out says by its low bits which it was, at two instructions a cell. Values too large for that go without.

#import nw
#import arenas

// Takes the tag off a value.
const CLEAN: i32 = ~((1 << TAG_BITS) - 1);

struct Part {
    arena: u32,
    begin: u32,
    stride: u32,
}

fn part(task: Task, begin: u32, quads: u32, slot: u32) -> Part {
    if (INTERLEAVED) {
        return Part(task.arena, begin + slot, SLOTS);
    }
    return Part(task.arena, begin + slot * quads, 1u);
}

fn column_border(task: Task, slot: u32) -> Part {
    return part(task, task.arena_begin, task.rows_words * PLANES, slot);
}

fn row_border(task: Task, slot: u32) -> Part {
    return part(task, task.arena_begin + task.rows_words * PLANES * SLOTS, task.columns / 4u * PLANES, slot);
}

fn corners(task: Task, slot: u32) -> Part {
    let begin = task.arena_begin + (task.rows_words + task.columns / 4u) * PLANES * SLOTS;
    return part(task, begin, task.columns / 4u + 4u, slot);
}

fn directions_begin(task: Task) -> u32 {
    return task.arena_begin + ((task.rows_words + task.columns / 4u) * PLANES + task.columns / 4u + 4u) * SLOTS;
}

fn directions(task: Task, slot: u32) -> Part {
    return part(task, directions_begin(task), task.direction_quads, slot);
}

// SKEWED: the first quad, of those of the pass's lanes and words side by side, of the tile that begins with a row.
fn first_quad(task: Task, lanes: u32, pass_index: u32, row_begin: u32) -> u32 {
    let tiles = 1u + (task.rows_words * 4u - 1u) / TILE_ROWS;
    let quads_a_pass = task.rows_words + tiles * (lanes / 4u);
    return pass_index * quads_a_pass + (row_begin + row_begin / TILE_ROWS * lanes) / 4u;
}

// Which quad of a pair's directions holds a row of a block of CELLS columns, and which of its words: in SKEWED kernels a quad
// holds what a lane computes in four steps, so that all lanes store together.
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

fn runs(task: Task, slot: u32) -> Part {
    return part(task, directions_begin(task) + task.direction_quads * SLOTS, run_quads(task), slot);
}

fn load(part: Part, k: u32) -> vec4<i32> {
    return bitcast<vec4<i32>>(read_quad(part.arena, part.begin + k * part.stride));
}

fn store(part: Part, k: u32, value: vec4<i32>) {
    write_quad(part.arena, part.begin + k * part.stride, bitcast<vec4<u32>>(value));
}

// V, and if AFFINE E or F, of the k-th four cells of a border.
fn load_border(part: Part, k: u32) -> array<vec4<i32>, 2> {
    if (!AFFINE) {
        return array<vec4<i32>, 2>(load(part, k), vec4<i32>(0));
    }
    let at = part.begin + 2u * k * part.stride;
    let pair = read_pair(part.arena, at, at + part.stride);
    return array<vec4<i32>, 2>(bitcast<vec4<i32>>(pair[0]), bitcast<vec4<i32>>(pair[1]));
}

fn store_border(part: Part, k: u32, v: vec4<i32>, gap: vec4<i32>) {
    if (!AFFINE) {
        store(part, k, v);
        return;
    }
    let at = part.begin + 2u * k * part.stride;
    write_pair(part.arena, at, bitcast<vec4<u32>>(v), at + part.stride, bitcast<vec4<u32>>(gap));
}

// Words of directions of four rows, each `apart` quads after the one before.
fn store_directions(part: Part, quad: u32, apart: u32, words: array<vec4<u32>, WORDS>) {
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

// The tag of a step from the left; that from above is 1 less it. Where steps are as good, the greater tag is taken: the
// diagonal's, then that of the step that takes a symbol of the reported query.
fn tag_left(turned: bool) -> i32 {
    return select(1, 0, turned);
}

// A cell without tags: V, what the diagonal step adds and the candidate that it makes, E, F, V less a gap's opening, and
// whether F opened above.
fn direction(v: i32, step: i32, across: i32, e: i32, f: i32, opened: i32, f_opened: bool, left: i32) -> u32 {
    // The lowest bit of what a step adds tells a match.
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
