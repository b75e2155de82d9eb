//! Determines how many cells an engine takes at once, from measured speeds, so that engines of
//! different speeds end together. This is guided self-scheduling (Polychronopoulos and Kuck 1987).
//! The code uses no threads and no clock: callers pass the time.
//!
//! PaPaRa's hybrid queue (Alachiotis, Berger and Stamatakis 2013, 'Hybrid CPU-GPU approach') gives
//! one block to a CPU thread and 40 to a GPU, so that one engine may end much later than the
//! others. Here the sizes of the pieces follow from the measured speeds:
//!
//! - The *speed* of an engine is its cells per second, from the earliest possible start of a batch
//!   to its results.
//! - A piece does not exceed the engine's capacity ([`Capacity::cells`]), and is not much larger
//!   than any batch that the engine has finished. The first batch is a small part of the work
//!   ([`MinWork::first_part`]).
//! - A piece is at most half of the engine's share of all remaining work. The shares are such that
//!   all engines end together. Pieces therefore shrink towards the end, but not below the smallest
//!   worthwhile batch ([`MinWork`]).
//! - Engines of the same kind are assumed to be equally fast until measurements differ.
//! - An engine takes nothing if it would finish the next pair later than all others finish the
//!   entire rest. The last pairs are thus left to the faster engines.

use super::Capacity;

/// Number of cells in the first batches of an engine that shares a job with other engines. If a new
/// engine is a hundred times slower than assumed, the others do not have to wait for a large batch
/// at the end.
const PROBE_CELLS: u64 = 1 << 25;
/// Smallest numbers of first batches into which a small job is divided: for the job as a whole, and
/// for each engine.
const PROBES_A_JOB: u64 = 256;
const PROBES_AN_ENGINE: u64 = 16;
/// Largest ratio of a batch to the largest batch that the engine has finished.
const GROWTH: u64 = 8;
/// Fraction of the remaining time that a batch may take by the measured speed, even if it exceeds
/// the limit by [`GROWTH`]. The first batches of a GPU are too small to show its speed, and each of
/// them takes as long as a larger one.
const PART_OF_TIME: f64 = 0.05;
/// Fraction of an engine's share of the remaining work that it gets at once.
const PART_OF_SHARE: f64 = 0.5;
/// Fraction of the remaining work that a lone engine gets at once. Its last results are read and
/// written only after it has finished, so the last batch should be small.
const PART_OF_REST: f64 = 0.5;
/// Weight of the last batch in the speed of an engine. The second batch replaces the first one,
/// which includes the start-up.
const LAST_WEIGHT: f64 = 0.5;

/// The smallest worthwhile batch, and the granularity in pairs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MinWork {
    /// Seconds of work below which the overhead of a batch exceeds its benefit.
    pub seconds: f64,
    /// Number of pairs that the engine computes at the same time. Longer blocks are cut at a
    /// multiple of it.
    pub pairs: u64,
    /// Number of pairs that fill the engine. Fewer pairs take the same time.
    pub fill: u64,
    /// Part of the remaining work that the first batch may have, although the speed is unknown. It
    /// delays no job if the engine's part of the speed of all engines is at least as large.
    pub first_part: f64,
}

/// Waiting work, as seen by an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PendingWork {
    /// Number of cells that no engine has taken yet, in this chunk and later ones.
    pub cells: u64,
    /// Cells of the next pair, which is the smallest possible piece.
    pub next_pair: u64,
    /// Whether only engines that accept every batch may take it.
    pub universal_only: bool,
    /// Whether more work of unknown size may follow.
    pub is_open_ended: bool,
}

/// Measured speed of an engine.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SpeedRecord {
    /// Cells per second; `None` before the first finished batch.
    speed: Option<f64>,
    /// Number of finished batches.
    batches: u64,
    /// Largest number of cells in its next batch, derived from the batches it has finished.
    trusted: u64,
}

/// Speed and load of one engine.
#[derive(Debug, Clone)]
struct EngineLoad {
    /// Whether the engine still takes part in the job.
    present: bool,
    universal: bool,
    /// Name that engines of the same speed share, if known.
    kind: Option<String>,
    min_work: MinWork,
    /// Cells per second; `None` before the first finished batch.
    speed: Option<f64>,
    /// Number of finished batches.
    batches: u64,
    /// Largest number of cells in its next batch, derived from the batches it has finished.
    trusted: u64,
    /// Number of cells that the engine holds.
    held: u64,
    /// Expected end of these cells, in seconds.
    until: f64,
    /// End of the last batch, in seconds.
    ended: f64,
}

