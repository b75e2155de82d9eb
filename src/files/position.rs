//! Reads and writes at a position of a file. Several threads may do this at the same time.

pub(crate) use system::{read, write};

#[cfg(unix)]
mod system {
    use std::fs::File;
    use std::io::Result;
    use std::os::unix::fs::FileExt;

    pub(crate) fn write(file: &File, bytes: &[u8], at: u64) -> Result<()> {
        file.write_all_at(bytes, at)
    }

    pub(crate) fn read(file: &File, bytes: &mut [u8], at: u64) -> Result<()> {
        file.read_exact_at(bytes, at)
    }
}

/// Implementation for systems other than Unix. A lock makes each seek and the following transfer
/// atomic.
#[cfg(not(unix))]
mod system {
    use std::fs::File;
    use std::io::{Read, Result, Seek, SeekFrom, Write};
    use std::sync::{Mutex, MutexGuard};

    static TURN: Mutex<()> = Mutex::new(());

    fn lock_position() -> MutexGuard<'static, ()> {
        TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub(crate) fn write(mut file: &File, bytes: &[u8], at: u64) -> Result<()> {
        let _turn = turn();
        file.seek(SeekFrom::Start(at))?;
        file.write_all(bytes)
    }

    pub(crate) fn read(mut file: &File, bytes: &mut [u8], at: u64) -> Result<()> {
        let _turn = turn();
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(bytes)
    }
}
