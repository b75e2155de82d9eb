//! Reads part files and verifies their checksums.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use super::{
    CHECKSUM_BYTES, COUNTS_BYTES, FOOTER_BYTES, FOOTER_MAGIC, HEADER_BYTES, INFO_ROWS, PartInfo, PartState, checksum,
    header,
};
use crate::distributed::Digest;
use crate::error::{Error, InputLocation, Result};
use crate::jobs::blocks::Divisible;

/// Returns the state of a block. Reads only the header and the footer of its file.
///
/// # Errors
/// Returns [`Error::Io`] if the file exists but cannot be read.
pub fn read_state(path: &Path, digest: &Digest, block: usize) -> Result<PartState> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(PartState::Missing),
        Err(error) => return Err(Error::io(path, error)),
    };
    let length = file.metadata().map_err(|error| Error::io(path, error))?.len();
    match read_info(&mut file, length, digest, block) {
        Ok(Ok(info)) => Ok(PartState::Done(info)),
        Ok(Err(why)) => Ok(PartState::Damaged(why)),
        Err(error) => Err(Error::io(path, error)),
    }
}

/// Reads the statistics of a block, or returns the reason why the file is not a valid part of the
/// block.
fn read_info(file: &mut File, length: u64, digest: &Digest, block: usize) -> io::Result<Result<PartInfo, String>> {
    let refuse = |why: &str| Ok(Err(why.to_owned()));
    let Some(foot_at) = length.checked_sub(FOOTER_BYTES).filter(|&at| at >= HEADER_BYTES) else {
        return refuse("the file is truncated");
    };
    let mut header_bytes = [0; HEADER_BYTES as usize];
    file.read_exact(&mut header_bytes)?;
    if let Err(why) = check_header(&header_bytes, digest, block) {
        return Ok(Err(why));
    }
    let mut foot = [0; FOOTER_BYTES as usize];
    file.seek(SeekFrom::Start(foot_at))?;
    file.read_exact(&mut foot)?;
    let [start, sum] = [0, 8].map(|at| number(&foot[at..]));
    let size = foot_at.checked_sub(start).and_then(|size| size.checked_sub(CHECKSUM_BYTES as u64));
    let Some(size) = size.filter(|&size| size <= 1 << 20 && &foot[16..] == FOOTER_MAGIC) else {
        return refuse("its footer is missing");
    };
    let mut bytes = vec![0; size as usize];
    file.seek(SeekFrom::Start(start))?;
    file.read_exact(&mut bytes)?;
    if checksum(0, &bytes) != sum {
        return refuse("its footer is damaged");
    }
    let info = bytes.get(COUNTS_BYTES..).and_then(|text| serde_json::from_slice(text).ok());
    Ok(info.ok_or_else(|| "its footer is damaged".to_owned()))
}

fn check_header(header_bytes: &[u8], digest: &Digest, block: usize) -> Result<(), String> {
    let expected = header(digest, block as u64);
    if header_bytes == expected {
        return Ok(());
    }
    let is_header = header_bytes.len() == expected.len()
        && header_bytes[..8] == expected[..8]
        && number(&header_bytes[HEADER_BYTES as usize - CHECKSUM_BYTES..])
            == checksum(0, &header_bytes[..HEADER_BYTES as usize - CHECKSUM_BYTES]);
    Err(match () {
        () if !is_header => "it does not start with the header of a block".into(),
        () if header_bytes[8..40] != expected[8..40] => "it belongs to another plan".into(),
        () => format!("it holds block {}", number(&header_bytes[40..])),
    })
}

/// Decodes a little-endian number from the first eight bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// Reads the rows of a part, one piece at a time.
pub struct PartReader<J, R = BufReader<File>> {
    from: R,
    path: PathBuf,
    block: usize,
    /// Number of bytes that have not been read.
    left: u64,
    sum: u64,
    position: u64,
    rows: u64,
    info: Option<PartInfo>,
    job: PhantomData<fn() -> J>,
}

