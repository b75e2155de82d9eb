//! Temporary files that are removed unless they are completed and renamed.
//!
//! The temporary file for `NAME` is called `.NAME.xxxxxx.part` and is created in the same
//! directory. The process that writes it holds a lock on it. If the process fails, the file is
//! removed. If a signal ends the process, the program's signal handler removes all files listed
//! here. If the process ends without a handler (kill -9, power loss), the file stays but its lock
//! is released, and the next process that writes `NAME` removes it.

use std::ffi::{CStr, CString, c_char};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use tempfile::NamedTempFile;

/// Maximum number of characters of the final name that its temporary names contain.
const NAME_CHARS: usize = 48;
/// Number of random characters in a temporary name.
const RANDOM_CHARS: usize = 6;
const ENDING: &str = ".part";

/// Maximum number of temporary files that a signal handler can remove. If there are more, the
/// others stay until the next run.
const SLOTS: usize = 256;
static CLEANUP_LIST: [AtomicPtr<c_char>; SLOTS] = [const { AtomicPtr::new(ptr::null_mut()) }; SLOTS];

/// Calls a function with the path of every temporary file of this process. It allocates nothing and
/// takes no lock. So a signal handler may call it, if the given function is async-signal-safe.
pub fn for_each(mut each: impl FnMut(&CStr)) {
    for slot in &CLEANUP_LIST {
        let path = slot.load(Ordering::Acquire);
        if !path.is_null() {
            // SAFETY: a pointer in the list comes from `CString::into_raw`, and its string is never
            // freed.
            each(unsafe { CStr::from_ptr(path) });
        }
    }
}

/// An entry in the list of temporary files. Dropping it removes the path from the list.
#[derive(Debug)]
pub(crate) struct CleanupEntry(Option<usize>);

impl CleanupEntry {
    /// Adds a path to the list. A path that contains a zero byte is not listed. No path is listed
    /// while the list is full.
    pub(crate) fn new(path: &Path) -> Self {
        let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let Ok(text) = CString::new(whole.as_os_str().as_encoded_bytes()) else { return CleanupEntry(None) };
        // The string is never freed because a handler may read it at any time. This leaks about a
        // hundred bytes for each file.
        let text = text.into_raw();
        let is_taken = |slot: &AtomicPtr<c_char>| {
            slot.compare_exchange(ptr::null_mut(), text, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        };
        CleanupEntry(CLEANUP_LIST.iter().position(is_taken))
    }
}

impl Drop for CleanupEntry {
    fn drop(&mut self) {
        if let Some(slot) = self.0 {
            CLEANUP_LIST[slot].store(ptr::null_mut(), Ordering::Release);
        }
    }
}

/// A file under a temporary name. Dropping it removes the file.
#[derive(Debug)]
pub(crate) struct TemporaryFile {
    // Dropped first, so that the file is removed before its path leaves the list.
    file: NamedTempFile,
    _listed: CleanupEntry,
}

impl TemporaryFile {
    /// Removes the temporary files of `name` that killed processes left in a directory, and creates
    /// a new one.
    ///
    /// # Errors
    /// Returns the error of the operating system, and `NotFound` if the directory does not exist.
    pub(crate) fn create(directory: &Path, name: &str) -> io::Result<Self> {
        let prefix = prefix_of(name);
        sweep(directory, &prefix);
        // Opens the file like any other, so that it gets the usual permissions. Files created by
        // tempfile itself are private to the user. The code of the system's error is kept because
        // tempfile's error names the temporary file, which the user does not know.
        let (mut code, mut listed) = (None, CleanupEntry(None));
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).suffix(ENDING).rand_bytes(RANDOM_CHARS);
        let made = builder.make_in(directory, |path| {
            // Listed before the file exists, so that no signal can arrive between the two.
            listed = CleanupEntry::new(path);
            let file = File::options().write(true).create_new(true).open(path);
            let file = file.inspect_err(|error| code = error.raw_os_error())?;
            // Another process may have removed the file before it was locked. In this case tempfile
            // tries another name.
            match file.try_lock() {
                Err(fs::TryLockError::WouldBlock) => Err(io::ErrorKind::AlreadyExists.into()),
                Ok(()) if !is_there(&file, path) => Err(io::ErrorKind::AlreadyExists.into()),
                // On file systems without locks, `sweep` removes no file either.
                Ok(()) | Err(fs::TryLockError::Error(_)) => Ok(file),
            }
        });
        let file = made.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => io::Error::new(error.kind(), format!("no directory {}", directory.display())),
            _ => code.map_or(error, io::Error::from_raw_os_error),
        })?;
        Ok(TemporaryFile { file, _listed: listed })
    }

    /// Returns the open file.
    pub(crate) fn file(&self) -> &File {
        self.file.as_file()
    }

    /// Returns the current, temporary path.
    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Renames the file to its final name, in the same directory.
    ///
    /// # Errors
    /// Returns the error of the operating system. The file is then removed.
    pub(crate) fn persist(self, target: &Path) -> io::Result<File> {
        self.file.persist(target).map_err(|problem| problem.error)
    }
}

