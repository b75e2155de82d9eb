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
    "pair_memory",
    "quiet",
    "stats",
    "strip",
    "threads",
    "tune",
    "verbose",
];

/// Options that name files to write, or only describe such a file. They change no byte of the other
/// files.
pub(crate) const OUTPUT_FILES: &[&str] = &[
    "biom",
    "centroids",
    "clstr",
    "clusters",
    "distmat_out",
    "flank",
    "guidetree_out",
    "hit_part",
    "hits_fasta",
    "mothur_list",
    "otu_table",
    "output",
    "pairs_out",
    "plot",
    "report",
    "shared",
    "table",
    "tree_out",
    "uc",
];
