//! Simulation of a job on many ranks. It runs the [dispatcher](super::dispatch) of real jobs with
//! simulated ranks, time and network.
//!
//! Ranks compute their blocks one after another, each at its own speed. A message reaches rank 0
//! after the latency of the network and waits until rank 0 has handled earlier messages. Each
//! message and each answer takes time and bandwidth of rank 0. Rank 0 also computes, has no latency
//! to itself, and does not die.

mod phase;
mod random;
#[cfg(test)]
mod tests;

pub use random::SplitMix64;

use super::dispatch::Rules;
use phase::{Phase, PhaseEnd};

/// Speeds of the simulated ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SimulatedSpeeds {
    /// Every rank computes 1e12 cells per second.
    Even,
    /// 1e11 to 2e12 cells per second, log-uniformly distributed.
    Mixed,
    /// 2e12 and 1e11 cells per second alternately, like a GPU and a CPU in each machine.
    Pairs,
}

impl SimulatedSpeeds {
    /// Returns the name for tables.
    pub const fn name(self) -> &'static str {
        match self {
            SimulatedSpeeds::Even => "even",
            SimulatedSpeeds::Mixed => "mixed",
            SimulatedSpeeds::Pairs => "pairs",
        }
    }

    /// Returns the speeds of `ranks` ranks in cells per second.
    pub fn draw(self, ranks: usize, random: &mut SplitMix64) -> Vec<f64> {
        let one = |rank: usize| match self {
            SimulatedSpeeds::Even => 1e12,
            SimulatedSpeeds::Mixed => 1e11 * 20f64.powf(random.fraction()),
            SimulatedSpeeds::Pairs => [2e12, 1e11][rank % 2],
        };
        (0..ranks).map(one).collect()
    }
}

/// Parameters of a simulated job.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulation {
    /// Cells of each block.
    pub blocks: Vec<u64>,
    /// Speed of each rank in cells per second. There is at least one rank.
    pub speeds: Vec<f64>,
    /// Parameters of the dispatcher.
    pub rules: Rules,
    /// Seconds that a message takes from one rank to another.
    pub latency: f64,
    /// Bytes per second that rank 0 can send or receive.
    pub bandwidth: f64,
    /// Seconds that rank 0 needs to handle a message.
    pub handling: f64,
    /// Bytes of results that each block sends to rank 0. Zero if all ranks share a file system.
    pub result_bytes: u64,
    /// Maximum relative deviation of a block's time from the expected time.
    pub jitter: f64,
    /// Seconds to start the engines of a rank. Engines stop when the rank has no more blocks.
    pub stop: f64,
    /// Whether engines also stop after the blocks that were in the queue when they started.
    pub stops_between: bool,
    /// Fraction of the ranks that start late, and the maximum delay in seconds.
    pub late: (f64, f64),
    /// Fraction of the ranks that die while the job runs. Rank 0 does not die.
    pub deaths: f64,
    /// Seconds until the dispatcher is informed of a death.
    pub notice: f64,
    /// Seconds from the notice of a death to the restart of the job on all ranks. `None` if the
    /// other ranks continue after a death.
    pub restart: Option<f64>,
    /// Fraction of the ranks that fall silent while the job runs, without an error.
    pub hangs: f64,
    /// Probability that the computation of a block fails.
    pub failures: f64,
    /// Fraction of the blocks that fail on every rank.
    pub bad: f64,
    /// Seed of all random numbers.
    pub seed: u64,
}

impl Simulation {
    /// Creates a simulation without failures, on a network within one building, with 10
    /// microseconds for each message.
    pub fn without_failures(blocks: Vec<u64>, speeds: Vec<f64>) -> Self {
        Simulation {
            blocks,
            speeds,
            rules: Rules::default(),
            latency: 20e-6,
            bandwidth: 1e9,
            handling: 10e-6,
            result_bytes: 0,
            jitter: 0.0,
            stop: 0.0,
            stops_between: false,
            late: (0.0, 0.0),
            deaths: 0.0,
            notice: 10.0,
            restart: None,
            hangs: 0.0,
            failures: 0.0,
            bad: 0.0,
            seed: 1,
        }
    }

    /// Returns the minimum seconds that the blocks can take.
    pub fn min_seconds(&self) -> f64 {
        let cells: f64 = self.blocks.iter().map(|&cells| cells as f64).sum();
        cells / self.speeds.iter().sum::<f64>()
    }

