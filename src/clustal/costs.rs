//! What letters and gaps cost in ClustalW's pairwise alignments.

use crate::score::clustal::{ClustalMatrix, ClustalTableOptions, letter_code};
use crate::seq::{Alphabet, Code};

/// Codes that a table of scores has rows for; more than any alphabet of residues has.
pub const SIZE: usize = 32;

/// What is taken from scores is less than this: a quarter of what 32 bits hold below 0.
const MAX_COST: i64 = 1 << 29;

/// ClustalW's options for gaps of pairs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairGaps {
    /// `-pwgapopen`.
    pub open: f32,
    /// `-pwgapext`.
    pub extend: f32,
    /// `-transweight`, of which little is left in ClustalW: it weighs C against M and N.
    pub transition: f32,
}

impl PairGaps {
    /// ClustalW's values unless told otherwise.
    pub fn of(alphabet: Alphabet) -> Self {
        let (open, extend) = if alphabet == Alphabet::Dna { (15.0, 6.66) } else { (10.0, 0.1) };
        PairGaps { open, extend, transition: 0.5 }
    }
}

/// Scores of letters, by the codes of the store, and costs of gaps: a gap of k costs opening + k extensions.
#[derive(Debug, Clone, PartialEq)]
pub struct ClustalCosts {
    alphabet: Alphabet,
    table: Box<[[i32; SIZE]; SIZE]>,
    row_most: [i32; SIZE],
    opening: Opening,
    extension: i32,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Opening {
    /// The same for all.
    Fixed(i32),
    /// Of proteins: grows with the logarithm of the shorter length.
    Grows { open: f32, average: i32, scale: i32 },
}

impl ClustalCosts {
    /// ClustalW's for DNA: its IUB matrix.
    pub fn dna() -> Self {
        Self::of(Alphabet::Dna)
    }

    /// ClustalW's for proteins: Gonnet's matrix of 250 PAM.
    pub fn protein() -> Self {
        Self::of(Alphabet::Protein)
    }

    /// ClustalW's of an alphabet.
    pub fn of(alphabet: Alphabet) -> Self {
        let name = if alphabet == Alphabet::Dna { "iub" } else { "gonnet250" };
        let matrix = ClustalMatrix::built_in(name).expect("a matrix of the list");
        Self::new(alphabet, matrix, PairGaps::of(alphabet))
    }

    /// Of any matrix. Letters that it does not have score 0.
    pub fn new(alphabet: Alphabet, matrix: &ClustalMatrix, gaps: PairGaps) -> Self {
        // Gonnet's matrices have tenths in them.
        let is_gonnet = ClustalMatrix::built_in(matrix.name()) == Some(matrix) && matrix.name().starts_with("gonnet");
        Self::scaled(alphabet, matrix, if is_gonnet { 10 } else { 100 }, gaps)
    }

    /// The same with scores and costs of gaps that are so many times as great.
    pub fn scaled(alphabet: Alphabet, matrix: &ClustalMatrix, scale: i32, gaps: PairGaps) -> Self {
        let entries = matrix.table(ClustalTableOptions { scale, negative: true, transitions: None });
        let letters: Vec<Option<u8>> =
            (0..alphabet.size()).map(|code| letter_code(alphabet.decode(code as Code))).collect();
        let mut table = Box::new([[0; SIZE]; SIZE]);
        for (row, &a) in table.iter_mut().zip(&letters) {
            for (score, &b) in row.iter_mut().zip(&letters) {
                if let (Some(a), Some(b)) = (a, b) {
                    *score = entries.score(a, b);
                }
            }
        }
        let times = scale as f32;
        let (opening, extension) = if alphabet == Alphabet::Dna {
            let (weight, c) = ((gaps.transition * table[1][1] as f32) as i32, 2);
            for other in [b'M', b'N'].iter().filter_map(|&letter| code(alphabet, letter)) {
                (table[c][other], table[other][c]) = (weight, weight);
            }
            let is_own = ClustalMatrix::built_in("clustalw") == Some(matrix);
            let [open_scale, extend_scale] = if is_own { [0.6667f32, 0.751] } else { [1.0; 2] };
            let opening = (2.0 * gaps.open * times * open_scale) as i32;
            (Opening::Fixed(opening), (gaps.extend * times * extend_scale) as i32)
        } else {
            (Opening::Grows { open: gaps.open, average: entries.average(), scale }, (gaps.extend * times) as i32)
        };
        let row_most = table.map(|row| row.into_iter().max().unwrap_or(0));
        ClustalCosts { alphabet, table, row_most, opening, extension }
    }

    /// The alphabet whose codes are meant.
    pub fn alphabet(&self) -> Alphabet {
        self.alphabet
    }

    /// The score of two letters.
    #[inline]
    pub fn score(&self, a: Code, b: Code) -> i32 {
        self.table[a as usize % SIZE][b as usize % SIZE]
    }

    /// All scores: those of padding are 0.
    pub fn table(&self) -> &[[i32; SIZE]; SIZE] {
        &self.table
    }

    /// What opening a gap costs in a pair whose shorter sequence has so many residues.
    pub fn opening(&self, shorter: u32) -> i32 {
        match self.opening {
            Opening::Fixed(opening) => opening,
            Opening::Grows { open, average, scale } => {
                let sum = f64::from(open) + f64::from(shorter.max(1)).ln();
                if average <= 0 { 2 * (sum * f64::from(scale)) as i32 } else { (f64::from(2 * average) * sum) as i32 }
            }
        }
    }

