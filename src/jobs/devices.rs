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
    let adapters = enumerate().into_iter().map(|adapter| Device::Adapter(Box::new(adapter)));
    adapters.chain([Device::Cpu]).collect()
}

impl From<&Device> for ListedDevice {
    fn from(device: &Device) -> Self {
        match device {
            Device::Adapter(adapter) => {
                ListedDevice { adapter: Some(adapter.description.clone()), name: adapter.description.name.clone() }
            }
            Device::Cpu => ListedDevice { adapter: None, name: "cpu".into() },
        }
    }
}

impl fmt::Display for ListedDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(adapter) = &self.adapter else {
            let threads = std::thread::available_parallelism().map_or(1, usize::from);
            return writeln!(f, "cpu: {threads} threads, {}", InstructionSet::best().name());
        };
        let mib = |bytes: u64| bytes >> 20;
        writeln!(f, "{}: {}", adapter.index, adapter.name)?;
        writeln!(f, "  vendor            {}", adapter.vendor)?;
        writeln!(f, "  kind              {}", adapter.kind)?;
        writeln!(f, "  backend           {}", adapter.backend)?;
        writeln!(f, "  driver            {}", adapter.driver)?;
        if !adapter.pci_bus_id.is_empty() {
            writeln!(f, "  PCI bus id        {}", adapter.pci_bus_id)?;
        }
        if let Some(bytes) = adapter.memory_bytes {
            let shared = if matches!(adapter.kind, "integrated" | "cpu") { ", shared with the CPU" } else { "" };
            writeln!(f, "  memory            {} MiB{shared}", mib(bytes))?;
        }
        writeln!(f, "  subgroup size     {} to {}", adapter.subgroup_sizes[0], adapter.subgroup_sizes[1])?;
        writeln!(f, "  workgroup memory  {} KiB", adapter.workgroup_memory_bytes >> 10)?;
        writeln!(f, "  largest buffer    {} MiB", mib(adapter.max_buffer_bytes))?;
        writeln!(f, "  largest binding   {} MiB", mib(adapter.max_binding_bytes))?;
        let features = if adapter.features.is_empty() { "none".into() } else { adapter.features.join(", ") };
        writeln!(f, "  features          {features}")
    }
}
