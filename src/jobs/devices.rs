//! The devices that can compute, as `pairwave devices` lists them.

use std::fmt;

use serde::Serialize;

use crate::gpu::adapter::{AdapterDescription, Device, enumerate};
use crate::simd::InstructionSet;

/// An entry of the list of devices.
#[derive(Debug, Clone, Serialize)]
pub struct ListedDevice {
    /// The adapter; `None` for the CPU.
    #[serde(flatten)]
    pub adapter: Option<AdapterDescription>,
    /// Name of the device.
    #[serde(rename = "device")]
    pub name: String,
}

/// Returns the given devices, or every adapter and the CPU if none is given.
pub fn all(chosen: &[Device]) -> Vec<Device> {
    if !chosen.is_empty() {
        return chosen.to_vec();
    }
    let adapters = enumerate().into_iter().map(|found| Device::Adapter(Box::new(found)));
    adapters.chain([Device::Cpu]).collect()
}

impl From<&Device> for ListedDevice {
    fn from(device: &Device) -> Self {
        match device {
            Device::Adapter(found) => {
                ListedDevice { adapter: Some(found.description.clone()), name: found.description.name.clone() }
            }
            Device::Cpu => ListedDevice { adapter: None, name: "cpu".into() },
        }
    }
}

impl fmt::Display for ListedDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(found) = &self.adapter else {
            let threads = std::thread::available_parallelism().map_or(1, usize::from);
            return writeln!(f, "cpu: {threads} threads, {}", InstructionSet::best().name());
        };
        let mib = |bytes: u64| bytes >> 20;
        writeln!(f, "{}: {}", found.index, found.name)?;
        writeln!(f, "  vendor            {}", found.vendor)?;
        writeln!(f, "  kind              {}", found.kind)?;
        writeln!(f, "  backend           {}", found.backend)?;
        writeln!(f, "  driver            {}", found.driver)?;
        if !found.pci_bus_id.is_empty() {
            writeln!(f, "  PCI bus id        {}", found.pci_bus_id)?;
        }
        if let Some(bytes) = found.memory_bytes {
            let shared = if matches!(found.kind, "integrated" | "cpu") { ", shared with the CPU" } else { "" };
            writeln!(f, "  memory            {} MiB{shared}", mib(bytes))?;
        }
        writeln!(f, "  subgroup size     {} to {}", found.subgroup_sizes[0], found.subgroup_sizes[1])?;
        writeln!(f, "  workgroup memory  {} KiB", found.workgroup_memory_bytes >> 10)?;
        writeln!(f, "  largest buffer    {} MiB", mib(found.max_buffer_bytes))?;
        writeln!(f, "  largest binding   {} MiB", mib(found.max_binding_bytes))?;
        writeln!(f, "  features          {}", found.features.join(", "))
    }
}
