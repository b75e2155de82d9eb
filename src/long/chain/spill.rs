//! Borders on disk, in one unnamed file.
//!
//! The system releases the file when the process ends, even if the process is killed, so nothing is
//! left behind. All borders share one file, because there may be more borders than files that a
//! process can open.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::error::{Error, Result};
use crate::files::position;

/// The file.
#[derive(Debug)]
pub(crate) struct Spill {
    file: File,
    /// Directory of the file, for messages.
    directory: PathBuf,
    space: Mutex<FreeSpace>,
}

/// Free bytes of the file.
#[derive(Debug, Default)]
struct FreeSpace {
    /// Free extents before the end of the file: their lengths by offset. No two extents are
    /// adjacent, and none reaches the end.
    free: BTreeMap<u64, u64>,
    end: u64,
}

/// A part of the file, which is released when this value is dropped.
#[derive(Debug)]
pub(crate) struct FileExtent {
    spill: Arc<Spill>,
    at: u64,
    bytes: u64,
}

impl FreeSpace {
    /// Returns the offset of the first free extent that is large enough, or of the end.
    fn take(&mut self, bytes: u64) -> u64 {
        let extent = self.free.iter().find(|(_, length)| **length >= bytes).map(|(&at, &length)| (at, length));
        let Some((at, length)) = extent else {
            let at = self.end;
            self.end += bytes;
            return at;
        };
        self.free.remove(&at);
        if length > bytes {
            self.free.insert(at + bytes, length - bytes);
        }
        at
    }

    /// Releases an extent. Returns whether the file has a new end.
    fn release(&mut self, at: u64, bytes: u64) -> bool {
        let (mut at, mut end) = (at, at + bytes);
        if let Some((&before, _)) = self.free.range(..at).next_back().filter(|(before, length)| *before + *length == at)
        {
            self.free.remove(&before);
            at = before;
        }
        if let Some(length) = self.free.remove(&end) {
            end += length;
        }
        if end == self.end {
            self.end = at;
            return true;
        }
        if end > at {
            self.free.insert(at, end - at);
        }
        false
    }
}

impl Spill {
    /// Creates an empty file on the disk of a directory.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be created.
    pub(crate) fn new(directory: PathBuf) -> Result<Spill> {
        match tempfile::tempfile_in(&directory) {
            Ok(file) => Ok(Spill { file, directory, space: Mutex::default() }),
            Err(error) => Err(Error::io(directory, error)),
        }
    }

    fn space(&self) -> MutexGuard<'_, FreeSpace> {
        self.space.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Writes these slices one after another.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(crate) fn write(self: Arc<Self>, parts: &[&[u8]]) -> Result<FileExtent> {
        let bytes = parts.iter().map(|part| part.len() as u64).sum();
        let at = self.space().take(bytes);
        let extent = FileExtent { at, bytes, spill: self };
        let mut at = extent.at;
        for part in parts {
            position::write(&extent.spill.file, part, at).map_err(|error| extent.failed(error))?;
            at += part.len() as u64;
        }
        Ok(extent)
    }
}

impl FileExtent {
    /// Reads from byte `from` of the extent on.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(crate) fn read(&self, from: u64, bytes: &mut [u8]) -> Result<()> {
        debug_assert!(from + bytes.len() as u64 <= self.bytes);
        position::read(&self.spill.file, bytes, self.at + from).map_err(|error| self.failed(error))
    }

    fn failed(&self, error: std::io::Error) -> Error {
        Error::io(&self.spill.directory, error)
    }
}

impl Drop for FileExtent {
    fn drop(&mut self) {
        let mut space = self.spill.space();
        if space.release(self.at, self.bytes) {
            // If this call fails, only disk space is lost. The lock ensures that no other thread
            // writes beyond the end meanwhile.
            let _ = self.spill.file.set_len(space.end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn file() -> Arc<Spill> {
        Arc::new(Spill::new(std::env::temp_dir()).unwrap())
    }

    #[test]
    fn the_file_shrinks_when_its_end_is_free() {
        let file = file();
        let part = |byte: u8| Arc::clone(&file).write(&[&[byte; 10], &[byte; 5]]).unwrap();
        let length = || file.file.metadata().unwrap().len();
        let (first, second, third) = (part(1), part(2), part(3));
        assert_eq!(length(), 45);
        drop(second);
        assert_eq!(length(), 45);
        let again = part(4);
        assert_eq!((again.at, length()), (15, 45));
        drop(again);
        drop(third);
        assert_eq!(length(), 15);
        let mut bytes = [0; 15];
        first.read(0, &mut bytes).unwrap();
        assert_eq!(bytes, [1; 15]);
        assert!(first.read(10, &mut bytes[..5]).is_ok());
    }

    proptest! {
        #[test]
        fn every_extent_keeps_its_bytes(steps in prop::collection::vec((0usize..40, any::<bool>(), 0usize..8), 1..60)) {
            let file = file();
            let mut parts: Vec<(FileExtent, Vec<u8>)> = Vec::new();
            for (number, (length, adds, which)) in steps.into_iter().enumerate() {
                if adds || parts.is_empty() {
                    let bytes = vec![number as u8; length];
                    let (head, tail) = bytes.split_at(length / 3);
                    parts.push((Arc::clone(&file).write(&[head, tail]).unwrap(), bytes));
                } else {
                    parts.swap_remove(which % parts.len());
                }
                for (part, bytes) in &parts {
                    let mut read = vec![0; bytes.len()];
                    part.read(0, &mut read).unwrap();
                    prop_assert_eq!(&read, bytes);
                }
                let space = file.space();
                let used: u64 = parts.iter().map(|(_, bytes)| bytes.len() as u64).sum();
                prop_assert_eq!(used + space.free.values().sum::<u64>(), space.end);
            }
            parts.clear();
            prop_assert_eq!(file.space().end, 0);
        }
    }
}
