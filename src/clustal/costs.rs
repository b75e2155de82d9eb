//! What letters and gaps cost in ClustalW's pairwise alignments.

use crate::seq::{Alphabet, Code};

/// Codes that a table of scores has rows for; more than any alphabet of residues has.
pub const SIZE: usize = 32;

/// What is taken from scores is less than this: a quarter of what 32 bits hold below 0.
const MOST_COST: i64 = 1 << 29;

/// A matrix as ClustalW has it: the lower triangle, row by row, of letters in an order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Triangle<'a> {
    /// The letters of rows and columns, upper case.
    pub letters: &'a [u8],
    /// Scores of row 0, of row 1 (two of them), and so on.
    pub scores: &'a [i16],
    /// What scores and gaps are multiplied with: 100, but 10 for the Gonnet matrices.
    pub scale: i32,
    /// A further factor of DNA's gap opening and of its extension: 1 for both, but of ClustalW's own DNA matrix.
    pub gap_scales: [f32; 2],
}

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
        Self::new(Alphabet::Dna, &IUB, PairGaps::of(Alphabet::Dna))
    }

    /// ClustalW's for proteins: Gonnet's matrix of 250 PAM.
    pub fn protein() -> Self {
        Self::new(Alphabet::Protein, &GONNET_250, PairGaps::of(Alphabet::Protein))
    }

    /// Of any matrix. Letters that it does not have score 0.
    pub fn new(alphabet: Alphabet, triangle: &Triangle, gaps: PairGaps) -> Self {
        let mut table = Box::new([[0; SIZE]; SIZE]);
        let (mut scores, mut apart) = (triangle.scores.iter(), 0);
        for (row, &a) in triangle.letters.iter().enumerate() {
            for (column, (&b, &score)) in triangle.letters[..=row].iter().zip(scores.by_ref()).enumerate() {
                let score = i32::from(score) * triangle.scale;
                apart += if column < row { score } else { 0 };
                if let (Some(a), Some(b)) = (code(alphabet, a), code(alphabet, b)) {
                    (table[a][b], table[b][a]) = (score, score);
                }
            }
        }
        let (scale, [open_scale, extend_scale]) = (triangle.scale as f32, triangle.gap_scales);
        let (opening, extension) = if alphabet == Alphabet::Dna {
            let (weight, c) = ((gaps.transition * table[1][1] as f32) as i32, 2);
            for other in [b'M', b'N'].iter().filter_map(|&letter| code(alphabet, letter)) {
                (table[c][other], table[other][c]) = (weight, weight);
            }
            let opening = (2.0 * gaps.open * scale * open_scale) as i32;
            (Opening::Fixed(opening), (gaps.extend * scale * extend_scale) as i32)
        } else {
            // ClustalW counts a letter too few, and takes the mean over the rest of the triangle.
            let letters = triangle.letters.len().saturating_sub(1) as i32;
            let average = -((apart as f32 / ((letters * letters - letters) as f32 / 2.0)) as i32);
            (Opening::Grows { open: gaps.open, average, scale: triangle.scale }, (gaps.extend * scale) as i32)
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
        cost < MOST_COST && i64::from(self.most()) * i64::from(shorter) + cost < 1 << 31
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

/// ClustalW's matrix for DNA. U is T in every store.
pub const IUB: Triangle = Triangle {
    letters: b"ABCDGHKMNRSTVWY",
    scores: &[
        10, //
        -9, 10, //
        -9, 10, 10, //
        10, 10, -9, 10, //
        -9, 10, -9, 10, 10, //
        10, 10, 10, 10, -9, 10, //
        -9, 10, -9, 10, 10, 10, 10, //
        10, 10, 10, 10, -9, 10, -9, 10, //
        10, 10, 10, 10, 10, 10, 10, 10, 10, //
        10, 10, -9, 10, 10, 10, 10, 10, 10, 10, //
        -9, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, //
        -9, 10, -9, 10, -9, 10, 10, -9, 10, -9, -9, 10, //
        10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, -9, 10, //
        10, 10, -9, 10, -9, 10, 10, 10, 10, 10, -9, 10, 10, 10, //
        -9, 10, 10, 10, -9, 10, 10, 10, 10, -9, 10, 10, 10, 10, 10, //
    ],
    scale: 100,
    gap_scales: [1.0, 1.0],
};

/// ClustalW's matrix for pairs of proteins.
pub const GONNET_250: Triangle = Triangle {
    letters: b"ABCDEFGHIKLMNPQRSTVWXYZ",
    scores: &[
        24, //
        0, 0, //
        5, 0, 115, //
        -3, 0, -32, 47, //
        0, 0, -30, 27, 36, //
        -23, 0, -8, -45, -39, 70, //
        5, 0, -20, 1, -8, -52, 66, //
        -8, 0, -13, 4, 4, -1, -14, 60, //
        -8, 0, -11, -38, -27, 10, -45, -22, 40, //
        -4, 0, -28, 5, 12, -33, -11, 6, -21, 32, //
        -12, 0, -15, -40, -28, 20, -44, -19, 28, -21, 40, //
        -7, 0, -9, -30, -20, 16, -35, -13, 25, -14, 28, 43, //
        -3, 0, -18, 22, 9, -31, 4, 12, -28, 8, -30, -22, 38, //
        3, 0, -31, -7, -5, -38, -16, -11, -26, -6, -23, -24, -9, 76, //
        -2, 0, -24, 9, 17, -26, -10, 12, -19, 15, -16, -10, 7, -2, 27, //
        -6, 0, -22, -3, 4, -32, -10, 6, -24, 27, -22, -17, 3, -9, 15, 47, //
        11, 0, 1, 5, 2, -28, 4, -2, -18, 1, -21, -14, 9, 4, 2, -2, 22, //
        6, 0, -5, 0, -1, -22, -11, -3, -6, 1, -13, -6, 5, 1, 0, -2, 15, 25, //
        1, 0, 0, -29, -19, 1, -33, -20, 31, -17, 18, 16, -22, -18, -15, -20, -10, 0, 34, //
        -36, 0, -10, -52, -43, 36, -40, -8, -18, -35, -7, -10, -36, -50, -27, -16, -33, -35, -26, 142, //
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, //
        -22, 0, -5, -28, -27, 51, -40, 22, -7, -21, 0, -2, -14, -31, -17, -18, -19, -19, -11, 41, 0, 78, //
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, //
    ],
    scale: 10,
    gap_scales: [1.0, 1.0],
};

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_matrix_without_a_negative_mean_has_its_own_opening() {
        let flat = Triangle { letters: b"ACD", scores: &[5, 1, 5, 1, 1, 5], scale: 100, gap_scales: [1.0, 1.0] };
        let costs = ClustalCosts::new(Alphabet::Protein, &flat, PairGaps { open: 2.5, extend: 0.3, transition: 0.0 });
        assert_eq!((costs.opening(1), costs.opening(7), costs.extension()), (500, 2 * 444, 30));
    }
}
