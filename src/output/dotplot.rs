//! Dot plots of long pairs: the path of every alignment, with the targets along the horizontal and
//! the queries along the vertical axis, as SVG or PNG.
//!
//! Drawing requires the feature `plot`.

#[cfg(feature = "plot")]
mod axis;
#[cfg(feature = "plot")]
mod draw;

#[cfg(feature = "bench")]
pub(crate) use draw::COLOURS;
#[cfg(feature = "plot")]
pub use draw::draw;

/// Formats of pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Picture {
    /// SVG.
    Svg,
    /// PNG.
    Png,
}
