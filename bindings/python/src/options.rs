//! Keyword arguments that several functions have in common.

use pairwave::jobs::Strands;
use pairwave::score::{CoverageFilter, IdentityDefinition};
use pairwave::seq::AlphabetChoice;
use pairwave::{Alphabet, ReadOptions};
use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::invalid;

/// Keyword arguments of a call. Each group takes its arguments, and [`Options::end`] refuses the
/// rest.
pub(crate) struct Options<'py> {
    function: &'static str,
    rest: Bound<'py, PyDict>,
}

impl<'py> Options<'py> {
    /// Creates the arguments of a call of `function`.
    pub(crate) fn new(py: Python<'py>, function: &'static str, given: Option<&Bound<'py, PyDict>>) -> PyResult<Self> {
        let rest = given.map_or_else(|| Ok(PyDict::new(py)), |given| given.copy())?;
        Ok(Options { function, rest })
    }

    /// Removes an argument. Returns `None` if it is missing or None.
    pub(crate) fn take<T: FromPyObjectOwned<'py>>(&mut self, name: &str) -> PyResult<Option<T>> {
        let Some(value) = self.rest.get_item(name)? else { return Ok(None) };
        self.rest.del_item(name)?;
        if value.is_none() {
            return Ok(None);
        }
        let wrong = |error: T::Error| {
            let error: PyErr = error.into();
            PyTypeError::new_err(format!("{}() got a wrong {name}: {}", self.function, error.value(value.py())))
        };
        value.extract().map(Some).map_err(wrong)
    }

    /// Returns whether one of these arguments was given.
    pub(crate) fn has_any(&self, names: &[&str]) -> PyResult<bool> {
        names.iter().try_fold(false, |has_any, name| Ok(has_any || self.rest.contains(name)?))
    }

    /// Sets an argument that another one implies.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> PyResult<()> {
        self.rest.set_item(name, value)
    }

    /// Removes a flag, which is false if it is missing.
    pub(crate) fn flag(&mut self, name: &str) -> PyResult<bool> {
        Ok(self.take(name)?.unwrap_or(false))
    }

    /// Removes an argument that accepts only these words.
    pub(crate) fn word<T: Copy>(&mut self, name: &str, words: &[(&str, T)]) -> PyResult<Option<T>> {
        let Some(given) = self.take::<String>(name)? else { return Ok(None) };
        match words.iter().find(|(word, _)| *word == given) {
            Some(&(_, value)) => Ok(Some(value)),
            None => {
                let list: Vec<String> = words.iter().map(|(word, _)| format!("'{word}'")).collect();
                Err(invalid(format!("{name} '{given}': it must be {}", list.join(", "))))
            }
        }
    }

    /// Removes a number that must be at least 1.
    pub(crate) fn positive(&mut self, name: &str) -> PyResult<Option<usize>> {
        match self.take(name)? {
            Some(0) => Err(invalid(format!("{name} 0: it must be at least 1"))),
            number => Ok(number),
        }
    }

    /// Removes `alphabet` and `degap`.
    pub(crate) fn read_options(&mut self) -> PyResult<ReadOptions> {
        let words = [("dna", Alphabet::Dna), ("protein", Alphabet::Protein)];
        let alphabet = self.word("alphabet", &words)?.map_or(AlphabetChoice::Detect, AlphabetChoice::Fixed);
        Ok(ReadOptions { alphabet, degap: self.flag("degap")?, ..ReadOptions::default() })
    }

    /// Removes `strand`.
    pub(crate) fn strand(&mut self) -> PyResult<Option<Strands>> {
        self.word("strand", &[("plus", Strands::Plus), ("minus", Strands::Minus), ("both", Strands::Both)])
    }

    /// Removes `iddef`.
    pub(crate) fn identity(&mut self) -> PyResult<IdentityDefinition> {
        let Some(number) = self.take("iddef")? else { return Ok(IdentityDefinition::default()) };
        IdentityDefinition::from_number(number)
            .ok_or_else(|| invalid(format!("iddef {number}: it must be from 0 to 4")))
    }

    /// Removes the minimum coverages.
    pub(crate) fn coverage(&mut self) -> PyResult<CoverageFilter> {
        let (query, target, both) = (self.take("query_cov")?, self.take("target_cov")?, self.take("min_cov")?);
        Ok(CoverageFilter { query, target, both, ..CoverageFilter::default() })
    }

    /// Refuses arguments that no group has taken.
    pub(crate) fn end(self) -> PyResult<()> {
        match self.rest.keys().iter().next() {
            None => Ok(()),
            Some(name) => {
                let function = self.function;
                Err(PyTypeError::new_err(format!("{function}() got an unexpected keyword argument '{name}'")))
            }
        }
    }
}
