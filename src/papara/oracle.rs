//! A read against a vector of states by the textbook (Alachiotis, Berger and Stamatakis 2013, equation 1, maximised).

use super::vectors::Site;
use crate::score::PhyloScheme;

/// What no path has; far enough from the least number that costs can still be taken from it.
const NONE: i64 = i64::MIN / 2;

/// The best score of a read, of which each symbol may be any of a set, against sites.
///
/// `S[i][j]` is the best of the first i sites and the first j symbols; a path may begin at any site before the first symbol,
/// and end at any site after the last. Where what hangs over of the read is free it may also begin at any symbol before the
/// first site, and end at any symbol after the last site.
pub fn score(read: &[u32], sites: &[Site], scheme: &PhyloScheme) -> i64 {
    let cost = |j: usize| if scheme.free_read_ends { 0 } else { -scheme.insertion.cost(j as u64) };
    // Of the sites so far: S, and the best of the paths that end in a deletion.
    let mut row: Vec<i64> = (0..=read.len()).map(cost).collect();
    let mut deleted = vec![NONE; read.len() + 1];
    let mut best = row[read.len()];
    for site in sites {
        let free = |cost: i32| if site.is_free { 0 } else { i64::from(cost) };
        let (mut diagonal, mut inserted) = (row[0], NONE);
        for (j, symbol) in (1..).zip(read) {
            deleted[j] = (row[j] - free(scheme.deletion.first)).max(deleted[j] - free(scheme.deletion.next));
            inserted =
                (row[j - 1] - i64::from(scheme.insertion.first)).max(inserted - i64::from(scheme.insertion.next));
            let is_match = site.set & symbol != 0;
            let penalty = if site.is_penalised { scheme.gap_site } else { 0 };
            let aligned = diagonal + i64::from(if is_match { scheme.matching } else { scheme.mismatch } - penalty);
            diagonal = row[j];
            row[j] = aligned.max(inserted).max(deleted[j]);
        }
        best = best.max(row[read.len()]);
    }
    if scheme.free_read_ends { row.into_iter().fold(best, i64::max) } else { best }
}
