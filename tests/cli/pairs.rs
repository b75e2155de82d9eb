//! `pairwave pairs`: equal output on all devices, and rejected input.

use insta::assert_snapshot;

use super::*;

/// Relatives, sequences that share nothing, a reverse complement, and two that overlap.
const A: &str = ">a1\nGATTACAGATTACA\n>a2 a name\nAAAA\n>a3\nACGTTGCATGCA\n>a4\nTTGACCATCGATCGGATC\n";
const B: &str = ">b1\nGATTACCAGATTA\n>b2\nTTTT\n>b3\nTGCATGCAACGT\n>b4\nATCGATCGGATCCCAATG\n";
const PROTEINS: &str = ">p1\nMKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQ\n>p2\nMKTAYIAKQRQISFVKSFSRQLEDRLGLIEVQ\n>p3\nMKV\n";
const LIST: &str = "# listed\nquery\ttarget\na3\tb3\na1\tb1\n\na1\tb4\na3\tb3\n";

fn pairs(arguments: &[&str]) -> String {
    equal_output("pairs", TWO_WAYS, arguments)
}

/// Writes the input files. Returns their paths.
fn files(folder: &TempDir) -> [String; 4] {
    [("a.fa", A), ("b.fa", B), ("list.tsv", LIST), ("proteins.fa", PROTEINS)]
        .map(|(name, text)| file(folder, name, text))
}

#[test]
fn records_with_equal_numbers_are_paired() {
    let folder = folder();
    let [a, b, ..] = files(&folder);
    let mut shown = String::new();
    for more in [
        &["--mode", "global", "--check"][..],
        &["--mode", "semi-global"],
        &["--mode", "local", "--check"],
        &["--strand", "both", "--format", "jsonl"],
        &["--score-only"],
        &["--fields", "query,target,score"],
        &["--mode", "overlap", "--fields", "query,query_start,query_end,target_start,target_end,cigar"],
    ] {
        writeln!(shown, "{}\n{}", more.join(" "), pairs(&[&[&*a, &*b], more].concat())).unwrap();
    }
    assert_snapshot!(shown);
    let overlap = |mode| pairs(&[&a, &b, "--mode", mode]);
    assert_eq!(overlap("overlap"), overlap("semi-global"));
}

#[test]
fn a_local_pair_without_a_column_has_a_row_in_every_format() {
    let folder = folder();
    let [a, b, ..] = files(&folder);
    let mut shown = String::new();
    for format in ["tsv", "jsonl", "blast6", "paf", "text"] {
        let text = pairs(&[&a, &b, "--mode", "local", "--format", format]);
        writeln!(shown, "{format}\n{text}").unwrap();
    }
    let mut run = pairwave(&["pairs", &a, &b, "--mode", "local", "--format", "sam", "-q", "--device", "cpu"]);
    let sam = String::from_utf8(run.unwrap().stdout).unwrap();
    sam.lines().filter(|line| !line.starts_with("@PG")).for_each(|line| writeln!(shown, "{line}").unwrap());
    assert_snapshot!(shown);
}

#[test]
fn listed_pairs_are_found_by_name() {
    let folder = folder();
    let [a, b, list, proteins] = files(&folder);
    let output = file(&folder, "own.tsv", "p2\tp1\np1\tp2\np3\tp3\n");
    let of_two = pairs(&[&a, &b, "--pairs", &list]);
    let of_one = pairs(&[&proteins, "--pairs", &output, "--scheme", "needle", "--format", "text", "--width", "30"]);
    assert_snapshot!(format!("{of_two}\n{of_one}"));
    let piped = pairwave(&["pairs", &a, &b, "--pairs", "-", "-q"]).write_stdin(LIST).assert().success();
    assert_eq!(String::from_utf8_lossy(&piped.get_output().stdout), of_two);
}

