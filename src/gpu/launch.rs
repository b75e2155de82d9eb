//! Launches work on a device: uploads, dispatches, submissions and results.
//!
//! A `Recording` lists the steps of one batch, which use the [`Buffers`] of its slot, and submits
//! them. `Commands` is the layer below, whose steps use buffers that the caller owns.

mod buffers;
mod commands;
mod recording;
mod uniforms;

pub use self::buffers::{BatchResults, Buffers, Slot};
pub(crate) use self::commands::{BoundProgram, Commands};
pub(crate) use self::recording::Recording;
pub(crate) use self::uniforms::Uniforms;
