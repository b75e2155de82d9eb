//! Engines that keep columns inside a panel give the same alignments, with fewer and wider panels.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use pairwave::error::Error;
use pairwave::jobs::LongAlignment;
use pairwave::jobs::long::LongTuning;
use pairwave::long::LongEngine;
use pairwave::long::mock::Textbook;
use pairwave::score::{EndGaps, Mode};
use pairwave::seq::Alphabet;

use super::killed::killed;
use super::{Engines, GAPS, Hooked, MODES, dna, expected, hits, job, related, run, textbook};

/// Returns an engine that takes panels of 300 columns and keeps columns inside them.
fn wide_engine(label: &str, speed: f64) -> Textbook {
    Textbook { panel_columns: 300, ..textbook(label, speed) }.with_kept_columns()
}

/// Returns engines, some of which keep columns.
fn mixed() -> Engines {
    vec![Box::new(wide_engine("wide", 4e8)), Box::new(textbook("narrow", 1e8)), Box::new(wide_engine("another", 2e8))]
}

#[test]
fn panels_are_wide_and_regions_small() {
    let (query, target) = related(20, Alphabet::Dna, 700, 900);
    for (mode, end_gaps) in MODES {
        let scoring = dna(GAPS[1], mode, end_gaps);
        let expected = expected(&query, &target, &scoring);
        let job = job(&query, &target, scoring);
        let counted = |keeps: bool| {
            let marks = Arc::new(AtomicU32::new(0));
            let counter = Arc::clone(&marks);
            let inner = Textbook { keeps_columns: keeps, ..wide_engine("one", 1e8) };
            let engine = Hooked::new(inner, move |_| {
                counter.fetch_add(1, Ordering::Relaxed);
                Ok(())
            });
            let result = run(&job, vec![Box::new(engine)]).unwrap();
            assert_eq!(result.hits, expected);
            (marks.load(Ordering::Relaxed), result.summary.details.traced_cells)
        };
        let (wide, narrow) = (counted(true), counted(false));
        // Panels have 256 instead of 64 columns. The last one also takes the rest. Each has 11
        // marks.
        assert_eq!((wide.0, narrow.0), (4 * 11, 15 * 11));
        assert!(wide.1 < narrow.1 + narrow.1 / 4, "{wide:?} {narrow:?}");
    }
}

#[test]
fn columns_spill_and_mix() {
    for (seed, (m, n)) in (21..).zip([(130, 700), (600, 450), (65, 1300)]) {
        let (query, target) = related(seed, Alphabet::Dna, m, n);
        for (mode, end_gaps) in MODES {
            let scoring = dna(GAPS[1], mode, end_gaps);
            let expected = expected(&query, &target, &scoring);
            let job = job(&query, &target, scoring);
            let tight = LongAlignment {
                host_memory: Some(500),
                tuning: LongTuning { belt_rows: Some(128), ..job.tuning.clone() },
                ..job.clone()
            };
            for job in [&job, &tight] {
                assert_eq!(hits(job, mixed()), expected, "{m} x {n}, {mode:?}");
                assert_eq!(hits(job, vec![Box::new(wide_engine("one", 1e8))]), expected, "{m} x {n}, {mode:?}");
            }
        }
    }
}

#[test]
fn an_abandoned_panel_starts_at_its_first_row() {
    let (query, target) = related(25, Alphabet::Dna, 500, 700);
    for (mode, end_gaps) in MODES {
        let scoring = dna(GAPS[1], mode, end_gaps);
        let expected = expected(&query, &target, &scoring);
        let job = job(&query, &target, scoring);
        for fails_at in [5, 12, 20] {
            let weak = || -> Box<dyn LongEngine> {
                Box::new(Hooked::new(wide_engine("weak", 4e8), move |count| match count < fails_at {
                    true => Ok(()),
                    false => Err(Error::Device { device: "weak".into(), message: "lost".into() }),
                }))
            };
            for other in [wide_engine("other", 1e8), textbook("other", 1e8)] {
                assert_eq!(hits(&job, vec![weak(), Box::new(other)]), expected, "{mode:?}, {fails_at} marks");
            }
        }
    }
}

#[test]
fn a_job_with_kept_columns_is_resumed() {
    let (query, target) = related(26, Alphabet::Dna, 500, 1000);
    for (mode, end_gaps) in MODES {
        let scoring = dna(GAPS[1], mode, end_gaps);
        let whole = expected(&query, &target, &scoring);
        let job = job(&query, &target, scoring);
        let all = |summary: &pairwave::Summary<pairwave::LongDetails>| {
            summary.engines.iter().map(|engine| engine.cells).sum::<u64>()
        };
        for after in [3, 11, 21, 30] {
            let left = killed(&job, after, vec![wide_engine("one", 1e8)]);
            let again = LongAlignment { checkpoint: Some(left.path().into()), ..job.clone() };
            let result = run(&again, mixed()).unwrap();
            assert_eq!(result.hits, whole, "{mode:?} after {after} marks");
            assert!(result.summary.details.resumed);
            // Finished panels, which have eight marks each, are not computed again. Their kept
            // columns are restored, too.
            let done = (after - 1) / 8;
            assert!(all(&result.summary) <= 500 * (1000 - 256 * done), "{mode:?} after {after} marks");
            assert!(result.summary.details.traced_cells < 500 * 1000 / 3, "{mode:?} after {after} marks: {result:?}");
        }
    }
    let scoring = dna(GAPS[1], Mode::Local, EndGaps::Charged);
    let job = super::job(&query, &target, scoring);
    let left = killed(&job, 25, vec![wide_engine("one", 1e8), textbook("two", 1e8)]);
    let again = LongAlignment { checkpoint: Some(left.path().into()), ..job.clone() };
    assert_eq!(hits(&again, super::three_engines()), hits(&job, super::one_engine()));
}

#[test]
fn a_pair_traced_at_once_needs_no_grid() {
    let (query, target) = related(27, Alphabet::Dna, 500, 400);
    for (mode, end_gaps) in MODES {
        let scoring = dna(GAPS[1], mode, end_gaps);
        let expected = expected(&query, &target, &scoring);
        let job = LongAlignment { tuning: LongTuning::default(), ..job(&query, &target, scoring) };
        let whole = || Box::new(Textbook { trace_cells: 1 << 20, ..wide_engine("whole", 4e8) });
        // After the first engine is lost, the last engine traces regions that are divided further.
        let lost = Box::new(Hooked::new(*whole(), |count| match count {
            1 => Ok(()),
            _ => Err(Error::Device { device: "whole".into(), message: "lost".into() }),
        }));
        let engines: [Engines; 3] = [
            vec![whole()],
            vec![whole(), Box::new(textbook("small", 1e8))],
            vec![lost, Box::new(textbook("small", 1e8))],
        ];
        for engines in engines {
            assert_eq!(hits(&job, engines), expected, "{mode:?}");
        }
    }
}
