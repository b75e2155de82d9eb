//! Where output goes: a file that appears whole or not at all, or standard output.

use super::compress::{Compression, Compressor};
use crate::error::{Error, Result};
use crate::files::temporary::TemporaryFile;
use std::fs::{self, File};
use std::io::{self, Stdout, Write};
use std::path::{Path, PathBuf};

/// Bytes that are gathered before they are passed on.
const BUFFER_BYTES: usize = 1 << 17;

/// A destination with a buffer in front of it.
///
/// A regular file is written under a temporary name beside its own (`.NAME.….part`) and renamed by [`Output::finish`]; if that is never
/// reached the temporary file is removed and an older file of the name stays as it was. What a process that was killed has left
/// under such a name is removed by the next one that writes the file. The ending of the name may ask for a
/// [`Compression`]. A closed pipe shows as [`Error::OutputClosed`].
#[derive(Debug)]
pub struct Output {
    buffer: Vec<u8>,
    stream: Stream,
    /// For messages.
    name: PathBuf,
}

enum Stream {
    Plain(Base),
    // Boxed as its tables are large.
    Compressed(Box<Compressor<Base>>),
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Stream::Plain(base) => base.fmt(f),
            Stream::Compressed(_) => f.write_str("Compressed"),
        }
    }
}

impl Stream {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Stream::Plain(base) => base.write_all(bytes),
            Stream::Compressed(stream) => stream.write_all(bytes),
        }
    }
}

enum Base {
    Standard(Stdout),
    /// Not a regular file (`/dev/null`, a named pipe): nothing to rename.
    Device(File),
    Temporary {
        file: TemporaryFile,
        target: PathBuf,
    },
    Other(Box<dyn Write + Send>),
}

impl std::fmt::Debug for Base {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Base::Standard(_) => "Standard",
            Base::Device(_) => "Device",
            Base::Temporary { .. } => "Temporary",
            Base::Other(_) => "Other",
        })
    }
}

impl Output {
    /// Standard output.
    pub fn standard() -> Self {
        Self::over(Stream::Plain(Base::Standard(io::stdout())), "standard output")
    }

    /// Any stream, as it is.
    pub fn to_writer(writer: impl Write + Send + 'static) -> Self {
        Self::over(Stream::Plain(Base::Other(Box::new(writer))), "output")
    }

    /// The file of this name; `-` is standard output.
    pub fn create(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::standard());
        }
        let base = open_file(path).map_err(|source| Error::io(path, source))?;
        let stream = match Compression::of(path) {
            Some(compression) => {
                let stream = Compressor::new(compression, base).map_err(|source| Error::io(path, source))?;
                Stream::Compressed(Box::new(stream))
            }
            None => Stream::Plain(base),
        };
        Ok(Self::over(stream, path))
    }

    /// Whether [`Output::create`] would find a place for this file, of which nothing is left behind: for a file that is
    /// written late, whose temporary one should not stay if the process is ended before.
    ///
    /// # Errors
    /// As [`Output::create`]. What is no regular file is not opened, as a pipe's reader would notice.
    pub fn check(path: &Path) -> Result<()> {
        let is_file = || fs::metadata(path).map_or(true, |found| found.is_file() || found.is_dir());
        if path != Path::new("-") && is_file() {
            open_file(path).map_err(|source| Error::io(path, source))?;
        }
        Ok(())
    }

    fn over(stream: Stream, name: impl Into<PathBuf>) -> Self {
        Output { buffer: Vec::with_capacity(BUFFER_BYTES + (BUFFER_BYTES >> 3)), stream, name: name.into() }
    }

    /// Where to append. Call [`Output::pass_on`] after some lines.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Hands on what the buffer holds if that is worth a system call.
    pub fn pass_on(&mut self) -> Result<()> {
        if self.buffer.len() >= BUFFER_BYTES { self.empty() } else { Ok(()) }
    }

    /// Appends many bytes, which are not copied if they are worth a system call.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        if self.buffer.len() + bytes.len() < BUFFER_BYTES {
            self.buffer.extend_from_slice(bytes);
            return Ok(());
        }
        self.empty()?;
        self.stream.write_all(bytes).map_err(|source| Error::io(&self.name, source))
    }

    fn empty(&mut self) -> Result<()> {
        let written = self.stream.write_all(&self.buffer);
        self.buffer.clear();
        written.map_err(|source| Error::io(&self.name, source))
    }

    /// Writes all that is left and gives the file its name.
    pub fn finish(mut self) -> Result<()> {
        self.empty()?;
        let failed = |source| Error::io(&self.name, source);
        let mut base = match self.stream {
            Stream::Plain(base) => base,
            Stream::Compressed(stream) => stream.finish().map_err(failed)?,
        };
        base.flush().map_err(failed)?;
        if let Base::Temporary { file, target } = base {
            file.persist(&target).map_err(failed)?;
        }
        Ok(())
    }
}

