//! Accepted input, and input that causes only a warning.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use pairwave::seq::{Alphabet, AlphabetChoice, Qualities, ReadOptions, read_bytes, read_files, read_queries};

use super::*;

/// Returns all warnings while `job` runs.
fn warnings(job: impl FnOnce()) -> String {
    #[derive(Clone, Default)]
    struct Sink(Arc<Mutex<Vec<u8>>>);
    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let sink = Sink::default();
    let writer = sink.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(move || writer.clone())
        .without_time()
        .with_target(false)
        .with_ansi(false)
        .finish();
    tracing::subscriber::with_default(subscriber, job);
    let bytes = sink.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn every_format_and_compression_is_read() {
    let folder = tempfile::tempdir().unwrap();
    for (format, data) in [("fa", FASTA), ("fq", FASTQ)] {
        let mut forms = vec![(format.to_owned(), data.to_vec())];
        forms.extend(COMPRESSIONS.map(|(ending, compress)| (format!("{format}.{ending}"), compress(data))));
        for (ending, bytes) in forms {
            assert_eq!(read_bytes(&ending, &bytes, &DETECT).unwrap(), three_records(), "{ending} from memory");
            // The format is inferred from the content and not from the name.
            let path = folder.path().join(format!("{ending}.whatever"));
            std::fs::write(&path, bytes).unwrap();
            let stores = read_files(&[path.to_str().unwrap()], &DETECT).unwrap();
            assert_eq!(stores, [three_records()], "{ending} from a file");
        }
    }
}

#[test]
fn every_member_of_a_compressed_file_is_read() {
    for (ending, compress) in COMPRESSIONS {
        // The data is cut into two members in the middle of a record, with an empty member between
        // them.
        let mut bytes = [compress(&FASTA[..25]), compress(b""), compress(&FASTA[25..])].concat();
        assert_eq!(read_bytes(ending, &bytes, &DETECT).unwrap(), three_records(), "{ending}");
        // Some devices pad the last block of a file with zeros.
        bytes.resize(1 << 14, 0);
        assert_eq!(
            warnings(|| assert_eq!(read_bytes(ending, &bytes, &DETECT).unwrap(), three_records(), "{ending}")),
            ""
        );
    }
}

/// This is not a test, but the child process of the next test.
#[test]
#[ignore = "run by standard_input_is_read"]
fn print_standard_input() {
    match read_files(&["-"], &DETECT) {
        Ok(stores) => print!("<{}>", (0..stores[0].len() as u32).map(|id| stores[0].letters(id)).collect::<String>()),
        Err(error) => print!("<{error}>"),
    }
}

#[test]
fn standard_input_is_read() {
    let letters = "<ACGTNRYACGTGATTACAT>";
    let mut inputs = vec![(FASTA.to_vec(), letters)];
    inputs.extend(COMPRESSIONS.map(|(_, compress)| (compress(FASTQ), letters)));
    inputs.push((Vec::new(), "<standard input: the file is empty>"));
    inputs.push((b">a\nA-".to_vec(), "<standard input, line 2, column 2, record 'a': '-' is a gap"));
    for (bytes, expected) in inputs {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "input::forms::print_standard_input", "--nocapture"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&bytes).unwrap();
        let output = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
        assert!(output.contains(expected), "{output}");
    }
}

#[test]
fn line_ends_blank_lines_and_byte_order_marks_are_ignored() {
    for data in [FASTA, FASTQ] {
        let plain = String::from_utf8(data.to_vec()).unwrap();
        for variant in [
            plain.replace('\n', "\r\n"),
            plain.trim_end().to_owned(),
            plain.trim_end().replace('\n', "\r\n"),
            format!("\u{FEFF}{plain}"),
            format!("\n\r\n{plain}"),
            format!("{plain}\n\n"),
            format!("{plain}\r\n"),
            plain.replace('\n', "\r"),
            plain.replacen(&plain[..1], &format!("{} \t", &plain[..1]), 1),
        ] {
            assert_eq!(read_bytes("x", variant.as_bytes(), &DETECT).unwrap(), three_records(), "{variant:?}");
        }
    }
    let old = b"; made by hand\n>a\n; its first half\nACGT NRY\r\n;\n  ac gu\t\n>b\nGATT ACA\n;end\n>c\nT";
    assert_eq!(read_bytes("x", old, &DETECT).unwrap(), three_records());
    let aligned = b">a\n--ACGTNRY\nac~gu..\n>b\nGAT-TACA\n>c\n-------T\n";
    assert_eq!(read_bytes("x", aligned, &ReadOptions { degap: true, ..DETECT }).unwrap(), three_records());
    // Inosine, as in primers.
    let primers = b">a\nACGTACGTACGTACGTACITI\n";
    assert_eq!(read_bytes("x", primers, &DETECT).unwrap().letters(0), "ACGTACGTACGTACGTACNTN");
    assert_eq!(read_bytes("x", b">a\niii\n", &DNA).unwrap().letters(0), "NNN");
    let spread = b">a\n\nACGTNRY\n\n\nacgu\n\n>b\nGATTACA\n>c\nT\r";
    assert_eq!(read_bytes("x", spread, &DETECT).unwrap(), three_records());
}

