//! Comparison with published numbers, with exact probabilities and with plain maximisation.

use super::reversible::{LikelihoodTable, PairCount, ReversibleModel, pair_index};
use super::*;
use crate::tree::tests::threads;

const FREQUENCIES: [f64; 4] = [0.3, 0.15, 0.2, 0.35];
const SHAPES: [Option<f64>; 3] = [None, Some(0.4), Some(2.0)];

fn codes(alphabet: Alphabet, text: &str) -> Vec<Code> {
    text.bytes().map(|letter| alphabet.encode(letter).unwrap_or(crate::seq::PAD)).collect()
}

/// Returns the joint probabilities of two states after this time.
fn joint(model: &ReversibleModel, frequencies: &[f64], time: f64, shape: Option<f64>) -> Vec<f64> {
    let states = frequencies.len();
    let (probabilities, _) = model.probabilities(time, shape);
    probabilities.iter().enumerate().map(|(at, probability)| frequencies[at / states] * probability).collect()
}

/// Returns the exchangeabilities of a model of nucleotides with these rates of A with G, of C with
/// T, and of transversions.
fn exchangeabilities(purines: f64, pyrimidines: f64, transversions: f64) -> [f64; 16] {
    std::array::from_fn(|at| match (at / 4, at % 4) {
        (0, 2) | (2, 0) => purines,
        (1, 3) | (3, 1) => pyrimidines,
        _ => transversions,
    })
}

/// The formulas invert the exact probabilities of their models, whose rates are written down
/// independently.
#[test]
fn closed_formulas_invert_the_probabilities_of_their_models() {
    let (r, y) = (0.5, 0.5);
    let cases = [
        (ModelKind::Jc69, [0.25; 4], exchangeabilities(1.0, 1.0, 1.0)),
        (ModelKind::K80, [0.25; 4], exchangeabilities(3.0, 3.0, 1.0)),
        (ModelKind::F84, FREQUENCIES, exchangeabilities(1.0 + 1.7 / r, 1.0 + 1.7 / y, 1.0)),
        (ModelKind::Tn93, FREQUENCIES, exchangeabilities(4.0, 2.5, 1.0)),
        // The more general model contains the others.
        (ModelKind::Tn93, [0.25; 4], exchangeabilities(1.0, 1.0, 1.0)),
        (ModelKind::F84, [0.25; 4], exchangeabilities(3.0, 3.0, 1.0)),
    ];
    for (kind, frequencies, rates) in cases {
        let model = ReversibleModel::new(&rates, &frequencies);
        for (shape, time) in SHAPES.into_iter().flat_map(|shape| [0.01, 0.3, 1.1].map(|time| (shape, time))) {
            let joint = joint(&model, &frequencies, time, shape);
            let of = |pairs: &[(usize, usize)]| pairs.iter().map(|&(a, b)| 2.0 * joint[a * 4 + b]).sum();
            let parts = DifferenceParts {
                purines: of(&[(0, 2)]),
                pyrimidines: of(&[(1, 3)]),
                transversions: of(&[(0, 1), (0, 3), (1, 2), (2, 3)]),
            };
            let distance = ClosedFormula { kind, shape, frequencies: &frequencies }.distance(parts);
            assert!((distance - time).abs() < 1e-9, "{kind:?} {shape:?} {time}: {distance}");
        }
    }
}

#[test]
fn closed_formulas_give_published_numbers() {
    // Yang (2006), Computational Molecular Evolution, table 1.3: the 12s rRNA genes of human and
    // orangutan with 84 transitions and 6 transversions in 948 columns.
    let parts = DifferenceParts { purines: 0.0, pyrimidines: 84.0 / 948.0, transversions: 6.0 / 948.0 };
    let of = |kind, shape| ClosedFormula { kind, shape, frequencies: &[0.25; 4] }.distance(parts);
    assert!((of(ModelKind::Jc69, None) - 0.1015).abs() < 5e-5);
    assert!((of(ModelKind::K80, None) - 0.1046).abs() < 5e-5);
    let apart = DifferenceParts { transversions: 0.6, ..DifferenceParts::default() };
    for kind in [ModelKind::K80, ModelKind::F84, ModelKind::Tn93] {
        let distance = ClosedFormula { kind, shape: None, frequencies: &FREQUENCIES }.distance(apart);
        assert!(!distance.is_finite(), "{kind:?}");
    }
}

