//! Errors of the library as Python exceptions.

use std::path::PathBuf;

use pairwave::InputLocation;
use pairwave::error::Usage;
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyType;

create_exception!(
    pairwave,
    Error,
    PyValueError,
    "Invalid input or option, or a file or device that cannot be used.\n\n\
     Attributes, each None if it is unknown:\n\n\
     file (str): file of the problem, or the name of the argument with the sequences\n\
     record (str): name of the record\n\
     line (int): line in the file, from 1\n\
     column (int): column in the line or in the sequence, in bytes from 1"
);

/// Arguments whose names differ from the fields of the library.
const ARGUMENTS: [(&str, &str); 16] = [
    ("match_score", "match"),
    ("mismatch_score", "mismatch"),
    ("definition", "iddef"),
    ("gaps", "gap_open and gap_extend"),
    ("gaps.first", "gap_open + gap_extend"),
    ("gaps.next", "gap_extend"),
    ("end_gaps", "end_gap_open and end_gap_extend"),
    ("end_gaps.first", "end_gap_open + end_gap_extend"),
    ("end_gaps.next", "end_gap_extend"),
    ("coverage.query", "query_cov"),
    ("coverage.target", "target_cov"),
    ("coverage.both", "min_cov"),
    ("max_evalue", "evalue"),
    ("min_query_cover", "query_cover"),
    ("subjects", "database"),
    ("scoring", "alphabet"),
];

/// Returns the exception class. Its attributes are None until an instance sets them.
pub(crate) fn class(py: Python<'_>) -> PyResult<Bound<'_, PyType>> {
    let class = py.get_type::<Error>();
    for attribute in ["file", "record", "line", "column"] {
        class.setattr(attribute, py.None())?;
    }
    Ok(class)
}

/// Returns an exception without a location.
pub(crate) fn invalid(message: impl Into<String>) -> PyErr {
    Error::new_err(message.into())
}

/// Returns the exception for an error of the library.
pub(crate) fn exception(py: Python<'_>, error: pairwave::Error) -> PyErr {
    let message = match &error {
        pairwave::Error::Interrupted => return PyKeyboardInterrupt::new_err(()),
        pairwave::Error::Usage(Usage { field, value, message }) => {
            let field = field.map(|field| argument(field).unwrap_or(field));
            Usage { field, value: value.clone(), message: in_text(message) }.to_string()
        }
        pairwave::Error::Input { location, message } => format!("{location}: {}", in_text(message)),
        other => other.to_string(),
    };
    let exception = Error::new_err(message);
    let located = match error {
        pairwave::Error::Input { location, .. } => locate(py, &exception, &location),
        pairwave::Error::Io { path, .. } => locate(py, &exception, &in_file(path)),
        _ => Ok(()),
    };
    located.err().unwrap_or(exception)
}

fn in_file(path: PathBuf) -> InputLocation {
    InputLocation::in_file(path)
}

fn locate(py: Python<'_>, exception: &PyErr, location: &InputLocation) -> PyResult<()> {
    let InputLocation { file, record, line, column } = location;
    let value = exception.value(py);
    value.setattr("file", file)?;
    value.setattr("record", record)?;
    value.setattr("line", line)?;
    value.setattr("column", column)
}

/// Returns the argument for a field of the library.
fn argument(field: &str) -> Option<&'static str> {
    ARGUMENTS.iter().find(|(name, _)| *name == field).map(|&(_, argument)| argument)
}

/// Replaces the library's field names, which stand between backquotes, with arguments.
fn in_text(text: &str) -> String {
    let parts = text.split('`').enumerate();
    parts.map(|(index, part)| if index % 2 == 1 { argument(part).unwrap_or(part) } else { part }).collect()
}
