//! Every output format on real genes.

use insta::assert_snapshot;

use super::*;

#[test]
fn tsv_does_not_depend_on_the_devices() {
    assert_snapshot!(allpairs_each(ALL_WAYS, &[GENES, "--check"]));
}

#[test]
fn tsv_has_the_chosen_fields() {
    let fields = "query,target,identity0,identity1,identity2,identity3,identity4,mismatches,gap_openings,inner_columns,\
                  query_start,query_end,target_start,target_end,cigar";
    assert_snapshot!(allpairs(&[GENES, "--min-identity", "0.8", "--check", "--fields", fields]));
}

/// `--score-only`, and fields that need no alignment, give the scores of the aligned pairs.
#[test]
fn scores_alone_equal_those_of_alignments() {
    let scores = allpairs(&[GENES, "--score-only"]);
    assert_snapshot!(scores);
    let fields = ["--fields", "query,target,score"];
    assert_eq!(scores, allpairs_each(&TWO_WAYS[..1], &[GENES, fields[0], fields[1]]));
    assert_eq!(scores, allpairs_each(&TWO_WAYS[..1], &[GENES, "--check", fields[0], fields[1]]));
}

#[test]
fn blast6_has_the_default_columns() {
    assert_snapshot!(allpairs(&[GENES, "--min-identity", "0.8", "--check", "--format", "blast6"]));
}

#[test]
fn paf_has_the_selected_pairs() {
    assert_snapshot!(allpairs(&[GENES, "--min-identity", "0.8", "--check", "--format", "paf"]));
}

#[test]
fn every_json_line_is_an_object() {
    let text = allpairs(&[GENES, "--min-identity", "0.9", "--check", "--format", "jsonl"]);
    for line in text.lines() {
        let pair: serde_json::Value = serde_json::from_str(line).expect("every line is JSON");
        assert!(pair["identity"].as_f64().expect("a number") >= 0.9, "{line}");
    }
    assert_snapshot!(text);
}

/// Returns both shapes of a matrix. The lower one is part of the square one on every device.
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
fn phylip_has_identity_distances() {
    assert_snapshot!(phylip("identity"));
}

#[test]
fn phylip_has_kimura_distances() {
    assert_snapshot!(phylip("kimura"));
}

#[test]
fn phylip_has_jukes_cantor_distances() {
    assert_snapshot!(phylip("jukes-cantor"));
}

/// All sequences of one file against all of another, in each format that could confuse the files.
#[test]
fn every_query_is_aligned_with_every_target_of_another_file() {
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

/// The best two pairs of each query, in input order.
#[test]
fn max_hits_keeps_input_order() {
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
        let mut actual = of_query(&best);
        actual.sort_by(|a, b| b.0.cmp(&a.0));
        assert_eq!(actual, expected, "{query}");
    }
}

/// Every definition of identity selects the pairs that reach it.
#[test]
fn each_identity_definition_selects_its_pairs() {
    let every = ["--fields", "query,target,identity0,identity1,identity2,identity3,identity4"];
    let all = allpairs_each(&TWO_WAYS[..1], &[GENES, every[0], every[1]]);
    let mut text = String::new();
    for number in 0..=4 {
        let definition = number.to_string();
        let fields = "query,target,identity,matches,mismatches,columns,gap_openings,query_length,target_length";
        let selected = ["--iddef", &definition, "--min-identity", "0.935", "--check", "--fields", fields];
        let table = allpairs(&[&[GENES], &selected[..]].concat());
        let actual: Vec<[&str; 3]> = cells(&table)[1..].iter().map(|row| [row[0], row[1], row[2]]).collect();
        let all = cells(&all);
        let expected: Vec<[&str; 3]> =
            all[1..].iter().map(|row| [row[0], row[1], row[2 + number]]).filter(|row| row[2] >= "0.935").collect();
        assert_eq!(actual, expected, "--iddef {number}");
        writeln!(text, "--iddef {number}\n{table}").unwrap();
    }
    assert_snapshot!(text);
}

