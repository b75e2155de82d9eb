//! Predictions for `--dry-run`.

use crate::cli::progress::pairs_in_words;
use indicatif::{HumanBytes, HumanCount};
use pairwave::distributed::simulate;
use pairwave::jobs::blocks::{Block, Divisible};
use pairwave::{Error, Result};
use std::path::PathBuf;

/// Devices that would compute.
pub(super) struct PredictedDevices<'a> {
    /// Singular and plural of the devices' name.
    pub names: [&'a str; 2],
    /// Speed of each device, in cells per second.
    pub speeds: &'a [f64],
}

/// Returns a prediction for a job as text: its blocks, the bytes that it reads and stores, and the
/// time with the dispatcher that would distribute the blocks.
pub(super) fn predict<J: Divisible>(
    job: &J,
    blocks: &[Block],
    inputs: &[PathBuf],
    devices: &PredictedDevices<'_>,
) -> Result<String> {
    let mut text = describe_blocks(blocks) + "\n";
    for input in inputs {
        let bytes = std::fs::metadata(input).map_err(|error| Error::io(input, error))?.len();
        text += &format!("input {}: {}\n", input.display(), HumanBytes(bytes));
    }
    let parts: Vec<u64> = blocks.iter().map(|block| job.part_bytes(block)).collect();
    text += &format!(
        "files of blocks: about {} without filtering, the largest {}\n",
        HumanBytes(parts.iter().fold(0, |sum: u64, bytes| sum.saturating_add(*bytes))),
        HumanBytes(parts.iter().copied().max().unwrap_or(0)),
    );
    let cells: Vec<u64> = blocks.iter().map(|block| block.cells).collect();
    let PredictedDevices { names, speeds } = devices;
    let seconds = simulate::estimate(&cells, speeds);
    let speed = speeds.iter().sum::<f64>();
    let share = if seconds > 0.0 { 100.0 * totals(blocks).1 as f64 / speed / seconds } else { 100.0 };
    text += &format!(
        "{} {} with {:.4} TCUPS in total: {seconds:.1} s of computation at {share:.1}% of their speed\n",
        HumanCount(speeds.len() as u64),
        names[usize::from(speeds.len() != 1)],
        speed / 1e12
    );
    Ok(text)
}

/// Describes the blocks in one line.
pub(super) fn describe_blocks(blocks: &[Block]) -> String {
    let (pairs, cells) = totals(blocks);
    let of = |block: Option<&Block>| block.map_or(0, |block| block.cells) as f64;
    format!(
        "{} {}, 0 to {}: {}, {:.3e} cells; {:.3e} to {:.3e} cells per block",
        HumanCount(blocks.len() as u64),
        if blocks.len() == 1 { "block" } else { "blocks" },
        blocks.len().saturating_sub(1),
        pairs_in_words(pairs),
        cells as f64,
        of(blocks.iter().min_by_key(|block| block.cells)),
        of(blocks.iter().max_by_key(|block| block.cells)),
    )
}

fn totals(blocks: &[Block]) -> (u64, u64) {
    (blocks.iter().map(|block| block.pairs).sum(), blocks.iter().map(|block| block.cells).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_described_in_one_line() {
        let block = Block { units: 0..1, targets: None, pairs: 1, cells: 100 };
        assert_eq!(
            describe_blocks(&[block]),
            "1 block, 0 to 0: 1 pair, 1.000e2 cells; 1.000e2 to 1.000e2 cells per block"
        );
    }
}
