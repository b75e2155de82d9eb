//! Confidence of an alignment from the posterior probabilities of residue pairs.
//!
//! Probabilities are added as integers, so that the sums do not depend on their order.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use rayon::prelude::*;

use super::all_pairs::PairProbabilities;
use super::floats::{LANES, OnFloats};
use super::kernel::{MEMORY, PosteriorLanes, PosteriorScratch, Posteriors, ResiduePair};
use super::sparse::{Sparse, SparseCell};
use super::{model_of, progressive::AlignedMembers};
use crate::alignment::{Confidence, MultipleAlignment};
use crate::engine::buffer_pool::WorkspacePool;
use crate::seq::{Code, SequenceId, SequenceStore};
use crate::simd::InstructionSet;
use crate::{Error, Result};

/// Maximum number of sequences that every sequence is compared with if the probabilities of all
/// pairs have not been computed.
pub const PARTNERS: usize = 32;

/// Column without a residue.
const GAP: u32 = u32::MAX;

/// Probabilities of all pairs before consistency, for [`Confidence`].
#[derive(Debug, Default)]
pub(super) struct DirectProbabilities {
    pairs: Vec<(usize, usize, Sparse)>,
}

impl DirectProbabilities {
    /// Copies the probabilities of every unordered pair.
    pub(super) fn new(all: &PairProbabilities) -> Self {
        let pairs = (0..all.sequences()).flat_map(|b| (0..b).map(move |a| (a, b)));
        DirectProbabilities { pairs: pairs.map(|(a, b)| (a, b, all.get(a, b).clone())).collect() }
    }

    /// Returns the confidence of the residues of each sequence, on the current thread pool.
    pub(super) fn confidence(&self, aligned: &AlignedMembers) -> Vec<Vec<f32>> {
        let residue_of: Vec<Vec<u32>> =
            aligned.places.iter().map(|places| residues_by_column(places, aligned.columns)).collect();
        let zeros = |places: &Vec<u32>| places.iter().map(|_| AtomicU32::new(0)).collect::<Vec<AtomicU32>>();
        let sums: Vec<Vec<AtomicU32>> = aligned.places.iter().map(zeros).collect();
        self.pairs.par_iter().for_each(|(a, b, sparse)| {
            let add = |sum: &AtomicU32, share: u32| {
                sum.fetch_add(share, Ordering::Relaxed);
            };
            // Total probability of each residue of `b` that it is aligned with a residue of `a`.
            let mut totals = vec![0u32; aligned.places[*b].len()];
            for (residue, &column) in aligned.places[*a].iter().enumerate() {
                let row = sparse.row(residue);
                row.iter().for_each(|cell| totals[cell.column()] += cell.share());
                let other = residue_of[*b][column as usize];
                let share = pair_share(row.iter().copied(), other);
                add(&sums[*a][residue], share);
                if other != GAP {
                    add(&sums[*b][other as usize], share);
                }
            }
            for ((&column, sum), &total) in aligned.places[*b].iter().zip(&sums[*b]).zip(&totals) {
                if residue_of[*a][column as usize] == GAP {
                    add(sum, SparseCell::ONE_SHARE.saturating_sub(total));
                }
            }
        });
        let others = aligned.members.len().saturating_sub(1);
        let mean = |sums: Vec<AtomicU32>| sums.into_iter().map(|sum| mean_share(sum.into_inner(), others)).collect();
        sums.into_iter().map(mean).collect()
    }
}

/// Returns the residue in each column, or [`GAP`].
fn residues_by_column(places: &[u32], columns: usize) -> Vec<u32> {
    let mut residues = vec![GAP; columns];
    places.iter().zip(0..).for_each(|(&column, residue)| residues[column as usize] = residue);
    residues
}

/// Returns the probability that a residue is aligned with the residue `other` of another sequence,
/// or with no residue if `other` is [`GAP`]. `row` contains its probabilities.
fn pair_share(row: impl Iterator<Item = SparseCell>, other: u32) -> u32 {
    let (mut total, mut share) = (0, 0);
    for cell in row {
        total += cell.share();
        share += if cell.column() == other as usize { cell.share() } else { 0 };
    }
    if other == GAP { SparseCell::ONE_SHARE.saturating_sub(total) } else { share }
}

/// Returns the mean of probabilities from their sum; 1 if there are none.
fn mean_share(sum: u32, count: usize) -> f32 {
    match count {
        0 => 1.0,
        _ => (f64::from(sum) / (count as f64 * f64::from(SparseCell::ONE_SHARE))) as f32,
    }
}

