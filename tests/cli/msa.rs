//! `pairwave msa`, `tree` and `dist`: ClustalW's own files on all devices, formats, and rejected
//! input.

use std::collections::HashMap;

use insta::assert_snapshot;

use super::*;

const GENES: &str =
    ">g1 first\nACGTTGCATTAGGCATCG\n>g2\nacguugcauuaggcaucg\n>g3\nACGTTGCAGGCATCGA\n>g4\nACGTNGCATTAGGCTTCG\n";
const PROTEINS: &str = ">p|1\nMKTAYIAKQRQISFVKSHFSRQ\n>p|2\nMKTAYIAKQRISFVKSFSRQ\n>p|3\nMKTYIAKQWQISFVKSHFSR\n";

fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(path).expect("it is there")
}

/// Returns whether `--device` has no effect on a command: it compares columns or k-mers.
fn has_no_device(arguments: &[&str]) -> bool {
    ["tree", "dist"].contains(&arguments[0])
        && arguments.iter().any(|word| ["--aligned", "kmer", "mbed"].contains(word))
}

/// Returns whether `--check` has no effect on a command: it aligns no pairs for a guide tree.
fn has_nothing_to_check(arguments: &[&str]) -> bool {
    let has = |words: &[&str]| arguments.iter().any(|word| words.contains(word));
    let is_unguided = has(&["kmer", "mbed", "--guidetree-in"]) || !has(&["clustalw", "--distance", "--tree"]);
    has_no_device(arguments) || arguments[0] == "msa" && is_unguided
}

/// Returns the standard output and these files of a command, equal on all devices.
fn outputs(arguments: &[&str], files: &[(&str, &str)]) -> Vec<String> {
    needs_adapter();
    let folder = folder();
    let mut first: Option<Vec<String>> = None;
    for (device, threads) in TWO_WAYS {
        let mut command = pairwave(arguments);
        command.args(["--quiet", "--threads", threads]);
        if !has_no_device(arguments) {
            command.args(["--device", device]);
        }
        if !has_nothing_to_check(arguments) {
            command.arg("--check");
        }
        for (option, name) in files {
            command.args([option, &path(&folder, name)[..]]);
        }
        let run = command.assert().success().stderr("");
        let mut all = vec![String::from_utf8(run.get_output().stdout.clone()).expect("the output is text")];
        all.extend(files.iter().map(|(_, name)| read(folder.path().join(name))));
        match &first {
            None => first = Some(all),
            Some(first) => assert!(*first == all, "--device {device}: {arguments:?}"),
        }
    }
    first.expect("there is a way")
}

/// Returns all lines except the first.
fn behind_the_first_line(text: &str) -> &str {
    text.split_once('\n').expect("there is a line").1
}

/// Writes the sequences of an alignment in FASTA to a file, without gaps.
fn without_gaps(folder: &TempDir, name: &str, alignment: &str) -> String {
    let lines =
        alignment.lines().map(|line| if line.starts_with('>') { line.to_owned() } else { line.replace('-', "") });
    file(folder, name, lines.collect::<Vec<String>>().join("\n"))
}

/// ClustalW 2.1's files, byte for byte except for the first line.
#[test]
fn alignments_and_guide_trees_are_those_of_clustalw() {
    let folder = folder();
    let protein24 = without_gaps(&folder, "24.fa", &read("assets/msa/sim_protein24.true.fasta"));
    let sets = [
        ("assets/msa/adenylate_kinases.fasta", "adenylate_kinases"),
        ("assets/16s/gold12.fasta", "gold12"),
        (&protein24, "sim_protein24"),
    ];
    for (input, name) in sets {
        let arguments = ["msa", input, "--mode", "clustalw", "--format", "clustal", "--order", "tree"];
        let actual = outputs(&arguments, &[("--guidetree-out", "tree.dnd")]);
        let clustal = |ending: &str| read(format!("assets/msa/{name}.clustalw.{ending}"));
        assert!(behind_the_first_line(&actual[0]) == behind_the_first_line(&clustal("aln")), "{name}");
        assert_eq!(actual[1], clustal("dnd"), "{name}");
        // ClustalW's tree file gives the same alignment.
        let tree = format!("assets/msa/{name}.clustalw.dnd");
        let by_tree = [&arguments[..], &["--guidetree-in", &tree]].concat();
        assert!(outputs(&by_tree, &[])[0] == actual[0], "{name}");
    }
}

