//! Results as bytes. Threads that compute results also encode them. The bytes are then ordered by
//! their keys and written in pieces.
//!
//! An alignment takes a hundred times as many bytes in memory as its line. Therefore the thread
//! that computes an alignment writes its line into reused memory, and drops the alignment before
//! the line waits for its turn. Bare scores are different: their lines are made when they are due.

use std::mem;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use rayon::prelude::*;

use super::PairResult;
use super::align::PairAligner;
use crate::alignment::Cigar;
use crate::engine::buffer_pool::{BufferPool, PooledVec};
use crate::engine::guard::{catch_panic, lock};
use crate::engine::postprocess::Postprocess;
use crate::error::{Error, Result};
use crate::jobs::block::{BlockSink, Encode};
use crate::pairs::{FormattedReport, FormattedRows, PackedAlignments, PairHit, Pairs, PairsBatch, PairsReport, RowKey};
use crate::score::AlignmentCounts;
use crate::trace::{EndRegion, TracebackWorkspace};

/// Minimum number of results that a thread encodes in one piece. Smaller pieces do not pay off.
const MIN_PIECE_RESULTS: usize = 8;
/// Maximum number of results that a thread encodes in one piece. Larger pieces would leave some
/// threads without work.
const MAX_PIECE_RESULTS: usize = 512;
/// Number of pieces for each thread.
const PIECES_PER_THREAD: usize = 4;
/// Maximum bytes of a piece, after which the next one starts. Keys count bytes in 32 bits.
const MAX_PIECE_BYTES: usize = 1 << 30;
/// Approximate bytes that a thread puts in order in one step.
const BYTES_PER_STEP: usize = 1 << 18;
/// Approximate bytes of a line that is not encoded yet.
const BYTES_PER_SCORE: usize = 32;

/// Reused memory of a thread that encodes rows.
#[derive(Default)]
struct LineScratch {
    workspace: TracebackWorkspace,
    cigar: Cigar,
}

/// Encodes the results of reports.
pub(super) struct LineSettler {
    aligner: PairAligner,
    encoder: Arc<dyn Encode<PairResult>>,
    keys: BufferPool<RowKey>,
    /// Buffers for the keys of whole chunks. They are about a hundred times as large as the buffers
    /// for reports.
    chunk_keys: BufferPool<RowKey>,
    bytes: BufferPool<u8>,
    scratch: Mutex<Vec<LineScratch>>,
    /// The first error. It ends the job.
    failure: Mutex<Option<Error>>,
}

impl Postprocess<Pairs> for LineSettler {
    fn postprocess(
        &self,
        _batch: &PairsBatch,
        report: PairsReport,
        helpers: Option<&rayon::ThreadPool>,
    ) -> PairsReport {
        let PairsReport { hits, traced, ends, unfinished, kernel_time, .. } = report;
        let made = catch_panic(|| self.rows(&hits, &traced, ends, helpers));
        let made = made.unwrap_or_else(|said| Err(Error::Internal(format!("a line could not be made: {said}"))));
        let settled = made.unwrap_or_else(|error| {
            lock(&self.failure).get_or_insert(error);
            FormattedReport::default()
        });
        PairsReport { settled: Some(settled), unfinished, kernel_time, ..PairsReport::default() }
    }
}

impl LineSettler {
    pub(super) fn new(aligner: PairAligner, encoder: Arc<dyn Encode<PairResult>>) -> Self {
        LineSettler {
            aligner,
            encoder,
            keys: BufferPool::default(),
            chunk_keys: BufferPool::default(),
            bytes: BufferPool::default(),
            scratch: Mutex::default(),
            failure: Mutex::default(),
        }
    }

    /// Returns the lines of a settled report.
    ///
    /// # Errors
    /// The first error of any report.
    pub(super) fn format_settled(&self, report: PairsReport) -> Result<FormattedReport> {
        match lock(&self.failure).take() {
            Some(error) => Err(error),
            None => report.settled.ok_or_else(|| Error::Internal("a report that was not settled".into())),
        }
    }

    /// Returns empty lines for a new chunk.
    pub(super) fn chunk_lines(&self) -> ChunkLines {
        ChunkLines { keys: self.chunk_keys.take(), pieces: Vec::new() }
    }

