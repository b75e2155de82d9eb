//! The canonical global alignment of two sequences: chooses the band and the integer width.

use super::band::{Band, ScoreRange, ScoresBy};
use super::checkpoints::{CheckpointedSweep, Traceback};
use super::hint::{EndRegion, Hint};
use super::rows::BandSweep;
use super::sweep::{BorderEnds, RowValue, ScoredCell};
use super::wavefront::{BandDirections, Geometry, MatrixCell, PackedCosts, PackedValue, Symbols, TABLE_SIDE, Wave};
use crate::alignment::{Alignment, Cigar, Op};
use crate::error::{Error, Result};
use crate::score::Scoring;
use crate::seq::Code;
use crate::simd::InstructionSet;

/// Resources that tracebacks may use.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resources {
    /// Limit in bytes on the directions or values that are kept at once.
    pub budget_bytes: usize,
    pub instructions: InstructionSet,
}

/// Buffers of global tracebacks, and the resources that the tracebacks may use.
#[derive(Debug)]
pub(super) struct GlobalBuffers {
    pub resources: Resources,
    symbols: Symbols,
    directions: BandDirections,
    wave_32: Wave<i32>,
    wave_64: Wave<i64>,
}

impl GlobalBuffers {
    /// Returns empty buffers for the best available instruction set.
    pub(super) fn new(budget_bytes: usize) -> Self {
        GlobalBuffers {
            resources: Resources { budget_bytes, instructions: InstructionSet::best() },
            symbols: Symbols::default(),
            directions: BandDirections::default(),
            wave_32: Wave::default(),
            wave_64: Wave::default(),
        }
    }
}

/// Limits on the best alignments of two sequences, in addition to a [`Hint`].
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct GlobalLimits<'a> {
    /// Band that contains all best alignments.
    pub within: Option<Band>,
    /// Region of the ends of all best alignments, before the gap at the end. It is used only if end
    /// gaps have their own costs.
    pub end: Option<&'a EndRegion>,
}

/// Returns the canonical global alignment of two sequences. It ignores the mode of `scoring`.
pub(super) fn global(
    query: &[Code],
    target: &[Code],
    scoring: &Scoring,
    hint: Hint,
    limits: GlobalLimits<'_>,
    buffers: &mut GlobalBuffers,
) -> Result<Alignment> {
    let (alignment, matches) = if query.is_empty() || target.is_empty() {
        (one_is_empty(query.len(), target.len(), scoring), 0)
    } else {
        let pair = GlobalPair { limits, ..GlobalPair::new(query, target, scoring, hint) };
        if pair.scores() == ScoresBy::Table {
            check_table_size(scoring)?;
        }
        let magnitude = pair.magnitude();
        if i32::holds(magnitude) {
            let mut wave = std::mem::take(&mut buffers.wave_32);
            let alignment = pair.align(buffers, &mut wave);
            buffers.wave_32 = wave;
            alignment
        } else if i64::holds(magnitude) {
            let mut wave = std::mem::take(&mut buffers.wave_64);
            let alignment = pair.align(buffers, &mut wave);
            buffers.wave_64 = wave;
            alignment
        } else {
            pair.align(buffers, &mut Wave::<i128>::default())
        }
    };
    let differs = |what: &str, traced: i128, hinted: i128| {
        Err(Error::Internal(format!("the traceback found {what} {traced}, but the engine reported {hinted}")))
    };
    match hint {
        Hint { score: Some(score), .. } if score != alignment.score => {
            differs("score", alignment.score.into(), score.into())
        }
        Hint { matches: Some(hinted), .. } if hinted != matches => differs("matches", matches.into(), hinted.into()),
        _ => Ok(alignment),
    }
}

/// Returns an error if the score tables are too small for the alphabet of `scoring`.
pub(super) fn check_table_size(scoring: &Scoring) -> Result<()> {
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
    Alignment::end_to_end(-scoring.end_costs().cost((m + n) as u64), cigar)
}

fn run_length(symbols: usize) -> u32 {
    u32::try_from(symbols).expect("a sequence of fewer than 2^32 symbols")
}

/// Two non-empty sequences, with the properties of their codes' scores.
struct GlobalPair<'a> {
    query: &'a [Code],
    target: &'a [Code],
    scoring: &'a Scoring,
    hint: Hint,
    limits: GlobalLimits<'a>,
    range: ScoreRange,
    weight: i128,
}

impl<'a> GlobalPair<'a> {
    fn new(query: &'a [Code], target: &'a [Code], scoring: &'a Scoring, hint: Hint) -> Self {
        let range = ScoreRange::from_codes(&scoring.substitution, query, target);
        let weight = query.len().min(target.len()) as i128 + 1;
        GlobalPair { query, target, scoring, hint, limits: GlobalLimits::default(), range, weight }
    }

    /// Returns a bound on the absolute packed values, including their offsets, of all paths inside
    /// the matrices. The bound includes the cost of one more opening.
    ///
    /// There are at most min(m, n) diagonal steps. With offsets, gap steps only cost their
    /// openings, and the best path to a cell in the band has at most two openings. A border cell's
    /// value includes the difference between the offset and the end gap's cost. The value is lower
    /// by at most the cost of an inner gap's first symbol.
    fn magnitude(&self) -> i128 {
        let (m, n) = (self.query.len() as i128, self.target.len() as i128);
        let gaps = self.scoring.gaps;
        let offset = |score: i32| i128::from(score) + 2 * i128::from(gaps.next);
        let diagonal = offset(self.range.greatest).abs().max(offset(self.range.least).abs());
        let borders = i128::from(gaps.next) * (m + n);
        self.weight * (diagonal * m.min(n) + borders + 4 * i128::from(gaps.opening())) + self.weight
    }

