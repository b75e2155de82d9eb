//! Tests of the advice on command lines of vsearch, usearch, CD-HIT and MMseqs2.

use super::super::{complaint, misspelt, unexpected, wrong_word};
use super::Args;
use std::ffi::OsString;

/// Returns the message for a wrong command line, without the name of the program.
fn message(line: &str) -> String {
    let typed: Vec<OsString> = std::iter::once("pairwave").chain(line.split_whitespace()).map(Into::into).collect();
    if let Some(word) = wrong_word(&typed) {
        return misspelt(&typed, &unexpected(word), word);
    }
    match Args::parse_words(typed.clone()) {
        Ok(_) => panic!("'{line}' is accepted"),
        Err(error) => complaint(&typed, &error),
    }
}

const CLUSTER: &str = "tip: use 'pairwave cluster SEQS --min-identity FRACTION'";
const DEREP: &str = "tip: use 'pairwave derep READS -o FILE'";
const COMMAND_FIRST: &str = "tip: name a command before its options, as in 'pairwave allpairs SEQS'; see";

/// Command lines, each with the start of its advice.
const LINES: &[(&str, &str)] = &[
    // Commands of vsearch, first in the line or after other options.
    ("--cluster_fast in.fa --id 0.97 --uc out.uc", CLUSTER),
    ("--id 0.97 --uc out.uc --cluster_size in.fa", CLUSTER),
    ("-cluster_smallmem in.fa -id 0.97", CLUSTER),
    ("-id 0.97 -centroids c.fa -cluster_fast in.fa", CLUSTER),
    ("--threads 4 --cluster_fast in.fa --id 0.97", CLUSTER),
    ("vsearch --cluster_fast in.fa --id 0.97 --uc out.uc", CLUSTER),
    ("allpairs in.fa --cluster_fast --id 0.97", CLUSTER),
    ("--cluster_unoise in.fa", "tip: pairwave removes no sequencing errors: use vsearch or DADA2"),
    ("--derep_fulllength in.fa --output out.fa", DEREP),
    ("--fastx_uniques in.fq --fastaout out.fa", DEREP),
    ("--derep_id in.fa", "tip: not supported"),
    ("--derep_prefix in.fa", "tip: not supported"),
    ("--allpairs_global in.fa --acceptall", "tip: use 'pairwave allpairs SEQS --min-identity FRACTION'"),
    (
        "--usearch_global a.fa --db b.fa --id 0.97",
        "tip: use 'pairwave allpairs A B --min-identity FRACTION --max-hits 1', or 'pairwave search A B --mode global'",
    ),
    ("--search_exact a.fa --db b.fa", "tip: use 'pairwave edit A B --max-distance 0 --ambiguity literal'"),
    ("--makeudb_usearch a.fa --output a.udb", "tip: use 'pairwave makedb SEQS -o NAME.pwdb'"),
    ("--uchime_denovo in.fa", "tip: pairwave detects no chimeras: use vsearch"),
    ("--uchime2_denovo in.fa", "tip: pairwave detects no chimeras: use vsearch"),
    ("--uchime3_denovo in.fa", "tip: pairwave detects no chimeras: use vsearch"),
    ("--uchime_ref in.fa --db ref.fa", "tip: pairwave detects no chimeras: use vsearch"),
    ("--sintax in.fa --db ref.fa", "tip: pairwave assigns no taxonomy: use vsearch"),
    ("--fastq_mergepairs r1.fq --reverse r2.fq", "tip: pairwave merges, filters and edits no reads"),
    ("--fastq_filter r.fq --fastq_maxee 1", "tip: pairwave merges, filters and edits no reads"),
    ("--fastx_revcomp r.fq", "tip: pairwave merges, filters and edits no reads"),
    ("--sortbysize in.fa --output out.fa", "tip: omit this step: 'pairwave cluster SEQS"),
    ("--sortbylength in.fa --output out.fa", "tip: omit this step: 'pairwave cluster SEQS"),
    ("--cut in.fa --cut_pattern G^AATT_C", "tip: not supported: use vsearch"),
    ("--maskfasta in.fa", "tip: pairwave masks nothing: use vsearch or dustmasker"),
    // Options without a command.
    ("--uc out.uc in.fa", "tip: use 'pairwave cluster SEQS --min-identity FRACTION --uc FILE'"),
    ("--centroids c.fa in.fa", "tip: use 'pairwave cluster SEQS --min-identity FRACTION --centroids FILE'"),
    ("--clusters c in.fa", "tip: use 'pairwave cluster SEQS --min-identity FRACTION --clusters DIR'"),
    ("--otutabout t.tsv", "tip: use 'pairwave cluster SEQS --min-identity FRACTION --otu-table FILE'"),
    ("--biomout t.biom", "tip: use 'pairwave cluster SEQS --min-identity FRACTION --biom FILE'"),
    ("--mothur_shared_out t.shared", "tip: use 'pairwave cluster SEQS --min-identity FRACTION --shared FILE'"),
    ("--consout c.fa", "tip: pairwave writes no consensus of a cluster: use 'pairwave msa SEQS'"),
    ("--sizein", "tip: cluster and derep always read and write the abundances ';size=N' in names: remove it"),
    ("--sizeout", "tip: cluster and derep always read and write the abundances ';size=N' in names: remove it"),
    ("--minsize 8", "tip: use 'pairwave derep READS -o FILE --min-size N'"),
    ("--minuniquesize 2", "tip: use 'pairwave derep READS -o FILE --min-size N'"),
    ("--id 0.97 in.fa", COMMAND_FIRST),
    ("--iddef 1 in.fa", COMMAND_FIRST),
    ("--strand both in.fa", COMMAND_FIRST),
    ("--threads 4 in.fa", COMMAND_FIRST),
    ("--wordlength 8 in.fa", COMMAND_FIRST),
    ("--maxaccepts 0 in.fa", COMMAND_FIRST),
    ("--maxrejects 0 in.fa", COMMAND_FIRST),
    ("--profile p.txt in.fa", COMMAND_FIRST),
    // Options in a command that lacks them.
    ("allpairs in.fa --id 0.97", "tip: use --min-identity FRACTION; see 'pairwave allpairs --help'"),
    ("allpairs in.fa --maxaccepts 8", "tip: use --max-hits N"),
    ("allpairs in.fa --maxrejects 32", "tip: every sequence is compared: remove it"),
    ("allpairs in.fa --wordlength 8", "tip: every pair is compared, without words: remove it"),
    ("allpairs in.fa --profile p.txt", "tip: pairwave writes no profile of a cluster"),
    ("allpairs in.fa --sizein", "tip: cluster and derep always read and write the abundances"),
    ("allpairs in.fa --uc out.uc", "tip: use 'pairwave cluster SEQS --min-identity FRACTION --uc FILE'"),
    ("search a.fa b.fa --iddef 1", "tip: search counts matches / columns without end gaps; 'pairwave allpairs A B"),
    ("search a.fa b.fa --maxaccepts 8", "tip: use --max-target-seqs N"),
    // MMseqs2 and CD-HIT.
    ("mmseqs easy-cluster in.fa out tmp --min-seq-id 0.97", CLUSTER),
    ("easy-cluster in.fa out tmp", CLUSTER),
    ("linclust db out tmp", CLUSTER),
    ("mmseqs easy-search a.fa b.fa out.m8 tmp", "tip: use 'pairwave search QUERIES DB'"),
    ("mmseqs createdb in.fa db", "tip: use 'pairwave makedb SEQS -o NAME.pwdb'"),
    ("cd-hit-est -i in.fa -o out -c 0.97 -n 10 -aS 0.9", CLUSTER),
    ("allpairs in.fa --min-seq-id 0.97", "tip: use --min-identity FRACTION"),
    (
        "allpairs in.fa -c 0.97",
        "tip: for -c of CD-HIT use --min-identity FRACTION; for -c of MMseqs2 use --min-cov FRACTION",
    ),
    ("allpairs in.fa --cov-mode 1", "tip: use --query-cov FRACTION, --target-cov FRACTION or --min-cov FRACTION"),
    ("allpairs in.fa -aL 0.8", "tip: use --query-cov FRACTION, --target-cov FRACTION or --min-cov FRACTION"),
    ("allpairs in.fa -aS 0.8", "tip: use --query-cov FRACTION, --target-cov FRACTION or --min-cov FRACTION"),
    ("allpairs in.fa --query_cov 0.8", "tip: use --query-cov FRACTION"),
    ("allpairs in.fa --top_hits_only", "tip: use --top-hits-only"),
    ("search a.fa b.fa --target_cov 0.8", "tip: use --target-cov FRACTION"),
    ("allpairs -i in.fa", "tip: name the files without an option"),
    ("allpairs in.fa -n 5", "tip: every pair is compared, without words: remove it"),
    ("allpairs in.fa -e 0.001", "tip: E-values are not computed: use --min-score to select by score"),
    ("search -i a.fa b.fa", "tip: name the queries without an option, before the database"),
    (
        "search a.fa b.fa -c 0.9",
        "tip: for -c of CD-HIT use --min-identity FRACTION; for -c of MMseqs2 use --query-cover",
    ),
    ("search a.fa b.fa --cov-mode 1", "tip: use --query-cover FRACTION, the fraction of the query"),
    ("search a.fa b.fa -aS 0.9", "tip: use --query-cover FRACTION, the fraction of the query"),
    ("search a.fa b.fa -n 5", "tip: every pair is compared, without words: remove it"),
];

