//! Pictures of matrices and trees, as SVG or PNG: heat maps ([`HeatMap`]) and trees with branch
//! lengths to scale ([`Phylogram`]). [Dot plots](super::dotplot) use the same shapes.
//!
//! A picture is laid out as a list of shapes, in units that are pixels in SVG. One module writes
//! the shapes as SVG 1.1, and another draws them as pixels. The bytes depend only on the data.
//!
//! The module requires the feature `plot`.

mod bitmap;
pub(in crate::output) mod colours;
pub(in crate::output) mod drawing;
mod encode;
mod heatmap;
pub(in crate::output) mod names;
mod phylogram;
pub(in crate::output) mod svg;

#[cfg(feature = "bench")]
pub(crate) use colours::LINE_COLOURS;
pub use heatmap::HeatMap;
pub use phylogram::Phylogram;
