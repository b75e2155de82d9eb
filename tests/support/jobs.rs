//! Jobs on engines of a test's own, and all of their rows at once.

use pairwave::jobs::long::LongEngines;
use pairwave::{Job, LongAlignment, LongHit, LongSummary, Result, Run};

/// Runs a job: its rows, and what it did.
pub fn run_on<J: Job<Row: Clone>>(job: &J, engines: J::Engines, run: &Run) -> Result<(Vec<J::Row>, J::Summary)> {
    let mut rows = Vec::new();
    let summary = job.run_on(engines, run, |some| {
        assert!(!some.is_empty(), "rows come in slices that hold some");
        rows.extend_from_slice(some);
        Ok(())
    })?;
    Ok((rows, summary))
}

/// The alignments of a long pair, and what they took.
#[derive(Debug)]
pub struct LongResult {
    pub hits: Vec<LongHit>,
    pub summary: LongSummary,
}

/// The same of a long pair.
pub fn run_long(job: &LongAlignment, engines: impl Into<LongEngines>, run: &Run) -> Result<LongResult> {
    let (hits, summary) = run_on(job, engines.into(), run)?;
    Ok(LongResult { hits, summary })
}

/// Two threads, and nothing else that a caller could ask for.
pub fn two_threads() -> Run {
    Run { threads: 2, ..Run::default() }
}
