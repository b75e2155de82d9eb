//! The production traceback of local alignments. It finds the end and the start of the canonical
//! alignment, and then runs the global traceback between them.
//!
//! An engine that computes the score may know a small region that contains the alignment's end
//! ([`EndRegion`]). From this region, `anchored` sweeps the reversed prefixes in narrow lanes. It
//! computes only cells from which the score can still be reached. `reach` then follows the
//! alignments with this score through the stored values. It finds their end and the few diagonals
//! that they visit. These diagonals are the band of the global traceback between start and end.
//!
//! Without a region, the end is computed first. There are two ways. `forward` sweeps over all rows
//! and keeps one row (Smith and Waterman 1981, with the states of Gotoh 1982). `striped` sweeps in
//! narrow lanes. It is used if the score rules out little of the matrix. `anchored` then continues
//! from the end cell.
//!
//! `further` finds several alignments of one pair, the best first. `detour` aligns two parts around
//! the cells of earlier alignments.
//!
//! A budget limits the memory of `anchored`. If the budget or the integer range is too small,
//! either `backward` or `striped` finds the start. `backward` skips cells by similar rules.
//! `striped` searches the end of the reversed prefixes. This reversed search is correct for the
//! following reason. The end is the first cell with the score, so every alignment within the
//! prefixes that has the score ends there. All reversed alignments therefore start at this cell.
//! The first cell in which any of them ends has the fewest query symbols, and among these the
//! fewest target symbols. Both `backward` and `striped` take memory in proportion to the target's
//! length. The global traceback then uses the band that follows from the score.

mod anchored;
mod backward;
mod detour;
mod forward;
pub(super) mod further;
mod reach;
mod striped;
pub(super) mod workspace;

use std::ops::{Add, Range, Sub};

use self::anchored::{AnchoredOutcome, AnchoredPair, AnchoredValues, Gains};
use self::forward::EndGoal;
use self::reach::Frontiers;
use self::striped::{StripedBuffers, StripedResult};
use super::band::Band;
use super::global::{GlobalBuffers, GlobalLimits, Resources, global};
use super::hint::{EndRegion, Hint};
use crate::alignment::Alignment;
use crate::error::{Error, Result};
use crate::score::{EndGaps, Scoring};
use crate::seq::Code;
use crate::simd::{InstructionSet, LaneElement};

/// An integer that holds a score: 32 bits for more lanes in a vector, or 64 bits.
trait ScoreInteger: Copy + Ord + Default + From<i32> + Into<i64> + Add<Output = Self> + Sub<Output = Self> {}

impl ScoreInteger for i32 {}
impl ScoreInteger for i64 {}

/// Buffers for repeated local tracebacks. Each thread has its own.
#[derive(Debug, Default)]
pub(super) struct LocalBuffers {
    profile: forward::TargetProfile,
    rows_32: forward::ScoreRows<i32>,
    rows_64: forward::ScoreRows<i64>,
    anchored_32: backward::BackwardRow<i32>,
    anchored_64: backward::BackwardRow<i64>,
    stripes: StripedBuffers,
    gains: Gains,
    values_16: AnchoredValues<i16>,
    values_32: AnchoredValues<i32>,
    frontiers: Frontiers,
    /// Reversed prefixes of both sequences.
    reversed: [Vec<Code>; 2],
}

/// Times per cell of the sweeps that skip most cells, relative to a striped sweep: `forward`, and
/// `backward`, which is not vectorized. Measured with AVX-512: 0.6 and 0.2 cells per nanosecond,
/// compared with 4 for a striped sweep.
const FORWARD_COST: u64 = 6;
const BACKWARD_COST: u64 = 20;

