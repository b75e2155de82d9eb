//! Descriptions of adapters.

use super::AdapterDescription;
use crate::gpu::heap::device_local_bytes;

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
