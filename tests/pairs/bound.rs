//! The identity filter never drops a pair that has the identity. `src/score/bound.rs` is compared
//! with the oracle's alignment, with column counts of any size, and with the 32-bit arithmetic of
//! the kernels. The filter is also effective: it drops nearly all unrelated pairs.

use pairwave::pairs::oracle::needleman_wunsch;
use pairwave::score::bound::DeviceFilter;
use pairwave::score::{
    AlignmentCounts, Ambiguity, EndGaps, Gaps, IdentityDefinition, IdentityFilter, MAX_SCORE, OffsetScoring, Scoring,
    Substitution, SubstitutionMatrix,
};
use pairwave::seq::{Alphabet, Code};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::TestCaseResult;

fn definitions() -> [IdentityDefinition; 5] {
    [0, 1, 2, 3, 4].map(|number| IdentityDefinition::from_number(number).expect("0 to 4 are definitions"))
}

/// Mirrors the function `reaches` of `shaders/nw_slice.wgsl`, statement by statement, with the same
/// number formats. With `fused`, a product and the sum that contains it are rounded together, as
/// devices may do.
fn reaches(filter: &DeviceFilter, value: i32, match_bits: u32, m: u32, n: u32, fused: bool) -> bool {
    let (shorter, longer) = (m.min(n), m.max(n));
    let offset_score = value >> match_bits;
    if filter.mode == 5 {
        let lengths = [shorter as f32, longer as f32];
        let dot = |form: [f32; 2]| {
            let product = form[1] * lengths[1];
            if fused { form[0].mul_add(lengths[0], product) } else { form[0] * lengths[0] + product }
        };
        let loosened = |form: [f32; 4]| dot([form[0], form[1]]) - 1e-6 * dot([form[0].abs(), form[1].abs()]);
        let bound = filter.forms.map(loosened).into_iter().fold(f32::INFINITY, f32::min);
        return offset_score as f32 >= bound - 1.0;
    }
    let matches = value & ((1 << match_bits) - 1);
    let mut rest = offset_score.wrapping_sub(filter.match_score.wrapping_mul(matches));
    rest = rest.wrapping_add(if m != n { filter.unequal } else { 0 });
    let mut mismatches_low = 0;
    if filter.mismatch_score > 0 && rest > 0 {
        mismatches_low = rest.wrapping_add(filter.mismatch_score).wrapping_sub(1) / filter.mismatch_score;
    }
    let mut lacking = filter.match_low.wrapping_mul(matches).wrapping_sub(offset_score);
    if filter.mode == 2 {
        let unmatched = m as i32 + n as i32 - 2 * matches;
        lacking = lacking.wrapping_add(filter.free_step.wrapping_mul(unmatched).wrapping_sub(2 * filter.unequal));
    }
    let mut others_low = 0;
    if filter.max_unit_cost > 0 && lacking > 0 {
        others_low = lacking.wrapping_add(filter.max_unit_cost).wrapping_sub(1) / filter.max_unit_cost;
    }
    let mut denominator = shorter as i32;
    if filter.mode == 1 {
        let mut mismatches_high = shorter as i32 - matches;
        if filter.mismatch_low > 0 {
            mismatches_high = mismatches_high.min(rest.max(0) / filter.mismatch_low);
        }
        denominator = m as i32 + n as i32 - matches - mismatches_high;
    } else if filter.mode == 2 {
        denominator = matches + mismatches_low.max(others_low);
    } else if filter.mode == 3 {
        let differences = (mismatches_low + (m != n) as i32).max(others_low).min(longer as i32);
        return differences as f32 <= filter.threshold * longer as f32;
    }
    matches as f32 >= filter.threshold * denominator as f32
}

/// Data of a pair as the filter receives it.
#[derive(Debug, Clone, Copy)]
struct Seen {
    score: i64,
    matches: u64,
    m: u32,
    n: u32,
}

