//! Simulations of jobs of different sizes.

use super::*;

/// Creates a job that takes about `seconds` on all ranks, in blocks that take five seconds on the
/// fastest rank.
fn job(ranks: usize, speeds: SimulatedSpeeds, seconds: f64, seed: u64) -> Simulation {
    let speeds = speeds.draw(ranks, &mut SplitMix64::new(seed));
    let block = 5.0 * speeds.iter().copied().fold(0.0, f64::max);
    let blocks = (seconds * speeds.iter().sum::<f64>() / block).ceil();
    Simulation { jitter: 0.1, seed, ..Simulation::without_failures(vec![block as u64; blocks as usize], speeds) }
}

fn counts_once(world: &Simulation, report: &SimulationReport) {
    for block in 0..world.blocks.len() {
        let expected = u32::from(!report.failed_blocks.contains(&block));
        assert_eq!(report.counted[block], expected, "block {block} of {}", world.blocks.len());
    }
}

#[test]
fn one_rank_takes_the_time_of_its_blocks() {
    let world = Simulation::without_failures(vec![100, 200, 300], vec![100.0]);
    let report = world.run();
    assert!((6.0..6.001).contains(&report.seconds), "{report:?}");
    assert!(report.efficiency > 0.999 && report.efficiency <= 1.0);
    assert_eq!((report.messages, report.lost_cells, report.counted), (0, 0.0, vec![1; 3]));
}

#[test]
fn estimate_matches_known_times() {
    assert_eq!(estimate(&[], &[1.0]), 0.0);
    assert_eq!(estimate(&[1], &[]), f64::INFINITY);
    assert_eq!(estimate(&[1], &[0.0, f64::NAN]), f64::INFINITY);
    let blocks = vec![2_000_000_000_000; 1000];
    let one = estimate(&blocks, &[2e12]);
    assert!((1000.0..1000.1).contains(&one), "{one}");
    let two = estimate(&blocks, &[2e12, 2e12]);
    assert!((500.0..501.1).contains(&two), "{two}");
    let mixed = estimate(&blocks, &[2e12, 1e12, 1e11]);
    assert!((645.1..650.0).contains(&mixed), "{mixed}");
    // The estimate for a single block is at most its time on the slow rank.
    assert!(estimate(&[1000], &[1.0, 1000.0]) <= 1000.01);
}

#[test]
fn same_seed_gives_the_same_job() {
    let world = Simulation { deaths: 0.1, failures: 0.01, ..job(20, SimulatedSpeeds::Mixed, 200.0, 3) };
    assert_eq!(world.run(), world.run());
    assert_ne!(world.run(), Simulation { seed: 4, ..world.clone() }.run());
}

/// Every block counts once, and only blocks that fail on every rank are reported as failed.
#[test]
fn every_block_counts_once() {
    for seed in 0..150 {
        println!("seed {seed}");
        let mut random = SplitMix64::new(seed);
        let speeds = [SimulatedSpeeds::Even, SimulatedSpeeds::Mixed, SimulatedSpeeds::Pairs][seed as usize % 3];
        let ranks = 1 + (random.next_u64() % 40) as usize;
        let one =
            |random: &mut SplitMix64, most: f64| if random.fraction() < 0.5 { 0.0 } else { most * random.fraction() };
        let world = Simulation {
            latency: one(&mut random, 0.5),
            handling: one(&mut random, 0.01),
            jitter: one(&mut random, 0.9),
            late: (one(&mut random, 1.0), 100.0),
            deaths: one(&mut random, 1.0),
            hangs: one(&mut random, 0.5),
            restart: (random.fraction() < 0.5).then_some(10.0),
            notice: one(&mut random, 100.0),
            bad: one(&mut random, 0.1),
            ..job(ranks, speeds, 20.0 + 100.0 * random.fraction(), seed)
        };
        let report = world.run();
        counts_once(&world, &report);
        assert!(report.efficiency <= 1.0 + world.jitter, "{report:?}");
        assert_eq!(report.failed_blocks.is_empty(), report.counted.iter().all(|&count| count == 1));
    }
}

