//! Readers of FASTA and FASTQ: every accepted form, every wrong input with the complete text of its
//! error, and properties of random records.

mod aligned;
mod chunks;
mod forms;
mod properties;
mod wrong;

use std::io::Write;

use pairwave::seq::{Alphabet, AlphabetChoice, ReadOptions, SequenceStore};

const DETECT: ReadOptions = ReadOptions { alphabet: AlphabetChoice::Detect, degap: false, lists: false };
const DNA: ReadOptions = ReadOptions { alphabet: AlphabetChoice::Fixed(Alphabet::Dna), degap: false, lists: false };
const PROTEIN: ReadOptions =
    ReadOptions { alphabet: AlphabetChoice::Fixed(Alphabet::Protein), degap: false, lists: false };

const FASTA: &[u8] = b">a first of three\nACGTNRY\nacgu\n>b\ttabbed\nGATTACA\n>c\nT\n";
const FASTQ: &[u8] = b"@a first of three\nACGTNRYacgu\n+\nIIIIIIIIIII\n@b\ttabbed\nGATTACA\n+b\n@>+!~I@\n@c\nT\n+\n!\n";

/// Returns the store that [`FASTA`] and [`FASTQ`] contain.
fn three_records() -> SequenceStore {
    store(Alphabet::Dna, &[("a", "ACGTNRYACGT"), ("b", "GATTACA"), ("c", "T")])
}

/// Builds a store with the library's builder, without files.
fn store(alphabet: Alphabet, records: &[(&str, &str)]) -> SequenceStore {
    let mut builder = SequenceStore::builder(alphabet);
    for (name, letters) in records {
        builder.push_letters(*name, letters.as_bytes()).expect("letters of the alphabet");
    }
    builder.build()
}

type Compress = fn(&[u8]) -> Vec<u8>;

const COMPRESSIONS: [(&str, Compress); 4] = [("gz", gzip), ("bz2", bzip2), ("xz", xz), ("zst", zstd)];

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn bzip2(data: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn xz(data: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// Compresses with a checksum, as the zstd program does.
fn zstd(data: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 0).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}
