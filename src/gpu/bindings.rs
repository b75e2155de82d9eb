//! Bind group layouts and bind groups, derived from a kernel's row in the kernel list.

use super::device::Gpu;
use super::kernels::{Access, Kernel};
use crate::error::Result;

/// Returns the layout of a kernel's bindings, with `arenas` arenas.
pub(super) fn layout(device: &wgpu::Device, kernel: &Kernel, arenas: u32) -> wgpu::BindGroupLayout {
    let mut entries = Vec::new();
    for binding in kernel.bindings {
        let (ty, count) = match binding.access {
            Access::Uniform(_) => (wgpu::BufferBindingType::Uniform, 1),
            Access::Read => (wgpu::BufferBindingType::Storage { read_only: true }, 1),
            Access::Write => (wgpu::BufferBindingType::Storage { read_only: false }, 1),
            Access::WriteEach => (wgpu::BufferBindingType::Storage { read_only: false }, arenas),
        };
        let has_dynamic_offset = matches!(binding.access, Access::Uniform(_));
        entries.extend((binding.number..binding.number + count).map(|binding| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset, min_binding_size: None },
            count: None,
        }));
    }
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some(kernel.stem), entries: &entries })
}

/// Returns the bind group of a kernel. Each buffer is given with its binding name. Several buffers
/// of one name are bound in their order. Buffers that the kernel does not use are ignored.
///
/// # Errors
/// [`crate::Error::Device`] if a buffer is missing.
pub(super) fn group(
    gpu: &Gpu,
    kernel: &Kernel,
    layout: &wgpu::BindGroupLayout,
    buffers: &[(&str, &wgpu::Buffer)],
) -> Result<wgpu::BindGroup> {
    let mut entries = Vec::new();
    for binding in kernel.bindings {
        let named = buffers.iter().filter(|(name, _)| *name == binding.name).map(|(_, buffer)| *buffer);
        let before = entries.len();
        for (number, buffer) in (binding.number..).zip(named) {
            let resource = match binding.access {
                Access::Uniform(bytes) => wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                    buffer,
                    offset: 0,
                    size: std::num::NonZeroU64::new(bytes),
                }),
                _ => buffer.as_entire_binding(),
            };
            entries.push(wgpu::BindGroupEntry { binding: number, resource });
        }
        if entries.len() == before {
            return Err(gpu.error(format!("{}: no buffer is bound to '{}'", kernel.stem, binding.name)));
        }
    }
    let label = Some(kernel.stem);
    Ok(gpu.device.create_bind_group(&wgpu::BindGroupDescriptor { label, layout, entries: &entries }))
}