/// Blocks as EMBOSS writes them, also narrow ones.
#[test]
fn text_has_one_block_for_each_pair() {
    let arguments = [WINDOWS, "--scheme", "vsearch", "--min-identity", "0.9", "--format", "text"];
    let blocks = allpairs(&arguments);
    let narrow = allpairs_each(&TWO_WAYS[..1], &[&arguments[..], &["--max-hits", "1", "--width", "25"]].concat());
    let local =
        ["tests/cli/proteins.fa", "--mode", "local", "--min-score", "60", "--max-hits", "1", "--format", "text"];
    assert_snapshot!(blocks + &narrow + &allpairs(&local));
}

/// Returns SAM without the line that contains the command line.
fn sam_lines(arguments: &[&str]) -> String {
    let [first, second] = [0, 1].map(|way| {
        let text = allpairs_each(&TWO_WAYS[way..=way], &[arguments, &["--format", "sam"]].concat());
        assert_eq!(text.matches("\n@PG\tID:pairwave\tPN:pairwave\tVN:").count(), 1, "{text}");
        text.split_inclusive('\n').filter(|line| !line.starts_with("@PG")).collect::<String>()
    });
    assert_eq!(first, second);
    first
}

/// The numbers of SAM lines agree with the sequences: the CIGAR describes the unclipped part of SEQ
/// and the reference at its position.
#[test]
fn sam_records_agree_with_the_sequences() {
    let text = sam_lines(&[WINDOWS, "--scheme", "vsearch"]);
    let fasta = std::fs::read_to_string(WINDOWS).unwrap();
    let sequences: Vec<(&str, &str)> =
        fasta.split('>').skip(1).map(|record| record.trim_end().split_once('\n').expect("a name and a line")).collect();
    let letters = |name: &str| sequences.iter().find(|(other, _)| *other == name).expect("it is there").1.as_bytes();
    let mut primaries: Vec<&str> = Vec::new();
    let lines: Vec<Vec<&str>> = cells(&text).into_iter().filter(|line| !line[0].starts_with('@')).collect();
    for line in &lines {
        let (query, target) = (letters(line[0]), letters(line[2]));
        let score =
            |line: &Vec<&str>| line[12].strip_prefix("AS:i:").expect("a score").parse::<i64>().expect("a number");
        if line[1] == "0" {
            primaries.push(line[0]);
            assert_eq!(line[9].as_bytes(), query);
            assert!(
                lines.iter().filter(|other| other[0] == line[0]).all(|other| score(other) <= score(line)),
                "{line:?}"
            );
        } else {
            assert_eq!((line[1], line[9]), ("256", "*"));
        }
        let (mut i, mut j, mut edits) = (0, line[3].parse::<usize>().expect("a position") - 1, 0);
        let mut ops = String::new();
        for run in line[5].split_inclusive(|letter: char| !letter.is_ascii_digit()) {
            let (length, op) = run.split_at(run.len() - 1);
            for _ in 0..length.parse::<usize>().expect("a length") {
                match op {
                    "=" => assert!(query[i] == target[j] || [query[i], target[j]].contains(&b'N'), "{line:?}"),
                    "X" => assert_ne!(query[i], target[j]),
                    _ => {}
                }
                i += usize::from(op != "D");
                j += usize::from(op == "D" || op == "=" || op == "X");
                edits += usize::from(op != "=" && op != "S");
            }
            ops += op;
        }
        assert_eq!((i, j <= target.len()), (query.len(), true), "{line:?}");
        assert_eq!(line[11], format!("NM:i:{edits}"));
        assert!(
            !ops.trim_matches('S').starts_with(['I', 'D']) && !ops.trim_matches('S').ends_with(['I', 'D']),
            "{line:?}"
        );
    }
    let mut distinct = primaries.clone();
    distinct.dedup();
    assert_eq!((primaries.len(), distinct.len(), lines.len()), (5, 5, 15));
    let local = sam_lines(&[WINDOWS, "--mode", "local", "--min-score", "100", "--max-hits", "1"]);
    assert_snapshot!(text + "\n" + &local);
}