/// All options of both stages that ClustalW has.
#[test]
fn options_are_those_of_clustalw() {
    let proteins = "--pair-matrix blosum --pair-gap-open 8 --pair-gap-extend 0.5 --matrix pam --gap-open 8 --gap-extend 0.3 \
                    --gap-distance 6 --hydrophilic GPSN --no-residue-gaps --delay 40";
    let genes = "--pair-matrix clustalw --pair-gap-open 12 --pair-gap-extend 5 --matrix clustalw --transition-weight 0.3 \
                 --gap-open 12 --gap-extend 5 --no-weights";
    let sets = [
        ("assets/msa/adenylate_kinases.fasta", "adenylate_kinases", proteins),
        ("assets/16s/gold12.fasta", "gold12", genes),
    ];
    for (input, name, options) in sets {
        let arguments = ["msa", input, "--mode", "clustalw", "--format", "clustal", "--order", "tree"];
        let options: Vec<&str> = options.split_whitespace().collect();
        let actual = outputs(&[&arguments[..], &options].concat(), &[]);
        let clustal = read(format!("assets/msa/{name}.clustalw.options.aln"));
        assert!(behind_the_first_line(&actual[0]) == behind_the_first_line(&clustal), "{name}");
    }
}

/// A group of single residues under matrices without negative differences, which make ClustalW's
/// gaps nearly free.
#[test]
fn single_residues_are_aligned_as_by_clustalw() {
    let folder = folder();
    let row = |letter: char| format!("{letter}{}", " 1".repeat(20));
    let letters = "ARNDCQEGHILKMFPSTWYV";
    let header: String = letters.chars().flat_map(|letter| [' ', letter]).collect();
    let rows: Vec<String> = letters.chars().map(row).collect();
    let ones = file(&folder, "ones.mat", format!("{header}\n{}\n", rows.join("\n")));
    let cases: [(&[&str], &str, &[&str]); 7] = [
        (&["HL", "L"], "id", &["HL", "-L"]),
        (&["HLH", "L"], "id", &["HLH", "-L-"]),
        (&["LHHLHHHW", "L"], "id", &["LHHLHHHW", "---L----"]),
        (&["LHHLHHHW", "A"], "id", &["LHHLHHHW", "------A-"]),
        (&["HLLLK", "L", "L"], "id", &["HLLLK", "-L---", "-L---"]),
        (&["HL", "L"], &ones, &["HL", "L-"]),
        (&["LHHLH", "A"], &ones, &["LHHLH", "--A--"]),
    ];
    for (sequences, matrix, expected) in cases {
        let text: String = sequences.iter().enumerate().map(|(at, letters)| format!(">s{at}\n{letters}\n")).collect();
        let input = file(&folder, "short.fa", text);
        let arguments = ["msa", &input, "--mode", "clustalw", "--alphabet", "protein", "--matrix", matrix];
        let actual = outputs(&[&arguments[..], &["--format", "fasta"]].concat(), &[]);
        let rows: Vec<&str> = actual[0].lines().filter(|line| !line.starts_with('>')).collect();
        assert_eq!(rows, expected, "{sequences:?} {matrix}");
    }
}

/// `-iteration=TREE` and `-iteration=ALIGNMENT`.
#[test]
fn iteration_is_that_of_clustalw() {
    for (input, name) in
        [("assets/msa/adenylate_kinases.fasta", "adenylate_kinases"), ("assets/16s/gold12.fasta", "gold12")]
    {
        let tree = format!("assets/msa/{name}.clustalw.dnd");
        for what in ["tree", "alignment"] {
            let arguments = ["msa", input, "--mode", "clustalw", "--guidetree-in", &tree, "--iterate", what];
            let actual = outputs(&[&arguments[..], &["--format", "clustal", "--order", "tree"]].concat(), &[]);
            let clustal = read(format!("assets/msa/{name}.clustalw.{what}.aln"));
            assert!(behind_the_first_line(&actual[0]) == behind_the_first_line(&clustal), "{name}: {what}");
        }
    }
}

