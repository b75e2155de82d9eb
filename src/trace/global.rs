//! The canonical global alignment of two sequences: chooses the band and the width of the numbers.

use super::band::{Band, ScoreRange, ScoresBy};
use super::hint::{EndRegion, Hint};
use super::rows::Sweep;
use super::sweep::{Ends, ScoredCell, SweepValue};
use super::walk::{Tracer, Walk};
use super::wavefront::{Cell, Costs, Directions, Geometry, Symbols, TABLE_SIDE, Value, Wave};
use crate::alignment::{Alignment, Cigar, Op};
use crate::error::{Error, Result};
use crate::score::Scoring;
use crate::seq::Code;
use crate::simd::InstructionSet;

/// What tracebacks may use.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resources {
    /// Bytes of directions, or of values, that are kept at once.
    pub budget_bytes: usize,
    pub level: InstructionSet,
}

/// Buffers of global tracebacks, and what these may use.
#[derive(Debug)]
pub(super) struct Buffers {
    pub resources: Resources,
    symbols: Symbols,
    directions: Directions,
    wave_32: Wave<i32>,
    wave_64: Wave<i64>,
}

impl Buffers {
    /// Empty buffers, for the best level.
    pub(super) fn new(budget_bytes: usize) -> Self {
        Buffers {
            resources: Resources { budget_bytes, level: InstructionSet::best() },
            symbols: Symbols::default(),
            directions: Directions::default(),
            wave_32: Wave::default(),
            wave_64: Wave::default(),
        }
    }
}

/// What is known of the best alignments of two sequences beside a [`Hint`].
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Known<'a> {
    /// A band that holds all of them.
    pub within: Option<Band>,
    /// Where they end before the gap at the end. Only where end gaps have costs of their own.
    pub end: Option<&'a EndRegion>,
}

/// The canonical global alignment of two sequences, whatever the mode.
pub(super) fn global(
    query: &[Code],
    target: &[Code],
    scoring: &Scoring,
    hint: Hint,
    known: Known<'_>,
    buffers: &mut Buffers,
) -> Result<Alignment> {
    let (alignment, matches) = if query.is_empty() || target.is_empty() {
        (one_is_empty(query.len(), target.len(), scoring), 0)
    } else {
        let pair = Pair { known, ..Pair::new(query, target, scoring, hint) };
        if pair.scores() == ScoresBy::Table {
            fits_the_table(scoring)?;
        }
        let magnitude = pair.magnitude();
        if i32::holds(magnitude) {
            let mut wave = std::mem::take(&mut buffers.wave_32);
            let found = pair.align(buffers, &mut wave);
            buffers.wave_32 = wave;
            found
        } else if i64::holds(magnitude) {
            let mut wave = std::mem::take(&mut buffers.wave_64);
            let found = pair.align(buffers, &mut wave);
            buffers.wave_64 = wave;
            found
        } else {
            pair.align(buffers, &mut Wave::<i128>::default())
        }
    };
    let differs = |what: &str, found: i128, hinted: i128| {
        Err(Error::Internal(format!("the traceback found {what} {found}, the engine {hinted}")))
    };
    match hint {
        Hint { score: Some(score), .. } if score != alignment.score => {
            differs("score", alignment.score.into(), score.into())
        }
        Hint { matches: Some(hinted), .. } if hinted != matches => differs("matches", matches.into(), hinted.into()),
        _ => Ok(alignment),
    }
}

/// Whether every pair of codes has a place in tables of scores.
pub(super) fn fits_the_table(scoring: &Scoring) -> Result<()> {
    if scoring.substitution.size() <= TABLE_SIDE {
        return Ok(());
    }
    Err(Error::usage(format!(
        "{} are aligned by distance only: they have no table of scores",
        scoring.alphabet.letters()
    )))
}

fn one_is_empty(m: usize, n: usize, scoring: &Scoring) -> Alignment {
    let mut cigar = Cigar::new();
    cigar.push(run_length(m), Op::Insertion);
    cigar.push(run_length(n), Op::Deletion);
    Alignment::whole(-scoring.end_costs().cost((m + n) as u64), cigar)
}

fn run_length(symbols: usize) -> u32 {
    u32::try_from(symbols).expect("a sequence of fewer than 2^32 symbols")
}

/// Two sequences that are not empty, with what their codes say about scores.
struct Pair<'a> {
    query: &'a [Code],
    target: &'a [Code],
    scoring: &'a Scoring,
    hint: Hint,
    known: Known<'a>,
    range: ScoreRange,
    weight: i128,
}

