//! Groups of aligned sequences, summarized by sums over their columns.
//!
//! When two groups are joined, their columns are added or moved. The sequences themselves are not
//! read again.

use super::letters::ProfileLetters;
use super::path::{self, ColumnStep};
use crate::alignment::join::JoinedColumns;

/// Minimum number of consecutive hydrophilic residues in a run.
const MIN_RUN: u32 = 4;

/// Aligned sequences, summarized by column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProfileGroup {
    /// The sequences, in increasing order.
    pub(super) members: Vec<u32>,
    /// Number of columns.
    pub(super) columns: usize,
    /// Sum of the weights of the sequences with a given letter in a column. All letters of one
    /// column are consecutive.
    pub(super) weights: Vec<i32>,
    /// Sum of the weights of all sequences.
    pub(super) weight: i32,
    /// Number of residues in all sequences.
    pub(super) residues: i64,
    /// Sum over the residues of a column of the percentages by which they scale gap costs.
    pub(super) sites: Vec<i32>,
    /// Number of sequences with an internal gap in a column, between two residues of the sequence.
    pub(super) gaps: Vec<i32>,
    /// Number of sequences that start in a column.
    starts: Vec<i32>,
    /// Number of sequences that end in a column.
    ends: Vec<i32>,
    /// Runs of hydrophilic residues as (first column, column after the last, number of sequences),
    /// in increasing order.
    runs: Vec<(u32, u32, i32)>,
}

impl ProfileGroup {
    /// Creates a group of one sequence. `sequence` contains the number of each letter.
    pub(super) fn from_sequence(letters: &ProfileLetters, id: u32, sequence: &[u8], weight: i32) -> ProfileGroup {
        let columns = sequence.len();
        let mut weights = vec![0; columns * letters.count()];
        for (column, &letter) in sequence.iter().enumerate() {
            weights[column * letters.count() + letter as usize] = weight;
        }
        let (mut starts, mut ends) = (vec![0; columns], vec![0; columns]);
        starts.iter_mut().take(1).for_each(|first| *first = 1);
        ends.iter_mut().rev().take(1).for_each(|last| *last = 1);
        let mut runs = Vec::new();
        let mut at = 0;
        for run in sequence.chunk_by(|&a, &b| letters.hydrophilic[a as usize] == letters.hydrophilic[b as usize]) {
            let end = at + run.len() as u32;
            if letters.is_protein && letters.hydrophilic[run[0] as usize] && end - at >= MIN_RUN {
                runs.push((at, end, 1));
            }
            at = end;
        }
        ProfileGroup {
            members: vec![id],
            columns,
            weights,
            weight,
            residues: columns as i64,
            sites: sequence.iter().map(|&letter| letters.sites[letter as usize]).collect(),
            gaps: vec![0; columns],
            starts,
            ends,
            runs,
        }
    }

    /// Returns, for each boundary between columns, including both ends, the number of sequences
    /// with residues before and after it.
    fn spanning(&self) -> Vec<i32> {
        let mut now = 0;
        let mut spanning = vec![0];
        spanning.extend(self.starts.iter().zip(&self.ends).map(|(start, end)| {
            now += start - end;
            now
        }));
        spanning
    }

    /// Returns the mean length of the sequences, truncated as in ClustalW.
    pub(super) fn mean_length(&self) -> i32 {
        (self.residues as f32 / self.members.len() as f32) as i32
    }

    /// Returns a flag for each column: whether it is in a hydrophilic run in at least one percent
    /// of the sequences.
    pub(super) fn hydrophilic(&self) -> Vec<bool> {
        let mut changes = vec![0; self.columns + 1];
        for &(start, end, count) in &self.runs {
            changes[start as usize] += count;
            changes[end as usize] -= count;
        }
        let mut now = 0;
        let share = |count: i32| (100 * i64::from(count)) as f32 / self.members.len() as f32;
        changes[..self.columns]
            .iter()
            .map(|change| {
                now += change;
                share(now) as i32 > 0
            })
            .collect()
    }

