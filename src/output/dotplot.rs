//! Dot plots of long pairs: the path of every alignment, with the targets along the horizontal and
//! the queries along the vertical axis, as SVG or PNG.
//!
//! Drawing requires the feature `plot`.

#[cfg(feature = "plot")]
mod axis;
#[cfg(feature = "plot")]
mod draw;
#[cfg(feature = "plot")]
mod path;

#[cfg(feature = "plot")]
use self::draw::drawing;
#[cfg(feature = "plot")]
use super::{LongContext, LongPairAlignment, plot::svg::DECLARATION};
#[cfg(feature = "plot")]
use crate::error::Result;

pub use super::picture::Picture;

/// Draws all alignments and returns the bytes of the file.
///
/// # Errors
/// Returns an error if any of them has only a score.
#[cfg(feature = "plot")]
pub fn draw(picture: Picture, context: &LongContext, alignments: &[LongPairAlignment<'_>]) -> Result<Vec<u8>> {
    match picture {
        Picture::Svg => Ok([DECLARATION, &svg_element(context, alignments)?].concat().into_bytes()),
        Picture::Png => drawing(context, alignments)?.bytes(picture),
    }
}

/// Draws all alignments and returns an SVG element for an HTML page.
///
/// # Errors
/// Returns an error if any of them has only a score.
#[cfg(feature = "plot")]
pub(in crate::output) fn svg_element(context: &LongContext, alignments: &[LongPairAlignment<'_>]) -> Result<String> {
    drawing(context, alignments)?.svg_element()
}
