//! Writes part files.

use std::fs::{self, File};
use std::io::Write;
use std::marker::PhantomData;
use std::mem;
use std::path::PathBuf;
use std::time::Instant;

use super::{COUNTS_BYTES, FOOTER_MAGIC, INFO_ROWS, PIECE_BYTES, PartInfo, checksum, header};
use crate::distributed::{Digest, Directory, host};
use crate::error::{Error, Result};
use crate::files::publish;
use crate::jobs::blocks::{BlockSink, Divisible};

/// A block whose part is complete.
#[derive(Debug)]
pub struct FinishedPart {
    /// Number of the block.
    pub block: usize,
    /// Statistics of the block.
    pub info: PartInfo,
    /// Bytes of the part, if the part is not in a file. [`Directory::put`] writes them.
    pub bytes: Option<Vec<u8>>,
}

/// Destination of the parts of blocks.
#[derive(Debug, Clone, Copy)]
pub enum PartDestination<'a> {
    /// Files in a directory.
    Files(&'a Directory),
    /// Memory. The digest is the digest of the manifest.
    Memory(Digest),
}

/// Receives the rows of several blocks and writes one part for each block.
pub struct PartWriter<'a, J> {
    digest: Digest,
    /// Directory of the part files. `None` to keep the parts in memory.
    directory: Option<&'a Directory>,
    /// Maps the position of a block, counted in the order of the rows, to the number of the block.
    blocks: Box<dyn Fn(usize) -> Option<usize> + 'a>,
    /// Number of finished blocks.
    finished: usize,
    part: Option<UnfinishedPart>,
    /// Start of the computation of the current block.
    since: Instant,
    on_finished: Box<dyn FnMut(FinishedPart) -> Result<()> + 'a>,
    job: PhantomData<fn(&J)>,
}

impl<'a, J: Divisible> PartWriter<'a, J> {
    /// Writes the parts of `blocks`, in this order, to files in `directory`. Calls `on_finished`
    /// after each file is complete.
    pub fn to_files(
        directory: &'a Directory,
        blocks: &[usize],
        on_finished: impl FnMut(FinishedPart) -> Result<()> + 'a,
    ) -> Self {
        Self::from_source(PartDestination::Files(directory), listed(blocks), on_finished)
    }

    /// Passes the parts of `blocks` to `on_finished` as bytes.
    pub fn to_memory(
        digest: Digest,
        blocks: &[usize],
        on_finished: impl FnMut(FinishedPart) -> Result<()> + 'a,
    ) -> Self {
        Self::from_source(PartDestination::Memory(digest), listed(blocks), on_finished)
    }

    /// Writes the parts of blocks whose numbers are not known in advance. `blocks` maps the
    /// position of a block to its number. `on_finished` gets the bytes of parts in memory.
    pub fn from_source(
        to: PartDestination<'a>,
        blocks: impl Fn(usize) -> Option<usize> + 'a,
        on_finished: impl FnMut(FinishedPart) -> Result<()> + 'a,
    ) -> Self {
        let (digest, directory) = match to {
            PartDestination::Files(directory) => (*directory.digest(), Some(directory)),
            PartDestination::Memory(digest) => (digest, None),
        };
        let since = Instant::now();
        let (blocks, on_finished) = (Box::new(blocks), Box::new(on_finished));
        PartWriter { digest, directory, blocks, finished: 0, part: None, since, on_finished, job: PhantomData }
    }

    /// Returns the number of finished blocks, which is the position of the current block.
    pub fn finished(&self) -> usize {
        self.finished
    }

    /// Returns the number of the current block.
    fn current_block(&self) -> Result<usize> {
        (self.blocks)(self.finished).ok_or_else(|| Error::Internal("more blocks of rows than expected".into()))
    }

    /// Returns the part of the current block.
    fn take_part(&mut self) -> Result<UnfinishedPart> {
        if let Some(part) = self.part.take() {
            return Ok(part);
        }
        let block = self.current_block()?;
        let target = match self.directory {
            Some(directory) => PartTarget::create(directory.part_path(block), directory.part_aside(block))?,
            None => PartTarget::Memory(Vec::new()),
        };
        UnfinishedPart::start(target, &header(&self.digest, block as u64))
    }
}

fn listed(blocks: &[usize]) -> impl Fn(usize) -> Option<usize> + 'static {
    let blocks = blocks.to_vec();
    move |index| blocks.get(index).copied()
}

