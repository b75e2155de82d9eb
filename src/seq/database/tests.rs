//! Databases compared with their inputs, and damaged databases.

use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::layout::{BLOCK_BYTES, FOOT_BYTES, Foot, HEAD_BYTES, Section, sum};
use super::*;
use crate::error::{Error, Result};
use crate::seq::alphabet::Alphabet;
use crate::seq::alphabet::AlphabetChoice;
use crate::seq::reader::ReadOptions;
use crate::seq::store::SequenceId;

fn fixed(alphabet: Alphabet) -> ReadOptions {
    ReadOptions { alphabet: AlphabetChoice::Fixed(alphabet), ..ReadOptions::default() }
}

/// Makes a database of texts, each of which is written to a file. Returns its bytes and its
/// summary.
fn make(texts: &[&[u8]], read: &ReadOptions, memory: u64) -> Result<(Vec<u8>, DatabaseSummary)> {
    let directory = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = (0..texts.len()).map(|file| directory.path().join(format!("{file}.fa"))).collect();
    paths.iter().zip(texts).for_each(|(path, text)| std::fs::write(path, text).unwrap());
    let paths: Vec<&str> = paths.iter().map(|path| path.to_str().unwrap()).collect();
    let options = MakeOptions { read: read.clone(), memory, scratch_directory: directory.path().to_owned() };
    let mut bytes = Vec::new();
    let made = read_sorted(&paths, &options, |_| {})?.write(&mut bytes, Path::new("x.pwdb"), |_| Ok(()))?;
    assert_eq!(made.bytes, bytes.len() as u64);
    Ok((bytes, made))
}

/// Opens a database with these bytes.
fn open(bytes: &[u8]) -> Result<Subjects> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.pwdb");
    std::fs::write(&path, bytes).unwrap();
    // The file's name is removed, but its mapped content stays.
    Subjects::open(path.to_str().unwrap(), &ReadOptions::default())
}

/// Returns the error of opening and reading a complete database, if any.
fn open_error(bytes: &[u8]) -> Option<String> {
    let read = open(bytes).and_then(|subjects| subjects.chunks(u64::MAX).try_for_each(|chunk| chunk.map(drop)));
    let error = read.err()?;
    assert!(matches!(error, Error::Input { .. }) && error.exit_code() == 2, "{error}");
    let message = error.to_string();
    let (name, message) = message.split_once("x.pwdb").unwrap_or_else(|| panic!("{message}"));
    assert!(!name.contains(' '));
    Some(message.to_owned())
}

const SOME_RECORDS: &[u8] = b">a first of all\nMKV\n>b\nMKTAYIAKQR\n>c\xFF \xFE\nMLE\n>d and last\nMKTAY\n";

/// Changes a part of a section and corrects all checksums.
fn with_corrected_checksums(change: impl FnOnce(&mut [u8]), section: Section) -> Vec<u8> {
    let mut bytes = make(&[SOME_RECORDS], &ReadOptions::default(), 1 << 20).unwrap().0;
    let length = bytes.len() as u64;
    let mut footer = Foot::from_bytes(bytes.last_chunk().unwrap(), length).unwrap();
    let index = footer.section(section);
    change(&mut bytes[index.start as usize..index.end as usize]);
    let sums = footer.sums();
    assert_eq!(sums.end - sums.start, 8, "one block");
    let (blocks, rest) = bytes.split_at_mut(sums.start as usize);
    rest[..8].copy_from_slice(&sum(blocks).to_le_bytes());
    footer.sum_of_sums = sum(&rest[..8]);
    rest[8..].copy_from_slice(&footer.to_bytes());
    bytes
}

