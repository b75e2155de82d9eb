//! `--strand` of `allpairs` and `edit`: the written strand, its positions, and sequences with one
//! strand only.

use insta::assert_snapshot;

use super::*;

/// A gene, relatives of it on either strand, and ambiguous letters in two of them.
const SEQUENCES: &str = ">forward\nGGATCACAGTCTACACTGCTCACTCCAACCCCGGCCCCTGAGTCCGAGGAGAGGGTGCTTCAGA\n>turned\nGGATCCTCTGAAGCACCCTCTCCTGGACTCAGGGGCCGGGGTTGGTGTGAGCAGTGTAGACTGTGATAC\n>codes\nGGATAACAGTCTACACTGCTRACTCCAACCCCAGGCCCCTNAGTCCGGGAGAGGGTGCTGCAGA\n>turned_codes\nTCTGCAGCACCCTCTCCCGGACTNAGGGGCCTGGGGTTGGAGTYAGCAGTTTGACA\n";
/// A primer of the first gene's plus strand with an N, one of the third gene's minus strand, and
/// one that is in no gene.
const PRIMERS: &str = ">left\nCTACANTGCTCACTCCAACC\n>right\nCCCTCTCCCGGACTNAGGGG\n>none\nTTTTTTTTTTTTTTTTTTTTTT\n";

/// Checks PAF against the sequences: on the minus strand, `cg` describes the reverse complement of
/// the query's span.
fn check_paf(paf: &str, queries: &str, targets: &str) {
    let sequence = |fasta: &str, name: &str| {
        let mut lines = fasta.lines().skip_while(|line| line.strip_prefix('>') != Some(name)).skip(1);
        lines.next().expect("a sequence of that name").to_owned()
    };
    let complement = |letter: char| {
        let letters = "ACGTRYKMBVDHSWN";
        "TGCAYRMKVBHDSWN".chars().nth(letters.find(letter).expect("a letter")).expect("a letter")
    };
    for line in paf.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        let number = |column: usize| columns[column].parse::<usize>().expect("a number");
        let query = &sequence(queries, columns[0])[number(2)..number(3)];
        let query: Vec<char> = match columns[4] {
            "-" => query.chars().rev().map(complement).collect(),
            _ => query.chars().collect(),
        };
        let target: Vec<char> = sequence(targets, columns[5])[number(7)..number(8)].chars().collect();
        let cigar = columns.iter().find_map(|tag| tag.strip_prefix("cg:Z:")).expect("an alignment");
        let (mut i, mut j, mut length) = (0, 0, 0);
        for letter in cigar.chars() {
            let Some(digit) = letter.to_digit(10) else {
                for _ in 0..length {
                    let are_bases = |letters: [char; 2]| letters.iter().all(|letter| "ACGT".contains(*letter));
                    if letter == '=' && are_bases([query[i], target[j]]) {
                        assert_eq!(query[i], target[j], "{line}");
                    }
                    assert!(letter != 'X' || query[i] != target[j], "{line}");
                    i += usize::from(letter != 'D');
                    j += usize::from(letter != 'I');
                }
                length = 0;
                continue;
            };
            length = 10 * length + digit as usize;
        }
        assert_eq!((i, j), (query.len(), target.len()), "{line}");
    }
}

#[test]
fn the_better_strand_of_genes_is_reported() {
    let folder = folder();
    let genes = file(&folder, "genes.fa", SEQUENCES);
    let written = |arguments: &[&str]| equal_output("allpairs", TWO_WAYS, &[&[&*genes, "--check"], arguments].concat());
    let mut text = String::new();
    for strand in ["plus", "minus", "both"] {
        writeln!(text, "{strand}\n{}", written(&["--strand", strand])).unwrap();
    }
    assert_eq!(written(&["--strand", "plus"]), written(&[]));
    let both = |arguments: &[&str]| written(&[&["--strand", "both"], arguments].concat());
    for arguments in [
        &["--format", "paf"][..],
        &["--format", "blast6", "--end-gaps", "free"],
        &["--format", "jsonl", "--max-hits", "1"],
        &["--format", "phylip", "--distance", "kimura"],
        &["--fields", "query,target,strand,query_row,target_row,query_start,query_end", "--end-gaps", "free"],
        &["--mode", "local", "--min-score", "60"],
        &["--min-identity", "0.9", "--edit-filter", "on"],
        &["--min-identity", "0.9", "--edit-filter", "off"],
    ] {
        writeln!(text, "{}\n{}", arguments.join(" "), both(arguments)).unwrap();
    }
    let scores = equal_output("allpairs", TWO_WAYS, &[&genes, "--strand", "both", "--score-only"]);
    writeln!(text, "--score-only\n{scores}").unwrap();
    let other = equal_output("allpairs", TWO_WAYS, &[&genes, &genes, "--strand", "minus", "--max-hits", "1"]);
    writeln!(text, "one file against itself, minus\n{other}").unwrap();
    assert_snapshot!(text);
    for more in [&["--mode", "local"][..], &["--end-gaps", "free"], &["--end-gaps", "charged"]] {
        check_paf(&both(&[&["--format", "paf"], more].concat()), SEQUENCES, SEQUENCES);
    }
}

