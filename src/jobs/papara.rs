//! Places reads on a reference tree and aligns them with its alignment, as PaPaRa does (Berger and
//! Stamatakis 2011; Alachiotis, Berger and Stamatakis 2013).
//!
//! Every edge of the tree has a vector of ancestral states ([`crate::papara::states`]). Engines
//! score reads against vectors ([`crate::papara`]). Bounds find the best edge of a read without
//! scoring all edges ([`crate::papara::search`]). CPU threads align each read with the vector of
//! its best edge while engines score other reads.
//!
//! Reads are processed in groups. A limited number of groups is in progress at any time, so memory
//! does not grow with the number of reads.

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

use self::finish::ReadFinisher;
use self::rounds::{ReadGroup, Rounds};
use self::source::{NextReads, ReadFile, ReadRanges};
use super::block::Block;
use super::deliver::Delivery;
use super::session::{Execution, SessionEngines, SessionStart, Threads};
use super::source::{OPEN_END, OpenBlocks};
use super::{Feed, Job, Run, Summary, engines};
use crate::alignment::Cigar;
use crate::engine::Engine;
use crate::engine::owner::{self, Control};
use crate::engine::stats::RunStats;
use crate::error::{Error, InputLocation, Result};
use crate::gpu::kernels::Family;
use crate::papara::cpu::phylo_workers;
use crate::papara::search::UnionTree;
use crate::papara::{GapModel, Phylo, Reference, edge_vectors};
use crate::score::PhyloScheme;
use crate::seq::{Alphabet, QueryStrands, ReadChunk, Strand, Strands};

/// Maximum number of groups of reads in their scoring rounds. Other groups are aligned at the same
/// time.
const MAX_GROUPS: usize = 6;
/// Maximum number of groups that are aligned or wait for delivery. No further group starts until
/// their number falls below it.
const MAX_FINISHING: usize = 2 * MAX_GROUPS;
/// Assumed number of cells of a job with an unknown number of reads.
const MANY_CELLS: u64 = 1 << 50;

/// The source of reads.
#[derive(Debug, Clone)]
pub enum ReadSource {
    /// A FASTA or FASTQ file, plain or compressed; `-` is standard input.
    File(PathBuf),
    /// The contents of such a file in memory, after a name for error messages.
    Bytes(String, Arc<[u8]>),
}

/// A job that places reads on the tree of a reference alignment and aligns them with it.
#[derive(Debug, Clone)]
pub struct PhyloAlignment {
    /// The reference alignment and its tree.
    pub reference: Arc<Reference>,
    /// The reads.
    pub reads: ReadSource,
    /// The model that decides whether a site of an ancestral state is a gap.
    pub gap_model: GapModel,
    /// Costs and scores of the recurrence.
    pub scheme: Arc<PhyloScheme>,
    /// The strand of each read that is aligned. Only DNA has minus strands. For both strands, the
    /// result has the strand with the greater score, or the plus strand if the scores are equal.
    pub strand: Strands,
    /// Whether to score every read against every edge, even if bounds show that the edge cannot be
    /// the best. Changes no result.
    pub exhaustive: bool,
    /// Whether to rescore every alignment, and to fail if its score differs.
    pub check: bool,
    /// Number of nonempty reads to skip at the start of the file, because an earlier run completed
    /// them.
    pub skip: u64,
}

/// The placement and alignment of a read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PhyloResult {
    /// Number of the read in the file, from 0.
    pub number: u64,
    /// Name of the read: its header up to the first blank.
    pub name: Vec<u8>,
    /// Letters of the read as in the file, without gaps. For the minus strand, their reverse
    /// complement.
    pub letters: Vec<u8>,
    /// Number of the best edge, the lowest among edges with equal scores.
    pub edge: u32,
    /// Score at the best edge.
    pub score: i32,
    /// The best other edge and its score; `None` for a tree with one edge.
    pub runner_up: Option<(u32, i32)>,
    /// The strand that is aligned.
    pub strand: Strand,
    /// Number of sites before the first column of the read.
    pub first_site: u32,
    /// Columns of the alignment, with the read as the query.
    pub cigar: Cigar,
}

