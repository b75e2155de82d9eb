//! Threads that jobs compute on. Nothing runs on the global pool of the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, Scope, ScopedJoinHandle};

use crate::error::{Error, Result, plain};

/// Returns a pool of `threads` threads; 0 stands for the number of processors. If the system
/// refuses to start them, the function tries half as many, a quarter and so on, and warns once per
/// process.
///
/// # Errors
/// [`Error::Device`] if the system cannot start a single thread.
pub fn thread_pool(threads: usize) -> Result<Arc<rayon::ThreadPool>> {
    static HAS_WARNED: AtomicBool = AtomicBool::new(false);
    let wanted = if threads == 0 { std::thread::available_parallelism().map_or(1, usize::from) } else { threads };
    let mut count = wanted;
    loop {
        let builder = rayon::ThreadPoolBuilder::new().num_threads(count);
        match builder.thread_name(|index| format!("pairwave-{index}")).build() {
            Ok(pool) => {
                if count < wanted && !HAS_WARNED.swap(true, Ordering::Relaxed) {
                    tracing::warn!("only {count} of {wanted} threads could be started; the job runs on these");
                }
                return Ok(Arc::new(pool));
            }
            Err(error) if count == 1 => return Err(no_thread(&error.to_string())),
            Err(_) => count /= 2,
        }
    }
}

/// Returns the error for a system that starts no thread.
pub(crate) fn no_thread(error: &str) -> Error {
    let message = format!(
        "no thread could be started: {error}; raise the limits of processes and memory ('ulimit -u', 'ulimit -v')"
    );
    Error::Device { device: "CPU".into(), message }
}

/// Starts up to `count` threads that run `work`, as many as the system allows.
///
/// The caller runs `work`, too, so that it is done even if no thread starts. A shortage of threads
/// is reported once per process.
pub(crate) fn helpers<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    count: usize,
    work: impl Fn() -> T + Send + Copy + 'scope,
) -> Vec<ScopedJoinHandle<'scope, T>> {
    static HAS_WARNED: AtomicBool = AtomicBool::new(false);
    let (helpers, refused) = start_helpers(scope, count, work, Builder::new);
    if let Some(error) = refused.filter(|_| !HAS_WARNED.swap(true, Ordering::Relaxed)) {
        let available = helpers.len() + 1;
        tracing::warn!(
            "only {available} of {} threads could be started; the job runs on these: {}",
            count + 1,
            plain(&error)
        );
    }
    helpers
}

/// Returns the started threads, and the error that prevented more.
fn start_helpers<'scope, T: Send + 'scope>(
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
    fn work_is_done_by_the_threads_that_start() {
        let done = AtomicUsize::new(0);
        let work = || done.fetch_add(1, Ordering::Relaxed);
        // No address space can hold a stack of this size.
        let startable = Cell::new(2usize);
        let builder = || match startable.replace(startable.get().saturating_sub(1)) {
            0 => Builder::new().stack_size(1 << 60),
            _ => Builder::new(),
        };
        let (started, refused) = std::thread::scope(|scope| {
            let (helpers, refused) = start_helpers(scope, 5, work, builder);
            (helpers.len(), refused)
        });
        assert_eq!((started, refused.is_some(), done.into_inner()), (2, true, 2));
    }
}
