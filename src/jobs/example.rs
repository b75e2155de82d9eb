//! A worked example for newcomers: Hamming distances as a new job, on CPU threads and on GPUs.
//!
//! The job computes the kind of work of [`gpu::example`](crate::gpu::example). The example contains
//! all parts of a job, from top to bottom: the job with its rows, the session, the chunks of the
//! queue, the delivery of rows, the trait [`Job`], and the trait [`Divisible`] for blocks. A real
//! job keeps `impl Divisible` in `blocks.rs`, and other long parts in files next to it
//! (CONTRIBUTING.md, "Adding a job").

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use super::blocks::bytes::{push, take_u32};
use super::blocks::cut::GrowingBlocks;
use super::blocks::{Block, Divisible};
use super::deliver::Delivery;
use super::session::{Execution, SessionEngines, SessionStart, Threads, cells_now};
use super::source::{BlockChunks, ChunkCutter, OpenBlocks};
use super::{Feed, Job, Run, Summary, engines};
use crate::engine::Engine;
use crate::engine::ordered::Ordered;
use crate::engine::owner::{self, BatchOutcome};
use crate::engine::queue::QueuedChunk;
use crate::engine::thread_engine::thread_engines;
use crate::error::{Error, Result};
use crate::gpu::example::{Hamming, HammingBlock, HammingTexts, KERNEL, open_gpu, pairs};
use crate::seq::SequenceId;

/// Maximum number of pairs in a chunk. The results of a chunk are kept until all of them are there.
const CHUNK_PAIRS: u64 = 1 << 12;

// ---- The job: its fields are the request of the user. The units of its blocks are pairs.

/// Hamming distances of all pairs of texts, in their order.
struct HammingDistances {
    /// The texts of all pairs.
    texts: Arc<HammingTexts>,
}

/// The distance of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct HammingRow {
    /// Number of the pair, from 0.
    pair: SequenceId,
    /// Number of positions where the two texts differ.
    distance: u32,
}

impl HammingDistances {
    /// Returns the number of pairs.
    fn pairs(&self) -> u64 {
        self.texts.texts.len() as u64 / (2 * u64::from(self.texts.symbols))
    }

    /// Returns the number of cells of all pairs.
    fn cells(&self) -> u64 {
        self.pairs() * u64::from(self.texts.symbols)
    }

    /// Opens the engines that `run` selects.
    fn open_engines(&self, run: &Run, threads: &Threads) -> Result<Vec<Box<dyn Engine<Hamming>>>> {
        engines::open_kind(run, threads.count(), self.cells(), open_gpu)
    }
}

// ---- The session: state that lasts from one block to the next.

/// Threads and engines of a session.
struct HammingSession {
    threads: Threads,
    engines: SessionEngines<Hamming>,
}

// ---- The chunks: blocks of the job become work for the engines.

/// Cuts blocks into chunks of at most [`CHUNK_PAIRS`] pairs.
struct HammingCutter {
    texts: Arc<HammingTexts>,
    /// Pairs that are not in chunks yet, as one range per block.
    left: VecDeque<Range<u64>>,
    /// Blocks, each with its number of undelivered pairs.
    open_blocks: OpenBlocks<u64>,
}

impl ChunkCutter<Hamming> for HammingCutter {
    fn begin(&mut self, block: Block) {
        // The delivery must know the block before its first rows arrive.
        self.open_blocks.add(block.units.end - block.units.start, block.pairs, block.cells);
        self.left.push_back(block.units);
    }

    fn next(&mut self) -> Option<QueuedChunk<Hamming>> {
        while self.left.front().is_some_and(Range::is_empty) {
            self.left.pop_front();
        }
        let left = self.left.front_mut()?;
        let chunk = left.start..left.end.min(left.start + CHUNK_PAIRS);
        left.start = chunk.end;
        let pairs = chunk.start as SequenceId..chunk.end as SequenceId;
        let symbols = self.texts.symbols;
        let block = HammingBlock { first_pair: pairs.start, pairs: pairs.end - pairs.start, symbols };
        Some((pairs, Arc::clone(&self.texts), vec![((), block)]))
    }
}

// ---- The delivery: engines finish batches in any order, and rows leave in input order.

