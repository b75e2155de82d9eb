//! Sorted runs of sequences in a temporary file, and their merge.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::item::{DerepItem, DerepRules};
use crate::error::{Error, Result};

/// Size of the buffer for writing.
const WRITE_BUFFER: usize = 1 << 18;
/// Minimum size of a run's read buffer.
const MIN_READ_BUFFER: u64 = 1 << 12;
/// Maximum size of a run's read buffer.
const MAX_READ_BUFFER: u64 = 1 << 23;

/// The order of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunOrder {
    Hash,
    Output,
}

/// Numbers of an item. Its codes, its name, its letters if they are respelled, and the list of its
/// reads follow.
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(super) struct ItemHeader {
    hash: u64,
    size: u64,
    greatest_size: u64,
    reads: u64,
    codes: u32,
    name: u32,
    respelled: u32,
    is_minus: u32,
}

impl ItemHeader {
    /// Returns the header of an item with a list of reads of `reads` bytes.
    pub(super) fn new(item: &DerepItem<'_>, reads: u64) -> Self {
        ItemHeader {
            hash: item.hash,
            size: item.size,
            greatest_size: item.greatest_size,
            reads,
            codes: item.codes.len() as u32,
            name: item.name.len() as u32,
            respelled: item.respelled.len() as u32,
            is_minus: item.is_minus.into(),
        }
    }

    /// Returns the number of bytes after the header.
    fn payload(&self) -> usize {
        self.codes as usize + self.name as usize + self.respelled as usize + self.reads as usize
    }
}

/// Sorted runs in one nameless temporary file.
#[derive(Debug)]
pub(super) struct RunFile {
    file: File,
    directory: PathBuf,
    /// Offsets of the runs.
    runs: Vec<Range<u64>>,
}

impl RunFile {
    /// Creates an empty file in a directory.
    pub(super) fn new(directory: &Path) -> Result<Self> {
        let file = tempfile::tempfile_in(directory).map_err(|source| Error::io(directory, source))?;
        Ok(RunFile { file, directory: directory.to_owned(), runs: Vec::new() })
    }

    /// Returns the size of all runs in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.runs.last().map_or(0, |run| run.end)
    }

    /// Adds a run, whose items `write` writes in order.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the system fails, which names the directory.
    pub(super) fn add(&mut self, write: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>) -> Result<()> {
        let written = || {
            let mut writer = BufWriter::with_capacity(WRITE_BUFFER, &self.file);
            write(&mut writer)?;
            writer.flush()?;
            writer.get_mut().stream_position()
        };
        let start = self.bytes();
        let end = written().map_err(|source| Error::io(&self.directory, source))?;
        self.runs.push(start..end);
        Ok(())
    }

    /// Passes all items with the lists of their reads to `take`, in the order of the runs. The read
    /// buffers take about `memory` bytes.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the system fails, and the errors of `take`.
    pub(super) fn merge(
        &self,
        memory: u64,
        order: RunOrder,
        rules: DerepRules,
        mut take: impl FnMut(DerepItem<'_>, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let failed = |source| Error::io(&self.directory, source);
        let share = memory / self.runs.len().max(1) as u64;
        let capacity = share.clamp(MIN_READ_BUFFER, MAX_READ_BUFFER) as usize;
        let mut readers = BinaryHeap::with_capacity(self.runs.len());
        for run in &self.runs {
            let mut reader = RunReader::new(&self.file, run.clone(), capacity);
            if reader.advance().map_err(failed)? {
                readers.push(MergedRun { reader, order, rules });
            }
        }
        while let Some(mut next) = readers.peek_mut() {
            take(next.reader.item(), next.reader.reads())?;
            if !next.reader.advance().map_err(failed)? {
                PeekMut::pop(next);
            }
        }
        Ok(())
    }
}

/// Reader of a run. Several readers share a file, so each one sets the position before it reads.
struct RunReader<'f> {
    file: &'f File,
    /// Offsets that have not been read.
    rest: Range<u64>,
    buffer: Vec<u8>,
    capacity: usize,
    /// Offset of the current item in the buffer.
    start: usize,
    header: ItemHeader,
    /// Number of bytes of the current item; 0 before the first.
    length: usize,
}

impl<'f> RunReader<'f> {
    fn new(file: &'f File, run: Range<u64>, capacity: usize) -> Self {
        let header = bytemuck::Zeroable::zeroed();
        RunReader { file, rest: run, buffer: Vec::new(), capacity, start: 0, header, length: 0 }
    }

    /// Reads the next item. Returns `false` at the end.
    fn advance(&mut self) -> io::Result<bool> {
        self.start += self.length;
        self.length = 0;
        if self.start == self.buffer.len() && self.rest.is_empty() {
            return Ok(false);
        }
        self.fill(size_of::<ItemHeader>())?;
        self.header = bytemuck::pod_read_unaligned(&self.buffer[self.start..][..size_of::<ItemHeader>()]);
        self.length = size_of::<ItemHeader>() + self.header.payload();
        self.fill(self.length)?;
        Ok(true)
    }

    /// Ensures that the buffer has this many bytes from the start of the current item on.
    fn fill(&mut self, bytes: usize) -> io::Result<()> {
        let available = self.buffer.len() - self.start;
        if available >= bytes {
            return Ok(());
        }
        self.buffer.drain(..self.start);
        self.start = 0;
        let wanted = (bytes.max(self.capacity) - available) as u64;
        let more = wanted.min(self.rest.end - self.rest.start) as usize;
        self.buffer.resize(available + more, 0);
        let mut file = self.file;
        file.seek(SeekFrom::Start(self.rest.start))?;
        file.read_exact(&mut self.buffer[available..])?;
        self.rest.start += more as u64;
        if self.buffer.len() < bytes { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }

    /// Returns the current item.
    fn item(&self) -> DerepItem<'_> {
        let ItemHeader { hash, size, greatest_size, codes, name, respelled, is_minus, .. } = self.header;
        let parts = &self.buffer[self.start + size_of::<ItemHeader>()..];
        let (codes, parts) = parts.split_at(codes as usize);
        let (name, parts) = parts.split_at(name as usize);
        let respelled = &parts[..respelled as usize];
        DerepItem { hash, size, greatest_size, codes, is_minus: is_minus != 0, name, respelled }
    }

    /// Returns the list of the current item's reads.
    fn reads(&self) -> &[u8] {
        let end = self.start + self.length;
        &self.buffer[end - self.header.reads as usize..end]
    }
}

/// A run in a heap. The run with the first item is the greatest.
struct MergedRun<'f> {
    reader: RunReader<'f>,
    order: RunOrder,
    rules: DerepRules,
}

impl Ord for MergedRun<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let (a, b) = (self.reader.item(), other.reader.item());
        match self.order {
            RunOrder::Hash => b.hash_order(&a, self.rules),
            RunOrder::Output => b.output_order(&a, self.rules),
        }
    }
}

impl PartialOrd for MergedRun<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for MergedRun<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for MergedRun<'_> {}