/// Trees and distances of alignments from ClustalW's files: .ph, .phb and .dst byte for byte.
#[test]
fn trees_of_alignments_are_those_of_clustalw() {
    for name in ["adenylate_kinases", "gold12"] {
        let aligned = format!("assets/msa/{name}.clustalw.aln");
        let clustal = |ending: &str| read(format!("assets/msa/{name}.clustalw.{ending}"));
        let kimura = ["--aligned", &aligned, "--kimura"];
        assert_eq!(outputs(&[&["tree"], &kimura[..]].concat(), &[])[0], clustal("kimura.ph"), "{name}");
        let drawn = ["tree", "--bootstrap", "50", "--seed", "5", "--labels", "branches"];
        assert_eq!(outputs(&[&drawn, &kimura[..]].concat(), &[])[0], clustal("kimura.phb"), "{name}");
        let tossed = ["dist", "--format", "clustal", "--toss-gaps"];
        assert_eq!(outputs(&[&tossed, &kimura[..]].concat(), &[])[0], clustal("kimura.dst"), "{name}");
        // Other formats of the alignment give the same result.
        let folder = folder();
        for format in ["fasta", "phylip", "stockholm", "msf", "nexus"] {
            let file = path(&folder, format);
            let input = if name == "gold12" { "assets/16s/gold12.fasta" } else { "assets/msa/adenylate_kinases.fasta" };
            let arguments =
                ["msa", input, "--mode", "clustalw", "-q", "--order", "tree", "--format", format, "-o", &file];
            pairwave(&arguments).assert().success().stderr("");
            let tree = &outputs(&["tree", "--aligned", &file, "--kimura"], &[])[0];
            assert_eq!(*tree, clustal("kimura.ph"), "{name} {format}");
        }
    }
}

/// Returns the rows of an alignment in FASTA by name.
fn rows(text: &str) -> HashMap<String, String> {
    let records = text.split('>').skip(1).map(|record| record.split_once('\n').expect("a header"));
    records.map(|(name, letters)| (name.to_owned(), letters.replace('\n', ""))).collect()
}

/// Returns the fraction of residue pairs in a column of one alignment that also share a column of
/// another.
fn share_of_pairs(truth: &str, actual: &str) -> f64 {
    let (truth, actual) = (rows(truth), rows(actual));
    let places =
        |row: &str| -> Vec<usize> { row.bytes().enumerate().filter(|(_, c)| *c != b'-').map(|(at, _)| at).collect() };
    let mut names: Vec<&String> = truth.keys().collect();
    names.sort();
    let (mut right, mut all) = (0, 0);
    for (index, a) in names.iter().enumerate() {
        for b in &names[..index] {
            let [true_a, true_b, own_a, own_b] =
                [(&truth, a), (&truth, b), (&actual, a), (&actual, b)].map(|(rows, name)| places(&rows[*name]));
            let by_column: HashMap<usize, usize> = true_b.iter().copied().zip(own_b).collect();
            for (column, default_share) in true_a.into_iter().zip(own_a) {
                if let Some(&other) = by_column.get(&column) {
                    (right, all) = (right + usize::from(default_share == other), all + 1);
                }
            }
        }
    }
    f64::from(right as u32) / f64::from(all as u32)
}

#[test]
fn the_default_finds_more_of_a_true_alignment_than_clustalw() {
    let folder = folder();
    for (name, least) in [("sim_protein24", 0.7), ("sim_dna12", 0.9)] {
        let truth = read(format!("assets/msa/{name}.true.fasta"));
        let input = without_gaps(&folder, "in.fa", &truth);
        let share =
            |arguments: &[&str]| share_of_pairs(&truth, &outputs(&[&["msa", &input], arguments].concat(), &[])[0]);
        let (default_share, clustal) = (share(&[]), share(&["--mode", "clustalw", "--distance", "kmer"]));
        assert!(default_share > clustal && default_share > least, "{name}: {default_share} {clustal}");
        assert!((share_of_pairs(&truth, &truth) - 1.0).abs() < 1e-9);
    }
}

