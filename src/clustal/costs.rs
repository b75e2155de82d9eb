//! Scores of letters and costs of gaps in ClustalW's pairwise alignments.

use crate::score::clustal::{ClustalMatrix, ClustalTableOptions, letter_code};
use crate::seq::{Alphabet, Code};

/// Number of codes in a score table. No alphabet of residues has more codes.
pub const SIZE: usize = 32;

/// Upper bound on the total that gaps and mismatches may subtract from a score: a quarter of the
/// negative range of an `i32`.
const MAX_COST: i64 = 1 << 29;

/// ClustalW's gap options for pairwise alignments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairGaps {
    /// `-pwgapopen`.
    pub open: f32,
    /// `-pwgapext`.
    pub extend: f32,
    /// `-transweight`. ClustalW uses it only for C against M and N.
    pub transition: f32,
}

impl PairGaps {
    /// Returns ClustalW's default values for an alphabet.
    pub fn for_alphabet(alphabet: Alphabet) -> Self {
        let (open, extend) = if alphabet == Alphabet::Dna { (15.0, 6.66) } else { (10.0, 0.1) };
        PairGaps { open, extend, transition: 0.5 }
    }
}

/// Scores of letters, indexed by the codes of the store, and costs of gaps. A gap of k residues
/// costs opening + k * extension.
#[derive(Debug, Clone, PartialEq)]
pub struct ClustalCosts {
    alphabet: Alphabet,
    table: Box<[[i32; SIZE]; SIZE]>,
    max_row_score: [i32; SIZE],
    opening: Opening,
    extension: i32,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Opening {
    /// One cost for all pairs.
    Fixed(i32),
    /// Cost for proteins, which grows with the logarithm of the shorter sequence's length.
    Grows { open: f32, average: i32, scale: i32 },
}

impl ClustalCosts {
    /// Returns ClustalW's costs for DNA, with its IUB matrix.
    pub fn dna() -> Self {
        Self::for_alphabet(Alphabet::Dna)
    }

    /// Returns ClustalW's costs for proteins, with Gonnet's matrix of 250 PAM.
    pub fn protein() -> Self {
        Self::for_alphabet(Alphabet::Protein)
    }

    /// Returns ClustalW's default costs for an alphabet.
    pub fn for_alphabet(alphabet: Alphabet) -> Self {
        let name = if alphabet == Alphabet::Dna { "iub" } else { "gonnet250" };
        let matrix = ClustalMatrix::built_in(name).expect("a matrix of the list");
        Self::new(alphabet, matrix, PairGaps::for_alphabet(alphabet))
    }

    /// Builds costs from any matrix. Letters that the matrix lacks score 0.
    pub fn new(alphabet: Alphabet, matrix: &ClustalMatrix, gaps: PairGaps) -> Self {
        // Gonnet's matrices have one decimal place.
        let is_gonnet = ClustalMatrix::built_in(matrix.name()) == Some(matrix) && matrix.name().starts_with("gonnet");
        Self::scaled(alphabet, matrix, if is_gonnet { 10 } else { 100 }, gaps)
    }

    /// Builds costs from any matrix, with scores and gap costs multiplied by `scale`.
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
        let max_row_score = table.map(|row| row.into_iter().max().unwrap_or(0));
        ClustalCosts { alphabet, table, max_row_score, opening, extension }
    }

    /// Returns the alphabet that defines the codes.
    pub fn alphabet(&self) -> Alphabet {
        self.alphabet
    }

    /// Returns the score of two letters.
    #[inline]
    pub fn score(&self, a: Code, b: Code) -> i32 {
        self.table[a as usize % SIZE][b as usize % SIZE]
    }

    /// Returns the scores of all pairs of codes. Padding codes score 0.
    pub fn table(&self) -> &[[i32; SIZE]; SIZE] {
        &self.table
    }

    /// Returns the cost of opening a gap in a pair whose shorter sequence has `shorter` residues.
    pub fn opening(&self, shorter: u32) -> i32 {
        match self.opening {
            Opening::Fixed(opening) => opening,
            Opening::Grows { open, average, scale } => {
                let sum = f64::from(open) + f64::from(shorter.max(1)).ln();
                if average <= 0 { 2 * (sum * f64::from(scale)) as i32 } else { (f64::from(2 * average) * sum) as i32 }
            }
        }
    }

