// Common to the kernels for probabilities of pairs of residues: parameters, pairs, tasks, and arithmetic that gives the same bits
// everywhere.
//
// A pair's matrix has the rows' residues as rows and the columns' as columns 1 and on; column 0 is before the first. It is cut
// into blocks of 16 columns and groups of 8 rows: each has an exponent, and values stand for themselves times two to it
// (src/posterior/scale.rs).

struct Params {
    // Tasks that are to do: workgroup k does task_begin + k.
    task_begin: u32,
    task_count: u32,
    // Strips to do in this dispatch, in the order of the pass.
    strip_begin: u32,
    strip_end: u32,
    // Survivors that there is room for behind the pairs' parts of `out.data`, and where that begins.
    capacity: u32,
    arena_begin: u32,
    // 0, which no compiler knows.
    zero: u32,
    // Weights of a gap's first symbol and of each further one.
    open: f32,
    extend: f32,
    // The least probability that is handed over, less than the least that counts.
    cutoff: f32,
    reserved0: u32,
    reserved1: u32,
}

struct Pair {
    row_begin: u32,
    rows: u32,
    column_begin: u32,
    columns: u32,
    // Where its part of `out.data` begins: HEADER words; of each row the value in the last column; of each group the exponent
    // there; the last row's values from column 0 on; their blocks' exponents.
    out_begin: u32,
    reserved0: u32,
    reserved1: u32,
    reserved2: u32,
}

// Pairs that a workgroup does at once, LANES invocations each.
struct Task {
    first: u32,
    count: u32,
    // Groups of rows and strips of columns, those of the greatest of its pairs.
    groups: u32,
    strips: u32,
    // Where its part of `kept` and of `scratch` begins.
    kept_begin: u32,
    scratch_begin: u32,
    // Survivors of a pair at most.
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
// Of two codes the weight, CODES + 1 of each row's code: the last one is that of no residue, 0.
@group(0) @binding(2) var<storage, read> table: array<f32>;
@group(0) @binding(3) var<storage, read> pairs: array<Pair>;
@group(0) @binding(4) var<storage, read> tasks: array<Task>;
@group(0) @binding(5) var<storage, read_write> kept: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> scratch: array<u32>;
@group(0) @binding(7) var<storage, read_write> out: Output;

const BLOCK: u32 = 16u;
const STEP: u32 = 8u;
// Exponent and mantissa of the sum over all alignments, about; how many survivors, and where they are.
const HEADER: u32 = 4u;
const STRIDE: u32 = CODES + 1u;
const PAIRS: u32 = WG / LANES;

var<workgroup> weights: array<f32, CODES * STRIDE>;
// Of each row of a group and invocation, in odd and even steps: what its block hands to the next.
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

// A product, rounded: what is added to it is not contracted with it.
fn product(a: f32, b: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(a * b) ^ params.zero);
}

// 2^exponent, cut to what a normal float can be.
fn power(exponent: i32) -> f32 {
    return bitcast<f32>(u32(clamp(exponent, -126, 126) + 127) << 23u);
}

// Where a float's power of two is, of those above 0.
fn exponent_of(value: f32) -> i32 {
    return clamp(i32(bitcast<u32>(value) >> 23u) - 127, -126, 126);
}

// The code of a column, CODES where there is no residue.
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

// Steps of a strip: LANES - 1 more than groups, since each invocation is a group behind the one before it.
fn steps_of(task: Task) -> u32 {
    return task.groups + LANES - 1u;
}

// Where four columns' forward values of a row of a group are: each invocation's beside the others'.
fn kept_place(task: Task, strip: u32, step: u32, row: u32, four: u32, t: u32) -> u32 {
    return task.kept_begin + (((strip * steps_of(task) + step) * STEP + row) * (BLOCK / 4u) + four) * WG + t;
}

// Where the exponent of a block's forward values is.
fn exponent_place(task: Task, strip: u32, row_group: u32, t: u32) -> u32 {
    return task.scratch_begin + (strip * task.groups + row_group) * WG + t;
}

// Where a row's four words are of what a strip hands to the next.
fn border_place(task: Task, row: u32, slot: u32) -> u32 {
    return task.scratch_begin + task.strips * task.groups * WG + (row * PAIRS + slot) * 4u;
}

// Where a pair's survivors are, two words each.
fn list_place(task: Task, slot: u32) -> u32 {
    return task.scratch_begin + task.strips * task.groups * WG + task.groups * STEP * PAIRS * 4u + slot * task.list * 2u;
}
