//! Jobs in blocks beyond one machine: a directory that many processes share.
//!
//! ```text
//! manifest.json       what was cut: command line, options and input with checksums, blocks; a digest of it all
//! blocks/000123.part  the rows of a block, which appear whole or not at all
//! claims/             who computes which block now
//! journal.jsonl       what happened
//! ```
//!
//! [`Directory`] is all of it. What a block is says [`jobs::blocks`](crate::jobs::blocks).

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

pub use claim::{Claim, Claimed, Holder};
pub use journal::{Entry, Event};
pub use manifest::{Digest, Manifest};
pub use merge::{Merged, ranges};
pub use parts::{Made, PartInfo, PartState, PartWriter, Rows};
pub use process::{Process, host};

use crate::error::{Error, Result};
use crate::files::{self, temporary::Temporary};
use crate::jobs::blocks::Divisible;
use claim::{Claims, forgive_gone};

const MANIFEST: &str = "manifest.json";
const BLOCKS: &str = "blocks";
const CLAIMS: &str = "claims";
const JOURNAL: &str = "journal.jsonl";
/// What a claim of the whole directory is called.
const ALL: &str = "all";

/// Who computes which blocks now, and who has all of them.
pub type Holders = (Vec<(usize, Holder)>, Option<Holder>);

/// A job in blocks.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    manifest: Manifest,
    digest: Digest,
    claims: Claims,
}

impl Directory {
    /// Begins a directory, which must not be there, or be empty.
    ///
    /// # Errors
    /// [`Error::Usage`] if something is there; [`Error::Io`].
    pub fn create(path: &Path, manifest: Manifest) -> Result<Self> {
        Self::check_new(path)?;
        let failed = |error| Error::io(path, error);
        for part in [BLOCKS, CLAIMS] {
            fs::create_dir_all(path.join(part)).map_err(failed)?;
        }
        let name = path.join(MANIFEST);
        let bytes = manifest.to_bytes()?;
        let aside = Temporary::create(path, MANIFEST).map_err(failed)?;
        let written = aside.file().write_all(&bytes).and_then(|()| match fs::hard_link(aside.path(), &name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
            Ok(()) => aside.file().sync_all().and_then(|()| files::sync_directory_of(&name)),
            // Without links, two who plan at once are not told from each other.
            Err(_) => files::publish(aside.file(), aside.path(), &name),
        });
        drop(aside);
        written.map_err(|error| Error::io(name, error))?;
        Self::open(path)
    }

