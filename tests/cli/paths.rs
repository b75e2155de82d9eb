//! File names that are not UTF-8, which Linux allows: every command accepts them for each file and
//! directory.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use bstr::ByteSlice;

use super::*;

const TINY: &str = "assets/papara/tiny";

/// A byte that is not UTF-8.
const BYTE: u8 = 0xE9;
const SHOWN: &str = "\u{fffd}";

/// Jobs in order, because later ones read the output of earlier ones. `@` stands before the names
/// of files and directories.
const JOBS: [&str; 28] = [
    "allpairs @genes.fa --matrix @scores.txt -o @pairs.tsv.gz --stats @pairs.stats --device cpu",
    "allpairs @genes.fa @genes.fa --matrix=@scores.txt --format sam -o@pairs.sam --device cpu",
    "pairs @genes.fa @genes.fa -o @step.tsv --device cpu",
    "pairs @genes.fa @genes.fa --format sam -o @step.sam --device cpu",
    "pairs @genes.fa --pairs @list.tsv -o @listed.tsv --device cpu",
    "derep @genes.fa -o @unique.fa.gz --uc @unique.uc --stats @unique.stats",
    "makedb @genes.fa @genes.fa -o @genes.pwdb",
    "dbinfo @genes.pwdb --fasta -o @back.fa",
    "search @genes.fa @genes.fa --outfmt 7 -o @hits.blast7 --report @hits.html --device cpu",
    "search --query @genes.fa --db @genes.pwdb -o @hits.tsv --device cpu",
    "search @genes.fa @genes.pwdb --outfmt 0 -o @hits.txt --device cpu",
    "edit @genes.fa @genes.fa --pairs @list.tsv --align -o @edits.tsv --device cpu",
    "tree @genes.fa --pair-matrix @scores.txt -o @tree.nwk --plot @tree.svg --device cpu",
    "msa @genes.fa --guidetree-in @tree.nwk -o @rows.sto --report @rows.html --device cpu",
    "msa @genes.fa --mode clustalw --matrix @scores.txt --guidetree-out @guide.nwk --distmat-out @guide.phy -o @rows.fa --device cpu",
    "dist @rows.fa --aligned -o @dist.phy --plot @dist.svg",
    "papara -t @ref.nwk -s @ref.fa -q @reads.fa --table @best.tsv --tree-out @edges.nwk -o @placed.phy --device cpu",
    "papara -t @ref.nwk -s @ref.fa -q @reads.fa --checkpoint @reads.work -o @again.fa --device cpu",
    "long @one.fa @two.fa --format paf -o @long.paf --plot @long.svg --checkpoint @long.work --device cpu",
    "long @one.fa @two.fa --format sam --matrix @scores.txt -o @long.sam --device cpu",
    "plan --block-cells 20000 allpairs @genes.fa --matrix @scores.txt --output=@pairs.work",
    "run @pairs.work --next=1 --device cpu --stats @run.stats",
    "run @pairs.work --device cpu",
    "merge @pairs.work -o @merged.tsv",
    "plan --block-cells 20000 search -o @hits.work @genes.fa @genes.pwdb",
    "run @hits.work --device cpu",
    "merge @hits.work -o @hits.again.tsv --report @hits.again.html",
    "plan --dry-run allpairs @genes.fa",
];

/// Writes the inputs of [`JOBS`] under names that have `mark` before their endings.
fn inputs(folder: &Path, mark: &[u8]) {
    let windows = fs::read_to_string(WINDOWS).unwrap();
    let records: Vec<&str> = windows.split_inclusive("\n>").map(|record| record.trim_matches('>')).collect();
    let names: Vec<&str> = records.iter().map(|record| record.split_whitespace().next().unwrap()).collect();
    let list: String = names.windows(2).map(|pair| format!("{}\t{}\n", pair[1], pair[0])).collect();
    let reads = fs::read_to_string(format!("{TINY}/reads.fasta")).unwrap();
    let files = [
        ("genes.fa", windows.clone()),
        ("one.fa", format!(">{}", records[0])),
        ("two.fa", format!(">{}", records[1])),
        ("list.tsv", list),
        ("scores.txt", fs::read_to_string("assets/matrices/EDNAFULL").unwrap()),
        ("ref.nwk", fs::read_to_string(format!("{TINY}/ref.nwk")).unwrap()),
        ("ref.fa", fs::read_to_string(format!("{TINY}/ref.fasta")).unwrap()),
        ("reads.fa", reads.split_inclusive("\n>").take(4).collect::<String>().trim_end_matches('>').to_owned()),
    ];
    for (name, text) in files {
        fs::write(folder.join(marked(name, mark)), text).unwrap();
    }
}

/// Returns a name with `mark` before its first ending.
fn marked(name: &str, mark: &[u8]) -> OsString {
    let (stem, ending) = name.split_once('.').unwrap();
    OsString::from_vec([stem.as_bytes(), mark, b".", ending.as_bytes()].concat())
}

/// Returns a word of a job as an argument: `@` precedes the name of a file.
fn to_argument(word: &str, mark: &[u8]) -> OsString {
    let Some((option, name)) = word.split_once('@') else { return word.into() };
    let mut word = OsString::from(option);
    word.push(marked(name, mark));
    word
}

fn run(folder: &Path, job: &str, mark: &[u8]) -> Command {
    let mut command = pairwave(&["--quiet"]);
    command.current_dir(folder).args(job.split(' ').map(|part| to_argument(part, mark)));
    command
}

