//! Names in files, as Biopython and FastTree read them: rows and leaves of one run have equal
//! names.

use std::collections::BTreeSet;

use super::*;

/// Formats of `msa`, with Biopython's names for them.
const FORMATS: [(&str, &str); 7] = [
    ("fasta", "fasta"),
    ("clustal", "clustal"),
    ("phylip", "phylip-relaxed"),
    ("phylip-strict", "phylip"),
    ("stockholm", "stockholm"),
    ("nexus", "nexus"),
    ("msf", "msf"),
];

/// Returns names with every ASCII punctuation character, with intervals, with letters outside
/// ASCII, and duplicates.
fn hostile_names() -> Vec<Vec<u8>> {
    let punctuation = (b'!'..=b'~').filter(u8::is_ascii_punctuation);
    let mut names: Vec<Vec<u8>> = punctuation.map(|byte| vec![b'a', byte, b'z']).collect();
    let others = [
        "NC_1:1-9(+)",
        "c(d)",
        "[k]",
        "{1}",
        "sp|P1|X",
        "x'e;f'",
        "ä",
        "日本",
        "a\u{a0}b",
        "abcdefghijkl",
        "abcdefghijkm",
        "dup",
        "dup",
        "dup_2",
    ];
    names.extend(others.map(|name| name.as_bytes().to_vec()));
    names
}

/// Returns sequences of these names, all different, of about 70 residues.
fn sequences(names: &[Vec<u8>], letters: &[u8]) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(11);
    let base: Vec<u8> = (0..70).map(|_| *random.choice(letters).unwrap()).collect();
    let mut text = Vec::new();
    for name in names {
        text.extend_from_slice(&[b">", &name[..], b"\n"].concat());
        text.extend(
            base.iter().map(|&letter| if random.u8(..8) == 0 { *random.choice(letters).unwrap() } else { letter }),
        );
        text.push(b'\n');
    }
    text
}

const RESIDUES: &[u8] = b"ACDEFGHIKLMNPQRSTVWY";

fn lines(text: &[u8]) -> Vec<Vec<u8>> {
    text.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect()
}

/// Returns the names that Biopython reads from these files.
fn names_of_biopython(files: &[(&str, String)]) -> Vec<Vec<Vec<u8>>> {
    let mut command = std::process::Command::new("python3");
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/read_names.py"));
    files.iter().for_each(|(kind, path)| _ = command.args([kind, &path[..]]));
    let output = command.output().expect("python3 is there");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "Biopython is needed (scripts/test installs it): {complaint}");
    let mut actual: Vec<Vec<Vec<u8>>> = vec![Vec::new()];
    for line in lines(&output.stdout) {
        match line.is_empty() {
            true => actual.push(Vec::new()),
            false => actual.last_mut().unwrap().push(line),
        }
    }
    actual.truncate(files.len());
    actual
}