    /// Returns how the sweep finds scores. Code for comparing codes exists for linear gaps only.
    fn scores(&self) -> ScoresBy {
        match self.range.scores {
            ScoresBy::EqualCodes if !self.scoring.gaps.is_linear() => ScoresBy::Table,
            scores => scores,
        }
    }

    fn costs<T: RowValue>(&self) -> PackedCosts<T> {
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
            // Scores that do not occur in the pair may exceed the range of `T`.
            let occurs = self.range.least..=self.range.greatest;
            for (a, b) in (1..size).flat_map(|a| (1..size).map(move |b| (a, b))) {
                let score = substitution.score(a, b);
                if occurs.contains(&score) {
                    table[PackedCosts::<T>::table_index(a, b)] = packed(score, substitution.is_match(a, b));
                }
            }
        }
        PackedCosts {
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

    /// Returns the alignment and its number of matches. `T` must be wide enough for
    /// [`Self::magnitude`].
    fn align<T: RowValue>(&self, buffers: &mut GlobalBuffers, wave: &mut Wave<T>) -> (Alignment, u64) {
        buffers.symbols.set(self.query, self.target);
        let costs = self.costs::<T>();
        let (m, n) = (self.query.len(), self.target.len());
        if self.hint.score.is_some() {
            let mut band = self.range.band(m, n, self.scoring, self.hint);
            let by_end = self
                .limits
                .end
                .map(|end| self.range.band_to_end(m, n, self.scoring, self.hint, end.longest_end_gaps()));
            for other in self.limits.within.into_iter().chain(by_end) {
                band = band.intersect(other);
            }
            return self.align_within(band, &costs, buffers, wave);
        }
        // Without a score, a band for similar sequences is tried first. The score of the alignment
        // in it is at most the best score. Therefore the band that follows from this score contains
        // all best alignments. If it lies within the band that was swept, the result is canonical.
        let mut band = Band::guess(m, n);
        loop {
            let alignment = self.align_within(band, &costs, buffers, wave);
            let enough = self.range.band(m, n, self.scoring, Hint { score: Some(alignment.0.score), matches: None });
            if band.contains(enough) {
                return alignment;
            }
            band = band.wider(enough);
        }
    }

    /// Returns the best alignment within a band, chosen by the rule in [`crate::trace`]. It is the
    /// canonical alignment if the band contains all best alignments.
    fn align_within<T: RowValue>(
        &self,
        band: Band,
        costs: &PackedCosts<T>,
        buffers: &mut GlobalBuffers,
        wave: &mut Wave<T>,
    ) -> (Alignment, u64) {
        let GlobalBuffers { resources: Resources { budget_bytes, instructions }, symbols, directions, .. } = buffers;
        let (m, n) = (symbols.m, symbols.n);
        let corner = MatrixCell { i: m, j: n };
        let geometry = Geometry::new(band);
        wave.start(geometry, costs.affine);
        let unreached = ScoredCell { value: T::UNREACHABLE, cell: corner };
        let mut ends = costs.own_ends.then_some(BorderEnds { column: unreached, row: unreached });
        let sweep = BandSweep { symbols, costs, geometry, apex: corner, instructions: *instructions };
        let mut tracer = CheckpointedSweep { sweep, wave, directions, budget_bytes: *budget_bytes };
        let parts = tracer.sweep_to_apex(0, corner, ends.as_mut());

        let offset = T::from_wide(costs.step.to_wide() * i128::from(m + n));
        let value = tracer.wave.value(geometry, corner).map_or(T::UNREACHABLE, |value| value.minus(offset));
        let mut best = ScoredCell { value, cell: corner };
        if let Some(BorderEnds { column, row }) = ends {
            for end in [column, row] {
                best = if end.value > best.value { end } else { best };
            }
        }
        let mut path = Traceback::new(self.query, self.target, &self.scoring.substitution, best.cell);
        tracer.follow(&mut path, 0, parts);

        let packed = best.value.to_wide();
        let score = i64::try_from(packed.div_euclid(self.weight)).expect("scores and lengths are bounded");
        (Alignment::end_to_end(score, path.finish()), packed.rem_euclid(self.weight) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairs::oracle;
    use crate::score::{Ambiguity, EndGaps, Equality, Gaps};
    use crate::seq::Alphabet;

    #[test]
    fn every_integer_width_gives_the_alignment_of_the_oracle() {
        // A fixed recipe for two sequences that differ by substitutions, a deleted run and
        // overhanging ends.
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
            let expected = (Alignment::end_to_end(expected.score, expected.cigar), expected.matches);
            let pair = GlobalPair::new(&query, &target, &scoring, Hint::NONE);
            let buffers = &mut GlobalBuffers::new(1_000);
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
    fn magnitudes_select_the_integer_width() {
        let magnitude = |length: usize, scoring: &Scoring| {
            let codes = vec![1; length];
            GlobalPair::new(&codes, &codes, scoring, Hint::NONE).magnitude()
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