/// Gathers the rows of each chunk and delivers them.
struct HammingDelivery<'a> {
    ordered: Ordered<Vec<HammingRow>>,
    /// Delivery of blocks, each with its number of undelivered pairs.
    delivery: Delivery<'a, HammingRow, u64>,
}

impl HammingDelivery<'_> {
    /// Takes the results of a batch, and delivers the chunks that are complete.
    fn take(&mut self, outcome: &BatchOutcome<Hamming>) -> Result<()> {
        let rows = pairs(&outcome.batch).zip(&outcome.report.distances);
        let rows = rows.map(|(pair, &distance)| HammingRow { pair, distance });
        // A batch without finished pairs adds no rows.
        self.ordered.add(&outcome.chunk, outcome.pairs, Vec::new, |gathered| {
            gathered.extend(rows);
            Ok(outcome.pairs * size_of::<HammingRow>() as u64)
        })?;
        while let Some((_, mut rows)) = self.ordered.complete() {
            rows.sort_unstable_by_key(|row| row.pair);
            self.delivery.end_done()?;
            self.delivery.rows(&rows)?;
            if !self.delivery.count_off(rows.len() as u64) {
                return Err(Error::Internal("a chunk is in several blocks".into()));
            }
        }
        self.delivery.end_done()
    }

    /// Returns the numbers of pairs, cells and rows of all blocks.
    fn end(self) -> Result<Summary> {
        self.ordered.end()?;
        self.delivery.finish()
    }
}

// ---- The job's trait: `run`, `run_on` and `run_to` follow from these items.

impl Job for HammingDistances {
    type Row = HammingRow;
    type Summary = Summary;
    type Engines = Vec<Box<dyn Engine<Hamming>>>;
    type Session = HammingSession;

    fn validate(&self) -> Result<()> {
        let HammingTexts { texts, symbols } = &*self.texts;
        if *symbols == 0 || !texts.len().is_multiple_of(2 * *symbols as usize) {
            return Err(Error::usage_of("texts", "they are not pairs of texts of equal length"));
        }
        Ok(())
    }

    fn whole_block(&self, _session: &HammingSession) -> Block {
        Block { units: 0..self.pairs(), targets: None, pairs: self.pairs(), cells: self.cells() }
    }

    fn open(&self, start: SessionStart<Self::Engines>, run: &Run) -> Result<HammingSession> {
        self.validate()?;
        start.check_kernel(run, KERNEL.family())?;
        let threads = Threads::shared(run)?;
        let engines = SessionEngines::new(start, || self.open_engines(run, &threads))?;
        Ok(HammingSession { threads, engines })
    }

    fn feed(&self, Feed { source, run, sink }: Feed<'_, HammingRow>, session: &mut HammingSession) -> Result<Summary> {
        let started = Instant::now();
        let HammingSession { threads, engines } = session;
        let engine_set = engines.get_or_open(|| self.open_engines(run, threads))?;
        let open_blocks = OpenBlocks::default();
        let (texts, left) = (Arc::clone(&self.texts), VecDeque::new());
        let cutter = HammingCutter { texts, left, open_blocks: open_blocks.clone() };
        let mut rows = HammingDelivery { ordered: Ordered::new(), delivery: Delivery::new(open_blocks, sink) };
        // Threads that replace the engines if all of them fail.
        let reserve = || thread_engines(threads.count(), &run.interrupt);
        let (cells, chunks) = (cells_now(source.as_ref()), BlockChunks::new(source, cutter));
        let control = Execution { run, threads }.control_for_source(source.as_ref(), rows.ordered.window());
        let ran = owner::run_set(engine_set, reserve, chunks, cells, &control, |outcome| {
            run.progress.advance(outcome.pairs, outcome.cells);
            rows.take(&outcome)
        })?;
        Ok(Summary { seconds: started.elapsed().as_secs_f64(), ..rows.end()?.with_engines(ran) })
    }
}

// ---- The trait for blocks: `plan`, `run`, `merge` and `mpi` need these items.

impl Divisible for HammingDistances {
    fn cut(&self, cells: u64) -> Result<Vec<Block>> {
        self.validate()?;
        let mut growing = GrowingBlocks::of_rows(cells);
        (0..self.pairs()).for_each(|pair| growing.add(pair, 1, self.texts.symbols.into()));
        Ok(growing.blocks())
    }

