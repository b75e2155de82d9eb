//! How much work an engine gets at once: guided self-scheduling (Polychronopoulos and Kuck 1987) by measured speed, so
//! that engines of any speeds end together. Pure: no threads, no clock of its own.
//!
//! PaPaRa's hybrid queue (Alachiotis, Berger and Stamatakis 2013, 'Hybrid CPU-GPU approach') gives a CPU thread one block
//! and a GPU 40, and accepts that somebody ends last. Here the numbers follow from what each engine was seen to do:
//!
//! - An engine's *speed* is cells over the time from when it could begin a batch to when its results were there.
//! - A piece is at most what the engine likes ([`Capacity::cells`]) and not much more than it has finished before.
//! - It is at most half of what the engine will have done of all that is left when all end together, so that pieces
//!   shrink towards the end; but no less than is worth a batch ([`LeastWork`]).
//! - Engines of one kind are as fast as each other, until they have shown that they are not.
//! - An engine that would end later with the next pair than all others with everything that is left takes nothing: the
//!   last pairs are for the faster ones.

use super::Capacity;

/// Cells of an engine's first batches, where several share a job: what an engine is thought to do in a second may be a
/// hundred times what it does, and the others would wait for it at the end.
const PROBE_CELLS: u64 = 1 << 25;
/// First batches that a small job has at least, and for each of many engines.
const PROBES_A_JOB: u64 = 256;
const PROBES_AN_ENGINE: u64 = 16;
/// By how much a batch may be larger than any that the engine has finished.
const GROWTH: u64 = 8;
/// The part of the time that the job still takes which a batch may take by the engine's speed so far, even if it is larger
/// than that: a GPU's first batches are too small to show what it can do, and each takes as long as a larger one.
const PART_OF_TIME: f64 = 0.05;
/// The part of an engine's share of all that is left that it gets at once.
const PART_OF_SHARE: f64 = 0.5;
/// The part of all that is left that an engine gets at once which is alone. What it computed last is read, and rows are made of it,
/// when it has nothing more to compute: that is to be little.
const PART_OF_REST: f64 = 0.5;
/// Weight of the last batch in an engine's speed. Its second batch replaces the first, in which it got ready.
const LAST_WEIGHT: f64 = 0.5;

/// The least that is worth a batch, and how pairs are best counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeastWork {
    /// Seconds of work below which handing out and launching costs more than it balances.
    pub seconds: f64,
    /// Pairs that the engine computes at the same time: a block is cut at a multiple of this where it is longer.
    pub pairs: u64,
    /// Pairs that keep it busy: fewer take it as long as so many.
    pub fill: u64,
}

/// Work that waits, as an engine finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    /// Cells of all that nobody holds, in this chunk and later ones.
    pub cells: u64,
    /// Cells of the next pair, the least that can be taken.
    pub next_pair: u64,
    /// Whether only engines that take everything may have it.
    pub universal_only: bool,
    /// Whether more may come that nobody knows of yet.
    pub is_open_ended: bool,
}

/// What an engine has shown of what it does.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Shown {
    /// Cells a second, once it has finished a batch, and after how many.
    speed: Option<f64>,
    batches: u64,
    /// Cells that it may be given at once, by what it has finished.
    trusted: u64,
}

/// What is known of one engine.
#[derive(Debug, Clone)]
struct Standing {
    /// Still there.
    present: bool,
    universal: bool,
    /// What engines of the same speed have in common, if that is known.
    kind: Option<String>,
    least_work: LeastWork,
    /// Cells a second, once it has finished a batch, and after how many.
    speed: Option<f64>,
    batches: u64,
    /// Cells that it may be given at once, by what it has finished.
    trusted: u64,
    /// Cells that it holds.
    held: u64,
    /// When it should have done them, in seconds.
    until: f64,
    /// When its last batch ended, in seconds.
    ended: f64,
}

