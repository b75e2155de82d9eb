//! The distances of all pairs of sequences, each kind by the job that has it.

use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;

use super::super::{AllPairs, EditDistances, EditFilter, Job, Run, Summary};
use super::{Engines, PairDistances, clustal};
use crate::edit::plan::Against;
use crate::error::Result;
use crate::score::{Ambiguity, EditMode, EditScheme, Equality, IdentityDefinition, Limit, Scoring};
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
    let count = sequences.len() as u64;
    let pairs = count * count.saturating_sub(1) / 2;
    (distances, Summary { pairs, written: pairs, seconds: begin.elapsed().as_secs_f64(), ..Summary::default() })
}

/// The words of sequences.
pub(super) fn words(sequences: &SequenceStore, pool: &rayon::ThreadPool) -> Kmers {
    let codes: Vec<&[Code]> = (0..sequences.len() as u32).map(|id| sequences.codes(id)).collect();
    Kmers::new(sequences.alphabet(), &codes, pool)
}

/// Distances of the pairs of a store by the identities of their global alignments.
fn by_identity(sequences: &Arc<SequenceStore>, run: &Run, check: bool) -> Result<(Distances, Summary)> {
    let scoring = match sequences.alphabet() {
        Alphabet::Dna => Scoring::dna(),
        Alphabet::Protein | Alphabet::Bytes => Scoring::protein(),
    };
    let job = AllPairs {
        definition: IdentityDefinition::Shorter,
        edit_filter: EditFilter::Off,
        check,
        ..AllPairs::new(Arc::clone(sequences), Arc::new(scoring))
    };
    let mut distances = Distances::new(sequences.len());
    let summary = job.run(&Run { kernel: None, ..run.clone() }, |pairs| {
        for pair in pairs {
            distances.set(pair.query as usize, pair.target as usize, 1.0 - pair.identity);
        }
        Ok(())
    })?;
    Ok((distances, summary))
}

/// The same by their Levenshtein distances.
fn by_edits(sequences: &Arc<SequenceStore>, run: &Run, check: bool) -> Result<(Distances, Summary)> {
    let equality = match sequences.alphabet() {
        Alphabet::Dna => Equality::dna(Ambiguity::Overlap, true),
        alphabet => Equality::literal(alphabet),
    };
    let scheme = EditScheme { mode: EditMode::Global, equality, limit: Limit::None };
    let job = EditDistances { check, ..EditDistances::new(Arc::clone(sequences), Against::Later, Arc::new(scheme)) };
    let mut distances = Distances::new(sequences.len());
    let summary = job.run(&Run { kernel: None, ..run.clone() }, |pairs| {
        for pair in pairs {
            let (a, b) = (pair.pattern, pair.text());
            let longer = sequences.length(a).max(sequences.length(b)).max(1);
            distances.set(a as usize, b as usize, f64::from(pair.distance) / f64::from(longer));
        }
        Ok(())
    })?;
    Ok((distances, summary))
}
