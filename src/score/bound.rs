//! A bound on a pair's identity, computed from its score: an exact and sharper version of the
//! filter of Truong et al. (2014).
//!
//! Truong et al. (2014, section 5.4) derive a lower bound on the score of every pair that reaches
//! an identity, and align only the pairs above that bound. [`IdentityFilter`] does this for every
//! definition of identity, for linear and affine gaps, and for any substitution table. If the
//! kernel also counts matches, the filter uses both numbers, and far fewer pairs remain undecided.
//!
//! # Why no pair is lost
//!
//! Take the alignment that the traceback would return. It has the pair's score S, M matches, X
//! mismatches, G gap columns and O gap openings, and `m + n = 2(M + X) + G`. Let p and P be the
//! least and the greatest score of a match, q and Q the scores of a mismatch, and `next` and
//! `opening` the gap costs, with all gaps charged. Then
//!
//! ```text
//! p M + q X  <=  S + next G + opening O  <=  P M + Q X
//! ```
//!
//! Let `S' = S + next (m + n)` be the offset score, p' = p + 2 next, and P', q', Q' likewise. Then
//! G cancels:
//!
//! ```text
//! p' M + q' X  <=  S' + opening O  <=  P' M + Q' X                                            (1)
//! ```
//!
//! If M is known, (1) bounds X on both sides. If Q' > 0, `X >= (S' + opening O_min - P' M) / Q'`,
//! where O_min is 1 if m != n and 0 otherwise. If gaps are linear and q' > 0,
//! `X <= (S' - p' M) / q'`. In any case, `X <= min(m, n) - M`.
//!
//! If a mismatch costs more than two further gap symbols (q' < 0, the usual case under affine
//! gaps), the left side of (1) gives `p' M - S' <= opening O - q' X`. Each mismatch or opening
//! accounts for at most w = max(opening, -q') of this deficit, so `X + O >= (p' M - S') / w`. From
//! these follows an upper bound on the identity for each definition:
//!
//! - 0: M / min(m, n), exactly.
//! - 1 and 4: columns = m + n - M - X, so M / (m + n - M - X_max).
//! - 2: the columns without end gaps are at least M + X_min. Each opening, except the two of the
//!   end gaps, has a column of its own there, so these columns are also at least M + (p' M - S' - 2
//!   opening) / w.
//! - 3: mismatches and openings are at least X_min + O_min, and at least (p' M - S') / w.
//!
//! A pair is dropped only if this bound is below the required identity.
//!
//! If end gaps have costs of their own, `first''` and `next''` (at most the inner ones), S' is
//! greater than (1) allows for the same columns. So the right side of (1) fails and X_min = 0,
//! while the left side still holds. For definition 2, let E be the number of end gap columns, I
//! the number of inner gap columns, so that `m + n = 2 (M + X) + E + I`, and
//! opening'' = first'' - next''. End gaps cost at most `2 opening'' + next'' E`, so
//!
//! ```text
//! p M - S - 2 opening'' - next'' (m + n - 2 M)  <=  (-q - 2 next'') X + (cost of inner gaps - next'' I)
//! ```
//!
//! The right side is at most w'' per column, where w'' = max(-q - 2 next'', first - next''). So the
//! columns without end gaps are at least M + the left side / w''. With next'' = next and opening''
//! = opening, this is the bound above. With free end gaps, next'' and opening'' are 0.
//!
//! If only the score is known, (1) still gives `S' >= p' M + q' X - opening O` with `O <= m + n - 2
//! (M + X)`, which is linear in M and X. Each definition confines (M, X) to a polygon, so S' is at
//! least the minimum over the polygon's corners. The corners are linear in min(m, n) and max(m, n):
//! [`DeviceFilter::forms`].
//!
//! None of this holds for local alignments. The score does not determine how many symbols such an
//! alignment leaves unaligned, so any score above 0 may have any identity. All local alignments are
//! kept, except empty ones, whose identity is 0. Kernels have no form of the filter for them.

use super::gaps::Mode;
use super::identity::IdentityDefinition;
use super::scoring::Scoring;

