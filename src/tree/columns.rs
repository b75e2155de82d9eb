//! Distances of aligned sequences, as ClustalW 2.1 counts and corrects them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::Distances;
use crate::seq::{Alphabet, Code, PAD};

/// How rows of an alignment are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Leave out every column in which any sequence has a gap.
    pub without_gaps: bool,
    /// Correct for residues that changed more than once (Kimura 1980 for nucleotides, 1983 for proteins).
    pub kimura: bool,
}

/// What nucleotides are apart whose correction has no end.
const FAR_NUCLEOTIDES: f64 = 3.5;
/// The same of proteins that differ in more than 93%.
const FAR_PROTEINS: f64 = 10.0;

/// Accepted mutations per hundred residues (PAM) of proteins that differ in 75.0%, 75.1%, ..., 93.0%, by the model of Dayhoff
/// (1978): Kimura's formula ends there.
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

/// Rows of an alignment: residues of which nothing is compared are gaps, columns that do not count are not there.
pub(super) struct Columns {
    alphabet: Alphabet,
    rows: Vec<Vec<Code>>,
    /// Columns that count at all.
    whole: Vec<bool>,
    comparison: Comparison,
}

impl Columns {
    pub(super) fn new(alphabet: Alphabet, rows: &[Vec<Code>], comparison: Comparison) -> Self {
        let width = rows.first().map_or(0, Vec::len);
        assert!(rows.iter().all(|row| row.len() == width), "rows of different lengths");
        let is_whole = |column: usize| !comparison.without_gaps || rows.iter().all(|row| row[column] != PAD);
        let whole = (0..width).map(is_whole).collect();
        // A base that may be several counts as none.
        let clear = |&code: &Code| if alphabet == Alphabet::Dna && code.count_ones() != 1 { PAD } else { code };
        let rows = rows.iter().map(|row| row.iter().map(clear).collect()).collect();
        Columns { alphabet, rows, whole, comparison }
    }

    /// Columns of all, those included that do not count.
    pub(super) fn width(&self) -> usize {
        self.whole.len()
    }

    /// Some of the columns, any of them more than once.
    pub(super) fn drawn(&self, columns: &[usize]) -> Columns {
        let columns: Vec<usize> = columns.iter().copied().filter(|&column| self.whole[column]).collect();
        let rows = self.rows.iter().map(|row| columns.iter().map(|&column| row[column]).collect()).collect();
        Columns { rows, whole: vec![true; columns.len()], ..*self }
    }

