//! `pairwave search`: hits in every format, options with their names in other programs, and
//! rejected input.

use insta::assert_snapshot;
use pairwave::seq::ReadOptions;
use pairwave::seq::database::{MakeOptions, read_sorted};

use super::*;

const QUERIES: &str = "assets/proteins/queries.fasta";
const SUBJECTS: &str = "assets/proteins/subjects.fasta";

fn search(arguments: &[&str]) -> String {
    equal_output("search", TWO_WAYS, arguments)
}

fn proteins(arguments: &[&str]) -> String {
    search(&[&[QUERIES, SUBJECTS, "--check"], arguments].concat())
}

/// Returns the hits of the starts of six genes and the reverse complement of one, in twelve genes.
fn genes(folder: &TempDir, arguments: &[&str]) -> String {
    let text = std::fs::read_to_string(GENES).expect("it is there");
    let letters: String = text.split('>').nth(3).expect("a gene").lines().skip(1).collect();
    let turned = pairwave::seq::reverse_complement_letters(&letters.as_bytes()[300..460]);
    let turned = String::from_utf8(turned).expect("letters");
    let queries = file(folder, "queries.fa", format!(">plus\n{}\n>minus\n{turned}\n>none\nAC\n", &letters[20..150]));
    search(&[&[queries.as_str(), GENES, "--check"], arguments].concat())
}

#[test]
fn hits_within_the_evalue_are_written() {
    assert_snapshot!(proteins(&["--evalue", "1e-3"]));
}

