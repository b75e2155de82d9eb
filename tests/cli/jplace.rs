//! Placement files of `pairwave papara --jplace`, read by a validating reader.

mod reader;

use std::fs;

use super::*;
use reader::{PlacedReads, parse};

/// Names that need quotes in a tree, and a node with four children.
const QUOTED: &str = "(('a,b':0.1,'c{1}':0.2)0.9:0.05,('it''s':0.1,d:0.3):0.02,e:0.4,'f(g)':0.25);\n";
const QUOTED_ROWS: &str = ">a,b\nACGTACGTAAGGCCTTAC\n>c{1}\nACGTACGTAAGGCC-TAC\n>it's\nACGAACGT--GGCCTTAC\n\
                           >d\nACGAACGTTAGGACTTAC\n>e\nACGAACCTTAGGACTTTC\n>f(g)\nACGTACCTTAGGACTTTC\n";
/// A tree with a root, and one with a length of 0.
const ROOTED: &str = "((a:0.1,b:0)0.9:0.05,(c:0.1,d:0.3):0.02);\n";
const ROOTED_ROWS: &str =
    ">a\nACGTACGTAAGGCCTTAC\n>b\nACGTACGTAAGGCC-TAC\n>c\nACGAACGT--GGCCTTAC\n>d\nACGAACGTTAGGACTTAC\n";
/// Reads of both strands, with names that JSON escapes, and one name twice.
const READS: &str = ">r1\nCGTACGTAAGG\n>\"r\\2\" x\nACGTACGGCC\n>r1\nGGACTTTCAA\n>\u{e4}\nGTAAGGCCTTACG\n";

/// Returns the placement file, the table and the tree of a command.
fn outputs([tree, reference, reads]: [&str; 3], options: &str) -> [String; 3] {
    let folder = folder();
    let files = ["p.jplace", "t.tsv", "t.nwk"].map(|name| path(&folder, name));
    pairwave(&["papara", "--tree", tree, "--reference", reference, "--reads", reads])
        .args(["--device", "cpu", "--quiet", "--jplace", &files[0], "--table", &files[1], "--tree-out", &files[2]])
        .args(options.split_whitespace())
        .assert()
        .success();
    files.map(|name| fs::read_to_string(name).expect("it was written"))
}

/// Compares a placement file with the table and the tree of the same run.
fn check([jplace, table, tree]: &[String; 3], context: &str) -> PlacedReads {
    let placed = parse(jplace).unwrap_or_else(|message| panic!("{context}: {message}\n{jplace}"));
    let file: serde_json::Value = serde_json::from_str(jplace).expect("JSON");
    assert_eq!(file["tree"].as_str().expect("text"), tree.trim_end(), "{context}");
    assert!(file["metadata"]["program"].as_str().is_some_and(|name| name.starts_with("pairwave ")), "{context}");
    // An unrooted tree whose inner nodes have three neighbours has 2 n - 3 edges.
    assert!(placed.edges.keys().copied().eq(0..placed.edges.len() as u64), "{context}: {:?}", placed.edges);
    let lines: Vec<Vec<&str>> = table.lines().skip(1).map(|line| line.split('\t').collect()).collect();
    assert_eq!(placed.reads.len(), lines.len(), "{context}");
    for (read, line) in placed.reads.iter().zip(&lines) {
        assert_eq!(read.names, [line[0]], "{context}");
        let rows: Vec<[f64; 6]> = [(line[1], line[2], 1.0), (line[3], line[4], 0.0)]
            .into_iter()
            .filter(|(edge, ..)| !edge.is_empty())
            .map(|(edge, score, weight)| {
                let [edge, score] = [edge, score].map(|text| text.parse::<f64>().expect("a number"));
                [edge, 0.0, weight, placed.edges[&(edge as u64)] / 2.0, 0.0, score]
            })
            .collect();
        assert_eq!(read.placements, rows, "{context}");
    }
    let fields = ["edge_num", "likelihood", "like_weight_ratio", "distal_length", "pendant_length", "parsimony"];
    assert_eq!(placed.fields, fields, "{context}");
    placed
}

