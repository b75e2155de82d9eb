// Shared by the kernels for profiles against profiles: parameters, profiles, rectangles and
// borders.

struct Params {
    // Number of problems in the batch. For each problem, the dispatch computes the rectangles
    // node_begin .. node_begin + nodes of its list.
    problems: u32,
    node_begin: u32,
    nodes: u32,
    // Largest number of tile rows in half a rectangle, and the antidiagonal of tiles to compute.
    tile_rows: u32,
    diagonal: u32,
    reserved0: u32,
    reserved1: u32,
    reserved2: u32,
}

// Two profiles. Offsets are in words of `data`, and in entries of `nodes`, `rows`, `columns` and
// `corners`.
struct Problem {
    // Columns of both profiles, which are the rows and columns of the matrix.
    m: u32,
    n: u32,
    // Number of letters divided by four.
    fours: u32,
    // Scores of letters with columns of the first profile, starting with its first column.
    scored: u32,
    // Tenths of letters of the second profile, four per word. The first four letters of all columns
    // come first.
    tenths: u32,
    // Opening costs, costs of symbols, and their sums: m + 2 numbers each for the first profile,
    // and n + 2 numbers each for the second one.
    first: u32,
    second: u32,
    nodes: u32,
    // n entries for the pass from above, and n for the pass from below.
    rows: u32,
    // m entries. The entries of the upper half belong to the pass from above.
    columns: u32,
    // Three times corner_count entries for each pass.
    corners: u32,
    corner_count: u32,
}

// A rectangle of the matrix, and the point where the best alignment crosses its middle row.
struct Node {
    // Rows and columns before the rectangle, rows and columns in it.
    a: u32,
    b: u32,
    m: u32,
    n: u32,
    // Bits: 1 if a gap along the left side opens in the rectangle, 2 if a gap along the right side
    // opens in it.
    ends: u32,
    // Column behind which the best alignment crosses the middle row; UNDIVIDED if the rectangle is
    // not divided.
    column: u32,
    // Whether the alignment is in a gap at the crossing.
    in_gap: u32,
    reserved: u32,
}

const UNDIVIDED: u32 = 0xffffffffu;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> problems: array<Problem>;
@group(0) @binding(2) var<storage, read> data: array<i32>;
@group(0) @binding(3) var<storage, read_write> nodes: array<Node>;
// For every column of the matrix, the score of the last computed row, and the score with an open
// gap in the second profile.
@group(0) @binding(4) var<storage, read_write> rows: array<vec2<i32>>;

fn first_open(problem: Problem, a: u32) -> i32 {
    return data[problem.first + a];
}

fn first_extend(problem: Problem, a: u32) -> i32 {
    return data[problem.first + problem.m + 2u + a];
}

fn first_sum(problem: Problem, a: u32) -> i32 {
    return data[problem.first + 2u * (problem.m + 2u) + a];
}

fn second_open(problem: Problem, b: u32) -> i32 {
    return data[problem.second + b];
}

fn second_extend(problem: Problem, b: u32) -> i32 {
    return data[problem.second + problem.n + 2u + b];
}

fn second_sum(problem: Problem, b: u32) -> i32 {
    return data[problem.second + 2u * (problem.n + 2u) + b];
}

// Returns the cost of opening a gap in the first profile behind row a, before column b. It is 0 at
// the ends of the profile.
fn open_first(problem: Problem, a: u32, b: u32) -> i32 {
    return select(first_open(problem, a) + second_open(problem, b), 0, a == 0u || a == problem.m);
}

// Returns the cost of opening a gap in the second profile before row a, behind column b. It is 0 at
// the ends of the profile.
fn open_second(problem: Problem, a: u32, b: u32) -> i32 {
    return select(first_open(problem, a) + second_open(problem, b), 0, b == 0u || b == problem.n);
}

// Returns the score of the border before the first column of a half, p rows from its first row.
fn left_border(problem: Problem, node: Node, is_back: bool, p: u32) -> i32 {
    let right = node.b + node.n;
    if (p == 0u) {
        return 0;
    }
    if (is_back) {
        let below = node.a + node.m;
        let symbols = select(first_sum(problem, below) - first_sum(problem, below - p), 0, right == problem.n);
        let opening = select(0, open_second(problem, below - p + 1u, right), (node.ends & 2u) != 0u);
        return -symbols - opening;
    }
    let symbols = select(i32(p) * first_extend(problem, node.a + 1u), 0, node.b == 0u);
    let opening = select(0, open_second(problem, node.a + 1u, node.b), (node.ends & 1u) != 0u);
    return -symbols - opening;
}

// Returns the scores of the border before the first row of a half, q columns from its corner.
fn top_border(problem: Problem, node: Node, is_back: bool, q: u32) -> vec2<i32> {
    if (q == 0u) {
        return vec2<i32>(0);
    }
    if (is_back) {
        let right = node.b + node.n;
        let below = node.a + node.m;
        let symbols = second_sum(problem, right) - second_sum(problem, right - q);
        let score = -symbols - open_first(problem, below, right - q + 1u);
        return vec2<i32>(select(score, 0, below == problem.m));
    }
    let symbols = i32(q) * second_extend(problem, node.b + 1u);
    let score = select(-symbols - open_first(problem, node.a, node.b + 1u), 0, node.a == 0u);
    return vec2<i32>(score, score - open_second(problem, node.a + 1u, node.b + q));
}
