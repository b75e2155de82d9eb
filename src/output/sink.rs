//! Destinations of output: standard output, or a file that appears completely or not at all.

use super::compress::{Compressor, OutputCompression};
use super::group::OutputGroup;
use crate::error::{Error, Result};
use crate::files::links::Destination;
use crate::files::standard::{self, StandardOutput};
use crate::files::temporary::TemporaryFile;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Number of bytes that are buffered before they are written.
const BUFFER_BYTES: usize = 1 << 17;

/// Name of standard output in messages.
const STANDARD_OUTPUT: &str = "standard output";

/// A destination with a buffer.
///
/// A regular file is written in the same directory under a temporary name (`.NAME.….part`), and
/// renamed by [`Output::finish`]. If the output is dropped without that, the temporary file is
/// removed, and an older file with the name stays unchanged. Files that a killed process leaves
/// under a temporary name are removed by the next process that writes the file. The file name
/// extension can select an [`OutputCompression`]. A closed pipe causes [`Error::OutputClosed`].
///
/// A symbolic link stays, and the file that it names is written. A path of an open descriptor of the
/// process (`/dev/stdout`, `/dev/fd/3`) is written through the descriptor, so that the output of
/// other processes stays in the file.
#[derive(Debug)]
pub struct Output {
    buffer: Vec<u8>,
    stream: Stream,
    /// Name for messages.
    name: PathBuf,
    /// Group that the file appears with.
    group: Option<OutputGroup>,
}

enum Stream {
    Plain(Base),
    // Boxed because its tables are large.
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
    Standard(StandardOutput),
    /// An open descriptor, or a file that is not regular (`/dev/null`, a named pipe). Neither can be
    /// replaced by renaming another file.
    Direct(File),
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
            Base::Direct(_) => "Direct",
            Base::Temporary { .. } => "Temporary",
            Base::Other(_) => "Other",
        })
    }
}

impl OutputGroup {
    /// Creates a file like [`Output::create`].
    ///
    /// # Errors
    /// Returns the errors of [`Output::create`].
    pub fn create(&self, path: impl AsRef<Path>) -> Result<Output> {
        Output::create(path).map(|output| output.in_group(self.clone()))
    }
}

impl Output {
    /// Returns standard output.
    pub fn standard() -> Self {
        Self::from_stream(Stream::Plain(Base::Standard(StandardOutput)), STANDARD_OUTPUT)
    }

    /// Returns an output to any stream, uncompressed.
    pub fn to_writer(writer: impl Write + Send + 'static) -> Self {
        Self::from_stream(Stream::Plain(Base::Other(Box::new(writer))), "output")
    }

    /// Creates a file; `-` is standard output.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        if path == Path::new("-") {
            return Ok(Self::standard());
        }
        let base = open_file(path).map_err(|source| Error::io(path, source))?;
        let stream = match OutputCompression::from_path(path) {
            Some(compression) => {
                let stream = Compressor::new(compression, base).map_err(|source| Error::io(path, source))?;
                Stream::Compressed(Box::new(stream))
            }
            None => Stream::Plain(base),
        };
        Ok(Self::from_stream(stream, path))
    }

    /// Checks that [`Output::create`] would succeed, and leaves nothing behind. This is for a file
    /// that is written late: its temporary file should not remain if the process ends before.
    ///
    /// # Errors
    /// Returns the errors of [`Output::create`], and an error for an open descriptor that cannot be
    /// written, such as a closed standard output. Another file that is not regular is not opened,
    /// because the reader of a pipe would notice.
    pub fn check(path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        if path == Path::new("-") {
            return Self::check_standard();
        }
        let failed = |source| Error::io(path, source);
        if let Destination::Descriptor(file) = Destination::find(path).map_err(failed)? {
            return standard::check(file).map_err(failed);
        }
        if fs::metadata(path).map_or(true, |current| current.is_file() || current.is_dir()) {
            open_file(path).map_err(failed)?;
        }
        Ok(())
    }

    /// Checks that standard output can be written.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if it is closed or only open for reading.
    pub fn check_standard() -> Result<()> {
        standard::check(StandardOutput).map_err(|source| Error::io(STANDARD_OUTPUT, source))
    }

    fn from_stream(stream: Stream, name: impl Into<PathBuf>) -> Self {
        let buffer = Vec::with_capacity(BUFFER_BYTES + (BUFFER_BYTES >> 3));
        Output { buffer, stream, name: name.into(), group: None }
    }

    /// Lets the file appear together with the other files of a group.
    pub(super) fn in_group(self, group: OutputGroup) -> Self {
        Output { group: Some(group), ..self }
    }

    /// Returns the name of the file for messages.
    pub(super) fn name(&self) -> &Path {
        &self.name
    }

    /// Returns the buffer for appending. [`Output::pass_on`] should be called after some lines.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Writes the buffered bytes if they are worth a system call.
    pub fn pass_on(&mut self) -> Result<()> {
        if self.buffer.len() >= BUFFER_BYTES { self.empty() } else { Ok(()) }
    }

    /// Appends many bytes. Bytes that are worth a system call are written directly, without a copy.
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

    /// Writes all remaining bytes and gives the file its final name, unless it belongs to an
    /// [`OutputGroup`].
    pub fn finish(mut self) -> Result<()> {
        self.empty()?;
        let failed = |source| Error::io(&self.name, source);
        let mut base = match self.stream {
            Stream::Plain(base) => base,
            Stream::Compressed(stream) => stream.finish().map_err(failed)?,
        };
        base.flush().map_err(failed)?;
        match (base, self.group) {
            (Base::Temporary { file, target }, Some(group)) => group.add(file, target, self.name),
            (Base::Temporary { file, target }, None) => {
                file.persist(&target).map_err(failed)?;
            }
            _ => {}
        }
        Ok(())
    }
}

