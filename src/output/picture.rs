//! The formats of pictures.

/// Formats of pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Picture {
    /// SVG.
    Svg,
    /// PNG.
    Png,
}
