//! The distances of all pairs of sequences, each kind by the job that has it.

use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;

use super::super::{AllPairs, EditDistances, EditFilter, Job, Run, Summary};
use super::{Engines, PairDistances, clustal};
use crate::edit::plan::Against;
use crate::error::Result;
use crate::score::{AlignmentCounts, Ambiguity, EditMode, EditScheme, Equality, IdentityDefinition, Limit, Scoring};
use crate::seq::{Alphabet, Code, SequenceStore};
use crate::tree::{Distances, Kmers};

/// What the distance of two sequences is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub enum PairDistance {
    /// 1 - identities / length of the shorter one, in ClustalW's full pairwise alignment ([`crate::clustal`]).
    #[default]
    Clustal,
    /// The same in the best global alignment under the default scores.
    Identity,
    /// Levenshtein distance / length of the longer one.
    Edit,
    /// 1 - words that both have / words of the shorter one.
    Kmer,
}

/// The distances of a job, on these engines or those that the run asks for.
pub(super) fn of(
    job: &PairDistances,
    engines: Option<Engines>,
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
        PairDistance::Kmer => Ok(by_words(sequences, pool)),
    }
}

/// Distances of the pairs of a store by the words that both have.
fn by_words(sequences: &SequenceStore, pool: &rayon::ThreadPool) -> (Distances, Summary) {
    let begin = Instant::now();
    let distances = words(sequences, pool).distances(pool);
    let pairs = distances.pairs();
    (distances, Summary { pairs, written: pairs, seconds: begin.elapsed().as_secs_f64(), ..Summary::default() })
}

/// The words of sequences.
pub(super) fn words(sequences: &SequenceStore, pool: &rayon::ThreadPool) -> Kmers {
    let codes: Vec<&[Code]> = (0..sequences.len() as u32).map(|id| sequences.codes(id)).collect();
    Kmers::new(sequences.alphabet(), &codes, pool)
}

/// The job whose alignments have the identities of [`PairDistance::Identity`].
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

/// The distance of sequences of these lengths with so many identities.
pub(super) fn of_identities(identities: u32, [a, b]: [u32; 2]) -> f64 {
    let counts = AlignmentCounts { matches: identities.into(), ..AlignmentCounts::default() };
    1.0 - IdentityDefinition::Shorter.identity(&counts, a, b)
}

/// Distances of the pairs of a store by the identities of their global alignments.
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

/// The job that has the edits of [`PairDistance::Edit`].
pub(super) fn edit_job(sequences: &Arc<SequenceStore>, check: bool) -> EditDistances {
    let equality = match sequences.alphabet() {
        Alphabet::Dna => Equality::dna(Ambiguity::Overlap, true),
        alphabet => Equality::literal(alphabet),
    };
    let scheme = EditScheme { mode: EditMode::Global, equality, limit: Limit::None };
    EditDistances { check, ..EditDistances::new(Arc::clone(sequences), Against::Later, Arc::new(scheme)) }
}

/// The distance of sequences of these lengths that so many edits make the same.
pub(super) fn of_edits(edits: u32, [a, b]: [u32; 2]) -> f64 {
    f64::from(edits) / f64::from(a.max(b).max(1))
}

/// Distances of the pairs of a store by their Levenshtein distances.
fn by_edits(sequences: &Arc<SequenceStore>, run: &Run, check: bool) -> Result<(Distances, Summary)> {
    let job = edit_job(sequences, check);
    let mut distances = Distances::new(sequences.len());
    let summary = job.run(&Run { kernel: None, ..run.clone() }, |pairs| {
        for pair in pairs {
            let (a, b) = (pair.pattern, pair.text());
            let lengths = [a, b].map(|id| sequences.length(id));
            distances.set(a as usize, b as usize, of_edits(pair.distance, lengths));
        }
        Ok(())
    })?;
    Ok((distances, summary))
}
