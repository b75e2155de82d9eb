// Common to the nw_ kernels: parameters, tasks, sequences and borders. Constants: CODES (alphabet size), AFFINE, OWN_ENDS (end
// gaps have costs of their own) and END_OPENING (whose first symbol costs more than the others) as booleans, PLANES (numbers
// that a border cell keeps: 2 if affine, else 1), and each kernel's own.
//
// Sequences are padded at the front with code 0, so that every pair of a task ends in the same row and column; padded
// cells repeat the border (src/score/offset.rs). With END_OPENING those before both sequences hold edge_opening, and the
// last of them, the corner, is lifted to 0 by the kernel.

// Stands for minus infinity.
const NEVER: i32 = -1073741824;

struct Params {
    // Tasks task_begin .. task_count are to do; without tickets slot k does task task_begin + k.
    task_begin: u32,
    task_count: u32,
    // Slices (nw_slice, nw_rows) or passes (nw_diagonal) to do in this dispatch; ticketed dispatches do all of every task.
    slice_begin: u32,
    slice_end: u32,
    ticketed: u32,
    rows_words: u32,
    opening: i32,
    edge_opening: i32,
    edge_step: i32,
    match_bits: u32,
    // Where values begin in out.data, and how many pairs the list of kept pairs can hold.
    values_begin: u32,
    filter_mode: u32,
    // Filter (IdentityFilter::device_form): see reaches() in nw_slice.wgsl and nw_walk.wgsl.
    filter_match: i32,
    filter_mismatch: i32,
    filter_unequal: i32,
    filter_threshold: f32,
    filter_mismatch_low: i32,
    filter_match_low: i32,
    filter_dearest: i32,
    filter_free_step: i32,
    filter_forms: array<vec4<f32>, 3>,
    // nw_tiled_diagonal: the diagonal of tiles to do.
    tile_diagonal: u32,
    // nw_walk: where runs begin in out.data, how many words of them there is room for, and whether to walk at all.
    runs_begin: u32,
    runs_capacity_words: u32,
    walk: u32,
    // nw_checkpoint: quads of an arena that a workgroup has, and how many workgroups an arena serves.
    slot_quads: u32,
    slots_an_arena: u32,
}

struct Task {
    // Word just past the query's last symbol, and its length.
    query_end_word: u32,
    query_symbols: u32,
    // Targets: targets[first .. first + count].
    first: u32,
    count: u32,
    // Rows to walk in words of 4: enough for the longest target.
    rows_words: u32,
    // Index of the first pair among all pairs of the batch.
    pairs_begin: u32,
    // Targets with a smaller number are queries of the alignment that is reported.
    query_number: u32,
    // The task's arena, and where its part begins there, in quads (arena.wgsl).
    arena: u32,
    arena_begin: u32,
    // Columns, padding included.
    columns: u32,
    // Quads of directions of one pair.
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

// Value of a border cell after k real symbols, and what an end gap of so many adds; of none (k <= 0) it is the corner's.
fn edge(k: i32) -> i32 {
    return select(0, params.edge_opening + params.edge_step * k, k > 0);
}

// Value of a cell of the first row (or column) after k real symbols, where `pad` rows (columns) of padding begin: the
// corner is there only if there are none.
fn rim(k: i32, pad: i32) -> i32 {
    if (END_OPENING && k <= 0) {
        return select(params.edge_opening, 0, k == 0 && pad == 0);
    }
    return edge(k);
}

// Four symbols of a target; before its first word there is padding.
fn target_word(task: Task, word: u32, first_b_word: u32, b_begin: u32) -> u32 {
    if (word >= first_b_word && word < task.rows_words) {
        return target_words[b_begin + word];
    }
    return 0u;
}
