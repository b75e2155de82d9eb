//! Lists adapters and finds the selected ones.

use std::sync::OnceLock;

use serde::Serialize;

use super::device::OpenedAhead;
use super::heap::device_local_bytes;
use crate::error::{Error, Result};
use crate::files::fingerprint::Fingerprint;

/// A graphics adapter, as `pairwave devices` shows it.
#[derive(Debug, Clone, Serialize)]
pub struct AdapterDescription {
    /// Index in the list, which `--device` accepts as a number.
    pub index: usize,
    /// Marketing name.
    pub name: String,
    /// Name in messages and summaries. If several adapters share a name, it includes the PCI bus id
    /// or the index.
    #[serde(skip)]
    pub label: String,
    /// PCI vendor.
    pub vendor: String,
    /// Graphics interface: vulkan, metal, dx12 or gl.
    pub backend: String,
    /// Kind of device: discrete, integrated, virtual, cpu (software) or other.
    pub kind: &'static str,
    /// Driver and its version.
    pub driver: String,
    /// PCI bus id, e.g. `0000:01:00.0`; empty if unknown.
    pub pci_bus_id: String,
    /// Device-local memory in bytes; `None` if the graphics interface does not report it.
    /// Integrated and software adapters report a part of the system's memory.
    pub memory_bytes: Option<u64>,
    /// Smallest and largest subgroup size in invocations.
    pub subgroup_sizes: [u32; 2],
    /// Workgroup memory in bytes.
    pub workgroup_memory_bytes: u32,
    /// Largest buffer in bytes.
    pub max_buffer_bytes: u64,
    /// Largest storage binding in bytes.
    pub max_binding_bytes: u64,
    /// Largest number of invocations in a workgroup.
    pub max_workgroup_invocations: u32,
    /// Features that kernels use.
    pub features: Vec<&'static str>,
}

/// Number of loop iterations that an invocation may make in one dispatch on llvmpipe. After 65,536
/// iterations in total, llvmpipe ends every loop without an error (seen with Mesa 22.3;
/// `LP_MAX_TGSI_LOOP_ITERATIONS` in its sources).
const LLVMPIPE_LOOP_ITERATIONS: u64 = 60_000;

impl AdapterDescription {
    /// Returns the fingerprint under which measurements of this adapter are stored. The pattern
    /// names every field, so that a new field cannot be forgotten.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        let AdapterDescription {
            name,
            vendor,
            backend,
            kind,
            driver,
            subgroup_sizes,
            workgroup_memory_bytes,
            max_buffer_bytes,
            max_binding_bytes,
            max_workgroup_invocations,
            features,
            // These fields distinguish adapters of one model.
            index: _,
            label: _,
            pci_bus_id: _,
            // Software and integrated adapters report a part of the system's memory.
            memory_bytes: _,
        } = self;
        Fingerprint::default()
            .with("adapter", name)
            .with("vendor", vendor)
            .with("backend", backend)
            .with("kind", kind)
            .with("driver", driver)
            .with("subgroups", format!("{subgroup_sizes:?}"))
            .with(
                "limits",
                format!("{workgroup_memory_bytes} {max_buffer_bytes} {max_binding_bytes} {max_workgroup_invocations}"),
            )
            .with("features", features.join(","))
    }

    /// Returns the number of loop iterations that an invocation may make in a dispatch, if the
    /// driver limits them.
    pub(crate) fn loop_budget(&self) -> Option<u64> {
        self.driver.contains("llvmpipe").then_some(LLVMPIPE_LOOP_ITERATIONS)
    }

    /// Selects the value for this kind of device: `card` for a GPU with its own memory,
    /// `integrated` for an integrated GPU, and `threads` for software on CPU threads.
    pub(crate) fn select_by_kind<T>(&self, card: T, integrated: T, threads: T) -> T {
        match self.kind {
            "discrete" | "virtual" => card,
            "integrated" => integrated,
            _ => threads,
        }
    }
}

/// An adapter and its description.
#[derive(Debug, Clone)]
pub struct FoundAdapter {
    /// Handle of the adapter.
    pub handle: wgpu::Adapter,
    /// Description of the adapter.
    pub description: AdapterDescription,
    /// Device that was opened before an engine needs it.
    pub ahead: OpenedAhead,
    /// Failure that every device opened on this adapter simulates; `None` outside tests.
    #[doc(hidden)]
    pub failure: Option<FeignedFailure>,
}

/// A simulated failure of a device. For tests.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeignedFailure {
    /// The device cannot be opened.
    AtOpen,
    /// The device is lost after this many calls of [`super::device::Gpu::check`]. Every batch makes
    /// several calls.
    AfterChecks(u64),
}

impl FoundAdapter {
    /// Returns whether the adapter is a software renderer.
    pub fn is_software(&self) -> bool {
        self.description.kind == "cpu"
    }
}

