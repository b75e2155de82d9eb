//! Oracles: the textbook algorithms of global and local alignment, slow and obviously correct.
//! Tests compare the fast engines with them.

pub mod needleman_wunsch;
pub mod smith_waterman;

pub use needleman_wunsch::{ReferenceAlignment, align, score_only};
pub use smith_waterman::ReferenceLocalAlignment;
