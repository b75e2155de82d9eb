//! Wrong input: each kind with the complete text of its error.

use pairwave::Result;
use pairwave::seq::{PairedChunks, Qualities, read_bytes, read_files, read_partners};

use super::*;

/// Returns the text of an error that the user can correct.
fn text<T>(result: Result<T>) -> String {
    let error = result.err().expect("an error");
    assert_eq!(error.exit_code(), 2, "{error}");
    error.to_string()
}

/// Checks the error for each input, plain and compressed.
fn check(cases: &[(&ReadOptions, &[u8], &str)]) {
    for &(options, data, expected) in cases {
        let shown = String::from_utf8_lossy(data);
        assert_eq!(text(read_bytes("x", data, options)), expected, "{shown:?}");
        assert_eq!(text(read_bytes("x", &gzip(data), options)), expected, "{shown:?}, compressed");
    }
}

#[test]
#[rustfmt::skip]
fn illegal_letters_are_located() {
    check(&[
        (&DETECT, b">a\nACGT\n>b x\nACGT\nAC7T\n",
            "x, line 5, column 3, record 'b': '7' is not a letter of DNA/RNA or of proteins"),
        (&DETECT, b"@a\nACGT\n+\nIIII\n@b\nAC!T\n+\nIIII\n",
            "x, line 6, column 3, record 'b': '!' is not a letter of DNA/RNA or of proteins"),
        (&DETECT, b">a\nAC\xC3\xA9",
            "x, line 2, column 3, record 'a': byte 0xC3 is not a letter of DNA/RNA or of proteins"),
        (&DETECT, b">a\nAC\0\n",
            "x, line 2, column 3, record 'a': byte 0x00 is not a letter of DNA/RNA or of proteins"),
        (&DNA, b">a\nACGT\nELVIS\n",
            "x, line 3, column 1, record 'a': 'E' is not a letter of DNA/RNA (ACGTU and IUPAC's RYSWKMBDHVN)"),
        (&DNA, b">a\nACGT\nac*\n",
            "x, line 3, column 3, record 'a': '*' is not a letter of DNA/RNA (ACGTU and IUPAC's RYSWKMBDHVN)"),
        (&PROTEIN, b">a\nELVIS\n1\n",
            "x, line 3, column 1, record 'a': '1' is not a letter of proteins (A to Z and *)"),
        // Detected: the first wrong letter in a file whose kind is otherwise clear.
        (&DETECT, b">a\nACGTACGTACGTACGTACGTACGT\n>b\r\nACGT\r\nACgez\r\n>c\nACGTJT\n",
            "x, line 5, column 4, record 'b': 'e' is not a letter of DNA/RNA (ACGTU and IUPAC's RYSWKMBDHVN), the alphabet that was detected; give the alphabet if these are proteins"),
        (&DETECT, b"@a\nACGTACGTACGTACGTAQ\n+\nIIIIIIIIIIIIIIIIII",
            "x, line 2, column 18, record 'a': 'Q' is not a letter of DNA/RNA (ACGTU and IUPAC's RYSWKMBDHVN), the alphabet that was detected; give the alphabet if these are proteins"),
        // Lines are counted from the start of the file, including blank lines and comments.
        (&DNA, b"\xEF\xBB\xBF\n\r\n>a\r\nAC\r\n\r\nGT1\r\n",
            "x, line 6, column 3, record 'a': '1' is not a letter of DNA/RNA (ACGTU and IUPAC's RYSWKMBDHVN)"),
    ]);
}

