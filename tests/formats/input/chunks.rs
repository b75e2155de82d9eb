//! Reads in chunks.

use pairwave::seq::{Alphabet, ReadChunk, ReadChunks, ReadOptions, read_bytes};

use super::{COMPRESSIONS, DNA, FASTA, FASTQ, three_records};

fn all(data: &[u8], alphabet: Alphabet, reads: usize, symbols: u64) -> pairwave::Result<Vec<ReadChunk>> {
    let mut chunks = ReadChunks::open_bytes("r.fa", data, alphabet)?;
    std::iter::from_fn(|| chunks.next(reads, symbols).transpose()).collect()
}

#[test]
fn chunks_hold_every_read_once() {
    for data in [FASTA, FASTQ] {
        for (reads, symbols, expected) in [
            (9, u64::MAX, 1),
            (1, u64::MAX, 3),
            (0, 0, 3),
            (2, u64::MAX, 2),
            (9, 11, 2),
            (9, 12, 2),
            (9, 18, 2),
            (9, 19, 1),
        ] {
            let chunks = all(data, Alphabet::Dna, reads, symbols).unwrap();
            assert_eq!(chunks.len(), expected, "{reads} reads, {symbols} symbols");
            let mut number = 0;
            for chunk in &chunks {
                assert_eq!(chunk.first, number);
                for id in 0..chunk.store.len() as u32 {
                    let whole = number as u32;
                    assert_eq!(chunk.store.name(id), three_records().name(whole));
                    assert_eq!(chunk.store.codes(id), three_records().codes(whole));
                    assert_eq!(chunk.letters(id), ["ACGTNRYacgu", "GATTACA", "T"][whole as usize].as_bytes());
                    number += 1;
                }
            }
            assert_eq!(number, 3);
        }
    }
}

#[test]
fn compressed_reads_are_the_same() {
    let plain = all(FASTQ, Alphabet::Dna, 2, u64::MAX).unwrap();
    for (name, compress) in COMPRESSIONS {
        assert_eq!(all(&compress(FASTQ), Alphabet::Dna, 2, u64::MAX).unwrap(), plain, "{name}");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("reads");
        std::fs::write(&path, compress(FASTA)).unwrap();
        let mut chunks = ReadChunks::open(path.to_str().unwrap(), Alphabet::Dna).unwrap();
        assert_eq!(*chunks.next(9, u64::MAX).unwrap().unwrap().store, three_records(), "{name}");
    }
}

#[test]
fn letters_are_kept_as_written() {
    let chunk = |data: &[u8], alphabet| all(data, alphabet, 9, u64::MAX).unwrap().remove(0);
    let dna = chunk(b">a\nac-GU.\r\n nX~?\n;comment A\nI\n>b x\n\n>c\n---\n", Alphabet::Dna);
    assert_eq!([dna.letters(0), dna.letters(1), dna.letters(2)], [&b"acGUnX?I"[..], b"", b""]);
    assert_eq!((dna.store.letters(0).as_str(), dna.store.lengths()), ("ACGTNNNN", &[8, 0, 0][..]));
    let protein = chunk(b"@a\nmk?x*J-\n+\n1234567\n@b\n\n+\n\n", Alphabet::Protein);
    assert_eq!([protein.letters(0), protein.letters(1)], [&b"mk?x*J"[..], b""]);
    assert_eq!(protein.store.letters(0), "MKXX*J");
}

#[test]
fn errors_equal_the_whole_file_reader() {
    for data in
        [&b">a\nACGT\n>b\nAC\nG1\n"[..], b">a\nAC\nL\n", b"", b"x\n", b">\nA\n", b"@a\nACG\n+\nII\n", b"@a\nACG\n"]
    {
        let other = read_bytes("r.fa", data, &ReadOptions { degap: true, ..DNA }).unwrap_err().to_string();
        let message = all(data, Alphabet::Dna, 1, 1).unwrap_err().to_string();
        // If the letter is a protein letter, the error of a chunk ends with an explanation.
        let explained = message.strip_suffix(", the alphabet of the reference alignment");
        assert_eq!(explained.unwrap_or(&message), other);
        assert_eq!(explained.is_some(), data.ends_with(b"L\n"), "{message}");
    }
    // Earlier chunks remain usable.
    let mut chunks = ReadChunks::open_bytes("r.fa", b">a\nAC\n>b\nA1\n", Alphabet::Dna).unwrap();
    assert_eq!(chunks.next(1, 9).unwrap().unwrap().store.name(0), "a");
    assert!(chunks.next(1, 9).unwrap_err().to_string().starts_with("r.fa, line 4, column 2, record 'b': '1' is not"));
}

/// A reader can be moved to another thread.
#[test]
fn readers_can_be_sent_to_threads() {
    fn is_send<T: Send>(_: &T) {}
    is_send(&ReadChunks::open_bytes("r.fa", FASTA, Alphabet::Dna).unwrap());
}
