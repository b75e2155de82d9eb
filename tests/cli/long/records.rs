//! `pairwave long` with several records on each side.

use insta::assert_snapshot;

use super::*;

/// Three queries: a gene, a sequence without relatives, and parts of two targets, the second on the
/// other strand.
const QUERIES: &str = ">gene first\nTTGACCATGGCTAAGCTTACGGATCCATTGCGTACGATTAGCCAGTNCATGCAAGT\n>lone\nACACACACACAC\n\
     >both\nCCATGGCTAAGCTAACGGATTGCGTACGATTAGGGTACCTTTCAGAGACTTGACCAGGTT\n";
const TARGETS: &str = ">relative x\nCCCCCATGGCTAAGCTAACGGATTGCGTACGATTAGGGCCAGTACATGCTTTTTTTTTT\n\
     >other\nGGGGAACCTGGTCAAGTCTCTGAAAGGTACGGGG\n";
const MIN: [&str; 2] = ["--min-score", "20"];

/// Writes the queries and the targets. Returns their paths.
fn files(folder: &TempDir) -> [String; 2] {
    [file(folder, "queries.fa", QUERIES), file(folder, "targets.fa", TARGETS)]
}

/// Returns the lines of a table that satisfy a condition.
fn lines(text: &str, is_wanted: impl Fn(&str) -> bool) -> Vec<&str> {
    text.lines().filter(|line| is_wanted(line)).collect()
}

#[test]
fn every_format_has_the_alignments_of_all_records() {
    let folder = folder();
    let [queries, targets] = files(&folder);
    let mut text = String::new();
    for format in ["tsv", "jsonl", "paf", "sam", "vcf", "maf", "chain", "delta", "text"] {
        let written = scored(&[&[&*queries, &targets, "--top", "2", "--format", format, "--check"], &MIN[..]].concat());
        writeln!(text, "{format}\n{written}").unwrap();
    }
    assert_snapshot!(text);
}

#[test]
fn rows_are_those_of_each_pair() {
    let folder = folder();
    let [queries, targets] = files(&folder);
    for options in [&["--top", "2"][..], &["--mode", "global"], &["--mode", "semi-global"], &["--score-only"]] {
        let whole = scored(&[&[&*queries, &targets], options].concat());
        let mut expected = whole.lines().next().expect("a header").to_owned() + "\n";
        for query in ["gene", "lone", "both"] {
            for target in ["relative", "other"] {
                let pair = [&*queries, &targets, "--query-id", query, "--target-id", target];
                let alone = scored(&[&pair, options].concat());
                alone.lines().skip(1).for_each(|line| writeln!(expected, "{line}").unwrap());
            }
        }
        assert_eq!(whole, expected, "{options:?}");
    }
}

/// E-values, bits and the rows within a threshold equal the results of a search in the targets.
#[test]
fn evalues_are_those_of_search() {
    let folder = folder();
    let [queries, targets] = files(&folder);
    let blastn = [&*queries, &targets, "--scheme", "blastn", "--evalue", "0.5"];
    let fields = ["--fields", "query,target,strand,score,evalue,bits"];
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let rows = long(&[&blastn[..], &fields, &["--top", "3"]].concat());
    let hits = equal_output("search", TWO_WAYS, &[&blastn[..], &fields, &["--max-hsps", "3"]].concat());
    assert_eq!(sorted(&rows), sorted(&hits));
    let mut text = long(&blastn);
    for format in
        [&["--format", "paf", "--cs", "short"][..], &["--format", "paf", "--cs", "long"], &["--format", "jsonl"]]
    {
        text += &long(&[&blastn[..], format].concat());
    }
    // A search of one target has another size.
    text += &long(&[&blastn[..], &["--target-id", "other", "--format", "sam"]].concat());
    assert_snapshot!(without_command(&text));
    // Without parameters, the fields have vsearch's values, and there is no threshold.
    let odd = ["--match", "7", "--mismatch", "-3"];
    let unknown = long(&[&[&*queries, &targets, "--fields", "query,evalue,bitscore"], &odd[..]].concat());
    assert!(unknown.lines().skip(1).all(|line| line.ends_with("\t-1\t0")), "{unknown}");
    let run =
        pairwave(&[&["long", &*queries, &targets, "--evalue", "1"], &odd[..]].concat()).assert().code(2).stdout("");
    let message = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(message.contains("--evalue: no parameters are known"), "{message}");
}

