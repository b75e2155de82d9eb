//! Gap costs under one convention, with converters from everybody else's.

/// Cost of a gap, as non-negative numbers that are subtracted: a gap of length k costs `first + (k - 1) * next`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
pub struct Gaps {
    /// Cost of a gap's first symbol; at least `next`.
    pub first: i32,
    /// Cost of each further symbol; at least 0.
    pub next: i32,
}

impl Gaps {
    /// A gap of k costs `k * cost` (Needleman and Wunsch's linear gap; Truong et al. 2014, equation 1).
    pub const fn linear(cost: i32) -> Self {
        Gaps { first: cost, next: cost }
    }

    /// BLAST's convention: a gap of k costs `open + k * extend`. (A sum beyond 32 bits saturates; no scheme accepts it.)
    pub const fn from_blast(open: i32, extend: i32) -> Self {
        Gaps { first: open.saturating_add(extend), next: extend }
    }

    /// EMBOSS's, parasail's and vsearch's convention: a gap of k costs `open + (k - 1) * extend`.
    pub const fn from_emboss(open: i32, extend: i32) -> Self {
        Gaps { first: open, next: extend }
    }

    /// What a gap pays once, beside `next` for every symbol: `first - next`.
    pub const fn opening(self) -> i32 {
        self.first - self.next
    }

    /// Whether every symbol of a gap costs the same.
    pub const fn is_linear(self) -> bool {
        self.first == self.next
    }

    /// Cost of a gap of `length` symbols; 0 for none.
    pub const fn cost(self, length: u64) -> i64 {
        if length == 0 { 0 } else { self.first as i64 + (length as i64 - 1) * self.next as i64 }
    }
}

/// What gaps at the ends of an alignment cost: its first run and its last run, if these are gaps, at both ends of both
/// sequences.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EndGaps {
    /// What inner gaps cost: a global alignment in Needleman and Wunsch's sense.
    #[default]
    Charged,
    /// Nothing (EMBOSS needle's default; "overlap" alignment).
    Free,
    /// Costs of their own (vsearch's default). Neither number is above that of inner gaps: else a gap at an end would pay
    /// for being split, or for a symbol aligned beyond it.
    Priced(Gaps),
}

impl EndGaps {
    /// The costs of an end gap, where inner gaps cost `inner`.
    pub const fn costs(self, inner: Gaps) -> Gaps {
        match self {
            EndGaps::Charged => inner,
            EndGaps::Free => Gaps { first: 0, next: 0 },
            EndGaps::Priced(costs) => costs,
        }
    }
}

/// Which parts of two sequences an alignment covers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Both as a whole; [`EndGaps`] says what their ends cost.
    #[default]
    Global,
    /// The two parts that score most, or none if nothing scores more than 0 (Smith and Waterman 1981). There are no end
    /// gaps, so [`EndGaps`] is of no account.
    Local,
}
