//! Which pairs can reach an identity, told from the score: the filter of paper 1, made exact and sharper.
//!
//! Truong et al. (2014, section 5.4) bound the score of a pair that reaches an identity from below and align only the
//! pairs above that bound. [`IdentityFilter`] does this for every identity definition, for linear and affine gaps and
//! for any substitution table; and where the kernel carries the number of matches beside the score, it uses both,
//! which leaves far fewer pairs open.
//!
//! # Why no pair is lost
//!
//! Take the alignment that would be traced. It has the pair's score S, M matches, X mismatches, G gap columns and O
//! gap openings, and `m + n = 2(M + X) + G`. Let p, P be the least and greatest score of a match, q, Q those of a
//! mismatch, and `next`, `opening` the gap costs (all gaps charged). Then
//!
//! ```text
//! p M + q X  <=  S + next G + opening O  <=  P M + Q X
//! ```
//!
//! Put `S' = S + next (m + n)` (the offset score) and p' = p + 2 next, and so on; G drops out:
//!
//! ```text
//! p' M + q' X  <=  S' + opening O  <=  P' M + Q' X                                            (1)
//! ```
//!
//! With M known, (1) bounds X on both sides: `X >= (S' + opening O_min - P' M) / Q'` if Q' > 0, where O_min is 1 if
//! m != n and else 0; and, if gaps are linear, `X <= (S' - p' M) / q'` if q' > 0. Always `X <= min(m, n) - M`.
//! Where a mismatch costs more than two further gap symbols (q' < 0, the rule under affine gaps), the other side of (1)
//! says that the score lacks `p' M - S' <= opening O - q' X`, of which a mismatch or an opening explains at most
//! w = max(opening, -q'): `X + O >= (p' M - S') / w`.
//! From these follows for each definition a bound on the identity from above:
//!
//! - 0: M / min(m, n), exactly.
//! - 1 and 4: columns = m + n - M - X, so M / (m + n - M - X_max).
//! - 2: columns without end gaps are at least M + X_min. Each opening but the two of the end gaps has a column of its
//!   own there, so they are also at least M + (p' M - S' - 2 opening) / w.
//! - 3: mismatches and openings are at least X_min + O_min, and at least (p' M - S') / w.
//!
//! A pair is dropped only if this bound is below the identity asked for. Where end gaps have costs of their own, `first`
//! and `next` primed, which are not above the inner ones, S' is greater than the same columns would give it above: the right
//! side of (1) fails, so X_min = 0, and the left side holds all the more. For definition 2, let E be the columns of end
//! gaps, `m + n = 2 (M + X) + E + I` with I inner gap columns, and opening'' = first'' - next''. End gaps cost at most
//! `2 opening'' + next'' E`, so
//!
//! ```text
//! p M - S - 2 opening'' - next'' (m + n - 2 M)  <=  (-q - 2 next'') X + (cost of inner gaps - next'' I)
//! ```
//!
//! and the right side is at most w'' a column, w'' = max(-q - 2 next'', first - next''): the columns without end gaps are
//! at least M + the left side / w''. (With next'' = next and opening'' = opening that is the bound above; with free end
//! gaps both are 0.)
//!
//! With the score alone, (1) still says `S' >= p' M + q' X - opening O` with `O <= m + n - 2 (M + X)`: linear in M and X.
//! Each definition confines (M, X) to a polygon, and S' is at least the least of its corners. The corners are linear in
//! min(m, n) and max(m, n): [`DeviceFilter::forms`].
//!
//! None of this holds for local alignments: how many symbols such an alignment leaves out is not known from its score,
//! so that any score above 0 may have any identity. They are all kept, but for empty ones, whose identity is 0. There is
//! no form for kernels of that.

use super::gaps::Mode;
use super::identity::IdentityDefinition;
use super::scoring::Scoring;

