//! `pairwave msa --add`, `--profile` and `--mask`: kept alignments, confidence, and rejected input.

use super::*;

/// Returns names and rows of aligned FASTA.
fn rows(text: &str) -> Vec<(String, String)> {
    let records = text.split('>').skip(1).map(|record| record.split_once('\n').expect("a header"));
    records.map(|(name, letters)| (name.to_owned(), letters.replace('\n', ""))).collect()
}

fn fasta<'a>(rows: impl IntoIterator<Item = &'a (String, String)>) -> String {
    rows.into_iter().map(|(name, row)| format!(">{name}\n{row}\n")).collect()
}

fn without_gaps(rows: &[(String, String)]) -> Vec<(String, String)> {
    rows.iter().map(|(name, row)| (name.clone(), row.replace('-', ""))).collect()
}

/// Returns the standard output, which is equal for one thread and for two.
fn run(arguments: &[&str]) -> String {
    let [first, second] = ["1", "2"].map(|threads| {
        let run = pairwave(arguments).args(["--quiet", "--threads", threads]).assert().success();
        String::from_utf8(run.get_output().stdout.clone()).expect("text")
    });
    assert!(first == second, "{arguments:?}");
    first
}

/// Returns the exit code and standard error of a command.
fn refused(arguments: &[&str]) -> String {
    let run = pairwave(arguments).output().expect("it runs");
    assert!(run.stdout.is_empty(), "{arguments:?}");
    format!("{}: {}", run.status.code().expect("a code"), String::from_utf8(run.stderr).expect("text"))
}

/// The first 16 rows of an alignment without empty columns, and the other 8 sequences.
fn parts() -> [Vec<(String, String)>; 2] {
    let all = rows(&std::fs::read_to_string("assets/msa/sim_protein24.true.fasta").expect("it is there"));
    let (base, new) = all.split_at(16);
    let is_filled = |column: &usize| base.iter().any(|(_, row)| row.as_bytes()[*column] != b'-');
    let columns: Vec<usize> = (0..base[0].1.len()).filter(is_filled).collect();
    let row = |row: &str| columns.iter().map(|&column| char::from(row.as_bytes()[column])).collect();
    [base.iter().map(|(name, text)| (name.clone(), row(text))).collect(), without_gaps(new)]
}

/// Removes the columns in which only added rows have residues.
fn restored(all: &[(String, String)], count: usize) -> Vec<(String, String)> {
    let base = &all[..count];
    let is_filled = |column: usize| base.iter().any(|(_, row)| row.as_bytes()[column] != b'-');
    let kept =
        |row: &str| row.char_indices().filter(|&(column, _)| is_filled(column)).map(|(_, letter)| letter).collect();
    base.iter().map(|(name, row)| (name.clone(), kept(row))).collect()
}

#[test]
fn added_sequences_keep_the_alignment_in_any_order() {
    let folder = folder();
    let [base, mut new] = parts();
    let aligned = file(&folder, "aligned.fa", fasta(&base));
    let added = file(&folder, "new.fa", fasta(&new));
    let both = rows(&run(&["msa", "--add", &added, "--to", &aligned]));
    assert_eq!(restored(&both, 16), base);
    assert_eq!(without_gaps(&both[16..]), new);
    new.reverse();
    let turned = file(&folder, "turned.fa", fasta(&new));
    let mut actual = rows(&run(&["msa", "--add", &turned, "--to", &aligned]));
    actual[16..].reverse();
    assert_eq!(actual, both);
    // Without insertions, the alignment keeps its length.
    let keeping = ["msa", "--add", &added, "--to", &aligned, "--keep-length"];
    let kept = rows(&run(&keeping));
    assert_eq!(&kept[..16], &base[..]);
    assert!(kept.iter().all(|(_, row)| row.len() == base[0].1.len()));
    let residues = |rows: &[(String, String)]| without_gaps(rows).iter().map(|(_, row)| row.len()).sum::<usize>();
    let lost = residues(&both) - residues(&kept);
    let messages = pairwave(&keeping).assert().success().get_output().stderr.clone();
    let messages = String::from_utf8(messages).expect("text");
    assert_eq!(lost > 0, messages.contains("are dropped"), "{messages}");
    assert!(lost == 0 || messages.contains(&format!("{lost} in total")), "{messages}");
}

#[test]
fn a_sequence_of_the_alignment_gets_its_row_again() {
    let folder = folder();
    let [base, _] = parts();
    let aligned = file(&folder, "aligned.fa", fasta(&base));
    let copies: Vec<(String, String)> =
        without_gaps(&base).into_iter().map(|(name, row)| (format!("{name}_copy"), row.to_lowercase())).collect();
    let added = file(&folder, "copies.fa", fasta(&copies));
    let both = rows(&run(&["msa", "--add", &added, "--to", &aligned]));
    for ((_, row), (_, copy)) in base.iter().zip(&both[16..]) {
        assert_eq!(*copy, row.to_lowercase());
    }
}

