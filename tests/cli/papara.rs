//! `pairwave papara`: equal files on all devices, resumed jobs, and rejected input.

use insta::assert_snapshot;
use pairwave::seq::reverse_complement_letters;

use super::*;

const TREE: &str = "((a:0.1,b:0.2)0.9:0.05,(c:0.1,d:0.3):0.02,e:0.4);\n";
const REFERENCE: &str = ">a\nACGTACGTAAGGCCTTAC\n>b\nACGTACGTAAGGCC-TAC\n>c\nACGAACGT--GGCCTTAC\n>d\nACGAACGTTAGGACTTAC\n\
                         >e\nACGAACCTTAGGACTTTC\n";
/// Reads with an insertion, with an overhang, of the minus strand, and without letters.
const READS: &str = ">r1\nCGTACGTAAGG\n>r2 x\nacguNacggcc\n>r3\nGGACTTTCAA\n>empty\n\n>r4\nGTAAGTCC\n";

/// Returns a directory with the files above.
fn small() -> TempDir {
    let folder = folder();
    file(&folder, "ref.nwk", TREE);
    file(&folder, "ref.fa", REFERENCE);
    file(&folder, "reads.fa", READS);
    folder
}

/// Returns a `pairwave papara` command with three inputs.
fn papara([tree, reference, reads]: [&str; 3]) -> Command {
    pairwave(&["papara", "--tree", tree, "--reference", reference, "--reads", reads])
}

fn inputs(folder: &TempDir) -> [String; 3] {
    ["ref.nwk", "ref.fa", "reads.fa"].map(|name| path(folder, name))
}

#[test]
fn reads_of_another_alphabet_give_a_warning() {
    let folder = folder();
    let [tree, reference] = ["ref.nwk", "ref.fasta"].map(|name| asset("tiny_aa", name));
    let reads = file(&folder, "dna.fa", ">r1\nACGTACGTTGCA\n>r2\nTTGACCAGT\n");
    let run = papara([&tree, &reference, &reads]).assert().success();
    let message = String::from_utf8(run.get_output().stderr.clone()).expect("text");
    let expected = "dna.fa: looks like DNA/RNA by itself but is read as protein, as the reference alignment is";
    assert_eq!(message.matches(expected).count(), 1, "{message}");
    let output = papara([&tree, &reference, &asset("tiny_aa", "reads.fasta")]).assert().success();
    assert!(!String::from_utf8_lossy(&output.get_output().stderr).contains("looks like"));
    // Letters outside the references' alphabet are an error.
    let small = small();
    let [tree, reference, _] = inputs(&small);
    let run = papara([&tree, &reference, &asset("tiny_aa", "reads.fasta")]).assert().code(2);
    let message = String::from_utf8(run.get_output().stderr.clone()).expect("text");
    assert!(message.contains("the alphabet of the reference alignment"), "{message}");
}

/// Returns the alignment, the table and the tree, equal on all devices.
fn outputs(inputs: &[String; 3], arguments: &[&str]) -> [String; 3] {
    needs_adapter();
    let folder = folder();
    let (table, tree) = (path(&folder, "table.tsv"), path(&folder, "tree.nwk"));
    let mut first: Option<[String; 3]> = None;
    for (device, threads) in TWO_WAYS {
        let run = papara(inputs.each_ref().map(String::as_str))
            .args(["--quiet", "--check", "--device", device, "--threads", threads])
            .args(["--table", &table, "--tree-out", &tree])
            .args(arguments)
            .assert()
            .success()
            .stderr("");
        let alignment = String::from_utf8(run.get_output().stdout.clone()).expect("the output is text");
        let all = [alignment, read(&table), read(&tree)];
        match &first {
            None => first = Some(all),
            Some(first) => assert_eq!(first, &all, "--device {device}: {arguments:?}"),
        }
    }
    first.expect("there is a way")
}

fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(path).expect("it is there")
}

fn asset(set: &str, name: &str) -> String {
    format!("assets/papara/{set}/{name}")
}

fn asset_inputs(set: &str) -> [String; 3] {
    ["ref.nwk", "ref.phy", "reads.fasta"].map(|name| asset(set, name))
}

fn success(command: &mut Command) -> (String, String) {
    let run = command.assert().success();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
    (text(&run.get_output().stdout), text(&run.get_output().stderr))
}

