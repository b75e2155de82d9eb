//! Sequences that are added to an alignment, and the alignment of two alignments.
//!
//! Each new sequence is aligned with the columns of the alignment on its own: by the probabilities
//! of pairs with its nearest relatives in the alignment, and by the profile of all rows
//! ([`JoinInputs`]). Therefore the result does not depend on the other new sequences.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;

use rayon::prelude::*;

use super::columns::ProfileColumns;
use super::join::{FamilyGroup, GroupColumns, JoinInputs, JoinParameters};
use super::lcs::Pattern;
use super::profile::CountProfile;
use super::representatives::{Representative, select_representatives};
use super::tree;
use crate::alignment::MultipleAlignment;
use crate::alignment::join::{JoinedColumns, map_columns};
use crate::posterior::progressive::AlignedMembers;
use crate::seq::{Code, SequenceId, SequenceStore};
use crate::simd::InstructionSet;
use crate::{Error, Result};

/// Maximum number of rows that a new sequence is compared with to find its nearest relatives.
const MAX_CANDIDATES: usize = 5000;

/// Number of nearest relatives in the alignment whose pairs with a new sequence are used. In
/// BAliBASE, 8 relatives are less accurate, and 100 are not more accurate.
const RELATIVES: usize = 32;

/// Maximum number of representatives of each of two alignments.
const REPRESENTATIVES: usize = 64;

/// Sequences with their alignment.
#[derive(Debug, Clone, Copy)]
pub struct AlignedStore<'a> {
    /// The sequences without gaps.
    pub sequences: &'a SequenceStore,
    /// Their alignment.
    pub alignment: &'a MultipleAlignment,
}

impl<'a> AlignedStore<'a> {
    /// Returns the rows in canonical order: by length, then by codes, and identical sequences by
    /// their columns. Therefore no result depends on the order of the rows.
    fn rows(&self) -> Vec<BaseRow<'a>> {
        let row = |row: usize| BaseRow {
            codes: self.sequences.codes(row as SequenceId),
            columns: self.alignment.residue_columns(row),
        };
        let mut rows: Vec<BaseRow<'a>> = (0..self.sequences.len()).map(row).collect();
        rows.sort_by_key(|row| (row.codes.len(), row.codes, row.columns));
        rows
    }
}

/// A sequence of an alignment.
#[derive(Debug, Clone, Copy)]
struct BaseRow<'a> {
    codes: &'a [Code],
    /// Column of each residue.
    columns: &'a [u32],
}

/// Aligns each sequence of `new` with the columns of an alignment. Returns, for each sequence, the
/// column of each residue, or `None` for residues between two columns. A sequence that equals a
/// sequence of the alignment gets the columns of its row. If there are several such rows, it is the
/// one with the earliest columns. Calls `advance` with the numbers of added sequences and computed
/// cells.
///
/// # Errors
/// Returns [`Error::Interrupted`] if `interrupt` is set, and [`Error::Usage`] for bytes and for
/// different alphabets.
pub fn add(
    base: AlignedStore<'_>,
    new: &SequenceStore,
    pool: &rayon::ThreadPool,
    advance: &(dyn Fn(u64, u64) + Sync),
    interrupt: &AtomicBool,
) -> Result<Vec<Vec<Option<u32>>>> {
    let parameters = parameters(base.sequences, new)?;
    let rows = base.rows();
    let sequences: Vec<&[Code]> = rows.iter().map(|row| row.codes).collect();
    let inputs = parameters.inputs(&sequences, interrupt);
    let group = BaseGroup::new(&inputs, &rows, base.alignment.columns(), pool)?;
    let mut known: HashMap<&[Code], &[u32]> = HashMap::new();
    for row in &rows {
        known.entry(row.codes).or_insert(row.columns);
    }
    let columns = inputs.columns(&group.profile);
    pool.install(|| {
        let ids = (0..new.len() as SequenceId).into_par_iter();
        ids.map(|id| {
            inputs.check_interrupt()?;
            let codes = new.codes(id);
            let (places, cells) = match known.get(codes) {
                Some(places) => (places.iter().copied().map(Some).collect(), 0),
                None => group.place(&inputs, &columns, codes),
            };
            inputs.check_interrupt()?;
            advance(1, cells);
            Ok(places)
        })
        .collect()
    })
}

