//! What a search is against: many sequences, handed out in chunks.

mod subjects;

pub use subjects::{Size, SubjectChunk, SubjectChunks, Subjects};
