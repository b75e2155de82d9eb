//! Sequences: alphabets, the packed store, and readers whose errors name the location.

pub mod aligned;
pub mod alphabet;
mod bytes;
pub mod candidates;
pub mod chunks;
pub mod database;
mod detect;
mod input;
pub mod intervals;
mod located;
mod messages;
pub mod names;
pub mod paired;
pub mod part;
pub mod reader;
pub mod store;
pub mod strand;
pub mod written;

pub use aligned::AlignedRows;
pub(crate) use alphabet::ANY_BASE;
pub use alphabet::{Alphabet, AlphabetChoice, Code, PAD};
pub use candidates::{read_candidate_bytes, read_candidates, read_pair_bytes, read_pairs};
pub use chunks::{ReadChunk, ReadChunks};
pub use database::{SubjectChunk, Subjects};
pub(crate) use input::is_standard;
pub use input::read_text;
pub use intervals::{IntervalPair, read_paf, read_paf_bytes};
pub(crate) use located::{LocatedChunk, LocatedChunks};
pub(crate) use messages::encode_letters;
pub use names::{NameRules, Namer, Renamed};
pub use paired::{PairedChunk, PairedChunks};
pub use part::QueryPart;
pub use reader::{
    NameCheck, PartOfTexts, PartSize, Qualities, ReadOptions, SequenceSource, TextParts, open_texts, read_bytes,
    read_checked, read_described, read_files, read_partners, read_qualified, read_queries, read_sources,
};
pub use store::{SequenceId, SequenceStore, StoreBuilder};
pub use strand::{QueryStrands, Strand, Strands, reverse_complement, reverse_complement_letters};
pub(crate) use strand::{has_lesser_reverse_complement, push_reverse_complement};
pub use written::OriginalLetters;
