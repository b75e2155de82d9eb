//! Memory for borders. Borders that exceed a limit go to an unnamed file ([`super::spill`]).

use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use super::spill::{FileExtent, Spill};
use crate::error::Result;
use crate::long::{Border, KeptBorder};

/// Bytes of one entry of a border: H and a gap.
pub(crate) const ENTRY_BYTES: u64 = 8;

/// The borders of a job in memory and on disk.
#[derive(Debug)]
pub(crate) struct BorderStore {
    limit: u64,
    /// Directory of the file; `None` stands for the system's temporary directory.
    base: Option<PathBuf>,
    state: Mutex<StoreState>,
}

#[derive(Debug, Default)]
struct StoreState {
    held: u64,
    peak: u64,
    spilled: u64,
    file: Option<Arc<Spill>>,
}

/// A stored border.
#[derive(Debug, Clone)]
pub(crate) struct Piece(Arc<StoredBorder>);

#[derive(Debug)]
struct StoredBorder {
    entries: usize,
    location: BorderLocation,
}

#[derive(Debug)]
enum BorderLocation {
    Memory(KeptBorder, #[expect(dead_code, reason = "gives the memory back")] MemoryHold),
    File(FileExtent),
}

/// A share of the memory, which is released when this value is dropped.
#[derive(Debug)]
pub(crate) struct MemoryHold {
    border_store: Arc<BorderStore>,
    bytes: u64,
}

impl Drop for MemoryHold {
    fn drop(&mut self) {
        self.border_store.state().held -= self.bytes;
    }
}

impl BorderStore {
    /// Creates a store with a limit in bytes, and a directory for borders beyond the limit.
    pub(crate) fn new(limit: u64, base: Option<PathBuf>) -> Arc<BorderStore> {
        Arc::new(BorderStore { limit, base, state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, StoreState> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Returns the peak number of bytes in memory.
    pub(crate) fn peak(&self) -> u64 {
        self.state().peak
    }

    /// Returns the number of bytes that were written to files.
    pub(crate) fn spilled(&self) -> u64 {
        self.state().spilled
    }

    /// Counts memory that is allocated regardless of the limit.
    pub(crate) fn count_memory(self: &Arc<Self>, bytes: u64) -> MemoryHold {
        let mut state = self.state();
        state.held += bytes;
        state.peak = state.peak.max(state.held);
        MemoryHold { border_store: Arc::clone(self), bytes }
    }

    /// Stores a border, in a file if the memory would exceed the limit.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be written.
    pub(crate) fn put(self: &Arc<Self>, border: impl Into<KeptBorder>) -> Result<Piece> {
        let border: KeptBorder = border.into();
        let (entries, bytes) = (border.len(), border.bytes());
        let fits = self.state().held + bytes <= self.limit;
        let location = if fits {
            BorderLocation::Memory(border, self.count_memory(bytes))
        } else {
            let Border { h, gap } = border.into_border();
            let extent = self.file()?.write(&[bytemuck::cast_slice(&h), bytemuck::cast_slice(&gap)])?;
            self.state().spilled += entries as u64 * ENTRY_BYTES;
            BorderLocation::File(extent)
        };
        Ok(Piece(Arc::new(StoredBorder { entries, location })))
    }

    fn file(&self) -> Result<Arc<Spill>> {
        let mut state = self.state();
        if let Some(file) = &state.file {
            return Ok(Arc::clone(file));
        }
        let file = Arc::new(Spill::new(self.base.clone().unwrap_or_else(std::env::temp_dir))?);
        Ok(Arc::clone(state.file.insert(file)))
    }
}

impl Piece {
    /// Returns the number of entries.
    pub(crate) fn len(&self) -> usize {
        self.0.entries
    }

    /// Reads a part of the border.
    ///
    /// # Errors
    /// [`Error::Io`] if it is in a file that cannot be read.
    pub(crate) fn slice(&self, range: Range<usize>) -> Result<Border> {
        match &self.0.location {
            BorderLocation::Memory(border, _) => Ok(border.slice(range)),
            BorderLocation::File(extent) => {
                let read = |start: usize| -> Result<Vec<i32>> {
                    let mut values = vec![0i32; range.len()];
                    extent.read(start as u64 * 4, bytemuck::cast_slice_mut(&mut values))?;
                    Ok(values)
                };
                Ok(Border { h: read(range.start)?, gap: read(self.len() + range.start)? })
            }
        }
    }
}
