//! Standard output, standard error, compressed files and standard input.

use std::io::Read;

use insta::assert_snapshot;
use pairwave::output::Field;

use super::*;

const SMALL: &str = ">a\nGATTACA\n>b\nGATCA\n>c\nTTACA\n";

/// Returns a command that runs on the CPU.
fn run(arguments: &[&str]) -> Command {
    pairwave(&[&["allpairs", "--device", "cpu"], arguments].concat())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

fn gunzip(path: &str) -> String {
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    text
}

/// Results go to one stream and a summary of one line to the other; `--quiet` omits the summary.
#[test]
fn results_and_summary_have_a_stream_each() {
    let folder = folder();
    let input = file(&folder, "small.fa", SMALL);
    let loud = run(&[&input]).assert().success();
    let quiet = run(&[&input, "--quiet"]).assert().success().stderr("");
    assert_eq!(loud.get_output().stdout, quiet.get_output().stdout);
    insta::with_settings!({ filters => vec![(r"\d+\.\d{3} s", "[time]"), (r"[\d,]+ pairs/s", "[rate]"), (r"[\d.]+ GCUPS", "[rate]")] }, {
        assert_snapshot!(text(&loud.get_output().stderr), @"pairwave: 3 pairs in [time]: [rate], [rate] (kernels [time], [rate]); 3 aligned, 3 written; cpu");
    });
    let filtered = run(&[&input, "--min-identity", "1", "--scheme", "truong"]).assert().success();
    let summary = text(&filtered.get_output().stderr);
    // One sequence is the end of another: identity 1 between the end gaps.
    assert!(summary.ends_with("; 2 aligned, 1 (33.3%) saved by the filter, 1 written; cpu\n"), "{summary}");
}

#[test]
fn warnings_are_lines_of_their_own_that_quiet_silences() {
    let folder = folder();
    let input = file(&folder, "twice.fa", ">a\nGATTACA\n>a\nGATCA\n");
    let loud = run(&[&input]).assert().success();
    let stderr = text(&loud.get_output().stderr);
    let expected = format!("pairwave: warning: {input}: 1 record has the name of an earlier one: 'a'");
    assert_eq!(stderr.lines().next(), Some(expected.as_str()));
    assert_eq!(stderr.lines().count(), 2, "{stderr}");
    run(&[&input, "--quiet"]).assert().success().stderr("");
    // `--quiet` does not silence errors.
    let missing = path(&folder, "missing.fa");
    run(&[&missing, "--quiet"])
        .assert()
        .code(2)
        .stdout("")
        .stderr(format!("pairwave: error: {missing}: no such file\n"));
}

#[test]
fn standard_input_is_read_plain_and_compressed() {
    let folder = folder();
    let input = file(&folder, "small.fa", SMALL);
    let expected = run(&[&input, "--quiet"]).output().unwrap().stdout;
    for bytes in [SMALL.as_bytes().to_vec(), gzipped(SMALL)] {
        run(&["-"]).write_stdin(bytes).assert().success().stdout(expected.clone());
    }
    let expected = run(&[&input, "--against", &input]).output().unwrap().stdout;
    run(&[&input, "--against", "-"]).write_stdin(SMALL).assert().success().stdout(expected);
    run(&["-"])
        .write_stdin("")
        .assert()
        .code(2)
        .stdout("")
        .stderr("pairwave: error: standard input: the file is empty\n");
}

/// `-o` writes the bytes of standard output, compressed if the name says so. Equal results give
/// equal files.
#[test]
fn files_equal_standard_output() {
    let folder = folder();
    let input = file(&folder, "small.fa", SMALL);
    let expected = text(&run(&[&input]).output().unwrap().stdout);
    let (plain, gz) = (path(&folder, "pairs.tsv"), path(&folder, "pairs.tsv.gz"));
    for _ in 0..2 {
        run(&[&input, "-o", &plain]).assert().success().stdout("");
        run(&[&input, "--output", &gz]).assert().success().stdout("");
        assert_eq!(std::fs::read_to_string(&plain).unwrap(), expected);
        assert_eq!(gunzip(&gz), expected);
    }
    let once = std::fs::read(&gz).unwrap();
    needs_adapter();
    pairwave(&["allpairs", "--device", "0", &input, "-o", &gz]).assert().success().stdout("");
    assert_eq!(std::fs::read(&gz).unwrap(), once);
    run(&[&input, "-o", "-"]).assert().success().stdout(expected);
    assert_eq!(entries(folder.path()), ["pairs.tsv", "pairs.tsv.gz", "small.fa"]);
}

/// The output of other commands to a shell's descriptor is kept.
#[cfg(target_os = "linux")]
#[test]
fn open_descriptors_are_written_and_not_replaced() {
    let folder = folder();
    let input = file(&folder, "small.fa", SMALL);
    let rows = text(&run(&[&input]).output().unwrap().stdout);
    let link = path(&folder, "link");
    std::os::unix::fs::symlink("/dev/stdout", &link).unwrap();
    let shared = path(&folder, "shared.txt");
    // Runs a command between two others, which write to the same descriptor.
    let written = |descriptor: u32, redirection: &str, arguments: &str| {
        std::fs::write(&shared, "older\n").unwrap();
        let script = format!(
            "(echo before >&{descriptor}; \"$0\" {arguments} --quiet; echo after >&{descriptor}) \
             {descriptor}{redirection} \"$2\""
        );
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &script]).arg(program()).args([&input, &shared]).env("PAIRWAVE_CACHE_DIR", NO_CACHE);
        let ended = shell.output().expect("there is a shell");
        assert!(ended.status.success() && (descriptor == 2 || ended.stderr.is_empty()), "{ended:?}");
        std::fs::read_to_string(&shared).unwrap()
    };
    for output in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", &link] {
        for (redirection, start) in [(">", ""), (">>", "older\n")] {
            let arguments = format!("allpairs \"$1\" --device cpu -o {output}");
            assert_eq!(written(1, redirection, &arguments), format!("{start}before\n{rows}after\n"), "{output}");
        }
    }
    let stats = written(2, ">>", "allpairs \"$1\" --device cpu -o /dev/null --stats /dev/stderr");
    assert!(stats.starts_with("older\nbefore\n{") && stats.ends_with("}\nafter\n"), "{stats}");
    let groups = written(3, ">>", "derep \"$1\" -o /dev/null --uc /dev/fd/3");
    assert!(groups.starts_with("older\nbefore\nS\t0\t") && groups.ends_with("\nafter\n"), "{groups}");
    assert_eq!(entries(folder.path()), ["link", "shared.txt", "small.fa"]);
    let closed = run(&[&input, "-o", "/dev/fd/987"]).assert().code(2).stdout("");
    closed.stderr("pairwave: error: /dev/fd/987: this descriptor is not open\n");
}

