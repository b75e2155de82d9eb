//! How the program ends when it is stopped.

#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use super::*;

/// Time limit for an awaited event. No test machine needs this long.
const LONG: Duration = Duration::from_secs(120);

/// Returns `count` sequences of ten symbols.
fn write_sequences(count: usize) -> String {
    random_fasta(0x3a9, Alphabet::Dna, &vec![10; count])
}

fn wait(mut what: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !what() {
        assert!(begin.elapsed() < LONG, "waited for {LONG:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn start(arguments: &[&str]) -> Child {
    let mut command = std::process::Command::new(program());
    command.args(arguments).env("PAIRWAVE_CACHE_DIR", NO_CACHE);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the program starts")
}

/// Sends a signal and waits for the end of the process.
fn stop(mut child: Child, signal: &str) -> Output {
    let kill = format!("kill -{signal} {}", child.id());
    assert!(std::process::Command::new("sh").args(["-c", &kill]).status().expect("there is a shell").success());
    let begin = Instant::now();
    while child.try_wait().expect("the program can be asked").is_none() {
        if begin.elapsed() > LONG {
            child.kill().expect("the program can be killed");
            panic!("SIG{signal} did not end the program");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.wait_with_output().expect("it has ended")
}

/// Returns the signal of Ctrl-C, or another request to stop if the tests run as a shell's
/// background job, which ignores Ctrl-C.
fn interrupt() -> &'static str {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    if ignored.is_some_and(|signals| signals & 0b10 != 0) { "TERM" } else { "INT" }
}

/// Returns the exit code of a program that this signal ends.
fn code(signal: &str) -> Option<i32> {
    Some(128 + ["HUP", "INT", "TERM"].into_iter().zip([1, 2, 15]).find(|(name, _)| *name == signal)?.1)
}

/// Stops a job that would take minutes. Checks the exit code of the signal, a single line and the
/// absence of files.
fn interrupted(signal: &str, arguments: &[&str]) {
    let folder = folder();
    let input = file(&folder, "many.fa", write_sequences(20_000));
    let output = path(&folder, "pairs.tsv.gz");
    let child = start(&[&["allpairs", &input, "-o", &output], arguments].concat());
    // Before it reads the input, the program creates and removes a file to check that it can write.
    wait(|| entries(folder.path()).len() == 2);
    std::thread::sleep(Duration::from_millis(300)); // into the computation
    let files = entries(folder.path());
    let ended = stop(child, signal);
    assert!(files[0].ends_with(".part"), "{files:?}: {ended:?}");
    assert_eq!(ended.status.code(), code(signal), "{ended:?}");
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "pairwave: interrupted\n");
    assert!(ended.stdout.is_empty());
    assert_eq!(entries(folder.path()), ["many.fa"]);
}

#[test]
fn an_interrupt_ends_a_job_on_the_cpu() {
    interrupted(interrupt(), &["--device", "cpu", "--min-identity", "0.99"]);
}

#[test]
fn an_interrupt_while_pairs_are_aligned() {
    interrupted("TERM", &["--device", "cpu"]);
}

#[test]
fn an_interrupt_ends_a_job_on_an_adapter() {
    needs_adapter();
    interrupted(interrupt(), &["--device", "0", "--score-only"]);
}

/// Building the guide tree of 6,000 sequences takes minutes.
#[test]
fn an_interrupt_while_many_sequences_are_aligned() {
    let folder = folder();
    let mut random = fastrand::Rng::with_seed(11);
    let mut genes = String::new();
    for name in 0..6_000 {
        let letters: String = (0..1_500).map(|_| ['A', 'C', 'G', 'T'][random.usize(..4)]).collect();
        writeln!(genes, ">{name}\n{letters}").expect("a string takes all");
    }
    let input = file(&folder, "genes.fa", genes);
    let child = start(&["msa", &input, "-o", &path(&folder, "rows.fa"), "--device", "cpu"]);
    wait(|| entries(folder.path()).len() == 2);
    std::thread::sleep(Duration::from_secs(1)); // into the computation
    let ended = stop(child, "TERM");
    assert_eq!(ended.status.code(), code("TERM"), "{ended:?}");
    assert!(String::from_utf8_lossy(&ended.stderr).ends_with("pairwave: interrupted\n"), "{ended:?}");
    assert_eq!(entries(folder.path()), ["genes.fa"]);
}

/// `nohup` ignores the hang-up of the terminal, and a script's background job ignores Ctrl-C. Other
/// signals still work.
#[test]
fn ignored_signals_do_not_disable_others() {
    let folder = folder();
    let input = file(&folder, "many.fa", write_sequences(20_000));
    let output = path(&folder, "pairs.tsv");
    for (ignored, sent) in [("INT", "TERM"), ("HUP", "TERM"), ("TERM", "HUP")] {
        let script = format!("trap '' {ignored}; exec \"$0\" \"$@\"");
        // The tests may run where hang-ups are ignored.
        let mut command = std::process::Command::new("env");
        command.args(cfg!(target_os = "linux").then_some("--default-signal=HUP"));
        command.args(["sh", "-c", &script]).arg(program());
        command.args(["allpairs", &input, "-o", &output, "--device", "cpu"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().expect("there is a shell");
        wait(|| entries(folder.path()).len() == 2);
        let ignores = format!("kill -{ignored} {}", child.id());
        assert!(std::process::Command::new("sh").args(["-c", &ignores]).status().expect("a shell").success());
        std::thread::sleep(Duration::from_millis(300));
        let ended = stop(child, sent);
        assert_eq!(ended.status.code(), code(sent), "{ignored} ignored: {ended:?}");
        assert_eq!(String::from_utf8_lossy(&ended.stderr), "pairwave: interrupted\n");
        assert_eq!(entries(folder.path()), ["many.fa"]);
    }
}

/// Signals that end a process immediately also leave no unfinished file. The exit status is that of
/// the signal.
#[test]
fn other_signals_leave_no_file() {
    use std::os::unix::process::ExitStatusExt;
    for (signal, number) in [("ALRM", 14), ("XCPU", 24), ("ABRT", 6)] {
        let folder = folder();
        let input = file(&folder, "many.fa", write_sequences(20_000));
        let output = path(&folder, "pairs.tsv");
        let child = start(&["allpairs", &input, "-o", &output, "--device", "cpu"]);
        wait(|| entries(folder.path()).len() == 2);
        let ended = stop(child, signal);
        // The process ends by the signal, or with the shell's code for it.
        let code = ended.status.signal().or(ended.status.code().map(|code| code - 128));
        assert_eq!(code, Some(number), "SIG{signal}: {ended:?}");
        assert_eq!(entries(folder.path()), ["many.fa"], "SIG{signal}");
    }
}

/// SIGKILL cannot be caught. The next job with the same output removes the unfinished file.
#[test]
fn next_job_removes_files_of_a_killed_job() {
    let folder = folder();
    let (large, small) =
        (file(&folder, "many.fa", write_sequences(20_000)), file(&folder, "some.fa", write_sequences(20)));
    let output = path(&folder, "pairs.tsv");
    let child = start(&["allpairs", &large, "-o", &output, "--device", "cpu"]);
    wait(|| entries(folder.path()).len() == 3);
    std::thread::sleep(Duration::from_millis(300)); // until the file is the one for the results
    stop(child, "KILL");
    assert_eq!(entries(folder.path()).len(), 3);
    pairwave(&["allpairs", &small, "-o", &output, "--device", "cpu", "--quiet"]).assert().success();
    assert_eq!(entries(folder.path()), ["many.fa", "pairs.tsv", "some.fa"]);
}

/// Writing to a device without space fails with one error.
#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_an_error() {
    for arguments in [
        &["--help"][..],
        &["--version"],
        &["completions", "bash"],
        &["man"],
        &["devices", "--json"],
        &["allpairs", GENES, "--device", "cpu", "--quiet"],
        &["dist", GENES, "--device", "cpu", "--quiet"],
        &["tree", GENES, "--device", "cpu", "--quiet"],
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("a device without space");
        let ended = std::process::Command::new(program()).args(arguments).stdout(full).output().expect("it starts");
        let message = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(message, "pairwave: error: standard output: no space left on device\n", "{arguments:?}");
        assert_eq!(ended.status.code(), Some(2), "{arguments:?}");
    }
}

/// A limit of the shell on files is an error like a full disk.
#[test]
fn a_file_that_grows_beyond_the_limit_is_an_error() {
    let folder = folder();
    let input = file(&folder, "some.fa", write_sequences(300));
    let output = path(&folder, "pairs.tsv");
    let mut command = std::process::Command::new("sh");
    let script = "ulimit -f 1; exec \"$0\" \"$@\"";
    command.args(["-c", script]).arg(program());
    command.args(["allpairs", &input, "-o", &output, "--device", "cpu", "--quiet"]);
    let ended = command.stdin(Stdio::null()).output().expect("there is a shell");
    assert!(ended.status.code().is_some_and(|code| code > 0), "{ended:?}");
    let message = String::from_utf8_lossy(&ended.stderr);
    assert!(message.contains("pairs.tsv") && message.lines().count() == 1, "{message}");
    assert_eq!(entries(folder.path()), ["some.fa"]);
}

/// A failed allocation gives one error and no output file.
#[cfg(target_os = "linux")]
#[test]
fn too_little_memory_is_an_error() {
    let folder = folder();
    let sequence = "ACGTTGCATC".repeat(1_000);
    let input = file(&folder, "long.fa", format!(">a\n{sequence}\n>b\n{sequence}A\n>c\n{sequence}C\n"));
    let output = path(&folder, "rows.fa");
    let mut command = std::process::Command::new("sh");
    let script = "ulimit -v 100000; exec \"$0\" \"$@\"";
    command.args(["-c", script]).arg(program()).env("RUST_BACKTRACE", "0");
    command.args(["msa", &input, "-o", &output, "--device", "cpu", "--threads", "1", "--quiet"]);
    let ended = command.stdin(Stdio::null()).output().expect("there is a shell");
    assert_eq!(ended.status.code(), Some(2), "{ended:?}");
    let message = String::from_utf8_lossy(&ended.stderr);
    let last = "pairwave: error: out of memory; use fewer threads, a lower --memory or smaller inputs\n";
    assert!(message.starts_with("memory allocation of ") && message.ends_with(last), "{message}");
    assert_eq!(entries(folder.path()), ["long.fa"]);
}

/// A measurement on software adapters takes half a minute or more. A completed measurement would be
/// in the cache.
#[test]
fn an_interrupt_while_devices_are_measured() {
    needs_adapter();
    let (folder, cache) = (folder(), super::folder());
    let input = file(&folder, "some.fa", write_sequences(20));
    let output = path(&folder, "pairs.tsv");
    let mut command = std::process::Command::new(program());
    command.args(["allpairs", &input, "-o", &output, "--device", "0", "--tune"]);
    command.env("PAIRWAVE_CACHE_DIR", cache.path()).env("PAIRWAVE_LOG", "pairwave=debug");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut log = BufReader::new(child.stderr.take().expect("its messages are piped"));
    let mut line = String::new();
    while !line.contains("trial") {
        line.clear();
        assert!(log.read_line(&mut line).expect("a line") > 0, "no trial was made");
    }
    let ended = stop(child, interrupt());
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut log, &mut rest).expect("the rest of the messages");
    assert_eq!(ended.status.code(), code(interrupt()), "{rest}");
    assert!(rest.ends_with("pairwave: interrupted\n"), "{rest}");
    assert_eq!((entries(folder.path()), entries(cache.path())), (vec!["some.fa".to_owned()], Vec::new()));
}

/// A requested measurement is reported, because nothing else happens meanwhile.
#[test]
fn requested_measurement_is_reported() {
    needs_adapter();
    let (folder, cache) = (folder(), super::folder());
    let input = file(&folder, "some.fa", write_sequences(20));
    let mut command = std::process::Command::new(program());
    command.args(["allpairs", &input, "--device", "0", "--tune"]);
    command.env("PAIRWAVE_CACHE_DIR", cache.path()).env_remove("PAIRWAVE_LOG");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut line = String::new();
    let mut log = BufReader::new(child.stderr.take().expect("its messages are piped"));
    log.read_line(&mut line).expect("a line");
    let ended = stop(child, interrupt());
    assert!(line.starts_with("pairwave: ") && line.contains(": measuring "), "{line}");
    assert_eq!(ended.status.code(), code(interrupt()));
}

/// While the program waits for input there are no files to remove: the signal ends it at once.
#[test]
fn an_interrupt_while_input_is_awaited() {
    use std::os::unix::process::ExitStatusExt;
    let (input, folder) = (folder(), folder());
    let known = file(&input, "known.fa", write_sequences(2));
    let [pairs, stats, plot] = ["pairs.tsv", "stats.json", "plot.svg"].map(|name| path(&folder, name));
    let written = ["--device", "cpu", "-o", &pairs, "--stats", &stats];
    for arguments in [
        &["allpairs", "-"][..],
        &["edit", "-"],
        &["edit", &known, "--pairs", "-"],
        &["long", &known, "-", "--plot", &plot],
    ] {
        let child = start(&[arguments, &written].concat());
        std::thread::sleep(Duration::from_millis(300));
        let ended = stop(child, interrupt());
        assert!(matches!(ended.status.signal(), Some(2 | 15)), "{arguments:?}: {ended:?}");
        assert!(entries(folder.path()).is_empty(), "{arguments:?}: {:?}", entries(folder.path()));
    }
}

/// With `| head -1`, the first line arrives and the closed pipe is no error.
#[test]
fn closed_pipe_is_no_error() {
    let folder = folder();
    // The output of some hundred kilobytes exceeds a pipe's buffer.
    let input = file(&folder, "some.fa", write_sequences(180));
    for format in ["tsv", "paf", "jsonl"] {
        let mut child = start(&["allpairs", &input, "--device", "cpu", "--format", format]);
        let mut line = String::new();
        let mut reader = BufReader::with_capacity(512, child.stdout.take().expect("the output is piped"));
        reader.read_line(&mut line).expect("a line");
        assert!(line.ends_with('\n'));
        drop(reader);
        let ended = child.wait_with_output().expect("the program ends");
        assert_eq!((ended.status.code(), String::from_utf8_lossy(&ended.stderr).as_ref()), (Some(0), ""), "{format}");
    }
}
