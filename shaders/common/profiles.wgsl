// Common to the kernels for profiles against profiles: parameters, profiles, rectangles, borders.

struct Params {
    // Problems of the batch, and of each the rectangles node_begin .. node_begin + nodes of its list.
    problems: u32,
    node_begin: u32,
    nodes: u32,
    // Rows of tiles that a rectangle's half has at most, and the anti-diagonal of tiles to do.
    tile_rows: u32,
    diagonal: u32,
    reserved0: u32,
    reserved1: u32,
    reserved2: u32,
}

// Two profiles. Places are of words of `data`, of entries of `nodes`, `rows`, `columns` and `corners`.
struct Problem {
    // Columns of both profiles; rows and columns of the matrix.
    m: u32,
    n: u32,
    // Letters in fours.
    fours: u32,
    // What letters score with columns of the first profile: those of its first column first.
    scored: u32,
    // Tenths of letters of the second profile, four in a word: all columns of the first four letters first.
    tenths: u32,
    // Opening costs, costs of symbols, sums of these: m + 2 numbers each, n + 2 numbers each.
    first: u32,
    second: u32,
    nodes: u32,
    // n entries for the way from above, and n for that from below.
    rows: u32,
    // m entries: those of the upper half are of the way from above.
    columns: u32,
    // Three times corner_count for either way.
    corners: u32,
    corner_count: u32,
}

// A rectangle of the matrix, and where the best alignment crosses its middle row.
struct Node {
    // Rows and columns before it, rows and columns in it.
    a: u32,
    b: u32,
    m: u32,
    n: u32,
    // 1: a gap along the left edge is opened in it; 2: one along the right edge is.
    ends: u32,
    // The column behind which the best alignment crosses; UNDIVIDED if there is no such thing.
    column: u32,
    // Whether it is in a gap there.
    in_gap: u32,
    reserved: u32,
}

const UNDIVIDED: u32 = 0xffffffffu;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> problems: array<Problem>;
@group(0) @binding(2) var<storage, read> data: array<i32>;
@group(0) @binding(3) var<storage, read_write> nodes: array<Node>;
// Of every column of the matrix the score of the last row that was done, and that with an open gap in the second profile.
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

// Opening a gap in the first profile behind row a, before column b: nothing at its ends.
fn open_first(problem: Problem, a: u32, b: u32) -> i32 {
    return select(first_open(problem, a) + second_open(problem, b), 0, a == 0u || a == problem.m);
}

// Opening a gap in the second profile before row a, behind column b: nothing at its ends.
fn open_second(problem: Problem, a: u32, b: u32) -> i32 {
    return select(first_open(problem, a) + second_open(problem, b), 0, b == 0u || b == problem.n);
}

// The score before the first column of a half, p rows from its edge.
fn left_edge(problem: Problem, node: Node, is_back: bool, p: u32) -> i32 {
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

// The scores before the first row of a half, q columns from its corner.
fn top_edge(problem: Problem, node: Node, is_back: bool, q: u32) -> vec2<i32> {
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
