//! The adapter of all tests that need one.

use pairwave::gpu::adapter::{FoundAdapter, enumerate};

/// The first adapter. The tests need one: software Vulkan will do.
pub fn adapter() -> FoundAdapter {
    enumerate()
        .into_iter()
        .next()
        .expect("no adapter runs compute shaders here: install software Vulkan (Debian: mesa-vulkan-drivers)")
}
