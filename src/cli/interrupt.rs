//! Ctrl-C: the first asks the job to stop, the second ends the process.

use std::process::exit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that is set when the user asks to stop (Ctrl-C, or a request to terminate). Called once.
///
/// Where a signal is already handled or ignored (under `nohup`, or in the background of a shell script) that is left
/// as it is, and the flag stays unset.
pub(super) fn watch() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let seen = flag.clone();
    let handled = ctrlc::try_set_handler(move || {
        if seen.swap(true, Ordering::SeqCst) {
            exit(130);
        }
    });
    if let Err(problem) = handled {
        tracing::debug!("signals are left alone: {problem}");
    }
    flag
}
