//! Signals. The first request to stop is passed to the job, the second ends the process. Whatever signal ends the process, no
//! temporary file is left if a handler can run.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Sets handlers for all signals that end a process. Called once, at the start. Until [`watch`] is called, each of them ends the
/// process at once.
///
/// A signal that the process inherited as ignored (`nohup` ignores the end of the terminal, a script's `&` job Ctrl-C) stays
/// ignored; the others are handled all the same.
pub(super) fn start() {
    system::start();
}

/// Returns a flag that is set when the user asks to stop: by Ctrl-C, a request to terminate, the end of the terminal, or a
/// limit of a batch system. From now on the first of these does nothing else.
pub(super) fn watch() -> Arc<AtomicBool> {
    system::watch()
}

/// The exit code of a job that was stopped: 128 and the number of the signal.
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

    /// Signals that ask to stop. Batch systems send SIGUSR1, SIGUSR2 and SIGXCPU before their limits are reached.
    const REQUESTS: [c_int; 6] = [SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU];
    /// Other signals that end a process, except faults in its code. `abort` sends SIGABRT, for example when memory is short.
    const ENDS: [c_int; 7] = [SIGQUIT, SIGABRT, SIGALRM, SIGVTALRM, SIGPROF, SIGSYS, SIGTRAP];
    /// Further signals that end a process on Linux.
    #[cfg(target_os = "linux")]
    const MORE_ENDS: [c_int; 3] = [libc::SIGPOLL, libc::SIGPWR, libc::SIGSTKFLT];
    #[cfg(not(target_os = "linux"))]
    const MORE_ENDS: [c_int; 0] = [];

    /// The message for a page of a mapped file that is gone. Only databases are mapped.
    const FILE_CHANGED: &[u8] =
        b"pairwave: error: a database was truncated during the search; replace a database by renaming the \
            new file, not by overwriting the old one\n";
    /// The message for a system without memory. It follows the size of the allocation that failed, which Rust writes.
    const MEMORY_IS_SHORT: &[u8] =
        b"pairwave: error: out of memory; use fewer threads, a lower --memory or smaller inputs\n";
    /// The exit code of an input that cannot be read, or is too large.
    const UNREADABLE: c_int = 2;

    /// The flag of the job, once there is one.
    static ASKED: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    /// The signal that asked first; 0 for none.
    static SIGNAL: AtomicI32 = AtomicI32::new(0);

    pub(super) fn start() {
        for signal in REQUESTS.into_iter().chain(ENDS).chain(MORE_ENDS).chain(real_time()) {
            if is_ignored(signal) {
                continue;
            }
            // SAFETY: `handle` calls only functions that a signal handler may call; its comment lists them.
            if let Err(problem) = unsafe { register(signal, move || handle(signal)) } {
                tracing::debug!("signal {signal} cannot be handled: {problem}");
            }
        }
        // SAFETY: `end_with` calls only `unlink`, `write` and `_exit`, which a signal handler may call.
        if let Err(problem) = unsafe { register(SIGBUS, || end_with(FILE_CHANGED)) } {
            tracing::debug!("SIGBUS cannot be handled: {problem}");
        }
        // A file beyond the limit of `ulimit -f` is then an error of the write, not the end of the process.
        if let Err(problem) = signal_hook::flag::register(SIGXFSZ, Arc::default()) {
            tracing::debug!("SIGXFSZ cannot be handled: {problem}");
        }
    }

    pub(super) fn watch() -> Arc<AtomicBool> {
        Arc::clone(ASKED.get_or_init(Arc::default))
    }

    pub(super) fn exit_code() -> u8 {
        let signal = match SIGNAL.load(Ordering::SeqCst) {
            0 => SIGINT,
            signal => signal,
        };
        u8::try_from(128 + signal).unwrap_or(128)
    }

    /// Runs as a signal handler: everything here works on atomics, or is a system call that handlers may make.
    fn handle(signal: c_int) {
        if let Some(asked) = ASKED.get().filter(|_| REQUESTS.contains(&signal))
            && SIGNAL.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst).is_ok()
        {
            asked.store(true, Ordering::SeqCst);
            return;
        }
        if signal == SIGABRT && memory::is_short() {
            end_with(MEMORY_IS_SHORT);
        }
        remove_temporaries();
        // Ends the process by the signal, so that the parent sees which one it was. For SIGPOLL and real-time signals this
        // returns, but a job must not go on without its files.
        let _ = emulate_default_handler(signal);
        // SAFETY: `_exit` may be called in a handler.
        unsafe { libc::_exit(128 + signal) };
    }

    /// Ends the process with an error. A signal handler may call it.
    fn end_with(message: &'static [u8]) -> ! {
        remove_temporaries();
        // SAFETY: the bytes are there for the whole program, and both calls may be made in a handler.
        unsafe {
            libc::write(libc::STDERR_FILENO, message.as_ptr().cast(), message.len());
            libc::_exit(UNREADABLE);
        }
    }

    /// Removes all temporary files of the process. A signal handler may call it.
    fn remove_temporaries() {
        for_each_temporary(|path| {
            // SAFETY: the path ends with a NUL, and `unlink` may be called in a handler.
            unsafe { libc::unlink(path.as_ptr()) };
        });
    }

    /// Real-time signals, which end a process as well.
    fn real_time() -> std::ops::RangeInclusive<c_int> {
        #[cfg(target_os = "linux")]
        return libc::SIGRTMIN()..=libc::SIGRTMAX();
        #[cfg(not(target_os = "linux"))]
        #[expect(clippy::reversed_empty_ranges, reason = "there are none")]
        return 1..=0;
    }

    fn is_ignored(signal: c_int) -> bool {
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
    use std::sync::OnceLock;
    use std::sync::atomic::Ordering;

    /// The exit code of a job that was stopped.
    const STOPPED: u8 = 130;

    pub(super) fn start() {}

    pub(super) fn watch() -> Arc<AtomicBool> {
        static ASKED: OnceLock<Arc<AtomicBool>> = OnceLock::new();
        let asked = ASKED.get_or_init(|| {
            let (asked, seen) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
            let flag = Arc::clone(&asked);
            let handled = ctrlc::try_set_handler(move || {
                flag.store(true, Ordering::SeqCst);
                if seen.swap(true, Ordering::SeqCst) {
                    std::process::exit(i32::from(STOPPED));
                }
            });
            if let Err(problem) = handled {
                tracing::debug!("signals cannot be handled: {problem}");
            }
            asked
        });
        Arc::clone(asked)
    }

    pub(super) fn exit_code() -> u8 {
        STOPPED
    }
}
