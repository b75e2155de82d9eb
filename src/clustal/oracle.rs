//! The textbook algorithm: ClustalW's three passes over a pair, cell by cell, with its choices
//! among equal scores.
//!
//! 1. The forward pass computes a local alignment with affine gaps. The first cell with the highest
//!    score, in row order, is the end.
//! 2. The backward pass starts from there. The first cell with the same score is the start.
//! 3. The recursion of Myers and Miller aligns the rectangle between start and end globally.
//!    Opening a gap at the corners is free.

use super::{ClustalCosts, PairIdentities};
use crate::seq::Code;

/// Returns the identities of two sequences in input order.
pub fn identities(first: &[Code], second: &[Code], costs: &ClustalCosts) -> PairIdentities {
    let gaps = ClustalGaps::for_lengths(first.len(), second.len(), costs);
    let pair = OraclePair { first, second, costs, gaps };
    let Some((score, end)) = pair.end() else { return PairIdentities::default() };
    let start = pair.start(score, end);
    let mut identities = 0;
    let part = OraclePart { at: start, sizes: [end[0] - start[0], end[1] - start[1]], openings: [0; 2] };
    pair.align_part(part, &mut identities);
    let to_u32 = |position: [usize; 2]| position.map(|residues| residues as u32);
    PairIdentities { identities, start: to_u32(start), end: to_u32(end) }
}

/// Costs of the gaps of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClustalGaps {
    /// Cost of opening a gap.
    pub open: i32,
    /// Cost of each residue in a gap.
    pub extend: i32,
}

impl ClustalGaps {
    /// Returns the costs for sequences of these lengths.
    pub fn for_lengths(first: usize, second: usize, costs: &ClustalCosts) -> Self {
        ClustalGaps { open: costs.opening(first.min(second) as u32), extend: costs.extension() }
    }

    /// Returns the cost of a gap of `residues` residues whose opening costs `opening`.
    pub(super) fn run(self, residues: usize, opening: i32) -> i32 {
        if residues == 0 { 0 } else { opening + self.extend * residues as i32 }
    }
}

/// A part of the rectangle that the recursion visits.
#[derive(Debug, Clone, Copy)]
struct OraclePart {
    /// Residues before the part, in both sequences.
    at: [usize; 2],
    /// Number of residues in the part, in both sequences.
    sizes: [usize; 2],
    /// Cost of opening a gap at its first corner and at its last corner.
    openings: [i32; 2],
}

struct OraclePair<'a> {
    first: &'a [Code],
    second: &'a [Code],
    costs: &'a ClustalCosts,
    gaps: ClustalGaps,
}

/// Best scores of alignments that end or start at the cells of one row. `gap` covers only
/// alignments with a gap in the second sequence at the cell.
struct OracleRows {
    best: Box<[i32]>,
    gap: Box<[i32]>,
}

