//! Kernels for Levenshtein distances.

pub mod myers;