/// Returns whether a kernel keeps the pair, with or without matches. Returns `None` if 32 bits do
/// not hold the pair's value.
fn device_keeps(filter: &IdentityFilter, scoring: &Scoring, seen: Seen, with_matches: bool) -> Option<bool> {
    let Seen { score, matches, m, n } = seen;
    let (shorter, sum) = (m.min(n) as u64, m as u64 + n as u64);
    let match_bits = OffsetScoring::new(scoring, shorter, sum, with_matches)?.match_bits();
    let offset_score = score + scoring.gaps.next as i64 * sum as i64;
    let value = i32::try_from((offset_score << match_bits) + if with_matches { matches as i64 } else { 0 }).ok()?;
    let form = filter.device_form(with_matches);
    let [plain, fused] = [false, true].map(|fused| reaches(&form, value, match_bits, m, n, fused));
    Some(plain && fused)
}

/// Fails if the filter, or a kernel's form of it, drops the pair.
fn kept_everywhere(filter: &IdentityFilter, scoring: &Scoring, seen: Seen) -> TestCaseResult {
    let Seen { score, matches, m, n } = seen;
    for (m, n) in [(m, n), (n, m)] {
        for known in [Some(matches), None] {
            prop_assert!(filter.may_reach(score, known, m, n), "{filter:?} drops {seen:?}, matches {known:?}");
            let on_device = device_keeps(filter, scoring, Seen { m, n, ..seen }, known.is_some());
            prop_assert!(on_device != Some(false), "a kernel with {filter:?} drops {seen:?}, matches {known:?}");
        }
    }
    Ok(())
}

/// Fails if a pair with these columns is dropped at its own identity, which is the greatest
/// threshold that it reaches, or at any other threshold that it reaches. `stricter` is added to the
/// filter's threshold. It is 0, except in the test of this function.
fn never_lost(
    counts: &AlignmentCounts,
    scoring: &Scoring,
    seen: Seen,
    threshold: f64,
    stricter: f64,
) -> TestCaseResult {
    for definition in definitions() {
        let identity = definition.identity(counts, seen.m, seen.n);
        for asked in [identity, identity * 0.999, threshold] {
            if IdentityFilter::new(definition, asked, scoring).passes(identity) {
                kept_everywhere(&IdentityFilter::new(definition, asked + stricter, scoring), scoring, seen)?;
            }
        }
    }
    Ok(())
}

/// Fails if a kernel drops the pair at the greatest threshold that the host accepts.
fn kept_where_the_host_keeps(scoring: &Scoring, seen: Seen) -> TestCaseResult {
    for definition in definitions() {
        for known in [Some(seen.matches), None] {
            let keeps = |threshold| {
                let filter = IdentityFilter::new(definition, threshold, scoring);
                filter.may_reach(seen.score, known, seen.m, seen.n)
            };
            let (mut kept, mut dropped) = (0.0, 1.0);
            if !keeps(kept) {
                continue;
            }
            while !keeps(dropped) && dropped - kept > 1e-12 {
                let middle = (kept + dropped) / 2.0;
                *(if keeps(middle) { &mut kept } else { &mut dropped }) = middle;
            }
            let threshold = if keeps(dropped) { dropped } else { kept };
            let filter = IdentityFilter::new(definition, threshold, scoring);
            let on_device = device_keeps(&filter, scoring, seen, known.is_some());
            prop_assert!(on_device != Some(false), "a kernel with {filter:?} drops {seen:?}, matches {known:?}");
        }
    }
    Ok(())
}

fn code(alphabet: Alphabet) -> BoxedStrategy<Code> {
    let residues: Vec<Code> = (1..alphabet.size() as Code).filter(|&code| alphabet.is_unambiguous(code)).collect();
    prop_oneof![12 => select(residues), 1 => 1..alphabet.size() as Code].boxed()
}

