//! Tests of reference trees with their alignments: names, states of edges, and the results of
//! PaPaRa.

mod names;
mod shipped;
mod states;

use pairwave::papara::{Reference, ReferenceTree};
use pairwave::seq::{AlignedRows, Alphabet, AlphabetChoice};

/// Builds a reference from the text of a tree and from rows.
fn reference(tree: &str, rows: &[(String, String)], alphabet: Alphabet) -> pairwave::Result<Reference> {
    let fasta: String = rows.iter().map(|(name, row)| format!(">{name}\n{row}\n")).collect();
    let rows = AlignedRows::read_bytes("a.fa", fasta.as_bytes())?;
    Reference::new(ReferenceTree::parse("a.nwk", tree.as_bytes())?, rows, AlphabetChoice::Fixed(alphabet))
}

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}
