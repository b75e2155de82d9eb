use std::sync::{Condvar, Mutex};

use super::*;
use crate::long::chain::border::{BorderLine, LinePart};
use crate::long::chain::border_store::BorderStore;
use crate::long::chain::engine_pool::EnginePool;
use crate::long::chain::grid::MatrixCut;
use crate::long::mock::Textbook;
use crate::long::{BorderSpan, LongPair};
use crate::score::{Ambiguity, EndGaps, Gaps, Scoring};

/// A sweep over 100 x 128 cells in two panels.
fn two_panels() -> SharedSweep {
    let scoring = Scoring::nucleotide(5, -4, Ambiguity::Overlap, Gaps { first: 11, next: 1 }, EndGaps::Charged);
    let pair = LongPair { query: [1; 100].into(), target: [2; 128].into(), scoring: Arc::new(scoring.unwrap()) };
    let (rows, columns) = (BorderSpan::new(0, 100), BorderSpan::new(0, 128));
    let part = MatrixPart {
        pair,
        rows,
        columns,
        top: BorderLine::from_part(columns.lines(), LinePart::Border),
        left: BorderLine::from_part(rows.lines(), LinePart::Border),
        cut: MatrixCut { mark_every: 64, pitch: None, panel_columns: Some(64), belt_rows: 1 << 20, section: None },
        needs_traceback: false,
        prune: false,
        best: Arc::default(),
    };
    let border_store = BorderStore::new(u64::MAX, None);
    let panel = |index: usize| {
        let begin = 64 * index as u32;
        let state = PanelState {
            index,
            columns: BorderSpan::new(begin, begin + 64),
            kept: false,
            row: 0,
            done: false,
            best: None,
            pruned: 0,
            inner: Vec::new(),
        };
        let right = RightColumn::Flight(Arc::new(SharedColumn::new(rows.lines(), &border_store)));
        TablePanel { state, taken: None, marks: Vec::new(), inner: Vec::new(), right }
    };
    let panel_table = PanelTable { panels: vec![panel(0), panel(1)], next: 128, ..PanelTable::default() };
    SharedSweep {
        part,
        border_store,
        saver: None,
        interrupt: Arc::default(),
        panel_table: Mutex::new(panel_table),
        changed: Condvar::new(),
        stop: AtomicBool::new(false),
        cells: AtomicU64::new(0),
    }
}

fn engine_pool() -> EnginePool {
    EnginePool::new(vec![Box::new(Textbook::default())], None, Duration::from_secs(30))
}

#[test]
fn a_left_neighbour_that_was_put_away_is_an_error() {
    let sweep = two_panels();
    let mut engine_pool = engine_pool();
    {
        let mut panel_table = sweep.panel_table();
        let first = &mut panel_table.panels[0];
        (first.state.done, first.right) = (true, RightColumn::Dropped);
    }
    sweep.work(&mut engine_pool.members[0]);
    let mut panel_table = sweep.panel_table();
    assert!(!panel_table.panels[1].state.done, "it was computed from a wrong left border");
    assert!(matches!(panel_table.failure.take(), Some(Error::Internal(_))));
}

#[test]
fn what_an_engine_releases_another_takes() {
    let sweep = two_panels();
    let mut engine_pool = engine_pool();
    assert_eq!(sweep.take(&mut engine_pool.members[0]), Some(0));
    assert_eq!(sweep.take(&mut engine_pool.members[0]), Some(1));
    sweep.release(7);
    assert!(sweep.panel_table().panels.iter().all(|panel| panel.taken == Some(0)), "they are not his");
    sweep.panel_table().panels[0].state.done = true;
    sweep.release(0);
    assert_eq!(sweep.take(&mut engine_pool.members[0]), Some(1), "what is done stays done");
}