    /// Returns the cost of each residue in a gap.
    pub fn extension(&self) -> i32 {
        self.extension
    }

    /// Returns the highest score of a letter with any letter.
    #[inline]
    pub fn max_row_score(&self, code: Code) -> i32 {
        self.max_row_score[code as usize % SIZE]
    }

    /// Returns the highest score of two letters, at least 0.
    pub fn max_pair_score(&self) -> i32 {
        self.table.iter().flatten().copied().max().unwrap_or(0).max(0)
    }

    /// Checks whether all sums of a pair with these lengths fit `i32`. The limits also keep every
    /// score above the minus infinity of the CPU passes.
    pub fn holds(&self, rows: u32, columns: u32) -> bool {
        let shorter = rows.min(columns);
        let loss = self.table.iter().flatten().map(|&score| -i64::from(score)).max().unwrap_or(0).max(0);
        let taken =
            4 * i64::from(self.opening(shorter)) + i64::from(self.extension) * (i64::from(rows) + i64::from(columns));
        let cost = taken + loss;
        cost < MAX_COST && i64::from(self.max_pair_score()) * i64::from(shorter) + cost < 1 << 31
    }

    /// Checks whether ClustalW reads this letter. ClustalW skips J and `*` in proteins, but here
    /// they score 0. Sequences for a comparison with ClustalW must not contain them.
    pub fn is_clustalw_letter(&self, code: Code) -> bool {
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
        assert_eq!(costs.max_pair_score(), 1000);
    }

    #[test]
    fn residues_score_as_in_clustalw() {
        let costs = ClustalCosts::protein();
        assert_eq!(scores(&costs, &["WW", "WC", "AA", "AB", "XX", "UU", "YF"]), [1420, -100, 240, 0, 0, 0, 510]);
        // 2 * 82 * (10 + ln n), truncated.
        assert_eq!([1, 2, 100, 1523].map(|shorter| costs.opening(shorter)), [1640, 1753, 2395, 2841]);
        assert_eq!((costs.extension(), costs.max_pair_score()), (1, 1420));
        let known = b"AZUOJ*".map(|letter| costs.is_clustalw_letter(Alphabet::Protein.encode(letter).unwrap()));
        assert_eq!(known, [true, true, true, true, false, false]);
    }

    #[test]
    fn long_pairs_exceed_32_bits() {
        let (dna, protein) = (ClustalCosts::dna(), ClustalCosts::protein());
        // The extension of 666 per residue limits the length.
        assert!(dna.holds(402_000, 402_000) && dna.holds(10, 800_000) && dna.holds(0, 0));
        assert!(!dna.holds(404_000, 404_000) && !dna.holds(806_200, 10) && !dna.holds(u32::MAX, u32::MAX));
        // The score of 1,420 per pair limits the length.
        assert!(protein.holds(1_500_000, 1_500_000) && !protein.holds(1_520_000, 1_520_000));
    }

    #[test]
    fn named_matrices_have_their_own_scales() {
        let new = |alphabet, name| {
            ClustalCosts::new(alphabet, ClustalMatrix::built_in(name).unwrap(), PairGaps::for_alphabet(alphabet))
        };
        let clustalw = new(Alphabet::Dna, "clustalw");
        assert_eq!(scores(&clustalw, &["AA", "AG", "NN", "CN"]), [1000, 0, 0, 500]);
        assert_eq!((clustalw.opening(9), clustalw.extension()), (2000, 500));
        let blosum = new(Alphabet::Protein, "blosum30");
        assert_eq!((scores(&blosum, &["WW", "AR"]), blosum.extension()), (vec![2000, -100], 10));
        assert_eq!(new(Alphabet::Protein, "gonnet250"), ClustalCosts::protein());
    }

    #[test]
    fn opening_ignores_a_nonpositive_mean() {
        let text = b"  A C D\nA 5 1 1\nC 1 5 1\nD 1 1 5\n";
        let flat = ClustalMatrix::from_substitution_matrix(&SubstitutionMatrix::parse("flat", text).unwrap());
        let costs = ClustalCosts::new(Alphabet::Protein, &flat, PairGaps { open: 2.5, extend: 0.3, transition: 0.0 });
        assert_eq!((costs.opening(1), costs.opening(7), costs.extension()), (500, 2 * 444, 30));
    }
}
