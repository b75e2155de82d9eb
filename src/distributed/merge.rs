//! Merges the rows of all blocks into the rows of the whole job.

use super::{Directory, JournalEvent, PartReader, PartState};
use crate::error::{Error, Result};
use crate::jobs::blocks::{Block, Divisible};

/// Statistics of a merge.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct MergeSummary {
    /// Number of blocks.
    pub blocks: usize,
    /// Number of rows, after the job has selected among the rows of blocks for the same units.
    pub rows: u64,
    /// Sum of the seconds that the blocks took.
    pub block_seconds: f64,
}

impl Directory {
    /// Checks that all blocks are done.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] with the blocks that are missing, running or damaged, and
    /// [`Error::Io`] if the system fails.
    pub fn check_done(&self) -> Result<()> {
        let states = self.states()?;
        let blocks_that = |is: fn(&PartState) -> bool| -> Vec<usize> {
            states.iter().enumerate().filter(|(_, state)| is(state)).map(|(block, _)| block).collect()
        };
        let missing = blocks_that(|state| *state == PartState::Missing);
        let damaged = blocks_that(|state| matches!(state, PartState::Damaged(_)));
        if missing.is_empty() && damaged.is_empty() {
            return Ok(());
        }
        let mut problems = Vec::new();
        if !missing.is_empty() {
            let held = self.holders().map(|(held, _)| held).unwrap_or_default();
            let now = missing.iter().filter(|block| held.iter().any(|(other, _)| other == *block)).count();
            let now = if now > 0 { format!(" ({now} of them are being computed)") } else { String::new() };
            problems.push(format!("missing: {}{now}", ranges(&missing)));
        }
        if !damaged.is_empty() {
            problems.push(format!("damaged: {}", ranges(&damaged)));
        }
        Err(Error::usage(format!(
            "{}: {} of {} blocks are not done; {}",
            self.path().display(),
            missing.len() + damaged.len(),
            self.len(),
            problems.join("; ")
        )))
    }

    /// Passes the rows of all blocks to `rows`, in order, each block once. Renames the files of
    /// damaged blocks, so that these blocks count as missing.
    ///
    /// # Errors
    /// Returns the errors of [`Directory::check_done`] and of `rows`.
    pub fn merge<J: Divisible>(&self, job: &J, rows: &mut dyn FnMut(&[J::Row]) -> Result<()>) -> Result<MergeSummary> {
        self.check_done()?;
        let mut merged = MergeSummary { blocks: self.len(), rows: 0, block_seconds: 0.0 };
        let mut unit: Vec<J::Row> = Vec::new();
        let blocks = &self.manifest().blocks;
        for (number, block) in blocks.iter().enumerate() {
            let is_part = block.targets.is_some();
            let mut part: PartReader<J> =
                self.rows(number).or_else(|error| self.set_damaged_aside::<J, _>(number, error))?;
            loop {
                let next = part.next_rows().or_else(|error| self.set_damaged_aside::<J, _>(number, error))?;
                let Some(mut some) = next else { break };
                job.resolve(&mut some)?;
                if is_part {
                    unit.extend(some);
                } else {
                    merged.rows += some.len() as u64;
                    rows(&some)?;
                }
            }
            merged.block_seconds += part.info().map_or(0.0, |info| info.seconds);
            if is_part && blocks.get(number + 1).is_none_or(|next| !is_of_unit(next, block)) {
                job.join(&mut unit);
                merged.rows += unit.len() as u64;
                rows(&unit)?;
                unit.clear();
            }
        }
        self.record_event(JournalEvent::Merged { rows: merged.rows });
        Ok(merged)
    }

    /// Checks all blocks from the first damaged one on, and renames the damaged files. The error
    /// then names all damaged blocks at once.
    fn set_damaged_aside<J: Divisible, T>(&self, first: usize, error: Error) -> Result<T> {
        if !matches!(error, Error::Input { .. }) {
            return Err(error);
        }
        let mut damaged = Vec::new();
        for block in first..self.len() {
            if let PartState::Damaged(_) = self.verify::<J>(block)? {
                damaged.push(block);
                // If renaming fails, `run` still recomputes the block when the user names its
                // number.
                let _ = self.rename_damaged(block);
            }
        }
        if damaged.len() < 2 {
            return Err(error);
        }
        Err(Error::usage(format!(
            "{}: these blocks are damaged: {}; compute them again",
            self.path().display(),
            ranges(&damaged)
        )))
    }
}

/// Checks whether a block contains further targets of the same units as `other`.
fn is_of_unit(block: &Block, other: &Block) -> bool {
    block.targets.is_some() && block.units == other.units
}

/// Formats sorted numbers as ranges such as `0-3, 7, 9-12`. Lists at most 20 ranges.
pub fn ranges(numbers: &[usize]) -> String {
    const MAX_RANGES: usize = 20;
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let named = runs.iter().take(MAX_RANGES);
    let mut words: Vec<String> =
        named.map(|(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") }).collect();
    if runs.len() > MAX_RANGES {
        words.push("...".into());
    }
    words.join(", ")
}
