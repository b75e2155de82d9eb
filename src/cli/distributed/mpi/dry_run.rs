//! `pairwave mpi --dry-run`.

use super::machine::{divide_resources, machine, serialization_error};
use super::{Options, THREAD_SPEED, block_cells, one_input};
use crate::cli::blocks::BlockCommand;
use crate::cli::common::is_standard;
use crate::cli::distributed::prediction::{PredictedDevices, predict};
use crate::cli::pages;
use pairwave::Result;
use pairwave::distributed::mpi::MpiWire;
use pairwave::distributed::ranks::{LEAD, Wire};
use pairwave::gpu::adapter::Device;
use pairwave::jobs::Job;
use pairwave::jobs::blocks::Divisible;
use std::path::PathBuf;
use std::time::Duration;

/// Prints the blocks, the ranks and the expected time. All ranks call it.
pub(super) fn print_prediction<C: BlockCommand>(
    options: &Options,
    wire: &mut MpiWire,
    is_first: bool,
    mut command: C,
) -> Result<()> {
    let machine = machine(&command);
    let known = machine.as_ref().ok().cloned();
    let settled = divide_resources(wire, machine, options.gpus);
    let speed = settled.as_ref().map_or(0.0, |(run, _)| {
        let gpus = run.devices.iter().filter(|device| matches!(device, Device::Adapter(_))).count();
        let has_threads = gpus == 0 || run.devices.iter().any(|device| matches!(device, Device::Cpu));
        gpus as f64 * C::Job::CARD_SPEED + if has_threads { run.threads as f64 * THREAD_SPEED } else { 0.0 }
    });
    let member = settled
        .as_ref()
        .map_or_else(|error| error.to_string(), |(_, member)| format!("{}: {}", member.host, member.devices));
    if !is_first {
        wire.send(LEAD, serde_json::to_vec(&(speed, &member)).map_err(serialization_error)?);
        return settled.map(|_| ());
    }
    // Receives the messages of all other ranks, even after an error on this rank.
    let mut all = vec![(speed, member); wire.ranks()];
    for _ in 1..wire.ranks() {
        let (rank, bytes) = loop {
            match wire.poll() {
                Some(message) => break message,
                None => std::thread::sleep(Duration::from_millis(1)),
            }
        };
        all[rank.0] = serde_json::from_slice(&bytes).map_err(serialization_error)?;
    }
    settled?;
    let Some((run, offer)) = known else { return Ok(()) };
    let inputs: Vec<PathBuf> = command.inputs().into_iter().map(|input| input.clone()).collect();
    if inputs.iter().any(|input| is_standard(input)) {
        return Err(one_input());
    }
    let input = command.read(&run)?;
    let job = command.job(&input)?;
    job.validate()?;
    let blocks = job.cut(block_cells(options, wire.ranks(), &job, &run, &offer)?)?;
    let speeds: Vec<f64> = all.iter().map(|(speed, _)| *speed).collect();
    let mut text = predict(&job, &blocks, &inputs, &PredictedDevices { names: ["rank", "ranks"], speeds: &speeds })?;
    for (rank, (_, member)) in all.iter().enumerate() {
        text += &format!("rank {rank} on {member}\n");
    }
    pages::print(text)
}
