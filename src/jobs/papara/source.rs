//! Where chunks of reads come from: a whole file, or ranges of its reads.

use std::ops::Range;
use std::sync::Arc;

use super::{PhyloAlignment, ReadSource};
use crate::error::{Error, Result};
use crate::jobs::source::{Begun, BlockSource, NextBlock, TO_THE_END, take_off};
use crate::seq::{ReadChunk, ReadChunks};

/// Reads of a chunk at most.
const CHUNK_READS: u64 = 1 << 13;
/// Symbols of a chunk at most, a read more or less.
const CHUNK_SYMBOLS: u64 = 1 << 20;

/// Reads as they stand in a file, up to somewhere.
pub(super) struct Source {
    chunks: ReadChunks<'static>,
    /// Reads that were read.
    at: u64,
    /// So many reads that are not empty are passed over first.
    skip: u64,
}

impl Source {
    pub(super) fn open(job: &PhyloAlignment) -> Result<Self> {
        let alphabet = job.reference.alphabet;
        let chunks = match &job.reads {
            ReadSource::File(path) => ReadChunks::open(path, alphabet)?,
            ReadSource::Bytes(name, data) => ReadChunks::open_shared(name, Arc::clone(data), alphabet)?,
        };
        Ok(Source { chunks, at: 0, skip: job.skip })
    }

    /// The next of the reads that are not passed over; `None` after the last.
    pub(super) fn next(&mut self) -> Result<Option<ReadChunk>> {
        while self.skip > 0 {
            let Some(chunk) = self.read(self.skip)? else { return Ok(None) };
            self.skip -= chunk.store.lengths().iter().filter(|&&length| length > 0).count() as u64;
        }
        self.read(CHUNK_READS)
    }

    /// The next reads whatever they are, so many at most.
    fn read(&mut self, most: u64) -> Result<Option<ReadChunk>> {
        let chunk = self.chunks.next(most.min(CHUNK_READS) as usize, CHUNK_SYMBOLS)?;
        self.at += chunk.as_ref().map_or(0, |chunk| chunk.store.len() as u64);
        Ok(chunk)
    }
}

/// What comes next.
pub(super) enum NextReads {
    Chunk(ReadChunk),
    /// None now; there may be some before those that were read are through.
    Nothing,
    End,
}

/// Ranges of reads out of a file, each in chunks of its own.
pub(super) struct Ranges<'a> {
    job: &'a PhyloAlignment,
    /// Where they come from, and those that were begun.
    blocks: &'a Arc<dyn BlockSource>,
    begun: Begun<Range<u64>>,
    range: Range<u64>,
    /// Where the file was left, for whoever goes on from there.
    source: &'a mut Option<Source>,
}

impl<'a> Ranges<'a> {
    /// Those of these blocks. `source` may stand anywhere in the file; it is opened once more if it stands behind a range.
    pub(super) fn new(
        job: &'a PhyloAlignment,
        blocks: &'a Arc<dyn BlockSource>,
        begun: Begun<Range<u64>>,
        source: &'a mut Option<Source>,
    ) -> Self {
        Ranges { job, blocks, begun, range: 0..0, source }
    }

    /// The next reads.
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

    /// Begins with the next range where the last one is through. Returns what there is instead if there is none.
    fn begin_range(&mut self) -> Option<NextReads> {
        while self.range.is_empty() {
            match self.blocks.next() {
                NextBlock::Block(block) => {
                    take_off(&self.blocks.coming(), block.cells);
                    self.begun.add_block(&block);
                    self.range = block.units;
                }
                NextBlock::Nothing => return Some(NextReads::Nothing),
                NextBlock::End => return Some(NextReads::End),
            }
        }
        None
    }

    /// The next reads of the range; `None` if it ends where the file does.
    fn chunk(&mut self) -> Result<Option<ReadChunk>> {
        // After an error nothing more is read from a file.
        let mut source = match self.source.take().filter(|source| source.at <= self.range.start) {
            Some(source) => source,
            None => Source::open(self.job)?,
        };
        if self.range.end == TO_THE_END {
            let chunk = source.next()?;
            self.range.start = if chunk.is_some() { source.at } else { self.range.end };
            *self.source = Some(source);
            return Ok(chunk);
        }
        loop {
            let is_before = source.at < self.range.start;
            let end = if is_before { self.range.start } else { self.range.end };
            let Some(chunk) = source.read(end - source.at)? else {
                let message =
                    format!("there are {} only, and those from number {} on were asked for", source.at, source.at);
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
