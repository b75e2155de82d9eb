//! Aligns listed pairs: one row for each pair that passes the filter, in the order of the list.
//!
//! The pairs are records with equal numbers of two files, which the job reads in step, or pairs of
//! sequence numbers in a list. Pairs of intervals are lists whose sequences are the intervals. In all
//! cases, the job reads them in parts. Each part is one chunk
//! of the queue. A chunk groups the targets of a query, in any order of the list. A few chunks are
//! in progress at any time, so memory does not grow with the number of pairs. Scores and alignments
//! equal the results of [`AllPairs`], on the same engines.

mod blocks;
mod finish;
mod intervals;
mod row;
mod source;

use std::sync::{Arc, Mutex};
use std::time::Instant;

use self::finish::PairRowFinisher;
use self::source::{PairListPlanner, PairSets, sets_of};
use super::allpairs::{AllPairs, PairResult};
use super::block::Block;
use super::edit_filter::EditFilter;
use super::session::{Execution, SessionEngines, SessionStart, Threads, cells_now};
use super::source::{BlockChunks, OPEN_END, OpenBlocks};
use super::{Feed, Job, Run, Summary, engines};
use crate::engine::Engine;
use crate::engine::owner;
use crate::error::{Error, Result};
use crate::pairs::cpu::workers;
use crate::pairs::kernels::family_of;
use crate::pairs::{Pairs, ResultFilter};
use crate::score::{CoverageFilter, IdentityDefinition, Scoring};
use crate::seq::{PairedChunks, QueryStrands, SequenceId, SequenceStore, Strands};

/// Default maximum number of pairs in a chunk.
pub const CHUNK_PAIRS: usize = 1 << 15;
/// Default maximum number of symbols in a chunk of two files. It may be exceeded by one pair.
pub const CHUNK_SYMBOLS: u64 = 1 << 23;
/// Assumed number of chunks of a job that has more than one, for sizing measurements of devices.
const MANY_CHUNKS: u64 = 64;

/// The source of pairs.
#[derive(Debug, Clone)]
pub enum PairSource {
    /// Records with equal numbers of two files. They can be read only once.
    InStep(Arc<Mutex<PairedChunks>>),
    /// Pairs of two sets, in any order. A pair may occur several times.
    Listed {
        /// The queries.
        queries: Arc<SequenceStore>,
        /// The targets, which may be the same set.
        targets: Arc<SequenceStore>,
        /// Query and target of each pair.
        pairs: Arc<[(SequenceId, SequenceId)]>,
    },
}

impl PairSource {
    /// Creates a source from two opened files.
    pub fn in_step(chunks: PairedChunks) -> Self {
        PairSource::InStep(Arc::new(Mutex::new(chunks)))
    }

    /// Returns the sets of the first pairs, which are all sequences of a list.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the files have been read.
    pub fn first_sets(&self) -> Result<(Arc<SequenceStore>, Arc<SequenceStore>)> {
        match self {
            PairSource::Listed { queries, targets, .. } => Ok((Arc::clone(queries), Arc::clone(targets))),
            PairSource::InStep(chunks) => {
                let chunks = chunks.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                let first = chunks.first().ok_or_else(already_read)?;
                Ok((Arc::clone(&first.queries), Arc::clone(&first.targets)))
            }
        }
    }

    /// Creates a source that pairs the sequences with equal numbers of two sets.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if one set has more sequences.
    pub fn by_equal_index(queries: Arc<SequenceStore>, targets: Arc<SequenceStore>) -> Result<Self> {
        if queries.len() != targets.len() {
            return Err(Error::usage(format!("there are {} queries but {} targets", queries.len(), targets.len())));
        }
        let pairs = (0..queries.len() as SequenceId).map(|id| (id, id)).collect();
        Ok(PairSource::Listed { queries, targets, pairs })
    }
}

/// Pairs to align, with one row for each pair that passes the filter.
///
/// ```
/// use pairwave::jobs::pairs::{PairList, PairSource};
/// use pairwave::{Job, Run, Scoring};
///
/// let genes = pairwave::read("assets/16s/gold12.fasta")?;
/// let pairs = vec![(3, 0), (0, 3), (7, 7)].into();
/// let source = PairSource::Listed { queries: genes.clone(), targets: genes, pairs };
/// let mut identities = Vec::new();
/// PairList::new(source, Scoring::dna().into()).run(&Run::default(), |rows| {
///     identities.extend(rows.iter().map(|row| (row.number, (row.result.identity * 1000.0).round())));
///     Ok(())
/// })?;
/// assert_eq!(identities, [(0, 753.0), (1, 753.0), (2, 1000.0)]);
/// # Ok::<(), pairwave::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct PairList {
    /// The pairs.
    pub source: PairSource,
    /// The scoring scheme.
    pub scoring: Arc<Scoring>,
    /// The strand of each query that is aligned with its target. Only DNA has minus strands. For
    /// both strands, the row has the strand with the greater score, or the plus strand if the scores
    /// are equal. Only strands that reach `coverage` count.
    pub strand: Strands,
    /// The definition of identity.
    pub definition: IdentityDefinition,
    /// Minimum coverages. A pair that does not reach them has no row.
    pub coverage: CoverageFilter,
    /// Whether to compute scores only, without alignments. Excludes `coverage`.
    pub score_only: bool,
    /// Whether to rescore every alignment, and to fail if the result differs from the computed
    /// score.
    pub check: bool,
    /// Maximum number of listed pairs in a chunk; changes no row. Files have the limits they were
    /// opened with.
    pub chunk_pairs: usize,
}

