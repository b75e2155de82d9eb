//! The dispatcher before ranks that only pretend, in time that only passes in numbers: the code that hands out the blocks of
//! real jobs ([`super::dispatch`]), for thousands of ranks that nobody has at hand, and whatever may happen to them.
//!
//! What is thought of: ranks compute their blocks one after another, each at a speed of its own. Messages reach rank 0 after
//! the network's latency, wait until it has dealt with those before them, and take its time and its share of the line, as do
//! its answers. Rank 0 computes like the others, at no distance from itself, and does not die.

mod phase;
mod random;
#[cfg(test)]
mod tests;

pub use random::Random;

use super::dispatch::Rules;
use phase::{End, Phase};

/// How fast ranks are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speeds {
    /// All alike, 1 T cells a second.
    Even,
    /// From 100 G to 2 T cells a second; as many between 100 G and 200 G as between 1 T and 2 T.
    Mixed,
    /// 2 T and 100 G cells a second in turn: a GPU and a CPU in each machine.
    Pairs,
}

impl Speeds {
    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Speeds::Even => "even",
            Speeds::Mixed => "mixed",
            Speeds::Pairs => "pairs",
        }
    }

    /// Cells a second of so many ranks.
    pub fn of(self, ranks: usize, random: &mut Random) -> Vec<f64> {
        let one = |rank: usize| match self {
            Speeds::Even => 1e12,
            Speeds::Mixed => 1e11 * 20f64.powf(random.fraction()),
            Speeds::Pairs => [2e12, 1e11][rank % 2],
        };
        (0..ranks).map(one).collect()
    }
}

/// What happens to a job.
#[derive(Debug, Clone, PartialEq)]
pub struct World {
    /// Cells of its blocks.
    pub blocks: Vec<u64>,
    /// Cells a second of its ranks, at least one.
    pub speeds: Vec<f64>,
    /// What the dispatcher goes by.
    pub rules: Rules,
    /// Seconds from rank to rank.
    pub latency: f64,
    /// Bytes a second of rank 0's line.
    pub bandwidth: f64,
    /// Seconds that a message costs rank 0.
    pub handling: f64,
    /// Bytes of a block's results that go through rank 0; none if all ranks share a file system.
    pub result_bytes: u64,
    /// How much longer or shorter than expected a block takes at most, as a part of that.
    pub jitter: f64,
    /// Seconds that a rank loses when its engines stop and begin anew: always when it had nothing to compute.
    pub stop: f64,
    /// They also stop at the end of what was there when they began.
    pub stops_between: bool,
    /// Part of the ranks that come late, by up to so many seconds.
    pub late: (f64, f64),
    /// Part of the ranks that die while the job should run; rank 0 does not.
    pub deaths: f64,
    /// Seconds until a death is noticed.
    pub notice: f64,
    /// A death ends the job, and so many seconds later it is resumed by as many ranks; `None` if the others go on.
    pub restart: Option<f64>,
    /// Part of the ranks that fall silent while the job should run, which nobody notices.
    pub hangs: f64,
    /// Part of the times that a block is computed and fails.
    pub failures: f64,
    /// Part of the blocks that fail wherever they are computed.
    pub bad: f64,
    /// All that is random follows from it.
    pub seed: u64,
}

impl World {
    /// Nothing happens: a network within one building, and 10 microseconds a message.
    pub fn calm(blocks: Vec<u64>, speeds: Vec<f64>) -> Self {
        World {
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

    /// Seconds that the blocks take at least.
    pub fn least_seconds(&self) -> f64 {
        let cells: f64 = self.blocks.iter().map(|&cells| cells as f64).sum();
        cells / self.speeds.iter().sum::<f64>()
    }

    /// Lets it all happen.
    pub fn run(&self) -> Report {
        let mut random = Random::new(self.seed);
        let mut report = Report { counted: vec![0; self.blocks.len()], ..Report::default() };
        let fates = self.fates(&mut random);
        let bad = self.blocks.iter().map(|_| random.fraction() < self.bad).collect::<Vec<_>>();
        let mut begin = 0.0;
        loop {
            let phase = Phase::new(self, &fates, &bad, begin, report.clone(), &mut random);
            let (ended, after) = phase.run();
            report = after;
            match ended {
                End::Over(now) => report.seconds = now,
                End::Died(now) => {
                    report.restarts += 1;
                    begin = now + self.notice + self.restart.unwrap_or(0.0);
                    continue;
                }
            }
            break;
        }
        let lives = |(rank, speed): (usize, &f64)| match (self.restart, fates[rank].dies) {
            (None, Some(dies)) => speed * dies.min(report.seconds),
            _ => speed * report.seconds,
        };
        let possible: f64 = self.speeds.iter().enumerate().map(lives).sum();
        let done = report.counted.iter().zip(&self.blocks).filter(|(count, _)| **count > 0);
        report.efficiency = done.map(|(_, &cells)| cells as f64).sum::<f64>() / possible;
        report
    }

    fn fates(&self, random: &mut Random) -> Vec<Fate> {
        let mut fates = vec![Fate::default(); self.speeds.len()];
        let while_it_runs = self.least_seconds();
        let others = self.speeds.len().saturating_sub(1);
        let part = |part: f64| ((part * self.speeds.len() as f64).round() as usize).min(others);
        for rank in random.some(others, part(self.deaths)) {
            fates[rank + 1].dies = Some(while_it_runs * random.fraction());
        }
        for rank in random.some(others, part(self.hangs)) {
            fates[rank + 1].hangs = Some(while_it_runs * random.fraction());
        }
        for rank in random.some(others, part(self.late.0)) {
            fates[rank + 1].late = self.late.1 * random.fraction();
        }
        fates
    }
}

/// What is in store for a rank, in seconds from the begin.
#[derive(Debug, Clone, Copy, Default)]
struct Fate {
    late: f64,
    dies: Option<f64>,
    hangs: Option<f64>,
}

/// What became of a job.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// Seconds until all blocks were done or given up.
    pub seconds: f64,
    /// Cells of the blocks that are done, as a part of what all ranks could do while they lived.
    pub efficiency: f64,
    /// Messages to and from rank 0, its own left out.
    pub messages: u64,
    /// Bytes of these messages.
    pub bytes: u64,
    /// Seconds that messages cost rank 0.
    pub busy: f64,
    /// The longest time that a message waited for rank 0, in seconds.
    pub longest_wait: f64,
    /// Cells that were computed for nothing: by who died, failed, or was second.
    pub lost_cells: f64,
    /// Seconds that ranks had nothing to compute between their first and their last block.
    pub idle: f64,
    /// Times that engines began.
    pub begins: u64,
    /// Ranks that died.
    pub deaths: u64,
    /// Times that the job was resumed.
    pub restarts: u64,
    /// Times that a block failed.
    pub failures: u64,
    /// Copies of blocks that others held.
    pub copies: u64,
    /// How often each block counted.
    pub counted: Vec<u32>,
    /// The blocks that were given up, in order.
    pub given_up: Vec<usize>,
}

/// Seconds that blocks of so many cells take ranks of so many cells a second when nothing happens; 0 without blocks, without
/// end if no rank has a speed.
pub fn estimate(blocks: &[u64], speeds: &[f64]) -> f64 {
    let speeds: Vec<f64> = speeds.iter().copied().filter(|speed| *speed > 0.0 && speed.is_finite()).collect();
    match (blocks.is_empty(), speeds.is_empty()) {
        (true, _) => 0.0,
        (false, true) => f64::INFINITY,
        _ => World::calm(blocks.to_vec(), speeds).run().seconds,
    }
}
