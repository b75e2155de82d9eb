//! Ranks of all kinds, whatever happens to them.

use super::*;
use std::collections::BTreeMap;

fn dispatcher(blocks: usize) -> Dispatcher {
    Dispatcher::new(&vec![1000; blocks], &vec![false; blocks], Rules::default())
}

fn leased(answer: Answer) -> std::ops::Range<usize> {
    match answer {
        Answer::Lease(lease) => lease.blocks,
        other => panic!("{other:?}"),
    }
}

/// Lets a rank do what it holds, a block in so many seconds; the time after that.
fn work(dispatcher: &mut Dispatcher, rank: Rank, blocks: std::ops::Range<usize>, seconds: f64, mut now: f64) -> f64 {
    for block in blocks {
        now += seconds;
        assert!(dispatcher.finished(rank, block, now).counts);
    }
    now
}

#[test]
fn one_rank_gets_all_in_order_and_shrinking_leases() {
    let mut one = dispatcher(100);
    one.joined(0, 0.0);
    let (mut now, mut next, mut lengths) = (0.0, 0, Vec::new());
    while !one.is_over() {
        let blocks = leased(one.asks(0, now));
        assert_eq!(blocks.start, next);
        next = blocks.end;
        lengths.push(blocks.len());
        now = work(&mut one, 0, blocks, 1.0, now);
    }
    assert_eq!((next, one.asks(0, now)), (100, Answer::End));
    assert_eq!(lengths[..4], [1, 33, 22, 14]);
    assert!(lengths.is_sorted_by(|a, b| a >= b || *a == 1), "{lengths:?}");
    assert_eq!((one.tally().leased, one.tally().leases), (100, lengths.len() as u64));
}

#[test]
fn leases_last_as_long_on_slow_ranks_as_on_fast_ones() {
    let mut two = dispatcher(100_000);
    let mut lengths = Vec::new();
    for (rank, seconds) in [(0, 1.0), (1, 10.0)] {
        two.joined(rank, 0.0);
        for block in leased(two.asks(rank, 0.0)) {
            two.finished(rank, block, seconds);
        }
        lengths.push(leased(two.asks(rank, 10.0)).len());
    }
    assert_eq!(lengths, [60, 6], "a minute each");
}

#[test]
fn a_rank_asks_before_it_is_done() {
    let mut one = Dispatcher::new(&[10; 1000], &[false; 1000], Rules { ahead_seconds: 3.0, ..Rules::default() });
    one.joined(5, 0.0);
    let Answer::Lease(first) = one.asks(5, 0.0) else { panic!() };
    assert_eq!(first, Lease { blocks: 0..1, ask_at: 1 });
    // It may hold two although nobody knows how fast it is.
    let Answer::Lease(second) = one.asks(5, 0.1) else { panic!() };
    assert_eq!(second, Lease { blocks: 1..2, ask_at: 1 });
    one.finished(5, 0, 0.5);
    let Answer::Lease(third) = one.asks(5, 0.5) else { panic!() };
    assert_eq!((third.blocks.start, third.ask_at), (2, 6), "three seconds are six blocks");
}

#[test]
fn finished_blocks_of_an_earlier_run_are_not_given() {
    let done: Vec<bool> = (0..20).map(|block| block % 5 != 0).collect();
    let mut rest = Dispatcher::new(&[7; 20], &done, Rules::default());
    rest.joined(0, 0.0);
    let given: Vec<usize> = (0..4)
        .map(|step| {
            let blocks = leased(rest.asks(0, step.into()));
            rest.finished(0, blocks.start, f64::from(step) + 0.5);
            assert_eq!(blocks.len(), 1);
            blocks.start
        })
        .collect();
    assert_eq!((given, rest.asks(0, 9.0)), (vec![0, 5, 10, 15], Answer::End));
    let mut none = Dispatcher::new(&[], &[], Rules::default());
    none.joined(0, 0.0);
    assert_eq!(none.asks(0, 0.0), Answer::End);
}