/// Generates two sequences, which are related in three of four cases.
fn pair(alphabet: Alphabet) -> impl Strategy<Value = (Vec<Code>, Vec<Code>)> {
    let sequence = || prop::collection::vec(code(alphabet), 0..40);
    let edits = prop::collection::vec((any::<Index>(), 0..3, code(alphabet)), 0..12);
    (sequence(), prop_oneof![1 => sequence().prop_map(Some), 3 => Just(None)], edits).prop_map(
        |(query, unrelated, edits)| {
            let mut target = unrelated.unwrap_or_else(|| query.clone());
            for (position, kind, code) in edits {
                let position = position.index(target.len() + 1);
                match kind {
                    0 => target.insert(position, code),
                    1 if position < target.len() => target[position] = code,
                    _ if position < target.len() => drop(target.remove(position)),
                    _ => {}
                }
            }
            (query, target)
        },
    )
}

/// Generates costs of end gaps relative to inner gaps: equal, free, or thousandths of each of the
/// two costs.
fn end_gaps() -> impl Strategy<Value = (EndGaps, u32, u32)> {
    let priced = EndGaps::Priced(Gaps::linear(0));
    (select(vec![EndGaps::Charged, EndGaps::Free, priced, priced]), part_of(1000), part_of(1000))
}

/// Returns the generated costs of end gaps for inner gaps that cost `gaps`.
fn end_gaps_of((end_gaps, first, next): (EndGaps, u32, u32), gaps: Gaps) -> EndGaps {
    let part = |most: i32, part: u32| (i64::from(most) * i64::from(part) / 1000) as i32;
    let next = part(gaps.next, next);
    match end_gaps {
        EndGaps::Priced(_) => EndGaps::Priced(Gaps { first: next + part(gaps.first - next, first), next }),
        other => other,
    }
}

/// Generates common and unusual schemes: free gaps, a mismatch that costs exactly two gaps,
/// mismatches with positive scores, matches with different scores, and random tables.
fn scoring() -> impl Strategy<Value = Scoring> {
    let gaps = prop_oneof![
        (0..13).prop_map(Gaps::linear),
        (0..13, 0..13).prop_map(|(open, extend)| Gaps::from_blast(open, extend)),
    ];
    let table = prop_oneof![
        (-3..10, 0..13, select(vec![Ambiguity::Overlap, Ambiguity::Mismatch, Ambiguity::Zero, Ambiguity::Mean]))
            .prop_map(|(high, less, ambiguity)| {
                let (linear, charged) = (Gaps::linear(1), EndGaps::Charged);
                Scoring::nucleotide(high, high - less, ambiguity, linear, charged).expect("a valid scheme")
            }),
        select(vec!["BLOSUM62", "PAM30", "BLOSUM45", "EDNAFULL"]).prop_map(|name| {
            let alphabet = if name == "EDNAFULL" { Alphabet::Dna } else { Alphabet::Protein };
            let matrix = SubstitutionMatrix::built_in(name).expect("it is built in");
            Scoring::matrix(alphabet, &matrix, Gaps::linear(1), EndGaps::Charged).expect("a valid scheme")
        }),
        (prop::collection::vec((-9..10, any::<bool>()), 256), any::<bool>()).prop_map(|(entries, equal_matches)| {
            let substitution = Substitution::from_fn(Alphabet::Dna, |a, b| {
                let (score, is_match) = entries[a.min(b) as usize * 16 + a.max(b) as usize];
                (if is_match && equal_matches { 7 } else { score }, is_match)
            });
            Scoring { substitution, ..Scoring::truong() }
        }),
    ];
    (table, gaps, end_gaps(), any::<bool>()).prop_map(|(scoring, gaps, end_gaps, mismatch_is_two_gaps)| {
        let mismatch = scoring.substitution.min_score();
        let gaps = if mismatch_is_two_gaps && mismatch < 0 { Gaps::linear(-mismatch / 2) } else { gaps };
        Scoring { gaps, end_gaps: end_gaps_of(end_gaps, gaps), ..scoring }
    })
}

