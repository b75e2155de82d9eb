//! Tests of the dispatcher with ranks of different speeds, failures and silence.

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

/// Finishes the blocks of a rank, each after `seconds`. Returns the time after the last one.
fn work(dispatcher: &mut Dispatcher, rank: Rank, blocks: std::ops::Range<usize>, seconds: f64, mut now: f64) -> f64 {
    for block in blocks {
        now += seconds;
        assert!(dispatcher.finished(rank, block, now).counts);
    }
    now
}

#[test]
fn single_rank_gets_all_blocks_in_shrinking_leases() {
    let mut one = dispatcher(100);
    one.add_rank(Rank(0), 0.0);
    let (mut now, mut next, mut lengths) = (0.0, 0, Vec::new());
    while !one.is_over() {
        let blocks = leased(one.answer_request(Rank(0), now));
        assert_eq!(blocks.start, next);
        next = blocks.end;
        lengths.push(blocks.len());
        now = work(&mut one, Rank(0), blocks, 1.0, now);
    }
    assert_eq!((next, one.answer_request(Rank(0), now)), (100, Answer::End));
    assert_eq!(lengths[..4], [1, 33, 22, 14]);
    assert!(lengths.is_sorted_by(|a, b| a >= b || *a == 1), "{lengths:?}");
    assert_eq!((one.tally().leased, one.tally().leases), (100, lengths.len() as u64));
}

#[test]
fn leases_take_equal_time_on_slow_and_fast_ranks() {
    let mut two = dispatcher(100_000);
    let mut lengths = Vec::new();
    for (rank, seconds) in [(Rank(0), 1.0), (Rank(1), 10.0)] {
        two.add_rank(rank, 0.0);
        for block in leased(two.answer_request(rank, 0.0)) {
            two.finished(rank, block, seconds);
        }
        lengths.push(leased(two.answer_request(rank, 10.0)).len());
    }
    assert_eq!(lengths, [60, 6], "a minute each");
}

#[test]
fn rank_asks_before_it_runs_out() {
    let mut one = Dispatcher::new(&[10; 1000], &[false; 1000], Rules { ahead_seconds: 3.0, ..Rules::default() });
    one.add_rank(Rank(5), 0.0);
    let Answer::Lease(first) = one.answer_request(Rank(5), 0.0) else { panic!() };
    assert_eq!(first, BlockLease { blocks: 0..1, ask_at: 1 });
    // A rank may hold two blocks before its speed is known.
    let Answer::Lease(second) = one.answer_request(Rank(5), 0.1) else { panic!() };
    assert_eq!(second, BlockLease { blocks: 1..2, ask_at: 1 });
    one.finished(Rank(5), 0, 0.5);
    let Answer::Lease(third) = one.answer_request(Rank(5), 0.5) else { panic!() };
    assert_eq!((third.blocks.start, third.ask_at), (2, 6), "three seconds are six blocks");
}

#[test]
fn blocks_of_an_earlier_run_are_skipped() {
    let done: Vec<bool> = (0..20).map(|block| block % 5 != 0).collect();
    let mut rest = Dispatcher::new(&[7; 20], &done, Rules::default());
    rest.add_rank(Rank(0), 0.0);
    let given: Vec<usize> = (0..4)
        .map(|step| {
            let blocks = leased(rest.answer_request(Rank(0), step.into()));
            rest.finished(Rank(0), blocks.start, f64::from(step) + 0.5);
            assert_eq!(blocks.len(), 1);
            blocks.start
        })
        .collect();
    assert_eq!((given, rest.answer_request(Rank(0), 9.0)), (vec![0, 5, 10, 15], Answer::End));
    let mut none = Dispatcher::new(&[], &[], Rules::default());
    none.add_rank(Rank(0), 0.0);
    assert_eq!(none.answer_request(Rank(0), 0.0), Answer::End);
}

