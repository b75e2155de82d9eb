use super::*;
use crate::seq::read_bytes;
use proptest::prelude::*;

/// Reads all parts. Returns the records that they make up, and the largest number of symbols of
/// a part.
fn joined(data: &[u8], options: &ReadOptions, size: PartSize) -> Result<(SequenceStore, u64)> {
    let input = SequenceInput::new("x.fa", Box::new(std::io::Cursor::new(data.to_vec())))?;
    let mut parts = TextParts::open(input, options, size)?;
    parts.fill()?;
    let [first] = decide_alphabet([&mut parts.recorder], options)?;
    parts.ready = parts.cut(first);
    let (mut records, mut most): (Vec<(String, Vec<u8>)>, _) = (Vec::new(), 0);
    let mut is_continued = false;
    while let Some(part) = parts.next()? {
        let last = part.store.len() as SequenceId - 1;
        most = most.max(part.store.lengths().iter().map(|&length| u64::from(length)).sum());
        assert_eq!(part.first as usize, records.len() - usize::from(is_continued));
        for id in 0..=last {
            let codes = part.store.codes(id);
            if id > 0 || !is_continued {
                records.push((part.store.name(id).to_owned(), Vec::new()));
            }
            let (_, all) = records.last_mut().unwrap();
            let own = if id == 0 { part.before as usize } else { 0 }
                ..codes.len() - if id == last { part.after as usize } else { 0 };
            assert!(!own.is_empty() && (part.after == 0 || part.after == size.overlap));
            if id == 0 && is_continued {
                assert_eq!((part.offset + part.before) as usize, all.len());
                assert!(part.before == size.overlap || part.offset == 0);
            }
            all.extend(&codes[own]);
        }
        is_continued = part.after > 0;
    }
    let alphabet = parts.alphabet();
    let outline = parts.finish();
    let mut builder = SequenceStore::builder(alphabet);
    for (id, (name, codes)) in (0..).zip(records) {
        assert_eq!((outline.name(id), outline.length(id) as usize), (name.as_str(), codes.len()));
        builder.push(name, &codes).unwrap();
    }
    let store = builder.build();
    assert_eq!(outline.len(), store.len());
    Ok((store, most))
}

fn lines() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        9 => "[ACGTacgtNR -]{0,20}\n",
        3 => "[ACGT]{0,9}\r\n",
        2 => ";[a-z \r]{0,30}\n",
        1 => "[ACGT;\r]{0,20}\n",
    ];
    prop::collection::vec(line, 0..6).prop_map(|lines| lines.concat())
}

proptest! {
    #[test]
    fn parts_make_up_the_file(
        records in prop::collection::vec(("[a-c]{1,3}", lines()), 1..6),
        (symbols, overlap) in (1..40u64, 1..8u32),
        (is_detected, ends_with_line_feed) in any::<(bool, bool)>(),
    ) {
        let mut data: String = records.iter().map(|(name, lines)| format!(">{name} d\n{lines}")).collect();
        if !ends_with_line_feed {
            data.pop();
        }
        // The first part decides on the alphabet.
        let (alphabet, symbols) = match is_detected {
            true => (AlphabetChoice::Detect, 1000),
            false => (AlphabetChoice::Fixed(Alphabet::Dna), symbols),
        };
        let options = ReadOptions { alphabet, degap: true, ..ReadOptions::default() };
        let size = PartSize { symbols, overlap };
        match (read_bytes("x.fa", data.as_bytes(), &options), joined(data.as_bytes(), &options, size)) {
            (Ok(store), Ok((parts, most))) => {
                prop_assert!(most <= symbols + 2 * u64::from(overlap) + symbols.max(16), "{}", most);
                prop_assert_eq!(parts, store);
            }
            (Err(expected), Err(error)) => prop_assert_eq!(error.to_string(), expected.to_string()),
            (expected, parts) => prop_assert!(false, "{:?} {:?}", expected, parts.map(|_| ())),
        }
    }
}

#[test]
fn errors_in_later_parts_have_a_location() {
    let size = PartSize { symbols: 3, overlap: 2 };
    let options = ReadOptions::default();
    let long = "ACGT".repeat(20);
    for (data, expected) in [
        (format!(">a\n{long}\n{long}\nACG%T\n"), "x.fa, line 4, column 4, record 'a': '%' is not a letter"),
        (format!(">a\n{long}\n>b\n{long}E\n"), "x.fa, line 4, column 81, record 'b': 'E' is not a letter of DNA"),
        (format!(">a\n{long}\n>\tb\x01\n{long}\n"), "x.fa, line 3, column 4, record 'b"),
        (format!(">a\n{long}\n> \n{long}\n"), "x.fa, line 3, column 2: the record has no name"),
        ("@a\nACGT\n+\nIIII\n@b\nACGT\n+\nIII\n".to_owned(), "x.fa, line 5, record 'b': the FASTQ record is trunc"),
        (">a\n>b\n\n".to_owned(), "x.fa, line 1, record 'a': no record of the file has a sequence"),
    ] {
        let error = joined(data.as_bytes(), &options, size).map(|_| ()).unwrap_err();
        assert!(error.to_string().starts_with(expected), "{error}");
    }
}

#[test]
fn letters_of_another_alphabet_are_refused_in_later_parts() {
    let size = PartSize { symbols: 16, overlap: 2 };
    let data = format!(">a\n{}\n>b\n{}\n", "ACGT".repeat(20), "MKTAYIAKQR".repeat(50));
    assert!(read_bytes("x.fa", data.as_bytes(), &ReadOptions::default()).is_ok());
    let error = joined(data.as_bytes(), &ReadOptions::default(), size).map(|_| ()).unwrap_err();
    assert!(error.to_string().starts_with("x.fa, line 4, column 9, record 'b': 'Q' is"), "{error}");
}