    /// What every residue in a gap costs.
    pub fn extension(&self) -> i32 {
        self.extension
    }

    /// The greatest score of a letter and any other.
    #[inline]
    pub fn row_most(&self, code: Code) -> i32 {
        self.row_most[code as usize % SIZE]
    }

    /// The greatest score of two letters; at least 0.
    pub fn most(&self) -> i32 {
        self.table.iter().flatten().copied().max().unwrap_or(0).max(0)
    }

    /// Whether numbers of 32 bits hold all sums of a pair of so many residues: what gaps take off stays above what stands for
    /// no alignment at all in the passes of the CPU, and the greatest score with it within the numbers.
    pub fn holds(&self, rows: u32, columns: u32) -> bool {
        let shorter = rows.min(columns);
        let loss = self.table.iter().flatten().map(|&score| -i64::from(score)).max().unwrap_or(0).max(0);
        let taken =
            4 * i64::from(self.opening(shorter)) + i64::from(self.extension) * (i64::from(rows) + i64::from(columns));
        let cost = taken + loss;
        cost < MAX_COST && i64::from(self.most()) * i64::from(shorter) + cost < 1 << 31
    }

    /// Whether ClustalW knows the letter. It skips J and `*` when it reads proteins, so that a store of sequences that
    /// it is to be compared with has none of them; here they score 0.
    pub fn knows(&self, code: Code) -> bool {
        self.alphabet != Alphabet::Protein || !matches!(self.alphabet.decode(code), b'J' | b'*')
    }
}

fn code(alphabet: Alphabet, letter: u8) -> Option<usize> {
    alphabet.encode(letter).map(usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::SubstitutionMatrix;

    fn scores(costs: &ClustalCosts, pairs: &[&str]) -> Vec<i32> {
        let code = |letter| costs.alphabet().encode(letter).unwrap();
        pairs.iter().map(|pair| costs.score(code(pair.as_bytes()[0]), code(pair.as_bytes()[1]))).collect()
    }

    #[test]
    fn nucleotides_score_as_in_clustalw() {
        let costs = ClustalCosts::dna();
        assert_eq!(scores(&costs, &["AA", "AG", "UT", "NN", "AN", "NA"]), [1000, -900, 1000, 1000, 1000, 1000]);
        assert_eq!(scores(&costs, &["CN", "NC", "CM", "MC", "CY", "WS"]), [500, 500, 500, 500, 1000, -900]);
        assert_eq!((costs.opening(3), costs.opening(3_000_000), costs.extension()), (3000, 3000, 666));
        assert_eq!(costs.most(), 1000);
    }

    #[test]
    fn residues_score_as_in_clustalw() {
        let costs = ClustalCosts::protein();
        assert_eq!(scores(&costs, &["WW", "WC", "AA", "AB", "XX", "UU", "YF"]), [1420, -100, 240, 0, 0, 0, 510]);
        // 2 * 82 * (10 + ln n), cut off.
        assert_eq!([1, 2, 100, 1523].map(|shorter| costs.opening(shorter)), [1640, 1753, 2395, 2841]);
        assert_eq!((costs.extension(), costs.most()), (1, 1420));
        let known = b"AZUOJ*".map(|letter| costs.knows(Alphabet::Protein.encode(letter).unwrap()));
        assert_eq!(known, [true, true, true, true, false, false]);
    }

    #[test]
    fn sums_of_long_pairs_are_beyond_32_bits() {
        let (dna, protein) = (ClustalCosts::dna(), ClustalCosts::protein());
        // An extension of 666 a residue.
        assert!(dna.holds(402_000, 402_000) && dna.holds(10, 800_000) && dna.holds(0, 0));
        assert!(!dna.holds(404_000, 404_000) && !dna.holds(806_200, 10) && !dna.holds(u32::MAX, u32::MAX));
        // A score of 1,420 a pair.
        assert!(protein.holds(1_500_000, 1_500_000) && !protein.holds(1_520_000, 1_520_000));
    }

    #[test]
    fn matrices_by_name_have_scales_of_their_own() {
        let new = |alphabet, name| {
            ClustalCosts::new(alphabet, ClustalMatrix::built_in(name).unwrap(), PairGaps::of(alphabet))
        };
        let own = new(Alphabet::Dna, "clustalw");
        assert_eq!(scores(&own, &["AA", "AG", "NN", "CN"]), [1000, 0, 0, 500]);
        assert_eq!((own.opening(9), own.extension()), (2000, 500));
        let blosum = new(Alphabet::Protein, "blosum30");
        assert_eq!((scores(&blosum, &["WW", "AR"]), blosum.extension()), (vec![2000, -100], 10));
        assert_eq!(new(Alphabet::Protein, "gonnet250"), ClustalCosts::protein());
    }

    #[test]
    fn a_matrix_without_a_negative_mean_has_its_own_opening() {
        let text = b"  A C D\nA 5 1 1\nC 1 5 1\nD 1 1 5\n";
        let flat = ClustalMatrix::from_substitution_matrix(&SubstitutionMatrix::parse("flat", text).unwrap());
        let costs = ClustalCosts::new(Alphabet::Protein, &flat, PairGaps { open: 2.5, extend: 0.3, transition: 0.0 });
        assert_eq!((costs.opening(1), costs.opening(7), costs.extension()), (500, 2 * 444, 30));
    }
}
