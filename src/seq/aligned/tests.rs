//! Files in the formats of other programs, with and without errors.

use super::*;

fn read(text: &str) -> Result<AlignedRows> {
    AlignedRows::read_bytes("a.aln", text.as_bytes())
}

fn rows(text: &str) -> Vec<(String, String)> {
    let read = read(text).unwrap();
    let letters = read.rows.into_iter().map(|row| String::from_utf8(row).unwrap());
    read.names.iter().map(ToString::to_string).zip(letters).collect()
}

fn wrong(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

fn expected(rows: &[(&str, &str)]) -> Vec<(String, String)> {
    rows.iter().map(|(name, row)| ((*name).to_owned(), (*row).to_owned())).collect()
}

#[test]
fn clustal_signs_and_counts_are_skipped() {
    let two = [("one", "AC-GTACGT-"), ("t*o", "ACGGTA--TA")];
    let text = "CLUSTAL W (1.83) multiple sequence alignment\n\n\none   AC-GTA\nt*o   ACGGTA\n      ** ***\n\n\
                one   CGT-\nt*o   --TA\n        *\n";
    assert_eq!(rows(text), expected(&two));
    let counted =
        "CLUSTAL O(1.2.4)\r\n\r\none AC-GTA 5\r\nt*o ACGGTA 6\r\n    **:*.* \r\n\r\none\tCGT- 8\r\nt*o\t--TA\t8\r\n";
    assert_eq!(rows(counted), expected(&two));
    assert_eq!(rows("MUSCLE (3.8) multiple sequence alignment\n\na AC\n"), expected(&[("a", "AC")]));
    assert!(wrong("CLUSTAL\n\none AC\ntwo ACG\n").contains("line 4, record 'two': the row has 3 columns"));
    assert!(wrong("CLUSTAL\n\n").contains("the file has no row"));
    assert!(wrong("CLUSTAL\n\none AC4\n").contains("not a letter of an alignment"));
}

#[test]
fn msf_column_numbers_are_skipped() {
    let head = "!!NA_MULTIPLE_ALIGNMENT 1.0\n\n a.msf MSF: 10 Type: N Check: 1 ..\n\n Name: one Len: 10 Check: 1 Weight: 1.00\n \
                Name: two oo Len: 10 Check: 2 Weight: 1.00\n\n//\n";
    let text =
        format!("{head}\n      1        6\none   AC.GT A\ntwo   ACGGT A\n\n      7  10\none   CGT~\ntwo   ..TA\n");
    assert_eq!(rows(&text), expected(&[("one", "AC.GTACGT~"), ("two", "ACGGTA..TA")]));
    assert!(wrong("PileUp\n\n Name: one\n").contains("no line '//'"));
    assert!(wrong(&format!("{head}three AC\n")).contains("header has no name 'three'"));
    assert!(wrong("PileUp\n Name: a\n Name: a\n//\na AC\n").contains("has this name already"));
    assert!(wrong("PileUp\n Name: a\n//\n").contains("the row has no letters"));
}

#[test]
fn nexus_is_read_sequential_and_interleaved() {
    let head =
        "#NEXUS\n[a comment]\nbegin data;\n  dimensions ntax=2 nchar=6;\n  format datatype=dna gap=-;\n  matrix\n";
    let both = expected(&[("one", "AC-GTA"), ("it's two", "ACGGT?")]);
    assert_eq!(rows(&format!("{head}one AC-GTA\n'it''s two' ACG GT?\n;\nend;\n")), both);
    assert_eq!(rows(&format!("{head}one AC-\n'it''s two' ACG\n\none GTA\n'it''s two' GT?;\nend;\n")), both);
    assert_eq!(rows(&format!("{head}one AC-\nGTA\n[next]\n'it''s two' ACG\nGT?\n;\n")), both);
    assert!(wrong("#NEXUS\nbegin trees;\nend;\n").contains("no matrix"));
    assert!(wrong(&format!("{head}one AC-GTA\n")).contains("does not end with ';'"));
}

#[test]
fn nexus_comments_and_match_signs_are_read() {
    let three = expected(&[("a", "ACGTAC-TGC"), ("b'[1];", "ACGAAC-TGC"), ("c", "ACGTGC--GC")]);
    let commented = "#NEXUS\n[a comment; matrix\n[nested]\nmatchchar=.]\nBEGIN DATA;\nDIMENSIONS NTAX=3 NCHAR = 10;\n\
                     FORMAT DATATYPE=DNA INTERLEAVE MISSING=? GAP=-;\nMATRIX\n[1]\na ACG[3]TA [5]\n'b''[1];' ACGAA\n\
                     c ACGTG [two\nlines]\n\na C-TGC\n'b''[1];' C-TGC\nc C--GC\n;\nEND;\n";
    assert_eq!(rows(commented), three);
    let matched = "#NEXUS\nbegin data;\nformat gap=- matchchar = . ;\nmatrix\na ACGTAC-TGC\n'b''[1];' ...A......\n\
                   c ....G..-..;\nend;\n";
    assert_eq!(rows(matched), three);
    assert_eq!(rows("#NEXUS\nformat gap=.;\nmatrix\na A.C\n;\n"), expected(&[("a", "A.C")]));
    let undefined = wrong("#NEXUS\nmatrix\na AC\nb A.\n;\n");
    assert!(undefined.starts_with("a.aln, line 4, record 'b': column 2: '.' is neither the gap nor"), "{undefined}");
    let first = wrong("#NEXUS\nformat matchchar=.;\nmatrix\na A.\n;\n");
    assert_eq!(first, "a.aln, line 4, record 'a': column 2: the first row has no letter for '.'");
    assert_eq!(wrong("#NEXUS\n[never\nmatrix\n"), "a.aln, line 2: the comment does not end with ']'");
}

#[test]
fn dots_are_gaps_only_in_formats_that_define_them() {
    for text in [">a\nA.C\n", "# STOCKHOLM 1.0\na A.C\n//\n", "!!\n Name: a\n//\na A.C\n"] {
        assert_eq!(rows(text), expected(&[("a", "A.C")]), "{text}");
    }
    for (text, location) in [
        ("2 4\na ACGT\nb .A..\n", "a.aln, line 3, record 'b': column 1: '.' is not allowed in PHYLIP"),
        // Read as sequential, `b` is a letter of the first row.
        ("2 4\na AC\nb .A\n\nGT\n..\n", "a.aln, line 3, record 'a': column 4: '.' is not allowed in PHYLIP"),
        ("2 4\na AC\nb AC\n\nGT\nG.\n", "a.aln, line 6, record 'b': column 4: '.' is not allowed in PHYLIP"),
        ("CLUSTAL W\n\na ACGT\nb AC.T\n", "a.aln, line 4, record 'b': column 3: '.' has no meaning"),
    ] {
        let message = wrong(text);
        assert!(message.starts_with(location), "{text}: {message}");
    }
}

#[test]
fn strict_phylip_is_read() {
    for (text, names) in [
        ("2 8\nname_tencAACGTACGT\nname_tencBACGTACGA\n", ["name_tencA", "name_tencB"]),
        (" 2 8\nA x       ACGTACGT\nB x       ACGTACGA\n", ["A x", "B x"]),
        ("2 8\nA x       ACGT\nB x       ACGT\n\nACGT\nACGA\n", ["A x", "B x"]),
    ] {
        assert_eq!(rows(text), expected(&[(names[0], "ACGTACGT"), (names[1], "ACGTACGA")]), "{text}");
    }
}

#[test]
fn strict_phylip_names_may_have_ten_characters_or_ten_bytes() {
    let two = expected(&[("éàü é", "ACGT"), ("ten_bytes_", "AC-T")]);
    // Ten characters: 14 bytes in the first row.
    assert_eq!(rows("2 4\néàü é     ACGT\nten_bytes_AC-T\n"), two);
    // Ten bytes: six characters in the first row.
    let two = expected(&[("éàü éx", "ACGT"), ("ten_bytes_", "AC-T")]);
    assert_eq!(rows("2 4\néàü éxACGT\nten_bytes_AC-T\n"), two);
    assert_eq!(rows("2 4\néàü éxAC\nten_bytes_AC\n\nGT\n-T\n"), two);
}
