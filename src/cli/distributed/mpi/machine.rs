//! Resources of a rank: its share of its machine.

use crate::cli::blocks::BlockCommand;
use crate::cli::device::DeviceChoice;
use crate::cli::runner::run_settings;
use pairwave::distributed::host;
use pairwave::distributed::mpi::MpiWire;
use pairwave::distributed::ranks::{RankInfo, RankResources, ResourceShare, Wire, share};
use pairwave::gpu::adapter::{Device, choose};
use pairwave::gpu::memory::memory_budget;
use pairwave::jobs::Run;
use pairwave::{Error, Result};

/// Returns the settings of a rank, and the resources that its machine offers.
pub(super) fn machine<C: BlockCommand>(command: &C) -> Result<(Run, RankResources)> {
    let mut run = run_settings(command.compute(), command.family())?;
    if command.compute().devices.contains(&DeviceChoice::Auto) {
        // Selects all GPUs, which are then divided among the ranks.
        run.devices = choose(&["all".to_owned()])?;
        run.devices.retain(|device| matches!(device, Device::Adapter(_)));
    }
    let gpus = run.devices.iter().filter_map(name_of).collect();
    Ok((run, RankResources::new(gpus)))
}

/// Returns a unique name of a GPU; `None` for the CPU.
fn name_of(device: &Device) -> Option<String> {
    match device {
        Device::Cpu => None,
        Device::Adapter(adapter) if adapter.description.pci_bus_id.is_empty() => {
            Some(adapter.description.label.clone())
        }
        Device::Adapter(adapter) => Some(adapter.description.pci_bus_id.clone()),
    }
}

/// Restricts a rank to its share of its machine. Returns a description of the share.
fn apply_share(run: &mut Run, share: &ResourceShare) -> String {
    let users = |device: &Device| {
        let name = name_of(device)?;
        share.gpus.iter().find(|(gpu, _)| *gpu == name).map(|(_, users)| *users as u64)
    };
    run.devices.retain(|device| matches!(device, Device::Cpu) || users(device).is_some());
    let budgets = run.devices.iter().filter_map(|device| match device {
        Device::Adapter(adapter) => {
            users(device).filter(|&users| users > 1).map(|users| memory_budget(adapter, None) / users)
        }
        Device::Cpu => None,
    });
    if let Some(least) = budgets.min() {
        run.memory = Some(run.memory.map_or(least, |memory| memory.min(least)));
    }
    if run.threads == 0 {
        run.threads = share.threads;
    }
    let mut words: Vec<String> = run
        .devices
        .iter()
        .filter_map(|device| match device {
            Device::Cpu => None,
            Device::Adapter(adapter) => Some(adapter.description.label.clone()),
        })
        .collect();
    words.push(format!("{} CPU {}", run.threads, if run.threads == 1 { "thread" } else { "threads" }));
    words.join(", ")
}

/// Exchanges resources between all ranks of a machine, and takes this rank's share.
pub(super) fn divide_resources(
    wire: &mut MpiWire,
    machine: Result<(Run, RankResources)>,
    gpus: Option<usize>,
) -> Result<(Run, RankInfo)> {
    // A rank with an error still takes part in the exchange, with an empty offer.
    let (run, offer) = match machine {
        Ok((run, offer)) => (Ok(run), offer),
        Err(error) => (Err(error), RankResources::default()),
    };
    let given = serde_json::to_vec(&offer).map_err(serialization_error)?;
    let (machine_rank, all) = wire.neighbours(given);
    let offers: Vec<RankResources> = all.iter().map(|one| serde_json::from_slice(one).unwrap_or_default()).collect();
    let mut run = run?;
    let devices = apply_share(&mut run, &share(machine_rank, &offers, gpus));
    tracing::debug!(host = host(), machine_rank, devices, "this rank computes on");
    Ok((run, RankInfo { host: host(), devices }))
}

pub(super) fn serialization_error(error: serde_json::Error) -> Error {
    Error::Internal(format!("a message between ranks: {error}"))
}
