//! Distances of aligned sequences, counted and corrected as in ClustalW 2.1.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::model::{self, SubstitutionModel};
use super::{Distances, TreeRun, UnreliablePairs};
use crate::error::Result;
use crate::seq::{Alphabet, Code, PAD};

/// Options for comparing the rows of an alignment.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RowComparison {
    /// Whether to skip every column where any sequence has a gap.
    pub without_gaps: bool,
    /// Correction for multiple substitutions.
    pub correction: Correction,
}

/// Correction of distances for residues that changed more than once.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Correction {
    /// No correction: the fraction of columns that differ.
    #[default]
    Uncorrected,
    /// Kimura's formulas as in ClustalW 2.1 (1980 for nucleotides, 1983 for proteins).
    Kimura,
    /// A model of substitution.
    Model(SubstitutionModel),
}

/// Distance of nucleotides if the correction is undefined.
const FAR_NUCLEOTIDES: f64 = 3.5;
/// Distance of proteins that differ in more than 93% of the columns.
const FAR_PROTEINS: f64 = 10.0;

/// Accepted mutations per hundred residues (PAM) of proteins that differ in 75.0%, 75.1%, ...,
/// 93.0% of the columns, in the model of Dayhoff (1978). Kimura's formula is used below 75%.
const PAM: [u16; 181] = [
    195, 196, 197, 198, 199, 200, 200, 201, 202, 203, 204, 205, 206, 207, 208, 209, 209, 210, 211, 212, 213, 214, 215,
    216, 217, 218, 219, 220, 221, 222, 223, 224, 226, 227, 228, 229, 230, 231, 232, 233, 234, 236, 237, 238, 239, 240,
    241, 243, 244, 245, 246, 248, 249, 250, 252, 253, 254, 255, 257, 258, 260, 261, 262, 264, 265, 267, 268, 270, 271,
    273, 274, 276, 277, 279, 281, 282, 284, 285, 287, 289, 291, 292, 294, 296, 298, 299, 301, 303, 305, 307, 309, 311,
    313, 315, 317, 319, 321, 323, 325, 328, 330, 332, 335, 337, 339, 342, 344, 347, 349, 352, 354, 357, 360, 362, 365,
    368, 371, 374, 377, 380, 383, 386, 389, 393, 396, 399, 403, 407, 410, 414, 418, 422, 426, 430, 434, 438, 442, 447,
    451, 456, 461, 466, 471, 476, 482, 487, 493, 498, 504, 511, 517, 524, 531, 538, 545, 553, 560, 569, 577, 586, 595,
    605, 615, 626, 637, 649, 661, 675, 688, 703, 719, 736, 754, 775, 796, 819, 845, 874, 907, 945, 988,
];

/// The bits of A and of G.
const A_OR_G: Code = 0b0101;

/// Rows of an alignment, prepared for comparison: codes that are not compared are replaced by gaps.
pub(super) struct ComparedColumns {
    alphabet: Alphabet,
    rows: Vec<Vec<Code>>,
    /// Whether each column counts.
    whole: Vec<bool>,
    comparison: RowComparison,
}

impl ComparedColumns {
    pub(super) fn new(alphabet: Alphabet, rows: &[Vec<Code>], comparison: RowComparison) -> Self {
        let width = rows.first().map_or(0, Vec::len);
        assert!(rows.iter().all(|row| row.len() == width), "rows of different lengths");
        let is_whole = |column: usize| !comparison.without_gaps || rows.iter().all(|row| row[column] != PAD);
        let whole = (0..width).map(is_whole).collect();
        // An ambiguous base is not compared.
        let clear = |&code: &Code| if alphabet == Alphabet::Dna && code.count_ones() != 1 { PAD } else { code };
        let rows = rows.iter().map(|row| row.iter().map(clear).collect()).collect();
        ComparedColumns { alphabet, rows, whole, comparison }
    }

    /// Returns the number of columns, including columns that do not count.
    pub(super) fn width(&self) -> usize {
        self.whole.len()
    }

    /// Returns an alignment of the given columns, which may be repeated. Columns that do not count
    /// are dropped.
    pub(super) fn drawn(&self, columns: &[usize]) -> ComparedColumns {
        let columns: Vec<usize> = columns.iter().copied().filter(|&column| self.whole[column]).collect();
        let rows = self.rows.iter().map(|row| columns.iter().map(|&column| row[column]).collect()).collect();
        ComparedColumns { rows, whole: vec![true; columns.len()], ..*self }
    }

