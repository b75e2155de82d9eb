//! Scoring schemes: gap costs, end gaps, matrices, ambiguity, proteins.

use insta::assert_snapshot;

use super::*;

const FIELDS: &[&str] = &["--fields", "query,target,score,identity,cigar"];

/// Returns the output for some pairs of real genes, with every alignment rescored.
fn genes(arguments: &[&str]) -> String {
    allpairs(&[&[GENES, "--min-identity", "0.8", "--check"], FIELDS, arguments].concat())
}

/// Returns the output for short sequences, equal on all devices.
fn short(folder: &TempDir, arguments: &[&str]) -> String {
    let sequences = ">a\nGATTACAGATTACA\n>b\nGATTACANATACA\n>c\nRATTACAGGGATTAYA\n>d\nCCCCGATTACA\n";
    let input = file(folder, "short.fa", sequences);
    allpairs_each(ALL_WAYS, &[&[input.as_str(), "--check"], FIELDS, arguments].concat())
}

#[test]
fn first_and_further_gap_symbols_have_costs() {
    assert_snapshot!(genes(&["--gap-open", "10", "--gap-extend", "1"]));
}

#[test]
fn end_gaps_can_be_free() {
    assert_snapshot!(genes(&["--end-gaps", "free"]));
}

/// End gap costs by numbers and by the name of the scheme, with every alignment rescored.
#[test]
fn end_gaps_can_have_separate_costs() {
    let numbers =
        "--match 2 --mismatch -4 --ambiguity zero --gap-open 18 --gap-extend 2 --end-gap-open 1 --end-gap-extend 1";
    let by_numbers = genes(&numbers.split_whitespace().collect::<Vec<_>>());
    assert_eq!(by_numbers, genes(&["--scheme", "vsearch"]));
    assert_snapshot!(by_numbers);
    let folder = folder();
    let of_short = short(&folder, &numbers.split_whitespace().collect::<Vec<_>>());
    assert_eq!(of_short, short(&folder, &["--scheme", "VSEARCH"]));
    // Both extremes can be given in two ways.
    let affine = ["--gap-open", "5", "--gap-extend", "2"];
    for (ends, rule) in [("0", "free"), ("5", "charged")] {
        let extend = if rule == "free" { "0" } else { "2" };
        let priced = short(&folder, &[&affine[..], &["--end-gap-open", ends, "--end-gap-extend", extend]].concat());
        assert_eq!(priced, short(&folder, &[&affine[..], &["--end-gaps", rule]].concat()));
    }
}

/// End gaps that cost as much as inner gaps count as charged in every format, whether their costs
/// are given or not.
#[test]
fn equal_costs_of_end_gaps_are_charged() {
    let folder = folder();
    let (short, long) = (file(&folder, "q.fa", ">q\nACGTTTGACC\n"), file(&folder, "t.fa", ">t\nGGACGTTTGACC\n"));
    let written = |command: &str, more: &[&str]| {
        let gaps = ["--mode", "global", "--gap-open", "2", "--gap-extend", "3"];
        equal_output(command, &TWO_WAYS[..1], &[&[&*short, &long], &gaps[..], more].concat())
    };
    for (command, format) in [("allpairs", "paf"), ("long", "paf"), ("long", "maf"), ("long", "vcf"), ("pairs", "paf")]
    {
        let [plain, same, own] = [None, Some("3"), Some("1")].map(|extend| {
            let ends = extend.map_or(vec![], |extend| vec!["--end-gap-open", "2", "--end-gap-extend", extend]);
            written(command, &[&["--format", format], &ends[..]].concat())
        });
        assert_eq!(plain, same, "{command} {format}");
        assert!(plain != own, "{command} {format}: {own}");
    }
}

/// The scheme 'vsearch' gives vsearch's scores.
#[test]
fn scores_are_those_of_vsearch() {
    let ours = allpairs(&[GENES, "--scheme", "vsearch", "--score-only", "--fields", "query,target,score"]);
    let sorted = |table: &str| {
        let mut rows: Vec<Vec<String>> = Vec::new();
        for row in cells(table).into_iter().skip(1) {
            let (first, second) = (row[0].min(row[1]), row[0].max(row[1]));
            rows.push([first, second, row[2]].map(str::to_owned).to_vec());
        }
        rows.sort();
        rows
    };
    let theirs = sorted(include_str!("vsearch.tsv"));
    assert_eq!(theirs.len(), 66);
    assert_eq!(sorted(&ours), theirs);
}

