// profile_cross: finds where the best alignment of two profiles crosses the middle row of
// rectangles, and the two rectangles that remain of each. Each workgroup processes one rectangle.
// Recurrence: the path crosses the middle row in the column with the highest sum of H from above
//             and H from below, or of D and D for a gap in the second profile. Ties are resolved as
//             in ClustalW. Among equal sums of H, the last column wins where the path from above is
//             no gap and the path from below starts one. If there is none, the first column wins. D
//             wins only if its sum is higher. Among equal sums of D, the last column wins.
// Owns:       invocation l checks columns l, l + WG and so on.
// Layout:     `rows` as profile_tile writes it.
// Invariant:  rectangles 2 k + 1 and 2 k + 2 are the rectangles that remain of rectangle k of a
//             problem.
// Uniform:    the rectangle follows from the index of the workgroup; in a workgroup without one,
//             all invocations return.
// Limits:     sums within 30 bits.
// Oracle:     src/profile/oracle.rs
//
// Constants:  WG (invocations in a workgroup).

#import profiles

const NO_INDEX: u32 = 0xffffffffu;
const NEG_INF: i32 = -0x7fffffff;

// The best crossings that an invocation has found.
struct Crossing {
    score: i32,
    first: u32,
    // The last column that ClustalW prefers, or NO_INDEX.
    preferred: u32,
    gap_score: i32,
    gap: u32,
}

var<workgroup> crossings: array<Crossing, WG>;

// Combines the crossings of two invocations.
fn combine(a: Crossing, b: Crossing) -> Crossing {
    var all = a;
    if (b.score > a.score) {
        all.score = b.score;
        all.first = b.first;
        all.preferred = b.preferred;
    } else if (b.score == a.score) {
        all.first = min(a.first, b.first);
        if (b.preferred != NO_INDEX && (a.preferred == NO_INDEX || b.preferred > a.preferred)) {
            all.preferred = b.preferred;
        }
    }
    if (b.gap_score > a.gap_score || (b.gap_score == a.gap_score && b.gap > a.gap)) {
        all.gap_score = b.gap_score;
        all.gap = b.gap;
    }
    return all;
}

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    let number = workgroup.x + workgroup.y * workgroups.x;
    let index = number % params.nodes;
    if (number / params.nodes >= params.problems) {
        return;
    }
    let problem = problems[number / params.nodes];
    let node_index = params.node_begin + index;
    let node = nodes[problem.nodes + node_index];
    let middle = node.m / 2u;
    let lower = node.m - middle;
    var best = Crossing(NEG_INF, NO_INDEX, NO_INDEX, NEG_INF, 0u);
    if (node.m >= 2u && node.n > 0u) {
        let right = node.b + node.n;
        for (var j = t; j <= node.n; j += WG) {
            var above: vec2<i32>;
            var below: vec2<i32>;
            let opening = open_second(problem, node.a + middle + 1u, node.b + j);
            if (j == 0u) {
                above = vec2<i32>(left_border(problem, node, false, middle));
            } else {
                above = rows[problem.rows + node.b + j - 1u];
            }
            if (j == node.n) {
                let score = left_border(problem, node, true, lower);
                below = vec2<i32>(score, score + opening);
            } else {
                below = rows[problem.rows + problem.n + node.b + node.n - j - 1u];
            }
            let turns = above.x != above.y && below.x == below.y - opening;
            let candidate = Crossing(above.x + below.x, j, select(NO_INDEX, j, turns), above.y + below.y, j);
            best = combine(best, candidate);
        }
    }
    crossings[t] = best;
    workgroupBarrier();
    if (t > 0u) {
        return;
    }
    for (var other = 1u; other < WG; other++) {
        best = combine(best, crossings[other]);
    }
    var upper_node = Node(0u, 0u, 0u, 0u, 0u, UNDIVIDED, 0u, 0u);
    var lower_node = upper_node;
    if (best.first != NO_INDEX) {
        let in_gap = best.gap_score > best.score;
        var column = select(best.preferred, best.first, best.preferred == NO_INDEX);
        column = select(column, best.gap, in_gap);
        // A gap covers the rows on both sides of the middle. It continues in both rectangles
        // without another opening cost.
        let taken = select(0u, 1u, in_gap);
        let opened = select(1u, 0u, in_gap);
        upper_node = Node(node.a, node.b, middle - taken, column, (node.ends & 1u) | (2u * opened), UNDIVIDED, 0u, 0u);
        lower_node = Node(node.a + middle + taken, node.b + column, lower - taken, node.n - column, (node.ends & 2u) | opened,
                          UNDIVIDED, 0u, 0u);
        nodes[problem.nodes + node_index].column = column;
        nodes[problem.nodes + node_index].in_gap = taken;
    }
    nodes[problem.nodes + 2u * node_index + 1u] = upper_node;
    nodes[problem.nodes + 2u * node_index + 2u] = lower_node;
}