    /// The distances of all pairs, and the numbers of doubtful ones.
    pub(super) fn distances(&self, threads: &rayon::ThreadPool) -> (Distances, Doubts) {
        if self.whole.contains(&false) {
            return self.drawn(&(0..self.width()).collect::<Vec<usize>>()).distances(threads);
        }
        let (far, apart) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let first_apart = Mutex::new(None);
        let distances = Distances::filled(self.rows.len(), threads, |a, to_earlier| {
            for (b, (distance, other)) in to_earlier.iter_mut().zip(&self.rows).enumerate() {
                let counts = Counts::of(&self.rows[a], other);
                if counts.both == 0 {
                    apart.fetch_add(1, Ordering::Relaxed);
                    let mut first = first_apart.lock().unwrap_or_else(PoisonError::into_inner);
                    *first = Some(first.map_or([b, a], |first: [usize; 2]| first.min([b, a])));
                }
                let corrected = match (self.comparison.kimura, self.alphabet) {
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
        let first_apart = first_apart.into_inner().unwrap_or_else(PoisonError::into_inner);
        (distances, Doubts { far: far.into_inner(), apart: apart.into_inner(), first_apart })
    }
}

/// Pairs whose distances say little.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Doubts {
    /// Number of pairs that are too far for a correction.
    pub far: usize,
    /// Number of pairs without a column in which both have a residue. Their distance is 0, as in ClustalW.
    pub apart: usize,
    /// The first of them by its rows, the earlier row first.
    pub first_apart: Option<[usize; 2]>,
}

impl Distances {
    /// The distances of aligned sequences: the part of columns in which two differ, of those in which both have a residue, 0 if
    /// there are none; corrected if asked for. Also returns which of them say little. Rows have codes, and [`PAD`] where a gap is;
    /// bases that may be several are left out.
    ///
    /// # Panics
    /// If rows have different lengths.
    pub fn of_rows(
        alphabet: Alphabet,
        rows: &[Vec<Code>],
        comparison: Comparison,
        threads: &rayon::ThreadPool,
    ) -> (Distances, Doubts) {
        Columns::new(alphabet, rows, comparison).distances(threads)
    }
}

/// Columns of two rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    /// In which both have a residue.
    both: u64,
    /// Of these in which they differ.
    differ: u64,
    /// Of these in which A stands beside G. C beside T is a transition as well, but not to ClustalW: it looks for T under the
    /// code that S has.
    transitions: u64,
}

impl Counts {
    fn of(a: &[Code], b: &[Code]) -> Counts {
        let mut counts = Counts::default();
        // Few enough that a byte holds each count.
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

    /// Kimura's two parameters: transitions, transversions.
    fn nucleotides(self) -> Option<f64> {
        let (p, q) = (self.part(self.transitions), self.part(self.differ - self.transitions));
        let a = if 2.0 * p + q == 1.0 { 0.0 } else { 1.0 / (1.0 - 2.0 * p - q) };
        let b = if q == 0.5 { 0.0 } else { 1.0 / (1.0 - 2.0 * q) };
        (a > 0.0 && b > 0.0).then(|| 0.5 * a.ln() + 0.25 * b.ln())
    }

    /// Kimura's formula up to a part of three quarters, then the table.
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
        let of = |differ| Counts { both: 1000, differ, transitions: 0 }.proteins();
        assert_eq!([of(0), of(750), of(930), of(931), of(803)], [Some(0.0), Some(1.95), Some(9.88), None, Some(2.5)]);
        assert!((of(500).unwrap() - 0.798_507_696).abs() < 1e-9);
        assert_eq!(Counts::default().proteins(), Some(0.0));
    }

    #[test]
    fn rows_that_share_no_column_are_not_apart() {
        let part = |a: &[Code], b: &[Code]| {
            let counts = Counts::of(a, b);
            counts.part(counts.differ)
        };
        let columns = Columns::new(
            Alphabet::Dna,
            &[vec![1, 2, PAD, PAD], vec![PAD, PAD, 4, 8], vec![1, 2, 4, 1]],
            Comparison::default(),
        );
        assert_eq!(part(&columns.rows[0], &columns.rows[1]), 0.0);
        assert_eq!(part(&columns.rows[1], &columns.rows[2]), 0.5);
        assert_eq!(part(&[1; 1000], &[2; 1000]), 1.0);
        let pool = crate::engine::thread_pool(2).unwrap();
        let doubts = |rows: &[Vec<Code>], without_gaps| {
            Distances::of_rows(Alphabet::Dna, rows, Comparison { without_gaps, kimura: true }, &pool).1
        };
        let rows = [vec![1, 2, 4, 1], vec![1, 2, PAD, PAD], vec![PAD, PAD, 4, 8], vec![15, 15, 4, 15]];
        // Rows 0 and 2 differ by a transversion in half of their columns, for which Kimura's formula has no number.
        assert_eq!(doubts(&rows, false), Doubts { far: 1, apart: 2, first_apart: Some([1, 2]) });
        assert_eq!(doubts(&rows, true), Doubts { far: 0, apart: 6, first_apart: Some([0, 1]) });
        assert_eq!(doubts(&rows[..2], false), Doubts::default());
    }

    #[test]
    fn nucleotides_are_corrected_by_transitions_and_transversions() {
        let codes = |text: &[u8]| -> Vec<Code> {
            text.iter().map(|&letter| Alphabet::Dna.encode(letter).unwrap_or(PAD)).collect()
        };
        let counts = Counts::of(&codes(b"ACGTACGT-A"), &codes(b"GTACTCGTA-"));
        assert_eq!(counts, Counts { both: 8, differ: 5, transitions: 2 });
        assert_eq!(codes(b"AG"), [1, 4]);
        let of =
            |transitions, versions| Counts { both: 100, differ: transitions + versions, transitions }.nucleotides();
        assert!((of(10, 5).unwrap() - 0.170_181_165).abs() < 1e-9);
        assert_eq!([of(0, 0), of(50, 0), of(0, 50), of(50, 10)], [Some(0.0), None, None, None]);
    }
}
