// sw_identities: least and most identities of the best alignments of a pair between the end that sw_ends found and the start that
// ClustalW finds from there, one pair per invocation.
// Recurrence: that of common/clustal_slices.wgsl, backwards, of scores that carry identities (common/clustal_keys.wgsl).
//             Every alignment of a cell that reaches the score begins at the end that was found, so that the keys of the first
//             cell that does are those of all best alignments of the rectangle between the two.
// Owns:       as sw_ends.
// Layout:     as sw_ends, of keys.
// Invariant:  as sw_ends.
// Uniform:    as sw_ends.
// Limits:     scores times one more than the identities within 32 bits (Units::holds refuses others); params.entries rows.
// Oracle:     src/clustal/oracle.rs

#import clustal_keys
#import clustal_slices

fn finish(place: u32, best: Cell, reached: i32, is_last: bool) {
    found[place].rows_back = best.row;
    found[place].columns_back = best.column;
    found[place].most = select(best.keys.x, best.keys.x - reached, is_last);
    found[place].least = select(best.keys.y, reached - best.keys.y, is_last);
}