#[test]
#[rustfmt::skip]
fn gaps_and_line_ends_inside_sequences_and_what_is_no_sequence() {
    check(&[
        (&DETECT, b">a\n--AC-GT\n",
            "x, line 2, column 1, record 'a': '-' is a gap: the file looks aligned (`degap` removes gaps)"),
        (&PROTEIN, b">a\nELV\nIS..\n",
            "x, line 3, column 3, record 'a': '.' is a gap: the file looks aligned (`degap` removes gaps)"),
        (&DETECT, b">a\nACGT;ACGT\n",
            "x, line 2, column 5, record 'a': ';' is not a letter of DNA/RNA or of proteins"),
        (&DETECT, b"; no record\n;\n",
            "x: the file has no record"),
        (&DETECT, b">a\nACGT\n>b\x1b[31m x\nACGT\n",
            "x, line 3, column 3, record 'b\x1b[31m': byte 0x1B in the record's name"),
        (&DETECT, b"@HD\tVN:1.6\n@SQ\tSN:c\tLN:9\nr\t0\tc\t1\t9\t4M\t*\t0\t0\tACGT\tIIII\n",
            "x: this is SAM, not FASTQ: convert it with 'samtools fastq'"),
        (&DETECT, b">a\nACGT>b\nACGT\n",
            "x, line 2, column 5, record 'a': '>' inside a sequence: is a line end missing before a header?"),
        (&DETECT, b">a\nACGT\n>b\nAC\rGT\r\n",
            "x, line 4, column 3, record 'b': a carriage return inside a line: lines have to end with LF or CR LF"),
        (&DETECT, b">a\rACGT\n>b\rACGT\r",
            "x, line 1, column 3, record 'a': a carriage return inside a line: lines have to end with LF or CR LF"),
        (&DETECT, b"@a\nA\rC\n+\nIII\n",
            "x, line 2, column 2, record 'a': a carriage return inside a line: lines have to end with LF or CR LF"),
    ]);
}

#[test]
#[rustfmt::skip]
fn records_without_name_or_sequence_are_located() {
    check(&[
        (&DETECT, b">\nACGT\n", "x, line 1, column 2: the record has no name"),
        (&DETECT, b">a\nACGT\n>  \nACGT\n", "x, line 3, column 2: the record has no name"),
        (&DETECT, b">a\nACGT\n>\r\n", "x, line 3, column 2: the record has no name"),
        (&DETECT, b">", "x, line 1, column 2: the record has no name"),
        (&DETECT, b">\n", "x, line 1, column 2: the record has no name"),
        (&DETECT, b"@\nAC\n+\nII\n", "x, line 1, column 2: the record has no name"),
        (&DETECT, b">a\n>b\n \n", "x, line 1, record 'a': no record of the file has a sequence"),
        (&DETECT, b">b the last\n", "x, line 1, record 'b': no record of the file has a sequence"),
        (&DETECT, b">b", "x, line 1, record 'b': no record of the file has a sequence"),
        (&DETECT, b">a\r\n\r\n\r\n", "x, line 1, record 'a': no record of the file has a sequence"),
        (&DETECT, b"@a\n\n+\n\n", "x, line 1, record 'a': no record of the file has a sequence"),
        (&DETECT, b"@a\n+\n", "x, line 1, record 'a': no record of the file has a sequence"),
    ]);
}

