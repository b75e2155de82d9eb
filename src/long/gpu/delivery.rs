//! Results that a panel leaves on the device, and results that it has delivered.

use std::time::Duration;

use crate::long::kernels::striped::StripedShared;

/// Maximum time of a submission.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);
/// Bytes of the state that all strips share.
pub(super) const SHARED_BYTES: u64 = size_of::<StripedShared>() as u64;

/// Results that a panel has delivered already.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct DeliveredRange {
    /// Rows of the right border.
    pub rows: u32,
    /// Cells that were reported.
    pub cells: u64,
}

/// Results that a panel is to leave on the device.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecordPolicy {
    /// Columns between borders that are kept as a whole, at least the columns of a strip. `None`
    /// for none inside.
    pub columns: Option<u32>,
    /// Columns of a strip, if they are prescribed.
    pub strip: Option<u32>,
    /// Rows between borders along rows; a multiple of 4.
    pub mark_every: u32,
    /// Whether the right border and the best cell are not needed.
    pub quiet: bool,
}