#[test]
fn hit_limit_keeps_the_first_hits_of_each_query() {
    let best = proteins(&["-k", "2", "--fields", "query,target,score,cigar"]);
    assert_eq!(best.lines().count(), 1 + 3 * 2);
    let all = proteins(&["--fields", "query,target,score,cigar"]);
    for query in ["CALM_YEAST", "TRX1_YEAST", "CYC1_YEAST"] {
        let of = |text: &str| {
            let lines = text.lines().filter(|line| line.split('\t').next().is_some_and(|name| name.ends_with(query)));
            lines.take(2).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(of(&best), of(&all));
    }
}

/// blastp 2.12.0+ (-comp_based_stats 0 -seg no) prints the same rows.
#[test]
fn selenocysteine_scores_as_cysteine() {
    let folder = folder();
    let letters =
        file(&folder, "u.fa", ">u\nWCHWMYWHUCWFHWCYWMHW\n>c\nWCHWMYWHCCWFHWCYWMHW\n>d\nWCHWMYWHDCWFHWCYWMHW\n");
    let actual = |options: &[&str]| {
        let fields = "6 qseqid sseqid score bitscore evalue nident positive";
        search(&[&[&letters, &letters, "--check", "--outfmt", fields], options].concat())
    };
    let pam30 = ["--matrix", "PAM30", "--gapopen", "14", "--gapextend", "1"];
    assert_snapshot!(format!("{}\n{}", actual(&[]), actual(&pam30)), @r"
    u	u	175	72.0	1.90e-25	20	20
    u	c	175	72.0	1.90e-25	19	20
    u	d	163	67.4	1.29e-23	19	19
    c	u	175	72.0	1.90e-25	19	20
    c	c	175	72.0	1.90e-25	20	20
    c	d	163	67.4	1.29e-23	19	19
    d	d	172	70.9	5.45e-25	20	20
    d	u	163	67.4	1.29e-23	19	19
    d	c	163	67.4	1.29e-23	19	19

    u	u	218	106	1.59e-36	20	20
    u	c	218	106	1.59e-36	19	20
    u	d	194	95.1	6.39e-32	19	19
    c	u	218	106	1.59e-36	19	20
    c	c	218	106	1.59e-36	20	20
    c	d	194	95.1	6.39e-32	19	19
    d	d	216	105	3.87e-36	20	20
    d	u	194	95.1	6.39e-32	19	19
    d	c	194	95.1	6.39e-32	19	19
    ");
}

#[test]
fn nucleotides_on_both_strands() {
    let folder = folder();
    let both = genes(&folder, &["-k", "3"]);
    assert!(both.starts_with("query\ttarget\tstrand\tevalue\tbits\t"));
    assert_snapshot!(both);
    let plus = genes(&folder, &["-k", "3", "--strand", "plus"]);
    assert!(!plus.contains("\t-\t") && plus.lines().any(|line| line.starts_with("plus")));
}

#[test]
fn every_format_has_the_hits() {
    let folder = folder();
    for (name, format) in [("blast7", "--outfmt=7"), ("paf", "--format=paf")] {
        assert_snapshot!(format!("search_{name}"), genes(&folder, &["-k", "2", format]));
    }
    assert_snapshot!("search_blast0", proteins(&["-k", "1", "--outfmt", "0"]));
    let json = proteins(&["-k", "1", "--format", "jsonl"]);
    assert!(json.lines().count() == 3 && json.starts_with("{\"query\":\"sp|P06787|CALM_YEAST\","), "{json}");
}

#[test]
fn page_shows_the_written_hits() {
    let folder = folder();
    let [page, table] = ["hits.html", "hits.tsv"].map(|name| path(&folder, name));
    let arguments = [QUERIES, SUBJECTS, "-k", "2", "--report", &page, "-o", &table, "--device", "cpu"];
    pairwave(&["search", "--quiet"]).args(arguments).assert().success().stdout("").stderr("");
    assert_eq!(std::fs::read_to_string(&table).expect("it was written"), proteins(&["-k", "2"]));
    let page = std::fs::read_to_string(&page).expect("it was written");
    assert!(page.contains("queries.fasta in subjects.fasta") && page.trim_end().ends_with("</html>"));
    for name in ["CALM_YEAST", "CALM_PLAF7", "TRX2_YEAST", "CYC7_YEAST"] {
        assert!(page.contains(name), "{name}");
    }
}

#[test]
fn sam_header_names_the_targets() {
    let folder = folder();
    let output = path(&folder, "hits.sam");
    let queries = file(&folder, "queries.fa", ">q\nGTTTGATCCTGGCTCAGAACGAACGCTGGCGGCGTGC\n");
    let arguments = [&queries, GENES, "-k", "2", "--format", "sam", "-o", &output, "--check", "--device", "cpu"];
    pairwave(&["search", "--quiet"]).args(arguments).assert().success().stdout("").stderr("");
    let text = std::fs::read_to_string(&output).expect("it was written");
    let (header, lines): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with('@'));
    assert_eq!(header.iter().filter(|line| line.starts_with("@SQ")).count(), 2, "{text}");
    assert!(header.last().is_some_and(|line| line.contains("CL:pairwave search ")), "{text}");
    assert_eq!(lines.len(), 2);
    for (line, reference) in lines.iter().zip(&header[1..]) {
        let name = line.split('\t').nth(2).expect("a reference");
        assert!(reference.starts_with(&format!("@SQ\tSN:{name}\tLN:")) && line.contains("\tAS:i:"), "{text}");
    }
}

/// BLASTP 2.12.0+ with `-comp_based_stats 0 -seg no -max_hsps 1 -evalue 10 -outfmt '6 std score'`.
#[test]
fn lines_are_those_of_blastp_where_it_finds_the_same() {
    let ours = proteins(&["--outfmt", "6 std score"]);
    let compared = held_against(&ours, include_str!("blastp.tsv").lines(), 1);
    assert_eq!((compared, ours.lines().count()), ([49, 2, 2], 82), "BLASTP misses 29 hits");
}

/// Pieces of 16S genes with ambiguous codes, some of them reverse-complemented, in 199 genes.
/// `scripts/compare/blastn.py` has BLASTN's command line. BLASTN ends an alignment where its score
/// does not rise for some hundred columns.
#[test]
fn lines_are_those_of_blastn_where_it_finds_the_same() {
    let mut compared = Vec::new();
    for section in include_str!("blastn.tsv").split("\n# --").skip(1) {
        let (scheme, theirs) = section.split_once('\n').expect("lines of hits");
        let scheme = format!("--{scheme}");
        let arguments = ["tests/cli/blastn.fa", "assets/16s/gold200.fasta", "--outfmt", "6 std score", "--check"];
        let arguments = [&arguments[..], &scheme.split(' ').collect::<Vec<_>>()].concat();
        let ours = equal_output("search", &[("cpu", "2")], &arguments);
        // Megablast's scores are doubled here to be whole numbers.
        compared.push(held_against(&ours, theirs.lines(), if scheme.ends_with("megablast") { 2 } else { 1 }));
    }
    assert_eq!(compared, [[14, 8, 2], [6, 3, 15], [24, 0, 0]]);
}

/// Counts BLAST's lines (`6 std score`) that are equal here, that have another alignment with the
/// best score, and that have an alignment below the best score. Scores here are `times` as great as
/// BLAST's.
fn held_against<'a>(ours: &str, theirs: impl Iterator<Item = &'a str>, times: i64) -> [usize; 3] {
    let score = |cells: &[&str]| cells[12].parse::<i64>().expect("a score");
    let [mut equal, mut other, mut better] = [0; 3];
    for line in theirs {
        let cells: Vec<&str> = line.split('\t').collect();
        let same_pair = |printed: &&str| printed.split('\t').take(2).eq(cells[..2].iter().copied());
        let printed = ours.lines().find(same_pair).unwrap_or_else(|| panic!("not found: {line}"));
        let of_own: Vec<&str> = printed.split('\t').collect();
        match score(&of_own) - times * score(&cells) {
            0 if of_own[..12] == cells[..12] => equal += 1,
            // Another of several best alignments: E-value and bits are equal.
            0 => {
                assert_eq!(of_own[10..12], cells[10..12], "{printed}: {line}");
                other += 1;
            }
            more => {
                assert!(more > 0, "{printed}: {line}");
                better += 1;
            }
        }
    }
    [equal, other, better]
}