#[test]
fn a_block_that_fails_is_tried_elsewhere_then_named() {
    let mut four = dispatcher(1);
    (0..4).for_each(|rank| four.joined(rank, 0.0));
    assert_eq!(leased(four.asks(2, 0.0)), 0..1);
    assert_eq!([0, 1, 3].map(|rank| four.asks(rank, 0.0)), [Answer::Wait, Answer::Wait, Answer::Wait]);
    assert!(four.failed(2, 0, "no memory".into(), 1.0));
    assert_eq!(four.asks(2, 1.0), Answer::Wait, "not on the same rank again");
    let (rank, answer) = four.answer(1.0).unwrap();
    assert_eq!((rank, leased(answer)), (3, 0..1));
    assert_eq!(four.answer(1.0), None);
    assert!(four.failed(3, 0, "no device".into(), 2.0));
    let (rank, _) = four.answer(2.0).unwrap();
    assert!(!four.failed(rank, 0, "the same".into(), 3.0));
    assert!(four.is_over());
    let given_up: Vec<_> = four.given_up().collect();
    let says = [(2, "no memory".to_owned()), (3, "no device".to_owned()), (rank, "the same".to_owned())];
    assert_eq!(given_up, [(0, &says[..])]);
    four.asks(3, 3.0);
    let mut ended = Vec::new();
    while let Some((rank, answer)) = four.answer(3.0) {
        assert_eq!(answer, Answer::End);
        ended.push(rank);
    }
    ended.sort_unstable();
    assert_eq!(ended.len(), 2, "{ended:?}");
    // A result that comes after all is welcome.
    assert!(four.finished(2, 0, 4.0).counts);
    assert_eq!((four.given_up().count(), four.is_done(0)), (0, true));
}

#[test]
fn a_block_that_failed_on_everyone_is_given_up() {
    let mut two = dispatcher(2);
    (0..2).for_each(|rank| two.joined(rank, 0.0));
    assert_eq!((leased(two.asks(0, 0.0)), leased(two.asks(1, 0.0))), (0..1, 1..2));
    assert!(two.failed(0, 0, "a".into(), 1.0));
    assert!(two.finished(1, 1, 1.0).counts);
    assert_eq!(two.asks(0, 1.0), Answer::Wait);
    // Its last hope goes.
    two.gone(1, 2.0);
    assert_eq!(two.given_up().map(|(block, _)| block).collect::<Vec<_>>(), [0]);
    assert_eq!(two.answer(2.0), Some((0, Answer::End)));
}

#[test]
fn who_fails_everything_does_not_get_everything() {
    let mut two = dispatcher(1000);
    (0..2).for_each(|rank| two.joined(rank, 0.0));
    assert_eq!(leased(two.asks(1, 0.0)), 0..1);
    let mut failed = 0;
    while let Answer::Lease(lease) = two.asks(0, 0.0) {
        for block in lease.blocks {
            assert!(two.failed(0, block, "broken".into(), 0.0));
            failed += 1;
        }
    }
    assert_eq!(failed, 3);
    let mut now = work(&mut two, 1, 0..1, 1.0, 0.0);
    while !two.is_over() {
        assert_eq!(two.answer(now), None);
        let blocks = leased(two.asks(1, now));
        now = work(&mut two, 1, blocks, 1.0, now);
    }
    assert_eq!(two.given_up().count(), 0);
    // With nobody else there it is tried with everything.
    let mut alone = dispatcher(10);
    alone.joined(0, 0.0);
    while let Answer::Lease(lease) = alone.asks(0, 0.0) {
        for block in lease.blocks {
            alone.failed(0, block, "broken".into(), 0.0);
        }
    }
    assert_eq!((alone.is_over(), alone.given_up().count()), (true, 10));
}

#[test]
fn blocks_of_a_rank_that_goes_are_free() {
    let mut two = dispatcher(2);
    (0..2).for_each(|rank| two.joined(rank, 0.0));
    assert_eq!(leased(two.asks(0, 0.0)), 0..1);
    assert_eq!(leased(two.asks(1, 0.0)), 1..2);
    two.finished(1, 1, 1.0);
    assert_eq!(two.asks(1, 1.0), Answer::Wait);
    two.gone(0, 2.0);
    let (rank, answer) = two.answer(2.0).unwrap();
    assert_eq!((rank, leased(answer), two.ranks()), (1, 0..1, 1));
    // One that was thought to be gone, and is not, is right all the same.
    assert!(two.finished(0, 0, 3.0).counts);
    assert!(two.is_over());
    assert_eq!(two.asks(0, 3.0), Answer::End);
}

