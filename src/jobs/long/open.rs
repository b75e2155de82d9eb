//! From devices to the engines of a long pair.

use crate::engine::long::LongEngine;
use crate::engine::long::textbook::Textbook;
use crate::error::Result;
use crate::jobs::RunOptions;

/// Opens engines for long pairs on the devices that a job was given, the CPU with so many threads (0 for as many as there
/// are processors).
///
/// # Errors
/// A wrong choice of devices.
pub fn open_long(_options: &RunOptions, _threads: usize) -> Result<Vec<Box<dyn LongEngine>>> {
    Ok(vec![Box::new(Textbook::default())])
}