/// Returns the canonical local alignment of two sequences by the rule in [`crate::trace`]. A local
/// alignment has no end gaps, so `scoring.end_gaps` is ignored. `within` is a region that contains
/// the alignment's end, if one is known.
///
/// # Errors
/// [`Error::Internal`] if the score or the matches of the alignment differ from `hint`.
pub(super) fn traceback(
    query: &[Code],
    target: &[Code],
    scoring: &Scoring,
    hint: Hint,
    within: Option<&EndRegion>,
    global: &mut GlobalBuffers,
    buffers: &mut LocalBuffers,
) -> Result<Alignment> {
    if let (Some(score @ 1..), Some(region)) = (hint.score, within)
        && let Some(parts) = locate(query, target, scoring, score, region, global.resources, buffers)
    {
        return align_parts(query, target, scoring, Hint { score: Some(score), ..hint }, parts, global);
    }
    let wrong = |result: String| Err(Error::Internal(format!("the traceback found {result}")));
    let end = match hint.score {
        // The alignment is empty, so no search is needed.
        Some(0) => None,
        score => find_end(query, target, scoring, score, global.resources.instructions, buffers),
    };
    let score = end.map_or(0, |end| end.score);
    if let Some(hinted) = hint.score.filter(|&hinted| hinted != score) {
        return wrong(format!("local score {score}, but the engine reported {hinted}"));
    }
    let Some(end) = end else {
        return match hint.matches {
            None | Some(0) => Ok(Alignment::default()),
            Some(hinted) => wrong(format!("no columns, but the engine reported {hinted} matches")),
        };
    };
    let last = |symbols: usize| symbols as u32 - 1..symbols as u32;
    let region = EndRegion { query: last(end.query), target: last(end.target) };
    let parts = locate(query, target, scoring, score, &region, global.resources, buffers).or_else(|| {
        let (query, target) = (&query[..end.query], &target[..end.target]);
        let (from_query, from_target) =
            find_start(query, target, scoring, score, global.resources.instructions, buffers)?;
        Some(LocalParts { query: from_query..end.query, target: from_target..end.target, band: None })
    });
    match parts {
        Some(parts) => align_parts(query, target, scoring, Hint { score: Some(score), ..hint }, parts, global),
        None => wrong(format!("no start of a local alignment with score {score}")),
    }
}

/// The parts of both sequences that the canonical alignment covers.
#[derive(Debug, Clone, PartialEq, Eq)]
struct LocalParts {
    query: Range<usize>,
    target: Range<usize>,
    /// Diagonals that the alignments with this score visit, if known.
    band: Option<Band>,
}

/// Returns the canonical global alignment of two parts.
fn align_parts(
    query: &[Code],
    target: &[Code],
    scoring: &Scoring,
    hint: Hint,
    parts: LocalParts,
    buffers: &mut GlobalBuffers,
) -> Result<Alignment> {
    let charged;
    let scoring = match scoring.end_gaps {
        EndGaps::Charged => scoring,
        EndGaps::Free | EndGaps::Priced(_) => {
            charged = Scoring { end_gaps: EndGaps::Charged, ..scoring.clone() };
            &charged
        }
    };
    let position = |symbols: usize| u32::try_from(symbols).expect("a sequence of fewer than 2^32 symbols");
    let (query_start, target_start) = (position(parts.query.start), position(parts.target.start));
    let between = global(
        &query[parts.query],
        &target[parts.target],
        scoring,
        hint,
        GlobalLimits { within: parts.band, ..GlobalLimits::default() },
        buffers,
    )?;
    Ok(Alignment { query_start, target_start, ..between })
}

/// Finds the start, the end and the diagonals of an alignment with this score, which must be the
/// greatest and above 0. Returns `None` if the search needs more memory than the budget, or if no
/// such alignment exists.
fn locate(
    query: &[Code],
    target: &[Code],
    scoring: &Scoring,
    score: i64,
    region: &EndRegion,
    resources: Resources,
    buffers: &mut LocalBuffers,
) -> Option<LocalParts> {
    let Resources { instructions, budget_bytes: max_bytes } = resources;
    let LocalBuffers { gains, values_16, values_32, frontiers, reversed, .. } = buffers;
    let before = |sequence: &[Code], ends: &Range<u32>| (ends.end as usize).min(sequence.len());
    let (i, j) = (before(query, &region.query), before(target, &region.target));
    let ends = [i.checked_sub(region.query.start as usize)?, j.checked_sub(region.target.start as usize)?];
    if ends.contains(&0) {
        return None;
    }
    for (turned, sequence) in reversed.iter_mut().zip([&query[..i], &target[..j]]) {
        turned.clear();
        turned.extend(sequence.iter().rev());
    }
    let [query, target] = &*reversed;
    let at = AnchoredPair { query, target, ends, score, scoring };
    gains.set(&at);
    match locate_in(&at, gains, values_16, frontiers, max_bytes, instructions) {
        Err(AnchoredOutcome::TooNarrow) => locate_in(&at, gains, values_32, frontiers, max_bytes, instructions),
        result => result,
    }
    .ok()
    .flatten()
}

/// Greatest number of start cells from which ends are searched. An alignment usually has one.
const MAX_STARTS: usize = 16;

