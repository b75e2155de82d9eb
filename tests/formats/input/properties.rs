//! Random records in random forms are read back unchanged, and no input makes the reader panic.

use pairwave::Error;
use pairwave::seq::{Alphabet, AlphabetChoice, ReadOptions, read_bytes};
use proptest::prelude::*;

use super::*;

/// Names and letters of records.
type Records = Vec<(String, String)>;

fn records(letters: &'static str) -> impl Strategy<Value = Records> {
    prop::collection::vec(("[!-~]{1,12}", letters), 1..8)
}

/// Formats FASTA with lines of this width.
fn fasta(records: &Records, width: usize, line_end: &str, last_line_end: bool) -> String {
    let mut lines = Vec::new();
    for (name, letters) in records {
        lines.push(format!(">{name} described"));
        lines.extend(letters.as_bytes().chunks(width).map(|line| String::from_utf8_lossy(line).into_owned()));
    }
    lines.join(line_end) + if last_line_end { line_end } else { "" }
}

fn fastq(records: &Records, line_end: &str) -> String {
    let record = |(name, letters): &(String, String)| {
        [format!("@{name}\tdescribed"), letters.clone(), "+".to_owned(), "@".repeat(letters.len()), String::new()]
            .join(line_end)
    };
    records.iter().map(record).collect()
}

fn line_end(windows: bool) -> &'static str {
    if windows { "\r\n" } else { "\n" }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn written_records_round_trip(
        (alphabet, records) in prop_oneof![
            records("[ACGTURYSWKMBDHVNacgturyswkmbdhvn]{1,90}").prop_map(|records| (Alphabet::Dna, records)),
            records("[A-Za-z*]{1,90}").prop_map(|records| (Alphabet::Protein, records)),
        ],
        width in 1usize..100,
        windows in any::<bool>(),
        last_line_end in any::<bool>(),
    ) {
        let options = ReadOptions { alphabet: AlphabetChoice::Fixed(alphabet), ..ReadOptions::default() };
        let pairs: Vec<(&str, &str)> = records.iter().map(|(name, letters)| (&name[..], &letters[..])).collect();
        let expected = store(alphabet, &pairs);
        let fasta = fasta(&records, width, line_end(windows), last_line_end);
        prop_assert_eq!(&read_bytes("x", fasta.as_bytes(), &options).unwrap(), &expected);
        let fastq = fastq(&records, line_end(windows));
        prop_assert_eq!(&read_bytes("x", fastq.as_bytes(), &options).unwrap(), &expected);

        // Every letter is also a protein letter, and random letters may look like either alphabet.
        // So detection returns the store in the detected alphabet, or an error that mentions it.
        match read_bytes("x", fasta.as_bytes(), &DETECT) {
            Ok(detected) => prop_assert_eq!(&detected, &store(detected.alphabet(), &pairs)),
            Err(error) => prop_assert!(error.to_string().contains("the alphabet that was detected"), "{}", error),
        }
    }

    #[test]
    fn genes_are_detected_as_dna(records in records("[ACGTacgtUuNn]{1,90}"), width in 1usize..100) {
        let pairs: Vec<(&str, &str)> = records.iter().map(|(name, letters)| (&name[..], &letters[..])).collect();
        let fasta = fasta(&records, width, "\n", true);
        let detected = read_bytes("x", fasta.as_bytes(), &DETECT).unwrap();
        prop_assert_eq!(&detected, &store(Alphabet::Dna, &pairs));
    }

    #[test]
    fn wrong_letters_are_located(
        records in records("[ACGT]{1,90}"),
        width in 1usize..100,
        windows in any::<bool>(),
        pick in any::<prop::sample::Index>(),
    ) {
        let mut text = fasta(&records, width, line_end(windows), true);
        let (mut start, mut letters) = (0, Vec::new());
        for line in text.split_inclusive('\n') {
            if !line.starts_with('>') {
                letters.extend(start..start + line.trim_end().len());
            }
            start += line.len();
        }
        let position = letters[pick.index(letters.len())];
        text.replace_range(position..=position, "?");
        let before = &text[..position];
        let line = before.matches('\n').count() as u64 + 1;
        let column = (position - before.rfind('\n').unwrap()) as u64;
        let header = before.lines().rev().find(|line| line.starts_with('>')).unwrap();
        match read_bytes("x", text.as_bytes(), &DETECT) {
            Err(Error::Input { location, .. }) => {
                prop_assert_eq!((location.line, location.column), (Some(line), Some(column)));
                prop_assert_eq!(location.record.as_deref(), header[1..].split(' ').next());
            }
            other => prop_assert!(false, "{:?}", other),
        }
    }

    #[test]
    fn no_input_makes_the_reader_panic(
        start in prop_oneof![Just(""), Just(">"), Just("@"), Just("@a\nAC\n+\nII\n"), Just(">a\nAC\n")],
        rest in "[>@+\r\n \tACI\u{e9}-]{0,40}",
    ) {
        let data = format!("{start}{rest}");
        match read_bytes("x", data.as_bytes(), &DETECT) {
            Ok(store) => {
                prop_assert!(!store.is_empty() && store.lengths().iter().all(|&length| length > 0));
                let letters: u64 = store.lengths().iter().map(|&length| u64::from(length)).sum();
                prop_assert!(letters <= data.len() as u64);
            }
            Err(error) => prop_assert_eq!(error.exit_code(), 2),
        }
    }

    #[test]
    fn no_bytes_make_the_reader_panic(
        magic in prop::sample::select(vec![&b""[..], b"\x1F\x8B\x08", b"BZh9", b"\xFD7zXZ\0", b"\x28\xB5\x2F\xFD"]),
        rest in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        let data = [magic, &rest].concat();
        if let Err(error) = read_bytes("x", &data, &DETECT) {
            prop_assert_eq!(error.exit_code(), 2);
        }
    }
}
