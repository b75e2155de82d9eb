//! Tests of plans that cluster schedulers run: Slurm, whose daemons this test starts, and
//! Snakemake. The scripts are in `assets/schedulers`. The result must equal the output of the plain
//! command byte for byte, even if processes are killed.

#![cfg(target_os = "linux")]

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

const ALL_GENES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/16s/gold200.fasta");
const CLUSTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/schedulers");
/// A cache directory that cannot exist, because its parent is a file.
const NO_CACHE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml/cache");
/// Options of the job, and the block size. Sixty genes give about seven blocks.
const OPTIONS: [&str; 2] = ["--min-identity", "0.8"];
const CUT: [&str; 2] = ["--block-cells", "600M"];

fn program() -> PathBuf {
    assert_cmd::cargo::cargo_bin("pairwave")
}

/// Runs a command, which must succeed.
fn run_command(command: &mut Command) -> Output {
    let output = command.stdin(Stdio::null()).output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert!(output.status.success(), "{command:?}: {}\n{out}\n{err}", output.status);
    output
}

fn pairwave(arguments: &[&str]) -> Output {
    run_command(Command::new(program()).args(arguments).env("PAIRWAVE_CACHE_DIR", NO_CACHE))
}

/// Creates a directory whose name a shell splits unless it is quoted.
fn quotable(parent: &TempDir) -> PathBuf {
    let directory = parent.path().join("it's a \"plan\", 1 & 2");
    fs::create_dir(&directory).unwrap();
    directory
}

