//! Groups of aligned sequences as columns of letter counts. Two groups are joined by these counts
//! alone.

use super::letters::CountedLetters;
use super::math;
use crate::posterior::progressive::AlignedMembers;
use crate::seq::Code;

/// Columns of counts.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct CountProfile {
    /// Number of columns.
    pub columns: usize,
    /// Sum of the weights of all sequences.
    pub weight: f32,
    /// Weight of each letter in each column.
    pub counts: Vec<f32>,
    /// Weight of all sequences with a residue in each column.
    pub filled: Vec<f32>,
}

impl CountProfile {
    /// Counts aligned sequences with the given weights.
    pub(super) fn new(
        letters: &CountedLetters,
        sequences: &[&[Code]],
        weights: &[f32],
        aligned: &AlignedMembers,
    ) -> Self {
        let mut profile = CountProfile {
            columns: aligned.columns,
            weight: 0.0,
            counts: vec![0.0; aligned.columns * letters.count],
            filled: vec![0.0; aligned.columns],
        };
        for (&member, places) in aligned.members.iter().zip(&aligned.places) {
            let weight = weights[member];
            profile.weight += weight;
            for (&index, &code) in places.iter().zip(sequences[member]) {
                profile.filled[index as usize] += weight;
                let column = &mut profile.counts[index as usize * letters.count..][..letters.count];
                for &(letter, share) in &letters.of_code[usize::from(code)] {
                    column[usize::from(letter)] += weight * share;
                }
            }
        }
        profile
    }

    /// Adds two profiles. The result has `columns` columns. `maps` gives the common column of each
    /// column.
    pub(super) fn merged(&self, other: &Self, maps: &[Vec<u32>; 2], columns: usize, letters: usize) -> Self {
        let mut merged = CountProfile {
            columns,
            weight: self.weight + other.weight,
            counts: vec![0.0; columns * letters],
            filled: vec![0.0; columns],
        };
        for (profile, map) in [self, other].into_iter().zip(maps) {
            for ((&index, counts), &filled) in map.iter().zip(profile.counts.chunks(letters)).zip(&profile.filled) {
                merged.filled[index as usize] += filled;
                let column = &mut merged.counts[index as usize * letters..][..letters];
                column.iter_mut().zip(counts).for_each(|(sum, &count)| *sum += count);
            }
        }
        merged
    }

    /// Returns the mean effective number of distinct letters in a column (2 to the power of its
    /// entropy).
    pub(super) fn diversity(&self, letters: usize) -> f32 {
        let (mut sum, mut total) = (0.0f32, 0.0f32);
        for (counts, &filled) in self.counts.chunks(letters).zip(&self.filled) {
            if filled > 0.0 {
                let share = |&count: &f32| {
                    let share = count / filled;
                    if share > 1e-6 { -share * math::log2(share) } else { 0.0 }
                };
                let entropy: f32 = counts.iter().map(share).sum();
                sum += filled * math::exp2(entropy);
                total += filled;
            }
        }
        if total > 0.0 { sum / total } else { 1.0 }
    }
}
