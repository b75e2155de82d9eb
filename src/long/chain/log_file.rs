//! A log file: borders one after another, an index of the borders, and a checksum.

use std::fs::File;
use std::hash::Hasher;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use crate::error::{Error, Result};
use crate::files;
use crate::long::{BestCell, Border, BorderSpan};

/// Extension of a file that is being written.
pub(crate) const BEGUN: &str = "part";

/// Progress of a panel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PanelState {
    /// Number of the panel, from the left.
    pub index: usize,
    /// Columns of the left and the right border.
    pub columns: BorderSpan,
    /// Whether the last column is needed until the end of the job.
    pub kept: bool,
    /// First row of a repeated computation of the panel. It is the first row, the row of a mark, or
    /// the last row if the panel is done.
    pub row: u32,
    /// Whether the panel is done.
    pub done: bool,
    /// The best cell found. It covers at least all cells above `row`.
    pub best: Option<BestCell>,
    /// Number of cells that were pruned.
    pub pruned: u64,
    /// Kept columns inside the panel, once it is done.
    #[serde(default)]
    pub inner: Vec<u32>,
}

/// Kind of a border in a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum BorderKind {
    /// A part of a panel's last column.
    Column,
    /// A marked row.
    Mark,
    /// A column inside a panel, over all rows.
    Inner,
}

/// Description of a border in a log.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct LogEntry {
    /// Number of the panel.
    pub panel: usize,
    /// Kind.
    pub kind: BorderKind,
    /// Row of the mark, first row of the part of the last column, or number of the column inside
    /// the panel.
    pub row: u32,
    /// Number of values of H, which equals the number of gap values.
    pub entries: usize,
}

/// Contents of a log.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct LogIndex {
    /// Progress of panels.
    pub panels: Vec<PanelState>,
    /// The borders, in the order of the file.
    pub entries: Vec<LogEntry>,
}

/// Reads the border that starts at byte `at` of a log. Returns `None` if it cannot be read.
pub(crate) fn read_border(path: &Path, entry: &LogEntry, at: u64) -> Option<Border> {
    let mut file = File::open(path).ok()?;
    file.seek(SeekFrom::Start(at)).ok()?;
    let mut values = || -> Option<Vec<i32>> {
        let mut bytes = vec![0; entry.entries * 4];
        file.read_exact(&mut bytes).ok()?;
        Some(bytes.chunks_exact(4).map(|four| i32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect())
    };
    Some(Border { h: values()?, gap: values()? })
}

/// Reads the index of a log. A log consists of borders, the index, the index's length, and a
/// checksum of everything before it. Returns `None` if the log is damaged.
pub(crate) fn read_index(path: &Path) -> Option<LogIndex> {
    let mut file = File::open(path).ok()?;
    let end = file.metadata().ok()?.len().checked_sub(16)?;
    let (mut sum, mut block, mut left) = (XxHash3_64::new(), vec![0; 1 << 20], end + 8);
    while left > 0 {
        let bytes = &mut block[..left.min(1 << 20) as usize];
        file.read_exact(bytes).ok()?;
        sum.write(bytes);
        left -= bytes.len() as u64;
    }
    let mut number = [0; 8];
    file.read_exact(&mut number).ok()?;
    if u64::from_le_bytes(number) != sum.finish() {
        return None;
    }
    file.seek(SeekFrom::Start(end)).ok()?;
    file.read_exact(&mut number).ok()?;
    let length = u64::from_le_bytes(number);
    file.seek(SeekFrom::Start(end.checked_sub(length)?)).ok()?;
    let mut index = vec![0; usize::try_from(length).ok()?];
    file.read_exact(&mut index).ok()?;
    serde_json::from_slice(&index).ok()
}

/// Writes a log.
pub(crate) fn write_log(path: &Path, panels: Vec<PanelState>, borders: &[(LogEntry, Border)]) -> Result<()> {
    let index = LogIndex { panels, entries: borders.iter().map(|(entry, _)| *entry).collect() };
    let index = serde_json::to_vec(&index).map_err(serialization_error)?;
    write_whole(path, |file| {
        let mut sum = XxHash3_64::new();
        let mut put = |bytes: &[u8]| {
            sum.write(bytes);
            file.write_all(bytes)
        };
        for values in borders.iter().flat_map(|(_, border)| [&border.h, &border.gap]) {
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            put(&bytes)?;
        }
        put(&index)?;
        put(&(index.len() as u64).to_le_bytes())?;
        let sum = sum.finish().to_le_bytes();
        file.write_all(&sum)
    })
}

/// Returns the error for a note or a log that cannot be serialized.
pub(crate) fn serialization_error(error: serde_json::Error) -> Error {
    Error::Internal(format!("a checkpoint cannot be written: {error}"))
}

/// Replaces a file atomically, so that a loss of power leaves the old or the new content.
pub(crate) fn write_whole(path: &Path, fill: impl FnOnce(&mut File) -> std::io::Result<()>) -> Result<()> {
    // Only one run at a time uses the directory.
    files::replace(path, &path.with_extension(BEGUN), fill).map_err(|error| Error::io(path, error))
}
