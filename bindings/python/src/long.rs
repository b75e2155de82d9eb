//! Alignments of very long sequences.

use std::sync::Arc;

use pairwave::jobs::long::{LongRecordHit, LongRecordPairs, LongWant, TopPer};
use pairwave::score::{DatabaseStatistics, IdentityDefinition};
use pairwave::{Job, LongAlignment, SequenceStore};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::alignment::{AlignedPair, Alignments, PairTable};
use crate::error::exception;
use crate::input::{Letters, Sequences, names, stores};
use crate::options::Options;
use crate::run::{RunOptions, run};
use crate::scheme::{AlignedParts, SchemeOptions};
use crate::table::Field;

/// Additional fields of an alignment.
const SIGNIFICANCE_FIELDS: [Field; 2] = [("bits", "f8"), ("evalue", "f8")];

/// Aligns very long sequences, such as genomes, in linear memory, and returns Alignments.
///
/// Every query is aligned with every target. Rows are ordered by query, then by target, the best
/// alignment of a pair first. They have two more fields, bits and evalue, with the targets as the
/// database. Both are nan if no statistics are known for the scores.
///
/// query, target: each one sequence, or a file or list of sequences
/// mode: 'local' (default), 'global' or 'semi-global'
/// top: greatest number of local alignments in a list (default: 1)
/// top_per: each pair ('pair', default), each query ('query') or the whole job ('all') has one list
/// min_score: least score of a local alignment (default: 1)
/// evalue: greatest E-value of a local alignment (default: no limit)
/// host_memory: most bytes of intermediate results in memory; further ones go to temporary files
/// score_only: whether to compute scores only; positions are then unknown and 0
/// scheme, match, mismatch, ambiguity, matrix, gap_open, gap_extend, end_gap_open, end_gap_extend,
/// alphabet, degap, strand, iddef, devices, threads, memory, progress: as for align
#[pyfunction]
#[pyo3(
    signature = (query, target, **options),
    text_signature = "(query, target, *, mode='local', top=1, top_per='pair', min_score=1, evalue=None, \
                      host_memory=None, score_only=False, scheme=None, match=None, mismatch=None, ambiguity=None, \
                      matrix=None, gap_open=None, gap_extend=None, end_gap_open=None, end_gap_extend=None, \
                      alphabet=None, degap=False, strand='plus', iddef=2, devices=None, threads=None, memory=None, \
                      progress=None)"
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
    let lists = [("pair", TopPer::Pair), ("query", TopPer::Query), ("all", TopPer::All)];
    let (top, top_per) = (options.take("top")?, options.word("top_per", &lists)?.unwrap_or_default());
    let (min_score, evalue) = (options.take("min_score")?, options.take("evalue")?);
    let (host_memory, score_only) = (options.take("host_memory")?, options.flag("score_only")?);
    let run_options = RunOptions::take(&mut options)?;
    options.end()?;
    let (query, target) = (set("query", query)?, set("target", target)?);
    let [query, target] = stores(py, [("query", &query), ("target", &target)], &read)?;
    let scoring = Arc::new(scheme.scoring(py, query.alphabet())?);
    let usual = LongAlignment::new(Arc::clone(&query), 0, Arc::clone(&target), 0, scoring);
    let settings = LongAlignment {
        want: if score_only { LongWant::Score } else { LongWant::Alignment },
        strand: strand.unwrap_or_default(),
        top: top.unwrap_or(usual.top),
        min_score: min_score.unwrap_or(usual.min_score),
        host_memory,
        ..usual
    };
    let [queries, targets] = [&query, &target].map(|set| (0..set.len() as u32).collect());
    let mut job = LongRecordPairs { settings, queries, targets, top_per, max_evalue: None };
    if let Some(evalue) = evalue {
        job = job.with_max_evalue(evalue).map_err(|error| exception(py, error))?;
    }
    let rows = LongRows { query: &query, target: &target, definition, significance: job.statistics() };
    let table = run(py, run_options, job.cells(), |run| {
        let mut table = PairTable::new(score_only);
        job.run(run, |hits| {
            hits.iter().for_each(|hit| rows.push(hit, &mut table));
            Ok(())
        })?;
        Ok(table)
    })?;
    table.finish(py, names(&query), names(&target), &SIGNIFICANCE_FIELDS)
}

/// Reads an argument that is one sequence or a set.
fn set(argument: &str, object: &Bound<'_, PyAny>) -> PyResult<Sequences> {
    match Letters::read(object)? {
        Some(letters) => Ok(Sequences::of_one(letters)),
        None => Sequences::read(argument, object),
    }
}

/// Data that rows are computed from, in addition to alignments.
struct LongRows<'a> {
    query: &'a SequenceStore,
    target: &'a SequenceStore,
    definition: IdentityDefinition,
    significance: Option<DatabaseStatistics>,
}

impl LongRows<'_> {
    fn push(&self, row: &LongRecordHit, table: &mut PairTable) {
        let LongRecordHit { query, target, hit } = row;
        let (m, n) = (self.query.length(*query), self.target.length(*target));
        let counts = hit.cigar.as_ref().map(|cigar| cigar.counts()).unwrap_or_default();
        let part =
            |range: &Option<std::ops::Range<u32>>| range.as_ref().map_or((0, 0), |range| (range.start, range.end));
        let known = self.significance.map(|significance| significance.significance(hit.score, m, n));
        let (bits, evalue) = known.map_or((f64::NAN, f64::NAN), |known| (known.bits, known.evalue));
        let pair = AlignedPair {
            query: *query,
            target: *target,
            strand: hit.strand,
            score: hit.score,
            identity: self.definition.identity(&counts, m, n),
            query_part: part(&hit.query),
            target_part: part(&hit.target),
            counts,
            cigar: hit.cigar.as_ref(),
        };
        table.push(pair).push(bits.to_ne_bytes()).push(evalue.to_ne_bytes());
    }
}
