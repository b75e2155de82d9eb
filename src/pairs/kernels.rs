//! Host side of the kernels `nw_*` and `sw_tile*`: constants, layouts and task lists.
//!
//! `nw_slice` and `nw_slice_half` compute scores only. The kernels that can store directions share
//! [`matrix`], [`matrix_tasks`] and the traceback kernel `nw_traceback`. [`sw_tile`] computes local
//! scores.

pub mod layout;
pub mod matrix;
pub mod matrix_tasks;
pub mod nw_slice;
pub mod nw_slice_half;
mod samples;
pub mod sw_tile;
pub mod tile_tasks;

pub use self::samples::samples;

use crate::gpu::kernels::Family;
use crate::score::Mode;

/// Returns the kernel family that computes scores of pairs in this mode.
pub fn family_of(mode: Mode) -> Family {
    if mode == Mode::Local { Family::Local } else { Family::Pairs }
}
