// profile_tile: computes the scores of two profiles up to the middle row of rectangles, from above
// and from below. Each workgroup computes one tile of one half of a rectangle. Each dispatch
// computes one anti-diagonal of tiles of all rectangles.
// Recurrence: H[p,q] = max(H[p-1,q-1] + score, D[p,q], E[p,q]). D[p,q] = max(D[p-1,q], H[p-1,q] -
//             opening) - symbol. E is the same along a row. The costs depend on the columns of both
//             profiles and are 0 at the borders of the matrix. From below, a gap starts without its
//             opening cost, because that cost depends on the row where the gap ends (Myers and
//             Miller 1988, as in ClustalW). A score is a tenth of a scalar product: the scores of
//             letters with a row times the shares of letters in a column, in tenths.
// Owns:       invocation l computes rows 4 l to 4 l + 3 of the tile's 4 WG rows, and column k - l
//             in step k.
//             Tile (r, c) starts at row 4 WG r and column TILE c.
// Layout:     rows[problem.rows + half * n + b + q - 1] is the last row of the last tile in a
//             column of tiles. columns[problem.columns + row of the matrix] is the last column of
//             the last tile in a row of tiles. corners[problem.corners + (half * 3 + diagonal % 3)
//             * corner_count + b / TILE + node + c] is H at the lower right end of a tile. Corners
//             are stored separately, because neighbouring tiles overwrite this value in `rows` and
//             `columns` before tile (r + 1, c + 1) reads it.
// Invariant:  after the dispatch of diagonal d, all tiles with r + c <= d are final. After the last
//             dispatch, `rows` contains the middle row.
// Uniform:    the tile follows from the index of the workgroup and from a value that one invocation
//             loads for all. In a workgroup without a tile, all invocations return.
// Limits:     sums within 30 bits; tenths within 8 bits; LETTERS letters.
// Oracle:     src/profile/oracle.rs
//
// Constants:  WG (invocations in a workgroup), TILE (columns of a tile), LETTERS (a multiple of 4).

#import profiles

// H and E of every row in the column before the current tiles.
@group(0) @binding(5) var<storage, read_write> columns: array<vec2<i32>>;
@group(0) @binding(6) var<storage, read_write> corners: array<i32>;

const ROWS: u32 = 4u;
// Number of columns whose products an invocation computes at once.
const CHUNK: u32 = 8u;
// Minus infinity: less than every score.
const NEG_INF: i32 = -0x40000000;

// Gap costs of the invocation's rows: opening of gaps along rows and down columns, where a gap
// starts (in)
// and where it ends (out), and symbols of gaps down columns.
struct Costs {
    along_in: vec4<i32>,
    along_out: vec4<i32>,
    down_in: vec4<i32>,
    down_out: vec4<i32>,
    down_symbol: vec4<i32>,
}

var<workgroup> wg_node: Node;
// Scores of each letter with the rows of each invocation.
var<workgroup> scored: array<vec4<i32>, LETTERS * WG>;
// The row above the tile.
var<workgroup> top: array<vec2<i32>, TILE>;
// Costs of each column: opening and symbols of gaps along rows, opening of gaps down the column,
// and
// whether gaps down the column are free.
var<workgroup> column_costs: array<vec4<i32>, TILE>;
// H and D that each invocation passes to the next, for even and odd steps.
var<workgroup> handed: array<vec2<i32>, 2u * WG>;

// State of the invocation's rows: H and E in the last column, H of the row above in that column,
// costs, and
// the number of rows.
var<private> row_h: vec4<i32>;
var<private> row_e: vec4<i32>;
var<private> corner: i32;
var<private> costs: Costs;
var<private> count: u32;
var<private> is_back: bool;
// Number of columns of the tile, the last invocation with rows, and the offset of its last row.
var<private> width: u32;
var<private> last_lane: u32;
var<private> rows_begin: u32;

// Returns H, D and E of a cell from H and D above it and H and E to its left. Openings are (in,
// out).
fn cell(up: vec2<i32>, left: vec2<i32>, together: i32, down: vec3<i32>, along: vec3<i32>) -> vec3<i32> {
    let d = max(up.x - down.x, up.y) - down.z;
    let e = max(left.x - along.x, left.y) - along.z;
    return vec3<i32>(max(together, max(d - down.y, e - along.y)), d, e);
}

