//! Statistics of a job for other programs, as `--stats` writes them.

use serde::Serialize;

use crate::engine::stats::{EngineStats, RunStats, append_run};

/// Clock ticks per second in /proc. Linux reports this value to programs on all current machines,
/// whatever its internal rate.
#[cfg(target_os = "linux")]
const TICKS_PER_SECOND: f64 = 100.0;

/// Totals of a job and statistics of its engines. `D` contains the totals that only one kind of job
/// has.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Summary<D = ()> {
    /// Number of compared pairs.
    pub pairs: u64,
    /// Number of cells of their matrices.
    pub cells: u64,
    /// Number of aligned (traced back) pairs.
    pub aligned: u64,
    /// Number of pairs given to the caller.
    pub written: u64,
    /// Wall time in seconds.
    pub seconds: f64,
    /// Time in kernels in seconds, summed over engines.
    pub kernel_seconds: f64,
    /// Statistics of each engine.
    pub engines: Vec<EngineStats>,
    /// Time between the ends of the first and the last engine, as a fraction of the job's time
    /// ([`RunStats`]).
    pub imbalance: f64,
    /// Totals that only one kind of job has.
    #[serde(flatten)]
    pub details: D,
}

/// Totals that only one kind of job has.
#[doc(hidden)]
pub trait SummaryDetails {
    /// Adds the totals of later work.
    fn add(&mut self, later: Self);
}

impl SummaryDetails for () {
    fn add(&mut self, (): ()) {}
}

impl<D: SummaryDetails> Summary<D> {
    /// Adds the summary of later work by these or other engines.
    pub fn add(&mut self, later: Summary<D>) {
        append_run(&mut self.engines, later.engines, self.seconds);
        self.pairs += later.pairs;
        self.cells = self.cells.saturating_add(later.cells);
        self.aligned += later.aligned;
        self.written += later.written;
        self.seconds += later.seconds;
        self.kernel_seconds += later.kernel_seconds;
        self.imbalance = self.imbalance.max(later.imbalance);
        self.details.add(later.details);
    }
}

impl Summary {
    /// Adds the statistics of the engines.
    pub(super) fn with_engines(self, ran: RunStats) -> Self {
        let kernel_seconds = ran.engines.iter().map(|engine| engine.kernel_seconds).sum();
        Summary { kernel_seconds, engines: ran.engines, imbalance: ran.imbalance, ..self }
    }
}

/// The totals of a job, the statistics of its engines, and the processor time of the process.
#[derive(Debug, Clone, Serialize)]
pub struct JobStats<'a> {
    /// Version of pairwave.
    pub version: &'static str,
    /// Number of compared pairs.
    pub pairs: u64,
    /// Number of cells of their matrices.
    pub cells: u64,
    /// Number of pairs that were aligned by the engines or after them.
    pub aligned: u64,
    /// Number of written pairs.
    pub written: u64,
    /// Wall time in seconds, from when the engines were open to the last result.
    pub seconds: f64,
    /// Speed in 10^9 cells per second over that time.
    pub gcups: f64,
    /// Time between the ends of the first and the last engine, as a fraction of `seconds`.
    pub imbalance: f64,
    /// Processor time of the whole process in user mode, in seconds; `None` if the system does not
    /// report it.
    pub cpu_user_seconds: Option<f64>,
    /// Processor time of the whole process in system mode, in seconds; `None` if the system does
    /// not report it.
    pub cpu_system_seconds: Option<f64>,
    /// Names of the devices, in the order of `engines`.
    pub devices: Vec<&'a str>,
    /// Statistics of each engine. The threads of the CPU form one entry.
    pub engines: &'a [EngineStats],
}

impl<'a> JobStats<'a> {
    /// Returns the statistics of a job that has just ended.
    pub fn from_summary(summary: &'a Summary) -> Self {
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

/// Returns the processor time of this process so far in user mode and in system mode, in seconds.
/// Returns `None` if the system does not report it.
pub fn process_cpu_seconds() -> Option<(f64, f64)> {
    #[cfg(target_os = "linux")]
    {
        parse_stat(&std::fs::read_to_string("/proc/self/stat").ok()?)
    }
    #[cfg(not(target_os = "linux"))]
    {
        None
    }
}

/// Parses the text of /proc/PID/stat (proc(5): utime and stime are fields 14 and 15).
#[cfg(target_os = "linux")]
fn parse_stat(text: &str) -> Option<(f64, f64)> {
    // The second field is the name of the program in brackets, which may contain any character.
    let (_, rest) = text.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(14 - 3);
    let mut seconds = || Some(fields.next()?.parse::<f64>().ok()? / TICKS_PER_SECOND);
    Some((seconds()?, seconds()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn times_are_parsed_for_any_process_name() {
        let text = "71 (a ) b) S 1 71 71 0 -1 4194560 88 0 0 0 1234 56 0 0 20 0 1 0 99 1000 10\n";
        assert_eq!(parse_stat(text), Some((12.34, 0.56)));
        assert_eq!(parse_stat("71 (a) S 1"), None);
        let (user, system) = process_cpu_seconds().unwrap();
        assert!(user >= 0.0 && system >= 0.0 && user + system < 1e7);
    }

    #[test]
    fn json_has_the_documented_fields() {
        let engine = |name: &str, threads| EngineStats { name: name.into(), threads, ..EngineStats::default() };
        let engines = vec![engine("NVIDIA H200", 1), engine("cpu", 16)];
        let summary = Summary { pairs: 3, cells: 5_000_000_000, seconds: 2.0, engines, ..Summary::default() };
        let stats = JobStats { cpu_user_seconds: None, cpu_system_seconds: None, ..JobStats::from_summary(&summary) };
        let json = serde_json::to_value(&stats).unwrap();
        assert_eq!((json["gcups"].as_f64(), json["devices"][1].as_str()), (Some(2.5), Some("cpu")));
        assert!(json["cpu_user_seconds"].is_null() && json["engines"][1]["threads"] == 16);
    }
}