#[test]
fn names_of_other_programs_mean_the_same() {
    let usual = proteins(&["--evalue", "0.01", "--gap-open", "10", "--min-identity", "0.3", "--format", "blast6"]);
    let line = ["-e", "0.01", "--gapopen", "10", "--id", "0.3", "--outfmt", "6", "--max-hits", "500"];
    assert_eq!(proteins(&line), usual);
    let named = search(&[&["--query", QUERIES, "-d", SUBJECTS], &line[..]].concat());
    assert_eq!(named, usual);
    assert_eq!(search(&[&["--db", SUBJECTS, QUERIES], &line[..]].concat()), usual);
    assert!(usual.lines().count() > 9);
}

#[test]
fn a_filter_makes_room_for_the_next() {
    let table = proteins(&["-k", "3", "--query-cover", "0.9", "--fields", "query,target,qstart,qend,qlen,evalue"]);
    let rows = cells(&table);
    assert_eq!(rows.len(), 1 + 3 * 3);
    for row in &rows[1..] {
        let [start, end, length] = [2, 3, 4].map(|cell| row[cell].parse::<f64>().expect("a number"));
        assert!((end - start + 1.0) / length >= 0.9, "{row:?}");
    }
}

#[test]
fn searches_can_align_whole_sequences() {
    for mode in ["global", "semi-global"] {
        assert_snapshot!(format!("search_{mode}"), proteins(&["--mode", mode, "-k", "2"]));
    }
}

