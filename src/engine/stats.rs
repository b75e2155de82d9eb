//! Statistics of engines.

use std::time::Duration;

use serde::Serialize;

use super::queue::LeaseEnd;

/// Statistics of one engine. The threads of the CPU share one row.
///
/// Times are wall time. In a row of several threads they are averages over the threads, so that
/// cells divided by busy time is the speed of the row.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct EngineStats {
    /// Name of the engine.
    pub name: String,
    /// Number of computing threads. It is 1 for a GPU, whose thread sleeps while the device
    /// computes.
    pub threads: u64,
    /// Number of finished batches.
    pub batches: u64,
    /// Number of pairs in these batches.
    pub pairs: u64,
    /// Number of cells in these batches.
    pub cells: u64,
    /// Fraction of the job's cells, from 0 to 1.
    pub share: f64,
    /// Speed in 10^9 cells per busy second.
    pub gcups: f64,
    /// Seconds from the earliest possible start of a batch to its end, summed over batches.
    pub busy_seconds: f64,
    /// Seconds of the job while the engine was idle.
    pub idle_seconds: f64,
    /// Seconds in the kernel of a device or in the CPU's scoring, without tracebacks.
    pub kernel_seconds: f64,
    /// End of the last batch, in seconds after the start of the job; 0 if there was none.
    pub finished_at: f64,
    /// Reason why the engine was abandoned; `None` if it was not.
    pub lost: Option<String>,
}

impl EngineStats {
    /// Returns the statistics of an engine with one thread that has computed nothing yet.
    pub(crate) fn of_one_thread(name: &str) -> Self {
        EngineStats { name: name.into(), threads: 1, ..EngineStats::default() }
    }

    /// Adds a finished batch.
    pub(super) fn add(&mut self, pairs: u64, cells: u64, kernel_time: Option<Duration>, finished: LeaseEnd) {
        self.batches += 1;
        self.pairs += pairs;
        self.cells += cells;
        self.kernel_seconds += kernel_time.unwrap_or_default().as_secs_f64();
        self.busy_seconds += finished.busy_seconds;
        self.finished_at = self.finished_at.max(finished.at);
    }

    /// Records that the engine was abandoned, and warns the user.
    pub(crate) fn record_loss(&mut self, reason: String) {
        tracing::warn!("{} failed; the other engines take over its work: {reason}", self.name);
        self.lost = Some(reason);
    }

    /// Adds another thread of the same row.
    fn merge(&mut self, other: EngineStats) {
        self.threads += other.threads;
        self.batches += other.batches;
        self.pairs += other.pairs;
        self.cells += other.cells;
        self.busy_seconds += other.busy_seconds;
        self.kernel_seconds += other.kernel_seconds;
        self.finished_at = self.finished_at.max(other.finished_at);
        self.lost = self.lost.take().or(other.lost);
    }

    /// Adds the statistics of the same engine, with the same threads, in a later run. `start` is
    /// the duration of the earlier runs in seconds.
    fn append_run(&mut self, later: EngineStats, start: f64) {
        self.threads = self.threads.max(later.threads);
        self.batches += later.batches;
        self.pairs += later.pairs;
        self.cells += later.cells;
        self.busy_seconds += later.busy_seconds;
        self.idle_seconds += later.idle_seconds;
        self.kernel_seconds += later.kernel_seconds;
        self.finished_at = if later.batches > 0 { start + later.finished_at } else { self.finished_at };
        self.lost = self.lost.take().or(later.lost);
    }
}

/// Appends the statistics of a run to the statistics of earlier runs, which took `start` seconds in
/// all. Engines of the same name share a row.
pub(crate) fn append_run(rows: &mut Vec<EngineStats>, later: Vec<EngineStats>, start: f64) {
    for engine in later {
        match rows.iter_mut().find(|row| row.name == engine.name) {
            Some(row) => row.append_run(engine, start),
            None => {
                let finished_at = if engine.batches > 0 { start + engine.finished_at } else { 0.0 };
                rows.push(EngineStats { finished_at, ..engine });
            }
        }
    }
    set_rates(rows);
}

/// Sets the idle time, the share and the speed of all engines of a job that took `seconds` seconds.
pub(crate) fn complete(rows: &mut [EngineStats], seconds: f64) {
    for row in &mut *rows {
        row.idle_seconds = (seconds - row.busy_seconds).max(0.0);
    }
    set_rates(rows);
}

