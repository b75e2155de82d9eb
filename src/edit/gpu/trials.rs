//! Which way to compute patterns of one length is fastest on this device, found out while a long job goes on: words a lane and
//! lanes a pair, as in figures 7 to 9 of Chacon et al. (2014).

use std::collections::HashMap;

use crate::edit::kernels::myers::Variant;

/// Seconds in kernels after which it pays to try other ways.
const AFTER_SECONDS: f64 = 1.0;
/// Seconds of work in a trial.
pub(super) const TRIAL_SECONDS: f64 = 0.05;
/// Seconds that a batch has to take for its speed to tell anything.
const LEAST_SECONDS: f64 = 0.005;

/// The ways to compute what the first of them stands for.
struct Ways {
    variants: Vec<Variant>,
    /// Cells a second; `None` for what was not measured.
    speeds: Vec<Option<f64>>,
    seconds: f64,
}

impl Ways {
    fn untried(&self) -> Option<usize> {
        let is_due = self.seconds >= AFTER_SECONDS;
        self.speeds.iter().skip(1).position(Option::is_none).filter(|_| is_due).map(|place| place + 1)
    }

    fn fastest(&self) -> usize {
        let speed = |place: &usize| self.speeds[*place].unwrap_or(0.0);
        (0..self.speeds.len())
            .max_by(|one, other| speed(one).total_cmp(&speed(other)).then(other.cmp(one)))
            .unwrap_or(0)
    }
}

/// What was tried so far.
#[derive(Default)]
pub(super) struct Trials {
    of: HashMap<Variant, Ways>,
    last: Option<Variant>,
}

impl Trials {
    /// The way to compute a batch for which `usual` is expected to be fastest; `others` gives what else there is.
    pub(super) fn pick(&mut self, usual: Variant, others: impl FnOnce() -> Vec<Variant>) -> Variant {
        let ways = self.of.entry(usual).or_insert_with(|| {
            let variants: Vec<Variant> = [usual].into_iter().chain(others()).collect();
            Ways { speeds: vec![None; variants.len()], variants, seconds: 0.0 }
        });
        self.last = Some(usual);
        ways.variants[ways.untried().unwrap_or_else(|| ways.fastest())]
    }

    /// A batch for which `usual` was expected to be fastest was computed in one way.
    pub(super) fn learn(&mut self, usual: Variant, way: Variant, cells: u64, seconds: f64) {
        let Some(ways) = self.of.get_mut(&usual) else { return };
        ways.seconds += seconds;
        if let Some(place) = ways.variants.iter().position(|variant| *variant == way)
            && seconds >= LEAST_SECONDS
        {
            ways.speeds[place] = Some(cells as f64 / seconds);
        }
    }

    /// Whether the next batch should be small, since another way is tried.
    pub(super) fn is_trying(&self) -> bool {
        self.last.and_then(|usual| self.of.get(&usual)).is_some_and(|ways| ways.untried().is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::kernels::myers::Cooperation;
    use crate::score::EditMode;

    fn variant(lanes: u32) -> Variant {
        let (cooperation, mode) = (Cooperation::Subgroup, EditMode::Infix);
        Variant { cooperation, bits: 2, stride: 4, words: 4, workgroup: 64, lanes, mode, strips: false, row_words: 0 }
    }

    #[test]
    fn a_long_job_ends_with_the_fastest_way() {
        let mut trials = Trials::default();
        let speed = |variant: Variant| [0, 5, 3, 0, 9][variant.lanes as usize] as f64;
        let mut picked = Vec::new();
        for _ in 0..8 {
            let way = trials.pick(variant(1), || vec![variant(2), variant(4)]);
            picked.push((way.lanes, trials.is_trying()));
            trials.learn(variant(1), way, (speed(way) * 0.6) as u64 * 1_000, 0.6);
        }
        let small = picked.iter().map(|(_, small)| *small);
        assert_eq!(small.collect::<Vec<_>>(), [false, false, true, true, false, false, false, false]);
        assert_eq!(picked.iter().map(|(lanes, _)| *lanes).collect::<Vec<_>>(), [1, 1, 2, 4, 4, 4, 4, 4]);
    }

    #[test]
    fn what_was_too_short_to_tell_is_tried_again() {
        let mut trials = Trials::default();
        trials.pick(variant(1), || vec![variant(2)]);
        trials.learn(variant(1), variant(1), 100, 2.0);
        assert_eq!(trials.pick(variant(1), Vec::new), variant(2));
        trials.learn(variant(1), variant(2), 100, 0.001);
        assert_eq!(trials.pick(variant(1), Vec::new), variant(2));
        trials.learn(variant(1), variant(2), 1, 0.1);
        assert_eq!(trials.pick(variant(1), Vec::new), variant(1));
    }
}