fn related_case() -> impl Strategy<Value = (Scoring, (Vec<Code>, Vec<Code>), f64)> {
    scoring().prop_flat_map(|scoring| {
        let alphabet = scoring.alphabet;
        (Just(scoring), pair(alphabet), 0.0..=1.0)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1500) })]

    #[test]
    fn no_pair_that_has_the_identity_is_lost((scoring, (query, target), threshold) in related_case()) {
        let best = needleman_wunsch::align(&query, &target, &scoring);
        let (m, n) = (query.len() as u32, target.len() as u32);
        let seen = Seen { score: best.score, matches: best.matches, m, n };
        never_lost(&best.cigar.counts(), &scoring, seen, threshold, 0.0)?;
    }
}

/// Generates a number from 0 to `most`, often 0 or `most`.
fn part_of(most: u32) -> BoxedStrategy<u32> {
    prop_oneof![Just(0), Just(most), 0..=most, 0..=most.min(5)].boxed()
}

/// Generates a number from 0 to `most`, multiplied by 1, 10 or 1000.
fn up_to(most: u32) -> impl Strategy<Value = u32> {
    (0..=most, select(vec![1, 10, 1000])).prop_map(|(number, factor)| number * factor)
}

/// Generates a scheme with the given least and greatest scores of a match and of a mismatch,
/// multiplied by the greatest possible factor.
fn extreme_scoring() -> impl Strategy<Value = Scoring> {
    let number = || (-30i32..=30, select(vec![1, 97, MAX_SCORE / 30])).prop_map(|(number, factor)| number * factor);
    let cost = || prop_oneof![Just(0), (0i32..=30, select(vec![1, 83, MAX_SCORE / 60])).prop_map(|(a, b)| a * b)];
    let tables = (number(), number(), number(), number(), any::<bool>(), any::<bool>());
    (tables, cost(), cost(), end_gaps()).prop_map(|((a, b, c, d, one_match, one_mismatch), open, extend, end_gaps)| {
        let substitution = Substitution::from_fn(Alphabet::Dna, |x, y| match (x == y, x.min(y) == 1) {
            (true, first) => (if first || one_match { a.min(b) } else { a.max(b) }, true),
            (false, first) => (if first || one_mismatch { c.min(d) } else { c.max(d) }, false),
        });
        let gaps = Gaps::from_blast(open, extend);
        Scoring { substitution, gaps, end_gaps: end_gaps_of(end_gaps, gaps), ..Scoring::truong() }
    })
}