/// PaPaRa 2.5's files, byte for byte.
#[test]
fn alignments_are_those_of_papara() {
    for set in ["tiny", "tiny_aa"] {
        for (model, published) in [("pgap", "papara.pgap.phy"), ("cgap", "papara.cgap.phy")] {
            let alignment = &outputs(&asset_inputs(set), &["--gap-model", model, "--format", "phylip"])[0];
            assert!(*alignment == read(asset(set, published)), "{set}, {model}");
        }
    }
    // Without N, which PaPaRa writes as a gap here.
    let alignment = &outputs(&asset_inputs("tiny_aa"), &["-r", "--format", "phylip"])[0];
    assert!(*alignment == read(asset("tiny_aa", "papara.pgap.r.phy")), "inserted characters dropped");
}

/// PaPaRa's own command lines give PaPaRa's files.
#[test]
fn command_lines_of_papara_write_its_files() {
    let root = std::env::current_dir().expect("the package");
    let set = asset_inputs("tiny").map(|name| root.join(name).into_os_string().into_string().expect("text"));
    for (options, file, published) in [
        ("-n run1", "papara_alignment.run1", "papara.pgap.phy"),
        ("-c -j 2 -n c.fa", "papara_alignment.c.fa", "papara.cgap.phy"),
        ("-c -o c.out", "c.out", "papara.cgap.phy"),
    ] {
        let folder = folder();
        let mut run = papara(set.each_ref().map(String::as_str));
        run.current_dir(folder.path()).args(["--device", "cpu", "--quiet"]).args(options.split(' ')).assert().success();
        assert!(read(folder.path().join(file)) == read(asset("tiny", published)), "{options}");
    }
    let folder = folder();
    let mut run = papara(set.each_ref().map(String::as_str));
    run.current_dir(folder.path()).args(["--device", "cpu", "--quiet", "-c", "-f", "-n", "x.phy"]).assert().success();
    assert!(read(folder.path().join("papara_alignment.x.phy")).starts_with('>'));
}

#[test]
fn every_format_has_the_alignment() {
    let folder = small();
    let mut text = String::new();
    for arguments in [
        &[][..],
        &["--keep-length"],
        &["--split"],
        &["--keep-length", "--split"],
        &["--format", "phylip"],
        &["--format", "phylip", "--keep-length", "--split"],
    ] {
        writeln!(text, "{}\n{}", arguments.join(" "), outputs(&inputs(&folder), arguments)[0]).unwrap();
    }
    assert_snapshot!(text);
}

#[test]
fn scores_strands_and_edges() {
    let folder = small();
    let mut text = String::new();
    for arguments in [
        &[][..],
        &["--gap-model", "cgap"],
        &["--scoring", "paper"],
        &["-p", "-5:-2:3:-1"],
        &["--match", "3", "--mismatch", "-1", "--gap-open", "4", "--gap-extend", "2", "--gap-site", "1"],
        &["--strand", "both"],
        &["--strand", "minus"],
    ] {
        let [alignment, table, tree] = outputs(&inputs(&folder), &[&["--split"], arguments].concat());
        writeln!(text, "{}\n{alignment}\n{table}\n{tree}", arguments.join(" ")).unwrap();
    }
    assert_snapshot!(text);
    let default = outputs(&inputs(&folder), &[]);
    assert_eq!(outputs(&inputs(&folder), &["-p", "-3:-1:2:-3"]), default);
    assert_eq!(outputs(&inputs(&folder), &["--exhaustive"]), default);
}

/// Real reads, every third of them reverse-complemented.
#[test]
fn tables_of_reads_of_either_strand() {
    let folder = folder();
    let mut reads = String::new();
    for (index, record) in read(asset("tiny", "reads.fasta")).split('>').skip(1).step_by(5).enumerate() {
        let (name, letters) = record.split_once('\n').expect("a line of a name");
        let letters: String = letters.split_whitespace().collect();
        let turned = String::from_utf8(reverse_complement_letters(letters.as_bytes())).expect("letters");
        writeln!(reads, ">{name}\n{}", if index % 3 == 0 { turned } else { letters }).unwrap();
    }
    let [tree, reference, _] = asset_inputs("tiny");
    let inputs = [tree, reference, file(&folder, "reads.fa", reads)];
    let [alignment, table, tree] = outputs(&inputs, &["--strand", "both", "--split"]);
    assert_snapshot!(format!("{table}\n{tree}"));
    assert_eq!(outputs(&inputs, &["--strand", "both", "--split", "--exhaustive"]), [alignment, table, tree]);
}

