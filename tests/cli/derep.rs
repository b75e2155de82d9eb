//! Dereplication of reads.

use super::*;

const READS: &str = ">S1.1\nACGTACGTAA\n>S1.2;size=2\nacguacguaa\n>S2.1\nTTACGTACGT\n>S2.2;size=9;\nGGTTTTTTTT\n\
                     >S2.3;sample=Z\nACGTACGTAA\n>S1.3\nGGGGGGGGGC\n";

/// Runs `pairwave derep` with one thread and with three. Returns its output, equal for both.
fn derep(arguments: &[&str]) -> String {
    let [one, three] = ["1", "3"].map(|threads| {
        let run = pairwave(&["derep", "--quiet", "--threads", threads]).args(arguments).assert().success().stderr("");
        String::from_utf8(run.get_output().stdout.clone()).expect("the output is text")
    });
    assert_eq!(one, three, "{arguments:?}");
    one
}

#[test]
fn different_sequences_are_written_once_with_their_abundance() {
    let folder = folder();
    let reads = file(&folder, "r.fa", READS);
    let all =
        ">S2.2;size=9\nGGTTTTTTTT\n>S1.2;size=4\nACGUACGUAA\n>S1.3;size=1\nGGGGGGGGGC\n>S2.1;size=1\nTTACGTACGT\n";
    assert_eq!(derep(&[&reads]), all);
    let both = ">S2.2;size=9\nGGTTTTTTTT\n>S1.2;size=5\nACGUACGUAA\n>S1.3;size=1\nGGGGGGGGGC\n";
    assert_eq!(derep(&[&reads, "--strand", "both"]), both);
    assert_eq!(derep(&[&reads, "--min-size", "2"]), &all[..all.find(">S1.3").unwrap()]);
    let samples = ">S2.2;sample=S2;size=9\nGGTTTTTTTT\n>S1.2;sample=S1;size=3\nACGUACGUAA\n\
                   >S2.3;sample=Z;size=1\nACGTACGTAA\n>S1.3;sample=S1;size=1\nGGGGGGGGGC\n\
                   >S2.1;sample=S2;size=1\nTTACGTACGT\n";
    assert_eq!(derep(&[&reads, "--by-sample"]), samples);
    let proteins = file(&folder, "p.fa", ">a\nMKVE\n>b\nmkve\n");
    assert_eq!(derep(&[&proteins, "--alphabet", "protein"]), ">a;size=2\nMKVE\n");
}

#[test]
fn files_formats_and_limits_make_no_difference() {
    let folder = folder();
    let record = |index: usize| {
        let length = 40 + index % 61;
        let letters: String = (0..length).map(|place| ['A', 'C', 'G', 'T'][place * index % 4]).collect();
        (format!("r{index};size={}", 1 + index % 3), letters)
    };
    let records: Vec<(String, String)> = (0..9_000).map(record).collect();
    let fasta = |records: &[(String, String)]| -> String {
        records.iter().map(|(name, letters)| format!(">{name}\n{letters}\n")).collect()
    };
    let fastq: String = records[4_000..]
        .iter()
        .map(|(name, letters)| format!("@{name}\n{letters}\n+\n{}\n", "#".repeat(letters.len())))
        .collect();
    let whole = file(&folder, "all.fa", fasta(&records));
    let (first, second) = (file(&folder, "a.gz", gzipped(fasta(&records[..4_000]))), file(&folder, "b.fq", fastq));
    let expected = derep(&[&whole]);
    assert!(expected.lines().filter(|line| line.starts_with('>')).count() > 100);
    assert_eq!(derep(&[&second, &first, "--buffer", "16M"]), expected);
    let streamed = pairwave(&["derep", "-", "-q"]).write_stdin(fasta(&records)).assert().success();
    assert_eq!(String::from_utf8_lossy(&streamed.get_output().stdout), expected);
}

