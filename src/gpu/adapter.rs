//! Lists adapters and finds the selected ones.

#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use super::description::describe;
use crate::error::{Error, Result};

pub use super::description::AdapterDescription;
pub use super::device::{FeignedFailure, FoundAdapter};

/// Returns every adapter that can run compute shaders, hardware before software. The list may be
/// empty. wgpu's variables `WGPU_BACKEND` and `WGPU_ALLOW_UNDERLYING_NONCOMPLIANT_ADAPTER` decide
/// which adapters are listed, and `WGPU_POWER_PREF=low` lists integrated GPUs first.
pub fn enumerate() -> Vec<FoundAdapter> {
    let backends = wgpu::Backends::PRIMARY & wgpu::Backends::PRIMARY.with_env();
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends,
        // Without wgpu's variables, validation layers and driver messages are disabled in every
        // build profile.
        flags: wgpu::InstanceFlags::empty().with_env(),
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    let mut adapters: Vec<wgpu::Adapter> = pollster::block_on(instance.enumerate_adapters(backends))
        .into_iter()
        .filter(|adapter| adapter.get_downlevel_capabilities().flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS))
        .collect();
    let is_integrated_first = wgpu::PowerPreference::from_env() == Some(wgpu::PowerPreference::LowPower);
    adapters.sort_by_key(|adapter| rank(adapter.get_info().device_type, is_integrated_first));
    let mut descriptions: Vec<AdapterDescription> =
        adapters.iter().enumerate().map(|(index, adapter)| describe(index, adapter)).collect();
    label(&mut descriptions);
    let pairs = adapters.into_iter().zip(descriptions);
    pairs.map(|(handle, description)| FoundAdapter::new(handle, description)).collect()
}

/// Labels adapters. Adapters of the same name are distinguished by PCI bus id, or by index if that
/// is not unique.
fn label(descriptions: &mut [AdapterDescription]) {
    let named: Vec<(String, String)> =
        descriptions.iter().map(|description| (description.name.clone(), description.pci_bus_id.clone())).collect();
    for description in descriptions {
        let namesakes = || named.iter().filter(|(name, _)| *name == description.name);
        let same_bus = namesakes().filter(|(_, bus)| *bus == description.pci_bus_id).count();
        description.label = match (namesakes().count(), same_bus) {
            (1, _) => description.name.clone(),
            (_, 1) if !description.pci_bus_id.is_empty() => {
                format!("{} ({})", description.name, description.pci_bus_id)
            }
            _ => format!("{} (device {})", description.name, description.index),
        };
    }
}

/// Returns the sort key of a device type. Faster types come first, but integrated GPUs before all
/// others if `is_integrated_first`.
fn rank(kind: wgpu::DeviceType, is_integrated_first: bool) -> u8 {
    match kind {
        wgpu::DeviceType::IntegratedGpu if is_integrated_first => 0,
        wgpu::DeviceType::DiscreteGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::IntegratedGpu => 3,
        wgpu::DeviceType::Other => 4,
        wgpu::DeviceType::Cpu => 5,
    }
}

/// A device that a job uses.
#[derive(Debug, Clone)]
pub enum Device {
    /// The CPU engine.
    Cpu,
    /// A graphics adapter.
    Adapter(Box<FoundAdapter>),
}

impl Device {
    /// Returns the adapter, or `None` for the CPU engine.
    pub fn adapter(&self) -> Option<&FoundAdapter> {
        match self {
            Device::Cpu => None,
            Device::Adapter(adapter) => Some(adapter),
        }
    }

    /// Restricts the device to WebGPU's default limits and to no optional features
    /// ([`FoundAdapter::with_minimal_limits`]). Results do not change. The CPU engine has no limits.
    pub fn with_minimal_limits(self) -> Self {
        match self {
            Device::Cpu => Device::Cpu,
            Device::Adapter(adapter) => Device::Adapter(Box::new(adapter.with_minimal_limits())),
        }
    }

    /// Returns whether the device is a GPU and no software renderer.
    pub fn is_hardware_gpu(&self) -> bool {
        self.adapter().is_some_and(|adapter| !adapter.is_software())
    }
}

