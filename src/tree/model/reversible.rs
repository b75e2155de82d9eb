//! Reversible models of substitution, and distances of maximum likelihood.

/// Number of grid points for a factor of two.
const STEPS_PER_OCTAVE: usize = 16;
/// Binary logarithm of the first grid point.
const FIRST_OCTAVE: i32 = -24;
/// Binary logarithm of the last grid point.
const LAST_OCTAVE: i32 = 8;
/// Number of grid points.
const POINTS: usize = (LAST_OCTAVE - FIRST_OCTAVE) as usize * STEPS_PER_OCTAVE + 1;

/// A reversible model of substitution, scaled to one expected substitution per unit of time.
#[derive(Debug, Clone)]
pub(super) struct ReversibleModel {
    frequencies: Vec<f64>,
    /// Eigenvalues of the rate matrix; all but one are negative.
    eigenvalues: Vec<f64>,
    /// Eigenvectors of the symmetric matrix that is similar to the rate matrix, by columns.
    vectors: Vec<f64>,
}

impl ReversibleModel {
    /// Creates a model from exchangeabilities, which are a symmetric square matrix without a
    /// diagonal, and frequencies, which are scaled to the sum 1.
    pub(super) fn new(exchangeabilities: &[f64], frequencies: &[f64]) -> Self {
        let states = frequencies.len();
        let sum: f64 = frequencies.iter().sum();
        let frequencies: Vec<f64> = frequencies.iter().map(|frequency| frequency / sum).collect();
        let roots: Vec<f64> = frequencies.iter().map(|frequency| frequency.sqrt()).collect();
        let mut symmetric = vec![0.0; states * states];
        let mut total = 0.0;
        for a in 0..states {
            for b in (0..states).filter(|&b| b != a) {
                let rate = exchangeabilities[a * states + b];
                symmetric[a * states + b] = rate * roots[a] * roots[b];
                symmetric[a * states + a] -= rate * frequencies[b];
                total += frequencies[a] * rate * frequencies[b];
            }
        }
        symmetric.iter_mut().for_each(|rate| *rate /= total);
        let (eigenvalues, vectors) = eigen(&mut symmetric, states);
        ReversibleModel { frequencies, eigenvalues, vectors }
    }

    /// Creates the model of amino acids from a lower triangle of exchangeabilities.
    pub(super) fn from_triangle(triangle: &[f64], frequencies: &[f64]) -> Self {
        let states = frequencies.len();
        let mut square = vec![0.0; states * states];
        for a in 1..states {
            for b in 0..a {
                square[a * states + b] = triangle[a * (a - 1) / 2 + b];
                square[b * states + a] = triangle[a * (a - 1) / 2 + b];
            }
        }
        ReversibleModel::new(&square, frequencies)
    }

    /// Creates a model from the joint counts of two states, which are a symmetric square matrix:
    /// the logarithm of the matrix of probabilities (Waddell and Steel 1997). `shape` is the shape
    /// of the gamma distribution of the rates of sites, if there is one.
    pub(super) fn from_joint(joint: &[f64], states: usize, shape: Option<f64>) -> Self {
        // A state that never occurs counts as one column.
        let is_missing = |state: usize| joint[state * states..][..states].iter().all(|&count| count == 0.0);
        let mut joint = joint.to_vec();
        (0..states).filter(|&state| is_missing(state)).for_each(|state| joint[state * states + state] = 1.0);
        let total: f64 = joint.iter().sum();
        let frequencies: Vec<f64> = joint.chunks_exact(states).map(|row| row.iter().sum::<f64>() / total).collect();
        let root = |a: usize, b: usize| (frequencies[a] * frequencies[b]).sqrt();
        let at_root = |at: usize| joint[at] / total / root(at / states, at % states);
        let mut symmetric: Vec<f64> = (0..states * states).map(at_root).collect();
        let (values, vectors) = eigen(&mut symmetric, states);
        let logarithm = |&value: &f64| {
            let log = value.clamp(1e-3, 1.0).ln();
            shape.map_or(log, |shape| -shape * (-log / shape).exp_m1())
        };
        let logs: Vec<f64> = values.iter().map(logarithm).collect();
        let mut rates = vec![0.0; states * states];
        for a in 0..states {
            for b in (0..states).filter(|&b| b != a) {
                let rate: f64 = (0..states).map(|k| vectors[a * states + k] * logs[k] * vectors[b * states + k]).sum();
                rates[a * states + b] = rate / root(a, b);
            }
        }
        // Errors of sampling may give rates below 0. Without differences, all rates are 0.
        let greatest = rates.iter().copied().fold(0.0, f64::max);
        let least = if greatest > 0.0 { 1e-4 * greatest } else { 1.0 };
        for at in (0..states * states).filter(|at| at / states != at % states) {
            rates[at] = rates[at].max(least);
        }
        ReversibleModel::new(&rates, &frequencies)
    }

