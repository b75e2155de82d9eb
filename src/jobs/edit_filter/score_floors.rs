//! Proves that pairs above the limit on edit distances cannot reach the identity, by lower bounds on
//! their scores.
//!
//! If end gaps cost little, the limit concerns only overlaps that are not short. Alignments of all
//! sequences with a few pivots give every pair a score that its best alignment reaches. If that score
//! rules out a short overlap ([`OverlapProof`]), the pair can be excluded. A pair without a proof is
//! scored.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use rayon::prelude::*;

use super::counts::ExclusionCounts;
use crate::engine::buffer_pool::WorkspacePool;
use crate::engine::queue::ExcludedPairs;
use crate::engine::stats::{self, RunStats};
use crate::error::Result;
use crate::jobs::Run;
use crate::jobs::run::check_interrupt;
use crate::pairs::plan::PairsSpec;
use crate::score::random::XorShift64;
use crate::score::{OverlapProof, Scoring};
use crate::seq::{Code, SequenceId, SequenceStore};
use crate::simd::InstructionSet;
use crate::trace::pivot::{PivotRow, PivotScoring};
use crate::trace::{Hint, TracebackWorkspace, traceback};

/// Maximum number of pivots.
const MAX_PIVOTS: usize = 3;
/// Number of pairs that decide whether proofs save time, and which pivots are used.
const SAMPLED_PAIRS: usize = 32;
/// Minimum number of sampled pairs with a proof. With fewer, most pairs are scored anyway.
const MIN_PROVEN: usize = SAMPLED_PAIRS / 4;
/// Minimum number of sampled pairs that only a further pivot proves, for this pivot to be used.
const MIN_PROVEN_BY_PIVOT: usize = SAMPLED_PAIRS / 8;
/// Minimum number of pairs per sequence. With fewer, the alignments with the pivots save little time.
const MIN_PAIRS_PER_SEQUENCE: u64 = 8;

/// Maximum bytes of the rows of all sequences.
const MAX_ROW_BYTES: u64 = 4 << 30;

/// The alignments of a store's sequences with each pivot.
type StoreRows = Vec<Vec<PivotRow>>;

/// Lower bounds on the scores of pairs. They are computed for the stores of one plan at a time.
pub(super) struct ScoreFloors {
    proof: OverlapProof,
    scoring: Arc<Scoring>,
    row_scoring: PivotScoring,
    pivots: Vec<Vec<Code>>,
    /// Rows of the stores of the current plan.
    rows: Vec<(Arc<SequenceStore>, Arc<StoreRows>)>,
    counts: ExclusionCounts,
}

