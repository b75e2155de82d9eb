//! Measurements of a device when it is opened for a long job: the speed of a way, from runs that are made for it.

use super::{Speed, WorkEstimate};
use crate::error::Result;

/// Growth of a run from one to the next, at least and at most.
const GROWTH: (f64, f64) = (2.0, 32.0);
/// Units of work in a run at most.
const MAX_UNITS: u32 = 4096;
/// Runs of the smallest work: the first compiles the kernel and creates its buffers.
const LONE_RUNS: usize = 3;
/// Smallest share of a run's time that counts as the time of its chain, if dispatches should have taken all of it.
const MIN_CHAIN_SHARE: f64 = 0.2;
/// Smallest share of a run's time that counts as the time of its cells, if its chain should have taken all of it.
const MIN_BULK_SHARE: f64 = 0.3;

/// Repeats a run with more and more units of work until one takes half of `seconds`. `run` returns the seconds of a run
/// of so many units.
///
/// # Errors
/// Errors of `run`.
pub(crate) fn grow(seconds: f64, mut run: impl FnMut(u32) -> Result<f64>) -> Result<()> {
    let mut units = 1;
    loop {
        let lasted = run(units)?;
        if lasted >= seconds * 0.5 || units >= MAX_UNITS {
            return Ok(());
        }
        units = (f64::from(units) * (seconds / lasted).clamp(GROWTH.0, GROWTH.1)) as u32;
    }
}

/// One run of a measurement.
#[derive(Debug, Clone, Copy)]
pub(crate) enum MeasuredLoad {
    /// The least work: its time is that of its chain.
    Lone,
    /// So many units of work, each of which fills a part of the device.
    Units(u32),
}

/// Measures the speed of a way: its chain from the least work, then its full rate from as much work as takes half of
/// `seconds`. `run` returns what the run is for the way, and its seconds in the kernel.
///
/// # Errors
/// Errors of `run`.
pub(crate) fn measure(seconds: f64, mut run: impl FnMut(MeasuredLoad) -> Result<(WorkEstimate, f64)>) -> Result<Speed> {
    let instant = Speed { full: f64::INFINITY, lone: f64::INFINITY };
    let (mut work, mut least) = (WorkEstimate::default(), f64::INFINITY);
    for _ in 0..LONE_RUNS {
        let (own, lasted) = run(MeasuredLoad::Lone)?;
        (work, least) = (own, least.min(lasted));
    }
    let chain_seconds = (least - device_seconds(&instant, &work)).max(MIN_CHAIN_SHARE * least);
    let mut speed = Speed { lone: work.chain / chain_seconds, ..instant };
    grow(seconds, |units| {
        let (work, lasted) = run(MeasuredLoad::Units(units))?;
        let beside = device_seconds(&Speed { full: f64::INFINITY, ..speed }, &work);
        speed.full = work.cells / (lasted - beside).max(MIN_BULK_SHARE * lasted);
        Ok(lasted)
    })?;
    Ok(speed)
}

/// Returns the seconds that work takes on the device.
fn device_seconds(speed: &Speed, work: &WorkEstimate) -> f64 {
    speed.seconds(work) - work.host_seconds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_is_measured_from_what_runs_take() {
        let device = Speed { full: 2e9, lone: 1e6 };
        let run = |load| {
            let cells = match load {
                MeasuredLoad::Lone => 1e6,
                MeasuredLoad::Units(units) => 5e8 * f64::from(units),
            };
            let work = WorkEstimate { cells, chain: 1e6, dispatches: 3.0, ..WorkEstimate::default() };
            Ok((work, device.seconds(&work)))
        };
        let measured = measure(10.0, run).unwrap();
        // Cells of the least work count as a part of its chain.
        assert!((measured.lone / device.lone - 1.0).abs() < 1e-3, "{measured:?}");
        assert!((measured.full / device.full - 1.0).abs() < 1e-2, "{measured:?}");
    }

    #[test]
    fn runs_grow_until_one_takes_half_of_the_seconds() {
        let mut units = Vec::new();
        grow(1.0, |count| {
            units.push(count);
            Ok(0.001 * f64::from(count))
        })
        .unwrap();
        assert_eq!(units, [1, 32, 1000]);
        let mut units = Vec::new();
        grow(1.0, |count| {
            units.push(count);
            Ok(1e-9)
        })
        .unwrap();
        assert_eq!(units.last(), Some(&32_768));
    }
}