#[test]
fn the_nearer_strand_of_primers_is_reported() {
    let folder = folder();
    let (primers, genes) = (file(&folder, "primers.fa", PRIMERS), file(&folder, "genes.fa", SEQUENCES));
    let infix = ["--mode", "infix", "--max-distance", "4"];
    let written = |arguments: &[&str]| {
        equal_output("edit", TWO_WAYS, &[&[&*primers, &*genes], &infix[..], &["--check"], arguments].concat())
    };
    let mut text = String::new();
    for strand in ["plus", "minus", "both"] {
        writeln!(text, "{strand}\n{}", written(&["--strand", strand])).unwrap();
    }
    assert_eq!(written(&["--strand", "plus"]), written(&[]));
    let both = |arguments: &[&str]| written(&[&["--strand", "both"], arguments].concat());
    for arguments in [
        &["--align"][..],
        &["--format", "paf"],
        &["--format", "jsonl", "--all-ends", "--max-hits", "1"],
        &["--fields", "query,target,strand,query_row,target_row,target_start,target_end"],
    ] {
        writeln!(text, "{}\n{}", arguments.join(" "), both(arguments)).unwrap();
    }
    let pairs = file(&folder, "pairs.tsv", "right\tforward\t20\t64\nleft\tturned\nright\tcodes\t0\t60\n");
    writeln!(text, "--pairs\n{}", both(&["--pairs", &pairs, "--align"])).unwrap();
    let one = equal_output("edit", TWO_WAYS, &[&genes, "--strand", "both"]);
    writeln!(text, "one file\n{one}").unwrap();
    assert_snapshot!(text);
    check_paf(&both(&["--format", "paf"]), PRIMERS, SEQUENCES);
}

/// The distance of a to the minus strand of b equals the distance of b to the minus strand of a.
#[test]
fn strand_distances_are_symmetric() {
    let folder = folder();
    let genes = file(&folder, "genes.fa", SEQUENCES);
    let distances = |command: &[&str]| -> Vec<Vec<String>> {
        let text = equal_output("edit", &[("cpu", "1")], &[command, &["--strand", "minus"]].concat());
        text.lines().skip(1).map(|line| line.split('\t').map(str::to_owned).collect()).collect()
    };
    let (triangle, square) = (distances(&[&genes]), distances(&[&genes, &genes]));
    assert_eq!((triangle.len(), square.len()), (6, 16));
    for row in &triangle {
        let is_turned = |other: &&Vec<String>| other[0] == row[1] && other[1] == row[0];
        assert_eq!(square.iter().find(is_turned).expect("a row")[3], row[3], "{row:?}");
        assert!(square.contains(row));
    }
}

#[test]
fn sequences_with_one_strand_are_rejected() {
    let folder = folder();
    file(&folder, "p.fa", ">p\nMKTAYIAKQRQISFVKSHFSRQ\n>q\nMKTAYIAKQR\n");
    let refused = |command: &str, arguments: &str| wrong::refused_by(command, &folder, arguments);
    let text = [
        refused("allpairs", "@p.fa --strand both"),
        refused("allpairs", "@p.fa --alphabet protein --strand minus"),
        refused("edit", "@p.fa --strand both"),
        refused("edit", "@p.fa --alphabet bytes --strand minus"),
        refused("edit", "@p.fa --strand up"),
    ];
    assert_snapshot!(text.concat());
    // Proteins have only a plus strand.
    let plus = |command: &str, strand: &[&str]| {
        equal_output(command, TWO_WAYS, &[&[&*path(&folder, "p.fa")], strand].concat())
    };
    for command in ["allpairs", "edit"] {
        assert_eq!(plus(command, &["--strand", "plus"]), plus(command, &[]));
    }
}

/// Every format shows the aligned strand of the query, with the positions in the file.
#[test]
fn every_format_marks_the_minus_strand() {
    let folder = folder();
    let genes = file(&folder, "genes.fa", SEQUENCES);
    let fields = "query,target,strand,qstrand,sstrand,qstart,qend,sstart,send,qilo,qihi,caln,btop,qrow,trow,ppos,qseq";
    let mut text = String::new();
    for format in [&["--fields", fields][..], &["--format", "text"]] {
        let arguments = [&[&*genes, "--strand", "both"], format].concat();
        writeln!(text, "{}", equal_output("allpairs", TWO_WAYS, &arguments)).unwrap();
    }
    // The header contains the command line.
    let sam = equal_output("allpairs", &TWO_WAYS[..1], &[&genes, "--strand", "both", "--format", "sam"]);
    sam.lines().filter(|line| !line.starts_with("@PG")).for_each(|line| writeln!(text, "{line}").unwrap());
    assert_snapshot!(text);
}

/// On the minus strand, BLAST's target starts where pairwave's target ends, in every job.
#[test]
fn targets_by_the_names_of_blast() {
    let folder = folder();
    let (genes, primers) = (file(&folder, "genes.fa", SEQUENCES), file(&folder, "primers.fa", PRIMERS));
    let fields = ["--fields", "strand,sstart,send,target_start,target_end"];
    let mut turned = 0;
    for (job, arguments) in [
        ("allpairs", &[&*genes, "--strand", "both"][..]),
        ("edit", &[&primers, &genes, "--strand", "both", "--mode", "infix", "--max-distance", "3", "--align"]),
    ] {
        let table = equal_output(job, &TWO_WAYS[..1], &[arguments, &fields].concat());
        for row in cells(&table).into_iter().skip(1) {
            let ours = if row[0] == "-" { [row[4], row[3]] } else { [row[3], row[4]] };
            assert_eq!(row[1..3], ours, "{table}");
            turned += usize::from(row[0] == "-");
        }
    }
    assert!(turned > 3, "{turned}");
    let ends = ["--strand", "minus", "--mode", "infix", "--max-distance", "3", "--fields", "strand,send,target_end"];
    let table = equal_output("edit", &TWO_WAYS[..1], &[&[&*primers, &genes][..], &ends].concat());
    assert!(cells(&table).len() > 1 && cells(&table).iter().skip(1).all(|row| row[1] == row[2]), "{table}");
}