/// Ambiguous residues, and a matrix given with the scheme, score twice as much as in EMBOSS needle
/// 6.6.
#[test]
fn proteins_score_as_by_needle() {
    let folder = folder();
    let query = file(&folder, "query.fa", ">a\nAXYYXSNXMZMTDY\n>x\nWCHWMYWHXCWFHWCYWMHW\n>u\nWCHWMYWHUCWFHOJYWBHW\n");
    let target = file(&folder, "target.fa", ">b\nAKYYTSNAMTDY\n>y\nWCHWMYWHACWFHWCYWMHW\n>v\nWCHWMYWHUCWFHOJYWNHW\n");
    let actual = |matrix: &[&str]| {
        pairs(&[&[&query, &target, "--scheme", "needle", "--fields", "score,query_row,target_row"], matrix].concat())
    };
    assert_snapshot!(actual(&[]), @r"
    score	query_row	target_row
    79	AXYYXSNXMZMTDY	AKYYTSNA--MTDY
    332	WCHWMYWHXCWFHWCYWMHW	WCHWMYWHACWFHWCYWMHW
    288	WCHWMYWHUCWFHOJYWBHW	WCHWMYWHUCWFHOJYWNHW
    ");
    // EMBOSS options: -datafile EPAM120 and EBLOSUM80.
    assert_snapshot!(actual(&["--matrix", "EPAM120"]), @r"
    score	query_row	target_row
    73	AXYYXSNXMZMTDY	AKYYTSN--AMTDY
    356	WCHWMYWHXCWFHWCYWMHW	WCHWMYWHACWFHWCYWMHW
    306	WCHWMYWHUCWFHOJYWBHW	WCHWMYWHUCWFHOJYWNHW
    ");
    assert_snapshot!(actual(&["--matrix", "EBLOSUM80"]), @r"
    score	query_row	target_row
    137	AXYYXSNXMZMTDY	AKYYTSNA--MTDY
    496	WCHWMYWHXCWFHWCYWMHW	WCHWMYWHACWFHWCYWMHW
    432	WCHWMYWHUCWFHOJYWBHW	WCHWMYWHUCWFHOJYWNHW
    ");
}

/// Reads more pairs than fit in a chunk from a pipe. The rows equal those of `allpairs`.
#[test]
fn many_pairs_equal_the_pairs_of_allpairs() {
    let folder = folder();
    let count = 40_000;
    let record = |number: usize| format!(">r{number}\n{}\n", ["ACGT", "ACCT", "GGT", "TTAACG", "CAT"][number % 5]);
    let a: String = (0..count).map(record).collect();
    let b: String = (0..count).map(|number| record(number * 7 / 3)).collect();
    let b = file(&folder, "b.fa", b);
    let run = pairwave(&["pairs", "-", &b, "--quiet", "--device", "cpu", "--fields", "query,target,score"]);
    let run = { run }.write_stdin(a).assert().success();
    let text = String::from_utf8(run.get_output().stdout.clone()).unwrap();
    let rows = cells(&text);
    assert_eq!(rows.len(), count + 1);
    let few: String = (0..5).map(record).collect();
    let few = file(&folder, "few.fa", few);
    let rectangle = allpairs_each(&[("cpu", "1")], &[&few, &few, "--fields", "query,target,score"]);
    let rectangle = cells(&rectangle);
    let score = |a: usize, b: usize| rectangle[1 + 5 * (a % 5) + b % 5][2];
    for (number, row) in rows[1..].iter().enumerate() {
        let other = number * 7 / 3;
        assert_eq!(*row, [&*format!("r{number}"), &format!("r{other}"), score(number, other)]);
    }
}

#[test]
fn invalid_options_and_input_are_rejected() {
    let folder = folder();
    let [a, b, list, proteins] = files(&folder);
    let short = file(&folder, "short.fa", ">x\nACGT\n");
    let wrong = file(&folder, "wrong.tsv", "a1\tb1\na9\tb1\n");
    let mut shown = String::new();
    for arguments in [
        &[&*a, &*short][..],
        &[&short, &b, "--format", "sam"],
        &[&a],
        &[&a, &b, "--pairs", &wrong],
        &[&a, "--pairs", &list],
        &["-", "-"],
        &["-", &b, "--pairs", "-"],
        &[&a, &b, "-o", &b],
        &[&a, &b, "--format", "blast6", "--score-only"],
        &[&a, &b, "--format", "paf", "--fields", "query"],
        &[&a, &b, "--format", "phylip"],
        &[&a, &b, "--mode", "local", "--end-gaps", "free"],
        &[&a, &b, "--mode", "local", "--iddef", "3"],
        &[&a, &b, "--score-only", "--check"],
        &[&a, &b, "--min-identity", "0.9"],
        &[&proteins, &proteins, "--strand", "both"],
        &[&a, &b, "--kernel", "myers_thread"],
    ] {
        let run = pairwave(&[&["pairs"], arguments].concat()).assert().code(2).stdout("");
        let text = String::from_utf8_lossy(&run.get_output().stderr).replace(folder.path().to_str().unwrap(), "");
        shown.push_str(&text.replace("/", ""));
    }
    assert_snapshot!(shown);
}

#[test]
fn lists_are_printed() {
    for (option, start) in [("--fields", "query"), ("--scheme", "Scoring schemes")] {
        let run = pairwave(&["pairs", option, "help"]).assert().success();
        let text = String::from_utf8_lossy(&run.get_output().stdout).into_owned();
        assert!(text.contains(start), "{text}");
    }
}
