//! Substitution matrices: every built-in matrix equals its file, and every broken file gives a
//! clear error.

use std::collections::HashMap;

use pairwave::score::{EndGaps, Gaps, Scoring, SubstitutionMatrix};
use pairwave::seq::Alphabet;

fn message(text: &str) -> String {
    SubstitutionMatrix::parse("my.mat", text.as_bytes()).unwrap_err().to_string()
}

/// Reads a file in the simplest way: each entry is found by its two letters.
fn entries(name: &str) -> HashMap<(u8, u8), i32> {
    let path = format!("{}/assets/matrices/{name}", support::ROOT);
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let columns: Vec<u8> = lines.next().unwrap().split_whitespace().map(|word| word.as_bytes()[0]).collect();
    let mut entries = HashMap::new();
    for line in lines {
        let mut words = line.split_whitespace();
        let row = words.next().unwrap().as_bytes()[0];
        for (&column, word) in columns.iter().zip(words) {
            entries.insert((row, column), word.parse().unwrap());
        }
    }
    entries
}

#[test]
fn every_built_in_equals_its_file_and_is_symmetric() {
    let (mut files, mut others) = (0, 0);
    for name in SubstitutionMatrix::built_in_names() {
        let matrix = SubstitutionMatrix::built_in(name).unwrap();
        assert_eq!(matrix.name(), name);
        let expected = if name == "EDNAFULL" || !name.starts_with('E') {
            files += 1;
            if name == "EDNAFULL" { 16 } else { 25 }
        } else {
            others += 1;
            if name.starts_with("EDNA") { 17 } else { 24 }
        };
        assert_eq!(matrix.letters().len(), expected, "{name}");
        for (&a, &b) in matrix.letters().iter().flat_map(|a| matrix.letters().iter().map(move |b| (a, b))) {
            assert!(matrix.score(a, b).is_some() && matrix.score(a, b) == matrix.score(b, a), "{name}");
        }
        if expected != 24 && expected != 17 {
            let entries = entries(name);
            assert_eq!(entries.len(), matrix.letters().len().pow(2), "{name}");
            for (&(a, b), &score) in &entries {
                assert_eq!(matrix.score(a, b), Some(score), "{name} {} {}", a as char, b as char);
            }
        }
        let alphabet = if name.starts_with("EDNA") { Alphabet::Dna } else { Alphabet::Protein };
        Scoring::matrix(alphabet, &matrix, Gaps::linear(9), EndGaps::Charged).unwrap();
    }
    assert_eq!((files, others), (10, 68));
}

#[test]
fn built_in_scores_equal_printed_ones() {
    let score = |name: &str, a, b| SubstitutionMatrix::built_in(name).unwrap().score(a, b).unwrap();
    for (name, pair, value) in [
        ("BLOSUM45", b"WW", 15),
        ("BLOSUM45", b"AR", -2),
        ("BLOSUM50", b"WW", 15),
        ("BLOSUM50", b"CC", 13),
        ("BLOSUM62", b"WW", 11),
        ("BLOSUM62", b"EQ", 2),
        ("BLOSUM62", b"**", 1),
        ("BLOSUM80", b"WW", 11),
        ("BLOSUM90", b"CC", 9),
        ("PAM30", b"WW", 13),
        ("PAM70", b"WW", 13),
        ("PAM250", b"WW", 17),
        ("EDNAFULL", b"AA", 5),
        ("EDNAFULL", b"AN", -2),
        ("EDNAFULL", b"RY", -4),
    ] {
        assert_eq!(score(name, pair[0], pair[1]), value, "{name}");
    }
    let ednafull = SubstitutionMatrix::built_in("ednafull").unwrap();
    assert_eq!(SubstitutionMatrix::built_in("nuc.4.4").unwrap(), ednafull);
    assert_eq!(SubstitutionMatrix::built_in("Blosum62").unwrap().name(), "BLOSUM62");
    assert_eq!(ednafull.score(b'a', b'E'), None);
}

