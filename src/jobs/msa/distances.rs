//! Computes the distances of all pairs of sequences. Each kind of distance has its own job.

use std::sync::Arc;
use std::time::Instant;

use super::super::session::SessionStart;
use super::super::{AllPairs, EditDistances, EditFilter, Feed, Job, Run, Summary};
use super::{ClustalEngines, PairDistance, PairDistances, check_given, check_letters, clustal};
use crate::edit::plan::Against;
use crate::engine::thread_pool;
use crate::error::Result;
use crate::gpu::kernels::Family;
use crate::score::{AlignmentCounts, Ambiguity, EditMode, EditScheme, Equality, IdentityDefinition, Limit, Scoring};
use crate::seq::{Alphabet, Code, SequenceStore};
use crate::tree::{Distances, Kmers};

impl Job for PairDistances {
    type Row = Distances;
    type Summary = Summary;
    type Engines = ClustalEngines;
    type Session = Option<ClustalEngines>;

    fn validate(&self) -> Result<()> {
        check_letters(&self.sequences)?;
        check_given(self.given.as_deref(), &self.sequences)
    }

    fn open(&self, start: SessionStart<ClustalEngines>, run: &Run) -> Result<Option<ClustalEngines>> {
        self.validate()?;
        start.check_kernel(run, Family::Clustal)?;
        Ok(start.engines)
    }

    /// Passes on all distances at once.
    fn feed(
        &self,
        Feed { run, sink, .. }: Feed<'_, Distances>,
        session: &mut Option<ClustalEngines>,
    ) -> Result<Summary> {
        let (distances, summary) = compute(self, session.take(), &thread_pool(run.threads)?, run)?;
        sink.rows(&[distances])?;
        sink.end()?;
        Ok(summary)
    }
}

/// Computes the distances of a job on these engines, or on the engines that the run selects.
pub(super) fn compute(
    job: &PairDistances,
    engines: Option<ClustalEngines>,
    pool: &Arc<rayon::ThreadPool>,
    run: &Run,
) -> Result<(Distances, Summary)> {
    let sequences = &job.sequences;
    if let Some(given) = &job.given {
        let pairs = given.pairs();
        return Ok((Distances::clone(given), Summary { pairs, written: pairs, ..Summary::default() }));
    }
    match job.kind {
        PairDistance::Clustal => clustal::distances(job, engines, pool, run),
        PairDistance::Identity => by_identity(sequences, run, job.check),
        PairDistance::Edit => by_edits(sequences, run, job.check),
        PairDistance::Kmer => by_kmers(sequences, pool, run),
    }
}

/// Computes the distances of all pairs from their shared k-mers.
fn by_kmers(sequences: &SequenceStore, pool: &rayon::ThreadPool, run: &Run) -> Result<(Distances, Summary)> {
    let started = Instant::now();
    let kmers = kmers(sequences, pool);
    let distances = Distances::filled(sequences.len(), pool, |one, row| {
        if run.check_interrupt().is_ok() {
            row.copy_from_slice(&kmers.from_one(one, 0..one));
        }
    });
    run.check_interrupt()?;
    let (pairs, seconds) = (distances.pairs(), started.elapsed().as_secs_f64());
    Ok((distances, Summary { pairs, written: pairs, seconds, ..Summary::default() }))
}

/// Returns the k-mers of sequences.
pub(super) fn kmers(sequences: &SequenceStore, pool: &rayon::ThreadPool) -> Kmers {
    let codes: Vec<&[Code]> = (0..sequences.len() as u32).map(|id| sequences.codes(id)).collect();
    Kmers::new(sequences.alphabet(), &codes, pool)
}

/// Returns the job whose alignments define the identities of [`PairDistance::Identity`].
pub(super) fn identity_job(sequences: &Arc<SequenceStore>, check: bool) -> AllPairs {
    let scoring = match sequences.alphabet() {
        Alphabet::Dna => Scoring::dna(),
        Alphabet::Protein | Alphabet::Bytes => Scoring::protein(),
    };
    AllPairs {
        definition: IdentityDefinition::Shorter,
        edit_filter: EditFilter::Off,
        check,
        ..AllPairs::new(Arc::clone(sequences), Arc::new(scoring))
    }
}

/// Returns the distance of sequences with these lengths and number of identities.
pub(super) fn distance_from_identities(identities: u32, [a, b]: [u32; 2]) -> f64 {
    let counts = AlignmentCounts { matches: identities.into(), ..AlignmentCounts::default() };
    1.0 - IdentityDefinition::Shorter.identity(&counts, a, b)
}

/// Computes the distances of all pairs from the identities of their global alignments.
fn by_identity(sequences: &Arc<SequenceStore>, run: &Run, check: bool) -> Result<(Distances, Summary)> {
    let job = identity_job(sequences, check);
    let mut distances = Distances::new(sequences.len());
    let summary = job.run(&Run { kernel: None, ..run.clone() }, |pairs| {
        for pair in pairs {
            distances.set(pair.query as usize, pair.target as usize, 1.0 - pair.identity);
        }
        Ok(())
    })?;
    Ok((distances, summary))
}

/// Returns the job that computes the edits of [`PairDistance::Edit`].
pub(super) fn edit_job(sequences: &Arc<SequenceStore>, check: bool) -> EditDistances {
    let equality = match sequences.alphabet() {
        Alphabet::Dna => Equality::dna(Ambiguity::Overlap, true),
        alphabet => Equality::literal(alphabet),
    };
    let scheme = EditScheme { mode: EditMode::Global, equality, limit: Limit::None };
    EditDistances { check, ..EditDistances::new(Arc::clone(sequences), Against::Later, Arc::new(scheme)) }
}

/// Returns the distance of sequences with these lengths and edit distance.
pub(super) fn distance_from_edits(edits: u32, [a, b]: [u32; 2]) -> f64 {
    f64::from(edits) / f64::from(a.max(b).max(1))
}

/// Computes the distances of all pairs from their Levenshtein distances.
fn by_edits(sequences: &Arc<SequenceStore>, run: &Run, check: bool) -> Result<(Distances, Summary)> {
    let job = edit_job(sequences, check);
    let mut distances = Distances::new(sequences.len());
    let summary = job.run(&Run { kernel: None, ..run.clone() }, |pairs| {
        for pair in pairs {
            let (a, b) = (pair.pattern, pair.text());
            let lengths = [a, b].map(|id| sequences.length(id));
            distances.set(a as usize, b as usize, distance_from_edits(pair.distance, lengths));
        }
        Ok(())
    })?;
    Ok((distances, summary))
}
