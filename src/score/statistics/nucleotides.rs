//! Parameters of local alignments of nucleotides, for the scores and gap costs that BLASTN
//! supports, and its search space.
//!
//! The numbers are from NCBI's `blast_stat.c` (public domain). Scores are divided by their common
//! divisor before they are looked up, and lambda and alpha are divided by it afterwards. Where gaps
//! are so expensive that they are rare by chance, the parameters describe alignments without gaps,
//! which are computed (Karlin and Altschul 1990).

use super::Parameters;

/// Parameters for one pair of gap costs.
#[derive(Debug, Clone, Copy, PartialEq)]
struct NucleotideParameters {
    /// Opening cost: a gap of k symbols costs `open + k * extend`.
    open: i32,
    extend: i32,
    lambda: f64,
    k: f64,
    h: f64,
    alpha: f64,
    beta: f64,
}

/// Parameters for one pair of match and mismatch scores.
struct BaseScores {
    scores: (i32, i32),
    /// Gap costs (open, extend) from which on alignments behave like alignments without gaps.
    ungapped_costs: (i32, i32),
    /// Whether E-values are computed from the next lower even score.
    even: bool,
    /// Parameters for gaps without opening cost whose symbols cost half a match plus a mismatch, as
    /// in megablast.
    greedy: Option<NucleotideParameters>,
    affine: &'static [NucleotideParameters],
}

/// Creates parameters from the costs open and extend and two groups of numbers: lambda, K and H;
/// alpha and beta.
const fn costs(open: i32, extend: i32, [lambda, k, h]: [f64; 3], [alpha, beta]: [f64; 2]) -> NucleotideParameters {
    NucleotideParameters { open, extend, lambda, k, h, alpha, beta }
}

