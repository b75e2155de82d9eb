//! The rows of all blocks become those of the whole job.

use super::{Directory, Event, PartState, Rows};
use crate::error::{Error, Result};
use crate::jobs::blocks::{Block, Divisible};

/// What was put together.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Merged {
    /// Blocks.
    pub blocks: usize,
    /// Rows, after what selects among those of several blocks.
    pub rows: u64,
    /// Seconds that all blocks took, summed.
    pub block_seconds: f64,
}

impl Directory {
    /// Whether all blocks are done.
    ///
    /// # Errors
    /// [`Error::Usage`] that names those that are missing, are computed now, or are damaged; [`Error::Io`].
    pub fn check_done(&self) -> Result<()> {
        let states = self.states()?;
        let of = |is: fn(&PartState) -> bool| -> Vec<usize> {
            states.iter().enumerate().filter(|(_, state)| is(state)).map(|(block, _)| block).collect()
        };
        let missing = of(|state| *state == PartState::Missing);
        let damaged = of(|state| matches!(state, PartState::Damaged(_)));
        if missing.is_empty() && damaged.is_empty() {
            return Ok(());
        }
        let mut problems = Vec::new();
        if !missing.is_empty() {
            let held = self.holders().map(|(held, _)| held).unwrap_or_default();
            let now = missing.iter().filter(|block| held.iter().any(|(other, _)| other == *block)).count();
            let now = if now > 0 { format!(" ({now} of them are computed now)") } else { String::new() };
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

    /// Hands over the rows of all blocks in order, each block once. A damaged one is put aside, so that it counts as missing.
    ///
    /// # Errors
    /// As [`Directory::check_done`]; what `rows` returns.
    pub fn merge<J: Divisible>(&self, job: &J, rows: &mut dyn FnMut(&[J::Row]) -> Result<()>) -> Result<Merged> {
        self.check_done()?;
        let mut merged = Merged { blocks: self.len(), rows: 0, block_seconds: 0.0 };
        let mut unit: Vec<J::Row> = Vec::new();
        let blocks = &self.manifest().blocks;
        for (number, block) in blocks.iter().enumerate() {
            let is_part = block.targets.is_some();
            let mut part: Rows<J> = self.rows(number).or_else(|error| self.put_aside::<J, _>(number, error))?;
            loop {
                let next = part.next_rows().or_else(|error| self.put_aside::<J, _>(number, error))?;
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
        self.note(Event::Merged { rows: merged.rows });
        Ok(merged)
    }

    /// Looks at all blocks from one that is damaged on, so that all that are damaged are named at once.
    fn put_aside<J: Divisible, T>(&self, first: usize, error: Error) -> Result<T> {
        if !matches!(error, Error::Input { .. }) {
            return Err(error);
        }
        let mut damaged = Vec::new();
        for block in first..self.len() {
            if let PartState::Damaged(_) = self.verify::<J>(block)? {
                damaged.push(block);
                // Where that cannot be, `run` finds it by its number all the same.
                let _ = self.set_aside(block);
            }
        }
        if damaged.len() < 2 {
            return Err(error);
        }
        Err(Error::usage(format!(
            "{}: damaged blocks have to be computed again: {}",
            self.path().display(),
            ranges(&damaged)
        )))
    }
}

/// Whether a block is a further part of the unit that another one is a part of.
fn is_of_unit(block: &Block, other: &Block) -> bool {
    block.targets.is_some() && block.units == other.units
}

/// Numbers in words: `0-3, 7, 9-12`; of very many the first.
pub fn ranges(numbers: &[usize]) -> String {
    const NAMED: usize = 20;
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let named = runs.iter().take(NAMED);
    let mut words: Vec<String> =
        named.map(|(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") }).collect();
    if runs.len() > NAMED {
        words.push("...".into());
    }
    words.join(", ")
}