#[test]
fn schemes_that_have_names() {
    let help = pairwave(&["allpairs", "--scheme", "help"]).assert().success().stderr("");
    let list = String::from_utf8(help.get_output().stdout.clone()).expect("text");
    for name in [
        "pairwave",
        "truong",
        "vsearch",
        "needle",
        "blastn",
        "blastn-short",
        "megablast",
        "asm5",
        "asm10",
        "asm20",
        "blastp",
    ] {
        assert!(list.contains(&format!("\n{name} ")), "{list}");
    }
    let folder = folder();
    assert_eq!(short(&folder, &["--scheme", "pairwave"]), short(&folder, &[]));
    let linear = short(&folder, &["--gap-open", "0", "--gap-extend", "10"]);
    assert_eq!(short(&folder, &["--scheme", "truong"]), linear);
    let blastn = short(&folder, &["--scheme", "blastn"]);
    let numbers = "--match 2 --mismatch -3 --ambiguity mean --gap-open 5 --gap-extend 2";
    assert_eq!(blastn, short(&folder, &numbers.split_whitespace().collect::<Vec<_>>()));
    // Twice the scores of match 1 and mismatch -2, and their means.
    assert_ne!(short(&folder, &["--scheme", "megablast"]), blastn);
    let wrong = wrong::refused_by("allpairs", &folder, "in.fa --scheme clustal");
    assert!(wrong.contains("clustal") && wrong.contains("vsearch"), "{wrong}");
}

/// A built-in matrix and the same one as a file.
#[test]
fn a_matrix_for_nucleotides() {
    let built_in = genes(&["--matrix", "EDNAFULL"]);
    assert_eq!(built_in, genes(&["--matrix", "assets/matrices/EDNAFULL"]));
    assert_snapshot!(built_in);
}

#[test]
fn matrix_from_a_file() {
    let folder = folder();
    let matrix =
        "# Transitions cost less.\n   A  C  G  T\nA  3 -3 -1 -3\nC -3  3 -3 -1\nG -1 -3  3 -3\nT -3 -1 -3  3\n";
    let matrix = file(&folder, "own.txt", matrix);
    assert_snapshot!(short(&folder, &["--matrix", &matrix, "--gap-open", "2", "--gap-extend", "2"]));
}

#[test]
fn schemes_for_short_sequences() {
    let folder = folder();
    let mut text = String::new();
    for arguments in [
        "",
        "--ambiguity mismatch",
        "--ambiguity zero",
        "--match 1 --mismatch -1 --gap-open 0 --gap-extend 1",
        "--match 1 --mismatch -1 --gap-open 3 --gap-extend 0",
        "--gap-extend 0",
        "--end-gaps free --gap-open 5 --gap-extend 2",
    ] {
        let table = short(&folder, &arguments.split_whitespace().collect::<Vec<_>>());
        writeln!(text, "{arguments}\n{table}").unwrap();
    }
    assert_snapshot!(text);
}

#[test]
fn proteins_are_scored_by_the_chosen_matrix() {
    let folder = folder();
    let input = file(&folder, "proteins.fa", include_str!("proteins.fa"));
    let mut text = String::new();
    for arguments in [
        &[][..],
        &["--matrix", "BLOSUM62"],
        &["--matrix", "pam250", "--gap-open", "0", "--gap-extend", "4"],
        &["--end-gaps", "free"],
    ] {
        let table = allpairs_each(ALL_WAYS, &[&[input.as_str(), "--check"], FIELDS, arguments].concat());
        writeln!(text, "{}\n{table}", arguments.join(" ")).unwrap();
    }
    assert_snapshot!(text);
    // BLOSUM62 is the default.
    let tables: Vec<&str> = text.split("\n\n").collect();
    assert_eq!(tables[0].trim_start(), tables[1].trim_start_matches("--matrix BLOSUM62\n"));
}

/// One file has lengths close to every size that a kernel rounds to.
#[test]
fn lengths_of_every_kind() {
    let folder = folder();
    let lengths: Vec<usize> = (1..40).chain([63, 64, 65, 127, 128, 300]).collect();
    let input = file(&folder, "lengths.fa", random_fasta(0x1e46, Alphabet::Dna, &lengths));
    for arguments in
        [&[][..], &["--gap-open", "4", "--gap-extend", "1"], &["--end-gaps", "free"], &["--scheme", "vsearch"]]
    {
        let table = allpairs_each(ALL_WAYS, &[&[input.as_str(), "--check"], FIELDS, arguments].concat());
        assert_eq!(table.lines().count(), 1 + 45 * 44 / 2);
        let filtered =
            allpairs_each(ALL_WAYS, &[&[input.as_str(), "--min-identity", "0.5"], FIELDS, arguments].concat());
        let expected: Vec<Vec<&str>> = cells(&table)
            .into_iter()
            .enumerate()
            .filter(|(at, row)| *at == 0 || row[3] >= "0.5")
            .map(|(_, row)| row)
            .collect();
        assert_eq!(cells(&filtered), expected, "{arguments:?}");
    }
}