/// Returns the tree that FastTree builds with these arguments.
fn fasttree(arguments: &[&str]) -> Vec<u8> {
    let arguments = [&["-quiet", "-nosupport", "-nome", "-noml"], arguments].concat();
    let output = std::process::Command::new("fasttree").args(&arguments).output().expect("fasttree is there");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Returns the names that pairwave reads from an alignment.
fn own_names(path: &str) -> Vec<Vec<u8>> {
    let run = pairwave(&["dist", "--aligned", path, "--format", "tsv", "--alphabet", "protein", "--quiet"])
        .assert()
        .success();
    let table = lines(&run.get_output().stdout);
    table[1..]
        .iter()
        .filter_map(|line| line.split(|&byte| byte == b'\t').next())
        .filter(|name| !name.is_empty())
        .map(<[u8]>::to_vec)
        .collect()
}

fn set(names: &[Vec<u8>]) -> BTreeSet<&[u8]> {
    names.iter().map(Vec::as_slice).collect()
}

#[test]
fn others_read_the_names_of_alignments_and_trees() {
    let folder = folder();
    let names = hostile_names();
    let input = file(&folder, "in.fa", sequences(&names, RESIDUES));
    let mut files = Vec::new();
    for (format, kind) in FORMATS {
        let [rows, tree] = ["rows", "tree"].map(|what| path(&folder, &format!("{format}.{what}")));
        let msa = ["msa", &input, "--refinements", "0", "--device", "cpu", "--quiet", "--format", format];
        pairwave(&[&msa[..], &["-o", &rows, "--guidetree-out", &tree]].concat()).assert().success();
        assert_eq!(set(&own_names(&rows)).len(), names.len(), "{format}");
        files.extend([(kind, rows), ("newick", tree)]);
    }
    for (pair, read) in files.chunks(2).zip(names_of_biopython(&files).chunks(2)) {
        assert_eq!(read[0], own_names(&pair[0].1), "{}", pair[0].0);
        assert_eq!(set(&read[0]), set(&read[1]), "{}", pair[0].0);
    }
    // A tree can be read back with the names of any format.
    for format in ["nexus", "phylip-strict"] {
        let tree = path(&folder, &format!("{format}.tree"));
        let msa = ["msa", &input, "--mode", "clustalw", "--device", "cpu", "--quiet", "--guidetree-in", &tree];
        pairwave(&msa).assert().success();
    }
}

#[test]
fn fasttree_reads_phylip_and_its_tree() {
    let folder = folder();
    let mut names = hostile_names();
    names.extend([b"\xFF".to_vec(), b"\xFE".to_vec(), b"a\xFFb".to_vec()]);
    let input = file(&folder, "in.fa", sequences(&names, RESIDUES));
    let [rows, tree, other] = ["rows.phy", "tree.nwk", "other.nwk"].map(|name| path(&folder, name));
    for mode in ["accurate", "clustalw"] {
        let msa = ["msa", &input, "--mode", mode, "--distance", "kmer", "--device", "cpu", "--quiet"];
        pairwave(&[&msa[..], &["-o", &rows, "--guidetree-out", &tree]].concat()).assert().success();
        let made = fasttree(&[&rows]);
        std::fs::write(&other, &made).unwrap();
        let read = names_of_biopython(&[("newick", other.clone()), ("newick", tree.clone())]);
        assert_eq!(set(&read[0]), set(&own_names(&rows)), "{mode}");
        assert_eq!(set(&read[0]), set(&read[1]), "{mode}");
        let refined = fasttree(&["-intree", &tree, &rows]);
        assert!(refined.ends_with(b";\n"), "{mode}");
    }
}

/// The names that ClustalW 2.1 writes: `_` for five characters, and all others unchanged.
#[test]
fn names_in_guide_trees_of_clustalw_are_its_own() {
    let folder = folder();
    let sequences = ">a:b(c,d;e)\nMKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQ\n>5'[k]\nMKTAYIAKQRQISFVKSFSRQLEDRLGLIEVQ\n>sp|P1{\"=\nMKTAYLAKQRQISFVKSFSRQLEERLGIEVQ\n";
    let input = file(&folder, "in.fa", sequences);
    let tree = path(&folder, "tree.dnd");
    let msa = ["msa", &input, "--mode", "clustalw", "--format", "clustal", "--device", "cpu"];
    let run = pairwave(&[&msa[..], &["--guidetree-out", &tree]].concat()).assert().success();
    let read = std::fs::read_to_string(&tree).unwrap();
    assert_eq!(read, "(\na_b_c_d_e_:-0.00050,\n5'[k]:0.03175,\nsp|P1{\"=:0.16179);\n");
    let text = String::from_utf8(run.get_output().stdout.clone()).unwrap();
    assert!(text.contains("\na_b_c_d_e_      MKTAY") && text.contains("\n5'[k]           MKTAY"), "{text}");
    let messages = String::from_utf8(run.get_output().stderr.clone()).unwrap();
    assert!(
        messages.contains(
            "'a:b(c,d;e)' is written as 'a_b_c_d_e_': ClustalW does not allow all of its characters in names"
        ),
        "{messages}"
    );
    assert!(messages.contains("other programs may misread these names: '5'[k]' and 1 more"), "{messages}");
    // Pairwave reads these names as ClustalW does.
    pairwave(&[&msa[..], &["--guidetree-in", &tree, "--quiet"]].concat()).assert().success().stdout(text);
}

/// Names in matrices of distances.
#[test]
fn names_in_distances_of_clustalw_are_its_own() {
    let folder = folder();
    let rows = "CLUSTAL\n\na'b[c] MKTAYIAKQRQISF\na:b,c MKTAYIAKQRQVSF\nc|d\"e MKTAYLAKQRQISY\nd MKTAYIAKQRWISF\n";
    let rows = file(&folder, "rows.aln", rows);
    let run = pairwave(&["dist", "--aligned", &rows, "--format", "clustal", "--quiet"]).assert().success();
    let expected = "     4\na'b[c]      0.000  0.071  0.143  0.071 \na_b_c       0.071  0.000  0.214  0.143 \n\
                    c|d\"e       0.143  0.214  0.000  0.214 \nd           0.071  0.143  0.214  0.000 ";
    assert_eq!(String::from_utf8_lossy(&run.get_output().stdout), expected);
}

/// A sequence gets the same number in every order of rows, so that a tree can be read back.
#[test]
fn numbers_of_names_do_not_depend_on_the_order_of_rows() {
    let folder = folder();
    let text = ">a\nMKTAYIAKQRQISFVKSHFSRQ\n>b\nWWWAYIAKQRCCCFVKSHFSRQ\n>a\nWWWAYIAKQRCCCFVKSHFSRW\n>a\nMKTAYIAKQRQISFVKSHFSR\n";
    let input = file(&folder, "in.fa", text);
    for mode in ["accurate", "clustalw"] {
        let rows = |order: &str| {
            let tree = path(&folder, order);
            let msa = ["msa", &input, "--mode", mode, "--order", order, "--guidetree-out", &tree, "--device", "cpu"];
            let run = pairwave(&[&msa[..], &["--quiet"]].concat()).assert().success();
            let mut records: Vec<String> =
                String::from_utf8_lossy(&run.get_output().stdout).split('>').map(str::to_owned).collect();
            records.sort();
            (records, std::fs::read_to_string(tree).unwrap())
        };
        assert_eq!(rows("input"), rows("tree"), "{mode}");
    }
}

/// Reads with the name of a reference or of another read get a number, in the alignment and in the
/// table.
#[test]
fn reads_with_taken_names_get_numbers() {
    let folder = folder();
    let tree = file(&folder, "r.nwk", "('r:1':0.1,'r(1':0.1,(c:0.1,\"d'\":0.1):0.1);");
    let rows = "#NEXUS\nbegin data;\ndimensions ntax=4 nchar=20;\nformat datatype=dna gap=-;\nmatrix\n'r:1' ACGTACGTACGTACGTACGT\n'r(1' ACGTACGAACGTACGTACGT\nc ACGTACGTACGTTCGTACGT\n'd''' ACGTACGTTCGTACGTACGT\n;\nend;\n";
    let rows = file(&folder, "r.nex", rows);
    let reads = ["r:1", "q", "q", "c", "q_2", "r_1"].map(|name| format!(">{name}\nACGTACGTACGT\n")).concat();
    let reads = file(&folder, "q.fa", reads);
    let [out, table, tree_out] = ["out", "table.tsv", "tree.nwk"].map(|name| path(&folder, name));
    for (format, kind, expected) in [
        ("fasta", "fasta", ["r:1", "r(1", "c", "d'", "r:1_2", "q", "q_2", "c_2", "q_2_2", "r_1"]),
        ("phylip", "phylip-relaxed", ["r_1", "r_1_2", "c", "d_", "r_1_3", "q", "q_2", "c_2", "q_2_2", "r_1_4"]),
    ] {
        let papara = ["papara", "-t", &tree, "-s", &rows, "-q", &reads, "--format", format, "--device", "cpu"];
        let files = ["-o", &out, "--table", &table, "--tree-out", &tree_out];
        let run = pairwave(&[&papara[..], &files].concat()).assert().success();
        let messages = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        assert!(messages.contains("'c' is written as 'c_2': another row has this name"), "{messages}");
        let expected = expected.map(|name| name.as_bytes().to_vec());
        // Biopython reads the numbers of edges in braces as names.
        let text = std::fs::read_to_string(&tree_out).unwrap();
        let bare: String = text.split('{').map(|part| part.split_once('}').map_or(part, |(_, rest)| rest)).collect();
        let bare = file(&folder, "bare.nwk", bare);
        let read = names_of_biopython(&[(kind, out.clone()), ("newick", bare)]);
        assert_eq!(read[0], expected);
        assert_eq!(set(&read[1]), set(&expected[..4]));
        let names: Vec<Vec<u8>> = lines(&std::fs::read(&table).unwrap())[1..7]
            .iter()
            .map(|line| line.split(|&byte| byte == b'\t').next().unwrap().to_vec())
            .collect();
        assert_eq!(names, expected[4..]);
        if format == "phylip" {
            assert!(fasttree(&["-nt", &out]).ends_with(b";\n"));
        }
        pairwave(&[&papara[..], &files[..4], &["--split", "--quiet"]].concat()).assert().success();
        assert_eq!(names_of_biopython(&[(kind, out.clone())])[0], expected[4..]);
    }
}