#[test]
fn a_silent_rank_shares_its_blocks_until_it_speaks() {
    let start = |dispatcher: &mut Dispatcher| {
        (0..2).for_each(|rank| dispatcher.joined(rank, 0.0));
        assert_eq!(leased(dispatcher.asks(0, 0.0)), 0..1);
        assert_eq!(leased(dispatcher.asks(1, 0.0)), 1..2);
        dispatcher.finished(0, 0, 4.0);
        dispatcher.finished(1, 1, 4.0);
        assert_eq!(leased(dispatcher.asks(0, 4.0)), 2..3);
    };
    let rules = Rules { copies: false, ..Rules::default() };
    let mut two = Dispatcher::new(&[1000; 3], &[false; 3], rules);
    start(&mut two);
    assert_eq!(two.asks(1, 4.0), Answer::Wait);
    // 20 times 4 seconds.
    assert_eq!((two.tick(83.0), two.answer(83.0)), (vec![], None));
    assert_eq!(two.tick(84.0), [0]);
    let (rank, answer) = two.answer(84.0).unwrap();
    assert_eq!((rank, leased(answer)), (1, 2..3));
    assert_eq!(two.finished(0, 2, 85.0), Finished { counts: true, drop: vec![1] });
    assert_eq!(two.finished(1, 2, 86.0), Finished::default());
    assert_eq!((two.is_over(), two.tally().repeated, two.tally().overdue), (true, 1, 1));
    // It speaks before another has asked: its blocks are its own.
    let mut two = Dispatcher::new(&[1000; 3], &[false; 3], rules);
    start(&mut two);
    assert_eq!(two.tick(100.0), [0]);
    assert_eq!(two.asks(0, 100.0), Answer::Wait);
    assert_eq!(two.asks(1, 100.0), Answer::Wait);
    assert_eq!(two.tick(100.0), [0], "it is as late as before");
}

#[test]
fn idle_ranks_copy_what_slow_ones_hold() {
    let mut two = dispatcher(112);
    (0..2).for_each(|rank| two.joined(rank, 0.0));
    assert_eq!(leased(two.asks(0, 0.0)), 0..1);
    assert_eq!(leased(two.asks(1, 0.0)), 1..2);
    two.finished(0, 0, 1.0);
    two.finished(1, 1, 100.0);
    // The slow one begins its second block, the fast one does the rest, and finds that the slow one is late.
    assert_eq!(leased(two.asks(1, 100.0)), 2..3);
    let mut now = 100.0;
    while let Answer::Lease(lease) = two.asks(0, now) {
        now = work(&mut two, 0, lease.blocks, 1.0, now);
    }
    assert!(two.is_over(), "the fast one copied the last block: {now}");
    assert_eq!((two.tally().copies, now), (1, 210.0));
}

#[test]
fn slow_ranks_do_not_begin_what_others_would_end_sooner() {
    let mut two = dispatcher(5);
    (0..2).for_each(|rank| two.joined(rank, 0.0));
    assert_eq!(leased(two.asks(0, 0.0)), 0..1);
    assert_eq!(leased(two.asks(1, 0.0)), 1..2);
    two.finished(0, 0, 1.0);
    let blocks = leased(two.asks(0, 1.0));
    let now = work(&mut two, 0, blocks, 1.0, 1.0);
    assert_eq!(leased(two.asks(0, now)), 3..4);
    two.finished(1, 1, 50.0);
    assert_eq!(two.asks(1, 50.0), Answer::Wait);
    two.gone(0, 51.0);
    assert_eq!(two.answer(51.0).map(|(rank, answer)| (rank, leased(answer))), Some((1, 3..4)));
}

#[test]
fn nobody_waits_for_ever_for_ranks_that_do_not_come() {
    let mut three = dispatcher(2);
    (0..3).for_each(|rank| three.joined(rank, 0.0));
    // Rank 2 never asks, rank 1 never says anything of its block.
    assert_eq!((leased(three.asks(0, 0.0)), leased(three.asks(1, 0.0))), (0..1, 1..2));
    assert!(three.failed(0, 0, "no".into(), 5.0));
    assert_eq!(three.asks(0, 5.0), Answer::Wait);
    let mut now = 5.0;
    while !three.is_over() {
        now += 1.0;
        assert!(now < 3000.0, "{three:?}");
        three.tick(now);
        while let Some((rank, answer)) = three.answer(now) {
            assert_eq!(rank, 0);
            if let Answer::Lease(lease) = answer {
                assert_eq!(lease.blocks, 1..2);
                three.finished(0, 1, now + 1.0);
                three.asks(0, now + 1.0);
            }
        }
    }
    assert_eq!(three.given_up().map(|(block, _)| block).collect::<Vec<_>>(), [0]);
}

