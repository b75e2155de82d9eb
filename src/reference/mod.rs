//! Oracles: the textbook algorithm of each recurrence, slow and obviously right. Fast engines answer to these in tests.

pub mod levenshtein;
pub mod long;
pub mod needleman_wunsch;
pub mod smith_waterman;

pub use needleman_wunsch::{ReferenceAlignment, align, score_only};
pub use smith_waterman::ReferenceLocalAlignment;