    fn lines(&self) -> FormattedRows {
        FormattedRows { keys: self.keys.take(), bytes: self.bytes.take() }
    }

    fn rows(
        &self,
        hits: &[PairHit],
        traced: &PackedAlignments,
        ends: Vec<EndRegion>,
        helpers: Option<&rayon::ThreadPool>,
    ) -> Result<FormattedReport> {
        if self.aligner.job.score_only {
            let mut keys = self.keys.take();
            let enough = hits.iter().filter(|hit| self.aligner.scores_enough(hit));
            keys.extend(enough.map(|hit| key_of(&self.aligner.scored(hit), 0..0)));
            return Ok(FormattedReport {
                pieces: vec![FormattedRows { keys, ..FormattedRows::default() }],
                aligned: 0,
            });
        }
        let ends = if ends.is_empty() { self.aligner.missing_ends(hits, helpers)? } else { ends };
        let Some(pool) = helpers.filter(|_| hits.len() > MIN_PIECE_RESULTS) else {
            return self.encode_piece(hits, traced, &ends, 0..hits.len());
        };
        let share = hits.len() / (PIECES_PER_THREAD * pool.current_num_threads());
        let step = share.clamp(MIN_PIECE_RESULTS, MAX_PIECE_RESULTS);
        let pieces = (0..hits.len().div_ceil(step)).into_par_iter();
        let piece = |at: usize| self.encode_piece(hits, traced, &ends, at * step..hits.len().min((at + 1) * step));
        let together = |mut all: FormattedReport, more: FormattedReport| {
            all.pieces.extend(more.pieces);
            FormattedReport { aligned: all.aligned + more.aligned, ..all }
        };
        pool.install(|| pieces.map(piece).try_reduce(FormattedReport::default, |all, more| Ok(together(all, more))))
    }

    /// Encodes the hits with these indices.
    fn encode_piece(
        &self,
        hits: &[PairHit],
        traced: &PackedAlignments,
        ends: &[EndRegion],
        indices: Range<usize>,
    ) -> Result<FormattedReport> {
        let mut scratch = lock(&self.scratch).pop().unwrap_or_default();
        let mut settled = FormattedReport::default();
        let mut lines = self.lines();
        for index in indices {
            let hit = &hits[index];
            if !self.aligner.may_reach(hit) {
                continue;
            }
            settled.aligned += 1;
            let is_traced = traced.read(index, &mut scratch.cigar);
            let cigar = is_traced.then(|| mem::take(&mut scratch.cigar));
            let Some(row) = self.aligner.align(hit, cigar, ends.get(index), &mut scratch.workspace)? else { continue };
            let first = lines.bytes.len();
            self.encoder.encode(&row, &mut lines.bytes)?;
            let end = u32::try_from(lines.bytes.len());
            let end = end.map_err(|_| Error::Internal("a row of gibibytes cannot be written".into()))?;
            lines.keys.push(key_of(&row, first as u32..end));
            if let Some(alignment) = row.alignment {
                scratch.cigar = alignment.cigar;
            }
            if lines.bytes.len() > MAX_PIECE_BYTES {
                settled.pieces.push(mem::replace(&mut lines, self.lines()));
            }
        }
        settled.pieces.push(lines);
        lock(&self.scratch).push(scratch);
        Ok(settled)
    }

    /// Appends the bytes of a row that is due.
    fn push(&self, key: &RowKey, pieces: &[PooledVec<u8>], out: &mut Vec<u8>) -> Result<()> {
        if self.aligner.job.score_only {
            let &RowKey { query, target, strand, score, .. } = key;
            let counts = AlignmentCounts::default();
            let row = PairResult { query, target, strand, score, counts, identity: 0.0, alignment: None };
            return self.encoder.encode(&row, out);
        }
        let (first, length) = (key.first as usize, key.length as usize);
        out.extend_from_slice(&pieces[key.piece as usize][first..first + length]);
        Ok(())
    }
}

