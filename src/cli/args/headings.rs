//! Headings of help texts, and the text of `--quiet`, which `pairwave papara` declares itself.

pub(super) const SCORING: &str = "Scoring";
pub(super) const SELECTION: &str = "Selection";
pub(super) const OUTPUT: &str = "Output";
pub(super) const COMPUTING: &str = "Computing";

pub(super) const QUIET: &str = "Print errors only: no progress, no summary, no warnings";
/// Display order that lists `--quiet` after all other options.
pub(super) const QUIET_ORDER: usize = 900;