/// Contents that SAM cannot represent are rejected before anything is computed.
#[test]
fn sam_rejects_unsupported_content() {
    let folder = folder();
    file(&folder, "odd.fa", ">a(b)\nACGT\n>c\nACGA\n");
    file(&folder, "at.fa", ">a@b\nACGT\n");
    file(&folder, "twice.fa", ">a\nACGT\n>a\nACGA\n");
    file(&folder, "protein.fa", ">a\nMKVLEF\n>b\nMKLLEF\n");
    for (line, why) in [
        ("@odd.fa --format sam", "odd.fa, record 'a(b)': SAM has no names of references with (; use paf"),
        ("@at.fa @odd.fa --format sam", "at.fa, record 'a@b': SAM has no names of reads with '@'; use paf"),
        (
            "@twice.fa --format sam",
            "twice.fa, record 'a': record 2 has the name of an earlier one, but SAM has no two references of one name; use paf",
        ),
        ("@protein.fa --format sam", "SAM is for nucleotides, but these are proteins; use paf"),
    ] {
        let said = wrong::refused_by("allpairs", &folder, line);
        assert!(said.contains(why), "{said}");
    }
    // Some names are valid for reads but not for references.
    let odd = path(&folder, "odd.fa");
    assert!(sam_lines(&[&odd, WINDOWS]).contains("\na(b)\t"));
}

/// In every job, SAM has the qualities of FASTQ reads: one for each letter of SEQ, and reversed on
/// the minus strand. Records without SEQ have none.
#[test]
fn sam_has_the_qualities_of_reads() {
    let mut rng = support::rng(0x5a_4a);
    let mut letters = |count: usize| -> String { (0..count).map(|_| rng.pick(&['A', 'C', 'G', 'T'])).collect() };
    let turned = |text: &str| -> String {
        text.chars().rev().map(|base| "TGCA".as_bytes()["ACGT".find(base).expect("a base")] as char).collect()
    };
    let (text, tails) = (letters(400), [letters(9), letters(14)]);
    // Two reads of the text on either strand. Local alignments clip the tails of the last one.
    let reads = [
        text[20..90].to_owned(),
        turned(&text[150..240]),
        format!("{}{}{}", tails[0], turned(&text[250..340]), tails[1]),
    ];
    let qualities = reads.each_ref().map(|read| (0..read.len()).map(|at| char::from(b'!' + (at * 7 % 41) as u8)));
    let qualities: Vec<String> = qualities.map(Iterator::collect).into();
    let records = reads.iter().zip(&qualities).enumerate();
    let fastq: String = records.map(|(number, (read, scores))| format!("@{number}\n{read}\n+\n{scores}\n")).collect();
    let folder = folder();
    let target = file(&folder, "text.fa", format!(">text\n{text}\n"));
    let targets = file(&folder, "texts.fa", format!(">a\n{text}\n>b\n{text}\n>c\n{text}\n"));
    let input = file(&folder, "reads.fq", fastq);
    let commands: [&[&str]; 6] = [
        &["allpairs", &input, &target, "--mode", "semi-global", "--strand", "both"],
        &["allpairs", &input, &target, "--mode", "local", "--min-score", "50", "--strand", "both"],
        &["search", &input, &target, "--strand", "both"],
        &["pairs", &input, &targets, "--mode", "local", "--strand", "both"],
        &["edit", &input, &target, "--mode", "infix", "--max-distance", "23", "--strand", "both"],
        &["edit", &input, &target, "--mode", "infix", "--max-distance", "23", "--strand", "both", "--all-places"],
    ];
    for command in commands {
        let mut run = pairwave(command);
        let assert = run.args(["--device", "cpu", "--format", "sam", "--quiet"]).assert().success();
        let output = String::from_utf8(assert.get_output().stdout.clone()).expect("text");
        let mut strands = [0, 0];
        for line in cells(&output).into_iter().filter(|line| !line[0].starts_with('@')) {
            if line[9] == "*" {
                assert_eq!(line[10], "*", "{command:?}: {line:?}");
                continue;
            }
            let number: usize = line[0].parse().expect("a number");
            let is_minus = line[1].parse::<u32>().expect("flags") & 16 != 0;
            let (read, scores) = match is_minus {
                true => (turned(&reads[number]), qualities[number].chars().rev().collect()),
                false => (reads[number].clone(), qualities[number].clone()),
            };
            let at = read.find(line[9]).unwrap_or_else(|| panic!("{command:?}: {line:?}"));
            assert_eq!(line[10], &scores[at..at + line[9].len()], "{command:?}: {line:?}");
            strands[usize::from(is_minus)] += 1;
        }
        assert!(strands[0] > 0 && strands[1] > 1, "{command:?}: {strands:?}\n{output}");
    }
}
