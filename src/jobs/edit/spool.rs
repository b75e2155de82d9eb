//! Places of parts of the texts, until all parts are searched. They wait in memory, or in a temporary
//! file if they are many.
//!
//! Each part adds a run of rows in the order of the output. Texts that are in two parts have rows in
//! both, in the order of the parts. A merge of the runs gives the order of the output.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::{EditDistances, EditResult};
use crate::error::{Error, Result};
use crate::files::position;
use crate::jobs::block::BlockSink;
use crate::jobs::blocks::Divisible;
use crate::seq::{SequenceId, Strand};

/// Maximum number of bytes of rows that wait in memory.
const MAX_MEMORY: usize = 1 << 26;
/// Number of bytes of all read buffers together.
const READ_MEMORY: usize = 1 << 25;
/// Minimum and maximum number of bytes of a run's read buffer.
const READ_BUFFER: (usize, usize) = (1 << 12, 1 << 20);
/// Number of bytes of the length before a row.
const LENGTH_BYTES: usize = 4;
/// Number of rows that are delivered together.
const ROWS_AT_ONCE: usize = 1 << 15;

/// Runs of rows.
#[derive(Debug)]
pub(super) struct PlaceSpool {
    /// The rows that are not in the file.
    memory: Vec<u8>,
    max_memory: usize,
    file: Option<File>,
    /// Number of bytes in the file.
    written: u64,
    /// Directory of the file.
    directory: PathBuf,
    /// Offsets of the complete runs.
    runs: Vec<Range<u64>>,
}

/// The order of rows of different runs: pattern, text, strand, and number of the run.
type PlaceOrder = (SequenceId, SequenceId, Strand, usize);

impl PlaceSpool {
    /// Creates an empty spool. If rows exceed its memory, it creates a nameless file in `directory`.
    pub(super) fn new(directory: &Path) -> Self {
        Self::with_memory(directory, MAX_MEMORY)
    }

    fn with_memory(directory: &Path, max_memory: usize) -> Self {
        let directory = directory.to_owned();
        PlaceSpool { memory: Vec::new(), max_memory, file: None, written: 0, directory, runs: Vec::new() }
    }

    fn end_of_rows(&self) -> u64 {
        self.written + self.memory.len() as u64
    }

    fn failed(&self, error: std::io::Error) -> Error {
        let kind = error.kind();
        Error::io(
            &self.directory,
            std::io::Error::new(kind, format!("a temporary file cannot be written there: {error}")),
        )
    }

    /// Moves all rows to the file.
    fn write(&mut self) -> Result<()> {
        let file = match self.file.take() {
            Some(file) => file,
            None => tempfile::tempfile_in(&self.directory).map_err(|error| self.failed(error))?,
        };
        position::write(&file, &self.memory, self.written).map_err(|error| self.failed(error))?;
        self.file = Some(file);
        self.written += self.memory.len() as u64;
        self.memory.clear();
        Ok(())
    }

    /// Reads bytes at an offset.
    fn read(&self, bytes: &mut [u8], at: u64) -> Result<()> {
        let in_file = (self.written.saturating_sub(at) as usize).min(bytes.len());
        let (file_bytes, memory_bytes) = bytes.split_at_mut(in_file);
        if let Some(file) = self.file.as_ref().filter(|_| in_file > 0) {
            position::read(file, file_bytes, at).map_err(|error| self.failed(error))?;
        }
        if !memory_bytes.is_empty() {
            let start = (at + in_file as u64 - self.written) as usize;
            memory_bytes.copy_from_slice(&self.memory[start..start + memory_bytes.len()]);
        }
        Ok(())
    }

    /// Passes all rows to `rows`, in batches, by pattern, text, strand and position.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read, and the errors of `rows`.
    pub(super) fn merge(&self, mut rows: impl FnMut(&mut [EditResult]) -> Result<()>) -> Result<()> {
        let (least, most) = READ_BUFFER;
        let buffer = (READ_MEMORY / self.runs.len().max(1)).clamp(least, most);
        let mut cursors: Vec<RunCursor> =
            self.runs.iter().map(|run| RunCursor { left: run.clone(), buffer: Vec::new(), used: 0 }).collect();
        let mut heads = BinaryHeap::new();
        let mut waiting: Vec<Option<EditResult>> = Vec::new();
        for (run, cursor) in cursors.iter_mut().enumerate() {
            let row = cursor.next(self, buffer)?;
            heads.extend(row.as_ref().map(|row| Reverse(row_key(row, run))));
            waiting.push(row);
        }
        let mut batch = Vec::new();
        while let Some(Reverse((.., run))) = heads.pop() {
            let next = cursors[run].next(self, buffer)?;
            heads.extend(next.as_ref().map(|row| Reverse(row_key(row, run))));
            batch.extend(std::mem::replace(&mut waiting[run], next));
            if batch.len() == ROWS_AT_ONCE {
                rows(&mut batch)?;
                batch.clear();
            }
        }
        if batch.is_empty() { Ok(()) } else { rows(&mut batch) }
    }
}

