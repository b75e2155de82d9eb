//! Reads placed on a reference tree and aligned with its alignment, as PaPaRa does (Berger and Stamatakis 2011; Alachiotis,
//! Berger and Stamatakis 2013).
//!
//! Every edge of the tree has a vector of ancestral states ([`crate::papara::states`]). Engines score reads against vectors
//! ([`crate::papara`]); of the edges of a read the best one is found without scoring all ([`crate::papara::search`]), and threads
//! of the CPU align the read with that edge's vector while engines go on.
//!
//! Reads come in chunks, of which some are on their way at once: what is in memory does not grow with their number.

mod blocks;
mod finish;
mod rounds;
mod source;
#[doc(hidden)]
pub mod spool;

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use self::finish::Finish;
use self::rounds::{Chunk, Rounds};
use self::source::{NextReads, Source};
use super::{Job, Run, Summary, engines};
use crate::alignment::Cigar;
use crate::engine::owner::{self, Control, EngineSet};
use crate::engine::stats::Ran;
use crate::engine::{Engine, thread_pool};
use crate::error::{Error, Result};
use crate::gpu::kernels::Family;
use crate::papara::cpu::phylo_workers;
use crate::papara::search::Levels;
use crate::papara::{GapModel, Phylo, Reference, edge_vectors};
use crate::score::PhyloScheme;
use crate::seq::{Alphabet, ReadChunk, Strand, StrandOf, Strands};

/// Chunks of reads on their way at once: some are in their rounds while others are aligned.
const CHUNKS: usize = 6;
/// Chunks that are aligned or wait for their turn, beyond which no other sets out.
const FINISHING: usize = 2 * CHUNKS;
/// A guess at the cells of a job whose reads nobody has counted.
const MANY_CELLS: u64 = 1 << 50;

/// Where reads come from.
#[derive(Debug, Clone)]
pub enum ReadSource {
    /// A file of FASTA or FASTQ, plain or compressed; `-` is standard input.
    File(PathBuf),
    /// The same in memory, with a name for errors.
    Bytes(String, Arc<[u8]>),
}

/// Reads to align with a reference.
#[derive(Debug, Clone)]
pub struct PhyloAlignment {
    /// The alignment and its tree.
    pub reference: Arc<Reference>,
    /// The reads.
    pub reads: ReadSource,
    /// How a site is found to be a gap.
    pub gap_model: GapModel,
    /// What is maximised.
    pub scheme: Arc<PhyloScheme>,
    /// Which strand of each read is aligned; of DNA only if not forward. Of both the one that scores more is handed over, the
    /// forward one if they score the same.
    pub strand: Strand,
    /// Score every read against every edge, even where bounds show that it cannot be the best. Changes no result.
    pub exhaustive: bool,
    /// Rescore every alignment and fail if its score is another.
    pub check: bool,
    /// So many reads that are not empty, the first of all, are left out: they were done before.
    pub skip: u64,
}

/// One read's place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PhyloResult {
    /// Its number in the file, from 0.
    pub number: u64,
    /// Its name: the header up to the first blank.
    pub name: Vec<u8>,
    /// Its letters as the file has them, without gaps; of the minus strand their reverse complement.
    pub letters: Vec<u8>,
    /// The best edge: of those that score the same the first.
    pub edge: u32,
    /// The score there.
    pub score: i32,
    /// The best other edge and its score; `None` for a tree of one edge.
    pub runner_up: Option<(u32, i32)>,
    /// The strand that is aligned.
    pub strand: StrandOf,
    /// Sites before its first column.
    pub first_site: u32,
    /// Its columns, the read as the query.
    pub cigar: Cigar,
}

impl PhyloAlignment {
    /// PaPaRa's defaults.
    pub fn new(reference: Arc<Reference>, reads: ReadSource) -> Self {
        PhyloAlignment {
            reference,
            reads,
            gap_model: GapModel::default(),
            scheme: Arc::new(PhyloScheme::papara()),
            strand: Strand::default(),
            exhaustive: false,
            check: false,
            skip: 0,
        }
    }

    fn strands(&self) -> Strands {
        Strands { strand: self.strand, later: false }
    }

    /// The states of the reference's edges.
    fn levels(&self, pool: &rayon::ThreadPool) -> Arc<Levels> {
        let begin = Instant::now();
        let levels = pool.install(|| {
            let vectors = edge_vectors(&self.reference, self.gap_model, pool);
            let (vectors, vector_of) = vectors.distinct();
            Levels::new(vectors, &vector_of, !self.exhaustive, pool)
        });
        tracing::debug!(
            edges = levels.edges(),
            distinct = levels.level(0).len(),
            levels = levels.len(),
            seconds = begin.elapsed().as_secs_f64(),
            "ancestral states"
        );
        Arc::new(levels)
    }

    fn finish_on(
        &self,
        engines: Vec<Box<dyn Engine<Phylo>>>,
        (pool, feeding): (&Arc<rayon::ThreadPool>, &Arc<rayon::ThreadPool>),
        run: &Run,
        mut rows: impl FnMut(&[PhyloResult]) -> Result<()>,
    ) -> Result<Summary> {
        let begin = Instant::now();
        let levels = self.levels(pool);
        let mut source = Source::open(self)?;
        let engine_set = &mut EngineSet::for_once(engines);
        let mut summary = self.align(
            engine_set,
            &levels,
            (pool, feeding),
            run,
            || Ok(source.next()?.into()),
            |_, reads| rows(reads),
        )?;
        summary.seconds = begin.elapsed().as_secs_f64();
        Ok(summary)
    }

