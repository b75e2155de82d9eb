//! Checks for all engines for long pairs. They compare sweeps and tracebacks with the oracle, and
//! keep borders in memory.
#![allow(dead_code)] // each test file uses a part

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use pairwave::error::Result;
use pairwave::long::oracle::{LongMatrices, OraclePath};
use pairwave::long::{
    BestCell, BestSoFar, Border, BorderSpan, KeptBorder, LeftSource, LongEngine, LongPair, Method, PanelSweep,
    PathPoint, PathState, SweepSink, TraceRegion,
};
use pairwave::score::Scoring;
use pairwave::seq::Code;

/// A pair with its matrices.
pub struct LongCase {
    /// The pair.
    pub pair: LongPair,
    /// Matrices of the oracle.
    pub matrices: LongMatrices,
}

impl LongCase {
    /// Computes the matrices.
    pub fn new(query: &[Code], target: &[Code], scoring: &Scoring) -> Self {
        let pair = LongPair { query: query.into(), target: target.into(), scoring: Arc::new(scoring.clone()) };
        assert!(pair.fits(), "scores of tests fit");
        LongCase { matrices: LongMatrices::fill(query, target, scoring), pair }
    }

    /// Returns the number of query symbols.
    pub fn m(&self) -> u32 {
        self.pair.query.len() as u32
    }

    /// Returns the number of target symbols.
    pub fn n(&self) -> u32 {
        self.pair.target.len() as u32
    }

    /// Returns the best cell of a range of columns of a local pair.
    pub fn best(&self, columns: Range<u32>) -> Option<BestCell> {
        let best = self.matrices.best(0..self.m() as usize, columns.start as usize..columns.end as usize);
        let best = best.map(|(score, i, j)| BestCell { score: score as i32, i: i as u32, j: j as u32 });
        best.filter(|_| self.pair.is_local())
    }

    /// Returns the end of the pair's path, where the traceback starts.
    pub fn from(&self) -> Option<PathPoint> {
        let (i, j) = match self.pair.is_local() {
            true => self.best(0..self.n()).map(|best| (best.i, best.j))?,
            false => (self.matrices.last_cell().0 as u32, self.matrices.last_cell().1 as u32),
        };
        Some(PathPoint { i, j, state: PathState::H })
    }
}

/// A complete column that becomes available gradually: each request reveals `step` more rows.
pub struct Dripping {
    edge: Border,
    first: u32,
    step: u32,
    ready: AtomicU32,
}

impl Dripping {
    /// Returns a column that starts with row `first`.
    pub fn new(edge: Border, first: u32, step: u32) -> Self {
        Dripping { edge, first, step, ready: AtomicU32::new(first) }
    }

    fn last_row(&self) -> u32 {
        self.first + self.edge.h.len() as u32 - 1
    }
}

impl LeftSource for Dripping {
    fn read(&self, first: u32, until: u32, h: &mut [i32], gap: &mut [i32]) -> Result<()> {
        assert!(
            self.first <= first && first <= until && until <= self.last_row(),
            "rows {first}..={until} are asked for"
        );
        let places = (first - self.first) as usize..=(until - self.first) as usize;
        h.copy_from_slice(&self.edge.h[places.clone()]);
        gap.copy_from_slice(&self.edge.gap[places]);
        self.ready.fetch_max(until, Ordering::Relaxed);
        Ok(())
    }

    fn last_known_row(&self) -> u32 {
        let before = self.ready.fetch_add(self.step, Ordering::Relaxed);
        before.min(self.last_row())
    }
}

/// The output of a sweep.
#[derive(Default)]
pub struct SweepOutput {
    first: u32,
    /// The right column, from its first row on.
    pub right: Mutex<Border>,
    /// The marked rows, by row.
    pub marks: Mutex<BTreeMap<u32, Border>>,
    progress: Mutex<(u64, Vec<BestCell>)>,
}

impl SweepSink for SweepOutput {
    fn push_right_border(&self, first: u32, h: &[i32], gap: &[i32]) -> Result<()> {
        let mut right = self.right.lock().unwrap();
        assert_eq!(first as usize, self.first as usize + right.h.len(), "rows come in order, none twice");
        assert_eq!(h.len(), gap.len());
        right.h.extend_from_slice(h);
        right.gap.extend_from_slice(gap);
        Ok(())
    }

    fn push_row(&self, row: u32, edge: KeptBorder) -> Result<()> {
        assert!(self.marks.lock().unwrap().insert(row, edge.into_border()).is_none(), "row {row} is marked twice");
        Ok(())
    }

    fn progress(&self, cells: u64, best: Option<BestCell>) {
        let mut progress = self.progress.lock().unwrap();
        progress.0 += cells;
        progress.1.extend(best);
    }
}