/// Rates are reversible with rows of probabilities, rate 1 at the start and the frequencies at the
/// end.
#[test]
fn models_of_amino_acids_are_reversible_with_rate_one() {
    for model in [empirical::LG, empirical::WAG, empirical::JTT] {
        let sum: f64 = model.frequencies.iter().sum();
        assert!((sum - 1.0).abs() < 2e-6, "{sum}");
        let frequencies: Vec<f64> = model.frequencies.iter().map(|frequency| frequency / sum).collect();
        let reversible = ReversibleModel::from_triangle(model.exchangeabilities, model.frequencies);
        for (time, shape) in [(0.001, None), (0.5, Some(0.7)), (3.0, None)] {
            let joint = joint(&reversible, &frequencies, time, shape);
            for a in 0..20 {
                let row: f64 = joint[a * 20..][..20].iter().sum();
                assert!((row - frequencies[a]).abs() < 1e-12);
                (0..20).for_each(|b| assert!((joint[a * 20 + b] - joint[b * 20 + a]).abs() < 1e-12));
                assert!(joint[a * 20..][..20].iter().all(|&joint| joint > 0.0));
            }
        }
        let (_, slopes) = reversible.probabilities(0.0, None);
        let rate: f64 = (0..20).map(|a| -frequencies[a] * slopes[a * 21]).sum();
        assert!((rate - 1.0).abs() < 1e-12, "{rate}");
        for a in 0..20 {
            for b in (0..20).filter(|&b| b != a) {
                // Ratios of rates are those of the published numbers.
                let published = |a: usize, b: usize| {
                    let (high, low) = (a.max(b), a.min(b));
                    model.exchangeabilities[high * (high - 1) / 2 + low] * frequencies[b]
                };
                let ratio = slopes[a * 20 + b] / slopes[20] * published(1, 0) / published(a, b);
                assert!((ratio - 1.0).abs() < 1e-6, "{a} {b} {ratio}");
            }
        }
    }
}

/// The probabilities after two times follow each other, and gamma rates are the mean over many
/// rates.
#[test]
fn probabilities_obey_chapman_and_kolmogorov() {
    let model = ReversibleModel::new(&exchangeabilities(4.0, 2.5, 1.0), &FREQUENCIES);
    let of = |time| model.probabilities(time, None).0;
    let (first, second, both) = (of(0.2), of(0.5), of(0.7));
    for at in 0..16 {
        let product: f64 = (0..4).map(|k| first[at / 4 * 4 + k] * second[k * 4 + at % 4]).sum();
        assert!((product - both[at]).abs() < 1e-12);
    }
    // A gamma distribution of shape 1 is exponential.
    let steps = 40_000;
    let mut mean = [0.0; 16];
    for step in 0..steps {
        let rate = -(1.0 - (f64::from(step) + 0.5) / f64::from(steps)).ln();
        mean.iter_mut().zip(of(0.4 * rate)).for_each(|(mean, probability)| *mean += probability / f64::from(steps));
    }
    for (mean, exact) in mean.iter().zip(model.probabilities(0.4, Some(1.0)).0) {
        assert!((mean - exact).abs() < 1e-4, "{mean} {exact}");
    }
}

/// Maximises the log-likelihood by sections of the golden ratio.
fn maximum(model: &ReversibleModel, shape: Option<f64>, counts: &[PairCount], states: usize) -> f64 {
    let likelihood = |time: f64| -> f64 {
        let (probabilities, _) = model.probabilities(time, shape);
        let mut sum = 0.0;
        for a in 0..states {
            for b in 0..=a {
                let of_pair = counts.iter().filter(|count| count.pair == pair_index(a, b));
                sum += of_pair.map(|count| count.count * probabilities[a * states + b].ln()).sum::<f64>();
            }
        }
        sum
    };
    let (mut low, mut high) = (1e-6f64.ln(), MAX_DISTANCE.ln());
    let ratio = (5f64.sqrt() - 1.0) / 2.0;
    for _ in 0..60 {
        let (left, right) = (high - ratio * (high - low), low + ratio * (high - low));
        match likelihood(left.exp()) > likelihood(right.exp()) {
            true => high = right,
            false => low = left,
        }
    }
    low.exp()
}

#[test]
fn distances_maximise_the_likelihood() {
    let model = ReversibleModel::from_triangle(empirical::LG.exchangeabilities, empirical::LG.frequencies);
    for shape in SHAPES {
        let table = LikelihoodTable::new(&model, shape);
        for seed in 0..8 {
            let mut random = fastrand::Rng::with_seed(seed);
            let differences = random.usize(1..80);
            let mut counts: Vec<PairCount> =
                (0..20).map(|a| PairCount { pair: pair_index(a, a), count: f64::from(random.u8(1..20)) }).collect();
            for _ in 0..differences {
                let (a, b) = (random.usize(0..20), random.usize(0..20));
                counts.push(PairCount { pair: pair_index(a, b), count: 1.0 });
            }
            let expected = maximum(&model, shape, &counts, 20);
            let actual = table.distance(&counts, MAX_DISTANCE).unwrap();
            // Near the maximum, the likelihood hardly depends on the time.
            assert!((actual / expected - 1.0).abs() < 1e-5, "{shape:?} seed {seed}: {actual} {expected}");
        }
    }
}

