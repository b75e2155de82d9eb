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
use self::source::{NextReads, Ranges, Source};
use super::block::Block;
use super::deliver::Delivery;
use super::session::{Execution, SessionEngines, SessionStart, Threads};
use super::source::{Begun, TO_THE_END};
use super::{Feed, Job, Run, Summary, engines};
use crate::alignment::Cigar;
use crate::engine::Engine;
use crate::engine::owner::{self, Control};
use crate::engine::stats::RunStats;
use crate::error::{Error, Result};
use crate::gpu::kernels::Family;
use crate::papara::cpu::phylo_workers;
use crate::papara::search::Levels;
use crate::papara::{GapModel, Phylo, Reference, edge_vectors};
use crate::score::PhyloScheme;
use crate::seq::{Alphabet, QueryStrands, ReadChunk, Strand, Strands};

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
    pub strand: Strands,
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
    pub strand: Strand,
    /// Sites before its first column.
    pub first_site: u32,
    /// Its columns, the read as the query.
    pub cigar: Cigar,
}

/// State that is kept from block to block.
pub struct Session {
    threads: Threads,
    /// Ancestral states; `None` until they are computed.
    levels: Option<Arc<Levels>>,
    /// Where the file was left.
    source: Option<Source>,
    engines: SessionEngines<Phylo>,
}

impl PhyloAlignment {
    /// PaPaRa's defaults.
    pub fn new(reference: Arc<Reference>, reads: ReadSource) -> Self {
        PhyloAlignment {
            reference,
            reads,
            gap_model: GapModel::default(),
            scheme: Arc::new(PhyloScheme::papara()),
            strand: Strands::default(),
            exhaustive: false,
            check: false,
            skip: 0,
        }
    }

    fn strands(&self) -> QueryStrands {
        QueryStrands { strand: self.strand, later: false }
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
}

/// Chunks of reads on their way from the file to the output.
struct Stages<'a> {
    rounds: Rounds<'a>,
    finish: Finish,
    totals: Totals,
    /// There are no more reads.
    is_at_end: bool,
    run: &'a Run,
}

impl Stages<'_> {
    /// Hands over aligned chunks, and starts chunks of reads as long as there is room for them.
    fn go_on(
        &mut self,
        reads: &mut Ranges<'_>,
        rows: &mut impl FnMut(Range<u64>, &[PhyloResult]) -> Result<()>,
    ) -> Result<()> {
        let mut most = usize::MAX;
        loop {
            let before = self.finish.written();
            self.finish.deliver(most, rows)?;
            self.run.progress.advance(self.finish.written() - before, 0);
            while !self.is_at_end && self.rounds.len() < CHUNKS && self.finish.len() < FINISHING {
                match reads.next()? {
                    NextReads::Chunk(reads) => self.begin(reads),
                    // The next scored chunk asks again.
                    NextReads::Nothing if self.rounds.len() > 0 => break,
                    NextReads::Nothing | NextReads::End => self.is_at_end = true,
                }
            }
            if self.is_at_end {
                self.rounds.end();
            }
            if self.is_at_end || self.rounds.len() > 0 {
                return Ok(());
            }
            // Engines have no work, and no outcome would ask for more, before some chunks are aligned.
            most = FINISHING - 1;
        }
    }

    /// Starts a chunk of reads.
    fn begin(&mut self, reads: ReadChunk) {
        self.totals.add(&reads, self.rounds.levels(), self.rounds.strands());
        if let Some(chunk) = self.rounds.begin(self.totals.chunks, reads) {
            self.finish.add(chunk);
        }
        self.totals.chunks += 1;
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
    fn add(&mut self, reads: &ReadChunk, levels: &Levels, strands: QueryStrands) {
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
    type Session = Session;

    fn validate(&self) -> Result<()> {
        self.scheme.validate()?;
        if self.strand != Strands::Plus && self.reference.alphabet != Alphabet::Dna {
            return Err(Error::usage_of("strand", "only DNA and RNA have a reverse one"));
        }
        Ok(())
    }

    /// Returns a block without an end: the number of reads is unknown.
    fn whole(&self, _session: &Session) -> Block {
        Block { units: 0..TO_THE_END, targets: None, pairs: 0, cells: 0 }
    }

    fn open(&self, start: SessionStart<Self::Engines>, run: &Run) -> Result<Session> {
        self.validate()?;
        start.check_kernel(run, Family::Phylo)?;
        let threads = Threads::separate(run)?;
        let engines = SessionEngines::new(start, || engines::open_phylo(run, threads.count()))?;
        // The time of a whole job includes the ancestral states, and starts when the engines are open.
        let levels = (!engines.is_whole()).then(|| self.levels(&threads.pool));
        Ok(Session { threads, levels, source: None, engines })
    }

    /// Hands over reads as they are in the file. It is read from its begin to the first block, and from there on as long as
    /// blocks come in its order.
    fn feed(&self, Feed { source, run, sink }: Feed<'_, PhyloResult>, session: &mut Session) -> Result<Summary> {
        let begin = Instant::now();
        let Session { threads, levels, source: reads, engines } = session;
        let execution = Execution { run, threads };
        let engine_set = engines.get_or_open(|| engines::open_phylo(run, threads.count()))?;
        let levels = &*levels.get_or_insert_with(|| self.levels(&threads.pool));
        let begun = Begun::default();
        let mut reads = Ranges::new(self, source, begun.clone(), reads);
        let mut delivery = Delivery::new(begun, sink);
        let mut stages = Stages {
            rounds: Rounds::new(levels, &self.scheme, self.strands()),
            finish: Finish::new(self, levels, &threads.pool),
            totals: Totals::default(),
            is_at_end: false,
            run,
        };
        let mut rows = |reads: Range<u64>, rows: &[PhyloResult]| {
            delivery.rows_from(reads.start, rows)?;
            delivery.reached(reads.end)
        };
        stages.go_on(&mut reads, &mut rows)?;
        let mut ran = RunStats::default();
        if stages.rounds.len() > 0 {
            let reserve = || phylo_workers(threads.count(), &run.interrupt);
            let control = Control { is_open_ended: true, ..execution.control(stages.rounds.ahead()) };
            let bands = stages.rounds.bands();
            ran = owner::run_set(engine_set, reserve, bands, MANY_CELLS, &control, |outcome| {
                if let Some(chunk) = stages.rounds.take(&outcome)? {
                    stages.finish.add(chunk);
                }
                stages.go_on(&mut reads, &mut rows)
            })?;
        }
        let Stages { mut finish, totals, .. } = stages;
        finish.deliver(0, &mut rows)?;
        if totals.empty > NAMED {
            tracing::warn!("{} reads in all have no letters and are left out", totals.empty);
        }
        delivery.finish()?;
        let summary = Summary {
            pairs: totals.pairs,
            cells: totals.cells,
            aligned: finish.written(),
            written: finish.written(),
            seconds: begin.elapsed().as_secs_f64(),
            ..Summary::default()
        };
        Ok(summary.with_engines(ran))
    }
}
