// myers_scan: edit distance of one pattern in parts of many texts. One invocation searches a text,
//             and the lanes of a subgroup hold the pattern's match bits.
// Recurrence: see common/myers.wgsl; common/myers_scan_columns.wgsl computes the columns.
// Owns:       invocation t of workgroup g has task first_runs[2 g + 1] + t of run first_runs[2 g].
// Layout:     lane l holds WORDS words of match bits for each of the codes l % CODE_LANES +
//             CODE_LANES k, with k from 0 to SETS - 1. The result is one word: distance <<
//             POSITION_BITS | columns up to its end.
// Invariant:  after j columns, the registers hold the differences down column j and the distance in
//             its last row.
// Uniform:    all invocations of a workgroup take the same steps, which workgroupUniformLoad
//             returns. Workgroups beyond the last one return as a whole.
// Limits:     infix mode; patterns of at most 32 * WORDS symbols; texts of fewer than
//             2^POSITION_BITS symbols. CODE_LANES is a power of two, and at most WG and the
//             subgroup size.
// Oracle:     src/edit/oracle.rs
//
// myers_scan_workgroup.wgsl does the same without subgroup operations.

#import myers_scan_columns

const SETS: u32 = (CODES + CODE_LANES - 1u) / CODE_LANES;

var<private> held: array<u32, SETS * WORDS>;

// Returns word w of the rows that match a code. All invocations of the subgroup must call it.
fn match_bits(code: u32, w: u32) -> u32 {
    let lane = code % CODE_LANES;
    var bits = subgroupShuffle(held[w], lane);
    for (var k = 1u; k < SETS; k++) {
        let others = subgroupShuffle(held[k * WORDS + w], lane);
        bits = select(bits, others, code / CODE_LANES == k);
    }
    return bits;
}

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
    @builtin(subgroup_invocation_id) sg_lane: u32,
) {
    let group = params.first_workgroup + workgroup.x + workgroup.y * workgroups.x;
    if (group >= params.groups) {
        return;
    }
    let pattern = pattern_of(group);
    for (var k = 0u; k < SETS; k++) {
        for (var w = 0u; w < WORDS; w++) {
            held[k * WORDS + w] = match_word(pattern, sg_lane % CODE_LANES + k * CODE_LANES, w);
        }
    }
    scan(pattern, t);
}
