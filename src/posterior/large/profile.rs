//! Groups of aligned sequences as columns of counts, which is all that joining two of them asks for.

use super::letters::Letters;
use super::math;
use crate::posterior::progressive::Aligned;
use crate::seq::Code;

/// Columns of counts.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Profile {
    /// Columns.
    pub columns: usize,
    /// The weights of all sequences together.
    pub weight: f32,
    /// Of each column the weight of each letter.
    pub counts: Vec<f32>,
    /// Of each column the weight of all sequences with a residue there.
    pub filled: Vec<f32>,
}

impl Profile {
    /// Aligned sequences, which count by `weights`.
    pub(super) fn new(letters: &Letters, sequences: &[&[Code]], weights: &[f32], aligned: &Aligned) -> Self {
        let mut profile = Profile {
            columns: aligned.columns,
            weight: 0.0,
            counts: vec![0.0; aligned.columns * letters.count],
            filled: vec![0.0; aligned.columns],
        };
        for (&member, places) in aligned.members.iter().zip(&aligned.places) {
            let weight = weights[member];
            profile.weight += weight;
            for (&place, &code) in places.iter().zip(sequences[member]) {
                profile.filled[place as usize] += weight;
                let column = &mut profile.counts[place as usize * letters.count..][..letters.count];
                for &(letter, share) in &letters.of_code[usize::from(code)] {
                    column[usize::from(letter)] += weight * share;
                }
            }
        }
        profile
    }

    /// Two profiles in common columns: of each its columns' places there.
    pub(super) fn merged(&self, other: &Self, maps: &[Vec<u32>; 2], columns: usize, letters: usize) -> Self {
        let mut merged = Profile {
            columns,
            weight: self.weight + other.weight,
            counts: vec![0.0; columns * letters],
            filled: vec![0.0; columns],
        };
        for (profile, map) in [self, other].into_iter().zip(maps) {
            for ((&place, counts), &filled) in map.iter().zip(profile.counts.chunks(letters)).zip(&profile.filled) {
                merged.filled[place as usize] += filled;
                let column = &mut merged.counts[place as usize * letters..][..letters];
                column.iter_mut().zip(counts).for_each(|(sum, &count)| *sum += count);
            }
        }
        merged
    }

    /// How many different letters stand in a column, in the mean (two to the entropy).
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