    /// Returns the distances of all pairs, and the numbers of unreliable ones.
    ///
    /// # Errors
    /// [`Error::Interrupted`](crate::Error::Interrupted) if `run` is stopped.
    pub(super) fn distances(&self, run: TreeRun<'_>) -> Result<(Distances, UnreliablePairs)> {
        if self.whole.contains(&false) {
            return self.drawn(&(0..self.width()).collect::<Vec<usize>>()).distances(run);
        }
        if let Correction::Model(model) = self.comparison.correction {
            return model::distances(self.alphabet, &self.rows, model, run);
        }
        let (far, apart) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let first_apart = Mutex::new(None);
        let distances = Distances::filled_in(self.rows.len(), run, |a, to_earlier| {
            for (b, (distance, other)) in to_earlier.iter_mut().zip(&self.rows).enumerate() {
                let counts = DifferenceCounts::from_rows(&self.rows[a], other);
                if counts.both == 0 {
                    apart.fetch_add(1, Ordering::Relaxed);
                    let mut first = first_apart.lock().unwrap_or_else(PoisonError::into_inner);
                    *first = Some(first.map_or([b, a], |first: [usize; 2]| first.min([b, a])));
                }
                let corrected = match (self.comparison.correction == Correction::Kimura, self.alphabet) {
                    (false, _) => Some(counts.part(counts.differ)),
                    (true, Alphabet::Dna) => counts.nucleotides(),
                    (true, _) => counts.proteins(),
                };
                *distance = corrected.unwrap_or_else(|| {
                    far.fetch_add(1, Ordering::Relaxed);
                    if self.alphabet == Alphabet::Dna { FAR_NUCLEOTIDES } else { FAR_PROTEINS }
                });
            }
        });
        run.check()?;
        let first_apart = first_apart.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok((distances, UnreliablePairs { far: far.into_inner(), apart: apart.into_inner(), first_apart }))
    }
}

impl Distances {
    /// Returns the distances of aligned sequences: the fraction of columns where two rows differ,
    /// out of the columns where both have a residue. It is 0 if there are none, and corrected if
    /// `comparison` asks for it. Also returns which pairs are unreliable. Rows contain codes, and
    /// [`PAD`] for gaps. Ambiguous bases are ignored.
    ///
    /// # Errors
    /// [`Error::Interrupted`](crate::Error::Interrupted) if `run` is stopped.
    ///
    /// # Panics
    /// Panics if the rows have different lengths, or if the model has another alphabet.
    pub fn from_rows(
        alphabet: Alphabet,
        rows: &[Vec<Code>],
        comparison: RowComparison,
        run: TreeRun<'_>,
    ) -> Result<(Distances, UnreliablePairs)> {
        ComparedColumns::new(alphabet, rows, comparison).distances(run)
    }
}

/// Column counts of two rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct DifferenceCounts {
    /// Columns where both have a residue.
    both: u64,
    /// Columns where both have a residue and these differ.
    differ: u64,
    /// Columns with A in one row and G in the other. C and T would be a transition too, but
    /// ClustalW does not count it: it compares with the code of S instead of T.
    transitions: u64,
}

impl DifferenceCounts {
    fn from_rows(a: &[Code], b: &[Code]) -> DifferenceCounts {
        let mut counts = DifferenceCounts::default();
        // These chunks are so short that each count fits a byte.
        for (a, b) in a.chunks(255).zip(b.chunks(255)) {
            let (mut differ, mut both, mut transitions) = (0u8, 0u8, 0u8);
            for (&a, &b) in a.iter().zip(b) {
                let is_pair = u8::from(a != PAD) & u8::from(b != PAD);
                both += is_pair;
                differ += is_pair & u8::from(a != b);
                transitions += is_pair & u8::from(a != b) & u8::from(a | b == A_OR_G);
            }
            counts.differ += u64::from(differ);
            counts.both += u64::from(both);
            counts.transitions += u64::from(transitions);
        }
        counts
    }

    fn part(self, some: u64) -> f64 {
        if some == 0 { 0.0 } else { some as f64 / self.both as f64 }
    }

