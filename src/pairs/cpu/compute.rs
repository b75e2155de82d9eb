//! Computes a batch on one thread. The lanes of a vector contain several targets, or rows of one
//! pair. They are the narrowest integers that hold the scores.

use std::time::Duration;

use super::banded::LonePair;
use super::difference::Greatest;
use super::group::{GroupBuffers, GroupTask, ProfiledSequence, TargetGroup};
use super::local::{BestLocalCell, Span};
pub use super::share::LaneForm;
use super::share::{ComputePlan, LaneFill};
use super::skew::{PairBuffers, PairTask};
use super::traceback::{GroupTracer, ScoredGroup, Traces, WantedTrace};
use crate::error::{Error, Result};
use crate::pairs::{PairHit, PairsBatch, PairsBlock, PairsChunk};
use crate::score::{DifferenceScoring, LocalScoring, Mode, Scoring, offset};
use crate::seq::{Code, SequenceId};
use crate::simd::{InstructionSet, LaneElement, MAX_LANES};
use crate::trace::EndRegion;

/// Buffers that are reused for all batches. Each thread has its own.
#[derive(Debug, Clone)]
pub struct ScoreWorkspace {
    plan: ComputePlan,
    buffers: AllBuffers,
}

type AllBuffers = (WidthBuffers<i8>, WidthBuffers<i16>, WidthBuffers<i32>, WidthBuffers<i64>);

/// Buffers for elements of one width.
#[derive(Debug, Clone, Default)]
struct WidthBuffers<E> {
    group: GroupBuffers<E>,
    pair: PairBuffers<E>,
    tracer: GroupTracer<E>,
}

impl ScoreWorkspace {
    /// Returns a workspace for the best instruction set of the processor.
    pub fn new() -> Self {
        Self::with(InstructionSet::best(), LaneForm::Cheaper)
    }

    /// Returns a workspace for this instruction set and this use of lanes. Neither changes results.
    pub fn with(instructions: InstructionSet, form: LaneForm) -> Self {
        ScoreWorkspace { plan: ComputePlan { instructions, form }, buffers: Default::default() }
    }
}

impl Default for ScoreWorkspace {
    fn default() -> Self {
        Self::new()
    }
}

/// Computes the hits of a batch on this thread, block by block ([`run_block`]).
///
/// # Errors
/// See [`run_block`].
pub fn run(batch: &PairsBatch, workspace: &mut ScoreWorkspace) -> Result<Vec<PairHit>> {
    let mut results = ComputedHits::default();
    for block in &batch.blocks {
        compute_block(&batch.chunk, block, workspace, &mut results)?;
    }
    Ok(results.hits)
}

/// Computes a batch with the ends of its alignments. If `traces` is set, it also returns those
/// alignments that can be traced from the rows that the kernels keep.
///
/// # Errors
/// See [`run_block`].
pub(super) fn run_tracing(batch: &PairsBatch, traces: bool, workspace: &mut ScoreWorkspace) -> Result<ComputedHits> {
    let mut results = ComputedHits { traces: traces.then(Traces::default), ..ComputedHits::default() };
    for block in &batch.blocks {
        compute_block(&batch.chunk, block, workspace, &mut results)?;
    }
    Ok(results)
}

/// Results of pairs.
#[derive(Debug, Default)]
pub(super) struct ComputedHits {
    pub hits: Vec<PairHit>,
    /// Regions that contain the ends of the alignments of all hits, if they save work in a later
    /// traceback. Otherwise empty.
    pub ends: Vec<EndRegion>,
    /// Alignments of some hits, if requested.
    pub traces: Option<Traces>,
}

impl ComputedHits {
    /// Returns the time that the tracebacks took.
    pub(super) fn trace_time(&self) -> Duration {
        self.traces.as_ref().map_or(Duration::ZERO, |traces| traces.time)
    }
}

/// A target with the score of its local alignment, which determines the width of the integers. With
/// another score, only the time is different.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScoredTarget<'a> {
    /// Symbols of the target.
    pub codes: &'a [Code],
    /// Score with the query.
    pub score: i64,
}