/// Posterior probabilities have the same bits on GPUs and on the CPU.
#[test]
fn accurate_alignments_are_equal_on_all_devices() {
    let aligned = &outputs(&["msa", "assets/msa/adenylate_kinases.fasta", "--mode", "accurate"], &[])[0];
    assert!(aligned.lines().any(|line| line.contains('-')), "{aligned}");
}

#[test]
fn every_format_has_the_alignment() {
    let folder = folder();
    let genes = file(&folder, "genes.fa", GENES);
    let proteins = file(&folder, "proteins.fa", PROTEINS);
    let mut text = String::new();
    for (input, mode) in [(&genes, "clustalw"), (&proteins, "accurate")] {
        for format in ["fasta", "clustal", "phylip", "stockholm", "msf", "nexus"] {
            let written = &outputs(&["msa", input, "--mode", mode, "--format", format], &[])[0];
            let version = format!("pairwave {}", env!("CARGO_PKG_VERSION"));
            writeln!(text, "== {mode}, {format}\n{}", written.replace(&version, "pairwave VERSION"))
                .expect("a string takes all");
        }
    }
    assert_snapshot!("formats_of_multiple_alignments", text);
}

#[test]
fn the_format_follows_the_name_and_the_page_holds_all() {
    let folder = folder();
    let genes = file(&folder, "genes.fa", GENES);
    for (name, begin) in
        [("a.aln", "CLUSTAL"), ("a.phy", " 4 "), ("a.sto", "# STOCKHOLM"), ("a.msf", "!!NA"), ("a.fa", ">g1")]
    {
        let output = path(&folder, name);
        pairwave(&["msa", &genes, "-q", "-o", &output]).assert().success().stderr("");
        assert!(read(&output).trim_start().starts_with(begin.trim_start()), "{name}");
    }
    let page = path(&folder, "page.html");
    pairwave(&["msa", &genes, "-q", "--report", &page]).assert().success();
    let page = read(&page);
    assert!(page.contains("genes.fa") && page.contains("\"g3\"") && page.ends_with("</html>\n"));
}

#[test]
fn trees_and_distances_of_every_kind() {
    let folder = folder();
    let genes = file(&folder, "genes.fa", GENES);
    let mut text = String::new();
    for distance in ["clustal", "identity", "edit", "kmer"] {
        let matrix = &outputs(&["dist", &genes, "--distance", distance], &[])[0];
        let lower = &outputs(&["dist", &genes, "--distance", distance, "--matrix-shape", "lower"], &[])[0];
        writeln!(text, "== {distance}\n{matrix}{lower}").expect("a string takes all");
    }
    for tree in ["nj", "upgma", "mbed"] {
        let newick = &outputs(&["tree", &genes, "--tree", tree], &[])[0];
        writeln!(text, "== {tree}\n{newick}").expect("a string takes all");
    }
    let aligned = path(&folder, "aligned.fa");
    pairwave(&["msa", &genes, "-q", "-o", &aligned]).assert().success();
    for more in [&[][..], &["--bootstrap", "100"], &["--bootstrap", "100", "--seed", "7", "--no-gap-columns"]] {
        let newick = &outputs(&[&["tree", "--aligned", &aligned], more].concat(), &[])[0];
        writeln!(text, "== aligned {more:?}\n{newick}").expect("a string takes all");
    }
    let files = [("--distmat-out", "d.phy"), ("--guidetree-out", "t.nwk")];
    // In the accurate mode, distances determine only the tree.
    let along = outputs(&["msa", &genes, "--tree", "upgma", "--distance", "edit"], &files);
    assert_eq!(along[1], outputs(&["dist", &genes, "--distance", "edit"], &[])[0]);
    assert_eq!(along[2], outputs(&["tree", &genes, "--distance", "edit", "--tree", "upgma"], &[])[0]);
    let tree = file(&folder, "guide.nwk", &along[2]);
    let given = outputs(&["msa", &genes, "--guidetree-in", &tree], &files);
    assert_eq!(given[0], along[0]);
    // A tree from a file has the digits of single precision.
    assert_eq!(given[2], "(((g1:0,g2:0):0.027777778,g4:0.027777778):0.09259259,g3:0.12037037);\n");
    assert_eq!(given[1], outputs(&["msa", &genes], &files)[1]);
    let actual = outputs(&["msa", &genes, "--mode", "clustalw", "--tree", "upgma", "--distance", "edit"], &files);
    assert_eq!(actual[1], outputs(&["dist", &genes, "--distance", "edit"], &[])[0]);
    assert_eq!(actual[2], outputs(&["tree", &genes, "--distance", "edit", "--tree", "upgma"], &[])[0]);
    assert_snapshot!("trees_and_distances", text);
}

