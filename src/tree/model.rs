//! Distances under models of substitution: the expected number of substitutions per site.
//!
//! Closed formulas give the distances of JC69, K80, F84 and TN93. The distances of GTR and of the
//! models of amino acids maximise the likelihood of the pair.

mod empirical;
mod reversible;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use self::reversible::{LikelihoodTable, PairCount, ReversibleModel, pair_index};
use super::{Distances, TreeRun, UnreliablePairs};
use crate::error::Result;
use crate::seq::{Alphabet, Code};

/// Greatest distance under a model, in substitutions per site. Greater and undefined distances are
/// replaced by it.
pub const MAX_DISTANCE: f64 = 5.0;

/// Models of substitution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelKind {
    /// Equal rates (Jukes and Cantor 1969).
    Jc69,
    /// Transitions and transversions (Kimura 1980).
    K80,
    /// As K80, with the frequencies of bases (Felsenstein 1984; formula of Tateno, Takezaki and Nei
    /// 1994).
    F84,
    /// Two kinds of transitions, and transversions, with the frequencies of bases (Tamura and Nei
    /// 1993).
    Tn93,
    /// All reversible rates, estimated from the joint counts of all pairs (Waddell and Steel 1997).
    Gtr,
    /// Amino acids (Le and Gascuel 2008).
    Lg,
    /// Amino acids (Whelan and Goldman 2001).
    Wag,
    /// Amino acids (Jones, Taylor and Thornton 1992).
    Jtt,
}

/// A model of substitution and the distribution of its rates over sites.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SubstitutionModel {
    /// The model.
    pub kind: ModelKind,
    /// Shape of the gamma distribution of the rates of sites, greater than 0; `None` for equal
    /// rates.
    pub shape: Option<f64>,
}

impl ModelKind {
    /// Returns the alphabet of the model.
    pub fn alphabet(self) -> Alphabet {
        match self {
            ModelKind::Lg | ModelKind::Wag | ModelKind::Jtt => Alphabet::Protein,
            _ => Alphabet::Dna,
        }
    }

    /// Returns whether the distance has no closed formula.
    pub fn is_numerical(self) -> bool {
        matches!(self, ModelKind::Gtr | ModelKind::Lg | ModelKind::Wag | ModelKind::Jtt)
    }
}

/// The letters of an alignment as states of a model.
struct StateRows {
    states: usize,
    /// State of each column; the number of states for a gap and for letters without a state.
    rows: Vec<Vec<u8>>,
    /// Columns with a state, and the state, for each row.
    present: Vec<Vec<(u32, u8)>>,
}

impl StateRows {
    fn new(alphabet: Alphabet, rows: &[Vec<Code>]) -> Self {
        let letters: &[u8] = if alphabet == Alphabet::Dna { b"ACGT" } else { empirical::AMINO_ACIDS };
        let states = letters.len();
        let mut of_code = vec![states as u8; alphabet.size()];
        for (state, &letter) in (0..).zip(letters) {
            of_code[alphabet.encode(letter).expect("a letter of the alphabet") as usize] = state;
        }
        let rows: Vec<Vec<u8>> =
            rows.iter().map(|row| row.iter().map(|&code| of_code[code as usize]).collect()).collect();
        let present_in = |row: &Vec<u8>| {
            (0..).zip(row).filter(|&(_, &state)| (state as usize) < states).map(|(at, &state)| (at, state)).collect()
        };
        let present = rows.iter().map(present_in).collect();
        StateRows { states, rows, present }
    }

    /// Returns the number of columns with each pair of states in two rows, as an upper and a lower
    /// triangle. Columns with a gap are in an additional row and column.
    fn counts(&self, a: usize, b: usize) -> StateCounts {
        let width = self.states + 1;
        let mut counts = [0u32; 21 * 21];
        let other = &self.rows[b];
        for &(column, state) in &self.present[a] {
            counts[state as usize * width + other[column as usize] as usize] += 1;
        }
        StateCounts { states: self.states, counts }
    }

    /// Returns the frequencies of the states in all rows. Each state counts at least once.
    fn frequencies(&self) -> Vec<f64> {
        let mut counts = vec![0u64; self.states];
        self.present.iter().flatten().for_each(|&(_, state)| counts[state as usize] += 1);
        let counts = counts.into_iter().map(|count| count.max(1));
        let sum: u64 = counts.clone().sum();
        counts.map(|count| count as f64 / sum as f64).collect()
    }