#[test]
fn the_edit_filter_changes_no_byte() {
    for (mode, scheme) in [("semi-global", "truong"), ("global", "vsearch")] {
        let global = [GENES, GENES, "--mode", mode, "--min-identity", "0.8", "--scheme", scheme];
        let hits = |filter: &str| search(&[&global[..], &["--edit-filter", filter]].concat());
        let off = hits("off");
        assert!(off.lines().count() > 12, "{off}");
        assert_eq!([hits("auto"), hits("on")], [off.clone(), off]);
    }
}

#[test]
fn scores_without_statistical_parameters_give_a_warning() {
    let arguments = [QUERIES, SUBJECTS, "--gap-open", "3", "--gap-extend", "3", "-k", "1", "--device", "cpu"];
    let run = pairwave(&["search"]).args(arguments).assert().success();
    let (out, err) = (run.get_output().stdout.clone(), run.get_output().stderr.clone());
    let [out, err] = [out, err].map(|bytes| String::from_utf8(bytes).expect("text"));
    assert!(out.starts_with("query\ttarget\tscore\tidentity\t") && out.lines().count() == 4, "{out}");
    assert!(err.contains("warning: no statistical parameters are known for these scores and gap costs"), "{err}");
}

#[test]
fn wrong_input_is_one_clear_error() {
    let folder = folder();
    let odd = ["--gap-open", "3", "--gap-extend", "3"];
    let refused = |arguments: &[&str], part: &str| {
        let run = pairwave(&["search", "--device", "cpu"]).args(arguments).assert().code(2).stdout("");
        let text = String::from_utf8(run.get_output().stderr.clone()).expect("text");
        assert!(text.starts_with("pairwave: error: ") || text.starts_with("error: "), "{text}");
        assert!(text.contains(part) && text.lines().count() == 1, "{arguments:?}: {text}");
    };
    let both = [QUERIES, SUBJECTS];
    refused(&[QUERIES], "DB is missing: name a database or a file of sequences");
    refused(&["-", "-"], "standard input can be read only once");
    refused(&["no such file", SUBJECTS], "no such file");
    refused(&[QUERIES, "no such file"], "no such file");
    refused(&[&both[..], &["third.fa"]].concat(), "third.fa");
    refused(&[&both[..], &["-d", SUBJECTS]].concat(), "are already given");
    refused(&[&both[..], &["-k", "0"]].concat(), "--max-target-seqs 0");
    refused(&[&both[..], &["--max-hsps", "0"]].concat(), "--max-hsps 0");
    refused(&[&both[..], &["--max-hsps", "2", "--mode", "global"]].concat(), "--max-hsps: only --mode local");
    refused(&[&both[..], &["--max-hsps", "2", "--score-only"]].concat(), "--score-only");
    refused(&[&both[..], &["--id", "90"]].concat(), "did you mean 0.9?");
    refused(&[&both[..], &["--evalue", "-1"]].concat(), "--evalue -1");
    refused(&[&both[..], &["--evalue", "1", "--mode", "global"]].concat(), "only local alignments have E-values");
    refused(&[&both[..], &["--evalue", "1"], &odd[..]].concat(), "no statistical parameters are known");
    refused(&[&both[..], &["--fields", "evalue"], &odd[..]].concat(), "'evalue'");
    refused(&[&both[..], &["--fields", "query,bits", "--mode", "global"]].concat(), "'bits'");
    refused(&[&both[..], &["--strand", "both"]].concat(), "--strand");
    refused(&[&both[..], &["--format", "sam"]].concat(), "SAM is for nucleotides");
    refused(&[&both[..], &["--format", "paf", "--fields", "query"]].concat(), "--fields applies only to");
    refused(&[&both[..], &["--outfmt", "5"]].concat(), "--outfmt 5: must be 0, 6 or 7");
    refused(&[&both[..], &["--score-only", "--id", "0.5"]].concat(), "--score-only");
    refused(&[&both[..], &["--score-only", "--format", "paf"]].concat(), "--score-only");
    refused(&[&both[..], &["-o", SUBJECTS]].concat(), "would overwrite an input file");
    refused(&[&both[..], &["--report", QUERIES]].concat(), "would overwrite an input file");
    refused(&[&both[..], &["--report", "a.html", "--score-only"]].concat(), "--score-only");
    refused(&[&both[..], &["--report", "a.html", "--mode", "global"]].concat(), "--mode local");
    refused(&[&both[..], &["--outfmt", "0", "--mode", "global"]].concat(), "blast0 applies only to --mode local");
    refused(&[&both[..], &["--match", "2"]].concat(), "apply only to nucleotides");
    refused(&[&both[..], &["--edit-filter", "on"]].concat(), "--edit-filter has no effect without --min-identity");
    let damaged = file(&folder, "damaged.fa", ">a\nMK7T\n");
    refused(&[QUERIES, &damaged], "damaged.fa, line 2, column 3");
    refused(&[&damaged, SUBJECTS], "damaged.fa, line 2, column 3");
}

