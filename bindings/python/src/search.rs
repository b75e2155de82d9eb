//! Searches of queries in a database.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use pairwave::jobs::{Search, SearchHit};
use pairwave::seq::{AlphabetChoice, Qualities, Subjects, read_queries};
use pairwave::{Job, ReadOptions, Result, SequenceStore};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::alignment::{AlignedPair, Alignments, PairTable, parts};
use crate::error::exception;
use crate::input::{Sequences, names, stores};
use crate::options::Options;
use crate::run::{RunOptions, run};
use crate::scheme::{AlignedParts, SchemeOptions};
use crate::table::Field;

/// Additional fields of a hit.
const HIT_FIELDS: [Field; 3] = [("record", "u8"), ("bits", "f8"), ("evalue", "f8")];

/// Finds the best hits of each query in a database, and returns Alignments.
///
/// Rows are ordered by query, then by falling score. They have three more fields: record, the index of
/// the target in the database; bits; and evalue. Both are nan if no statistics are known for the scores.
/// The field target is an index into targets, which has the names of the hits.
///
/// database: a list of sequences, a file of sequences, or a file that `pairwave makedb` has written
/// evalue: greatest E-value (default: 10 for local alignments with statistics)
/// max_hits: greatest number of targets with rows for each query
/// max_hsps: greatest number of local alignments of a query with a target
/// query_cover: least fraction of the query that a hit spans
/// min_identity, min_score, query_cov, target_cov, min_cov, top_hits_only: as for allpairs
/// mode: 'local' (default), 'global' or 'semi-global'
/// strand: 'both' (default for nucleotides), 'plus' or 'minus'
/// queries, scheme, match, mismatch, ambiguity, matrix, gap_open, gap_extend, end_gap_open,
/// end_gap_extend, alphabet, degap, iddef, score_only, devices, threads, memory, progress: as for align
#[pyfunction]
#[pyo3(
    signature = (queries, database, **options),
    text_signature = "(queries, database, *, evalue=None, max_hits=500, max_hsps=1, query_cover=None, \
                      min_identity=None, min_score=None, query_cov=None, target_cov=None, min_cov=None, \
                      top_hits_only=False, mode='local', scheme=None, match=None, mismatch=None, ambiguity=None, \
                      matrix=None, gap_open=None, gap_extend=None, end_gap_open=None, end_gap_extend=None, \
                      alphabet=None, degap=False, strand=None, iddef=2, score_only=False, devices=None, \
                      threads=None, memory=None, progress=None)"
)]
pub(crate) fn search(
    py: Python<'_>,
    queries: &Bound<'_, PyAny>,
    database: &Bound<'_, PyAny>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Alignments> {
    let mut options = Options::new(py, "search", options)?;
    let scheme = SchemeOptions::take(&mut options, AlignedParts::Local)?;
    let (read, strand, definition) = (options.read_options()?, options.strand()?, options.identity()?);
    let (evalue, query_cover) = (options.take("evalue")?, options.take("query_cover")?);
    let (min_identity, min_score) = (options.take("min_identity")?, options.take("min_score")?);
    let (max_hits, max_hsps) = (options.positive("max_hits")?, options.positive("max_hsps")?);
    let (coverage, top_hits_only) = (options.coverage()?, options.flag("top_hits_only")?);
    let score_only = options.flag("score_only")?;
    let run_options = RunOptions::take(&mut options)?;
    options.end()?;
    let queries = Sequences::read("queries", queries)?;
    let database = Sequences::read("database", database)?;
    let (queries, subjects) = open(py, queries, database, &read)?;
    let scoring = Arc::new(scheme.scoring(py, subjects.alphabet())?);
    let usual = Search::new(Arc::clone(&queries), subjects, scoring);
    let job = Search {
        strand: strand.unwrap_or(usual.strand),
        definition,
        max_evalue: evalue.or(usual.max_evalue),
        min_score,
        min_identity,
        min_query_cover: query_cover,
        coverage,
        max_hits: max_hits.unwrap_or(usual.max_hits),
        max_hsps: max_hsps.unwrap_or(usual.max_hsps),
        top_hits_only,
        score_only,
        ..usual
    };
    let hits = run(py, run_options, job.cells(), |run| {
        let mut hits = HitTable { table: PairTable::new(score_only), indices: HashMap::new(), names: Vec::new() };
        job.run(run, |rows| {
            rows.iter().for_each(|hit| hits.push(hit, queries.length(hit.query)));
            Ok(())
        })?;
        Ok(hits)
    })?;
    hits.table.finish(py, names(&queries), hits.names, &HIT_FIELDS)
}

/// Hits with the names of their targets.
struct HitTable {
    table: PairTable,
    /// Index in `names` of each record of the database that has hits.
    indices: HashMap<u64, u32>,
    names: Vec<String>,
}

impl HitTable {
    fn push(&mut self, hit: &SearchHit, query_symbols: u32) {
        let next = self.names.len() as u32;
        let target = *self.indices.entry(hit.record).or_insert(next);
        if target == next {
            self.names.push(hit.subjects.name(hit.subject).to_owned());
        }
        let [query_part, target_part] = parts(hit.alignment.as_ref(), hit.strand, query_symbols);
        let row = self.table.push(AlignedPair {
            query: hit.query,
            target,
            strand: hit.strand,
            score: hit.score,
            identity: hit.identity,
            query_part,
            target_part,
            counts: hit.counts,
            cigar: hit.alignment.as_ref().map(|alignment| &alignment.cigar),
        });
        let (bits, evalue) = hit.significance.map_or((f64::NAN, f64::NAN), |known| (known.bits, known.evalue));
        row.push(hit.record.to_ne_bytes()).push(bits.to_ne_bytes()).push(evalue.to_ne_bytes());
    }
}

/// Reads queries and database. A database file determines the alphabet.
fn open(
    py: Python<'_>,
    queries: Sequences,
    database: Sequences,
    read: &ReadOptions,
) -> PyResult<(Arc<SequenceStore>, Arc<Subjects>)> {
    let Sequences::File(path) = database else {
        let [queries, targets] = stores(py, [("queries", &queries), ("database", &database)], read)?;
        return Ok((queries, Arc::new(Subjects::from_store(SequenceStore::clone(&targets)))));
    };
    let subjects = py.detach(|| Subjects::open(&path, read)).map_err(|error| exception(py, error))?;
    let fixed = ReadOptions { alphabet: AlphabetChoice::Fixed(subjects.alphabet()), ..read.clone() };
    let queries = match &queries {
        Sequences::File(path) => {
            let read = || -> Result<SequenceStore> { read_file(path, &subjects, read) };
            Arc::new(py.detach(read).map_err(|error| exception(py, error))?)
        }
        Sequences::Records(_) => {
            let [queries] = stores(py, [("queries", &queries)], &fixed)?;
            queries
        }
    };
    Ok((queries, Arc::new(subjects)))
}

fn read_file(path: &PathBuf, subjects: &Subjects, read: &ReadOptions) -> Result<SequenceStore> {
    read_queries(path, subjects.alphabet(), read, Qualities::Skip)
}
