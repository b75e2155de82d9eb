//! Reads against the ancestral states of a reference tree.

#[doc(hidden)]
pub mod spool;
