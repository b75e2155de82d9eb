//! Tests of `nw_slice_half`. A model of the kernel in integer arithmetic checks the bounds that the
//! host assumes for f16. The kernel itself is tested with scores at these bounds, with different
//! queries, and with two queries that have different targets.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pairwave::pairs::kernels::nw_slice_half::{group_words, table};
use pairwave::pairs::oracle::needleman_wunsch;
use pairwave::pairs::{PairHit, PairsBatch, PairsBlock, PairsChunk, ResultFilter};
use pairwave::score::{EndGaps, Gaps, OffsetScoring, Scoring, Substitution};
use pairwave::seq::{Alphabet, Code, SequenceId};
use proptest::prelude::*;
use support::check::*;
use support::*;

/// Greatest integer that f16 holds exactly.
const MAX: i64 = 2048;
/// Columns of a slice of test engines.
const SLICE: u32 = 12;

/// Model of `shaders/nw_slice_half.wgsl` for a single query. It checks every number that the kernel
/// stores as f16.
struct Model<'a> {
    scoring: &'a OffsetScoring,
    table: Vec<i32>,
    slice: usize,
    group_rows: usize,
    affine: bool,
    /// The greatest absolute value of all numbers.
    farthest: i64,
}

impl Model<'_> {
    fn for_slice(scoring: &OffsetScoring, slice: u32, affine: bool) -> Option<Model<'_>> {
        let group_rows = 4 * group_words(scoring, slice)? as usize;
        Some(Model { scoring, table: table(scoring), slice: slice as usize, group_rows, affine, farthest: 0 })
    }

    fn has_corner(&self) -> bool {
        self.scoring.own_ends() && self.scoring.border_value(1) != self.scoring.border_step()
    }

    fn border_value(&self, k: i64) -> i64 {
        if k > 0 { self.scoring.border_value(k as u32).into() } else { 0 }
    }

    fn border_at(&self, k: i64, pad: i64) -> i64 {
        if self.has_corner() && k <= 0 {
            return if k == 0 && pad == 0 { 0 } else { self.scoring.border_opening().into() };
        }
        self.border_value(k)
    }

    /// Returns a number after checking that f16 holds it.
    fn check_f16(&mut self, number: i64) -> i64 {
        self.farthest = self.farthest.max(number.abs());
        assert!(number.abs() <= MAX, "{number} is no half");
        number
    }

    /// Computes a maximum as the kernel does: by an addition that is clamped to 0 and 2048.
    fn later_max(&mut self, from: i64, other: i64) -> i64 {
        assert!(other - from <= MAX, "{other} is {} above {from}", other - from);
        self.check_f16(from + (other - from).max(0))
    }

    /// Returns the value of a pair in a task that has `more` columns and rows than the pair needs.
    #[allow(clippy::needless_range_loop)] // as the shader has it
    fn value(&mut self, query: &[Code], target: &[Code], more: (usize, usize)) -> i64 {
        let (m, n) = (query.len() as i64, target.len() as i64);
        let columns = (query.len() + more.0).div_ceil(self.slice).max(1) * self.slice;
        let rows = (target.len() + more.1).div_ceil(4).max(1) * 4;
        let (column_pad, row_pad) = (columns as i64 - m, rows as i64 - n);
        let padded = |codes: &[Code], pad: i64| [vec![0; pad as usize], codes.to_vec()].concat();
        let (query, target) = (padded(query, column_pad), padded(target, row_pad));
        let opening = i64::from(self.scoring.opening());
        let size = self.scoring.size();
        // Values and E of a slice's last column, relative to the row before their group.
        let mut left: Vec<[i64; 2]> = vec![[0; 2]; rows];
        let (mut last, mut best) = (0, i64::MIN);
        for s in 0..columns / self.slice {
            let column_begin = (s * self.slice) as i64 - column_pad;
            let mut base = self.border_at(column_begin, row_pad);
            let tops = (0..self.slice).map(|c| self.border_at(column_begin + c as i64 + 1, row_pad) - base);
            let mut v: Vec<i64> = tops.collect();
            v.iter().for_each(|&top| _ = self.check_f16(top));
            let gaps = if self.affine { &v[..] } else { &[] };
            let mut f: Vec<i64> = gaps.iter().map(|&top| self.check_f16(top - opening)).collect();
            for group in (0..rows).step_by(self.group_rows) {
                let before = v[self.slice - 1];
                let border_before = self.border_at(group as i64 - row_pad, column_pad);
                let mut corner = 0;
                for row in group..rows.min(group + self.group_rows) {
                    if s == 0 {
                        let near = self.border_at(row as i64 - row_pad + 1, column_pad) - border_before;
                        left[row] = [self.check_f16(near), self.check_f16(near - opening)];
                    }
                    let [mut near, mut e] = left[row];
                    let mut diagonal = std::mem::replace(&mut corner, near);
                    for c in 0..self.slice {
                        let position = target[row] as usize * size + query[s * self.slice + c] as usize;
                        let (up, step) = (v[c], i64::from(self.table[position]));
                        let stepped = self.check_f16(diagonal + step);
                        if self.affine {
                            near = self.later_max(stepped, f[c]).max(e);
                            let opened = self.check_f16(near - opening);
                            e = e.max(opened);
                            f[c] = f[c].max(opened);
                        } else {
                            near = self.later_max(stepped, up).max(near);
                        }
                        v[c] = near;
                        diagonal = up;
                    }
                    if self.has_corner() && row as i64 == row_pad - 1 {
                        for c in 0..self.slice {
                            if column_begin + c as i64 == -1 {
                                v[c] = self.check_f16(v[c] - i64::from(self.scoring.border_opening()));
                            }
                        }
                        near = v[self.slice - 1];
                    }
                    let left_e = if self.affine { self.check_f16(e - before) } else { 0 };
                    left[row] = [self.check_f16(near - before), left_e];
                }
                base += corner;
                v.iter_mut().for_each(|value| *value -= corner);
                f.iter_mut().for_each(|value| *value -= corner);
                v.iter().chain(&f).for_each(|&value| _ = self.check_f16(value));
            }
            last = base + v[self.slice - 1];
            for c in 0..self.slice {
                let j = column_begin + c as i64 + 1;
                if j >= 0 {
                    best = best.max(base + v[c] + self.border_value(m - j));
                }
            }
        }
        if !self.scoring.own_ends() {
            return last;
        }
        best = best.max(self.border_value(n) + self.border_value(m));
        let mut base = self.border_at(m, row_pad);
        for (row, &[value, _]) in left.iter().enumerate() {
            let i = row as i64 - row_pad + 1;
            if i >= 0 {
                best = best.max(base + value + self.border_value(n - i));
            }
            if (row + 1) % self.group_rows == 0 {
                base += value;
            }
        }
        best
    }
}

