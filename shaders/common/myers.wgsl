// Levenshtein distance by bit-vectors: what all myers kernels share.
// Recurrence: C[i,j] = min(C[i-1,j-1] + (P[i] != T[j]), C[i-1,j] + 1, C[i,j-1] + 1), C[i,0] = i (Chacon et al. 2014, eq. 1); as
//             differences down a column (Myers 1999), in the form of Hyyro 2003: two bits a cell, 32 rows a word.
// Layout:     the pattern's last row is the top bit of the last word. Rows above its first one match everything in infix mode
//             and nothing otherwise, with no difference down the column, so that they hand row 0 on as it is.
//             profile: of a pattern, per base A, C, G, T its words, bit i set where row i matches (BITS of 2 and 4); or per
//             word a bit-vector for every code (BITS of 8), STRIDE of them.
//             texts: BITS a symbol, the first lowest; 0 to 3 are bases, and with 4 bits params.sets says of what bases another
//             code is made up. Before the first text and after the last is room to read.
//             Tasks are numbered through; runs[r] = (first task, its place, first word of its profile, length of the pattern),
//             a place has params.place_words in places: the first symbol of the text and, where texts differ in length, its length;
//             first_runs[g] is the run of workgroup g's first task (of
//             myers_band two numbers: run and first task of workgroup g).
//             out: the list of tasks within a limit, each with its result, the results of all tasks (hand_over), and the tasks
//             that heads keep.
//             Two dispatches may share the work: one of heads, the first HEAD words of each pattern, keeps the tasks whose head
//             is somewhere within the limit, the next one computes these as wholes (IS_KEPT). What comes of it is the same: a
//             path into the last row comes through the head's, where it has no more edits (Ukkonen 1985).
//
// Constants:  HEAD (0: whole patterns), IS_KEPT, BITS, STRIDE, WORDS (that an invocation keeps), WG, LANES (of a pair), PADS (match
// bits of rows above the pattern), INPUT (its top bit: whether row 0 is one more in each column), TRACK (ends are looked for: infix and prefix mode),
// IS_PREFIX, POSITION_BITS, STRIPS, IS_OVERLAP, ROW_WORDS (of a pattern in workgroup memory).

struct Params {
    task_count: u32,
    // The first workgroup's number.
    first_workgroup: u32,
    // Strips of rows that are computed: first and end. Others came before, or will follow.
    pass_begin: u32,
    pass_end: u32,
    // Columns that are computed: first and end, multiples of 32 but for the last end.
    column_begin: u32,
    column_end: u32,
    // Words of a task's part of the scratch memory, and where in it lies what lanes keep between parts.
    scratch_words: u32,
    kept: u32,
    // Words of texts.
    text_words: u32,
    // The greatest distance that is of interest.
    limit: u32,
    // Workgroups of the batch.
    groups: u32,
    // How many symbols may follow an overlap (see `unaligned`).
    reach_divisor: u32,
    // Of what bases a code is made up, 4 bits a code.
    sets: vec2<u32>,
    reach_shorter: u32,
    reach_constant: u32,
    // And how many edits it may have.
    reach_rate: u32,
    // The greatest distance of a pair that is listed, the pairs that there is room for (0: none is listed), and where in the
    // output the results of all pairs begin.
    list_limit: u32,
    list_room: u32,
    dense_begin: u32,
    // Where in the output the tasks begin that heads keep, and words of a result.
    kept_begin: u32,
    result_words: u32,
    // Words of a place: 1 where all texts have text_symbols, else 2.
    place_words: u32,
    text_symbols: u32,
}

struct Output {
    // Pairs within list_limit, whether there was room for them or not.
    listed: atomic<u32>,
    // Tasks that heads kept.
    kept: atomic<u32>,
    reserved0: u32,
    reserved1: u32,
    // The list, in any order: a task and its result; then, from dense_begin on, the results of all tasks, and from kept_begin
    // on those that heads kept, in any order.
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

// Symbols a word.
const SYMBOLS: u32 = 32u / BITS;

struct Pair {
    // First word of the profile, rows and words of the pattern.
    profile: u32,
    m: u32,
    words: u32,
    // Words of a base's row of the profile.
    stride: u32,
    // First symbol and number of columns.
    at: u32,
    n: u32,
}

// First symbol and length of the text at a place.
fn text_at(place: u32) -> vec2<u32> {
    if (params.place_words == 1u) {
        return vec2<u32>(places[place], params.text_symbols);
    }
    return vec2<u32>(places[2u * place], places[2u * place + 1u]);
}

// The task of a place in the dispatch, counted through all workgroups; task_count or more if there is none.
fn task_of(place: u32) -> u32 {
    if (!IS_KEPT) {
        return place;
    }
    if (place >= atomicLoad(&out.kept)) {
        return params.task_count;
    }
    return out.data[params.kept_begin + place];
}

// The pair of a task of workgroup `group`, of which the last task of the group is at most the next group's first. Tasks that
// heads kept may be of any run.
fn pair_of(group: u32, task: u32) -> Pair {
    var low = 0u;
    var high = first_runs[select(group + 1u, params.groups, IS_KEPT)];
    if (!IS_KEPT) {
        low = first_runs[group];
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
        // Beyond, every distance is above the pattern's length.
        n = min(n, 2u * m);
    }
    return Pair(run.z, m, words, stride, text.x, n);
}

// SYMBOLS symbols from one on, the first lowest.
fn symbols_from(at: u32) -> u32 {
    let index = min(at / SYMBOLS, params.text_words - 2u);
    let shift = at % SYMBOLS * BITS;
    return texts[index] >> shift | texts[index + 1u] << 1u << (31u - shift);
}

// The most edits of an overlap that ends after so many symbols of one sequence and of the other: Reach of src/score/edit.rs.
fn most_edits(own: u32, other: u32) -> u32 {
    return (params.reach_rate * min(own, other)) >> 16u;
}

// Symbols of a sequence of `own` that may follow its part that overlaps one of `other`: Reach of src/score/edit.rs.
fn unaligned(own: u32, other: u32) -> u32 {
    let shorter = min(own, other);
    return (params.reach_shorter * shorter + params.reach_constant) / params.reach_divisor + own - shorter;
}

// Hands over what came of a task: a word, or two of them. What is within the limit is listed too, as far as there is room; of
// what is not, the host reads the results of all tasks. Of a head within the limit there is no result yet.
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
