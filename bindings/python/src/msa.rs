//! Multiple alignments.

use pairwave::jobs::Job;
use pairwave::jobs::msa::{MsaMode, MultiAlign};
use pairwave::profile::ProfileOptions;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::invalid;
use crate::input::{Sequences, names, stores};
use crate::options::Options;
use crate::run::{RunOptions, run};
use crate::table::RowBytes;

/// A multiple alignment.
#[pyclass(frozen, get_all, module = "pairwave")]
pub(crate) struct MultipleAlignment {
    /// Names of the sequences.
    names: Vec<String>,
    /// Rows of letters in upper case, with T for U, and - for gaps; in the order of the input.
    rows: Vec<String>,
    /// Indices of the sequences in the order of the guide tree.
    order: Vec<u32>,
    /// Array of bytes of shape (sequences, columns).
    matrix: Py<PyAny>,
    /// Array with the confidence of each column from 0 to 1; None unless it was requested.
    confidence: Option<Py<PyAny>>,
}

#[pymethods]
impl MultipleAlignment {
    fn __len__(&self) -> usize {
        self.rows.len()
    }

    fn __repr__(&self) -> String {
        let columns = self.rows.first().map_or(0, String::len);
        format!("<pairwave.MultipleAlignment of {} sequences in {columns} columns>", self.rows.len())
    }
}

/// Aligns all sequences with each other, and returns a MultipleAlignment.
///
/// sequences: at least two nucleotide or protein sequences
/// mode: 'accurate' (default: by the probabilities that residues are aligned) or 'clustalw'
/// confidence: whether to compute the confidence of columns
/// host_memory: most bytes of the largest tables
/// alphabet, degap, devices, threads, memory: as for align
/// progress: function that is called with the computed and the total cells of the pairs
#[pyfunction]
#[pyo3(
    signature = (sequences, **options),
    text_signature = "(sequences, *, mode='accurate', confidence=False, host_memory=None, alphabet=None, degap=False, \
                      devices=None, threads=None, memory=None, progress=None)"
)]
pub(crate) fn msa(
    py: Python<'_>,
    sequences: &Bound<'_, PyAny>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<MultipleAlignment> {
    let mut options = Options::new(py, "msa", options)?;
    let is_clustal = options.word("mode", &[("accurate", false), ("clustalw", true)])?.unwrap_or(false);
    let (read, needs_confidence) = (options.read_options()?, options.flag("confidence")?);
    let host_memory = options.take("host_memory")?;
    let run_options = RunOptions::take(&mut options)?;
    options.end()?;
    let sequences = Sequences::read("sequences", sequences)?;
    let [store] = stores(py, [("sequences", &sequences)], &read)?;
    let mode = if is_clustal { MsaMode::Clustal(ProfileOptions::new(store.alphabet())) } else { MsaMode::default() };
    let job = MultiAlign { mode, needs_confidence, host_memory, ..MultiAlign::new(store.clone()) };
    let result = run(py, run_options, job.cells(), |run| {
        let mut result = None;
        job.run(run, |aligned| {
            result = aligned.first().cloned();
            Ok(())
        })?;
        Ok(result)
    })?;
    let Some(result) = result else { return Err(invalid("there is no alignment")) };
    let (alignment, columns) = (&result.alignment, result.alignment.columns());
    let texts: Vec<Vec<u8>> =
        (0..store.len()).map(|row| alignment.text(row, store.letters(row as u32).as_bytes(), b'-')).collect();
    let matrix = RowBytes::new(texts.concat()).into_matrix(py, "u1", (store.len(), columns))?;
    let confidence = result.confidence.as_ref().map(|confidence| {
        let mut bytes = RowBytes::default();
        confidence.columns().iter().for_each(|column| {
            bytes.push(column.to_ne_bytes());
        });
        bytes.into_vector(py, "f4").map(Bound::unbind)
    });
    Ok(MultipleAlignment {
        names: names(&store),
        rows: texts.into_iter().map(|text| String::from_utf8_lossy(&text).into_owned()).collect(),
        order: result.order,
        matrix: matrix.unbind(),
        confidence: confidence.transpose()?,
    })
}
