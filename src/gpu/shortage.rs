//! What engines do where a buffer cannot be had: they free what nobody uses, wait until the device has let go of it, and
//! try again once.

use std::time::Duration;

use super::device::Gpu;
use crate::error::{Error, Result};

/// Seconds to wait for the device to let go of what was freed.
const LET_GO_SECONDS: u64 = 10;

/// An engine that holds memory of a device.
pub(crate) trait Holder {
    /// The device.
    fn gpu(&self) -> &Gpu;

    /// Whether the user was told that memory is short.
    fn has_warned(&mut self) -> &mut bool;

    /// Frees what can be made again and what nothing that is under way uses.
    fn free(&mut self);
}

/// Attempts something. If memory is too short for it, again once all is freed that can be; then `attempt` is told to be
/// sparing. What was wrong comes back as `Ok(Err(..))` if memory was short both times.
///
/// # Errors
/// Those of the attempts that come of something else.
pub(crate) fn attempt<H: Holder, T>(
    holder: &mut H,
    mut attempt: impl FnMut(&mut H, bool) -> Result<T>,
) -> Result<Result<T, String>> {
    let refused = holder.gpu().refused_buffers();
    let first = attempt(holder, false);
    let Some(error) = of(holder.gpu(), refused, &first) else { return first.map(Ok) };
    recover(holder, &error);
    let refused = holder.gpu().refused_buffers();
    let second = attempt(holder, true);
    match of(holder.gpu(), refused, &second) {
        Some(error) => Ok(Err(error)),
        None => second.map(Ok),
    }
}

/// What went wrong, if it is that a buffer could not be had since `refused` were; not if the device is lost.
pub(crate) fn of<T>(gpu: &Gpu, refused: u64, result: &Result<T>) -> Option<String> {
    let Err(Error::Device { message, .. }) = result else { return None };
    (gpu.refused_buffers() > refused && gpu.check().is_ok()).then(|| message.clone())
}

/// Frees what can be, tells the user once, and waits until the device has let go.
pub(crate) fn recover<H: Holder>(holder: &mut H, error: &str) {
    let has_warned = std::mem::replace(holder.has_warned(), true);
    let name = holder.gpu().label();
    if has_warned {
        tracing::debug!("device '{name}': {error}");
    } else {
        tracing::warn!("device '{name}': {error}; it frees what it can and tries again");
    }
    holder.free();
    // What is under way may still use what was freed. If it takes longer, so be it: this is only to make it likelier that
    // the next attempt succeeds.
    let timeout = Some(Duration::from_secs(LET_GO_SECONDS));
    let _ = holder.gpu().device.poll(wgpu::PollType::Wait { submission_index: None, timeout });
}