/// If a job fails, an older file stays unchanged and no part of a new one is left.
#[test]
fn a_failed_job_leaves_files_as_they_were() {
    let folder = folder();
    let input = file(&folder, "bad.fa", ">a\nGATTACA\n>b\nGAT-CA\n");
    let output = file(&folder, "pairs.tsv", "older");
    run(&[&input, "-o", &output]).assert().code(2).stdout("");
    assert_eq!(std::fs::read_to_string(&output).unwrap(), "older");
    run(&[&input, "-o", &path(&folder, "new.tsv.gz")]).assert().code(2).stdout("");
    assert_eq!(entries(folder.path()), ["bad.fa", "pairs.tsv"]);
}

/// A single sequence gives a header without rows, and no error.
#[test]
fn a_single_sequence_has_no_pair() {
    let folder = folder();
    let input = file(&folder, "one.fa", ">a\nGATTACA\n");
    let header = "query\ttarget\tidentity\tscore\tmatches\tcolumns\tgaps\tquery_length\ttarget_length\n";
    assert_eq!(allpairs_each(ALL_WAYS, &[&input]), header);
    assert_eq!(allpairs_each(ALL_WAYS, &[&input, "--score-only"]), "query\ttarget\tscore\n");
    for format in ["blast6", "paf", "jsonl"] {
        assert_eq!(allpairs_each(ALL_WAYS, &[&input, "--format", format]), "");
    }
    assert_eq!(allpairs_each(ALL_WAYS, &[&input, "--format", "phylip"]), "1\na          0.000000\n");
}