#[test]
fn pictures_show_every_sequence_and_change_no_other_output() {
    let folder = folder();
    let genes = file(&folder, "genes.fa", GENES.replace(">g3", ">g<3>&"));
    let aligned = path(&folder, "aligned.fa");
    pairwave(&["msa", &genes, "-q", "-o", &aligned]).assert().success();
    let bootstrap = ["tree", "--aligned", &aligned, "--bootstrap", "100"];
    let jobs: [&[&str]; 10] = [
        &["dist", &genes],
        &["dist", &genes, "--distance", "edit", "--format", "tsv"],
        &["dist", "--aligned", &aligned, "--kimura"],
        &["tree", &genes],
        &["tree", &genes, "--tree", "upgma"],
        &["tree", &genes, "--tree", "mbed"],
        &["tree", "--aligned", &aligned],
        &["tree", "--aligned", &aligned, "--model", "gtr", "--tree", "bme"],
        &["dist", "--aligned", &aligned, "--model", "gtr"],
        &bootstrap,
    ];
    let drawn = |job: &[&str]| {
        let [rows, svg] = outputs(job, &[("--plot", "picture.svg")]).try_into().expect("two outputs");
        assert_eq!(rows, outputs(job, &[])[0], "{job:?}");
        svg
    };
    for job in jobs {
        let svg = drawn(job);
        assert!(svg.ends_with("</svg>\n") && !svg.contains("<3>"), "{svg}");
        // Both sides of a matrix have names, and a leaf has one.
        let count = if job[0] == "dist" { 2 } else { 1 };
        for name in ["g1", "g2", "g&lt;3&gt;&amp;", "g4"] {
            assert_eq!(svg.matches(&format!(">{name}</text>")).count(), count, "{job:?} {name}: {svg}");
        }
    }
    // The numbers of both places in the tree are drawn as support.
    let svg = drawn(&bootstrap);
    assert!(svg.contains("<title>") && !svg.contains("TRICHOTOMY"), "{svg}");
    assert!(svg == drawn(&[&bootstrap[..], &["--labels", "branches"]].concat()), "{svg}");
    for command in ["dist", "tree"] {
        let png = path(&folder, "picture.PNG");
        pairwave(&[command, &genes, "-q", "--plot", &png]).assert().success();
        assert!(std::fs::read(&png).expect("it is there").starts_with(b"\x89PNG\r\n\x1a\n"));
    }
}

#[test]
fn wrong_files_of_pictures_are_refused() {
    let folder = folder();
    let genes = file(&folder, "genes.svg", GENES);
    let other = path(&folder, "other.svg");
    let named = |text: String| text.replace(&path(&folder, ""), "@");
    for command in ["dist", "tree"] {
        let refused = |arguments: &[&str]| named(message(&[&[command, &genes], arguments].concat()));
        let error = "2: pairwave: error: --plot";
        assert_eq!(refused(&["--plot", "p.pdf"]), format!("{error} p.pdf: the name must end in .svg or .png"));
        assert_eq!(refused(&["--plot", &genes]), format!("{error} @genes.svg would overwrite an input file"));
        assert_eq!(
            refused(&["--plot", &other, "-o", &other]),
            format!("{error} @other.svg would overwrite another output file")
        );
    }
    assert_eq!(entries(folder.path()), ["genes.svg"]);
}

/// Returns the standard error of a command without times.
fn message(arguments: &[&str]) -> String {
    let mut command = pairwave(arguments);
    if !has_no_device(arguments) && !arguments.contains(&"--kernel") {
        command.args(["--device", "cpu"]);
    }
    let run = command.output().expect("it runs");
    let code = run.status.code().expect("it ends by itself");
    let text = String::from_utf8(run.stderr).expect("text");
    let lines: Vec<&str> =
        text.lines().filter(|line| !line.contains(" sequences in ") && !line.contains(" in 0.")).collect();
    format!("{code}: {}", lines.join("\n"))
}