#[test]
fn a_scheme_from_a_matrix_scores_every_code() {
    let scheme = |name: &str, alphabet| {
        let matrix = SubstitutionMatrix::built_in(name).unwrap();
        Scoring::matrix(alphabet, &matrix, Gaps::from_blast(10, 1), EndGaps::Charged).unwrap()
    };
    let protein = scheme("BLOSUM62", Alphabet::Protein);
    let code = |letter| Alphabet::Protein.encode(letter).unwrap();
    let score = |a, b| protein.substitution.score(code(a), code(b));
    assert_eq!((score(b'W', b'W'), score(b'E', b'Q'), score(b'J', b'L')), (11, 2, 3));
    // O and U have no column: O scores like X, U like C.
    assert_eq!((score(b'O', b'W'), score(b'U', b'A'), score(b'O', b'U'), score(b'O', b'*')), (-1, 0, -1, -4));
    assert_eq!((score(b'U', b'U'), score(b'U', b'C'), score(b'U', b'W')), (9, 9, -2));
    assert!(protein.substitution.is_match(code(b'O'), code(b'O')));
    assert!(!protein.substitution.is_match(code(b'B'), code(b'D')));
    let dna = scheme("EDNAFULL", Alphabet::Dna);
    let entries = entries("EDNAFULL");
    for a in 1..16 {
        for b in 1..16 {
            let letters = (Alphabet::Dna.decode(a), Alphabet::Dna.decode(b));
            assert_eq!(dna.substitution.score(a, b), entries[&letters]);
            assert_eq!(dna.substitution.is_match(a, b), a & b != 0);
        }
    }
}

