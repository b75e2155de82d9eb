//! The kernel table: one row per kernel, and beside it each kernel's host half.
//!
//! A kernel is a shader in `shaders/`, a file here, and a row in [`KERNELS`]; the same stem names all of them, its
//! bench, its tests and the value of `--kernel`.

pub mod nw_slice;

/// What is known of a kernel without a device.
#[derive(Debug, Clone, Copy)]
pub struct Kernel {
    /// The stem of its names.
    pub stem: &'static str,
    /// The shader's text, without the constants that the host half puts before it.
    pub shader: &'static str,
    /// The recurrence that it computes, by the file name of its oracle in [`crate::reference`].
    pub recurrence: &'static str,
    /// Features without which it does not run.
    pub features: wgpu::Features,
    /// What it is.
    pub summary: &'static str,
}

/// All kernels.
pub const KERNELS: &[Kernel] = &[Kernel {
    stem: "nw_slice",
    shader: nw_slice::SHADER,
    recurrence: "needleman_wunsch",
    features: wgpu::Features::empty(),
    summary: "global score, one pair per invocation, slices of columns in registers (LazyRScan-mNW, Truong et al. 2014)",
}];

/// The kernel with this stem.
pub fn find(stem: &str) -> Option<&'static Kernel> {
    KERNELS.iter().find(|kernel| kernel.stem == stem)
}
