//! Jobs of all sizes.

use super::*;

/// Blocks of five seconds of the fastest rank, for so many seconds of all.
fn job(ranks: usize, speeds: Speeds, seconds: f64, seed: u64) -> World {
    let speeds = speeds.of(ranks, &mut Random::new(seed));
    let block = 5.0 * speeds.iter().copied().fold(0.0, f64::max);
    let blocks = (seconds * speeds.iter().sum::<f64>() / block).ceil();
    World { jitter: 0.1, seed, ..World::calm(vec![block as u64; blocks as usize], speeds) }
}

fn counts_once(world: &World, report: &Report) {
    for block in 0..world.blocks.len() {
        let expected = u32::from(!report.given_up.contains(&block));
        assert_eq!(report.counted[block], expected, "block {block} of {}", world.blocks.len());
    }
}

#[test]
fn one_rank_takes_the_time_of_its_blocks() {
    let world = World::calm(vec![100, 200, 300], vec![100.0]);
    let report = world.run();
    assert!((6.0..6.001).contains(&report.seconds), "{report:?}");
    assert!(report.efficiency > 0.999 && report.efficiency <= 1.0);
    assert_eq!((report.messages, report.lost_cells, report.counted), (0, 0.0, vec![1; 3]));
}

#[test]
fn estimates() {
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
    // The one block is all that there is to do, and the fast rank gets it in the end.
    assert!(estimate(&[1000], &[1.0, 1000.0]) <= 1000.01);
}

#[test]
fn the_same_seed_is_the_same_job() {
    let world = World { deaths: 0.1, failures: 0.01, ..job(20, Speeds::Mixed, 200.0, 3) };
    assert_eq!(world.run(), world.run());
    assert_ne!(world.run(), World { seed: 4, ..world.clone() }.run());
}

/// Whatever happens, every block counts once, and only blocks that fail everywhere are given up.
#[test]
fn every_block_counts_once() {
    for seed in 0..150 {
        println!("seed {seed}");
        let mut random = Random::new(seed);
        let speeds = [Speeds::Even, Speeds::Mixed, Speeds::Pairs][seed as usize % 3];
        let ranks = 1 + (random.any() % 40) as usize;
        let one = |random: &mut Random, most: f64| if random.fraction() < 0.5 { 0.0 } else { most * random.fraction() };
        let world = World {
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
        assert_eq!(report.given_up.is_empty(), report.counted.iter().all(|&count| count == 1));
    }
}

#[test]
fn deaths_of_all_but_rank_0_are_survived() {
    let world = World { deaths: 1.0, ..job(30, Speeds::Mixed, 60.0, 7) };
    let report = world.run();
    assert_eq!((report.deaths, report.given_up.len()), (29, 0));
    counts_once(&world, &report);
    assert!(report.lost_cells > 0.0);
}

#[test]
fn bad_blocks_are_named_and_nothing_else() {
    let world = World { bad: 0.02, ..job(20, Speeds::Even, 200.0, 5) };
    let report = world.run();
    assert!(!report.given_up.is_empty() && report.given_up.len() < world.blocks.len() / 10);
    assert_eq!(report.failures, 3 * report.given_up.len() as u64);
    counts_once(&world, &report);
    // Blocks that fail now and then are all done in the end.
    let world = World { bad: 0.0, failures: 0.02, ..world };
    let report = world.run();
    assert!(report.failures > 0 && report.given_up.is_empty(), "{report:?}");
}

#[test]
fn a_thousand_unequal_ranks_of_which_some_die() {
    let world = World { deaths: 0.01, ..job(1000, Speeds::Mixed, 1800.0, 11) };
    let report = world.run();
    assert_eq!((report.deaths, report.given_up.len()), (10, 0));
    assert!(report.efficiency >= 0.95, "{}", report.efficiency);
    counts_once(&world, &report);
}

#[test]
fn a_job_that_ends_and_is_resumed_loses_what_was_begun() {
    let world = World { deaths: 0.02, restart: Some(30.0), ..job(100, Speeds::Mixed, 600.0, 13) };
    let report = world.run();
    assert!(report.restarts > 0 && report.lost_cells > 0.0, "{report:?}");
    counts_once(&world, &report);
    let calm = World { deaths: 0.0, ..world };
    assert!(report.seconds > calm.run().seconds + 30.0 * report.restarts as f64);
}

#[test]
fn results_that_go_through_rank_0_take_its_line() {
    let calm = job(50, Speeds::Even, 100.0, 17);
    let full = World { result_bytes: 1 << 30, ..calm.clone() };
    let (calm, full) = (calm.run(), full.run());
    assert!(full.seconds > 3.0 * calm.seconds, "{} {}", full.seconds, calm.seconds);
    assert!(full.bytes > 900 << 30, "{}", full.bytes);
}

/// What leases cost whose engines stop at their ends: two cards, blocks of a sixth of a second, a third of a second for each stop.
#[test]
fn leases_without_a_stop() {
    let after = World { stop: 0.3, ..World::calm(vec![170; 128], vec![1000.0; 2]) };
    let before = World { stops_between: true, ..after.clone() };
    let (after, before) = (after.run(), before.run());
    assert_eq!(after.begins, 2, "each once");
    assert!(before.begins > 10);
    assert!(after.efficiency > 0.96 && before.efficiency < 0.88, "{} {}", after.efficiency, before.efficiency);
}

/// Ranks die and fall silent, come late, blocks fail, and the network is slow.
#[test]
fn a_bad_day() {
    for (ranks, seconds, seeds) in [(100, 600.0, 0..4), (1000, 600.0, 4..6), (4000, 300.0, 6..7)] {
        for seed in seeds {
            let world = World {
                deaths: 0.01,
                hangs: 0.005,
                failures: 0.001,
                late: (0.1, 120.0),
                latency: 0.01,
                bandwidth: 1e8,
                ..job(ranks, Speeds::Mixed, seconds, seed)
            };
            let report = world.run();
            println!("{ranks} ranks, seed {seed}: {} of {}", report.efficiency, report.seconds);
            assert!(report.efficiency >= 0.9, "{ranks} ranks, seed {seed}: {report:.3?}");
            counts_once(&world, &report);
        }
    }
}
