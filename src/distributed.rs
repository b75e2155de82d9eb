//! Jobs that many processes on many machines compute together, in blocks, through a shared
//! directory. In a job that MPI started, each process is a rank.
//!
//! ```text
//! manifest.json       the plan: command line, fingerprint of options and input, blocks, and a digest of all
//! blocks/000123.part  the rows of one block; the file appears complete or not at all
//! claims/             one file for each block that a process computes now
//! journal.jsonl       a log of events
//! ```
//!
//! [`Directory`] reads and writes all of these files. [`jobs::blocks`](crate::jobs::blocks) defines
//! blocks.

pub mod claim;
pub mod dispatch;
pub mod journal;
pub mod manifest;
mod merge;
#[cfg(feature = "mpi")]
pub mod mpi;
pub mod parts;
pub mod process;
pub mod ranks;
pub mod simulate;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

pub use claim::{Claim, ClaimHolder, ClaimOutcome};
pub use journal::{JournalEntry, JournalEvent};
pub use manifest::{BlockManifest, Digest};
pub use merge::{MergeSummary, ranges};
pub use parts::{FinishedPart, PartDestination, PartInfo, PartReader, PartState, PartWriter};
pub use process::{Process, host};

use crate::error::{Error, Result};
use crate::files::{self, temporary::TemporaryFile};
use crate::jobs::blocks::Divisible;
use claim::{Claims, ignore_not_found};

const MANIFEST: &str = "manifest.json";
const BLOCKS: &str = "blocks";
const CLAIMS: &str = "claims";
const JOURNAL: &str = "journal.jsonl";
/// Name of the claim on the whole directory.
const ALL: &str = "all";

/// Blocks under computation, each with its holder, and the holder of the whole directory.
pub type Holders = (Vec<(usize, ClaimHolder)>, Option<ClaimHolder>);

/// An open directory of a job in blocks.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    manifest: BlockManifest,
    digest: Digest,
    claims: Claims,
}

impl Directory {
    /// Creates a directory for a new plan. The path must not exist, or must be an empty directory.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the directory already contains files, and [`Error::Io`] if the
    /// system fails.
    pub fn create(path: &Path, manifest: BlockManifest) -> Result<Self> {
        Self::check_new(path)?;
        let failed = |error| Error::io(path, error);
        for name in [BLOCKS, CLAIMS] {
            fs::create_dir_all(path.join(name)).map_err(failed)?;
        }
        let name = path.join(MANIFEST);
        let bytes = manifest.to_bytes()?;
        let manifest_file = TemporaryFile::create(path, MANIFEST).map_err(failed)?;
        let written =
            manifest_file.file().write_all(&bytes).and_then(|()| match fs::hard_link(manifest_file.path(), &name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
                Ok(()) => manifest_file.file().sync_all().and_then(|()| files::sync_directory_of(&name)),
                // Without hard links, two processes that plan at the same time are not detected.
                Err(_) => files::publish(manifest_file.file(), manifest_file.path(), &name),
            });
        drop(manifest_file);
        written.map_err(|error| Error::io(name, error))?;
        Self::open(path)
    }

