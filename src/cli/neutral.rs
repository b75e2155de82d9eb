//! Options that never change a byte of the results.

/// Options by their names in the parser. They select devices, speed, checks and reports.
pub(crate) const NEUTRAL: &[&str] = &[
    "check",
    "checkpoint",
    "chunk",
    "device",
    "edit_filter",
    "exhaustive",
    "host_memory",
    "kernel",
    "memory",
    "method",
    "no_prune",
    "quiet",
    "stats",
    "strip",
    "threads",
    "tune",
    "verbose",
];

/// Options that name files to write. They change no byte of the other files.
pub(crate) const OUTPUT_FILES: &[&str] =
    &["distmat_out", "guidetree_out", "output", "plot", "report", "table", "tree_out"];