/// Runs all jobs in a directory. Returns each file's bytes by its name without `mark`, and the
/// output of the last job. Checks that standard error stays empty.
fn written(folder: &Path, mark: &[u8]) -> BTreeMap<Vec<u8>, Vec<u8>> {
    fs::create_dir(folder).unwrap();
    inputs(folder, mark);
    let mut printed = Vec::new();
    for job in JOBS {
        printed = run(folder, job, mark).assert().success().stderr("").get_output().stdout.clone();
    }
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    // Times differ, and so do the paths in checkpoints and plans.
    let is_same = |name: &OsStr| !name.as_bytes().ends_with(b".work") && !name.as_bytes().ends_with(b".stats");
    let files = entries.filter(|entry| is_same(&entry.file_name()));
    let mut all: BTreeMap<Vec<u8>, Vec<u8>> = files
        .map(|entry| (remove_parts(entry.file_name().as_bytes(), &[mark]), fs::read(entry.path()).unwrap()))
        .collect();
    all.insert(b"printed".to_vec(), printed);
    all
}

/// Returns the bytes without any of these parts.
fn remove_parts(bytes: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    let parts = parts.iter().filter(|part| !part.is_empty());
    parts.fold(bytes.to_vec(), |bytes, part| bytes.replace(part, ""))
}

#[test]
fn names_that_are_not_utf8_work_everywhere() {
    let folder = folder();
    let plain = written(&folder.path().join("plain"), b"");
    let other = written(&folder.path().join(OsStr::from_bytes(&[b'o', BYTE])), &[BYTE]);
    assert!(other.keys().eq(plain.keys()));
    for ((name, plain), other) in plain.iter().zip(other.values()) {
        let name = String::from_utf8_lossy(name);
        assert!(!plain.is_empty(), "{name}");
        // Only headers and titles show file names.
        let is_shown = name.ends_with(".html")
            || name.ends_with(".blast7")
            || ["dist.svg", "hits.txt", "printed", "tree.svg"].contains(&&*name);
        let parts: &[&[u8]] = match name.ends_with(".sam") {
            true => &[b"$'", b"\\xe9", b"'"],
            false if is_shown => &[SHOWN.as_bytes()],
            false => &[],
        };
        assert!(str::from_utf8(other).is_ok() || name.ends_with(".gz") || name.ends_with(".pwdb"), "{name}");
        assert!(remove_parts(other, parts) == *plain, "{name}: {}", String::from_utf8_lossy(other));
        assert_eq!(other == plain, parts.is_empty(), "{name}");
    }
    assert_eq!(plain[&b"hits.tsv"[..]], plain[&b"hits.again.tsv"[..]]);
}

/// Names that look identical when displayed are different files.
#[test]
fn names_that_look_alike_are_different_files() {
    let folder = folder();
    for (mark, text) in [(&b"\xE9"[..], ">a\nACGT\n>b\nACGA\n"), (b"\xE8", ">a\nACGT\n>b\nAAAA\n")] {
        fs::write(folder.path().join(marked("a.fa", mark)), text).unwrap();
        let job = "plan --block-cells 4 allpairs @a.fa -o @a.work";
        run(folder.path(), job, mark).assert().success();
    }
    fs::write(folder.path().join(format!("a{SHOWN}.fa")), "").unwrap();
    for mark in [b"\xE9", b"\xE8"] {
        run(folder.path(), "run @a.work --device cpu", mark).assert().success();
        let merged = run(folder.path(), "merge @a.work", mark).assert().success();
        let whole = run(folder.path(), "allpairs @a.fa --device cpu", mark).assert().success();
        assert_eq!(merged.get_output().stdout, whole.get_output().stdout);
    }
    fs::write(folder.path().join(marked("a.fa", b"\xE9")), ">a\nACGT\n>b\nAAAA\n").unwrap();
    let changed = run(folder.path(), "merge @a.work", b"\xE9").assert().code(2);
    let message = String::from_utf8(changed.get_output().stderr.clone()).unwrap();
    assert!(message.contains(&format!("a{SHOWN}.fa: its content has changed since the job was planned")), "{message}");
}

#[test]
fn wrong_names_that_are_not_utf_8_are_shown() {
    let folder = folder();
    fs::write(folder.path().join(marked("a.fa", &[BYTE])), ">a\nAC!T\n").unwrap();
    fs::write(folder.path().join(marked("b.fa", &[BYTE])), ">b\nACGT\n").unwrap();
    for (job, expected) in [
        ("allpairs @none.fa", "none@.fa: no such file"),
        ("allpairs @a.fa", "a@.fa, line 2, column 3, record 'a': "),
        ("allpairs @a.fa -o @a.fa", "--output a@.fa would overwrite an input file"),
        ("allpairs @a.fa -o @a.nwk", "--output a@.nwk: .nwk stands for a Newick tree"),
        ("allpairs @b.fa --matrix @none.txt", "--matrix none@.txt: no such file"),
        ("msa @b.fa --guidetree-in @none.nwk", "none@.nwk: no such file"),
        ("search @none.fa @a.fa", "none@.fa: no such file"),
        ("run @none.work", "none@.work"),
    ] {
        let run = run(folder.path(), job, &[BYTE]).assert().code(2).stdout("");
        let message = String::from_utf8(run.get_output().stderr.clone()).unwrap();
        assert!(message.contains(&expected.replace('@', SHOWN)), "{job}: {message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
}