fn key_of(row: &PairResult, bytes: Range<u32>) -> RowKey {
    RowKey {
        query: row.query,
        target: row.target,
        score: row.score,
        identity: row.identity,
        first: bytes.start,
        length: bytes.end - bytes.start,
        piece: 0,
        strand: row.strand,
    }
}

/// Encoded rows of a chunk of the queue.
#[derive(Default)]
pub(super) struct ChunkLines {
    pub(super) keys: PooledVec<RowKey>,
    pieces: Vec<PooledVec<u8>>,
}

impl ChunkLines {
    /// Adds the rows of a report. Returns the memory in bytes that they take.
    pub(super) fn add(&mut self, settled: FormattedReport) -> Result<u64> {
        let mut taken = 0;
        for FormattedRows { mut keys, bytes } in settled.pieces {
            taken += (keys.len() * size_of::<RowKey>() + bytes.len()) as u64;
            let piece = u32::try_from(self.pieces.len());
            let piece = piece.map_err(|_| Error::Internal("a chunk with too many pieces".into()))?;
            keys.iter_mut().for_each(|key| key.piece = piece);
            self.keys.extend_from_slice(&keys);
            self.pieces.push(bytes);
        }
        Ok(taken)
    }
}

/// Bytes of adjacent rows, or the error that occurred.
#[derive(Default)]
struct LineBuffer {
    bytes: Vec<u8>,
    failure: Option<Error>,
}

/// Writes chunks of the queue. Other threads put rows in order while the previous rows are written.
#[derive(Default)]
pub(super) struct LineWriter {
    forming: Vec<LineBuffer>,
    formed: Vec<LineBuffer>,
}

impl LineWriter {
    /// Writes all rows of a chunk in the order of the keys.
    pub(super) fn write(
        &mut self,
        settler: &LineSettler,
        chunk_lines: &ChunkLines,
        pool: &rayon::ThreadPool,
        sink: &mut dyn BlockSink<PairResult>,
    ) -> Result<()> {
        let ChunkLines { keys, pieces } = chunk_lines;
        let form = &|keys: &[RowKey], chunk: &mut LineBuffer| {
            chunk.bytes.clear();
            let formed = catch_panic(|| keys.iter().try_for_each(|key| settler.push(key, pieces, &mut chunk.bytes)));
            let formed =
                formed.unwrap_or_else(|said| Err(Error::Internal(format!("a line could not be made: {said}"))));
            chunk.failure = formed.err();
        };
        let mut left = &keys[..];
        let at_once = 2 * pool.current_num_threads();
        let mut formed = 0;
        loop {
            let due: Vec<&[RowKey]> = (0..at_once).map_while(|_| next_chunk(&mut left)).collect();
            if due.is_empty() && formed == 0 {
                return Ok(());
            }
            self.forming.resize_with(due.len().max(self.forming.len()), LineBuffer::default);
            if let ([keys], 0) = (&due[..], formed) {
                // This thread orders so few bytes faster than it can wake other threads.
                form(keys, &mut self.forming[0]);
            } else {
                pool.in_place_scope(|scope| {
                    for (keys, chunk) in due.iter().zip(&mut self.forming) {
                        scope.spawn(move |_| form(keys, chunk));
                    }
                    self.formed[..formed].iter_mut().try_for_each(|chunk| pass_on(chunk, sink))
                })?;
            }
            formed = due.len();
            mem::swap(&mut self.forming, &mut self.formed);
        }
    }
}

fn pass_on(chunk: &mut LineBuffer, sink: &mut dyn BlockSink<PairResult>) -> Result<()> {
    match chunk.failure.take() {
        Some(error) => Err(error),
        None => sink.bytes(&chunk.bytes),
    }
}

/// Removes keys from the front whose rows take about `BYTES_PER_STEP` bytes. Returns `None` if no
/// key is left.
fn next_chunk<'a>(left: &mut &'a [RowKey]) -> Option<&'a [RowKey]> {
    let mut bytes = 0;
    let full = left.iter().position(|key| {
        bytes += (key.length as usize).max(BYTES_PER_SCORE);
        bytes >= BYTES_PER_STEP
    });
    let (chunk, rest) = left.split_at(full.map_or(left.len(), |last| last + 1));
    *left = rest;
    (!chunk.is_empty()).then_some(chunk)
}
