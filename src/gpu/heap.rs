//! The memory of an adapter, as reported by its driver.

/// Returns the bytes of the adapter's largest device-local heap; `None` if the graphics interface
/// does not report it.
///
/// The heap is a card's own memory, or the part of the system's memory that an integrated or
/// software adapter may use.
pub(super) fn device_local_bytes(adapter: &wgpu::Adapter) -> Option<u64> {
    largest_heap(adapter).filter(|&bytes| bytes > 0)
}

#[cfg(any(windows, target_os = "linux", target_os = "android", target_os = "freebsd"))]
fn largest_heap(adapter: &wgpu::Adapter) -> Option<u64> {
    /// The flag `VK_MEMORY_HEAP_DEVICE_LOCAL_BIT`.
    const DEVICE_LOCAL: u32 = 1;
    // SAFETY: the handle is only used to query properties. Nothing is destroyed, and the handle
    // does not outlive this function.
    let vulkan = unsafe { adapter.as_hal::<wgpu::hal::api::Vulkan>() }?;
    let instance = vulkan.shared_instance().raw_instance();
    // SAFETY: the physical device comes from this instance, which `vulkan` keeps alive.
    let properties = unsafe { instance.get_physical_device_memory_properties(vulkan.raw_physical_device()) };
    let heaps = properties.memory_heaps_as_slice().iter();
    heaps.filter(|heap| heap.flags.as_raw() & DEVICE_LOCAL != 0).map(|heap| heap.size).max()
}

/// Returns the unused bytes of the adapter's largest device-local heap; `None` if the driver does
/// not report them (`VK_EXT_memory_budget`).
#[cfg(any(windows, target_os = "linux", target_os = "android", target_os = "freebsd"))]
pub(super) fn free_bytes(adapter: &wgpu::Adapter) -> Option<u64> {
    use ash::{ext, vk};
    // SAFETY: the handle is only used to query properties. Nothing is destroyed, and the handle
    // does not outlive this function.
    let vulkan = unsafe { adapter.as_hal::<wgpu::hal::api::Vulkan>() }?;
    let (instance, device) = (vulkan.shared_instance().raw_instance(), vulkan.raw_physical_device());
    // SAFETY: the physical device comes from this instance, which `vulkan` keeps alive.
    let extensions = unsafe { instance.enumerate_device_extension_properties(device) }.ok()?;
    // Vulkan 1.1 has the function that fills in chained structures.
    // SAFETY: the physical device comes from this instance, which `vulkan` keeps alive.
    let version = unsafe { instance.get_physical_device_properties(device) }.api_version;
    let has_budget = extensions.iter().any(|one| one.extension_name_as_c_str() == Ok(ext::memory_budget::NAME));
    if !has_budget || version < vk::API_VERSION_1_1 {
        return None;
    }
    let mut budget = vk::PhysicalDeviceMemoryBudgetPropertiesEXT::default();
    let mut properties = vk::PhysicalDeviceMemoryProperties2::default().push_next(&mut budget);
    // SAFETY: the physical device comes from this instance, and it has the extension of the chained
    // structure.
    unsafe { instance.get_physical_device_memory_properties2(device, &mut properties) };
    let heaps = properties.memory_properties;
    let local = heaps.memory_heaps_as_slice().iter().enumerate();
    let local = local.filter(|(_, heap)| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL));
    let (largest, _) = local.max_by_key(|(_, heap)| heap.size)?;
    // The total budget of this process, minus its present use.
    (budget.heap_budget[largest] > 0).then(|| budget.heap_budget[largest].saturating_sub(budget.heap_usage[largest]))
}

/// Returns `None`: other systems do not report free memory.
#[cfg(not(any(windows, target_os = "linux", target_os = "android", target_os = "freebsd")))]
pub fn free_bytes(_adapter: &wgpu::Adapter) -> Option<u64> {
    None
}

/// Returns `None`: on other systems, querying the memory would need a further dependency.
#[cfg(not(any(windows, target_os = "linux", target_os = "android", target_os = "freebsd")))]
fn largest_heap(_adapter: &wgpu::Adapter) -> Option<u64> {
    None
}
