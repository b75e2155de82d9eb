//! Profiles as the model of two profiles reads them.

use super::letters::Letters;
use super::math;
use super::profile::Profile;
use super::tuning::Tuning;
use crate::posterior::model::Chain;

/// The columns of a profile.
#[derive(Debug, Default)]
pub(super) struct Columns {
    /// How many there are.
    pub count: usize,
    /// Of each column the letters that are likely there, over how frequent they are in general.
    pub over: Vec<f32>,
    /// Of each letter and column how likely it is; from column 1 on.
    pub likely: Vec<f32>,
    /// The root of the share of sequences with a residue; from column 1 on.
    pub root: Vec<f32>,
    /// That share; from column 1 on.
    pub share: Vec<f32>,
    /// What the first and each further column of a gap of a kind weigh; from column 1 on.
    pub open: [Vec<f64>; 2],
    /// As `open`.
    pub extend: [Vec<f64>; 2],
    /// What all columns up to one weigh outside the alignment; with column 0.
    pub before: Vec<f64>,
    /// What all columns after one weigh so.
    pub after: Vec<f64>,
}

impl Columns {
    /// The columns of a profile.
    pub(super) fn new(profile: &Profile, letters: &Letters, chain: &Chain, tuning: &Tuning) -> Self {
        let (columns, stride) = (profile.columns, profile.columns + 1);
        let diversity = profile.diversity(letters.count);
        // The fewer different letters were seen, the more is guessed from them.
        let guess = tuning.guess / (1.0 + (diversity - 1.0) / tuning.known);
        let mut new = Columns {
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
                let halfway: f32 =
                    (0..letters.count).map(|from| counts[from] * letters.halfway[from * letters.count + letter]).sum();
                let likely = ((1.0 - guess) * counts[letter] + guess * halfway) / total;
                new.likely[letter * stride + column + 1] = likely;
                new.over.push(likely / letters.background[letter]);
            }
            new.root[column + 1] = math::power(share, tuning.thin / 2.0);
            new.share[column + 1] = share;
            let gap = math::power(share, tuning.gaps);
            for kind in 0..2 {
                new.open[kind][column + 1] = f64::from(math::power(chain.open[kind], gap));
                // Sequences that had no residue in the column before open a gap here.
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