impl ScoreFloors {
    /// Chooses pivots for the pairs of a plan. Returns `None` if few pairs have a proof, unless the
    /// filter `is_forced`. Runs on the threads of the current pool.
    ///
    /// # Errors
    /// [`Error::Interrupted`](crate::Error::Interrupted).
    pub(super) fn choose(
        proof: OverlapProof,
        planned: &PairsSpec,
        is_forced: bool,
        run: &Run,
    ) -> Result<Option<ScoreFloors>> {
        let (queries, targets) = (&planned.queries, planned.targets());
        let sequences = (queries.len() + targets.len()) as u64;
        let is_small = !is_forced && planned.pairs() < MIN_PAIRS_PER_SEQUENCE * sequences;
        let longest = queries.lengths().iter().chain(targets.lengths()).copied().max().unwrap_or(0);
        let is_large = sequences * u64::from(longest) > MAX_ROW_BYTES / MAX_PIVOTS as u64;
        if queries.is_empty() || targets.is_empty() || is_small || is_large {
            return Ok(None);
        }
        let row_scoring = PivotScoring::new(&planned.scoring);
        let scoring = Arc::clone(&planned.scoring);
        let counts = ExclusionCounts::default();
        let mut floors = ScoreFloors { proof, scoring, row_scoring, pivots: Vec::new(), rows: Vec::new(), counts };
        let mut random = XorShift64(SAMPLED_PAIRS as u64);
        let mut draw = |store: &SequenceStore| (random.fraction() * store.len() as f64) as SequenceId;
        let pair = |_| (draw(queries), draw(targets));
        let mut unproven: Vec<(SequenceId, SequenceId)> = (0..SAMPLED_PAIRS).map(pair).collect();
        let mut by_length: Vec<SequenceId> = unproven.iter().map(|&(_, target)| target).collect();
        by_length.sort_by_key(|&target| targets.length(target));
        // A pivot that is longer than most sequences covers them. The longest one may be an outlier.
        let mut next = targets.codes(by_length[SAMPLED_PAIRS * 3 / 4]).to_vec();
        while floors.pivots.len() < MAX_PIVOTS {
            let left = floors.unproven_by(&next, &unproven, planned, &run.interrupt)?;
            let is_first = floors.pivots.is_empty();
            if is_first || unproven.len() - left.len() >= MIN_PROVEN_BY_PIVOT {
                floors.pivots.push(next);
                unproven = left;
            } else {
                break;
            }
            let Some(&(query, _)) = unproven.first() else { break };
            next = queries.codes(query).to_vec();
        }
        let proven = SAMPLED_PAIRS - unproven.len();
        tracing::debug!(pivots = floors.pivots.len(), proven, of = SAMPLED_PAIRS, "chose pivots of score bounds");
        Ok((is_forced || proven >= MIN_PROVEN).then_some(floors))
    }

