//! Files under temporary names that are always removed.
//!
//! A temporary file of `NAME` is called `.NAME.xxxxxx.part` and lies beside it. Its process holds a lock on it. When the process
//! fails, the file is removed; when a signal ends it, the program's handler removes all files that are listed here. After an end
//! that no handler sees (kill -9, loss of power) the file stays, and its lock is gone: the next process that writes `NAME`
//! removes it.

use std::ffi::{CStr, CString, c_char};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use tempfile::NamedTempFile;

/// Characters of a name that its temporary name begins with.
const NAME_CHARS: usize = 48;
/// Random characters in a temporary name.
const RANDOM_CHARS: usize = 6;
const ENDING: &str = ".part";

/// Number of temporary files that signals remove; of more, the rest stays until the next run.
const SLOTS: usize = 256;
static LISTED: [AtomicPtr<c_char>; SLOTS] = [const { AtomicPtr::new(ptr::null_mut()) }; SLOTS];

/// Calls a function with the path of every temporary file of this process. It allocates nothing and takes no lock, so that
/// a signal handler may call it if the function may be called there as well.
pub fn for_each(mut each: impl FnMut(&CStr)) {
    for slot in &LISTED {
        let path = slot.load(Ordering::Acquire);
        if !path.is_null() {
            // SAFETY: a pointer in the list comes from `CString::into_raw`, and its string is never freed.
            each(unsafe { CStr::from_ptr(path) });
        }
    }
}

/// A path in the list, until this is dropped.
#[derive(Debug)]
pub(crate) struct Listed(Option<usize>);

impl Listed {
    /// Lists a path. A path that does not fit, or that no C string can hold, is not listed.
    pub(crate) fn new(path: &Path) -> Self {
        let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let Ok(text) = CString::new(whole.as_os_str().as_encoded_bytes()) else { return Listed(None) };
        // Never freed: a handler may read it at any time. That is some hundred bytes a file.
        let text = text.into_raw();
        let is_taken = |slot: &AtomicPtr<c_char>| {
            slot.compare_exchange(ptr::null_mut(), text, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        };
        Listed(LISTED.iter().position(is_taken))
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        if let Some(slot) = self.0 {
            LISTED[slot].store(ptr::null_mut(), Ordering::Release);
        }
    }
}

/// A file under a temporary name, which is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Temporary {
    // Dropped first: the file is gone before its path leaves the list.
    file: NamedTempFile,
    _listed: Listed,
}

impl Temporary {
    /// Removes what killed processes have left of a name in a directory, and begins a new file.
    ///
    /// # Errors
    /// The error of the system; `NotFound` if there is no such directory.
    pub(crate) fn create(directory: &Path, name: &str) -> io::Result<Self> {
        let prefix = prefix_of(name);
        sweep(directory, &prefix);
        // Opened like any file, so that it gets the usual permissions: tempfile's own files are private to the user. The
        // system's error is kept, as tempfile's names the temporary file, which the user never typed.
        let mut code = None;
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).suffix(ENDING).rand_bytes(RANDOM_CHARS);
        let made = builder.make_in(directory, |path| {
            let file = File::options().write(true).create_new(true).open(path);
            let file = file.inspect_err(|error| code = error.raw_os_error())?;
            // Another process may have found it before it was locked, and removed it. Then another name is tried.
            match file.try_lock() {
                Err(fs::TryLockError::WouldBlock) => Err(io::ErrorKind::AlreadyExists.into()),
                Ok(()) if !is_there(&file, path) => Err(io::ErrorKind::AlreadyExists.into()),
                // Where files cannot be locked, none is removed either.
                Ok(()) | Err(fs::TryLockError::Error(_)) => Ok(file),
            }
        });
        let file = made.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => io::Error::new(error.kind(), format!("no directory {}", directory.display())),
            _ => code.map_or(error, io::Error::from_raw_os_error),
        })?;
        let listed = Listed::new(file.path());
        Ok(Temporary { file, _listed: listed })
    }

    /// The file.
    pub(crate) fn file(&self) -> &File {
        self.file.as_file()
    }

    /// Where it lies.
    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Gives the file its own name, in the same directory.
    ///
    /// # Errors
    /// The error of the system; the file is then removed.
    pub(crate) fn persist(self, target: &Path) -> io::Result<File> {
        self.file.persist(target).map_err(|problem| problem.error)
    }
}

/// Returns the start of the temporary names of a name. It is cut, since the name may already have the greatest length.
fn prefix_of(name: &str) -> String {
    ".".chars().chain(name.chars().take(NAME_CHARS)).chain(".".chars()).collect()
}

/// Whether a path still leads to a file.
fn is_there(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let same = |found: fs::Metadata, own: fs::Metadata| (found.dev(), found.ino()) == (own.dev(), own.ino());
        fs::symlink_metadata(path).is_ok_and(|found| file.metadata().is_ok_and(|own| same(found, own)))
    }
    #[cfg(not(unix))]
    {
        // Windows does not remove open files.
        let _ = file;
        path.exists()
    }
}

/// Removes temporary files of this beginning whose processes have ended. Whatever fails, the file stays.
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
        // Removes the file while it is locked, so that a process that creates it sees that it is gone.
        if file.try_lock().is_ok() && fs::remove_file(&path).is_ok() {
            tracing::debug!("{}: removed, its process has ended", path.display());
        }
    }
}

/// Whether a name is a temporary one of this beginning.
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
    fn what_killed_processes_left_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let kept =
            [".a.tsv.short.part", ".a.tsv.AbCdE_.part", ".a.tsv.AbCdEf", ".b.tsv.AbCdEf.part", "a.tsv.AbCdEf.part"];
        for name in kept.iter().chain(&[".a.tsv.AbCdEf.part", ".a.tsv.012345.part"]) {
            fs::write(folder.path().join(name), "left").unwrap();
        }
        fs::create_dir(folder.path().join(".a.tsv.folder.part")).unwrap();
        let live = Temporary::create(folder.path(), "a.tsv").unwrap();
        let mut expected: Vec<String> = kept.iter().map(|name| (*name).to_owned()).collect();
        expected.push(".a.tsv.folder.part".into());
        expected.push(live.path().file_name().unwrap().to_str().unwrap().to_owned());
        expected.sort();
        assert_eq!(names(folder.path()), expected);
        // A file that is being written stays.
        let other = Temporary::create(folder.path(), "a.tsv").unwrap();
        assert!(live.path().exists() && other.path().exists());
        other.persist(&folder.path().join("a.tsv")).unwrap();
        drop(live);
        expected.retain(|name| kept.contains(&name.as_str()) || name.contains("folder"));
        expected.push("a.tsv".into());
        expected.sort();
        assert_eq!(names(folder.path()), expected);
    }

    #[test]
    fn files_are_listed_while_they_are_temporary() {
        let folder = tempfile::tempdir().unwrap();
        let is_listed = |path: &Path| listed().iter().any(|other| Path::new(other) == path);
        let temporary = Temporary::create(folder.path(), "b.tsv").unwrap();
        let path = temporary.path().to_owned();
        assert!(is_listed(&path));
        temporary.persist(&folder.path().join("b.tsv")).unwrap();
        assert!(!is_listed(&path));
        let dropped = Temporary::create(folder.path(), "b.tsv").unwrap();
        let path = dropped.path().to_owned();
        drop(dropped);
        assert!(!is_listed(&path) && !path.exists());
    }
}
