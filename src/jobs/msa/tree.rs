//! Distances of sequences, and trees of these.

use std::sync::Arc;
use std::time::Instant;

use bstr::BString;
use serde::Serialize;

use super::super::session::SessionStart;
use super::super::{Feed, Job, Run, Summary};
use super::distances::{self, PairDistance};
use super::{Engines, cells_of, check_given, check_letters};
use crate::clustal::ClustalCosts;
use crate::engine::thread_pool;
use crate::error::{Error, Result};
use crate::gpu::kernels::Family;
use crate::seq::SequenceStore;
use crate::tree::newick::NameStyle;
use crate::tree::{Bed, Distances, GuideTree, UnrootedTree, average_linkage, embedded, neighbour_joining};

/// How a tree is made of distances.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub enum TreeMethod {
    /// Neighbour joining, rooted as ClustalW does it.
    #[default]
    NeighbourJoining,
    /// Means of clusters.
    Upgma,
    /// Clusters by how far sequences are from some seeds, by words: without a distance of every pair.
    Mbed,
}

/// Distances of all pairs of sequences.
#[derive(Debug, Clone)]
pub struct PairDistances {
    /// The sequences: nucleotides or proteins.
    pub sequences: Arc<SequenceStore>,
    /// What a distance is.
    pub kind: PairDistance,
    /// What ClustalW's distances are computed with; `None` for its own costs.
    pub costs: Option<Arc<ClustalCosts>>,
    /// Compute them a second time, where there is a second way, and fail if one is another.
    pub check: bool,
    /// The distances, which somebody else has computed. Then none is, here.
    pub given: Option<Arc<Distances>>,
}

impl PairDistances {
    /// ClustalW's.
    pub fn new(sequences: Arc<SequenceStore>) -> Self {
        PairDistances { sequences, kind: PairDistance::default(), costs: None, check: false, given: None }
    }

    /// Cells of all pairs.
    pub fn cells(&self) -> u64 {
        cells_of(&self.sequences)
    }
}

impl Job for PairDistances {
    type Row = Distances;
    type Summary = Summary;
    type Engines = Engines;
    type Session = Option<Engines>;

    fn validate(&self) -> Result<()> {
        check_letters(&self.sequences)?;
        check_given(self.given.as_deref(), &self.sequences)
    }

    fn open(&self, start: SessionStart<Engines>, run: &Run) -> Result<Option<Engines>> {
        self.validate()?;
        start.check_kernel(run, Family::Clustal)?;
        Ok(start.engines)
    }

    /// Hands over all distances at once.
    fn feed(&self, Feed { run, sink, .. }: Feed<'_, Distances>, session: &mut Option<Engines>) -> Result<Summary> {
        let (distances, summary) = distances::of(self, session.take(), &thread_pool(run.threads)?, run)?;
        sink.rows(&[distances])?;
        sink.end()?;
        Ok(summary)
    }
}

/// A tree of sequences, made of their distances.
#[derive(Debug, Clone)]
pub struct SequenceTree {
    /// The sequences: nucleotides or proteins.
    pub sequences: Arc<SequenceStore>,
    /// What a distance is.
    pub distance: PairDistance,
    /// As [`PairDistances::costs`].
    pub costs: Option<Arc<ClustalCosts>>,
    /// What the tree is made by.
    pub method: TreeMethod,
    /// Hand the distances over.
    pub needs_distances: bool,
    /// As [`PairDistances::check`].
    pub check: bool,
    /// As [`PairDistances::given`].
    pub given: Option<Arc<Distances>>,
}

/// A tree that was made.
#[derive(Debug, Clone, Default)]
pub struct MadeTree {
    /// With a root.
    pub tree: GuideTree,
    /// The tree that neighbour joining made, without a root.
    pub unrooted: Option<UnrootedTree>,
    /// The distances, if they were asked for and are all known.
    pub distances: Option<Distances>,
}

/// What such a job did.
#[derive(Debug, Clone, Default, Serialize)]
pub struct TreeSummary {
    /// What the distances took.
    pub distances: Summary,
    /// Seconds of the tree itself.
    pub tree_seconds: f64,
}