fn offset_of(scoring: &Scoring) -> OffsetScoring {
    OffsetScoring::new(scoring, 10_000, 20_000, false).expect("32 bits hold the scores")
}

/// A nucleotide scheme with these scores.
fn scheme(matching: i32, mismatching: i32, gaps: Gaps, end_gaps: EndGaps) -> Scoring {
    let base = Scoring::truong();
    let substitution = Substitution::from_fn(Alphabet::Dna, |a, b| {
        let is_match = base.substitution.is_match(a, b);
        (if is_match { matching } else { mismatching }, is_match)
    });
    Scoring { substitution, gaps, end_gaps, ..base }
}

/// Returns schemes with the greatest steps and openings for slices of this width. The flag is set
/// if the steps are at the limit.
fn limits(slice: u32) -> Vec<(Scoring, bool)> {
    let step = MAX as i32 / slice as i32;
    let mut all = Vec::new();
    for end_gaps in [EndGaps::Charged, EndGaps::Free, EndGaps::Priced(Gaps { first: 9, next: 3 })] {
        // A match and two gap symbols add up to a step.
        all.push((scheme(step - 20, -900, Gaps::linear(10), end_gaps), true));
        // If borders grow by half as much, they use part of the range.
        all.push((scheme(0, 0, Gaps::linear(step / 2), end_gaps), end_gaps == EndGaps::Charged));
        all.push((scheme(step - 1, step - 4, Gaps { first: 10, next: 0 }, end_gaps), false));
        // Openings of 500: four of them are 2000.
        all.push((scheme(30, -2000, Gaps { first: 510, next: 10 }, end_gaps), false));
        all.push((scheme(5, 5, Gaps { first: 500, next: 0 }, end_gaps), false));
    }
    let fits = |scoring: &Scoring| group_words(&offset_of(scoring), slice).is_some();
    // Keeps only the schemes that f16 holds with this kind of end gaps.
    all.retain(|(scoring, _)| fits(scoring));
    assert!(all.len() >= 12, "{} schemes at the limits", all.len());
    all
}