impl OraclePair<'_> {
    fn score(&self, row: usize, column: usize) -> i32 {
        self.costs.score(self.first[row], self.second[column])
    }

    /// Returns the highest local score and the number of residues before its end in both sequences,
    /// or `None` if no score is above 0.
    fn end(&self) -> Option<(i32, [usize; 2])> {
        let ClustalGaps { open, extend } = self.gaps;
        let (mut best, mut end) = (0, None);
        let columns = self.second.len();
        let mut rows = OracleRows { best: vec![0; columns].into(), gap: vec![-open; columns].into() };
        for row in 0..self.first.len() {
            let (mut cell, mut before, mut across) = (0, 0, -open);
            for column in 0..columns {
                across = (across - extend).max(cell - open - extend);
                let down = (rows.gap[column] - extend).max(rows.best[column] - open - extend);
                cell = (before + self.score(row, column)).max(across).max(down).max(0);
                before = std::mem::replace(&mut rows.best[column], cell);
                rows.gap[column] = down;
                if cell > best {
                    (best, end) = (cell, Some([row + 1, column + 1]));
                }
            }
        }
        end.map(|end| (best, end))
    }

    /// Returns the number of residues before the start of the alignment with this score and end, in
    /// both sequences. All other end cells have the value -1, so no path from them reaches the
    /// score.
    fn start(&self, score: i32, end: [usize; 2]) -> [usize; 2] {
        let ClustalGaps { open, extend } = self.gaps;
        let mut rows = OracleRows { best: vec![-1; end[1]].into(), gap: vec![-1; end[1]].into() };
        for row in (0..end[0]).rev() {
            let (mut cell, mut across) = (-1, -1);
            let mut before = if row + 1 == end[0] { 0 } else { -1 };
            for column in (0..end[1]).rev() {
                across = (across - extend).max(cell - open - extend);
                let down = (rows.gap[column] - extend).max(rows.best[column] - open - extend);
                cell = (before + self.score(row, column)).max(across).max(down);
                before = std::mem::replace(&mut rows.best[column], cell);
                rows.gap[column] = down;
                if cell >= score {
                    return [row, column];
                }
            }
        }
        [0; 2]
    }

    /// Counts the identities of the alignment that the recursion chooses.
    fn align_part(&self, part: OraclePart, identities: &mut u32) {
        let OraclePart { at, sizes, openings } = part;
        if sizes[0] == 0 || sizes[1] == 0 {
            return;
        }
        if sizes[0] == 1 {
            if let Some(column) = self.one_row(&part) {
                *identities += u32::from(self.first[at[0]] == self.second[at[1] + column]);
            }
            return;
        }
        let middle = sizes[0] / 2;
        let (column, in_gap) = self.row_crossing(&part, middle);
        // A gap across the middle includes the rows on both sides. It continues in both parts
        // without another opening cost.
        let (taken, opening) = if in_gap { (1, 0) } else { (0, self.gaps.open) };
        let head = OraclePart { at, sizes: [middle - taken, column], openings: [openings[0], opening] };
        let tail = OraclePart {
            at: [at[0] + middle + taken, at[1] + column],
            sizes: [sizes[0] - middle - taken, sizes[1] - column],
            openings: [opening, openings[1]],
        };
        self.align_part(head, identities);
        self.align_part(tail, identities);
    }

    /// Returns the column that is aligned with a part's only row, or `None` if the row scores
    /// better in a gap.
    fn one_row(&self, part: &OraclePart) -> Option<usize> {
        let (columns, [head, tail]) = (part.sizes[1], part.openings);
        let run = |residues, opening| self.gaps.run(residues, opening);
        let mut best = (-run(1, head) - run(columns, tail)).max(-run(1, tail) - run(columns, head));
        let mut at = None;
        for column in 0..columns {
            let ends = run(columns - column - 1, tail) + run(column, head);
            let score = self.score(part.at[0], part.at[1] + column) - ends;
            if score > best {
                (best, at) = (score, Some(column));
            }
        }
        at
    }

    /// Returns where the alignment crosses a row: the number of residues of the second sequence
    /// before the crossing, and whether the crossing is inside a gap.
    fn row_crossing(&self, part: &OraclePart, middle: usize) -> (usize, bool) {
        let (columns, open) = (part.sizes[1], self.gaps.open);
        let head = self.sweep([middle, columns], part.openings[0], |row, column| {
            self.score(part.at[0] + row, part.at[1] + column)
        });
        let last = [part.at[0] + part.sizes[0] - 1, part.at[1] + columns - 1];
        let tail = self.sweep([part.sizes[0] - middle, columns], part.openings[1], |row, column| {
            self.score(last[0] - row, last[1] - column)
        });
        let (mut best, mut at, mut in_gap) = (head.best[0] + tail.best[columns], 0, false);
        for column in 0..=columns {
            let other = columns - column;
            let score = head.best[column] + tail.best[other];
            // Among equal sums, take the last column whose alignment ends in a residue pair and
            // continues with a gap.
            let turns = head.best[column] != head.gap[column] && tail.best[other] == tail.gap[other];
            if score > best || score == best && turns {
                (best, at) = (score, column);
            }
        }
        for column in (0..=columns).rev() {
            let score = head.gap[column] + tail.gap[columns - column] + open;
            if score > best {
                (best, at, in_gap) = (score, column, true);
            }
        }
        (at, in_gap)
    }

    /// Returns the scores of global alignments from a corner to the cells of the last row. Opening
    /// a gap at the corner costs `opening`.
    fn sweep(&self, sizes: [usize; 2], opening: i32, score: impl Fn(usize, usize) -> i32) -> OracleRows {
        let ClustalGaps { open, extend } = self.gaps;
        let border = |residues: usize| if residues == 0 { 0 } else { -opening - extend * residues as i32 };
        let best: Box<[i32]> = (0..=sizes[1]).map(border).collect();
        let mut rows = OracleRows { gap: best.iter().map(|cell| cell - open).collect(), best };
        for row in 0..sizes[0] {
            let mut before = std::mem::replace(&mut rows.best[0], border(row + 1));
            let mut across = rows.best[0] - open;
            for column in 1..=sizes[1] {
                across = (across - extend).max(rows.best[column - 1] - open - extend);
                let down = (rows.gap[column] - extend).max(rows.best[column] - open - extend);
                let cell = (before + score(row, column - 1)).max(across).max(down);
                before = std::mem::replace(&mut rows.best[column], cell);
                rows.gap[column] = down;
            }
        }
        rows.gap[0] = rows.best[0];
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROTEINS: [&str; 7] = [
        "KSVPYAIVKYRILLLAVQYPRSNKRATDDVTEVLFDVFVWKWHEGNNAEKAFEESIEIFFVAPTQS",
        "KPSVPYVGKMVKYIYCLCSDAVYNMNKHISLFWSHVWEGCNTFHESIEIFAVAATAS",
        "KPSKYMDYPPSVKRAVCAFVXBZUVTEVLGMVRTVWTAGSVSIEIFRVDSF",
        "KPQSCWHQPAACKYENQLNAEQYNTNSGRPIRRTDGDTEKMAPVSVCNGSEALKEAIENSNVKFPTKQ",
        "KTCVLVQIFALEWQGRCMRATWDTMWYRNTAVYFAAIFEEDIATFDVAIVNFAY",
        "MMLHCIKCHRWEHNQKKHENSERVNLRDIGYWMSTAFNEG",
        "MKV",
    ];

    const NUCLEOTIDES: [&str; 6] = [
        "CGCCAATGTCTACATTCCATTATCCTTAACCGCAGATACGAGTATGTAATTGCACAGATGGATTAGAATATTCATAGTTATATAGTGT",
        "TGTCTTTCTACATTAATTCGGACATTCAATNNRYMGCGCTGATTTACAAGTAGCCACATTGAACAGTTTGGATTAATATAGTTATACCATTGC",
        "TGCCTGTCTTTTATAGTCTTACGATGATGTCTGTGTAACTTCTTCAAGAAGTCAGCAATTCTTTCGAGATAACATTATTTATATGGTGT",
        "GTGTGTTGTGACTTCTATACGCAGTCCGATTTACGGCACACAGCTTGGCACTCTAGTTTAATAAGTCT",
        "AATACCACACTACGGAACTCCCCAGGCGTTGAGGCGCGGGTGGGAGGATA",
        "ACGTN",
    ];

    /// Returns the scores that ClustalW 2.1 prints for all pairs, in its order.
    fn printed(sequences: &[&str], costs: &ClustalCosts) -> Vec<u32> {
        let codes = |letters: &&str| letters.bytes().map(|letter| costs.alphabet().encode(letter).unwrap()).collect();
        let sequences: Vec<Vec<Code>> = sequences.iter().map(codes).collect();
        let pairs = (0..sequences.len()).flat_map(|a| (a + 1..sequences.len()).map(move |b| (a, b)));
        let printed = pairs.map(|(a, b)| {
            let (a, b) = (&sequences[a], &sequences[b]);
            let identities = identities(a, b, costs).identities;
            (100.0 * identities as f32 / a.len().min(b.len()) as f32) as u32
        });
        printed.collect()
    }

    #[test]
    fn scores_match_clustalw_output() {
        let proteins = [21, 11, 12, 7, 10, 0, 11, 8, 14, 15, 0, 7, 7, 2, 33, 3, 12, 33, 7, 33, 33];
        assert_eq!(printed(&PROTEINS, &ClustalCosts::protein()), proteins);
        let nucleotides = [48, 13, 11, 22, 60, 17, 47, 8, 0, 23, 16, 60, 16, 60, 60];
        assert_eq!(printed(&NUCLEOTIDES, &ClustalCosts::dna()), nucleotides);
    }

    #[test]
    fn pairs_without_positive_scores_have_no_alignment() {
        for costs in [ClustalCosts::protein(), ClustalCosts::dna()] {
            let code = |letter| costs.alphabet().encode(letter).unwrap();
            let (a, t) = (code(b'A'), code(b'T'));
            let nothing = PairIdentities::default();
            assert_eq!(identities(&[], &[], &costs), nothing);
            assert_eq!(identities(&[a], &[], &costs), nothing);
            assert_eq!(identities(&[], &[a; 3], &costs), nothing);
            assert_eq!(identities(&[code(b'G'); 3], &[t; 3], &costs), nothing);
            let one = PairIdentities { identities: 1, start: [2, 0], end: [3, 1] };
            assert_eq!(identities(&[t, t, a], &[a], &costs), one);
        }
    }
}