/// Returns the end regions of the canonical local alignments of a query with targets. A region is
/// meaningful only if the pair scores more than 0.
///
/// # Errors
/// [`Error::Internal`] if no number format holds the scores, and [`Error::Usage`] for a code
/// without a score.
pub fn ends(
    query: &[Code],
    targets: &[ScoredTarget<'_>],
    scoring: &Scoring,
    workspace: &mut ScoreWorkspace,
) -> Result<Vec<EndRegion>> {
    scoring.check_alphabet(scoring.alphabet)?;
    scoring.check_codes(query)?;
    targets.iter().try_for_each(|target| scoring.check_codes(target.codes))?;
    let codes: Vec<&[Code]> = targets.iter().map(|target| target.codes).collect();
    // 64 bits hold every clamped score.
    let scores: Vec<i64> = targets.iter().map(|target| target.score.min(i64::from(i32::MAX))).collect();
    let wanted = WantedLocals { query, targets: &codes, scores: Some(&scores), with_positions: true };
    let results = locals(&wanted, scoring, workspace)?;
    Ok(results.into_iter().zip(codes).map(|(results, target)| results.end(query, target, false)).collect())
}

/// Computes all pairs of a block on this thread. Returns the hits of all pairs that the chunk's
/// filter keeps. A hit includes the number of matches if the kernel counts matches. Local kernels
/// never do.
///
/// All pairs that are computed together share an integer width and count matches or not. Within a
/// block, the longest target determines both. The results of a pair therefore do not depend on the
/// other blocks of its batch.
///
/// # Errors
/// [`Error::Internal`] if no number format holds the scores, and [`Error::Usage`] if the sequences
/// have codes without a score.
pub fn run_block(chunk: &PairsChunk, block: &PairsBlock, workspace: &mut ScoreWorkspace) -> Result<Vec<PairHit>> {
    let mut results = ComputedHits::default();
    compute_block(chunk, block, workspace, &mut results)?;
    Ok(results.hits)
}

fn compute_block(
    chunk: &PairsChunk,
    block: &PairsBlock,
    workspace: &mut ScoreWorkspace,
    results: &mut ComputedHits,
) -> Result<()> {
    [&chunk.queries, &chunk.targets]
        .into_iter()
        .try_for_each(|store| chunk.scoring.check_alphabet(store.alphabet()))?;
    match chunk.scoring.mode {
        Mode::Global => {
            let ScoreWorkspace { plan, buffers } = workspace;
            let widths: [&mut dyn Differences; 4] = [&mut buffers.0, &mut buffers.1, &mut buffers.2, &mut buffers.3];
            for width in widths {
                if width.run(chunk, block, *plan, results)? {
                    return Ok(());
                }
            }
            Err(Error::Internal("scores that do not fit 64 bits".into()))
        }
        Mode::Local => run_local(chunk, block, workspace, results),
    }
}

/// Computes global scores in one integer width.
trait Differences {
    /// Computes all pairs of a block, and the end regions of their alignments if these are needed.
    /// Returns false, without results, if the width does not hold the scores.
    fn run(
        &mut self,
        chunk: &PairsChunk,
        block: &PairsBlock,
        plan: ComputePlan,
        into: &mut ComputedHits,
    ) -> Result<bool>;
}

impl<E: LaneElement> Differences for WidthBuffers<E> {
    fn run(
        &mut self,
        chunk: &PairsChunk,
        block: &PairsBlock,
        plan: ComputePlan,
        into: &mut ComputedHits,
    ) -> Result<bool> {
        let query = chunk.queries.codes(block.query);
        let (m, longest) = (query.len() as u64, u64::from(chunk.longest(block.targets.clone())));
        let shorter = m.min(longest);
        let carry = chunk.filter.has_alignments() && offset::carries_matches(&chunk.scoring, shorter, m + longest);
        let Some(form) = DifferenceScoring::<E>::new(&chunk.scoring, shorter, carry) else { return Ok(false) };
        let form = &form;
        let profiled = &ProfiledSequence::new(query);
        let ids = block_targets(chunk, block);
        let scored = ScoredBlock { chunk, block, form };
        // Without query symbols there is nothing to trace.
        let may_trace = chunk.filter.has_alignments() && form.determines_alignments() && m > 0;
        let mut results = vec![Greatest::default(); ids.len()];
        let mut spans = vec![None; ids.len()];
        let (lanes, mut outcome) = (E::lanes(plan.instructions), Ok(()));
        plan.distribute(query, &target_symbols(chunk, ids), lanes, |fill, indices| match fill {
            LaneFill::Together(targets) => {
                let mut values = [Greatest::default(); MAX_LANES];
                let (group, buffers) = (TargetGroup::new(targets), &mut self.group);
                let traces = into.traces.as_mut().filter(|_| may_trace);
                let is_kept = traces.is_some()
                    && self.tracer.are_kept_rows_worthwhile()
                    && buffers.checkpoints.prepare(group.rows(), query.len(), lanes, form);
                if !is_kept {
                    buffers.checkpoints.disable();
                }
                plan.instructions.run(GroupTask { form, query: profiled, group, buffers, values: &mut values });
                indices.iter().zip(values).for_each(|(&index, value)| results[index] = value);
                let Some(traces) = traces else { return };
                let wanted = scored.targets_to_trace(ids, indices, &results);
                self.tracer.count(indices.len(), wanted.len());
                if is_kept && outcome.is_ok() {
                    let (substitution, kept) = (&chunk.scoring.substitution, &mut self.group.checkpoints);
                    let group = ScoredGroup {
                        instructions: plan.instructions,
                        form,
                        substitution,
                        query,
                        codes: profiled.codes_below(form.size()),
                        targets,
                        kept,
                    };
                    outcome = self.tracer.trace(group, wanted, traces, &mut spans);
                }
            }
            LaneFill::Alone { rows, columns } => {
                let pair = LonePair { scoring: &chunk.scoring, form, rows, columns };
                let value = &mut results[indices[0]];
                *value = pair.greatest(plan.instructions, &mut self.pair);
                if std::ptr::eq(rows, query) {
                    // The rows and columns are exchanged here: all other code has the query in the
                    // columns.
                    *value = value.exchanged();
                }
            }
        });
        outcome?;
        let reports_ends = chunk.filter.has_alignments() && chunk.scoring.has_own_ends();
        for ((&target, greatest), span) in ids.iter().zip(results).zip(spans) {
            let Some(hit) = scored.kept(target, greatest) else { continue };
            into.hits.push(hit);
            if reports_ends {
                into.ends.push(scored.end(target, greatest));
            }
            if let Some(traces) = &mut into.traces {
                traces.spans.push(span);
            }
        }
        Ok(true)
    }
}

/// A block whose pairs are scored in one integer width.
struct ScoredBlock<'a, E> {
    chunk: &'a PairsChunk,
    block: &'a PairsBlock,
    form: &'a DifferenceScoring<E>,
}

