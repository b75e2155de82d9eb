//! Finished reads on disk. They wait here until the output is written, because the width of the
//! output depends on all of them.
//!
//! The file starts with the fingerprint of its job and a checksum. Blocks of reads in input order
//! follow, each with its length and a checksum. A file that the user names is a checkpoint: a later
//! run continues after its last complete block. Other files have no name, and the system frees them
//! when the process ends.

mod record;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::files::fingerprint::Fingerprint;
use crate::files::position;
use crate::jobs::PhyloResult;
use crate::jobs::long::{checksum, lock_file};

/// First bytes of every such file. The last character is the version.
const MAGIC: &[u8; 8] = b"pwreads2";
/// Number of these bytes that all versions share.
const KIND: usize = 7;
/// Bytes before the fingerprint: `MAGIC`, and the length of the fingerprint.
const LEAD: u64 = 16;
/// Bytes before the records of a block: their length in bytes, and their number.
const COUNTS: u64 = 16;
/// Bytes of the checksum after the records.
const SUM: u64 = 8;

/// A file of finished reads.
#[derive(Debug)]
pub struct ReadSpool {
    file: File,
    /// Path for messages.
    path: PathBuf,
    /// Whether the file must outlive this run.
    is_named: bool,
    /// Offset of the first block.
    start: u64,
    end: u64,
    reads: u64,
}

/// A block of the file.
struct SpoolBlock {
    records: u64,
    /// Records, after their length and number.
    bytes: Vec<u8>,
    /// Offset of the next block.
    end: u64,
}

impl ReadSpool {
    /// Creates an empty file without a name in a directory.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be created.
    pub fn create(directory: impl AsRef<Path>) -> Result<ReadSpool> {
        let directory = directory.as_ref();
        let file = tempfile::tempfile_in(directory).map_err(|error| Error::io(directory, error))?;
        ReadSpool { file, path: directory.to_owned(), is_named: false, start: 0, end: 0, reads: 0 }
            .with_header(&Fingerprint::default())
    }

    /// Opens a named file, or creates it if it does not exist. Returns the number of reads in it.
    /// Drops an incomplete block at its end, which a killed run may leave.
    ///
    /// # Errors
    /// [`Error::Usage`] if the file belongs to another job, is not a checkpoint, or is in use by
    /// another run; [`Error::Io`].
    pub fn open(path: impl AsRef<Path>, fingerprint: &Fingerprint) -> Result<(ReadSpool, u64)> {
        let path = path.as_ref();
        let failed = |error| Error::io(path, error);
        let file = File::options().read(true).write(true).create(true).truncate(false).open(path).map_err(failed)?;
        lock_file(&file, path, path)?;
        let length = file.metadata().map_err(failed)?.len();
        let refuse = |what: &str| {
            let message = format!("{what}; use another file, or delete this one");
            Err(Error::usage_value("checkpoint", path.display(), message))
        };
        let mut lead = vec![0; length.min(LEAD) as usize];
        position::read(&file, &mut lead, 0).map_err(failed)?;
        let known = lead.len().min(MAGIC.len());
        if lead[..known] != MAGIC[..known] {
            return match lead.starts_with(&MAGIC[..KIND]) {
                true => refuse("another version of pairwave made this checkpoint of aligned reads"),
                false => refuse("it is not a checkpoint of aligned reads"),
            };
        }
        let mut spool = ReadSpool { file, path: path.to_owned(), is_named: true, start: 0, end: 0, reads: 0 };
        let body = lead.get(MAGIC.len()..).and_then(|rest| rest.try_into().ok()).map(u64::from_le_bytes);
        let start = body.and_then(|body| body.checked_add(LEAD + SUM)).filter(|&start| start <= length);
        let Some(start) = start else {
            // The run ended before it had written the header.
            return Ok((spool.with_header(fingerprint)?, 0));
        };
        let mut header = vec![0; start as usize];
        position::read(&spool.file, &mut header, 0).map_err(failed)?;
        let (known, sum) = header.split_at((start - SUM) as usize);
        let is_whole = checksum(known).to_le_bytes() == sum;
        let there = is_whole.then(|| serde_json::from_slice::<Fingerprint>(&known[LEAD as usize..]).ok()).flatten();
        let Some(there) = there else { return refuse("it is damaged") };
        if let Some(difference) = there.difference(fingerprint) {
            return refuse(&format!("it belongs to another job: {difference}"));
        }
        (spool.start, spool.end) = (start, start);
        while let Some(block) = spool.block(spool.end, length)? {
            (spool.end, spool.reads) = (block.end, spool.reads + block.records);
        }
        spool.file.set_len(spool.end).map_err(failed)?;
        let reads = spool.reads;
        Ok((spool, reads))
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::io(&self.path, error)
    }