/// Computes the confidence of any alignment of the sequences of a store. Each sequence is compared
/// with at most [`PARTNERS`] sequences, which are spread evenly over `order`. Identical sequences
/// count as one. Calls `advance` with the numbers of computed pairs and cells.
///
/// # Errors
/// Returns [`Error::Interrupted`] if `interrupt` is set, and [`Error::Usage`] for bytes and
/// for sequences that are too long.
pub fn confidence(
    store: &SequenceStore,
    alignment: &MultipleAlignment,
    order: &[SequenceId],
    pool: &rayon::ThreadPool,
    advance: &(dyn Fn(u64, u64) + Sync),
    interrupt: &AtomicBool,
) -> Result<Confidence> {
    let estimate = ConfidenceEstimate {
        store,
        alignment,
        partners: partners(store, order, PARTNERS),
        instructions: InstructionSet::best(),
        advance,
        interrupt,
    };
    let rows = pool.install(|| estimate.rows())?;
    Confidence::new(alignment, rows).ok_or_else(|| Error::Internal("residues of another alignment".into()))
}

/// Returns at most `limit` distinct sequences, spread evenly over the distinct sequences of `order`.
fn partners(store: &SequenceStore, order: &[SequenceId], limit: usize) -> Vec<SequenceId> {
    let mut seen = std::collections::HashSet::new();
    let distinct: Vec<SequenceId> = order.iter().copied().filter(|&id| seen.insert(store.codes(id))).collect();
    let count = distinct.len().min(limit);
    (0..count).map(|at| distinct[(2 * at + 1) * distinct.len() / (2 * count)]).collect()
}

/// Input of [`confidence`].
struct ConfidenceEstimate<'a> {
    store: &'a SequenceStore,
    alignment: &'a MultipleAlignment,
    partners: Vec<SequenceId>,
    instructions: InstructionSet,
    advance: &'a (dyn Fn(u64, u64) + Sync),
    interrupt: &'a AtomicBool,
}

/// Sum of probabilities of the residues of a sequence, and the number of partners.
type RowSums = (Vec<u32>, usize);