/// The results of a sweep of a pair's panels, for tests that continue with them.
pub struct SweptPair {
    /// The best cell of the pair.
    pub best: Option<BestCell>,
    /// Marked borders of each panel.
    pub marks: Vec<BTreeMap<u32, Border>>,
    /// Number of pruned cells.
    pub pruned_cells: u64,
}

/// Sweeps a pair in panels between the columns `cuts` (increasing, without 0 and the last column).
/// The left border of each panel is the output of the previous one. Compares all outputs with the
/// oracle, except cells that pruning may change if `prune` is set.
pub fn check_sweep(
    engine: &mut dyn LongEngine,
    case: &LongCase,
    cuts: &[u32],
    mark_every: u32,
    prune: bool,
) -> SweptPair {
    check_pruned_sweep(engine, case, cuts, mark_every, prune.then_some(0))
}

/// Comparison of borders with the oracle.
struct BorderCheck<'a> {
    pair: &'a LongPair,
    prune: bool,
    path: Option<OraclePath>,
}

impl BorderCheck<'_> {
    /// Returns whether the path is in state H in a cell. Such cells are correct despite pruning.
    fn is_on_path(&self, i: u32, j: u32) -> bool {
        let points = self.path.iter().flat_map(|path| &path.points);
        points.into_iter().any(|(at, _)| (at.i, at.j, at.state) == (i, j, PathState::H))
    }

    /// Compares a border, whose positions in the matrix `at` returns.
    fn compare(&self, actual: &Border, expected: &Border, at: &dyn Fn(usize) -> (u32, u32), what: &str) {
        assert_eq!((actual.h.len(), actual.gap.len()), (expected.h.len(), expected.gap.len()), "length of {what}");
        for k in 0..expected.h.len() {
            let (i, j) = at(k);
            let (h, gap) = ((actual.h[k], expected.h[k]), (actual.gap[k], expected.gap[k]));
            if !self.prune || self.is_on_path(i, j) {
                assert_eq!(h.0, h.1, "H[{i},{j}] of {what}");
            }
            if !self.prune {
                // The gap value of the corner is not used.
                assert!(k == 0 || gap.0 == gap.1, "gap from [{i},{j}] of {what} is {}, not {}", gap.0, gap.1);
            }
            assert!(h.0 <= h.1 && (k == 0 || gap.0 <= gap.1), "[{i},{j}] of {what} is too great");
            assert!(h.0 >= 0 || !self.pair.is_local(), "H[{i},{j}] of {what} is {}", h.0);
        }
    }
}

/// Checks a sweep like [`check_sweep`], with pruning by a score that is known in advance or not.
pub fn check_pruned_sweep(
    engine: &mut dyn LongEngine,
    case: &LongCase,
    cuts: &[u32],
    mark_every: u32,
    known: Option<i32>,
) -> SweptPair {
    let LongCase { pair, matrices } = case;
    let (m, n) = (case.m(), case.n());
    let prune = known.is_some();
    let best_so_far = BestSoFar::default();
    known.into_iter().for_each(|known| best_so_far.raise(known));
    let mut left = pair.left_border(0..m);
    let mut all = SweptPair { best: None, marks: Vec::new(), pruned_cells: 0 };
    let ends: Vec<u32> = cuts.iter().copied().filter(|&cut| 0 < cut && cut < n).chain([n]).collect();
    let path = case.from().map(|from| matrices.trace_back(from, 0, 0));
    let borders = BorderCheck { pair, prune, path };
    let mut start = 0;
    for end in ends {
        let (columns, interrupt) = (BorderSpan::new(start, end), AtomicBool::new(false));
        let top = pair.top_border(start..end);
        // Panels in the middle may skip results that only a traceback would need.
        let is_kept = known.map_or(start == 0, |known| known == 0);
        let sweep = PanelSweep {
            pair,
            rows: BorderSpan::new(0, m),
            columns,
            top: &top,
            mark_every,
            keep_every: None,
            is_kept,
            prune,
            best: &best_so_far,
            interrupt: &interrupt,
        };
        let (source, sink) = (Dripping::new(left, 0, 7), SweepOutput::default());
        let swept = engine.sweep(&sweep, &source, &sink).expect("the panel is swept");
        let SweepOutput { right, marks, progress, .. } = sink;
        let (right, marks, progress) =
            (right.into_inner().unwrap(), marks.into_inner().unwrap(), progress.into_inner().unwrap());
        let what = format!("columns {start}..={end}");
        borders.compare(&right, &matrices.column_border(end as usize, 0..m as usize), &|k| (k as u32, end), &what);
        let marked: Vec<u32> = (mark_every..m).step_by(mark_every as usize).chain([m]).collect();
        let actual: Vec<u32> = marks.keys().copied().collect();
        if is_kept {
            assert_eq!(actual, marked, "marks of {what}");
        } else {
            assert!(
                actual.last() == Some(&m) && actual.iter().all(|row| marked.contains(row)),
                "marks of {what}: {actual:?}"
            );
        }
        for (&row, edge) in &marks {
            let expected = matrices.row_border(row as usize, start as usize..end as usize);
            borders.compare(edge, &expected, &|k| (row, start + k as u32), &format!("row {row}, {what}"));
        }
        assert_eq!(progress.0, u64::from(m) * u64::from(end - start), "cells of {what}");
        let best = case.best(start..end);
        if prune {
            let whole = case.best(0..n);
            assert!(best != whole || swept.best == whole, "best {:?}, not {whole:?}, of {what}", swept.best);
        } else {
            assert_eq!(swept.best, best, "best of {what}");
            assert_eq!(swept.pruned_cells, 0);
        }
        for seen in progress.1 {
            assert_eq!(matrices.h[seen.i as usize][seen.j as usize], i64::from(seen.score), "best on the way, {what}");
        }
        all.best = BestCell::better(all.best, swept.best);
        all.pruned_cells += swept.pruned_cells;
        all.marks.push(marks);
        (left, start) = (right, end);
    }
    assert_eq!(all.best, case.best(0..n), "best of the pair");
    all
}

