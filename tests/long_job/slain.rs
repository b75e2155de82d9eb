//! Processes that are really killed: this test's own binary, run again with a job in its environment.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pairwave::jobs::{LongAlignment, Strand};
use pairwave::long::LongEngine;
use pairwave::score::{EndGaps, Mode};
use pairwave::seq::Alphabet;

use super::{GAPS, Hooked, dna, hits, job, one, related, run, textbook};

/// Where the child keeps its checkpoint. Its answer is beside it.
const DIRECTORY: &str = "PAIRWAVE_TEST_CHECKPOINT";

fn long_job() -> LongAlignment {
    let (query, target) = related(40, Alphabet::Dna, 700, 650);
    let scoring = dna(GAPS[1], Mode::Local, EndGaps::Charged);
    LongAlignment { strand: Strand::Both, top: 2, ..job(&query, &target, scoring) }
}

/// What the child does; nothing where there is no such job.
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
fn a_process_that_was_killed_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let spawn = || {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "slain::child"])
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
    let begin = Instant::now();
    assert!(spawn().wait().unwrap().success());
    assert!(begin.elapsed() < Duration::from_secs(60));
    assert!(directory.path().join("checkpoint/manifest.json").exists());
    assert_eq!(std::fs::read(answer).unwrap(), serde_json::to_vec(&hits(&long_job(), one())).unwrap());
}
