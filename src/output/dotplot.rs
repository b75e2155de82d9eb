//! Dot plots of long pairs: the path of every alignment, the target across and the query up, as SVG or PNG.
//!
//! The feature `plot` draws them.

#[cfg(feature = "plot")]
mod draw;

#[cfg(feature = "bench")]
pub(crate) use draw::COLOURS;
#[cfg(feature = "plot")]
pub use draw::draw;

/// Kinds of pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Picture {
    /// SVG.
    Svg,
    /// PNG.
    Png,
}
