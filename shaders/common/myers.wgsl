// Shared by all myers kernels: Levenshtein distance by bit-vectors.
// Recurrence: C[i,j] = min(C[i-1,j-1] + (P[i] != T[j]), C[i-1,j] + 1, C[i,j-1] + 1), C[i,0] = i
//             (Chacon et al. 2014, eq. 1). Stored as differences down a column (Myers 1999) in the
//             form of Hyyro 2003: two bits per cell, 32 rows per word.
// Layout:     the pattern's last row is the top bit of the last word. Rows above its first row
//             match everything in infix mode, and nothing in other modes. They have no difference
//             down the column, so that they pass on row 0 unchanged.
//             profile: with BITS of 2 or 4, the words of match bits for each pattern and base
//             A, C, G, T, where bit i is set if row i matches. With BITS of 8, STRIDE bit-vectors
//             for each word, one for every code.
//             texts: BITS bits per symbol, the first in the lowest bits. Codes 0 to 3 are bases;
//             with 4 bits params.sets lists the bases of every other code. There is readable memory
//             before the first text and after the last.
//             Tasks are numbered consecutively. runs[r] = (first task, its place, first word of its
//             profile, length of the pattern). A place has params.place_words words in places: the
//             first symbol of the text and, if texts differ in length, its length. first_runs[g] is
//             the run of workgroup g's first task (for kernels whose workgroups share a pattern:
//             run and first task of workgroup g).
//             out: the list of tasks within a limit with their results, the results of all tasks
//             (hand_over), and the tasks that heads keep.
// Heads:      Two dispatches may share the work. The first one computes heads, which are the first
//             HEAD words of each pattern. It keeps the tasks whose head is within the limit in some
//             column. The second one computes the kept tasks completely (IS_KEPT). The results do
//             not change, because a path to the last row crosses the head's last row with no more
//             edits than it has in total (Ukkonen 1985).
// Constants:  HEAD (0: whole patterns), IS_KEPT, BITS, STRIDE, WORDS (per invocation), WG, LANES
//             (per pair), CODE_LANES (that hold match bits of different codes), PADS (match bits of
//             rows above the pattern), INPUT (top bit: whether row 0 increases by one in each
//             column), TRACK (ends are searched: infix and prefix mode),
//             IS_PREFIX, POSITION_BITS, STRIPS, IS_OVERLAP, ROW_WORDS (of a pattern in workgroup
//             memory).

struct Params {
    task_count: u32,
    // Number of the first workgroup.
    first_workgroup: u32,
    // Strips of rows that this dispatch computes: first and end. Earlier or later dispatches
    // compute the others.
    pass_begin: u32,
    pass_end: u32,
    // Columns that this dispatch computes: first and end. All but the last end are multiples of 32.
    column_begin: u32,
    column_end: u32,
    // Words of scratch memory per task, and the offset in them of the values that lanes keep
    // between parts.
    scratch_words: u32,
    kept: u32,
    // Number of words in texts.
    text_words: u32,
    // Largest distance that is reported.
    limit: u32,
    // Number of workgroups in the batch.
    groups: u32,
    // Parameter of the number of symbols that may follow an overlap (see `unaligned`).
    reach_divisor: u32,
    // Bases of every code, 4 bits per code.
    sets: vec2<u32>,
    reach_shorter: u32,
    reach_constant: u32,
    // Parameter of the number of edits of an overlap (see `most_edits`).
    reach_rate: u32,
    // Largest distance of a listed pair, capacity of the list in pairs (0: no list), and start of
    // the results of all pairs in the output.
    list_limit: u32,
    list_room: u32,
    dense_begin: u32,
    // Start of the tasks that heads keep in the output, and words per result.
    kept_begin: u32,
    result_words: u32,
    // Number of words per place: 1 if all texts have text_symbols symbols, or else 2.
    place_words: u32,
    text_symbols: u32,
    // Number of the last run.
    last_run: u32,
    reserved: u32,
}