    pub(super) fn states(&self) -> usize {
        self.frequencies.len()
    }

    /// Returns the probabilities that each state becomes each other within this time, and their
    /// derivatives. If `shape` is given, rates of sites have a gamma distribution of this shape and
    /// mean 1. The matrices are square, and rows are the first states.
    pub(super) fn probabilities(&self, time: f64, shape: Option<f64>) -> (Vec<f64>, Vec<f64>) {
        let states = self.states();
        let decays: Vec<(f64, f64)> = self.eigenvalues.iter().map(|&value| decay(value, time, shape)).collect();
        let (mut probabilities, mut slopes) = (Vec::new(), Vec::new());
        for a in 0..states {
            for b in 0..states {
                let scale = (self.frequencies[b] / self.frequencies[a]).sqrt();
                let (mut change, mut slope) = (0.0, 0.0);
                for (index, (minus_one, derivative)) in decays.iter().enumerate() {
                    let weight = self.vectors[a * states + index] * self.vectors[b * states + index];
                    change += weight * minus_one;
                    slope += weight * derivative;
                }
                probabilities.push(f64::from(u8::from(a == b)) + scale * change);
                slopes.push(scale * slope);
            }
        }
        (probabilities, slopes)
    }
}

/// Returns the mean of exp(eigenvalue * rate * time) over the rates, minus 1, and its derivative
/// by time.
fn decay(eigenvalue: f64, time: f64, shape: Option<f64>) -> (f64, f64) {
    match shape {
        None => ((eigenvalue * time).exp_m1(), eigenvalue * (eigenvalue * time).exp()),
        Some(shape) => {
            let log = (-eigenvalue * time / shape).ln_1p();
            ((-shape * log).exp_m1(), eigenvalue * (-(shape + 1.0) * log).exp())
        }
    }
}

/// Returns the eigenvalues and, by columns, the eigenvectors of a symmetric matrix, by Jacobi's
/// rotations.
fn eigen(matrix: &mut [f64], size: usize) -> (Vec<f64>, Vec<f64>) {
    let mut vectors = vec![0.0; size * size];
    (0..size).for_each(|at| vectors[at * size + at] = 1.0);
    let scale: f64 = matrix.iter().map(|value| value * value).sum();
    for _ in 0..100 {
        let pairs = (0..size).flat_map(|p| (p + 1..size).map(move |q| (p, q)));
        if pairs.clone().map(|(p, q)| matrix[p * size + q].powi(2)).sum::<f64>() <= 1e-32 * scale {
            break;
        }
        for (p, q) in pairs {
            let off = matrix[p * size + q];
            if off == 0.0 {
                continue;
            }
            let theta = (matrix[q * size + q] - matrix[p * size + p]) / (2.0 * off);
            let tangent = theta.signum() / (theta.abs() + theta.hypot(1.0));
            let cosine = 1.0 / tangent.hypot(1.0);
            let sine = tangent * cosine;
            for k in 0..size {
                let (x, y) = (matrix[k * size + p], matrix[k * size + q]);
                (matrix[k * size + p], matrix[k * size + q]) = (cosine * x - sine * y, sine * x + cosine * y);
            }
            for k in 0..size {
                let (x, y) = (matrix[p * size + k], matrix[q * size + k]);
                (matrix[p * size + k], matrix[q * size + k]) = (cosine * x - sine * y, sine * x + cosine * y);
                let (x, y) = (vectors[k * size + p], vectors[k * size + q]);
                (vectors[k * size + p], vectors[k * size + q]) = (cosine * x - sine * y, sine * x + cosine * y);
            }
        }
    }
    ((0..size).map(|at| matrix[at * size + at]).collect(), vectors)
}