impl Standing {
    /// Whether another one is expected to be as fast.
    fn is_like(&self, other: &Standing) -> bool {
        self.kind.is_some() && self.kind == other.kind
    }

    /// Seconds until it has done what it holds.
    fn backlog(&self, now: f64) -> f64 {
        (self.until - now).max(0.0)
    }
}

/// The sizes of pieces for a number of engines. Times are seconds since some beginning.
#[derive(Debug)]
pub struct Sizing {
    engines: Vec<Standing>,
    job_cells: u64,
}

impl Sizing {
    /// For a job of so many cells.
    pub fn new(job_cells: u64) -> Self {
        Sizing { engines: Vec::new(), job_cells }
    }

    /// An engine joins; its number. `universal`: it takes everything.
    pub fn join(&mut self, universal: bool, least_work: LeastWork) -> usize {
        self.join_known(universal, least_work, Shown::default(), None)
    }

    /// As [`Sizing::join`], of an engine that has shown something elsewhere, or is of a kind.
    pub fn join_known(&mut self, universal: bool, least_work: LeastWork, shown: Shown, kind: Option<&str>) -> usize {
        let Shown { speed, batches, trusted } = shown;
        self.engines.push(Standing {
            present: true,
            universal,
            kind: kind.map(str::to_owned),
            least_work,
            speed,
            batches,
            trusted,
            held: 0,
            until: 0.0,
            ended: 0.0,
        });
        self.engines.len() - 1
    }

    /// An engine leaves. What it held is nobody's.
    pub fn leave(&mut self, engine: usize) {
        let standing = &mut self.engines[engine];
        (standing.present, standing.held) = (false, 0);
    }

    /// What an engine has shown so far, also if it has left.
    pub fn shown(&self, engine: usize) -> Shown {
        let &Standing { speed, batches, trusted, .. } = &self.engines[engine];
        Shown { speed, batches, trusted }
    }

    /// Whether an engine has not left.
    pub fn is_present(&self, engine: usize) -> bool {
        self.engines[engine].present
    }

    /// What an engine said it is best given.
    pub fn least_work(&self, engine: usize) -> LeastWork {
        self.engines[engine].least_work
    }

    /// Cells that the engine should take now; `None` if it had better leave the rest to the others.
    pub fn cells(&self, engine: usize, capacity: &Capacity, waiting: Waiting, now: f64) -> Option<u64> {
        let own = &self.engines[engine];
        let able = |standing: &Standing| standing.present && (standing.universal || !waiting.universal_only);
        let mut others = self.engines.iter().enumerate().filter(|&(index, other)| index != engine && able(other));
        let pair = waiting.next_pair as f64;
        let least = |speed: f64| (own.least_work.seconds * speed).max(own.least_work.fill as f64 * pair);
        if others.clone().next().is_none() {
            // Alone, an engine has nobody to keep waiting but who reads what it computed last.
            let Some(speed) = own.speed.filter(|_| !waiting.is_open_ended) else { return Some(capacity.cells) };
            let piece = (waiting.cells as f64 * PART_OF_REST).max(least(speed));
            return Some((piece as u64).clamp(1, capacity.cells.max(1)));
        }
        let all_alike = others.clone().all(|(_, other)| own.is_like(other));
        let mut most = if all_alike { capacity.cells } else { capacity.cells.min(own.trusted.max(self.probe())) };
        let Some(speed) = own.speed else {
            if all_alike {
                let share = waiting.cells as f64 / (1 + others.count()) as f64;
                most = most.min((share * PART_OF_SHARE) as u64).max(1);
            }
            return Some(most);
        };
        // What is not yet known is not reckoned with.
        let all_known = others.clone().all(|(_, other)| other.speed.is_some());
        let pace = |other: &Standing| {
            let alike = || own.is_like(other).then(|| Pace { speed, backlog: other.held as f64 / speed });
            Pace::of(other, now).or_else(alike)
        };
        let mut known: Vec<Pace> = others.by_ref().filter_map(|(_, other)| pace(other)).collect();
        let backlog = own.backlog(now);
        if !known.is_empty() {
            // A pair cannot be divided: the others need as long as the best of them needs for it.
            let soonest = known.iter().map(|other| other.backlog + pair / other.speed).fold(f64::INFINITY, f64::min);
            if backlog + pair / speed > soonest.max(all_end(&mut known, waiting.cells as f64)) {
                return None;
            }
        }
        known.push(Pace { speed, backlog });
        let end = all_end(&mut known, waiting.cells as f64);
        if all_known {
            most = capacity.cells.min(most.max((end * PART_OF_TIME * speed) as u64));
        }
        let share = (end - backlog) * speed;
        let piece = (share * PART_OF_SHARE).max(least(speed));
        Some((piece as u64).clamp(1, most.max(1)))
    }

