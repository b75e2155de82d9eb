// sw_ends: where the best local alignment of a pair ends, and where it begins, one pair per invocation (ClustalW's forward and reverse
// passes; in slices of columns like LazyRScan-mNW, Truong et al. 2014, section 4.4).
// Recurrence: that of common/clustal_slices.wgsl. Of equal ends the first row by row counts, where rows are the symbols of
//             the pair's first sequence; of equal starts, which are looked for from the end on, the last.
// Owns:       a workgroup has a query, whose symbols are columns; invocation t goes down the rows of its own target and keeps
//             SLICE columns in registers.
// Layout:     scratch[(group * params.entries + row) * WG + t] holds H at a slice's last column and E of the column after it.
//             found: one entry a pair.
// Invariant:  when a slice ends, scratch holds its last column of every row, and found the best cell up to there, so that the
//             next slice, in this dispatch or a later one, needs nothing else.
// Uniform:    the bounds of the loop around barriers come from params and from lists that are only read.
// Limits:     scores within 32 bits (Units::holds refuses others); params.entries rows.
// Oracle:     src/clustal/oracle.rs

#import clustal_scores
#import clustal_slices

fn finish(place: u32, best: Cell, reached: i32, is_last: bool) {
    if (REVERSE) {
        found[place].rows_back = best.row;
        found[place].columns_back = best.column;
        return;
    }
    found[place].score = select(0, best.keys.x, best.row != NOWHERE);
    found[place].end_row = best.row;
    found[place].end_column = best.column;
}
