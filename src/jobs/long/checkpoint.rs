//! The state that a job saves, so that a later run can continue if this one is killed.
//!
//! A checkpoint is a directory. `manifest.json` describes the job, and another job is refused. Each
//! part of the matrix has a directory with numbered logs ([`crate::long::chain::logs`]). Files are
//! replaced atomically: they are written under another name, synchronised and then renamed. They
//! end with a checksum. Missing or damaged parts are computed again. A run holds a lock on the
//! directory.

use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use crate::error::{Error, Result};
use crate::files::fingerprint::Fingerprint;
use crate::long::BorderSpan;
use crate::long::chain::log_file::{BEGUN, serialization_error, write_whole};
use crate::long::chain::logs::TileSaver;

/// Version of the files. Version 1 had another checksum. Version 2 did not record options and the
/// contents of input files.
const VERSION: u32 = 3;

/// Returns a checksum (XXH3, 64 bits). It detects damage and different input, but not deliberate
/// changes.
pub(in crate::jobs) fn checksum(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}

/// The checkpoint of a job.
#[derive(Debug)]
pub(super) struct Checkpoint {
    directory: PathBuf,
    every: Duration,
    /// Whether the checkpoint existed before this run.
    pub resumed: bool,
    /// Locked as long as this run lives.
    _lock: File,
}

#[derive(Serialize, Deserialize)]
struct CheckpointManifest<C> {
    version: u32,
    job: Fingerprint,
    cut: C,
}

/// The fields that a manifest of any version has.
#[derive(Deserialize)]
struct CheckpointVersion {
    version: u32,
}

impl Checkpoint {
    /// Opens a directory, and creates it if it does not exist. `job` describes the job. `cut`
    /// describes how this run would divide the matrix. Returns the checkpoint, and the division
    /// that the first run has chosen.
    ///
    /// # Errors
    /// [`Error::Usage`] if the checkpoint belongs to another job, or if another run uses it;
    /// [`Error::Io`].
    pub(super) fn open<C: Serialize + DeserializeOwned>(
        directory: &Path,
        every: Duration,
        job: Fingerprint,
        cut: C,
    ) -> Result<(Self, C)> {
        fs::create_dir_all(directory).map_err(|error| Error::io(directory, error))?;
        let path = directory.join("manifest.json");
        let refuse = |what: String| {
            let message = format!("{what}: name another directory, or delete this one");
            Error::usage_value("checkpoint", directory.display(), message)
        };
        let lock = lock(directory)?;
        let there = match fs::read(&path) {
            Ok(bytes) => {
                let damaged = |error| refuse(format!("its manifest is damaged: {error}"));
                let CheckpointVersion { version } = serde_json::from_slice(&bytes).map_err(damaged)?;
                if version != VERSION {
                    let message =
                        format!("another version of pairwave wrote it (format {version}, this version has {VERSION})");
                    return Err(refuse(message));
                }
                let there: CheckpointManifest<serde_json::Value> = serde_json::from_slice(&bytes).map_err(damaged)?;
                if let Some(differs) = there.job.difference(&job) {
                    return Err(refuse(format!("it belongs to another job: {differs}")));
                }
                Some(serde_json::from_value(there.cut).map_err(damaged)?)
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(Error::io(path, error)),
        };
        let resumed = there.is_some();
        // The lock is held, so no other process writes here.
        remove_begun(directory);
        let cut = match there {
            Some(cut) => cut,
            None => {
                let manifest = CheckpointManifest { version: VERSION, job, cut };
                let bytes = serde_json::to_vec_pretty(&manifest).map_err(serialization_error)?;
                write_whole(&path, |file| file.write_all(&bytes))?;
                manifest.cut
            }
        };
        Ok((Checkpoint { directory: directory.to_owned(), every, resumed, _lock: lock }, cut))
    }

    /// Creates the logs of a part of the matrix.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn tile(&self, pass: &str, tile: usize, rows: BorderSpan, mark_every: Option<u32>) -> Result<TileSaver> {
        let directory = self.directory.join(pass).join(tile.to_string());
        fs::create_dir_all(&directory).map_err(|error| Error::io(&directory, error))?;
        Ok(TileSaver::new(directory, self.every, rows.lines(), mark_every))
    }

    /// Removes the logs of a sweep that is no longer needed.
    pub(super) fn remove_logs(&self, pass: &str) {
        // A failure only costs disk space.
        let _ = fs::remove_dir_all(self.directory.join(pass));
    }

    /// Removes everything except the notes, when the job is done.
    pub(super) fn clear(&self) {
        let directories = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        for directory in directories.filter(|entry| entry.path().is_dir()) {
            if directory
                .file_name()
                .to_str()
                .is_some_and(|name| name.starts_with("plus-") || name.starts_with("minus-"))
            {
                self.remove_logs(directory.file_name().to_str().unwrap_or_default());
            }
        }
    }

    /// Reads a note. Returns `None` if it is missing or damaged.
    pub(super) fn read<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let bytes = fs::read(self.directory.join(name)).ok()?;
        let (body, sum) = bytes.split_at_checked(bytes.len().checked_sub(8)?)?;
        (checksum(body).to_le_bytes() == sum).then(|| serde_json::from_slice(body).ok()).flatten()
    }

    /// Writes a note.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn write(&self, name: &str, note: &impl Serialize) -> Result<()> {
        let body = serde_json::to_vec(note).map_err(serialization_error)?;
        let sum = checksum(&body).to_le_bytes();
        write_whole(&self.directory.join(name), |file| file.write_all(&body).and_then(|()| file.write_all(&sum)))
    }

    /// Returns the minimum time between two saves.
    pub(super) fn save_interval(&self) -> Duration {
        self.every
    }
}

/// Locks a directory for this run. The system releases the lock when the process ends.
fn lock(directory: &Path) -> Result<File> {
    let path = directory.join("lock");
    let file = File::options().create(true).append(true).open(&path).map_err(|error| Error::io(&path, error))?;
    lock_file(&file, &path, directory)?;
    Ok(file)
}

/// Locks a file for this run as long as it is open. `named` is the checkpoint that the user named.
pub(in crate::jobs) fn lock_file(file: &File, path: &Path, named: &Path) -> Result<()> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => {
            let message = "another run uses it now: wait for that run, or name another checkpoint";
            Err(Error::usage_value("checkpoint", named.display(), message))
        }
        Err(TryLockError::Error(error)) => {
            let path = path.display();
            tracing::warn!(
                "{path}: the file cannot be locked ({error}): make sure that no other run uses {}",
                named.display()
            );
            Ok(())
        }
    }
}

/// Removes files that a killed run was writing, here and in all directories below.
fn remove_begun(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let (path, kind) = (entry.path(), entry.file_type());
        if kind.as_ref().is_ok_and(fs::FileType::is_dir) {
            remove_begun(&path);
        } else if kind.is_ok_and(|kind| kind.is_file()) && path.extension().is_some_and(|ending| ending == BEGUN) {
            // A failure only costs disk space.
            let _ = fs::remove_file(path);
        }
    }
}
