//! Measures the speed of a way with separate runs when a device is opened for a long job.

use super::{Speed, WorkEstimate};
use crate::error::Result;

/// Smallest and largest growth of a run over the previous one.
const GROWTH: (f64, f64) = (2.0, 32.0);
/// Largest number of units of work in a run.
const MAX_UNITS: u32 = 4096;
/// Number of runs of the smallest work. The first run compiles the kernel and creates its buffers.
const SMALLEST_WORK_RUNS: usize = 3;
/// Smallest fraction of a run's time that is attributed to its chain, even if its dispatches
/// account for all of the time.
const MIN_CHAIN_SHARE: f64 = 0.2;
/// Smallest fraction of a run's time that is attributed to its cells, even if its chain accounts
/// for all of the time.
const MIN_BULK_SHARE: f64 = 0.3;

/// Repeats a run with more and more units of work until a run takes half of `seconds`. `run`
/// receives the number of units and returns the seconds of the run.
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

/// Amount of work in one run of a measurement.
#[derive(Debug, Clone, Copy)]
pub(crate) enum MeasuredLoad {
    /// The smallest work, which measures the chain.
    Lone,
    /// Units of work. Each fills a part of the device.
    Units(u32),
}

/// Measures the speed of a way. The smallest work measures its chain. Work that takes half of
/// `seconds` measures its full rate. `run` returns the amount of work of a run and its seconds in
/// the kernel.
///
/// # Errors
/// Errors of `run`.
pub(crate) fn measure(seconds: f64, mut run: impl FnMut(MeasuredLoad) -> Result<(WorkEstimate, f64)>) -> Result<Speed> {
    let instant = Speed { full: f64::INFINITY, lone: f64::INFINITY };
    let (mut work, mut least) = (WorkEstimate::default(), f64::INFINITY);
    for _ in 0..SMALLEST_WORK_RUNS {
        let (lone, lasted) = run(MeasuredLoad::Lone)?;
        (work, least) = (lone, least.min(lasted));
    }
    let chain_seconds = (least - device_seconds(&instant, &work)).max(MIN_CHAIN_SHARE * least);
    let mut speed = Speed { lone: work.chain / chain_seconds, ..instant };
    grow(seconds, |units| {
        let (work, lasted) = run(MeasuredLoad::Units(units))?;
        let start_seconds = device_seconds(&Speed { full: f64::INFINITY, ..speed }, &work);
        speed.full = work.cells / (lasted - start_seconds).max(MIN_BULK_SHARE * lasted);
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
    fn durations_of_runs_yield_both_rates() {
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
        // The cells of the smallest work count as a part of its chain.
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
