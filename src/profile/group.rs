//! Groups of aligned sequences: what profiles need to know of their columns, all of it sums.
//!
//! When two groups become one, columns are added up, or moved; the sequences themselves are not looked at again.

use super::letters::Letters;
use super::path::{Step, columns, places};

/// Hydrophilic residues in a row that make a run.
const RUN: u32 = 4;

/// Aligned sequences, column by column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    /// The sequences, rising.
    pub(super) members: Vec<u32>,
    /// Columns.
    pub(super) columns: usize,
    /// What the sequences with a letter in a column count together: all letters of the first column first.
    pub(super) weights: Vec<i32>,
    /// What all sequences count together.
    pub(super) weight: i32,
    /// Residues of all sequences together.
    pub(super) residues: i64,
    /// Sums of what the residues of a column say of gaps beside them.
    pub(super) sites: Vec<i32>,
    /// How many sequences have a gap in a column, with residues on both sides of it.
    pub(super) gaps: Vec<i32>,
    /// How many sequences begin in a column.
    starts: Vec<i32>,
    /// How many end in it.
    ends: Vec<i32>,
    /// Runs of hydrophilic residues: first column, the column behind the last, how many sequences have it; rising.
    runs: Vec<(u32, u32, i32)>,
}

impl Group {
    /// A sequence, given as the numbers of its letters, that counts so much.
    pub(super) fn of_sequence(letters: &Letters, id: u32, sequence: &[u8], weight: i32) -> Group {
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
            if letters.is_protein && letters.hydrophilic[run[0] as usize] && end - at >= RUN {
                runs.push((at, end, 1));
            }
            at = end;
        }
        Group {
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

    /// How many sequences have residues on both sides of the place before each column, the end included.
    fn spanning(&self) -> Vec<i32> {
        let mut now = 0;
        let mut spanning = vec![0];
        spanning.extend(self.starts.iter().zip(&self.ends).map(|(start, end)| {
            now += start - end;
            now
        }));
        spanning
    }

    /// Mean length of the sequences, rounded as ClustalW does.
    pub(super) fn mean_length(&self) -> i32 {
        (self.residues as f32 / self.members.len() as f32) as i32
    }

    /// Whether each column is in a hydrophilic run of at least one sequence in a hundred.
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

    /// Both groups' sequences, with the columns that the path says.
    pub(super) fn joined(&self, other: &Group, letters: &Letters, path: &[Step]) -> Group {
        let [first, second] = places(path);
        let columns = columns(path);
        debug_assert_eq!((first.len(), second.len()), (self.columns, other.columns), "a path of other profiles");
        let mut members: Vec<u32> = self.members.iter().chain(&other.members).copied().collect();
        members.sort_unstable();
        let mut group = Group {
            members,
            columns,
            weights: vec![0; columns * letters.count()],
            weight: self.weight + other.weight,
            residues: self.residues + other.residues,
            sites: vec![0; columns],
            gaps: vec![0; columns],
            starts: vec![0; columns],
            ends: vec![0; columns],
            runs: Vec::with_capacity(self.runs.len() + other.runs.len()),
        };
        group.add(self, letters, &first);
        group.add(other, letters, &second);
        group.runs.sort_unstable();
        group.runs.dedup_by(|next, last| {
            let same = (next.0, next.1) == (last.0, last.1);
            last.2 += if same { next.2 } else { 0 };
            same
        });
        group
    }

    /// Adds the columns of a group at their new places.
    fn add(&mut self, part: &Group, letters: &Letters, places: &[u32]) {
        let count = letters.count();
        let spanning = part.spanning();
        let mut next = 0;
        for (column, &place) in places.iter().enumerate() {
            let place = place as usize;
            self.gaps[next..place].iter_mut().for_each(|gaps| *gaps += spanning[column]);
            next = place + 1;
            let own = &part.weights[column * count..][..count];
            self.weights[place * count..][..count].iter_mut().zip(own).for_each(|(sum, weight)| *sum += weight);
            self.sites[place] += part.sites[column];
            self.gaps[place] += part.gaps[column];
            self.starts[place] += part.starts[column];
            self.ends[place] += part.ends[column];
        }
        for &(start, end, sequences) in &part.runs {
            let run = &places[start as usize..end as usize];
            if run[run.len() - 1] - run[0] == end - 1 - start {
                self.runs.push((run[0], run[0] + end - start, sequences));
                continue;
            }
            // New gaps break it into pieces.
            let pieces = run.chunk_by(|a, b| a + 1 == *b).filter(|piece| piece.len() >= RUN as usize);
            self.runs.extend(pieces.map(|piece| (piece[0], piece[0] + piece.len() as u32, sequences)));
        }
    }
}
