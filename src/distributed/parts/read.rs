//! Bytes become rows, if they are what was written.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use super::{ABOUT, COUNTS, END, FOOT, HEAD, PartInfo, PartState, SUM, checksum, head};
use crate::distributed::Digest;
use crate::error::{Error, Place, Result};
use crate::jobs::blocks::Divisible;

/// What is known of a block by the ends of its file.
///
/// # Errors
/// [`Error::Io`] if a file that is there cannot be read.
pub fn read_about(path: &Path, digest: &Digest, block: usize) -> Result<PartState> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(PartState::Missing),
        Err(error) => return Err(Error::io(path, error)),
    };
    let length = file.metadata().map_err(|error| Error::io(path, error))?.len();
    match about(&mut file, length, digest, block) {
        Ok(Ok(info)) => Ok(PartState::Done(info)),
        Ok(Err(why)) => Ok(PartState::Damaged(why)),
        Err(error) => Err(Error::io(path, error)),
    }
}

/// What a file says of its block, or why it does not.
fn about(file: &mut File, length: u64, digest: &Digest, block: usize) -> io::Result<Result<PartInfo, String>> {
    let refuse = |why: &str| Ok(Err(why.to_owned()));
    let Some(foot_at) = length.checked_sub(FOOT).filter(|&at| at >= HEAD) else { return refuse("it is too short") };
    let mut there = [0; HEAD as usize];
    file.read_exact(&mut there)?;
    if let Err(why) = check_head(&there, digest, block) {
        return Ok(Err(why));
    }
    let mut foot = [0; FOOT as usize];
    file.seek(SeekFrom::Start(foot_at))?;
    file.read_exact(&mut foot)?;
    let [begin, sum] = [0, 8].map(|at| number(&foot[at..]));
    let size = foot_at.checked_sub(begin).and_then(|size| size.checked_sub(SUM as u64));
    let Some(size) = size.filter(|&size| size <= 1 << 20 && &foot[16..] == END) else {
        return refuse("its end is not there");
    };
    let mut bytes = vec![0; size as usize];
    file.seek(SeekFrom::Start(begin))?;
    file.read_exact(&mut bytes)?;
    if checksum(0, &bytes) != sum {
        return refuse("its end is damaged");
    }
    let info = bytes.get(COUNTS..).and_then(|text| serde_json::from_slice(text).ok());
    Ok(info.ok_or_else(|| "its end is damaged".to_owned()))
}

fn check_head(there: &[u8], digest: &Digest, block: usize) -> Result<(), String> {
    let expected = head(digest, block as u64);
    if there == expected {
        return Ok(());
    }
    let is_head = there.len() == expected.len()
        && there[..8] == expected[..8]
        && number(&there[HEAD as usize - SUM..]) == checksum(0, &there[..HEAD as usize - SUM]);
    Err(match () {
        () if !is_head => "it does not begin as a block does".into(),
        () if there[8..40] != expected[8..40] => "it is of another plan".into(),
        () => format!("it is that of block {}", number(&there[40..])),
    })
}

/// The number that some bytes begin with.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// The rows of a block, some at a time.
pub struct Rows<J, R = BufReader<File>> {
    from: R,
    path: PathBuf,
    block: usize,
    /// Bytes that follow, behind those that were read.
    left: u64,
    sum: u64,
    position: u64,
    rows: u64,
    info: Option<PartInfo>,
    job: PhantomData<fn() -> J>,
}

impl<J: Divisible> Rows<J> {
    /// Of a file.
    ///
    /// # Errors
    /// [`Error::Input`] that names file and block if it is not that of the block; [`Error::Io`].
    pub fn open(path: &Path, digest: &Digest, block: usize) -> Result<Self> {
        let file = File::open(path).map_err(|error| Error::io(path, error))?;
        let length = file.metadata().map_err(|error| Error::io(path, error))?.len();
        Rows::new(BufReader::with_capacity(1 << 16, file), length, path, digest, block)
    }
}

impl<J: Divisible, R: Read> Rows<J, R> {
    /// Of `length` bytes, which errors call `path`.
    ///
    /// # Errors
    /// As [`Rows::open`].
    pub fn new(from: R, length: u64, path: &Path, digest: &Digest, block: usize) -> Result<Self> {
        let path = path.to_owned();
        let mut rows =
            Rows { from, path, block, left: length, sum: 0, position: 0, rows: 0, info: None, job: PhantomData };
        let there = rows.take(HEAD)?;
        check_head(&there, digest, block).or_else(|why| rows.refuse(&why))?;
        rows.sum = checksum(0, &there);
        Ok(rows)
    }

    fn refuse<T>(&self, why: &str) -> Result<T> {
        let place = Place::of_file(&self.path);
        Err(Error::Input {
            place,
            message: format!("block {} is damaged: {why}; it has to be computed again", self.block),
        })
    }

    /// The bytes that follow.
    fn take(&mut self, length: u64) -> Result<Vec<u8>> {
        if length > self.left {
            return self.refuse("it is too short");
        }
        let mut bytes = vec![0; length as usize];
        match self.from.read_exact(&mut bytes) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return self.refuse("it is too short"),
            Err(error) => return Err(Error::io(&self.path, error)),
        }
        self.left -= length;
        self.position += length;
        Ok(bytes)
    }

    /// The rows that come next; `None` behind the last of a block that is as it was written.
    ///
    /// # Errors
    /// As [`Rows::open`]: nothing that is damaged is handed over.
    pub fn next_rows(&mut self) -> Result<Option<Vec<J::Row>>> {
        if self.info.is_some() {
            return Ok(None);
        }
        let begin = self.position;
        let mut piece = self.take(COUNTS as u64)?;
        let counts = number(&piece);
        let (rows, length) = (counts as u32, counts >> 32);
        let body = self.take(length)?;
        let sum = number(&self.take(SUM as u64)?);
        piece.extend_from_slice(&body);
        self.sum = checksum(self.sum, &piece);
        if sum != self.sum {
            return self.refuse("its bytes are not those that were written");
        }
        if rows == ABOUT {
            let info: Option<PartInfo> = serde_json::from_slice(&body).ok();
            let foot = self.take(FOOT)?;
            let is_whole = self.left == 0
                && number(&foot) == begin
                && number(&foot[8..]) == checksum(0, &piece)
                && &foot[16..] == END;
            match info.filter(|info| is_whole && info.rows == self.rows) {
                Some(info) => self.info = Some(info),
                None => return self.refuse("its end is damaged"),
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
            None => self.refuse("its bytes are no rows"),
        }
    }

    /// What there is to know of the block, behind its last row.
    pub fn info(&self) -> Option<&PartInfo> {
        self.info.as_ref()
    }
}