    /// Runs the simulation.
    pub fn run(&self) -> SimulationReport {
        let mut random = SplitMix64::new(self.seed);
        let mut report = SimulationReport { counted: vec![0; self.blocks.len()], ..SimulationReport::default() };
        let random_failures = self.random_failures(&mut random);
        let bad = self.blocks.iter().map(|_| random.fraction() < self.bad).collect::<Vec<_>>();
        let mut start = 0.0;
        loop {
            let phase = Phase::new(self, &random_failures, &bad, start, report.clone(), &mut random);
            let (ended, after) = phase.run();
            report = after;
            match ended {
                PhaseEnd::Over(now) => report.seconds = now,
                PhaseEnd::Died(now) => {
                    report.restarts += 1;
                    start = now + self.notice + self.restart.unwrap_or(0.0);
                    continue;
                }
            }
            break;
        }
        let lives = |(rank, speed): (usize, &f64)| match (self.restart, random_failures[rank].dies) {
            (None, Some(dies)) => speed * dies.min(report.seconds),
            _ => speed * report.seconds,
        };
        let possible: f64 = self.speeds.iter().enumerate().map(lives).sum();
        let done = report.counted.iter().zip(&self.blocks).filter(|(count, _)| **count > 0);
        report.efficiency = done.map(|(_, &cells)| cells as f64).sum::<f64>() / possible;
        report
    }

    fn random_failures(&self, random: &mut SplitMix64) -> Vec<RankFate> {
        let mut random_failures = vec![RankFate::default(); self.speeds.len()];
        let while_it_runs = self.min_seconds();
        let others = self.speeds.len().saturating_sub(1);
        let count = |fraction: f64| ((fraction * self.speeds.len() as f64).round() as usize).min(others);
        for rank in random.choose(others, count(self.deaths)) {
            random_failures[rank + 1].dies = Some(while_it_runs * random.fraction());
        }
        for rank in random.choose(others, count(self.hangs)) {
            random_failures[rank + 1].hangs = Some(while_it_runs * random.fraction());
        }
        for rank in random.choose(others, count(self.late.0)) {
            random_failures[rank + 1].late = self.late.1 * random.fraction();
        }
        random_failures
    }
}

/// Events of one rank, in seconds from the start.
#[derive(Debug, Clone, Copy, Default)]
struct RankFate {
    late: f64,
    dies: Option<f64>,
    hangs: Option<f64>,
}

/// Result of a simulation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SimulationReport {
    /// Seconds until all blocks were done or had failed.
    pub seconds: f64,
    /// Cells of the finished blocks, divided by the cells that all ranks could have computed while
    /// they lived.
    pub efficiency: f64,
    /// Number of messages to and from rank 0, without its messages to itself.
    pub messages: u64,
    /// Bytes of these messages.
    pub bytes: u64,
    /// Seconds that rank 0 spent on messages.
    pub busy: f64,
    /// Longest time that a message waited for rank 0, in seconds.
    pub longest_wait: f64,
    /// Cells whose computation was wasted, because the rank died, the computation failed, or
    /// another result came first.
    pub lost_cells: f64,
    /// Seconds that ranks were idle between their first and their last block.
    pub idle: f64,
    /// Number of times that engines were started.
    pub begins: u64,
    /// Number of ranks that died.
    pub deaths: u64,
    /// Number of restarts of the job.
    pub restarts: u64,
    /// Number of failed computations.
    pub failures: u64,
    /// Number of blocks that were leased to a second rank.
    pub copies: u64,
    /// Number of results that counted, for each block.
    pub counted: Vec<u32>,
    /// Blocks that failed on every rank, in order.
    pub failed_blocks: Vec<usize>,
}

/// Estimates the seconds that blocks take on ranks of the given speeds, without failures. Returns 0
/// without blocks, and infinity if no rank has a speed.
pub fn estimate(blocks: &[u64], speeds: &[f64]) -> f64 {
    let speeds: Vec<f64> = speeds.iter().copied().filter(|speed| *speed > 0.0 && speed.is_finite()).collect();
    match (blocks.is_empty(), speeds.is_empty()) {
        (true, _) => 0.0,
        (false, true) => f64::INFINITY,
        _ => Simulation::without_failures(blocks.to_vec(), speeds).run().seconds,
    }
}