    /// Aligns the reads that `next` gives, and hands over what comes of each chunk, with the numbers of its reads, in order.
    fn align(
        &self,
        engine_set: &mut EngineSet<Phylo>,
        levels: &Arc<Levels>,
        (pool, feeding): (&Arc<rayon::ThreadPool>, &Arc<rayon::ThreadPool>),
        run: &Run,
        mut next: impl FnMut() -> Result<NextReads>,
        mut rows: impl FnMut(Range<u64>, &[PhyloResult]) -> Result<()>,
    ) -> Result<Summary> {
        let begin = Instant::now();
        let mut rounds = Rounds::new(levels, &self.scheme, self.strands());
        let mut finish = Finish::new(self, levels, pool);
        let mut totals = Totals::default();
        let mut is_at_end = false;
        let mut go_on = |rounds: &mut Rounds<'_>, finish: &mut Finish| {
            let mut most = usize::MAX;
            loop {
                let before = finish.written();
                finish.deliver(most, &mut rows)?;
                run.progress.advance(finish.written() - before, 0);
                while !is_at_end && rounds.len() < CHUNKS && finish.len() < FINISHING {
                    let reads = match next()? {
                        NextReads::Chunk(reads) => reads,
                        // Whoever comes back with a chunk that is scored asks again.
                        NextReads::Nothing if rounds.len() > 0 => break,
                        NextReads::Nothing | NextReads::End => {
                            is_at_end = true;
                            break;
                        }
                    };
                    totals.add(&reads, levels, self.strands());
                    if let Some(chunk) = rounds.begin(totals.chunks, reads) {
                        finish.add(chunk);
                    }
                    totals.chunks += 1;
                }
                if is_at_end {
                    rounds.end();
                }
                if is_at_end || rounds.len() > 0 {
                    return Ok(());
                }
                // Engines have nothing to do, and nobody would come back for more, until some of what they found is aligned.
                most = FINISHING - 1;
            }
        };
        go_on(&mut rounds, &mut finish)?;
        let mut ran = Ran::default();
        if rounds.len() > 0 {
            let reserve = || phylo_workers(pool.current_num_threads(), &run.interrupt);
            let control = Control { ahead: rounds.ahead(), is_open_ended: true, ..run.control(feeding) };
            ran = owner::run_set(engine_set, reserve, rounds.bands(), MANY_CELLS, &control, |outcome| {
                if let Some(chunk) = rounds.take(&outcome)? {
                    finish.add(chunk);
                }
                go_on(&mut rounds, &mut finish)
            })?;
        }
        finish.deliver(0, &mut rows)?;
        if totals.empty > NAMED {
            tracing::warn!("{} reads in all have no letters and are left out", totals.empty);
        }
        Ok(Summary {
            pairs: totals.pairs,
            cells: totals.cells,
            aligned: finish.written(),
            written: finish.written(),
            seconds: begin.elapsed().as_secs_f64(),
            kernel_seconds: ran.engines.iter().map(|engine| engine.kernel_seconds).sum(),
            engines: ran.engines,
            imbalance: ran.imbalance,
        })
    }
}

/// Empty reads that are named.
const NAMED: u64 = 5;

/// What was read so far.
#[derive(Debug, Default)]
struct Totals {
    chunks: usize,
    /// Reads without letters.
    empty: u64,
    pairs: u64,
    cells: u64,
}

impl Totals {
    fn add(&mut self, reads: &ReadChunk, levels: &Levels, strands: Strands) {
        let symbols: u64 = reads.store.lengths().iter().map(|&length| u64::from(length)).sum();
        for id in (0..).zip(reads.store.lengths()).filter_map(|(id, &length)| (length == 0).then_some(id)) {
            self.empty += 1;
            if self.empty <= NAMED {
                let number = reads.first + u64::from(id) + 1;
                tracing::warn!("read '{}' (record {number}) has no letters and is left out", reads.store.name(id));
            }
        }
        let edges = levels.edges() as u64 * u64::from(strands.copies());
        self.pairs += reads.store.len() as u64 * edges;
        self.cells = self.cells.saturating_add(symbols * edges * u64::from(levels.level(0).sites()));
    }
}

impl Job for PhyloAlignment {
    type Row = PhyloResult;
    type Summary = Summary;
    type Engines = Vec<Box<dyn Engine<Phylo>>>;

    fn validate(&self) -> Result<()> {
        self.scheme.validate()?;
        if self.strand != Strand::Forward && self.reference.alphabet != Alphabet::Dna {
            return Err(Error::usage_of("strand", "only DNA and RNA have a reverse one"));
        }
        Ok(())
    }

    fn run(&self, run: &Run, rows: impl FnMut(&[PhyloResult]) -> Result<()>) -> Result<Summary> {
        self.validate()?;
        run.check_kernel(Family::Phylo)?;
        let (pool, feeding) = (thread_pool(run.threads)?, thread_pool(run.threads)?);
        let engines = engines::open_phylo(run, pool.current_num_threads())?;
        self.finish_on(engines, (&pool, &feeding), run, rows)
    }

    /// Alignments are made on threads of the CPU. If the engines fail, so many CPU workers take over.
    fn run_on(
        &self,
        engines: Self::Engines,
        run: &Run,
        rows: impl FnMut(&[PhyloResult]) -> Result<()>,
    ) -> Result<Summary> {
        self.validate()?;
        let (pool, feeding) = (thread_pool(run.threads)?, thread_pool(run.threads)?);
        self.finish_on(engines, (&pool, &feeding), run, rows)
    }
}
