//! The production traceback of local alignments: where the canonical one ends, where it begins, and, by the global
//! traceback, what lies between.
//!
//! An engine that computes the score may know in which few cells the alignment ends ([`EndRegion`]). From these, `anchored`
//! sweeps the reversed prefixes in narrow lanes, over the cells from which the score can still be reached, and `reach`
//! follows the alignments with the score along the values that it leaves: to the end, and through the few diagonals that
//! they visit, which are the band of the global traceback between both places.
//!
//! Otherwise the end comes first. It is found by `forward`, a sweep over all rows that keeps one of them (Smith and Waterman
//! 1981, with Gotoh's states of 1982), or by `striped` in narrow lanes where the score leaves much of the matrix. From this
//! one cell `anchored` goes on.
//!
//! What `anchored` leaves is bounded by a budget. Where that is not enough, or numbers are not, the beginning is found by
//! `backward`, which keeps to the same cells, or as the end of the reversed prefixes by `striped`: as the end is the first
//! cell that has the score, every alignment within the prefixes that has it ends there, so that the reversed ones all begin
//! where these do, and the first cell in which one ends has the fewest symbols of the query, and then of the target. These
//! take memory in proportion to the target's length, and the global traceback the band that a score leaves.

mod anchored;
mod backward;
mod forward;
mod reach;
mod striped;

use std::ops::{Add, Range, Sub};

use self::anchored::{Anchor, Gains, Swept, Values};
use self::reach::Frontiers;
use self::striped::Found;
use super::band::Band;
use super::global::{self, Known, Resources, global};
use super::hint::{EndRegion, Hint};
use crate::alignment::Alignment;
use crate::error::{Error, Result};
use crate::score::{EndGaps, Scoring};
use crate::seq::Code;
use crate::simd::{InstructionSet, LaneElement};

/// An integer that holds a score: 32 bits, which vectors hold more of, or 64 bits.
trait Number: Copy + Ord + Default + From<i32> + Into<i64> + Add<Output = Self> + Sub<Output = Self> {}

impl Number for i32 {}
impl Number for i64 {}

/// Buffers that sweeps use again and again; one for each thread.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    profile: forward::Profile,
    rows_32: forward::Rows<i32>,
    rows_64: forward::Rows<i64>,
    anchored_32: backward::Row<i32>,
    anchored_64: backward::Row<i64>,
    stripes: striped::Buffers,
    gains: Gains,
    values_16: Values<i16>,
    values_32: Values<i32>,
    frontiers: Frontiers,
    /// The prefixes of both sequences, turned round.
    reversed: [Vec<Code>; 2],
}

/// How much longer a cell takes in the sweeps that leave most of them out: of `forward`, and of `backward`, which has no
/// vectors. (AVX-512: 0.6 and 0.2 cells a nanosecond, in stripes 4.)
const FORWARD_COST: u64 = 6;
const BACKWARD_COST: u64 = 20;

/// The canonical local alignment of two sequences (the rule is in [`crate::trace`]). `scoring.end_gaps` is of no
/// account: a local alignment has none. `within`, if it is known: where the alignment ends.
///
/// # Errors
/// [`Error::Internal`] if the alignment has not the score or the matches of `hint`.
pub(super) fn traceback(
    query: &[Code],
    target: &[Code],
    scoring: &Scoring,
    hint: Hint,
    within: Option<&EndRegion>,
    global: &mut global::Buffers,
    buffers: &mut Buffers,
) -> Result<Alignment> {
    if let (Some(score @ 1..), Some(region)) = (hint.score, within)
        && let Some(place) = place(query, target, scoring, score, region, global.resources, buffers)
    {
        return between(query, target, scoring, Hint { score: Some(score), ..hint }, place, global);
    }
    let wrong = |found: String| Err(Error::Internal(format!("the traceback found {found}")));
    let end = match hint.score {
        // The empty alignment; there is nothing to look for.
        Some(0) => None,
        score => find_end(query, target, scoring, score, global.resources.level, buffers),
    };
    let score = end.map_or(0, |end| end.score);
    if let Some(hinted) = hint.score.filter(|&hinted| hinted != score) {
        return wrong(format!("local score {score}, the engine {hinted}"));
    }
    let Some(end) = end else {
        return match hint.matches {
            None | Some(0) => Ok(Alignment::default()),
            Some(hinted) => wrong(format!("no columns, the engine {hinted} matches")),
        };
    };
    let last = |symbols: usize| symbols as u32 - 1..symbols as u32;
    let region = EndRegion { query: last(end.query), target: last(end.target) };
    let place = place(query, target, scoring, score, &region, global.resources, buffers).or_else(|| {
        let (query, target) = (&query[..end.query], &target[..end.target]);
        let (from_query, from_target) = find_begin(query, target, scoring, score, global.resources.level, buffers)?;
        Some(Place { query: from_query..end.query, target: from_target..end.target, band: None })
    });
    match place {
        Some(place) => between(query, target, scoring, Hint { score: Some(score), ..hint }, place, global),
        None => wrong(format!("no beginning of a local alignment with score {score}")),
    }
}