/// A filter for pairs that can reach an identity.
#[derive(Debug, Clone, PartialEq)]
pub struct IdentityFilter {
    definition: IdentityDefinition,
    threshold: f64,
    /// Cost of each further symbol of an inner gap.
    next: i64,
    opening: i64,
    /// Cost of each further symbol of an end gap, and the additional cost of its first one.
    end_next: i64,
    end_opening: i64,
    /// Whether end gaps have costs different from inner gaps.
    own_ends: bool,
    local: bool,
    /// p, P, q and Q of the module documentation.
    match_low: i64,
    match_high: i64,
    mismatch_low: i64,
    mismatch_high: i64,
}

/// The filter as parameters of a kernel. The kernel computes in 32 bits with a slightly looser
/// threshold, so that it keeps every pair that [`IdentityFilter::may_reach`] keeps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeviceFilter {
    /// The bound to compute. 0 to 3: the bound for the definition with this number, from the score
    /// and the matches (1 also for definition 4). 5: the bound from the score alone.
    pub mode: u32,
    /// P': the greatest amount that a match adds to the offset score.
    pub match_score: i32,
    /// Q', or 0 if end gaps have costs of their own.
    pub mismatch_score: i32,
    /// Opening cost of an end gap. Unequal lengths cost at least this, and the openings of end gaps
    /// at most twice this.
    pub unequal: i32,
    /// The required identity, or one minus it for definition 3.
    pub threshold: f32,
    /// q' if it bounds the number of mismatches from above, and 0 otherwise.
    pub mismatch_low: i32,
    /// p': the least amount that a match adds to the offset score.
    pub match_low: i32,
    /// w, or 0 if there is no such bound.
    pub max_unit_cost: i32,
    /// Excess of the offset over the cost of an end gap, for each symbol that is not matched and
    /// may be in an end gap. It is 0 if kernels need not account for it.
    pub free_step: i32,
    /// Coefficients of min(m, n) and max(m, n) in the three lower bounds. The offset score must
    /// reach the least of them. The kernel subtracts its rounding error: a millionth of the two
    /// products, whose sum may be nearly 0, and 1.
    pub forms: [[f32; 4]; 3],
}

/// Relative amount of the kernels' tolerance. It exceeds the rounding error of single
/// precision.
const SLACK: f64 = 1e-5;

impl IdentityFilter {
    /// Creates the filter for pairs of at least `threshold` identity. The threshold is a fraction
    /// and is compared as `100 * identity >= 100 * threshold` in double precision, as vsearch does.
    pub fn new(definition: IdentityDefinition, threshold: f64, scoring: &Scoring) -> Self {
        // If the table has no match or no mismatch, no column has such a score, so any bound on it
        // is correct.
        let (match_low, match_high) = scoring.substitution.range(true).unwrap_or((0, 0));
        let (mismatch_low, mismatch_high) = scoring.substitution.range(false).unwrap_or((0, 0));
        IdentityFilter {
            definition,
            threshold,
            next: scoring.gaps.next as i64,
            opening: scoring.gaps.opening() as i64,
            end_next: scoring.end_costs().next as i64,
            end_opening: scoring.end_costs().opening() as i64,
            own_ends: scoring.has_own_ends(),
            local: scoring.mode == Mode::Local,
            match_low: match_low as i64,
            match_high: match_high as i64,
            mismatch_low: mismatch_low as i64,
            mismatch_high: mismatch_high as i64,
        }
    }

    /// Returns the required identity, as a fraction.
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// Returns the definition of the required identity.
    pub fn definition(&self) -> IdentityDefinition {
        self.definition
    }

    /// Returns whether an identity, as a fraction, is sufficient.
    pub fn passes(&self, identity: f64) -> bool {
        100.0 * identity >= 100.0 * self.threshold
    }