/// Empty reads are named and the others are aligned. A name that ends in .phy.gz means compressed
/// PHYLIP.
#[test]
fn empty_reads_are_named_and_skipped() {
    let folder = small();
    let inputs = inputs(&folder);
    let inputs = inputs.each_ref().map(String::as_str);
    let (stats, output) = (path(&folder, "stats.json"), path(&folder, "aligned.PHY.gz"));
    let (stdout, stderr) = success(papara(inputs).args(["-o", &output, "--stats", &stats, "--device", "cpu"]));
    let lines: Vec<&str> = stderr.lines().collect();
    assert_eq!((stdout.as_str(), lines.len()), ("", 2), "{stderr}");
    let warning = format!("{}, record 'empty': record 4 has no letters and is skipped", inputs[2]);
    assert_eq!(lines[0], format!("pairwave: warning: {warning}"));
    assert!(lines[1].starts_with("pairwave: 4 reads aligned in "), "{stderr}");
    let stats: serde_json::Value = serde_json::from_str(&read(stats)).expect("it is JSON");
    assert_eq!((stats["written"].as_u64(), stats["engines"][0]["name"].as_str()), (Some(4), Some("cpu")));
    let mut text = String::new();
    let mut decoder = flate2::read::GzDecoder::new(std::fs::File::open(output).expect("it is there"));
    std::io::Read::read_to_string(&mut decoder, &mut text).expect("text");
    assert!(text.starts_with("9 21\n"), "{text}");
    assert_eq!(text, success(papara(inputs).args(["--quiet", "--format", "phylip"])).0);
    // No other file is written.
    assert_eq!(entries(folder.path()), ["aligned.PHY.gz", "reads.fa", "ref.fa", "ref.nwk", "stats.json"]);
}

/// A warning reports dropped reference columns if reads are written alone, because the reads then
/// do not fit the file of references.
#[test]
fn dropped_columns_give_a_warning_if_reads_are_written_alone() {
    let folder = small();
    let inputs = inputs(&folder);
    let inputs = inputs.each_ref().map(String::as_str);
    let cpu = ["--device", "cpu", "--keep-length", "--split"];
    assert!(!success(papara(inputs).args(cpu)).1.contains("columns"));
    let with_gaps: String =
        REFERENCE.lines().map(|line| format!("{line}{}\n", if line.starts_with('>') { "" } else { "-N" })).collect();
    file(&folder, "ref.fa", &with_gaps);
    let said = success(papara(inputs).args(cpu)).1;
    assert!(said.contains("warning: 2 of 20 columns of ") && said.contains("are dropped"), "{said}");
    assert!(!success(papara(inputs).args(&cpu[..3])).1.contains("columns"));
}

/// Each input may be standard input, and the reads may be compressed. -q before the command means
/// --quiet.
#[test]
fn standard_input_and_short_names() {
    let folder = small();
    let inputs = inputs(&folder);
    let expected = success(papara(inputs.each_ref().map(String::as_str)).arg("--quiet")).0;
    for (index, input) in inputs.iter().enumerate() {
        let mut inputs = inputs.clone();
        inputs[index] = "-".into();
        let arguments = ["-q", "papara", "-t", &inputs[0], "-s", &inputs[1], "-q", &inputs[2], "-o", "-"];
        let run = pairwave(&arguments).write_stdin(gzipped(read(input))).assert().success();
        run.stderr("").stdout(expected.clone());
    }
}

