//! Postprocessing of reports before the job receives them.
//!
//! One thread receives all reports, while every engine computes its next batch. Work that depends
//! on a single report is therefore done in parallel, on the threads of the engines or on helper
//! threads. The receiving thread only puts the results in order.

use super::{Batch, Work};

/// Postprocesses reports in parallel, before they are sorted.
pub trait Postprocess<W: Work>: Send + Sync {
    /// Returns the postprocessed report, which covers the same blocks.
    ///
    /// The method must not panic, because the queue already counts the work as done. `helpers` are
    /// threads that share the work. An engine that is itself a CPU thread has no helpers, because
    /// all other threads may be engines, too.
    fn postprocess(&self, batch: &Batch<W>, report: W::Report, helpers: Option<&rayon::ThreadPool>) -> W::Report;
}
