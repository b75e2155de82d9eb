//! Threads that jobs compute on. Nothing runs on the pool that a process shares.

use std::sync::Arc;

use crate::error::{Error, Result};

/// A pool of `threads` threads; 0 for as many as there are processors.
pub fn thread_pool(threads: usize) -> Result<Arc<rayon::ThreadPool>> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|index| format!("pairwave-{index}"))
        .build()
        .map(Arc::new)
        .map_err(|error| Error::Internal(format!("threads could not be started: {error}")))
}
