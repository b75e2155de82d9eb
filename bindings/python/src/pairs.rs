//! Alignments of listed pairs.

use std::sync::Arc;

use pairwave::Job;
use pairwave::jobs::{PairList, PairSource};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::alignment::{AlignedPair, Alignment, PairTable};
use crate::error::exception;
use crate::input::{Letters, Sequences, names, stores};
use crate::options::Options;
use crate::run::{RunOptions, run};
use crate::scheme::{AlignedParts, SchemeOptions};

/// Aligns two sequences, or each query with the target at the same index of another list.
///
/// A sequence is a str or bytes. A list contains sequences, or pairs of a name and a sequence. A path
/// object or pairwave.File is a file of sequences; a plain str is always a sequence.
///
/// Returns an Alignment for two sequences, and Alignments for two lists or files.
///
/// mode: 'global' (default), 'semi-global' (end gaps are free) or 'local'
/// scheme: name of a scoring scheme, as for --scheme of the command
/// match, mismatch, ambiguity, matrix: scores of pairs of symbols
/// gap_open, gap_extend: a gap of k symbols costs gap_open + k * gap_extend
/// end_gap_open, end_gap_extend: costs of end gaps of global alignments
/// alphabet: 'dna' or 'protein' (default: detected from all letters)
/// degap: whether to remove gap signs from aligned sequences
/// strand: 'plus' (default), 'minus' or 'both' strands of the query
/// iddef: definition of identity, 0 to 4 as for --iddef
/// score_only: whether to compute scores only
/// devices, threads, memory: as for --device, --threads and --memory (in bytes)
/// progress: function that is called with the computed and the total cells of the matrices
#[pyfunction]
#[pyo3(
    signature = (query, target, **options),
    text_signature = "(query, target, *, mode='global', scheme=None, match=None, mismatch=None, ambiguity=None, \
                      matrix=None, gap_open=None, gap_extend=None, end_gap_open=None, end_gap_extend=None, \
                      alphabet=None, degap=False, strand='plus', iddef=2, score_only=False, devices=None, \
                      threads=None, memory=None, progress=None)"
)]
pub(crate) fn align<'py>(
    py: Python<'py>,
    query: &Bound<'py, PyAny>,
    target: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut options = Options::new(py, "align", options)?;
    let scheme = SchemeOptions::take(&mut options, AlignedParts::Global)?;
    let (read, strand, definition) = (options.read_options()?, options.strand()?, options.identity()?);
    let score_only = options.flag("score_only")?;
    let run_options = RunOptions::take(&mut options)?;
    options.end()?;
    let (queries, targets, is_one) = match (Letters::read(query)?, Letters::read(target)?) {
        (Some(query), Some(target)) => (Sequences::of_one(query), Sequences::of_one(target), true),
        (None, None) => (Sequences::read("query", query)?, Sequences::read("target", target)?, false),
        _ => return Err(PyTypeError::new_err("query and target must both be sequences, or both be lists or files")),
    };
    let [queries, targets] = stores(py, [("query", &queries), ("target", &targets)], &read)?;
    let source = PairSource::by_equal_index(Arc::clone(&queries), Arc::clone(&targets));
    let source = source.map_err(|error| exception(py, error))?;
    let scoring = scheme.scoring(py, queries.alphabet())?;
    let job = PairList {
        strand: strand.unwrap_or_default(),
        definition,
        score_only,
        ..PairList::new(source, Arc::new(scoring))
    };
    let cells = job.cells().map_err(|error| exception(py, error))?.unwrap_or(0);
    let (table, single) = run(py, run_options, cells, |run| {
        let (mut table, mut single) = (PairTable::new(score_only), None);
        job.run(run, |rows| {
            for row in rows {
                let pair = AlignedPair::new(&row.result, queries.length(row.result.query));
                if is_one {
                    single = Some(Alignment::from(pair));
                } else {
                    table.push(pair);
                }
            }
            Ok(())
        })?;
        Ok((table, single))
    })?;
    match single {
        Some(alignment) => Ok(Bound::new(py, alignment)?.into_any()),
        None => Ok(Bound::new(py, table.finish(py, names(&queries), names(&targets), &[])?)?.into_any()),
    }
}