/// Aligns two alignments, and returns their common columns. The columns of both are kept.
///
/// # Errors
/// Returns [`Error::Interrupted`] if `interrupt` is set, and [`Error::Usage`] for bytes and for
/// different alphabets.
pub(crate) fn align_alignments(
    first: AlignedStore<'_>,
    second: AlignedStore<'_>,
    pool: &rayon::ThreadPool,
    interrupt: &AtomicBool,
) -> Result<JoinedColumns> {
    let parameters = parameters(first.sequences, second.sequences)?;
    let sides = [first, second].map(|side| side.rows());
    let sequences: Vec<&[Code]> = sides.iter().flatten().map(|row| row.codes).collect();
    let inputs = parameters.inputs(&sequences, interrupt);
    let count = first.sequences.len();
    let of_side = |start: usize, sequences: &[&[Code]], rows: &[BaseRow], columns: usize| {
        let group = BaseGroup::new(&parameters.inputs(sequences, interrupt), rows, columns, pool)?;
        Ok::<_, Error>((group.representatives(start, REPRESENTATIVES), group.filled))
    };
    let (a, a_filled) = of_side(0, &sequences[..count], &sides[0], first.alignment.columns())?;
    let (b, b_filled) = of_side(count, &sequences[count..], &sides[1], second.alignment.columns())?;
    let pairs = pool.install(|| inputs.align_columns(&a, &b));
    inputs.check_interrupt()?;
    let pairs: Vec<(u32, u32)> =
        pairs.into_iter().map(|(row, column)| (a_filled[row as usize], b_filled[column as usize])).collect();
    Ok(JoinedColumns::of_pairs([first.alignment.columns(), second.alignment.columns()], &pairs))
}

/// Returns the parameters for the sequences of two stores.
fn parameters(first: &SequenceStore, second: &SequenceStore) -> Result<JoinParameters> {
    if first.alphabet() != second.alphabet() {
        return Err(Error::usage("nucleotides cannot be aligned with proteins"));
    }
    JoinParameters::new(first.alphabet(), InstructionSet::best())
}

/// The rows of an alignment without its empty columns.
struct BaseGroup {
    profile: CountProfile,
    /// Column of the alignment for each column of the group.
    filled: Vec<u32>,
    /// Column of every residue in the group, for each row.
    places: Vec<Vec<u32>>,
    weights: Vec<f32>,
    /// Rows that new sequences are compared with.
    candidates: Vec<usize>,
}

impl BaseGroup {
    /// `inputs` has the sequences of the rows of an alignment with this number of columns.
    ///
    /// # Errors
    /// Returns [`Error::Interrupted`] if the interrupt of `inputs` is set.
    fn new(inputs: &JoinInputs<'_>, rows: &[BaseRow], columns: usize, pool: &rayon::ThreadPool) -> Result<Self> {
        let mut group_column = vec![u32::MAX; columns];
        for row in rows {
            row.columns.iter().for_each(|&column| group_column[column as usize] = 0);
        }
        let filled: Vec<u32> = (0..columns as u32).filter(|&at| group_column[at as usize] == 0).collect();
        filled.iter().zip(0..).for_each(|(&at, index)| group_column[at as usize] = index);
        let places: Vec<Vec<u32>> = rows.iter().map(|row| map_columns(row.columns, &group_column)).collect();
        let guide = tree::guide(inputs.sequences, inputs.model.codes(), pool, inputs.interrupt)?;
        let weights = tree::weights(&guide);
        let aligned = AlignedMembers { members: (0..rows.len()).collect(), columns: filled.len(), places };
        let profile = CountProfile::new(inputs.letters, inputs.sequences, &weights, &aligned);
        let rows = rows.len();
        let count = rows.min(MAX_CANDIDATES);
        let candidates = (0..count).map(|at| at * rows / count).collect();
        Ok(BaseGroup { profile, filled, places: aligned.places, weights, candidates })
    }