#[test]
fn failing_block_is_tried_elsewhere_and_then_reported() {
    let mut four = dispatcher(1);
    (0..4).map(Rank).for_each(|rank| four.add_rank(rank, 0.0));
    assert_eq!(leased(four.answer_request(Rank(2), 0.0)), 0..1);
    assert_eq!([0, 1, 3].map(|rank| four.answer_request(Rank(rank), 0.0)), [Answer::Wait, Answer::Wait, Answer::Wait]);
    assert!(four.failed(Rank(2), 0, "no memory".into(), 1.0));
    assert_eq!(four.answer_request(Rank(2), 1.0), Answer::Wait, "not on the same rank again");
    let (rank, answer) = four.answer(1.0).unwrap();
    assert_eq!((rank, leased(answer)), (Rank(3), 0..1));
    assert_eq!(four.answer(1.0), None);
    assert!(four.failed(Rank(3), 0, "no device".into(), 2.0));
    let (rank, _) = four.answer(2.0).unwrap();
    assert!(!four.failed(rank, 0, "the same".into(), 3.0));
    assert!(four.is_over());
    let failed_blocks: Vec<_> = four.failed_blocks().collect();
    let messages =
        [(Rank(2), "no memory".to_owned()), (Rank(3), "no device".to_owned()), (rank, "the same".to_owned())];
    assert_eq!(failed_blocks, [(0, &messages[..])]);
    four.answer_request(Rank(3), 3.0);
    let mut ended = Vec::new();
    while let Some((rank, answer)) = four.answer(3.0) {
        assert_eq!(answer, Answer::End);
        ended.push(rank);
    }
    ended.sort_unstable();
    assert_eq!(ended.len(), 2, "{ended:?}");
    // A result that arrives after all attempts failed still counts.
    assert!(four.finished(Rank(2), 0, 4.0).counts);
    assert_eq!((four.failed_blocks().count(), four.is_done(0)), (0, true));
}

#[test]
fn block_that_failed_on_all_ranks_is_reported() {
    let mut two = dispatcher(2);
    (0..2).map(Rank).for_each(|rank| two.add_rank(rank, 0.0));
    assert_eq!((leased(two.answer_request(Rank(0), 0.0)), leased(two.answer_request(Rank(1), 0.0))), (0..1, 1..2));
    assert!(two.failed(Rank(0), 0, "a".into(), 1.0));
    assert!(two.finished(Rank(1), 1, 1.0).counts);
    assert_eq!(two.answer_request(Rank(0), 1.0), Answer::Wait);
    // The last rank that could try the block ends.
    two.end_rank(Rank(1), 2.0);
    assert_eq!(two.failed_blocks().map(|(block, _)| block).collect::<Vec<_>>(), [0]);
    assert_eq!(two.answer(2.0), Some((Rank(0), Answer::End)));
}

#[test]
fn rank_with_repeated_failures_gets_no_more_blocks() {
    let mut two = dispatcher(1000);
    (0..2).map(Rank).for_each(|rank| two.add_rank(rank, 0.0));
    assert_eq!(leased(two.answer_request(Rank(1), 0.0)), 0..1);
    let mut failed = 0;
    while let Answer::Lease(lease) = two.answer_request(Rank(0), 0.0) {
        for block in lease.blocks {
            assert!(two.failed(Rank(0), block, "json_error".into(), 0.0));
            failed += 1;
        }
    }
    assert_eq!(failed, 3);
    let mut now = work(&mut two, Rank(1), 0..1, 1.0, 0.0);
    while !two.is_over() {
        assert_eq!(two.answer(now), None);
        let blocks = leased(two.answer_request(Rank(1), now));
        now = work(&mut two, Rank(1), blocks, 1.0, now);
    }
    assert_eq!(two.failed_blocks().count(), 0);
    // A rank that is alone gets every block.
    let mut alone = dispatcher(10);
    alone.add_rank(Rank(0), 0.0);
    while let Answer::Lease(lease) = alone.answer_request(Rank(0), 0.0) {
        for block in lease.blocks {
            alone.failed(Rank(0), block, "json_error".into(), 0.0);
        }
    }
    assert_eq!((alone.is_over(), alone.failed_blocks().count()), (true, 10));
}