/// Tells which pairs can reach an identity.
#[derive(Debug, Clone, PartialEq)]
pub struct IdentityFilter {
    definition: IdentityDefinition,
    threshold: f64,
    /// next + opening: what a gap's first symbol costs.
    next: i64,
    opening: i64,
    /// What an end gap's further symbols cost, and its first one beside that.
    end_next: i64,
    end_opening: i64,
    /// Whether these are not those of inner gaps.
    own_ends: bool,
    local: bool,
    /// p, P, q, Q of the module's text.
    match_low: i64,
    match_high: i64,
    mismatch_low: i64,
    mismatch_high: i64,
}

/// The filter as a kernel's parameters. The kernel's arithmetic is 32-bit and its threshold a little looser, so that it
/// keeps every pair that [`IdentityFilter::may_reach`] keeps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeviceFilter {
    /// 0 to 3: by matches, for the definition of that number; 5: by the score alone.
    pub mode: u32,
    /// P', added to nothing: what a match explains of the offset score at most.
    pub match_score: i32,
    /// Q', or 0 where end gaps have costs of their own.
    pub mismatch_score: i32,
    /// What unequal lengths pay at least, and half of what openings of end gaps pay at most: that of an end gap.
    pub unequal: i32,
    /// The identity; for definition 3 one minus it.
    pub threshold: f32,
    /// q' if it bounds the mismatches from above, else 0.
    pub mismatch_low: i32,
    /// p': what a match adds to the offset score at least.
    pub match_low: i32,
    /// w, or 0 if there is no such bound.
    pub dearest: i32,
    /// What the offset adds, beyond what an end gap costs, for each symbol that is in no match and may be in an end gap; 0
    /// if it need not be told.
    pub free_step: i32,
    /// Coefficients of min(m, n) and max(m, n) in the three lower bounds; the score must reach the least. (A kernel
    /// allows for its rounding: a millionth of the two products, since their sum may be nearly 0, and 1.)
    pub forms: [[f32; 4]; 3],
}

/// By how much kernels loosen the threshold, relatively: more than the rounding of single precision.
const SLACK: f64 = 1e-5;

impl IdentityFilter {
    /// The filter for pairs of at least `threshold` identity (a fraction, compared as `100 * identity >= 100 *
    /// threshold` in double precision, as vsearch compares).
    pub fn new(definition: IdentityDefinition, threshold: f64, scoring: &Scoring) -> Self {
        // Without any match or mismatch in the table their scores bound nothing; any number is right.
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

    /// The identity asked for.
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// The definition it is asked under.
    pub fn definition(&self) -> IdentityDefinition {
        self.definition
    }

    /// Whether an identity, as a fraction, is enough.
    pub fn passes(&self, identity: f64) -> bool {
        100.0 * identity >= 100.0 * self.threshold
    }

    /// Whether a pair of `m` and `n` symbols with this score (and matches, if known) can reach the identity. Never false
    /// for a pair that does.
    pub fn may_reach(&self, score: i64, matches: Option<u64>, m: u32, n: u32) -> bool {
        if self.local {
            return score > 0 || self.passes(0.0);
        }
        let (shorter, longer) = (m.min(n) as f64, m.max(n) as f64);
        let Some(matches) = matches else {
            let bound = self.forms().iter().map(|form| form[0] * shorter + form[1] * longer).fold(f64::MAX, f64::min);
            let offset_score = (score + self.next * (m as i64 + n as i64)) as f64;
            // The bound may be a small difference of large numbers: its rounding errors are a part of these. (They are below
            // 3e-15 of them; much more would be more than what kernels allow for their own.)
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
                let others = self.least_mismatches(score, matches, m, n).max(self.least_others(score, matches, m, n));
                ratio(matches, matches + others)
            }
            IdentityDefinition::Mbl if longer == 0.0 => 1.0,
            IdentityDefinition::Mbl => {
                let differences = self.least_mismatches(score, matches, m, n) + unequal;
                let differences = differences.max(self.least_others(score, matches, m, n));
                (1.0 - differences as f64 / longer).max(0.0)
            }
        };
        100.0 * identity_at_most >= 100.0 * self.threshold - 1e-9
    }

