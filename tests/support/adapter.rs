//! The adapter of all tests that need one.

use std::sync::OnceLock;

use pairwave::gpu::adapter::{FoundAdapter, enumerate};

/// Returns the first adapter. Software Vulkan is sufficient.
pub fn adapter() -> FoundAdapter {
    enumerate()
        .into_iter()
        .next()
        .expect("no adapter runs compute shaders here: install software Vulkan (Debian: mesa-vulkan-drivers)")
}

/// Returns the first adapter, with a label for messages and summaries.
pub fn adapter_called(label: &str) -> FoundAdapter {
    static FOUND: OnceLock<FoundAdapter> = OnceLock::new();
    let mut adapter = FOUND.get_or_init(adapter).clone();
    adapter.description.label = label.into();
    adapter
}
