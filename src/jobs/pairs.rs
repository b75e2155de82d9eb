//! Listed pairs: one record against one, each pair a row, in the order of the list.
//!
//! The pairs are records of one number of two files, read in step as the job goes on, or they are named in a list. Either way
//! they come in chunks: a chunk is a band of the queue, in which the targets of a query are together however they are listed,
//! and a few of them are on their way at once, so that what is in memory does not grow with their number. Scores and
//! alignments are those of [`AllPairs`], on the same engines.

mod blocks;
mod finish;
mod row;
mod source;

use std::sync::{Arc, Mutex};
use std::time::Instant;

use self::finish::Finisher;
use self::source::{Planner, Sets, sets_of};
use super::allpairs::{AllPairs, PairResult};
use super::block::Block;
use super::edit_filter::EditFilter;
use super::session::{Execution, SessionEngines, SessionStart, Threads, cells_now};
use super::source::{Begun, BlockChunks, TO_THE_END};
use super::{Feed, Job, Run, Summary, engines};
use crate::engine::Engine;
use crate::engine::owner;
use crate::error::{Error, Result};
use crate::pairs::cpu::workers;
use crate::pairs::kernels::family_of;
use crate::pairs::{Pairs, Want};
use crate::score::{IdentityDefinition, Scoring};
use crate::seq::{PairedChunks, QueryStrands, SequenceId, SequenceStore, Strands};

/// Pairs of a chunk at most, where nothing else is said.
pub const CHUNK_PAIRS: usize = 1 << 15;
/// Symbols of a chunk of two files at most, a pair more or less, where nothing else is said.
pub const CHUNK_SYMBOLS: u64 = 1 << 23;
/// Chunks that a job has at least of which the first is not the last: a guess, for what to measure of devices.
const MANY_CHUNKS: u64 = 64;

/// Where pairs come from.
#[derive(Debug, Clone)]
pub enum PairSource {
    /// Records of one number of two files. They can be read once.
    InStep(Arc<Mutex<PairedChunks>>),
    /// Pairs of two sets, in any order, each as often as it likes.
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
    /// Files that were opened.
    pub fn in_step(chunks: PairedChunks) -> Self {
        PairSource::InStep(Arc::new(Mutex::new(chunks)))
    }

    /// The sequences of one number of two sets; of the longer one no more than the other has.
    pub fn of_one_number(queries: Arc<SequenceStore>, targets: Arc<SequenceStore>) -> Self {
        let pairs = (0..queries.len().min(targets.len()) as SequenceId).map(|id| (id, id)).collect();
        PairSource::Listed { queries, targets, pairs }
    }
}

/// Pairs to align, each of which gives a row.
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
    /// Which strand of each query is aligned with its target; of DNA only if not forward. Of both the one that scores more is
    /// handed over, the forward one if they score the same.
    pub strand: Strands,
    /// How identity is defined.
    pub definition: IdentityDefinition,
    /// Scores only, no alignments.
    pub score_only: bool,
    /// Rescore every alignment and fail if it does not have the score that was computed.
    pub check: bool,
    /// Listed pairs that are computed together at most; changes no row. (Of files it is what they were opened with.)
    pub chunk_pairs: usize,
}

/// A pair of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct PairRow {
    /// Its number in the list, from 0.
    pub number: u64,
    /// The set that the result's query is in.
    pub queries: Arc<SequenceStore>,
    /// The set that its target is in.
    pub targets: Arc<SequenceStore>,
    /// What came of it. A local alignment in which nothing scores more than 0 is empty, and its score is 0.
    pub result: PairResult,
}

/// State that is kept from block to block.
pub struct Session {
    threads: Threads,
    /// Of listed pairs, which devices know by where they are in memory.
    sets: Option<Sets>,
    engines: SessionEngines<Pairs>,
}

impl PairList {
    /// Every pair aligned, the queries as they were read.
    pub fn new(source: PairSource, scoring: Arc<Scoring>) -> Self {
        PairList {
            source,
            scoring,
            strand: Strands::default(),
            definition: IdentityDefinition::default(),
            score_only: false,
            check: false,
            chunk_pairs: CHUNK_PAIRS,
        }
    }

    /// Cells of all pairs, of all strands that are aligned; `None` if that is not known before all are read.
    ///
    /// # Errors
    /// As [`Job::validate`].
    pub fn cells(&self) -> Result<Option<u64>> {
        self.validate()?;
        let (cells, is_all) = self.cells_so_far()?;
        Ok(is_all.then_some(cells))
    }

    /// Cells of what was read, and whether that is all.
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

    /// The pairs of these sets as a job of all of them, which says how each is computed.
    fn all(&self, queries: Arc<SequenceStore>, targets: Arc<SequenceStore>) -> AllPairs {
        AllPairs {
            queries,
            against: Some(targets),
            scoring: Arc::clone(&self.scoring),
            strand: self.strand,
            definition: self.definition,
            min_identity: None,
            min_score: None,
            score_only: self.score_only,
            max_hits: None,
            check: self.check,
            edit_filter: EditFilter::Off,
        }
    }

    /// The strands of each query that are aligned.
    fn strands(&self) -> QueryStrands {
        QueryStrands { strand: self.strand, later: false }
    }

    /// Opens engines for all pairs, as far as is known how many there are.
    fn open_engines(&self, run: &Run, threads: &Threads) -> Result<Vec<Box<dyn Engine<Pairs>>>> {
        let (cells, is_all) = self.cells_so_far()?;
        let cells = if is_all { cells } else { cells.saturating_mul(MANY_CHUNKS) };
        let want = if self.score_only { Want::Scores } else { Want::Alignments };
        engines::open_for(run, &threads.pool, &self.scoring, &want, cells)
    }
}