impl<J: Divisible> PartReader<J> {
    /// Opens a part file.
    ///
    /// # Errors
    /// Returns [`Error::Input`] with the file and the block if the file is not a valid part of this
    /// block, and [`Error::Io`] if the system fails.
    pub fn open(path: &Path, digest: &Digest, block: usize) -> Result<Self> {
        let file = File::open(path).map_err(|error| Error::io(path, error))?;
        let length = file.metadata().map_err(|error| Error::io(path, error))?.len();
        PartReader::new(BufReader::with_capacity(1 << 16, file), length, path, digest, block)
    }
}

impl<J: Divisible, R: Read> PartReader<J, R> {
    /// Creates a reader for a part of `length` bytes in `from`. Errors name it `path`.
    ///
    /// # Errors
    /// As [`PartReader::open`].
    pub fn new(from: R, length: u64, path: &Path, digest: &Digest, block: usize) -> Result<Self> {
        let path = path.to_owned();
        let mut rows =
            PartReader { from, path, block, left: length, sum: 0, position: 0, rows: 0, info: None, job: PhantomData };
        let header_bytes = rows.take(HEADER_BYTES)?;
        check_header(&header_bytes, digest, block).or_else(|why| rows.refuse(&why))?;
        rows.sum = checksum(0, &header_bytes);
        Ok(rows)
    }

    fn refuse<T>(&self, why: &str) -> Result<T> {
        let location = InputLocation::in_file(&self.path);
        Err(Error::Input { location, message: format!("block {} is damaged: {why}; compute it again", self.block) })
    }

    /// Reads the next `length` bytes.
    fn take(&mut self, length: u64) -> Result<Vec<u8>> {
        if length > self.left {
            return self.refuse("the file is truncated");
        }
        let mut bytes = vec![0; length as usize];
        match self.from.read_exact(&mut bytes) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return self.refuse("the file is truncated"),
            Err(error) => return Err(Error::io(&self.path, error)),
        }
        self.left -= length;
        self.position += length;
        Ok(bytes)
    }

    /// Returns the next rows, or `None` after the last row of an undamaged part.
    ///
    /// # Errors
    /// Returns the errors of [`PartReader::open`]. Rows of a damaged piece are never returned.
    pub fn next_rows(&mut self) -> Result<Option<Vec<J::Row>>> {
        if self.info.is_some() {
            return Ok(None);
        }
        let start = self.position;
        let mut piece = self.take(COUNTS_BYTES as u64)?;
        let counts = number(&piece);
        let (rows, length) = (counts as u32, counts >> 32);
        let body = self.take(length)?;
        let sum = number(&self.take(CHECKSUM_BYTES as u64)?);
        piece.extend_from_slice(&body);
        self.sum = checksum(self.sum, &piece);
        if sum != self.sum {
            return self.refuse("a checksum does not match");
        }
        if rows == INFO_ROWS {
            let info: Option<PartInfo> = serde_json::from_slice(&body).ok();
            let foot = self.take(FOOTER_BYTES)?;
            let is_whole = self.left == 0
                && number(&foot) == start
                && number(&foot[8..]) == checksum(0, &piece)
                && &foot[16..] == FOOTER_MAGIC;
            match info.filter(|info| is_whole && info.rows == self.rows) {
                Some(info) => self.info = Some(info),
                None => return self.refuse("its footer is damaged"),
            }
            return Ok(None);
        }
        let mut bytes = body.as_slice();
        let decoded: Option<Vec<J::Row>> = (0..rows).map(|_| J::decode(&mut bytes)).collect();
        match decoded.filter(|_| bytes.is_empty()) {
            Some(decoded) => {
                self.rows += u64::from(rows);
                Ok(Some(decoded))
            }
            None => self.refuse("its rows cannot be decoded"),
        }
    }

    /// Returns the statistics of the block, or `None` until the last row has been read.
    pub fn info(&self) -> Option<&PartInfo> {
        self.info.as_ref()
    }
}