/// Generates column counts of an alignment of any size, with a score that such columns can have.
fn counted_case() -> impl Strategy<Value = (Scoring, AlignmentCounts, Seen)> {
    let columns = (up_to(1000), up_to(1000), up_to(300), up_to(300), any::<bool>());
    (extreme_scoring(), columns)
        .prop_flat_map(|(scoring, (matches, mismatches, insertions, deletions, none_on_one_side))| {
            let deletions = if none_on_one_side { 0 } else { deletions };
            let columns = (Just(matches), Just(mismatches), Just(insertions), Just(deletions));
            let ends = prop_oneof![2 => Just(0), 1 => part_of(insertions + deletions)];
            (Just(scoring), columns, ends, part_of(1000), 1..3u32, part_of(1000), part_of(1000))
        })
        .prop_map(|(scoring, columns, end_gap_columns, openings_part, end_gaps, match_part, mismatch_part)| {
            let (matches, mismatches, insertions, deletions) = columns;
            let inner_gap_columns = insertions + deletions - end_gap_columns;
            let kinds = (insertions > 0) as u32 + (deletions > 0) as u32;
            let mut end_openings = end_gap_columns.min(end_gaps);
            let mut openings = inner_gap_columns.min(1).max(inner_gap_columns * openings_part / 1000);
            // Gaps in both sequences are at least two separate gaps.
            let missing = kinds.saturating_sub(openings + end_openings);
            *(if inner_gap_columns > 0 { &mut openings } else { &mut end_openings }) += missing;
            // A sum of scores between `count` times the least and `count` times the greatest.
            let between = |is_match, count: u32, part: u32| {
                let (low, high) = scoring.substitution.range(is_match).expect("the table has both");
                let spread = (high - low) as i128 * count as i128 * part as i128 / 1000;
                (low as i128 * count as i128 + spread) as i64
            };
            let mut score = between(true, matches, match_part) + between(false, mismatches, mismatch_part);
            for (costs, columns, openings) in
                [(scoring.gaps, inner_gap_columns, openings), (scoring.end_costs(), end_gap_columns, end_openings)]
            {
                score -= costs.next as i64 * columns as i64 + costs.opening() as i64 * openings as i64;
            }
            let counts = AlignmentCounts {
                matches: matches as u64,
                mismatches: mismatches as u64,
                gap_columns: (insertions + deletions) as u64,
                gap_openings: (openings + end_openings) as u64,
                end_gap_columns: end_gap_columns as u64,
            };
            let paired = matches + mismatches;
            let seen = Seen { score, matches: counts.matches, m: paired + insertions, n: paired + deletions };
            (scoring, counts, seen)
        })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(5000) })]

    /// The proof only uses columns and their scores. It therefore also holds for columns that no
    /// alignment has, and for more columns than an oracle could align.
    #[test]
    fn no_columns_of_the_identity_are_lost((scoring, counts, seen) in counted_case(), threshold in 0.0..=1.0) {
        never_lost(&counts, &scoring, seen, threshold, 0.0)?;
    }

    /// Kernels keep every pair at the greatest threshold that the host accepts, for any score.
    #[test]
    fn kernels_keep_what_the_host_keeps((scoring, _, seen) in counted_case(), less in part_of(1000)) {
        let seen = Seen { matches: (seen.matches as u32 - seen.matches as u32 * less / 1000) as u64, ..seen };
        kept_where_the_host_keeps(&scoring, seen)?;
    }
}

/// With very expensive gaps, the rounding allowance of the host once exceeded the allowance of
/// kernels.
#[test]
fn the_host_allows_for_no_more_rounding_than_kernels() {
    let gaps = Gaps::from_blast(466_648, 4);
    let scoring = Scoring::nucleotide(0, -1261, Ambiguity::Overlap, gaps, EndGaps::Charged).expect("a valid scheme");
    for score in -5_405_600..-5_405_500 {
        let seen = Seen { score, matches: 825_660, m: 838_330, n: 838_330 };
        kept_where_the_host_keeps(&scoring, seen).expect("kept");
    }
}

#[test]
fn empty_sequences_are_kept_where_they_pass() {
    let a = Alphabet::Dna.encode(b'A').expect("a base");
    for scoring in support::scorings() {
        for (query, target) in [(vec![], vec![]), (vec![], vec![a; 9]), (vec![a; 9], vec![])] {
            let best = needleman_wunsch::align(&query, &target, &scoring);
            let (m, n) = (query.len() as u32, target.len() as u32);
            let seen = Seen { score: best.score, matches: best.matches, m, n };
            never_lost(&best.cigar.counts(), &scoring, seen, 0.0, 0.0).expect("kept");
        }
    }
}

