//! Destinations of output files: paths after symbolic links, and open descriptors.
//!
//! A path such as `/dev/stdout` names a descriptor of the process. The file behind it belongs to the
//! process that opened it, for example a shell that redirects the output of several commands. It is
//! therefore written through the descriptor and never replaced.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Maximum number of symbolic links that are followed, as in Linux.
const MAX_LINKS: usize = 40;

/// The destination that a path names.
#[derive(Debug)]
pub(crate) enum Destination {
    /// A duplicate of an open descriptor of this process.
    Descriptor(File),
    /// A path that is no symbolic link. There may be no file yet.
    Path(PathBuf),
}

impl Destination {
    /// Follows symbolic links, also those to files that do not exist.
    ///
    /// # Errors
    /// Returns an error for a descriptor that is not open, and for links that form a circle.
    pub(crate) fn find(path: &Path) -> io::Result<Self> {
        let mut path = path.to_owned();
        for _ in 0..MAX_LINKS {
            if let Some(file) = descriptor(&path)? {
                return Ok(Destination::Descriptor(file));
            }
            match fs::read_link(&path) {
                Ok(next) => path = path.parent().unwrap_or(Path::new("")).join(next),
                Err(_) => return Ok(Destination::Path(path)),
            }
        }
        Err(io::Error::other("too many symbolic links"))
    }
}

/// Duplicates the descriptor that a path names; `None` if the path is not in a directory of this
/// process's descriptors.
#[cfg(unix)]
fn descriptor(path: &Path) -> io::Result<Option<File>> {
    use std::os::fd::{BorrowedFd, RawFd};
    // Linux has links to the second directory in the place of the first one.
    const DIRECTORIES: [&str; 2] = ["/dev/fd", "/proc/self/fd"];
    let name = path.file_name().and_then(|name| name.to_str());
    let digits = name.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
    let (Some(digits), Some(parent)) = (digits, path.parent()) else { return Ok(None) };
    let Ok(parent) = fs::canonicalize(parent) else { return Ok(None) };
    let is_parent = |directory: &&str| fs::canonicalize(directory).is_ok_and(|directory| directory == parent);
    if !DIRECTORIES.iter().any(is_parent) {
        return Ok(None);
    }
    let closed = || io::Error::new(io::ErrorKind::NotFound, "this descriptor is not open");
    let number: RawFd = digits.parse().map_err(|_| closed())?;
    fs::symlink_metadata(path).map_err(|_| closed())?;
    // SAFETY: `number` is not negative, and the system lists it among the open descriptors. It is
    // only duplicated, which fails if another thread closes it meanwhile.
    let borrowed = unsafe { BorrowedFd::borrow_raw(number) };
    Ok(Some(File::from(borrowed.try_clone_to_owned()?)))
}

#[cfg(not(unix))]
fn descriptor(_path: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::symlink;

    use super::*;

    fn path(destination: io::Result<Destination>) -> PathBuf {
        match destination.unwrap() {
            Destination::Path(path) => path,
            Destination::Descriptor(file) => panic!("{file:?}"),
        }
    }

    #[test]
    fn links_lead_to_files_that_do_not_exist() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("sub")).unwrap();
        symlink("../new", at("sub/near")).unwrap();
        symlink(at("sub/near"), at("far")).unwrap();
        assert_eq!(path(Destination::find(&at("far"))), at("sub/../new"));
        assert_eq!(path(Destination::find(&at("other"))), at("other"));
        assert_eq!(path(Destination::find(Path::new("12"))), Path::new("12"));
        symlink("round", at("round")).unwrap();
        assert_eq!(Destination::find(&at("round")).unwrap_err().to_string(), "too many symbolic links");
    }

    #[cfg(any(target_os = "linux", target_os = "macos"))]
    #[test]
    fn paths_of_descriptors_lead_to_the_open_file() {
        use std::io::Write;
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().join("text");
        let mut open = File::create(&name).unwrap();
        open.write_all(b"first\n").unwrap();
        let link = folder.path().join("link");
        symlink(format!("/dev/fd/{}", open.as_raw_fd()), &link).unwrap();
        let Destination::Descriptor(mut file) = Destination::find(&link).unwrap() else { panic!("a path") };
        file.write_all(b"second\n").unwrap();
        open.write_all(b"third\n").unwrap();
        assert_eq!(fs::read_to_string(&name).unwrap(), "first\nsecond\nthird\n");
        for closed in ["/dev/fd/9999", "/dev/fd/99999999999"] {
            assert_eq!(Destination::find(Path::new(closed)).unwrap_err().kind(), io::ErrorKind::NotFound, "{closed}");
        }
    }
}
