//! Writing to descriptors that others opened, such as standard output.

use std::fs::File;
use std::io::{self, Write};

/// Standard output without a buffer. In contrast to [`io::Stdout`], writing fails if the stream is
/// closed.
#[derive(Debug)]
pub(crate) struct StandardOutput;

impl StandardOutput {
    /// Duplicates the descriptor.
    #[cfg(unix)]
    fn open() -> io::Result<File> {
        use std::os::fd::AsFd;
        io::stdout().as_fd().try_clone_to_owned().map(File::from)
    }

    #[cfg(not(unix))]
    fn open() -> io::Result<io::Stdout> {
        Ok(io::stdout())
    }
}

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Self::open().and_then(|mut stream| stream.write(bytes)).map_err(explain)
    }

    fn flush(&mut self) -> io::Result<()> {
        Self::open().and_then(|mut stream| stream.flush()).map_err(explain)
    }
}

/// Names the cause if a descriptor is not open for writing.
pub(crate) fn explain(problem: io::Error) -> io::Error {
    /// Error number for a descriptor that is closed or only open for reading.
    const EBADF: i32 = 9;
    match problem.raw_os_error() {
        Some(EBADF) if cfg!(unix) => io::Error::other("it is closed, or not open for writing"),
        _ => problem,
    }
}

/// Checks that a stream is open for writing.
///
/// # Errors
/// Returns an error for a full device, but none for a pipe without a reader.
pub(crate) fn check(mut stream: impl Write) -> io::Result<()> {
    // The system checks the descriptor, although no byte is written.
    stream.write(&[]).map(drop).map_err(explain)
}
