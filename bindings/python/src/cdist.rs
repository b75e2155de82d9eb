//! Matrices of distances and scores.

use std::sync::Arc;

use pairwave::jobs::Job;
use pairwave::{Against, AllPairs, EditDistances, SequenceStore};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::edit::DistanceOptions;
use crate::error::invalid;
use crate::input::{Sequences, stores};
use crate::options::Options;
use crate::run::{RunOptions, run};
use crate::scheme::{AlignedParts, SchemeOptions};
use crate::table::RowBytes;

/// Returns the distances or scores of all pairs as an integer array of shape (queries, targets).
///
/// Without targets, all queries are compared with each other, and the array is square.
///
/// metric: 'levenshtein' (default), an int32 array of edit distances; or 'score', an int64 array of
///     alignment scores. The name of a scoring scheme stands for the scores of this scheme.
///
/// Arguments of edit distances: mode, k and alphabet as for edit_distance. Distances above k are
/// k + 1, as in rapidfuzz.
///
/// Arguments of scores: mode, scheme, match, mismatch, ambiguity, matrix, gap_open, gap_extend,
/// end_gap_open, end_gap_extend, alphabet and degap as for align.
///
/// devices, threads, memory: as for --device, --threads and --memory (in bytes)
/// progress: function that is called with the computed and the total cells of the matrices
#[pyfunction]
#[pyo3(
    signature = (queries, targets=None, **options),
    text_signature = "(queries, targets=None, *, metric='levenshtein', mode='global', k=None, scheme=None, \
                      match=None, mismatch=None, ambiguity=None, matrix=None, gap_open=None, gap_extend=None, \
                      end_gap_open=None, end_gap_extend=None, alphabet=None, degap=False, devices=None, \
                      threads=None, memory=None, progress=None)"
)]
pub(crate) fn cdist<'py>(
    py: Python<'py>,
    queries: &Bound<'py, PyAny>,
    targets: Option<&Bound<'py, PyAny>>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut options = Options::new(py, "cdist", options)?;
    let sets = Sets {
        queries: Sequences::read("queries", queries)?,
        targets: targets.map(|targets| Sequences::read("targets", targets)).transpose()?,
    };
    match options.take::<String>("metric")?.as_deref() {
        None | Some("levenshtein") => distances(py, &sets, options),
        Some("score") => scores(py, &sets, options),
        Some(scheme) => {
            if options.has_any(&["scheme"])? {
                return Err(invalid(format!("metric '{scheme}' names a scheme, as does scheme: remove one of them")));
            }
            options.set("scheme", scheme)?;
            scores(py, &sets, options)
        }
    }
}

/// The sequences of a matrix.
struct Sets {
    queries: Sequences,
    /// The targets; `None` for a matrix of the queries.
    targets: Option<Sequences>,
}

/// A matrix of integers, row by row.
struct Matrix<T> {
    columns: usize,
    cells: Vec<T>,
}

impl<T: Copy> Matrix<T> {
    fn new(rows: usize, columns: usize, value: T) -> Self {
        Matrix { columns, cells: vec![value; rows * columns] }
    }

    fn set(&mut self, row: u32, column: u32, value: T) {
        self.cells[row as usize * self.columns + column as usize] = value;
    }
}

/// Returns the matrix of edit distances.
fn distances<'py>(py: Python<'py>, sets: &Sets, mut options: Options<'py>) -> PyResult<Bound<'py, PyAny>> {
    let distance = DistanceOptions::take(&mut options)?;
    let run_options = RunOptions::take(&mut options)?;
    options.end()?;
    let [queries, targets] = match &sets.targets {
        Some(targets) => distance.stores(py, [("queries", &sets.queries), ("targets", targets)])?,
        None => {
            let [queries] = distance.stores(py, [("queries", &sets.queries)])?;
            [Arc::clone(&queries), queries]
        }
    };
    let shape = (queries.len(), targets.len());
    // Global distances are symmetric, so that each pair of one set is computed once.
    let is_triangle = sets.targets.is_none() && distance.is_symmetric();
    let against = if is_triangle { Against::Later } else { Against::Texts(targets) };
    let job = EditDistances::new(queries, against, Arc::new(distance.scheme()));
    let above = distance.k().map_or(0, |k| k.saturating_add(1));
    let matrix = run(py, run_options, job.cells(), |run| {
        let mut matrix = Matrix::new(shape.0, shape.1, above);
        if is_triangle {
            (0..shape.0 as u32).for_each(|row| matrix.set(row, row, 0));
        }
        job.run(run, |rows| {
            for row in rows {
                matrix.set(row.pattern, row.text(), row.distance);
                if is_triangle {
                    matrix.set(row.text(), row.pattern, row.distance);
                }
            }
            Ok(())
        })?;
        Ok(matrix)
    })?;
    let bytes = matrix.cells.iter().flat_map(|cell| cell.to_ne_bytes()).collect();
    RowBytes::new(bytes).into_matrix(py, "i4", shape)
}

/// Returns the matrix of scores.
fn scores<'py>(py: Python<'py>, sets: &Sets, mut options: Options<'py>) -> PyResult<Bound<'py, PyAny>> {
    let scheme = SchemeOptions::take(&mut options, AlignedParts::Global)?;
    let read = options.read_options()?;
    let run_options = RunOptions::take(&mut options)?;
    options.end()?;
    let [queries, targets]: [Arc<SequenceStore>; 2] = match &sets.targets {
        Some(targets) => stores(py, [("queries", &sets.queries), ("targets", targets)], &read)?,
        None => {
            let [queries] = stores(py, [("queries", &sets.queries)], &read)?;
            [Arc::clone(&queries), queries]
        }
    };
    let shape = (queries.len(), targets.len());
    let scoring = Arc::new(scheme.scoring(py, queries.alphabet())?);
    let job = AllPairs { against: Some(targets), score_only: true, ..AllPairs::new(queries, scoring) };
    let matrix = run(py, run_options, job.cells(), |run| {
        let mut matrix = Matrix::new(shape.0, shape.1, 0_i64);
        job.run(run, |rows| {
            rows.iter().for_each(|row| matrix.set(row.query, row.target, row.score));
            Ok(())
        })?;
        Ok(matrix)
    })?;
    let bytes = matrix.cells.iter().flat_map(|cell| cell.to_ne_bytes()).collect();
    RowBytes::new(bytes).into_matrix(py, "i8", shape)
}
