//! Alignments of one pair of very long sequences.

use std::sync::Arc;

use pairwave::jobs::long::{LongHit, LongWant};
use pairwave::score::IdentityDefinition;
use pairwave::{Job, LongAlignment, SequenceStore};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::alignment::{AlignedPair, Alignments, PairTable};
use crate::error::invalid;
use crate::input::{Letters, Sequences, names, stores};
use crate::options::Options;
use crate::run::{RunOptions, run};
use crate::scheme::{AlignedParts, SchemeOptions};

/// Aligns two very long sequences, such as genomes, in linear memory, and returns Alignments with the
/// best alignment first.
///
/// query, target: each one sequence, or a file or list with one sequence
/// mode: 'local' (default), 'global' or 'semi-global'
/// top: greatest number of local alignments (default: 1)
/// min_score: least score of a local alignment (default: 1)
/// host_memory: most bytes of intermediate results in memory; further ones go to temporary files
/// score_only: whether to compute scores only; positions are then unknown and 0
/// scheme, match, mismatch, ambiguity, matrix, gap_open, gap_extend, end_gap_open, end_gap_extend,
/// alphabet, degap, strand, iddef, devices, threads, memory, progress: as for align
#[pyfunction]
#[pyo3(
    signature = (query, target, **options),
    text_signature = "(query, target, *, mode='local', top=1, min_score=1, host_memory=None, score_only=False, \
                      scheme=None, match=None, mismatch=None, ambiguity=None, matrix=None, gap_open=None, \
                      gap_extend=None, end_gap_open=None, end_gap_extend=None, alphabet=None, degap=False, \
                      strand='plus', iddef=2, devices=None, threads=None, memory=None, progress=None)"
)]
pub(crate) fn long(
    py: Python<'_>,
    query: &Bound<'_, PyAny>,
    target: &Bound<'_, PyAny>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Alignments> {
    let mut options = Options::new(py, "long", options)?;
    let scheme = SchemeOptions::take(&mut options, AlignedParts::Local)?;
    let (read, strand, definition) = (options.read_options()?, options.strand()?, options.identity()?);
    let (top, min_score) = (options.take("top")?, options.take("min_score")?);
    let (host_memory, score_only) = (options.take("host_memory")?, options.flag("score_only")?);
    let run_options = RunOptions::take(&mut options)?;
    options.end()?;
    let (query, target) = (set("query", query)?, set("target", target)?);
    let [query, target] = stores(py, [("query", &query), ("target", &target)], &read)?;
    check_one("query", &query)?;
    check_one("target", &target)?;
    let scoring = Arc::new(scheme.scoring(py, query.alphabet())?);
    let usual = LongAlignment::new(Arc::clone(&query), 0, Arc::clone(&target), 0, scoring);
    let job = LongAlignment {
        want: if score_only { LongWant::Score } else { LongWant::Alignment },
        strand: strand.unwrap_or_default(),
        top: top.unwrap_or(usual.top),
        min_score: min_score.unwrap_or(usual.min_score),
        host_memory,
        ..usual
    };
    let table = run(py, run_options, job.cells(), |run| {
        let mut table = PairTable::new(score_only);
        job.run(run, |hits| {
            for hit in hits {
                table.push(pair(hit, definition, [query.length(0), target.length(0)]));
            }
            Ok(())
        })?;
        Ok(table)
    })?;
    table.finish(py, names(&query), names(&target), &[])
}

/// Reads an argument that is one sequence, or a set with one.
fn set(argument: &str, object: &Bound<'_, PyAny>) -> PyResult<Sequences> {
    match Letters::read(object)? {
        Some(letters) => Ok(Sequences::of_one(letters)),
        None => Sequences::read(argument, object),
    }
}

fn check_one(argument: &str, store: &SequenceStore) -> PyResult<()> {
    match store.len() {
        1 => Ok(()),
        count => Err(invalid(format!("{argument}: there are {count} sequences, but long() aligns one pair"))),
    }
}

/// Returns a hit as a pair. `lengths` are the numbers of symbols of query and target.
fn pair(hit: &LongHit, definition: IdentityDefinition, lengths: [u32; 2]) -> AlignedPair<'_> {
    let counts = hit.cigar.as_ref().map(|cigar| cigar.counts()).unwrap_or_default();
    let part = |range: &Option<std::ops::Range<u32>>| range.as_ref().map_or((0, 0), |range| (range.start, range.end));
    AlignedPair {
        query: 0,
        target: 0,
        strand: hit.strand,
        score: hit.score,
        identity: definition.identity(&counts, lengths[0], lengths[1]),
        query_part: part(&hit.query),
        target_part: part(&hit.target),
        counts,
        cigar: hit.cigar.as_ref(),
    }
}