impl<E: LaneElement> ScoredBlock<'_, E> {
    /// Returns the lengths of the query and of a target.
    fn lengths(&self, target: SequenceId) -> [u32; 2] {
        [self.chunk.queries.length(self.block.query), self.chunk.targets.length(target)]
    }

    /// Returns whether the target takes the place of the query in the alignment.
    fn is_exchanged(&self, target: SequenceId) -> bool {
        self.chunk.earlier_is_query && target < self.block.query
    }

    /// Returns the hit of a target if the chunk's filter keeps it.
    fn kept(&self, target: SequenceId, greatest: Greatest) -> Option<PairHit> {
        let (query, [m, n]) = (self.block.query, self.lengths(target));
        let (score, matches) = self.form.decode(greatest.value, m, n);
        let is_kept = self.chunk.filter.keeps(query, score, matches, m, n);
        is_kept.then_some(PairHit { query, target, score, matches })
    }

    /// Returns the targets of a group whose alignments the chunk's filter keeps. `indices` are the
    /// positions of the group's targets in `ids` and `results`.
    fn targets_to_trace(&self, ids: &[SequenceId], indices: &[usize], results: &[Greatest]) -> Vec<WantedTrace> {
        let is_kept = |&(_, &index): &(usize, &usize)| self.kept(ids[index], results[index]).is_some();
        let trace = |(lane, &index): (usize, &usize)| {
            let is_exchanged = self.is_exchanged(ids[index]);
            WantedTrace { lane, index, is_exchanged, greatest: results[index] }
        };
        indices.iter().enumerate().filter(is_kept).map(trace).collect()
    }

    /// Returns the region that contains the end of the alignment with a target.
    fn end(&self, target: SequenceId, greatest: Greatest) -> EndRegion {
        let region = EndRegion::before_gaps(self.lengths(target), [greatest.columns_left, greatest.rows_left]);
        if self.is_exchanged(target) { region.exchanged() } else { region }
    }
}

/// A local score with the approximate position of the cells that have it.
#[derive(Debug, Clone, Copy)]
struct LocalBest {
    score: i64,
    query: Span,
    target: Span,
}

impl LocalBest {
    /// Returns the region that contains the canonical alignment's end. With `is_exchanged`, the
    /// target is the alignment's query.
    fn end(&self, query: &[Code], target: &[Code], is_exchanged: bool) -> EndRegion {
        let (query, target) = ((self.query, query.len() as u32), (self.target, target.len() as u32));
        let ((first, m), (second, n)) = if is_exchanged { (target, query) } else { (query, target) };
        // Among equal scores, the canonical alignment ends with the shortest prefix of its query.
        // For the target, any of the positions is possible.
        EndRegion { query: first.start..first.first_end.min(m), target: second.start..second.end.min(n) }
    }
}

/// A query and targets whose local scores are wanted.
struct WantedLocals<'a> {
    query: &'a [Code],
    targets: &'a [&'a [Code]],
    /// Scores of the targets if they are known. Widths that do not hold them are omitted.
    scores: Option<&'a [i64]>,
    /// Whether the positions of the best cells are wanted.
    with_positions: bool,
}

/// Computes local scores in one integer width.
trait Locals {
    /// Computes the scores of all targets that have none yet, if the width holds them.
    fn run(
        &mut self,
        wanted: &WantedLocals<'_>,
        scoring: &Scoring,
        plan: ComputePlan,
        results: &mut [Option<LocalBest>],
    );
}

