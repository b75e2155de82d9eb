//! What a panel leaves on the device and hands on.

use std::time::Duration;

use crate::long::kernels::striped::Shared;

/// Time that a submission may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);
/// Bytes of the state that all strips share.
pub(super) const SHARED_BYTES: u64 = size_of::<Shared>() as u64;

/// What of a panel was handed on already.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Handed {
    /// Rows of its right edge.
    pub rows: u32,
    /// Cells that were reported.
    pub cells: u64,
}

/// What a panel is to leave on the device.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keep {
    /// Columns between edges that are kept whole, at least a strip's; `None` for none inside.
    pub columns: Option<u32>,
    /// Columns of a strip, if that matters.
    pub strip: Option<u32>,
    /// Rows between edges along rows; a multiple of 4.
    pub mark_every: u32,
    /// Whether nobody wants the right edge and the best cell.
    pub quiet: bool,
}