#[test]
fn messages_name_the_problem() {
    let folder = folder();
    let genes = file(&folder, "genes.fa", GENES);
    let one = file(&folder, "one.fa", ">alone\nACGTTGCATT\n");
    let two = file(&folder, "two.fa", ">a\nACGTTGCATT\n>b\nACGTGCATTA\n");
    let twice = file(&folder, "twice.fa", ">a\nACGTTGCATT\n>a\nACGTGCATTA\n>a\nACGTGCATTA\n");
    for input in [&one, &two, &twice] {
        for mode in ["clustalw", "accurate"] {
            pairwave(&["msa", input, "-q", "--mode", mode, "--format", "stockholm"]).assert().success();
        }
    }
    assert_eq!(outputs(&["msa", &one], &[])[0], ">alone\nACGTTGCATT\n");
    let far = file(&folder, "far.fa", ">a\nACGTTGCATT\n>b\nTGCAACGTAA\n>c\nACGTTGCATA\n");
    let gaps = file(&folder, "gaps.fa", ">a\nAC-GTTGCATT\n>b\nACGTGCATTA\n");
    let stops = file(&folder, "stops.fa", PROTEINS.replace("SFSRQ\n", "SFSRQ*\n").replace("SHFSR\n", "SHFJSR*\n"));
    let proteins = file(&folder, "proteins.fa", ">a\nMKVWAC\n>b\nMKIWCL\n");
    let letters = file(&folder, "letters.fa", ">a\nACGTTGCATT\n>b\nAC7TGCATTA\n");
    let other = file(&folder, "other.nwk", "(g1:1,(g2:1,g3:1):1,g5:1);\n");
    let missing = file(&folder, "missing.nwk", "(g1:1,g2:1,g3:1);\n");
    let out = path(&folder, "out.fa");
    let matrix = path(&folder, "matrix.phy");
    let many: Vec<Vec<&str>> = vec![
        vec!["msa", &twice, "-o", &out],
        vec!["msa", &gaps, "-o", &out],
        vec!["msa", &gaps, "--degap", "-o", &out],
        vec!["msa", &letters, "-o", &out],
        vec!["msa", &genes, "--mode", "clustalw", "--guidetree-in", &other, "-o", &out],
        vec!["msa", &genes, "--mode", "clustalw", "--guidetree-in", &missing, "-o", &out],
        vec!["msa", &genes, "--pair-gap-open", "5"],
        vec!["msa", &genes, "--mode", "clustalw", "--guidetree-in", &other, "--tree", "nj"],
        vec!["msa", &genes, "--mode", "clustalw", "--tree", "mbed", "--distmat-out", &matrix],
        vec!["msa", &genes, "--gap-open", "5"],
        vec!["msa", &genes, "--iterate", "tree"],
        vec!["msa", &genes, "--mode", "clustalw", "--matrix", "gonnet"],
        vec!["msa", &genes, "--mode", "clustalw", "--gap-open", "-1"],
        vec!["msa", &genes, "--mode", "clustalw", "--refinements", "0"],
        vec!["msa", &genes, "--kernel", "nw_slice"],
        vec!["msa", &genes, "-o", &genes],
        vec!["msa", &genes, "-o", &out, "--report", &out],
        vec!["msa", &genes, "--alphabet", "bytes"],
        vec!["tree", "--aligned", &two],
        vec!["tree", "--aligned", &two, "--bootstrap", "10"],
        vec!["tree", "--aligned", &twice],
        vec!["tree", &genes, "--bootstrap", "10"],
        vec!["dist", &gaps],
        vec!["msa", &genes, "--mode", "clustalw", "--pair-matrix", "pam"],
        vec!["msa", &genes, "--mode", "clustalw", "--distance", "edit", "--pair-gap-open", "1"],
        vec!["msa", &two, "--alphabet", "protein", "--mode", "clustalw", "--hydrophilic", "G1"],
        vec!["msa", &genes, "--mode", "clustalw", "--transition-weight", "2"],
        vec!["msa", &genes, "--negative"],
        vec!["msa", &genes, "--mode", "clustalw", "--matrix", "nope"],
        vec!["dist", &genes, "--pair-matrix", "nope"],
        vec!["msa", &genes, "--mode", "clustalw", "--matrix", "BLOSUM62"],
        vec!["dist", &genes, "--pair-matrix", "BLOSUM62"],
        vec!["dist", &proteins, "--pair-matrix", "EDNAFULL"],
        vec!["tree", "--aligned", &two, "--pair-gap-open", "1"],
        vec!["msa", &stops, "--mode", "clustalw", "-o", &out],
        vec!["msa", &stops, "-o", &out],
        vec!["dist", &genes, "--kimura"],
        vec!["dist", "--aligned", &two, "--distance", "edit"],
        vec!["dist", &two, "--format", "clustal", "--matrix-shape", "lower"],
        vec!["dist", "--aligned", &far, "--kimura", "-o", &matrix],
        vec!["dist", "--aligned", &far, "--model", "k80", "-o", &matrix],
        vec!["tree", "--aligned", &far, "--model", "lg"],
    ];
    for command in ["msa", "tree", "dist"] {
        let mut text = String::new();
        for arguments in many.iter().filter(|arguments| arguments[0] == command) {
            let shown = arguments.join(" ");
            writeln!(text, "{shown}\n  {}", message(arguments).replace('\n', "\n  ")).expect("a string takes all");
        }
        let text = text.replace(folder.path().to_str().expect("text"), "DIR");
        assert_snapshot!(format!("messages_of_{command}"), text);
    }
    assert_eq!(read(&genes), GENES);
}