/// A gene with two copies on one strand and one on the other, in every format.
#[test]
fn copies_in_a_target_are_written_in_every_format() {
    let folder = folder();
    let gene = "GTTTGATCCTGGCTCAGAACGAACGCTGGCGGCGTGCTTAACACATGCAAGTCGAACGGAAAGG";
    let turned = String::from_utf8(pairwave::seq::reverse_complement_letters(gene.as_bytes())).expect("letters");
    let genome = format!(">chr one\nACCATTACC{gene}TATATTATTA{turned}CCACCCAACC{gene}TTATTA\n");
    let queries = file(&folder, "queries.fa", format!(">rrs\n{gene}\n>other\nTTAGGCATTACCGGATTACAGGCATTA\n"));
    let db = file(&folder, "genome.fa", &genome);
    let run = |arguments: &[&str]| {
        let common = [queries.as_str(), &db, "--evalue", "1e-9", "--check"];
        equal_output("search", &[("cpu", "1"), ("cpu", "2")], &[&common[..], arguments].concat())
    };
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let table = lines(&run(&["--max-hsps", "9", "--outfmt", "6 qseqid sseqid qstart qend sstart send qcovs qcovhsp"]));
    let expected = ["10\t73", "158\t221", "147\t84"].map(|place| format!("rrs\tchr\t1\t64\t{place}\t100\t100"));
    assert_eq!(table, expected);
    assert_eq!(lines(&run(&["--max-hsps", "1", "--outfmt", "6"])), lines(&run(&["--outfmt", "6"])));
    let text = run(&["--max-hsps", "3", "--outfmt", "0"]);
    assert_eq!(
        [">chr", " Score = ", "Length=227", " Strand=Plus/Minus"].map(|part| text.matches(part).count()),
        [1, 3, 1, 1]
    );
    assert!(run(&["--max-hsps", "3", "--outfmt", "7"]).contains("# 3 hits found\n"));
    let flags = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| !line.starts_with('@'));
        lines.map(|line| line.split('\t').nth(1).expect("a flag").to_owned()).collect()
    };
    assert_eq!(flags(&run(&["--max-hsps", "3", "--format", "sam"])), ["0", "256", "272"]);
    let fasta = path(&folder, "hits.fa");
    let output = path(&folder, "hits.tsv");
    let arguments = [&queries, &db, "--evalue", "1e-9", "--max-hsps", "3", "--hits-fasta", &fasta, "-o", &output];
    pairwave(&["search", "--quiet", "--device", "cpu"]).args(arguments).assert().success().stdout("").stderr("");
    let written = std::fs::read_to_string(&fasta).expect("it was written");
    let expected = [":10-73", ":158-221", ":c147-84"].map(|range| (format!("chr{range} one"), gene.to_owned()));
    assert_eq!(records(&written), expected);
}