    fn probe(&self) -> u64 {
        let present = self.engines.iter().filter(|standing| standing.present).count() as u64;
        PROBE_CELLS.min(self.job_cells / PROBES_A_JOB.max(PROBES_AN_ENGINE * present)).max(1)
    }

    /// An engine has taken so many cells.
    pub fn took(&mut self, engine: usize, cells: u64, now: f64) {
        let standing = &mut self.engines[engine];
        standing.held += cells;
        if let Some(speed) = standing.speed {
            standing.until = standing.until.max(now) + cells as f64 / speed;
        }
    }

    /// An engine has given back cells that it did not begin.
    pub fn gave_back(&mut self, engine: usize, cells: u64, now: f64) {
        let standing = &mut self.engines[engine];
        standing.held = standing.held.saturating_sub(cells);
        standing.until = standing.speed.map_or(now, |speed| now + standing.held as f64 / speed);
    }

    /// An engine has finished `done` of the `taken` cells that it took at `since`; gives the seconds that it took.
    pub fn finished(&mut self, engine: usize, taken: u64, done: u64, since: f64, now: f64) -> f64 {
        let standing = &mut self.engines[engine];
        // It could not begin before the batch before was done.
        let seconds = (now - since.max(standing.ended)).max(0.0);
        if done > 0 {
            let shown = done as f64 / seconds.max(1e-6);
            standing.speed = Some(match standing.speed {
                Some(speed) if standing.batches > 1 => speed + LAST_WEIGHT * (shown - speed),
                _ => shown,
            });
            standing.batches += 1;
            standing.trusted = standing.trusted.max(done.saturating_mul(GROWTH));
        }
        standing.ended = now;
        self.gave_back(engine, taken, now);
        seconds
    }

    /// Seconds that an engine should need for what it holds, if at least `least_speed` is expected of it.
    pub fn expected_seconds(&self, engine: usize, least_speed: f64) -> f64 {
        let standing = &self.engines[engine];
        standing.held as f64 / standing.speed.unwrap_or(least_speed).max(1e-3)
    }

    /// An engine's share of so many cells, by speed; what nobody knows yet counts as much as its own.
    pub fn share(&self, engine: usize, cells: u64) -> u64 {
        let own = self.engines[engine].speed;
        let of = |standing: &Standing| match own {
            Some(own) => standing.speed.map_or(1.0, |speed| speed / own),
            None => 1.0,
        };
        let others = self.engines.iter().enumerate().filter(|&(index, other)| index != engine && other.present);
        (cells as f64 / (1.0 + others.map(|(_, other)| of(other)).sum::<f64>())).round() as u64
    }

    /// Whether an engine has shown what it does.
    pub fn has_shown(&self, engine: usize) -> bool {
        self.engines[engine].speed.is_some()
    }
}

/// A known speed, and the seconds before it is free.
#[derive(Debug, Clone, Copy)]
struct Pace {
    speed: f64,
    backlog: f64,
}

impl Pace {
    fn of(standing: &Standing, now: f64) -> Option<Self> {
        standing.speed.map(|speed| Pace { speed, backlog: standing.backlog(now) })
    }
}

