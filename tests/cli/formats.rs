//! Every output format on real genes.

use insta::assert_snapshot;

use super::*;

#[test]
fn tsv() {
    assert_snapshot!(allpairs_each(ALL_WAYS, &[GENES, "--check"]));
}

#[test]
fn tsv_with_chosen_fields() {
    let fields = "query,target,identity0,identity1,identity2,identity3,identity4,mismatches,gap_openings,inner_columns,\
                  query_start,query_end,target_start,target_end,cigar";
    assert_snapshot!(allpairs(&[GENES, "--min-identity", "0.8", "--check", "--fields", fields]));
}

/// `--score-only`, and a choice of fields that needs no alignment, give the scores of the aligned pairs.
#[test]
fn scores_alone() {
    let scores = allpairs(&[GENES, "--score-only"]);
    assert_snapshot!(scores);
    let fields = ["--fields", "query,target,score"];
    assert_eq!(scores, allpairs_each(&TWO_WAYS[..1], &[GENES, fields[0], fields[1]]));
    assert_eq!(scores, allpairs_each(&TWO_WAYS[..1], &[GENES, "--check", fields[0], fields[1]]));
}

#[test]
fn blast6() {
    assert_snapshot!(allpairs(&[GENES, "--min-identity", "0.8", "--check", "--format", "blast6"]));
}

#[test]
fn paf() {
    assert_snapshot!(allpairs(&[GENES, "--min-identity", "0.8", "--check", "--format", "paf"]));
}

#[test]
fn json_lines() {
    let text = allpairs(&[GENES, "--min-identity", "0.9", "--check", "--format", "jsonl"]);
    for line in text.lines() {
        let pair: serde_json::Value = serde_json::from_str(line).expect("every line is JSON");
        assert!(pair["identity"].as_f64().expect("a number") >= 0.9, "{line}");
    }
    assert_snapshot!(text);
}

/// Both shapes of a matrix. The lower one is a part of the square one, whatever the device.
fn phylip(distance: &str) -> String {
    let arguments = [GENES, "--format", "phylip", "--distance", distance];
    let square = allpairs(&arguments);
    let lower = allpairs_each(&TWO_WAYS[..1], &[&arguments[..], &["--matrix-shape", "lower"]].concat());
    let mut rows = lower.lines().zip(square.lines());
    assert_eq!(rows.next(), Some(("12", "12")));
    for (index, (short, long)) in rows.enumerate() {
        assert!(long.starts_with(short), "{short}");
        assert_eq!(short.split_whitespace().count(), 1 + index, "{short}");
        assert_eq!(long.split_whitespace().count(), 13, "{long}");
    }
    assert_eq!(lower.lines().count(), 13);
    square
}

#[test]
fn phylip_identity() {
    assert_snapshot!(phylip("identity"));
}

#[test]
fn phylip_kimura() {
    assert_snapshot!(phylip("kimura"));
}

#[test]
fn phylip_jukes_cantor() {
    assert_snapshot!(phylip("jukes-cantor"));
}

/// All of one file against all of another, in each format that could mistake one for the other.
#[test]
fn against_another_file() {
    let folder = folder();
    let text = std::fs::read_to_string(GENES).unwrap();
    let two: String = text.split_inclusive('>').skip(8).take(2).collect();
    let queries = file(&folder, "queries.fa", format!(">{}", two.trim_end_matches('>')));
    let table = allpairs(&[&queries, "--against", GENES, "--check"]);
    assert_eq!(table.lines().count(), 1 + 2 * 12);
    assert_snapshot!(table);
    let matrix = allpairs_each(&TWO_WAYS[..1], &[&queries, "--against", GENES, "--format", "phylip"]);
    assert_snapshot!("against_another_file_phylip", matrix);
}

/// The best two of each query, left in input order.
#[test]
fn max_hits() {
    let best = allpairs(&[GENES, "--max-hits", "2", "--check"]);
    assert_snapshot!(best);
    let all = allpairs_each(&TWO_WAYS[..1], &[GENES]);
    let (all, best) = (cells(&all), cells(&best));
    for query in all[1..].iter().map(|row| row[0]) {
        let of_query = |rows: &[Vec<&str>]| -> Vec<(String, String)> {
            let rows = rows.iter().filter(|row| row[0] == query);
            rows.map(|row| (row[2].to_owned(), row[1].to_owned())).collect()
        };
        let mut expected = of_query(&all);
        expected.sort_by(|a, b| b.0.cmp(&a.0));
        expected.truncate(2);
        let mut found = of_query(&best);
        found.sort_by(|a, b| b.0.cmp(&a.0));
        assert_eq!(found, expected, "{query}");
    }
}

/// Every definition of identity selects the pairs that have it.
#[test]
fn identity_definitions() {
    let every = ["--fields", "query,target,identity0,identity1,identity2,identity3,identity4"];
    let all = allpairs_each(&TWO_WAYS[..1], &[GENES, every[0], every[1]]);
    let mut text = String::new();
    for number in 0..=4 {
        let definition = number.to_string();
        let fields = "query,target,identity,matches,mismatches,columns,gap_openings,query_length,target_length";
        let selected = ["--iddef", &definition, "--min-identity", "0.935", "--check", "--fields", fields];
        let table = allpairs(&[&[GENES], &selected[..]].concat());
        let found: Vec<[&str; 3]> = cells(&table)[1..].iter().map(|row| [row[0], row[1], row[2]]).collect();
        let all = cells(&all);
        let expected: Vec<[&str; 3]> =
            all[1..].iter().map(|row| [row[0], row[1], row[2 + number]]).filter(|row| row[2] >= "0.935").collect();
        assert_eq!(found, expected, "--iddef {number}");
        writeln!(text, "--iddef {number}\n{table}").unwrap();
    }
    assert_snapshot!(text);
}