#[test]
#[rustfmt::skip]
fn truncated_and_damaged_fastq_is_located() {
    check(&[
        (&DETECT, b"@a\nACGT\n+\nIII\n",
            "x, line 1, record 'a': the FASTQ record is truncated or damaged: sequence length is 4 but quality length is 3"),
        (&DETECT, b"@a\nACGT\n+\nIIII\n@b\tx\nAC\n+\nI",
            "x, line 5, record 'b': the FASTQ record is truncated or damaged: sequence length is 2 but quality length is 1"),
        (&DETECT, b"@a\nACGT\n+\nIIIII\n",
            "x, line 1, record 'a': the FASTQ record is truncated or damaged: sequence length is 4 but quality length is 5"),
        (&DETECT, b"@a\nACGT\n+\n",
            "x, line 1, record 'a': the FASTQ record is truncated or damaged: sequence length is 4 but quality length is 0"),
        (&DETECT, b"@a\nACGT\n+",
            "x, line 1, record 'a': the FASTQ record is truncated or damaged: sequence length is 4 but quality length is 0"),
        (&DETECT, b"@a\nACGT\n+\nIII\n@b\nACGT\n+\nIIII\n",
            "x, line 1, record 'a': the FASTQ record is truncated or damaged: sequence length is 4 but quality length is 3"),
        (&DETECT, b"@a\nACGT\n", "x, line 2, record 'a': the file ends inside a FASTQ record"),
        (&DETECT, b"@a\nACG", "x, line 2, record 'a': the file ends inside a FASTQ record"),
        (&DETECT, b"@a\nACGT\n+\nIIII\n@b", "x, line 5, record 'b': the file ends inside a FASTQ record"),
        (&DETECT, b"@", "x, line 1: the file ends inside a FASTQ record"),
        (&DETECT, b"@a\nACGT\n@b\nACGT\n+\nIIII\n", "x, line 3, record 'a': expected the '+' line of a FASTQ record"),
        (&DETECT, b"\n@a x\nAC\nGT\n+other\nIIII\n",
            "x, line 5, record 'a': the '+' line names 'other': it is empty or repeats the record's name"),
        (&DETECT, b"@a\nACGT\n+\nIIII\n\n@b\nACGT\n+\nIIII\n", "x, line 5: a FASTQ record has to start with '@'"),
        (&DETECT, b"@a\nACGT\n+\nIIII\n>b\nACGT\n>c\nACGT\n", "x, line 5: a FASTQ record has to start with '@'"),
    ]);
}

#[test]
#[rustfmt::skip]
fn files_without_records_or_of_another_format() {
    check(&[
        (&DETECT, b"", "x: the file is empty"),
        (&DETECT, b"\n\r\n\n", "x: the file has no record"),
        (&DETECT, b"\xEF\xBB\xBF", "x: the file has no record"),
        (&DETECT, b"A", "x, line 1: this is neither FASTA nor FASTQ: expected '>' or '@' at the start, found 'A'"),
        (&DETECT, b"\n\nAC\n", "x, line 3: this is neither FASTA nor FASTQ: expected '>' or '@' at the start, found 'A'"),
        (&DETECT, b"PK\x03\x04", "x, line 1: this is neither FASTA nor FASTQ: expected '>' or '@' at the start, found 'P'"),
        (&DETECT, b"\x1F", "x, line 1: this is neither FASTA nor FASTQ: expected '>' or '@' at the start, found byte 0x1F"),
        (&DETECT, b" >a\nA", "x, line 1: this is neither FASTA nor FASTQ: expected '>' or '@' at the start, found byte 0x20"),
    ]);
    let mut tar = vec![0; 512];
    tar[..4].copy_from_slice(b"a.fa");
    tar[257..262].copy_from_slice(b"ustar");
    tar.extend_from_slice(FASTA);
    check(&[
        (&DETECT, &tar, "x: this is a tar archive: extract its files ('tar -xf') and name one of them"),
        (&DETECT, b"\nCLUSTAL W\n\na ACGT\n",
            "x, line 2: this is an alignment in Clustal format, and FASTA or FASTQ is expected ('dist' and 'tree' read alignments with `aligned`)"),
        (&DETECT, b"#NEXUS\n",
            "x, line 1: this is an alignment in NEXUS format, and FASTA or FASTQ is expected ('dist' and 'tree' read alignments with `aligned`)"),
        (&DETECT, b" 2 4\n",
            "x, line 1: this is an alignment in PHYLIP format, and FASTA or FASTQ is expected ('dist' and 'tree' read alignments with `aligned`)"),
    ]);
    for (ending, compress) in COMPRESSIONS {
        assert_eq!(text(read_bytes("x", &compress(b""), &DETECT)), "x: the file is empty", "{ending}");
        let twice = text(read_bytes("x", &compress(&compress(FASTA)), &DETECT));
        assert!(twice.starts_with("x, line 1: this is neither FASTA nor FASTQ"), "{ending}: {twice}");
    }
}

