use super::*;
use crate::score::{Ambiguity, EndGaps, Gaps, NamedScheme};
use proptest::prelude::*;

fn protein(matrix: &str, open: i32, extend: i32) -> Scoring {
    let matrix = SubstitutionMatrix::built_in(matrix).unwrap();
    Scoring::matrix(Alphabet::Protein, &matrix, Gaps::from_blast(open, extend), EndGaps::Charged).unwrap()
}

fn nucleotide(match_score: i32, mismatch: i32, gaps: Gaps) -> Scoring {
    Scoring::nucleotide(match_score, mismatch, Ambiguity::Mismatch, gaps, EndGaps::Charged).unwrap()
}

/// Compares the rows of a table with computed numbers. `scoring` converts the first columns to a
/// scheme and the factor of the scores.
fn as_printed(table: &str, columns: usize, scoring: impl Fn(&[&str]) -> (Scoring, i64)) {
    let mut rows = 0;
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let row: Vec<&str> = line.split('\t').collect();
        let (scheme, rest) = row.split_at(columns);
        let [sequences, symbols, score, query, target, evalue, bits] = rest else { panic!("{line}") };
        let (scoring, times) = scoring(scheme);
        let statistics = Statistics::for_scheme(&scoring).unwrap_or_else(|| panic!("{line}"));
        let database = DatabaseSize { sequences: sequences.parse().unwrap(), symbols: symbols.parse().unwrap() };
        let (query, target) = (query.parse().unwrap(), target.parse().unwrap());
        let computed = statistics.significance(times * score.parse::<i64>().unwrap(), query, target, &database);
        let printed = (Evalue(computed.evalue).to_string(), BitScore(computed.bits).to_string());
        assert_eq!(printed, ((*evalue).to_owned(), (*bits).to_owned()), "{line}");
        rows += 1;
    }
    assert!(rows > 500);
}

#[test]
fn protein_significance_equals_blastp_output() {
    as_printed(include_str!("tests/blastp.tsv"), 3, |scheme| {
        (protein(scheme[0], scheme[1].parse().unwrap(), scheme[2].parse().unwrap()), 1)
    });
}

#[test]
fn nucleotide_significance_equals_blastn_output() {
    as_printed(include_str!("tests/blastn.tsv"), 4, |scheme| {
        let numbers: Vec<i32> = scheme.iter().map(|number| number.parse().unwrap()).collect();
        let [match_score, mismatch, open, extend] = numbers[..] else { panic!("{scheme:?}") };
        if (open, extend) != (0, 0) {
            return (nucleotide(match_score, mismatch, Gaps::from_blast(open, extend)), 1);
        }
        // A gap symbol costs half a match plus a mismatch. All scores are doubled if that is not an
        // integer.
        let gap = match_score - 2 * mismatch;
        match gap % 2 {
            0 => (nucleotide(match_score, mismatch, Gaps::linear(gap / 2)), 1),
            _ => (nucleotide(2 * match_score, 2 * mismatch, Gaps::linear(gap)), 2),
        }
    });
}

#[test]
fn every_matrix_and_pair_of_scores_is_recognised() {
    for matrix in MATRICES {
        for costs in matrix.gapped {
            let statistics = Statistics::for_scheme(&protein(matrix.name, costs.open, costs.extend)).unwrap();
            assert_eq!(
                (statistics.matrix(), statistics.molecule),
                (Some(matrix.name), MoleculeStatistics::Proteins { matrix, costs })
            );
        }
        assert_eq!(Statistics::for_scheme(&protein(matrix.name, 100, 1)), None);
        let without_gaps = Statistics::for_scheme(&protein(matrix.name, matrices::NO_GAPS, matrices::NO_GAPS)).unwrap();
        assert_eq!(without_gaps.gapped(), without_gaps.ungapped());
    }
    assert_eq!(
        MATRICES.iter().map(|matrix| matrix.gapped.len()).sum::<usize>(),
        13 + 15 + 11 + 9 + 7 + 10 + 8 + 15 + 1
    );
    for (scheme, lambda) in [("blastn", 0.625), ("blastn-short", 1.374), ("megablast", 0.64), ("truong", 0.0)] {
        let statistics = Statistics::for_scheme(&NamedScheme::find(scheme).unwrap().scoring(Alphabet::Dna).unwrap());
        let computed = statistics.map_or(0.0, |statistics| statistics.gapped().lambda);
        assert!((computed - lambda).abs() < 1e-3, "{scheme} {computed}");
    }
    assert_eq!(Statistics::for_scheme(&nucleotide(7, -3, Gaps::linear(9))), None);
    assert_eq!(Statistics::for_scheme(&nucleotide(0, 0, Gaps::linear(1))), None);
    let statistics = Statistics::for_scheme(&protein("BLOSUM62", 11, 1)).unwrap();
    assert_eq!(statistics.to_string(), "lambda 0.267, K 0.041, H 0.140");
}