/// Finds the devices that `--device` values select. Without values, returns the first adapter that
/// wgpu's variable `WGPU_ADAPTER_NAME` selects, or else the first hardware adapter, or the CPU
/// engine if there is none. Software Vulkan is slower than the CPU engine and must be selected by
/// name.
///
/// A value is an index in the list of `pairwave devices`, a PCI bus id, a part of a name in any
/// case, `cpu`, or `all` (every hardware adapter and the CPU engine). A number that is not an index
/// is treated as a part of a name, for example `4090`. A part of a name selects all matching
/// hardware adapters, or all matching software adapters if no hardware matches. A card that two
/// graphics interfaces list is used only once, and so is a device that several values select.
///
/// # Errors
/// [`Error::Usage`] for a value or a variable that selects nothing. The message lists the available
/// devices.
pub fn choose(wanted: &[String]) -> Result<Vec<Device>> {
    if wanted.len() == 1 && wanted[0].eq_ignore_ascii_case("cpu") {
        return Ok(vec![Device::Cpu]);
    }
    if wanted.is_empty() {
        return Ok(vec![best_device()?]);
    }
    let adapters = enumerate();
    let described: Vec<&AdapterDescription> = adapters.iter().map(|adapter| &adapter.description).collect();
    let mut chosen: Vec<usize> = Vec::new();
    let mut cpu = false;
    for value in wanted {
        if value.eq_ignore_ascii_case("cpu") {
            cpu = true;
        } else if value.eq_ignore_ascii_case("all") {
            cpu = true;
            chosen.extend(cards(&described, |adapter| adapter.kind != "cpu"));
        } else {
            chosen.extend(find(&described, value)?);
        }
    }
    let mut seen = std::collections::HashSet::new();
    chosen.retain(|&index| seen.insert(index));
    let mut devices: Vec<Device> =
        chosen.into_iter().map(|index| Device::Adapter(Box::new(adapters[index].clone()))).collect();
    if cpu {
        devices.push(Device::Cpu);
    }
    Ok(devices)
}

/// Returns the device of jobs without `--device`. Jobs ask several times, and a driver may take a
/// tenth of a second to start, so the adapters are listed once in a process.
fn best_device() -> Result<Device> {
    static BEST: OnceLock<std::result::Result<Device, String>> = OnceLock::new();
    let name = || std::env::var("WGPU_ADAPTER_NAME").ok().filter(|name| !name.is_empty());
    BEST.get_or_init(|| best_of(enumerate(), name().as_deref())).clone().map_err(Error::usage)
}

/// Returns the first adapter that a name selects. Without a name, returns the first hardware
/// adapter, or the CPU engine if there is none.
///
/// # Errors
/// A message if the name selects nothing.
fn best_of(adapters: Vec<FoundAdapter>, name: Option<&str>) -> std::result::Result<Device, String> {
    let Some(name) = name else {
        let best = adapters.into_iter().find(|adapter| !adapter.is_software());
        return Ok(best.map_or(Device::Cpu, |adapter| Device::Adapter(Box::new(adapter))));
    };
    let described: Vec<&AdapterDescription> = adapters.iter().map(|adapter| &adapter.description).collect();
    match find(&described, name) {
        Ok(indices) => Ok(Device::Adapter(Box::new(adapters[indices[0]].clone()))),
        Err(error) => Err(format!("WGPU_ADAPTER_NAME: {error}")),
    }
}

/// Returns the indices of the adapters that a value selects, at least one.
fn find(adapters: &[&AdapterDescription], value: &str) -> Result<Vec<usize>> {
    let available = || {
        let mut list: Vec<String> =
            adapters.iter().map(|adapter| format!("{} = {}", adapter.index, adapter.name)).collect();
        list.push("cpu".into());
        list.join(", ")
    };
    let number = value.parse::<usize>().ok();
    if let Some(index) = number.filter(|&index| index < adapters.len()) {
        return Ok(vec![index]);
    }
    let at_bus = |adapter: &&&AdapterDescription| !value.is_empty() && adapter.pci_bus_id.eq_ignore_ascii_case(value);
    if let Some(adapter) = adapters.iter().find(at_bus) {
        return Ok(vec![adapter.index]);
    }
    let lower = value.to_lowercase();
    let has_name = |adapter: &AdapterDescription| !lower.is_empty() && adapter.name.to_lowercase().contains(&lower);
    for software in [false, true] {
        let matching = cards(adapters, |adapter| has_name(adapter) && (adapter.kind == "cpu") == software);
        if !matching.is_empty() {
            return Ok(matching);
        }
    }
    let nothing = match number {
        Some(index) => format!("no device has the index {index} or '{value}' in its name"),
        None => format!("no device is called '{value}'"),
    };
    Err(Error::usage(format!("{nothing}; available devices: {}", available())))
}

/// Returns the indices of the accepted adapters. A card that several graphics interfaces list is
/// returned only once, with its first interface.
fn cards(adapters: &[&AdapterDescription], wanted: impl Fn(&AdapterDescription) -> bool) -> Vec<usize> {
    let is_same_card = |a: &AdapterDescription, b: &AdapterDescription| {
        let known = !a.pci_bus_id.is_empty() && !b.pci_bus_id.is_empty();
        a.backend != b.backend && if known { a.pci_bus_id == b.pci_bus_id } else { a.name == b.name }
    };
    let mut taken: Vec<&AdapterDescription> = Vec::new();
    for adapter in adapters.iter().filter(|adapter| wanted(adapter)) {
        if !taken.iter().any(|other| is_same_card(adapter, other)) {
            taken.push(adapter);
        }
    }
    taken.into_iter().map(|adapter| adapter.index).collect()
}