#[test]
fn blocks_of_an_ended_rank_become_free() {
    let mut two = dispatcher(2);
    (0..2).map(Rank).for_each(|rank| two.add_rank(rank, 0.0));
    assert_eq!(leased(two.answer_request(Rank(0), 0.0)), 0..1);
    assert_eq!(leased(two.answer_request(Rank(1), 0.0)), 1..2);
    two.finished(Rank(1), 1, 1.0);
    assert_eq!(two.answer_request(Rank(1), 1.0), Answer::Wait);
    two.end_rank(Rank(0), 2.0);
    let (rank, answer) = two.answer(2.0).unwrap();
    assert_eq!((rank, leased(answer), two.ranks()), (Rank(1), 0..1, 1));
    // A rank that was removed may still deliver its result.
    assert!(two.finished(Rank(0), 0, 3.0).counts);
    assert!(two.is_over());
    assert_eq!(two.answer_request(Rank(0), 3.0), Answer::End);
}

#[test]
fn silent_rank_shares_its_blocks_until_its_next_message() {
    let start = |dispatcher: &mut Dispatcher| {
        (0..2).map(Rank).for_each(|rank| dispatcher.add_rank(rank, 0.0));
        assert_eq!(leased(dispatcher.answer_request(Rank(0), 0.0)), 0..1);
        assert_eq!(leased(dispatcher.answer_request(Rank(1), 0.0)), 1..2);
        dispatcher.finished(Rank(0), 0, 4.0);
        dispatcher.finished(Rank(1), 1, 4.0);
        assert_eq!(leased(dispatcher.answer_request(Rank(0), 4.0)), 2..3);
    };
    let rules = Rules { copies: false, ..Rules::default() };
    let mut two = Dispatcher::new(&[1000; 3], &[false; 3], rules);
    start(&mut two);
    assert_eq!(two.answer_request(Rank(1), 4.0), Answer::Wait);
    // The limit is 20 times the expected 4 seconds.
    assert_eq!((two.tick(83.0), two.answer(83.0)), (vec![], None));
    assert_eq!(two.tick(84.0), [Rank(0)]);
    let (rank, answer) = two.answer(84.0).unwrap();
    assert_eq!((rank, leased(answer)), (Rank(1), 2..3));
    assert_eq!(two.finished(Rank(0), 2, 85.0), FinishOutcome { counts: true, drop: vec![Rank(1)] });
    assert_eq!(two.finished(Rank(1), 2, 86.0), FinishOutcome::default());
    assert_eq!((two.is_over(), two.tally().repeated, two.tally().overdue), (true, 1, 1));
    // If the rank sends a message before another one asks, its blocks stay reserved.
    let mut two = Dispatcher::new(&[1000; 3], &[false; 3], rules);
    start(&mut two);
    assert_eq!(two.tick(100.0), [Rank(0)]);
    assert_eq!(two.answer_request(Rank(0), 100.0), Answer::Wait);
    assert_eq!(two.answer_request(Rank(1), 100.0), Answer::Wait);
    assert_eq!(two.tick(100.0), [Rank(0)], "it is silent for as long as before");
}

#[test]
fn idle_ranks_copy_blocks_of_slow_ranks() {
    let mut two = dispatcher(112);
    (0..2).map(Rank).for_each(|rank| two.add_rank(rank, 0.0));
    assert_eq!(leased(two.answer_request(Rank(0), 0.0)), 0..1);
    assert_eq!(leased(two.answer_request(Rank(1), 0.0)), 1..2);
    two.finished(Rank(0), 0, 1.0);
    two.finished(Rank(1), 1, 100.0);
    // The slow rank starts its second block. The fast rank computes the rest, and the slow rank is
    // then late.
    assert_eq!(leased(two.answer_request(Rank(1), 100.0)), 2..3);
    let mut now = 100.0;
    while let Answer::Lease(lease) = two.answer_request(Rank(0), now) {
        now = work(&mut two, Rank(0), lease.blocks, 1.0, now);
    }
    assert!(two.is_over(), "the fast one copied the last block: {now}");
    assert_eq!((two.tally().copies, now), (1, 210.0));
}

#[test]
fn slow_rank_waits_if_others_finish_sooner() {
    let mut two = dispatcher(5);
    (0..2).map(Rank).for_each(|rank| two.add_rank(rank, 0.0));
    assert_eq!(leased(two.answer_request(Rank(0), 0.0)), 0..1);
    assert_eq!(leased(two.answer_request(Rank(1), 0.0)), 1..2);
    two.finished(Rank(0), 0, 1.0);
    let blocks = leased(two.answer_request(Rank(0), 1.0));
    let now = work(&mut two, Rank(0), blocks, 1.0, 1.0);
    assert_eq!(leased(two.answer_request(Rank(0), now)), 3..4);
    two.finished(Rank(1), 1, 50.0);
    assert_eq!(two.answer_request(Rank(1), 50.0), Answer::Wait);
    two.end_rank(Rank(0), 51.0);
    assert_eq!(two.answer(51.0).map(|(rank, answer)| (rank, leased(answer))), Some((Rank(1), 3..4)));
}