/// Seconds after which so many cells are done, and what the engines hold, if all that take part end together. Those who
/// are busy for longer take no part.
fn all_end(engines: &mut [Pace], cells: f64) -> f64 {
    engines.sort_by(|a, b| a.backlog.total_cmp(&b.backlog));
    let (mut speed, mut all_cells, mut end) = (0.0, cells, f64::INFINITY);
    for engine in engines.iter() {
        if engine.backlog >= end {
            break;
        }
        speed += engine.speed;
        all_cells += engine.speed * engine.backlog;
        end = all_cells / speed;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRAIN: LeastWork = LeastWork { seconds: 0.01, pairs: 1, fill: 0 };
    const LARGE: Capacity = Capacity { cells: u64::MAX, pairs: u64::MAX, store_bytes: u64::MAX, batches: 2 };

    fn waiting(cells: u64, next_pair: u64) -> Waiting {
        Waiting { cells, next_pair, universal_only: false, is_open_ended: false }
    }

    /// Engines that were seen to do so many cells a second, and are trusted with anything.
    fn seen(speeds: &[f64]) -> Sizing {
        let mut sizing = Sizing::new(1 << 60);
        for (index, &speed) in speeds.iter().enumerate() {
            assert_eq!(sizing.join(true, GRAIN), index);
            for _ in 0..2 {
                sizing.took(index, speed as u64, 0.0);
                sizing.finished(index, speed as u64, speed as u64, 0.0, 1.0);
                sizing.engines[index].ended = 0.0;
            }
            sizing.engines[index].trusted = u64::MAX;
        }
        sizing
    }

    #[test]
    fn all_end_together_but_for_those_who_are_busy_longer() {
        let pace = |speed, backlog| Pace { speed, backlog };
        assert_eq!(all_end(&mut [pace(1.0, 0.0), pace(3.0, 0.0)], 8.0), 2.0);
        assert_eq!(all_end(&mut [pace(3.0, 1.0), pace(1.0, 0.0)], 5.0), 2.0);
        assert_eq!(all_end(&mut [pace(1.0, 9.0), pace(2.0, 0.0)], 8.0), 4.0);
        assert_eq!(all_end(&mut [pace(2.0, 3.0)], 0.0), 3.0);
    }

    #[test]
    fn engines_of_one_kind_need_not_try_themselves_out() {
        let mut sizing = Sizing::new(1 << 60);
        let join = |sizing: &mut Sizing, kind| sizing.join_known(false, GRAIN, Shown::default(), kind);
        let all = waiting(1 << 50, 1);
        for engine in 0..2 {
            assert_eq!(join(&mut sizing, Some("card")), engine);
        }
        let of_capacity = Capacity { cells: 1 << 40, ..LARGE };
        assert_eq!(sizing.cells(0, &of_capacity, all, 0.0), Some(1 << 40));
        assert_eq!(sizing.cells(0, &LARGE, waiting(4000, 1), 0.0), Some(1000), "half of an equal part");
        // What the other one holds, it computes as fast.
        sizing.took(1, 3_000_000, 0.0);
        sizing.took(0, 1_000_000, 0.0);
        sizing.finished(0, 1_000_000, 1_000_000, 0.0, 1.0);
        assert_eq!(sizing.cells(0, &LARGE, waiting(1_000_000, 1), 1.0), Some(500_000));
        assert_eq!(sizing.cells(0, &LARGE, waiting(5_000_000, 1), 1.0), Some(2_000_000));
        // One more, of which nobody knows what it does.
        for kind in [Some("another card"), None] {
            let other = join(&mut sizing, kind);
            assert_eq!(sizing.cells(other, &of_capacity, all, 1.0), Some(PROBE_CELLS));
            assert_eq!(sizing.cells(1, &of_capacity, all, 1.0), Some(PROBE_CELLS));
            sizing.leave(other);
        }
        assert_eq!(sizing.cells(1, &of_capacity, all, 1.0), Some(1 << 40));
    }

    #[test]
    fn a_piece_is_half_of_the_share_by_speed() {
        let sizing = seen(&[1e6, 3e6]);
        assert_eq!(sizing.cells(0, &LARGE, waiting(80_000_000, 1), 1.0), Some(10_000_000));
        assert_eq!(sizing.cells(1, &LARGE, waiting(80_000_000, 1), 1.0), Some(30_000_000));
        let small = Capacity { cells: 1000, ..LARGE };
        assert_eq!(sizing.cells(1, &small, waiting(80_000_000, 1), 1.0), Some(1000));
    }

    #[test]
    fn what_an_engine_holds_counts() {
        let mut sizing = seen(&[1e6, 1e6]);
        sizing.took(0, 10_000_000, 1.0);
        // All end after 15 s, for 10 of which the first engine is busy, and after a while for 5.
        assert_eq!(sizing.cells(0, &LARGE, waiting(20_000_000, 1), 1.0), Some(2_500_000));
        assert_eq!(sizing.cells(1, &LARGE, waiting(20_000_000, 1), 1.0), Some(7_500_000));
        assert_eq!(sizing.cells(1, &LARGE, waiting(20_000_000, 1), 6.0), Some(6_250_000));
    }

    #[test]
    fn shares_of_what_remains_follow_speeds() {
        let mut sizing = seen(&[1e6, 3e6, 4e6]);
        assert_eq!([0, 1, 2].map(|engine| sizing.share(engine, 8_000)), [1_000, 3_000, 4_000]);
        sizing.leave(2);
        assert_eq!([0, 1].map(|engine| sizing.share(engine, 8_000)), [2_000, 6_000]);
        // Of an engine that has done nothing yet nothing is known.
        sizing.join(true, GRAIN);
        assert_eq!([0, 3].map(|engine| sizing.share(engine, 5_000)), [1_000, 1_667]);
    }

    #[test]
    fn a_piece_is_worth_a_batch() {
        let sizing = seen(&[1e6, 1e6]);
        assert_eq!(sizing.cells(0, &LARGE, waiting(12_000, 1), 1.0), Some(10_000));
    }

    #[test]
    fn the_last_pairs_are_for_the_fast() {
        let mut sizing = seen(&[1e6, 1e8]);
        // 1 s for the slow engine, in which the other would do ten times what is left.
        assert_eq!(sizing.cells(0, &LARGE, waiting(10_000_000, 1_000_000), 1.0), None);
        assert!(sizing.cells(1, &LARGE, waiting(10_000_000, 1_000_000), 1.0).is_some());
        // It is of use while the other needs longer.
        assert!(sizing.cells(0, &LARGE, waiting(200_000_000, 1_000_000), 1.0).is_some());
        sizing.took(1, 200_000_000, 1.0);
        assert!(sizing.cells(0, &LARGE, waiting(10_000_000, 1_000_000), 1.0).is_some());
        // Nobody else may take it, or is left.
        let universal = Waiting { universal_only: true, ..waiting(10_000_000, 1_000_000) };
        sizing.engines[1].universal = false;
        sizing.gave_back(1, 200_000_000, 1.0);
        assert_eq!(sizing.cells(0, &LARGE, universal, 1.0), Some(5_000_000));
        sizing.leave(1);
        assert_eq!(sizing.cells(0, &LARGE, waiting(10_000_000, 1_000_000), 1.0), Some(5_000_000));
    }

    #[test]
    fn the_last_batches_of_one_engine_are_small() {
        let mut sizing = seen(&[1e6]);
        let most = Capacity { cells: 100_000, ..LARGE };
        let cells = |left| sizing.cells(0, &most, waiting(left, 1), 1.0);
        // Up to the least that is worth a batch.
        assert_eq!([1_000_000, 150_000, 50_000, 10_000].map(cells), [100_000, 75_000, 25_000, 10_000].map(Some));
        // Nobody knows which are the last.
        let more = Waiting { is_open_ended: true, ..waiting(50_000, 1) };
        assert_eq!(sizing.cells(0, &most, more, 1.0), Some(100_000));
        sizing.engines[0].speed = None;
        assert_eq!(sizing.cells(0, &most, waiting(50_000, 1), 1.0), Some(100_000));
    }

    #[test]
    fn one_pair_for_equals_is_taken_by_whoever_comes() {
        let mut sizing = seen(&[1e6; 16]);
        for other in 1..16 {
            sizing.took(other, 100_000, 1.0);
        }
        assert!(sizing.cells(0, &LARGE, waiting(1_000_000, 1_000_000), 1.0).is_some());
    }

    #[test]
    fn unknown_engines_probe_and_are_trusted_step_by_step() {
        let mut sizing = Sizing::new(256 << 10);
        let engine = sizing.join(false, GRAIN);
        assert_eq!(sizing.cells(engine, &LARGE, waiting(256 << 10, 1), 0.0), Some(u64::MAX), "alone");
        sizing.join(false, GRAIN);
        assert_eq!(sizing.cells(engine, &LARGE, waiting(256 << 10, 1), 0.0), Some(1 << 10));
        sizing.took(engine, 1 << 10, 0.0);
        assert_eq!(sizing.finished(engine, 1 << 10, 1 << 10, 0.0, 0.001), 0.001);
        assert_eq!(sizing.cells(engine, &LARGE, waiting(256 << 10, 1), 0.001), Some(8 << 10));
    }

    #[test]
    fn what_an_engine_has_shown_counts_in_the_next_job() {
        let last = seen(&[1e6, 3e6]);
        let mut sizing = Sizing::new(80_000_000);
        for engine in 0..2 {
            assert_eq!(sizing.join_known(true, GRAIN, last.shown(engine), None), engine);
            assert!(sizing.has_shown(engine));
        }
        assert_eq!(sizing.cells(0, &LARGE, waiting(80_000_000, 1), 0.0), Some(10_000_000));
        assert_eq!(sizing.cells(1, &LARGE, waiting(80_000_000, 1), 0.0), Some(30_000_000));
    }

    #[test]
    fn a_known_speed_is_trusted_with_a_part_of_the_time_left() {
        let mut sizing = seen(&[1e6, 1e6]);
        sizing.engines[0].trusted = 8_000_000;
        // 1,000 s are left, and a twentieth of it is more than what it was seen to finish; 10 s are not.
        assert_eq!(sizing.cells(0, &LARGE, waiting(2_000_000_000, 1), 1.0), Some(50_000_000));
        assert_eq!(sizing.cells(0, &LARGE, waiting(20_000_000, 1), 1.0), Some(5_000_000));
        (sizing.engines[0].trusted, sizing.job_cells) = (1_000, 1 << 16);
        assert_eq!(sizing.cells(0, &LARGE, waiting(20_000_000, 1), 1.0), Some(500_000));
        // Nobody knows yet how long it will be.
        sizing.engines[1].speed = None;
        assert_eq!(sizing.cells(0, &LARGE, waiting(20_000_000, 1), 1.0), Some(1_000));
    }

    #[test]
    fn speed_is_learnt_from_the_second_batch_on_and_averaged_later() {
        let mut sizing = Sizing::new(1 << 60);
        let engine = sizing.join(false, GRAIN);
        let mut speed_after = |begin: f64, end: f64, cells: u64| {
            sizing.took(engine, cells, begin);
            sizing.finished(engine, cells, cells, begin, end);
            sizing.engines[engine].speed
        };
        assert_eq!(speed_after(0.0, 1.0, 10), Some(10.0));
        assert_eq!(speed_after(1.0, 2.0, 100), Some(100.0));
        assert_eq!(speed_after(2.0, 3.0, 200), Some(150.0));
        // Submitted while the batch before still ran: the time counts from that one's end.
        assert_eq!(speed_after(2.5, 4.0, 150), Some(150.0));
    }
}