/// A pair of a list with its result.
#[derive(Debug, Clone, PartialEq)]
pub struct PairRow {
    /// Number of the pair in the list, from 0.
    pub number: u64,
    /// The set that contains the query.
    pub queries: Arc<SequenceStore>,
    /// The set that contains the target.
    pub targets: Arc<SequenceStore>,
    /// The result. A local alignment without a score above 0 is empty and has score 0.
    pub result: PairResult,
}

/// State that a session keeps between blocks.
pub struct PairListSession {
    threads: Threads,
    /// Sets of listed pairs. Devices identify sets by their address in memory.
    sets: Option<PairSets>,
    engines: SessionEngines<Pairs>,
}

impl PairList {
    /// Creates a job that aligns every pair, with the queries on the plus strand.
    pub fn new(source: PairSource, scoring: Arc<Scoring>) -> Self {
        PairList {
            source,
            scoring,
            strand: Strands::default(),
            definition: IdentityDefinition::default(),
            coverage: CoverageFilter::default(),
            score_only: false,
            check: false,
            chunk_pairs: CHUNK_PAIRS,
        }
    }

    /// Returns the number of cells of all pairs and strands; `None` if it is unknown until all
    /// pairs are read.
    ///
    /// # Errors
    /// The errors of [`Job::validate`].
    pub fn cells(&self) -> Result<Option<u64>> {
        self.validate()?;
        let (cells, is_all) = self.cells_so_far()?;
        Ok(is_all.then_some(cells))
    }

    /// Returns the number of cells of the pairs read so far, and whether these are all pairs.
    fn cells_so_far(&self) -> Result<(u64, bool)> {
        let product = |queries: &SequenceStore, targets: &SequenceStore, (query, target)| {
            u64::from(queries.length(query)) * u64::from(targets.length(target))
        };
        let (cells, is_all) = match &self.source {
            PairSource::Listed { queries, targets, pairs } => {
                (pairs.iter().map(|&pair| product(queries, targets, pair)).fold(0, u64::saturating_add), true)
            }
            PairSource::InStep(chunks) => {
                let chunks = chunks.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                let first = chunks.first().ok_or_else(already_read)?;
                let ids = 0..first.queries.len() as SequenceId;
                let cells = ids.map(|id| product(&first.queries, &first.targets, (id, id)));
                (cells.fold(0, u64::saturating_add), chunks.is_at_end())
            }
        };
        Ok((cells.saturating_mul(u64::from(self.strands().copies())), is_all))
    }

    /// Returns a job of all pairs of two sets, which defines how each listed pair is computed.
    fn all(&self, queries: Arc<SequenceStore>, targets: Arc<SequenceStore>) -> AllPairs {
        AllPairs {
            queries,
            against: Some(targets),
            scoring: Arc::clone(&self.scoring),
            strand: self.strand,
            definition: self.definition,
            min_identity: None,
            coverage: self.coverage,
            min_score: None,
            score_only: self.score_only,
            max_hits: None,
            top_hits_only: false,
            check: self.check,
            edit_filter: EditFilter::Off,
        }
    }

    /// Returns the strands of each query that are aligned.
    fn strands(&self) -> QueryStrands {
        QueryStrands { strand: self.strand, later_only: false }
    }

    /// Opens engines for all pairs, or for an assumed number of them if the number is unknown.
    fn open_engines(&self, run: &Run, threads: &Threads) -> Result<Vec<Box<dyn Engine<Pairs>>>> {
        let (cells, is_all) = self.cells_so_far()?;
        let cells = if is_all { cells } else { cells.saturating_mul(MANY_CHUNKS) };
        let filter = if self.score_only { ResultFilter::Scores } else { ResultFilter::Alignments };
        engines::open_for(run, &threads.pool, &self.scoring, &filter, cells, 1)
    }
}

fn already_read() -> Error {
    Error::usage_of("queries", "an earlier run has already read their records: open the files again")
}

impl Job for PairList {
    type Row = PairRow;
    type Summary = Summary;
    type Engines = Vec<Box<dyn Engine<Pairs>>>;
    type Session = PairListSession;

