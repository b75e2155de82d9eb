//! Jobs that are killed and restarted with any state of their checkpoints.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use pairwave::Error;
use pairwave::jobs::long::LongTuning;
use pairwave::jobs::{LongAlignment, LongWant, Strands};
use pairwave::long::LongEngine;
use pairwave::long::mock::Textbook;
use pairwave::score::{EndGaps, Mode};
use pairwave::seq::Alphabet;

use super::{GAPS, Hook, Hooked, MODES, dna, expected, hits, job, one_engine, related, run, textbook, three_engines};

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    // Another thread may rename or remove a file during the copy. Either state is possible after a
    // kill.
    for entry in fs::read_dir(from).into_iter().flatten().flatten() {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            let _ = fs::copy(path, to);
        }
    }
}

/// Returns engines of different speeds.
fn textbook_engines(engines: u32) -> Vec<Textbook> {
    (1..=engines).map(|number| textbook(&format!("engine {number}"), 1e8 * f64::from(number))).collect()
}

/// Runs a job with a checkpoint on these engines. Returns a copy of the checkpoint after `after`
/// marks, which is the state that a kill at that time leaves.
pub(crate) fn killed(job: &LongAlignment, after: u64, engines: Vec<Textbook>) -> tempfile::TempDir {
    let (live, left) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (from, to) = (live.path().to_owned(), left.path().to_owned());
    let marks = Arc::new(Mutex::new(0));
    let hook: Hook = Arc::new(move |_| {
        let mut marks = marks.lock().unwrap();
        *marks += 1;
        if *marks == after {
            copy(&from, &to);
        }
        // Work after the copy has no effect, so the job is ended.
        if *marks < after { Ok(()) } else { Err(Error::Interrupted) }
    });
    let hooked = |inner| -> Box<dyn LongEngine> {
        Box::new(Hooked { inner, hook: Arc::clone(&hook), marks: AtomicU64::new(0) })
    };
    let job = LongAlignment { checkpoint: Some(live.path().into()), ..job.clone() };
    let error = run(&job, engines.into_iter().map(hooked).collect()).unwrap_err();
    assert!(matches!(error, Error::Interrupted), "{error}");
    left
}

#[test]
fn a_killed_job_is_resumed() {
    let (query, target) = related(8, Alphabet::Dna, 500, 450);
    let mut gone_on = 0;
    for (case, (mode, end_gaps)) in MODES.into_iter().enumerate() {
        let scoring = dna(GAPS[1], mode, end_gaps);
        let whole = expected(&query, &target, &scoring);
        for (want, after) in [
            (LongWant::Alignment, 2),
            (LongWant::Alignment, 13),
            (LongWant::Alignment, 37),
            (LongWant::Score, 9),
            (LongWant::Score, 30),
        ] {
            let tuning = LongTuning {
                panel_columns: Some(30),
                belt_rows: (case == 1).then_some(256),
                ..job(&[], &[], scoring.clone()).tuning
            };
            let job = LongAlignment { want, tuning, ..job(&query, &target, scoring.clone()) };
            for engines in [1, 3] {
                let what = format!("{mode:?}, {end_gaps:?}, {want:?} after {after} marks, {engines} engines");
                let left = killed(&job, after, textbook_engines(engines));
                let tuning = LongTuning { save_every: None, ..job.tuning.clone() };
                let again = LongAlignment { checkpoint: Some(left.path().into()), tuning, ..job.clone() };
                let result = run(&again, one_engine()).unwrap();
                assert_eq!(result.hits[0].score, whole[0].score, "{what}");
                if want == LongWant::Alignment {
                    assert_eq!(result.hits, whole, "{what}");
                }
                assert!(result.summary.details.resumed, "{what}");
                let computed: u64 = result.summary.engines.iter().map(|engine| engine.cells).sum();
                gone_on += u32::from(computed < 500 * 450);
                // The job is done, so nothing is computed again.
                let done = run(&again, one_engine()).unwrap();
                assert_eq!(done.hits, result.hits);
                assert_eq!(done.summary.cells, 0);
            }
        }
    }
    assert!(gone_on >= 25, "{gone_on} of 30 runs went on from what was there");
}

