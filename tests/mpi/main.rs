//! Tests `pairwave mpi` with a real `mpirun`, found in PATH or named by the variable MPIRUN.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Writes `number` random genes of about `length` bases, some of them similar.
fn genes(path: &Path, number: usize, length: usize, seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    let letter = |random: &mut fastrand::Rng| b"ACGT"[random.usize(..4)];
    let mut before: Vec<u8> = Vec::new();
    let mut text = String::new();
    for gene in 0..number {
        let mut letters: Vec<u8> = match gene % 3 {
            0 => (0..length / 2 + random.usize(..length)).map(|_| letter(&mut random)).collect(),
            _ => before.clone(),
        };
        let changes = letters.len() / 12;
        (0..changes).for_each(|_| {
            let index = random.usize(..letters.len());
            letters[index] = letter(&mut random);
        });
        writeln!(text, ">gene{gene}\n{}", String::from_utf8_lossy(&letters)).unwrap();
        before = letters;
    }
    fs::write(path, text).unwrap();
}

fn mpirun(ranks: usize, arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("MPIRUN").unwrap_or_else(|| "mpirun".into()));
    // Open MPI needs these to run more ranks than processors, and to run as root in a container.
    // MPICH always allows both.
    command.envs([
        ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
        ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
        ("OMPI_MCA_hwloc_base_binding_policy", "none"),
        ("NODEVICE_SELECT", "1"),
    ]);
    command.arg("-n").arg(ranks.to_string()).arg(env!("CARGO_BIN_EXE_pairwave")).arg("mpi").args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs the command, which must succeed.
fn succeeds(ranks: usize, arguments: &[&str]) -> String {
    let output = mpirun(ranks, arguments).output().unwrap();
    assert!(output.status.success(), "{ranks} ranks, {arguments:?}: {}", text(&output));
    text(&output)
}

fn refused(ranks: usize, arguments: &[&str]) -> String {
    let output = mpirun(ranks, arguments).output().unwrap();
    assert!(!output.status.success(), "{arguments:?}: {}", text(&output));
    text(&output)
}

struct Case {
    folder: tempfile::TempDir,
    input: String,
}

impl Case {
    fn new(number: usize, length: usize, seed: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("genes.fa");
        genes(&input, number, length, seed);
        Case { input: input.to_str().unwrap().into(), folder }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().into()
    }

    /// Returns the output of the job in one process.
    fn plain(&self, job: &[&str]) -> Vec<u8> {
        let path = self.path("plain");
        let ran =
            Command::new(env!("CARGO_BIN_EXE_pairwave")).args(job).args(["--quiet", "-o", &path]).output().unwrap();
        assert!(ran.status.success(), "{}", text(&ran));
        fs::read(path).unwrap()
    }

    fn is_swept(&self, output: &str) -> bool {
        !Path::new(&format!("{output}.pairwave")).exists()
    }
}

#[test]
fn ranks_write_the_output_of_one_process() {
    let case = Case::new(24, 60, 1);
    let tiny = "assets/papara/tiny";
    let [tree, rows, reads] = ["ref.nwk", "ref.fasta", "reads.fasta"].map(|name| format!("{tiny}/{name}"));
    let proteins = ["queries", "subjects"].map(|name| format!("assets/proteins/{name}.fasta"));
    let jobs: [&[&str]; 15] = [
        &["allpairs", &case.input, "--min-identity", "0.8", "--edit-filter", "on"],
        &["allpairs", &case.input, "--max-hits", "2", "--strand", "both"],
        &["allpairs", &case.input, "--format", "phylip"],
        &["allpairs", &case.input, "--mode", "local", "--format", "paf"],
        &["edit", &case.input, &case.input],
        &["search", &proteins[0], &proteins[1], "--outfmt", "7", "-k", "2"],
        &["search", &case.input, &case.input, "--format", "jsonl", "--id", "0.8"],
        &["pairs", &case.input, &case.input, "--strand", "both"],
        &["papara", "-t", &tree, "-s", &rows, "-q", &reads],
        &["dist", &case.input],
        &["dist", &case.input, "--distance", "edit", "--format", "tsv"],
        &["cluster", &case.input, "--min-identity", "0.8", "--method", "average"],
        &["tree", &case.input, "--distance", "identity"],
        &["msa", &case.input, "--mode", "clustalw"],
        &["allpairs", &case.input, "--min-identity", "0.8", "--edit-filter", "on", "--scheme", "vsearch"],
    ];
    for (index, job) in jobs.iter().enumerate() {
        let expected = case.plain(&[job, &["--device", "cpu"][..]].concat());
        for ranks in 1..=4 {
            let output = case.path("ranks");
            let (input, results) =
                ([["--input", "shared"], ["--input", "broadcast"]], [["--results", "shared"], ["--results", "gather"]]);
            let how = [&input[ranks % 2][..], &results[(ranks + index) / 2 % 2]].concat();
            let options = ["--device", "cpu", "--block-cells", "100K", "-o", &output];
            let said = succeeds(ranks, &[&how[..], job, &options].concat());
            assert!(said.contains(&format!("{ranks} rank")) && said.contains("on 1 machine"), "{said}");
            assert!(fs::read(&output).unwrap() == expected, "{job:?}, {ranks} ranks, {how:?}");
            assert!(case.is_swept(&output));
        }
    }
}