/// Finds the parts of an alignment like [`locate`], with integers of one width.
fn locate_in<E: LaneElement>(
    at: &AnchoredPair,
    gains: &Gains,
    values: &mut AnchoredValues<E>,
    frontiers: &mut Frontiers,
    max_bytes: usize,
    instructions: InstructionSet,
) -> std::result::Result<Option<LocalParts>, AnchoredOutcome> {
    let swept = anchored::sweep(at, gains, values, max_bytes, instructions);
    if swept != AnchoredOutcome::Done || values.start_cells.len() > MAX_STARTS {
        return Err(swept);
    }
    // Starts with the fewest query symbols come first, and among these with the fewest target
    // symbols.
    let mut start_cells = std::mem::take(&mut values.start_cells);
    start_cells.sort_unstable();
    let mut best: Option<([usize; 2], reach::Reached)> = None;
    for &start in &start_cells {
        if let Some(reached) = reach::find_end(at, gains, values, start, frontiers)
            && best.is_none_or(|(_, best)| reached.end > best.end)
        {
            best = Some((start, reached));
        }
        if at.ends == [1, 1] && best.is_some() {
            break;
        }
    }
    values.start_cells = start_cells;
    let (m, n) = (at.query.len(), at.target.len());
    Ok(best.map(|([row, column], reached)| LocalParts {
        query: m - 1 - row..m - reached.end[0],
        target: n - 1 - column..n - reached.end[1],
        band: Some(Band { low: reached.diagonals[0], high: reached.diagonals[1] }),
    }))
}

/// Returns the cell where the canonical alignment ends, or `None` if the alignment is empty.
/// `enough` is the greatest score, if known.
fn find_end(
    query: &[Code],
    target: &[Code],
    scoring: &Scoring,
    enough: Option<i64>,
    instructions: InstructionSet,
    buffers: &mut LocalBuffers,
) -> Option<forward::LocalEnd> {
    let LocalBuffers { profile, rows_32, rows_64, stripes, .. } = buffers;
    if suits_stripes(query, target, scoring, enough, FORWARD_COST)
        && let StripedResult::End(end) = striped::sweep(query, target, scoring, enough, stripes, instructions)
    {
        return end;
    }
    let goal = EndGoal::of(enough);
    if fits_32(query, target, scoring) {
        forward::sweep(query, target, scoring, goal, &[], profile, rows_32, instructions)
    } else {
        forward::sweep(query, target, scoring, goal, &[], profile, rows_64, instructions)
    }
}

/// Returns the numbers of query and target symbols before the canonical alignment, which ends with
/// the last symbols of both slices.
fn find_start(
    query: &[Code],
    target: &[Code],
    scoring: &Scoring,
    score: i64,
    instructions: InstructionSet,
    buffers: &mut LocalBuffers,
) -> Option<(usize, usize)> {
    if suits_stripes(query, target, scoring, Some(score), BACKWARD_COST) {
        let [turned_query, turned_target] = &mut buffers.reversed;
        for (turned, sequence) in [(&mut *turned_query, query), (&mut *turned_target, target)] {
            turned.clear();
            turned.extend(sequence.iter().rev());
        }
        let result =
            striped::sweep(turned_query, turned_target, scoring, Some(score), &mut buffers.stripes, instructions);
        if let StripedResult::End(end) = result {
            // A greater score would mean that `score` is not the greatest.
            let end = end.filter(|end| end.score == score)?;
            return Some((query.len() - end.query, target.len() - end.target));
        }
    }
    if fits_32(query, target, scoring) {
        backward::sweep(query, target, scoring, score, &[], &mut buffers.anchored_32)
    } else {
        backward::sweep(query, target, scoring, score, &[], &mut buffers.anchored_64)
    }
}

/// Returns whether a striped sweep takes less time than a sweep of the cells that the score allows.
/// `cost` is the relative time per cell of the latter.
fn suits_stripes(query: &[Code], target: &[Code], scoring: &Scoring, score: Option<i64>, cost: u64) -> bool {
    if score.is_some_and(|score| score < 1) {
        return false;
    }
    let (m, n) = (query.len() as u64, target.len() as u64);
    let pairs = forward::min_pairs(score, scoring) as u64;
    let diagonals = m.saturating_sub(pairs) + n.saturating_sub(pairs) + 1;
    m.min(n) * diagonals.min(m.max(n)) * cost >= m * n
}