/// Returns sequences whose scores rise as fast as possible, fall, and alternate.
fn extremes(length: usize) -> Vec<Vec<Code>> {
    let of = |code: &dyn Fn(usize) -> Code| (0..length).map(code).collect::<Vec<Code>>();
    vec![
        of(&|_| 1),
        of(&|_| 2),
        of(&|at| if at % 2 == 0 { 1 } else { 2 }),
        of(&|at| if at < length / 2 { 1 } else { 4 }),
        of(&|at| if at < length / 2 { 4 } else { 1 }),
        of(&|at| if at / 30 % 2 == 0 { 1 } else { 8 }),
        // Ambiguity codes.
        of(&|at| (1 + at % 15) as Code),
    ]
}

#[test]
fn numbers_reach_the_limits_of_f16_without_exceeding_them() {
    for slice in [12, 28] {
        for (scoring, by_steps) in limits(slice) {
            let offset = offset_of(&scoring);
            let mut model = Model::for_slice(&offset, slice, !scoring.gaps.is_linear()).expect("within the limits");
            let sequences: Vec<Vec<Code>> = [1, 40, 151].into_iter().flat_map(extremes).collect();
            for query in &sequences {
                for target in &sequences {
                    let value = model.value(query, target, (0, 0));
                    let (score, _) = offset.decode(value as i32, query.len() as u32, target.len() as u32);
                    assert_eq!(score, needleman_wunsch::score_only(query, target, &scoring).0);
                }
            }
            let comes_close = !by_steps || model.farthest >= MAX * 9 / 10;
            assert!(comes_close, "{} in slices of {slice}, {:?}", model.farthest, scoring.gaps);
        }
    }
}

#[test]
fn scores_beyond_f16_are_refused() {
    let words = |scoring: &Scoring, slice| group_words(&offset_of(scoring), slice);
    // Steps of 25: 81 rows or columns are 2025.
    assert_eq!(words(&Scoring::truong(), 28), Some(16));
    assert_eq!((words(&Scoring::truong(), 80), words(&Scoring::truong(), 84)), (Some(16), None));
    // Steps of 100: 20 rows.
    let dear = scheme(80, -4, Gaps::linear(10), EndGaps::Charged);
    assert_eq!((words(&dear, 20), words(&dear, 24)), (Some(4), None));
    let step = |step| scheme(step - 20, -4, Gaps::linear(10), EndGaps::Charged);
    assert_eq!((words(&step(512), 4), words(&step(513), 4)), (Some(1), None));
    let opening = |opening| scheme(1, -1, Gaps { first: opening, next: 0 }, EndGaps::Free);
    assert_eq!((words(&opening(512), 12), words(&opening(513), 12)), (Some(16), None));
    // Values that carry matches need i32.
    let with_matches = OffsetScoring::new(&Scoring::truong(), 100, 200, true).expect("they fit");
    assert_eq!(group_words(&with_matches, 12), None);
}

