//! `--mode`: local alignments in every format that supports them, and the interaction of modes with
//! other options.

use insta::assert_snapshot;

use super::*;

/// Scheme under which many alignments exclude the ends of the genes, which differ most.
const SCHEME: &[&str] =
    &["--mode", "local", "--match", "1", "--mismatch", "-3", "--gap-open", "5", "--gap-extend", "2", "--check"];

fn genes(arguments: &[&str]) -> String {
    allpairs(&[&[GENES], SCHEME, arguments].concat())
}

/// Proteins that share parts, and short ones, some of which share nothing.
const PROTEINS: &str = "\
>kinase_a\nMGLLSRWTEKPVFDHELGRGAFGVVYLAKDRSTGREVAIKVISKKWHCPPNDQ
>kinase_b\nQQNNDDPPCLGKGSFGTVYKARERATGKVVAIKIIAKKAMGHEYVSTLLRWWPE
>tail\nSSTTAIKVISKKGGNN
>glycine\nGGGG
>none\nWW\n";

fn proteins(folder: &TempDir, arguments: &[&str]) -> String {
    let input = file(folder, "proteins.fa", PROTEINS);
    allpairs_each(ALL_WAYS, &[&[input.as_str(), "--mode", "local", "--check"], arguments].concat())
}

#[test]
fn local_alignments_are_parts_of_sequences() {
    let table = genes(&[]);
    assert_eq!(table.lines().count(), 1 + 66);
    let inside = |row: &[&str]| row[7] != "1" || row[8] != row[9] || row[10] != "1" || row[11] != row[12];
    assert!(cells(&table)[1..].iter().any(|row| inside(row)), "every alignment is of whole sequences");
    assert_snapshot!(table);
}

#[test]
fn tsv_has_the_chosen_fields() {
    let fields = "query,target,identity0,identity1,identity2,identity4,qstart,qend,sstart,send,query_coverage,cigar";
    assert_snapshot!(genes(&["--min-identity", "0.95", "--fields", fields]));
}

#[test]
fn blast6_has_the_aligned_ranges() {
    assert_snapshot!(genes(&["--min-identity", "0.9", "--format", "blast6"]));
}

#[test]
fn paf_ranges_agree_with_the_cigar() {
    let text = genes(&["--min-score", "700", "--format", "paf"]);
    for row in cells(&text) {
        let number = |at: usize| row[at].parse::<u64>().expect("a number");
        let cigar: pairwave::Cigar =
            row.iter().find_map(|tag| tag.strip_prefix("cg:Z:")).expect("a cg tag").parse().expect("a CIGAR");
        assert_eq!((number(3) - number(2), number(8) - number(7)), (cigar.query_span(), cigar.target_span()));
        assert!(number(3) <= number(1) && number(8) <= number(6));
    }
    assert_snapshot!(text);
}

#[test]
fn json_lines_have_the_aligned_ranges() {
    assert_snapshot!(genes(&["--min-identity", "0.97", "--format", "jsonl"]));
}

/// Proteins share only parts. A pair without a positive score has a line in the table but is not a
/// hit in other formats.
#[test]
fn pairs_without_a_score_are_only_in_tables() {
    let folder = folder();
    let fields = "query,target,score,identity,qstart,qend,sstart,send,query_row,target_row";
    let table = proteins(&folder, &["--fields", fields]);
    assert_eq!(table.lines().count(), 1 + 10);
    let empty = |row: &Vec<&str>| row[2] == "0";
    let count = cells(&table)[1..].iter().filter(|row| empty(row)).count();
    assert!(count > 0, "every pair scores");
    for row in cells(&table)[1..].iter().filter(|row| empty(row)) {
        assert_eq!(row[3..], ["0.000000", "0", "0", "0", "0", "", ""]);
    }
    let blast6 = proteins(&folder, &["--format", "blast6"]);
    let paf = proteins(&folder, &["--format", "paf"]);
    assert_eq!((blast6.lines().count(), paf.lines().count()), (10 - count, 10 - count));
    assert_eq!(proteins(&folder, &["--format", "paf", "--min-score", "-5"]), paf);
    let json = proteins(&folder, &["--format", "jsonl", "--min-score", "20"]);
    assert_snapshot!([table, blast6, paf, json].join("\n"));
}

/// Scores alone equal the scores of the alignments.
#[test]
fn scores_alone_equal_those_of_alignments() {
    let folder = folder();
    let scores = proteins(&folder, &["--fields", "query,target,score"]);
    let input = path(&folder, "proteins.fa");
    assert_eq!(allpairs(&[&input, "--mode", "local", "--score-only"]), scores);
    let least = allpairs(&[&input, "--mode", "local", "--score-only", "--min-score", "20"]);
    let kept = |row: &Vec<&str>| row[2].parse::<i64>().is_ok_and(|score| score >= 20);
    assert_eq!(cells(&least)[1..], cells(&scores)[1..].iter().filter(|row| kept(row)).cloned().collect::<Vec<_>>());
    assert!(least.lines().count() > 1 && least.lines().count() < scores.lines().count());
}

/// `--max-hits` selects the greatest scores, because short parts are often identical.
#[test]
fn best_hits_have_the_greatest_scores() {
    let folder = folder();
    let best = proteins(&folder, &["--max-hits", "1"]);
    let rows = cells(&best);
    assert_eq!((rows[1][0], rows[1][1]), ("kinase_a", "kinase_b"), "{best}");
    let all = proteins(&folder, &[]);
    let of_tail = cells(&all).into_iter().find(|row| row[0] == "kinase_a" && row[1] == "tail").expect("a pair");
    assert!(of_tail[2] > rows[1][2], "{all}");
}

#[test]
fn semi_global_is_free_end_gaps() {
    let overlap = allpairs(&[GENES, "--mode", "semi-global", "--min-identity", "0.9", "--check"]);
    assert_eq!(overlap, allpairs_each(&TWO_WAYS[..1], &[GENES, "--end-gaps", "free", "--min-identity", "0.9"]));
    let global = allpairs_each(&TWO_WAYS[..1], &[GENES, "--min-identity", "0.9"]);
    assert_ne!(overlap, global);
    assert_eq!(allpairs_each(&TWO_WAYS[..1], &[GENES, "--mode", "global", "--min-identity", "0.9"]), global);
}

/// A named GPU computes the scores. Kernels for end-to-end alignment cannot compute local scores.
#[test]
fn a_named_gpu_computes_the_scores() {
    needs_adapter();
    let folder = folder();
    let input = file(&folder, "proteins.fa", PROTEINS);
    for (arguments, by_cpu) in [(&["--device", "0"][..], false), (&["--device", "cpu"], true), (&[], true)] {
        let run = pairwave(&["allpairs", &input, "--mode", "local"]).args(arguments).assert().success();
        let stderr = String::from_utf8(run.get_output().stderr.clone()).expect("text");
        assert!(stderr.lines().last().is_some_and(|line| line.ends_with("; cpu") == by_cpu), "{arguments:?}: {stderr}");
    }
    let run = pairwave(&["allpairs", &input, "--mode", "local", "--kernel", "nw_rows"]).assert().failure();
    let stderr = String::from_utf8(run.get_output().stderr.clone()).expect("text");
    assert!(stderr.contains("no kernel is called 'nw_rows'; the kernels are: sw_tile, "), "{stderr}");
    pairwave(&["allpairs", &input, "--kernel", "sw_tile"]).assert().failure();
}
