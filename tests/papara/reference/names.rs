//! Leaves and rows.

use pairwave::papara::{Reference, Tree};
use pairwave::seq::{AlignedRows, Alphabet, AlphabetChoice};

use super::reference;

fn rows(rows: &[(&str, &str)]) -> Vec<(String, String)> {
    rows.iter().map(|&(name, row)| (name.to_owned(), row.to_owned())).collect()
}

#[test]
fn leaves_find_their_rows() {
    let three = rows(&[("c", "AC-"), ("a", "A-."), ("b_1", "ANX")]);
    let found = reference("(a,b_1,c);", &three, Alphabet::Dna).unwrap();
    assert_eq!(found.columns, [0, 1], "of column 2 nothing is known");
    let leaf = |name: &str| found.tree.leaves().find(|leaf| leaf.1 == name).unwrap().0;
    assert_eq!(["a", "b_1", "c"].map(|name| found.leaf_row(leaf(name))), [Some(1), Some(2), Some(0)]);
    assert_eq!(found.leaf_row(0), None);
    assert_eq!(found.leaf_sets(leaf("c"), 0..2).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(found.leaf_sets(leaf("a"), 1..2).collect::<Vec<_>>(), [15]);
    // Of six letters at sites one is `-`: another is in a column that is no site.
    assert_eq!(found.gap_share(), 1.0 / 6.0);
    // Quotes let a name have blanks, for which rows have underscores.
    let blank = reference("(a,'b 1',c);", &three, Alphabet::Dna).unwrap();
    assert_eq!(blank.tree, found.tree);
    // Not where the row has its leaf.
    let both = rows(&[("c", "A"), ("a", "A"), ("b_1", "A")]);
    assert!(reference("(a,'b 1',b_1,c);", &both, Alphabet::Dna).is_err());
    let mut aligned = AlignedRows::read_bytes("a.fa", b">a\nA\n>b\nA\n>c\nA\n").unwrap();
    aligned.names[1] = "b 1".into();
    let tree = Tree::parse("a.nwk", b"(a,b_1,c);").unwrap();
    let found = Reference::new(tree, aligned, AlphabetChoice::Detect).unwrap();
    assert_eq!(found.tree.leaves().map(|(_, name)| name).collect::<Vec<_>>(), ["c", "a", "b 1"]);
}

#[test]
fn wrong_references_say_why() {
    let message =
        |tree: &str, own: &[(&str, &str)]| reference(tree, &rows(own), Alphabet::Dna).unwrap_err().to_string();
    assert_eq!(
        message("(a,b,c);", &[("a", "A"), ("x", "A"), ("y", "A")]),
        "a.fa: 2 leaves of the tree have no row here: 'c', 'b'; 2 rows are no leaf of the tree: 'x', 'y'"
    );
    assert_eq!(
        message("(a,b,c,d,e,f,g);", &[("g", "A")]),
        "a.fa: 6 leaves of the tree have no row here: 'c', 'a', 'b', 'd', 'e', ..."
    );
    assert_eq!(
        message("(a,b,c);", &[("a", "A"), ("b", "A"), ("c", "A"), ("d", "A")]),
        "a.fa: 1 row is no leaf of the tree: 'd'"
    );
    assert_eq!(
        message("(a,b,c);", &[("a", "-N"), ("b", "??"), ("c", ".X")]),
        "a.fa: no row has anything but gaps and letters that stand for any"
    );
    assert_eq!(
        message("(a,b,c);", &[("a", "A"), ("b", "C"), ("c", "L")]),
        "a.fa, record 'c': column 1: 'L' is not a letter of DNA/RNA (ACGTU and IUPAC's RYSWKMBDHVN)"
    );
    let error = reference("(a,b,c);", &rows(&[("a", "A"), ("b", "A"), ("c", "A")]), Alphabet::Bytes).unwrap_err();
    assert_eq!(error.to_string(), "alphabet: references are DNA or proteins");
    assert!(Reference::read("-", "-", AlphabetChoice::Detect).unwrap_err().to_string().contains("only once"));
}

#[test]
fn files_are_read_compressed_too() {
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