impl MadeTree {
    /// Returns the tree as a Newick text with these names of leaves in this style. A tree of neighbour joining has no root there, as in ClustalW's
    /// files.
    ///
    /// # Panics
    /// If there are fewer names than leaves.
    pub fn newick<S: AsRef<[u8]>>(&self, style: NameStyle, names: &[S]) -> BString {
        match &self.unrooted {
            Some(unrooted) => unrooted.dnd_in(style, names),
            None => self.tree.newick_in(style, names),
        }
    }
}

impl SequenceTree {
    /// ClustalW's.
    pub fn new(sequences: Arc<SequenceStore>) -> Self {
        SequenceTree {
            sequences,
            distance: PairDistance::default(),
            costs: None,
            method: TreeMethod::default(),
            needs_distances: false,
            check: false,
            given: None,
        }
    }

    /// The job that finds the distances; `None` if the tree is made without a distance of every pair.
    pub fn pair_distances(&self) -> Option<PairDistances> {
        let job = PairDistances {
            sequences: Arc::clone(&self.sequences),
            kind: self.distance,
            costs: self.costs.clone(),
            check: self.check,
            given: self.given.clone(),
        };
        (self.method != TreeMethod::Mbed).then_some(job)
    }

    /// Cells of all pairs.
    pub fn cells(&self) -> u64 {
        cells_of(&self.sequences)
    }

    pub(super) fn make(
        &self,
        engines: Option<Engines>,
        pool: &Arc<rayon::ThreadPool>,
        run: &Run,
    ) -> Result<(MadeTree, TreeSummary)> {
        let Some(job) = self.pair_distances() else {
            let begin = Instant::now();
            let words = distances::words(&self.sequences, pool);
            let from_one = |one: usize, others: &[usize]| words.from_one(one, others.iter().copied());
            let tree = embedded(Bed::of(self.sequences.len()), self.sequences.lengths(), from_one, pool);
            let summary = TreeSummary { tree_seconds: begin.elapsed().as_secs_f64(), ..TreeSummary::default() };
            return Ok((MadeTree { tree, unrooted: None, distances: None }, summary));
        };
        let (distances, took) = distances::of(&job, engines, pool, run)?;
        let begin = Instant::now();
        run.progress.step("tree", 0, 1);
        let kept = self.needs_distances.then(|| distances.clone());
        let (tree, unrooted) = match self.method {
            TreeMethod::NeighbourJoining => {
                let unrooted = neighbour_joining(distances, pool);
                (unrooted.rooted(pool), Some(unrooted))
            }
            TreeMethod::Upgma | TreeMethod::Mbed => (average_linkage(distances), None),
        };
        let summary = TreeSummary { distances: took, tree_seconds: begin.elapsed().as_secs_f64() };
        Ok((MadeTree { tree, unrooted, distances: kept }, summary))
    }
}

impl Job for SequenceTree {
    type Row = MadeTree;
    type Summary = TreeSummary;
    type Engines = Engines;
    type Session = Option<Engines>;

    fn validate(&self) -> Result<()> {
        check_letters(&self.sequences)?;
        if self.given.is_some() && self.method == TreeMethod::Mbed {
            return Err(Error::usage_of("given", "a tree by words and seeds has no use for distances of all pairs"));
        }
        check_given(self.given.as_deref(), &self.sequences)
    }

    fn open(&self, start: SessionStart<Engines>, run: &Run) -> Result<Option<Engines>> {
        self.validate()?;
        start.check_kernel(run, Family::Clustal)?;
        Ok(start.engines)
    }

    /// Hands over one tree.
    fn feed(&self, Feed { run, sink, .. }: Feed<'_, MadeTree>, session: &mut Option<Engines>) -> Result<TreeSummary> {
        let (tree, summary) = self.make(session.take(), &thread_pool(run.threads)?, run)?;
        sink.rows(&[tree])?;
        sink.end()?;
        Ok(summary)
    }
}
