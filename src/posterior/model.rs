//! Two kinds of models of related sequences. A model of a pair of sequences is a partition function
//! over alignments (Probalign: Roshan and Livesay 2006). For proteins, there are several such models
//! with the scores of Gonnet or the odds of BLOSUM62, and gaps at the ends are free. For nucleotides,
//! the weights come from a pair hidden Markov model, and the first symbol of a gap at an end has a
//! weight. The model of two groups is a hidden Markov model (ProbCons: Do et al. 2005).

use super::tables::{self, Gonnet, RESIDUES};
use crate::seq::{Alphabet, Code};

/// Parameters of both models.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Model {
    alphabet: Alphabet,
    /// Odds of two codes: their frequency in a column relative to chance.
    odds: Vec<f32>,
    /// Weight of two codes: the exponential of their score divided by the temperature.
    weights: Vec<f32>,
    /// Transitions of the hidden Markov model.
    pub(super) chain: GapTransitions,
    /// Weight of the first symbol of a gap in the partition function.
    pub(super) open: f32,
    /// Weight of each further symbol of a gap.
    pub(super) extend: f32,
    /// Weight of a gap at an end of the alignment, whatever its length.
    pub(super) end_gap: f32,
}

/// Transitions of the hidden Markov model. It has one state for matches, and states for short and
/// long gaps in either sequence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct GapTransitions {
    /// Transition probability from a match to a gap of each kind.
    pub(super) open: [f32; 2],
    /// Transition probability from such a gap to itself.
    pub(super) extend: [f32; 2],
}

impl GapTransitions {
    /// Returns the transition probability from a match to a match.
    pub(super) fn match_to_match(&self) -> f32 {
        1.0 - 2.0 * self.open[0] - 2.0 * self.open[1]
    }
}

impl Model {
    /// Returns the first model of an alphabet, or `None` for bytes.
    pub(super) fn new(alphabet: Alphabet) -> Option<Self> {
        match alphabet {
            Alphabet::Protein => Some(Self::gonnet(Gonnet::Pam160, -22.0)),
            Alphabet::Dna => Some(Self::nucleotides()),
            Alphabet::Bytes => None,
        }
    }

    /// Returns all models of an alphabet, or `None` for bytes. Mean probabilities over all models are
    /// more accurate than the probabilities under one model: remote relatives, for example, are
    /// closer to the scores at 250 PAM, and some gaps are short and others long.
    pub(super) fn all(alphabet: Alphabet) -> Option<Vec<Self>> {
        let mut models = vec![Self::new(alphabet)?];
        if alphabet == Alphabet::Protein {
            models.push(Self::gonnet(Gonnet::Pam120, -24.0));
            models.extend([Gonnet::Pam250, Gonnet::Pam350].map(|scores| Self::gonnet(scores, -20.0)));
            models.extend([0, 1].map(Self::blosum));
        }
        Some(models)
    }

    /// Returns the alphabet.
    pub(super) fn alphabet(&self) -> Alphabet {
        self.alphabet
    }

    /// Returns the number of codes of the alphabet.
    pub(super) fn codes(&self) -> usize {
        self.alphabet.size()
    }