/// Every round reduces the probabilities until none is left.
#[test]
fn rounds_of_consistency_are_limited() {
    let file = "assets/msa/adenylate_kinases.fasta";
    let run = |rounds| pairwave(&["msa", file, "-q", "--device", "cpu", "--consistency", rounds]).output().unwrap();
    for rounds in ["4", "20"] {
        let output = run(rounds);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{message}");
        assert!(message.contains("--consistency") && message.contains("0 to 3"), "{message}");
    }
    assert_eq!(run("3").status.code(), Some(0));
}

#[test]
fn rows_without_common_columns_give_one_warning() {
    let folder = folder();
    let rows = file(&folder, "a.fa", ">a\nACGT----\n>b\n----ACGT\n>c\nACGAACGA\n>d\nACTAACGA\n");
    let expected = |pairs: u32, what: &str| {
        format!(
            "pairwave: warning: {rows}: {pairs} of 6 pairs of rows have no residues in common columns{what}: their distance counts \
             as 0, as in ClustalW; the first are 'a' and 'b'\n"
        )
    };
    for command in [&["dist"][..], &["tree"], &["tree", "--bootstrap", "3"], &["tree", "--tree", "upgma"]] {
        for (more, pairs, what) in
            [(&[][..], 1, ""), (&["--kimura"], 1, ""), (&["--no-gap-columns"], 6, " that --no-gap-columns keeps")]
        {
            let arguments = [command, &["--aligned", &rows], more].concat();
            let run = pairwave(&arguments).assert().success();
            let said = String::from_utf8(run.get_output().stderr.clone()).unwrap();
            let warnings: String =
                said.split_inclusive('\n').filter(|line| line.contains("in common columns")).collect();
            assert_eq!(warnings, expected(pairs, what), "{arguments:?}");
        }
    }
}

/// Aligned genes with gaps. The first two are equal.
const ALIGNED: [&str; 6] =
    ["ACGTACGATTCAGA", "ACGTACGATTCAGA", "ACTTACGATACAGC", "ACTTACG-TACTGC", "TCTTACGACACTCC", "TCTTACGACACTCA"];

fn aligned(order: [usize; 6]) -> String {
    order.iter().map(|&row| format!(">s{row}\n{}\n", ALIGNED[row])).collect()
}

/// Returns the standard output of a command on the CPU.
fn written(arguments: &[&str]) -> String {
    let mut command = pairwave(arguments);
    if !has_no_device(arguments) {
        command.args(["--device", "cpu"]);
    }
    let run = command.arg("--quiet").assert().success().stderr("");
    String::from_utf8(run.get_output().stdout.clone()).expect("text")
}

