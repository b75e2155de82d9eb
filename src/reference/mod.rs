//! Oracles: the textbook algorithm of each recurrence, slow and obviously right. Fast engines answer to these in tests.

pub mod needleman_wunsch;

pub use needleman_wunsch::{ReferenceAlignment, align, score_only};
