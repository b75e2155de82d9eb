//! Ctrl-C: the first asks the job to stop, the second ends the process.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The exit code of a job that was stopped.
const STOPPED: i32 = 130;

/// A flag that is set when the user asks to stop: by Ctrl-C, a request to terminate, or the end of the terminal. Called once.
///
/// A signal that the process inherited as ignored (`nohup` ignores the end of the terminal, a script's `&` job Ctrl-C) stays
/// ignored; the others are heard all the same.
pub(super) fn watch() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    system::listen(&flag);
    flag
}

#[cfg(unix)]
mod system {
    use super::*;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::flag::{register, register_conditional_shutdown};

    pub(super) fn listen(flag: &Arc<AtomicBool>) {
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            if is_ignored(signal) {
                continue;
            }
            // In this order: what the flag was before the signal decides.
            let handled = register_conditional_shutdown(signal, STOPPED, Arc::clone(flag))
                .and_then(|_| register(signal, Arc::clone(flag)));
            if let Err(problem) = handled {
                tracing::debug!("signal {signal} is left alone: {problem}");
            }
        }
        // A file beyond the limit of `ulimit -f` is then an error of the write, not the end of the process.
        if let Err(problem) = register(SIGXFSZ, Arc::default()) {
            tracing::debug!("too large files end the process: {problem}");
        }
    }

    fn is_ignored(signal: i32) -> bool {
        let mut found = std::mem::MaybeUninit::<libc::sigaction>::uninit();
        // SAFETY: with no new action the call only writes the present one to `found`, which is of the type that it expects.
        let asked = unsafe { libc::sigaction(signal, std::ptr::null(), found.as_mut_ptr()) };
        // SAFETY: the call has written it.
        asked == 0 && unsafe { found.assume_init() }.sa_sigaction == libc::SIG_IGN
    }
}

#[cfg(not(unix))]
mod system {
    use super::*;
    use std::sync::atomic::Ordering;

    pub(super) fn listen(flag: &Arc<AtomicBool>) {
        let seen = Arc::clone(flag);
        let handled = ctrlc::try_set_handler(move || {
            if seen.swap(true, Ordering::SeqCst) {
                std::process::exit(STOPPED);
            }
        });
        if let Err(problem) = handled {
            tracing::debug!("signals are left alone: {problem}");
        }
    }
}