#[test]
fn every_changed_byte_is_detected() {
    let (bytes, made) = make(&[SOME_RECORDS], &ReadOptions::default(), 1 << 20).unwrap();
    assert_eq!((made.size, made.alphabet), (SequenceTotals { sequences: 4, symbols: 21 }, Alphabet::Protein));
    assert_eq!(open_error(&bytes), None);
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        let message = open_error(&damaged).unwrap_or_else(|| panic!("byte {at} of {} may be anything", bytes.len()));
        let expected = match at {
            0..5 => "this is neither FASTA nor FASTQ",
            8..12 => "the database is of version",
            _ if at < bytes.len() - 8 => "the database is damaged",
            _ => "the database is truncated",
        };
        assert!(message.contains(expected), "byte {at}: {message}");
    }
}

#[test]
fn every_truncation_is_detected() {
    let bytes = make(&[SOME_RECORDS], &ReadOptions::default(), 1 << 20).unwrap().0;
    for length in 0..bytes.len() {
        let message = open_error(&bytes[..length]).unwrap_or_else(|| panic!("{length} bytes suffice"));
        let expected = match length {
            0 => "the file is empty",
            1..5 => "this is neither FASTA nor FASTQ",
            _ => "the database is truncated",
        };
        assert!(message.contains(expected), "{length} bytes: {message}");
    }
    assert!(open_error(&[&bytes[..], b"\n"].concat()).unwrap().contains("truncated, or something was added"));
    // The end comes from another database.
    let other = make(&[b">a\nMKV\n"], &ReadOptions::default(), 1 << 20).unwrap().0;
    let joined = [&bytes[..], &other[other.len() - FOOT_BYTES..]].concat();
    assert!(open_error(&joined).unwrap().contains("the database is damaged: its foot"));
}

#[test]
fn inconsistent_databases_with_valid_checksums_are_refused() {
    assert_eq!(open_error(&with_corrected_checksums(|_| {}, Section::Codes)), None);
    let all = [
        with_corrected_checksums(|codes| codes[2] = 28, Section::Codes),
        // The first sequence has ten letters, after two bytes of padding.
        with_corrected_checksums(|codes| codes[0] = 1, Section::Codes),
        with_corrected_checksums(|codes| codes[5] = 0, Section::Codes),
        with_corrected_checksums(|codes| codes.swap(1, 2), Section::Codes),
        with_corrected_checksums(|lengths| lengths[0] = 9, Section::Lengths),
        with_corrected_checksums(|lengths| lengths.swap(0, 4), Section::Lengths),
        with_corrected_checksums(|records| records[8] = 4, Section::Records),
        with_corrected_checksums(|ends| ends[0] = 200, Section::NameEnds),
        with_corrected_checksums(|ends| ends[24] = 200, Section::NameEnds),
        with_corrected_checksums(|ends| ends[31] = 200, Section::DescriptionEnds),
    ];
    let expected = [
        "a symbol of its sequences",
        "a symbol of its sequences",
        "a symbol of its sequences",
        "a symbol of its sequences",
        "its list of lengths",
        "its list of lengths",
        "its list of records",
        "one of its lists of ends",
        "one of its lists of ends",
        "one of its lists of ends",
    ];
    for (number, (bytes, expected)) in all.iter().zip(expected).enumerate() {
        let message = open_error(bytes).unwrap_or_else(|| panic!("forgery {number}"));
        assert_eq!(message, format!(": the database is damaged: {expected} is not what was written"), "{number}");
    }
}

#[test]
fn other_files_are_refused_with_explanation() {
    let mut newer = make(&[SOME_RECORDS], &ReadOptions::default(), 1 << 20).unwrap().0;
    newer[8] = 2;
    let expected = ": the database is of version 2, and this pairwave reads only version 1: create it again with 'pairwave makedb'";
    assert_eq!(open_error(&newer).unwrap(), expected);
    assert!(open_error(b"PK\x03\x04 something of others").unwrap().contains("neither FASTA nor FASTQ"));
    // A database is given where sequences are expected.
    newer[8] = 1;
    let message = crate::seq::read_bytes("x.pwdb", &newer, &ReadOptions::default()).unwrap_err().to_string();
    assert_eq!(message, "x.pwdb: this is a database of 'pairwave makedb'; sequences are expected here");
}