    /// Returns whether a pair of `m` and `n` symbols with this score (and these matches, if known)
    /// can reach the identity. It never returns false for a pair that does.
    pub fn may_reach(&self, score: i64, matches: Option<u64>, m: u32, n: u32) -> bool {
        if self.local {
            return score > 0 || self.passes(0.0);
        }
        let (shorter, longer) = (m.min(n) as f64, m.max(n) as f64);
        let Some(matches) = matches else {
            let bound = self.forms().iter().map(|form| form[0] * shorter + form[1] * longer).fold(f64::MAX, f64::min);
            let offset_score = (score + self.next * (m as i64 + n as i64)) as f64;
            // The bound may be a small difference of large numbers, so its rounding error is
            // relative to these. It is below 3e-15 times their size. A much larger tolerance would
            // exceed the tolerance of the kernels.
            let [p, q] = self.corner_scores();
            let largest = p.abs().max(q.abs()) + self.opening as f64;
            return offset_score >= bound - 1e-14 * largest * (shorter + longer) - 1e-9;
        };
        let m_plus_n = m as i64 + n as i64;
        let matches = matches as i64;
        let unequal = (m != n) as i64;
        let identity_at_most = match self.definition {
            IdentityDefinition::Shorter => ratio(matches, m.min(n) as i64),
            IdentityDefinition::Columns | IdentityDefinition::Blast => {
                ratio(matches, m_plus_n - matches - self.most_mismatches(score, matches, m, n))
            }
            IdentityDefinition::InnerColumns => {
                let others = self
                    .least_mismatches(score, matches, m, n)
                    .max(self.min_mismatches_or_openings(score, matches, m, n));
                ratio(matches, matches + others)
            }
            IdentityDefinition::Mbl if longer == 0.0 => 1.0,
            IdentityDefinition::Mbl => {
                let differences = self.least_mismatches(score, matches, m, n) + unequal;
                let differences = differences.max(self.min_mismatches_or_openings(score, matches, m, n));
                (1.0 - differences as f64 / longer).max(0.0)
            }
        };
        100.0 * identity_at_most >= 100.0 * self.threshold - 1e-9
    }

    /// Returns S' + opening * O_min - P' * M, which mismatches must account for.
    fn mismatch_part(&self, score: i64, matches: i64, m: u32, n: u32) -> i64 {
        let offset_score = score + self.next * (m as i64 + n as i64);
        offset_score - (self.match_high + 2 * self.next) * matches + if m != n { self.opening } else { 0 }
    }

    /// Returns X_min.
    fn least_mismatches(&self, score: i64, matches: i64, m: u32, n: u32) -> i64 {
        let mismatch = self.mismatch_high + 2 * self.next;
        let rest = self.mismatch_part(score, matches, m, n);
        if self.own_ends || mismatch <= 0 || rest <= 0 { 0 } else { (rest + mismatch - 1) / mismatch }
    }

    /// Returns X_max.
    fn most_mismatches(&self, score: i64, matches: i64, m: u32, n: u32) -> i64 {
        let most = m.min(n) as i64 - matches;
        let mismatch = self.device_mismatch_low();
        if mismatch > 0 { most.min(self.mismatch_part(score, matches, m, n).max(0) / mismatch) } else { most }
    }

    /// Returns the least number of mismatches and openings under definition 3, or of unmatched
    /// columns between the end gaps under definition 2. It divides the deficit of the score by the
    /// highest cost of a single one.
    fn min_mismatches_or_openings(&self, score: i64, matches: i64, m: u32, n: u32) -> i64 {
        let m_plus_n = m as i64 + n as i64;
        let mut lacking = (self.match_low + 2 * self.next) * matches - (score + self.next * m_plus_n);
        if self.definition == IdentityDefinition::InnerColumns {
            lacking += self.free_step() * (m_plus_n - 2 * matches);
            lacking -= 2 * self.end_opening;
        }
        let max_unit_cost = self.max_unit_cost();
        if max_unit_cost <= 0 || lacking <= 0 { 0 } else { (lacking + max_unit_cost - 1) / max_unit_cost }
    }

    /// Returns the cost of a further symbol in gaps that do not count. Under definition 2 these are
    /// end gaps.
    fn least_step(&self) -> i64 {
        if self.definition == IdentityDefinition::InnerColumns { self.end_next } else { self.next }
    }

    /// Returns the excess of the offset over [`IdentityFilter::least_step`], for each unmatched
    /// symbol.
    fn free_step(&self) -> i64 {
        self.next - self.least_step()
    }

    /// Returns w.
    fn max_unit_cost(&self) -> i64 {
        let step = self.least_step();
        (-self.mismatch_low - 2 * step).max(self.next + self.opening - step).max(0)
    }

