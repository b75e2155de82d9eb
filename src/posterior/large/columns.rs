//! The columns of a profile, prepared for the model of two profiles.

use super::letters::CountedLetters;
use super::math;
use super::profile::CountProfile;
use super::tuning::ProfileTuning;
use crate::posterior::model::GapTransitions;

/// The columns of a profile.
#[derive(Debug, Default)]
pub(super) struct ProfileColumns {
    /// Number of columns.
    pub count: usize,
    /// Probability of each letter in each column, divided by the background frequency of the
    /// letter.
    pub over: Vec<f32>,
    /// Probability of each letter in each column, letter by letter, from column 1 on.
    pub likely: Vec<f32>,
    /// Square root of `share` to the power of `ProfileTuning::thin`, from column 1 on.
    pub root: Vec<f32>,
    /// Fraction of sequences with a residue, from column 1 on.
    pub share: Vec<f32>,
    /// Weight of the first symbol of a gap of each kind, from column 1 on.
    pub open: [Vec<f64>; 2],
    /// Weight of each further symbol of a gap of each kind, from column 1 on.
    pub extend: [Vec<f64>; 2],
    /// Weight of leaving all columns up to this one outside the alignment, from column 0 on.
    pub before: Vec<f64>,
    /// Weight of leaving all columns after this one outside the alignment, from column 0 on.
    pub after: Vec<f64>,
}

impl ProfileColumns {
    /// Computes the columns of a profile.
    pub(super) fn new(
        profile: &CountProfile,
        letters: &CountedLetters,
        chain: &GapTransitions,
        tuning: &ProfileTuning,
    ) -> Self {
        let (columns, stride) = (profile.columns, profile.columns + 1);
        let diversity = profile.diversity(letters.count);
        // The fewer distinct letters a profile has, the larger is the share of inferred letters.
        let guess = tuning.guess / (1.0 + (diversity - 1.0) / tuning.known);
        let mut new = ProfileColumns {
            count: columns,
            over: Vec::with_capacity(columns * letters.count),
            likely: vec![0.0; stride * letters.count],
            root: vec![0.0; stride],
            share: vec![0.0; stride],
            open: std::array::from_fn(|_| vec![0.0; stride]),
            extend: std::array::from_fn(|_| vec![0.0; stride]),
            before: vec![1.0; stride],
            after: vec![1.0; stride],
        };
        let mut outside = vec![1.0; stride];
        let mut before = 0.0;
        for column in 0..columns {
            let counts = &profile.counts[column * letters.count..][..letters.count];
            let total = profile.filled[column].max(f32::MIN_POSITIVE);
            let share = (profile.filled[column] / profile.weight.max(f32::MIN_POSITIVE)).clamp(1e-4, 1.0);
            for letter in 0..letters.count {
                let conditional_root: f32 = (0..letters.count)
                    .map(|from| counts[from] * letters.conditional_root[from * letters.count + letter])
                    .sum();
                let likely = ((1.0 - guess) * counts[letter] + guess * conditional_root) / total;
                new.likely[letter * stride + column + 1] = likely;
                new.over.push(likely / letters.background[letter]);
            }
            new.root[column + 1] = math::power(share, tuning.thin / 2.0);
            new.share[column + 1] = share;
            let gap = math::power(share, tuning.gaps);
            for kind in 0..2 {
                new.open[kind][column + 1] = f64::from(math::power(chain.open[kind], gap));
                // Sequences without a residue in the previous column open a gap here.
                let opened = math::power(chain.open[kind], if gap > before { gap - before } else { 0.0 });
                new.extend[kind][column + 1] = f64::from(math::power(chain.extend[kind], gap) * opened);
            }
            before = gap;
            outside[column + 1] = f64::from(math::power(tuning.outside, gap));
        }
        for column in 1..stride {
            new.before[column] = (new.before[column - 1] * outside[column]).max(1e-250);
            let from_end = stride - column;
            new.after[from_end - 1] = (new.after[from_end] * outside[from_end]).max(1e-250);
        }
        new
    }
}