/// The parts that the canonical alignment is of.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    query: Range<usize>,
    target: Range<usize>,
    /// The diagonals that its alignments with the score visit, if they are known.
    band: Option<Band>,
}

/// The canonical global alignment of two parts.
fn between(
    query: &[Code],
    target: &[Code],
    scoring: &Scoring,
    hint: Hint,
    place: Place,
    buffers: &mut global::Buffers,
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
    let (query_start, target_start) = (position(place.query.start), position(place.target.start));
    let between = global(
        &query[place.query],
        &target[place.target],
        scoring,
        hint,
        Known { within: place.band, ..Known::default() },
        buffers,
    )?;
    Ok(Alignment { query_start, target_start, ..between })
}

/// Of an alignment with this score, which is the greatest, and above 0: where it begins and ends, and by which diagonals it
/// goes. None if that takes more memory than there is to be, or there is no such alignment.
fn place(
    query: &[Code],
    target: &[Code],
    scoring: &Scoring,
    score: i64,
    region: &EndRegion,
    resources: Resources,
    buffers: &mut Buffers,
) -> Option<Place> {
    let Resources { level, budget_bytes: most_bytes } = resources;
    let Buffers { gains, values_16, values_32, frontiers, reversed, .. } = buffers;
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
    let at = Anchor { query, target, ends, score, scoring };
    gains.set(&at);
    match place_in(&at, gains, values_16, frontiers, most_bytes, level) {
        Err(Swept::TooNarrow) => place_in(&at, gains, values_32, frontiers, most_bytes, level),
        found => found,
    }
    .ok()
    .flatten()
}

/// Beginnings from which ends are looked for; an alignment has one, or few.
const MAX_BEGINS: usize = 16;

/// The same in numbers of one width.
fn place_in<E: LaneElement>(
    at: &Anchor,
    gains: &Gains,
    values: &mut Values<E>,
    frontiers: &mut Frontiers,
    most_bytes: usize,
    level: InstructionSet,
) -> std::result::Result<Option<Place>, Swept> {
    let swept = anchored::sweep(at, gains, values, most_bytes, level);
    if swept != Swept::Done || values.begins.len() > MAX_BEGINS {
        return Err(swept);
    }
    // The fewest symbols of the query first, then of the target.
    let mut begins = std::mem::take(&mut values.begins);
    begins.sort_unstable();
    let mut best: Option<([usize; 2], reach::Reached)> = None;
    for &begin in &begins {
        if let Some(reached) = reach::follow(at, gains, values, begin, frontiers)
            && best.is_none_or(|(_, best)| reached.end > best.end)
        {
            best = Some((begin, reached));
        }
        if at.ends == [1, 1] && best.is_some() {
            break;
        }
    }
    values.begins = begins;
    let (m, n) = (at.query.len(), at.target.len());
    Ok(best.map(|([row, column], reached)| Place {
        query: m - 1 - row..m - reached.end[0],
        target: n - 1 - column..n - reached.end[1],
        band: Some(Band { low: reached.diagonals[0], high: reached.diagonals[1] }),
    }))
}

/// The cell where the canonical alignment ends; none if it is empty. `enough` is the greatest score, if it is known.
fn find_end(
    query: &[Code],
    target: &[Code],
    scoring: &Scoring,
    enough: Option<i64>,
    level: InstructionSet,
    buffers: &mut Buffers,
) -> Option<forward::End> {
    let Buffers { profile, rows_32, rows_64, stripes, .. } = buffers;
    if suits_stripes(query, target, scoring, enough, FORWARD_COST)
        && let Found::End(end) = striped::sweep(query, target, scoring, enough, stripes, level)
    {
        return end;
    }
    if fits_32(query, target, scoring) {
        forward::sweep(query, target, scoring, enough, profile, rows_32, level)
    } else {
        forward::sweep(query, target, scoring, enough, profile, rows_64, level)
    }
}

/// How many symbols of query and target lie before the canonical alignment, which ends where both do.
fn find_begin(
    query: &[Code],
    target: &[Code],
    scoring: &Scoring,
    score: i64,
    level: InstructionSet,
    buffers: &mut Buffers,
) -> Option<(usize, usize)> {
    if suits_stripes(query, target, scoring, Some(score), BACKWARD_COST) {
        let [turned_query, turned_target] = &mut buffers.reversed;
        for (turned, sequence) in [(&mut *turned_query, query), (&mut *turned_target, target)] {
            turned.clear();
            turned.extend(sequence.iter().rev());
        }
        let found = striped::sweep(turned_query, turned_target, scoring, Some(score), &mut buffers.stripes, level);
        if let Found::End(end) = found {
            // A greater score would mean that `score` is not the greatest.
            let end = end.filter(|end| end.score == score)?;
            return Some((query.len() - end.query, target.len() - end.target));
        }
    }
    if fits_32(query, target, scoring) {
        backward::sweep(query, target, scoring, score, &mut buffers.anchored_32)
    } else {
        backward::sweep(query, target, scoring, score, &mut buffers.anchored_64)
    }
}

