//! Jobs in blocks: the merged output equals the output of the whole job, whichever process computes
//! which block, and after failures.

mod refused;

use std::fs;

use pairwave::distributed::{ClaimOutcome, Directory};

use super::*;

const TINY: &str = "assets/papara/tiny";

/// Runs a command that fails with the exit code for invalid input. Returns its standard error.
fn refused(arguments: &[&str]) -> String {
    let run = pairwave(arguments).assert().code(2).stdout("");
    let text = String::from_utf8(run.get_output().stderr.clone()).expect("text");
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

fn runs(arguments: &[&str]) {
    pairwave(arguments).assert().success();
}

/// Plans a job with `cells` cells per block. Returns the directory of blocks.
fn planned(folder: &TempDir, name: &str, cells: &str, job: &[&str]) -> String {
    let work = path(folder, name);
    runs(&[&["plan", "--block-cells", cells], job, &["-o", &work]].concat());
    work
}

fn blocks_of(work: &str) -> usize {
    Directory::open(Path::new(work)).expect("it is there").len()
}

/// Computes all blocks with several commands.
fn compute(work: &str) {
    let blocks = blocks_of(work);
    assert!(blocks > 3, "{blocks}");
    let last = (blocks - 1).to_string();
    runs(&["run", work, "--block", &last, "--device", "cpu", "--threads", "1"]);
    runs(&["run", work, "--share", "1/3", "--device", "cpu"]);
    runs(&["run", work, "--next=1", "--device", "0"]);
    runs(&["run", work, "--blocks", &format!("0-{last}"), "--device", "0,cpu"]);
    runs(&["run", work]);
    runs(&["run", work, "--block", "0"]);
}

fn genes(more: &[&str]) -> Vec<String> {
    ["allpairs", GENES].iter().chain(more).map(|word| (*word).to_owned()).collect()
}

fn words(job: &[String]) -> Vec<&str> {
    job.iter().map(String::as_str).collect()
}

#[test]
fn pairs_in_blocks_give_the_output_of_the_whole_job() {
    needs_adapter();
    let folder = folder();
    let jobs: [&[&str]; 6] = [
        &["allpairs", GENES, "--min-identity", "0.9", "--fields", "query,target,identity,cigar"],
        &["allpairs", GENES, "--max-hits", "3"],
        &["allpairs", WINDOWS, GENES, "--strand", "both", "--max-hits", "2", "--format", "sam"],
        &["allpairs", GENES, "--format", "phylip", "--matrix-shape", "lower"],
        &["allpairs", WINDOWS, GENES, "--mode", "local", "--format", "text"],
        &["allpairs", WINDOWS, GENES, "--query-cov", "0.9", "--top-hits-only"],
    ];
    for (number, job) in jobs.iter().enumerate() {
        // Blocks have whole queries, or one query with a part of its targets.
        let cells = ["24M", "5M", "2M", "5M", "1M", "300K"][number];
        let work = planned(&folder, &format!("work{number}"), cells, job);
        compute(&work);
        let whole = pairwave(job).arg("--quiet").assert().success();
        let merged = pairwave(&["merge", &work, "--quiet"]).assert().success();
        let (whole, merged) = (&whole.get_output().stdout, &merged.get_output().stdout);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(" --quiet", "");
        assert!(!whole.is_empty() && text(whole) == text(merged), "{job:?}");
    }
}

/// Jobs with one output file, and jobs that write further files.
#[test]
fn other_jobs_in_blocks_give_the_output_of_the_whole_job() {
    let folder = folder();
    let reference = [format!("{TINY}/ref.nwk"), format!("{TINY}/ref.fasta"), format!("{TINY}/reads.fasta")];
    let [tree, rows, reads] = reference.each_ref().map(String::as_str);
    let reads = ["papara", "--tree", tree, "--reference", rows, "--reads", reads];
    let jobs: [(&[&str], &str, &[&str]); 6] = [
        (&reads, "100M", &["--table", "--tree-out"]),
        (&["edit", GENES, "--max-distance", "0.2", "--max-hits", "4", "--align"], "20M", &[]),
        (&["dist", GENES], "24M", &["--plot"]),
        (&["dist", GENES, "--distance", "edit", "--format", "tsv"], "24M", &[]),
        (&["tree", GENES, "--distance", "identity"], "24M", &["--plot"]),
        (&["msa", GENES, "--mode", "clustalw"], "24M", &["--guidetree-out", "--distmat-out", "--report"]),
    ];
    for (number, (job, cells, others)) in jobs.iter().enumerate() {
        let work = planned(&folder, &format!("work{number}"), cells, job);
        assert!(blocks_of(&work) > 1, "{job:?}");
        runs(&["run", &work, "--share", "1/2", "--device", "cpu"]);
        runs(&["run", &work, "--device", "cpu"]);
        let files = |which: &str| -> Vec<String> {
            let ending = |option: &str| {
                let ending = if option == "--plot" { "svg" } else { "out" };
                path(&folder, &format!("{which}{number}{option}.{ending}"))
            };
            ["-o"].iter().chain(*others).flat_map(|option| [(*option).to_owned(), ending(option)]).collect()
        };
        let (whole, merged) = (files("whole"), files("merged"));
        runs(&[job, &words(&whole)[..], &["--device", "cpu"]].concat());
        runs(&[&["merge", &work], &words(&merged)[..]].concat());
        for (one, other) in whole.iter().zip(&merged).skip(1).step_by(2) {
            assert!(fs::read(one).expect("it is there") == fs::read(other).expect("it is there"), "{one} {other}");
        }
    }
    assert!(
        refused(&["merge", &path(&folder, "work1"), "--table", "t.tsv"])
            .contains("--table: the blocks belong to a job of 'edit'")
    );
    assert!(
        refused(&["merge", &path(&folder, "work1"), "--plot", "p.svg"])
            .contains("--plot: the blocks belong to a job of 'edit'")
    );
    let plan = |job: &[&str]| refused(&[&["plan"], job, &["--dry-run"]].concat());
    for command in ["dist", "tree"] {
        assert!(plan(&[command, GENES, "--plot", "p.svg"]).contains("--plot: 'pairwave plan' writes no results"));
    }
    assert!(plan(&["dist", GENES, "--distance", "kmer"]).contains("--distance: k-mer distances"));
    assert!(plan(&["tree", GENES, "--tree", "mbed"]).contains("--tree mbed"));
    assert!(plan(&["msa", GENES, "--mode", "accurate"]).contains("--mode accurate needs no distances"));
    assert!(plan(&["msa", GENES, "--report", "r.html"]).contains("--report: 'pairwave plan' writes no results"));
}

/// Searches and listed pairs in every format. Hits of a query from several blocks are joined, and
/// queries without hits are named if the format names them.
#[test]
fn searches_and_listed_pairs_in_blocks_give_the_output_of_the_whole_job() {
    let folder = folder();
    let [queries, subjects] = ["queries", "subjects"].map(|name| format!("assets/proteins/{name}.fasta"));
    let db = path(&folder, "subjects.pwdb");
    runs(&["makedb", &subjects, "-o", &db]);
    let list: String = ["w1\tw2", "w3\tw1", "w1\tw2"].map(|line| format!("{line}\n")).concat();
    let names: Vec<String> = fs::read_to_string(WINDOWS)
        .expect("it is there")
        .lines()
        .filter_map(|line| line.strip_prefix('>')?.split_whitespace().next().map(str::to_owned))
        .collect();
    let list = list.replace("w1", &names[0]).replace("w2", &names[1]).replace("w3", &names[2]);
    let list = file(&folder, "list.tsv", list);
    let windows = pairwave::read(WINDOWS).expect("it is there");
    let record = |[query, target]: [u32; 2]| {
        let [m, n] = [query, target].map(|id| windows.length(id));
        let names = [query, target].map(|id| windows.name(id));
        format!("{}\t{m}\t9\t{}\t-\t{}\t{n}\t20\t{}\t0\t0\t255\n", names[0], m - 5, names[1], n - 7)
    };
    let intervals = file(&folder, "in.paf", [[0, 1], [2, 0], [0, 1], [1, 2]].map(record).concat());
    let jobs: [(&[&str], &str, bool); 15] = [
        (&["search", &queries, &db], "100K", true),
        (&["search", &queries, &db, "-k", "1", "--outfmt", "6"], "1M", false),
        (&["search", &queries, &db, "--evalue", "1e-90", "--outfmt", "7"], "200K", false),
        (&["search", &queries, &subjects, "-k", "3", "--outfmt", "0"], "300K", true),
        (&["search", &queries, &subjects, "--id", "0.6", "--query-cover", "0.5", "--format", "jsonl"], "500K", false),
        (&["search", &queries, &subjects, "--min-cov", "0.9", "--top-hits-only"], "100K", false),
        (&["search", &queries, &db, "--mode", "global", "--min-score", "0", "--format", "paf"], "500K", false),
        (&["search", WINDOWS, GENES, "-k", "2", "--format", "sam"], "1M", false),
        (
            &["search", WINDOWS, GENES, "--strand", "both", "--match", "5", "--mismatch", "-7", "--score-only"],
            "3M",
            false,
        ),
        (&["pairs", GENES, GENES, "--strand", "both"], "8M", false),
        (&["pairs", GENES, GENES, "--format", "sam"], "4M", false),
        (&["pairs", GENES, GENES, "--strand", "minus", "--min-cov", "0.965"], "4M", false),
        (&["pairs", WINDOWS, "--pairs", &list, "--mode", "local", "--format", "text"], "1", false),
        (&["pairs", GENES, GENES, "--score-only", "--format", "jsonl"], "1", false),
        (&["pairs", WINDOWS, "--paf", &intervals, "--extend", "9"], "1", false),
    ];
    for (number, (job, cells, has_page)) in jobs.iter().enumerate() {
        let work = planned(&folder, &format!("work{number}"), cells, job);
        assert!(blocks_of(&work) > 2, "{job:?}");
        runs(&["run", &work, "--share", "1/2", "--device", "cpu"]);
        runs(&["run", &work, "--device", "cpu"]);
        let files =
            |which: &str| [path(&folder, &format!("{which}{number}")), path(&folder, &format!("{which}{number}.html"))];
        let (whole, merged) = (files("whole"), files("merged"));
        let page = |path: &str| if *has_page { vec!["--report".to_owned(), path.to_owned()] } else { Vec::new() };
        runs(&[job, &["-o", &whole[0], "--device", "cpu"][..], &words(&page(&whole[1]))].concat());
        runs(&[&["merge", &work, "-o", &merged[0]][..], &words(&page(&merged[1]))].concat());
        // Headers contain the file names as typed.
        let text = |path: &str| {
            let bytes = fs::read(path).expect("it is there");
            let text = String::from_utf8(bytes).expect("text");
            text.lines().filter(|line| !line.starts_with("@PG")).map(|line| format!("{line}\n")).collect::<String>()
        };
        assert!(text(&whole[0]) == text(&merged[0]) && text(&whole[0]).lines().count() > 2, "{job:?}");
        assert!(!has_page || text(&whole[1]) == text(&merged[1]), "{job:?}");
    }
    let scored = planned(&folder, "scored", "300K", &["search", &queries, &db, "--fields", "query,target,score"]);
    runs(&["run", &scored, "--device", "cpu"]);
    let page = path(&folder, "page.html");
    assert!(
        refused(&["merge", &scored, "--report", &page])
            .contains("--report shows alignments, but these blocks have none")
    );
    assert!(!Path::new(&page).exists());
    assert!(refused(&["merge", &path(&folder, "work9"), "--report", &page]).contains("a job of 'pairs'"));
    // The sequences of hits need alignments unless they are whole.
    let [whole, merged] = ["whole.fa", "merged.fa"].map(|name| path(&folder, name));
    let tables = ["whole.tsv", "merged.tsv"].map(|name| path(&folder, name));
    assert!(refused(&["merge", &scored, "--hits-fasta", &merged]).contains("--hits-fasta writes aligned regions, but"));
    for (work, options) in [(&path(&folder, "work0"), ["--flank", "5"]), (&scored, ["--hit-part", "whole"])] {
        let job = ["search", &queries, &db, "-o", &tables[0], "--hits-fasta", &whole, "--device", "cpu"];
        runs(&[&job, &options[..]].concat());
        runs(&[&["merge", work, "-o", &tables[1], "--hits-fasta", &merged], &options[..]].concat());
        let [whole, merged] = [&whole, &merged].map(|path| fs::read(path).expect("it was written"));
        assert!(whole == merged && whole.len() > 1000, "{options:?}");
    }
    let plan = |job: &[&str]| refused(&[&["plan"], job, &["--dry-run"]].concat());
    assert!(
        plan(&["search", &queries, &db, "--report", "r.html"]).contains("--report: 'pairwave plan' writes no results")
    );
    assert!(plan(&["search", &queries, &db, "--hits-fasta", "r.fa"]).contains("give this option to 'pairwave merge'"));
    assert!(plan(&["search", &queries, &db, "-p", "3"]).contains("--threads: 'pairwave plan' computes nothing"));
    assert!(plan(&["pairs", "-", GENES]).contains("standard input can be read only once"));
    // A changed database is detected like any other changed input.
    let mut bytes = fs::read(&db).expect("it is there");
    bytes.push(0);
    fs::write(&db, bytes).expect("it can be written");
    assert!(refused(&["run", &path(&folder, "work0"), "--block", "99"]).contains("block 99"));
    assert!(
        refused(&["merge", &path(&folder, "work0")])
            .contains("subjects.pwdb: its content has changed since the job was planned")
    );
}

#[test]
fn long_pairs_in_blocks_are_written_as_at_once() {
    needs_adapter();
    let folder = folder();
    let genes = fs::read_to_string(GENES).expect("it is there");
    let gene = genes.split('>').nth(2).and_then(|record| record.split_once('\n')).expect("a record").1;
    let letters: Vec<u8> = gene.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let turned = pairwave::seq::reverse_complement_letters(&letters[300..]);
    let target = [b">both strands\n", &letters[..900], &turned, b"\n"].concat();
    let target = file(&folder, "target.fa", target);
    let pair = ["long", GENES, &target, "--query-id", "7000004128191544"];
    let jobs: [&[&str]; 10] = [
        &["--strand", "both", "--top", "3"],
        &["--strand", "both", "--top", "3", "--format", "paf"],
        &["--top", "4", "--min-score", "100", "--format", "sam"],
        &["--top", "2", "--format", "jsonl", "--score-only"],
        &["--score-only"],
        &["--mode", "global", "--format", "text"],
        &["--mode", "semi-global", "--format", "jsonl", "--min-score", "-100000"],
        &["--strand", "minus", "--check"],
        &["--top", "3", "--format", "vcf"],
        &["--top", "3", "--format", "delta"],
    ];
    for (number, options) in jobs.iter().enumerate() {
        let job = [&pair[..], options].concat();
        let work = planned(&folder, &format!("work{number}"), "1", &job);
        let blocks = blocks_of(&work);
        assert_eq!(blocks, if options.contains(&"minus") { 1 } else { 2 });
        runs(&["run", &work, "--block", &(blocks - 1).to_string(), "--device", "0"]);
        runs(&["run", &work, "--device", "cpu"]);
        let files =
            |which: &str| ["out", "svg", "html"].map(|ending| path(&folder, &format!("{which}{number}.{ending}")));
        let (whole, merged) = (files("whole"), files("merged"));
        let has_others = !options.contains(&"--score-only");
        let output = |files: &[String; 3]| -> Vec<String> {
            let given = ["-o", "--plot", "--report"].into_iter().zip(files).take(if has_others { 3 } else { 1 });
            given.flat_map(|(option, path)| [option.to_owned(), path.clone()]).collect()
        };
        runs(&[&job, &words(&output(&whole))[..], &["--device", "cpu"]].concat());
        runs(&[&["merge", &work], &words(&output(&merged))[..]].concat());
        let text = |path: &str| {
            let text = fs::read_to_string(path).expect("it is there");
            text.lines().filter(|line| !line.starts_with("@PG")).map(|line| format!("{line}\n")).collect::<String>()
        };
        assert!(text(&whole[0]) == text(&merged[0]) && !text(&whole[0]).is_empty(), "{options:?}");
        assert!(!has_others || (1..3).all(|file| text(&whole[file]) == text(&merged[file])), "{options:?}");
    }
    let plan = |options: &[&str]| refused(&[&["plan"], &pair[..], options, &["--dry-run"]].concat());
    assert!(plan(&["--checkpoint", "c"]).contains("--checkpoint: a job in blocks has no checkpoint"));
    assert!(plan(&["--plot", "p.svg"]).contains("--plot: 'pairwave plan' writes no results"));
    assert!(plan(&["--report", "r.html"]).contains("--report: 'pairwave plan' writes no results"));
    assert!(plan(&["--device", "cpu"]).contains("--device: 'pairwave plan' computes nothing"));
    assert!(refused(&["plan", "long", "-", &target, "--dry-run"]).contains("standard input can be read only once"));
    assert!(refused(&["merge", &path(&folder, "work4"), "--plot", "p.svg"]).contains("--plot draws alignments"));
}

/// With a partly damaged database, the blocks that need the damaged part fail and are named, and
/// all other blocks are computed.
#[test]
fn a_block_that_fails_is_named_and_the_others_are_computed() {
    let folder = folder();
    let mut random = fastrand::Rng::with_seed(17);
    let mut protein = || {
        (0..600_000)
            .map(|_| random.choice(b"ACDEFGHIKLMNPQRSTVWY".iter()).copied().unwrap_or(b'A') as char)
            .collect::<String>()
    };
    let subjects: Vec<String> = (0..20).map(|_| protein()).collect();
    let text: String =
        subjects.iter().enumerate().map(|(number, letters)| format!(">s{number}\n{letters}\n")).collect();
    let input = file(&folder, "subjects.fa", text);
    let queries = file(&folder, "queries.fa", format!(">q\n{}\n", &subjects[2][..12]));
    let db = path(&folder, "subjects.pwdb");
    runs(&["makedb", &input, "-o", &db]);
    // Damages the second 4 MiB of 12 MB.
    let mut bytes = fs::read(&db).expect("it is there");
    bytes[6_000_000] ^= 1;
    fs::write(&db, bytes).expect("it can be written");
    // Four blocks of 3 MB each.
    let job = ["search", &queries, &db, "--evalue", "1e9", "-k", "2"];
    let work = planned(&folder, "work", "36M", &job);
    assert_eq!(blocks_of(&work), 4);
    let run = pairwave(&["run", &work, "--device", "cpu"]).assert().code(2);
    let said = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(said.contains("block 1 failed") && said.contains("failed: 1") && said.contains("subjects.pwdb"), "{said}");
    let status = pairwave(&["run", &work, "--status"]).assert().success();
    let status = String::from_utf8_lossy(&status.get_output().stdout).into_owned();
    assert!(status.contains("done      2: 0, 3") && status.contains("block 1 failed on"), "{status}");
    let run = pairwave(&["run", &work, "--block", "2", "--device", "cpu"]).assert().code(2);
    let said = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(said.contains("block 2 failed"), "{said}");
    pairwave(&["run", &work, "--block", "3", "--device", "cpu"]).assert().success();
    assert!(refused(&["merge", &work]).contains("2 of 4 blocks are not done; missing: 1-2"));
}

#[test]
fn damaged_missing_and_claimed_blocks_are_named() {
    let folder = folder();
    let job = genes(&[]);
    let work = planned(&folder, "work", "24M", &words(&job));
    let blocks = blocks_of(&work);
    runs(&["run", &work, "--blocks", "1-2", "--device", "cpu"]);
    let text = refused(&["merge", &work]);
    assert!(
        text.contains(&format!("{} of {blocks} blocks are not done; missing: 0, 3-{}", blocks - 2, blocks - 1)),
        "{text}"
    );
    let directory = Directory::open(Path::new(&work)).expect("it is there");
    let ClaimOutcome::Acquired(claim) = directory.claim(0).expect("it can be claimed") else { panic!("nobody has it") };
    let me =
        format!("block 0 is being computed by process {} on {}", std::process::id(), pairwave::distributed::host());
    for which in ["--block=0", "--blocks=0-2", "--share=0/1"] {
        let run = pairwave(&["run", &work, which, "--device", "cpu", "--quiet"]).assert().code(2);
        let text = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        assert!(text.contains(&me), "{which}: {text}");
    }
    // A run without named blocks skips blocks of other processes without an error.
    runs(&["run", &work, "--next", "--device", "cpu"]);
    let status = pairwave(&["run", &work, "--status"]).assert().success();
    let status = String::from_utf8_lossy(&status.get_output().stdout).into_owned();
    let expected = format!("blocks    {blocks}\ndone      {}: 1-{}\nrunning   1: 0\n", blocks - 1, blocks - 1);
    assert!(status.starts_with(&expected), "{status}");
    drop(claim);
    let ClaimOutcome::Acquired(all) = directory.claim_all().expect("it can be claimed") else {
        panic!("nobody has it")
    };
    assert!(refused(&["run", &work]).contains("is computing all blocks"));
    drop(all);
    runs(&["run", &work, "--block", "0", "--device", "cpu"]);

    let part = directory.part_path(1);
    let mut bytes = fs::read(&part).expect("it is there");
    bytes[70] ^= 1;
    fs::write(&part, bytes).expect("it can be written");
    let text = refused(&["merge", &work]);
    assert!(text.contains("000001.part: block 1 is damaged"), "{text}");
    assert!(refused(&["merge", &work]).contains("missing: 1"));
    runs(&["run", &work, "--block", "1", "--device", "cpu"]);
    let whole = pairwave(&words(&job)).arg("--quiet").assert().success();
    pairwave(&["merge", &work, "--quiet"]).assert().success().stdout(whole.get_output().stdout.clone());
}

#[test]
fn changed_input_and_foreign_plans_are_rejected() {
    let folder = folder();
    let genes = file(&folder, "genes.fa", fs::read(GENES).expect("it is there"));
    let job = ["allpairs", &genes];
    let work = planned(&folder, "work", "24M", &job);
    assert!(refused(&[&["plan"], &job[..], &["-o", &work]].concat()).contains("this directory has a plan already"));
    file(&folder, "genes.fa", ">a\nACGT\n");
    assert!(
        refused(&["run", &work, "--block", "0"])
            .contains("genes.fa: its content has changed since the job was planned")
    );
    fs::remove_file(&genes).expect("it can be removed");
    assert!(refused(&["run", &work, "--block", "0"]).contains("genes.fa: no such file"));
    let manifest = format!("{work}/manifest.json");
    let text = fs::read_to_string(&manifest).expect("text");
    let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(text.contains(&version), "{text}");
    fs::write(&manifest, text.replace(&version, "\"version\": \"0.0.7\"")).expect("it can be written");
    assert!(refused(&["run", &work]).contains("version 0.0.7 of pairwave wrote this plan"));
    fs::write(&manifest, text.replacen("24000000", "24000001", 1)).expect("it can be written");
    assert!(refused(&["merge", &work]).contains("damaged or was changed"));
}

/// The file keeps its size and modification time, as after `cp -p` or with a coarse clock.
#[test]
fn changed_bytes_of_equal_size_and_time_are_rejected() {
    let folder = folder();
    let genes = file(&folder, "genes.fa", fs::read(GENES).expect("it is there"));
    let work = planned(&folder, "work", "24M", &["allpairs", &genes]);
    let modified = fs::metadata(&genes).and_then(|known| known.modified()).expect("a time");
    let right = fs::read(&genes).expect("it is there");
    let mut wrong = right.clone();
    let last = wrong.len() - 2;
    wrong[last] = if wrong[last] == b'A' { b'C' } else { b'A' };
    let write = |bytes: &[u8]| {
        fs::write(&genes, bytes).expect("it can be written");
        let file = fs::File::options().write(true).open(&genes).expect("it is there");
        file.set_modified(modified).expect("the time can be set");
    };
    write(&wrong);
    assert!(
        refused(&["run", &work, "--next", "--device", "cpu"])
            .contains("genes.fa: its content has changed since the job was planned")
    );
    write(&right);
    runs(&["run", &work, "--next", "--device", "cpu"]);
    write(&wrong);
    assert!(refused(&["merge", &work]).contains("genes.fa: its content has changed since the job was planned"));
}

#[test]
fn invalid_options_are_rejected() {
    let folder = folder();
    let (job, work) = (genes(&[]), path(&folder, "work"));
    let plan = |more: &[&str]| refused(&[&["plan"], &words(&job)[..], more].concat());
    assert!(plan(&[]).contains("no directory for the blocks is given"));
    assert!(
        plan(&["-o", &work, "--device", "cpu"])
            .contains("--device: 'pairwave plan' computes nothing: give this option to 'pairwave run'")
    );
    assert!(plan(&["-o", &work, "--threads", "2"]).contains("--threads: 'pairwave plan' computes nothing"));
    assert!(
        plan(&["-o", &work, "--stats", "s.json"])
            .contains("--stats: 'pairwave plan' writes no results: give this option to 'pairwave merge'")
    );
    assert!(plan(&["-o", &work, "--speed", "fast"]).contains("--speed 'fast'"));
    assert!(plan(&["-o", &work, "--block-seconds", "0"]).contains("--block-seconds 0: must be above 0"));
    assert!(plan(&["-o", &work, "--max-blocks", "0"]).contains("--max-blocks 0"));
    assert!(plan(&["-o", TINY]).contains("the directory is not empty"));
    let standard = ["plan", "allpairs", "-", "-o", &work];
    assert!(refused(&standard).contains("standard input can be read only once"));
    assert!(refused(&["run", &work]).contains("work: no such file or directory"));
    assert!(refused(&["merge", folder.path().to_str().expect("text")]).contains("this directory has no plan of a job"));
    assert!(!Path::new(&work).exists());

    let dry =
        pairwave(&[&["plan"], &words(&job)[..], &["--dry-run", "--speed", "2x1G,500M"]].concat()).assert().success();
    let text = String::from_utf8_lossy(&dry.get_output().stdout).into_owned();
    assert!(
        text.contains("\n3 devices with 0.0025 TCUPS in total: ") && text.contains("input assets/16s/gold12.fasta: ")
    );
    assert!(text.contains("\nfiles of blocks: about ") && text.contains(" without filtering, the largest "), "{text}");
    runs(&[&["plan"], &words(&job)[..], &["-o", &work, "--block-cells", "1M", "--max-blocks", "4"]].concat());
    let blocks = blocks_of(&work);
    assert!((2..=4).contains(&blocks), "{blocks}");
    let last = blocks - 1;
    assert!(
        refused(&["run", &work, "--block", "99"])
            .contains(&format!("block 99 does not exist: blocks are numbered 0 to {last}"))
    );
    assert!(refused(&["run", &work, "--blocks", "3-1"]).contains("the first block comes after the last"));
    assert!(refused(&["run", &work, "--blocks", "3"]).contains("must be the first and the last block"));
    assert!(refused(&["run", &work, "--share", "2/2"]).contains("shares are numbered from 0, and there are only 2"));
    assert!(refused(&["run", &work, "--next=0"]).contains("--next 0"));
    assert!(refused(&["run", &work, "--next", "--block", "0"]).contains("cannot be used with"));
}

/// A killed process leaves its finished blocks, and other processes compute the rest.
#[cfg(unix)]
#[test]
fn blocks_of_a_killed_process_are_computed_by_others() {
    let folder = folder();
    let job = genes(&[]);
    let whole = pairwave(&words(&job)).arg("--quiet").assert().success();
    for parts in [0, 2] {
        let work = planned(&folder, &format!("work{parts}"), "24M", &words(&job));
        let mut command = std::process::Command::new(program());
        let mut child = command.args(["run", &work, "-q", "--device", "cpu"]).spawn().expect("it runs");
        let claims = || entries(Path::new(&format!("{work}/claims"))).len();
        let files =
            || entries(Path::new(&format!("{work}/blocks"))).iter().filter(|name| name.ends_with(".part")).count();
        while child.try_wait().expect("it is there").is_none() && (files() < parts || claims() == 0) {
            std::thread::yield_now();
        }
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        runs(&["run", &work, "--device", "cpu"]);
        pairwave(&["merge", &work, "--quiet"]).assert().success().stdout(whole.get_output().stdout.clone());
        assert!(entries(Path::new(&format!("{work}/blocks"))).iter().all(|name| name.ends_with(".part")));
    }
}

/// A file that cannot be written is named, and finished blocks stay.
#[cfg(unix)]
#[test]
fn a_full_disk_is_named() {
    let folder = folder();
    let work = planned(&folder, "work", "1G", &words(&genes(&[])));
    let script = format!("ulimit -f 1; exec '{}' run '{work}' --device cpu -q", program().display());
    let run = std::process::Command::new("bash").args(["-c", &script]).output().expect("there is a shell");
    let text = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(2), "{text}");
    assert!(text.contains(".tmp: file too large") && text.lines().count() == 1, "{text}");
    assert!(
        entries(Path::new(&format!("{work}/blocks"))).is_empty()
            && entries(Path::new(&format!("{work}/claims"))).is_empty()
    );
    runs(&["run", &work, "--device", "cpu"]);
    runs(&["merge", &work]);
}

#[cfg(not(feature = "mpi"))]
#[test]
fn a_program_without_mpi_says_how_to_get_it() {
    let said = refused(&["mpi", "allpairs", GENES, "-o", "never.tsv"]);
    assert!(said.contains("built without MPI") && said.contains("--features mpi"), "{said}");
}