#[test]
fn unreadable_files_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (good, bad, missing, directory) = (path("good.fa"), path("bad.fa"), path("missing.fa"), path(""));
    std::fs::write(&good, FASTA).unwrap();
    std::fs::write(&bad, b">a\nAC-T\n").unwrap();
    assert_eq!(text(read_files(&[&good, &missing], &DETECT)), format!("{missing}: no such file"));
    assert_eq!(text(read_files(&[&directory], &DETECT)), format!("{directory}: this is a directory, not a file"));
    assert_eq!(
        text(read_files(&[&good, &bad], &DETECT)),
        format!("{bad}, line 2, column 3, record 'a': '-' is a gap: the file looks aligned (`degap` removes gaps)")
    );
    assert_eq!(text(read_files(&["-", "-"], &DETECT)), "standard input ('-') can be read only once");
    assert_eq!(read_files(&[&good, &good], &DETECT).unwrap(), [three_records(), three_records()]);
    assert_eq!(read_files::<&str>(&[], &DETECT).unwrap(), []);
}

#[test]
fn partners_without_sequence_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (full, gap) = (path("full.fa"), path("gap.fa"));
    std::fs::write(&full, b">a\nACGT\n>b\nACGT\n").unwrap();
    std::fs::write(&gap, b">a\n>b\nACGT\n").unwrap();
    for paths in [[&full, &gap], [&gap, &full]] {
        let paths = paths.map(String::as_str);
        let expected = format!("{gap}, line 1, record 'a': the record has no sequence, and skipping it would change");
        assert!(text(read_partners(paths, &DETECT, Qualities::Keep)).starts_with(&expected));
        assert!(text(PairedChunks::open(paths, &DETECT, 9, 99)).starts_with(&expected));
    }
    assert_eq!(read_partners([&full, &full], &DETECT, Qualities::Skip).unwrap().map(|store| store.len()), [2, 2]);
}

#[test]
fn other_bytes_after_compressed_data_are_refused_or_ignored() {
    for (ending, compress) in COMPRESSIONS {
        let bytes = [&compress(FASTA)[..], b"\0\0garbage"].concat();
        match ending {
            "gz" | "bz2" => assert_eq!(read_bytes("x", &bytes, &DETECT).unwrap(), three_records(), "{ending}"),
            _ => assert!(text(read_bytes("x", &bytes, &DETECT)).contains("data is truncated or damaged"), "{ending}"),
        }
    }
}

#[test]
fn truncated_compressed_files_are_refused() {
    let data: Vec<u8> = [FASTA, b">d\n", &b"GATTACACAT\n".repeat(20)].concat();
    for (ending, compress) in COMPRESSIONS {
        let bytes = compress(&data);
        assert!(read_bytes(ending, &bytes, &DETECT).is_ok());
        for cut in 0..bytes.len() {
            let result = read_bytes(ending, &bytes[..cut], &DETECT);
            assert!(result.is_err(), "{ending} cut at byte {cut} of {}", bytes.len());
            text(result);
        }
    }
    for (compress, expected) in [
        (gzip as Compress, "x: the gzip data is truncated or damaged (incomplete deflate stream)"),
        (bzip2, "x: the bzip2 data is truncated or damaged (decompression not finished but EOF reached)"),
        (xz, "x: the xz data is truncated or damaged (premature eof)"),
        (zstd, "x: the zstd data is truncated or damaged (incomplete frame)"),
    ] {
        let bytes = compress(&data);
        assert_eq!(text(read_bytes("x", &bytes[..bytes.len() - 9], &DETECT)), expected);
    }
}

#[test]
fn damaged_compressed_files_are_never_misread() {
    for (ending, compress) in COMPRESSIONS {
        let bytes = compress(FASTA);
        let mut refused = 0;
        for position in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[position] ^= 0x15;
            match read_bytes(ending, &damaged, &DETECT) {
                // The reader ignores these bytes, such as the time in a gzip header.
                Ok(store) => assert_eq!(store, three_records(), "{ending} damaged at byte {position}"),
                Err(error) => {
                    assert_eq!(error.exit_code(), 2);
                    refused += 1;
                }
            }
        }
        assert!(refused > bytes.len() / 2, "{ending}: only {refused} of {} were noticed", bytes.len());
    }
}