#[test]
fn fastq_may_be_wrapped() {
    let wrapped = b"@a\nACGT\nNRY\r\nacgu\n+a\n@III\n+III>I@\n@b desc\nGATTACA\n+b desc\n@@@@\n+++\n@c\nT\n+ \nI\n\n\n";
    assert_eq!(read_bytes("x", wrapped, &DETECT).unwrap(), three_records());
    let illegal = read_bytes("x", b"@a\nACGT\nAC7T\n+\nIIII\nIIII\n", &DETECT).unwrap_err().to_string();
    assert!(illegal.starts_with("x, line 3, column 3, record 'a': '7'"), "{illegal}");
}

#[test]
fn records_without_sequence_are_skipped_with_one_warning() {
    let expected = store(Alphabet::Dna, &[("a", "ACGT"), ("c", "GATT")]);
    for (data, index) in [
        ("\n>a\nACGT\n>b\n>c\nGATT\n", "line 4, record 'b'"),
        (">b\n\n>a\nACGT\n>c\nGATT", "line 1, record 'b'"),
        (">a\nACGT\n>c\nGATT\n>b", "line 5, record 'b'"),
        ("@a\nACGT\n+\nIIII\n@b\n\n+\n\n@c\nGATT\n+\nIIII\n", "line 5, record 'b'"),
        ("@a\nACGT\n+\nIIII\n@b\n+\n@c\nGATT\n+\nIIII\n", "line 5, record 'b'"),
    ] {
        let said = warnings(|| assert_eq!(read_bytes("x", data.as_bytes(), &DETECT).unwrap(), expected, "{data}"));
        assert_eq!(said, format!(" WARN x, {index}: the record has no sequence and is skipped\n"), "{data}");
    }
    let said = warnings(|| drop(read_bytes("x", b">a\n>b\n>c\nA\n>d", &DETECT).unwrap()));
    assert_eq!(said, " WARN x, line 1, record 'a': the record has no sequence and is skipped, as are 2 others\n");
}

#[test]
fn x_and_inosine_are_read_as_n() {
    let expected = store(Alphabet::Dna, &[("a", "ACGTNNNNACGT"), ("b", "ACGTAACCACGT")]);
    let data = b">a\nACGTNNXxACGT\n>b\nACGTAACCACGT\n";
    assert_eq!(read_bytes("x", data, &DETECT).unwrap(), expected);
    assert_eq!(read_bytes("x", data, &DNA).unwrap(), expected);
    assert_eq!(read_bytes("x", b">a\nXXXX\n", &DETECT).unwrap().alphabet(), Alphabet::Protein);
    assert_eq!(read_bytes("x", b">a\nMKVLXXAELFQ\n", &DETECT).unwrap().letters(0), "MKVLXXAELFQ");
}

#[test]
fn queries_of_another_alphabet_cause_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, data: &str| {
        let path = folder.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(&path, data).unwrap();
        path
    };
    let (dna, peptide, protein) =
        (path("d.fa", ">a\nACGTACGT\n"), path("p.fa", ">a\nMKVHSDRWYGAT\n"), path("q.fa", ">a\nMKVLAE\n"));
    let said = warnings(|| drop(read_queries(&dna, Alphabet::Protein, &DETECT, Qualities::Skip).unwrap()));
    assert_eq!(said, format!(" WARN {dna}: looks like DNA/RNA by itself but is read as protein, as the database is\n"));
    let said = warnings(|| drop(read_queries(&peptide, Alphabet::Dna, &DETECT, Qualities::Skip).unwrap()));
    assert_eq!(
        said,
        format!(" WARN {peptide}: looks like a protein file by itself but is read as DNA/RNA, as the database is\n")
    );
    assert_eq!(warnings(|| drop(read_queries(&dna, Alphabet::Protein, &PROTEIN, Qualities::Skip).unwrap())), "");
    assert_eq!(warnings(|| drop(read_queries(&protein, Alphabet::Protein, &DETECT, Qualities::Skip).unwrap())), "");
    let error = read_queries(&protein, Alphabet::Dna, &DETECT, Qualities::Skip).unwrap_err().to_string();
    assert!(
        error.ends_with("'L' is not a letter of DNA/RNA (ACGTU and IUPAC's RYSWKMBDHVN), the alphabet of the database"),
        "{error}"
    );
}

