//! Distances of all pairs in rows, and in blocks of these: each machine computes some, and they are put together.
//!
//! What is handed over are counts of symbols, of which distances follow: of a query and those after it, or of a list of
//! ClustalW's pairs ([`crate::clustal::plan`]).

mod computed;
mod gathered;

use std::sync::Arc;

use super::super::session::SessionStart;
use super::super::{AllPairs, EditDistances, EditResult, Feed, Job, PairResult, Run, Summary};
use super::{Engines, PairDistance, PairDistances, clustal, distances};
use crate::error::{Error, Result};
use crate::gpu::kernels::Family;
use crate::jobs::blocks::bytes::{push, take, take_u32};
use crate::jobs::blocks::{Block, BlockSink, BlockSource, Divisible, Listed};

use self::computed::{Counting, Lists, identities_of};
pub use self::gathered::GatheredDistances;

/// The distances of a job, row by row.
#[derive(Debug, Clone)]
pub struct DistanceRows {
    /// What they are. Those by words are not computed so.
    pub of: PairDistances,
}

/// Counts of pairs: identities, or edits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PairCounts {
    /// The query, or the list of ClustalW's pairs.
    pub unit: u32,
    /// The first of the others, or its place in the list.
    pub first: u32,
    /// Its count and those after it.
    pub counts: Vec<u32>,
}

/// What lasts from block to block.
pub struct RowSession(By);

enum By {
    Clustal(Box<Lists>),
    Identity(Box<Opened<AllPairs>>),
    Edit(Box<Opened<EditDistances>>),
}

/// A job with a session of its own.
struct Opened<J: Job> {
    job: J,
    session: J::Session,
}

impl DistanceRows {
    /// Of this job.
    pub fn new(of: PairDistances) -> Self {
        DistanceRows { of }
    }

    /// What rows are put together in.
    ///
    /// # Errors
    /// As [`Job::validate`].
    pub fn gather(&self) -> Result<GatheredDistances> {
        self.validate()?;
        GatheredDistances::new(&self.of)
    }

    fn by_words() -> Error {
        Error::usage_of("kind", "distances by words are there in a moment: they are not computed in blocks")
    }

    /// A run for jobs that have kernels of their own.
    fn run_of(run: &Run) -> Run {
        Run { kernel: None, ..run.clone() }
    }
}

impl Job for DistanceRows {
    type Row = PairCounts;
    type Summary = Summary;
    type Engines = Engines;
    type Session = RowSession;

    fn validate(&self) -> Result<()> {
        self.of.validate()?;
        match self.of.kind {
            PairDistance::Kmer => Err(Self::by_words()),
            _ if self.of.given.is_some() => Err(Error::usage_of("given", "there is nothing to compute")),
            _ => Ok(()),
        }
    }

    fn whole(&self, session: &RowSession) -> Block {
        let units = match &session.0 {
            By::Clustal(lists) => lists.len(),
            By::Identity(..) | By::Edit(..) => self.of.sequences.len(),
        };
        Block { units: 0..units as u64, targets: None, pairs: 0, cells: 0 }
    }

    /// The engines are for ClustalW's distances.
    fn open(&self, start: SessionStart<Engines>, run: &Run) -> Result<RowSession> {
        start.check_kernel(run, Family::Clustal)?;
        self.validate()?;
        let sequences = &self.of.sequences;
        Ok(RowSession(match self.of.kind {
            PairDistance::Clustal => By::Clustal(Box::new(Lists::new(&self.of, start.engines, run)?)),
            PairDistance::Identity => {
                let job = distances::identity_job(sequences, self.of.check);
                let session = job.session(&Self::run_of(run))?;
                By::Identity(Box::new(Opened { job, session }))
            }
            PairDistance::Edit => {
                let job = distances::edit_job(sequences, self.of.check);
                let session = job.session(&Self::run_of(run))?;
                By::Edit(Box::new(Opened { job, session }))
            }
            PairDistance::Kmer => return Err(Self::by_words()),
        }))
    }

    fn feed(&self, feed: Feed<'_, PairCounts>, session: &mut RowSession) -> Result<Summary> {
        let mut written = 0;
        let run = &Self::run_of(feed.run);
        let summary = match &mut session.0 {
            By::Clustal(lists) => return lists.run(&self.of, feed),
            By::Identity(own) => {
                let counts = |row: &PairResult| (row.query, row.target, identities_of(row));
                let mut counting = Counting::new(counts, feed.sink, &mut written);
                own.job.feed(Feed { source: feed.source, run, sink: &mut counting }, &mut own.session)?
            }
            By::Edit(own) => {
                let counts = |row: &EditResult| (row.pattern, row.text(), row.distance);
                let mut counting = Counting::new(counts, feed.sink, &mut written);
                own.job.feed(Feed { source: feed.source, run, sink: &mut counting }, &mut own.session)?
            }
        };
        Ok(Summary { written, ..summary })
    }

    /// A block of ClustalW's pairs is one chunk, whose counts are held: the whole job is as few blocks as a cut gives.
    fn feed_whole(&self, mut session: RowSession, run: &Run, sink: &mut dyn BlockSink<PairCounts>) -> Result<Summary> {
        let source: Arc<dyn BlockSource> = Listed::new(&self.cut(u64::MAX)?);
        self.feed(Feed { source: &source, run, sink }, &mut session)
    }
}

impl Divisible for DistanceRows {
    fn cut(&self, cells: u64) -> Result<Vec<Block>> {
        self.validate()?;
        let sequences = &self.of.sequences;
        match self.of.kind {
            PairDistance::Clustal => computed::cut(&clustal::plan(&self.of)?, cells),
            PairDistance::Identity => distances::identity_job(sequences, false).cut(cells),
            PairDistance::Edit => distances::edit_job(sequences, false).cut(cells),
            PairDistance::Kmer => Err(Self::by_words()),
        }
    }

    fn targets(&self) -> u32 {
        match self.of.kind {
            PairDistance::Identity | PairDistance::Edit => self.of.sequences.len() as u32,
            PairDistance::Clustal | PairDistance::Kmer => 0,
        }
    }

    /// Most counts have two bytes.
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
        // Every count has a byte or more.
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
