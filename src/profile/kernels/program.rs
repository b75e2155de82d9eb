//! The kernels with their constants.

use crate::gpu::kernels::{Kernel, KernelKind, KernelProgram, ProfileStage, of_kind};
use crate::gpu::source::Constants;

/// Rows of an invocation of `profile_tile`.
pub const ROWS: u32 = 4;
/// Letters that fit into workgroup memory that every device has, beside the rest, where workgroups have 32 invocations.
pub const MAX_LETTERS: u32 = 24;

/// What a pipeline is made for: shader constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Variant {
    /// `profile_tile`.
    Tile {
        /// Invocations a workgroup.
        workgroup: u32,
        /// Columns of a tile.
        columns: u32,
        /// Letters, a multiple of 4.
        letters: u32,
    },
    /// `profile_cross`.
    Cross {
        /// Invocations a workgroup.
        workgroup: u32,
    },
}

impl Variant {
    /// Bytes of workgroup memory that a workgroup takes.
    pub fn workgroup_bytes(&self) -> u32 {
        match *self {
            // A rectangle, letters' scores of its rows, the row before and costs of columns, what invocations hand down.
            Variant::Tile { workgroup, columns, letters } => {
                32 + 16 * letters * workgroup + 24 * columns + 16 * workgroup
            }
            Variant::Cross { workgroup } => 20 * workgroup,
        }
    }

    /// Invocations a workgroup.
    pub fn workgroup(&self) -> u32 {
        let (Variant::Tile { workgroup, .. } | Variant::Cross { workgroup }) = *self;
        workgroup
    }
}

impl KernelProgram for Variant {
    fn kernel(&self) -> &'static Kernel {
        of_kind(KernelKind::Profile(match self {
            Variant::Tile { .. } => ProfileStage::Tile,
            Variant::Cross { .. } => ProfileStage::Cross,
        }))
    }

    fn constants(&self) -> Constants {
        let all = Constants::default().number("WG", self.workgroup());
        match *self {
            Variant::Tile { columns, letters, .. } => all.number("TILE", columns).number("LETTERS", letters),
            Variant::Cross { .. } => all,
        }
    }
}