    /// Returns, for each code, whether it occurs in one of the sequences.
    pub(super) fn present_codes<'a>(&self, sequences: impl IntoIterator<Item = &'a [Code]>) -> Vec<bool> {
        let mut present = vec![false; self.codes()];
        sequences.into_iter().flatten().for_each(|&code| present[usize::from(code)] = true);
        present
    }

    /// Returns the odds of two codes in the hidden Markov model.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests hold the letters of profiles against it"))]
    pub(super) fn odds(&self, a: Code, b: Code) -> f32 {
        self.odds[usize::from(a) * self.codes() + usize::from(b)]
    }

    /// Returns the weight of two codes in the partition function.
    pub(super) fn weight(&self, a: Code, b: Code) -> f32 {
        self.weights[usize::from(a) * self.codes() + usize::from(b)]
    }

    /// Returns a model of proteins with Gonnet's scores, and with the score `open` of the first
    /// residue of a gap.
    fn gonnet(scores: Gonnet, open: f64) -> Self {
        const EXTEND: f64 = -1.0;
        const TEMPERATURE: f64 = 5.0;
        let frequency = residue_frequencies();
        let means = CodeMeans::new(Alphabet::Protein, meanings, &frequency);
        let scores = means.table(|a, b| scores.score(a, b));
        Model {
            alphabet: Alphabet::Protein,
            odds: means.table(|a, b| tables::joint(a, b) / (frequency[a] * frequency[b])),
            weights: scores.into_iter().map(|score| exp(f64::from(score) / TEMPERATURE) as f32).collect(),
            chain: PROTEIN_GAPS,
            open: exp(open / TEMPERATURE) as f32,
            extend: exp(EXTEND / TEMPERATURE) as f32,
            end_gap: 1.0,
        }
    }

    /// Returns a model of proteins with the odds of BLOSUM62, and with the short (0) or the long (1)
    /// gaps of the hidden Markov model.
    fn blosum(kind: usize) -> Self {
        let GapTransitions { open, extend } = PROTEIN_GAPS;
        let frequency = residue_frequencies();
        let means = CodeMeans::new(Alphabet::Protein, meanings, &frequency);
        let odds = means.table(|a, b| tables::joint(a, b) / (frequency[a] * frequency[b]));
        Model {
            alphabet: Alphabet::Protein,
            weights: odds.clone(),
            odds,
            chain: PROTEIN_GAPS,
            open: open[kind] * (1.0 - extend[kind]),
            extend: extend[kind],
            end_gap: 1.0,
        }
    }

    /// Returns the model of nucleotides. The hidden Markov model of groups is that of ProbCons-RNA.
    fn nucleotides() -> Self {
        let PairParameters { joint, open, extend, end_gap, end_extend } = NUCLEOTIDES;
        // All weights are relative to unrelated sequences, whose symbols each have the probability
        // of a further symbol of a gap at an end. Such gaps then have the same weight for any length.
        let stay = 1.0 - 2.0 * open;
        let frequency = joint.map(|row| row.iter().sum::<f64>());
        let weight =
            |a: usize, b: usize| joint[a][b] / (frequency[a] * frequency[b]) * stay / (end_extend * end_extend);
        Model {
            alphabet: Alphabet::Dna,
            odds: CodeMeans::new(Alphabet::Dna, bases, &BASES).table(|a, b| BASES_JOINT[a][b] / (BASES[a] * BASES[b])),
            weights: CodeMeans::new(Alphabet::Dna, bases, &frequency).table(weight),
            chain: GapTransitions { open: [0.008_247_332, 0.010_784_443], extend: [0.321_046_08, 0.329_822_93] },
            open: (open * (1.0 - extend) / (stay * end_extend)) as f32,
            extend: (extend / end_extend) as f32,
            end_gap: (end_gap * (1.0 - end_extend) / (end_extend * (1.0 - 2.0 * end_gap))) as f32,
        }
    }
}

/// Transitions of proteins in ProbCons.
const PROTEIN_GAPS: GapTransitions =
    GapTransitions { open: [0.011_951_107, 0.008_008_335], extend: [0.396_582_63, 0.898_875_83] };

/// Returns the frequencies of the residues in BLOSUM62.
fn residue_frequencies() -> [f64; 20] {
    std::array::from_fn(|a| (0..20).map(|b| tables::joint(a, b)).sum())
}

/// Means over the residues that codes represent, weighted by the frequencies of the residues.
struct CodeMeans<'a> {
    /// Residues of each code.
    meanings: Vec<Vec<usize>>,
    frequency: &'a [f64],
}

impl<'a> CodeMeans<'a> {
    fn new(alphabet: Alphabet, meanings: impl Fn(Code) -> Vec<usize>, frequency: &'a [f64]) -> Self {
        CodeMeans { meanings: (0..alphabet.size() as Code).map(meanings).collect(), frequency }
    }

    /// Returns the mean value of every two codes.
    fn table(&self, value: impl Fn(usize, usize) -> f64) -> Vec<f32> {
        let mean = |a: &[usize], b: &[usize]| {
            let (mut sum, mut total) = (0.0, 0.0);
            for &a in a {
                for &b in b {
                    sum += self.frequency[a] * self.frequency[b] * value(a, b);
                    total += self.frequency[a] * self.frequency[b];
                }
            }
            if total > 0.0 { sum / total } else { 0.0 }
        };
        let row = |a: &Vec<usize>| self.meanings.iter().map(|b| mean(a, b) as f32).collect::<Vec<_>>();
        self.meanings.iter().flat_map(row).collect()
    }
}

/// Parameters of the pair hidden Markov model of nucleotides.
struct PairParameters {
    /// Joint frequencies of two bases in a column.
    joint: [[f64; 4]; 4],
    /// Transition probability from a match to a gap in one of the sequences.
    open: f64,
    /// Transition probability from a gap to itself.
    extend: f64,
    /// Probability that an end of the alignment has a gap in one of the sequences.
    end_gap: f64,
    /// Transition probability from such a gap to itself.
    end_extend: f64,
}

/// Parameters by maximum likelihood from reference alignments of Rfam families
/// (`benches/train_nucleotides.rs`).
const NUCLEOTIDES: PairParameters = PairParameters {
    joint: [
        [0.142_213_061, 0.031_002_644, 0.045_414_697, 0.037_089_308],
        [0.031_002_644, 0.125_587_148, 0.034_322_591, 0.045_396_283],
        [0.045_414_697, 0.034_322_591, 0.166_803_011, 0.036_172_443],
        [0.037_089_308, 0.045_396_283, 0.036_172_443, 0.106_600_849],
    ],
    open: 0.033_100_919,
    extend: 0.783_126_701,
    end_gap: 0.134_210_767,
    end_extend: 0.934_190_876,
};

