//! Coverage: the fraction of a sequence that its alignment aligns with symbols of the other sequence.
//!
//! The coverage of a sequence is (matches + mismatches) / length, as in vsearch's `--query_cov` and
//! `--target_cov`. Symbols opposite gaps do not count. An empty sequence has coverage 0.

use super::identity::AlignmentCounts;

/// Minimum coverages of a pair, as fractions from 0 to 1. The default passes every pair.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CoverageFilter {
    /// Minimum coverage of the query.
    pub query: Option<f64>,
    /// Minimum coverage of the target.
    pub target: Option<f64>,
    /// Minimum coverage of both sequences.
    pub both: Option<f64>,
    /// Minimum coverage of the shorter sequence.
    pub shorter: Option<f64>,
}

impl CoverageFilter {
    /// Returns whether the filter has a minimum coverage.
    pub fn is_set(&self) -> bool {
        [self.query, self.target, self.both, self.shorter].iter().any(Option::is_some)
    }

    /// Returns whether an alignment of sequences of these lengths reaches the minimum coverages.
    ///
    /// ```
    /// use pairwave::score::{AlignmentCounts, CoverageFilter};
    ///
    /// let filter = CoverageFilter { query: Some(0.8), ..CoverageFilter::default() };
    /// let counts = AlignmentCounts { matches: 7, mismatches: 1, ..AlignmentCounts::default() };
    /// assert!(filter.passes(&counts, 10, 50) && !filter.passes(&counts, 11, 50));
    /// ```
    pub fn passes(&self, counts: &AlignmentCounts, query_length: u32, target_length: u32) -> bool {
        self.are_covered(counts.matches + counts.mismatches, query_length, target_length)
    }

    /// Returns whether some alignment of sequences of these lengths could reach the minimum
    /// coverages. An alignment covers at most as many symbols as the shorter sequence has.
    pub fn may_pass(&self, query_length: u32, target_length: u32) -> bool {
        self.are_covered(query_length.min(target_length).into(), query_length, target_length)
    }

    /// Returns whether an alignment of sequences of these lengths could reach the minimum coverages
    /// if it lies in the first `ends` symbols of query and target.
    pub(crate) fn may_pass_before(&self, ends: [u32; 2], query_length: u32, target_length: u32) -> bool {
        self.are_covered(ends[0].min(ends[1]).into(), query_length, target_length)
    }

    /// Returns a lower bound on the symbols of a sequence of `length` symbols that an alignment with
    /// sufficient coverages covers. The other sequence has at least `shortest` symbols. The sequence
    /// is the query, or either of the two if `may_be_target` is set.
    pub fn least_covered(&self, length: u32, shortest: u32, may_be_target: bool) -> u64 {
        let CoverageFilter { query, target, both, shorter } = *self;
        let lesser = length.min(shortest);
        let (of_query, of_target) = if may_be_target { (lesser, lesser) } else { (length, shortest) };
        let minimums = [(query, of_query), (target, of_target), (both, length.max(shortest)), (shorter, lesser)];
        // The tolerance exceeds the rounding error of the product.
        let covered = |(minimum, length): (Option<f64>, u32)| Some((minimum? * f64::from(length) - 1e-5).ceil() as u64);
        minimums.into_iter().filter_map(covered).max().unwrap_or(0)
    }

    /// Returns whether `covered` symbols of each sequence suffice.
    fn are_covered(&self, covered: u64, query_length: u32, target_length: u32) -> bool {
        let CoverageFilter { query, target, both, shorter } = *self;
        let [least, longest] = [query_length.min(target_length), query_length.max(target_length)];
        let minimums = [(query, query_length), (target, target_length), (both, longest), (shorter, least)];
        minimums.iter().all(|&(minimum, length)| minimum.is_none_or(|minimum| is_covered(covered, length, minimum)))
    }
}