/// Sets the share and the speed of each row from its cells and its busy time.
fn set_rates(rows: &mut [EngineStats]) {
    let cells: u64 = rows.iter().map(|row| row.cells).sum();
    for row in rows {
        row.share = row.cells as f64 / cells.max(1) as f64;
        row.gcups = if row.cells > 0 { row.cells as f64 / row.busy_seconds.max(1e-9) / 1e9 } else { 0.0 };
    }
}

/// Statistics of all engines in a job.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunStats {
    /// One row for each engine, and one for all threads of the CPU.
    pub engines: Vec<EngineStats>,
    /// Time between the ends of the first and the last engine, as a fraction of the job's time.
    /// Each CPU thread counts separately. Engines that were lost or computed nothing do not count.
    pub imbalance: f64,
}

impl RunStats {
    /// Sums up the engines of a job that took `seconds` seconds. Engines of the same name share a
    /// row. Only the threads of the CPU have the same name.
    pub fn from_engines(engines: impl IntoIterator<Item = EngineStats>, seconds: f64) -> Self {
        let mut rows: Vec<EngineStats> = Vec::new();
        let (mut first, mut last) = (f64::INFINITY, 0f64);
        for engine in engines {
            if engine.batches > 0 && engine.lost.is_none() {
                first = first.min(engine.finished_at);
                last = last.max(engine.finished_at);
            }
            match rows.iter_mut().find(|row| row.name == engine.name) {
                Some(row) => row.merge(engine),
                None => rows.push(engine),
            }
        }
        for row in &mut rows {
            let threads = row.threads.max(1) as f64;
            row.busy_seconds /= threads;
            row.kernel_seconds /= threads;
        }
        complete(&mut rows, seconds);
        let imbalance = if last > first { (last - first) / seconds.max(1e-9) } else { 0.0 };
        RunStats { engines: rows, imbalance }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn engine(name: &str, batches: &[(u64, f64, f64)]) -> EngineStats {
        let mut stats = EngineStats::of_one_thread(name);
        for &(cells, busy_seconds, at) in batches {
            stats.add(1, cells, Some(Duration::from_secs_f64(busy_seconds / 2.0)), LeaseEnd { busy_seconds, at });
        }
        stats
    }

    #[test]
    fn consecutive_runs_add_up_except_their_threads() {
        let run = |cells, at| {
            let cpu = [engine("cpu", &[(cells, 2.0, at)]), engine("cpu", &[(cells, 4.0, at)])];
            RunStats::from_engines(cpu, 5.0).engines
        };
        let mut rows = run(30_000_000_000, 4.0);
        append_run(&mut rows, run(60_000_000_000, 5.0), 10.0);
        append_run(&mut rows, vec![engine("card", &[(180_000_000_000, 1.0, 1.0)])], 15.0);
        let cpu = &rows[0];
        assert_eq!((cpu.threads, cpu.batches, cpu.cells, cpu.busy_seconds), (2, 4, 180_000_000_000, 6.0));
        assert_eq!((cpu.idle_seconds, cpu.finished_at, cpu.gcups, cpu.share), (4.0, 15.0, 30.0, 0.5));
        assert_eq!((rows[1].threads, rows[1].finished_at, rows[1].share), (1, 16.0, 0.5));
        let idle = vec![EngineStats { finished_at: 0.0, batches: 0, cells: 0, ..rows[0].clone() }];
        append_run(&mut rows, idle, 99.0);
        assert_eq!(rows[0].finished_at, 15.0, "it did nothing more");
    }

    #[test]
    fn cpu_threads_share_a_row_and_count_separately_for_imbalance() {
        let lost = EngineStats { lost: Some("gone".into()), ..engine("card", &[(50_000_000_000, 1.0, 1.0)]) };
        let cpu = [engine("cpu", &[(20_000_000_000, 6.0, 8.0)]), engine("cpu", &[(30_000_000_000, 2.0, 9.0)])];
        let idle = engine("late", &[]);
        let ran = RunStats::from_engines([lost].into_iter().chain(cpu).chain([idle]), 10.0);
        assert_eq!(ran.imbalance, 0.1);
        let cpu = EngineStats {
            name: "cpu".into(),
            threads: 2,
            batches: 2,
            pairs: 2,
            cells: 50_000_000_000,
            share: 0.5,
            gcups: 12.5,
            busy_seconds: 4.0,
            idle_seconds: 6.0,
            kernel_seconds: 2.0,
            finished_at: 9.0,
            lost: None,
        };
        assert_eq!(ran.engines[1], cpu);
        assert_eq!((ran.engines.len(), ran.engines[0].gcups, ran.engines[0].idle_seconds), (3, 50.0, 9.0));
        assert_eq!((ran.engines[2].gcups, ran.engines[2].idle_seconds), (0.0, 10.0));
    }
}