/// Returns every adapter that can run compute shaders, hardware before software. The list may be
/// empty.
pub fn enumerate() -> Vec<FoundAdapter> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends: wgpu::Backends::PRIMARY,
        // Disables validation layers and driver messages in every build profile.
        flags: wgpu::InstanceFlags::empty(),
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    let mut adapters: Vec<wgpu::Adapter> = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY))
        .into_iter()
        .filter(|adapter| adapter.get_downlevel_capabilities().flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS))
        .collect();
    adapters.sort_by_key(|adapter| rank(adapter.get_info().device_type));
    let mut descriptions: Vec<AdapterDescription> =
        adapters.iter().enumerate().map(|(index, adapter)| describe(index, adapter)).collect();
    label(&mut descriptions);
    let pairs = adapters.into_iter().zip(descriptions);
    pairs
        .map(|(handle, description)| FoundAdapter { handle, description, ahead: OpenedAhead::default(), failure: None })
        .collect()
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

/// Returns the sort key of a device type. Faster types come first.
fn rank(kind: wgpu::DeviceType) -> u8 {
    match kind {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::VirtualGpu => 1,
        wgpu::DeviceType::IntegratedGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    }
}

fn describe(index: usize, adapter: &wgpu::Adapter) -> AdapterDescription {
    let (info, limits, features) = (adapter.get_info(), adapter.limits(), adapter.features());
    let named = [
        (wgpu::Features::SUBGROUP, "subgroups"),
        (wgpu::Features::SUBGROUP_BARRIER, "subgroup-barrier"),
        (wgpu::Features::SHADER_F16, "f16"),
        (wgpu::Features::SHADER_I16, "i16"),
        (wgpu::Features::SHADER_INT64, "i64"),
        (wgpu::Features::TIMESTAMP_QUERY, "timestamps"),
        (wgpu::Features::PIPELINE_CACHE, "pipeline-cache"),
    ];
    AdapterDescription {
        index,
        label: info.name.clone(),
        name: info.name,
        vendor: vendor_name(info.vendor),
        backend: info.backend.to_str().to_string(),
        kind: match info.device_type {
            wgpu::DeviceType::DiscreteGpu => "discrete",
            wgpu::DeviceType::IntegratedGpu => "integrated",
            wgpu::DeviceType::VirtualGpu => "virtual",
            wgpu::DeviceType::Cpu => "cpu",
            wgpu::DeviceType::Other => "other",
        },
        driver: format!("{} {}", info.driver, info.driver_info).trim().to_string(),
        pci_bus_id: info.device_pci_bus_id.clone(),
        memory_bytes: device_local_bytes(adapter),
        subgroup_sizes: [info.subgroup_min_size, info.subgroup_max_size],
        workgroup_memory_bytes: limits.max_compute_workgroup_storage_size,
        max_buffer_bytes: limits.max_buffer_size,
        max_binding_bytes: limits.max_storage_buffer_binding_size,
        max_workgroup_invocations: limits.max_compute_invocations_per_workgroup,
        features: named.iter().filter(|(flag, _)| features.contains(*flag)).map(|&(_, name)| name).collect(),
    }
}