#[test]
fn requested_alphabet_must_match_the_database() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.pwdb");
    std::fs::write(&path, make(&[SOME_RECORDS], &ReadOptions::default(), 1 << 20).unwrap().0).unwrap();
    let open = |alphabet| Subjects::open(path.to_str().unwrap(), &fixed(alphabet));
    assert_eq!(open(Alphabet::Protein).unwrap().size().sequences, 4);
    let message = open(Alphabet::Dna).unwrap_err().to_string();
    assert!(message.ends_with("x.pwdb: the database is of proteins, but DNA/RNA were requested"), "{message}");
}

#[test]
fn database_alphabet_is_detected_from_all_files() {
    // On its own, the second file looks like DNA. Runs store the codes that were read, and these
    // are converted in the end.
    for memory in [0, 1 << 20] {
        let (bytes, made) = make(&[b">a\nMKTAYIAKQR\n", b">b\nACGT\n"], &ReadOptions::default(), memory).unwrap();
        assert_eq!(made.alphabet, Alphabet::Protein);
        assert_eq!(open(&bytes).unwrap().chunk(1..2).unwrap().store.letters(0), "ACGT");
        let (bytes, made) = make(&[b">a\nACGU\nNI\n", b">b\nACGTACGT\n"], &ReadOptions::default(), memory).unwrap();
        assert_eq!(made.alphabet, Alphabet::Dna);
        let chunk = open(&bytes).unwrap().chunk(0..2).unwrap();
        assert_eq!((chunk.store.letters(0), chunk.store.letters(1)), ("ACGTACGT".into(), "ACGTNN".into()));
        let error = make(&[b">a\nACGTACGTACGT\n", b">b\nACGTACGTL\n"], &ReadOptions::default(), memory).unwrap_err();
        assert!(error.to_string().contains("1.fa, line 2, column 9, record 'b': 'L' is not a letter of DNA/RNA"));
    }
}

#[test]
fn blocks_are_checked_on_first_read() {
    // Two sequences that each fill more than a block, and some short ones.
    let large = BLOCK_BYTES as usize + 1000;
    let line = |name: &str, letter: &str, length| format!(">{name}\n{}\n", letter.repeat(length));
    let text = [line("a", "A", 5), line("b", "C", large), line("c", "G", large - 1), line("d", "T", 7)].concat();
    let (bytes, _) = make(&[text.as_bytes()], &ReadOptions::default(), 1 << 20).unwrap();
    let subjects = open(&bytes).unwrap();
    let ranges = subjects.ranges(1 << 20);
    assert_eq!(ranges, [0..1, 1..2, 2..4]);
    let names = |range| {
        subjects
            .chunk(range)
            .map(|chunk| (0..chunk.store.len() as SequenceId).map(|id| chunk.store.name(id).to_owned()).collect())
    };
    let named: Vec<Vec<String>> = ranges.into_iter().map(|range| names(range).unwrap()).collect();
    assert_eq!(named, [vec!["b"], vec!["c"], vec!["d", "a"]]);
    assert_eq!(subjects.chunk(0..1).unwrap().store.codes(0), vec![2; large]);
    // The second block contains the end of the first sequence and most of the second. The first
    // sequence is only in the first two blocks.
    let mut damaged = bytes.clone();
    damaged[2 * BLOCK_BYTES as usize + 3] ^= 1;
    let subjects = open(&damaged);
    // The lengths are in that block too.
    assert!(subjects.unwrap_err().to_string().contains("damaged"));
    let mut damaged = bytes;
    damaged[HEAD_BYTES as usize + 100] ^= 1;
    let subjects = open(&damaged).unwrap();
    assert!(subjects.chunk(0..1).is_err());
    assert_eq!(subjects.chunk(2..4).unwrap().store.len(), 2);
}

