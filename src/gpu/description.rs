//! Descriptions of adapters.

use serde::Serialize;

use super::heap::device_local_bytes;
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

/// Describes an adapter.
pub(super) fn describe(index: usize, adapter: &wgpu::Adapter) -> AdapterDescription {
    let info = adapter.get_info();
    let description = AdapterDescription {
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
        workgroup_memory_bytes: 0,
        max_buffer_bytes: 0,
        max_binding_bytes: 0,
        max_workgroup_invocations: 0,
        features: Vec::new(),
    };
    describe_limits(description, &adapter.limits(), adapter.features())
}

/// Sets limits and features in a description.
pub(super) fn describe_limits(
    description: AdapterDescription,
    limits: &wgpu::Limits,
    features: wgpu::Features,
) -> AdapterDescription {
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
        workgroup_memory_bytes: limits.max_compute_workgroup_storage_size,
        max_buffer_bytes: limits.max_buffer_size,
        max_binding_bytes: limits.max_storage_buffer_binding_size,
        max_workgroup_invocations: limits.max_compute_invocations_per_workgroup,
        features: named.iter().filter(|(flag, _)| features.contains(*flag)).map(|&(_, name)| name).collect(),
        ..description
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
