//! A read against a vector of states by the textbook (Alachiotis, Berger and Stamatakis 2013, equation 1, maximised).

use super::trace::Placed;
use super::vectors::Site;
use crate::alignment::{Cigar, Op};
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

/// The best alignment of a read, with PaPaRa's choice among those that score the same.
///
/// It ends in the first cell of the greatest score, by symbols first and sites second. From there back a cell comes from its
/// diagonal, rather than from a deletion, rather than from an insertion; a gap is opened where that is as good as to extend
/// one.
pub fn align(read: &[u32], sites: &[Site], scheme: &PhyloScheme) -> Placed {
    let (symbols, width) = (read.len(), read.len() + 1);
    let cost = |j: usize| if scheme.free_read_ends { 0 } else { -scheme.insertion.cost(j as u64) };
    let place = |i: usize, j: usize| i * width + j;
    let mut best: Vec<i64> = vec![0; (sites.len() + 1) * width];
    let (mut deleted, mut inserted) = (vec![NONE; best.len()], vec![NONE; best.len()]);
    // What each cell comes from: its best, whether its deletion extends one, whether its insertion does.
    let mut from = vec![(Step::Aligned, false, false); best.len()];
    (0..width).for_each(|j| best[j] = cost(j));
    for (i, site) in (1..).zip(sites) {
        let free = |cost: i32| if site.is_free { 0 } else { i64::from(cost) };
        for (j, symbol) in (1..).zip(read) {
            let (own, above, left) = (place(i, j), place(i - 1, j), place(i, j - 1));
            let (opened, extended) =
                (best[above] - free(scheme.deletion.first), deleted[above] - free(scheme.deletion.next));
            deleted[own] = opened.max(extended);
            from[own].1 = extended > opened;
            let (opened, extended) =
                (best[left] - i64::from(scheme.insertion.first), inserted[left] - i64::from(scheme.insertion.next));
            inserted[own] = opened.max(extended);
            from[own].2 = extended > opened;
            let is_match = site.set & symbol != 0;
            let penalty = if site.is_penalised { scheme.gap_site } else { 0 };
            let aligned = best[place(i - 1, j - 1)]
                + i64::from(if is_match { scheme.matching } else { scheme.mismatch } - penalty);
            best[own] = aligned.max(deleted[own]).max(inserted[own]);
            from[own].0 = if best[own] == aligned {
                Step::Aligned
            } else if best[own] == deleted[own] {
                Step::Deleted
            } else {
                Step::Inserted
            };
        }
    }
    let (mut i, mut j) = (0, symbols);
    let mut score = NONE;
    for column in if scheme.free_read_ends { 0 } else { symbols }..=symbols {
        for row in if column < symbols { sites.len() } else { 0 }..=sites.len() {
            if best[place(row, column)] > score {
                (i, j, score) = (row, column, best[place(row, column)]);
            }
        }
    }
    let mut cigar = Cigar::new();
    cigar.push((symbols - j) as u32, Op::Insertion);
    let mut step = None;
    while i > 0 && j > 0 {
        let (source, extends_deletion, extends_insertion) = from[place(i, j)];
        match step.unwrap_or(source) {
            Step::Aligned => {
                let is_match = sites[i - 1].set & read[j - 1] != 0;
                cigar.push(1, if is_match { Op::Match } else { Op::Mismatch });
                (i, j, step) = (i - 1, j - 1, None);
            }
            Step::Deleted => {
                cigar.push(1, Op::Deletion);
                (i, step) = (i - 1, extends_deletion.then_some(Step::Deleted));
            }
            Step::Inserted => {
                cigar.push(1, Op::Insertion);
                (j, step) = (j - 1, extends_insertion.then_some(Step::Inserted));
            }
        }
    }
    cigar.push(j as u32, Op::Insertion);
    cigar.reverse();
    Placed { score: score as i32, first_site: i as u32, cigar }
}

/// Where a path comes from.
#[derive(Clone, Copy)]
enum Step {
    Aligned,
    Deleted,
    Inserted,
}