impl ConfidenceEstimate<'_> {
    fn rows(&self) -> Result<Vec<Vec<f32>>> {
        let model = model_of(self.store)?;
        let ids = 0..self.store.len() as SequenceId;
        let wanted = model.present_codes(ids.clone().map(|id| self.store.codes(id)));
        let mut sums: Vec<RowSums> = self.store.lengths().iter().map(|&length| (vec![0; length as usize], 0)).collect();
        let workspaces = WorkspacePool::default();
        for partners in self.partners.chunks(LANES) {
            let codes: Vec<&[Code]> = partners.iter().map(|&id| self.store.codes(id)).collect();
            let group = PosteriorLanes::new(&model, &codes, &wanted);
            let residue_of: Vec<Vec<u32>> = partners
                .iter()
                .map(|&id| residues_by_column(self.alignment.residue_columns(id as usize), self.alignment.columns()))
                .collect();
            let add = |scratch: &mut PosteriorScratch, sums: &mut RowSums, id| {
                if self.interrupt.load(Ordering::Relaxed) {
                    return Err(Error::Interrupted);
                }
                let rows = self.store.codes(id);
                let lanes = 0..partners.len();
                let kernel = Posteriors { model: &model, group: &group, rows, lanes, memory: MEMORY, scratch };
                let pairs = self.instructions.run(OnFloats(kernel));
                for (lane, pairs) in pairs.iter().enumerate().take(partners.len()) {
                    if codes[lane] != rows {
                        self.add(sums, id, pairs, &residue_of[lane]);
                    }
                }
                let cells = codes.iter().map(|codes| codes.len() as u64 * rows.len() as u64).sum();
                (self.advance)(partners.len() as u64, cells);
                Ok(())
            };
            let rows = sums.par_iter_mut().zip(ids.clone().into_par_iter());
            rows.try_for_each(|(sums, id)| workspaces.with(|scratch| add(scratch, sums, id)))?;
        }
        let means = |(sums, count): RowSums| sums.into_iter().map(|sum| mean_share(sum, count)).collect();
        Ok(sums.into_iter().map(means).collect())
    }

    /// Adds the probabilities of a sequence with one partner.
    fn add(&self, (sums, count): &mut RowSums, id: SequenceId, pairs: &[ResiduePair], residue_of: &[u32]) {
        let sparse = Sparse::new(sums.len(), pairs);
        for ((residue, sum), &column) in sums.iter_mut().enumerate().zip(self.alignment.residue_columns(id as usize)) {
            *sum += pair_share(sparse.row(residue).iter().copied(), residue_of[column as usize]);
        }
        *count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::kernel::CUTOFF;
    use super::super::oracle;
    use super::super::tests::{family, store};
    use super::super::{PosteriorOptions, align, model_of};
    use super::*;
    use crate::seq::Alphabet;

    fn pool(threads: usize) -> rayon::ThreadPool {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
    }

    fn estimate(store: &SequenceStore, alignment: &MultipleAlignment, threads: usize) -> Confidence {
        let order: Vec<SequenceId> = (0..store.len() as SequenceId).collect();
        let never = AtomicBool::new(false);
        confidence(store, alignment, &order, &pool(threads), &|_, _| {}, &never).unwrap()
    }

    fn aligned(store: &SequenceStore) -> MultipleAlignment {
        let never = AtomicBool::new(false);
        align(store, &PosteriorOptions::default(), &pool(1), &|_, _| {}, &never).unwrap().0
    }

    #[test]
    fn confidence_is_the_mean_probability_of_pairs_and_gaps() {
        for (alphabet, seed) in [(Alphabet::Protein, 21), (Alphabet::Dna, 22)] {
            let store = store(alphabet, &family(alphabet, 5, 40, seed));
            let alignment = aligned(&store);
            let model = model_of(&store).unwrap();
            let sequences: Vec<&[Code]> = (0..5).map(|id| store.codes(id)).collect();
            let never = AtomicBool::new(false);
            let all = super::super::all_pairs::compute(
                std::slice::from_ref(&model),
                &sequences,
                InstructionSet::best(),
                &|_, _| {},
                &never,
            )
            .unwrap();
            let members = AlignedMembers {
                members: (0..5).collect(),
                columns: alignment.columns(),
                places: (0..5).map(|row| alignment.residue_columns(row).to_vec()).collect(),
            };
            let direct = DirectProbabilities::new(&all).confidence(&members);
            let estimated = estimate(&store, &alignment, 2);
            for row in 0..5 {
                let tables = sequences.iter().map(|other| {
                    let mut table = oracle::probabilities(&model, sequences[row], other);
                    let cells = table.iter_mut().flatten();
                    cells.for_each(|value| *value *= f64::from(u8::from(*value >= CUTOFF.into())));
                    table
                });
                let tables: Vec<_> = tables.collect();
                for (residue, column) in alignment.residue_columns(row).iter().enumerate() {
                    let mut expected = 0.0;
                    for (other, table) in tables.iter().enumerate().filter(|&(other, _)| other != row) {
                        expected += match alignment.residue_columns(other).binary_search(column) {
                            Ok(partner) => table[residue][partner],
                            Err(_) => 1.0 - table[residue].iter().sum::<f64>(),
                        };
                    }
                    let expected = expected / 4.0;
                    // Probabilities near the cutoff may count or not.
                    for actual in [direct[row][residue], estimated.residues(row)[residue]] {
                        let error = (f64::from(actual) - expected).abs();
                        assert!(error < 0.05, "{alphabet:?} {row} {residue}: {actual}, not {expected}");
                    }
                }
            }
        }
    }

    #[test]
    fn confidence_does_not_depend_on_threads() {
        let store = store(Alphabet::Protein, &family(Alphabet::Protein, 40, 30, 23));
        let alignment = aligned(&store);
        let first = estimate(&store, &alignment, 1);
        assert_eq!(estimate(&store, &alignment, 3), first);
        assert!(first.columns().iter().all(|value| (0.0..=1.0).contains(value)));
    }

    #[test]
    fn copies_count_once_and_a_single_sequence_is_certain() {
        let sequences = family(Alphabet::Protein, 3, 40, 24);
        let few = store(Alphabet::Protein, &sequences);
        let alignment = aligned(&few);
        let expected = estimate(&few, &alignment, 1);
        let twice = store(Alphabet::Protein, &[&sequences[..], &sequences[1..2]].concat());
        let rows = [0, 1, 2, 1].map(|row| alignment.residue_columns(row).to_vec()).to_vec();
        let both = MultipleAlignment::new(alignment.columns(), rows).unwrap();
        let actual = estimate(&twice, &both, 1);
        assert_eq!([0, 1, 2, 3].map(|row| actual.residues(row)), [0, 1, 2, 1].map(|row| expected.residues(row)));
        let one = store(Alphabet::Protein, &sequences[..1]);
        let alone = estimate(&one, &aligned(&one), 1);
        assert!(alone.columns().iter().all(|&value| value == 1.0));
    }

    #[test]
    fn partners_are_spread_evenly_over_distinct_sequences() {
        let one = family(Alphabet::Protein, 1, 9, 25);
        let mut sequences: Vec<Vec<Code>> = (1..=9).map(|length| one[0][..length].to_vec()).collect();
        sequences.insert(1, one[0][..1].to_vec());
        let store = store(Alphabet::Protein, &sequences);
        let order: Vec<SequenceId> = (0..10).collect();
        assert_eq!(partners(&store, &order, 3), [2, 5, 8]);
        assert_eq!(partners(&store, &order, 32), [0, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert!(partners(&store, &[], 32).is_empty());
    }
}