fn open_file(path: &Path) -> io::Result<Base> {
    // A link is followed: its target is what gets replaced, not the link.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let found = fs::metadata(&target);
    match &found {
        Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) if !found.is_file() => return Ok(Base::Device(File::options().write(true).open(&target)?)),
        _ => {}
    }
    let directory = match target.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    // `results/` means a directory, and there is none.
    let name = match target.file_name() {
        Some(name) if !path.as_os_str().to_string_lossy().ends_with(std::path::is_separator) => name.to_string_lossy(),
        _ => return Err(io::Error::new(io::ErrorKind::NotFound, "no such directory")),
    };
    let file = TemporaryFile::create(directory, &name)?;
    if let Ok(found) = found {
        file.file().set_permissions(found.permissions())?;
    }
    Ok(Base::Temporary { file, target })
}

impl Write for Base {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Base::Standard(stream) => stream.write(bytes),
            Base::Device(file) => file.write(bytes),
            Base::Temporary { file, .. } => file.file().write(bytes),
            Base::Other(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Base::Standard(stream) => stream.flush(),
            Base::Device(file) => file.flush(),
            Base::Temporary { file, .. } => file.file().flush(),
            Base::Other(stream) => stream.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn entries(directory: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_appears_only_when_finished() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pairs.tsv");
        fs::write(&path, "old").unwrap();
        let mut output = Output::create(&path).unwrap();
        output.buffer().extend(vec![b'x'; 2 * BUFFER_BYTES]);
        output.pass_on().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        let [aside, own] = entries(directory.path()).try_into().unwrap();
        assert!(own == "pairs.tsv" && aside.starts_with(".pairs.tsv.") && aside.ends_with(".part"), "{aside}");
        drop(output);
        assert_eq!(entries(directory.path()), ["pairs.tsv"]);
        assert_eq!(fs::read(&path).unwrap(), b"old");

        let mut output = Output::create(&path).unwrap();
        output.buffer().extend(b"new");
        output.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(entries(directory.path()), ["pairs.tsv"]);
    }

    #[test]
    fn a_check_leaves_nothing_behind() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pairs.tsv");
        Output::check(&path).unwrap();
        assert!(entries(directory.path()).is_empty());
        fs::write(&path, "old").unwrap();
        Output::check(&path).unwrap();
        assert_eq!((fs::read(&path).unwrap(), entries(directory.path()).len()), (b"old".to_vec(), 1));
        Output::check(Path::new("-")).unwrap();
        for wrong in [directory.path().to_owned(), directory.path().join("none").join("pairs.tsv")] {
            let created = Output::create(&wrong).unwrap_err().to_string();
            assert_eq!(Output::check(&wrong).unwrap_err().to_string(), created);
        }
    }

    #[test]
    fn gz_is_compressed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pairs.tsv.gz");
        let mut output = Output::create(&path).unwrap();
        output.buffer().extend(b"query\ttarget\n");
        output.finish().unwrap();
        let mut text = String::new();
        flate2::read::GzDecoder::new(File::open(&path).unwrap()).read_to_string(&mut text).unwrap();
        assert_eq!(text, "query\ttarget\n");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_is_replaced_keeps_its_mode_and_links_stay_links() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let [plain, real, link] = ["plain", "real", "link"].map(|name| directory.path().join(name));
        fs::write(&plain, "").unwrap();
        fs::write(&real, "").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let mut output = Output::create(&link).unwrap();
        output.buffer().extend(b"text");
        output.finish().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&real).unwrap(), b"text");
        let mode = |path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&real), mode(&plain), "the usual mode");
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        Output::create(&real).unwrap().finish().unwrap();
        assert_eq!(mode(&real) & 0o777, 0o640);
    }

    #[test]
    fn a_directory_and_a_missing_directory_are_errors() {
        let directory = tempfile::tempdir().unwrap();
        assert!(matches!(Output::create(directory.path()), Err(Error::Io { .. })));
        let missing = directory.path().join("none").join("pairs.tsv");
        let message = Output::create(&missing).unwrap_err().to_string();
        assert!(message.starts_with(missing.to_str().unwrap()) && !message.contains(".part"), "{message}");
        // A name that means a directory.
        let results = format!("{}/results/", directory.path().display());
        assert!(matches!(Output::create(Path::new(&results)), Err(Error::Io { .. })));
        assert!(entries(directory.path()).is_empty());
    }

    #[test]
    fn a_name_may_be_as_long_as_names_can_be() {
        let directory = tempfile::tempdir().unwrap();
        let name = "x".repeat(255);
        let mut output = Output::create(&directory.path().join(&name)).unwrap();
        output.buffer().extend(b"text");
        output.finish().unwrap();
        assert_eq!(entries(directory.path()), [name]);
    }

    #[test]
    fn a_closed_pipe_is_its_own_error() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut output = Output::to_writer(Closed);
        output.buffer().push(b'x');
        assert!(matches!(output.finish(), Err(Error::OutputClosed)));
    }
}