// Performs one step of an invocation: computes its rows in one column with the given scores.
fn advance(step: u32, lane: u32, scores: vec4<i32>) {
    // Wraps below 0 to a value after the last column.
    let j = step - lane;
    if (j < width && lane <= last_lane) {
        let own = column_costs[j];
        let is_free = own.w != 0;
        let along_in = costs.along_in + select(own.x, 0, is_back);
        let along_out = costs.along_out + select(0, own.x, is_back);
        let down_in = select(costs.down_in + select(own.z, 0, is_back), vec4<i32>(0), is_free);
        let down_out = select(costs.down_out + select(0, own.z, is_back), vec4<i32>(0), is_free);
        let symbol = select(costs.down_symbol, vec4<i32>(0), is_free);
        var up: vec2<i32>;
        if (lane == 0u) {
            up = top[j];
        } else {
            up = handed[((step + 1u) % 2u) * WG + lane - 1u];
        }
        let together = scores + vec4<i32>(corner, row_h.xyz);
        corner = up.x;
        let c0 = cell(up, vec2<i32>(row_h.x, row_e.x), together.x, vec3<i32>(down_in.x, down_out.x, symbol.x),
                      vec3<i32>(along_in.x, along_out.x, own.y));
        let c1 = cell(c0.xy, vec2<i32>(row_h.y, row_e.y), together.y, vec3<i32>(down_in.y, down_out.y, symbol.y),
                      vec3<i32>(along_in.y, along_out.y, own.y));
        let c2 = cell(c1.xy, vec2<i32>(row_h.z, row_e.z), together.z, vec3<i32>(down_in.z, down_out.z, symbol.z),
                      vec3<i32>(along_in.z, along_out.z, own.y));
        let c3 = cell(c2.xy, vec2<i32>(row_h.w, row_e.w), together.w, vec3<i32>(down_in.w, down_out.w, symbol.w),
                      vec3<i32>(along_in.w, along_out.w, own.y));
        row_h = vec4<i32>(c0.x, c1.x, c2.x, c3.x);
        row_e = vec4<i32>(c0.z, c1.z, c2.z, c3.z);
        // Rows after the last one are computed but not used.
        let last = select(select(c0.xy, c1.xy, count == 2u), select(c2.xy, c3.xy, count == 4u), count > 2u);
        handed[(step % 2u) * WG + lane] = last;
        if (lane == last_lane) {
            rows[rows_begin + j] = last;
        }
    }
    // Safe: values written in one step are read in the next, which writes to other elements.
    workgroupBarrier();
}

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    var number = workgroup.x + workgroup.y * workgroups.x;
    let r = number % params.tile_rows;
    number /= params.tile_rows;
    let half = number % 2u;
    number /= 2u;
    let own = number % params.nodes;
    number /= params.nodes;
    if (number >= params.problems) {
        return;
    }
    let problem = problems[number];
    if (lane == 0u) {
        wg_node = nodes[problem.nodes + params.node_begin + own];
    }
    // Safe: the load is a barrier before and after it.
    let node = workgroupUniformLoad(&wg_node);
    let backwards = half == 1u;
    is_back = backwards;
    let middle = node.m / 2u;
    let own_rows = select(middle, node.m - middle, backwards);
    let row_begin = r * ROWS * WG;
    // Wraps below 0 to a value after the last column.
    let column_begin = (params.diagonal - r) * TILE;
    if (node.m < 2u || row_begin >= own_rows || params.diagonal < r || column_begin >= node.n) {
        return;
    }
    // Bounds of loops with barriers are not read from private variables, which compilers do not
    // consider uniform.
    let tile_width = min(TILE, node.n - column_begin);
    width = tile_width;
    let height = min(ROWS * WG, own_rows - row_begin);
    let end_lane = (height - 1u) / ROWS;
    last_lane = end_lane;
    let right = node.b + node.n;
    let below = node.a + node.m;
    rows_begin = problem.rows + half * problem.n + node.b + column_begin;
    let corner_begin = problem.corners + half * 3u * problem.corner_count + node.b / TILE + own;
    let tile_column = params.diagonal - r;

    // Phase 1: load the borders and costs of the tile.
    for (var j = lane; j < width; j += WG) {
        if (r == 0u) {
            top[j] = top_border(problem, node, is_back, column_begin + j + 1u);
        } else {
            top[j] = rows[rows_begin + j];
        }
        let at = select(node.b + column_begin + j, right - 1u - column_begin - j, is_back);
        let down = select(at + 1u, at, is_back);
        let is_free = down == 0u || down == problem.n;
        column_costs[j] = vec4<i32>(second_open(problem, at + 1u), second_extend(problem, at + 1u),
                                    select(second_open(problem, down), 0, is_free), select(0, 1, is_free));
    }
    let p = row_begin + lane * ROWS;
    count = min(ROWS, max(own_rows, p) - p);
    // Positions of its rows in the matrix. Rows after the last one repeat it.
    var places: array<u32, ROWS>;
    for (var k = 0u; k < ROWS; k++) {
        let row = min(p + k + 1u, own_rows);
        places[k] = select(node.a + row - 1u, below - row, is_back);
        let down = select(node.a + row, below - row + 1u, is_back);
        let along_open = first_open(problem, select(node.a + row, below - row, is_back));
        let down_open = first_open(problem, down);
        costs.along_in[k] = select(along_open, 0, is_back);
        costs.along_out[k] = select(0, along_open, is_back);
        costs.down_in[k] = select(down_open, 0, is_back);
        costs.down_out[k] = select(0, down_open, is_back);
        costs.down_symbol[k] = first_extend(problem, down);
        if (tile_column == 0u) {
            row_h[k] = left_border(problem, node, is_back, row);
            row_e[k] = NEG_INF;
        } else {
            let left = columns[problem.columns + places[k]];
            row_h[k] = left.x;
            row_e[k] = left.y;
        }
    }
    if (tile_column == 0u) {
        corner = left_border(problem, node, is_back, min(p, own_rows));
    } else if (lane > 0u) {
        let row = min(p, own_rows);
        corner = columns[problem.columns + select(node.a + row - 1u, below - row, is_back)].x;
    } else if (r == 0u) {
        corner = top_border(problem, node, is_back, column_begin).x;
    } else {
        let before = (params.diagonal + 1u) % 3u;
        corner = corners[corner_begin + before * problem.corner_count + tile_column - 1u];
    }
    let letters = 4u * problem.fours;
    for (var letter = 0u; letter < letters; letter++) {
        let place = problem.scored + letter;
        scored[letter * WG + lane] = vec4<i32>(data[place + places[0] * letters], data[place + places[1] * letters],
                                               data[place + places[2] * letters], data[place + places[3] * letters]);
    }
    storageBarrier();
    workgroupBarrier();

    // Phase 2: compute the tile, chunk by chunk.
    let steps = tile_width + end_lane;
    for (var begin = 0u; begin < steps; begin += CHUNK) {
        var products: array<vec4<i32>, CHUNK>;
        // Columns of the matrix, counted from 0.
        var at: array<u32, CHUNK>;
        for (var k = 0u; k < CHUNK; k++) {
            products[k] = vec4<i32>(0);
            // Columns before the first or after the last repeat that column.
            let j = column_begin + min(max(begin + k, lane) - lane, width - 1u);
            at[k] = select(node.b + j, right - 1u - j, is_back);
        }
        for (var four = 0u; four < problem.fours; four++) {
            let line = problem.tenths + four * problem.n;
            let own0 = scored[(4u * four) * WG + lane];
            let own1 = scored[(4u * four + 1u) * WG + lane];
            let own2 = scored[(4u * four + 2u) * WG + lane];
            let own3 = scored[(4u * four + 3u) * WG + lane];
            for (var k = 0u; k < CHUNK; k++) {
                let tenths = data[line + at[k]];
                products[k] += own0 * ((tenths << 24u) >> 24u) + own1 * ((tenths << 16u) >> 24u)
                             + own2 * ((tenths << 8u) >> 24u) + own3 * (tenths >> 24u);
            }
        }
        for (var k = 0u; k < CHUNK; k++) {
            products[k] /= vec4<i32>(10);
        }
        // Separate calls, so that the products stay in registers.
        advance(begin, lane, products[0]);
        advance(begin + 1u, lane, products[1]);
        advance(begin + 2u, lane, products[2]);
        advance(begin + 3u, lane, products[3]);
        advance(begin + 4u, lane, products[4]);
        advance(begin + 5u, lane, products[5]);
        advance(begin + 6u, lane, products[6]);
        advance(begin + 7u, lane, products[7]);
    }

    // Phase 3: store the right border of the tile.
    for (var k = 0u; k < count; k++) {
        columns[problem.columns + places[k]] = vec2<i32>(row_h[k], row_e[k]);
    }
    if (lane == last_lane) {
        corners[corner_begin + (params.diagonal % 3u) * problem.corner_count + tile_column] = row_h[count - 1u];
    }
}
