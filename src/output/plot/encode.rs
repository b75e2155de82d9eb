//! Writes a drawing in the format of a picture.

use super::drawing::Drawing;
use super::{bitmap, svg};
use crate::error::Result;
use crate::output::Output;
use crate::output::picture::Picture;

impl Drawing {
    /// Writes the picture in a format.
    ///
    /// # Errors
    /// Returns [`crate::Error::Io`] if writing fails.
    pub(super) fn write(&self, picture: Picture, mut output: Output) -> Result<()> {
        output.append(&self.bytes(picture)?)?;
        output.finish()
    }

    /// Returns the bytes of the picture in a format.
    ///
    /// # Errors
    /// Returns [`crate::Error::Internal`] if an image cannot be encoded.
    pub(in crate::output) fn bytes(&self, picture: Picture) -> Result<Vec<u8>> {
        match picture {
            Picture::Svg => svg::bytes(self),
            Picture::Png => bitmap::bytes(self),
        }
    }

    /// Returns the picture as an SVG element for an HTML page.
    ///
    /// # Errors
    /// Returns [`crate::Error::Internal`] if an image cannot be encoded.
    pub(in crate::output) fn svg_element(&self) -> Result<String> {
        svg::element(self)
    }
}