/// A world in which anything may happen at any time, as long as one rank lives.
#[test]
fn each_block_counts_once_whatever_happens() {
    let (mut copies, mut overdue, mut given_up) = (0, 0, 0);
    for seed in 0..400 {
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let blocks = random.usize(1..80);
        let cells: Vec<u64> = (0..blocks).map(|_| random.u64(0..2000)).collect();
        let done: Vec<bool> = (0..blocks).map(|_| random.u8(..10) == 0).collect();
        let bad: Vec<bool> = (0..blocks).map(|_| random.u8(..20) == 0).collect();
        let mut counted: Vec<u32> = done.iter().map(|&done| done.into()).collect();
        let mut dispatcher = Dispatcher::new(&cells, &done, Rules::default());
        let ranks = random.usize(1..9);
        // What each rank holds; the last one lives.
        let mut queues: BTreeMap<Rank, Vec<usize>> = (0..ranks).map(|rank| (rank, Vec::new())).collect();
        let mut waits = vec![false; ranks];
        (0..ranks).for_each(|rank| dispatcher.joined(rank, 0.0));
        let (mut now, mut steps) = (0.0, 0);
        let mut ended = 0;
        while !dispatcher.is_over() {
            steps += 1;
            assert!(steps < 100_000, "{dispatcher:?}");
            now += random.f64() * 2.0;
            let rank = random.usize(..ranks);
            let Some(queue) = queues.get_mut(&rank) else { continue };
            let does = random.u8(..100);
            if queue.len() < 2 && !waits[rank] {
                match dispatcher.asks(rank, now) {
                    Answer::Lease(lease) => queue.extend(lease.blocks),
                    Answer::Wait => waits[rank] = true,
                    Answer::End => unreachable!(),
                }
            } else if does < 2 && rank + 1 < ranks {
                queues.remove(&rank);
                dispatcher.gone(rank, now);
            } else if does < 4 {
                // All are silent for long.
                now += 500.0;
            } else if !queue.is_empty() {
                let block = queue.remove(random.usize(..queue.len()));
                if bad[block] || does < 8 {
                    dispatcher.failed(rank, block, "bad".into(), now);
                } else {
                    let finished = dispatcher.finished(rank, block, now);
                    counted[block] += u32::from(finished.counts);
                    for other in finished.drop {
                        assert!(other != rank && queues[&other].contains(&block));
                        // It may have begun it.
                        if random.bool() {
                            queues.get_mut(&other).unwrap().retain(|&one| one != block);
                        }
                    }
                }
            }
            if random.u8(..4) == 0 {
                dispatcher.tick(now);
            }
            while let Some((rank, answer)) = dispatcher.answer(now) {
                assert!(std::mem::take(&mut waits[rank]), "rank {rank} does not wait");
                match answer {
                    Answer::Lease(lease) => queues.get_mut(&rank).unwrap().extend(lease.blocks),
                    Answer::End => ended += 1,
                    Answer::Wait => unreachable!(),
                }
            }
            assert!(waits.iter().filter(|waits| **waits).count() + ended <= ranks);
        }
        let named: Vec<usize> = dispatcher.given_up().map(|(block, _)| block).collect();
        for (block, &counted) in counted.iter().enumerate() {
            assert_eq!(counted, u32::from(!named.contains(&block)), "block {block}");
            assert_eq!(dispatcher.is_done(block), counted == 1);
        }
        assert_eq!(dispatcher.unsettled(), 0);
        let tally = dispatcher.tally();
        copies += tally.copies;
        overdue += tally.overdue;
        given_up += named.len();
    }
    assert!(copies > 0 && overdue > 0 && given_up > 0, "{copies} copies, {overdue} overdue, {given_up} given up");
}