#[test]
fn several_records_are_chosen_by_name() {
    let folder = folder();
    let [queries, targets] = files(&folder);
    let fields = ["--fields", "query,target,score"];
    let all = scored(&[&[&*queries, &targets], &fields[..]].concat());
    // The order of the options does not matter.
    let two = ["--query-id", "both", "--query-id", "gene"];
    let chosen = scored(&[&[&*queries, &targets], &two[..], &fields].concat());
    assert_eq!(lines(&chosen, |_| true), lines(&all, |line| !line.starts_with("lone")));
    // A file against itself has each pair in both orders, and each record with itself.
    let itself = scored(&[&[&*targets, &targets], &fields[..]].concat());
    let names: Vec<&str> = itself.lines().skip(1).map(|line| line.rsplit_once('\t').expect("a score").0).collect();
    assert_eq!(names, ["relative\trelative", "relative\tother", "other\trelative", "other\tother"]);
}

#[test]
fn lists_of_queries_and_of_the_job_are_shorter() {
    let folder = folder();
    let [queries, targets] = files(&folder);
    let fields = ["--fields", "query,target,strand,score"];
    let of = |more: &[&str]| scored(&[&[&*queries, &targets], &fields[..], &MIN, more].concat());
    assert_snapshot!(
        [&[][..], &["--top-per", "query"], &["--top-per", "all"], &["--top-per", "ALL", "--top", "2"]]
            .map(|more| format!("{more:?}\n{}", of(more)))
            .concat()
    );
    assert_eq!(of(&["--top-per", "pair"]), of(&[]));
    let global = |more: &[&str]| scored(&[&[&*queries, &targets, "--mode", "global"], &fields[..], more].concat());
    assert_eq!(global(&["--top-per", "query"]).lines().count(), 4);
    assert_eq!(global(&["--top-per", "all", "--top", "5"]).lines().count(), 6);
}

/// A query without alignments is an unmapped read in SAM, once, and has no row elsewhere.
#[test]
fn queries_have_one_primary_line() {
    let folder = folder();
    let [queries, targets] = files(&folder);
    let sam = scored(&[&[&*queries, &targets, "--top", "3", "--format", "sam"], &MIN[..]].concat());
    assert_eq!(lines(&sam, |line| line.starts_with("@SQ")), ["@SQ\tSN:relative\tLN:59", "@SQ\tSN:other\tLN:34"]);
    for query in ["gene", "lone", "both"] {
        let flags = sam.lines().map(|line| line.split('\t').collect::<Vec<_>>()).filter(|row| row[0] == query);
        let flags: Vec<u32> = flags.map(|row| row[1].parse().expect("flags")).collect();
        assert_eq!(flags.iter().filter(|&flag| flag & (256 | 2048) == 0).count(), 1, "{query}: {flags:?}");
        assert_eq!(flags == [4], query == "lone", "{query}: {flags:?}");
    }
    let tsv = scored(&[&[&*queries, &targets], &MIN[..]].concat());
    assert!(lines(&tsv, |line| line.starts_with("lone")).is_empty(), "{tsv}");
    let none = ["--min-score", "1000"];
    let header = ["--format", "vcf"];
    let vcf = scored(&[&[&*queries, &targets], &none[..], &header].concat());
    assert!(
        vcf.ends_with("\tFORMAT\tqueries\n") && lines(&vcf, |line| line.starts_with("##contig")).len() == 2,
        "{vcf}"
    );
    let text = scored(&[&[&*queries, &targets, "--format", "text"], &none[..]].concat());
    assert!(text.contains("# There is no alignment."), "{text}");
}

