//! Host halves of `nw_*` and `sw_tile*`: constants, layouts and lists of tasks.
//!
//! `nw_slice` and `nw_slice_half` keep scores only; the kernels that can store directions share [`matrix`] and [`matrix_tasks`], and the walk back, `nw_walk`. [`sw_tile`] is for
//! local scores.

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

/// The kernels that compute scores of pairs in such a mode.
pub fn family_of(mode: Mode) -> Family {
    if mode == Mode::Local { Family::Local } else { Family::Pairs }
}
