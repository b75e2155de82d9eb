use super::*;
use crate::jobs::long::border::{Line, Part};
use crate::jobs::long::crew::Crew;
use crate::jobs::long::grid::Cut;
use crate::long::LongPair;
use crate::long::mock::Textbook;
use crate::score::{Ambiguity, EndGaps, Gaps, Scoring};

/// A sweep over 100 x 128 cells in two panels.
fn two_panels() -> Run {
    let scoring = Scoring::nucleotide(5, -4, Ambiguity::Overlap, Gaps { first: 11, next: 1 }, EndGaps::Charged);
    let pair = LongPair { query: [1; 100].into(), target: [2; 128].into(), scoring: Arc::new(scoring.unwrap()) };
    let (rows, columns) = ((0, 100), (0, 128));
    let task = Task {
        pair,
        rows,
        columns,
        top: Line::of(columns, Part::Border),
        left: Line::of(rows, Part::Border),
        cut: Cut { mark_every: 64, pitch: None, panel_columns: Some(64), belt_rows: 1 << 20 },
        prune: false,
        best: Arc::default(),
    };
    let shelf = Shelf::new(u64::MAX, None);
    let panel = |index: usize| {
        let begin = 64 * index as u32;
        let state = PanelState {
            index,
            columns: (begin, begin + 64),
            kept: false,
            row: 0,
            done: false,
            best: None,
            pruned: 0,
            inner: Vec::new(),
        };
        let right = Known::Flight(Arc::new(Column::new(rows, &shelf)));
        Panel { state, taken: None, marks: Vec::new(), inner: Vec::new(), right }
    };
    let board = Board { panels: vec![panel(0), panel(1)], next: 128, ..Board::default() };
    Run {
        task,
        shelf,
        saver: None,
        interrupt: Arc::default(),
        board: Mutex::new(board),
        changed: Condvar::new(),
        stop: AtomicBool::new(false),
        cells: AtomicU64::new(0),
    }
}

fn crew() -> Crew {
    Crew::new(vec![Box::new(Textbook::default())], None, Duration::from_secs(30))
}

#[test]
fn a_left_neighbour_that_was_put_away_is_an_error() {
    let run = two_panels();
    let mut crew = crew();
    {
        let mut board = run.board();
        let first = &mut board.panels[0];
        (first.state.done, first.right) = (true, Known::Dropped);
    }
    run.work(&mut crew.members[0]);
    let mut board = run.board();
    assert!(!board.panels[1].state.done, "it was computed from a wrong left edge");
    assert!(matches!(board.failure.take(), Some(Error::Internal(_))));
}

#[test]
fn what_an_engine_releases_another_takes() {
    let run = two_panels();
    let mut crew = crew();
    assert_eq!(run.take(&mut crew.members[0]), Some(0));
    assert_eq!(run.take(&mut crew.members[0]), Some(1));
    run.release(7);
    assert!(run.board().panels.iter().all(|panel| panel.taken == Some(0)), "they are not his");
    run.board().panels[0].state.done = true;
    run.release(0);
    assert_eq!(run.take(&mut crew.members[0]), Some(1), "what is done stays done");
}