    /// Returns the sums of the counts of all pairs, as a symmetric matrix.
    fn joint(&self) -> Vec<f64> {
        let states = self.states;
        let sums = (0..self.rows.len())
            .into_par_iter()
            .map(|a| {
                let mut sums = vec![0u64; states * states];
                for b in 0..a {
                    self.counts(a, b).each(|first, second, count| {
                        sums[first * states + second] += u64::from(count);
                        sums[second * states + first] += u64::from(count);
                    });
                }
                sums
            })
            .reduce(
                || vec![0; states * states],
                |mut sums, more| {
                    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
                    sums
                },
            );
        sums.into_iter().map(|sum| sum as f64).collect()
    }
}

/// Numbers of columns with each pair of states.
struct StateCounts {
    states: usize,
    counts: [u32; 21 * 21],
}

impl StateCounts {
    /// Calls `call` with every pair of states and its number of columns.
    fn each(&self, mut call: impl FnMut(usize, usize, u32)) {
        for first in 0..self.states {
            for second in 0..self.states {
                call(first, second, self.counts[first * (self.states + 1) + second]);
            }
        }
    }

    /// Returns the numbers of columns of unordered pairs of states that occur.
    fn unordered(&self) -> Vec<PairCount> {
        let mut sums = vec![0u32; self.states * (self.states + 1) / 2];
        self.each(|first, second, count| sums[pair_index(first, second)] += count);
        let occurring = sums.into_iter().enumerate().filter(|&(_, count)| count > 0);
        occurring.map(|(pair, count)| PairCount { pair, count: f64::from(count) }).collect()
    }
}

/// Fractions of columns that differ, for nucleotides.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct DifferenceParts {
    /// A and G.
    purines: f64,
    /// C and T.
    pyrimidines: f64,
    transversions: f64,
}

impl DifferenceParts {
    fn new(counts: &StateCounts) -> Self {
        let (mut sums, mut both) = ([0u32; 3], 0);
        counts.each(|first, second, count| {
            both += count;
            // The bases are A, C, G and T, so that transitions differ by two.
            match (first != second, first % 2 == second % 2, first % 2) {
                (true, true, 0) => sums[0] += count,
                (true, true, _) => sums[1] += count,
                (true, false, _) => sums[2] += count,
                (false, ..) => {}
            }
        });
        let [purines, pyrimidines, transversions] = sums.map(|sum| f64::from(sum) / f64::from(both.max(1)));
        DifferenceParts { purines, pyrimidines, transversions }
    }
}

/// Distance by a closed formula from the frequencies of A, C, G and T.
struct ClosedFormula<'a> {
    kind: ModelKind,
    shape: Option<f64>,
    frequencies: &'a [f64],
}

impl ClosedFormula<'_> {
    /// Returns the negative logarithm, or its counterpart if the rates of sites have a gamma
    /// distribution; not finite if the argument is not positive.
    fn logarithm(&self, argument: f64) -> f64 {
        match self.shape {
            _ if argument <= 0.0 => f64::INFINITY,
            None => -argument.ln(),
            Some(shape) => shape * (-argument.ln() / shape).exp_m1(),
        }
    }

    /// Returns the distance; not finite if the formula is undefined.
    fn distance(&self, parts: DifferenceParts) -> f64 {
        let DifferenceParts { purines, pyrimidines, transversions } = parts;
        let transitions = purines + pyrimidines;
        let [a, c, g, t] = self.frequencies[..] else { unreachable!("four bases") };
        let (r, y) = (a + g, c + t);
        let log = |argument| self.logarithm(argument);
        match self.kind {
            ModelKind::Jc69 => 0.75 * log(1.0 - (transitions + transversions) / 0.75),
            ModelKind::K80 => {
                0.5 * log(1.0 - 2.0 * transitions - transversions) + 0.25 * log(1.0 - 2.0 * transversions)
            }
            ModelKind::F84 => {
                let (of_groups, of_bases, of_both) = (c * t / y + a * g / r, c * t + a * g, r * y);
                let within = transitions / (2.0 * of_groups)
                    + (of_groups - of_bases) * transversions / (2.0 * of_groups * of_both);
                2.0 * of_groups * log(1.0 - within)
                    - 2.0 * (of_groups - of_bases - of_both) * log(1.0 - transversions / (2.0 * of_both))
            }
            _ => {
                let (of_purines, of_pyrimidines) = (2.0 * a * g / r, 2.0 * c * t / y);
                let rest = 2.0 * (r * y - a * g * y / r - c * t * r / y);
                of_purines * log(1.0 - purines / of_purines - transversions / (2.0 * r))
                    + of_pyrimidines * log(1.0 - pyrimidines / of_pyrimidines - transversions / (2.0 * y))
                    + rest * log(1.0 - transversions / (2.0 * r * y))
            }
        }
    }
}

