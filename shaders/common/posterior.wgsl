// Shared by the kernels for probabilities of pairs of residues: parameters, pairs, tasks, and
// arithmetic with identical bits on every device.
// Layout:     a pair's matrix has the residues of one sequence as rows, and those of the other as
//             columns from 1 on; column 0 precedes the first residue. It is divided into blocks of
//             16 columns and 8 rows (a group of rows). Each block has an exponent: values are
//             multiplied by two to this power (src/posterior/scale.rs).

struct Params {
    // Tasks of the dispatch: workgroup k computes task_begin + k.
    task_begin: u32,
    task_count: u32,
    // Strips of this dispatch, in the order of the pass.
    strip_begin: u32,
    strip_end: u32,
    // Capacity for survivors (cells above the cutoff), which follow the pairs' parts of `out.data`,
    // and start of that section.
    capacity: u32,
    arena_begin: u32,
    // Always 0. Compilers cannot know that.
    zero: u32,
    // Weights of a gap's first symbol and of each further one.
    open: f32,
    extend: f32,
    // Lowest probability that is stored. It is slightly below the threshold.
    cutoff: f32,
    // Weight of a gap at an end of the alignment.
    end_gap: f32,
    reserved: u32,
}

struct Pair {
    row_begin: u32,
    rows: u32,
    column_begin: u32,
    columns: u32,
    // Start of the pair's part of `out.data`. The part consists of HEADER words, the last column's
    // values for each row and exponents for each group of rows, and the last row's values from
    // column 0 on with the exponents of their blocks.
    out_begin: u32,
    reserved0: u32,
    reserved1: u32,
    reserved2: u32,
}

// Pairs that a workgroup computes at once, with LANES invocations each.
struct Task {
    first: u32,
    count: u32,
    // Groups of rows and strips of columns of the largest pair.
    groups: u32,
    strips: u32,
    // Start of the task's part of `kept` and of `scratch`.
    kept_begin: u32,
    scratch_begin: u32,
    // Largest number of survivors of a pair.
    list: u32,
    reserved: u32,
}

struct Output {
    used: atomic<u32>,
    reserved0: u32,
    reserved1: u32,
    reserved2: u32,
    data: array<u32>,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> symbols: array<u32>;
// Weights of two codes: CODES + 1 entries for each code of a row. The last entry stands for a
// column without a residue and is 0.
@group(0) @binding(2) var<storage, read> table: array<f32>;
@group(0) @binding(3) var<storage, read> pairs: array<Pair>;
@group(0) @binding(4) var<storage, read> tasks: array<Task>;
@group(0) @binding(5) var<storage, read_write> kept: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> scratch: array<u32>;
@group(0) @binding(7) var<storage, read_write> out: Output;

const BLOCK: u32 = 16u;
const STEP: u32 = 8u;
// Words of the header: exponent and mantissa of the approximate sum over all alignments, number of
// survivors, and start of the survivors.
const HEADER: u32 = 4u;
const STRIDE: u32 = CODES + 1u;
const PAIRS: u32 = WG / LANES;

var<workgroup> weights: array<f32, CODES * STRIDE>;
// Values that a block passes to the next block, for each row of a group and each invocation. Odd
// and even steps alternate.
var<workgroup> handed: array<vec4<f32>, 2u * STEP * WG>;
var<workgroup> handed_exponents: array<i32, 2u * WG>;

fn load_weights(t: u32) {
    for (var k = t; k < CODES * STRIDE; k += WG) {
        weights[k] = table[k];
    }
}

fn symbol(at: u32) -> u32 {
    return (symbols[at / 4u] >> (8u * (at % 4u))) & 255u;
}

// Returns a rounded product. Prevents contraction with a following addition, which would round
// differently.
fn product(a: f32, b: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(a * b) ^ params.zero);
}

// Returns 2^exponent, clamped to the range of normal floats.
fn power(exponent: i32) -> f32 {
    return bitcast<f32>(u32(clamp(exponent, -126, 126) + 127) << 23u);
}

// Returns the weight of a gap at an end of the alignment in the scale of a block. It is a normal
// float, because devices disagree about others.
fn end_value(exponent: i32) -> f32 {
    return max(power(-exponent) * params.end_gap, bitcast<f32>(0x00800000u));
}

// Returns the exponent of a positive float.
fn exponent_of(value: f32) -> i32 {
    return clamp(i32(bitcast<u32>(value) >> 23u) - 127, -126, 126);
}

// Returns the code of a column, or CODES if it has no residue.
fn column_code(pair: Pair, column: u32) -> u32 {
    if (column == 0u || column > pair.columns) {
        return CODES;
    }
    return symbol(pair.column_begin + column - 1u);
}

fn blocks_of(pair: Pair) -> u32 {
    return pair.columns / BLOCK + 1u;
}

fn groups_of(pair: Pair) -> u32 {
    return (pair.rows + STEP - 1u) / STEP;
}

// Returns the number of steps of a strip. It is LANES - 1 more than the number of groups, because
// each invocation is one group behind the previous one.
fn steps_of(task: Task) -> u32 {
    return task.groups + LANES - 1u;
}

// Returns the index of four columns' forward values in a row of a group. Neighbouring invocations
// have neighbouring indices.
fn kept_place(task: Task, strip: u32, step: u32, row: u32, four: u32, t: u32) -> u32 {
    return task.kept_begin + (((strip * steps_of(task) + step) * STEP + row) * (BLOCK / 4u) + four) * WG + t;
}

// Returns the index of the exponent of a block's forward values.
fn exponent_place(task: Task, strip: u32, row_group: u32, t: u32) -> u32 {
    return task.scratch_begin + (strip * task.groups + row_group) * WG + t;
}

// Returns the index of the four words of a row that a strip passes to the next strip.
fn border_place(task: Task, row: u32, slot: u32) -> u32 {
    return task.scratch_begin + task.strips * task.groups * WG + (row * PAIRS + slot) * 4u;
}

// Returns the index of a pair's survivors, two words each.
fn list_place(task: Task, slot: u32) -> u32 {
    return task.scratch_begin + task.strips * task.groups * WG + task.groups * STEP * PAIRS * 4u + slot * task.list * 2u;
}
