//! The kernel table: one row per kernel, and beside it each kernel's host half.
//!
//! A kernel is a shader in `shaders/`, a file here, and a row in [`KERNELS`]; the same stem names all of them, its
//! bench, its tests and the value of `--kernel`. The kernels that can store directions share their host half,
//! [`matrix`], and the walk back, `nw_walk.wgsl`.

pub mod layout;
pub mod matrix;
pub mod nw_slice;

pub use matrix::Scan;

/// What is known of a kernel without a device.
#[derive(Debug, Clone, Copy)]
pub struct Kernel {
    /// The stem of its names.
    pub stem: &'static str,
    /// The shader's text, without what the host half puts before it.
    pub shader: &'static str,
    /// The recurrence that it computes, by the name of its oracle.
    pub recurrence: &'static str,
    /// Features without which it does not run.
    pub features: wgpu::Features,
    /// How it goes over the matrix, if it can store directions; `None` for `nw_slice`.
    pub scan: Option<Scan>,
    /// What it is.
    pub summary: &'static str,
}

/// All kernels.
pub const KERNELS: &[Kernel] = &[
    Kernel {
        stem: "nw_slice",
        shader: nw_slice::SHADER,
        recurrence: "needleman_wunsch",
        features: wgpu::Features::empty(),
        scan: None,
        summary: "scores, one pair per invocation, slices of columns in registers (LazyRScan-mNW, Truong et al. 2014)",
    },
    Kernel {
        stem: "nw_rows",
        shader: include_str!("../../../shaders/nw_rows.wgsl"),
        recurrence: "needleman_wunsch",
        features: wgpu::Features::empty(),
        scan: Some(Scan::Rows),
        summary: "alignments, one pair per invocation, rows in slices (RScan-mNW, Truong et al. 2014)",
    },
    Kernel {
        stem: "nw_diagonal",
        shader: include_str!("../../../shaders/nw_diagonal.wgsl"),
        recurrence: "needleman_wunsch",
        features: wgpu::Features::empty(),
        scan: Some(Scan::Diagonal),
        summary: "alignments, one pair per workgroup, diagonals in one dispatch (DScan-mNW, Truong et al. 2014)",
    },
    Kernel {
        stem: "nw_diagonal_subgroup",
        shader: include_str!("../../../shaders/nw_diagonal_subgroup.wgsl"),
        recurrence: "needleman_wunsch",
        features: wgpu::Features::SUBGROUP,
        scan: Some(Scan::DiagonalSubgroup),
        summary: "nw_diagonal with one pair per subgroup and shuffles instead of workgroup memory",
    },
    Kernel {
        stem: "nw_tiled_diagonal",
        shader: include_str!("../../../shaders/nw_tiled_diagonal.wgsl"),
        recurrence: "needleman_wunsch",
        features: wgpu::Features::empty(),
        scan: Some(Scan::TiledDiagonal),
        summary: "alignments, one tile per workgroup, a dispatch a diagonal of tiles (TiledDScan-mNW, Truong et al. 2014)",
    },
];

/// The kernel with this stem.
pub fn find(stem: &str) -> Option<&'static Kernel> {
    KERNELS.iter().find(|kernel| kernel.stem == stem)
}
