// profile_tile: scores of two profiles up to the middle row of rectangles, from above and from below; one tile of one half of one
//             rectangle per workgroup, a dispatch for each anti-diagonal of tiles of all rectangles.
// Recurrence: H[p,q] = max(H[p-1,q-1] + score, D[p,q], E[p,q]), D[p,q] = max(D[p-1,q], H[p-1,q] - opening) - symbol, and so E from column
//             to column, with what opening and symbols cost at these columns of the profiles, and nothing at the matrix's edges. From
//             below gaps begin without what opens them, which is known where they end (Myers and Miller 1988 as ClustalW has it).
//             A score is the product of what letters score with a row and their tenths in a column, a tenth of it.
// Owns:       invocation l has rows 4 l to 4 l + 3 of the tile's 4 WG and is at column k - l in step k; tile (r, c) is rows from
//             4 WG r, columns from TILE c on.
// Layout:     rows[problem.rows + half * n + b + q - 1], columns[problem.columns + row of the matrix]: what the last tile of a column or of
//             a row of tiles left. corners[problem.corners + (half * 3 + diagonal % 3) * corner_count + b / TILE + node + c]: H at the lower
//             right end of the tile: its neighbours overwrite it in the borders before tile (r + 1, c + 1) needs it.
// Invariant:  after the dispatch of diagonal d all tiles with r + c <= d are final, and after the last one `rows` is of the middle row.
// Uniform:    the tile comes from the workgroup's number and from what one invocation reads for all; a workgroup without a tile leaves
//             as a whole.
// Limits:     sums within 30 bits; tenths within 8 bits; LETTERS letters.
// Oracle:     src/profile/oracle.rs
//
// Constants:  WG (invocations a workgroup), TILE (columns of a tile), LETTERS (a multiple of 4).

#import profiles

// The score of every row before the column border, and that of a gap along the row.
@group(0) @binding(5) var<storage, read_write> columns: array<vec2<i32>>;
@group(0) @binding(6) var<storage, read_write> corners: array<i32>;

const ROWS: u32 = 4u;
// Columns whose products an invocation computes at once.
const CHUNK: u32 = 8u;
// Less than all scores.
const NONE: i32 = -0x40000000;