/// Returns the first part of the temporary names of `name`. It is truncated, since `name` may
/// already have the maximum length.
fn prefix_of(name: &str) -> String {
    ".".chars().chain(name.chars().take(NAME_CHARS)).chain(".".chars()).collect()
}

/// Returns whether `path` still leads to `file`.
fn is_there(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let same = |current: fs::Metadata, opened: fs::Metadata| {
            (current.dev(), current.ino()) == (opened.dev(), opened.ino())
        };
        fs::symlink_metadata(path).is_ok_and(|current| file.metadata().is_ok_and(|opened| same(current, opened)))
    }
    #[cfg(not(unix))]
    {
        // Windows does not remove open files.
        let _ = file;
        path.exists()
    }
}

/// Removes the temporary files with this prefix whose processes have ended. A file that cannot be
/// removed stays.
fn sweep(directory: &Path, prefix: &str) {
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let is_left = |entry: &fs::DirEntry| {
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        is_file && entry.file_name().to_str().is_some_and(|name| is_temporary(name, prefix))
    };
    let left: Vec<PathBuf> =
        fs::read_dir(directory).into_iter().flatten().flatten().filter(is_left).map(|entry| entry.path()).collect();
    for path in left {
        let Ok(file) = File::options().write(true).open(&path) else { continue };
        // Removes the file while it is locked, so that a process that has just created it notices
        // the removal.
        if file.try_lock().is_ok() && fs::remove_file(&path).is_ok() {
            tracing::debug!("{}: removed, its process has ended", path.display());
        }
    }
}

/// Returns whether `name` is a temporary name with this prefix.
fn is_temporary(name: &str, prefix: &str) -> bool {
    let random = name.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(ENDING));
    random.is_some_and(|random| random.len() == RANDOM_CHARS && random.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn listed() -> Vec<String> {
        let mut all = Vec::new();
        for_each(|path| all.push(path.to_str().unwrap().to_owned()));
        all
    }

    #[test]
    fn files_of_killed_processes_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let kept =
            [".a.tsv.short.part", ".a.tsv.AbCdE_.part", ".a.tsv.AbCdEf", ".b.tsv.AbCdEf.part", "a.tsv.AbCdEf.part"];
        for name in kept.iter().chain(&[".a.tsv.AbCdEf.part", ".a.tsv.012345.part"]) {
            fs::write(folder.path().join(name), "left").unwrap();
        }
        fs::create_dir(folder.path().join(".a.tsv.folder.part")).unwrap();
        let live = TemporaryFile::create(folder.path(), "a.tsv").unwrap();
        let mut expected: Vec<String> = kept.iter().map(|name| (*name).to_owned()).collect();
        expected.push(".a.tsv.folder.part".into());
        expected.push(live.path().file_name().unwrap().to_str().unwrap().to_owned());
        expected.sort();
        assert_eq!(names(folder.path()), expected);
        // A file that is being written stays.
        let other = TemporaryFile::create(folder.path(), "a.tsv").unwrap();
        assert!(live.path().exists() && other.path().exists());
        other.persist(&folder.path().join("a.tsv")).unwrap();
        drop(live);
        expected.retain(|name| kept.contains(&name.as_str()) || name.contains("folder"));
        expected.push("a.tsv".into());
        expected.sort();
        assert_eq!(names(folder.path()), expected);
    }

    #[test]
    fn temporary_files_are_listed_for_cleanup() {
        let folder = tempfile::tempdir().unwrap();
        let is_listed = |path: &Path| listed().iter().any(|other| Path::new(other) == path);
        let temporary = TemporaryFile::create(folder.path(), "b.tsv").unwrap();
        let path = temporary.path().to_owned();
        assert!(is_listed(&path));
        temporary.persist(&folder.path().join("b.tsv")).unwrap();
        assert!(!is_listed(&path));
        let dropped = TemporaryFile::create(folder.path(), "b.tsv").unwrap();
        let path = dropped.path().to_owned();
        drop(dropped);
        assert!(!is_listed(&path) && !path.exists());
    }
    /// A signal may arrive as soon as the file exists.
    #[test]
    fn temporary_files_are_listed_before_they_exist() {
        let folder = tempfile::tempdir().unwrap();
        let done = std::sync::atomic::AtomicBool::new(false);
        let observed = std::thread::scope(|scope| {
            let observer = scope.spawn(|| {
                let mut observed = 0;
                while !done.load(Ordering::Acquire) {
                    for name in names(folder.path()) {
                        let path = folder.path().join(name);
                        let is_listed = listed().iter().any(|other| Path::new(other) == path);
                        // A file that has been removed since then may have left the list.
                        assert!(is_listed || !path.exists(), "{} is not listed", path.display());
                        observed += 1;
                    }
                }
                observed
            });
            for _ in 0..2_000 {
                drop(TemporaryFile::create(folder.path(), "c.tsv").unwrap());
            }
            done.store(true, Ordering::Release);
            observer.join().unwrap()
        });
        assert!(observed > 0);
    }
}
