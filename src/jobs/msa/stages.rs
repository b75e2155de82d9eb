//! Times of consecutive stages.

use std::time::{Duration, Instant};

/// A clock that divides the time of a job into stages. Each stage starts where the previous one
/// ended, so no time counts twice, and the times of the stages add up to the total.
#[derive(Debug)]
pub(super) struct StageClock {
    started: Instant,
    /// End of the previous stage.
    last: Instant,
}

impl StageClock {
    pub(super) fn start() -> Self {
        let now = Instant::now();
        StageClock { started: now, last: now }
    }

    /// Ends a stage. Returns its time in seconds.
    pub(super) fn lap(&mut self) -> f64 {
        self.end_stage(Instant::now()).as_secs_f64()
    }

    fn end_stage(&mut self, now: Instant) -> Duration {
        let stage = now - self.last;
        self.last = now;
        stage
    }

    /// Returns the time of all ended stages in seconds.
    pub(super) fn total(&self) -> f64 {
        (self.last - self.started).as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::gpu::adapter::Device;
    use crate::jobs::msa::{MsaMode, MsaSummary, MultiAlign};
    use crate::jobs::{Job, Run};
    use crate::seq::{Alphabet, ReadOptions, read_bytes};
    use crate::tree::TreeMethod;

    #[test]
    fn stages_are_disjoint_parts_of_the_total() {
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let mut clock = StageClock { started: start, last: start };
        let stages = [3, 3, 10].map(|end| clock.end_stage(at(end)).as_secs());
        assert_eq!((stages, clock.total()), ([3, 0, 7], 10.0));
    }

    #[test]
    fn stages_of_every_alignment_add_up_to_its_time() {
        let text = b">a\nMKTAYIAKQRQISFVKSH\n>b\nMKTAYIKQRQISFVKSW\n>c\nMTAYLAKQRQLSFVKS\n>d\nMKTYIAKQWRQISFKSH\n";
        let sequences = Arc::new(read_bytes("x.fa", text, &ReadOptions::default()).unwrap());
        let accurate = MultiAlign::new(sequences);
        let guided = MultiAlign { tree: Some(TreeMethod::Upgma), ..accurate.clone() };
        let confident = MultiAlign { needs_confidence: true, ..accurate.clone() };
        let clustal = MsaMode::Clustal(crate::profile::ProfileOptions::new(Alphabet::Protein));
        let clustal = MultiAlign { mode: clustal, ..accurate.clone() };
        let masked = MultiAlign { mask: Some(0.0), ..clustal.clone() };
        let run = Run { devices: vec![Device::Cpu], threads: 1, ..Run::default() };
        for job in [accurate, guided, confident, clustal, masked] {
            let summary = job.run(&run, |_| Ok(())).unwrap();
            let MsaSummary { distances, tree_seconds, alignment_seconds, confidence_seconds, seconds, .. } = summary;
            let stages = [distances.seconds, tree_seconds, alignment_seconds, confidence_seconds];
            assert!(stages.iter().all(|&stage| stage >= 0.0), "{stages:?}");
            assert!((stages.iter().sum::<f64>() - seconds).abs() < 1e-6, "{stages:?} {seconds}");
        }
    }
}
