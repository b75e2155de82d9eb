//! `pairwave plan`.

use super::operation::{JobOperation, absolute, fingerprint, on_job};
use super::prediction::{PredictedDevices, describe_blocks, predict};
use crate::cli::blocks::{BlockCommand, BlockPlan};
use crate::cli::common::is_standard;
use crate::cli::runner::run_settings;
use crate::cli::{log, pages};
use pairwave::distributed::{BlockManifest, Directory};
use pairwave::jobs::Job;
use pairwave::jobs::blocks::{Block, Divisible};
use pairwave::{Error, Result};
use std::path::PathBuf;

/// Splits a job into blocks.
pub(crate) fn plan(plan: &BlockPlan, quiet: bool) -> Result<()> {
    let task = PlanOperation { plan, quiet };
    on_job(&plan.arguments, task)
}

struct PlanOperation<'a> {
    plan: &'a BlockPlan,
    quiet: bool,
}

impl JobOperation for PlanOperation<'_> {
    type Output = ();

    fn perform<C: BlockCommand>(self, mut command: C) -> Result<()> {
        let PlanOperation { plan, quiet } = self;
        command.check_plan()?;
        let inputs: Vec<PathBuf> = command.inputs().into_iter().map(|input| input.clone()).collect();
        if inputs.iter().any(|input| is_standard(input)) {
            return Err(Error::usage(
                "standard input can be read only once, but every 'pairwave run' reads the input: name a file",
            ));
        }
        let target = plan.directory.as_deref().map(absolute).transpose()?;
        target.as_deref().map_or(Ok(()), Directory::check_new)?;
        // Computed before the input is read. A later change of the input is then detected when
        // blocks are computed.
        let fingerprint = target.is_some().then(|| fingerprint(&plan.arguments)).transpose()?;
        let input = command.read(&run_settings(command.compute(), command.family())?)?;
        let job = command.job(&input)?;
        job.validate()?;
        command.check_format(&input)?;
        let (cells, blocks) = cut(&job, plan.cells, plan.max_blocks)?;
        let (Some(target), Some(fingerprint)) = (target, fingerprint) else {
            let devices = PredictedDevices { names: ["device", "devices"], speeds: &plan.speeds };
            return pages::print(predict(&job, &blocks, &inputs, &devices)?);
        };
        let manifest = BlockManifest::new(plan.arguments.clone(), fingerprint, cells, blocks)?;
        let line = describe_blocks(&manifest.blocks);
        Directory::create(&target, manifest)?;
        if !quiet {
            log::line(&line);
        }
        Ok(())
    }
}

/// Returns at most `most` blocks of a job, and the number of cells per block that gives them.
fn cut<J: Divisible>(job: &J, cells: u64, most: Option<usize>) -> Result<(u64, Vec<Block>)> {
    let (mut cells, mut blocks) = (cells, job.cut(cells)?);
    let Some(most) = most.filter(|&most| blocks.len() > most) else { return Ok((cells, blocks)) };
    let all: u64 = blocks.iter().map(|block| block.cells).sum();
    cells = cells.max(all / most as u64 + 1);
    // Blocks consist of whole units: increases the cells per block until the blocks fit.
    while cells <= all.saturating_mul(2) {
        blocks = job.cut(cells)?;
        if blocks.len() <= most {
            return Ok((cells, blocks));
        }
        cells += cells / 16 + 1;
    }
    Err(Error::usage(format!("--max-blocks {most}: the job cannot be split into fewer than {} blocks", blocks.len())))
}