/// A pair exactly on the bound: single symbols and single gaps alternate, and gaps cost as much as
/// matches score. The bound is then a small difference of large products, so the allowance for
/// rounding errors must depend on the products.
#[test]
fn bounds_that_cancel_are_not_sharper_than_their_rounding() {
    for cost in [1, 7, 999_983, MAX_SCORE] {
        for matches in [1u32, 10, 1000, 99_991] {
            let scoring =
                Scoring::nucleotide(cost, -cost, Ambiguity::Overlap, Gaps::from_blast(cost, 0), EndGaps::Charged)
                    .expect("a valid scheme");
            let counts = AlignmentCounts {
                matches: matches as u64,
                gap_columns: matches as u64,
                gap_openings: matches as u64,
                ..AlignmentCounts::default()
            };
            let seen = Seen { score: 0, matches: counts.matches, m: matches, n: 2 * matches };
            never_lost(&counts, &scoring, seen, 0.0, 0.0).expect("kept");
        }
    }
}

#[test]
#[should_panic(expected = "drops")]
fn the_harness_sees_a_lost_pair() {
    let codes: Vec<Code> = (0..40).map(|index| 1 << (index % 4)).collect();
    let scoring = Scoring::truong();
    let best = needleman_wunsch::align(&codes, &codes[1..], &scoring);
    let seen = Seen { score: best.score, matches: best.matches, m: 40, n: 39 };
    if let Err(error) = never_lost(&best.cigar.counts(), &scoring, seen, 0.5, 0.03) {
        panic!("{error}");
    }
}

/// Returns the fraction of unrelated DNA pairs that the filter drops, on the host and in a kernel.
fn dropped(scoring: &Scoring, definition: IdentityDefinition, threshold: f64, with_matches: bool) -> [f64; 2] {
    let mut rng = support::rng(0xd20b);
    let filter = IdentityFilter::new(definition, threshold, scoring);
    let (mut host, mut device) = (0, 0);
    const PAIRS: u32 = 60;
    for _ in 0..PAIRS {
        let [query, target] = [0, 1].map(|_| {
            let length = 90 + rng.next_u32() as usize % 20;
            support::random_codes(&mut rng, scoring.alphabet, length)
        });
        let (score, matches) = needleman_wunsch::score_only(&query, &target, scoring);
        let seen = Seen { score, matches, m: query.len() as u32, n: target.len() as u32 };
        host += !filter.may_reach(score, with_matches.then_some(matches), seen.m, seen.n) as u32;
        device += !device_keeps(&filter, scoring, seen, with_matches).expect("32 bits suffice") as u32;
    }
    [host, device].map(|pairs| pairs as f64 / PAIRS as f64)
}

#[test]
fn nearly_all_unrelated_pairs_are_dropped() {
    let linear = Scoring::truong();
    let affine = Scoring { gaps: Gaps::from_blast(10, 1), ..Scoring::truong() };
    let free = Scoring { end_gaps: EndGaps::Free, ..Scoring::truong() };
    let ends = EndGaps::Priced(Gaps::from_blast(2, 1));
    let priced = Scoring::nucleotide(2, -4, Ambiguity::Zero, Gaps::from_blast(20, 2), ends).expect("a valid scheme");
    for definition in definitions() {
        for scoring in [&linear, &affine, &free, &priced] {
            let [host, device] = dropped(scoring, definition, 0.97, true);
            // With cheap end gaps, nearly every pair has this identity by definition 3, because end
            // gaps count as at most two differences.
            let decides = definition != IdentityDefinition::Mbl || !scoring.has_own_ends();
            let scheme = format!("{definition:?}, {:?}, {:?}", scoring.gaps, scoring.end_gaps);
            // With cheap end gaps, the best alignment of two sequences may be a few symbols that
            // match by chance.
            let most = if scoring.has_own_ends() { 0.95 } else { 0.98 };
            assert!(!decides || host.min(device) >= most, "{scheme}: {host} by the host, {device} by a kernel");
        }
        // Without matches, two long end gaps could explain every score if end gaps do not count as
        // differences, or count as two.
        let [host, device] = dropped(&linear, definition, 0.97, false);
        let decides = !matches!(definition, IdentityDefinition::InnerColumns | IdentityDefinition::Mbl);
        assert!(!decides || host.min(device) >= 0.98, "{definition:?} by the score: {host}, {device}");
    }
}
