//! Runs a job for a long pair.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::bound::{TargetWords, bounds, circular_bounds};
use super::checkpoint::Checkpoint;
use super::circular::{CircleOpening, MatrixFrame};
use super::copies::{CodeCopies, SequenceForm};
use super::empty::empty_parts;
use super::parts::{JobShared, MatrixSweep};
use super::strand::StrandMatrix;
use super::traceback::{LongTraceback, TracebackOptions};
use super::{LongAlignment, LongDetails, LongHit, LongWant, Strand};
use crate::alignment::circular::Sides;
use crate::alignment::{Alignment, Cigar, verify, verify_alignment};
use crate::error::{Error, Result};
use crate::host::default_limit;
use crate::jobs::{Run, Summary};
use crate::long::chain::border_store::BorderStore;
use crate::long::chain::engine_pool::EnginePool;
use crate::long::chain::grid::{EngineSizes, MatrixCut, MatrixSize, MatrixUse};
use crate::long::chain::panels::Watch;
use crate::long::{LongPair, PathPoint, PathState};
use crate::score::Mode;

/// Default time between saves.
pub(super) const SAVE_EVERY: Duration = Duration::from_secs(30);
/// Minimum number of cells of a part that is skipped. To compute fewer cells takes no longer than to
/// start another sweep behind them.
const MIN_EMPTY_CELLS: u64 = 1 << 26;
/// Name of the note with the alignments found so far.
const HITS: &str = "hits.json";
/// Name of the note with the openings of circular sequences so far.
const OPENINGS: &str = "openings.json";
/// Name of the note with all alignments.
const RESULT: &str = "result.json";

impl LongAlignment {
    /// Returns these strands of the query, each paired with the target.
    fn sides(&self, strands: &[Strand], copies: &mut CodeCopies) -> Result<Vec<StrandMatrix>> {
        let (query_form, target_form) =
            (SequenceForm::of_sequence(self.circular.query), SequenceForm::of_sequence(self.circular.target));
        let target = copies.target(&self.target, self.target_id, target_form);
        let lengths = self.lengths();
        let side = |&strand: &Strand| {
            let query = copies.query(&self.query, self.query_id, strand, query_form);
            let pair = LongPair { query, target: Arc::clone(&target), scoring: Arc::clone(&self.scoring) };
            let frame = MatrixFrame::new(lengths, self.circular);
            let (forbidden, empty) = (Vec::new(), Vec::new());
            StrandMatrix {
                strand,
                pair,
                frame,
                forbidden,
                found: 0,
                pass: None,
                bound: 0,
                expected_path: Arc::default(),
                empty,
                openings: 0,
            }
        };
        let sides: Vec<StrandMatrix> = strands.iter().map(side).collect();
        match sides.iter().find(|side| !side.pair.fits()) {
            Some(side) => Err(score_overflow(&side.pair)),
            None => Ok(sides),
        }
    }

    /// Returns the lengths of query and target.
    fn lengths(&self) -> Sides<u32> {
        Sides { query: self.query.length(self.query_id), target: self.target.length(self.target_id) }
    }

    fn host_memory(&self) -> u64 {
        self.host_memory.unwrap_or_else(default_limit)
    }

    /// Returns whether alignments are traced back. The start of an alignment is known only after its
    /// traceback. Further alignments must not overlap it, and no alignment may go around more than
    /// once.
    fn needs_traceback(&self) -> bool {
        self.want == LongWant::Alignment || self.top > 1 || self.circular.any()
    }

    /// Returns the sizes of the parts of a matrix, or of what is left of it after pruning.
    fn matrix_cut(&self, size: MatrixSize, engine_pool: &mut EnginePool) -> MatrixCut {
        let suits = engine_pool.by_speed().into_iter().find_map(|quickest| {
            quickest.query(|engine| EngineSizes {
                keeps_columns: engine.keeps_columns(),
                min_panel_columns: engine.min_panel_columns(),
                traces_whole: engine.can_trace(size.rows, size.columns, self.method.unwrap_or_default()),
            })
        });
        engine_pool.remove_abandoned();
        let suits = suits.unwrap_or_default();
        let matrix_use = match (self.needs_traceback(), self.top) {
            (false, _) => MatrixUse::Score,
            (true, ..=1) => MatrixUse::Alignment,
            (true, _) => MatrixUse::Alignments,
        };
        MatrixCut::new(size, matrix_use, self.host_memory(), suits, &self.tuning)
    }