#[test]
fn empty_databases_are_valid() {
    let (bytes, made) = make(&[], &fixed(Alphabet::Dna), 1 << 20).unwrap();
    assert_eq!(made.size, SequenceTotals::default());
    let subjects = open(&bytes).unwrap();
    assert_eq!(
        (subjects.size(), subjects.alphabet(), subjects.chunks(9).len()),
        (SequenceTotals::default(), Alphabet::Dna, 0)
    );
    assert_eq!(subjects.lengths(), 0..=0);
}

/// Generates records with any bytes in names and descriptions, except blanks and line ends.
fn records() -> impl Strategy<Value = Vec<(Vec<u8>, Vec<u8>, Vec<u8>)>> {
    let word = |least| prop::collection::vec((33..=255_u8).prop_filter("no control", |&byte| byte != 127), least..6);
    let letters = prop::collection::vec(prop::sample::select(&b"ACDEFGHIKLMNPQRSTVWYX"[..]), 1..30);
    prop::collection::vec((word(1), word(0), letters), 1..25)
}

proptest! {
    #[test]
    fn databases_round_trip(
        records in records(), cuts in prop::collection::vec(0..25_usize, 0..2), memory in 0..2000_u64, max_bytes in 0..300_u64,
    ) {
        let text = |records: &[(Vec<u8>, Vec<u8>, Vec<u8>)]| -> Vec<u8> {
            let record = |(name, description, letters): &(Vec<u8>, Vec<u8>, Vec<u8>)| {
                [b">", &name[..], b" ", description, b"\n", letters, b"\n"].concat()
            };
            records.iter().flat_map(record).collect()
        };
        let whole = text(&records);
        let cut = cuts.first().copied().unwrap_or(0).min(records.len());
        let (first, second) = (text(&records[..cut]), text(&records[cut..]));
        let parts: Vec<&[u8]> = [&first[..], &second[..]].into_iter().filter(|part| !part.is_empty()).collect();
        let options = fixed(Alphabet::Protein);
        let (bytes, made) = make(&parts, &options, memory).unwrap();
        let (database, plain) = (open(&bytes).unwrap(), Subjects::from_bytes("x.fa", &whole, &options).unwrap());
        prop_assert_eq!((database.size(), database.lengths()), (plain.size(), plain.lengths()));
        prop_assert_eq!((made.size, made.alphabet), (plain.size(), plain.alphabet()));
        prop_assert_eq!((database.file_bytes(), plain.file_bytes()), (Some(made.bytes), None));
        prop_assert_eq!(database.ranges(max_bytes), plain.ranges(max_bytes));
        for (stored, held) in database.chunks(max_bytes).zip(plain.chunks(max_bytes)) {
            let (stored, held) = (stored.unwrap(), held.unwrap());
            prop_assert_eq!(&stored.store, &held.store);
            for id in 0..held.store.len() as SequenceId {
                prop_assert_eq!(stored.record(id), held.record(id));
                prop_assert_eq!(stored.store.name(id), held.store.name(id));
                let (name, description, letters) = &records[held.record(id) as usize];
                prop_assert_eq!(stored.store.name_bytes(id), &name[..]);
                prop_assert_eq!(stored.store.description(id), &description[..]);
                prop_assert_eq!(stored.store.letters(id).into_bytes(), &letters[..]);
                prop_assert_eq!(stored.store.packed_sequence(id), held.store.packed_sequence(id));
                prop_assert_eq!(stored.store.end_word(id), held.store.end_word(id));
            }
        }
        for subjects in [&database, &plain] {
            let mut again = Vec::new();
            subjects.in_input_order(|store, id| {
                again.push((store.name_bytes(id).to_vec(), store.description(id).to_vec(), store.letters(id).into_bytes()));
                Ok(())
            }).unwrap();
            prop_assert_eq!(&again, &records);
        }
        // The file does not depend on the memory limit.
        prop_assert_eq!(make(&parts, &options, 1 << 20).unwrap().0, bytes);
    }
}