/// Whether stripes take less time than a sweep of the cells that a score leaves, each of which takes `cost` times as long.
fn suits_stripes(query: &[Code], target: &[Code], scoring: &Scoring, score: Option<i64>, cost: u64) -> bool {
    if score.is_some_and(|score| score < 1) {
        return false;
    }
    let (m, n) = (query.len() as u64, target.len() as u64);
    let pairs = forward::least_pairs(score, scoring) as u64;
    let diagonals = m.saturating_sub(pairs) + n.saturating_sub(pairs) + 1;
    m.min(n) * diagonals.min(m.max(n)) * cost >= m * n
}

/// Whether 32 bits hold all values of both sweeps. A path's value is at most the greatest score of two symbols times the
/// symbols of the shorter sequence, and since none falls below 0 for more than a step, no value falls further than one
/// score or one gap's first symbol. (64 bits hold the values of all sequences, for scores up to
/// [`MAX_SCORE`](crate::score::MAX_SCORE).)
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
        // A fixed recipe: two relatives with a run left out, between ends that are not related.
        let query: Vec<Code> = (0..160u32).map(|k| 1 << ((k * k * 7 + k / 5) % 11 % 4)).collect();
        let mut target: Vec<Code> = (0..50u32).map(|k| 1 << ((k * 5 + k / 3) % 7 % 4)).collect();
        target.extend(&query[40..80]);
        target.extend(&query[83..130]);
        (target[60], target[100]) = (15, 2);
        (query, target)
    }

    #[test]
    fn numbers_of_both_widths_give_the_same() {
        let (query, target) = pair();
        for gaps in [Gaps::linear(10), Gaps::from_blast(6, 2), Gaps::linear(0)] {
            let scoring = Scoring::nucleotide(5, -4, Ambiguity::Overlap, gaps, EndGaps::Charged).unwrap();
            let scoring = Scoring { mode: Mode::Local, ..scoring };
            let expected = smith_waterman::align(&query, &target, &scoring);
            let mut buffers = Buffers::default();
            let Buffers { profile, rows_32, rows_64, anchored_32, anchored_64, .. } = &mut buffers;
            let narrow =
                forward::sweep(&query, &target, &scoring, None, profile, rows_32, InstructionSet::best()).unwrap();
            let wide =
                forward::sweep(&query, &target, &scoring, None, profile, rows_64, InstructionSet::best()).unwrap();
            assert_eq!(narrow, wide);
            assert_eq!(
                (wide.score, wide.query, wide.target),
                (expected.score, expected.query.end, expected.target.end)
            );
            let (query, target) = (&query[..wide.query], &target[..wide.target]);
            let begin = Some((expected.query.start, expected.target.start));
            assert_eq!(backward::sweep(query, target, &scoring, wide.score, anchored_32), begin);
            assert_eq!(backward::sweep(query, target, &scoring, wide.score, anchored_64), begin);
        }
    }

    #[test]
    fn widths_are_chosen_by_what_values_can_be() {
        let fits = |length: usize, scoring: &Scoring| fits_32(&vec![1; length], &vec![1; length + 9], scoring);
        assert!(fits(1_000_000, &Scoring::truong()) && !fits(200_000_000, &Scoring::truong()));
        let huge = 1_000_000;
        let extreme = Scoring::nucleotide(huge, -huge, Ambiguity::Overlap, Gaps::linear(1), EndGaps::Charged).unwrap();
        assert!(fits(500, &extreme) && !fits(600, &extreme));
    }

    #[test]
    fn a_score_that_no_alignment_has_is_found_out() {
        let (query, target) = pair();
        let scoring = Scoring { mode: Mode::Local, ..Scoring::truong() };
        let right = smith_waterman::align(&query, &target, &scoring);
        let (mut global, mut buffers) = (global::Buffers::new(64 << 20), Buffers::default());
        let mut error = |score: Option<i64>, matches: Option<u64>| {
            let found = traceback(&query, &target, &scoring, Hint { score, matches }, None, &mut global, &mut buffers);
            found.expect_err("the hint is wrong").to_string()
        };
        assert!(error(Some(right.score + 1), None).contains("found local score 0, the engine"));
        assert!(error(Some(i64::MAX), None).contains("found local score"));
        assert!(error(Some(-1), None).contains("found local score"));
        assert!(error(None, Some(right.matches + 1)).contains("found matches"));
        assert!(error(Some(0), Some(3)).contains("found no columns, the engine 3 matches"));
    }
}