/// The computation of a pair's distance.
enum Estimate<'a> {
    Closed(ClosedFormula<'a>),
    Likelihood(LikelihoodTable),
}

impl Estimate<'_> {
    /// Returns the distance; `None` if it is undefined or exceeds [`MAX_DISTANCE`].
    fn distance(&self, counts: &StateCounts) -> Option<f64> {
        match self {
            Estimate::Closed(formula) => {
                let distance = formula.distance(DifferenceParts::new(counts));
                // Rounding may give a distance slightly below 0.
                (distance <= MAX_DISTANCE).then_some(distance.max(0.0))
            }
            Estimate::Likelihood(table) => table.distance(&counts.unordered(), MAX_DISTANCE),
        }
    }
}

/// Returns the distances of rows under a model, and the numbers of unreliable ones. Columns where
/// one of two rows has a gap or an ambiguous letter are ignored. Pairs without a common column have
/// the mean distance of all other pairs.
///
/// # Errors
/// [`Error::Interrupted`](crate::Error::Interrupted) if `run` is stopped.
///
/// # Panics
/// Panics if the alphabet is not the model's.
pub(super) fn distances(
    alphabet: Alphabet,
    rows: &[Vec<Code>],
    model: SubstitutionModel,
    run: TreeRun<'_>,
) -> Result<(Distances, UnreliablePairs)> {
    assert_eq!(alphabet, model.kind.alphabet(), "a model of other letters");
    let rows = StateRows::new(alphabet, rows);
    let frequencies = rows.frequencies();
    let SubstitutionModel { kind, shape } = model;
    let of_amino_acids =
        |model: empirical::EmpiricalModel| ReversibleModel::from_triangle(model.exchangeabilities, model.frequencies);
    let reversible = match kind {
        ModelKind::Gtr => Some(ReversibleModel::from_joint(&run.threads.install(|| rows.joint()), rows.states, shape)),
        ModelKind::Lg => Some(of_amino_acids(empirical::LG)),
        ModelKind::Wag => Some(of_amino_acids(empirical::WAG)),
        ModelKind::Jtt => Some(of_amino_acids(empirical::JTT)),
        _ => None,
    };
    let estimate = match reversible {
        Some(model) => Estimate::Likelihood(LikelihoodTable::new(&model, shape)),
        None => Estimate::Closed(ClosedFormula { kind, shape, frequencies: &frequencies }),
    };
    let (far, apart) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let first_apart = Mutex::new(None);
    let mut distances = Distances::filled_in(rows.rows.len(), run, |a, to_earlier| {
        for (b, distance) in to_earlier.iter_mut().enumerate() {
            let counts = rows.counts(a, b);
            let mut both = 0;
            counts.each(|_, _, count| both += count);
            *distance = if both == 0 {
                apart.fetch_add(1, Ordering::Relaxed);
                let mut first = first_apart.lock().unwrap_or_else(PoisonError::into_inner);
                *first = Some(first.map_or([b, a], |first: [usize; 2]| first.min([b, a])));
                f64::NAN
            } else {
                estimate.distance(&counts).unwrap_or_else(|| {
                    far.fetch_add(1, Ordering::Relaxed);
                    MAX_DISTANCE
                })
            };
        }
    });
    run.check()?;
    let apart = apart.into_inner();
    if apart > 0 {
        replace_unknown(&mut distances);
    }
    let first_apart = first_apart.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok((distances, UnreliablePairs { far: far.into_inner(), apart, first_apart }))
}

/// Replaces distances that are not numbers by the mean of the others, or by 0 if there are none.
fn replace_unknown(distances: &mut Distances) {
    let (mut sum, mut known) = (0.0, 0u64);
    for a in 0..distances.sequences() {
        for distance in distances.to_earlier(a).iter().filter(|distance| !distance.is_nan()) {
            sum += distance;
            known += 1;
        }
    }
    let mean = sum / known.max(1) as f64;
    for a in 0..distances.sequences() {
        for b in 0..a {
            if distances.get(a, b).is_nan() {
                distances.set(a, b, mean);
            }
        }
    }
}

#[cfg(test)]
mod tests;