/// State that a session keeps between blocks.
pub struct PhyloSession {
    threads: Threads,
    /// Ancestral states; `None` until they are computed.
    union_tree: Option<Arc<UnionTree>>,
    /// Position in the file of reads.
    source: Option<ReadFile>,
    engines: SessionEngines<Phylo>,
}

impl PhyloAlignment {
    /// Creates a job with the defaults of PaPaRa.
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
        QueryStrands { strand: self.strand, later_only: false }
    }

    /// Computes the ancestral states of the edges of the reference.
    fn union_tree(&self, pool: &rayon::ThreadPool) -> Arc<UnionTree> {
        let started = Instant::now();
        let union_tree = pool.install(|| {
            let vectors = edge_vectors(&self.reference, self.gap_model, pool);
            let (vectors, vector_of) = vectors.distinct();
            UnionTree::new(vectors, &vector_of, !self.exhaustive, pool)
        });
        tracing::debug!(
            edges = union_tree.edges(),
            distinct = union_tree.vectors(0).len(),
            heights = union_tree.heights(),
            seconds = started.elapsed().as_secs_f64(),
            "ancestral states"
        );
        Arc::new(union_tree)
    }
}

/// Groups of reads in progress, from the file to the output.
struct ReadStages<'a> {
    rounds: Rounds<'a>,
    finish: ReadFinisher,
    totals: Totals,
    /// Whether there are no more reads.
    is_at_end: bool,
    run: &'a Run,
}

