//! The command `pairwave`.

use std::ffi::OsString;

use pairwave::cli::{self, RecordingAllocator};
use pyo3::prelude::*;
use pyo3::types::PyDict;

#[global_allocator]
static ALLOCATOR: RecordingAllocator = RecordingAllocator;

/// Runs the command line program with a list of words, whose first one is the name of the program
/// (default: sys.argv). Returns the exit code. The process should end after this call, because the
/// program handles signals.
#[pyfunction]
#[pyo3(signature = (argv=None))]
pub(crate) fn main(py: Python<'_>, argv: Option<Vec<OsString>>) -> PyResult<u8> {
    let words = match argv {
        Some(words) => words,
        None => py.import("sys")?.getattr("argv")?.extract()?,
    };
    // Python writes its output later than the program.
    let flush = PyDict::new(py);
    py.run(c"import sys; sys.stdout and sys.stdout.flush(); sys.stderr and sys.stderr.flush()", Some(&flush), None)?;
    // Otherwise, the handlers of Python and of the program would both run.
    let signal = py.import("signal")?;
    let interrupt = signal.getattr("SIGINT")?;
    let python_handler = signal.getattr("default_int_handler")?;
    if signal.call_method1("getsignal", (&interrupt,))?.is(&python_handler) {
        signal.call_method1("signal", (&interrupt, signal.getattr("SIG_DFL")?))?;
    }
    Ok(py.detach(|| cli::run(words)))
}