    /// Checks that [`Directory::create`] can create a directory at this path.
    ///
    /// # Errors
    /// Returns the errors of [`Directory::create`].
    pub fn check_new(path: &Path) -> Result<()> {
        let failed = |error| Error::io(path, error);
        let entries = match fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(failed(error)),
        };
        for entry in entries {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name();
            if name == MANIFEST {
                let message = "this directory has a plan already: run and merge it, or name another directory";
                return Err(Error::usage(format!("{}: {message}", path.display())));
            }
            // A process that was killed may have left empty subdirectories.
            let is_known = [BLOCKS, CLAIMS].iter().any(|known| name == *known);
            let is_empty = || fs::read_dir(entry.path()).is_ok_and(|mut inside| inside.next().is_none());
            if !(is_known && is_empty() || name.to_string_lossy().starts_with('.')) {
                let message = "the directory is not empty: name another directory";
                return Err(Error::usage(format!("{}: {message}", path.display())));
            }
        }
        Ok(())
    }

    /// Opens a directory.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the directory has no manifest, or if the manifest is damaged or
    /// was written by another version of the program. Returns [`Error::Io`] if the system fails.
    pub fn open(path: &Path) -> Result<Self> {
        let name = path.join(MANIFEST);
        let bytes = match fs::read(&name) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound && path.is_dir() => {
                return Err(Error::usage(format!(
                    "{}: this directory has no plan of a job: name the directory of a plan",
                    path.display()
                )));
            }
            Err(error) if path.is_dir() => return Err(Error::io(name, error)),
            Err(error) => return Err(Error::io(path, error)),
        };
        let manifest = BlockManifest::from_bytes(&name, &bytes)?;
        let digest = manifest.digest()?;
        Ok(Directory { path: path.to_owned(), manifest, digest, claims: Claims::new(path.join(CLAIMS)) })
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the plan of the job.
    pub fn manifest(&self) -> &BlockManifest {
        &self.manifest
    }

    /// Returns the digest of the manifest, which every part file contains.
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    /// Returns the number of blocks.
    pub fn len(&self) -> usize {
        self.manifest.blocks.len()
    }

    /// Checks whether the job has no blocks.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the path of a block's part file.
    pub fn part_path(&self, block: usize) -> PathBuf {
        self.path.join(BLOCKS).join(format!("{}.part", name_of(block)))
    }

    /// Returns a unique path for a temporary part file.
    pub(crate) fn part_aside(&self, block: usize) -> PathBuf {
        self.path.join(BLOCKS).join(format!("{}.{}.tmp", name_of(block), process::unique_token()))
    }

    /// Returns the state of a block. Reads only the header and the footer of its file.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the system fails.
    pub fn state(&self, block: usize) -> Result<PartState> {
        parts::read_state(&self.part_path(block), &self.digest, block)
    }

    /// Returns the states of all blocks, in order. Reads only headers and footers.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the system fails.
    pub fn states(&self) -> Result<Vec<PartState>> {
        let with_files = self.blocks_with_files()?;
        let state = |block| if with_files.contains(&block) { self.state(block) } else { Ok(PartState::Missing) };
        (0..self.len()).map(state).collect()
    }

    /// Returns the blocks that have a part file, without checking its content.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the system fails.
    pub fn blocks_with_files(&self) -> Result<BTreeSet<usize>> {
        let names = self.names_in_blocks()?;
        Ok(names.iter().filter_map(|name| name.strip_suffix(".part")?.parse().ok()).collect())
    }

    fn names_in_blocks(&self) -> Result<Vec<String>> {
        let path = self.path.join(BLOCKS);
        let failed = |error| Error::io(&path, error);
        let entries = fs::read_dir(&path).map_err(failed)?;
        entries.map(|entry| Ok(entry.map_err(failed)?.file_name().to_string_lossy().into_owned())).collect()
    }

    /// Returns the state of a block. Checks all bytes of its file.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the system fails.
    pub fn verify<J: Divisible>(&self, block: usize) -> Result<PartState> {
        if self.state(block)? == PartState::Missing {
            return Ok(PartState::Missing);
        }
        let read = || -> Result<Option<PartInfo>> {
            let mut rows = self.rows::<J>(block)?;
            while rows.next_rows()?.is_some() {}
            Ok(rows.info().cloned())
        };
        match read() {
            Ok(Some(info)) => Ok(PartState::Done(info)),
            Ok(None) => Err(Error::Internal("a part was read to its end without its footer".into())),
            Err(Error::Input { message, .. }) => Ok(PartState::Damaged(message)),
            Err(error) => Err(error),
        }
    }

    /// Renames the file of a damaged block, so that the block counts as missing.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the system fails.
    pub fn rename_damaged(&self, block: usize) -> Result<()> {
        let path = self.part_path(block);
        fs::rename(&path, path.with_extension("damaged")).map_err(|error| Error::io(path, error))
    }

    /// Opens the rows of a block.
    ///
    /// # Errors
    /// Returns the errors of [`PartReader::open`].
    pub fn rows<J: Divisible>(&self, block: usize) -> Result<PartReader<J>> {
        PartReader::open(&self.part_path(block), &self.digest, block)
    }

    /// Writes the part file of a block from bytes that another rank computed.
    ///
    /// # Errors
    /// Returns [`Error::Input`] if the bytes are damaged or belong to another block, and
    /// [`Error::Io`] if the system fails.
    pub fn put<J: Divisible>(&self, block: usize, bytes: &[u8]) -> Result<()> {
        let path = self.part_path(block);
        let mut rows = PartReader::<J, &[u8]>::new(bytes, bytes.len() as u64, &path, &self.digest, block)?;
        while rows.next_rows()?.is_some() {}
        let written = files::replace(&path, &self.part_aside(block), |file| file.write_all(bytes));
        written.map_err(|error| Error::io(path, error))
    }

    /// Claims a block, and removes temporary files that other processes left behind.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the plan has no such block, and [`Error::Io`] if the system
    /// fails.
    pub fn claim(&self, block: usize) -> Result<ClaimOutcome> {
        if block >= self.len() {
            let count = self.len();
            return Err(Error::usage(format!("block {block} is not in the plan, which has {count} blocks")));
        }
        let claimed = self.claims.claim(&name_of(block))?;
        let ClaimOutcome::Acquired(claim) = claimed else { return Ok(claimed) };
        // This check follows the claim. A process that claims the whole directory also checks for
        // block claims after its own claim. Therefore at least one of two such processes sees the
        // other claim and releases its own.
        if let Some(holder) = self.claims.holder(ALL)? {
            return Ok(ClaimOutcome::HeldBy(holder));
        }
        if let Some((from, _)) = &claim.taken_over {
            self.record_event(JournalEvent::TakenOver { block, from: from.process.to_string() });
        }
        self.sweep(|name| name.strip_prefix(&name_of(block)).is_some_and(|rest| rest.starts_with('.')))?;
        Ok(ClaimOutcome::Acquired(claim))
    }

    /// Claims the whole directory, and removes temporary files that other processes left behind.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the system fails.
    pub fn claim_all(&self) -> Result<ClaimOutcome> {
        let claimed = self.claims.claim(ALL)?;
        let ClaimOutcome::Acquired(claim) = claimed else { return Ok(claimed) };
        if let Some((_, holder)) = self.claims.live_claims()?.into_iter().find(|(name, _)| name != ALL) {
            return Ok(ClaimOutcome::HeldBy(holder));
        }
        self.sweep(|_| true)?;
        Ok(ClaimOutcome::Acquired(claim))
    }

    /// Returns the blocks under computation with their holders, and the holder of the whole
    /// directory.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the system fails.
    pub fn holders(&self) -> Result<Holders> {
        let (mut blocks, mut all) = (Vec::new(), None);
        for (name, holder) in self.claims.live_claims()? {
            match name.parse() {
                Ok(block) => blocks.push((block, holder)),
                Err(_) => all = Some(holder),
            }
        }
        Ok((blocks, all))
    }

    /// Removes the temporary part files whose names `is_selected` accepts.
    fn sweep(&self, is_selected: impl Fn(&str) -> bool) -> Result<()> {
        let names = self.names_in_blocks()?;
        for name in names.iter().filter(|name| name.ends_with(".tmp") && is_selected(name)) {
            let path = self.path.join(BLOCKS).join(name);
            fs::remove_file(&path).or_else(ignore_not_found).map_err(|error| Error::io(path, error))?;
        }
        Ok(())
    }

    /// Appends an event to the journal. A failure to write only causes a warning.
    pub fn record_event(&self, event: JournalEvent) {
        if let Err(error) = journal::append(&self.path.join(JOURNAL), &Process::current(), event) {
            tracing::warn!("{error}");
        }
    }

    /// Returns all entries of the journal.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the system fails.
    pub fn journal(&self) -> Result<Vec<JournalEntry>> {
        journal::read(&self.path.join(JOURNAL))
    }
}

/// Formats the number of a block for file names.
fn name_of(block: usize) -> String {
    format!("{block:06}")
}
