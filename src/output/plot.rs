//! Pictures of matrices and trees, as SVG or PNG: heat maps ([`HeatMap`]) and trees with branch
//! lengths to scale ([`Phylogram`]).
//!
//! A picture is laid out as a list of shapes, in units that are pixels in SVG. One module writes
//! the shapes as SVG 1.1, and another draws them as pixels. The bytes depend only on the data.
//!
//! The module requires the feature `plot`.

pub(in crate::output) mod bitmap;
mod colours;
mod drawing;
mod heatmap;
mod names;
mod phylogram;
mod svg;

pub use heatmap::HeatMap;
pub use phylogram::Phylogram;
