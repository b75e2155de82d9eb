// Shared by the nw_ kernels: parameters, tasks, sequences and borders.
// Constants:  CODES (alphabet size), AFFINE, OWN_ENDS (end gaps have their own costs), END_OPENING
//             (the first symbol of an end gap costs more than the others), PLANES (values per
//             border cell: 2 if affine, else 1), and the constants of each kernel.
// Padding:    sequences are padded at the front with code 0, so that all pairs of a task end in the
//             same row and column. Padded cells repeat the border (src/score/offset.rs). With same
//             row and column. Padded cells repeat the border (src/score/offset.rs). With
//             END_OPENING, cells before both sequences contain border_opening. The last of these
//             cells is the corner, which the kernel raises to 0.

// Minus infinity: less than all scores, and far enough from overflow for subtractions.
const NEG_INF: i32 = -1073741824;

struct Params {
    // The dispatch computes tasks task_begin .. task_count. Without tickets, slot k computes task
    // task_begin + k.
    task_begin: u32,
    task_count: u32,
    // Slices (nw_slice, nw_rows) or passes (nw_diagonal) of this dispatch. Ticketed dispatches
    // compute all slices of every task.
    slice_begin: u32,
    slice_end: u32,
    ticketed: u32,
    rows_words: u32,
    opening: i32,
    border_opening: i32,
    border_step: i32,
    match_bits: u32,
    // Start of the values in out.data.
    values_begin: u32,
    // Mode of the identity filter; 6 keeps every pair.
    filter_mode: u32,
    // Parameters of the filter (IdentityFilter::device_form): see reaches() in nw_slice.wgsl and
    // traceback.wgsl.
    filter_match: i32,
    filter_mismatch: i32,
    filter_unequal: i32,
    filter_threshold: f32,
    filter_mismatch_low: i32,
    filter_match_low: i32,
    filter_dearest: i32,
    filter_free_step: i32,
    filter_forms: array<vec4<f32>, 3>,
    // nw_tiled_diagonal: index of the antidiagonal of tiles to compute.
    tile_diagonal: u32,
    // nw_traceback: start of the runs in out.data, their capacity in words, and whether to trace
    // back.
    runs_begin: u32,
    runs_capacity_words: u32,
    traces_back: u32,
    // nw_checkpoint: number of quads of an arena per workgroup, and number of workgroups per arena.
    slot_quads: u32,
    slots_an_arena: u32,
}

struct Task {
    // Word just past the query's last symbol, and length of the query in symbols.
    query_end_word: u32,
    query_symbols: u32,
    // The targets are targets[first .. first + count].
    first: u32,
    count: u32,
    // Number of words (four rows each), enough for the longest target.
    rows_words: u32,
    // Index of the first pair among all pairs of the batch.
    pairs_begin: u32,
    // Targets with an index below this one are the queries of the reported alignments.
    query_number: u32,
    // Index of the task's arena, and start of the task's part in it, in quads (arena.wgsl).
    arena: u32,
    arena_begin: u32,
    // Number of columns, including padding.
    columns: u32,
    // Quads of directions per pair.
    direction_quads: u32,
}

struct Target {
    end_word: u32,
    symbols: u32,
    number: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> query_words: array<u32>;
@group(0) @binding(2) var<storage, read> target_words: array<u32>;
@group(0) @binding(3) var<storage, read> targets: array<Target>;
@group(0) @binding(4) var<storage, read> tasks: array<Task>;
@group(0) @binding(5) var<storage, read> table: array<i32>;

// Returns the value of a border cell after k real symbols: the cost of an end gap of k symbols. For
// k <= 0 it is the corner's value, 0.
fn border_value(k: i32) -> i32 {
    return select(0, params.border_opening + params.border_step * k, k > 0);
}

// Returns the value of a cell of the first row (or column) after k real symbols, behind `pad` rows
// (columns) of padding. The row (column) contains the corner only if there is no padding.
fn border_at(k: i32, pad: i32) -> i32 {
    if (END_OPENING && k <= 0) {
        return select(params.border_opening, 0, k == 0 && pad == 0);
    }
    return border_value(k);
}

// Returns four symbols of a target, or padding before its first word.
fn target_word(task: Task, word: u32, first_b_word: u32, b_begin: u32) -> u32 {
    if (word >= first_b_word && word < task.rows_words) {
        return target_words[b_begin + word];
    }
    return 0u;
}