impl ReadStages<'_> {
    /// Delivers aligned groups, and starts groups of reads up to the limits.
    fn deliver_and_start(
        &mut self,
        reads: &mut ReadRanges<'_>,
        rows: &mut impl FnMut(Range<u64>, &[PhyloResult]) -> Result<()>,
    ) -> Result<()> {
        let mut most = usize::MAX;
        loop {
            let before = self.finish.written();
            self.finish.deliver(most, rows)?;
            self.run.progress.advance(self.finish.written() - before, 0);
            while !self.is_at_end && self.rounds.len() < MAX_GROUPS && self.finish.len() < MAX_FINISHING {
                match reads.next()? {
                    NextReads::Chunk(reads) => self.begin(reads),
                    // The next scored group triggers another request.
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
            // Engines have no work until some groups are aligned. No outcome of an engine would
            // start the next group, so this call waits for an aligned group.
            most = MAX_FINISHING - 1;
        }
    }

    /// Starts a group of reads.
    fn begin(&mut self, reads: ReadChunk) {
        self.totals.add(&reads, self.rounds.union_tree(), self.rounds.strands());
        if let Some(chunk) = self.rounds.begin(self.totals.chunks, reads) {
            self.finish.add(chunk);
        }
        self.totals.chunks += 1;
    }
}

/// Maximum number of empty reads that warnings name.
const NAMED: u64 = 5;

/// Totals of the reads so far.
#[derive(Debug, Default)]
struct Totals {
    chunks: usize,
    /// Number of reads without letters.
    empty: u64,
    /// File of the reads, if warnings do not name all empty ones.
    location: InputLocation,
    pairs: u64,
    cells: u64,
}

impl Totals {
    fn add(&mut self, reads: &ReadChunk, union_tree: &UnionTree, strands: QueryStrands) {
        let symbols: u64 = reads.store.lengths().iter().map(|&length| u64::from(length)).sum();
        for id in (0..).zip(reads.store.lengths()).filter_map(|(id, &length)| (length == 0).then_some(id)) {
            self.empty += 1;
            if self.empty <= NAMED {
                let number = reads.first + u64::from(id) + 1;
                let location = reads.store.location(id);
                tracing::warn!("{location}: record {number} has no letters and is skipped");
            } else {
                self.location = reads.store.file_location();
            }
        }
        let edges = union_tree.edges() as u64 * u64::from(strands.copies());
        self.pairs += reads.store.len() as u64 * edges;
        self.cells = self.cells.saturating_add(symbols * edges * u64::from(union_tree.vectors(0).sites()));
    }
}

impl Job for PhyloAlignment {
    type Row = PhyloResult;
    type Summary = Summary;
    type Engines = Vec<Box<dyn Engine<Phylo>>>;
    type Session = PhyloSession;

    fn validate(&self) -> Result<()> {
        self.scheme.validate()?;
        if self.strand != Strands::Plus && self.reference.alphabet != Alphabet::Dna {
            return Err(Error::usage_of("strand", "only DNA and RNA have a minus strand"));
        }
        Ok(())
    }

    /// Returns a block without an end: the number of reads is unknown.
    fn whole_block(&self, _session: &PhyloSession) -> Block {
        Block { units: 0..OPEN_END, targets: None, pairs: 0, cells: 0 }
    }

    fn open(&self, start: SessionStart<Self::Engines>, run: &Run) -> Result<PhyloSession> {
        self.validate()?;
        start.check_kernel(run, Family::Phylo)?;
        let threads = Threads::separate(run)?;
        let engines = SessionEngines::new(start, || engines::open_phylo(run, threads.count()))?;
        // The time of a whole job includes the ancestral states, and starts when the engines are
        // open.
        let union_tree = (!engines.is_whole()).then(|| self.union_tree(&threads.pool));
        Ok(PhyloSession { threads, union_tree, source: None, engines })
    }

    /// Passes on reads in file order. The file is read from its start up to the first block.
    /// Reading continues from there as long as the blocks are in file order.
    fn feed(&self, Feed { source, run, sink }: Feed<'_, PhyloResult>, session: &mut PhyloSession) -> Result<Summary> {
        let started = Instant::now();
        let PhyloSession { threads, union_tree, source: reads, engines } = session;
        let execution = Execution { run, threads };
        let engine_set = engines.get_or_open(|| engines::open_phylo(run, threads.count()))?;
        let union_tree = &*union_tree.get_or_insert_with(|| self.union_tree(&threads.pool));
        let open_blocks = OpenBlocks::default();
        let mut reads = ReadRanges::new(self, source, open_blocks.clone(), reads);
        let mut delivery = Delivery::new(open_blocks, sink);
        let mut stages = ReadStages {
            rounds: Rounds::new(union_tree, &self.scheme, self.strands()),
            finish: ReadFinisher::new(self, union_tree, &threads.pool),
            totals: Totals::default(),
            is_at_end: false,
            run,
        };
        let mut rows = |reads: Range<u64>, rows: &[PhyloResult]| {
            delivery.rows_from(reads.start, rows)?;
            delivery.end_block_at(reads.end)
        };
        stages.deliver_and_start(&mut reads, &mut rows)?;
        let mut ran = RunStats::default();
        if stages.rounds.len() > 0 {
            let reserve = || phylo_workers(threads.count(), &run.interrupt);
            let control = Control { is_open_ended: true, ..execution.control(stages.rounds.window()) };
            let chunks = stages.rounds.chunks();
            ran = owner::run_set(engine_set, reserve, chunks, MANY_CELLS, &control, |outcome| {
                if let Some(chunk) = stages.rounds.take(&outcome)? {
                    stages.finish.add(chunk);
                }
                stages.deliver_and_start(&mut reads, &mut rows)
            })?;
        }
        let ReadStages { mut finish, totals, .. } = stages;
        finish.deliver(0, &mut rows)?;
        if totals.empty > NAMED {
            tracing::warn!("{}: {} reads in total have no letters and are skipped", totals.location, totals.empty);
        }
        delivery.finish()?;
        let summary = Summary {
            pairs: totals.pairs,
            cells: totals.cells,
            aligned: finish.written(),
            written: finish.written(),
            seconds: started.elapsed().as_secs_f64(),
            ..Summary::default()
        };
        Ok(summary.with_engines(ran))
    }
}