    /// Joins two groups along a path.
    pub(super) fn join(&self, other: &ProfileGroup, letters: &ProfileLetters, path: &[ColumnStep]) -> ProfileGroup {
        let JoinedColumns { maps: [first, second], columns } = path::join_columns(path);
        debug_assert_eq!((first.len(), second.len()), (self.columns, other.columns), "a path of other profiles");
        let mut members: Vec<u32> = self.members.iter().chain(&other.members).copied().collect();
        members.sort_unstable();
        let mut group = ProfileGroup {
            members,
            weight: self.weight + other.weight,
            residues: self.residues + other.residues,
            ..ProfileGroup::empty(letters, columns)
        };
        group.add(self, letters, &first);
        group.add(other, letters, &second);
        group.sort_runs();
        group
    }

    /// Creates a group with columns but without sequences.
    pub(super) fn empty(letters: &ProfileLetters, columns: usize) -> ProfileGroup {
        ProfileGroup {
            members: Vec::new(),
            columns,
            weights: vec![0; columns * letters.count()],
            weight: 0,
            residues: 0,
            sites: vec![0; columns],
            gaps: vec![0; columns],
            starts: vec![0; columns],
            ends: vec![0; columns],
            runs: Vec::new(),
        }
    }

    /// Sorts the runs and merges equal ones.
    pub(super) fn sort_runs(&mut self) {
        self.runs.sort_unstable();
        self.runs.dedup_by(|next, last| {
            let same = (next.0, next.1) == (last.0, last.1);
            last.2 += if same { next.2 } else { 0 };
            same
        });
    }

