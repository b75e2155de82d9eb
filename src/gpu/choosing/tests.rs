use super::*;

const TRIALS: Trials = Trials { seconds: 0.05, overhead_seconds: 0.2, max_speed_ratio: 1.5 };
/// Cells in a batch.
const BATCH: u64 = 1_000_000;

/// Returns ways with numbers from 0, given their assumed speeds in cells per second.
fn candidates(assumed: &[f64]) -> Vec<CandidateKernel<usize>> {
    let candidate = |(way, &full)| CandidateKernel {
        way,
        work: WorkEstimate { cells: BATCH as f64, ..WorkEstimate::default() },
        assumed: Speed { full, lone: f64::INFINITY },
    };
    assumed.iter().enumerate().map(candidate).collect()
}

/// Computes `batches` batches on a device that reaches `real` cells per second with each way.
/// Returns the chosen ways.
fn compute(chooser: &mut Chooser<usize>, assumed: &[f64], real: &[f64], batches: u64) -> Vec<usize> {
    let candidates = candidates(assumed);
    let mut ways = Vec::new();
    for batch in 1..=batches {
        let index = chooser.pick(&candidates, BATCH, (batches - batch) * BATCH).unwrap();
        chooser.learn(&candidates[index], BATCH as f64 / real[index]);
        ways.push(index);
    }
    ways
}

#[test]
fn long_job_settles_on_the_fastest_way() {
    let mut chooser = Chooser::new(0.005, Some(TRIALS));
    // A batch takes half a second with the first way, on a device that is ten times slower than
    // assumed.
    let ways = compute(&mut chooser, &[2e7, 1.9e7, 1.8e7, 1e7], &[2e6, 1.7e6, 2.5e6, 9e6], 50);
    // The last way is not worth a trial.
    assert_eq!(ways[..5], [0, 1, 2, 2, 2]);
    assert!(ways[5..].iter().all(|&way| way == 2), "{ways:?}");
}

#[test]
fn trial_needs_enough_remaining_work() {
    let tried = |batches, overhead_seconds| {
        let mut chooser = Chooser::new(0.005, Some(Trials { overhead_seconds, ..TRIALS }));
        compute(&mut chooser, &[2e6, 1.9e6], &[2e6, 1.9e6], batches).contains(&1)
    };
    // A batch takes half a second. A trial saves at most a third of the time and costs three
    // quarters of a second.
    assert!(!tried(1, 0.2) && !tried(2, 0.2) && !tried(4, 0.2));
    assert!(tried(10, 0.2) && !tried(10, 2.0) && tried(40, 2.0));
    // No remaining work is announced.
    let (mut chooser, candidates) = (Chooser::new(0.005, Some(TRIALS)), candidates(&[2e6, 1.9e6]));
    for _ in 0..20 {
        assert_eq!(chooser.pick(&candidates, BATCH, 0), Some(0));
        chooser.learn(&candidates[0], 0.5);
        assert_eq!(chooser.trial_seconds(), None);
    }
}

#[test]
fn trial_is_announced_and_small() {
    let mut chooser = Chooser::new(0.005, Some(TRIALS));
    let candidates = candidates(&[2e6, 1.9e6]);
    assert_eq!(chooser.trial_seconds(), None);
    let pick = |chooser: &mut Chooser<usize>| chooser.pick(&candidates, BATCH, 2 * BATCH);
    assert_eq!((pick(&mut chooser), chooser.trial_seconds()), (Some(0), None));
    chooser.learn(&candidates[0], 0.5);
    // One second of work remains: enough for a small trial, but not for a trial of half a second.
    assert_eq!(chooser.trial_seconds(), Some(0.05));
    assert_eq!(pick(&mut chooser), Some(0));
    let small: Vec<CandidateKernel<usize>> = candidates
        .iter()
        .map(|candidate| CandidateKernel {
            work: WorkEstimate { cells: BATCH as f64 / 10.0, ..candidate.work },
            ..*candidate
        })
        .collect();
    assert_eq!(chooser.pick(&small, BATCH / 10, 2 * BATCH), Some(1));
    // During the trial, another batch uses the best way.
    assert_eq!(chooser.trial_seconds(), None);
    assert_eq!(chooser.pick(&small, BATCH / 10, 2 * BATCH), Some(0));
    chooser.learn(&small[1], 0.06);
    assert_eq!((chooser.trial_seconds(), chooser.cheapest(&candidates)), (None, Some(0)));
}

#[test]
fn way_with_too_short_batches_is_tried_three_times() {
    let mut chooser = Chooser::new(0.005, Some(TRIALS));
    let candidates = candidates(&[2e6, 2e6]);
    let mut ways = Vec::new();
    for _ in 0..6 {
        let index = chooser.pick(&candidates, BATCH, 1000 * BATCH).unwrap();
        chooser.learn(&candidates[index], if index == 1 { 0.001 } else { 0.5 });
        ways.push(index);
    }
    assert_eq!(ways, [0, 1, 1, 1, 0, 0]);
}

#[test]
fn without_trials_slow_way_makes_room_for_the_next() {
    let mut chooser = Chooser::new(0.02, None);
    let ways = compute(&mut chooser, &[3e6, 2e6, 1e6], &[1e6, 1.5e6, 5e6], 5);
    assert_eq!(ways, [0, 1, 1, 1, 1]);
    assert_eq!(chooser.trial_seconds(), None);
    let candidates = candidates(&[3e6, 2e6, 1e6]);
    assert_eq!(chooser.speed(&candidates[2]).full, 1e6);
}

#[test]
fn first_of_equal_ways_is_the_cheapest() {
    let chooser = Chooser::new(0.02, None);
    assert_eq!(chooser.cheapest(&candidates(&[1e6, 2e6, 2e6])), Some(1));
    assert_eq!(chooser.cheapest(&candidates(&[])), None);
}

#[test]
fn batches_correct_the_full_rate() {
    let work = |pairs: f64| WorkEstimate { cells: pairs * 1e6, chain: 1e6, dispatches: 1.0, ..WorkEstimate::default() };
    let batch = |pairs| CandidateKernel { way: 0, work: work(pairs), assumed: Speed { full: 1e12, lone: 1e9 } };
    let mut chooser = Chooser::new(0.02, None);
    for _ in 0..20 {
        chooser.learn(&batch(1e6), 4.0);
    }
    let learnt = chooser.speed(&batch(1e6));
    assert!((learnt.seconds(&work(1e6)) / 4.0 - 1.0).abs() < 0.05, "{learnt:?}");
    // A batch of one pair does not measure the full rate, and neither does a very short batch.
    chooser.learn(&batch(1.0), 1.0);
    chooser.learn(&batch(1e6), 0.01);
    assert_eq!(chooser.speed(&batch(1e6)), learnt);
    // A single slow batch changes the rate by a limited factor.
    chooser.learn(&batch(1e6), 4000.0);
    assert_eq!(chooser.speed(&batch(1e6)).full, learnt.full / 2.0);
}

#[test]
fn slower_of_host_and_device_determines_the_price() {
    let speed = Speed { full: 1e6, lone: f64::INFINITY };
    let price =
        |meanwhile_seconds| speed.price(&WorkEstimate { cells: 1e6, meanwhile_seconds, ..WorkEstimate::default() });
    assert_eq!(price(0.0), 1.0);
    assert_eq!(price(0.5), 1.05);
    assert_eq!(price(3.0), 3.1);
}