/// Frequencies of the bases in ProbCons-RNA.
pub(super) const BASES: [f64; 4] = [0.227_079_004, 0.242_208_004, 0.283_932_000, 0.246_467_993];

/// Joint frequencies of two bases in a column in ProbCons-RNA.
pub(super) const BASES_JOINT: [[f64; 4]; 4] = [
    [0.148_724_005, 0.018_414_300, 0.036_139_701, 0.023_847_399],
    [0.018_414_300, 0.158_391_997, 0.027_553_700, 0.038_929_101],
    [0.036_139_701, 0.027_553_700, 0.197_932_005, 0.024_428_900],
    [0.023_847_399, 0.038_929_101, 0.024_428_900, 0.155_747_995],
];

/// Returns the bases that a code represents.
pub(super) fn bases(code: Code) -> Vec<usize> {
    (0..4).filter(|base| code & 1 << base != 0).collect()
}

/// Returns the residues that a letter of proteins represents. Letters that are not in the tables
/// represent any residue.
pub(super) fn meanings(code: Code) -> Vec<usize> {
    let letters: &[u8] = match Alphabet::Protein.decode(code) {
        b'B' => b"DN",
        b'Z' => b"EQ",
        b'J' => b"IL",
        b'U' => b"C",
        b'O' => b"K",
        letter if RESIDUES.contains(&letter) => &[letter],
        _ => RESIDUES,
    };
    let index = |letter: &u8| RESIDUES.iter().position(|residue| residue == letter);
    letters.iter().filter_map(index).collect()
}

/// Returns e^x for small x. It uses additions and multiplications only, so that results are equal
/// on all platforms.
pub(super) fn exp(x: f64) -> f64 {
    const HALVINGS: i32 = 12;
    let small = x / f64::from(1 << HALVINGS);
    let series = 1.0 + small * (1.0 + small / 2.0 * (1.0 + small / 3.0 * (1.0 + small / 4.0)));
    (0..HALVINGS).fold(series, |power, _| power * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odds_follow_joint_frequencies_and_ambiguous_letters_are_means() {
        let model = Model::new(Alphabet::Protein).unwrap();
        let code = |letter| Alphabet::Protein.encode(letter).unwrap();
        let odds = |a, b| model.odds(code(a), code(b));
        assert!((odds(b'W', b'W') - 38.91).abs() < 0.1, "{}", odds(b'W', b'W'));
        assert_eq!(odds(b'A', b'R'), odds(b'R', b'A'));
        assert!(
            (odds(b'X', b'X') - 1.0).abs() < 1e-3 && (odds(b'X', b'L') - 1.0).abs() < 1e-3,
            "any residue says nothing"
        );
        assert!(odds(b'B', b'D') > odds(b'B', b'E') && odds(b'B', b'D') < odds(b'D', b'D'));
        assert_eq!(odds(b'U', b'C'), odds(b'C', b'C'));
        let weight = model.weight(code(b'C'), code(b'C'));
        assert!((f64::from(weight) - (13.5f64 / 5.0).exp()).abs() < 1e-4, "{weight}");
    }

    #[test]
    fn ambiguous_nucleotides_are_means() {
        let model = Model::new(Alphabet::Dna).unwrap();
        let odds = |a: u8, b: u8| model.odds(Alphabet::Dna.encode(a).unwrap(), Alphabet::Dna.encode(b).unwrap());
        assert!(odds(b'A', b'A') > 2.0 && odds(b'A', b'C') < 1.0 && (odds(b'N', b'N') - 1.0).abs() < 0.01);
        assert!(odds(b'R', b'A') > 1.0 && odds(b'R', b'C') < 1.0);
        let weight = |a: u8, b: u8| model.weight(Alphabet::Dna.encode(a).unwrap(), Alphabet::Dna.encode(b).unwrap());
        assert!(weight(b'G', b'G') > 2.0 && weight(b'A', b'G') > weight(b'A', b'C') && weight(b'A', b'C') < 1.0);
        let any = weight(b'N', b'N');
        assert!((any / weight(b'N', b'A') - 1.0).abs() < 1e-3 && (1.0..1.2).contains(&any), "{any}");
        assert!(Model::new(Alphabet::Bytes).is_none());
    }

    #[test]
    fn exp_is_accurate() {
        for x in [-11.0, -1.0, -1e-3, 0.0, 0.5, 4.0] {
            assert!((exp(x) / f64::exp(x) - 1.0).abs() < 1e-9, "{x}");
        }
    }
}
