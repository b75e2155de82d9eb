//! Where the bytes of an input come from: a file, standard input or memory; plain or compressed.
//!
//! The compression is inferred from the first bytes, not from the name. Every format may hold several members one after the
//! other (what `cat a.gz b.gz`, bgzip, pbzip2 and pigz write): all of them are read. Zero bytes after the last member are
//! padding. Other bytes after it are ignored with a warning in gzip and bzip2, as those programs do, and an error else.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use super::messages::input_error;
use crate::error::{Error, InputLocation, Result};

mod members;

use members::Members;

/// What the first bytes of a compressed file look like, and what we call the format.
const MAGICS: [(&[u8], Compression); 4] = [
    (b"\x1F\x8B", Compression::Gzip),
    (b"BZh", Compression::Bzip2),
    (b"\xFD7zXZ\0", Compression::Xz),
    (b"\x28\xB5\x2F\xFD", Compression::Zstd),
];

/// Number of first bytes that decide on the compression, on tar archives and on line ends.
const HEAD_BYTES: u64 = 1 << 13;

/// The compressions that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compression {
    Gzip,
    Bzip2,
    Xz,
    Zstd,
}

impl Compression {
    /// Its usual name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Compression::Gzip => "gzip",
            Compression::Bzip2 => "bzip2",
            Compression::Xz => "xz",
            Compression::Zstd => "zstd",
        }
    }
}

/// An opened input: its decompressed bytes and where they come from.
pub(super) struct Input<'a> {
    /// The name that errors give; `-` is standard input.
    pub(super) name: String,
    /// The bytes, decompressed.
    pub(super) bytes: Box<dyn BufRead + Send + 'a>,
    /// How they were compressed.
    pub(super) compression: Option<Compression>,
}

impl Input<'static> {
    /// Opens a file, or standard input if `path` is `-`.
    pub(super) fn open(path: &Path) -> Result<Self> {
        match is_standard(path) {
            true => Input::new("-", Box::new(io::stdin())),
            false => Input::new(&path.display().to_string(), Box::new(open_file(path)?)),
        }
    }
}

/// Returns whether a path stands for standard input.
pub(crate) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// First bytes of a database: one that no text has, a name, and line ends that a transfer as text would change.
pub const DATABASE_MAGIC: [u8; 8] = *b"\x89PWDB\r\n\x1A";
/// Bytes of [`DATABASE_MAGIC`] by which a database is told; the others tell whether it came through
/// a transfer.
pub(super) const DATABASE_NAME_BYTES: usize = 5;
/// Whether bytes begin as a database does.
pub(super) fn is_database(start: &[u8]) -> bool {
    start.starts_with(&DATABASE_MAGIC[..DATABASE_NAME_BYTES])
}

/// Opens a file to read, if it is one.
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

impl<'a> Input<'a> {
    /// Reads the first bytes of `raw`, decompresses it where it is compressed, and refuses tar archives.
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
        // Line ends of old Macintosh files.
        let lone_returns = !start.contains(&b'\n') && start.windows(2).any(|pair| pair[0] == b'\r' && pair[1] != b'\n');
        let content = Cursor::new(start).chain(content);
        let bytes: Box<dyn BufRead + Send + 'a> = match lone_returns {
            true => Box::new(BufReader::new(LineFeeds(content))),
            false => Box::new(BufReader::new(content)),
        };
        Ok(Input { name: name.to_owned(), bytes, compression })
    }

    /// A place in this input of which only the file is known.
    pub(super) fn place(&self) -> InputLocation {
        InputLocation::in_file(&self.name)
    }

    /// The next byte, left where it is; `None` at the end.
    pub(super) fn peek(&mut self) -> Result<Option<u8>> {
        loop {
            match self.bytes.fill_buf() {
                Ok(buffer) => return Ok(buffer.first().copied()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.read_error(error.to_string())),
            }
        }
    }

    /// The error for bytes that could not be read: damaged if they are compressed, else the system's own complaint.
    pub(super) fn read_error(&self, message: String) -> Error {
        read_error(&self.name, self.compression, message)
    }
}

/// Reads the first [`HEAD_BYTES`], or all if there are fewer.
fn head(bytes: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(HEAD_BYTES as usize);
    bytes.take(HEAD_BYTES).read_to_end(&mut head)?;
    Ok(head)
}

/// Replaces every carriage return by a line feed.
struct LineFeeds<R>(R);

impl<R: Read> Read for LineFeeds<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read(buffer)?;
        buffer[..count].iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
        Ok(count)
    }
}

/// All bytes of an input.
pub(super) fn read_whole(mut input: Input<'_>) -> Result<Vec<u8>> {
    let mut data = Vec::new();
    match input.bytes.read_to_end(&mut data) {
        Ok(_) => Ok(data),
        Err(error) => Err(input.read_error(error.to_string())),
    }
}

/// The bytes of a text, plain or compressed; `-` is standard input. A byte order mark is left out.
///
/// # Errors
/// [`Error::Input`] if it cannot be found or decompressed, [`Error::Io`] if the system fails.
pub fn read_text(path: impl AsRef<Path>) -> Result<Vec<u8>> {
    let mut data = read_whole(Input::open(path.as_ref())?)?;
    if data.starts_with(b"\xEF\xBB\xBF") {
        data.drain(..3);
    }
    Ok(data)
}

/// See [`Input::read_error`].
pub(super) fn read_error(name: &str, compression: Option<Compression>, message: String) -> Error {
    match compression {
        Some(compression) => input_error(
            InputLocation::in_file(name),
            format!("the {} data is truncated or damaged ({message})", compression.name()),
        ),
        None => Error::Io { path: name.into(), source: io::Error::other(message) },
    }
}