/// All pairs of match and mismatch scores without a common divisor.
const BASE_SCORES: &[BaseScores] = &[
    BaseScores {
        scores: (1, -5),
        ungapped_costs: (3, 3),
        even: false,
        greedy: Some(costs(0, 0, [1.39, 0.747, 1.38], [1.0, 0.0])),
        affine: &[costs(3, 3, [1.39, 0.747, 1.38], [1.0, 0.0])],
    },
    BaseScores {
        scores: (1, -4),
        ungapped_costs: (2, 2),
        even: false,
        greedy: Some(costs(0, 0, [1.383, 0.738, 1.36], [1.02, 0.0])),
        affine: &[
            costs(1, 2, [1.36, 0.67, 1.2], [1.1, 0.0]),
            costs(0, 2, [1.26, 0.43, 0.9], [1.4, -1.0]),
            costs(2, 1, [1.35, 0.61, 1.1], [1.2, -1.0]),
            costs(1, 1, [1.22, 0.35, 0.72], [1.7, -3.0]),
        ],
    },
    BaseScores {
        scores: (2, -7),
        ungapped_costs: (4, 4),
        even: true,
        greedy: Some(costs(0, 0, [0.69, 0.73, 1.34], [0.515, 0.0])),
        affine: &[
            costs(2, 4, [0.68, 0.67, 1.2], [0.55, 0.0]),
            costs(0, 4, [0.63, 0.43, 0.9], [0.7, -1.0]),
            costs(4, 2, [0.675, 0.62, 1.1], [0.6, -1.0]),
            costs(2, 2, [0.61, 0.35, 0.72], [1.7, -3.0]),
        ],
    },
    BaseScores {
        scores: (1, -3),
        ungapped_costs: (2, 2),
        even: false,
        greedy: Some(costs(0, 0, [1.374, 0.711, 1.31], [1.05, 0.0])),
        affine: &[
            costs(2, 2, [1.37, 0.7, 1.2], [1.1, 0.0]),
            costs(1, 2, [1.35, 0.64, 1.1], [1.2, -1.0]),
            costs(0, 2, [1.25, 0.42, 0.83], [1.5, -2.0]),
            costs(2, 1, [1.34, 0.6, 1.1], [1.2, -1.0]),
            costs(1, 1, [1.21, 0.34, 0.71], [1.7, -2.0]),
        ],
    },
    BaseScores {
        scores: (2, -5),
        ungapped_costs: (4, 4),
        even: true,
        greedy: Some(costs(0, 0, [0.675, 0.65, 1.1], [0.6, -1.0])),
        affine: &[
            costs(2, 4, [0.67, 0.59, 1.1], [0.6, -1.0]),
            costs(0, 4, [0.62, 0.39, 0.78], [0.8, -2.0]),
            costs(4, 2, [0.67, 0.61, 1.0], [0.65, -2.0]),
            costs(2, 2, [0.56, 0.32, 0.59], [0.95, -4.0]),
        ],
    },
    BaseScores {
        scores: (1, -2),
        ungapped_costs: (2, 2),
        even: false,
        greedy: Some(costs(0, 0, [1.28, 0.46, 0.85], [1.5, -2.0])),
        affine: &[
            costs(2, 2, [1.33, 0.62, 1.1], [1.2, 0.0]),
            costs(1, 2, [1.3, 0.52, 0.93], [1.4, -2.0]),
            costs(0, 2, [1.19, 0.34, 0.66], [1.8, -3.0]),
            costs(3, 1, [1.32, 0.57, 1.0], [1.3, -1.0]),
            costs(2, 1, [1.29, 0.49, 0.92], [1.4, -1.0]),
            costs(1, 1, [1.14, 0.26, 0.52], [2.2, -5.0]),
        ],
    },
    BaseScores {
        scores: (2, -3),
        ungapped_costs: (6, 4),
        even: true,
        greedy: Some(costs(0, 0, [0.55, 0.21, 0.46], [1.2, -5.0])),
        affine: &[
            costs(4, 4, [0.63, 0.42, 0.84], [0.75, -2.0]),
            costs(2, 4, [0.615, 0.37, 0.72], [0.85, -3.0]),
            costs(0, 4, [0.55, 0.21, 0.46], [1.2, -5.0]),
            costs(3, 3, [0.615, 0.37, 0.68], [0.9, -3.0]),
            costs(6, 2, [0.63, 0.42, 0.84], [0.75, -2.0]),
            costs(5, 2, [0.625, 0.41, 0.78], [0.8, -2.0]),
            costs(4, 2, [0.61, 0.35, 0.68], [0.9, -3.0]),
            costs(2, 2, [0.515, 0.14, 0.33], [1.55, -9.0]),
        ],
    },
    BaseScores {
        scores: (3, -4),
        ungapped_costs: (6, 3),
        even: true,
        greedy: None,
        affine: &[
            costs(6, 3, [0.389, 0.25, 0.56], [0.7, -5.0]),
            costs(5, 3, [0.375, 0.21, 0.47], [0.8, -6.0]),
            costs(4, 3, [0.351, 0.14, 0.35], [1.0, -9.0]),
            costs(6, 2, [0.362, 0.16, 0.45], [0.8, -4.0]),
            costs(5, 2, [0.33, 0.092, 0.28], [1.2, -13.0]),
            costs(4, 2, [0.281, 0.046, 0.16], [1.8, -23.0]),
        ],
    },
    BaseScores {
        scores: (4, -5),
        ungapped_costs: (12, 8),
        even: false,
        greedy: Some(costs(0, 0, [0.22, 0.061, 0.22], [1.0, -15.0])),
        affine: &[
            costs(6, 5, [0.28, 0.21, 0.47], [0.6, -7.0]),
            costs(5, 5, [0.27, 0.17, 0.39], [0.7, -9.0]),
            costs(4, 5, [0.25, 0.1, 0.31], [0.8, -10.0]),
            costs(3, 5, [0.23, 0.065, 0.25], [0.9, -11.0]),
        ],
    },
    BaseScores {
        scores: (1, -1),
        ungapped_costs: (4, 2),
        even: false,
        greedy: None,
        affine: &[
            costs(3, 2, [1.09, 0.31, 0.55], [2.0, -2.0]),
            costs(2, 2, [1.07, 0.27, 0.49], [2.2, -3.0]),
            costs(1, 2, [1.02, 0.21, 0.36], [2.8, -6.0]),
            costs(0, 2, [0.8, 0.064, 0.17], [4.8, -16.0]),
            costs(4, 1, [1.08, 0.28, 0.54], [2.0, -2.0]),
            costs(3, 1, [1.06, 0.25, 0.46], [2.3, -4.0]),
            costs(2, 1, [0.99, 0.17, 0.3], [3.3, -10.0]),
        ],
    },
    BaseScores {
        scores: (3, -2),
        ungapped_costs: (5, 5),
        even: false,
        greedy: None,
        affine: &[costs(5, 5, [0.208, 0.03, 0.072], [2.9, -47.0])],
    },
    BaseScores {
        scores: (5, -4),
        ungapped_costs: (25, 10),
        even: false,
        greedy: None,
        affine: &[costs(10, 6, [0.163, 0.068, 0.16], [1.0, -19.0]), costs(8, 6, [0.146, 0.039, 0.11], [1.3, -29.0])],
    },
];