    fn part_bytes(&self, block: &Block) -> u64 {
        // A number has 1 to 5 bytes.
        block.pairs * 6
    }

    fn encode(row: &HammingRow, bytes: &mut Vec<u8>) {
        push(bytes, row.pair.into());
        push(bytes, row.distance.into());
    }

    fn decode(bytes: &mut &[u8]) -> Option<HammingRow> {
        Some(HammingRow { pair: take_u32(bytes)?, distance: take_u32(bytes)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distributed::{BlockManifest, Directory, PartWriter};
    use crate::gpu::adapter::{Device, enumerate};
    use crate::gpu::example::{hamming, random_texts};
    use crate::jobs::Fingerprint;
    use std::sync::atomic::Ordering;

    /// Returns a job of three chunks.
    fn job() -> HammingDistances {
        HammingDistances { texts: Arc::new(random_texts(10_000, 33)) }
    }

    /// Returns the rows that the oracle computes.
    fn expected(job: &HammingDistances) -> Vec<HammingRow> {
        let row = |pair| {
            let (first, second) = job.texts.pair(pair);
            HammingRow { pair, distance: hamming(first, second) }
        };
        (0..job.pairs() as SequenceId).map(row).collect()
    }

    fn run_on(device: Device, threads: usize) -> Run {
        Run { devices: vec![device], threads, ..Run::default() }
    }

    #[test]
    fn rows_are_those_of_the_oracle_on_one_thread_on_two_and_on_a_gpu() {
        let adapter = enumerate().into_iter().next();
        let adapter = adapter.expect("no adapter runs compute shaders here (Debian: mesa-vulkan-drivers)");
        let job = job();
        let expected = expected(&job);
        for (device, threads) in [(Device::Cpu, 1), (Device::Cpu, 2), (Device::Adapter(Box::new(adapter)), 2)] {
            let mut rows = Vec::new();
            let summary = job.run(&run_on(device, threads), |some| {
                rows.extend_from_slice(some);
                Ok(())
            });
            let summary = summary.expect("the job ends");
            assert!(rows == expected, "{threads} threads, {:?}", summary.engines);
            assert_eq!((summary.pairs, summary.cells, summary.written), (10_000, 330_000, 10_000));
        }
    }

    #[test]
    fn merged_rows_of_blocks_are_those_of_the_oracle() {
        let job = job();
        let blocks = job.cut(job.cells() / 7).unwrap();
        assert_eq!(blocks.len(), 7);
        let manifest = BlockManifest::new(vec!["hamming".into()], Fingerprint::default(), 1, blocks.clone()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let directory = Directory::create(&folder.path().join("work"), manifest).unwrap();
        let run = run_on(Device::Cpu, 2);
        let mut session = job.session(&run).unwrap();
        for numbers in [&[6, 4, 5][..], &[0, 3, 2, 1]] {
            let some: Vec<Block> = numbers.iter().map(|&number: &usize| blocks[number].clone()).collect();
            let mut writer = PartWriter::<HammingDistances>::to_files(&directory, numbers, |_| Ok(()));
            job.run_blocks(&some, &mut session, &run, &mut writer).unwrap();
        }
        let mut rows = Vec::new();
        directory
            .merge(&job, &mut |some: &[HammingRow]| {
                rows.extend_from_slice(some);
                Ok(())
            })
            .unwrap();
        assert!(rows == expected(&job));
    }

    #[test]
    fn invalid_texts_and_interrupts_end_the_job() {
        let failure = |job: &HammingDistances, run: &Run| job.run(run, |_| Ok(())).expect_err("the job fails");
        let run = run_on(Device::Cpu, 1);
        for (texts, symbols) in [(vec![0; 6], 0), (vec![0; 6], 2)] {
            let texts = Arc::new(HammingTexts { texts: texts.into(), symbols });
            let error = failure(&HammingDistances { texts }, &run);
            assert_eq!(error.to_string(), "texts: they are not pairs of texts of equal length");
        }
        run.interrupt.store(true, Ordering::Relaxed);
        assert!(matches!(failure(&job(), &run), Error::Interrupted));
    }
}
