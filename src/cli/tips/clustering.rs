//! Commands and options of programs that cluster, dereplicate and search amplicons: vsearch,
//! usearch, CD-HIT and MMseqs2.

use super::tables::AdviceEntry;

/// Commands that compare the sequences of one file with each other.
const OF_ONE_FILE: &[&str] = &["allpairs", "cluster"];
/// Commands that read reads with abundances.
const OF_READS: &[&str] = &["cluster", "derep"];

/// Commands of vsearch and usearch, which look like options there. The advice applies inside every
/// command, and without one.
pub(in crate::cli) const ACTIONS: &[AdviceEntry] = &[
    (
        &["cluster-fast", "cluster-size", "cluster-smallmem", "cluster-otus"],
        "use 'pairwave cluster SEQS --min-identity FRACTION'",
        &[],
    ),
    (&["cluster-unoise", "unoise3"], "pairwave removes no sequencing errors: use vsearch or DADA2", &[]),
    (
        &["derep-fulllength", "derep-smallmem", "fastx-uniques", "fastx-uniques-persample"],
        "use 'pairwave derep READS -o FILE'",
        &[],
    ),
    (
        &["derep-id", "derep-prefix", "rereplicate"],
        "not supported, because derep joins equal sequences of any name: use vsearch",
        &[],
    ),
    (
        &["allpairs-global"],
        "use 'pairwave allpairs SEQS --min-identity FRACTION'; without this limit, it writes all pairs",
        &[],
    ),
    (
        &["usearch-global"],
        "use 'pairwave allpairs A B --min-identity FRACTION --max-hits 1', or 'pairwave search A B --mode global' \
         for a database",
        &[],
    ),
    (&["search-exact"], "use 'pairwave edit A B --max-distance 0 --ambiguity literal'", &[]),
    (&["usearch-local", "ublast"], "use 'pairwave search QUERIES DB'", &[]),
    (&["makeudb-usearch"], "use 'pairwave makedb SEQS -o NAME.pwdb'", &[]),
    (&["udbinfo", "udbstats"], "use 'pairwave dbinfo DB'", &[]),
    (&["udb2fasta"], "use 'pairwave dbinfo DB --fasta'", &[]),
    (
        &["sortbysize", "sortbylength"],
        "omit this step: 'pairwave cluster SEQS --min-identity FRACTION' sorts the sequences itself",
        &[],
    ),
    (
        &["uchime-denovo", "uchime2-denovo", "uchime3-denovo", "uchime-ref", "chimeras-denovo"],
        "pairwave detects no chimeras: use vsearch",
        &[],
    ),
    (&["sintax"], "pairwave assigns no taxonomy: use vsearch", &[]),
    (
        &[
            "fastq-mergepairs",
            "fastq-filter",
            "fastx-filter",
            "fastq-join",
            "fastq-chars",
            "fastq-convert",
            "fastq-stats",
            "fastq-eestats",
            "fastq-eestats2",
            "fastx-mask",
            "fastx-revcomp",
            "fastx-subsample",
            "fastx-syncpairs",
            "fastx-getseq",
            "fastx-getseqs",
            "fastx-getsubseq",
        ],
        "pairwave merges, filters and edits no reads: use vsearch, fastp or seqkit",
        &[],
    ),
    (&["shuffle", "orient", "cut"], "not supported: use vsearch", &[]),
    (&["maskfasta"], "pairwave masks nothing: use vsearch or dustmasker", &[]),
];