    /// Writes the header.
    fn with_header(mut self, fingerprint: &Fingerprint) -> Result<ReadSpool> {
        let body = serde_json::to_vec(fingerprint)
            .map_err(|error| Error::Internal(format!("a fingerprint cannot be written as JSON: {error}")))?;
        let mut bytes = [&MAGIC[..], &(body.len() as u64).to_le_bytes(), &body].concat();
        bytes.extend_from_slice(&checksum(&bytes).to_le_bytes());
        // Removes a header that was cut off.
        self.file.set_len(0).map_err(|error| self.failed(error))?;
        position::write(&self.file, &bytes, 0).map_err(|error| self.failed(error))?;
        (self.start, self.end) = (bytes.len() as u64, bytes.len() as u64);
        Ok(self)
    }

    /// Returns the number of reads in the file.
    pub fn reads(&self) -> u64 {
        self.reads
    }

    /// Appends a block of reads. In a named file the block then survives a crash of the machine.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn append(&mut self, records: &[PhyloResult]) -> Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        let mut bytes = vec![0; COUNTS as usize];
        records.iter().for_each(|record| record.add_to(&mut bytes));
        let length = bytes.len() as u64 - COUNTS;
        bytes[..8].copy_from_slice(&length.to_le_bytes());
        bytes[8..16].copy_from_slice(&(records.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&checksum(&bytes).to_le_bytes());
        position::write(&self.file, &bytes, self.end).map_err(|error| self.failed(error))?;
        if self.is_named {
            self.file.sync_data().map_err(|error| self.failed(error))?;
        }
        (self.end, self.reads) = (self.end + bytes.len() as u64, self.reads + records.len() as u64);
        Ok(())
    }

    /// Reads the block at an offset of a file of `length` bytes. Returns `None` if the block is
    /// incomplete.
    fn block(&self, at: u64, length: u64) -> Result<Option<SpoolBlock>> {
        let Some(most) = length.checked_sub(at + COUNTS + SUM) else { return Ok(None) };
        let mut counts = [[0; 8]; 2];
        position::read(&self.file, counts.as_flattened_mut(), at).map_err(|error| self.failed(error))?;
        let [body, records] = counts.map(u64::from_le_bytes);
        if body > most {
            return Ok(None);
        }
        let mut bytes = vec![0; (COUNTS + body + SUM) as usize];
        position::read(&self.file, &mut bytes, at).map_err(|error| self.failed(error))?;
        let sum = bytes.split_off((COUNTS + body) as usize);
        let is_whole = checksum(&bytes).to_le_bytes()[..] == sum;
        Ok(is_whole.then_some(SpoolBlock { records, bytes, end: at + COUNTS + body + SUM }))
    }

    /// Returns all blocks of reads from the start.
    pub fn blocks(&self) -> impl Iterator<Item = Result<Vec<PhyloResult>>> + '_ {
        let mut at = self.start;
        std::iter::from_fn(move || {
            if at >= self.end {
                return None;
            }
            let damaged = || self.failed(io::Error::new(io::ErrorKind::InvalidData, "finished reads are damaged"));
            let block = self.block(at, self.end).and_then(|block| {
                let block = block.ok_or_else(damaged)?;
                let records = record::decode(&block.bytes[COUNTS as usize..], block.records).ok_or_else(damaged)?;
                Ok((block.end, records))
            });
            // No block can be found after a damaged one.
            at = block.as_ref().map_or(self.end, |(end, _)| *end);
            Some(block.map(|(_, records)| records))
        })
    }

    /// Returns all reads from the start.
    pub fn records(&self) -> impl Iterator<Item = Result<PhyloResult>> + '_ {
        self.blocks().flat_map(|block| match block {
            Ok(records) => records.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        })
    }
}