impl<J: Divisible> BlockSink<J::Row> for PartWriter<'_, J> {
    fn rows(&mut self, rows: &[J::Row]) -> Result<()> {
        let mut part = self.take_part()?;
        for row in rows {
            J::encode(row, &mut part.bytes);
            part.waiting += 1;
            if part.bytes.len() >= PIECE_BYTES {
                part.flush()?;
            }
        }
        self.part = Some(part);
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        let (block, part) = (self.current_block()?, self.take_part()?);
        let seconds = self.since.elapsed().as_secs_f64();
        let (info, bytes) = part.finish(seconds)?;
        self.since = Instant::now();
        self.finished += 1;
        (self.on_finished)(FinishedPart { block, info, bytes })
    }
}

/// Destination of the bytes of a part.
enum PartTarget {
    File { file: File, path: PathBuf, temporary: PathBuf },
    Memory(Vec<u8>),
}

impl PartTarget {
    fn create(path: PathBuf, temporary: PathBuf) -> Result<Self> {
        let file = File::create_new(&temporary).map_err(|error| Error::io(&temporary, error))?;
        Ok(PartTarget::File { file, path, temporary })
    }
}

/// A part that is not complete yet.
struct UnfinishedPart {
    /// `None` when the part is complete.
    target: Option<PartTarget>,
    /// Space for the two counts, followed by the encoded rows of the current piece.
    bytes: Vec<u8>,
    waiting: u32,
    rows: u64,
    position: u64,
    sum: u64,
}

impl UnfinishedPart {
    fn start(target: PartTarget, header: &[u8]) -> Result<Self> {
        let mut part = UnfinishedPart {
            target: Some(target),
            bytes: vec![0; COUNTS_BYTES],
            waiting: 0,
            rows: 0,
            position: 0,
            sum: 0,
        };
        part.write(header)?;
        part.sum = checksum(0, header);
        Ok(part)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.position += bytes.len() as u64;
        match &mut self.target {
            Some(PartTarget::Memory(all)) => all.extend_from_slice(bytes),
            Some(PartTarget::File { file, temporary, .. }) => {
                file.write_all(bytes).map_err(|error| Error::io(temporary.as_path(), error))?;
            }
            None => return Err(Error::Internal("a part continues after its end".into())),
        }
        Ok(())
    }

    /// Writes a piece of rows or of statistics. Returns the buffer of its bytes without the
    /// checksum.
    fn write_piece(&mut self, rows: u32, mut bytes: Vec<u8>) -> Result<Vec<u8>> {
        let length = u32::try_from(bytes.len() - COUNTS_BYTES)
            .map_err(|_| Error::Internal("a row of 4 GiB or more cannot be written".into()))?;
        bytes[..4].copy_from_slice(&rows.to_le_bytes());
        bytes[4..COUNTS_BYTES].copy_from_slice(&length.to_le_bytes());
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
        self.bytes = self.write_piece(rows, bytes)?;
        self.bytes.truncate(COUNTS_BYTES);
        Ok(())
    }

    fn finish(mut self, seconds: f64) -> Result<(PartInfo, Option<Vec<u8>>)> {
        self.flush()?;
        let info = PartInfo { rows: self.rows, seconds, host: host() };
        let mut about = vec![0; COUNTS_BYTES];
        serde_json::to_writer(&mut about, &info).map_err(crate::distributed::manifest::json_error)?;
        let start = self.position;
        let about = self.write_piece(INFO_ROWS, about)?;
        self.write(&[&start.to_le_bytes()[..], &checksum(0, &about).to_le_bytes(), FOOTER_MAGIC].concat())?;
        match self.target.take() {
            Some(PartTarget::File { file, path, temporary }) => {
                let published = publish(&file, &temporary, &path);
                published.inspect_err(|_| drop(fs::remove_file(&temporary))).map_err(|error| Error::io(path, error))?;
                Ok((info, None))
            }
            Some(PartTarget::Memory(bytes)) => Ok((info, Some(bytes))),
            None => Err(Error::Internal("a part ends twice".into())),
        }
    }
}

impl Drop for UnfinishedPart {
    fn drop(&mut self) {
        if let Some(PartTarget::File { temporary, .. }) = &self.target {
            // A later claim removes the file if this fails.
            let _ = fs::remove_file(temporary);
        }
    }
}
