//! Python module `pairwave`: the jobs of the library as functions, with NumPy arrays as results.
//!
//! [`options`] takes the keyword arguments of a call, [`input`] encodes sequences, [`run`] computes a
//! job while Python handles signals, and [`table`] creates arrays. The other files have one group of
//! functions each. The signatures with types are in `python/pairwave/__init__.pyi`.

mod alignment;
mod allpairs;
mod cdist;
mod cluster;
mod edit;
mod error;
mod input;
mod long;
mod msa;
mod options;
mod pairs;
mod program;
mod run;
mod scheme;
mod search;
mod table;

use pyo3::prelude::*;

/// Extension module, whose contents the package `pairwave` exports.
#[pymodule(name = "_pairwave")]
fn extension(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("Error", error::class(module.py())?)?;
    module.add_class::<input::File>()?;
    module.add_class::<alignment::Alignment>()?;
    module.add_class::<alignment::Alignments>()?;
    module.add_class::<cluster::Clustering>()?;
    module.add_class::<msa::MultipleAlignment>()?;
    module.add_function(wrap_pyfunction!(pairs::align, module)?)?;
    module.add_function(wrap_pyfunction!(allpairs::allpairs, module)?)?;
    module.add_function(wrap_pyfunction!(cluster::cluster, module)?)?;
    module.add_function(wrap_pyfunction!(long::long, module)?)?;
    module.add_function(wrap_pyfunction!(msa::msa, module)?)?;
    module.add_function(wrap_pyfunction!(search::search, module)?)?;
    module.add_function(wrap_pyfunction!(edit::edit_distance, module)?)?;
    module.add_function(wrap_pyfunction!(cdist::cdist, module)?)?;
    module.add_function(wrap_pyfunction!(program::main, module)?)?;
    Ok(())
}