    fn validate(&self) -> Result<()> {
        if let PairSource::Listed { queries, targets, pairs } = &self.source {
            let is_there = |&(query, target): &(SequenceId, SequenceId)| {
                (query as usize) < queries.len() && (target as usize) < targets.len()
            };
            if let Some((number, pair)) = pairs.iter().enumerate().find(|(_, pair)| !is_there(pair)) {
                let (queries, targets) = (queries.len(), targets.len());
                let message =
                    format!("pair {number} is {pair:?}, but there are {queries} queries and {targets} targets");
                return Err(Error::usage_of("candidates", message));
            }
        }
        let (queries, targets) = self.source.first_sets()?;
        self.all(queries, targets).validate()
    }

    /// Returns a block without cells: chunks are planned as pairs are read. The number of pairs in
    /// files is unknown.
    fn whole_block(&self, _session: &PairListSession) -> Block {
        let end = if let PairSource::Listed { pairs, .. } = &self.source { pairs.len() as u64 } else { OPEN_END };
        Block { units: 0..end, targets: None, pairs: 0, cells: 0 }
    }

    fn open(&self, start: SessionStart<Self::Engines>, run: &Run) -> Result<PairListSession> {
        self.validate()?;
        start.check_kernel(run, family_of(self.scoring.mode))?;
        let threads = Threads::shared(run)?;
        let engines = SessionEngines::new(start, || self.open_engines(run, &threads))?;
        Ok(PairListSession { threads, sets: sets_of(self), engines })
    }

    /// Passes on one row for each pair that passes the filter, in the order of the list.
    fn feed(&self, Feed { source, run, sink }: Feed<'_, PairRow>, session: &mut PairListSession) -> Result<Summary> {
        let started = Instant::now();
        let PairListSession { threads, sets, engines } = session;
        let execution = Execution { run, threads };
        let is_whole = engines.is_whole();
        let engine_set = engines.get_or_open(|| self.open_engines(run, threads))?;
        let open_blocks = OpenBlocks::default();
        let (planner, chunks) = PairListPlanner::new(self, sets.clone(), open_blocks.clone());
        let known = cells_now(source.as_ref());
        let mut finisher = PairRowFinisher::new(&chunks, open_blocks, execution, sink);
        let reserve = || workers(threads.count(), &run.interrupt);
        let control = execution.control_for_source(source.as_ref(), finisher.window());
        let ran = owner::run_set(engine_set, reserve, BlockChunks::new(source, planner), known, &control, |outcome| {
            run.progress.advance(outcome.pairs, outcome.cells);
            finisher.take(outcome)
        })?;
        // A read error ends the planning, and then the run.
        chunks.failure()?;
        // A pair that is listed several times is computed once, so the summary of a whole job
        // counts it once. The summary of blocks counts every occurrence, as the plan does.
        let summary = if is_whole { finisher.end_whole()? } else { finisher.end()? };
        Ok(Summary { seconds: started.elapsed().as_secs_f64(), ..summary.with_engines(ran) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::{Alphabet, ReadOptions};

    #[test]
    fn invalid_lists_are_refused() {
        let genes = crate::read("assets/16s/gold12.fasta").unwrap();
        let (queries, targets) = (Arc::clone(&genes), Arc::clone(&genes));
        let listed = |pairs: Vec<(SequenceId, SequenceId)>| {
            let (queries, targets) = (Arc::clone(&queries), Arc::clone(&targets));
            PairList::new(PairSource::Listed { queries, targets, pairs: pairs.into() }, Scoring::dna().into())
        };
        let message = |job: &PairList| job.run(&Run::default(), |_| Ok(())).unwrap_err().to_string();
        let beyond = message(&listed(vec![(0, 1), (11, 12)]));
        assert_eq!(beyond, "candidates: pair 1 is (11, 12), but there are 12 queries and 12 targets");
        let proteins = PairList { scoring: Scoring::protein().into(), ..listed(vec![(0, 1)]) };
        assert_eq!(message(&proteins), "queries: these are Dna sequences, but the scores are for Protein");
        assert_eq!(listed(Vec::new()).run(&Run::default(), |_| Ok(())).unwrap().written, 0);
    }

    #[test]
    fn files_can_be_read_only_once() {
        let path = "assets/16s/gold12.fasta";
        let chunks = PairedChunks::open([path, path], &ReadOptions::default(), 5, u64::MAX).unwrap();
        assert_eq!(chunks.alphabet(), Alphabet::Dna);
        let job = PairList { score_only: true, ..PairList::new(PairSource::in_step(chunks), Scoring::dna().into()) };
        assert_eq!(job.cells().unwrap(), None);
        let summary = job.run(&Run::default(), |_| Ok(())).unwrap();
        assert_eq!((summary.pairs, summary.written, summary.aligned), (12, 12, 0));
        let error = job.run(&Run::default(), |_| Ok(())).unwrap_err().to_string();
        assert!(error.starts_with("queries: an earlier run has already read their records"), "{error}");
    }
}