/// Two parts of a read that lie apart in the target: the second line is supplementary in SAM, and
/// `qcovs` counts both.
#[test]
fn parts_of_a_read_are_supplementary_and_cover_it_together() {
    let folder = folder();
    let parts = ["GTTTGATCCTGGCTCAGAACGAACGCTGGCGGC", "CAAGTCGAACGGAAAGGTCTCTTCGGAGATAC"];
    let queries = file(&folder, "reads.fq", format!("@r\n{}\n+\n{}\n", parts.concat(), "I".repeat(65)));
    let db = file(&folder, "db.fa", format!(">t\n{}{}{}\n", parts[1], "TA".repeat(60), parts[0]));
    let run = |arguments: &[&str]| {
        let common = [queries.as_str(), &db, "--evalue", "1e-6", "--max-hsps", "5", "--check"];
        equal_output("search", &[("cpu", "2")], &[&common[..], arguments].concat())
    };
    let table = run(&["--outfmt", "6 qstart qend sstart send qcovhsp qcovs"]);
    assert_eq!(table, "1\t33\t153\t185\t51\t100\n34\t65\t1\t32\t49\t100\n");
    let sam = run(&["--format", "sam"]);
    let records: Vec<Vec<&str>> =
        sam.lines().filter(|line| !line.starts_with('@')).map(|line| line.split('\t').collect()).collect();
    let of = |field: usize| records.iter().map(|record| record[field]).collect::<Vec<_>>();
    assert_eq!((of(1), of(3), of(5)), (vec!["0", "2048"], vec!["153", "1"], vec!["33=32S", "33S32="]));
    assert_eq!((of(9), of(10)), (vec![&*parts.concat(); 2], vec![&*"I".repeat(65); 2]));
}

#[test]
fn database_and_file_give_equal_hits() {
    let folder = folder();
    let database = path(&folder, "subjects.pwdb");
    let options =
        MakeOptions { read: ReadOptions::default(), memory: 1 << 20, scratch_directory: folder.path().to_owned() };
    let sorted = read_sorted(&[SUBJECTS], &options, |_| {}).expect("they are proteins");
    let to = std::fs::File::create(&database).expect("it can be made");
    sorted.write(to, Path::new(&database), |_| Ok(())).expect("it can be written");
    let arguments = ["--evalue", "1", "--format", "blast6"];
    assert_eq!(search(&[&[QUERIES, database.as_str()], &arguments[..]].concat()), proteins(&arguments));
}

/// Returns the headers and letters of FASTA.
fn records(text: &str) -> Vec<(String, String)> {
    let split = |record: &str| {
        let (header, letters) = record.split_once('\n').unwrap_or((record, ""));
        (header.to_owned(), letters.replace('\n', ""))
    };
    text.split('>').skip(1).map(split).collect()
}

/// Returns the records that belong to the lines of a table with target, strand and positions.
fn records_of_table(table: &str, targets: &[(String, String)], flank: Option<usize>) -> Vec<(String, String)> {
    let mut expected: Vec<(String, String)> = Vec::new();
    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let is_target = |record: &&(String, String)| record.0.split(' ').next() == Some(fields[0]);
        let (header, letters) = targets.iter().find(is_target).expect("the target of a hit");
        let record = match flank {
            None => (header.clone(), letters.clone()),
            Some(flank) => {
                let position = |text: &str| text.parse::<usize>().expect("a position");
                let start = position(fields[2]).saturating_sub(1).saturating_sub(flank);
                let end = (position(fields[3]) + flank).min(letters.len());
                let part = &letters.as_bytes()[start..end];
                let (range, part) = match fields[1] {
                    "-" => (format!(":c{end}-{}", start + 1), pairwave::seq::reverse_complement_letters(part)),
                    _ => (format!(":{}-{end}", start + 1), part.to_vec()),
                };
                let header = header.replacen(fields[0], &format!("{}{range}", fields[0]), 1);
                (header, String::from_utf8(part).expect("letters"))
            }
        };
        if !expected.contains(&record) {
            expected.push(record);
        }
    }
    expected
}