impl EngineLoad {
    /// Returns whether the other engine is expected to be equally fast.
    fn is_like(&self, other: &EngineLoad) -> bool {
        self.kind.is_some() && self.kind == other.kind
    }

    /// Returns the seconds until the engine has finished the cells that it holds.
    fn backlog(&self, now: f64) -> f64 {
        (self.until - now).max(0.0)
    }
}

/// Chooses the sizes of pieces for several engines. All times are in seconds since a common start.
#[derive(Debug)]
pub struct Sizing {
    engines: Vec<EngineLoad>,
    job_cells: u64,
}

impl Sizing {
    /// Returns the sizing of a job with `job_cells` cells.
    pub fn new(job_cells: u64) -> Self {
        Sizing { engines: Vec::new(), job_cells }
    }

    /// Adds an engine and returns its index. `universal` states whether the engine accepts every
    /// batch.
    pub fn join(&mut self, universal: bool, min_work: MinWork) -> usize {
        self.join_with_speed(universal, min_work, SpeedRecord::default(), None)
    }

    /// Adds an engine like [`Sizing::join`], with its speed in an earlier job and its kind.
    pub fn join_with_speed(
        &mut self,
        universal: bool,
        min_work: MinWork,
        record: SpeedRecord,
        kind: Option<&str>,
    ) -> usize {
        let SpeedRecord { speed, batches, trusted } = record;
        self.engines.push(EngineLoad {
            present: true,
            universal,
            kind: kind.map(str::to_owned),
            min_work,
            speed,
            batches,
            trusted,
            held: 0,
            until: 0.0,
            ended: 0.0,
        });
        self.engines.len() - 1
    }

    /// Removes an engine. Its cells return to the queue.
    pub fn remove_engine(&mut self, engine: usize) {
        let load = &mut self.engines[engine];
        (load.present, load.held) = (false, 0);
    }

    /// Returns the measured speed of an engine, even if it no longer takes part.
    pub fn speed_record(&self, engine: usize) -> SpeedRecord {
        let &EngineLoad { speed, batches, trusted, .. } = &self.engines[engine];
        SpeedRecord { speed, batches, trusted }
    }

    /// Returns whether an engine still takes part in the job.
    pub fn is_present(&self, engine: usize) -> bool {
        self.engines[engine].present
    }

    /// Returns the smallest worthwhile batch of an engine.
    pub fn min_work(&self, engine: usize) -> MinWork {
        self.engines[engine].min_work
    }

    /// Returns the number of cells that the engine should take now; `None` if it should leave the
    /// rest to the others.
    pub fn cells(&self, engine: usize, capacity: &Capacity, pending: PendingWork, now: f64) -> Option<u64> {
        let this = &self.engines[engine];
        let able = |load: &EngineLoad| load.present && (load.universal || !pending.universal_only);
        let mut others = self.engines.iter().enumerate().filter(|&(index, other)| index != engine && able(other));
        let pair = pending.next_pair as f64;
        let min_cells = |speed: f64| (this.min_work.seconds * speed).max(this.min_work.fill as f64 * pair);
        if others.clone().next().is_none() {
            // A lone engine delays no other engine, only the consumer of its last results.
            let Some(speed) = this.speed.filter(|_| !pending.is_open_ended) else { return Some(capacity.cells) };
            let piece = (pending.cells as f64 * PART_OF_REST).max(min_cells(speed));
            return Some((piece as u64).clamp(1, capacity.cells.max(1)));
        }
        let all_alike = others.clone().all(|(_, other)| this.is_like(other));
        let mut limit = if all_alike { capacity.cells } else { capacity.cells.min(self.trusted_cells(this, pending)) };
        let Some(speed) = this.speed else {
            if all_alike {
                let share = pending.cells as f64 / (1 + others.count()) as f64;
                limit = limit.min((share * PART_OF_SHARE) as u64).max(1);
            }
            return Some(limit);
        };
        // Other engines of unknown speed are ignored, unless they are of the same kind as this
        // engine.
        let all_known = others.clone().all(|(_, other)| other.speed.is_some());
        let pace = |other: &EngineLoad| {
            let alike = || this.is_like(other).then(|| SpeedAndBacklog { speed, backlog: other.held as f64 / speed });
            SpeedAndBacklog::from_load(other, now).or_else(alike)
        };
        let mut known: Vec<SpeedAndBacklog> = others.by_ref().filter_map(|(_, other)| pace(other)).collect();
        let backlog = this.backlog(now);
        if !known.is_empty() {
            // A pair cannot be divided, so the other engines need at least the time in which the
            // fastest of them computes it.
            let soonest = known.iter().map(|other| other.backlog + pair / other.speed).fold(f64::INFINITY, f64::min);
            if backlog + pair / speed > soonest.max(all_end(&mut known, pending.cells as f64)) {
                return None;
            }
        }
        known.push(SpeedAndBacklog { speed, backlog });
        let end = all_end(&mut known, pending.cells as f64);
        if all_known {
            limit = capacity.cells.min(limit.max((end * PART_OF_TIME * speed) as u64));
        }
        let share = (end - backlog) * speed;
        let piece = (share * PART_OF_SHARE).max(min_cells(speed));
        Some((piece as u64).clamp(1, limit.max(1)))
    }

