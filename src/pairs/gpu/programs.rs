//! Programs of the GPU engine for pairs.

use crate::gpu::kernels::{Kernel, KernelProgram};
use crate::gpu::source::{Constants, Supplied};
use crate::pairs::kernels::{matrix, nw_slice, nw_slice_half, sw_tile};

/// A program of the GPU engine for pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shader {
    /// `nw_slice`.
    Slice(nw_slice::SliceVariant),
    /// `nw_slice_half`.
    SliceHalf(nw_slice_half::HalfSliceVariant),
    /// A kernel that can store directions.
    Matrix(matrix::MatrixVariant),
    /// The traceback over the stored directions.
    Traceback(matrix::MatrixTraceback),
    /// A kernel for local scores.
    Tile(sw_tile::TileVariant),
}

impl Shader {
    fn program(&self) -> &dyn KernelProgram {
        match self {
            Shader::Slice(variant) => variant,
            Shader::SliceHalf(variant) => variant,
            Shader::Matrix(variant) => variant,
            Shader::Traceback(variant) => variant,
            Shader::Tile(variant) => variant,
        }
    }
}

impl KernelProgram for Shader {
    fn kernel(&self) -> &'static Kernel {
        self.program().kernel()
    }

    fn workgroup_memory(&self) -> u32 {
        self.program().workgroup_memory()
    }

    fn constants(&self) -> Constants {
        self.program().constants()
    }

    fn supplied(&self) -> Supplied {
        self.program().supplied()
    }

    fn overrides(&self) -> Vec<(&'static str, f64)> {
        self.program().overrides()
    }

    fn arenas(&self) -> u32 {
        self.program().arenas()
    }
}
