// myers_scan_workgroup: edit distance of one pattern in parts of many texts. One invocation
//             searches a text, and workgroup memory holds the pattern's match bits.
// Recurrence: see common/myers.wgsl; common/myers_scan_columns.wgsl computes the columns.
// Owns:       invocation t of workgroup g has task first_runs[2 g + 1] + t of run first_runs[2 g].
// Layout:     workgroup memory holds WORDS words of match bits for every code. The result is one
//             word: distance << POSITION_BITS | columns up to its end.
// Invariant:  after j columns, the registers hold the differences down column j and the distance in
//             its last row.
// Uniform:    all invocations of a workgroup reach the barriers. Workgroups beyond the last one
//             return as a whole.
// Limits:     infix mode; patterns of at most 32 * WORDS symbols; texts of fewer than
//             2^POSITION_BITS symbols.
// Oracle:     src/edit/oracle.rs
//
// myers_scan.wgsl does the same with subgroup operations.

#import myers_scan_columns

var<workgroup> matches: array<u32, CODES * WORDS>;

// Returns word w of the rows that match a code.
fn match_bits(code: u32, w: u32) -> u32 {
    return matches[code * WORDS + w];
}

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    let group = params.first_workgroup + workgroup.x + workgroup.y * workgroups.x;
    if (group >= params.groups) {
        return;
    }
    let pattern = pattern_of(group);
    for (var at = t; at < CODES * WORDS; at += WG) {
        matches[at] = match_word(pattern, at / WORDS, at % WORDS);
    }
    // The barriers in set_column_range are between these writes and the reads.
    scan(pattern, t);
}
