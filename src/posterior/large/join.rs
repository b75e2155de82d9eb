//! Joins two groups by their profiles, and by pairs of representative sequences.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::columns::ProfileColumns;
use super::letters::CountedLetters;
use super::model::{ColumnPair, MEMORY as MATRIX, ProfilePairModel};
use super::profile::CountProfile;
use super::representatives::{PairedRepresentatives, Representative, select_representatives};
use super::tuning::ProfileTuning;
use crate::alignment::join::{JoinedColumns, map_columns};
use crate::engine::buffer_pool::WorkspacePool;
use crate::posterior::floats::{LANES, OnFloats};
use crate::posterior::kernel::{CUTOFF, MEMORY, PosteriorLanes, PosteriorScratch, Posteriors};
use crate::posterior::model::Model;
use crate::posterior::sparse::{BestChain, Sparse};
use crate::seq::{Alphabet, Code};
use crate::simd::InstructionSet;
use crate::{Error, Result};

/// Maximum length of sequences whose pairs are used. Pairs of longer sequences would need too much
/// memory.
const LONGEST_PAIR: usize = 8192;

/// Maximum number of cells of the pairs of representatives of two groups. At least one pair is
/// used.
const PAIR_CELLS: usize = 1_000_000_000;

/// Returns the maximum number of representatives of a group whose pairs are used. 0 if a sequence is
/// too long.
pub(super) fn pair_limit(longest: usize) -> usize {
    if longest <= LONGEST_PAIR { (PAIR_CELLS / longest.max(1).pow(2)).isqrt().max(1) } else { 0 }
}

/// Parameters of all joins.
pub(super) struct JoinParameters {
    model: Model,
    letters: CountedLetters,
    tuning: ProfileTuning,
    instructions: InstructionSet,
}

impl JoinParameters {
    /// Returns the default parameters for an alphabet.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] for bytes.
    pub(super) fn new(alphabet: Alphabet, instructions: InstructionSet) -> Result<Self> {
        match (Model::new(alphabet), CountedLetters::new(alphabet)) {
            (Some(model), Some(letters)) => {
                Ok(JoinParameters { model, letters, tuning: ProfileTuning::default(), instructions })
            }
            _ => Err(Error::usage("multiple alignments need proteins or nucleotides")),
        }
    }

    /// Returns the input for joins of these sequences. `interrupt` ends the joins early.
    pub(super) fn inputs<'a>(&'a self, sequences: &'a [&'a [Code]], interrupt: &'a AtomicBool) -> JoinInputs<'a> {
        let JoinParameters { model, letters, tuning, instructions } = self;
        JoinInputs { model, letters, tuning, sequences, instructions: *instructions, interrupt }
    }
}

/// Input of all joins.
#[derive(Clone, Copy)]
pub(super) struct JoinInputs<'a> {
    /// Model of a pair of sequences.
    pub model: &'a Model,
    /// The letters of profiles.
    pub letters: &'a CountedLetters,
    /// Parameters of the model of two profiles.
    pub tuning: &'a ProfileTuning,
    /// All sequences.
    pub sequences: &'a [&'a [Code]],
    /// Instruction set.
    pub instructions: InstructionSet,
    /// Ends joins early. Their results are then incomplete ([`JoinInputs::check_interrupt`]).
    pub interrupt: &'a AtomicBool,
}

/// A group of aligned sequences.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct FamilyGroup {
    /// Its columns.
    pub profile: CountProfile,
    /// Sequences that represent it.
    pub representatives: Vec<Representative>,
}

/// The prepared columns of a group, and the sequences that represent it.
#[derive(Clone, Copy)]
pub(super) struct GroupColumns<'a> {
    /// Its columns.
    pub columns: &'a ProfileColumns,
    /// Sequences that represent it.
    pub representatives: &'a [Representative],
}