/// Returns whether `covered` of `length` symbols are at least a fraction.
///
/// The quotient is the double nearest to the true ratio, and `minimum` is the double nearest to the
/// typed decimal. A ratio that is at least the decimal therefore never appears smaller: 7 of 100
/// symbols reach 0.07, although the product 0.07 * 100 is rounded up to more than 7. A smaller
/// ratio differs from a decimal with six digits by at least 1 / (10^6 * length), which doubles
/// distinguish.
fn is_covered(covered: u64, length: u32, minimum: f64) -> bool {
    covered as f64 / f64::from(length.max(1)) >= minimum
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn counts(matches: u64, mismatches: u64) -> AlignmentCounts {
        // Gaps cover nothing.
        AlignmentCounts { matches, mismatches, gap_columns: 90, gap_openings: 2, end_gap_columns: 80 }
    }

    #[test]
    fn the_default_passes_every_pair() {
        let filter = CoverageFilter::default();
        assert!(!filter.is_set());
        assert!(filter.passes(&counts(0, 0), 0, 0) && filter.passes(&counts(0, 0), 9, 9) && filter.may_pass(0, 7));
    }

    #[test]
    fn each_minimum_concerns_its_sequences() {
        let query = CoverageFilter { query: Some(0.5), ..CoverageFilter::default() };
        let target = CoverageFilter { target: Some(0.5), ..CoverageFilter::default() };
        let both = CoverageFilter { both: Some(0.5), ..CoverageFilter::default() };
        for (m, n, expected) in [(10, 10, [true; 3]), (11, 10, [false, true, false]), (10, 11, [true, false, false])] {
            let passing = [query, target, both].map(|filter| filter.passes(&counts(3, 2), m, n));
            assert_eq!(passing, expected, "{m} {n}");
        }
        let all = CoverageFilter { query: Some(0.9), target: Some(0.2), both: Some(0.3), shorter: None };
        assert!(all.passes(&counts(9, 0), 10, 30) && !all.passes(&counts(9, 0), 10, 31));
        assert!(!all.passes(&counts(8, 0), 10, 10));
    }

    #[test]
    fn fractions_are_compared_without_rounding_errors() {
        for (covered, length, minimum) in [
            (8, 10, 0.8),
            (7, 100, 0.07),
            (29, 100, 0.29),
            (57, 100, 0.57),
            (1, 10, 0.1),
            (3, 10, 0.3),
            (999_999, 1_000_000, 0.999_999),
            (1, 3, 1.0 / 3.0),
            (4_294_967_295, u32::MAX, 1.0),
        ] {
            let filter = CoverageFilter { query: Some(minimum), ..CoverageFilter::default() };
            assert!(filter.passes(&counts(covered, 0), length, u32::MAX), "{covered} of {length}");
            assert!(filter.passes(&counts(0, covered), length, u32::MAX), "{covered} of {length}");
            assert!(!filter.passes(&counts(covered - 1, 0), length, u32::MAX), "{covered} of {length}");
        }
    }

    #[test]
    fn empty_sequences_have_coverage_0() {
        let filter = |minimum| CoverageFilter { both: Some(minimum), ..CoverageFilter::default() };
        assert!(filter(0.0).passes(&counts(0, 0), 0, 5) && filter(0.0).may_pass(0, 0));
        assert!(!filter(0.01).passes(&counts(0, 0), 0, 5) && !filter(0.01).may_pass(0, 0));
        assert!(filter(0.0).is_set());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn decimals_are_compared_as_by_integers(
            covered in 0..5000u64,
            m in 1..5000u32,
            n in 1..5000u32,
            thousandths in 0..=1000u64,
        ) {
            let covered = covered.min(m.min(n).into());
            let minimum = Some(thousandths as f64 / 1000.0);
            let reaches = |covered: u64, length: u32| 1000 * covered >= thousandths * u64::from(length);
            let query = CoverageFilter { query: minimum, ..CoverageFilter::default() };
            let target = CoverageFilter { target: minimum, ..CoverageFilter::default() };
            let both = CoverageFilter { both: minimum, ..CoverageFilter::default() };
            let shorter = CoverageFilter { shorter: minimum, ..CoverageFilter::default() };
            let counts = counts(covered / 2, covered - covered / 2);
            prop_assert_eq!(query.passes(&counts, m, n), reaches(covered, m));
            prop_assert_eq!(target.passes(&counts, m, n), reaches(covered, n));
            prop_assert_eq!(both.passes(&counts, m, n), reaches(covered, m.max(n)));
            prop_assert_eq!(shorter.passes(&counts, m, n), reaches(covered, m.min(n)));
            for filter in [query, target, both, shorter] {
                prop_assert!(filter.may_pass(m, n) || !filter.passes(&counts, m, n));
                let end = covered as u32;
                prop_assert_eq!(filter.may_pass_before([end, n], m, n), filter.passes(&counts, m, n));
                prop_assert_eq!(filter.may_pass_before([m, end], m, n), filter.passes(&counts, m, n));
                if filter.passes(&counts, m, n) {
                    for shortest in [n / 2, n] {
                        prop_assert!(filter.least_covered(m, shortest, false) <= covered);
                        prop_assert!(filter.least_covered(m, shortest, true) <= covered);
                    }
                    prop_assert!(filter.least_covered(n, m, true) <= covered);
                }
            }
            prop_assert_eq!(query.may_pass(m, n), reaches(m.min(n).into(), m));
        }
    }
}
