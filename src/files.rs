//! Files that are replaced atomically, temporary files, and reads and writes at any position of a
//! file. Results that are written incrementally use [`Output`](crate::output::Output) instead.

use std::fs::{self, File};
use std::io;
use std::path::Path;

pub(crate) mod fingerprint;
pub(crate) mod links;
pub mod names;
pub(crate) mod position;
pub(crate) mod standard;
pub(crate) mod temporary;

use temporary::CleanupEntry;

/// Replaces the file `path` atomically. The content is written to `temporary`, a name in the same
/// directory, and then renamed. If the process or the machine fails at any time, `path` has either
/// its old content or all of the new content. Concurrent writers of the same file must use
/// different names for `temporary`.
///
/// # Errors
/// Returns the error of `fill` or of the operating system. The file `temporary` is then removed.
pub(crate) fn replace(path: &Path, temporary: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let _listed = CleanupEntry::new(temporary);
    let write = || {
        let mut file = File::create(temporary)?;
        fill(&mut file)?;
        publish(&file, temporary, path)
    };
    write().inspect_err(|_| drop(fs::remove_file(temporary)))
}

/// Renames a completely written file from `temporary` to `path`, in the same directory. After a crash,
/// `path` has either its old content or all of the new content.
///
/// # Errors
/// Returns the error of the operating system.
pub(crate) fn publish(file: &File, temporary: &Path, path: &Path) -> io::Result<()> {
    // The content must reach the disk before the rename, or a crash could leave a truncated file
    // under the final name.
    file.sync_all()?;
    fs::rename(temporary, path)?;
    sync_directory_of(path)
}

/// Syncs the directory that contains a file to disk, so that the file's name survives a crash.
///
/// # Errors
/// Returns the error of the operating system.
pub(crate) fn sync_directory_of(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(here) if cfg!(unix) && here.as_os_str().is_empty() => File::open(".")?.sync_all(),
        Some(directory) if cfg!(unix) => File::open(directory)?.sync_all(),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn files_are_replaced_completely_or_not_at_all() {
        let directory = tempfile::tempdir().unwrap();
        let (path, temporary) = (directory.path().join("note.json"), directory.path().join("note.part"));
        replace(&path, &temporary, |file| file.write_all(b"old")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        let half = |file: &mut File| file.write_all(b"n").and(Err(io::ErrorKind::StorageFull.into()));
        assert_eq!(replace(&path, &temporary, half).unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        replace(&path, &temporary, |file| file.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "nothing is left aside");
    }
}
