//! Rows of distances of all pairs, and blocks of rows. Each machine computes some blocks, and the
//! rows are then gathered.
//!
//! Rows contain counts of symbols. Distances follow from these counts. A row has the counts of a
//! query and later sequences, or of a list of ClustalW's pairs ([`crate::clustal::plan`]).

mod computed;
mod gathered;

use std::sync::Arc;

use super::super::session::SessionStart;
use super::super::{AllPairs, EditDistances, EditResult, Feed, Job, PairResult, Run, Summary};
use super::{ClustalEngines, PairDistance, PairDistances, clustal, distances};
use crate::error::{Error, Result};
use crate::gpu::kernels::Family;
use crate::jobs::blocks::bytes::{push, take, take_u32};
use crate::jobs::blocks::{Block, BlockSink, BlockSource, Divisible, ListedBlocks};

use self::computed::{ClustalLists, CountingSink, identities_of};
pub use self::gathered::GatheredDistances;

/// The distances of a job, row by row.
#[derive(Debug, Clone)]
pub struct DistanceRows {
    /// The distances. K-mer distances are not supported.
    pub distances: PairDistances,
}

/// Counts of pairs: identities or edits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PairCounts {
    /// Number of the query, or of the list of ClustalW's pairs.
    pub unit: u32,
    /// Number of the first target, or its index in the list.
    pub first: u32,
    /// Counts of the first target and the following ones.
    pub counts: Vec<u32>,
}

/// State that a session keeps between blocks.
pub struct RowSession(RowSource);

enum RowSource {
    Clustal(Box<ClustalLists>),
    Identity(Box<JobWithSession<AllPairs>>),
    Edit(Box<JobWithSession<EditDistances>>),
}

/// A job with its session.
struct JobWithSession<J: Job> {
    job: J,
    session: J::Session,
}

impl DistanceRows {
    /// Creates the rows of this job.
    pub fn new(distances: PairDistances) -> Self {
        DistanceRows { distances }
    }

    /// Creates an empty collection that rows are gathered in.
    ///
    /// # Errors
    /// The errors of [`Job::validate`].
    pub fn empty_collection(&self) -> Result<GatheredDistances> {
        self.validate()?;
        GatheredDistances::new(&self.distances)
    }

    fn by_kmers() -> Error {
        Error::usage_of("kind", "k-mer distances are computed too fast to need blocks")
    }

    /// Returns a run for jobs with different kernels.
    fn without_kernel(run: &Run) -> Run {
        Run { kernel: None, ..run.clone() }
    }
}

impl Job for DistanceRows {
    type Row = PairCounts;
    type Summary = Summary;
    type Engines = ClustalEngines;
    type Session = RowSession;

    fn validate(&self) -> Result<()> {
        self.distances.validate()?;
        match self.distances.kind {
            PairDistance::Kmer => Err(Self::by_kmers()),
            _ if self.distances.given.is_some() => Err(Error::usage_of("given", "there is nothing to compute")),
            _ => Ok(()),
        }
    }

    fn whole_block(&self, session: &RowSession) -> Block {
        let units = match &session.0 {
            RowSource::Clustal(lists) => lists.len(),
            RowSource::Identity(..) | RowSource::Edit(..) => self.distances.sequences.len(),
        };
        Block { units: 0..units as u64, targets: None, pairs: 0, cells: 0 }
    }

    /// Opens a session. `start` may have engines for ClustalW's distances only.
    fn open(&self, start: SessionStart<ClustalEngines>, run: &Run) -> Result<RowSession> {
        start.check_kernel(run, Family::Clustal)?;
        self.validate()?;
        let sequences = &self.distances.sequences;
        Ok(RowSession(match self.distances.kind {
            PairDistance::Clustal => {
                RowSource::Clustal(Box::new(ClustalLists::new(&self.distances, start.engines, run)?))
            }
            PairDistance::Identity => {
                let job = distances::identity_job(sequences, self.distances.check);
                let session = job.session(&Self::without_kernel(run))?;
                RowSource::Identity(Box::new(JobWithSession { job, session }))
            }
            PairDistance::Edit => {
                let job = distances::edit_job(sequences, self.distances.check);
                let session = job.session(&Self::without_kernel(run))?;
                RowSource::Edit(Box::new(JobWithSession { job, session }))
            }
            PairDistance::Kmer => return Err(Self::by_kmers()),
        }))
    }