#[test]
fn names_end_at_the_first_blank() {
    let data = b">sp|P1|X_Y z\nA\n>b\tc d\nA\n>\xE9\xC3\xA9 x\nA\n";
    let store = read_bytes("x", data, &DETECT).unwrap();
    let names: Vec<&str> = (0..3).map(|id| store.name(id)).collect();
    // Bytes that are not UTF-8 are shown as U+FFFD.
    assert_eq!(names, ["sp|P1|X_Y", "b", "\u{FFFD}\u{E9}"]);
    // The original bytes are kept, and names that differ only in them are different names.
    let said = warnings(|| {
        let store = read_bytes("f.fa", b">caf\xE9\nACGT\n>caf\xE8\nACGT\n>cafe\nACGT\n", &DETECT).unwrap();
        assert_eq!([store.name(0), store.name(1), store.name(2)], ["caf\u{fffd}", "caf\u{fffd}", "cafe"]);
        let bytes = [store.name_bytes(0), store.name_bytes(1), store.name_bytes(2)];
        assert_eq!((bytes, store.foreign_names()), ([&b"caf\xE9"[..], b"caf\xE8", b"cafe"], 2));
    });
    assert_eq!(said, "");
}

#[test]
fn records_near_the_buffer_size_are_complete() {
    for size in (65_526..65_546).chain([131_072, 200_001]) {
        let letters: String = (0..size).map(|i| b"ACGT"[(i * i + i / 7) % 4] as char).collect();
        let fasta = format!(">a\n{letters}\n>b\nGATTACA\n");
        let fastq = format!("@a\n{letters}\n+\n{}\n@b\nGATTACA\n+\nIIIIIII\n", "I".repeat(size));
        let expected = store(Alphabet::Dna, &[("a", &letters), ("b", "GATTACA")]);
        for data in [&fasta, &fastq, fasta.trim_end(), fastq.trim_end()] {
            assert!(read_bytes("x", data.as_bytes(), &DETECT).unwrap() == expected, "{size} letters, {data:.3}");
        }
    }
}

#[test]
fn alphabet_is_detected_from_all_files() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, data: &str| {
        let path = folder.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(&path, data).unwrap();
        path
    };
    let dna = write("dna.fa", ">a\nACGTUN\n");
    let protein = write("protein.fa", ">b\nMKVLAELFQ*\n>c\nBZXUOJ\n");
    let peptide = write("peptide.fa", ">d\nGATTACA\n");

    let stores = read_files(&[&dna, &peptide], &DETECT).unwrap();
    assert_eq!(stores, [store(Alphabet::Dna, &[("a", "ACGTUN")]), store(Alphabet::Dna, &[("d", "GATTACA")])]);

    // U stays U in proteins. One file looks like DNA on its own, and a warning reports this.
    let said = warnings(|| {
        let stores = read_files(&[&protein, &peptide], &DETECT).unwrap();
        let expected = [
            store(Alphabet::Protein, &[("b", "MKVLAELFQ*"), ("c", "BZXUOJ")]),
            store(Alphabet::Protein, &[("d", "GATTACA")]),
        ];
        assert_eq!(stores, expected);
        assert_eq!(stores[0].letters(1), "BZXUOJ");
    });
    let expected =
        format!(" WARN {peptide}: looks like DNA/RNA by itself but is read as protein, as all files together look\n");
    assert_eq!(said, expected);

    // A given alphabet is not detected.
    let stores = read_files(&[&dna, &peptide], &PROTEIN).unwrap();
    assert!(stores.iter().all(|store| store.alphabet() == Alphabet::Protein));
}