impl<E: LaneElement> Locals for WidthBuffers<E> {
    fn run(
        &mut self,
        wanted: &WantedLocals<'_>,
        scoring: &Scoring,
        plan: ComputePlan,
        results: &mut [Option<LocalBest>],
    ) {
        let Some(form) = LocalScoring::<E>::new(scoring) else { return };
        let &WantedLocals { query, targets: all, scores, with_positions } = wanted;
        let fits = |index: usize| scores.is_none_or(|scores| scores[index] <= form.limit());
        let open: Vec<usize> = (0..all.len()).filter(|&index| results[index].is_none() && fits(index)).collect();
        let targets: Vec<&[Code]> = open.iter().map(|&index| all[index]).collect();
        let profiled = &ProfiledSequence::new(query);
        plan.distribute(query, &targets, E::lanes(plan.instructions), |fill, of| {
            let none = BestLocalCell { value: form.zero(), ..BestLocalCell::default() };
            let mut bests = [none; MAX_LANES];
            let mut is_exchanged = false;
            match fill {
                LaneFill::Together(targets) => {
                    let (group, buffers) = (TargetGroup::new(targets), &mut self.group);
                    if with_positions {
                        let task = GroupTask { form: &form, query: profiled, group, buffers, values: &mut bests };
                        plan.instructions.run(task);
                    } else {
                        let values = &mut [form.zero(); MAX_LANES];
                        plan.instructions.run(GroupTask {
                            form: &form,
                            query: profiled,
                            group,
                            buffers,
                            values: &mut *values,
                        });
                        bests.iter_mut().zip(values).for_each(|(best, value)| best.value = *value);
                    }
                }
                LaneFill::Alone { rows, columns } => {
                    is_exchanged = std::ptr::eq(rows, query);
                    let (columns, buffers) = (&ProfiledSequence::new(columns), &mut self.pair);
                    let value = &mut bests[0];
                    plan.instructions.run(PairTask { form: &form, rows, columns, buffers, value });
                }
            }
            for (&index, BestLocalCell { value, rows, columns }) in of.iter().zip(bests) {
                let (query, target) = if is_exchanged { (rows, columns) } else { (columns, rows) };
                results[open[index]] = form.decode(value).map(|score| LocalBest { score, query, target });
            }
        });
    }
}

/// Computes the local scores of a query. All targets are first computed in 8 bits, unless their
/// scores are known and do not fit. Targets whose scores do not fit are computed again in 16 bits,
/// and so on.
fn locals(wanted: &WantedLocals<'_>, scoring: &Scoring, workspace: &mut ScoreWorkspace) -> Result<Vec<LocalBest>> {
    let ScoreWorkspace { plan, buffers } = workspace;
    let mut results = vec![None; wanted.targets.len()];
    let widths: [&mut dyn Locals; 4] = [&mut buffers.0, &mut buffers.1, &mut buffers.2, &mut buffers.3];
    for width in widths {
        if results.iter().any(Option::is_none) {
            width.run(wanted, scoring, *plan, &mut results);
        }
    }
    let results: Option<Vec<LocalBest>> = results.into_iter().collect();
    results.ok_or_else(|| Error::Internal("local scores that do not fit 64 bits".into()))
}

/// Computes the local scores of a block.
fn run_local(
    chunk: &PairsChunk,
    block: &PairsBlock,
    workspace: &mut ScoreWorkspace,
    into: &mut ComputedHits,
) -> Result<()> {
    let query = chunk.queries.codes(block.query);
    let ids = block_targets(chunk, block);
    let targets = target_symbols(chunk, ids);
    let traced = chunk.filter.has_alignments();
    let wanted = WantedLocals { query, targets: &targets, scores: None, with_positions: traced };
    let results = locals(&wanted, &chunk.scoring, workspace)?;
    for ((&target, symbols), best) in ids.iter().zip(&targets).zip(results) {
        if chunk.filter.keeps(block.query, best.score, None, query.len() as u32, symbols.len() as u32) {
            into.hits.push(PairHit { query: block.query, target, score: best.score, matches: None });
            if traced {
                into.ends.push(best.end(query, symbols, chunk.earlier_is_query && target < block.query));
            }
        }
    }
    Ok(())
}

/// Returns the ids of a block's targets.
fn block_targets<'a>(chunk: &'a PairsChunk, block: &PairsBlock) -> &'a [SequenceId] {
    &chunk.order[block.targets.start as usize..block.targets.end as usize]
}

/// Returns the symbols of targets.
fn target_symbols<'a>(chunk: &'a PairsChunk, ids: &[SequenceId]) -> Vec<&'a [Code]> {
    ids.iter().map(|&id| chunk.targets.codes(id)).collect()
}

#[cfg(test)]
mod tests;