fn any_scoring() -> impl Strategy<Value = Scoring> {
    let gaps = (0..400i32, 0..60i32).prop_map(|(opening, next)| Gaps { first: opening + next, next });
    let linear = (0..90i32).prop_map(Gaps::linear);
    let gaps = prop_oneof![gaps, linear];
    let ends = (0..3usize, 0..=100i32, 0..=100i32);
    (-60..150i32, 0..2000i32, gaps, ends).prop_map(|(matching, less, gaps, (kind, first, next))| {
        let next = gaps.next * next / 100;
        let first = (gaps.first * first / 100).max(next);
        let end_gaps = [EndGaps::Charged, EndGaps::Free, EndGaps::Priced(Gaps { first, next })][kind];
        scheme(matching, matching - less, gaps, end_gaps)
    })
}

fn any_sequence() -> impl Strategy<Value = Vec<Code>> {
    let runs = proptest::collection::vec((1..16u8, 1..40usize), 0..5);
    let runs = runs.prop_map(|runs| runs.into_iter().flat_map(|(code, count)| vec![code; count]).collect());
    prop_oneof![runs, proptest::collection::vec(1..16u8, 0..90), proptest::collection::vec(1..3u8, 0..90)]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3000) })]

    /// If the host accepts a scheme, every number fits in f16 and the value equals the oracle's.
    #[test]
    fn accepted_schemes_are_exact(
        scoring in any_scoring(),
        query in any_sequence(),
        target in any_sequence(),
        slice in prop_oneof![Just(4u32), Just(12), Just(20)],
        more in (0..40usize, 0..90usize),
    ) {
        let offset = offset_of(&scoring);
        if let Some(mut model) = Model::for_slice(&offset, slice, !scoring.gaps.is_linear()) {
            let value = model.value(&query, &target, more);
            let (score, _) = offset.decode(value as i32, query.len() as u32, target.len() as u32);
            prop_assert_eq!(score, needleman_wunsch::score_only(&query, &target, &scoring).0);
        }
    }
}

/// Returns an engine with the kernel, and the number of f16 shaders that it compiled.
fn halves() -> (pairwave::pairs::gpu::PairsGpu, Arc<AtomicU64>) {
    let compiled = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&compiled);
    let engine = kernel_checked("nw_slice_half").with_rewritten_shaders(Box::new(move |text| {
        counter.fetch_add(text.contains("GROUP_WORDS").into(), Ordering::Relaxed);
        text
    }));
    (engine, compiled)
}

#[test]
fn scores_around_all_edges() {
    let (mut engine, compiled) = halves();
    let mut rng = rng(0x4a1f);
    for scoring in scorings() {
        let store = mixed_store(&mut rng, scoring.alphabet, EDGES);
        let hits = compute(&mut engine, &batches(&job(&store, scoring.clone(), ResultFilter::Scores), u64::MAX));
        check_hits(&store, &scoring, &hits, false);
    }
    assert!(compiled.load(Ordering::Relaxed) >= 12, "{compiled:?} programs");
}

#[test]
fn scores_at_the_limits() {
    let (mut engine, compiled) = halves();
    for (scoring, _) in limits(SLICE) {
        let store = store(Alphabet::Dna, &[extremes(70), extremes(33)].concat());
        let hits = compute(&mut engine, &batches(&job(&store, scoring.clone(), ResultFilter::Scores), u64::MAX));
        check_hits(&store, &scoring, &hits, false);
    }
    assert!(compiled.load(Ordering::Relaxed) >= 5, "{compiled:?} programs");
}

