//! Rows become bytes.

use std::fs::{self, File};
use std::io::Write;
use std::marker::PhantomData;
use std::mem;
use std::path::PathBuf;
use std::time::Instant;

use super::{ABOUT, COUNTS, END, PIECE, PartInfo, checksum, head};
use crate::distributed::{Digest, Directory, host};
use crate::error::{Error, Result};
use crate::files::publish;
use crate::jobs::blocks::{BlockSink, Divisible};

/// A block whose rows are all there.
#[derive(Debug)]
pub struct Made {
    /// Its number.
    pub block: usize,
    /// What there is to know of it.
    pub info: PartInfo,
    /// The bytes of its file, if it is not written yet ([`Directory::put`]).
    pub bytes: Option<Vec<u8>>,
}

/// Takes the rows of blocks, and makes a part of each.
pub struct PartWriter<'a, J> {
    digest: Digest,
    /// Where files are to be; `None` if bytes are handed over.
    directory: Option<&'a Directory>,
    /// The number of the block that is in this place.
    blocks: Box<dyn Fn(usize) -> Option<usize> + 'a>,
    /// Blocks that are finished.
    done: usize,
    part: Option<Part>,
    /// Since when the part that is due is computed.
    since: Instant,
    made: Box<dyn FnMut(Made) -> Result<()> + 'a>,
    job: PhantomData<fn(&J)>,
}

impl<'a, J: Divisible> PartWriter<'a, J> {
    /// Writes the parts of these blocks, in this order, to files of a directory. `made` hears of each that will last.
    pub fn to_files(directory: &'a Directory, blocks: &[usize], made: impl FnMut(Made) -> Result<()> + 'a) -> Self {
        Self::new((*directory.digest(), Some(directory)), listed(blocks), made)
    }

    /// Hands the parts of these blocks to `made`, with their bytes.
    pub fn to_memory(digest: Digest, blocks: &[usize], made: impl FnMut(Made) -> Result<()> + 'a) -> Self {
        Self::new((digest, None), listed(blocks), made)
    }

    /// Of blocks that come while others are computed: `blocks` gives their numbers by the order of their rows. To files, or, of
    /// the manifest with this digest, to `made`.
    pub fn of_source(
        to: std::result::Result<&'a Directory, Digest>,
        blocks: impl Fn(usize) -> Option<usize> + 'a,
        made: impl FnMut(Made) -> Result<()> + 'a,
    ) -> Self {
        let to = match to {
            Ok(directory) => (*directory.digest(), Some(directory)),
            Err(digest) => (digest, None),
        };
        Self::new(to, blocks, made)
    }

    fn new(
        (digest, directory): (Digest, Option<&'a Directory>),
        blocks: impl Fn(usize) -> Option<usize> + 'a,
        made: impl FnMut(Made) -> Result<()> + 'a,
    ) -> Self {
        let since = Instant::now();
        let (blocks, made) = (Box::new(blocks), Box::new(made));
        PartWriter { digest, directory, blocks, done: 0, part: None, since, made, job: PhantomData }
    }

    /// How many of the blocks are finished: the one behind them is due.
    pub fn done(&self) -> usize {
        self.done
    }

    /// The block that is due.
    fn due(&self) -> Result<usize> {
        (self.blocks)(self.done).ok_or_else(|| Error::Internal("rows of a block that nobody asked for".into()))
    }

    /// The part that is due.
    fn part(&mut self) -> Result<Part> {
        if let Some(part) = self.part.take() {
            return Ok(part);
        }
        let block = self.due()?;
        let target = match self.directory {
            Some(directory) => Target::create(directory.part_path(block), directory.part_aside(block))?,
            None => Target::Memory(Vec::new()),
        };
        Part::begin(target, &head(&self.digest, block as u64))
    }
}

fn listed(blocks: &[usize]) -> impl Fn(usize) -> Option<usize> + 'static {
    let blocks = blocks.to_vec();
    move |place| blocks.get(place).copied()
}