/// Returns the processes of this program that write `output`.
fn ranks_of(output: &str) -> Vec<i32> {
    let is_rank = |path: &PathBuf| {
        let line = fs::read(path.join("cmdline")).unwrap_or_default();
        let mut words = line.split(|&byte| byte == 0);
        words.next().is_some_and(|name| name.ends_with(b"pairwave")) && words.any(|word| word == output.as_bytes())
    };
    let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| Some(entry.ok()?.path()));
    processes.filter(is_rank).filter_map(|path| path.file_name()?.to_str()?.parse().ok()).collect()
}

fn parts(work: &str) -> usize {
    let is_part = |entry: std::io::Result<fs::DirEntry>| {
        entry.is_ok_and(|entry| entry.path().extension().is_some_and(|ending| ending == "part"))
    };
    fs::read_dir(format!("{work}/blocks")).map_or(0, |entries| entries.map(is_part).filter(|is| *is).count())
}

#[cfg(target_os = "linux")]
#[test]
fn killed_rank_loses_no_block() {
    let seed = 7;
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let case = Case::new(60, 200, 2);
    let job = ["allpairs", &case.input, "--min-identity", "0.7", "--device", "cpu", "--threads", "1"];
    let expected = case.plain(&job);
    let (mut killed, mut gone_on) = (0, 0);
    for turn in 0..10 {
        let output = case.path(&format!("out{turn}"));
        let work = format!("{output}.pairwave");
        let all = [&job[..], &["--block-cells", "500K", "-o", &output]].concat();
        let mut run = mpirun(3, &all).spawn().unwrap();
        // Wait for a random number of finished blocks.
        let wanted = 1 + random.usize(..8);
        let begin = Instant::now();
        while parts(&work) < wanted && run.try_wait().unwrap().is_none() && begin.elapsed() < Duration::from_secs(120) {
            sleep(Duration::from_millis(2));
        }
        let ranks = ranks_of(&output);
        if !ranks.is_empty() {
            let victim = ranks[random.usize(..ranks.len())].to_string();
            assert!(Command::new("kill").args(["-9", &victim]).status().is_ok());
            killed += 1;
        }
        let ended = run.wait_with_output().unwrap();
        if ended.status.success() {
            assert!(fs::read(&output).unwrap() == expected);
            continue;
        }
        let there = parts(&work);
        let said = refused(2, &all);
        assert!(said.contains("--resume"), "{said}");
        let said = succeeds(2, &[&all[..], &["--resume"]].concat());
        assert!(said.contains("blocks are already done"), "{said}");
        gone_on += usize::from(there > 0);
        assert!(fs::read(&output).unwrap() == expected, "turn {turn}");
        assert!(case.is_swept(&output));
    }
    assert!(killed > 0 && gone_on > 0, "{killed} killed, {gone_on} went on with some blocks");
}

/// Tests that a job resumes from the blocks that were finished when a rank was killed.
#[cfg(target_os = "linux")]
#[test]
fn every_job_resumes_after_a_killed_rank() {
    let case = Case::new(70, 200, 6);
    let reads = case.path("reads.fa");
    let text = fs::read_to_string("assets/papara/tiny/reads.fasta").unwrap();
    let copies = (0..3).map(|copy| text.replace('>', &format!(">c{copy}_")) + "\n");
    fs::write(&reads, copies.collect::<String>()).unwrap();
    let [tree, rows] = ["ref.nwk", "ref.fasta"].map(|name| format!("assets/papara/tiny/{name}"));
    let jobs: [(&[&str], &str); 3] = [
        (&["edit", &case.input, &case.input, "--align"], "2M"),
        (&["papara", "-t", &tree, "-s", &rows, "-q", &reads], "2M"),
        (&["dist", &case.input], "1M"),
    ];
    let mut gone_on = 0;
    for (turn, (job, cells)) in jobs.iter().enumerate() {
        let job = [job, &["--device", "cpu", "--threads", "1"][..]].concat();
        let expected = case.plain(&job);
        let output = case.path(&format!("other{turn}"));
        let work = format!("{output}.pairwave");
        let all = [&job[..], &["--block-cells", cells, "-o", &output]].concat();
        let mut run = mpirun(2, &all).spawn().unwrap();
        let begin = Instant::now();
        while parts(&work) == 0 && run.try_wait().unwrap().is_none() && begin.elapsed() < Duration::from_secs(120) {
            sleep(Duration::from_millis(1));
        }
        if let Some(victim) = ranks_of(&output).last() {
            assert!(Command::new("kill").args(["-9", &victim.to_string()]).status().is_ok());
        }
        let ended = run.wait_with_output().unwrap();
        if !ended.status.success() {
            gone_on += usize::from(parts(&work) > 0);
            let said = succeeds(3, &[&all[..], &["--resume"]].concat());
            assert!(said.contains("blocks are already done"), "{said}");
        }
        assert!(fs::read(&output).unwrap() == expected, "{job:?}");
        assert!(case.is_swept(&output));
    }
    assert!(gone_on > 0, "none was killed before its end");
}

