//! Tests of the matching of leaves with rows.

use pairwave::papara::{NodeId, Reference, ReferenceTree};
use pairwave::seq::{AlignedRows, Alphabet, AlphabetChoice};

use super::reference;

fn rows(rows: &[(&str, &str)]) -> Vec<(String, String)> {
    rows.iter().map(|&(name, row)| (name.to_owned(), row.to_owned())).collect()
}

#[test]
fn leaves_match_rows_by_name() {
    let three = rows(&[("c", "AC-"), ("a", "A-."), ("b_1", "ANX")]);
    let actual = reference("(a,b_1,c);", &three, Alphabet::Dna).unwrap();
    assert_eq!(actual.columns, [0, 1], "of column 2 nothing is known");
    let leaf = |name: &str| actual.tree.leaves().find(|leaf| leaf.1 == name).unwrap().0;
    assert_eq!(["a", "b_1", "c"].map(|name| actual.leaf_row(leaf(name))), [Some(1), Some(2), Some(0)]);
    assert_eq!(actual.leaf_row(NodeId::TOP), None);
    assert_eq!(actual.leaf_sets(leaf("c"), 0..2).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(actual.leaf_sets(leaf("a"), 1..2).collect::<Vec<_>>(), [15]);
    // Exactly one letter of the six at sites is `-`. Another `-` is in a column that is not a site.
    assert_eq!(actual.gap_share(), 1.0 / 6.0);
    // Quoted names may have blanks, which match underscores in rows.
    let blank = reference("(a,'b 1',c);", &three, Alphabet::Dna).unwrap();
    assert_eq!(blank.tree, actual.tree);
    // An underscore does not match a blank if the row has a leaf with its exact name.
    let both = rows(&[("c", "A"), ("a", "A"), ("b_1", "A")]);
    assert!(reference("(a,'b 1',b_1,c);", &both, Alphabet::Dna).is_err());
    let mut aligned = AlignedRows::read_bytes("a.fa", b">a\nA\n>b\nA\n>c\nA\n").unwrap();
    aligned.names[1] = "b 1".into();
    let tree = ReferenceTree::parse("a.nwk", b"(a,b_1,c);").unwrap();
    let actual = Reference::new(tree, aligned, AlphabetChoice::Detect).unwrap();
    assert_eq!(actual.tree.leaves().map(|(_, name)| name).collect::<Vec<_>>(), ["c", "a", "b 1"]);
}

#[test]
fn all_gap_signs_are_gaps() {
    let of = |letters: [&str; 3]| {
        let rows = rows(&[("a", letters[0]), ("b", letters[1]), ("c", letters[2])]);
        reference("(a,b,c);", &rows, Alphabet::Dna).unwrap()
    };
    let (expected, actual) = (of(["AC-T", "A--T", "-CGT"]), of(["AC.T", "A.~T", "~CGT"]));
    assert_eq!(actual.rows, expected.rows);
    assert_eq!((actual.gap_share(), expected.gap_share()), (1.0 / 3.0, 1.0 / 3.0));
}

#[test]
fn invalid_references_are_refused() {
    let message = |tree: &str, row_letters: &[(&str, &str)]| {
        reference(tree, &rows(row_letters), Alphabet::Dna).unwrap_err().to_string()
    };
    assert_eq!(
        message("(a,b,c);", &[("a", "A"), ("x", "A"), ("y", "A")]),
        "a.fa: 2 leaves of the tree have no row: 'c', 'b'; 2 rows have no leaf in the tree: 'x', 'y'"
    );
    assert_eq!(
        message("(a,b,c,d,e,f,g);", &[("g", "A")]),
        "a.fa: 6 leaves of the tree have no row: 'c', 'a', 'b', 'd', 'e', ..."
    );
    assert_eq!(
        message("(a,b,c);", &[("a", "A"), ("b", "A"), ("c", "A"), ("d", "A")]),
        "a.fa: 1 row has no leaf in the tree: 'd'"
    );
    assert_eq!(
        message("(a,b,c);", &[("a", "-N"), ("b", "??"), ("c", ".X")]),
        "a.fa: all rows consist of gaps and letters that stand for any character"
    );
    assert_eq!(
        message("(a,b,c);", &[("a", "A"), ("b", "C"), ("c", "L")]),
        "a.fa, record 'c': column 1: 'L' is not a letter of DNA/RNA (ACGTU and IUPAC's RYSWKMBDHVN)"
    );
    let error = reference("(a,b,c);", &rows(&[("a", "A"), ("b", "A"), ("c", "A")]), Alphabet::Bytes).unwrap_err();
    assert_eq!(error.to_string(), "alphabet: a reference must be DNA or protein");
    assert!(Reference::read("-", "-", AlphabetChoice::Detect).unwrap_err().to_string().contains("only once"));
}

#[test]
fn compressed_files_are_read() {
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &[u8]| {
        let path = folder.path().join(name);
        let mut file =
            flate2::write::GzEncoder::new(std::fs::File::create(&path).unwrap(), flate2::Compression::fast());
        file.write_all(text).unwrap();
        file.finish().unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (tree, rows) =
        (write("a.nwk.gz", b"\xEF\xBB\xBF(a,b,c);\n"), write("a.phy.gz", b"3 4\na MKLV\nb MKLV\nc MEEV\n"));
    let read = Reference::read(&tree, &rows, AlphabetChoice::Detect).unwrap();
    assert_eq!((read.alphabet, read.sites()), (Alphabet::Protein, 4));
}
