//! What is made of a report before the job hears of it: beside a device's thread, or by a CPU engine's own.
//!
//! There is one thread that takes reports over, and an engine each that computes the next while the last report is looked
//! at. What can be done with a report alone is therefore done here, beside the engines and as many times at once as there
//! are: who takes it over only puts in order what others made.

use super::{Batch, Work};

/// Makes of reports what is left to be put in order.
pub trait Settle<W: Work>: Send + Sync {
    /// What becomes of a report, of the same blocks. It may not panic: the queue counts the work as done. `helpers` are
    /// threads to share it with; an engine that is a thread of the CPU has none, as all others may be engines, too.
    fn settle(&self, batch: &Batch<W>, report: W::Report, helpers: Option<&rayon::ThreadPool>) -> W::Report;
}
