//! NumPy arrays from rows of numbers.

use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict};

/// Name and NumPy type of a field of a row.
pub(crate) type Field = (&'static str, &'static str);

/// Bytes of rows without padding, in the byte order of the machine.
#[derive(Default)]
pub(crate) struct RowBytes(Vec<u8>);

impl RowBytes {
    /// Creates rows from their bytes.
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        RowBytes(bytes)
    }

    /// Adds the bytes of a number.
    pub(crate) fn push<const N: usize>(&mut self, bytes: [u8; N]) -> &mut Self {
        self.0.extend_from_slice(&bytes);
        self
    }

    /// Returns the rows as a structured array of one dimension.
    pub(crate) fn into_table<'py>(self, py: Python<'py>, fields: &[Field]) -> PyResult<Bound<'py, PyAny>> {
        let numpy = py.import("numpy")?;
        let dtype = numpy.call_method1("dtype", (fields.to_vec(),))?;
        array(&numpy, self.0, &dtype)
    }

    /// Returns numbers of one type as an array of one dimension.
    pub(crate) fn into_vector<'py>(self, py: Python<'py>, dtype: &str) -> PyResult<Bound<'py, PyAny>> {
        let numpy = py.import("numpy")?;
        let dtype = numpy.call_method1("dtype", (dtype,))?;
        array(&numpy, self.0, &dtype)
    }

    /// Returns numbers of one type as an array of this shape.
    pub(crate) fn into_matrix<'py>(
        self,
        py: Python<'py>,
        dtype: &str,
        shape: (usize, usize),
    ) -> PyResult<Bound<'py, PyAny>> {
        self.into_vector(py, dtype)?.call_method1("reshape", (shape,))
    }
}

/// Returns a writable array of these bytes.
fn array<'py>(numpy: &Bound<'py, PyModule>, bytes: Vec<u8>, dtype: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if bytes.is_empty() {
        return numpy.call_method1("empty", (0, dtype));
    }
    let arguments = PyDict::new(numpy.py());
    arguments.set_item("dtype", dtype)?;
    numpy.call_method("frombuffer", (PyByteArray::new(numpy.py(), &bytes),), Some(&arguments))
}