/// Returns whether 32 bits hold all values of the forward and backward sweeps.
///
/// A path's value is at most the greatest score of two symbols times the length of the shorter
/// sequence. No value stays below 0 for more than one step, so no value falls below 0 by more than
/// one score or the cost of a gap's first symbol. 64 bits hold the values of all sequences for
/// scores up to [`MAX_SCORE`](crate::score::MAX_SCORE).
fn fits_32(query: &[Code], target: &[Code], scoring: &Scoring) -> bool {
    let substitution = &scoring.substitution;
    let step = i64::from(substitution.max_score()).abs().max(i64::from(substitution.min_score()).abs());
    let shorter = query.len().min(target.len()) as i128;
    i128::from(step) * (shorter + 1) + i128::from(scoring.gaps.first) < 1 << 29
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairs::oracle::smith_waterman;
    use crate::score::{Ambiguity, Gaps, Mode};
    use crate::simd::InstructionSet;

    fn pair() -> (Vec<Code>, Vec<Code>) {
        // A fixed recipe: two relatives with a deleted run, between unrelated ends.
        let query: Vec<Code> = (0..160u32).map(|k| 1 << ((k * k * 7 + k / 5) % 11 % 4)).collect();
        let mut target: Vec<Code> = (0..50u32).map(|k| 1 << ((k * 5 + k / 3) % 7 % 4)).collect();
        target.extend(&query[40..80]);
        target.extend(&query[83..130]);
        (target[60], target[100]) = (15, 2);
        (query, target)
    }

    #[test]
    fn both_integer_widths_give_the_same_ends_and_starts() {
        let (query, target) = pair();
        for gaps in [Gaps::linear(10), Gaps::from_blast(6, 2), Gaps::linear(0)] {
            let scoring = Scoring::nucleotide(5, -4, Ambiguity::Overlap, gaps, EndGaps::Charged).unwrap();
            let scoring = Scoring { mode: Mode::Local, ..scoring };
            let expected = smith_waterman::align(&query, &target, &scoring);
            let mut buffers = LocalBuffers::default();
            let LocalBuffers { profile, rows_32, rows_64, anchored_32, anchored_64, .. } = &mut buffers;
            let narrow =
                forward::sweep(&query, &target, &scoring, EndGoal::Best, &[], profile, rows_32, InstructionSet::best())
                    .unwrap();
            let wide =
                forward::sweep(&query, &target, &scoring, EndGoal::Best, &[], profile, rows_64, InstructionSet::best())
                    .unwrap();
            assert_eq!(narrow, wide);
            assert_eq!(
                (wide.score, wide.query, wide.target),
                (expected.score, expected.query.end, expected.target.end)
            );
            let (query, target) = (&query[..wide.query], &target[..wide.target]);
            let start = Some((expected.query.start, expected.target.start));
            assert_eq!(backward::sweep(query, target, &scoring, wide.score, &[], anchored_32), start);
            assert_eq!(backward::sweep(query, target, &scoring, wide.score, &[], anchored_64), start);
        }
    }

    #[test]
    fn narrow_integers_are_used_if_they_hold_all_values() {
        let fits = |length: usize, scoring: &Scoring| fits_32(&vec![1; length], &vec![1; length + 9], scoring);
        assert!(fits(1_000_000, &Scoring::truong()) && !fits(200_000_000, &Scoring::truong()));
        let huge = 1_000_000;
        let extreme = Scoring::nucleotide(huge, -huge, Ambiguity::Overlap, Gaps::linear(1), EndGaps::Charged).unwrap();
        assert!(fits(500, &extreme) && !fits(600, &extreme));
    }

    #[test]
    fn wrong_hints_are_errors() {
        let (query, target) = pair();
        let scoring = Scoring { mode: Mode::Local, ..Scoring::truong() };
        let right = smith_waterman::align(&query, &target, &scoring);
        let (mut global, mut buffers) = (GlobalBuffers::new(64 << 20), LocalBuffers::default());
        let mut error = |score: Option<i64>, matches: Option<u64>| {
            let result = traceback(&query, &target, &scoring, Hint { score, matches }, None, &mut global, &mut buffers);
            result.expect_err("the hint is wrong").to_string()
        };
        assert!(error(Some(right.score + 1), None).contains("found local score 0, but the engine reported"));
        assert!(error(Some(i64::MAX), None).contains("found local score"));
        assert!(error(Some(-1), None).contains("found local score"));
        assert!(error(None, Some(right.matches + 1)).contains("found matches"));
        assert!(error(Some(0), Some(3)).contains("found no columns, but the engine reported 3 matches"));
    }
}
