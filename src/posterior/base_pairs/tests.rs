use super::*;
use crate::seq::Alphabet;

fn bases(letters: &str) -> Vec<Code> {
    letters.bytes().map(|letter| Alphabet::Dna.encode(letter).unwrap()).collect()
}

/// Returns all structures of the bases from `at` on as lists of pairs.
fn structures(folding: &Folding, at: usize, end: usize) -> Vec<Vec<(usize, usize)>> {
    if at >= end {
        return vec![Vec::new()];
    }
    let mut all = structures(folding, at + 1, end);
    for last in (at + MIN_SPAN..end).filter(|&last| folding.kind(at, last) > 0) {
        for inside in structures(folding, at + 1, last) {
            for after in structures(folding, last + 1, end) {
                all.push([vec![(at, last)], inside.clone(), after].concat());
            }
        }
    }
    all
}

/// Returns the weight of a structure, loop by loop.
fn weight(folding: &Folding, pairs: &[(usize, usize)]) -> f64 {
    let weights = folding.weights;
    let kind = |&(first, last): &(usize, usize)| folding.kind(first, last);
    let encloses = |outer: &(usize, usize), inner: &(usize, usize)| outer.0 < inner.0 && inner.1 < outer.1;
    let children = |outer: Option<&(usize, usize)>| -> Vec<(usize, usize)> {
        let is_inside = |pair: &&(usize, usize)| outer.is_none_or(|outer| encloses(outer, pair));
        let inside: Vec<(usize, usize)> = pairs.iter().filter(is_inside).copied().collect();
        let is_outermost = |pair: &&(usize, usize)| !inside.iter().any(|other| encloses(other, pair));
        inside.iter().filter(is_outermost).copied().collect()
    };
    let bases = |list: &[(usize, usize)]| list.iter().map(|pair| pair.1 + 1 - pair.0).sum::<usize>();
    let top = children(None);
    let ends: f64 = top.iter().map(|pair| weights.end[usize::from(kind(pair))]).product();
    let mut product = ends * folding.empty[folding.length - bases(&top)];
    for pair in pairs {
        let inside = children(Some(pair));
        product *= match &inside[..] {
            [] => weights.hairpin(kind(pair), pair.1 - pair.0 - 1),
            [inner] => weights.two_pairs(kind(pair), kind(inner), inner.0 - pair.0 - 1, pair.1 - inner.1 - 1),
            branches => {
                let ends: f64 = branches.iter().map(|pair| weights.branch[usize::from(kind(pair))]).product();
                let free = pair.1 - pair.0 - 1 - bases(branches);
                ends * weights.closing[usize::from(kind(pair))] * folding.empty[free]
            }
        };
    }
    product
}

#[test]
fn probabilities_equal_the_sum_over_all_structures() {
    let weights = StructureWeights::new();
    for seed in 0..12 {
        println!("seed {seed}");
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut codes: Vec<Code> = (0..rng.usize(5..17)).map(|_| [1, 2, 4, 8][rng.usize(..4)]).collect();
        if seed % 3 == 0 {
            // Two helices in a third.
            codes = bases("GGGCAAAGCCGAAACGCCC");
            codes[rng.usize(..19)] = 1;
        }
        let mut folding = Folding::new(&weights, &codes);
        folding.fill();
        let all = structures(&folding, 0, codes.len());
        let total: f64 = all.iter().map(|pairs| weight(&folding, pairs)).sum();
        assert!((folding.prefixes[codes.len()] / total - 1.0).abs() < 1e-9);
        assert!((folding.suffixes[0] / total - 1.0).abs() < 1e-9);
        let mut expected = vec![0.0; codes.len() * codes.len()];
        for pairs in &all {
            for &(first, last) in pairs {
                expected[first * codes.len() + last] += weight(&folding, pairs) / total;
                expected[last * codes.len() + first] += weight(&folding, pairs) / total;
            }
        }
        let mut found = vec![0.0; codes.len() * codes.len()];
        folding.pairs().iter().for_each(|&(a, b, p)| found[a as usize * codes.len() + b as usize] = f64::from(p));
        for (expected, found) in expected.iter().zip(&found) {
            let expected = if *found == 0.0 && *expected < 1.0001 * CUTOFF { 0.0 } else { *expected };
            assert!((expected - found).abs() < 1e-5, "{found} instead of {expected}");
        }
    }
}

#[test]
fn hairpin_has_its_helix() {
    let pairs = base_pairs(&bases("GGGGCAAAAGCCCC"));
    for first in 0..4 {
        let best = pairs.row(first).iter().max_by(|a, b| a.probability().total_cmp(&b.probability())).unwrap();
        assert!(best.column() == 13 - first && best.probability() > 0.9, "{best:?}");
    }
}

#[test]
fn short_long_and_ambiguous_sequences_have_no_pairs() {
    for codes in [Vec::new(), bases("GC"), bases("NNNNNNNNNNNN"), bases(&"GCAAAAGC".repeat(51))] {
        let pairs = base_pairs(&codes);
        assert_eq!((pairs.rows(), pairs.cells()), (codes.len(), 0));
    }
    assert!(base_pairs(&bases(&"GGGCAAAAGCCC".repeat(33))).cells() > 0);
}