    /// Returns the largest number of cells that an engine may take at once, given the batches that
    /// it has finished.
    fn trusted_cells(&self, load: &EngineLoad, pending: PendingWork) -> u64 {
        let first = match load.speed {
            Some(_) => 0,
            None => (pending.cells as f64 * load.min_work.first_part) as u64,
        };
        load.trusted.max(self.probe_cells()).max(first)
    }

    fn probe_cells(&self) -> u64 {
        let present = self.engines.iter().filter(|load| load.present).count() as u64;
        PROBE_CELLS.min(self.job_cells / PROBES_A_JOB.max(PROBES_AN_ENGINE * present)).max(1)
    }

    /// Records that an engine has taken cells.
    pub fn record_taken(&mut self, engine: usize, cells: u64, now: f64) {
        let load = &mut self.engines[engine];
        load.held += cells;
        if let Some(speed) = load.speed {
            load.until = load.until.max(now) + cells as f64 / speed;
        }
    }

    /// Records that an engine has returned cells that it did not compute.
    pub fn record_return(&mut self, engine: usize, cells: u64, now: f64) {
        let load = &mut self.engines[engine];
        load.held = load.held.saturating_sub(cells);
        load.until = load.speed.map_or(now, |speed| now + load.held as f64 / speed);
    }

    /// Records that an engine has finished `done` of the `taken` cells that it took at time
    /// `since`. Returns the seconds that it needed.
    pub fn finished(&mut self, engine: usize, taken: u64, done: u64, since: f64, now: f64) -> f64 {
        let load = &mut self.engines[engine];
        // The engine could not start before the end of its previous batch.
        let seconds = (now - since.max(load.ended)).max(0.0);
        if done > 0 {
            let measured = done as f64 / seconds.max(1e-6);
            load.speed = Some(match load.speed {
                Some(speed) if load.batches > 1 => speed + LAST_WEIGHT * (measured - speed),
                _ => measured,
            });
            load.batches += 1;
            load.trusted = load.trusted.max(done.saturating_mul(GROWTH));
        }
        load.ended = now;
        self.record_return(engine, taken, now);
        seconds
    }

    /// Returns the seconds that an engine should need for the cells that it holds, at its speed or,
    /// if unknown, at `min_speed`.
    pub fn expected_seconds(&self, engine: usize, min_speed: f64) -> f64 {
        let load = &self.engines[engine];
        load.held as f64 / load.speed.unwrap_or(min_speed).max(1e-3)
    }

    /// Returns an engine's share of `cells` cells by speed. Engines of unknown speed count like
    /// this engine.
    pub fn share(&self, engine: usize, cells: u64) -> u64 {
        let speed = self.engines[engine].speed;
        let relative_speed = |load: &EngineLoad| match speed {
            Some(speed) => load.speed.map_or(1.0, |other| other / speed),
            None => 1.0,
        };
        let others = self.engines.iter().enumerate().filter(|&(index, other)| index != engine && other.present);
        (cells as f64 / (1.0 + others.map(|(_, other)| relative_speed(other)).sum::<f64>())).round() as u64
    }

    /// Returns whether the speed of an engine is known.
    pub fn has_speed(&self, engine: usize) -> bool {
        self.engines[engine].speed.is_some()
    }
}