#[test]
fn errors_are_one_line_on_standard_error_and_exit_code_2() {
    let wrong = pairwave(&["allpairs", "none.fa", "--min-identity", "97"]).assert().code(2).stdout("");
    wrong.stderr("pairwave: error: --min-identity 97: must be a fraction from 0 to 1; did you mean 0.97?\n");
    let unknown = pairwave(&["allpairs", "none.fa", "--nonsense"]).assert().code(2).stdout("");
    unknown.stderr("pairwave: error: unexpected argument '--nonsense' found; see 'pairwave allpairs --help'\n");
    pairwave(&[]).assert().code(2).stdout("").stderr(predicates::str::contains("Usage: pairwave"));
}

#[test]
fn requested_texts_go_to_standard_output() {
    let version = format!("pairwave {}\n", env!("CARGO_PKG_VERSION"));
    pairwave(&["--version"]).assert().success().stdout(version).stderr("");
    pairwave(&["allpairs", "--fields", "help"])
        .assert()
        .success()
        .stdout(Field::table().replace("`definition`", "--iddef"))
        .stderr("");
    pairwave(&["--citation"]).assert().success().stdout(predicates::str::contains("Truong H")).stderr("");
    pairwave(&["completions", "zsh"]).assert().success().stdout(predicates::str::starts_with("#compdef pairwave"));
    pairwave(&["man"]).assert().success().stdout(predicates::str::contains("pairwave\\-allpairs"));
    let directory = tempfile::tempdir().unwrap();
    pairwave(&["man", directory.path().to_str().unwrap()]).assert().success().stdout("");
    assert!(directory.path().join("pairwave-devices.1").is_file());
    pairwave(&["man", "Cargo.toml/pages"])
        .assert()
        .code(2)
        .stderr(predicates::str::starts_with("pairwave: error: Cargo.toml/pages: "));
}

#[cfg(unix)]
#[test]
fn closed_pipe_is_no_error() {
    use std::process::{Command, Stdio};
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = Command::new(program());
    let output = command.args(["completions", "bash"]).stdout(writer).stderr(Stdio::piped()).output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), b"".as_slice()));
}

/// Results are never lost without an error: a job that cannot write them fails before it computes.
#[cfg(unix)]
#[test]
fn closed_standard_streams_are_errors() {
    let folder = folder();
    let input = file(&folder, "small.fa", SMALL);
    let database = path(&folder, "small.pwdb");
    pairwave(&["makedb", &input, "-o", &database]).assert().success();
    // Runs a command in a shell that redirects its streams.
    let ran = |arguments: &str, redirection: &str| {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &format!("\"$0\" {arguments} --quiet {redirection}")]);
        shell.arg(program()).args([&input, &database]).env("PAIRWAVE_CACHE_DIR", NO_CACHE);
        let ended = shell.output().expect("there is a shell");
        assert_eq!(text(&ended.stdout), "", "{arguments} {redirection}");
        (ended.status.code(), text(&ended.stderr))
    };
    let unwritable = "it is closed, or not open for writing\n";
    let error = format!("pairwave: error: standard output: {unwritable}");
    for redirection in [">&-", "1</dev/null"] {
        for arguments in [
            "allpairs $1 --device cpu",
            "allpairs $1 --device cpu -o -",
            "allpairs $1 --device cpu --format jsonl --min-score 1000",
            "search $1 $2 --device cpu",
            "edit $1 --device cpu",
            "long $1 $1 --device cpu",
            "tree $1 --device cpu",
            "derep $1",
            "dbinfo $2",
            "devices",
            "completions bash",
            "--citation",
            "--help",
            "--version",
            "plan --dry-run allpairs $1",
        ] {
            assert_eq!(ran(arguments, redirection), (Some(2), error.clone()), "{arguments} {redirection}");
        }
        let no_results = ran("allpairs $1 --device cpu -o /dev/null", redirection);
        assert_eq!(no_results, (Some(0), String::new()), "{redirection}");
    }
    // Descriptors that are named as files.
    let named = |name: &str| format!("pairwave: error: {name}: {unwritable}");
    let job = "allpairs $1 --device cpu";
    assert_eq!(ran(&format!("{job} -o /dev/stdout"), ">&-"), (Some(2), named("/dev/stdout")));
    assert_eq!(ran(&format!("{job} -o /dev/null --stats /dev/stdout"), ">&-"), (Some(2), named("/dev/stdout")));
    assert_eq!(ran(&format!("{job} -o /dev/fd/3"), "3</dev/null"), (Some(2), named("/dev/fd/3")));
    // No message can be read.
    assert_eq!(ran(&format!("{job} -o /dev/stderr"), "2>&-"), (Some(2), String::new()));
    assert_eq!(ran(&format!("{job} -o /dev/null"), "2>&-"), (Some(0), String::new()));
    if cfg!(target_os = "linux") {
        let full = "pairwave: error: standard output: no space left on device\n";
        for arguments in [job, "--help", "derep $1"] {
            assert_eq!(ran(arguments, ">/dev/full"), (Some(2), full.to_owned()), "{arguments}");
        }
    }
    assert_eq!(entries(folder.path()), ["small.fa", "small.pwdb"]);
}

