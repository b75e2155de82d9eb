//! A job in numbers, for programs: what `--stats` writes.

use serde::Serialize;

use crate::engine::stats::{EngineStats, RunStats, append_run};

/// Ticks a second in /proc: what the kernel tells programs, whatever it counts in itself, on all but historical machines.
#[cfg(target_os = "linux")]
const TICKS_A_SECOND: f64 = 100.0;

/// What a job did.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Summary {
    /// Pairs compared.
    pub pairs: u64,
    /// Cells of their matrices.
    pub cells: u64,
    /// Pairs that were aligned (traced back).
    pub aligned: u64,
    /// Pairs that were given to the caller.
    pub written: u64,
    /// Wall time in seconds.
    pub seconds: f64,
    /// Time in kernels in seconds, summed over engines.
    pub kernel_seconds: f64,
    /// What each engine did.
    pub engines: Vec<EngineStats>,
    /// Time between the first and the last engine's end, as a fraction of the job's time
    /// ([`RunStats`]).
    pub imbalance: f64,
}

impl Summary {
    /// Adds what was done after this, by the same engines or others.
    pub fn add(&mut self, later: Summary) {
        append_run(&mut self.engines, later.engines, self.seconds);
        self.pairs += later.pairs;
        self.cells = self.cells.saturating_add(later.cells);
        self.aligned += later.aligned;
        self.written += later.written;
        self.seconds += later.seconds;
        self.kernel_seconds += later.kernel_seconds;
        self.imbalance = self.imbalance.max(later.imbalance);
    }

    /// The same with what the engines did.
    pub(super) fn with_engines(self, ran: RunStats) -> Self {
        let kernel_seconds = ran.engines.iter().map(|engine| engine.kernel_seconds).sum();
        Summary { kernel_seconds, engines: ran.engines, imbalance: ran.imbalance, ..self }
    }
}

/// A job's totals, its engines, and what it took of the machine.
#[derive(Debug, Clone, Serialize)]
pub struct JobStats<'a> {
    /// Of pairwave.
    pub version: &'static str,
    /// Pairs compared.
    pub pairs: u64,
    /// Cells of their matrices.
    pub cells: u64,
    /// Pairs that were aligned, by the engines or after them.
    pub aligned: u64,
    /// Pairs that were written.
    pub written: u64,
    /// Wall time from when the engines were open to the last result.
    pub seconds: f64,
    /// 10^9 cells a second over that time.
    pub gcups: f64,
    /// Time between the first and the last engine's end, as a fraction of `seconds`.
    pub imbalance: f64,
    /// Processor time of the whole process so far in user mode; `None` where the system does not tell.
    pub cpu_user_seconds: Option<f64>,
    /// The same in the system's.
    pub cpu_system_seconds: Option<f64>,
    /// Names of the devices, in the order of `engines`.
    pub devices: Vec<&'a str>,
    /// What each did; the CPU's threads are one.
    pub engines: &'a [EngineStats],
}

impl<'a> JobStats<'a> {
    /// Of a job that has just ended.
    pub fn of(summary: &'a Summary) -> Self {
        let cpu = process_cpu_seconds();
        JobStats {
            version: env!("CARGO_PKG_VERSION"),
            pairs: summary.pairs,
            cells: summary.cells,
            aligned: summary.aligned,
            written: summary.written,
            seconds: summary.seconds,
            gcups: summary.cells as f64 / summary.seconds.max(1e-9) / 1e9,
            imbalance: summary.imbalance,
            cpu_user_seconds: cpu.map(|(user, _)| user),
            cpu_system_seconds: cpu.map(|(_, system)| system),
            devices: summary.engines.iter().map(|engine| engine.name.as_str()).collect(),
            engines: &summary.engines,
        }
    }
}

/// Processor time that this process has taken so far, in user mode and in the system's, in seconds; `None` where the system
/// does not tell.
pub fn process_cpu_seconds() -> Option<(f64, f64)> {
    #[cfg(target_os = "linux")]
    {
        of_stat(&std::fs::read_to_string("/proc/self/stat").ok()?)
    }
    #[cfg(not(target_os = "linux"))]
    {
        None
    }
}

/// From the text of /proc/PID/stat (proc(5): utime and stime are fields 14 and 15).
#[cfg(target_os = "linux")]
fn of_stat(text: &str) -> Option<(f64, f64)> {
    // The second field is the program's name in brackets, which may hold anything.
    let (_, rest) = text.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(14 - 3);
    let mut seconds = || Some(fields.next()?.parse::<f64>().ok()? / TICKS_A_SECOND);
    Some((seconds()?, seconds()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn times_of_a_process_with_an_odd_name() {
        let text = "71 (a ) b) S 1 71 71 0 -1 4194560 88 0 0 0 1234 56 0 0 20 0 1 0 99 1000 10\n";
        assert_eq!(of_stat(text), Some((12.34, 0.56)));
        assert_eq!(of_stat("71 (a) S 1"), None);
        let (user, system) = process_cpu_seconds().unwrap();
        assert!(user >= 0.0 && system >= 0.0 && user + system < 1e7);
    }

    #[test]
    fn the_schema() {
        let engine = |name: &str, threads| EngineStats { name: name.into(), threads, ..EngineStats::default() };
        let engines = vec![engine("NVIDIA H200", 1), engine("cpu", 16)];
        let summary = Summary { pairs: 3, cells: 5_000_000_000, seconds: 2.0, engines, ..Summary::default() };
        let stats = JobStats { cpu_user_seconds: None, cpu_system_seconds: None, ..JobStats::of(&summary) };
        let json = serde_json::to_value(&stats).unwrap();
        assert_eq!((json["gcups"].as_f64(), json["devices"][1].as_str()), (Some(2.5), Some("cpu")));
        assert!(json["cpu_user_seconds"].is_null() && json["engines"][1]["threads"] == 16);
    }
}
