use super::*;
use crate::seq::messages::lines_and_column;

fn load(data: &[u8], choice: AlphabetChoice, limits: StoreLimits) -> Result<Loaded> {
    let options = ReadOptions { alphabet: choice, ..ReadOptions::default() };
    Recorder::new(&options, limits).read_all(SequenceInput::new("x.fa", Box::new(data))?)
}

#[test]
fn oversized_stores_are_refused() {
    // Two words and one word.
    let data = b">a\nACGTA\n>b\nACGT\n";
    for (letters, words, expected) in [
        (5, 3, None),
        (4, 3, Some("x.fa, line 1, record 'a': the sequence is too long: 5 letters of at most 4")),
        (
            5,
            2,
            Some(
                "x.fa, line 3, record 'b': the file is too large: with this record 3 words of four letters, of at most 2",
            ),
        ),
    ] {
        let error = load(data, AlphabetChoice::Detect, StoreLimits { letters, words }).err();
        assert_eq!(error.as_ref().map(Error::to_string).as_deref(), expected);
        assert!(error.is_none_or(|error| error.exit_code() == 2));
    }
    // The end of the last word still fits 32 bits.
    assert_eq!(u32::try_from(LIMITS.words), Ok(u32::MAX));
}

#[test]
fn bytes_are_located_by_line_and_column() {
    let raw = b"AC\nGT\r\n\nA";
    let expected =
        [(0, 1), (0, 2), (0, 3), (1, 1), (1, 2), (1, 3), (1, 4), (2, 1), (3, 1)].map(|(line, column)| (line, column));
    for (index, &position) in expected.iter().enumerate() {
        assert_eq!(lines_and_column(raw, index), position, "byte {index}");
    }
}

#[test]
fn letters_are_recoded_in_place() {
    let loaded = load(b">a\nACGUN\n>b\nry\n", AlphabetChoice::Detect, LIMITS).unwrap();
    let before = loaded.builder.words();
    let stores = build_stores(vec![loaded], &ReadOptions::default()).unwrap();
    let mut builder = SequenceStore::builder(Alphabet::Dna);
    builder.push_letters("a", b"ACGTN").unwrap();
    builder.push_letters("b", b"RY").unwrap();
    assert_eq!(stores, [builder.build()]);
    assert_eq!(stores[0].packed_bytes().len() / 4, before);
}

#[test]
fn wrong_qualities_are_located_in_wrapped_records() {
    let message = |data: &[u8], keeps_qualities: bool| {
        let recorder = Recorder { keeps_qualities, ..Recorder::new(&ReadOptions::default(), LIMITS) };
        let read = SequenceInput::new("x.fq", Box::new(data)).and_then(|input| recorder.read_all(input));
        read.err().map(|error| error.to_string())
    };
    for (data, place) in [
        (&b"@a\nACGT\n+\nI II\n"[..], "line 4, column 2"),
        (b"@a\nACGT\nACGT\n+\nIIII\nII I\n", "line 6, column 3"),
        (b"@a\r\nACGT\r\nACGT\r\n+\r\nIIII\r\nII I\r\n", "line 6, column 3"),
        (b"\n\n@a\nAC\n\nGT\n+a\n\nII\n\nI \n", "line 11, column 2"),
        (b"@b\nAC\nGT\n+\nI\nIII\n@a\n;ACGT\nACGT\n+\nIIIII\nII\x01I\n", "line 12, column 3"),
    ] {
        let shown = String::from_utf8_lossy(data);
        for keeps_qualities in [true, false] {
            let message = message(data, keeps_qualities).unwrap_or_else(|| panic!("{shown:?} was read"));
            assert!(message.starts_with(&format!("x.fq, {place}, record 'a': byte ")), "{shown:?}: {message}");
        }
    }
    let all: Vec<u8> = (b'!'..=b'~').collect();
    let every_quality = [b"@a\n", &*vec![b'A'; all.len()], b"\n+\n", &all, b"\n"].concat();
    for keeps_qualities in [true, false] {
        assert_eq!(message(b"@a\nAC\nGT\n+\nIII\nI\n", keeps_qualities), None);
        assert_eq!(message(&every_quality, keeps_qualities), None);
    }
}

#[test]
fn wrapped_qualities_are_kept_without_line_ends() {
    let options = ReadOptions { degap: true, ..ReadOptions::default() };
    let data = &b"@a\nAC\n-G\nT\n+\n1\n2345\n"[..];
    let recorder = Recorder { keeps_qualities: true, ..Recorder::new(&options, LIMITS) };
    let loaded = recorder.read_all(SequenceInput::new("x.fq", Box::new(data)).unwrap()).unwrap();
    let stores = build_stores(vec![loaded], &options).unwrap();
    assert_eq!(stores[0].qualities(0), b"1245");
}