    /// S' + opening * O_min - P' * M: what is left for mismatches to explain.
    fn rest(&self, score: i64, matches: i64, m: u32, n: u32) -> i64 {
        let offset_score = score + self.next * (m as i64 + n as i64);
        offset_score - (self.match_high + 2 * self.next) * matches + if m != n { self.opening } else { 0 }
    }

    /// X_min.
    fn least_mismatches(&self, score: i64, matches: i64, m: u32, n: u32) -> i64 {
        let mismatch = self.mismatch_high + 2 * self.next;
        let rest = self.rest(score, matches, m, n);
        if self.own_ends || mismatch <= 0 || rest <= 0 { 0 } else { (rest + mismatch - 1) / mismatch }
    }

    /// X_max.
    fn most_mismatches(&self, score: i64, matches: i64, m: u32, n: u32) -> i64 {
        let most = m.min(n) as i64 - matches;
        let mismatch = self.device_mismatch_low();
        if mismatch > 0 { most.min(self.rest(score, matches, m, n).max(0) / mismatch) } else { most }
    }

    /// Least number of mismatches and openings under definition 3; of columns between the end gaps that are no match
    /// under definition 2. From what the score lacks, each explaining the dearest cost at most.
    fn least_others(&self, score: i64, matches: i64, m: u32, n: u32) -> i64 {
        let m_plus_n = m as i64 + n as i64;
        let mut lacking = (self.match_low + 2 * self.next) * matches - (score + self.next * m_plus_n);
        if self.definition == IdentityDefinition::InnerColumns {
            lacking += self.free_step() * (m_plus_n - 2 * matches);
            lacking -= 2 * self.end_opening;
        }
        let dearest = self.dearest();
        if dearest <= 0 || lacking <= 0 { 0 } else { (lacking + dearest - 1) / dearest }
    }

    /// What a further symbol costs in the gaps that explain nothing: end gaps where only the columns between them count.
    fn least_step(&self) -> i64 {
        if self.definition == IdentityDefinition::InnerColumns { self.end_next } else { self.next }
    }

    /// What takes off every symbol that is in no match what the offset adds beyond that.
    fn free_step(&self) -> i64 {
        self.next - self.least_step()
    }

    /// w.
    fn dearest(&self) -> i64 {
        let step = self.least_step();
        (-self.mismatch_low - 2 * step).max(self.next + self.opening - step).max(0)
    }

    /// q' where (1) bounds X from above with M known exactly: linear gaps, charged everywhere, one score for matches.
    fn device_mismatch_low(&self) -> i64 {
        let usable = self.opening == 0 && !self.own_ends && self.match_low == self.match_high;
        if usable { (self.mismatch_low + 2 * self.next).max(0) } else { 0 }
    }

    /// What a match and a mismatch add to the least offset score: p' and q' and, since a column of two symbols forgoes
    /// two gap symbols, two openings.
    fn corner_scores(&self) -> [f64; 2] {
        [self.match_low, self.mismatch_low].map(|score| (score + 2 * self.next + 2 * self.opening) as f64)
    }

    /// Lower bounds of the offset score from the polygon's corners, as coefficients of min(m, n) and max(m, n).
    fn forms(&self) -> [[f64; 2]; 3] {
        let t = self.threshold;
        let [p, q] = self.corner_scores();
        let opening = self.opening as f64;
        // Corner (M, X), each given by its coefficients of min and max; -opening (m + n) = -opening (min + max).
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
            // M + X <= min only: two long gaps are two differences, whatever the score.
            IdentityDefinition::Mbl => [all_match, corner([0.0, 0.0], [0.0, 0.0]), corner([0.0, 0.0], [1.0, 0.0])],
        }
    }

    /// The filter for a kernel that carries matches, or for one that knows only the score. Global alignments only.
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
            dearest: self.dearest() as i32,
            free_step: self.free_step() as i32,
            forms,
        }
    }
}

/// A fraction of counts; 0 over 0 is 0, as vsearch has it.
fn ratio(numerator: i64, denominator: i64) -> f64 {
    if denominator <= 0 { 0.0 } else { numerator as f64 / denominator as f64 }
}