/// Options of these programs.
pub(in crate::cli) const OPTIONS: &[AdviceEntry] = &[
    (&["uc"], "use 'pairwave cluster SEQS --min-identity FRACTION --uc FILE'", &[]),
    (&["centroids"], "use 'pairwave cluster SEQS --min-identity FRACTION --centroids FILE'", &[]),
    (&["clusters"], "use 'pairwave cluster SEQS --min-identity FRACTION --clusters DIR'", &[]),
    (&["otutabout"], "use 'pairwave cluster SEQS --min-identity FRACTION --otu-table FILE'", &[]),
    (&["biomout"], "use 'pairwave cluster SEQS --min-identity FRACTION --biom FILE'", &[]),
    (&["mothur-shared-out"], "use 'pairwave cluster SEQS --min-identity FRACTION --shared FILE'", &[]),
    (
        &["consout", "msaout"],
        "pairwave writes no consensus of a cluster: use 'pairwave msa SEQS' for each cluster",
        &[],
    ),
    (
        &["profile"],
        "pairwave writes no profile of a cluster: use 'pairwave msa SEQS' for each cluster",
        &["allpairs", "search", "cluster", "derep"],
    ),
    (&["clusterout-id", "clusterout-sort"], "the table of clusters has these values: use --output FILE", &["cluster"]),
    (
        &["sizein", "sizeout", "xsize", "sizeorder"],
        "cluster and derep always read and write the abundances ';size=N' in names: remove it",
        &[],
    ),
    (&["fastaout"], "use --output FILE", &["derep"]),
    (
        &["fastqout", "tabbedout"],
        "derep writes FASTA, and groups of identical reads with --uc FILE: remove it",
        &["derep"],
    ),
    (&["topn", "maxuniquesize"], "select sequences by their abundance with --min-size N", &["derep"]),
    (
        &["relabel", "relabel-keep", "relabel-self", "relabel-md5", "relabel-sha1"],
        "sequences keep the names of reads: use 'seqkit rename' or 'seqkit replace'",
        &["derep"],
    ),
    (&["memory", "mem", "max-memory", "memory-limit", "ram", "maxmemory"], "use --buffer SIZE", &["derep"]),
    (&["minsize", "minuniquesize"], "use 'pairwave derep READS -o FILE --min-size N'", &[]),
    (
        &["minseqlength", "maxseqlength"],
        "no sequence is dropped for its length: remove it, or select sequences with 'seqkit seq'",
        &["allpairs", "search", "cluster", "derep"],
    ),
    (&["id", "min-seq-id", "perc-identity", "min-id", "pident", "identity"], USE_IDENTITY, &["cluster"]),
    (
        &["iddef"],
        "search counts matches / columns without end gaps; 'pairwave allpairs A B --iddef 1' has other definitions",
        &["search"],
    ),
    (&["maxaccepts", "maxrejects"], "every pair is compared, so there is no such limit: remove it", &["cluster"]),
    (
        &["wordlength", "minwordmatches", "word-length", "n"],
        "every pair is compared, without words: remove it",
        OF_ONE_FILE,
    ),
    (&["n"], "every pair is compared, without words: remove it", &["search"]),
    (&["qmask", "dbmask", "hardmask"], "pairwave masks nothing: remove it", OF_READS),
    (&["in", "input", "i", "infile"], "name the file without an option", OF_READS),
    (&["in", "input", "i"], "name the queries without an option, before the database", &["search"]),
    (&["usersort"], "the sequences are always sorted: remove it", &["cluster"]),
    (&["c"], "for -c of CD-HIT use --min-identity FRACTION; for -c of MMseqs2 use --query-cover FRACTION", &["search"]),
    (&["c"], "for -c of CD-HIT use --min-identity FRACTION; for -c of MMseqs2 use --min-cov FRACTION", &["allpairs"]),
    (&["c"], "for -c of CD-HIT use --min-identity FRACTION; for -c of MMseqs2 use --cov FRACTION", &["cluster"]),
    (&["cov-mode", "as", "al"], "use --query-cover FRACTION, the fraction of the query", &["search"]),
    (
        &["cov-mode", "as", "al"],
        "use --query-cov FRACTION, --target-cov FRACTION or --min-cov FRACTION for both",
        &["allpairs"],
    ),
    (&["as"], "use --cov FRACTION --cov-mode shorter", &["cluster"]),
    (&["al"], "use --cov FRACTION --cov-mode both", &["cluster"]),
    (&["e"], "E-values are not computed: use --min-score to select by score", &["allpairs"]),
    (&["e", "evalue", "e-value"], "E-values are not computed: remove it", &["cluster"]),
];

const USE_IDENTITY: &str = "use --min-identity FRACTION";

#[cfg(test)]
mod tests {
    use super::super::option_advice;
    use super::*;

    #[test]
    fn commands_of_vsearch_have_an_answer_everywhere() {
        let names = ACTIONS.iter().flat_map(|(names, ..)| *names);
        for name in names {
            let option = format!("--{}", name.replace('-', "_"));
            for command in [None, Some("allpairs"), Some("search"), Some("cluster"), Some("msa")] {
                assert!(option_advice(command, &option, |_| false).is_some(), "{option} of {command:?}");
            }
        }
    }

    #[test]
    fn coverage_is_explained_by_every_command_that_selects_pairs() {
        for command in ["allpairs", "search", "cluster"] {
            for option in ["-aL", "-aS", "-c"] {
                assert!(option_advice(Some(command), option, |_| true).is_some(), "{option} of {command}");
            }
        }
        for command in ["allpairs", "search"] {
            assert!(option_advice(Some(command), "--cov-mode", |_| true).is_some(), "{command}");
        }
    }
}
