//! Distances of sequences, and trees built from them.

use std::sync::Arc;
use std::time::Instant;

use bstr::BString;
use serde::Serialize;

use super::super::session::SessionStart;
use super::super::{Feed, Job, Run, Summary};
use super::{ClustalEngines, PairDistance, PairDistances, cells_of, check_given, check_letters, distances};
use crate::clustal::ClustalCosts;
use crate::engine::thread_pool;
use crate::error::{Error, Result};
use crate::gpu::kernels::Family;
use crate::seq::SequenceStore;
use crate::tree::newick::NameStyle;
use crate::tree::{BuiltTree, Distances, EmbeddedTreeOptions, GuideTree, TreeMethod, TreeRun, UnrootedTree, embedded};

/// A tree of sequences, built from their distances.
#[derive(Debug, Clone)]
pub struct SequenceTree {
    /// The sequences: nucleotides or proteins.
    pub sequences: Arc<SequenceStore>,
    /// The definition of a distance.
    pub distance: PairDistance,
    /// Costs of ClustalW's distances, as in [`PairDistances::costs`].
    pub costs: Option<Arc<ClustalCosts>>,
    /// The method that builds the tree.
    pub method: TreeMethod,
    /// Whether to report the distances.
    pub needs_distances: bool,
    /// Maximum bytes of the distances and the tree; `None` selects the memory of the machine.
    pub host_memory: Option<u64>,
    /// Whether to check the distances, as in [`PairDistances::check`].
    pub check: bool,
    /// Given distances, as in [`PairDistances::given`].
    pub given: Option<Arc<Distances>>,
}

/// A tree that was built.
#[derive(Debug, Clone, Default)]
pub struct MadeTree {
    /// The rooted tree.
    pub tree: GuideTree,
    /// The tree without a root, for methods that build one.
    pub unrooted: Option<UnrootedTree>,
    /// The distances of all pairs, if requested and computed.
    pub distances: Option<Distances>,
}

/// Times of building a tree.
#[derive(Debug, Clone, Default, Serialize)]
pub struct TreeSummary {
    /// Summary of the distances.
    pub distances: Summary,
    /// Time of the tree itself in seconds.
    pub tree_seconds: f64,
}

impl MadeTree {
    /// Returns the tree as a Newick text with these leaf names in this style. It has no root if its
    /// method gives none, as in ClustalW's files.
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
    /// Creates ClustalW's tree.
    pub fn new(sequences: Arc<SequenceStore>) -> Self {
        SequenceTree {
            sequences,
            distance: PairDistance::default(),
            costs: None,
            method: TreeMethod::default(),
            needs_distances: false,
            host_memory: None,
            check: false,
            given: None,
        }
    }

    /// Returns the job that computes the distances; `None` if the tree does not need the distances
    /// of all pairs.
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

    /// Returns the number of cells of all pairs.
    pub fn cells(&self) -> u64 {
        cells_of(&self.sequences)
    }

    pub(super) fn make(
        &self,
        engines: Option<ClustalEngines>,
        pool: &Arc<rayon::ThreadPool>,
        run: &Run,
    ) -> Result<(MadeTree, TreeSummary)> {
        let Some(job) = self.pair_distances() else {
            let started = Instant::now();
            let kmers = distances::kmers(&self.sequences, pool);
            let from_one = |one: usize, others: &[usize]| match run.check_interrupt() {
                Ok(()) => kmers.from_one(one, others.iter().copied()),
                // The tree is dropped.
                Err(_) => vec![0.0; others.len()],
            };
            let tree = embedded(
                EmbeddedTreeOptions::for_sequences(self.sequences.len()),
                self.sequences.lengths(),
                from_one,
                pool,
            );
            run.check_interrupt()?;
            let summary = TreeSummary { tree_seconds: started.elapsed().as_secs_f64(), ..TreeSummary::default() };
            return Ok((MadeTree { tree, unrooted: None, distances: None }, summary));
        };
        self.method.check_memory(self.sequences.len(), self.host_memory)?;
        let (distances, took) = distances::compute(&job, engines, pool, run)?;
        let started = Instant::now();
        run.progress.step("tree", 0, 1);
        let kept = self.needs_distances.then(|| distances.clone());
        let tree_run = TreeRun { threads: pool, stopped: &|| run.check_interrupt().is_err() };
        let names: Vec<&[u8]> = (0..self.sequences.len() as u32).map(|id| self.sequences.name_bytes(id)).collect();
        let (tree, unrooted) = match self.method.build_named(distances, &names, tree_run)? {
            BuiltTree::Unrooted(unrooted) => (unrooted.rooted(pool), Some(unrooted)),
            BuiltTree::Rooted(tree) => (tree, None),
        };
        let summary = TreeSummary { distances: took, tree_seconds: started.elapsed().as_secs_f64() };
        Ok((MadeTree { tree, unrooted, distances: kept }, summary))
    }
}

impl Job for SequenceTree {
    type Row = MadeTree;
    type Summary = TreeSummary;
    type Engines = ClustalEngines;
    type Session = Option<ClustalEngines>;

    fn validate(&self) -> Result<()> {
        check_letters(&self.sequences)?;
        if self.given.is_some() && self.method == TreeMethod::Mbed {
            return Err(Error::usage_of("given", "a tree from k-mers and seeds does not use distances of all pairs"));
        }
        check_given(self.given.as_deref(), &self.sequences)
    }

    fn open(&self, start: SessionStart<ClustalEngines>, run: &Run) -> Result<Option<ClustalEngines>> {
        self.validate()?;
        start.check_kernel(run, Family::Clustal)?;
        Ok(start.engines)
    }

    /// Passes on a single tree.
    fn feed(
        &self,
        Feed { run, sink, .. }: Feed<'_, MadeTree>,
        session: &mut Option<ClustalEngines>,
    ) -> Result<TreeSummary> {
        let (tree, summary) = self.make(session.take(), &thread_pool(run.threads)?, run)?;
        sink.rows(&[tree])?;
        sink.end()?;
        Ok(summary)
    }
}
