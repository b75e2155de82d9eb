//! `--plot`: the file of a picture.

use super::is_same_file;
use pairwave::output::dotplot::Picture;
use pairwave::{Error, Result};
use std::path::{Path, PathBuf};

/// File of a picture, and its format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct PlotFile {
    pub(in crate::cli) path: PathBuf,
    pub(in crate::cli) picture: Picture,
}

impl PlotFile {
    /// Returns the file with the format of its ending. Rejects a file that would overwrite another.
    pub(in crate::cli) fn new(path: PathBuf, inputs: &[&Path], others: [Option<&Path>; 2]) -> Result<Self> {
        if !cfg!(feature = "plot") {
            return Err(Error::usage("--plot: this program was built without the feature 'plot'"));
        }
        let typed = path.display();
        let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
        let picture = match ending.as_deref().and_then(|ending| ending.to_str()) {
            Some("svg") => Picture::Svg,
            Some("png") => Picture::Png,
            _ => return Err(Error::usage(format!("--plot {typed}: the name must end in .svg or .png"))),
        };
        if inputs.iter().any(|input| is_same_file(&path, input)) {
            return Err(Error::usage(format!("--plot {typed} would overwrite an input file")));
        }
        if others.into_iter().flatten().any(|other| path == other || is_same_file(&path, other)) {
            return Err(Error::usage(format!("--plot {typed} would overwrite another output file")));
        }
        Ok(PlotFile { path, picture })
    }
}
