//! Two groups made one by their profiles, and by the pairs of sequences that stand for them.

use rayon::prelude::*;

use super::columns::Columns;
use super::letters::Letters;
use super::model::{Both, Entry, MEMORY as MATRIX};
use super::profile::Profile;
use super::tuning::Tuning;
use crate::alignment::join::{JoinedColumns, moved};
use crate::posterior::floats::{LANES, Over};
use crate::posterior::kernel::{CUTOFF, Group as Lanes, MEMORY, Posteriors, Scratch};
use crate::posterior::model::Model;
use crate::posterior::sparse::Chain;
use crate::seq::Code;
use crate::simd::InstructionSet;

/// Of longer sequences only profiles count: their pairs would take too much memory.
const LONGEST_PAIR: usize = 8192;

/// Cells of the pairs that stand for two groups, at most, but for one pair.
const PAIR_CELLS: usize = 1_000_000_000;

/// What all joins need.
pub(super) struct Task<'a> {
    /// The model of pairs.
    pub model: &'a Model,
    /// The letters of profiles.
    pub letters: &'a Letters,
    /// Numbers.
    pub tuning: &'a Tuning,
    /// All sequences.
    pub sequences: &'a [&'a [Code]],
    /// Vectors.
    pub level: InstructionSet,
}

/// A sequence that stands for others of its group.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Representative {
    /// Which.
    pub sequence: usize,
    /// The weight of those that it stands for.
    pub weight: f32,
    /// The columns of its residues.
    pub places: Vec<u32>,
}

/// A group of aligned sequences.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Group {
    /// Its columns.
    pub profile: Profile,
    /// Sequences that stand for it.
    pub representatives: Vec<Representative>,
}

impl Task<'_> {
    /// Aligns two groups.
    pub(super) fn align(&self, a: &Group, b: &Group) -> JoinedColumns {
        let chain = &self.model.chain;
        let of = |profile: &Profile| Columns::new(profile, self.letters, chain, self.tuning);
        let (rows, columns) = (of(&a.profile), of(&b.profile));
        let both = Both { a: &rows, b: &columns, chain, mixed: self.tuning.mixed, cutoff: CUTOFF, memory: MATRIX };
        let entries = self.level.run(both);
        let longest = |group: &Group| group.representatives.iter().map(|one| one.places.len()).max().unwrap_or(0);
        let share = if longest(a).max(longest(b)) <= LONGEST_PAIR { self.tuning.pairs } else { 0.0 };
        let pairs = if share > 0.0 { self.pairs(a, b) } else { Vec::new() };
        let mut sums = vec![0.0f32; columns.count];
        let mut best = Chain::default();
        let (mut first, mut second) = (&entries[..], &pairs[..]);
        for row in 0..rows.count {
            let mut touched = Vec::new();
            for (list, share) in [(&mut first, 1.0 - share), (&mut second, share)] {
                let count = list.iter().take_while(|entry| entry.0 as usize == row).count();
                for &(_, column, probability) in &list[..count] {
                    if sums[column as usize] == 0.0 {
                        touched.push(column as usize);
                    }
                    sums[column as usize] += share * probability;
                }
                *list = &list[count..];
            }
            touched.sort_unstable();
            let own = rows.root[row + 1];
            let value = |column: usize| {
                let sum = std::mem::take(&mut sums[column]);
                (column, sum * own * columns.root[column + 1])
            };
            best.add_row(row, touched.into_iter().map(value));
        }
        JoinedColumns::of_pairs([rows.count, columns.count], &best.best().1)
    }

    /// Probabilities of the groups' columns by pairs of their representatives.
    fn pairs(&self, a: &Group, b: &Group) -> Vec<Entry> {
        let longest = a.representatives.iter().chain(&b.representatives).map(|one| one.places.len()).max().unwrap_or(0);
        let at_most = (PAIR_CELLS / longest.max(1).pow(2)).isqrt().max(1);
        let [a, b] = [a, b].map(|group| chosen(group.representatives.clone(), at_most));
        let [a_weight, b_weight] =
            [&a, &b].map(|all| all.iter().map(|one| one.weight).sum::<f32>().max(f32::MIN_POSITIVE));
        let mut wanted = vec![false; self.model.codes()];
        for one in &a {
            self.sequences[one.sequence].iter().for_each(|&code| wanted[usize::from(code)] = true);
        }
        let mut all: Vec<Vec<Entry>> = Vec::new();
        for lanes in b.chunks(LANES) {
            let codes: Vec<&[Code]> = lanes.iter().map(|one| self.sequences[one.sequence]).collect();
            let group = Lanes::new(self.model, &codes, &wanted);
            let found: Vec<Vec<Entry>> = a
                .par_iter()
                .map_init(Scratch::default, |scratch, one| {
                    let kernel = Posteriors {
                        model: self.model,
                        group: &group,
                        rows: self.sequences[one.sequence],
                        lanes: 0..lanes.len(),
                        memory: MEMORY,
                        scratch,
                    };
                    let mut entries = Vec::new();
                    for (found, other) in self.level.run(Over(kernel)).iter().zip(lanes) {
                        let share = one.weight / a_weight * (other.weight / b_weight);
                        for &(row, column, probability) in found {
                            entries.push((
                                one.places[row as usize],
                                other.places[column as usize],
                                share * probability,
                            ));
                        }
                    }
                    entries
                })
                .collect();
            all.extend(found);
        }
        let mut all = all.concat();
        all.sort_by_key(|entry| (entry.0, entry.1));
        let mut merged: Vec<Entry> = Vec::new();
        for entry in all {
            match merged.last_mut() {
                Some(last) if (last.0, last.1) == (entry.0, entry.1) => last.2 += entry.2,
                _ => merged.push(entry),
            }
        }
        merged.retain(|entry| entry.2 >= CUTOFF / 4.0);
        merged
    }

    /// Two groups as one.
    pub(super) fn merged(&self, a: &Group, b: &Group, joined: &JoinedColumns) -> Group {
        let profile = a.profile.merged(&b.profile, &joined.maps, joined.columns, self.letters.count);
        let mut all = Vec::with_capacity(a.representatives.len() + b.representatives.len());
        for (group, map) in [a, b].into_iter().zip(&joined.maps) {
            let one = |one: &Representative| Representative { places: moved(&one.places, map), ..*one };
            all.extend(group.representatives.iter().map(one));
        }
        Group { profile, representatives: chosen(all, self.tuning.representatives) }
    }
}

/// So many of some sequences, spread over their weights; they then stand for all.
pub(super) fn chosen(all: Vec<Representative>, at_most: usize) -> Vec<Representative> {
    if all.len() <= at_most {
        return all;
    }
    let step = all.iter().map(|one| one.weight).sum::<f32>() / at_most as f32;
    let mut chosen: Vec<Representative> = Vec::new();
    let (mut sum, mut next) = (0.0, step / 2.0);
    for one in all {
        sum += one.weight;
        if sum > next && chosen.len() < at_most {
            let mut weight = 0.0;
            while sum > next {
                weight += step;
                next += step;
            }
            chosen.push(Representative { weight, ..one });
        }
    }
    chosen
}
