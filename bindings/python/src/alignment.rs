//! Alignments of pairs as Python objects and as rows of tables.

use pairwave::alignment::{Alignment as PairAlignment, Cigar};
use pairwave::jobs::{PairResult, long::Strand};
use pairwave::score::AlignmentCounts;
use pyo3::prelude::*;

use crate::table::{Field, RowBytes};

/// Fields of a row of [`PairTable`].
const FIELDS: [Field; 13] = [
    ("query", "u4"),
    ("target", "u4"),
    ("strand", "i1"),
    ("score", "i8"),
    ("identity", "f8"),
    ("query_start", "u4"),
    ("query_end", "u4"),
    ("target_start", "u4"),
    ("target_end", "u4"),
    ("matches", "i8"),
    ("mismatches", "i8"),
    ("gap_columns", "i8"),
    ("gap_openings", "i8"),
];

/// A pair and its alignment, with positions on the sequences as the caller gave them.
pub(crate) struct AlignedPair<'a> {
    /// Index of the query.
    pub(crate) query: u32,
    /// Index of the target.
    pub(crate) target: u32,
    pub(crate) strand: Strand,
    pub(crate) score: i64,
    pub(crate) identity: f64,
    /// Start and end of the aligned part of the query; 0 without an alignment.
    pub(crate) query_part: (u32, u32),
    /// Start and end of the aligned part of the target; 0 without an alignment.
    pub(crate) target_part: (u32, u32),
    pub(crate) counts: AlignmentCounts,
    pub(crate) cigar: Option<&'a Cigar>,
}

impl<'a> AlignedPair<'a> {
    /// Creates the pair of a result whose query has this number of symbols.
    pub(crate) fn new(result: &'a PairResult, query_symbols: u32) -> Self {
        let &PairResult { query, target, strand, score, identity, counts, .. } = result;
        let [query_part, target_part] = parts(result.alignment.as_ref(), strand, query_symbols);
        let cigar = result.alignment.as_ref().map(|alignment| &alignment.cigar);
        AlignedPair { query, target, strand, score, identity, query_part, target_part, counts, cigar }
    }
}

/// Returns start and end of the aligned parts of query and target, given the number of symbols of
/// the query; 0 without an alignment.
pub(crate) fn parts(alignment: Option<&PairAlignment>, strand: Strand, query_symbols: u32) -> [(u32, u32); 2] {
    let part = |range: std::ops::Range<usize>| (range.start as u32, range.end as u32);
    let query_part = alignment.map_or((0, 0), |alignment| match (part(alignment.query_range()), strand) {
        (part, Strand::Plus) => part,
        ((start, end), Strand::Minus) => (query_symbols - end, query_symbols - start),
    });
    [query_part, alignment.map_or((0, 0), |alignment| part(alignment.target_range()))]
}

/// Returns 1 for the plus strand and -1 for the minus strand.
pub(crate) fn sign(strand: Strand) -> i8 {
    if strand == Strand::Plus { 1 } else { -1 }
}

/// The alignment of one pair.
#[pyclass(frozen, get_all, module = "pairwave")]
pub(crate) struct Alignment {
    /// Score of the alignment.
    score: i64,
    /// Columns of the alignment: = and X for matches and mismatches, I for a query symbol and D for
    /// a target symbol opposite a gap. None with score_only.
    cigar: Option<String>,
    /// Identity as a fraction; 0 with score_only.
    identity: f64,
    /// Aligned strand of the query: 1 or -1.
    strand: i8,
    /// Number of query symbols before the alignment.
    query_start: u32,
    /// Number of query symbols up to the end of the alignment.
    query_end: u32,
    /// Number of target symbols before the alignment.
    target_start: u32,
    /// Number of target symbols up to the end of the alignment.
    target_end: u32,
    /// Number of columns with two matching symbols.
    matches: u64,
    /// Number of columns with two symbols that do not match.
    mismatches: u64,
    /// Number of columns with a gap.
    gap_columns: u64,
    /// Number of gaps.
    gap_openings: u64,
}

impl From<AlignedPair<'_>> for Alignment {
    fn from(pair: AlignedPair<'_>) -> Self {
        let AlignmentCounts { matches, mismatches, gap_columns, gap_openings, .. } = pair.counts;
        Alignment {
            score: pair.score,
            cigar: pair.cigar.map(|cigar| cigar.to_string()),
            identity: pair.identity,
            strand: sign(pair.strand),
            query_start: pair.query_part.0,
            query_end: pair.query_part.1,
            target_start: pair.target_part.0,
            target_end: pair.target_part.1,
            matches,
            mismatches,
            gap_columns,
            gap_openings,
        }
    }
}

#[pymethods]
impl Alignment {
    fn __repr__(&self) -> String {
        let cigar = self.cigar.as_ref().map_or_else(|| "None".to_owned(), |cigar| format!("'{cigar}'"));
        format!("Alignment(score={}, identity={:.4}, cigar={cigar})", self.score, self.identity)
    }
}

/// Alignments of many pairs.
#[pyclass(frozen, get_all, module = "pairwave")]
pub(crate) struct Alignments {
    /// Structured array with one row for each pair.
    rows: Py<PyAny>,
    /// The CIGAR of each row; None with score_only.
    cigars: Option<Vec<String>>,
    /// Names of the queries.
    queries: Vec<String>,
    /// Names of the targets.
    targets: Vec<String>,
}

#[pymethods]
impl Alignments {
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.rows.bind(py).len()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<pairwave.Alignments of {} pairs>", self.__len__(py)?))
    }
}

/// Rows of a table of pairs.
pub(crate) struct PairTable {
    rows: RowBytes,
    /// The CIGAR of each row; `None` for a table of scores.
    cigars: Option<Vec<String>>,
}

impl PairTable {
    /// Creates an empty table.
    pub(crate) fn new(score_only: bool) -> Self {
        PairTable { rows: RowBytes::default(), cigars: (!score_only).then(Vec::new) }
    }

    /// Adds a pair, and returns its row for further fields.
    pub(crate) fn push(&mut self, pair: AlignedPair<'_>) -> &mut RowBytes {
        if let Some(cigars) = &mut self.cigars {
            cigars.push(pair.cigar.map(|cigar| cigar.to_string()).unwrap_or_default());
        }
        let rows = &mut self.rows;
        rows.push(pair.query.to_ne_bytes()).push(pair.target.to_ne_bytes()).push(sign(pair.strand).to_ne_bytes());
        rows.push(pair.score.to_ne_bytes()).push(pair.identity.to_ne_bytes());
        for (start, end) in [pair.query_part, pair.target_part] {
            rows.push(start.to_ne_bytes()).push(end.to_ne_bytes());
        }
        let counts = pair.counts;
        for count in [counts.matches, counts.mismatches, counts.gap_columns, counts.gap_openings] {
            rows.push(count.to_ne_bytes());
        }
        rows
    }

    /// Returns the table with the names of its sequences. `further` are the fields that the caller has
    /// added to each row.
    pub(crate) fn finish(
        self,
        py: Python<'_>,
        queries: Vec<String>,
        targets: Vec<String>,
        further: &[Field],
    ) -> PyResult<Alignments> {
        let fields = [&FIELDS[..], further].concat();
        Ok(Alignments { rows: self.rows.into_table(py, &fields)?.unbind(), cigars: self.cigars, queries, targets })
    }
}