#[test]
fn command_lines_of_vsearch_cdhit_and_mmseqs_lead_to_a_command() {
    let mut wrong = Vec::new();
    for (line, expected) in LINES {
        let message = message(line);
        if !message.contains(expected) || message.matches("tip:").count() != 1 || message.contains('\n') {
            wrong.push(format!("{line}\n    {message}\n    expected: {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Command lines inside `pairwave cluster` and `derep`, each with the start of its advice.
const OF_CLUSTERS: &[(&str, &str)] = &[
    ("cluster in.fa --id 0.97", "tip: use --min-identity FRACTION; see 'pairwave cluster --help'"),
    ("cluster in.fa --cluster_fast", CLUSTER),
    ("cluster in.fa --otutabout t.tsv", "--otu-table FILE'"),
    ("cluster in.fa --sizein", "tip: cluster and derep always read and write the abundances"),
    ("cluster in.fa --maxaccepts 8", "tip: every pair is compared, so there is no such limit: remove it"),
    ("cluster in.fa --maxrejects 8", "tip: every pair is compared, so there is no such limit: remove it"),
    ("cluster in.fa --wordlength 8", "tip: every pair is compared, without words: remove it"),
    ("cluster in.fa --consout c.fa", "tip: pairwave writes no consensus of a cluster"),
    ("cluster in.fa --profile p.txt", "tip: pairwave writes no profile of a cluster"),
    ("cluster in.fa --min-seq-id 0.97", "tip: use --min-identity FRACTION"),
    ("cluster -i in.fa", "tip: name the file without an option"),
    (
        "cluster in.fa -c 0.97",
        "tip: for -c of CD-HIT use --min-identity FRACTION; for -c of MMseqs2 use --cov FRACTION",
    ),
    ("cluster in.fa -aL 0.8", "tip: use --cov FRACTION --cov-mode both"),
    ("cluster in.fa -n 5", "tip: every pair is compared, without words: remove it"),
    ("cluster in.fa -e 0.001", "tip: E-values are not computed: remove it"),
    ("derep in.fa --minuniquesize 2", "tip: use 'pairwave derep READS -o FILE --min-size N'"),
    ("derep in.fa --fastaout out.fa", "tip: use --output FILE"),
    ("derep in.fa --relabel OTU", "tip: sequences keep the names of reads"),
    ("derep in.fa --topn 10", "tip: select sequences by their abundance with --min-size N"),
    ("derep in.fa --memory 8G", "tip: use --buffer SIZE"),
    ("derep in.fa --sizeout", "tip: cluster and derep always read and write the abundances"),
];

#[test]
fn options_of_other_clustering_programs_lead_to_an_option_of_cluster() {
    let mut wrong = Vec::new();
    for (line, expected) in OF_CLUSTERS {
        let message = message(line);
        if !message.contains(expected) || message.contains('\n') {
            wrong.push(format!("{line}\n    {message}\n    expected: {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
