//! `pairwave run --status`.

use crate::cli::pages;
use pairwave::Result;
use pairwave::distributed::{Directory, JournalEvent, PartState, ranges};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Prints the state of all blocks.
pub(super) fn status(directory: &Directory) -> Result<()> {
    pages::print(status_text(directory)?)
}

/// Prints the numbers of unfinished, unclaimed blocks in a form that programs read.
pub(super) fn missing(directory: &Directory) -> Result<()> {
    let held: Vec<usize> = directory.holders()?.0.into_iter().map(|(block, _)| block).collect();
    let states = directory.states()?.into_iter().enumerate();
    let open = states.filter(|(block, state)| !state.is_done() && !held.contains(block)).map(|(block, _)| block);
    let open: Vec<usize> = open.collect();
    let runs = open.chunk_by(|one, other| one + 1 == *other).map(|run| match run {
        [first, .., last] => format!("{first}-{last}"),
        one => one.iter().map(usize::to_string).collect(),
    });
    pages::print(runs.collect::<Vec<_>>().join(",") + "\n")
}

fn status_text(directory: &Directory) -> Result<String> {
    let states = directory.states()?;
    let (held, all) = directory.holders()?;
    let mut failed: BTreeMap<usize, (String, String)> = BTreeMap::new();
    for entry in directory.journal()? {
        match entry.event {
            JournalEvent::Failed { block, error } => drop(failed.insert(block, (entry.host, error))),
            JournalEvent::Finished { block, .. } => drop(failed.remove(&block)),
            JournalEvent::TakenOver { .. } | JournalEvent::Merged { .. } => {}
        }
    }
    let which = |is: &dyn Fn(usize, &PartState) -> bool| -> Vec<usize> {
        states.iter().enumerate().filter(|(block, state)| is(*block, state)).map(|(block, _)| block).collect()
    };
    let is_held = |block: usize| held.iter().any(|(other, _)| *other == block);
    let done = which(&|_, state| state.is_done());
    let now = which(&|block, state| !state.is_done() && is_held(block));
    let damaged = which(&|block, state| matches!(state, PartState::Damaged(_)) && !is_held(block));
    let missing = which(&|block, state| *state == PartState::Missing && !is_held(block));
    let mut text = format!("blocks    {}\n", states.len());
    for (what, blocks) in [("done", &done), ("running", &now), ("missing", &missing), ("damaged", &damaged)] {
        let named = if blocks.is_empty() { String::new() } else { format!(": {}", ranges(blocks)) };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{what:<9} {}{named}", blocks.len());
    }
    for (block, holder) in held.iter().filter(|(block, _)| now.contains(block)) {
        let _ = writeln!(text, "  block {block} is being computed by {}", holder.process);
    }
    if let Some(holder) = all {
        let _ = writeln!(text, "  all blocks are being computed by {}", holder.process);
    }
    failed.retain(|block, _| states.get(*block).is_some_and(|state| !state.is_done()));
    for (block, (host, error)) in failed {
        let _ = writeln!(text, "  block {block} failed on {host}: {error}");
    }
    Ok(text)
}