#[test]
fn duplicate_names_cause_one_warning() {
    let said = warnings(|| {
        let store = read_bytes("x.fa", b">a 1\nA\n>b\nC\n>a 2\nG\n", &DETECT).unwrap();
        assert_eq!(store.len(), 3, "all records are kept");
    });
    assert_eq!(said, " WARN x.fa: 1 record has the name of an earlier one: 'a'\n");

    let records: String = "eabacadaebbccddee".chars().map(|name| format!(">{name}\nA\n")).collect();
    let said = warnings(|| drop(read_bytes("x.fa", records.as_bytes(), &DETECT).unwrap()));
    assert_eq!(said, " WARN x.fa: 12 records have the name of an earlier one: 'a', 'e', 'b', ...\n");

    assert_eq!(warnings(|| drop(read_bytes("x.fa", FASTA, &DETECT).unwrap())), "");
}

#[test]
fn shipped_genes_are_read() {
    let folder = Path::new(support::ROOT).join("assets/16s");
    let paths = ["gold200.fasta", "gold12.fasta"].map(|name| folder.join(name).to_str().unwrap().to_owned());
    let stores = read_files(&[&paths[0], &paths[1]], &DETECT).unwrap();
    let (all, small) = (&stores[0], &stores[1]);
    assert_eq!((all.alphabet(), all.len(), small.len()), (Alphabet::Dna, 200, 12));
    assert!(all.lengths().iter().all(|length| (1205..=1655).contains(length)));
    for id in 0..12 {
        let same = (0..200).find(|&other| all.name(other) == small.name(id)).expect("a subset");
        assert_eq!(all.codes(same), small.codes(id));
    }
}

#[test]
fn any_text_is_read_as_bytes() {
    let options = ReadOptions { alphabet: AlphabetChoice::Fixed(Alphabet::Bytes), ..ReadOptions::default() };
    let data = b">a first\r\nNa\xC3\xAFve text,\r\n\twith > and - and \xFF\x01\r\n>b\nb\nB\n";
    let store = read_bytes("bytes.fa", data, &options).unwrap();
    assert_eq!((store.len(), store.name(0), store.name(1)), (2, "a", "b"));
    assert_eq!((store.codes(0), store.codes(1)), (&b"Na\xC3\xAFve text,\twith > and - and \xFF\x01"[..], &b"bB"[..]));
    let every: Vec<u8> = (1..=255).filter(|byte| !matches!(byte, b'\n' | b'\r')).collect();
    let fastq = [b"@q\n", &every[..], b"\n+\n", &vec![b'I'; every.len()], b"\n"].concat();
    assert_eq!(read_bytes("bytes.fq", &fastq, &options).unwrap().codes(0), every);
    // This alphabet is never detected.
    assert!(read_bytes("bytes.fa", data, &DETECT).is_err());
    for (data, index) in [(&b">a\nAC\n\0\n"[..], "line 3, column 1"), (b">a\nA\rC\n", "line 2, column 2")] {
        let error = read_bytes("bytes.fa", data, &options).unwrap_err().to_string();
        assert!(error.starts_with(&format!("bytes.fa, {index}, record 'a': ")), "{error}");
    }
}

#[test]
fn lists_have_a_sequence_or_a_name_and_a_sequence_per_line() {
    let lists = ReadOptions { lists: true, ..DETECT };
    let expected = store(Alphabet::Dna, &[("one", "ACGT"), ("ACGNN", "ACGNN"), ("three", "GATTACA"), ("GG", "GG")]);
    let data = b"\n; comment\none\tACGT\nAC GNN\r\n\n;\nthree\tgat taca \nGG";
    assert_eq!(read_bytes("x", data, &lists).unwrap(), expected);
    // Other formats are still read.
    assert_eq!(read_bytes("x", b">a\nACGT\n", &lists).unwrap(), store(Alphabet::Dna, &[("a", "ACGT")]));
    for (data, message) in [
        (&b"ACGT\none\tACGT7\n"[..], "x, line 2, column 9, record 'one': '7'"),
        (b"\nACGT\nAC-T\n", "x, line 3, column 3, record 'AC-T': '-' is a gap"),
        (b"one\tACGT\tmore\n", "x, line 1: a line has a sequence, or a name, a tab and a sequence"),
        (b"ACGT\n\tACGT\n", "x, line 2, column 2: the record has no name"),
        (b"one\t\ntwo\t\n", "x, line 1, record 'one': no record of the file has a sequence"),
    ] {
        let error = read_bytes("x", data, &lists).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
    let said = warnings(|| drop(read_bytes("x", b"A\nb\t\nc\t", &lists).unwrap()));
    assert_eq!(said, " WARN x, line 2, record 'b': the record has no sequence and is skipped, as is another one\n");
    let error = read_bytes("x", b"ACGT\n", &DETECT).unwrap_err().to_string();
    assert!(error.contains("neither FASTA nor FASTQ"), "{error}");
}
