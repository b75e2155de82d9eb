//! Runs jobs on given engines and collects all their rows.

use pairwave::jobs::long::LongEngines;
use pairwave::{Job, LongAlignment, LongDetails, LongHit, Result, Run, Summary};

/// Runs a job and returns its rows and its summary.
pub fn run_on<J: Job<Row: Clone>>(job: &J, engines: J::Engines, run: &Run) -> Result<(Vec<J::Row>, J::Summary)> {
    let mut rows = Vec::new();
    let summary = job.run_on(engines, run, |some| {
        assert!(!some.is_empty(), "rows come in slices that hold some");
        rows.extend_from_slice(some);
        Ok(())
    })?;
    Ok((rows, summary))
}

/// The alignments of a long pair and the summary.
#[derive(Debug)]
pub struct LongResult {
    pub hits: Vec<LongHit>,
    pub summary: Summary<LongDetails>,
}

/// Runs a job for a long pair and returns its alignments and its summary.
pub fn run_long(job: &LongAlignment, engines: impl Into<LongEngines>, run: &Run) -> Result<LongResult> {
    let (hits, summary) = run_on(job, engines.into(), run)?;
    Ok(LongResult { hits, summary })
}

/// Returns options with two threads and defaults for everything else.
pub fn two_threads() -> Run {
    Run { threads: 2, ..Run::default() }
}