/// Returns the index of an unordered pair of states.
pub(super) fn pair_index(a: usize, b: usize) -> usize {
    let (low, high) = (a.min(b), a.max(b));
    high * (high + 1) / 2 + low
}

/// Derivatives of the logarithms of probabilities, tabulated over times.
pub(super) struct LikelihoodTable {
    /// Number of unordered pairs of states.
    pairs: usize,
    /// For each grid point and pair of states, the derivative by the logarithm of time.
    slopes: Vec<f64>,
}

/// Number of columns with a pair of states.
#[derive(Debug, Clone, Copy)]
pub(super) struct PairCount {
    /// Pair of states, by [`pair_index`].
    pub pair: usize,
    pub count: f64,
}

impl LikelihoodTable {
    pub(super) fn new(model: &ReversibleModel, shape: Option<f64>) -> Self {
        let states = model.states();
        let pairs = states * (states + 1) / 2;
        let mut slopes = vec![0.0; POINTS * pairs];
        for (point, row) in slopes.chunks_exact_mut(pairs).enumerate() {
            let time = time_at(point as f64);
            let (probabilities, derivatives) = model.probabilities(time, shape);
            for a in 0..states {
                for b in 0..=a {
                    let at = a * states + b;
                    row[pair_index(a, b)] = time * derivatives[at] / probabilities[at];
                }
            }
        }
        LikelihoodTable { pairs, slopes }
    }

    /// Returns the derivative of the log-likelihood by the logarithm of the distance at a grid
    /// point.
    fn slope(&self, counts: &[PairCount], point: usize) -> f64 {
        let row = &self.slopes[point * self.pairs..][..self.pairs];
        counts.iter().map(|count| count.count * row[count.pair]).sum()
    }

    /// Returns the distance of maximum likelihood; `None` if it exceeds `most`.
    pub(super) fn distance(&self, counts: &[PairCount], most: f64) -> Option<f64> {
        let end = (most.log2() - f64::from(FIRST_OCTAVE)) * STEPS_PER_OCTAVE as f64;
        let (mut low, mut high) = (1, end.ceil() as usize);
        if self.slope(counts, low) <= 0.0 {
            return Some(0.0);
        }
        if self.slope(counts, high) > 0.0 {
            return None;
        }
        while high - low > 1 {
            let middle = (low + high) / 2;
            match self.slope(counts, middle) > 0.0 {
                true => low = middle,
                false => high = middle,
            }
        }
        // The root of the cubic polynomial through four grid points.
        let values = [0, 1, 2, 3].map(|step| self.slope(counts, low + step - 1));
        let (mut left, mut right) = (0.0, 1.0);
        for _ in 0..40 {
            let middle = 0.5 * (left + right);
            match cubic(values, middle) > 0.0 {
                true => left = middle,
                false => right = middle,
            }
        }
        let distance = time_at(low as f64 + left);
        (distance <= most).then_some(distance)
    }
}

fn time_at(point: f64) -> f64 {
    (f64::from(FIRST_OCTAVE) + point / STEPS_PER_OCTAVE as f64).exp2()
}

/// Returns the value at `x` of the cubic polynomial with these values at -1, 0, 1 and 2.
fn cubic(values: [f64; 4], x: f64) -> f64 {
    let [a, b, c, d] = values;
    let (before, after, end) = (x + 1.0, x - 1.0, x - 2.0);
    -a * x * after * end / 6.0 + b * before * after * end / 2.0 - c * before * x * end / 2.0
        + d * before * x * after / 6.0
}
