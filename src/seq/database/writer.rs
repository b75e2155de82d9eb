//! Writer of a database, for sequences that arrive in the order of the database.

use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

use tempfile::SpooledTempFile;

use super::layout::{ALIGNMENT, BLOCK_BYTES, Foot, HEAD_BYTES, SECTIONS, Section, head, sum};
use super::subjects::SequenceTotals;
use crate::error::{Error, Result};
use crate::seq::alphabet::{Alphabet, Code, PAD};

/// Maximum number of bytes of a section that are buffered in memory. The rest is buffered in a
/// temporary file.
const MAX_SPOOLED: u64 = 32 << 20;

/// A writer that writes the section of codes directly, and buffers all other sections in nameless
/// temporary files.
pub(super) struct DatabaseWriter<W> {
    to: Summed<W>,
    alphabet: Alphabet,
    size: SequenceTotals,
    /// The sections after the codes.
    waiting: [BufWriter<SpooledTempFile>; SECTIONS - 1],
    name_end: u64,
    description_end: u64,
    /// Name of the output for errors, and directory of the temporary files.
    name: PathBuf,
    scratch_directory: PathBuf,
}

impl<W: Write> DatabaseWriter<W> {
    /// Creates a writer of a database. Errors name it `name`. Buffered sections take `memory`
    /// bytes, and the rest goes to temporary files in `scratch_directory`.
    pub(super) fn new(to: W, name: &Path, alphabet: Alphabet, scratch_directory: &Path, memory: u64) -> Result<Self> {
        let spooled = (memory / (SECTIONS as u64 - 1)).min(MAX_SPOOLED) as usize;
        let mut to = Summed { to, block: Vec::with_capacity(BLOCK_BYTES as usize), position: 0, sums: Vec::new() };
        to.write_all(&head()).map_err(|source| Error::io(name, source))?;
        let waiting =
            std::array::from_fn(|_| BufWriter::new(tempfile::spooled_tempfile_in(spooled, scratch_directory)));
        Ok(DatabaseWriter {
            to,
            alphabet,
            size: SequenceTotals::default(),
            waiting,
            name_end: 0,
            description_end: 0,
            name: name.to_owned(),
            scratch_directory: scratch_directory.to_owned(),
        })
    }

    /// Adds the next sequence.
    pub(super) fn push(&mut self, record: u64, name: &[u8], description: &[u8], codes: &[Code]) -> Result<()> {
        let failed = |source| Error::io(&self.name, source);
        let padding = codes.len().next_multiple_of(4) - codes.len();
        self.to.write_all(&[PAD; 4][..padding]).map_err(failed)?;
        self.to.write_all(codes).map_err(failed)?;
        self.size.sequences += 1;
        self.size.symbols += codes.len() as u64;
        self.name_end += name.len() as u64;
        self.description_end += description.len() as u64;
        let parts: [&[u8]; SECTIONS - 1] = [
            &(codes.len() as u32).to_le_bytes(),
            &record.to_le_bytes(),
            &self.name_end.to_le_bytes(),
            &self.description_end.to_le_bytes(),
            name,
            description,
        ];
        let mut spools = self.waiting.iter_mut().zip(parts);
        spools
            .try_for_each(|(spool, part)| spool.write_all(part))
            .map_err(|source| Error::io(&self.scratch_directory, source))
    }

    /// Writes everything that remains. Returns the output and the total number of bytes.
    pub(super) fn finish(self) -> Result<(W, u64)> {
        let DatabaseWriter { mut to, alphabet, size, waiting, name, scratch_directory, .. } = self;
        let failed = |source| Error::io(&name, source);
        let mut ends = [0; SECTIONS];
        ends[Section::Codes as usize] = to.position;
        to.fill_up().map_err(failed)?;
        for (end, spool) in ends[1..].iter_mut().zip(waiting) {
            let io_error = |source| Error::io(&scratch_directory, source);
            let mut spool = spool.into_inner().map_err(|problem| io_error(problem.into_error()))?;
            spool.rewind().map_err(io_error)?;
            let mut spool = BufReader::with_capacity(1 << 17, spool);
            let mut piece = vec![0; 1 << 17];
            loop {
                let bytes = spool.read(&mut piece).map_err(io_error)?;
                if bytes == 0 {
                    break;
                }
                to.write_all(&piece[..bytes]).map_err(failed)?;
            }
            *end = to.position;
            to.fill_up().map_err(failed)?;
        }
        debug_assert!(to.position >= HEAD_BYTES);
        let (position, sums, mut to) = to.finish().map_err(failed)?;
        let sums: Vec<u8> = sums.into_iter().flat_map(u64::to_le_bytes).collect();
        let footer = Foot { sequences: size.sequences, symbols: size.symbols, alphabet, ends, sum_of_sums: sum(&sums) };
        let footer = footer.to_bytes();
        to.write_all(&sums).and_then(|()| to.write_all(&footer)).and_then(|()| to.flush()).map_err(failed)?;
        Ok((to, position + (sums.len() + footer.len()) as u64))
    }
}

/// A writer that computes the checksum of each block that it passes on.
struct Summed<W> {
    to: W,
    block: Vec<u8>,
    /// Number of bytes so far.
    position: u64,
    sums: Vec<u64>,
}

impl<W: Write> Summed<W> {
    fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        self.position += bytes.len() as u64;
        while !bytes.is_empty() {
            let room = BLOCK_BYTES as usize - self.block.len();
            let (now, rest) = bytes.split_at(room.min(bytes.len()));
            self.block.extend_from_slice(now);
            bytes = rest;
            if self.block.len() == BLOCK_BYTES as usize {
                self.pass_on()?;
            }
        }
        Ok(())
    }

    fn pass_on(&mut self) -> io::Result<()> {
        self.sums.push(sum(&self.block));
        self.to.write_all(&self.block)?;
        self.block.clear();
        Ok(())
    }

    /// Pads a section to its alignment.
    fn fill_up(&mut self) -> io::Result<()> {
        let zeros = self.position.next_multiple_of(ALIGNMENT) - self.position;
        self.write_all(&[0; ALIGNMENT as usize][..zeros as usize])
    }

    fn finish(mut self) -> io::Result<(u64, Vec<u64>, W)> {
        if !self.block.is_empty() {
            self.pass_on()?;
        }
        Ok((self.position, self.sums, self.to))
    }
}