impl<J: Divisible> BlockSink<J::Row> for PartWriter<'_, J> {
    fn rows(&mut self, rows: &[J::Row]) -> Result<()> {
        let mut part = self.part()?;
        for row in rows {
            J::encode(row, &mut part.bytes);
            part.waiting += 1;
            if part.bytes.len() >= PIECE {
                part.flush()?;
            }
        }
        self.part = Some(part);
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        let (block, part) = (self.due()?, self.part()?);
        let seconds = self.since.elapsed().as_secs_f64();
        let (info, bytes) = part.finish(seconds)?;
        self.since = Instant::now();
        self.done += 1;
        (self.made)(Made { block, info, bytes })
    }
}

/// Where bytes go.
enum Target {
    File { file: File, path: PathBuf, aside: PathBuf },
    Memory(Vec<u8>),
}

impl Target {
    fn create(path: PathBuf, aside: PathBuf) -> Result<Self> {
        let file = File::create_new(&aside).map_err(|error| Error::io(&aside, error))?;
        Ok(Target::File { file, path, aside })
    }
}

/// A part that is written.
struct Part {
    /// Taken when it is whole.
    target: Option<Target>,
    /// Rows that were not written yet, behind room for their counts.
    bytes: Vec<u8>,
    waiting: u32,
    rows: u64,
    position: u64,
    sum: u64,
}

impl Part {
    fn begin(target: Target, head: &[u8]) -> Result<Self> {
        let mut part = Part { target: Some(target), bytes: vec![0; COUNTS], waiting: 0, rows: 0, position: 0, sum: 0 };
        part.write(head)?;
        part.sum = checksum(0, head);
        Ok(part)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.position += bytes.len() as u64;
        match &mut self.target {
            Some(Target::Memory(all)) => all.extend_from_slice(bytes),
            Some(Target::File { file, aside, .. }) => {
                file.write_all(bytes).map_err(|error| Error::io(aside.as_path(), error))?;
            }
            None => return Err(Error::Internal("a part goes on behind its end".into())),
        }
        Ok(())
    }

    /// Writes a piece: its rows, or what is to be said of the block. Returns its bytes without the checksum.
    fn piece(&mut self, rows: u32, mut bytes: Vec<u8>) -> Result<Vec<u8>> {
        let length = u32::try_from(bytes.len() - COUNTS)
            .map_err(|_| Error::Internal("a row of 4 GiB or more cannot be written".into()))?;
        bytes[..4].copy_from_slice(&rows.to_le_bytes());
        bytes[4..COUNTS].copy_from_slice(&length.to_le_bytes());
        self.sum = checksum(self.sum, &bytes);
        let plain = bytes.len();
        bytes.extend_from_slice(&self.sum.to_le_bytes());
        self.write(&bytes)?;
        bytes.truncate(plain);
        Ok(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        if self.waiting == 0 {
            return Ok(());
        }
        let (bytes, rows) = (mem::take(&mut self.bytes), mem::take(&mut self.waiting));
        self.rows += u64::from(rows);
        self.bytes = self.piece(rows, bytes)?;
        self.bytes.truncate(COUNTS);
        Ok(())
    }

    fn finish(mut self, seconds: f64) -> Result<(PartInfo, Option<Vec<u8>>)> {
        self.flush()?;
        let info = PartInfo { rows: self.rows, seconds, host: host() };
        let mut about = vec![0; COUNTS];
        serde_json::to_writer(&mut about, &info).map_err(crate::distributed::manifest::broken)?;
        let begin = self.position;
        let about = self.piece(ABOUT, about)?;
        self.write(&[&begin.to_le_bytes()[..], &checksum(0, &about).to_le_bytes(), END].concat())?;
        match self.target.take() {
            Some(Target::File { file, path, aside }) => {
                let published = publish(&file, &aside, &path);
                published.inspect_err(|_| drop(fs::remove_file(&aside))).map_err(|error| Error::io(path, error))?;
                Ok((info, None))
            }
            Some(Target::Memory(bytes)) => Ok((info, Some(bytes))),
            None => Err(Error::Internal("a part ends twice".into())),
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if let Some(Target::File { aside, .. }) = &self.target {
            // What is left of a block that failed is swept anyway.
            let _ = fs::remove_file(aside);
        }
    }
}
