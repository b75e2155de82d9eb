//! The textbook algorithm for a read against a vector of states (Alachiotis, Berger and Stamatakis
//! 2013, equation 1, maximised).

use super::trace::ReadAlignment;
use super::vectors::Site;
use crate::alignment::{Cigar, Op};
use crate::score::PhyloScheme;

/// Minus infinity. Costs can be subtracted from it without an overflow.
const NEG_INF: i64 = i64::MIN / 2;

/// Returns the best score of a read against sites. Each symbol of the read is a set of characters.
///
/// `S[i][j]` is the best score of the first i sites and the first j symbols. A path may start at
/// any site before the first symbol and end at any site after the last symbol. If overhanging ends
/// of the read are free, a path may also start at any symbol before the first site and end at any
/// symbol after the last site.
pub fn score(read: &[u32], sites: &[Site], scheme: &PhyloScheme) -> i64 {
    let cost = |j: usize| if scheme.free_read_ends { 0 } else { -scheme.insertion.cost(j as u64) };
    // `row` is S for the sites so far. `deleted` is the best score of paths that end in a deletion.
    let mut row: Vec<i64> = (0..=read.len()).map(cost).collect();
    let mut deleted = vec![NEG_INF; read.len() + 1];
    let mut best = row[read.len()];
    for site in sites {
        let free = |cost: i32| if site.is_free { 0 } else { i64::from(cost) };
        let (mut diagonal, mut inserted) = (row[0], NEG_INF);
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

/// Returns the best alignment of a read, with PaPaRa's choice among equal scores.
///
/// The alignment ends in the first cell with the highest score, in order of symbols and then of
/// sites. Going back, a cell prefers its diagonal, then a deletion, then an insertion. Opening a
/// gap is preferred over extending one with the same score.
pub fn align(read: &[u32], sites: &[Site], scheme: &PhyloScheme) -> ReadAlignment {
    let (symbols, width) = (read.len(), read.len() + 1);
    let cost = |j: usize| if scheme.free_read_ends { 0 } else { -scheme.insertion.cost(j as u64) };
    let index = |i: usize, j: usize| i * width + j;
    let mut best: Vec<i64> = vec![0; (sites.len() + 1) * width];
    let (mut deleted, mut inserted) = (vec![NEG_INF; best.len()], vec![NEG_INF; best.len()]);
    // Source of each cell: of its best score, whether its deletion extends one, and whether its
    // insertion does.
    let mut sources = vec![(PlacementStep::Aligned, false, false); best.len()];
    (0..width).for_each(|j| best[j] = cost(j));
    for (i, site) in (1..).zip(sites) {
        let free = |cost: i32| if site.is_free { 0 } else { i64::from(cost) };
        for (j, symbol) in (1..).zip(read) {
            let (cell, above, left) = (index(i, j), index(i - 1, j), index(i, j - 1));
            let (opened, extended) =
                (best[above] - free(scheme.deletion.first), deleted[above] - free(scheme.deletion.next));
            deleted[cell] = opened.max(extended);
            sources[cell].1 = extended > opened;
            let (opened, extended) =
                (best[left] - i64::from(scheme.insertion.first), inserted[left] - i64::from(scheme.insertion.next));
            inserted[cell] = opened.max(extended);
            sources[cell].2 = extended > opened;
            let is_match = site.set & symbol != 0;
            let penalty = if site.is_penalised { scheme.gap_site } else { 0 };
            let aligned = best[index(i - 1, j - 1)]
                + i64::from(if is_match { scheme.matching } else { scheme.mismatch } - penalty);
            best[cell] = aligned.max(deleted[cell]).max(inserted[cell]);
            sources[cell].0 = if best[cell] == aligned {
                PlacementStep::Aligned
            } else if best[cell] == deleted[cell] {
                PlacementStep::Deleted
            } else {
                PlacementStep::Inserted
            };
        }
    }
    let (mut i, mut j) = (0, symbols);
    let mut score = NEG_INF;
    for column in if scheme.free_read_ends { 0 } else { symbols }..=symbols {
        for row in if column < symbols { sites.len() } else { 0 }..=sites.len() {
            if best[index(row, column)] > score {
                (i, j, score) = (row, column, best[index(row, column)]);
            }
        }
    }
    let mut cigar = Cigar::new();
    cigar.push((symbols - j) as u32, Op::Insertion);
    let mut step = None;
    while i > 0 && j > 0 {
        let (source, extends_deletion, extends_insertion) = sources[index(i, j)];
        match step.unwrap_or(source) {
            PlacementStep::Aligned => {
                let is_match = sites[i - 1].set & read[j - 1] != 0;
                cigar.push(1, if is_match { Op::Match } else { Op::Mismatch });
                (i, j, step) = (i - 1, j - 1, None);
            }
            PlacementStep::Deleted => {
                cigar.push(1, Op::Deletion);
                (i, step) = (i - 1, extends_deletion.then_some(PlacementStep::Deleted));
            }
            PlacementStep::Inserted => {
                cigar.push(1, Op::Insertion);
                (j, step) = (j - 1, extends_insertion.then_some(PlacementStep::Inserted));
            }
        }
    }
    cigar.push(j as u32, Op::Insertion);
    cigar.reverse();
    ReadAlignment { score: score as i32, first_site: i as u32, cigar }
}

/// The step that leads to a cell of a path.
#[derive(Clone, Copy)]
enum PlacementStep {
    Aligned,
    Deleted,
    Inserted,
}