struct Output {
    // Number of pairs within list_limit, including pairs that did not fit in the list.
    listed: atomic<u32>,
    // Number of tasks that heads kept.
    kept: atomic<u32>,
    reserved0: u32,
    reserved1: u32,
    // The list, in any order: tasks with their results. From dense_begin on, the results of all
    // tasks. From kept_begin on, the tasks that heads kept, in any order.
    data: array<u32>,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> profile: array<u32>;
@group(0) @binding(2) var<storage, read> texts: array<u32>;
@group(0) @binding(3) var<storage, read> places: array<u32>;
@group(0) @binding(4) var<storage, read> runs: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read> first_runs: array<u32>;
@group(0) @binding(6) var<storage, read_write> scratch: array<u32>;
@group(0) @binding(7) var<storage, read_write> out: Output;

// Symbols per word.
const SYMBOLS: u32 = 32u / BITS;

struct Pair {
    // First word of the profile, and rows and words of the pattern.
    profile: u32,
    m: u32,
    words: u32,
    // Number of words in one base's row of the profile.
    stride: u32,
    // First symbol and number of columns.
    at: u32,
    n: u32,
}

// Returns the first symbol and the length of the text at a place.
fn text_at(place: u32) -> vec2<u32> {
    if (params.place_words == 1u) {
        return vec2<u32>(places[place], params.text_symbols);
    }
    return vec2<u32>(places[2u * place], places[2u * place + 1u]);
}

// Returns the task at a place of the dispatch, where places are counted through all workgroups. The
// result is at least task_count if there is no task.
fn task_of(place: u32) -> u32 {
    if (!IS_KEPT) {
        return place;
    }
    if (place >= atomicLoad(&out.kept)) {
        return params.task_count;
    }
    return out.data[params.kept_begin + place];
}

// Returns the pair of a task of workgroup `group`. The run of the group's last task is at most the
// first run of the next group. Tasks that heads kept may belong to any run.
fn pair_of(group: u32, task: u32) -> Pair {
    var low = 0u;
    var high = params.last_run;
    if (!IS_KEPT) {
        low = first_runs[group];
        high = first_runs[group + 1u];
    }
    while (low < high) {
        let middle = (low + high + 1u) / 2u;
        if (runs[middle].x <= task) {
            low = middle;
        } else {
            high = middle - 1u;
        }
    }
    let run = runs[low];
    let text = text_at(run.y + task - run.x);
    let stride = (run.w + 31u) / 32u;
    let words = select(stride, min(stride, HEAD), HEAD > 0u);
    let m = run.w - 32u * (stride - words);
    var n = text.y;
    if (IS_PREFIX) {
        // Beyond this column, all distances exceed the pattern's length.
        n = min(n, 2u * m);
    }
    return Pair(run.z, m, words, stride, text.x, n);
}

// Returns the bits of the rows in word `word` that belong to a pattern of m rows in `words` words.
// Words before word `pads` are padding, and the pattern follows.
fn pattern_rows(m: u32, words: u32, word: u32, pads: u32) -> u32 {
    if (word < pads) {
        return 0u;
    }
    return select(0xffffffffu, 0xffffffffu << (32u * words - m), word == pads);
}

// Returns SYMBOLS symbols from `at` on, the first one in the lowest bits.
fn symbols_from(at: u32) -> u32 {
    let index = min(at / SYMBOLS, params.text_words - 2u);
    let shift = at % SYMBOLS * BITS;
    return (texts[index] >> shift) | ((texts[index + 1u] << 1u) << (31u - shift));
}

// Returns the largest number of edits of an overlap that contains this many symbols of the two
// sequences (`Reach` in src/score/edit.rs).
fn most_edits(one: u32, other: u32) -> u32 {
    return (params.reach_rate * min(one, other)) >> 16u;
}

// Returns how many symbols of a sequence of `length` symbols may follow its overlap with a sequence
// of `other` symbols (`Reach` in src/score/edit.rs).
fn unaligned(length: u32, other: u32) -> u32 {
    let shorter = min(length, other);
    return (params.reach_shorter * shorter + params.reach_constant) / params.reach_divisor + length - shorter;
}

// Stores the result of a task, which has one or two words. A result within the limit is also
// listed, if there is space in the list. If not, the host reads the results of all tasks. In the
// first dispatch (HEAD), a task whose head is within the limit is kept and has no result yet.
fn hand_over(task: u32, distance: u32, result: vec2<u32>, words: u32) {
    if (HEAD > 0u) {
        if (distance <= params.limit) {
            let place = atomicAdd(&out.kept, 1u);
            out.data[params.kept_begin + place] = task;
            return;
        }
        for (var w = 0u; w < params.result_words; w++) {
            out.data[params.dense_begin + params.result_words * task + w] = 0xffffffffu;
        }
        return;
    }
    let at = params.dense_begin + words * task;
    out.data[at] = result.x;
    if (words == 2u) {
        out.data[at + 1u] = result.y;
    }
    if (params.list_room > 0u && distance <= params.list_limit) {
        let place = atomicAdd(&out.listed, 1u);
        let entry = (1u + words) * place;
        if (place < params.list_room) {
            out.data[entry] = task;
            out.data[entry + 1u] = result.x;
        }
        if (place < params.list_room && words == 2u) {
            out.data[entry + 2u] = result.y;
        }
    }
}