/// A known speed, and the seconds until the engine is free.
#[derive(Debug, Clone, Copy)]
struct SpeedAndBacklog {
    speed: f64,
    backlog: f64,
}

impl SpeedAndBacklog {
    fn from_load(load: &EngineLoad, now: f64) -> Option<Self> {
        load.speed.map(|speed| SpeedAndBacklog { speed, backlog: load.backlog(now) })
    }
}

/// Returns the number of seconds until the engines have finished `cells` cells and all cells that
/// they hold, if all participating engines end together. Engines that are busy for longer than that
/// do not participate.
fn all_end(engines: &mut [SpeedAndBacklog], cells: f64) -> f64 {
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

    const GRAIN: MinWork = MinWork { seconds: 0.01, pairs: 1, fill: 0, first_part: 0.0 };
    const LARGE: Capacity = Capacity { cells: u64::MAX, pairs: u64::MAX, store_bytes: u64::MAX, batches: 2 };

    fn waiting(cells: u64, next_pair: u64) -> PendingWork {
        PendingWork { cells, next_pair, universal_only: false, is_open_ended: false }
    }

    /// Returns the sizing of engines with measured speeds in cells per second, whose batches may
    /// have any size.
    fn with_speeds(speeds: &[f64]) -> Sizing {
        let mut sizing = Sizing::new(1 << 60);
        for (index, &speed) in speeds.iter().enumerate() {
            assert_eq!(sizing.join(true, GRAIN), index);
            for _ in 0..2 {
                sizing.record_taken(index, speed as u64, 0.0);
                sizing.finished(index, speed as u64, speed as u64, 0.0, 1.0);
                sizing.engines[index].ended = 0.0;
            }
            sizing.engines[index].trusted = u64::MAX;
        }
        sizing
    }

    #[test]
    fn engines_that_are_busy_longer_do_not_share_the_end() {
        let pace = |speed, backlog| SpeedAndBacklog { speed, backlog };
        assert_eq!(all_end(&mut [pace(1.0, 0.0), pace(3.0, 0.0)], 8.0), 2.0);
        assert_eq!(all_end(&mut [pace(3.0, 1.0), pace(1.0, 0.0)], 5.0), 2.0);
        assert_eq!(all_end(&mut [pace(1.0, 9.0), pace(2.0, 0.0)], 8.0), 4.0);
        assert_eq!(all_end(&mut [pace(2.0, 3.0)], 0.0), 3.0);
    }

    #[test]
    fn engines_of_one_kind_need_no_probes() {
        let mut sizing = Sizing::new(1 << 60);
        let join = |sizing: &mut Sizing, kind| sizing.join_with_speed(false, GRAIN, SpeedRecord::default(), kind);
        let all = waiting(1 << 50, 1);
        for engine in 0..2 {
            assert_eq!(join(&mut sizing, Some("card")), engine);
        }
        let of_capacity = Capacity { cells: 1 << 40, ..LARGE };
        assert_eq!(sizing.cells(0, &of_capacity, all, 0.0), Some(1 << 40));
        assert_eq!(sizing.cells(0, &LARGE, waiting(4000, 1), 0.0), Some(1000), "half of an equal share");
        // The other engine is assumed to compute its cells at the same speed.
        sizing.record_taken(1, 3_000_000, 0.0);
        sizing.record_taken(0, 1_000_000, 0.0);
        sizing.finished(0, 1_000_000, 1_000_000, 0.0, 1.0);
        assert_eq!(sizing.cells(0, &LARGE, waiting(1_000_000, 1), 1.0), Some(500_000));
        assert_eq!(sizing.cells(0, &LARGE, waiting(5_000_000, 1), 1.0), Some(2_000_000));
        // Another engine of unknown speed.
        for kind in [Some("another card"), None] {
            let other = join(&mut sizing, kind);
            assert_eq!(sizing.cells(other, &of_capacity, all, 1.0), Some(PROBE_CELLS));
            assert_eq!(sizing.cells(1, &of_capacity, all, 1.0), Some(PROBE_CELLS));
            sizing.remove_engine(other);
        }
        assert_eq!(sizing.cells(1, &of_capacity, all, 1.0), Some(1 << 40));
    }

    #[test]
    fn piece_is_half_of_the_share_by_speed() {
        let sizing = with_speeds(&[1e6, 3e6]);
        assert_eq!(sizing.cells(0, &LARGE, waiting(80_000_000, 1), 1.0), Some(10_000_000));
        assert_eq!(sizing.cells(1, &LARGE, waiting(80_000_000, 1), 1.0), Some(30_000_000));
        let small = Capacity { cells: 1000, ..LARGE };
        assert_eq!(sizing.cells(1, &small, waiting(80_000_000, 1), 1.0), Some(1000));
    }

    #[test]
    fn held_cells_count() {
        let mut sizing = with_speeds(&[1e6, 1e6]);
        sizing.record_taken(0, 10_000_000, 1.0);
        // All engines end after 15 s. The first one is busy for 10 s of them, and later for 5 s.
        assert_eq!(sizing.cells(0, &LARGE, waiting(20_000_000, 1), 1.0), Some(2_500_000));
        assert_eq!(sizing.cells(1, &LARGE, waiting(20_000_000, 1), 1.0), Some(7_500_000));
        assert_eq!(sizing.cells(1, &LARGE, waiting(20_000_000, 1), 6.0), Some(6_250_000));
    }

    #[test]
    fn shares_of_the_rest_follow_the_speeds() {
        let mut sizing = with_speeds(&[1e6, 3e6, 4e6]);
        assert_eq!([0, 1, 2].map(|engine| sizing.share(engine, 8_000)), [1_000, 3_000, 4_000]);
        sizing.remove_engine(2);
        assert_eq!([0, 1].map(|engine| sizing.share(engine, 8_000)), [2_000, 6_000]);
        // The speed of the new engine is unknown.
        sizing.join(true, GRAIN);
        assert_eq!([0, 3].map(|engine| sizing.share(engine, 5_000)), [1_000, 1_667]);
    }

    #[test]
    fn piece_is_at_least_the_smallest_worthwhile_batch() {
        let sizing = with_speeds(&[1e6, 1e6]);
        assert_eq!(sizing.cells(0, &LARGE, waiting(12_000, 1), 1.0), Some(10_000));
    }

    #[test]
    fn last_pairs_are_left_to_the_fast_engine() {
        let mut sizing = with_speeds(&[1e6, 1e8]);
        // The slow engine needs 1 s for a pair. The other one would compute ten times the rest in
        // that time.
        assert_eq!(sizing.cells(0, &LARGE, waiting(10_000_000, 1_000_000), 1.0), None);
        assert!(sizing.cells(1, &LARGE, waiting(10_000_000, 1_000_000), 1.0).is_some());
        // The slow engine is useful while the other one needs longer.
        assert!(sizing.cells(0, &LARGE, waiting(200_000_000, 1_000_000), 1.0).is_some());
        sizing.record_taken(1, 200_000_000, 1.0);
        assert!(sizing.cells(0, &LARGE, waiting(10_000_000, 1_000_000), 1.0).is_some());
        // No other engine may take the work, or no other engine is left.
        let universal = PendingWork { universal_only: true, ..waiting(10_000_000, 1_000_000) };
        sizing.engines[1].universal = false;
        sizing.record_return(1, 200_000_000, 1.0);
        assert_eq!(sizing.cells(0, &LARGE, universal, 1.0), Some(5_000_000));
        sizing.remove_engine(1);
        assert_eq!(sizing.cells(0, &LARGE, waiting(10_000_000, 1_000_000), 1.0), Some(5_000_000));
    }

    #[test]
    fn last_batches_of_a_lone_engine_are_small() {
        let mut sizing = with_speeds(&[1e6]);
        let most = Capacity { cells: 100_000, ..LARGE };
        let cells = |left| sizing.cells(0, &most, waiting(left, 1), 1.0);
        // The batches shrink to the smallest worthwhile batch.
        assert_eq!([1_000_000, 150_000, 50_000, 10_000].map(cells), [100_000, 75_000, 25_000, 10_000].map(Some));
        // The last batches are unknown if more work may follow.
        let more = PendingWork { is_open_ended: true, ..waiting(50_000, 1) };
        assert_eq!(sizing.cells(0, &most, more, 1.0), Some(100_000));
        sizing.engines[0].speed = None;
        assert_eq!(sizing.cells(0, &most, waiting(50_000, 1), 1.0), Some(100_000));
    }

    #[test]
    fn last_pair_goes_to_any_of_equal_engines() {
        let mut sizing = with_speeds(&[1e6; 16]);
        for other in 1..16 {
            sizing.record_taken(other, 100_000, 1.0);
        }
        assert!(sizing.cells(0, &LARGE, waiting(1_000_000, 1_000_000), 1.0).is_some());
    }

    #[test]
    fn new_engines_get_small_batches_that_grow() {
        let mut sizing = Sizing::new(256 << 10);
        let engine = sizing.join(false, GRAIN);
        assert_eq!(sizing.cells(engine, &LARGE, waiting(256 << 10, 1), 0.0), Some(u64::MAX), "alone");
        sizing.join(false, GRAIN);
        assert_eq!(sizing.cells(engine, &LARGE, waiting(256 << 10, 1), 0.0), Some(1 << 10));
        sizing.record_taken(engine, 1 << 10, 0.0);
        assert_eq!(sizing.finished(engine, 1 << 10, 1 << 10, 0.0, 0.001), 0.001);
        assert_eq!(sizing.cells(engine, &LARGE, waiting(256 << 10, 1), 0.001), Some(8 << 10));
    }

    #[test]
    fn first_batch_is_a_part_of_the_work() {
        let mut sizing = Sizing::new(1 << 40);
        let all = waiting(1 << 40, 1);
        let card = sizing.join(false, MinWork { first_part: 0.125, ..GRAIN });
        let thread = sizing.join(true, GRAIN);
        assert_eq!(sizing.cells(card, &LARGE, all, 0.0), Some(1 << 37));
        assert_eq!(sizing.cells(thread, &LARGE, all, 0.0), Some(PROBE_CELLS));
        let small = Capacity { cells: 1 << 30, ..LARGE };
        assert_eq!(sizing.cells(card, &small, all, 0.0), Some(1 << 30));
        // Later batches follow from the finished ones.
        sizing.record_taken(card, 1 << 30, 0.0);
        sizing.finished(card, 1 << 30, 1 << 30, 0.0, 1.0);
        assert_eq!(sizing.cells(card, &LARGE, all, 1.0), Some(GROWTH << 30));
    }

    #[test]
    fn measured_speed_counts_in_the_next_job() {
        let last = with_speeds(&[1e6, 3e6]);
        let mut sizing = Sizing::new(80_000_000);
        for engine in 0..2 {
            assert_eq!(sizing.join_with_speed(true, GRAIN, last.speed_record(engine), None), engine);
            assert!(sizing.has_speed(engine));
        }
        assert_eq!(sizing.cells(0, &LARGE, waiting(80_000_000, 1), 0.0), Some(10_000_000));
        assert_eq!(sizing.cells(1, &LARGE, waiting(80_000_000, 1), 0.0), Some(30_000_000));
    }

    #[test]
    fn batch_may_take_a_fraction_of_the_remaining_time() {
        let mut sizing = with_speeds(&[1e6, 1e6]);
        sizing.engines[0].trusted = 8_000_000;
        // A twentieth of the remaining 1,000 s exceeds the limit by growth. A twentieth of 10 s
        // does not.
        assert_eq!(sizing.cells(0, &LARGE, waiting(2_000_000_000, 1), 1.0), Some(50_000_000));
        assert_eq!(sizing.cells(0, &LARGE, waiting(20_000_000, 1), 1.0), Some(5_000_000));
        (sizing.engines[0].trusted, sizing.job_cells) = (1_000, 1 << 16);
        assert_eq!(sizing.cells(0, &LARGE, waiting(20_000_000, 1), 1.0), Some(500_000));
        // The remaining time is unknown.
        sizing.engines[1].speed = None;
        assert_eq!(sizing.cells(0, &LARGE, waiting(20_000_000, 1), 1.0), Some(1_000));
    }

    #[test]
    fn second_batch_replaces_the_first_speed_and_later_ones_are_averaged() {
        let mut sizing = Sizing::new(1 << 60);
        let engine = sizing.join(false, GRAIN);
        let mut speed_after = |begin: f64, end: f64, cells: u64| {
            sizing.record_taken(engine, cells, begin);
            sizing.finished(engine, cells, cells, begin, end);
            sizing.engines[engine].speed
        };
        assert_eq!(speed_after(0.0, 1.0, 10), Some(10.0));
        assert_eq!(speed_after(1.0, 2.0, 100), Some(100.0));
        assert_eq!(speed_after(2.0, 3.0, 200), Some(150.0));
        // Submitted while the previous batch still ran: the time counts from the end of that batch.
        assert_eq!(speed_after(2.5, 4.0, 150), Some(150.0));
    }
}
