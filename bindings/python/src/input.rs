//! Sequences of a call: texts, records and files.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use pairwave::seq::{SequenceSource, read_sources};
use pairwave::{ReadOptions, SequenceStore};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyString, PyTuple};

use crate::error::exception;

/// A file of sequences: FASTA or FASTQ, plain or compressed. A plain str is always a sequence, never
/// the name of a file. Any path object, such as pathlib.Path, works as well.
#[pyclass(frozen, module = "pairwave")]
pub(crate) struct File {
    path: PathBuf,
}

#[pymethods]
impl File {
    #[new]
    fn new(path: PathBuf) -> Self {
        File { path }
    }

    /// Path of the file.
    #[getter]
    fn path(&self) -> String {
        self.path.display().to_string()
    }

    fn __fspath__(&self) -> OsString {
        self.path.clone().into_os_string()
    }

    fn __repr__(&self) -> String {
        format!("pairwave.File({:?})", self.path.display().to_string())
    }
}

/// Letters of a sequence, as the caller holds them.
pub(crate) enum Letters {
    Text(PyBackedStr),
    Bytes(PyBackedBytes),
}

impl Letters {
    /// Returns the letters of a str, bytes or bytearray; `None` for other objects.
    pub(crate) fn read(object: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        if object.is_instance_of::<PyString>() {
            return Ok(Some(Letters::Text(object.extract()?)));
        }
        Ok(object.extract().ok().map(Letters::Bytes))
    }

    /// Returns the bytes of the letters. A str is encoded as UTF-8.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Letters::Text(text) => text.as_bytes(),
            Letters::Bytes(bytes) => bytes,
        }
    }
}

/// A sequence with its name.
pub(crate) struct Record {
    pub(crate) name: String,
    pub(crate) letters: Letters,
}

/// A set of sequences of a call.
pub(crate) enum Sequences {
    File(PathBuf),
    Records(Vec<Record>),
}

impl Sequences {
    /// Reads an argument: a path, or an iterable of texts and of pairs of a name and a text. Names
    /// that are not given are the indices from 0.
    pub(crate) fn read(argument: &str, object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Some(path) = path(object)? {
            return Ok(Sequences::File(path));
        }
        if Letters::read(object)?.is_some() {
            return Err(PyTypeError::new_err(format!(
                "{argument} is one sequence: use a list of sequences, or pairwave.File(path) for a file"
            )));
        }
        let items = object.try_iter()?.enumerate();
        let records = items.map(|(index, item)| record(argument, index, &item?)).collect::<PyResult<_>>()?;
        Ok(Sequences::Records(records))
    }

    /// Creates a set of one sequence.
    pub(crate) fn of_one(letters: Letters) -> Self {
        Sequences::Records(vec![Record { name: "0".into(), letters }])
    }
}

/// Returns the path that a path object stands for.
pub(crate) fn path(object: &Bound<'_, PyAny>) -> PyResult<Option<PathBuf>> {
    if !object.hasattr("__fspath__")? {
        return Ok(None);
    }
    object.extract().map(Some)
}

fn record(argument: &str, index: usize, item: &Bound<'_, PyAny>) -> PyResult<Record> {
    let wrong = || {
        let kind = item.get_type().name().map_or_else(|_| String::from("object"), |name| name.to_string());
        PyTypeError::new_err(format!(
            "{argument}[{index}] is neither a str or bytes nor a pair of a name and a sequence, but {kind}"
        ))
    };
    if let Ok(pair) = item.cast::<PyTuple>() {
        if pair.len() != 2 {
            return Err(wrong());
        }
        let name = pair.get_item(0)?;
        let name = match name.cast::<PyBytes>() {
            Ok(bytes) => String::from_utf8_lossy(bytes.as_bytes()).into_owned(),
            Err(_) => name.str()?.to_string(),
        };
        let letters = Letters::read(&pair.get_item(1)?)?.ok_or_else(wrong)?;
        return Ok(Record { name, letters });
    }
    let letters = Letters::read(item)?.ok_or_else(wrong)?;
    Ok(Record { name: index.to_string(), letters })
}

/// Encodes sets of sequences, each with the name of its argument. All get the same alphabet.
pub(crate) fn stores<const N: usize>(
    py: Python<'_>,
    sets: [(&str, &Sequences); N],
    options: &ReadOptions,
) -> PyResult<[Arc<SequenceStore>; N]> {
    let records = sets.map(|(_, sequences)| match sequences {
        Sequences::File(_) => Vec::new(),
        Sequences::Records(records) => {
            records.iter().map(|record| (record.name.as_bytes(), record.letters.bytes())).collect()
        }
    });
    let mut sources = Vec::with_capacity(N);
    for ((set, sequences), records) in sets.iter().zip(&records) {
        sources.push(match sequences {
            Sequences::File(path) => SequenceSource::File(path),
            Sequences::Records(_) => SequenceSource::Memory { set, records },
        });
    }
    let stores = py.detach(|| read_sources(&sources, options)).map_err(|error| exception(py, error))?;
    let mut stores = stores.into_iter().map(Arc::new);
    Ok(std::array::from_fn(|_| stores.next().expect("there is a store for every source")))
}

/// Returns the names of all sequences.
pub(crate) fn names(store: &SequenceStore) -> Vec<String> {
    (0..store.len() as u32).map(|id| store.name(id).to_owned()).collect()
}