    /// Returns the pairs that have no proof by a pivot.
    fn unproven_by(
        &self,
        pivot: &[Code],
        pairs: &[(SequenceId, SequenceId)],
        planned: &PairsSpec,
        interrupt: &AtomicBool,
    ) -> Result<Vec<(SequenceId, SequenceId)>> {
        let instructions = InstructionSet::best();
        let is_unproven = |workspace: &mut TracebackWorkspace, &(query, target): &(SequenceId, SequenceId)| {
            check_interrupt(interrupt)?;
            let [one, other] = [planned.queries.codes(query), planned.targets().codes(target)];
            let one_row = self.row(one, pivot, workspace)?;
            let other_row = self.row(other, pivot, workspace)?;
            let score = self.row_scoring.reached_score(&one_row, &other_row, instructions);
            let is_proven = self.proof.holds(score, one.len() as u32, other.len() as u32);
            Ok((!is_proven).then_some((query, target)))
        };
        let workspaces = WorkspacePool::default();
        let all = pairs.par_iter().map(|pair| workspaces.with(|workspace| is_unproven(workspace, pair)));
        Ok(all.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }

    /// Aligns a sequence with a pivot.
    fn row(&self, codes: &[Code], pivot: &[Code], workspace: &mut TracebackWorkspace) -> Result<PivotRow> {
        let alignment = traceback(codes, pivot, &self.scoring, Hint::NONE, workspace)?;
        Ok(PivotRow::new(codes, &alignment.cigar, &self.row_scoring))
    }

    /// Aligns the sequences of a plan with the pivots, unless they are the sequences of the last plan.
    /// Runs on the threads of the current pool.
    ///
    /// # Errors
    /// [`Error::Interrupted`](crate::Error::Interrupted).
    pub(super) fn align(&mut self, planned: &PairsSpec, run: &Run) -> Result<()> {
        let started = Instant::now();
        let stores = [&planned.queries, planned.targets()];
        self.rows.retain(|(known, _)| stores.iter().any(|store| Arc::ptr_eq(store, known)));
        for store in stores {
            if self.rows.iter().any(|(known, _)| Arc::ptr_eq(store, known)) {
                continue;
            }
            let row = |workspace: &mut TracebackWorkspace, (pivot, sequence): (usize, usize)| {
                check_interrupt(&run.interrupt)?;
                self.row(store.codes(sequence as SequenceId), &self.pivots[pivot], workspace)
            };
            let workspaces = WorkspacePool::default();
            let of_pivot = |pivot: usize| {
                let row = |sequence| workspaces.with(|workspace| row(workspace, (pivot, sequence)));
                (0..store.len()).into_par_iter().map(row).collect::<Result<Vec<PivotRow>>>()
            };
            let rows = (0..self.pivots.len()).map(of_pivot).collect::<Result<StoreRows>>()?;
            self.rows.push((Arc::clone(store), Arc::new(rows)));
        }
        self.counts.add_time(started);
        Ok(())
    }

    /// Adds the pairs of a plan without a proof to `selected`, the pairs within the limit. Both lists
    /// are sorted. Runs on the threads of the current pool. [`ScoreFloors::align`] must have been
    /// called for the stores of the plan.
    pub(super) fn add_unproven(&self, planned: &PairsSpec, selected: &mut Vec<(u32, u32)>) {
        let started = Instant::now();
        let rows = |store: &Arc<SequenceStore>| {
            self.rows.iter().find(|(known, _)| Arc::ptr_eq(store, known)).map(|(_, rows)| Arc::clone(rows))
        };
        let rows = rows(&planned.queries).zip(rows(planned.targets()));
        let (is_later, targets) = (planned.against.is_none() || planned.strands.later_only, planned.targets().len());
        let mut compared: Vec<(SequenceId, Range<SequenceId>)> = Vec::new();
        for part in planned.parts() {
            let targets_of =
                |query| (query, part.compared_targets(planned.strands.sequence_of(query).0, targets, is_later));
            compared.extend(part.queries.clone().map(targets_of));
        }
        let (pairs, cells) = (AtomicU64::new(0), AtomicU64::new(0));
        let unproven = |(query, compared): &(SequenceId, Range<SequenceId>)| {
            let mut known = &selected[selected.partition_point(|&pair| pair < (*query, compared.start))..];
            let (mut added, mut proven, mut symbols) = (Vec::new(), 0u64, 0u64);
            for target in compared.clone() {
                if known.first() == Some(&(*query, target)) {
                    known = &known[1..];
                    continue;
                }
                let is_proven = rows
                    .as_ref()
                    .is_some_and(|(queries, targets)| self.is_proven(queries, targets, *query, target, planned));
                if is_proven {
                    proven += 1;
                    symbols += u64::from(planned.targets().length(target));
                } else {
                    added.push((*query, target));
                }
            }
            pairs.fetch_add(proven, Ordering::Relaxed);
            cells.fetch_add(symbols * u64::from(planned.queries.length(*query)), Ordering::Relaxed);
            added
        };
        let added: Vec<Vec<(u32, u32)>> = compared.par_iter().map(unproven).collect();
        self.counts.add(ExcludedPairs { pairs: pairs.into_inner(), cells: cells.into_inner() });
        self.counts.add_time(started);
        selected.extend(added.into_iter().flatten());
        selected.par_sort_unstable();
    }

    fn is_proven(
        &self,
        queries: &StoreRows,
        targets: &StoreRows,
        query: SequenceId,
        target: SequenceId,
        planned: &PairsSpec,
    ) -> bool {
        let (m, n) = (planned.queries.length(query), planned.targets().length(target));
        queries.iter().zip(targets).any(|(queries, targets)| {
            let (one, other) = (&queries[query as usize], &targets[target as usize]);
            self.proof.holds(self.row_scoring.reached_score(one, other, InstructionSet::best()), m, n)
        })
    }

    /// Appends the statistics of the proofs since the last call.
    pub(super) fn add_to(&self, mut ran: RunStats) -> RunStats {
        let row = self.counts.take_row("score bounds", rayon::current_num_threads());
        stats::append_run(&mut ran.engines, vec![row], 0.0);
        ran
    }
}
