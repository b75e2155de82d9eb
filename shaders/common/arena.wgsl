// Common to the kernels that can store directions: what a task's part of the arena holds, one part after the other, each
// for all SLOTS pairs of the task.
//   column border  rows * PLANES words a pair: V (and E of the next column) of every row of the last finished column
//   row border     columns * PLANES words a pair: V (and F) of every column of the last finished row
//   corners        columns / 2 + 4 words a pair: of nw_tiled_diagonal's tiles; word 0 of nw_diagonal_subgroup: its lanes
//   directions     direction_words a pair: CELLS columns of one row in a word's upper bits, BITS bits a cell. Bits 0 and 1 of
//                  a cell say where V comes from: 2 along the diagonal, tag_left(pair) from the left, the other of 0 and 1 from
//                  above. Affine gaps, bit 2: E of the next column opens here; bit 3: F of this cell opened above.
//   runs           run_words(...) a pair: nw_walk's runs before it knows how many there are
// Word k of a pair: INTERLEAVED puts the same word of all pairs side by side (one pair an invocation: neighbours store
// neighbouring words); else a pair's words lie side by side (neighbouring invocations work on one pair).
//
// The host prepends SLOTS, INTERLEAVED, LANES (invocations a pair; 0 if only the kernel knows), CELLS, BITS, DIRECTIONS
// (whether directions are stored), TAG_BITS (as BITS, or 0).
//
// With TAG_BITS, values have as many zeros below them: a candidate carries its tag there through the maxima, so that what
// comes out says by its low bits which it was, at two instructions a cell. Values too large for that go without.

// Takes the tag off a value.
const CLEAN: i32 = ~((1 << TAG_BITS) - 1);

@group(0) @binding(6) var<storage, read_write> arena: array<u32>;

struct Part {
    begin: u32,
    stride: u32,
}

fn part(begin: u32, words: u32, slot: u32) -> Part {
    if (INTERLEAVED) {
        return Part(begin + slot, SLOTS);
    }
    return Part(begin + slot * words, 1u);
}

fn column_border(task: Task, slot: u32) -> Part {
    return part(task.arena_begin, task.rows_words * 4u * PLANES, slot);
}

fn row_border(task: Task, slot: u32) -> Part {
    let begin = task.arena_begin + task.rows_words * 4u * PLANES * SLOTS;
    return part(begin, task.columns * PLANES, slot);
}

fn corners(task: Task, slot: u32) -> Part {
    let begin = task.arena_begin + (task.rows_words * 4u + task.columns) * PLANES * SLOTS;
    return part(begin, task.columns / 2u + 4u, slot);
}

fn directions_begin(task: Task) -> u32 {
    return task.arena_begin + ((task.rows_words * 4u + task.columns) * PLANES + task.columns / 2u + 4u) * SLOTS;
}

fn directions(task: Task, slot: u32) -> Part {
    return part(directions_begin(task), task.direction_words, slot);
}

fn run_words(task: Task) -> u32 {
    return (task.query_symbols + task.rows_words * 4u) / 2u + 2u;
}

fn runs(task: Task, slot: u32) -> Part {
    return part(directions_begin(task) + task.direction_words * SLOTS, run_words(task), slot);
}

fn load(part: Part, k: u32) -> i32 {
    return bitcast<i32>(arena[part.begin + k * part.stride]);
}

fn store(part: Part, k: u32, value: i32) {
    arena[part.begin + k * part.stride] = bitcast<u32>(value);
}

// The tag of a step from the left; that from above is 1 less it. Where steps are as good, the greater tag is taken: the
// diagonal's 2, then that of the step that takes a symbol of the reported query.
fn tag_left(turned: bool) -> i32 {
    return select(1, 0, turned);
}

// A cell without tags: V, the candidate along the diagonal, E, F, V less a gap's opening, and whether F opened above.
fn direction(v: i32, across: i32, e: i32, f: i32, opened: i32, f_opened: bool, left: i32) -> u32 {
    var bits = 2u;
    if (v != across) {
        let is_left = v == e && (left == 1 || v != f);
        bits = u32(select(1 - left, left, is_left));
    }
    if (AFFINE) {
        bits |= select(0u, 4u, opened >= e) | select(0u, 8u, f_opened);
    }
    return bits;
}