    /// Returns the group with at most `limit` representatives. `start` is the number of the first
    /// row.
    fn representatives(&self, start: usize, limit: usize) -> FamilyGroup {
        let all = self.places.iter().zip(&self.weights).enumerate();
        let all = all.map(|(row, (places, &weight))| Representative {
            sequence: start + row,
            weight,
            places: places.clone(),
        });
        FamilyGroup { profile: self.profile.clone(), representatives: select_representatives(all.collect(), limit) }
    }

    /// Returns the column of each residue of a new sequence, and the number of computed cells.
    fn place(&self, inputs: &JoinInputs<'_>, columns: &ProfileColumns, codes: &[Code]) -> (Vec<Option<u32>>, u64) {
        let mut relatives = self.relatives(inputs, codes);
        let cells: usize = relatives.iter().map(|one| one.places.len()).sum();
        let cells = (cells + columns.count) as u64 * codes.len() as u64;
        // The new sequence and its relatives are the only sequences of this join.
        let mut sequences = vec![codes];
        for relative in &mut relatives {
            sequences.push(inputs.sequences[relative.sequence]);
            relative.sequence = sequences.len() - 1;
        }
        let inputs = JoinInputs { sequences: &sequences, ..*inputs };
        let mut single = AlignedMembers::single(0, codes.len());
        let of_new = inputs.columns(&CountProfile::new(inputs.letters, &[codes], &[1.0], &single));
        let representative = [Representative { sequence: 0, weight: 1.0, places: single.places.swap_remove(0) }];
        let pairs = inputs.align_prepared(
            GroupColumns { columns: &of_new, representatives: &representative },
            GroupColumns { columns, representatives: &relatives },
        );
        let mut placed = vec![None; codes.len()];
        for (residue, column) in pairs {
            placed[residue as usize] = Some(self.filled[column as usize]);
        }
        (placed, cells)
    }