    /// Returns Kimura's two-parameter distance, from transitions and transversions.
    fn nucleotides(self) -> Option<f64> {
        let (p, q) = (self.part(self.transitions), self.part(self.differ - self.transitions));
        let a = if 2.0 * p + q == 1.0 { 0.0 } else { 1.0 / (1.0 - 2.0 * p - q) };
        let b = if q == 0.5 { 0.0 } else { 1.0 / (1.0 - 2.0 * q) };
        (a > 0.0 && b > 0.0).then(|| 0.5 * a.ln() + 0.25 * b.ln())
    }

    /// Returns Kimura's distance up to a fraction of three quarters, and the distance from the
    /// table beyond it.
    fn proteins(self) -> Option<f64> {
        let part = self.part(self.differ);
        match part {
            0.0 => Some(0.0),
            _ if part < 0.75 => Some(-(1.0 - part - part * part / 5.0).ln()),
            _ if part > 0.93 => None,
            _ => PAM.get((part * 1000.0 - 750.0) as usize).map(|&pam| f64::from(pam) / 100.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proteins_are_corrected_by_a_formula_and_a_table() {
        let of = |differ| DifferenceCounts { both: 1000, differ, transitions: 0 }.proteins();
        assert_eq!([of(0), of(750), of(930), of(931), of(803)], [Some(0.0), Some(1.95), Some(9.88), None, Some(2.5)]);
        assert!((of(500).unwrap() - 0.798_507_696).abs() < 1e-9);
        assert_eq!(DifferenceCounts::default().proteins(), Some(0.0));
    }

    #[test]
    fn rows_without_common_columns_have_distance_zero() {
        let part = |a: &[Code], b: &[Code]| {
            let counts = DifferenceCounts::from_rows(a, b);
            counts.part(counts.differ)
        };
        let columns = ComparedColumns::new(
            Alphabet::Dna,
            &[vec![1, 2, PAD, PAD], vec![PAD, PAD, 4, 8], vec![1, 2, 4, 1]],
            RowComparison::default(),
        );
        assert_eq!(part(&columns.rows[0], &columns.rows[1]), 0.0);
        assert_eq!(part(&columns.rows[1], &columns.rows[2]), 0.5);
        assert_eq!(part(&[1; 1000], &[2; 1000]), 1.0);
        let pool = crate::engine::thread_pool(2).unwrap();
        let doubts = |rows: &[Vec<Code>], without_gaps| {
            Distances::from_rows(
                Alphabet::Dna,
                rows,
                RowComparison { without_gaps, correction: Correction::Kimura },
                TreeRun::new(&pool),
            )
            .unwrap()
            .1
        };
        let rows = [vec![1, 2, 4, 1], vec![1, 2, PAD, PAD], vec![PAD, PAD, 4, 8], vec![15, 15, 4, 15]];
        // Rows 0 and 2 differ by a transversion in half of their columns, where Kimura's
        // formula is undefined.
        assert_eq!(doubts(&rows, false), UnreliablePairs { far: 1, apart: 2, first_apart: Some([1, 2]) });
        assert_eq!(doubts(&rows, true), UnreliablePairs { far: 0, apart: 6, first_apart: Some([0, 1]) });
        assert_eq!(doubts(&rows[..2], false), UnreliablePairs::default());
    }

    #[test]
    fn nucleotides_are_corrected_by_transitions_and_transversions() {
        let codes = |text: &[u8]| -> Vec<Code> {
            text.iter().map(|&letter| Alphabet::Dna.encode(letter).unwrap_or(PAD)).collect()
        };
        let counts = DifferenceCounts::from_rows(&codes(b"ACGTACGT-A"), &codes(b"GTACTCGTA-"));
        assert_eq!(counts, DifferenceCounts { both: 8, differ: 5, transitions: 2 });
        assert_eq!(codes(b"AG"), [1, 4]);
        let of = |transitions, versions| {
            DifferenceCounts { both: 100, differ: transitions + versions, transitions }.nucleotides()
        };
        assert!((of(10, 5).unwrap() - 0.170_181_165).abs() < 1e-9);
        assert_eq!([of(0, 0), of(50, 0), of(0, 50), of(50, 10)], [Some(0.0), None, None, None]);
    }
}
