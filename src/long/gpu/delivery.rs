//! Results that a panel leaves on the device, and results that it has already delivered.

use std::time::Duration;

use crate::long::kernels::striped::StripedShared;

/// Maximum time that the host waits for a submission.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);
/// Bytes of the state that all strips share.
pub(super) const SHARED_BYTES: u64 = size_of::<StripedShared>() as u64;

/// Results that a panel has already delivered.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct DeliveredRange {
    /// Number of delivered rows of the right border.
    pub rows: u32,
    /// Number of reported cells.
    pub cells: u64,
}

/// Results that a panel is to leave on the device.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecordPolicy {
    /// Distance in columns between borders that are kept as a whole, at least the width of a strip.
    /// `None` keeps no borders inside the panel.
    pub columns: Option<u32>,
    /// Required number of columns of a strip; `None` leaves the choice to the engine.
    pub strip: Option<u32>,
    /// Distance in rows between borders along rows; a multiple of 4.
    pub mark_every: u32,
    /// Whether the borders and the best cell are not delivered to the host.
    pub quiet: bool,
}