var<workgroup> wg_node: Node;
// What letters score with an invocation's rows.
var<workgroup> scored: array<vec4<i32>, LETTERS * WG>;
// The row before the tile's first one.
var<workgroup> top: array<vec2<i32>, TILE>;
// What the invocation above handed down, in odd and even steps: H and D.
var<workgroup> handed: array<vec2<i32>, 2u * WG>;

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
    let is_back = half == 1u;
    let middle = node.m / 2u;
    let own_rows = select(middle, node.m - middle, is_back);
    let row_begin = r * ROWS * WG;
    // Wraps below 0, which is behind the last column too.
    let column_begin = (params.diagonal - r) * TILE;
    if (node.m < 2u || row_begin >= own_rows || params.diagonal < r || column_begin >= node.n) {
        return;
    }
    let width = min(TILE, node.n - column_begin);
    let height = min(ROWS * WG, own_rows - row_begin);
    let last_lane = (height - 1u) / ROWS;
    let right = node.b + node.n;
    let below = node.a + node.m;
    let rows_begin = problem.rows + half * problem.n + node.b + column_begin;
    let corner_begin = problem.corners + half * 3u * problem.corner_count + node.b / TILE + own;
    let tile_column = params.diagonal - r;

    // Phase 1: what the tile begins with.
    for (var j = lane; j < width; j += WG) {
        if (r == 0u) {
            top[j] = top_edge(problem, node, is_back, column_begin + j + 1u);
        } else {
            top[j] = rows[rows_begin + j];
        }
    }
    let p = row_begin + lane * ROWS;
    // How many rows it has, and what its rows cost: opening of gaps along rows, and down columns; symbols of the latter.
    let count = min(ROWS, max(own_rows, p) - p);
    var h: array<i32, ROWS>;
    var e: array<i32, ROWS>;
    var along_open: array<i32, ROWS>;
    var down_open: array<i32, ROWS>;
    var down_extend: array<i32, ROWS>;
    // Where a row lies in the matrix.
    var places: array<u32, ROWS>;
    for (var k = 0u; k < ROWS; k++) {
        // Rows that there are not are the last one again.
        let row = min(p + k + 1u, own_rows);
        places[k] = select(node.a + row - 1u, below - row, is_back);
        let down = select(node.a + row, below - row + 1u, is_back);
        along_open[k] = first_open(problem, select(node.a + row, below - row, is_back));
        down_open[k] = first_open(problem, down);
        down_extend[k] = first_extend(problem, down);
        if (tile_column == 0u) {
            h[k] = left_edge(problem, node, is_back, row);
            e[k] = NONE;
        } else {
            let left = columns[problem.columns + places[k]];
            h[k] = left.x;
            e[k] = left.y;
        }
    }
    var corner: i32;
    if (tile_column == 0u) {
        corner = left_edge(problem, node, is_back, min(p, own_rows));
    } else if (lane > 0u) {
        let row = min(p, own_rows);
        corner = columns[problem.columns + select(node.a + row - 1u, below - row, is_back)].x;
    } else if (r == 0u) {
        corner = top_edge(problem, node, is_back, column_begin).x;
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

    // Phase 2: the tile, chunk by chunk.
    let steps = width + last_lane;
    for (var begin = 0u; begin < steps; begin += CHUNK) {
        var products: array<vec4<i32>, CHUNK>;
        // Columns of the matrix, from 0 on.
        var at: array<u32, CHUNK>;
        for (var k = 0u; k < CHUNK; k++) {
            products[k] = vec4<i32>(0);
            // Columns before the first and behind the last are these again.
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
            let step = begin + k;
            // Wraps below 0, which is behind the last column too.
            let j = step - lane;
            if (j < width && lane <= last_lane) {
                // Costs of this column for gaps along rows and down columns.
                let along = at[k] + 1u;
                let down = select(at[k] + 1u, at[k], is_back);
                let is_free = down == 0u || down == problem.n;
                let along_column = second_open(problem, along);
                let along_symbol = second_extend(problem, along);
                let down_column = select(second_open(problem, down), 0, is_free);
                var up: vec2<i32>;
                if (lane == 0u) {
                    up = top[j];
                } else {
                    up = handed[((step + 1u) % 2u) * WG + lane - 1u];
                }
                var diagonal = corner;
                corner = up.x;
                let scores = products[k] / vec4<i32>(10);
                for (var row = 0u; row < ROWS; row++) {
                    if (row < count) {
                        let together = diagonal + scores[row];
                        diagonal = h[row];
                        let down_cost = select(down_open[row], 0, is_free) + down_column;
                        let along_cost = along_open[row] + along_column;
                        up.y = max(up.x - select(down_cost, 0, is_back), up.y) - select(down_extend[row], 0, is_free);
                        e[row] = max(h[row] - select(along_cost, 0, is_back), e[row]) - along_symbol;
                        let gaps = max(up.y - select(0, down_cost, is_back), e[row] - select(0, along_cost, is_back));
                        up.x = max(together, gaps);
                        h[row] = up.x;
                    }
                }
                handed[(step % 2u) * WG + lane] = up;
                if (lane == last_lane) {
                    rows[rows_begin + j] = up;
                }
            }
            // Safe: what is written in a step is read in the next, from where that does not write.
            workgroupBarrier();
        }
    }

    // Phase 3: what the tile leaves at its right edge.
    for (var k = 0u; k < count; k++) {
        columns[problem.columns + places[k]] = vec2<i32>(h[k], e[k]);
    }
    if (lane == last_lane) {
        corners[corner_begin + (params.diagonal % 3u) * problem.corner_count + tile_column] = h[count - 1u];
    }
}