    /// Computes the alignments of these strands, best first. Alignments that score less than
    /// `score_floor` may be missing.
    ///
    /// # Errors
    /// The errors of [`Job::feed`](crate::jobs::Job::feed).
    pub(super) fn execute(
        &self,
        strands: &[Strand],
        score_floor: i64,
        copies: &mut CodeCopies,
        engine_pool: &mut EnginePool,
        run: &Run,
    ) -> Result<(Vec<LongHit>, Summary<LongDetails>)> {
        let begin = Instant::now();
        self.check()?;
        let sides = self.sides(strands, copies)?;
        let is_local = self.scoring.mode == Mode::Local;
        let memory = self.host_memory();
        let needs_traceback = self.needs_traceback();
        // The sizes fit, because `check` has compared them.
        let (rows, columns) = (self.rows_of(self.query_id) as u32, self.columns_of(self.target_id) as u32);
        let mut cut = self.matrix_cut(MatrixSize { rows, columns }, engine_pool);
        let mut checkpoint = None;
        if let Some(directory) = &self.checkpoint {
            let every = self.tuning.save_every.unwrap_or(SAVE_EVERY);
            let (opened, as_before) = Checkpoint::open(directory, every, self.fingerprint(), cut)?;
            (checkpoint, cut) = (Some(opened), as_before);
        }
        let resumed = checkpoint.as_ref().is_some_and(|checkpoint| checkpoint.resumed);
        let details = LongDetails { resumed, ..LongDetails::default() };
        let mut summary = Summary { pairs: strands.len() as u64, details, ..Summary::default() };
        if let Some(hits) = checkpoint.as_ref().and_then(|checkpoint| checkpoint.read::<Vec<LongHit>>(RESULT)) {
            summary.written = hits.len() as u64;
            summary.seconds = begin.elapsed().as_secs_f64();
            return Ok((hits, summary));
        }
        let advance = |cells| run.progress.advance(0, cells);
        let shared = JobShared {
            engine_pool,
            border_store: BorderStore::new(memory, self.checkpoint.clone()),
            checkpoint,
            cut,
            // Pruning must not remove the second best alignment, so it requires `top` to be 1. End to
            // end, it requires a lower bound.
            needs_traceback,
            prune: self.prune && is_local && self.top == 1,
            best: Arc::default(),
            watch: Watch { interrupt: &run.interrupt, progress: Some(&advance) },
        };
        let min_score = self.min_score.max(score_floor);
        let target_words = &mut copies.target_words;
        let mut runner = LongRunner { job: self, min_score, needs_traceback, target_words, shared, summary };
        let hits = if is_local { runner.local(sides)? } else { runner.global(sides)? };
        let LongRunner { shared, mut summary, .. } = runner;
        if let Some(checkpoint) = &shared.checkpoint {
            checkpoint.write(RESULT, &hits)?;
            checkpoint.clear();
        }
        run.progress.advance(1, 0);
        summary.details.edge_bytes_peak = shared.border_store.peak();
        summary.details.spilled_bytes = shared.border_store.spilled();
        summary.written = hits.len() as u64;
        summary.engines = shared.engine_pool.take_stats();
        summary.seconds = begin.elapsed().as_secs_f64();
        Ok((hits, summary))
    }
}

/// Returns the error for a pair whose scores exceed 32 bits.
fn score_overflow(pair: &LongPair) -> Error {
    let (m, n) = (pair.query.len() as u64, pair.target.len() as u64);
    let greatest = i64::from(pair.scoring.substitution.max_score().max(0)) * m.min(n) as i64;
    let least = if pair.is_local() { 0 } else { -pair.scoring.gaps.cost(m + n) };
    Error::usage(format!(
        "scores of {m} x {n} symbols range from {least} to {greatest}, but long pairs are computed in 32 bits, from -{} \
         to {}: divide scores and costs by a common factor",
        1u32 << 30,
        i32::MAX
    ))
}