/// Parameters of alignments under one scheme.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct NucleotideStatistics {
    pub(super) ungapped: Parameters,
    pub(super) gapped: Parameters,
    /// Parameters of the length adjustment.
    pub(super) alpha: f64,
    pub(super) beta: f64,
    /// Whether E-values are computed from the next lower even score.
    pub(super) even: bool,
}

impl NucleotideStatistics {
    /// Returns the parameters for a match score, a mismatch score, and gaps of k symbols that cost
    /// `open + k * extend`.
    pub(super) fn find(match_score: i32, mismatch_score: i32, open: i32, extend: i32) -> Option<Self> {
        let divisor = common_divisor(match_score, mismatch_score);
        let scores = (match_score.checked_div(divisor)?, mismatch_score / divisor);
        let pair = BASE_SCORES.iter().find(|pair| pair.scores == scores)?;
        let is_greedy = open == 0 && 2 * i64::from(extend) == i64::from(match_score) - 2 * i64::from(mismatch_score);
        let has_costs =
            |costs: &&NucleotideParameters| (costs.open * divisor, costs.extend * divisor) == (open, extend);
        let row = pair.affine.iter().find(has_costs).or(pair.greedy.as_ref().filter(|_| is_greedy));
        let ungapped = ungapped(match_score, mismatch_score);
        let times = f64::from(divisor);
        let (gapped, alpha, beta) = match row {
            Some(costs) => {
                (Parameters { lambda: costs.lambda / times, k: costs.k, h: costs.h }, costs.alpha / times, costs.beta)
            }
            None if open >= pair.ungapped_costs.0 * divisor && extend >= pair.ungapped_costs.1 * divisor => {
                let beta = if matches!((match_score, mismatch_score), (1, -1) | (2, -3)) { -2.0 } else { 0.0 };
                (ungapped, ungapped.lambda / ungapped.h, beta)
            }
            None => return None,
        };
        Some(NucleotideStatistics { ungapped, gapped, alpha, beta, even: pair.even })
    }
}

