//! Fields by the names of vsearch and BLAST, with their values.

use insta::assert_snapshot;

use super::*;

/// Writes one value per line, so that a snapshot can be read.
fn upright(table: &str) -> String {
    let rows = cells(table);
    let block = |row: &Vec<&str>| -> String {
        rows[0].iter().zip(row).map(|(name, value)| format!("{name:8} {value}\n")).collect()
    };
    rows[1..].iter().map(block).collect::<Vec<_>>().join("\n")
}

/// Every userfield equals the value that vsearch printed.
#[test]
fn userfields_are_those_of_vsearch() {
    let recorded = include_str!("vsearch_fields.tsv");
    let (comment, theirs) = recorded.split_once('\n').expect("a comment and lines");
    let list = comment.rsplit(' ').next().expect("the last word");
    let ours = allpairs(&[WINDOWS, "--scheme", "vsearch", "--check", "--fields", list]);
    let ours = cells(&ours);
    assert_eq!(ours[0].join("+"), list, "the names that were typed");
    let theirs = cells(theirs);
    assert_eq!((ours.len(), theirs.len()), (1 + 15, 15));
    for row in &ours[1..] {
        let same = theirs.iter().find(|other| other[..2] == row[..2]).expect("vsearch has this pair");
        for (at, name) in ours[0].iter().enumerate() {
            assert_eq!(row[at], same[at], "{name} of {} and {}", row[0], row[1]);
        }
    }
}

const BLAST: &str = "std qacc sacc sallseqid sallacc qlen slen qseq sseq score nident positive ppos qcovs qcovhsp qcovus btop \
                     sstrand";

/// The columns of BLAST, for nucleotides and proteins. `std` stands for the columns of the format
/// blast6.
#[test]
fn fields_of_blast_equal_the_columns_of_blast6() {
    let few = ["--scheme", "vsearch", "--min-identity", "0.8"];
    let table = allpairs(&[&[WINDOWS, "--fields", BLAST], &few[..]].concat());
    let columns = allpairs_each(&TWO_WAYS[..1], &[&[WINDOWS, "--format", "blast6"], &few[..]].concat());
    let twelve: Vec<String> = cells(&table)[1..].iter().map(|row| row[..12].join("\t")).collect();
    assert_eq!(twelve, columns.lines().collect::<Vec<_>>());
    let json = ["--format", "jsonl", "--fields", "qseqid,pident,qcovs,btop,sstrand,evalue,qframe,caln"];
    let json = allpairs_each(&TWO_WAYS[..1], &[&[WINDOWS], &json[..], &few[..]].concat());
    let proteins = allpairs(&["tests/cli/proteins.fa", "--min-identity", "0.3", "--fields", BLAST]);
    assert_snapshot!(upright(&table) + "\n" + &json + "\n" + &upright(&proteins));
}

/// The fields of a pattern in a text, which counts all columns, and of a long pair on either
/// strand.
#[test]
fn fields_of_edit_and_long() {
    let folder = folder();
    let text = "GTTTACCGATTACAGATTTCCAGGCTAACGTTGCAAACTGACCTAG";
    let pattern = file(&folder, "pattern.fa", ">p\nACGATACAGATGTCCAGG\n");
    let texts = file(&folder, "text.fa", format!(">t\n{text}\n"));
    let list = "query,id,pident,ids,mism,opens,exts,gaps,alnlen,pairs,qcov,tcov,qlo,qhi,qilo,qihi,qstart,qend,tlo,thi,tilo,\
                tihi,ql,qs,tl,ts,aln,caln,qrow,trow,qseq,sseq,btop,qcovhsp,sstrand";
    let infix = ["--mode", "infix", "--max-distance", "4", "--align", "--fields", list];
    let edit = equal_output("edit", TWO_WAYS, &[&[&*pattern, &*texts], &infix[..]].concat());
    let complement: String = "AGGACTTGCATTTGCAACGTTAGCCTGGAACTGTAATCGGTAAAC".into();
    let reverse = file(&folder, "reverse.fa", format!(">r\n{complement}\n"));
    let list = "query,strand,id,id1,id2,pident,positive,ppos,qlo,qhi,qilo,qihi,tlo,thi,tilo,tihi,caln,qrow,trow,btop,qstrand,\
                tstrand,sstrand,qcov,qcovs,evalue,bitscore";
    let long = equal_output("long", TWO_WAYS, &[&reverse, &texts, "--strand", "both", "--fields", list]);
    assert_snapshot!(upright(&edit) + "\n" + &upright(&long));
}

#[test]
fn help_lists_them_by_program() {
    for (command, ours, theirs) in
        [("allpairs", "identity ", "id3"), ("edit", "distance ", "qilo"), ("long", "strand ", "id4")]
    {
        let help = pairwave(&[command, "--fields", "help"]).assert().success().stderr("");
        let text = String::from_utf8(help.get_output().stdout.clone()).expect("text");
        let (own_group, others) = text.split_once("\nAs vsearch has them").expect("a group of vsearch's");
        let (vsearch, blast) = others.split_once("\nAs BLAST has them").expect("a group of BLAST's");
        for (group, name) in [(own_group, ours), (vsearch, theirs), (vsearch, "caln"), (blast, "btop")] {
            assert!(group.contains(&format!("\n{name} ")), "{command} {name}: {text}");
        }
        assert!(!text.contains('`'), "{text}");
    }
}

/// Names in Latin 1 are written unchanged in every format that allows them.
#[test]
fn names_that_are_not_utf_8() {
    let folder = folder();
    let (first, second) = (&b"caf\xe9"[..], &b"caf\xe8"[..]);
    let fasta = [b">", first, b" title\nACGTTGCAACGT\n>", second, b"\nACGTTGGAACGT\n"].concat();
    let genes = file(&folder, "genes.fa", fasta);
    let raw = |command: &str, arguments: &[&str]| {
        let run = pairwave(&[command, "--device", "cpu", "--quiet"]).args(arguments).assert().success();
        run.get_output().stdout.clone()
    };
    let has = |bytes: &[u8], name: &[u8]| bytes.windows(name.len()).any(|window| window == name);
    for format in ["tsv", "blast6", "paf", "phylip", "text"] {
        let bytes = raw("allpairs", &[&genes, "--format", format]);
        assert!(has(&bytes, first) && has(&bytes, second), "{format}: {}", String::from_utf8_lossy(&bytes));
    }
    let pairs = file(&folder, "pairs.tsv", [second, b"\t", first, b"\n"].concat());
    let table = raw("edit", &[&genes, &genes, "--pairs", &pairs]);
    assert!(table.ends_with(&[second, b"\t", first, b"\t0\t12\t1\n"].concat()), "{}", String::from_utf8_lossy(&table));
    // JSON must be UTF-8, so one warning is printed.
    let run = pairwave(&["allpairs", "--device", "cpu", &genes, "--format", "jsonl"]).assert().success();
    let (json, said) = (&run.get_output().stdout, String::from_utf8_lossy(&run.get_output().stderr).into_owned());
    assert!(String::from_utf8_lossy(json).contains("\"query\":\"caf\u{fffd}\""));
    assert_eq!(said.matches("2 names are not UTF-8").count(), 1, "{said}");
    // Names that differ only in such bytes are different.
    assert!(!said.contains("name of an earlier one"), "{said}");
}