fn row_key(row: &EditResult, run: usize) -> PlaceOrder {
    (row.pattern, row.text(), row.strand, run)
}

/// The rows of a part are a run.
impl BlockSink<EditResult> for PlaceSpool {
    fn rows(&mut self, rows: &[EditResult]) -> Result<()> {
        for row in rows {
            let start = self.memory.len();
            self.memory.extend([0; LENGTH_BYTES]);
            EditDistances::encode(row, &mut self.memory);
            let length = u32::try_from(self.memory.len() - start - LENGTH_BYTES);
            let length = length.map_err(|_| Error::Internal("a row has 4 GiB or more".into()))?;
            self.memory[start..start + LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
        }
        if self.memory.len() > self.max_memory { self.write() } else { Ok(()) }
    }

    fn end(&mut self) -> Result<()> {
        let start = self.runs.last().map_or(0, |run| run.end);
        self.runs.push(start..self.end_of_rows());
        Ok(())
    }
}

/// Reader of a run.
struct RunCursor {
    /// Offsets of the bytes that are not in the buffer.
    left: Range<u64>,
    buffer: Vec<u8>,
    /// Number of bytes of the buffer that were used.
    used: usize,
}

impl RunCursor {
    /// Returns the next row, or `None` at the end of the run. Reads about `buffer` bytes at a time.
    fn next(&mut self, spool: &PlaceSpool, buffer: usize) -> Result<Option<EditResult>> {
        let wrong = || Error::Internal("a row of a part is damaged".into());
        if self.used == self.buffer.len() && self.left.is_empty() {
            return Ok(None);
        }
        let prefix = self.take(spool, LENGTH_BYTES, buffer)?.try_into().map_err(|_| wrong())?;
        let mut bytes = self.take(spool, u32::from_le_bytes(prefix) as usize, buffer)?;
        EditDistances::decode(&mut bytes).map(Some).ok_or_else(wrong)
    }

    /// Returns the next `count` bytes, or fewer at the end of the run.
    fn take(&mut self, spool: &PlaceSpool, count: usize, buffer: usize) -> Result<&[u8]> {
        if self.buffer.len() - self.used < count {
            self.buffer.drain(..self.used);
            self.used = 0;
            let known = self.buffer.len();
            let more =
                (count.max(buffer) - known).min(usize::try_from(self.left.end - self.left.start).unwrap_or(usize::MAX));
            self.buffer.resize(known + more, 0);
            spool.read(&mut self.buffer[known..], self.left.start)?;
            self.left.start += more as u64;
        }
        let start = self.used;
        self.used = (start + count).min(self.buffer.len());
        Ok(&self.buffer[start..self.used])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::Region;
    use crate::edit::overhang::Overhang;

    #[test]
    fn runs_are_merged_in_the_order_of_the_output() {
        let row = |(pattern, text, strand, end)| EditResult {
            pattern,
            region: Region { text, start: 0, end: 9 },
            strand,
            distance: 1,
            end,
            overhang: Overhang::default(),
            alignment: None,
            ends: vec![(end, 1); end as usize % 50],
        };
        let mut keys = Vec::new();
        for pattern in 0..40 {
            for text in 0..6 {
                for strand in [Strand::Plus, Strand::Minus] {
                    (0..4).for_each(|end| keys.push((pattern, text, strand, 100 * end + pattern)));
                }
            }
        }
        let all: Vec<EditResult> = keys.iter().copied().map(row).collect();
        let directory = tempfile::tempdir().unwrap();
        for max_memory in [0, 1000, MAX_MEMORY] {
            let mut spool = PlaceSpool::with_memory(directory.path(), max_memory);
            // The second and the third part share text 3.
            for part in [0..0, 0..300, 300..1100, 1100..9999] {
                let is_in = |&&(_, text, _, end): &&(u32, u32, Strand, u32)| part.contains(&(text * 300 + end % 300));
                let rows: Vec<EditResult> = keys.iter().filter(is_in).copied().map(row).collect();
                rows.chunks(7).for_each(|rows| spool.rows(rows).unwrap());
                spool.end().unwrap();
            }
            let mut merged = Vec::new();
            let add = |rows: &mut [EditResult]| {
                merged.extend_from_slice(rows);
                Ok(())
            };
            spool.merge(add).unwrap();
            assert_eq!(merged.len(), all.len());
            let key = |row: &EditResult| (row.pattern, row.text(), row.strand);
            assert!(merged.is_sorted_by_key(key), "{max_memory}");
            let mut sorted = merged.clone();
            sorted.sort_by_key(|row| (key(row), row.end));
            assert_eq!(sorted, all);
            assert_eq!(spool.file.is_some(), max_memory < MAX_MEMORY);
        }
    }
}