#[test]
fn placement_files_follow_the_format_and_equal_the_table() {
    let assets = |set: &str| ["ref.nwk", "ref.phy", "reads.fasta"].map(|name| format!("assets/papara/{set}/{name}"));
    for (set, leaves, reads) in [("tiny", 20, 50), ("tiny_aa", 20, 30)] {
        let inputs = assets(set);
        let placed = check(&outputs(inputs.each_ref().map(String::as_str), ""), set);
        assert_eq!((placed.leaves.len(), placed.edges.len()), (leaves, 2 * leaves - 3), "{set}");
        assert_eq!(placed.reads.len(), reads, "{set}");
    }
    let folder = folder();
    for (tree, rows, edges) in [(QUOTED, QUOTED_ROWS, 8), (ROOTED, ROOTED_ROWS, 5)] {
        let inputs = [("r.nwk", tree), ("r.fa", rows), ("q.fa", READS)].map(|(name, text)| file(&folder, name, text));
        for options in ["", "--strand both", "--gap-model cgap", "--exhaustive"] {
            let placed = check(&outputs(inputs.each_ref().map(String::as_str), options), options);
            let mut leaves: Vec<&str> = rows.lines().filter_map(|line| line.strip_prefix('>')).collect();
            let mut found: Vec<&str> = placed.leaves.iter().map(String::as_str).collect();
            leaves.sort_unstable();
            found.sort_unstable();
            assert_eq!((found, placed.edges.len()), (leaves, edges), "{options}");
            let names: Vec<&str> = placed.reads.iter().flat_map(|read| &read.names).map(String::as_str).collect();
            assert_eq!(names, ["r1", "\"r\\2\"", "r1_2", "\u{e4}"], "{options}");
        }
    }
    let nothing = file(&folder, "nothing.fa", ">empty\n\n");
    let [tree, reference, _] = assets("tiny");
    let none = outputs([&tree, &reference, &nothing], "");
    assert!(check(&none, "no read").reads.is_empty());
}

/// A valid file, and changes that make it invalid.
#[test]
fn the_reader_detects_faults() {
    let valid = r#"{"version": 3, "tree": "((a:1{0},'b b':2{1}):3{2},c:4{3});", "metadata": {"invocation": "x"},
        "fields": ["edge_num", "likelihood", "like_weight_ratio", "distal_length", "pendant_length"],
        "placements": [{"p": [[1, -5.5, 0.7, 1, 0]], "n": ["r", "s"]}, {"p": [[3, -5, 0.25, 4, 0]], "nm": [["t", 2]]}]}"#;
    let placed = parse(valid).expect("it is valid");
    assert_eq!(placed.leaves, ["a", "b b", "c"]);
    assert_eq!(placed.reads.len(), 2);
    for (part, wrong) in [
        ("\"version\": 3", "\"version\": \"3\""),
        ("\"version\": 3", "\"version\": 2"),
        ("\"version\": 3,", ""),
        ("\"version\": 3", "\"version\": 3, \"other\": 1"),
        ("\"metadata\": {\"invocation\": \"x\"},", ""),
        ("{1}", "{0}"),
        ("{1}", ""),
        ("{1}", "{x}"),
        (":2{1}", "{1}"),
        (";\"", "\""),
        ("'b b'", "a"),
        (",c", ",("),
        (":4{3}", ":-4{3}"),
        ("\"edge_num\"", "\"edge\""),
        ("\"likelihood\"", "\"edge_num\""),
        ("\"distal_length\"", "\"distance\""),
        ("\"pendant_length\"", "\"proximal_length\""),
        ("[1, -5.5", "[4, -5.5"),
        ("[1, -5.5", "[1.5, -5.5"),
        ("[1, -5.5", "[-5.5"),
        ("[1, -5.5", "[1, \"x\""),
        ("-5.5", "1e999"),
        ("0.7", "1.7"),
        ("0.7, 1, 0", "0.7, 2.5, 0"),
        ("0.7, 1, 0", "0.7, 1, -1"),
        ("[[1, -5.5, 0.7, 1, 0]]", "[[1, -5.5, 0.7, 1, 0], [0, -6, 0.7, 1, 0]]"),
        ("[[1, -5.5, 0.7, 1, 0]]", "[]"),
        ("\"r\", \"s\"", ""),
        ("\"r\", \"s\"", "\"r\", \"t\""),
        ("\"nm\"", "\"n\""),
        ("\"nm\"", "\"n\": [\"u\"], \"nm\""),
        ("[\"t\", 2]", "[\"t\", 0]"),
        ("\"nm\"", "\"names\""),
    ] {
        assert_eq!(valid.matches(part).count(), 1, "{part}");
        let result = parse(&valid.replace(part, wrong));
        assert!(result.is_err(), "'{wrong}' for '{part}': {result:?}");
    }
}
