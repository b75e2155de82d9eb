//! Files that appear whole or not at all. Results, which come little by little, have [`Output`](crate::output::Output) for
//! that. And files that are read and written at any position.

use std::fs::{self, File};
use std::io;
use std::path::Path;

pub(crate) mod fingerprint;
pub mod names;
pub(crate) mod position;
pub(crate) mod temporary;

use temporary::Listed;

/// Writes a file under the name `aside`, in the same directory, and then gives it its own. Whatever happens to the process or
/// the machine, `path` holds what it held before or all of the new. Two writers of one file need two names to write aside.
///
/// # Errors
/// What `fill` or the system returns; then nothing is left aside.
pub(crate) fn replace(path: &Path, aside: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let _listed = Listed::new(aside);
    let write = || {
        let mut file = File::create(aside)?;
        fill(&mut file)?;
        publish(&file, aside, path)
    };
    write().inspect_err(|_| drop(fs::remove_file(aside)))
}

/// Gives a file that was written under the name `aside` its own, in the same directory: all of it is there, or nothing.
///
/// # Errors
/// What the system returns.
pub(crate) fn publish(file: &File, aside: &Path, path: &Path) -> io::Result<()> {
    // Its name must not last longer than its content.
    file.sync_all()?;
    fs::rename(aside, path)?;
    sync_directory_of(path)
}

/// Makes the name of a file last.
///
/// # Errors
/// What the system returns.
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
    fn a_file_is_replaced_by_all_of_the_new_or_stays() {
        let directory = tempfile::tempdir().unwrap();
        let (path, aside) = (directory.path().join("note.json"), directory.path().join("note.part"));
        replace(&path, &aside, |file| file.write_all(b"old")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        let half = |file: &mut File| file.write_all(b"n").and(Err(io::ErrorKind::StorageFull.into()));
        assert_eq!(replace(&path, &aside, half).unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        replace(&path, &aside, |file| file.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "nothing is left aside");
    }
}