impl JoinInputs<'_> {
    /// Checks that no join was ended early.
    ///
    /// # Errors
    /// Returns [`Error::Interrupted`] if the interrupt is set.
    pub(super) fn check_interrupt(&self) -> Result<()> {
        if self.interrupt.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Aligns two groups.
    pub(super) fn align(&self, a: &FamilyGroup, b: &FamilyGroup) -> JoinedColumns {
        JoinedColumns::of_pairs([a.profile.columns, b.profile.columns], &self.align_columns(a, b))
    }

    /// Prepares the columns of a profile.
    pub(super) fn columns(&self, profile: &CountProfile) -> ProfileColumns {
        ProfileColumns::new(profile, self.letters, &self.model.chain, self.tuning)
    }

    /// Aligns two groups, and returns the pairs of aligned columns.
    pub(super) fn align_columns(&self, a: &FamilyGroup, b: &FamilyGroup) -> Vec<(u32, u32)> {
        let (rows, columns) = (self.columns(&a.profile), self.columns(&b.profile));
        self.align_prepared(
            GroupColumns { columns: &rows, representatives: &a.representatives },
            GroupColumns { columns: &columns, representatives: &b.representatives },
        )
    }

    /// Aligns two groups, and returns the pairs of aligned columns.
    pub(super) fn align_prepared(&self, a: GroupColumns<'_>, b: GroupColumns<'_>) -> Vec<(u32, u32)> {
        let paired = self.paired(a.representatives, b.representatives);
        let (of_profiles, probabilities) =
            rayon::join(|| self.profile_pairs(a.columns, b.columns), || self.probabilities(&paired));
        let of_sequences = paired.column_pairs(a.columns.count, &probabilities);
        self.align_by(a.columns, b.columns, &of_profiles, of_sequences.as_deref())
    }

    /// Computes the probabilities of pairs of columns from the profiles.
    pub(super) fn profile_pairs(&self, rows: &ProfileColumns, columns: &ProfileColumns) -> Vec<ColumnPair> {
        let both = ProfilePairModel {
            a: rows,
            b: columns,
            chain: &self.model.chain,
            mixed: self.tuning.mixed,
            cutoff: CUTOFF,
            memory: MATRIX,
            interrupt: self.interrupt,
        };
        self.instructions.run(both)
    }

    /// Aligns two groups by the probabilities of pairs of columns, first those from the profiles and
    /// then those from pairs of representatives. Returns the pairs of aligned columns.
    pub(super) fn align_by(
        &self,
        rows: &ProfileColumns,
        columns: &ProfileColumns,
        of_profiles: &[ColumnPair],
        of_sequences: Option<&[ColumnPair]>,
    ) -> Vec<(u32, u32)> {
        let share = if of_sequences.is_some() { self.tuning.pairs } else { 0.0 };
        let mut sums = vec![0.0f32; columns.count];
        let mut best = BestChain::default();
        let (mut first, mut second) = (of_profiles, of_sequences.unwrap_or_default());
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
            let row_root = rows.root[row + 1];
            let value = |column: usize| {
                let sum = std::mem::take(&mut sums[column]);
                (column, sum * row_root * columns.root[column + 1])
            };
            best.add_row(row, touched.into_iter().map(value));
        }
        best.best().1
    }

    /// Selects the representatives whose pairs are used.
    pub(super) fn paired(&self, a: &[Representative], b: &[Representative]) -> PairedRepresentatives {
        let longest = a.iter().chain(b).map(|one| one.places.len()).max().unwrap_or(0);
        let [a, b] = [a, b].map(|group| select_representatives(group.to_vec(), pair_limit(longest)));
        PairedRepresentatives { a, b }
    }

    /// Computes the probabilities of all pairs, in the order of [`PairedRepresentatives::pairs`].
    fn probabilities(&self, PairedRepresentatives { a, b }: &PairedRepresentatives) -> Vec<Sparse> {
        let wanted = self.model.present_codes(a.iter().map(|one| self.sequences[one.sequence]));
        let mut all = Vec::with_capacity(a.len() * b.len());
        let workspaces = WorkspacePool::default();
        for lanes in b.chunks(LANES) {
            let codes: Vec<&[Code]> = lanes.iter().map(|one| self.sequences[one.sequence]).collect();
            let group = PosteriorLanes::new(self.model, &codes, &wanted);
            let compute = |scratch: &mut PosteriorScratch, one: &Representative| {
                let rows = self.sequences[one.sequence];
                let lanes = 0..lanes.len();
                if self.check_interrupt().is_err() {
                    return lanes.map(|_| Sparse::new(rows.len(), &[])).collect();
                }
                let kernel = Posteriors {
                    model: self.model,
                    group: &group,
                    rows,
                    lanes: lanes.clone(),
                    memory: MEMORY,
                    scratch,
                };
                let pairs = self.instructions.run(OnFloats(kernel));
                lanes.map(|lane| Sparse::new(rows.len(), &pairs[lane])).collect::<Vec<Sparse>>()
            };
            let compute = |member| workspaces.with(|scratch| compute(scratch, member));
            all.extend(a.par_iter().map(compute).flatten_iter().collect::<Vec<_>>());
        }
        all
    }

    /// Joins two groups.
    pub(super) fn merged(&self, a: &FamilyGroup, b: &FamilyGroup, joined: &JoinedColumns) -> FamilyGroup {
        let profile = a.profile.merged(&b.profile, &joined.maps, joined.columns, self.letters.count);
        let mut all = Vec::with_capacity(a.representatives.len() + b.representatives.len());
        for (group, map) in [a, b].into_iter().zip(&joined.maps) {
            let one = |one: &Representative| Representative { places: map_columns(&one.places, map), ..*one };
            all.extend(group.representatives.iter().map(one));
        }
        FamilyGroup { profile, representatives: select_representatives(all, self.tuning.representatives) }
    }
}
