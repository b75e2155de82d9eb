//! Groups of aligned sequences, and two of them made one: the columns are paired so that the sum of the probabilities
//! of all pairs of residues between the groups is greatest.

use rayon::prelude::*;

use super::all_pairs::AllPairs;
use super::sparse::Chain;
use crate::alignment::MultipleAlignment;
use crate::alignment::join::{JoinedColumns, moved};
use crate::tree::GuideTree;

/// Rows of a table that one task sums up.
const TASK: usize = 32;

/// Sequences that are aligned with each other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Aligned {
    /// The sequences, rising.
    pub members: Vec<usize>,
    /// Columns, none of them empty.
    pub columns: usize,
    /// Of each member the column of every residue.
    pub places: Vec<Vec<u32>>,
}

impl Aligned {
    /// One sequence alone.
    pub(super) fn one(sequence: usize, length: usize) -> Self {
        Aligned { members: vec![sequence], columns: length, places: vec![(0..length as u32).collect()] }
    }

    /// Some of the members, without the columns in which they have no residue.
    pub(super) fn part(&self, is_in: impl Fn(usize) -> bool) -> Self {
        let chosen: Vec<usize> = (0..self.members.len()).filter(|&at| is_in(self.members[at])).collect();
        let mut column = vec![u32::MAX; self.columns];
        for &at in &chosen {
            for &place in &self.places[at] {
                column[place as usize] = 0;
            }
        }
        let mut columns = 0;
        for column in column.iter_mut().filter(|column| **column == 0) {
            *column = columns;
            columns += 1;
        }
        let moved = |at: &usize| self.places[*at].iter().map(|&place| column[place as usize]).collect();
        Aligned {
            members: chosen.iter().map(|&at| self.members[at]).collect(),
            columns: columns as usize,
            places: chosen.iter().map(moved).collect(),
        }
    }

    /// Residues by column: the index of the member and the residue.
    fn residues(&self) -> Vec<Vec<(u32, u32)>> {
        let mut residues = vec![Vec::new(); self.columns];
        for (member, places) in (0..).zip(&self.places) {
            for (residue, &place) in (0..).zip(places) {
                residues[place as usize].push((member, residue));
            }
        }
        residues
    }

    /// Both groups in columns that are joined as `pairs` say, rising; others stand alone, this group's first.
    fn merged(&self, other: &Self, pairs: &[(u32, u32)]) -> Self {
        let joined = JoinedColumns::of_pairs([self.columns, other.columns], pairs);
        let mut rows = Vec::with_capacity(self.members.len() + other.members.len());
        for (group, map) in [self, other].into_iter().zip(&joined.maps) {
            rows.extend(group.members.iter().zip(&group.places).map(|(&member, places)| (member, moved(places, map))));
        }
        rows.sort_by_key(|row| row.0);
        let (members, places) = rows.into_iter().unzip();
        Aligned { members, columns: joined.columns, places }
    }

    /// As all rooms know it; members are all sequences.
    pub(super) fn finished(self) -> Option<MultipleAlignment> {
        MultipleAlignment::new(self.columns, self.places)
    }
}

/// Aligns two groups.
pub(super) fn join(all: &AllPairs, weights: &[f32], a: &Aligned, b: &Aligned) -> Aligned {
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
    let mut chain = Chain::default();
    for (row, entries) in rows.iter().enumerate() {
        chain.add_row(row, entries.iter().copied());
    }
    a.merged(b, &chain.best().1)
}

/// One column of `a` against all of `b`.
fn sum_row(
    all: &AllPairs,
    weights: &[f32],
    a: &Aligned,
    b: &Aligned,
    residues: &[(u32, u32)],
    sums: &mut [f32],
    touched: &mut Vec<usize>,
) -> Vec<(usize, f32)> {
    for &(member, residue) in residues {
        let own = a.members[member as usize];
        for (&other, places) in b.members.iter().zip(&b.places) {
            let weight = weights[own] * weights[other];
            for cell in all.get(own, other).row(residue as usize) {
                let place = places[cell.column()] as usize;
                if sums[place] == 0.0 {
                    touched.push(place);
                }
                sums[place] += weight * cell.probability();
            }
        }
    }
    touched.sort_unstable();
    touched.dedup();
    touched.drain(..).map(|place| (place, std::mem::take(&mut sums[place]))).filter(|entry| entry.1 > 0.0).collect()
}

/// Aligns all sequences in the order of a tree.
pub(super) fn align(all: &AllPairs, lengths: &[usize], weights: &[f32], tree: &GuideTree) -> Aligned {
    let mut groups: Vec<Aligned> =
        lengths.iter().enumerate().map(|(sequence, &length)| Aligned::one(sequence, length)).collect();
    for next in &tree.joins {
        let [a, b] = next.children.map(|child| std::mem::take(&mut groups[child as usize]));
        groups.push(join(all, weights, &a, &b));
    }
    groups.pop().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_merged_and_taken_apart() {
        let (a, b) = (Aligned::one(1, 3), Aligned::one(0, 4));
        let both = a.merged(&b, &[(0, 1), (2, 2)]);
        assert_eq!(both, Aligned { members: vec![0, 1], columns: 5, places: vec![vec![0, 1, 3, 4], vec![1, 2, 3]] });
        assert_eq!(both.part(|member| member == 1), a);
        assert_eq!(both.part(|member| member == 0), b);
        assert_eq!(both.part(|_| true), both);
        assert_eq!(both.part(|_| false), Aligned::default());
        assert_eq!(a.merged(&b, &[]).columns, 7);
    }
}