    /// Returns q' if (1) bounds X from above when M is known: if gaps are linear and charged
    /// everywhere, and all matches have the same score. Returns 0 otherwise.
    fn device_mismatch_low(&self) -> i64 {
        let usable = self.opening == 0 && !self.own_ends && self.match_low == self.match_high;
        if usable { (self.mismatch_low + 2 * self.next).max(0) } else { 0 }
    }

    /// Returns the amounts that a match and a mismatch add to the least offset score: p' and q',
    /// each plus two openings, because a column of two symbols replaces two gap symbols.
    fn corner_scores(&self) -> [f64; 2] {
        [self.match_low, self.mismatch_low].map(|score| (score + 2 * self.next + 2 * self.opening) as f64)
    }

    /// Returns the lower bounds of the offset score at the polygon's corners, as coefficients of
    /// min(m, n) and max(m, n).
    fn forms(&self) -> [[f64; 2]; 3] {
        let t = self.threshold;
        let [p, q] = self.corner_scores();
        let opening = self.opening as f64;
        // A corner (M, X) is given by its coefficients of min and max. The summand -opening (m + n)
        // equals -opening (min + max).
        let corner = |matches: [f64; 2], mismatches: [f64; 2]| {
            [p * matches[0] + q * mismatches[0] - opening, p * matches[1] + q * mismatches[1] - opening]
        };
        let all_match = corner([1.0, 0.0], [0.0, 0.0]);
        match self.definition {
            // t min <= M, 0 <= X, M + X <= min.
            IdentityDefinition::Shorter => [all_match, corner([t, 0.0], [0.0, 0.0]), corner([t, 0.0], [1.0 - t, 0.0])],
            // t (m + n - M - X) <= M, 0 <= X, M + X <= min.
            IdentityDefinition::Columns | IdentityDefinition::Blast => {
                let lean = t / (1.0 + t);
                [all_match, corner([lean, lean], [0.0, 0.0]), corner([0.0, t], [1.0, -t])]
            }
            // t (M + X) <= M, M + X <= min.
            IdentityDefinition::InnerColumns => {
                [all_match, corner([0.0, 0.0], [0.0, 0.0]), corner([t, 0.0], [1.0 - t, 0.0])]
            }
            // Only M + X <= min holds, because two long gaps count as only two differences,
            // regardless of their cost.
            IdentityDefinition::Mbl => [all_match, corner([0.0, 0.0], [0.0, 0.0]), corner([0.0, 0.0], [1.0, 0.0])],
        }
    }

    /// Returns the filter for a kernel that counts matches, or for a kernel that computes only the
    /// score. It is valid for global alignments only.
    pub fn device_form(&self, carries_matches: bool) -> DeviceFilter {
        let forms = self.forms().map(|form| [form[0] as f32, form[1] as f32, 0.0, 0.0]);
        let mode = match (carries_matches, self.definition) {
            (false, _) => 5,
            (true, IdentityDefinition::Shorter) => 0,
            (true, IdentityDefinition::Columns | IdentityDefinition::Blast) => 1,
            (true, IdentityDefinition::InnerColumns) => 2,
            (true, IdentityDefinition::Mbl) => 3,
        };
        let threshold = match self.definition {
            IdentityDefinition::Mbl => (1.0 - self.threshold) * (1.0 + SLACK) + 1e-6,
            _ => self.threshold * (1.0 - SLACK) - 1e-6,
        };
        let charged = !self.own_ends as i64;
        DeviceFilter {
            mode,
            match_score: (self.match_high + 2 * self.next) as i32,
            mismatch_score: (charged * (self.mismatch_high + 2 * self.next)) as i32,
            unequal: self.end_opening as i32,
            threshold: threshold as f32,
            mismatch_low: self.device_mismatch_low() as i32,
            match_low: (self.match_low + 2 * self.next) as i32,
            max_unit_cost: self.max_unit_cost() as i32,
            free_step: self.free_step() as i32,
            forms,
        }
    }
}

/// Returns a fraction of counts. 0 over 0 is 0, as in vsearch.
fn ratio(numerator: i64, denominator: i64) -> f64 {
    if denominator <= 0 { 0.0 } else { numerator as f64 / denominator as f64 }
}