/// A job in progress.
pub(super) struct LongRunner<'a> {
    job: &'a LongAlignment,
    /// Minimum score of a reported local alignment.
    min_score: i64,
    needs_traceback: bool,
    target_words: &'a mut Option<TargetWords>,
    pub(super) shared: JobShared<'a>,
    pub(super) summary: Summary<LongDetails>,
}

impl LongRunner<'_> {
    /// Sweeps the matrix of a strand, or the parts that have changed since the last sweep.
    fn sweep(&mut self, side: &mut StrandMatrix) -> Result<()> {
        if side.pass.as_ref().is_some_and(|pass| !pass.is_outdated()) {
            return Ok(());
        }
        let begin = Instant::now();
        let left_out = [&side.forbidden[..], &side.empty].concat();
        let mut empty_cells = 0;
        match &mut side.pass {
            Some(pass) => pass.update(&side.pair, &left_out, &mut self.shared)?,
            None => {
                side.pass = Some(MatrixSweep::run(&side.pair, &left_out, &side.name(), &mut self.shared)?);
                empty_cells = side.empty_cells();
                self.shared.watch.progress.inspect(|progress| progress(empty_cells));
            }
        }
        let (cells, pruned_cells) = side.pass.as_ref().map_or((0, 0), |pass| (pass.cells, pass.pruned_cells));
        self.summary.details.sweep_seconds += begin.elapsed().as_secs_f64();
        self.summary.cells += cells + empty_cells;
        self.summary.details.pruned_cells += pruned_cells + empty_cells;
        Ok(())
    }

    /// Computes lower bounds of the best scores of all strands. The sweep of every strand prunes by
    /// the greatest bound from the first row on.
    fn bound(&mut self, sides: &mut [StrandMatrix]) {
        let begin = Instant::now();
        let pairs: Vec<&LongPair> = sides.iter().map(|side| &side.pair).collect();
        let circular = self.job.circular;
        let bounds = match circular.any() {
            true => circular_bounds(&pairs, self.job.lengths(), circular),
            false => bounds(&pairs, self.target_words),
        };
        for (side, bound) in sides.iter_mut().zip(bounds) {
            side.bound = bound.score;
            side.expected_path = bound.path.into();
            self.shared.best.raise(bound.score);
            tracing::debug!(strand = ?side.strand, score = bound.score, "lower bound");
        }
        tracing::debug!(seconds = begin.elapsed().as_secs_f64(), "bounds");
    }

    /// Finds the parts of all matrices that the words of their sequences prove to contain no
    /// alignment of the best known score.
    fn find_empty_parts(&mut self, sides: &mut [StrandMatrix]) {
        let begin = Instant::now();
        // The best score may depend on other pairs. A resumed job must find the same parts again.
        let of_pair = sides.iter().map(|side| side.bound.into()).fold(self.job.min_score, i64::max);
        let known = if self.shared.checkpoint.is_some() { of_pair } else { of_pair.max(self.shared.best.get().into()) };
        let Ok(known) = i32::try_from(known) else { return };
        let min_cells = self.job.tuning.min_empty_cells.unwrap_or(MIN_EMPTY_CELLS);
        std::thread::scope(|scope| {
            for side in sides.iter_mut() {
                scope.spawn(move || side.empty = empty_parts(&side.pair, known, min_cells));
            }
        });
        for side in sides.iter() {
            tracing::debug!(strand = ?side.strand, parts = side.empty.len(), cells = side.empty_cells(), "empty parts");
        }
        tracing::debug!(seconds = begin.elapsed().as_secs_f64(), "empty parts found");
        // A resumed job must continue with the same parts.
        if self.shared.checkpoint.is_none() {
            let left = sides.iter().map(StrandMatrix::size_left);
            let left = left.fold(MatrixSize::default(), |left, side| MatrixSize {
                rows: left.rows.max(side.rows),
                columns: left.columns.max(side.columns),
            });
            self.shared.cut = self.job.matrix_cut(left, self.shared.engine_pool);
        }
    }

    /// Traces back from a cell of a swept strand.
    fn trace_back(&mut self, side: &StrandMatrix, from: PathPoint) -> Result<(PathPoint, Cigar)> {
        let begin = Instant::now();
        let traceback_options = TracebackOptions {
            method: self.job.method.unwrap_or_default(),
            strip: self.job.strip,
            chunk: self.job.chunk,
        };
        let pass = side.pass.as_ref().ok_or_else(|| Error::Internal("a traceback before the sweep".into()))?;
        let (traceback, to, cigar) = LongTraceback::new(from, &side.expected_path).run(
            &side.pair,
            pass,
            traceback_options,
            &side.name(),
            &mut self.shared,
        )?;
        self.summary.details.trace_seconds += begin.elapsed().as_secs_f64();
        self.summary.details.traced_cells += traceback.traced_cells;
        Ok((to, cigar))
    }

    fn global(&mut self, mut sides: Vec<StrandMatrix>) -> Result<Vec<LongHit>> {
        if self.job.prune {
            self.bound(&mut sides);
            self.shared.prune = self.shared.best.get() > 0;
        }
        let mut end_of_best: Option<(usize, i64, PathPoint)> = None;
        for index in 0..sides.len() {
            if self.shared.prune {
                self.skip_hopeless_strand(&mut sides[index])?;
            }
            self.sweep(&mut sides[index])?;
            let side = &sides[index];
            let (score, end) = match &side.pass {
                Some(pass) if !pass.is_pruned_whole() => pass.end(&side.pair)?,
                _ => continue,
            };
            if end_of_best.is_none_or(|best| score > best.1) {
                // The kept borders of the other strand are not needed.
                end_of_best.iter().for_each(|best| sides[best.0].pass = None);
                end_of_best = Some((index, score, end));
            } else {
                sides[index].pass = None;
            }
        }
        let Some((index, score, end)) = end_of_best else { return Ok(Vec::new()) };
        let side = &sides[index];
        let (m, n) = (side.pair.query.len() as u32, side.pair.target.len() as u32);
        let mut cigar = None;
        if self.needs_traceback {
            let (to, mut columns) = self.trace_back(side, end)?;
            if (to.i, to.j) != (0, 0) {
                return Err(Error::Internal(format!("a global traceback ended at {to:?}")));
            }
            columns.push(m - end.i, crate::alignment::Op::Insertion);
            columns.push(n - end.j, crate::alignment::Op::Deletion);
            let rescored = verify(&columns, &side.pair.query, &side.pair.target, &self.job.scoring)?;
            check_rescored(score, rescored)?;
            cigar = Some(columns);
        }
        let (query, target) = (Some(0..m), Some(0..n));
        Ok(vec![LongHit { strand: side.strand, score, query, target, query_end: m, target_end: n, cigar }])
    }

    fn local(&mut self, mut sides: Vec<StrandMatrix>) -> Result<Vec<LongHit>> {
        if self.shared.prune {
            self.shared.best.raise(self.min_score.min(i32::MAX.into()) as i32);
            self.bound(&mut sides);
        }
        // After an opening, an alignment with a lower score than the bound may be the best.
        if self.job.prune && !self.job.circular.any() {
            self.find_empty_parts(&mut sides);
        }
        let earlier = self.shared.checkpoint.as_ref().and_then(|checkpoint| checkpoint.read(HITS));
        let mut hits: Vec<LongHit> = earlier.unwrap_or_default();
        for hit in &hits {
            sides.iter_mut().filter(|side| side.strand == hit.strand).for_each(|side| side.exclude(hit));
        }
        let earlier = self.shared.checkpoint.as_ref().and_then(|checkpoint| checkpoint.read(OPENINGS));
        let mut openings: Vec<(Strand, CircleOpening)> = earlier.unwrap_or_default();
        self.open(&mut sides, &openings, &hits);
        while hits.len() < self.job.top as usize {
            let mut best: Option<(usize, i32, PathPoint)> = None;
            for (index, side) in sides.iter_mut().enumerate() {
                if self.shared.prune {
                    self.skip_hopeless_strand(side)?;
                }
                self.sweep(side)?;
                let best_cell = side.pass.as_ref().and_then(MatrixSweep::best);
                if let Some(best_cell) = best_cell.filter(|best_cell| best.is_none_or(|best| best_cell.score > best.1))
                {
                    best = Some((
                        index,
                        best_cell.score,
                        PathPoint { i: best_cell.i, j: best_cell.j, state: PathState::H },
                    ));
                }
            }
            let reached = |best: &(usize, i32, PathPoint)| i64::from(best.1) >= self.min_score;
            let Some((index, score, end)) = best.filter(reached) else { break };
            if self.job.top == 1 {
                // The kept borders of the other strand are not needed.
                let other = |(position, _): &(usize, &mut StrandMatrix)| *position != index;
                sides.iter_mut().enumerate().filter(other).for_each(|(_, side)| side.pass = None);
            }
            let hit = match self.hit(&sides[index], score.into(), end)? {
                TracedHit::Valid(hit) => hit,
                TracedHit::GoesAround(opening) => {
                    openings.push((sides[index].strand, opening));
                    let names: Vec<String> = sides.iter().map(StrandMatrix::name).collect();
                    self.open(&mut sides, &openings[openings.len() - 1..], &hits);
                    if let Some(checkpoint) = &self.shared.checkpoint {
                        checkpoint.write(OPENINGS, &openings)?;
                        names.iter().for_each(|name| checkpoint.remove_logs(name));
                    }
                    continue;
                }
            };
            let name = sides[index].name();
            sides[index].exclude(&hit);
            hits.push(hit);
            if let Some(checkpoint) = &self.shared.checkpoint {
                checkpoint.write(HITS, &hits)?;
                checkpoint.remove_logs(&name);
            }
        }
        if self.job.want == LongWant::Score {
            hits.iter_mut().for_each(|hit| hit.cigar = None);
        }
        Ok(hits)
    }

    /// Opens the circular sequences of some strands. `hits` are the alignments so far.
    fn open(&mut self, sides: &mut [StrandMatrix], openings: &[(Strand, CircleOpening)], hits: &[LongHit]) {
        for &(strand, opening) in openings {
            tracing::debug!(?strand, ?opening, "opened");
            for side in &mut *sides {
                side.openings += 1;
                if side.strand == strand {
                    side.open(opening, hits);
                }
                // An alignment that goes around more than once had the best score so far.
                if self.shared.prune {
                    side.pass = None;
                }
            }
        }
        if self.shared.prune && !openings.is_empty() {
            let bound = sides.iter().map(|side| i64::from(side.bound)).fold(self.min_score, i64::max);
            self.shared.best = Arc::default();
            self.shared.best.raise(bound.min(i32::MAX.into()) as i32);
        }
    }

    /// Traces back the local alignment that ends at a cell.
    fn hit(&mut self, side: &StrandMatrix, score: i64, end: PathPoint) -> Result<TracedHit> {
        let strand = side.strand;
        if !self.needs_traceback {
            let (query_end, target_end) = (end.i, end.j);
            let hit = LongHit { strand, score, query: None, target: None, query_end, target_end, cigar: None };
            return Ok(TracedHit::Valid(hit));
        }
        let (to, cigar) = self.trace_back(side, end)?;
        let alignment = Alignment { score, query_start: to.i, target_start: to.j, cigar };
        let (pair, scoring) = (&side.pair, &self.job.scoring);
        check_rescored(score, verify_alignment(&alignment, &pair.query, &pair.target, scoring)?)?;
        if let Some(opening) = side.frame.opening(&alignment, pair) {
            return Ok(TracedHit::GoesAround(opening));
        }
        let (rows, columns) = (to.i..end.i, to.j..end.j);
        let (query_end, target) = (side.frame.query(rows.clone()).end, side.frame.target(columns));
        let query = side.frame.query_in_file(rows, strand);
        let (target_end, cigar) = (target.end, Some(alignment.cigar));
        let (query, target) = (Some(query), Some(target));
        Ok(TracedHit::Valid(LongHit { strand, score, query, target, query_end, target_end, cigar }))
    }
}

/// A local alignment that was traced back.
enum TracedHit {
    /// An alignment that goes around circular sequences at most once.
    Valid(LongHit),
    /// An alignment that goes around more than once, so that the sequences must be opened.
    GoesAround(CircleOpening),
}

fn check_rescored(swept: i64, rescored: i64) -> Result<()> {
    if swept == rescored {
        return Ok(());
    }
    Err(Error::Internal(format!("an alignment scores {rescored}, but the sweep found {swept}")))
}