#[test]
fn groups_of_reads_are_written_as_by_vsearch() {
    let folder = folder();
    let (reads, unique) = (file(&folder, "r.fa", READS), path(&folder, "u.fa.gz"));
    let (uc, stats) = (path(&folder, "u.uc"), path(&folder, "u.json"));
    let options = ["--strand", "both", "--min-size", "2", "--uc", &uc, "--stats", &stats];
    let run = pairwave(&["derep", &reads, "-o", &unique]).args(options).assert().success().stdout("");
    let said = String::from_utf8_lossy(&run.get_output().stderr);
    assert!(said.starts_with("pairwave: 6 reads, 3 different sequences, abundance 15 in "), "{said}");
    assert!(said.ends_with(" reads/s; 2 written\n"), "{said}");
    let expected = "\
S\t0\t10\t*\t*\t*\t*\t*\tS2.2;size=9;\t*
S\t1\t10\t*\t*\t*\t*\t*\tS1.2;size=2\t*
H\t1\t10\t100.0\t+\t0\t0\t*\tS1.1\tS1.2;size=2
H\t1\t10\t100.0\t-\t0\t0\t*\tS2.1\tS1.2;size=2
H\t1\t10\t100.0\t+\t0\t0\t*\tS2.3;sample=Z\tS1.2;size=2
S\t2\t10\t*\t*\t*\t*\t*\tS1.3\t*
C\t0\t9\t*\t*\t*\t*\t*\tS2.2;size=9;\t*
C\t1\t5\t*\t*\t*\t*\t*\tS1.2;size=2\t*
C\t2\t1\t*\t*\t*\t*\t*\tS1.3\t*
";
    assert_eq!(std::fs::read_to_string(&uc).unwrap(), expected);
    let stats = std::fs::read_to_string(&stats).unwrap();
    for count in ["\"reads\": 6", "\"sequences\": 3", "\"abundance\": 15", "\"written\": 2", "\"temporary_bytes\": 0"] {
        assert!(stats.contains(count), "{stats}");
    }
    assert_eq!(entries(folder.path()), ["r.fa", "u.fa.gz", "u.json", "u.uc"]);
}

#[test]
fn wrong_reads_and_options_are_refused_and_leave_no_file() {
    let folder = folder();
    let reads = file(&folder, "r.fa", READS);
    let size = file(&folder, "size.fa", ">a\nACGT\n>b;size=x\nACGT\n");
    let (empty, letter) = (file(&folder, "empty.fa", ""), file(&folder, "letter.fq", "@a\nACG7\n+\n####\n"));
    let (never, uc) = (path(&folder, "never.fa"), path(&folder, "never.uc"));
    let missing = path(&folder, "none/never.fa");
    for (arguments, expected) in [
        (&[&*size, "-o", &never][..], "size.fa, line 3, record 'b;size=x': the abundance after ';size=' must be"),
        (&[&empty, "-o", &never, "--uc", &uc], "empty.fa: the file is empty"),
        (&[&reads, &letter, "-o", &never, "--uc", &uc], "letter.fq, line 2, column 4, record 'a': '7' "),
        (&[&reads, "-o", &missing], "never.fa: no directory "),
        (&[&reads, "-o", &never, "--uc", &missing], "none/never.fa: .fa stands for FASTA"),
        (&[&reads, "-o", &reads], "would overwrite an input file"),
        (&[&reads, "-o", &never, "--uc", &never], "name a file that no other option writes"),
        (&["-", "-", "-o", &never], "standard input can be read only once"),
        (&[&reads, "-o", &never, "--strand", "both", "--alphabet", "protein"], "proteins have only one strand"),
        (&[&reads, "-o", &never, "--min-size", "0"], "--min-size 0: must be at least 1"),
        (&[&reads, "-o", &never, "--buffer", "1M"], "--buffer 1M: must be at least 16M"),
    ] {
        let run = pairwave(&["derep"]).args(arguments).assert().code(2).stdout("");
        let said = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        assert!(said.starts_with("pairwave: error: ") && said.lines().count() == 1, "{said}");
        assert!(said.contains(expected), "{arguments:?}\n{said}");
    }
    assert_eq!(entries(folder.path()), ["empty.fa", "letter.fq", "r.fa", "size.fa"]);
}