/// Returns the name of a PCI (or Khronos) vendor id.
fn vendor_name(id: u32) -> String {
    match id {
        0x10de => "NVIDIA".into(),
        0x1002 | 0x1022 => "AMD".into(),
        0x8086 => "Intel".into(),
        0x106b => "Apple".into(),
        0x13b5 => "Arm".into(),
        0x5143 => "Qualcomm".into(),
        0x10005 => "Mesa".into(),
        0x1414 => "Microsoft".into(),
        0x1af4 => "virtio".into(),
        other => format!("{other:#06x}"),
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

    /// Returns whether the device is a GPU and no software renderer.
    pub fn is_hardware_gpu(&self) -> bool {
        self.adapter().is_some_and(|adapter| !adapter.is_software())
    }
}

/// Finds the devices that `--device` values select. Without values, returns the first hardware
/// adapter, or the CPU engine if there is none. Software Vulkan is slower than the CPU engine and
/// must be selected by name.
///
/// A value is an index in the list of `pairwave devices`, a PCI bus id, a part of a name in any
/// case, `cpu`, or `all` (every hardware adapter and the CPU engine). A number that is not an index
/// is treated as a part of a name, for example `4090`. A part of a name selects all matching
/// hardware adapters, or all matching software adapters if no hardware matches. A card that two
/// graphics interfaces list is used only once, and so is a device that several values select.
///
/// # Errors
/// [`Error::Usage`] for a value that selects nothing. The message lists the available devices.
pub fn choose(wanted: &[String]) -> Result<Vec<Device>> {
    if wanted.len() == 1 && wanted[0].eq_ignore_ascii_case("cpu") {
        return Ok(vec![Device::Cpu]);
    }
    if wanted.is_empty() {
        return Ok(vec![best_device()]);
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

/// Returns the first hardware adapter, or the CPU engine if there is none. Jobs ask several times,
/// and a driver may take a tenth of a second to start, so the adapters are listed once in a process.
fn best_device() -> Device {
    static BEST: OnceLock<Device> = OnceLock::new();
    let find = || {
        let best = enumerate().into_iter().find(|adapter| !adapter.is_software());
        best.map_or(Device::Cpu, |adapter| Device::Adapter(Box::new(adapter)))
    };
    BEST.get_or_init(find).clone()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_is_found_without_adapters() {
        assert!(matches!(choose(&["CPU".into()]).unwrap()[..], [Device::Cpu]));
    }

    #[test]
    fn error_for_an_unknown_name_lists_the_devices() {
        for wrong in ["no such device", "4711", ""] {
            let error = choose(&[wrong.into()]).unwrap_err();
            assert!(matches!(error, Error::Usage(_)));
            assert!(error.to_string().ends_with("cpu"), "{error}");
        }
    }

    #[test]
    fn adapter_selected_by_index_and_name_is_used_once() {
        let Some(first) = enumerate().into_iter().next() else {
            panic!("no adapter runs compute shaders here: install software Vulkan (Debian: mesa-vulkan-drivers)");
        };
        let name = first.description.name.to_uppercase();
        let devices = choose(&["0".into(), name[..4].into(), "cpu".into()]).unwrap();
        assert!(matches!(&devices[..], [Device::Adapter(adapter), Device::Cpu] if adapter.description.index == 0));
    }

    /// Returns descriptions with these names, kinds, interfaces and PCI bus ids.
    fn described(list: &[(&str, &'static str, &str, &str)]) -> Vec<AdapterDescription> {
        let adapters = list.iter().enumerate().map(|(index, &(name, kind, backend, bus))| AdapterDescription {
            index,
            name: name.into(),
            label: String::new(),
            vendor: "NVIDIA".into(),
            backend: backend.into(),
            kind,
            driver: String::new(),
            pci_bus_id: bus.into(),
            memory_bytes: None,
            subgroup_sizes: [32, 32],
            workgroup_memory_bytes: 1 << 15,
            max_buffer_bytes: 1 << 30,
            max_binding_bytes: 1 << 30,
            max_workgroup_invocations: 1024,
            features: Vec::new(),
        });
        let mut adapters: Vec<AdapterDescription> = adapters.collect();
        label(&mut adapters);
        adapters
    }

    fn labels(adapters: &[AdapterDescription]) -> Vec<&str> {
        adapters.iter().map(|adapter| adapter.label.as_str()).collect()
    }

    /// Returns two equal cards and a third one, each with two interfaces, and a software adapter.
    fn node() -> Vec<AdapterDescription> {
        described(&[
            ("Tesla C2075", "discrete", "vulkan", "0000:03:00.0"),
            ("Tesla C2050", "discrete", "vulkan", "0000:82:00.0"),
            ("Tesla C2075", "discrete", "vulkan", "0000:84:00.0"),
            ("Tesla C2075", "discrete", "dx12", "0000:03:00.0"),
            ("Tesla C2050", "discrete", "dx12", ""),
            ("llvmpipe (tesla)", "cpu", "vulkan", ""),
        ])
    }

    #[test]
    fn name_selects_all_its_cards_and_bus_id_or_index_one() {
        let node = node();
        let node: Vec<&AdapterDescription> = node.iter().collect();
        let find = |value: &str| find(&node, value).unwrap();
        assert_eq!(find("c2075"), [0, 2]);
        assert_eq!(find("C2050"), [1]);
        assert_eq!(find("Tesla"), [0, 1, 2]);
        assert_eq!(find("LLVM"), [5]);
        assert_eq!(find("0000:84:00.0"), [2]);
        assert_eq!(find("0000:03:00.0"), [0]);
        assert_eq!(find("3"), [3]);
        // These numbers are not indices, but parts of names.
        assert_eq!(find("2075"), [0, 2]);
        assert_eq!(find("2050"), [1]);
        assert_eq!(cards(&node, |adapter| adapter.kind != "cpu"), [0, 1, 2]);
    }

    #[test]
    fn labels_of_cards_with_one_name_differ() {
        let two = |bus: [&str; 2]| described(&bus.map(|bus| ("NVIDIA H200", "discrete", "vulkan", bus)));
        assert_eq!(
            labels(&two(["0000:03:00.0", "0000:84:00.0"])),
            ["NVIDIA H200 (0000:03:00.0)", "NVIDIA H200 (0000:84:00.0)"]
        );
        for bus in [["", ""], ["0000:03:00.0", "0000:03:00.0"]] {
            assert_eq!(labels(&two(bus)), ["NVIDIA H200 (device 0)", "NVIDIA H200 (device 1)"]);
        }
        assert_eq!(labels(&described(&[("Arc A770", "discrete", "vulkan", "0000:03:00.0")])), ["Arc A770"]);
    }

    #[test]
    fn all_selects_every_hardware_adapter_and_the_cpu() {
        let devices = choose(&["all".into()]).unwrap();
        assert!(matches!(devices.last(), Some(Device::Cpu)));
        let software = devices.iter().any(|device| matches!(device, Device::Adapter(adapter) if adapter.is_software()));
        assert!(!software);
    }
}
