//! Standard streams that were closed when the process started.
//!
//! Rust opens `/dev/null` in place of closed standard streams before `main`, so results that are
//! written there would be lost without an error. A function that the system calls before records
//! the closed streams, and [`start`] makes writing to them fail.

/// Makes writing to standard output or standard error fail if the parent process closed it. Called
/// once, at the start.
pub(super) fn start() {
    system::start();
}

#[cfg(unix)]
mod system {
    use libc::c_int;
    use std::fs::{self, File};
    use std::io::{self, stderr, stdout};
    use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
    use std::os::unix::fs::MetadataExt;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// File that Rust opens in place of a closed stream.
    const NULL: &str = "/dev/null";

    static IS_OUTPUT_CLOSED: AtomicBool = AtomicBool::new(false);
    static IS_ERROR_CLOSED: AtomicBool = AtomicBool::new(false);

    /// Entry in the list of functions that the system calls before `main`.
    #[used]
    // SAFETY: the section holds addresses of C functions. The function needs nothing of Rust's
    // runtime, which does not run yet.
    #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
    #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
    static BEFORE_MAIN: extern "C" fn() = record_closed;

    extern "C" fn record_closed() {
        IS_OUTPUT_CLOSED.store(is_closed(libc::STDOUT_FILENO), Ordering::Relaxed);
        IS_ERROR_CLOSED.store(is_closed(libc::STDERR_FILENO), Ordering::Relaxed);
    }

    fn is_closed(descriptor: c_int) -> bool {
        // SAFETY: this request only reads the flags of a descriptor, and fails if it is not open.
        unsafe { libc::fcntl(descriptor, libc::F_GETFD) == -1 }
    }

    pub(super) fn start() {
        for (is_closed, stream) in [(&IS_OUTPUT_CLOSED, stdout().as_fd()), (&IS_ERROR_CLOSED, stderr().as_fd())] {
            if is_closed.load(Ordering::Relaxed)
                && let Err(problem) = refuse_writing(stream)
            {
                tracing::debug!("writing to a closed stream may be ignored: {problem}");
            }
        }
    }

    /// Replaces a stream that was closed by a file that is only open for reading. Otherwise, the next
    /// file that is opened could become this stream. Keeps a file that was opened meanwhile.
    fn refuse_writing(stream: BorrowedFd<'_>) -> io::Result<()> {
        if let Ok(copy) = stream.try_clone_to_owned()
            && File::from(copy).metadata()?.rdev() != fs::metadata(NULL)?.rdev()
        {
            return Ok(());
        }
        let null = File::open(NULL)?;
        // SAFETY: the only other owner of the descriptor is the stream, which opens and closes
        // nothing.
        match unsafe { libc::dup2(null.as_raw_fd(), stream.as_raw_fd()) } {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    }
}

#[cfg(not(unix))]
mod system {
    pub(super) fn start() {}
}
