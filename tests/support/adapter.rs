//! The adapter of all tests that need one.

use std::sync::OnceLock;

use pairwave::gpu::adapter::{FoundAdapter, enumerate};

/// The first adapter. The tests need one: software Vulkan will do.
pub fn adapter() -> FoundAdapter {
    enumerate()
        .into_iter()
        .next()
        .expect("no adapter runs compute shaders here: install software Vulkan (Debian: mesa-vulkan-drivers)")
}

/// The first adapter, the same for all callers, under a name that messages and summaries then have.
pub fn adapter_called(label: &str) -> FoundAdapter {
    static FOUND: OnceLock<FoundAdapter> = OnceLock::new();
    let mut found = FOUND.get_or_init(adapter).clone();
    found.description.label = label.into();
    found
}