#[test]
fn plots_show_records_side_by_side() {
    let folder = folder();
    let [queries, targets] = files(&folder);
    let plot = path(&folder, "plot.svg");
    scored(&[&[&*queries, &targets, "--plot", &plot], &MIN[..]].concat());
    let svg = std::fs::read_to_string(&plot).expect("the plot was written");
    for text in ["3 sequences (128 bp)", "2 sequences (93 bp)", "gene", "lone", "both", "relative", "other"] {
        assert!(svg.contains(text), "{text}: {svg}");
    }
}

#[test]
fn checkpoints_and_blocks_have_the_output_of_the_job() {
    let folder = folder();
    let [queries, targets] = files(&folder);
    let pairs = ["long", &queries, &targets, "--strand", "both"];
    for (number, options) in
        [&["--top", "2", "--min-score", "15"][..], &["--top-per", "query", "--format", "jsonl"], &["--evalue", "1e-3"]]
            .into_iter()
            .enumerate()
    {
        let scheme = if options.contains(&"--evalue") { &["--scheme", "blastn"] } else { SCHEME };
        let job = [&pairs[..], options, scheme].concat();
        let output = |arguments: &[&str]| {
            let run = pairwave(arguments).arg("--quiet").assert().success();
            String::from_utf8(run.get_output().stdout.clone()).expect("the output is text")
        };
        let expected = output(&[&job[..], &["--device", "cpu", "--threads", "2"]].concat());
        let checkpoint = path(&folder, &format!("checkpoint{number}"));
        for _ in 0..2 {
            assert_eq!(output(&[&job[..], &["--device", "cpu", "--checkpoint", &checkpoint]].concat()), expected);
        }
        for cells in ["1", "5000", "1G"] {
            let work = path(&folder, &format!("work{number}-{cells}"));
            output(&[&["plan", "--block-cells", cells], &job[..], &["--output", &work]].concat());
            output(&["run", &work, "--device", "cpu"]);
            assert_eq!(output(&["merge", &work]), expected, "--block-cells {cells}");
        }
    }
    let checkpoint = path(&folder, "checkpoint0");
    let other = [&pairs[..], &["--device", "cpu", "--checkpoint", &checkpoint]].concat();
    let run = pairwave(&other).assert().code(2).stdout("");
    let text = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(text.contains("it belongs to another job"), "{text}");
}

#[test]
fn wrong_names_and_records_are_rejected() {
    let folder = folder();
    files(&folder);
    file(&folder, "twice.fa", ">a\nAC\n>b\nCC\n>a\nGT\n");
    file(&folder, "empty.fa", "");
    file(&folder, "brackets.fa", ">a\nGATTACA\n>b(c)\nGATTACA\n");
    let all = [
        "@queries.fa @targets.fa --query-id gene --query-id genes",
        "@queries.fa @targets.fa --query-id gene --query-id gene",
        "@queries.fa @targets.fa --target-id a",
        "@queries.fa @twice.fa --target-id b --target-id a",
        "@queries.fa @twice.fa --format sam",
        "@queries.fa @twice.fa --format vcf",
        "@queries.fa @brackets.fa --format sam",
        "@empty.fa @targets.fa",
        "@queries.fa @targets.fa --top-per target",
        "@queries.fa @targets.fa --mode global --top 2 --top-per pair",
    ];
    assert_snapshot!(all.map(|arguments| wrong::refused_by("long", &folder, arguments)).concat());
    // Other formats allow equal names.
    let [queries, twice] = ["queries.fa", "twice.fa"].map(|name| path(&folder, name));
    assert!(scored(&[&queries, &twice, "--mode", "global"]).lines().count() == 10);
}