/// There are more reads than are in progress at a time. Finished reads are reused, and a truncated
/// part is computed again.
#[test]
fn finished_reads_of_a_checkpoint_are_reused() {
    let folder = small();
    let letters = ["CGTACGTAAGG", "ACGUNACGGCC", "GGACTTTCAA", "GTAAGTCC"];
    let reads: String = (0..9000).map(|read| format!(">{read}\n{}\n", letters[read % 4])).collect();
    file(&folder, "reads.fa", reads);
    let work = path(&folder, "reads.work");
    let run = |arguments: &[&str]| {
        let (table, inputs) = (path(&folder, "table.tsv"), inputs(&folder));
        let mut command = papara(inputs.each_ref().map(String::as_str));
        let (alignment, stderr) = success(command.args(["--device", "cpu", "--table", &table]).args(arguments));
        ((alignment, read(&table)), stderr)
    };
    let expected = run(&[]).0;
    let goes_on = |stderr: &str| stderr.lines().find(|line| line.contains("resuming after")).map(str::to_owned);
    let (first, stderr) = run(&["--checkpoint", &work]);
    assert!(first == expected && goes_on(&stderr).is_none(), "{stderr}");
    let (again, stderr) = run(&["--checkpoint", &work, "--exhaustive"]);
    assert!(again == expected && goes_on(&stderr).is_some_and(|line| line.contains("9,000 reads")), "{stderr}");
    let whole = std::fs::read(&work).expect("it is there");
    std::fs::write(&work, &whole[..whole.len() - 1]).expect("it can be written");
    let (again, stderr) = run(&["--checkpoint", &work]);
    assert!(again == expected, "behind a cut");
    let line = goes_on(&stderr).expect("there is a first block");
    assert!(!line.contains("9,000 reads"), "{line}");
    assert_eq!(std::fs::read(&work).expect("it is there"), whole);

    let refused = |arguments: &str| {
        let arguments = format!("-t @ref.nwk -s @ref.fa -q @reads.fa --checkpoint @reads.work {arguments}");
        let message = wrong::refused_by("papara", &folder, &arguments);
        assert!(message.contains("it belongs to another job: "), "{message}");
        message
    };
    for other in ["--match 3", "--gap-model cgap", "--strand both", "--scoring paper"] {
        let message = refused(other);
        let option = format!("another job: {} was ", other.split(' ').next().expect("a word"));
        assert!(message.contains(&option), "{message}");
    }
    file(&folder, "reads.fa", READS);
    refused("");
    assert_eq!(std::fs::read(&work).expect("it is there"), whole);
}

