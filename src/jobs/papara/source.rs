//! Source of reads: a whole file, or ranges of its reads.

use std::ops::Range;
use std::sync::Arc;

use super::{PhyloAlignment, ReadSource};
use crate::error::{Error, Result};
use crate::jobs::source::{BlockSource, NextBlock, OPEN_END, OpenBlocks, subtract_cells};
use crate::seq::{ReadChunk, ReadChunks};

/// Maximum number of reads in a group.
const CHUNK_READS: u64 = 1 << 13;
/// Maximum number of symbols in a group. It may be exceeded by one read.
const CHUNK_SYMBOLS: u64 = 1 << 20;

/// Reads of a file, in order.
pub(super) struct ReadFile {
    chunks: ReadChunks<'static>,
    /// Number of reads taken so far.
    at: u64,
    /// Number of nonempty reads that are still to be skipped.
    skip: u64,
}

impl ReadFile {
    pub(super) fn open(job: &PhyloAlignment) -> Result<Self> {
        let alphabet = job.reference.alphabet;
        let chunks = match &job.reads {
            ReadSource::File(path) => ReadChunks::open(path, alphabet)?,
            ReadSource::Bytes(name, data) => ReadChunks::open_shared(name, Arc::clone(data), alphabet)?,
        };
        Ok(ReadFile { chunks, at: 0, skip: job.skip })
    }

    /// Returns the next reads after the skipped ones; `None` after the last read.
    pub(super) fn next(&mut self) -> Result<Option<ReadChunk>> {
        while self.skip > 0 {
            let Some(chunk) = self.read(self.skip)? else { return Ok(None) };
            self.skip -= chunk.store.lengths().iter().filter(|&&length| length > 0).count() as u64;
        }
        self.read(CHUNK_READS)
    }

    /// Returns the next reads, including reads to skip. Returns at most `most` reads.
    fn read(&mut self, most: u64) -> Result<Option<ReadChunk>> {
        let chunk = self.chunks.next(most.min(CHUNK_READS) as usize, CHUNK_SYMBOLS)?;
        self.at += chunk.as_ref().map_or(0, |chunk| chunk.store.len() as u64);
        Ok(chunk)
    }
}

/// Answer of [`ReadRanges::next`].
pub(super) enum NextReads {
    Chunk(ReadChunk),
    /// No reads at present. More may come before the groups in progress are complete.
    Nothing,
    End,
}

/// Ranges of reads in a file. A group has reads of one range.
pub(super) struct ReadRanges<'a> {
    job: &'a PhyloAlignment,
    /// Source of the ranges.
    blocks: &'a Arc<dyn BlockSource>,
    open_blocks: OpenBlocks<Range<u64>>,
    range: Range<u64>,
    /// Position in the file, which outlives this value.
    source: &'a mut Option<ReadFile>,
}

impl<'a> ReadRanges<'a> {
    /// Reads the ranges of these blocks. `source` may be at any position in the file. The file is
    /// opened again if that position is after the start of a range.
    pub(super) fn new(
        job: &'a PhyloAlignment,
        blocks: &'a Arc<dyn BlockSource>,
        open_blocks: OpenBlocks<Range<u64>>,
        source: &'a mut Option<ReadFile>,
    ) -> Self {
        ReadRanges { job, blocks, open_blocks, range: 0..0, source }
    }

    /// Returns the next reads.
    pub(super) fn next(&mut self) -> Result<NextReads> {
        loop {
            if let Some(ended) = self.begin_range() {
                return Ok(ended);
            }
            if let Some(chunk) = self.chunk()? {
                return Ok(NextReads::Chunk(chunk));
            }
        }
    }

    /// Starts the next range if the last one is complete. Returns the reason if there is none.
    fn begin_range(&mut self) -> Option<NextReads> {
        while self.range.is_empty() {
            match self.blocks.next() {
                NextBlock::Block(block) => {
                    subtract_cells(&self.blocks.pending_cells(), block.cells);
                    self.open_blocks.add_block(&block);
                    self.range = block.units;
                }
                NextBlock::Nothing => return Some(NextReads::Nothing),
                NextBlock::End => return Some(NextReads::End),
            }
        }
        None
    }

    /// Returns the next reads of the range; `None` if it ends with the file.
    fn chunk(&mut self) -> Result<Option<ReadChunk>> {
        // After an error, `self.source` stays empty, so no later call continues at an unknown
        // position.
        let mut source = match self.source.take().filter(|source| source.at <= self.range.start) {
            Some(source) => source,
            None => ReadFile::open(self.job)?,
        };
        if self.range.end == OPEN_END {
            let chunk = source.next()?;
            self.range.start = if chunk.is_some() { source.at } else { self.range.end };
            *self.source = Some(source);
            return Ok(chunk);
        }
        loop {
            let is_before = source.at < self.range.start;
            let end = if is_before { self.range.start } else { self.range.end };
            let Some(chunk) = source.read(end - source.at)? else {
                let message = format!(
                    "the input has only {} reads, but reads from number {} on were requested",
                    source.at, source.at
                );
                return Err(Error::usage_of("reads", message));
            };
            if !is_before {
                self.range.start = source.at;
                *self.source = Some(source);
                return Ok(Some(chunk));
            }
        }
    }
}