#[test]
fn dry_run_reports_and_writes_nothing() {
    let case = Case::new(24, 60, 7);
    let output = case.path("out");
    let job = ["allpairs", &case.input, "--device", "cpu", "--threads", "2", "--block-cells", "50K"];
    let ran = mpirun(3, &[&job[..], &["--dry-run", "-o", &output]].concat()).output().unwrap();
    assert!(ran.status.success(), "{}", text(&ran));
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    let has = |words: &str| assert_eq!(said.matches(words).count(), 1, "{words}: {said}");
    has(&format!("input {}: ", case.input));
    has("276 pairs");
    has("files of blocks: about ");
    has("\n3 ranks with 0.0180 TCUPS in total: ");
    (0..3).for_each(|rank| has(&format!("rank {rank} on ")));
    assert_eq!(said.matches(": 2 CPU threads").count(), 3, "{said}");
    assert!(case.is_swept(&output) && !Path::new(&output).exists());
    // A dry run needs no output file.
    succeeds(1, &[&job[..], &["--dry-run"]].concat());
    let said = refused(2, &["--gpus-per-rank", "none", "allpairs", &case.input, "-o", &output]);
    assert_eq!(said.matches("--gpus-per-rank none").count(), 1, "{said}");
    let expected = case.plain(&job[..4]);
    succeeds(2, &[&job[..], &["--gpus-per-rank", "all", "-o", &output]].concat());
    assert!(fs::read(&output).unwrap() == expected);
}

#[test]
fn second_run_in_a_directory_is_refused() {
    // There are enough blocks that the first run still computes when the second one starts.
    let case = Case::new(80, 500, 3);
    let output = case.path("out");
    let job = ["allpairs", &case.input, "--device", "cpu", "--threads", "1", "--block-cells", "500K", "-o", &output];
    let mut first = mpirun(2, &job).spawn().unwrap();
    let work = format!("{output}.pairwave");
    while parts(&work) == 0 && first.try_wait().unwrap().is_none() {
        sleep(Duration::from_millis(2));
    }
    let said = refused(1, &[&job[..], &["--resume"]].concat());
    assert!(said.contains("is computing these blocks") && said.contains("process "), "{said}");
    assert!(first.wait_with_output().unwrap().status.success());
    assert!(Path::new(&output).exists() && case.is_swept(&output));
}

#[test]
fn search_resumes_with_other_threads() {
    let case = Case::new(9, 60, 6);
    let output = case.path("out");
    let all = ["search", &case.input, &case.input, "--device", "cpu", "--block-cells", "20K", "-o", &output, "--keep"];
    succeeds(2, &[&all[..], &["-p", "2"]].concat());
    let expected = fs::read(&output).unwrap();
    assert!(!expected.is_empty());
    fs::remove_file(&output).unwrap();
    let said = succeeds(1, &[&all[..], &["--resume", "-p1"]].concat());
    assert!(said.contains("blocks are already done"), "{said}");
    assert!(fs::read(&output).unwrap() == expected);
    let said = refused(1, &[&all[..], &["--resume", "-p1", "-k", "1"]].concat());
    assert_eq!(said.matches("these blocks belong to another job").count(), 1, "{said}");
}

#[test]
fn impossible_jobs_are_reported_once() {
    let case = Case::new(6, 40, 4);
    let output = case.path("out");
    let said = refused(3, &["allpairs", &case.input]);
    assert_eq!(said.matches("name it with --output").count(), 1, "{said}");
    let said = refused(3, &["allpairs", "none.fa", "-o", &output]);
    assert_eq!(said.matches("none.fa").count(), 1, "{said}");
    let said = refused(2, &["allpairs", "-", "-o", &output]);
    assert_eq!(said.matches("standard input").count(), 1, "{said}");
    for wrong in ["--wrong", "-wrong"] {
        let said = refused(2, &["allpairs", &case.input, "-o", &output, wrong]);
        assert_eq!(said.matches(&format!("argument '{wrong}'")).count(), 1, "{said}");
    }
    let all = ["allpairs", &case.input, "--device", "cpu", "-o", &output, "--keep"];
    succeeds(2, &all);
    assert!(Path::new(&format!("{output}.pairwave")).exists());
    let said = refused(2, &[&all[..], &["--resume", "--min-identity", "0.5"]].concat());
    assert_eq!(said.matches("these blocks belong to another job").count(), 1, "{said}");
    genes(Path::new(&case.input), 7, 40, 5);
    let said = refused(2, &[&all[..], &["--resume"]].concat());
    assert!(said.contains("its content has changed since the job was planned"), "{said}");
}
