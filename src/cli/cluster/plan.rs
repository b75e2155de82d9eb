//! `pairwave plan`.

use super::{Task, absolute, on_job};
use crate::cli::blocks::{BlockCommand, Plan};
use crate::cli::runner::run_of;
use crate::cli::{log, pages};
use indicatif::{HumanBytes, HumanCount};
use pairwave::cluster::{Directory, Manifest};
use pairwave::jobs::Job;
use pairwave::jobs::blocks::{Block, Divisible};
use pairwave::{Error, Result};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;

/// Cuts a job.
pub(crate) fn plan(plan: &Plan, quiet: bool) -> Result<()> {
    let task = Cut { plan, quiet };
    on_job(&plan.arguments, task)
}

struct Cut<'a> {
    plan: &'a Plan,
    quiet: bool,
}

impl Task for Cut<'_> {
    type Output = ();

    fn on<C: BlockCommand>(self, mut command: C) -> Result<()> {
        let Cut { plan, quiet } = self;
        command.check_plan()?;
        let inputs: Vec<String> = command.inputs().into_iter().map(|input| input.clone()).collect();
        if inputs.iter().any(|input| input == "-") {
            return Err(Error::usage("standard input can be read once, but every run of blocks reads it: name a file"));
        }
        let place = plan.directory.as_deref().map(absolute).transpose()?;
        place.as_deref().map_or(Ok(()), Directory::check_new)?;
        let input = command.read(&run_of(command.compute(), command.family())?)?;
        let job = command.job(&input)?;
        job.validate()?;
        let (cells, blocks) = cut(&job, plan.cells, plan.max_blocks)?;
        let Some(place) = place else {
            return pages::print(foreseen(&blocks, &inputs, &plan.speeds)?);
        };
        let paths: Vec<&Path> = inputs.iter().map(Path::new).collect();
        let manifest = Manifest::new(plan.arguments.clone(), &paths, cells, blocks)?;
        let line = words(&manifest.blocks);
        Directory::create(&place, manifest)?;
        if !quiet {
            log::line(&line);
        }
        Ok(())
    }
}

/// Blocks of a job and the cells that they were to have: so many at most.
fn cut<J: Divisible>(job: &J, cells: u64, most: Option<usize>) -> Result<(u64, Vec<Block>)> {
    let (mut cells, mut blocks) = (cells, job.cut(cells)?);
    let Some(most) = most.filter(|&most| blocks.len() > most) else { return Ok((cells, blocks)) };
    let all: u64 = blocks.iter().map(|block| block.cells).sum();
    cells = cells.max(all / most as u64 + 1);
    // Blocks are whole units: a few more cells, until they fit.
    while cells <= all.saturating_mul(2) {
        blocks = job.cut(cells)?;
        if blocks.len() <= most {
            return Ok((cells, blocks));
        }
        cells += cells / 16 + 1;
    }
    Err(Error::usage(format!("--max-blocks {most}: the job cannot be cut into less than {}", blocks.len())))
}

/// What was cut, in a line.
fn words(blocks: &[Block]) -> String {
    let (pairs, cells) = totals(blocks);
    let of = |block: Option<&Block>| block.map_or(0, |block| block.cells) as f64;
    format!(
        "{} {}, 0 to {}: {} pairs, {:.3e} cells; a block has {:.3e} to {:.3e}",
        HumanCount(blocks.len() as u64),
        if blocks.len() == 1 { "block" } else { "blocks" },
        blocks.len().saturating_sub(1),
        HumanCount(pairs),
        cells as f64,
        of(blocks.iter().min_by_key(|block| block.cells)),
        of(blocks.iter().max_by_key(|block| block.cells)),
    )
}

fn totals(blocks: &[Block]) -> (u64, u64) {
    (blocks.iter().map(|block| block.pairs).sum(), blocks.iter().map(|block| block.cells).sum())
}

/// What is to be expected of a job.
fn foreseen(blocks: &[Block], inputs: &[String], speeds: &[f64]) -> Result<String> {
    let mut text = words(blocks) + "\n";
    for input in inputs {
        let bytes = std::fs::metadata(input).map_err(|error| Error::io(input, error))?.len();
        text += &format!("input {input}: {}\n", HumanBytes(bytes));
    }
    let seconds = makespan(blocks, speeds);
    let (cells, speed) = (totals(blocks).1 as f64, speeds.iter().sum::<f64>());
    let devices = if speeds.len() == 1 { "device" } else { "devices" };
    let share = if seconds > 0.0 { 100.0 * cells / speed / seconds } else { 100.0 };
    text += &format!(
        "{} {devices} of {:.4} TCUPS together: {seconds:.1} s of computing, {share:.1}% of their speed\n",
        HumanCount(speeds.len() as u64),
        speed / 1e12
    );
    Ok(text)
}

/// Seconds until the last block is done, if a device takes the next one whenever it is free.
fn makespan(blocks: &[Block], speeds: &[f64]) -> f64 {
    // Times are above 0, and such numbers have the order of their bits.
    let free = |device: usize, speed: &f64| Reverse((0f64.to_bits(), (-speed) as i64, device));
    let mut devices: BinaryHeap<_> = speeds.iter().enumerate().map(|(device, speed)| free(device, speed)).collect();
    let mut last = 0f64;
    for block in blocks {
        let Some(Reverse((since, speed, device))) = devices.pop() else { break };
        let end = f64::from_bits(since) + block.cells as f64 / speeds[device];
        last = last.max(end);
        devices.push(Reverse((end.to_bits(), speed, device)));
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_that_of_the_device_that_ends_last() {
        let block = |cells| Block { units: 0..1, targets: None, pairs: 1, cells };
        let blocks = [100, 100, 100, 100].map(block);
        assert_eq!(makespan(&blocks, &[10.0]), 40.0);
        assert_eq!(makespan(&blocks, &[10.0, 10.0]), 20.0);
        assert_eq!(makespan(&blocks, &[10.0, 30.0]), 10.0);
        assert_eq!(makespan(&blocks[..1], &[10.0, 30.0]), 100.0 / 30.0);
        assert_eq!(makespan(&[], &[10.0]), 0.0);
        assert_eq!(words(&blocks[..1]), "1 block, 0 to 0: 1 pairs, 1.000e2 cells; a block has 1.000e2 to 1.000e2");
    }
}
