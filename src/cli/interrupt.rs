//! Signals. The first request to stop is passed to the job; the second ends the process. Temporary
//! files are removed whenever a handler can run before the process ends.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Sets handlers for all signals that end a process. Called once, at the start. Until [`watch`] is
/// called, each of these signals ends the process at once.
///
/// Signals that the process inherited as ignored stay ignored: `nohup` ignores the hang-up of the
/// terminal, and a script's `&` job ignores Ctrl-C. All other signals are handled.
pub(super) fn start() {
    system::start();
}

/// Returns a flag that is set when the user asks to stop: by Ctrl-C, a request to terminate, the
/// hang-up of the terminal, or a limit of a batch system. From this call on, the first such request
/// only sets the flag.
pub(super) fn watch() -> Arc<AtomicBool> {
    system::watch()
}

/// Returns the exit code of a job that was stopped: 128 plus the number of the signal.
pub(super) fn exit_code() -> u8 {
    system::exit_code()
}

#[cfg(unix)]
mod system {
    use super::super::memory;
    use super::*;
    use libc::c_int;
    use pairwave::output::for_each_temporary;
    use signal_hook::consts::*;
    use signal_hook::low_level::{emulate_default_handler, register};
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicI32, Ordering};

    /// Signals that ask to stop. Batch systems send SIGUSR1, SIGUSR2 and SIGXCPU before their
    /// limits are reached.
    const REQUESTS: [c_int; 6] = [SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU];
    /// Other signals that end a process, except those for faults in its code. `abort` sends
    /// SIGABRT, for example if memory is short.
    const ENDS: [c_int; 7] = [SIGQUIT, SIGABRT, SIGALRM, SIGVTALRM, SIGPROF, SIGSYS, SIGTRAP];
    /// Further signals that end a process on Linux.
    #[cfg(target_os = "linux")]
    const MORE_ENDS: [c_int; 3] = [libc::SIGPOLL, libc::SIGPWR, libc::SIGSTKFLT];
    #[cfg(not(target_os = "linux"))]
    const MORE_ENDS: [c_int; 0] = [];

    /// Message for a missing page of a mapped file. Only databases are mapped.
    const FILE_CHANGED: &[u8] =
        b"pairwave: error: a database was truncated during the search; replace a database by renaming the \
            new file, not by overwriting the old one\n";
    /// Message for failed allocations. Rust writes the size of the failed allocation before it.
    const MEMORY_IS_SHORT: &[u8] =
        b"pairwave: error: out of memory; use fewer threads, a lower --memory or smaller inputs\n";
    /// Exit code for an input that cannot be read or is too large.
    const UNREADABLE: c_int = 2;

    /// Stop flag of the job, once there is one.
    static STOP_REQUESTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    /// First signal that asked to stop; 0 for none.
    static SIGNAL: AtomicI32 = AtomicI32::new(0);

    pub(super) fn start() {
        for signal in REQUESTS.into_iter().chain(ENDS).chain(MORE_ENDS).chain(real_time()) {
            if is_ignored(signal) {
                continue;
            }
            // SAFETY: `handle` only uses atomics and system calls that are allowed in signal
            // handlers.
            if let Err(problem) = unsafe { register(signal, move || handle(signal)) } {
                tracing::debug!("signal {signal} cannot be handled: {problem}");
            }
        }
        // SAFETY: `end_with` only calls `unlink`, `write` and `_exit`, which are allowed in signal
        // handlers.
        if let Err(problem) = unsafe { register(SIGBUS, || end_with(FILE_CHANGED)) } {
            tracing::debug!("SIGBUS cannot be handled: {problem}");
        }
        // With this handler, a write beyond the limit of `ulimit -f` fails. Without it, the process
        // would end.
        if let Err(problem) = signal_hook::flag::register(SIGXFSZ, Arc::default()) {
            tracing::debug!("SIGXFSZ cannot be handled: {problem}");
        }
    }

    pub(super) fn watch() -> Arc<AtomicBool> {
        Arc::clone(STOP_REQUESTED.get_or_init(Arc::default))
    }

    pub(super) fn exit_code() -> u8 {
        let signal = match SIGNAL.load(Ordering::SeqCst) {
            0 => SIGINT,
            signal => signal,
        };
        u8::try_from(128 + signal).unwrap_or(128)
    }

    /// Handles a signal. Uses only atomics and system calls that are allowed in signal handlers.
    fn handle(signal: c_int) {
        if let Some(stop_requested) = STOP_REQUESTED.get().filter(|_| REQUESTS.contains(&signal))
            && SIGNAL.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst).is_ok()
        {
            stop_requested.store(true, Ordering::SeqCst);
            return;
        }
        if signal == SIGABRT && memory::is_short() {
            end_with(MEMORY_IS_SHORT);
        }
        remove_temporaries();
        // Ends the process by the signal, so that the parent process can identify the signal. For
        // SIGPOLL and real-time signals, this call returns. The job must end nevertheless, because
        // its files were removed.
        let _ = emulate_default_handler(signal);
        // SAFETY: `_exit` is allowed in signal handlers.
        unsafe { libc::_exit(128 + signal) };
    }

    /// Ends the process with an error. Safe to call in a signal handler.
    fn end_with(message: &'static [u8]) -> ! {
        remove_temporaries();
        // SAFETY: the bytes are static, and both calls are allowed in signal handlers.
        unsafe {
            libc::write(libc::STDERR_FILENO, message.as_ptr().cast(), message.len());
            libc::_exit(UNREADABLE);
        }
    }

    /// Removes all temporary files of the process. Safe to call in a signal handler.
    fn remove_temporaries() {
        for_each_temporary(|path| {
            // SAFETY: the path ends with a NUL, and `unlink` is allowed in signal handlers.
            unsafe { libc::unlink(path.as_ptr()) };
        });
    }

    /// Returns the real-time signals, which also end a process.
    fn real_time() -> std::ops::RangeInclusive<c_int> {
        #[cfg(target_os = "linux")]
        return libc::SIGRTMIN()..=libc::SIGRTMAX();
        #[cfg(not(target_os = "linux"))]
        #[expect(clippy::reversed_empty_ranges, reason = "there are none")]
        return 1..=0;
    }

    fn is_ignored(signal: c_int) -> bool {
        let mut action = std::mem::MaybeUninit::<libc::sigaction>::uninit();
        // SAFETY: without a new action, the call only writes the current one to `action`, which has
        // the expected type.
        let stop_requested = unsafe { libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) };
        // SAFETY: the call succeeded, so it has initialised `action`.
        stop_requested == 0 && unsafe { action.assume_init() }.sa_sigaction == libc::SIG_IGN
    }
}

#[cfg(not(unix))]
mod system {
    use super::*;
    use std::sync::OnceLock;
    use std::sync::atomic::Ordering;

    /// Exit code of a job that was stopped.
    const STOPPED: u8 = 130;

    pub(super) fn start() {}

    pub(super) fn watch() -> Arc<AtomicBool> {
        static STOP_REQUESTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();
        let stop_requested = STOP_REQUESTED.get_or_init(|| {
            let (stop_requested, seen) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
            let flag = Arc::clone(&stop_requested);
            let handled = ctrlc::try_set_handler(move || {
                flag.store(true, Ordering::SeqCst);
                if seen.swap(true, Ordering::SeqCst) {
                    std::process::exit(i32::from(STOPPED));
                }
            });
            if let Err(problem) = handled {
                tracing::debug!("signals cannot be handled: {problem}");
            }
            stop_requested
        });
        Arc::clone(stop_requested)
    }

    pub(super) fn exit_code() -> u8 {
        STOPPED
    }
}