/// Traces back from a point through a region, and compares this part of the path with the oracle's.
pub fn check_trace(
    engine: &mut dyn LongEngine,
    case: &LongCase,
    (rows, columns): ((u32, u32), (u32, u32)),
    from: PathPoint,
    (method, strip, chunk): (Method, Option<u32>, Option<u32>),
) {
    let LongCase { pair, matrices } = case;
    let (rows, columns) = (BorderSpan::from(rows), BorderSpan::from(columns));
    let top = matrices.row_border(rows.first as usize, columns.first as usize..columns.last as usize);
    let left = matrices.column_border(columns.first as usize, rows.first as usize..rows.last as usize);
    let interrupt = AtomicBool::new(false);
    let region =
        TraceRegion { pair, rows, columns, top: &top, left: &left, from, method, strip, chunk, interrupt: &interrupt };
    assert!(engine.can_trace(rows.length(), columns.length(), method), "small regions can be traced");
    let traced = engine.trace(&region).expect("the region is traced");
    let expected = matrices.trace_back(from, rows.first as usize, columns.first as usize);
    let what = format!("rows {rows:?}, columns {columns:?}, from {from:?}, {method:?} {strip:?} {chunk:?}");
    assert_eq!(traced.cigar.to_string(), expected.cigar().to_string(), "columns: {what}");
    assert_eq!((traced.to, traced.ended), (Some(expected.to()), expected.ended), "end: {what}");
}

/// Rows and columns of a part of a matrix, and the point where a traceback enters it.
pub type MatrixPart = ((u32, u32), (u32, u32), PathPoint);

/// Runs [`check_trace`] on parts of the matrix that the engine has prepared together. Returns the
/// number of prepared parts.
pub fn check_prepared(engine: &mut dyn LongEngine, case: &LongCase, parts: &[MatrixPart]) -> usize {
    let LongCase { pair, matrices } = case;
    let edges: Vec<(Border, Border)> = parts
        .iter()
        .map(|&(rows, columns, _)| {
            let (rows, columns) = (BorderSpan::from(rows), BorderSpan::from(columns));
            let top = matrices.row_border(rows.first as usize, columns.first as usize..columns.last as usize);
            (top, matrices.column_border(columns.first as usize, rows.first as usize..rows.last as usize))
        })
        .collect();
    let (interrupt, method, strip, chunk) = (AtomicBool::new(false), Method::default(), None, None);
    let regions: Vec<TraceRegion> = parts
        .iter()
        .zip(&edges)
        .map(|(&(rows, columns, _), (top, left))| {
            let (rows, columns) = (BorderSpan::from(rows), BorderSpan::from(columns));
            let from = PathPoint { i: rows.last, j: columns.last, state: PathState::H };
            TraceRegion { pair, rows, columns, top, left, from, method, strip, chunk, interrupt: &interrupt }
        })
        .collect();
    let ready = engine.prepare(&regions).expect("regions are made ready");
    for &(rows, columns, from) in parts {
        check_trace(engine, case, (rows, columns), from, (method, strip, chunk));
    }
    ready
}

/// Runs [`check_trace`] on the pair's whole path.
pub fn check_trace_whole(engine: &mut dyn LongEngine, case: &LongCase, how: (Method, Option<u32>, Option<u32>)) {
    if let Some(from) = case.from() {
        check_trace(engine, case, ((0, case.m()), (0, case.n())), from, how);
    }
}