#[test]
fn job_survives_deaths_of_all_other_ranks() {
    let world = Simulation { deaths: 1.0, ..job(30, SimulatedSpeeds::Mixed, 60.0, 7) };
    let report = world.run();
    assert_eq!((report.deaths, report.failed_blocks.len()), (29, 0));
    counts_once(&world, &report);
    assert!(report.lost_cells > 0.0);
}

#[test]
fn only_bad_blocks_are_reported() {
    let world = Simulation { bad: 0.02, ..job(20, SimulatedSpeeds::Even, 200.0, 5) };
    let report = world.run();
    assert!(!report.failed_blocks.is_empty() && report.failed_blocks.len() < world.blocks.len() / 10);
    assert_eq!(report.failures, 3 * report.failed_blocks.len() as u64);
    counts_once(&world, &report);
    // Blocks that fail at random are all done in the end.
    let world = Simulation { bad: 0.0, failures: 0.02, ..world };
    let report = world.run();
    assert!(report.failures > 0 && report.failed_blocks.is_empty(), "{report:?}");
}

#[test]
fn thousand_unequal_ranks_with_deaths_stay_efficient() {
    let world = Simulation { deaths: 0.01, ..job(1000, SimulatedSpeeds::Mixed, 1800.0, 11) };
    let report = world.run();
    assert_eq!((report.deaths, report.failed_blocks.len()), (10, 0));
    assert!(report.efficiency >= 0.95, "{}", report.efficiency);
    counts_once(&world, &report);
}

#[test]
fn resumed_job_loses_only_running_blocks() {
    let world = Simulation { deaths: 0.02, restart: Some(30.0), ..job(100, SimulatedSpeeds::Mixed, 600.0, 13) };
    let report = world.run();
    assert!(report.restarts > 0 && report.lost_cells > 0.0, "{report:?}");
    counts_once(&world, &report);
    let without_failures = Simulation { deaths: 0.0, ..world };
    assert!(report.seconds > without_failures.run().seconds + 30.0 * report.restarts as f64);
}

#[test]
fn gathered_results_use_the_bandwidth_of_rank_0() {
    let without_failures = job(50, SimulatedSpeeds::Even, 100.0, 17);
    let full = Simulation { result_bytes: 1 << 30, ..without_failures.clone() };
    let (without_failures, full) = (without_failures.run(), full.run());
    assert!(full.seconds > 3.0 * without_failures.seconds, "{} {}", full.seconds, without_failures.seconds);
    assert!(full.bytes > 900 << 30, "{}", full.bytes);
}

/// Measures the cost of engines that stop after each lease, with two GPUs, blocks of 0.17 s and 0.3
/// s for each start.
#[test]
fn engines_run_without_a_stop_between_leases() {
    let after = Simulation { stop: 0.3, ..Simulation::without_failures(vec![170; 128], vec![1000.0; 2]) };
    let before = Simulation { stops_between: true, ..after.clone() };
    let (after, before) = (after.run(), before.run());
    assert_eq!(after.begins, 2, "each once");
    assert!(before.begins > 10);
    assert!(after.efficiency > 0.96 && before.efficiency < 0.88, "{} {}", after.efficiency, before.efficiency);
}

/// Simulates ranks that die, fall silent or start late, blocks that fail, and a slow network.
#[test]
fn job_stays_efficient_under_all_failures() {
    for (ranks, seconds, seeds) in [(100, 600.0, 0..4), (1000, 600.0, 4..6), (4000, 300.0, 6..7)] {
        for seed in seeds {
            let world = Simulation {
                deaths: 0.01,
                hangs: 0.005,
                failures: 0.001,
                late: (0.1, 120.0),
                latency: 0.01,
                bandwidth: 1e8,
                ..job(ranks, SimulatedSpeeds::Mixed, seconds, seed)
            };
            let report = world.run();
            println!("{ranks} ranks, seed {seed}: {} of {}", report.efficiency, report.seconds);
            assert!(report.efficiency >= 0.9, "{ranks} ranks, seed {seed}: {report:.3?}");
            counts_once(&world, &report);
        }
    }
}
