//! Compiled variants of the kernels.

use crate::gpu::kernels::{Kernel, KernelKind, KernelProgram, ProfileStage, of_kind};
use crate::gpu::source::Constants;

/// Number of rows per invocation of `profile_tile`.
pub const ROWS: u32 = 4;
/// Maximum number of letters. With workgroups of 32 invocations, all data then fit the workgroup
/// memory of any device.
pub const MAX_LETTERS: u32 = 24;

/// Constants of a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProfileVariant {
    /// `profile_tile`.
    Tile {
        /// Invocations in a workgroup.
        workgroup: u32,
        /// Columns of a tile.
        columns: u32,
        /// Number of letters, a multiple of 4.
        letters: u32,
    },
    /// `profile_cross`.
    Cross {
        /// Invocations in a workgroup.
        workgroup: u32,
    },
}

impl ProfileVariant {
    /// Returns the bytes of workgroup memory that a workgroup uses.
    pub fn workgroup_bytes(&self) -> u32 {
        match *self {
            // A rectangle, the scores of letters with its rows, the row above the tile, the costs
            // of columns, and the values that invocations pass on.
            ProfileVariant::Tile { workgroup, columns, letters } => {
                32 + 16 * letters * workgroup + 24 * columns + 16 * workgroup
            }
            ProfileVariant::Cross { workgroup } => 20 * workgroup,
        }
    }

    /// Returns the number of invocations in a workgroup.
    pub fn workgroup(&self) -> u32 {
        let (ProfileVariant::Tile { workgroup, .. } | ProfileVariant::Cross { workgroup }) = *self;
        workgroup
    }
}

impl KernelProgram for ProfileVariant {
    fn kernel(&self) -> &'static Kernel {
        of_kind(KernelKind::Profile(match self {
            ProfileVariant::Tile { .. } => ProfileStage::Tile,
            ProfileVariant::Cross { .. } => ProfileStage::Cross,
        }))
    }

    fn workgroup_memory(&self) -> u32 {
        self.workgroup_bytes()
    }

    fn constants(&self) -> Constants {
        let all = Constants::default().number("WG", self.workgroup());
        match *self {
            ProfileVariant::Tile { columns, letters, .. } => all.number("TILE", columns).number("LETTERS", letters),
            ProfileVariant::Cross { .. } => all,
        }
    }
}
