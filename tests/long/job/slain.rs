//! Kills real processes. The child process is this test's own binary, started again with a job in
//! its environment.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use pairwave::jobs::{LongAlignment, Strands};
use pairwave::long::LongEngine;
use pairwave::score::{EndGaps, Mode};
use pairwave::seq::Alphabet;

use super::{GAPS, Hooked, dna, hits, job, one_engine, related, run, textbook};

/// Environment variable with the directory of the child's checkpoint. The child's result is stored
/// next to the checkpoint.
const DIRECTORY: &str = "PAIRWAVE_TEST_CHECKPOINT";

fn long_job() -> LongAlignment {
    let (query, target) = related(40, Alphabet::Dna, 700, 650);
    let scoring = dna(GAPS[1], Mode::Local, EndGaps::Charged);
    LongAlignment { strand: Strands::Both, top: 2, ..job(&query, &target, scoring) }
}

/// Runs the child's job if the variable is set.
#[test]
fn child() {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    let directory = Path::new(&directory);
    let slow = |label: &str| -> Box<dyn LongEngine> {
        Box::new(Hooked::new(textbook(label, 1e8), |_| {
            std::thread::sleep(Duration::from_millis(4));
            Ok(())
        }))
    };
    let job = LongAlignment { checkpoint: Some(directory.join("checkpoint")), ..long_job() };
    let result = run(&job, vec![slow("one"), slow("two")]).unwrap();
    std::fs::write(directory.join("answer"), serde_json::to_vec(&result.hits).unwrap()).unwrap();
}

#[test]
fn a_killed_process_is_resumed() {
    let directory = tempfile::tempdir().unwrap();
    let spawn = || {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "job::slain::child"])
            .env(DIRECTORY, directory.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    };
    let answer = directory.path().join("answer");
    let mut killed = 0;
    for moment in [150, 300, 450] {
        let mut child = spawn();
        std::thread::sleep(Duration::from_millis(moment));
        killed += u32::from(child.try_wait().unwrap().is_none());
        let _ = child.kill();
        child.wait().unwrap();
    }
    assert!(killed > 0, "it was over before it could be killed");
    assert!(spawn().wait().unwrap().success());
    assert!(directory.path().join("checkpoint/manifest.json").exists());
    assert_eq!(std::fs::read(answer).unwrap(), serde_json::to_vec(&hits(&long_job(), one_engine())).unwrap());
}

/// Environment variable with the directory of the child's files of borders. It also states whether
/// the child has a checkpoint there.
const SPILLED: &str = "PAIRWAVE_TEST_SPILLED";
const WITH_CHECKPOINT: &str = "PAIRWAVE_TEST_WITH_CHECKPOINT";

fn spilling_job(checkpoint: Option<&Path>) -> LongAlignment {
    LongAlignment {
        host_memory: Some(500),
        checkpoint: checkpoint.map(Path::to_owned),
        top: 1,
        strand: Strands::Plus,
        ..long_job()
    }
}

/// Runs the job of the other child, which stops before the job is complete.
#[test]
fn spilling_child() {
    let Some(directory) = std::env::var_os(SPILLED) else { return };
    let directory = Path::new(&directory).to_owned();
    let checkpoint = std::env::var_os(WITH_CHECKPOINT).map(|_| directory.join("checkpoint"));
    let stands = Hooked::new(textbook("one", 1e8), move |count| {
        if count == 25 {
            std::fs::write(directory.join("ready"), "").unwrap();
            std::thread::sleep(Duration::from_secs(600));
        }
        Ok(())
    });
    let job = spilling_job(checkpoint.as_deref());
    run(&job, vec![Box::new(stands)]).unwrap();
}

#[test]
fn a_killed_process_leaves_no_borders_behind() {
    for with_checkpoint in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let (temporary, checkpoint) = (directory.path().join("temporary"), directory.path().join("checkpoint"));
        std::fs::create_dir(&temporary).unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "job::slain::spilling_child"])
            .env(SPILLED, directory.path())
            .env("TMPDIR", &temporary);
        if with_checkpoint {
            command.env(WITH_CHECKPOINT, "1");
        }
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while !directory.path().join("ready").exists() {
            assert!(child.try_wait().unwrap().is_none(), "it ended before it could be killed");
            std::thread::sleep(Duration::from_millis(5));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let names = |directory: &Path| -> Vec<String> {
            let entries = std::fs::read_dir(directory).into_iter().flatten();
            let mut names: Vec<String> =
                entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        };
        assert_eq!(names(&temporary), [""; 0]);
        if with_checkpoint {
            assert_eq!(names(&checkpoint), ["lock", "manifest.json", "plus-0"]);
            let again = run(&spilling_job(Some(&checkpoint)), one_engine()).unwrap();
            assert!(again.summary.details.resumed && again.summary.details.spilled_bytes > 0);
            assert_eq!(again.hits, hits(&spilling_job(None), one_engine()));
            let notes = ["hits.json", "lock", "manifest.json", "result.json", "walk-plus-0.json"];
            assert_eq!(names(&checkpoint), notes);
        }
    }
}