impl<'a> Pair<'a> {
    fn new(query: &'a [Code], target: &'a [Code], scoring: &'a Scoring, hint: Hint) -> Self {
        let range = ScoreRange::of(&scoring.substitution, query, target);
        let weight = query.len().min(target.len()) as i128 + 1;
        Pair { query, target, scoring, hint, known: Known::default(), range, weight }
    }

    /// A bound on every packed, offset value that a path inside the matrices has, with an opening to spare: diagonal
    /// steps number min(m, n) at most, gap steps only cost openings, of which the best path to a cell in the band has
    /// at most two; border cells keep of their offset what end gaps cost less, and lack no more than an inner gap's first
    /// symbol.
    fn magnitude(&self) -> i128 {
        let (m, n) = (self.query.len() as i128, self.target.len() as i128);
        let gaps = self.scoring.gaps;
        let offset = |score: i32| i128::from(score) + 2 * i128::from(gaps.next);
        let diagonal = offset(self.range.greatest).abs().max(offset(self.range.least).abs());
        let borders = i128::from(gaps.next) * (m + n);
        self.weight * (diagonal * m.min(n) + borders + 4 * i128::from(gaps.opening())) + self.weight
    }

    /// How the sweep finds scores. It compares codes with linear gaps only.
    fn scores(&self) -> ScoresBy {
        match self.range.scores {
            ScoresBy::EqualCodes if !self.scoring.gaps.is_linear() => ScoresBy::Table,
            scores => scores,
        }
    }

    fn costs<T: SweepValue>(&self) -> Costs<T> {
        let (gaps, ends) = (self.scoring.gaps, self.scoring.end_costs());
        let packed = |score: i32, is_match: bool| {
            let offset = i128::from(score) + 2 * i128::from(gaps.next);
            T::from_wide(self.weight * offset + i128::from(is_match))
        };
        let mut table = Box::new([T::from_wide(0); TABLE_SIDE * TABLE_SIDE]);
        let (yes, no) = self.range.two_scores();
        let scores = self.scores();
        if scores == ScoresBy::Table {
            let substitution = &self.scoring.substitution;
            let size = substitution.size() as Code;
            // A score that no two symbols of the pair have may be beyond what its numbers hold.
            let occurs = self.range.least..=self.range.greatest;
            for (a, b) in (1..size).flat_map(|a| (1..size).map(move |b| (a, b))) {
                let score = substitution.score(a, b);
                if occurs.contains(&score) {
                    table[Costs::<T>::table_index(a, b)] = packed(score, substitution.is_match(a, b));
                }
            }
        }
        Costs {
            scores,
            two_scores: (packed(yes, true), packed(no, false)),
            table,
            opening: T::from_wide(self.weight * i128::from(gaps.opening())),
            step: T::from_wide(self.weight * i128::from(gaps.next)),
            affine: !gaps.is_linear(),
            end_opening: T::from_wide(self.weight * i128::from(ends.opening())),
            end_step: T::from_wide(self.weight * i128::from(gaps.next - ends.next)),
            own_ends: self.scoring.has_own_ends(),
        }
    }

    /// The alignment and its matches, by numbers that hold [`Self::magnitude`].
    fn align<T: SweepValue>(&self, buffers: &mut Buffers, wave: &mut Wave<T>) -> (Alignment, u64) {
        buffers.symbols.set(self.query, self.target);
        let costs = self.costs::<T>();
        let (m, n) = (self.query.len(), self.target.len());
        if self.hint.score.is_some() {
            let mut band = self.range.band(m, n, self.scoring, self.hint);
            let by_end = self.known.end.map(|end| self.range.band_to_end(m, n, self.scoring, self.hint, end.left()));
            for other in self.known.within.into_iter().chain(by_end) {
                band = band.meet(other);
            }
            return self.align_within(band, &costs, buffers, wave);
        }
        // Without a score, a band for similar sequences comes first. What it finds is some alignment's score, hence at
        // most the best one, so the band that this score asks for holds all best alignments. If it is within the band
        // that was swept, that one held them too.
        let mut band = Band::guess(m, n);
        loop {
            let found = self.align_within(band, &costs, buffers, wave);
            let enough = self.range.band(m, n, self.scoring, Hint { score: Some(found.0.score), matches: None });
            if band.contains(enough) {
                return found;
            }
            band = band.wider(enough);
        }
    }