    /// Adds a group. `places` gives the new index of each of its columns.
    pub(super) fn add(&mut self, part: &ProfileGroup, letters: &ProfileLetters, places: &[u32]) {
        let count = letters.count();
        let spanning = part.spanning();
        let mut next = 0;
        for (column, &target) in places.iter().enumerate() {
            let target = target as usize;
            self.gaps[next..target].iter_mut().for_each(|gaps| *gaps += spanning[column]);
            next = target + 1;
            let letter_weights = &part.weights[column * count..][..count];
            self.weights[target * count..][..count]
                .iter_mut()
                .zip(letter_weights)
                .for_each(|(sum, weight)| *sum += weight);
            self.sites[target] += part.sites[column];
            self.gaps[target] += part.gaps[column];
            self.starts[target] += part.starts[column];
            self.ends[target] += part.ends[column];
        }
        for &(start, end, sequences) in &part.runs {
            let run = &places[start as usize..end as usize];
            if run[run.len() - 1] - run[0] == end - 1 - start {
                self.runs.push((run[0], run[0] + end - start, sequences));
                continue;
            }
            // New gaps split the run.
            let pieces = run.chunk_by(|a, b| a + 1 == *b).filter(|piece| piece.len() >= MIN_RUN as usize);
            self.runs.extend(pieces.map(|piece| (piece[0], piece[0] + piece.len() as u32, sequences)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ProfileOptions;
    use super::*;
    use crate::seq::{Alphabet, SequenceStore};

    /// Letter of each column of each row; `None` for a gap.
    type LetterRows = Vec<Vec<Option<u8>>>;

    /// Column sums, computed from rows.
    struct Counted {
        weights: Vec<i32>,
        sites: Vec<i32>,
        gaps: Vec<i32>,
        hydrophilic: Vec<bool>,
    }

    fn counted(letters: &ProfileLetters, rows: &[Vec<Option<u8>>], weights: &[i32]) -> Counted {
        let columns = rows[0].len();
        let count = letters.count();
        let mut counted = Counted {
            weights: vec![0; columns * count],
            sites: vec![0; columns],
            gaps: vec![0; columns],
            hydrophilic: vec![false; columns],
        };
        let mut in_runs = vec![0; columns];
        for (row, weight) in rows.iter().zip(weights) {
            let is_hydrophilic = |column: usize| row[column].is_some_and(|letter| letters.hydrophilic[letter as usize]);
            let first = row.iter().position(Option::is_some).unwrap();
            let last = row.iter().rposition(Option::is_some).unwrap();
            for column in 0..columns {
                match row[column] {
                    Some(letter) => {
                        counted.weights[column * count + letter as usize] += weight;
                        counted.sites[column] += letters.sites[letter as usize];
                    }
                    None => counted.gaps[column] += i32::from(first < column && column < last),
                }
                let before = (0..=column).rev().take_while(|&column| is_hydrophilic(column)).count();
                let behind = (column..columns).take_while(|&column| is_hydrophilic(column)).count();
                in_runs[column] += i32::from(before + behind > MIN_RUN as usize);
            }
        }
        for (column, is_in) in counted.hydrophilic.iter_mut().enumerate() {
            *is_in = 100 * in_runs[column] / rows.len() as i32 > 0;
        }
        counted
    }

    #[test]
    fn joined_groups_equal_groups_of_rows() {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let rng = &mut fastrand::Rng::with_seed(seed);
        for alphabet in [Alphabet::Protein, Alphabet::Dna] {
            let text: &[u8] = if alphabet == Alphabet::Protein { b"GPSNDQEKRAWBX" } else { b"ACGTN" };
            let mut store = SequenceStore::builder(alphabet);
            for _ in 0..150 {
                let sequence: Vec<u8> = (0..rng.usize(1..40)).map(|_| text[rng.usize(..text.len())]).collect();
                store.push_letters("", &sequence).unwrap();
            }
            let store = store.build();
            let letters = ProfileLetters::from_store(&store, &ProfileOptions::new(alphabet));
            let weights: Vec<i32> = (0..150).map(|_| rng.i32(1..20)).collect();
            let mut groups: Vec<(ProfileGroup, LetterRows, Vec<i32>)> = (0..150)
                .map(|id| {
                    let sequence = letters.numbers(&store, id);
                    let group = ProfileGroup::from_sequence(&letters, id, &sequence, weights[id as usize]);
                    (group, vec![sequence.into_iter().map(Some).collect()], vec![weights[id as usize]])
                })
                .collect();
            while groups.len() > 1 {
                let (first, first_rows, first_weights) = groups.swap_remove(rng.usize(..groups.len()));
                let (second, second_rows, second_weights) = groups.swap_remove(rng.usize(..groups.len()));
                let (mut path, mut left) = (Vec::new(), [first.columns, second.columns]);
                while left != [0, 0] {
                    let kind = rng.usize(..3);
                    let most = [left[0].min(left[1]), left[0], left[1]][kind];
                    if most > 0 {
                        let n = rng.usize(1..=most);
                        path.push([ColumnStep::Both, ColumnStep::First, ColumnStep::Second][kind](n as u32));
                        left[0] -= if kind == 2 { 0 } else { n };
                        left[1] -= if kind == 1 { 0 } else { n };
                    }
                }
                let group = first.join(&second, &letters, &path);
                let moved = |rows: &[Vec<Option<u8>>], places: &[u32]| -> LetterRows {
                    let moved = |row: &Vec<Option<u8>>| {
                        let mut moved = vec![None; group.columns];
                        places.iter().zip(row).for_each(|(&target, &letter)| moved[target as usize] = letter);
                        moved
                    };
                    rows.iter().map(moved).collect()
                };
                let maps = path::join_columns(&path).maps;
                let rows = [moved(&first_rows, &maps[0]), moved(&second_rows, &maps[1])].concat();
                let joined_weights = [first_weights, second_weights].concat();
                let expected = counted(&letters, &rows, &joined_weights);
                let text: Vec<Vec<u8>> = rows
                    .iter()
                    .map(|row| row.iter().map(|letter| letter.unwrap_or(super::super::rows::GAP)).collect())
                    .collect();
                let ids = [&first.members[..], &second.members].concat();
                assert_eq!(ProfileGroup::from_rows(&letters, &ids, &text, &joined_weights), group);
                assert!(group.members.is_sorted() && group.members.len() == rows.len());
                assert_eq!((&group.weights, group.weight), (&expected.weights, joined_weights.iter().sum()));
                assert_eq!((&group.sites, &group.gaps), (&expected.sites, &expected.gaps));
                if alphabet == Alphabet::Protein {
                    assert_eq!(group.hydrophilic(), expected.hydrophilic);
                }
                let residues: usize = rows.iter().flatten().flatten().count();
                assert_eq!(group.mean_length(), (residues / rows.len()) as i32);
                groups.push((group, rows, joined_weights));
            }
        }
    }
}
