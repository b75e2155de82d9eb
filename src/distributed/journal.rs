//! The journal of a directory: a log of events, one JSON object per line.
//!
//! Users read it, and the status report takes the failed blocks from it. No computation depends on
//! it. Therefore it is acceptable that a line is lost if two machines write at the same time.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::manifest::json_error;
use super::process::{Process, unix_seconds};
use crate::error::{Error, Result};

/// One line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JournalEntry {
    /// Time of the event in seconds since 1970.
    pub time: u64,
    /// Name of the machine.
    pub host: String,
    /// Process id on that machine.
    pub process: u32,
    /// The event.
    #[serde(flatten)]
    pub event: JournalEvent,
}

/// An event in the life of a directory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum JournalEvent {
    /// A block is done.
    Finished {
        /// Number of the block.
        block: usize,
        /// Seconds of computation.
        seconds: f64,
        /// Number of rows.
        rows: u64,
    },
    /// A block could not be computed.
    Failed {
        /// Number of the block.
        block: usize,
        /// Error message.
        error: String,
    },
    /// A process took over the claim on a block.
    TakenOver {
        /// Number of the block.
        block: usize,
        /// Previous holder.
        from: String,
    },
    /// The rows of all blocks were merged.
    Merged {
        /// Number of rows.
        rows: u64,
    },
}

/// Appends a line to the journal.
pub(super) fn append(path: &Path, process: &Process, event: JournalEvent) -> Result<()> {
    let entry = JournalEntry { time: unix_seconds(), host: process.host.clone(), process: process.pid, event };
    let mut line = serde_json::to_vec(&entry).map_err(json_error)?;
    line.push(b'\n');
    let failed = |error| Error::io(path, error);
    // A single write keeps lines intact if several processes of one machine write.
    let mut file = File::options().create(true).append(true).open(path).map_err(failed)?;
    file.write_all(&line).map_err(failed)
}

/// Returns all lines that can be decoded.
pub(super) fn read(path: &Path) -> Result<Vec<JournalEntry>> {
    match std::fs::read(path) {
        Ok(text) => {
            Ok(text.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(Error::io(path, error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_skips_damaged_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        assert!(read(&path).unwrap().is_empty());
        let process = Process::current();
        let events = [
            JournalEvent::Finished { block: 7, seconds: 1.5, rows: 12 },
            JournalEvent::Failed { block: 8, error: "lost".into() },
            JournalEvent::TakenOver { block: 9, from: "process 3 on n1".into() },
        ];
        for event in &events[..2] {
            append(&path, &process, event.clone()).unwrap();
        }
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(b"{\"time\":17,\"ho{\"time\":18}\n").unwrap();
        append(&path, &process, events[2].clone()).unwrap();
        let entries = read(&path).unwrap();
        assert_eq!(entries.iter().map(|entry| entry.event.clone()).collect::<Vec<_>>(), events);
        assert!(
            entries
                .iter()
                .all(|entry| entry.host == process.host && entry.process == process.pid && entry.time > 1 << 30)
        );
    }
}
