//! Progressive alignment: two groups of aligned sequences are joined so that the sum of the
//! probabilities of all residue pairs aligned between them is as high as possible.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::all_pairs::PairProbabilities;
use super::sparse::BestChain;
use crate::alignment::MultipleAlignment;
use crate::alignment::join::{JoinedColumns, map_columns};
use crate::tree::GuideTree;
use crate::{Error, Result};

/// Number of rows of a table that one task computes.
const TASK: usize = 32;

/// Sequences that are aligned with each other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct AlignedMembers {
    /// The sequences, in increasing order.
    pub members: Vec<usize>,
    /// Number of columns. Each column has at least one residue.
    pub columns: usize,
    /// Column of every residue, for each member.
    pub places: Vec<Vec<u32>>,
}

impl AlignedMembers {
    /// Returns a group of one sequence.
    pub(super) fn single(sequence: usize, length: usize) -> Self {
        AlignedMembers { members: vec![sequence], columns: length, places: vec![(0..length as u32).collect()] }
    }

    /// Extracts some of the members, and removes the columns without residues.
    pub(super) fn extract(&self, is_in: impl Fn(usize) -> bool) -> Self {
        let chosen: Vec<usize> = (0..self.members.len()).filter(|&at| is_in(self.members[at])).collect();
        let mut column = vec![u32::MAX; self.columns];
        for &at in &chosen {
            for &position in &self.places[at] {
                column[position as usize] = 0;
            }
        }
        let mut columns = 0;
        for column in column.iter_mut().filter(|column| **column == 0) {
            *column = columns;
            columns += 1;
        }
        let moved = |at: &usize| self.places[*at].iter().map(|&position| column[position as usize]).collect();
        AlignedMembers {
            members: chosen.iter().map(|&at| self.members[at]).collect(),
            columns: columns as usize,
            places: chosen.iter().map(moved).collect(),
        }
    }

    /// Returns the residues of each column: the index of the member and of the residue.
    fn residues(&self) -> Vec<Vec<(u32, u32)>> {
        let mut residues = vec![Vec::new(); self.columns];
        for (member, places) in (0..).zip(&self.places) {
            for (residue, &position) in (0..).zip(places) {
                residues[position as usize].push((member, residue));
            }
        }
        residues
    }

    /// Joins two groups. `pairs` lists the joined columns in increasing order. All other columns
    /// stay separate, with the columns of this group first.
    fn merged(&self, other: &Self, pairs: &[(u32, u32)]) -> Self {
        let joined = JoinedColumns::of_pairs([self.columns, other.columns], pairs);
        let mut rows = Vec::with_capacity(self.members.len() + other.members.len());
        for (group, map) in [self, other].into_iter().zip(&joined.maps) {
            rows.extend(
                group.members.iter().zip(&group.places).map(|(&member, places)| (member, map_columns(places, map))),
            );
        }
        rows.sort_by_key(|row| row.0);
        let (members, places) = rows.into_iter().unzip();
        AlignedMembers { members, columns: joined.columns, places }
    }

    /// Converts the group to a [`MultipleAlignment`]. It must contain all sequences.
    pub(super) fn into_alignment(self) -> Option<MultipleAlignment> {
        MultipleAlignment::new(self.columns, self.places)
    }
}

/// Aligns two groups.
pub(super) fn join(all: &PairProbabilities, weights: &[f32], a: &AlignedMembers, b: &AlignedMembers) -> AlignedMembers {
    let residues = a.residues();
    let rows: Vec<Vec<(usize, f32)>> = residues
        .par_chunks(TASK)
        .map_init(
            || (vec![0.0f32; b.columns], Vec::new()),
            |(sums, touched), chunk| {
                let row = |residues: &Vec<(u32, u32)>| sum_row(all, weights, a, b, residues, sums, touched);
                chunk.iter().map(row).collect::<Vec<_>>()
            },
        )
        .flatten()
        .collect();
    let mut chain = BestChain::default();
    for (row, entries) in rows.iter().enumerate() {
        chain.add_row(row, entries.iter().copied());
    }
    a.merged(b, &chain.best().1)
}

/// Computes the sums of probabilities of one column of `a` with all columns of `b`.
fn sum_row(
    all: &PairProbabilities,
    weights: &[f32],
    a: &AlignedMembers,
    b: &AlignedMembers,
    residues: &[(u32, u32)],
    sums: &mut [f32],
    touched: &mut Vec<usize>,
) -> Vec<(usize, f32)> {
    for &(member, residue) in residues {
        let sequence = a.members[member as usize];
        for (&other, places) in b.members.iter().zip(&b.places) {
            let weight = weights[sequence] * weights[other];
            for cell in all.get(sequence, other).row(residue as usize) {
                let position = places[cell.column()] as usize;
                if sums[position] == 0.0 {
                    touched.push(position);
                }
                sums[position] += weight * cell.probability();
            }
        }
    }
    touched.sort_unstable();
    touched.dedup();
    touched
        .drain(..)
        .map(|position| (position, std::mem::take(&mut sums[position])))
        .filter(|entry| entry.1 > 0.0)
        .collect()
}

/// Aligns all sequences in the order of a tree.
///
/// # Errors
/// Returns [`Error::Interrupted`] if `interrupt` is set.
pub(super) fn align(
    all: &PairProbabilities,
    lengths: &[usize],
    weights: &[f32],
    tree: &GuideTree,
    interrupt: &AtomicBool,
) -> Result<AlignedMembers> {
    let mut groups: Vec<AlignedMembers> =
        lengths.iter().enumerate().map(|(sequence, &length)| AlignedMembers::single(sequence, length)).collect();
    for next in &tree.joins {
        if interrupt.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let [a, b] = next.children.map(|child| std::mem::take(&mut groups[child as usize]));
        groups.push(join(all, weights, &a, &b));
    }
    Ok(groups.pop().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_can_be_merged_and_separated() {
        let (a, b) = (AlignedMembers::single(1, 3), AlignedMembers::single(0, 4));
        let both = a.merged(&b, &[(0, 1), (2, 2)]);
        assert_eq!(
            both,
            AlignedMembers { members: vec![0, 1], columns: 5, places: vec![vec![0, 1, 3, 4], vec![1, 2, 3]] }
        );
        assert_eq!(both.extract(|member| member == 1), a);
        assert_eq!(both.extract(|member| member == 0), b);
        assert_eq!(both.extract(|_| true), both);
        assert_eq!(both.extract(|_| false), AlignedMembers::default());
        assert_eq!(a.merged(&b, &[]).columns, 7);
    }
}