#[test]
fn sequences_of_hits_are_the_parts_that_the_table_describes() {
    let folder = folder();
    let gene = "ACGTTGCANNRYTGACCTGAATCGGCTATTGCAAGTCCGATCTTAGGACC";
    let minus = String::from_utf8(pairwave::seq::reverse_complement_letters(gene.as_bytes())).expect("letters");
    let long = gene.to_lowercase().replace('t', "u").repeat(3);
    let targets = format!(">t1 the first\nGG{gene}CCC\n>t2\nA{minus}\n>t3 long one\n{long}\n>t4\nTTTTTTTTTT\n");
    let mut stored = records(&targets);
    stored.iter_mut().for_each(|record| record.1 = record.1.to_uppercase().replace('U', "T"));
    // The first two queries have the same hits in the same regions.
    let queries = file(&folder, "q.fa", format!(">q1\n{gene}\n>q2\n{gene}\n>q3\n{minus}\n"));
    let (targets, table) = (file(&folder, "t.fa", targets), path(&folder, "hits.tsv"));
    let cases: [(&[&str], Option<usize>); 3] =
        [(&[], Some(0)), (&["--flank", "2", "--hit-part", "region"], Some(2)), (&["--hit-part", "whole"], None)];
    for (options, flank) in cases {
        let sequences = path(&folder, "hits.fa");
        let fields = ["--fields", "target,strand,target_start,target_end"];
        let arguments = ["search", &queries, &targets, "-o", &table, "--hits-fasta", &sequences, "--device", "cpu"];
        pairwave(&arguments).args(fields).args(options).assert().success();
        let text = std::fs::read_to_string(&sequences).expect("it was written");
        assert!(text.lines().all(|line| line.starts_with('>') || line.len() <= 60));
        let expected = records_of_table(&std::fs::read_to_string(&table).expect("a table"), &stored, flank);
        assert!(expected.len() >= 3, "{expected:?}");
        assert_eq!(records(&text), expected, "{options:?}");
    }
}

#[test]
fn sequences_of_hits_need_a_file_of_their_own() {
    let folder = folder();
    let [page, table, sequences] = ["x.html", "x.tsv", "x.fa.gz"].map(|name| path(&folder, name));
    let refused = |options: &[&str]| {
        let run = pairwave(&["search", QUERIES, SUBJECTS, "-q", "--device", "cpu"]).args(options).assert().code(2);
        String::from_utf8(run.get_output().stderr.clone()).expect("text")
    };
    let same = "name a file that no other option writes";
    assert!(refused(&["-o", &table, "--hits-fasta", &table]).contains(same));
    assert!(refused(&["--report", &page, "--hits-fasta", &page]).contains(same));
    assert!(refused(&["--hits-fasta", "-"]).contains(same));
    assert!(refused(&["--hits-fasta", SUBJECTS]).contains("would overwrite an input file"));
    assert!(refused(&["--hits-fasta", &page]).contains("the output is FASTA"));
    assert!(refused(&["--flank", "3"]).contains("--hits-fasta <FILE>"));
    assert!(refused(&["--hits-fasta", &sequences, "--hit-part", "whole", "--flank", "3"]).contains("--flank extends"));
    let scores = ["--score-only", "--fields", "target", "--hits-fasta", &sequences];
    assert!(refused(&scores).contains("add --hit-part whole"));
    assert!(entries(folder.path()).is_empty());
    let whole = ["search", QUERIES, SUBJECTS, "-q", "--device", "cpu", "--hit-part", "whole"];
    pairwave(&whole).args(scores).assert().success();
    let mut text = String::new();
    let file = std::fs::File::open(&sequences).expect("it was written");
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(file), &mut text).expect("gzip");
    assert!(records(&text).len() > 20 && records(&text)[0].0.starts_with("sp|P06787|CALM_YEAST Calmodulin"));
}