#[test]
fn distances_of_models_are_substitutions_per_site() {
    let folder = folder();
    let rows = file(&folder, "rows.fa", aligned([0, 1, 2, 3, 4, 5]));
    let table = |more: &[&str]| -> Vec<Vec<f64>> {
        let text = written(&[&["dist", "--aligned", &rows, "--format", "tsv"], more].concat());
        let values = |line: &str| line.split('\t').skip(1).map(|value| value.parse().expect("a number")).collect();
        text.lines().skip(1).map(values).collect()
    };
    // Rows 0 and 2 differ in 3 of 14 columns: G-T, T-A and A-C.
    let jukes_cantor = -0.75 * (1.0 - 3.0 / 14.0 / 0.75_f64).ln();
    assert!((table(&["--model", "jc69"])[0][2] - jukes_cantor).abs() < 2e-6);
    for model in ["jc69", "k80", "f84", "tn93", "gtr"] {
        let (plain, gamma) =
            (table(&["--model", model, "--gamma", "none"]), table(&["--model", model, "--gamma", "1"]));
        for row in 0..6 {
            assert_eq!((plain[row][row], plain[0][1]), (0.0, 0.0), "{model}");
            for column in 0..6 {
                assert_eq!(plain[row][column], plain[column][row], "{model}");
                assert!(model == "gtr" || gamma[row][column] >= plain[row][column], "{model}");
            }
        }
        let default = if model == "gtr" { gamma } else { plain };
        assert_eq!(table(&["--model", model]), default, "{model}");
    }
    let proteins = ["lg", "wag", "jtt"].map(|model| table(&["--alphabet", "protein", "--model", model])[0][2]);
    assert!(proteins.iter().all(|&distance| distance > 3.0 / 14.0), "{proteins:?}");
}

#[test]
fn every_method_builds_trees_with_support_from_every_model() {
    let folder = folder();
    let rows = file(&folder, "rows.fa", aligned([0, 1, 2, 3, 4, 5]));
    for tree in ["nj", "bionj", "bme", "upgma"] {
        for model in [&[][..], &["--kimura"], &["--model", "gtr", "--gamma", "0.5"]] {
            let arguments = [&["tree", "--aligned", &rows, "--tree", tree], model].concat();
            let built = |more: &[&str]| written(&[&arguments[..], more].concat());
            let plain = built(&[]);
            let nodes = built(&["--bootstrap", "20"]);
            let branches = built(&["--bootstrap", "20", "--labels", "branches"]);
            for text in [&plain, &nodes, &branches] {
                assert!((0..6).all(|row| text.contains(&format!("s{row}:"))) && text.ends_with(";\n"), "{text}");
            }
            let parts = branches.split('[').map(|part| part.split_once(']').map_or(part, |(_, rest)| rest));
            let unlabelled: String = parts.collect();
            assert!(branches.contains('[') && unlabelled == plain, "{branches}");
            assert!(nodes != plain && !nodes.contains('['), "{nodes}");
        }
    }
}

/// The order of the rows changes neither trees nor support.
#[test]
fn trees_of_minimum_evolution_do_not_depend_on_the_order_of_rows() {
    let folder = folder();
    let first = file(&folder, "first.fa", aligned([0, 1, 2, 3, 4, 5]));
    let second = file(&folder, "second.fa", aligned([4, 2, 0, 5, 3, 1]));
    for tree in ["bionj", "bme"] {
        for more in [&[][..], &["--bootstrap", "30"]] {
            let built = |input: &str, threads: &str| {
                let arguments = ["tree", "--aligned", input, "--model", "gtr", "--tree", tree, "--threads", threads];
                written(&[&arguments[..], more].concat())
            };
            let expected = built(&first, "1");
            assert!(expected.contains("s5"), "{expected}");
            assert_eq!(built(&second, "1"), expected, "{tree} {more:?}");
            assert_eq!(built(&second, "3"), expected, "{tree} {more:?}");
        }
        // Sequences without an alignment, too.
        let degapped = |input: &str| written(&["tree", input, "--degap", "--distance", "edit", "--tree", tree]);
        assert_eq!(degapped(&first), degapped(&second), "{tree}");
    }
}
