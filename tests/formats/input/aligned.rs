//! Alignments in every format.

use pairwave::seq::aligned::aligned_code;
use pairwave::seq::{AlignedRows, Alphabet, AlphabetChoice};

fn read(text: &str) -> AlignedRows {
    AlignedRows::read_bytes("a.aln", text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn rows(names: &[&str], rows: &[&str]) -> AlignedRows {
    let names = names.iter().map(|&name| name.into()).collect();
    AlignedRows { file: "a.aln".into(), names, rows: rows.iter().map(|row| row.as_bytes().to_vec()).collect() }
}

#[test]
fn every_form_of_alignment_is_read() {
    let two = rows(&["first", "2nd|x"], &["ACGTacgu-N", "A---~?RXg*"]);
    for text in [
        ">first of two\nACGTacgu-N\n>2nd|x\r\nA---~?\r\nRXg*",
        "\u{feff};comment\n\n>first\nACGTa\ncgu-N\n;comment\n\n>2nd|x\nA---~ ?RXg*\n",
        "2 10\nfirst ACGTacgu-N\n2nd|x A---~?RXg*\n",
        " 2\t10 \r\nfirst\t  ACGTa cgu-N\r\n2nd|x A---~ ?RXg*\r\n\r\n",
        // Sequential.
        "2 10\nfirst ACGTa\ncgu-\nN\n2nd|x A--\n\n-~?RXg*\n",
        "2 10\nfirst\nACGTacgu-N\n2nd|x\nA---~?RXg*\n",
        // Interleaved, with or without names in each block, and with or without blank lines.
        "2 10\nfirst ACGTa\n2nd|x A---~\n\ncgu-N\n?RXg*\n",
        "2 10\nfirst ACGTa\n2nd|x A---~\ncgu-N\n?RXg*\n",
        "2 10\nfirst ACGTa\n2nd|x A---~\n\nfirst cgu-\n2nd|x ?RXg\n\nfirst N\n2nd|x *\n",
        "# STOCKHOLM 1.0\n#=GF ID x\n\nfirst ACGTacgu-N\n#=GR first SS ..........\n2nd|x A---~?RXg*\n//\n\n",
        "# STOCKHOLM 1.0\nfirst ACGTa\n2nd|x A---~\n#=GC RF xxxxx\n\nfirst cgu-N\n2nd|x ?RXg*\n#=GC RF xxxxx\n//",
    ] {
        assert_eq!(read(text), two, "{text}");
    }
    assert_eq!(read("1 3\na ACG"), rows(&["a"], &["ACG"]));
    // A line of a later block starts with a name only if all lines of that block start with their
    // row's name.
    assert_eq!(read("2 4\nAC GT\nG AA\nAC\nGG"), rows(&["AC", "G"], &["GTAC", "AAGG"]));
}

#[test]
fn wrong_alignments_are_located() {
    for (text, expected) in [
        ("", "a.aln: the file is empty"),
        ("\n\n", "a.aln: the file has no row"),
        (
            "@a\nACGT\n",
            "a.aln, line 1: this is not an alignment in a known format: expected '>' (FASTA), two numbers (PHYLIP), '# STOCKHOLM', 'CLUSTAL', '!!' (MSF) or '#NEXUS'",
        ),
        (
            "LOCUS W\n",
            "a.aln, line 1: this is not an alignment in a known format: expected '>' (FASTA), two numbers (PHYLIP), '# STOCKHOLM', 'CLUSTAL', '!!' (MSF) or '#NEXUS'",
        ),
        ("CLUSTAL W\n", "a.aln: the file has no row"),
        (">a\nACG\n>b\nAC\n", "a.aln, line 3, record 'b': the row has 2 columns, but the first, 'a', 3"),
        (">a\nACG\n>b\nACG\n\n>a\nACG", "a.aln, line 6, record 'a': line 1 has a row of this name already"),
        (">a\nACG\n>b\n", "a.aln, line 3, record 'b': the row has no letters"),
        (">\nACG\n", "a.aln, line 1: the row has no name"),
        (">a\nAC\nG1\n", "a.aln, line 3, record 'a': '1' is not a letter of an alignment"),
        (">a\nAC\0\n", "a.aln, line 2, record 'a': byte 0x00 is not a letter of an alignment"),
        ("0 3\n", "a.aln, line 1: an alignment has at least one row and one column"),
        ("2 3\na ACG\n", "a.aln, line 2: the first line says 2 rows, but there are 1"),
        ("2 3\na ACG\nb ACGT\n", "a.aln, line 3, record 'b': the row has 4 columns, but the first line says 3"),
        ("2 3\na ACG\nb AC\n", "a.aln, line 3, record 'b': the row has 2 columns, but the first line says 3"),
        (
            "2 3\na ACG\nb ACG\nc ACG\n",
            "a.aln, line 4: there are more lines after the 2 rows that the first line announces",
        ),
        (
            "2 9\na ACG\nb ACG\n\nACG\nAC\n",
            "a.aln, line 6, record 'b': the row has 5 columns so far, but the first, 'a', 6",
        ),
        ("2 9\na ACG\nb ACG\n\nACG\nACG\n", "a.aln, line 6: rows have 6 columns, but the first line says 9"),
        ("2 3\na ACG\na ACG\n", "a.aln, line 3, record 'a': line 2 has a row of this name already"),
        ("# STOCKHOLM 1.0\na ACG\n", "a.aln, line 3: the alignment does not end with '//': is the file truncated?"),
        ("# STOCKHOLM 1.0\n//\n", "a.aln: the file has no row"),
        ("# STOCKHOLM 1.0\na ACG\n//\n# STOCKHOLM 1.0\n", "a.aln, line 4: there is more than one alignment"),
        ("# STOCKHOLM 1.0\na ACG\nb AC\n//", "a.aln, line 3, record 'b': the row has 2 columns, but the first, 'a', 3"),
    ] {
        let actual = AlignedRows::read_bytes("a.aln", text.as_bytes());
        assert_eq!(actual.map_err(|error| error.to_string()), Err(expected.to_owned()), "{text}");
    }
}

#[test]
fn alphabet_of_alignments_is_detected() {
    use Alphabet::{Dna, Protein};
    for (letters, alphabet) in [
        ("ACGTUNNNN---??", Dna),
        ("XXXXXacgt-.~", Dna),
        ("MKVHSDRWYGAT", Protein),
        ("------NNXX", Dna),
        ("MKTAYIAKQR*", Protein),
    ] {
        assert_eq!(read(&format!(">a\n{letters}\n")).check(AlphabetChoice::Detect).ok(), Some(alphabet), "{letters}");
    }
    let message = |text, choice| read(text).check(choice).unwrap_err().to_string();
    assert_eq!(
        message(">a\nACGTACGTACGTACGT\n>b\nACGTACGTACG-AC.E\n", AlphabetChoice::Detect),
        "a.aln, record 'b': column 16: 'E' is not a letter of DNA/RNA (ACGTU and IUPAC's RYSWKMBDHVN), the alphabet that was \
         detected; give the alphabet if these are proteins"
    );
    assert_eq!(
        message(">a\nA*\n", AlphabetChoice::Fixed(Dna)),
        "a.aln, record 'a': column 2: '*' is not a letter of DNA/RNA (ACGTU and IUPAC's RYSWKMBDHVN)"
    );
    let code = |alphabet, letter| aligned_code(alphabet, letter).map(|code| alphabet.decode(code));
    assert_eq!(
        [b'x', b'i', b'u', b'-', b'?'].map(|letter| code(Dna, letter)),
        [Some(b'N'), Some(b'N'), Some(b'T'), None, None]
    );
    assert_eq!(
        [b'x', b'I', b'*', b'.', b'?'].map(|letter| code(Protein, letter)),
        [Some(b'X'), Some(b'I'), Some(b'*'), None, None]
    );
}

/// Rows in any format are read back unchanged, whatever their lengths and line breaks.
#[test]
fn random_alignments_round_trip_in_every_format() {
    for seed in 0..300 {
        let mut random = fastrand::Rng::with_seed(seed);
        let (count, columns) = (random.usize(1..6), random.usize(1..80));
        let names: Vec<String> =
            (0..count).map(|row| format!("{}{row}", random.choice(["t_", "AC", "x|", "9"]).unwrap())).collect();
        let letters: Vec<String> = (0..count)
            .map(|_| (0..columns).map(|_| *random.choice(b"ACGTUacgtnRY-~?").unwrap() as char).collect())
            .collect();
        let expected = rows(
            &names.iter().map(String::as_str).collect::<Vec<_>>(),
            &letters.iter().map(String::as_str).collect::<Vec<_>>(),
        );
        let width = random.usize(1..40);
        let pieces =
            |row: usize| letters[row].as_bytes().chunks(width).map(|piece| String::from_utf8_lossy(piece).into_owned());
        let fasta: String = (0..count)
            .map(|row| format!(">{} x\n{}\n", names[row], pieces(row).collect::<Vec<_>>().join("\n")))
            .collect();
        let head = format!("{count} {columns}\n");
        let sequential: String =
            (0..count).map(|row| format!("{} {}\n", names[row], pieces(row).collect::<Vec<_>>().join("\n"))).collect();
        let block = |number: usize, named: bool| -> String {
            let line = |row: usize| {
                (if named { names[row].clone() + " " } else { String::new() })
                    + &pieces(row).nth(number).unwrap()
                    + "\n"
            };
            (0..count).map(line).collect::<String>() + "\n"
        };
        let blocks = columns.div_ceil(width);
        let named: String = (0..blocks).map(|number| block(number, true)).collect();
        let plain: String = (0..blocks).map(|number| block(number, number == 0)).collect();
        let stockholm = format!("# STOCKHOLM 1.0\n{named}//\n");
        for text in [fasta, head.clone() + &sequential, head.clone() + &plain, head + &named, stockholm] {
            assert_eq!(
                AlignedRows::read_bytes("a.aln", text.as_bytes()).ok().as_ref(),
                Some(&expected),
                "seed {seed}:\n{text}"
            );
        }
    }
}

#[test]
fn broken_files_never_panic() {
    let whole = ["2 6\na ACG\nb ACG\n\nACG\nACG\n", ">a\nACG\n>b\nAC-\n", "# STOCKHOLM 1.0\na ACG\nb ACG\n//\n"];
    for seed in 0..3000 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut text = random.choice(whole).unwrap().as_bytes().to_vec();
        for _ in 0..random.usize(1..5) {
            let at = random.usize(0..text.len());
            match random.u32(0..3) {
                0 if text.len() > 1 => drop(text.remove(at)),
                1 => text.insert(at, *random.choice(b"ab>#/ \n\r12-\0\xFF").unwrap()),
                _ => text[at] = random.u8(..),
            }
        }
        if let Ok(actual) = AlignedRows::read_bytes("a.aln", &text) {
            assert!(actual.columns() > 0 && actual.rows.iter().all(|row| row.len() == actual.columns()), "seed {seed}");
            assert_eq!(actual.names.len(), actual.rows.len(), "seed {seed}");
        }
    }
}
