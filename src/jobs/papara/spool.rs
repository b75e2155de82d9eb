//! Reads that are finished, on the disk until the output is written: how wide that is follows from all of them.
//!
//! The file begins with the fingerprint of its job and a checksum, then come blocks of reads in input order, each with its length and a checksum. One
//! that the user names is a checkpoint: a later run goes on behind its last whole block. Else it has no name, and the system
//! frees it when the process ends.

mod record;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::files::fingerprint::Fingerprint;
use crate::files::position;
use crate::jobs::PhyloResult;
use crate::jobs::long::{checksum, hold};

/// What every such file begins with; the last character is the version.
const MAGIC: &[u8; 8] = b"pwreads2";
/// Characters of it that all versions have.
const KIND: usize = 7;
/// Bytes before the job's fingerprint: these, and its length.
const LEAD: u64 = 16;
/// Bytes before a block's records: their length and their number.
const COUNTS: u64 = 16;
/// Bytes behind them: a checksum of all.
const SUM: u64 = 8;

/// The file.
#[derive(Debug)]
pub struct Spool {
    file: File,
    /// For messages.
    path: PathBuf,
    /// Whether it is to last longer than this run.
    is_named: bool,
    /// Where the first block begins.
    begin: u64,
    end: u64,
    reads: u64,
}

/// A block as it lies in the file.
struct Block {
    records: u64,
    /// With the counts before it.
    bytes: Vec<u8>,
    /// Where the next one begins.
    end: u64,
}

impl Spool {
    /// An empty file without a name in a directory.
    ///
    /// # Errors
    /// [`Error::Io`] if there can be none.
    pub fn create(directory: &Path) -> Result<Spool> {
        let file = tempfile::tempfile_in(directory).map_err(|error| Error::io(directory, error))?;
        Spool { file, path: directory.to_owned(), is_named: false, begin: 0, end: 0, reads: 0 }
            .begun(&Fingerprint::default())
    }

    /// The file of a name, which is made if there is none, and how many reads it has. What was written last before a run was
    /// killed may be there in part: it is dropped.
    ///
    /// # Errors
    /// [`Error::Usage`] if it is of another job, something else, or another run uses it now; [`Error::Io`].
    pub fn open(path: &Path, fingerprint: &Fingerprint) -> Result<(Spool, u64)> {
        let failed = |error| Error::io(path, error);
        let file = File::options().read(true).write(true).create(true).truncate(false).open(path).map_err(failed)?;
        hold(&file, path, path)?;
        let length = file.metadata().map_err(failed)?.len();
        let refuse = |what: &str| {
            let message = format!("{what}; name another file, or delete it");
            Err(Error::usage_value("checkpoint", path.display(), message))
        };
        let mut lead = vec![0; length.min(LEAD) as usize];
        position::read(&file, &mut lead, 0).map_err(failed)?;
        let known = lead.len().min(MAGIC.len());
        if lead[..known] != MAGIC[..known] {
            return match lead.starts_with(&MAGIC[..KIND]) {
                true => refuse("another version of pairwave made this checkpoint of aligned reads"),
                false => refuse("it is no checkpoint of aligned reads, or of another version of this program"),
            };
        }
        let mut spool = Spool { file, path: path.to_owned(), is_named: true, begin: 0, end: 0, reads: 0 };
        let body = lead.get(MAGIC.len()..).and_then(|rest| rest.try_into().ok()).map(u64::from_le_bytes);
        let begin = body.and_then(|body| body.checked_add(LEAD + SUM)).filter(|&begin| begin <= length);
        let Some(begin) = begin else {
            // The run ended before it had written more.
            return Ok((spool.begun(fingerprint)?, 0));
        };
        let mut header = vec![0; begin as usize];
        position::read(&spool.file, &mut header, 0).map_err(failed)?;
        let (known, sum) = header.split_at((begin - SUM) as usize);
        let is_whole = checksum(known).to_le_bytes() == sum;
        let there = is_whole.then(|| serde_json::from_slice::<Fingerprint>(&known[LEAD as usize..]).ok()).flatten();
        let Some(there) = there else { return refuse("it is damaged") };
        if let Some(difference) = there.difference(fingerprint) {
            return refuse(&format!("it is of another job: {difference}"));
        }
        (spool.begin, spool.end) = (begin, begin);
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

    /// With its first bytes.
    fn begun(mut self, fingerprint: &Fingerprint) -> Result<Spool> {
        let body = serde_json::to_vec(fingerprint)
            .map_err(|error| Error::Internal(format!("a fingerprint does not become JSON: {error}")))?;
        let mut bytes = [&MAGIC[..], &(body.len() as u64).to_le_bytes(), &body].concat();
        bytes.extend_from_slice(&checksum(&bytes).to_le_bytes());
        // Nothing is left of a header that was cut off.
        self.file.set_len(0).map_err(|error| self.failed(error))?;
        position::write(&self.file, &bytes, 0).map_err(|error| self.failed(error))?;
        (self.begin, self.end) = (bytes.len() as u64, bytes.len() as u64);
        Ok(self)
    }

    /// Reads that it has.
    pub fn reads(&self) -> u64 {
        self.reads
    }

    /// Adds a block of reads. One that has a name then lasts, whatever happens to the machine.
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

    /// The block at a position of a file of this length; `None` if it is not there as a whole.
    fn block(&self, at: u64, length: u64) -> Result<Option<Block>> {
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
        Ok(is_whole.then_some(Block { records, bytes, end: at + COUNTS + body + SUM }))
    }

    /// All blocks of reads, from the first on.
    pub fn blocks(&self) -> impl Iterator<Item = Result<Vec<PhyloResult>>> + '_ {
        let mut at = self.begin;
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
            // Behind what is damaged nothing can be found.
            at = block.as_ref().map_or(self.end, |(end, _)| *end);
            Some(block.map(|(_, records)| records))
        })
    }

    /// All reads, from the first on.
    pub fn records(&self) -> impl Iterator<Item = Result<PhyloResult>> + '_ {
        self.blocks().flat_map(|block| match block {
            Ok(records) => records.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        })
    }
}
