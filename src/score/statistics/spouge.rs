//! Spouge's finite-size correction (Park, Sheetlin, Ma, Madden and Spouge 2012), which BLASTP's
//! E-values include since 2.2.26.

use super::matrices::{ProteinMatrix, ProteinParameters};

/// Returns the expected number of pairs of positions in a query and a target where an alignment of
/// this score can start. The lengths that an alignment covers in the two sequences are normal
/// variables, whose means, variances and covariance grow with its score.
pub(super) fn area(matrix: &ProteinMatrix, costs: &ProteinParameters, score: f64, query: u32, target: f64) -> f64 {
    let twice_gap = 2.0 * f64::from(costs.open + costs.extend);
    let mean = costs.a * score + twice_gap * (matrix.ungapped.a - costs.a);
    let spread =
        |slope: f64| (slope * score + twice_gap * (matrix.ungapped.alpha - slope)).max(2.0 * slope / costs.lambda);
    let deviation = spread(costs.alpha).sqrt();
    // Returns the mean length that remains of a sequence, and the probability that some remains.
    let left = |length: f64| {
        let rest = length - mean;
        let at = rest / deviation;
        let probability = 0.5 * complement(-at * std::f64::consts::FRAC_1_SQRT_2);
        (rest * probability + deviation * INVERSE_ROOT * (-0.5 * at * at).exp(), probability)
    };
    let ((query, query_left), (target, target_left)) = (left(f64::from(query)), left(target));
    query * target + spread(costs.sigma) * query_left * target_left
}

/// 1 over the square root of two pi.
const INVERSE_ROOT: f64 = 0.398_942_280_401_432_7;

/// Returns the complementary error function, to about 14 digits even where it is small. It uses the
/// series of the error function near 0 and a continued fraction elsewhere (Abramowitz and Stegun
/// 1964, 7.1.6 and 7.1.14).
fn complement(x: f64) -> f64 {
    // Here the result rounds to 2.
    if x < -6.0 {
        return 2.0;
    }
    if x < 0.0 {
        return 2.0 - complement(-x);
    }
    let bell = (-x * x).exp() * std::f64::consts::FRAC_2_SQRT_PI;
    if x < 2.0 {
        let (mut sum, mut term, mut odd) = (0.0, x, 1.0);
        while term > sum * f64::EPSILON / 8.0 {
            sum += term;
            odd += 2.0;
            term *= 2.0 * x * x / odd;
        }
        1.0 - bell * sum
    } else {
        // The error is about exp(-2 x sqrt(2 terms)).
        let terms = (200.0 / (x * x)) as u32 + 8;
        let fraction = (1..=terms).rev().fold(0.0, |below, n| 0.5 * f64::from(n) / (x + below));
        0.5 * bell / (x + fraction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_function_equals_reference_values() {
        // Computed with Python's math.erfc.
        for (x, expected) in [
            (0.0, 1.0),
            (0.5, 0.4795001221869535),
            (1.0, 0.15729920705028513),
            (1.499, 0.03401396234814331),
            (1.5, 0.033894853524689274),
            (2.0, 0.004677734981047266),
            (1.99, 0.004888586800383003),
            (2.3, 0.0011431765973566523),
            (3.5, 7.430983723414128e-07),
            (5.0, 1.5374597944280351e-12),
            (20.0, 5.3958656116079005e-176),
            (-0.3, 1.3286267594591274),
            (-3.0, 1.9999779095030015),
        ] {
            let computed = complement(x);
            assert!((computed - expected).abs() <= 1e-13 * expected, "{x}: {computed:e} for {expected:e}");
        }
        assert_eq!(complement(40.0), 0.0);
    }
}