fn common_divisor(a: i32, b: i32) -> i32 {
    let (mut a, mut b) = (a.saturating_abs(), b.saturating_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Probability that two random bases match. All bases are equally frequent.
const MATCH: f64 = 0.25;
const MISMATCH: f64 = 0.75;

/// Returns the parameters of alignments of random bases without gaps. `match_score` must be
/// positive and the mean score negative.
fn ungapped(match_score: i32, mismatch_score: i32) -> Parameters {
    let divisor = common_divisor(match_score, mismatch_score);
    let (gain, loss) = (match_score / divisor, -mismatch_score / divisor);
    // The computation is in units of the divisor.
    let lambda = decay(gain, loss);
    let (up, down) = (f64::from(gain), f64::from(loss));
    let h = lambda * (up * MATCH * (lambda * up).exp() - down * MISMATCH * (-lambda * down).exp());
    let k = match (gain, loss) {
        (1, 1) => (MISMATCH - MATCH).powi(2) / MISMATCH,
        (1, _) => h / lambda * -(-lambda).exp_m1(),
        (_, 1) => (up * MATCH - MISMATCH).powi(2) / (h / lambda) * -(-lambda).exp_m1(),
        _ => (-2.0 * ungapped_sum(gain, loss, lambda, divisor > 1)).exp() / (h / lambda * -(-lambda).exp_m1()),
    };
    Parameters { lambda: lambda / f64::from(divisor), k, h }
}

/// Returns the positive number where the mean of `exp(lambda * score)` is 1. It follows the
/// steps and the accuracy of `Blast_KarlinLambdaNR`, so that the printed digits of E-values agree:
/// Newton's method on the polynomial in `exp(-lambda)`, with bisection where that fails.
fn decay(gain: i32, loss: i32) -> f64 {
    const ACCURACY: f64 = 1e-5;
    let (mut low, mut high) = (0.0, 1.0);
    let mut x = (-0.5f64).exp();
    let (mut value, mut was_newton) = (4.0f64, false);
    for _ in 0..20 {
        let before = value;
        // The polynomial mismatch + ... - x^loss + ... + match x^(loss + gain), and its slope.
        value = MATCH + x.powi(gain) * (MISMATCH * x.powi(loss) - 1.0);
        let slope = MISMATCH * f64::from(gain + loss) * x.powi(gain + loss - 1) - f64::from(gain) * x.powi(gain - 1);
        if value > 0.0 {
            low = x;
        } else if value < 0.0 {
            high = x;
        } else {
            break;
        }
        if high - low < 2.0 * low * (1.0 - high) * ACCURACY {
            x = f64::midpoint(low, high);
            break;
        }
        let step = -value / slope;
        let next = x + step;
        let fails = was_newton && value.abs() > 0.9 * before.abs();
        was_newton = !fails && slope < 0.0 && next > low && next < high;
        if !was_newton {
            x = f64::midpoint(low, high);
            continue;
        }
        x = next;
        if step.abs() < ACCURACY * x * (1.0 - x) {
            break;
        }
    }
    -x.ln()
}

/// Returns a sum over the lengths j of alignments without gaps: the mean of `exp(lambda *
/// min(score, 0))`, divided by j (Karlin and Altschul 1990, appendix). The sum is truncated where
/// `BlastKarlinLHtoK` truncates it. If the scores have a common divisor, that function divides the
/// scores, but looks up their probabilities at distances that are divided too. It therefore misses
/// the match: K is 1.17 for 4/-6, but 0.408 for 2/-3. `without_matches` reproduces this.
fn ungapped_sum(gain: i32, loss: i32, lambda: f64, without_matches: bool) -> f64 {
    let of_match = if without_matches { 0.0 } else { MATCH };
    let (mut sum, mut matches) = (0.0, vec![1.0]);
    for length in 1..=100 {
        // matches[i] is the probability of i matches in `length` pairs of bases.
        let mut next = vec![0.0; matches.len() + 1];
        for (i, probability) in matches.iter().enumerate() {
            next[i] += probability * MISMATCH;
            next[i + 1] += probability * of_match;
        }
        matches = next;
        let term = |(matches, probability): (i32, &f64)| {
            let score = matches * gain - (length - matches) * loss;
            probability * (lambda * f64::from(score.min(0))).exp()
        };
        let term = (0..).zip(&matches).map(term).sum::<f64>() / f64::from(length);
        sum += term;
        if term <= 1e-4 {
            break;
        }
    }
    sum
}