#[test]
fn job_ends_without_silent_ranks() {
    let mut three = dispatcher(2);
    (0..3).map(Rank).for_each(|rank| three.add_rank(rank, 0.0));
    // Rank 2 never asks, and rank 1 never reports its block.
    assert_eq!((leased(three.answer_request(Rank(0), 0.0)), leased(three.answer_request(Rank(1), 0.0))), (0..1, 1..2));
    assert!(three.failed(Rank(0), 0, "no".into(), 5.0));
    assert_eq!(three.answer_request(Rank(0), 5.0), Answer::Wait);
    let mut now = 5.0;
    while !three.is_over() {
        now += 1.0;
        assert!(now < 3000.0, "{three:?}");
        three.tick(now);
        while let Some((rank, answer)) = three.answer(now) {
            assert_eq!(rank, Rank(0));
            if let Answer::Lease(lease) = answer {
                assert_eq!(lease.blocks, 1..2);
                three.finished(Rank(0), 1, now + 1.0);
                three.answer_request(Rank(0), now + 1.0);
            }
        }
    }
    assert_eq!(three.failed_blocks().map(|(block, _)| block).collect::<Vec<_>>(), [0]);
}

/// Random events at random times, while at least one rank lives.
#[test]
fn each_block_counts_once_under_random_events() {
    let (mut copies, mut overdue, mut failed_blocks) = (0, 0, 0);
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
        // Blocks that each rank holds. The last rank lives until the end.
        let mut queues: BTreeMap<Rank, Vec<usize>> = (0..ranks).map(|rank| (Rank(rank), Vec::new())).collect();
        let mut waits = vec![false; ranks];
        (0..ranks).map(Rank).for_each(|rank| dispatcher.add_rank(rank, 0.0));
        let (mut now, mut steps) = (0.0, 0);
        let mut ended = 0;
        while !dispatcher.is_over() {
            steps += 1;
            assert!(steps < 100_000, "{dispatcher:?}");
            now += random.f64() * 2.0;
            let rank = Rank(random.usize(..ranks));
            let Some(queue) = queues.get_mut(&rank) else { continue };
            let does = random.u8(..100);
            if queue.len() < 2 && !waits[rank.0] {
                match dispatcher.answer_request(rank, now) {
                    Answer::Lease(lease) => queue.extend(lease.blocks),
                    Answer::Wait => waits[rank.0] = true,
                    Answer::End => unreachable!(),
                }
            } else if does < 2 && rank.0 + 1 < ranks {
                queues.remove(&rank);
                dispatcher.end_rank(rank, now);
            } else if does < 4 {
                // All ranks are silent for long.
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
                        // The other rank may have started it.
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
                assert!(std::mem::take(&mut waits[rank.0]), "rank {rank} does not wait");
                match answer {
                    Answer::Lease(lease) => queues.get_mut(&rank).unwrap().extend(lease.blocks),
                    Answer::End => ended += 1,
                    Answer::Wait => unreachable!(),
                }
            }
            assert!(waits.iter().filter(|waits| **waits).count() + ended <= ranks);
        }
        let named: Vec<usize> = dispatcher.failed_blocks().map(|(block, _)| block).collect();
        for (block, &counted) in counted.iter().enumerate() {
            assert_eq!(counted, u32::from(!named.contains(&block)), "block {block}");
            assert_eq!(dispatcher.is_done(block), counted == 1);
        }
        assert_eq!(dispatcher.unfinished_blocks(), 0);
        let tally = dispatcher.tally();
        copies += tally.copies;
        overdue += tally.overdue;
        failed_blocks += named.len();
    }
    assert!(
        copies > 0 && overdue > 0 && failed_blocks > 0,
        "{copies} copies, {overdue} overdue, {failed_blocks} given up"
    );
}