fn open_file(path: &Path) -> io::Result<Base> {
    // Links are followed: the target is replaced, not the link.
    let target = match Destination::find(path)? {
        Destination::Descriptor(file) => return Ok(Base::Direct(file)),
        Destination::Path(target) => fs::canonicalize(&target).unwrap_or(target),
    };
    let current = fs::metadata(&target);
    match &current {
        Ok(current) if current.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(current) if !current.is_file() => return Ok(Base::Direct(File::options().write(true).open(&target)?)),
        _ => {}
    }
    let directory = match target.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    // `results/` names a directory that does not exist.
    let name = match target.file_name() {
        Some(name) if ![path, &target].into_iter().any(ends_with_separator) => name.to_string_lossy(),
        _ => return Err(io::Error::new(io::ErrorKind::NotFound, "no such directory")),
    };
    let file = TemporaryFile::create(directory, &name)?;
    if let Ok(current) = current {
        file.file().set_permissions(current.permissions())?;
    }
    Ok(Base::Temporary { file, target })
}

fn ends_with_separator(path: &Path) -> bool {
    path.as_os_str().to_string_lossy().ends_with(std::path::is_separator)
}

impl Write for Base {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Base::Standard(stream) => stream.write(bytes),
            Base::Direct(file) => file.write(bytes).map_err(standard::explain),
            Base::Temporary { file, .. } => file.file().write(bytes),
            Base::Other(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Base::Standard(stream) => stream.flush(),
            Base::Direct(file) => file.flush(),
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
    fn files_appear_only_when_finished() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pairs.tsv");
        fs::write(&path, "old").unwrap();
        let mut output = Output::create(&path).unwrap();
        output.buffer().extend(vec![b'x'; 2 * BUFFER_BYTES]);
        output.pass_on().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        let [temporary, finished] = entries(directory.path()).try_into().unwrap();
        assert!(
            finished == "pairs.tsv" && temporary.starts_with(".pairs.tsv.") && temporary.ends_with(".part"),
            "{temporary}"
        );
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
    fn checks_leave_no_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pairs.tsv");
        Output::check(&path).unwrap();
        assert!(entries(directory.path()).is_empty());
        fs::write(&path, "old").unwrap();
        Output::check(&path).unwrap();
        assert_eq!((fs::read(&path).unwrap(), entries(directory.path()).len()), (b"old".to_vec(), 1));
        Output::check(Path::new("-")).unwrap();
        Output::check_standard().unwrap();
        for wrong in [directory.path().to_owned(), directory.path().join("none").join("pairs.tsv")] {
            let created = Output::create(&wrong).unwrap_err().to_string();
            assert_eq!(Output::check(&wrong).unwrap_err().to_string(), created);
        }
    }

    #[test]
    fn gz_extension_selects_compression() {
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
    fn replaced_files_keep_their_mode_and_links() {
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
        // A link to a file that does not exist yet.
        let [new, dangling] = ["new", "dangling"].map(|name| directory.path().join(name));
        std::os::unix::fs::symlink("new", &dangling).unwrap();
        Output::check(&dangling).unwrap();
        let mut output = Output::create(&dangling).unwrap();
        output.buffer().extend(b"text");
        output.finish().unwrap();
        assert!(fs::symlink_metadata(&dangling).unwrap().is_symlink());
        assert_eq!(fs::read(&new).unwrap(), b"text");
        let mode = |path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&real), mode(&plain), "the usual mode");
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        Output::create(&real).unwrap().finish().unwrap();
        assert_eq!(mode(&real) & 0o777, 0o640);
    }

    #[test]
    fn directories_and_missing_directories_are_errors() {
        let directory = tempfile::tempdir().unwrap();
        assert!(matches!(Output::create(directory.path()), Err(Error::Io { .. })));
        let missing = directory.path().join("none").join("pairs.tsv");
        let message = Output::create(&missing).unwrap_err().to_string();
        assert!(message.starts_with(missing.to_str().unwrap()) && !message.contains(".part"), "{message}");
        // This name means a directory.
        let results = format!("{}/results/", directory.path().display());
        assert!(matches!(Output::create(Path::new(&results)), Err(Error::Io { .. })));
        assert!(entries(directory.path()).is_empty());
    }

    #[test]
    fn names_of_maximum_length_are_accepted() {
        let directory = tempfile::tempdir().unwrap();
        let name = "x".repeat(255);
        let mut output = Output::create(directory.path().join(&name)).unwrap();
        output.buffer().extend(b"text");
        output.finish().unwrap();
        assert_eq!(entries(directory.path()), [name]);
    }

    #[test]
    fn closed_pipes_are_a_separate_error() {
        struct ClosedPipe;
        impl Write for ClosedPipe {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut output = Output::to_writer(ClosedPipe);
        output.buffer().push(b'x');
        assert!(matches!(output.finish(), Err(Error::OutputClosed)));
    }
}
