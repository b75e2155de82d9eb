//! Handles memory shortage: an engine frees unused buffers, waits until the device has released
//! them, and tries once more.

use std::time::Duration;

use super::device::Gpu;
use crate::error::{Error, Result};

/// Seconds to wait for the device to release freed memory.
const RELEASE_SECONDS: u64 = 10;

/// An engine that holds memory of a device.
pub(crate) trait MemoryHolder {
    /// Returns the device.
    fn gpu(&self) -> &Gpu;

    /// Returns whether the user was warned that memory is short.
    fn has_warned(&mut self) -> &mut bool;

    /// Frees everything that can be created again and that no running work uses.
    fn free(&mut self);
}

/// Runs an attempt with `false`. If memory is short, frees unused memory and runs the attempt once
/// more, with `true`, which requests it to use less memory. Returns `Ok(Err(message))` if memory
/// was short both times.
///
/// # Errors
/// Other errors of the attempts.
pub(crate) fn attempt<H: MemoryHolder, T>(
    holder: &mut H,
    mut attempt: impl FnMut(&mut H, bool) -> Result<T>,
) -> Result<Result<T, String>> {
    let refused = holder.gpu().refused_buffers();
    let first = attempt(holder, false);
    let Some(error) = shortage_message(holder.gpu(), refused, &first) else { return first.map(Ok) };
    recover(holder, &error);
    let refused = holder.gpu().refused_buffers();
    let second = attempt(holder, true);
    match shortage_message(holder.gpu(), refused, &second) {
        Some(error) => Ok(Err(error)),
        None => second.map(Ok),
    }
}

/// Returns the error message if the device has refused a buffer since the counter of refused
/// buffers had the value `refused`. Returns `None` if the error has another cause or the device is
/// lost.
pub(crate) fn shortage_message<T>(gpu: &Gpu, refused: u64, result: &Result<T>) -> Option<String> {
    let Err(Error::Device { message, .. }) = result else { return None };
    (gpu.refused_buffers() > refused && gpu.check().is_ok()).then(|| message.clone())
}

/// Frees unused memory, warns the user once, and waits until the device has released the memory.
pub(crate) fn recover<H: MemoryHolder>(holder: &mut H, error: &str) {
    let has_warned = std::mem::replace(holder.has_warned(), true);
    let name = holder.gpu().label();
    if has_warned {
        tracing::debug!("device '{name}': {error}");
    } else {
        tracing::warn!("device '{name}': {error}; freeing unused memory and trying again");
    }
    holder.free();
    // Running work may still use freed buffers. Waiting only makes it more likely that the next
    // attempt succeeds, so a timeout is ignored.
    let timeout = Some(Duration::from_secs(RELEASE_SECONDS));
    let _ = holder.gpu().device.poll(wgpu::PollType::Wait { submission_index: None, timeout });
}
