//! What happened in a directory, a line each: for people, and for who asks which blocks failed. Nothing that is computed depends
//! on it, so that a line that two machines wrote at once may be lost.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::manifest::broken;
use super::process::{Process, now};
use crate::error::{Error, Result};

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Seconds since 1970.
    pub time: u64,
    /// The machine.
    pub host: String,
    /// The process there.
    pub process: u32,
    /// What it was.
    #[serde(flatten)]
    pub event: Event,
}

/// What can happen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A block is done.
    Finished {
        /// The block.
        block: usize,
        /// What it took.
        seconds: f64,
        /// What it has.
        rows: u64,
    },
    /// A block could not be computed.
    Failed {
        /// The block.
        block: usize,
        /// Why.
        error: String,
    },
    /// A block of a process that is gone was taken over.
    TakenOver {
        /// The block.
        block: usize,
        /// Who had it.
        from: String,
    },
    /// Rows of all blocks were put together.
    Merged {
        /// How many there are.
        rows: u64,
    },
}

/// Adds a line.
pub(super) fn append(path: &Path, own: &Process, event: Event) -> Result<()> {
    let entry = Entry { time: now(), host: own.host.clone(), process: own.number, event };
    let mut line = serde_json::to_vec(&entry).map_err(broken)?;
    line.push(b'\n');
    let failed = |error| Error::io(path, error);
    // In one write: lines of processes of one machine are whole.
    let mut file = File::options().create(true).append(true).open(path).map_err(failed)?;
    file.write_all(&line).map_err(failed)
}

/// All lines that say something.
pub(super) fn read(path: &Path) -> Result<Vec<Entry>> {
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
    fn lines_come_back_and_torn_ones_are_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        assert!(read(&path).unwrap().is_empty());
        let own = Process::own();
        let events = [
            Event::Finished { block: 7, seconds: 1.5, rows: 12 },
            Event::Failed { block: 8, error: "lost".into() },
            Event::TakenOver { block: 9, from: "process 3 on n1".into() },
        ];
        for event in &events[..2] {
            append(&path, &own, event.clone()).unwrap();
        }
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(b"{\"time\":17,\"ho{\"time\":18}\n").unwrap();
        append(&path, &own, events[2].clone()).unwrap();
        let found = read(&path).unwrap();
        assert_eq!(found.iter().map(|entry| entry.event.clone()).collect::<Vec<_>>(), events);
        assert!(
            found.iter().all(|entry| entry.host == own.host && entry.process == own.number && entry.time > 1 << 30)
        );
    }
}