#[test]
fn several_alignments_are_resumed() {
    let (query, target) = related(11, Alphabet::Dna, 200, 250);
    let job = LongAlignment {
        top: 4,
        strand: Strands::Both,
        ..job(&query, &target, dna(GAPS[1], Mode::Local, EndGaps::Charged))
    };
    let whole = hits(&job, one_engine());
    assert_eq!(whole.len(), 4);
    for after in [3, 20, 33, 40] {
        let left = killed(&job, after, textbook_engines(1));
        let again = LongAlignment { checkpoint: Some(left.path().into()), ..job.clone() };
        assert_eq!(hits(&again, three_engines()), whole, "after {after} marks");
    }
}

#[test]
fn damaged_files_are_computed_again() {
    let (query, target) = related(9, Alphabet::Dna, 400, 300);
    let scoring = dna(GAPS[1], Mode::Local, EndGaps::Charged);
    let expected = expected(&query, &target, &scoring);
    let job = job(&query, &target, scoring);
    let left = killed(&job, 15, textbook_engines(1));
    let mut files: Vec<_> =
        fs::read_dir(left.path().join("plus-0/0")).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 5);
    for (index, file) in files.iter().enumerate() {
        let broken = tempfile::tempdir().unwrap();
        copy(left.path(), broken.path());
        let path = broken.path().join(file.strip_prefix(left.path()).unwrap());
        let mut bytes = fs::read(&path).unwrap();
        match index % 3 {
            0 => bytes.truncate(bytes.len() / 2),
            1 => bytes[5] ^= 1,
            _ => fs::remove_file(&path).unwrap(),
        }
        if path.exists() {
            fs::write(&path, bytes).unwrap();
        }
        let again = LongAlignment { checkpoint: Some(broken.path().into()), ..job.clone() };
        assert_eq!(hits(&again, three_engines()), expected, "{}", path.display());
    }
}

#[test]
fn a_checkpoint_of_another_job_is_refused() {
    let (query, target) = related(10, Alphabet::Dna, 200, 200);
    let job = job(&query, &target, dna(GAPS[1], Mode::Local, EndGaps::Charged));
    let left = killed(&job, 3, textbook_engines(1));
    let checkpoint = Some(left.path().to_path_buf());
    let other = LongAlignment { min_score: 7, checkpoint: checkpoint.clone(), ..job.clone() };
    let error = run(&other, one_engine()).unwrap_err();
    assert!(matches!(error, Error::Usage(_)), "{error}");
    assert!(error.to_string().contains("min_score was 1, now it is 7"), "{error}");
    let shorter = LongAlignment { query: support::store(Alphabet::Dna, &[query[1..].to_vec()]), checkpoint, ..job };
    let error = run(&shorter, one_engine()).unwrap_err().to_string();
    assert!(error.contains("query was 200 bytes, ") && error.contains("now it is 199 bytes, "), "{error}");
}

#[test]
fn one_run_at_a_time_uses_a_checkpoint() {
    let (query, target) = related(12, Alphabet::Dna, 200, 200);
    let job = job(&query, &target, dna(GAPS[1], Mode::Local, EndGaps::Charged));
    let directory = tempfile::tempdir().unwrap();
    let job = LongAlignment { checkpoint: Some(directory.path().into()), ..job };
    let second = job.clone();
    let engine = Hooked::new(textbook("first", 1e8), move |_| {
        let error = run(&second, one_engine()).unwrap_err();
        assert!(matches!(error, Error::Usage(_)) && error.to_string().contains("another run"), "{error}");
        Ok(())
    });
    let first = run(&job, vec![Box::new(engine)]).unwrap();
    assert_eq!(hits(&job, one_engine()), first.hits);
}

#[test]
fn a_checkpoint_of_another_version_is_refused() {
    let (query, target) = related(13, Alphabet::Dna, 200, 200);
    let job = job(&query, &target, dna(GAPS[1], Mode::Local, EndGaps::Charged));
    let left = killed(&job, 3, textbook_engines(1));
    let path = left.path().join("manifest.json");
    let manifest = fs::read_to_string(&path).unwrap();
    assert!(manifest.contains("\"version\": 3"), "{manifest}");
    fs::write(&path, manifest.replacen("\"version\": 3", "\"version\": 2", 1)).unwrap();
    let error = run(&LongAlignment { checkpoint: Some(left.path().into()), ..job }, one_engine()).unwrap_err();
    assert!(matches!(error, Error::Usage(_)), "{error}");
    assert!(
        error.to_string().contains("another version of pairwave wrote it (format 2, this version has 3)"),
        "{error}"
    );
}