    /// Returns the nearest relatives of a sequence. Their weights are multiplied by the square of
    /// their similarity: the length of the longest common subsequence, relative to the shorter
    /// sequence.
    fn relatives(&self, inputs: &JoinInputs<'_>, codes: &[Code]) -> Vec<Representative> {
        let pattern = Pattern::new(codes, inputs.model.codes());
        let mut row = Vec::new();
        let mut near: Vec<(f64, usize)> = self
            .candidates
            .iter()
            .map(|&candidate| {
                let other = inputs.sequences[candidate];
                let shorter = codes.len().min(other.len()).max(1);
                (pattern.common(other, &mut row) as f64 / shorter as f64, candidate)
            })
            .collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        near.truncate(RELATIVES);
        let relative = |&(similarity, sequence): &(f64, usize)| Representative {
            sequence,
            weight: self.weights[sequence] * (similarity * similarity).max(1e-6) as f32,
            places: self.places[sequence].clone(),
        };
        near.iter().map(relative).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alignment::insert::insert;
    use crate::posterior::PosteriorOptions;
    use crate::posterior::tests::{family, random, store};
    use crate::seq::Alphabet;

    fn pool(threads: usize) -> rayon::ThreadPool {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
    }

    fn aligned(store: &SequenceStore) -> MultipleAlignment {
        let never = AtomicBool::new(false);
        crate::posterior::align(store, &PosteriorOptions::default(), &pool(1), &|_, _| {}, &never).unwrap().0
    }

    fn added(base: AlignedStore<'_>, new: &SequenceStore, threads: usize) -> Vec<Vec<Option<u32>>> {
        add(base, new, &pool(threads), &|_, _| {}, &AtomicBool::new(false)).unwrap()
    }

    #[test]
    fn added_sequences_do_not_depend_on_order_and_threads() {
        for (alphabet, seed) in [(Alphabet::Protein, 31), (Alphabet::Dna, 32)] {
            let all = family(alphabet, 12, 50, seed);
            let base = store(alphabet, &all[..8]);
            let alignment = aligned(&base);
            let mut new = all[8..].to_vec();
            new.push(random(&mut fastrand::Rng::with_seed(seed), alphabet, 30));
            let first = added(AlignedStore { sequences: &base, alignment: &alignment }, &store(alphabet, &new), 1);
            for (row, codes) in first.iter().zip(&new) {
                assert_eq!(row.len(), codes.len());
                let columns: Vec<u32> = row.iter().copied().flatten().collect();
                assert!(columns.windows(2).all(|pair| pair[0] < pair[1]));
            }
            new.reverse();
            let mut reversed =
                added(AlignedStore { sequences: &base, alignment: &alignment }, &store(alphabet, &new), 3);
            reversed.reverse();
            assert_eq!(reversed, first);
            let inserted = insert(alignment.columns(), &first);
            assert_eq!(inserted.base.len(), alignment.columns());
        }
    }

    #[test]
    fn known_sequences_and_their_fragments_get_the_columns_of_their_row() {
        let all = family(Alphabet::Protein, 8, 60, 33);
        let base = store(Alphabet::Protein, &all);
        let alignment = aligned(&base);
        let expected = |row: usize| alignment.residue_columns(row).iter().copied().map(Some).collect::<Vec<_>>();
        let actual = added(AlignedStore { sequences: &base, alignment: &alignment }, &base, 2);
        assert_eq!(actual, (0..8).map(expected).collect::<Vec<_>>());
        let fragment = added(
            AlignedStore { sequences: &base, alignment: &alignment },
            &store(Alphabet::Protein, &[all[3][15..45].to_vec()]),
            1,
        );
        let same = fragment[0].iter().zip(&expected(3)[15..45]).filter(|(a, b)| a == b).count();
        assert!(same >= 27, "{fragment:?}");
    }

    /// Columns without residues stay in place, and no residue is aligned with them.
    #[test]
    fn empty_columns_are_kept() {
        let all = family(Alphabet::Protein, 6, 40, 34);
        let base = store(Alphabet::Protein, &all[..5]);
        let alignment = aligned(&base);
        let new = store(Alphabet::Protein, &all[5..]);
        let dense = added(AlignedStore { sequences: &base, alignment: &alignment }, &new, 1);
        let spread = |column: u32| 2 * column + 1;
        let rows = (0..5).map(|row| alignment.residue_columns(row).iter().copied().map(spread).collect()).collect();
        let wide = MultipleAlignment::new(2 * alignment.columns() + 3, rows).unwrap();
        let expected: Vec<Vec<Option<u32>>> =
            dense.into_iter().map(|row| row.into_iter().map(|column| column.map(spread)).collect()).collect();
        assert_eq!(added(AlignedStore { sequences: &base, alignment: &wide }, &new, 1), expected);
    }

    #[test]
    fn two_alignments_keep_their_columns() {
        let all = family(Alphabet::Dna, 12, 60, 35);
        let [first, second] = [&all[..7], &all[7..]].map(|sequences| store(Alphabet::Dna, sequences));
        let alignments = [aligned(&first), aligned(&second)];
        let join = |threads| {
            let side = |sequences, alignment| AlignedStore { sequences, alignment };
            align_alignments(
                side(&first, &alignments[0]),
                side(&second, &alignments[1]),
                &pool(threads),
                &AtomicBool::new(false),
            )
            .unwrap()
        };
        let joined = join(1);
        assert_eq!(join(3), joined);
        for (map, alignment) in joined.maps.iter().zip(&alignments) {
            assert_eq!(map.len(), alignment.columns());
            assert!(map.windows(2).all(|pair| pair[0] < pair[1]));
        }
        let longest = alignments[0].columns().max(alignments[1].columns());
        assert!(joined.columns < longest * 3 / 2, "relatives share columns");
    }

    #[test]
    fn other_alphabets_are_refused() {
        let proteins = store(Alphabet::Protein, &family(Alphabet::Protein, 2, 20, 36));
        let bases = store(Alphabet::Dna, &family(Alphabet::Dna, 2, 20, 36));
        let alignment = aligned(&proteins);
        let base = AlignedStore { sequences: &proteins, alignment: &alignment };
        let result = add(base, &bases, &pool(1), &|_, _| {}, &AtomicBool::new(false));
        assert!(matches!(result, Err(Error::Usage(_))));
        let result = add(base, &proteins, &pool(1), &|_, _| {}, &AtomicBool::new(true));
        assert!(matches!(result, Err(Error::Interrupted)));
    }
}