/// Writes sixty 16S genes.
fn genes(directory: &Path) -> String {
    let all = fs::read_to_string(ALL_GENES).unwrap();
    let some: String = all.split_inclusive("\n>").take(60).collect();
    let path = directory.join("genes.fa");
    fs::write(&path, some.strip_suffix('>').unwrap_or(&some)).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Returns the output of the plain command.
fn plain(genes: &str) -> Vec<u8> {
    let output = pairwave(&[&["allpairs", genes], &OPTIONS[..], &["--device", "cpu", "--quiet"]].concat());
    assert!(output.stdout.iter().filter(|&&byte| byte == b'\n').count() > 10);
    output.stdout
}

/// Plans the job. Returns the number of blocks.
fn plan(genes: &str, directory: &Path) -> usize {
    let name = directory.to_str().unwrap();
    pairwave(&[&["plan", "allpairs", genes], &OPTIONS[..], &CUT[..], &["-o", name, "--quiet"]].concat());
    let manifest: serde_json::Value =
        serde_json::from_slice(&fs::read(directory.join("manifest.json")).unwrap()).unwrap();
    let blocks = manifest["blocks"].as_array().unwrap().len();
    assert!((4..=12).contains(&blocks), "{blocks} blocks");
    blocks
}

/// Returns the missing blocks as a list of array indices.
fn missing(plan: &Path) -> String {
    let output = pairwave(&["run", plan.to_str().unwrap(), "--missing"]);
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn merged(plan: &Path, output: &Path) -> Vec<u8> {
    pairwave(&["merge", plan.to_str().unwrap(), "-o", output.to_str().unwrap(), "--quiet"]);
    fs::read(output).unwrap()
}

/// Writes a shell script that replaces pairwave. It runs `body` with the arguments of the script,
/// and `body` calls `$PROGRAM`.
fn wrapper(directory: &Path, body: &str) -> PathBuf {
    let path = directory.join("wrapper.sh");
    fs::write(&path, format!("#!/bin/bash\nPROGRAM='{}'\n{body}\n", program().display())).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// Slurm's controller and one node, on this host.
struct Slurm {
    directory: TempDir,
}

impl Slurm {
    fn start() -> Slurm {
        let directory = TempDir::new().unwrap();
        let here = directory.path().display();
        let host = String::from_utf8(run_command(Command::new("hostname").arg("-s")).stdout).unwrap();
        let host = host.trim();
        let free = || TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let user = String::from_utf8(run_command(Command::new("id").arg("-un")).stdout).unwrap();
        let user = user.trim();
        fs::create_dir(directory.path().join("state")).unwrap();
        fs::create_dir(directory.path().join("spool")).unwrap();
        let text = format!(
            "ClusterName=test\nSlurmctldHost={host}(127.0.0.1)\nSlurmUser={user}\nSlurmdUser={user}\n\
             AuthType=auth/none\nCredType=cred/none\nSlurmctldPort={}\nSlurmdPort={}\n\
             StateSaveLocation={here}/state\nSlurmdSpoolDir={here}/spool\nSlurmctldPidFile={here}/controller.pid\n\
             SlurmdPidFile={here}/node.pid\nSlurmctldLogFile={here}/controller.log\nSlurmdLogFile={here}/node.log\n\
             ProctrackType=proctrack/pgid\nTaskPlugin=task/none\nSwitchType=switch/none\nMpiDefault=none\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nReturnToService=2\nJobRequeue=1\nKillWait=2\n\
             SchedulerParameters=sched_interval=1,batch_sched_delay=0\n\
             NodeName={host} NodeAddr=127.0.0.1 CPUs={} State=UNKNOWN\n\
             PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n",
            free(),
            free(),
            std::thread::available_parallelism().unwrap()
        );
        fs::write(directory.path().join("slurm.conf"), text).unwrap();
        // Without a version, the node searches for mounted control groups. This test does not use
        // them.
        if !fs::read_to_string("/proc/mounts").unwrap().contains("cgroup") {
            fs::write(directory.path().join("cgroup.conf"), "CgroupPlugin=cgroup/v1\n").unwrap();
        }
        let slurm = Slurm { directory };
        run_command(&mut slurm.command("slurmctld"));
        run_command(slurm.command("slurmd").args(["-N", host]));
        let begin = Instant::now();
        loop {
            let nodes = slurm.command("sinfo").args(["-h", "-o", "%t"]).output().unwrap();
            if String::from_utf8_lossy(&nodes.stdout).trim() == "idle" {
                return slurm;
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "Slurm's node does not come up: {nodes:?}");
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    fn command(&self, name: &str) -> Command {
        let path = format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap());
        let mut command = Command::new(name);
        command.env("PATH", path).env("SLURM_CONF", self.directory.path().join("slurm.conf"));
        command.current_dir(self.directory.path());
        command
    }

    /// Submits the script for some blocks of a plan and waits for all tasks. Returns whether all
    /// tasks succeeded.
    fn array(&self, indices: &str, plan: &Path, program: &Path) -> bool {
        let mut command = self.command("sbatch");
        command.env("PLAN", plan).env("PAIRWAVE", program);
        command.args(["--wait", "--cpus-per-task=1", "--array", indices, "--export=ALL"]);
        let output = command.arg(format!("{CLUSTER}/slurm.sh")).stdin(Stdio::null()).output().unwrap();
        let submitted = String::from_utf8_lossy(&output.stdout).contains("Submitted batch job");
        assert!(submitted, "{}", String::from_utf8_lossy(&output.stderr));
        output.status.success()
    }

    /// Returns the output of all tasks.
    fn logs(&self) -> String {
        let files = fs::read_dir(self.directory.path()).unwrap().map(|entry| entry.unwrap().path());
        let logs = files.filter(|path| path.to_string_lossy().contains("/pairwave-"));
        logs.map(|path| fs::read_to_string(path).unwrap()).collect()
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        for name in ["node.pid", "controller.pid"] {
            if let Ok(pid) = fs::read_to_string(self.directory.path().join(name)) {
                let _ = Command::new("kill").arg(pid.trim()).status();
            }
        }
    }
}

#[test]
fn slurm_array_equals_the_plain_output_after_a_kill() {
    let parent = TempDir::new().unwrap();
    let directory = quotable(&parent);
    let at = directory.join("genes.plan");
    let genes = genes(&directory);
    let blocks = plan(&genes, &at);
    assert_eq!(missing(&at), format!("0-{}", blocks - 1));
    let slurm = Slurm::start();
    // The wrapper kills the process of block 2 once, immediately after its start.
    let program = wrapper(
        &directory,
        "if [ \"$4\" = 2 ] && mkdir \"$2.killed\" 2>/dev/null; then\n\
         \"$PROGRAM\" \"$@\" --device cpu & until [ -e \"$2/claims/000002.0\" ]; do :; done\n\
         kill -9 $!; wait $!; exit $?\nfi\n\
         exec \"$PROGRAM\" \"$@\" --device cpu",
    );
    assert!(!slurm.array(&missing(&at), &at, &program), "a task was killed");
    assert_eq!(missing(&at), "2", "{}", slurm.logs());
    let output = directory.join("genes.tsv");
    let refused = Command::new(self::program()).arg("merge").arg(&at).arg("-o").arg(&output).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(!output.exists() && String::from_utf8_lossy(&refused.stderr).contains('2'), "{refused:?}");
    assert!(slurm.array(&missing(&at), &at, &program), "{}", slurm.logs());
    assert_eq!(missing(&at), "");
    // A lost node that returns must not compute a finished block again.
    let part = at.join("blocks/000001.part");
    let before = fs::metadata(&part).unwrap().modified().unwrap();
    assert!(slurm.array("1", &at, &program), "{}", slurm.logs());
    assert_eq!(fs::metadata(&part).unwrap().modified().unwrap(), before);
    assert!(merged(&at, &output) == plain(&genes));
}

#[test]
fn snakemake_equals_the_plain_output_after_failures() {
    let parent = TempDir::new().unwrap();
    let directory = quotable(&parent);
    // Block 1 fails twice, so that Snakemake's second attempt fails too.
    let program = wrapper(
        &directory,
        "if [ \"$1\" = run ] && [ \"$4\" = 000001 ]; then\n\
         for try in 1 2; do mkdir \"$2.failed.$try\" 2>/dev/null && exit 1; done\nfi\n\
         [ \"$1\" = run ] && set -- \"$@\" --device cpu\n\
         exec \"$PROGRAM\" \"$@\"",
    );
    let genes = genes(&directory);
    let output = directory.join("genes.tsv");
    let snakemake = |retries: &str| {
        let set = |name: &str, value: &dyn std::fmt::Display| format!("{name}={value}");
        let mut command = Command::new("snakemake");
        command.args(["--snakefile", &format!("{CLUSTER}/Snakefile"), "--cores", "2", "--retries", retries]);
        command.arg("--quiet").arg("all").current_dir(parent.path()).stdin(Stdio::null());
        command.arg("--config").arg(set("pairwave", &program.display())).arg(set("sequences", &genes));
        command.arg(set("options", &OPTIONS.join(" "))).arg(set("cut", &CUT.join(" ")));
        command.arg(set("output", &output.display())).arg("threads=1");
        command
    };
    let failed = snakemake("0").output().expect("Snakemake is installed (pip install snakemake)");
    assert!(!failed.status.success() && !output.exists(), "{}", String::from_utf8_lossy(&failed.stderr));
    run_command(&mut snakemake("1"));
    assert!(fs::read(&output).unwrap() == plain(&genes));
}

#[test]
fn snakemake_refuses_names_that_it_would_read_as_wildcards() {
    let parent = TempDir::new().unwrap();
    for (option, name) in [("sequences", "{genes}.fa"), ("output", "genes{.tsv")] {
        let mut command = Command::new("snakemake");
        command.args(["--snakefile", &format!("{CLUSTER}/Snakefile"), "--cores", "1", "--dry-run"]);
        command.current_dir(parent.path()).stdin(Stdio::null()).arg("--config").arg(format!("{option}={name}"));
        let refused = command.output().expect("Snakemake is installed (pip install snakemake)");
        // A dry run writes its errors to the standard output.
        let message = String::from_utf8_lossy(&[refused.stdout, refused.stderr].concat()).into_owned();
        assert!(!refused.status.success() && message.contains(&format!("{option}={name}: ")), "{message}");
    }
}
