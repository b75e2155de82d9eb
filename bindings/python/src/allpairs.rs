//! All pairs of one or two sets.

use std::sync::Arc;

use pairwave::{AllPairs, Job};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::alignment::{AlignedPair, Alignments, PairTable};
use crate::input::{Sequences, names, stores};
use crate::options::Options;
use crate::run::{RunOptions, run};
use crate::scheme::{AlignedParts, SchemeOptions};

/// Aligns all pairs of a set, or each query with each target, and returns Alignments.
///
/// Rows are ordered by query, then by target. Without targets, each pair occurs once, with the earlier
/// sequence as the query.
///
/// sequences, targets: lists or files
/// min_identity: least identity of a row, as a fraction; skips pairs that cannot reach it
/// min_score: least score of a row
/// query_cov, target_cov, min_cov: least coverage of the query, the target or both, as fractions
/// max_hits: greatest number of rows of a query, the most similar targets first
/// top_hits_only: whether only the most similar targets of each query have rows
/// mode, scheme, match, mismatch, ambiguity, matrix, gap_open, gap_extend, end_gap_open, end_gap_extend,
/// alphabet, degap, strand, iddef, score_only, devices, threads, memory, progress: as for align
#[pyfunction]
#[pyo3(
    signature = (sequences, targets=None, **options),
    text_signature = "(sequences, targets=None, *, min_identity=None, min_score=None, query_cov=None, \
                      target_cov=None, min_cov=None, max_hits=None, top_hits_only=False, mode='global', scheme=None, \
                      match=None, mismatch=None, ambiguity=None, matrix=None, gap_open=None, gap_extend=None, \
                      end_gap_open=None, end_gap_extend=None, alphabet=None, degap=False, strand='plus', iddef=2, \
                      score_only=False, devices=None, threads=None, memory=None, progress=None)"
)]
pub(crate) fn allpairs(
    py: Python<'_>,
    sequences: &Bound<'_, PyAny>,
    targets: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Alignments> {
    let mut options = Options::new(py, "allpairs", options)?;
    let scheme = SchemeOptions::take(&mut options, AlignedParts::Global)?;
    let (read, strand, definition) = (options.read_options()?, options.strand()?, options.identity()?);
    let (min_identity, min_score) = (options.take("min_identity")?, options.take("min_score")?);
    let (max_hits, top_hits_only) = (options.positive("max_hits")?, options.flag("top_hits_only")?);
    let (coverage, score_only) = (options.coverage()?, options.flag("score_only")?);
    let run_options = RunOptions::take(&mut options)?;
    options.end()?;
    let queries = Sequences::read("sequences", sequences)?;
    let (queries, against) = match targets {
        Some(targets) => {
            let targets = Sequences::read("targets", targets)?;
            let [queries, targets] = stores(py, [("sequences", &queries), ("targets", &targets)], &read)?;
            (queries, Some(targets))
        }
        None => {
            let [queries] = stores(py, [("sequences", &queries)], &read)?;
            (queries, None)
        }
    };
    let scoring = Arc::new(scheme.scoring(py, queries.alphabet())?);
    let job = AllPairs {
        against,
        strand: strand.unwrap_or_default(),
        definition,
        min_identity,
        coverage,
        min_score,
        score_only,
        max_hits,
        top_hits_only,
        ..AllPairs::new(Arc::clone(&queries), scoring)
    };
    let table = run(py, run_options, job.cells(), |run| {
        let mut table = PairTable::new(score_only);
        job.run(run, |rows| {
            for row in rows {
                table.push(AlignedPair::new(row, queries.length(row.query)));
            }
            Ok(())
        })?;
        Ok(table)
    })?;
    table.finish(py, names(&queries), names(job.targets()), &[])
}
