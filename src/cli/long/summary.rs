//! Summary of `pairwave long`, as text and for programs.

use crate::cli::progress::gcups;
use pairwave::engine::stats::EngineStats;
use pairwave::jobs::Summary;
use pairwave::jobs::long::LongDetails;
use pairwave::jobs::stats::process_cpu_seconds;
use pairwave::output::long::StoredRecords;
use serde::Serialize;

/// Numbers of sequences and symbols.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct LongSize {
    queries: usize,
    targets: usize,
    /// Number of symbols of all queries.
    query_length: u64,
    /// Number of symbols of all targets.
    target_length: u64,
}

impl LongSize {
    pub(super) fn new(queries: &StoredRecords, targets: &StoredRecords) -> Self {
        LongSize {
            queries: queries.ids.len(),
            targets: targets.ids.len(),
            query_length: queries.symbols(),
            target_length: targets.symbols(),
        }
    }
}

/// Summary of the job.
pub(crate) struct Took<D = LongDetails> {
    pub(super) size: LongSize,
    /// Number of written alignments.
    pub(super) written: usize,
    pub(super) summary: Summary<D>,
}

/// Content of the `--stats` file.
#[derive(Serialize)]
pub(super) struct LongStats<'a> {
    /// Version of pairwave.
    version: &'static str,
    #[serde(flatten)]
    size: LongSize,
    /// Number of written alignments.
    written: usize,
    /// Speed over the whole time, in 10^9 cells per second.
    gcups: f64,
    /// Processor time of the whole process; `None` if the system does not report it.
    cpu_user_seconds: Option<f64>,
    cpu_system_seconds: Option<f64>,
    cells: u64,
    pruned_cells: u64,
    traced_cells: u64,
    seconds: f64,
    sweep_seconds: f64,
    trace_seconds: f64,
    edge_bytes_peak: u64,
    spilled_bytes: u64,
    resumed: bool,
    engines: Vec<LongEngineRow<'a>>,
}

/// Statistics of an engine in the `--stats` file.
#[derive(Serialize)]
struct LongEngineRow<'a> {
    name: &'a str,
    /// Number of cells that the engine computed in sweeps.
    cells: u64,
    /// Seconds of computing, without the time that the engine waited for its left neighbour.
    seconds: f64,
    /// Reason why the engine was abandoned; `None` if it was not.
    lost: Option<&'a str>,
}

impl<'a> From<&'a EngineStats> for LongEngineRow<'a> {
    fn from(engine: &'a EngineStats) -> Self {
        let EngineStats { name, cells, busy_seconds, lost, .. } = engine;
        LongEngineRow { name, cells: *cells, seconds: *busy_seconds, lost: lost.as_deref() }
    }
}

impl<'a> From<&'a Took> for LongStats<'a> {
    fn from(took: &'a Took) -> Self {
        let (summary, details, cpu) = (&took.summary, &took.summary.details, process_cpu_seconds());
        LongStats {
            version: env!("CARGO_PKG_VERSION"),
            size: took.size,
            written: took.written,
            gcups: summary.cells as f64 / summary.seconds.max(1e-9) / 1e9,
            cpu_user_seconds: cpu.map(|(user, _)| user),
            cpu_system_seconds: cpu.map(|(_, system)| system),
            cells: summary.cells,
            pruned_cells: details.pruned_cells,
            traced_cells: details.traced_cells,
            seconds: summary.seconds,
            sweep_seconds: details.sweep_seconds,
            trace_seconds: details.trace_seconds,
            edge_bytes_peak: details.edge_bytes_peak,
            spilled_bytes: details.spilled_bytes,
            resumed: details.resumed,
            engines: summary.engines.iter().map(LongEngineRow::from).collect(),
        }
    }
}

/// Returns the summary of a job as text.
pub(super) fn summary_lines(summary: &Summary<LongDetails>, written: usize) -> Vec<String> {
    let details = &summary.details;
    let speed = |cells: u64, seconds: f64| gcups(cells as f64 / seconds.max(1e-6));
    let mut line = format!(
        "{} cells in {:.3} s: {}",
        indicatif::HumanCount(summary.cells),
        summary.seconds,
        speed(summary.cells, summary.seconds)
    );
    if details.pruned_cells > 0 {
        let share = 100.0 * details.pruned_cells as f64 / summary.cells.max(1) as f64;
        line.push_str(&format!(", {share:.1}% of them pruned"));
    }
    line.push_str(&format!("; sweeps {:.3} s, tracebacks {:.3} s", details.sweep_seconds, details.trace_seconds));
    if details.resumed {
        line.push_str("; resumed from a checkpoint");
    }
    let plural = if written == 1 { "" } else { "s" };
    line.push_str(&format!("; {written} alignment{plural}"));
    let names: Vec<&str> = summary.engines.iter().map(|engine| engine.name.as_str()).collect();
    if !names.is_empty() {
        line.push_str(&format!("; {}", names.join(", ")));
    }
    let mut lines = vec![line];
    let several = summary.engines.len() > 1;
    lines.extend(summary.engines.iter().filter(|engine| several || engine.lost.is_some()).map(|engine| {
        let share = 100.0 * engine.cells as f64 / summary.cells.max(1) as f64;
        let lost = engine.lost.as_ref().map_or(String::new(), |why| format!("; abandoned: {why}"));
        format!(
            "  {}: {share:.1}% of the cells, {} while busy{lost}",
            engine.name,
            speed(engine.cells, engine.busy_seconds)
        )
    }));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stats_keep_their_keys_and_order() {
        let engines = vec![EngineStats { name: "cpu".into(), cells: 5, busy_seconds: 1.5, ..EngineStats::default() }];
        let summary: Summary<LongDetails> = Summary { cells: 6, seconds: 2.0, engines, ..Summary::default() };
        let size = LongSize { queries: 1, targets: 1, query_length: 2, target_length: 3 };
        let took = Took { size, written: 1, summary };
        let json = serde_json::to_string(&LongStats::from(&took)).unwrap();
        assert!(
            json.starts_with("{\"version\":")
                && json.contains(r#""queries":1,"targets":1,"query_length":2,"target_length":3,"written":1,"#)
        );
        let totals = r#""cells":6,"pruned_cells":0,"traced_cells":0,"seconds":2.0,"sweep_seconds":0.0,"#;
        let memory = r#""trace_seconds":0.0,"edge_bytes_peak":0,"spilled_bytes":0,"resumed":false,"#;
        let engines = r#""engines":[{"name":"cpu","cells":5,"seconds":1.5,"lost":null}]}"#;
        assert!(json.ends_with(&format!("{totals}{memory}{engines}")), "{json}");
    }
}
