//! Options for minimum coverages and for the best hits of each query.

use super::*;

const PROTEINS: &str = "tests/cli/proteins.fa";
const COVERAGES: [&str; 2] = ["--fields", "query,target,query_coverage,target_coverage,score,cigar"];

/// Returns the header and the lines of a table whose coverages reach these minimums.
fn covered(table: &str, [query, target]: [f64; 2]) -> String {
    let mut kept = String::new();
    for (number, line) in table.lines().enumerate() {
        let fields: Vec<&str> = line.split('\t').collect();
        let reaches = |index: usize, minimum: f64| fields[index].parse::<f64>().expect("a fraction") >= minimum;
        if number == 0 || reaches(2, query) && reaches(3, target) {
            kept.push_str(&format!("{line}\n"));
        }
    }
    kept
}

#[test]
fn minimum_coverages_select_lines() {
    let commands: [&[&str]; 6] = [
        &["allpairs", GENES],
        &["allpairs", WINDOWS, "--mode", "semi-global"],
        &["allpairs", PROTEINS, "--mode", "local"],
        &["pairs", WINDOWS, WINDOWS, "--strand", "minus"],
        &["pairs", WINDOWS, WINDOWS, "--strand", "minus", "--mode", "local"],
        &["search", WINDOWS, WINDOWS, "--strand", "plus"],
    ];
    let (mut kept, mut dropped) = (0, 0);
    for command in commands {
        let table =
            |options: &[&str]| equal_output(command[0], TWO_WAYS, &[&command[1..], &COVERAGES, options].concat());
        let all = table(&[]);
        for (options, minimums) in [
            (&["--query-cov", "0.72"][..], [0.72, 0.0]),
            (&["--target-cov", "0.93"], [0.0, 0.93]),
            (&["--min-cov", "0.87"], [0.87, 0.87]),
            (&["--min-cov", "0.3", "--query-cov", "0.6"], [0.6, 0.3]),
            (&["--query-cov", "0"], [0.0, 0.0]),
            (&["--query-cov", "1", "--target-cov", "1", "--check"], [1.0, 1.0]),
        ] {
            let some = table(options);
            assert_eq!(some, covered(&all, minimums), "{command:?} {options:?}");
            kept += some.lines().count() - 1;
            dropped += all.lines().count() - some.lines().count();
        }
    }
    assert!(kept > 100 && dropped > 100, "{kept} lines, {dropped} lines less");
}

#[test]
fn formats_without_alignments_have_the_same_lines() {
    let names = |fields: &str| {
        let table = allpairs(&[WINDOWS, "--min-cov", "0.7", "--fields", fields]);
        table.lines().map(|line| line.split('\t').take(2).collect::<Vec<_>>().join(" ")).collect::<Vec<_>>()
    };
    assert_eq!(names("query,target,score"), names("query,target,cigar"));
    let all = allpairs(&[WINDOWS, "--fields", "query,target,score"]);
    assert!(names("query,target,score").len() < all.lines().count());
    // A minimum of 0 selects nothing, also where no alignment is written.
    for option in ["--min-cov", "--min-identity"] {
        assert_eq!(allpairs(&[WINDOWS, option, "0", "--fields", "query,target,score"]), all);
    }
}

#[test]
fn top_hits_have_the_best_identity_or_score() {
    let twice = std::fs::read_to_string(WINDOWS).expect("it is there");
    let folder = folder();
    // Every target occurs twice, so every best hit has a tie.
    let copies = file(&folder, "copies.fa", format!("{twice}{}", twice.replace('>', ">copy_")));
    for (command, options, ranked) in [
        ("allpairs", &["--mode", "semi-global"][..], 2),
        ("allpairs", &["--mode", "local"], 3),
        ("allpairs", &["--strand", "both", "--min-cov", "0.5"], 2),
        ("search", &["--strand", "plus"], 3),
        ("search", &["--min-cov", "0.5", "--id", "0.5"], 3),
    ] {
        let fields = ["--fields", "query,target,identity,score"];
        let table = |more: &[&str]| {
            equal_output(command, TWO_WAYS, &[&[WINDOWS, &copies], &fields[..], options, more].concat())
        };
        let rows = |text: &str| -> Vec<Vec<String>> {
            text.lines().skip(1).map(|line| line.split('\t').map(str::to_owned).collect()).collect()
        };
        let (all, top) = (rows(&table(&[])), rows(&table(&["--top-hits-only"])));
        let value = |row: &Vec<String>| row[ranked].parse::<f64>().expect("a number");
        let is_best =
            |row: &&Vec<String>| all.iter().filter(|other| other[0] == row[0]).all(|other| value(other) <= value(row));
        let expected: Vec<Vec<String>> = all.iter().filter(is_best).cloned().collect();
        assert_eq!(top, expected, "{command} {options:?}");
        assert!(top.len() >= 12 && top.len() < all.len(), "six queries with at least two best hits");
        let score = |row: &Vec<String>| row[3].parse::<i64>().expect("a number");
        let first: Vec<Vec<String>> = top
            .chunk_by(|a, b| a[0] == b[0])
            // The last of equal maxima counts, so the first best hit comes last.
            .map(|of_query| of_query.iter().rev().max_by_key(|row| score(row)).expect("a hit").clone())
            .collect();
        assert_eq!(rows(&table(&["--top-hits-only", "--max-hits", "1"])), first, "{command} {options:?}");
    }
}
