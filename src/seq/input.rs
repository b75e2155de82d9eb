//! Input bytes from a file, standard input or memory, plain or compressed.
//!
//! The compression is inferred from the first bytes, not from the name. A file of any format may
//! consist of several members in sequence (the output of `cat a.gz b.gz`, bgzip, pbzip2 and pigz).
//! All of them are read. Zero bytes after the last member are padding. Other bytes after it are
//! ignored with a warning in gzip and bzip2, as those programs do, and are an error in the other
//! formats.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use super::messages::input_error;
use crate::error::{Error, InputLocation, Result};

mod members;

use members::Members;

/// First bytes of each compressed format.
const MAGICS: [(&[u8], InputCompression); 4] = [
    (b"\x1F\x8B", InputCompression::Gzip),
    (b"BZh", InputCompression::Bzip2),
    (b"\xFD7zXZ\0", InputCompression::Xz),
    (b"\x28\xB5\x2F\xFD", InputCompression::Zstd),
];

/// Number of first bytes that are inspected for compression, tar archives and line ends.
const HEAD_BYTES: u64 = 1 << 13;

/// The supported compression formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InputCompression {
    Gzip,
    Bzip2,
    Xz,
    Zstd,
}

impl InputCompression {
    /// Returns the usual name.
    pub(super) fn name(self) -> &'static str {
        match self {
            InputCompression::Gzip => "gzip",
            InputCompression::Bzip2 => "bzip2",
            InputCompression::Xz => "xz",
            InputCompression::Zstd => "zstd",
        }
    }
}

/// An opened input: its decompressed bytes and their origin.
pub(super) struct SequenceInput<'a> {
    /// Name in errors; `-` is standard input.
    pub(super) name: String,
    /// Decompressed bytes.
    pub(super) bytes: Box<dyn BufRead + Send + 'a>,
    /// Compression of the original bytes, if any.
    pub(super) compression: Option<InputCompression>,
}

impl SequenceInput<'static> {
    /// Opens a file, or standard input if `path` is `-`.
    pub(super) fn open(path: &Path) -> Result<Self> {
        match is_standard(path) {
            true => SequenceInput::new("-", Box::new(io::stdin())),
            false => SequenceInput::new(&path.display().to_string(), Box::new(open_file(path)?)),
        }
    }
}

/// Returns whether a path stands for standard input.
pub(crate) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// First bytes of a database: a byte that no text contains, a name, and line ends that a transfer
/// as text would change.
pub const DATABASE_MAGIC: [u8; 8] = *b"\x89PWDB\r\n\x1A";
/// Number of bytes of [`DATABASE_MAGIC`] that identify a database. The others detect a transfer as
/// text.
pub(super) const DATABASE_NAME_BYTES: usize = 5;
/// Returns whether bytes start like a database.
pub(super) fn is_database(start: &[u8]) -> bool {
    start.starts_with(&DATABASE_MAGIC[..DATABASE_NAME_BYTES])
}

/// Opens a file for reading. Directories are refused.
pub(super) fn open_file(path: &Path) -> Result<File> {
    let refused = |message: &str| input_error(InputLocation::in_file(path), message);
    let file = File::open(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => refused("no such file"),
        io::ErrorKind::PermissionDenied => refused("permission to read the file is denied"),
        _ => Error::Io { path: path.into(), source },
    })?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(refused("this is a directory, not a file"));
    }
    Ok(file)
}

impl<'a> SequenceInput<'a> {
    /// Reads the first bytes of `raw`, decompresses it if necessary, and refuses tar archives.
    pub(super) fn new(name: &str, mut raw: Box<dyn Read + Send + 'a>) -> Result<Self> {
        let failed = |source| Error::Io { path: name.into(), source };
        let start = head(&mut raw).map_err(failed)?;
        let compression =
            MAGICS.iter().find(|(magic, _)| start.starts_with(magic)).map(|&(_, compression)| compression);
        let raw = BufReader::new(Cursor::new(start).chain(raw));
        let mut content: Box<dyn Read + Send + 'a> = match compression {
            None => Box::new(raw),
            Some(compression) => Box::new(Members::new(name, compression, raw).map_err(failed)?),
        };
        let start = head(&mut content).map_err(|error| read_error(name, compression, error.to_string()))?;
        if start.get(257..262) == Some(b"ustar") {
            let location = InputLocation::in_file(name);
            return Err(input_error(
                location,
                "this is a tar archive: extract its files ('tar -xf') and name one of them",
            ));
        }
        // Old Macintosh files end lines with a carriage return alone.
        let lone_returns = !start.contains(&b'\n') && start.windows(2).any(|pair| pair[0] == b'\r' && pair[1] != b'\n');
        let content = Cursor::new(start).chain(content);
        let bytes: Box<dyn BufRead + Send + 'a> = match lone_returns {
            true => Box::new(BufReader::new(LineFeeds(content))),
            false => Box::new(BufReader::new(content)),
        };
        Ok(SequenceInput { name: name.to_owned(), bytes, compression })
    }

    /// Returns a location in this input that names only the file.
    pub(super) fn location(&self) -> InputLocation {
        InputLocation::in_file(&self.name)
    }

    /// Returns the next byte without consuming it, or `None` at the end.
    pub(super) fn peek(&mut self) -> Result<Option<u8>> {
        loop {
            match self.bytes.fill_buf() {
                Ok(buffer) => return Ok(buffer.first().copied()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.read_error(error.to_string())),
            }
        }
    }

    /// Returns the error for bytes that cannot be read: damaged data if they are compressed, and
    /// the system's error otherwise.
    pub(super) fn read_error(&self, message: String) -> Error {
        read_error(&self.name, self.compression, message)
    }
}

/// Reads the first [`HEAD_BYTES`], or all bytes if there are fewer.
fn head(bytes: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(HEAD_BYTES as usize);
    bytes.take(HEAD_BYTES).read_to_end(&mut head)?;
    Ok(head)
}

/// A reader that replaces every carriage return by a line feed.
struct LineFeeds<R>(R);

impl<R: Read> Read for LineFeeds<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read(buffer)?;
        buffer[..count].iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
        Ok(count)
    }
}

/// Reads all bytes of an input.
pub(super) fn read_whole(mut input: SequenceInput<'_>) -> Result<Vec<u8>> {
    let mut data = Vec::new();
    match input.bytes.read_to_end(&mut data) {
        Ok(_) => Ok(data),
        Err(error) => Err(input.read_error(error.to_string())),
    }
}

/// Reads a text file, plain or compressed; `-` is standard input. A byte order mark is removed.
///
/// # Errors
/// Returns [`Error::Input`] if the file is missing or cannot be decompressed, and [`Error::Io`] if
/// the system fails.
pub fn read_text(path: impl AsRef<Path>) -> Result<Vec<u8>> {
    let mut data = read_whole(SequenceInput::open(path.as_ref())?)?;
    if data.starts_with(b"\xEF\xBB\xBF") {
        data.drain(..3);
    }
    Ok(data)
}

/// Returns the error that [`SequenceInput::read_error`] describes.
pub(super) fn read_error(name: &str, compression: Option<InputCompression>, message: String) -> Error {
    match compression {
        Some(compression) => input_error(
            InputLocation::in_file(name),
            format!("the {} data is truncated or damaged ({message})", compression.name()),
        ),
        None => Error::Io { path: name.into(), source: io::Error::other(message) },
    }
}