/// The numbers are from the footer of BLASTP for a query of 57 residues, and for another query of
/// 147 in another database.
#[test]
fn search_spaces_equal_blast_output() {
    let database = DatabaseSize { sequences: 20_000, symbols: 9_055_569 };
    let statistics = Statistics::for_scheme(&protein("BLOSUM62", 11, 1)).unwrap();
    assert_eq!(statistics.search_space(57, &database), 228_300_363.0);
    let database = DatabaseSize { sequences: 62, symbols: 8822 };
    for (matrix, open, extend, space) in [
        ("PAM30", 13, 3, 1_191_450.0),
        ("PAM30", 14, 1, 1_174_320.0),
        ("PAM30", 14, 2, 1_174_320.0),
        ("PAM30", 15, 3, 1_191_450.0),
        ("PAM70", 11, 2, 932_250.0),
        ("PAM70", 12, 3, 1_057_882.0),
        ("IDENTITY", 15, 2, 1_174_320.0),
        ("PAM30", matrices::NO_GAPS, matrices::NO_GAPS, 1_296_834.0),
    ] {
        let statistics = Statistics::for_scheme(&protein(matrix, open, extend)).unwrap();
        assert_eq!(statistics.search_space(147, &database), space, "{matrix} {open} {extend}");
    }
}

fn schemes() -> impl Strategy<Value = Scoring> {
    let proteins = (0..MATRICES.len(), any::<prop::sample::Index>()).prop_map(|(matrix, costs)| {
        let costs = costs.get(MATRICES[matrix].gapped);
        protein(MATRICES[matrix].name, costs.open, costs.extend)
    });
    let nucleotides =
        prop::sample::select(vec![(2, -3, 5, 2), (1, -3, 5, 2), (2, -4, 0, 5), (5, -4, 8, 6), (1, -1, 3, 2)])
            .prop_map(|(a, b, open, extend)| nucleotide(a, b, Gaps::from_blast(open, extend)));
    prop_oneof![proteins, nucleotides]
}

proptest! {
    /// No pair below the least score has such a small E-value, and a pair slightly above the least
    /// score has one.
    #[test]
    fn least_score_excludes_no_significant_pair(
        scoring in schemes(),
        query in 1u32..5000,
        (shortest, range, within) in (1u32..40_000, 0u32..40_000, 0.0..1.0f64),
        (sequences, mean) in (1u64..1_000_000, 20u64..2000),
        power in -40.0..3.0f64,
    ) {
        let statistics = Statistics::for_scheme(&scoring).unwrap();
        let database = DatabaseSize { sequences, symbols: sequences * mean };
        let (evalue, longest) = (10f64.powf(power), shortest + range);
        let least = statistics.least_score(evalue, query, shortest..=longest, &database);
        let target = shortest + (f64::from(range) * within) as u32;
        for target in [shortest, target, longest] {
            for score in (1..least).rev().take(40) {
                let computed = statistics.evalue(score, query, target, &database);
                prop_assert!(computed > evalue, "{score} < {least}: {computed:e} for {evalue:e}");
            }
        }
        // The bound is exact for a single length.
        let least = statistics.least_score(evalue, query, target..=target, &database);
        prop_assert!(statistics.evalue(least, query, target, &database) <= evalue);
    }

    #[test]
    fn evalues_fall_with_scores(scoring in schemes(), score in 1i64..3000, query in 1u32..5000, target in 1u32..40_000) {
        let statistics = Statistics::for_scheme(&scoring).unwrap();
        let database = DatabaseSize { sequences: 1000, symbols: 400_000 };
        let evalue = |score| statistics.evalue(score, query, target, &database);
        prop_assert!(evalue(score) >= evalue(score + 1) && statistics.bits(score) < statistics.bits(score + 1));
    }
}

#[test]
fn impossible_evalues_have_infinite_least_scores() {
    let statistics = Statistics::for_scheme(&protein("BLOSUM62", 11, 1)).unwrap();
    let database = DatabaseSize { sequences: 10, symbols: 1000 };
    assert_eq!(statistics.least_score(-1.0, 100, 1..=10, &database), i64::MAX);
    assert_eq!(statistics.least_score(f64::NAN, 100, 1..=10, &database), i64::MAX);
    assert_eq!(statistics.least_score(f64::INFINITY, 100, 1..=10, &database), 1);
    assert!(statistics.least_score(0.0, 100, 1..=10, &database) > 1000);
}