    /// The best alignment within a band, by the rule; the canonical one if the band holds all best ones.
    fn align_within<T: SweepValue>(
        &self,
        band: Band,
        costs: &Costs<T>,
        buffers: &mut Buffers,
        wave: &mut Wave<T>,
    ) -> (Alignment, u64) {
        let Buffers { resources: Resources { budget_bytes, level }, symbols, directions, .. } = buffers;
        let (m, n) = (symbols.m, symbols.n);
        let corner = Cell { i: m, j: n };
        let geometry = Geometry::new(band);
        wave.start(geometry, costs.affine);
        let nowhere = ScoredCell { value: T::UNREACHABLE, cell: corner };
        let mut ends = costs.own_ends.then_some(Ends { column: nowhere, row: nowhere });
        let sweep = Sweep { symbols, costs, geometry, apex: corner, level: *level };
        let mut tracer = Tracer { sweep, wave, directions, budget_bytes: *budget_bytes };
        let parts = tracer.sweep_to(0, corner, ends.as_mut());

        let offset = T::from_wide(costs.step.to_wide() * i128::from(m + n));
        let value = tracer.wave.value(geometry, corner).map_or(T::UNREACHABLE, |value| value.minus(offset));
        let mut best = ScoredCell { value, cell: corner };
        if let Some(Ends { column, row }) = ends {
            for end in [column, row] {
                best = if end.value > best.value { end } else { best };
            }
        }
        let mut walk = Walk::new(self.query, self.target, &self.scoring.substitution, best.cell);
        tracer.follow(&mut walk, 0, parts);

        let packed = best.value.to_wide();
        let score = i64::try_from(packed.div_euclid(self.weight)).expect("scores and lengths are bounded");
        (Alignment::whole(score, walk.finish()), packed.rem_euclid(self.weight) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairs::oracle;
    use crate::score::{Ambiguity, EndGaps, Equality, Gaps};
    use crate::seq::Alphabet;

    #[test]
    fn numbers_of_every_width_give_the_same() {
        // A fixed recipe for two sequences that differ by substitutions, a run left out and overhanging ends.
        let query: Vec<Code> = (0..90u32).map(|k| 1 << ((k * k * 7 + k / 5) % 11 % 4)).collect();
        let mut target = query[4..].to_vec();
        target.drain(30..35);
        (target[10], target[60]) = (15, 2);
        let mut scorings = vec![Equality::literal(Alphabet::Dna).scoring()];
        for gaps in [Gaps::linear(10), Gaps::from_blast(6, 2)] {
            let priced = EndGaps::Priced(Gaps { first: 7, next: 1 });
            for end_gaps in [EndGaps::Charged, EndGaps::Free, priced] {
                for ambiguity in [Ambiguity::Overlap, Ambiguity::Zero] {
                    scorings.push(Scoring::nucleotide(5, -4, ambiguity, gaps, end_gaps).unwrap());
                }
            }
        }
        let mut kinds = Vec::new();
        for scoring in scorings {
            let expected = oracle::align(&query, &target, &scoring);
            let expected = (Alignment::whole(expected.score, expected.cigar), expected.matches);
            let pair = Pair::new(&query, &target, &scoring, Hint::NONE);
            let buffers = &mut Buffers::new(1_000);
            assert!(i32::holds(pair.magnitude()));
            assert_eq!(pair.align(buffers, &mut Wave::<i32>::default()), expected);
            assert_eq!(pair.align(buffers, &mut Wave::<i64>::default()), expected);
            assert_eq!(pair.align(buffers, &mut Wave::<i128>::default()), expected);
            kinds.push(pair.scores());
        }
        for kind in [ScoresBy::Table, ScoresBy::SharedBits, ScoresBy::EqualCodes] {
            assert!(kinds.contains(&kind), "{kind:?}");
        }
    }

    #[test]
    fn widths_are_chosen_by_what_values_can_be() {
        let magnitude = |length: usize, scoring: &Scoring| {
            let codes = vec![1; length];
            Pair::new(&codes, &codes, scoring, Hint::NONE).magnitude()
        };
        let dna = Scoring::truong();
        assert!(i32::holds(magnitude(1_600, &dna)));
        assert!(!i32::holds(magnitude(10_000, &dna)) && i64::holds(magnitude(10_000, &dna)));
        let huge = 1_000_000;
        let extreme = Scoring::nucleotide(huge, -huge, Ambiguity::Overlap, Gaps::linear(huge), EndGaps::Free).unwrap();
        assert!(i64::holds(magnitude(500_000, &extreme)));
        assert!(!i64::holds(magnitude(2_000_000, &extreme)));
    }
}
