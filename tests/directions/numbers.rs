//! Values around the greatest that leave space for tags, and around the greatest possible ones.

use pairwave::score::Substitution;
use pairwave::score::offset::fits;

use super::*;

/// Returns the scheme with all numbers multiplied by `factor`.
fn scaled(base: &Scoring, factor: i32) -> Scoring {
    let substitution = Substitution::from_fn(base.alphabet, |a, b| {
        (base.substitution.score(a, b) * factor, base.substitution.is_match(a, b))
    });
    let gaps = Gaps { first: base.gaps.first * factor, next: base.gaps.next * factor };
    Scoring { substitution, gaps, ..base.clone() }
}

/// Returns the greatest factor that lets values of these lengths fit in this many bits.
fn greatest_factor(base: &Scoring, (shorter, sum): (u64, u64), bits: u32) -> i32 {
    let (mut fitting, mut too_large) = (1, 1 << 22);
    assert!(fits(&scaled(base, fitting), shorter, sum, true, bits));
    assert!(!fits(&scaled(base, too_large), shorter, sum, true, bits));
    while too_large - fitting > 1 {
        let middle = (fitting + too_large) / 2;
        if fits(&scaled(base, middle), shorter, sum, true, bits) { fitting = middle } else { too_large = middle }
    }
    fitting
}

/// Tests the greatest scores with tags, the least without tags, and the greatest that fit at all.
fn large_values_are_traced_or_refused(stem: &str) {
    let mut rng = rng(0x1a26e);
    let lengths = [40, 97, 100, 3, 101, 64, 12, 77, 101, 100];
    let mut turned = [0, 0];
    let mut engine = kernel_checked(stem);
    let dna = three_scorings(&Scoring::truong(), turn_of(stem));
    let proteins = three_scorings(&Scoring::protein(), turn_of(stem) + 1);
    for base in [dna, proteins].concat() {
        let extent = (101, 202);
        let tag_bits = if base.gaps.is_linear() { 2 } else { 4 };
        let tagged = greatest_factor(&base, extent, 31 - tag_bits);
        let greatest = greatest_factor(&base, extent, 31);
        assert!(tagged > 100 && greatest > tagged + 1, "{tagged}, {greatest}");
        for (factor, has_tags) in [(tagged, true), (tagged + 1, false), (greatest, false)] {
            let scoring = scaled(&base, factor);
            let store = mixed_store(&mut rng, scoring.alphabet, &lengths);
            let batch = one_batch(&store, &scoring);
            assert_eq!((batch.extent().shorter as u64, batch.extent().sum), extent);
            let (variant, _) = variant_and_tasks(stem, &SMALL_SHAPE, &batch, (1, u64::MAX), true);
            assert_eq!((variant.tags, variant.tag_bits() > 0), (has_tags, has_tags));
            let actual = compute_traced(&mut engine, &[batch]);
            check_traced(&store, &scoring, &actual);
            actual.iter().for_each(|(hit, _)| turned[(hit.query > hit.target) as usize] += 1);
        }
    }
    assert!(turned.iter().all(|&count| count > 0), "pairs whose kernel query is theirs, and not: {turned:?}");
}

on_every_kernel! { large_values_are_traced_or_refused }