fn already_read() -> Error {
    Error::usage_of("queries", "their records were read by an earlier run: the files have to be opened again")
}

impl Job for PairList {
    type Row = PairRow;
    type Summary = Summary;
    type Engines = Vec<Box<dyn Engine<Pairs>>>;
    type Session = Session;

    fn validate(&self) -> Result<()> {
        match &self.source {
            PairSource::InStep(chunks) => {
                let chunks = chunks.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                let first = chunks.first().ok_or_else(already_read)?;
                self.all(Arc::clone(&first.queries), Arc::clone(&first.targets)).validate()
            }
            PairSource::Listed { queries, targets, pairs } => {
                let is_there = |&(query, target): &(SequenceId, SequenceId)| {
                    (query as usize) < queries.len() && (target as usize) < targets.len()
                };
                if let Some((number, pair)) = pairs.iter().enumerate().find(|(_, pair)| !is_there(pair)) {
                    let (queries, targets) = (queries.len(), targets.len());
                    let message = format!("pair {number} is {pair:?}, of {queries} queries and {targets} targets");
                    return Err(Error::usage_of("candidates", message));
                }
                self.all(Arc::clone(queries), Arc::clone(targets)).validate()
            }
        }
    }

    /// Returns a block without cells: bands are planned as pairs are read. The number of pairs in files is unknown.
    fn whole(&self, _session: &Session) -> Block {
        let end = if let PairSource::Listed { pairs, .. } = &self.source { pairs.len() as u64 } else { TO_THE_END };
        Block { units: 0..end, targets: None, pairs: 0, cells: 0 }
    }

    fn open(&self, start: SessionStart<Self::Engines>, run: &Run) -> Result<Session> {
        self.validate()?;
        start.check_kernel(run, family_of(self.scoring.mode))?;
        let threads = Threads::shared(run)?;
        let engines = SessionEngines::new(start, || self.open_engines(run, &threads))?;
        Ok(Session { threads, sets: sets_of(self), engines })
    }

    /// Hands over a row a pair, in the order of the list.
    fn feed(&self, Feed { source, run, sink }: Feed<'_, PairRow>, session: &mut Session) -> Result<Summary> {
        let begin = Instant::now();
        let Session { threads, sets, engines } = session;
        let execution = Execution { run, threads };
        let is_whole = engines.is_whole();
        let engine_set = engines.get_or_open(|| self.open_engines(run, threads))?;
        let begun = Begun::default();
        let (planner, chunks) = Planner::new(self, sets.clone(), begun.clone());
        let known = cells_now(source.as_ref());
        let mut finisher = Finisher::new(&chunks, begun, execution, sink);
        let reserve = || workers(threads.count(), &run.interrupt);
        let control = execution.control_of(source.as_ref(), finisher.ahead());
        let ran = owner::run_set(engine_set, reserve, BlockChunks::new(source, planner), known, &control, |outcome| {
            run.progress.advance(outcome.pairs, outcome.cells);
            finisher.take(outcome)
        })?;
        // What could not be read ends the planning, and after it the run.
        chunks.failure()?;
        // Pairs that a list has twice are computed once. In blocks they count twice, as in the plan.
        let summary = if is_whole { finisher.end_whole()? } else { finisher.end()? };
        Ok(Summary { seconds: begin.elapsed().as_secs_f64(), ..summary.with_engines(ran) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::{Alphabet, ReadOptions};

    #[test]
    fn lists_that_make_no_sense_are_refused() {
        let genes = crate::read("assets/16s/gold12.fasta").unwrap();
        let (queries, targets) = (Arc::clone(&genes), Arc::clone(&genes));
        let listed = |pairs: Vec<(SequenceId, SequenceId)>| {
            let (queries, targets) = (Arc::clone(&queries), Arc::clone(&targets));
            PairList::new(PairSource::Listed { queries, targets, pairs: pairs.into() }, Scoring::dna().into())
        };
        let message = |job: &PairList| job.run(&Run::default(), |_| Ok(())).unwrap_err().to_string();
        let beyond = message(&listed(vec![(0, 1), (11, 12)]));
        assert_eq!(beyond, "candidates: pair 1 is (11, 12), of 12 queries and 12 targets");
        let proteins = PairList { scoring: Scoring::protein().into(), ..listed(vec![(0, 1)]) };
        assert_eq!(message(&proteins), "queries: these are Dna sequences, but the scores are for Protein");
        assert_eq!(listed(Vec::new()).run(&Run::default(), |_| Ok(())).unwrap().written, 0);
    }

    #[test]
    fn files_are_read_once() {
        let path = "assets/16s/gold12.fasta";
        let chunks = PairedChunks::open([path, path], &ReadOptions::default(), 5, u64::MAX).unwrap();
        assert_eq!(chunks.alphabet(), Alphabet::Dna);
        let job = PairList { score_only: true, ..PairList::new(PairSource::in_step(chunks), Scoring::dna().into()) };
        assert_eq!(job.cells().unwrap(), None);
        let summary = job.run(&Run::default(), |_| Ok(())).unwrap();
        assert_eq!((summary.pairs, summary.written, summary.aligned), (12, 12, 0));
        let error = job.run(&Run::default(), |_| Ok(())).unwrap_err().to_string();
        assert!(error.starts_with("queries: their records were read by an earlier run"), "{error}");
    }
}
