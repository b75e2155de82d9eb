//! Sequences: alphabets, the packed store, and readers with errors that name their place.

pub mod alphabet;
pub mod candidates;
mod detect;
mod input;
pub mod reader;
pub mod store;
pub mod strand;

pub use alphabet::{Alphabet, Code, PAD};
pub use candidates::{read_candidate_bytes, read_candidates};
pub use reader::{AlphabetChoice, ReadOptions, read_bytes, read_files};
pub use store::{SequenceId, SequenceStore, StoreBuilder};
pub use strand::{Strand, StrandOf, Strands, reverse_complement};
