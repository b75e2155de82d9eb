// profile_cross: where the best alignment of two profiles crosses the middle row of rectangles, and the two rectangles that remain of
//             each, one rectangle per workgroup.
// Recurrence: at the middle row H from above and H from below meet, or D and D, which is an open gap in the second profile. Of equal
//             columns ClustalW takes the last one where the way from above is no gap and that from below begins one, else the
//             first; and D and D only if that is more, the last.
// Owns:       invocation l looks at columns l, l + WG and so on.
// Layout:     rows as profile_tile leaves them.
// Invariant:  of rectangle k of a problem those that remain are 2 k + 1 and 2 k + 2.
// Uniform:    the rectangle comes from the workgroup's number; a workgroup without one leaves as a whole.
// Limits:     sums within 30 bits.
// Oracle:     src/profile/oracle.rs
//
// Constants:  WG (invocations a workgroup).

#import profiles

const NOWHERE: u32 = 0xffffffffu;
const NEVER: i32 = -0x7fffffff;

// What an invocation found.
struct Crossing {
    score: i32,
    first: u32,
    // The last column that ClustalW prefers; NOWHERE if there is none.
    preferred: u32,
    gap_score: i32,
    gap: u32,
}

var<workgroup> crossings: array<Crossing, WG>;

// The better of two invocations' findings.
fn joined(a: Crossing, b: Crossing) -> Crossing {
    var all = a;
    if (b.score > a.score) {
        all.score = b.score;
        all.first = b.first;
        all.preferred = b.preferred;
    } else if (b.score == a.score) {
        all.first = min(a.first, b.first);
        if (b.preferred != NOWHERE && (a.preferred == NOWHERE || b.preferred > a.preferred)) {
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
    let own = number % params.nodes;
    if (number / params.nodes >= params.problems) {
        return;
    }
    let problem = problems[number / params.nodes];
    let place = params.node_begin + own;
    let node = nodes[problem.nodes + place];
    let middle = node.m / 2u;
    let lower = node.m - middle;
    var best = Crossing(NEVER, NOWHERE, NOWHERE, NEVER, 0u);
    if (node.m >= 2u && node.n > 0u) {
        let right = node.b + node.n;
        for (var j = t; j <= node.n; j += WG) {
            var above: vec2<i32>;
            var below: vec2<i32>;
            let opening = open_second(problem, node.a + middle + 1u, node.b + j);
            if (j == 0u) {
                above = vec2<i32>(left_edge(problem, node, false, middle));
            } else {
                above = rows[problem.rows + node.b + j - 1u];
            }
            if (j == node.n) {
                let score = left_edge(problem, node, true, lower);
                below = vec2<i32>(score, score + opening);
            } else {
                below = rows[problem.rows + problem.n + node.b + node.n - j - 1u];
            }
            let turns = above.x != above.y && below.x == below.y - opening;
            let found = Crossing(above.x + below.x, j, select(NOWHERE, j, turns), above.y + below.y, j);
            best = joined(best, found);
        }
    }
    crossings[t] = best;
    workgroupBarrier();
    if (t > 0u) {
        return;
    }
    for (var other = 1u; other < WG; other++) {
        best = joined(best, crossings[other]);
    }
    var upper_node = Node(0u, 0u, 0u, 0u, 0u, UNDIVIDED, 0u, 0u);
    var lower_node = upper_node;
    if (best.first != NOWHERE) {
        let in_gap = best.gap_score > best.score;
        var column = select(best.preferred, best.first, best.preferred == NOWHERE);
        column = select(column, best.gap, in_gap);
        // A gap takes the rows on both sides of the middle along, and goes on for nothing in both rectangles.
        let taken = select(0u, 1u, in_gap);
        let opened = select(1u, 0u, in_gap);
        upper_node = Node(node.a, node.b, middle - taken, column, (node.ends & 1u) | (2u * opened), UNDIVIDED, 0u, 0u);
        lower_node = Node(node.a + middle + taken, node.b + column, lower - taken, node.n - column, (node.ends & 2u) | opened,
                          UNDIVIDED, 0u, 0u);
        nodes[problem.nodes + place].column = column;
        nodes[problem.nodes + place].in_gap = taken;
    }
    nodes[problem.nodes + 2u * place + 1u] = upper_node;
    nodes[problem.nodes + 2u * place + 2u] = lower_node;
}