#[test]
fn wrong_options_and_input_are_rejected() {
    let folder = small();
    file(&folder, "names.nwk", TREE.replace("e:", "f:"));
    file(&folder, "length.nwk", "((a:0.1,b:0.2),\n(c:0.1,d:x3),e);\n");
    file(&folder, "open.nwk", "((a:0.1,b:0.2),\n(c:0.1,d:3),e;\n");
    file(&folder, "twice.nwk", "((a,b),(c,d),(a,e));");
    file(&folder, "two.nwk", "(a,b);");
    file(&folder, "empty", "");
    file(&folder, "uneven.fa", REFERENCE.replace("GGCC-TAC", "GGCC-TA"));
    file(&folder, "letter.fa", REFERENCE.replace("GGACTTTC", "GGACT7TC"));
    file(&folder, "fewer.fa", REFERENCE.split(">d").next().expect("a part"));
    file(&folder, "cut.phy", "5 18\na ACGTACGTAAGGCCTTAC\nb ACGTACGTAAGG\n");
    file(&folder, "wrong.fa", ">r1\nCGTACGTAAGG\n>r2 x\nACG\nAC7A\n");
    file(&folder, "wrong.fq", "@r1\nCGTACGTAAGG\n+\nIIIIIIIIIII\n@r2\nACGE\n+\nIIII\n");
    file(&folder, "wrong.work", "@r1\nCGTACGTAAGG\n+\nIIIIIIIIIII\n");
    let refused = |arguments: &str| wrong::refused_by("papara", &folder, arguments);
    let all = [
        "-t @names.nwk -s @ref.fa -q @reads.fa",
        "-t @ref.nwk -s @fewer.fa -q @reads.fa",
        "-t @length.nwk -s @ref.fa -q @reads.fa",
        "-t @open.nwk -s @ref.fa -q @reads.fa",
        "-t @twice.nwk -s @ref.fa -q @reads.fa",
        "-t @two.nwk -s @ref.fa -q @reads.fa",
        "-t @empty -s @ref.fa -q @reads.fa",
        "-t @missing.nwk -s @ref.fa -q @reads.fa",
        "-t @ref.nwk -s @uneven.fa -q @reads.fa",
        "-t @ref.nwk -s @letter.fa -q @reads.fa",
        "-t @ref.nwk -s @cut.phy -q @reads.fa",
        "-t @ref.nwk -s @empty -q @reads.fa",
        "-t @ref.nwk -s @missing.fa -q @reads.fa",
        "-t @ref.nwk -s @ref.fa -q @wrong.fa",
        "-t @ref.nwk -s @ref.fa -q @wrong.fq",
        "-t @ref.nwk -s @ref.fa -q @wrong.fa --table @t.tsv --tree-out @t.nwk --stats @s.json",
        "-t @ref.nwk -s @ref.fa -q @empty",
        "-t @ref.nwk -s @ref.fa -q @missing.fa",
        "-t @ref.nwk -s @ref.fa -q @missing.fa --checkpoint @work",
        "-t @ref.nwk -s @ref.fa",
        "-t - -s @ref.fa -q -",
        "-t @ref.nwk -s @ref.fa -q - --checkpoint @work",
        "-t @ref.nwk -s @ref.fa -q @reads.fa -o @reads.fa",
        "-t @ref.nwk -s @ref.fa -q @reads.fa --table @reads.fa",
        "-t @ref.nwk -s @ref.fa -q @reads.fa --tree-out @ref.nwk",
        "-t @ref.nwk -s @ref.fa -q @reads.fa --checkpoint @ref.fa",
        "-t @ref.nwk -s @ref.fa -q @reads.fa --table @pairs.out",
        "-t @ref.nwk -s @ref.fa -q @reads.fa --table @t.out --stats @t.out",
        "-t @ref.nwk -s @ref.fa -q @reads.fa --table -",
        "-t @ref.nwk -s @ref.fa -q @reads.fa --table @none/t.tsv",
        "-t @ref.nwk -s @ref.fa -q @reads.fa --checkpoint @wrong.work",
        "-t @ref.nwk -s @ref.fa -q @reads.fa -p 1:2",
        "-t @ref.nwk -s @ref.fa -q @reads.fa -p -3:-1:x:-3",
        "-t @ref.nwk -s @ref.fa -q @reads.fa -p 3:1:2:3",
        "-t @ref.nwk -s @ref.fa -q @reads.fa -p -1:-3:2:-3",
        "-t @ref.nwk -s @ref.fa -q @reads.fa -p -3:-1:2:-3 --match 3",
        "-t @ref.nwk -s @ref.fa -q @reads.fa --match -1",
        "-t @ref.nwk -s @ref.fa -q @reads.fa --gap-open -1",
        "-t @ref.nwk -s @ref.fa -q @reads.fa --gap-site 1000001",
        "-t @ref.nwk -s @ref.fa -q @reads.fa --alphabet protein --strand both",
        "-t @ref.nwk -s @ref.fa -q @reads.fa --alphabet bytes",
        "-t @ref.nwk -s @ref.fa -q @reads.fa --kernel nw_slice",
        "-t @ref.nwk -s @ref.fa -q @reads.fa --format jplace",
        "-t @ref.nwk -s @ref.fa -q @reads.fa -c --gap-model pgap",
        "-t @ref.nwk -s @ref.fa -q @reads.fa -f --format phylip",
        "-t @ref.nwk -s @ref.fa -q @reads.fa -n run1 -o @placed.fa",
        "-t @ref.nwk -s @ref.fa -q @reads.fa --jplace @ref.nwk",
        "-t @ref.nwk -s @ref.fa --query @reads.fa",
    ];
    assert_snapshot!(all.map(refused).concat());
}

#[test]
fn missing_reference_states_give_one_warning() {
    let folder = small();
    let gaps = REFERENCE.replace("ACGTACGTAAGGCC-TAC", "------------N-----");
    let inputs = [
        file(&folder, "some.nwk", "((a,b:-0.2)0.9:0.05,(c:0.1,d:-1):0.02,e:0.4);\n"),
        file(&folder, "gaps.fa", &gaps),
        path(&folder, "reads.fa"),
    ];
    let run = papara(inputs.each_ref().map(String::as_str)).args(["--device", "cpu"]).assert().success();
    let said = String::from_utf8(run.get_output().stderr.clone()).unwrap();
    let warnings: Vec<&str> =
        said.lines().filter(|line| line.contains("warning: ") && !line.contains("read")).collect();
    let [tree, reference, _] = &inputs;
    assert_eq!(
        warnings,
        [
            format!(
                "pairwave: warning: {tree}: 1 of 7 branches has no length: each counts as 1; the first is the branch above 'a'"
            ),
            format!(
                "pairwave: warning: {tree}: 2 of 7 branches have a length below 0: each counts as 0; the first is the branch above 'b'"
            ),
            format!(
                "pairwave: warning: {reference}, record 'b': the row consists of gaps and letters that stand for any character"
            ),
        ]
    );
}