/// Blocks of one batch with different lengths and targets. The targets are apart, adjacent, or one
/// within the other, a block is alone, and a block has no targets.
#[test]
fn queries_that_differ_in_length_and_targets() {
    let (mut engine, _) = halves();
    let mut rng = rng(0x2b1);
    let lengths = [80, 79, 71, 52, 50, 49, 48, 20, 3, 1, 0];
    for scoring in scorings() {
        let queries = mixed_store(&mut rng, scoring.alphabet, &lengths);
        let target_lengths: Vec<usize> = (0..45).map(|index| 90 - 2 * index).collect();
        let targets = mixed_store(&mut rng, scoring.alphabet, &target_lengths);
        let chunk = Arc::new(PairsChunk {
            queries: Arc::clone(&queries),
            targets: Arc::clone(&targets),
            order: (0..45).collect(),
            scoring: Arc::new(scoring.clone()),
            filter: ResultFilter::Scores,
            earlier_is_query: false,
        });
        let ranges = [0..45, 3..40, 0..17, 17..34, 0..2, 44..45, 5..5, 1..45, 1..45, 0..44, 0..45];
        let blocks = ranges.into_iter().enumerate().map(|(query, targets)| PairsBlock {
            query: query as SequenceId,
            cells: targets.clone().map(|position| (lengths[query] * target_lengths[position as usize]) as u64).sum(),
            targets,
        });
        let batch = Arc::new(PairsBatch { chunk, blocks: blocks.collect() });
        let hits = compute(&mut engine, &[Arc::clone(&batch)]);
        assert_eq!(hits.len() as u64, batch.pairs());
        for hit in &hits {
            let right = needleman_wunsch::score_only(queries.codes(hit.query), targets.codes(hit.target), &scoring).0;
            assert_eq!(hit.score, right, "{hit:?}, {:?} {:?}", scoring.gaps, scoring.end_gaps);
        }
    }
}

/// Pairs too long for one dispatch, with an odd number of queries. Each dispatch continues from the
/// previous one.
#[test]
fn long_pairs_equal_the_cpu() {
    let mut rng = rng(0x1047);
    for (gaps, end_gaps) in
        [(Gaps::linear(10), EndGaps::Charged), (Gaps::from_blast(20, 2), EndGaps::Priced(Gaps::from_blast(2, 1)))]
    {
        let scoring = Scoring { gaps, end_gaps, ..Scoring::truong() };
        let ancestor = random_codes(&mut rng, Alphabet::Dna, 4600);
        let relative = mutated(&mut rng, Alphabet::Dna, &ancestor, 3);
        let other = random_codes(&mut rng, Alphabet::Dna, 4555);
        let sequences = [ancestor, relative, other];
        let store = store(Alphabet::Dna, if end_gaps == EndGaps::Charged { &sequences } else { &sequences[..2] });
        let batches = batches(&job(&store, scoring, ResultFilter::Scores), u64::MAX);
        assert!(batches.iter().any(|batch| batch.cells() > pairwave::pairs::plan::LONG_PAIR_CELLS), "none is long");
        let mut narrow = kernel_checked("nw_slice_half").with_scratch_budget(3 << 20);
        assert_eq!(compute(&mut cpu(), &batches), compute(&mut narrow, &batches));
    }
}

/// `nw_slice` computes the batches that need matches or have scores that exceed f16.
#[test]
fn work_beyond_f16_goes_to_nw_slice() {
    let (mut engine, compiled) = halves();
    let store = mixed_store(&mut rng(0xbe), Alphabet::Dna, &[30, 41, 52]);
    let beyond = scheme(400, -4, Gaps::linear(10), EndGaps::Charged);
    for (scoring, filter) in [(Scoring::truong(), ResultFilter::Alignments), (beyond, ResultFilter::Scores)] {
        let with_matches = matches!(filter, ResultFilter::Alignments);
        let hits: Vec<PairHit> = compute(&mut engine, &batches(&job(&store, scoring.clone(), filter), u64::MAX));
        check_hits(&store, &scoring, &hits, with_matches);
    }
    assert_eq!(compiled.load(Ordering::Relaxed), 0);
}