    /// Whether a directory can be begun there.
    ///
    /// # Errors
    /// As [`Directory::create`].
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
                let message = "there is a plan already: run and merge that, or name another directory";
                return Err(Error::usage(format!("{}: {message}", path.display())));
            }
            // Whoever began here may have been killed.
            let is_begun = [BLOCKS, CLAIMS].iter().any(|part| name == *part);
            let is_empty = || fs::read_dir(entry.path()).is_ok_and(|mut inside| inside.next().is_none());
            if !(is_begun && is_empty() || name.to_string_lossy().starts_with('.')) {
                let message = "the directory is not empty: name another one";
                return Err(Error::usage(format!("{}: {message}", path.display())));
            }
        }
        Ok(())
    }

    /// Opens a directory.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is none, it is damaged, or of another version of the program; [`Error::Io`].
    pub fn open(path: &Path) -> Result<Self> {
        let name = path.join(MANIFEST);
        let bytes = match fs::read(&name) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound && path.is_dir() => {
                return Err(Error::usage(format!("{}: there is no plan of a job in this directory", path.display())));
            }
            Err(error) if path.is_dir() => return Err(Error::io(name, error)),
            Err(error) => return Err(Error::io(path, error)),
        };
        let manifest = Manifest::from_bytes(&name, &bytes)?;
        let digest = manifest.digest()?;
        Ok(Directory { path: path.to_owned(), manifest, digest, claims: Claims::new(path.join(CLAIMS)) })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was cut.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// What stands for the manifest in parts.
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    /// How many blocks there are.
    pub fn len(&self) -> usize {
        self.manifest.blocks.len()
    }

    /// Whether there is nothing to compute.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The file of a block.
    pub fn part_path(&self, block: usize) -> PathBuf {
        self.path.join(BLOCKS).join(format!("{}.part", name_of(block)))
    }

    /// A file beside it that nobody else writes.
    pub(crate) fn part_aside(&self, block: usize) -> PathBuf {
        self.path.join(BLOCKS).join(format!("{}.{}.tmp", name_of(block), process::word()))
    }

    /// What there is of a block, by the ends of its file.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn state(&self, block: usize) -> Result<PartState> {
        parts::read_about(&self.part_path(block), &self.digest, block)
    }

    /// What there is of every block.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn states(&self) -> Result<Vec<PartState>> {
        let there = self.blocks_with_files()?;
        let state = |block| if there.contains(&block) { self.state(block) } else { Ok(PartState::Missing) };
        (0..self.len()).map(state).collect()
    }

    /// Blocks that have a file, whatever is in it.
    ///
    /// # Errors
    /// [`Error::Io`].
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

    /// What there is of a block, by all of its bytes.
    ///
    /// # Errors
    /// [`Error::Io`].
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
            Ok(None) => Err(Error::Internal("a block ends without its end".into())),
            Err(Error::Input { message, .. }) => Ok(PartState::Damaged(message)),
            Err(error) => Err(error),
        }
    }

    /// Puts the file of a block that is damaged aside, so that the block counts as missing.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn set_aside(&self, block: usize) -> Result<()> {
        let path = self.part_path(block);
        fs::rename(&path, path.with_extension("damaged")).map_err(|error| Error::io(path, error))
    }

    /// The rows of a block.
    ///
    /// # Errors
    /// As [`Rows::open`].
    pub fn rows<J: Divisible>(&self, block: usize) -> Result<Rows<J>> {
        Rows::open(&self.part_path(block), &self.digest, block)
    }

    /// Writes the part of a block that came in bytes from elsewhere.
    ///
    /// # Errors
    /// [`Error::Input`] if it is not that block's; [`Error::Io`].
    pub fn put<J: Divisible>(&self, block: usize, bytes: &[u8]) -> Result<()> {
        let path = self.part_path(block);
        let mut rows = Rows::<J, &[u8]>::new(bytes, bytes.len() as u64, &path, &self.digest, block)?;
        while rows.next_rows()?.is_some() {}
        let written = files::replace(&path, &self.part_aside(block), |file| file.write_all(bytes));
        written.map_err(|error| Error::io(path, error))
    }

    /// Claims a block, and sweeps what was left of it by others.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no such block; [`Error::Io`].
    pub fn claim(&self, block: usize) -> Result<Claimed> {
        let claimed = self.claims.claim(&name_of(block))?;
        let Claimed::Yes(claim) = claimed else { return Ok(claimed) };
        // Looked up behind the claim, as who claims all looks for claims behind its own: one of the two gives way.
        if let Some(holder) = self.claims.holder(ALL)? {
            return Ok(Claimed::By(holder));
        }
        if let Some((from, _)) = &claim.taken_over {
            self.note(Event::TakenOver { block, from: from.process.to_string() });
        }
        self.sweep(|name| name.strip_prefix(&name_of(block)).is_some_and(|rest| rest.starts_with('.')))?;
        Ok(Claimed::Yes(claim))
    }

    /// Claims the whole directory, and sweeps what was left by others.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn claim_all(&self) -> Result<Claimed> {
        let claimed = self.claims.claim(ALL)?;
        let Claimed::Yes(claim) = claimed else { return Ok(claimed) };
        if let Some((_, holder)) = self.claims.held()?.into_iter().find(|(name, _)| name != ALL) {
            return Ok(Claimed::By(holder));
        }
        self.sweep(|_| true)?;
        Ok(Claimed::Yes(claim))
    }

    /// Who computes which blocks now, and who has all of them.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn holders(&self) -> Result<Holders> {
        let (mut blocks, mut all) = (Vec::new(), None);
        for (name, holder) in self.claims.held()? {
            match name.parse() {
                Ok(block) => blocks.push((block, holder)),
                Err(_) => all = Some(holder),
            }
        }
        Ok((blocks, all))
    }

    /// Removes parts that were written by half.
    fn sweep(&self, is_meant: impl Fn(&str) -> bool) -> Result<()> {
        let names = self.names_in_blocks()?;
        for name in names.iter().filter(|name| name.ends_with(".tmp") && is_meant(name)) {
            let path = self.path.join(BLOCKS).join(name);
            fs::remove_file(&path).or_else(forgive_gone).map_err(|error| Error::io(path, error))?;
        }
        Ok(())
    }

    /// Adds to the journal. That it cannot be written stops nobody.
    pub fn note(&self, event: Event) {
        if let Err(error) = journal::append(&self.path.join(JOURNAL), &Process::own(), event) {
            tracing::warn!("{error}");
        }
    }

    /// What happened.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn journal(&self) -> Result<Vec<Entry>> {
        journal::read(&self.path.join(JOURNAL))
    }
}

/// A block as files call it.
fn name_of(block: usize) -> String {
    format!("{block:06}")
}