    fn feed(&self, feed: Feed<'_, PairCounts>, session: &mut RowSession) -> Result<Summary> {
        let mut written = 0;
        let run = &Self::without_kernel(feed.run);
        let summary = match &mut session.0 {
            RowSource::Clustal(lists) => return lists.run(&self.distances, feed),
            RowSource::Identity(inner) => {
                let counts = |row: &PairResult| (row.query, row.target, identities_of(row));
                let mut counting = CountingSink::new(counts, feed.sink, &mut written);
                inner.job.feed(Feed { source: feed.source, run, sink: &mut counting }, &mut inner.session)?
            }
            RowSource::Edit(inner) => {
                let counts = |row: &EditResult| (row.pattern, row.text(), row.distance);
                let mut counting = CountingSink::new(counts, feed.sink, &mut written);
                inner.job.feed(Feed { source: feed.source, run, sink: &mut counting }, &mut inner.session)?
            }
        };
        Ok(Summary { written, ..summary })
    }

    /// Computes the whole job in as few blocks as a cut gives. A block of ClustalW's pairs is one
    /// chunk, whose counts are kept in memory.
    fn feed_whole(&self, mut session: RowSession, run: &Run, sink: &mut dyn BlockSink<PairCounts>) -> Result<Summary> {
        let source: Arc<dyn BlockSource> = ListedBlocks::new(&self.cut(u64::MAX)?);
        self.feed(Feed { source: &source, run, sink }, &mut session)
    }
}

impl Divisible for DistanceRows {
    fn cut(&self, cells: u64) -> Result<Vec<Block>> {
        self.validate()?;
        let sequences = &self.distances.sequences;
        match self.distances.kind {
            PairDistance::Clustal => computed::cut(&clustal::plan(&self.distances)?, cells),
            PairDistance::Identity => distances::identity_job(sequences, false).cut(cells),
            PairDistance::Edit => distances::edit_job(sequences, false).cut(cells),
            PairDistance::Kmer => Err(Self::by_kmers()),
        }
    }

    fn targets(&self) -> u32 {
        match self.distances.kind {
            PairDistance::Identity | PairDistance::Edit => self.distances.sequences.len() as u32,
            PairDistance::Clustal | PairDistance::Kmer => 0,
        }
    }

    /// Estimates two bytes per count, which most counts have.
    fn part_bytes(&self, block: &Block) -> u64 {
        block.pairs.saturating_mul(2)
    }

    fn encode(row: &PairCounts, bytes: &mut Vec<u8>) {
        push(bytes, row.unit.into());
        push(bytes, row.first.into());
        push(bytes, row.counts.len() as u64);
        row.counts.iter().for_each(|&count| push(bytes, count.into()));
    }

    fn decode(bytes: &mut &[u8]) -> Option<PairCounts> {
        let (unit, first) = (take_u32(bytes)?, take_u32(bytes)?);
        // Every count has at least one byte.
        let count = usize::try_from(take(bytes)?).ok().filter(|&count| count <= bytes.len())?;
        let counts = (0..count).map(|_| take_u32(bytes)).collect::<Option<Vec<u32>>>()?;
        Some(PairCounts { unit, first, counts })
    }

    fn join(&self, rows: &mut Vec<PairCounts>) {
        rows.dedup_by(|next, row| {
            let is_next =
                row.unit == next.unit && u64::from(row.first) + row.counts.len() as u64 == u64::from(next.first);
            if is_next {
                row.counts.append(&mut next.counts);
            }
            is_next
        });
    }
}