/// Under equal rates, the distance of greatest likelihood has a closed formula.
#[test]
fn likelihood_and_formula_agree_under_equal_rates() {
    let model = ReversibleModel::new(&[1.0; 16], &[0.25; 4]);
    for shape in SHAPES {
        let table = LikelihoodTable::new(&model, shape);
        for differ in [1.0, 30.0, 200.0, 500.0] {
            let counts =
                [PairCount { pair: 0, count: 1000.0 - differ }, PairCount { pair: pair_index(0, 3), count: differ }];
            let parts = DifferenceParts { transversions: differ / 1000.0, ..DifferenceParts::default() };
            let formula = ClosedFormula { kind: ModelKind::Jc69, shape, frequencies: &[0.25; 4] }.distance(parts);
            let actual = table.distance(&counts, MAX_DISTANCE).unwrap();
            assert!((actual / formula - 1.0).abs() < 1e-6, "{shape:?} {differ}: {actual} {formula}");
        }
    }
}

/// Rates that are estimated from exact joint probabilities are the model's.
#[test]
fn general_rates_are_estimated_from_joint_counts() {
    let rates = [0.0, 1.0, 4.0, 0.7, 1.0, 0.0, 0.9, 5.0, 4.0, 0.9, 0.0, 1.2, 0.7, 5.0, 1.2, 0.0];
    let model = ReversibleModel::new(&rates, &FREQUENCIES);
    for shape in SHAPES {
        let estimated = ReversibleModel::from_joint(&joint(&model, &FREQUENCIES, 0.4, shape), 4, shape);
        let (actual, expected) = (estimated.probabilities(1.0, None).0, model.probabilities(1.0, None).0);
        actual.iter().zip(&expected).for_each(|(a, b)| assert!((a - b).abs() < 1e-9, "{shape:?} {a} {b}"));
    }
    let without_differences = ReversibleModel::from_joint(&[5.0, 0.0, 0.0, 7.0], 2, None);
    assert!(without_differences.probabilities(1.0, None).0.iter().all(|value| value.is_finite()));
}

#[test]
fn unreliable_pairs_get_finite_distances() {
    let model = |kind, shape| SubstitutionModel { kind, shape };
    let of = |alphabet, texts: &[&str], model| {
        let rows: Vec<Vec<Code>> = texts.iter().map(|text| codes(alphabet, text)).collect();
        distances(alphabet, &rows, model, TreeRun::new(&threads())).unwrap()
    };
    let bases = ["ACGTACGTACGT----", "ACGTACGTACGA----", "CATGCATGCATG--N-", "------------ACGT"];
    for kind in [ModelKind::Jc69, ModelKind::K80, ModelKind::F84, ModelKind::Tn93] {
        for shape in SHAPES {
            let (found, doubts) = of(Alphabet::Dna, &bases, model(kind, shape));
            assert_eq!(doubts, UnreliablePairs { far: 2, apart: 3, first_apart: Some([0, 3]) }, "{kind:?} {shape:?}");
            assert_eq!(found.get(0, 2), MAX_DISTANCE);
            let mean = (found.get(0, 1) + 2.0 * MAX_DISTANCE) / 3.0;
            assert!((found.get(0, 3) - mean).abs() < 1e-12 && found.get(0, 1) < 1.0, "{kind:?} {shape:?}");
        }
    }
    let (found, doubts) = of(Alphabet::Dna, &bases, model(ModelKind::Gtr, Some(1.0)));
    assert_eq!((doubts.apart, doubts.first_apart), (3, Some([0, 3])));
    assert!((0..4).all(|a| (0..a).all(|b| (0.0..=MAX_DISTANCE).contains(&found.get(a, b)))));
    // Letters without a state are ignored.
    let (found, doubts) = of(Alphabet::Protein, &["ACDEFGHX", "ACDEFGHI", "ACDEBGHI"], model(ModelKind::Lg, Some(1.0)));
    assert_eq!((found.get(0, 1), found.get(1, 2), doubts), (0.0, 0.0, UnreliablePairs::default()));
}