/// If a file cannot be written at the end, no other file appears, and older ones stay.
#[cfg(target_os = "linux")]
#[test]
fn output_files_appear_together_or_not_at_all() {
    let folder = folder();
    let input = file(&folder, "small.fa", SMALL);
    let sides = ["stats", "report.html", "plot.svg", "guide.nwk", "hits.fa", "table.tsv", "groups.uc", "members"];
    let [stats, report, plot, guide, hits, table, groups, members] = sides.map(|name| path(&folder, name));
    let jobs: [&[&str]; 12] = [
        &["allpairs", &input, "--stats", &stats],
        &["search", &input, &input, "--stats", &stats, "--report", &report, "--hits-fasta", &hits],
        &["edit", &input, "--stats", &stats],
        &["pairs", &input, &input, "--stats", &stats],
        &["cluster", &input, "--min-identity", "0.5", "--stats", &stats, "--report", &report, "--uc", &groups],
        &["cluster", &input, "--min-identity", "0.5", "--plot", &plot, "--otu-table", &table, "--clusters", &members],
        &["derep", &input, "--stats", &stats, "--uc", &groups],
        &["long", &input, &input, "--stats", &stats, "--report", &report, "--plot", &plot],
        &["tree", &input, "--stats", &stats, "--plot", &plot],
        &["dist", &input, "--stats", &stats, "--plot", &plot],
        &["msa", &input, "--stats", &stats, "--report", &report],
        &["msa", &input, "--mode", "clustalw", "--guidetree-out", &guide, "--distance", "edit", "--stats", &stats],
    ];
    for job in jobs {
        std::fs::write(&stats, "older").unwrap();
        // The results are written to a device that is full only at the end.
        let run = pairwave(job).args(["--quiet", "-o", "/dev/full"]).assert().code(2);
        run.stderr("pairwave: error: /dev/full: no space left on device\n");
        assert_eq!(entries(folder.path()), ["small.fa", "stats"], "{job:?}");
        assert_eq!(std::fs::read_to_string(&stats).unwrap(), "older");
    }
    // Statistics are written after the results.
    let rows = path(&folder, "rows");
    for job in [&["allpairs", &input][..], &["derep", &input], &["tree", &input, "--plot", &plot]] {
        let run = pairwave(job).args(["--quiet", "-o", &rows, "--stats", "/dev/full"]).assert().code(2);
        run.stderr("pairwave: error: /dev/full: no space left on device\n");
        assert_eq!(entries(folder.path()), ["small.fa", "stats"], "{job:?}");
    }
    // The files of blocks are merged likewise.
    let work = path(&folder, "work");
    pairwave(&["plan", "search", &input, &input, "--format", "paf", "-o", &work, "--quiet"]).assert().success();
    pairwave(&["run", &work, "--quiet", "--device", "cpu"]).assert().success();
    pairwave(&["merge", &work, "-o", "/dev/full", "--report", &report, "--quiet"]).assert().code(2);
    assert_eq!(entries(folder.path()), ["small.fa", "stats", "work"]);
}