#[test]
fn missing_letters_have_default_scores() {
    let amino_acids = "ARNDCQEGHILKMFPSTWYV";
    let table = |letters: &str, score: &dyn Fn(char, char) -> i32| {
        let mut text: String = letters.chars().flat_map(|letter| [' ', letter]).collect();
        for row in letters.chars() {
            text += &format!("\n{row}");
            text.extend(letters.chars().map(|column| format!(" {}", score(row, column))));
        }
        SubstitutionMatrix::parse("my.mat", text.as_bytes()).unwrap()
    };
    let gaps = Gaps::linear(4);
    let scheme = |matrix: &SubstitutionMatrix, alphabet| Scoring::matrix(alphabet, matrix, gaps, EndGaps::Charged);
    let identity = |a, b| if a == b { 3 } else { -2 };

    // Without X and *, all missing letters have the least score.
    let bare = scheme(&table(amino_acids, &identity), Alphabet::Protein).unwrap();
    let code = |letter| Alphabet::Protein.encode(letter).unwrap();
    assert_eq!(bare.substitution.score(code(b'J'), code(b'J')), -2);
    // With X, the letters J, B, ... score like X, and * still has the least score.
    let with_x = |a, b| if a == 'X' || b == 'X' { 0 } else { identity(a, b) };
    let with_x = scheme(&table(&format!("{amino_acids}X"), &with_x), Alphabet::Protein).unwrap();
    assert_eq!(with_x.substitution.score(code(b'J'), code(b'A')), 0);
    assert_eq!(with_x.substitution.score(code(b'*'), code(b'A')), -2);
    // DNA: U counts as T, and codes without a column score like N.
    let dna = scheme(&table("ACGUN", &|a, b| if a == 'N' || b == 'N' { -1 } else { identity(a, b) }), Alphabet::Dna);
    let dna = dna.unwrap();
    let code = |letter| Alphabet::Dna.encode(letter).unwrap();
    assert_eq!(dna.substitution.score(code(b'T'), code(b'T')), 3);
    assert_eq!(dna.substitution.score(code(b'R'), code(b'A')), -1);

    let errors = [
        scheme(&table("ARNDC", &identity), Alphabet::Protein),
        scheme(&table("ACG", &identity), Alphabet::Dna),
        scheme(&table(amino_acids, &identity), Alphabet::Dna),
        scheme(&SubstitutionMatrix::built_in("EDNAFULL").unwrap(), Alphabet::Protein),
    ];
    let errors: Vec<String> = errors.into_iter().map(|scheme| scheme.unwrap_err().to_string()).collect();
    insta::assert_snapshot!(errors.join("\n"), @r"
    my.mat, line 1: not a matrix for protein sequences: it lacks 'Q'
    my.mat, line 1: not a matrix for DNA sequences: it lacks 'T'
    my.mat, line 1: not a matrix for DNA sequences: it has 'Q'
    EDNAFULL, line 3: not a matrix for protein sequences: it lacks 'Q'
    ");
}

#[test]
fn rows_in_any_order_and_extra_blanks_are_accepted() {
    let text = "# comment\n\n  # another\r\n\tA   c *\r\n*  -9 -9   1\r\n c -2\t4 -9 \r\nA 5 -2 -9   \n\n";
    let matrix = SubstitutionMatrix::parse("my.mat", text.as_bytes()).unwrap();
    assert_eq!(matrix.letters(), b"AC*");
    let scores = [matrix.score(b'A', b'C'), matrix.score(b'*', b'*'), matrix.score(b'C', b'C')];
    assert_eq!(scores, [Some(-2), Some(1), Some(4)]);
}

#[test]
fn broken_files_are_refused_with_line_and_column() {
    let errors = [
        "",
        "# nothing\n\n",
        "A CC\n",
        "A 1\n",
        ">sequence\nACGT\n",
        "A C a\n",
        "A C\nA 1 2\nA 1 2\n",
        "A C\nA 1 2\n",
        "A C\nA 1 2\nG 1 2\n",
        "A C\n1 2\n3 4\n",
        "A C\nA 1 2.5\n",
        "A C\nA 1 --\n",
        "A C\nA 1 9999999\n",
        "A C\nA 1 99999999999999999999\n",
        "A C\nA 1\n",
        "A C\nA 1 2 3\n",
        "A C\n# B\nA 1 2\n  C   3 1\n",
    ]
    .map(message);
    insta::assert_snapshot!(errors.join("\n"), @r"
    my.mat: no line of column letters: is this a matrix?
    my.mat: no line of column letters: is this a matrix?
    my.mat, line 1, column 3: 'CC' where a column's letter (A to Z or *) should be
    my.mat, line 1, column 3: '1' where a column's letter (A to Z or *) should be
    my.mat, line 1, column 1: '>sequence' where a column's letter (A to Z or *) should be
    my.mat, line 1, column 5: a second column 'A'
    my.mat, line 3, column 1: a second row 'A'
    my.mat, line 1, column 1: column 'C' but no row 'C'
    my.mat, line 3, column 1: row 'G' but no column 'G'
    my.mat, line 2, column 1: '1' where a row's letter (A to Z or *) should be
    my.mat, line 2, column 5: '2.5' is not an integer from -1000000 to 1000000
    my.mat, line 2, column 5: '--' is not an integer from -1000000 to 1000000
    my.mat, line 2, column 5: '9999999' is not an integer from -1000000 to 1000000
    my.mat, line 2, column 5: '99999999999999999999' is not an integer from -1000000 to 1000000
    my.mat, line 2, column 3: 1 of 2 entries in row 'A'
    my.mat, line 2, column 7: more than 2 entries in row 'A'
    my.mat, line 3, column 5: not symmetric: A with C is 2, C with A is 3
    ");
    assert!(message("\u{e9}\n").contains("where a column's letter"));
}

#[test]
fn matrices_open_by_name_or_path() {
    assert_eq!(SubstitutionMatrix::open("pam30").unwrap().name(), "PAM30");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/matrices/PAM70");
    let matrix = SubstitutionMatrix::open(path).unwrap();
    assert_eq!((matrix.name(), matrix.score(b'W', b'W')), (path, Some(13)));
    let error = SubstitutionMatrix::open("BLOSUM61").unwrap_err();
    assert_eq!(error.exit_code(), 2);
    insta::assert_snapshot!(error, @"matrix BLOSUM61: no such file, and the built-in matrices are BLOSUM45, BLOSUM50, BLOSUM62, BLOSUM80, BLOSUM90, PAM30, PAM70, PAM250 and IDENTITY as BLAST has them; EBLOSUM30 to EBLOSUM90, EBLOSUMN, EPAM10 to EPAM500, EDNAFULL, EDNAMAT and EDNASIMPLE as EMBOSS has them");
    let error = SubstitutionMatrix::open("pam120").unwrap_err();
    insta::assert_snapshot!(error, @"matrix pam120: no such file, and the built-in matrix of this kind is EPAM120, EMBOSS's");
}

#[test]
fn names_distinguish_the_editions() {
    let matrix = |name: &str| SubstitutionMatrix::built_in(name).unwrap();
    assert_eq!([matrix("eblosum50").name(), matrix("Epam250").name()], ["EBLOSUM50", "EPAM250"]);
    assert_eq!((matrix("BLOSUM62").score(b'B', b'N'), matrix("EBLOSUM62").score(b'B', b'N')), (Some(4), Some(3)));
    // BLAST's BLOSUM80 is in half bits, the one of EMBOSS is in third bits.
    assert_eq!((matrix("BLOSUM80").score(b'A', b'A'), matrix("EBLOSUM80").score(b'A', b'A')), (Some(5), Some(7)));
    assert_eq!(matrix("ENUC.4.4"), matrix("EDNAFULL"));
    for name in ["EEBLOSUM62", "EBLOSUM61", "EIDENTITY", "DNAFULL", "PAM120", "0", ""] {
        assert_eq!(SubstitutionMatrix::built_in(name), None, "{name}");
    }
}
