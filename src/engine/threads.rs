//! Threads that jobs compute on. Nothing runs on the pool that a process shares.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, Scope, ScopedJoinHandle};

use crate::error::{Error, Result, plain};

/// Returns a pool of `threads` threads; 0 stands for the number of processors. If the system grants fewer, the pool has a half, a quarter
/// and so on, with one warning.
///
/// # Errors
/// [`Error::Device`] if the system does not even grant one.
pub fn thread_pool(threads: usize) -> Result<Arc<rayon::ThreadPool>> {
    static SAID: AtomicBool = AtomicBool::new(false);
    let wanted = if threads == 0 { std::thread::available_parallelism().map_or(1, usize::from) } else { threads };
    let mut count = wanted;
    loop {
        let builder = rayon::ThreadPoolBuilder::new().num_threads(count);
        match builder.thread_name(|index| format!("pairwave-{index}")).build() {
            Ok(pool) => {
                if count < wanted && !SAID.swap(true, Ordering::Relaxed) {
                    tracing::warn!("only {count} of {wanted} threads could be started, which do it all");
                }
                return Ok(Arc::new(pool));
            }
            Err(error) if count == 1 => return Err(no_thread(&error.to_string())),
            Err(_) => count /= 2,
        }
    }
}

/// Returns the error for a system that grants no thread.
pub(crate) fn no_thread(error: &str) -> Error {
    let message = format!(
        "no thread could be started: {error}; raise the limits of processes and memory ('ulimit -u', 'ulimit -v')"
    );
    Error::Device { device: "CPU".into(), message }
}

/// Starts as many of `count` threads as the system grants; each does `work`, which the caller does, too: so it is done even
/// if none starts. That there are fewer is said once.
pub(crate) fn helpers<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    count: usize,
    work: impl Fn() -> T + Send + Copy + 'scope,
) -> Vec<ScopedJoinHandle<'scope, T>> {
    static SAID: AtomicBool = AtomicBool::new(false);
    let (helpers, refused) = helpers_of(scope, count, work, Builder::new);
    if let Some(error) = refused.filter(|_| !SAID.swap(true, Ordering::Relaxed)) {
        let there = helpers.len() + 1;
        tracing::warn!("only {there} of {} threads could be started, which do it all: {}", count + 1, plain(&error));
    }
    helpers
}

/// The threads that start, and why there are not more.
fn helpers_of<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    count: usize,
    work: impl Fn() -> T + Send + Copy + 'scope,
    builder: impl Fn() -> Builder,
) -> (Vec<ScopedJoinHandle<'scope, T>>, Option<std::io::Error>) {
    let mut helpers = Vec::new();
    for index in 0..count {
        match builder().name(format!("pairwave-helper-{index}")).spawn_scoped(scope, work) {
            Ok(helper) => helpers.push(helper),
            Err(error) => return (helpers, Some(error)),
        }
    }
    (helpers, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn threads_that_cannot_be_started_are_done_without() {
        let done = AtomicUsize::new(0);
        let work = || done.fetch_add(1, Ordering::Relaxed);
        // No address space has room for such a stack.
        let left = Cell::new(2usize);
        let builder = || match left.replace(left.get().saturating_sub(1)) {
            0 => Builder::new().stack_size(1 << 60),
            _ => Builder::new(),
        };
        let (started, refused) = std::thread::scope(|scope| {
            let (helpers, refused) = helpers_of(scope, 5, work, builder);
            (helpers.len(), refused)
        });
        assert_eq!((started, refused.is_some(), done.into_inner()), (2, true, 2));
    }
}