#[test]
fn two_alignments_keep_their_rows() {
    let folder = folder();
    let [base, _] = parts();
    let [first, second] = [&base[..9], &base[9..]];
    let [one, two] = [("one.fa", first), ("two.fa", second)].map(|(name, rows)| file(&folder, name, fasta(rows)));
    let mut both = rows(&run(&["msa", "--profile", &one, &two]));
    let expected = |rows: &[(String, String)]| restored(rows, rows.len());
    assert_eq!(restored(&both, 9), expected(first));
    both.rotate_left(9);
    assert_eq!(restored(&both, 7), expected(second));
}

#[test]
fn confidence_masks_columns_on_every_device() {
    needs_adapter();
    let input = "assets/msa/adenylate_kinases.fasta";
    for mode in ["accurate", "clustalw"] {
        let written = |more: &[&str]| {
            let outputs = TWO_WAYS.iter().map(|(device, threads)| {
                let command = ["msa", input, "-q", "--mode", mode, "--device", device, "--threads", threads];
                let run = pairwave(&[&command[..], more].concat()).assert().success();
                String::from_utf8(run.get_output().stdout.clone()).expect("text")
            });
            let all: Vec<String> = outputs.collect();
            assert!(all[0] == all[1], "{mode} {more:?}");
            all[0].clone()
        };
        let whole = written(&["--format", "stockholm", "--mask", "0"]);
        let masked = written(&["--format", "stockholm", "--mask", "0.75"]);
        let signs = |text: &str| -> String {
            text.lines().find_map(|line| line.strip_prefix("#=GC PP_cons")).expect("a line").trim().to_owned()
        };
        let high: String = signs(&whole).chars().filter(|sign| "89*".contains(*sign)).collect();
        assert!(high.len() < signs(&whole).len() && !high.is_empty(), "{whole}");
        assert_eq!(signs(&masked), high);
        assert_eq!(masked.matches("#=GR ").count(), whole.matches("#=GR ").count());
        let few = rows(&written(&["--mask", "0.75"]));
        assert!(few.iter().all(|(_, row)| row.len() == high.len()));
        assert_eq!(written(&["--format", "stockholm"]).contains("#=GR"), mode == "accurate");
    }
}

#[test]
fn wrong_additions_are_refused_in_one_line() {
    let folder = folder();
    let aligned = file(&folder, "aligned.fa", ">a\nMKV-LW\n>b\nMKVTLW\n");
    let ragged = file(&folder, "ragged.fa", ">a\nMKV-LW\n>b\nMKVTL\n");
    let new = file(&folder, "new.fa", ">c\nMKVLLW\n");
    let twice = file(&folder, "twice.fa", ">c\nMKVLLW\n>c\nMKVW\n");
    let known = file(&folder, "known.fa", ">b\nMKVLLW\n");
    let genes = file(&folder, "genes.fa", ">g\nACGTTGCATTAGGCATCG\n");
    let empty = file(&folder, "empty.fa", "");
    let add = |path: &str, to: &str, more: &[&str]| {
        let text = refused(&[&["msa", "--add", path, "--to", to], more].concat());
        // Reading warns of repeated names before they are refused.
        assert_eq!(text.lines().filter(|line| !line.contains("warning: ")).count(), 1, "{text}");
        text.replace(&format!("{}/", folder.path().display()), "")
    };
    let has = |text: String, parts: &[&str]| {
        assert!(text.starts_with("2: ") && parts.iter().all(|part| text.contains(part)), "{text}");
    };
    has(add(&new, &ragged, &[]), &["ragged.fa", "'b'", "5 columns"]);
    has(add(&twice, &aligned, &[]), &["twice.fa", "'c'", "of this name already"]);
    has(add(&known, &aligned, &[]), &["known.fa", "'b'", "aligned.fa has a row of this name already"]);
    has(add(&genes, &aligned, &[]), &["genes.fa", "aligned.fa"]);
    has(add(&empty, &aligned, &[]), &["empty.fa"]);
    has(add(&new, &aligned, &["--order", "tree"]), &["--order tree has no effect with --add"]);
    has(add(&new, &aligned, &["--device", "cpu"]), &["--device has no effect with --add"]);
    has(add(&new, &aligned, &["--mask", "50"]), &["--mask 50: must be from 0 to 1; did you mean 0.5?"]);
    let masked = refused(&["msa", &twice, "--mask", "1.5"]);
    assert!(masked.contains("--mask 1.5: must be from 0 to 1"), "{masked}");
    assert!(refused(&["msa", "--add", &new]).contains("--to"));
    assert!(refused(&["msa", &new, "--keep-length"]).contains("--add"));
    let planned = refused(&["plan", "msa", "--add", &new, "--to", &aligned, "-o", &path(&folder, "blocks")]);
    assert!(planned.contains("only the distances of all pairs can be split into blocks"), "{planned}");
}
